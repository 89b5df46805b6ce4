/* Programs as data: layouts, hashes, copies, and a verifier that finds every damage. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

static wb_builder *b;
static wb_layout *layout;
static array words;

static void start(void) {
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "words", WB_ELEMENT_I32, 64, 0, &words, NULL), WB_OK);
}

static void stop(void) { wb_layout_free(layout); }

TestSuite(program, .init = start, .fini = stop);

/* a little of everything; `step` is a constant in it */
static wb_program *sample(const char *name, const char *buffer, int step) {
  wb_error error = {0};
  wb_program *program;
  cr_assert_eq(wb_builder_new(name, 32, layout, &b, &error), WB_OK);
  array tape = buffer_shared(buffer, I32);
  val n = param_i32("n");
  var sum = variable(0);
  FOR (i, 0, n) {
    IF (gt(load(tape, i), 0)) {
      assign(sum, add(sum, step));
    }
    ELSE { store(words, i, sum); }
  }
  SWITCH (n) {
    CASE(1) { store_row(words, 0, lane_id()); }
    DEFAULT {}
  }
  WHILE (lt(sum, 0)) assign(sum, 0);
  BLOCK(l) { LEAVE(l); }
  store(words, 0, sum);
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  return program;
}

/* ---- layouts ---- */

Test(program, arrays_lie_on_borders_of_64_bytes) {
  array flag, last;
  cr_assert_eq(wb_layout_add(layout, "flag", WB_ELEMENT_U8, 1, 0, &flag, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "last", WB_ELEMENT_I64, 9, 0, &last, NULL), WB_OK);
  cr_expect_eq(wb_layout_object(layout, words)->offset, 0);
  cr_expect_eq(wb_layout_object(layout, flag)->offset, 256);
  cr_expect_eq(wb_layout_object(layout, last)->offset, 320);
  cr_expect_eq(wb_layout_bytes(layout), 320 + 128);
  cr_expect_eq(wb_layout_count(layout), 3);
  cr_expect_eq(wb_layout_find(layout, "flag").object, flag.object);
  cr_expect_eq(wb_layout_find(layout, "none").object, -1);
  cr_expect_null(wb_layout_object(layout, (array){7}));
}

Test(program, layouts_refuse_what_they_cannot_hold) {
  wb_error error;
  array none;
  cr_expect_eq(wb_layout_add(layout, "words", WB_ELEMENT_I32, 1, 0, &none, &error),
               WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text, "layout: name: \"words\" is taken");
  cr_expect_eq(wb_layout_add(layout, "2x", WB_ELEMENT_I32, 1, 0, &none, &error), WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text,
                   "layout: name: expected a C identifier of at most 47 characters, got \"2x\"");
  cr_expect_eq(wb_layout_add(layout, "none", WB_ELEMENT_I32, 0, 0, &none, &error),
               WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text,
                   "layout: none: length: expected 1 to what a slab of 2^40 bytes holds, got 0");
  cr_expect_eq(wb_layout_add(layout, "huge", WB_ELEMENT_I64, INT64_MAX / 4, 0, &none, &error),
               WB_ERROR_ARGUMENT);
  cr_expect_eq(none.object, -1);
}

/* ---- hash and copy ---- */

static bool same_hash(const wb_program *x, const wb_program *y) {
  wb_hash128 a = wb_program_hash(x), c = wb_program_hash(y);
  return a.low == c.low && a.high == c.high;
}

Test(program, names_do_not_count_in_the_hash_but_constants_do) {
  wb_program *first = sample("one", "tape", 3), *renamed = sample("two", "file", 3);
  wb_program *changed = sample("one", "tape", 4);
  cr_expect(same_hash(first, renamed));
  cr_expect_not(same_hash(first, changed));
  wb_program_free(first);
  wb_program_free(renamed);
  wb_program_free(changed);
}

Test(program, every_field_that_changes_code_counts_in_the_hash) {
  wb_program *p = sample("one", "tape", 3), *q;
  cr_assert_eq(wb_program_clone(p, &q, NULL), WB_OK);
  cr_expect(same_hash(p, q));
  q->ops[5].flags ^= WB_FLAG_IN;
  cr_expect_not(same_hash(p, q));
  q->ops[5].flags ^= WB_FLAG_IN;
  q->ops[5].operands[1] += 1;
  cr_expect_not(same_hash(p, q));
  q->ops[5].operands[1] -= 1;
  q->ops[5].aux += 1;
  cr_expect_not(same_hash(p, q));
  q->ops[5].aux -= 1;
  q->objects[0].fill = 1;
  cr_expect_not(same_hash(p, q));
  q->objects[0].fill = 0;
  q->objects[1].shared = 0;
  cr_expect_not(same_hash(p, q));
  q->objects[1].shared = 1;
  q->ops[5].line++;
  cr_expect(same_hash(p, q));
  wb_program_free(p);
  wb_program_free(q);
}

Test(program, a_copy_prints_the_same) {
  wb_program *p = sample("one", "tape", 3), *q;
  char *text[2];
  cr_assert_eq(wb_program_clone(p, &q, NULL), WB_OK);
  cr_assert_eq(wb_program_text(p, true, &text[0], NULL), WB_OK);
  wb_program_free(p);
  cr_assert_eq(wb_program_text(q, true, &text[1], NULL), WB_OK);
  cr_assert_str_eq(text[0], text[1]);
  cr_assert_not_null(strstr(text[0], " ; test_program.c:"));
  wb_program_free(q);
  free(text[0]);
  free(text[1]);
}

/* ---- the verifier ---- */

static int32_t find_op(const wb_program *p, wb_opcode code) {
  for (int32_t i = 0; i < p->op_count; i++) {
    if (p->ops[i].code == code) return i;
  }
  cr_assert_fail("the sample has no %s", wb_op_describe(code)->text);
  return -1;
}

/* the verifier's complaint about the sample after one change */
static void expect_complaint(wb_program *p, const char *part) {
  wb_error error = {0};
  cr_expect_eq(wb_program_verify(p, &error), WB_ERROR_INTERNAL);
  cr_expect_not_null(strstr(error.text, part), "\"%s\" lacks \"%s\"", error.text, part);
  cr_expect_eq(error.status, WB_ERROR_INTERNAL);
  wb_program_free(p);
}

Test(program, the_sample_verifies) {
  wb_error error = {0};
  wb_program *p = sample("one", "tape", 3);
  cr_assert_eq(wb_program_verify(p, &error), WB_OK, "%s", error.text);
  wb_program_free(p);
}

Test(program, an_operand_that_comes_later) {
  wb_program *p = sample("one", "tape", 3);
  int32_t id = find_op(p, WB_OP_ADD);
  p->ops[id].operands[0] = id;
  expect_complaint(p, "add: operand 1: expected an earlier op, given");
}

Test(program, an_operand_too_many) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_GET)].operands[2] = 0;
  expect_complaint(p, "get: operand 3: expected none, given 0");
}

Test(program, an_unknown_op) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_LANE_ID)].code = 250;
  expect_complaint(p, "unknown op 250");
}

Test(program, a_result_of_the_wrong_type) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_ADD)].type = WB_TYPE_I64;
  expect_complaint(p, "add: expected the result i32, given i64");
}

Test(program, an_object_that_is_not_there) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_LOAD)].aux = 2;
  expect_complaint(p, "load: expected an array, buffer or view of this program (0..1), given 2");
}

Test(program, a_store_into_a_read_only_buffer) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_STORE)].aux = 1;
  expect_complaint(p, "store: expected something writable, given the read-only buffer tape");
}

Test(program, an_end_of_another_block) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_END)].aux = 0;
  expect_complaint(p, "end: expected an open block");
}

Test(program, an_end_that_is_missing) {
  wb_program *p = sample("one", "tape", 3);
  p->op_count = find_op(p, WB_OP_SWITCH) + 1;
  expect_complaint(p, "switch from test_program.c:");
}

Test(program, a_leave_to_nowhere) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_LEAVE)].aux = find_op(p, WB_OP_FOR);
  expect_complaint(p, "leave: expected an enclosing block or loop");
}

Test(program, a_get_of_no_variable) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_GET)].operands[0] = 0;
  expect_complaint(p, "get: operand 1: expected a variable, given i32");
}

Test(program, a_variable_used_as_a_value) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_ADD)].operands[0] = find_op(p, WB_OP_VAR);
  expect_complaint(p, "add: operand 1: expected a value, given a variable of i32");
}

Test(program, a_constant_outside_its_type) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_CONST)].imm = INT64_C(1) << 40;
  expect_complaint(p, "const: 1099511627776 is no value of type i32");
}

Test(program, a_parameter_that_is_not_there) {
  wb_program *p = sample("one", "tape", 3);
  p->ops[find_op(p, WB_OP_PARAM)].aux = 1;
  expect_complaint(p, "param: no parameter 1 of type i32");
}

Test(program, an_array_outside_the_slab) {
  wb_program *p = sample("one", "tape", 3);
  p->objects[0].length = 65;
  expect_complaint(p, "object 0 (words) is not sound");
}

Test(program, a_value_used_after_its_block) {
  wb_program *p = sample("one", "tape", 3);
  int32_t store_id = -1;
  for (int32_t i = 0; i < p->op_count; i++) {
    if (p->ops[i].code == WB_OP_STORE) store_id = i; /* the last one, outside */
  }
  p->ops[store_id].operands[0] = find_op(p, WB_OP_FOR);
  expect_complaint(p, "store: operand 1: the value made at test_program.c:");
}

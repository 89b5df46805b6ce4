/* The builder and its short names: what is recorded, and what an author's mistake is told. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

typedef struct fixture {
  wb_builder *b;
  wb_layout *layout;
  array key, total, ring, tape;
} fixture;

static wb_builder *b; /* the builder that the short names use */
static fixture f;

static void start(void) {
  cr_assert_eq(wb_layout_new(&f.layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(f.layout, "key", WB_ELEMENT_I32, 64, 7, &f.key, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(f.layout, "total", WB_ELEMENT_I64, 1, 0, &f.total, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("kernel", 32, f.layout, &b, NULL), WB_OK);
  f.tape = buffer_shared("tape", I32);
  f.ring = buffer_per_book_out("ring", I64);
}

static void stop(void) { wb_layout_free(f.layout); }

TestSuite(builder, .init = start, .fini = stop);

/* the text of the program, or of the error */
static char *finish(void) {
  wb_error error = {0};
  wb_program *program;
  char *text = NULL;
  wb_status status = wb_builder_finish(b, &program, &error);
  if (status != WB_OK) {
    cr_assert_eq(status, WB_ERROR_ARGUMENT);
    return strdup(error.text);
  }
  cr_assert_eq(wb_program_text(program, false, &text, NULL), WB_OK);
  wb_program_free(program);
  return text;
}

/* the ops of the program, without its head */
static void expect_ops(const char *expected) {
  char *text = finish();
  const char *ops = strstr(text, "\n%0");
  cr_assert_str_eq(ops != NULL ? ops + 1 : text, expected);
  free(text);
}

/* the whole error, whose call site is `line` of this file; `expected` may have one %d, `other` */
static void expect_error_with(int line, const char *expected, int other) {
  char *text = finish(), what[1024], whole[1200];
  snprintf(what, sizeof what, expected, other);
  snprintf(whole, sizeof whole, "program kernel: test_builder.c:%d: %s", line, what);
  cr_expect_str_eq(text, whole);
  free(text);
}

static void expect_error(int line, const char *expected) { expect_error_with(line, expected, 0); }

Test(builder, numbers_take_the_type_beside_them) {
  val x = param_i64("x");
  val y = add(x, 5);
  val z = add(2, 3);
  (void)lt(y, 0x9e3779b97f4a7c15u);
  (void)mul(z, 1u << 31);
  expect_ops("%0 = param i64 $0\n"
             "%1 = const i64 5\n"
             "%2 = add i64 %0 %1\n"
             "%3 = const i32 2\n"
             "%4 = const i32 3\n"
             "%5 = add i32 %3 %4\n"
             "%6 = const i64 -7046029254386353131\n"
             "%7 = lt bool %2 %6\n"
             "%8 = const i32 -2147483648\n"
             "%9 = mul i32 %5 %8\n");
}

Test(builder, scalars_spread_over_lanes) {
  val row = load_row(f.key, 1);
  (void)choose(eq(row, 4), row, 0);
  expect_ops("%0 = const i32 1\n"
             "%1 = load_row lanes.i32 @0[%0]\n"
             "%2 = const i32 4\n"
             "%3 = splat lanes.i32 %2\n"
             "%4 = eq lanes.bool %1 %3\n"
             "%5 = const i32 0\n"
             "%6 = splat lanes.i32 %5\n"
             "%7 = select lanes.i32 %4 %1 %6\n");
}

Test(builder, variables_are_read_where_they_stand) {
  var x = variable(1);
  assign(x, add(x, x));
  expect_ops("%0 = const i32 1\n"
             "%1 = var i32 %0\n"
             "%2 = get i32 %1\n"
             "%3 = get i32 %1\n"
             "%4 = add i32 %2 %3\n"
             "set %1 %4\n");
}

Test(builder, structure_nests) {
  val c = truth(param_i32("c"));
  IF_LIKELY(c) {
    IF (not_(c)) {
      set_cell(f.total, 1);
    }
  }
  ELSE { set_cell(f.total, 2); }
  SWITCH (param_i32("s")) {
    CASE(3) {}
    CASE_RARE(-1) {}
    DEFAULT {}
  }
  FOR_AS(rounds, i, 0, 4) {
    BLOCK(done) { LEAVE(done); }
    IF (eq(i, 2)) {
      LEAVE(rounds);
    }
  }
  expect_ops("%0 = param i32 $0\n"
             "%1 = const i32 0\n"
             "%2 = ne bool %0 %1\n"
             "if %2 likely\n"
             "  %4 = not bool %2\n"
             "  if %4\n"
             "    %6 = const i32 0\n"
             "    %7 = const i64 1\n"
             "    store @1[%6] %7\n"
             "  end\n"
             "else\n"
             "  %11 = const i32 0\n"
             "  %12 = const i64 2\n"
             "  store @1[%11] %12\n"
             "end\n"
             "%15 = param i32 $1\n"
             "switch %15\n"
             "case 3\n"
             "case -1 rare\n"
             "default\n"
             "end\n"
             "%21 = const i32 0\n"
             "%22 = const i32 4\n"
             "%23 = for i32 %21 %22\n"
             "  %24 = block\n"
             "    leave %24\n"
             "  end\n"
             "  %27 = const i32 2\n"
             "  %28 = eq bool %23 %27\n"
             "  if %28\n"
             "    leave %23\n"
             "  end\n"
             "end\n");
}

Test(builder, an_else_if_closes_with_its_if) {
  val x = param_i32("x");
  IF (eq(x, 1)) {}
  ELSE_IF(eq(x, 2)) {}
  ELSE_IF(eq(x, 3)) {}
  ELSE { set_cell(f.total, 4); }
  expect_ops("%0 = param i32 $0\n"
             "%1 = const i32 1\n"
             "%2 = eq bool %0 %1\n"
             "if %2\n"
             "else\n"
             "  %5 = const i32 2\n"
             "  %6 = eq bool %0 %5\n"
             "  if %6\n"
             "  else\n"
             "    %9 = const i32 3\n"
             "    %10 = eq bool %0 %9\n"
             "    if %10\n"
             "    else\n"
             "      %13 = const i32 0\n"
             "      %14 = const i64 4\n"
             "      store @1[%13] %14\n"
             "    end\n"
             "  end\n"
             "end\n");
}

Test(builder, a_while_records_its_condition_inside_the_loop) {
  var n = variable(0);
  WHILE (lt(n, 3)) {
    assign(n, add(n, 1));
  }
  expect_ops("%0 = const i32 0\n"
             "%1 = var i32 %0\n"
             "%2 = while\n"
             "  %3 = get i32 %1\n"
             "  %4 = const i32 3\n"
             "  %5 = lt bool %3 %4\n"
             "test %5\n"
             "  %7 = get i32 %1\n"
             "  %8 = const i32 1\n"
             "  %9 = add i32 %7 %8\n"
             "  set %1 %9\n"
             "end\n");
}

Test(builder, promises_and_views_are_marked) {
  array words = view(f.tape, U16);
  store_in(f.ring, load_in(words, 3), 9);
  (void)known(param_i32("side"), 0, 1);
  char *text = finish();
  cr_assert_str_eq(text, "program kernel width 32 slab 320\n"
                         "array @0 key i32 length 64 offset 0 fill 7\n"
                         "array @1 total i64 length 1 offset 256 fill 0\n"
                         "buffer @2 tape i32 shared read fill 0\n"
                         "buffer @3 ring i64 per_book write fill 0\n"
                         "view @4 tape_u16 u16 of @2 fill 0\n"
                         "param $0 side i32\n"
                         "%0 = const i32 3\n"
                         "%1 = load i32 @4[%0] in\n"
                         "%2 = const i64 9\n"
                         "store @3[%1] %2 in\n"
                         "%4 = param i32 $0\n"
                         "%5 = const i32 0\n"
                         "%6 = const i32 1\n"
                         "%7 = known i32 %4 %5 %6\n");
  free(text);
}

Test(builder, a_pass_over_all_rows_reads_as_one_expression) {
  val sum = rows_add(r, 2, i64(0), i64(choose(gt(load_row(f.key, r), 0), load_row(f.key, r), 0)));
  set_cell(f.total, sum);
  char *text = finish();
  cr_assert_not_null(strstr(text, "reduce_add i64"));
  cr_assert_not_null(strstr(text, "for i32"));
  free(text);
}

/* ---- mistakes ---- */

Test(builder, unequal_types) {
  val x = param_i32("x"), y = param_i64("y");
  (void)add(x, y);
  expect_error(__LINE__ - 1, "add: expected i32, i64 or f32, all the same; given i32, i64");
}

Test(builder, lanes_cannot_be_branched_on) {
  val m = eq(load_row(f.key, 0), 1);
  IF (m) {}
  expect_error(__LINE__ - 1, "if: expected a scalar bool; given lanes of bool");
}

Test(builder, an_integer_is_no_condition) {
  WHILE (param_i32("x")) {}
  expect_error(__LINE__ - 1, "test: expected a scalar bool; given i32");
}

Test(builder, a_number_that_does_not_fit) {
  (void)add(param_i32("x"), 5000000000);
  expect_error(__LINE__ - 1, "add: expected a number of type i32, given 5000000000");
}

Test(builder, a_real_number_beside_an_integer) {
  (void)add(param_i32("x"), 0.5);
  expect_error(__LINE__ - 1, "add: expected a number of type i32, given 0.5");
}

Test(builder, a_value_of_another_type_for_an_array) {
  store(f.key, 0, param_i64("x"));
  expect_error(__LINE__ - 1,
               "store: expected a scalar i32 or i64 index, then a scalar of the object's "
               "type; given i32, i64, and key is of i32");
}

Test(builder, a_store_to_a_tape) {
  store(f.tape, 0, 1);
  expect_error(__LINE__ - 1, "store: expected something writable, given the read-only buffer tape");
}

Test(builder, a_value_that_is_out_of_sight) {
  val inside = {-1};
  const int made = __LINE__ + 2;
  IF (truth(param_i32("x"))) {
    inside = add(1, 2);
  }
  (void)add(inside, 1);
  expect_error_with(
      __LINE__ - 2,
      "add: operand 1: the value made at test_builder.c:%d is not visible here, its block has "
      "ended; a variable made before the block can carry it out",
      made);
}

Test(builder, a_block_that_is_left_by_break) {
  const int at = __LINE__ + 1;
  IF (truth(param_i32("x"))) {
    break;
  }
  char *text = finish(), expected[256];
  snprintf(
      expected, sizeof expected,
      "program kernel: if from test_builder.c:%d is never ended (was its block left by return, "
      "break or goto?)",
      at);
  cr_assert_str_eq(text, expected);
  free(text);
}

Test(builder, an_else_without_its_if) {
  IF (truth(param_i32("x"))) {}
  set_cell(f.total, 1);
  ELSE {}
  expect_error(__LINE__ - 1, "else: expected directly behind the end of an if without else");
}

Test(builder, two_cases_of_one_number) {
  SWITCH (param_i32("x")) {
    CASE(1) {}
    CASE(1) {}
  }
  expect_error_with(__LINE__ - 2, "case: 1 is taken by the case at test_builder.c:%d",
                    __LINE__ - 4);
}

Test(builder, code_between_switch_and_case) {
  SWITCH (param_i32("x")) {
    set_cell(f.total, 1);
    CASE(1) {}
  }
  expect_error_with(__LINE__ - 3,
                    "const: expected a case around it; innermost open is switch from "
                    "test_builder.c:%d",
                    __LINE__ - 7);
}

Test(builder, leaving_a_block_that_has_ended) {
  wb_label gone = {0};
  BLOCK(l) { gone = l; }
  LEAVE(gone);
  expect_error_with(__LINE__ - 1,
                    "leave: expected an enclosing block or loop, given the one at "
                    "test_builder.c:%d, which is not open",
                    __LINE__ - 5);
}

Test(builder, a_name_twice) {
  (void)param_i32("ring");
  expect_error(__LINE__ - 1, "param: name: \"ring\" is taken");
}

Test(builder, a_handle_of_nowhere) {
  array nowhere = {99};
  (void)load(nowhere, 0);
  expect_error(__LINE__ - 1,
               "load: expected an array, buffer or view of this program (0..3), given 99");
}

Test(builder, the_first_mistake_is_the_one_reported) {
  (void)add(param_i32("x"), 0.5);
  (void)load(f.key, 0.5);
  expect_error(__LINE__ - 2, "add: expected a number of type i32, given 0.5");
}

Test(builder, an_author_may_add_checks) {
  wb_build_fail(b, WB_HERE, "capacity: expected a power of two, given %d", 33);
  expect_error(__LINE__ - 1, "capacity: expected a power of two, given 33");
}

Test(builder, names_and_widths_are_checked) {
  wb_error error;
  wb_builder *other;
  cr_assert_eq(wb_builder_new("no name", 32, NULL, &other, &error), WB_ERROR_ARGUMENT);
  cr_assert_str_eq(error.text,
                   "program: name: expected a C identifier of at most 47 characters, got "
                   "\"no name\"");
  cr_assert_eq(wb_builder_new("name", 24, NULL, &other, &error), WB_ERROR_ARGUMENT);
  cr_assert_str_eq(error.text, "program name: width: expected a power of two from 2 to 32, got 24");
  wb_builder_free(b);
}

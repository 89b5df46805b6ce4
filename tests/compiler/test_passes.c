/* What the passes see: folding, dropping, and which accesses are proven to be in range. */
#include "compiler/passes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

static wb_builder *b;
static wb_layout *layout;
static array words, cell_array, bytes;

static void start(void) {
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "words", WB_ELEMENT_I32, 64, 0, &words, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "sum", WB_ELEMENT_I32, 1, 0, &cell_array, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "bytes", WB_ELEMENT_U8, 256, 0, &bytes, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("kernel", 32, layout, &b, NULL), WB_OK);
}

static void stop(void) { wb_layout_free(layout); }

TestSuite(passes, .init = start, .fini = stop);

static wb_program *finish(void) {
  wb_error error = {0};
  wb_program *program;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  return program;
}

static void expect_ops(wb_program *program, const char *expected) {
  char *text;
  wb_error error = {0};
  cr_assert_eq(wb_program_verify(program, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_program_text(program, false, &text, NULL), WB_OK);
  const char *ops = strstr(text, "\n%0");
  cr_assert_not_null(ops);
  cr_assert_str_eq(ops + 1, expected);
  free(text);
  wb_program_free(program);
}

/* how many accesses of `code` the analysis proves, of how many */
static void expect_proven(int proven, int all) {
  wb_program *program = finish();
  cr_assert_eq(wb_pass_range(program, NULL), WB_OK);
  int found = 0, count = 0;
  for (int32_t i = 0; i < program->op_count; i++) {
    if (!wb_op_accesses(&program->ops[i]) || program->ops[i].aux == cell_array.object) continue;
    count++;
    if (program->ops[i].flags & WB_FLAG_PROVEN) found++;
  }
  cr_expect_eq(count, all);
  cr_expect_eq(found, proven, "%d proven, expected %d of %d", found, proven, all);
  wb_program_free(program);
}

Test(passes, constants_fold_and_move_to_the_front) {
  val x = param_i32("x");
  store(words, add(mul(2, 3), 1), add(x, sub(10, 3)));
  store_row(words, 0, add(splat(3), 4));
  wb_program *program = finish();
  cr_assert_eq(wb_pass_fold(program, NULL), WB_OK);
  cr_assert_eq(wb_pass_drop(program, NULL), WB_OK);
  expect_ops(program, "%0 = const i32 7\n"
                      "%1 = const i32 0\n"
                      "%2 = param i32 $0\n"
                      "%3 = add i32 %2 %0\n"
                      "store @0[%0] %3\n"
                      "%5 = splat lanes.i32 %0\n"
                      "store_row @0[%1] %5\n");
}

Test(passes, neighbours_are_proven_if_all_lanes_are) {
  val x = param_i32("x");
  store_lanes_if(words, 0, 1, truth(1));
  store_lanes_if(words, 32, 1, truth(1));
  store_lanes_if(words, bit_and(x, 31), 1, truth(1));
  store_lanes_if(words, 33, 1, truth(1)); /* the last lane's element would be 64 */
  store_lanes_if(words, -1, 1, truth(1));
  expect_proven(3, 5);
}

Test(passes, a_promise_that_is_obviously_broken_is_kept) {
  store(cell_array, 0, known(5, 0, 4));
  wb_program *program = finish();
  cr_assert_eq(wb_passes_run(program, NULL), WB_OK);
  bool kept = false;
  for (int32_t i = 0; i < program->op_count; i++) {
    kept = kept || program->ops[i].code == WB_OP_KNOWN;
  }
  cr_expect(kept);
  wb_program_free(program);
}

Test(passes, what_nobody_uses_disappears) {
  val x = param_i32("x");
  var never_read = variable(1), read = variable(2);
  assign(never_read, load(words, x));
  assign(read, x);
  (void)add(x, 5);
  store(words, 0, read);
  wb_program *program = finish();
  cr_assert_eq(wb_pass_drop(program, NULL), WB_OK);
  expect_ops(program, "%0 = param i32 $0\n"
                      "%1 = const i32 2\n"
                      "%2 = var i32 %1\n"
                      "set %2 %0\n"
                      "%4 = const i32 0\n"
                      "%5 = get i32 %2\n"
                      "store @0[%4] %5\n");
}

Test(passes, code_that_never_runs_disappears) {
  IF (truth(0)) {
    store(words, 1, 1);
  }
  ELSE { store(words, 2, 2); }
  SWITCH (4) {
    CASE(3) { store(words, 3, 3); }
    CASE(4) { store(words, 4, 4); }
    DEFAULT { store(words, 5, 5); }
  }
  FOR (i, 3, 3) store(words, i, 6);
  BLOCK(l) {
    LEAVE(l);
    IF (truth(param_i32("x"))) {
      store(words, 7, 7);
    }
  }
  wb_program *program = finish();
  cr_assert_eq(wb_pass_fold(program, NULL), WB_OK);
  cr_assert_eq(wb_pass_drop(program, NULL), WB_OK);
  expect_ops(program, "%0 = const i32 2\n"
                      "%1 = const i32 4\n"
                      "store @0[%0] %0\n"
                      "store @0[%1] %1\n"
                      "%4 = block\n"
                      "  leave %4\n"
                      "end\n");
}

Test(passes, equal_constants_are_one) {
  store(words, 1, 5);
  store(words, 5, 1);
  wb_program *program = finish();
  cr_assert_eq(wb_pass_fold(program, NULL), WB_OK);
  expect_ops(program, "%0 = const i32 1\n"
                      "%1 = const i32 5\n"
                      "store @0[%0] %1\n"
                      "store @0[%1] %0\n");
}

/* ---- ranges ---- */

Test(passes, constant_indices) {
  (void)load(words, 0), (void)load(words, 63), (void)load(words, 64), (void)load(words, -1);
  (void)load_row(words, 1), (void)load_row(words, 2);
  expect_proven(3, 6);
}

Test(passes, masks_and_remainders) {
  val x = param_i32("x"), y = param_i64("y");
  (void)load(words, bit_and(x, 63));
  (void)load(words, bit_and(x, 64));
  (void)load(words, urem(x, 64));
  (void)load(words, remainder_of(x, 64)); /* may be negative */
  (void)load(words, shr(x, 26));
  (void)load(words, shr(x, 25));
  (void)load(words, i32(bit_and(y, 63)));
  (void)load(words, umin(x, 63));
  (void)load(words, max(min(x, 63), 0));
  (void)load(words, min(x, 63));
  expect_proven(6, 10);
}

Test(passes, arithmetic_that_could_wrap_proves_nothing) {
  val x = bit_and(param_i32("x"), 31);
  (void)load(words, add(x, 32));
  (void)load(words, add(x, 33));
  (void)load(words, sub(63, x));
  (void)load(words, mul(x, 2));
  (void)load(words, shl(x, 1));
  (void)load(words, bit_or(shl(x, 1), 1));
  (void)load(words, add(mul(x, INT32_MAX), 1));
  expect_proven(5, 7);
}

Test(passes, counters_of_loops) {
  FOR (i, 0, 64) (void)load(words, i);
  FOR (i, 0, 65) (void)load(words, i);
  FOR (i, 0, param_i32("n")) (void)load(words, i);
  FOR (r, 0, 2) (void)load_row(words, r);
  FOR (r, 0, 2)
    FOR (l, 0, 32) (void)load(words, add(mul(r, 32), l));
  expect_proven(3, 5);
}

Test(passes, lanes_and_their_numbers) {
  (void)gather(words, lane_id());
  (void)gather(words, add(lane_id(), 33));
  (void)load(words, ctz(param_i32("x")));
  (void)load_row(words, shr(ctz(param_i32("y")), 5));
  expect_proven(3, 4);
}

Test(passes, loads_know_their_element) {
  (void)load(bytes, load(bytes, 0));
  (void)load(words, shr(load(bytes, 1), 2));
  (void)load(words, load(bytes, 2));
  expect_proven(5, 6);
}

Test(passes, promises_about_values) {
  (void)load(words, known(param_i32("x"), 0, 63));
  (void)load(words, known(param_i32("y"), 0, 64));
  expect_proven(1, 2);
}

Test(passes, variables_join_all_that_is_put_into_them) {
  val x = param_i32("x");
  var small = variable(3), large = variable(3), counted = variable(0);
  IF (gt(x, 0)) {
    assign(small, bit_and(x, 63));
    assign(large, x);
  }
  (void)load(words, small);
  (void)load(words, large);
  WHILE (lt(counted, 10)) {
    (void)load(words, counted); /* grows without a bound that is seen */
    assign(counted, add(counted, 1));
  }
  expect_proven(1, 3);
}

Test(passes, buffers_have_no_known_length) {
  array tape = buffer_shared("tape", I32);
  (void)load(tape, 0);
  expect_proven(0, 1);
}

Test(passes, a_view_counts_its_own_elements) {
  array halves = view(words, I16);
  (void)load(halves, 127);
  (void)load(halves, 128);
  expect_proven(1, 2);
}

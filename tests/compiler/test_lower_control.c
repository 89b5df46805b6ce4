/* Structured control and variables as machine code against the interpreter. Each test is a small
 * program over a buffer of inputs, run for every kind of value that decides its way. */
#include "lowering.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

typedef void (*body)(wb_builder *b, array in, array out, val n);

static const int32_t inputs[] = {0, 1, 2,   3,  4,  5,  6,         7,
                                 8, 9, 100, -1, -2, -5, INT32_MAX, INT32_MIN};
enum { INPUTS = sizeof inputs / sizeof *inputs, OUT_ROW = 64 };

/* One book per input; a body reads in[0], writes out. */
static void check(body record) {
  wb_error error = {0};
  wb_builder *b;
  cr_assert_eq(wb_builder_new("control", 32, NULL, &b, &error), WB_OK);
  array in = buffer_per_book("in", I32);
  array out = buffer_per_book_out("out", I64);
  record(b, in, out, load(in, 0));
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  test_memory m;
  test_memory_new(&m, program, INPUTS, (int64_t[]){1, OUT_ROW});
  memcpy(test_buffer(&m, 0), inputs, sizeof inputs);
  test_expect_same(program, &m, 100000);
  test_memory_free(&m);
  wb_program_free(program);
}

static void branches(wb_builder *b, array in, array out, val n) {
  (void)in;
  IF (lt(n, 3)) {
    store(out, 0, i64(1));
  }
  IF_LIKELY(gt(n, 5)) { store(out, 1, i64(2)); }
  ELSE {
    IF_RARE(eq(n, 4)) {}
    ELSE { store(out, 2, i64(n)); }
    store(out, 3, i64(3));
  }
  IF (eq(n, 1)) {}
}
Test(lower_control, branches) { check(branches); }

static void cases(wb_builder *b, array in, array out, val n) {
  (void)in;
  SWITCH (n) {
    CASE(0) { store(out, 0, i64(10)); }
    CASE_LIKELY(1) { store(out, 0, i64(11)); }
    CASE_RARE(-1) { store(out, 0, i64(12)); }
    CASE(INT32_MIN) { store(out, 0, i64(13)); }
    CASE(100) {}
    DEFAULT { store(out, 0, i64(14)); }
  }
  SWITCH (n) {
    CASE(3) { store(out, 1, i64(1)); }
    CASE(INT32_MAX) { store(out, 1, i64(2)); }
  }
  SWITCH (n) {
    DEFAULT { store(out, 2, i64(n)); }
  }
  SWITCH (n) {}
  var last = variable(0);
  SWITCH (bit_and(n, 7)) {
    for (int k = 0; k < 8; k++) {
      CASE(k) {
        assign(last, add(last, 100 * k));
        IF (gt(n, 50)) {
          assign(last, -1);
        }
      }
    }
  }
  store(out, 3, i64(last));
}
Test(lower_control, switches) { check(cases); }

static void counted(wb_builder *b, array in, array out, val n) {
  (void)in;
  var sum = variable(i64(0)), rounds = variable(0);
  FOR (i, 0, min(n, 20)) {
    assign(sum, add(sum, i64(i)));
  }
  store(out, 0, sum);
  /* the bounds are read once; the last count does not overflow */
  FOR (i, INT32_MAX - 2, INT32_MAX) {
    assign(sum, add(sum, i64(i)));
  }
  FOR (i, INT32_MIN, add(n, INT32_MIN)) {
    assign(rounds, add(rounds, 1));
    (void)i;
  }
  store(out, 1, i64(rounds));
  FOR (i, i64(INT64_MAX - 3), i64(INT64_MAX)) {
    assign(sum, bit_xor(sum, i));
  }
  FOR (i, n, 10) {
    IF (lt(i, 0)) {
      assign(sum, add(sum, 1));
    }
    FOR_AS(inner, k, i, 10) {
      IF (gt(k, 6)) {
        LEAVE(inner);
      }
      assign(sum, add(mul(sum, 3), i64(k)));
    }
  }
  store(out, 2, sum);
}
Test(lower_control, counted_loops_that_take_a_few_rounds) { check(counted); }

static void looping(wb_builder *b, array in, array out, val n) {
  (void)in;
  var x = variable(bit_and(n, 63)), steps = variable(0);
  WHILE (gt(x, 0)) {
    assign(x, shr(x, 1));
    assign(steps, add(steps, 1));
  }
  store(out, 0, i64(steps));
  assign(x, n);
  LOOP(all) {
    assign(steps, add(steps, 1));
    IF (gt(steps, 40)) {
      LEAVE(all);
    }
    WHILE_AS(one, lt(x, 30)) {
      assign(x, add(x, 7));
      IF (eq(bit_and(x, 15), 3)) {
        LEAVE(one);
      }
      IF (eq(bit_and(x, 31), 9)) {
        LEAVE(all);
      }
      IF (lt(x, -1000)) {
        LEAVE(all);
      }
    }
    IF (eq(steps, 33)) {
      LEAVE(all);
      store(out, 5, i64(99)); /* never runs */
    }
  }
  store(out, 1, i64(x));
  store(out, 2, i64(steps));
}
Test(lower_control, loops_that_are_left_inside_out) { check(looping); }

static void blocks(wb_builder *b, array in, array out, val n) {
  (void)in;
  BLOCK(refused) {
    IF (lt(n, 0)) {
      store(out, 0, i64(1));
      LEAVE(refused);
    }
    BLOCK(inner) {
      FOR (i, 0, 8) {
        SWITCH (n) {
          CASE(2) { LEAVE(inner); }
          CASE(4) {
            IF (eq(i, 3)) {
              LEAVE(refused);
            }
          }
          DEFAULT { add_to(out, 1, i64(i)); }
        }
      }
      store(out, 2, i64(2));
    }
    store(out, 3, i64(3));
    LEAVE(refused);
  }
  store(out, 4, i64(4));
}
Test(lower_control, blocks_are_left_from_anywhere) { check(blocks); }

static void all_types(wb_builder *b, array in, array out, val n) {
  (void)in;
  var flag = variable(lt(n, 4)), real = variable(f32(n)), wide = variable(i64(n));
  var mask = variable(lt(lane_id(), n)), lanes = variable(lane_id());
  var reals = variable(f32(lane_id())), wides = variable(i64(lane_id()));
  FOR (i, 0, 5) {
    IF (flag) {
      assign(lanes, add(lanes, i));
      assign(mask, bit_xor(mask, eq(lanes, 9)));
    }
    ELSE {
      assign(reals, add(reals, real));
      assign(wides, mul(wides, wide));
    }
    assign(flag, not_(flag));
    assign(real, mul(real, 1.5F));
    assign(wide, sub(wide, i64(i)));
  }
  store(out, 0, i64(ballot(mask)));
  store(out, 1, i64(reduce_add(lanes)));
  store(out, 2, i64(to_bits(reduce_add(reals))));
  store(out, 3, reduce_add(wides));
  store(out, 4, i64(flag));
  store(out, 5, i64(to_bits(real)));
  store(out, 6, wide);
  store(out, 7, i64(book_index()));
}
Test(lower_control, variables_of_every_type_and_shape) { check(all_types); }

/* a variable of a region that is entered again starts anew */
static void scopes(wb_builder *b, array in, array out, val n) {
  (void)in;
  FOR (i, 0, 4) {
    var fresh = variable(n);
    FOR (k, 0, i) {
      var inner = variable(fresh);
      assign(inner, add(inner, k));
      assign(fresh, inner);
    }
    store(out, i, i64(fresh));
  }
}
Test(lower_control, variables_live_in_their_region) { check(scopes); }

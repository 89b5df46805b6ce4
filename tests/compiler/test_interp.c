/* What every op means: the rules of ops.h, one test each, on extreme operands. */
#include "compiler/interp.h"

#include <criterion/criterion.h>
#include <fenv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

static wb_builder *b;
static wb_layout *layout;
static array words, longs, reals;

static void start(void) {
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "words", WB_ELEMENT_I32, 64, -7, &words, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "longs", WB_ELEMENT_I64, 64, 0, &longs, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "reals", WB_ELEMENT_F32, 64, 0, &reals, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("kernel", 32, layout, &b, NULL), WB_OK);
}

static void stop(void) { wb_layout_free(layout); }

TestSuite(interp, .init = start, .fini = stop);

/* ---- single ops, through wb_op_evaluate as folding and the interpreter call it ---- */

static int64_t one(wb_opcode code, wb_type type, int64_t x, int64_t y, int64_t z) {
  const wb_op op = {.code = (uint8_t)code, .imm = x};
  int64_t result[32] = {0};
  const int64_t *operands[3] = {&x, &y, &z};
  wb_op_evaluate(&op, type, WB_SHAPE_SCALAR, 32, operands, result);
  return result[0];
}

static int64_t word(wb_opcode code, int64_t x, int64_t y) {
  return one(code, WB_TYPE_I32, x, y, 0);
}
static int64_t wide(wb_opcode code, int64_t x, int64_t y) {
  return one(code, WB_TYPE_I64, x, y, 0);
}

static int64_t bits(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}

static int64_t real(wb_opcode code, float x, float y) {
  return one(code, WB_TYPE_F32, bits(x), bits(y), 0);
}

enum { NAN_BITS = 0x7fc00000 };

Test(interp, integers_wrap) {
  cr_expect_eq(word(WB_OP_ADD, INT32_MAX, 1), INT32_MIN);
  cr_expect_eq(word(WB_OP_SUB, INT32_MIN, 1), INT32_MAX);
  cr_expect_eq(word(WB_OP_MUL, INT32_MIN, -1), INT32_MIN);
  cr_expect_eq(word(WB_OP_MUL, 0x10000, 0x10000), 0);
  cr_expect_eq(wide(WB_OP_ADD, INT64_MAX, 1), INT64_MIN);
  cr_expect_eq(wide(WB_OP_SUB, INT64_MIN, 1), INT64_MAX);
  cr_expect_eq(wide(WB_OP_MUL, INT64_MIN, -1), INT64_MIN);
}

Test(interp, division_by_zero_is_zero_and_leaves_all_as_the_rest) {
  cr_expect_eq(word(WB_OP_DIV, 7, 0), 0);
  cr_expect_eq(word(WB_OP_REM, 7, 0), 7);
  cr_expect_eq(wide(WB_OP_DIV, -7, 0), 0);
  cr_expect_eq(wide(WB_OP_REM, -7, 0), -7);
  cr_expect_eq(word(WB_OP_UDIV, -7, 0), 0);
  cr_expect_eq(word(WB_OP_UREM, -7, 0), -7);
  cr_expect_eq(wide(WB_OP_UDIV, 7, 0), 0);
  cr_expect_eq(wide(WB_OP_UREM, 7, 0), 7);
}

Test(interp, the_least_number_divided_by_minus_one_stays) {
  cr_expect_eq(word(WB_OP_DIV, INT32_MIN, -1), INT32_MIN);
  cr_expect_eq(word(WB_OP_REM, INT32_MIN, -1), 0);
  cr_expect_eq(wide(WB_OP_DIV, INT64_MIN, -1), INT64_MIN);
  cr_expect_eq(wide(WB_OP_REM, INT64_MIN, -1), 0);
}

Test(interp, signed_division_goes_towards_zero) {
  cr_expect_eq(word(WB_OP_DIV, -7, 2), -3);
  cr_expect_eq(word(WB_OP_REM, -7, 2), -1);
  cr_expect_eq(word(WB_OP_REM, 7, -2), 1);
}

Test(interp, unsigned_division_sees_large_numbers) {
  cr_expect_eq(word(WB_OP_UDIV, -1, 2), INT32_MAX);
  cr_expect_eq(word(WB_OP_UREM, -1, 10), 5);
  cr_expect_eq(wide(WB_OP_UDIV, -1, 2), INT64_MAX);
  cr_expect_eq(word(WB_OP_UMULHI, -1, -1), -2);
  cr_expect_eq(word(WB_OP_UMULHI, (int32_t)0x80000000, 2), 1);
}

Test(interp, shifts_by_the_width_or_more) {
  const int64_t counts[] = {32, 33, 64, INT32_MAX, -1, INT32_MIN};
  for (int i = 0; i < 6; i++) {
    cr_expect_eq(word(WB_OP_SHL, 5, counts[i]), 0);
    cr_expect_eq(word(WB_OP_SHR, -5, counts[i]), 0);
    cr_expect_eq(word(WB_OP_SAR, -5, counts[i]), -1);
    cr_expect_eq(word(WB_OP_SAR, 5, counts[i]), 0);
  }
  cr_expect_eq(wide(WB_OP_SHL, 5, 64), 0);
  cr_expect_eq(wide(WB_OP_SHR, -5, -1), 0);
  cr_expect_eq(wide(WB_OP_SAR, INT64_MIN, 64), -1);
}

Test(interp, shifts_below_the_width) {
  cr_expect_eq(word(WB_OP_SHL, 1, 31), INT32_MIN);
  cr_expect_eq(word(WB_OP_SHR, -1, 31), 1);
  cr_expect_eq(word(WB_OP_SHR, -1, 0), -1);
  cr_expect_eq(word(WB_OP_SAR, -8, 2), -2);
  cr_expect_eq(wide(WB_OP_SHL, 1, 63), INT64_MIN);
  cr_expect_eq(wide(WB_OP_SHR, -1, 63), 1);
  cr_expect_eq(wide(WB_OP_SAR, INT64_MIN, 63), -1);
}

Test(interp, counting_bits_of_zero_gives_the_width) {
  cr_expect_eq(word(WB_OP_CTZ, 0, 0), 32);
  cr_expect_eq(word(WB_OP_CLZ, 0, 0), 32);
  cr_expect_eq(wide(WB_OP_CTZ, 0, 0), 64);
  cr_expect_eq(wide(WB_OP_CLZ, 0, 0), 64);
  cr_expect_eq(word(WB_OP_CTZ, INT32_MIN, 0), 31);
  cr_expect_eq(word(WB_OP_CLZ, -1, 0), 0);
  cr_expect_eq(word(WB_OP_CLZ, 1, 0), 31);
  cr_expect_eq(word(WB_OP_POPCNT, -1, 0), 32);
  cr_expect_eq(wide(WB_OP_POPCNT, -1, 0), 64);
}

Test(interp, signed_and_unsigned_order) {
  cr_expect_eq(word(WB_OP_LT, -1, 1), 1);
  cr_expect_eq(word(WB_OP_ULT, -1, 1), 0);
  cr_expect_eq(word(WB_OP_ULE, 1, -1), 1);
  cr_expect_eq(word(WB_OP_MIN, -1, 1), -1);
  cr_expect_eq(word(WB_OP_UMIN, -1, 1), 1);
  cr_expect_eq(word(WB_OP_MAX, -1, 1), 1);
  cr_expect_eq(word(WB_OP_UMAX, -1, 1), -1);
  cr_expect_eq(wide(WB_OP_ULT, INT64_MIN, INT64_MAX), 0);
}

Test(interp, not_of_bool_is_bool) {
  cr_expect_eq(one(WB_OP_NOT, WB_TYPE_BOOL, 1, 0, 0), 0);
  cr_expect_eq(one(WB_OP_NOT, WB_TYPE_BOOL, 0, 0, 0), 1);
  cr_expect_eq(word(WB_OP_NOT, 0, 0), -1);
}

Test(interp, conversions_between_integers) {
  cr_expect_eq(word(WB_OP_SEXT, -1, 0), -1);
  cr_expect_eq(word(WB_OP_ZEXT, -1, 0), UINT32_MAX);
  cr_expect_eq(wide(WB_OP_TRUNC, INT64_C(0x180000000), 0), INT32_MIN);
}

Test(interp, floats_to_integers_saturate) {
  cr_expect_eq(real(WB_OP_TO_I32, 1e30F, 0), INT32_MAX);
  cr_expect_eq(real(WB_OP_TO_I32, -1e30F, 0), INT32_MIN);
  cr_expect_eq(real(WB_OP_TO_I32, INFINITY, 0), INT32_MAX);
  cr_expect_eq(real(WB_OP_TO_I32, -INFINITY, 0), INT32_MIN);
  cr_expect_eq(real(WB_OP_TO_I32, NAN, 0), 0);
  cr_expect_eq(real(WB_OP_TO_I32, -1.9F, 0), -1);
  cr_expect_eq(real(WB_OP_TO_I32, 2147483520.0F, 0), 2147483520);
  cr_expect_eq(real(WB_OP_TO_I32, -2147483648.0F, 0), INT32_MIN);
}

Test(interp, integers_to_floats_round_to_even) {
  cr_expect_eq(word(WB_OP_TO_F32, 16777217, 0), bits(16777216.0F));
  cr_expect_eq(word(WB_OP_TO_F32, 16777219, 0), bits(16777220.0F));
  cr_expect_eq(wide(WB_OP_TO_F32, INT64_MAX, 0), bits(9223372036854775808.0F));
  /* through double it would round twice, down */
  cr_expect_eq(wide(WB_OP_TO_F32, (INT64_C(1) << 60) + (INT64_C(1) << 36) + 1, 0),
               bits(0x1.000002p60F));
}

Test(interp, every_nan_is_the_canonical_one) {
  const int64_t payload = 0xffc12345;
  cr_expect_eq(one(WB_OP_TO_BITS, WB_TYPE_F32, payload, 0, 0), NAN_BITS);
  cr_expect_eq(one(WB_OP_ADD, WB_TYPE_F32, payload, bits(1), 0), NAN_BITS);
  cr_expect_eq(real(WB_OP_SUB, INFINITY, INFINITY), NAN_BITS);
  cr_expect_eq(real(WB_OP_MUL, 0, INFINITY), NAN_BITS);
  cr_expect_eq(real(WB_OP_DIV, 0, 0), NAN_BITS);
  cr_expect_eq(real(WB_OP_SQRT, -1, 0), NAN_BITS);
}

Test(interp, min_and_max_of_nan_and_zeros) {
  cr_expect_eq(real(WB_OP_MIN, NAN, 1), NAN_BITS);
  cr_expect_eq(real(WB_OP_MAX, 1, NAN), NAN_BITS);
  cr_expect_eq(real(WB_OP_MIN, 0.0F, -0.0F), bits(-0.0F));
  cr_expect_eq(real(WB_OP_MIN, -0.0F, 0.0F), bits(-0.0F));
  cr_expect_eq(real(WB_OP_MAX, -0.0F, 0.0F), bits(0.0F));
  cr_expect_eq(real(WB_OP_MAX, 0.0F, -0.0F), bits(0.0F));
}

Test(interp, comparing_with_nan) {
  cr_expect_eq(real(WB_OP_EQ, NAN, NAN), 0);
  cr_expect_eq(real(WB_OP_NE, NAN, NAN), 1);
  cr_expect_eq(real(WB_OP_LT, NAN, 1), 0);
  cr_expect_eq(real(WB_OP_LE, 1, NAN), 0);
  cr_expect_eq(real(WB_OP_EQ, 0.0F, -0.0F), 1);
}

Test(interp, denormals_are_kept) {
  cr_expect_eq(one(WB_OP_ADD, WB_TYPE_F32, 1, 1, 0), 2);
  cr_expect_eq(one(WB_OP_MUL, WB_TYPE_F32, 0x00800000, bits(0.5F), 0), 0x00400000);
}

Test(interp, fma_rounds_once_and_mul_add_twice) {
  const float x = 1.0F + 0x1p-12F;
  cr_expect_eq(one(WB_OP_FMA, WB_TYPE_F32, bits(x), bits(x), bits(-1.0F)), bits(0x1.0008p-11F));
  int64_t product = real(WB_OP_MUL, x, x);
  cr_expect_eq(one(WB_OP_ADD, WB_TYPE_F32, product, bits(-1.0F), 0), bits(0x1p-11F));
}

/* ---- lanes ---- */

static const int64_t *lanes(wb_opcode code, wb_type type, const int64_t *x, const int64_t *y,
                            const int64_t *z) {
  static int64_t result[32];
  const wb_op op = {.code = (uint8_t)code};
  const int64_t *operands[3] = {x, y, z};
  wb_op_evaluate(&op, type, WB_SHAPE_LANES, 32, operands, result);
  return result;
}

Test(interp, a_reduction_of_floats_is_a_butterfly) {
  int64_t x[32];
  for (int l = 0; l < 32; l++) x[l] = bits(l == 0 ? 1e8F : l == 16 ? -1e8F : 1.0F + (float)l);
  float sum[32];
  for (int l = 0; l < 32; l++) {
    uint32_t u = (uint32_t)x[l];
    memcpy(&sum[l], &u, 4);
  }
  /* lane 0 of the butterfly is the sum of halves, distance 16 first */
  for (int distance = 16; distance > 0; distance /= 2) {
    for (int l = 0; l < distance; l++) sum[l] = sum[l] + sum[l + distance];
  }
  float in_order = 0;
  for (int l = 0; l < 32; l++) {
    float term;
    uint32_t u = (uint32_t)x[l];
    memcpy(&term, &u, 4);
    in_order += term;
  }
  cr_expect_eq(lanes(WB_OP_REDUCE_ADD, WB_TYPE_F32, x, NULL, NULL)[0], bits(sum[0]));
  cr_expect_neq(bits(sum[0]), bits(in_order), "the test's numbers cannot tell orders apart");
}

Test(interp, lane_operations) {
  int64_t x[32], odd[32], reversed[32], five[32];
  for (int l = 0; l < 32; l++) {
    x[l] = 100 + l;
    odd[l] = l % 2;
    reversed[l] = 31 - l - 32 * (l % 3); /* taken modulo 32 */
    five[l] = 5;
  }
  const int64_t beyond = 33, before = -1, value = 9;
  cr_expect_eq(lanes(WB_OP_BALLOT, WB_TYPE_BOOL, odd, NULL, NULL)[0], (int32_t)0xaaaaaaaa);
  cr_expect_eq(lanes(WB_OP_ANY, WB_TYPE_BOOL, odd, NULL, NULL)[0], 1);
  cr_expect_eq(lanes(WB_OP_ALL, WB_TYPE_BOOL, odd, NULL, NULL)[0], 0);
  cr_expect_eq(lanes(WB_OP_REDUCE_ADD, WB_TYPE_I32, x, NULL, NULL)[0], 3200 + 31 * 16);
  cr_expect_eq(lanes(WB_OP_REDUCE_MIN, WB_TYPE_I32, x, NULL, NULL)[0], 100);
  cr_expect_eq(lanes(WB_OP_REDUCE_MAX, WB_TYPE_I32, x, NULL, NULL)[0], 131);
  cr_expect_eq(lanes(WB_OP_SCAN_ADD, WB_TYPE_I32, five, NULL, NULL)[31], 160);
  cr_expect_eq(lanes(WB_OP_SCAN_ADD, WB_TYPE_I32, five, NULL, NULL)[0], 5);
  cr_expect_eq(lanes(WB_OP_EXTRACT, WB_TYPE_I32, x, &beyond, NULL)[0], 101);
  cr_expect_eq(lanes(WB_OP_EXTRACT, WB_TYPE_I32, x, &before, NULL)[0], 131);
  cr_expect_eq(lanes(WB_OP_SHUFFLE, WB_TYPE_I32, x, reversed, NULL)[0], 131);
  cr_expect_eq(lanes(WB_OP_SHUFFLE, WB_TYPE_I32, x, reversed, NULL)[31], 100);
  cr_expect_eq(lanes(WB_OP_INSERT, WB_TYPE_I32, x, &beyond, &value)[1], 101);
  cr_expect_eq(lanes(WB_OP_INSERT, WB_TYPE_I32, x, &five[0], &value)[5], 9);
}

/* ---- memory and control, on whole programs ---- */

static union {
  _Alignas(64) unsigned char bytes[64 * 4 + 64 * 8 + 64 * 4];
  struct {
    int32_t words[64];
    int64_t longs[64];
    uint32_t reals[64];
  } at;
} slab;

static wb_status run_with(const wb_buffer_argument *buffers, const int64_t *scalars,
                          int64_t step_limit, wb_error *error) {
  wb_program *program;
  wb_error built = {0};
  cr_assert_eq(wb_builder_finish(b, &program, &built), WB_OK, "%s", built.text);
  cr_assert_eq(program->slab_bytes, sizeof slab);
  wb_kernel_arguments arguments = {
      .slabs = slab.bytes, .slab_stride = sizeof slab, .buffers = buffers, .scalars = scalars};
  wb_status status = wb_interpret(program, &arguments, 0, 1, step_limit, error);
  wb_program_free(program);
  return status;
}

static void run(void) {
  wb_error error = {0};
  cr_assert_eq(run_with(NULL, NULL, 0, &error), WB_OK, "%s", error.text);
}

Test(interp, a_load_out_of_range_yields_the_fill) {
  for (int i = 0; i < 64; i++) slab.at.words[i] = 1000 + i;
  store(longs, 0, i64(load(words, 64)));
  store(longs, 1, i64(load(words, -1)));
  store(longs, 2, i64(load(words, i64(INT64_MIN))));
  store(longs, 3, i64(load(words, 63)));
  store(longs, 4, i64(reduce_add(load_row(words, 2))));
  store(longs, 5, i64(reduce_min(gather(words, mul(lane_id(), 3)))));
  run();
  cr_expect_eq(slab.at.longs[0], -7);
  cr_expect_eq(slab.at.longs[1], -7);
  cr_expect_eq(slab.at.longs[2], -7);
  cr_expect_eq(slab.at.longs[3], 1063);
  cr_expect_eq(slab.at.longs[4], -7 * 32);
  cr_expect_eq(slab.at.longs[5], -7);
}

Test(interp, a_store_out_of_range_is_dropped) {
  memset(&slab, 0, sizeof slab);
  store(words, 64, 5);
  store(words, -1, 5);
  store_row(words, 2, 5);
  store_row(words, -1, 5);
  store_row_if(words, 3, 5, eq(lane_id(), 0));
  scatter(words, choose(eq(lane_id(), 3), 10, -1), lane_id());
  run();
  int64_t sum = 0;
  for (int i = 0; i < 64; i++) sum += slab.at.words[i];
  cr_expect_eq(sum, 3);
  cr_expect_eq(slab.at.words[10], 3);
  for (int i = 0; i < 64; i++) cr_expect_eq(slab.at.longs[i], 0);
}

static int64_t sum_of_words(void) {
  int64_t sum = 0;
  for (int i = 0; i < 64; i++) sum += slab.at.words[i];
  return sum;
}

Test(interp, neighbours_go_where_their_index_and_mask_say) {
  memset(&slab, 0, sizeof slab);
  store_lanes_if(words, 5, add(lane_id(), 100), ge(lane_id(), 30));
  store_lanes_if(words, 62, add(lane_id(), 200), ne(lane_id(), 0)); /* 63, then past the end */
  store_lanes_if(words, -30, add(lane_id(), 300), truth(1));        /* 0 and 1 */
  run();
  cr_expect_eq(slab.at.words[35], 130);
  cr_expect_eq(slab.at.words[36], 131);
  cr_expect_eq(slab.at.words[63], 201);
  cr_expect_eq(slab.at.words[0], 330);
  cr_expect_eq(slab.at.words[1], 331);
  cr_expect_eq(sum_of_words(), 130 + 131 + 201 + 330 + 331);
  for (int i = 0; i < 64; i++) cr_expect_eq(slab.at.longs[i], 0);
}

Test(interp, neighbours_do_not_wrap_into_range) {
  memset(&slab, 0, sizeof slab);
  store_lanes_if(words, INT32_MAX, 1, truth(1));
  store_lanes_if(words, INT32_MIN, 2, truth(1));
  store_lanes_if(words, i64(INT64_MAX), 3, truth(1));
  store_lanes_if(words, i64(INT64_MIN), 4, truth(1));
  store_lanes_if(words, i64(INT64_C(0xffffffff)), 5, truth(1));
  store_lanes_if(words, -32, 6, truth(1));
  store_lanes_if(words, 64, 7, truth(1));
  run();
  cr_expect_eq(sum_of_words(), 0);
}

Test(interp, the_highest_of_colliding_lanes_stays) {
  scatter(words, bit_and(lane_id(), 3), lane_id());
  run();
  for (int i = 0; i < 4; i++) cr_expect_eq(slab.at.words[i], 28 + i);
}

Test(interp, a_masked_row_leaves_the_other_lanes) {
  for (int i = 0; i < 64; i++) slab.at.words[i] = -1;
  store_row_if(words, 1, lane_id(), eq(bit_and(lane_id(), 1), 0));
  run();
  for (int i = 0; i < 32; i++) cr_expect_eq(slab.at.words[32 + i], i % 2 == 0 ? i : -1);
}

Test(interp, the_lane_of_the_least_is_the_lowest_of_several) {
  val x = bit_and(bit_xor(lane_id(), 5), 7); /* 5 4 7 6 1 0 3 2, four times */
  store(words, 0, lane_of_min(x));
  store(words, 1, lane_of_max(x));
  store(words, 2, lane_of_min(choose(eq(lane_id(), 9), f32(NAN), 1.0)));
  run();
  cr_expect_eq(slab.at.words[0], 5);
  cr_expect_eq(slab.at.words[1], 2);
  cr_expect_eq(slab.at.words[2], 32);
}

Test(interp, rows_reduce_in_one_pass) {
  for (int i = 0; i < 64; i++) slab.at.words[i] = i;
  store(longs, 0, rows_add(r, 2, i64(0), i64(load_row(words, r))));
  store(longs, 1, i64(rows_min(r, 2, INT32_MAX, load_row(words, r))));
  store(longs, 2, i64(rows_max(r, 2, -1, load_row(words, r))));
  store(longs, 3, i64(rows_any(r, 2, eq(load_row(words, r), 63))));
  store(longs, 4, i64(rows_any(r, 2, eq(load_row(words, r), 64))));
  run();
  const int64_t expected[] = {63 * 32, 0, 63, 1, 0};
  for (int i = 0; i < 5; i++) cr_expect_eq(slab.at.longs[i], expected[i]);
}

Test(interp, narrow_elements_extend_and_cut) {
  array low = view(words, U8), high = view(words, I16);
  store(words, 0, (int32_t)0xfffe8081);
  store(longs, 0, i64(load(low, 0)));
  store(longs, 1, i64(load(high, 0)));
  store(longs, 2, i64(load(high, 1)));
  store(low, 3, 0x1234);
  run();
  cr_expect_eq(slab.at.longs[0], 0x81);
  cr_expect_eq(slab.at.longs[1], (int16_t)0x8081);
  cr_expect_eq(slab.at.longs[2], -2);
  cr_expect_eq((uint32_t)slab.at.words[0], 0x34fe8081);
}

Test(interp, a_stored_nan_is_canonical) {
  slab.at.reals[0] = 0xffc12345;
  store(reals, 1, load(reals, 0));
  store(words, 0, to_bits(load(reals, 0)));
  run();
  cr_expect_eq(slab.at.reals[1], (uint32_t)NAN_BITS);
  cr_expect_eq(slab.at.words[0], NAN_BITS);
}

Test(interp, a_switch_without_its_case_takes_the_default) {
  for (int i = 0; i < 4; i++) {
    SWITCH (i == 3 ? -5 : i) {
      CASE(0) { store(words, i, 10); }
      CASE(2) { store(words, i, 12); }
      DEFAULT { store(words, i, 99); }
    }
  }
  store(words, 4, 7);
  SWITCH (5) {
    CASE(4) { store(words, 4, 8); }
  }
  run();
  const int32_t expected[] = {10, 99, 12, 99, 7};
  for (int i = 0; i < 5; i++) cr_expect_eq(slab.at.words[i], expected[i]);
}

Test(interp, a_for_reads_its_bounds_once_and_never_overflows) {
  var rounds = variable(0), hi = variable(3);
  FOR (i, 0, hi) {
    assign(hi, 100);
    assign(rounds, add(rounds, 1));
  }
  store(words, 0, rounds);
  assign(rounds, 0);
  FOR (i, INT32_MAX - 2, INT32_MAX) assign(rounds, add(rounds, 1));
  FOR (i, 5, 5) assign(rounds, 1000);
  FOR (i, 5, -5) assign(rounds, 1000);
  store(words, 1, rounds);
  run();
  cr_expect_eq(slab.at.words[0], 3);
  cr_expect_eq(slab.at.words[1], 2);
}

Test(interp, leave_goes_on_behind_what_it_names) {
  var n = variable(0);
  LOOP(outer) {
    FOR_AS(inner, i, 0, 10) {
      IF (eq(i, 4)) {
        LEAVE(inner);
      }
      assign(n, add(n, 1));
    }
    IF (gt(n, 10)) {
      LEAVE(outer);
    }
    BLOCK(skip) {
      LEAVE(skip);
      assign(n, 1000);
    }
  }
  store(words, 0, n);
  run();
  cr_expect_eq(slab.at.words[0], 12);
}

Test(interp, a_variable_starts_anew_in_every_round) {
  FOR (i, 0, 4) {
    var fresh = variable(5);
    assign(fresh, add(fresh, i));
    store(words, i, fresh);
  }
  run();
  for (int i = 0; i < 4; i++) cr_expect_eq(slab.at.words[i], 5 + i);
}

Test(interp, parameters_and_the_book) {
  store(longs, 0, param_i64("a"));
  store(words, 0, param_i32("b"));
  store(reals, 0, param_f32("c"));
  store(words, 1, book_index());
  const int64_t scalars[] = {INT64_MIN, INT64_C(0x7fffffff80000001), INT64_C(0x123ffc12345)};
  wb_error error = {0};
  cr_assert_eq(run_with(NULL, scalars, 0, &error), WB_OK);
  cr_expect_eq(slab.at.longs[0], INT64_MIN);
  cr_expect_eq((uint32_t)slab.at.words[0], 0x80000001);
  cr_expect_eq(slab.at.reals[0], (uint32_t)NAN_BITS);
  cr_expect_eq(slab.at.words[1], 0);
}

Test(interp, philox_gives_the_published_words) {
  const wb_operand zero[4] = {wb_operand_signed(0), wb_operand_signed(0), wb_operand_signed(0),
                              wb_operand_signed(0)};
  const wb_operand ones[4] = {wb_operand_signed(-1), wb_operand_signed(-1), wb_operand_signed(-1),
                              wb_operand_signed(-1)};
  wb_random first = wb_build_philox(b, WB_HERE, wb_operand_signed(0), zero);
  wb_random second = wb_build_philox(b, WB_HERE, wb_operand_signed(-1), ones);
  for (int i = 0; i < 4; i++) {
    store(words, i, first.word[i]);
    store(words, 4 + i, second.word[i]);
  }
  run();
  /* known answers of the authors' Random123 library */
  const uint32_t expected[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8,
                               0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd};
  for (int i = 0; i < 8; i++) cr_expect_eq((uint32_t)slab.at.words[i], expected[i]);
}

Test(interp, a_broken_promise_is_reported) {
  wb_error error = {0};
  slab.at.words[0] = 64;
  const int at = __LINE__ + 1;
  (void)load_in(longs, load(words, 0));
  cr_assert_eq(run_with(NULL, NULL, 0, &error), WB_ERROR_INTERNAL);
  char expected[200];
  snprintf(expected, sizeof expected,
           "program kernel: load at test_interp.c:%d (op 2), book 0: longs: promised 0..63, got 64",
           at);
  cr_assert_str_eq(error.text, expected);
}

Test(interp, a_broken_known_is_reported) {
  wb_error error = {0};
  slab.at.words[0] = 5;
  const int at = __LINE__ + 1;
  (void)known(load(words, 0), 0, 4);
  cr_assert_eq(run_with(NULL, NULL, 0, &error), WB_ERROR_INTERNAL);
  char expected[200];
  snprintf(expected, sizeof expected,
           "program kernel: known at test_interp.c:%d (op 4), book 0: value: promised 0..4, got 5",
           at);
  cr_assert_str_eq(error.text, expected);
}

Test(interp, a_loop_without_end_meets_the_limit) {
  wb_error error = {0};
  LOOP(l) {}
  cr_assert_eq(run_with(NULL, NULL, 1000, &error), WB_ERROR_LIMIT);
  cr_assert_str_eq(error.text, "program kernel: book 0: more than 1000 ops");
}

Test(interp, the_callers_rounding_mode_is_not_ours) {
  slab.at.reals[0] = (uint32_t)bits(1.0F);
  store(reals, 1, divide(load(reals, 0), f32(3)));
  fesetround(FE_UPWARD);
  run();
  cr_expect_eq(fegetround(), FE_UPWARD);
  fesetround(FE_TONEAREST);
  cr_expect_eq(slab.at.reals[1], 0x3eaaaaab);
  cr_expect_eq(slab.at.reals[1], (uint32_t)bits(1.0F / 3.0F));
}

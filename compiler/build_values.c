/* Conversions, promises about values, and the small compounds that every kernel wants. */
#include "compiler/build.h"

static wb_val unconvertible(wb_builder *b, wb_site site, const char *to, const char *expected,
                            wb_val v) {
  char given[64];
  wb_value_text(b->program, v.id, given, sizeof given);
  wb_build_fail(b, site, "%s: expected %s, given %s", to, expected, given);
  return (wb_val){-1};
}

wb_val wb_build_i32(wb_builder *b, wb_site site, wb_operand x) {
  if (wb_is_number(x)) return wb_number(b, site, x, WB_TYPE_I32, "i32");
  wb_val v = wb_build_value(b, site, x);
  switch (wb_build_type(b, v)) {
  case WB_TYPE_BOOL: return wb_op1(b, site, WB_OP_FROM_BOOL, v);
  case WB_TYPE_I32: return v;
  case WB_TYPE_I64: return wb_op1(b, site, WB_OP_TRUNC, v);
  case WB_TYPE_F32: return wb_op1(b, site, WB_OP_TO_I32, v);
  default: return unconvertible(b, site, "i32", "bool, i32, i64 or f32", v);
  }
}

static wb_val widen(wb_builder *b, wb_site site, wb_operand x, wb_opcode code, const char *to) {
  if (wb_is_number(x)) return wb_number(b, site, x, WB_TYPE_I64, to);
  wb_val v = wb_build_value(b, site, x);
  switch (wb_build_type(b, v)) {
  case WB_TYPE_BOOL: return wb_op1(b, site, WB_OP_ZEXT, wb_op1(b, site, WB_OP_FROM_BOOL, v));
  case WB_TYPE_I32: return wb_op1(b, site, code, v);
  case WB_TYPE_I64: return v;
  default: return unconvertible(b, site, to, "bool, i32 or i64", v);
  }
}

wb_val wb_build_i64(wb_builder *b, wb_site site, wb_operand x) {
  return widen(b, site, x, WB_OP_SEXT, "i64");
}

wb_val wb_build_u64(wb_builder *b, wb_site site, wb_operand x) {
  return widen(b, site, x, WB_OP_ZEXT, "u64");
}

wb_val wb_build_f32(wb_builder *b, wb_site site, wb_operand x) {
  if (wb_is_number(x)) return wb_number(b, site, x, WB_TYPE_F32, "f32");
  wb_val v = wb_build_value(b, site, x);
  switch (wb_build_type(b, v)) {
  case WB_TYPE_I32:
  case WB_TYPE_I64: return wb_op1(b, site, WB_OP_TO_F32, v);
  case WB_TYPE_F32: return v;
  default: return unconvertible(b, site, "f32", "i32, i64 or f32", v);
  }
}

wb_val wb_build_bool(wb_builder *b, wb_site site, wb_operand x) {
  if (wb_is_number(x)) return wb_number(b, site, x, WB_TYPE_BOOL, "bool");
  wb_val v = wb_build_value(b, site, x);
  if (wb_build_type(b, v) == WB_TYPE_BOOL) return v;
  return wb_build_op(b, site, WB_OP_NE, wb_operand_value(v), wb_operand_signed(0),
                     wb_operand_none());
}

wb_val wb_build_neg(wb_builder *b, wb_site site, wb_operand x) {
  wb_val v = wb_build_value(b, site, x);
  /* -0 - x is the exact negation, of zeros too */
  bool real = wb_build_type(b, v) == WB_TYPE_F32;
  wb_operand zero = real ? wb_operand_real(-0.0) : wb_operand_signed(0);
  return wb_build_op(b, site, WB_OP_SUB, zero, wb_operand_value(v), wb_operand_none());
}

wb_val wb_build_abs(wb_builder *b, wb_site site, wb_operand x) {
  wb_val v = wb_build_value(b, site, x);
  wb_val negated = wb_build_neg(b, site, wb_operand_value(v));
  return wb_op2(b, site, WB_OP_MAX, v, negated);
}

static wb_val lane_of(wb_builder *b, wb_site site, wb_opcode reduce, wb_operand x) {
  wb_val v = wb_build_value(b, site, x);
  wb_val here = wb_op2(b, site, WB_OP_EQ, v, wb_op1(b, site, reduce, v));
  return wb_op1(b, site, WB_OP_CTZ, wb_op1(b, site, WB_OP_BALLOT, here));
}

wb_val wb_build_lane_of_min(wb_builder *b, wb_site site, wb_operand x) {
  return lane_of(b, site, WB_OP_REDUCE_MIN, x);
}

wb_val wb_build_lane_of_max(wb_builder *b, wb_site site, wb_operand x) {
  return lane_of(b, site, WB_OP_REDUCE_MAX, x);
}

wb_val wb_build_known(wb_builder *b, wb_site site, wb_operand x, int64_t lo, int64_t hi) {
  wb_val v = wb_build_value(b, site, x);
  wb_type type = wb_build_type(b, v);
  if (type != WB_TYPE_I32 && type != WB_TYPE_I64) {
    return unconvertible(b, site, "known", "i32 or i64", v);
  }
  if (lo > hi) {
    wb_build_fail(b, site, "known: expected lo <= hi, given %lld..%lld", (long long)lo,
                  (long long)hi);
  }
  wb_op op = wb_op_blank(WB_OP_KNOWN);
  op.operands[0] = v.id;
  op.operands[1] = wb_number(b, site, wb_operand_signed(lo), type, "known").id;
  op.operands[2] = wb_number(b, site, wb_operand_signed(hi), type, "known").id;
  return wb_emit(b, site, op);
}

/* one round: two products, crossed over and mixed with the key */
static void philox_round(wb_builder *b, wb_site site, wb_val c[4], const wb_val key[2]) {
  wb_val m0 = wb_build_const(b, site, WB_TYPE_I32, (int32_t)0xD2511F53);
  wb_val m1 = wb_build_const(b, site, WB_TYPE_I32, (int32_t)0xCD9E8D57);
  wb_val high0 = wb_op2(b, site, WB_OP_UMULHI, c[0], m0);
  wb_val low0 = wb_op2(b, site, WB_OP_MUL, c[0], m0);
  wb_val high1 = wb_op2(b, site, WB_OP_UMULHI, c[2], m1);
  wb_val low1 = wb_op2(b, site, WB_OP_MUL, c[2], m1);
  wb_val first = wb_op2(b, site, WB_OP_XOR, high1, wb_op2(b, site, WB_OP_XOR, c[1], key[0]));
  wb_val third = wb_op2(b, site, WB_OP_XOR, high0, wb_op2(b, site, WB_OP_XOR, c[3], key[1]));
  c[0] = first;
  c[1] = low1;
  c[2] = third;
  c[3] = low0;
}

wb_random wb_build_philox(wb_builder *b, wb_site site, wb_operand key,
                          const wb_operand counter[4]) {
  wb_random random;
  wb_val whole = wb_build_i64(b, site, key);
  wb_val high = wb_build_op(b, site, WB_OP_SHR, wb_operand_value(whole), wb_operand_signed(32),
                            wb_operand_none());
  wb_val words[2] = {wb_op1(b, site, WB_OP_TRUNC, whole), wb_op1(b, site, WB_OP_TRUNC, high)};
  wb_val weyl[2] = {wb_build_const(b, site, WB_TYPE_I32, (int32_t)0x9E3779B9),
                    wb_build_const(b, site, WB_TYPE_I32, (int32_t)0xBB67AE85)};
  for (int i = 0; i < 4; i++) random.word[i] = wb_build_i32(b, site, counter[i]);
  for (int round = 0; round < 10; round++) {
    philox_round(b, site, random.word, words);
    words[0] = wb_op2(b, site, WB_OP_ADD, words[0], weyl[0]);
    words[1] = wb_op2(b, site, WB_OP_ADD, words[1], weyl[1]);
  }
  return random;
}

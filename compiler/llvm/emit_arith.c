/* Elementwise arithmetic, for scalars and lanes alike, with every case that ops.h defines.
 *
 * LLVM leaves some operands open (a shift by the width, a division by zero, a conversion out of
 * range): each is steered around by a select on the operand or the result. With constant operands the
 * selects fold while they are built; for shifts x86's own instructions are found again in them. */
#include "emit.h"

#include <math.h>

static LLVMValueRef equal(emit *e, LLVMValueRef a, uint64_t bits) {
  return LLVMBuildICmp(e->builder, LLVMIntEQ, a, emit_number(a, bits), "");
}

/* x / 0 = 0 and x % 0 = x; x / -1 = -x and x % -1 = 0 hold for the smallest number too. Where the
 * divisor is one of the two, the division that is executed is by 1, of 0 or -x; a remainder then is 0.
 * Keep: the quotient is no arm of a select on the same condition, for LLVM 19 takes the divisor of such
 * a one for b itself and then, of vectors, a zero in one lane for undefined behaviour in all. Nor is
 * the dividend one where the divisor is constant: of 0 by 1 in one lane LLVM 19 makes 1 << 31 there,
 * without AVX2. */
LLVMValueRef emit_divide(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef b) {
  LLVMBuilderRef build = e->builder;
  bool is_signed = code == WB_OP_DIV || code == WB_OP_REM;
  LLVMValueRef zero = equal(e, b, 0), special = zero, dividend = a;
  if (is_signed) {
    LLVMValueRef minus = equal(e, b, UINT64_MAX);
    special = LLVMBuildOr(build, zero, minus, "");
    if (code == WB_OP_DIV)
      dividend = LLVMBuildSelect(build, minus, LLVMBuildNeg(build, a, ""), a, "");
  }
  LLVMValueRef by = LLVMBuildSelect(build, special, emit_number(b, 1), b, "");
  LLVMValueRef nothing = emit_number(a, 0);
  if (code == WB_OP_DIV || code == WB_OP_UDIV) {
    bool fixed = LLVMIsConstant(by);
    if (!fixed) dividend = LLVMBuildSelect(build, zero, nothing, dividend, "");
    LLVMValueRef quotient =
        is_signed ? LLVMBuildSDiv(build, dividend, by, "") : LLVMBuildUDiv(build, dividend, by, "");
    return fixed ? LLVMBuildSelect(build, zero, nothing, quotient, "") : quotient;
  }
  LLVMValueRef rest = is_signed ? LLVMBuildSRem(build, a, by, "") : LLVMBuildURem(build, a, by, "");
  return LLVMBuildOr(build, rest, LLVMBuildSelect(build, zero, a, nothing, ""), "");
}

LLVMValueRef emit_umulhi(emit *e, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef narrow = LLVMTypeOf(a), wide = emit_like(e, narrow, e->types[WB_TYPE_I64]);
  LLVMValueRef product = LLVMBuildMul(e->builder, LLVMBuildZExt(e->builder, a, wide, ""),
                                      LLVMBuildZExt(e->builder, b, wide, ""), "");
  product = LLVMBuildLShr(e->builder, product, emit_constant(wide, 32), "");
  return LLVMBuildTrunc(e->builder, product, narrow, "");
}

LLVMValueRef emit_shift(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef count) {
  LLVMBuilderRef build = e->builder;
  uint32_t bits = emit_bits(LLVMTypeOf(a));
  if (code == WB_OP_SAR) {
    LLVMValueRef most = emit_number(count, bits - 1);
    return LLVMBuildAShr(build, a, emit_call2(e, "llvm.umin", count, most), "");
  }
  LLVMValueRef shifted =
      code == WB_OP_SHL ? LLVMBuildShl(build, a, count, "") : LLVMBuildLShr(build, a, count, "");
  LLVMValueRef fits = LLVMBuildICmp(build, LLVMIntULT, count, emit_number(count, bits), "");
  return LLVMBuildSelect(build, fits, shifted, emit_number(a, 0), "");
}

/* NaN if either is NaN, and -0 below +0: equal numbers have equal bits, except the zeros, whose signs
 * are or-ed for the minimum and and-ed for the maximum. */
static LLVMValueRef float_extremum(emit *e, bool maximum, LLVMValueRef a, LLVMValueRef b) {
  LLVMBuilderRef build = e->builder;
  LLVMTypeRef type = LLVMTypeOf(a), whole = emit_like(e, type, e->types[WB_TYPE_I32]);
  LLVMValueRef a_bits = LLVMBuildBitCast(build, a, whole, "");
  LLVMValueRef b_bits = LLVMBuildBitCast(build, b, whole, "");
  LLVMValueRef same =
      maximum ? LLVMBuildAnd(build, a_bits, b_bits, "") : LLVMBuildOr(build, a_bits, b_bits, "");
  LLVMValueRef takes_a = LLVMBuildFCmp(build, maximum ? LLVMRealOGT : LLVMRealOLT, a, b, "");
  LLVMValueRef ties = LLVMBuildFCmp(build, LLVMRealOEQ, a, b, "");
  LLVMValueRef unordered = LLVMBuildFCmp(build, LLVMRealUNO, a, b, "");
  LLVMValueRef bits = LLVMBuildSelect(build, takes_a, a_bits, b_bits, "");
  bits = LLVMBuildSelect(build, ties, same, bits, "");
  bits = LLVMBuildSelect(build, unordered, emit_constant(whole, 0x7fc00000), bits, "");
  return LLVMBuildBitCast(build, bits, type, "");
}

LLVMValueRef emit_extremum(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef b) {
  if (emit_is_float(a)) return float_extremum(e, code == WB_OP_MAX, a, b);
  switch (code) {
  case WB_OP_MIN: return emit_call2(e, "llvm.smin", a, b);
  case WB_OP_MAX: return emit_call2(e, "llvm.smax", a, b);
  case WB_OP_UMIN: return emit_call2(e, "llvm.umin", a, b);
  default: return emit_call2(e, "llvm.umax", a, b);
  }
}

LLVMValueRef emit_count_bits(emit *e, wb_opcode code, LLVMValueRef a) {
  if (code == WB_OP_POPCNT) return emit_call1(e, "llvm.ctpop", a);
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef arguments[] = {a, emit_constant(e->types[WB_TYPE_BOOL], 0)}; /* 0 is defined */
  return emit_call(e, code == WB_OP_CTZ ? "llvm.cttz" : "llvm.ctlz", &type, 1, arguments, 2);
}

/* Fused multiply-add in double arithmetic, for targets without the instruction (where LLVM would call
 * the C library). The product of two f32 is exact in f64. The sum is rounded to odd - its error e is
 * found by Knuth's two-sum, and where e is not 0 and the sum's last bit is even the sum moves one step
 * towards e - so that the final rounding to f32 sees on which side of a tie the exact sum lies. */
static LLVMValueRef soft_fma(emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  LLVMBuilderRef build = e->builder;
  LLVMTypeRef single = LLVMTypeOf(a);
  LLVMTypeRef wide = emit_like(e, single, LLVMDoubleTypeInContext(e->context));
  LLVMTypeRef whole = emit_like(e, single, e->types[WB_TYPE_I64]);
  LLVMValueRef p = LLVMBuildFMul(build, LLVMBuildFPExt(build, a, wide, ""),
                                 LLVMBuildFPExt(build, b, wide, ""), "");
  LLVMValueRef q = LLVMBuildFPExt(build, c, wide, "");
  LLVMValueRef sum = LLVMBuildFAdd(build, p, q, "");
  LLVMValueRef q_part = LLVMBuildFSub(build, sum, p, "");
  LLVMValueRef p_part = LLVMBuildFSub(build, sum, q_part, "");
  LLVMValueRef error = LLVMBuildFAdd(build, LLVMBuildFSub(build, p, p_part, ""),
                                     LLVMBuildFSub(build, q, q_part, ""), "");
  /* with infinities the error is NaN, which is no inexact sum */
  LLVMValueRef inexact = LLVMBuildFCmp(build, LLVMRealONE, error, emit_constant(wide, 0), "");
  LLVMValueRef bits = LLVMBuildBitCast(build, sum, whole, "");
  LLVMValueRef error_bits = LLVMBuildBitCast(build, error, whole, "");
  LLVMValueRef even = equal(e, LLVMBuildAnd(build, bits, emit_number(bits, 1), ""), 0);
  LLVMValueRef outward = LLVMBuildICmp(build, LLVMIntSGE, LLVMBuildXor(build, bits, error_bits, ""),
                                       emit_number(bits, 0), "");
  LLVMValueRef step =
      LLVMBuildSelect(build, outward, emit_number(bits, 1), emit_number(bits, UINT64_MAX), "");
  LLVMValueRef moved = LLVMBuildAdd(build, bits, step, "");
  bits = LLVMBuildSelect(build, LLVMBuildAnd(build, inexact, even, ""), moved, bits, "");
  return LLVMBuildFPTrunc(build, LLVMBuildBitCast(build, bits, wide, ""), single, "");
}

LLVMValueRef emit_fma(emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c) {
  if (!e->fma) return soft_fma(e, a, b, c);
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef arguments[] = {a, b, c};
  return emit_call(e, "llvm.fma", &type, 1, arguments, 3);
}

static bool is_nan(LLVMValueRef value) {
  LLVMBool inexact;
  return LLVMIsAConstantFP(value) && isnan(LLVMConstRealGetDouble(value, &inexact));
}

LLVMValueRef emit_compare(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef b) {
  if (emit_is_float(a)) {
    /* folded here because the code generator of LLVM 16 makes -1 of such a "true" */
    if (is_nan(a) || is_nan(b)) return emit_constant(e->types[WB_TYPE_BOOL], code == WB_OP_NE);
    LLVMRealPredicate predicate = code == WB_OP_EQ   ? LLVMRealOEQ
                                  : code == WB_OP_NE ? LLVMRealUNE
                                  : code == WB_OP_LT ? LLVMRealOLT
                                                     : LLVMRealOLE;
    return LLVMBuildFCmp(e->builder, predicate, a, b, "");
  }
  LLVMIntPredicate predicate = code == WB_OP_EQ    ? LLVMIntEQ
                               : code == WB_OP_NE  ? LLVMIntNE
                               : code == WB_OP_LT  ? LLVMIntSLT
                               : code == WB_OP_LE  ? LLVMIntSLE
                               : code == WB_OP_ULT ? LLVMIntULT
                                                   : LLVMIntULE;
  return LLVMBuildICmp(e->builder, predicate, a, b, "");
}

LLVMValueRef emit_visible_bits(emit *e, LLVMValueRef f32) {
  LLVMTypeRef whole = emit_like(e, LLVMTypeOf(f32), e->types[WB_TYPE_I32]);
  LLVMValueRef is_nan = LLVMBuildFCmp(e->builder, LLVMRealUNO, f32, f32, "");
  LLVMValueRef bits = LLVMBuildBitCast(e->builder, f32, whole, "");
  return LLVMBuildSelect(e->builder, is_nan, emit_constant(whole, 0x7fc00000), bits, "");
}

LLVMValueRef emit_convert(emit *e, wb_opcode code, LLVMValueRef a) {
  LLVMTypeRef from = LLVMTypeOf(a);
  LLVMTypeRef i32 = emit_like(e, from, e->types[WB_TYPE_I32]);
  LLVMTypeRef i64 = emit_like(e, from, e->types[WB_TYPE_I64]);
  LLVMTypeRef f32 = emit_like(e, from, e->types[WB_TYPE_F32]);
  switch (code) {
  case WB_OP_SEXT: return LLVMBuildSExt(e->builder, a, i64, "");
  case WB_OP_ZEXT: return LLVMBuildZExt(e->builder, a, i64, "");
  case WB_OP_TRUNC: return LLVMBuildTrunc(e->builder, a, i32, "");
  case WB_OP_FROM_BOOL: return LLVMBuildZExt(e->builder, a, i32, "");
  case WB_OP_TO_F32: return LLVMBuildSIToFP(e->builder, a, f32, "");
  case WB_OP_TO_BITS: return emit_visible_bits(e, a);
  case WB_OP_FROM_BITS: return LLVMBuildBitCast(e->builder, a, f32, "");
  default: { /* to_i32 saturates and gives 0 for NaN, as this intrinsic does */
    LLVMTypeRef types[] = {i32, from};
    return emit_call(e, "llvm.fptosi.sat", types, 2, &a, 1);
  }
  }
}

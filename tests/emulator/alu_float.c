/* Floating point: the forms to nearest even with denormals kept, one row each, and all other roundings
 * through the processor's rounding mode.
 *
 * Approximate forms (.approx, .full) have no defined bits and are therefore unknown here. A NaN result
 * is always the hardware's own pattern; min and max take the number if one operand is NaN, and count
 * -0 below +0. This file is compiled with -frounding-math. */
#include "tests/emulator/alu.h"

#include <fenv.h>
#include <math.h>

static inline float least_f32(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
}
static inline float greatest_f32(float a, float b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return signbit(a) ? b : a;
  return a > b ? a : b;
}
static inline double least_f64(double a, double b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return signbit(a) ? a : b;
  return a < b ? a : b;
}
static inline double greatest_f64(double a, double b) {
  if (a != a) return b;
  if (b != b) return a;
  if (a == b) return signbit(a) ? b : a;
  return a > b ? a : b;
}
static inline bool is_subnormal32(float a) {
  return !(bits_of(a) & 0x7f800000u) && (bits_of(a) & 0x7fffffu);
}

#define NEAREST(name, T) name "." #T " " name ".rn." #T

#define ALU_FLOATS(X)                                                                             \
  ROW2(X, add_f32, NEAREST("add", f32), f32, f32, f32, a + b)                                     \
  ROW2(X, sub_f32, NEAREST("sub", f32), f32, f32, f32, a - b)                                     \
  ROW2(X, mul_f32, NEAREST("mul", f32), f32, f32, f32, a *b)                                      \
  ROW2(X, div_f32, "div.rn.f32", f32, f32, f32, a / b)                                            \
  ROW3(X, fma_f32, "fma.rn.f32 mad.rn.f32", f32, f32, f32, f32, fmaf(a, b, c))                    \
  ROW1(X, sqrt_f32, "sqrt.rn.f32", f32, f32, sqrtf(a))                                            \
  ROW1(X, rcp_f32, "rcp.rn.f32", f32, f32, 1.0f / a)                                              \
  ROW2(X, min_f32, "min.f32", f32, f32, f32, least_f32(a, b))                                     \
  ROW2(X, max_f32, "max.f32", f32, f32, f32, greatest_f32(a, b))                                  \
  ROW2(X, min_nan_f32, "min.NaN.f32", f32, f32, f32, a != a || b != b ? NAN : least_f32(a, b))    \
  ROW2(X, max_nan_f32, "max.NaN.f32", f32, f32, f32, a != a || b != b ? NAN : greatest_f32(a, b)) \
  ROW1(X, abs_f32, "abs.f32", f32, f32, fabsf(a))                                                 \
  ROW1(X, neg_f32, "neg.f32", f32, f32, -a)                                                       \
  ROW2(X, copysign_f32, "copysign.f32", u32, u32, u32, (b & 0x7fffffffu) | (a & 0x80000000u))     \
  ROW2(X, add_f64, NEAREST("add", f64), f64, f64, f64, a + b)                                     \
  ROW2(X, sub_f64, NEAREST("sub", f64), f64, f64, f64, a - b)                                     \
  ROW2(X, mul_f64, NEAREST("mul", f64), f64, f64, f64, a *b)                                      \
  ROW2(X, div_f64, "div.rn.f64", f64, f64, f64, a / b)                                            \
  ROW3(X, fma_f64, "fma.rn.f64 mad.rn.f64", f64, f64, f64, f64, fma(a, b, c))                     \
  ROW1(X, sqrt_f64, "sqrt.rn.f64", f64, f64, sqrt(a))                                             \
  ROW1(X, rcp_f64, "rcp.rn.f64", f64, f64, 1.0 / a)                                               \
  ROW2(X, min_f64, "min.f64", f64, f64, f64, least_f64(a, b))                                     \
  ROW2(X, max_f64, "max.f64", f64, f64, f64, greatest_f64(a, b))                                  \
  ROW1(X, abs_f64, "abs.f64", f64, f64, fabs(a))                                                  \
  ROW1(X, neg_f64, "neg.f64", f64, f64, -a)                                                       \
  ROW2(X, copysign_f64, "copysign.f64", u64, u64, u64,                                            \
       (b & (UINT64_MAX >> 1)) | (a & ~(UINT64_MAX >> 1)))

ALU_FLOATS(ALU_FUNCTIONS)

/* testp gives a predicate of one operand */
#define TEST_FUNCTION(id, names, T, expression)                                          \
  static uint32_t id##_bits(const ptx_insn *insn, const uint8_t *registers, unsigned lo, \
                            unsigned hi) {                                               \
    uint32_t mask = 0;                                                                   \
    for (unsigned lane = lo; lane < hi; lane++) {                                        \
      const value_##T a = GET_##T(registers + insn->from[0], lane);                      \
      mask |= (uint32_t)((expression) ? 1 : 0) << lane;                                  \
    }                                                                                    \
    return mask;                                                                         \
  }
#define TEST_ROW(id, names, T, expression) \
  {names, 1, 0, PTX_PRED, {TYPE_##T}, NULL, NULL, id##_bits},
#define TESTS(X, T)                                    \
  X(finite_##T, "testp.finite." #T, T, isfinite(a))    \
  X(infinite_##T, "testp.infinite." #T, T, isinf(a))   \
  X(number_##T, "testp.number." #T, T, a == a)         \
  X(notanumber_##T, "testp.notanumber." #T, T, a != a) \
  X(normal_##T, "testp.normal." #T, T, isnormal(a))    \
  X(subnormal_##T, "testp.subnormal." #T, T, fpclassify(a) == FP_SUBNORMAL)
TESTS(TEST_FUNCTION, f32)
TESTS(TEST_FUNCTION, f64)

const ptx_alu ptx_alu_float[] = {ALU_FLOATS(ALU_ROW) TESTS(TEST_ROW, f32) TESTS(TEST_ROW, f64)};
const int ptx_alu_float_count = sizeof ptx_alu_float / sizeof *ptx_alu_float;

/* ---- other roundings, .ftz and .sat ---- */

typedef enum rounded_op { ADD, SUB, MUL, DIV, FMA, SQRT, RCP, MIN, MAX, ABS, NEG } rounded_op;

static int processor_mode(ptx_round round) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  return modes[round];
}

static float flush(float x) { return is_subnormal32(x) ? copysignf(0, x) : x; }
static float saturate(float x) { return x != x ? 0 : x < 0 ? 0 : x > 1 ? 1 : x; }
static double saturate64(double x) { return x != x ? 0 : x < 0 ? 0 : x > 1 ? 1 : x; }

static float compute_f32(rounded_op op, bool nan, float a, float b, float c) {
  switch (op) {
  case ADD: return a + b;
  case SUB: return a - b;
  case MUL: return a * b;
  case DIV: return a / b;
  case FMA: return fmaf(a, b, c);
  case SQRT: return sqrtf(a);
  case RCP: return 1.0f / a;
  case MIN: return nan && (a != a || b != b) ? NAN : least_f32(a, b);
  case MAX: return nan && (a != a || b != b) ? NAN : greatest_f32(a, b);
  case ABS: return fabsf(a);
  case NEG: return -a;
  }
  return NAN;
}

static double compute_f64(rounded_op op, double a, double b, double c) {
  switch (op) {
  case ADD: return a + b;
  case SUB: return a - b;
  case MUL: return a * b;
  case DIV: return a / b;
  case FMA: return fma(a, b, c);
  case SQRT: return sqrt(a);
  case RCP: return 1.0 / a;
  case MIN: return least_f64(a, b);
  case MAX: return greatest_f64(a, b);
  case ABS: return fabs(a);
  case NEG: return -a;
  }
  return NAN;
}

static void rounded_f32(const ptx_insn *insn, uint8_t *registers, unsigned lane) {
  float a = GET_f32(registers + insn->from[0], lane), b = GET_f32(registers + insn->from[1], lane);
  float c = GET_f32(registers + insn->from[2], lane);
  const bool ftz = (insn->flags & PTX_FLAG_FLUSH) != 0;
  if (ftz) a = flush(a), b = flush(b), c = flush(c);
  const int before = fegetround();
  fesetround(processor_mode(insn->round));
  volatile float result =
      compute_f32((rounded_op)insn->mode, (insn->flags & PTX_FLAG_NAN) != 0, a, b, c);
  fesetround(before);
  float out = result;
  if (ftz) out = flush(out);
  if (insn->flags & PTX_FLAG_SATURATE) out = saturate(out);
  PUT_f32(registers + insn->to[0], lane, out);
}

static void rounded_f64(const ptx_insn *insn, uint8_t *registers, unsigned lane) {
  const double a = GET_f64(registers + insn->from[0], lane);
  const double b = GET_f64(registers + insn->from[1], lane);
  const double c = GET_f64(registers + insn->from[2], lane);
  const int before = fegetround();
  fesetround(processor_mode(insn->round));
  volatile double result = compute_f64((rounded_op)insn->mode, a, b, c);
  fesetround(before);
  double out = result;
  if (insn->flags & PTX_FLAG_SATURATE) out = saturate64(out);
  PUT_f64(registers + insn->to[0], lane, out);
}

static void rounded_f32_warp(const ptx_insn *insn, uint8_t *registers) {
  for (unsigned lane = 0; lane < PTX_LANES; lane++) rounded_f32(insn, registers, lane);
}
static void rounded_f64_warp(const ptx_insn *insn, uint8_t *registers) {
  for (unsigned lane = 0; lane < PTX_LANES; lane++) rounded_f64(insn, registers, lane);
}

/* takes the next part of a mnemonic, "rn" of ".rn.f32" */
static size_t next_part(const char **at, const char **part) {
  if (**at == '.') ++*at;
  *part = *at;
  const size_t length = strcspn(*at, ".");
  *at += length;
  return length;
}

bool ptx_alu_rounded(ptx_insn *insn, const char *mnemonic, ptx_alu *row) {
  static const struct {
    const char *name;
    uint8_t op, arity;
  } ops[] = {{"add", ADD, 2}, {"sub", SUB, 2}, {"mul", MUL, 2},   {"div", DIV, 2},
             {"fma", FMA, 3}, {"mad", FMA, 3}, {"sqrt", SQRT, 1}, {"rcp", RCP, 1},
             {"min", MIN, 2}, {"max", MAX, 2}, {"abs", ABS, 1},   {"neg", NEG, 1}};
  static const struct {
    const char *name;
    uint16_t flag;
    uint8_t round;
  } marks[] = {{"rn", 0, PTX_ROUND_NEAREST}, {"rz", 0, PTX_ROUND_ZERO},
               {"rm", 0, PTX_ROUND_DOWN},    {"rp", 0, PTX_ROUND_UP},
               {"ftz", PTX_FLAG_FLUSH, 0},   {"sat", PTX_FLAG_SATURATE, 0},
               {"NaN", PTX_FLAG_NAN, 0}};
  const char *at = mnemonic, *part;
  size_t length = next_part(&at, &part);
  int op = -1;
  for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
    if (strlen(ops[k].name) == length && memcmp(ops[k].name, part, length) == 0) op = (int)k;
  }
  if (op < 0) return false;
  ptx_type type = PTX_NONE;
  while (*at) {
    length = next_part(&at, &part);
    bool known = false;
    for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
      if (strlen(marks[k].name) == length && memcmp(marks[k].name, part, length) == 0) {
        insn->flags |= marks[k].flag;
        if (!marks[k].flag) insn->round = marks[k].round;
        known = true;
      }
    }
    if (!known) {
      type = ptx_type_of(part, length);
      if (*at || (type != PTX_F32 && type != PTX_F64)) return false;
    }
  }
  if (type == PTX_NONE || (type == PTX_F64 && insn->flags & PTX_FLAG_FLUSH)) return false;
  insn->mode = ops[op].op;
  *row = (ptx_alu){.names = mnemonic,
                   .arity = ops[op].arity,
                   .result_bytes = type == PTX_F32 ? 4 : 8,
                   .type = (uint8_t)type,
                   .warp = type == PTX_F32 ? rounded_f32_warp : rounded_f64_warp,
                   .lane = type == PTX_F32 ? rounded_f32 : rounded_f64};
  for (int k = 0; k < row->arity; k++) row->source_types[k] = (uint8_t)type;
  return true;
}

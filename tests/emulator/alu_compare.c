/* Comparisons: rows named by operator and type, "lt.s32", whose functions give a mask of lanes.
 *
 * setp and set use them; what follows a comparison (a combination with another predicate, a second,
 * negated result) is the same for all and done by the executor. */
#include "tests/emulator/alu.h"

/* 32 bytes of 0 or 1 to the bits of a mask: the product gathers eight bytes in its top byte */
static uint32_t gather_bits(const uint8_t *truth) {
  uint32_t mask = 0;
  for (unsigned k = 0; k < 4; k++) {
    uint64_t eight;
    memcpy(&eight, truth + 8 * k, 8);
    mask |= (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56) << 8 * k;
  }
  return mask;
}

#define COMPARE_FUNCTION(id, names, T, expression)                                       \
  static uint32_t id##_bits(const ptx_insn *insn, const uint8_t *registers, unsigned lo, \
                            unsigned hi) {                                               \
    const uint8_t *sa = registers + insn->from[0], *sb = registers + insn->from[1];      \
    if (hi - lo != PTX_LANES) {                                                          \
      uint32_t mask = 0;                                                                 \
      for (unsigned lane = lo; lane < hi; lane++) {                                      \
        const value_##T a = GET_##T(sa, lane), b = GET_##T(sb, lane);                    \
        mask |= (uint32_t)(expression) << lane;                                          \
      }                                                                                  \
      return mask;                                                                       \
    }                                                                                    \
    uint8_t truth[PTX_LANES];                                                            \
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {                                  \
      const value_##T a = GET_##T(sa, lane), b = GET_##T(sb, lane);                      \
      truth[lane] = (expression);                                                        \
    }                                                                                    \
    return gather_bits(truth);                                                           \
  }
#define COMPARE_ROW(id, names, T, expression) \
  {names, 2, 0, PTX_PRED, {TYPE_##T, TYPE_##T}, NULL, NULL, id##_bits},

#define NAMED3(op, bits) op ".b" #bits " " op ".u" #bits " " op ".s" #bits

#define EQUAL(X, bits)                              \
  X(eq_##bits, NAMED3("eq", bits), u##bits, a == b) \
  X(ne_##bits, NAMED3("ne", bits), u##bits, a != b)
#define SIGNED_ORDER(X, bits)                  \
  X(lt_s##bits, "lt.s" #bits, s##bits, a < b)  \
  X(le_s##bits, "le.s" #bits, s##bits, a <= b) \
  X(gt_s##bits, "gt.s" #bits, s##bits, a > b)  \
  X(ge_s##bits, "ge.s" #bits, s##bits, a >= b)
#define UNSIGNED_ORDER(X, bits)                              \
  X(lt_u##bits, "lt.u" #bits " lo.u" #bits, u##bits, a < b)  \
  X(le_u##bits, "le.u" #bits " ls.u" #bits, u##bits, a <= b) \
  X(gt_u##bits, "gt.u" #bits " hi.u" #bits, u##bits, a > b)  \
  X(ge_u##bits, "ge.u" #bits " hs.u" #bits, u##bits, a >= b)
#define INTEGERS(X, bits) EQUAL(X, bits) SIGNED_ORDER(X, bits) UNSIGNED_ORDER(X, bits)

#define FLUSHED(x) (insn->flags & PTX_FLAG_FLUSH ? flushed(x) : (x))
static inline float flushed(float x) {
  return bits_of(x) & 0x7f800000u ? x : float_of(bits_of(x) & 0x80000000u);
}
static inline double flushed64(double x) { return x; }

/* a and b are x and y with denormals flushed where the instruction asks for it */
#define FLOATS(X, T, f)                                   \
  X(eq_##T, "eq." #T, T, f(a) == f(b))                    \
  X(ne_##T, "ne." #T, T, f(a) < f(b) || f(a) > f(b))      \
  X(lt_##T, "lt." #T, T, f(a) < f(b))                     \
  X(le_##T, "le." #T, T, f(a) <= f(b))                    \
  X(gt_##T, "gt." #T, T, f(a) > f(b))                     \
  X(ge_##T, "ge." #T, T, f(a) >= f(b))                    \
  X(equ_##T, "equ." #T, T, !(f(a) < f(b) || f(a) > f(b))) \
  X(neu_##T, "neu." #T, T, f(a) != f(b))                  \
  X(ltu_##T, "ltu." #T, T, !(f(a) >= f(b)))               \
  X(leu_##T, "leu." #T, T, !(f(a) > f(b)))                \
  X(gtu_##T, "gtu." #T, T, !(f(a) <= f(b)))               \
  X(geu_##T, "geu." #T, T, !(f(a) < f(b)))                \
  X(num_##T, "num." #T, T, a == a && b == b)              \
  X(nan_##T, "nan." #T, T, a != a || b != b)

#define COMPARES(X) \
  INTEGERS(X, 16) INTEGERS(X, 32) INTEGERS(X, 64) FLOATS(X, f32, FLUSHED) FLOATS(X, f64, flushed64)

COMPARES(COMPARE_FUNCTION)

const ptx_alu ptx_alu_compare[] = {COMPARES(COMPARE_ROW)};
const int ptx_alu_compare_count = sizeof ptx_alu_compare / sizeof *ptx_alu_compare;

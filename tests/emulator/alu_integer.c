/* Integer instructions, moves and selects: one row for each way to compute (see alu.h).
 *
 * What PTX leaves to the machine: division by zero gives all ones and x % 0 gives x, as the hardware
 * does; the most negative number divided by -1 wraps. */
#include "tests/emulator/alu.h"

/* ---- helpers of single lanes ---- */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;

static inline uint32_t div_u32(uint32_t a, uint32_t b) { return b ? a / b : UINT32_MAX; }
static inline uint32_t rem_u32(uint32_t a, uint32_t b) { return b ? a % b : a; }
static inline uint64_t div_u64(uint64_t a, uint64_t b) { return b ? a / b : UINT64_MAX; }
static inline uint64_t rem_u64(uint64_t a, uint64_t b) { return b ? a % b : a; }
static inline int64_t div_s64(int64_t a, int64_t b) {
  return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static inline int64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? a : b == -1 ? 0 : a % b; }
static inline int32_t div_s32(int32_t a, int32_t b) { return (int32_t)div_s64(a, b); }
static inline int32_t rem_s32(int32_t a, int32_t b) { return (int32_t)rem_s64(a, b); }

static inline uint32_t clz_32(uint32_t a) { return a ? (uint32_t)__builtin_clz(a) : 32; }
static inline uint32_t clz_64(uint64_t a) { return a ? (uint32_t)__builtin_clzll(a) : 64; }
/* sums in ever wider fields, which becomes vector code */
static inline uint32_t count_32(uint32_t a) {
  a -= a >> 1 & 0x55555555u;
  a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
  a = (a + (a >> 4)) & 0x0f0f0f0fu;
  return a * 0x01010101u >> 24;
}
static inline uint32_t find_32(uint32_t a) { return a ? 31 - clz_32(a) : UINT32_MAX; }
static inline uint32_t find_64(uint64_t a) { return a ? 63 - clz_64(a) : UINT32_MAX; }
static inline uint64_t reverse(uint64_t a) {
  a = (a >> 1 & 0x5555555555555555u) | (a & 0x5555555555555555u) << 1;
  a = (a >> 2 & 0x3333333333333333u) | (a & 0x3333333333333333u) << 2;
  a = (a >> 4 & 0x0f0f0f0f0f0f0f0fu) | (a & 0x0f0f0f0f0f0f0f0fu) << 4;
  return __builtin_bswap64(a);
}

/* bit fields: place and length are the low bytes of b and c; the sign is that of the field's top
 * bit, or of the value's where the field reaches beyond it */
static inline uint64_t extract(uint64_t a, uint32_t place, uint32_t length, unsigned width,
                               bool is_signed) {
  place &= 255, length &= 255;
  if (length == 0) return 0;
  uint64_t field = place < width ? a >> place : 0;
  if (length < 64) field &= (UINT64_C(1) << length) - 1;
  const uint32_t top = place + length - 1 < width - 1 ? place + length - 1 : width - 1;
  const bool negative = is_signed && (a >> top & 1);
  const uint32_t valid = place < width ? (length < width - place ? length : width - place) : 0;
  if (negative && valid < 64) field |= ~UINT64_C(0) << valid;
  return field;
}
static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t place, uint32_t length,
                              unsigned width) {
  place &= 255, length &= 255;
  if (place >= width || length == 0) return b;
  const uint64_t ones = length < 64 ? (UINT64_C(1) << length) - 1 : ~UINT64_C(0);
  return (b & ~(ones << place)) | ((a & ones) << place);
}

/* bytes of the eight in b:a by selectors of four bits; the top bit spreads the byte's sign */
static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t both = (uint64_t)b << 32 | a;
  uint32_t result = 0;
  for (unsigned k = 0; k < 4; k++) {
    const uint32_t nibble = selector >> 4 * k & 15;
    uint32_t byte = (uint32_t)(both >> 8 * (nibble & 7)) & 255;
    if (nibble & 8) byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * k;
  }
  return result;
}
/* selectors of prmt's named modes, by the low two bits of c */
static inline uint32_t permute_mode(uint32_t a, uint32_t b, uint32_t c, const uint16_t *modes) {
  return permute(a, b, modes[c & 3]);
}
static const uint16_t forward[] = {0x3210, 0x4321, 0x5432, 0x6543};
static const uint16_t backward[] = {0x5670, 0x6701, 0x7012, 0x0123};
static const uint16_t replicate_8[] = {0x0000, 0x1111, 0x2222, 0x3333};
static const uint16_t edge_left[] = {0x3210, 0x3211, 0x3222, 0x3333};
static const uint16_t edge_right[] = {0x0000, 0x1110, 0x2210, 0x3210};
static const uint16_t replicate_16[] = {0x1010, 0x3232, 0x1010, 0x3232};

static inline uint32_t lookup(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned k = 0; k < 8; k++) {
    if (table >> k & 1) {
      result |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    }
  }
  return result;
}

static inline uint32_t funnel_left(uint32_t low, uint32_t high, uint32_t by) {
  return by == 0 ? high : by >= 32 ? low : high << by | low >> (32 - by);
}
static inline uint32_t funnel_right(uint32_t low, uint32_t high, uint32_t by) {
  return by == 0 ? low : by >= 32 ? high : low >> by | high << (32 - by);
}

static inline int64_t clamp_add(int32_t a, int32_t b, int sign) {
  const int64_t sum = a + sign * (int64_t)b;
  return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
}
static inline uint64_t high_u64(uint64_t a, uint64_t b) {
  return (uint64_t)((unsigned_wide)a * b >> 64);
}
static inline int64_t high_s64(int64_t a, int64_t b) { return (int64_t)((wide)a * b >> 64); }
static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb) {
  for (unsigned k = 0; k < 32; k += 8) {
    const int32_t x = sa ? (int8_t)(a >> k) : (uint8_t)(a >> k);
    const int32_t y = sb ? (int8_t)(b >> k) : (uint8_t)(b >> k);
    c += (uint32_t)(x * y);
  }
  return c;
}

/* ---- rows ---- */

#define BOTH(name, bits) name ".u" #bits " " name ".s" #bits

#define ALU_ARITHMETIC(X)                                                                      \
  ROW2(X, add_16, BOTH("add", 16), u16, u16, u16, a + b)                                       \
  ROW2(X, add_32, BOTH("add", 32), u32, u32, u32, a + b)                                       \
  ROW2(X, add_64, BOTH("add", 64), u64, u64, u64, a + b)                                       \
  ROW2(X, add_sat, "add.sat.s32", s32, s32, s32, clamp_add(a, b, 1))                           \
  ROW2(X, sub_16, BOTH("sub", 16), u16, u16, u16, a - b)                                       \
  ROW2(X, sub_32, BOTH("sub", 32), u32, u32, u32, a - b)                                       \
  ROW2(X, sub_64, BOTH("sub", 64), u64, u64, u64, a - b)                                       \
  ROW2(X, sub_sat, "sub.sat.s32", s32, s32, s32, clamp_add(a, b, -1))                          \
  ROW2(X, mul_16, BOTH("mul.lo", 16), u16, u16, u16, (uint32_t)a *b)                           \
  ROW2(X, mul_32, BOTH("mul.lo", 32), u32, u32, u32, a *b)                                     \
  ROW2(X, mul_64, BOTH("mul.lo", 64), u64, u64, u64, a *b)                                     \
  ROW2(X, mul_hi_u16, "mul.hi.u16", u16, u16, u16, (uint32_t)a *b >> 16)                       \
  ROW2(X, mul_hi_s16, "mul.hi.s16", s16, s16, s16, ((int32_t)a * b) >> 16)                     \
  ROW2(X, mul_hi_u32, "mul.hi.u32", u32, u32, u32, (uint64_t)a *b >> 32)                       \
  ROW2(X, mul_hi_s32, "mul.hi.s32", s32, s32, s32, (int64_t)a *b >> 32)                        \
  ROW2(X, mul_hi_u64, "mul.hi.u64", u64, u64, u64, high_u64(a, b))                             \
  ROW2(X, mul_hi_s64, "mul.hi.s64", s64, s64, s64, high_s64(a, b))                             \
  ROW2(X, mul_wide_u16, "mul.wide.u16", u32, u16, u16, (uint32_t)a *b)                         \
  ROW2(X, mul_wide_s16, "mul.wide.s16", s32, s16, s16, (int32_t)a *b)                          \
  ROW2(X, mul_wide_u32, "mul.wide.u32", u64, u32, u32, (uint64_t)a *b)                         \
  ROW2(X, mul_wide_s32, "mul.wide.s32", s64, s32, s32, (int64_t)a *b)                          \
  ROW2(X, mul24_u32, "mul24.lo.u32", u32, u32, u32, (a & 0xffffff) * (b & 0xffffff))           \
  ROW2(X, mul24_s32, "mul24.lo.s32", s32, s32, s32,                                            \
       (uint32_t)((int32_t)((uint32_t)a << 8) >> 8) *                                          \
           (uint32_t)((int32_t)((uint32_t)b << 8) >> 8))                                       \
  ROW3(X, mad_16, BOTH("mad.lo", 16), u16, u16, u16, u16, (uint32_t)a *b + c)                  \
  ROW3(X, mad_32, BOTH("mad.lo", 32), u32, u32, u32, u32, a *b + c)                            \
  ROW3(X, mad_64, BOTH("mad.lo", 64), u64, u64, u64, u64, a *b + c)                            \
  ROW3(X, mad_hi_u32, "mad.hi.u32", u32, u32, u32, u32, (uint32_t)((uint64_t)a * b >> 32) + c) \
  ROW3(X, mad_hi_s32, "mad.hi.s32", u32, s32, s32, u32, (uint32_t)((int64_t)a * b >> 32) + c)  \
  ROW3(X, mad_hi_u64, "mad.hi.u64", u64, u64, u64, u64, high_u64(a, b) + c)                    \
  ROW3(X, mad_hi_s64, "mad.hi.s64", u64, s64, s64, u64, (uint64_t)high_s64(a, b) + c)          \
  ROW3(X, mad_wide_u16, "mad.wide.u16", u32, u16, u16, u32, (uint32_t)a *b + c)                \
  ROW3(X, mad_wide_s16, "mad.wide.s16", u32, s16, s16, u32, (uint32_t)((int32_t)a * b) + c)    \
  ROW3(X, mad_wide_u32, "mad.wide.u32", u64, u32, u32, u64, (uint64_t)a *b + c)                \
  ROW3(X, mad_wide_s32, "mad.wide.s32", u64, s32, s32, u64, (uint64_t)((int64_t)a * b) + c)    \
  ROW3(X, mad24_u32, "mad24.lo.u32", u32, u32, u32, u32, (a & 0xffffff) * (b & 0xffffff) + c)  \
  ROW2(X, div_16u, "div.u16", u16, u16, u16, b ? a / b : 0xffff)                               \
  ROW2(X, div_16s, "div.s16", s16, s16, s16, div_s32(a, b))                                    \
  ROW2(X, div_32u, "div.u32", u32, u32, u32, div_u32(a, b))                                    \
  ROW2(X, div_32s, "div.s32", s32, s32, s32, div_s32(a, b))                                    \
  ROW2(X, div_64u, "div.u64", u64, u64, u64, div_u64(a, b))                                    \
  ROW2(X, div_64s, "div.s64", s64, s64, s64, div_s64(a, b))                                    \
  ROW2(X, rem_16u, "rem.u16", u16, u16, u16, b ? a % b : a)                                    \
  ROW2(X, rem_16s, "rem.s16", s16, s16, s16, rem_s32(a, b))                                    \
  ROW2(X, rem_32u, "rem.u32", u32, u32, u32, rem_u32(a, b))                                    \
  ROW2(X, rem_32s, "rem.s32", s32, s32, s32, rem_s32(a, b))                                    \
  ROW2(X, rem_64u, "rem.u64", u64, u64, u64, rem_u64(a, b))                                    \
  ROW2(X, rem_64s, "rem.s64", s64, s64, s64, rem_s64(a, b))                                    \
  ROW1(X, neg_16, "neg.s16", u16, u16, 0 - (uint32_t)a)                                        \
  ROW1(X, neg_32, "neg.s32", u32, u32, 0 - a)                                                  \
  ROW1(X, neg_64, "neg.s64", u64, u64, 0 - a)                                                  \
  ROW1(X, abs_16, "abs.s16", u16, s16, a < 0 ? 0 - (uint32_t)a : (uint32_t)a)                  \
  ROW1(X, abs_32, "abs.s32", u32, s32, a < 0 ? 0 - (uint32_t)a : (uint32_t)a)                  \
  ROW1(X, abs_64, "abs.s64", u64, s64, a < 0 ? 0 - (uint64_t)a : (uint64_t)a)                  \
  ROW3(X, sad_u32, "sad.u32", u32, u32, u32, u32, c + (a < b ? b - a : a - b))                 \
  ROW3(X, sad_s32, "sad.s32", u32, s32, s32, u32,                                              \
       c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b))                    \
  ROW3(X, dp4a_uu, "dp4a.u32.u32", u32, u32, u32, u32, dot4(a, b, c, false, false))            \
  ROW3(X, dp4a_ss, "dp4a.s32.s32", u32, u32, u32, u32, dot4(a, b, c, true, true))              \
  ROW3(X, dp4a_us, "dp4a.u32.s32", u32, u32, u32, u32, dot4(a, b, c, false, true))             \
  ROW3(X, dp4a_su, "dp4a.s32.u32", u32, u32, u32, u32, dot4(a, b, c, true, false))

#define ALU_ORDER(X)                                        \
  ROW2(X, min_16u, "min.u16", u16, u16, u16, a < b ? a : b) \
  ROW2(X, min_16s, "min.s16", s16, s16, s16, a < b ? a : b) \
  ROW2(X, min_32u, "min.u32", u32, u32, u32, a < b ? a : b) \
  ROW2(X, min_32s, "min.s32", s32, s32, s32, a < b ? a : b) \
  ROW2(X, min_64u, "min.u64", u64, u64, u64, a < b ? a : b) \
  ROW2(X, min_64s, "min.s64", s64, s64, s64, a < b ? a : b) \
  ROW2(X, max_16u, "max.u16", u16, u16, u16, a > b ? a : b) \
  ROW2(X, max_16s, "max.s16", s16, s16, s16, a > b ? a : b) \
  ROW2(X, max_32u, "max.u32", u32, u32, u32, a > b ? a : b) \
  ROW2(X, max_32s, "max.s32", s32, s32, s32, a > b ? a : b) \
  ROW2(X, max_64u, "max.u64", u64, u64, u64, a > b ? a : b) \
  ROW2(X, max_64s, "max.s64", s64, s64, s64, a > b ? a : b)

#define ALU_BITWISE(X)                                                                          \
  ROW2(X, and_16, "and.b16", u16, u16, u16, a &b)                                               \
  ROW2(X, and_32, "and.b32", u32, u32, u32, a &b)                                               \
  ROW2(X, and_64, "and.b64", u64, u64, u64, a &b)                                               \
  ROW2(X, or_16, "or.b16", u16, u16, u16, a | b)                                                \
  ROW2(X, or_32, "or.b32", u32, u32, u32, a | b)                                                \
  ROW2(X, or_64, "or.b64", u64, u64, u64, a | b)                                                \
  ROW2(X, xor_16, "xor.b16", u16, u16, u16, a ^ b)                                              \
  ROW2(X, xor_32, "xor.b32", u32, u32, u32, a ^ b)                                              \
  ROW2(X, xor_64, "xor.b64", u64, u64, u64, a ^ b)                                              \
  ROW1(X, not_16, "not.b16", u16, u16, ~(uint32_t)a)                                            \
  ROW1(X, not_32, "not.b32", u32, u32, ~a)                                                      \
  ROW1(X, not_64, "not.b64", u64, u64, ~a)                                                      \
  ROW1(X, cnot_16, "cnot.b16", u16, u16, a == 0)                                                \
  ROW1(X, cnot_32, "cnot.b32", u32, u32, a == 0)                                                \
  ROW1(X, cnot_64, "cnot.b64", u64, u64, a == 0)                                                \
  ROW2(X, shl_16, "shl.b16", u16, u16, u32, b > 15 ? 0 : (uint32_t)a << (b & 15))               \
  ROW2(X, shl_32, "shl.b32", u32, u32, u32, b > 31 ? 0 : a << (b & 31))                         \
  ROW2(X, shl_64, "shl.b64", u64, u64, u32, b > 63 ? 0 : a << (b & 63))                         \
  ROW2(X, shr_16, "shr.u16 shr.b16", u16, u16, u32, b > 15 ? 0 : a >> (b & 15))                 \
  ROW2(X, shr_32, "shr.u32 shr.b32", u32, u32, u32, b > 31 ? 0 : a >> (b & 31))                 \
  ROW2(X, shr_64, "shr.u64 shr.b64", u64, u64, u32, b > 63 ? 0 : a >> (b & 63))                 \
  ROW2(X, sar_16, "shr.s16", s16, s16, u32, a >> (b > 15 ? 15 : b))                             \
  ROW2(X, sar_32, "shr.s32", s32, s32, u32, a >> (b > 31 ? 31 : b))                             \
  ROW2(X, sar_64, "shr.s64", s64, s64, u32, a >> (b > 63 ? 63 : b))                             \
  ROW3(X, shf_l_wrap, "shf.l.wrap.b32", u32, u32, u32, u32, funnel_left(a, b, c & 31))          \
  ROW3(X, shf_l_clamp, "shf.l.clamp.b32", u32, u32, u32, u32, funnel_left(a, b, c))             \
  ROW3(X, shf_r_wrap, "shf.r.wrap.b32", u32, u32, u32, u32, funnel_right(a, b, c & 31))         \
  ROW3(X, shf_r_clamp, "shf.r.clamp.b32", u32, u32, u32, u32, funnel_right(a, b, c))            \
  ROW4(X, lop3, "lop3.b32", u32, u32, u32, u32, u32, lookup(a, b, c, e))                        \
  ROW1(X, popc_32, "popc.b32", u32, u32, count_32(a))                                           \
  ROW1(X, popc_64, "popc.b64", u32, u64, count_32((uint32_t)a) + count_32((uint32_t)(a >> 32))) \
  ROW1(X, clz32, "clz.b32", u32, u32, clz_32(a))                                                \
  ROW1(X, clz64, "clz.b64", u32, u64, clz_64(a))                                                \
  ROW1(X, brev_32, "brev.b32", u32, u32, reverse(a) >> 32)                                      \
  ROW1(X, brev_64, "brev.b64", u64, u64, reverse(a))                                            \
  ROW1(X, bfind_u32, "bfind.u32", u32, u32, find_32(a))                                         \
  ROW1(X, bfind_s32, "bfind.s32", u32, s32, find_32((uint32_t)(a < 0 ? ~a : a)))                \
  ROW1(X, bfind_u64, "bfind.u64", u32, u64, find_64(a))                                         \
  ROW1(X, bfind_s64, "bfind.s64", u32, s64, find_64((uint64_t)(a < 0 ? ~a : a)))                \
  ROW1(X, bfind_shift_u32, "bfind.shiftamt.u32", u32, u32, a ? clz_32(a) : UINT32_MAX)          \
  ROW1(X, bfind_shift_u64, "bfind.shiftamt.u64", u32, u64, a ? clz_64(a) : UINT32_MAX)          \
  ROW3(X, bfe_u32, "bfe.u32", u32, u32, u32, u32, extract(a, b, c, 32, false))                  \
  ROW3(X, bfe_s32, "bfe.s32", u32, u32, u32, u32, extract(a, b, c, 32, true))                   \
  ROW3(X, bfe_u64, "bfe.u64", u64, u64, u32, u32, extract(a, b, c, 64, false))                  \
  ROW3(X, bfe_s64, "bfe.s64", u64, u64, u32, u32, extract(a, b, c, 64, true))                   \
  ROW4(X, bfi_32, "bfi.b32", u32, u32, u32, u32, u32, insert(a, b, c, e, 32))                   \
  ROW4(X, bfi_64, "bfi.b64", u64, u64, u64, u32, u32, insert(a, b, c, e, 64))                   \
  ROW3(X, prmt, "prmt.b32", u32, u32, u32, u32, permute(a, b, c))                               \
  ROW3(X, prmt_f4e, "prmt.b32.f4e", u32, u32, u32, u32, permute_mode(a, b, c, forward))         \
  ROW3(X, prmt_b4e, "prmt.b32.b4e", u32, u32, u32, u32, permute_mode(a, b, c, backward))        \
  ROW3(X, prmt_rc8, "prmt.b32.rc8", u32, u32, u32, u32, permute_mode(a, b, c, replicate_8))     \
  ROW3(X, prmt_ecl, "prmt.b32.ecl", u32, u32, u32, u32, permute_mode(a, b, c, edge_left))       \
  ROW3(X, prmt_ecr, "prmt.b32.ecr", u32, u32, u32, u32, permute_mode(a, b, c, edge_right))      \
  ROW3(X, prmt_rc16, "prmt.b32.rc16", u32, u32, u32, u32, permute_mode(a, b, c, replicate_16))  \
  ROW2(X, bmsk_clamp, "bmsk.clamp.b32", u32, u32, u32,                                          \
       a > 31 || b == 0 ? 0 : (b > 31 ? UINT32_MAX : (1u << b) - 1) << a)

#define ALU_MOVES(X)                                                                           \
  ROW1(X, mov_16, "mov.b16 mov.u16 mov.s16", u16, u16, a)                                      \
  ROW1(X, mov_32, "mov.b32 mov.u32 mov.s32 mov.f32", u32, u32, a)                              \
  ROW1(X, mov_64,                                                                              \
       "mov.b64 mov.u64 mov.s64 mov.f64 cvta.global.u64 cvta.to.global.u64 "                   \
       "cvta.const.u64 cvta.to.const.u64",                                                     \
       u64, u64, a)                                                                            \
  ROW3(X, selp_16, "selp.b16 selp.u16 selp.s16", u16, u16, u16, pred, c ? a : b)               \
  ROW3(X, selp_32, "selp.b32 selp.u32 selp.s32 selp.f32", u32, u32, u32, pred, c ? a : b)      \
  ROW3(X, selp_64, "selp.b64 selp.u64 selp.s64 selp.f64", u64, u64, u64, pred, c ? a : b)      \
  ROW3(X, slct_32, "slct.b32.s32 slct.u32.s32 slct.s32.s32 slct.f32.s32", u32, u32, u32, s32,  \
       c >= 0 ? a : b)                                                                         \
  ROW3(X, slct_64, "slct.b64.s32 slct.u64.s32 slct.s64.s32 slct.f64.s32", u64, u64, u64, s32,  \
       c >= 0 ? a : b)                                                                         \
  ROW3(X, slct_32f, "slct.b32.f32 slct.u32.f32 slct.s32.f32 slct.f32.f32", u32, u32, u32, f32, \
       c >= 0 ? a : b)

#define ALU_ALL(X) ALU_ARITHMETIC(X) ALU_ORDER(X) ALU_BITWISE(X) ALU_MOVES(X)

ALU_ALL(ALU_FUNCTIONS)

/* ---- arithmetic with the carry flag, which is a mask like a predicate ---- */

typedef struct carried {
  uint64_t value;
  bool carry;
} carried;

static carried add_carry(uint64_t a, uint64_t b, bool carry, unsigned bits) {
  const unsigned_wide sum = (unsigned_wide)a + b + carry;
  return (carried){bits == 32 ? (uint32_t)sum : (uint64_t)sum, (sum >> bits & 1) != 0};
}

/* the borrow is kept as it is: 1 when there was one */
static carried sub_borrow(uint64_t a, uint64_t b, bool borrow, unsigned bits) {
  const unsigned_wide difference = (unsigned_wide)a - b - borrow;
  return (carried){bits == 32 ? (uint32_t)difference : (uint64_t)difference,
                   (difference >> bits & 1) != 0};
}

static inline void set_carry(uint8_t *registers, unsigned lane, bool carry) {
  uint32_t *mask = (uint32_t *)(registers + PTX_CARRY);
  *mask = (*mask & ~(1u << lane)) | (uint32_t)carry << lane;
}

/* id, bits, whether the flag is read, whether it is set, value */
#define CARRY_FUNCTIONS(id, bits, reads, sets, call)                                \
  static void id##_lane(const ptx_insn *insn, uint8_t *registers, unsigned lane) {  \
    const uint8_t *sa = registers + insn->from[0], *sb = registers + insn->from[1]; \
    const uint8_t *sc = registers + insn->from[2];                                  \
    const bool carry = (reads) && GET_pred(registers + PTX_CARRY, lane);            \
    const uint64_t a = GET_u##bits(sa, lane), b = GET_u##bits(sb, lane);            \
    const uint64_t c = GET_u##bits(sc, lane);                                       \
    (void)c;                                                                        \
    const carried result = call;                                                    \
    PUT_u##bits(registers + insn->to[0], lane, result.value);                       \
    if (sets) set_carry(registers, lane, result.carry);                             \
  }                                                                                 \
  static void id##_warp(const ptx_insn *insn, uint8_t *registers) {                 \
    for (unsigned lane = 0; lane < PTX_LANES; lane++) {                             \
      id##_lane(insn, registers, lane);                                             \
    }                                                                               \
  }

#define LOW32(a, b)  ((uint32_t)((a) * (b)))
#define HIGH32(a, b) ((a) * (b) >> 32)
/* id, names, arity, bits, reads, sets, call */
#define ALU_CARRY(X)                                                                               \
  X(addcc_32, "add.cc.u32 add.cc.s32", 2, 32, 0, 1, add_carry(a, b, carry, 32))                    \
  X(addc_32, "addc.u32 addc.s32", 2, 32, 1, 0, add_carry(a, b, carry, 32))                         \
  X(addccc_32, "addc.cc.u32 addc.cc.s32", 2, 32, 1, 1, add_carry(a, b, carry, 32))                 \
  X(addcc_64, "add.cc.u64 add.cc.s64", 2, 64, 0, 1, add_carry(a, b, carry, 64))                    \
  X(addc_64, "addc.u64 addc.s64", 2, 64, 1, 0, add_carry(a, b, carry, 64))                         \
  X(addccc_64, "addc.cc.u64 addc.cc.s64", 2, 64, 1, 1, add_carry(a, b, carry, 64))                 \
  X(subcc_32, "sub.cc.u32 sub.cc.s32", 2, 32, 0, 1, sub_borrow(a, b, carry, 32))                   \
  X(subc_32, "subc.u32 subc.s32", 2, 32, 1, 0, sub_borrow(a, b, carry, 32))                        \
  X(subccc_32, "subc.cc.u32 subc.cc.s32", 2, 32, 1, 1, sub_borrow(a, b, carry, 32))                \
  X(subcc_64, "sub.cc.u64 sub.cc.s64", 2, 64, 0, 1, sub_borrow(a, b, carry, 64))                   \
  X(subc_64, "subc.u64 subc.s64", 2, 64, 1, 0, sub_borrow(a, b, carry, 64))                        \
  X(subccc_64, "subc.cc.u64 subc.cc.s64", 2, 64, 1, 1, sub_borrow(a, b, carry, 64))                \
  X(madcc_lo, "mad.lo.cc.u32 mad.lo.cc.s32", 3, 32, 0, 1, add_carry(LOW32(a, b), c, carry, 32))    \
  X(madc_lo, "madc.lo.u32 madc.lo.s32", 3, 32, 1, 0, add_carry(LOW32(a, b), c, carry, 32))         \
  X(madccc_lo, "madc.lo.cc.u32 madc.lo.cc.s32", 3, 32, 1, 1, add_carry(LOW32(a, b), c, carry, 32)) \
  X(madcc_hi, "mad.hi.cc.u32", 3, 32, 0, 1, add_carry(HIGH32(a, b), c, carry, 32))                 \
  X(madc_hi, "madc.hi.u32", 3, 32, 1, 0, add_carry(HIGH32(a, b), c, carry, 32))                    \
  X(madccc_hi, "madc.hi.cc.u32", 3, 32, 1, 1, add_carry(HIGH32(a, b), c, carry, 32))

#define X(id, names, arity, bits, reads, sets, call) CARRY_FUNCTIONS(id, bits, reads, sets, call)
ALU_CARRY(X)
#undef X

#define CARRY_ROW(id, names, arity, bits, reads, sets, call)  \
  {names,                                                     \
   arity,                                                     \
   SIZE_u##bits,                                              \
   PTX_U##bits,                                               \
   {PTX_U##bits, PTX_U##bits, (arity) > 2 ? PTX_U##bits : 0}, \
   id##_warp,                                                 \
   id##_lane,                                                 \
   NULL},

const ptx_alu ptx_alu_integer[] = {ALU_ALL(ALU_ROW) ALU_CARRY(CARRY_ROW)};
const int ptx_alu_integer_count = sizeof ptx_alu_integer / sizeof *ptx_alu_integer;

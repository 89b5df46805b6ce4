/* How the alu_*.c files turn rows into functions.
 *
 * A row gives an identifier, the mnemonics, the types of the result and of up to four sources, and an
 * expression in a, b, c, e (and `insn`). It becomes one function over all lanes, which the compiler
 * can make vectors of, and one for a single lane.
 *
 * Keep: an expression has no effect and cannot trap, since it is evaluated for idle lanes as well. */
#ifndef WB_TESTS_EMULATOR_ALU_H
#define WB_TESTS_EMULATOR_ALU_H

#include "tests/emulator/ptx.h"

#include <string.h>

/* the value of each PTX type, the element its slots are made of, and the way there and back */
typedef int8_t value_s8;
typedef uint8_t value_u8;
typedef int16_t value_s16;
typedef uint16_t value_u16;
typedef int32_t value_s32;
typedef uint32_t value_u32;
typedef int64_t value_s64;
typedef uint64_t value_u64;
typedef float value_f32;
typedef double value_f64;
typedef bool value_pred;
typedef int value_none;

static inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}
static inline double double_of(uint64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
static inline uint64_t bits_of_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* every float result that is no number is the one pattern that the hardware gives */
static inline uint32_t result_bits(float value) {
  return value != value ? 0x7fffffffu : bits_of(value);
}
static inline uint64_t result_bits_double(double value) {
  return value != value ? 0x7ff8000000000000u : bits_of_double(value);
}

#define GET_u8(slot, lane)   ((uint8_t)((const uint32_t *)(slot))[lane])
#define GET_s8(slot, lane)   ((int8_t)((const uint32_t *)(slot))[lane])
#define GET_u16(slot, lane)  ((uint16_t)((const uint32_t *)(slot))[lane])
#define GET_s16(slot, lane)  ((int16_t)((const uint32_t *)(slot))[lane])
#define GET_u32(slot, lane)  (((const uint32_t *)(slot))[lane])
#define GET_s32(slot, lane)  ((int32_t)((const uint32_t *)(slot))[lane])
#define GET_u64(slot, lane)  (((const uint64_t *)(slot))[lane])
#define GET_s64(slot, lane)  ((int64_t)((const uint64_t *)(slot))[lane])
#define GET_f32(slot, lane)  float_of(((const uint32_t *)(slot))[lane])
#define GET_f64(slot, lane)  double_of(((const uint64_t *)(slot))[lane])
#define GET_pred(slot, lane) ((*(const uint32_t *)(slot) >> (lane)) & 1u)
#define GET_none(slot, lane) 0

#define PUT_u16(slot, lane, value) (((uint32_t *)(slot))[lane] = (uint16_t)(value))
#define PUT_s16(slot, lane, value) PUT_u16(slot, lane, value)
#define PUT_u32(slot, lane, value) (((uint32_t *)(slot))[lane] = (uint32_t)(value))
#define PUT_s32(slot, lane, value) PUT_u32(slot, lane, value)
#define PUT_u64(slot, lane, value) (((uint64_t *)(slot))[lane] = (uint64_t)(value))
#define PUT_s64(slot, lane, value) PUT_u64(slot, lane, value)
#define PUT_f32(slot, lane, value) (((uint32_t *)(slot))[lane] = result_bits(value))
#define PUT_f64(slot, lane, value) (((uint64_t *)(slot))[lane] = result_bits_double(value))

#define SIZE_u16 4
#define SIZE_s16 4
#define SIZE_u32 4
#define SIZE_s32 4
#define SIZE_f32 4
#define SIZE_u64 8
#define SIZE_s64 8
#define SIZE_f64 8

#define TYPE_none PTX_NONE
#define TYPE_pred PTX_PRED
#define TYPE_u8   PTX_U8
#define TYPE_s8   PTX_S8
#define TYPE_u16  PTX_U16
#define TYPE_s16  PTX_S16
#define TYPE_u32  PTX_U32
#define TYPE_s32  PTX_S32
#define TYPE_u64  PTX_U64
#define TYPE_s64  PTX_S64
#define TYPE_f32  PTX_F32
#define TYPE_f64  PTX_F64

/* a result may be one of the sources, lane by lane: no iteration depends on another */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

#define ALU_FUNCTIONS(id, names, arity, D, A, B, C, E, expression)                     \
  ALWAYS_INLINE void id##_lanes(const ptx_insn *insn, uint8_t *registers, unsigned lo, \
                                unsigned hi) {                                         \
    uint8_t *to = registers + insn->to[0];                                             \
    const uint8_t *sa = registers + insn->from[0], *sb = registers + insn->from[1];    \
    const uint8_t *sc = registers + insn->from[2], *se = registers + insn->from[3];    \
    (void)sb, (void)sc, (void)se;                                                      \
    INDEPENDENT                                                                        \
    for (unsigned lane = lo; lane < hi; lane++) {                                      \
      const value_##A a = GET_##A(sa, lane);                                           \
      const value_##B b = GET_##B(sb, lane);                                           \
      const value_##C c = GET_##C(sc, lane);                                           \
      const value_##E e = GET_##E(se, lane);                                           \
      (void)a, (void)b, (void)c, (void)e;                                              \
      PUT_##D(to, lane, expression);                                                   \
    }                                                                                  \
  }                                                                                    \
  static void id##_warp(const ptx_insn *insn, uint8_t *registers) {                    \
    id##_lanes(insn, registers, 0, PTX_LANES);                                         \
  }                                                                                    \
  static void id##_lane(const ptx_insn *insn, uint8_t *registers, unsigned lane) {     \
    id##_lanes(insn, registers, lane, lane + 1);                                       \
  }
#define ALU_ROW(id, names, arity, D, A, B, C, E, expression)                           \
  {names,     arity,     SIZE_##D, TYPE_##D, {TYPE_##A, TYPE_##B, TYPE_##C, TYPE_##E}, \
   id##_warp, id##_lane, NULL},

/* rows by the number of their sources */
#define ROW1(X, id, names, D, A, expression)          X(id, names, 1, D, A, none, none, none, expression)
#define ROW2(X, id, names, D, A, B, expression)       X(id, names, 2, D, A, B, none, none, expression)
#define ROW3(X, id, names, D, A, B, C, expression)    X(id, names, 3, D, A, B, C, none, expression)
#define ROW4(X, id, names, D, A, B, C, E, expression) X(id, names, 4, D, A, B, C, E, expression)

#endif

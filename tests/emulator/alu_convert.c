/* cvt: every conversion between integers and f32, f64, with rounding, .sat and .ftz.
 *
 * A value is taken as what its type says and put back into a register that may be wider than the
 * result: then it is extended by the result's own sign. Float to integer saturates, and NaN gives 0,
 * as PTX says. The conversions that loops are full of have rows of their own. */
#include "tests/emulator/alu.h"

#include <fenv.h>
#include <math.h>

#define ALU_COMMON(X)                                                                \
  ROW1(X, zero_64_32, "cvt.u64.u32 cvt.s64.u32", u64, u32, a)                        \
  ROW1(X, sign_64_32, "cvt.s64.s32 cvt.u64.s32", s64, s32, a)                        \
  ROW1(X, cut_32_64, "cvt.u32.u64 cvt.s32.s64 cvt.u32.s64 cvt.s32.u64", u32, u64, a) \
  ROW1(X, from_s32, "cvt.rn.f32.s32", f32, s32, (float)a)                            \
  ROW1(X, from_u32, "cvt.rn.f32.u32", f32, u32, (float)a)

ALU_COMMON(ALU_FUNCTIONS)
static const ptx_alu common[] = {ALU_COMMON(ALU_ROW)};

static bool is_float(ptx_type type) { return type == PTX_F32 || type == PTX_F64; }
static bool is_signed(ptx_type type) {
  return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

/* the low part of a register, as its type says */
static int64_t read_integer(ptx_type type, const uint8_t *slot, bool wide, unsigned lane) {
  const uint64_t raw = wide ? GET_u64(slot, lane) : GET_u32(slot, lane);
  switch (type) {
  case PTX_B8:
  case PTX_U8: return (uint8_t)raw;
  case PTX_S8: return (int8_t)raw;
  case PTX_B16:
  case PTX_U16: return (uint16_t)raw;
  case PTX_S16: return (int16_t)raw;
  case PTX_B32:
  case PTX_U32: return (uint32_t)raw;
  case PTX_S32: return (int32_t)raw;
  default: return (int64_t)raw;
  }
}

/* the value wraps to the type; a register that is wider takes it extended by the type's own sign */
static void put_integer(ptx_type type, unsigned register_bytes, uint8_t *slot, unsigned lane,
                        uint64_t value) {
  const unsigned bits = 8 * ptx_type_bytes(type);
  if (bits < 64) {
    value &= (UINT64_C(1) << bits) - 1;
    if (is_signed(type) && value >> (bits - 1)) value |= ~UINT64_C(0) << bits;
  }
  if (register_bytes == 8) {
    PUT_u64(slot, lane, value);
  } else if (register_bytes == 4) {
    PUT_u32(slot, lane, value);
  } else {
    PUT_u16(slot, lane, value);
  }
}

static uint64_t clamp_integer(ptx_type type, ptx_type source, int64_t value) {
  const unsigned bits = 8 * ptx_type_bytes(type);
  const bool huge = source == PTX_U64 && value < 0; /* an unsigned value past the signed range */
  if (is_signed(type)) {
    const int64_t greatest = (int64_t)(UINT64_MAX >> (65 - bits));
    if (huge || value > greatest) return (uint64_t)greatest;
    if (value < -greatest - 1) return (uint64_t)(-greatest - 1);
    return (uint64_t)value;
  }
  const uint64_t greatest = UINT64_MAX >> (64 - bits);
  if (!huge && value < 0) return 0;
  return (uint64_t)value > greatest ? greatest : (uint64_t)value;
}

static double whole(double value, ptx_round round) {
  switch (round) {
  case PTX_ROUND_NEAREST: return nearbyint(value);
  case PTX_ROUND_ZERO: return trunc(value);
  case PTX_ROUND_DOWN: return floor(value);
  case PTX_ROUND_UP: return ceil(value);
  }
  return value;
}

static uint64_t integer_of(double value, ptx_type type) {
  const int bits = (int)(8 * ptx_type_bytes(type));
  if (value != value) return 0;
  if (is_signed(type)) {
    const double limit = ldexp(1, bits - 1);
    const int64_t greatest = (int64_t)(UINT64_MAX >> (65 - bits));
    if (value >= limit) return (uint64_t)greatest;
    if (value < -limit) return (uint64_t)(-greatest - 1);
    return (uint64_t)(int64_t)value;
  }
  if (value >= ldexp(1, bits)) return UINT64_MAX >> (64 - bits);
  return value <= 0 ? 0 : (uint64_t)value;
}

static double flush(double value, const ptx_insn *insn, ptx_type type) {
  const bool small = type == PTX_F32 && fabs(value) < 0x1p-126;
  return small && insn->flags & PTX_FLAG_FLUSH ? copysign(0, value) : value;
}

static double read_float(const ptx_insn *insn, const uint8_t *slot, unsigned lane) {
  if (insn->source_type == PTX_F64) return GET_f64(slot, lane);
  return flush((double)GET_f32(slot, lane), insn, PTX_F32);
}

static void put_float(const ptx_insn *insn, uint8_t *slot, unsigned lane, double value) {
  const bool saturated = insn->flags & PTX_FLAG_SATURATE;
  if (saturated) value = value != value ? 0 : value < 0 ? 0 : value > 1 ? 1 : value;
  if (insn->type == PTX_F64) {
    PUT_f64(slot, lane, value);
  } else {
    PUT_f32(slot, lane, (float)flush(value, insn, PTX_F32));
  }
}

/* an integer to the float type itself, in one rounding */
static double float_of_integer(const ptx_insn *insn, int64_t value) {
  const bool as_unsigned = insn->source_type == PTX_U64;
  if (insn->type == PTX_F32) {
    volatile float result = as_unsigned ? (float)(uint64_t)value : (float)value;
    return (double)result;
  }
  volatile double result = as_unsigned ? (double)(uint64_t)value : (double)value;
  return result;
}

/* insn->bytes: width of the result's register; insn->vector: elements of the source's slot */
static void convert_lane(const ptx_insn *insn, uint8_t *registers, unsigned lane) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  const uint8_t *from = registers + insn->from[0];
  uint8_t *to = registers + insn->to[0];
  const ptx_type type = (ptx_type)insn->type, source = (ptx_type)insn->source_type;
  const bool wide = insn->vector == 8 || (!insn->vector && ptx_type_bytes(source) == 8);
  if (!is_float(type) && !is_float(source)) {
    const int64_t value = read_integer(source, from, wide, lane);
    put_integer(type, insn->bytes, to, lane,
                insn->flags & PTX_FLAG_SATURATE ? clamp_integer(type, source, value)
                                                : (uint64_t)value);
  } else if (!is_float(type)) {
    const double value = whole(read_float(insn, from, lane), (ptx_round)insn->round);
    put_integer(type, insn->bytes, to, lane, integer_of(value, type));
  } else {
    const int before = fegetround();
    const bool to_whole = insn->mode != 0;
    fesetround(to_whole ? FE_TONEAREST : modes[insn->round]);
    double value;
    if (!is_float(source)) {
      value = float_of_integer(insn, read_integer(source, from, wide, lane));
    } else {
      value = read_float(insn, from, lane);
      if (to_whole) value = whole(value, (ptx_round)insn->round);
      if (type == PTX_F32) {
        volatile float narrow = (float)value;
        value = (double)narrow;
      }
    }
    fesetround(before);
    put_float(insn, to, lane, value);
  }
}

static void convert_warp(const ptx_insn *insn, uint8_t *registers) {
  for (unsigned lane = 0; lane < PTX_LANES; lane++) convert_lane(insn, registers, lane);
}

/* "cvt.rzi.sat.s32.f32": marks, then the two types. `bytes` and `vector` are as above. */
bool ptx_alu_convert(ptx_insn *insn, const char *mnemonic, ptx_alu *row) {
  if (strncmp(mnemonic, "cvt.", 4) != 0) return false;
  for (size_t k = 0; k < sizeof common / sizeof *common; k++) {
    const char *found = strstr(common[k].names, mnemonic);
    const size_t length = strlen(mnemonic);
    if (found && (found[length] == ' ' || found[length] == 0) &&
        insn->bytes == common[k].result_bytes &&
        (!insn->vector ||
         (insn->vector == 8) == (ptx_type_bytes(common[k].source_types[0]) == 8))) {
      *row = common[k];
      return true;
    }
  }
  ptx_type types[2] = {PTX_NONE, PTX_NONE};
  int count = 0;
  bool rounds_whole = false, rounds = false;
  for (const char *at = mnemonic + 4; *at;) {
    const size_t length = strcspn(at, ".");
    static const char *const letters = "nzmp";
    const char *letter = length > 1 && at[0] == 'r' ? memchr(letters, at[1], 4) : NULL;
    if (letter && (length == 2 || (length == 3 && at[2] == 'i'))) {
      insn->round = (uint8_t)(letter - letters);
      rounds = true;
      rounds_whole = length == 3;
    } else if (length == 3 && memcmp(at, "ftz", 3) == 0) {
      insn->flags |= PTX_FLAG_FLUSH;
    } else if (length == 3 && memcmp(at, "sat", 3) == 0) {
      insn->flags |= PTX_FLAG_SATURATE;
    } else {
      const ptx_type type = ptx_type_of(at, length);
      if (type == PTX_NONE || type == PTX_PRED || count == 2) return false;
      types[count++] = type;
    }
    at += length + (at[length] == '.');
  }
  if (count != 2) return false;
  /* a float to an integer must say which way; a float to a narrower one or from an integer too */
  if (!is_float(types[0]) && is_float(types[1]) && !rounds_whole) return false;
  if (is_float(types[0]) && !is_float(types[1]) && (!rounds || rounds_whole)) return false;
  if (types[0] == PTX_F32 && types[1] == PTX_F64 && !rounds) return false;
  insn->mode = rounds_whole;
  insn->type = (uint8_t)types[0];
  insn->source_type = (uint8_t)types[1];
  *row = (ptx_alu){.names = mnemonic,
                   .arity = 1,
                   .result_bytes = ptx_type_bytes(types[0]) == 8 ? 8 : 4,
                   .type = (uint8_t)types[0],
                   .source_types = {(uint8_t)types[1]},
                   .warp = convert_warp,
                   .lane = convert_lane};
  return true;
}

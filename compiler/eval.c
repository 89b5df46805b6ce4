/* What every pure op does: the arithmetic of ops.h, once, for interpreter and folding.
 *
 * Lanes are int64_t each (bool 0 or 1, i32 sign-extended, f32 its bits), so one loop per op serves all
 * types. Keep: no undefined behaviour in C for any operand, no dependence on the compiler's floating
 * contraction (this file is compiled with -ffp-contract=off). */
#include "compiler/interp.h"

#include <math.h>
#include <string.h>

static float to_float(int64_t bits) {
  uint32_t low = (uint32_t)bits;
  float x;
  memcpy(&x, &low, sizeof x);
  return x;
}

static int64_t from_float(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return isnan(x) ? INT64_C(0x7fc00000) : (int64_t)bits;
}

/* cuts a result to its type */
static int64_t wrap(wb_type type, uint64_t x) {
  if (type == WB_TYPE_BOOL) return (int64_t)(x & 1);
  return type == WB_TYPE_I32 ? (int64_t)(int32_t)(uint32_t)x : (int64_t)x;
}

/* an integer's bits without its sign extension */
static uint64_t bits_of(wb_type type, int64_t x) {
  return type == WB_TYPE_I32 ? (uint64_t)(uint32_t)x : (uint64_t)x;
}

static uint64_t width_of(wb_type type) { return type == WB_TYPE_I32 ? 32 : 64; }

static int64_t divide(wb_type type, int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (y == -1) return wrap(type, 0 - (uint64_t)x);
  return x / y;
}

static int64_t remainder_of(int64_t x, int64_t y) {
  if (y == 0) return x;
  return y == -1 ? 0 : x % y;
}

static int64_t divide_unsigned(wb_type type, int64_t x, int64_t y) {
  return y == 0 ? 0 : wrap(type, bits_of(type, x) / bits_of(type, y));
}

static int64_t remainder_unsigned(wb_type type, int64_t x, int64_t y) {
  return y == 0 ? x : wrap(type, bits_of(type, x) % bits_of(type, y));
}

static int64_t shift_left(wb_type type, int64_t x, int64_t count) {
  uint64_t n = bits_of(type, count);
  return n >= width_of(type) ? 0 : wrap(type, (uint64_t)x << n);
}

static int64_t shift_right(wb_type type, int64_t x, int64_t count) {
  uint64_t n = bits_of(type, count);
  return n >= width_of(type) ? 0 : wrap(type, bits_of(type, x) >> n);
}

static int64_t shift_arithmetic(wb_type type, int64_t x, int64_t count) {
  uint64_t n = bits_of(type, count);
  if (n >= width_of(type)) n = width_of(type) - 1;
  return x < 0 ? ~(~x >> n) : x >> n;
}

static int64_t count_trailing(wb_type type, int64_t x) {
  uint64_t bits = bits_of(type, x);
  return bits == 0 ? (int64_t)width_of(type) : __builtin_ctzll(bits);
}

static int64_t count_leading(wb_type type, int64_t x) {
  uint64_t bits = bits_of(type, x);
  return bits == 0 ? (int64_t)width_of(type) : __builtin_clzll(bits) - (64 - (int)width_of(type));
}

/* IEEE 754-2019 minimum and maximum */
static float float_min(float x, float y) {
  if (isnan(x) || isnan(y)) return NAN;
  if (x == y) return signbit(x) ? x : y;
  return x < y ? x : y;
}

static float float_max(float x, float y) {
  if (isnan(x) || isnan(y)) return NAN;
  if (x == y) return signbit(x) ? y : x;
  return x > y ? x : y;
}

static int64_t saturate(float x) {
  if (isnan(x)) return 0;
  if (x >= 2147483648.0F) return INT32_MAX;
  if (x < -2147483648.0F) return INT32_MIN;
  return (int64_t)x;
}

/* one element of add, min, max and the unsigned pair: elementwise ops and reductions use the same */
static int64_t combine(wb_opcode code, wb_type type, int64_t x, int64_t y) {
  bool real = type == WB_TYPE_F32;
  switch (code) {
  case WB_OP_ADD:
    if (real) return from_float(to_float(x) + to_float(y));
    return wrap(type, (uint64_t)x + (uint64_t)y);
  case WB_OP_MIN:
    if (real) return from_float(float_min(to_float(x), to_float(y)));
    return x < y ? x : y;
  case WB_OP_MAX:
    if (real) return from_float(float_max(to_float(x), to_float(y)));
    return x > y ? x : y;
  case WB_OP_UMIN: return bits_of(type, x) < bits_of(type, y) ? x : y;
  case WB_OP_UMAX: return bits_of(type, x) > bits_of(type, y) ? x : y;
  case WB_OP_AND: return x & y;
  case WB_OP_OR: return x | y;
  default: return x ^ y; /* XOR */
  }
}

/* the butterfly of ops.h, for all reductions: only f32 add can tell */
static int64_t reduce(wb_opcode code, wb_type type, int32_t width, const int64_t *x) {
  int64_t lanes[WB_WIDTH_MAX], next[WB_WIDTH_MAX];
  memcpy(lanes, x, (size_t)width * sizeof *x);
  for (int32_t distance = width / 2; distance > 0; distance /= 2) {
    for (int32_t l = 0; l < width; l++) {
      next[l] = combine(code, type, lanes[l], lanes[l ^ distance]);
    }
    memcpy(lanes, next, (size_t)width * sizeof *x);
  }
  return lanes[0];
}

static bool equal(wb_type type, int64_t x, int64_t y) {
  return type == WB_TYPE_F32 ? to_float(x) == to_float(y) : x == y;
}

static bool less(wb_type type, int64_t x, int64_t y) {
  return type == WB_TYPE_F32 ? to_float(x) < to_float(y) : x < y;
}

static bool less_or_equal(wb_type type, int64_t x, int64_t y) {
  return type == WB_TYPE_F32 ? to_float(x) <= to_float(y) : x <= y;
}

static int64_t subtract(wb_type type, int64_t x, int64_t y) {
  if (type == WB_TYPE_F32) return from_float(to_float(x) - to_float(y));
  return wrap(type, (uint64_t)x - (uint64_t)y);
}

static int64_t multiply(wb_type type, int64_t x, int64_t y) {
  if (type == WB_TYPE_F32) return from_float(to_float(x) * to_float(y));
  return wrap(type, (uint64_t)x * (uint64_t)y);
}

static int64_t quotient(wb_type type, int64_t x, int64_t y) {
  if (type == WB_TYPE_F32) return from_float(to_float(x) / to_float(y));
  return divide(type, x, y);
}

static int64_t ballot(const int64_t *x, int32_t width) {
  uint32_t mask = 0;
  for (int32_t l = 0; l < width; l++) mask |= (uint32_t)x[l] << l;
  return (int32_t)mask;
}

static void insert(const int64_t *x, int64_t lane, int64_t value, int32_t width, int64_t *r) {
  for (int32_t l = 0; l < width; l++) r[l] = l == lane ? value : x[l];
}

static void scan(wb_type type, const int64_t *x, int32_t width, int64_t *r) {
  int64_t sum = 0;
  for (int32_t l = 0; l < width; l++) r[l] = sum = combine(WB_OP_ADD, type, sum, x[l]);
}

void wb_op_evaluate(const wb_op *op, wb_type type, wb_shape shape, int32_t width,
                    const int64_t *const operands[WB_OPERANDS_MAX], int64_t *result) {
  const int64_t *x = operands[0], *y = operands[1], *z = operands[2];
  const int32_t n = shape == WB_SHAPE_LANES ? width : 1;
  int64_t *r = result;
#define EACH(expression)                                          \
  do {                                                            \
    for (int32_t l = 0; l < n; l++) r[l] = (int64_t)(expression); \
  } while (0);                                                    \
  break
  switch ((wb_opcode)op->code) {
  case WB_OP_CONST: r[0] = op->imm; break;
  case WB_OP_LANE_ID:
    for (int32_t l = 0; l < width; l++) r[l] = l;
    break;
  case WB_OP_ADD: EACH(combine(WB_OP_ADD, type, x[l], y[l]));
  case WB_OP_SUB: EACH(subtract(type, x[l], y[l]));
  case WB_OP_MUL: EACH(multiply(type, x[l], y[l]));
  case WB_OP_DIV: EACH(quotient(type, x[l], y[l]));
  case WB_OP_REM: EACH(remainder_of(x[l], y[l]));
  case WB_OP_UDIV: EACH(divide_unsigned(type, x[l], y[l]));
  case WB_OP_UREM: EACH(remainder_unsigned(type, x[l], y[l]));
  case WB_OP_UMULHI: EACH((int32_t)((uint64_t)(uint32_t)x[l] * (uint32_t)y[l] >> 32));
  case WB_OP_AND: EACH(x[l] & y[l]);
  case WB_OP_OR: EACH(x[l] | y[l]);
  case WB_OP_XOR: EACH(x[l] ^ y[l]);
  case WB_OP_NOT: EACH(wrap(type, ~(uint64_t)x[l]));
  case WB_OP_SHL: EACH(shift_left(type, x[l], y[l]));
  case WB_OP_SHR: EACH(shift_right(type, x[l], y[l]));
  case WB_OP_SAR: EACH(shift_arithmetic(type, x[l], y[l]));
  case WB_OP_MIN: EACH(combine(WB_OP_MIN, type, x[l], y[l]));
  case WB_OP_MAX: EACH(combine(WB_OP_MAX, type, x[l], y[l]));
  case WB_OP_UMIN: EACH(combine(WB_OP_UMIN, type, x[l], y[l]));
  case WB_OP_UMAX: EACH(combine(WB_OP_UMAX, type, x[l], y[l]));
  case WB_OP_CTZ: EACH(count_trailing(type, x[l]));
  case WB_OP_CLZ: EACH(count_leading(type, x[l]));
  case WB_OP_POPCNT: EACH(__builtin_popcountll(bits_of(type, x[l])));
  case WB_OP_SQRT: EACH(from_float(sqrtf(to_float(x[l]))));
  case WB_OP_FMA: EACH(from_float(fmaf(to_float(x[l]), to_float(y[l]), to_float(z[l]))));
  case WB_OP_EQ: EACH(equal(type, x[l], y[l]));
  case WB_OP_NE: EACH(!equal(type, x[l], y[l]));
  case WB_OP_LT: EACH(less(type, x[l], y[l]));
  case WB_OP_LE: EACH(less_or_equal(type, x[l], y[l]));
  case WB_OP_ULT: EACH(bits_of(type, x[l]) < bits_of(type, y[l]));
  case WB_OP_ULE: EACH(bits_of(type, x[l]) <= bits_of(type, y[l]));
  case WB_OP_SELECT: EACH(x[l] ? y[l] : z[l]);
  case WB_OP_SEXT: EACH(x[l]);
  case WB_OP_ZEXT: EACH((uint32_t)x[l]);
  case WB_OP_TRUNC: EACH((int32_t)(uint32_t)(uint64_t)x[l]);
  case WB_OP_FROM_BOOL: EACH(x[l]);
  case WB_OP_TO_F32: EACH(from_float((float)x[l]));
  case WB_OP_TO_I32: EACH(saturate(to_float(x[l])));
  case WB_OP_TO_BITS: EACH((int32_t)(uint32_t)from_float(to_float(x[l])));
  case WB_OP_FROM_BITS: EACH((uint32_t)x[l]);
  case WB_OP_SPLAT:
    for (int32_t l = 0; l < width; l++) r[l] = x[0];
    break;
  case WB_OP_BALLOT: r[0] = ballot(x, width); break;
  case WB_OP_ANY: r[0] = reduce(WB_OP_OR, type, width, x); break;
  case WB_OP_ALL: r[0] = reduce(WB_OP_AND, type, width, x); break;
  case WB_OP_REDUCE_ADD: r[0] = reduce(WB_OP_ADD, type, width, x); break;
  case WB_OP_REDUCE_MIN: r[0] = reduce(WB_OP_MIN, type, width, x); break;
  case WB_OP_REDUCE_MAX: r[0] = reduce(WB_OP_MAX, type, width, x); break;
  case WB_OP_REDUCE_UMIN: r[0] = reduce(WB_OP_UMIN, type, width, x); break;
  case WB_OP_REDUCE_UMAX: r[0] = reduce(WB_OP_UMAX, type, width, x); break;
  case WB_OP_REDUCE_AND: r[0] = reduce(WB_OP_AND, type, width, x); break;
  case WB_OP_REDUCE_OR: r[0] = reduce(WB_OP_OR, type, width, x); break;
  case WB_OP_REDUCE_XOR: r[0] = reduce(WB_OP_XOR, type, width, x); break;
  case WB_OP_SCAN_ADD: scan(type, x, width, r); break;
  case WB_OP_EXTRACT: r[0] = x[y[0] & (width - 1)]; break;
  case WB_OP_INSERT: insert(x, y[0], z[0], width, r); break;
  case WB_OP_SHUFFLE: EACH(x[y[l] & (width - 1)]);
  case WB_OP_KNOWN: EACH(x[l]);
  /* these need a launch, memory or a place in the program */
  case WB_OP_PARAM:
  case WB_OP_BOOK:
  case WB_OP_LOAD:
  case WB_OP_LOAD_ROW:
  case WB_OP_GATHER:
  case WB_OP_STORE:
  case WB_OP_STORE_ROW:
  case WB_OP_STORE_ROW_IF:
  case WB_OP_STORE_LANES:
  case WB_OP_SCATTER:
  case WB_OP_VAR:
  case WB_OP_GET:
  case WB_OP_SET:
  case WB_OP_IF:
  case WB_OP_ELSE:
  case WB_OP_SWITCH:
  case WB_OP_CASE:
  case WB_OP_DEFAULT:
  case WB_OP_WHILE:
  case WB_OP_TEST:
  case WB_OP_FOR:
  case WB_OP_BLOCK:
  case WB_OP_LEAVE:
  case WB_OP_END:
  case WB_OP_COUNT: break;
  }
#undef EACH
}

/* Range analysis: an interval for every integer value (all lanes of it), from constants upwards, and a
 * mark on every access whose index can only be in range.
 *
 * A variable has one interval for the whole program, the union of all that is ever put into it; rounds
 * over the program let intervals grow until nothing changes, and what still grows after a few rounds
 * becomes its type's whole range. Conditions are not looked at. Keep: each rule must hold for every
 * operand in the given intervals, wrapping included - if a result can wrap, it is the whole range. */
#include "compiler/passes.h"
#include "compiler/range.h"

#include <stdlib.h>

typedef wb_interval interval;

__extension__ typedef __int128 wide;

enum { ROUNDS_BEFORE_WIDENING = 3 };

static const interval nothing = {INT64_MAX, INT64_MIN}; /* nothing has reached it yet */

static bool empty(interval a) { return a.lo > a.hi; }

static interval whole(wb_type type) {
  if (type == WB_TYPE_BOOL) return (interval){0, 1};
  if (type == WB_TYPE_I32) return (interval){INT32_MIN, INT32_MAX};
  return (interval){INT64_MIN, INT64_MAX};
}

static interval join(interval a, interval b) {
  return (interval){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

/* an exact interval if it fits the type, else everything */
static interval fit(wb_type type, wide lo, wide hi) {
  interval all = whole(type);
  if (lo < all.lo || hi > all.hi) return all;
  return (interval){(int64_t)lo, (int64_t)hi};
}

static interval of_element(wb_element element) {
  switch (element) {
  case WB_ELEMENT_I8: return (interval){INT8_MIN, INT8_MAX};
  case WB_ELEMENT_U8: return (interval){0, UINT8_MAX};
  case WB_ELEMENT_I16: return (interval){INT16_MIN, INT16_MAX};
  case WB_ELEMENT_U16: return (interval){0, UINT16_MAX};
  default: return whole(wb_element_type(element));
  }
}

static interval multiply(wb_type type, interval a, interval b) {
  wide products[4] = {(wide)a.lo * b.lo, (wide)a.lo * b.hi, (wide)a.hi * b.lo, (wide)a.hi * b.hi};
  wide lo = products[0], hi = products[0];
  for (int i = 1; i < 4; i++) {
    if (products[i] < lo) lo = products[i];
    if (products[i] > hi) hi = products[i];
  }
  return fit(type, lo, hi);
}

/* the smallest 2^k - 1 that is not below x >= 0 */
static int64_t ones_above(int64_t x) {
  uint64_t bits = (uint64_t)x;
  for (int shift = 1; shift < 64; shift *= 2) bits |= bits >> shift;
  return (int64_t)bits;
}

static interval bitwise(wb_opcode code, wb_type type, interval a, interval b) {
  bool a_positive = a.lo >= 0, b_positive = b.lo >= 0;
  if (code == WB_OP_AND && (a_positive || b_positive)) {
    int64_t hi = a_positive && b_positive ? (a.hi < b.hi ? a.hi : b.hi) : a_positive ? a.hi : b.hi;
    return (interval){0, hi};
  }
  if (code != WB_OP_AND && a_positive && b_positive) {
    return (interval){0, ones_above(a.hi > b.hi ? a.hi : b.hi)};
  }
  return whole(type);
}

/* only counts that are one number inside the type are of interest */
static interval shift(wb_opcode code, wb_type type, interval a, interval count) {
  int64_t width = type == WB_TYPE_I32 ? 32 : 64;
  bool one = count.lo == count.hi && count.lo >= 0 && count.lo < width;
  if (code == WB_OP_SAR && one) return (interval){a.lo >> count.lo, a.hi >> count.lo};
  if (code == WB_OP_SAR) {
    return (interval){a.lo < 0 ? a.lo : 0, a.hi < 0 ? -1 : a.hi};
  }
  if (code == WB_OP_SHR && a.lo >= 0) {
    return one ? (interval){a.lo >> count.lo, a.hi >> count.lo} : (interval){0, a.hi};
  }
  if (code == WB_OP_SHR && one && count.lo > 0) {
    wide most = ((wide)1 << (width - count.lo)) - 1;
    return fit(type, 0, most);
  }
  if (code == WB_OP_SHL && one) {
    wide scale = (wide)1 << count.lo;
    return fit(type, (wide)a.lo * scale, (wide)a.hi * scale);
  }
  return whole(type);
}

static interval divide(wb_opcode code, wb_type type, interval a, interval b) {
  bool positive = b.lo > 0;
  bool is_rem = code == WB_OP_REM || code == WB_OP_UREM;
  if (positive && !is_rem && (a.lo >= 0 || code == WB_OP_DIV)) {
    /* towards zero: the ends are at the smallest and largest divisor */
    int64_t lo = a.lo >= 0 ? a.lo / b.hi : a.lo / b.lo;
    int64_t hi = a.hi >= 0 ? a.hi / b.lo : a.hi / b.hi;
    return (interval){lo, hi};
  }
  if (positive && code == WB_OP_UREM) {
    return (interval){0, a.lo >= 0 && a.hi < b.hi - 1 ? a.hi : b.hi - 1};
  }
  if (positive && code == WB_OP_REM) {
    int64_t lo = a.lo >= 0 ? 0 : a.lo > 1 - b.hi ? a.lo : 1 - b.hi;
    int64_t hi = a.hi < 0 ? 0 : a.hi < b.hi - 1 ? a.hi : b.hi - 1;
    return (interval){lo, hi};
  }
  return whole(type);
}

static interval min_max(wb_opcode code, wb_type type, interval a, interval b) {
  bool smaller = code == WB_OP_MIN || code == WB_OP_UMIN;
  bool positive = a.lo >= 0 && b.lo >= 0;
  if (code == WB_OP_MIN || (code == WB_OP_UMIN && positive)) {
    return (interval){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
  }
  if (code == WB_OP_MAX || (code == WB_OP_UMAX && positive)) {
    return (interval){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
  }
  /* negative numbers are large unsigned ones: one operand that is not negative bounds the minimum */
  if (smaller && a.lo >= 0) return (interval){0, a.hi};
  if (smaller && b.lo >= 0) return (interval){0, b.hi};
  return whole(type);
}

static interval clip(interval a, interval bound) {
  interval cut = {a.lo > bound.lo ? a.lo : bound.lo, a.hi < bound.hi ? a.hi : bound.hi};
  return empty(cut) ? bound : cut; /* a broken promise: anything will do */
}

/* the interval of a value that is made from others; x, y, z are those of its operands */
static interval transfer(const wb_program *program, const wb_op *op, interval x, interval y,
                         interval z) {
  const wb_type type = (wb_type)op->type;
  const wb_opcode code = (wb_opcode)op->code;
  switch (code) {
  case WB_OP_CONST: return type == WB_TYPE_F32 ? whole(type) : (interval){op->imm, op->imm};
  case WB_OP_BOOK: return (interval){0, INT32_MAX};
  case WB_OP_LANE_ID: return (interval){0, program->width - 1};
  case WB_OP_ADD: return fit(type, (wide)x.lo + y.lo, (wide)x.hi + y.hi);
  case WB_OP_SUB: return fit(type, (wide)x.lo - y.hi, (wide)x.hi - y.lo);
  case WB_OP_MUL: return multiply(type, x, y);
  case WB_OP_DIV:
  case WB_OP_UDIV:
  case WB_OP_REM:
  case WB_OP_UREM: return divide(code, type, x, y);
  case WB_OP_AND:
  case WB_OP_OR:
  case WB_OP_XOR: return bitwise(code, type, x, y);
  case WB_OP_NOT: return type == WB_TYPE_BOOL ? whole(type) : (interval){~x.hi, ~x.lo};
  case WB_OP_SHL:
  case WB_OP_SHR:
  case WB_OP_SAR: return shift(code, type, x, y);
  case WB_OP_MIN:
  case WB_OP_MAX:
  case WB_OP_UMIN:
  case WB_OP_UMAX: return min_max(code, type, x, y);
  case WB_OP_CTZ:
  case WB_OP_CLZ:
  case WB_OP_POPCNT: return (interval){0, type == WB_TYPE_I32 ? 32 : 64};
  case WB_OP_SELECT: return join(y, z);
  case WB_OP_ZEXT: return x.lo >= 0 ? x : (interval){0, UINT32_MAX};
  case WB_OP_TRUNC: return fit(type, x.lo, x.hi);
  case WB_OP_SEXT:
  case WB_OP_FROM_BOOL:
  case WB_OP_SPLAT:
  case WB_OP_EXTRACT:
  case WB_OP_SHUFFLE:
  case WB_OP_REDUCE_MIN:
  case WB_OP_REDUCE_MAX:
  case WB_OP_REDUCE_UMIN:
  case WB_OP_REDUCE_UMAX:
  case WB_OP_ANY:
  case WB_OP_ALL:
  case WB_OP_GET: return x;
  case WB_OP_REDUCE_AND: return x.lo >= 0 ? (interval){0, x.hi} : whole(type);
  case WB_OP_REDUCE_OR:
  case WB_OP_REDUCE_XOR: return bitwise(WB_OP_OR, type, x, x);
  case WB_OP_REDUCE_ADD: return fit(type, (wide)x.lo * program->width, (wide)x.hi * program->width);
  case WB_OP_SCAN_ADD: {
    interval sum = fit(type, (wide)x.lo * program->width, (wide)x.hi * program->width);
    return join(sum, x);
  }
  case WB_OP_INSERT: return join(x, z);
  case WB_OP_KNOWN: return clip(x, (interval){y.lo, z.hi});
  case WB_OP_LOAD:
  case WB_OP_LOAD_ROW:
  case WB_OP_GATHER: {
    const wb_object *object = &program->objects[op->aux];
    return join(of_element((wb_element)object->element), (interval){object->fill, object->fill});
  }
  /* lo <= count < hi, whatever the two are */
  case WB_OP_FOR: return (interval){x.lo, y.hi > x.lo ? y.hi - 1 : x.lo};
  default: return whole(type);
  }
}

static bool operands_reached(const wb_op *op, const interval *ranges) {
  int32_t operands = wb_op_describe((wb_opcode)op->code)->operands;
  for (int32_t i = 0; i < operands; i++) {
    if (empty(ranges[op->operands[i]])) return false;
  }
  return true;
}

/* lets *range grow to hold `more`; true if it grew */
static bool grow(interval *range, interval more, wb_type type, bool widen) {
  interval joined = empty(*range) ? more : join(*range, more);
  if (joined.lo == range->lo && joined.hi == range->hi) return false;
  *range = widen ? whole(type) : joined;
  return true;
}

static bool one_round(const wb_program *program, interval *ranges, bool widen) {
  bool changed = false;
  for (int32_t id = 0; id < program->op_count; id++) {
    const wb_op *op = &program->ops[id];
    if (!operands_reached(op, ranges)) continue;
    int32_t operands = wb_op_describe((wb_opcode)op->code)->operands;
    interval x[WB_OPERANDS_MAX] = {nothing, nothing, nothing};
    for (int32_t i = 0; i < operands; i++) x[i] = ranges[op->operands[i]];
    if (op->code == WB_OP_SET || op->code == WB_OP_VAR) {
      int32_t variable = op->code == WB_OP_SET ? op->operands[0] : id;
      interval put = op->code == WB_OP_SET ? x[1] : x[0];
      changed |= grow(&ranges[variable], put, (wb_type)program->ops[variable].type, widen);
    } else if (op->type != WB_TYPE_NONE) {
      /* grows too, and is not widened: it follows its operands */
      changed |=
          grow(&ranges[id], transfer(program, op, x[0], x[1], x[2]), (wb_type)op->type, false);
    }
  }
  return changed;
}

static bool proven(const wb_program *program, const wb_op *op, const interval *ranges) {
  const wb_object *object = &program->objects[op->aux];
  if (object->kind != WB_OBJECT_ARRAY) return false;
  bool row =
      op->code == WB_OP_LOAD_ROW || op->code == WB_OP_STORE_ROW || op->code == WB_OP_STORE_ROW_IF;
  int64_t count = row ? object->length / program->width : object->length;
  if (op->code == WB_OP_STORE_LANES) count -= program->width - 1; /* places of lane 0 */
  interval index = ranges[op->operands[0]];
  return !empty(index) && index.lo >= 0 && index.hi < count;
}

void wb_range_find(const wb_program *program, wb_interval *ranges) {
  for (int32_t i = 0; i < program->op_count; i++) ranges[i] = nothing;
  for (int32_t round = 0; one_round(program, ranges, round >= ROUNDS_BEFORE_WIDENING); round++) {}
}

wb_status wb_pass_range(wb_program *program, wb_error *error) {
  interval *ranges = malloc(((size_t)program->op_count + 1) * sizeof *ranges);
  if (ranges == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory for a pass", program->name);
  }
  wb_range_find(program, ranges);
  for (int32_t i = 0; i < program->op_count; i++) {
    wb_op *op = &program->ops[i];
    if (!wb_op_accesses(op)) continue;
    op->flags &= (uint8_t)~WB_FLAG_PROVEN;
    if (proven(program, op, ranges)) op->flags |= WB_FLAG_PROVEN;
  }
  free(ranges);
  return WB_OK;
}

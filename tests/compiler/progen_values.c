/* Random values: constants with a taste for extremes, ops of the table, loads and stores. */
#include "tests/compiler/progen_internal.h"

#include <string.h>

static const wb_operand none = {WB_OPERAND_NONE, -1, 0, 0};

static wb_operand of(wb_val v) { return wb_operand_value(v); }

static int64_t extreme_int(gen *g, wb_type type) {
  static const int64_t list[] = {
      0,  1,  -1,  2,   3,   7,         31,        32,         33,         63,         64,
      65, -2, -31, -32, 100, INT32_MIN, INT32_MAX, 0x55555555, 0x40000000, -0x40000000};
  static const int64_t wide_list[] = {INT64_MIN,        INT64_MAX,
                                      INT64_C(1) << 32, -INT64_C(0x100000000),
                                      UINT32_MAX,       INT64_C(0x123456789abcdef)};
  uint32_t n = sizeof list / sizeof list[0], m = sizeof wide_list / sizeof wide_list[0];
  uint32_t choice = progen_draw(g, n + 4);
  if (choice < n) return list[choice];
  if (type == WB_TYPE_I64 && choice < n + 2) return wide_list[progen_draw(g, m)];
  uint64_t bits = (uint64_t)progen_draw(g, UINT32_MAX) << 32 | progen_draw(g, UINT32_MAX);
  return type == WB_TYPE_I64 ? (int64_t)bits : (int64_t)(int32_t)(uint32_t)bits;
}

static int64_t extreme_float(gen *g) {
  static const uint32_t list[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000,
                                  0x7f800000, 0xff800000, 0x7fc00000, 0x00000001, 0x80000001,
                                  0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x4f000000,
                                  0xcf000000, 0x4effffff, 0xcf000001, 0x4b800000, 0x33800000,
                                  0x3eaaaaab, 0x42f6e979, 0xc2f6e979};
  uint32_t n = sizeof list / sizeof list[0];
  uint32_t choice = progen_draw(g, n + 8);
  if (choice < n) return list[choice];
  uint32_t bits = progen_draw(g, UINT32_MAX);
  bool nan = (bits & 0x7f800000) == 0x7f800000 && (bits & 0x7fffff) != 0;
  return nan ? 0x7fc00000 : (int64_t)bits;
}

int64_t progen_extreme(gen *g, wb_type type) {
  if (type == WB_TYPE_BOOL) return progen_draw(g, 2);
  return type == WB_TYPE_F32 ? extreme_float(g) : extreme_int(g, type);
}

void progen_add(gen *g, wb_val v) {
  if (v.id >= 0 && g->pool_count < POOL_MAX) g->pool[g->pool_count++] = v;
}

/* lanes that differ: their numbers, or a row of memory; id < 0 for none */
static wb_val different_lanes(gen *g, wb_type type) {
  static const int32_t arrays[] = {[WB_TYPE_I32] = 0, [WB_TYPE_I64] = 1, [WB_TYPE_F32] = 2};
  uint32_t how = progen_draw(g, 4);
  if (how == 1 && type == WB_TYPE_I32) {
    return wb_build_op(g->b, AT, WB_OP_LANE_ID, none, none, none);
  }
  if (how < 2 || type == WB_TYPE_BOOL) return (wb_val){-1};
  wb_operand row = wb_operand_signed(progen_draw(g, 2));
  return wb_build_load_row(g->b, AT, g->objects[arrays[type]], row, false);
}

static wb_val fresh(gen *g, wb_type type, wb_shape shape) {
  wb_val v = {-1};
  if (shape == WB_SHAPE_LANES) v = different_lanes(g, type);
  if (v.id < 0) {
    v = wb_build_const(g->b, AT, type, progen_extreme(g, type));
    if (shape == WB_SHAPE_LANES) v = wb_build_op(g->b, AT, WB_OP_SPLAT, of(v), none, none);
  }
  progen_add(g, v);
  return v;
}

wb_val progen_pick(gen *g, wb_type type, wb_shape shape) {
  wb_val found[16];
  uint32_t count = 0;
  for (int32_t i = g->pool_count - 1; i >= 0 && count < 16; i--) {
    wb_val v = g->pool[i];
    if (wb_build_type(g->b, v) == type && wb_build_shape(g->b, v) == shape) found[count++] = v;
  }
  uint32_t choice = progen_draw(g, count + 1);
  return choice < count ? found[choice] : fresh(g, type, shape);
}

static wb_type draw_type(gen *g, const char *allowed) {
  char c = allowed[progen_draw(g, (uint32_t)strlen(allowed))];
  return c == 'b' ? WB_TYPE_BOOL : c == 'i' ? WB_TYPE_I32 : c == 'l' ? WB_TYPE_I64 : WB_TYPE_F32;
}

static wb_shape draw_shape(gen *g) {
  return progen_draw(g, 2) == 0 ? WB_SHAPE_SCALAR : WB_SHAPE_LANES;
}

/* the types an operand rule allows for its first operand; NULL: the op is made elsewhere */
static const char *types_of(wb_operand_rule rule) {
  switch (rule) {
  case WB_OPERANDS_INT:
  case WB_OPERANDS_LANES_INT: return "il";
  case WB_OPERANDS_BITS: return "bil";
  case WB_OPERANDS_NUMERIC:
  case WB_OPERANDS_LANES_NUMERIC: return "ilf";
  case WB_OPERANDS_ANY:
  case WB_OPERANDS_SELECT:
  case WB_OPERANDS_SCALAR:
  case WB_OPERANDS_EXTRACT:
  case WB_OPERANDS_INSERT:
  case WB_OPERANDS_SHUFFLE: return "bilf";
  case WB_OPERANDS_ALL_BOOL:
  case WB_OPERANDS_LANES_BOOL: return "b";
  case WB_OPERANDS_ALL_I32: return "i";
  case WB_OPERANDS_ALL_I64: return "l";
  case WB_OPERANDS_ALL_F32: return "f";
  default: return NULL;
  }
}

static wb_shape shape_of(gen *g, wb_operand_rule rule) {
  switch (rule) {
  case WB_OPERANDS_LANES_INT:
  case WB_OPERANDS_LANES_NUMERIC:
  case WB_OPERANDS_LANES_BOOL:
  case WB_OPERANDS_EXTRACT:
  case WB_OPERANDS_INSERT:
  case WB_OPERANDS_SHUFFLE: return WB_SHAPE_LANES;
  case WB_OPERANDS_SCALAR: return WB_SHAPE_SCALAR;
  default: return draw_shape(g);
  }
}

static void operands_of(gen *g, wb_operand_rule rule, wb_operand x[3], int32_t count) {
  wb_type type = draw_type(g, types_of(rule));
  wb_shape shape = shape_of(g, rule);
  x[0] = of(progen_pick(g, rule == WB_OPERANDS_SELECT ? WB_TYPE_BOOL : type, shape));
  switch (rule) {
  case WB_OPERANDS_EXTRACT: x[1] = of(progen_pick(g, WB_TYPE_I32, WB_SHAPE_SCALAR)); break;
  case WB_OPERANDS_INSERT:
    x[1] = of(progen_pick(g, WB_TYPE_I32, WB_SHAPE_SCALAR));
    x[2] = of(progen_pick(g, type, WB_SHAPE_SCALAR));
    break;
  case WB_OPERANDS_SHUFFLE: x[1] = of(progen_pick(g, WB_TYPE_I32, WB_SHAPE_LANES)); break;
  default:
    for (int32_t i = 1; i < count; i++) x[i] = of(progen_pick(g, type, shape));
  }
}

/* of those that compute from values alone */
static wb_opcode draw_op(gen *g) {
  for (int32_t tries = 0; tries < 8; tries++) {
    wb_opcode code = (wb_opcode)progen_draw(g, WB_OP_COUNT);
    const wb_op_info *info = wb_op_describe(code);
    bool computes =
        info->kind == WB_KIND_PURE && types_of((wb_operand_rule)info->operand_rule) != NULL;
    if (computes || code == WB_OP_BOOK || code == WB_OP_LANE_ID) return code;
  }
  return WB_OP_ADD;
}

void progen_op(gen *g) {
  wb_opcode code = draw_op(g);
  wb_operand x[3] = {none, none, none};
  if (code == WB_OP_BOOK || code == WB_OP_LANE_ID) {
    progen_add(g, wb_build_op(g->b, AT, code, none, none, none));
    return;
  }
  const wb_op_info *info = wb_op_describe(code);
  wb_operand_rule rule = (wb_operand_rule)info->operand_rule;
  operands_of(g, rule, x, info->operands);
  wb_val v = wb_build_op(g->b, AT, code, x[0], x[1], x[2]);
  progen_add(g, v);
  if (progen_draw(g, 3) == 1) progen_sink(g, v);
}

/* a promise that holds: the low bits of anything */
void progen_known(gen *g) {
  wb_type type = draw_type(g, "il");
  int64_t mask = (INT64_C(2) << progen_draw(g, 7)) - 1;
  wb_val x = progen_pick(g, type, draw_shape(g));
  wb_val low = wb_build_op(g->b, AT, WB_OP_AND, of(x), wb_operand_signed(mask), none);
  progen_add(g, wb_build_known(g->b, AT, of(low), 0, mask));
}

/* ---- memory ---- */

static int32_t draw_object(gen *g, bool to_write) {
  int32_t count = ARRAYS + BUFFERS + VIEWS;
  int32_t first = (int32_t)progen_draw(g, (uint32_t)count);
  for (int32_t i = 0; i < count; i++) {
    int32_t object = (first + i) % count;
    if (!to_write || g->writable[object]) return object;
  }
  return 0;
}

/* an index: anything, or brought near the ends of what there is */
static wb_val draw_index(gen *g, wb_shape shape, int32_t limit) {
  wb_val x = progen_pick(g, draw_type(g, "il"), shape);
  uint32_t how = progen_draw(g, 4);
  if (how == 0) return x;
  if (how == 1) {
    x = wb_build_op(g->b, AT, WB_OP_AND, of(x), wb_operand_signed(limit - 1), none);
    return x;
  }
  x = wb_build_op(g->b, AT, WB_OP_REM, of(x), wb_operand_signed(limit + 2), none);
  return how == 2 ? x : wb_build_abs(g->b, AT, of(x));
}

void progen_load(gen *g) {
  int32_t object = draw_object(g, false);
  wb_array a = g->objects[object];
  wb_val v;
  switch (progen_draw(g, 5)) {
  case 0: v = wb_build_load(g->b, AT, a, of(draw_index(g, WB_SHAPE_SCALAR, 64)), false); break;
  case 1: v = wb_build_load_row(g->b, AT, a, of(draw_index(g, WB_SHAPE_SCALAR, 4)), false); break;
  case 2: v = wb_build_gather(g->b, AT, a, of(draw_index(g, WB_SHAPE_LANES, 64)), false); break;
  case 3: {
    /* an index that comes from memory and that no analysis can bound: a promise that holds */
    wb_val place =
        wb_build_load(g->b, AT, g->index_array, of(draw_index(g, WB_SHAPE_SCALAR, 8)), false);
    v = wb_build_load(g->b, AT, a, of(place), object < ARRAYS);
    break;
  }
  default: v = wb_build_get(g->b, AT, g->vars[progen_draw(g, (uint32_t)g->var_count)]); break;
  }
  progen_add(g, v);
}

void progen_store(gen *g) {
  int32_t object = draw_object(g, true);
  wb_array a = g->objects[object];
  wb_type type = wb_element_type(g->elements[object]);
  switch (progen_draw(g, 7)) {
  case 0:
    wb_build_store(g->b, AT, a, of(draw_index(g, WB_SHAPE_SCALAR, 64)),
                   of(progen_pick(g, type, WB_SHAPE_SCALAR)), false);
    break;
  case 1:
    wb_build_store_row(g->b, AT, a, of(draw_index(g, WB_SHAPE_SCALAR, 4)),
                       of(progen_pick(g, type, WB_SHAPE_LANES)), none, false);
    break;
  case 2:
    wb_build_store_row(g->b, AT, a, of(draw_index(g, WB_SHAPE_SCALAR, 4)),
                       of(progen_pick(g, type, WB_SHAPE_LANES)),
                       of(progen_pick(g, WB_TYPE_BOOL, WB_SHAPE_LANES)), false);
    break;
  case 3:
    wb_build_scatter(g->b, AT, a, of(draw_index(g, WB_SHAPE_LANES, 64)),
                     of(progen_pick(g, type, WB_SHAPE_LANES)), false);
    break;
  case 4:
    wb_build_store_lanes(g->b, AT, a, of(draw_index(g, WB_SHAPE_SCALAR, 64)),
                         of(progen_pick(g, type, WB_SHAPE_LANES)),
                         of(progen_pick(g, WB_TYPE_BOOL, WB_SHAPE_LANES)), false);
    break;
  case 5: {
    wb_val low = wb_build_op(g->b, AT, WB_OP_AND, of(progen_pick(g, WB_TYPE_I32, WB_SHAPE_SCALAR)),
                             wb_operand_signed(7), none);
    wb_build_store(g->b, AT, g->index_array, of(draw_index(g, WB_SHAPE_SCALAR, 8)), of(low), false);
    break;
  }
  default: {
    wb_val place =
        wb_build_load(g->b, AT, g->index_array, of(draw_index(g, WB_SHAPE_SCALAR, 8)), false);
    wb_build_store(g->b, AT, a, of(place), of(progen_pick(g, type, WB_SHAPE_SCALAR)),
                   object < ARRAYS);
    break;
  }
  }
}

/* as an integer, so that it can be mixed with what is there */
static wb_val as_integer(gen *g, wb_val v) {
  wb_type type = wb_build_type(g->b, v);
  if (type == WB_TYPE_BOOL) return wb_build_op(g->b, AT, WB_OP_FROM_BOOL, of(v), none, none);
  if (type == WB_TYPE_F32) return wb_build_op(g->b, AT, WB_OP_TO_BITS, of(v), none, none);
  return v;
}

void progen_sink(gen *g, wb_val v) {
  wb_val x = as_integer(g, v);
  bool wide = wb_build_type(g->b, x) == WB_TYPE_I64;
  wb_array a = g->objects[wide ? 1 : 0]; /* rows of i64 and of i32 */
  wb_operand at = wb_operand_signed(progen_draw(g, wide ? 2 : 4));
  bool lanes = wb_build_shape(g->b, x) == WB_SHAPE_LANES;
  wb_val old =
      lanes ? wb_build_load_row(g->b, AT, a, at, false) : wb_build_load(g->b, AT, a, at, false);
  wb_val turned = wb_build_op(g->b, AT, WB_OP_MUL, of(old), wb_operand_signed(31), none);
  wb_val mixed = wb_build_op(g->b, AT, WB_OP_XOR, of(turned), of(x), none);
  if (lanes) {
    wb_build_store_row(g->b, AT, a, at, of(mixed), none, false);
  } else {
    wb_build_store(g->b, AT, a, at, of(mixed), false);
  }
}

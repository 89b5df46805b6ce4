/* The builder's core: operands become values, ops are checked as they are recorded.
 *
 * Memory, variables and structure are in build_memory.c and build_control.c. Keep: every way into the
 * program goes through wb_emit, which applies the type and scope rules of the verifier, and the
 * first mistake wins. */
#include "compiler/build.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static wb_status copy_layout(wb_builder *b, const wb_layout *layout, wb_error *error) {
  if (layout == NULL) return WB_OK;
  for (int32_t i = 0; i < wb_layout_count(layout); i++) {
    const wb_object *object = wb_layout_object(layout, (wb_array){i});
    WB_TRY(wb_program_add_object(b->program, object, NULL, error));
  }
  b->program->slab_bytes = wb_layout_bytes(layout);
  return WB_OK;
}

wb_status wb_builder_new(const char *name, int32_t width, const wb_layout *layout, wb_builder **out,
                         wb_error *error) {
  *out = NULL;
  wb_builder *b = calloc(1, sizeof *b);
  if (b == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "builder: out of memory");
  wb_status status = wb_program_new(name, width, &b->program, error);
  if (status == WB_OK) status = wb_scope_start(&b->scope, error);
  if (status == WB_OK) status = copy_layout(b, layout, error);
  if (status != WB_OK) {
    wb_builder_free(b);
    return status;
  }
  *out = b;
  return WB_OK;
}

void wb_builder_free(wb_builder *builder) {
  if (builder == NULL) return;
  wb_program_free(builder->program);
  wb_scope_free(&builder->scope);
  free(builder);
}

wb_status wb_builder_finish(wb_builder *builder, wb_program **out, wb_error *error) {
  *out = NULL;
  wb_status status = builder->error.status;
  if (status == WB_OK) status = wb_scope_finish(&builder->scope, builder->program, &builder->error);
  if (status != WB_OK) {
    WB_FAIL(error, status, "program %s: %s", builder->program->name, builder->error.text);
  } else {
    status = wb_program_verify(builder->program, error);
  }
  if (status == WB_OK) {
    *out = builder->program;
    builder->program = NULL;
  }
  wb_builder_free(builder);
  return status;
}

bool wb_builder_ok(const wb_builder *b) { return b->error.status == WB_OK; }

void wb_build_fail(wb_builder *b, wb_site site, const char *format, ...) {
  if (!wb_builder_ok(b)) return;
  char text[WB_ERROR_TEXT_BYTES];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  WB_FAIL(&b->error, WB_ERROR_ARGUMENT, "%s", text);
  wb_locate(b, site);
}

void wb_locate(wb_builder *b, wb_site site) {
  const char *slash = strrchr(site.file, '/');
  wb_error_prefix(&b->error, "%s:%d", slash != NULL ? slash + 1 : site.file, site.line);
}

wb_val wb_emit(wb_builder *b, wb_site site, wb_op op) {
  const wb_val none = {-1};
  if (!wb_builder_ok(b)) return none;
  wb_type type;
  wb_shape shape;
  int32_t id;
  op.line = site.line;
  wb_status status = wb_program_add_file(b->program, site.file, &op.file, &b->error);
  if (status == WB_OK) status = wb_op_infer(b->program, &op, &type, &shape, &b->error);
  if (status == WB_OK) {
    op.type = (uint8_t)type;
    op.shape = (uint8_t)shape;
    status = wb_program_append(b->program, &op, &id, &b->error);
  }
  if (status == WB_OK) status = wb_scope_step(&b->scope, b->program, id, &b->error);
  if (status == WB_OK) return (wb_val){id};
  wb_locate(b, site);
  return none;
}

wb_op wb_op_blank(wb_opcode code) {
  wb_op op = {.code = (uint8_t)code, .operands = {-1, -1, -1}, .file = -1};
  return op;
}

wb_type wb_build_type(wb_builder *b, wb_val v) {
  bool known = wb_builder_ok(b) && v.id >= 0 && v.id < b->program->op_count;
  return known ? (wb_type)b->program->ops[v.id].type : WB_TYPE_NONE;
}

wb_shape wb_build_shape(wb_builder *b, wb_val v) {
  bool known = wb_builder_ok(b) && v.id >= 0 && v.id < b->program->op_count;
  return known ? (wb_shape)b->program->ops[v.id].shape : WB_SHAPE_SCALAR;
}

/* ---- numbers ---- */

wb_val wb_build_const(wb_builder *b, wb_site site, wb_type type, int64_t bits) {
  wb_op op = wb_op_blank(WB_OP_CONST);
  op.type = (uint8_t)type;
  op.imm = bits;
  return wb_emit(b, site, op);
}

wb_val wb_build_const_f32(wb_builder *b, wb_site site, float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return wb_build_const(b, site, WB_TYPE_F32, isnan(value) ? 0x7fc00000 : (int64_t)bits);
}

bool wb_is_number(wb_operand x) {
  return x.kind == WB_OPERAND_SIGNED || x.kind == WB_OPERAND_UNSIGNED || x.kind == WB_OPERAND_REAL;
}

static bool fits_i32(wb_operand x) {
  bool below =
      x.kind == WB_OPERAND_UNSIGNED ? (uint64_t)x.number <= UINT32_MAX : x.number <= INT32_MAX;
  return below && (x.kind == WB_OPERAND_UNSIGNED || x.number >= INT32_MIN);
}

wb_type wb_number_type(wb_operand x) {
  if (x.kind == WB_OPERAND_REAL) return WB_TYPE_F32;
  return fits_i32(x) ? WB_TYPE_I32 : WB_TYPE_I64;
}

static wb_val number_to_f32(wb_builder *b, wb_site site, wb_operand x, const char *op) {
  if (x.kind == WB_OPERAND_REAL) return wb_build_const_f32(b, site, (float)x.real);
  bool exact = x.number >= -(1 << 24) && x.number <= 1 << 24;
  if (!exact) {
    wb_build_fail(b, site, "%s: expected a number that f32 holds exactly, given %" PRId64, op,
                  x.number);
  }
  return wb_build_const_f32(b, site, (float)x.number);
}

wb_val wb_number(wb_builder *b, wb_site site, wb_operand x, wb_type type, const char *op) {
  if (!wb_builder_ok(b)) return (wb_val){-1};
  if (type == WB_TYPE_F32) return number_to_f32(b, site, x, op);
  bool fits = x.kind != WB_OPERAND_REAL;
  if (type == WB_TYPE_BOOL) fits = fits && (x.number == 0 || x.number == 1);
  if (type == WB_TYPE_I32) fits = fits && fits_i32(x);
  if (fits) {
    int64_t bits = type == WB_TYPE_I32 ? (int64_t)(int32_t)(uint32_t)x.number : x.number;
    return wb_build_const(b, site, type, bits);
  }
  char given[64];
  if (x.kind == WB_OPERAND_REAL) snprintf(given, sizeof given, "%g", x.real);
  if (x.kind == WB_OPERAND_SIGNED) snprintf(given, sizeof given, "%" PRId64, x.number);
  if (x.kind == WB_OPERAND_UNSIGNED) {
    snprintf(given, sizeof given, "%" PRIu64, (uint64_t)x.number);
  }
  wb_build_fail(b, site, "%s: expected a number of type %s, given %s", op, wb_type_text(type),
                given);
  return (wb_val){-1};
}

/* ---- operands ---- */

wb_val wb_build_value(wb_builder *b, wb_site site, wb_operand x) {
  if (x.kind == WB_OPERAND_VARIABLE) return wb_build_get(b, site, (wb_var){x.id});
  if (wb_is_number(x)) return wb_number(b, site, x, wb_number_type(x), "value");
  return (wb_val){x.id};
}

wb_val wb_spread(wb_builder *b, wb_site site, wb_val v, wb_shape shape) {
  if (shape != WB_SHAPE_LANES || wb_build_shape(b, v) == WB_SHAPE_LANES) return v;
  if (wb_build_type(b, v) == WB_TYPE_NONE) return v;
  wb_op op = wb_op_blank(WB_OP_SPLAT);
  op.operands[0] = v.id;
  return wb_emit(b, site, op);
}

wb_val wb_typed(wb_builder *b, wb_site site, wb_operand x, wb_type type, wb_shape shape,
                const char *op) {
  wb_val v = wb_is_number(x) ? wb_number(b, site, x, type, op) : wb_build_value(b, site, x);
  return wb_spread(b, site, v, shape);
}

/* type of the numbers in a group of operands: that of its first value, else of the widest number */
static wb_type group_type(wb_builder *b, const wb_operand *x, int32_t count, wb_type forced) {
  if (forced != WB_TYPE_NONE) return forced;
  wb_type widest = WB_TYPE_I32;
  for (int32_t i = 0; i < count; i++) {
    if (!wb_is_number(x[i])) return wb_build_type(b, (wb_val){x[i].id});
    wb_type type = wb_number_type(x[i]);
    if (type == WB_TYPE_F32 || widest == WB_TYPE_I32) widest = type;
  }
  return widest;
}

static wb_shape group_shape(wb_builder *b, const wb_operand *x, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    bool number = wb_is_number(x[i]);
    if (!number && wb_build_shape(b, (wb_val){x[i].id}) == WB_SHAPE_LANES) return WB_SHAPE_LANES;
  }
  return WB_SHAPE_SCALAR;
}

/* which type numbers must have, whatever stands beside them */
static wb_type forced_type(wb_operand_rule rule) {
  switch (rule) {
  case WB_OPERANDS_ALL_BOOL: return WB_TYPE_BOOL;
  case WB_OPERANDS_ALL_I32: return WB_TYPE_I32;
  case WB_OPERANDS_ALL_I64: return WB_TYPE_I64;
  case WB_OPERANDS_ALL_F32: return WB_TYPE_F32;
  default: return WB_TYPE_NONE;
  }
}

static void settle_group(wb_builder *b, wb_site site, const wb_operand *x, int32_t count,
                         wb_type forced, const char *op, int32_t *ids) {
  wb_type type = group_type(b, x, count, forced);
  wb_shape shape = group_shape(b, x, count);
  for (int32_t i = 0; i < count; i++) ids[i] = wb_typed(b, site, x[i], type, shape, op).id;
}

static void settle_select(wb_builder *b, wb_site site, const wb_operand *x, int32_t *ids) {
  wb_type type = group_type(b, x + 1, 2, WB_TYPE_NONE);
  wb_shape shape = group_shape(b, x, 3);
  ids[0] = wb_typed(b, site, x[0], WB_TYPE_BOOL, shape, "select").id;
  ids[1] = wb_typed(b, site, x[1], type, shape, "select").id;
  ids[2] = wb_typed(b, site, x[2], type, shape, "select").id;
}

/* operands of extract, insert and shuffle: lanes first, then a lane number, then perhaps a scalar */
static void settle_lanes(wb_builder *b, wb_site site, wb_opcode code, const wb_operand *x,
                         int32_t *ids) {
  const char *op = wb_op_describe(code)->text;
  ids[0] = wb_build_value(b, site, x[0]).id;
  wb_shape shape = code == WB_OP_SHUFFLE ? WB_SHAPE_LANES : WB_SHAPE_SCALAR;
  ids[1] = wb_typed(b, site, x[1], WB_TYPE_I32, shape, op).id;
  if (code != WB_OP_INSERT) return;
  wb_type type = wb_build_type(b, (wb_val){ids[0]});
  ids[2] = wb_typed(b, site, x[2], type, WB_SHAPE_SCALAR, op).id;
}

wb_val wb_build_op(wb_builder *b, wb_site site, wb_opcode code, wb_operand x, wb_operand y,
                   wb_operand z) {
  const wb_op_info *info = wb_op_describe(code);
  wb_operand given[WB_OPERANDS_MAX] = {x, y, z};
  wb_op op = wb_op_blank(code);
  if (!wb_builder_ok(b)) return (wb_val){-1};
  if (info->kind != WB_KIND_PURE || code == WB_OP_CONST || code == WB_OP_PARAM ||
      code == WB_OP_KNOWN) {
    wb_build_fail(b, site, "%s: has a call of its own, not wb_build_op", info->text);
    return (wb_val){-1};
  }
  for (int32_t i = 0; i < info->operands; i++) {
    if (given[i].kind == WB_OPERAND_VARIABLE) {
      given[i] = wb_operand_value(wb_build_get(b, site, (wb_var){given[i].id}));
    }
  }
  if (code == WB_OP_SELECT) {
    settle_select(b, site, given, op.operands);
  } else if (code == WB_OP_EXTRACT || code == WB_OP_INSERT || code == WB_OP_SHUFFLE) {
    settle_lanes(b, site, code, given, op.operands);
  } else {
    settle_group(b, site, given, info->operands, forced_type((wb_operand_rule)info->operand_rule),
                 info->text, op.operands);
  }
  return wb_emit(b, site, op);
}

wb_val wb_op1(wb_builder *b, wb_site site, wb_opcode code, wb_val x) {
  return wb_build_op(b, site, code, wb_operand_value(x), wb_operand_none(), wb_operand_none());
}

wb_val wb_op2(wb_builder *b, wb_site site, wb_opcode code, wb_val x, wb_val y) {
  return wb_build_op(b, site, code, wb_operand_value(x), wb_operand_value(y), wb_operand_none());
}

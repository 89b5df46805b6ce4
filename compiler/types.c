/* The type rules of the op table: which operands an op takes and what it gives.
 *
 * Builder and verifier both come here, so that a program that could be built can be verified. */
#include "compiler/internal.h"

#include <string.h>

typedef struct shaped {
  uint8_t type, shape;
} shaped;

static bool same(shaped a, shaped b) { return a.type == b.type && a.shape == b.shape; }
static bool is_int(shaped a) { return a.type == WB_TYPE_I32 || a.type == WB_TYPE_I64; }
static bool is_lanes(shaped a) { return a.shape == WB_SHAPE_LANES; }
static bool is(shaped a, wb_type type, wb_shape shape) {
  return a.type == type && a.shape == shape;
}
static bool is_index(shaped a) { return is_int(a) && !is_lanes(a); }

void wb_value_text(const wb_program *program, int32_t id, char *text, size_t text_bytes) {
  if (id < 0 || id >= program->op_count) {
    snprintf(text, text_bytes, "nothing");
    return;
  }
  const wb_op *op = &program->ops[id];
  snprintf(text, text_bytes, "%s%s%s", op->code == WB_OP_VAR ? "a variable of " : "",
           op->shape == WB_SHAPE_LANES ? "lanes of " : "", wb_type_text((wb_type)op->type));
}

bool wb_constant_valid(wb_type type, int64_t value) {
  switch (type) {
  case WB_TYPE_BOOL: return value == 0 || value == 1;
  case WB_TYPE_I32: return value >= INT32_MIN && value <= INT32_MAX;
  case WB_TYPE_I64: return true;
  case WB_TYPE_F32: return value >= 0 && value <= UINT32_MAX;
  default: return false;
  }
}

static const char *rule_text(wb_operand_rule rule) {
  static const char *const texts[] = {
#define X(name, text) text,
      WB_OPERAND_RULES(X)
#undef X
  };
  return texts[rule];
}

static bool all_same(const shaped *t, int32_t count) {
  for (int32_t i = 1; i < count; i++) {
    if (!same(t[0], t[i])) return false;
  }
  return true;
}

static bool is_constant(const wb_program *program, int32_t id) {
  return program->ops[id].code == WB_OP_CONST;
}

/* the operand rules; `object` is the type an element of the op's object has when loaded */
static bool accepts(const wb_program *program, const wb_op *op, const shaped *t, int32_t count,
                    wb_type object) {
  switch ((wb_operand_rule)wb_op_describe((wb_opcode)op->code)->operand_rule) {
  case WB_OPERANDS_NONE: return true;
  case WB_OPERANDS_INT: return all_same(t, count) && is_int(t[0]);
  case WB_OPERANDS_BITS: return all_same(t, count) && t[0].type != WB_TYPE_F32;
  case WB_OPERANDS_NUMERIC: return all_same(t, count) && t[0].type != WB_TYPE_BOOL;
  case WB_OPERANDS_ANY: return all_same(t, count);
  case WB_OPERANDS_ALL_BOOL: return all_same(t, count) && t[0].type == WB_TYPE_BOOL;
  case WB_OPERANDS_ALL_I32: return all_same(t, count) && t[0].type == WB_TYPE_I32;
  case WB_OPERANDS_ALL_I64: return all_same(t, count) && t[0].type == WB_TYPE_I64;
  case WB_OPERANDS_ALL_F32: return all_same(t, count) && t[0].type == WB_TYPE_F32;
  case WB_OPERANDS_SELECT:
    return t[0].type == WB_TYPE_BOOL && same(t[1], t[2]) && t[0].shape == t[1].shape;
  case WB_OPERANDS_SCALAR: return !is_lanes(t[0]);
  case WB_OPERANDS_LANES_BOOL: return is(t[0], WB_TYPE_BOOL, WB_SHAPE_LANES);
  case WB_OPERANDS_LANES_INT: return is_lanes(t[0]) && is_int(t[0]);
  case WB_OPERANDS_LANES_NUMERIC: return is_lanes(t[0]) && t[0].type != WB_TYPE_BOOL;
  case WB_OPERANDS_EXTRACT: return is_lanes(t[0]) && is(t[1], WB_TYPE_I32, WB_SHAPE_SCALAR);
  case WB_OPERANDS_INSERT:
    return is_lanes(t[0]) && is(t[1], WB_TYPE_I32, WB_SHAPE_SCALAR) && !is_lanes(t[2]) &&
           t[2].type == t[0].type;
  case WB_OPERANDS_SHUFFLE: return is_lanes(t[0]) && is(t[1], WB_TYPE_I32, WB_SHAPE_LANES);
  case WB_OPERANDS_KNOWN:
    return is_int(t[0]) && t[1].type == t[0].type && t[2].type == t[0].type &&
           is_constant(program, op->operands[1]) && is_constant(program, op->operands[2]);
  case WB_OPERANDS_INDEX: return is_index(t[0]);
  case WB_OPERANDS_INDEX_VALUE: return is_index(t[0]) && is(t[1], object, WB_SHAPE_SCALAR);
  case WB_OPERANDS_ROW_VALUE: return is_index(t[0]) && is(t[1], object, WB_SHAPE_LANES);
  case WB_OPERANDS_ROW_VALUE_MASK:
  case WB_OPERANDS_LANES_MASK:
    return is_index(t[0]) && is(t[1], object, WB_SHAPE_LANES) &&
           is(t[2], WB_TYPE_BOOL, WB_SHAPE_LANES);
  case WB_OPERANDS_LANE_INDEX: return is_lanes(t[0]) && is_int(t[0]);
  case WB_OPERANDS_LANE_INDEX_VALUE:
    return is_lanes(t[0]) && is_int(t[0]) && is(t[1], object, WB_SHAPE_LANES);
  case WB_OPERANDS_GET: return true; /* that it is a variable is checked before */
  case WB_OPERANDS_SET: return same(t[0], t[1]);
  case WB_OPERANDS_CONDITION: return is(t[0], WB_TYPE_BOOL, WB_SHAPE_SCALAR);
  case WB_OPERANDS_SELECTOR: return is(t[0], WB_TYPE_I32, WB_SHAPE_SCALAR);
  case WB_OPERANDS_RANGE: return all_same(t, count) && is_index(t[0]);
  case WB_OPERANDS_COUNT: break;
  }
  return false;
}

static shaped result_of(const wb_op *op, const shaped *t, wb_type object) {
  const uint8_t scalar = WB_SHAPE_SCALAR, lanes = WB_SHAPE_LANES;
  switch ((wb_result_rule)wb_op_describe((wb_opcode)op->code)->result_rule) {
  case WB_RESULT_NONE: break;
  case WB_RESULT_DECLARED: return (shaped){op->type, scalar};
  case WB_RESULT_SAME: return t[0];
  case WB_RESULT_SECOND: return t[1];
  case WB_RESULT_BOOL: return (shaped){WB_TYPE_BOOL, t[0].shape};
  case WB_RESULT_I32: return (shaped){WB_TYPE_I32, t[0].shape};
  case WB_RESULT_I64: return (shaped){WB_TYPE_I64, t[0].shape};
  case WB_RESULT_F32: return (shaped){WB_TYPE_F32, t[0].shape};
  case WB_RESULT_SCALAR_BOOL: return (shaped){WB_TYPE_BOOL, scalar};
  case WB_RESULT_SCALAR_I32: return (shaped){WB_TYPE_I32, scalar};
  case WB_RESULT_LANES_I32: return (shaped){WB_TYPE_I32, lanes};
  case WB_RESULT_ELEMENT: return (shaped){t[0].type, scalar};
  case WB_RESULT_SPLAT: return (shaped){t[0].type, lanes};
  case WB_RESULT_OBJECT: return (shaped){(uint8_t)object, scalar};
  case WB_RESULT_OBJECT_LANES: return (shaped){(uint8_t)object, lanes};
  case WB_RESULT_COUNT: break;
  }
  return (shaped){WB_TYPE_NONE, scalar};
}

bool wb_op_accesses(const wb_op *op) {
  switch (op->code) {
  case WB_OP_LOAD:
  case WB_OP_LOAD_ROW:
  case WB_OP_GATHER:
  case WB_OP_STORE:
  case WB_OP_STORE_ROW:
  case WB_OP_STORE_ROW_IF:
  case WB_OP_STORE_LANES:
  case WB_OP_SCATTER: return true;
  default: return false;
  }
}

/* the object of a memory op must exist, and be writable where it is written */
static wb_status check_object(const wb_program *program, const wb_op *op, wb_type *type,
                              wb_error *error) {
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  if (op->aux < 0 || op->aux >= program->object_count) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: expected an array, buffer or view of this program (0..%d), given %d",
                   info->text, program->object_count - 1, op->aux);
  }
  const wb_object *object = &program->objects[op->aux];
  *type = wb_element_type((wb_element)object->element);
  if (info->kind == WB_KIND_EFFECT && !object->writable) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: expected something writable, given the read-only buffer %s", info->text,
                   object->name);
  }
  return WB_OK;
}

/* operands must be values, or the variable where the op asks for one */
static wb_status read_operands(const wb_program *program, const wb_op *op, shaped *t,
                               wb_error *error) {
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  for (int32_t i = 0; i < info->operands; i++) {
    int32_t id = op->operands[i];
    if (id < 0 || id >= program->op_count || program->ops[id].type == WB_TYPE_NONE) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: operand %d: expected %s, given no value",
                     info->text, i + 1, rule_text((wb_operand_rule)info->operand_rule));
    }
    bool wants_variable = i == 0 && (op->code == WB_OP_GET || op->code == WB_OP_SET);
    bool is_variable = program->ops[id].code == WB_OP_VAR;
    if (wants_variable != is_variable) {
      char given[64];
      wb_value_text(program, id, given, sizeof given);
      return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: operand %d: expected a %s, given %s",
                     info->text, i + 1, wants_variable ? "variable" : "value", given);
    }
    t[i] = (shaped){program->ops[id].type, program->ops[id].shape};
  }
  return WB_OK;
}

static wb_status complain(const wb_program *program, const wb_op *op, wb_error *error) {
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  char given[256] = "";
  for (int32_t i = 0; i < info->operands; i++) {
    char one[64];
    wb_value_text(program, op->operands[i], one, sizeof one);
    size_t used = strlen(given);
    snprintf(given + used, sizeof given - used, "%s%s", i > 0 ? ", " : "", one);
  }
  const char *expected = rule_text((wb_operand_rule)info->operand_rule);
  if (!wb_op_accesses(op)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: expected %s; given %s", info->text, expected,
                   given);
  }
  const wb_object *object = &program->objects[op->aux];
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: expected %s; given %s, and %s is of %s", info->text,
                 expected, given, object->name, wb_element_text((wb_element)object->element));
}

/* what a source op carries in its own fields */
static wb_status check_source(const wb_program *program, const wb_op *op, wb_error *error) {
  if (op->code == WB_OP_CONST && !wb_constant_valid((wb_type)op->type, op->imm)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "const: %lld is no value of type %s",
                   (long long)op->imm, wb_type_text((wb_type)op->type));
  }
  bool bad_parameter =
      op->code == WB_OP_PARAM && (op->aux < 0 || op->aux >= program->parameter_count ||
                                  program->parameters[op->aux].type != op->type);
  if (bad_parameter) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "param: no parameter %d of type %s", op->aux,
                   wb_type_text((wb_type)op->type));
  }
  return WB_OK;
}

wb_status wb_op_infer(const wb_program *program, const wb_op *op, wb_type *type, wb_shape *shape,
                      wb_error *error) {
  if (op->code >= WB_OP_COUNT) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "unknown op %d", op->code);
  }
  shaped t[WB_OPERANDS_MAX] = {{WB_TYPE_NONE, WB_SHAPE_SCALAR}};
  wb_type object = WB_TYPE_NONE;
  WB_TRY(check_source(program, op, error));
  WB_TRY(read_operands(program, op, t, error));
  if (wb_op_accesses(op)) WB_TRY(check_object(program, op, &object, error));
  if (!accepts(program, op, t, wb_op_describe((wb_opcode)op->code)->operands, object)) {
    return complain(program, op, error);
  }
  shaped result = result_of(op, t, object);
  *type = (wb_type)result.type;
  *shape = (wb_shape)result.shape;
  return WB_OK;
}

/* The verifier: everything that passes, interpreter and lowerings take for granted. */
#include "compiler/internal.h"

#include <stdlib.h>

static wb_status bad(wb_error *error, const wb_program *program, const char *what) {
  return WB_FAIL(error, WB_ERROR_INTERNAL, "program %s: %s", program->name, what);
}

static wb_status verify_object(const wb_program *program, int32_t id, wb_error *error) {
  const wb_object *o = &program->objects[id];
  bool sane = wb_name_valid(o->name) && o->element < WB_ELEMENT_COUNT && o->base >= 0 &&
              o->base <= id && program->objects[o->base].base == o->base &&
              program->objects[o->base].kind == o->kind;
  int64_t size = sane ? wb_element_bytes((wb_element)o->element) : 1;
  if (sane && o->kind == WB_OBJECT_ARRAY) {
    sane = o->offset >= 0 && o->offset % WB_SLAB_ALIGNMENT == 0 && o->length >= 1 &&
           o->offset <= program->slab_bytes &&
           o->length <= (program->slab_bytes - o->offset) / size;
  } else if (sane) {
    sane = o->kind == WB_OBJECT_BUFFER && o->buffer >= 0 && o->buffer < program->buffer_count &&
           o->group >= 1 && o->group <= WB_GROUP_MAX && (o->group & (o->group - 1)) == 0;
  }
  if (sane && !wb_constant_valid(wb_element_type((wb_element)o->element), o->fill)) sane = false;
  if (sane) return WB_OK;
  return WB_FAIL(error, WB_ERROR_INTERNAL, "program %s: object %d (%.47s) is not sound",
                 program->name, id, o->name);
}

static wb_status verify_op(const wb_program *program, int32_t id, wb_scope *scope,
                           wb_error *error) {
  const wb_op *op = &program->ops[id];
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  wb_type type;
  wb_shape shape;
  for (int32_t i = 0; i < WB_OPERANDS_MAX; i++) {
    int32_t operand = op->operands[i];
    bool ok = i < info->operands ? operand >= 0 && operand < id : operand == -1;
    if (!ok) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: operand %d: expected %s, given %d", info->text,
                     i + 1, i < info->operands ? "an earlier op" : "none", operand);
    }
  }
  WB_TRY(wb_op_infer(program, op, &type, &shape, error));
  if (op->type != type || op->shape != shape) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: expected the result %s%s, given %s%s", info->text,
                   shape == WB_SHAPE_LANES ? "lanes of " : "", wb_type_text(type),
                   op->shape == WB_SHAPE_LANES ? "lanes of " : "", wb_type_text((wb_type)op->type));
  }
  return wb_scope_step(scope, program, id, error);
}

/* a rule that is broken here is our own mistake, not the caller's; other failures stay what they are */
static wb_status internal(wb_status status) {
  return status == WB_ERROR_ARGUMENT ? WB_ERROR_INTERNAL : status;
}

static wb_status verify_ops(const wb_program *program, wb_scope *scope, wb_error *error) {
  for (int32_t id = 0; id < program->op_count; id++) {
    wb_status status = verify_op(program, id, scope, error);
    if (status == WB_OK) continue;
    char site[128];
    wb_program_site(program, id, site, sizeof site);
    wb_error_prefix(error, "program %s: op %d (%s)", program->name, id, site);
    return internal(status);
  }
  wb_status status = wb_scope_finish(scope, program, error);
  if (status == WB_OK) return WB_OK;
  wb_error_prefix(error, "program %s", program->name);
  return internal(status);
}

wb_status wb_program_verify(const wb_program *program, wb_error *error) {
  if (!wb_name_valid(program->name)) return bad(error, program, "its name is no identifier");
  if (program->width < 2 || program->width > WB_WIDTH_MAX ||
      (program->width & (program->width - 1)) != 0) {
    return bad(error, program, "its width is no power of two from 2 to 32");
  }
  if (program->slab_bytes < 0 || program->slab_bytes % WB_SLAB_ALIGNMENT != 0) {
    return bad(error, program, "its slab is no multiple of 64 bytes");
  }
  for (int32_t i = 0; i < program->object_count; i++) {
    WB_TRY(verify_object(program, i, error));
  }
  wb_scope *scope = malloc(sizeof *scope); /* too big for a small stack */
  if (scope == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "verify: out of memory");
  wb_status status = wb_scope_start(scope, error);
  if (status == WB_OK) status = verify_ops(program, scope, error);
  wb_scope_free(scope);
  free(scope);
  if (status != WB_OK && error != NULL) error->status = status;
  return status;
}

int32_t wb_region_end(const wb_program *program, int32_t opener) {
  int32_t depth = 0;
  for (int32_t i = opener; i < program->op_count; i++) {
    uint8_t kind = wb_op_describe((wb_opcode)program->ops[i].code)->kind;
    if (kind == WB_KIND_OPEN) depth++;
    if (kind == WB_KIND_CLOSE && --depth == 0) return i + 1;
  }
  return program->op_count;
}

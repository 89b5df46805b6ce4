/* Folding: ops whose operands are constants become constants; all constants move to the front of the
 * program, each value once.
 *
 * Lanes take part where every lane has the same constant: they become a splat. The value comes from
 * the interpreter's wb_op_evaluate, so a folded program cannot differ from one that is not. */
#include "compiler/interp.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

#include <fenv.h>
#include <stdlib.h>
#include <string.h>

typedef struct fact {
  int64_t value; /* in every lane */
  bool known;
} fact;

/* a promise stays unless it obviously holds */
static bool keeps_promise(const wb_op *op, const fact *facts) {
  if (op->code != WB_OP_KNOWN) return true;
  int64_t x = facts[op->operands[0]].value;
  return facts[op->operands[1]].value <= x && x <= facts[op->operands[2]].value;
}

static fact evaluate(const wb_program *program, const wb_op *op, const fact *facts) {
  int64_t cells[WB_OPERANDS_MAX][WB_WIDTH_MAX], result[WB_WIDTH_MAX] = {0};
  const int64_t *x[WB_OPERANDS_MAX] = {cells[0], cells[1], cells[2]};
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  const fact unknown = {0, false};
  if (info->kind != WB_KIND_PURE || op->code == WB_OP_PARAM || op->code == WB_OP_BOOK) {
    return unknown;
  }
  for (int32_t i = 0; i < info->operands; i++) {
    const fact *operand = &facts[op->operands[i]];
    if (!operand->known) return unknown;
    for (int32_t l = 0; l < program->width; l++) cells[i][l] = operand->value;
  }
  if (!keeps_promise(op, facts)) return unknown;
  const wb_op *first = info->operands > 0 ? &program->ops[op->operands[0]] : op;
  wb_op_evaluate(op, (wb_type)first->type, (wb_shape)first->shape, program->width, x, result);
  for (int32_t l = 1; op->shape == WB_SHAPE_LANES && l < program->width; l++) {
    if (result[l] != result[0]) return unknown;
  }
  return (fact){result[0], true};
}

/* the new number of a constant, which is made at the first call for it */
static int32_t constant(wb_rewrite *rewrite, const wb_op *like, int64_t value) {
  for (int32_t i = 0; i < rewrite->count; i++) {
    const wb_op *op = &rewrite->ops[i];
    if (op->code == WB_OP_CONST && op->type == like->type && op->imm == value) return i;
  }
  wb_op op = {.code = WB_OP_CONST,
              .type = like->type,
              .operands = {-1, -1, -1},
              .file = like->file,
              .line = like->line,
              .imm = value};
  return wb_rewrite_emit_new(rewrite, &op, -1);
}

static void rewrite_all(wb_rewrite *rewrite, const wb_program *program, const fact *facts) {
  for (int32_t id = 0; id < program->op_count; id++) {
    const wb_op *op = &program->ops[id];
    if (!facts[id].known) continue;
    int32_t made = constant(rewrite, op, facts[id].value);
    if (op->shape == WB_SHAPE_SCALAR) rewrite->map[id] = made;
  }
  for (int32_t id = 0; id < program->op_count; id++) {
    const wb_op *op = &program->ops[id];
    if (!facts[id].known) {
      wb_rewrite_emit(rewrite, op, id);
    } else if (op->shape == WB_SHAPE_LANES) {
      wb_op splat = *op;
      splat.code = WB_OP_SPLAT;
      splat.operands[0] = constant(rewrite, op, facts[id].value);
      splat.operands[1] = splat.operands[2] = -1;
      wb_rewrite_emit_new(rewrite, &splat, id);
    }
  }
}

wb_status wb_pass_fold(wb_program *program, wb_error *error) {
  wb_rewrite rewrite;
  fenv_t environment;
  fact *facts = calloc((size_t)program->op_count + 1, sizeof *facts);
  if (facts == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory for a pass", program->name);
  }
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);
  for (int32_t id = 0; id < program->op_count; id++) {
    facts[id] = evaluate(program, &program->ops[id], facts);
  }
  fesetenv(&environment);
  wb_status status = wb_rewrite_start(&rewrite, program, error);
  if (status == WB_OK) {
    rewrite_all(&rewrite, program, facts);
    wb_rewrite_finish(&rewrite);
  }
  free(facts);
  return status;
}

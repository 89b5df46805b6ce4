/* See rewrite.h. */
#include "compiler/rewrite.h"

#include <stdlib.h>

wb_status wb_rewrite_start(wb_rewrite *rewrite, wb_program *program, wb_error *error) {
  *rewrite = (wb_rewrite){.program = program, .capacity = 4 * program->op_count + 1};
  rewrite->ops = malloc((size_t)rewrite->capacity * sizeof *rewrite->ops);
  rewrite->map = malloc(((size_t)program->op_count + 1) * sizeof *rewrite->map);
  if (rewrite->ops == NULL || rewrite->map == NULL) {
    free(rewrite->ops);
    free(rewrite->map);
    return WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory for a pass", program->name);
  }
  for (int32_t i = 0; i < program->op_count; i++) rewrite->map[i] = -1;
  return WB_OK;
}

int32_t wb_rewrite_emit_new(wb_rewrite *rewrite, const wb_op *op, int32_t old) {
  rewrite->ops[rewrite->count] = *op;
  if (old >= 0) rewrite->map[old] = rewrite->count;
  return rewrite->count++;
}

int32_t wb_rewrite_emit(wb_rewrite *rewrite, const wb_op *op, int32_t old) {
  wb_op renumbered = *op;
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  for (int32_t i = 0; i < info->operands; i++) {
    renumbered.operands[i] = rewrite->map[op->operands[i]];
  }
  if (op->code == WB_OP_END || op->code == WB_OP_LEAVE) renumbered.aux = rewrite->map[op->aux];
  return wb_rewrite_emit_new(rewrite, &renumbered, old);
}

void wb_rewrite_finish(wb_rewrite *rewrite) {
  free(rewrite->program->ops);
  rewrite->program->ops = rewrite->ops;
  rewrite->program->op_count = rewrite->count;
  rewrite->program->op_capacity = rewrite->capacity;
  free(rewrite->map);
}

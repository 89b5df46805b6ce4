/* Rewriting a program's list of ops: passes go through the old list and emit the new one, operands and
 * regions are renumbered on the way. */
#ifndef WB_COMPILER_REWRITE_H
#define WB_COMPILER_REWRITE_H

#include "compiler/program.h"

typedef struct wb_rewrite {
  wb_program *program;
  wb_op *ops; /* the new list */
  int32_t count, capacity;
  int32_t *map; /* new number of each old op, -1 if it has none */
} wb_rewrite;

wb_status wb_rewrite_start(wb_rewrite *rewrite, wb_program *program, wb_error *error);
/* Emits `op`, whose operands and region are old numbers, in place of old op `old` (-1: of none). Gives
 * the new number. Memory was taken at the start: room for four times the old list. */
int32_t wb_rewrite_emit(wb_rewrite *rewrite, const wb_op *op, int32_t old);
/* Emits an op whose operands are new numbers. */
int32_t wb_rewrite_emit_new(wb_rewrite *rewrite, const wb_op *op, int32_t old);
/* Puts the new list into the program. */
void wb_rewrite_finish(wb_rewrite *rewrite);

#endif

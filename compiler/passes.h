/* Passes: each takes a verified program and leaves a verified one that does the same. One pass, one
 * file, one function.
 *
 *   fold    ops on constants become constants, constants move to the front and are merged
 *   drop    ops without effect whose value nobody uses, variables that are never read, code that
 *           never runs, disappear
 *   range   intervals of integers; accesses that are always in range are marked WB_FLAG_PROVEN */
#ifndef WB_COMPILER_PASSES_H
#define WB_COMPILER_PASSES_H

#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

WB_API wb_status wb_pass_fold(wb_program *program, wb_error *error);
WB_API wb_status wb_pass_drop(wb_program *program, wb_error *error);
WB_API wb_status wb_pass_range(wb_program *program, wb_error *error);

/* All of them, in the order that compiling uses. */
WB_API wb_status wb_passes_run(wb_program *program, wb_error *error);

/* The table of passes, for tests and dumps that go through them one by one. */
typedef struct wb_pass {
  const char *name;
  wb_status (*run)(wb_program *program, wb_error *error);
} wb_pass;
WB_API const wb_pass *wb_passes(int32_t *count);

#ifdef __cplusplus
}
#endif
#endif

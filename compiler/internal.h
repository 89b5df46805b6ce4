/* What the compiler's own files share and users need not see. */
#ifndef WB_COMPILER_INTERNAL_H
#define WB_COMPILER_INTERNAL_H

#include "compiler/program.h"

/* A C identifier that fits WB_NAME_BYTES. */
bool wb_name_valid(const char *name);

/* Writes "i32", "lanes of f32", "a variable of i64" for a value, for messages. */
void wb_value_text(const wb_program *program, int32_t id, char *text, size_t text_bytes);

/* Is `value` in range for a constant of the type, in the form of wb_op.imm? */
bool wb_constant_valid(wb_type type, int64_t value);

/* The index just behind the structure that op `opener` opens: behind its END. */
int32_t wb_region_end(const wb_program *program, int32_t opener);

/* Machine instructions in a kernel's assembly, as LLVM writes it for a host or as PTX: count.c. */
int64_t wb_count_instructions(const char *assembly, bool ptx);

/* ---- scope: nesting and visibility, checked op by op; builder and verifier share it ---- */

typedef struct wb_frame {
  int32_t opener; /* op */
  int32_t region; /* number of the innermost region, -1 between switch and its first case */
  uint8_t code;   /* of the opener */
  uint8_t middle; /* else, default or test has been seen */
  uint16_t chain; /* how many ifs around it end with it: those of else-if */
} wb_frame;

typedef struct wb_scope {
  wb_frame frames[WB_DEPTH_MAX];
  int32_t depth;
  int32_t *region_of; /* by op: the region its value is visible in */
  int32_t op_capacity;
  uint8_t *open; /* by region: still open? */
  int32_t region_count, region_capacity;
} wb_scope;

wb_status wb_scope_start(wb_scope *scope, wb_error *error);
void wb_scope_free(wb_scope *scope);
/* Checks op `id`, the next one, and follows it. The complaint names the op, not its place. */
wb_status wb_scope_step(wb_scope *scope, const wb_program *program, int32_t id, wb_error *error);
/* Takes the END of a frame back, a copy of which was made before: the next op stands before it again.
 * Between the two no other region may have been opened. */
void wb_scope_reopen(wb_scope *scope, const wb_frame *frame);
/* At the end of a program: everything must be closed. */
wb_status wb_scope_finish(const wb_scope *scope, const wb_program *program, wb_error *error);

#endif

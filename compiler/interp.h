/* The interpreter: runs any verified program over the memory of a launch, one op at a time.
 *
 * It defines what a program means; every lowering is compared with it. Slow (some ten nanoseconds an
 * op) and strict: a promise that does not hold stops it with the op and its call site. */
#ifndef WB_COMPILER_INTERP_H
#define WB_COMPILER_INTERP_H

#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Evaluates one PURE op other than PARAM and BOOK: the one place where arithmetic is defined, for the
 * interpreter and for constant folding. A scalar is one int64_t, lanes are `width` of them, each in
 * the form of wb_op.imm: bool 0 or 1, i32 sign-extended, f32 its 32 bits zero-extended. `type` and
 * `shape` are those of the first operand (of the result for ops without one). KNOWN gives its
 * operand. Expects the default floating-point environment. */
WB_API void wb_op_evaluate(const wb_op *op, wb_type type, wb_shape shape, int32_t width,
                           const int64_t *const operands[WB_OPERANDS_MAX], int64_t *result);

/* Runs books [first_book, end_book). `step_limit` bounds the ops of one book (0: no bound); passing it
 * is WB_ERROR_LIMIT. A broken promise is WB_ERROR_INTERNAL; memory may have been changed by then. */
WB_API wb_status wb_interpret(const wb_program *program, const wb_kernel_arguments *arguments,
                              int64_t first_book, int64_t end_book, int64_t step_limit,
                              wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

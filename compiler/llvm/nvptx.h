/* The NVPTX target: the function around a program's ops, barriers, and the text that comes out. */
#ifndef WB_COMPILER_LLVM_NVPTX_H
#define WB_COMPILER_LLVM_NVPTX_H

#include "compiler/lower.h"
#include "placement.h"
#include "target.h"

/* Adds the program's kernel to an empty module. */
wb_status nvptx_emit(const wb_lower_request *request, const target *t, const placement *where,
                     LLVMContextRef context, LLVMModuleRef module, wb_error *error);

/* Moves stores down in their blocks, so that fewer barriers are needed. */
void nvptx_sink(const wb_program *program, LLVMModuleRef module);

/* Makes neighbouring accesses of all lanes one access. */
void nvptx_merge(const wb_program *program, LLVMModuleRef module);

/* Puts warp barriers where lanes would otherwise meet in memory without order; after the passes and
 * before code is generated. `count` is how many. */
wb_status nvptx_barriers(const wb_program *program, LLVMModuleRef module, int32_t *count,
                         wb_error *error);

/* Changes that are for the code generator alone. */
void nvptx_prepare(const wb_program *program, LLVMModuleRef module);

/* Makes the starts of a book's own buffers where they are used, in programs that have many of them and
 * a slab outside shared memory; after everything that compares addresses. */
void nvptx_near(const wb_program *program, LLVMModuleRef module);

/* Pairs of instructions that PTX has as one become one; behind everything else. */
void nvptx_fuse(const wb_program *program, LLVMModuleRef module);

/* Finishes PTX as LLVM wrote it: branches are marked uniform, `note` lines are put at the head.
 * Returns a string of malloc, NULL if memory is short. */
char *nvptx_finish(const char *ptx, const char *note);

#endif

/* The host target's function around the ops: entry, arguments, the loop over books. */
#ifndef WB_COMPILER_LLVM_HOST_H
#define WB_COMPILER_LLVM_HOST_H

#include "compiler/lower.h"
#include "target.h"

/* Adds the program's entry function to an empty module. */
wb_status host_emit(const wb_lower_request *request, const target *t, LLVMContextRef context,
                    LLVMModuleRef module, wb_error *error);

#endif

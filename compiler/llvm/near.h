/* Makes the starts of a book's own buffers where they are used, in programs that have many of them. */
#ifndef WB_COMPILER_LLVM_NEAR_H
#define WB_COMPILER_LLVM_NEAR_H

#include <llvm-c/Core.h>

/* For a GPU's code, after everything that compares addresses. */
void near_buffers(LLVMModuleRef module, const char *function);

#endif

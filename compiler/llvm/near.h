/* Makes the starts of a book's own buffers where they are used, in programs that have many of them. */
#ifndef WB_COMPILER_LLVM_NEAR_H
#define WB_COMPILER_LLVM_NEAR_H

#include <llvm-c/Core.h>

/* Of the function with this name; for a GPU, after everything that compares addresses. */
void near_buffers(LLVMModuleRef module, const char *name);

#endif

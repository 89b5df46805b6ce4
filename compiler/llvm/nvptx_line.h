/* Lines of PTX inside LLVM's IR: instructions that only compute, which LLVM does not choose by itself. */
#ifndef WB_COMPILER_LLVM_NVPTX_LINE_H
#define WB_COMPILER_LLVM_NVPTX_LINE_H

#include <llvm-c/Core.h>

#include <stdbool.h>

typedef struct nvptx_writer {
  LLVMContextRef context;
  LLVMBuilderRef builder; /* stands where lines go; whoever made the writer frees it */
  LLVMTypeRef i1, i32, i64;
} nvptx_writer;

nvptx_writer nvptx_writer_of(LLVMModuleRef module);

/* One line, "add.u32 $0, $1, $2;": $0 is its result, $1.. are the arguments (at most four), which
 * `constraints` gives kinds, as in "=r,r,r". It reads and writes no memory. */
LLVMValueRef nvptx_line(const nvptx_writer *w, LLVMTypeRef result, const char *text,
                        const char *constraints, const LLVMValueRef *arguments, unsigned count);

/* The first operand of an instruction of kind `wanted`; NULL if the value is none. */
LLVMValueRef nvptx_operand_of(LLVMValueRef value, LLVMOpcode wanted);

/* Whether a value of 64 bits is made of two words, the low one first. */
bool nvptx_words(const nvptx_writer *w, LLVMValueRef value, LLVMValueRef words[2]);

/* Puts `value` in the place of an instruction, which ends. */
void nvptx_replace(LLVMValueRef old, LLVMValueRef value);

#endif

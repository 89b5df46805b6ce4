/* Lines of PTX inside LLVM's IR. */
#include "nvptx_line.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

nvptx_writer nvptx_writer_of(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  return (nvptx_writer){.context = context,
                        .builder = LLVMCreateBuilderInContext(context),
                        .i1 = LLVMInt1TypeInContext(context),
                        .i32 = LLVMInt32TypeInContext(context),
                        .i64 = LLVMInt64TypeInContext(context)};
}

LLVMValueRef nvptx_line(const nvptx_writer *w, LLVMTypeRef result, const char *text,
                        const char *constraints, const LLVMValueRef *arguments, unsigned count) {
  enum { MOST = 4, NOTHING = 0 }; /* memory that it touches: LLVM's number */
  LLVMTypeRef types[MOST];
  LLVMValueRef given[MOST];
  for (unsigned i = 0; i < count; i++) {
    given[i] = arguments[i];
    types[i] = LLVMTypeOf(arguments[i]);
  }
  LLVMTypeRef function = LLVMFunctionType(result, types, count, false);
  LLVMValueRef line = LLVMGetInlineAsm(function, (char *)(uintptr_t)text, strlen(text),
                                       (char *)(uintptr_t)constraints, strlen(constraints), false,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(w->builder, function, line, given, count, "");
  unsigned kind = LLVMGetEnumAttributeKindForName("memory", strlen("memory"));
  LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(w->context, kind, NOTHING));
  return call;
}

LLVMValueRef nvptx_operand_of(LLVMValueRef value, LLVMOpcode wanted) {
  if (value == NULL || LLVMIsAInstruction(value) == NULL) return NULL;
  return LLVMGetInstructionOpcode(value) == wanted ? LLVMGetOperand(value, 0) : NULL;
}

static bool is_word(const nvptx_writer *w, LLVMValueRef value) {
  return value != NULL && LLVMTypeOf(value) == w->i32;
}

/* The word in the upper half of a value whose lower half is 0. */
static LLVMValueRef upper_word(const nvptx_writer *w, LLVMValueRef value) {
  LLVMValueRef wide = nvptx_operand_of(value, LLVMShl);
  if (wide == NULL) return NULL;
  LLVMValueRef by = LLVMGetOperand(value, 1);
  if (LLVMIsAConstantInt(by) == NULL || LLVMConstIntGetZExtValue(by) != 32) return NULL;
  LLVMValueRef word = nvptx_operand_of(wide, LLVMZExt);
  if (word == NULL) word = nvptx_operand_of(wide, LLVMSExt);
  return is_word(w, word) ? word : NULL;
}

bool nvptx_words(const nvptx_writer *w, LLVMValueRef value, LLVMValueRef words[2]) {
  if (LLVMTypeOf(value) != w->i64 || nvptx_operand_of(value, LLVMOr) == NULL) return false;
  for (unsigned k = 0; k < 2; k++) {
    words[1] = upper_word(w, LLVMGetOperand(value, k));
    words[0] = nvptx_operand_of(LLVMGetOperand(value, 1 - k), LLVMZExt);
    if (words[1] != NULL && is_word(w, words[0])) return true;
  }
  return false;
}

void nvptx_replace(LLVMValueRef old, LLVMValueRef value) {
  LLVMReplaceAllUsesWith(old, value);
  LLVMInstructionEraseFromParent(old);
}

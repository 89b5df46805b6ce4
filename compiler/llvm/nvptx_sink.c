/* Moves stores down, so that a barrier serves many of them.
 *
 * A program reads a cell, writes it, reads the next, writes that: each write would need a barrier of its
 * own between it and the read before. Stores make no values, so within a block each can wait until
 * something may touch its bytes or the block ends; the reads then come first, the writes after them,
 * and one barrier between stands for all. */
#include "access.h"
#include "nvptx.h"

/* Whether `store` may not go below `next`. */
static bool stops(const access_reader *r, const access *store, LLVMValueRef next) {
  access other;
  if (LLVMIsATerminatorInst(next) != NULL) return true;
  switch (access_read(r, next, &other)) {
  case ACCESS_NONE: return false;
  case ACCESS_TRACKED: return access_may_meet(store, &other);
  default: return true;
  }
}

static void sink(const access_reader *r, LLVMBuilderRef builder, LLVMValueRef store) {
  access what;
  if (access_read(r, store, &what) != ACCESS_TRACKED || !what.write) return;
  LLVMValueRef first = LLVMGetNextInstruction(store), next = first;
  while (!stops(r, &what, next)) next = LLVMGetNextInstruction(next);
  if (next == first) return;
  LLVMInstructionRemoveFromParent(store);
  LLVMPositionBuilderBefore(builder, next);
  LLVMInsertIntoBuilder(builder, store);
}

void nvptx_sink(const wb_program *program, LLVMModuleRef module) {
  access_reader r = access_reader_of(module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
  LLVMValueRef function = LLVMGetNamedFunction(module, program->name);
  LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
  for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
    /* from the last one up, so that stores come to rest on those below */
    LLVMValueRef at = LLVMGetLastInstruction(block);
    while (at != NULL) {
      LLVMValueRef before = LLVMGetPreviousInstruction(at);
      sink(&r, builder, at);
      at = before;
    }
  }
  LLVMDisposeBuilder(builder);
}

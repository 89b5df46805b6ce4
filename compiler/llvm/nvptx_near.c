/* An own buffer starts at data + book * stride: a multiplication, made once where the program begins.
 * A thread of a GPU then holds two registers for each buffer from the first op to the last. That is
 * right for the few that a message loop writes at every turn. A program of an environment has twenty,
 * each used in a place or two of a step, and holding them costs more than making them again: so where
 * there are many, each block that uses one makes its own. With the slab in shared memory there are uniform
 * registers enough for them, and this is not done.
 *
 * Keep: the number of the book passes through an empty statement in each such block, or the code
 * generator would find the same sum in two blocks and keep it in between. */
#include "nvptx.h"
#include "nvptx_line.h"

#include <stdbool.h>
#include <stddef.h>

enum {
  FEW = 6,   /* starts that are kept in registers */
  MOST = 64, /* that are looked at */
  CHAIN_MOST = 3
};

/* A start: the pointer and what it is made of, in order; the pointer is the last. */
typedef struct start {
  LLVMValueRef chain[CHAIN_MOST];
  int length;
  LLVMValueRef here; /* made again in the block that is being looked at, or NULL */
} start;

typedef struct nearness {
  nvptx_writer w;
  LLVMValueRef book; /* what all of them multiply */
  start starts[MOST];
  int count;
} nearness;

/* ---- finding ---- */

static bool is_product(LLVMValueRef v) {
  return LLVMIsAInstruction(v) != NULL && LLVMGetInstructionOpcode(v) == LLVMMul &&
         LLVMIsAInstruction(LLVMGetOperand(v, 0)) != NULL &&
         LLVMIsAArgument(LLVMGetOperand(v, 1)) != NULL;
}

static bool is_scaled(LLVMValueRef v) {
  return LLVMIsAInstruction(v) != NULL && LLVMGetInstructionOpcode(v) == LLVMShl &&
         LLVMIsAConstantInt(LLVMGetOperand(v, 1)) != NULL && is_product(LLVMGetOperand(v, 0));
}

/* data + book * stride, or data + (book * stride << elements); not the slab, argument 0. */
static bool read_start(LLVMValueRef pointer, LLVMValueRef slabs, start *s) {
  if (LLVMGetInstructionOpcode(pointer) != LLVMGetElementPtr) return false;
  LLVMValueRef data = LLVMGetOperand(pointer, 0), skip = LLVMGetOperand(pointer, 1);
  if (LLVMIsAArgument(data) == NULL || data == slabs) return false;
  s->length = 0;
  if (is_scaled(skip)) {
    s->chain[s->length++] = LLVMGetOperand(skip, 0);
  } else if (!is_product(skip)) {
    return false;
  }
  s->chain[s->length++] = skip;
  s->chain[s->length++] = pointer;
  return true;
}

static void find_starts(nearness *n, LLVMBasicBlockRef block, LLVMValueRef slabs) {
  for (LLVMValueRef v = LLVMGetFirstInstruction(block); v != NULL; v = LLVMGetNextInstruction(v)) {
    start s = {.here = NULL};
    if (n->count == MOST || !read_start(v, slabs, &s)) continue;
    LLVMValueRef book = LLVMGetOperand(s.chain[0], 0);
    if (n->count > 0 && book != n->book) continue;
    n->book = book;
    n->starts[n->count++] = s;
  }
}

/* ---- making again ---- */

/* The book's number, in a way that the code generator does not see through. */
static LLVMValueRef book_again(nearness *n) {
  return nvptx_line(&n->w, n->w.i64, "mov.b64 $0, $1;", "=l,l", &n->book, 1);
}

static void make_again(nearness *n, start *s, LLVMValueRef before) {
  LLVMPositionBuilderBefore(n->w.builder, before);
  LLVMValueRef made = book_again(n);
  for (int i = 0; i < s->length; i++) {
    LLVMValueRef copy = LLVMInstructionClone(s->chain[i]);
    /* a pointer's index is its second operand */
    LLVMSetOperand(copy, i == s->length - 1 ? 1 : 0, made);
    LLVMInsertIntoBuilder(n->w.builder, copy);
    made = copy;
  }
  s->here = made;
}

static void serve(nearness *n, LLVMValueRef user) {
  int operands = LLVMGetNumOperands(user);
  for (int o = 0; o < operands; o++) {
    LLVMValueRef operand = LLVMGetOperand(user, (unsigned)o);
    for (int i = 0; i < n->count; i++) {
      start *s = &n->starts[i];
      if (operand != s->chain[s->length - 1]) continue;
      if (s->here == NULL) make_again(n, s, user);
      LLVMSetOperand(user, (unsigned)o, s->here);
    }
  }
}

static void serve_block(nearness *n, LLVMBasicBlockRef block) {
  for (int i = 0; i < n->count; i++) n->starts[i].here = NULL;
  for (LLVMValueRef v = LLVMGetFirstInstruction(block); v != NULL; v = LLVMGetNextInstruction(v)) {
    /* a phi takes its value on the way in */
    if (LLVMIsAPHINode(v) == NULL) serve(n, v);
  }
}

void nvptx_near(const wb_program *program, LLVMModuleRef module) {
  LLVMValueRef function = LLVMGetNamedFunction(module, program->name);
  LLVMValueRef slabs = LLVMGetParam(function, 0);
  for (LLVMBasicBlockRef first = LLVMGetFirstBasicBlock(function); first != NULL;
       first = LLVMGetNextBasicBlock(first)) {
    nearness n = {.count = 0};
    find_starts(&n, first, slabs);
    if (n.count <= FEW) continue;
    n.w = nvptx_writer_of(module);
    LLVMBasicBlockRef block = LLVMGetNextBasicBlock(first);
    for (; block != NULL; block = LLVMGetNextBasicBlock(block)) serve_block(&n, block);
    LLVMDisposeBuilder(n.w.builder);
    return;
  }
}

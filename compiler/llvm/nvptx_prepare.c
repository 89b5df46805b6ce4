/* Last changes to the IR before code is generated, which LLVM's passes would undo or do not make.
 *
 *   counts of low zeros   become a count of ones: LLVM would branch around the count of 0, in the middle
 *                         of lanes
 *   two words as one      become one move instead of a shift and an or
 *   shifted indices       are counted in bytes, so that two shifts become one
 *   words of a record     that lie in 16 bytes of a shared buffer that nobody writes become one load */
#include "access.h"
#include "nvptx.h"
#include "nvptx_line.h"

#include <string.h>

enum { WINDOW = 16, WORD = 4, WORDS = WINDOW / WORD, LOADS_MAX = 64 };

typedef struct preparer {
  nvptx_writer w;
  access_reader reader;
  LLVMValueRef function;
  LLVMModuleRef module;
} preparer;

/* ---- counts ---- */

static bool calls(LLVMValueRef instruction, const char *prefix) {
  if (LLVMGetInstructionOpcode(instruction) != LLVMCall) return false;
  LLVMValueRef callee = LLVMGetCalledValue(instruction);
  if (LLVMIsAFunction(callee) == NULL) return false;
  size_t length;
  const char *name = LLVMGetValueName2(callee, &length);
  return length >= strlen(prefix) && memcmp(name, prefix, strlen(prefix)) == 0;
}

/* y if x is ~y */
static LLVMValueRef inverted(LLVMValueRef x) {
  if (LLVMIsAInstruction(x) == NULL || LLVMGetInstructionOpcode(x) != LLVMXor) return NULL;
  LLVMValueRef ones = LLVMGetOperand(x, 1);
  bool all = LLVMIsAConstantInt(ones) != NULL && LLVMConstIntGetSExtValue(ones) == -1;
  return all ? LLVMGetOperand(x, 0) : NULL;
}

/* ~x & (x - 1), the ones where the low zeros were; of x = ~y it is y & ~(y + 1). */
static LLVMValueRef low_zeros(preparer *p, LLVMValueRef x) {
  LLVMValueRef y = inverted(x), one = LLVMConstInt(LLVMTypeOf(x), 1, false);
  if (LLVMTypeOf(x) != p->w.i32) {
    LLVMValueRef below = LLVMBuildSub(p->w.builder, x, one, "");
    return LLVMBuildAnd(p->w.builder, LLVMBuildNot(p->w.builder, x, ""), below, "");
  }
  if (y != NULL) {
    LLVMValueRef above[] = {y, LLVMBuildAdd(p->w.builder, y, one, "")};
    return nvptx_line(&p->w, p->w.i32, "lop3.b32 $0, $1, $2, 0, 0x30;", "=r,r,r", above, 2);
  }
  LLVMValueRef below[] = {x, LLVMBuildSub(p->w.builder, x, one, "")};
  return nvptx_line(&p->w, p->w.i32, "lop3.b32 $0, $1, $2, 0, 0x0c;", "=r,r,r", below, 2);
}

static void count_ones_instead(preparer *p, LLVMValueRef call) {
  static const char name[] = "llvm.ctpop";
  LLVMPositionBuilderBefore(p->w.builder, call);
  LLVMValueRef zeros = low_zeros(p, LLVMGetOperand(call, 0));
  LLVMTypeRef type = LLVMTypeOf(zeros);
  unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
  LLVMValueRef count = LLVMGetIntrinsicDeclaration(p->module, id, &type, 1);
  nvptx_replace(call,
                LLVMBuildCall2(p->w.builder, LLVMGlobalGetValueType(count), count, &zeros, 1, ""));
}

/* ---- two words ---- */

/* A store of two words as what they are: no move is needed. */
static void store_words(preparer *p, LLVMValueRef store, LLVMValueRef low, LLVMValueRef high) {
  LLVMTypeRef pair = LLVMVectorType(p->w.i32, 2);
  LLVMPositionBuilderBefore(p->w.builder, store);
  LLVMValueRef both = LLVMGetPoison(pair);
  both = LLVMBuildInsertElement(p->w.builder, both, low, LLVMConstInt(p->w.i32, 0, false), "");
  both = LLVMBuildInsertElement(p->w.builder, both, high, LLVMConstInt(p->w.i32, 1, false), "");
  LLVMValueRef stored = LLVMBuildStore(p->w.builder, both, LLVMGetOperand(store, 1));
  LLVMSetAlignment(stored, LLVMGetAlignment(store));
  LLVMSetMetadata(stored, p->reader.scope_kind, LLVMGetMetadata(store, p->reader.scope_kind));
  LLVMInstructionEraseFromParent(store);
}

/* Stores of `whole` become stores of its words. */
static void split_stores(preparer *p, LLVMValueRef whole, LLVMValueRef low, LLVMValueRef high) {
  for (LLVMUseRef use = LLVMGetFirstUse(whole), next; use != NULL; use = next) {
    next = LLVMGetNextUse(use);
    LLVMValueRef user = LLVMGetUser(use);
    bool stores = LLVMIsAStoreInst(user) != NULL && LLVMGetOperand(user, 0) == whole;
    if (stores && LLVMGetAlignment(user) >= 8) store_words(p, user, low, high);
  }
}

static bool join_words(preparer *p, LLVMValueRef either) {
  LLVMValueRef words[2];
  if (!nvptx_words(&p->w, either, words)) return false;
  split_stores(p, either, words[0], words[1]);
  LLVMPositionBuilderBefore(p->w.builder, either);
  if (LLVMGetFirstUse(either) == NULL) return false; /* goes with what is never used */
  nvptx_replace(either, nvptx_line(&p->w, p->w.i64, "mov.b64 $0, {$1, $2};", "=l,r,r", words, 2));
  return true;
}

/* ---- indices ---- */

/* base + (x << c) + k elements becomes base + (x << d) + l bytes. */
static void count_bytes(preparer *p, LLVMValueRef step) {
  if (LLVMGetNumIndices(step) != 1) return;
  int64_t constant;
  LLVMValueRef pointer = LLVMGetOperand(step, 0);
  LLVMValueRef index = access_split_index(&p->reader, pointer, LLVMGetOperand(step, 1), &constant);
  LLVMValueRef x = nvptx_operand_of(index, LLVMShl),
               by = x != NULL ? LLVMGetOperand(index, 1) : NULL;
  uint64_t bytes = LLVMABISizeOfType(p->reader.layout, LLVMGetGEPSourceElementType(step));
  if (by == NULL || LLVMIsAConstantInt(by) == NULL || (bytes & (bytes - 1)) != 0) return;
  if (bytes == 1 && constant == 0) return;
  uint64_t shift = LLVMConstIntGetZExtValue(by);
  for (uint64_t size = bytes; size > 1; size /= 2) shift++;
  LLVMPositionBuilderBefore(p->w.builder, step);
  LLVMTypeRef byte = LLVMInt8TypeInContext(p->w.context);
  LLVMValueRef at = LLVMBuildShl(p->w.builder, x, LLVMConstInt(LLVMTypeOf(x), shift, false), "");
  pointer = LLVMBuildGEP2(p->w.builder, byte, pointer, &at, 1, "");
  at = LLVMConstInt(p->w.i64, (uint64_t)constant * bytes, true);
  if (constant != 0) pointer = LLVMBuildGEP2(p->w.builder, byte, pointer, &at, 1, "");
  nvptx_replace(step, pointer);
}

/* ---- records ---- */

/* A load of memory that nobody writes, in a buffer whose start is aligned. */
static bool is_fixed(const preparer *p, LLVMValueRef load, access *a) {
  if (LLVMGetInstructionOpcode(load) != LLVMLoad) return false;
  if (LLVMGetMetadata(load, p->reader.invariant_kind) == NULL) return false;
  access_split(&p->reader, LLVMGetOperand(load, 0), a);
  return a->offset >= 0 && a->offset % WORD == 0 && access_is_aligned(&p->reader, a, WINDOW);
}

static bool is_fixed_word(const preparer *p, LLVMValueRef load, access *a) {
  return LLVMTypeOf(load) == p->w.i32 && is_fixed(p, load, a);
}

static bool same_record(const access *a, const access *b) {
  return a->base == b->base && a->index == b->index && a->scale == b->scale;
}

/* The only block that leads to `block`; NULL if there are none or several. */
static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef block) {
  LLVMBasicBlockRef found = NULL;
  LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
  for (; use != NULL; use = LLVMGetNextUse(use)) {
    LLVMValueRef user = LLVMGetUser(use);
    if (LLVMIsATerminatorInst(user) == NULL) continue;
    LLVMBasicBlockRef from = LLVMGetInstructionParent(user);
    if (found != NULL && from != found) return NULL;
    found = from;
  }
  return found;
}

/* Whether every way to `block` goes through `first`, as far as single predecessors tell. */
static bool leads_to(LLVMBasicBlockRef first, LLVMBasicBlockRef block) {
  for (int steps = 0; block != NULL && steps < 16; steps++) {
    if (block == first) return true;
    block = only_predecessor(block);
  }
  return false;
}

typedef struct record {
  LLVMValueRef loads[LOADS_MAX]; /* words; those of the first one's block, in their order, first */
  access at[LOADS_MAX];
  int32_t count;
  int64_t end; /* bytes behind the last word that is surely read */
} record;

/* All words of the first load's record. */
static void collect(const preparer *p, LLVMValueRef first, const access *at, record *words) {
  LLVMBasicBlockRef home = LLVMGetInstructionParent(first);
  words->count = 0;
  words->end = 0;
  for (int own = 1; own >= 0; own--) {
    LLVMBasicBlockRef block = own ? home : LLVMGetFirstBasicBlock(p->function);
    for (; block != NULL; block = own ? NULL : LLVMGetNextBasicBlock(block)) {
      if (!own && (block == home || !leads_to(home, block))) continue;
      LLVMValueRef i = LLVMGetFirstInstruction(block);
      for (; i != NULL && words->count < LOADS_MAX; i = LLVMGetNextInstruction(i)) {
        access other;
        if (!is_fixed(p, i, &other) || !same_record(at, &other)) continue;
        int64_t end = other.offset + (int64_t)LLVMStoreSizeOfType(p->reader.layout, LLVMTypeOf(i));
        if (own && end > words->end) words->end = end;
        if (LLVMTypeOf(i) != p->w.i32) continue;
        words->loads[words->count] = i;
        words->at[words->count++] = other;
      }
    }
  }
}

/* Reads the window of `first` in one load, if that saves any and reads nothing behind the record. */
static bool widen(preparer *p, LLVMValueRef first) {
  access at;
  record words;
  if (!is_fixed_word(p, first, &at)) return false;
  collect(p, first, &at, &words);
  int64_t window = at.offset / WINDOW * WINDOW;
  int32_t inside = 0;
  for (int32_t i = 0; i < words.count; i++)
    inside += words.at[i].offset / WINDOW * WINDOW == window;
  if (inside < 2 || window + WINDOW > words.end) return false;
  LLVMPositionBuilderBefore(p->w.builder, first);
  LLVMValueRef back = LLVMConstInt(p->w.i64, (unsigned long long)(window - at.offset), true);
  LLVMTypeRef byte = LLVMInt8TypeInContext(p->w.context), row = LLVMVectorType(p->w.i32, WORDS);
  LLVMValueRef pointer = LLVMBuildGEP2(p->w.builder, byte, LLVMGetOperand(first, 0), &back, 1, "");
  LLVMValueRef all = LLVMBuildLoad2(p->w.builder, row, pointer, "");
  LLVMSetAlignment(all, WINDOW);
  LLVMSetMetadata(all, p->reader.invariant_kind, LLVMGetMetadata(first, p->reader.invariant_kind));
  LLVMValueRef word[WORDS];
  for (int k = 0; k < WORDS; k++) {
    LLVMValueRef lane = LLVMConstInt(p->w.i32, (unsigned)k, false);
    word[k] = LLVMBuildExtractElement(p->w.builder, all, lane, "");
  }
  for (int32_t i = 0; i < words.count; i++) {
    if (words.at[i].offset / WINDOW * WINDOW != window) continue;
    nvptx_replace(words.loads[i], word[(words.at[i].offset - window) / WORD]);
  }
  return true;
}

/* Replaced loads may stand behind `first`, so the block is begun anew after each success. */
static void widen_all(preparer *p, LLVMBasicBlockRef block) {
  LLVMValueRef i = LLVMGetFirstInstruction(block);
  while (i != NULL) {
    i = widen(p, i) ? LLVMGetFirstInstruction(block) : LLVMGetNextInstruction(i);
  }
}

/* ---- all of it ---- */

static void prepare(preparer *p, LLVMBasicBlockRef block) {
  for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i != NULL; i = next) {
    next = LLVMGetNextInstruction(i);
    if (calls(i, "llvm.cttz.")) {
      count_ones_instead(p, i);
    } else if (LLVMGetInstructionOpcode(i) == LLVMOr) {
      (void)join_words(p, i);
    } else if (LLVMGetInstructionOpcode(i) == LLVMGetElementPtr) {
      count_bytes(p, i);
    }
  }
}

void nvptx_prepare(const wb_program *program, LLVMModuleRef module) {
  preparer p = {.w = nvptx_writer_of(module),
                .reader = access_reader_of(module),
                .function = LLVMGetNamedFunction(module, program->name),
                .module = module};
  LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(p.function);
  for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
    widen_all(&p, block);
    prepare(&p, block);
  }
  LLVMDisposeBuilder(p.w.builder);
}

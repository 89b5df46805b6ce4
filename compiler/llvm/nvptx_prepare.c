/* Last changes to the IR before code is generated, which LLVM's passes would undo or do not make.
 *
 *   counts of low zeros   become a count of ones: LLVM would branch around the count of 0, in the middle
 *                         of lanes
 *   two words as one      become one move instead of a shift and an or
 *   shifted indices       are counted in bytes, so that two shifts become one
 *   words of a record     that lie in 16 bytes of a shared buffer that nobody writes become one load */
#include "access.h"
#include "nvptx.h"

#include <string.h>

enum { WINDOW = 16, WORD = 4, WORDS = WINDOW / WORD, LOADS_MAX = 64 };

typedef struct preparer {
  access_reader reader;
  LLVMContextRef context;
  LLVMValueRef function;
  LLVMBuilderRef builder;
  LLVMModuleRef module;
  LLVMTypeRef i32, i64;
} preparer;

static void replace(LLVMValueRef old, LLVMValueRef value) {
  LLVMReplaceAllUsesWith(old, value);
  LLVMInstructionEraseFromParent(old);
}

/* An instruction that only computes, written in PTX. */
static LLVMValueRef assembly(preparer *p, LLVMTypeRef result, const char *text,
                             const char *constraints, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef types[] = {LLVMTypeOf(a), LLVMTypeOf(b)};
  LLVMTypeRef function = LLVMFunctionType(result, types, 2, false);
  LLVMValueRef line = LLVMGetInlineAsm(function, (char *)(uintptr_t)text, strlen(text),
                                       (char *)(uintptr_t)constraints, strlen(constraints), false,
                                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef operands[] = {a, b};
  LLVMValueRef call = LLVMBuildCall2(p->builder, function, line, operands, 2, "");
  unsigned kind = LLVMGetEnumAttributeKindForName("memory", strlen("memory"));
  LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(p->context, kind, 0));
  return call;
}

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
  if (LLVMTypeOf(x) != p->i32) {
    LLVMValueRef below = LLVMBuildSub(p->builder, x, one, "");
    return LLVMBuildAnd(p->builder, LLVMBuildNot(p->builder, x, ""), below, "");
  }
  if (y != NULL) {
    return assembly(p, p->i32, "lop3.b32 $0, $1, $2, 0, 0x30;", "=r,r,r", y,
                    LLVMBuildAdd(p->builder, y, one, ""));
  }
  return assembly(p, p->i32, "lop3.b32 $0, $1, $2, 0, 0x0c;", "=r,r,r", x,
                  LLVMBuildSub(p->builder, x, one, ""));
}

static void count_ones_instead(preparer *p, LLVMValueRef call) {
  static const char name[] = "llvm.ctpop";
  LLVMPositionBuilderBefore(p->builder, call);
  LLVMValueRef zeros = low_zeros(p, LLVMGetOperand(call, 0));
  LLVMTypeRef type = LLVMTypeOf(zeros);
  unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
  LLVMValueRef count = LLVMGetIntrinsicDeclaration(p->module, id, &type, 1);
  replace(call, LLVMBuildCall2(p->builder, LLVMGlobalGetValueType(count), count, &zeros, 1, ""));
}

/* ---- two words ---- */

static LLVMValueRef operand_of(LLVMValueRef value, LLVMOpcode wanted) {
  if (value == NULL || LLVMIsAInstruction(value) == NULL) return NULL;
  return LLVMGetInstructionOpcode(value) == wanted ? LLVMGetOperand(value, 0) : NULL;
}

static bool is_word(const preparer *p, LLVMValueRef value) {
  return value != NULL && LLVMTypeOf(value) == p->i32;
}

/* The word in the upper half of a value whose lower half is 0. */
static LLVMValueRef upper_word(const preparer *p, LLVMValueRef value) {
  LLVMValueRef wide = operand_of(value, LLVMShl);
  if (wide == NULL) return NULL;
  LLVMValueRef by = LLVMGetOperand(value, 1);
  if (LLVMIsAConstantInt(by) == NULL || LLVMConstIntGetZExtValue(by) != 32) return NULL;
  LLVMValueRef word = operand_of(wide, LLVMZExt);
  if (word == NULL) word = operand_of(wide, LLVMSExt);
  return is_word(p, word) ? word : NULL;
}

/* A store of two words as what they are: no move is needed. */
static void store_words(preparer *p, LLVMValueRef store, LLVMValueRef low, LLVMValueRef high) {
  LLVMTypeRef pair = LLVMVectorType(p->i32, 2);
  LLVMPositionBuilderBefore(p->builder, store);
  LLVMValueRef both = LLVMGetPoison(pair);
  both = LLVMBuildInsertElement(p->builder, both, low, LLVMConstInt(p->i32, 0, false), "");
  both = LLVMBuildInsertElement(p->builder, both, high, LLVMConstInt(p->i32, 1, false), "");
  LLVMValueRef stored = LLVMBuildStore(p->builder, both, LLVMGetOperand(store, 1));
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
  if (LLVMTypeOf(either) != p->i64) return false;
  for (unsigned k = 0; k < 2; k++) {
    LLVMValueRef high = upper_word(p, LLVMGetOperand(either, k));
    LLVMValueRef low = operand_of(LLVMGetOperand(either, 1 - k), LLVMZExt);
    if (high == NULL || !is_word(p, low)) continue;
    split_stores(p, either, low, high);
    LLVMPositionBuilderBefore(p->builder, either);
    if (LLVMGetFirstUse(either) == NULL) return false; /* goes with what is never used */
    replace(either, assembly(p, p->i64, "mov.b64 $0, {$1, $2};", "=l,r,r", low, high));
    return true;
  }
  return false;
}

/* ---- indices ---- */

/* base + (x << c) + k elements becomes base + (x << d) + l bytes. */
static void count_bytes(preparer *p, LLVMValueRef step) {
  if (LLVMGetNumIndices(step) != 1) return;
  int64_t constant;
  LLVMValueRef pointer = LLVMGetOperand(step, 0);
  LLVMValueRef index = access_split_index(&p->reader, pointer, LLVMGetOperand(step, 1), &constant);
  LLVMValueRef x = operand_of(index, LLVMShl), by = x != NULL ? LLVMGetOperand(index, 1) : NULL;
  uint64_t bytes = LLVMABISizeOfType(p->reader.layout, LLVMGetGEPSourceElementType(step));
  if (by == NULL || LLVMIsAConstantInt(by) == NULL || (bytes & (bytes - 1)) != 0) return;
  if (bytes == 1 && constant == 0) return;
  uint64_t shift = LLVMConstIntGetZExtValue(by);
  for (uint64_t size = bytes; size > 1; size /= 2) shift++;
  LLVMPositionBuilderBefore(p->builder, step);
  LLVMTypeRef byte = LLVMInt8TypeInContext(p->context);
  LLVMValueRef at = LLVMBuildShl(p->builder, x, LLVMConstInt(LLVMTypeOf(x), shift, false), "");
  pointer = LLVMBuildGEP2(p->builder, byte, pointer, &at, 1, "");
  at = LLVMConstInt(p->i64, (uint64_t)constant * bytes, true);
  if (constant != 0) pointer = LLVMBuildGEP2(p->builder, byte, pointer, &at, 1, "");
  replace(step, pointer);
}

/* ---- records ---- */

/* Zero bits at the end of an index for certain. */
static unsigned zeros_of(LLVMValueRef index, int depth) {
  if (index == NULL) return 64;
  if (depth == 0 || LLVMIsAInstruction(index) == NULL) return 0;
  LLVMOpcode code = LLVMGetInstructionOpcode(index);
  if (code == LLVMSExt || code == LLVMZExt) return zeros_of(LLVMGetOperand(index, 0), depth - 1);
  if (code != LLVMShl) return 0;
  LLVMValueRef by = LLVMGetOperand(index, 1);
  return LLVMIsAConstantInt(by) != NULL ? (unsigned)LLVMConstIntGetZExtValue(by) : 0;
}

/* Whether base and index are multiples of a window from the start of a buffer. */
static bool is_aligned(const preparer *p, const access *a, int depth) {
  unsigned zeros = zeros_of(a->index, 4);
  if (zeros < 4 && a->scale % (1 << (4 - zeros)) != 0) return false;
  if (LLVMIsAArgument(a->base) != NULL) return true;
  access before;
  access_split(&p->reader, a->base, &before);
  return depth > 0 && before.base != a->base && before.offset % WINDOW == 0 &&
         is_aligned(p, &before, depth - 1);
}

/* A load of memory that nobody writes, in a buffer whose start is aligned. */
static bool is_fixed(const preparer *p, LLVMValueRef load, access *a) {
  if (LLVMGetInstructionOpcode(load) != LLVMLoad) return false;
  if (LLVMGetMetadata(load, p->reader.invariant_kind) == NULL) return false;
  access_split(&p->reader, LLVMGetOperand(load, 0), a);
  return a->offset >= 0 && a->offset % WORD == 0 && is_aligned(p, a, 4);
}

static bool is_fixed_word(const preparer *p, LLVMValueRef load, access *a) {
  return LLVMTypeOf(load) == p->i32 && is_fixed(p, load, a);
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
        if (LLVMTypeOf(i) != p->i32) continue;
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
  LLVMPositionBuilderBefore(p->builder, first);
  LLVMValueRef back = LLVMConstInt(p->i64, (unsigned long long)(window - at.offset), true);
  LLVMTypeRef byte = LLVMInt8TypeInContext(p->context), row = LLVMVectorType(p->i32, WORDS);
  LLVMValueRef pointer = LLVMBuildGEP2(p->builder, byte, LLVMGetOperand(first, 0), &back, 1, "");
  LLVMValueRef all = LLVMBuildLoad2(p->builder, row, pointer, "");
  LLVMSetAlignment(all, WINDOW);
  LLVMSetMetadata(all, p->reader.invariant_kind, LLVMGetMetadata(first, p->reader.invariant_kind));
  LLVMValueRef word[WORDS];
  for (int k = 0; k < WORDS; k++) {
    LLVMValueRef lane = LLVMConstInt(p->i32, (unsigned)k, false);
    word[k] = LLVMBuildExtractElement(p->builder, all, lane, "");
  }
  for (int32_t i = 0; i < words.count; i++) {
    if (words.at[i].offset / WINDOW * WINDOW != window) continue;
    replace(words.loads[i], word[(words.at[i].offset - window) / WORD]);
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
  LLVMContextRef context = LLVMGetModuleContext(module);
  preparer p = {.reader = access_reader_of(module),
                .context = context,
                .function = LLVMGetNamedFunction(module, program->name),
                .builder = LLVMCreateBuilderInContext(context),
                .module = module,
                .i32 = LLVMInt32TypeInContext(context),
                .i64 = LLVMInt64TypeInContext(context)};
  LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(p.function);
  for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
    widen_all(&p, block);
    prepare(&p, block);
  }
  LLVMDisposeBuilder(p.builder);
}

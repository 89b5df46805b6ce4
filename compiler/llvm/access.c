/* Reading accesses back from LLVM's instructions, after its passes have been over them.
 *
 * The alias scopes that emit_mark gave an access tell its object and its pattern; LLVM keeps both, or
 * their union, when it merges accesses. What is not known is taken to be anything. */
#include "access.h"

#include <llvm/Config/llvm-config.h>

#include <stdlib.h>
#include <string.h>

static const char *string_of(LLVMValueRef node, unsigned *length) {
  *length = 0;
  if (LLVMGetMDNodeNumOperands(node) < 2) return "";
  LLVMValueRef parts[8];
  if (LLVMGetMDNodeNumOperands(node) > 8) return "";
  LLVMGetMDNodeOperands(node, parts);
  const char *text = LLVMGetMDString(parts[0], length);
  return text != NULL ? text : "";
}

static int pattern_of(const char *text, unsigned length) {
  static const char *const names[EMIT_PATTERNS] = {"uniform", "lanes", "row1",
                                                   "row2",    "row4",  "row8"};
  for (int k = 0; k < EMIT_PATTERNS; k++) {
    if (strlen(names[k]) == length && memcmp(names[k], text, length) == 0) return k;
  }
  return -1;
}

/* Reads object and pattern from the scopes; several of either are taken as anything. False for a copy
 * of the slab. */
static bool read_scopes(const access_reader *r, LLVMValueRef instruction, access *a) {
  enum { SCOPES_MAX = 64 };
  a->object = ACCESS_ANY_OBJECT;
  a->pattern = EMIT_LANES;
  LLVMValueRef list = LLVMGetMetadata(instruction, r->scope_kind);
  if (list == NULL || LLVMGetMDNodeNumOperands(list) > SCOPES_MAX) return true;
  LLVMValueRef scopes[SCOPES_MAX];
  unsigned count = LLVMGetMDNodeNumOperands(list);
  LLVMGetMDNodeOperands(list, scopes);
  int objects = 0, patterns = 0;
  for (unsigned i = 0; i < count; i++) {
    unsigned length;
    const char *text = string_of(scopes[i], &length);
    int pattern = pattern_of(text, length);
    if (length == 4 && memcmp(text, "copy", 4) == 0) return false;
    if (pattern >= 0) {
      a->pattern = (uint8_t)pattern;
      patterns++;
    } else if (length > 7 && memcmp(text, "object ", 7) == 0) {
      a->object = (int32_t)strtol(text + 7, NULL, 10);
      objects++;
    }
  }
  if (objects != 1) a->object = ACCESS_ANY_OBJECT;
  if (patterns != 1) a->pattern = EMIT_LANES;
  return true;
}

/* An "or" that is known to be a sum. */
static bool is_sum(LLVMValueRef operation) {
#if LLVM_VERSION_MAJOR >= 18
  return LLVMGetIsDisjoint(operation);
#else
  (void)operation;
  return false;
#endif
}

LLVMValueRef access_split_index(const access_reader *r, LLVMValueRef pointer, LLVMValueRef index,
                                int64_t *constant) {
  unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
  unsigned bits = 8 * LLVMPointerSizeForAS(r->layout, space);
  LLVMOpcode code = LLVMIsAInstruction(index) ? LLVMGetInstructionOpcode(index) : 0;
  *constant = 0;
  bool adds = code == LLVMAdd || (code == LLVMOr && is_sum(index));
  if (!adds || LLVMGetIntTypeWidth(LLVMTypeOf(index)) < bits) return index;
  LLVMValueRef second = LLVMGetOperand(index, 1);
  if (LLVMIsAConstantInt(second) == NULL) return index;
  *constant = LLVMConstIntGetSExtValue(second);
  return LLVMGetOperand(index, 0);
}

/* What an index of 32 bits was extended from, without a constant that cannot have made it wrap. */
static LLVMValueRef split_extended(LLVMValueRef index, int64_t *constant) {
  if (LLVMIsAZExtInst(index) == NULL) return index;
  LLVMValueRef word = LLVMGetOperand(index, 0);
  if (LLVMIsAInstruction(word) == NULL || LLVMGetInstructionOpcode(word) != LLVMOr) return word;
  LLVMValueRef second = LLVMGetOperand(word, 1);
  if (!is_sum(word) || LLVMIsAConstantInt(second) == NULL) return word;
  *constant += (int64_t)LLVMConstIntGetZExtValue(second);
  return LLVMGetOperand(word, 0);
}

/* sum + size * count, wrapping as addresses do: an index that no memory has may stand there. */
static int64_t add_scaled(int64_t sum, int64_t size, int64_t count) {
  return (int64_t)((uint64_t)sum + (uint64_t)size * (uint64_t)count);
}

/* At most one index is taken; what stands before it is the base. */
void access_split(const access_reader *r, LLVMValueRef pointer, access *a) {
  a->index = NULL;
  a->scale = a->offset = 0;
  for (;; pointer = LLVMGetOperand(pointer, 0)) {
    bool is_step =
        LLVMIsAGetElementPtrInst(pointer) != NULL ||
        (LLVMIsAConstantExpr(pointer) != NULL && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr);
    if (!is_step || LLVMGetNumIndices(pointer) != 1) break;
    LLVMValueRef index = LLVMGetOperand(pointer, 1);
    int64_t size = (int64_t)LLVMABISizeOfType(r->layout, LLVMGetGEPSourceElementType(pointer));
    if (LLVMIsAConstantInt(index) != NULL) {
      a->offset = add_scaled(a->offset, size, LLVMConstIntGetSExtValue(index));
      continue;
    }
    if (a->index != NULL) break;
    int64_t constant;
    a->index = split_extended(access_split_index(r, pointer, index, &constant), &constant);
    a->scale = size;
    a->offset = add_scaled(a->offset, size, constant);
  }
  a->base = pointer;
}

static void set_place(const access_reader *r, access *a, LLVMValueRef pointer, LLVMTypeRef type) {
  if (a->pattern == EMIT_LANES || a->object == ACCESS_ANY_OBJECT) return;
  access_split(r, pointer, a);
  a->bytes = (int64_t)LLVMStoreSizeOfType(r->layout, type);
}

void access_forget_place(access *a) {
  a->base = a->index = NULL;
  a->scale = a->offset = a->bytes = 0;
}

static bool is_warp_barrier(LLVMValueRef call) {
  LLVMValueRef callee = LLVMGetCalledValue(call);
  size_t length;
  if (callee == NULL || LLVMIsAFunction(callee) == NULL) return false;
  const char *name = LLVMGetValueName2(callee, &length);
  static const char wanted[] = "llvm.nvvm.bar.warp.sync";
  return length == sizeof wanted - 1 && memcmp(name, wanted, length) == 0;
}

static access_kind read_call(const access_reader *r, LLVMValueRef call, access *a) {
  if (is_warp_barrier(call)) return ACCESS_BARRIER;
  /* assembly that touches memory carries scopes; of intrinsics only collectives are left */
  if (LLVMGetMetadata(call, r->scope_kind) == NULL) {
    bool assembly = LLVMIsAInlineAsm(LLVMGetCalledValue(call)) != NULL;
    bool makes_value = LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMVoidTypeKind;
    return assembly && !makes_value ? ACCESS_OPAQUE : ACCESS_NONE;
  }
  if (!read_scopes(r, call, a)) return ACCESS_OPAQUE;
  a->write = LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMVoidTypeKind;
  return ACCESS_TRACKED;
}

access_kind access_read(const access_reader *r, LLVMValueRef instruction, access *a) {
  LLVMOpcode code = LLVMGetInstructionOpcode(instruction);
  *a = (access){0};
  if (code == LLVMCall) return read_call(r, instruction, a);
  if (code == LLVMAtomicCmpXchg || code == LLVMAtomicRMW || code == LLVMFence) return ACCESS_OPAQUE;
  if (code != LLVMLoad && code != LLVMStore) return ACCESS_NONE;
  if (LLVMGetMetadata(instruction, r->invariant_kind) != NULL) return ACCESS_NONE;
  if (!read_scopes(r, instruction, a)) return ACCESS_OPAQUE;
  a->write = code == LLVMStore;
  LLVMValueRef pointer = LLVMGetOperand(instruction, a->write ? 1 : 0);
  set_place(r, a, pointer, LLVMTypeOf(a->write ? LLVMGetOperand(instruction, 0) : instruction));
  return ACCESS_TRACKED;
}

access_reader access_reader_of(LLVMModuleRef module) {
  LLVMContextRef context = LLVMGetModuleContext(module);
  return (access_reader){.layout = LLVMGetModuleDataLayout(module),
                         .scope_kind = LLVMGetMDKindIDInContext(context, "alias.scope", 11),
                         .apart_kind = LLVMGetMDKindIDInContext(context, "noalias", 7),
                         .invariant_kind = LLVMGetMDKindIDInContext(context, "invariant.load", 14)};
}

/* ---- alignment ---- */

enum { LOOKS = 6 /* how far back */, ZEROS_ENOUGH = 6, SLAB_STRIDE = 1 /* parameter, program.h */ };

/* Zero bits at the end of a number for certain. */
static unsigned zeros_of(LLVMValueRef value, int looks) {
  if (LLVMIsAConstantInt(value) != NULL) {
    uint64_t constant = LLVMConstIntGetZExtValue(value);
    return constant == 0 ? ZEROS_ENOUGH : (unsigned)__builtin_ctzll(constant);
  }
  if (LLVMIsAArgument(value) != NULL) {
    bool stride = LLVMGetParam(LLVMGetParamParent(value), SLAB_STRIDE) == value;
    return stride ? (unsigned)__builtin_ctz(WB_SLAB_ALIGNMENT) : 0;
  }
  if (looks == 0 || LLVMIsAInstruction(value) == NULL) return 0;
  LLVMValueRef x = LLVMGetOperand(value, 0);
  switch (LLVMGetInstructionOpcode(value)) {
  case LLVMSExt:
  case LLVMZExt: return zeros_of(x, looks - 1);
  case LLVMMul: return zeros_of(x, looks - 1) + zeros_of(LLVMGetOperand(value, 1), looks - 1);
  case LLVMAnd: {
    unsigned a = zeros_of(x, looks - 1), b = zeros_of(LLVMGetOperand(value, 1), looks - 1);
    return a > b ? a : b;
  }
  case LLVMShl: {
    LLVMValueRef by = LLVMGetOperand(value, 1);
    bool fixed = LLVMIsAConstantInt(by) != NULL;
    return zeros_of(x, looks - 1) + (fixed ? (unsigned)LLVMConstIntGetZExtValue(by) : 0);
  }
  default: return 0;
  }
}

/* What a launch promises of the starts of memory: see program.h. */
static bool is_start(LLVMValueRef base) {
  return LLVMIsAArgument(base) != NULL || LLVMIsAGlobalVariable(base) != NULL;
}

static bool looks_aligned(const access_reader *r, const access *a, unsigned bytes, int looks) {
  unsigned wanted = (unsigned)__builtin_ctz(bytes);
  if (a->index != NULL) {
    unsigned zeros = zeros_of(a->index, LOOKS);
    unsigned of_scale =
        a->scale == 0 ? ZEROS_ENOUGH : (unsigned)__builtin_ctzll((uint64_t)a->scale);
    if (zeros + of_scale < wanted) return false;
  }
  if (is_start(a->base)) return true;
  access before;
  access_split(r, a->base, &before);
  return looks > 0 && before.base != a->base && before.offset % bytes == 0 &&
         looks_aligned(r, &before, bytes, looks - 1);
}

bool access_is_aligned(const access_reader *r, const access *a, unsigned bytes) {
  return looks_aligned(r, a, bytes, LOOKS);
}

/* ---- pairs ---- */

static bool overlap(const access *a, const access *b) {
  if (a->base == NULL || a->base != b->base) return true;
  if (a->index != b->index || a->scale != b->scale) return true;
  return a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes;
}

bool access_may_meet(const access *a, const access *b) {
  if (a->object == ACCESS_ANY_OBJECT || b->object == ACCESS_ANY_OBJECT) return true;
  return a->object == b->object && overlap(a, b);
}

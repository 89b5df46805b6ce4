/* Neighbouring loads, or stores, of all lanes become one of 16 or 8 bytes.
 *
 * LLVM would do it too if it knew that slabs and rings lie on such boundaries, which the rules of a
 * launch promise (program.h). Loads move up to the first of their group, stores down to the last, never
 * past anything that may touch their bytes; a group must fill its window, so that nothing else is read or
 * written. */
#include "access.h"
#include "nvptx.h"
#include "nvptx_line.h"

enum { WORD = 4, WINDOW = 16, PARTS_MAX = WINDOW / WORD };

typedef struct merger {
  nvptx_writer w;
  access_reader reader;
} merger;

/* Accesses of one window; at[i] is where in it parts[i] lies. */
typedef struct group {
  LLVMValueRef parts[PARTS_MAX];
  int64_t at[PARTS_MAX];
  int32_t count;
  int64_t start, bytes; /* the window: from `start` bytes on, as offsets of its accesses count */
  int64_t size;         /* of one part */
  access first;
} group;

static bool same_base(const access *a, const access *b) {
  return a->object == b->object && a->base == b->base && a->index == b->index &&
         a->scale == b->scale;
}

static LLVMTypeRef type_of(LLVMValueRef instruction, bool stores) {
  return LLVMTypeOf(stores ? LLVMGetOperand(instruction, 0) : instruction);
}

/* A load or a store of one word by all lanes at a known place. */
static bool is_part(const merger *m, LLVMValueRef instruction, bool stores, access *a) {
  LLVMOpcode code = LLVMGetInstructionOpcode(instruction);
  if (code != (stores ? LLVMStore : LLVMLoad)) return false;
  if (LLVMGetTypeKind(type_of(instruction, stores)) != LLVMIntegerTypeKind) return false;
  if (access_read(&m->reader, instruction, a) != ACCESS_TRACKED) return false;
  return a->pattern == EMIT_UNIFORM && a->base != NULL &&
         (a->bytes == WORD || a->bytes == 2 * WORD) && a->offset >= 0;
}

/* Whether what the group spans must not move past `other`. */
static bool stops(const merger *m, const group *g, bool stores, LLVMValueRef other) {
  access a, window = g->first;
  switch (access_read(&m->reader, other, &a)) {
  case ACCESS_NONE: return LLVMIsATerminatorInst(other) != NULL;
  case ACCESS_TRACKED: break;
  default: return true;
  }
  if (!stores && !a.write) return false;
  window.offset = g->start;
  window.bytes = g->bytes;
  return access_may_meet(&window, &a);
}

static bool is_full(const group *g) { return g->count * g->size == g->bytes; }

/* Gathers the window of `first`, whose neighbours come behind it. */
static bool gather(const merger *m, LLVMValueRef first, bool stores, int64_t window, group *g) {
  *g = (group){.bytes = window};
  if (!is_part(m, first, stores, &g->first)) return false;
  g->size = g->first.bytes;
  g->start = g->first.offset / window * window;
  if (!access_is_aligned(&m->reader, &g->first, (unsigned)window)) return false;
  g->parts[g->count] = first;
  g->at[g->count++] = g->first.offset - g->start;
  for (LLVMValueRef i = LLVMGetNextInstruction(first); i != NULL && !is_full(g);
       i = LLVMGetNextInstruction(i)) {
    access a;
    bool part = is_part(m, i, stores, &a) && same_base(&a, &g->first) && a.bytes == g->size &&
                a.offset / window * window == g->start;
    for (int32_t k = 0; part && k < g->count; k++) part = g->at[k] != a.offset - g->start;
    if (part) {
      g->parts[g->count] = i;
      g->at[g->count++] = a.offset - g->start;
    } else if (stops(m, g, stores, i)) {
      return false;
    }
  }
  return is_full(g);
}

/* ---- replacing ---- */

static LLVMValueRef window_pointer(merger *m, LLVMValueRef part, int64_t at, bool stores) {
  LLVMValueRef pointer = LLVMGetOperand(part, stores ? 1 : 0);
  LLVMValueRef back = LLVMConstInt(m->w.i64, (uint64_t)-at, true);
  if (at == 0) return pointer;
  return LLVMBuildGEP2(m->w.builder, LLVMInt8TypeInContext(m->w.context), pointer, &back, 1, "");
}

static void mark(merger *m, LLVMValueRef whole, LLVMValueRef part, int64_t window) {
  LLVMSetAlignment(whole, (unsigned)window);
  const unsigned kinds[] = {m->reader.scope_kind, m->reader.apart_kind};
  for (int k = 0; k < 2; k++) {
    LLVMValueRef data = LLVMGetMetadata(part, kinds[k]);
    if (data != NULL) LLVMSetMetadata(whole, kinds[k], data);
  }
}

static LLVMValueRef number(merger *m, int64_t value) {
  return LLVMConstInt(m->w.i32, (uint64_t)value, false);
}

static void merge_loads(merger *m, const group *g) {
  LLVMValueRef first = g->parts[0];
  LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(first), (unsigned)(g->bytes / g->size));
  LLVMPositionBuilderBefore(m->w.builder, first);
  LLVMValueRef whole =
      LLVMBuildLoad2(m->w.builder, type, window_pointer(m, first, g->at[0], false), "");
  mark(m, whole, first, g->bytes);
  for (int32_t i = 0; i < g->count; i++) {
    LLVMValueRef lane = number(m, g->at[i] / g->size);
    LLVMReplaceAllUsesWith(g->parts[i], LLVMBuildExtractElement(m->w.builder, whole, lane, ""));
  }
  for (int32_t i = 0; i < g->count; i++) LLVMInstructionEraseFromParent(g->parts[i]);
}

/* Puts the words of a value into a vector from word `at` on: 64 bits are mostly made of two words. */
static LLVMValueRef insert_words(merger *m, LLVMValueRef whole, LLVMValueRef value, int64_t at) {
  LLVMBuilderRef build = m->w.builder;
  LLVMValueRef words[2] = {value, NULL};
  if (LLVMTypeOf(value) != m->w.i32 && !nvptx_words(&m->w, value, words)) {
    LLVMValueRef by = LLVMConstInt(m->w.i64, 32, false);
    words[0] = LLVMBuildTrunc(build, value, m->w.i32, "");
    words[1] = LLVMBuildTrunc(build, LLVMBuildLShr(build, value, by, ""), m->w.i32, "");
  }
  whole = LLVMBuildInsertElement(build, whole, words[0], number(m, at), "");
  if (words[1] == NULL) return whole;
  return LLVMBuildInsertElement(build, whole, words[1], number(m, at + 1), "");
}

static void merge_stores(merger *m, const group *g) {
  LLVMValueRef last = g->parts[g->count - 1];
  LLVMPositionBuilderBefore(m->w.builder, last);
  LLVMValueRef whole = LLVMGetPoison(LLVMVectorType(m->w.i32, (unsigned)(g->bytes / WORD)));
  for (int32_t i = 0; i < g->count; i++) {
    whole = insert_words(m, whole, LLVMGetOperand(g->parts[i], 0), g->at[i] / WORD);
  }
  LLVMValueRef pointer = window_pointer(m, last, g->at[g->count - 1], true);
  mark(m, LLVMBuildStore(m->w.builder, whole, pointer), last, g->bytes);
  for (int32_t i = 0; i < g->count; i++) LLVMInstructionEraseFromParent(g->parts[i]);
}

/* Merges the first group of a block that can be; false if there is none. */
static bool merge_one(merger *m, LLVMBasicBlockRef block) {
  group g;
  for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i)) {
    for (int64_t window = WINDOW; window >= WINDOW / 2; window /= 2) {
      for (int stores = 0; stores < 2; stores++) {
        if (!gather(m, i, stores != 0, window, &g) || g.count < 2) continue;
        (stores != 0 ? merge_stores : merge_loads)(m, &g);
        return true;
      }
    }
  }
  return false;
}

void nvptx_merge(const wb_program *program, LLVMModuleRef module) {
  merger m = {.w = nvptx_writer_of(module), .reader = access_reader_of(module)};
  LLVMValueRef function = LLVMGetNamedFunction(module, program->name);
  LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);
  for (; block != NULL; block = LLVMGetNextBasicBlock(block)) {
    while (merge_one(&m, block)) {}
  }
  LLVMDisposeBuilder(m.w.builder);
}

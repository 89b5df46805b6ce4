/* Warp barriers by the hazard rule.
 *
 * Threads of a warp need not run in step, and collectives do not order memory. So between two accesses
 * that may touch one location, one of them a write, by different lanes, a bar.warp.sync must stand. It
 * is placed after LLVM's passes, when the accesses that are left are known, right before the second
 * access of each pair that has none between.
 *
 * Forward over the function's blocks goes the set of accesses that were made since the last barrier; at
 * a join sets are united, round loops until nothing changes. Accesses are told apart by
 *
 *   object    the array or buffer, from the alias scope that emit_mark gave it
 *   pattern   which lanes touch what, from the second scope: "uniform", "rowN", "lanes"
 *   place     a pointer and a constant offset; pointers of the entry block, or of this round of a loop
 *
 * and a pair needs no barrier if
 *   - the objects differ, or the bytes behind one pointer do not overlap
 *   - both go by rows of elements of one size: an element is always the same lane's
 *   - the first is a uniform write and the second reads: every lane has written the value itself
 *
 * Keep: what is not known (no scope, several objects) is taken to be in the way of everything. The copies
 * of a slab ("copy") have barriers of their own. A barrier once placed stays, so rounds come to an end,
 * and the last one has found every pair ordered. */
#include "access.h"
#include "nvptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 192 }; /* in a set, before they become one that is anywhere */

/* The accesses since the last barrier. */
typedef struct pending {
  access *list;
  int32_t count, capacity;
} pending;

typedef struct step {
  LLVMValueRef instruction;
  access what;
  bool is_barrier;
  bool barrier_before; /* placed by us */
  char why[80];
} step;

typedef struct block {
  LLVMBasicBlockRef block;
  step *steps;
  int32_t step_count;
  pending in;
  int32_t order; /* in reverse post-order */
  bool reached;
} block;

typedef struct placer {
  const wb_program *program;
  LLVMModuleRef module;
  LLVMValueRef function;
  access_reader reader;
  block *blocks; /* in reverse post-order */
  int32_t block_count;
  bool no_memory;
} placer;

/* ---- the rule ---- */

static bool needs_order(const access *first, const access *second) {
  if (!first->write && !second->write) return false;
  if (!access_may_meet(first, second)) return false;
  if (first->pattern >= EMIT_ROW && first->pattern == second->pattern) return false;
  return !(first->pattern == EMIT_UNIFORM && first->write && !second->write);
}

/* ---- sets ---- */

static bool same(const access *a, const access *b) {
  return a->object == b->object && a->pattern == b->pattern && a->write == b->write &&
         a->base == b->base && a->index == b->index && a->scale == b->scale &&
         a->offset == b->offset && a->bytes == b->bytes;
}

/* Adds an access; true if the set grew. Many places of a set become one that is anywhere. */
static bool remember(placer *p, pending *set, access a) {
  if (set->count >= PLACES_MAX || a.base == NULL) access_forget_place(&a);
  for (int32_t i = 0; i < set->count; i++) {
    if (same(&set->list[i], &a)) return false;
  }
  if (set->count == set->capacity) {
    int32_t capacity = set->capacity == 0 ? 16 : 2 * set->capacity;
    access *list = realloc(set->list, (size_t)capacity * sizeof *list);
    if (list == NULL) {
      p->no_memory = true;
      return false;
    }
    set->list = list;
    set->capacity = capacity;
  }
  set->list[set->count++] = a;
  return true;
}

/* ---- blocks ---- */

static int32_t find_block(const placer *p, LLVMBasicBlockRef wanted) {
  for (int32_t i = 0; i < p->block_count; i++) {
    if (p->blocks[i].block == wanted) return i;
  }
  return -1;
}

/* Depth first, successors before their block; the list is filled from its end. */
static void visit(placer *p, LLVMBasicBlockRef at, LLVMBasicBlockRef *seen, int32_t *seen_count,
                  LLVMBasicBlockRef *order, int32_t *free_end) {
  for (int32_t i = 0; i < *seen_count; i++) {
    if (seen[i] == at) return;
  }
  seen[(*seen_count)++] = at;
  LLVMValueRef last = LLVMGetBasicBlockTerminator(at);
  for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++) {
    visit(p, LLVMGetSuccessor(last, i), seen, seen_count, order, free_end);
  }
  order[--*free_end] = at;
}

static bool list_blocks(placer *p) {
  int32_t total = (int32_t)LLVMCountBasicBlocks(p->function), seen_count = 0, first = total;
  LLVMBasicBlockRef *seen = calloc(2 * (size_t)total, sizeof *seen);
  p->blocks = calloc((size_t)total, sizeof *p->blocks);
  if (seen != NULL && p->blocks != NULL) {
    visit(p, LLVMGetEntryBasicBlock(p->function), seen, &seen_count, seen + total, &first);
    for (int32_t i = first; i < total; i++) {
      p->blocks[p->block_count++] = (block){.block = seen[total + i]};
    }
  }
  free(seen);
  return p->block_count > 0;
}

/* Fills a step; false if the instruction is none. */
static bool read_step(const placer *p, LLVMValueRef instruction, step *s) {
  *s = (step){.instruction = instruction};
  access_kind kind = access_read(&p->reader, instruction, &s->what);
  s->is_barrier = kind == ACCESS_BARRIER;
  return kind == ACCESS_BARRIER || kind == ACCESS_TRACKED;
}

static bool list_steps(placer *p, block *b) {
  int32_t count = 0;
  step s;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b->block); i != NULL;
       i = LLVMGetNextInstruction(i)) {
    count += read_step(p, i, &s);
  }
  b->steps = calloc((size_t)count + 1, sizeof *b->steps);
  if (b->steps == NULL) return false;
  for (LLVMValueRef i = LLVMGetFirstInstruction(b->block); i != NULL;
       i = LLVMGetNextInstruction(i)) {
    if (read_step(p, i, &s)) b->steps[b->step_count++] = s;
  }
  return true;
}

/* ---- placing ---- */

static const char *object_name(const placer *p, const access *a) {
  bool known = a->object >= 0 && a->object < p->program->object_count;
  return known ? p->program->objects[a->object].name : "memory";
}

static void explain(const placer *p, const access *first, step *s) {
  static const char *const names[EMIT_PATTERNS] = {"all", "lanes", "row", "row", "row", "row"};
  const access *named = s->what.object >= 0 ? &s->what : first;
  snprintf(s->why, sizeof s->why, "%.32s: %s by %s, then %s by %s", object_name(p, named),
           first->write ? "written" : "read", names[first->pattern],
           s->what.write ? "written" : "read", names[s->what.pattern]);
}

/* Goes through a block with the set `now`; places what is missing. */
static bool walk(placer *p, block *b, pending *now) {
  bool placed = false;
  for (int32_t i = 0; i < b->step_count; i++) {
    step *s = &b->steps[i];
    if (s->is_barrier) {
      now->count = 0;
      continue;
    }
    for (int32_t k = 0; k < now->count && !s->barrier_before; k++) {
      if (!needs_order(&now->list[k], &s->what)) continue;
      explain(p, &now->list[k], s);
      s->barrier_before = placed = true;
    }
    if (s->barrier_before) now->count = 0;
    remember(p, now, s->what);
  }
  return placed;
}

/* Whether a value is one for the whole run of the function. */
static bool is_fixed(const placer *p, LLVMValueRef value) {
  if (value == NULL || LLVMIsAInstruction(value) == NULL) return true;
  return LLVMGetInstructionParent(value) == p->blocks[0].block;
}

/* Hands the set at a block's end to what follows. Behind a loop's back edge pointers made in the loop
 * are others. */
static bool hand_on(placer *p, int32_t from, const pending *now) {
  bool grew = false;
  LLVMValueRef last = LLVMGetBasicBlockTerminator(p->blocks[from].block);
  for (unsigned i = 0; i < LLVMGetNumSuccessors(last); i++) {
    int32_t to = find_block(p, LLVMGetSuccessor(last, i));
    for (int32_t k = 0; k < now->count; k++) {
      access a = now->list[k];
      if (to <= from && !(is_fixed(p, a.base) && is_fixed(p, a.index))) access_forget_place(&a);
      grew |= remember(p, &p->blocks[to].in, a);
    }
  }
  return grew;
}

static void solve(placer *p) {
  pending now = {0};
  for (bool again = true; again && !p->no_memory;) {
    again = false;
    for (int32_t i = 0; i < p->block_count; i++) {
      now.count = 0;
      for (int32_t k = 0; k < p->blocks[i].in.count; k++) {
        remember(p, &now, p->blocks[i].in.list[k]);
      }
      again |= walk(p, &p->blocks[i], &now);
      again |= hand_on(p, i, &now);
    }
  }
  free(now.list);
}

/* Barriers that were placed while sets were still growing may have become needless: what they were
 * to order may have got one before it. Sets are made anew with those in place. */
static void insert(const placer *p, int32_t *count) {
  LLVMContextRef context = LLVMGetModuleContext(p->module);
  LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
  LLVMTypeRef i32 = LLVMInt32TypeInContext(context);
  static const char name[] = "llvm.nvvm.bar.warp.sync";
  unsigned id = LLVMLookupIntrinsicID(name, sizeof name - 1);
  LLVMValueRef sync = LLVMGetIntrinsicDeclaration(p->module, id, NULL, 0);
  LLVMValueRef everyone = LLVMConstInt(i32, UINT32_MAX, false);
  LLVMTypeRef nothing = LLVMFunctionType(LLVMVoidTypeInContext(context), NULL, 0, false);
  for (int32_t i = 0; i < p->block_count; i++) {
    for (int32_t k = 0; k < p->blocks[i].step_count; k++) {
      const step *s = &p->blocks[i].steps[k];
      if (!s->barrier_before) continue;
      char text[96];
      int length = snprintf(text, sizeof text, "// barrier for %s", s->why);
      LLVMPositionBuilderBefore(builder, s->instruction);
      LLVMValueRef comment = LLVMGetInlineAsm(nothing, text, (size_t)length, (char *)(uintptr_t) "",
                                              0, true, false, LLVMInlineAsmDialectATT, false);
      LLVMBuildCall2(builder, nothing, comment, NULL, 0, "");
      LLVMBuildCall2(builder, LLVMGlobalGetValueType(sync), sync, &everyone, 1, "");
      ++*count;
    }
  }
  LLVMDisposeBuilder(builder);
}

wb_status nvptx_barriers(const wb_program *program, LLVMModuleRef module, int32_t *count,
                         wb_error *error) {
  placer p = {.program = program,
              .module = module,
              .function = LLVMGetNamedFunction(module, program->name),
              .reader = access_reader_of(module)};
  *count = 0;
  bool fine = list_blocks(&p);
  for (int32_t i = 0; fine && i < p.block_count; i++) fine = list_steps(&p, &p.blocks[i]);
  if (fine) solve(&p);
  if (fine && !p.no_memory) insert(&p, count);
  for (int32_t i = 0; i < p.block_count; i++) {
    free(p.blocks[i].steps);
    free(p.blocks[i].in.list);
  }
  free(p.blocks);
  if (fine && !p.no_memory) return WB_OK;
  return WB_FAIL(error, WB_ERROR_MEMORY, "lowering %s: no memory for barriers", program->name);
}

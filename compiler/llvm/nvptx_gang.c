/* A gang on an NVIDIA GPU: a warp, each lane a thread that holds its element in a plain value; scalars
 * are computed by all threads alike.
 *
 * A program narrower than a warp runs as many copies of itself in it: thread t is lane t % width, so
 * copies agree in everything and store the same values to the same places.
 *
 * Keep: nothing here branches on an element of lanes. A store or load that only some lanes make is one
 * instruction under a predicate, as inline assembly, since LLVM would make a branch of it. Collectives
 * name the whole warp and do not order memory: that is what nvptx_barrier.c is for. */
#include "emit.h"

#include <stdio.h>
#include <string.h>

enum { WARP = 32, GLOBAL = 1, SHARED = 3 };

static bool narrow(const emit *e) { return e->program->width < WARP; }

static LLVMValueRef everyone(emit *e) { return emit_i32(e, UINT32_MAX); }

static LLVMTypeRef type(emit *e, LLVMTypeRef scalar) {
  (void)e;
  return scalar;
}

static LLVMValueRef lane_id(emit *e) { return e->lane; }

static LLVMValueRef splat(emit *e, LLVMValueRef scalar) {
  (void)e;
  return scalar;
}

static bool is_bool(emit *e, LLVMValueRef lanes) {
  return LLVMTypeOf(lanes) == e->types[WB_TYPE_BOOL];
}

/* The lane numbers of a gang are taken modulo its width; shuffles do so for a whole warp. */
static LLVMValueRef wrap(emit *e, LLVMValueRef lane) {
  if (!narrow(e)) return lane;
  return LLVMBuildAnd(e->builder, lane, emit_i32(e, (uint32_t)e->program->width - 1), "");
}

/* ---- votes ---- */

static LLVMValueRef vote(emit *e, const char *intrinsic, LLVMValueRef lanes) {
  LLVMValueRef arguments[] = {everyone(e), lanes};
  return emit_call(e, intrinsic, NULL, 0, arguments, 2);
}

static LLVMValueRef ballot(emit *e, LLVMValueRef lanes) {
  LLVMValueRef bits = vote(e, "llvm.nvvm.vote.ballot.sync", lanes);
  if (!narrow(e)) return bits;
  return LLVMBuildAnd(e->builder, bits, emit_i32(e, (1U << e->program->width) - 1), "");
}

static LLVMValueRef any(emit *e, LLVMValueRef lanes) {
  return vote(e, "llvm.nvvm.vote.any.sync", lanes);
}

static LLVMValueRef all(emit *e, LLVMValueRef lanes) {
  return vote(e, "llvm.nvvm.vote.all.sync", lanes);
}

/* ---- 64 bits as two words ---- */

static LLVMTypeRef word_pair(emit *e) { return LLVMVectorType(e->types[WB_TYPE_I32], 2); }

static LLVMValueRef word_of(emit *e, LLVMValueRef whole, uint32_t k) {
  LLVMValueRef pair = LLVMBuildBitCast(e->builder, whole, word_pair(e), "");
  return LLVMBuildExtractElement(e->builder, pair, emit_i32(e, k), "");
}

/* In assembly, for LLVM would make shifts of it. */
static LLVMValueRef from_words(emit *e, LLVMValueRef low, LLVMValueRef high) {
  LLVMTypeRef i32 = e->types[WB_TYPE_I32], types[] = {i32, i32};
  LLVMTypeRef function = LLVMFunctionType(e->types[WB_TYPE_I64], types, 2, false);
  char text[] = "mov.b64 $0, {$1, $2};", constraints[] = "=l,r,r";
  LLVMValueRef move =
      LLVMGetInlineAsm(function, text, sizeof text - 1, constraints, sizeof constraints - 1, false,
                       false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef words[] = {low, high};
  LLVMValueRef call = LLVMBuildCall2(e->builder, function, move, words, 2, "");
  unsigned kind = LLVMGetEnumAttributeKindForName("memory", strlen("memory"));
  LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex,
                           LLVMCreateEnumAttribute(e->context, kind, 0));
  return call;
}

static bool is_wide(emit *e, LLVMValueRef lanes) {
  return LLVMTypeOf(lanes) == e->types[WB_TYPE_I64];
}

/* ---- shuffles ---- */

static LLVMValueRef shuffle_word(emit *e, const char *intrinsic, LLVMValueRef word, LLVMValueRef by,
                                 uint32_t clamp) {
  LLVMValueRef arguments[] = {everyone(e), word, by, emit_i32(e, clamp)};
  return emit_call(e, intrinsic, NULL, 0, arguments, 4);
}

static LLVMValueRef shuffle_any(emit *e, const char *intrinsic, LLVMValueRef lanes,
                                LLVMValueRef by) {
  LLVMTypeRef own = LLVMTypeOf(lanes), i32 = e->types[WB_TYPE_I32];
  if (is_wide(e, lanes)) {
    return from_words(e, shuffle_word(e, intrinsic, word_of(e, lanes, 0), by, WARP - 1),
                      shuffle_word(e, intrinsic, word_of(e, lanes, 1), by, WARP - 1));
  }
  LLVMValueRef word = LLVMBuildBitCast(e->builder, lanes, i32, "");
  return LLVMBuildBitCast(e->builder, shuffle_word(e, intrinsic, word, by, WARP - 1), own, "");
}

static LLVMValueRef shuffle(emit *e, LLVMValueRef lanes, LLVMValueRef from) {
  if (is_bool(e, lanes)) {
    from = LLVMBuildAnd(e->builder, from, emit_i32(e, (uint32_t)e->program->width - 1), "");
    LLVMValueRef bits = LLVMBuildLShr(e->builder, ballot(e, lanes), from, "");
    return LLVMBuildTrunc(e->builder, bits, e->types[WB_TYPE_BOOL], "");
  }
  return shuffle_any(e, "llvm.nvvm.shfl.sync.idx.i32", lanes, wrap(e, from));
}

static LLVMValueRef insert(emit *e, LLVMValueRef lanes, LLVMValueRef lane, LLVMValueRef value) {
  LLVMValueRef here = LLVMBuildICmp(e->builder, LLVMIntEQ, e->lane, lane, "");
  return LLVMBuildSelect(e->builder, here, value, lanes, "");
}

/* ---- scan ---- */

/* The element `distance` lanes below, 0 where there is none. */
static LLVMValueRef word_below(emit *e, LLVMValueRef word, uint32_t distance) {
  uint32_t segment = ~((uint32_t)e->program->width - 1) & (WARP - 1);
  LLVMValueRef both =
      shuffle_word(e, "llvm.nvvm.shfl.sync.up.i32p", word, emit_i32(e, distance), segment << 8);
  LLVMValueRef below = LLVMBuildExtractValue(e->builder, both, 0, "");
  LLVMValueRef there = LLVMBuildExtractValue(e->builder, both, 1, "");
  return LLVMBuildSelect(e->builder, there, below, emit_i32(e, 0), "");
}

static LLVMValueRef scan_add(emit *e, LLVMValueRef lanes) {
  for (uint32_t distance = 1; distance < (uint32_t)e->program->width; distance *= 2) {
    LLVMValueRef below = is_wide(e, lanes)
                             ? from_words(e, word_below(e, word_of(e, lanes, 0), distance),
                                          word_below(e, word_of(e, lanes, 1), distance))
                             : word_below(e, lanes, distance);
    lanes = LLVMBuildAdd(e->builder, lanes, below, "");
  }
  return lanes;
}

/* ---- reductions ---- */

static LLVMValueRef redux(emit *e, const char *how, LLVMValueRef word) {
  char name[48];
  LLVMValueRef arguments[] = {word, everyone(e)};
  snprintf(name, sizeof name, "llvm.nvvm.redux.sync.%s", how);
  return emit_call(e, name, NULL, 0, arguments, 2);
}

/* Sums count every lane once: the copies of a narrow gang add 0. */
static LLVMValueRef first_copy(emit *e, LLVMValueRef lanes) {
  if (!narrow(e)) return lanes;
  LLVMValueRef thread = emit_call(e, "llvm.nvvm.read.ptx.sreg.laneid", NULL, 0, NULL, 0);
  LLVMValueRef width = emit_i32(e, (uint32_t)e->program->width);
  LLVMValueRef first = LLVMBuildICmp(e->builder, LLVMIntULT, thread, width, "");
  return LLVMBuildSelect(e->builder, first, lanes, emit_number(lanes, 0), "");
}

/* Three parts of 27, 27 and 10 bits, whose sums over 32 lanes fit 32 bits or wrap as they may. */
static LLVMValueRef add_wide(emit *e, LLVMValueRef lanes) {
  enum { PART = 27, PARTS = 3 };
  LLVMTypeRef i32 = e->types[WB_TYPE_I32], i64 = e->types[WB_TYPE_I64];
  LLVMValueRef sum = NULL;
  for (uint64_t k = 0; k < PARTS; k++) {
    LLVMValueRef shift = emit_i64(e, k * PART);
    LLVMValueRef part =
        LLVMBuildTrunc(e->builder, LLVMBuildLShr(e->builder, lanes, shift, ""), i32, "");
    part = LLVMBuildAnd(e->builder, part, emit_i32(e, (1U << PART) - 1), "");
    part = LLVMBuildZExt(e->builder, redux(e, "add", part), i64, "");
    part = LLVMBuildShl(e->builder, part, shift, "");
    sum = sum == NULL ? part : LLVMBuildAdd(e->builder, sum, part, "");
  }
  return sum;
}

/* The extreme high word, then the extreme low word among the lanes that have it. */
static LLVMValueRef extreme_wide(emit *e, const char *how_high, bool maximum, LLVMValueRef lanes) {
  LLVMValueRef low = word_of(e, lanes, 0), high = word_of(e, lanes, 1);
  LLVMValueRef best = redux(e, how_high, high);
  LLVMValueRef ties = LLVMBuildICmp(e->builder, LLVMIntEQ, high, best, "");
  low = LLVMBuildSelect(e->builder, ties, low, emit_i32(e, maximum ? 0 : UINT32_MAX), "");
  return from_words(e, redux(e, maximum ? "umax" : "umin", low), best);
}

static LLVMValueRef bitwise(emit *e, const char *how, LLVMValueRef lanes) {
  if (!is_wide(e, lanes)) return redux(e, how, lanes);
  return from_words(e, redux(e, how, word_of(e, lanes, 0)), redux(e, how, word_of(e, lanes, 1)));
}

static LLVMValueRef reduce_integer(emit *e, wb_opcode code, LLVMValueRef lanes) {
  bool wide = is_wide(e, lanes);
  switch (code) {
  case WB_OP_REDUCE_ADD:
    lanes = first_copy(e, lanes);
    return wide ? add_wide(e, lanes) : redux(e, "add", lanes);
  case WB_OP_REDUCE_MIN:
    return wide ? extreme_wide(e, "min", false, lanes) : redux(e, "min", lanes);
  case WB_OP_REDUCE_MAX: return wide ? extreme_wide(e, "max", true, lanes) : redux(e, "max", lanes);
  case WB_OP_REDUCE_UMIN:
    return wide ? extreme_wide(e, "umin", false, lanes) : redux(e, "umin", lanes);
  case WB_OP_REDUCE_UMAX:
    return wide ? extreme_wide(e, "umax", true, lanes) : redux(e, "umax", lanes);
  case WB_OP_REDUCE_AND: return bitwise(e, "and", lanes);
  case WB_OP_REDUCE_OR: return bitwise(e, "or", lanes);
  default: return bitwise(e, "xor", first_copy(e, lanes));
  }
}

/* Every lane ends with the same sum, for a + b = b + a. */
static LLVMValueRef add_floats(emit *e, LLVMValueRef lanes) {
  for (uint32_t distance = (uint32_t)e->program->width / 2; distance > 0; distance /= 2) {
    LLVMValueRef other =
        shuffle_any(e, "llvm.nvvm.shfl.sync.bfly.i32", lanes, emit_i32(e, distance));
    lanes = LLVMBuildFAdd(e->builder, lanes, other, "");
  }
  return lanes;
}

/* Floats in the order of integers: the magnitude of negative ones is turned round. */
static LLVMValueRef turn(emit *e, LLVMValueRef bits) {
  LLVMValueRef sign = LLVMBuildAShr(e->builder, bits, emit_i32(e, 31), "");
  LLVMValueRef mask = LLVMBuildAnd(e->builder, sign, emit_i32(e, INT32_MAX), "");
  return LLVMBuildXor(e->builder, bits, mask, "");
}

static LLVMValueRef extreme_float(emit *e, const char *how, LLVMValueRef lanes) {
  LLVMTypeRef f32 = LLVMTypeOf(lanes), i32 = e->types[WB_TYPE_I32];
  LLVMValueRef nan = any(e, LLVMBuildFCmp(e->builder, LLVMRealUNO, lanes, lanes, ""));
  LLVMValueRef key = turn(e, LLVMBuildBitCast(e->builder, lanes, i32, ""));
  LLVMValueRef bits = turn(e, redux(e, how, key));
  bits = LLVMBuildSelect(e->builder, nan, emit_i32(e, 0x7fc00000), bits, "");
  return LLVMBuildBitCast(e->builder, bits, f32, "");
}

static LLVMValueRef reduce(emit *e, wb_opcode code, LLVMValueRef lanes) {
  if (!emit_is_float(lanes)) return reduce_integer(e, code, lanes);
  if (code == WB_OP_REDUCE_ADD) return add_floats(e, lanes);
  return extreme_float(e, code == WB_OP_REDUCE_MAX ? "max" : "min", lanes);
}

/* ---- one lane's memory ---- */

/* How an element is written in PTX: bits of the access, constraint letter and type of its register. */
typedef struct element {
  const char *text;
  char letter;
  LLVMTypeRef held;
} element;

static element element_of(emit *e, LLVMTypeRef own) {
  if (own == e->i8) return (element){"u8", 'h', e->i16};
  if (own == e->i16) return (element){"u16", 'h', e->i16};
  if (own == e->types[WB_TYPE_I64]) return (element){"u64", 'l', own};
  if (own == e->types[WB_TYPE_F32]) return (element){"f32", 'f', own};
  return (element){"u32", 'r', own};
}

static unsigned space_of(LLVMValueRef pointer) {
  return LLVMGetPointerAddressSpace(LLVMTypeOf(pointer));
}

static const char *space_text(LLVMValueRef pointer) {
  return space_of(pointer) == SHARED ? ".shared" : ".global";
}

static char pointer_letter(const emit *e, LLVMValueRef pointer) {
  return space_of(pointer) == SHARED && e->short_shared ? 'r' : 'l';
}

/* Calls a line of assembly that reads or writes what its pointer argument points to. */
static LLVMValueRef call_assembly(emit *e, LLVMTypeRef result, const char *text,
                                  const char *constraints, LLVMValueRef *arguments,
                                  uint32_t count) {
  enum { READS = 1, WRITES = 2 }; /* of what arguments point to: LLVM's numbers */
  LLVMTypeRef types[4];
  for (uint32_t i = 0; i < count; i++) types[i] = LLVMTypeOf(arguments[i]);
  LLVMTypeRef function = LLVMFunctionType(result, types, count, false);
  LLVMValueRef assembly = LLVMGetInlineAsm(function, (char *)(uintptr_t)text, strlen(text),
                                           (char *)(uintptr_t)constraints, strlen(constraints),
                                           true, false, LLVMInlineAsmDialectATT, false);
  LLVMValueRef call = LLVMBuildCall2(e->builder, function, assembly, arguments, count, "");
  unsigned kind = LLVMGetEnumAttributeKindForName("memory", strlen("memory"));
  bool reads = LLVMGetTypeKind(result) != LLVMVoidTypeKind;
  LLVMAttributeRef memory = LLVMCreateEnumAttribute(e->context, kind, reads ? READS : WRITES);
  LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex, memory);
  return call;
}

static LLVMValueRef store_if(emit *e, LLVMValueRef pointer, LLVMValueRef value, LLVMValueRef mask) {
  element how = element_of(e, LLVMTypeOf(value));
  char text[64], constraints[16];
  snprintf(text, sizeof text, "@$0 st%s.%s [$1], $2;", space_text(pointer), how.text);
  snprintf(constraints, sizeof constraints, "b,%c,%c", pointer_letter(e, pointer), how.letter);
  if (how.held != LLVMTypeOf(value)) value = LLVMBuildZExt(e->builder, value, how.held, "");
  LLVMValueRef arguments[] = {mask, pointer, value};
  return call_assembly(e, LLVMVoidTypeInContext(e->context), text, constraints, arguments, 3);
}

static LLVMValueRef load_if(emit *e, LLVMValueRef pointer, LLVMValueRef mask, LLVMValueRef fill,
                            LLVMValueRef *call) {
  LLVMTypeRef own = LLVMTypeOf(fill);
  element how = element_of(e, own);
  const char *move = how.letter == 'h' ? "u16" : how.text;
  char text[96], constraints[24];
  snprintf(text, sizeof text, "mov.%s $0, $3; @$1 ld%s.%s $0, [$2];", move, space_text(pointer),
           how.text);
  snprintf(constraints, sizeof constraints, "=&%c,b,%c,%c", how.letter, pointer_letter(e, pointer),
           how.letter);
  if (how.held != own) fill = LLVMBuildZExt(e->builder, fill, how.held, "");
  LLVMValueRef arguments[] = {mask, pointer, fill};
  *call = call_assembly(e, how.held, text, constraints, arguments, 3);
  return how.held != own ? LLVMBuildTrunc(e->builder, *call, own, "") : *call;
}

/* ---- memory ---- */

/* This lane's place in a row: address and alignment are an element's. */
static emit_place own_place(emit *e, const emit_place *row, LLVMTypeRef own) {
  emit_place place = *row;
  const emit_object *object = &e->objects[row->object - e->program->objects];
  if (object->row_base == NULL) {
    place.pointer = LLVMBuildInBoundsGEP2(e->builder, own, row->pointer, &e->lane, 1, "");
  }
  uint32_t bytes = (uint32_t)emit_element_bytes(row->object);
  if (place.alignment > bytes) place.alignment = bytes;
  if (narrow(e)) place.pattern = EMIT_LANES;
  return place;
}

static LLVMValueRef load_row(emit *e, const emit_place *row, LLVMTypeRef own) {
  emit_place place = own_place(e, row, own);
  LLVMValueRef value = LLVMBuildLoad2(e->builder, own, place.pointer, "");
  emit_mark(e, value, &place, place.alignment);
  return value;
}

static void store_row(emit *e, const emit_place *row, LLVMValueRef value, LLVMValueRef mask) {
  emit_place place = own_place(e, row, LLVMTypeOf(value));
  if (mask != NULL) {
    emit_mark(e, store_if(e, place.pointer, value, mask), &place, 0);
  } else {
    emit_mark(e, LLVMBuildStore(e->builder, value, place.pointer), &place, place.alignment);
  }
}

static void store_lanes(emit *e, const emit_place *place, LLVMValueRef value, LLVMValueRef mask) {
  LLVMValueRef own = LLVMBuildGEP2(e->builder, LLVMTypeOf(value), place->pointer, &e->lane, 1, "");
  emit_mark(e, store_if(e, own, value, mask), place, 0);
}

static LLVMValueRef gather(emit *e, const emit_place *place, LLVMValueRef pointers,
                           LLVMValueRef mask, LLVMValueRef fill) {
  LLVMValueRef call, value;
  bool always = LLVMIsAConstantInt(mask) != NULL && LLVMConstIntGetZExtValue(mask) == 1;
  if (always) {
    call = value = LLVMBuildLoad2(e->builder, LLVMTypeOf(fill), pointers, "");
    emit_mark(e, call, place, place->alignment);
    return value;
  }
  value = load_if(e, pointers, mask, fill, &call);
  emit_mark(e, call, place, 0);
  return value;
}

/* Of the lanes that name one element, only the highest stores. */
static void scatter(emit *e, const emit_place *place, LLVMValueRef pointers, LLVMValueRef mask,
                    LLVMValueRef value) {
  bool wide = space_of(pointers) == GLOBAL || !e->short_shared;
  LLVMTypeRef word = wide ? e->types[WB_TYPE_I64] : e->types[WB_TYPE_I32];
  LLVMValueRef key = LLVMBuildPtrToInt(e->builder, pointers, word, "");
  LLVMValueRef arguments[] = {everyone(e), key};
  LLVMValueRef same =
      emit_call(e, wide ? "llvm.nvvm.match.any.sync.i64" : "llvm.nvvm.match.any.sync.i32", NULL, 0,
                arguments, 2);
  same = LLVMBuildAnd(e->builder, same, ballot(e, mask), "");
  LLVMValueRef above = emit_i32(e, 31);
  LLVMValueRef last = LLVMBuildSub(e->builder, above, emit_count_bits(e, WB_OP_CLZ, same), "");
  LLVMValueRef thread = emit_call(e, "llvm.nvvm.read.ptx.sreg.laneid", NULL, 0, NULL, 0);
  LLVMValueRef chosen = LLVMBuildICmp(e->builder, LLVMIntEQ, thread, last, "");
  chosen = LLVMBuildAnd(e->builder, chosen, mask, "");
  emit_mark(e, store_if(e, pointers, value, chosen), place, 0);
}

/* ---- faults ---- */

/* The first thread of all that finds none there writes: one per launch. */
static void note_fault(emit *e, LLVMValueRef index) {
  LLVMTypeRef i32 = e->types[WB_TYPE_I32];
  LLVMValueRef none = emit_i32(e, UINT32_MAX);
  LLVMValueRef both =
      LLVMBuildAtomicCmpXchg(e->builder, e->fault, none, emit_i32(e, (uint32_t)e->current),
                             LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingMonotonic, false);
  LLVMValueRef seen = LLVMBuildExtractValue(e->builder, both, 0, "");
  LLVMValueRef first = LLVMBuildICmp(e->builder, LLVMIntEQ, seen, none, "");
  LLVMValueRef book_at = emit_i64(e, offsetof(wb_fault, book));
  LLVMValueRef index_at = emit_i64(e, offsetof(wb_fault, index));
  store_if(e, emit_step(e, e->fault, book_at), LLVMBuildTrunc(e->builder, e->book, i32, ""), first);
  store_if(e, emit_step(e, e->fault, index_at), index, first);
}

static LLVMValueRef extract(emit *e, LLVMValueRef lanes, LLVMValueRef lane) {
  return shuffle(e, lanes, lane); /* from the same lane for all */
}

const emit_gang emit_nvptx_gang = {
    .threads = true,
    .type = type,
    .lane_id = lane_id,
    .splat = splat,
    .ballot = ballot,
    .any = any,
    .all = all,
    .reduce = reduce,
    .scan_add = scan_add,
    .extract = extract,
    .insert = insert,
    .shuffle = shuffle,
    .load_row = load_row,
    .store_row = store_row,
    .store_lanes = store_lanes,
    .gather = gather,
    .scatter = scatter,
    .note_fault = note_fault,
};

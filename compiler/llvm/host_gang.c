/* A gang on a host: lanes are one LLVM vector of the program's width, which LLVM splits into the
 * machine's registers.
 *
 * Keep: reductions of f32 combine the upper half with the lower half, then halves of that, which is
 * lane 0 of the butterfly that ops.h defines; the sum does not depend on the machine's vectors. */
#include "emit.h"

#include <llvm/Config/llvm-config.h>

static uint32_t width_of(LLVMValueRef lanes) { return LLVMGetVectorSize(LLVMTypeOf(lanes)); }

static LLVMTypeRef type(emit *e, LLVMTypeRef scalar) {
  return LLVMVectorType(scalar, (unsigned)e->program->width);
}

static LLVMValueRef lane_id(emit *e) {
  LLVMValueRef lanes[WB_WIDTH_MAX];
  uint32_t width = (uint32_t)e->program->width;
  for (uint32_t lane = 0; lane < width; lane++) lanes[lane] = emit_i32(e, lane);
  return LLVMConstVector(lanes, width);
}

/* Lanes first, first + 1, ... of two vectors laid side by side. */
static LLVMValueRef lanes_from(emit *e, LLVMValueRef low, LLVMValueRef high, uint32_t first,
                               uint32_t count) {
  LLVMValueRef from[WB_WIDTH_MAX];
  for (uint32_t lane = 0; lane < count; lane++) from[lane] = emit_i32(e, first + lane);
  return LLVMBuildShuffleVector(e->builder, low, high, LLVMConstVector(from, count), "");
}

static LLVMValueRef splat(emit *e, LLVMValueRef scalar) {
  LLVMTypeRef lanes = type(e, LLVMTypeOf(scalar));
  LLVMValueRef first =
      LLVMBuildInsertElement(e->builder, LLVMGetPoison(lanes), scalar, emit_i32(e, 0), "");
  LLVMValueRef zeros = LLVMConstNull(type(e, e->types[WB_TYPE_I32]));
  return LLVMBuildShuffleVector(e->builder, first, LLVMGetPoison(lanes), zeros, "");
}

/* A mask as an integer of as many bits. */
static LLVMValueRef mask_bits(emit *e, LLVMValueRef lanes) {
  LLVMTypeRef bits = LLVMIntTypeInContext(e->context, width_of(lanes));
  return LLVMBuildBitCast(e->builder, lanes, bits, "");
}

/* Whether a mask is made of comparisons of 32-bit lanes, so that on AVX2 it is 4 registers of 8 lanes
 * that are 0 or -1. */
static bool from_words(LLVMValueRef mask, int depth) {
  LLVMOpcode code = LLVMIsAInstruction(mask) ? LLVMGetInstructionOpcode(mask) : 0;
  switch (code) {
  case LLVMICmp:
  case LLVMFCmp: {
    LLVMTypeRef compared = LLVMGetElementType(LLVMTypeOf(LLVMGetOperand(mask, 0)));
    return LLVMGetTypeKind(compared) == LLVMFloatTypeKind || emit_bits(compared) == 32;
  }
  case LLVMAnd:
  case LLVMOr:
  case LLVMXor:
    return depth > 0 && from_words(LLVMGetOperand(mask, 0), depth - 1) &&
           from_words(LLVMGetOperand(mask, 1), depth - 1);
  default: return LLVMIsConstant(mask);
  }
}

/* The ballot of such a mask in 6 instructions, where LLVM takes 8 and two of the last for a test
 * against 0: two packs to bytes, dwords put in order, the bytes' signs. */
static LLVMValueRef ballot_avx2(emit *e, LLVMValueRef mask) {
  static const uint32_t order[] = {0, 4, 1, 5, 2, 6, 3, 7};
  LLVMTypeRef i32 = e->types[WB_TYPE_I32];
  LLVMValueRef words = LLVMBuildSExt(e->builder, mask, type(e, i32), ""), halves[2], from[8];
  for (uint32_t k = 0; k < 2; k++) {
    LLVMValueRef pair[] = {lanes_from(e, words, words, 16 * k, 8),
                           lanes_from(e, words, words, 16 * k + 8, 8)};
    halves[k] = emit_call(e, "llvm.x86.avx2.packssdw", NULL, 0, pair, 2);
  }
  LLVMValueRef bytes = emit_call(e, "llvm.x86.avx2.packsswb", NULL, 0, halves, 2);
  for (uint32_t k = 0; k < 8; k++) from[k] = emit_i32(e, order[k]);
  LLVMValueRef dwords = LLVMBuildBitCast(e->builder, bytes, LLVMVectorType(i32, 8), "");
  dwords = LLVMBuildShuffleVector(e->builder, dwords, dwords, LLVMConstVector(from, 8), "");
  bytes = LLVMBuildBitCast(e->builder, dwords, LLVMVectorType(e->i8, 32), "");
  return emit_call(e, "llvm.x86.avx2.pmovmskb", NULL, 0, &bytes, 1);
}

static bool fast_on_avx2(emit *e, LLVMValueRef mask) {
  return e->avx2 && !e->avx512 && width_of(mask) == 32 && from_words(mask, 4);
}

static LLVMValueRef ballot(emit *e, LLVMValueRef lanes) {
  if (fast_on_avx2(e, lanes)) return ballot_avx2(e, lanes);
  return LLVMBuildZExt(e->builder, mask_bits(e, lanes), e->types[WB_TYPE_I32], "");
}

static LLVMValueRef any(emit *e, LLVMValueRef lanes) {
  LLVMValueRef bits = mask_bits(e, lanes);
  return LLVMBuildICmp(e->builder, LLVMIntNE, bits, emit_number(bits, 0), "");
}

static LLVMValueRef all(emit *e, LLVMValueRef lanes) {
  LLVMValueRef bits = mask_bits(e, lanes);
  return LLVMBuildICmp(e->builder, LLVMIntEQ, bits, emit_number(bits, UINT64_MAX), "");
}

static LLVMValueRef reduce_float(emit *e, wb_opcode code, LLVMValueRef lanes) {
  for (uint32_t half = width_of(lanes) / 2; half > 0; half /= 2) {
    LLVMValueRef low = lanes_from(e, lanes, lanes, 0, half);
    LLVMValueRef high = lanes_from(e, lanes, lanes, half, half);
    lanes = code == WB_OP_REDUCE_ADD
                ? LLVMBuildFAdd(e->builder, low, high, "")
                : emit_extremum(e, code == WB_OP_REDUCE_MAX ? WB_OP_MAX : WB_OP_MIN, low, high);
  }
  return LLVMBuildExtractElement(e->builder, lanes, emit_i32(e, 0), "");
}

static LLVMValueRef reduce(emit *e, wb_opcode code, LLVMValueRef lanes) {
  if (emit_is_float(lanes)) return reduce_float(e, code, lanes);
  switch (code) {
  case WB_OP_REDUCE_ADD: return emit_call1(e, "llvm.vector.reduce.add", lanes);
  case WB_OP_REDUCE_MIN: return emit_call1(e, "llvm.vector.reduce.smin", lanes);
  case WB_OP_REDUCE_MAX: return emit_call1(e, "llvm.vector.reduce.smax", lanes);
  case WB_OP_REDUCE_UMIN: return emit_call1(e, "llvm.vector.reduce.umin", lanes);
  case WB_OP_REDUCE_UMAX: return emit_call1(e, "llvm.vector.reduce.umax", lanes);
  case WB_OP_REDUCE_AND: return emit_call1(e, "llvm.vector.reduce.and", lanes);
  case WB_OP_REDUCE_OR: return emit_call1(e, "llvm.vector.reduce.or", lanes);
  default: return emit_call1(e, "llvm.vector.reduce.xor", lanes);
  }
}

/* Adds the lane 1 below, then 2, 4, ... below; zeros come in from the left. */
static LLVMValueRef scan_add(emit *e, LLVMValueRef lanes) {
  LLVMValueRef zeros = LLVMConstNull(LLVMTypeOf(lanes));
  uint32_t width = width_of(lanes);
  for (uint32_t distance = 1; distance < width; distance *= 2) {
    LLVMValueRef below = lanes_from(e, zeros, lanes, width - distance, width);
    lanes = LLVMBuildAdd(e->builder, lanes, below, "");
  }
  return lanes;
}

static LLVMValueRef extract(emit *e, LLVMValueRef lanes, LLVMValueRef lane) {
  uint32_t width = width_of(lanes);
  lane = LLVMBuildAnd(e->builder, lane, emit_number(lane, width - 1), "");
  if (LLVMGetElementType(LLVMTypeOf(lanes)) != e->types[WB_TYPE_BOOL]) {
    return LLVMBuildExtractElement(e->builder, lanes, lane, "");
  }
  LLVMValueRef bits = LLVMBuildLShr(e->builder, ballot(e, lanes), lane, "");
  return LLVMBuildTrunc(e->builder, bits, e->types[WB_TYPE_BOOL], "");
}

static LLVMValueRef insert(emit *e, LLVMValueRef lanes, LLVMValueRef lane, LLVMValueRef value) {
  LLVMValueRef here = LLVMBuildICmp(e->builder, LLVMIntEQ, lane_id(e), splat(e, lane), "");
  return LLVMBuildSelect(e->builder, here, splat(e, value), lanes, "");
}

/* ---- memory ---- */

/* From release 22 on an alignment is an attribute of the pointer, no longer an operand; without it
 * the element's own is assumed to be unknown, which costs nothing on x86. */
#if LLVM_VERSION_MAJOR >= 22
enum { ALIGNMENT_OPERAND = 0 };
#else
enum { ALIGNMENT_OPERAND = 1 };
#endif

static LLVMValueRef masked(emit *e, const char *name, LLVMValueRef *overloaded, LLVMValueRef *first,
                           uint32_t before, uint32_t alignment, LLVMValueRef mask,
                           LLVMValueRef last) {
  LLVMValueRef arguments[5];
  LLVMTypeRef types[] = {LLVMTypeOf(overloaded[0]), LLVMTypeOf(overloaded[1])};
  uint32_t count = 0;
  for (uint32_t i = 0; i < before; i++) arguments[count++] = first[i];
  if (ALIGNMENT_OPERAND) arguments[count++] = emit_i32(e, alignment);
  arguments[count++] = mask;
  if (last != NULL) arguments[count++] = last;
  return emit_call(e, name, types, 2, arguments, count);
}

static LLVMValueRef load_row(emit *e, const emit_place *place, LLVMTypeRef element) {
  LLVMValueRef row = LLVMBuildLoad2(e->builder, type(e, element), place->pointer, "");
  emit_mark(e, row, place, place->alignment);
  return row;
}

/* Lanes outside of the mask may have no memory. */
static void store_lanes(emit *e, const emit_place *place, LLVMValueRef value, LLVMValueRef mask) {
  LLVMValueRef both[] = {value, place->pointer};
  LLVMValueRef store = masked(e, "llvm.masked.store", both, both, 2, place->alignment, mask, NULL);
  emit_mark(e, store, place, 0);
}

/* A gang's own row is read, blended and written whole: a store under a mask is slow on some machines
 * and stops the next load of the row from being served by the store buffer. A buffer that is shared
 * may be written by several threads, so other lanes must not be touched there. */
static void store_row(emit *e, const emit_place *place, LLVMValueRef value, LLVMValueRef mask) {
  if (mask != NULL && place->object->shared) {
    store_lanes(e, place, value, mask);
    return;
  }
  if (mask != NULL) {
    LLVMValueRef old = load_row(e, place, LLVMGetElementType(LLVMTypeOf(value)));
    value = LLVMBuildSelect(e->builder, mask, value, old, "");
  }
  emit_mark(e, LLVMBuildStore(e->builder, value, place->pointer), place, place->alignment);
}

static LLVMValueRef gather(emit *e, const emit_place *place, LLVMValueRef pointers,
                           LLVMValueRef mask, LLVMValueRef fill) {
  LLVMValueRef overloaded[] = {fill, pointers};
  LLVMValueRef value =
      masked(e, "llvm.masked.gather", overloaded, &pointers, 1, place->alignment, mask, fill);
  if (place->object != NULL) emit_mark(e, value, place, 0);
  return value;
}

/* LLVM's scatter goes from the lowest lane to the highest, as ours does. */
static void scatter(emit *e, const emit_place *place, LLVMValueRef pointers, LLVMValueRef mask,
                    LLVMValueRef value) {
  LLVMValueRef both[] = {value, pointers};
  emit_mark(e, masked(e, "llvm.masked.scatter", both, both, 2, place->alignment, mask, NULL), place,
            0);
}

/* ---- faults ---- */

static void note_fault(emit *e, LLVMValueRef index) {
  LLVMTypeRef i32 = e->types[WB_TYPE_I32];
  LLVMValueRef seen = LLVMBuildLoad2(e->builder, i32, e->fault, "");
  LLVMValueRef first = LLVMBuildICmp(e->builder, LLVMIntSLT, seen, emit_i32(e, 0), "");
  LLVMBasicBlockRef after = emit_guard(e, first, true);
  LLVMValueRef book_at = emit_i64(e, offsetof(wb_fault, book));
  LLVMValueRef index_at = emit_i64(e, offsetof(wb_fault, index));
  LLVMBuildStore(e->builder, emit_i32(e, (uint32_t)e->current), e->fault);
  LLVMBuildStore(e->builder, LLVMBuildTrunc(e->builder, e->book, i32, ""),
                 emit_step(e, e->fault, book_at));
  LLVMBuildStore(e->builder, index, emit_step(e, e->fault, index_at));
  emit_end_guard(e, after);
}

/* ---- shuffle ---- */

/* All 32 lanes out of two registers of 16: one instruction for each half of the result. */
static LLVMValueRef shuffle_512(emit *e, LLVMValueRef lanes, LLVMValueRef from) {
  static const char name[] = "llvm.x86.avx512.vpermi2var.d.512";
  LLVMTypeRef own = LLVMTypeOf(lanes);
  LLVMValueRef whole = LLVMBuildBitCast(e->builder, lanes, type(e, e->types[WB_TYPE_I32]), "");
  LLVMValueRef halves[2];
  for (uint32_t k = 0; k < 2; k++) {
    LLVMValueRef arguments[] = {lanes_from(e, whole, whole, 0, 16),
                                lanes_from(e, from, from, 16 * k, 16),
                                lanes_from(e, whole, whole, 16, 16)};
    halves[k] = emit_call(e, name, NULL, 0, arguments, 3);
  }
  LLVMValueRef both = lanes_from(e, halves[0], halves[1], 0, 32);
  return LLVMBuildBitCast(e->builder, both, own, "");
}

/* Through a copy of the lanes in memory. */
static LLVMValueRef shuffle_in_memory(emit *e, LLVMValueRef lanes, LLVMValueRef from) {
  LLVMTypeRef own = LLVMTypeOf(lanes), element = LLVMGetElementType(own);
  LLVMValueRef copy = emit_local(e, own, WB_SLAB_ALIGNMENT);
  LLVMBuildStore(e->builder, lanes, copy);
  emit_place place = {.object = NULL, .alignment = 4};
  LLVMValueRef pointers = LLVMBuildGEP2(e->builder, element, copy, &from, 1, "");
  LLVMValueRef mask = emit_constant(type(e, e->types[WB_TYPE_BOOL]), 1);
  return gather(e, &place, pointers, mask, LLVMConstNull(own));
}

static LLVMValueRef shuffle(emit *e, LLVMValueRef lanes, LLVMValueRef from) {
  LLVMTypeRef own = LLVMTypeOf(lanes), element = LLVMGetElementType(own);
  from = LLVMBuildAnd(e->builder, from, emit_number(from, width_of(lanes) - 1), "");
  if (LLVMIsConstant(from)) {
    return LLVMBuildShuffleVector(e->builder, lanes, LLVMGetPoison(own), from, "");
  }
  if (element == e->types[WB_TYPE_BOOL]) {
    LLVMValueRef wide = LLVMBuildZExt(e->builder, lanes, type(e, e->types[WB_TYPE_I32]), "");
    return LLVMBuildTrunc(e->builder, shuffle(e, wide, from), own, "");
  }
  bool one_word = element != e->types[WB_TYPE_I64];
  if (e->avx512 && one_word && width_of(lanes) == 32) return shuffle_512(e, lanes, from);
  return shuffle_in_memory(e, lanes, from);
}

const emit_gang emit_host_gang = {
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

/* Memory: where objects lie, range checks, promises, and what LLVM is told about aliasing.
 *
 * An index in range is not negative, so it is zero-extended: free on both targets, where a sign
 * extension costs an instruction. A load out of range reads its fill value from a constant in memory
 * (one conditional move of the address, no branch); a store out of range is branched around.
 * Different arrays and buffers never share memory: each alias class (an object and its views) is a
 * scope, and each access names its own scope and all the others. */
#include "emit.h"

#include <stdio.h>
#include <string.h>

static const uint8_t element_bytes[] = {
#define X(name, text, bytes, type) bytes,
    WB_ELEMENTS(X)
#undef X
};

int64_t emit_element_bytes(const wb_object *object) { return element_bytes[object->element]; }

LLVMTypeRef emit_element_type(emit *e, const wb_object *object) {
  switch ((wb_element)object->element) {
  case WB_ELEMENT_I8:
  case WB_ELEMENT_U8: return e->i8;
  case WB_ELEMENT_I16:
  case WB_ELEMENT_U16: return e->i16;
  case WB_ELEMENT_I64: return e->types[WB_TYPE_I64];
  case WB_ELEMENT_F32: return e->types[WB_TYPE_F32];
  default: return e->types[WB_TYPE_I32];
  }
}

static uint32_t power_of_two_in(uint64_t bytes, uint32_t most) {
  uint32_t power = 1;
  while (power < most && (bytes & power) == 0) power *= 2;
  return power;
}

/* ---- alias classes ---- */

/* The scope of accesses in one pattern: that of the class, and where lanes are threads another one, of
 * a domain that nothing is said to be apart from, whose name tells the pattern. LLVM keeps the union of
 * both when it merges accesses. */
static LLVMValueRef pattern_scope(emit *e, LLVMMetadataRef class, emit_pattern pattern) {
  static const char *const names[EMIT_PATTERNS] = {"uniform", "lanes", "row1",
                                                   "row2",    "row4",  "row8"};
  LLVMContextRef context = e->context;
  LLVMMetadataRef scopes[2] = {class};
  if (e->gang->threads) {
    LLVMMetadataRef domain_name = LLVMMDStringInContext2(context, "pattern", 7);
    LLVMMetadataRef domain = LLVMMDNodeInContext2(context, &domain_name, 1);
    const char *name = names[pattern];
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, name, strlen(name)), domain};
    scopes[1] = LLVMMDNodeInContext2(context, parts, 2);
  }
  size_t count = e->gang->threads ? 2 : 1;
  return LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, scopes, count));
}

void emit_alias_classes(emit *e) {
  const wb_program *program = e->program;
  LLVMContextRef context = e->context;
  LLVMMetadataRef domain_name = LLVMMDStringInContext2(context, "warpbook", 8);
  LLVMMetadataRef domain = LLVMMDNodeInContext2(context, &domain_name, 1);
  LLVMMetadataRef scopes[WB_OBJECTS_MAX], others[WB_OBJECTS_MAX];
  int32_t classes[WB_OBJECTS_MAX];
  size_t count = 0;
  for (int32_t i = 0; i < program->object_count; i++) {
    if (program->objects[i].base != i) continue;
    bool used = false;
    for (int32_t k = i; k < program->object_count; k++) {
      used |= e->objects[k].used && program->objects[k].base == i;
    }
    if (!used) continue;
    char name[24];
    int length = snprintf(name, sizeof name, "object %d", (int)i);
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(context, name, (size_t)length), domain};
    classes[count] = i;
    scopes[count++] = LLVMMDNodeInContext2(context, parts, 2);
  }
  for (size_t k = 0; k < count; k++) {
    emit_object *object = &e->objects[classes[k]];
    size_t rest = 0;
    for (size_t m = 0; m < count; m++) {
      if (m != k) others[rest++] = scopes[m];
    }
    for (int pattern = 0; pattern < EMIT_PATTERNS; pattern++) {
      object->scope[pattern] = pattern_scope(e, scopes[k], (emit_pattern)pattern);
    }
    object->apart = LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, others, rest));
  }
}

void emit_mark(emit *e, LLVMValueRef access, const emit_place *place, uint32_t alignment) {
  const emit_object *class = &e->objects[place->object->base];
  LLVMSetMetadata(access, e->scope_kind, class->scope[place->pattern]);
  LLVMSetMetadata(access, e->apart_kind, class->apart);
  if (alignment != 0) LLVMSetAlignment(access, alignment);
  const wb_object *shown = &e->program->objects[place->object->base];
  bool fixed = shown->kind == WB_OBJECT_BUFFER && !shown->writable;
  if (e->gang->threads && fixed && LLVMIsALoadInst(access) != NULL) {
    LLVMMetadataRef nothing = LLVMMDNodeInContext2(e->context, NULL, 0);
    LLVMSetMetadata(access, e->invariant_kind, LLVMMetadataAsValue(e->context, nothing));
  }
}

/* ---- addresses ---- */

LLVMValueRef emit_step(emit *e, LLVMValueRef pointer, LLVMValueRef bytes) {
  return LLVMBuildInBoundsGEP2(e->builder, e->i8, pointer, &bytes, 1, "");
}

void emit_note_used(emit *e) {
  for (int32_t id = 0; id < e->program->op_count; id++) {
    switch ((wb_opcode)e->program->ops[id].code) {
    case WB_OP_LOAD:
    case WB_OP_LOAD_ROW:
    case WB_OP_GATHER:
    case WB_OP_STORE:
    case WB_OP_STORE_ROW:
    case WB_OP_STORE_ROW_IF:
    case WB_OP_STORE_LANES:
    case WB_OP_SCATTER: e->objects[e->program->ops[id].aux].used = true; break;
    default: break;
    }
  }
}

LLVMValueRef emit_own_length(emit *e, const wb_object *object, LLVMValueRef length) {
  uint64_t own = element_bytes[object->element];
  uint64_t base = element_bytes[e->program->objects[object->base].element];
  if (own == base) return length;
  length = LLVMBuildMul(e->builder, length, emit_i64(e, base), "");
  return LLVMBuildUDiv(e->builder, length, emit_i64(e, own), "");
}

void emit_bases(emit *e) {
  for (int32_t i = 0; i < e->program->object_count; i++) {
    emit_object *object = &e->objects[i];
    if (!object->used) continue;
    if (e->program->objects[i].kind == WB_OBJECT_ARRAY) {
      object->base = emit_step(e, e->slab, emit_i64(e, (uint64_t)e->program->objects[i].offset));
    } else if (object->stride != NULL) {
      LLVMValueRef skip = LLVMBuildMul(e->builder, e->book, object->stride, "");
      object->base = emit_step(e, object->data, skip);
    } else {
      object->base = object->data;
    }
  }
}

/* Whether the index lies in 0..length-1 (or the row in 0..rows-1): one unsigned comparison. Lengths
 * of arrays that fit are compared as i32. */
static LLVMValueRef in_range(emit *e, const wb_op *op, LLVMValueRef index, bool row) {
  const emit_object *object = &e->objects[op->aux];
  LLVMValueRef limit = row ? object->rows : object->length;
  LLVMTypeRef type = LLVMTypeOf(index);
  if (emit_bits(type) == 32) {
    if (LLVMIsConstant(limit) && LLVMConstIntGetZExtValue(limit) <= INT32_MAX) {
      limit = emit_constant(type, LLVMConstIntGetZExtValue(limit));
      return LLVMBuildICmp(e->builder, LLVMIntULT, index, limit, "");
    }
    index = LLVMBuildSExt(e->builder, index, emit_like(e, type, e->types[WB_TYPE_I64]), "");
  }
  if (LLVMTypeOf(index) != LLVMTypeOf(limit)) limit = e->gang->splat(e, limit);
  return LLVMBuildICmp(e->builder, LLVMIntULT, index, limit, "");
}

static LLVMValueRef widen_index(emit *e, LLVMValueRef index) {
  LLVMTypeRef type = LLVMTypeOf(index);
  if (emit_bits(type) == 64) return index;
  return LLVMBuildZExt(e->builder, index, emit_like(e, type, e->types[WB_TYPE_I64]), "");
}

/* ---- promises ---- */

/* Notes the first broken promise of a launch. */
static void report(emit *e, LLVMValueRef broken, LLVMValueRef index) {
  LLVMBasicBlockRef after = emit_guard(e, broken, false);
  if (emit_bits(LLVMTypeOf(index)) == 32) {
    index = LLVMBuildSExt(e->builder, index, e->types[WB_TYPE_I64], "");
  }
  e->gang->note_fault(e, index);
  emit_end_guard(e, after);
}

/* Reports the first lane that breaks it. */
static void demand_lanes(emit *e, LLVMValueRef breaks, LLVMValueRef index) {
  LLVMValueRef lane = emit_count_bits(e, WB_OP_CTZ, e->gang->ballot(e, breaks));
  report(e, e->gang->any(e, breaks), e->gang->extract(e, index, lane));
}

/* Reports unless `holds`, of a scalar or of lanes. */
static void demand(emit *e, const wb_op *op, LLVMValueRef holds, LLVMValueRef index) {
  LLVMValueRef breaks = LLVMBuildNot(e->builder, holds, "");
  if (e->program->ops[op->operands[0]].shape == WB_SHAPE_SCALAR) {
    report(e, breaks, index);
  } else {
    demand_lanes(e, breaks, index);
  }
}

LLVMValueRef emit_known(emit *e, const wb_op *op) {
  LLVMValueRef value = emit_operand(e, op, 0);
  if (!e->check) return value;
  LLVMValueRef lo = emit_operand(e, op, 1), hi = emit_operand(e, op, 2);
  if (op->shape == WB_SHAPE_LANES) {
    lo = e->gang->splat(e, lo);
    hi = e->gang->splat(e, hi);
  }
  LLVMValueRef above = LLVMBuildICmp(e->builder, LLVMIntSLE, lo, value, "");
  LLVMValueRef below = LLVMBuildICmp(e->builder, LLVMIntSLE, value, hi, "");
  demand(e, op, LLVMBuildAnd(e->builder, above, below, ""), value);
  return value;
}

/* The comparison a memory op needs, NULL if none; a broken promise is reported on the way. */
static LLVMValueRef check(emit *e, const wb_op *op, LLVMValueRef index, bool row) {
  if (!wb_op_needs_check(op, e->check)) return NULL;
  LLVMValueRef holds = in_range(e, op, index, row);
  if (op->flags & WB_FLAG_IN) demand(e, op, holds, index);
  return holds;
}

/* ---- loads ---- */

static emit_pattern row_pattern(uint32_t bytes) {
  return (emit_pattern)(EMIT_ROW + (bytes >= 2) + (bytes >= 4) + (bytes >= 8));
}

/* The address of an element, or of a row by its first one. Constants are added last, where they
 * become part of an instruction. */
static LLVMValueRef address(emit *e, const emit_object *object, LLVMTypeRef type, LLVMValueRef base,
                            LLVMValueRef at, bool inside) {
  LLVMValueRef pointer = inside ? LLVMBuildInBoundsGEP2(e->builder, type, base, &at, 1, "")
                                : LLVMBuildGEP2(e->builder, type, base, &at, 1, "");
  if (object->later == 0) return pointer;
  at = emit_i64(e, (uint64_t)object->later);
  return LLVMBuildGEP2(e->builder, e->i8, pointer, &at, 1, "");
}

/* Whether the value was made before the innermost loop around the current op. */
static bool before_loop(const emit *e, int32_t id) {
  for (int32_t depth = e->depth - 1; depth >= 0; depth--) {
    int32_t opener = e->regions[depth].opener;
    uint8_t code = e->program->ops[opener].code;
    if (code == WB_OP_WHILE || code == WB_OP_FOR) return id < opener;
  }
  return true;
}

/* A thread's address of base + x + y, x from before the loop: base + x is one value all along, which
 * LLVM would not find in base + (x + y). Gives what is left of the index. */
static LLVMValueRef add_fixed_part(emit *e, const wb_op *op, LLVMTypeRef type, LLVMValueRef *base) {
  const wb_op *index = &e->program->ops[op->operands[0]];
  LLVMValueRef whole = emit_operand(e, op, 0);
  if (!e->gang->threads || index->code != WB_OP_ADD || index->type != WB_TYPE_I64) return whole;
  for (int k = 0; k < 2; k++) {
    int32_t fixed = index->operands[k], other = index->operands[1 - k];
    if (!before_loop(e, fixed) || before_loop(e, other)) continue;
    LLVMValueRef skip = e->values[fixed];
    if (LLVMIsAInstruction(skip) == NULL || LLVMIsAPHINode(skip) != NULL) continue;
    /* where it was made, so outside of the loop */
    LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
    LLVMPositionBuilderBefore(e->builder, LLVMGetNextInstruction(skip));
    *base = LLVMBuildGEP2(e->builder, type, *base, &skip, 1, "");
    LLVMPositionBuilderAtEnd(e->builder, here);
    return e->values[other];
  }
  return whole;
}

static emit_place place_of(emit *e, const wb_op *op, bool row) {
  const wb_object *object = &e->program->objects[op->aux];
  uint32_t bytes = element_bytes[object->element];
  uint64_t scale = row ? (uint64_t)bytes * (uint64_t)e->program->width : bytes;
  LLVMValueRef index = emit_operand(e, op, 0);
  emit_place place = {.object = object, .in_range = check(e, op, index, row)};
  if (row) place.pattern = row_pattern(bytes);
  const emit_object *lies = &e->objects[op->aux];
  LLVMTypeRef type = emit_element_type(e, object);
  LLVMValueRef base = row && lies->row_base != NULL ? lies->row_base : lies->base;
  LLVMValueRef at = row ? index : add_fixed_part(e, op, type, &base);
  at = widen_index(e, at);
  if (row) at = LLVMBuildMul(e->builder, at, emit_i64(e, (uint64_t)e->program->width), "");
  place.pointer = address(e, lies, type, base, at, place.in_range == NULL);
  /* arrays are aligned; buffers are as their caller's elements are */
  if (object->kind == WB_OBJECT_ARRAY) {
    place.alignment = power_of_two_in((uint64_t)object->offset | scale, WB_SLAB_ALIGNMENT);
  } else {
    uint32_t own = element_bytes[e->program->objects[object->base].element];
    place.alignment = own < bytes ? own : bytes;
  }
  return place;
}

/* A loaded element as its type: small integers are extended. */
static LLVMValueRef extend(emit *e, const wb_object *object, LLVMValueRef loaded) {
  LLVMTypeRef i32 = emit_like(e, LLVMTypeOf(loaded), e->types[WB_TYPE_I32]);
  switch ((wb_element)object->element) {
  case WB_ELEMENT_U8:
  case WB_ELEMENT_U16: return LLVMBuildZExt(e->builder, loaded, i32, "");
  case WB_ELEMENT_I8:
  case WB_ELEMENT_I16: return LLVMBuildSExt(e->builder, loaded, i32, "");
  default: return loaded;
  }
}

/* Whether an element can hold the fill value, so that a load of it gives it back. */
static bool holds_fill(const wb_object *object) {
  switch ((wb_element)object->element) {
  case WB_ELEMENT_U8: return object->fill >= 0 && object->fill <= UINT8_MAX;
  case WB_ELEMENT_U16: return object->fill >= 0 && object->fill <= UINT16_MAX;
  case WB_ELEMENT_I8: return object->fill >= INT8_MIN && object->fill <= INT8_MAX;
  case WB_ELEMENT_I16: return object->fill >= INT16_MIN && object->fill <= INT16_MAX;
  default: return true;
  }
}

/* A constant in memory that holds the object's fill value, once or for a row. */
static LLVMValueRef fill_place(emit *e, const wb_op *op, bool row) {
  emit_object *object = &e->objects[op->aux];
  LLVMValueRef *slot = row ? &object->fill_row : &object->fill;
  if (*slot != NULL) return *slot;
  LLVMTypeRef type = emit_element_type(e, &e->program->objects[op->aux]);
  if (row) type = LLVMVectorType(type, (unsigned)e->program->width);
  LLVMValueRef constant = LLVMAddGlobal(e->module, type, "");
  LLVMSetInitializer(constant, emit_constant(type, (uint64_t)e->program->objects[op->aux].fill));
  LLVMSetGlobalConstant(constant, true);
  LLVMSetLinkage(constant, LLVMPrivateLinkage);
  LLVMSetUnnamedAddress(constant, LLVMGlobalUnnamedAddr);
  LLVMSetAlignment(constant, WB_SLAB_ALIGNMENT);
  *slot = constant;
  return constant;
}

static LLVMValueRef load_from(emit *e, const emit_place *place, bool row) {
  LLVMTypeRef type = emit_element_type(e, place->object);
  if (row) return e->gang->load_row(e, place, type);
  LLVMValueRef value = LLVMBuildLoad2(e->builder, type, place->pointer, "");
  emit_mark(e, value, place, place->alignment);
  return value;
}

/* Where lanes are threads: a branch around the load, since memory of other kinds cannot be read
 * through one pointer. */
static LLVMValueRef load_around(emit *e, const emit_place *place, bool row) {
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMBasicBlockRef after = emit_guard(e, place->in_range, true);
  LLVMValueRef values[] = {NULL, extend(e, place->object, load_from(e, place, row))};
  LLVMBasicBlockRef blocks[] = {before, LLVMGetInsertBlock(e->builder)};
  emit_end_guard(e, after);
  values[0] = emit_number(values[1], (uint64_t)place->object->fill);
  LLVMValueRef value = LLVMBuildPhi(e->builder, LLVMTypeOf(values[1]), "");
  LLVMAddIncoming(value, values, blocks, 2);
  return value;
}

static LLVMValueRef load(emit *e, const wb_op *op, bool row) {
  emit_place place = place_of(e, op, row);
  if (place.in_range != NULL) {
    if (e->gang->threads) return load_around(e, &place, row);
    place.pointer =
        LLVMBuildSelect(e->builder, place.in_range, place.pointer, fill_place(e, op, row), "");
  }
  LLVMValueRef value = extend(e, place.object, load_from(e, &place, row));
  if (place.in_range != NULL && !holds_fill(place.object)) {
    LLVMValueRef fill = emit_number(value, (uint64_t)place.object->fill);
    value = LLVMBuildSelect(e->builder, place.in_range, value, fill, "");
  }
  return value;
}

LLVMValueRef emit_load(emit *e, const wb_op *op) { return load(e, op, false); }
LLVMValueRef emit_load_row(emit *e, const wb_op *op) { return load(e, op, true); }

/* ---- stores ---- */

/* What memory gets of a value: the low bits, a canonical NaN. */
static LLVMValueRef shrink(emit *e, const wb_object *object, LLVMValueRef value) {
  if (object->element == WB_ELEMENT_F32) return emit_visible_bits(e, value);
  LLVMTypeRef type = emit_like(e, LLVMTypeOf(value), emit_element_type(e, object));
  return type == LLVMTypeOf(value) ? value : LLVMBuildTrunc(e->builder, value, type, "");
}

void emit_store(emit *e, const wb_op *op) {
  emit_place place = place_of(e, op, false);
  LLVMValueRef value = shrink(e, place.object, emit_operand(e, op, 1));
  LLVMBasicBlockRef after = NULL;
  if (place.in_range != NULL) after = emit_guard(e, place.in_range, true);
  emit_mark(e, LLVMBuildStore(e->builder, value, place.pointer), &place, place.alignment);
  if (after != NULL) emit_end_guard(e, after);
}

void emit_store_row(emit *e, const wb_op *op) {
  emit_place place = place_of(e, op, true);
  LLVMValueRef value = shrink(e, place.object, emit_operand(e, op, 1));
  LLVMValueRef mask = op->code == WB_OP_STORE_ROW_IF ? emit_operand(e, op, 2) : NULL;
  LLVMBasicBlockRef after = NULL;
  if (place.in_range != NULL) after = emit_guard(e, place.in_range, true);
  e->gang->store_row(e, &place, value, mask);
  if (after != NULL) emit_end_guard(e, after);
}

/* ---- gather and scatter ---- */

/* A buffer is aligned as its caller's elements are, whatever a view makes of them. */
static uint32_t element_alignment(const emit *e, const wb_object *object) {
  uint32_t bytes = element_bytes[object->element];
  uint32_t own = element_bytes[e->program->objects[object->base].element];
  return object->kind == WB_OBJECT_BUFFER && own < bytes ? own : bytes;
}

static emit_place places_of(emit *e, const wb_op *op) {
  const wb_object *object = &e->program->objects[op->aux];
  LLVMValueRef index = emit_operand(e, op, 0);
  emit_place place = {.object = object, .in_range = check(e, op, index, false)};
  if (place.in_range == NULL) {
    LLVMTypeRef mask = emit_like(e, LLVMTypeOf(index), e->types[WB_TYPE_BOOL]);
    place.in_range = emit_constant(mask, 1);
  }
  place.pattern = EMIT_LANES;
  const emit_object *lies = &e->objects[op->aux];
  LLVMValueRef at = widen_index(e, index);
  place.pointer = address(e, lies, emit_element_type(e, object), lies->base, at, false);
  place.alignment = element_alignment(e, object);
  return place;
}

LLVMValueRef emit_gather(emit *e, const wb_op *op) {
  emit_place place = places_of(e, op);
  LLVMTypeRef type = e->gang->type(e, emit_element_type(e, place.object));
  LLVMValueRef fill = emit_constant(type, (uint64_t)place.object->fill);
  LLVMValueRef value = e->gang->gather(e, &place, place.pointer, place.in_range, fill);
  value = extend(e, place.object, value);
  if (!holds_fill(place.object)) {
    LLVMValueRef whole = emit_number(value, (uint64_t)place.object->fill);
    value = LLVMBuildSelect(e->builder, place.in_range, value, whole, "");
  }
  return value;
}

void emit_scatter(emit *e, const wb_op *op) {
  emit_place place = places_of(e, op);
  LLVMValueRef value = shrink(e, place.object, emit_operand(e, op, 1));
  e->gang->scatter(e, &place, place.pointer, place.in_range, value);
}

/* ---- neighbours ---- */

/* The lanes of `mask` whose element exists. The sum of index and lane may wrap: what it gives then is
 * negative or more than any object has, as the true sum is. */
static LLVMValueRef lanes_in_range(emit *e, const wb_op *op, LLVMValueRef index,
                                   LLVMValueRef mask) {
  LLVMValueRef lane = e->gang->lane_id(e);
  LLVMTypeRef wide = emit_like(e, LLVMTypeOf(lane), e->types[WB_TYPE_I64]);
  lane = LLVMBuildZExt(e->builder, lane, wide, "");
  LLVMValueRef element = LLVMBuildAdd(e->builder, e->gang->splat(e, index), lane, "");
  LLVMValueRef holds = in_range(e, op, element, false);
  if (op->flags & WB_FLAG_IN) {
    LLVMValueRef out = LLVMBuildNot(e->builder, holds, "");
    demand_lanes(e, LLVMBuildAnd(e->builder, mask, out, ""), element);
  }
  return LLVMBuildAnd(e->builder, mask, holds, "");
}

/* Lanes that do not store may lie before the object, so an index is extended with its sign. */
void emit_store_lanes(emit *e, const wb_op *op) {
  const wb_object *object = &e->program->objects[op->aux];
  const emit_object *lies = &e->objects[op->aux];
  LLVMValueRef index = emit_operand(e, op, 0), mask = emit_operand(e, op, 2);
  LLVMValueRef value = shrink(e, object, emit_operand(e, op, 1));
  if (emit_bits(LLVMTypeOf(index)) == 32) {
    index = LLVMBuildSExt(e->builder, index, e->types[WB_TYPE_I64], "");
  }
  if (wb_op_needs_check(op, e->check)) mask = lanes_in_range(e, op, index, mask);
  emit_place place = {.object = object, .pattern = EMIT_LANES};
  place.pointer = address(e, lies, emit_element_type(e, object), lies->base, index, false);
  place.alignment = element_alignment(e, object);
  e->gang->store_lanes(e, &place, value, mask);
}

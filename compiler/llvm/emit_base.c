/* Small steps of emitting IR: types, constants, calls of intrinsics, guards.
 *
 * Constants are made from bits, whatever the type, and spread over vectors. Intrinsics are found by
 * name, so that one which this build of LLVM lacks is an error and not an abort. */
#include "emit.h"

#include <string.h>

LLVMTypeRef emit_type(emit *e, wb_type type, wb_shape shape) {
  LLVMTypeRef scalar = e->types[type];
  return shape == WB_SHAPE_LANES ? e->gang->type(e, scalar) : scalar;
}

LLVMTypeRef emit_scalar_type(LLVMTypeRef type) {
  return LLVMGetTypeKind(type) == LLVMVectorTypeKind ? LLVMGetElementType(type) : type;
}

LLVMTypeRef emit_like(emit *e, LLVMTypeRef like, LLVMTypeRef scalar) {
  (void)e;
  if (LLVMGetTypeKind(like) != LLVMVectorTypeKind) return scalar;
  return LLVMVectorType(scalar, LLVMGetVectorSize(like));
}

bool emit_is_float(LLVMValueRef value) {
  LLVMTypeKind kind = LLVMGetTypeKind(emit_scalar_type(LLVMTypeOf(value)));
  return kind == LLVMFloatTypeKind || kind == LLVMDoubleTypeKind;
}

uint32_t emit_bits(LLVMTypeRef integer) { return LLVMGetIntTypeWidth(emit_scalar_type(integer)); }

LLVMValueRef emit_constant(LLVMTypeRef type, uint64_t bits) {
  switch (LLVMGetTypeKind(type)) {
  case LLVMVectorTypeKind: {
    LLVMValueRef lanes[WB_WIDTH_MAX];
    uint32_t width = LLVMGetVectorSize(type);
    LLVMValueRef one = emit_constant(LLVMGetElementType(type), bits);
    for (uint32_t lane = 0; lane < width; lane++) lanes[lane] = one;
    return LLVMConstVector(lanes, width);
  }
  case LLVMFloatTypeKind: {
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(type));
    return LLVMConstBitCast(LLVMConstInt(i32, (uint32_t)bits, false), type);
  }
  case LLVMDoubleTypeKind: {
    LLVMTypeRef i64 = LLVMInt64TypeInContext(LLVMGetTypeContext(type));
    return LLVMConstBitCast(LLVMConstInt(i64, bits, false), type);
  }
  default: {
    uint32_t width = LLVMGetIntTypeWidth(type);
    /* newer releases want no bits above the type's */
    if (width < 64) bits &= (UINT64_C(1) << width) - 1;
    return LLVMConstInt(type, bits, false);
  }
  }
}

LLVMValueRef emit_number(LLVMValueRef like, uint64_t bits) {
  return emit_constant(LLVMTypeOf(like), bits);
}

LLVMValueRef emit_i32(emit *e, uint32_t value) {
  return LLVMConstInt(e->types[WB_TYPE_I32], value, false);
}

LLVMValueRef emit_i64(emit *e, uint64_t value) {
  return LLVMConstInt(e->types[WB_TYPE_I64], value, false);
}

LLVMValueRef emit_call(emit *e, const char *intrinsic, LLVMTypeRef *overloads, size_t count,
                       LLVMValueRef *arguments, uint32_t argument_count) {
  unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
  if (id == 0) {
    emit_fail(e, intrinsic);
    return LLVMGetPoison(count > 0 ? overloads[0] : LLVMTypeOf(arguments[0]));
  }
  LLVMValueRef function = LLVMGetIntrinsicDeclaration(e->module, id, overloads, count);
  LLVMTypeRef type = LLVMGlobalGetValueType(function);
  return LLVMBuildCall2(e->builder, type, function, arguments, argument_count, "");
}

LLVMValueRef emit_call1(emit *e, const char *intrinsic, LLVMValueRef a) {
  LLVMTypeRef type = LLVMTypeOf(a);
  return emit_call(e, intrinsic, &type, 1, &a, 1);
}

LLVMValueRef emit_call2(emit *e, const char *intrinsic, LLVMValueRef a, LLVMValueRef b) {
  LLVMTypeRef type = LLVMTypeOf(a);
  LLVMValueRef both[] = {a, b};
  return emit_call(e, intrinsic, &type, 1, both, 2);
}

LLVMBasicBlockRef emit_block(emit *e, const char *name) {
  return LLVMAppendBasicBlockInContext(e->context, e->function, name);
}

void emit_weights(emit *e, LLVMValueRef branch, const uint32_t *weights, uint32_t count) {
  LLVMMetadataRef parts[1 + 64];
  if (count > 64) return;
  parts[0] = LLVMMDStringInContext2(e->context, "branch_weights", strlen("branch_weights"));
  for (uint32_t i = 0; i < count; i++) {
    parts[1 + i] = LLVMValueAsMetadata(emit_i32(e, weights[i]));
  }
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, parts, count + 1);
  LLVMSetMetadata(branch, e->weights_kind, LLVMMetadataAsValue(e->context, node));
}

LLVMBasicBlockRef emit_guard(emit *e, LLVMValueRef condition, bool likely) {
  LLVMBasicBlockRef then = emit_block(e, "");
  LLVMBasicBlockRef after = emit_block(e, "");
  LLVMValueRef branch = LLVMBuildCondBr(e->builder, condition, then, after);
  emit_weights(e, branch, likely ? (uint32_t[]){2000, 1} : (uint32_t[]){1, 2000}, 2);
  LLVMPositionBuilderAtEnd(e->builder, then);
  return after;
}

void emit_end_guard(emit *e, LLVMBasicBlockRef after) {
  LLVMBuildBr(e->builder, after);
  LLVMPositionBuilderAtEnd(e->builder, after);
}

LLVMValueRef emit_local(emit *e, LLVMTypeRef type, uint32_t alignment) {
  LLVMValueRef local = LLVMBuildAlloca(e->locals, type, "");
  if (alignment != 0) LLVMSetAlignment(local, alignment);
  return local;
}

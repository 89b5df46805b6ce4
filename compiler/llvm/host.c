/* What stands around a program's ops on a host: the arguments are read once, then a loop runs book
 * after book.
 *
 * The float environment (round to nearest, denormals kept) is its caller's business, wb_kernel_run's:
 * it is set once for a launch, and nothing in here changes it. */
#include "host.h"

#include "emit.h"

#include <string.h>

static void set_attribute(LLVMContextRef context, LLVMValueRef function, unsigned index,
                          const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  if (kind == 0) return; /* attributes only help: a release that dropped one does without */
  LLVMAddAttributeAtIndex(function, index, LLVMCreateEnumAttribute(context, kind, 0));
}

static void set_text_attribute(LLVMContextRef context, LLVMValueRef function, const char *name,
                               const char *value) {
  LLVMAttributeRef attribute = LLVMCreateStringAttribute(context, name, (unsigned)strlen(name),
                                                         value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(function, (unsigned)LLVMAttributeFunctionIndex, attribute);
}

static LLVMValueRef add_function(emit *e, const target *t, const char *name) {
  LLVMTypeRef arguments[] = {e->pointer, e->types[WB_TYPE_I64], e->types[WB_TYPE_I64]};
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), arguments, 3, false);
  LLVMValueRef function = LLVMAddFunction(e->module, name, type);
  set_attribute(e->context, function, 1, "noalias");
  set_attribute(e->context, function, 1, "readonly");
  set_attribute(e->context, function, 1, "nocapture");
  set_attribute(e->context, function, (unsigned)LLVMAttributeFunctionIndex, "nounwind");
  set_text_attribute(e->context, function, "no-builtins", "true");
  if (t->has & TARGET_AVX512) {
    set_text_attribute(e->context, function, "prefer-vector-width", "512");
    set_text_attribute(e->context, function, "min-legal-vector-width", "512");
  }
  return function;
}

/* ---- arguments ---- */

static LLVMValueRef read_field(emit *e, LLVMTypeRef type, LLVMValueRef from, size_t offset) {
  LLVMValueRef at = emit_i64(e, offset);
  LLVMValueRef pointer = LLVMBuildInBoundsGEP2(e->builder, e->i8, from, &at, 1, "");
  return LLVMBuildLoad2(e->builder, type, pointer, "");
}

static void read_buffer(emit *e, LLVMValueRef buffers, const wb_object *object, emit_object *read) {
  LLVMTypeRef i64 = e->types[WB_TYPE_I64];
  size_t at = (size_t)object->buffer * sizeof(wb_buffer_argument);
  read->data = read_field(e, e->pointer, buffers, at + offsetof(wb_buffer_argument, data));
  LLVMValueRef length = read_field(e, i64, buffers, at + offsetof(wb_buffer_argument, length));
  read->length = emit_own_length(e, object, length);
  if (!object->shared) {
    LLVMValueRef stride = read_field(e, i64, buffers, at + offsetof(wb_buffer_argument, stride));
    int64_t base = emit_element_bytes(&e->program->objects[object->base]);
    read->stride = LLVMBuildMul(e->builder, stride, emit_i64(e, (uint64_t)base), "");
  }
}

static void read_objects(emit *e, LLVMValueRef arguments) {
  LLVMValueRef buffers =
      read_field(e, e->pointer, arguments, offsetof(wb_kernel_arguments, buffers));
  LLVMValueRef width = emit_i64(e, (uint64_t)e->program->width);
  for (int32_t i = 0; i < e->program->object_count; i++) {
    const wb_object *object = &e->program->objects[i];
    emit_object *read = &e->objects[i];
    if (!read->used) continue;
    if (object->kind == WB_OBJECT_ARRAY) {
      read->length = emit_i64(e, (uint64_t)object->length);
    } else {
      read_buffer(e, buffers, object, read);
    }
    read->rows = LLVMBuildUDiv(e->builder, read->length, width, "");
  }
}

static void read_parameters(emit *e, LLVMValueRef arguments) {
  LLVMValueRef scalars =
      read_field(e, e->pointer, arguments, offsetof(wb_kernel_arguments, scalars));
  for (int32_t i = 0; i < e->program->parameter_count; i++) {
    LLVMTypeRef type = e->types[e->program->parameters[i].type];
    /* small types are the low bytes of their 8 */
    e->parameters[i] = read_field(e, type, scalars, (size_t)i * sizeof(int64_t));
  }
}

/* ---- functions ---- */

static void emit_body(emit *e) {
  LLVMTypeRef i64 = e->types[WB_TYPE_I64];
  LLVMValueRef arguments = LLVMGetParam(e->function, 0);
  LLVMValueRef first = LLVMGetParam(e->function, 1), end = LLVMGetParam(e->function, 2);
  LLVMBasicBlockRef locals = emit_block(e, "locals"), read = emit_block(e, "arguments");
  LLVMBasicBlockRef head = emit_block(e, "books"), book = emit_block(e, "book");
  LLVMBasicBlockRef done = emit_block(e, "done");
  LLVMPositionBuilderAtEnd(e->locals, locals);
  LLVMPositionBuilderAtEnd(e->builder, read);
  LLVMValueRef slabs = read_field(e, e->pointer, arguments, offsetof(wb_kernel_arguments, slabs));
  LLVMValueRef slab_stride =
      read_field(e, i64, arguments, offsetof(wb_kernel_arguments, slab_stride));
  e->fault = read_field(e, e->pointer, arguments, offsetof(wb_kernel_arguments, fault));
  read_objects(e, arguments);
  read_parameters(e, arguments);
  LLVMBuildBr(e->builder, head);

  LLVMPositionBuilderAtEnd(e->builder, head);
  e->book = LLVMBuildPhi(e->builder, i64, "book");
  LLVMAddIncoming(e->book, &first, &read, 1);
  LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntSLT, e->book, end, "");
  LLVMBuildCondBr(e->builder, more, book, done);

  LLVMPositionBuilderAtEnd(e->builder, book);
  LLVMValueRef skip = LLVMBuildMul(e->builder, e->book, slab_stride, "");
  e->slab = LLVMBuildInBoundsGEP2(e->builder, e->i8, slabs, &skip, 1, "slab");
  emit_bases(e);
  emit_ops(e);
  LLVMBasicBlockRef last = LLVMGetInsertBlock(e->builder);
  LLVMValueRef next = LLVMBuildNSWAdd(e->builder, e->book, emit_i64(e, 1), "");
  LLVMAddIncoming(e->book, &next, &last, 1);
  LLVMBuildBr(e->builder, head);

  LLVMPositionBuilderAtEnd(e->builder, done);
  LLVMBuildRetVoid(e->builder);
  LLVMBuildBr(e->locals, read);
}

wb_status host_emit(const wb_lower_request *request, const target *t, LLVMContextRef context,
                    LLVMModuleRef module, wb_error *error) {
  emit e = {.gang = &emit_host_gang,
            .check = request->check,
            .fma = (t->has & TARGET_FMA) != 0,
            .avx2 = (t->has & TARGET_AVX2) != 0,
            .avx512 = (t->has & TARGET_AVX512) != 0};
  WB_TRY(emit_open(&e, request->program, context, module, error));
  emit_note_used(&e);
  emit_alias_classes(&e);
  e.function = add_function(&e, t, request->program->name);
  emit_body(&e);
  wb_status status = e.status;
  if (status != WB_OK && error != NULL) *error = e.error;
  emit_close(&e);
  return status;
}

/* What stands around a program's ops on an NVIDIA GPU: which book a warp runs, its parameters, and the
 * copies of the slab in shared memory. The ABI is described at the end of program.h.
 *
 * Addresses are made of the slab's (for rows: of the lane's place in its first row), the index, and a
 * constant that comes last, so that arrays share what they can and the constant is part of the load. */
#include "nvptx.h"

#include "emit.h"

#include <stdio.h>
#include <string.h>

enum {
  WARP = 32,
  GLOBAL = 1,
  SHARED = 3,
  KERNEL_CONVENTION = 71,
  PIECE = 16,    /* bytes that a thread copies at a time */
  AT_A_TIME = 4, /* pieces of a thread in one round of a copy */
  SLABS = 0,
  SLAB_STRIDE,
  FIRST_BOOK,
  END_BOOK,
  FAULT /* parameters */
};

typedef struct kernel {
  emit e;
  const placement *where;
  LLVMTypeRef global, shared; /* pointers */
  LLVMValueRef shared_slab;   /* what this warp has of shared memory */
  LLVMValueRef fill_scope;    /* metadata of accesses that copy */
  LLVMValueRef thread;        /* of the warp: all of them copy, whatever the gang's width */
} kernel;

/* ---- the function ---- */

static void annotate(emit *e, const char *what, uint32_t value) {
  LLVMMetadataRef parts[] = {LLVMValueAsMetadata(e->function),
                             LLVMMDStringInContext2(e->context, what, strlen(what)),
                             LLVMValueAsMetadata(emit_i32(e, value))};
  LLVMMetadataRef node = LLVMMDNodeInContext2(e->context, parts, 3);
  LLVMAddNamedMetadataOperand(e->module, "nvvm.annotations", LLVMMetadataAsValue(e->context, node));
}

static void set_text(emit *e, const char *name, const char *value) {
  LLVMAttributeRef attribute = LLVMCreateStringAttribute(e->context, name, (unsigned)strlen(name),
                                                         value, (unsigned)strlen(value));
  LLVMAddAttributeAtIndex(e->function, (unsigned)LLVMAttributeFunctionIndex, attribute);
}

static void set_attribute(emit *e, const char *name) {
  unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
  if (kind == 0) return;
  LLVMAddAttributeAtIndex(e->function, (unsigned)LLVMAttributeFunctionIndex,
                          LLVMCreateEnumAttribute(e->context, kind, 0));
}

/* LLVM would put a branch before wide divisions, to take a short way with small numbers. Of lanes that
 * must not be; for a smaller code it does not. */
static bool divides_lanes(const wb_program *program) {
  for (int32_t id = 0; id < program->op_count; id++) {
    const wb_op *op = &program->ops[id];
    bool divides = op->code == WB_OP_DIV || op->code == WB_OP_REM || op->code == WB_OP_UDIV ||
                   op->code == WB_OP_UREM;
    if (divides && op->type == WB_TYPE_I64) return true;
  }
  return false;
}

static void add_function(kernel *k) {
  emit *e = &k->e;
  const wb_program *program = e->program;
  LLVMTypeRef i64 = e->types[WB_TYPE_I64];
  LLVMTypeRef types[WB_GPU_FIXED_PARAMETERS + WB_GPU_BUFFER_PARAMETERS * WB_OBJECTS_MAX +
                    WB_PARAMETERS_MAX];
  uint32_t count = 0;
  types[count++] = k->global;
  for (int i = SLAB_STRIDE; i < FAULT; i++) types[count++] = i64;
  types[count++] = k->global;
  for (int32_t i = 0; i < program->buffer_count; i++) {
    types[count++] = k->global;
    types[count++] = i64;
    types[count++] = i64;
  }
  for (int32_t i = 0; i < program->parameter_count; i++) types[count++] = i64;
  LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(e->context), types, count, false);
  e->function = LLVMAddFunction(e->module, program->name, type);
  LLVMSetFunctionCallConv(e->function, KERNEL_CONVENTION);
  set_attribute(e, "nounwind");
  set_text(e, "no-builtins", "true");
  if (divides_lanes(program)) set_attribute(e, "optsize");
  annotate(e, "maxntidx", (uint32_t)(WARP * k->where->warps));
  annotate(e, "minctasm", (uint32_t)k->where->blocks);
}

/* ---- small steps ---- */

static LLVMValueRef scaled(emit *e, LLVMValueRef pointer, LLVMValueRef count, uint32_t bytes) {
  LLVMValueRef by = LLVMBuildMul(e->builder, count, emit_number(count, bytes), "");
  return emit_step(e, pointer, by);
}

static void barrier(emit *e) {
  LLVMValueRef everyone = emit_i32(e, UINT32_MAX);
  emit_call(e, "llvm.nvvm.bar.warp.sync", NULL, 0, &everyone, 1);
}

/* ---- copies ---- */

typedef struct copy {
  LLVMValueRef from, to; /* this thread's first piece */
} copy;

static LLVMValueRef piece_type_load(kernel *k, LLVMTypeRef type, LLVMValueRef from) {
  LLVMValueRef value = LLVMBuildLoad2(k->e.builder, type, from, "");
  LLVMSetAlignment(value, PIECE);
  LLVMSetMetadata(value, k->e.scope_kind, k->fill_scope);
  return value;
}

static void put_piece(kernel *k, LLVMValueRef value, LLVMValueRef to) {
  LLVMValueRef store = LLVMBuildStore(k->e.builder, value, to);
  LLVMSetAlignment(store, PIECE);
  LLVMSetMetadata(store, k->e.scope_kind, k->fill_scope);
}

/* Pieces of all threads, some at a time: loads first, then stores. `first` is bytes from the start. */
static void copy_pieces(kernel *k, const copy *c, LLVMValueRef first, uint32_t count) {
  emit *e = &k->e;
  LLVMTypeRef type = LLVMVectorType(e->types[WB_TYPE_I32], PIECE / 4);
  LLVMValueRef values[AT_A_TIME], skips[AT_A_TIME];
  for (uint32_t i = 0; i < count; i++) {
    skips[i] = LLVMBuildAdd(e->builder, first, emit_i32(e, i * WARP * PIECE), "");
    values[i] = piece_type_load(k, type, emit_step(e, c->from, skips[i]));
  }
  for (uint32_t i = 0; i < count; i++) put_piece(k, values[i], emit_step(e, c->to, skips[i]));
}

/* Whole rounds of AT_A_TIME pieces of each thread, in a loop. */
static void copy_rounds(kernel *k, const copy *c, uint32_t rounds) {
  emit *e = &k->e;
  const uint32_t step = AT_A_TIME * WARP * PIECE;
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder), round = emit_block(e, "copy");
  LLVMBasicBlockRef after = emit_block(e, "copied");
  LLVMBuildBr(e->builder, round);
  LLVMPositionBuilderAtEnd(e->builder, round);
  LLVMValueRef at = LLVMBuildPhi(e->builder, e->types[WB_TYPE_I32], "");
  copy_pieces(k, c, at, AT_A_TIME);
  LLVMValueRef next = LLVMBuildAdd(e->builder, at, emit_i32(e, step), "");
  LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntULT, next, emit_i32(e, rounds * step), "");
  LLVMBuildCondBr(e->builder, more, round, after);
  LLVMValueRef zero = emit_i32(e, 0);
  LLVMAddIncoming(at, &zero, &before, 1);
  LLVMAddIncoming(at, &next, &round, 1);
  LLVMPositionBuilderAtEnd(e->builder, after);
}

/* The last pieces, fewer than threads: a thread without one copies the last one too, which writes the
 * same bytes again. */
static void copy_rest(kernel *k, const copy *c, uint32_t done, uint32_t bytes) {
  emit *e = &k->e;
  LLVMTypeRef type = LLVMVectorType(e->types[WB_TYPE_I32], PIECE / 4);
  uint32_t last = bytes / PIECE - 1;
  LLVMValueRef most = emit_i32(e, last);
  LLVMValueRef over = LLVMBuildICmp(e->builder, LLVMIntUGT, k->thread, most, "");
  LLVMValueRef back = LLVMBuildSub(e->builder, most, k->thread, "");
  back = LLVMBuildSelect(e->builder, over, back, emit_i32(e, 0), "");
  back = LLVMBuildMul(e->builder, back, emit_i32(e, PIECE), "");
  back = LLVMBuildAdd(e->builder, back, emit_i32(e, done), "");
  LLVMValueRef wide = LLVMBuildSExt(e->builder, back, e->types[WB_TYPE_I64], "");
  LLVMValueRef from = emit_step(e, c->from, wide), to = emit_step(e, c->to, wide);
  put_piece(k, piece_type_load(k, type, from), to);
}

static void copy_run(kernel *k, const placement_run *run, bool in) {
  emit *e = &k->e;
  uint32_t bytes = (uint32_t)run->bytes, row = WARP * PIECE;
  LLVMValueRef slab_at = emit_i64(e, (uint64_t)run->slab);
  LLVMValueRef shared_at = emit_i64(e, (uint64_t)run->shared);
  LLVMValueRef slab = scaled(e, emit_step(e, e->slab, slab_at), k->thread, PIECE);
  LLVMValueRef shared = scaled(e, emit_step(e, k->shared_slab, shared_at), k->thread, PIECE);
  copy c = {.from = in ? slab : shared, .to = in ? shared : slab};
  uint32_t rounds = bytes / (AT_A_TIME * row), done = rounds * AT_A_TIME * row;
  if (rounds > 0) copy_rounds(k, &c, rounds);
  uint32_t rows = (bytes - done) / row;
  if (rows > 0) copy_pieces(k, &c, emit_i32(e, done), rows);
  done += rows * row;
  if (bytes > done) copy_rest(k, &c, done, bytes - done);
}

/* ---- the book ---- */

/* Where a thread is in the grid. */
typedef struct seat {
  LLVMValueRef warp;         /* of the block */
  LLVMValueRef thread, lane; /* of the warp; of the gang, which may be narrower */
  LLVMValueRef book;         /* i64 */
} seat;

/* Reads the special registers; `again`: in a way that LLVM does not see to be the same as before, so
 * that nothing made of them is kept in registers in between. */
static LLVMValueRef special_register(emit *e, const char *name, bool again) {
  char text[64];
  if (!again) {
    snprintf(text, sizeof text, "llvm.nvvm.read.ptx.sreg.%s", name);
    return emit_call(e, text, NULL, 0, NULL, 0);
  }
  LLVMTypeRef type = LLVMFunctionType(e->types[WB_TYPE_I32], NULL, 0, false);
  int length = snprintf(text, sizeof text, "mov.u32 $0, %%%s;", name);
  char constraint[] = "=r";
  LLVMValueRef assembly = LLVMGetInlineAsm(type, text, (size_t)length, constraint, 2, true, false,
                                           LLVMInlineAsmDialectATT, false);
  return LLVMBuildCall2(e->builder, type, assembly, NULL, 0, "");
}

/* Which warp of the block this is, as its first thread says it. All threads have it alike anyway, but only
 * this way ptxas knows: then addresses of the slab, what is read there and branches on that are the same for
 * a warp by its own analysis, and it leaves out all that would bring threads together again (BSSY, BSYNC,
 * WARPSYNC) and uses uniform registers. A branch being marked uniform is not enough for that once any
 * instruction runs under a predicate. */
static LLVMValueRef warp_of_block(emit *e, LLVMValueRef number) {
  LLVMValueRef warp = LLVMBuildLShr(e->builder, number, emit_i32(e, 5), "");
  LLVMValueRef arguments[] = {emit_i32(e, UINT32_MAX), warp, emit_i32(e, 0), emit_i32(e, WARP - 1)};
  return emit_call(e, "llvm.nvvm.shfl.sync.idx.i32", NULL, 0, arguments, 4);
}

/* The book is first_book + block * warps + warp of the block. */
static seat find_seat(kernel *k, bool again) {
  emit *e = &k->e;
  LLVMTypeRef i64 = e->types[WB_TYPE_I64];
  LLVMBuilderRef build = e->builder;
  const uint32_t width = (uint32_t)e->program->width;
  LLVMValueRef number = special_register(e, "tid.x", again);
  LLVMValueRef block = special_register(e, "ctaid.x", again);
  seat s = {.warp = warp_of_block(e, number)};
  s.thread = LLVMBuildAnd(build, number, emit_i32(e, WARP - 1), "");
  s.lane = width == WARP ? s.thread : LLVMBuildAnd(build, number, emit_i32(e, width - 1), "");
  LLVMValueRef at = LLVMBuildMul(build, block, emit_i32(e, (uint32_t)k->where->warps), "");
  at = LLVMBuildAdd(build, LLVMBuildZExt(build, at, i64, ""), LLVMBuildZExt(build, s.warp, i64, ""),
                    "");
  s.book = LLVMBuildAdd(build, LLVMGetParam(e->function, FIRST_BOOK), at, "book");
  return s;
}

/* Leads to `none` if there is no such book. */
static void need_book(kernel *k, LLVMBasicBlockRef none) {
  emit *e = &k->e;
  LLVMValueRef runs =
      LLVMBuildICmp(e->builder, LLVMIntSLT, e->book, LLVMGetParam(e->function, END_BOOK), "");
  LLVMBasicBlockRef book = emit_block(e, "book");
  LLVMBuildCondBr(e->builder, runs, book, none);
  LLVMPositionBuilderAtEnd(e->builder, book);
}

static LLVMValueRef slab_of(kernel *k, LLVMValueRef book) {
  emit *e = &k->e;
  LLVMValueRef slabs = LLVMGetParam(e->function, SLABS);
  LLVMValueRef stride = LLVMGetParam(e->function, SLAB_STRIDE);
  return emit_step(e, slabs, LLVMBuildMul(e->builder, book, stride, ""));
}

static void find_slab(kernel *k, LLVMValueRef warp) {
  emit *e = &k->e;
  e->slab = slab_of(k, e->book);
  if (k->where->shared_bytes == 0) return;
  LLVMTypeRef unknown = LLVMArrayType2(e->i8, 0);
  LLVMValueRef memory = LLVMAddGlobalInAddressSpace(e->module, unknown, "wb_shared", SHARED);
  LLVMSetLinkage(memory, LLVMExternalLinkage);
  LLVMSetAlignment(memory, PIECE);
  k->shared_slab = scaled(e, memory, warp, (uint32_t)k->where->shared_bytes);
}

/* ---- objects ---- */

static void find_array(kernel *k, int32_t i) {
  emit *e = &k->e;
  const wb_object *array = &e->program->objects[i];
  emit_object *object = &e->objects[i];
  int64_t shared_at = k->where->shared_at[i];
  object->base = shared_at >= 0 ? k->shared_slab : e->slab;
  object->later = shared_at >= 0 ? shared_at : array->offset;
  object->row_base = scaled(e, object->base, e->lane, (uint32_t)emit_element_bytes(array));
  object->length = emit_i64(e, (uint64_t)array->length);
}

static void find_buffer(kernel *k, int32_t i) {
  emit *e = &k->e;
  const wb_object *buffer = &e->program->objects[i];
  emit_object *object = &e->objects[i];
  uint32_t first = (uint32_t)(WB_GPU_FIXED_PARAMETERS + WB_GPU_BUFFER_PARAMETERS * buffer->buffer);
  object->base = LLVMGetParam(e->function, first);
  object->length = emit_own_length(e, buffer, LLVMGetParam(e->function, first + 1));
  if (buffer->shared) return;
  uint64_t bytes = (uint64_t)emit_element_bytes(&e->program->objects[buffer->base]);
  LLVMValueRef stride = LLVMGetParam(e->function, first + 2);
  if (buffer->group > 1) {
    /* it is a multiple already; now that shows */
    LLVMValueRef groups = emit_i64(e, ~(uint64_t)(buffer->group - 1));
    stride = LLVMBuildAnd(e->builder, stride, groups, "");
  }
  LLVMValueRef skip = LLVMBuildMul(e->builder, e->book, stride, "");
  object->base = emit_step(e, object->base, LLVMBuildMul(e->builder, skip, emit_i64(e, bytes), ""));
}

static void find_objects(kernel *k) {
  emit *e = &k->e;
  LLVMValueRef width = emit_i64(e, (uint64_t)e->program->width);
  for (int32_t i = 0; i < e->program->object_count; i++) {
    if (!e->objects[i].used) continue;
    if (e->program->objects[i].kind == WB_OBJECT_ARRAY) {
      find_array(k, i);
    } else {
      find_buffer(k, i);
    }
    e->objects[i].rows = LLVMBuildUDiv(e->builder, e->objects[i].length, width, "");
  }
}

static void find_scalars(kernel *k) {
  emit *e = &k->e;
  uint32_t at =
      (uint32_t)(WB_GPU_FIXED_PARAMETERS + WB_GPU_BUFFER_PARAMETERS * e->program->buffer_count);
  for (int32_t i = 0; i < e->program->parameter_count; i++) {
    LLVMValueRef whole = LLVMGetParam(e->function, at + (uint32_t)i);
    wb_type type = (wb_type)e->program->parameters[i].type;
    if (type != WB_TYPE_I64) {
      whole = LLVMBuildTrunc(e->builder, whole, e->types[WB_TYPE_I32], "");
    }
    e->parameters[i] =
        type == WB_TYPE_F32 ? LLVMBuildBitCast(e->builder, whole, e->types[type], "") : whole;
  }
}

/* ---- all of it ---- */

static void emit_body(kernel *k) {
  emit *e = &k->e;
  LLVMBasicBlockRef locals = emit_block(e, "locals"), start = emit_block(e, "start");
  LLVMBasicBlockRef done = emit_block(e, "done");
  LLVMPositionBuilderAtEnd(e->locals, locals);
  LLVMPositionBuilderAtEnd(e->builder, start);
  seat here = find_seat(k, false);
  e->book = here.book;
  e->lane = here.lane;
  k->thread = here.thread;
  need_book(k, done);
  find_slab(k, here.warp);
  e->fault = LLVMGetParam(e->function, FAULT);
  find_objects(k);
  find_scalars(k);
  for (int32_t i = 0; i < k->where->in_count; i++) copy_run(k, &k->where->in[i], true);
  if (k->where->in_count > 0) barrier(e);
  emit_ops(e);
  if (k->where->out_count > 0) {
    barrier(e);
    here = find_seat(k, true);
    e->lane = here.lane;
    k->thread = here.thread;
    e->slab = slab_of(k, here.book);
  }
  for (int32_t i = 0; i < k->where->out_count; i++) copy_run(k, &k->where->out[i], false);
  LLVMBuildBr(e->builder, done);
  LLVMPositionBuilderAtEnd(e->builder, done);
  LLVMBuildRetVoid(e->builder);
  LLVMBuildBr(e->locals, start);
}

/* Copies are ordered by barriers of their own. */
static LLVMValueRef copy_scope(emit *e) {
  LLVMMetadataRef name = LLVMMDStringInContext2(e->context, "pattern", 7);
  LLVMMetadataRef domain = LLVMMDNodeInContext2(e->context, &name, 1);
  LLVMMetadataRef parts[] = {LLVMMDStringInContext2(e->context, "copy", 4), domain};
  LLVMMetadataRef scope = LLVMMDNodeInContext2(e->context, parts, 2);
  return LLVMMetadataAsValue(e->context, LLVMMDNodeInContext2(e->context, &scope, 1));
}

wb_status nvptx_emit(const wb_lower_request *request, const target *t, const placement *where,
                     LLVMContextRef context, LLVMModuleRef module, wb_error *error) {
  kernel k = {.e = {.gang = &emit_nvptx_gang,
                    .check = request->check,
                    .fma = true,
                    .short_shared = t->short_shared},
              .where = where};
  emit *e = &k.e;
  WB_TRY(emit_open(e, request->program, context, module, error));
  k.global = LLVMPointerTypeInContext(context, GLOBAL);
  k.shared = LLVMPointerTypeInContext(context, SHARED);
  k.fill_scope = copy_scope(e);
  emit_note_used(e);
  emit_alias_classes(e);
  add_function(&k);
  emit_body(&k);
  wb_status status = e->status;
  if (status != WB_OK && error != NULL) *error = e->error;
  emit_close(e);
  return status;
}

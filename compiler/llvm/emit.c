/* The walk over a program: each op is lowered once, in order, by the one switch of this file.
 *
 * The switch names every op of ops.h and has no default, so that an op without a lowering is a
 * compile error. */
#include "emit.h"

#include <stdlib.h>
#include <string.h>

wb_status emit_open(emit *e, const wb_program *program, LLVMContextRef context,
                    LLVMModuleRef module, wb_error *error) {
  size_t ops = (size_t)program->op_count, objects = (size_t)program->object_count;
  e->program = program;
  e->context = context;
  e->module = module;
  e->values = calloc(2 * ops + 1, sizeof *e->values);
  e->parameters = calloc((size_t)program->parameter_count + 1, sizeof *e->parameters);
  e->objects = calloc(objects + 1, sizeof *e->objects);
  e->regions = calloc(WB_DEPTH_MAX + 1, sizeof *e->regions);
  if (!e->values || !e->parameters || !e->objects || !e->regions) {
    emit_close(e);
    return WB_FAIL(error, WB_ERROR_MEMORY, "lowering %s: no memory for %d ops", program->name,
                   (int)program->op_count);
  }
  e->variables = e->values + ops;
  e->types[WB_TYPE_BOOL] = LLVMInt1TypeInContext(context);
  e->types[WB_TYPE_I32] = LLVMInt32TypeInContext(context);
  e->types[WB_TYPE_I64] = LLVMInt64TypeInContext(context);
  e->types[WB_TYPE_F32] = LLVMFloatTypeInContext(context);
  e->i8 = LLVMInt8TypeInContext(context);
  e->i16 = LLVMInt16TypeInContext(context);
  e->pointer = LLVMPointerTypeInContext(context, 0);
  e->scope_kind = LLVMGetMDKindIDInContext(context, "alias.scope", strlen("alias.scope"));
  e->apart_kind = LLVMGetMDKindIDInContext(context, "noalias", strlen("noalias"));
  e->invariant_kind = LLVMGetMDKindIDInContext(context, "invariant.load", strlen("invariant.load"));
  e->weights_kind = LLVMGetMDKindIDInContext(context, "prof", strlen("prof"));
  e->builder = LLVMCreateBuilderInContext(context);
  e->locals = LLVMCreateBuilderInContext(context);
  return WB_OK;
}

void emit_close(emit *e) {
  if (e->builder != NULL) LLVMDisposeBuilder(e->builder);
  if (e->locals != NULL) LLVMDisposeBuilder(e->locals);
  free(e->values);
  free(e->parameters);
  free(e->objects);
  free(e->regions);
  e->builder = e->locals = NULL;
  e->values = e->parameters = NULL;
  e->objects = NULL;
  e->regions = NULL;
}

static const uint8_t kinds[] = {
#define X(name, text, operands, rule, result, kind) WB_KIND_##kind,
    WB_OPS(X)
#undef X
};

wb_op_kind emit_kind(const wb_op *op) { return (wb_op_kind)kinds[op->code]; }

void emit_fail(emit *e, const char *what) {
  if (e->status != WB_OK) return;
  e->status = WB_FAIL(&e->error, WB_ERROR_UNAVAILABLE, "lowering %s: this build of LLVM lacks %s",
                      e->program->name, what);
}

static LLVMValueRef arithmetic(emit *e, const wb_op *op) {
  LLVMBuilderRef build = e->builder;
  LLVMValueRef a = emit_operand(e, op, 0), b = emit_operand(e, op, 1);
  bool is_float = emit_is_float(a);
  switch ((wb_opcode)op->code) {
  case WB_OP_ADD: return is_float ? LLVMBuildFAdd(build, a, b, "") : LLVMBuildAdd(build, a, b, "");
  case WB_OP_SUB: return is_float ? LLVMBuildFSub(build, a, b, "") : LLVMBuildSub(build, a, b, "");
  case WB_OP_MUL: return is_float ? LLVMBuildFMul(build, a, b, "") : LLVMBuildMul(build, a, b, "");
  default:
    return is_float ? LLVMBuildFDiv(build, a, b, "") : emit_divide(e, (wb_opcode)op->code, a, b);
  }
}

/* Lowers one op; NULL if it makes no value, or if it put its value down itself. */
static LLVMValueRef lower(emit *e, const wb_op *op) {
  LLVMBuilderRef build = e->builder;
  const emit_gang *gang = e->gang;
  wb_opcode code = (wb_opcode)op->code;
  LLVMValueRef a = op->operands[0] >= 0 ? emit_operand(e, op, 0) : NULL;
  LLVMValueRef b = op->operands[1] >= 0 ? emit_operand(e, op, 1) : NULL;
  LLVMValueRef c = op->operands[2] >= 0 ? emit_operand(e, op, 2) : NULL;
  switch (code) {
  case WB_OP_CONST: return emit_constant(e->types[op->type], (uint64_t)op->imm);
  case WB_OP_PARAM: return e->parameters[op->aux];
  case WB_OP_BOOK: return LLVMBuildTrunc(build, e->book, e->types[WB_TYPE_I32], "");
  case WB_OP_LANE_ID: return gang->lane_id(e);

  case WB_OP_ADD:
  case WB_OP_SUB:
  case WB_OP_MUL:
  case WB_OP_DIV: return arithmetic(e, op);
  case WB_OP_REM:
  case WB_OP_UDIV:
  case WB_OP_UREM: return emit_divide(e, code, a, b);
  case WB_OP_UMULHI: return emit_umulhi(e, a, b);
  case WB_OP_AND: return LLVMBuildAnd(build, a, b, "");
  case WB_OP_OR: return LLVMBuildOr(build, a, b, "");
  case WB_OP_XOR: return LLVMBuildXor(build, a, b, "");
  case WB_OP_NOT: return LLVMBuildNot(build, a, "");
  case WB_OP_SHL:
  case WB_OP_SHR:
  case WB_OP_SAR: return emit_shift(e, code, a, b);
  case WB_OP_MIN:
  case WB_OP_MAX:
  case WB_OP_UMIN:
  case WB_OP_UMAX: return emit_extremum(e, code, a, b);
  case WB_OP_CTZ:
  case WB_OP_CLZ:
  case WB_OP_POPCNT: return emit_count_bits(e, code, a);
  case WB_OP_SQRT: return emit_call1(e, "llvm.sqrt", a);
  case WB_OP_FMA: return emit_fma(e, a, b, c);

  case WB_OP_EQ:
  case WB_OP_NE:
  case WB_OP_LT:
  case WB_OP_LE:
  case WB_OP_ULT:
  case WB_OP_ULE: return emit_compare(e, code, a, b);
  case WB_OP_SELECT: return LLVMBuildSelect(build, a, b, c, "");

  case WB_OP_SEXT:
  case WB_OP_ZEXT:
  case WB_OP_TRUNC:
  case WB_OP_FROM_BOOL:
  case WB_OP_TO_F32:
  case WB_OP_TO_I32:
  case WB_OP_TO_BITS:
  case WB_OP_FROM_BITS: return emit_convert(e, code, a);

  case WB_OP_SPLAT: return gang->splat(e, a);
  case WB_OP_BALLOT: return gang->ballot(e, a);
  case WB_OP_ANY: return gang->any(e, a);
  case WB_OP_ALL: return gang->all(e, a);
  case WB_OP_REDUCE_ADD:
  case WB_OP_REDUCE_MIN:
  case WB_OP_REDUCE_MAX:
  case WB_OP_REDUCE_UMIN:
  case WB_OP_REDUCE_UMAX:
  case WB_OP_REDUCE_AND:
  case WB_OP_REDUCE_OR:
  case WB_OP_REDUCE_XOR: return gang->reduce(e, code, a);
  case WB_OP_SCAN_ADD: return gang->scan_add(e, a);
  case WB_OP_EXTRACT: return gang->extract(e, a, b);
  case WB_OP_INSERT: return gang->insert(e, a, b, c);
  case WB_OP_SHUFFLE: return gang->shuffle(e, a, b);

  case WB_OP_KNOWN: return emit_known(e, op);
  case WB_OP_LOAD: return emit_load(e, op);
  case WB_OP_LOAD_ROW: return emit_load_row(e, op);
  case WB_OP_GATHER: return emit_gather(e, op);
  case WB_OP_STORE: return emit_store(e, op), NULL;
  case WB_OP_STORE_ROW:
  case WB_OP_STORE_ROW_IF: return emit_store_row(e, op), NULL;
  case WB_OP_STORE_LANES: return emit_store_lanes(e, op), NULL;
  case WB_OP_SCATTER: return emit_scatter(e, op), NULL;

  case WB_OP_VAR: return emit_var(e, op), NULL;
  case WB_OP_GET: return emit_get(e, op);
  case WB_OP_SET: return emit_set(e, op), NULL;

  case WB_OP_IF:
  case WB_OP_ELSE:
  case WB_OP_SWITCH:
  case WB_OP_CASE:
  case WB_OP_DEFAULT:
  case WB_OP_WHILE:
  case WB_OP_TEST:
  case WB_OP_FOR:
  case WB_OP_BLOCK:
  case WB_OP_LEAVE:
  case WB_OP_END: return emit_structure(e, op), NULL;

  case WB_OP_COUNT: break;
  }
  return NULL;
}

void emit_ops(emit *e) {
  for (int32_t id = 0; id < e->program->op_count; id++) {
    e->current = id;
    LLVMValueRef value = lower(e, &e->program->ops[id]);
    if (value != NULL) e->values[id] = value;
  }
}

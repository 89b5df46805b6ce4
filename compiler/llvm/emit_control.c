/* Structure and variables: markers become basic blocks, variables allocas in the entry block.
 *
 * The builder always stands in an open block. A leave ends the block; what follows it up to the end of
 * its region never runs and is emitted into a block of its own that nothing reaches. */
#include "emit.h"

#include <string.h>

void emit_var(emit *e, const wb_op *op) {
  LLVMTypeRef type = emit_type(e, (wb_type)op->type, (wb_shape)op->shape);
  LLVMValueRef first = emit_operand(e, op, 0);
  e->variables[e->current] = emit_local(e, type, 0);
  LLVMBuildStore(e->builder, first, e->variables[e->current]);
  e->values[e->current] = first;
}

LLVMValueRef emit_get(emit *e, const wb_op *op) {
  LLVMTypeRef type = emit_type(e, (wb_type)op->type, (wb_shape)op->shape);
  return LLVMBuildLoad2(e->builder, type, e->variables[op->operands[0]], "");
}

void emit_set(emit *e, const wb_op *op) {
  LLVMBuildStore(e->builder, emit_operand(e, op, 1), e->variables[op->operands[0]]);
}

static emit_region *innermost(emit *e) { return &e->regions[e->depth - 1]; }

/* Goes on in `block`, to which the current block does not lead. */
static void start(emit *e, LLVMBasicBlockRef block) { LLVMPositionBuilderAtEnd(e->builder, block); }

/* Leads from the current block to `block` and goes on there. */
static void flow(emit *e, LLVMBasicBlockRef block) {
  LLVMBuildBr(e->builder, block);
  start(e, block);
}

static void open_if(emit *e, const wb_op *op, emit_region *region) {
  LLVMBasicBlockRef then = emit_block(e, "then");
  region->other = emit_block(e, "else");
  LLVMValueRef branch = LLVMBuildCondBr(e->builder, emit_operand(e, op, 0), then, region->other);
  if (op->aux == WB_HINT_LIKELY) emit_weights(e, branch, (uint32_t[]){64, 1}, 2);
  if (op->aux == WB_HINT_RARE) emit_weights(e, branch, (uint32_t[]){1, 64}, 2);
  start(e, then);
}

static void open_switch(emit *e, const wb_op *op, emit_region *region) {
  region->other = emit_block(e, "default");
  region->switched = LLVMBuildSwitch(e->builder, emit_operand(e, op, 0), region->other, 8);
  start(e, emit_block(e, "none"));
}

/* The test stands before the first round and at the end of each: one branch a round. */
static void open_for(emit *e, const wb_op *op, emit_region *region) {
  LLVMValueRef lo = emit_operand(e, op, 0), hi = emit_operand(e, op, 1);
  LLVMBasicBlockRef before = LLVMGetInsertBlock(e->builder);
  LLVMValueRef any = LLVMBuildICmp(e->builder, LLVMIntSLT, lo, hi, "");
  region->other = emit_block(e, "round");
  LLVMBuildCondBr(e->builder, any, region->other, region->exit);
  start(e, region->other);
  region->switched = LLVMBuildPhi(e->builder, LLVMTypeOf(lo), "");
  LLVMAddIncoming(region->switched, &lo, &before, 1);
  e->values[e->current] = region->switched;
}

static void open_region(emit *e, const wb_op *op) {
  emit_region *region = &e->regions[e->depth++];
  *region = (emit_region){.opener = e->current, .exit = emit_block(e, "end")};
  switch ((wb_opcode)op->code) {
  case WB_OP_IF: open_if(e, op, region); break;
  case WB_OP_SWITCH: open_switch(e, op, region); break;
  case WB_OP_FOR: open_for(e, op, region); break;
  case WB_OP_WHILE:
    region->other = emit_block(e, "while");
    flow(e, region->other);
    break;
  default: break; /* a block needs its exit only */
  }
}

/* Weights of a switch, if any case carries a hint: the default's, then the cases' in their order. */
static void weigh_switch(emit *e, const emit_region *region, int32_t end) {
  static const uint32_t by_hint[] = {
      [WB_HINT_NONE] = 16, [WB_HINT_LIKELY] = 1024, [WB_HINT_RARE] = 1};
  uint32_t weights[64] = {by_hint[WB_HINT_RARE]}, count = 1;
  bool hinted = false;
  int32_t depth = 0;
  for (int32_t id = region->opener + 1; id < end; id++) {
    const wb_op *op = &e->program->ops[id];
    wb_op_kind kind = emit_kind(op);
    depth += (kind == WB_KIND_OPEN) - (kind == WB_KIND_CLOSE);
    if (depth != 0 || (op->code != WB_OP_CASE && op->code != WB_OP_DEFAULT)) continue;
    hinted |= op->aux != WB_HINT_NONE;
    if (op->code == WB_OP_DEFAULT) {
      weights[0] = by_hint[op->aux];
    } else if (count < 64) {
      weights[count++] = by_hint[op->aux];
    } else {
      return;
    }
  }
  if (hinted) emit_weights(e, region->switched, weights, count);
}

static void middle(emit *e, const wb_op *op) {
  emit_region *region = innermost(e);
  LLVMBasicBlockRef next;
  switch ((wb_opcode)op->code) {
  case WB_OP_TEST:
    next = emit_block(e, "round");
    LLVMBuildCondBr(e->builder, emit_operand(e, op, 0), next, region->exit);
    break;
  case WB_OP_CASE:
    next = emit_block(e, "case");
    LLVMBuildBr(e->builder, region->exit);
    LLVMAddCase(region->switched, emit_i32(e, (uint32_t)op->imm), next);
    break;
  default: /* else, default */
    next = region->other;
    region->other = NULL;
    LLVMBuildBr(e->builder, region->exit);
    break;
  }
  start(e, next);
}

/* Leads back to the head of a loop, or out of a branch; what was not written is empty. */
static void close_region(emit *e) {
  emit_region *region = &e->regions[--e->depth];
  switch ((wb_opcode)e->program->ops[region->opener].code) {
  case WB_OP_FOR: {
    LLVMBasicBlockRef last = LLVMGetInsertBlock(e->builder);
    LLVMValueRef hi = e->values[e->program->ops[region->opener].operands[1]];
    /* the count is below hi, so one more is no overflow */
    LLVMValueRef next =
        LLVMBuildNSWAdd(e->builder, region->switched, emit_number(region->switched, 1), "");
    LLVMAddIncoming(region->switched, &next, &last, 1);
    LLVMValueRef more = LLVMBuildICmp(e->builder, LLVMIntSLT, next, hi, "");
    LLVMBuildCondBr(e->builder, more, region->other, region->exit);
    break;
  }
  case WB_OP_WHILE: LLVMBuildBr(e->builder, region->other); break;
  case WB_OP_BLOCK: LLVMBuildBr(e->builder, region->exit); break;
  default:
    if (region->switched != NULL) weigh_switch(e, region, e->current);
    LLVMBuildBr(e->builder, region->exit);
    if (region->other != NULL) {
      start(e, region->other);
      LLVMBuildBr(e->builder, region->exit);
    }
    break;
  }
  start(e, region->exit);
}

static void leave(emit *e, const wb_op *op) {
  int32_t depth = e->depth - 1;
  while (depth > 0 && e->regions[depth].opener != op->aux) depth--;
  LLVMBuildBr(e->builder, e->regions[depth].exit);
  start(e, emit_block(e, "never"));
}

void emit_structure(emit *e, const wb_op *op) {
  switch (emit_kind(op)) {
  case WB_KIND_OPEN: open_region(e, op); break;
  case WB_KIND_MIDDLE: middle(e, op); break;
  case WB_KIND_CLOSE: close_region(e); break;
  default: leave(e, op); break;
  }
}

/* Recording of structure: branches, loops, blocks. */
#include "compiler/build.h"

#include <string.h>

static wb_val condition(wb_builder *b, wb_site site, wb_operand c, const char *op) {
  return wb_typed(b, site, c, WB_TYPE_BOOL, WB_SHAPE_SCALAR, op);
}

static int32_t innermost(const wb_builder *b) {
  return b->scope.depth > 0 ? b->scope.frames[b->scope.depth - 1].opener : -1;
}

/* emits an op that makes no value and returns its number */
static int32_t emit_marker(wb_builder *b, wb_site site, wb_op op) {
  if (!wb_builder_ok(b)) return -1;
  int32_t id = b->program->op_count;
  wb_emit(b, site, op);
  return wb_builder_ok(b) ? id : -1;
}

void wb_build_if(wb_builder *b, wb_site site, wb_operand c, wb_hint hint) {
  wb_op op = wb_op_blank(WB_OP_IF);
  op.operands[0] = condition(b, site, c, "if").id;
  op.aux = (int32_t)hint;
  wb_emit(b, site, op);
}

void wb_build_else(wb_builder *b, wb_site site) {
  if (!wb_builder_ok(b)) return;
  const wb_frame *inner = b->ended_count > 0 ? &b->ended[b->ended_count - 1] : NULL;
  bool after_if = inner != NULL && b->ended_at == b->program->op_count && inner->code == WB_OP_IF &&
                  !inner->middle;
  if (!after_if) {
    wb_build_fail(b, site, "else: expected directly behind the end of an if without else");
    return;
  }
  /* the ends just recorded were not the end after all */
  b->program->op_count -= b->ended_count;
  for (int32_t i = 0; i < b->ended_count; i++) wb_scope_reopen(&b->scope, &b->ended[i]);
  wb_emit(b, site, wb_op_blank(WB_OP_ELSE));
}

void wb_build_else_if(wb_builder *b, wb_site site, wb_operand c, wb_hint hint) {
  wb_build_if(b, site, c, hint);
  if (!wb_builder_ok(b)) return;
  wb_frame *frame = &b->scope.frames[b->scope.depth - 1];
  if (b->scope.depth < 2 || frame[-1].code != WB_OP_IF || !frame[-1].middle) {
    wb_build_fail(b, site, "else_if: expected inside an else");
    return;
  }
  frame->chain = (uint16_t)(frame[-1].chain + 1);
}

void wb_build_switch(wb_builder *b, wb_site site, wb_operand selector) {
  wb_op op = wb_op_blank(WB_OP_SWITCH);
  op.operands[0] = wb_typed(b, site, selector, WB_TYPE_I32, WB_SHAPE_SCALAR, "switch").id;
  wb_emit(b, site, op);
}

void wb_build_case(wb_builder *b, wb_site site, int64_t selector, wb_hint hint) {
  wb_op op = wb_op_blank(WB_OP_CASE);
  op.imm = selector;
  op.aux = (int32_t)hint;
  wb_emit(b, site, op);
}

void wb_build_default(wb_builder *b, wb_site site, wb_hint hint) {
  wb_op op = wb_op_blank(WB_OP_DEFAULT);
  op.aux = (int32_t)hint;
  wb_emit(b, site, op);
}

wb_label wb_build_while(wb_builder *b, wb_site site) {
  return (wb_label){emit_marker(b, site, wb_op_blank(WB_OP_WHILE))};
}

void wb_build_test(wb_builder *b, wb_site site, wb_operand c) {
  wb_op op = wb_op_blank(WB_OP_TEST);
  op.operands[0] = condition(b, site, c, "test").id;
  wb_emit(b, site, op);
}

wb_val wb_build_for(wb_builder *b, wb_site site, wb_operand lo, wb_operand hi) {
  wb_type type = WB_TYPE_I32;
  wb_operand bounds[2] = {lo, hi};
  for (int i = 1; i >= 0; i--) {
    if (bounds[i].kind == WB_OPERAND_VARIABLE) {
      bounds[i] = wb_operand_value(wb_build_get(b, site, (wb_var){bounds[i].id}));
    }
    if (!wb_is_number(bounds[i])) {
      type = wb_build_type(b, (wb_val){bounds[i].id});
    } else if (wb_number_type(bounds[i]) == WB_TYPE_I64) {
      type = WB_TYPE_I64;
    }
  }
  wb_op op = wb_op_blank(WB_OP_FOR);
  op.operands[0] = wb_typed(b, site, bounds[0], type, WB_SHAPE_SCALAR, "for").id;
  op.operands[1] = wb_typed(b, site, bounds[1], type, WB_SHAPE_SCALAR, "for").id;
  return wb_emit(b, site, op);
}

wb_label wb_build_block(wb_builder *b, wb_site site) {
  return (wb_label){emit_marker(b, site, wb_op_blank(WB_OP_BLOCK))};
}

void wb_build_leave(wb_builder *b, wb_site site, wb_label label) {
  wb_op op = wb_op_blank(WB_OP_LEAVE);
  op.aux = label.id;
  wb_emit(b, site, op);
}

void wb_build_end(wb_builder *b, wb_site site) {
  if (!wb_builder_ok(b)) return;
  int32_t depth = b->scope.depth;
  int32_t count = depth > 0 ? 1 + b->scope.frames[depth - 1].chain : 1;
  if (depth > 0) {
    b->ended_count = count;
    memcpy(b->ended, &b->scope.frames[depth - count], (size_t)count * sizeof *b->ended);
  }
  for (int32_t i = 0; i < count; i++) {
    wb_op op = wb_op_blank(WB_OP_END);
    op.aux = innermost(b);
    wb_emit(b, site, op);
  }
  b->ended_at = b->program->op_count;
}

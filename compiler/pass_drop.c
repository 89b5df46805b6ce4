/* Dropping: code that never runs and values that nobody uses disappear.
 *
 * Never runs: what stands behind a leave in its region, the other arm of a branch on a constant, a
 * counted loop without a round. Then everything without a way to an effect: loads, pure ops, variables
 * that are never read with all that only sets them. Structure, stores and leaves stay. */
#include "compiler/internal.h"
#include "compiler/passes.h"
#include "compiler/rewrite.h"

#include <stdlib.h>

typedef struct state {
  const wb_program *program;
  uint8_t *gone; /* never runs, or a marker that is no longer needed */
  uint8_t *live;
} state;

static uint8_t kind_of(const state *s, int32_t id) {
  return wb_op_describe((wb_opcode)s->program->ops[id].code)->kind;
}

/* the next marker of the region that op `id` stands in (or opens), passing over nested ones */
static int32_t next_marker(const state *s, int32_t id) {
  int32_t depth = 0;
  for (int32_t i = id + 1; i < s->program->op_count; i++) {
    if (s->gone[i]) continue;
    uint8_t kind = kind_of(s, i);
    if (depth == 0 && (kind == WB_KIND_MIDDLE || kind == WB_KIND_CLOSE)) return i;
    if (kind == WB_KIND_OPEN) depth++;
    if (kind == WB_KIND_CLOSE) depth--;
  }
  return s->program->op_count;
}

static void erase(state *s, int32_t from, int32_t to) {
  for (int32_t i = from; i < to; i++) s->gone[i] = 1;
}

static const wb_op *constant(const state *s, int32_t id) {
  const wb_op *op = &s->program->ops[id];
  return op->code == WB_OP_CONST ? op : NULL;
}

/* keeps the ops in (first, last) of a branch that ends at `end`, and nothing else of it */
static void keep_arm(state *s, int32_t opener, int32_t first, int32_t last, int32_t end) {
  erase(s, opener, first + 1);
  erase(s, last, end + 1);
}

static void settle_if(state *s, int32_t id) {
  const wb_op *condition = constant(s, s->program->ops[id].operands[0]);
  if (condition == NULL) return;
  int32_t middle = next_marker(s, id);
  bool has_else = s->program->ops[middle].code == WB_OP_ELSE;
  int32_t end = has_else ? next_marker(s, middle) : middle;
  if (condition->imm != 0) {
    keep_arm(s, id, id, middle, end);
  } else {
    keep_arm(s, id, middle, end, end);
  }
}

static void settle_switch(state *s, int32_t id) {
  const wb_op *selector = constant(s, s->program->ops[id].operands[0]);
  if (selector == NULL) return;
  int32_t arm = -1, end = id;
  do {
    end = next_marker(s, end);
    const wb_op *op = &s->program->ops[end];
    bool taken = (op->code == WB_OP_CASE && op->imm == selector->imm) || op->code == WB_OP_DEFAULT;
    if (arm < 0 && taken) arm = end;
  } while (s->program->ops[end].code != WB_OP_END);
  if (arm < 0) {
    erase(s, id, end + 1);
  } else {
    keep_arm(s, id, arm, next_marker(s, arm), end);
  }
}

static void settle_for(state *s, int32_t id) {
  const wb_op *lo = constant(s, s->program->ops[id].operands[0]);
  const wb_op *hi = constant(s, s->program->ops[id].operands[1]);
  if (lo != NULL && hi != NULL && lo->imm >= hi->imm) erase(s, id, next_marker(s, id) + 1);
}

static void settle_leave(state *s, int32_t id) {
  int32_t marker = next_marker(s, id);
  /* a loop's condition must keep what its test uses */
  bool in_condition = marker < s->program->op_count && s->program->ops[marker].code == WB_OP_TEST;
  if (!in_condition) erase(s, id + 1, marker);
}

static void find_unreachable(state *s) {
  for (int32_t id = 0; id < s->program->op_count; id++) {
    if (s->gone[id]) continue;
    switch ((wb_opcode)s->program->ops[id].code) {
    case WB_OP_IF: settle_if(s, id); break;
    case WB_OP_SWITCH: settle_switch(s, id); break;
    case WB_OP_FOR: settle_for(s, id); break;
    case WB_OP_LEAVE: settle_leave(s, id); break;
    default: break;
    }
  }
}

static bool is_root(const state *s, int32_t id) {
  const wb_op *op = &s->program->ops[id];
  if (op->code == WB_OP_VAR) return false;
  if (op->code == WB_OP_SET) return s->live[op->operands[0]];
  uint8_t kind = kind_of(s, id);
  return kind == WB_KIND_EFFECT || kind == WB_KIND_OPEN || kind == WB_KIND_MIDDLE ||
         kind == WB_KIND_CLOSE;
}

/* backwards; again if a variable came to life, since what sets it may stand anywhere */
static void find_live(state *s) {
  bool changed = true;
  while (changed) {
    changed = false;
    for (int32_t id = s->program->op_count - 1; id >= 0; id--) {
      if (s->gone[id]) continue;
      if (!s->live[id] && is_root(s, id)) {
        s->live[id] = 1;
        changed = true;
      }
      if (!s->live[id]) continue;
      const wb_op *op = &s->program->ops[id];
      int32_t operands = wb_op_describe((wb_opcode)op->code)->operands;
      for (int32_t i = 0; i < operands; i++) s->live[op->operands[i]] = 1;
    }
  }
}

wb_status wb_pass_drop(wb_program *program, wb_error *error) {
  wb_rewrite rewrite;
  size_t count = (size_t)program->op_count + 1;
  state s = {program, calloc(count, 1), calloc(count, 1)};
  wb_status status = WB_ERROR_MEMORY;
  if (s.gone != NULL && s.live != NULL) {
    status = wb_rewrite_start(&rewrite, program, error);
  } else {
    WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory for a pass", program->name);
  }
  if (status == WB_OK) {
    find_unreachable(&s);
    find_live(&s);
    for (int32_t id = 0; id < program->op_count; id++) {
      if (s.live[id] && !s.gone[id]) wb_rewrite_emit(&rewrite, &program->ops[id], id);
    }
    wb_rewrite_finish(&rewrite);
  }
  free(s.gone);
  free(s.live);
  return status;
}

/* Nesting and visibility: follows a program op by op and knows which regions are open.
 *
 * Each arm of an if or switch, each loop, each block is a region with a number. A value may be used
 * while the region it was made in is open; numbers are never used twice, so one array answers that. */
#include "compiler/internal.h"

#include <stdlib.h>
#include <string.h>

wb_status wb_scope_start(wb_scope *scope, wb_error *error) {
  memset(scope, 0, sizeof *scope);
  scope->region_capacity = 64;
  scope->open = calloc((size_t)scope->region_capacity, 1);
  if (scope->open == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "scope: out of memory");
  scope->open[0] = 1; /* region 0: the whole program */
  scope->region_count = 1;
  return WB_OK;
}

void wb_scope_free(wb_scope *scope) {
  free(scope->region_of);
  free(scope->open);
  scope->region_of = NULL;
  scope->open = NULL;
}

static wb_status make_room(wb_scope *scope, int32_t id, wb_error *error) {
  if (id >= scope->op_capacity) {
    int32_t larger = id < 64 ? 128 : id * 2;
    int32_t *moved = realloc(scope->region_of, (size_t)larger * sizeof *moved);
    if (moved == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "scope: out of memory");
    scope->region_of = moved;
    scope->op_capacity = larger;
  }
  if (scope->region_count == scope->region_capacity) {
    int32_t larger = scope->region_capacity * 2;
    uint8_t *moved = realloc(scope->open, (size_t)larger);
    if (moved == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "scope: out of memory");
    scope->open = moved;
    scope->region_capacity = larger;
  }
  return WB_OK;
}

static int32_t open_region(wb_scope *scope) {
  scope->open[scope->region_count] = 1;
  return scope->region_count++;
}

static int32_t current_region(const wb_scope *scope) {
  return scope->depth == 0 ? 0 : scope->frames[scope->depth - 1].region;
}

static wb_frame *top_frame(wb_scope *scope) {
  return scope->depth == 0 ? NULL : &scope->frames[scope->depth - 1];
}

static void close_region(wb_scope *scope, wb_frame *frame) {
  if (frame->region >= 0) scope->open[frame->region] = 0;
  frame->region = -1;
}

static wb_status misplaced(const wb_program *program, const wb_op *op, const char *expected,
                           const wb_frame *frame, wb_error *error) {
  char site[128] = "";
  if (frame != NULL) wb_program_site(program, frame->opener, site, sizeof site);
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: expected %s; innermost open is %s%s%s",
                 wb_op_describe((wb_opcode)op->code)->text, expected,
                 frame != NULL ? wb_op_describe((wb_opcode)frame->code)->text : "nothing",
                 frame != NULL ? " from " : "", site);
}

static wb_status visible(const wb_scope *scope, const wb_program *program, const wb_op *op,
                         wb_error *error) {
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  for (int32_t i = 0; i < info->operands; i++) {
    int32_t id = op->operands[i];
    if (scope->open[scope->region_of[id]]) continue;
    char site[128];
    wb_program_site(program, id, site, sizeof site);
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: operand %d: the %s made at %s is not visible here, its block has ended; a "
                   "variable made before the block can carry it out",
                   info->text, i + 1, program->ops[id].code == WB_OP_VAR ? "variable" : "value",
                   site);
  }
  return WB_OK;
}

static wb_status open_frame(wb_scope *scope, const wb_op *op, int32_t id, wb_error *error) {
  if (scope->depth == WB_DEPTH_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT, "%s: more than %d nested blocks",
                   wb_op_describe((wb_opcode)op->code)->text, WB_DEPTH_MAX);
  }
  wb_frame frame = {.opener = id, .region = -1, .code = op->code};
  if (op->code != WB_OP_SWITCH) frame.region = open_region(scope);
  scope->frames[scope->depth++] = frame;
  return WB_OK;
}

static wb_status new_case(wb_scope *scope, const wb_program *program, int32_t id, wb_error *error) {
  const wb_op *op = &program->ops[id];
  wb_frame *frame = top_frame(scope);
  int32_t depth = 0;
  /* a selector must not repeat among the cases of this switch */
  for (int32_t i = frame->opener + 1; i < id; i++) {
    const wb_op *other = &program->ops[i];
    uint8_t kind = wb_op_describe((wb_opcode)other->code)->kind;
    if (depth == 0 && other->code == WB_OP_CASE && other->imm == op->imm) {
      char site[128];
      wb_program_site(program, i, site, sizeof site);
      return WB_FAIL(error, WB_ERROR_ARGUMENT, "case: %lld is taken by the case at %s",
                     (long long)op->imm, site);
    }
    if (kind == WB_KIND_OPEN) depth++;
    if (kind == WB_KIND_CLOSE) depth--;
  }
  if (!wb_constant_valid(WB_TYPE_I32, op->imm)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "case: expected an i32, given %lld",
                   (long long)op->imm);
  }
  close_region(scope, frame);
  frame->region = open_region(scope);
  return WB_OK;
}

static wb_status middle(wb_scope *scope, const wb_program *program, int32_t id, wb_error *error) {
  const wb_op *op = &program->ops[id];
  wb_frame *frame = top_frame(scope);
  uint8_t code = frame != NULL ? frame->code : WB_OP_COUNT;
  bool first = frame != NULL && !frame->middle;
  switch (op->code) {
  case WB_OP_ELSE:
    if (code != WB_OP_IF || !first) {
      return misplaced(program, op, "an if that has no else yet", frame, error);
    }
    break;
  case WB_OP_TEST:
    if (code != WB_OP_WHILE || !first) {
      return misplaced(program, op, "a while that has no test yet", frame, error);
    }
    frame->middle = 1;
    return WB_OK; /* the condition's values stay visible in the body */
  case WB_OP_CASE:
    if (code != WB_OP_SWITCH || !first) {
      return misplaced(program, op, "a switch that has no default yet", frame, error);
    }
    return new_case(scope, program, id, error);
  default: /* DEFAULT */
    if (code != WB_OP_SWITCH || !first) {
      return misplaced(program, op, "a switch that has no default yet", frame, error);
    }
    break;
  }
  frame->middle = 1;
  close_region(scope, frame);
  frame->region = open_region(scope);
  return WB_OK;
}

static wb_status close_frame(wb_scope *scope, const wb_program *program, const wb_op *op,
                             wb_error *error) {
  wb_frame *frame = top_frame(scope);
  if (frame == NULL || op->aux != frame->opener) {
    return misplaced(program, op, "an open block", frame, error);
  }
  if (frame->code == WB_OP_WHILE && !frame->middle) {
    return misplaced(program, op, "a test before it", frame, error);
  }
  close_region(scope, frame);
  scope->depth--;
  return WB_OK;
}

static wb_status leave(const wb_scope *scope, const wb_program *program, const wb_op *op,
                       wb_error *error) {
  for (int32_t i = scope->depth - 1; i >= 0; i--) {
    if (scope->frames[i].opener != op->aux) continue;
    uint8_t code = scope->frames[i].code;
    if (code == WB_OP_BLOCK || code == WB_OP_WHILE || code == WB_OP_FOR) return WB_OK;
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "leave: expected a block or loop, given %s",
                   wb_op_describe((wb_opcode)code)->text);
  }
  char site[128];
  wb_program_site(program, op->aux, site, sizeof site);
  return WB_FAIL(
      error, WB_ERROR_ARGUMENT,
      "leave: expected an enclosing block or loop, given the one at %s, which is not open", site);
}

wb_status wb_scope_step(wb_scope *scope, const wb_program *program, int32_t id, wb_error *error) {
  const wb_op *op = &program->ops[id];
  uint8_t kind = wb_op_describe((wb_opcode)op->code)->kind;
  WB_TRY(make_room(scope, id, error));
  if (current_region(scope) < 0 && kind != WB_KIND_MIDDLE && kind != WB_KIND_CLOSE) {
    return misplaced(program, op, "a case around it", top_frame(scope), error);
  }
  WB_TRY(visible(scope, program, op, error));
  if (op->code == WB_OP_LEAVE) WB_TRY(leave(scope, program, op, error));
  if (kind == WB_KIND_OPEN) WB_TRY(open_frame(scope, op, id, error));
  if (kind == WB_KIND_MIDDLE) WB_TRY(middle(scope, program, id, error));
  if (kind == WB_KIND_CLOSE) WB_TRY(close_frame(scope, program, op, error));
  /* a loop's count belongs to the loop, which is open by now */
  int32_t region = current_region(scope);
  scope->region_of[id] = region < 0 ? 0 : region;
  return WB_OK;
}

void wb_scope_reopen(wb_scope *scope, const wb_frame *frame) {
  scope->frames[scope->depth++] = *frame;
  if (frame->region >= 0) scope->open[frame->region] = 1;
}

wb_status wb_scope_finish(const wb_scope *scope, const wb_program *program, wb_error *error) {
  if (scope->depth == 0) return WB_OK;
  const wb_frame *frame = &scope->frames[scope->depth - 1];
  char site[128];
  wb_program_site(program, frame->opener, site, sizeof site);
  return WB_FAIL(error, WB_ERROR_ARGUMENT,
                 "%s from %s is never ended (was its block left by return, break or goto?)",
                 wb_op_describe((wb_opcode)frame->code)->text, site);
}

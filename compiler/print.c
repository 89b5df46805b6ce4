/* Programs as text: one declaration or op a line, nothing lost but call sites and spare fields.
 *
 *   program reduce width 32 slab 640
 *   array @0 key i32 length 128 offset 0 fill 2147483647
 *   buffer @1 tape i32 shared read fill 0
 *   buffer @5 trades i64 per_book write group 4 fill 0
 *   view @2 tape_i64 i64 of @1 fill 0
 *   param $0 limit i64
 *   %0 = const i32 5
 *   %1 = load i32 @0[%0] in
 *   if %2 likely
 *     store @0[%0] %1 proven
 *   end
 *
 * The number of an op is its place among the ops, counted from 0, whether or not it makes a value;
 * END shows no opener, LEAVE shows the op it leaves. Editors: the text must stay readable by a parser
 * that looks at one line at a time, and equal programs must print equally. */
#include "compiler/internal.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *hint_text(int32_t hint) {
  return hint == WB_HINT_LIKELY ? " likely" : hint == WB_HINT_RARE ? " rare" : "";
}

static void print_object(const wb_program *program, int32_t id, FILE *out) {
  const wb_object *o = &program->objects[id];
  const char *element = wb_element_text((wb_element)o->element);
  if (o->base != id) {
    fprintf(out, "view @%d %s %s of @%d", id, o->name, element, o->base);
  } else if (o->kind == WB_OBJECT_ARRAY) {
    fprintf(out, "array @%d %s %s length %" PRId64 " offset %" PRId64, id, o->name, element,
            o->length, o->offset);
  } else {
    fprintf(out, "buffer @%d %s %s %s %s", id, o->name, element, o->shared ? "shared" : "per_book",
            o->writable ? "write" : "read");
    if (o->group > 1) fprintf(out, " group %d", (int)o->group);
  }
  fprintf(out, " fill %" PRId64 "\n", o->fill);
}

static void print_fields(const wb_op *op, FILE *out) {
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  int32_t first = 0;
  if (wb_op_accesses(op)) fprintf(out, " @%d[%%%d]", op->aux, op->operands[first++]);
  switch ((wb_opcode)op->code) {
  case WB_OP_CONST:
    fprintf(out, op->type == WB_TYPE_F32 ? " 0x%08" PRIx64 : " %" PRId64, op->imm);
    break;
  case WB_OP_PARAM: fprintf(out, " $%d", op->aux); break;
  case WB_OP_CASE: fprintf(out, " %" PRId64 "%s", op->imm, hint_text(op->aux)); break;
  case WB_OP_DEFAULT: fprintf(out, "%s", hint_text(op->aux)); break;
  case WB_OP_LEAVE: fprintf(out, " %%%d", op->aux); break;
  default: break;
  }
  for (int32_t i = first; i < info->operands; i++) fprintf(out, " %%%d", op->operands[i]);
  if (op->code == WB_OP_IF) fprintf(out, "%s", hint_text(op->aux));
  if (op->flags & WB_FLAG_IN) fprintf(out, " in");
  if (op->flags & WB_FLAG_PROVEN) fprintf(out, " proven");
}

static void print_op(const wb_program *program, int32_t id, int32_t depth, bool sites, FILE *out) {
  const wb_op *op = &program->ops[id];
  fprintf(out, "%*s", 2 * depth, "");
  /* openers and blocks are named too: leave refers to them */
  bool named = op->type != WB_TYPE_NONE || op->code == WB_OP_BLOCK || op->code == WB_OP_WHILE;
  if (named) fprintf(out, "%%%d = ", id);
  fprintf(out, "%s", wb_op_describe((wb_opcode)op->code)->text);
  if (op->type != WB_TYPE_NONE) {
    fprintf(out, " %s%s", op->shape == WB_SHAPE_LANES ? "lanes." : "",
            wb_type_text((wb_type)op->type));
  }
  print_fields(op, out);
  if (sites) {
    char site[128];
    wb_program_site(program, id, site, sizeof site);
    fprintf(out, " ; %s", site);
  }
  fputc('\n', out);
}

wb_status wb_program_print(const wb_program *program, bool sites, FILE *out, wb_error *error) {
  fprintf(out, "program %s width %d slab %" PRId64 "\n", program->name, program->width,
          program->slab_bytes);
  for (int32_t i = 0; i < program->object_count; i++) print_object(program, i, out);
  for (int32_t i = 0; i < program->parameter_count; i++) {
    fprintf(out, "param $%d %s %s\n", i, program->parameters[i].name,
            wb_type_text((wb_type)program->parameters[i].type));
  }
  int32_t depth = 0;
  for (int32_t i = 0; i < program->op_count; i++) {
    uint8_t kind = wb_op_describe((wb_opcode)program->ops[i].code)->kind;
    if (kind == WB_KIND_CLOSE && depth > 0) depth--;
    int32_t shown = kind == WB_KIND_MIDDLE && depth > 0 ? depth - 1 : depth;
    print_op(program, i, shown, sites, out);
    if (kind == WB_KIND_OPEN) depth++;
  }
  if (ferror(out)) {
    return WB_FAIL(error, WB_ERROR_IO, "program %s: its text could not be written", program->name);
  }
  return WB_OK;
}

wb_status wb_program_text(const wb_program *program, bool sites, char **out, wb_error *error) {
  *out = NULL;
  size_t bytes = 0;
  FILE *stream = open_memstream(out, &bytes);
  wb_status status = WB_ERROR_MEMORY;
  if (stream != NULL) {
    status = wb_program_print(program, sites, stream, error);
    if (fclose(stream) != 0) status = WB_ERROR_MEMORY;
  }
  if (status == WB_OK) return WB_OK;
  free(*out);
  *out = NULL;
  return WB_FAIL(error, status, "program %s: out of memory for its text", program->name);
}

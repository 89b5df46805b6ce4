/* The program as data: tables' texts, growing lists, copying, hashing. */
#include "compiler/program.h"

#include <stdlib.h>
#include <string.h>

static const wb_op_info op_table[WB_OP_COUNT] = {
#define X(name, text, operands, operand_rule, result_rule, kind) \
  {text, operands, WB_OPERANDS_##operand_rule, WB_RESULT_##result_rule, WB_KIND_##kind},
    WB_OPS(X)
#undef X
};

const wb_op_info *wb_op_describe(wb_opcode code) {
  static const wb_op_info unknown = {"unknown", 0, WB_OPERANDS_NONE, WB_RESULT_NONE,
                                     WB_KIND_EFFECT};
  return (unsigned)code < WB_OP_COUNT ? &op_table[code] : &unknown;
}

const char *wb_type_text(wb_type type) {
  static const char *const texts[] = {
#define X(name, text) text,
      WB_TYPES(X)
#undef X
  };
  return (unsigned)type < WB_TYPE_COUNT ? texts[type] : "unknown";
}

const char *wb_element_text(wb_element element) {
  static const char *const texts[] = {
#define X(name, text, bytes, type) text,
      WB_ELEMENTS(X)
#undef X
  };
  return (unsigned)element < WB_ELEMENT_COUNT ? texts[element] : "unknown";
}

int32_t wb_element_bytes(wb_element element) {
  static const int32_t sizes[] = {
#define X(name, text, bytes, type) bytes,
      WB_ELEMENTS(X)
#undef X
  };
  return (unsigned)element < WB_ELEMENT_COUNT ? sizes[element] : 1;
}

wb_type wb_element_type(wb_element element) {
  static const uint8_t types[] = {
#define X(name, text, bytes, type) WB_TYPE_##type,
      WB_ELEMENTS(X)
#undef X
  };
  return (unsigned)element < WB_ELEMENT_COUNT ? (wb_type)types[element] : WB_TYPE_NONE;
}

bool wb_name_valid(const char *name) {
  size_t length = name != NULL ? strlen(name) : 0;
  if (length == 0 || length >= WB_NAME_BYTES) return false;
  for (size_t i = 0; i < length; i++) {
    char c = name[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    bool digit = c >= '0' && c <= '9';
    if (!letter && !(digit && i > 0)) return false;
  }
  return true;
}

wb_status wb_program_new(const char *name, int32_t width, wb_program **out, wb_error *error) {
  *out = NULL;
  if (!wb_name_valid(name)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "program: name: expected a C identifier of at most %d characters, got \"%.80s\"",
                   WB_NAME_BYTES - 1, name != NULL ? name : "(null)");
  }
  if (width < 2 || width > WB_WIDTH_MAX || (width & (width - 1)) != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "program %s: width: expected a power of two from 2 to %d, got %d", name,
                   WB_WIDTH_MAX, width);
  }
  wb_program *program = calloc(1, sizeof *program);
  if (program == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory", name);
  strcpy(program->name, name);
  program->width = width;
  *out = program;
  return WB_OK;
}

void wb_program_free(wb_program *program) {
  if (program == NULL) return;
  for (int32_t i = 0; i < program->file_count; i++) free(program->files[i]);
  free(program->files);
  free(program->ops);
  free(program->objects);
  free(program->parameters);
  free(program);
}

/* makes room for one more item; `limit` is the list's documented maximum */
static wb_status grow(const wb_program *program, void **items, int32_t count, int32_t *capacity,
                      size_t item_bytes, int32_t limit, const char *what, wb_error *error) {
  if (count < *capacity) return WB_OK;
  if (count >= limit) {
    return WB_FAIL(error, WB_ERROR_LIMIT, "program %s: more than %d %s", program->name, limit,
                   what);
  }
  int32_t larger = *capacity == 0 ? 16 : *capacity * 2;
  if (larger > limit) larger = limit;
  void *moved = realloc(*items, (size_t)larger * item_bytes);
  if (moved == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory for %d %s", program->name,
                   larger, what);
  }
  *items = moved;
  *capacity = larger;
  return WB_OK;
}

wb_status wb_program_append(wb_program *program, const wb_op *op, int32_t *id, wb_error *error) {
  wb_op copy = *op; /* op may point into the list that moves */
  void *items = program->ops;
  WB_TRY(grow(program, &items, program->op_count, &program->op_capacity, sizeof *op,
              WB_PROGRAM_OPS_MAX, "ops", error));
  program->ops = items;
  program->ops[program->op_count] = copy;
  if (id != NULL) *id = program->op_count;
  program->op_count++;
  return WB_OK;
}

wb_status wb_program_add_object(wb_program *program, const wb_object *object, int32_t *id,
                                wb_error *error) {
  wb_object copy = *object;
  void *items = program->objects;
  WB_TRY(grow(program, &items, program->object_count, &program->object_capacity, sizeof *object,
              WB_OBJECTS_MAX, "arrays, buffers and views", error));
  program->objects = items;
  program->objects[program->object_count] = copy;
  if (id != NULL) *id = program->object_count;
  program->object_count++;
  return WB_OK;
}

wb_status wb_program_add_parameter(wb_program *program, const wb_parameter *parameter, int32_t *id,
                                   wb_error *error) {
  void *items = program->parameters;
  WB_TRY(grow(program, &items, program->parameter_count, &program->parameter_capacity,
              sizeof *parameter, WB_PARAMETERS_MAX, "parameters", error));
  program->parameters = items;
  program->parameters[program->parameter_count] = *parameter;
  if (id != NULL) *id = program->parameter_count;
  program->parameter_count++;
  return WB_OK;
}

wb_status wb_program_add_file(wb_program *program, const char *file, int32_t *id, wb_error *error) {
  for (int32_t i = 0; i < program->file_count; i++) {
    if (strcmp(program->files[i], file) == 0) {
      *id = i;
      return WB_OK;
    }
  }
  void *items = program->files;
  WB_TRY(grow(program, &items, program->file_count, &program->file_capacity, sizeof(char *),
              1 << 16, "files", error));
  program->files = items;
  char *copy = strdup(file);
  if (copy == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory", program->name);
  }
  *id = program->file_count;
  program->files[program->file_count++] = copy;
  return WB_OK;
}

static wb_status copy_lists(const wb_program *from, wb_program *to, wb_error *error) {
  for (int32_t i = 0; i < from->op_count; i++) {
    WB_TRY(wb_program_append(to, &from->ops[i], NULL, error));
  }
  for (int32_t i = 0; i < from->object_count; i++) {
    WB_TRY(wb_program_add_object(to, &from->objects[i], NULL, error));
  }
  for (int32_t i = 0; i < from->parameter_count; i++) {
    WB_TRY(wb_program_add_parameter(to, &from->parameters[i], NULL, error));
  }
  for (int32_t i = 0; i < from->file_count; i++) {
    int32_t id;
    WB_TRY(wb_program_add_file(to, from->files[i], &id, error));
  }
  to->buffer_count = from->buffer_count;
  to->slab_bytes = from->slab_bytes;
  return WB_OK;
}

wb_status wb_program_clone(const wb_program *program, wb_program **out, wb_error *error) {
  WB_TRY(wb_program_new(program->name, program->width, out, error));
  wb_status status = copy_lists(program, *out, error);
  if (status != WB_OK) {
    wb_program_free(*out);
    *out = NULL;
  }
  return status;
}

void wb_program_site(const wb_program *program, int32_t op, char *text, size_t text_bytes) {
  const wb_op *it = op >= 0 && op < program->op_count ? &program->ops[op] : NULL;
  if (it == NULL || it->file < 0 || it->file >= program->file_count) {
    snprintf(text, text_bytes, "?");
    return;
  }
  const char *file = program->files[it->file];
  const char *slash = strrchr(file, '/');
  snprintf(text, text_bytes, "%s:%d", slash != NULL ? slash + 1 : file, it->line);
}

static void hash_number(wb_hasher *hasher, int64_t number) {
  wb_hasher_add(hasher, &number, sizeof number);
}

wb_hash128 wb_program_hash(const wb_program *program) {
  wb_hasher hasher;
  wb_hasher_start(&hasher);
  const int64_t head[] = {WB_OPS_VERSION,           WB_OP_COUNT,          program->width,
                          program->slab_bytes,      program->op_count,    program->object_count,
                          program->parameter_count, program->buffer_count};
  wb_hasher_add(&hasher, head, sizeof head);
  for (int32_t i = 0; i < program->object_count; i++) {
    const wb_object *o = &program->objects[i];
    const int64_t fields[] = {o->kind,   o->element, o->shared, o->writable, o->base,
                              o->buffer, o->group,   o->length, o->offset,   o->fill};
    wb_hasher_add(&hasher, fields, sizeof fields);
  }
  for (int32_t i = 0; i < program->parameter_count; i++) {
    hash_number(&hasher, program->parameters[i].type);
  }
  for (int32_t i = 0; i < program->op_count; i++) {
    const wb_op *op = &program->ops[i];
    const uint64_t fields[] = {
        (uint64_t)op->code | (uint64_t)op->type << 8 | (uint64_t)op->shape << 16 |
            (uint64_t)op->flags << 24 | (uint64_t)(uint32_t)op->aux << 32,
        (uint64_t)(uint32_t)op->operands[0] | (uint64_t)(uint32_t)op->operands[1] << 32,
        (uint64_t)op->operands[2], (uint64_t)op->imm};
    wb_hasher_add(&hasher, fields, sizeof fields);
  }
  return wb_hasher_end(&hasher);
}

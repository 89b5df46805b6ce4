/* Recording of buffers, views, parameters, loads and stores, and variables. */
#include "compiler/build.h"

#include <string.h>

static bool name_is_free(wb_builder *b, wb_site site, const char *what, const char *name) {
  if (!wb_name_valid(name)) {
    wb_build_fail(b, site,
                  "%s: name: expected a C identifier of at most %d characters, given \"%.80s\"",
                  what, WB_NAME_BYTES - 1, name != NULL ? name : "(null)");
    return false;
  }
  bool taken = false;
  for (int32_t i = 0; i < b->program->object_count; i++) {
    taken = taken || strcmp(b->program->objects[i].name, name) == 0;
  }
  for (int32_t i = 0; i < b->program->parameter_count; i++) {
    taken = taken || strcmp(b->program->parameters[i].name, name) == 0;
  }
  if (taken) wb_build_fail(b, site, "%s: name: \"%s\" is taken", what, name);
  return !taken;
}

static wb_array add_object(wb_builder *b, wb_site site, const wb_object *object) {
  int32_t id = -1;
  wb_status status = wb_program_add_object(b->program, object, &id, &b->error);
  if (status != WB_OK) wb_locate(b, site);
  return (wb_array){status == WB_OK ? id : -1};
}

wb_array wb_build_buffer(wb_builder *b, wb_site site, const char *name, wb_element element,
                         bool shared, bool writable, int64_t fill) {
  wb_array none = {-1};
  if (!wb_builder_ok(b) || !name_is_free(b, site, "buffer", name)) return none;
  if ((unsigned)element >= WB_ELEMENT_COUNT || !wb_constant_valid(wb_element_type(element), fill)) {
    wb_build_fail(b, site,
                  "buffer: %s: expected a fill value of its element type, given %lld of %s", name,
                  (long long)fill, wb_element_text(element));
    return none;
  }
  wb_object object = {.kind = WB_OBJECT_BUFFER,
                      .element = (uint8_t)element,
                      .shared = shared,
                      .writable = writable,
                      .base = b->program->object_count,
                      .buffer = b->program->buffer_count,
                      .group = 1,
                      .length = -1,
                      .fill = fill};
  strcpy(object.name, name);
  wb_array made = add_object(b, site, &object);
  if (made.object >= 0) b->program->buffer_count++;
  return made;
}

static bool object_exists(wb_builder *b, wb_site site, const char *op, wb_array a) {
  if (!wb_builder_ok(b)) return false;
  if (a.object >= 0 && a.object < b->program->object_count) return true;
  wb_build_fail(b, site, "%s: expected an array, buffer or view of this program (0..%d), given %d",
                op, b->program->object_count - 1, a.object);
  return false;
}

void wb_build_group(wb_builder *b, wb_site site, wb_array buffer, int32_t elements) {
  if (!object_exists(b, site, "group", buffer)) return;
  wb_object *o = &b->program->objects[buffer.object];
  bool power = elements >= 1 && elements <= WB_GROUP_MAX && (elements & (elements - 1)) == 0;
  if (o->kind != WB_OBJECT_BUFFER || o->base != buffer.object || o->shared || !power) {
    wb_build_fail(b, site,
                  "group: %s: expected a per-book buffer and a power of two up to %d, given %d",
                  o->name, WB_GROUP_MAX, elements);
    return;
  }
  o->group = elements;
}

wb_array wb_build_view(wb_builder *b, wb_site site, wb_array of, wb_element element) {
  if (!object_exists(b, site, "view", of)) return (wb_array){-1};
  if ((unsigned)element >= WB_ELEMENT_COUNT) {
    wb_build_fail(b, site, "view: unknown element type %d", (int)element);
    return (wb_array){-1};
  }
  wb_object view = b->program->objects[b->program->objects[of.object].base];
  if (view.kind == WB_OBJECT_ARRAY) {
    view.length =
        view.length * wb_element_bytes((wb_element)view.element) / wb_element_bytes(element);
    if (view.length < 1) {
      wb_build_fail(b, site, "view: %s holds less than one %s", view.name,
                    wb_element_text(element));
      return (wb_array){-1};
    }
  }
  char name[2 * WB_NAME_BYTES];
  snprintf(name, sizeof name, "%.*s_%s", WB_NAME_BYTES - 6, view.name, wb_element_text(element));
  memset(view.name, 0, sizeof view.name);
  memcpy(view.name, name, strlen(name));
  view.element = (uint8_t)element;
  view.fill = 0;
  view.group = 1;
  return add_object(b, site, &view);
}

wb_val wb_build_param(wb_builder *b, wb_site site, const char *name, wb_type type) {
  wb_val none = {-1};
  if (!wb_builder_ok(b) || !name_is_free(b, site, "param", name)) return none;
  if (type != WB_TYPE_I32 && type != WB_TYPE_I64 && type != WB_TYPE_F32) {
    wb_build_fail(b, site, "param: %s: expected i32, i64 or f32, given %s", name,
                  wb_type_text(type));
    return none;
  }
  wb_parameter parameter = {.type = (uint8_t)type};
  strcpy(parameter.name, name);
  wb_op op = wb_op_blank(WB_OP_PARAM);
  op.type = (uint8_t)type;
  if (wb_program_add_parameter(b->program, &parameter, &op.aux, &b->error) != WB_OK) {
    wb_locate(b, site);
    return none;
  }
  return wb_emit(b, site, op);
}

/* ---- accesses ---- */

static wb_val read_access(wb_builder *b, wb_site site, wb_opcode code, wb_array a, wb_operand index,
                          bool in) {
  const char *text = wb_op_describe(code)->text;
  if (!object_exists(b, site, text, a)) return (wb_val){-1};
  wb_type type = wb_is_number(index) ? wb_number_type(index) : WB_TYPE_NONE;
  wb_shape shape = code == WB_OP_GATHER ? WB_SHAPE_LANES : WB_SHAPE_SCALAR;
  wb_op op = wb_op_blank(code);
  op.aux = a.object;
  op.flags = in ? WB_FLAG_IN : 0;
  op.operands[0] = wb_typed(b, site, index, type, shape, text).id;
  return wb_emit(b, site, op);
}

static void write_access(wb_builder *b, wb_site site, wb_opcode code, wb_array a, wb_operand index,
                         wb_operand value, wb_operand mask, bool in) {
  const char *text = wb_op_describe(code)->text;
  if (!object_exists(b, site, text, a)) return;
  wb_type index_type = wb_is_number(index) ? wb_number_type(index) : WB_TYPE_NONE;
  wb_type type = wb_element_type((wb_element)b->program->objects[a.object].element);
  wb_shape index_shape = code == WB_OP_SCATTER ? WB_SHAPE_LANES : WB_SHAPE_SCALAR;
  wb_shape shape = code == WB_OP_STORE ? WB_SHAPE_SCALAR : WB_SHAPE_LANES;
  wb_op op = wb_op_blank(code);
  op.aux = a.object;
  op.flags = in ? WB_FLAG_IN : 0;
  op.operands[0] = wb_typed(b, site, index, index_type, index_shape, text).id;
  op.operands[1] = wb_typed(b, site, value, type, shape, text).id;
  if (code == WB_OP_STORE_ROW_IF || code == WB_OP_STORE_LANES) {
    op.operands[2] = wb_typed(b, site, mask, WB_TYPE_BOOL, WB_SHAPE_LANES, text).id;
  }
  wb_emit(b, site, op);
}

wb_val wb_build_load(wb_builder *b, wb_site site, wb_array a, wb_operand index, bool in) {
  return read_access(b, site, WB_OP_LOAD, a, index, in);
}

wb_val wb_build_load_row(wb_builder *b, wb_site site, wb_array a, wb_operand row, bool in) {
  return read_access(b, site, WB_OP_LOAD_ROW, a, row, in);
}

wb_val wb_build_gather(wb_builder *b, wb_site site, wb_array a, wb_operand index, bool in) {
  return read_access(b, site, WB_OP_GATHER, a, index, in);
}

void wb_build_store(wb_builder *b, wb_site site, wb_array a, wb_operand index, wb_operand value,
                    bool in) {
  write_access(b, site, WB_OP_STORE, a, index, value, wb_operand_none(), in);
}

void wb_build_store_row(wb_builder *b, wb_site site, wb_array a, wb_operand row, wb_operand value,
                        wb_operand mask, bool in) {
  wb_opcode code = mask.kind == WB_OPERAND_NONE ? WB_OP_STORE_ROW : WB_OP_STORE_ROW_IF;
  write_access(b, site, code, a, row, value, mask, in);
}

void wb_build_store_lanes(wb_builder *b, wb_site site, wb_array a, wb_operand index,
                          wb_operand value, wb_operand mask, bool in) {
  write_access(b, site, WB_OP_STORE_LANES, a, index, value, mask, in);
}

void wb_build_scatter(wb_builder *b, wb_site site, wb_array a, wb_operand index, wb_operand value,
                      bool in) {
  write_access(b, site, WB_OP_SCATTER, a, index, value, wb_operand_none(), in);
}

/* ---- variables ---- */

wb_var wb_build_var(wb_builder *b, wb_site site, wb_operand first) {
  wb_op op = wb_op_blank(WB_OP_VAR);
  op.operands[0] = wb_build_value(b, site, first).id;
  return (wb_var){wb_emit(b, site, op).id};
}

wb_val wb_build_get(wb_builder *b, wb_site site, wb_var v) {
  wb_op op = wb_op_blank(WB_OP_GET);
  op.operands[0] = v.id;
  return wb_emit(b, site, op);
}

void wb_build_set(wb_builder *b, wb_site site, wb_var v, wb_operand value) {
  wb_type type = wb_build_type(b, (wb_val){v.id});
  wb_shape shape = wb_build_shape(b, (wb_val){v.id});
  wb_op op = wb_op_blank(WB_OP_SET);
  op.operands[0] = v.id;
  op.operands[1] = wb_typed(b, site, value, type, shape, "set").id;
  wb_emit(b, site, op);
}

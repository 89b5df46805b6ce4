/* The layout of one book's slab: arrays one after another, each on a 64-byte border. */
#include "compiler/internal.h"

#include <stdlib.h>
#include <string.h>

struct wb_layout {
  wb_object objects[WB_OBJECTS_MAX];
  int32_t count;
  int64_t bytes;
};

/* one slab must stay addressable with room to spare: 2^40 bytes */
static const int64_t slab_bytes_max = INT64_C(1) << 40;

wb_status wb_layout_new(wb_layout **out, wb_error *error) {
  *out = calloc(1, sizeof **out);
  return *out != NULL ? WB_OK : WB_FAIL(error, WB_ERROR_MEMORY, "layout: out of memory");
}

void wb_layout_free(wb_layout *layout) { free(layout); }

wb_array wb_layout_find(const wb_layout *layout, const char *name) {
  for (int32_t i = 0; i < layout->count; i++) {
    if (strcmp(layout->objects[i].name, name) == 0) return (wb_array){i};
  }
  return (wb_array){-1};
}

wb_status wb_layout_add(wb_layout *layout, const char *name, wb_element element, int64_t length,
                        int64_t fill, wb_array *out, wb_error *error) {
  *out = (wb_array){-1};
  if (!wb_name_valid(name)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "layout: name: expected a C identifier of at most %d characters, got \"%.80s\"",
                   WB_NAME_BYTES - 1, name != NULL ? name : "(null)");
  }
  if (wb_layout_find(layout, name).object >= 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "layout: name: \"%s\" is taken", name);
  }
  if ((unsigned)element >= WB_ELEMENT_COUNT) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "layout: %s: unknown element type %d", name,
                   (int)element);
  }
  int64_t size = wb_element_bytes(element);
  if (length < 1 || length > (slab_bytes_max - layout->bytes) / size) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "layout: %s: length: expected 1 to what a slab of 2^40 bytes holds, got %lld",
                   name, (long long)length);
  }
  if (layout->count == WB_OBJECTS_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT, "layout: %s: more than %d arrays", name, WB_OBJECTS_MAX);
  }
  wb_object *object = &layout->objects[layout->count];
  strcpy(object->name, name);
  object->kind = WB_OBJECT_ARRAY;
  object->element = (uint8_t)element;
  object->shared = 0;
  object->writable = 1;
  object->base = layout->count;
  object->buffer = -1;
  object->length = length;
  object->offset = layout->bytes;
  object->fill = fill;
  int64_t end = layout->bytes + length * size;
  layout->bytes = (end + WB_SLAB_ALIGNMENT - 1) / WB_SLAB_ALIGNMENT * WB_SLAB_ALIGNMENT;
  *out = (wb_array){layout->count++};
  return WB_OK;
}

int64_t wb_layout_bytes(const wb_layout *layout) { return layout->bytes; }

int32_t wb_layout_count(const wb_layout *layout) { return layout->count; }

const wb_object *wb_layout_object(const wb_layout *layout, wb_array array) {
  bool known = array.object >= 0 && array.object < layout->count;
  return known ? &layout->objects[array.object] : NULL;
}

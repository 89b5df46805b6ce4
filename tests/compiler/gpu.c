/* See gpu.h. */
#include "tests/compiler/gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFERS_MAX = 64 };

/* A piece of host memory and its twin. */
typedef struct twin {
  void *host, *device;
  size_t bytes;
} twin;

/* The symbol of a library that is loaded already, as an object pointer. */
static void *symbol(const char *name) {
  const char *path = getenv("WB_CUDART");
  void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
  return library != NULL ? dlsym(library, name) : NULL;
}

bool gpu_set(const char *name, const char *value) {
  bool (*set)(const char *, const char *) = NULL;
  void *found = symbol("wb_emulator_set");
  memcpy(&set, &found, sizeof set);
  return set != NULL && set(name, value);
}

const char *gpu_message(void) {
  const char *(*message)(void) = NULL;
  void *found = symbol("wb_emulator_message");
  memcpy(&message, &found, sizeof message);
  return message != NULL ? message() : "";
}

void gpu_reset(void) {
  void (*reset)(void) = NULL;
  void *found = symbol("wb_emulator_reset");
  memcpy(&reset, &found, sizeof reset);
  if (reset != NULL) reset();
}

wb_device *gpu_open(void) {
  wb_device *device = NULL;
  wb_error error = {0};
  if (wb_device_open("cuda", &device, &error) != WB_OK) fprintf(stderr, "%s\n", error.text);
  return device;
}

/* The buffer itself, not a view of it. */
static const wb_object *buffer_of(const wb_program *p, int32_t number) {
  for (int32_t i = 0; i < p->object_count; i++) {
    const wb_object *o = &p->objects[i];
    if (o->kind == WB_OBJECT_BUFFER && o->buffer == number && o->base == i) return o;
  }
  abort();
}

static size_t bytes_of(const wb_object *o, const wb_buffer_argument *b, int64_t books) {
  int64_t elements = o->shared ? b->length : b->stride * (books - 1) + b->length;
  return (size_t)elements * (size_t)wb_element_bytes((wb_element)o->element);
}

static wb_status put(wb_device *device, twin *t, wb_error *error) {
  WB_TRY(wb_device_allocate(device, t->bytes, &t->device, error));
  return t->bytes == 0 ? WB_OK : wb_device_write(device, t->device, t->host, t->bytes, error);
}

static wb_status run(wb_device *device, const wb_kernel *kernel, const wb_kernel_arguments *a,
                     int64_t books, twin *twins, wb_error *error) {
  const wb_program *p = wb_kernel_program(kernel);
  wb_buffer_argument buffers[BUFFERS_MAX];
  for (int32_t i = 0; i <= p->buffer_count; i++) WB_TRY(put(device, &twins[i], error));
  for (int32_t i = 0; i < p->buffer_count; i++) {
    buffers[i] = a->buffers[i];
    buffers[i].data = twins[1 + i].device;
  }
  const wb_launch launch = {.slabs = p->slab_bytes > 0 ? twins[0].device : NULL,
                            .slab_stride = a->slab_stride,
                            .books = books,
                            .buffers = buffers,
                            .buffer_count = p->buffer_count,
                            .scalars = a->scalars,
                            .scalar_count = p->parameter_count};
  WB_TRY(wb_device_launch(device, kernel, &launch, error));
  WB_TRY(wb_device_wait(device, error));
  for (int32_t i = 0; i <= p->buffer_count; i++) {
    if (twins[i].bytes == 0) continue;
    WB_TRY(wb_device_read(device, twins[i].host, twins[i].device, twins[i].bytes, error));
  }
  return WB_OK;
}

wb_status gpu_run(wb_device *device, const wb_kernel *kernel, const wb_kernel_arguments *arguments,
                  int64_t books, wb_error *error) {
  const wb_program *p = wb_kernel_program(kernel);
  twin twins[1 + BUFFERS_MAX] = {{0}};
  if (p->buffer_count > BUFFERS_MAX) abort();
  twins[0] = (twin){.host = arguments->slabs, .bytes = (size_t)(arguments->slab_stride * books)};
  if (p->slab_bytes == 0) twins[0].bytes = 0;
  for (int32_t i = 0; i < p->buffer_count; i++) {
    twins[1 + i].host = arguments->buffers[i].data;
    twins[1 + i].bytes = bytes_of(buffer_of(p, i), &arguments->buffers[i], books);
  }
  wb_status status = run(device, kernel, arguments, books, twins, error);
  for (int32_t i = 0; i <= p->buffer_count; i++) wb_device_free(device, twins[i].device);
  return status;
}

/* Devices: opening by name, checking what a launch is given, and passing on to the backend. */
#include "compiler/device_backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024 };

static const wb_device_backend *find_backend(const char *name) {
  static const wb_device_backend *const backends[] = {&wb_device_cpu, &wb_device_cuda};
  for (size_t i = 0; i < sizeof backends / sizeof backends[0]; i++) {
    size_t length = strlen(backends[i]->name);
    if (strncmp(backends[i]->name, name, length) != 0) continue;
    bool indexed = name[length] == ':' && backends[i] != &wb_device_cpu;
    if (name[length] == '\0' || indexed) return backends[i];
  }
  return NULL;
}

static wb_status open_named(const char *name, wb_device **out, wb_error *error) {
  const wb_device_backend *backend = name != NULL ? find_backend(name) : NULL;
  if (backend == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "device: expected \"cpu\", \"cuda\", \"cuda:INDEX\" or \"auto\", got \"%.80s\"",
                   name != NULL ? name : "(null)");
  }
  wb_device *device = calloc(1, sizeof *device);
  if (device == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "device %s: out of memory", name);
  device->backend = backend;
  snprintf(device->name, sizeof device->name, "%.20s", name);
  wb_status status = wb_kernel_cache_new(&device->cache, error);
  if (status == WB_OK) status = backend->open(device, name, error);
  if (status != WB_OK) {
    wb_kernel_cache_free(device->cache);
    free(device);
    return status;
  }
  *out = device;
  return WB_OK;
}

wb_status wb_device_open(const char *name, wb_device **out, wb_error *error) {
  *out = NULL;
  if (name == NULL || strcmp(name, "auto") != 0) return open_named(name, out, error);
  return open_named("cuda", out, NULL) == WB_OK ? WB_OK : open_named("cpu", out, error);
}

void wb_device_close(wb_device *device) {
  if (device == NULL) return;
  if (device->capturing) {
    wb_graph *unfinished;
    if (wb_device_capture_end(device, &unfinished, NULL) == WB_OK) wb_graph_free(unfinished);
  }
  wb_kernel_cache_free(device->cache);
  device->backend->close(device);
  free(device);
}

void wb_device_describe(const wb_device *device, wb_device_info *info) {
  *info = (wb_device_info){
      .name = device->name,
      .description = device->description,
      .threads = device->backend == &wb_device_cpu ? wb_device_cpu_threads(device) : 0,
      .host_memory = device->backend->host_memory,
      .sm = device->sm,
      .multiprocessors = device->multiprocessors,
      .clock_khz = device->clock_khz};
}

wb_status wb_device_set_threads(wb_device *device, int32_t threads, wb_error *error) {
  if (threads < 0 || threads > THREADS_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "device %s: threads: expected 0 to %d, got %d",
                   device->name, THREADS_MAX, threads);
  }
  device->threads = threads;
  return WB_OK;
}

/* ---- memory ---- */

static wb_status not_in_capture(const wb_device *device, const char *what, wb_error *error) {
  if (!device->capturing) return WB_OK;
  return WB_FAIL(error, WB_ERROR_STATE,
                 "device %s: %s: not allowed while a graph is captured; only copies within the "
                 "device, fills and launches are",
                 device->name, what);
}

wb_status wb_device_allocate(wb_device *device, size_t bytes, void **out, wb_error *error) {
  *out = NULL;
  WB_TRY(not_in_capture(device, "allocate", error));
  return device->backend->allocate(device, bytes, out, error);
}

void wb_device_free(wb_device *device, void *memory) {
  if (memory != NULL) device->backend->release(device, memory);
}

wb_status wb_device_write(wb_device *device, void *to, const void *from, size_t bytes,
                          wb_error *error) {
  WB_TRY(not_in_capture(device, "write", error));
  return bytes == 0 ? WB_OK : device->backend->write(device, to, from, bytes, error);
}

wb_status wb_device_read(wb_device *device, void *to, const void *from, size_t bytes,
                         wb_error *error) {
  WB_TRY(not_in_capture(device, "read", error));
  return bytes == 0 ? WB_OK : device->backend->read(device, to, from, bytes, error);
}

wb_status wb_device_copy(wb_device *device, void *to, const void *from, size_t bytes,
                         wb_error *error) {
  if (bytes == 0) return WB_OK;
  if (device->recorded != NULL) {
    return wb_graph_keep_copy(device->recorded, to, from, bytes, error);
  }
  return device->backend->copy(device, to, from, bytes, error);
}

wb_status wb_device_fill(wb_device *device, void *to, uint8_t byte, size_t bytes, wb_error *error) {
  if (bytes == 0) return WB_OK;
  if (device->recorded != NULL) {
    return wb_graph_keep_fill(device->recorded, to, byte, bytes, error);
  }
  return device->backend->fill(device, to, byte, bytes, error);
}

wb_status wb_device_allocate_host(wb_device *device, size_t bytes, void **out, wb_error *error) {
  *out = NULL;
  WB_TRY(not_in_capture(device, "allocate_host", error));
  if (device->backend->allocate_host != NULL) {
    return device->backend->allocate_host(device, bytes, out, error);
  }
  *out = malloc(bytes == 0 ? 1 : bytes);
  if (*out != NULL) return WB_OK;
  return WB_FAIL(error, WB_ERROR_MEMORY, "device %s: %zu bytes of host memory could not be had",
                 device->name, bytes);
}

void wb_device_free_host(wb_device *device, void *memory) {
  if (memory == NULL) return;
  if (device->backend->release_host != NULL) {
    device->backend->release_host(device, memory);
  } else {
    free(memory);
  }
}

/* ---- kernels ---- */

wb_status wb_device_compile(wb_device *device, const wb_program *program,
                            const wb_kernel_options *options, wb_kernel **out,
                            wb_kernel_report *report, wb_error *error) {
  wb_kernel_options own = options != NULL ? *options : (wb_kernel_options){0};
  *out = NULL;
  WB_TRY(not_in_capture(device, "compile", error));
  own.sm = device->sm >= 90 ? 90 : device->sm > 0 ? 80 : 0;
  WB_TRY(wb_kernel_compile(device->cache, program, &own, out, report, error));
  if (device->backend->prepare == NULL) return WB_OK;
  wb_status status = device->backend->prepare(device, *out, error);
  if (status != WB_OK) {
    wb_kernel_release(*out);
    *out = NULL;
  }
  return status;
}

wb_kernel_cache *wb_device_cache(wb_device *device) { return device->cache; }

/* ---- launches ---- */

static wb_status check_slabs(const wb_program *p, const wb_launch *launch, wb_error *error) {
  if (launch->books < 0 || launch->first_book < 0 ||
      launch->first_book > INT32_MAX - launch->books) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "launch of %s: books: expected 0 <= first and first + books <= %d, got %" PRId64
                   " and %" PRId64,
                   p->name, INT32_MAX, launch->first_book, launch->books);
  }
  if (p->slab_bytes == 0) return WB_OK;
  if (launch->slabs == NULL || (uintptr_t)launch->slabs % WB_SLAB_ALIGNMENT != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "launch of %s: slabs: expected device memory aligned to %d bytes, got %p",
                   p->name, WB_SLAB_ALIGNMENT, launch->slabs);
  }
  if (launch->slab_stride < p->slab_bytes || launch->slab_stride % WB_SLAB_ALIGNMENT != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "launch of %s: slab_stride: expected a multiple of %d, at least %" PRId64
                   ", got %" PRId64,
                   p->name, WB_SLAB_ALIGNMENT, p->slab_bytes, launch->slab_stride);
  }
  return WB_OK;
}

/* bytes that the start of a buffer must be aligned to: its largest element, of views too */
static int64_t alignment_of(const wb_program *p, int32_t base) {
  int64_t largest = 1;
  for (int32_t i = 0; i < p->object_count; i++) {
    if (p->objects[i].base != base) continue;
    int64_t bytes = wb_element_bytes((wb_element)p->objects[i].element);
    if (bytes > largest) largest = bytes;
  }
  return largest;
}

static wb_status check_buffer(const wb_program *p, int32_t id, const wb_launch *launch, bool on_gpu,
                              wb_error *error) {
  const wb_object *object = &p->objects[id];
  const wb_buffer_argument *given = &launch->buffers[object->buffer];
  int64_t alignment = alignment_of(p, id);
  const int64_t bytes = wb_element_bytes((wb_element)object->element);
  /* what all books share, or write in groups, goes in wide pieces */
  if (on_gpu && object->shared) alignment = WB_GPU_SHARED_ALIGNMENT;
  if (on_gpu && object->group * bytes > alignment) alignment = object->group * bytes;
  const int64_t stride_bytes = given->stride * bytes;
  if (given->length < 0 || (given->data == NULL && given->length > 0) ||
      (uintptr_t)given->data % (uintptr_t)alignment != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "launch of %s: buffer %s: expected device memory aligned to %" PRId64
                   " bytes and a length, got %p and %" PRId64,
                   p->name, object->name, alignment, given->data, given->length);
  }
  if (object->shared && given->stride != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "launch of %s: buffer %s: expected stride 0 for a shared buffer, got %" PRId64,
                   p->name, object->name, given->stride);
  }
  bool overlaps = object->writable && !object->shared && given->stride < given->length;
  if (!object->shared && (given->stride < 0 || overlaps || stride_bytes % alignment != 0)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "launch of %s: buffer %s: stride: expected at least its length %" PRId64
                   " and a multiple of %" PRId64 " bytes, got %" PRId64 " elements",
                   p->name, object->name, given->length, alignment, given->stride);
  }
  return WB_OK;
}

static wb_status check_launch(const wb_program *p, const wb_launch *launch, bool on_gpu,
                              wb_error *error) {
  WB_TRY(check_slabs(p, launch, error));
  if (launch->buffer_count != p->buffer_count) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "launch of %s: buffers: expected %d, got %d", p->name,
                   p->buffer_count, launch->buffer_count);
  }
  if (launch->scalar_count != p->parameter_count) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "launch of %s: scalars: expected %d, got %d", p->name,
                   p->parameter_count, launch->scalar_count);
  }
  for (int32_t i = 0; i < p->object_count; i++) {
    bool is_buffer = p->objects[i].kind == WB_OBJECT_BUFFER && p->objects[i].base == i;
    if (is_buffer) WB_TRY(check_buffer(p, i, launch, on_gpu, error));
  }
  return WB_OK;
}

wb_status wb_device_launch(wb_device *device, const wb_kernel *kernel, const wb_launch *launch,
                           wb_error *error) {
  bool on_gpu = wb_kernel_gpu(kernel)->ptx != NULL;
  WB_TRY(check_launch(wb_kernel_program(kernel), launch, on_gpu, error));
  if (launch->books == 0) return WB_OK;
  if (device->recorded != NULL) {
    return wb_graph_keep_launch(device->recorded, kernel, launch, error);
  }
  return device->backend->launch(device, kernel, launch, error);
}

wb_status wb_device_wait(wb_device *device, wb_error *error) {
  WB_TRY(not_in_capture(device, "wait", error));
  return device->backend->wait(device, error);
}

wb_status wb_device_use_stream(wb_device *device, void *stream, wb_error *error) {
  WB_TRY(not_in_capture(device, "use_stream", error));
  if (device->backend->use_stream != NULL) {
    return device->backend->use_stream(device, stream, error);
  }
  return stream == NULL
             ? WB_OK
             : WB_FAIL(error, WB_ERROR_STATE, "device %s: it has no streams", device->name);
}

void *wb_device_stream(const wb_device *device) {
  return device->backend->stream != NULL ? device->backend->stream(device) : NULL;
}

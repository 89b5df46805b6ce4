/* See on_device.h. */
#include "on_device.h"

enum { BUFFERS_MOST = 8 };

static size_t bytes_of(const on_device_launch *launch, int32_t buffer) {
  return (size_t)launch->buffers[buffer].length * launch->element_bytes;
}

static wb_status send(wb_device *device, const void *from, size_t bytes, void **to,
                      wb_error *error) {
  WB_TRY(wb_device_allocate(device, bytes, to, error));
  return wb_device_write(device, *to, from, bytes, error);
}

static wb_status run(wb_device *device, const wb_kernel *kernel, const on_device_launch *launch,
                     void *memory[BUFFERS_MOST + 1], wb_error *error) {
  wb_buffer_argument buffers[BUFFERS_MOST];
  WB_TRY(send(device, launch->slab, launch->slab_bytes, &memory[BUFFERS_MOST], error));
  for (int32_t i = 0; i < launch->buffer_count; i++) {
    WB_TRY(send(device, launch->buffers[i].data, bytes_of(launch, i), &memory[i], error));
    buffers[i] = launch->buffers[i];
    buffers[i].data = memory[i];
  }
  const wb_launch there = {.slabs = memory[BUFFERS_MOST],
                           .slab_stride = (int64_t)launch->slab_bytes,
                           .books = 1,
                           .buffers = buffers,
                           .buffer_count = launch->buffer_count,
                           .scalars = launch->scalars,
                           .scalar_count = launch->scalar_count};
  WB_TRY(wb_device_launch(device, kernel, &there, error));
  WB_TRY(wb_device_read(device, launch->slab, memory[BUFFERS_MOST], launch->slab_bytes, error));
  for (int32_t i = 0; i < launch->buffer_count; i++) {
    if ((launch->written >> i & 1) == 0) continue;
    WB_TRY(wb_device_read(device, launch->buffers[i].data, memory[i], bytes_of(launch, i), error));
  }
  return WB_OK;
}

wb_status on_device_run(wb_device *device, const wb_kernel *kernel, const on_device_launch *launch,
                        wb_error *error) {
  void *memory[BUFFERS_MOST + 1] = {0};
  if (launch->buffer_count > BUFFERS_MOST) {
    return WB_FAIL(error, WB_ERROR_LIMIT, "on_device: %d buffers", launch->buffer_count);
  }
  wb_status status = run(device, kernel, launch, memory, error);
  for (int32_t i = 0; i <= BUFFERS_MOST; i++) wb_device_free(device, memory[i]);
  return status;
}

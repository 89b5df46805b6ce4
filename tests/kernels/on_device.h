/* Runs a kernel for one book on a device other than this host: arguments in host memory go over, what
 * was written comes back. Every launch has memory of exactly the size it was given, so that an
 * emulated GPU sees each access outside of it. */
#ifndef WB_TESTS_KERNELS_ON_DEVICE_H
#define WB_TESTS_KERNELS_ON_DEVICE_H

#include "compiler/device.h"

typedef struct on_device_launch {
  void *slab; /* host memory, read and written */
  size_t slab_bytes;
  const wb_buffer_argument *buffers; /* host memory, in elements of `element_bytes` */
  int32_t buffer_count;
  size_t element_bytes;
  uint32_t written; /* bit i: buffer i comes back */
  const int64_t *scalars;
  int32_t scalar_count;
} on_device_launch;

wb_status on_device_run(wb_device *device, const wb_kernel *kernel, const on_device_launch *launch,
                        wb_error *error);

#endif

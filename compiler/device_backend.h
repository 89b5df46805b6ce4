/* What a kind of device provides; device.c checks arguments and calls through this table. */
#ifndef WB_COMPILER_DEVICE_BACKEND_H
#define WB_COMPILER_DEVICE_BACKEND_H

#include "compiler/device.h"

typedef struct wb_device_backend {
  const char *name;
  bool host_memory;
  /* fills device->state and description */
  wb_status (*open)(wb_device *device, const char *name, wb_error *error);
  void (*close)(wb_device *device);
  wb_status (*allocate)(wb_device *device, size_t bytes, void **out, wb_error *error);
  void (*release)(wb_device *device, void *memory);
  wb_status (*write)(wb_device *device, void *to, const void *from, size_t bytes, wb_error *error);
  wb_status (*read)(wb_device *device, void *to, const void *from, size_t bytes, wb_error *error);
  wb_status (*copy)(wb_device *device, void *to, const void *from, size_t bytes, wb_error *error);
  wb_status (*fill)(wb_device *device, void *to, uint8_t byte, size_t bytes, wb_error *error);
  /* the launch fits the kernel's program */
  wb_status (*launch)(wb_device *device, const wb_kernel *kernel, const wb_launch *launch,
                      wb_error *error);
  wb_status (*wait)(wb_device *device, wb_error *error);
} wb_device_backend;

struct wb_device {
  const wb_device_backend *backend;
  wb_kernel_cache *cache;
  void *state;     /* the backend's own */
  int32_t threads; /* asked for; 0: all there are */
  char description[128];
};

/* The backends of this build. */
extern const wb_device_backend wb_device_cpu;

/* Host threads that a launch on the CPU uses. */
int32_t wb_device_cpu_threads(const wb_device *device);

#endif

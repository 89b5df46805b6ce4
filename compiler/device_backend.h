/* What a kind of device provides; device.c checks arguments and calls through this table. */
#ifndef WB_COMPILER_DEVICE_BACKEND_H
#define WB_COMPILER_DEVICE_BACKEND_H

#include "compiler/device.h"

typedef struct wb_device_backend {
  const char *name; /* before a ':' */
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

  /* The rest is NULL where device.c's own means do: recorded graphs, the clock, malloc. */
  wb_status (*prepare)(wb_device *device, wb_kernel *kernel, wb_error *error);
  wb_status (*use_stream)(wb_device *device, void *stream, wb_error *error);
  void *(*stream)(const wb_device *device);
  wb_status (*capture_begin)(wb_device *device, wb_error *error);
  wb_status (*capture_end)(wb_device *device, void **graph, wb_error *error);
  wb_status (*graph_launch)(wb_device *device, void *graph, wb_error *error);
  void (*graph_free)(wb_device *device, void *graph);
  wb_status (*event_new)(wb_device *device, void **event, wb_error *error);
  wb_status (*event_record)(wb_device *device, void *event, wb_error *error);
  wb_status (*event_seconds)(wb_device *device, void *start, void *end, double *seconds,
                             wb_error *error);
  void (*event_free)(wb_device *device, void *event);
  wb_status (*allocate_host)(wb_device *device, size_t bytes, void **out, wb_error *error);
  void (*release_host)(wb_device *device, void *memory);
} wb_device_backend;

struct wb_device {
  const wb_device_backend *backend;
  wb_kernel_cache *cache;
  void *state;                            /* the backend's own */
  int32_t threads;                        /* asked for; 0: all there are */
  int32_t sm, multiprocessors, clock_khz; /* of a GPU */
  bool capturing;
  wb_graph *recorded; /* the graph being recorded by device_graph.c */
  char name[24];
  char description[128];
};

/* The backends of this build. */
extern const wb_device_backend wb_device_cpu;
extern const wb_device_backend wb_device_cuda;

/* device_graph.c: keeps an operation of a capture on a device without graphs of its own. */
wb_status wb_graph_keep_copy(wb_graph *graph, void *to, const void *from, size_t bytes,
                             wb_error *error);
wb_status wb_graph_keep_fill(wb_graph *graph, void *to, uint8_t byte, size_t bytes,
                             wb_error *error);
wb_status wb_graph_keep_launch(wb_graph *graph, const wb_kernel *kernel, const wb_launch *launch,
                               wb_error *error);

/* Host threads that a launch on the CPU uses. */
int32_t wb_device_cpu_threads(const wb_device *device);

#endif

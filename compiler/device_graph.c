/* Graphs: a device's own, or, where it has none, the operations of a capture kept in a list and done
 * one after another. */
#include "compiler/device_backend.h"

#include <stdlib.h>
#include <string.h>

typedef enum kept_kind { KEPT_COPY, KEPT_FILL, KEPT_LAUNCH } kept_kind;

typedef struct kept {
  struct kept *next;
  kept_kind kind;
  void *to;
  const void *from;
  size_t bytes;
  uint8_t byte;
  wb_kernel *kernel; /* retained */
  wb_launch launch;  /* its arrays lie in `arguments` */
  int64_t arguments[];
} kept;

struct wb_graph {
  wb_device *device;
  void *native; /* the backend's graph */
  kept *first, **end;
};

static wb_graph *new_graph(wb_device *device) {
  wb_graph *graph = calloc(1, sizeof *graph);
  if (graph != NULL) {
    graph->device = device;
    graph->end = &graph->first;
  }
  return graph;
}

void wb_graph_free(wb_graph *graph) {
  if (graph == NULL) return;
  if (graph->native != NULL) graph->device->backend->graph_free(graph->device, graph->native);
  while (graph->first != NULL) {
    kept *next = graph->first->next;
    wb_kernel_release(graph->first->kernel);
    free(graph->first);
    graph->first = next;
  }
  free(graph);
}

/* ---- recording ---- */

static kept *keep(wb_graph *graph, kept_kind kind, size_t argument_bytes, wb_error *error) {
  kept *entry = calloc(1, sizeof *entry + argument_bytes);
  if (entry == NULL) {
    WB_FAIL(error, WB_ERROR_MEMORY, "device %s: no memory for a graph", graph->device->name);
    return NULL;
  }
  entry->kind = kind;
  *graph->end = entry;
  graph->end = &entry->next;
  return entry;
}

wb_status wb_graph_keep_copy(wb_graph *graph, void *to, const void *from, size_t bytes,
                             wb_error *error) {
  kept *entry = keep(graph, KEPT_COPY, 0, error);
  if (entry == NULL) return WB_ERROR_MEMORY;
  entry->to = to;
  entry->from = from;
  entry->bytes = bytes;
  return WB_OK;
}

wb_status wb_graph_keep_fill(wb_graph *graph, void *to, uint8_t byte, size_t bytes,
                             wb_error *error) {
  kept *entry = keep(graph, KEPT_FILL, 0, error);
  if (entry == NULL) return WB_ERROR_MEMORY;
  entry->to = to;
  entry->byte = byte;
  entry->bytes = bytes;
  return WB_OK;
}

wb_status wb_graph_keep_launch(wb_graph *graph, const wb_kernel *kernel, const wb_launch *launch,
                               wb_error *error) {
  size_t scalars = (size_t)launch->scalar_count * sizeof(int64_t);
  size_t buffers = (size_t)launch->buffer_count * sizeof(wb_buffer_argument);
  kept *entry = keep(graph, KEPT_LAUNCH, scalars + buffers, error);
  if (entry == NULL) return WB_ERROR_MEMORY;
  entry->kernel = wb_kernel_retain((wb_kernel *)(uintptr_t)kernel);
  entry->launch = *launch;
  if (scalars > 0) memcpy(entry->arguments, launch->scalars, scalars);
  entry->launch.scalars = entry->arguments;
  wb_buffer_argument *copied = (wb_buffer_argument *)(entry->arguments + launch->scalar_count);
  if (buffers > 0) memcpy(copied, launch->buffers, buffers);
  entry->launch.buffers = copied;
  return WB_OK;
}

/* ---- capture and launch ---- */

wb_status wb_device_capture_begin(wb_device *device, wb_error *error) {
  if (device->capturing) {
    return WB_FAIL(error, WB_ERROR_STATE, "device %s: a graph is being captured already",
                   device->name);
  }
  if (device->backend->capture_begin != NULL) {
    WB_TRY(device->backend->capture_begin(device, error));
  } else {
    device->recorded = new_graph(device);
    if (device->recorded == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "device %s: no memory for a graph", device->name);
    }
  }
  device->capturing = true;
  return WB_OK;
}

wb_status wb_device_capture_end(wb_device *device, wb_graph **out, wb_error *error) {
  *out = NULL;
  if (!device->capturing) {
    return WB_FAIL(error, WB_ERROR_STATE, "device %s: no graph is being captured", device->name);
  }
  device->capturing = false;
  if (device->recorded != NULL) {
    *out = device->recorded;
    device->recorded = NULL;
    return WB_OK;
  }
  void *native = NULL;
  WB_TRY(device->backend->capture_end(device, &native, error));
  *out = new_graph(device);
  if (*out == NULL) {
    device->backend->graph_free(device, native);
    return WB_FAIL(error, WB_ERROR_MEMORY, "device %s: no memory for a graph", device->name);
  }
  (*out)->native = native;
  return WB_OK;
}

static wb_status run_kept(wb_device *device, const kept *entry, wb_error *error) {
  switch (entry->kind) {
  case KEPT_COPY: return wb_device_copy(device, entry->to, entry->from, entry->bytes, error);
  case KEPT_FILL: return wb_device_fill(device, entry->to, entry->byte, entry->bytes, error);
  case KEPT_LAUNCH: return wb_device_launch(device, entry->kernel, &entry->launch, error);
  }
  return WB_OK;
}

wb_status wb_graph_launch(wb_graph *graph, wb_error *error) {
  wb_device *device = graph->device;
  if (device->capturing) {
    return WB_FAIL(error, WB_ERROR_STATE, "device %s: a graph is being captured", device->name);
  }
  if (graph->native != NULL) return device->backend->graph_launch(device, graph->native, error);
  for (const kept *entry = graph->first; entry != NULL; entry = entry->next) {
    WB_TRY(run_kept(device, entry, error));
  }
  return WB_OK;
}

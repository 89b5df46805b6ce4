/* Devices: where slabs and buffers live and kernels run: "cpu" always, "cuda" where there is one.
 *
 * Device memory is named by plain pointers that only the device may follow: on the CPU they happen
 * to be host pointers, elsewhere not, so a host program reads and writes it by the copies below
 * alone. Pointers into the middle of an allocation are fine.
 *
 * Copies and launches on one device run in the order of the calls. They may still be under way when
 * a call returns; wb_device_read and wb_device_wait return when everything before is done. Each
 * device belongs to one thread at a time; different devices are independent. */
#ifndef WB_COMPILER_DEVICE_H
#define WB_COMPILER_DEVICE_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_device wb_device;

typedef struct wb_device_info {
  const char *name;        /* "cpu", "cuda:0" */
  const char *description; /* the model, for people */
  int32_t threads;  /* host threads that share a launch's books; 0 where that has no meaning */
  bool host_memory; /* device pointers are host pointers */
  int32_t sm;       /* capability of a GPU: 90 for 9.0; 0: none */
  int32_t multiprocessors;
  int32_t clock_khz; /* peak; 0 unknown */
} wb_device_info;

/* Opens a device by its name:
 *
 *   "cpu"             this machine
 *   "cuda", "cuda:1"  an NVIDIA GPU by index, through the CUDA runtime (12.8 or newer), which is loaded
 *                     now: $WB_CUDART, else where the system's loader looks
 *   "auto"            the first GPU that can be opened, else the CPU
 *
 * WB_ERROR_ARGUMENT for an unknown name, with the names there are; WB_ERROR_UNAVAILABLE if there is no
 * runtime, driver or GPU of that index, or none that is new enough; WB_ERROR_DEVICE with the driver's
 * words. */
WB_API wb_status wb_device_open(const char *name, wb_device **out, wb_error *error);
/* Everything must have been freed before. NULL is fine. */
WB_API void wb_device_close(wb_device *device);
WB_API void wb_device_describe(const wb_device *device, wb_device_info *info);

/* Host threads for launches: 1..1024, or 0 for as many as the machine offers (the default). Results
 * never depend on it. Ignored by devices other than "cpu". */
WB_API wb_status wb_device_set_threads(wb_device *device, int32_t threads, wb_error *error);

/* Memory of the device, zeroed, aligned to 256 bytes. `bytes` 0 gives a pointer that may be freed. */
WB_API wb_status wb_device_allocate(wb_device *device, size_t bytes, void **out, wb_error *error);
WB_API void wb_device_free(wb_device *device, void *memory); /* NULL is fine */

/* Host to device (the source may be reused at once), device to host, within the device, and a fill.
 * Areas of one copy must not overlap. */
WB_API wb_status wb_device_write(wb_device *device, void *to, const void *from, size_t bytes,
                                 wb_error *error);
WB_API wb_status wb_device_read(wb_device *device, void *to, const void *from, size_t bytes,
                                wb_error *error);
WB_API wb_status wb_device_copy(wb_device *device, void *to, const void *from, size_t bytes,
                                wb_error *error);
WB_API wb_status wb_device_fill(wb_device *device, void *to, uint8_t byte, size_t bytes,
                                wb_error *error);

/* Compiles for this device, through its own cache (kernel.h). */
WB_API wb_status wb_device_compile(wb_device *device, const wb_program *program,
                                   const wb_kernel_options *options, wb_kernel **out,
                                   wb_kernel_report *report, wb_error *error);
WB_API wb_kernel_cache *wb_device_cache(wb_device *device);

/* One launch: which books, and what the program gets. */
typedef struct wb_launch {
  void *slabs; /* device memory; NULL if the program has no slab */
  int64_t
      slab_stride; /* bytes from a book to the next, a multiple of 64, at least the slab's size */
  int64_t first_book, books;         /* runs first_book <= b < first_book + books */
  const wb_buffer_argument *buffers; /* host array, copied; the data they name is device memory */
  int32_t buffer_count;              /* must be the program's */
  const int64_t *scalars;            /* host array, copied */
  int32_t scalar_count;              /* must be the program's number of parameters */
} wb_launch;

/* Runs a kernel. WB_ERROR_ARGUMENT names the argument that does not fit the program. A promise that
 * checked code saw broken is WB_ERROR_INTERNAL, here or from the next wb_device_wait. */
WB_API wb_status wb_device_launch(wb_device *device, const wb_kernel *kernel,
                                  const wb_launch *launch, wb_error *error);

/* Waits for everything queued; reports what went wrong since the last wait. */
WB_API wb_status wb_device_wait(wb_device *device, wb_error *error);

/* ---- streams, graphs, events, host memory ---- */

/* Queues what follows on a caller's stream (a cudaStream_t of this GPU's primary context), which must
 * outlive its use; NULL: back to the device's own. WB_ERROR_STATE on the CPU, which has none. */
WB_API wb_status wb_device_use_stream(wb_device *device, void *stream, wb_error *error);
WB_API void *wb_device_stream(const wb_device *device); /* in use; NULL on the CPU */

/* Copies within the device, fills and launches from here to the end of the capture are not done but
 * kept as a graph, which wb_graph_launch queues as a whole, as often as wanted: memory and arguments
 * are those of the capture; its kernels may be released, the device keeps them. Other calls on the
 * device are WB_ERROR_STATE until the end; free no memory of it meanwhile. */
typedef struct wb_graph wb_graph;
WB_API wb_status wb_device_capture_begin(wb_device *device, wb_error *error);
WB_API wb_status wb_device_capture_end(wb_device *device, wb_graph **out, wb_error *error);
WB_API wb_status wb_graph_launch(wb_graph *graph, wb_error *error);
WB_API void wb_graph_free(wb_graph *graph); /* before its device closes; NULL is fine */

/* A point in the device's order of work. Seconds between two waits for the later one. */
typedef struct wb_event wb_event;
WB_API wb_status wb_event_new(wb_device *device, wb_event **out, wb_error *error);
WB_API wb_status wb_event_record(wb_event *event, wb_error *error);
WB_API wb_status wb_event_seconds(wb_event *start, wb_event *end, double *seconds, wb_error *error);
WB_API void wb_event_free(wb_event *event); /* NULL is fine */

/* Host memory that copies to and from the device are fastest with. */
WB_API wb_status wb_device_allocate_host(wb_device *device, size_t bytes, void **out,
                                         wb_error *error);
WB_API void wb_device_free_host(wb_device *device, void *memory); /* NULL is fine */

#ifdef __cplusplus
}
#endif
#endif

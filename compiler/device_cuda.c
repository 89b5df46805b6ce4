/* An NVIDIA GPU as a device, through the CUDA runtime (cuda_api.h).
 *
 * Each device has a stream of its own; a caller may put its own in place. Kernels are loaded and get
 * their shared memory when they are compiled, so a first launch can be captured. The runtime's current
 * device belongs to the calling thread, so every entry sets it.
 *
 * Keep: every call of the runtime is checked, and its error names the call, the device and the
 * runtime's words. */
#include "compiler/cuda_api.h"
#include "compiler/device_backend.h"
#include "compiler/kernel_cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SM = 80, WARP = 32, MEBIBYTE = 1 << 20 };

typedef struct cuda_device {
  wb_cuda_api api;
  int index;
  void *own, *stream; /* stream is the one in use */
  char *fault;        /* device memory for a wb_fault */
} cuda_device;

/* What a kernel becomes on a device. */
typedef struct cuda_kernel {
  wb_cuda_api api;
  int index;
  void *library, *function;
} cuda_kernel;

static cuda_device *state_of(const wb_device *device) { return device->state; }

static wb_status failed(const wb_device *device, const char *call, int code, wb_error *error) {
  const wb_cuda_api *api = &state_of(device)->api;
  (void)api->GetLastError(); /* what is not sticky is forgotten */
  wb_status status = code == CUDA_ERROR_MEMORY_ALLOCATION     ? WB_ERROR_MEMORY
                     : code == CUDA_ERROR_NO_DEVICE           ? WB_ERROR_UNAVAILABLE
                     : code == CUDA_ERROR_INSUFFICIENT_DRIVER ? WB_ERROR_UNAVAILABLE
                                                              : WB_ERROR_DEVICE;
  return WB_FAIL(error, status, "device %s: cuda%s: %s (%s)", device->name, call,
                 api->GetErrorString(code), api->GetErrorName(code));
}

/* Calls a function of the runtime on this device; returns from the caller if it fails. */
#define CUDA_TRY(device, name, ...)                          \
  do {                                                       \
    int cuda_code = state_of(device)->api.name(__VA_ARGS__); \
    if (cuda_code != CUDA_SUCCESS) {                         \
      return failed((device), #name, cuda_code, error);      \
    }                                                        \
  } while (0)

static wb_status enter(const wb_device *device, wb_error *error) {
  CUDA_TRY(device, SetDevice, state_of(device)->index);
  return WB_OK;
}

/* ---- opening ---- */

static wb_status parse_index(const char *name, int *index, wb_error *error) {
  *index = 0;
  const char *colon = strchr(name, ':');
  if (colon == NULL) return WB_OK;
  char *end;
  long value = strtol(colon + 1, &end, 10);
  if (colon[1] < '0' || colon[1] > '9' || *end != '\0' || value > 1023) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "device: expected \"cuda\" or \"cuda:INDEX\", got \"%.80s\"", name);
  }
  *index = (int)value;
  return WB_OK;
}

static wb_status check_count(wb_device *device, wb_error *error) {
  cuda_device *cuda = state_of(device);
  int count = 0;
  int code = cuda->api.GetDeviceCount(&count);
  if (code == CUDA_ERROR_INSUFFICIENT_DRIVER) {
    int driver = 0, runtime = 0;
    (void)cuda->api.DriverGetVersion(&driver);
    if (driver == 0) {
      return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "device %s: the NVIDIA driver is missing",
                     device->name);
    }
    (void)cuda->api.RuntimeGetVersion(&runtime);
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "device %s: the driver is too old: it serves CUDA %d.%d, the runtime "
                   "found is %d.%d: install a newer driver, or a runtime that the driver serves",
                   device->name, driver / 1000, driver % 1000 / 10, runtime / 1000,
                   runtime % 1000 / 10);
  }
  if (code != CUDA_SUCCESS) return failed(device, "GetDeviceCount", code, error);
  if (cuda->index >= count) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "device %s: expected an index below %d, the number of GPUs here, got %d",
                   device->name, count, cuda->index);
  }
  return WB_OK;
}

static wb_status describe(wb_device *device, wb_error *error) {
  cuda_device *cuda = state_of(device);
  int major = 0, minor = 0;
  char bus[32] = "";
  size_t free_bytes = 0, total_bytes = 0;
  CUDA_TRY(device, DeviceGetAttribute, &major, CUDA_ATTRIBUTE_MAJOR, cuda->index);
  CUDA_TRY(device, DeviceGetAttribute, &minor, CUDA_ATTRIBUTE_MINOR, cuda->index);
  CUDA_TRY(device, DeviceGetAttribute, &device->multiprocessors, CUDA_ATTRIBUTE_MULTIPROCESSORS,
           cuda->index);
  /* newer runtimes may not tell the clock */
  if (cuda->api.DeviceGetAttribute(&device->clock_khz, CUDA_ATTRIBUTE_CLOCK_KHZ, cuda->index) !=
      CUDA_SUCCESS) {
    device->clock_khz = 0;
    (void)cuda->api.GetLastError();
  }
  CUDA_TRY(device, DeviceGetPCIBusId, bus, (int)sizeof bus, cuda->index);
  CUDA_TRY(device, MemGetInfo, &free_bytes, &total_bytes);
  device->sm = 10 * major + minor;
  snprintf(device->name, sizeof device->name, "cuda:%d", cuda->index);
  snprintf(device->description, sizeof device->description,
           "NVIDIA GPU sm_%d at %s, %d multiprocessors, %zu MiB", device->sm, bus,
           device->multiprocessors, total_bytes / MEBIBYTE);
  if (device->sm < LEAST_SM) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "device %s: expected a GPU of capability 8.0 or newer, got %d.%d", device->name,
                   major, minor);
  }
  return WB_OK;
}

static wb_status start(wb_device *device, wb_error *error) {
  cuda_device *cuda = state_of(device);
  WB_TRY(check_count(device, error));
  WB_TRY(enter(device, error));
  WB_TRY(describe(device, error));
  CUDA_TRY(device, StreamCreateWithFlags, &cuda->own, CUDA_STREAM_NON_BLOCKING);
  cuda->stream = cuda->own;
  void *fault = NULL;
  CUDA_TRY(device, Malloc, &fault, sizeof(wb_fault));
  cuda->fault = fault;
  return WB_OK;
}

static void cuda_close(wb_device *device) {
  cuda_device *cuda = state_of(device);
  if (cuda == NULL) return;
  (void)cuda->api.SetDevice(cuda->index);
  if (cuda->fault != NULL) (void)cuda->api.Free(cuda->fault);
  if (cuda->own != NULL) (void)cuda->api.StreamDestroy(cuda->own);
  free(cuda);
}

static wb_status cuda_open(wb_device *device, const char *name, wb_error *error) {
  cuda_device *cuda = calloc(1, sizeof *cuda);
  if (cuda == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "device %s: out of memory", name);
  device->state = cuda;
  wb_status status = parse_index(name, &cuda->index, error);
  if (status == WB_OK) status = wb_cuda_api_open(&cuda->api, error);
  if (status != WB_OK) {
    free(cuda); /* no call of the runtime was made */
    return status;
  }
  status = start(device, error);
  if (status != WB_OK) cuda_close(device);
  return status;
}

/* ---- memory ---- */

static wb_status out_of_memory(wb_device *device, size_t bytes, const char *kind, wb_error *error) {
  size_t free_bytes = 0, total_bytes = 0;
  (void)state_of(device)->api.GetLastError();
  (void)state_of(device)->api.MemGetInfo(&free_bytes, &total_bytes);
  return WB_FAIL(error, WB_ERROR_MEMORY,
                 "device %s: %zu bytes of %s memory could not be had: %zu of %zu are free on the "
                 "device",
                 device->name, bytes, kind, free_bytes, total_bytes);
}

static wb_status cuda_allocate(wb_device *device, size_t bytes, void **out, wb_error *error) {
  cuda_device *cuda = state_of(device);
  size_t asked = bytes == 0 ? 1 : bytes;
  WB_TRY(enter(device, error));
  int code = cuda->api.Malloc(out, asked);
  if (code == CUDA_ERROR_MEMORY_ALLOCATION) return out_of_memory(device, bytes, "device", error);
  if (code != CUDA_SUCCESS) return failed(device, "Malloc", code, error);
  code = cuda->api.MemsetAsync(*out, 0, asked, cuda->stream);
  if (code == CUDA_SUCCESS) return WB_OK;
  (void)cuda->api.Free(*out);
  *out = NULL;
  return failed(device, "MemsetAsync", code, error);
}

static void cuda_release(wb_device *device, void *memory) {
  cuda_device *cuda = state_of(device);
  (void)cuda->api.SetDevice(cuda->index);
  (void)cuda->api.StreamSynchronize(cuda->stream);
  (void)cuda->api.Free(memory);
}

static wb_status cuda_allocate_host(wb_device *device, size_t bytes, void **out, wb_error *error) {
  WB_TRY(enter(device, error));
  int code = state_of(device)->api.HostAlloc(out, bytes == 0 ? 1 : bytes, CUDA_HOST_ALLOC_DEFAULT);
  if (code == CUDA_ERROR_MEMORY_ALLOCATION) return out_of_memory(device, bytes, "pinned", error);
  return code == CUDA_SUCCESS ? WB_OK : failed(device, "HostAlloc", code, error);
}

static void cuda_release_host(wb_device *device, void *memory) {
  (void)state_of(device)->api.FreeHost(memory);
}

/* The runtime has taken a pageable source when the call returns, but not a pinned one: so wait. */
static wb_status cuda_write(wb_device *device, void *to, const void *from, size_t bytes,
                            wb_error *error) {
  cuda_device *cuda = state_of(device);
  WB_TRY(enter(device, error));
  CUDA_TRY(device, MemcpyAsync, to, from, bytes, CUDA_COPY_HOST_TO_DEVICE, cuda->stream);
  CUDA_TRY(device, StreamSynchronize, cuda->stream);
  return WB_OK;
}

static wb_status cuda_read(wb_device *device, void *to, const void *from, size_t bytes,
                           wb_error *error) {
  cuda_device *cuda = state_of(device);
  WB_TRY(enter(device, error));
  CUDA_TRY(device, MemcpyAsync, to, from, bytes, CUDA_COPY_DEVICE_TO_HOST, cuda->stream);
  CUDA_TRY(device, StreamSynchronize, cuda->stream);
  return WB_OK;
}

static wb_status cuda_copy(wb_device *device, void *to, const void *from, size_t bytes,
                           wb_error *error) {
  WB_TRY(enter(device, error));
  CUDA_TRY(device, MemcpyAsync, to, from, bytes, CUDA_COPY_DEVICE_TO_DEVICE,
           state_of(device)->stream);
  return WB_OK;
}

static wb_status cuda_fill(wb_device *device, void *to, uint8_t byte, size_t bytes,
                           wb_error *error) {
  WB_TRY(enter(device, error));
  CUDA_TRY(device, MemsetAsync, to, byte, bytes, state_of(device)->stream);
  return WB_OK;
}

static wb_status cuda_wait(wb_device *device, wb_error *error) {
  WB_TRY(enter(device, error));
  CUDA_TRY(device, StreamSynchronize, state_of(device)->stream);
  return WB_OK;
}

/* ---- kernels ---- */

static void unload(void *attached) {
  cuda_kernel *kernel = attached;
  if (kernel->library != NULL) {
    (void)kernel->api.SetDevice(kernel->index);
    (void)kernel->api.LibraryUnload(kernel->library);
  }
  free(kernel);
}

/* Machine code from a bundle, if it is for this GPU; what does not load is made from the PTX. */
static bool load_cubin(const wb_device *device, const wb_kernel *kernel, cuda_kernel *loaded) {
  size_t bytes;
  const void *cubin = wb_kernel_cubin(kernel, &bytes);
  if (cubin == NULL || device->sm / 10 != wb_kernel_gpu(kernel)->sm / 10) return false;
  int code = loaded->api.LibraryLoadData(&loaded->library, cubin, NULL, NULL, 0, NULL, NULL, 0);
  if (code == CUDA_SUCCESS) return true;
  (void)loaded->api.GetLastError();
  loaded->library = NULL;
  return false;
}

static wb_status load_library(wb_device *device, const wb_kernel *kernel, cuda_kernel *loaded,
                              wb_error *error) {
  char log[512] = "";
  int options[] = {CUDA_JIT_ERROR_LOG, CUDA_JIT_ERROR_LOG_BYTES};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  const char *name = wb_kernel_program(kernel)->name;
  int code = loaded->api.LibraryLoadData(&loaded->library, wb_kernel_gpu(kernel)->ptx, options,
                                         values, 2, NULL, NULL, 0);
  if (code == CUDA_SUCCESS) return WB_OK;
  wb_status status = failed(device, "LibraryLoadData", code, error);
  if (error != NULL) {
    char text[WB_ERROR_TEXT_BYTES];
    memcpy(text, error->text, sizeof text);
    (void)WB_FAIL(error, status, "kernel %s for sm_%d: %.300s%s%.400s", name,
                  wb_kernel_gpu(kernel)->sm, text, log[0] != '\0' ? ": " : "", log);
  }
  return status;
}

/* Gives a kernel its shared memory. Asking how many blocks run at once also makes the runtime bring the
 * code to the GPU, which a launch inside a capture could not. */
static wb_status size_kernel(wb_device *device, const wb_kernel *kernel, const void *function,
                             wb_error *error) {
  const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
  const int shared = gpu->shared_bytes * gpu->warps;
  int blocks = 0;
  CUDA_TRY(device, FuncSetAttribute, function, CUDA_FUNCTION_DYNAMIC_SHARED, shared);
  CUDA_TRY(device, OccupancyMaxActiveBlocksPerMultiprocessor, &blocks, function, WARP * gpu->warps,
           (size_t)shared);
  if (blocks > 0) return WB_OK;
  return WB_FAIL(error, WB_ERROR_LIMIT,
                 "kernel %s: a block of %d warps with %d bytes of shared memory does not fit on "
                 "device %s: ask for fewer warps or another placement",
                 wb_kernel_program(kernel)->name, gpu->warps, shared, device->name);
}

static wb_status cuda_prepare(wb_device *device, wb_kernel *kernel, wb_error *error) {
  const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
  if (wb_kernel_attached(kernel) != NULL || gpu->ptx == NULL) return WB_OK;
  WB_TRY(enter(device, error));
  cuda_kernel *loaded = calloc(1, sizeof *loaded);
  if (loaded == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "device %s: no memory", device->name);
  loaded->api = state_of(device)->api;
  loaded->index = state_of(device)->index;
  wb_kernel_attach(kernel, loaded, unload);
  if (!load_cubin(device, kernel, loaded)) {
    WB_TRY(load_library(device, kernel, loaded, error));
  }
  CUDA_TRY(device, LibraryGetKernel, &loaded->function, loaded->library,
           wb_kernel_program(kernel)->name);
  return size_kernel(device, kernel, loaded->function, error);
}

/* The parameters of a launch, 8 bytes each, in the order of the ABI (program.h). */
typedef struct parameters {
  uint64_t values[WB_GPU_FIXED_PARAMETERS + WB_GPU_BUFFER_PARAMETERS * WB_PARAMETERS_MAX +
                  WB_PARAMETERS_MAX];
  void *pointers[WB_GPU_FIXED_PARAMETERS + WB_GPU_BUFFER_PARAMETERS * WB_PARAMETERS_MAX +
                 WB_PARAMETERS_MAX];
  size_t count;
} parameters;

static void add(parameters *list, uint64_t value) {
  list->values[list->count] = value;
  list->pointers[list->count] = &list->values[list->count];
  list->count++;
}

static void fill_parameters(parameters *list, const wb_launch *launch, const char *fault) {
  add(list, (uint64_t)(uintptr_t)launch->slabs);
  add(list, (uint64_t)launch->slab_stride);
  add(list, (uint64_t)launch->first_book);
  add(list, (uint64_t)(launch->first_book + launch->books));
  add(list, (uint64_t)(uintptr_t)fault);
  for (int32_t i = 0; i < launch->buffer_count; i++) {
    add(list, (uint64_t)(uintptr_t)launch->buffers[i].data);
    add(list, (uint64_t)launch->buffers[i].length);
    add(list, (uint64_t)launch->buffers[i].stride);
  }
  for (int32_t i = 0; i < launch->scalar_count; i++) add(list, (uint64_t)launch->scalars[i]);
}

static wb_status queue_kernel(wb_device *device, const wb_kernel *kernel, const wb_launch *launch,
                              const char *fault, wb_error *error) {
  const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
  const cuda_kernel *loaded = wb_kernel_attached(kernel);
  if (loaded == NULL || loaded->function == NULL) {
    return WB_FAIL(error, WB_ERROR_STATE, "kernel %s was not compiled by device %s",
                   wb_kernel_program(kernel)->name, device->name);
  }
  if (launch->buffer_count > WB_PARAMETERS_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT, "kernel %s: expected at most %d buffers, got %d",
                   wb_kernel_program(kernel)->name, WB_PARAMETERS_MAX, launch->buffer_count);
  }
  parameters list;
  list.count = 0;
  fill_parameters(&list, launch, fault);
  int64_t blocks = (launch->books + gpu->warps - 1) / gpu->warps;
  cuda_dim3 grid = {(unsigned)blocks, 1, 1};
  cuda_dim3 block = {(unsigned)(WARP * gpu->warps), 1, 1};
  CUDA_TRY(device, LaunchKernel, loaded->function, grid, block, list.pointers,
           (size_t)gpu->shared_bytes * (size_t)gpu->warps, state_of(device)->stream);
  return WB_OK;
}

/* Runs checked code and looks at what it found. */
static wb_status launch_checked(wb_device *device, const wb_kernel *kernel, const wb_launch *launch,
                                wb_error *error) {
  char *memory = state_of(device)->fault;
  wb_fault fault = {.op = -1};
  WB_TRY(cuda_write(device, memory, &fault, sizeof fault, error));
  WB_TRY(queue_kernel(device, kernel, launch, memory, error));
  WB_TRY(cuda_read(device, &fault, memory, sizeof fault, error));
  return wb_kernel_report_fault(kernel, &fault, error);
}

static wb_status cuda_launch(wb_device *device, const wb_kernel *kernel, const wb_launch *launch,
                             wb_error *error) {
  WB_TRY(enter(device, error));
  if (wb_kernel_checks(kernel)) {
    if (device->capturing) {
      return WB_FAIL(error, WB_ERROR_STATE, "device %s: checked kernels cannot be captured",
                     device->name);
    }
    return launch_checked(device, kernel, launch, error);
  }
  return queue_kernel(device, kernel, launch, NULL, error);
}

/* ---- streams, graphs, events ---- */

static wb_status cuda_use_stream(wb_device *device, void *stream, wb_error *error) {
  WB_TRY(cuda_wait(device, error)); /* the order of work stays the order of calls */
  cuda_device *cuda = state_of(device);
  cuda->stream = stream != NULL ? stream : cuda->own;
  return WB_OK;
}

static void *cuda_stream(const wb_device *device) { return state_of(device)->stream; }

static wb_status cuda_capture_begin(wb_device *device, wb_error *error) {
  WB_TRY(enter(device, error));
  CUDA_TRY(device, StreamBeginCapture, state_of(device)->stream, CUDA_CAPTURE_THREAD_LOCAL);
  return WB_OK;
}

static wb_status cuda_capture_end(wb_device *device, void **out, wb_error *error) {
  cuda_device *cuda = state_of(device);
  void *graph = NULL;
  WB_TRY(enter(device, error));
  CUDA_TRY(device, StreamEndCapture, cuda->stream, &graph);
  int code = cuda->api.GraphInstantiate(out, graph, 0);
  (void)cuda->api.GraphDestroy(graph);
  if (code == CUDA_SUCCESS) return WB_OK;
  *out = NULL;
  return failed(device, "GraphInstantiate", code, error);
}

static wb_status cuda_graph_launch(wb_device *device, void *graph, wb_error *error) {
  WB_TRY(enter(device, error));
  CUDA_TRY(device, GraphLaunch, graph, state_of(device)->stream);
  return WB_OK;
}

static void cuda_graph_free(wb_device *device, void *graph) {
  (void)state_of(device)->api.GraphExecDestroy(graph);
}

static wb_status cuda_event_new(wb_device *device, void **event, wb_error *error) {
  WB_TRY(enter(device, error));
  CUDA_TRY(device, EventCreateWithFlags, event, 0);
  return WB_OK;
}

static wb_status cuda_event_record(wb_device *device, void *event, wb_error *error) {
  WB_TRY(enter(device, error));
  CUDA_TRY(device, EventRecord, event, state_of(device)->stream);
  return WB_OK;
}

static wb_status cuda_event_seconds(wb_device *device, void *start_event, void *end_event,
                                    double *seconds, wb_error *error) {
  float milliseconds = 0;
  WB_TRY(enter(device, error));
  CUDA_TRY(device, EventSynchronize, end_event);
  CUDA_TRY(device, EventElapsedTime, &milliseconds, start_event, end_event);
  *seconds = 1e-3 * (double)milliseconds;
  return WB_OK;
}

static void cuda_event_free(wb_device *device, void *event) {
  (void)state_of(device)->api.EventDestroy(event);
}

const wb_device_backend wb_device_cuda = {.name = "cuda",
                                          .host_memory = false,
                                          .open = cuda_open,
                                          .close = cuda_close,
                                          .allocate = cuda_allocate,
                                          .release = cuda_release,
                                          .write = cuda_write,
                                          .read = cuda_read,
                                          .copy = cuda_copy,
                                          .fill = cuda_fill,
                                          .launch = cuda_launch,
                                          .wait = cuda_wait,
                                          .prepare = cuda_prepare,
                                          .use_stream = cuda_use_stream,
                                          .stream = cuda_stream,
                                          .capture_begin = cuda_capture_begin,
                                          .capture_end = cuda_capture_end,
                                          .graph_launch = cuda_graph_launch,
                                          .graph_free = cuda_graph_free,
                                          .event_new = cuda_event_new,
                                          .event_record = cuda_event_record,
                                          .event_seconds = cuda_event_seconds,
                                          .event_free = cuda_event_free,
                                          .allocate_host = cuda_allocate_host,
                                          .release_host = cuda_release_host};

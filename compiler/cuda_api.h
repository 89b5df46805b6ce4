/* The part of the CUDA runtime that devices use, loaded at run time, so that one build serves
 * machines with and without CUDA.
 *
 * Declared here from the ABI that CUDA 12.8 and 13 share (cuda_runtime_api.h of the toolkit): enums as
 * int, handles as pointers. Keep: nothing whose layout changed between versions (cudaDeviceProp,
 * cudaFuncAttributes) is named; what a device is like is asked for by attribute. Private. */
#ifndef WB_COMPILER_CUDA_API_H
#define WB_COMPILER_CUDA_API_H

#include "base/status.h"

#include <stddef.h>

typedef struct cuda_dim3 {
  unsigned x, y, z;
} cuda_dim3;

/* Numbers of the runtime's enumerations. */
enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_MEMORY_ALLOCATION = 2,
  CUDA_ERROR_INSUFFICIENT_DRIVER = 35,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_NO_KERNEL_IMAGE = 209,
  CUDA_ERROR_INVALID_PTX = 218,
  CUDA_ERROR_UNSUPPORTED_PTX = 222,
  CUDA_ERROR_NOT_READY = 600,

  CUDA_COPY_HOST_TO_DEVICE = 1,
  CUDA_COPY_DEVICE_TO_HOST = 2,
  CUDA_COPY_DEVICE_TO_DEVICE = 3,

  CUDA_ATTRIBUTE_CLOCK_KHZ = 13,
  CUDA_ATTRIBUTE_MULTIPROCESSORS = 16,
  CUDA_ATTRIBUTE_THREADS_PER_MULTIPROCESSOR = 39,
  CUDA_ATTRIBUTE_MAJOR = 75,
  CUDA_ATTRIBUTE_MINOR = 76,
  CUDA_ATTRIBUTE_SHARED_PER_MULTIPROCESSOR = 81,
  CUDA_ATTRIBUTE_SHARED_PER_BLOCK_OPTIN = 97,
  CUDA_ATTRIBUTE_BLOCKS_PER_MULTIPROCESSOR = 106,
  CUDA_ATTRIBUTE_SHARED_RESERVED_PER_BLOCK = 111,

  CUDA_FUNCTION_DYNAMIC_SHARED = 8, /* cudaFuncAttributeMaxDynamicSharedMemorySize */
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_CAPTURE_THREAD_LOCAL = 1,
  CUDA_HOST_ALLOC_DEFAULT = 0,

  CUDA_JIT_ERROR_LOG = 5,
  CUDA_JIT_ERROR_LOG_BYTES = 6
};

/*  name without "cuda", parameters. All return the runtime's error number. */
#define WB_CUDA_FUNCTIONS(X)                                                                 \
  X(GetDeviceCount, (int *count))                                                            \
  X(SetDevice, (int device))                                                                 \
  X(DeviceGetAttribute, (int *value, int attribute, int device))                             \
  X(DeviceGetPCIBusId, (char *text, int bytes, int device))                                  \
  X(DriverGetVersion, (int *version))                                                        \
  X(RuntimeGetVersion, (int *version))                                                       \
  X(MemGetInfo, (size_t * free, size_t * total))                                             \
  X(Malloc, (void **memory, size_t bytes))                                                   \
  X(Free, (void *memory))                                                                    \
  X(HostAlloc, (void **memory, size_t bytes, unsigned flags))                                \
  X(FreeHost, (void *memory))                                                                \
  X(MemcpyAsync, (void *to, const void *from, size_t bytes, int kind, void *stream))         \
  X(MemsetAsync, (void *to, int byte, size_t bytes, void *stream))                           \
  X(StreamCreateWithFlags, (void **stream, unsigned flags))                                  \
  X(StreamDestroy, (void *stream))                                                           \
  X(StreamSynchronize, (void *stream))                                                       \
  X(EventCreateWithFlags, (void **event, unsigned flags))                                    \
  X(EventDestroy, (void *event))                                                             \
  X(EventRecord, (void *event, void *stream))                                                \
  X(EventSynchronize, (void *event))                                                         \
  X(EventElapsedTime, (float *milliseconds, void *start, void *end))                         \
  X(StreamWaitEvent, (void *stream, void *event, unsigned flags))                            \
  X(StreamBeginCapture, (void *stream, int mode))                                            \
  X(StreamEndCapture, (void *stream, void **graph))                                          \
  X(GraphInstantiate, (void **executable, void *graph, unsigned long long flags))            \
  X(GraphLaunch, (void *executable, void *stream))                                           \
  X(GraphDestroy, (void *graph))                                                             \
  X(GraphExecDestroy, (void *executable))                                                    \
  X(LibraryLoadData, (void **library, const void *code, int *jit_options, void **jit_values, \
                      unsigned jit_count, int *options, void **values, unsigned count))      \
  X(LibraryUnload, (void *library))                                                          \
  X(LibraryGetKernel, (void **kernel, void *library, const char *name))                      \
  X(FuncSetAttribute, (const void *kernel, int attribute, int value))                        \
  X(OccupancyMaxActiveBlocksPerMultiprocessor,                                               \
    (int *blocks, const void *kernel, int threads, size_t shared_bytes))                     \
  X(LaunchKernel, (const void *kernel, cuda_dim3 grid, cuda_dim3 block, void **arguments,    \
                   size_t shared_bytes, void *stream))                                       \
  X(GetLastError, (void))

typedef struct wb_cuda_api {
#define X(name, parameters) int(*name) parameters;
  WB_CUDA_FUNCTIONS(X)
#undef X
  const char *(*GetErrorName)(int error);
  const char *(*GetErrorString)(int error);
} wb_cuda_api;

/* Loads the runtime: $WB_CUDART, else the first of the sonames of CUDA 13 and 12 that is new enough and
 * that the driver serves. WB_ERROR_UNAVAILABLE says what was looked for, or which function an older
 * runtime lacks. Nothing is remembered: the system's loader counts. */
wb_status wb_cuda_api_open(wb_cuda_api *api, wb_error *error);

#endif

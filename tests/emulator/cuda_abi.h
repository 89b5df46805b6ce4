/* The part of the CUDA runtime's ABI that the emulator exports, so that it builds without CUDA.
 *
 * Types, numbers and argument orders are those of CUDA 12.8 and later (cuda_runtime_api.h and
 * driver_types.h); the test test_emulator_api checks them against the real headers where those are. */
#ifndef WB_TESTS_EMULATOR_CUDA_ABI_H
#define WB_TESTS_EMULATOR_CUDA_ABI_H

#include <stddef.h>

#define CUDA_API __attribute__((visibility("default")))

/* number and text of each error that the emulator gives */
#define CUDA_ERRORS(X)                                                                       \
  X(cudaSuccess, 0, "no error")                                                              \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                            \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                           \
  X(cudaErrorInitializationError, 3, "initialization error")                                 \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                      \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                     \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                             \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                \
  X(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                               \
  X(cudaErrorInsufficientDriver, 35, "CUDA driver version is insufficient for CUDA runtime version") \
  X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")    \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                           \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                            \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                   \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                      \
  X(cudaErrorNoKernelImageForDevice, 209, "no kernel image is available for execution on the device") \
  X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                \
  X(cudaErrorUnsupportedPtxVersion, 222, "the provided PTX was compiled with an unsupported toolchain.") \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                          \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                  \
  X(cudaErrorNotReady, 600, "device not ready")                                              \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")           \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                  \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")              \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                   \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                               \
  X(cudaErrorNotSupported, 801, "operation not supported")                                   \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
  X(cudaErrorStreamCaptureInvalidated, 901, "operation failed due to a previous error during capture") \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not initiated in this stream")        \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")               \
  X(cudaErrorStreamCaptureIsolation, 905, "dependency created on uncaptured work in another stream") \
  X(cudaErrorUnknown, 999, "unknown error")

#define X(name, number, text) name = number,
typedef enum cudaError { CUDA_ERRORS(X) } cudaError_t;
#undef X

enum cudaMemcpyKind {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaDeviceAttr {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxBlockDimX = 2,
  cudaDevAttrMaxBlockDimY = 3,
  cudaDevAttrMaxBlockDimZ = 4,
  cudaDevAttrMaxGridDimX = 5,
  cudaDevAttrMaxGridDimY = 6,
  cudaDevAttrMaxGridDimZ = 7,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrTotalConstantMemory = 9,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMaxRegistersPerBlock = 12,
  cudaDevAttrClockRate = 13,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrIntegrated = 18,
  cudaDevAttrComputeMode = 20,
  cudaDevAttrConcurrentKernels = 31,
  cudaDevAttrEccEnabled = 32,
  cudaDevAttrPciBusId = 33,
  cudaDevAttrPciDeviceId = 34,
  cudaDevAttrMemoryClockRate = 36,
  cudaDevAttrGlobalMemoryBusWidth = 37,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrAsyncEngineCount = 40,
  cudaDevAttrUnifiedAddressing = 41,
  cudaDevAttrPciDomainId = 50,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrMaxRegistersPerMultiprocessor = 82,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrMaxBlocksPerMultiprocessor = 106,
  cudaDevAttrReservedSharedMemoryPerBlock = 111
};

enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

enum cudaJitOption { cudaJitErrorLogBuffer = 5, cudaJitErrorLogBufferSizeBytes = 6 };
enum cudaLibraryOption { cudaLibraryBinaryIsPreserved = 1 };

enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2
};

enum { cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2 };

typedef struct dim3 {
  unsigned int x, y, z;
} dim3;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct CUlib_st *cudaLibrary_t;
typedef struct CUkern_st *cudaKernel_t;

struct cudaFuncAttributes {
  size_t sharedSizeBytes;
  size_t constSizeBytes;
  size_t localSizeBytes;
  int maxThreadsPerBlock;
  int numRegs;
  int ptxVersion;
  int binaryVersion;
  int cacheModeCA;
  int maxDynamicSharedSizeBytes;
  int preferredShmemCarveout;
  int clusterDimMustBeSet;
  int requiredClusterWidth;
  int requiredClusterHeight;
  int requiredClusterDepth;
  int clusterSchedulingPolicyPreference;
  int nonPortableClusterSizeAllowed;
  int reserved[16];
};

typedef struct cudaLaunchConfig_st {
  dim3 gridDim;
  dim3 blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  void *attrs;
  unsigned int numAttrs;
} cudaLaunchConfig_t;

/* every function that is exported: result is cudaError_t; name and arguments */
#define CUDA_FUNCTIONS(X)                                                                        \
  X(cudaGetDeviceCount, (int *count))                                                            \
  X(cudaSetDevice, (int device))                                                                 \
  X(cudaGetDevice, (int *device))                                                                \
  X(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device))             \
  X(cudaDeviceGetPCIBusId, (char *text, int bytes, int device))                                  \
  X(cudaDriverGetVersion, (int *version))                                                        \
  X(cudaRuntimeGetVersion, (int *version))                                                       \
  X(cudaDeviceSynchronize, (void))                                                               \
  X(cudaDeviceReset, (void))                                                                     \
  X(cudaMemGetInfo, (size_t *available, size_t *total))                                          \
  X(cudaMalloc, (void **out, size_t bytes))                                                      \
  X(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream))                            \
  X(cudaFree, (void *memory))                                                                    \
  X(cudaFreeAsync, (void *memory, cudaStream_t stream))                                          \
  X(cudaMallocHost, (void **out, size_t bytes))                                                  \
  X(cudaHostAlloc, (void **out, size_t bytes, unsigned int flags))                               \
  X(cudaFreeHost, (void *memory))                                                                \
  X(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind))            \
  X(cudaMemcpyAsync, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,        \
                      cudaStream_t stream))                                                      \
  X(cudaMemset, (void *to, int byte, size_t bytes))                                              \
  X(cudaMemsetAsync, (void *to, int byte, size_t bytes, cudaStream_t stream))                    \
  X(cudaLibraryLoadData,                                                                         \
    (cudaLibrary_t * out, const void *code, enum cudaJitOption *jit_options, void **jit_values,  \
     unsigned int jit_count, enum cudaLibraryOption *options, void **values,                     \
     unsigned int count))                                                                        \
  X(cudaLibraryUnload, (cudaLibrary_t library))                                                  \
  X(cudaLibraryGetKernel, (cudaKernel_t * out, cudaLibrary_t library, const char *name))         \
  X(cudaLibraryGetKernelCount, (unsigned int *count, cudaLibrary_t library))                     \
  X(cudaLibraryGetGlobal, (void **out, size_t *bytes, cudaLibrary_t library, const char *name))  \
  X(cudaFuncSetAttribute, (const void *kernel, enum cudaFuncAttribute attribute, int value))     \
  X(cudaFuncGetAttributes, (struct cudaFuncAttributes * out, const void *kernel))                \
  X(cudaOccupancyMaxActiveBlocksPerMultiprocessor,                                               \
    (int *blocks, const void *kernel, int threads, size_t shared_bytes))                         \
  X(cudaLaunchKernel, (const void *kernel, dim3 grid, dim3 block, void **arguments,              \
                       size_t shared_bytes, cudaStream_t stream))                                \
  X(cudaLaunchKernelExC,                                                                         \
    (const cudaLaunchConfig_t *config, const void *kernel, void **arguments))                    \
  X(cudaStreamCreate, (cudaStream_t * out))                                                      \
  X(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned int flags))                         \
  X(cudaStreamDestroy, (cudaStream_t stream))                                                    \
  X(cudaStreamSynchronize, (cudaStream_t stream))                                                \
  X(cudaStreamQuery, (cudaStream_t stream))                                                      \
  X(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags))           \
  X(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode))              \
  X(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t *out))                               \
  X(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus *status))          \
  X(cudaEventCreate, (cudaEvent_t * out))                                                        \
  X(cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned int flags))                           \
  X(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream))                                   \
  X(cudaEventQuery, (cudaEvent_t event))                                                         \
  X(cudaEventSynchronize, (cudaEvent_t event))                                                   \
  X(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end))             \
  X(cudaEventDestroy, (cudaEvent_t event))                                                       \
  X(cudaGraphInstantiate,                                                                        \
    (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags))                        \
  X(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream))                                \
  X(cudaGraphDestroy, (cudaGraph_t graph))                                                       \
  X(cudaGraphExecDestroy, (cudaGraphExec_t exec))                                                \
  X(cudaGetLastError, (void))                                                                    \
  X(cudaPeekAtLastError, (void))

#define X(name, arguments) CUDA_API cudaError_t name arguments;
CUDA_FUNCTIONS(X)
#undef X
CUDA_API const char *cudaGetErrorName(cudaError_t error);
CUDA_API const char *cudaGetErrorString(cudaError_t error);

#endif

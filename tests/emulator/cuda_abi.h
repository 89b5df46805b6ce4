/* The part of the CUDA runtime's ABI that the emulator exports, declared here so that it builds without
 * CUDA. See cuda_tables.h. */
#ifndef WB_TESTS_EMULATOR_CUDA_ABI_H
#define WB_TESTS_EMULATOR_CUDA_ABI_H

#include "tests/emulator/cuda_tables.h"

#include <stddef.h>

#define CUDA_API __attribute__((visibility("default")))

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

#define X(name, number) name = number,
enum cudaDeviceAttr { CUDA_DEVICE_ATTRIBUTES(X) };
#undef X

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

#define X(name, arguments) CUDA_API cudaError_t name arguments;
CUDA_FUNCTIONS(X)
#undef X
#define X(type, bytes, field, offset)             \
  _Static_assert(sizeof(type) == (bytes), #type); \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field);
CUDA_LAYOUTS(X)
#undef X

CUDA_API const char *cudaGetErrorName(cudaError_t error);
CUDA_API const char *cudaGetErrorString(cudaError_t error);

#endif

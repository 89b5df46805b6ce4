/* A CUDA runtime of RUNTIME_VERSION on a driver of DRIVER_VERSION: it tells both, and every other call
 * fails as a runtime's does that its driver is too old for. One before 12.8 lacks what came with that
 * version. */
#include "compiler/cuda_api.h"

/* named otherwise in the list: defined below, or missing */
#define cudaRuntimeGetVersion unused_runtime
#define cudaDriverGetVersion  unused_driver
#if RUNTIME_VERSION < 12080
#define cudaLibraryLoadData  unused_load
#define cudaLibraryUnload    unused_unload
#define cudaLibraryGetKernel unused_kernel
#endif

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define X(name, parameters) \
  WB_API int cuda##name parameters { return CUDA_ERROR_INSUFFICIENT_DRIVER; }
WB_CUDA_FUNCTIONS(X)
#undef X
#undef cudaRuntimeGetVersion
#undef cudaDriverGetVersion

WB_API int cudaRuntimeGetVersion(int *version) {
  *version = RUNTIME_VERSION;
  return CUDA_SUCCESS;
}

WB_API int cudaDriverGetVersion(int *version) {
  *version = DRIVER_VERSION;
  return CUDA_SUCCESS;
}

WB_API const char *cudaGetErrorName(int error) { return error == 0 ? "cudaSuccess" : "an error"; }
WB_API const char *cudaGetErrorString(int error) { return cudaGetErrorName(error); }

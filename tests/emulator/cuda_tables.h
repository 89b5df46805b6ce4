/* The facts of the CUDA runtime's ABI that the emulator stands on: errors, attributes, numbers, layouts and
 * functions of CUDA 12.8 and later (cuda_runtime_api.h, driver_types.h).
 *
 * cuda_abi.h makes declarations of them; abi_check.c holds them against the toolkit's own headers where
 * those are installed. */
#ifndef WB_TESTS_EMULATOR_CUDA_TABLES_H
#define WB_TESTS_EMULATOR_CUDA_TABLES_H

/* number and text of each error that the emulator gives */
#define CUDA_ERRORS(X)                                                                          \
  X(cudaSuccess, 0, "no error")                                                                 \
  X(cudaErrorInvalidValue, 1, "invalid argument")                                               \
  X(cudaErrorMemoryAllocation, 2, "out of memory")                                              \
  X(cudaErrorInitializationError, 3, "initialization error")                                    \
  X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                         \
  X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                        \
  X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                \
  X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                   \
  X(cudaErrorStubLibrary, 34, "CUDA driver is a stub library")                                  \
  X(cudaErrorInsufficientDriver, 35,                                                            \
    "CUDA driver version is insufficient for CUDA runtime version")                             \
  X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")       \
  X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                              \
  X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                               \
  X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                      \
  X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                         \
  X(cudaErrorNoKernelImageForDevice, 209,                                                       \
    "no kernel image is available for execution on the device")                                 \
  X(cudaErrorInvalidPtx, 218, "a PTX JIT compilation failed")                                   \
  X(cudaErrorUnsupportedPtxVersion, 222,                                                        \
    "the provided PTX was compiled with an unsupported toolchain.")                             \
  X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                             \
  X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                     \
  X(cudaErrorNotReady, 600, "device not ready")                                                 \
  X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                   \
  X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")              \
  X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                     \
  X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                 \
  X(cudaErrorMisalignedAddress, 716, "misaligned address")                                      \
  X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                  \
  X(cudaErrorNotSupported, 801, "operation not supported")                                      \
  X(cudaErrorStreamCaptureUnsupported, 900, "operation not permitted when stream is capturing") \
  X(cudaErrorStreamCaptureInvalidated, 901,                                                     \
    "operation failed due to a previous error during capture")                                  \
  X(cudaErrorStreamCaptureUnmatched, 903, "capture was not initiated in this stream")           \
  X(cudaErrorStreamCaptureUnjoined, 904, "capturing stream has unjoined work")                  \
  X(cudaErrorStreamCaptureIsolation, 905,                                                       \
    "dependency created on uncaptured work in another stream")                                  \
  X(cudaErrorUnknown, 999, "unknown error")

/*  device attribute, number */
#define CUDA_DEVICE_ATTRIBUTES(X)                    \
  X(cudaDevAttrMaxThreadsPerBlock, 1)                \
  X(cudaDevAttrMaxBlockDimX, 2)                      \
  X(cudaDevAttrMaxBlockDimY, 3)                      \
  X(cudaDevAttrMaxBlockDimZ, 4)                      \
  X(cudaDevAttrMaxGridDimX, 5)                       \
  X(cudaDevAttrMaxGridDimY, 6)                       \
  X(cudaDevAttrMaxGridDimZ, 7)                       \
  X(cudaDevAttrMaxSharedMemoryPerBlock, 8)           \
  X(cudaDevAttrTotalConstantMemory, 9)               \
  X(cudaDevAttrWarpSize, 10)                         \
  X(cudaDevAttrMaxRegistersPerBlock, 12)             \
  X(cudaDevAttrClockRate, 13)                        \
  X(cudaDevAttrMultiProcessorCount, 16)              \
  X(cudaDevAttrIntegrated, 18)                       \
  X(cudaDevAttrComputeMode, 20)                      \
  X(cudaDevAttrConcurrentKernels, 31)                \
  X(cudaDevAttrEccEnabled, 32)                       \
  X(cudaDevAttrPciBusId, 33)                         \
  X(cudaDevAttrPciDeviceId, 34)                      \
  X(cudaDevAttrMemoryClockRate, 36)                  \
  X(cudaDevAttrGlobalMemoryBusWidth, 37)             \
  X(cudaDevAttrL2CacheSize, 38)                      \
  X(cudaDevAttrMaxThreadsPerMultiProcessor, 39)      \
  X(cudaDevAttrAsyncEngineCount, 40)                 \
  X(cudaDevAttrUnifiedAddressing, 41)                \
  X(cudaDevAttrPciDomainId, 50)                      \
  X(cudaDevAttrComputeCapabilityMajor, 75)           \
  X(cudaDevAttrComputeCapabilityMinor, 76)           \
  X(cudaDevAttrMaxSharedMemoryPerMultiprocessor, 81) \
  X(cudaDevAttrMaxRegistersPerMultiprocessor, 82)    \
  X(cudaDevAttrMaxSharedMemoryPerBlockOptin, 97)     \
  X(cudaDevAttrMaxBlocksPerMultiprocessor, 106)      \
  X(cudaDevAttrReservedSharedMemoryPerBlock, 111)

/*  other enumerators, number */
#define CUDA_NUMBERS(X)                                \
  X(cudaMemcpyHostToHost, 0)                           \
  X(cudaMemcpyHostToDevice, 1)                         \
  X(cudaMemcpyDeviceToHost, 2)                         \
  X(cudaMemcpyDeviceToDevice, 3)                       \
  X(cudaMemcpyDefault, 4)                              \
  X(cudaFuncAttributeMaxDynamicSharedMemorySize, 8)    \
  X(cudaFuncAttributePreferredSharedMemoryCarveout, 9) \
  X(cudaJitErrorLogBuffer, 5)                          \
  X(cudaJitErrorLogBufferSizeBytes, 6)                 \
  X(cudaStreamCaptureModeGlobal, 0)                    \
  X(cudaStreamCaptureModeThreadLocal, 1)               \
  X(cudaStreamCaptureModeRelaxed, 2)                   \
  X(cudaStreamCaptureStatusNone, 0)                    \
  X(cudaStreamCaptureStatusActive, 1)                  \
  X(cudaStreamCaptureStatusInvalidated, 2)             \
  X(cudaStreamNonBlocking, 1)                          \
  X(cudaEventDisableTiming, 2)

/*  struct, its size, a field, its offset */
#define CUDA_LAYOUTS(X)                                                \
  X(struct cudaFuncAttributes, 144, sharedSizeBytes, 0)                \
  X(struct cudaFuncAttributes, 144, localSizeBytes, 16)                \
  X(struct cudaFuncAttributes, 144, maxThreadsPerBlock, 24)            \
  X(struct cudaFuncAttributes, 144, numRegs, 28)                       \
  X(struct cudaFuncAttributes, 144, binaryVersion, 36)                 \
  X(struct cudaFuncAttributes, 144, maxDynamicSharedSizeBytes, 44)     \
  X(struct cudaFuncAttributes, 144, nonPortableClusterSizeAllowed, 72) \
  X(cudaLaunchConfig_t, 56, gridDim, 0)                                \
  X(cudaLaunchConfig_t, 56, blockDim, 12)                              \
  X(cudaLaunchConfig_t, 56, dynamicSmemBytes, 24)                      \
  X(cudaLaunchConfig_t, 56, stream, 32)                                \
  X(cudaLaunchConfig_t, 56, attrs, 40)                                 \
  X(cudaLaunchConfig_t, 56, numAttrs, 48)

/* every function that is exported: result is cudaError_t; name and arguments */
#define CUDA_FUNCTIONS(X)                                                                          \
  X(cudaGetDeviceCount, (int *count))                                                              \
  X(cudaSetDevice, (int device))                                                                   \
  X(cudaGetDevice, (int *device))                                                                  \
  X(cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device))               \
  X(cudaDeviceGetPCIBusId, (char *text, int bytes, int device))                                    \
  X(cudaDriverGetVersion, (int *version))                                                          \
  X(cudaRuntimeGetVersion, (int *version))                                                         \
  X(cudaDeviceSynchronize, (void))                                                                 \
  X(cudaDeviceReset, (void))                                                                       \
  X(cudaMemGetInfo, (size_t * available, size_t * total))                                          \
  X(cudaMalloc, (void **out, size_t bytes))                                                        \
  X(cudaMallocAsync, (void **out, size_t bytes, cudaStream_t stream))                              \
  X(cudaFree, (void *memory))                                                                      \
  X(cudaFreeAsync, (void *memory, cudaStream_t stream))                                            \
  X(cudaMallocHost, (void **out, size_t bytes))                                                    \
  X(cudaHostAlloc, (void **out, size_t bytes, unsigned int flags))                                 \
  X(cudaFreeHost, (void *memory))                                                                  \
  X(cudaMemcpy, (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind))              \
  X(cudaMemcpyAsync,                                                                               \
    (void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream))     \
  X(cudaMemset, (void *to, int byte, size_t bytes))                                                \
  X(cudaMemsetAsync, (void *to, int byte, size_t bytes, cudaStream_t stream))                      \
  X(cudaLibraryLoadData,                                                                           \
    (cudaLibrary_t * out, const void *code, enum cudaJitOption *jit_options, void **jit_values,    \
     unsigned int jit_count, enum cudaLibraryOption *options, void **values, unsigned int count))  \
  X(cudaLibraryUnload, (cudaLibrary_t library))                                                    \
  X(cudaLibraryGetKernel, (cudaKernel_t * out, cudaLibrary_t library, const char *name))           \
  X(cudaLibraryGetKernelCount, (unsigned int *count, cudaLibrary_t library))                       \
  X(cudaLibraryGetGlobal, (void **out, size_t *bytes, cudaLibrary_t library, const char *name))    \
  X(cudaFuncSetAttribute, (const void *kernel, enum cudaFuncAttribute attribute, int value))       \
  X(cudaFuncGetAttributes, (struct cudaFuncAttributes * out, const void *kernel))                  \
  X(cudaOccupancyMaxActiveBlocksPerMultiprocessor,                                                 \
    (int *blocks, const void *kernel, int threads, size_t shared_bytes))                           \
  X(cudaLaunchKernel, (const void *kernel, dim3 grid, dim3 block, void **arguments,                \
                       size_t shared_bytes, cudaStream_t stream))                                  \
  X(cudaLaunchKernelExC, (const cudaLaunchConfig_t *config, const void *kernel, void **arguments)) \
  X(cudaStreamCreate, (cudaStream_t * out))                                                        \
  X(cudaStreamCreateWithFlags, (cudaStream_t * out, unsigned int flags))                           \
  X(cudaStreamDestroy, (cudaStream_t stream))                                                      \
  X(cudaStreamSynchronize, (cudaStream_t stream))                                                  \
  X(cudaStreamQuery, (cudaStream_t stream))                                                        \
  X(cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned int flags))             \
  X(cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode))                \
  X(cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t * out))                                \
  X(cudaStreamIsCapturing, (cudaStream_t stream, enum cudaStreamCaptureStatus * status))           \
  X(cudaEventCreate, (cudaEvent_t * out))                                                          \
  X(cudaEventCreateWithFlags, (cudaEvent_t * out, unsigned int flags))                             \
  X(cudaEventRecord, (cudaEvent_t event, cudaStream_t stream))                                     \
  X(cudaEventQuery, (cudaEvent_t event))                                                           \
  X(cudaEventSynchronize, (cudaEvent_t event))                                                     \
  X(cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end))               \
  X(cudaEventDestroy, (cudaEvent_t event))                                                         \
  X(cudaGraphInstantiate, (cudaGraphExec_t * out, cudaGraph_t graph, unsigned long long flags))    \
  X(cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream))                                  \
  X(cudaGraphDestroy, (cudaGraph_t graph))                                                         \
  X(cudaGraphExecDestroy, (cudaGraphExec_t exec))                                                  \
  X(cudaGetLastError, (void))                                                                      \
  X(cudaPeekAtLastError, (void))

#endif

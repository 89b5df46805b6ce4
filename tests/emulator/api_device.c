/* The runtime's functions of devices and memory. See state.h. */
#include "tests/emulator/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *count) {
  const cudaError_t error = emu_enter(__func__);
  if (count) *count = error == cudaSuccess ? emu.settings.devices : 0;
  return emu_leave(error);
}

static cudaError_t check_device(int device) {
  if (device >= 0 && device < emu.settings.devices) return cudaSuccess;
  return emu_refuse(cudaErrorInvalidDevice, "device %d of %d", device, emu.settings.devices);
}

cudaError_t cudaSetDevice(int device) {
  EMU_ENTER();
  const cudaError_t error = check_device(device);
  if (error == cudaSuccess) emu_mine.device = device;
  return emu_leave(error);
}

cudaError_t cudaGetDevice(int *device) {
  EMU_ENTER();
  *device = emu_mine.device;
  return emu_leave(cudaSuccess);
}

cudaError_t cudaDriverGetVersion(int *version) {
  const cudaError_t error = emu_enter_plain(__func__);
  *version = emu.settings.driver;
  return emu_leave(error);
}

cudaError_t cudaRuntimeGetVersion(int *version) {
  const cudaError_t error = emu_enter_plain(__func__);
  *version = emu.settings.runtime;
  return emu_leave(error);
}

static int attribute(enum cudaDeviceAttr which, bool *known) {
  const emu_settings *s = &emu.settings;
  switch (which) {
  case cudaDevAttrMaxThreadsPerBlock:
  case cudaDevAttrMaxBlockDimX:
  case cudaDevAttrMaxBlockDimY: return 1024;
  case cudaDevAttrMaxBlockDimZ: return 64;
  case cudaDevAttrMaxGridDimX: return INT32_MAX;
  case cudaDevAttrMaxGridDimY:
  case cudaDevAttrMaxGridDimZ: return 65535;
  case cudaDevAttrMaxSharedMemoryPerBlock: return 49152;
  case cudaDevAttrTotalConstantMemory: return 65536;
  case cudaDevAttrWarpSize: return PTX_LANES;
  case cudaDevAttrMaxRegistersPerBlock:
  case cudaDevAttrMaxRegistersPerMultiprocessor: return 65536;
  case cudaDevAttrClockRate: return 1755000;
  case cudaDevAttrMultiProcessorCount: return s->sms;
  case cudaDevAttrIntegrated:
  case cudaDevAttrComputeMode:
  case cudaDevAttrPciDomainId:
  case cudaDevAttrPciDeviceId: return 0;
  case cudaDevAttrConcurrentKernels:
  case cudaDevAttrEccEnabled:
  case cudaDevAttrUnifiedAddressing: return 1;
  case cudaDevAttrPciBusId: return 1;
  case cudaDevAttrMemoryClockRate: return 3201000;
  case cudaDevAttrGlobalMemoryBusWidth: return 6144;
  case cudaDevAttrL2CacheSize: return 62914560;
  case cudaDevAttrMaxThreadsPerMultiProcessor: return 2048;
  case cudaDevAttrAsyncEngineCount: return 3;
  case cudaDevAttrComputeCapabilityMajor: return s->sm / 10;
  case cudaDevAttrComputeCapabilityMinor: return s->sm % 10;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return (int)s->shared_sm;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin: return (int)s->shared;
  case cudaDevAttrMaxBlocksPerMultiprocessor: return 32;
  case cudaDevAttrReservedSharedMemoryPerBlock: return 1024;
  }
  *known = false;
  return 0;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr which, int device) {
  EMU_ENTER();
  cudaError_t error = check_device(device);
  bool known = true;
  const int number = attribute(which, &known);
  if (error == cudaSuccess && !known) {
    error = emu_refuse(cudaErrorInvalidValue, "attribute %d is not emulated", (int)which);
  }
  if (error == cudaSuccess) *value = number;
  return emu_leave(error);
}

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
  EMU_ENTER();
  cudaError_t error = check_device(device);
  if (error == cudaSuccess && (!text || bytes < 13)) {
    error = emu_refuse(cudaErrorInvalidValue, "%d bytes for a PCI name of 13", bytes);
  }
  if (error == cudaSuccess)
    snprintf(text, (size_t)bytes, "0000:%02x:00.0", (unsigned)(device + 1) & 255);
  return emu_leave(error);
}

cudaError_t cudaDeviceSynchronize(void) {
  EMU_ENTER();
  cudaError_t error = emu_check_no_capture(emu_mine.device);
  if (error == cudaSuccess) {
    emu_run_device(emu_mine.device);
    error = emu.sticky;
  }
  return emu_leave(error);
}

/* ---- allocations ---- */

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
  EMU_ENTER();
  const emu_memory *memory = emu_device_memory(emu_mine.device);
  if (!memory) return emu_leave(cudaErrorMemoryAllocation);
  *total = memory->total;
  *available = memory->total - memory->used;
  return emu_leave(cudaSuccess);
}

static cudaError_t allocate(void **out, size_t bytes) {
  if (!out) return emu_refuse(cudaErrorInvalidValue, "no place for the pointer");
  *out = NULL;
  emu_memory *memory = emu_device_memory(emu_mine.device);
  if (!memory) return cudaErrorMemoryAllocation;
  if (bytes == 0) return cudaSuccess;
  uint64_t address = 0;
  switch (emu_allocate(memory, bytes, &address)) {
  case EMU_GRANTED: *out = (void *)(uintptr_t)address; return cudaSuccess;
  case EMU_FULL:
    return emu_refuse(cudaErrorMemoryAllocation,
                      "device %d: %zu bytes asked for, %llu of %llu free", emu_mine.device, bytes,
                      (unsigned long long)(memory->total - memory->used),
                      (unsigned long long)memory->total);
  case EMU_NO_HOST_MEMORY: break;
  }
  return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
}

cudaError_t cudaMalloc(void **out, size_t bytes) {
  EMU_ENTER();
  const cudaError_t error = emu_check_no_capture(emu_mine.device);
  return emu_leave(error != cudaSuccess ? error : allocate(out, bytes));
}

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream) {
  EMU_ENTER();
  if (!emu_stream_of(stream)) {
    return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle, "no stream"));
  }
  const cudaError_t error = emu_check_no_capture(emu_mine.device);
  return emu_leave(error != cudaSuccess ? error : allocate(out, bytes));
}

static cudaError_t release(void *memory) {
  if (!memory) return cudaSuccess;
  const int device = emu_device_of(memory);
  if (device < 0) return emu_refuse(cudaErrorInvalidValue, "%p is no device memory", memory);
  emu_run_device(device); /* a free waits for the device */
  if (emu_release(&emu.devices[device].memory, (uint64_t)(uintptr_t)memory)) return cudaSuccess;
  return emu_refuse(cudaErrorInvalidValue, "%p is not what an allocation gave", memory);
}

/* after an error that ends everything memory still goes back, though the call tells of the error */
cudaError_t cudaFree(void *memory) {
  const cudaError_t entered = emu_enter(__func__);
  if (entered != cudaSuccess && entered != emu.sticky) return emu_leave(entered);
  const cudaError_t error = release(memory);
  return emu_leave(emu.sticky != cudaSuccess ? emu.sticky : error);
}

cudaError_t cudaFreeAsync(void *memory, cudaStream_t stream) {
  EMU_ENTER();
  if (!emu_stream_of(stream)) {
    return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle, "no stream"));
  }
  return emu_leave(release(memory));
}

static cudaError_t allocate_pinned(void **out, size_t bytes) {
  if (!out) return emu_refuse(cudaErrorInvalidValue, "no place for the pointer");
  emu_pinned *pinned = malloc(sizeof *pinned);
  uint8_t *memory = aligned_alloc(4096, (bytes + 4095 + (bytes == 0)) & ~(size_t)4095);
  if (!pinned || !memory) {
    free(pinned);
    free(memory);
    return emu_refuse(cudaErrorMemoryAllocation, "no host memory for %zu bytes", bytes);
  }
  *pinned = (emu_pinned){emu.pinned, memory, bytes};
  emu.pinned = pinned;
  *out = memory;
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void **out, size_t bytes) {
  EMU_ENTER();
  return emu_leave(allocate_pinned(out, bytes));
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned int flags) {
  EMU_ENTER();
  (void)flags; /* portable, mapped, write-combined: all the same here */
  return emu_leave(allocate_pinned(out, bytes));
}

cudaError_t cudaFreeHost(void *memory) {
  const cudaError_t entered = emu_enter(__func__);
  if (entered != cudaSuccess && entered != emu.sticky) return emu_leave(entered);
  cudaError_t error = cudaSuccess;
  if (memory) error = emu_refuse(cudaErrorInvalidValue, "%p is no pinned memory", memory);
  for (int k = 0; k < EMU_DEVICES; k++) emu_run_device(k); /* nothing may still be copied there */
  for (emu_pinned **p = &emu.pinned; *p; p = &(*p)->next) {
    if ((*p)->memory != memory) continue;
    emu_pinned *found = *p;
    *p = found->next;
    free(found->memory);
    free(found);
    error = cudaSuccess;
    break;
  }
  return emu_leave(emu.sticky != cudaSuccess ? emu.sticky : error);
}

/* ---- copies ---- */

static bool is_pinned(const void *pointer) {
  for (const emu_pinned *p = emu.pinned; p; p = p->next) {
    if ((const uint8_t *)pointer >= p->memory && (const uint8_t *)pointer < p->memory + p->bytes) {
      return true;
    }
  }
  return false;
}

static cudaError_t check_copy(const void *to, const void *from, size_t bytes,
                              enum cudaMemcpyKind kind) {
  const bool to_device = emu_device_of(to) >= 0, from_device = emu_device_of(from) >= 0;
  const bool fits =
      kind == cudaMemcpyDefault ||
      (to_device == (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice) &&
       from_device == (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice));
  if ((unsigned)kind > cudaMemcpyDefault) {
    return emu_refuse(cudaErrorInvalidMemcpyDirection, "copy of kind %d", (int)kind);
  }
  if (!fits || !to || !from) {
    return emu_refuse(cudaErrorInvalidValue, "a copy of kind %d from %p (%s) to %p (%s)", (int)kind,
                      from, from_device ? "device" : "host", to, to_device ? "device" : "host");
  }
  for (int k = 0; k < 2; k++) {
    const void *pointer = k ? to : from;
    const int device = emu_device_of(pointer);
    if (device >= 0 &&
        !emu_holds(&emu.devices[device].memory, (uint64_t)(uintptr_t)pointer, bytes)) {
      return emu_refuse(cudaErrorInvalidValue, "%zu bytes at %p are not all in one allocation",
                        bytes, pointer);
    }
  }
  return cudaSuccess;
}

/* pageable memory is read before the call returns, and written before it returns */
static cudaError_t copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                        cudaStream_t stream, bool wait) {
  if (bytes == 0) return cudaSuccess;
  cudaError_t error = check_copy(to, from, bytes, kind);
  if (error != cudaSuccess) return error;
  const bool from_host = emu_device_of(from) < 0, to_host = emu_device_of(to) < 0;
  const bool staged = from_host && !is_pinned(from);
  if (to_host && !is_pinned(to)) wait = true;
  if (wait && stream->graph) {
    stream->invalid = true;
    return emu_refuse(cudaErrorStreamCaptureUnsupported, "a copy that waits, in a capture");
  }
  emu_work *work = emu_new_work(EMU_COPY_BYTES, staged ? bytes : 0);
  if (!work) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  work->to = to;
  work->from = staged ? NULL : from;
  work->bytes = bytes;
  if (staged) memcpy(work->data, from, bytes);
  error = emu_queue(stream, work);
  if (error != cudaSuccess) return error;
  if (wait) emu_run_stream(stream, UINT64_MAX);
  return emu.sticky;
}

static cudaError_t find_stream(cudaStream_t handle, cudaStream_t *stream) {
  *stream = emu_stream_of(handle);
  if (!*stream) return emu_refuse(cudaErrorInvalidResourceHandle, "no stream");
  if (handle) return cudaSuccess;
  return emu_check_no_capture(emu_mine.device);
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
  EMU_ENTER();
  cudaStream_t stream;
  cudaError_t error = find_stream(NULL, &stream);
  if (error == cudaSuccess) error = copy(to, from, bytes, kind, stream, true);
  return emu_leave(error);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t handle) {
  EMU_ENTER();
  cudaStream_t stream;
  cudaError_t error = find_stream(handle, &stream);
  if (error == cudaSuccess) error = copy(to, from, bytes, kind, stream, false);
  return emu_leave(error);
}

static cudaError_t fill(void *to, int byte, size_t bytes, cudaStream_t stream) {
  const int device = emu_device_of(to);
  if (bytes == 0) return cudaSuccess;
  if (device < 0 || !emu_holds(&emu.devices[device].memory, (uint64_t)(uintptr_t)to, bytes)) {
    return emu_refuse(cudaErrorInvalidValue, "%zu bytes at %p are not all in one device allocation",
                      bytes, to);
  }
  emu_work *work = emu_new_work(EMU_FILL, 0);
  if (!work) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  work->to = to;
  work->byte = byte;
  work->bytes = bytes;
  const cudaError_t error = emu_queue(stream, work);
  return error != cudaSuccess ? error : emu.sticky;
}

/* a fill of device memory may return before it is done */
cudaError_t cudaMemset(void *to, int byte, size_t bytes) {
  EMU_ENTER();
  cudaStream_t stream;
  cudaError_t error = find_stream(NULL, &stream);
  if (error == cudaSuccess) error = fill(to, byte, bytes, stream);
  return emu_leave(error);
}

cudaError_t cudaMemsetAsync(void *to, int byte, size_t bytes, cudaStream_t handle) {
  EMU_ENTER();
  cudaStream_t stream;
  cudaError_t error = find_stream(handle, &stream);
  if (error == cudaSuccess) error = fill(to, byte, bytes, stream);
  return emu_leave(error);
}

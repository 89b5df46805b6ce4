/* The runtime's functions of libraries, kernels and launches. See state.h. */
#include "tests/emulator/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- modules on devices ---- */

static void free_instance(emu_instance *on, emu_memory *memory) {
  for (int32_t k = 0; k < on->module.kernel_count; k++) {
    if (on->issued) free(on->issued[k]);
    if (on->extra) free(on->extra[k]);
  }
  free(on->issued);
  free(on->extra);
  for (int32_t k = 0; memory && k < on->module.variable_count; k++) {
    const ptx_variable *v = &on->module.variables[k];
    if (v->address) emu_release(memory, v->address);
  }
  ptx_module_free(&on->module);
  memset(on, 0, sizeof *on);
}

void emu_free_library(cudaLibrary_t library) {
  for (int d = 0; d < EMU_DEVICES; d++) {
    free_instance(&library->on[d], emu.devices[d].open ? &emu.devices[d].memory : NULL);
  }
  for (int32_t k = 0; k < library->kernel_count; k++) free(library->kernels[k].name);
  free(library->kernels);
  free(library->text);
  free(library);
}

static wb_status place_variable(void *context, ptx_variable *v, wb_error *error) {
  emu_memory *memory = context;
  if (emu_allocate(memory, v->bytes ? v->bytes : 1, &v->address) != EMU_GRANTED) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "variable %s: no device memory for %llu bytes", v->name,
                   (unsigned long long)v->bytes);
  }
  return WB_OK;
}

/* initial values, once all addresses are known */
static void fill_variables(const ptx_module *module, emu_memory *memory) {
  for (int32_t k = 0; k < module->variable_count; k++) {
    const ptx_variable *v = &module->variables[k];
    if (v->space == PTX_SHARED) continue;
    uint8_t *data = emu_data_at(memory, v->address);
    if (v->initial)
      memcpy(data, v->initial, v->bytes);
    else
      memset(data, 0, v->bytes);
    for (int32_t p = 0; p < v->patch_count; p++) {
      const uint64_t address =
          module->variables[v->patches[p].of].address + (uint64_t)v->patches[p].offset;
      memcpy(data + v->patches[p].at, &address, sizeof address);
    }
    const uint8_t mark =
        (uint8_t)(EMU_ALLOCATED | EMU_WRITTEN | (v->space == PTX_CONST ? EMU_READ_ONLY : 0));
    memset(emu_marks_at(memory, v->address), mark, v->bytes);
  }
}

static bool make_counters(emu_instance *on) {
  const size_t kernels = (size_t)on->module.kernel_count;
  on->issued = calloc(kernels + 1, sizeof *on->issued);
  on->extra = calloc(kernels + 1, sizeof *on->extra);
  if (!on->issued || !on->extra) return false;
  for (size_t k = 0; k < kernels; k++) {
    const size_t count = (size_t)on->module.kernels[k].count;
    on->issued[k] = calloc(count, sizeof **on->issued);
    on->extra[k] = calloc(count, sizeof **on->extra);
    if (!on->issued[k] || !on->extra[k]) return false;
  }
  return true;
}

/* the newest PTX that a driver knows, by its CUDA version */
static int newest_ptx(int driver) {
  static const int minor_12[] = {80, 81, 82, 83, 84, 85, 85, 86, 87, 88};
  const int major = driver / 1000, minor = driver % 1000 / 10;
  if (major >= 13) return 90 + minor;
  if (major == 12) return minor_12[minor > 9 ? 9 : minor];
  return 70 + minor;
}

static cudaError_t check_module(const ptx_module *module) {
  if (module->version > newest_ptx(emu.settings.driver)) {
    return emu_refuse(
        cudaErrorUnsupportedPtxVersion, "PTX %d.%d is newer than the %d.%d that driver %d knows",
        module->version / 10, module->version % 10, newest_ptx(emu.settings.driver) / 10,
        newest_ptx(emu.settings.driver) % 10, emu.settings.driver);
  }
  if (module->target > emu.settings.sm) {
    return emu_refuse(cudaErrorInvalidPtx, "PTX for sm_%d on a device of sm_%d", module->target,
                      emu.settings.sm);
  }
  return cudaSuccess;
}

cudaError_t emu_instance_of(cudaLibrary_t library, int device, emu_instance **out) {
  emu_instance *on = &library->on[device];
  *out = on;
  if (on->loaded) return cudaSuccess;
  emu_memory *memory = emu_device_memory(device);
  if (!memory) return cudaErrorMemoryAllocation;
  const ptx_placer placer = {place_variable, memory};
  wb_error error;
  const wb_status status = ptx_module_read(library->text, &placer, &on->module, &error);
  cudaError_t result = cudaSuccess;
  if (status == WB_ERROR_MEMORY)
    result = emu_refuse(cudaErrorMemoryAllocation, "%s", error.text);
  else if (status != WB_OK)
    result = emu_refuse(cudaErrorInvalidPtx, "%s", error.text);
  if (result == cudaSuccess) result = check_module(&on->module);
  if (result == cudaSuccess && !make_counters(on)) {
    result = emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  }
  if (result != cudaSuccess) {
    free_instance(on, memory);
    return result;
  }
  fill_variables(&on->module, memory);
  on->loaded = true;
  return cudaSuccess;
}

/* ---- libraries ---- */

static void give_log(enum cudaJitOption *options, void **values, unsigned int count) {
  char *buffer = NULL;
  size_t bytes = 0;
  for (unsigned int k = 0; k < count; k++) {
    if (options[k] == cudaJitErrorLogBuffer) buffer = values[k];
    if (options[k] == cudaJitErrorLogBufferSizeBytes) bytes = (size_t)(uintptr_t)values[k];
  }
  if (buffer && bytes) snprintf(buffer, bytes, "%s", emu.message);
}

static cudaError_t make_kernels(cudaLibrary_t library, const ptx_module *module) {
  library->kernels = calloc((size_t)module->kernel_count + 1, sizeof *library->kernels);
  if (!library->kernels) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  for (int32_t k = 0; k < module->kernel_count; k++) {
    struct CUkern_st *kernel = &library->kernels[k];
    kernel->library = library;
    kernel->index = k;
    kernel->name = strdup(module->kernels[k].name);
    if (!kernel->name) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
    for (int d = 0; d < EMU_DEVICES; d++) kernel->max_dynamic[d] = -1;
    library->kernel_count++;
  }
  return cudaSuccess;
}

static cudaError_t load(cudaLibrary_t *out, const char *code) {
  if (!out || !code)
    return emu_refuse(cudaErrorInvalidValue, "no code, or no place for the handle");
  if (strncmp(code, "\177ELF", 4) == 0 || strncmp(code, "\x50\xed\x55\xba", 4) == 0) {
    return emu_refuse(cudaErrorInvalidKernelImage, "machine code: only PTX text is executed here");
  }
  cudaLibrary_t library = calloc(1, sizeof *library);
  if (library) library->text = strdup(code);
  if (!library || !library->text) {
    free(library);
    return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  }
  emu_instance *on;
  cudaError_t error = emu_instance_of(library, emu_mine.device, &on);
  if (error == cudaSuccess) error = make_kernels(library, &on->module);
  if (error != cudaSuccess) {
    emu_free_library(library);
    return error;
  }
  library->next = emu.libraries;
  emu.libraries = library;
  *out = library;
  return cudaSuccess;
}

cudaError_t cudaLibraryLoadData(cudaLibrary_t *out, const void *code,
                                enum cudaJitOption *jit_options, void **jit_values,
                                unsigned int jit_count, enum cudaLibraryOption *options,
                                void **values, unsigned int count) {
  EMU_ENTER();
  (void)options, (void)values, (void)count;
  cudaError_t error = emu_check_no_capture(emu_mine.device);
  if (error == cudaSuccess) error = load(out, code);
  if (error != cudaSuccess) give_log(jit_options, jit_values, jit_count);
  return emu_leave(error);
}

static cudaLibrary_t *find_library(cudaLibrary_t library) {
  for (cudaLibrary_t *l = &emu.libraries; *l; l = &(*l)->next) {
    if (*l == library) return l;
  }
  return NULL;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  const cudaError_t entered = emu_enter(__func__);
  if (entered != cudaSuccess && entered != emu.sticky) return emu_leave(entered);
  cudaLibrary_t *found = find_library(library);
  if (!found) return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle, "no library"));
  const cudaError_t error = emu_check_no_capture(emu_mine.device);
  if (error != cudaSuccess) return emu_leave(error);
  for (int d = 0; d < EMU_DEVICES; d++) emu_run_device(d); /* its kernels may still wait */
  *found = library->next;
  emu_free_library(library);
  return emu_leave(emu.sticky);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *out, cudaLibrary_t library, const char *name) {
  EMU_ENTER();
  if (!find_library(library)) {
    return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle, "no library"));
  }
  for (int32_t k = 0; k < library->kernel_count; k++) {
    if (strcmp(library->kernels[k].name, name) != 0) continue;
    *out = &library->kernels[k];
    return emu_leave(cudaSuccess);
  }
  return emu_leave(emu_refuse(cudaErrorSymbolNotFound, "there is no kernel %s", name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t library) {
  EMU_ENTER();
  if (!find_library(library)) {
    return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle, "no library"));
  }
  *count = (unsigned int)library->kernel_count;
  return emu_leave(cudaSuccess);
}

cudaError_t cudaLibraryGetGlobal(void **out, size_t *bytes, cudaLibrary_t library,
                                 const char *name) {
  EMU_ENTER();
  if (!find_library(library)) {
    return emu_leave(emu_refuse(cudaErrorInvalidResourceHandle, "no library"));
  }
  emu_instance *on;
  const cudaError_t error = emu_instance_of(library, emu_mine.device, &on);
  if (error != cudaSuccess) return emu_leave(error);
  for (int32_t k = 0; k < on->module.variable_count; k++) {
    const ptx_variable *v = &on->module.variables[k];
    if (v->space == PTX_SHARED || strcmp(v->name, name) != 0) continue;
    if (out) *out = (void *)(uintptr_t)v->address;
    if (bytes) *bytes = v->bytes;
    return emu_leave(cudaSuccess);
  }
  return emu_leave(emu_refuse(cudaErrorSymbolNotFound, "there is no variable %s", name));
}

/* ---- kernels ---- */

bool emu_known_kernel(const void *handle) {
  for (cudaLibrary_t l = emu.libraries; l; l = l->next) {
    const uint8_t *at = handle;
    const uint8_t *first = (const uint8_t *)l->kernels;
    const uint8_t *end = (const uint8_t *)(l->kernels + l->kernel_count);
    if (at >= first && at < end && (size_t)(at - first) % sizeof *l->kernels == 0) return true;
  }
  return false;
}

/* the kernel of a handle on the current device */
static cudaError_t find_kernel(const void *handle, cudaKernel_t *kernel, const ptx_kernel **code) {
  if (!emu_known_kernel(handle)) {
    return emu_refuse(cudaErrorInvalidDeviceFunction, "%p is no kernel", handle);
  }
  *kernel = (cudaKernel_t)(uintptr_t)handle;
  emu_instance *on;
  const cudaError_t error = emu_instance_of((*kernel)->library, emu_mine.device, &on);
  if (error == cudaSuccess) *code = &on->module.kernels[(*kernel)->index];
  return error;
}

/* the same, its code brought to the device, which a capture does not allow */
static cudaError_t load_kernel(const void *handle, cudaKernel_t *kernel, const ptx_kernel **code) {
  cudaError_t error = find_kernel(handle, kernel, code);
  if (error == cudaSuccess && !(*kernel)->loaded[emu_mine.device]) {
    error = emu_check_no_capture(emu_mine.device);
  }
  if (error == cudaSuccess) (*kernel)->loaded[emu_mine.device] = true;
  return error;
}

static int max_dynamic(cudaKernel_t kernel, const ptx_kernel *code) {
  const int set = kernel->max_dynamic[emu_mine.device];
  const int standard = 49152 - (int)code->shared_bytes;
  return set >= 0 ? set : standard > 0 ? standard : 0;
}

cudaError_t cudaFuncSetAttribute(const void *handle, enum cudaFuncAttribute which, int value) {
  EMU_ENTER();
  cudaKernel_t kernel;
  const ptx_kernel *code;
  const cudaError_t error = find_kernel(handle, &kernel, &code);
  if (error != cudaSuccess) return emu_leave(error);
  if (which == cudaFuncAttributePreferredSharedMemoryCarveout) {
    if (value < -1 || value > 100) {
      return emu_leave(emu_refuse(cudaErrorInvalidValue, "a carveout of %d percent", value));
    }
    return emu_leave(cudaSuccess);
  }
  if (which != cudaFuncAttributeMaxDynamicSharedMemorySize) {
    return emu_leave(emu_refuse(cudaErrorInvalidValue, "attribute %d is not emulated", (int)which));
  }
  const int64_t most = (int64_t)emu.settings.shared - code->shared_bytes;
  if (value < 0 || value > most) {
    return emu_leave(emu_refuse(cudaErrorInvalidValue,
                                "kernel %s: %d bytes of dynamic shared memory of at most %lld",
                                kernel->name, value, (long long)most));
  }
  kernel->max_dynamic[emu_mine.device] = value;
  return emu_leave(cudaSuccess);
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *handle) {
  EMU_ENTER();
  cudaKernel_t kernel;
  const ptx_kernel *code;
  const cudaError_t error = load_kernel(handle, &kernel, &code);
  if (error != cudaSuccess) return emu_leave(error);
  memset(out, 0, sizeof *out);
  out->sharedSizeBytes = code->shared_bytes;
  out->localSizeBytes = code->local_bytes;
  out->maxThreadsPerBlock = code->max_threads ? code->max_threads : EMU_BLOCK_THREADS;
  out->numRegs = emu.settings.registers;
  out->ptxVersion = kernel->library->on[emu_mine.device].module.target;
  out->binaryVersion = emu.settings.sm;
  out->maxDynamicSharedSizeBytes = max_dynamic(kernel, code);
  out->preferredShmemCarveout = -1;
  return emu_leave(cudaSuccess);
}

static int least(int64_t a, int64_t b) { return (int)(a < b ? a : b); }

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *handle,
                                                          int threads, size_t shared_bytes) {
  EMU_ENTER();
  cudaKernel_t kernel;
  const ptx_kernel *code;
  const cudaError_t error = load_kernel(handle, &kernel, &code);
  if (error != cudaSuccess) return emu_leave(error);
  if (!blocks || threads < 1 || threads > EMU_BLOCK_THREADS) {
    return emu_leave(emu_refuse(cudaErrorInvalidValue, "%d threads in a block", threads));
  }
  const int64_t warps = (threads + PTX_LANES - 1) / PTX_LANES;
  const int64_t shared = ((int64_t)(code->shared_bytes + shared_bytes) + 1024 + 127) / 128 * 128;
  const int64_t registers = (emu.settings.registers * PTX_LANES + 255) / 256 * 256 * warps;
  int most = least(32, 64 / warps);
  most = least(most, (int64_t)emu.settings.shared_sm / shared);
  most = least(most, 65536 / registers);
  *blocks = code->shared_bytes + shared_bytes > emu.settings.shared ? 0 : most;
  return emu_leave(cudaSuccess);
}

/* ---- launches ---- */

static cudaError_t check_launch(cudaKernel_t kernel, const ptx_kernel *code, dim3 grid, dim3 block,
                                size_t shared_bytes) {
  const uint64_t threads = (uint64_t)block.x * block.y * block.z;
  if (!grid.x || !grid.y || !grid.z || !block.x || !block.y || !block.z ||
      threads > EMU_BLOCK_THREADS || block.z > 64 || grid.x > INT32_MAX || grid.y > 65535 ||
      grid.z > 65535) {
    return emu_refuse(cudaErrorInvalidConfiguration,
                      "kernel %s: grid %u x %u x %u of blocks of %u x %u x %u threads",
                      kernel->name, grid.x, grid.y, grid.z, block.x, block.y, block.z);
  }
  const bool exact = !code->required[0] || (block.x == (unsigned)code->required[0] &&
                                            block.y == (unsigned)code->required[1] &&
                                            block.z == (unsigned)code->required[2]);
  if (!exact || (code->max_threads && threads > (uint64_t)code->max_threads)) {
    return emu_refuse(cudaErrorInvalidValue, "kernel %s: %llu threads in a block, compiled for %d",
                      kernel->name, (unsigned long long)threads, code->max_threads);
  }
  if (shared_bytes > (size_t)max_dynamic(kernel, code)) {
    return emu_refuse(cudaErrorInvalidValue,
                      "kernel %s: %zu bytes of dynamic shared memory; %d are allowed now",
                      kernel->name, shared_bytes, max_dynamic(kernel, code));
  }
  if (threads * (uint64_t)emu.settings.registers > 65536) {
    return emu_refuse(cudaErrorLaunchOutOfResources, "kernel %s: %llu threads of %d registers",
                      kernel->name, (unsigned long long)threads, emu.settings.registers);
  }
  return cudaSuccess;
}

static cudaError_t launch(const void *handle, dim3 grid, dim3 block, void **arguments,
                          size_t shared_bytes, cudaStream_t stream_handle) {
  cudaKernel_t kernel;
  const ptx_kernel *code;
  cudaError_t error = find_kernel(handle, &kernel, &code);
  if (error != cudaSuccess) return error;
  cudaStream_t stream = emu_stream_of(stream_handle);
  if (!stream || stream->device != emu_mine.device) {
    return emu_refuse(cudaErrorInvalidResourceHandle, "kernel %s: %s", kernel->name,
                      stream ? "the stream is of another device" : "no stream");
  }
  error = check_launch(kernel, code, grid, block, shared_bytes);
  if (error != cudaSuccess) return error;
  if (stream->graph && !kernel->loaded[emu_mine.device]) {
    stream->invalid = true;
    return emu_refuse(cudaErrorStreamCaptureUnsupported,
                      "kernel %s is loaded by this launch, in a capture", kernel->name);
  }
  kernel->loaded[emu_mine.device] = true;
  emu_work *work = emu_new_work(EMU_KERNEL, code->param_bytes);
  if (!work) return emu_refuse(cudaErrorMemoryAllocation, "no host memory");
  work->kernel = kernel;
  work->grid = grid;
  work->block = block;
  work->dynamic_bytes = (uint32_t)shared_bytes;
  for (int32_t k = 0; k < code->param_count; k++) {
    memcpy(work->data + code->params[k].offset, arguments[k], code->params[k].bytes);
  }
  return emu_queue(stream, work);
}

cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  EMU_ENTER();
  return emu_leave(launch(kernel, grid, block, arguments, shared_bytes, stream));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                void **arguments) {
  EMU_ENTER();
  if (config->numAttrs) {
    return emu_leave(emu_refuse(cudaErrorNotSupported, "launch attributes are not emulated"));
  }
  return emu_leave(launch(kernel, config->gridDim, config->blockDim, arguments,
                          config->dynamicSmemBytes, config->stream));
}

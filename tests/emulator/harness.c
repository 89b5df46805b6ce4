/* See harness.h. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

void harness_start(void) {
  static const char *const names[] = {
      "MODE",      "DIVERGENCE", "HAZARDS", "UNWRITTEN",    "STREAMS",     "DEVICES",
      "MEMORY",    "SM",         "SMS",     "DRIVER",       "RUNTIME",     "SHARED",
      "SHARED_SM", "REGISTERS",  "FAIL",    "FAULT_LAUNCH", "INSTRUCTIONS"};
  for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
    cr_assert(wb_emulator_set(names[k], NULL), "setting %s", names[k]);
  }
  wb_emulator_reset();
}

void harness_end(void) { wb_emulator_reset(); }

void must(cudaError_t error, const char *call) {
  cr_assert_eq(error, cudaSuccess, "%s: %s: %s", call, cudaGetErrorName(error),
               wb_emulator_message());
}

char *harness_text(const char *file) {
  char path[512];
  snprintf(path, sizeof path, "%s/tests/emulator/ptx/%s", WB_SOURCE_DIR, file);
  FILE *in = fopen(path, "rb");
  cr_assert(in, "%s is missing", path);
  fseek(in, 0, SEEK_END);
  const long bytes = ftell(in);
  rewind(in);
  char *text = malloc((size_t)bytes + 1);
  cr_assert(text && fread(text, 1, (size_t)bytes, in) == (size_t)bytes);
  text[bytes] = 0;
  fclose(in);
  return text;
}

cudaLibrary_t harness_load(const char *file) {
  char *text = harness_text(file);
  cudaLibrary_t library = NULL;
  MUST(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  free(text);
  return library;
}

cudaKernel_t harness_kernel(cudaLibrary_t library, const char *name) {
  cudaKernel_t kernel = NULL;
  MUST(cudaLibraryGetKernel(&kernel, library, name));
  return kernel;
}

void *harness_put(const void *host, size_t bytes) {
  void *device = NULL;
  MUST(cudaMalloc(&device, bytes));
  if (host)
    MUST(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
  else
    MUST(cudaMemset(device, 0, bytes));
  MUST(cudaDeviceSynchronize()); /* streams that do not respect the default one may use it now */
  return device;
}

void harness_get(void *host, const void *device, size_t bytes) {
  MUST(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}

void harness_launch(cudaKernel_t kernel, dim3 grid, dim3 block, size_t shared, void **arguments) {
  MUST(cudaLaunchKernel(kernel, grid, block, arguments, shared, NULL));
  MUST(cudaDeviceSynchronize());
}

bool harness_run_text(const char *text, unsigned threads, cudaError_t *error) {
  cudaLibrary_t library = NULL;
  *error = cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0);
  if (*error != cudaSuccess) return false;
  cudaKernel_t kernel = harness_kernel(library, "k");
  void *memory = harness_put(NULL, 4096);
  void *arguments[] = {&memory};
  *error = cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){threads, 1, 1}, arguments, 0, NULL);
  if (*error == cudaSuccess) *error = cudaDeviceSynchronize();
  return *error == cudaSuccess;
}

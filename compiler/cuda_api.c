/* Finds the CUDA runtime and its functions. */
#include "compiler/cuda_api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *open_library(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static wb_status find_runtime(void **library, wb_error *error) {
  static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
  const char *chosen = getenv("WB_CUDART");
  if (chosen != NULL && chosen[0] != '\0') {
    *library = open_library(chosen);
    if (*library != NULL) {
      return WB_OK;
    }
    const char *why = dlerror();
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "CUDA: $WB_CUDART: %s could not be loaded (%s)",
                   chosen, why != NULL ? why : "unknown reason");
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    *library = open_library(names[i]);
    if (*library != NULL) {
      return WB_OK;
    }
  }
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "CUDA: no runtime found: expected libcudart.so.13 or libcudart.so.12 (12.8 or "
                 "newer) where the system's loader looks, or its path in WB_CUDART");
}

static wb_status find_function(void *library, const char *name, void *pointer, wb_error *error) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "CUDA: this runtime has no %s: expected CUDA 12.8 or newer", name);
  }
  memcpy(pointer, &symbol, sizeof symbol);
  return WB_OK;
}

wb_status wb_cuda_api_open(wb_cuda_api *api, wb_error *error) {
  void *library = NULL;
  WB_TRY(find_runtime(&library, error));
#define X(name, parameters) WB_TRY(find_function(library, "cuda" #name, &api->name, error));
  WB_CUDA_FUNCTIONS(X)
#undef X
  WB_TRY(find_function(library, "cudaGetErrorName", &api->GetErrorName, error));
  return find_function(library, "cudaGetErrorString", &api->GetErrorString, error);
}

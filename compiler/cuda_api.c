/* Finds the CUDA runtime and its functions. */
#include "compiler/cuda_api.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void *open_library(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* All functions of a runtime; what an older one lacks is named with its version. */
static wb_status take_functions(void *library, wb_cuda_api *api, wb_error *error) {
  const char *lacking = NULL;
  memset(api, 0, sizeof *api);
#define X(name, parameters)                                        \
  do {                                                             \
    void *symbol = dlsym(library, "cuda" #name);                   \
    if (symbol == NULL && lacking == NULL) lacking = "cuda" #name; \
    memcpy(&api->name, &symbol, sizeof symbol);                    \
  } while (0);
  WB_CUDA_FUNCTIONS(X)
  X(GetErrorName, )
  X(GetErrorString, )
#undef X
  if (lacking == NULL) return WB_OK;
  int version = 0;
  if (api->RuntimeGetVersion != NULL) (void)api->RuntimeGetVersion(&version);
  if (version == 0) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "CUDA: this runtime has no %s: expected CUDA 12.8 or newer", lacking);
  }
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "CUDA: the runtime found is %d.%d, which has no %s: expected CUDA 12.8 or newer",
                 version / 1000, version % 1000 / 10, lacking);
}

/* A driver serves the runtimes of its own major version and older ones. Without a driver all are
 * alike. */
static bool driver_serves(const wb_cuda_api *api) {
  int driver = 0, runtime = 0;
  (void)api->DriverGetVersion(&driver);
  (void)api->RuntimeGetVersion(&runtime);
  return driver == 0 || driver / 1000 >= runtime / 1000;
}

static wb_status open_chosen(const char *path, wb_cuda_api *api, wb_error *error) {
  void *library = open_library(path);
  if (library != NULL) return take_functions(library, api, error);
  const char *why = dlerror();
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "CUDA: $WB_CUDART: %s could not be loaded (%s)", path,
                 why != NULL ? why : "unknown reason");
}

/* The first that has all functions and that the driver serves; else one that the driver is too old
 * for, which the caller then tells. */
static wb_status open_by_name(wb_cuda_api *api, wb_error *error) {
  static const char *const names[] = {"libcudart.so.13", "libcudart.so.12", "libcudart.so"};
  wb_cuda_api too_new = {0};
  wb_error why;
  bool found = false;
  (void)WB_FAIL(&why, WB_ERROR_UNAVAILABLE,
                "CUDA: no runtime found: expected libcudart.so.13 or libcudart.so.12 (12.8 or "
                "newer) where the system's loader looks, or its path in WB_CUDART");
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    void *library = open_library(names[i]);
    if (library == NULL || take_functions(library, api, &why) != WB_OK) continue;
    if (driver_serves(api)) return WB_OK;
    if (!found) too_new = *api;
    found = true;
  }
  if (!found) return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "%s", why.text);
  *api = too_new;
  return WB_OK;
}

wb_status wb_cuda_api_open(wb_cuda_api *api, wb_error *error) {
  const char *chosen = getenv("WB_CUDART");
  if (chosen != NULL && chosen[0] != '\0') return open_chosen(chosen, api, error);
  return open_by_name(api, error);
}

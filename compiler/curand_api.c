/* Finds cuRAND and its functions. */
#include "compiler/curand_api.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *open_library(const char *name) {
  return dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static wb_status find_library(void **library, wb_error *error) {
  static const char *const names[] = {"libcurand.so.10", "libcurand.so.11", "libcurand.so"};
  const char *chosen = getenv("WB_CURAND");
  if (chosen != NULL && chosen[0] != '\0') {
    *library = open_library(chosen);
    if (*library != NULL) return WB_OK;
    const char *why = dlerror();
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "cuRAND: $WB_CURAND: %s could not be loaded (%s)",
                   chosen, why != NULL ? why : "unknown reason");
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    *library = open_library(names[i]);
    if (*library != NULL) return WB_OK;
  }
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "cuRAND: not found: expected libcurand.so.10 where the system's loader looks, or "
                 "its path in WB_CURAND");
}

static wb_status find_function(void *library, const char *name, void *pointer, wb_error *error) {
  void *symbol = dlsym(library, name);
  if (symbol == NULL) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "cuRAND: the library found has no %s", name);
  }
  memcpy(pointer, &symbol, sizeof symbol);
  return WB_OK;
}

wb_status wb_curand_api_open(wb_curand_api *api, wb_error *error) {
  void *library = NULL;
  WB_TRY(find_library(&library, error));
#define X(name, parameters) WB_TRY(find_function(library, "curand" #name, &api->name, error));
  WB_CURAND_FUNCTIONS(X)
#undef X
  return WB_OK;
}

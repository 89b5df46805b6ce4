/* Finds the module that knows LLVM, when a program must be compiled and not before: $WB_LLVM_MODULE
 * ("none": LLVM is not to be used), then beside the file this code was loaded from, then wherever the dynamic loader looks.
 *
 * The module is never unloaded: LLVM registers things that outlive it. dlopen counts for us, so that
 * nothing needs to be remembered here. */
#define _GNU_SOURCE /* dladdr */
#include "compiler/loader.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODULE_FILE "libwarpbook-llvm.so"

static void *open_path(const char *path) {
  return dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

static void *open_beside_us(void) {
  Dl_info info;
  char path[4096];
  if (dladdr((const void *)wb_op_describe(WB_OP_CONST), &info) == 0 || info.dli_fname == NULL) {
    return NULL;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  int folder = slash != NULL ? (int)(slash - info.dli_fname) : 1;
  int bytes = snprintf(path, sizeof path, "%.*s/%s", folder, slash != NULL ? info.dli_fname : ".",
                       MODULE_FILE);
  return bytes > 0 && (size_t)bytes < sizeof path ? open_path(path) : NULL;
}

static wb_status find_entry(void *module, const wb_lowering **out, wb_error *error) {
  void *symbol = dlsym(module, WB_LOWERING_SYMBOL);
  wb_lowering_get_function get = NULL;
  memcpy(&get, &symbol, sizeof get);
  *out = get != NULL ? get(WB_LOWERING_VERSION) : NULL;
  bool fits = *out != NULL && (*out)->version == WB_LOWERING_VERSION &&
              (*out)->op_count == WB_OP_COUNT && (*out)->ops_version == WB_OPS_VERSION;
  if (fits) return WB_OK;
  *out = NULL;
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "compiler: " MODULE_FILE " was built for another version of libwarpbook; expected "
                 "interface %d with ops %d: install both from one build",
                 WB_LOWERING_VERSION, WB_OPS_VERSION);
}

wb_status wb_lowering_open(const wb_lowering **out, wb_error *error) {
  *out = NULL;
  const char *chosen = getenv("WB_LLVM_MODULE");
  bool by_name = chosen != NULL && chosen[0] != '\0';
  if (by_name && strcmp(chosen, "none") == 0) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "compiler: WB_LLVM_MODULE is none: LLVM is not to be used");
  }
  void *module = by_name ? open_path(chosen) : open_beside_us();
  if (module == NULL && !by_name) module = open_path(MODULE_FILE);
  if (module != NULL) return find_entry(module, out, error);
  const char *why = dlerror();
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "compiler: %s could not be loaded (%s): install warpbook with its LLVM module and "
                 "LLVM's shared library (Debian: libllvm19), or point WB_LLVM_MODULE to the module",
                 by_name ? chosen : MODULE_FILE, why != NULL ? why : "unknown reason");
}

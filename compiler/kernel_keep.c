/* Keeping in a bundle what a run compiles: $WB_KEEP_KERNELS is "FOLDER,TARGET[,TARGET...]", and every
 * kernel that is asked for while it is set goes into the bundle in that folder, compiled for each of
 * the targets (x86-64 levels, "host" for this machine's, sm_80, sm_90), whatever the run itself uses.
 * What no catalogue lists, as a program of a user's own, gets into a bundle this way.
 *
 * Processes that keep into one folder take turns at a lock. */
#define _GNU_SOURCE /* flock */
#include "compiler/bundle_private.h"
#include "compiler/kernel_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static wb_status target_options(const char *target, wb_kernel_options *o, wb_error *error) {
  o->sm = 0;
  o->cpu = target;
  if (strcmp(target, "sm_80") == 0 || strcmp(target, "sm_90") == 0) {
    o->sm = target[3] == '9' ? 90 : 80;
    o->cpu = "native";
  } else if (strcmp(target, "host") == 0) {
    o->cpu = wb_bundle_host_level();
  }
  if (o->cpu != NULL) return WB_OK;
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "host: bundles of host code are for x86-64 only");
}

static wb_status keep_for(wb_bundle_writer *writer, const wb_program *program,
                          const wb_kernel_options *options, const char *target, wb_error *error) {
  wb_kernel_options o = *options;
  wb_program *copy;
  wb_kernel *kernel;
  o.features = NULL;
  o.interpret = false;
  o.no_bundles = true;
  o.keep_text = true; /* which counts instructions */
  WB_TRY(target_options(target, &o, error));
  WB_TRY(wb_program_clone(program, &copy, error));
  WB_TRY(wb_kernel_make(copy, &o, (wb_hash128){0, 0}, &kernel, error));
  wb_status status = wb_bundle_add(writer, kernel, program->name, NULL, 0, NULL, error);
  wb_kernel_release(kernel);
  return status;
}

static wb_status keep_all(const char *folder, const char *targets, const wb_program *program,
                          const wb_kernel_options *options, wb_error *error) {
  wb_bundle_writer *writer;
  char target[32];
  WB_TRY(wb_bundle_extend(folder, &writer, error));
  while (*targets != '\0') {
    size_t length = strcspn(targets, ",");
    (void)snprintf(target, sizeof target, "%.*s", (int)length, targets);
    targets += length + (targets[length] == ',');
    wb_status status = length == 0 ? WB_OK : keep_for(writer, program, options, target, error);
    if (status != WB_OK) {
      wb_bundle_abandon(writer);
      return status;
    }
  }
  return wb_bundle_finish(writer, error);
}

/* Makes the folder and locks it; -1 if that cannot be. */
static int lock_folder(const char *folder) {
  char path[4096];
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) return -1;
  (void)snprintf(path, sizeof path, "%.4000s/lock", folder);
  int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock >= 0 && flock(lock, LOCK_EX) != 0) {
    (void)close(lock);
    return -1;
  }
  return lock;
}

wb_status wb_kernel_keep(const wb_program *program, const wb_kernel_options *options,
                         wb_error *error) {
  const char *setting = getenv("WB_KEEP_KERNELS");
  char folder[4000];
  if (setting == NULL || setting[0] == '\0' || options->no_passes) return WB_OK;
  size_t length = strcspn(setting, ",");
  if (length == 0 || length >= sizeof folder || setting[length] == '\0') {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "WB_KEEP_KERNELS: expected FOLDER,TARGET[,TARGET...], got \"%.200s\"", setting);
  }
  memcpy(folder, setting, length);
  folder[length] = '\0';
  int lock = lock_folder(folder);
  if (lock < 0) {
    return WB_FAIL(error, WB_ERROR_IO, "WB_KEEP_KERNELS: %.300s: %s", folder, strerror(errno));
  }
  wb_status status = keep_all(folder, setting + length + 1, program, options, error);
  (void)close(lock);
  return status == WB_OK ? WB_OK : wb_error_prefix(error, "WB_KEEP_KERNELS");
}

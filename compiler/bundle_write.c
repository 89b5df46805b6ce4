/* Writing bundles: code files first, each under a name of its own, the manifest last and at once. */
#define _POSIX_C_SOURCE 200809L
#include "compiler/bundle_private.h"
#include "compiler/elf_load.h"
#include "compiler/kernel_cache.h"
#include "compiler/lower.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wb_bundle_writer {
  char folder[4000];
  wb_bundle_list list;
};

const char *wb_bundle_host_level(void) { return wb_cpu_level_text(wb_cpu_level()); }

wb_status wb_bundle_create(const char *folder, wb_bundle_writer **out, wb_error *error) {
  *out = NULL;
  wb_bundle_writer *w = calloc(1, sizeof *w);
  if (w == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "bundle: no memory");
  int length = snprintf(w->folder, sizeof w->folder, "%s", folder);
  bool made = length > 0 && (size_t)length < sizeof w->folder &&
              (mkdir(folder, 0777) == 0 || errno == EEXIST);
  if (!made) {
    wb_status status = WB_FAIL(error, WB_ERROR_IO, "bundle: folder %.300s cannot be made: %s",
                               folder, strerror(errno));
    free(w);
    return status;
  }
  *out = w;
  return WB_OK;
}

wb_status wb_bundle_extend(const char *folder, wb_bundle_writer **out, wb_error *error) {
  uint8_t *text;
  size_t size;
  WB_TRY(wb_bundle_create(folder, out, error));
  if (wb_bundle_read_file(folder, WB_BUNDLE_MANIFEST, &text, &size, NULL) != WB_OK) return WB_OK;
  wb_status status = wb_bundle_read_text((const char *)text, &(*out)->list, NULL);
  free(text);
  return status == WB_ERROR_MEMORY ? WB_FAIL(error, status, "bundle: no memory") : WB_OK;
}

void wb_bundle_abandon(wb_bundle_writer *writer) {
  if (writer == NULL) return;
  wb_bundle_list_free(&writer->list);
  free(writer);
}

/* Writes a file at once: under another name first. */
static wb_status write_file(const wb_bundle_writer *w, const char *name, const void *bytes,
                            size_t size, wb_error *error) {
  char path[4200], draft[4220];
  (void)snprintf(path, sizeof path, "%s/%s", w->folder, name);
  (void)snprintf(draft, sizeof draft, "%s.%ld", path, (long)getpid());
  FILE *file = fopen(draft, "wb");
  bool good = file != NULL && fwrite(bytes, 1, size, file) == size;
  if (file != NULL && fclose(file) != 0) good = false;
  if (good && rename(draft, path) == 0) return WB_OK;
  wb_status status =
      WB_FAIL(error, WB_ERROR_IO, "bundle: %.300s cannot be written: %s", path, strerror(errno));
  (void)unlink(draft);
  return status;
}

/* ---- entries ---- */

static wb_status target_of(const wb_kernel *kernel, const wb_kernel_options *o, char *target,
                           wb_error *error) {
  if (o->sm != 0) {
    (void)snprintf(target, WB_BUNDLE_TARGET_BYTES, "sm_%d", wb_kernel_gpu(kernel)->sm);
    return WB_OK;
  }
  for (int32_t level = 1; level <= WB_CPU_LEVELS; level++) {
    if (strcmp(o->cpu, wb_cpu_level_text(level)) == 0 && o->features == NULL) {
      (void)snprintf(target, WB_BUNDLE_TARGET_BYTES, "%s", o->cpu);
      return WB_OK;
    }
  }
  return WB_FAIL(error, WB_ERROR_ARGUMENT,
                 "bundle: host kernels: expected CPU x86-64, x86-64-v2, x86-64-v3 or x86-64-v4 "
                 "without a list of features, got %.40s",
                 o->cpu);
}

/* Quotes and line ends would end a text too early, an equals sign start another field. */
static void copy_text(char *to, size_t bytes, const char *from) {
  (void)snprintf(to, bytes, "%s", from);
  for (char *c = to; *c != '\0'; c++) {
    if (*c == '"' || *c == '\n' || *c == '\r' || *c == '=') *c = '\'';
  }
}

static wb_status describe(const wb_kernel *kernel, const char *label, wb_bundle_entry *e,
                          wb_error *error) {
  const wb_kernel_options *o = wb_kernel_settled(kernel);
  const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
  wb_kernel_report report;
  wb_kernel_describe(kernel, &report);
  memset(e, 0, sizeof *e);
  if (o->interpret || o->no_passes) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "bundle: kernel %s: expected compiled code, made with "
                   "all passes",
                   report.name);
  }
  WB_TRY(target_of(kernel, o, e->target, error));
  e->program = wb_program_hash(wb_kernel_program(kernel));
  (void)snprintf(e->symbol, sizeof e->symbol, "%s", report.name);
  e->lowering = WB_LOWERING_VERSION;
  e->ops = WB_OPS_VERSION;
  e->check = o->check;
  e->placement = o->sm != 0 ? (int32_t)o->placement : 0;
  e->warps = o->sm != 0 ? o->warps : 0;
  e->instructions = report.instructions;
  e->block_warps = gpu->warps;
  e->shared_bytes = gpu->shared_bytes;
  e->placed = (int32_t)gpu->placement;
  (void)snprintf(e->llvm, sizeof e->llvm, "%s", report.llvm_version);
  copy_text(e->label, sizeof e->label, label);
  copy_text(e->report, sizeof e->report, gpu->ptx != NULL ? gpu->report : "");
  return WB_OK;
}

static bool is_there(const wb_bundle_list *list, const wb_bundle_entry *e) {
  for (int32_t i = 0; i < list->count; i++) {
    const wb_bundle_entry *other = &list->entries[i];
    if (other->program.low == e->program.low && other->program.high == e->program.high &&
        strcmp(other->symbol, e->symbol) == 0 && strcmp(other->target, e->target) == 0 &&
        other->check == e->check && other->placement == e->placement && other->warps == e->warps) {
      return true;
    }
  }
  return false;
}

static wb_status keep_file(const wb_bundle_writer *w, const wb_bundle_entry *e, const char *ending,
                           const void *bytes, size_t size, wb_bundle_file *file, wb_error *error) {
  char program[33];
  wb_hash128_text(e->program, program);
  (void)snprintf(file->name, sizeof file->name, "%s-%.16s-%d%d%d.%s.%s", e->symbol, program,
                 e->check, e->placement, e->warps, e->target, ending);
  file->bytes = (int64_t)size;
  file->sum = wb_hash_bytes(bytes, size);
  return write_file(w, file->name, bytes, size, error);
}

wb_status wb_bundle_add(wb_bundle_writer *w, const wb_kernel *kernel, const char *label,
                        const void *cubin, size_t cubin_bytes, bool *added, wb_error *error) {
  wb_bundle_entry e;
  if (added != NULL) *added = false;
  WB_TRY(describe(kernel, label, &e, error));
  if (is_there(&w->list, &e)) return WB_OK;
  const char *ptx = wb_kernel_gpu(kernel)->ptx;
  size_t bytes;
  const void *object = wb_kernel_object(kernel, &bytes);
  if (ptx != NULL) {
    WB_TRY(keep_file(w, &e, "ptx", ptx, strlen(ptx), &e.code, error));
  } else {
    WB_TRY(keep_file(w, &e, "o", object, bytes, &e.code, error));
  }
  if (cubin != NULL) WB_TRY(keep_file(w, &e, "cubin", cubin, cubin_bytes, &e.cubin, error));
  WB_TRY(wb_bundle_append(&w->list, &e, error));
  if (added != NULL) *added = true;
  return WB_OK;
}

wb_status wb_bundle_finish(wb_bundle_writer *w, wb_error *error) {
  char *text = NULL;
  wb_status status = wb_bundle_write_text(&w->list, &text, error);
  if (status == WB_OK) {
    status = write_file(w, WB_BUNDLE_MANIFEST, text, strlen(text), error);
  }
  free(text);
  wb_bundle_abandon(w);
  return status;
}

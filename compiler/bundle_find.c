/* Looking for a kernel in bundles. Nothing is remembered between calls: a manifest is a small text,
 * read when a kernel would have to be compiled. */
#define _GNU_SOURCE /* dladdr */
#include "compiler/bundle_private.h"
#include "compiler/elf_load.h"
#include "compiler/lower.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { REASONS_BYTES = 640, TARGETS_MOST = WB_CPU_LEVELS };

typedef struct search {
  const wb_bundle_wanted *wanted;
  wb_bundle_found *found;
  char targets[TARGETS_MOST][WB_BUNDLE_TARGET_BYTES]; /* that would do, best first */
  int32_t target_count;
  char reasons[REASONS_BYTES]; /* why nothing was found so far */
} search;

static void add_reason(search *s, const char *folder, const char *format, ...) WB_PRINTF(3, 4);
static void add_reason(search *s, const char *folder, const char *format, ...) {
  size_t used = strlen(s->reasons);
  int more =
      snprintf(s->reasons + used, sizeof s->reasons - used, "%s%s: ", used > 0 ? "; " : "", folder);
  used = strlen(s->reasons);
  if (more < 0 || used + 1 >= sizeof s->reasons) return;
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(s->reasons + used, sizeof s->reasons - used, format, arguments);
  va_end(arguments);
}

/* ---- targets that would do ---- */

static void add_target(search *s, const char *target) {
  (void)snprintf(s->targets[s->target_count++], WB_BUNDLE_TARGET_BYTES, "%s", target);
}

static wb_status list_targets(search *s, wb_error *error) {
  const wb_bundle_wanted *w = s->wanted;
  if (w->sm != 0) {
    if (w->sm >= 90) add_target(s, "sm_90");
    add_target(s, "sm_80");
    return WB_OK;
  }
  for (int32_t level = wb_cpu_level(); level >= 1; level--) {
    const char *name = wb_cpu_level_text(level);
    if (strcmp(w->cpu, "native") == 0 || strcmp(w->cpu, name) == 0) add_target(s, name);
  }
  if (s->target_count > 0) return WB_OK;
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                 "no bundle is for CPU %.40s: they are for x86-64 levels, of which this machine's "
                 "is %s",
                 w->cpu, wb_cpu_level() > 0 ? wb_cpu_level_text(wb_cpu_level()) : "none");
}

/* ---- one bundle ---- */

static bool is_program(const wb_bundle_entry *e, const wb_bundle_wanted *w) {
  return e->program.low == w->program.low && e->program.high == w->program.high &&
         strcmp(e->symbol, w->symbol) == 0;
}

static bool is_build(const wb_bundle_entry *e) {
  return e->lowering == WB_LOWERING_VERSION && e->ops == WB_OPS_VERSION;
}

static bool has_options(const wb_bundle_entry *e, const wb_bundle_wanted *w) {
  return e->check == w->check &&
         (w->sm == 0 || (e->placement == w->placement && e->warps == w->warps));
}

static const wb_bundle_entry *find_entry(const wb_bundle_list *list, const search *s) {
  for (int32_t t = 0; t < s->target_count; t++) {
    for (int32_t i = 0; i < list->count; i++) {
      const wb_bundle_entry *e = &list->entries[i];
      if (is_program(e, s->wanted) && is_build(e) && has_options(e, s->wanted) &&
          strcmp(e->target, s->targets[t]) == 0) {
        return e;
      }
    }
  }
  return NULL;
}

/* Says what is nearest to what was wanted, and what is wrong with it. */
static void explain_miss(search *s, const char *folder, const wb_bundle_list *list) {
  const wb_bundle_wanted *w = s->wanted;
  int32_t same_name = 0;
  for (int32_t i = 0; i < list->count; i++) {
    const wb_bundle_entry *e = &list->entries[i];
    same_name += strcmp(e->symbol, w->symbol) == 0;
    if (!is_program(e, w)) continue;
    if (!is_build(e)) {
      add_reason(s, folder,
                 "stale: made by a build with interface %d and ops %d, expected %d and %d",
                 e->lowering, e->ops, WB_LOWERING_VERSION, WB_OPS_VERSION);
    } else if (!has_options(e, w)) {
      add_reason(s, folder, "\"%s\" has other options: check %d, placement %d, warps %d", e->label,
                 e->check, e->placement, e->warps);
    } else {
      add_reason(s, folder, "\"%s\" is for %s, expected %s", e->label, e->target, s->targets[0]);
    }
    return;
  }
  char program[33];
  wb_hash128_text(w->program, program);
  add_reason(s, folder,
             "none of its %d kernels %s is of this program (%.16s): it was made for other "
             "capacities or features, or by another version",
             same_name, w->symbol, program);
}

static wb_status read_code(const char *folder, const wb_bundle_file *file, uint8_t **bytes,
                           size_t *size, wb_error *error) {
  WB_TRY(wb_bundle_read_file(folder, file->name, bytes, size, error));
  wb_hash128 sum = wb_hash_bytes(*bytes, *size);
  if (*size == (size_t)file->bytes && sum.low == file->sum.low && sum.high == file->sum.high) {
    return WB_OK;
  }
  free(*bytes);
  *bytes = NULL;
  return WB_FAIL(error, WB_ERROR_FORMAT,
                 "%s is damaged: its bytes are not those that the manifest tells of", file->name);
}

static wb_status take_entry(search *s, const char *folder, const wb_bundle_entry *entry,
                            wb_error *error) {
  wb_bundle_found *f = s->found;
  WB_TRY(read_code(folder, &entry->code, &f->code, &f->code_bytes, error));
  wb_status status = WB_OK;
  if (entry->cubin.name[0] != '\0') {
    status = read_code(folder, &entry->cubin, &f->cubin, &f->cubin_bytes, error);
  }
  if (status != WB_OK) {
    free(f->code);
    f->code = NULL;
    return status;
  }
  f->entry = *entry;
  (void)snprintf(f->path, sizeof f->path, "%.3900s/%s", folder, entry->code.name);
  return WB_OK;
}

/* True if the bundle in `folder` had it. */
static bool look_into(search *s, const char *folder) {
  uint8_t *text = NULL;
  size_t size;
  wb_bundle_list list = {0};
  wb_error error = {.status = WB_OK};
  wb_status status = wb_bundle_read_file(folder, WB_BUNDLE_MANIFEST, &text, &size, &error);
  if (status == WB_OK) {
    status = wb_bundle_read_text((const char *)text, &list, &error);
    if (status != WB_OK) wb_error_prefix(&error, WB_BUNDLE_MANIFEST);
  }
  free(text);
  const wb_bundle_entry *entry = status == WB_OK ? find_entry(&list, s) : NULL;
  if (entry != NULL) status = take_entry(s, folder, entry, &error);
  if (status != WB_OK) {
    add_reason(s, folder, "%.300s", error.text);
  } else if (entry == NULL) {
    explain_miss(s, folder, &list);
  }
  wb_bundle_list_free(&list);
  return status == WB_OK && entry != NULL;
}

/* ---- all bundles ---- */

static bool folder_beside_us(char *folder, size_t bytes) {
  Dl_info info;
  if (dladdr((const void *)wb_op_describe(WB_OP_CONST), &info) == 0 || info.dli_fname == NULL) {
    return false;
  }
  const char *slash = strrchr(info.dli_fname, '/');
  int length = slash != NULL ? (int)(slash - info.dli_fname) : 1;
  int written = snprintf(folder, bytes, "%.*s/warpbook-kernels", length,
                         slash != NULL ? info.dli_fname : ".");
  return written > 0 && (size_t)written < bytes;
}

static bool look_everywhere(search *s) {
  char folder[4096];
  const char *list = getenv("WB_KERNELS");
  for (const char *at = list; at != NULL && *at != '\0';) {
    size_t length = strcspn(at, ":");
    if (length > 0 && length < sizeof folder) {
      memcpy(folder, at, length);
      folder[length] = '\0';
      if (look_into(s, folder)) return true;
    }
    at += length + (at[length] == ':');
  }
  bool beside = folder_beside_us(folder, sizeof folder) && access(folder, F_OK) == 0;
  if (beside && look_into(s, folder)) return true;
  if (s->reasons[0] == '\0') {
    (void)snprintf(s->reasons, sizeof s->reasons,
                   "WB_KERNELS names none, and none lies beside the library");
  }
  return false;
}

wb_status wb_bundle_find(const wb_bundle_wanted *wanted, wb_bundle_found *found, wb_error *error) {
  search *s = calloc(1, sizeof *s);
  *found = (wb_bundle_found){.code = NULL};
  if (s == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "bundle: no memory");
  s->wanted = wanted;
  s->found = found;
  wb_status status = list_targets(s, error);
  if (status == WB_OK && !look_everywhere(s)) {
    status = WB_FAIL(error, WB_ERROR_UNAVAILABLE, "%s", s->reasons);
  }
  free(s);
  return status;
}

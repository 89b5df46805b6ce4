/* Kernels out of bundles. */
#include "compiler/bundle_private.h"
#include "compiler/kernel_private.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool wb_kernel_may_come_from_bundle(const wb_kernel_options *o) {
  /* bundles hold neither texts nor code made in other ways */
  bool plain = !o->no_bundles && !o->interpret && !o->keep_text && !o->no_passes;
  return plain && (o->sm != 0 || o->features == NULL);
}

static void release(wb_lower_result *code) {
  free(code->object);
  free(code->target);
  free(code->gpu.ptx);
  *code = (wb_lower_result){.instructions = -1};
}

/* Both are what a lowering would have filled in. */
static wb_status take_gpu_code(wb_kernel *kernel, wb_bundle_found *found, wb_error *error) {
  const wb_bundle_entry *e = &found->entry;
  wb_gpu_code *gpu = &kernel->code.gpu;
  if (memchr(found->code, 0, found->code_bytes) != NULL || e->block_warps < 1 ||
      e->block_warps > 32 || e->shared_bytes < 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%.400s: what its manifest says of it makes no sense",
                   found->path);
  }
  gpu->ptx = (char *)found->code;
  gpu->sm = strcmp(e->target, "sm_90") == 0 ? 90 : 80;
  gpu->warps = e->block_warps;
  gpu->shared_bytes = e->shared_bytes;
  gpu->placement = (wb_placement)e->placed;
  (void)snprintf(gpu->report, sizeof gpu->report, "%s", e->report);
  kernel->cubin = found->cubin;
  kernel->cubin_bytes = found->cubin_bytes;
  found->code = NULL;
  found->cubin = NULL;
  return WB_OK;
}

static wb_status take_host_code(wb_kernel *kernel, wb_bundle_found *found, wb_error *error) {
  wb_status status =
      wb_elf_load(found->code, found->code_bytes, kernel->program->name, &kernel->elf, error);
  if (status != WB_OK) return wb_error_prefix(error, "%.400s", found->path);
  kernel->code.entry = kernel->elf.entry;
  kernel->code.object = found->code;
  kernel->code.object_bytes = found->code_bytes;
  found->code = NULL;
  return WB_OK;
}

static wb_status describe(wb_kernel *kernel, const wb_bundle_found *found, wb_error *error) {
  wb_kernel_report *r = &kernel->report;
  (void)snprintf(kernel->origin, sizeof kernel->origin, "bundle %.240s", found->path);
  (void)snprintf(kernel->llvm, sizeof kernel->llvm, "%s", found->entry.llvm);
  kernel->code.target = strdup(found->entry.target);
  if (kernel->code.target == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "kernel: no memory");
  r->target = kernel->code.target;
  r->llvm_version = kernel->llvm;
  r->code_bytes = found->entry.code.bytes;
  r->instructions = found->entry.instructions;
  return WB_OK;
}

static wb_bundle_wanted wanted(const wb_program *program, const wb_kernel_options *o) {
  return (wb_bundle_wanted){.program = wb_program_hash(program),
                            .symbol = program->name,
                            .cpu = o->cpu,
                            .sm = o->sm,
                            .check = o->check,
                            .placement = (int32_t)o->placement,
                            .warps = o->warps};
}

wb_status wb_kernel_take_from_bundle(wb_kernel *kernel, wb_error *error) {
  const double start = now();
  const wb_bundle_wanted w = wanted(kernel->program, &kernel->options);
  wb_bundle_found *found = malloc(sizeof *found);
  if (found == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "kernel: no memory");
  wb_status status = wb_bundle_find(&w, found, error);
  if (status == WB_OK) {
    kernel->release = release;
    status = kernel->options.sm != 0 ? take_gpu_code(kernel, found, error)
                                     : take_host_code(kernel, found, error);
    if (status == WB_OK) status = describe(kernel, found, error);
    free(found->code);
    free(found->cubin);
  }
  free(found);
  kernel->report.times.load = now() - start;
  return status;
}

wb_status wb_kernel_bundle_explain(const wb_program *program, const wb_kernel_options *o, bool *hit,
                                   char *text, size_t bytes, wb_error *error) {
  *hit = false;
  if (!wb_kernel_may_come_from_bundle(o)) {
    (void)snprintf(text, bytes,
                   "not looked for: bundles hold no texts, no unoptimised code and "
                   "none for a list of features");
    return WB_OK;
  }
  const wb_bundle_wanted w = wanted(program, o);
  wb_bundle_found *found = malloc(sizeof *found);
  wb_error why = {.status = WB_OK};
  if (found == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "kernel: no memory");
  wb_status status = wb_bundle_find(&w, found, &why);
  *hit = status == WB_OK;
  (void)snprintf(text, bytes, "%s", *hit ? found->path : why.text);
  free(found->code);
  free(found->cubin);
  free(found);
  return status == WB_ERROR_MEMORY ? WB_FAIL(error, status, "%s", why.text) : WB_OK;
}

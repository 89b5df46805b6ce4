/* From a program to something that runs: copy, passes, key, cache, lowering. */
#include "compiler/internal.h"
#include "compiler/interp.h"
#include "compiler/kernel_cache.h"
#include "compiler/kernel_private.h"
#include "compiler/loader.h"
#include "compiler/passes.h"

#include <fenv.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- options ---- */

static bool is_set(const char *name) {
  const char *value = getenv(name);
  return value != NULL && value[0] != '\0' && strcmp(value, "0") != 0;
}

static wb_status read_placement(wb_placement *placement, wb_error *error) {
  static const char *const names[] = {"auto", "shared", "split", "global"};
  const char *name = getenv("WB_PLACEMENT");
  if (name == NULL || name[0] == '\0') return WB_OK;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(names[i], name) == 0) {
      *placement = (wb_placement)i;
      return WB_OK;
    }
  }
  return WB_FAIL(error, WB_ERROR_ARGUMENT,
                 "WB_PLACEMENT: expected auto, shared, split or global, got \"%.40s\"", name);
}

/* what the caller said, then what the environment says */
static wb_status settle(const wb_kernel_options *given, wb_kernel_options *settled,
                        wb_error *error) {
  wb_kernel_options o = given != NULL ? *given : (wb_kernel_options){0};
  if (o.cpu == NULL) o.cpu = getenv("WB_CPU");
  if (o.cpu == NULL || o.cpu[0] == '\0') o.cpu = "native";
  if (is_set("WB_CHECK")) o.check = true;
  if (is_set("WB_DUMP")) o.keep_text = true;
  if (o.placement == WB_PLACEMENT_AUTO) WB_TRY(read_placement(&o.placement, error));
  *settled = o;
  return WB_OK;
}

static void add_text(wb_hasher *hasher, const char *text) {
  wb_hasher_add(hasher, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

static wb_hash128 key_of(const wb_program *program, const wb_kernel_options *o) {
  wb_hasher hasher;
  wb_hasher_start(&hasher);
  wb_hash128 hash = wb_program_hash(program);
  const uint64_t fields[] = {hash.low,          hash.high,       WB_LOWERING_VERSION,
                             o->check,          o->keep_text,    o->no_passes,
                             o->interpret,      (uint64_t)o->sm, (uint64_t)o->placement,
                             (uint64_t)o->warps};
  wb_hasher_add(&hasher, fields, sizeof fields);
  const bool for_cpu = !o->interpret && o->sm == 0;
  add_text(&hasher, for_cpu ? o->cpu : NULL);
  add_text(&hasher, for_cpu ? o->features : NULL);
  return wb_hasher_end(&hasher);
}

/* ---- life ---- */

static void drop_code(wb_kernel *kernel) {
  if (kernel->release != NULL) kernel->release(&kernel->code);
  kernel->release = NULL;
  wb_elf_unload(&kernel->elf);
  free(kernel->cubin);
  kernel->cubin = NULL;
}

static void destroy(wb_kernel *kernel) {
  if (kernel->detach != NULL) kernel->detach(kernel->attached);
  drop_code(kernel);
  wb_program_free(kernel->program);
  free(kernel->text);
  free(kernel);
}

wb_kernel *wb_kernel_retain(wb_kernel *kernel) {
  atomic_fetch_add(&kernel->references, 1);
  return kernel;
}

void wb_kernel_release(wb_kernel *kernel) {
  if (kernel != NULL && atomic_fetch_sub(&kernel->references, 1) == 1) destroy(kernel);
}

/* ---- compiling ---- */

static void count_accesses(const wb_program *program, bool check, wb_kernel_report *report) {
  for (int32_t i = 0; i < program->op_count; i++) {
    const wb_op *op = &program->ops[i];
    if (!wb_op_accesses(op)) continue;
    report->accesses++;
    if (op->flags & WB_FLAG_PROVEN) {
      report->accesses_proven++;
    } else if (op->flags & WB_FLAG_IN) {
      report->accesses_promised++;
    }
    if (wb_op_needs_check(op, check)) report->accesses_checked++;
  }
}

static wb_status lower(wb_kernel *kernel, const wb_kernel_options *o, wb_error *error) {
  wb_kernel_report *report = &kernel->report;
  const wb_lowering *lowering;
  double start = now();
  WB_TRY(wb_lowering_open(&lowering, error));
  report->times.open = now() - start;
  wb_lower_request request = {.program = kernel->program,
                              .cpu = o->cpu,
                              .features = o->features,
                              .check = o->check,
                              .want_ir = o->keep_text,
                              .want_assembly = o->keep_text,
                              .unoptimised = o->no_passes,
                              .sm = o->sm,
                              .placement = o->placement,
                              .warps = o->warps};
  WB_TRY(lowering->compile(&request, &kernel->code, error));
  kernel->release = lowering->release;
  snprintf(kernel->origin, sizeof kernel->origin, "compiled");
  report->times.translate = kernel->code.seconds_translate;
  report->times.optimise = kernel->code.seconds_optimise;
  report->times.generate = kernel->code.seconds_generate;
  report->times.load = kernel->code.seconds_load;
  report->target = kernel->code.target;
  report->llvm_version = lowering->llvm_version;
  report->code_bytes = (int64_t)kernel->code.object_bytes;
  const char *ptx = kernel->code.gpu.ptx;
  if (ptx != NULL) {
    report->instructions = wb_count_instructions(ptx, true);
    report->code_bytes = (int64_t)strlen(ptx);
  } else if (kernel->code.assembly != NULL) {
    report->instructions = wb_count_instructions(kernel->code.assembly, false);
  }
  return WB_OK;
}

/* from a bundle, else by LLVM; without LLVM the reasons of both are told */
static wb_status find_or_lower(wb_kernel *kernel, wb_error *error) {
  wb_error miss = {.status = WB_OK};
  if (wb_kernel_may_come_from_bundle(&kernel->options)) {
    wb_status status = wb_kernel_take_from_bundle(kernel, &miss);
    if (status == WB_OK) return WB_OK;
    /* what was taken before it failed */
    drop_code(kernel);
  }
  wb_status status = lower(kernel, &kernel->options, error);
  if (status != WB_ERROR_UNAVAILABLE || miss.status == WB_OK || error == NULL) return status;
  char why[WB_ERROR_TEXT_BYTES];
  memcpy(why, error->text, sizeof why);
  return WB_FAIL(error, status, "%.480s; and no bundle of kernels has %s: %.440s", why,
                 kernel->program->name, miss.text);
}

static void keep_options(wb_kernel *kernel, const wb_kernel_options *o) {
  kernel->options = *o;
  snprintf(kernel->cpu, sizeof kernel->cpu, "%s", o->cpu);
  kernel->options.cpu = kernel->cpu;
}

wb_status wb_kernel_make(wb_program *program, const wb_kernel_options *o, wb_hash128 key,
                         wb_kernel **out, wb_error *error) {
  wb_kernel *kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL) {
    wb_program_free(program);
    return WB_FAIL(error, WB_ERROR_MEMORY, "kernel: out of memory");
  }
  atomic_init(&kernel->references, 1);
  kernel->program = program;
  keep_options(kernel, o);
  snprintf(kernel->origin, sizeof kernel->origin, "interpreter");
  kernel->report = (wb_kernel_report){.name = program->name,
                                      .target = "interpreter",
                                      .llvm_version = "",
                                      .ops_compiled = program->op_count,
                                      .instructions = -1,
                                      .origin = kernel->origin,
                                      .key = key};
  count_accesses(program, o->check, &kernel->report);
  wb_status status = wb_program_text(program, false, &kernel->text, error);
  if (status == WB_OK && !o->interpret) status = find_or_lower(kernel, error);
  kernel->options.features = o->features != NULL ? "given" : NULL; /* the text is the caller's */
  if (status != WB_OK) {
    destroy(kernel);
    return status;
  }
  *out = kernel;
  return WB_OK;
}

/* ---- dump ---- */

static wb_status dump_one(const wb_kernel *kernel, const char *folder, const char *ending,
                          const char *text, wb_error *error) {
  char key[33], path[4096];
  if (text == NULL) return WB_OK;
  wb_hash128_text(kernel->report.key, key);
  snprintf(path, sizeof path, "%s/%s-%.16s.%s", folder, kernel->report.name, key, ending);
  FILE *file = fopen(path, "w");
  bool written = file != NULL && fputs(text, file) >= 0;
  if (file != NULL && fclose(file) != 0) written = false;
  if (written) return WB_OK;
  return WB_FAIL(error, WB_ERROR_IO, "WB_DUMP: %s could not be written", path);
}

static wb_status dump(const wb_kernel *kernel, wb_error *error) {
  const char *folder = getenv("WB_DUMP");
  if (folder == NULL || folder[0] == '\0' || strcmp(folder, "0") == 0) return WB_OK;
  WB_TRY(dump_one(kernel, folder, "wb", kernel->text, error));
  WB_TRY(dump_one(kernel, folder, "ll", kernel->code.ir, error));
  WB_TRY(dump_one(kernel, folder, "ptx", kernel->code.gpu.ptx, error));
  return dump_one(kernel, folder, "s", kernel->code.assembly, error);
}

static wb_status compile_missing(wb_kernel_cache *cache, wb_program *program,
                                 const wb_kernel_options *o, wb_hash128 key, wb_kernel **out,
                                 wb_error *error) {
  WB_TRY(wb_kernel_make(program, o, key, out, error));
  wb_status status = dump(*out, error);
  if (status == WB_OK) status = wb_kernel_keep((*out)->program, o, error);
  if (status == WB_OK && cache != NULL) status = wb_kernel_cache_put(cache, key, out, error);
  if (status != WB_OK) {
    wb_kernel_release(*out);
    *out = NULL;
  }
  return status;
}

/* the program after passes, as a copy */
static wb_status prepare(const wb_program *program, const wb_kernel_options *o, wb_program **out,
                         wb_error *error) {
  WB_TRY(wb_program_clone(program, out, error));
  wb_status status = o->no_passes ? WB_OK : wb_passes_run(*out, error);
  if (status != WB_OK) wb_program_free(*out);
  return status;
}

wb_status wb_kernel_survey(const wb_program *program, const wb_kernel_options *options,
                           wb_kernel_report *report, wb_error *error) {
  wb_kernel_options o;
  WB_TRY(settle(options, &o, error));
  const double start = now();
  wb_program *copy;
  WB_TRY(prepare(program, &o, &copy, error));
  *report = (wb_kernel_report){.name = program->name,
                               .target = "",
                               .llvm_version = "",
                               .origin = "",
                               .ops_built = program->op_count,
                               .ops_compiled = copy->op_count,
                               .instructions = -1,
                               .key = key_of(copy, &o)};
  count_accesses(copy, o.check, report);
  report->times.passes = now() - start;
  wb_program_free(copy);
  return WB_OK;
}

wb_status wb_kernel_explain(const wb_program *program, const wb_kernel_options *options, bool *hit,
                            char *text, size_t text_bytes, wb_error *error) {
  wb_kernel_options o;
  WB_TRY(settle(options, &o, error));
  wb_program *copy;
  WB_TRY(prepare(program, &o, &copy, error));
  wb_status status = wb_kernel_bundle_explain(copy, &o, hit, text, text_bytes, error);
  wb_program_free(copy);
  return status;
}

wb_status wb_kernel_compile(wb_kernel_cache *cache, const wb_program *program,
                            const wb_kernel_options *options, wb_kernel **out,
                            wb_kernel_report *report, wb_error *error) {
  *out = NULL;
  wb_kernel_options o;
  WB_TRY(settle(options, &o, error));
  const double start = now();
  wb_program *copy;
  WB_TRY(prepare(program, &o, &copy, error));
  const wb_hash128 key = key_of(copy, &o);
  const double passes = now() - start;
  wb_kernel *kernel = cache != NULL ? wb_kernel_cache_get(cache, key) : NULL;
  const bool cached = kernel != NULL;
  if (cached) {
    wb_program_free(copy);
  } else {
    WB_TRY(compile_missing(cache, copy, &o, key, &kernel, error));
  }
  if (report != NULL) {
    wb_kernel_describe(kernel, report);
    if (cached) report->times = (wb_kernel_times){0};
    report->times.passes = passes;
    report->cached = cached;
    report->ops_built = program->op_count;
  }
  *out = kernel;
  return WB_OK;
}

/* ---- looking and running ---- */

void wb_kernel_describe(const wb_kernel *kernel, wb_kernel_report *report) {
  *report = kernel->report;
}

const char *wb_kernel_text(const wb_kernel *kernel, wb_kernel_text_kind kind) {
  switch (kind) {
  case WB_KERNEL_TEXT_PROGRAM: return kernel->text;
  case WB_KERNEL_TEXT_LLVM_IR: return kernel->code.ir;
  case WB_KERNEL_TEXT_ASSEMBLY:
    return kernel->code.gpu.ptx != NULL ? kernel->code.gpu.ptx : kernel->code.assembly;
  }
  return NULL;
}

const void *wb_kernel_object(const wb_kernel *kernel, size_t *bytes) {
  *bytes = kernel->code.object_bytes;
  return kernel->code.object;
}

const wb_gpu_code *wb_kernel_gpu(const wb_kernel *kernel) { return &kernel->code.gpu; }

const void *wb_kernel_cubin(const wb_kernel *kernel, size_t *bytes) {
  *bytes = kernel->cubin_bytes;
  return kernel->cubin;
}

const wb_kernel_options *wb_kernel_settled(const wb_kernel *kernel) { return &kernel->options; }

bool wb_kernel_checks(const wb_kernel *kernel) { return kernel->options.check; }

void *wb_kernel_attached(const wb_kernel *kernel) { return kernel->attached; }

void wb_kernel_attach(wb_kernel *kernel, void *attached, void (*detach)(void *attached)) {
  kernel->attached = attached;
  kernel->detach = detach;
}

const wb_program *wb_kernel_program(const wb_kernel *kernel) { return kernel->program; }

wb_status wb_kernel_report_fault(const wb_kernel *kernel, const wb_fault *fault, wb_error *error) {
  if (fault->op < 0) return WB_OK;
  char site[128];
  const wb_program *p = kernel->program;
  wb_program_site(p, fault->op, site, sizeof site);
  bool known = fault->op < p->op_count;
  const wb_op *op = known ? &p->ops[fault->op] : NULL;
  bool access = known && wb_op_accesses(op);
  return WB_FAIL(error, WB_ERROR_INTERNAL,
                 "program %s: %s at %s (op %d), book %d: %s: a promise is broken by %" PRId64,
                 p->name, known ? wb_op_describe((wb_opcode)op->code)->text : "?", site, fault->op,
                 fault->book, access ? p->objects[op->aux].name : "value", fault->index);
}

wb_status wb_kernel_run(const wb_kernel *kernel, const wb_kernel_arguments *arguments,
                        int64_t first_book, int64_t end_book, wb_error *error) {
  if (kernel->options.interpret) {
    return wb_interpret(kernel->program, arguments, first_book, end_book, 0, error);
  }
  if (kernel->code.gpu.ptx != NULL) {
    return WB_FAIL(error, WB_ERROR_STATE, "kernel %s was compiled for a GPU: launch it on one",
                   kernel->program->name);
  }
  if (kernel->code.entry == NULL) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "kernel %s was compiled for %.200s, whose instructions this machine lacks",
                   kernel->program->name, kernel->code.target);
  }
  wb_fault fault = {.op = -1};
  wb_kernel_arguments own = *arguments;
  own.fault = &fault;
  /* rounding and denormals as ops.h says, whatever the caller has set */
  fenv_t environment;
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);
  kernel->code.entry(&own, first_book, end_book);
  fesetenv(&environment);
  return wb_kernel_report_fault(kernel, &fault, error);
}

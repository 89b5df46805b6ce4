/* warpbook kernels show: one kernel, as a text or as a summary. */
#include "kernels.h"
#include "kernels_types.h"
#include "ptxas.h"

#include "compiler/passes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The first kernel that fits, kept beyond the catalogue's visit. */
typedef struct found {
  wb_catalogue_item item;
  wb_program *program;
  char name[WB_NAME_BYTES], variant[128];
} found;

static wb_status keep_first(void *context, const wb_catalogue_item *item, wb_error *error) {
  found *f = context;
  if (f->program != NULL) {
    return WB_OK;
  }
  WB_TRY(wb_program_clone(item->program, &f->program, error));
  (void)snprintf(f->name, sizeof f->name, "%s", item->name);
  (void)snprintf(f->variant, sizeof f->variant, "%s", item->variant);
  f->item = (wb_catalogue_item){f->name, f->variant, item->capacity, f->program};
  return WB_OK;
}

/* ---- texts ---- */

static wb_status unknown_pass(const char *name, wb_error *error) {
  char names[256] = "none";
  int32_t count;
  const wb_pass *passes = wb_passes(&count);
  for (int32_t i = 0; i < count; i++) {
    size_t used = strlen(names);
    (void)snprintf(names + used, sizeof names - used, ", %s", passes[i].name);
  }
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "--pass: expected one of %s, got \"%.60s\"", names,
                 name);
}

/* Runs the passes up to and with the named one (NULL: all; "none": none). */
static wb_status run_passes(wb_program *program, const char *last, wb_error *error) {
  int32_t count;
  const wb_pass *passes = wb_passes(&count);
  if (last != NULL && strcmp(last, "none") == 0) {
    return WB_OK;
  }
  for (int32_t i = 0; i < count; i++) {
    WB_TRY(passes[i].run(program, error));
    if (last != NULL && strcmp(last, passes[i].name) == 0) {
      return WB_OK;
    }
  }
  return last == NULL ? WB_OK : unknown_pass(last, error);
}

static wb_status show_ir(const kernels_arguments *line, const found *f, wb_error *error) {
  WB_TRY(run_passes(f->program, line->pass, error));
  return wb_program_print(f->program, true, stdout, error);
}

static wb_status compile(const kernels_arguments *line, const wb_program *program,
                         wb_kernel **kernel, wb_kernel_report *report, wb_error *error) {
  wb_kernel_options options = kernels_options(&line->targets[0]);
  options.keep_text = true;
  return wb_kernel_compile(NULL, program, &options, kernel, report, error);
}

static wb_status show_text(const kernels_arguments *line, const found *f, wb_error *error) {
  wb_kernel *kernel;
  WB_TRY(compile(line, f->program, &kernel, NULL, error));
  const char *text = wb_kernel_text(kernel, line->text == KERNELS_LLVM ? WB_KERNEL_TEXT_LLVM_IR
                                                                       : WB_KERNEL_TEXT_ASSEMBLY);
  wb_status status = WB_OK;
  if (text == NULL) {
    status = WB_FAIL(error, WB_ERROR_UNAVAILABLE, "kernel %s: there is no such text for %s",
                     f->name, line->targets[0].name);
  } else if (fputs(text, stdout) < 0) {
    status = WB_FAIL(error, WB_ERROR_IO, "standard output: cannot write it");
  }
  wb_kernel_release(kernel);
  return status;
}

/* ---- summary ---- */

typedef struct summary {
  const kernels_arguments *line;
  const found *found;
  const wb_kernel *kernel;
  wb_kernel_report report;
  wb_hash128 key;
  ptxas_result machine; /* of a GPU; cubin NULL: none, or no ptxas */
  double seconds[KERNELS_STAGES];
  kernels_types types;
} summary;

static void print_machine(const ptxas_result *m) {
  (void)printf("machine code   %zu bytes, %d registers, %d bytes of stack, %d bytes spilled\n",
               m->bytes, m->registers, m->stack_bytes, m->spill_bytes);
  if (m->instructions >= 0) {
    (void)printf("               %" PRId64 " instructions\n", m->instructions);
  }
}

static void print_gpu(const wb_gpu_code *gpu, const ptxas_result *machine) {
  if (gpu->ptx == NULL) {
    return;
  }
  (void)printf("block          %d warps, %d bytes of shared memory each\n", gpu->warps,
               gpu->shared_bytes);
  (void)printf("placement      %s\n", gpu->report);
  if (machine->cubin != NULL) {
    print_machine(machine);
  } else {
    (void)puts("machine code   (no ptxas: set WB_PTXAS)");
  }
}

static void print_types(const kernels_types *types) {
  if (types->count == 0) {
    return;
  }
  (void)printf("\n%-10s %8s %8s %8s   static instructions by type of record\n", "type", "alone",
               "more", "ops");
  for (int i = 0; i < types->count; i++) {
    const kernels_type *t = &types->list[i];
    (void)printf("%-10s %8" PRId64 " %8" PRId64 " %8" PRId64 "\n", t->name, t->alone, t->more,
                 t->ops);
  }
  (void)printf("none       %8" PRId64 "\n", types->none);
  (void)puts(
      "alone: a kernel made for this type only, less one made for none (the last line), so "
      "with all that it needs;\nmore: this kernel, less the same one without the type, so "
      "without what others need too;\nops: the same in operations of the program, before it is "
      "code. Each kernel has its own moves\nbetween registers and stack: they can outweigh a "
      "type, and a difference may be below 0.");
}

/* Triple and CPU; the list of features fills a screen. */
static size_t short_target(const char *target) {
  size_t triple = strcspn(target, " ");
  return target[triple] == '\0' ? triple : triple + 1 + strcspn(target + triple + 1, " ");
}

static void print_summary(const summary *s) {
  const wb_kernel_report *r = &s->report;
  char key[33];
  wb_hash128_text(s->key, key);
  (void)printf("kernel         %s, capacity %d", s->found->name, s->found->item.capacity);
  (void)printf(s->found->variant[0] != '\0' ? ", %s\n" : "\n", s->found->variant);
  (void)printf("key            %s\n", key);
  (void)printf("target         %.*s\n", (int)short_target(r->target), r->target);
  (void)printf("llvm           %s\n", r->llvm_version);
  (void)printf("operations     %d built, %d after passes\n", r->ops_built, r->ops_compiled);
  (void)printf("accesses       %d: %d proven, %d promised, %d checked\n", r->accesses,
               r->accesses_proven, r->accesses_promised, r->accesses_checked);
  (void)printf("code           %" PRId64 " bytes\n", r->code_bytes);
  (void)printf("instructions   %" PRId64 "\n", r->instructions);
  print_gpu(wb_kernel_gpu(s->kernel), &s->machine);
  for (int i = 0; i < KERNELS_STAGES; i++) {
    (void)printf("%-14s %.2f ms\n", kernels_stage_names[i], 1e3 * s->seconds[i]);
  }
  print_types(&s->types);
}

static json_t *types_json(const kernels_types *types) {
  json_t *object = json_object();
  for (int i = 0; i < types->count; i++) {
    const kernels_type *t = &types->list[i];
    (void)json_object_set_new(object, t->name,
                              json_pack("{s:I,s:I,s:I}", "alone", (json_int_t)t->alone, "more",
                                        (json_int_t)t->more, "ops", (json_int_t)t->ops));
  }
  if (types->count > 0) {
    (void)json_object_set_new(object, "none", json_integer((json_int_t)types->none));
  }
  return object;
}

static json_t *machine_json(const ptxas_result *m) {
  if (m->cubin == NULL) {
    return json_null();
  }
  return json_pack("{s:I,s:i,s:i,s:i,s:I}", "bytes", (json_int_t)m->bytes, "registers",
                   (int)m->registers, "stack_bytes", (int)m->stack_bytes, "spill_bytes",
                   (int)m->spill_bytes, "instructions", (json_int_t)m->instructions);
}

static json_t *gpu_json(const wb_gpu_code *gpu, const ptxas_result *machine) {
  if (gpu->ptx == NULL) {
    return json_null();
  }
  return json_pack("{s:i,s:i,s:i,s:s,s:o}", "sm", (int)gpu->sm, "warps", (int)gpu->warps,
                   "shared_bytes_per_warp", (int)gpu->shared_bytes, "placement", gpu->report,
                   "machine", machine_json(machine));
}

static json_t *summary_json(const summary *s) {
  const wb_kernel_report *r = &s->report;
  char key[33];
  wb_hash128_text(s->key, key);
  json_t *stages = json_object();
  for (int i = 0; i < KERNELS_STAGES; i++) {
    (void)json_object_set_new(stages, kernels_stage_names[i], json_real(s->seconds[i]));
  }
  return json_pack("{s:s,s:i,s:s,s:s,s:s,s:s,s:i,s:i,s:{s:i,s:i,s:i,s:i},s:I,s:I,s:o,s:o,s:o}",
                   "name", s->found->name, "capacity", (int)s->found->item.capacity, "variant",
                   s->found->variant, "key", key, "target", r->target, "llvm", r->llvm_version,
                   "ops_built", (int)r->ops_built, "ops_compiled", (int)r->ops_compiled, "accesses",
                   "all", (int)r->accesses, "proven", (int)r->accesses_proven, "promised",
                   (int)r->accesses_promised, "checked", (int)r->accesses_checked, "code_bytes",
                   (json_int_t)r->code_bytes, "instructions", (json_int_t)r->instructions,
                   "seconds", stages, "gpu", gpu_json(wb_kernel_gpu(s->kernel), &s->machine),
                   "types", types_json(&s->types));
}

static wb_status assemble(summary *s, wb_error *error) {
  char path[PTXAS_PATH_BYTES];
  const wb_gpu_code *gpu = wb_kernel_gpu(s->kernel);
  if (gpu->ptx == NULL || !ptxas_find("WB_PTXAS", "ptxas", path)) {
    return WB_OK;
  }
  return ptxas_assemble(path, gpu->ptx, gpu->sm, &s->machine, error);
}

static wb_status summarise(const kernels_arguments *line, const found *f, int *exit_status,
                           wb_error *error) {
  summary s = {.line = line, .found = f};
  wb_kernel *kernel;
  /* the key that caches know it by: without the wish for texts */
  const wb_kernel_options options = kernels_options(&line->targets[0]);
  WB_TRY(wb_kernel_survey(f->program, &options, &s.report, error));
  s.key = s.report.key;
  WB_TRY(compile(line, f->program, &kernel, &s.report, error));
  s.kernel = kernel;
  kernels_stage_times(&s.report.times, s.seconds);
  wb_status status = kernels_types_count(&f->item, &line->targets[0], &s.report, &s.types, error);
  if (status == WB_OK) {
    status = assemble(&s, error);
  }
  if (status == WB_OK && line->json) {
    *exit_status = cli_print_json(summary_json(&s));
  } else if (status == WB_OK) {
    print_summary(&s);
  }
  wb_kernel_release(kernel);
  free(s.machine.cubin);
  return status;
}

int kernels_show(const kernels_arguments *line) {
  wb_error error;
  found f = {.program = NULL};
  int exit_status = CLI_OK;
  wb_status status = kernels_each(line, keep_first, &f, &error);
  if (status == WB_OK) {
    status = line->text == KERNELS_SUMMARY ? summarise(line, &f, &exit_status, &error)
             : line->text == KERNELS_IR    ? show_ir(line, &f, &error)
                                           : show_text(line, &f, &error);
  }
  wb_program_free(f.program);
  return status == WB_OK ? exit_status : cli_fail(&error);
}

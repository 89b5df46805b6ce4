/* warpbook kernels build: compiles ahead of time into a bundle; explain: says where each kernel's
 * code would come from. */
#include "kernels.h"
#include "ptxas.h"
#include "text.h"

#include "compiler/bundle.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- build ---- */

typedef struct building {
  const kernels_arguments *line;
  wb_bundle_writer *writer;
  bool has_ptxas;
  char ptxas[PTXAS_PATH_BYTES];
  int64_t kernels, cubins, bytes;
} building;

/* Bundles name a level, so that another machine can tell whether it has it. */
static wb_status level_of(const kernels_target *target, wb_kernel_options *options,
                          wb_error *error) {
  if (target->sm == 0 && target->cpu == NULL) {
    options->cpu = wb_bundle_host_level();
    if (options->cpu == NULL) {
      return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                     "--arch host: bundles of host code are for x86-64 only");
    }
  }
  return WB_OK;
}

static wb_status add_kernel(building *b, const wb_catalogue_item *item, const wb_kernel *kernel,
                            wb_error *error) {
  const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
  ptxas_result machine = {.cubin = NULL};
  char label[128];
  bool added = false;
  (void)snprintf(label, sizeof label, "%s %d %s", item->name, item->capacity, item->variant);
  if (gpu->ptx != NULL && b->has_ptxas) {
    WB_TRY(ptxas_assemble(b->ptxas, gpu->ptx, gpu->sm, &machine, error));
  }
  wb_status status =
      wb_bundle_add(b->writer, kernel, label, machine.cubin, machine.bytes, &added, error);
  if (status == WB_OK && added) {
    size_t object;
    (void)wb_kernel_object(kernel, &object);
    b->kernels++;
    b->cubins += machine.cubin != NULL;
    b->bytes += (int64_t)(machine.bytes + (gpu->ptx != NULL ? strlen(gpu->ptx) : object));
  }
  free(machine.cubin);
  return status;
}

static wb_status build_item(void *context, const wb_catalogue_item *item, wb_error *error) {
  building *b = context;
  for (int32_t i = 0; i < b->line->target_count; i++) {
    wb_kernel_options options = kernels_options(&b->line->targets[i]);
    wb_kernel *kernel;
    options.keep_text = true; /* which counts its instructions */
    WB_TRY(level_of(&b->line->targets[i], &options, error));
    wb_status status = wb_kernel_compile(NULL, item->program, &options, &kernel, NULL, error);
    if (status == WB_OK) {
      status = add_kernel(b, item, kernel, error);
      wb_kernel_release(kernel);
    }
    if (status != WB_OK) {
      return wb_error_prefix(error, "kernel %s %d%s%s for %s", item->name, item->capacity,
                             item->variant[0] != '\0' ? " " : "", item->variant,
                             b->line->targets[i].name);
    }
  }
  return WB_OK;
}

static int print_built(const building *b) {
  if (b->line->json) {
    return cli_print_json(json_pack("{s:s,s:I,s:I,s:I}", "folder", b->line->output, "kernels",
                                    (json_int_t)b->kernels, "cubins", (json_int_t)b->cubins,
                                    "bytes", (json_int_t)b->bytes));
  }
  (void)printf(
      "%s: %" PRId64 " kernel%s, %" PRId64 " of them with machine code for a GPU, %.1f MB\n",
      b->line->output, b->kernels, b->kernels == 1 ? "" : "s", b->cubins, 1e-6 * (double)b->bytes);
  return CLI_OK;
}

int kernels_build(const kernels_arguments *line) {
  wb_error error;
  static building b; /* the path is long */
  b = (building){.line = line};
  b.has_ptxas = ptxas_find("WB_PTXAS", "ptxas", b.ptxas);
  if (wb_bundle_create(line->output, &b.writer, &error) != WB_OK) {
    return cli_fail(&error);
  }
  wb_status status = kernels_each(line, build_item, &b, &error);
  if (status != WB_OK) {
    wb_bundle_abandon(b.writer);
    return cli_fail(&error);
  }
  return wb_bundle_finish(b.writer, &error) == WB_OK ? print_built(&b) : cli_fail(&error);
}

/* ---- explain ---- */

typedef struct explaining {
  const kernels_arguments *line;
  json_t *array; /* NULL: text */
} explaining;

static wb_status explain_item(void *context, const wb_catalogue_item *item, wb_error *error) {
  const explaining *e = context;
  for (int32_t i = 0; i < e->line->target_count; i++) {
    const kernels_target *target = &e->line->targets[i];
    const wb_kernel_options options = kernels_options(target);
    char text[1024];
    bool hit;
    WB_TRY(wb_kernel_explain(item->program, &options, &hit, text, sizeof text, error));
    if (e->array == NULL) {
      (void)printf("%s %d%s%s for %s: %s ", item->name, item->capacity,
                   item->variant[0] != '\0' ? " " : "", item->variant, target->name,
                   hit ? "from bundle" : "to be compiled:");
      cli_print_text(stdout, text);
      (void)putchar('\n');
    } else if (json_array_append_new(
                   e->array, json_pack("{s:s,s:i,s:s,s:s,s:b,s:s}", "name", item->name, "capacity",
                                       (int)item->capacity, "variant", item->variant, "target",
                                       target->name, "hit", (int)hit, "text", text)) != 0) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the JSON output");
    }
  }
  return WB_OK;
}

int kernels_explain(const kernels_arguments *line) {
  wb_error error;
  explaining e = {.line = line, .array = line->json ? json_array() : NULL};
  if (kernels_each(line, explain_item, &e, &error) != WB_OK) {
    json_decref(e.array);
    return cli_fail(&error);
  }
  if (line->json) {
    return cli_print_json(e.array);
  }
  (void)puts(
      "A run compiles exactly what its day needs, unless a bundle has just that; without LLVM, "
      "or with WB_LLVM_MODULE=none, one of these that does more will do.");
  return CLI_OK;
}

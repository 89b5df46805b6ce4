/* warpbook kernels list: every kernel that can be asked for. Nothing is compiled: the passes alone
 * tell operations, accesses and the key that caches know the kernel by. */
#include "kernels.h"

typedef struct list {
  const kernels_arguments *line;
  json_t *array; /* NULL: a table */
} list;

static void print_row(const wb_catalogue_item *item, const wb_kernel_report *r, const char *key) {
  (void)printf("%-22s %5d  %-31s %6d %6d %7d %7d %8d %7d  %.16s\n", item->name, item->capacity,
               item->variant, r->ops_built, r->ops_compiled, r->accesses, r->accesses_proven,
               r->accesses_promised, r->accesses_checked, key);
}

static json_t *row_json(const wb_catalogue_item *item, const wb_kernel_report *r,
                        const char *target, const char *key) {
  return json_pack("{s:s,s:i,s:s,s:s,s:s,s:i,s:i,s:{s:i,s:i,s:i,s:i}}", "name", item->name,
                   "capacity", (int)item->capacity, "variant", item->variant, "target", target,
                   "key", key, "ops_built", (int)r->ops_built, "ops_compiled", (int)r->ops_compiled,
                   "accesses", "all", (int)r->accesses, "proven", (int)r->accesses_proven,
                   "promised", (int)r->accesses_promised, "checked", (int)r->accesses_checked);
}

static wb_status add_row(void *context, const wb_catalogue_item *item, wb_error *error) {
  const list *l = context;
  for (int32_t i = 0; i < l->line->target_count; i++) {
    const kernels_target *target = &l->line->targets[i];
    const wb_kernel_options options = kernels_options(target);
    wb_kernel_report report;
    char key[33];
    WB_TRY(wb_kernel_survey(item->program, &options, &report, error));
    wb_hash128_text(report.key, key);
    if (l->array == NULL) {
      print_row(item, &report, key);
    } else if (json_array_append_new(l->array, row_json(item, &report, target->name, key)) != 0) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the JSON output");
    }
  }
  return WB_OK;
}

int kernels_list(const kernels_arguments *line) {
  wb_error error;
  list l = {.line = line, .array = line->json ? json_array() : NULL};
  if (!line->json) {
    (void)printf("%-22s %5s  %-31s %6s %6s %7s %7s %8s %7s  %s\n", "kernel", "size", "variant",
                 "ops", "after", "access", "proven", "promised", "checked", "key");
  }
  if (kernels_each(line, add_row, &l, &error) != WB_OK) {
    json_decref(l.array);
    return cli_fail(&error);
  }
  return line->json ? cli_print_json(l.array) : CLI_OK;
}

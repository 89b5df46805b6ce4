/* warpbook kernels time: medians of each stage over several compiles, none of which finds anything
 * made by the one before. */
#include "kernels.h"

#include <stdlib.h>

enum { REPEATS_MOST = 1000 };

typedef struct timing {
  const kernels_arguments *line;
  json_t *array;                       /* NULL: a table */
  double *samples[KERNELS_STAGES + 1]; /* the last is the sum */
} timing;

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int32_t count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return values[count / 2];
}

static wb_status compile_once(const wb_catalogue_item *item, const kernels_target *target,
                              double seconds[KERNELS_STAGES], wb_error *error) {
  wb_kernel_options options = kernels_options(target);
  options.no_bundles = true;
  wb_kernel *kernel;
  wb_kernel_report report;
  WB_TRY(wb_kernel_compile(NULL, item->program, &options, &kernel, &report, error));
  kernels_stage_times(&report.times, seconds);
  wb_kernel_release(kernel);
  return WB_OK;
}

static json_t *row_json(const wb_catalogue_item *item, const kernels_target *target,
                        const double *medians) {
  json_t *stages = json_object();
  for (int s = 0; s < KERNELS_STAGES; s++) {
    (void)json_object_set_new(stages, kernels_stage_names[s], json_real(medians[s]));
  }
  return json_pack("{s:s,s:i,s:s,s:s,s:f,s:o}", "name", item->name, "capacity", (int)item->capacity,
                   "variant", item->variant, "target", target->name, "seconds_all",
                   medians[KERNELS_STAGES], "seconds", stages);
}

static void print_row(const wb_catalogue_item *item, const double *medians) {
  (void)printf("%-22s %5d  %-31s", item->name, item->capacity, item->variant);
  for (int s = 0; s <= KERNELS_STAGES; s++) {
    (void)printf(" %9.2f", 1e3 * medians[s]);
  }
  (void)puts("");
}

static wb_status time_target(const timing *t, const wb_catalogue_item *item,
                             const kernels_target *target, wb_error *error) {
  double medians[KERNELS_STAGES + 1];
  for (int32_t r = 0; r < t->line->repeats; r++) {
    double seconds[KERNELS_STAGES];
    WB_TRY(compile_once(item, target, seconds, error));
    t->samples[KERNELS_STAGES][r] = 0;
    for (int s = 0; s < KERNELS_STAGES; s++) {
      t->samples[s][r] = seconds[s];
      t->samples[KERNELS_STAGES][r] += seconds[s];
    }
  }
  for (int s = 0; s <= KERNELS_STAGES; s++) {
    medians[s] = median(t->samples[s], t->line->repeats);
  }
  if (t->array == NULL) {
    print_row(item, medians);
  } else if (json_array_append_new(t->array, row_json(item, target, medians)) != 0) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the JSON output");
  }
  return WB_OK;
}

static wb_status time_item(void *context, const wb_catalogue_item *item, wb_error *error) {
  const timing *t = context;
  for (int32_t i = 0; i < t->line->target_count; i++) {
    WB_TRY(time_target(t, item, &t->line->targets[i], error));
  }
  return WB_OK;
}

static void print_head(void) {
  (void)printf("%-22s %5s  %-31s", "kernel", "size", "variant, times in ms");
  for (int s = 0; s < KERNELS_STAGES; s++) {
    (void)printf(" %9s", kernels_stage_names[s]);
  }
  (void)printf(" %9s\n", "all");
}

int kernels_time(const kernels_arguments *line) {
  static double samples[KERNELS_STAGES + 1][REPEATS_MOST];
  wb_error error;
  timing t = {.line = line, .array = line->json ? json_array() : NULL};
  for (int s = 0; s <= KERNELS_STAGES; s++) {
    t.samples[s] = samples[s];
  }
  if (!line->json) {
    print_head();
  }
  if (kernels_each(line, time_item, &t, &error) != WB_OK) {
    json_decref(t.array);
    return cli_fail(&error);
  }
  return line->json ? cli_print_json(t.array) : CLI_OK;
}

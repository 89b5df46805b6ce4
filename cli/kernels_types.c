/* How many instructions each type of record is, told by compiling: the code of one type cannot be
 * seen in the assembly, where blocks of several types are merged and moved, but a kernel can be made
 * for any set of types, and differences between such kernels are exact. */
#include "kernels_types.h"

#include "kernels/catalogue.h"

#include <string.h>

static const struct {
  wb_record_type type;
  const char *name;
} types_of_records[] = {
#define X(name, code) {WB_RECORD_##name, #name},
    WB_RECORD_TYPES(X)
#undef X
};

enum { TYPES = sizeof types_of_records / sizeof types_of_records[0] };
_Static_assert((int)TYPES <= (int)KERNELS_TYPES_MOST, "room for all types");

typedef struct counting {
  wb_book_layout *layout;
  wb_kernel_options options;
} counting;

typedef struct counts {
  int64_t instructions, ops;
} counts;

static wb_status count(const counting *c, const wb_book_features *features, counts *result,
                       wb_error *error) {
  wb_program *program = NULL;
  wb_kernel *kernel = NULL;
  wb_kernel_report report;
  WB_TRY(wb_run_program_build(c->layout, features, &program, error));
  wb_status status = wb_kernel_compile(NULL, program, &c->options, &kernel, &report, error);
  wb_program_free(program);
  WB_TRY(status);
  *result = (counts){report.instructions, report.ops_compiled};
  wb_kernel_release(kernel);
  return WB_OK;
}

static wb_status count_types(const counting *c, const wb_book_features *features,
                             const wb_kernel_report *all, kernels_types *types, wb_error *error) {
  wb_book_features own = *features;
  counts none, only, without;
  own.types = 0;
  WB_TRY(count(c, &own, &none, error));
  types->none = none.instructions;
  for (int i = 0; i < TYPES; i++) {
    uint32_t bit = 1u << types_of_records[i].type;
    if ((features->types & bit) == 0) {
      continue;
    }
    own.types = bit;
    WB_TRY(count(c, &own, &only, error));
    own.types = features->types & ~bit;
    WB_TRY(count(c, &own, &without, error));
    types->list[types->count++] = (kernels_type){.name = types_of_records[i].name,
                                                 .alone = only.instructions - none.instructions,
                                                 .more = all->instructions - without.instructions,
                                                 .ops = all->ops_compiled - without.ops};
  }
  return WB_OK;
}

/* The features that a variant's words stand for. */
static bool features_of(const char *variant, const wb_book_rules *rules, wb_book_features *f) {
  for (int set = 0; set < WB_FEATURE_SET_COUNT; set++) {
    const char *text = wb_feature_set_text((wb_feature_set)set);
    size_t length = strlen(text);
    if (strncmp(variant, text, length) == 0 && variant[length] == ' ') {
      *f = wb_features_usual((wb_feature_set)set, rules);
      f->trades = strstr(variant, "all-trades") != NULL     ? WB_TRADES_ALL
                  : strstr(variant, "owner-trades") != NULL ? WB_TRADES_OWNERS
                                                            : WB_TRADES_NONE;
      f->rows = strstr(variant, " rows") != NULL;
      return true;
    }
  }
  return false;
}

wb_status kernels_types_count(const wb_catalogue_item *item, const kernels_target *target,
                              const wb_kernel_report *all, kernels_types *types, wb_error *error) {
  memset(types, 0, sizeof *types);
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features;
  rules.capacity = item->capacity;
  if (strcmp(item->name, "run") != 0 || !features_of(item->variant, &rules, &features)) {
    return WB_OK;
  }
  counting c = {.options = kernels_options(target)};
  c.options.keep_text = true;
  WB_TRY(wb_book_layout_new(item->capacity, &c.layout, error));
  wb_status status = count_types(&c, &features, all, types, error);
  wb_book_layout_free(c.layout);
  return status;
}

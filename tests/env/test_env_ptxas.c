/* ptxas takes every kernel of the usual environments, and of one with two tasks, for sm_80 and sm_90
 * without a stack or spills; registers are bounded, so that at least 16 warps fit a multiprocessor.
 * Skipped, with a message, where there is no ptxas ($WB_PTXAS, the path, /usr/local/cuda). */
#include "cli/ptxas.h"
#include "compiler/kernel.h"
#include "env/catalogue.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_MOST = 104, STEP_MOST_LARGE = 120, LARGE = 256, OTHERS_MOST = 64, SEEN_MOST = 256 };

typedef struct looking {
  char ptxas[PTXAS_PATH_BYTES];
  wb_hash128 seen[SEEN_MOST]; /* kernels that several environments share are assembled once */
  int count;
} looking;

static bool was_seen(looking *l, const wb_program *program) {
  wb_hash128 hash = wb_program_hash(program);
  for (int i = 0; i < l->count; i++) {
    if (l->seen[i].low == hash.low && l->seen[i].high == hash.high) return true;
  }
  cr_assert_lt(l->count, SEEN_MOST);
  l->seen[l->count++] = hash;
  return false;
}

static int most_registers(const wb_catalogue_item *item) {
  if (strcmp(item->name, "env_step") != 0) return item->capacity < LARGE ? OTHERS_MOST : STEP_MOST;
  return item->capacity < LARGE ? STEP_MOST : STEP_MOST_LARGE;
}

static wb_status assemble(void *context, const wb_catalogue_item *item, wb_error *error) {
  looking *l = context;
  if (was_seen(l, item->program)) return WB_OK;
  for (int sm = 80; sm <= 90; sm += 10) {
    const wb_kernel_options options = {.sm = sm};
    wb_kernel *kernel;
    ptxas_result machine = {.cubin = NULL};
    WB_TRY(wb_kernel_compile(NULL, item->program, &options, &kernel, NULL, error));
    wb_status status = ptxas_assemble(l->ptxas, wb_kernel_gpu(kernel)->ptx, sm, &machine, error);
    wb_kernel_release(kernel);
    WB_TRY(status);
    printf("%-22s %4d  %-44s sm_%d %5d %6d %7d\n", item->name, item->capacity, item->variant, sm,
           (int)machine.registers, (int)machine.stack_bytes, (int)machine.spill_bytes);
    cr_expect_eq(machine.stack_bytes, 0, "%s %s: %d bytes of stack", item->name, item->variant,
                 (int)machine.stack_bytes);
    cr_expect_eq(machine.spill_bytes, 0, "%s %s: %d bytes spilled", item->name, item->variant,
                 (int)machine.spill_bytes);
    cr_expect_leq(machine.registers, most_registers(item), "%s %s: %d registers", item->name,
                  item->variant, (int)machine.registers);
    free(machine.cubin);
  }
  return WB_OK;
}

static void assemble_all(int32_t capacity) {
  static looking l;
  wb_error error = {.text = ""};
  wb_book_rules rules = wb_book_rules_default();
  l = (looking){.count = 0};
  if (!ptxas_find("WB_PTXAS", "ptxas", l.ptxas)) {
    cr_skip_test("there is no ptxas here: kernels are not assembled\n");
    return;
  }
  rules.capacity = capacity;
  printf(
      "kernel                 size  environment                                        registers "
      "stack  spills\n");
  cr_expect_eq(wb_env_catalogue(&rules, assemble, &l, &error), WB_OK, "%s", error.text);
  static const wb_env_agents both[] = {{"market_making", NULL, 1}, {"execution", NULL, 1}};
  wb_env_config config = wb_env_config_default();
  config.agents = both;
  config.agent_groups = 2;
  cr_expect_eq(wb_env_catalogue_of(&config, &rules, assemble, &l, &error), WB_OK, "%s", error.text);
}

Test(ptxas, environments_of_small_books, .timeout = 600) { assemble_all(64); }
Test(ptxas, environments_of_usual_books, .timeout = 600) { assemble_all(128); }
Test(ptxas, environments_of_large_books, .timeout = 600) { assemble_all(1024); }

/* The tests are tested: each planted fault must be found by short random streams.
 *
 * Where configurations leave the faulty code out (a fault of eviction under the rule *reject*), the
 * next one is tried. WB_FAULT picks one fault by its number. */
#include "diff.h"
#include "faults.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { BUDGET = 60000, EPISODE = 1500 };

/* Records that were run until the fault showed; -1 if it did not. */
static int64_t records_until_found(int32_t number, diff_failure *failure) {
  int64_t records = 0;
  /* the odd step visits capacities and rules in a mixed order */
  for (int32_t c = 7; records < BUDGET; c = (c + 17) % 60) {
    diff_config config = diff_config_make(c);
    wb_error error = {0};
    diff_engine *engine = diff_engine_new(&config, DIFF_INTERPRETER, fault_plant, &number, &error);
    if (engine == NULL) { /* this one does not have that code */
      records += EPISODE / 10;
      snprintf(failure->text, sizeof failure->text, "%.200s", error.text);
    }
    for (uint64_t e = 0; engine != NULL && e < 3; e++) {
      diff_episode episode;
      diff_generate(&config, 77 + (uint64_t)c * 1000 + e, EPISODE, &episode);
      bool same = diff_run(engine, &episode, e, NULL, failure);
      records += same ? EPISODE : failure->record + 1;
      diff_episode_free(&episode);
      if (!same) {
        diff_engine_free(engine);
        return records;
      }
    }
    diff_engine_free(engine);
  }
  return -1;
}

static bool is_asked_for(int32_t number) {
  const char *text = getenv("WB_FAULT");
  return text == NULL || atoi(text) == number;
}

Test(faults, are_all_found) {
  int32_t missed = 0;
  cr_assert_geq(fault_count(), 20);
  for (int32_t f = 0; f < fault_count(); f++) {
    if (!is_asked_for(f)) continue;
    diff_failure failure = {0};
    int64_t records = records_until_found(f, &failure);
    printf("%2d %-54s %6lld %.60s\n", f, fault_name(f), (long long)records, failure.text);
    missed += records < 0;
  }
  cr_assert_eq(missed, 0);
}

/* Without a fault the same streams find nothing. */
Test(faults, none_is_found_where_there_is_none) {
  for (int32_t c = 7; c < 60; c += 17) {
    diff_config config = diff_config_make(c);
    wb_error error = {0};
    diff_engine *engine = diff_engine_new(&config, DIFF_INTERPRETER, NULL, NULL, &error);
    cr_assert_not_null(engine, "%s", error.text);
    diff_episode episode;
    diff_failure failure;
    diff_generate(&config, 77 + (uint64_t)c * 1000, EPISODE, &episode);
    cr_assert(diff_run(engine, &episode, 0, NULL, &failure), "%s", failure.text);
    diff_episode_free(&episode);
    diff_engine_free(engine);
  }
}

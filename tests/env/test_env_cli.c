/* warpbook env as a user runs it, on the sample day. */
#include "../cli/run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv"

static bool says(const run_result *r, const char *words) {
  return r->status == 0 && strstr(r->out, words) != NULL;
}

Test(cli, list_tells_tasks_and_policies) {
  run_result r = RUN("env", "list");
  cr_assert(says(&r, "execution"));
  cr_assert(says(&r, "market_making"));
  cr_assert(says(&r, "twap (execution), avellaneda_stoikov (market_making:quotes)"));
  run_free(&r);
}

Test(cli, describe_tells_spaces_features_and_parameters) {
  run_result r = RUN("env", "describe", "execution", "--levels", "3");
  cr_assert(says(&r, "one of 0 .. 12"));
  cr_assert(says(&r, "ask_size_3"));
  cr_assert(!says(&r, "ask_size_4"));
  cr_assert(says(&r, "slot_3_ahead"));
  cr_assert(says(&r, "lambda"));
  cr_assert(says(&r, "messages_per_step"));
  run_free(&r);
  r = RUN("env", "describe", "market_making");
  cr_assert(says(&r, "max_inventory"));
  run_free(&r);
}

#define PLAY(...)                                                                             \
  RUN("env", "run", "market_making+execution:quantities*2", "--data", SAMPLE, "--envs", "6",  \
      "--messages-per-step", "20", "--episode-messages", "400", "--snapshot-messages", "500", \
      "--steps", "50", __VA_ARGS__)

Test(cli, run_shows_returns_and_speed) {
  run_result r = PLAY("--policy", "random", "--threads", "1");
  cr_assert(says(&r, "environment steps/s"));
  cr_assert(says(&r, "(1 thread), 3 agents"));
  cr_assert(says(&r, "market_making"));
  cr_assert(says(&r, "state "));
  run_free(&r);
}

Test(cli, json_has_what_scripts_need) {
  json_t *o = expect_json(PLAY("--json"), 0);
  cr_assert_eq(number(o, "episodes"), 6 * 2);
  cr_assert_eq(number(o, "messages"), 6 * 50 * 20);
  cr_assert_eq(number(o, "agents_per_env"), 3);
  cr_assert_gt(json_number_value(json_object_get(o, "steps_per_second")), 0);
  cr_assert_gt(json_number_value(json_object_get(o, "messages_per_second")), 0);
  cr_assert(json_is_real(json_object_get(o, "return_mean")));
  cr_assert_gt(json_number_value(json_object_get(o, "return_std")), 0);
  cr_assert_eq(strlen(text(o, "state_hash")), 16);
  json_t *agents = json_object_get(o, "agents");
  cr_assert_eq(json_array_size(agents), 3);
  cr_assert_str_eq(text(json_array_get(agents, 2), "task"), "execution");
  json_decref(o);
}

/* 4,000 rows do not hold an episode of 5,000. */
Test(cli, a_day_that_is_too_short_names_the_options_that_help) {
  EXPECT_REFUSED(RUN("env", "run", "execution", "--data", SAMPLE, "--steps", "1"),
                 "room for an episode", "--episode-messages", "--short-windows");
  json_t *o = expect_json(RUN("env", "run", "execution", "--data", SAMPLE, "--envs", "2", "--steps",
                              "60", "--short-windows", "--json"),
                          0);
  cr_assert_geq(number(o, "episodes"), 2);
  json_decref(o);
}

static char *hash_of(run_result r) {
  json_t *o = expect_json(r, 0);
  char *copy = strdup(text(o, "state_hash"));
  json_decref(o);
  return copy;
}

Test(cli, the_state_depends_on_the_seed_and_not_on_threads) {
  char *first = hash_of(PLAY("--json", "--seed", "5", "--threads", "1"));
  char *again = hash_of(PLAY("--json", "--seed", "5", "--threads", "2"));
  char *other = hash_of(PLAY("--json", "--seed", "6"));
  cr_assert_str_eq(first, again);
  cr_assert_str_neq(first, other);
  free(first);
  free(again);
  free(other);
}

/* Every episode ends with the last step: all markets are at the start of the next one. */
#define END_ON_A_RESET(...)                                                                    \
  RUN("env", "run", "execution", "--data", SAMPLE, "--envs", "2", "--messages-per-step", "20", \
      "--episode-messages", "100", "--steps", "5", "--json", __VA_ARGS__)

Test(cli, the_hash_covers_what_was_earned) {
  char *idle = hash_of(END_ON_A_RESET("--policy", "none"));
  char *again = hash_of(END_ON_A_RESET("--policy", "none"));
  char *busy = hash_of(END_ON_A_RESET("--policy", "twap"));
  cr_expect_str_eq(idle, again);
  cr_expect_str_neq(idle, busy);
  free(idle);
  free(again);
  free(busy);
}

Test(cli, parameters_and_policies_are_used) {
  json_t *o = expect_json(
      PLAY("--json", "--policy", "twap", "--set", "quantity=100", "--set", "1.side=0"), 0);
  json_t *buyer = json_array_get(json_object_get(o, "agents"), 1);
  json_t *maker = json_array_get(json_object_get(o, "agents"), 0);
  /* the sample halts: what remains at an end in a halt cannot be traded */
  double volume = json_number_value(json_object_get(buyer, "volume"));
  cr_assert_float_eq(volume + json_number_value(json_object_get(buyer, "left")), 100, 1e-6);
  cr_assert_gt(volume, 90);
  cr_assert_eq(json_number_value(json_object_get(maker, "volume")), 0, "nobody plays for it");
  json_decref(o);
}

Test(cli, a_day_with_a_damaged_line_goes_by_way_of_a_store) {
  char *folder = scratch_make();
  char *path = format("%s/X_2024-01-02_34200000_57600000_message_1.csv", folder);
  char *rows = format("%s/X_2024-01-02_34200000_57600000_orderbook_1.csv", folder);
  write_file(path, "34200.1,1,1,100,499900,1\n34200.2,1,2,x,500000,-1\n");
  write_file(rows, "9999999999,0,499900,100\n500000,5,499900,100\n");
  EXPECT_REFUSED(RUN("env", "run", "execution", "--data", path), "line 2", "warpbook convert",
                 "--skip-bad");
  free(path);
  free(rows);
  scratch_free(folder);
}

Test(cli, what_cannot_be_run_is_refused) {
  EXPECT_REFUSED(RUN("env"), "list");
  EXPECT_REFUSED(RUN("env", "dance"), "run TASK, got \"dance\"\n");
  EXPECT_REFUSED(RUN("env", "run"), "run: TASK is missing", "env list");
  EXPECT_REFUSED(RUN("env", "list", "execution"), "list", "nothing more", "execution");
  EXPECT_REFUSED(RUN("env", "describe", "arbitrage"), "arbitrage");
  EXPECT_REFUSED(RUN("env", "run", "execution"), "--data");
  EXPECT_REFUSED(RUN("env", "run", "execution", "--data", "nowhere.csv"), "nowhere.csv");
  EXPECT_REFUSED(RUN("env", "run", "arbitrage", "--data", SAMPLE), "arbitrage");
  EXPECT_REFUSED(RUN("env", "run", "execution:levers", "--data", SAMPLE), "levers");
  EXPECT_REFUSED(RUN("env", "run", "execution*0", "--data", SAMPLE), "agents");
  EXPECT_REFUSED(RUN("env", "run", "execution+", "--data", SAMPLE), "tasks");
  EXPECT_REFUSED(PLAY("--set", "speed=1"), "speed");
  EXPECT_REFUSED(PLAY("--set", "quantity=many"), "many");
  EXPECT_REFUSED(PLAY("--set", "quantity"), "NAME=VALUE");
  EXPECT_REFUSED(PLAY("--set", "quantity=0"), "quantity");
  EXPECT_REFUSED(PLAY("--policy", "greedy"), "greedy");
  EXPECT_REFUSED(PLAY("--policy", "avellaneda_stoikov"), "avellaneda_stoikov");
  EXPECT_REFUSED(PLAY("--envs", "0"), "--envs");
  EXPECT_REFUSED(PLAY("--device", "abacus"), "abacus");
  EXPECT_REFUSED(PLAY("--episode-messages", "1000000"), "windows");
}

/* The calls as a user makes them: buffers, autoreset, parameters, windows, statistics, threads; and
 * what is refused, by a call or on the device, with the other environments unharmed. */
#include "market.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ENVS = 4 };

static const wb_env_agents both[] = {{"market_making", "quotes", 1},
                                     {"execution", "quantities", 1}};
static const wb_env_agents seller[] = {{"execution", NULL, 1}};

static wb_tape *tape;
static wb_env *env;

static wb_env_config plain(const wb_env_agents *agents, int32_t groups) {
  static const wb_tape *list;
  list = tape;
  wb_env_config c = config_on(&list, agents, groups);
  c.envs = ENVS;
  return c;
}

static void open(void) {
  tape = make_market(61, 2000);
  env = NULL;
}

static void close_all(void) {
  wb_env_destroy(env);
  wb_tape_free(tape);
}

TestSuite(api, .init = open, .fini = close_all);
TestSuite(refused, .init = open, .fini = close_all);

static void create(const wb_env_config *c) { MUST(wb_env_create(c, &env, error)); }
static void reset(void) { MUST(wb_env_reset(env, NULL, NULL, error)); }

static void play(const char *policy, int steps) {
  for (int i = 0; i < steps; i++) {
    MUST(wb_env_act(env, policy, -1, error));
    MUST(wb_env_step(env, error));
  }
}

static int32_t int_of(const char *name, int32_t e) {
  int32_t list[ENVS];
  MUST(wb_env_read(env, name, list, sizeof list, error));
  return list[e];
}

static uint8_t byte_of(const char *name, int32_t e) {
  uint8_t list[ENVS];
  MUST(wb_env_read(env, name, list, sizeof list, error));
  return list[e];
}

/* ---- buffers ---- */

Test(api, buffers_are_listed_named_and_never_move) {
  wb_env_config c = plain(both, 2);
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  create(&c);
  int32_t count = wb_env_buffer_count(env);
  void **first = calloc((size_t)count, sizeof *first);
  for (int round = 0; round < 2; round++) {
    for (int32_t i = 0; i < count; i++) {
      wb_env_buffer b, found;
      MUST(wb_env_buffer_at(env, i, &b, error));
      MUST(wb_env_buffer_find(env, b.name, &found, error));
      cr_assert_eq(b.data, found.data, "%s", b.name);
      cr_assert_not_null(b.data, "%s", b.name);
      cr_assert_eq(b.shape[0], ENVS);
      if (round == 0) first[i] = b.data;
      cr_assert_eq(b.data, first[i], "%s moved", b.name);
    }
    reset();
    play("random", 60);
  }
  free(first);
  wb_env_buffer b;
  MUST(wb_env_buffer_find(env, "observation", &b, error));
  int32_t features;
  char **names = wb_env_feature_names(c.levels, 4, &features);
  cr_assert_eq(b.shape[2], features);
  for (int32_t i = 0; i < features; i++) cr_assert_str_eq(b.features[i], names[i]);
  cr_assert_str_eq(names[0], "bid_price_1");
  cr_assert_str_eq(names[features - 1], "slot_3_ahead");
  free(names);
  REFUSED(wb_env_buffer_at(env, count, &b, error), WB_ERROR_ARGUMENT, "buffer");
  REFUSED(wb_env_buffer_find(env, "observations", &b, error), WB_ERROR_ARGUMENT, "observations");
  cr_assert(strstr(wb_env_error(env), "observations") != NULL);
}

Test(api, levels_are_the_book_s_in_ticks_and_lots) {
  for (int32_t capacity = 64; capacity <= 256; capacity *= 4) {
    wb_env_config c = plain(seller, 1);
    c.rules.capacity = capacity;
    c.levels = 12;
    create(&c);
    const double lot = 7;
    MUST(wb_env_set_parameter(env, "size_scale", &lot, 1, error));
    reset();
    play("random", 5);
    wb_env_buffer b;
    MUST(wb_env_buffer_find(env, "observation", &b, error));
    for (int32_t e = 0; e < ENVS; e++) {
      const float *seen = (const float *)b.data + e * b.strides[0];
      wb_level levels[2][12];
      int32_t count[2];
      for (int side = 0; side < 2; side++) {
        MUST(wb_env_book_levels(env, e, (wb_side)side, levels[side], 12, &count[side], error));
      }
      double mid = 0.5 * (levels[0][0].price + levels[1][0].price);
      for (int side = 0; side < 2; side++) {
        for (int level = 0; level < 12; level++) {
          bool there = level < count[side];
          double price = there ? (levels[side][level].price - mid) / TICK : 0;
          double size = there ? (double)levels[side][level].qty / lot : 0;
          cr_assert_float_eq(seen[4 * level + 2 * side], price, 1e-4);
          cr_assert_float_eq(seen[4 * level + 2 * side + 1], size, 1e-4 * (1 + size));
        }
      }
    }
    wb_env_destroy(env);
    env = NULL;
  }
}

Test(api, observations_go_into_a_rollout_that_a_slot_walks_through) {
  wb_env_config c = plain(both, 2);
  create(&c);
  wb_env_buffer b;
  MUST(wb_env_buffer_find(env, "observation", &b, error));
  int64_t row = b.shape[1] * b.shape[2], env_stride = row + 3, slot_stride = ENVS * env_stride;
  float *rollout = calloc((size_t)(4 * slot_stride), sizeof *rollout);
  int32_t slot = 0;
  reset();
  MUST(wb_env_observe_into(env, rollout, env_stride, slot_stride, &slot, 4, error));
  for (int t = 0; t < 4; t++) {
    slot = t;
    play("random", 1);
  }
  slot = 4;
  play("random", 1);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("errors", e), WB_ENV_ERROR_SLOT);
  for (int t = 0; t < 4; t++) {
    for (int e = 0; e < ENVS; e++) {
      const float *seen = rollout + t * slot_stride + e * env_stride;
      cr_assert_neq(seen[0], 0.0f);
      for (int i = 0; i < 3; i++) cr_assert_eq(seen[row + i], 0.0f, "written between rows");
    }
  }
  /* the last slot's are what the own buffer would have had */
  wb_env_destroy(env);
  create(&c);
  reset();
  play("random", 4);
  MUST(wb_env_buffer_find(env, "observation", &b, error));
  for (int e = 0; e < ENVS; e++) {
    cr_assert_arr_eq((const float *)b.data + e * row, rollout + 3 * slot_stride + e * env_stride,
                     (size_t)row * 4);
  }
  free(rollout);
  REFUSED(wb_env_observe_into(env, (float *)b.data, row - 1, 0, NULL, 1, error), WB_ERROR_ARGUMENT,
          "env_stride");
  /* slots that lie over each other, and strides beyond all memory */
  REFUSED(wb_env_observe_into(env, (float *)b.data, row, 1, NULL, 2, error), WB_ERROR_ARGUMENT,
          "overlap");
  REFUSED(wb_env_observe_into(env, (float *)b.data, row, ENVS * row - 1, NULL, 2, error),
          WB_ERROR_ARGUMENT, "overlap");
  REFUSED(wb_env_observe_into(env, (float *)b.data, INT64_MAX, 0, NULL, 1, error),
          WB_ERROR_ARGUMENT, "env_stride");
  REFUSED(wb_env_observe_into(env, (float *)b.data, row, INT64_MAX, NULL, 3, error),
          WB_ERROR_ARGUMENT, "slot_stride");
}

/* ---- the ends of episodes ---- */

Test(api, same_step_autoreset_keeps_the_final_observation) {
  wb_env_config c = plain(seller, 1);
  uint64_t hashes[ENVS];
  float end[4096], final[4096], fresh[4096];
  create(&c); /* disabled: shows the end itself */
  wb_env_buffer b;
  MUST(wb_env_buffer_find(env, "observation", &b, error));
  size_t bytes = (size_t)(b.shape[0] * b.shape[1] * b.shape[2]) * 4;
  reset();
  play("none", 20);
  MUST(wb_env_read(env, "observation", end, bytes, error));
  REFUSED(wb_env_read(env, "final_obs", final, bytes, error), WB_ERROR_STATE, "final_obs");
  reset();
  MUST(wb_env_read(env, "observation", fresh, bytes, error));
  MUST(wb_env_hashes(env, hashes, error));
  wb_env_destroy(env);
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  create(&c);
  reset();
  play("none", 20);
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(byte_of("done", e), 1);
    cr_assert_eq(byte_of("truncated", e), 1);
    cr_assert_eq(int_of("reason", e), WB_ENV_END_WINDOW);
    cr_assert_eq(int_of("episode", e), 1);
  }
  MUST(wb_env_read(env, "final_obs", final, bytes, error));
  cr_assert_arr_eq(end, final, bytes);
  MUST(wb_env_read(env, "observation", final, bytes, error));
  cr_assert_arr_eq(fresh, final, bytes);
  play("none", 1);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(byte_of("done", e), 0);
}

Test(api, next_step_autoreset_spends_a_step_on_it) {
  wb_env_config c = plain(seller, 1);
  c.autoreset = WB_ENV_AUTORESET_NEXT_STEP;
  create(&c);
  reset();
  play("random", 20);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(byte_of("done", e), 1);
  play("random", 1);
  float reward[ENVS];
  MUST(wb_env_read(env, "reward", reward, sizeof reward, error));
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(byte_of("done", e), 0);
    cr_assert_eq(byte_of("truncated", e), 0);
    cr_assert_eq(reward[e], 0.0f);
    cr_assert_eq(int_of("messages", e), 0);
    cr_assert_eq(int_of("episode", e), 1);
  }
  play("random", 1);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("messages", e), 20);
}

Test(api, a_finished_task_terminates_and_the_others_go_on) {
  const wb_env_agents two[] = {{"execution", NULL, 1}, {"market_making", NULL, 1}};
  wb_env_config c = plain(two, 2);
  create(&c);
  const double quantity = 10;
  MUST(wb_env_set_parameter(env, "quantity", &quantity, 1, error));
  reset();
  int32_t actions[ENVS][2] = {{1, 0}, {1, 0}, {0, 0}, {0, 0}}; /* 10 shares at the far touch */
  uint8_t ends[ENVS][2], cut[ENVS][2], mask[ENVS][2][13];
  MUST(wb_env_write(env, "action", actions, sizeof actions, error));
  MUST(wb_env_step(env, error));
  MUST(wb_env_read(env, "terminated", ends, sizeof ends, error));
  MUST(wb_env_read(env, "truncated", cut, sizeof cut, error));
  MUST(wb_env_read(env, "action_mask", mask, sizeof mask, error));
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(ends[e][0], e < 2);
    cr_assert_eq(ends[e][1], 0);
    cr_assert_eq(byte_of("done", e), 0);
    cr_assert_eq(mask[e][0][0], 1);
    cr_assert_eq(mask[e][0][5], e >= 2, "whoever is done may only do nothing");
    cr_assert_eq(mask[e][1][5], 1);
  }
  for (int i = 1; i < 20; i++) MUST(wb_env_step(env, error));
  MUST(wb_env_read(env, "terminated", ends, sizeof ends, error));
  MUST(wb_env_read(env, "truncated", cut, sizeof cut, error));
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(byte_of("done", e), 1);
    cr_assert_eq(ends[e][0], e < 2);
    cr_assert_eq(cut[e][0], e >= 2);
    cr_assert_eq(cut[e][1], 1);
  }
}

Test(api, when_every_task_is_done_the_episode_is_over) {
  wb_env_config c = plain(seller, 1);
  create(&c);
  const double quantity = 10;
  MUST(wb_env_set_parameter(env, "quantity", &quantity, 1, error));
  reset();
  const int32_t actions[ENVS] = {1, 0, 1, 0};
  MUST(wb_env_write(env, "action", actions, sizeof actions, error));
  MUST(wb_env_step(env, error));
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(byte_of("done", e), e % 2 == 0);
    cr_assert_eq(byte_of("terminated", e), e % 2 == 0);
    cr_assert_eq(byte_of("truncated", e), 0);
    cr_assert_eq(int_of("reason", e), e % 2 == 0 ? WB_ENV_END_TASK : WB_ENV_END_NONE);
  }
}

Test(api, a_user_may_cut_an_episode_short) {
  wb_env_config c = plain(seller, 1);
  create(&c);
  reset();
  const uint8_t mask[ENVS] = {0, 1, 0, 1};
  MUST(wb_env_truncate(env, mask, error));
  play("none", 1);
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(int_of("reason", e), mask[e] ? WB_ENV_END_USER : WB_ENV_END_NONE);
  }
}

Test(api, a_tape_that_ends_cuts_the_episode_with_its_reason) {
  wb_env_config c = plain(seller, 1);
  c.short_windows = true;
  create(&c);
  int32_t last = wb_env_window_count(env) - 1;
  wb_env_window window;
  MUST(wb_env_window_at(env, last, &window, error));
  cr_assert_eq(window.messages, 100);
  const int32_t starts[ENVS] = {last, 0, last, 0};
  MUST(wb_env_reset(env, NULL, starts, error));
  play("random", 5);
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(int_of("reason", e), e % 2 == 0 ? WB_ENV_END_DATA : WB_ENV_END_NONE);
    cr_assert_eq(int_of("window", e), starts[e]);
  }
}

/* ---- parameters, seeds, windows ---- */

Test(api, parameters_are_one_for_all_or_one_each) {
  wb_env_config c = plain(seller, 1);
  create(&c);
  const double quantities[ENVS] = {10, 20, 30, 40}, all = 77, buy = 0;
  MUST(wb_env_set_parameter(env, "quantity", quantities, ENVS, error));
  MUST(wb_env_set_parameter(env, "0.side", &buy, 1, error));
  reset();
  for (int e = 0; e < ENVS; e++) {
    wb_env_account account;
    MUST(wb_env_read_account(env, e, 0, &account, error));
    cr_assert_eq(account.target, (int64_t)quantities[e]);
    cr_assert_eq(int_of("0.quantity", e), (int32_t)quantities[e]);
  }
  MUST(wb_env_set_parameter(env, "quantity", &all, 1, error));
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("0.quantity", e), 77);
  const int32_t rows[ENVS] = {5, 6, 7, 8};
  MUST(wb_env_write(env, "messages_per_step", rows, sizeof rows, error));
  play("none", 1);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("messages", e), rows[e]);
}

Test(api, windows_are_drawn_from_the_split_in_turn_or_at_random) {
  wb_tape *second = make_market(62, 1500);
  const wb_tape *tapes[] = {tape, second};
  const uint8_t splits[] = {0, 1};
  for (int32_t split = 0; split < 2; split++) {
    wb_env_config c = plain(seller, 1);
    c.tapes = tapes;
    c.tape_count = 2;
    c.splits = splits;
    c.split = split;
    create(&c);
    cr_assert_eq(wb_env_window_count(env), 20 + 15);
    bool seen[40] = {false};
    for (int i = 0; i < 60; i++) {
      reset();
      for (int e = 0; e < ENVS; e++) seen[int_of("window", e)] = true;
    }
    for (int32_t n = 0; n < 35; n++) {
      wb_env_window window;
      MUST(wb_env_window_at(env, n, &window, error));
      cr_assert_eq(window.tape, n >= 20);
      bool whole = window.messages >= 400;
      cr_assert_eq(seen[n], whole && window.tape == split, "window %d", n);
    }
    const int32_t few[] = {3, 5, 30};
    MUST(wb_env_choose_windows(env, few, 3, error));
    for (int i = 0; i < 20; i++) {
      reset();
      for (int e = 0; e < ENVS; e++) {
        int32_t n = int_of("window", e);
        cr_assert(n == 3 || n == 5 || n == 30);
      }
    }
    wb_env_destroy(env);
  }
  wb_env_config c = plain(seller, 1);
  c.windows = WB_ENV_WINDOWS_SEQUENTIAL;
  create(&c);
  reset();
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("window", e), e);
  reset();
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("window", e), e + 1);
  wb_tape_free(second);
}

Test(api, snapshots_by_time_and_a_part_of_the_day) {
  wb_env_config c = plain(seller, 1);
  int64_t first = tape->records[0].time_ns, last = tape->records[1999].time_ns;
  c.snapshot_seconds = 2;
  c.from_ns = first + 3000000000;
  c.to_ns = last - 5000000000;
  c.episode_messages = 0;
  c.episode_seconds = 2;
  create(&c);
  int32_t count = wb_env_window_count(env);
  cr_assert_gt(count, 3);
  for (int32_t n = 0; n < count; n++) {
    wb_env_window window;
    MUST(wb_env_window_at(env, n, &window, error));
    cr_assert_geq(window.time_ns, c.from_ns);
    cr_assert_lt(window.time_ns, c.to_ns);
    cr_assert_eq(tape->records[window.record - 1].time_ns, window.time_ns);
  }
  reset();
  play("none", 100);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("reason", e), WB_ENV_END_WINDOW);
}

/* ---- policies ---- */

Test(api, twap_trades_evenly_and_avellaneda_stoikov_quotes_around_its_price) {
  wb_env_config c = plain(both, 2);
  create(&c);
  const double quantity = 200, gamma = 0.1, sigma = 4, kappa = 5;
  MUST(wb_env_set_parameter(env, "quantity", &quantity, 1, error));
  MUST(wb_env_set_parameter(env, "risk_aversion", &gamma, 1, error));
  MUST(wb_env_set_parameter(env, "volatility", &sigma, 1, error));
  MUST(wb_env_set_parameter(env, "fill_decay", &kappa, 1, error));
  reset();
  int skewed = 0;
  for (int step = 0; step < 20; step++) {
    float actions[ENVS][2][4];
    int64_t inventories[ENVS];
    for (int e = 0; e < ENVS; e++) {
      wb_env_account account;
      MUST(wb_env_read_account(env, e, 0, &account, error));
      inventories[e] = account.inventory;
    }
    MUST(wb_env_act(env, "none", -1, error));
    MUST(wb_env_act(env, "twap", -1, error));
    MUST(wb_env_act(env, "avellaneda_stoikov", 0, error));
    MUST(wb_env_read(env, "action", actions, sizeof actions, error));
    for (int e = 0; e < ENVS; e++) {
      wb_env_account account;
      MUST(wb_env_read_account(env, e, 1, &account, error));
      cr_assert_eq(actions[e][1][0], (float)(10 * (step + 1) - llabs(account.inventory)));
      double left = 1 - step / 20.0, q = (double)inventories[e] / 100;
      double half = gamma * sigma * sigma * left / 2 + log(1 + gamma / kappa) / gamma;
      double skew = -q * gamma * sigma * sigma * left;
      cr_assert_float_eq(actions[e][0][0], half, 1e-4 * (1 + half));
      cr_assert_float_eq(actions[e][0][1], skew, 1e-4 * (1 + fabs(skew)));
      cr_assert_eq(actions[e][0][2], 100.0f);
      skewed += skew != 0;
    }
    MUST(wb_env_step(env, error));
  }
  wb_env_statistic list[WB_ENV_STATISTICS_MAX];
  int32_t n;
  MUST(wb_env_take_statistics(env, 1, list, &n, error));
  cr_assert_eq(statistic(list, n, "volume"), 200 * ENVS);
  cr_assert_lt(statistic(list, n, "liquidated"), 20 * ENVS);
  cr_assert_gt(skewed, 10, "no inventory: the skew was not tested");
}

/* ---- what a step does not do ---- */

/* From here on whoever makes a system call other than futex and exit is killed. */
static bool forbid_system_calls(void) {
  struct sock_filter list[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog filter = {.len = sizeof list / sizeof list[0], .filter = list};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static void step_without_system_calls(void) {
  wb_env_config c = plain(both, 2);
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  create(&c);
  reset();
  play("random", 1);
  if (!forbid_system_calls()) syscall(SYS_exit, 2);
  bool good = true;
  for (int i = 0; i < 60 && good; i++) {
    good = wb_env_act(env, "random", -1, NULL) == WB_OK && wb_env_step(env, NULL) == WB_OK;
  }
  good = good && wb_env_reset(env, NULL, NULL, NULL) == WB_OK;
  syscall(SYS_exit, good ? 0 : 1);
}

Test(api, steps_and_resets_make_no_system_call) {
  pid_t child = fork();
  cr_assert_geq(child, 0);
  if (child == 0) step_without_system_calls();
  int status = 0;
  cr_assert_eq(waitpid(child, &status, 0), child);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) cr_skip("no seccomp here");
  cr_assert(WIFEXITED(status), "killed by signal %d: a system call", WTERMSIG(status));
  cr_assert_eq(WEXITSTATUS(status), 0);
}

Test(api, steps_and_resets_allocate_nothing) {
  wb_env_config c = plain(both, 2);
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  create(&c);
  reset();
  play("random", 1);
  bool good = true;
  size_t before = mallinfo2().uordblks;
  for (int i = 0; i < 60 && good; i++) {
    good = wb_env_act(env, "random", -1, NULL) == WB_OK && wb_env_step(env, NULL) == WB_OK;
  }
  good = good && wb_env_reset(env, NULL, NULL, NULL) == WB_OK;
  size_t after = mallinfo2().uordblks;
  cr_assert(good);
  cr_assert_eq(after, before);
}

/* ---- several at once ---- */

static void *in_a_thread(void *argument) {
  uint64_t *hash = argument;
  static const wb_env_agents agents[] = {{"execution", NULL, 1}};
  const wb_tape *list = tape;
  wb_env_config c = config_on(&list, agents, 1);
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  wb_env *own = NULL;
  bool good =
      wb_env_create(&c, &own, NULL) == WB_OK && wb_env_reset(own, NULL, NULL, NULL) == WB_OK;
  for (int i = 0; good && i < 300; i++) {
    good = wb_env_act(own, "random", -1, NULL) == WB_OK && wb_env_step(own, NULL) == WB_OK;
  }
  if (!good || wb_env_hashes(own, hash, NULL) != WB_OK) *hash = 0;
  wb_env_destroy(own);
  return NULL;
}

Test(api, batches_in_several_threads_do_not_meet) {
  pthread_t threads[4];
  uint64_t hashes[4] = {0};
  for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, in_a_thread, &hashes[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  cr_assert_neq(hashes[0], 0);
  for (int i = 1; i < 4; i++) cr_assert_eq(hashes[i], hashes[0]);
}

/* ---- refused by a call ---- */

#define BAD_CONFIG(change, part)                                      \
  do {                                                                \
    wb_env_config c = plain(seller, 1);                               \
    change;                                                           \
    REFUSED(wb_env_create(&c, &env, error), WB_ERROR_ARGUMENT, part); \
    cr_assert_null(env);                                              \
  } while (0)

Test(refused, configurations_out_of_range_name_the_field) {
  const wb_env_agents unknown[] = {{"arbitrage", NULL, 1}},
                      no_space[] = {{"execution", "levers", 1}};
  const wb_env_agents too_many[] = {{"execution", NULL, 20}, {"execution", NULL, 20}};
  BAD_CONFIG(c.size = 8, "size");
  BAD_CONFIG(c.envs = 0, "envs");
  BAD_CONFIG(c.envs = WB_ENV_ENVS_MAX + 1, "envs");
  BAD_CONFIG(c.levels = -1, "levels");
  BAD_CONFIG(c.levels = 51, "levels");
  BAD_CONFIG(c.tape_count = 0, "tapes");
  BAD_CONFIG(c.tapes = NULL, "tapes");
  BAD_CONFIG(c.agents = NULL, "agents");
  BAD_CONFIG(c.agent_groups = 0, "agent_groups");
  BAD_CONFIG(c.agents = unknown, "arbitrage");
  BAD_CONFIG(c.agents = no_space, "levers");
  BAD_CONFIG((c.agents = too_many, c.agent_groups = 2), "agents");
  BAD_CONFIG(c.clock = (wb_env_clock)3, "clock");
  BAD_CONFIG(c.autoreset = (wb_env_autoreset)7, "autoreset");
  BAD_CONFIG(c.windows = (wb_env_windows)2, "windows");
  BAD_CONFIG(c.messages_per_step = 0, "messages_per_step");
  BAD_CONFIG(c.episode_messages = -1, "episode_messages");
  BAD_CONFIG(c.episode_messages = 5000, "windows");
  BAD_CONFIG(c.snapshot_messages = 0, "snapshot_messages");
  BAD_CONFIG((c.from_ns = 5, c.to_ns = 5), "from_ns");
  BAD_CONFIG(c.to_ns = 1, "from_ns");
  BAD_CONFIG(c.rules.capacity = 100, "capacity");
  BAD_CONFIG(c.device = "abacus", "abacus");
  BAD_CONFIG(c.split = 9, "split");
  BAD_CONFIG(c.threads = -1, "threads");
}

Test(refused, a_batch_that_no_memory_holds) {
  wb_env_config c = plain(seller, 1);
  c.envs = WB_ENV_ENVS_MAX;
  c.record_room = 1 << 24;
  REFUSED(wb_env_create(&c, &env, error), WB_ERROR_MEMORY, "envs");
}

/* The machine's memory is asked for before the system has promised it. */
Test(refused, snapshots_that_no_memory_holds) {
  enum { DAYS = 4000 };
  static const wb_tape *list[DAYS];
  for (int i = 0; i < DAYS; i++) list[i] = tape;
  wb_env_config c = plain(seller, 1);
  c.tapes = list;
  c.tape_count = DAYS;
  c.rules.capacity = 8192;
  c.snapshot_messages = 1;
  REFUSED(wb_env_create(&c, &env, error), WB_ERROR_MEMORY, "snapshot_messages");
}

Test(refused, a_tape_whose_sums_would_not_be_exact) {
  wb_env_config c = plain(seller, 1);
  tape->base = (INT64_C(1) << 31) + TICK;
  REFUSED(wb_env_create(&c, &env, error), WB_ERROR_LIMIT, "base");
}

Test(refused, calls_out_of_order_or_range) {
  wb_env_config c = plain(seller, 1);
  create(&c);
  REFUSED(wb_env_step(env, error), WB_ERROR_STATE, "reset");
  reset();
  const double too_much = 1e7, part = 10.5, good = 5;
  const int32_t windows[] = {0, 99};
  int32_t action = 0;
  wb_env_account account;
  wb_env_statistic list[WB_ENV_STATISTICS_MAX];
  wb_env_window window;
  wb_level level;
  uint64_t hash;
  int64_t count;
  int32_t n;
  REFUSED(wb_env_set_parameter(env, "quantity", &too_much, 1, error), WB_ERROR_ARGUMENT,
          "quantity");
  REFUSED(wb_env_set_parameter(env, "quantity", &part, 1, error), WB_ERROR_ARGUMENT, "whole");
  REFUSED(wb_env_set_parameter(env, "quantity", &good, 3, error), WB_ERROR_ARGUMENT, "values");
  REFUSED(wb_env_set_parameter(env, "amount", &good, 1, error), WB_ERROR_ARGUMENT, "amount");
  REFUSED(wb_env_set_parameter(env, "1.quantity", &good, 1, error), WB_ERROR_ARGUMENT,
          "1.quantity");
  const double not_a_number = NAN;
  REFUSED(wb_env_set_parameter(env, "lambda", &not_a_number, 1, error), WB_ERROR_ARGUMENT,
          "lambda");
  REFUSED(wb_env_write(env, "action", &action, 4, error), WB_ERROR_ARGUMENT, "bytes");
  REFUSED(wb_env_write(env, "mask", "abc", 3, error), WB_ERROR_ARGUMENT, "mask");
  REFUSED(wb_env_write(env, "reward", &action, 16, error), WB_ERROR_ARGUMENT, "reward");
  REFUSED(wb_env_act(env, "guess", -1, error), WB_ERROR_ARGUMENT, "guess");
  REFUSED(wb_env_act(env, "avellaneda_stoikov", -1, error), WB_ERROR_ARGUMENT, "avellaneda");
  REFUSED(wb_env_act(env, "none", 1, error), WB_ERROR_ARGUMENT, "group");
  REFUSED(wb_env_choose_windows(env, windows, 2, error), WB_ERROR_ARGUMENT, "window");
  REFUSED(wb_env_choose_windows(env, windows, 0, error), WB_ERROR_ARGUMENT, "windows");
  REFUSED(wb_env_window_at(env, 20, &window, error), WB_ERROR_ARGUMENT, "window");
  REFUSED(wb_env_read_account(env, ENVS, 0, &account, error), WB_ERROR_ARGUMENT, "env_index");
  REFUSED(wb_env_read_account(env, 0, 1, &account, error), WB_ERROR_ARGUMENT, "agent");
  REFUSED(wb_env_take_statistics(env, -1, list, &n, error), WB_ERROR_ARGUMENT, "agent");
  REFUSED(wb_env_book_hashes(env, -1, &hash, &hash, error), WB_ERROR_ARGUMENT, "env_index");
  REFUSED(wb_env_book_levels(env, 0, (wb_side)2, &level, 1, &n, error), WB_ERROR_ARGUMENT, "side");
  REFUSED(wb_env_read_records(env, 0, NULL, 0, &count, error), WB_ERROR_STATE, "record_room");
  REFUSED(wb_env_state_get(env, NULL, NULL, error), WB_ERROR_ARGUMENT, "states");
  REFUSED(wb_env_set_seeds(env, NULL, error), WB_ERROR_ARGUMENT, "seeds");
  play("random", 3);
}

/* ---- refused on the device ---- */

/* The environments but `out` do as they would have done. */
static void others_unharmed(const wb_env_config *c, int32_t out, void (*spoil)(void),
                            int32_t bits) {
  uint64_t clean[ENVS], spoiled[ENVS];
  create(c);
  reset();
  play("random", 2);
  MUST(wb_env_act(env, "random", -1, error));
  MUST(wb_env_step(env, error));
  MUST(wb_env_hashes(env, clean, error));
  wb_env_destroy(env);
  create(c);
  reset();
  play("random", 2);
  MUST(wb_env_act(env, "random", -1, error));
  spoil();
  MUST(wb_env_step(env, error));
  MUST(wb_env_hashes(env, spoiled, error));
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(int_of("errors", e), e == out ? bits : 0, "environment %d: %x", e,
                 int_of("errors", e));
    if (e != out) cr_assert_eq(spoiled[e], clean[e]);
  }
  MUST(wb_env_clear_errors(env, error));
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("errors", e), 0);
}

static void spoil_choice(void) {
  int32_t actions[ENVS];
  MUST(wb_env_read(env, "action", actions, sizeof actions, error));
  actions[2] = 13;
  MUST(wb_env_write(env, "action", actions, sizeof actions, error));
}

Test(refused, an_action_out_of_range_is_that_environment_s) {
  wb_env_config c = plain(seller, 1);
  others_unharmed(&c, 2, spoil_choice, WB_ENV_ERROR_ACTION);
}

static float spoiler;
static void spoil_quantity(void) {
  float actions[ENVS][2][4];
  MUST(wb_env_read(env, "action", actions, sizeof actions, error));
  actions[1][1][2] = spoiler;
  MUST(wb_env_write(env, "action", actions, sizeof actions, error));
}

Test(refused, a_number_that_is_none_is_that_environment_s) {
  wb_env_config c = plain(both, 2);
  spoiler = NAN;
  others_unharmed(&c, 1, spoil_quantity, WB_ENV_ERROR_NAN);
}

Test(refused, so_are_negative_and_infinite_quantities) {
  wb_env_config c = plain(both, 2);
  spoiler = -1.0f;
  others_unharmed(&c, 1, spoil_quantity, WB_ENV_ERROR_ACTION);
  wb_env_destroy(env);
  spoiler = INFINITY;
  others_unharmed(&c, 1, spoil_quantity, WB_ENV_ERROR_ACTION);
}

Test(refused, an_agent_keeps_its_orders_when_its_action_is_bad) {
  wb_env_config c = plain(both, 2);
  create(&c);
  reset();
  wb_order before[64], after[64];
  int64_t count[2];
  const float quote[ENVS][2][4] = {{{9, 0, 50, 0}}};
  MUST(wb_env_write(env, "action", quote, sizeof quote, error));
  const double one = 1;
  MUST(wb_env_set_parameter(env, "messages_per_step", &one, 1, error));
  MUST(wb_env_step(env, error));
  MUST(wb_env_book_orders(env, 0, WB_SIDE_BID, before, 64, &count[0], error));
  const float bad[ENVS][2][4] = {{{NAN, 0, 0, 0}}};
  MUST(wb_env_write(env, "action", bad, sizeof bad, error));
  MUST(wb_env_step(env, error));
  MUST(wb_env_book_orders(env, 0, WB_SIDE_BID, after, 64, &count[1], error));
  int own[2] = {0, 0};
  for (int64_t i = 0; i < count[0]; i++) own[0] += before[i].owner == 1;
  for (int64_t i = 0; i < count[1]; i++) own[1] += after[i].owner == 1;
  cr_assert_eq(own[0], 1);
  cr_assert_eq(own[1], 1);
}

Test(refused, a_window_that_does_not_exist_leaves_the_environment_alone) {
  wb_env_config c = plain(seller, 1);
  create(&c);
  reset();
  play("random", 3);
  uint64_t before[ENVS], after[ENVS];
  int32_t starts[ENVS] = {0, 20, INT32_MAX, -1};
  MUST(wb_env_hashes(env, before, error));
  MUST(wb_env_reset(env, NULL, starts, error));
  MUST(wb_env_hashes(env, after, error));
  for (int e = 0; e < ENVS; e++) {
    bool bad = e == 1 || e == 2;
    cr_assert_eq(int_of("errors", e), bad ? WB_ENV_ERROR_WINDOW : 0);
    cr_assert_eq(before[e] == after[e], bad);
  }
}

Test(refused, steps_before_a_reset_and_past_the_end) {
  wb_env_config c = plain(seller, 1);
  create(&c);
  const uint8_t mask[ENVS] = {1, 0, 1, 1};
  uint64_t before[ENVS], after[ENVS];
  MUST(wb_env_reset(env, mask, NULL, error));
  play("random", 2);
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(int_of("errors", e), mask[e] ? 0 : WB_ENV_ERROR_NOT_RESET);
  }
  MUST(wb_env_clear_errors(env, error));
  play("none", 18);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(byte_of("done", e), mask[e]);
  MUST(wb_env_clear_errors(env, error));
  MUST(wb_env_hashes(env, before, error));
  play("random", 2);
  MUST(wb_env_hashes(env, after, error));
  for (int e = 0; e < ENVS; e++) {
    cr_assert_eq(before[e], after[e]);
    cr_assert_eq(int_of("errors", e), mask[e] ? WB_ENV_ERROR_PAST_END : WB_ENV_ERROR_NOT_RESET);
    cr_assert_eq(byte_of("truncated", e), mask[e], "the end stays to be seen");
  }
  MUST(wb_env_clear_errors(env, error));
  reset();
  play("random", 1);
  for (int e = 0; e < ENVS; e++) cr_assert_eq(int_of("errors", e), 0);
}

Test(refused, a_parameter_written_past_its_range_is_seen_at_the_reset) {
  wb_env_config c = plain(seller, 1);
  create(&c);
  const int32_t quantities[ENVS] = {100, -5, 100, 100};
  MUST(wb_env_write(env, "0.quantity", quantities, sizeof quantities, error));
  reset();
  for (int e = 0; e < ENVS; e++) {
    wb_env_account account;
    MUST(wb_env_read_account(env, e, 0, &account, error));
    cr_assert_eq(int_of("errors", e), e == 1 ? WB_ENV_ERROR_PARAMETER : 0);
    cr_assert_eq(account.target, e == 1 ? -500 : -100, "out of range: the default");
  }
}

Test(refused, more_records_than_the_ring_holds_are_told) {
  wb_env_config c = plain(seller, 1);
  c.record_room = 10;
  create(&c);
  reset();
  play("none", 1);
  wb_record records[10];
  int64_t count;
  MUST(wb_env_read_records(env, 0, records, 10, &count, error));
  cr_assert_eq(count, 20);
  cr_assert_eq(int_of("errors", 0), WB_ENV_ERROR_RECORDS);
}

Test(api, names_of_ends_and_errors) {
  cr_assert_str_eq(wb_env_end_name(WB_ENV_END_EMPTY), "empty");
  cr_assert_str_eq(wb_env_end_name((wb_env_end)99), "unknown");
  cr_assert_str_eq(wb_env_error_name(WB_ENV_ERROR_INDEX_NAN), "nan");
  cr_assert_str_eq(wb_env_error_name(-1), "unknown");
  cr_assert_eq(wb_env_task_count(), 2);
  cr_assert_str_eq(wb_env_task_find("execution")->name, "execution");
  cr_assert_null(wb_env_task_find("nothing"));
  cr_assert_null(wb_env_task_at(2));
}

/* Same seeds, same bits: whatever the batch's size, the place in it, the number of threads, after save
 * and restore, in a clone. And state bytes that do not fit change nothing. */
#include "market.h"

enum { STEPS = 50, MOST = 32 };

static const wb_env_agents both[] = {{"market_making", "quotes", 2}, {"execution", NULL, 1}};

static wb_env *open(const wb_tape *tape, int32_t envs, int32_t threads, const wb_env *share) {
  wb_env_config c = config_on(&tape, both, 2);
  c.envs = envs;
  c.threads = threads;
  c.share = share;
  c.seed = 77;
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  c.episode_messages = 300;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  return env;
}

static void run(wb_env *env, int steps) {
  for (int i = 0; i < steps; i++) {
    MUST(wb_env_act(env, "random", -1, error));
    MUST(wb_env_step(env, error));
  }
}

static void play(wb_env *env, const int64_t *seeds, uint64_t *hashes) {
  MUST(wb_env_set_seeds(env, seeds, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  run(env, STEPS);
  MUST(wb_env_hashes(env, hashes, error));
}

Test(same, batch_size_place_and_threads_do_not_matter) {
  wb_tape *tape = make_market(21, 2000);
  wb_env *large = open(tape, MOST, 1, NULL);
  wb_env *shared = open(tape, MOST, 3, large);
  wb_env *one = open(tape, 1, 2, NULL);
  int64_t seeds[MOST], turned[MOST];
  uint64_t hashes[MOST], others[MOST], alone;
  for (int i = 0; i < MOST; i++) {
    seeds[i] = 1000 + 7 * i;
    turned[MOST - 1 - i] = seeds[i];
  }
  play(large, seeds, hashes);
  play(shared, turned, others);
  for (int i = 0; i < MOST; i++) {
    cr_assert_eq(hashes[i], others[MOST - 1 - i], "seed %d", (int)seeds[i]);
    for (int j = 0; j < i; j++) cr_assert_neq(hashes[i], hashes[j], "two seeds, one world");
  }
  for (int i = 0; i < MOST; i += 9) {
    play(one, &seeds[i], &alone);
    cr_assert_eq(alone, hashes[i]);
  }
  /* the constant part outlives its maker */
  wb_env_destroy(large);
  play(shared, turned, hashes);
  for (int i = 0; i < MOST; i++) cr_assert_eq(hashes[i], others[i]);
  wb_env_destroy(shared);
  wb_env_destroy(one);
  wb_tape_free(tape);
}

Test(same, the_interpreter_agrees_with_compiled_code) {
  wb_tape *tape = make_market(22, 600);
  const wb_tape *list = tape;
  wb_env_config c = config_on(&list, both, 2);
  c.envs = 2;
  c.episode_messages = 100;
  c.messages_per_step = 20;
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  uint64_t hashes[2][2];
  float seen[2][4096];
  wb_env_buffer b;
  for (int interpret = 0; interpret < 2; interpret++) {
    wb_env *env;
    c.kernel.interpret = interpret == 1;
    MUST(wb_env_create(&c, &env, error));
    MUST(wb_env_reset(env, NULL, NULL, error));
    run(env, 8);
    MUST(wb_env_hashes(env, hashes[interpret], error));
    MUST(wb_env_buffer_find(env, "observation", &b, error));
    size_t bytes = (size_t)(b.shape[0] * b.shape[1] * b.shape[2]) * 4;
    cr_assert_leq(bytes, sizeof seen[0]);
    MUST(wb_env_read(env, "observation", seen[interpret], bytes, error));
    if (interpret == 1) cr_assert_arr_eq(seen[0], seen[1], bytes);
    wb_env_destroy(env);
  }
  cr_assert_arr_eq(hashes[0], hashes[1], sizeof hashes[0]);
  wb_tape_free(tape);
}

Test(same, no_promise_of_the_kernels_is_ever_broken) {
  wb_tape *tape = make_market(23, 1500);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{"market_making", "slots", 2}, {"execution", "quantities", 1}};
  wb_env_config c = config_on(&list, agents, 2);
  c.envs = 4;
  c.autoreset = WB_ENV_AUTORESET_NEXT_STEP;
  c.kernel.check = true;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  run(env, 100);
  MUST(wb_env_wait(env, error));
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* ---- states ---- */

Test(same, a_restored_state_goes_on_as_the_saved_one_did) {
  wb_tape *tape = make_market(24, 2000);
  wb_env *env = open(tape, 8, 1, NULL), *other = open(tape, 3, 1, NULL);
  size_t bytes = (size_t)wb_env_state_bytes(env);
  cr_assert_eq((size_t)wb_env_state_bytes(other), bytes);
  unsigned char *states = aligned_alloc(64, 8 * bytes), *moved = aligned_alloc(64, 3 * bytes);
  uint64_t first[8], again[8], elsewhere[3];
  MUST(wb_env_reset(env, NULL, NULL, error));
  run(env, 7);
  MUST(wb_env_state_get(env, NULL, states, error));
  run(env, STEPS);
  MUST(wb_env_hashes(env, first, error));
  MUST(wb_env_state_set(env, NULL, states, error));
  run(env, STEPS);
  MUST(wb_env_hashes(env, again, error));
  cr_assert_arr_eq(first, again, sizeof first);
  /* in another batch, at other places */
  for (int i = 0; i < 3; i++)
    memcpy(moved + (size_t)i * bytes, states + (size_t)(6 - 2 * i) * bytes, bytes);
  MUST(wb_env_state_set(other, NULL, moved, error));
  run(other, STEPS);
  MUST(wb_env_hashes(other, elsewhere, error));
  for (int i = 0; i < 3; i++) cr_assert_eq(elsewhere[i], first[6 - 2 * i]);
  free(states);
  free(moved);
  wb_env_destroy(env);
  wb_env_destroy(other);
  wb_tape_free(tape);
}

Test(same, setting_a_state_shows_its_observation) {
  wb_tape *tape = make_market(25, 2000);
  wb_env *env = open(tape, 2, 1, NULL);
  wb_env_buffer b;
  MUST(wb_env_buffer_find(env, "observation", &b, error));
  size_t bytes = (size_t)(b.shape[0] * b.shape[1] * b.shape[2]) * sizeof(float);
  float *before = malloc(bytes), *after = malloc(bytes);
  unsigned char *states = aligned_alloc(64, 2 * (size_t)wb_env_state_bytes(env));
  MUST(wb_env_reset(env, NULL, NULL, error));
  run(env, 5);
  MUST(wb_env_read(env, "observation", before, bytes, error));
  MUST(wb_env_state_get(env, NULL, states, error));
  run(env, 3);
  MUST(wb_env_state_set(env, NULL, states, error));
  MUST(wb_env_read(env, "observation", after, bytes, error));
  cr_assert_arr_eq(before, after, bytes);
  free(before);
  free(after);
  free(states);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

static int32_t errors_of(wb_env *env, int32_t e, int32_t envs) {
  int32_t errors[MOST];
  MUST(wb_env_read(env, "errors", errors, (size_t)envs * 4, error));
  return errors[e];
}

Test(same, damaged_and_foreign_states_are_left_out_and_the_others_taken) {
  wb_tape *tape = make_market(26, 2000);
  wb_env *env = open(tape, 4, 1, NULL);
  size_t bytes = (size_t)wb_env_state_bytes(env);
  unsigned char *states = aligned_alloc(64, 4 * bytes);
  uint64_t saved[4], now[4], end[4];
  MUST(wb_env_reset(env, NULL, NULL, error));
  run(env, 3);
  MUST(wb_env_state_get(env, NULL, states, error));
  MUST(wb_env_hashes(env, saved, error));
  run(env, 3);
  MUST(wb_env_hashes(env, now, error));
  states[0] ^= 1;                      /* another version */
  states[bytes + 8] ^= 1;              /* another configuration */
  states[2 * bytes + bytes / 2] ^= 16; /* damage inside */
  MUST(wb_env_state_set(env, NULL, states, error));
  MUST(wb_env_hashes(env, end, error));
  for (int e = 0; e < 3; e++) {
    cr_assert_eq(end[e], now[e]);
    cr_assert_eq(errors_of(env, e, 4), WB_ENV_ERROR_STATE);
  }
  cr_assert_eq(end[3], saved[3]);
  cr_assert_eq(errors_of(env, 3, 4), 0);
  MUST(wb_env_clear_errors(env, error));
  /* every single bit of a state matters */
  states[0] ^= 1;
  for (size_t bit = 0; bit < 8 * bytes; bit += 97) {
    if (bit / 8 >= 32 && bit / 8 < 256) continue; /* the rest of the header is empty */
    states[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    MUST(wb_env_state_set(env, (const uint8_t[]){1, 0, 0, 0}, states, error));
    cr_assert_eq(errors_of(env, 0, 4), WB_ENV_ERROR_STATE, "bit %zu", bit);
    MUST(wb_env_clear_errors(env, error));
    states[bit / 8] ^= (unsigned char)(1u << (bit % 8));
  }
  free(states);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* A batch that waits at the end for its user saves states that have ended; one that restarts by itself
 * takes them and begins anew. */
Test(same, an_ended_state_begins_again_where_episodes_do) {
  wb_tape *tape = make_market(28, 800);
  const wb_tape *list = tape;
  for (int next = 0; next < 2; next++) {
    wb_env_config c = config_on(&list, both, 2);
    c.envs = 2;
    c.messages_per_step = 100;
    c.episode_messages = 200;
    wb_env *waits, *restarts;
    MUST(wb_env_create(&c, &waits, error));
    c.autoreset = next == 1 ? WB_ENV_AUTORESET_NEXT_STEP : WB_ENV_AUTORESET_SAME_STEP;
    MUST(wb_env_create(&c, &restarts, error));
    unsigned char *states = aligned_alloc(64, 2 * (size_t)wb_env_state_bytes(waits));
    MUST(wb_env_reset(waits, NULL, NULL, error));
    run(waits, 2);
    uint8_t done[2];
    MUST(wb_env_read(waits, "done", done, sizeof done, error));
    cr_assert(done[0] == 1 && done[1] == 1);
    MUST(wb_env_state_get(waits, NULL, states, error));
    MUST(wb_env_reset(restarts, NULL, NULL, error));
    MUST(wb_env_state_set(restarts, NULL, states, error));
    run(restarts, 1);
    int32_t episodes[2], rows[2];
    MUST(wb_env_read(restarts, "episode", episodes, sizeof episodes, error));
    MUST(wb_env_read(restarts, "messages", rows, sizeof rows, error));
    for (int e = 0; e < 2; e++) {
      cr_assert_eq(episodes[e], 1);
      cr_assert_eq(rows[e], 0, "the step went into the restart");
      cr_assert_eq(errors_of(restarts, e, 2), 0);
    }
    run(restarts, 1);
    MUST(wb_env_read(restarts, "messages", rows, sizeof rows, error));
    cr_assert_eq(rows[0], 100);
    free(states);
    wb_env_destroy(waits);
    wb_env_destroy(restarts);
  }
  wb_tape_free(tape);
}

Test(same, a_clone_lives_its_source_s_life) {
  wb_tape *tape = make_market(27, 2000);
  wb_env *env = open(tape, 6, 2, NULL);
  uint64_t hashes[6];
  const int32_t from[6] = {0, 0, 3, 3, 0, 5};
  const uint8_t mask[6] = {0, 1, 1, 0, 1, 1};
  MUST(wb_env_reset(env, NULL, NULL, error));
  run(env, 9);
  MUST(wb_env_clone(env, mask, from, error));
  /* long enough for new episodes, whose windows come from the streams too. The random policy draws from
   * the same streams: actions are equal */
  run(env, STEPS);
  MUST(wb_env_hashes(env, hashes, error));
  cr_assert_eq(hashes[1], hashes[0]);
  cr_assert_eq(hashes[4], hashes[0]);
  cr_assert_eq(hashes[2], hashes[3]);
  cr_assert_neq(hashes[0], hashes[3]);
  for (int e = 0; e < 6; e++) cr_assert_eq(errors_of(env, e, 6), 0);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

Test(same, a_clone_of_nothing_or_of_a_target_is_refused_on_the_device) {
  wb_tape *tape = make_market(28, 1000);
  wb_env *env = open(tape, 4, 1, NULL);
  uint64_t before[4], after[4];
  const uint8_t started[4] = {1, 1, 1, 0};
  const uint8_t mask[4] = {1, 1, 1, 0};
  const int32_t from[4] = {1, 9, 3, 0}; /* a target, out of range, never reset */
  MUST(wb_env_reset(env, started, NULL, error));
  MUST(wb_env_hashes(env, before, error));
  MUST(wb_env_clone(env, mask, from, error));
  MUST(wb_env_hashes(env, after, error));
  cr_assert_arr_eq(before, after, sizeof before);
  for (int e = 0; e < 3; e++) cr_assert_eq(errors_of(env, e, 4), WB_ENV_ERROR_SOURCE);
  cr_assert_eq(errors_of(env, 3, 4), 0);
  REFUSED(wb_env_clone(env, mask, NULL, error), WB_ERROR_ARGUMENT, "from");
  wb_env_destroy(env);
  wb_tape_free(tape);
}

Test(same, an_episode_can_be_played_again_by_its_number) {
  wb_tape *tape = make_market(29, 2000);
  wb_env *env = open(tape, 2, 1, NULL);
  uint64_t first[2], again[2];
  MUST(wb_env_reset(env, NULL, NULL, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  MUST(wb_env_reset(env, NULL, NULL, error)); /* episode 2 */
  run(env, 5);
  MUST(wb_env_hashes(env, first, error));
  run(env, 60);
  const int32_t number[2] = {2, 2};
  MUST(wb_env_write(env, "next_episode", number, sizeof number, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  run(env, 5);
  MUST(wb_env_hashes(env, again, error));
  cr_assert_arr_eq(first, again, sizeof first);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

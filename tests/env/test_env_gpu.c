/* The same bits on a GPU, here the emulated one: both tasks, with and without graph capture. Skipped
 * where no GPU can be opened. */
#include "market.h"

enum { ENVS = 3, STEPS = 8 };

typedef struct seen {
  uint64_t hashes[ENVS];
  float observation[ENVS * 2 * 128], reward[ENVS * 2];
  int32_t errors[ENVS];
  size_t observed;
} seen;

static bool has_gpu(void) {
  wb_device *device = NULL;
  bool there = wb_device_open("cuda", &device, NULL) == WB_OK;
  wb_device_close(device);
  return there;
}

static void run_steps(wb_env *env, bool captured) {
  wb_device *device = wb_env_device(env);
  wb_graph *graph = NULL;
  MUST(wb_env_reset(env, NULL, NULL, error));
  for (int i = 0; i < STEPS; i++) {
    if (captured && i == 1) {
      MUST(wb_device_capture_begin(device, error));
      MUST(wb_env_act(env, "random", -1, error));
      MUST(wb_env_step(env, error));
      MUST(wb_device_capture_end(device, &graph, error));
    }
    if (graph != NULL) {
      MUST(wb_graph_launch(graph, error));
    } else {
      MUST(wb_env_act(env, "random", -1, error));
      MUST(wb_env_step(env, error));
    }
  }
  MUST(wb_env_wait(env, error));
  wb_graph_free(graph);
}

static seen play(const wb_tape *tape, const wb_env_agents *agents, const char *device,
                 bool captured) {
  wb_env_config c = config_on(&tape, agents, 2);
  c.device = device;
  c.envs = ENVS;
  c.levels = 3;
  c.messages_per_step = 10;
  c.episode_messages = 50;
  c.snapshot_messages = 200;
  c.autoreset = WB_ENV_AUTORESET_SAME_STEP;
  seen s = {0};
  wb_env *env;
  wb_env_buffer b;
  MUST(wb_env_create(&c, &env, error));
  run_steps(env, captured);
  MUST(wb_env_hashes(env, s.hashes, error));
  MUST(wb_env_buffer_find(env, "observation", &b, error));
  s.observed = (size_t)(b.shape[0] * b.shape[1] * b.shape[2]) * sizeof(float);
  cr_assert_leq(s.observed, sizeof s.observation);
  MUST(wb_env_read(env, "observation", s.observation, s.observed, error));
  MUST(wb_env_read(env, "reward", s.reward, sizeof s.reward, error));
  MUST(wb_env_read(env, "errors", s.errors, sizeof s.errors, error));
  wb_env_destroy(env);
  return s;
}

static void same_everywhere(const wb_env_agents *agents, uint64_t seed) {
  if (!has_gpu()) cr_skip("no GPU");
  wb_tape *tape = make_market(seed, 800);
  seen cpu = play(tape, agents, "cpu", false);
  for (int captured = 0; captured < 2; captured++) {
    seen gpu = play(tape, agents, "cuda", captured == 1);
    cr_assert_arr_eq(cpu.hashes, gpu.hashes, sizeof cpu.hashes);
    cr_assert_arr_eq(cpu.observation, gpu.observation, cpu.observed);
    cr_assert_arr_eq(cpu.reward, gpu.reward, sizeof cpu.reward);
    cr_assert_arr_eq(cpu.errors, gpu.errors, sizeof cpu.errors);
  }
  wb_tape_free(tape);
}

Test(gpu, discrete_actions) {
  const wb_env_agents agents[] = {{"market_making", NULL, 1}, {"execution", NULL, 1}};
  same_everywhere(agents, 71);
}

Test(gpu, continuous_actions) {
  const wb_env_agents agents[] = {{"market_making", "quotes", 1}, {"execution", "quantities", 1}};
  same_everywhere(agents, 72);
}

Test(gpu, orders_by_hand) {
  const wb_env_agents agents[] = {{"market_making", "slots", 1}, {"execution", "slots", 1}};
  same_everywhere(agents, 73);
}

Test(gpu, policies_of_both_tasks) {
  if (!has_gpu()) cr_skip("no GPU");
  wb_tape *tape = make_market(74, 600);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{"market_making", "quotes", 1}, {"execution", "quantities", 1}};
  float actions[2][ENVS * 2 * 4];
  for (int gpu = 0; gpu < 2; gpu++) {
    wb_env_config c = config_on(&list, agents, 2);
    c.device = gpu == 1 ? "cuda" : "cpu";
    c.envs = ENVS;
    wb_env *env;
    MUST(wb_env_create(&c, &env, error));
    MUST(wb_env_reset(env, NULL, NULL, error));
    for (int i = 0; i < 3; i++) {
      MUST(wb_env_act(env, "none", -1, error));
      MUST(wb_env_act(env, "twap", -1, error));
      MUST(wb_env_act(env, "avellaneda_stoikov", -1, error));
      MUST(wb_env_step(env, error));
    }
    MUST(wb_env_read(env, "action", actions[gpu], sizeof actions[gpu], error));
    wb_env_destroy(env);
  }
  cr_assert_arr_eq(actions[0], actions[1], sizeof actions[0]);
  wb_tape_free(tape);
}

/* Devices are the same if what was opened is, however they were named. */
Test(gpu, the_constant_part_is_shared_by_device) {
  if (!has_gpu()) cr_skip("no GPU");
  static const char *const names[] = {"cuda", "cuda:0", "auto"};
  wb_tape *tape = make_market(76, 400);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{"market_making", NULL, 1}};
  uint64_t hashes[3];
  wb_env *envs[3];
  wb_env_config c = config_on(&list, agents, 1);
  for (int i = 0; i < 3; i++) {
    c.device = names[i];
    c.share = i == 0 ? NULL : envs[0];
    MUST(wb_env_create(&c, &envs[i], error));
    MUST(wb_env_reset(envs[i], NULL, NULL, error));
    MUST(wb_env_act(envs[i], "random", -1, error));
    MUST(wb_env_step(envs[i], error));
    MUST(wb_env_hashes(envs[i], &hashes[i], error));
    cr_assert_eq(hashes[i], hashes[0]);
  }
  wb_env *none;
  c.share = envs[1];
  c.device = "cpu";
  REFUSED(wb_env_create(&c, &none, error), WB_ERROR_ARGUMENT, "got one on cuda:0");
  cr_assert_null(none);
  for (int i = 0; i < 3; i++) wb_env_destroy(envs[i]);
  wb_tape_free(tape);
}

Test(gpu, states_move_between_devices) {
  if (!has_gpu()) cr_skip("no GPU");
  wb_tape *tape = make_market(75, 600);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{"market_making", NULL, 1}};
  uint64_t hashes[2][1];
  wb_env *envs[2];
  unsigned char *bytes = NULL;
  for (int gpu = 0; gpu < 2; gpu++) {
    wb_env_config c = config_on(&list, agents, 1);
    c.device = gpu == 1 ? "cuda" : "cpu";
    MUST(wb_env_create(&c, &envs[gpu], error));
    wb_device *device = wb_env_device(envs[gpu]);
    size_t size = (size_t)wb_env_state_bytes(envs[gpu]);
    void *state;
    MUST(wb_device_allocate(device, size, &state, error));
    if (gpu == 0) {
      bytes = malloc(size);
      MUST(wb_env_reset(envs[gpu], NULL, NULL, error));
      MUST(wb_env_act(envs[gpu], "random", -1, error));
      MUST(wb_env_step(envs[gpu], error));
      MUST(wb_env_state_get(envs[gpu], NULL, state, error));
      MUST(wb_device_read(device, bytes, state, size, error));
    } else {
      MUST(wb_device_write(device, state, bytes, size, error));
      MUST(wb_env_state_set(envs[gpu], NULL, state, error));
    }
    wb_device_free(device, state);
  }
  for (int gpu = 0; gpu < 2; gpu++) {
    for (int i = 0; i < 3; i++) {
      MUST(wb_env_act(envs[gpu], "random", -1, error));
      MUST(wb_env_step(envs[gpu], error));
    }
    MUST(wb_env_hashes(envs[gpu], hashes[gpu], error));
    wb_env_destroy(envs[gpu]);
  }
  cr_assert_eq(hashes[0][0], hashes[1][0]);
  free(bytes);
  wb_tape_free(tape);
}

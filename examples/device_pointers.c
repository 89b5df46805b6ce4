/* A training loop that never leaves the device: memory, policy and rollout are there, the host only
 * queues. Runs on whatever device is named; on "cpu" device memory is host memory and the same code
 * holds.
 *
 *   cc device_pointers.c $(pkg-config --cflags --libs warpbook) -o device_pointers
 *   ./device_pointers INPUT [DEVICE]
 *
 * Observations are written straight into a rollout [STEPS][N][A x F], at the slot that a counter on the
 * device names; the policy is a program of our own, compiled for the device, that reads that slot and
 * writes the environment's action buffer. Policy, counter and step are captured once as a graph and then
 * only launched. */
#include <stdio.h>
#include <stdlib.h>

#include <warpbook/compiler/device.h>
#include <warpbook/data/input.h>
#include <warpbook/env/env.h>

#include <warpbook/compiler/dsl.h>

enum { ENVS = 128, STEPS = 32 };

typedef struct loop {
  wb_env *env;
  wb_device *device;
  wb_kernel *policy, *advance;
  wb_env_buffer observation, action;
  int64_t row; /* features of one environment */
  float *rollout;
  int32_t *slot;
} loop;

/* Sells ten shares at the mid whenever more buyers than sellers stand at the touch. */
static wb_status build_policy(int32_t imbalance, wb_program **program, wb_error *error) {
  wb_builder *b;
  WB_TRY(wb_builder_new("lean_on_imbalance", WB_WIDTH, NULL, &b, error));
  array rollout = buffer_shared("rollout", F32);
  array slot = buffer_shared("slot", I32);
  array action = buffer_per_book_out("action", I32);
  val row = param_i64("row");
  val at = mul(row, add(mul(i64(load(slot, 0)), ENVS), i64(book_index())));
  val seen = load(rollout, add(at, imbalance));
  store(action, 0, choose(gt(seen, 0.0f), 4, 0));
  return wb_builder_finish(b, program, error);
}

/* A program of one gang that moves the counter. */
static wb_status build_advance(wb_program **program, wb_error *error) {
  wb_builder *b;
  WB_TRY(wb_builder_new("advance", WB_WIDTH, NULL, &b, error));
  array slot = buffer_shared_out("slot", I32);
  store(slot, 0, remainder_of(add(load(slot, 0), 1), STEPS));
  return wb_builder_finish(b, program, error);
}

static wb_status compile(loop *l, wb_program *program, wb_kernel **kernel, wb_error *error) {
  wb_status status = wb_device_compile(l->device, program, NULL, kernel, NULL, error);
  wb_program_free(program);
  return status;
}

static wb_status act(loop *l, wb_error *error) {
  const wb_buffer_argument buffers[] = {
      {l->rollout, STEPS * ENVS * l->row, 0},
      {l->slot, 1, 0},
      {l->action.data, l->action.shape[2], l->action.strides[0]},
  };
  const wb_launch launch = {
      .books = ENVS, .buffers = buffers, .buffer_count = 3, .scalars = &l->row, .scalar_count = 1};
  return wb_device_launch(l->device, l->policy, &launch, error);
}

static wb_status advance(loop *l, wb_error *error) {
  const wb_buffer_argument buffers[] = {{l->slot, 1, 0}};
  const wb_launch launch = {.books = 1, .buffers = buffers, .buffer_count = 1};
  return wb_device_launch(l->device, l->advance, &launch, error);
}

static wb_status open_loop(loop *l, const wb_tape *const *tape, const char *device,
                           wb_error *error) {
  const wb_env_agents agents[] = {{.task = "execution", .count = 1}};
  wb_env_config config = wb_env_config_default();
  config.device = device;
  config.tapes = tape, config.tape_count = 1;
  config.agents = agents, config.agent_groups = 1;
  config.envs = ENVS, config.messages_per_step = 20, config.episode_messages = 1000;
  WB_TRY(wb_env_create(&config, &l->env, error));
  l->device = wb_env_device(l->env);
  WB_TRY(wb_env_buffer_find(l->env, "observation", &l->observation, error));
  WB_TRY(wb_env_buffer_find(l->env, "action", &l->action, error));
  l->row = l->observation.shape[1] * l->observation.shape[2];
  int32_t imbalance = 4 * config.levels + 1;
  void *memory;
  WB_TRY(wb_device_allocate(l->device, sizeof(float) * (size_t)(STEPS * ENVS * l->row), &memory,
                            error));
  l->rollout = memory;
  WB_TRY(wb_device_allocate(l->device, sizeof(int32_t), &memory, error));
  l->slot = memory;
  wb_program *program;
  WB_TRY(build_policy(imbalance, &program, error));
  WB_TRY(compile(l, program, &l->policy, error));
  WB_TRY(build_advance(&program, error));
  WB_TRY(compile(l, program, &l->advance, error));
  return wb_env_observe_into(l->env, l->rollout, l->row, ENVS * l->row, l->slot, STEPS, error);
}

static wb_status one_round(loop *l, wb_error *error) {
  WB_TRY(act(l, error));
  WB_TRY(advance(l, error));
  return wb_env_step(l->env, error);
}

/* The work of a round, kept by the device. */
static wb_status capture(loop *l, wb_graph **graph, wb_error *error) {
  WB_TRY(wb_device_capture_begin(l->device, error));
  wb_status status = one_round(l, error);
  wb_graph *kept = NULL;
  wb_status ended = wb_device_capture_end(l->device, &kept, status == WB_OK ? error : NULL);
  if (status == WB_OK && ended == WB_OK) *graph = kept;
  return status == WB_OK ? ended : status;
}

static wb_status look(loop *l, wb_error *error) {
  size_t bytes = sizeof(float) * (size_t)(STEPS * ENVS * l->row);
  float *seen = malloc(bytes);
  if (seen == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "no memory");
  wb_status status = wb_device_read(l->device, seen, l->rollout, bytes, error);
  for (int t = 0; status == WB_OK && t < STEPS; t += 10) {
    printf("slot %2d: environment 0 saw a spread of %g ticks\n", t,
           (double)seen[(int64_t)t * ENVS * l->row + 40]);
  }
  free(seen);
  return status;
}

static wb_status run(loop *l, wb_error *error) {
  wb_graph *graph = NULL;
  WB_TRY(wb_env_reset(l->env, NULL, NULL, error)); /* its observation goes to slot 0 */
  WB_TRY(one_round(l, error));
  WB_TRY(capture(l, &graph, error));
  wb_status status = WB_OK;
  for (int step = 1; step < STEPS - 1 && status == WB_OK; step++) {
    status = wb_graph_launch(graph, error);
  }
  /* only now does the host wait, and look */
  if (status == WB_OK) status = look(l, error);
  wb_graph_free(graph);
  return status;
}

int main(int argc, char **argv) {
  if (argc < 2 || argc > 3) {
    fprintf(stderr, "usage: %s INPUT [DEVICE]\n", argv[0]);
    return 2;
  }
  wb_error error = {0};
  wb_tape *tape = NULL;
  loop l = {0};
  wb_status status = wb_tape_read(argv[1], NULL, &tape, &error);
  if (status == WB_OK) {
    status = open_loop(&l, (const wb_tape *const *)&tape, argc > 2 ? argv[2] : "cpu", &error);
  }
  if (status == WB_OK) status = run(&l, &error);
  if (status != WB_OK) fprintf(stderr, "%s\n", error.text);
  wb_kernel_release(l.policy);
  wb_kernel_release(l.advance);
  if (l.env != NULL) {
    wb_device_free(l.device, l.rollout);
    wb_device_free(l.device, l.slot);
  }
  wb_env_destroy(l.env);
  wb_tape_free(tape);
  return status == WB_OK ? 0 : 1;
}

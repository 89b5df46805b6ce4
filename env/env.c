/* An environment's life, its launches, resets and steps. */
#define _POSIX_C_SOURCE 200809L
#include "env/world.h"

#include "env/state.h"
#include "kernels/catalogue.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

wb_status env_report(wb_env *env, wb_status status, const wb_error *own, wb_error *error) {
  if (status == WB_OK) return WB_OK;
  env->last = *own;
  if (error != NULL) *error = *own;
  return status;
}

const char *wb_env_error(const wb_env *env) { return env->last.text; }

/* ---- memory ---- */

int64_t env_element_bytes(env_buffer which) {
  static const wb_element elements[BUFFER_COUNT] = {
#define X(id, name, element, kind, fill) WB_ELEMENT_##element,
      ENV_BUFFERS(X)
#undef X
  };
  return wb_element_bytes(elements[which]);
}

static void measure_buffers(wb_env *env) {
  int64_t a = env->agents;
  int64_t *n = env->lengths;
  n[BUFFER_PARAMETERS] = env->parameters;
  n[BUFFER_SEEDS] = n[BUFFER_NEXT] = 1;
  n[BUFFER_ACTION] = a * env->components;
  n[BUFFER_OBSERVATION] = a * env->features;
  n[BUFFER_FINAL] = env->autoreset == WB_ENV_AUTORESET_SAME_STEP ? a * env->features : 0;
  n[BUFFER_MASK] = a * env->choices;
  n[BUFFER_REWARD] = n[BUFFER_PROFIT] = n[BUFFER_FEES] = a;
  n[BUFFER_TERMINATED] = n[BUFFER_TRUNCATED] = a;
  n[BUFFER_DONE] = n[BUFFER_REASON] = n[BUFFER_ELAPSED] = n[BUFFER_MESSAGES] = 1;
  n[BUFFER_WINDOW] = n[BUFFER_EPISODE] = n[BUFFER_ERRORS] = 1;
  n[BUFFER_STATISTICS] = a * STAT_COUNT;
  n[BUFFER_RING] = (int64_t)env->record_room * 4;
  n[BUFFER_RING_COUNT] = env->record_room > 0;
  n[BUFFER_CHOSEN] = n[BUFFER_STARTS] = 1;
}

/* An operating system may promise memory that it does not have, so what is needed is compared with what
 * the machine has before any of it is touched. */
wb_status env_check_memory(const wb_device *device, const char *field, int32_t count, int64_t each,
                           wb_error *error) {
  wb_device_info info;
  wb_device_describe(device, &info);
  long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  if (!info.host_memory || pages <= 0 || page <= 0) return WB_OK;
  int64_t most = (int64_t)pages * page / each;
  if (count <= most) return WB_OK;
  return WB_FAIL(error, WB_ERROR_MEMORY,
                 "env: %s: expected at most %" PRId64 " (%" PRId64
                 " bytes each in this machine's memory), got %d",
                 field, most, each, count);
}

static wb_status check_batch(const wb_env *env, wb_error *error) {
  int64_t each = env->layout.stride;
  for (int i = 0; i < BUFFER_COUNT; i++) {
    each += env->lengths[i] * env_element_bytes((env_buffer)i);
  }
  return env_check_memory(env->device, "envs", env->envs, each, error);
}

static wb_status allocate_buffers(wb_env *env, wb_error *error) {
  measure_buffers(env);
  WB_TRY(check_batch(env, error));
  for (int i = 0; i < BUFFER_COUNT; i++) {
    void *memory = NULL;
    if (env->lengths[i] == 0) continue;
    size_t bytes = (size_t)env->envs * (size_t)(env->lengths[i] * env_element_bytes((env_buffer)i));
    wb_status status = wb_device_allocate(env->device, bytes, &memory, error);
    if (status != WB_OK) {
      (void)wb_error_prefix(error, "env: buffers of %d environments", env->envs);
      return status;
    }
    env->memory[i] = memory;
  }
  env->observation = (float *)(void *)env->memory[BUFFER_OBSERVATION];
  env->env_stride = env->lengths[BUFFER_OBSERVATION];
  env->slot_count = 1;
  return WB_OK;
}

static wb_status make_slabs(wb_env *env, wb_error *error) {
  void *memory = NULL;
  size_t bytes = (size_t)env->layout.stride;
  env->image = aligned_alloc(WB_SLAB_ALIGNMENT, bytes);
  if (env->image == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for a slab of %zu bytes", bytes);
  }
  wb_status status = wb_device_allocate(env->device, (size_t)env->envs * bytes, &memory, error);
  if (status != WB_OK) {
    (void)wb_error_prefix(error, "env: slabs of %d environments at %zu bytes each", env->envs,
                          bytes);
    return status;
  }
  env->slabs = memory;
  memset(env->image, 0, bytes);
  wb_slab_init(env->layout.book, env->image, &env->rules);
  int64_t *cells =
      (int64_t *)(void *)(env->image +
                          wb_layout_object(env->layout.book->layout, env->layout.env)->offset);
  cells[ENV_EPISODE] = -1;
  for (int32_t e = 0; e < env->envs; e++) {
    WB_TRY(wb_device_write(env->device, env->slabs + (size_t)e * bytes, env->image, bytes, error));
  }
  return WB_OK;
}

static wb_status default_seeds(wb_env *env, wb_error *error) {
  int64_t *seeds = malloc((size_t)env->envs * sizeof *seeds);
  if (seeds == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %d seeds", env->envs);
  }
  for (int32_t e = 0; e < env->envs; e++) seeds[e] = e;
  wb_status status = wb_env_set_seeds(env, seeds, error);
  free(seeds);
  return status;
}

/* ---- kernels ---- */

static double time_of(const wb_kernel_report *report) {
  const wb_kernel_times *t = &report->times;
  return t->passes + t->open + t->translate + t->optimise + t->generate + t->load;
}

static wb_status compile_program(wb_env *env, wb_program *program, wb_kernel **kernel,
                                 wb_error *error) {
  wb_kernel_report report;
  wb_status status = wb_device_compile(env->device, program, &env->options, kernel, &report, error);
  wb_program_free(program);
  if (status == WB_OK) env->compile_seconds += time_of(&report);
  return status;
}

wb_status env_compile(wb_env *env, env_kernel which, wb_error *error) {
  if (env->kernels[which] != NULL) return WB_OK;
  wb_program *program = NULL;
  WB_TRY(env_program(env, which, &program, error));
  return compile_program(env, program, &env->kernels[which], error);
}

static wb_status compile_copy(wb_env *env, env_copy which, wb_error *error) {
  if (env->copies[which] != NULL) return WB_OK;
  wb_program *program = NULL;
  WB_TRY(copy_program(env, which, &program, error));
  return compile_program(env, program, &env->copies[which], error);
}

/* ---- launches ---- */

void env_fill_buffers(const wb_env *env, wb_buffer_argument buffers[BUFFER_COUNT]) {
  const env_data *data = env->data;
  for (int i = 0; i < BUFFER_COUNT; i++) {
    int64_t length = env->memory[i] == NULL ? 0 : env->lengths[i];
    buffers[i] = (wb_buffer_argument){env->memory[i], length, length};
  }
  buffers[BUFFER_RECORDS] = (wb_buffer_argument){data->records, data->record_count * 4, 0};
  buffers[BUFFER_POOL] =
      (wb_buffer_argument){data->pool, data->window_count * data->snapshot_words, 0};
  buffers[BUFFER_WINDOWS] =
      (wb_buffer_argument){data->window_rows, (int64_t)data->window_count * WINDOW_CELLS, 0};
  buffers[BUFFER_CHOICES] = (wb_buffer_argument){env->memory[BUFFER_CHOICES], env->choice_count, 0};
  int64_t seen = (env->envs - 1) * env->env_stride + (env->slot_count - 1) * env->slot_stride +
                 (int64_t)env->agents * env->features;
  buffers[BUFFER_OBSERVATION] = (wb_buffer_argument){env->observation, seen, 0};
  /* kernels read it only */
  buffers[BUFFER_SLOT] =
      (wb_buffer_argument){(void *)(uintptr_t)env->slot, env->slot == NULL ? 0 : 1, 0};
}

static wb_status launch_with(wb_env *env, env_kernel which, int64_t group,
                             const wb_buffer_argument buffers[BUFFER_COUNT], wb_error *error) {
  const int64_t scalars[SCALAR_COUNT] = {
      [SCALAR_RUN_SEED] = (int64_t)env->seed,          [SCALAR_CHOICE_COUNT] = env->choice_count,
      [SCALAR_WINDOW_COUNT] = env->data->window_count, [SCALAR_ENV_STRIDE] = env->env_stride,
      [SCALAR_SLOT_STRIDE] = env->slot_stride,         [SCALAR_SLOTS] = env->slot_count,
      [SCALAR_RING_ROOM] = env->record_room,           [SCALAR_GROUP] = group,
  };
  const wb_launch launch = {.slabs = env->slabs,
                            .slab_stride = env->layout.stride,
                            .books = env->envs,
                            .buffers = buffers,
                            .buffer_count = BUFFER_COUNT,
                            .scalars = scalars,
                            .scalar_count = SCALAR_COUNT};
  return wb_device_launch(env->device, env->kernels[which], &launch, error);
}

wb_status env_launch(wb_env *env, env_kernel which, const uint8_t *mask, const int32_t *starts,
                     wb_error *error) {
  wb_buffer_argument buffers[BUFFER_COUNT];
  WB_TRY(env_compile(env, which, error));
  env_fill_buffers(env, buffers);
  /* kernels read these two only */
  buffers[BUFFER_CHOSEN] =
      (wb_buffer_argument){(void *)(uintptr_t)mask, mask != NULL, mask != NULL};
  buffers[BUFFER_STARTS] =
      (wb_buffer_argument){(void *)(uintptr_t)starts, starts != NULL, starts != NULL};
  return launch_with(env, which, -1, buffers, error);
}

wb_status wb_env_reset(wb_env *env, const uint8_t *mask, const int32_t *windows, wb_error *error) {
  wb_error own;
  wb_status status = env_launch(env, KERNEL_RESET, mask, windows, &own);
  if (status == WB_OK) env->was_reset = true;
  return env_report(env, status, &own, error);
}

wb_status wb_env_step(wb_env *env, wb_error *error) {
  wb_error own;
  wb_status status;
  if (!env->was_reset) {
    status = WB_FAIL(&own, WB_ERROR_STATE, "env: step: expected a reset before the first step");
  } else {
    status = env_launch(env, KERNEL_STEP, NULL, NULL, &own);
  }
  return env_report(env, status, &own, error);
}

wb_status wb_env_truncate(wb_env *env, const uint8_t *mask, wb_error *error) {
  wb_error own;
  return env_report(env, env_launch(env, KERNEL_TRUNCATE, mask, NULL, &own), &own, error);
}

wb_status wb_env_wait(wb_env *env, wb_error *error) {
  wb_error own;
  return env_report(env, wb_device_wait(env->device, &own), &own, error);
}

wb_status wb_env_use_stream(wb_env *env, void *stream, wb_error *error) {
  wb_error own;
  return env_report(env, wb_device_use_stream(env->device, stream, &own), &own, error);
}

static wb_status act(wb_env *env, const char *policy, int32_t group, wb_error *error) {
  int32_t which = POLICIES - 1;
  while (which >= 0 && (policy == NULL || strcmp(wb_env_policy_at(which), policy) != 0)) which--;
  if (which < 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: policy: expected none, random, twap or avellaneda_stoikov, got \"%.60s\"",
                   policy == NULL ? "(null)" : policy);
  }
  WB_TRY(env_check_range("act: group", group, -1, env->group_count - 1, error));
  env_kernel kernel = (env_kernel)(POLICY_FIRST + which);
  bool plays = false;
  for (int32_t g = 0; g < env->group_count; g++) {
    plays |= (group == -1 || group == g) && policy_plays(kernel, &env->groups[g]);
  }
  if (!plays) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: policy %s: no agents here that it can play for: twap plays execution, "
                   "avellaneda_stoikov plays market_making with actions quotes",
                   policy);
  }
  WB_TRY(env_compile(env, kernel, error));
  wb_buffer_argument buffers[BUFFER_COUNT];
  env_fill_buffers(env, buffers);
  return launch_with(env, kernel, group, buffers, error);
}

wb_status wb_env_act(wb_env *env, const char *policy, int32_t group, wb_error *error) {
  wb_error own;
  return env_report(env, act(env, policy, group, &own), &own, error);
}

/* ---- copies of slabs ---- */

static wb_status copy(wb_env *env, env_copy which, const uint8_t *mask, wb_buffer_argument slabs,
                      const wb_buffer_argument *more, int32_t more_count, wb_error *error) {
  WB_TRY(compile_copy(env, which, error));
  wb_buffer_argument buffers[6] = {
      {(void *)(uintptr_t)mask, mask != NULL, mask != NULL},
      {env->memory[BUFFER_ERRORS], 1, 1},
      slabs,
  };
  for (int32_t i = 0; i < more_count; i++) buffers[3 + i] = more[i];
  const int64_t scalars[] = {STATE_MAGIC_VALUE, (int64_t)env->hash.low, (int64_t)env->hash.high,
                             env->envs};
  const wb_launch launch = {.books = env->envs,
                            .buffers = buffers,
                            .buffer_count = 3 + more_count,
                            .scalars = scalars,
                            .scalar_count = which == COPY_CLONE ? 4 : 3};
  return wb_device_launch(env->device, env->copies[which], &launch, error);
}

int64_t wb_env_state_bytes(const wb_env *env) { return STATE_HEADER_BYTES + env->layout.stride; }

static wb_buffer_argument slabs_by_env(const wb_env *env) {
  return (wb_buffer_argument){env->slabs, env->layout.stride / 8, env->layout.stride / 8};
}

static wb_status copy_states(wb_env *env, env_copy which, const uint8_t *mask, void *states,
                             wb_error *error) {
  if (states == NULL || (uintptr_t)states % 8 != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: states: expected device memory aligned to 8 bytes, got %p", states);
  }
  int64_t words = wb_env_state_bytes(env) / 8;
  const wb_buffer_argument state = {states, words, words};
  WB_TRY(copy(env, which, mask, slabs_by_env(env), &state, 1, error));
  if (which == COPY_GET) return WB_OK;
  env->was_reset = true;
  return env_launch(env, KERNEL_OBSERVE, mask, NULL, error);
}

wb_status wb_env_state_get(wb_env *env, const uint8_t *mask, void *states, wb_error *error) {
  wb_error own;
  return env_report(env, copy_states(env, COPY_GET, mask, states, &own), &own, error);
}

wb_status wb_env_state_set(wb_env *env, const uint8_t *mask, const void *states, wb_error *error) {
  wb_error own;
  wb_status status = copy_states(env, COPY_SET, mask, (void *)(uintptr_t)states, &own);
  return env_report(env, status, &own, error);
}

static wb_status clone(wb_env *env, const uint8_t *mask, const int32_t *from, wb_error *error) {
  if (from == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: clone: from: expected a device array, got NULL");
  }
  const wb_buffer_argument slabs = {env->slabs, env->layout.stride / 8 * env->envs, 0};
  const wb_buffer_argument more[] = {
      {(void *)(uintptr_t)mask, mask != NULL ? env->envs : 0, 0},
      {(void *)(uintptr_t)from, 1, 1},
  };
  WB_TRY(copy(env, COPY_CLONE, mask, slabs, more, 2, error));
  return env_launch(env, KERNEL_OBSERVE, mask, NULL, error);
}

wb_status wb_env_clone(wb_env *env, const uint8_t *mask, const int32_t *from, wb_error *error) {
  wb_error own;
  return env_report(env, clone(env, mask, from, &own), &own, error);
}

/* ---- hashes ---- */

static wb_status launch_book_hashes(wb_env *env, void *answer, wb_error *error) {
  if (env->book_hashes == NULL) {
    wb_program *program = NULL;
    WB_TRY(wb_query_program_build(env->layout.book, WB_QUERY_HASHES, &program, error));
    WB_TRY(compile_program(env, program, &env->book_hashes, error));
  }
  const wb_buffer_argument buffer = {answer, 2, 2};
  const int64_t scalars[WB_QUERY_SCALARS] = {0};
  const wb_launch launch = {.slabs = env->slabs,
                            .slab_stride = env->layout.stride,
                            .books = env->envs,
                            .buffers = &buffer,
                            .buffer_count = 1,
                            .scalars = scalars,
                            .scalar_count = WB_QUERY_SCALARS};
  return wb_device_launch(env->device, env->book_hashes, &launch, error);
}

/* Both programs' answers, [N][2] u64: the environment's hash in place of the book's orders' if `own`,
 * the book's state hash behind it. */
static wb_status hash_all(wb_env *env, bool own_too, uint64_t *pairs, wb_error *error) {
  void *answer = NULL;
  size_t bytes = (size_t)env->envs * 2 * sizeof *pairs;
  WB_TRY(env_compile(env, KERNEL_HASH, error));
  WB_TRY(wb_device_allocate(env->device, bytes, &answer, error));
  wb_status status = launch_book_hashes(env, answer, error);
  if (status == WB_OK && own_too) {
    wb_buffer_argument buffers[BUFFER_COUNT];
    env_fill_buffers(env, buffers);
    buffers[BUFFER_RING] = (wb_buffer_argument){answer, 2, 2};
    status = launch_with(env, KERNEL_HASH, -1, buffers, error);
  }
  if (status == WB_OK) status = wb_device_read(env->device, pairs, answer, bytes, error);
  wb_device_free(env->device, answer);
  return status;
}

static wb_status read_hashes(wb_env *env, bool own_too, int32_t first, int32_t count, uint64_t *one,
                             uint64_t *other, wb_error *error) {
  uint64_t *pairs = malloc((size_t)env->envs * 2 * sizeof *pairs);
  if (pairs == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for the hashes of %d environments",
                   env->envs);
  }
  wb_status status = hash_all(env, own_too, pairs, error);
  for (int32_t e = 0; status == WB_OK && e < count; e++) {
    if (one != NULL) one[e] = pairs[2 * (first + e)];
    if (other != NULL) other[e] = pairs[2 * (first + e) + 1];
  }
  free(pairs);
  return status;
}

wb_status wb_env_hashes(wb_env *env, uint64_t *hashes, wb_error *error) {
  wb_error own;
  wb_status status = read_hashes(env, true, 0, env->envs, hashes, NULL, &own);
  return env_report(env, status, &own, error);
}

wb_status wb_env_book_hashes(wb_env *env, int32_t index, uint64_t *book_hash, uint64_t *state_hash,
                             wb_error *error) {
  wb_error own;
  wb_status status = env_check_range("env_index", index, 0, env->envs - 1, &own);
  if (status == WB_OK) {
    status = read_hashes(env, false, index, 1, book_hash, state_hash, &own);
  }
  return env_report(env, status, &own, error);
}

/* ---- life ---- */

/* Everything that two environments must agree on to exchange states. */
static void make_hash(wb_env *env) {
  wb_hasher hasher;
  wb_hasher_start(&hasher);
  wb_hasher_add(&hasher, &env->data->hash, sizeof env->data->hash);
  const int64_t words[] = {env->agents,         env->slots,         env->components, env->levels,
                           (int64_t)env->clock, env->layout.stride, ENV_CELLS,       AGENT_CELLS};
  wb_hasher_add(&hasher, words, sizeof words);
  for (int32_t g = 0; g < env->group_count; g++) {
    const env_group *group = &env->groups[g];
    wb_hasher_add(&hasher, group->task->public.name, strlen(group->task->public.name));
    wb_hasher_add(&hasher, group->space->name, strlen(group->space->name));
    wb_hasher_add(&hasher, &group->count, sizeof group->count);
  }
  env->hash = wb_hasher_end(&hasher);
}

static wb_status open_data(wb_env *env, const wb_env_config *config, wb_error *error) {
  if (config->share == NULL) {
    return env_data_make(config, env->agents * env->slots, &env->data, error);
  }
  wb_device_info own, other;
  wb_device_describe(env->device, &own);
  wb_device_describe(config->share->data->device, &other);
  if (strcmp(own.name, other.name) != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: share: expected an environment on device %s, got one on %s", own.name,
                   other.name);
  }
  env->data = env_data_retain(config->share->data);
  return WB_OK;
}

/* Where nothing can compile, kernels out of a bundle that were made for all that a tape may hold serve
 * as well: bundles are made for these. All later kernels then are of that kind. */
static wb_status compile_first(wb_env *env, wb_error *error) {
  wb_status status = env_compile(env, KERNEL_RESET, error);
  if (status == WB_OK) status = env_compile(env, KERNEL_STEP, error);
  wb_book_features usual = wb_features_usual(WB_FEATURES_REPLAY, &env->rules);
  if (status != WB_ERROR_UNAVAILABLE || !wb_features_cover(&usual, &env->data->features)) {
    return status;
  }
  wb_kernel_release(env->kernels[KERNEL_RESET]);
  env->kernels[KERNEL_RESET] = NULL;
  env_shape_history(env, &usual);
  if (env_compile(env, KERNEL_RESET, NULL) == WB_OK) status = env_compile(env, KERNEL_STEP, NULL);
  return status;
}

static wb_status compile_steps(wb_env *env, wb_error *error) {
  wb_status status = compile_first(env, error);
  if (status != WB_ERROR_UNAVAILABLE) return status;
  return wb_error_prefix(error, "env: kernels for books of %d orders a side", env->rules.capacity);
}

static wb_status open_env(wb_env *env, const wb_env_config *config, wb_error *error) {
  env->envs = config->envs;
  env->seed = config->seed;
  env->options = config->kernel;
  WB_TRY(env_shape_agents(env, config, error));
  WB_TRY(wb_device_open(config->device == NULL ? "cpu" : config->device, &env->device, error));
  WB_TRY(wb_device_set_threads(env->device, config->threads, error));
  WB_TRY(open_data(env, config, error));
  WB_TRY(env_shape_books(env, &env->data->rules, &env->data->features, error));
  make_hash(env);
  WB_TRY(allocate_buffers(env, error));
  WB_TRY(make_slabs(env, error));
  WB_TRY(env_parameters_make(env, config, error));
  WB_TRY(default_seeds(env, error));
  WB_TRY(env_choose_all_windows(env, config, error));
  return compile_steps(env, error);
}

wb_status wb_env_create(const wb_env_config *config, wb_env **out, wb_error *error) {
  *out = NULL;
  WB_TRY(env_check_agents(config, error));
  WB_TRY(env_check_data(config, error));
  wb_env *env = calloc(1, sizeof *env);
  if (env == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory");
  wb_status status = open_env(env, config, error);
  if (status != WB_OK) {
    wb_env_destroy(env);
    return status;
  }
  *out = env;
  return WB_OK;
}

void wb_env_destroy(wb_env *env) {
  if (env == NULL) return;
  for (int i = 0; i < KERNEL_COUNT; i++) wb_kernel_release(env->kernels[i]);
  for (int i = 0; i < COPY_COUNT; i++) wb_kernel_release(env->copies[i]);
  wb_kernel_release(env->book_hashes);
  if (env->device != NULL) {
    (void)wb_device_wait(env->device, NULL);
    for (int i = 0; i < BUFFER_COUNT; i++) wb_device_free(env->device, env->memory[i]);
    wb_device_free(env->device, env->slabs);
    wb_device_close(env->device);
  }
  env_shape_free(env);
  env_data_release(env->data);
  free(env->all_windows);
  free(env->image);
  free(env);
}

const wb_kernel *wb_env_step_kernel(const wb_env *env) { return env->kernels[KERNEL_STEP]; }
double wb_env_compile_seconds(const wb_env *env) { return env->compile_seconds; }
int64_t wb_env_env_bytes(const wb_env *env) { return env->layout.stride; }
int32_t wb_env_agent_count(const wb_env *env) { return env->agents; }
int32_t wb_env_capacity(const wb_env *env) { return env->data->capacity; }
wb_device *wb_env_device(wb_env *env) { return env->device; }
/* what was opened: "auto" becomes the name of a device */
const char *wb_env_device_name(const wb_env *env) {
  wb_device_info info;
  wb_device_describe(env->device, &info);
  return info.name;
}

int32_t wb_env_threads(const wb_env *env) {
  wb_device_info info;
  wb_device_describe(env->device, &info);
  return info.threads;
}

/* Buffers by name: what a user sees of the list of buffers, and copies to and from host memory. */
#include "env/private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Shapes: what the dimensions behind [N] are. */
typedef enum shape { SHAPE_NONE, SHAPE_AGENTS, SHAPE_ACTION, SHAPE_FEATURES, SHAPE_CHOICES } shape;

static const struct public_buffer {
  const char *name;
  env_buffer which;
  wb_env_type type;
  wb_env_role role;
  shape behind;
} list[] = {
    {"action", BUFFER_ACTION, WB_ENV_I32, WB_ENV_ROLE_ACTION, SHAPE_ACTION},
    {"mask", BUFFER_CHOSEN, WB_ENV_U8, WB_ENV_ROLE_ACTION, SHAPE_NONE},
    {"starts", BUFFER_STARTS, WB_ENV_I32, WB_ENV_ROLE_ACTION, SHAPE_NONE},
    {"observation", BUFFER_OBSERVATION, WB_ENV_F32, WB_ENV_ROLE_OBSERVATION, SHAPE_FEATURES},
    {"final_obs", BUFFER_FINAL, WB_ENV_F32, WB_ENV_ROLE_OBSERVATION, SHAPE_FEATURES},
    {"action_mask", BUFFER_MASK, WB_ENV_U8, WB_ENV_ROLE_OBSERVATION, SHAPE_CHOICES},
    {"reward", BUFFER_REWARD, WB_ENV_F32, WB_ENV_ROLE_OUTCOME, SHAPE_AGENTS},
    {"profit", BUFFER_PROFIT, WB_ENV_I64, WB_ENV_ROLE_OUTCOME, SHAPE_AGENTS},
    {"fees", BUFFER_FEES, WB_ENV_I64, WB_ENV_ROLE_OUTCOME, SHAPE_AGENTS},
    {"terminated", BUFFER_TERMINATED, WB_ENV_U8, WB_ENV_ROLE_OUTCOME, SHAPE_AGENTS},
    {"truncated", BUFFER_TRUNCATED, WB_ENV_U8, WB_ENV_ROLE_OUTCOME, SHAPE_AGENTS},
    {"done", BUFFER_DONE, WB_ENV_U8, WB_ENV_ROLE_OUTCOME, SHAPE_NONE},
    {"reason", BUFFER_REASON, WB_ENV_I32, WB_ENV_ROLE_OUTCOME, SHAPE_NONE},
    {"elapsed", BUFFER_ELAPSED, WB_ENV_I64, WB_ENV_ROLE_OUTCOME, SHAPE_NONE},
    {"messages", BUFFER_MESSAGES, WB_ENV_I32, WB_ENV_ROLE_OUTCOME, SHAPE_NONE},
    {"window", BUFFER_WINDOW, WB_ENV_I32, WB_ENV_ROLE_OUTCOME, SHAPE_NONE},
    {"episode", BUFFER_EPISODE, WB_ENV_I32, WB_ENV_ROLE_OUTCOME, SHAPE_NONE},
    {"errors", BUFFER_ERRORS, WB_ENV_I32, WB_ENV_ROLE_STATE, SHAPE_NONE},
    {"seeds", BUFFER_SEEDS, WB_ENV_I64, WB_ENV_ROLE_STATE, SHAPE_NONE},
    {"next_episode", BUFFER_NEXT, WB_ENV_I32, WB_ENV_ROLE_STATE, SHAPE_NONE},
};

enum { FIXED = sizeof list / sizeof list[0] };

int32_t wb_env_buffer_count(const wb_env *env) { return FIXED + env->parameters; }

/* The type of every group's actions, if they agree; bits otherwise. */
static wb_env_type action_type(const wb_env *env) {
  wb_env_type type = env->groups[0].space->type;
  for (int32_t g = 1; g < env->group_count; g++) {
    if (env->groups[g].space->type != type) return WB_ENV_I32;
  }
  return type;
}

static void describe_fixed(wb_env *env, int32_t index, wb_env_buffer *b) {
  const struct public_buffer *from = &list[index];
  const int64_t behind[] = {[SHAPE_NONE] = 1,
                            [SHAPE_AGENTS] = env->agents,
                            [SHAPE_ACTION] = env->components,
                            [SHAPE_FEATURES] = env->features,
                            [SHAPE_CHOICES] = env->choices};
  memset(b, 0, sizeof *b);
  b->name = from->name;
  b->data = env->memory[from->which];
  b->type = from->which == BUFFER_ACTION ? action_type(env) : from->type;
  b->role = from->role;
  b->shape[0] = env->envs;
  b->dimensions = from->behind == SHAPE_NONE ? 1 : from->behind == SHAPE_AGENTS ? 2 : 3;
  if (b->dimensions > 1) b->shape[1] = env->agents;
  if (b->dimensions > 2) b->shape[2] = behind[from->behind];
  int64_t stride = 1;
  for (int32_t d = b->dimensions - 1; d >= 0; d--) {
    b->strides[d] = stride;
    stride *= b->shape[d];
  }
  if (from->behind == SHAPE_FEATURES) b->features = (const char *const *)env->feature_names;
}

static void describe_parameter(wb_env *env, int32_t index, wb_env_buffer *b) {
  memset(b, 0, sizeof *b);
  b->name = env->names[index];
  b->data = env->memory[BUFFER_PARAMETERS] + 4 * (size_t)index;
  b->type = env->descriptions[index]->type;
  b->role = WB_ENV_ROLE_PARAMETER;
  b->dimensions = 1;
  b->shape[0] = env->envs;
  b->strides[0] = env->parameters;
}

wb_status wb_env_buffer_at(wb_env *env, int32_t index, wb_env_buffer *buffer, wb_error *error) {
  int32_t count = wb_env_buffer_count(env);
  if (index < 0 || index >= count) {
    wb_error own;
    (void)WB_FAIL(&own, WB_ERROR_ARGUMENT, "env: buffer: expected 0 to %d, got %d", count - 1,
                  index);
    return env_report(env, WB_ERROR_ARGUMENT, &own, error);
  }
  if (index < FIXED) {
    describe_fixed(env, index, buffer);
  } else {
    describe_parameter(env, index - FIXED, buffer);
  }
  return WB_OK;
}

wb_status wb_env_buffer_find(wb_env *env, const char *name, wb_env_buffer *buffer,
                             wb_error *error) {
  for (int32_t i = 0; name != NULL && i < wb_env_buffer_count(env); i++) {
    (void)wb_env_buffer_at(env, i, buffer, NULL);
    if (strcmp(buffer->name, name) == 0) return WB_OK;
  }
  wb_error own;
  (void)WB_FAIL(&own, WB_ERROR_ARGUMENT, "env: buffer: there is none named \"%.60s\"",
                name == NULL ? "(null)" : name);
  return env_report(env, WB_ERROR_ARGUMENT, &own, error);
}

/* ---- copies ---- */

static size_t bytes_of(const wb_env_buffer *b) {
  size_t bytes = b->type == WB_ENV_U8 ? 1 : b->type == WB_ENV_I64 ? 8 : 4;
  for (int32_t d = 0; d < b->dimensions; d++) bytes *= (size_t)b->shape[d];
  return bytes;
}

static wb_status check_bytes(const wb_env_buffer *b, size_t bytes, wb_error *error) {
  if (bytes == bytes_of(b)) return WB_OK;
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: buffer %s: expected %zu bytes, got %zu", b->name,
                 bytes_of(b), bytes);
}

/* Parameters lie strided: all of them are copied, and one column moved. */
static wb_status move_column(wb_env *env, const wb_env_buffer *b, void *to, const void *from,
                             wb_error *error) {
  size_t stride = (size_t)env->parameters * 4, bytes = (size_t)env->envs * stride;
  size_t column = (size_t)((unsigned char *)b->data - env->memory[BUFFER_PARAMETERS]);
  unsigned char *all = malloc(bytes);
  if (all == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %zu bytes", bytes);
  wb_status status = wb_device_read(env->device, all, env->memory[BUFFER_PARAMETERS], bytes, error);
  for (int32_t e = 0; status == WB_OK && e < env->envs; e++) {
    unsigned char *cell = all + (size_t)e * stride + column;
    if (to != NULL) memcpy((unsigned char *)to + 4 * (size_t)e, cell, 4);
    if (from != NULL) memcpy(cell, (const unsigned char *)from + 4 * (size_t)e, 4);
  }
  if (status == WB_OK && from != NULL) {
    status = wb_device_write(env->device, env->memory[BUFFER_PARAMETERS], all, bytes, error);
  }
  free(all);
  return status;
}

static wb_status read_buffer(wb_env *env, const char *name, void *to, size_t bytes,
                             wb_error *error) {
  wb_env_buffer b = {0};
  WB_TRY(wb_env_buffer_find(env, name, &b, error));
  WB_TRY(check_bytes(&b, bytes, error));
  if (b.data == NULL) {
    return WB_FAIL(error, WB_ERROR_STATE, "env: buffer %s: not kept with this autoreset", name);
  }
  if (b.role == WB_ENV_ROLE_PARAMETER) return move_column(env, &b, to, NULL, error);
  return wb_device_read(env->device, to, b.data, bytes, error);
}

static wb_status write_buffer(wb_env *env, const char *name, const void *from, size_t bytes,
                              wb_error *error) {
  wb_env_buffer b = {0};
  WB_TRY(wb_env_buffer_find(env, name, &b, error));
  WB_TRY(check_bytes(&b, bytes, error));
  if (b.role == WB_ENV_ROLE_OBSERVATION || b.role == WB_ENV_ROLE_OUTCOME) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: buffer %s: written by steps only", name);
  }
  if (b.role == WB_ENV_ROLE_PARAMETER) return move_column(env, &b, NULL, from, error);
  return wb_device_write(env->device, b.data, from, bytes, error);
}

wb_status wb_env_read(wb_env *env, const char *name, void *to, size_t bytes, wb_error *error) {
  wb_error own;
  return env_report(env, read_buffer(env, name, to, bytes, &own), &own, error);
}

wb_status wb_env_write(wb_env *env, const char *name, const void *from, size_t bytes,
                       wb_error *error) {
  wb_error own;
  return env_report(env, write_buffer(env, name, from, bytes, &own), &own, error);
}

/* ---- a rollout ---- */

/* Whether rows of environments and slots lie apart: slot by slot, or environment by environment. */
static bool is_rollout(int64_t row, int64_t envs, int64_t env_stride, int64_t slots,
                       int64_t slot_stride) {
  const int64_t most = INT64_C(1) << 60; /* elements; sums stay far inside i64 */
  if (env_stride < row || env_stride > most / envs || slots < 1) return false;
  if (slots == 1) return slot_stride >= 0 && slot_stride <= most;
  if (slot_stride < row || slot_stride > most / slots) return false;
  return slot_stride >= (envs - 1) * env_stride + row ||
         env_stride >= (slots - 1) * slot_stride + row;
}

static wb_status observe_into(wb_env *env, float *data, int64_t env_stride, int64_t slot_stride,
                              const int32_t *slot, int32_t slots, wb_error *error) {
  int64_t row = (int64_t)env->agents * env->features;
  if (data == NULL) {
    env->observation = (float *)(void *)env->memory[BUFFER_OBSERVATION];
    env->env_stride = row;
    env->slot_stride = 0;
    env->slot = NULL;
    env->slot_count = 1;
    return WB_OK;
  }
  if (!is_rollout(row, env->envs, env_stride, slots, slot_stride)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: observe_into: expected env_stride of at least %" PRId64
                   " and slots that do not overlap, got %" PRId64 ", slot_stride %" PRId64
                   " and %d slots",
                   row, env_stride, slot_stride, slots);
  }
  env->observation = data;
  env->env_stride = env_stride;
  env->slot_stride = slot_stride;
  env->slot = slot;
  env->slot_count = slots;
  return WB_OK;
}

wb_status wb_env_observe_into(wb_env *env, float *data, int64_t env_stride, int64_t slot_stride,
                              const int32_t *slot, int32_t slots, wb_error *error) {
  wb_error own;
  wb_status status = observe_into(env, data, env_stride, slot_stride, slot, slots, &own);
  return env_report(env, status, &own, error);
}

wb_status wb_env_clear_errors(wb_env *env, wb_error *error) {
  wb_error own;
  wb_status status = wb_device_fill(env->device, env->memory[BUFFER_ERRORS], 0,
                                    (size_t)env->envs * sizeof(int32_t), &own);
  return env_report(env, status, &own, error);
}

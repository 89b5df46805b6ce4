/* Parameters, seeds and windows: what a user may change between steps.
 *
 * All parameters of one environment lie together, 4 bytes each, [N][P] on the device. */
#include "env/world.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ---- */

static uint32_t bits_of(const wb_env_parameter *p, double number) {
  uint32_t bits;
  if (p->type == WB_ENV_I32) {
    int32_t whole = (int32_t)number;
    memcpy(&bits, &whole, sizeof bits);
  } else {
    float real = (float)number;
    memcpy(&bits, &real, sizeof bits);
  }
  return bits;
}

static wb_status check_value(const wb_env_parameter *p, double given, wb_error *error) {
  bool whole = p->type != WB_ENV_I32 || given == floor(given);
  if (given >= p->least && given <= p->most && whole) return WB_OK;
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: parameter %s: expected %s from %g to %g, got %g",
                 p->name, p->type == WB_ENV_I32 ? "a whole number" : "a number", p->least, p->most,
                 given);
}

/* "name", or "2.name" for group 2; environment's own ones have no group. */
static bool is_meant(const wb_env *env, int32_t index, const char *name) {
  const char *plain = env->descriptions[index]->name;
  return strcmp(name, plain) == 0 || strcmp(name, env->names[index]) == 0;
}

static wb_status set_column(wb_env *env, int32_t index, const double *values, int32_t count,
                            wb_error *error) {
  const wb_env_parameter *p = env->descriptions[index];
  uint32_t *bits = malloc((size_t)env->envs * sizeof *bits);
  if (bits == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %d values", env->envs);
  }
  for (int32_t e = 0; e < env->envs; e++) bits[e] = bits_of(p, values[count == 1 ? 0 : e]);
  wb_status status = wb_env_write(env, env->names[index], bits, (size_t)env->envs * 4, error);
  free(bits);
  return status;
}

static wb_status set_parameter(wb_env *env, const char *name, const double *values, int32_t count,
                               wb_error *error) {
  if (name == NULL || values == NULL || (count != 1 && count != env->envs)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: parameter %.60s: expected 1 or %d values, got %d",
                   name == NULL ? "(null)" : name, env->envs, values == NULL ? 0 : count);
  }
  bool found = false;
  for (int32_t i = 0; i < env->parameters; i++) {
    if (!is_meant(env, i, name)) continue;
    found = true;
    for (int32_t v = 0; v < count; v++) {
      WB_TRY(check_value(env->descriptions[i], values[v], error));
    }
  }
  if (!found) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: parameter: no task here has one named \"%.60s\"",
                   name);
  }
  for (int32_t i = 0; i < env->parameters; i++) {
    if (is_meant(env, i, name)) WB_TRY(set_column(env, i, values, count, error));
  }
  return WB_OK;
}

wb_status wb_env_set_parameter(wb_env *env, const char *name, const double *values, int32_t count,
                               wb_error *error) {
  wb_error own;
  return env_report(env, set_parameter(env, name, values, count, &own), &own, error);
}

/* ---- the list ---- */

static void describe(wb_env *env, int32_t i, const wb_env_parameter *p, const char *prefix) {
  env->descriptions[i] = p;
  (void)snprintf(env->names[i], WB_ENV_NAME_BYTES, "%s%s", prefix, p->name);
}

wb_status env_parameters_list(wb_env *env, wb_error *error) {
  int32_t count;
  const wb_env_parameter *common = wb_env_common_parameters(&count);
  env->descriptions = calloc((size_t)env->parameters, sizeof *env->descriptions);
  env->names = calloc((size_t)env->parameters, sizeof *env->names);
  if (env->descriptions == NULL || env->names == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %d parameters", env->parameters);
  }
  for (int32_t i = 0; i < count; i++) describe(env, i, &common[i], "");
  for (int32_t g = 0; g < env->group_count; g++) {
    char prefix[16];
    (void)snprintf(prefix, sizeof prefix, "%d.", g);
    const wb_env_task *task = &env->groups[g].task->public;
    for (int32_t i = 0; i < task->parameter_count; i++) {
      describe(env, env->groups[g].parameters + i, &task->parameters[i], prefix);
    }
  }
  return WB_OK;
}

/* ---- first values ---- */

static void first_values(const wb_env *env, const wb_env_config *config, uint32_t *bits) {
  const double given[] = {
      [COMMON_MESSAGES_PER_STEP] = config->messages_per_step,
      [COMMON_STEP_MS] = config->step_ms,
      [COMMON_EPISODE_MESSAGES] = config->episode_messages,
      [COMMON_EPISODE_SECONDS] = config->episode_seconds,
  };
  const int32_t in_config = sizeof given / sizeof given[0];
  for (int32_t i = 0; i < env->parameters; i++) {
    const wb_env_parameter *p = env->descriptions[i];
    bits[i] = bits_of(p, i < in_config ? given[i] : p->value);
  }
}

wb_status env_parameters_make(wb_env *env, const wb_env_config *config, wb_error *error) {
  size_t count = (size_t)env->parameters;
  uint32_t *bits = malloc((size_t)env->envs * count * sizeof *bits);
  if (bits == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %d parameters of %d environments",
                   env->parameters, env->envs);
  }
  first_values(env, config, bits);
  for (int32_t e = 1; e < env->envs; e++) {
    memcpy(bits + (size_t)e * count, bits, count * sizeof *bits);
  }
  wb_status status = wb_device_write(env->device, env->memory[BUFFER_PARAMETERS], bits,
                                     (size_t)env->envs * count * sizeof *bits, error);
  free(bits);
  return status;
}

/* ---- seeds ---- */

/* New seeds begin at episode 0. */
wb_status wb_env_set_seeds(wb_env *env, const int64_t *seeds, wb_error *error) {
  wb_error own;
  size_t count = (size_t)env->envs;
  wb_status status = WB_OK;
  if (seeds == NULL) {
    status = WB_FAIL(&own, WB_ERROR_ARGUMENT, "env: seeds: expected %d, got NULL", env->envs);
  }
  if (status == WB_OK) {
    status =
        wb_device_write(env->device, env->memory[BUFFER_SEEDS], seeds, count * sizeof *seeds, &own);
  }
  if (status == WB_OK) {
    status =
        wb_device_fill(env->device, env->memory[BUFFER_NEXT], 0, count * sizeof(int32_t), &own);
  }
  return env_report(env, status, &own, error);
}

/* ---- windows ---- */

int32_t wb_env_window_count(const wb_env *env) { return env->data->window_count; }

static wb_status check_window(const wb_env *env, int32_t index, wb_error *error) {
  int32_t count = env->data->window_count;
  if (index >= 0 && index < count) return WB_OK;
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: window: expected 0 to %d, got %d", count - 1,
                 index);
}

wb_status wb_env_window_at(const wb_env *env, int32_t index, wb_env_window *window,
                           wb_error *error) {
  WB_TRY(check_window(env, index, error));
  *window = env->data->windows[index];
  return WB_OK;
}

static wb_status put_choices(wb_env *env, const int32_t *windows, int32_t count, wb_error *error) {
  void *memory = NULL;
  if (env->memory[BUFFER_CHOICES] == NULL) {
    size_t room = (size_t)env->data->window_count * sizeof *windows;
    WB_TRY(wb_device_allocate(env->device, room, &memory, error));
    env->memory[BUFFER_CHOICES] = memory;
  }
  env->choice_count = count;
  WB_TRY(wb_device_wait(env->device, error));
  return wb_device_write(env->device, env->memory[BUFFER_CHOICES], windows,
                         (size_t)count * sizeof *windows, error);
}

static bool fits(const wb_env *env, const wb_env_config *config, int32_t index) {
  const wb_env_window *w = &env->data->windows[index];
  if (config->split >= 0 && env->data->window_splits[index] != config->split) return false;
  if (config->short_windows) return true;
  int64_t end_ns = w->time_ns + config->episode_seconds * INT64_C(1000000000);
  return w->messages >= config->episode_messages && env->data->window_ends[index] >= end_ns;
}

wb_status env_choose_all_windows(wb_env *env, const wb_env_config *config, wb_error *error) {
  int32_t count = 0;
  env->all_windows = malloc((size_t)env->data->window_count * sizeof *env->all_windows);
  if (env->all_windows == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %d windows",
                   env->data->window_count);
  }
  for (int32_t i = 0; i < env->data->window_count; i++) {
    if (fits(env, config, i)) env->all_windows[count++] = i;
  }
  env->all_window_count = count;
  if (count == 0) {
    return WB_FAIL(
        error, WB_ERROR_ARGUMENT,
        "env: windows: none of %d (split %d) has room for an episode of %d messages and %d seconds: "
        "make episodes shorter (episode_messages), or set short_windows",
        env->data->window_count, config->split, config->episode_messages, config->episode_seconds);
  }
  return put_choices(env, env->all_windows, count, error);
}

static wb_status choose_windows(wb_env *env, const int32_t *windows, int32_t count,
                                wb_error *error) {
  if (windows == NULL) return put_choices(env, env->all_windows, env->all_window_count, error);
  if (count < 1 || count > env->data->window_count) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: windows: expected 1 to %d of them, got %d",
                   env->data->window_count, count);
  }
  for (int32_t i = 0; i < count; i++) WB_TRY(check_window(env, windows[i], error));
  return put_choices(env, windows, count, error);
}

wb_status wb_env_choose_windows(wb_env *env, const int32_t *windows, int32_t count,
                                wb_error *error) {
  wb_error own;
  return env_report(env, choose_windows(env, windows, count, &own), &own, error);
}

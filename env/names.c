/* Names: features, ends, errors, tasks, policies. */
#include "env/features.h"
#include "env/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const level_names[FEATURES_OF_LEVEL] = {"bid_price", "bid_size", "ask_price",
                                                           "ask_size"};
static const char *const market_names[MARKET_FEATURES] = {
    "spread",         "imbalance", "mid_change", "mid_change_episode",
    "volume",         "vwap",      "last_price", "last_size",
    "last_direction", "trading",   "elapsed",    "step_seconds"};
static const char *const own_names[OWN_FEATURES] = {"inventory", "remaining", "direction", "active",
                                                    "value"};
static const char *const slot_names[FEATURES_OF_SLOT] = {"side", "price", "size", "ahead"};

/* One block: the array of pointers, then the texts. */
char **wb_env_feature_names(int32_t levels, int32_t slots, int32_t *count) {
  int32_t total =
      levels * FEATURES_OF_LEVEL + MARKET_FEATURES + OWN_FEATURES + slots * FEATURES_OF_SLOT;
  *count = total;
  size_t pointers = (size_t)total * sizeof(char *);
  char **list = malloc(pointers + (size_t)total * WB_ENV_NAME_BYTES);
  if (list == NULL) return NULL;
  char *text = (char *)list + pointers;
  int32_t n = 0;
  for (; n < total; n++, text += WB_ENV_NAME_BYTES) {
    int32_t i = n;
    list[n] = text;
    if (i < levels * FEATURES_OF_LEVEL) {
      (void)snprintf(text, WB_ENV_NAME_BYTES, "%s_%d", level_names[i % FEATURES_OF_LEVEL],
                     i / FEATURES_OF_LEVEL + 1);
      continue;
    }
    i -= levels * FEATURES_OF_LEVEL;
    if (i < MARKET_FEATURES) {
      (void)snprintf(text, WB_ENV_NAME_BYTES, "%s", market_names[i]);
      continue;
    }
    i -= MARKET_FEATURES;
    if (i < OWN_FEATURES) {
      (void)snprintf(text, WB_ENV_NAME_BYTES, "%s", own_names[i]);
      continue;
    }
    i -= OWN_FEATURES;
    (void)snprintf(text, WB_ENV_NAME_BYTES, "slot_%d_%s", i / FEATURES_OF_SLOT,
                   slot_names[i % FEATURES_OF_SLOT]);
  }
  return list;
}

/* The enumerators' own names, in lower case, as texts that live for ever. */
const char *wb_env_end_name(wb_env_end end) {
  static const char *const names[WB_ENV_END_COUNT] = {"none",  "task",     "window", "data",
                                                      "empty", "capacity", "limit",  "user"};
  return (int)end >= 0 && end < WB_ENV_END_COUNT ? names[end] : "unknown";
}

const char *wb_env_error_name(int32_t index) {
  static const char *const names[WB_ENV_ERROR_COUNT] = {
      "not_reset", "past_end", "window", "action",  "nan",   "parameter",
      "state",     "source",   "slot",   "records", "kernel"};
  return index >= 0 && index < WB_ENV_ERROR_COUNT ? names[index] : "unknown";
}

/* ---- tasks ---- */

static const env_task *const tasks[] = {&wb_task_execution, &wb_task_market_making};
enum { TASKS = sizeof tasks / sizeof tasks[0] };

int32_t wb_env_task_count(void) { return TASKS; }

const wb_env_task *wb_env_task_at(int32_t index) {
  return index >= 0 && index < TASKS ? &tasks[index]->public : NULL;
}

const env_task *env_task_find(const char *name) {
  for (int i = 0; name != NULL && i < TASKS; i++) {
    if (strcmp(tasks[i]->public.name, name) == 0) return tasks[i];
  }
  return NULL;
}

const wb_env_task *wb_env_task_find(const char *name) {
  const env_task *task = env_task_find(name);
  return task == NULL ? NULL : &task->public;
}

static const char *const policies[POLICIES] = {"none", "random", "twap", "avellaneda_stoikov"};

int32_t wb_env_policy_count(void) { return POLICIES; }

const char *wb_env_policy_at(int32_t index) {
  return index >= 0 && index < POLICIES ? policies[index] : NULL;
}

static const wb_env_parameter common[COMMON_PARAMETERS] = {
#define X(id, name, unit, type, value, least, most, meaning) \
  {name, unit, meaning, WB_ENV_##type, value, least, most},
    ENV_COMMON_PARAMETERS(X)
#undef X
};

const wb_env_parameter *wb_env_common_parameters(int32_t *count) {
  *count = COMMON_PARAMETERS;
  return common;
}

/* What an environment is before it has memory or data: its configuration checked, groups of agents,
 * the slab's layout, the list of parameters. Programs are recorded from this alone, so that they can
 * be built ahead of time (catalogue.c) from a configuration without a day to run on. */
#include "env/world.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

wb_env_config wb_env_config_default(void) {
  wb_env_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.device = "cpu";
  config.envs = 1;
  config.rules = wb_book_rules_default();
  config.snapshot_messages = 1000;
  config.messages_per_step = 100;
  config.step_ms = 1000;
  config.episode_messages = 5000;
  config.levels = 10;
  return config;
}

/* ---- checking a configuration ---- */

wb_status env_check_range(const char *field, int64_t given, int64_t least, int64_t most,
                          wb_error *error) {
  if (given >= least && given <= most) return WB_OK;
  return WB_FAIL(error, WB_ERROR_ARGUMENT,
                 "env: %s: expected %" PRId64 " to %" PRId64 ", got %" PRId64, field, least, most,
                 given);
}

wb_status env_check_agents(const wb_env_config *c, wb_error *error) {
  if (c->size != sizeof *c) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: config.size: expected %zu (use wb_env_config_default), got %zu", sizeof *c,
                   c->size);
  }
  const struct {
    const char *field;
    int64_t given, least, most;
  } ranges[] = {
      {"envs", c->envs, 1, WB_ENV_ENVS_MAX},
      {"levels", c->levels, 0, WB_ENV_LEVELS_MAX},
      {"agent_groups", c->agent_groups, 1, WB_ENV_GROUPS_MAX},
      {"clock", (int64_t)c->clock, 0, WB_ENV_CLOCK_FILL},
      {"autoreset", (int64_t)c->autoreset, 0, WB_ENV_AUTORESET_DISABLED},
      {"windows", (int64_t)c->windows, 0, WB_ENV_WINDOWS_SEQUENTIAL},
      {"record_room", c->record_room, 0, 1 << 24},
      {"messages_per_step", c->messages_per_step, 1, 1000000000},
      {"step_ms", c->step_ms, 1, 86400000},
      {"episode_messages", c->episode_messages, 0, 2000000000},
      {"episode_seconds", c->episode_seconds, 0, 86400},
  };
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
    WB_TRY(
        env_check_range(ranges[i].field, ranges[i].given, ranges[i].least, ranges[i].most, error));
  }
  if (c->agents == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: agents: expected %d groups, got NULL",
                   c->agent_groups);
  }
  return WB_OK;
}

wb_status env_check_data(const wb_env_config *c, wb_error *error) {
  if (c->share != NULL) return WB_OK;
  if (c->tapes == NULL || c->tape_count < 1) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: tapes: expected at least 1, got %d",
                   c->tapes == NULL ? 0 : c->tape_count);
  }
  WB_TRY(wb_book_rules_check(&c->rules, error));
  if (c->snapshot_seconds < 0 || (c->snapshot_seconds == 0 && c->snapshot_messages < 1)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: snapshot_messages or snapshot_seconds: expected at least 1, got %d and %d",
                   c->snapshot_messages, c->snapshot_seconds);
  }
  if (c->from_ns < 0 || c->to_ns < 0 || (c->to_ns > 0 && c->to_ns <= c->from_ns)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: from_ns and to_ns: expected 0 <= from < to, or to 0, got %" PRId64
                   " and %" PRId64,
                   c->from_ns, c->to_ns);
  }
  return WB_OK;
}

/* ---- agents ---- */

static wb_status find_space(const wb_env_task *task, const char *name, int32_t group,
                            const wb_env_action_space **out, wb_error *error) {
  for (int32_t i = 0; i < task->action_space_count; i++) {
    if (name == NULL || strcmp(task->action_spaces[i].name, name) == 0) {
      *out = &task->action_spaces[i];
      return WB_OK;
    }
  }
  char names[256] = "";
  for (int32_t i = 0; i < task->action_space_count; i++) {
    size_t used = strlen(names);
    (void)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ",
                   task->action_spaces[i].name);
  }
  return WB_FAIL(error, WB_ERROR_ARGUMENT,
                 "env: agents[%d].actions: expected one of %s, got \"%.60s\"", group, names, name);
}

wb_status env_shape_agents(wb_env *env, const wb_env_config *config, wb_error *error) {
  env->levels = config->levels;
  env->clock = config->clock;
  env->autoreset = config->autoreset;
  env->windows = config->windows;
  env->record_room = config->record_room;
  env->group_count = config->agent_groups;
  env->parameters = COMMON_PARAMETERS;
  for (int32_t g = 0; g < config->agent_groups; g++) {
    const wb_env_agents *given = &config->agents[g];
    env_group *group = &env->groups[g];
    group->task = env_task_find(given->task);
    if (group->task == NULL) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT,
                     "env: agents[%d].task: expected execution or market_making, got \"%.60s\"", g,
                     given->task == NULL ? "(null)" : given->task);
    }
    WB_TRY(find_space(&group->task->public, given->actions, g, &group->space, error));
    WB_TRY(env_check_range("agents: count", given->count, 1, WB_ENV_AGENTS_MAX, error));
    group->first = env->agents;
    group->count = given->count;
    group->parameters = env->parameters;
    env->agents += given->count;
    env->parameters += group->task->public.parameter_count;
    const wb_env_action_space *space = group->space;
    if (space->components > env->components) env->components = space->components;
    int32_t choices = space->choices > 0 ? space->choices : 1;
    if (choices > env->choices) env->choices = choices;
    if (group->task->public.slots > env->slots) env->slots = group->task->public.slots;
  }
  return env_check_range("agents in all groups", env->agents, 1, WB_ENV_AGENTS_MAX, error);
}

/* What agents' messages may be: the plain types, marked so only where the slots' space allows it. */
static wb_book_features features_of_orders(const wb_env *env) {
  wb_book_features f = wb_features_none(&env->rules);
  f.types = 1u << WB_RECORD_ADD | 1u << WB_RECORD_MARKET | 1u << WB_RECORD_REDUCE |
            1u << WB_RECORD_DELETE;
  f.flags = WB_FLAG_SIDE;
  for (int32_t g = 0; g < env->group_count; g++) {
    if (strcmp(env->groups[g].space->name, "slots") == 0) {
      f.flags |= WB_FLAG_IOC | WB_FLAG_POST_ONLY;
    }
  }
  f.agents = true;
  f.states = env->history.states;
  f.unique_refs = true;
  return f;
}

/* ---- books ---- */

void env_shape_history(wb_env *env, const wb_book_features *history) {
  env->history = *history;
  env->history.agents = true;
  env->history.trades = WB_TRADES_NONE;
  env->orders = features_of_orders(env);
}

wb_status env_shape_books(wb_env *env, const wb_book_rules *rules, const wb_book_features *history,
                          wb_error *error) {
  env->rules = *rules;
  env_shape_history(env, history);
  WB_TRY(env_layout_make(&env->layout, rules->capacity, env->agents, env->slots, error));
  env->feature_names = wb_env_feature_names(env->levels, env->slots, &env->features);
  if (env->feature_names == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for the features' names");
  }
  return env_parameters_list(env, error);
}

void env_shape_free(wb_env *env) {
  env_layout_free(&env->layout);
  free(env->descriptions);
  free(env->names);
  free(env->feature_names);
}

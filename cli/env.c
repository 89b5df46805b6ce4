/* warpbook env: what environments there are, and running one with a built-in policy. */
#include "agents.h"
#include "common.h"
#include "input.h"
#include "text.h"

#include "base/hash.h"
#include "base/progress.h"
#include "data/input.h"
#include "env/env.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FILES = 64, MOST_SETTINGS = 64, MOST_POLICIES = 8, NAME_BYTES = 64 };

enum {
  KEY_DATA = 0x400,
  KEY_ENVS,
  KEY_STEPS,
  KEY_PER_STEP,
  KEY_STEP_MS,
  KEY_EPISODE,
  KEY_SNAPSHOT,
  KEY_SHORT,
  KEY_LEVELS,
  KEY_SET,
  KEY_POLICY,
  KEY_DEVICE,
  KEY_THREADS,
  KEY_SEED,
  KEY_JSON
};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Running:", 1},
    {"data", KEY_DATA, "INPUT", 0, "a day to run on; give it again for more days", 1},
    {"envs", KEY_ENVS, "N", 0, "environments in the batch; default 64", 1},
    {"steps", KEY_STEPS, "M", 0, "steps of the batch; default 1000", 1},
    {"messages-per-step", KEY_PER_STEP, "K", 0, "messages from a decision to the next; default 100",
     1},
    {"step-ms", KEY_STEP_MS, "MS", 0, "decide by market time instead, every so many milliseconds",
     1},
    {"episode-messages", KEY_EPISODE, "K", 0, "messages of an episode; default 5000", 1},
    {"snapshot-messages", KEY_SNAPSHOT, "K", 0,
     "episodes can start at every so many messages; default 1000", 1},
    {"short-windows", KEY_SHORT, NULL, 0,
     "episodes can also start where a day ends before they do, and end with it", 1},
    {"levels", KEY_LEVELS, "L", 0, "price levels observed on each side; default 10", 1},
    {"set", KEY_SET, "NAME=VALUE", 0,
     "set a parameter, or of one group of agents as 1.NAME=VALUE; see describe", 1},
    {"policy", KEY_POLICY, "NAME[+NAME]", 0,
     "none, random, twap or avellaneda_stoikov; each plays for the agents that it knows, the others "
     "do nothing; default random",
     1},
    {"device", KEY_DEVICE, "NAME", 0,
     "where to run: cpu (default), cuda, cuda:1, .., or auto: a GPU if there is one", 1},
    {"threads", KEY_THREADS, "T", 0, "CPU threads; default all", 1},
    {"seed", KEY_SEED, "S", 0, "of the run; default 0", 1},
    {"json", KEY_JSON, NULL, 0, "print the result as JSON", 1},
    {0},
};

typedef struct setting {
  char name[NAME_BYTES];
  double value;
} setting;

typedef struct arguments {
  const char *verb, *task; /* task NULL: none given */
  const char *files[MOST_FILES];
  int32_t file_count;
  setting settings[MOST_SETTINGS];
  int32_t setting_count;
  const char *policies;
  wb_env_config config;
  int64_t steps;
  bool json;
} arguments;

/* ---- the line ---- */

static void add_setting(arguments *line, const struct argp_state *state, const char *text) {
  const char *equals = strchr(text, '=');
  char *end = NULL;
  if (equals == NULL || equals == text || equals - text >= NAME_BYTES) {
    argp_error(state, "--set: expected NAME=VALUE, got \"%s\"", text);
    return;
  }
  if (line->setting_count == MOST_SETTINGS) {
    argp_error(state, "--set: expected at most %d", MOST_SETTINGS);
    return;
  }
  setting *one = &line->settings[line->setting_count++];
  memcpy(one->name, text, (size_t)(equals - text));
  one->name[equals - text] = '\0';
  one->value = strtod(equals + 1, &end);
  if (end == equals + 1 || *end != '\0' || isspace((unsigned char)equals[1])) {
    argp_error(state, "--set: %s: expected a number, got \"%s\"", one->name, equals + 1);
  }
}

static void add_argument(arguments *line, const struct argp_state *state, const char *text) {
  if (state->arg_num == 0) {
    line->verb = text;
  } else if (state->arg_num == 1) {
    line->task = text;
  } else {
    argp_error(state, "expected at most a verb and a task, got \"%s\" too", text);
  }
}

static int32_t small(const struct argp_state *state, const char *option, const char *text,
                     int64_t least, int64_t most) {
  return (int32_t)cli_integer(state, option, text, least, most);
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  arguments *line = state->input;
  wb_env_config *c = &line->config;
  switch (key) {
  case KEY_DATA:
    if (line->file_count == MOST_FILES)
      argp_error(state, "--data: expected at most %d", MOST_FILES);
    line->files[line->file_count++] = argument;
    return 0;
  case KEY_ENVS: c->envs = small(state, "envs", argument, 1, WB_ENV_ENVS_MAX); return 0;
  case KEY_STEPS: line->steps = cli_integer(state, "steps", argument, 1, INT32_MAX); return 0;
  case KEY_PER_STEP:
    c->messages_per_step = small(state, "messages-per-step", argument, 1, 1000000000);
    return 0;
  case KEY_STEP_MS:
    c->step_ms = small(state, "step-ms", argument, 1, 86400000);
    c->clock = WB_ENV_CLOCK_TIME;
    return 0;
  case KEY_EPISODE:
    c->episode_messages = small(state, "episode-messages", argument, 1, 2000000000);
    return 0;
  case KEY_SNAPSHOT:
    c->snapshot_messages = small(state, "snapshot-messages", argument, 1, INT32_MAX);
    return 0;
  case KEY_SHORT: c->short_windows = true; return 0;
  case KEY_LEVELS: c->levels = small(state, "levels", argument, 0, WB_ENV_LEVELS_MAX); return 0;
  case KEY_SET: add_setting(line, state, argument); return 0;
  case KEY_POLICY: line->policies = argument; return 0;
  case KEY_DEVICE: c->device = argument; return 0;
  case KEY_THREADS: c->threads = small(state, "threads", argument, 1, 1024); return 0;
  case KEY_SEED: c->seed = (uint64_t)cli_integer(state, "seed", argument, 0, INT64_MAX); return 0;
  case KEY_JSON: line->json = true; return 0;
  case ARGP_KEY_ARG: add_argument(line, state, argument); return 0;
  case ARGP_KEY_NO_ARGS: argp_error(state, "expected list, describe TASK or run TASK"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "list\ndescribe TASK\nrun TASK[:ACTIONS][*COUNT][+TASK...] --data INPUT...",
    .doc =
        "Batches of trading environments on recorded days: tells what tasks there are, or runs one "
        "with a built-in policy and shows what it earned and how fast it went.\v"
        "ACTIONS names how actions are written (see describe), COUNT is a number of agents with that "
        "task in each market: market_making+execution:quantities*2.\n\n"
        "The result: return is the sum of an episode's rewards; profit (before fees) is in price units "
        "x shares; the last three columns are what a share of the target cost over the mid at "
        "arrival, the mid averaged over time and the market's own average price. The "
        "state is a hash of all markets as they are at the end and of the statistics above it: equal "
        "runs end in equal ones, on every device.\n\n"
        "Exit status: 0, or 2 if something could not be done.",
};

/* ---- list and describe ---- */

/* The agents that a built-in policy plays for. */
static const char *plays(const char *policy) {
  static const char *const some[][2] = {{"twap", "execution"},
                                        {"avellaneda_stoikov", "market_making:quotes"}};
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
    if (strcmp(some[i][0], policy) == 0) return some[i][1];
  }
  return "any task";
}

static void list_tasks(void) {
  for (int32_t i = 0; i < wb_env_task_count(); i++) {
    const wb_env_task *task = wb_env_task_at(i);
    printf("%-15s %s; actions:", task->name, task->meaning);
    for (int32_t s = 0; s < task->action_space_count; s++) {
      printf("%s %s", s == 0 ? "" : ",", task->action_spaces[s].name);
    }
    printf("\n");
  }
  printf("policies:       ");
  for (int32_t i = 0; i < wb_env_policy_count(); i++) {
    printf("%s%s (%s)", i == 0 ? "" : ", ", wb_env_policy_at(i), plays(wb_env_policy_at(i)));
  }
  printf("\n");
}

static void describe_parameters(const wb_env_parameter *list, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const wb_env_parameter *p = &list[i];
    printf("  %-20s %-10g %s%s[%g .. %g]%s\n", p->name, p->value, p->unit,
           p->unit[0] == '\0' ? "" : " ", p->least, p->most,
           p->type == WB_ENV_I32 ? ", whole" : "");
    printf("  %-20s   %s\n", "", p->meaning);
  }
}

static void describe_spaces(const wb_env_task *task) {
  for (int32_t i = 0; i < task->action_space_count; i++) {
    const wb_env_action_space *space = &task->action_spaces[i];
    if (space->choices > 0) {
      printf("  %s: one of 0 .. %d (i32)\n", space->name, space->choices - 1);
    } else {
      printf("  %s: %d numbers (%s)\n", space->name, space->components,
             space->type == WB_ENV_I32 ? "i32" : "f32");
    }
    printf("    %s\n", space->meaning);
    for (int32_t c = 0; space->choices == 0 && c < space->components; c++) {
      printf("    %-12s %g .. %g\n", space->component_names[c], space->least[c], space->most[c]);
    }
  }
}

static int describe(const char *name, int32_t levels) {
  const wb_env_task *task = wb_env_task_find(name);
  wb_error error;
  if (task == NULL) {
    (void)WB_FAIL(&error, WB_ERROR_ARGUMENT,
                  "env: task: there is none named \"%.60s\": `warpbook env list' names them", name);
    return cli_fail(&error);
  }
  int32_t features, common;
  char **names = wb_env_feature_names(levels, task->slots, &features);
  if (names == NULL) {
    (void)WB_FAIL(&error, WB_ERROR_MEMORY, "env: no memory");
    return cli_fail(&error);
  }
  printf("%s: %s\n\nactions\n", task->name, task->meaning);
  describe_spaces(task);
  printf("\nobservation: %d features (f32) with %d levels\n ", features, levels);
  for (int32_t i = 0, column = 1; i < features; i++) {
    int width = printf(" %s", names[i]);
    column += width;
    if (column > 84 && i + 1 < features) {
      printf("\n ");
      column = 1;
    }
  }
  free(names);
  printf("\n\nparameters of the task (name, default, unit, range)\n");
  describe_parameters(task->parameters, task->parameter_count);
  printf("\nparameters of the environment\n");
  const wb_env_parameter *list = wb_env_common_parameters(&common);
  describe_parameters(list, common);
  printf("\nslots: %d orders of an agent at a time\n", task->slots);
  return CLI_OK;
}

/* ---- run ---- */

typedef struct running {
  wb_tape *tapes[MOST_FILES];
  cli_agents agents;
  wb_env *env;
  double seconds, seconds_policy;
  int64_t messages; /* source rows that acted */
} running;

static wb_status open_env(running *r, arguments *line, wb_error *error) {
  if (line->file_count == 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: run: expected --data INPUT");
  }
  WB_TRY(cli_agents_parse(&r->agents, line->task, error));
  for (int32_t i = 0; i < line->file_count; i++) {
    WB_TRY(wb_tape_read(line->files[i], NULL, &r->tapes[i], error));
  }
  wb_env_config c = line->config;
  c.tapes = (const wb_tape *const *)r->tapes;
  c.tape_count = line->file_count;
  c.agents = r->agents.groups;
  c.agent_groups = r->agents.group_count;
  WB_TRY(wb_env_create(&c, &r->env, error));
  for (int32_t i = 0; i < line->setting_count; i++) {
    WB_TRY(
        wb_env_set_parameter(r->env, line->settings[i].name, &line->settings[i].value, 1, error));
  }
  return WB_OK;
}

/* "a+b": names end at the plus. */
static wb_status act(running *r, const char *policies, wb_error *error) {
  for (const char *at = policies;; at++) {
    char name[NAME_BYTES];
    size_t length = strcspn(at, "+");
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < 60 ? length : 60), at);
    WB_TRY(wb_env_act(r->env, name, -1, error));
    at += length;
    if (*at == '\0') return WB_OK;
  }
}

static wb_status count_messages(running *r, int32_t envs, int32_t *rows, wb_error *error) {
  WB_TRY(wb_env_read(r->env, "messages", rows, (size_t)envs * sizeof *rows, error));
  for (int32_t e = 0; e < envs; e++) r->messages += rows[e];
  return WB_OK;
}

static wb_status run_steps(running *r, const arguments *line, wb_error *error) {
  int32_t envs = line->config.envs;
  int32_t *rows = malloc((size_t)envs * sizeof *rows);
  if (rows == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory");
  wb_progress bar;
  wb_progress_start(&bar, stderr, "stepping", "steps", line->steps, 0);
  wb_status status = wb_env_reset(r->env, NULL, NULL, error);
  /* the first call of a policy compiles it: not part of the time */
  if (status == WB_OK) status = wb_env_act(r->env, "none", -1, error);
  if (status == WB_OK) status = act(r, line->policies, error);
  if (status == WB_OK) status = wb_env_wait(r->env, error);
  for (int64_t i = 0; status == WB_OK && i < line->steps; i++) {
    double start = cli_now();
    status = act(r, line->policies, error);
    double decided = cli_now();
    if (status == WB_OK) status = wb_env_step(r->env, error);
    if (status == WB_OK) status = wb_env_wait(r->env, error);
    double stepped = cli_now();
    r->seconds += stepped - start;
    r->seconds_policy += decided - start;
    if (status == WB_OK) status = count_messages(r, envs, rows, error);
    wb_progress_update(&bar, i + 1);
  }
  wb_progress_end(&bar);
  free(rows);
  return status;
}

/* ---- results ---- */

typedef struct earned {
  const char *task;
  int32_t agent;
  wb_env_statistic list[WB_ENV_STATISTICS_MAX];
  int32_t count;
} earned;

static double sum_of(const earned *e, const char *name) {
  for (int32_t i = 0; i < e->count; i++) {
    if (strcmp(e->list[i].name, name) == 0) return e->list[i].sum;
  }
  return 0;
}

static double mean_of(const earned *e, const char *name) {
  double episodes = sum_of(e, "episodes");
  return episodes > 0 ? sum_of(e, name) / episodes : 0;
}

static double deviation(double sum, double squares, double count) {
  if (count < 2) return 0;
  double variance = (squares - sum * sum / count) / (count - 1);
  return variance > 0 ? sqrt(variance) : 0;
}

typedef struct outcome {
  const arguments *line;
  const running *r;
  earned agents[WB_ENV_AGENTS_MAX];
  int32_t agent_count;
  uint64_t hash;
  double episodes, mean, deviation; /* over all agents' episodes */
} outcome;

/* Over the states at the end and over what was earned: right after an episode's end states look alike
 * whatever the agents did. */
static wb_status state_hash(running *r, const outcome *o, uint64_t *hash, wb_error *error) {
  int32_t envs = o->line->config.envs;
  uint64_t *list = malloc((size_t)envs * sizeof *list);
  if (list == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory");
  wb_status status = wb_env_hashes(r->env, list, error);
  *hash = 0;
  for (int32_t e = 0; status == WB_OK && e < envs; e++) {
    *hash = wb_mix64(*hash + WB_HASH_GOLDEN + list[e]);
  }
  for (int32_t a = 0; a < o->agent_count; a++) {
    for (int32_t i = 0; i < o->agents[a].count; i++) {
      *hash = wb_mix64(*hash + WB_HASH_GOLDEN + (uint64_t)o->agents[a].list[i].exact);
    }
  }
  free(list);
  return status;
}

static json_t *agent_json(const earned *e) {
  json_t *o = json_object();
  double n = sum_of(e, "episodes");
  (void)json_object_set_new(o, "agent", json_integer(e->agent));
  (void)json_object_set_new(o, "task", json_string(e->task));
  (void)json_object_set_new(o, "episodes", json_integer((json_int_t)n));
  (void)json_object_set_new(o, "return_mean", json_real(mean_of(e, "return")));
  (void)json_object_set_new(
      o, "return_std", json_real(deviation(sum_of(e, "return"), sum_of(e, "return_square"), n)));
  for (int32_t i = 0; i < e->count; i++) {
    const char *name = e->list[i].name;
    if (strncmp(name, "return", 6) == 0 || strcmp(name, "episodes") == 0) continue;
    (void)json_object_set_new(o, name, json_real(n > 0 ? e->list[i].sum / n : 0));
  }
  return o;
}

static int print_json(const outcome *o) {
  const running *r = o->r;
  double steps = (double)o->line->steps * o->line->config.envs;
  char hash[17];
  (void)snprintf(hash, sizeof hash, "%016" PRIx64, o->hash);
  json_t *root = json_object();
  json_t *agents = json_array();
  for (int32_t a = 0; a < o->agent_count; a++) {
    (void)json_array_append_new(agents, agent_json(&o->agents[a]));
  }
  (void)json_object_set_new(root, "envs", json_integer(o->line->config.envs));
  (void)json_object_set_new(root, "steps", json_integer((json_int_t)o->line->steps));
  (void)json_object_set_new(root, "agents_per_env", json_integer(o->agent_count));
  (void)json_object_set_new(root, "levels", json_integer(o->line->config.levels));
  (void)json_object_set_new(root, "device", json_string(wb_env_device_name(r->env)));
  (void)json_object_set_new(root, "threads", json_integer(wb_env_threads(r->env)));
  (void)json_object_set_new(root, "seconds", json_real(r->seconds));
  (void)json_object_set_new(root, "seconds_policy", json_real(r->seconds_policy));
  (void)json_object_set_new(root, "seconds_compile", json_real(wb_env_compile_seconds(r->env)));
  (void)json_object_set_new(root, "steps_per_second", json_real(steps / r->seconds));
  (void)json_object_set_new(root, "steps_per_second_alone",
                            json_real(steps / (r->seconds - r->seconds_policy)));
  (void)json_object_set_new(root, "messages_per_second",
                            json_real((double)r->messages / r->seconds));
  (void)json_object_set_new(root, "messages", json_integer((json_int_t)r->messages));
  (void)json_object_set_new(root, "windows", json_integer(wb_env_window_count(r->env)));
  (void)json_object_set_new(root, "capacity", json_integer(wb_env_capacity(r->env)));
  (void)json_object_set_new(root, "bytes_per_env", json_integer(wb_env_env_bytes(r->env)));
  (void)json_object_set_new(root, "episodes",
                            json_integer((json_int_t)sum_of(&o->agents[0], "episodes")));
  (void)json_object_set_new(root, "return_mean", json_real(o->mean));
  (void)json_object_set_new(root, "return_std", json_real(o->deviation));
  (void)json_object_set_new(root, "state_hash", json_string(hash));
  (void)json_object_set_new(root, "agents", agents);
  return cli_print_json(root);
}

static void print_agent(const earned *e) {
  double volume = sum_of(e, "volume"), n = sum_of(e, "episodes");
  printf("%5d  %-14s %9.0f  %12.4f %12.4f  %12.4g %11.1f", e->agent, e->task, n,
         mean_of(e, "return"), deviation(sum_of(e, "return"), sum_of(e, "return_square"), n),
         mean_of(e, "profit"), mean_of(e, "volume"));
  if (sum_of(e, "shortfall") != 0 && volume > 0) {
    printf("  %9.2f %9.2f %9.2f", sum_of(e, "shortfall") / volume,
           sum_of(e, "against_twap") / volume, sum_of(e, "against_vwap") / volume);
  } else {
    printf("  %9s %9s %9s", "-", "-", "-");
  }
  printf("\n");
}

static const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

static void print_table(const outcome *o) {
  const running *r = o->r;
  double steps = (double)o->line->steps * o->line->config.envs;
  printf("%d environment%s x %" PRId64
         " step%s on %s (%d thread%s), %d agent%s, %d level%s, %d window%s, "
         "%d orders a side\n",
         o->line->config.envs, plural(o->line->config.envs), o->line->steps, plural(o->line->steps),
         wb_env_device_name(r->env), wb_env_threads(r->env), plural(wb_env_threads(r->env)),
         o->agent_count, plural(o->agent_count), o->line->config.levels,
         plural(o->line->config.levels), wb_env_window_count(r->env),
         plural(wb_env_window_count(r->env)), wb_env_capacity(r->env));
  printf(
      "%.0f environment steps/s, %.0f without the policy; %.0f messages/s; compiled in %.2f s\n\n",
      steps / r->seconds, steps / (r->seconds - r->seconds_policy),
      (double)r->messages / r->seconds, wb_env_compile_seconds(r->env));
  printf("                                     return                              per episode"
         "  price units a share worse than\n");
  printf("agent  task            episodes          mean          std        profit      shares"
         "    arrival      twap      vwap\n");
  for (int32_t a = 0; a < o->agent_count; a++) print_agent(&o->agents[a]);
  printf("\nstate %016" PRIx64 "\n", o->hash);
}

static wb_status collect(outcome *o, running *r, wb_error *error) {
  double n = 0, sum = 0, squares = 0;
  for (int32_t g = 0; g < r->agents.group_count; g++) {
    for (int32_t i = 0; i < r->agents.groups[g].count; i++) {
      earned *e = &o->agents[o->agent_count];
      e->agent = o->agent_count;
      e->task = r->agents.groups[g].task;
      WB_TRY(wb_env_take_statistics(r->env, o->agent_count, e->list, &e->count, error));
      n += sum_of(e, "episodes");
      sum += sum_of(e, "return");
      squares += sum_of(e, "return_square");
      o->agent_count++;
    }
  }
  o->episodes = n;
  o->mean = n > 0 ? sum / n : 0;
  o->deviation = deviation(sum, squares, n);
  return state_hash(r, o, &o->hash, error);
}

/* The library speaks of its configuration; where that is an option here, its name follows. */
static int fail_run(const arguments *line, const wb_error *error) {
  int status = cli_fail(error);
  if (strstr(error->text, "short_windows") != NULL) {
    (void)fputs("warpbook: the options for these are --episode-messages and --short-windows\n",
                stderr);
  }
  const char *hint = cli_input_hint(&(wb_read_options){0}, error);
  if (hint != NULL) {
    (void)fprintf(stderr, "warpbook: `warpbook convert' makes a store to run on: %s\n", hint);
  }
  if (error->status == WB_ERROR_UNAVAILABLE && strstr(error->text, "orders a side") != NULL) {
    cli_print_format(stderr,
                     "warpbook: where LLVM is, `warpbook kernels build --capacity N --env '%s' "
                     "--levels %d%s -o FOLDER' makes them; set WB_KERNELS to the folder here",
                     line->task, line->config.levels,
                     line->config.clock == WB_ENV_CLOCK_TIME ? " --clock time" : "");
    (void)fputc('\n', stderr);
  }
  return status;
}

static int run(arguments *line) {
  running r = {0};
  wb_error error;
  outcome *o = calloc(1, sizeof *o);
  wb_status status = o == NULL ? WB_FAIL(&error, WB_ERROR_MEMORY, "env: no memory") : WB_OK;
  if (status == WB_OK) status = open_env(&r, line, &error);
  if (status == WB_OK) status = run_steps(&r, line, &error);
  int exit_status = CLI_OK;
  if (status == WB_OK) {
    o->line = line;
    o->r = &r;
    status = collect(o, &r, &error);
  }
  if (status != WB_OK) {
    exit_status = fail_run(line, &error);
  } else if (line->json) {
    exit_status = print_json(o);
  } else {
    print_table(o);
  }
  wb_env_destroy(r.env);
  for (int32_t i = 0; i < line->file_count; i++) wb_tape_free(r.tapes[i]);
  free(o);
  return exit_status;
}

static int fail_line(const arguments *line, bool known) {
  wb_error error;
  if (!known) {
    (void)WB_FAIL(&error, WB_ERROR_ARGUMENT,
                  "env: expected list, describe TASK or run TASK, got \"%.40s\"", line->verb);
  } else if (line->task == NULL) {
    (void)WB_FAIL(&error, WB_ERROR_ARGUMENT,
                  "env: %.40s: TASK is missing: `warpbook env list' names them", line->verb);
  } else {
    (void)WB_FAIL(&error, WB_ERROR_ARGUMENT, "env: list: expected nothing more, got \"%.40s\"",
                  line->task);
  }
  return cli_fail(&error);
}

int cli_env(int argc, char **argv) {
  arguments line = {.policies = "random", .steps = 1000, .config = wb_env_config_default()};
  line.config.envs = 64;
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  bool lists = strcmp(line.verb, "list") == 0, runs = strcmp(line.verb, "run") == 0;
  bool describes = strcmp(line.verb, "describe") == 0;
  if (lists && line.task == NULL) {
    list_tasks();
    return CLI_OK;
  }
  if ((describes || runs) && line.task != NULL) {
    return describes ? describe(line.task, line.config.levels) : run(&line);
  }
  return fail_line(&line, lists || describes || runs);
}

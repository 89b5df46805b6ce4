/* warpbook env run: environments stepped with built-in policies, and what they earned. */
#include "agents.h"
#include "common.h"
#include "env.h"
#include "input.h"
#include "text.h"

#include "base/hash.h"
#include "base/progress.h"
#include "data/input.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- running ---- */

typedef struct running {
  wb_tape *tapes[ENV_FILES_MOST];
  cli_agents agents;
  wb_env *env;
  double seconds, seconds_policy;
  int64_t messages; /* source rows that acted */
} running;

static wb_status open_env(running *r, env_arguments *line, wb_error *error) {
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
    char name[ENV_WORD_BYTES];
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

static wb_status run_steps(running *r, const env_arguments *line, wb_error *error) {
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
  const env_arguments *line;
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
static int fail_run(const env_arguments *line, const wb_error *error) {
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

int env_run(env_arguments *line) {
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

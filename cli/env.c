/* warpbook env: what environments there are, and running one with a built-in policy. */
#include "env.h"
#include "common.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- the line ---- */

static void add_setting(env_arguments *line, const struct argp_state *state, const char *text) {
  const char *equals = strchr(text, '=');
  char *end = NULL;
  if (equals == NULL || equals == text || equals - text >= ENV_WORD_BYTES) {
    argp_error(state, "--set: expected NAME=VALUE, got \"%s\"", text);
    return;
  }
  if (line->setting_count == ENV_SETTINGS_MOST) {
    argp_error(state, "--set: expected at most %d", ENV_SETTINGS_MOST);
    return;
  }
  env_setting *one = &line->settings[line->setting_count++];
  memcpy(one->name, text, (size_t)(equals - text));
  one->name[equals - text] = '\0';
  one->value = strtod(equals + 1, &end);
  if (end == equals + 1 || *end != '\0' || isspace((unsigned char)equals[1])) {
    argp_error(state, "--set: %s: expected a number, got \"%s\"", one->name, equals + 1);
  }
}

static void add_argument(env_arguments *line, const struct argp_state *state, const char *text) {
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
  env_arguments *line = state->input;
  wb_env_config *c = &line->config;
  switch (key) {
  case KEY_DATA:
    if (line->file_count == ENV_FILES_MOST)
      argp_error(state, "--data: expected at most %d", ENV_FILES_MOST);
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

static int fail_line(const env_arguments *line, bool known) {
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
  env_arguments line = {.policies = "random", .steps = 1000, .config = wb_env_config_default()};
  line.config.envs = 64;
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  bool lists = strcmp(line.verb, "list") == 0, runs = strcmp(line.verb, "run") == 0;
  bool describes = strcmp(line.verb, "describe") == 0;
  if (lists && line.task == NULL) return env_list();
  if ((describes || runs) && line.task != NULL) {
    return describes ? env_describe(line.task, line.config.levels) : env_run(&line);
  }
  return fail_line(&line, lists || describes || runs);
}

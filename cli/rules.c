/* Options of the book and of the engine that runs it. */
#include "rules.h"

#include <string.h>

enum {
  KEY_LEVELS = 0x200,
  KEY_CAPACITY,
  KEY_CAPACITY_RULE,
  KEY_POLICY,
  KEY_DISPLACED,
  KEY_SELF_TRADE,
  KEY_TO,
  KEY_ENGINE,
  KEY_THREADS,
  KEY_DEVICE
};

/* in the order of the enumerators */
static const char *const engines[] = {"reference", "kernel", NULL};
static const char *const policies[] = {"agents-first", "named", "aggressive", NULL};
static const char *const displaced[] = {"withdraw", "keep", NULL};
static const char *const capacity_rules[] = {"evict", "reject", NULL};
static const char *const self_trades[] = {"off",         "cancel-incoming", "cancel-resting",
                                          "cancel-both", "decrement-both",  NULL};

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "The book:", 2},
    {"levels", KEY_LEVELS, "L", 0, "price levels of a row; default: the depth of the input", 2},
    {"capacity", KEY_CAPACITY, "N", 0,
     "room for N orders on each side; default auto: the kernels' smallest that never fills, and no "
     "limit for the reference. Kernels take 32, 64, 128, .. up to 8192",
     2},
    {"capacity-rule", KEY_CAPACITY_RULE, "RULE", 0,
     "when a side is full: evict (default) its worst order for a better one, or reject", 2},
    {"policy", KEY_POLICY, "POLICY", 0,
     "whom a historical execution meets: agents-first (default), named or aggressive", 2},
    {"displaced", KEY_DISPLACED, "RULE", 0,
     "shares whose execution agents took: withdraw (default) or keep", 2},
    {"self-trade", KEY_SELF_TRADE, "MODE", 0,
     "between orders of one owner: off (default), cancel-incoming, cancel-resting, cancel-both or "
     "decrement-both",
     2},
    {"to", KEY_TO, "TIME", 0, "end before this time: 10:15, 10:15:30.5 or seconds after midnight",
     2},
    {NULL, 0, NULL, 0, "The engine:", 3},
    {"engine", KEY_ENGINE, "ENGINE", 0, "kernel (compiled, the default) or reference (plain C)", 3},
    {"threads", KEY_THREADS, "T", 0, "threads to run books on; default: all cores", 3},
    {"device", KEY_DEVICE, "NAME", 0,
     "where kernels run: cpu (default), cuda, cuda:1, .., or auto: a GPU if there is one", 3},
    {0},
};

const char *cli_engine_name(wb_engine engine) { return engines[engine]; }

int cli_fail_engine(const wb_error *error) {
  int status = cli_fail(error);
  if (error->status == WB_ERROR_UNAVAILABLE) {
    (void)fputs(
        "warpbook: --device cpu needs no GPU; --engine reference compiles nothing, but is slower\n",
        stderr);
    if (strstr(error->text, "orders a side") != NULL) {
      (void)fputs("warpbook: where LLVM is, `warpbook kernels build --capacity N -o FOLDER' makes "
                  "kernels; set WB_KERNELS to the folder here\n",
                  stderr);
    }
  }
  return status;
}

static error_t parse_rule(int key, char *argument, struct argp_state *state, wb_book_rules *rules) {
  switch (key) {
  case KEY_CAPACITY:
    rules->capacity = strcmp(argument, "auto") == 0
                          ? 0
                          : (int32_t)cli_integer(state, "capacity", argument, 1, INT32_MAX);
    return 0;
  case KEY_CAPACITY_RULE:
    rules->capacity_rule =
        (wb_capacity_rule)cli_choice(state, "capacity-rule", argument, capacity_rules);
    return 0;
  case KEY_POLICY:
    rules->execute_policy = (wb_execute_policy)cli_choice(state, "policy", argument, policies);
    return 0;
  case KEY_DISPLACED:
    rules->displaced = (wb_displaced)cli_choice(state, "displaced", argument, displaced);
    return 0;
  case KEY_SELF_TRADE:
    rules->self_trade = (wb_self_trade)cli_choice(state, "self-trade", argument, self_trades);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

cli_run cli_run_default(void) {
  cli_run line = {.run = wb_replay_options_default()};
  line.run.engine = WB_ENGINE_KERNEL;
  return line;
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  cli_run *line = state->input;
  wb_replay_options *run = &line->run;
  switch (key) {
  case KEY_LEVELS:
    run->levels = (int32_t)cli_integer(state, "levels", argument, 1, CLI_MOST_LEVELS);
    return 0;
  case KEY_TO:
    run->to_ns = cli_time(state, "to", argument);
    if (run->to_ns == 0) {
      argp_error(state, "--to: expected a time after midnight, got \"%s\"", argument);
    }
    return 0;
  case KEY_ENGINE:
    line->run.engine = (wb_engine)cli_choice(state, "engine", argument, engines);
    line->engine_chosen = true;
    return 0;
  case KEY_THREADS:
    run->threads = (int32_t)cli_integer(state, "threads", argument, 1, 1024);
    return 0;
  case KEY_DEVICE: run->device = argument; return 0;
  default: return parse_rule(key, argument, state, &run->rules);
  }
}

const struct argp cli_rules_argp = {.options = options, .parser = parse_option};

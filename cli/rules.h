/* The options of a simulated book, shared by the commands that run one. */
#ifndef WB_CLI_RULES_H
#define WB_CLI_RULES_H

#include "common.h"
#include "sim/replay.h"

typedef struct cli_run {
  wb_replay_options run;
  bool engine_chosen; /* by --engine; else run.engine is the default */
} cli_run;

/* The kernels, default rules, all rows. */
cli_run cli_run_default(void);

/* A child parser whose input is a cli_run, filled with defaults by the caller. */
extern const struct argp cli_rules_argp;

/* As deep as a book of the kernels can be. */
enum { CLI_MOST_LEVELS = 8192 };

const char *cli_engine_name(wb_engine engine);

/* Prints what went wrong with a run and returns CLI_ERROR; where nothing can be compiled it names the
 * engine that needs no compiler. */
int cli_fail_engine(const wb_error *error);

#endif

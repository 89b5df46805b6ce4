/* The options of a simulated book, shared by the commands that run one. */
#ifndef WB_CLI_RULES_H
#define WB_CLI_RULES_H

#include "common.h"
#include "sim/replay.h"

/* A child parser whose input is a wb_replay_options, filled with defaults by the caller. */
extern const struct argp cli_rules_argp;

/* More levels than this make lines that no reader of the format takes. */
enum { CLI_MOST_LEVELS = 10000 };

const char *cli_engine_name(wb_engine engine);

#endif

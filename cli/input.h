/* The input of a command: its options, and reading it with a progress bar. */
#ifndef WB_CLI_INPUT_H
#define WB_CLI_INPUT_H

#include "common.h"
#include "data/input.h"

typedef struct cli_input {
  const char *path;
  wb_read_options options;
  double seconds; /* that reading took */
} cli_input;

/* Options of every command that reads a day; a child parser whose input is a cli_input. */
extern const struct argp cli_input_argp;

/* Takes INPUT, then ORDERBOOK, for commands that have no other arguments; and complains of others. */
error_t cli_input_argument(int key, char *argument, struct argp_state *state, cli_input *input);

/* The same for commands whose last argument says where the result goes; messages call it `what`. */
error_t cli_input_and_output(int key, char *argument, struct argp_state *state, cli_input *input,
                             const char **output, const char *what);

/* The library speaks of what it was asked; here that is an option: the one that helps against `error`,
 * and how; NULL if none does. */
const char *cli_input_hint(const wb_read_options *read, const wb_error *error);

/* Reads the tape and prints what is wrong: CLI_OK or CLI_ERROR. The tape is the caller's. */
int cli_input_read(cli_input *input, wb_tape **tape);

/* Whether `path` is one of the files that the tape was read from. */
bool cli_input_is_source(const cli_input *input, const wb_tape *tape, const char *path);

#endif

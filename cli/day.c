/* One parser of the two that a replayed day needs, and what can only be checked with the day. */
#include "day.h"

#include "summary.h"

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  cli_day *day = state->input;
  if (key == ARGP_KEY_INIT) {
    state->child_inputs[0] = &day->input;
    state->child_inputs[1] = &day->book;
    return 0;
  }
  return cli_input_argument(key, argument, state, &day->input);
}

static const struct argp_child children[] = {
    {&cli_input_argp, 0, NULL, 1}, {&cli_rules_argp, 0, NULL, 2}, {0}};

const struct argp cli_day_argp = {.parser = parse_option, .children = children};

int cli_day_read(cli_day *day, wb_tape **tape) {
  wb_error error;
  char first[CLI_TEXT_BYTES], to[CLI_TEXT_BYTES];
  int64_t first_ns, last_ns, to_ns = day->book.run.to_ns;
  int status = cli_input_read(&day->input, tape);
  if (status != CLI_OK || to_ns == 0 || !cli_time_span(*tape, &first_ns, &last_ns) ||
      to_ns > first_ns) {
    return status;
  }
  (void)WB_FAIL(&error, WB_ERROR_ARGUMENT, "--to: expected a time after the first row, %s, got %s",
                cli_clock_text(first_ns, first), cli_clock_text(to_ns, to));
  wb_tape_free(*tape);
  *tape = NULL;
  return cli_fail(&error);
}

/* One parser of the two that a replayed day needs. */
#include "day.h"

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

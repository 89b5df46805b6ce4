/* A first program: reads a day, replays it, says whether every row is equal. usage: replay_day INPUT */
#include <warpbook/data/input.h>
#include <warpbook/sim/replay.h>

#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s INPUT\n", argv[0]);
    return 2;
  }
  wb_error error;
  wb_tape *tape = NULL;
  if (wb_tape_read(argv[1], NULL, &tape, &error) != WB_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  wb_replay_options options = wb_replay_options_default();
  options.engine = WB_ENGINE_REFERENCE;
  wb_replay_result result;
  const wb_status status = wb_replay(tape, &options, &result, &error);
  wb_tape_free(tape);
  if (status != WB_OK) {
    fprintf(stderr, "%s\n", error.text);
    return 2;
  }
  printf("%" PRId64 " of %" PRId64 " rows equal, %" PRId64 " trades\n", result.rows_equal,
         result.rows_checked, result.trades);
  return result.rows_checked > 0 && result.rows_equal == result.rows_checked ? 0 : 1;
}

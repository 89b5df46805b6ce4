/* What a replay and a tape come to: for people, and as JSON. */
#ifndef WB_CLI_SUMMARY_H
#define WB_CLI_SUMMARY_H

#include "common.h"
#include "data/tape.h"
#include "sim/replay.h"

/* "label            text": the form of all summaries. */
void cli_line(FILE *stream, const char *label, const char *format, ...) WB_PRINTF(3, 4);

/* Instrument, day, source; rows, records and the time that they span. */
void cli_print_tape_head(FILE *stream, const wb_tape *tape);

/* What the reader met; `all` also what did not occur. */
void cli_print_counts(FILE *stream, const wb_tape *tape, bool all);

/* At most `most` findings in words, and how many there are more. */
void cli_print_findings(FILE *stream, const wb_tape *tape, int64_t most);

typedef struct cli_replay_summary {
  const wb_tape *tape;
  const wb_replay_options *options;
  const wb_replay_result *result;
  double seconds_read;
} cli_replay_summary;

void cli_print_replay(FILE *stream, const cli_replay_summary *summary);
json_t *cli_replay_json(const cli_replay_summary *summary);

/* Parts that several commands show; NULL if memory ran out. */
json_t *cli_counts_json(const wb_tape *tape);
json_t *cli_messages_json(const wb_tape *tape, int64_t rows); /* of the first so many */
json_t *cli_findings_json(const wb_tape *tape, int64_t most);
json_t *cli_difference_json(const wb_tape *tape, const wb_difference *difference);

/* First and last time of the tape; false if it has neither rows nor records. */
bool cli_time_span(const wb_tape *tape, int64_t *first_ns, int64_t *last_ns);

#endif

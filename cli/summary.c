/* Summaries of tapes and replays. */
#include "summary.h"

#include "rules.h"
#include "text.h"
#include "words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { FINDINGS_IN_JSON = 10, FINDINGS_SHOWN = 5 };

void cli_line(FILE *stream, const char *label, const char *format, ...) {
  (void)fprintf(stream, "%-16s ", label);
  va_list arguments;
  va_start(arguments, format);
  cli_print_arguments(stream, format, arguments);
  va_end(arguments);
  (void)fputc('\n', stream);
}

bool cli_time_span(const wb_tape *tape, int64_t *first_ns, int64_t *last_ns) {
  if (tape->row_count > 0) {
    *first_ns = tape->rows[0].time_ns;
    *last_ns = tape->rows[tape->row_count - 1].time_ns;
  } else if (tape->record_count > 0) {
    *first_ns = tape->records[0].time_ns;
    *last_ns = tape->records[tape->record_count - 1].time_ns;
  }
  return tape->row_count > 0 || tape->record_count > 0;
}

void cli_print_tape_head(FILE *stream, const wb_tape *tape) {
  char first[CLI_TEXT_BYTES], last[CLI_TEXT_BYTES];
  int64_t first_ns, last_ns;
  if (tape->instrument[0] != '\0' || tape->day[0] != '\0') {
    cli_line(stream, "instrument", "%s %s", tape->instrument, tape->day);
  }
  for (int32_t i = 0; i < tape->source_count; i++) {
    cli_line(stream, i == 0 ? "source" : "", "%s", tape->sources[i].name);
  }
  if (cli_time_span(tape, &first_ns, &last_ns)) {
    cli_line(stream, "time", "%s to %s", cli_clock_text(first_ns, first),
             cli_clock_text(last_ns, last));
  }
}

void cli_print_counts(FILE *stream, const wb_tape *tape, bool all) {
  static const struct {
    const char *name, *meaning;
    size_t offset;
  } counts[] = {
#define X(name, meaning) {#name, meaning, offsetof(wb_reader_counts, name)},
      WB_READER_COUNTS(X)
#undef X
  };
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    int64_t value;
    memcpy(&value, (const char *)&tape->counts + counts[i].offset, sizeof value);
    if (value != 0 || all) {
      (void)fprintf(stream, "%12" PRId64 "  %s\n", value, counts[i].meaning);
    }
  }
}

/* A member of an archive has a long name, and the head of the summary has it in full: here what is
 * behind the last folder. */
static const char *short_text(const wb_tape *tape, const char *text) {
  for (int32_t i = 0; i < tape->source_count; i++) {
    const char *name = tape->sources[i].name;
    size_t length = strlen(name);
    if (strncmp(text, name, length) != 0 || text[length] != ' ' || strchr(name, ':') == NULL) {
      continue;
    }
    while (length > 0 && name[length - 1] != '/' && name[length - 1] != ':') {
      length--;
    }
    return text + length;
  }
  return text;
}

void cli_print_findings(FILE *stream, const wb_tape *tape, int64_t most) {
  static const char *const kinds[] = {"contradiction", "crossed", "left out"};
  for (int64_t i = 0; i < tape->finding_count && i < most; i++) {
    const wb_finding *finding = &tape->findings[i];
    cli_line(stream, kinds[finding->kind], "%s", short_text(tape, finding->text));
  }
  /* a tape keeps so many of each kind and counts them all */
  int64_t all = tape->counts.contradictions + tape->counts.crossed_rows + tape->counts.bad_lines;
  all = all > tape->finding_count ? all : tape->finding_count;
  if (tape->finding_count > most) {
    cli_line(stream, "", "and %" PRId64 " more like these (`warpbook info --json' lists %s)",
             all - most, all > tape->finding_count ? "the first 1000 of a kind" : "them");
  }
}

/* ---- for people ---- */

static void print_difference(FILE *stream, const wb_tape *tape, const wb_difference *difference) {
  char expected[CLI_TEXT_BYTES], got[CLI_TEXT_BYTES], time[CLI_TEXT_BYTES];
  cli_line(stream, "first difference", "row %" PRId64 " (%s), %s level %d: expected %s, got %s",
           difference->row, cli_clock_text(tape->rows[difference->row].time_ns, time),
           cli_side_name(difference->side), difference->level + 1,
           cli_cell_text(tape, difference->expected_price, difference->expected_qty, expected),
           cli_cell_text(tape, difference->got_price, difference->got_qty, got));
}

static void print_proof(FILE *stream, const cli_replay_summary *summary) {
  const wb_replay_result *result = summary->result;
  const wb_tape *tape = summary->tape;
  if (result->books > 1) {
    cli_line(stream, "books", "%" PRId64 " of %d books end equal, by both hashes",
             result->books_equal, result->books);
  }
  if (result->levels_checked == 0) {
    cli_line(stream, "proof", "not verified: the tape has no book rows%s",
             tape->depth_unknown ? "; depth is unknown: a level that is missing may exist" : "");
    return;
  }
  cli_line(stream, "proof", "%" PRId64 " of %" PRId64 " rows equal to the book file at %d level%s",
           result->rows_equal, result->rows_checked, result->levels_checked,
           result->levels_checked == 1 ? "" : "s");
  if (result->different) {
    print_difference(stream, tape, &result->first_difference);
  }
  if (summary->options->levels > tape->levels) {
    cli_line(stream, "", "levels %d to %d lie outside of the input: known in part, not verified",
             tape->levels + 1, summary->options->levels);
  }
}

/* Whether the replay ended before the tape did. */
static bool is_part(const cli_replay_summary *summary) {
  return summary->result->rows < summary->tape->row_count ||
         summary->result->records < summary->tape->record_count;
}

/* "1200 of 4000" of a part, else "4000". */
static void print_extent(FILE *stream, const char *label, int64_t done, int64_t all) {
  if (done < all) {
    cli_line(stream, label, "%" PRId64 " of %" PRId64, done, all);
  } else {
    cli_line(stream, label, "%" PRId64, done);
  }
}

/* The reader counts over the whole file, before anybody knows how much of it is replayed. */
static void print_reader(FILE *stream, const cli_replay_summary *summary) {
  const wb_tape *tape = summary->tape;
  const wb_reader_counts *counts = &tape->counts;
  const char *of = is_part(summary) ? " (whole file)" : "";
  if (tape->row_count == 0) {
    return;
  }
  if (!tape->depth_unknown) {
    cli_line(stream, "edge records",
             "%" PRId64 ": %" PRId64 " corrections, %" PRId64
             " levels dropped outside the window%s",
             counts->edge_records, counts->edge_corrections, counts->edge_dropped, of);
  }
  cli_line(stream, "unknown ids", "%" PRId64 " rows, %" PRId64 " shares%s", counts->unknown_ids,
           counts->unknown_shares, of);
  cli_line(stream, "late adds", "%" PRId64 "%s", counts->late_adds, of);
  cli_line(stream, "contradictions", "%" PRId64 "%s", counts->contradictions, of);
  if (counts->crossed_rows > 0) {
    cli_line(stream, "crossed rows", "%" PRId64 "%s", counts->crossed_rows, of);
  }
  if (counts->bad_lines > 0) {
    cli_line(stream, "left out", "%" PRId64 " damaged line%s%s", counts->bad_lines,
             counts->bad_lines == 1 ? "" : "s", of);
  }
  if (counts->truncated_rows > 0) {
    cli_line(stream, "left out", "%" PRId64 " row%s that only one of the two files has%s",
             counts->truncated_rows, counts->truncated_rows == 1 ? "" : "s", of);
  }
  cli_print_findings(stream, tape, FINDINGS_SHOWN);
}

/* Names of the bits that are set, with their counters. */
static void print_status(FILE *stream, const wb_replay_result *result) {
  static const char *const names[] = {
#define X(name) #name,
      WB_STATUS_BITS(X)
#undef X
  };
  char text[CLI_TEXT_BYTES];
  if (result->status == 0) {
    cli_line(stream, "status", "clean");
  }
  const char *label = "status";
  for (int i = 0; i < WB_STATUS_BIT_COUNT; i++) {
    if ((result->status & WB_STATUS_BIT(i)) != 0) {
      cli_line(stream, label, "%s: %" PRId64, cli_lower(names[i], text), result->counters[i]);
      label = "";
    }
  }
}

/* What happens in a replay only if agents' records are on the tape. */
static void print_agents(FILE *stream, const wb_replay_result *result) {
  static const struct {
    const char *label;
    wb_counter counter;
  } lines[] = {{"orphaned shares", WB_COUNT_ORPHANED_SHARES},
               {"withdrawn shares", WB_COUNT_WITHDRAWN_SHARES},
               {"stranded shares", WB_COUNT_STRANDED_SHARES},
               {"unresolved", WB_COUNT_UNRESOLVED_VOLUME},
               {"auction volume", WB_COUNT_AUCTION_VOLUME}};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    if (result->counters[lines[i].counter] != 0) {
      cli_line(stream, lines[i].label, "%" PRId64, result->counters[lines[i].counter]);
    }
  }
}

/* Of all books together. */
static double records_per_second(const wb_replay_result *result) {
  double records = (double)result->records * (double)result->books;
  return result->seconds_run > 0 ? records / result->seconds_run : 0;
}

void cli_print_replay(FILE *stream, const cli_replay_summary *summary) {
  const wb_replay_result *result = summary->result;
  cli_print_tape_head(stream, summary->tape);
  print_extent(stream, "rows", result->rows, summary->tape->row_count);
  print_extent(stream, "records", result->records, summary->tape->record_count);
  print_reader(stream, summary);
  cli_line(stream, "trades", "%" PRId64 ", %" PRId64 " shares; hidden volume %" PRId64 "%s",
           result->trades, result->volume, result->counters[WB_COUNT_HIDDEN_VOLUME],
           summary->options->from_ns > 0 ? " (from the first row on)" : "");
  print_agents(stream, result);
  print_status(stream, result);
  cli_line(stream, "engine", "%s on %s, %d book%s, %d thread%s",
           cli_engine_name(summary->options->engine), result->device, result->books,
           result->books == 1 ? "" : "s", result->threads, result->threads == 1 ? "" : "s");
  if (result->capacity > 0) {
    cli_line(stream, "capacity", "%d orders a side", result->capacity);
  }
  cli_line(stream, "book hash", "%016" PRIx64, result->book_hash);
  cli_line(stream, "state hash", "%016" PRIx64, result->state_hash);
  cli_line(stream, "seconds", "%.3f reading, %.3f compiling, %.3f replaying: %.3g records/s",
           summary->seconds_read, result->seconds_compile, result->seconds_run,
           records_per_second(result));
  print_proof(stream, summary);
}

/* ---- for programs ---- */

static void set(json_t *object, const char *name, int64_t value, bool *failed) {
  char text[CLI_TEXT_BYTES];
  *failed = json_object_set_new(object, cli_lower(name, text), json_integer(value)) != 0 || *failed;
}

/* Gives the object back, or NULL if one of its parts failed. */
static json_t *whole(json_t *object, bool failed) {
  if (failed) {
    json_decref(object);
    return NULL;
  }
  return object;
}

json_t *cli_counts_json(const wb_tape *tape) {
  json_t *object = json_object();
  bool failed = object == NULL;
#define X(name, meaning) set(object, #name, tape->counts.name, &failed);
  WB_READER_COUNTS(X)
#undef X
  return whole(object, failed);
}

json_t *cli_messages_json(const wb_tape *tape, int64_t rows) {
  static const char *const names[] = {"submission",       "partial_cancel", "deletion", "execution",
                                      "hidden_execution", "auction",        "halt"};
  enum { TYPES = sizeof names / sizeof names[0] };
  int64_t counts[TYPES] = {0};
  for (int64_t row = 0; row < rows; row++) {
    counts[tape->rows[row].type - 1]++; /* 1 to 7 in every tape that was read */
  }
  json_t *object = json_object();
  bool failed = object == NULL;
  for (int i = 0; i < TYPES; i++) {
    set(object, names[i], counts[i], &failed);
  }
  return whole(object, failed);
}

json_t *cli_findings_json(const wb_tape *tape, int64_t most) {
  static const char *const kinds[] = {"contradiction", "crossed", "bad_line"};
  json_t *list = json_array();
  bool failed = list == NULL;
  for (int64_t i = 0; i < tape->finding_count && i < most && !failed; i++) {
    const wb_finding *finding = &tape->findings[i];
    json_t *text = cli_json_text(finding->text);
    failed =
        json_array_append_new(list, json_pack("{s:s,s:I,s:o}", "kind", kinds[finding->kind], "row",
                                              (json_int_t)finding->row, "text", text)) != 0;
  }
  return whole(list, failed);
}

static json_t *cell_json(const wb_tape *tape, int32_t price, int64_t qty) {
  return price == WB_NO_PRICE ? json_null()
                              : json_pack("{s:I,s:I}", "price", (json_int_t)tape->base + price,
                                          "qty", (json_int_t)qty);
}

json_t *cli_difference_json(const wb_tape *tape, const wb_difference *difference) {
  return json_pack("{s:I,s:I,s:s,s:i,s:o,s:o}", "row", (json_int_t)difference->row, "record",
                   (json_int_t)difference->record, "side", cli_side_name(difference->side), "level",
                   (int)difference->level + 1, "expected",
                   cell_json(tape, difference->expected_price, difference->expected_qty), "got",
                   cell_json(tape, difference->got_price, difference->got_qty));
}

static json_t *counters_json(const wb_replay_result *result) {
  static const char *const names[WB_COUNTERS] = {
#define X(name) #name,
      WB_STATUS_BITS(X)
#undef X
#define X(name, code) "records_" #name,
          WB_RECORD_TYPES(X)
#undef X
#define X(name) #name,
              WB_SUM_COUNTERS(X)
#undef X
  };
  json_t *object = json_object();
  bool failed = object == NULL;
  for (int i = 0; i < WB_COUNTERS; i++) {
    set(object, names[i], result->counters[i], &failed);
  }
  return whole(object, failed);
}

static json_t *status_json(uint32_t status) {
  static const char *const names[] = {
#define X(name) #name,
      WB_STATUS_BITS(X)
#undef X
  };
  char text[CLI_TEXT_BYTES];
  json_t *list = json_array();
  bool failed = list == NULL;
  for (int i = 0; i < WB_STATUS_BIT_COUNT && !failed; i++) {
    if ((status & WB_STATUS_BIT(i)) != 0) {
      failed = json_array_append_new(list, json_string(cli_lower(names[i], text))) != 0;
    }
  }
  return whole(list, failed);
}

static json_t *hash_json(uint64_t hash) {
  char text[17];
  (void)snprintf(text, sizeof text, "%016" PRIx64, hash);
  return json_string(text);
}

/* The names that come of one tape and its reader, whose counts are of the whole file. */
static json_t *reader_json(const cli_replay_summary *summary) {
  const wb_tape *tape = summary->tape;
  const wb_reader_counts *counts = &tape->counts;
  return json_pack(
      "{s:o,s:s,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:I,s:o,s:o}", "instrument",
      cli_json_text(tape->instrument), "day", tape->day, "rows", (json_int_t)summary->result->rows,
      "records", (json_int_t)summary->result->records, "rows_in_file", (json_int_t)tape->row_count,
      "records_in_file", (json_int_t)tape->record_count, "edge_records",
      (json_int_t)counts->edge_records, "edge_corrections", (json_int_t)counts->edge_corrections,
      "edge_dropped", (json_int_t)counts->edge_dropped, "unknown_ids",
      (json_int_t)counts->unknown_ids, "late_adds", (json_int_t)counts->late_adds, "contradictions",
      (json_int_t)counts->contradictions, "crossed_rows", (json_int_t)counts->crossed_rows,
      "bad_lines", (json_int_t)counts->bad_lines, "truncated_rows",
      (json_int_t)counts->truncated_rows, "messages_by_type",
      cli_messages_json(tape, summary->result->rows), "findings",
      cli_findings_json(tape, FINDINGS_IN_JSON));
}

static json_t *run_json(const cli_replay_summary *summary) {
  const wb_replay_result *result = summary->result;
  return json_pack("{s:I,s:I,s:I,s:i,s:i,s:s,s:s,s:i,s:f,s:f,s:f,s:f}", "trades",
                   (json_int_t)result->trades, "volume", (json_int_t)result->volume,
                   "hidden_volume", (json_int_t)result->counters[WB_COUNT_HIDDEN_VOLUME], "books",
                   (int)result->books, "capacity", (int)result->capacity, "engine",
                   cli_engine_name(summary->options->engine), "device", result->device, "threads",
                   (int)result->threads, "seconds_read", summary->seconds_read, "seconds_compile",
                   result->seconds_compile, "seconds_run", result->seconds_run,
                   "records_per_second", records_per_second(result));
}

static json_t *proof_json(const cli_replay_summary *summary) {
  const wb_replay_result *result = summary->result;
  json_t *difference = result->different
                           ? cli_difference_json(summary->tape, &result->first_difference)
                           : json_null();
  return json_pack("{s:b,s:i,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:o}", "depth_unknown",
                   (int)summary->tape->depth_unknown, "levels_checked", (int)result->levels_checked,
                   "books_equal", (json_int_t)result->books_equal, "rows_checked",
                   (json_int_t)result->rows_checked, "rows_equal", (json_int_t)result->rows_equal,
                   "first_difference", difference, "status", status_json(result->status),
                   "counters", counters_json(result), "book_hash", hash_json(result->book_hash),
                   "state_hash", hash_json(result->state_hash));
}

json_t *cli_replay_json(const cli_replay_summary *summary) {
  json_t *object = reader_json(summary);
  json_t *run = run_json(summary);
  json_t *proof = proof_json(summary);
  bool failed = object == NULL || run == NULL || proof == NULL ||
                json_object_update(object, run) != 0 || json_object_update(object, proof) != 0;
  json_decref(run);
  json_decref(proof);
  return whole(object, failed);
}

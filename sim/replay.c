/* Replay: batches of source rows through an engine, each row checked and shown in order.
 *
 * A batch is a run of records with at most BATCH_ROWS row ends; the engine leaves the levels after
 * each in one buffer. Keep: the engine sees nothing of the source's book rows, and a row without
 * records is checked against the levels after the row before (row 0: the seed). */
#define _POSIX_C_SOURCE 200809L
#include "sim/replay.h"

#include "sim/engine.h"
#include "sim/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCH_ROWS = 256, BATCH_RECORDS = 1 << 16, MOST_LEVELS = 1 << 20 };

typedef struct replay {
  const wb_tape *tape;
  const wb_replay_options *options;
  wb_replay_result *result;
  const wb_engine_type *type;
  void *engine;
  wb_row_cursor cursor;
  int32_t levels;  /* taken from the engine: 0 if nobody looks at rows */
  int32_t checked; /* of these, compared with the source */
  size_t stride;   /* cells of a row: 2 * levels */
  int32_t *price;  /* [BATCH_ROWS + 1][stride]; row 0 is the book before the batch */
  int64_t *qty;
  wb_row_step steps[BATCH_ROWS];
} replay;

static double now_seconds(void) {
  struct timespec now;
  return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
                                                   : 0;
}

wb_replay_options wb_replay_options_default(void) {
  wb_replay_options options;
  memset(&options, 0, sizeof options);
  options.rules = wb_book_rules_default();
  return options;
}

static wb_status check_options(const wb_tape *tape, const wb_replay_options *options,
                               wb_error *error) {
  if (options->levels < 0 || options->levels > MOST_LEVELS) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "replay: levels: expected 0 to %d, got %d",
                   MOST_LEVELS, options->levels);
  }
  if (options->from_ns < 0 || options->to_ns < 0 ||
      (options->to_ns != 0 && options->to_ns <= options->from_ns)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "replay: from and to: expected 0 <= from < to (or to 0), got %" PRId64
                   " and %" PRId64 " ns",
                   options->from_ns, options->to_ns);
  }
  if (options->books < 0 || options->threads < 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "replay: books and threads: expected 0 or more, got %d and %d", options->books,
                   options->threads);
  }
  if (tape->record_count > INT32_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "replay: a tape of %" PRId64 " records; a trade names at most %d",
                   tape->record_count, INT32_MAX);
  }
  return WB_OK;
}

static bool shown(const wb_replay_options *options, int64_t time_ns) {
  return time_ns >= options->from_ns && (options->to_ns == 0 || time_ns < options->to_ns);
}

static wb_status take_trade(void *context, const wb_trade *trade, wb_error *error) {
  const wb_replay_options *options = ((const replay *)context)->options;
  return shown(options, trade->time_ns) ? options->on_trade(options->context, trade, error) : WB_OK;
}

static wb_status open_engine(replay *run, wb_error *error) {
  const wb_replay_options *options = run->options;
  wb_book_rules rules = options->rules;
  rules.base = run->tape->base;
  rules.tick_size = run->tape->tick_size;
  rules.unique_refs = run->tape->unique_refs;
  wb_engine_trades trades = {options->on_trade != NULL ? take_trade : NULL, run};
  WB_TRY(wb_engine_find(options->engine, &run->type, error));
  return run->type->open(run->tape, &rules, options, &trades, &run->engine, error);
}

static wb_status open_replay(replay *run, wb_error *error) {
  const wb_tape *tape = run->tape;
  const wb_replay_options *options = run->options;
  int32_t levels = options->levels > 0 ? options->levels : tape->levels;
  run->checked = tape->row_count > 0 && tape->levels < levels ? tape->levels : levels;
  if (tape->row_count == 0 || tape->levels == 0) {
    run->checked = 0;
  }
  run->levels = options->on_row != NULL ? levels : run->checked;
  run->stride = 2 * (size_t)run->levels;
  WB_TRY(wb_row_cursor_start(&run->cursor, tape, options->to_ns, error));
  size_t cells = (BATCH_ROWS + 1) * run->stride;
  run->price = malloc((cells + 1) * sizeof *run->price);
  run->qty = malloc((cells + 1) * sizeof *run->qty);
  if (run->price == NULL || run->qty == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "replay: no memory for rows of %d levels", run->levels);
  }
  WB_TRY(open_engine(run, error));
  return run->levels == 0
             ? WB_OK
             : run->type->levels(run->engine, run->levels, run->price, run->qty, error);
}

static void check_row(replay *run, const wb_row_step *step, const int32_t *price,
                      const int64_t *qty) {
  const wb_tape *tape = run->tape;
  wb_replay_result *result = run->result;
  size_t at = (size_t)step->row * 2 * (size_t)tape->levels;
  wb_difference difference = {0};
  result->rows_checked++;
  if (wb_rows_equal(run->checked, &tape->book_price[at], &tape->book_qty[at], price, qty,
                    &difference)) {
    result->rows_equal++;
  } else if (!result->different) {
    result->different = true;
    result->first_difference = difference;
    result->first_difference.row = step->row;
    result->first_difference.record = step->first + step->count - 1;
  }
}

static wb_status show_row(const replay *run, const wb_row_step *step, const int32_t *price,
                          const int64_t *qty, wb_error *error) {
  const wb_replay_options *options = run->options;
  if (options->on_row == NULL || !shown(options, step->time_ns)) {
    return WB_OK;
  }
  wb_row_view view = {
      .row = step->row,
      .time_ns = step->time_ns,
      .levels = run->levels,
      .price = price,
      .qty = qty,
  };
  return options->on_row(options->context, &view, error);
}

/* Runs the records of `count` rows and lays a copy of the book before a row that has none. */
static wb_status run_batch(replay *run, int count, int64_t records, wb_error *error) {
  if (records > 0) {
    WB_TRY(run->type->run(run->engine, run->steps[0].first, records, run->levels,
                          run->price + run->stride, run->qty + run->stride, error));
    run->result->records += records;
  }
  size_t at = 0;
  for (int i = 0; i < count; i++) {
    const wb_row_step *step = &run->steps[i];
    at += step->count > 0 ? run->stride : 0;
    run->result->rows++;
    if (run->checked > 0) {
      check_row(run, step, run->price + at, run->qty + at);
    }
    WB_TRY(show_row(run, step, run->price + at, run->qty + at, error));
    if (run->result->different && run->options->stop_at_difference) {
      return WB_OK;
    }
  }
  /* what stands now is what the next batch starts from */
  memmove(run->price, run->price + at, run->stride * sizeof *run->price);
  memmove(run->qty, run->qty + at, run->stride * sizeof *run->qty);
  return WB_OK;
}

/* Rows until a batch is full; to stop at a difference, the engine may not run ahead of a row. */
static int fill_batch(replay *run, int64_t *records) {
  int most = run->options->stop_at_difference ? 1 : BATCH_ROWS;
  int count = 0;
  *records = 0;
  while (count < most && *records < BATCH_RECORDS &&
         wb_row_cursor_next(&run->cursor, &run->steps[count])) {
    *records += run->steps[count++].count;
  }
  return count;
}

static wb_status run_rows(replay *run, wb_error *error) {
  const wb_replay_options *options = run->options;
  const wb_row_cursor *cursor = &run->cursor;
  int64_t records;
  for (int count; (count = fill_batch(run, &records)) > 0;) {
    WB_TRY(run_batch(run, count, records, error));
    if (options->on_progress != NULL) {
      options->on_progress(options->context, run->result->records, cursor->end_record);
    }
    if (run->result->different && options->stop_at_difference) {
      return WB_OK;
    }
  }
  int64_t tail = cursor->end_record - cursor->next_record;
  if (tail > 0) {
    WB_TRY(run->type->run(run->engine, cursor->next_record, tail, 0, NULL, NULL, error));
    run->result->records += tail;
  }
  return WB_OK;
}

static wb_status take_totals(const replay *run, wb_error *error) {
  wb_engine_totals totals;
  WB_TRY(run->type->totals(run->engine, &totals, error));
  wb_replay_result *result = run->result;
  memcpy(result->counters, totals.counters, sizeof result->counters);
  result->trades = totals.counters[WB_COUNT_TRADES];
  result->volume = totals.counters[WB_COUNT_VOLUME];
  result->status = totals.status;
  result->state = totals.state;
  result->book_hash = totals.book_hash;
  result->state_hash = totals.state_hash;
  result->books_equal = totals.books_equal;
  result->books = totals.books;
  result->threads = totals.threads;
  result->capacity = totals.capacity;
  (void)snprintf(result->device, sizeof result->device, "%s", totals.device);
  result->seconds_compile = totals.seconds_compile;
  result->levels_checked = run->checked;
  return WB_OK;
}

wb_status wb_replay(const wb_tape *tape, const wb_replay_options *options, wb_replay_result *result,
                    wb_error *error) {
  memset(result, 0, sizeof *result);
  WB_TRY(check_options(tape, options, error));
  replay *run = calloc(1, sizeof *run);
  if (run == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "replay: no memory");
  }
  run->tape = tape;
  run->options = options;
  run->result = result;
  double start = now_seconds();
  wb_status status = open_replay(run, error);
  if (status == WB_OK) {
    status = run_rows(run, error);
  }
  if (status == WB_OK) {
    status = take_totals(run, error);
  }
  result->seconds_run = now_seconds() - start - result->seconds_compile;
  if (run->engine != NULL) {
    run->type->close(run->engine);
  }
  free(run->price);
  free(run->qty);
  free(run);
  return status;
}

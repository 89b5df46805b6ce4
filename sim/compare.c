/* Compare: all engines step by step through the same rows.
 *
 * Keep: each book's rows swap places at every step, so that before and after are at hand when two
 * books part, and a book's after is always what was compared. */
#include "sim/compare.h"

#include "sim/engine.h"
#include "sim/rows.h"

#include <inttypes.h>
#include <string.h>

typedef struct compare {
  const wb_tape *tape;
  const wb_replay_options *options;
  wb_compare_report *report;
  const wb_engine_type *types[WB_COMPARE_ENGINES];
  void *engines[WB_COMPARE_ENGINES];
  int32_t engine_count;
  int32_t first_engine; /* its place in the report's books: 1 behind a source, else 0 */
  wb_row_cursor cursor;
} compare;

static wb_status check_call(const wb_tape *tape, const wb_replay_options *options,
                            int32_t engine_count, wb_error *error) {
  if (engine_count < 1 || engine_count > WB_COMPARE_ENGINES) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "compare: engines: expected 1 to %d, got %d",
                   WB_COMPARE_ENGINES, engine_count);
  }
  if (options->levels < 0 || options->to_ns < 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "compare: levels and to: expected 0 or more, got %d and %" PRId64 " ns",
                   options->levels, options->to_ns);
  }
  if (engine_count == 1 && (tape->row_count == 0 || tape->levels == 0)) {
    return WB_FAIL(error, WB_ERROR_STATE,
                   "compare: the tape has no book rows to compare the engine with");
  }
  return WB_OK;
}

static wb_status add_book(wb_compare_report *report, const char *name, wb_error *error) {
  wb_compare_book *book = &report->books[report->book_count++];
  size_t cells = 2 * (size_t)report->levels;
  book->name = name;
  book->before_price = wb_arena_array(&report->arena, cells, sizeof *book->before_price);
  book->after_price = wb_arena_array(&report->arena, cells, sizeof *book->after_price);
  book->before_qty = wb_arena_array(&report->arena, cells, sizeof *book->before_qty);
  book->after_qty = wb_arena_array(&report->arena, cells, sizeof *book->after_qty);
  if (book->before_price == NULL || book->after_price == NULL || book->before_qty == NULL ||
      book->after_qty == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "compare: no memory for rows of %d levels",
                   report->levels);
  }
  return WB_OK;
}

static wb_status open_engine(compare *run, wb_engine engine, wb_error *error) {
  wb_book_rules rules = run->options->rules;
  rules.base = run->tape->base;
  rules.tick_size = run->tape->tick_size;
  rules.unique_refs = run->tape->unique_refs;
  const wb_engine_trades trades = {NULL, NULL};
  int32_t at = run->engine_count;
  WB_TRY(wb_engine_find(engine, &run->types[at], error));
  WB_TRY(run->types[at]->open(run->tape, &rules, run->options, &trades, &run->engines[at], error));
  run->engine_count++;
  return add_book(run->report, run->types[at]->name, error);
}

static wb_status open_books(compare *run, const wb_engine *engines, int32_t count,
                            wb_error *error) {
  const wb_tape *tape = run->tape;
  wb_compare_report *report = run->report;
  report->against_source = tape->row_count > 0 && tape->levels > 0;
  int32_t levels = run->options->levels;
  report->levels = levels > 0 ? levels : report->against_source ? tape->levels : 10;
  if (report->against_source) {
    report->levels = report->levels < tape->levels ? report->levels : tape->levels;
    WB_TRY(add_book(report, "source", error));
    run->first_engine = 1;
  }
  for (int32_t i = 0; i < count; i++) {
    WB_TRY(open_engine(run, engines[i], error));
  }
  return wb_row_cursor_start(&run->cursor, tape, run->options->to_ns, error);
}

static void swap_rows(wb_compare_book *book) {
  int32_t *price = book->before_price;
  int64_t *qty = book->before_qty;
  book->before_price = book->after_price;
  book->before_qty = book->after_qty;
  book->after_price = price;
  book->after_qty = qty;
}

/* The source's row number `row` becomes the book after; before row 0 it has none. */
static void read_source(const compare *run, int64_t row) {
  wb_compare_book *book = &run->report->books[0];
  size_t cells = 2 * (size_t)run->report->levels;
  size_t at = (size_t)row * 2 * (size_t)run->tape->levels;
  swap_rows(book);
  memcpy(book->after_price, &run->tape->book_price[at], cells * sizeof *book->after_price);
  memcpy(book->after_qty, &run->tape->book_qty[at], cells * sizeof *book->after_qty);
}

static wb_status read_engine(const compare *run, int32_t engine, wb_error *error) {
  wb_compare_book *book = &run->report->books[run->first_engine + engine];
  swap_rows(book);
  return run->types[engine]->levels(run->engines[engine], run->report->levels, book->after_price,
                                    book->after_qty, error);
}

/* Notes a difference of two books, if there is one. */
static bool books_part(wb_compare_report *report, int32_t expected, int32_t got) {
  const wb_compare_book *left = &report->books[expected];
  const wb_compare_book *right = &report->books[got];
  if (wb_rows_equal(report->levels, left->after_price, left->after_qty, right->after_price,
                    right->after_qty, &report->difference)) {
    return false;
  }
  report->expected_book = expected;
  report->got_book = got;
  report->different = true;
  return true;
}

static wb_status compare_hashes(compare *run, wb_error *error) {
  wb_engine_totals first, other;
  WB_TRY(run->types[0]->totals(run->engines[0], &first, error));
  for (int32_t i = 1; i < run->engine_count && !run->report->different; i++) {
    WB_TRY(run->types[i]->totals(run->engines[i], &other, error));
    if (first.book_hash != other.book_hash || first.state_hash != other.state_hash) {
      run->report->different = true;
      run->report->difference.level = -1;
      run->report->expected_book = run->first_engine;
      run->report->got_book = run->first_engine + i;
    }
  }
  return WB_OK;
}

static wb_status compare_books(compare *run, wb_error *error) {
  wb_compare_report *report = run->report;
  for (int32_t i = 0; i < report->book_count; i++) {
    if (i > 0 && books_part(report, 0, i)) {
      return WB_OK;
    }
  }
  return run->engine_count > 1 ? compare_hashes(run, error) : WB_OK;
}

static wb_status run_engines(const compare *run, int64_t first, int64_t count, wb_error *error) {
  for (int32_t i = 0; i < run->engine_count; i++) {
    WB_TRY(run->types[i]->run(run->engines[i], first, count, 0, NULL, NULL, error));
  }
  return WB_OK;
}

static wb_status step_row(compare *run, const wb_row_step *step, wb_error *error) {
  wb_compare_report *report = run->report;
  if (step->count > 0) {
    WB_TRY(run_engines(run, step->first, step->count, error));
  }
  if (report->against_source) {
    read_source(run, step->row);
  }
  for (int32_t i = 0; i < run->engine_count; i++) {
    WB_TRY(read_engine(run, i, error));
  }
  report->rows++;
  report->records += step->count;
  WB_TRY(compare_books(run, error));
  if (report->different) {
    report->difference.row = step->row;
    report->difference.record = step->first + step->count - 1;
    report->first_record = step->first;
    report->record_count = step->count;
  }
  return WB_OK;
}

/* The seed is what row 0 starts from: the engines' books before it. */
static wb_status read_seed(compare *run, wb_error *error) {
  for (int32_t i = 0; i < run->engine_count; i++) {
    WB_TRY(read_engine(run, i, error));
  }
  if (run->report->against_source) {
    wb_compare_book *source = &run->report->books[0];
    for (int32_t i = 0; i < 2 * run->report->levels; i++) {
      source->after_price[i] = WB_NO_PRICE;
    }
  }
  return WB_OK;
}

static wb_status run_rows(compare *run, wb_error *error) {
  const wb_replay_options *options = run->options;
  WB_TRY(read_seed(run, error));
  wb_row_step step;
  while (!run->report->different && wb_row_cursor_next(&run->cursor, &step)) {
    WB_TRY(step_row(run, &step, error));
    if (options->on_progress != NULL) {
      options->on_progress(options->context, run->report->records, run->cursor.end_record);
    }
  }
  int64_t tail = run->cursor.end_record - run->cursor.next_record;
  if (!run->report->different && tail > 0) {
    WB_TRY(run_engines(run, run->cursor.next_record, tail, error));
    run->report->records += tail;
    WB_TRY(compare_hashes(run, error));
    if (run->report->different) {
      run->report->difference.row = -1;
      run->report->difference.record = run->cursor.end_record - 1;
      run->report->first_record = run->cursor.next_record;
      run->report->record_count = tail;
    }
  }
  return WB_OK;
}

wb_status wb_compare(const wb_tape *tape, const wb_replay_options *options,
                     const wb_engine *engines, int32_t engine_count, wb_compare_report *report,
                     wb_error *error) {
  memset(report, 0, sizeof *report);
  WB_TRY(check_call(tape, options, engine_count, error));
  compare run = {.tape = tape, .options = options, .report = report};
  wb_status status = open_books(&run, engines, engine_count, error);
  if (status == WB_OK) {
    status = run_rows(&run, error);
  }
  for (int32_t i = 0; i < WB_COMPARE_ENGINES; i++) {
    if (run.engines[i] != NULL) {
      run.types[i]->close(run.engines[i]);
    }
  }
  return status;
}

void wb_compare_report_free(wb_compare_report *report) {
  wb_arena_free(&report->arena);
  memset(report, 0, sizeof *report);
}

/* Replay and compare on tapes made by hand: what counts as a row, what is checked, what is shown. */
#include "sim/compare.h"
#include "sim/replay.h"

#include <criterion/criterion.h>
#include <string.h>

enum { LEVELS = 2, CELLS = 2 * LEVELS, NONE = WB_NO_PRICE };

static const int64_t second = 1000000000;

/* A day of five rows, one second each, on a book of one ask and one bid:
 * row 0 is the seed, row 1 adds an ask behind it, row 2 is a hidden execution that left no record,
 * row 3 takes 40 of the seed's ask (in two records), row 4 deletes the bid. */
typedef struct day {
  wb_order seed[2];
  wb_record records[8];
  int64_t ids[8];
  wb_source_row rows[5];
  int32_t price[5 * CELLS];
  int64_t qty[5 * CELLS];
  wb_tape tape;
} day;

static wb_record record(int32_t row, wb_record_type type, int flags, int32_t ref, int32_t price,
                        int32_t qty) {
  return (wb_record){.time_ns = (row + 1) * second,
                     .ref = ref,
                     .price = price,
                     .qty = qty,
                     .row = row,
                     .type = (uint8_t)type,
                     .flags = (uint8_t)flags};
}

static void expect_row(day *d, int row, const int32_t *price, const int64_t *qty) {
  memcpy(&d->price[row * CELLS], price, CELLS * sizeof *price);
  memcpy(&d->qty[row * CELLS], qty, CELLS * sizeof *qty);
}

static void make_day(day *d) {
  memset(d, 0, sizeof *d);
  d->seed[0] = (wb_order){.ref = 0, .price = 20, .qty = 100, .arrival = 1, .side = WB_SIDE_ASK};
  d->seed[1] = (wb_order){.ref = 1, .price = 10, .qty = 50, .arrival = 2, .side = WB_SIDE_BID};
  const int ask = WB_FLAG_SIDE, end = WB_FLAG_ROW_END;
  d->records[0] = record(1, WB_RECORD_ADD, ask | end, 2, 21, 70);
  d->records[1] = record(3, WB_RECORD_EXECUTE, ask, 0, 20, 30);
  d->records[2] = record(3, WB_RECORD_EXECUTE, ask | end, 0, 20, 10);
  d->records[3] = record(4, WB_RECORD_DELETE, end, 1, 0, 0);
  for (int row = 0; row < 5; row++) {
    d->rows[row].time_ns = (row + 1) * second;
  }
  expect_row(d, 0, (int32_t[]){20, 10, NONE, NONE}, (int64_t[]){100, 50, 0, 0});
  expect_row(d, 1, (int32_t[]){20, 10, 21, NONE}, (int64_t[]){100, 50, 70, 0});
  expect_row(d, 2, (int32_t[]){20, 10, 21, NONE}, (int64_t[]){100, 50, 70, 0});
  expect_row(d, 3, (int32_t[]){20, 10, 21, NONE}, (int64_t[]){60, 50, 70, 0});
  expect_row(d, 4, (int32_t[]){20, NONE, 21, NONE}, (int64_t[]){60, 0, 70, 0});
  d->tape = (wb_tape){.tick_size = 1,
                      .price_unit = 1e-4,
                      .levels = LEVELS,
                      .record_count = 4,
                      .records = d->records,
                      .ref_count = 3,
                      .ids = d->ids,
                      .seed_count = 2,
                      .seed = d->seed,
                      .row_count = 5,
                      .rows = d->rows,
                      .book_price = d->price,
                      .book_qty = d->qty};
}

static wb_replay_result replay(const day *d, const wb_replay_options *options) {
  wb_replay_result result;
  wb_error error = {0};
  cr_assert_eq(wb_replay(&d->tape, options, &result, &error), WB_OK, "%s", error.text);
  return result;
}

Test(replay, a_clean_day_is_equal_at_every_row) {
  day d;
  make_day(&d);
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.rows, 5);
  cr_expect_eq(result.records, 4);
  cr_expect_eq(result.rows_checked, 5);
  cr_expect_eq(result.rows_equal, 5);
  cr_expect_eq(result.levels_checked, 2);
  cr_expect_not(result.different);
  cr_expect_eq(result.trades, 2);
  cr_expect_eq(result.volume, 40);
  cr_expect_eq(result.status, 0);
  cr_expect_eq(result.books, 1);
  cr_expect_str_eq(result.device, "cpu");
}

Test(replay, every_wrong_cell_is_found_where_it_is) {
  for (int cell = 0; cell < 5 * CELLS; cell++) {
    day d;
    make_day(&d);
    d.qty[cell] += 1;
    wb_replay_options options = wb_replay_options_default();
    wb_replay_result result = replay(&d, &options);
    cr_expect(result.different);
    cr_expect_eq(result.rows_checked, 5);
    cr_expect_eq(result.rows_equal, 4);
    cr_expect_eq(result.first_difference.row, cell / CELLS);
    cr_expect_eq(result.first_difference.level, cell % CELLS / 2);
    cr_expect_eq(result.first_difference.side, cell % 2 == 0 ? WB_SIDE_ASK : WB_SIDE_BID);
    cr_expect_eq(result.first_difference.expected_qty, result.first_difference.got_qty + 1);
  }
}

Test(replay, the_first_difference_names_its_record_and_both_cells) {
  day d;
  make_day(&d);
  d.records[1].qty = 25; /* row 3 takes 5 too few; row 4 keeps them */
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.rows_equal, 3);
  cr_expect_eq(result.first_difference.row, 3);
  cr_expect_eq(result.first_difference.record, 2);
  cr_expect_eq(result.first_difference.side, WB_SIDE_ASK);
  cr_expect_eq(result.first_difference.level, 0);
  cr_expect_eq(result.first_difference.expected_price, 20);
  cr_expect_eq(result.first_difference.expected_qty, 60);
  cr_expect_eq(result.first_difference.got_price, 20);
  cr_expect_eq(result.first_difference.got_qty, 65);
}

Test(replay, the_seed_is_row_0) {
  day d;
  make_day(&d);
  d.seed[1].price = 11;
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.first_difference.row, 0);
  cr_expect_eq(result.first_difference.record, -1);
  cr_expect_eq(result.first_difference.side, WB_SIDE_BID);
  cr_expect_eq(result.first_difference.got_price, 11);
}

Test(replay, a_row_0_with_a_record_is_checked_once_after_it) {
  day d;
  make_day(&d);
  memmove(&d.records[1], &d.records[0], 4 * sizeof d.records[0]);
  d.records[0] = record(0, WB_RECORD_NOTE, WB_FLAG_ROW_END, 0, 0, 9);
  d.tape.record_count = 5;
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.rows_checked, 5);
  cr_expect_eq(result.rows_equal, 5);
  cr_expect_eq(result.counters[WB_COUNT_HIDDEN_VOLUME], 9);
}

Test(replay, stopping_leaves_the_book_as_it_is_after_the_row) {
  day d, whole;
  make_day(&d);
  make_day(&whole);
  d.qty[1 * CELLS + 2] = 71;
  wb_replay_options options = wb_replay_options_default();
  options.stop_at_difference = true;
  wb_replay_result stopped = replay(&d, &options);
  cr_expect_eq(stopped.rows, 2);
  cr_expect_eq(stopped.records, 1);
  whole.tape.record_count = 1;
  whole.tape.row_count = 2;
  cr_expect_eq(stopped.state_hash, replay(&whole, &options).state_hash);
}

Test(replay, fewer_levels_see_less_and_more_levels_are_not_checked) {
  day d;
  make_day(&d);
  d.qty[1 * CELLS + 2] = 71; /* the second ask */
  wb_replay_options options = wb_replay_options_default();
  options.levels = 1;
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.rows_equal, 5);
  cr_expect_eq(result.levels_checked, 1);
  options.levels = 7;
  result = replay(&d, &options);
  cr_expect_eq(result.rows_equal, 4);
  cr_expect_eq(result.levels_checked, 2);
}

Test(replay, a_tape_without_book_rows_proves_nothing) {
  day d;
  make_day(&d);
  d.tape.levels = 0;
  d.tape.book_price = NULL;
  d.tape.book_qty = NULL;
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.rows, 5);
  cr_expect_eq(result.rows_checked, 0);
  cr_expect_eq(result.levels_checked, 0);
  cr_expect_eq(result.volume, 40);
}

/* ---- what is shown ---- */

typedef struct shown {
  int rows, trades, fail_at;
  int64_t row[16];
  int32_t levels, best_ask[16];
  int64_t best_ask_qty[16], trade_time[16];
} shown;

static wb_status note_row(void *context, const wb_row_view *view, wb_error *error) {
  shown *s = context;
  s->row[s->rows] = view->row;
  s->levels = view->levels;
  s->best_ask[s->rows] = view->price[0];
  s->best_ask_qty[s->rows] = view->qty[0];
  s->rows++;
  return s->rows == s->fail_at ? WB_FAIL(error, WB_ERROR_IO, "full") : WB_OK;
}

static wb_status note_trade(void *context, const wb_trade *trade, wb_error *error) {
  (void)error;
  shown *s = context;
  s->trade_time[s->trades++] = trade->time_ns;
  return WB_OK;
}

static wb_replay_options showing(shown *s) {
  wb_replay_options options = wb_replay_options_default();
  memset(s, 0, sizeof *s);
  options.on_row = note_row;
  options.on_trade = note_trade;
  options.context = s;
  return options;
}

Test(shown, every_source_row_is_shown_even_one_without_records) {
  day d;
  shown s;
  make_day(&d);
  wb_replay_options options = showing(&s);
  options.levels = 3;
  (void)replay(&d, &options);
  cr_assert_eq(s.rows, 5);
  cr_expect_eq(s.levels, 3);
  for (int i = 0; i < 5; i++) {
    cr_expect_eq(s.row[i], i);
    cr_expect_eq(s.best_ask[i], 20);
    cr_expect_eq(s.best_ask_qty[i], i < 3 ? 100 : 60);
  }
  cr_expect_eq(s.trades, 2);
}

Test(shown, a_time_window_shows_its_rows_and_checks_what_comes_before) {
  day d;
  shown s;
  make_day(&d);
  wb_replay_options options = showing(&s);
  options.from_ns = 3 * second;
  options.to_ns = 5 * second;
  wb_replay_result result = replay(&d, &options);
  cr_assert_eq(s.rows, 2);
  cr_expect_eq(s.row[0], 2);
  cr_expect_eq(s.row[1], 3);
  cr_expect_eq(s.trades, 2);
  cr_expect_eq(result.rows_checked, 4);
  cr_expect_eq(result.records, 3);

  options = showing(&s);
  options.to_ns = 4 * second;
  result = replay(&d, &options);
  cr_expect_eq(s.rows, 3);
  cr_expect_eq(s.trades, 0);
  cr_expect_eq(result.trades, 0);

  options = showing(&s);
  options.from_ns = 5 * second;
  result = replay(&d, &options);
  cr_expect_eq(s.rows, 1);
  cr_expect_eq(s.trades, 0);
  cr_expect_eq(result.trades, 2);

  options = showing(&s);
  options.to_ns = second;
  result = replay(&d, &options);
  cr_expect_eq(s.rows + result.rows + result.records, 0);
}

Test(shown, a_function_that_fails_ends_the_replay_with_its_error) {
  day d;
  shown s;
  make_day(&d);
  wb_replay_options options = showing(&s);
  s.fail_at = 2;
  wb_replay_result result;
  wb_error error;
  cr_expect_eq(wb_replay(&d.tape, &options, &result, &error), WB_ERROR_IO);
  cr_expect_str_eq(error.text, "full");
  cr_expect_eq(s.rows, 2);
}

Test(shown, agents_records_without_source_rows) {
  day d;
  shown s;
  make_day(&d);
  d.tape.row_count = 0;
  d.tape.levels = 0;
  d.records[0].row = -1;
  d.records[0].flags = WB_FLAG_SIDE;
  d.records[0].owner = 1;
  d.records[0].ref = WB_REF_AGENT_FIRST + 5;
  wb_replay_options options = showing(&s);
  options.levels = 1;
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.rows, 2); /* the records with ROW_END */
  cr_expect_eq(result.records, 4);
  cr_expect_eq(result.rows_checked, 0);
  cr_assert_eq(s.rows, 2);
  cr_expect_eq(s.row[0], 3);
  cr_expect_eq(s.best_ask_qty[0], 60);
}

Test(shown, records_behind_the_last_row_run_too) {
  day d;
  make_day(&d);
  d.records[4] = record(-1, WB_RECORD_MARKET, 0, WB_REF_AGENT_FIRST + 1, 0, 60);
  d.records[4].owner = 1;
  d.records[4].time_ns = 9 * second;
  d.tape.record_count = 5;
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result = replay(&d, &options);
  cr_expect_eq(result.rows_equal, 5);
  cr_expect_eq(result.records, 5);
  cr_expect_eq(result.volume, 100);
}

/* ---- more rows than one batch ---- */

enum { MANY = 1000 };

Test(replay, batches_do_not_show) {
  static wb_record records[MANY];
  static wb_source_row rows[MANY];
  static int32_t price[MANY * 2];
  static int64_t qty[MANY * 2], ids[MANY];
  int64_t total = 0;
  int32_t count = 0;
  for (int32_t row = 0; row < MANY; row++) {
    rows[row].time_ns = (row + 1) * second;
    if (row % 3 != 1) { /* a third of the rows has no records */
      records[count] = record(row, WB_RECORD_ADD, WB_FLAG_ROW_END, count, 5, row + 1);
      total += row + 1;
      count++;
    }
    price[2 * row] = NONE;
    price[2 * row + 1] = 5;
    qty[2 * row + 1] = total;
  }
  wb_tape tape = {.tick_size = 1,
                  .levels = 1,
                  .record_count = count,
                  .records = records,
                  .ref_count = count,
                  .ids = ids,
                  .row_count = MANY,
                  .rows = rows,
                  .book_price = price,
                  .book_qty = qty};
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result;
  wb_error error = {0};
  cr_assert_eq(wb_replay(&tape, &options, &result, &error), WB_OK, "%s", error.text);
  cr_expect_eq(result.rows_equal, MANY);
  for (int row = 250; row < 520; row++) {
    qty[2 * row + 1]--;
    cr_assert_eq(wb_replay(&tape, &options, &result, &error), WB_OK);
    cr_expect_eq(result.rows_equal, MANY - 1);
    cr_expect_eq(result.first_difference.row, row);
    qty[2 * row + 1]++;
  }
}

/* ---- what is refused ---- */

static wb_status refused(const day *d, const wb_replay_options *options, const char *word) {
  wb_replay_result result;
  wb_error error = {0};
  wb_status status = wb_replay(&d->tape, options, &result, &error);
  cr_expect(strstr(error.text, word) != NULL, "expected \"%s\" in \"%s\"", word, error.text);
  return status;
}

Test(refused, options_out_of_range) {
  day d;
  make_day(&d);
  wb_replay_options options = wb_replay_options_default();
  options.levels = -1;
  cr_expect_eq(refused(&d, &options, "levels"), WB_ERROR_ARGUMENT);
  options = wb_replay_options_default();
  options.from_ns = 5;
  options.to_ns = 5;
  cr_expect_eq(refused(&d, &options, "from"), WB_ERROR_ARGUMENT);
  options = wb_replay_options_default();
  options.books = 2;
  cr_expect_eq(refused(&d, &options, "1 book"), WB_ERROR_ARGUMENT);
  options = wb_replay_options_default();
  options.device = "cuda";
  cr_expect_eq(refused(&d, &options, "device"), WB_ERROR_ARGUMENT);
  options = wb_replay_options_default();
  options.rules.capacity = -1;
  cr_expect_eq(refused(&d, &options, "capacity"), WB_ERROR_ARGUMENT);
}

Test(refused, rows_that_do_not_ascend) {
  day d;
  make_day(&d);
  d.records[3].row = 2;
  wb_replay_options options = wb_replay_options_default();
  cr_expect_eq(refused(&d, &options, "record 3"), WB_ERROR_ARGUMENT);
  d.records[3].row = 5;
  cr_expect_eq(refused(&d, &options, "before 5"), WB_ERROR_ARGUMENT);
}

/* ---- compare ---- */

static const wb_engine reference[] = {WB_ENGINE_REFERENCE, WB_ENGINE_REFERENCE};

Test(compare, equal_rows) {
  day d;
  make_day(&d);
  wb_replay_options options = wb_replay_options_default();
  wb_compare_report report;
  wb_error error = {0};
  for (int engines = 1; engines <= 2; engines++) {
    cr_assert_eq(wb_compare(&d.tape, &options, reference, engines, &report, &error), WB_OK, "%s",
                 error.text);
    cr_expect_not(report.different);
    cr_expect(report.against_source);
    cr_expect_eq(report.rows, 5);
    cr_expect_eq(report.records, 4);
    cr_expect_eq(report.book_count, engines + 1);
    wb_compare_report_free(&report);
  }
}

Test(compare, a_difference_keeps_the_books_around_it) {
  day d;
  make_day(&d);
  d.records[1].qty = 25;
  wb_replay_options options = wb_replay_options_default();
  wb_compare_report report;
  cr_assert_eq(wb_compare(&d.tape, &options, reference, 1, &report, NULL), WB_OK);
  cr_assert(report.different);
  cr_expect_eq(report.rows, 4);
  cr_expect_eq(report.difference.row, 3);
  cr_expect_eq(report.difference.expected_qty, 60);
  cr_expect_eq(report.difference.got_qty, 65);
  cr_expect_eq(report.first_record, 1);
  cr_expect_eq(report.record_count, 2);
  cr_expect_str_eq(report.books[0].name, "source");
  cr_expect_str_eq(report.books[1].name, "reference");
  cr_expect_eq(report.books[0].before_qty[0], 100);
  cr_expect_eq(report.books[1].before_qty[0], 100);
  cr_expect_eq(report.books[0].after_qty[0], 60);
  cr_expect_eq(report.books[1].after_qty[0], 65);
  wb_compare_report_free(&report);
}

Test(compare, a_row_without_records_and_the_seed) {
  day d;
  make_day(&d);
  d.price[2 * CELLS] = 19;
  wb_replay_options options = wb_replay_options_default();
  wb_compare_report report;
  cr_assert_eq(wb_compare(&d.tape, &options, reference, 1, &report, NULL), WB_OK);
  cr_expect_eq(report.difference.row, 2);
  cr_expect_eq(report.difference.record, 0);
  cr_expect_eq(report.record_count, 0);
  wb_compare_report_free(&report);

  d.price[1] = 9;
  cr_assert_eq(wb_compare(&d.tape, &options, reference, 1, &report, NULL), WB_OK);
  cr_expect_eq(report.difference.row, 0);
  cr_expect_eq(report.difference.record, -1);
  cr_expect_eq(report.books[0].before_price[1], WB_NO_PRICE);
  cr_expect_eq(report.books[1].before_price[1], 10);
  wb_compare_report_free(&report);
}

Test(compare, needs_something_to_compare_with) {
  day d;
  make_day(&d);
  d.tape.levels = 0;
  wb_replay_options options = wb_replay_options_default();
  wb_compare_report report;
  wb_error error = {0};
  cr_expect_eq(wb_compare(&d.tape, &options, reference, 1, &report, &error), WB_ERROR_STATE);
  cr_expect(strstr(error.text, "no book rows") != NULL);
  wb_compare_report_free(&report);
  cr_expect_eq(wb_compare(&d.tape, &options, reference, 2, &report, &error), WB_OK);
  cr_expect_not(report.against_source);
  cr_expect_eq(report.rows, 5);
  wb_compare_report_free(&report);
  cr_expect_eq(wb_compare(&d.tape, &options, reference, 3, &report, &error), WB_ERROR_ARGUMENT);
}

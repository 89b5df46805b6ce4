/* wb_tape_check: what an engine may rely on, each rule broken once. */
#include "data/tape.h"
#include "tapes.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void expect_good(wb_tape *tape) {
  wb_error error = {0};
  cr_expect_eq(wb_tape_check(tape, &error), WB_OK, "%s", error.text);
  wb_tape_free(tape);
}

/* `change` is done to a good tape, which is then refused with a text that has both parts. */
#define EXPECT_BAD(make, change, where, what)                                            \
  do {                                                                                   \
    wb_tape *tape = make;                                                                \
    wb_error error = {0};                                                                \
    change;                                                                              \
    cr_expect_eq(wb_tape_check(tape, &error), WB_ERROR_FORMAT, "%s: accepted", #change); \
    cr_expect(strstr(error.text, where) != NULL && strstr(error.text, what) != NULL,     \
              "%s: \"%s\" and \"%s\" are not in: %s", #change, where, what, error.text); \
    wb_tape_free(tape);                                                                  \
  } while (0)

Test(tape, good_tapes_pass) {
  expect_good(full_tape());
  expect_good(bare_tape(false));
  expect_good(bare_tape(true));
  expect_good(long_tape(1000, 2));
  expect_good(wb_tape_new());
  wb_tape_free(NULL);
}

Test(tape, a_new_one_has_a_cent_hundredth_and_tick_one) {
  wb_tape *tape = wb_tape_new();
  cr_expect_eq(tape->tick_size, 1);
  cr_expect_eq(tape->price_unit, 1e-4);
  cr_expect_eq(tape->record_count, 0);
  wb_tape_free(tape);
}

Test(tape, the_header_is_in_its_ranges) {
  EXPECT_BAD(full_tape(), memset(tape->instrument, 'x', sizeof tape->instrument), "instrument", "");
  EXPECT_BAD(full_tape(), strcpy(tape->instrument, "a/b"), "instrument", "'/'");
  EXPECT_BAD(full_tape(), strcpy(tape->instrument, "a\n"), "instrument", "control");
  EXPECT_BAD(full_tape(), strcpy(tape->day, "2024-1-02"), "day", "2024-1-02");
  EXPECT_BAD(full_tape(), strcpy(tape->day, "2024-01-022"), "day", "2024-01-022");
  EXPECT_BAD(full_tape(), tape->price_unit = 0, "price_unit", "got 0");
  EXPECT_BAD(full_tape(), tape->price_unit = NAN, "price_unit", "nan");
  EXPECT_BAD(full_tape(), tape->price_unit = INFINITY, "price_unit", "inf");
  EXPECT_BAD(full_tape(), tape->base = INT64_MIN, "base", "2^62");
  EXPECT_BAD(full_tape(), tape->tick_size = 0, "tick_size", "got 0");
  EXPECT_BAD(full_tape(), tape->tick_size = INT32_MAX, "tick_size", "2147483647");
  EXPECT_BAD(full_tape(), tape->levels = -1, "levels", "got -1");
  EXPECT_BAD(full_tape(), tape->levels = WB_TAPE_LEVELS_LAST + 1, "levels", "1001");
  EXPECT_BAD(full_tape(), tape->start_ns = -1, "start_ns", "-1");
  EXPECT_BAD(full_tape(), tape->end_ns = tape->start_ns - 1, "end_ns", "");
}

Test(tape, arrays_are_there_and_counts_are_counts) {
  EXPECT_BAD(full_tape(), tape->records = NULL, "records", "no array");
  EXPECT_BAD(full_tape(), tape->record_count = -1, "records", "got -1");
  EXPECT_BAD(full_tape(), tape->record_count = INT64_C(1) << 31, "records", "2147483648");
  EXPECT_BAD(full_tape(), tape->ids = NULL, "ids", "no array");
  EXPECT_BAD(full_tape(), tape->seed = NULL, "seed", "no array");
  EXPECT_BAD(full_tape(), tape->rows = NULL, "rows", "no array");
  EXPECT_BAD(full_tape(), tape->book_qty = NULL, "book_qty", "no array");
  EXPECT_BAD(full_tape(), tape->participant_count = 65536, "participants", "65536");
  EXPECT_BAD(full_tape(), tape->odd_times = NULL, "odd_times", "no array");
  EXPECT_BAD(full_tape(), tape->source_count = -5, "sources", "got -5");
}

Test(tape, the_seed_is_a_book_in_order) {
  EXPECT_BAD(full_tape(), tape->seed[0].qty = 0, "seed[0]", "qty");
  EXPECT_BAD(full_tape(), tape->seed[0].side = 2, "seed[0]", "side");
  EXPECT_BAD(full_tape(), tape->seed[0].price = 150, "seed[0]", "price");
  EXPECT_BAD(full_tape(), tape->seed[0].price = (1 << 30) + 100, "seed[0]", "price");
  EXPECT_BAD(full_tape(), tape->seed[1].ref = 3, "seed[1]", "ref");
  EXPECT_BAD(full_tape(), tape->seed[1].ref = -1, "seed[1]", "ref");
  EXPECT_BAD(full_tape(), tape->seed[1].ref = 0, "seed", "got 0 twice");
  EXPECT_BAD(full_tape(), tape->seed[1].owner = 1, "seed[1]", "ref");
  EXPECT_BAD(full_tape(), tape->seed[1].owner = -1, "seed[1]", "ref");
  EXPECT_BAD(full_tape(), tape->seed[1].arrival = 3, "seed[1]", "arrival");
  EXPECT_BAD(full_tape(), tape->seed[1].arrival = 1, "seed", "arrival");
  EXPECT_BAD(full_tape(), (tape->seed[0].side = WB_SIDE_BID, tape->seed[0].price = -200), "seed[1]",
             "best price first");
  EXPECT_BAD(full_tape(), tape->seed[1].side = WB_SIDE_ASK, "seed[1]", "best price first");
}

Test(tape, records_are_in_time_and_within_the_ids) {
  EXPECT_BAD(full_tape(), tape->records[1].time_ns--, "records[1]", "time_ns");
  EXPECT_BAD(full_tape(), tape->records[0].time_ns = INT64_MIN, "records[0]", "time_ns");
  EXPECT_BAD(full_tape(), tape->records[2].time_ns = INT64_MAX, "records[2]", "time_ns");
  EXPECT_BAD(full_tape(), tape->records[2].ref = 3, "records[2]", "ref");
  EXPECT_BAD(full_tape(), tape->records[2].ref = (1 << 30) - 1, "records[2]", "ref");
}

Test(tape, rows_come_in_order_and_end_once) {
  EXPECT_BAD(full_tape(), tape->records[1].flags = 1, "records[2]", "row: expected 1 (begun");
  EXPECT_BAD(full_tape(), tape->records[0].flags |= WB_FLAG_ROW_END, "records[1]", "expected 2");
  EXPECT_BAD(full_tape(), tape->records[2].flags = 1, "records", "none for row 2");
  EXPECT_BAD(full_tape(), tape->records[2].row = 3, "records[2]", "got 3");
  EXPECT_BAD(full_tape(), tape->records[2].row = 1, "records[2]", "got 1");
  EXPECT_BAD(full_tape(), tape->records[2].row = -1, "records[2]", "got -1 with ROW_END");
  EXPECT_BAD(full_tape(), tape->records[0].row = -2, "records[0]", "got -2");
  EXPECT_BAD(full_tape(), tape->record_count = 2, "records", "none for row 2");
  EXPECT_BAD(full_tape(), tape->record_count = 0, "records", "none for row 1");
  EXPECT_BAD(bare_tape(true), tape->records[0].row = 0, "records[0]", "of 0 source rows");
}

Test(tape, row_zero_may_have_records_or_none) {
  expect_good(long_tape(3, 1));
  wb_tape *without = long_tape(3, 1);
  without->records[0].row = -1, without->records[0].flags = 0;
  expect_good(without);
  EXPECT_BAD(long_tape(3, 1), tape->records[0].flags = 0, "records[1]", "expected 0 (begun");
}

Test(tape, rows_and_books_are_in_their_ranges) {
  EXPECT_BAD(full_tape(), tape->rows[1].time_ns = 0, "rows[1]", "time_ns");
  EXPECT_BAD(full_tape(), tape->rows[0].time_ns = -1, "rows[0]", "time_ns");
  EXPECT_BAD(full_tape(), tape->rows[1].type = 0, "rows[1]", "type");
  EXPECT_BAD(full_tape(), tape->rows[1].type = 8, "rows[1]", "type");
  EXPECT_BAD(full_tape(), tape->rows[2].size = -1, "rows[2]", "size");
  EXPECT_BAD(full_tape(), tape->rows[2].direction = 2, "rows[2]", "direction");
  EXPECT_BAD(full_tape(), tape->rows[2].participant = 3, "rows[2]", "participant");
  EXPECT_BAD(full_tape(), tape->book_price[5] = WB_NO_PRICE, "book[1][1]", "and 75");
  EXPECT_BAD(full_tape(), tape->book_qty[11] = 1, "book[2][3]", "and 1");
  EXPECT_BAD(full_tape(), tape->book_qty[0] = 0, "book[0][0]", "100 and 0");
  EXPECT_BAD(full_tape(), tape->book_price[0] = INT32_MAX, "book[0][0]", "2147483647");
}

Test(tape, odd_times_are_those_of_their_rows) {
  static wb_odd_time odd[2];
  EXPECT_BAD(full_tape(), (odd[0].text = "34200.000000001001", tape->odd_times = odd),
             "odd_times[0]", "");
  const char *good[] = {"34200.000000001", "034200.0000000010009"};
  for (int k = 0; k < 2; k++) {
    wb_tape *tape = full_tape();
    odd[0] = (wb_odd_time){1, good[k]};
    tape->odd_times = odd;
    expect_good(tape);
  }
  const char *bad[] = {"34200.000000002",  "34200,000000001",     "", ".", "x", "-1",
                       "34200.000000001 ", "99999999999999999999"};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    odd[0] = (wb_odd_time){1, bad[k]};
    EXPECT_BAD(full_tape(), tape->odd_times = odd, "odd_times[0]", "text");
  }
  odd[0] = (wb_odd_time){3, "1"};
  EXPECT_BAD(full_tape(), tape->odd_times = odd, "odd_times[0]", "row");
  odd[0] = odd[1] = (wb_odd_time){1, "34200.000000001"};
  EXPECT_BAD(full_tape(), (tape->odd_times = odd, tape->odd_time_count = 2), "odd_times[1]", "row");
}

Test(tape, texts_and_counts_are_usable) {
  static const char *names[] = {"null", "a,b"};
  static wb_source nameless[1];
  static wb_finding odd_kind[] = {{(wb_finding_kind)7, 0, "x"}};
  EXPECT_BAD(full_tape(), tape->participants = names, "participants[1]", "comma");
  EXPECT_BAD(full_tape(), (tape->sources = nameless, tape->source_count = 1), "sources[0]",
             "no name");
  EXPECT_BAD(full_tape(), tape->counts.late_adds = -1, "late_adds", "got -1");
  EXPECT_BAD(full_tape(), (tape->findings = odd_kind, tape->finding_count = 1), "findings[0]",
             "kind 7");
}

/* ---- the promise ---- */

static wb_tape *promising(void) {
  wb_tape *tape = full_tape();
  tape->unique_refs = true;
  return tape;
}

Test(promise, holds_where_each_add_has_a_new_reference) {
  expect_good(promising());
  wb_tape *tape = long_tape(500, 1);
  tape->unique_refs = true;
  expect_good(tape);
}

Test(promise, is_broken_by_a_reference_that_comes_again) {
  EXPECT_BAD(promising(), tape->records[0].ref = 1, "records[0]", "got 1 again");
  EXPECT_BAD(promising(), tape->records[1] = tape->records[0];
             tape->records[1].flags |= WB_FLAG_ROW_END, "records[1]", "got 2 again");
}

Test(promise, is_broken_by_any_agent) {
  EXPECT_BAD(bare_tape(true), tape->unique_refs = true, "records[3]", "owner 3");
}

/* Without the promise each of these is an engine's BAD_RECORD and no fault of the tape. */
Test(promise, is_broken_by_any_bad_record) {
  static const wb_record bad[] = {
      {0, 2, 100, 50, 0, 1, 0, 0, 1},                   /* no type */
      {0, 2, 100, 50, 0, 1, 0, 9, 1},                   /* unknown type */
      {0, -1, 100, 50, 0, 1, 0, WB_RECORD_ADD, 1},      /* negative reference */
      {0, 1 << 30, 100, 50, 0, 1, 0, WB_RECORD_ADD, 1}, /* an agent's reference */
      {0, 2, 150, 50, 0, 1, 0, WB_RECORD_ADD, 1},       /* off the tick */
      {0, 2, INT32_MIN, 50, 0, 1, 0, WB_RECORD_ADD, 1},
      {0, 2, 100, 0, 0, 1, 0, WB_RECORD_ADD, 1}, /* no shares */
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_ADD, WB_FLAG_IOC | WB_FLAG_FOK},
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_ADD, WB_FLAG_SLIDE},
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_AMEND, WB_FLAG_IOC},
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_DELETE, WB_FLAG_NO_MATCH},
      {0, 2, 100, -1, 0, 1, 0, WB_RECORD_NOTE, 0},
      {0, 2, 100, 1, 3, 1, 0, WB_RECORD_NOTE, 0}, /* unknown argument */
      {0, 2, 100, 1, -1, 1, 0, WB_RECORD_STATE, 0},
  };
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    wb_record record = bad[k];
    record.time_ns = 34200000000001;
    EXPECT_BAD(promising(), tape->records[0] = record, "records[0]", "good records");
    wb_tape *tape = full_tape();
    tape->records[0] = record;
    expect_good(tape);
  }
}

Test(promise, allows_every_kind_of_good_record) {
  static const wb_record good[] = {
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_ADD, WB_FLAG_NO_MATCH},
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_ADD, WB_FLAG_IOC | WB_FLAG_EDGE},
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_ADD, WB_FLAG_FOK},
      {0, 2, 100, 50, 0, 1, 0, WB_RECORD_ADD, WB_FLAG_POST_ONLY | WB_FLAG_SLIDE},
      {0, 2, 55, 50, 0, 1, 0, WB_RECORD_MARKET, 0},
      {0, 2, 55, -5, 0, 1, 0, WB_RECORD_DELETE, 1},
      {0, 2, 100, 5, 0, 1, 0, WB_RECORD_AMEND, WB_FLAG_POST_ONLY},
      {0, -9, 12345, 5, 2, 1, 0, WB_RECORD_NOTE, 0},
      {0, -9, 12345, -5, 2, 1, 0, WB_RECORD_STATE, 0},
  };
  for (size_t k = 0; k < sizeof good / sizeof good[0]; k++) {
    wb_tape *tape = promising();
    tape->records[0] = good[k];
    tape->records[0].time_ns = 34200000000001;
    expect_good(tape);
  }
}

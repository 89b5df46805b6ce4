/* Whole days and pieces of them as the vendor delivers them, and the tiny cases, each read and replayed
 * by the plain book. Skipped where the shared data is missing. */
#include "lobster_texts.h"
#include "plain_book.h"

#include <criterion/criterion.h>
#include <glob.h>

static wb_tape *read_path(const char *path, const wb_read_options *options) {
  wb_tape *tape = NULL;
  wb_error error = {0};
  cr_assert_eq(wb_tape_read(path, options, &tape, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_tape_check(tape, &error), WB_OK, "%s", error.text);
  return tape;
}

/* Reads the only file that fits a pattern below the shared data. */
static wb_tape *read_shared(const char *pattern, const wb_read_options *options) {
  glob_t found;
  const char *full = shared_path(pattern);
  cr_assert_eq(glob(full, 0, NULL, &found), 0, "%s", full);
  wb_tape *tape = read_path(found.gl_pathv[0], options);
  globfree(&found);
  return tape;
}

/* Every row equal, no promise broken: the records alone drive the book, and no edge record touches what
 * the row before showed. */
static void expect_proof(const wb_tape *tape, int64_t rows) {
  plain_result result = plain_replay(tape);
  cr_expect_str_eq(result.broken, "");
  cr_expect_eq(result.rows_checked, rows);
  cr_expect_eq(result.rows_equal, rows);
  cr_expect_eq(result.edge_records, tape->counts.edge_records);
  cr_expect_eq(tape->row_count, rows);
  cr_expect_eq(tape->counts.contradictions, 0);
  cr_expect_eq(tape->counts.crossed_rows, 0);
}

#define expect_count(tape, name, number)                                      \
  cr_expect_eq((tape)->counts.name, (number), #name ": %lld instead of %lld", \
               (long long)(tape)->counts.name, (long long)(number))

/* ---- whole days ---- */

Test(days, goog_at_depth_10) {
  wb_tape *t = read_shared("data/lobster/LOBSTER_SampleFile_GOOG_2012-06-21_10.zip", NULL);
  expect_proof(t, 147916);
  expect_count(t, edge_corrections, 7886);
  expect_count(t, edge_dropped, 1312);
  expect_count(t, largest_side, 55);
  cr_expect_leq(t->counts.edge_adds + t->counts.edge_reduces + t->counts.edge_deletes, 8300);
  expect_count(t, rows_submission, 71258);
  expect_count(t, rows_partial_cancel, 19);
  expect_count(t, rows_deletion, 64961);
  expect_count(t, rows_execution, 7765);
  expect_count(t, rows_hidden_execution, 3913);
  cr_expect_str_eq(t->instrument, "GOOG");
  cr_expect_eq(t->levels, 10);
  cr_expect_eq(t->tick_size, 100);
  cr_expect(t->unique_refs);
  cr_expect_not(t->depth_unknown);
  wb_tape_free(t);
}

Test(days, aapl_at_depth_1) {
  wb_tape *t = read_shared("data/lobster/LOBSTER_SampleFile_AAPL_2012-06-21_1.zip", NULL);
  expect_proof(t, 118497);
  expect_count(t, edge_corrections, 22067);
  expect_count(t, edge_dropped, 11317);
  expect_count(t, largest_side, 54);
  cr_expect_leq(t->counts.edge_adds + t->counts.edge_reduces + t->counts.edge_deletes, 23700);
  expect_count(t, rows_execution, 23658);
  /* a third of the executions of a depth-1 file name ids that it never submitted */
  cr_expect_gt(t->counts.unknown_executions * 100, t->counts.rows_execution * 30);
  cr_expect_lt(t->counts.unknown_executions * 100, t->counts.rows_execution * 37);
  cr_expect_eq(t->seed_count, 2);
  wb_tape_free(t);
}

/* The best bid of one row holds more orders and shares than any guess of a small book would allow for. */
Test(days, aapl_row_93271_has_54_orders_at_the_best_bid) {
  wb_tape *t = read_shared("data/lobster/LOBSTER_SampleFile_AAPL_2012-06-21_1.zip", NULL);
  cr_expect_eq(t->book_qty[93271 * 2 + 1], 10873);
  wb_tape_free(t);
}

/* ---- pieces ---- */

typedef struct piece {
  const char *pattern;
  int64_t rows;
} piece;

static const piece pieces[] = {
    {"data/lobster/AAPL_L1_first10000/*message*", 10000},
    {"data/lobster/AAPL_L50_672/*message*", 672},
    {"data/lobster/AMZN_L5_rows67001-69000_has12decimals/*message*", 2000},
    {"data/lobster/GOOG_L10_first5000/*message*", 5000},
    {"data/lobster/GOOG_L10_rows100001-105000/*message*", 5000},
    {"data/lobster/MSFT_L50_999/*message*", 999},
};

Test(pieces, every_row_of_every_piece_is_proven) {
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
    wb_tape *t = read_shared(pieces[i].pattern, NULL);
    expect_proof(t, pieces[i].rows);
    wb_tape_free(t);
  }
}

Test(pieces, the_official_time_with_twelve_decimals) {
  wb_tape *t = read_shared("data/lobster/AMZN_L5_rows67001-69000_has12decimals/*message*", NULL);
  cr_assert_eq(t->odd_time_count, 1);
  const char *text = t->odd_times[0].text;
  cr_expect_eq(strlen(strchr(text, '.')), 13, "%s", text);
  wb_tape_free(t);
}

Test(pieces, the_2021_file_has_no_book_and_a_seventh_column) {
  static const char pattern[] = "data/lobster/AMZN_2021_messages_only/*message*";
  wb_tape *t = read_shared(pattern, &(wb_read_options){.messages_only = true});
  cr_expect_eq(t->row_count, 3000);
  cr_expect_eq(plain_replay(t).broken[0], 0);
  cr_expect(t->depth_unknown);
  cr_expect_eq(t->participant_count, 2);
  cr_expect_str_eq(t->participants[0], "null");
  expect_count(t, rows_auction, 1);
  expect_count(t, contradictions, 0);
  /* each row of type 2, 3, 4 is either of an order that the file submitted, or a note */
  int64_t notes = 0;
  for (int64_t i = 0; i < t->record_count; i++) {
    notes += t->records[i].type == WB_RECORD_NOTE && t->records[i].arg == WB_NOTE_UNRESOLVED;
  }
  cr_expect_eq(notes, t->counts.unknown_ids);
  wb_tape_free(t);
}

/* ---- cases ---- */

static wb_tape *read_case(const char *number) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "cases/%s-*/*message*", number);
  return read_shared(pattern, NULL);
}

Test(cases, every_clean_case_is_proven) {
  static const piece cases[] = {{"01", 7}, {"02", 5}, {"03", 5}, {"04", 5}, {"06", 5},
                                {"07", 6}, {"08", 5}, {"11", 8}, {"12", 6}, {"14", 3},
                                {"16", 4}, {"17", 5}, {"19", 5}, {"20", 5}, {"25", 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    wb_tape *t = read_case(cases[i].pattern);
    expect_proof(t, cases[i].rows);
    wb_tape_free(t);
  }
}

Test(cases, c01_a_marketable_order_is_executions_then_a_submission) {
  wb_tape *t = read_case("01");
  expect_count(t, visible_volume, 250);
  expect_count(t, rows_execution, 3);
  cr_expect_str_eq(record_text(t, 4), "ADD bid ref 4 200100 x 90 row 5 end");
  wb_tape_free(t);
}

Test(cases, c02_hidden_executions_leave_the_book_alone) {
  wb_tape *t = read_case("02");
  expect_count(t, visible_volume, 40);
  expect_count(t, hidden_volume, 560);
  cr_expect_eq(t->tick_size, 100, "hidden executions between ticks do not choose the tick");
  wb_tape_free(t);
}

Test(cases, c03_unknown_ids_take_from_row_0) {
  wb_tape *t = read_case("03");
  expect_count(t, unknown_ids, 3);
  expect_count(t, unknown_partial_cancels, 1);
  expect_count(t, unknown_deletions, 1);
  expect_count(t, unknown_executions, 1);
  expect_count(t, unknown_shares, 300);
  wb_tape_free(t);
}

Test(cases, c04_levels_slide_in) {
  wb_tape *t = read_case("04");
  expect_count(t, edge_records, 2);
  expect_count(t, edge_adds, 2);
  cr_expect_str_eq(record_text(t, 1), "ADD ask ref 6 100400 x 33 EDGE row 1 end");
  cr_expect_str_eq(record_text(t, 5), "ADD ask ref 8 100500 x 44 EDGE row 4 end");
  wb_tape_free(t);
}

Test(cases, c11_times_are_exact) {
  static const int64_t times[] = {34200000000000, 34200000000001, 34200176543200, 34200176543201,
                                  34200500000000, 43002123456789, 57599999999999, 57600000000000};
  wb_tape *t = read_case("11");
  for (int i = 0; i < 8; i++) {
    cr_expect_eq(t->rows[i].time_ns, times[i]);
  }
  wb_tape_free(t);
}

Test(cases, c12_equal_times_keep_the_order_of_the_file) {
  wb_tape *t = read_case("12");
  expect_count(t, repeated_times, 5);
  cr_expect_eq(t->rows[1].id, 2102);
  cr_expect_eq(t->rows[3].id, 2103);
  wb_tape_free(t);
}

Test(cases, c16_prices_above_32_bits) {
  wb_tape *t = read_case("16");
  cr_expect_eq(t->base, 6123000000);
  cr_expect_eq(t->base + t->records[0].price, 6123000000);
  cr_expect_eq(t->rows[0].price, 6123456700);
  cr_expect_eq(t->book_price[1], WB_NO_PRICE);
  wb_tape_free(t);
}

Test(cases, c19_an_auction_print_is_volume_of_its_own) {
  wb_tape *t = read_case("19");
  expect_count(t, auction_volume, 51234);
  expect_count(t, hidden_volume, 0);
  cr_expect_str_eq(record_text(t, 0), "NOTE 1 x 51234 row 1 end");
  wb_tape_free(t);
}

Test(cases, c20_participants) {
  wb_tape *t = read_case("20");
  cr_assert_eq(t->participant_count, 2);
  cr_expect_str_eq(t->participants[t->rows[3].participant - 1], "null");
  cr_expect_str_eq(t->participants[t->rows[4].participant - 1], "UBSS");
  wb_tape_free(t);
}

Test(cases, c23_unequal_rows_are_refused_or_cut) {
  glob_t found;
  cr_assert_eq(glob(shared_path("cases/23-*/*message*"), 0, NULL, &found), 0);
  const char *path = found.gl_pathv[0];
  wb_tape *tape;
  wb_error error;
  cr_expect_eq(wb_tape_read(path, NULL, &tape, &error), WB_ERROR_FORMAT);
  cr_expect_not_null(strstr(error.text, "got 5 in "));
  cr_expect_not_null(strstr(error.text, " and 3 in "));
  tape = read_path(path, &(wb_read_options){.truncate = true});
  expect_proof(tape, 3);
  expect_count(tape, truncated_rows, 2);
  wb_tape_free(tape);
  globfree(&found);
}

/* ---- the bundled sample ---- */

Test(sample, every_row_is_proven) {
  wb_tape *t =
      read_path(WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv", NULL);
  expect_proof(t, t->row_count);
  cr_expect_gt(t->row_count, 3000);
  cr_expect_gt(t->counts.edge_corrections, 0);
  cr_expect_gt(t->counts.late_adds, 0);
  cr_expect_gt(t->counts.rows_halt, 0);
  wb_tape_free(t);
}

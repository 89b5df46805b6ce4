/* Small day files, each with one thing that published simulators got wrong; what must come of each. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct expectation {
  const char *name; /* of replay's JSON, or of its counters */
  int64_t value;
} expectation;

typedef struct small_day {
  const char *folder;
  int64_t rows;
  expectation expected[8];
} small_day;

static const small_day small_days[] = {
    {"01-marketable-order-is-executions-then-add",
     7,
     {{"trades", 3}, {"volume", 250}, {"hidden_volume", 0}, {"crossed", 0}}},
    {"02-hidden-execution-leaves-book-alone",
     5,
     {{"trades", 1}, {"volume", 40}, {"hidden_volume", 560}, {"records_note", 3}}},
    {"03-unknown-order-ids-placed-before-the-file",
     5,
     {{"unknown_ids", 3}, {"volume", 70}, {"orphan", 0}}},
    {"04-level-slides-in-at-window-edge", 5, {{"edge_records", 2}, {"edge_corrections", 2}}},
    {"06-partial-cancel-size-is-the-amount-removed",
     5,
     {{"records_reduce", 2}, {"volume", 50}, {"unknown_ids", 0}}},
    {"07-two-orders-one-removed-survivor-stays", 6, {{"trades", 1}, {"volume", 20}}},
    {"08-last-order-of-a-middle-level-cancelled", 5, {{"trades", 3}, {"volume", 47}}},
    {"11-time-stamps-exact-nanoseconds", 8, {{"records_add", 7}, {"trades", 0}}},
    {"12-equal-time-stamps-keep-file-order", 6, {{"trades", 1}, {"volume", 50}}},
    {"14-bom-header-crlf-no-final-newline", 3, {{"hidden_volume", 3}, {"trades", 0}}},
    {"16-prices-above-int32-and-notional-overflow",
     4,
     {{"volume", 1000000000}, {"notional", 6123000000000000000}, {"saturated", 0}}},
    {"17-empty-side-and-dummy-levels", 5, {{"trades", 1}, {"volume", 7}}},
    {"19-cross-trade-type-6",
     5,
     {{"auction_volume", 51234}, {"hidden_volume", 0}, {"trades", 0}, {"unknown_ids", 1}}},
    {"20-seventh-column-mpid-or-null", 5, {{"auction_volume", 51234}, {"records_add", 3}}},
    {"25-agent-took-the-order-history-executes", 3, {{"trades", 1}, {"volume", 60}}},
};

enum { SMALL_DAYS = sizeof small_days / sizeof small_days[0] };

static int64_t find_number(const json_t *replay, const char *name) {
  const json_t *counters = json_object_get(replay, "counters");
  return number(json_object_get(replay, name) != NULL ? replay : counters, name);
}

static void check_clean(const json_t *replay, int64_t rows) {
  static const char *const zeros[] = {"contradictions", "orphan",        "unknown_ref",
                                      "bad_record",     "duplicate_ref", "rejected",
                                      "book_full",      "evicted",       "orphaned_shares"};
  cr_expect_eq(number(replay, "rows"), rows);
  cr_expect_eq(number(replay, "rows_checked"), rows);
  cr_expect_eq(number(replay, "rows_equal"), rows);
  for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
    cr_expect_eq(find_number(replay, zeros[i]), 0, "%s", zeros[i]);
  }
}

static char *case_folder(const char *name) {
  char *part = format("cases/%s", name);
  char *folder = data_folder(part);
  free(part);
  return folder;
}

static void check_day(const small_day *day) {
  char *folder = case_folder(day->folder);
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  json_t *replay = expect_json(RUN("replay", messages, "--json"), 0);
  check_clean(replay, day->rows);
  for (const expectation *one = day->expected; one->name != NULL; one++) {
    cr_expect_eq(find_number(replay, one->name), one->value, "%s: %s: expected %lld, got %lld",
                 day->folder, one->name, (long long)one->value,
                 (long long)find_number(replay, one->name));
  }
  json_decref(replay);
  run_result compare = RUN("compare", messages);
  cr_expect_eq(compare.status, 0);
  run_free(&compare);
  free(messages);
  free(folder);
}

Test(cases, each_does_what_is_expected_of_it) {
  for (int i = 0; i < SMALL_DAYS; i++) {
    check_day(&small_days[i]);
  }
}

/* The book file is written back byte for byte, dummies of empty sides included; CSV to store to CSV
 * too; and a store replays like its text. Byte order mark, header and CRLF are not kept. */
static void check_ways_back(const small_day *day, const char *scratch) {
  char *folder = case_folder(day->folder);
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_"), *books = find_in(folder, "_orderbook_");
  char *book = format("%s/book.csv", scratch), *store = format("%s/day.h5", scratch);
  char *back = format("%s/back", scratch);
  json_t *text_replay = expect_json(RUN("replay", messages, "--book", book, "--json"), 0);
  run_result converted = RUN("convert", messages, store);
  cr_expect_eq(converted.status, 0, "%s", converted.err);
  json_t *store_replay = expect_json(RUN("replay", store, "--json"), 0);
  cr_expect_str_eq(text(text_replay, "state_hash"), text(store_replay, "state_hash"));
  cr_expect_str_eq(text(text_replay, "book_hash"), text(store_replay, "book_hash"));
  run_result exported = RUN("export", store, back);
  cr_expect_eq(exported.status, 0, "%s", exported.err);
  if (strstr(day->folder, "bom-header") == NULL) {
    char *messages_back = find_in(back, "_message_"), *books_back = find_in(back, "_orderbook_");
    cr_expect(same_files(book, books), "%s: the book differs", day->folder);
    cr_expect(same_files(messages_back, messages), "%s: the messages differ", day->folder);
    cr_expect(same_files(books_back, books), "%s: the book rows differ", day->folder);
    free(messages_back);
    free(books_back);
  }
  json_decref(text_replay);
  json_decref(store_replay);
  run_free(&converted);
  run_free(&exported);
  free(messages);
  free(books);
  free(book);
  free(store);
  free(back);
  free(folder);
}

Test(cases, each_comes_back_byte_for_byte) {
  for (int i = 0; i < SMALL_DAYS; i++) {
    char *scratch = scratch_make();
    check_ways_back(&small_days[i], scratch);
    scratch_free(scratch);
  }
}

/* ---- what a table cannot say ---- */

Test(cases, unknown_ids_are_told_by_kind) {
  char *folder = case_folder("03-unknown-order-ids-placed-before-the-file");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  json_t *info = expect_json(RUN("info", messages, "--json"), 0);
  const json_t *counts = json_object_get(info, "counts");
  cr_expect_eq(number(counts, "unknown_partial_cancels"), 1);
  cr_expect_eq(number(counts, "unknown_deletions"), 1);
  cr_expect_eq(number(counts, "unknown_executions"), 1);
  cr_expect_eq(number(counts, "unknown_shares"), 300);
  json_decref(info);
  free(messages);
  free(folder);
}

Test(cases, without_the_book_file_depth_is_unknown_not_empty) {
  char *folder = case_folder("04-level-slides-in-at-window-edge");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  run_result result = RUN("replay", messages, "--messages-only");
  cr_expect_eq(result.status, 0);
  cr_expect(strstr(result.out, "not verified") != NULL);
  cr_expect(strstr(result.out, "depth is unknown") != NULL);
  run_free(&result);
  /* a missing level is blank, not a dummy that says there is none */
  EXPECT_REFUSED(RUN("replay", messages, "--messages-only", "--book", "-"), "--levels");
  result = RUN("replay", messages, "--messages-only", "--levels", "2", "--book", "-");
  cr_expect_str_eq(result.out, "100300,10,,,,,,\n"
                               "100300,10,,,,,,\n"
                               "100050,25,,,100300,10,,\n"
                               "100300,10,,,,,,\n"
                               "100300,10,,,,,,\n");
  run_free(&result);
  free(messages);
  free(folder);
}

Test(cases, time_stamps_are_exact) {
  char *folder = case_folder("11-time-stamps-exact-nanoseconds");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  json_t *info = expect_json(RUN("info", messages, "--json"), 0);
  cr_expect_eq(number(info, "first_ns"), 34200000000000);
  cr_expect_eq(number(info, "last_ns"), 57600000000000);
  json_decref(info);
  free(messages);
  free(folder);
}

Test(cases, prices_above_32_bits_are_kept) {
  char *folder = case_folder("16-prices-above-int32-and-notional-overflow");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  json_t *info = expect_json(RUN("info", messages, "--json"), 0);
  cr_expect_eq(number(info, "highest_price"), 6123456700);
  cr_expect_eq(number(info, "lowest_price"), 6123000000);
  json_decref(info);
  run_result trades = RUN("replay", messages, "--trades", "-");
  cr_expect(strstr(trades.out, ",6123000000,1000000000,0\n") != NULL, "%s", trades.out);
  run_free(&trades);
  free(messages);
  free(folder);
}

Test(cases, unequal_files_are_refused_or_truncated) {
  char *folder = case_folder("23-message-and-orderbook-row-counts-differ");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  EXPECT_REFUSED(RUN("replay", messages), "5", "3", "_message_1.csv", "_orderbook_1.csv",
                 "\nwarpbook: --truncate takes");
  json_t *replay = expect_json(RUN("replay", messages, "--truncate", "--json"), 0);
  check_clean(replay, 3);
  cr_expect_eq(number(replay, "truncated_rows"), 2);
  json_decref(replay);
  free(messages);
  free(folder);
}

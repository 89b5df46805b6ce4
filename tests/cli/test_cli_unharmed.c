/* Outputs appear whole or not at all: under a full disk, a kill, a refused name. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char sample[] =
    WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv";
static const char sample_book[] =
    WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_orderbook_5.csv";

enum { SMALL = 20000 }; /* bytes: less than any output of the sample */

Test(unharmed, a_full_disk_leaves_nothing_behind) {
  char *scratch = scratch_make();
  char *book = format("%s/book.csv", scratch), *trades = format("%s/trades.csv", scratch);
  char *store = format("%s/day.h5", scratch), *back = format("%s/back", scratch);
  EXPECT_REFUSED(RUN_LIMITED(SMALL, "replay", sample, "--book", book), "book.csv", "too large");
  EXPECT_REFUSED(RUN_LIMITED(SMALL, "replay", sample, "--trades", trades), "trades.csv");
  EXPECT_REFUSED(RUN_LIMITED(SMALL, "replay", sample, "--trades", trades, "--book", book),
                 "too large");
  EXPECT_REFUSED(RUN_LIMITED(SMALL, "convert", sample, store), "day.h5");
  cr_expect_eq(count_entries(scratch), 0);
  EXPECT_REFUSED(RUN_LIMITED(SMALL, "export", sample, back), "too large");
  cr_expect_eq(count_entries(back), 0);
  free(book);
  free(trades);
  free(store);
  free(back);
  scratch_free(scratch);
}

Test(unharmed, an_old_file_stays_when_a_new_one_fails) {
  char *scratch = scratch_make();
  char *book = format("%s/book.csv", scratch), *store = format("%s/day.h5", scratch);
  write_file(book, "old\n");
  write_file(store, "old\n");
  EXPECT_REFUSED(RUN_LIMITED(SMALL, "replay", sample, "--book", book), "book.csv");
  EXPECT_REFUSED(RUN_LIMITED(SMALL, "convert", sample, store), "day.h5");
  EXPECT_REFUSED(RUN("replay", "/nowhere.csv", "--book", book), "/nowhere.csv");
  size_t bytes;
  char *content = read_file(book, &bytes);
  cr_expect_str_eq(content, "old\n");
  free(content);
  content = read_file(store, &bytes);
  cr_expect_str_eq(content, "old\n");
  free(content);
  cr_expect_eq(count_entries(scratch), 2);
  free(book);
  free(store);
  scratch_free(scratch);
}

Test(unharmed, folders_that_are_missing_or_closed) {
  EXPECT_REFUSED(RUN("replay", sample, "--book", "/nowhere/book.csv"), "/nowhere/book.csv",
                 "No such file");
  EXPECT_REFUSED(RUN("replay", sample, "--trades", "/nowhere/t.csv"), "/nowhere/t.csv");
  EXPECT_REFUSED(RUN("convert", sample, "/nowhere/day.h5"), "/nowhere/day.h5", "No such file");
  EXPECT_REFUSED(RUN("export", sample, "/nowhere/at/all"), "/nowhere/at/all");
  EXPECT_REFUSED(RUN("export", sample, "/dev/null"), "/dev/null");
}

Test(unharmed, the_input_is_never_the_output) {
  char *scratch = scratch_make();
  char *messages = format("%s/D_2024-01-02_34200000_57600000_message_5.csv", scratch);
  char *books = format("%s/D_2024-01-02_34200000_57600000_orderbook_5.csv", scratch);
  char *store = format("%s/day.h5", scratch);
  size_t bytes;
  char *content = read_file(sample, &bytes);
  write_file(messages, content);
  free(content);
  content = read_file(sample_book, &bytes);
  write_file(books, content);
  free(content);
  EXPECT_REFUSED(RUN("replay", messages, "--book", messages), "read from");
  EXPECT_REFUSED(RUN("replay", messages, "--book", books), "read from");
  EXPECT_REFUSED(RUN("replay", messages, "--trades", books), "read from");
  run_result converted = RUN("convert", messages, store);
  cr_expect_eq(converted.status, 0, "%s", converted.err);
  run_free(&converted);
  EXPECT_REFUSED(RUN("convert", store, store), "read from");
  free(messages);
  free(books);
  /* the names that an export would give */
  messages = format("%s/WARP_2024-01-02_34200000_57600000_message_5.csv", scratch);
  books = format("%s/WARP_2024-01-02_34200000_57600000_orderbook_5.csv", scratch);
  content = read_file(sample, &bytes);
  write_file(messages, content);
  free(content);
  content = read_file(sample_book, &bytes);
  write_file(books, content);
  free(content);
  EXPECT_REFUSED(RUN("export", messages, scratch), "read from");
  cr_expect(same_files(messages, sample));
  cr_expect(same_files(books, sample_book));
  free(messages);
  free(books);
  free(store);
  scratch_free(scratch);
}

/* Whenever the process dies, the final name is whole or not there. */
Test(unharmed, a_killed_process_leaves_no_half_file, .timeout = 120) {
  char *scratch = scratch_make();
  char *book = format("%s/book.csv", scratch), *store = format("%s/day.h5", scratch);
  char *whole = format("%s/whole.h5", scratch);
  run_result converted = RUN("convert", sample, whole);
  cr_expect_eq(converted.status, 0);
  run_free(&converted);
  int killed = 0;
  for (int i = 0; i < 60; i++) {
    unlink(book);
    unlink(store);
    killed += run_killed((const char *const[]){"replay", sample, "--book", book, NULL}, i * 300);
    cr_expect(!exists(book) || same_files(book, sample_book));
    killed += run_killed((const char *const[]){"convert", sample, store, NULL}, i * 500);
    if (exists(store)) {
      json_t *replay = expect_json(RUN("replay", store, "--json"), 0);
      cr_expect_eq(number(replay, "rows_equal"), 4000);
      json_decref(replay);
    }
  }
  cr_expect_gt(killed, 10, "only %d processes were killed in time", killed);
  free(book);
  free(store);
  free(whole);
  scratch_free(scratch);
}

Test(unharmed, outputs_are_what_they_should_be) {
  char *scratch = scratch_make();
  char *book = format("%s/book.csv", scratch), *trades = format("%s/trades.csv", scratch);
  json_t *replay =
      expect_json(RUN("replay", sample, "--book", book, "--trades", trades, "--json"), 0);
  cr_expect(same_files(book, sample_book));
  size_t bytes;
  char *content = read_file(trades, &bytes);
  cr_assert_not_null(content);
  int64_t lines = 0, volume = 0;
  for (char *line = strtok(content, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
    if (lines > 0) {
      /* the column before the last */
      *strrchr(line, ',') = '\0';
      int64_t qty = strtoll(strrchr(line, ',') + 1, NULL, 10);
      cr_expect_gt(qty, 0);
      volume += qty;
    }
  }
  cr_expect_eq(lines, number(replay, "trades") + 1);
  cr_expect_eq(volume, number(replay, "volume"));
  cr_expect_eq(count_entries(scratch), 2);
  json_decref(replay);
  free(content);
  free(book);
  free(trades);
  scratch_free(scratch);
}

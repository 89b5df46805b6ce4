/* Back to LOBSTER's files, byte for byte, from a tape and from its file. */
#define _GNU_SOURCE
#include "data/lobster.h"
#include "data/store.h"
#include "tapes.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The bytes of a file, the caller's to free. */
static char *bytes_of(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file, "cannot open %s", path);
  cr_assert_eq(fseek(file, 0, SEEK_END), 0);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  cr_assert_eq(fread(bytes, 1, *size, file), *size);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

static void expect_file(const char *folder, const char *name, const char *text) {
  char path[256];
  size_t size;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  char *bytes = bytes_of(path, &size);
  cr_expect_str_eq(bytes, text);
  free(bytes);
}

/* ---- lines by hand ---- */

Test(export, writes_the_lines_of_the_format) {
  char folder[64];
  make_folder(folder);
  wb_tape *tape = full_tape();
  wb_error error = {0};
  cr_assert_eq(wb_lobster_export(tape, folder, &error), WB_OK, "%s", error.text);
  cr_expect_eq(entries_of(folder), 2);
  expect_file(folder, "BRK.A_2024-02-29_34200000_57600000_message_2.csv",
              "34200,1,7,25,5000000100,-1,null\n"
              "34200.000000001000,1,9223372036854775807,50,5000000100,-1,NITE\n"
              "34200.000000007,4,9223372036854775807,20,5000000100,-1,null\n");
  expect_file(folder, "BRK.A_2024-02-29_34200000_57600000_orderbook_2.csv",
              "5000000100,25,4999999900,75,9999999999,0,-9999999999,0\n"
              "5000000100,70,4999999900,75,9999999999,0,-9999999999,0\n"
              "5000000100,50,4999999900,3000000000,9999999999,0,-9999999999,0\n");
  wb_tape_free(tape);
  remove_folder(folder);
}

Test(export, writes_every_length_of_number) {
  for (uint64_t k = 0; k < 2000; k++) {
    /* numbers of 1 to 19 digits, both signs, and the ends of the range */
    const uint64_t dice = wb_mix64(k + 1);
    int64_t base = (int64_t)(dice >> (2 + k % 60)) * (k % 2 == 0 ? 1 : -1);
    const int64_t qty[2] = {k == 0 ? INT64_MAX : (int64_t)(dice >> (1 + k % 63)), 10};
    const int32_t price[2] = {k % 3 == 0 ? 0 : (int32_t)(dice % 1000), -7};
    char text[WB_LOBSTER_LEVEL_BYTES + 1], expected[128];
    const size_t size = wb_lobster_book_row(base, 1, price, qty, text);
    snprintf(expected, sizeof expected, "%" PRId64 ",%" PRId64 ",%" PRId64 ",10\n", base + price[0],
             qty[0], base - 7);
    cr_assert_eq(size, strlen(expected));
    cr_expect_arr_eq(text, expected, size);
  }
}

Test(export, a_row_without_levels_is_an_empty_line) {
  char text[1];
  cr_expect_eq(wb_lobster_book_row(0, 0, NULL, NULL, text), 1);
  cr_expect_eq(text[0], '\n');
}

Test(export, writes_times_as_the_shortest_text) {
  static const struct {
    int64_t time_ns;
    const char *text;
  } times[] = {{0, "0"},
               {1, "0.000000001"},
               {100000000, "0.1"},
               {34200000000000, "34200"},
               {34200004241176, "34200.004241176"},
               {34200010000000, "34200.01"},
               {86399999999999, "86399.999999999"}};
  char folder[64], expected[1024] = "";
  make_folder(folder);
  wb_tape *tape = long_tape(7, 0);
  for (int k = 0; k < 7; k++) {
    tape->rows[k] = (wb_source_row){times[k].time_ns, -1, -1, 0, 7, -1, 0};
    snprintf(expected + strlen(expected), 64, "%s,7,-1,0,-1,-1\n", times[k].text);
  }
  cr_assert_eq(wb_lobster_export(tape, folder, NULL), WB_OK);
  cr_expect_eq(entries_of(folder), 1, "messages alone have no book file");
  expect_file(folder, "LONG_2024-01-02_0_0_message_0.csv", expected);
  wb_tape_free(tape);
  remove_folder(folder);
}

Test(export, needs_rows_and_a_folder) {
  wb_tape *tape = bare_tape(false);
  wb_error error = {0};
  cr_expect_eq(wb_lobster_export(tape, "/tmp", &error), WB_ERROR_STATE);
  wb_tape_free(tape);
  tape = full_tape();
  cr_expect_eq(wb_lobster_export(tape, "/proc/nowhere", &error), WB_ERROR_IO);
  cr_expect(strstr(error.text, "/proc/nowhere") != NULL, "%s", error.text);
  wb_tape_free(tape);
}

/* ---- there and back ---- */

static void expect_same_bytes(const char *folder, const wb_tape *tape, const char *part,
                              const char *original) {
  char path[256];
  size_t size[2];
  snprintf(path, sizeof path, "%s/%s_%s_%" PRId64 "_%" PRId64 "_%s_%d.csv", folder,
           tape->instrument[0] != 0 ? tape->instrument : "UNKNOWN",
           tape->day[0] != 0 ? tape->day : "0000-00-00", tape->start_ns / 1000000,
           tape->end_ns / 1000000, part, tape->levels);
  char *bytes[2] = {bytes_of(original, &size[0]), bytes_of(path, &size[1])};
  /* a copy without its last newline gets it again */
  if (size[0] > 0 && bytes[0][size[0] - 1] != '\n') bytes[0][size[0]++] = '\n';
  cr_expect_eq(size[0], size[1], "%s: %zu bytes, written again %zu", original, size[0], size[1]);
  cr_expect(size[0] == size[1] && memcmp(bytes[0], bytes[1], size[0]) == 0, "%s differs", original);
  free(bytes[0]);
  free(bytes[1]);
}

/* The tape that `tape`'s file gives; `tape` is freed once they were compared. */
static wb_tape *through_a_file(wb_tape *tape, const char *folder) {
  char path[256];
  wb_error error = {0};
  wb_tape *again = NULL;
  snprintf(path, sizeof path, "%s/day.h5", folder);
  cr_assert_eq(wb_tape_check(tape, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_store_write(tape, path, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_store_read(path, &again, &error), WB_OK, "%s", error.text);
  cr_expect_str_eq(difference(tape, again), "", "%s differs after a file", difference(tape, again));
  wb_tape_free(tape);
  return again;
}

/* `orderbook` NULL: messages only. */
static void expect_round_trip(const char *messages, const char *orderbook) {
  char folder[64];
  wb_error error = {0};
  wb_tape *tape = NULL;
  const wb_read_options options = {.orderbook_path = orderbook, .messages_only = orderbook == NULL};
  make_folder(folder);
  cr_assert_eq(wb_tape_read(messages, &options, &tape, &error), WB_OK, "%s", error.text);
  tape = through_a_file(tape, folder);
  cr_assert_eq(wb_lobster_export(tape, folder, &error), WB_OK, "%s", error.text);
  expect_same_bytes(folder, tape, "message", messages);
  if (orderbook != NULL) expect_same_bytes(folder, tape, "orderbook", orderbook);
  wb_tape_free(tape);
  remove_folder(folder);
}

#define SAMPLE WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_"

Test(round_trip, of_the_bundled_sample) {
  expect_round_trip(SAMPLE "message_5.csv", SAMPLE "orderbook_5.csv");
  expect_round_trip(SAMPLE "message_5.csv", NULL);
}

/* The files that match in the shared data; the test is skipped where there are none. */
static glob_t shared_files(const char *pattern) {
  char all[512];
  glob_t found;
  const char *data = getenv("WB_TEST_DATA");
  snprintf(all, sizeof all, "%s/data/lobster/%s", data != NULL ? data : "../shared", pattern);
  if (glob(all, 0, NULL, &found) != 0) cr_skip_test("skipped: no %s", all);
  return found;
}

/* Every pair of plain files there, among them the row with 12 decimals. */
Test(round_trip, of_each_real_piece, .timeout = 300) {
  glob_t found = shared_files("*/*_message_*.csv");
  int pairs = 0;
  for (size_t k = 0; k < found.gl_pathc; k++) {
    char book[512];
    const char *messages = found.gl_pathv[k], *at = strstr(messages, "_message_");
    snprintf(book, sizeof book, "%.*s_orderbook_%s", (int)(at - messages), messages, at + 9);
    const bool pair = access(book, R_OK) == 0;
    expect_round_trip(messages, pair ? book : NULL);
    pairs += pair;
  }
  cr_expect_geq(pairs, 5);
  globfree(&found);
}

/* Participants in the seventh column. */
Test(round_trip, of_messages_alone_with_participants) {
  glob_t found = shared_files("AMZN_2021*/*_message_*.csv");
  wb_tape *tape = NULL;
  const wb_read_options options = {.messages_only = true};
  cr_assert_eq(wb_tape_read(found.gl_pathv[0], &options, &tape, NULL), WB_OK);
  cr_expect_geq(tape->participant_count, 1);
  wb_tape_free(tape);
  expect_round_trip(found.gl_pathv[0], NULL);
  globfree(&found);
}

/* Whole days in archives: the reader has the hash of each text. */
Test(round_trip, of_whole_days_in_archives, .timeout = 300) {
  glob_t found = shared_files("*.zip");
  for (size_t k = 0; k < found.gl_pathc; k++) {
    static const char *const parts[] = {"message", "orderbook"};
    char folder[64];
    wb_error error = {0};
    wb_tape *tape = NULL;
    make_folder(folder);
    cr_assert_eq(wb_tape_read(found.gl_pathv[k], NULL, &tape, &error), WB_OK, "%s", error.text);
    tape = through_a_file(tape, folder);
    cr_assert_eq(wb_lobster_export(tape, folder, &error), WB_OK, "%s", error.text);
    cr_assert_eq(tape->source_count, 2);
    for (int p = 0; p < 2; p++) {
      char path[256];
      size_t size;
      snprintf(path, sizeof path, "%s/%s_%s_%" PRId64 "_%" PRId64 "_%s_%d.csv", folder,
               tape->instrument, tape->day, tape->start_ns / 1000000, tape->end_ns / 1000000,
               parts[p], tape->levels);
      char *bytes = bytes_of(path, &size);
      const wb_hash128 hash = wb_hash_bytes(bytes, size);
      cr_expect_eq(tape->sources[p].bytes, (int64_t)size, "%s", path);
      cr_expect(hash.low == tape->sources[p].hash.low && hash.high == tape->sources[p].hash.high,
                "%s differs from %s", path, tape->sources[p].name);
      free(bytes);
    }
    wb_tape_free(tape);
    remove_folder(folder);
  }
  globfree(&found);
}

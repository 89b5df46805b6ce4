/* Whole recorded days and pieces of them: every row proven, and every way back byte for byte. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct recorded_day {
  const char *name;
  int64_t rows, levels;
  int64_t corrections, dropped; /* what a reader that follows the window must need; -1: not known */
  bool cut;                     /* its book file lacks the last newline, which is not kept */
} recorded_day;

static const recorded_day archives[] = {
    {"LOBSTER_SampleFile_GOOG_2012-06-21_10.zip", 147916, 10, 7886, 1312, false},
    {"LOBSTER_SampleFile_AAPL_2012-06-21_1.zip", 118497, 1, 22067, 11317, false},
};

static const recorded_day pieces[] = {
    {"AAPL_L1_first10000", 10000, 1, -1, -1, false},
    {"AAPL_L50_672", 672, 50, -1, -1, false},
    {"AMZN_L5_rows67001-69000_has12decimals", 2000, 5, -1, -1, false},
    {"GOOG_L10_first5000", 5000, 10, -1, -1, false},
    {"GOOG_L10_rows100001-105000", 5000, 10, -1, -1, false},
    {"MSFT_L50_999", 999, 50, -1, -1, true},
};

enum { ARCHIVES = sizeof archives / sizeof archives[0], PIECES = sizeof pieces / sizeof pieces[0] };

static char *recorded(const char *name) {
  char *part = format("data/lobster/%s", name);
  char *path = data_folder(part);
  free(part);
  return path;
}

static void check_proof(const json_t *replay, const recorded_day *day) {
  static const char *const zeros[] = {"orphan", "unknown_ref", "bad_record", "duplicate_ref"};
  const json_t *counters = json_object_get(replay, "counters");
  cr_expect_eq(number(replay, "levels_checked"), day->levels);
  cr_expect_eq(number(replay, "rows_checked"), day->rows);
  cr_expect_eq(number(replay, "rows_equal"), day->rows);
  cr_expect_eq(number(replay, "contradictions"), 0);
  for (size_t i = 0; i < sizeof zeros / sizeof zeros[0]; i++) {
    cr_expect_eq(number(counters, zeros[i]), 0, "%s", zeros[i]);
  }
  if (day->corrections >= 0) {
    cr_expect_leq(number(replay, "edge_corrections"), day->corrections);
    cr_expect_leq(number(replay, "edge_dropped"), day->dropped);
  }
}

static bool same_member(const char *archive, const char *part, const char *path) {
  size_t member_bytes, bytes;
  char *member = read_member(archive, part, &member_bytes);
  char *file = read_file(path, &bytes);
  bool same = file != NULL && bytes == member_bytes && memcmp(member, file, bytes) == 0;
  free(member);
  free(file);
  return same;
}

/* Both hashes, whatever the input was. */
static void check_hashes(const json_t *left, const json_t *right) {
  cr_expect_str_eq(text(left, "book_hash"), text(right, "book_hash"));
  cr_expect_str_eq(text(left, "state_hash"), text(right, "state_hash"));
  cr_expect_eq(number(left, "records"), number(right, "records"));
}

/* The day as a store: it replays alike, is told alike, and gives its text back. */
static json_t *check_store(const char *input, const char *store, const char *back,
                           const recorded_day *day) {
  run_result result = RUN("convert", input, store);
  cr_expect_eq(result.status, 0, "%s", result.err);
  run_free(&result);
  json_t *replay = expect_json(RUN("replay", store, "--json"), 0);
  check_proof(replay, day);
  json_t *told = expect_json(RUN("info", input, "--json"), 0);
  json_t *told_of_store = expect_json(RUN("info", store, "--json"), 0);
  cr_expect(json_equal(told, told_of_store), "info of the store differs");
  json_decref(told);
  json_decref(told_of_store);
  result = RUN("export", store, back);
  cr_expect_eq(result.status, 0, "%s", result.err);
  run_free(&result);
  return replay;
}

static void check_archive(const recorded_day *day) {
  char *path = recorded(day->name);
  if (path == NULL) {
    return;
  }
  char *scratch = scratch_make();
  char *book = format("%s/book.csv", scratch), *store = format("%s/day.h5", scratch);
  char *back = format("%s/back", scratch), *levels = format("%d", (int)day->levels);
  json_t *replay =
      expect_json(RUN("replay", path, "--levels", levels, "--book", book, "--json"), 0);
  check_proof(replay, day);
  cr_expect(same_member(path, "_orderbook_", book), "%s: the book differs", day->name);
  json_t *stored = check_store(path, store, back, day);
  check_hashes(replay, stored);
  char *messages_back = find_in(back, "_message_"), *books_back = find_in(back, "_orderbook_");
  cr_expect(same_member(path, "_message_", messages_back), "%s: messages differ", day->name);
  cr_expect(same_member(path, "_orderbook_", books_back), "%s: books differ", day->name);
  run_result compare = RUN("compare", path);
  cr_expect_eq(compare.status, 0, "%s", compare.err);
  run_free(&compare);
  json_decref(replay);
  json_decref(stored);
  free(messages_back);
  free(books_back);
  free(book);
  free(store);
  free(back);
  free(levels);
  free(path);
  scratch_free(scratch);
}

Test(days, whole_days_in_archives, .timeout = 300) {
  for (int i = 0; i < ARCHIVES; i++) {
    check_archive(&archives[i]);
  }
}

static bool same_books(const char *books, const char *other, bool cut) {
  size_t bytes, other_bytes;
  char *left = read_file(books, &bytes), *right = read_file(other, &other_bytes);
  bool same = left != NULL && right != NULL && other_bytes == bytes + (cut ? 1 : 0) &&
              memcmp(left, right, bytes) == 0 && right[other_bytes - 1] == '\n';
  free(left);
  free(right);
  return same;
}

static void check_piece(const recorded_day *day) {
  char *folder = recorded(day->name);
  if (folder == NULL) {
    return;
  }
  char *scratch = scratch_make();
  char *messages = find_in(folder, "_message_"), *books = find_in(folder, "_orderbook_");
  char *book = format("%s/book.csv", scratch), *store = format("%s/day.h5", scratch);
  char *back = format("%s/back", scratch);
  json_t *replay = expect_json(RUN("replay", messages, "--book", book, "--json"), 0);
  check_proof(replay, day);
  cr_expect(same_books(books, book, day->cut), "%s: the book differs", day->name);
  json_t *stored = check_store(messages, store, back, day);
  check_hashes(replay, stored);
  char *messages_back = find_in(back, "_message_"), *books_back = find_in(back, "_orderbook_");
  cr_expect(same_files(messages, messages_back), "%s: messages differ", day->name);
  cr_expect(same_books(books, books_back, day->cut), "%s: books differ", day->name);
  run_result compare = RUN("compare", messages, books);
  cr_expect_eq(compare.status, 0, "%s", compare.err);
  run_free(&compare);
  json_decref(replay);
  json_decref(stored);
  free(messages_back);
  free(books_back);
  free(messages);
  free(books);
  free(book);
  free(store);
  free(back);
  free(folder);
  scratch_free(scratch);
}

Test(days, pieces_of_days, .timeout = 300) {
  for (int i = 0; i < PIECES; i++) {
    check_piece(&pieces[i]);
  }
}

Test(days, messages_without_their_book_prove_nothing) {
  char *folder = recorded("AMZN_2021_messages_only");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  EXPECT_REFUSED(RUN("replay", messages), "orderbook", "\nwarpbook: --messages-only");
  json_t *replay = expect_json(RUN("replay", messages, "--messages-only", "--json"), 0);
  cr_expect_eq(number(replay, "rows"), 3000);
  cr_expect_eq(number(replay, "rows_checked"), 0);
  cr_expect(json_is_true(json_object_get(replay, "depth_unknown")));
  cr_expect_gt(number(json_object_get(replay, "counters"), "unresolved_volume"), 0);
  cr_expect_eq(number(json_object_get(replay, "counters"), "orphan"), 0);
  json_decref(replay);
  EXPECT_REFUSED(RUN("compare", messages, "--messages-only", "--engine", "kernel"), "no book rows");
  run_result compared = RUN("compare", messages, "--messages-only");
  cr_expect_eq(compared.status, 0);
  cr_expect(strstr(compared.out, "kernel = reference (no book file to compare with)") != NULL);
  run_free(&compared);
  free(messages);
  free(folder);
}

/* Kernels and reference agree with the source and in both hashes, message by message. */
Test(days, kernels_and_reference_agree_message_by_message) {
  for (int i = 0; i < PIECES; i++) {
    char *folder = recorded(pieces[i].name);
    if (folder == NULL) {
      return;
    }
    char *messages = find_in(folder, "_message_");
    static const char *const capacities[] = {"--capacity=auto", "--capacity=1024"};
    for (size_t k = 0; k < sizeof capacities / sizeof capacities[0]; k++) {
      run_result result = RUN("compare", messages, capacities[k]);
      cr_expect_eq(result.status, 0, "%s: %s%s", messages, result.out, result.err);
      cr_expect(strstr(result.out, "source = kernel = reference") != NULL);
      run_free(&result);
    }
    free(messages);
    free(folder);
  }
}

/* Both evict the same orders where the capacity is too small: the replay differs, the hashes do not. */
Test(days, a_capacity_that_is_too_small_is_said_by_both_engines_alike) {
  char *folder = recorded("GOOG_L10_first5000");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  static const char *const rules[] = {"--capacity-rule=evict", "--capacity-rule=reject"};
  static const char *const counters[] = {"evicted", "book_full"};
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    json_t *kernel = expect_json(RUN("replay", messages, "--capacity=32", rules[i], "--json"), 1);
    json_t *reference = expect_json(
        RUN("replay", messages, "--capacity=32", rules[i], "--engine=reference", "--json"), 1);
    check_hashes(kernel, reference);
    cr_expect_gt(number(json_object_get(kernel, "counters"), counters[i]), 0);
    cr_expect_eq(number(kernel, "rows_equal"), number(reference, "rows_equal"));
    json_decref(kernel);
    json_decref(reference);
  }
  free(messages);
  free(folder);
}

/* Queue order, agents' policies and limits that are not reached change nothing without agents. */
Test(days, policies_do_not_matter_without_agents) {
  char *folder = recorded("GOOG_L10_first5000");
  if (folder == NULL) {
    return;
  }
  char *messages = find_in(folder, "_message_");
  json_t *plain = expect_json(RUN("replay", messages, "--json"), 0);
  static const char *const options[] = {"--policy=named", "--displaced=keep", "--capacity=128",
                                        "--self-trade=cancel-both"};
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
    json_t *other = expect_json(RUN("replay", messages, options[i], "--json"), 0);
    check_hashes(plain, other);
    json_decref(other);
  }
  json_decref(plain);
  free(messages);
  free(folder);
}

/* A row that someone edited is named by row, side and level, and in compare with its context. */
Test(days, an_edited_row_is_found) {
  char *folder = recorded("GOOG_L10_first5000");
  if (folder == NULL) {
    return;
  }
  char *scratch = scratch_make();
  char *messages = find_in(folder, "_message_"), *books = find_in(folder, "_orderbook_");
  char *edited = format("%s/edited.csv", scratch);
  size_t bytes;
  char *content = read_file(books, &bytes), *at = content;
  for (int row = 0; row < 1206; row++) {
    at = strchr(at, '\n') + 1;
  }
  char *size = strchr(at, ',') + 1; /* of the best ask */
  *size = *size == '9' ? '1' : (char)(*size + 1);
  write_file(edited, content);
  json_t *replay = expect_json(RUN("replay", messages, edited, "--json"), 1);
  cr_expect_geq(number(replay, "contradictions"), 1);
  cr_expect_eq(number(replay, "rows_equal"), 4999);
  const json_t *difference = json_object_get(replay, "first_difference");
  cr_expect_eq(number(difference, "row"), 1206);
  cr_expect_eq(number(difference, "level"), 1);
  cr_expect_str_eq(text(difference, "side"), "ask");
  json_decref(replay);
  EXPECT_REFUSED(RUN("replay", messages, edited, "--strict"), "1207");
  run_result compare = RUN("compare", messages, edited);
  cr_expect_eq(compare.status, 1);
  cr_expect(strstr(compare.out, "first difference at row 1206") != NULL);
  cr_expect(strstr(compare.out, "message 1206: ") != NULL);
  run_free(&compare);
  free(content);
  free(edited);
  free(messages);
  free(books);
  free(folder);
  scratch_free(scratch);
}

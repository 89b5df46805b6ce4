/* Bad input: each an error that names file, line and field, or an acceptance that is documented. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char name_message[] = "XYZ_2020-01-02_34200000_57600000_message_1.csv";
static const char name_orderbook[] = "XYZ_2020-01-02_34200000_57600000_orderbook_1.csv";

/* A day of four rows that is clean. */
static const char *const good_messages[] = {"34200.1,1,11,100,500000,-1",
                                            "34200.2,1,12,50,499900,1", "34200.3,4,11,30,500000,-1",
                                            "34200.4,3,12,50,499900,1"};
static const char *const good_books[] = {"500000,100,-9999999999,0", "500000,100,499900,50",
                                         "500000,70,499900,50", "500000,70,-9999999999,0"};
enum { LINES = 4 };

typedef struct pair {
  char *folder, *messages, *books;
} pair;

static char *join(const char *const *lines, int at, const char *other, const char *end) {
  char *all = format("%s", "");
  for (int i = 0; i < LINES; i++) {
    const char *line = i == at ? other : lines[i];
    char *longer = format("%s%s%s", all, line, i + 1 < LINES || line[0] == '\0' ? "\n" : end);
    free(all);
    all = longer;
  }
  return all;
}

/* The day with one line of each file changed; -1: none. */
static pair make_pair(int message_at, const char *message, int book_at, const char *book) {
  pair p = {.folder = scratch_make()};
  p.messages = format("%s/%s", p.folder, name_message);
  p.books = format("%s/%s", p.folder, name_orderbook);
  char *content = join(good_messages, message_at, message, "\n");
  write_file(p.messages, content);
  free(content);
  content = join(good_books, book_at, book, "\n");
  write_file(p.books, content);
  free(content);
  return p;
}

static pair good_pair(void) { return make_pair(-1, NULL, -1, NULL); }

static void end_pair(pair *p) {
  free(p->messages);
  free(p->books);
  scratch_free(p->folder);
}

static void check_accepted(const pair *p) {
  json_t *replay = expect_json(RUN("replay", p->messages, "--json"), 0);
  cr_expect_eq(number(replay, "rows_equal"), LINES);
  json_decref(replay);
}

Test(accepted, the_clean_day) {
  pair p = good_pair();
  check_accepted(&p);
  end_pair(&p);
}

Test(accepted, what_does_no_harm) {
  static const char *const starts[] = {"", "\xef\xbb\xbf",
                                       "Time,Type,OrderID,Size,Price,Direction\n",
                                       "\xef\xbb\xbfTime,Type,OrderID,Size,Price,Direction\r\n"};
  for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
    pair p = good_pair();
    char *lines = join(good_messages, -1, NULL, "");
    char *content = format("%s%s", starts[i], lines);
    write_file(p.messages, content);
    check_accepted(&p);
    free(content);
    content = format("%s%s\n\n", starts[i], lines);
    write_file(p.messages, content);
    check_accepted(&p);
    free(content);
    free(lines);
    end_pair(&p);
  }
}

/* A file's name may be any bytes, JSON is UTF-8. */
Test(accepted, names_that_are_no_utf8) {
  pair p = good_pair();
  char *messages = format("%s/caf\xe9_message_2.csv", p.folder);
  char *books = format("%s/caf\xe9_orderbook_2.csv", p.folder);
  cr_assert_eq(rename(p.messages, messages), 0);
  cr_assert_eq(rename(p.books, books), 0);
  json_t *info = expect_json(RUN("info", messages, "--json"), 0);
  const char *source = text(json_array_get(json_object_get(info, "sources"), 0), "name");
  cr_expect(strstr(source, "/caf?_message_2.csv") != NULL, "%s", source);
  json_decref(info);
  info = expect_json(RUN("info", messages, "--json", "--list"), 0);
  cr_expect_eq(json_array_size(json_object_get(info, "days")), 1);
  json_decref(info);
  free(messages);
  free(books);
  end_pair(&p);
}

/* ---- files ---- */

Test(refused, files_that_are_not_there_or_not_readable) {
  pair p = good_pair();
  EXPECT_REFUSED(RUN("replay", "/nowhere/at/all.csv"), "/nowhere/at/all.csv", "No such file");
  EXPECT_REFUSED(RUN("replay", p.messages, "/nowhere/book.csv"), "/nowhere/book.csv");
  EXPECT_REFUSED(RUN("replay", p.folder), p.folder, "folder");
  EXPECT_REFUSED(RUN("info", "/nowhere/at/all.zip"), "/nowhere/at/all.zip", "No such file");
  EXPECT_REFUSED(RUN("replay", "/nowhere/day.h5"), "/nowhere/day.h5");
  unlink(p.books);
  EXPECT_REFUSED(RUN("replay", p.messages), "orderbook", "messages only");
  end_pair(&p);
}

Test(refused, archives_and_stores_that_are_none) {
  char *scratch = scratch_make();
  static const char *const names[] = {"day.zip", "day.7z", "day.gz", "day.h5"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char *path = format("%s/%s", scratch, names[i]);
    write_file(path, "this is no archive at all, nor anything else that could be read\n");
    EXPECT_REFUSED(RUN("replay", path), names[i]);
    write_file(path, "");
    EXPECT_REFUSED(RUN("replay", path), names[i]);
    free(path);
  }
  scratch_free(scratch);
}

Test(refused, empty_files) {
  pair p = good_pair();
  write_file(p.messages, "");
  EXPECT_REFUSED(RUN("replay", p.messages), name_message, "row");
  end_pair(&p);
  p = good_pair();
  write_file(p.books, "");
  EXPECT_REFUSED(RUN("replay", p.messages), name_orderbook, "row");
  end_pair(&p);
}

/* ---- lines ---- */

typedef struct bad_line {
  int at;
  const char *line, *field;
} bad_line;

static const bad_line bad_messages[] = {
    {1, "34200.2,1,12,50,499900", "columns"},
    {1, "34200.2,1,12,50,499900,1,null,9", "columns"},
    {1, "34200.2,1,12,50,499900,1,null", "columns"}, /* the others have no seventh */
    {1, "34200.2,1,12,fifty,499900,1", "size"},
    {1, "34200.2,1,12,,499900,1", "size"},
    {1, "34200.2,1,12,-5,499900,1", "size"},
    {1, "34200.2,1,12,0,499900,1", "size"},
    {1, "34200.2,1,12,2147483648,499900,1", "size"},
    {1, "34200.2,1,99999999999999999999,50,499900,1", "id"},
    {1, "34200.2,1,12,50,99999999999999999999,1", "price"},
    {1, "34200.2,1,12,50,49.9900,1", "price"},
    {1, "34200.2,9,12,50,499900,1", "type"},
    {1, "34200.2,0,12,50,499900,1", "type"},
    {1, "34200.2,1,12,50,499900,2", "direction"},
    {1, "34200.2,1,12,50,499900,0", "direction"},
    {1, "34200.0,1,12,50,499900,1", "time"}, /* goes back */
    {1, "x,1,12,50,499900,1", "time"},
    {1, "-34200.2,1,12,50,499900,1", "time"},
    {3, "34200.4,3,12,5", "columns"}, /* the last line is cut off */
};

static const bad_line bad_books[] = {
    {1, "500000,100,499900", "columns"},
    {1, "500000,100,499900,50,500100,1,499800,1", "columns"},
    {1, "500000,100,499900,-50", "bid"},
    {1, "500000,x,499900,50", "ask"},
    {1, "500000,99999999999999999999,499900,50", "ask"},
    {3, "500000,70,-99", "columns"},
};

Test(refused, damaged_messages_name_file_line_and_field) {
  for (size_t i = 0; i < sizeof bad_messages / sizeof bad_messages[0]; i++) {
    const bad_line *bad = &bad_messages[i];
    pair p = make_pair(bad->at, bad->line, -1, NULL);
    char *line = format("line %d", bad->at + 1);
    EXPECT_REFUSED(RUN("replay", p.messages), name_message, line, bad->field);
    free(line);
    end_pair(&p);
  }
}

Test(refused, damaged_book_rows_name_file_line_and_field) {
  for (size_t i = 0; i < sizeof bad_books / sizeof bad_books[0]; i++) {
    const bad_line *bad = &bad_books[i];
    pair p = make_pair(-1, NULL, bad->at, bad->line);
    char *line = format("line %d", bad->at + 1);
    EXPECT_REFUSED(RUN("replay", p.messages), name_orderbook, line, bad->field);
    free(line);
    end_pair(&p);
  }
}

Test(refused, prices_that_do_not_fit_one_tape) {
  pair p = make_pair(1, "34200.2,1,12,50,9000000000,1", 1, "500000,100,9000000000,50");
  EXPECT_REFUSED(RUN("replay", p.messages), "price");
  end_pair(&p);
}

Test(refused, a_tick_that_does_not_divide) {
  pair p = good_pair();
  EXPECT_REFUSED(RUN("replay", p.messages, "--tick", "30000"), "tick", "30000");
  json_t *info = expect_json(RUN("info", p.messages, "--tick", "50", "--json"), 0);
  cr_expect_eq(number(info, "tick_size"), 50);
  json_decref(info);
  end_pair(&p);
}

Test(refused, damaged_lines_can_be_left_out) {
  pair p = make_pair(1, "34200.2,7,0,x,0,0", 1, "500000,100,-9999999999,0");
  EXPECT_REFUSED(RUN("replay", p.messages), "line 2", "\nwarpbook: --skip-bad leaves");
  json_t *replay = expect_json(RUN("replay", p.messages, "--skip-bad", "--json"), 1);
  cr_expect_eq(number(replay, "bad_lines"), 1);
  cr_expect_eq(number(replay, "rows"), 3);
  const json_t *findings = json_object_get(replay, "findings");
  bool listed = false;
  for (size_t i = 0; i < json_array_size(findings); i++) {
    listed = listed || strcmp(text(json_array_get(findings, i), "kind"), "bad_line") == 0;
  }
  cr_expect(listed);
  json_decref(replay);
  end_pair(&p);
}

/* ---- files that contradict each other ---- */

Test(differing, a_contradicted_row_is_named_and_counted) {
  pair p = make_pair(-1, NULL, 2, "500000,71,499900,50");
  json_t *replay = expect_json(RUN("replay", p.messages, "--json"), 1);
  cr_expect_geq(number(replay, "contradictions"), 1);
  cr_expect_eq(number(replay, "rows_equal"), 3);
  cr_expect_eq(number(json_object_get(replay, "first_difference"), "row"), 2);
  json_decref(replay);
  run_result said = RUN("replay", p.messages);
  cr_expect_eq(said.status, 1);
  cr_expect(strstr(said.out, "line 3") != NULL, "%s", said.out);
  cr_expect(strstr(said.out, "3 of 4 rows equal") != NULL, "%s", said.out);
  run_free(&said);
  said = RUN("replay", p.messages, "--strict");
  cr_expect(strstr(said.err, "line 3") != NULL && strstr(said.err, "--skip-bad") == NULL, "%s",
            said.err);
  run_free(&said);
  end_pair(&p);
}

Test(differing, strictness_holds_for_stores_too) {
  pair p = make_pair(-1, NULL, 2, "500000,71,499900,50");
  char *store = format("%s/day.h5", p.folder);
  run_result converted = RUN("convert", p.messages, store);
  cr_expect_eq(converted.status, 0, "%s", converted.err);
  run_free(&converted);
  json_t *replay = expect_json(RUN("replay", store, "--json"), 1);
  cr_expect_geq(number(replay, "contradictions"), 1);
  json_decref(replay);
  EXPECT_REFUSED(RUN("replay", store, "--strict"), "contradict", "line 3");
  free(store);
  end_pair(&p);
}

Test(differing, a_crossed_row_is_flagged_and_strictness_stops_there) {
  pair p = make_pair(1, "34200.2,1,12,50,500100,1", 1, "500000,100,500100,50");
  run_result said = RUN("replay", p.messages);
  cr_expect(strstr(said.out, "crossed rows     1") != NULL, "%s", said.out);
  run_free(&said);
  EXPECT_REFUSED(RUN("replay", p.messages, "--strict"), "line 2", "cross");
  end_pair(&p);
}

/* A tape keeps 1,000 findings of a kind, and counts them all. */
Test(differing, what_is_not_listed_is_counted) {
  enum { CROSSING = 1004, LINE_BYTES = 64 };
  char *folder = scratch_make();
  char *path = format("%s/X_2024-01-02_34200000_57600000_message_1.csv", folder);
  char *lines = malloc((CROSSING + 1) * LINE_BYTES);
  int used = sprintf(lines, "34200.1,1,1,100,500000,1\n");
  for (int i = 0; i < CROSSING; i++) {
    used += sprintf(lines + used, "34201.1,1,%d,1,499900,-1\n", i + 2);
  }
  write_file(path, lines);
  run_result said = RUN("replay", path, "--messages-only");
  cr_expect(strstr(said.out, "crossed rows     1004") != NULL, "%s", said.out);
  cr_expect(strstr(said.out,
                   "and 999 more like these (`warpbook info --json' lists the first 1000") != NULL,
            "%s", said.out);
  run_free(&said);
  free(lines);
  free(path);
  scratch_free(folder);
}

/* ---- damaged public copies ---- */

static char *damaged(const char *name) {
  char *part = format("data/damaged/%s", name);
  char *path = data_folder(part);
  free(part);
  return path;
}

Test(damaged, line_ends_are_accepted_and_spreadsheets_are_not) {
  char *crlf = damaged("AAPL_crlf_message_50.csv");
  char *rounded = damaged("AAPL_utf8bom_crlf_5decimals_message_50.csv");
  char *merged = damaged("AMZN_spreadsheet_17cols_message_1.csv");
  if (crlf == NULL || rounded == NULL || merged == NULL) {
    return;
  }
  json_t *replay = expect_json(RUN("replay", crlf, "--messages-only", "--json"), 0);
  cr_expect_gt(number(replay, "rows"), 100);
  json_decref(replay);
  EXPECT_REFUSED(RUN("replay", rounded, "--messages-only"), "time", "spreadsheet");
  EXPECT_REFUSED(RUN("replay", merged, "--messages-only"), "columns", "17");
  free(crlf);
  free(rounded);
  free(merged);
}

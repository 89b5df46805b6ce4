/* Damaged LOBSTER texts: each is refused with one line that names file, line and field, or read without
 * its bad lines where that was asked for. */
#include "lobster_texts.h"

#include <criterion/criterion.h>
#include <string.h>

/* One good row, so that what follows is line 2. */
#define GOOD      "34200.5,1,11,10,10000,1\n"
#define GOOD_BOOK "10100,7,10000,10\n"

/* Many of them after a line: then the parser that looks ahead sees it, else the careful one alone. */
#define TIMES_4(x) x x x x
#define MANY       TIMES_4(TIMES_4(GOOD))
#define MANY_BOOKS TIMES_4(TIMES_4(GOOD_BOOK))

static const wb_read_options skip = {.skip_bad = true}, cut = {.truncate = true};

static void message_refused(const char *line, const char *text) {
  char messages[1024], expected[512];
  snprintf(expected, sizeof expected, "m.csv line 2: %s", text);
  snprintf(messages, sizeof messages, GOOD "%s\n" GOOD, line);
  refused(messages, NULL, WB_ERROR_FORMAT, expected);
  snprintf(messages, sizeof messages, GOOD "%s\n" MANY, line);
  refused(messages, NULL, WB_ERROR_FORMAT, expected);
}

static void book_refused(const char *line, const char *text) {
  char book[1024], expected[512];
  snprintf(expected, sizeof expected, "b.csv line 2: %s", text);
  snprintf(book, sizeof book, GOOD_BOOK "%s\n" GOOD_BOOK, line);
  refused(GOOD GOOD GOOD, book, WB_ERROR_FORMAT, expected);
  snprintf(book, sizeof book, GOOD_BOOK "%s\n" MANY_BOOKS, line);
  refused(GOOD GOOD MANY, book, WB_ERROR_FORMAT, expected);
}

/* ---- message lines ---- */

Test(message, columns) {
  message_refused("34200.5,1,11,10,10000", "columns: expected 6, got 5");
  message_refused("34200.5,1,11,10,10000,1,null", "columns: expected 6, got 7");
  message_refused("34200.5,1,11,10,10000,1,", "columns: expected 6, got 7");
  message_refused("34200.5;1;11;10;10000;1", "columns: expected 6, got 1");
  message_refused("", "columns: expected 6, got an empty line");
  refused("1,2,3\n", NULL, WB_ERROR_FORMAT, "m.csv line 1: columns: expected 6 or 7, got 3");
}

Test(message, six_and_seven_columns_do_not_mix) {
  refused("34200,5,0,1,10050,1,null\n34200,5,0,1,10050,1\n", NULL, WB_ERROR_FORMAT,
          "m.csv line 2: columns: expected 7, got 6");
}

Test(message, time) {
  const char *expected = "time: expected seconds after midnight, from 0 to 86400, as digits, got ";
  const char *times[] = {
      "-1",        "x",        "",       "34200.",          ".5",    "3.42e4",
      "+34200",    " 34200",   "34200 ", "86400.000000001", "86401", "99999999999999999999",
      "34200.12a", "34200.1.2"};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    char line[128], text[256];
    snprintf(line, sizeof line, "%s,1,11,10,10000,1", times[i]);
    snprintf(text, sizeof text, "%s\"%s\"", expected, times[i]);
    message_refused(line, text);
  }
}

Test(message, times_that_go_backwards) {
  message_refused("34200.499999999,1,11,10,10000,1",
                  "time: expected no time before that of the line above, 34200.500000000, got "
                  "\"34200.499999999\"");
}

Test(message, type) {
  message_refused("34200.5,0,11,10,10000,1", "type: expected an integer from 1 to 7, got \"0\"");
  message_refused("34200.5,8,11,10,10000,1", "type: expected an integer from 1 to 7, got \"8\"");
  message_refused("34200.5,-1,11,10,10000,1", "type: expected an integer from 1 to 7, got \"-1\"");
  message_refused("34200.5,A,11,10,10000,1", "type: expected an integer from 1 to 7, got \"A\"");
  message_refused("34200.5,01,11,10,10000,1", "type: expected an integer from 1 to 7, got \"01\"");
  message_refused("0,0,0,0,0,0", "type: expected an integer from 1 to 7, got \"0\"");
}

Test(message, id) {
  const char *ids[] = {"0", "-5", "1e5", "9223372036854775808", "0x10", "", "12.0", "007", "null"};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    char line[128], text[256];
    snprintf(line, sizeof line, "34200.5,1,%s,10,10000,1", ids[i]);
    snprintf(text, sizeof text, "id: expected a positive 64-bit integer, got \"%s\"", ids[i]);
    message_refused(line, text);
  }
  message_refused("34200.5,5,-9223372036854775809,10,10000,1",
                  "id: expected a 64-bit integer, got \"-9223372036854775809\"");
}

Test(message, size) {
  const char *sizes[] = {"0", "-5", "2147483648", "1.5", "", "-0", "18446744073709551617"};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    char line[128], text[256];
    snprintf(line, sizeof line, "34200.5,4,11,%s,10000,1", sizes[i]);
    snprintf(text, sizeof text, "size: expected a positive integer up to 2147483647, got \"%s\"",
             sizes[i]);
    message_refused(line, text);
  }
  message_refused("34200.5,7,0,-1,0,-1",
                  "size: expected an integer from 0 to 2147483647, got \"-1\"");
}

Test(message, price) {
  const char *prices[] = {"0", "-10000", "100.00", "", "9223372036854775808", "ten"};
  for (size_t i = 0; i < sizeof prices / sizeof *prices; i++) {
    char line[128], text[256];
    snprintf(line, sizeof line, "34200.5,1,11,10,%s,1", prices[i]);
    snprintf(text, sizeof text, "price: expected a positive 64-bit integer, got \"%s\"", prices[i]);
    message_refused(line, text);
  }
  message_refused("34200.5,7,0,0,2,-1",
                  "price: expected -1 (halt), 0 (quoting) or 1 (trading), got \"2\"");
}

Test(message, direction) {
  const char *directions[] = {"0", "2", "-2", "+1", "", "B", "-", "11", "1 "};
  for (size_t i = 0; i < sizeof directions / sizeof *directions; i++) {
    char line[128], text[256];
    snprintf(line, sizeof line, "34200.5,1,11,10,10000,%s", directions[i]);
    snprintf(text, sizeof text, "direction: expected 1 or -1, got \"%s\"", directions[i]);
    message_refused(line, text);
  }
}

Test(message, participant) {
  refused("34200,5,0,1,10050,1,null\n34200,5,0,1,10050,1,\n", NULL, WB_ERROR_FORMAT,
          "m.csv line 2: participant: expected a market participant's id or null, got \"\"");
  refused("34200,5,0,1,10050,1,null\n34200,5,0,1,10050,1,a b\n", NULL, WB_ERROR_FORMAT,
          "m.csv line 2: participant: expected a market participant's id or null, got \"a b\"");
}

Test(message, what_is_shown_of_a_field_is_short_and_printable) {
  message_refused("34200.5,1,\x01\x80xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,1,1,1",
                  "id: expected a positive 64-bit integer, got "
                  "\"\?\?xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..\"");
}

/* The fast parser sees lines far from the end of a text, the careful one those near it: both must refuse
 * the same. */
Test(message, a_bad_line_is_found_wherever_it_stands) {
  char messages[64 * 32] = "";
  for (int bad = 0; bad < 40; bad += 3) {
    messages[0] = 0;
    for (int i = 0; i < 40; i++) {
      strcat(messages, i == bad ? "34200.5,1,11,-10,10000,1\n" : GOOD);
    }
    char text[128];
    snprintf(text, sizeof text,
             "m.csv line %d: size: expected a positive integer up to 2147483647, got \"-10\"",
             bad + 1);
    refused(messages, NULL, WB_ERROR_FORMAT, text);
  }
}

/* ---- book lines ---- */

Test(book, columns) {
  book_refused("10100,7,10000", "columns: expected 4, got 3");
  book_refused("10100,7,10000,10,10200,5,9900,5", "columns: expected 4, got 8");
  book_refused("", "columns: expected 4, got an empty line");
  refused(GOOD, "10100,7,10000,10,10200,5\n", WB_ERROR_FORMAT,
          "b.csv line 1: columns: expected a multiple of 4, got 6");
}

Test(book, numbers) {
  book_refused("10100.00,7,10000,10", "ask price 1: expected a 64-bit integer, got \"10100.00\"");
  book_refused("10100,7,x,10", "bid price 1: expected a 64-bit integer, got \"x\"");
  book_refused("10100,0,10000,10",
               "ask size 1: expected a positive integer up to 68719476735, got \"0\"");
  book_refused("10100,7,10000,-10",
               "bid size 1: expected a positive integer up to 68719476735, got \"-10\"");
  book_refused("10100,68719476736,10000,10",
               "ask size 1: expected a positive integer up to 68719476735, got \"68719476736\"");
  book_refused("0,0,0,0", "ask price 1: expected a positive integer or the mark of a missing "
                          "level, got \"0\"");
  book_refused("10100,7,9999999999999999999,10",
               "bid price 1: expected a 64-bit integer, got \"9999999999999999999\"");
}

Test(book, the_marks_of_missing_levels) {
  book_refused("9999999999,5,10000,10",
               "ask size 1: expected 0, since the price marks a missing level, got \"5\"");
  book_refused("10100,7,-9999999999,1",
               "bid size 1: expected 0, since the price marks a missing level, got \"1\"");
  book_refused("-9999999999,0,10000,10", "ask price 1: expected a positive integer or the mark of "
                                         "a missing level, got \"-9999999999\"");
}

static void levels_refused(const char *line, const char *text) {
#define TWO_LEVELS "10100,7,10000,10,10200,7,9900,10\n"
  char book[1024];
  snprintf(book, sizeof book, TWO_LEVELS "%s\n", line);
  refused(GOOD GOOD, book, WB_ERROR_FORMAT, text);
  snprintf(book, sizeof book, TWO_LEVELS "%s\n" TIMES_4(TIMES_4(TWO_LEVELS)), line);
  refused(GOOD GOOD MANY, book, WB_ERROR_FORMAT, text);
}

Test(book, levels_are_best_first) {
  levels_refused("10100,7,10000,10,10100,7,9900,10",
                 "b.csv line 2: ask price 2: expected a price above 10100, the level before, got "
                 "\"10100\"");
  levels_refused("10100,7,10000,10,10200,7,10050,10",
                 "b.csv line 2: bid price 2: expected a price below 10000, the level before, got "
                 "\"10050\"");
  levels_refused("9999999999,0,10000,10,10200,7,9900,10",
                 "b.csv line 2: ask price 2: expected no level after a missing one, got \"10200\"");
}

/* ---- whole files ---- */

Test(files, an_empty_file) {
  refused("", NULL, WB_ERROR_FORMAT, "m.csv: expected at least one row, got none");
  refused("\n", NULL, WB_ERROR_FORMAT, "m.csv: expected at least one row, got none");
  refused("Time,Type\r\n", NULL, WB_ERROR_FORMAT, "m.csv: expected at least one row, got none");
  refused("\xef\xbb\xbf", NULL, WB_ERROR_FORMAT, "m.csv: expected at least one row, got none");
  refused(GOOD, "", WB_ERROR_FORMAT, "b.csv: expected at least one row, got none");
}

Test(files, unequal_numbers_of_rows) {
  static const char text[] = "rows: expected as many in both files, got 3 in m.csv and 2 in b.csv";
  refused(GOOD GOOD GOOD, GOOD_BOOK GOOD_BOOK, WB_ERROR_FORMAT, text);
  refused_with(GOOD GOOD GOOD, GOOD_BOOK GOOD_BOOK, &skip, WB_ERROR_FORMAT, text);
}

Test(files, truncate_takes_the_common_part) {
  static const char halt[] = "34200.5,7,0,0,1,1\n";
  char messages[128];
  snprintf(messages, sizeof messages, GOOD "%s%s", halt, halt);
  wb_tape *t = accepted_with(messages, GOOD_BOOK GOOD_BOOK, &cut);
  cr_expect_eq(t->row_count, 2);
  cr_expect_eq(t->counts.truncated_rows, 1);
  wb_tape_free(t);
  t = accepted_with(GOOD, GOOD_BOOK GOOD_BOOK "damaged\n", &cut);
  cr_expect_eq(t->row_count, 1);
  cr_expect_eq(t->counts.truncated_rows, 2);
  wb_tape_free(t);
}

Test(files, a_truncated_last_line) {
  refused(
      GOOD GOOD "34200.5,1,11,10", NULL, WB_ERROR_FORMAT,
      "m.csv line 3: columns: expected 6, got 4 (the last line, without a newline: the file may "
      "be cut)");
  refused(
      GOOD GOOD, GOOD_BOOK "10100,7,100", WB_ERROR_FORMAT,
      "b.csv line 2: columns: expected 4, got 3 (the last line, without a newline: the file may "
      "be cut)");
}

/* ---- left out ---- */

Test(skipping, leaves_a_bad_line_and_its_partner_out_counted_and_listed) {
  wb_tape *t = accepted_with(GOOD "34200.5,9,1,1,1,1\n34200.6,7,0,0,1,1\n34200.7,1,12,5,9900,1\n",
                             "10100,7,10000,10,10200,1,9000,1\n"
                             "10100,7,10000,99,10200,1,9000,1\n"
                             "10100,7,10000,10,10200,1,9000,1,,\n"
                             "10100,7,10000,10,10200,1,9900,5\n",
                             &skip);
  cr_expect_eq(t->row_count, 2);
  cr_expect_eq(t->rows[1].id, 12);
  cr_expect_eq(t->counts.bad_lines, 2);
  cr_expect_eq(t->counts.rows_halt, 0);
  cr_assert_eq(t->finding_count, 2);
  cr_expect_eq(t->findings[0].kind, WB_FINDING_BAD_LINE);
  cr_expect_eq(t->findings[0].row, 2);
  cr_expect_str_eq(t->findings[0].text,
                   "m.csv line 2: type: expected an integer from 1 to 7, got \"9\"");
  cr_expect_eq(t->findings[1].row, 3);
  cr_expect_str_eq(t->findings[1].text, "b.csv line 3: columns: expected 8, got 10");
  cr_expect_eq(t->counts.contradictions, 0);
  wb_tape_free(t);
}

Test(skipping, what_is_left_out_does_not_choose_tick_and_base) {
  wb_tape *t =
      accepted_with(GOOD "34200.5,1,1,x,10001,1\n34200.5,1,1,x,10001,1\n" MANY,
                    GOOD_BOOK "10150,7,10000,10\n9000000000,7,10000,10\n" MANY_BOOKS, &skip);
  cr_expect_eq(t->row_count, 17);
  cr_expect_eq(t->tick_size, 100);
  cr_expect_eq(t->base, 0);
  wb_tape_free(t);
}

Test(skipping, a_damaged_first_line_does_not_decide_the_columns) {
  wb_tape *t = accepted_with("34200.5,5,0\n" GOOD "34200.6,5,0,1,10000,1\n",
                             "10100,7\n10100,7,10000,10\n10100,7,10000,10\n", &skip);
  cr_expect_eq(t->row_count, 2);
  cr_expect_eq(t->levels, 1);
  cr_expect_eq(t->counts.bad_lines, 2);
  wb_tape_free(t);
}

Test(skipping, needs_a_good_line) {
  refused_with("1,2,3,4,5,6\n1,2,3,4,5,6\n", NULL, &skip, WB_ERROR_FORMAT,
               "m.csv: expected at least one good row, got none");
}

/* ---- rounded times ---- */

static void rounded(char *text, int rows, int decimals) {
  text[0] = 0;
  for (int i = 0; i < rows; i++) {
    text += sprintf(text, "34200.%0*d,5,0,1,10000,1\n", decimals, 1 + 2 * i);
  }
}

Test(rounding, times_that_a_spreadsheet_cut_to_five_decimals_are_refused) {
  static char text[200 * 40];
  for (int decimals = 4; decimals <= 5; decimals++) {
    char expected[256];
    rounded(text, 100, decimals);
    snprintf(expected, sizeof expected,
             "m.csv line 1: time: expected decimals to the nanosecond, got at most %d in the whole "
             "file: a spreadsheet has rounded them",
             decimals);
    refused(text, NULL, WB_ERROR_FORMAT, expected);
    wb_tape *t = accepted_with(text, NULL, &skip);
    cr_expect_eq(t->row_count, 100);
    cr_expect_eq(t->counts.bad_lines, 0);
    cr_expect_eq(t->finding_count, 1);
    wb_tape_free(t);
  }
}

Test(rounding, coarse_clocks_and_short_texts_are_not_called_rounded) {
  static char text[200 * 40];
  const int decimals[] = {3, 6, 9};
  for (int i = 0; i < 3; i++) {
    rounded(text, 100, decimals[i]);
    wb_tape_free(accepted(text, NULL));
  }
  rounded(text, 99, 5);
  wb_tape_free(accepted(text, NULL));
}

/* ---- copies that were found in public ---- */

static wb_status read_shared(const char *name, const wb_read_options *options, wb_tape **tape,
                             wb_error *error) {
  size_t size;
  char *bytes = file_bytes(shared_path(name), &size);
  wb_lobster_text text = {"x.csv", bytes, size};
  wb_status status = wb_lobster_read(&text, NULL, options, tape, error);
  free(bytes);
  return status;
}

static const wb_read_options alone = {.messages_only = true},
                             alone_skip = {.messages_only = true, .skip_bad = true};

Test(copies, crlf_is_accepted) {
  wb_tape *tape;
  cr_assert_eq(read_shared("data/damaged/AAPL_crlf_message_50.csv", &alone, &tape, NULL), WB_OK);
  cr_expect_eq(tape->row_count, 400);
  cr_expect_eq(tape->rows[399].id, 3647231);
  cr_expect_eq(tape->rows[399].direction, 1);
  wb_tape_free(tape);
}

Test(copies, mark_crlf_and_rounded_times) {
  static const char name[] = "data/damaged/AAPL_utf8bom_crlf_5decimals_message_50.csv";
  wb_tape *tape;
  wb_error error;
  cr_expect_eq(read_shared(name, &alone, &tape, &error), WB_ERROR_FORMAT);
  cr_expect_str_eq(error.text,
                   "x.csv line 1: time: expected decimals to the nanosecond, got at most "
                   "5 in the whole file: a spreadsheet has rounded them");
  cr_assert_eq(read_shared(name, &alone_skip, &tape, &error), WB_OK);
  cr_expect_eq(tape->row_count, 400);
  cr_expect_eq(tape->rows[0].time_ns, 34200004240000);
  wb_tape_free(tape);
}

Test(copies, seventeen_columns_of_a_spreadsheet) {
  wb_tape *tape;
  wb_error error;
  static const char name[] = "data/damaged/AMZN_spreadsheet_17cols_message_1.csv";
  cr_expect_eq(read_shared(name, &alone, &tape, &error), WB_ERROR_FORMAT);
  cr_expect_str_eq(error.text, "x.csv line 2: columns: expected 6 or 7, got 17");
  cr_expect_eq(read_shared(name, &alone_skip, &tape, &error), WB_ERROR_FORMAT);
}

Test(copies, a_header_over_an_orderbook) {
  size_t size;
  char *book = file_bytes(shared_path("data/damaged/AMZN_header_orderbook_1.csv"), &size);
  static char messages[399 * 32];
  size_t at = 0;
  for (int i = 0; i < 399; i++) {
    at += (size_t)sprintf(messages + at, "34200,5,0,1,2238200,-1\n");
  }
  wb_lobster_text m = {"m.csv", messages, at}, b = {"b.csv", book, size};
  wb_tape *tape;
  wb_error error;
  cr_assert_eq(wb_lobster_read(&m, &b, NULL, &tape, &error), WB_OK, "%s", error.text);
  cr_expect_eq(tape->row_count, 399);
  cr_expect_eq(tape->book_price[0], 2239500);
  wb_tape_free(tape);
  free(book);
}

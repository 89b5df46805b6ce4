/* warpbook compare: finds the first row where the replay and the source part, and shows it. */
#include "common.h"
#include "day.h"
#include "summary.h"
#include "text.h"
#include "words.h"

#include "base/progress.h"
#include "sim/compare.h"

#include <inttypes.h>
#include <string.h>

enum { KEY_JSON = 0x400, KEY_BOOKS, KEY_FROM, RECORDS_SHOWN = 40 };

typedef struct arguments {
  cli_day day;
  bool json;
} arguments;

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Output:", 4},
    {"json", KEY_JSON, NULL, 0, "print the result as JSON", 4},
    /* of replay: what is wrong is said */
    {"books", KEY_BOOKS, "B", OPTION_HIDDEN, NULL, 4},
    {"from", KEY_FROM, "TIME", OPTION_HIDDEN, NULL, 4},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  arguments *line = state->input;
  (void)argument; /* no option that is taken has one */
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &line->day; return 0;
  case KEY_JSON: line->json = true; return 0;
  case KEY_BOOKS:
    argp_error(state, "--books: one book of each engine is compared, row by row: `warpbook replay "
                      "--books' runs copies");
    return 0;
  case KEY_FROM: argp_error(state, "--from: rows are compared from the first one on"); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&cli_day_argp, 0, NULL, 1}, {0}};

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "INPUT [ORDERBOOK]",
    .doc = "Runs a day message by message, compares the book after each with the day's orderbook "
           "file, and stops at the first difference: the row, its message, the records made of it, "
           "and the books before and after it side by side. Kernels and reference run together and "
           "must agree in both hashes too, unless --engine names one of them; without a book file "
           "they are compared with each other.\v"
           "Exit status: 0 if all rows are equal, 1 at a difference, 2 if something could not be "
           "done.",
    .children = children,
};

/* ---- a difference in context ---- */

static void print_cell(const wb_tape *tape, int32_t price, int64_t qty) {
  if (price == WB_NO_PRICE) {
    (void)printf(" %11s %9s", "-", "-");
  } else {
    (void)printf(" %11" PRId64 " %9" PRId64, tape->base + price, qty);
  }
}

/* One book's levels beside the other's; a mark where they differ. */
static void print_books(const wb_tape *tape, const wb_compare_report *report, bool after) {
  (void)printf("%5s", "");
  for (int32_t i = 0; i < report->book_count; i++) {
    (void)printf("   %-*s", i + 1 < report->book_count ? 43 : 0, report->books[i].name);
  }
  (void)printf("\nlevel");
  for (int32_t i = 0; i < report->book_count; i++) {
    (void)printf("   %11s %9s %11s %9s", "ask", "shares", "bid", "shares");
  }
  (void)putchar('\n');
  for (int32_t level = 0; level < report->levels; level++) {
    bool equal = true;
    (void)printf("%5d", level + 1);
    for (int32_t i = 0; i < report->book_count; i++) {
      const wb_compare_book *book = &report->books[i];
      const int32_t *price = (after ? book->after_price : book->before_price) + 2 * level;
      const int64_t *qty = (after ? book->after_qty : book->before_qty) + 2 * level;
      const wb_compare_book *first = &report->books[0];
      const int32_t *first_price = (after ? first->after_price : first->before_price) + 2 * level;
      const int64_t *first_qty = (after ? first->after_qty : first->before_qty) + 2 * level;
      equal = equal && memcmp(price, first_price, 2 * sizeof *price) == 0 &&
              memcmp(qty, first_qty, 2 * sizeof *qty) == 0;
      (void)printf("  ");
      print_cell(tape, price[0], qty[0]);
      print_cell(tape, price[1], qty[1]);
    }
    (void)printf("%s\n", equal ? "" : "  <");
  }
}

static void print_records(const wb_tape *tape, const wb_compare_report *report) {
  int64_t count = report->record_count;
  if (count == 0) {
    (void)printf("no records were made of it\n");
    return;
  }
  (void)printf("records:\n");
  for (int64_t i = 0; i < count && i < RECORDS_SHOWN; i++) {
    cli_print_record(stdout, tape, report->first_record + i);
  }
  if (count > RECORDS_SHOWN) {
    (void)printf("  and %" PRId64 " more\n", count - RECORDS_SHOWN);
  }
}

static void print_place(const wb_tape *tape, const wb_compare_report *report) {
  const wb_difference *difference = &report->difference;
  const char *expected_name = report->books[report->expected_book].name;
  const char *got_name = report->books[report->got_book].name;
  char expected[CLI_TEXT_BYTES], got[CLI_TEXT_BYTES], time[CLI_TEXT_BYTES];
  int64_t time_ns = difference->row >= 0 && difference->row < tape->row_count
                        ? tape->rows[difference->row].time_ns
                        : tape->records[difference->record].time_ns;
  (void)printf("first difference at row %" PRId64 " (%s)", difference->row,
               cli_clock_text(time_ns, time));
  if (difference->level < 0) {
    (void)printf(": all levels agree, the hashes of %s and %s do not\n", expected_name, got_name);
    return;
  }
  (void)printf(", %s level %d: %s has %s, %s has %s\n", cli_side_name(difference->side),
               difference->level + 1, expected_name,
               cli_cell_text(tape, difference->expected_price, difference->expected_qty, expected),
               got_name, cli_cell_text(tape, difference->got_price, difference->got_qty, got));
}

static void print_findings_of(const wb_tape *tape, int64_t row) {
  for (int64_t i = 0; i < tape->finding_count; i++) {
    if (tape->findings[i].row == row && tape->findings[i].kind != WB_FINDING_BAD_LINE) {
      (void)printf("reader: ");
      cli_print_text(stdout, tape->findings[i].text);
      (void)putchar('\n');
    }
  }
}

/* " (of 4000)" where --to ended the comparison before the tape. */
static const char *part_text(int64_t done, int64_t all, char text[CLI_TEXT_BYTES]) {
  (void)snprintf(text, CLI_TEXT_BYTES, " (of %" PRId64 ")", all);
  return done < all ? text : "";
}

static void print_agreement(const wb_tape *tape, const wb_compare_report *report) {
  char names[CLI_TEXT_BYTES], part[CLI_TEXT_BYTES];
  int used = 0;
  for (int32_t i = 0; i < report->book_count; i++) {
    used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", i == 0 ? "" : " = ",
                     report->books[i].name);
  }
  if (report->rows == 0 &&
      !report->against_source) { /* a tape without rows runs through in one piece */
    cli_line(stdout, "proof", "after all %" PRId64 " records%s both hashes are equal: %s",
             report->records, part_text(report->records, tape->record_count, part), names);
    return;
  }
  cli_line(stdout, "proof", "all %" PRId64 " rows%s equal at %d level%s: %s%s", report->rows,
           part_text(report->rows, tape->row_count, part), report->levels,
           report->levels == 1 ? "" : "s", names,
           report->against_source ? "" : " (no book file to compare with)");
}

static void print_report(const wb_tape *tape, const wb_compare_report *report) {
  cli_print_tape_head(stdout, tape);
  if (!report->different) {
    print_agreement(tape, report);
    return;
  }
  int64_t row = report->difference.row;
  print_place(tape, report);
  if (row >= 0 && row < tape->row_count) {
    cli_print_message(stdout, tape, row);
    print_findings_of(tape, row);
  }
  print_records(tape, report);
  (void)printf("\nbook before\n");
  print_books(tape, report, false);
  (void)printf("\nbook after\n");
  print_books(tape, report, true);
}

static json_t *report_json(const wb_tape *tape, const wb_compare_report *report) {
  json_t *difference =
      report->different ? cli_difference_json(tape, &report->difference) : json_null();
  json_t *books = json_array();
  for (int32_t i = 0; i < report->book_count; i++) {
    (void)json_array_append_new(books, json_string(report->books[i].name));
  }
  return json_pack(
      "{s:I,s:I,s:i,s:b,s:o,s:s,s:s,s:o}", "rows", (json_int_t)report->rows, "records",
      (json_int_t)report->records, "levels", (int)report->levels, "equal", !report->different,
      "books", books, "expected", report->books[report->expected_book].name, "got",
      report->books[report->different ? report->got_book : report->book_count - 1].name,
      "first_difference", difference);
}

/* ---- the run ---- */

static void show_progress(void *context, int64_t done, int64_t total) {
  (void)total;
  wb_progress_update(context, done);
}

static int run_compare(arguments *line, const wb_tape *tape) {
  wb_error error;
  wb_compare_report report;
  wb_progress bar;
  wb_progress_start(&bar, stderr, "comparing", "records", tape->record_count, 0);
  line->day.book.run.on_progress = show_progress;
  line->day.book.run.context = &bar;
  wb_engine engines[WB_COMPARE_ENGINES] = {line->day.book.run.engine, WB_ENGINE_REFERENCE};
  int32_t count = line->day.book.engine_chosen ? 1 : WB_COMPARE_ENGINES;
  wb_status ran = wb_compare(tape, &line->day.book.run, engines, count, &report, &error);
  wb_progress_end(&bar);
  int status = report.different ? CLI_DIFFERENT : CLI_OK;
  if (ran != WB_OK) {
    status = cli_fail_engine(&error);
  } else if (!line->json) {
    print_report(tape, &report);
  } else if (cli_print_json(report_json(tape, &report)) != CLI_OK) {
    status = CLI_ERROR;
  }
  wb_compare_report_free(&report);
  return status;
}

int cli_compare(int argc, char **argv) {
  arguments line = {.day.book = cli_run_default()};
  wb_tape *tape = NULL;
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  int status = cli_day_read(&line.day, &tape);
  if (status == CLI_OK) {
    status = run_compare(&line, tape);
    wb_tape_free(tape);
  }
  return status;
}

/* Pairs of LOBSTER texts, good, damaged and invented, through the reader.
 *
 * Input: one byte of options, then the message text up to a zero byte, then the orderbook text.
 * Whatever the texts are, the reader must end with a status and, if that is WB_OK, with a tape that
 * keeps its promises; rows differ from the book file only where contradictions were counted. Each
 * line also goes through both of its parsers, which must agree. */
#include "data/lobster.h"
#include "data/lobster_parse.h"

#include "../data/plain_book.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LEVELS_TRIED = 3, PAD = 4 * LEVELS_TRIED * WB_LOBSTER_CELL_BYTES + 400 };

static void fail_unless(bool holds) {
  if (!holds) {
    abort();
  }
}

/* ---- lines ---- */

/* The line without a carriage return at its end. */
static size_t text_length(const char *line, size_t length) {
  return length > 0 && line[length - 1] == '\r' ? length - 1 : length;
}

static bool same_message(const wb_source_row *a, const wb_source_row *b, const wb_lobster_extra *x,
                         const wb_lobster_extra *y, int32_t columns) {
  return a->time_ns == b->time_ns && a->id == b->id && a->price == b->price && a->size == b->size &&
         a->type == b->type && a->direction == b->direction && x->decimals == y->decimals &&
         x->odd_time == y->odd_time &&
         (columns == 6 || (x->participant_length == y->participant_length &&
                           memcmp(x->participant, y->participant, x->participant_length) == 0));
}

static void try_message(const char *line, size_t length, int32_t columns) {
  wb_source_row fast_row, careful_row;
  wb_lobster_extra fast_extra, careful_extra;
  char problem[WB_LOBSTER_PROBLEM_BYTES];
  const char *next = wb_lobster_message_fast(line, columns, &fast_row, &fast_extra);
  bool good = wb_lobster_message_careful(line, line + text_length(line, length), columns,
                                         &careful_row, &careful_extra, problem);
  if (next != NULL) {
    fail_unless(good && next == line + length + 1);
    fail_unless(same_message(&fast_row, &careful_row, &fast_extra, &careful_extra, columns));
  }
}

static void try_book(const char *line, size_t length, int32_t levels) {
  int64_t price[2 * LEVELS_TRIED], qty[2 * LEVELS_TRIED], fast_qty[2 * LEVELS_TRIED];
  int32_t fast_price[2 * LEVELS_TRIED];
  wb_lobster_cells cells = {levels, 1000, fast_price, fast_qty, false};
  char problem[WB_LOBSTER_PROBLEM_BYTES];
  const char *next = wb_lobster_book_fast(line, &cells);
  bool good =
      wb_lobster_book_careful(line, line + text_length(line, length), levels, price, qty, problem);
  if (next == NULL) {
    return;
  }
  fail_unless(good && next == line + length + 1);
  for (int32_t i = 0; i < 2 * levels; i++) {
    fail_unless(qty[i] == fast_qty[i]);
    fail_unless(price[i] == INT64_MIN ? fast_price[i] == WB_NO_PRICE
                                      : price[i] == 1000 + (int64_t)fast_price[i]);
  }
}

/* Both parsers on every line, with room to look ahead. */
static void try_lines(const char *text, size_t size) {
  while (size > 0) {
    const char *newline = memchr(text, '\n', size);
    size_t length = newline != NULL ? (size_t)(newline - text) : size;
    char *line = calloc(length + 1 + PAD, 1);
    fail_unless(line != NULL);
    memcpy(line, text, length);
    line[length] = '\n';
    try_message(line, length, 6);
    try_message(line, length, 7);
    for (int32_t levels = 1; levels <= LEVELS_TRIED; levels++) {
      try_book(line, length, levels);
    }
    free(line);
    size -= newline != NULL ? length + 1 : size;
    text += newline != NULL ? length + 1 : 0;
  }
}

/* ---- pairs ---- */

static void check_tape(const wb_tape *tape) {
  wb_error error;
  wb_status status = wb_tape_check(tape, &error);
  if (status != WB_OK) {
    fprintf(stderr, "%s\n", error.text);
  }
  fail_unless(status == WB_OK);
  plain_result result = plain_replay(tape);
  if (result.broken[0] != 0) {
    fprintf(stderr, "%s\n", result.broken);
  }
  fail_unless(result.broken[0] == 0);
  fail_unless(result.edge_records == tape->counts.edge_records);
  fail_unless(result.rows_checked - result.rows_equal <= tape->counts.contradictions);
}

/* A copy of just these bytes, so that a sanitizer sees a step beyond them. */
static char *exact_copy(const char *bytes, size_t size) {
  char *copy = malloc(size > 0 ? size : 1);
  fail_unless(copy != NULL);
  memcpy(copy, bytes, size);
  return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) {
    return 0;
  }
  unsigned choice = data[0];
  const char *text = (const char *)data + 1;
  const char *zero = memchr(text, 0, size - 1);
  size_t first = zero != NULL ? (size_t)(zero - text) : size - 1;
  size_t second = zero != NULL ? size - 2 - first : 0;
  const char *second_text = zero != NULL ? zero + 1 : "";
  try_lines(text, first);
  try_lines(second_text, second);

  wb_read_options options = {.messages_only = (choice & 1) != 0,
                             .truncate = (choice & 2) != 0,
                             .skip_bad = (choice & 4) != 0,
                             .strict = (choice & 8) != 0,
                             .tick_size = (choice & 16) != 0 ? 50 : 0};
  char *bytes[2] = {exact_copy(text, first), exact_copy(second_text, second)};
  wb_lobster_text messages = {"XYZ_2020-01-02_34200000_57600000_message_1.csv", bytes[0], first};
  wb_lobster_text orderbook = {"XYZ_2020-01-02_34200000_57600000_orderbook_1.csv", bytes[1],
                               second};
  wb_tape *tape;
  wb_error error;
  if (wb_lobster_read(&messages, options.messages_only ? NULL : &orderbook, &options, &tape,
                      &error) == WB_OK) {
    check_tape(tape);
    wb_tape_free(tape);
  }
  free(bytes[0]);
  free(bytes[1]);
  return 0;
}

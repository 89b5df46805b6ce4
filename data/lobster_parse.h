/* One line of a LOBSTER file, from text to integers. Private to data/.
 *
 * Each kind of line has two parsers. The careful one decides what is accepted and says what is wrong
 * with the rest; the fast one knows the common form only and returns NULL for anything else, good or
 * bad, so that the caller asks the careful one. Keep: what the fast one accepts, the careful one
 * accepts with the same result (tests/fuzz compares them). */
#ifndef WB_DATA_LOBSTER_PARSE_H
#define WB_DATA_LOBSTER_PARSE_H

#include "tape.h"

#include <stddef.h>

#define WB_LOBSTER_DUMMY INT64_C(9999999999) /* "no such ask"; negative for bids */

enum {
  WB_LOBSTER_PROBLEM_BYTES = 256,
  WB_LOBSTER_MESSAGE_BYTES = 160, /* the fast parser may look at so many bytes of a message line */
  WB_LOBSTER_CELL_BYTES = 20, /* and at so many for each cell of a book line, 16 more at its end */
  WB_LOBSTER_PARTICIPANT_BYTES = 63 /* longest text of the seventh column */
};

/* Shares that one level of a book row may hold: it is split into orders of at most 2^31 - 1. */
#define WB_LOBSTER_LEVEL_SHARES ((INT64_C(1) << 36) - 1)

/* What a line holds beside its numbers. */
typedef struct wb_lobster_extra {
  const char *time; /* its text */
  size_t time_length;
  const char *participant; /* text of the seventh column */
  size_t participant_length;
  int32_t decimals; /* of the time */
  bool odd_time;    /* the text is not the shortest that gives time_ns */
} wb_lobster_extra;

/* A book line's cells: price[2 * i] and qty[2 * i] are ask i, the odd ones bids. */
typedef struct wb_lobster_cells {
  int32_t levels;
  int64_t base;
  int32_t *price; /* above base; WB_NO_PRICE where there is no level */
  int64_t *qty;
  bool not_in_cents; /* a price does not divide by 100: set, never cleared */
} wb_lobster_cells;

/* Reads the message line at `at`, of `columns` columns (6 or 7), up to and with its newline. At
 * least WB_LOBSTER_MESSAGE_BYTES must be readable. Sets all fields of `row` but participant; returns
 * where the next line starts. */
const char *wb_lobster_message_fast(const char *at, int32_t columns, wb_source_row *row,
                                    wb_lobster_extra *extra);

/* The same for any line [line, end), newline and carriage return taken off. Returns false and
 * writes "<field>: expected .., got .." to `problem`. */
bool wb_lobster_message_careful(const char *line, const char *end, int32_t columns,
                                wb_source_row *row, wb_lobster_extra *extra,
                                char problem[WB_LOBSTER_PROBLEM_BYTES]);

/* Reads a book line whose prices all fit the base. 4 * levels * WB_LOBSTER_CELL_BYTES + 16 bytes
 * must be readable. */
const char *wb_lobster_book_fast(const char *at, wb_lobster_cells *cells);

/* The same for any line; prices are exact, with no base taken off, INT64_MIN where there is no level. */
bool wb_lobster_book_careful(const char *line, const char *end, int32_t levels, int64_t *price,
                             int64_t *qty, char problem[WB_LOBSTER_PROBLEM_BYTES]);

/* Columns of the line [line, end). */
int64_t wb_lobster_columns(const char *line, const char *end);

#endif

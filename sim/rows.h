/* A tape's records cut into source rows, and the comparison of two book rows. Not public.
 *
 * Usually a row ends with a record that has ROW_END. A row of which nothing reached the tape has no
 * records at all: the book after it is the book after the row before. Records behind the last row
 * (agents', say) belong to none: they are the tail. */
#ifndef WB_SIM_ROWS_H
#define WB_SIM_ROWS_H

#include "data/tape.h"
#include "sim/replay.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct wb_row_cursor {
  const wb_tape *tape;
  int64_t end_record, end_row; /* where the time window ends; end_row counts with rows only */
  int64_t next_record, next_row;
  int64_t row_end; /* the next record with ROW_END at or after next_record; end_record: none */
} wb_row_cursor;

typedef struct wb_row_step {
  int64_t row;          /* the source's number; -1 if the tape does not tell */
  int64_t time_ns;      /* of the row */
  int64_t first, count; /* its records; count 0: it has none */
} wb_row_step;

/* Checks what the walk relies on: the rows of records with ROW_END ascend, and exist if the tape has
 * rows. Then stands before row 0. `to_ns` 0: the whole tape. */
wb_status wb_row_cursor_start(wb_row_cursor *cursor, const wb_tape *tape, int64_t to_ns,
                              wb_error *error);

/* The next row, false at the end; then next_record .. end_record - 1 are the tail. */
bool wb_row_cursor_next(wb_row_cursor *cursor, wb_row_step *step);

/* Whether two rows agree at the first `levels` levels; if not, the place and both sides of the first
 * one that does not (best level first, ask before bid) are written, row and record not. */
bool wb_rows_equal(int32_t levels, const int32_t *expected_price, const int64_t *expected_qty,
                   const int32_t *got_price, const int64_t *got_qty, wb_difference *difference);

#endif

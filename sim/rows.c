/* Cutting a tape into rows, and comparing rows. */
#include "sim/rows.h"

#include <inttypes.h>
#include <string.h>

static bool ends_row(const wb_record *record) { return (record->flags & WB_FLAG_ROW_END) != 0; }

static wb_status check_rows(const wb_tape *tape, wb_error *error) {
  int64_t row = -1;
  for (int64_t i = 0; i < tape->record_count; i++) {
    const wb_record *record = &tape->records[i];
    if (!ends_row(record) || tape->row_count == 0) {
      continue;
    }
    if (record->row <= row || record->row >= tape->row_count) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT,
                     "tape: record %" PRId64 " ends a row: expected one after %" PRId64
                     " and before %" PRId64 ", got %d",
                     i, row, tape->row_count, record->row);
    }
    row = record->row;
  }
  return WB_OK;
}

/* Records and rows at or after to_ns are left out. */
static void find_ends(wb_row_cursor *cursor, int64_t to_ns) {
  const wb_tape *tape = cursor->tape;
  cursor->end_record = tape->record_count;
  cursor->end_row = tape->row_count;
  if (to_ns == 0) {
    return;
  }
  int64_t row = 0;
  while (row < tape->row_count && tape->rows[row].time_ns < to_ns) {
    row++;
  }
  cursor->end_row = row;
  int64_t index = 0;
  while (index < tape->record_count && tape->records[index].time_ns < to_ns &&
         (tape->row_count == 0 || tape->records[index].row < row)) {
    index++;
  }
  cursor->end_record = index;
}

static void find_row_end(wb_row_cursor *cursor) {
  int64_t index = cursor->next_record;
  while (index < cursor->end_record && !ends_row(&cursor->tape->records[index])) {
    index++;
  }
  cursor->row_end = index;
}

wb_status wb_row_cursor_start(wb_row_cursor *cursor, const wb_tape *tape, int64_t to_ns,
                              wb_error *error) {
  WB_TRY(check_rows(tape, error));
  memset(cursor, 0, sizeof *cursor);
  cursor->tape = tape;
  find_ends(cursor, to_ns);
  find_row_end(cursor);
  return WB_OK;
}

bool wb_row_cursor_next(wb_row_cursor *cursor, wb_row_step *step) {
  const wb_tape *tape = cursor->tape;
  bool more = cursor->row_end < cursor->end_record;
  const wb_record *last = more ? &tape->records[cursor->row_end] : NULL;
  step->first = cursor->next_record;
  step->count = 0;

  /* a source row without records */
  if (tape->row_count > 0 && (last == NULL || last->row > cursor->next_row)) {
    if (cursor->next_row >= cursor->end_row) {
      return false;
    }
    step->row = cursor->next_row++;
    step->time_ns = tape->rows[step->row].time_ns;
    return true;
  }

  if (last == NULL) {
    return false;
  }
  step->row = last->row;
  step->time_ns = tape->row_count > 0 ? tape->rows[last->row].time_ns : last->time_ns;
  step->count = cursor->row_end + 1 - cursor->next_record;
  cursor->next_row = step->row + 1;
  cursor->next_record = cursor->row_end + 1;
  find_row_end(cursor);
  return true;
}

bool wb_rows_equal(int32_t levels, const int32_t *expected_price, const int64_t *expected_qty,
                   const int32_t *got_price, const int64_t *got_qty, wb_difference *difference) {
  size_t cells = 2 * (size_t)levels;
  if (memcmp(expected_price, got_price, cells * sizeof *got_price) == 0 &&
      memcmp(expected_qty, got_qty, cells * sizeof *got_qty) == 0) {
    return true;
  }
  size_t at = 0;
  while (expected_price[at] == got_price[at] && expected_qty[at] == got_qty[at]) {
    at++;
  }
  difference->side = at % 2 == 0 ? WB_SIDE_ASK : WB_SIDE_BID;
  difference->level = (int32_t)(at / 2);
  difference->expected_price = expected_price[at];
  difference->expected_qty = expected_qty[at];
  difference->got_price = got_price[at];
  difference->got_qty = got_qty[at];
  return false;
}

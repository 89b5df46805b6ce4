/* A second opinion on a reader's tape, in the plainest way: shares by price and side, orders by
 * reference. It shares no code with the reader, the reference book or the kernels.
 *
 * It replays the records and says what breaks a promise of the tape: a record that finds no order, a
 * submission that would match, an edge record at a price that the row before showed, a row whose
 * levels are not the vendor's. For tests and fuzzers; included where it is used. */
#ifndef WB_TESTS_PLAIN_BOOK_H
#define WB_TESTS_PLAIN_BOOK_H

#include "data/tape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct plain_order {
  int32_t price, qty;
  int32_t side;
} plain_order;

typedef struct plain_level {
  int32_t price;
  int64_t qty;
} plain_level;

typedef struct plain_book {
  plain_order *orders;    /* by reference; qty 0: does not rest */
  plain_level *levels[2]; /* best first */
  int32_t count[2];
  int32_t state;
} plain_book;

typedef struct plain_result {
  int64_t rows_checked, rows_equal;
  int64_t edge_records;
  char broken[240]; /* "" if every promise was kept */
} plain_result;

static inline int plain_better(int32_t side, int32_t a, int32_t b) {
  return side == WB_SIDE_ASK ? a < b : a > b;
}

/* Adds shares (or takes them, if negative) at a price. */
static inline void plain_change(plain_book *book, int32_t side, int32_t price, int64_t qty) {
  plain_level *levels = book->levels[side];
  int32_t at = 0;
  while (at < book->count[side] && plain_better(side, levels[at].price, price)) {
    at++;
  }
  if (at == book->count[side] || levels[at].price != price) {
    memmove(levels + at + 1, levels + at, (size_t)(book->count[side] - at) * sizeof *levels);
    levels[at] = (plain_level){price, 0};
    book->count[side]++;
  }
  levels[at].qty += qty;
  if (levels[at].qty == 0) {
    book->count[side]--;
    memmove(levels + at, levels + at + 1, (size_t)(book->count[side] - at) * sizeof *levels);
  }
}

/* A price that an edge record may touch: strictly worse than the last level that row `row` showed,
 * which must be a full row. */
static inline int plain_out_of_sight(const wb_tape *tape, int64_t row, int32_t side,
                                     int32_t price) {
  const int32_t *prices = tape->book_price + row * 2 * tape->levels;
  int32_t last = prices[2 * (tape->levels - 1) + (side == WB_SIDE_BID)];
  return last != WB_NO_PRICE && plain_better(side, last, price);
}

/* What is wrong with the record, NULL if nothing; applies it. */
static inline const char *plain_apply(plain_book *book, const wb_tape *tape,
                                      const wb_record *record) {
  int32_t side = (record->flags & WB_FLAG_SIDE) != 0;
  if (record->flags & WB_FLAG_EDGE) {
    if (record->row < 1 || tape->levels == 0 ||
        !plain_out_of_sight(tape, record->row - 1, side, record->price)) {
      return "an edge record touches a price that the row before showed";
    }
  }
  if (record->type == WB_RECORD_NOTE) {
    return NULL;
  }
  if (record->type == WB_RECORD_STATE) {
    book->state = record->arg;
    return NULL;
  }
  plain_order *order = &book->orders[record->ref];
  if (record->type == WB_RECORD_ADD) {
    int32_t other = 1 - side;
    if (order->qty != 0) {
      return "a submission names an order that rests";
    }
    /* at the other side's best or beyond it */
    if (book->state == WB_STATE_TRADING && !(record->flags & WB_FLAG_NO_MATCH) &&
        book->count[other] > 0 &&
        !plain_better(side, book->levels[other][0].price, record->price)) {
      return "a submission would match";
    }
    *order = (plain_order){record->price, record->qty, side};
    plain_change(book, side, record->price, record->qty);
    return NULL;
  }
  if (order->qty == 0 || order->side != side || order->price != record->price) {
    return "a record finds no order";
  }
  int32_t qty = record->type == WB_RECORD_DELETE ? order->qty : record->qty;
  if (qty > order->qty) {
    return "a record takes more than there is";
  }
  order->qty -= qty;
  plain_change(book, side, record->price, -(int64_t)qty);
  return NULL;
}

static inline int plain_row_equals(const plain_book *book, const wb_tape *tape, int64_t row) {
  for (int32_t i = 0; i < 2 * tape->levels; i++) {
    int32_t side = i % 2 == 0 ? WB_SIDE_ASK : WB_SIDE_BID;
    int64_t at = row * 2 * tape->levels + i;
    if (i / 2 >= book->count[side]) {
      if (tape->book_price[at] != WB_NO_PRICE || tape->book_qty[at] != 0) {
        return 0;
      }
    } else if (tape->book_price[at] != book->levels[side][i / 2].price ||
               tape->book_qty[at] != book->levels[side][i / 2].qty) {
      return 0;
    }
  }
  return 1;
}

static inline void plain_break(plain_result *result, const char *what, int64_t record,
                               int64_t row) {
  if (result->broken[0] == 0) {
    snprintf(result->broken, sizeof result->broken, "record %" PRId64 ", row %" PRId64 ": %s",
             record, row, what);
  }
}

static inline void plain_check_row(const plain_book *book, const wb_tape *tape, int64_t row,
                                   plain_result *result) {
  if (tape->levels > 0) {
    result->rows_checked++;
    result->rows_equal += plain_row_equals(book, tape, row);
  }
}

/* Replays the whole tape. Rows that differ are only counted; broken promises end it. */
static inline plain_result plain_replay(const wb_tape *tape) {
  plain_result result = {0};
  size_t room = (size_t)tape->ref_count + 1;
  plain_book book = {
      .orders = calloc(room, sizeof *book.orders),
      .levels = {malloc(room * sizeof **book.levels), malloc(room * sizeof **book.levels)}};
  for (int32_t i = 0; i < tape->seed_count; i++) {
    const wb_order *order = &tape->seed[i];
    book.orders[order->ref] = (plain_order){order->price, order->qty, order->side};
    plain_change(&book, order->side, order->price, order->qty);
  }
  int64_t row = 0; /* the next to be compared */
  if (tape->record_count == 0 || tape->records[0].row > 0) {
    plain_check_row(&book, tape, row++, &result);
  }
  for (int64_t i = 0; i < tape->record_count && result.broken[0] == 0; i++) {
    const wb_record *record = &tape->records[i];
    const char *what = plain_apply(&book, tape, record);
    result.edge_records += (record->flags & WB_FLAG_EDGE) != 0;
    if (what != NULL) {
      plain_break(&result, what, i, record->row);
    }
    if (record->row != row) {
      plain_break(&result, "a row is missing or out of order", i, record->row);
    } else if (record->flags & WB_FLAG_ROW_END) {
      plain_check_row(&book, tape, row++, &result);
    }
  }
  if (row != tape->row_count && result.broken[0] == 0) {
    plain_break(&result, "rows are missing at the end", tape->record_count, row);
  }
  free(book.orders);
  free(book.levels[0]);
  free(book.levels[1]);
  return result;
}

#endif

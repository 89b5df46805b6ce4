/* From source rows to records: resolves every message to orders that rest, and follows the vendor's
 * moving window with edge records. Private to data/. How it works is told in lobster_window.c. */
#ifndef WB_DATA_LOBSTER_WINDOW_H
#define WB_DATA_LOBSTER_WINDOW_H

#include "input.h"
#include "lobster_book.h"

/* Where the reader is, for messages. */
typedef struct wb_lobster_place {
  const char *message_name, *book_name; /* book_name NULL: messages only */
  int64_t message_line, book_line;      /* from 1 */
  int64_t row;                          /* from 0 */
} wb_lobster_place;

typedef struct wb_lobster_window {
  wb_tape *tape; /* its records, ids, counts, seed and findings are written here */
  wb_lobster_place place;
  bool strict;
  wb_queue_book book;
  wb_trading_state state;
  int64_t bound[2];  /* key of level L in the vendor's row before; INT64_MIN: it showed fewer */
  bool contradicted; /* the row at hand has been counted as such */
  int64_t record_room, finding_room;
  int32_t ref_room;
  int64_t findings[3]; /* kept, of each kind */
} wb_lobster_window;

/* Starts over an empty book. `rows` is a guess. wb_lobster_window_end is due either way. */
wb_status wb_lobster_window_start(wb_lobster_window *window, wb_tape *tape, bool strict,
                                  int64_t rows, wb_error *error);
/* Gives back all but what went into the tape. */
void wb_lobster_window_end(wb_lobster_window *window);

/* Row 0 of a pair: the book row becomes the seed. The message is applied only if it is no order's.
 * `price` is the message's, above the base; book rows as in wb_tape. */
wb_status wb_lobster_window_seed(wb_lobster_window *window, const wb_source_row *message,
                                 int32_t price, const int32_t *book_price, const int64_t *book_qty,
                                 wb_error *error);

/* Any other row; book_price NULL: messages only. */
wb_status wb_lobster_window_row(wb_lobster_window *window, const wb_source_row *message,
                                int32_t price, const int32_t *book_price, const int64_t *book_qty,
                                wb_error *error);

/* Keeps a finding, if there is room for one more of its kind; the text is printf's. */
wb_status wb_lobster_window_finding(wb_lobster_window *window, wb_finding_kind kind, int64_t row,
                                    wb_error *error, const char *format, ...) WB_PRINTF(5, 6);

#endif

/* Replay of a tape through an engine, with every source row checked.
 *
 * The records alone drive the book; after the last record of a source row the top levels are
 * compared with the source's book row. Row 0 is the seed book. One thread at a time per call;
 * several calls may run at once on one tape. */
#ifndef WB_SIM_REPLAY_H
#define WB_SIM_REPLAY_H

#include "../base/record.h"
#include "../base/rules.h"
#include "../base/status.h"
#include "../data/tape.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wb_engine { WB_ENGINE_REFERENCE = 0, WB_ENGINE_KERNEL = 1 } wb_engine;

/* The book after one source row: [2 * levels] as in wb_tape: ask 1, bid 1, .. */
typedef struct wb_row_view {
  int64_t row;
  int64_t time_ns;
  int32_t levels;
  const int32_t *price;
  const int64_t *qty;
} wb_row_view;

typedef struct wb_replay_options {
  wb_engine engine;
  wb_book_rules rules;    /* base, tick_size and unique_refs are taken from the tape */
  int32_t levels;         /* to show, and to compare as far as the tape has them; 0: the tape's.
                     More than the tape's: what the book knows of deeper levels, maybe in part */
  int64_t from_ns, to_ns; /* rows and trades shown: from <= time < to; to 0: all. Rows are checked
                             from the first to the last one before to_ns, where the replay ends */
  bool stop_at_difference;
  /* All may be NULL. A status other than WB_OK from a function ends the replay with it. Rows come
   * in order and trades in order, but the trades of several rows may come before these rows. */
  wb_status (*on_row)(void *context, const wb_row_view *view, wb_error *error);
  wb_status (*on_trade)(void *context, const wb_trade *trade, wb_error *error);
  void (*on_progress)(void *context, int64_t records_done, int64_t records);
  void *context;
  /* kernel engine only */
  int32_t books;      /* identical copies of the replay, checked by their hashes; 0: 1 */
  int32_t threads;    /* 0: all cores */
  const char *device; /* NULL: "cpu" */
} wb_replay_options;

/* The reference engine with default rules, one book, all rows, no functions. */
WB_API wb_replay_options wb_replay_options_default(void);

typedef struct wb_difference {
  int64_t row, record; /* record: the last one applied before the comparison; -1 for the seed */
  wb_side side;
  int32_t level;                     /* from 0 */
  int32_t expected_price, got_price; /* units above base; WB_NO_PRICE: no such level */
  int64_t expected_qty, got_qty;
} wb_difference;

typedef struct wb_replay_result {
  int64_t rows, records;            /* replayed */
  int64_t rows_checked, rows_equal; /* compared with the source's book rows; 0 without them */
  int32_t levels_checked;           /* of each: at most the tape's; 0 if none was compared */
  bool different;
  wb_difference first_difference; /* if different */
  int64_t trades, volume;
  int64_t counters[WB_COUNTERS];
  uint32_t status;
  wb_trading_state state;
  uint64_t book_hash, state_hash;
  int64_t books_equal; /* books whose hashes equal book 0's, itself included */
  int32_t books, threads, capacity;
  char device[32];
  double seconds_compile, seconds_run;
} wb_replay_result;

/* Replays `tape`, which wb_tape_check accepts. A row that differs is no error but in the result,
 * which is the caller's and is meaningful only with WB_OK. A source row of which no record is on the
 * tape is compared with the book after the row before. WB_ERROR_ARGUMENT for options out of range;
 * WB_ERROR_UNAVAILABLE for an engine that is not there; WB_ERROR_LIMIT for more than 2^31 - 1
 * records; what a function returned. */
WB_API wb_status wb_replay(const wb_tape *tape, const wb_replay_options *options,
                           wb_replay_result *result, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

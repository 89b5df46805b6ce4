/* What replay and compare ask of an engine: the only place where they meet one.
 *
 * An engine runs a tape's records through one book (or several equal ones) and tells the levels
 * after each source row. It is asked in batches, so that an engine on a device can answer a batch
 * with one launch. Nothing here is public. Keep: the checking of rows stays outside of engines, so
 * that all of them are checked by the same lines. */
#ifndef WB_SIM_ENGINE_H
#define WB_SIM_ENGINE_H

#include "base/record.h"
#include "base/rules.h"
#include "base/status.h"
#include "data/tape.h"
#include "sim/replay.h"

#include <stdint.h>

/* Takes the trades of book 0, in their order; a status other than WB_OK ends the run with it. */
typedef struct wb_engine_trades {
  wb_status (*take)(void *context, const wb_trade *trade, wb_error *error); /* NULL: not wanted */
  void *context;
} wb_engine_trades;

/* What an engine has to say at the end. */
typedef struct wb_engine_totals {
  int64_t counters[WB_COUNTERS];
  uint32_t status;
  wb_trading_state state;
  uint64_t book_hash, state_hash;
  int64_t books_equal;
  int32_t books, threads, capacity;
  char device[32];
  double seconds_compile;
} wb_engine_totals;

typedef struct wb_engine_type {
  const char *name;

  /* Opens the book in the tape's seed state. `rules` are complete: base, tick and promise of the
   * tape are filled in. `trades` is copied; the tape must outlive the engine. */
  wb_status (*open)(const wb_tape *tape, const wb_book_rules *rules,
                    const wb_replay_options *options, const wb_engine_trades *trades, void **state,
                    wb_error *error);
  void (*close)(void *state);

  /* Applies the tape's records first .. first + count - 1. After each one with ROW_END a row of
   * 2 * levels prices and quantities is written, the next behind the one before, in the shape of a
   * tape's book rows; levels 0: no rows are wanted and price and qty may be NULL. */
  wb_status (*run)(void *state, int64_t first, int64_t count, int32_t levels, int32_t *price,
                   int64_t *qty, wb_error *error);

  /* One such row of the book as it stands. */
  wb_status (*levels)(void *state, int32_t levels, int32_t *price, int64_t *qty, wb_error *error);

  wb_status (*totals)(void *state, wb_engine_totals *totals, wb_error *error);
} wb_engine_type;

extern const wb_engine_type wb_engine_reference;
extern const wb_engine_type wb_engine_kernel;

/* The type of an engine; WB_ERROR_ARGUMENT, WB_ERROR_UNAVAILABLE. */
wb_status wb_engine_find(wb_engine engine, const wb_engine_type **type, wb_error *error);

#endif

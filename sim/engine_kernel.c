/* The compiled kernels as an engine: one watched book that records rows and trades, and any number of
 * others that run the same tape unwatched and must end with the same hashes.
 *
 * Keep: the others run in fewer, longer launches and catch up before anybody asks, so all books are
 * equal whenever the engine is asked; what a book holds is never told by the host but read back from
 * the device. */
#include "sim/engine.h"

#include "sim/measure.h"
#include "sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Records of one launch: bounds the trades that the watched book's ring must hold. */
enum { LAUNCH_RECORDS = 4096, TRADE_ROOM_FIRST = 1 << 14, OTHERS_RECORDS = 1 << 16 };

typedef struct kernel_engine {
  const wb_tape *tape;
  wb_engine_trades trades;
  int32_t capacity;
  bool automatic; /* the capacity was chosen here: nothing may be refused or evicted */
  wb_sim *watched;
  wb_sim *others; /* NULL: there is one book only */
  int32_t other_books;
  int64_t behind;     /* records that the others have yet to run */
  int32_t row_levels; /* recorded now */
  int64_t row_room;
  wb_level *rows;
  wb_trade *kept;
  int64_t trade_room;
} kernel_engine;

/* ---- capacity ---- */

/* The smallest capacity that never fills. */
static wb_status choose_capacity(const wb_tape *tape, const wb_book_rules *rules, int32_t *capacity,
                                 wb_error *error) {
  int64_t orders = 0;
  WB_TRY(wb_tape_measure_side(tape, rules, &orders, error));
  *capacity = wb_book_capacity_for(orders);
  if (*capacity == 0) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "kernel engine: one side holds %" PRId64
                   " orders; a kernel's book holds at most %d a side (the reference engine has "
                   "no limit)",
                   orders, WB_BOOK_CAPACITY_MAX);
  }
  return WB_OK;
}

/* ---- life ---- */

static void kernel_close(void *state) {
  kernel_engine *engine = state;
  if (engine != NULL) {
    wb_sim_free(engine->watched);
    wb_sim_free(engine->others);
    free(engine->rows);
    free(engine->kept);
    free(engine);
  }
}

static wb_status open_sims(kernel_engine *engine, const wb_book_rules *rules,
                           const wb_replay_options *options, wb_error *error) {
  wb_sim_config config = wb_sim_config_default();
  config.device = options->device;
  config.threads = options->threads;
  config.rules = *rules;
  config.tapes = &engine->tape;
  config.tape_count = 1;
  if (options->books > 1) {
    config.books = options->books - 1;
    engine->other_books = config.books;
    WB_TRY(wb_sim_create(&config, &engine->others, error));
  }
  config.books = 1;
  if (engine->trades.take != NULL) {
    config.trades = WB_TRADES_ALL;
    config.trade_room = TRADE_ROOM_FIRST;
  }
  engine->trade_room = config.trade_room;
  return wb_sim_create(&config, &engine->watched, error);
}

static wb_status kernel_open(const wb_tape *tape, const wb_book_rules *rules,
                             const wb_replay_options *options, const wb_engine_trades *trades,
                             void **state, wb_error *error) {
  kernel_engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "kernel engine: no memory");
  }
  engine->tape = tape;
  engine->trades = *trades;
  wb_book_rules complete = *rules;
  engine->automatic = complete.capacity == 0;
  wb_status status = WB_OK;
  if (engine->automatic) {
    status = choose_capacity(tape, rules, &complete.capacity, error);
  }
  engine->capacity = complete.capacity;
  status = status == WB_OK ? open_sims(engine, &complete, options, error) : status;
  if (status != WB_OK) {
    kernel_close(engine);
    return status;
  }
  *state = engine;
  return WB_OK;
}

/* ---- running ---- */

static int64_t row_ends(const wb_record *records, int64_t count) {
  int64_t rows = 0;
  for (int64_t i = 0; i < count; i++) {
    rows += (records[i].flags & WB_FLAG_ROW_END) != 0;
  }
  return rows;
}

/* Makes the watched book record `levels` for up to `rows` rows at a time. */
static wb_status record_rows(kernel_engine *engine, int32_t levels, int64_t rows, wb_error *error) {
  if (levels == engine->row_levels && rows <= engine->row_room) {
    return WB_OK;
  }
  free(engine->rows);
  engine->row_levels = levels;
  engine->row_room = levels == 0 ? 0 : rows;
  size_t bytes = (size_t)engine->row_room * 2 * (size_t)levels * sizeof *engine->rows;
  engine->rows = malloc(bytes + 1);
  if (engine->rows == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "kernel engine: no memory for %" PRId64 " rows", rows);
  }
  wb_trade_choice trades = engine->trades.take == NULL ? WB_TRADES_NONE : WB_TRADES_ALL;
  return wb_sim_record(engine->watched, trades, engine->trade_room, levels, engine->row_room,
                       error);
}

/* A row in the tape's form: absent levels have orders 0 and become WB_NO_PRICE. */
static void copy_rows(const wb_level *levels, int64_t count, int32_t *price, int64_t *qty) {
  for (int64_t i = 0; i < count; i++) {
    bool there = levels[i].orders > 0;
    price[i] = there ? levels[i].price : WB_NO_PRICE;
    qty[i] = there ? levels[i].qty : 0;
  }
}

static wb_status take_rows(kernel_engine *engine, int64_t expected, int32_t **price, int64_t **qty,
                           wb_error *error) {
  int64_t rows = 0;
  WB_TRY(wb_sim_take_rows(engine->watched, 0, engine->rows, engine->row_room, &rows, error));
  if (rows != expected) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "kernel engine: expected %" PRId64 " rows of the watched book, got %" PRId64,
                   expected, rows);
  }
  int64_t cells = rows * 2 * engine->row_levels;
  copy_rows(engine->rows, cells, *price, *qty);
  *price += cells;
  *qty += cells;
  return WB_OK;
}

static wb_status take_trades(kernel_engine *engine, wb_error *error) {
  int64_t count = 0;
  WB_TRY(wb_sim_take_trades(engine->watched, 0, engine->kept, engine->trade_room, &count, error));
  for (int64_t i = 0; i < count; i++) {
    WB_TRY(engine->trades.take(engine->trades.context, &engine->kept[i], error));
  }
  return WB_OK;
}

/* A record trades with at most every order of one side, so so many records never fill the ring. */
static int64_t launch_records(const kernel_engine *engine) {
  if (engine->trades.take == NULL) {
    return LAUNCH_RECORDS;
  }
  int64_t safe = engine->trade_room / engine->capacity;
  return safe < 1 ? 1 : safe > LAUNCH_RECORDS ? LAUNCH_RECORDS : safe;
}

static wb_status prepare_trades(kernel_engine *engine, wb_error *error) {
  if (engine->trades.take == NULL || engine->kept != NULL) {
    return WB_OK;
  }
  engine->kept = malloc((size_t)engine->trade_room * sizeof *engine->kept);
  if (engine->kept == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "kernel engine: no memory for %" PRId64 " trades",
                   engine->trade_room);
  }
  return WB_OK;
}

static wb_status catch_up(kernel_engine *engine, wb_error *error) {
  if (engine->others == NULL || engine->behind == 0) {
    return WB_OK;
  }
  int64_t records = engine->behind;
  engine->behind = 0;
  return wb_sim_run(engine->others, records, error);
}

static wb_status kernel_run(void *state, int64_t first, int64_t count, int32_t levels,
                            int32_t *price, int64_t *qty, wb_error *error) {
  kernel_engine *engine = state;
  const wb_record *records = engine->tape->records + first;
  int64_t step = launch_records(engine);
  WB_TRY(prepare_trades(engine, error));
  WB_TRY(record_rows(engine, levels, step, error));
  engine->behind += count;
  if (engine->behind >= OTHERS_RECORDS) {
    WB_TRY(catch_up(engine, error));
  }
  for (int64_t done = 0; done < count; done += step) {
    int64_t part = count - done < step ? count - done : step;
    WB_TRY(wb_sim_run(engine->watched, part, error));
    if (levels > 0) {
      WB_TRY(take_rows(engine, row_ends(records + done, part), &price, &qty, error));
    }
    if (engine->trades.take != NULL) {
      WB_TRY(take_trades(engine, error));
    }
  }
  return WB_OK;
}

/* ---- what it says ---- */

static wb_status kernel_levels(void *state, int32_t levels, int32_t *price, int64_t *qty,
                               wb_error *error) {
  kernel_engine *engine = state;
  wb_level *side_levels = malloc((size_t)levels * sizeof *side_levels + 1);
  if (side_levels == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "kernel engine: no memory for %d levels", levels);
  }
  wb_status status = WB_OK;
  for (int side = 0; status == WB_OK && side < 2; side++) {
    int32_t known = 0;
    status = wb_sim_levels(engine->watched, 0, (wb_side)side, side_levels, levels, &known, error);
    for (int32_t level = 0; status == WB_OK && level < levels; level++) {
      /* a row names the ask before the bid */
      int32_t at = 2 * level + (side == WB_SIDE_ASK ? 0 : 1);
      bool there = level < known;
      price[at] = there ? side_levels[level].price : WB_NO_PRICE;
      qty[at] = there ? side_levels[level].qty : 0;
    }
  }
  free(side_levels);
  return status;
}

static wb_status count_equal(kernel_engine *engine, wb_engine_totals *totals, wb_error *error) {
  size_t books = (size_t)engine->other_books;
  uint64_t *hashes = malloc(2 * books * sizeof *hashes);
  if (hashes == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "kernel engine: no memory for the hashes of %d books",
                   engine->other_books);
  }
  wb_status status =
      wb_sim_hashes(engine->others, 0, engine->other_books, hashes, hashes + books, error);
  for (size_t i = 0; status == WB_OK && i < books; i++) {
    totals->books_equal +=
        hashes[i] == totals->book_hash && hashes[books + i] == totals->state_hash;
  }
  free(hashes);
  return status;
}

static wb_status check_capacity(const kernel_engine *engine, const wb_engine_totals *totals,
                                wb_error *error) {
  int64_t full = totals->counters[WB_COUNT_BOOK_FULL] + totals->counters[WB_COUNT_EVICTED];
  if (engine->automatic && full > 0) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "kernel engine: the capacity chosen for this tape, %d orders a side, was too "
                   "small %" PRId64 " times: give a larger one",
                   engine->capacity, full);
  }
  return WB_OK;
}

static wb_status kernel_totals(void *state, wb_engine_totals *totals, wb_error *error) {
  kernel_engine *engine = state;
  memset(totals, 0, sizeof *totals);
  wb_sim_book book;
  WB_TRY(wb_sim_read_book(engine->watched, 0, &book, error));
  WB_TRY(wb_sim_hashes(engine->watched, 0, 1, &totals->book_hash, &totals->state_hash, error));
  memcpy(totals->counters, book.counters, sizeof totals->counters);
  totals->status = book.status;
  totals->state = book.state;
  totals->books = 1 + engine->other_books;
  totals->books_equal = 1;
  totals->capacity = engine->capacity;
  wb_sim_describe_device(engine->watched, totals->device, sizeof totals->device, &totals->threads);
  totals->seconds_compile = wb_sim_compile_seconds(engine->watched);
  if (engine->others != NULL) {
    WB_TRY(catch_up(engine, error));
    WB_TRY(count_equal(engine, totals, error));
    totals->seconds_compile += wb_sim_compile_seconds(engine->others);
  }
  return check_capacity(engine, totals, error);
}

const wb_engine_type wb_engine_kernel = {
    .name = "kernel",
    .open = kernel_open,
    .close = kernel_close,
    .run = kernel_run,
    .levels = kernel_levels,
    .totals = kernel_totals,
};

/* The list of engines, and the CPU reference as one of them. */
#include "sim/engine.h"

#include "sim/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reference_engine {
  const wb_tape *tape;
  wb_reference *book;
  wb_engine_trades trades;
  int32_t capacity;
  wb_level *levels; /* room for levels_room levels of one side */
  int32_t levels_room;
  wb_status taken; /* what the taker of trades said last */
  wb_error *error; /* of the run in progress: where the taker puts its text */
} reference_engine;

static void take_trade(void *context, const wb_trade *trade) {
  reference_engine *engine = context;
  if (engine->taken == WB_OK) {
    engine->taken = engine->trades.take(engine->trades.context, trade, engine->error);
  }
}

static void reference_close(void *state) {
  reference_engine *engine = state;
  if (engine != NULL) {
    wb_reference_free(engine->book);
    free(engine->levels);
    free(engine);
  }
}

static wb_status check_options(const wb_replay_options *options, wb_error *error) {
  if (options->books > 1) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "books: the reference engine runs 1 book, got %d; several need the kernels",
                   options->books);
  }
  if (options->threads > 1) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "threads: the reference engine runs on 1 thread, got %d", options->threads);
  }
  if (options->device != NULL && strcmp(options->device, "cpu") != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "device: the reference engine runs on \"cpu\", got \"%s\"", options->device);
  }
  return WB_OK;
}

static wb_status reference_open(const wb_tape *tape, const wb_book_rules *rules,
                                const wb_replay_options *options, const wb_engine_trades *trades,
                                void **state, wb_error *error) {
  WB_TRY(check_options(options, error));
  reference_engine *engine = calloc(1, sizeof *engine);
  if (engine == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "reference engine: no memory");
  }
  engine->tape = tape;
  engine->trades = *trades;
  engine->capacity = rules->capacity;
  wb_status status = wb_reference_create(rules, &engine->book, error);
  if (status == WB_OK) {
    status = wb_reference_load(engine->book, tape->seed, tape->seed_count, error);
  }
  if (status != WB_OK) {
    reference_close(engine);
    return status;
  }
  if (trades->take != NULL) {
    wb_reference_on_trade(engine->book, take_trade, engine);
  }
  *state = engine;
  return WB_OK;
}

static wb_status reference_levels(void *state, int32_t levels, int32_t *price, int64_t *qty,
                                  wb_error *error) {
  reference_engine *engine = state;
  if (levels > engine->levels_room) {
    wb_level *grown = realloc(engine->levels, (size_t)levels * sizeof *grown);
    if (grown == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "reference engine: no memory for %d levels", levels);
    }
    engine->levels = grown;
    engine->levels_room = levels;
  }
  for (int side = 0; side < 2; side++) {
    /* a row names the ask before the bid */
    int32_t at = side == WB_SIDE_ASK ? 0 : 1;
    int32_t known = wb_reference_levels(engine->book, (wb_side)side, engine->levels, levels);
    for (int32_t level = 0; level < levels; level++, at += 2) {
      bool there = level < known;
      price[at] = there ? engine->levels[level].price : WB_NO_PRICE;
      qty[at] = there ? engine->levels[level].qty : 0;
    }
  }
  return WB_OK;
}

static wb_status reference_run(void *state, int64_t first, int64_t count, int32_t levels,
                               int32_t *price, int64_t *qty, wb_error *error) {
  reference_engine *engine = state;
  const wb_record *records = engine->tape->records;
  engine->error = error;
  for (int64_t index = first; index < first + count; index++) {
    WB_TRY(wb_reference_apply(engine->book, &records[index], (int32_t)index, error));
    if (engine->taken != WB_OK) {
      return engine->taken;
    }
    if (levels > 0 && (records[index].flags & WB_FLAG_ROW_END) != 0) {
      WB_TRY(reference_levels(engine, levels, price, qty, error));
      price += 2 * (ptrdiff_t)levels;
      qty += 2 * (ptrdiff_t)levels;
    }
  }
  return WB_OK;
}

static wb_status reference_totals(void *state, wb_engine_totals *totals, wb_error *error) {
  const reference_engine *engine = state;
  (void)error;
  memset(totals, 0, sizeof *totals);
  memcpy(totals->counters, wb_reference_counters(engine->book), sizeof totals->counters);
  totals->status = wb_reference_status(engine->book);
  totals->state = wb_reference_state(engine->book);
  totals->book_hash = wb_reference_book_hash(engine->book);
  totals->state_hash = wb_reference_state_hash(engine->book);
  totals->books = 1;
  totals->books_equal = 1;
  totals->threads = 1;
  totals->capacity = engine->capacity;
  (void)snprintf(totals->device, sizeof totals->device, "cpu");
  return WB_OK;
}

const wb_engine_type wb_engine_reference = {
    .name = "reference",
    .open = reference_open,
    .close = reference_close,
    .run = reference_run,
    .levels = reference_levels,
    .totals = reference_totals,
};

wb_status wb_engine_find(wb_engine engine, const wb_engine_type **type, wb_error *error) {
  switch (engine) {
  case WB_ENGINE_REFERENCE: *type = &wb_engine_reference; return WB_OK;
  case WB_ENGINE_KERNEL: *type = &wb_engine_kernel; return WB_OK;
  }
  return WB_FAIL(error, WB_ERROR_ARGUMENT, "engine: expected 0 or 1, got %d", (int)engine);
}

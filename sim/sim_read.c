/* Reading back: whole slabs for one book's state, query kernels for questions to many books. */
#include "sim/sim_private.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void wb_sim_describe_device(const wb_sim *sim, char *name, size_t name_bytes, int32_t *threads) {
  wb_device_info info;
  wb_device_describe(sim->device, &info);
  (void)snprintf(name, name_bytes, "%s", info.name);
  *threads = info.threads;
}

/* ---- one book ---- */

static int32_t tape_of(const wb_sim *sim, const int64_t *head) {
  for (int32_t i = 0; i < sim->tape_count; i++) {
    const sim_tape *tape = &sim->tapes[i];
    if (tape->offset == head[WB_HEAD_TAPE] && head[WB_HEAD_END] <= tape->count &&
        tape->base == head[WB_HEAD_BASE]) {
      return i;
    }
  }
  return -1;
}

static int64_t at_most(int64_t a, int64_t b) { return a < b ? a : b; }

wb_status wb_sim_read_book(wb_sim *sim, int32_t book, wb_sim_book *out, wb_error *error) {
  WB_TRY(sim_read_slab(sim, book, error));
  const int64_t *head = wb_slab_head_of(sim->layout, sim->image);
  const int32_t *state = wb_slab_state_of(sim->layout, sim->image);
  memset(out, 0, sizeof *out);
  out->tape = tape_of(sim, head);
  out->cursor = head[WB_HEAD_CURSOR];
  out->end = head[WB_HEAD_END];
  out->state = (wb_trading_state)state[WB_CELL_TRADING_STATE];
  out->next_arrival = state[WB_CELL_NEXT_ARRIVAL];
  out->status = (uint32_t)state[WB_CELL_STATUS];
  out->trades_kept = at_most(head[WB_HEAD_TRADES], sim->trade_room);
  out->rows_kept = at_most(head[WB_HEAD_ROWS], sim->row_room);
  memcpy(out->counters, wb_slab_counters_of(sim->layout, sim->image), sizeof out->counters);
  return WB_OK;
}

static wb_status check_room(const void *array, int64_t most, wb_error *error) {
  if (most < 0 || (most > 0 && array == NULL)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "sim: most: expected 0 or more and an array of so many, got %" PRId64 "%s", most,
                   array == NULL ? " and NULL" : "");
  }
  return WB_OK;
}

static wb_status check_side(wb_side side, wb_error *error) {
  if (side != WB_SIDE_BID && side != WB_SIDE_ASK) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: side: expected 0 or 1, got %d", (int)side);
  }
  return WB_OK;
}

wb_status wb_sim_levels(wb_sim *sim, int32_t book, wb_side side, wb_level *levels, int32_t most,
                        int32_t *count, wb_error *error) {
  WB_TRY(check_room(levels, most, error));
  WB_TRY(check_side(side, error));
  WB_TRY(sim_read_slab(sim, book, error));
  *count = wb_slab_levels(sim->layout, sim->image, side, levels, most);
  return WB_OK;
}

wb_status wb_sim_orders(wb_sim *sim, int32_t book, wb_side side, wb_order *orders, int64_t most,
                        int64_t *count, wb_error *error) {
  WB_TRY(check_room(orders, most, error));
  WB_TRY(check_side(side, error));
  WB_TRY(sim_read_slab(sim, book, error));
  *count = wb_slab_orders(sim->layout, sim->image, side, orders, most);
  return WB_OK;
}

/* ---- rings ---- */

/* Copies the kept items of a ring and empties it. Items that did not fit were never written. */
static wb_status take(wb_sim *sim, int32_t book, wb_slab_head which, const unsigned char *ring,
                      int64_t room, size_t item_bytes, void *items, int64_t most, int64_t *count,
                      wb_error *error) {
  WB_TRY(check_room(items, most, error));
  WB_TRY(sim_read_slab(sim, book, error));
  const int64_t none = 0;
  *count = at_most(wb_slab_head_of(sim->layout, sim->image)[which], room);
  int64_t copied = at_most(*count, most);
  if (copied > 0) {
    const unsigned char *from = ring + (size_t)book * (size_t)room * item_bytes;
    WB_TRY(wb_device_read(sim->device, items, from, (size_t)copied * item_bytes, error));
  }
  unsigned char *cell = sim_slab(sim, book) + sim_head_offset(sim) + which * sizeof none;
  return wb_device_write(sim->device, cell, &none, sizeof none, error);
}

wb_status wb_sim_take_trades(wb_sim *sim, int32_t book, wb_trade *trades, int64_t most,
                             int64_t *count, wb_error *error) {
  return take(sim, book, WB_HEAD_TRADES, sim->trades, sim->trade_room, sizeof *trades, trades, most,
              count, error);
}

wb_status wb_sim_take_rows(wb_sim *sim, int32_t book, wb_level *rows, int64_t most, int64_t *count,
                           wb_error *error) {
  return take(sim, book, WB_HEAD_ROWS, sim->rows, sim->row_room,
              2 * (size_t)sim->row_levels * sizeof *rows, rows, most, count, error);
}

/* ---- queries ---- */

static wb_status compile_query(wb_sim *sim, wb_query query, wb_error *error) {
  if (sim->queries[query] != NULL) {
    return WB_OK;
  }
  wb_program *program = NULL;
  WB_TRY(wb_query_program_build(sim->layout, query, &program, error));
  wb_kernel_report report;
  wb_status status = wb_device_compile(sim->device, program, &sim->kernel_options,
                                       &sim->queries[query], &report, error);
  wb_program_free(program);
  if (status == WB_OK) {
    sim->compile_seconds += sim_compile_time(&report);
  }
  return status;
}

static wb_status make_answer(wb_sim *sim, size_t bytes, wb_error *error) {
  if (bytes <= sim->answer_bytes) {
    return WB_OK;
  }
  wb_device_free(sim->device, sim->answer);
  sim->answer = NULL;
  sim->answer_bytes = 0;
  void *memory = NULL;
  WB_TRY(wb_device_allocate(sim->device, bytes, &memory, error));
  sim->answer = memory;
  sim->answer_bytes = bytes;
  return WB_OK;
}

/* Asks books first .. first + count - 1; their answers come back one behind another. */
static wb_status ask(wb_sim *sim, wb_query query, int32_t first, int32_t count,
                     const int64_t scalars[WB_QUERY_SCALARS], void *answers, wb_error *error) {
  WB_TRY(compile_query(sim, query, error));
  int64_t words = wb_query_answer_length(query, (int32_t)scalars[WB_QUERY_DEPTH]);
  size_t bytes = (size_t)count * (size_t)words * sizeof(int64_t);
  WB_TRY(make_answer(sim, bytes, error));
  const wb_buffer_argument buffer = {sim->answer, words, words};
  const wb_launch launch = {
      .slabs = sim_slab(sim, first),
      .slab_stride = (int64_t)sim->slab_bytes,
      .first_book = 0,
      .books = count,
      .buffers = &buffer,
      .buffer_count = 1,
      .scalars = scalars,
      .scalar_count = WB_QUERY_SCALARS,
  };
  WB_TRY(wb_device_launch(sim->device, sim->queries[query], &launch, error));
  return wb_device_read(sim->device, answers, sim->answer, bytes, error);
}

wb_status wb_sim_hashes(wb_sim *sim, int32_t first, int32_t count, uint64_t *book_hash,
                        uint64_t *state_hash, wb_error *error) {
  if (first < 0 || count < 1 || count > sim->books - first) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "sim: first and count: expected a range of %d books, got %d and %d", sim->books,
                   first, count);
  }
  uint64_t *pairs = malloc((size_t)count * 2 * sizeof *pairs);
  if (pairs == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "sim: no memory for the hashes of %d books", count);
  }
  const int64_t scalars[WB_QUERY_SCALARS] = {0};
  wb_status status = ask(sim, WB_QUERY_HASHES, first, count, scalars, pairs, error);
  for (int32_t i = 0; status == WB_OK && i < count; i++) {
    if (book_hash != NULL) {
      book_hash[i] = pairs[2 * (size_t)i];
    }
    if (state_hash != NULL) {
      state_hash[i] = pairs[2 * (size_t)i + 1];
    }
  }
  free(pairs);
  return status;
}

wb_status wb_sim_all_levels(wb_sim *sim, int32_t depth, wb_level *levels, wb_error *error) {
  if (depth < 1 || depth > WB_BOOK_CAPACITY_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: depth: expected 1 to %d levels, got %d",
                   WB_BOOK_CAPACITY_MAX, depth);
  }
  const int64_t scalars[WB_QUERY_SCALARS] = {[WB_QUERY_DEPTH] = depth};
  return ask(sim, WB_QUERY_LEVELS, 0, sim->books, scalars, levels, error);
}

wb_status wb_sim_volume_at(wb_sim *sim, wb_side side, int32_t price, int64_t *shares,
                           wb_error *error) {
  WB_TRY(check_side(side, error));
  const int64_t scalars[WB_QUERY_SCALARS] = {[WB_QUERY_SIDE] = side, [WB_QUERY_PRICE] = price};
  return ask(sim, WB_QUERY_VOLUME_AT, 0, sim->books, scalars, shares, error);
}

wb_status wb_sim_queue_ahead(wb_sim *sim, wb_side side, int32_t ref, int64_t *shares,
                             wb_error *error) {
  WB_TRY(check_side(side, error));
  const int64_t scalars[WB_QUERY_SCALARS] = {[WB_QUERY_SIDE] = side, [WB_QUERY_REF] = ref};
  return ask(sim, WB_QUERY_QUEUE_AHEAD, 0, sim->books, scalars, shares, error);
}

/* A sim's life: tapes and slabs onto the device, the message kernel, runs.
 *
 * All books lie in one block of slabs; the records of all tapes lie one behind another in one
 * buffer, and each book's head says where its tape begins. Keep: whatever changes what books may
 * hold (agents, states, what is recorded) goes through the features and drops the kernel. */
#include "sim/sim_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

wb_sim_config wb_sim_config_default(void) {
  wb_sim_config config;
  memset(&config, 0, sizeof config);
  config.size = sizeof config;
  config.device = "cpu";
  config.books = 1;
  config.rules = wb_book_rules_default();
  config.rules.capacity = 1024;
  return config;
}

static wb_status check_recording(wb_trade_choice trades, int64_t trade_room, int32_t row_levels,
                                 int64_t row_room, wb_error *error) {
  if ((int)trades < 0 || trades > WB_TRADES_ALL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: trades: expected 0 to 2, got %d", (int)trades);
  }
  if (trade_room < 0 || trade_room > INT32_MAX || row_room < 0 || row_room > INT32_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "sim: trade_room and row_room: expected 0 to %d, got %" PRId64 " and %" PRId64,
                   INT32_MAX, trade_room, row_room);
  }
  if (row_levels < 0 || row_levels > WB_BOOK_CAPACITY_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: row_levels: expected 0 to %d, got %d",
                   WB_BOOK_CAPACITY_MAX, row_levels);
  }
  return WB_OK;
}

static wb_status check_config(const wb_sim_config *config, wb_error *error) {
  if (config->size != sizeof *config) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "sim: config.size: expected %zu (use wb_sim_config_default), got %zu",
                   sizeof *config, config->size);
  }
  if (config->books < 1 || config->books > WB_SIM_BOOKS_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: books: expected 1 to %d, got %d",
                   WB_SIM_BOOKS_MAX, config->books);
  }
  if (config->tape_count < 1 || config->tapes == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: tapes: expected at least 1, got %d",
                   config->tapes != NULL ? config->tape_count : 0);
  }
  for (int32_t i = 0; i < config->tape_count; i++) {
    if (config->tapes[i] == NULL) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: tapes[%d]: expected a tape, got NULL", i);
    }
  }
  WB_TRY(wb_book_rules_check(&config->rules, error));
  return check_recording(config->trades, config->trade_room, config->row_levels, config->row_room,
                         error);
}

/* ---- tapes ---- */

static wb_book_rules rules_of(const wb_sim *sim, const sim_tape *tape) {
  wb_book_rules rules = sim->rules;
  rules.base = tape->base;
  rules.tick_size = tape->tick_size;
  return rules;
}

static wb_status keep_tape(wb_sim *sim, const wb_tape *from, sim_tape *to, wb_error *error) {
  to->offset = sim->record_count;
  to->count = from->record_count;
  to->base = from->base;
  to->tick_size = from->tick_size;
  to->seed_count = from->seed_count;
  sim->record_count += from->record_count;
  if (from->seed_count > 0) {
    size_t bytes = (size_t)from->seed_count * sizeof(wb_order);
    wb_order *seed = wb_arena_alloc(&sim->arena, bytes);
    if (seed == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "sim: no memory for a seed of %d orders",
                     from->seed_count);
    }
    memcpy(seed, from->seed, bytes);
    to->seed = seed;
  }
  if (from->record_count > INT32_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "sim: a tape of %" PRId64 " records; a trade names at most %d",
                   from->record_count, INT32_MAX);
  }
  return WB_OK;
}

static wb_status write_records(wb_sim *sim, const wb_sim_config *config, wb_error *error) {
  wb_hasher hasher;
  wb_hasher_start(&hasher);
  size_t bytes = (size_t)sim->record_count * sizeof(wb_record);
  void *memory = NULL;
  WB_TRY(wb_device_allocate(sim->device, bytes, &memory, error));
  sim->records = memory;
  for (int32_t i = 0; i < sim->tape_count; i++) {
    const sim_tape *tape = &sim->tapes[i];
    size_t size = (size_t)tape->count * sizeof(wb_record);
    wb_hasher_add(&hasher, &tape->count, sizeof tape->count);
    wb_hasher_add(&hasher, &tape->base, sizeof tape->base);
    wb_hasher_add(&hasher, &tape->tick_size, sizeof tape->tick_size);
    if (size > 0) {
      wb_hasher_add(&hasher, config->tapes[i]->records, size);
      WB_TRY(wb_device_write(sim->device, sim->records + (size_t)tape->offset * sizeof(wb_record),
                             config->tapes[i]->records, size, error));
    }
  }
  sim->tapes_hash = wb_hasher_end(&hasher);
  return WB_OK;
}

static wb_status load_tapes(wb_sim *sim, const wb_sim_config *config, wb_error *error) {
  sim->tape_count = config->tape_count;
  sim->tapes = wb_arena_array(&sim->arena, (size_t)config->tape_count, sizeof *sim->tapes);
  if (sim->tapes == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "sim: no memory for %d tapes", config->tape_count);
  }
  sim->rules.unique_refs = 1;
  for (int32_t i = 0; i < config->tape_count; i++) {
    sim->rules.unique_refs = sim->rules.unique_refs && config->tapes[i]->unique_refs;
  }
  sim->features =
      config->all_features ? wb_features_all(&sim->rules) : wb_features_none(&sim->rules);
  sim->features.trades = config->trades;
  sim->features.rows = config->row_levels > 0;
  for (int32_t i = 0; i < config->tape_count; i++) {
    const wb_tape *tape = config->tapes[i];
    WB_TRY(keep_tape(sim, tape, &sim->tapes[i], error));
    wb_book_rules rules = rules_of(sim, &sim->tapes[i]);
    wb_features_scan(&sim->features, &rules, tape->records, tape->record_count);
  }
  return write_records(sim, config, error);
}

/* ---- slabs ---- */

size_t sim_head_offset(const wb_sim *sim) {
  return (size_t)((unsigned char *)wb_slab_head_of(sim->layout, sim->image) - sim->image);
}

wb_status sim_check_book(const wb_sim *sim, int32_t book, wb_error *error) {
  if (book < 0 || book >= sim->books) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: book: expected 0 to %d, got %d", sim->books - 1,
                   book);
  }
  return WB_OK;
}

wb_status sim_read_slab(wb_sim *sim, int32_t book, wb_error *error) {
  WB_TRY(sim_check_book(sim, book, error));
  WB_TRY(wb_device_read(sim->device, sim->image, sim_slab(sim, book), sim->slab_bytes, error));
  int64_t fault = wb_slab_head_of(sim->layout, sim->image)[WB_HEAD_FAULT];
  if (fault != 0) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "sim: book %d stopped before record %" PRId64
                   ", which its kernel was not made for",
                   book, fault - 1);
  }
  return WB_OK;
}

void sim_widen_features(wb_sim *sim, const void *image) {
  unsigned char *slab = sim->image;
  if (image != slab) {
    memcpy(slab, image, sim->slab_bytes);
  }
  wb_book_features *features = &sim->features;
  const wb_object *cells = wb_layout_object(sim->layout->layout, sim->layout->agents);
  int32_t agent_orders[2];
  memcpy(agent_orders, slab + cells->offset, sizeof agent_orders);
  bool agents = agent_orders[WB_SIDE_BID] > 0 || agent_orders[WB_SIDE_ASK] > 0;
  bool states =
      wb_slab_state_of(sim->layout, slab)[WB_CELL_TRADING_STATE] != (int32_t)WB_STATE_TRADING;
  if ((agents && !features->agents) || (states && !features->states)) {
    features->agents = features->agents || agents;
    features->states = features->states || states;
    wb_kernel_release(sim->run);
    sim->run = NULL;
  }
}

/* Makes the image of a book that stands before record `first`. */
static wb_status make_image(wb_sim *sim, int32_t tape_index, int64_t first, int64_t end,
                            const wb_order *orders, int64_t count, wb_error *error) {
  const sim_tape *tape = &sim->tapes[tape_index];
  wb_book_rules rules = rules_of(sim, tape);
  wb_slab_init(sim->layout, sim->image, &rules);
  WB_TRY(wb_slab_load(sim->layout, sim->image, orders, count, error));
  int64_t *head = wb_slab_head_of(sim->layout, sim->image);
  head[WB_HEAD_CURSOR] = first;
  head[WB_HEAD_END] = end;
  head[WB_HEAD_TAPE] = tape->offset;
  sim_widen_features(sim, sim->image);
  return WB_OK;
}

wb_status wb_sim_load(wb_sim *sim, int32_t book, int32_t tape_index, int64_t first, int64_t end,
                      const wb_order *orders, int64_t order_count, wb_error *error) {
  WB_TRY(sim_check_book(sim, book, error));
  if (tape_index < 0 || tape_index >= sim->tape_count) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: tape: expected 0 to %d, got %d",
                   sim->tape_count - 1, tape_index);
  }
  const sim_tape *tape = &sim->tapes[tape_index];
  end = end == -1 ? tape->count : end;
  if (first < 0 || end < first || end > tape->count) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "sim: first and end: expected 0 <= first <= end <= %" PRId64
                   " (records of tape %d), got %" PRId64 " and %" PRId64,
                   tape->count, tape_index, first, end);
  }
  if (orders == NULL || order_count < 0) {
    if (order_count != 0) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT,
                     "sim: orders: expected an array of %" PRId64 " orders, got %s", order_count,
                     orders == NULL ? "NULL" : "a negative number");
    }
    orders = tape->seed;
    order_count = tape->seed_count;
  }
  WB_TRY(make_image(sim, tape_index, first, end, orders, order_count, error));
  return wb_device_write(sim->device, sim_slab(sim, book), sim->image, sim->slab_bytes, error);
}

static wb_status make_slabs(wb_sim *sim, wb_error *error) {
  size_t bytes;
  sim->slab_bytes = (size_t)wb_book_layout_bytes(sim->layout);
  bytes = (size_t)sim->books * sim->slab_bytes;
  sim->image = aligned_alloc(WB_SLAB_ALIGNMENT, sim->slab_bytes);
  if (sim->image == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "sim: no memory for a slab of %zu bytes",
                   sim->slab_bytes);
  }
  void *memory = NULL;
  wb_status status = wb_device_allocate(sim->device, bytes, &memory, error);
  if (status != WB_OK) {
    (void)wb_error_prefix(error, "sim: slabs of %d books at %zu bytes each", sim->books,
                          sim->slab_bytes);
    return status;
  }
  sim->slabs = memory;
  WB_TRY(make_image(sim, 0, 0, sim->tapes[0].count, sim->tapes[0].seed, sim->tapes[0].seed_count,
                    error));
  for (int32_t book = 0; book < sim->books; book++) {
    WB_TRY(wb_device_write(sim->device, sim_slab(sim, book), sim->image, sim->slab_bytes, error));
  }
  return WB_OK;
}

/* ---- rings ---- */

static wb_status make_rings(wb_sim *sim, wb_trade_choice trades, int64_t trade_room,
                            int32_t row_levels, int64_t row_room, wb_error *error) {
  wb_device_free(sim->device, sim->trades);
  wb_device_free(sim->device, sim->rows);
  sim->trades = NULL;
  sim->rows = NULL;
  sim->trade_room = trades == WB_TRADES_NONE ? 0 : trade_room;
  sim->row_levels = row_levels;
  sim->row_room = row_levels == 0 ? 0 : row_room;
  size_t books = (size_t)sim->books;
  void *memory = NULL;
  if (sim->trade_room > 0) {
    WB_TRY(wb_device_allocate(sim->device, books * (size_t)sim->trade_room * sizeof(wb_trade),
                              &memory, error));
    sim->trades = memory;
  }
  if (sim->row_room > 0) {
    size_t row_bytes = 2 * (size_t)row_levels * sizeof(wb_level);
    WB_TRY(
        wb_device_allocate(sim->device, books * (size_t)sim->row_room * row_bytes, &memory, error));
    sim->rows = memory;
  }
  return WB_OK;
}

static wb_status empty_rings(wb_sim *sim, wb_error *error) {
  const int64_t none[2] = {0, 0};
  size_t at = sim_head_offset(sim) + WB_HEAD_TRADES * sizeof(int64_t);
  _Static_assert(WB_HEAD_ROWS == WB_HEAD_TRADES + 1, "both counts are written at once");
  for (int32_t book = 0; book < sim->books; book++) {
    WB_TRY(wb_device_write(sim->device, sim_slab(sim, book) + at, none, sizeof none, error));
  }
  return WB_OK;
}

wb_status wb_sim_record(wb_sim *sim, wb_trade_choice trades, int64_t trade_room, int32_t row_levels,
                        int64_t row_room, wb_error *error) {
  WB_TRY(check_recording(trades, trade_room, row_levels, row_room, error));
  WB_TRY(wb_sim_wait(sim, error));
  if (sim->features.trades != trades || sim->features.rows != (row_levels > 0)) {
    sim->features.trades = trades;
    sim->features.rows = row_levels > 0;
    wb_kernel_release(sim->run);
    sim->run = NULL;
  }
  WB_TRY(make_rings(sim, trades, trade_room, row_levels, row_room, error));
  return empty_rings(sim, error);
}

/* ---- life ---- */

static wb_status compile_for(wb_sim *sim, const wb_book_features *features, wb_error *error) {
  wb_program *program = NULL;
  WB_TRY(wb_run_program_build(sim->layout, features, &program, error));
  wb_kernel_report report;
  wb_status status =
      wb_device_compile(sim->device, program, &sim->kernel_options, &sim->run, &report, error);
  wb_program_free(program);
  if (status == WB_OK) {
    sim->compile_seconds += sim_compile_time(&report);
  }
  return status;
}

/* Where nothing can compile, a kernel out of a bundle that was made for more than is asked serves as
 * well: the usual sets of features are what bundles are made for. */
wb_status sim_compile_run(wb_sim *sim, wb_error *error) {
  if (sim->run != NULL) {
    return WB_OK;
  }
  wb_status status = compile_for(sim, &sim->features, error);
  for (int set = 0; status == WB_ERROR_UNAVAILABLE && set < WB_FEATURE_SET_COUNT; set++) {
    wb_book_features usual = wb_features_usual((wb_feature_set)set, &sim->rules);
    usual.trades = sim->features.trades;
    usual.rows = sim->features.rows;
    if (wb_features_cover(&usual, &sim->features)) {
      status = compile_for(sim, &usual, NULL) == WB_OK ? WB_OK : status;
    }
  }
  return status == WB_ERROR_UNAVAILABLE
             ? wb_error_prefix(error, "kernels for books of %d orders a side", sim->rules.capacity)
             : status;
}

static wb_status open_sim(wb_sim *sim, const wb_sim_config *config, wb_error *error) {
  sim->books = config->books;
  sim->rules = config->rules;
  sim->kernel_options = config->kernel;
  WB_TRY(wb_book_layout_new(config->rules.capacity, &sim->layout, error));
  const char *device = config->device == NULL ? "cpu" : config->device;
  WB_TRY(wb_device_open(device, &sim->device, error));
  WB_TRY(wb_device_set_threads(sim->device, config->threads, error));
  WB_TRY(load_tapes(sim, config, error));
  WB_TRY(make_slabs(sim, error));
  WB_TRY(make_rings(sim, config->trades, config->trade_room, config->row_levels, config->row_room,
                    error));
  return sim_compile_run(sim, error);
}

wb_status wb_sim_create(const wb_sim_config *config, wb_sim **out, wb_error *error) {
  WB_TRY(check_config(config, error));
  wb_sim *sim = calloc(1, sizeof *sim);
  if (sim == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "sim: no memory");
  }
  wb_status status = open_sim(sim, config, error);
  if (status != WB_OK) {
    wb_sim_free(sim);
    return status;
  }
  *out = sim;
  return WB_OK;
}

void wb_sim_free(wb_sim *sim) {
  if (sim == NULL) {
    return;
  }
  wb_kernel_release(sim->run);
  for (int i = 0; i < WB_QUERY_COUNT; i++) {
    wb_kernel_release(sim->queries[i]);
  }
  if (sim->device != NULL) {
    wb_device_free(sim->device, sim->slabs);
    wb_device_free(sim->device, sim->records);
    wb_device_free(sim->device, sim->trades);
    wb_device_free(sim->device, sim->rows);
    wb_device_free(sim->device, sim->answer);
    wb_device_close(sim->device);
  }
  wb_book_layout_free(sim->layout);
  wb_arena_free(&sim->arena);
  free(sim->image);
  free(sim);
}

wb_status wb_sim_run(wb_sim *sim, int64_t records, wb_error *error) {
  if (records < 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: records: expected 0 or more, got %" PRId64,
                   records);
  }
  WB_TRY(sim_compile_run(sim, error));
  const int64_t trade_words = sim->trade_room * (int64_t)(sizeof(wb_trade) / 8);
  const int64_t row_words = sim->row_room * 2 * sim->row_levels * (int64_t)(sizeof(wb_level) / 8);
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {sim->records, sim->record_count * (int64_t)(sizeof(wb_record) / 8), 0},
      [WB_RUN_TRADES] = {sim->trades, trade_words, trade_words},
      [WB_RUN_ROWS] = {sim->rows, row_words, row_words},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {
      [WB_RUN_LIMIT] = records,
      [WB_RUN_TRADE_ROOM] = sim->trade_room,
      [WB_RUN_DEPTH] = sim->row_levels,
  };
  const wb_launch launch = {
      .slabs = sim->slabs,
      .slab_stride = (int64_t)sim->slab_bytes,
      .first_book = 0,
      .books = sim->books,
      .buffers = buffers,
      .buffer_count = WB_RUN_BUFFERS,
      .scalars = scalars,
      .scalar_count = WB_RUN_SCALARS,
  };
  return wb_device_launch(sim->device, sim->run, &launch, error);
}

wb_status wb_sim_wait(wb_sim *sim, wb_error *error) { return wb_device_wait(sim->device, error); }

const wb_kernel *wb_sim_kernel(const wb_sim *sim) { return sim->run; }
double wb_sim_compile_seconds(const wb_sim *sim) { return sim->compile_seconds; }
int64_t wb_sim_book_bytes(const wb_sim *sim) { return (int64_t)sim->slab_bytes; }

/* The constant part: tapes on the device, and a snapshot of the book at every place where an episode
 * can start.
 *
 * A tape is replayed once, on the device, by the message kernel; at each place the slab is copied into
 * the pool by a kernel of its own. Keep: what a snapshot was made with (capacity, rules, interval,
 * limits of time) lives here beside it, so nothing stale can be taken for it. */
#include "env/world.h"

#include "kernels/catalogue.h"
#include "sim/measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const int64_t second_ns = 1000000000;
/* with a price of 2^30 above it, every notional of an order stays far inside i64 */
static const int64_t base_most = INT64_C(1) << 31;

/* ---- checks ---- */

static wb_status check_tape(const wb_tape *tape, int32_t index, wb_error *error) {
  if (tape == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: tapes[%d]: expected a tape, got NULL", index);
  }
  if (tape->record_count < 1 || tape->record_count > INT32_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT, "env: tapes[%d]: expected 1 to %d records, got %" PRId64,
                   index, INT32_MAX, tape->record_count);
  }
  if (tape->base > base_most || tape->base < -base_most) {
    return WB_FAIL(
        error, WB_ERROR_LIMIT,
        "env: tapes[%d]: base: expected at most 2^31 price units without sign, got %" PRId64, index,
        tape->base);
  }
  return WB_OK;
}

/* ---- capacity ---- */

static wb_status choose_capacity(const wb_env_config *config, int32_t more, int32_t *capacity,
                                 wb_error *error) {
  int64_t most = 0;
  for (int32_t i = 0; i < config->tape_count; i++) {
    int64_t orders = 0;
    WB_TRY(wb_tape_measure_side(config->tapes[i], &config->rules, &orders, error));
    most = orders > most ? orders : most;
  }
  *capacity = wb_book_capacity_for(most + more);
  if (*capacity == 0) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "env: rules.capacity: a side holds %" PRId64
                   " orders and the agents' up to %d more; a book holds at most %d",
                   most, more, WB_BOOK_CAPACITY_MAX);
  }
  return WB_OK;
}

/* ---- places ---- */

/* Where a tape can be cut: after the last record of a source row, or anywhere if it has no rows. */
typedef struct places {
  const wb_tape *tape;
  int32_t tape_index;
  int64_t offset; /* of its records among those of all tapes */
  bool has_rows;
  int64_t end, rows_to_end; /* where episodes must end, and source rows before it */
} places;

static bool ends_row(const places *p, int64_t record) {
  return !p->has_rows || (p->tape->records[record].flags & WB_FLAG_ROW_END) != 0;
}

static void measure_places(places *p, int64_t to_ns) {
  const wb_tape *tape = p->tape;
  p->has_rows = false;
  for (int64_t i = 0; i < tape->record_count && !p->has_rows; i++) {
    p->has_rows = (tape->records[i].flags & WB_FLAG_ROW_END) != 0;
  }
  p->end = tape->record_count;
  p->rows_to_end = 0;
  for (int64_t i = 0; i < tape->record_count; i++) {
    if (to_ns > 0 && tape->records[i].time_ns >= to_ns && (i == 0 || ends_row(p, i - 1))) {
      p->end = i;
      break;
    }
    p->rows_to_end += ends_row(p, i);
  }
}

typedef struct place_list {
  int32_t count, room;
  wb_env_window *list;
} place_list;

static wb_status add_place(place_list *to, const wb_env_window *place, wb_error *error) {
  if (to->count == to->room) {
    int32_t room = to->room == 0 ? 256 : 2 * to->room;
    wb_env_window *list =
        to->room > (1 << 24) ? NULL : realloc(to->list, (size_t)room * sizeof *list);
    if (list == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for more than %d windows", to->room);
    }
    to->list = list;
    to->room = room;
  }
  to->list[to->count++] = *place;
  return WB_OK;
}

static wb_status list_places(const places *p, const wb_env_config *config, place_list *to,
                             wb_error *error) {
  const wb_record *records = p->tape->records;
  int64_t rows = 0, next_time = INT64_MIN;
  for (int64_t i = 0; i < p->end; i++) {
    /* before record i */
    bool cut = i == 0 || ends_row(p, i - 1);
    int64_t time = records[i == 0 ? 0 : i - 1].time_ns;
    bool due =
        config->snapshot_seconds > 0 ? time >= next_time : rows % config->snapshot_messages == 0;
    if (cut && due && time >= config->from_ns && p->rows_to_end > rows) {
      wb_env_window place = {p->tape_index, rows, i, time, p->rows_to_end - rows};
      WB_TRY(add_place(to, &place, error));
      next_time = time + config->snapshot_seconds * second_ns;
    }
    rows += ends_row(p, i);
  }
  return WB_OK;
}

/* ---- making ---- */

typedef struct maker {
  env_data *data;
  const wb_env_config *config;
  wb_kernel *run, *save;
  void *slab;           /* device */
  unsigned char *image; /* host */
  int64_t *rows;        /* host: what goes to data->window_rows */
} maker;

static wb_status write_tapes(maker *m, wb_error *error) {
  env_data *data = m->data;
  wb_hasher hasher;
  wb_hasher_start(&hasher);
  void *memory = NULL;
  WB_TRY(wb_device_allocate(data->device, (size_t)data->record_count * sizeof(wb_record), &memory,
                            error));
  data->records = memory;
  size_t at = 0;
  for (int32_t i = 0; i < m->config->tape_count; i++) {
    const wb_tape *tape = m->config->tapes[i];
    size_t bytes = (size_t)tape->record_count * sizeof(wb_record);
    WB_TRY(wb_device_write(data->device, data->records + at, tape->records, bytes, error));
    at += bytes;
    wb_hasher_add(&hasher, tape->records, bytes);
    wb_hasher_add(&hasher, &tape->base, sizeof tape->base);
    wb_hasher_add(&hasher, &tape->tick_size, sizeof tape->tick_size);
  }
  const int64_t words[] = {data->capacity,
                           (int64_t)data->rules.capacity_rule,
                           (int64_t)data->rules.execute_policy,
                           (int64_t)data->rules.displaced,
                           (int64_t)data->rules.self_trade,
                           m->config->snapshot_messages,
                           m->config->snapshot_seconds,
                           m->config->from_ns,
                           m->config->to_ns};
  wb_hasher_add(&hasher, words, sizeof words);
  data->hash = wb_hasher_end(&hasher);
  return WB_OK;
}

static wb_status compile_run(maker *m, const wb_book_features *features, wb_error *error) {
  env_data *data = m->data;
  wb_program *program = NULL;
  WB_TRY(wb_run_program_build(data->layout.book, features, &program, error));
  wb_status status =
      wb_device_compile(data->device, program, &m->config->kernel, &m->run, NULL, error);
  wb_program_free(program);
  return status;
}

static wb_status compile(maker *m, wb_error *error) {
  env_data *data = m->data;
  wb_program *program = NULL;
  wb_book_features usual = wb_features_usual(WB_FEATURES_REPLAY, &data->rules);
  wb_status status = compile_run(m, &data->features, error);
  /* a bundle has what the usual tape asks for */
  if (status == WB_ERROR_UNAVAILABLE && wb_features_cover(&usual, &data->features) &&
      compile_run(m, &usual, NULL) == WB_OK) {
    status = WB_OK;
  }
  if (status == WB_OK) status = save_program(data->layout.book, &program, error);
  if (status == WB_OK) {
    status = wb_device_compile(data->device, program, &m->config->kernel, &m->save, NULL, error);
    wb_program_free(program);
  }
  if (status != WB_ERROR_UNAVAILABLE) return status;
  return wb_error_prefix(error, "env: kernels for books of %d orders a side", data->capacity);
}

static wb_status run_to(maker *m, int64_t records, wb_error *error) {
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {m->data->records, m->data->record_count * 4, 0},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {[WB_RUN_LIMIT] = records};
  const wb_launch launch = {.slabs = m->slab,
                            .slab_stride = m->data->layout.stride,
                            .books = 1,
                            .buffers = buffers,
                            .buffer_count = WB_RUN_BUFFERS,
                            .scalars = scalars,
                            .scalar_count = WB_RUN_SCALARS};
  return wb_device_launch(m->data->device, m->run, &launch, error);
}

static wb_status save_as(maker *m, int64_t snapshot, wb_error *error) {
  env_data *data = m->data;
  const wb_buffer_argument pool = {data->pool, data->window_count * data->snapshot_words, 0};
  const wb_launch launch = {.slabs = m->slab,
                            .slab_stride = data->layout.stride,
                            .books = 1,
                            .buffers = &pool,
                            .buffer_count = 1,
                            .scalars = &snapshot,
                            .scalar_count = 1};
  return wb_device_launch(data->device, m->save, &launch, error);
}

static wb_status put_seed(maker *m, const places *p, wb_error *error) {
  env_data *data = m->data;
  wb_book_rules rules = data->rules;
  rules.base = p->tape->base;
  rules.tick_size = p->tape->tick_size;
  memset(m->image, 0, (size_t)data->layout.stride);
  wb_slab_init(data->layout.book, m->image, &rules);
  WB_TRY(wb_slab_load(data->layout.book, m->image, p->tape->seed, p->tape->seed_count, error));
  int64_t *head = wb_slab_head_of(data->layout.book, m->image);
  head[WB_HEAD_END] = p->tape->record_count;
  head[WB_HEAD_TAPE] = p->offset;
  return wb_device_write(data->device, m->slab, m->image, (size_t)data->layout.stride, error);
}

/* Whether the book in the slab has both prices; and whether its kernel could do everything. */
static wb_status look_at_slab(maker *m, bool *two_sided, wb_error *error) {
  env_data *data = m->data;
  WB_TRY(wb_device_read(data->device, m->image, m->slab, (size_t)data->layout.stride, error));
  if (wb_slab_head_of(data->layout.book, m->image)[WB_HEAD_FAULT] != 0) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "env: a replay stopped at a record it was not made for");
  }
  wb_level level;
  *two_sided = wb_slab_levels(data->layout.book, m->image, WB_SIDE_BID, &level, 1) == 1 &&
               wb_slab_levels(data->layout.book, m->image, WB_SIDE_ASK, &level, 1) == 1;
  return WB_OK;
}

/* Replays up to each place of a tape; keeps those that have a price. */
static wb_status make_snapshots(maker *m, const places *p, const place_list *list, int32_t first,
                                int32_t *kept, wb_error *error) {
  env_data *data = m->data;
  int64_t at = 0;
  WB_TRY(put_seed(m, p, error));
  for (int32_t i = first; i < list->count; i++) {
    const wb_env_window *place = &list->list[i];
    bool two_sided = false;
    WB_TRY(run_to(m, place->record - at, error));
    at = place->record;
    WB_TRY(look_at_slab(m, &two_sided, error));
    if (!two_sided) continue;
    WB_TRY(save_as(m, *kept, error));
    data->windows[*kept] = *place;
    data->window_splits[*kept] = m->config->splits == NULL ? 0 : m->config->splits[p->tape_index];
    data->window_ends[*kept] = p->tape->records[p->end - 1].time_ns;
    int64_t *row = m->rows + (int64_t)*kept * WINDOW_CELLS;
    row[WINDOW_SNAPSHOT] = *kept;
    row[WINDOW_TIME] = place->time_ns;
    row[WINDOW_ROW_FLAG] = p->has_rows ? WB_FLAG_ROW_END : 0;
    row[WINDOW_END] = p->end;
    *kept += 1;
  }
  return WB_OK;
}

static wb_status allocate_pool(maker *m, int32_t places_found, wb_error *error) {
  env_data *data = m->data;
  size_t count = (size_t)places_found;
  if (places_found == 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: from_ns and to_ns: no tape has a source row between them");
  }
  void *memory = NULL;
  data->window_count = places_found;
  data->snapshot_words = snapshot_words(data->layout.book);
  WB_TRY(env_check_memory(data->device,
                          m->config->snapshot_seconds > 0 ? "snapshot_seconds: places"
                                                          : "snapshot_messages: places",
                          places_found, data->snapshot_words * 8, error));
  data->windows = calloc(count, sizeof *data->windows);
  data->window_splits = calloc(count, 1);
  data->window_ends = calloc(count, sizeof *data->window_ends);
  m->rows = calloc(count * WINDOW_CELLS, sizeof *m->rows);
  if (data->windows == NULL || data->window_splits == NULL || data->window_ends == NULL ||
      m->rows == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %d windows", places_found);
  }
  WB_TRY(
      wb_device_allocate(data->device, count * (size_t)data->snapshot_words * 8, &memory, error));
  data->pool = memory;
  WB_TRY(wb_device_allocate(data->device, count * WINDOW_CELLS * 8, &memory, error));
  data->window_rows = memory;
  return WB_OK;
}

static wb_status make_windows(maker *m, wb_error *error) {
  const wb_env_config *config = m->config;
  env_data *data = m->data;
  place_list list = {0};
  wb_status status = WB_OK;
  places *all = calloc((size_t)config->tape_count, sizeof *all);
  int32_t *ends = calloc((size_t)config->tape_count, sizeof *ends);
  if (all == NULL || ends == NULL) {
    status = WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for %d tapes", config->tape_count);
  }
  int64_t offset = 0;
  for (int32_t i = 0; status == WB_OK && i < config->tape_count; i++) {
    all[i] = (places){.tape = config->tapes[i], .tape_index = i, .offset = offset};
    offset += config->tapes[i]->record_count;
    measure_places(&all[i], config->to_ns);
    status = list_places(&all[i], config, &list, error);
    ends[i] = list.count;
  }
  if (status == WB_OK) status = allocate_pool(m, list.count, error);
  int32_t kept = 0, first = 0, count = list.count;
  for (int32_t i = 0; status == WB_OK && i < config->tape_count; i++) {
    list.count = ends[i];
    status = make_snapshots(m, &all[i], &list, first, &kept, error);
    first = ends[i];
  }
  if (status == WB_OK && kept == 0) {
    status = WB_FAIL(error, WB_ERROR_ARGUMENT,
                     "env: tapes: at none of %d places has the book a bid and an ask", count);
  }
  if (status == WB_OK) {
    data->window_count = kept;
    status = wb_device_write(data->device, data->window_rows, m->rows,
                             (size_t)kept * WINDOW_CELLS * 8, error);
  }
  free(all);
  free(ends);
  free(list.list);
  return status;
}

static wb_status make(maker *m, int32_t more, wb_error *error) {
  const wb_env_config *config = m->config;
  env_data *data = m->data;
  const char *device = config->device == NULL ? "cpu" : config->device;
  WB_TRY(wb_device_open(device, &data->device, error));
  data->rules = config->rules;
  data->capacity = config->rules.capacity;
  if (data->capacity == 0) WB_TRY(choose_capacity(config, more, &data->capacity, error));
  data->rules.capacity = data->capacity;
  WB_TRY(env_layout_make(&data->layout, data->capacity, 0, 0, error));
  data->rules.unique_refs = 1;
  for (int32_t i = 0; i < config->tape_count; i++) {
    data->rules.unique_refs = data->rules.unique_refs && config->tapes[i]->unique_refs;
    data->record_count += config->tapes[i]->record_count;
  }
  data->tape_count = config->tape_count;
  data->features = wb_features_none(&data->rules);
  for (int32_t i = 0; i < config->tape_count; i++) {
    wb_book_rules rules = data->rules;
    rules.base = config->tapes[i]->base;
    rules.tick_size = config->tapes[i]->tick_size;
    wb_features_scan(&data->features, &rules, config->tapes[i]->records,
                     config->tapes[i]->record_count);
  }
  m->image = aligned_alloc(WB_SLAB_ALIGNMENT, (size_t)data->layout.stride);
  if (m->image == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory for a slab of %" PRId64 " bytes",
                   data->layout.stride);
  }
  WB_TRY(wb_device_allocate(data->device, (size_t)data->layout.stride, &m->slab, error));
  WB_TRY(write_tapes(m, error));
  WB_TRY(compile(m, error));
  WB_TRY(make_windows(m, error));
  return wb_device_wait(data->device, error);
}

wb_status env_data_make(const wb_env_config *config, int32_t more_orders, env_data **data_out,
                        wb_error *error) {
  for (int32_t i = 0; i < config->tape_count; i++) WB_TRY(check_tape(config->tapes[i], i, error));
  env_data *data = calloc(1, sizeof *data);
  if (data == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "env: no memory");
  data->references = 1;
  maker m = {.data = data, .config = config};
  wb_status status = make(&m, more_orders, error);
  wb_kernel_release(m.run);
  wb_kernel_release(m.save);
  if (data->device != NULL) wb_device_free(data->device, m.slab);
  free(m.image);
  free(m.rows);
  if (status != WB_OK) {
    env_data_release(data);
    return status;
  }
  *data_out = data;
  return WB_OK;
}

env_data *env_data_retain(env_data *data) {
  (void)__atomic_add_fetch(&data->references, 1, __ATOMIC_RELAXED);
  return data;
}

void env_data_release(env_data *data) {
  if (data == NULL || __atomic_sub_fetch(&data->references, 1, __ATOMIC_ACQ_REL) > 0) return;
  if (data->device != NULL) {
    wb_device_free(data->device, data->records);
    wb_device_free(data->device, data->pool);
    wb_device_free(data->device, data->window_rows);
    wb_device_close(data->device);
  }
  env_layout_free(&data->layout);
  free(data->windows);
  free(data->window_splits);
  free(data->window_ends);
  free(data);
}

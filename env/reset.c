/* The start of an episode: a window, its snapshot copied into the slab, fresh accounts.
 *
 * A snapshot holds the book's arrays one after another, each from a multiple of 32 elements on, so
 * that whole rows are copied where an array has them. */
#include "env/world.h"

/* ---- snapshots ---- */

enum { BOOK_ARRAYS = 14 };

static void list_arrays(const wb_book_layout *l, wb_array list[BOOK_ARRAYS]) {
  const wb_array all_of_them[BOOK_ARRAYS] = {
      l->rank,     l->ref,       l->qty,       l->owner,  l->used, l->spill, l->row_rank,
      l->row_slot, l->best_rank, l->best_slot, l->agents, l->head, l->state, l->counters};
  for (int i = 0; i < BOOK_ARRAYS; i++) list[i] = all_of_them[i];
}

/* i64 words that an array takes in a snapshot: a multiple of 32. */
static int64_t words_of(const wb_object *object) {
  int64_t bytes = object->length * wb_element_bytes((wb_element)object->element);
  return (bytes + 255) / 256 * 32;
}

int64_t snapshot_words(const wb_book_layout *layout) {
  wb_array list[BOOK_ARRAYS];
  list_arrays(layout, list);
  int64_t words = 0;
  for (int i = 0; i < BOOK_ARRAYS; i++) {
    words += words_of(wb_layout_object(layout->layout, list[i]));
  }
  return words;
}

static void copy_row(world *k, array from, val from_row, array to, val to_row) {
  store_row_in(to, to_row, load_row_in(from, from_row));
}

static void copy_element(world *k, array from, val from_at, array to, val to_at) {
  store_in(to, to_at, load_in(from, from_at));
}

/* One array, which begins at word `at` of the pool. */
static void copy_array(world *k, const wb_object *object, array own, val at, bool save) {
  wb_element element = (wb_element)object->element;
  int32_t per_word = 8 / wb_element_bytes(element);
  array pool = wb_build_view(k->builder, WB_HERE, k->buffers[BUFFER_POOL], element);
  val first = mul(at, per_word);
  int32_t rows = (int32_t)(object->length / WB_WIDTH);
  if (rows > 0) {
    val first_row = divide(first, WB_WIDTH);
    FOR (r, 0, rows) {
      val there = add(first_row, i64(r));
      if (save) {
        copy_row(k, own, r, pool, there);
      } else {
        copy_row(k, pool, there, own, r);
      }
    }
  }
  FOR (i, rows * WB_WIDTH, (int32_t)object->length) {
    val there = add(first, i64(i));
    if (save) {
      copy_element(k, own, i, pool, there);
    } else {
      copy_element(k, pool, there, own, i);
    }
  }
}

/* Between the slab's book and a snapshot of the pool. */
void copy_book(world *k, val snapshot, bool save) {
  const wb_book_layout *layout = k->layout->book;
  wb_array list[BOOK_ARRAYS];
  list_arrays(layout, list);
  val at = mul(i64(snapshot), snapshot_words(layout));
  for (int i = 0; i < BOOK_ARRAYS; i++) {
    const wb_object *object = wb_layout_object(layout->layout, list[i]);
    copy_array(k, object, list[i], at, save);
    at = add(at, words_of(object));
  }
}

/* ---- windows ---- */

static val window_cell(world *k, val window, int32_t which) {
  return load_in(k->buffers[BUFFER_WINDOWS], add(mul(i64(window), WINDOW_CELLS), which));
}

static val drawn_window(world *k) {
  val count = k->scalars[SCALAR_CHOICE_COUNT];
  val number;
  if (k->env->windows == WB_ENV_WINDOWS_RANDOM) {
    wb_random random = draw(k, STREAM_WINDOW, i32(0));
    number = draw_below(k, random.word[0], i32(count));
  } else {
    number = i32(urem(add(env_get(k, ENV_SEED), env_get(k, ENV_EPISODE)), count));
  }
  return load(k->buffers[BUFFER_CHOICES], number);
}

/* ---- cells ---- */

static void clear_cells(world *k) {
  val nothing = splat(i64(0));
  for (int32_t row = 0; row < ENV_CELLS / WB_WIDTH; row++) store_row_in(k->env_cells, row, nothing);
  FOR (index, 0, k->layout->agents) {
    store_row_in(k->agent_cells, index, nothing);
  }
  FOR (i, 0, k->layout->agents * k->layout->slots) {
    const array list[] = {k->slot_side, k->slot_price, k->slot_qty,   k->slot_ahead,
                          k->wish_kind, k->wish_side,  k->wish_price, k->wish_qty};
    for (size_t n = 0; n < sizeof list / sizeof list[0]; n++) store_in(list[n], i, 0);
  }
}

static void open_books(world *k, val window) {
  copy_book(k, window_cell(k, window, WINDOW_SNAPSHOT), false);
  store_in(k->history.head, WB_HEAD_END, window_cell(k, window, WINDOW_END));
  env_set(k, ENV_WINDOW, i64(window));
  env_set(k, ENV_ROW_FLAG, window_cell(k, window, WINDOW_ROW_FLAG));
  val time = window_cell(k, window, WINDOW_TIME);
  env_set(k, ENV_START_NS, time);
  env_set(k, ENV_NOW_NS, time);
}

static void open_accounts(world *k) {
  array counters = k->history.counters;
  look_at_touch(k);
  val mid2 = env_get(k, ENV_MID2);
  env_set(k, ENV_PAST_MID2, mid2);
  env_set(k, ENV_START_MID2, mid2);
  val volume = load_in(counters, WB_COUNT_VOLUME);
  val notional = load_in(counters, WB_COUNT_NOTIONAL);
  env_set(k, ENV_VOLUME, volume);
  env_set(k, ENV_NOTIONAL, notional);
  env_set(k, ENV_START_VOLUME, volume);
  env_set(k, ENV_START_NOTIONAL, notional);
  env_set(k, ENV_FULL,
          add(load_in(counters, WB_COUNT_BOOK_FULL), load_in(counters, WB_COUNT_EVICTED)));
  FOR_AGENTS(a) { a.group->task->reset(k, &a); }
  env_set(k, ENV_STATUS, i64(STATUS_RUNNING));
}

static void check_parameters(world *k) {
  for (int32_t i = 0; i < k->env->parameters; i++) {
    const wb_env_parameter *p = k->env->descriptions[i];
    val good;
    if (p->type == WB_ENV_I32) {
      val v = load(k->buffers[BUFFER_PARAMETERS], i);
      good = both(le((int32_t)p->least, v), le(v, (int32_t)p->most));
    } else {
      val v = load(k->parameters_f32, i);
      good = both(le((float)p->least, v), le(v, (float)p->most));
    }
    IF_RARE(not_(good)) { env_error_bit(k, WB_ENV_ERROR_PARAMETER); }
  }
}

/* A restart goes on with the seed that the slab has, so that a clone's future is its source's; a
 * reset by the user takes the one in the buffer. */
static void open_streams(world *k, bool explicit_start) {
  array seeds = k->buffers[BUFFER_SEEDS], next = k->buffers[BUFFER_NEXT];
  val seed = explicit_start ? load(seeds, 0) : env_get(k, ENV_SEED);
  val episode = add(env_get(k, ENV_EPISODE), i64(1));
  if (explicit_start) {
    val asked = load(next, 0);
    episode = choose(ge(asked, 0), i64(asked), episode);
    store(next, 0, -1);
  }
  clear_cells(k);
  env_set(k, ENV_SEED, seed);
  env_set(k, ENV_EPISODE, episode);
  env_set(k, ENV_KEY, mix64(k, add(k->scalars[SCALAR_RUN_SEED], mix64(k, seed))));
}

void start_episode(world *k, val start, bool explicit_start, var started) {
  val exists = lt(i64(start), k->scalars[SCALAR_WINDOW_COUNT]);
  IF_LIKELY(exists) {
    open_streams(k, explicit_start);
    var window = variable(start);
    IF (lt(start, 0)) {
      assign(window, drawn_window(k));
    }
    open_books(k, value(window));
    open_accounts(k);
    check_parameters(k);
    store(k->buffers[BUFFER_WINDOW], 0, window);
    store(k->buffers[BUFFER_EPISODE], 0, i32(env_get(k, ENV_EPISODE)));
    if (k->env->record_room > 0) store(k->buffers[BUFFER_RING_COUNT], 0, i64(0));
    assign(started, eq(i32(0), 0));
  }
  ELSE { env_error_bit(k, WB_ENV_ERROR_WINDOW); }
}

/* ---- the program that makes snapshots ---- */

wb_status save_program(const wb_book_layout *layout, wb_program **out, wb_error *error) {
  const env_layout with = {.book = (wb_book_layout *)(uintptr_t)layout};
  world own = {.layout = &with}, *k = &own;
  WB_TRY(wb_builder_new("wb_env_save", WB_WIDTH, layout->layout, &k->builder, error));
  k->buffers[BUFFER_POOL] = buffer_shared_out("pool", I64);
  copy_book(k, param_i64("snapshot"), true);
  return wb_builder_finish(k->builder, out, error);
}

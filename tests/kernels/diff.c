/* Running one episode through the reference and two books of a kernel; see diff.h. */
#include "diff.h"

#include "on_device.h"

#include "compiler/interp.h"
#include "compiler/kernel.h"
#include "kernels/slab.h"
#include "sim/reference.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
  STEPPED = 0, /* book that takes one record a launch */
  BATCHED = 1, /* book that takes launches of random lengths */
  BOOKS = 2,
  LAUNCH_MOST = 300,
  BATCH_ROOM = 1 << 16, /* trades */
  ROW_DEPTH = 4,        /* levels of a book row */
  LEVELS_MOST = 16,
  STEPS_MOST = 3000000, /* ops of one interpreted record, but for a renumbering */
  TRADES_MOST = 8192    /* of one record */
};

struct diff_engine {
  diff_config config;
  wb_book_layout *layout;
  diff_target target;
  wb_program *program;
  wb_device *device; /* on a GPU only */
  wb_kernel *run;    /* compiled only */
  wb_kernel *queries[WB_QUERY_COUNT];
  int64_t slab_bytes;
  char *slabs;
  int64_t *trades, *rows, *answer;
  int32_t check_every; /* records between full comparisons */
};

/* ---- life ---- */

static void *aligned_memory(size_t bytes) {
  void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory == NULL) abort();
  memset(memory, 0, bytes);
  return memory;
}

static wb_status compile(const diff_engine *e, const wb_program *program, wb_kernel **out,
                         wb_error *error) {
  wb_kernel_options options = {.interpret = e->target == DIFF_INTERPRETER};
  if (e->target == DIFF_GPU) {
    return wb_device_compile(e->device, program, &options, out, NULL, error);
  }
  return wb_kernel_compile(NULL, program, &options, out, NULL, error);
}

static wb_status open_engine(diff_engine *e, diff_mutation *mutate, void *context,
                             wb_error *error) {
  WB_TRY(wb_book_layout_new(e->config.rules.capacity, &e->layout, error));
  WB_TRY(wb_run_program_build(e->layout, &e->config.features, &e->program, error));
  if (mutate != NULL) WB_TRY(mutate(context, e->program, error));
  if (e->target == DIFF_GPU) WB_TRY(wb_device_open("cuda", &e->device, error));
  if (e->target != DIFF_INTERPRETER) WB_TRY(compile(e, e->program, &e->run, error));
  wb_status status = WB_OK;
  for (int q = 0; q < WB_QUERY_COUNT && status == WB_OK; q++) {
    wb_program *query;
    WB_TRY(wb_query_program_build(e->layout, (wb_query)q, &query, error));
    status = compile(e, query, &e->queries[q], error);
    wb_program_free(query);
  }
  return status;
}

diff_engine *diff_engine_new(const diff_config *config, diff_target target, diff_mutation *mutate,
                             void *context, wb_error *error) {
  diff_engine *e = calloc(1, sizeof *e);
  if (e == NULL) abort();
  e->config = *config;
  e->target = target;
  e->check_every = target == DIFF_COMPILED ? 250 : 40;
  if (open_engine(e, mutate, context, error) != WB_OK) {
    diff_engine_free(e);
    return NULL;
  }
  e->slab_bytes = wb_book_layout_bytes(e->layout);
  e->slabs = aligned_memory((size_t)e->slab_bytes * BOOKS);
  e->trades = aligned_memory(sizeof(wb_trade) * BATCH_ROOM * BOOKS);
  e->rows = aligned_memory(sizeof(wb_level) * 2 * ROW_DEPTH * BOOKS);
  e->answer = aligned_memory(sizeof(int64_t) * 4 * LEVELS_MOST);
  return e;
}

void diff_engine_free(diff_engine *e) {
  if (e == NULL) return;
  wb_book_layout_free(e->layout);
  wb_program_free(e->program);
  wb_kernel_release(e->run);
  for (int q = 0; q < WB_QUERY_COUNT; q++) wb_kernel_release(e->queries[q]);
  wb_device_close(e->device);
  free(e->slabs);
  free(e->trades);
  free(e->rows);
  free(e->answer);
  free(e);
}

/* ---- one run ---- */

typedef struct comparison {
  diff_engine *engine;
  const diff_episode *episode;
  wb_record *records; /* the episode's, twice: each book has its own tape */
  wb_reference *reference;
  diff_coverage *coverage;
  diff_failure *failure;
  rng random;
  int64_t at; /* record that was applied last */

  /* trades of the reference */
  int32_t chosen; /* of this record, those that a ring takes */
  wb_trade trades[TRADES_MOST];
  uint64_t chosen_hash; /* of all so far */
  uint64_t batch_hash;
  int64_t lost;
} comparison;

static bool differs(comparison *c, const char *format, ...) WB_PRINTF(2, 3);

/* Keeps the first difference; always false. */
static bool differs(comparison *c, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  c->failure->record = c->at;
  vsnprintf(c->failure->text, sizeof c->failure->text, format, arguments);
  va_end(arguments);
  return false;
}

static void *slab_of(const comparison *c, int book) {
  return c->engine->slabs + c->engine->slab_bytes * book;
}

static int64_t *head_of(const comparison *c, int book) {
  return wb_slab_head_of(c->engine->layout, slab_of(c, book));
}

static uint64_t trade_hash(uint64_t hash, const wb_trade *trade) {
  uint64_t words[4];
  memcpy(words, trade, sizeof words);
  for (int i = 0; i < 4; i++)
    hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
  return hash;
}

static void keep_trade(void *context, const wb_trade *trade) {
  comparison *c = context;
  wb_trade_choice choice = c->engine->config.features.trades;
  bool owners = ((trade->maker_owner | trade->taker_owner) & WB_TRADE_OWNER_MASK) != 0;
  if (choice == WB_TRADES_NONE || (choice == WB_TRADES_OWNERS && !owners)) return;
  if (c->chosen < TRADES_MOST) c->trades[c->chosen] = *trade;
  c->chosen++;
  c->chosen_hash = trade_hash(c->chosen_hash, trade);
}

/* One book's launch on a GPU: its ring and its row alone, and room for exactly so many trades. */
static wb_status launch_gpu(comparison *c, int book, const wb_buffer_argument *buffers,
                            const int64_t *scalars, wb_error *error) {
  diff_engine *e = c->engine;
  wb_buffer_argument own[WB_RUN_BUFFERS] = {buffers[0], buffers[1], buffers[2]};
  own[WB_RUN_TRADES].data = e->trades + 4 * (int64_t)BATCH_ROOM * book;
  own[WB_RUN_TRADES].length = own[WB_RUN_TRADES].stride = 4 * scalars[WB_RUN_TRADE_ROOM];
  own[WB_RUN_ROWS].data = e->rows + 4 * ROW_DEPTH * book;
  const on_device_launch there = {.slab = slab_of(c, book),
                                  .slab_bytes = (size_t)e->slab_bytes,
                                  .buffers = own,
                                  .buffer_count = WB_RUN_BUFFERS,
                                  .element_bytes = sizeof(int64_t),
                                  .written = 1u << WB_RUN_TRADES | 1u << WB_RUN_ROWS,
                                  .scalars = scalars,
                                  .scalar_count = WB_RUN_SCALARS};
  return on_device_run(e->device, e->run, &there, error);
}

static wb_status ask_gpu(comparison *c, wb_query query, const wb_buffer_argument *answer,
                         const int64_t *scalars, wb_error *error) {
  diff_engine *e = c->engine;
  const on_device_launch there = {.slab = slab_of(c, STEPPED),
                                  .slab_bytes = (size_t)e->slab_bytes,
                                  .buffers = answer,
                                  .buffer_count = 1,
                                  .element_bytes = sizeof(int64_t),
                                  .written = 1,
                                  .scalars = scalars,
                                  .scalar_count = WB_QUERY_SCALARS};
  return on_device_run(e->device, e->queries[query], &there, error);
}

static bool launch(comparison *c, int book, int64_t limit, int64_t room) {
  diff_engine *e = c->engine;
  int64_t words = 8 * c->episode->count;
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {c->records, words, 0},
      [WB_RUN_TRADES] = {e->trades, 4 * BATCH_ROOM, 4 * BATCH_ROOM},
      [WB_RUN_ROWS] = {e->rows, 4 * ROW_DEPTH, 4 * ROW_DEPTH},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {
      [WB_RUN_LIMIT] = limit, [WB_RUN_TRADE_ROOM] = room, [WB_RUN_DEPTH] = ROW_DEPTH};
  wb_fault fault = {.op = -1};
  wb_kernel_arguments arguments = {e->slabs, e->slab_bytes, buffers, scalars, &fault};
  wb_error error = {0};
  /* a renumbering passes over all rows for each order */
  int64_t slots = e->layout->capacity;
  int64_t records = limit < LAUNCH_MOST ? limit : c->episode->count;
  int64_t steps = records * STEPS_MOST + slots * slots * 2;
  wb_status status = WB_OK;
  switch (e->target) {
  case DIFF_COMPILED: status = wb_kernel_run(e->run, &arguments, book, book + 1, &error); break;
  case DIFF_INTERPRETER:
    status = wb_interpret(e->program, &arguments, book, book + 1, steps, &error);
    break;
  case DIFF_GPU: status = launch_gpu(c, book, buffers, scalars, &error); break;
  }
  if (status != WB_OK) {
    return differs(c, "kernel: %s", error.text);
  }
  if (head_of(c, book)[WB_HEAD_FAULT] != 0) return differs(c, "kernel: stopped");
  return true;
}

static bool ask(comparison *c, wb_query query, int32_t depth, int32_t side, int32_t price,
                int32_t ref) {
  diff_engine *e = c->engine;
  const wb_buffer_argument buffer = {e->answer, 4 * LEVELS_MOST, 4 * LEVELS_MOST};
  const int64_t scalars[WB_QUERY_SCALARS] = {depth, side, price, ref};
  wb_fault fault = {.op = -1};
  wb_kernel_arguments arguments = {slab_of(c, STEPPED), e->slab_bytes, &buffer, scalars, &fault};
  wb_error error = {0};
  wb_status status = e->target == DIFF_GPU
                         ? ask_gpu(c, query, &buffer, scalars, &error)
                         : wb_kernel_run(e->queries[query], &arguments, 0, 1, &error);
  if (status != WB_OK) {
    return differs(c, "query: %s", error.text);
  }
  return true;
}

/* ---- comparing after each record ---- */

static bool compare_trades(comparison *c) {
  int64_t *head = head_of(c, STEPPED);
  int64_t held = c->chosen < c->episode->trade_room ? c->chosen : c->episode->trade_room;
  const wb_trade *got = (const wb_trade *)c->engine->trades;
  if (head[WB_HEAD_TRADES] != held) {
    return differs(c, "trades in the ring: expected %lld, got %lld", (long long)held,
                   (long long)head[WB_HEAD_TRADES]);
  }
  for (int64_t i = 0; i < held; i++) {
    const wb_trade *want = &c->trades[i];
    if (memcmp(want, &got[i], sizeof *want) == 0) continue;
    return differs(c,
                   "trade %lld: expected maker %d (%x) taker %d (%x) %d at %d, got maker %d (%x) "
                   "taker %d (%x) %d at %d",
                   (long long)i, want->maker, want->maker_owner, want->taker, want->taker_owner,
                   want->qty, want->price, got[i].maker, got[i].maker_owner, got[i].taker,
                   got[i].taker_owner, got[i].qty, got[i].price);
  }
  c->lost += c->chosen - held;
  if (wb_slab_counters_of(c->engine->layout, slab_of(c, STEPPED))[WB_COUNT_TRADES_LOST] !=
      c->lost) {
    return differs(c, "trades lost: expected %lld", (long long)c->lost);
  }
  head[WB_HEAD_TRADES] = 0;
  return true;
}

static bool compare_best(comparison *c) {
  slab_view v = wb_slab_view(c->engine->layout, slab_of(c, STEPPED));
  for (int side = 0; side < 2; side++) {
    wb_level level;
    bool expected = wb_reference_levels(c->reference, (wb_side)side, &level, 1) == 1;
    bool got = v.best_rank[side] != WB_RANK_NONE;
    int32_t price = got ? slab_price((wb_side)side, v.best_rank[side]) : 0;
    if (expected != got || (expected && level.price != price)) {
      return differs(c, "best %s: expected %d (%d levels), got %d (%d)", side ? "ask" : "bid",
                     expected ? level.price : 0, expected, price, got);
    }
  }
  if (v.head[WB_HEAD_CURSOR] != c->at + 1) {
    return differs(c, "cursor: expected %lld, got %lld", (long long)c->at + 1,
                   (long long)v.head[WB_HEAD_CURSOR]);
  }
  if (v.state[WB_CELL_NEXT_ARRIVAL] != wb_reference_next_arrival(c->reference)) {
    return differs(c, "next arrival: expected %d, got %d", wb_reference_next_arrival(c->reference),
                   v.state[WB_CELL_NEXT_ARRIVAL]);
  }
  return true;
}

static bool compare_row(comparison *c, const wb_record *r) {
  int64_t *head = head_of(c, STEPPED);
  bool expected = c->engine->config.features.rows && (r->flags & WB_FLAG_ROW_END) != 0;
  if (head[WB_HEAD_ROWS] != expected) return differs(c, "book rows: expected %d", expected);
  head[WB_HEAD_ROWS] = 0;
  if (!expected) return true;
  const wb_level *row = (const wb_level *)c->engine->rows;
  for (int side = 0; side < 2; side++) {
    wb_level want[ROW_DEPTH] = {0};
    (void)wb_reference_levels(c->reference, (wb_side)side, want, ROW_DEPTH);
    for (int l = 0; l < ROW_DEPTH; l++) {
      const wb_level *got = &row[2 * l + (side == WB_SIDE_BID)];
      if (memcmp(got, &want[l], sizeof *got) != 0) {
        return differs(c, "book row: %s level %d: expected %d for %lld, got %d for %lld",
                       side ? "ask" : "bid", l + 1, want[l].price, (long long)want[l].qty,
                       got->price, (long long)got->qty);
      }
    }
  }
  return true;
}

/* ---- comparing everything ---- */

static bool compare_counters(comparison *c) {
  const int64_t *want = wb_reference_counters(c->reference);
  slab_view v = wb_slab_view(c->engine->layout, slab_of(c, STEPPED));
  for (int i = 0; i < WB_COUNTERS; i++) {
    if (i != WB_COUNT_TRADES_LOST && v.counters[i] != want[i]) {
      return differs(c, "counter %d: expected %lld, got %lld", i, (long long)want[i],
                     (long long)v.counters[i]);
    }
  }
  uint32_t lost = WB_STATUS_BIT(WB_COUNT_TRADES_LOST);
  uint32_t status = wb_reference_status(c->reference) | (c->lost > 0 ? lost : 0);
  if ((uint32_t)v.state[WB_CELL_STATUS] != status) {
    return differs(c, "status: expected %x, got %x", status, (uint32_t)v.state[WB_CELL_STATUS]);
  }
  if (v.state[WB_CELL_TRADING_STATE] != (int32_t)wb_reference_state(c->reference)) {
    return differs(c, "trading state: got %d", v.state[WB_CELL_TRADING_STATE]);
  }
  return true;
}

static bool compare_orders(comparison *c, wb_side side) {
  static _Thread_local wb_order want[WB_BOOK_CAPACITY_MAX], got[WB_BOOK_CAPACITY_MAX];
  int64_t expected = wb_reference_orders(c->reference, side, want, WB_BOOK_CAPACITY_MAX);
  int64_t rests =
      wb_slab_orders(c->engine->layout, slab_of(c, STEPPED), side, got, WB_BOOK_CAPACITY_MAX);
  if (expected != rests) {
    return differs(c, "%s orders: expected %lld, got %lld", side ? "ask" : "bid",
                   (long long)expected, (long long)rests);
  }
  for (int64_t i = 0; i < rests; i++) {
    const wb_order *a = &want[i], *b = &got[i];
    if (a->ref == b->ref && a->price == b->price && a->qty == b->qty && a->arrival == b->arrival &&
        a->owner == b->owner) {
      continue;
    }
    return differs(c, "%s order %lld: expected ref %d qty %d price %d arrival %d, got %d %d %d %d",
                   side ? "ask" : "bid", (long long)i, a->ref, a->qty, a->price, a->arrival, b->ref,
                   b->qty, b->price, b->arrival);
  }
  return true;
}

static bool compare_hashes(comparison *c) {
  if (!ask(c, WB_QUERY_HASHES, 0, 0, 0, 0)) return false;
  const uint64_t *got = (const uint64_t *)c->engine->answer;
  uint64_t book = wb_reference_book_hash(c->reference);
  uint64_t state = wb_reference_state_hash(c->reference);
  if (got[0] != book || got[1] != state) {
    return differs(c, "hashes: expected %016llx %016llx, got %016llx %016llx",
                   (unsigned long long)book, (unsigned long long)state, (unsigned long long)got[0],
                   (unsigned long long)got[1]);
  }
  return true;
}

static bool compare_levels(comparison *c) {
  int32_t depth = rng_between(&c->random, 1, LEVELS_MOST);
  if (!ask(c, WB_QUERY_LEVELS, depth, 0, 0, 0)) return false;
  for (int side = 0; side < 2; side++) {
    wb_level want[LEVELS_MOST] = {0}, host[LEVELS_MOST] = {0};
    int32_t count = wb_reference_levels(c->reference, (wb_side)side, want, depth);
    int32_t host_count =
        wb_slab_levels(c->engine->layout, slab_of(c, STEPPED), (wb_side)side, host, depth);
    size_t bytes = sizeof(wb_level) * (size_t)depth;
    if (memcmp(want, (const wb_level *)c->engine->answer + depth * side, bytes) != 0) {
      return differs(c, "levels: %s, depth %d", side ? "ask" : "bid", depth);
    }
    if (count != host_count || memcmp(want, host, bytes) != 0) {
      return differs(c, "levels as read from the slab: %s, depth %d", side ? "ask" : "bid", depth);
    }
  }
  return true;
}

static bool compare_answers(comparison *c) {
  const wb_record *r = &c->episode->records[rng_below(&c->random, (int32_t)c->at + 1)];
  int32_t side = rng_below(&c->random, 2);
  if (!ask(c, WB_QUERY_VOLUME_AT, 0, side, r->price, 0)) return false;
  int64_t volume = wb_reference_volume_at(c->reference, (wb_side)side, r->price);
  if (c->engine->answer[0] != volume) {
    return differs(c, "volume of side %d at %d: expected %lld, got %lld", side, r->price,
                   (long long)volume, (long long)c->engine->answer[0]);
  }
  if (!ask(c, WB_QUERY_QUEUE_AHEAD, 0, side, 0, r->ref)) return false;
  int64_t ahead = wb_reference_queue_ahead(c->reference, (wb_side)side, r->ref);
  if (c->engine->answer[0] != ahead) {
    return differs(c, "queue ahead of %d on side %d: expected %lld, got %lld", r->ref, side,
                   (long long)ahead, (long long)c->engine->answer[0]);
  }
  return true;
}

static bool compare_all(comparison *c) {
  wb_error error = {0};
  if (wb_slab_check(c->engine->layout, slab_of(c, STEPPED), &error) != WB_OK) {
    return differs(c, "%s", error.text);
  }
  return compare_counters(c) && compare_orders(c, WB_SIDE_BID) && compare_orders(c, WB_SIDE_ASK) &&
         compare_hashes(c) && compare_levels(c) && compare_answers(c);
}

/* ---- what spills ---- */

static int32_t spills(const slab_view *v) {
  int32_t sum = 0;
  for (int32_t row = 0; row < 2 * v->rows; row++) sum += v->spill[row];
  return sum;
}

typedef struct spill_watch {
  int32_t before;
  bool looked, missed;
} spill_watch;

/* Whether a record that names an order will have to look past its home row. */
static spill_watch watch_spills(comparison *c, const wb_record *r) {
  slab_view v = wb_slab_view(c->engine->layout, slab_of(c, STEPPED));
  spill_watch w = {.before = spills(&v)};
  bool names =
      (r->type >= WB_RECORD_REDUCE && r->type <= WB_RECORD_EXECUTE) || r->type == WB_RECORD_ADD;
  if (!names || r->ref < 0 || v.rows == 1) return w;
  int32_t side = r->flags & WB_FLAG_SIDE;
  int32_t home = side * v.rows + (r->ref & (v.rows - 1));
  if (v.spill[home] == 0) return w;
  for (int32_t slot = side * v.slots; slot < (side + 1) * v.slots; slot++) {
    if (v.ref[slot] != r->ref) continue;
    w.looked = slot / WB_WIDTH != home;
    return w;
  }
  w.missed = true;
  return w;
}

/* ---- the episode ---- */

static bool check(comparison *c, wb_status status, const wb_error *error) {
  return status == WB_OK || differs(c, "reference: %s", error->text);
}

static bool start(comparison *c) {
  const diff_episode *e = c->episode;
  wb_error error = {0};
  if (!check(c, wb_reference_create(&e->rules, &c->reference, &error), &error)) return false;
  wb_reference_on_trade(c->reference, keep_trade, c);
  if (!check(c, wb_reference_load(c->reference, e->seeds, e->seed_count, &error), &error)) {
    return false;
  }
  if (e->next_arrival != 0 &&
      !check(c, wb_reference_set_next_arrival(c->reference, e->next_arrival, &error), &error)) {
    return false;
  }
  for (int book = 0; book < BOOKS; book++) {
    void *slab = slab_of(c, book);
    wb_slab_init(c->engine->layout, slab, &e->rules);
    if (wb_slab_load(c->engine->layout, slab, e->seeds, e->seed_count, &error) != WB_OK) {
      return differs(c, "slab: %s", error.text);
    }
    if (e->next_arrival != 0) {
      wb_slab_state_of(c->engine->layout, slab)[WB_CELL_NEXT_ARRIVAL] = e->next_arrival;
    }
    head_of(c, book)[WB_HEAD_END] = e->count;
    head_of(c, book)[WB_HEAD_TAPE] = book * e->count;
  }
  return true;
}

static bool step(comparison *c) {
  const wb_record *r = &c->episode->records[c->at];
  int64_t before[WB_COUNTERS];
  wb_trading_state state = wb_reference_state(c->reference);
  int32_t next = wb_reference_next_arrival(c->reference);
  memcpy(before, wb_reference_counters(c->reference), sizeof before);
  spill_watch watch = {0};
  if (c->coverage != NULL) watch = watch_spills(c, r);
  wb_error error = {0};
  c->chosen = 0;
  if (!check(c, wb_reference_apply(c->reference, r, (int32_t)c->at, &error), &error)) return false;
  if (!launch(c, STEPPED, 1, c->episode->trade_room)) return false;
  int64_t lost = c->lost;
  if (!compare_trades(c) || !compare_best(c) || !compare_row(c, r)) return false;
  if (c->coverage != NULL) {
    int64_t after[WB_COUNTERS];
    slab_view v = wb_slab_view(c->engine->layout, slab_of(c, STEPPED));
    memcpy(after, wb_reference_counters(c->reference), sizeof after);
    after[WB_COUNT_TRADES_LOST] += c->lost - lost;
    diff_cover(c->coverage, &c->episode->rules, r, state, before, after);
    bool named = watch.looked && after[WB_COUNT_BAD_RECORD] == before[WB_COUNT_BAD_RECORD];
    diff_cover_spills(c->coverage, spills(&v) > watch.before, named, watch.missed,
                      next == WB_ARRIVAL_RENUMBER);
  }
  return true;
}

/* The other book: the same records in launches of random lengths. */
static bool run_batches(comparison *c) {
  int64_t *head = head_of(c, BATCHED);
  while (head[WB_HEAD_CURSOR] < c->episode->count) {
    bool to_the_end = rng_percent(&c->random, 2);
    int64_t limit = to_the_end ? INT64_MAX : rng_between(&c->random, 1, LAUNCH_MOST);
    if (!launch(c, BATCHED, limit, BATCH_ROOM)) return false;
    const wb_trade *trades = (const wb_trade *)(c->engine->trades + 4 * BATCH_ROOM);
    for (int64_t i = 0; i < head[WB_HEAD_TRADES]; i++) {
      c->batch_hash = trade_hash(c->batch_hash, &trades[i]);
    }
    head[WB_HEAD_TRADES] = 0;
  }
  slab_view a = wb_slab_view(c->engine->layout, slab_of(c, STEPPED));
  slab_view b = wb_slab_view(c->engine->layout, slab_of(c, BATCHED));
  if (b.counters[WB_COUNT_TRADES_LOST] == 0 && c->batch_hash != c->chosen_hash) {
    return differs(c, "trades depend on where launches are cut");
  }
  /* what belongs to a ring and to a tape's place is each book's own */
  b.counters[WB_COUNT_TRADES_LOST] = a.counters[WB_COUNT_TRADES_LOST];
  b.state[WB_CELL_STATUS] = a.state[WB_CELL_STATUS];
  b.head[WB_HEAD_TAPE] = a.head[WB_HEAD_TAPE];
  b.head[WB_HEAD_ROWS] = a.head[WB_HEAD_ROWS];
  if (memcmp(slab_of(c, STEPPED), slab_of(c, BATCHED), (size_t)c->engine->slab_bytes) != 0) {
    return differs(c, "the slab depends on where launches are cut");
  }
  return true;
}

static bool run_steps(comparison *c) {
  for (c->at = 0; c->at < c->episode->count; c->at++) {
    if (!step(c)) return false;
    bool last = c->at == c->episode->count - 1;
    if ((last || c->at % c->engine->check_every == 0) && !compare_all(c)) return false;
  }
  return true;
}

bool diff_run(diff_engine *engine, const diff_episode *episode, uint64_t seed,
              diff_coverage *coverage, diff_failure *failure) {
  comparison *c = calloc(1, sizeof *c);
  if (c == NULL) abort();
  size_t bytes = sizeof(wb_record) * (size_t)episode->count;
  *failure = (diff_failure){.record = -1};
  c->engine = engine;
  c->episode = episode;
  c->coverage = coverage;
  c->failure = failure;
  c->random.state = seed;
  c->records = aligned_memory(2 * bytes + sizeof(wb_record));
  memcpy(c->records, episode->records, bytes);
  memcpy((char *)c->records + bytes, episode->records, bytes);
  bool same = start(c) && run_steps(c) && run_batches(c);
  wb_reference_free(c->reference);
  free(c->records);
  free(c);
  return same;
}

/* ---- shrinking ---- */

/* Tries that a shrinking may make: a short list is worth some seconds, not minutes. */
enum { TRIES_MOST = 400 };

static bool still_differs(diff_engine *engine, diff_episode *e, uint64_t seed, int32_t *tries) {
  diff_failure failure;
  if (*tries == 0) return false;
  --*tries;
  return !diff_run(engine, e, seed, NULL, &failure);
}

/* Leaves `length` records from `first` on out if the rest still differs. */
static bool leave_out(diff_engine *engine, diff_episode *e, uint64_t seed, int64_t first,
                      int64_t length, int32_t *tries) {
  diff_episode shorter = *e;
  shorter.count = e->count - length;
  shorter.records = calloc((size_t)shorter.count + 1, sizeof *shorter.records);
  if (shorter.records == NULL) abort();
  memcpy(shorter.records, e->records, sizeof(wb_record) * (size_t)first);
  memcpy(shorter.records + first, e->records + first + length,
         sizeof(wb_record) * (size_t)(e->count - first - length));
  if (!still_differs(engine, &shorter, seed, tries)) {
    free(shorter.records);
    return false;
  }
  free(e->records);
  *e = shorter;
  return true;
}

void diff_shrink(diff_engine *engine, diff_episode *episode, uint64_t seed) {
  int32_t every = engine->check_every;
  int32_t tries = TRIES_MOST;
  engine->check_every = 1;
  diff_failure failure;
  if (!diff_run(engine, episode, seed, NULL, &failure)) {
    if (failure.record >= 0) episode->count = failure.record + 1;
    for (int64_t length = episode->count / 2; length >= 1; length /= 2) {
      for (int64_t first = episode->count - length; first >= 0; first -= length) {
        if (first + length <= episode->count) {
          (void)leave_out(engine, episode, seed, first, length, &tries);
        }
      }
    }
    diff_episode bare = *episode;
    bare.seed_count = 0;
    if (still_differs(engine, &bare, seed, &tries)) *episode = bare;
  }
  engine->check_every = every;
}

void diff_print_test(const diff_config *config, const diff_episode *e, const diff_failure *failure,
                     FILE *out) {
  fprintf(out, "/* %s, record %lld: %s */\n", config->name, (long long)failure->record,
          failure->text);
  fprintf(out, "Test(found, %s) {\n  static wb_record records[] = {\n", "rename_me");
  for (int64_t i = 0; i < e->count; i++) {
    const wb_record *r = &e->records[i];
    fprintf(out, "      {%lld, %d, %d, %d, %d, %d, %d, %d, %d},\n", (long long)r->time_ns, r->ref,
            r->price, r->qty, r->arg, r->row, r->owner, r->type, r->flags);
  }
  fprintf(out,
          "  };\n  expect_equal(%d, (diff_episode){.rules.base = %lld, .rules.tick_size = %d, "
          ".trade_room = %d, .next_arrival = %d,\n",
          config->number, (long long)e->rules.base, e->rules.tick_size, e->trade_room,
          e->next_arrival);
  fprintf(out, "                       .seed_count = %d, .seeds = {", e->seed_count);
  for (int32_t i = 0; i < e->seed_count; i++) {
    const wb_order *o = &e->seeds[i];
    fprintf(out, "{%d, %d, %d, %d, %d, %d, 0}, ", o->ref, o->price, o->qty, o->arrival, o->owner,
            o->side);
  }
  fprintf(out, "},\n                       .count = %lld, .records = records});\n}\n",
          (long long)e->count);
}

/* ---- all configurations ---- */

enum { EPISODE_RECORDS = 2500 };

static bool run_config(int32_t number, diff_target target, uint64_t seed, int64_t records,
                       diff_coverage *coverage, FILE *out) {
  diff_config config = diff_config_make(number);
  wb_error error = {0};
  diff_engine *engine = diff_engine_new(&config, target, NULL, NULL, &error);
  if (engine == NULL) {
    fprintf(out, "configuration %d: %s\n", number, error.text);
    return false;
  }
  bool same = true;
  uint64_t episode_seed = seed + (uint64_t)number * 1000003;
  for (int64_t done = 0; done < records && same; done += EPISODE_RECORDS, episode_seed++) {
    diff_episode episode;
    diff_failure failure;
    int64_t left = records - done;
    diff_generate(&config, episode_seed, left < EPISODE_RECORDS ? left : EPISODE_RECORDS, &episode);
    same = diff_run(engine, &episode, episode_seed, coverage, &failure);
    if (!same) {
      /* said before the list is shrunk, which may take a while */
      fprintf(out, "configuration %d (%s, capacity %d), seed %llu, record %lld: %s\n", number,
              config.name, config.rules.capacity, (unsigned long long)episode_seed,
              (long long)failure.record, failure.text);
      fflush(out);
      diff_shrink(engine, &episode, episode_seed);
      (void)diff_run(engine, &episode, episode_seed, NULL, &failure);
      diff_print_test(&config, &episode, &failure, out);
    }
    diff_episode_free(&episode);
  }
  diff_engine_free(engine);
  return same;
}

int32_t diff_all(diff_target target, uint64_t seed, int64_t records, bool table, FILE *out) {
  diff_coverage *coverage = diff_coverage_new();
  int32_t wrong = 0, configs = diff_config_count();
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : wrong)
  for (int32_t i = 0; i < configs; i++) {
    diff_coverage *part = diff_coverage_new();
    wrong += !run_config(i, target, seed, records / configs + 1, part, out);
#pragma omp critical
    diff_coverage_join(coverage, part);
    diff_coverage_free(part);
  }
  if (table && wrong == 0) wrong += diff_coverage_print(coverage, out);
  diff_coverage_free(coverage);
  return wrong;
}

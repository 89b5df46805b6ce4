/* The ladder with the duties of our books: every record is validated, duplicate references are
 * refused, absent ones counted, all counters kept, arrivals numbered, trades written as 32 bytes into
 * a ring that can be full. */
#include "bench_engines.h"

#include "base/check.h"
#include "base/record.h"

enum { ROOM = 1 << 16, LAUNCH = 4096 };

static struct duties {
  int64_t counters[WB_COUNTERS];
  int64_t base, held;
  int32_t tick_size, next_arrival;
  const wb_record *record; /* the one that trades */
  int64_t index;
  wb_trade ring[ROOM];
} duties;

static inline void count_trade(uint32_t maker, uint32_t taker, int side, int32_t price,
                               int32_t qty) {
  bool saturated = false;
  int64_t *counters = duties.counters;
  counters[WB_COUNT_TRADES]++;
  counters[WB_COUNT_VOLUME] += qty;
  int64_t worth = wb_add_sat_i64(duties.base, price, &saturated);
  counters[WB_COUNT_NOTIONAL] = wb_add_sat_i64(counters[WB_COUNT_NOTIONAL],
                                               wb_mul_sat_i64(worth, qty, &saturated), &saturated);
  counters[WB_COUNT_SATURATED] += saturated;
  if (duties.held == ROOM) {
    counters[WB_COUNT_TRADES_LOST]++;
    return;
  }
  duties.ring[duties.held++] = (wb_trade){
      .time_ns = duties.record->time_ns,
      .record = (int32_t)duties.index,
      .maker = (int32_t)maker - 1,
      .taker = (int32_t)taker - 1,
      .price = price,
      .qty = qty,
      .maker_owner = (uint16_t)(side != 0 ? WB_TRADE_MAKER_ASK : 0),
      .taker_owner = (uint16_t)(duties.record->flags & WB_FLAG_EDGE ? WB_TRADE_EDGE : 0)};
}

#define LADDER_TRADE(l, maker, taker, side, price, qty) count_trade(maker, taker, side, price, qty)

#include "ladder.h"

static void start(bench_engine *engine) {
  ladder_clear(engine->state, engine->flow->refs + 1);
  memset(&duties, 0, offsetof(struct duties, ring));
  duties.tick_size = 1;
  duties.next_arrival = 1;
  engine->seen = (bench_seen){0};
}

static inline bool is_bad(const wb_record *r) {
  int extra = r->flags & ~(WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END);
  if (r->owner != 0 || extra != 0 || r->ref < 0 || r->ref >= WB_REF_AGENT_FIRST) return true;
  if (r->type == WB_RECORD_DELETE) return false;
  if (r->qty <= 0) return true;
  if (r->type != WB_RECORD_ADD) return false;
  return r->price < 0 || r->price >= LADDER_PRICES || r->price % duties.tick_size != 0;
}

static inline void add_order(ladder *l, const wb_record *r, int side, uint32_t order) {
  if (ladder_rests(l, order)) {
    duties.counters[WB_COUNT_DUPLICATE_REF]++;
    return;
  }
  ladder_add(l, side, order, r->price, r->qty);
  duties.next_arrival += ladder_rests(l, order);
}

static inline void take_record(ladder *l, const wb_record *r, int64_t index) {
  uint32_t order = (uint32_t)r->ref + 1;
  int side = r->flags & WB_FLAG_SIDE;
  if (r->type > WB_RECORD_DELETE || r->type < WB_RECORD_ADD || is_bad(r)) {
    duties.counters[WB_COUNT_BAD_RECORD]++;
    return;
  }
  duties.record = r;
  duties.index = index;
  duties.counters[WB_COUNT_TYPE_ADD + r->type - 1]++;
  duties.counters[WB_COUNT_EDGE_RECORDS] += (r->flags & WB_FLAG_EDGE) != 0;
  if (r->type == WB_RECORD_ADD) {
    add_order(l, r, side, order);
  } else if (!ladder_rests(l, order)) {
    duties.counters[WB_COUNT_ORPHAN]++;
  } else if (r->type == WB_RECORD_REDUCE) {
    ladder_reduce(l, side, order, r->qty);
  } else {
    ladder_leave(l, side, order);
  }
}

static void drain(bench_engine *engine) {
  for (int64_t i = 0; i < duties.held; i++) {
    const wb_trade *t = &duties.ring[i];
    engine->seen.hash = stream_trade(engine->seen.hash, t->maker, t->taker, t->price, t->qty);
  }
  engine->seen.trades += duties.held;
  duties.held = 0;
}

static void apply(bench_engine *engine, int64_t first, int64_t end) {
  while (first < end) {
    int64_t last = first + LAUNCH < end ? first + LAUNCH : end;
    for (int64_t i = first; i < last; i++) take_record(engine->state, &engine->flow->records[i], i);
    drain(engine);
    first = last;
  }
}

static int64_t run(bench_engine *engine) {
  apply(engine, 0, engine->flow->timed);
  return engine->flow->timed;
}

static bench_seen finish(bench_engine *engine) {
  apply(engine, engine->flow->timed, engine->flow->count);
  return engine->seen;
}

static void release(bench_engine *engine) { ladder_free(engine->state); }

bool ladder_full_make(bench_engine *engine) {
  engine->state = ladder_new(engine->flow->refs + 1);
  engine->start = start;
  engine->run = run;
  engine->finish = finish;
  engine->release = release;
  return true;
}

/* The ladder that does only what it must. */
#include "bench_engines.h"

#define LADDER_TRADE(l, maker, taker, side, price, filled) \
  (trades++,                                               \
   trade_hash = stream_trade(trade_hash, (int32_t)(maker)-1, (int32_t)(taker)-1, price, filled))

static int64_t trades;
static uint64_t trade_hash;

#include "ladder.h"

static void start(bench_engine *engine) {
  ladder_clear(engine->state, engine->flow->refs + 1);
  trades = 0;
  trade_hash = 0;
}

static void apply(bench_engine *engine, int64_t first, int64_t end) {
  ladder *l = engine->state;
  for (const wb_record *r = engine->flow->records + first, *last = engine->flow->records + end;
       r < last; r++) {
    uint32_t order = (uint32_t)r->ref + 1;
    int side = r->flags & WB_FLAG_SIDE;
    if (r->type == WB_RECORD_ADD) {
      ladder_add(l, side, order, r->price, r->qty);
    } else if (ladder_rests(l, order)) {
      if (r->type == WB_RECORD_REDUCE) {
        ladder_reduce(l, side, order, r->qty);
      } else {
        ladder_leave(l, side, order);
      }
    }
  }
}

static int64_t run(bench_engine *engine) {
  apply(engine, 0, engine->flow->timed);
  return engine->flow->timed;
}

static bench_seen finish(bench_engine *engine) {
  apply(engine, engine->flow->timed, engine->flow->count);
  return (bench_seen){trade_hash, trades};
}

static void release(bench_engine *engine) { ladder_free(engine->state); }

bool ladder_bare_make(bench_engine *engine) {
  engine->state = ladder_new(engine->flow->refs + 1);
  engine->start = start;
  engine->run = run;
  engine->finish = finish;
  engine->release = release;
  return true;
}

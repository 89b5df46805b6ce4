/* The generator behind stream.h: draws what to do, applies it to its own ladder, writes it down.
 *
 * Keep: the ladder is a small book of its own, apart from every engine: it is their oracle here. */
#include "stream.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { PRICES = 1 << 16, FIRST_MID = 10000, LOWEST_MID = 2000, HIGHEST_MID = 60000, NONE = -1 };

typedef struct resting {
  int32_t ref, price, qty;
  int32_t older, newer; /* at the same price: indices of orders */
  int32_t place;        /* in the side's list of live ones */
} resting;

typedef struct ladder_side {
  int32_t oldest[PRICES], newest[PRICES];
  int32_t best; /* price, or NONE */
  int32_t *live;
  int32_t count;
} ladder_side;

typedef struct maker {
  const stream_options *options;
  stream *out;
  ladder_side *sides; /* bid, ask */
  resting *orders;    /* indexed by reference */
  uint64_t random;
  double drift;
  double order_sum[2];
} maker;

static uint64_t draw(maker *m) { return wb_mix64(m->random += WB_HASH_GOLDEN); }

static int32_t below(maker *m, int32_t n) { return (int32_t)((draw(m) >> 32) * (uint64_t)n >> 32); }

static double unit(maker *m) { return (double)(draw(m) >> 11) * 0x1p-53; }

/* -------------------------------------------------------------------------------------------------
 * the ladder */

static void find_best(ladder_side *side, int s) {
  while (side->best > 0 && side->best < PRICES && side->oldest[side->best] == NONE) {
    side->best += s == WB_SIDE_BID ? -1 : 1;
  }
  if (side->count == 0) {
    side->best = NONE;
  }
}

static void leave(maker *m, int s, int32_t ref) {
  ladder_side *side = &m->sides[s];
  resting *o = &m->orders[ref];
  if (o->older == NONE) {
    side->oldest[o->price] = o->newer;
  } else {
    m->orders[o->older].newer = o->newer;
  }
  if (o->newer == NONE) {
    side->newest[o->price] = o->older;
  } else {
    m->orders[o->newer].older = o->older;
  }
  side->count -= 1;
  side->live[o->place] = side->live[side->count];
  m->orders[side->live[o->place]].place = o->place;
  if (side->count == 0 || o->price == side->best) {
    find_best(side, s);
  }
}

static void come(maker *m, int s, int32_t ref, int32_t price, int32_t qty) {
  ladder_side *side = &m->sides[s];
  resting *o = &m->orders[ref];
  *o = (resting){ref, price, qty, side->newest[price], NONE, side->count};
  if (o->older == NONE) {
    side->oldest[price] = ref;
  } else {
    m->orders[o->older].newer = ref;
  }
  side->newest[price] = ref;
  side->live[side->count++] = ref;
  bool better = s == WB_SIDE_BID ? price > side->best : price < side->best;
  if (side->best == NONE || better) {
    side->best = price;
  }
  if (side->count > m->out->largest_side) {
    m->out->largest_side = side->count;
  }
}

static int32_t take(maker *m, int s, int32_t taker, int32_t limit, int32_t qty) {
  ladder_side *other = &m->sides[!s];
  while (qty > 0 && other->best != NONE &&
         (s == WB_SIDE_BID ? other->best <= limit : other->best >= limit)) {
    resting *o = &m->orders[other->oldest[other->best]];
    int32_t filled = o->qty < qty ? o->qty : qty;
    m->out->trades += 1;
    m->out->volume += filled;
    m->out->trade_hash = stream_trade(m->out->trade_hash, o->ref, taker, o->price, filled);
    qty -= filled;
    o->qty -= filled;
    if (o->qty == 0) {
      leave(m, !s, o->ref);
    }
  }
  return qty;
}

/* -------------------------------------------------------------------------------------------------
 * records */

static void write_record(maker *m, wb_record_type type, int s, int32_t ref, int32_t price,
                         int32_t qty) {
  m->out->records[m->out->count] = (wb_record){.time_ns = m->out->count,
                                               .ref = ref,
                                               .price = price,
                                               .qty = qty,
                                               .row = -1,
                                               .type = (uint8_t)type,
                                               .flags = s == WB_SIDE_ASK ? WB_FLAG_SIDE : 0};
  m->out->count += 1;
}

static void add_order(maker *m, int s, int32_t price, int32_t qty) {
  int32_t ref = m->out->refs++;
  write_record(m, WB_RECORD_ADD, s, ref, price, qty);
  int32_t left = take(m, s, ref, price, qty);
  if (left > 0) {
    come(m, s, ref, price, left);
  }
}

static void passive_add(maker *m, int s, int32_t mid) {
  int32_t distance = 0;
  while (distance < m->options->width - 1 && unit(m) < 0.80) {
    distance += 1;
  }
  int32_t nearer = (int32_t)(draw(m) & 1);
  int32_t other = m->sides[!s].best;
  int32_t price = s == WB_SIDE_BID ? mid - 1 - distance + nearer : mid + 1 + distance - nearer;
  /* never marketable */
  if (other != NONE && s == WB_SIDE_BID && price >= other) {
    price = other - 1;
  } else if (other != NONE && s == WB_SIDE_ASK && price <= other) {
    price = other + 1;
  }
  add_order(m, s, price, 1 + below(m, 100));
}

static void cancel(maker *m, int s) {
  ladder_side *side = &m->sides[s];
  resting *o = &m->orders[side->live[below(m, side->count)]];
  int32_t percent = m->options->partial_percent;
  if (percent > 0 && below(m, 100) < percent && o->qty > 1) {
    int32_t qty = 1 + below(m, o->qty - 1);
    write_record(m, WB_RECORD_REDUCE, s, o->ref, o->price, qty);
    o->qty -= qty;
  } else {
    write_record(m, WB_RECORD_DELETE, s, o->ref, o->price, o->qty);
    leave(m, s, o->ref);
  }
}

static void marketable_add(maker *m, int s) {
  int32_t other = m->sides[!s].best;
  int32_t qty = 1 + (below(m, 100) < 3 ? below(m, 1000) : below(m, 70));
  add_order(m, s, s == WB_SIDE_BID ? other + 2 : other - 2, qty);
}

/* the mid of the best prices, pushed about by a slow drift, inside the ladder */
static int32_t next_mid(maker *m, int32_t mid) {
  int32_t bid = m->sides[WB_SIDE_BID].best;
  int32_t ask = m->sides[WB_SIDE_ASK].best;
  bid = bid == NONE ? mid - 1 : bid;
  ask = ask == NONE ? mid + 1 : ask;
  m->drift += 0.02 * (unit(m) - unit(m));
  m->drift = m->drift > 1 ? 1 : m->drift < -1 ? -1 : m->drift;
  double size = m->drift < 0 ? -m->drift : m->drift;
  int32_t step = m->drift > 0 ? 1 : -1;
  mid = (bid + ask + (int32_t)(draw(m) & 1)) / 2 + (unit(m) < size * 0.05 ? step : 0);
  return mid < LOWEST_MID ? LOWEST_MID : mid > HIGHEST_MID ? HIGHEST_MID : mid;
}

static void one_record(maker *m, int32_t mid) {
  int32_t fewest = m->options->depth * 2 / 3;
  int32_t most = m->options->depth * 4 / 3;
  int32_t kind = below(m, 100);
  int s = (int)(draw(m) & 1);
  int32_t count = m->sides[s].count;
  int32_t others = m->sides[!s].count;
  bool adds = kind < 50;
  bool cancels = !adds && kind < 90;
  /* steer the side into its bounds; nothing is marketable against a thin side */
  if (adds && count >= most) {
    adds = false;
    cancels = true;
  } else if ((cancels && count <= fewest) || (!adds && !cancels && others <= fewest / 2)) {
    adds = true;
  }
  if (adds || (cancels && count == 0) || (!cancels && others == 0)) {
    passive_add(m, s, mid);
  } else if (cancels) {
    cancel(m, s);
  } else {
    marketable_add(m, s);
  }
}

/* one order that takes all of the other side, however much that is */
static void sweep(maker *m, int s) {
  const ladder_side *other = &m->sides[!s];
  int32_t qty = 0;
  for (int32_t i = 0; i < other->count; ++i) {
    qty += m->orders[other->live[i]].qty;
  }
  if (qty > 0) {
    add_order(m, s, s == WB_SIDE_BID ? PRICES - 1 : 0, qty);
  }
}

static void run(maker *m) {
  int32_t mid = FIRST_MID;
  for (int64_t i = 0; i < m->options->records; ++i) {
    mid = next_mid(m, mid);
    one_record(m, mid);
    int32_t bid = m->sides[WB_SIDE_BID].best;
    int32_t ask = m->sides[WB_SIDE_ASK].best;
    m->out->best_hash =
        stream_best(m->out->best_hash, bid == NONE ? 0 : bid, ask == NONE ? 0 : ask);
    m->order_sum[0] += m->sides[0].count;
    m->order_sum[1] += m->sides[1].count;
  }
  m->out->timed = m->out->count;
  for (int s = 0; s < 2; ++s) {
    m->out->mean_orders[s] = m->order_sum[s] / (double)(m->out->timed > 0 ? m->out->timed : 1);
    sweep(m, s);
  }
}

stream_options stream_options_default(void) {
  return (stream_options){.seed = 1, .records = 2000000, .depth = 75, .width = 10};
}

bool stream_make(const stream_options *options, stream *made) {
  maker m = {.options = options, .out = made, .random = wb_mix64(options->seed)};
  size_t room = (size_t)options->records + 2;
  *made = (stream){0};
  made->records = malloc(room * sizeof *made->records);
  m.orders = malloc(room * sizeof *m.orders);
  m.sides = malloc(2 * sizeof *m.sides);
  bool ok = made->records != NULL && m.orders != NULL && m.sides != NULL;
  for (int s = 0; ok && s < 2; ++s) {
    memset(m.sides[s].oldest, 0xff, sizeof m.sides[s].oldest);
    memset(m.sides[s].newest, 0xff, sizeof m.sides[s].newest);
    m.sides[s].best = NONE;
    m.sides[s].count = 0;
    m.sides[s].live = malloc(room * sizeof(int32_t));
    ok = m.sides[s].live != NULL;
    if (!ok && s == 1) {
      free(m.sides[0].live);
    }
  }
  if (ok) {
    run(&m);
    free(m.sides[0].live);
    free(m.sides[1].live);
  } else {
    stream_free(made);
  }
  free(m.sides);
  free(m.orders);
  return ok;
}

void stream_free(stream *made) {
  free(made->records);
  made->records = NULL;
}

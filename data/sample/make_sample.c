/* Makes the bundled sample: a day of a market that does not exist, as a pair of LOBSTER files.
 *
 * A whole order book is simulated, some fifteen levels a side. The files show its five best levels,
 * as the vendor's do: a message is written only if it changes what is shown, everything else
 * happens out of sight, so levels slide in, come back changed, or are gone when their turn comes.
 * The day has an opening print with orders from before the open that surface after it, runs of
 * executions with one time stamp, hidden executions at prices between the ticks, and a halt in which
 * the asks are pulled and the book crosses.
 *
 * Keep: integers only, a fixed seed and one draw per statement, so that every compiler and machine
 * writes the same bytes; at one price the smaller id is the older order; outside the halt no order
 * comes to rest at a price that crosses.
 *
 * usage: make_sample DIR */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  LEVELS = 5,        /* what the files show */
  ROWS = 4000,       /* then the files end, be it within a run */
  MAX_ORDERS = 4096, /* on both sides together */
  TICK = 100,        /* one cent */
  ASK = -1,          /* the vendor's directions */
  BID = 1
};
#define DUMMY_PRICE INT64_C(9999999999)
#define SECOND      INT64_C(1000000000)
#define DAY_START   (34200 * SECOND)
#define DAY_END     (57600 * SECOND)
#define HALT_START  (43210 * SECOND)

typedef struct {
  int64_t id;
  int32_t price, qty;
  int side;
} order;

typedef struct {
  int32_t price;
  int64_t qty;
} level;

typedef struct {
  level ask[LEVELS], bid[LEVELS];
} window;

typedef struct {
  order orders[MAX_ORDERS];
  int count;
  int64_t next_id, old_id; /* ids rise through the day; old ones are from before it */
  int64_t time_ns;
  uint64_t random;
  int rows;
  int mood; /* the side that more aggressors take now: prices drift, the window moves */
  bool halted;
  FILE *messages, *books;
} market;

/* splitmix64 */
static uint64_t draw(market *m) {
  uint64_t x = m->random += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  return x ^ (x >> 31);
}

static int below(market *m, int n) { return (int)(draw(m) % (uint64_t)n); }

static int64_t fresh_id(market *m) { return m->next_id += 1 + below(m, 6000); }

/* --- the book ------------------------------------------------------------------------------- */

static bool better(int side, int32_t a, int32_t b) { return side == ASK ? a < b : a > b; }

/* The best order of a side by price, then by age; -1 if the side is empty. */
static int best_order(const market *m, int side) {
  int best = -1;
  for (int i = 0; i < m->count; i++) {
    const order *o = &m->orders[i];
    if (o->side != side) continue;
    const order *b = best < 0 ? NULL : &m->orders[best];
    if (!b || better(side, o->price, b->price) || (o->price == b->price && o->id < b->id)) best = i;
  }
  return best;
}

/* The price of a side's touch, or what a trader would take for it while the side is empty. */
static int32_t touch(const market *m, int side) {
  int i = best_order(m, side);
  if (i >= 0) return m->orders[i].price;
  i = best_order(m, -side);
  int32_t other = i >= 0 ? m->orders[i].price : 1000000;
  return other - side * 4 * TICK;
}

static void look_at(const market *m, int side, level *out) {
  memset(out, 0, LEVELS * sizeof *out);
  int32_t last = 0;
  for (int n = 0; n < LEVELS; n++) {
    for (int i = 0; i < m->count; i++) {
      const order *o = &m->orders[i];
      if (o->side != side || (n > 0 && !better(side, last, o->price))) continue;
      if (out[n].qty == 0 || better(side, o->price, out[n].price))
        out[n] = (level){o->price, o->qty};
      else if (o->price == out[n].price)
        out[n].qty += o->qty;
    }
    if (out[n].qty == 0) return;
    last = out[n].price;
  }
}

static window look(const market *m) {
  window w;
  look_at(m, ASK, w.ask);
  look_at(m, BID, w.bid);
  return w;
}

static bool same_levels(const level *a, const level *b) {
  for (int i = 0; i < LEVELS; i++)
    if (a[i].price != b[i].price || a[i].qty != b[i].qty) return false;
  return true;
}

static bool same(const window *a, const window *b) {
  return same_levels(a->ask, b->ask) && same_levels(a->bid, b->bid);
}

/* --- the files ------------------------------------------------------------------------------ */

/* Seconds with the zeros at their end stripped, as the vendor writes them. */
static void print_time(FILE *f, int64_t ns) {
  char fraction[16];
  snprintf(fraction, sizeof fraction, "%09" PRId64, ns % SECOND);
  size_t n = strlen(fraction);
  while (n > 0 && fraction[n - 1] == '0') n--;
  fprintf(f, n > 0 ? "%" PRId64 ".%.*s" : "%" PRId64, ns / SECOND, (int)n, fraction);
}

static void print_level(FILE *f, const level *l, int64_t dummy) {
  fprintf(f, "%" PRId64 ",%" PRId64, l->qty > 0 ? (int64_t)l->price : dummy, l->qty);
}

static void emit(market *m, int type, int64_t id, int32_t qty, int32_t price, int side) {
  if (m->rows == ROWS) return;
  print_time(m->messages, m->time_ns);
  fprintf(m->messages, ",%d,%" PRId64 ",%" PRId32 ",%" PRId32 ",%d\n", type, id, qty, price, side);
  const window w = look(m);
  for (int i = 0; i < LEVELS; i++) {
    if (i > 0) fputc(',', m->books);
    print_level(m->books, &w.ask[i], DUMMY_PRICE);
    fputc(',', m->books);
    print_level(m->books, &w.bid[i], -DUMMY_PRICE);
  }
  fputc('\n', m->books);
  m->rows++;
}

/* --- what may happen to an order; a message only if it shows --------------------------------- */

static void add(market *m, int64_t id, int side, int32_t price, int32_t qty) {
  if (m->count == MAX_ORDERS) {
    fprintf(stderr, "make_sample: more than %d orders rest\n", MAX_ORDERS);
    exit(1);
  }
  const window before = look(m);
  m->orders[m->count++] = (order){.id = id, .price = price, .qty = qty, .side = side};
  const window after = look(m);
  if (!same(&before, &after)) emit(m, 1, id, qty, price, side);
}

/* Takes quantity off order i: type 2, or 3 if all of it goes, or 4 for an execution. */
static void take(market *m, int i, int32_t qty, bool executed) {
  const window before = look(m);
  order *o = &m->orders[i];
  const order was = *o;
  o->qty -= qty;
  const bool gone = o->qty == 0;
  if (gone) *o = m->orders[--m->count];
  const window after = look(m);
  if (!same(&before, &after))
    emit(m, executed ? 4 : gone ? 3 : 2, was.id, qty, was.price, was.side);
}

/* --- what traders do ------------------------------------------------------------------------ */

static int32_t some_qty(market *m) {
  static const int32_t usual[] = {100, 100, 100, 100, 200, 200, 300, 500, 1000};
  if (below(m, 5) == 0) return 1 + below(m, 199);
  return usual[below(m, (int)(sizeof usual / sizeof *usual))];
}

/* A price this side of the other's touch, mostly near it: never one that crosses, outside the halt
 * (in it some do). */
static int32_t some_price(market *m, int side) {
  const int distance = below(m, 3) == 0 ? below(m, 26) : below(m, 11);
  return touch(m, -side) - side * (distance + (m->halted ? -1 : 1)) * TICK;
}

static int resting(const market *m, int side) {
  int n = 0;
  for (int i = 0; i < m->count; i++) n += m->orders[i].side == side;
  return n;
}

/* The thinner side draws more orders, so that both keep their depth. */
static void submit(market *m) {
  const int thin = resting(m, BID) < resting(m, ASK) ? BID : ASK;
  const int side = below(m, 4) ? thin : -thin;
  const int64_t id = fresh_id(m);
  const int32_t price = some_price(m, side);
  const int32_t qty = some_qty(m);
  add(m, id, side, price, qty);
}

/* The order that someone thinks about: usually one that is near the touch. -1 if none rests. */
static int some_order(market *m) {
  if (m->count == 0) return -1;
  int pick = below(m, m->count);
  for (int tries = 0; tries < 2; tries++) {
    const int other = below(m, m->count);
    const order *a = &m->orders[pick], *b = &m->orders[other];
    const int32_t distance_a = abs(a->price - touch(m, a->side));
    const int32_t distance_b = abs(b->price - touch(m, b->side));
    if (distance_b < distance_a) pick = other;
  }
  return pick;
}

static void cancel(market *m) {
  const int i = some_order(m);
  if (i >= 0) take(m, i, m->orders[i].qty, false);
}

static void cancel_some(market *m) {
  const int i = some_order(m);
  if (i >= 0 && m->orders[i].qty > 1) take(m, i, 1 + below(m, m->orders[i].qty - 1), false);
}

/* A change of price is a deletion and a new order at the same moment. */
static void replace(market *m) {
  const int i = some_order(m);
  if (i < 0) return;
  const order was = m->orders[i];
  take(m, i, was.qty, false);
  const int64_t id = fresh_id(m);
  const int32_t price = some_price(m, was.side);
  add(m, id, was.side, price, was.qty);
}

/* An order that nobody saw is hit inside the spread, every so often twice with equal messages. */
static void hidden_trade(market *m) {
  static const int32_t off_tick[] = {50, 25, 75, 10, 50, 0};
  const int32_t bid = touch(m, BID), ask = touch(m, ASK);
  const int32_t part = off_tick[below(m, (int)(sizeof off_tick / sizeof *off_tick))];
  const int32_t price = bid + part + below(m, (ask - bid) / TICK) * TICK;
  const int32_t qty = some_qty(m);
  for (int n = below(m, 12) == 0 ? 2 : 1; n > 0; n--) emit(m, 5, 0, qty, price, BID);
}

static int32_t shown_at_touch(const market *m, int side) {
  const window w = look(m);
  return (int32_t)(side == ASK ? w.ask[0].qty : w.bid[0].qty);
}

/* An aggressive order: executions of one moment, best first, then what is left comes to rest. */
static void aggress(market *m) {
  if (below(m, 20) == 0) m->mood = -m->mood;
  const int side = below(m, 5) ? m->mood : -m->mood; /* of the aggressor */
  const int32_t limit = touch(m, -side) + side * below(m, 5) * TICK;
  int32_t left = some_qty(m);
  left *= 1 + below(m, 3);
  if (below(m, 3) == 0) left += shown_at_touch(m, -side); /* one that goes through the level */
  if (below(m, 5) == 0) hidden_trade(m);
  for (;;) {
    const int i = best_order(m, -side);
    if (i < 0 || left == 0 || better(-side, limit, m->orders[i].price)) break;
    if (m->orders[i].price == limit - side * TICK && below(m, 8) == 0) hidden_trade(m);
    const int32_t qty = left < m->orders[i].qty ? left : m->orders[i].qty;
    take(m, i, qty, true);
    left -= qty;
  }
  if (left > 0 && below(m, 3) > 0) add(m, fresh_id(m), side, limit, left);
}

/* --- the day -------------------------------------------------------------------------------- */

/* Gaps are long or very short, and shrink or grow so that the rows fill the day. */
static void let_time_pass(market *m) {
  const int64_t rows_left = m->rows < ROWS ? ROWS - m->rows : 1;
  int64_t gap = (DAY_END - 5 * SECOND - m->time_ns) / (rows_left + 4); /* never past the end */
  if (below(m, 5) < 2)
    gap = 1000 + below(m, 900000); /* an answer of a machine */
  else
    gap = gap * below(m, 2000) / 1000;
  m->time_ns += gap;
  const int64_t round_to = below(m, 300) == 0 ? SECOND : below(m, 20) == 0 ? 1000000 : 1;
  m->time_ns = (m->time_ns + round_to - 1) / round_to * round_to;
}

static void live(market *m) {
  const int what = below(m, 100);
  const int crowd = m->count > 180 ? 8 : m->count < 140 ? -8 : 0; /* the book keeps its size */
  if (what < 48 - crowd)
    submit(m);
  else if (what < 80)
    cancel(m);
  else if (what < 84)
    cancel_some(m);
  else if (what < 88)
    replace(m);
  else if (m->halted)
    submit(m);
  else if (what < 96)
    aggress(m);
  else
    hidden_trade(m);
}

/* Orders that were placed before the open make the book in which the day starts. */
static void open_book(market *m) {
  for (int side = ASK; side <= BID; side += BID - ASK)
    for (int n = 0; n < 70; n++) {
      const int32_t price = 1000000 - side * (1 + below(m, 20)) * TICK;
      m->old_id += 1 + below(m, 90000);
      const int32_t qty = some_qty(m);
      m->orders[m->count++] = (order){.id = m->old_id, .price = price, .qty = qty, .side = side};
    }
}

/* The opening print, and with it a few orders with old ids: older than all that rest beside them. */
static void open_day(market *m) {
  add(m, fresh_id(m), BID, touch(m, BID), 200);
  for (int n = 0; n < 8; n++) {
    const int side = n % 2 ? BID : ASK;
    m->time_ns += 1 + below(m, 9000000);
    add(m, fresh_id(m), side, touch(m, side) - side * (n / 4) * TICK, 100 * (1 + n));
  }
  m->time_ns += 118000000;
  emit(m, 6, -1, 51200, touch(m, BID) + TICK, BID);
  for (int n = 0; n < 12; n++) {
    const int side = n % 2 ? BID : ASK;
    add(m, 1000 + n * 37 + below(m, 30), side, touch(m, side) - side * (n / 4) * TICK, 100 + n);
  }
}

static void state(market *m, int code) { emit(m, 7, 0, 0, code, ASK); }

/* What crosses is paired off at one moment, best against best, and reported once as a print. */
static void reopen(market *m) {
  int32_t volume = 0, price = 0;
  for (;;) {
    const int a = best_order(m, ASK), b = best_order(m, BID);
    if (a < 0 || b < 0 || m->orders[a].price > m->orders[b].price) break;
    const order *ask = &m->orders[a], *bid = &m->orders[b];
    const int32_t qty = ask->qty < bid->qty ? ask->qty : bid->qty;
    price = ask->price;
    volume += qty;
    take(m, a, qty, true);
    take(m, best_order(m, BID), qty, true);
  }
  if (volume > 0) emit(m, 6, -1, volume, price, BID);
}

static void halt(market *m) {
  m->time_ns = HALT_START;
  m->halted = true;
  state(m, -1);
  while (resting(m, ASK) > 4) { /* most of the asks are pulled: the side is short for a while */
    m->time_ns += 1 + below(m, 40000000);
    const int i = best_order(m, ASK);
    if (below(m, 12) == 0)
      live(m);
    else
      take(m, i, m->orders[i].qty, false);
  }
  m->time_ns = HALT_START + 300 * SECOND;
  state(m, 0);
  for (int n = 0; n < 90; n++) {
    m->time_ns += 1 + below(m, 500000000);
    const int side = n % 3 ? ASK : BID;
    if (n % 6 == 5) {
      live(m);
      continue;
    }
    const int64_t id = fresh_id(m);
    const int32_t price = 1000000 - side * (below(m, 14) - 2) * TICK;
    const int32_t qty = some_qty(m);
    add(m, id, side, price, qty);
  }
  m->time_ns = HALT_START + 360 * SECOND;
  reopen(m);
  m->halted = false;
  state(m, 1);
}

static void run(market *m) {
  open_book(m);
  open_day(m);
  bool halt_is_over = false;
  while (m->rows < ROWS) {
    let_time_pass(m);
    if (!halt_is_over && m->time_ns >= HALT_START) {
      halt(m);
      halt_is_over = true;
    } else {
      live(m);
    }
  }
}

static FILE *create(const char *folder, const char *what) {
  char path[4096];
  const int n = snprintf(path, sizeof path, "%s/WARP_2024-01-02_34200000_57600000_%s_%d.csv",
                         folder, what, LEVELS);
  FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "wb") : NULL;
  if (!f) {
    fprintf(stderr, "make_sample: cannot write the %s file in %s\n", what, folder);
    exit(1);
  }
  return f;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_sample DIR\n");
    return 2;
  }
  static market m;
  m = (market){.next_id = 16113000,
               .old_id = 1200000,
               .time_ns = DAY_START + 4241176,
               .random = 7,
               .mood = BID};
  m.messages = create(argv[1], "message");
  m.books = create(argv[1], "orderbook");
  run(&m);
  const bool failed = ferror(m.messages) || ferror(m.books);
  if (fclose(m.messages) != 0 || fclose(m.books) != 0 || failed) {
    fprintf(stderr, "make_sample: writing to %s failed\n", argv[1]);
    return 1;
  }
  return 0;
}

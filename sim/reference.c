/* The rules of docs/semantics.md, one function for each of its sections, in its order.
 *
 * Room for one more order is reserved before a record is looked at; from there on nothing can fail,
 * so a record acts whole or not at all. What is counted is counted where the rule says it. */
#include "sim/reference.h"

#include "base/check.h"
#include "sim/reference_book.h"
#include "sim/reference_state.h"

#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------
 * counting */

static void add(wb_reference *book, wb_counter counter, int64_t amount) {
  book->counters[counter] += amount;
}

/* counts an event that has a status bit */
static void count(wb_reference *book, wb_counter event) {
  book->counters[event] += 1;
  book->status |= WB_STATUS_BIT(event);
}

/* -------------------------------------------------------------------------------------------------
 * valid records */

enum { NO_ARG = -1 };

typedef struct looks_at {
  bool ref, price, qty;
  bool history_only;
  int8_t last_arg; /* NO_ARG if arg is not looked at */
} looks_at;

static const looks_at types[WB_RECORD_TYPE_COUNT + 1] = {
    [WB_RECORD_ADD] = {true, true, true, false, NO_ARG},
    [WB_RECORD_MARKET] = {true, false, true, false, NO_ARG},
    [WB_RECORD_REDUCE] = {true, false, true, false, NO_ARG},
    [WB_RECORD_DELETE] = {true, false, false, false, NO_ARG},
    [WB_RECORD_AMEND] = {true, true, true, false, NO_ARG},
    [WB_RECORD_EXECUTE] = {true, true, true, true, NO_ARG},
    [WB_RECORD_NOTE] = {false, false, true, true, WB_NOTE_UNRESOLVED},
    [WB_RECORD_STATE] = {false, false, false, true, WB_STATE_HALTED},
};

static bool ref_valid(int32_t ref, int32_t owner) {
  return owner == 0 ? ref >= 0 && ref < WB_REF_AGENT_FIRST : ref >= WB_REF_AGENT_FIRST;
}

static bool price_valid(int32_t price, int32_t tick_size) {
  return price >= -WB_PRICE_LIMIT && price <= WB_PRICE_LIMIT && price % tick_size == 0;
}

static bool flags_valid(const wb_record *r) {
  if ((r->flags & (WB_FLAG_EDGE | WB_FLAG_ROW_END)) != 0 && r->owner != 0) {
    return false;
  }
  switch (r->flags & ~(WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END)) {
  case 0: return true;
  case WB_FLAG_POST_ONLY: return r->type == WB_RECORD_ADD || r->type == WB_RECORD_AMEND;
  case WB_FLAG_IOC:
  case WB_FLAG_FOK:
  case WB_FLAG_POST_ONLY | WB_FLAG_SLIDE: return r->type == WB_RECORD_ADD;
  case WB_FLAG_NO_MATCH: return r->type == WB_RECORD_ADD && r->owner == 0;
  default: return false;
  }
}

static bool record_valid(const wb_reference *book, const wb_record *r) {
  if (r->type < WB_RECORD_ADD || r->type > WB_RECORD_TYPE_COUNT) {
    return false;
  }
  const looks_at *t = &types[r->type];
  return r->owner >= 0 && !(t->history_only && r->owner != 0) && flags_valid(r) &&
         (!t->ref || ref_valid(r->ref, r->owner)) &&
         (!t->price || price_valid(r->price, book->rules.tick_size)) && (!t->qty || r->qty > 0) &&
         (t->last_arg == NO_ARG || (r->arg >= 0 && r->arg <= t->last_arg));
}

/* -------------------------------------------------------------------------------------------------
 * trades */

static void tell(const wb_reference *book, const wb_queued *maker, int32_t qty) {
  const wb_record *r = book->record;
  bool execute = r->type == WB_RECORD_EXECUTE;
  wb_trade trade = {
      .time_ns = r->time_ns,
      .record = book->index,
      .maker = maker->ref,
      .taker = execute ? -1 : r->ref,
      .price = maker->price,
      .qty = qty,
      .maker_owner =
          (uint16_t)(maker->owner | (maker->side == WB_SIDE_ASK ? WB_TRADE_MAKER_ASK : 0)),
      .taker_owner = (uint16_t)(r->owner | ((r->flags & WB_FLAG_EDGE) != 0 ? WB_TRADE_EDGE : 0)),
  };
  book->on_trade(book->context, &trade);
}

/* fills `qty` shares of a resting order, at its own price */
static void trade(wb_reference *book, int32_t order, int32_t qty) {
  wb_queued maker = book->resting.orders[order];
  wb_resting_take(&book->resting, order, qty);

  bool saturated = false;
  int64_t price = wb_add_sat_i64(book->rules.base, maker.price, &saturated);
  int64_t notional = wb_mul_sat_i64(price, qty, &saturated);
  int64_t *sum = &book->counters[WB_COUNT_NOTIONAL];
  *sum = wb_add_sat_i64(*sum, notional, &saturated);
  if (saturated) {
    count(book, WB_COUNT_SATURATED);
  }
  add(book, WB_COUNT_TRADES, 1);
  add(book, WB_COUNT_VOLUME, qty);
  if (book->on_trade != NULL) {
    tell(book, &maker, qty);
  }
}

static int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

/* -------------------------------------------------------------------------------------------------
 * matching */

typedef struct taker {
  wb_side side;
  int32_t limit;
  int32_t qty; /* what is left */
  int16_t owner;
  bool cancelled; /* by self-trade prevention: what is left never rests */
} taker;

static taker taker_of(const wb_record *r) {
  return (taker){.side = (r->flags & WB_FLAG_SIDE) != 0 ? WB_SIDE_ASK : WB_SIDE_BID,
                 .limit = r->price,
                 .qty = r->qty,
                 .owner = r->owner};
}

/* the other side has an order that one at `price` would lock or cross */
static bool would_take(const wb_reference *book, wb_side side, int32_t price) {
  int32_t best = wb_resting_best(&book->resting, wb_opposite(side));
  return best != WB_NO_ORDER && wb_crosses(side, price, book->resting.orders[best].price);
}

static bool self_trade(const wb_reference *book, int32_t owner, const wb_queued *maker) {
  return owner != 0 && maker->owner == owner && book->rules.self_trade != WB_SELF_TRADE_OFF;
}

/* what happens instead of a trade between a taker and its own resting order */
static void prevent_self_trade(wb_reference *book, taker *t, int32_t order) {
  count(book, WB_COUNT_SELF_TRADE);
  switch (book->rules.self_trade) {
  case WB_SELF_TRADE_OFF: break;
  case WB_SELF_TRADE_CANCEL_INCOMING: t->cancelled = true; break;
  case WB_SELF_TRADE_CANCEL_RESTING: wb_resting_remove(&book->resting, order); break;
  case WB_SELF_TRADE_CANCEL_BOTH:
    wb_resting_remove(&book->resting, order);
    t->cancelled = true;
    break;
  case WB_SELF_TRADE_DECREMENT_BOTH: {
    int32_t qty = smaller(t->qty, book->resting.orders[order].qty);
    wb_resting_take(&book->resting, order, qty);
    t->qty -= qty;
    break;
  }
  }
}

static void match(wb_reference *book, taker *t) {
  while (t->qty > 0 && !t->cancelled && would_take(book, t->side, t->limit)) {
    int32_t order = wb_resting_best(&book->resting, wb_opposite(t->side));
    const wb_queued *maker = &book->resting.orders[order];
    if (self_trade(book, t->owner, maker)) {
      prevent_self_trade(book, t, order);
    } else {
      int32_t qty = smaller(t->qty, maker->qty);
      trade(book, order, qty);
      t->qty -= qty;
    }
  }
}

/* -------------------------------------------------------------------------------------------------
 * coming to rest */

/* makes a place on a full side, or counts that there is none */
static bool make_place(wb_reference *book, wb_side side, int32_t price) {
  int32_t worst = wb_resting_worst(&book->resting, side);
  if (book->rules.capacity_rule == WB_CAPACITY_EVICT && worst != WB_NO_ORDER &&
      wb_better(side, price, book->resting.orders[worst].price)) {
    wb_resting_remove(&book->resting, worst);
    count(book, WB_COUNT_EVICTED);
    return true;
  }
  count(book, WB_COUNT_BOOK_FULL);
  return false;
}

static void rest(wb_reference *book, const taker *t) {
  int32_t capacity = book->rules.capacity;
  if (capacity > 0 && book->resting.sides[t->side].orders >= capacity &&
      !make_place(book, t->side, t->limit)) {
    return;
  }
  wb_order order = {.ref = book->record->ref,
                    .price = t->limit,
                    .qty = t->qty,
                    .arrival = book->next_arrival,
                    .owner = t->owner,
                    .side = (uint8_t)t->side};
  book->next_arrival += 1;
  wb_resting_add(&book->resting, &order);
  if (would_take(book, t->side, t->limit)) {
    count(book, WB_COUNT_CROSSED);
  }
}

static void match_and_rest(wb_reference *book, taker *t) {
  match(book, t);
  if (t->qty > 0 && !t->cancelled) {
    rest(book, t);
  }
}

/* -------------------------------------------------------------------------------------------------
 * ADD, MARKET */

/* what a FOK could get, counted no further than what it wants */
static int64_t obtainable(const wb_reference *book, const taker *t) {
  const wb_resting *resting = &book->resting;
  int64_t got = 0;
  int32_t order = wb_resting_best(resting, wb_opposite(t->side));
  for (; order != WB_NO_ORDER && got < t->qty; order = wb_resting_next(resting, order)) {
    const wb_queued *maker = &resting->orders[order];
    if (!wb_crosses(t->side, t->limit, maker->price)) {
      break;
    }
    if (!self_trade(book, t->owner, maker)) {
      got += maker->qty;
    } else if (book->rules.self_trade != WB_SELF_TRADE_CANCEL_RESTING) {
      break;
    }
  }
  return got;
}

/* one tick from the other side's best; false if no order may have that price */
static bool slide(const wb_reference *book, taker *t) {
  int32_t best = wb_resting_best(&book->resting, wb_opposite(t->side));
  int64_t tick = t->side == WB_SIDE_BID ? -(int64_t)book->rules.tick_size : book->rules.tick_size;
  int64_t price = book->resting.orders[best].price + tick;
  if (price < -WB_PRICE_LIMIT || price > WB_PRICE_LIMIT) {
    return false;
  }
  t->limit = (int32_t)price;
  return true;
}

static void add_post_only(wb_reference *book, taker *t, bool slides) {
  if (would_take(book, t->side, t->limit) && !(slides && slide(book, t))) {
    count(book, WB_COUNT_REJECTED);
    return;
  }
  rest(book, t);
}

static void apply_add(wb_reference *book, const wb_record *r) {
  if (wb_resting_find(&book->resting, r->ref) != WB_NO_ORDER) {
    count(book, WB_COUNT_DUPLICATE_REF);
    return;
  }
  taker t = taker_of(r);
  bool at_once = (r->flags & (WB_FLAG_IOC | WB_FLAG_FOK)) != 0;
  bool trading = book->state == WB_STATE_TRADING;
  bool too_few = trading && (r->flags & WB_FLAG_FOK) != 0 && would_take(book, t.side, t.limit) &&
                 obtainable(book, &t) < t.qty;
  if ((at_once && !trading) || too_few) {
    count(book, WB_COUNT_REJECTED);
  } else if (at_once) {
    match(book, &t);
  } else if (!trading || (r->flags & WB_FLAG_NO_MATCH) != 0) {
    rest(book, &t);
  } else if ((r->flags & WB_FLAG_POST_ONLY) != 0) {
    add_post_only(book, &t, (r->flags & WB_FLAG_SLIDE) != 0);
  } else {
    match_and_rest(book, &t);
  }
}

static void apply_market(wb_reference *book, const wb_record *r) {
  if (book->state != WB_STATE_TRADING) {
    count(book, WB_COUNT_REJECTED);
    return;
  }
  taker t = taker_of(r);
  t.limit = t.side == WB_SIDE_BID ? INT32_MAX : INT32_MIN;
  match(book, &t);
}

/* -------------------------------------------------------------------------------------------------
 * REDUCE, DELETE, AMEND */

/* the order that a record names, or WB_NO_ORDER, counted */
static int32_t named_order(wb_reference *book, const wb_record *r) {
  int32_t order = wb_resting_find(&book->resting, r->ref);
  if (order != WB_NO_ORDER) {
    const wb_queued *o = &book->resting.orders[order];
    if (o->owner == r->owner && o->side == (wb_side)(r->flags & WB_FLAG_SIDE)) {
      return order;
    }
  }
  count(book, r->owner == 0 ? WB_COUNT_ORPHAN : WB_COUNT_UNKNOWN_REF);
  return WB_NO_ORDER;
}

static void apply_reduce(wb_reference *book, const wb_record *r) {
  int32_t order = named_order(book, r);
  if (order != WB_NO_ORDER) {
    wb_resting_take(&book->resting, order, smaller(r->qty, book->resting.orders[order].qty));
  }
}

static void apply_delete(wb_reference *book, const wb_record *r) {
  int32_t order = named_order(book, r);
  if (order != WB_NO_ORDER) {
    wb_resting_remove(&book->resting, order);
  }
}

static void apply_amend(wb_reference *book, const wb_record *r) {
  int32_t order = named_order(book, r);
  if (order == WB_NO_ORDER) {
    return;
  }
  const wb_queued *o = &book->resting.orders[order];
  if (r->price == o->price && r->qty <= o->qty) {
    wb_resting_take(&book->resting, order, o->qty - r->qty);
    return;
  }
  taker t = taker_of(r);
  bool trading = book->state == WB_STATE_TRADING;
  if (trading && (r->flags & WB_FLAG_POST_ONLY) != 0 && would_take(book, t.side, t.limit)) {
    count(book, WB_COUNT_REJECTED);
    return;
  }
  wb_resting_remove(&book->resting, order);
  if (trading) {
    match_and_rest(book, &t);
  } else {
    rest(book, &t);
  }
}

/* -------------------------------------------------------------------------------------------------
 * EXECUTE */

typedef struct execution {
  wb_side side;
  int32_t price;  /* P */
  int32_t x;      /* X's index, or WB_NO_ORDER */
  int32_t left;   /* shares that nobody has given yet */
  int32_t agents; /* shares that agents with priority over X gave */
} execution;

/* `o` has priority over X; without X, it is at P or better */
static bool before_x(const wb_reference *book, const execution *e, const wb_queued *o) {
  if (o->price != e->price) {
    return wb_better(e->side, o->price, e->price);
  }
  return e->x == WB_NO_ORDER || o->arrival < book->resting.orders[e->x].arrival;
}

static void execute_agents(wb_reference *book, execution *e) {
  wb_resting *resting = &book->resting;
  if (resting->sides[e->side].agent_orders == 0) {
    return;
  }
  int32_t order = wb_resting_best(resting, e->side);
  while (order != WB_NO_ORDER && e->left > 0 && before_x(book, e, &resting->orders[order])) {
    int32_t next = wb_resting_next(resting, order);
    if (resting->orders[order].owner != 0) {
      int32_t qty = smaller(e->left, resting->orders[order].qty);
      trade(book, order, qty);
      e->left -= qty;
      e->agents += qty;
    }
    order = next;
  }
}

static void execute_named(wb_reference *book, execution *e) {
  if (e->x == WB_NO_ORDER) {
    return;
  }
  int32_t had = book->resting.orders[e->x].qty;
  int32_t filled = smaller(had, e->left);
  /* history believes that these shares of X are gone */
  int32_t displaced = smaller(e->agents, had - filled);
  e->left -= filled;
  if (filled > 0) {
    trade(book, e->x, filled);
  }
  if (book->rules.displaced == WB_DISPLACED_KEEP) {
    add(book, WB_COUNT_STRANDED_SHARES, displaced);
  } else if (displaced > 0) {
    wb_resting_take(&book->resting, e->x, displaced);
    add(book, WB_COUNT_WITHDRAWN_SHARES, displaced);
  }
}

static void execute_others(wb_reference *book, execution *e) {
  while (e->left > 0 && would_take(book, wb_opposite(e->side), e->price)) {
    int32_t order = wb_resting_best(&book->resting, e->side);
    int32_t qty = smaller(e->left, book->resting.orders[order].qty);
    trade(book, order, qty);
    e->left -= qty;
  }
}

static void apply_execute(wb_reference *book, const wb_record *r) {
  execution e = {.side = taker_of(r).side, .price = r->price, .left = r->qty};
  e.x = wb_resting_find(&book->resting, r->ref);
  if (e.x != WB_NO_ORDER && book->resting.orders[e.x].side != e.side) {
    e.x = WB_NO_ORDER;
  }
  bool there = e.x != WB_NO_ORDER;
  if (there) {
    e.price = book->resting.orders[e.x].price;
    add(book, WB_COUNT_NOT_AT_HEAD, e.x != wb_resting_best(&book->resting, e.side));
  }
  wb_execute_policy policy = book->rules.execute_policy;
  if (policy == WB_EXECUTE_AGENTS_FIRST) {
    execute_agents(book, &e);
  }
  if (policy != WB_EXECUTE_AGGRESSIVE) {
    execute_named(book, &e);
  }
  execute_others(book, &e);
  add(book, WB_COUNT_ORPHANED_SHARES, e.left);
  if (!there || e.left > 0) {
    count(book, WB_COUNT_ORPHAN);
  }
}

/* -------------------------------------------------------------------------------------------------
 * NOTE, and the order of events */

static void apply_note(wb_reference *book, const wb_record *r) {
  static const wb_counter volumes[] = {[WB_NOTE_HIDDEN] = WB_COUNT_HIDDEN_VOLUME,
                                       [WB_NOTE_AUCTION] = WB_COUNT_AUCTION_VOLUME,
                                       [WB_NOTE_UNRESOLVED] = WB_COUNT_UNRESOLVED_VOLUME};
  add(book, volumes[r->arg], r->qty);
}

static void apply_valid(wb_reference *book, const wb_record *r) {
  add(book, (wb_counter)(WB_COUNT_TYPE_ADD + r->type - 1), 1);
  add(book, WB_COUNT_EDGE_RECORDS, (r->flags & WB_FLAG_EDGE) != 0);
  switch ((wb_record_type)r->type) {
  case WB_RECORD_ADD: apply_add(book, r); break;
  case WB_RECORD_MARKET: apply_market(book, r); break;
  case WB_RECORD_REDUCE: apply_reduce(book, r); break;
  case WB_RECORD_DELETE: apply_delete(book, r); break;
  case WB_RECORD_AMEND: apply_amend(book, r); break;
  case WB_RECORD_EXECUTE: apply_execute(book, r); break;
  case WB_RECORD_NOTE: apply_note(book, r); break;
  case WB_RECORD_STATE: book->state = (wb_trading_state)r->arg; break;
  }
}

static int compare_arrivals(const void *a, const void *b) {
  int32_t x = (*(wb_queued *const *)a)->arrival;
  int32_t y = (*(wb_queued *const *)b)->arrival;
  return (x > y) - (x < y);
}

/* gives the resting orders of both sides the arrivals 1..n, in the order of their present ones */
static wb_status renumber(wb_reference *book, wb_error *error) {
  wb_resting *resting = &book->resting;
  size_t n = (size_t)resting->sides[0].orders + (size_t)resting->sides[1].orders;
  wb_queued **orders = malloc((n + 1) * sizeof(wb_queued *));
  if (orders == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "reference book: renumbering %zu orders: no memory", n);
  }
  size_t found = 0;
  for (wb_side side = WB_SIDE_BID; side <= WB_SIDE_ASK; ++side) {
    int32_t order = wb_resting_best(resting, side);
    for (; order != WB_NO_ORDER; order = wb_resting_next(resting, order)) {
      orders[found++] = &resting->orders[order];
    }
  }
  qsort(orders, n, sizeof(wb_queued *), compare_arrivals);
  for (size_t i = 0; i < n; ++i) {
    orders[i]->arrival = (int32_t)(i + 1);
  }
  book->next_arrival = (int32_t)(n + 1);
  free(orders);
  return WB_OK;
}

wb_status wb_reference_apply(wb_reference *book, const wb_record *record, int32_t index,
                             wb_error *error) {
  if (!wb_resting_reserve(&book->resting, 1)) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "reference book: record %d: no memory for another order",
                   index);
  }
  if (book->next_arrival == WB_ARRIVAL_RENUMBER) {
    WB_TRY(renumber(book, error));
  }
  if (!record_valid(book, record)) {
    count(book, WB_COUNT_BAD_RECORD);
    return WB_OK;
  }
  book->record = record;
  book->index = index;
  apply_valid(book, record);
  return WB_OK;
}

/* -------------------------------------------------------------------------------------------------
 * from birth to the first record */

wb_status wb_reference_create(const wb_book_rules *rules, wb_reference **book, wb_error *error) {
  WB_TRY(wb_book_rules_check(rules, error));
  wb_reference *made = calloc(1, sizeof *made);
  if (made != NULL) {
    wb_resting_start(&made->resting);
  }
  if (made == NULL || !wb_resting_reserve(&made->resting, 1)) {
    wb_reference_free(made);
    return WB_FAIL(error, WB_ERROR_MEMORY, "reference book: no memory for an empty book");
  }
  made->rules = *rules;
  made->next_arrival = 1;
  *book = made;
  return WB_OK;
}

void wb_reference_free(wb_reference *book) {
  if (book != NULL) {
    wb_resting_free(&book->resting);
    free(book);
  }
}

void wb_reference_on_trade(wb_reference *book, wb_trade_function *function, void *context) {
  book->on_trade = function;
  book->context = context;
}

static void start_empty(wb_reference *book) {
  wb_resting_clear(&book->resting);
  memset(book->counters, 0, sizeof book->counters);
  book->status = 0;
  book->state = WB_STATE_TRADING;
  book->next_arrival = 1;
}

static wb_status seed_check(const wb_reference *book, const wb_order *o, wb_error *error) {
  if (o->side > WB_SIDE_ASK || o->owner < 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "seed order %d: expected side 0 or 1 and an owner of 0 or more, got %d and %d",
                   o->ref, o->side, o->owner);
  }
  if (!ref_valid(o->ref, o->owner)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "seed order %d: ref: expected %s for owner %d, got %d",
                   o->ref, o->owner == 0 ? "0 to 2^30-1" : "2^30 or more", o->owner, o->ref);
  }
  if (!price_valid(o->price, book->rules.tick_size)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "seed order %d: price: expected a multiple of %d from -2^30 to 2^30, got %d",
                   o->ref, book->rules.tick_size, o->price);
  }
  if (o->qty <= 0 || o->arrival < 1 || o->arrival >= WB_ARRIVAL_RENUMBER) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "seed order %d: expected a positive quantity and an arrival from 1 to 2^31-2, "
                   "got %d and %d",
                   o->ref, o->qty, o->arrival);
  }
  return WB_OK;
}

static wb_status seed_add(wb_reference *book, const wb_order *o, wb_error *error) {
  int32_t capacity = book->rules.capacity;
  WB_TRY(seed_check(book, o, error));
  if (wb_resting_find(&book->resting, o->ref) != WB_NO_ORDER) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "seed order %d: the reference is given twice", o->ref);
  }
  if (o->arrival < book->next_arrival) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "seed order %d: arrival %d is given twice", o->ref,
                   o->arrival);
  }
  if (capacity > 0 && book->resting.sides[o->side].orders >= capacity) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "seed order %d: expected at most %d orders a side",
                   o->ref, capacity);
  }
  wb_resting_add(&book->resting, o);
  book->next_arrival = o->arrival + 1;
  return WB_OK;
}

static int compare_seeds(const void *a, const void *b) {
  int32_t x = ((const wb_order *)a)->arrival;
  int32_t y = ((const wb_order *)b)->arrival;
  return (x > y) - (x < y);
}

wb_status wb_reference_load(wb_reference *book, const wb_order *orders, int64_t order_count,
                            wb_error *error) {
  start_empty(book);
  if (order_count < 0 || order_count >= WB_ARRIVAL_RENUMBER) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "seed book: expected 0 to 2^31-2 orders, got %lld",
                   (long long)order_count);
  }
  size_t n = (size_t)order_count;
  wb_order *sorted = malloc((n + 1) * sizeof *sorted);
  if (sorted == NULL || !wb_resting_reserve(&book->resting, (int32_t)n)) {
    free(sorted);
    return WB_FAIL(error, WB_ERROR_MEMORY, "seed book: no memory for %zu orders", n);
  }
  /* queues take their orders oldest first */
  if (n > 0) {
    memcpy(sorted, orders, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_seeds);
  }
  wb_status status = WB_OK;
  for (size_t i = 0; i < n && status == WB_OK; ++i) {
    status = seed_add(book, &sorted[i], error);
  }
  if (status != WB_OK) {
    start_empty(book);
  }
  free(sorted);
  return status;
}

wb_status wb_reference_set_next_arrival(wb_reference *book, int32_t next, wb_error *error) {
  int32_t newest = 0;
  for (wb_side side = WB_SIDE_BID; side <= WB_SIDE_ASK; ++side) {
    int32_t order = wb_resting_best(&book->resting, side);
    for (; order != WB_NO_ORDER; order = wb_resting_next(&book->resting, order)) {
      int32_t arrival = book->resting.orders[order].arrival;
      newest = arrival > newest ? arrival : newest;
    }
  }
  if (next <= newest) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "reference book: next arrival: expected more than %d, which rests, got %d",
                   newest, next);
  }
  book->next_arrival = next;
  return WB_OK;
}

/* The words of book.h, and the invariants of the reference book. */
#include "book.h"

#include "sim/reference_book.h"
#include "sim/reference_state.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static void keep_trade(void *context, const wb_trade *trade) {
  book *b = context;
  cr_assert_lt(b->trade_count, TRADES_KEPT);
  b->trades[b->trade_count++] = *trade;
}

book book_with(wb_book_rules rules) {
  book b = {0};
  wb_error error;
  cr_assert_eq(wb_reference_create(&rules, &b.engine, &error), WB_OK, "%s", error.text);
  return b;
}

book empty_book(void) { return book_with(wb_book_rules_default()); }

void done(book *b) {
  wb_reference_free(b->engine);
  b->engine = NULL;
}

book *send(book *b, wb_record record) {
  wb_error error;
  b->trade_count = 0;
  wb_reference_on_trade(b->engine, keep_trade, b);
  cr_assert_eq(wb_reference_apply(b->engine, &record, b->index, &error), WB_OK, "%s", error.text);
  check_invariants(b->engine);
  b->index += 1;
  return b;
}

static int16_t owner_of(int32_t ref) {
  return (int16_t)(ref < WB_REF_AGENT_FIRST ? 0 : (ref - WB_REF_AGENT_FIRST) / SLOTS);
}

static wb_record record_of(wb_record_type type, wb_side side, int32_t ref, int32_t qty,
                           int32_t price) {
  return (wb_record){.ref = ref,
                     .price = price,
                     .qty = qty,
                     .row = -1,
                     .owner = owner_of(ref),
                     .type = (uint8_t)type,
                     .flags = side == WB_SIDE_ASK ? WB_FLAG_SIDE : 0};
}

book *add(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price, int flags) {
  wb_record r = record_of(WB_RECORD_ADD, side, ref, qty, price);
  r.flags = (uint8_t)(r.flags | flags);
  return send(b, r);
}

book *bid(book *b, int32_t ref, int32_t qty, int32_t price) {
  return add(b, WB_SIDE_BID, ref, qty, price, 0);
}

book *ask(book *b, int32_t ref, int32_t qty, int32_t price) {
  return add(b, WB_SIDE_ASK, ref, qty, price, 0);
}

book *buy(book *b, int32_t ref, int32_t qty, int32_t price) { return bid(b, ref, qty, price); }

book *sell(book *b, int32_t ref, int32_t qty, int32_t price) { return ask(b, ref, qty, price); }

book *market(book *b, wb_side side, int32_t ref, int32_t qty) {
  return send(b, record_of(WB_RECORD_MARKET, side, ref, qty, 0));
}

book *reduce(book *b, wb_side side, int32_t ref, int32_t qty) {
  return send(b, record_of(WB_RECORD_REDUCE, side, ref, qty, 0));
}

book *cancel(book *b, wb_side side, int32_t ref) {
  return send(b, record_of(WB_RECORD_DELETE, side, ref, 0, 0));
}

book *amend(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price) {
  return send(b, record_of(WB_RECORD_AMEND, side, ref, qty, price));
}

book *amend_post_only(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price) {
  wb_record r = record_of(WB_RECORD_AMEND, side, ref, qty, price);
  r.flags |= WB_FLAG_POST_ONLY;
  return send(b, r);
}

book *execute(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price) {
  return send(b, record_of(WB_RECORD_EXECUTE, side, ref, qty, price));
}

book *note(book *b, wb_note kind, int32_t qty) {
  return send(b, (wb_record){.qty = qty, .arg = (int32_t)kind, .type = WB_RECORD_NOTE});
}

book *state(book *b, wb_trading_state new_state) {
  return send(b, (wb_record){.arg = (int32_t)new_state, .type = WB_RECORD_STATE});
}

/* -------------------------------------------------------------------------------------------------
 * expectations */

void check_trades(const book *b, const fill *want, int32_t count, int line) {
  cr_assert_eq(b->trade_count, count, "line %d: %d trades, expected %d", line, b->trade_count,
               count);
  for (int32_t i = 0; i < count; ++i) {
    const wb_trade *t = &b->trades[i];
    cr_assert(t->maker == want[i].maker && t->qty == want[i].qty &&
                  (want[i].price == 0 || t->price == want[i].price),
              "line %d: trade %d: %d of %d at %d, expected %d of %d at %d", line, i, t->qty,
              t->maker, t->price, want[i].qty, want[i].maker, want[i].price);
  }
}

void check_queue(const book *b, wb_side side, const place *want, int32_t count, int line) {
  static wb_order orders[TRADES_KEPT];
  int64_t n = wb_reference_orders(b->engine, side, orders, TRADES_KEPT);
  cr_assert_eq(n, count, "line %d: %d orders, expected %d", line, (int)n, count);
  for (int32_t i = 0; i < count; ++i) {
    cr_assert(orders[i].ref == want[i].ref && orders[i].qty == want[i].qty,
              "line %d: order %d: %d of %d, expected %d of %d", line, i, orders[i].qty,
              orders[i].ref, want[i].qty, want[i].ref);
  }
}

static bool is_event(int which) {
  return which < WB_STATUS_BIT_COUNT || which == WB_COUNT_EDGE_RECORDS ||
         which >= WB_COUNT_HIDDEN_VOLUME;
}

void check_counts(const book *b, const counted *want, size_t count, int line) {
  int64_t expected[WB_COUNTERS] = {0};
  for (size_t i = 0; i < count; ++i) {
    expected[want[i].counter] = want[i].amount;
  }
  for (int i = 0; i < WB_COUNTERS; ++i) {
    if (is_event(i)) {
      cr_assert_eq(wb_reference_counters(b->engine)[i], expected[i],
                   "line %d: counter %d: %lld, expected %lld", line, i,
                   (long long)wb_reference_counters(b->engine)[i], (long long)expected[i]);
    }
  }
}

void check_best(const book *b, wb_side side, int32_t price, int64_t qty, int line) {
  wb_level level = {0};
  cr_assert_eq(wb_reference_levels(b->engine, side, &level, 1), 1, "line %d: empty side", line);
  cr_assert(level.price == price && level.qty == qty, "line %d: best %d at %d, expected %d at %d",
            line, (int)level.qty, level.price, (int)qty, price);
}

/* -------------------------------------------------------------------------------------------------
 * invariants */

typedef struct totals {
  int32_t orders, agents;
} totals;

static void check_order(const wb_reference *engine, const wb_queue *level, wb_side side, int32_t at,
                        int32_t older) {
  const wb_queued *o = &engine->resting.orders[at];
  cr_assert_eq(o->price, level->price);
  cr_assert_eq(o->side, side);
  cr_assert_gt(o->qty, 0);
  cr_assert_eq(o->price % engine->rules.tick_size, 0);
  cr_assert_eq(o->owner == 0, o->ref < WB_REF_AGENT_FIRST);
  cr_assert(o->ref >= 0 && o->owner >= 0);
  cr_assert(o->arrival >= 1 && o->arrival < engine->next_arrival);
  cr_assert_eq(o->older, older);
  cr_assert(older == WB_NO_ORDER || engine->resting.orders[older].arrival < o->arrival);
  cr_assert_eq(wb_resting_find(&engine->resting, o->ref), at);
}

static totals check_level(const wb_reference *engine, const wb_queue *level, wb_side side) {
  totals t = {0};
  int64_t qty = 0;
  int32_t older = WB_NO_ORDER;
  for (int32_t i = level->oldest; i != WB_NO_ORDER; i = engine->resting.orders[i].newer) {
    check_order(engine, level, side, i, older);
    qty += engine->resting.orders[i].qty;
    t.orders += 1;
    t.agents += engine->resting.orders[i].owner != 0;
    older = i;
  }
  cr_assert_eq(level->newest, older);
  cr_assert_eq(level->qty, qty);
  cr_assert_eq(level->orders, t.orders);
  cr_assert_gt(t.orders, 0);
  return t;
}

static int compare_numbers(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a;
  int32_t y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* no two orders of the book have the same arrival */
static void check_arrivals(const wb_reference *engine, int32_t orders) {
  int32_t *arrivals = malloc(((size_t)orders + 1) * sizeof *arrivals);
  int32_t n = 0;
  cr_assert_not_null(arrivals);
  for (int s = 0; s < 2; ++s) {
    int32_t i = wb_resting_best(&engine->resting, (wb_side)s);
    for (; i != WB_NO_ORDER; i = wb_resting_next(&engine->resting, i)) {
      arrivals[n++] = engine->resting.orders[i].arrival;
    }
  }
  cr_assert_eq(n, orders);
  qsort(arrivals, (size_t)n, sizeof *arrivals, compare_numbers);
  for (int32_t i = 1; i < n; ++i) {
    cr_assert_lt(arrivals[i - 1], arrivals[i]);
  }
  free(arrivals);
}

static void check_pool_and_map(const wb_resting *resting, int32_t orders) {
  int32_t free_places = 0;
  for (int32_t i = resting->free; i != WB_NO_ORDER; i = resting->orders[i].newer) {
    free_places += 1;
  }
  cr_assert_eq(free_places + orders, resting->order_room);
  int32_t mapped = 0;
  for (size_t i = 0; i <= resting->place_mask; ++i) {
    mapped += resting->places[i].ref >= 0;
  }
  cr_assert_eq(mapped, orders);
}

void check_invariants(const wb_reference *engine) {
  int32_t orders = 0;
  for (int s = 0; s < 2; ++s) {
    const wb_queue_side *side = &engine->resting.sides[s];
    totals t = {0};
    for (size_t i = 0; i < side->count; ++i) {
      cr_assert(i == 0 || wb_better((wb_side)s, side->levels[i].price, side->levels[i - 1].price));
      totals level = check_level(engine, &side->levels[i], (wb_side)s);
      t.orders += level.orders;
      t.agents += level.agents;
    }
    cr_assert_eq(side->orders, t.orders);
    cr_assert_eq(side->agent_orders, t.agents);
    cr_assert(engine->rules.capacity == 0 || t.orders <= engine->rules.capacity);
    orders += t.orders;
  }
  check_arrivals(engine, orders);
  check_pool_and_map(&engine->resting, orders);
  for (int bit = 0; bit < WB_STATUS_BIT_COUNT; ++bit) {
    cr_assert_eq((engine->status & WB_STATUS_BIT(bit)) != 0, engine->counters[bit] > 0);
  }
  cr_assert_eq(engine->counters[WB_COUNT_TRADES_LOST], 0);
}

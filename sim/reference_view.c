/* Reading a reference book: levels, orders, counters, hashes. Nothing here changes it. */
#include "base/hash.h"
#include "sim/reference.h"
#include "sim/reference_book.h"
#include "sim/reference_state.h"

int32_t wb_reference_levels(const wb_reference *book, wb_side side, wb_level *levels,
                            int32_t most) {
  const wb_queue_side *s = &book->resting.sides[side];
  int32_t wrote = 0;
  for (; wrote < most && (size_t)wrote < s->count; ++wrote) {
    const wb_queue *from = &s->levels[s->count - 1 - (size_t)wrote];
    levels[wrote] = (wb_level){.qty = from->qty, .price = from->price, .orders = from->orders};
  }
  return wrote;
}

int64_t wb_reference_orders(const wb_reference *book, wb_side side, wb_order *orders,
                            int64_t most) {
  int64_t wrote = 0;
  int32_t at = wb_resting_best(&book->resting, side);
  for (; at != WB_NO_ORDER && wrote < most; at = wb_resting_next(&book->resting, at)) {
    const wb_queued *o = &book->resting.orders[at];
    orders[wrote++] = (wb_order){.ref = o->ref,
                                 .price = o->price,
                                 .qty = o->qty,
                                 .arrival = o->arrival,
                                 .owner = o->owner,
                                 .side = o->side};
  }
  return book->resting.sides[side].orders;
}

int64_t wb_reference_volume_at(const wb_reference *book, wb_side side, int32_t price) {
  const wb_queue *level = wb_resting_level(&book->resting, side, price);
  return level == NULL ? 0 : level->qty;
}

int64_t wb_reference_queue_ahead(const wb_reference *book, wb_side side, int32_t ref) {
  const wb_queued *orders = book->resting.orders;
  int32_t order = ref < 0 ? WB_NO_ORDER : wb_resting_find(&book->resting, ref);
  if (order == WB_NO_ORDER || orders[order].side != side) {
    return -1;
  }
  int64_t ahead = 0;
  for (int32_t at = orders[order].older; at != WB_NO_ORDER; at = orders[at].older) {
    ahead += orders[at].qty;
  }
  return ahead;
}

const int64_t *wb_reference_counters(const wb_reference *book) { return book->counters; }

uint32_t wb_reference_status(const wb_reference *book) { return book->status; }

wb_trading_state wb_reference_state(const wb_reference *book) { return book->state; }

int32_t wb_reference_next_arrival(const wb_reference *book) { return book->next_arrival; }

static uint64_t two(uint32_t high, uint32_t low) { return (uint64_t)high << 32 | low; }

static uint64_t order_hash(const wb_queued *o) {
  uint64_t h = wb_mix64(two(o->side, (uint32_t)o->price) + WB_HASH_GOLDEN);
  h = wb_mix64(h + two((uint32_t)o->qty, (uint32_t)o->ref));
  return wb_mix64(h + two((uint32_t)o->owner, (uint32_t)o->arrival));
}

uint64_t wb_reference_book_hash(const wb_reference *book) {
  uint64_t sum = 0;
  for (wb_side side = WB_SIDE_BID; side <= WB_SIDE_ASK; ++side) {
    int32_t at = wb_resting_best(&book->resting, side);
    for (; at != WB_NO_ORDER; at = wb_resting_next(&book->resting, at)) {
      sum += order_hash(&book->resting.orders[at]);
    }
  }
  return sum;
}

static uint64_t link(uint64_t v, int64_t w) { return wb_mix64(v + WB_HASH_GOLDEN + (uint64_t)w); }

uint64_t wb_reference_state_hash(const wb_reference *book) {
  uint64_t v = wb_reference_book_hash(book);
  v = link(v, book->next_arrival);
  v = link(v, book->state);
  for (int counter = 0; counter < WB_COUNTERS; ++counter) {
    if (counter != WB_COUNT_TRADES_LOST) {
      v = link(v, book->counters[counter]);
    }
  }
  return v;
}

/* Reading a slab back, and putting the first orders in. */
#include "kernels/slab.h"

#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

typedef struct resting {
  int64_t rank;
  int32_t slot;
} resting;

static int by_rank(const void *a, const void *b) {
  int64_t x = ((const resting *)a)->rank;
  int64_t y = ((const resting *)b)->rank;
  return (x > y) - (x < y);
}

/* The orders of one side, best first, into `list` of `slots` elements; returns how many rest. */
static int64_t sorted_side(const slab_view *v, wb_side side, resting *list) {
  int64_t count = 0;
  int32_t first = (int32_t)side * v->slots;
  for (int32_t slot = first; slot < first + v->slots; slot++) {
    if (v->rank[slot] != WB_RANK_NONE) list[count++] = (resting){v->rank[slot], slot};
  }
  qsort(list, (size_t)count, sizeof *list, by_rank);
  return count;
}

int64_t wb_slab_orders(const wb_book_layout *layout, const void *slab, wb_side side,
                       wb_order *orders, int64_t most) {
  _Static_assert(WB_BOOK_CAPACITY_MAX * sizeof(resting) <= 131072, "fits a stack");
  slab_view v = wb_slab_view(layout, slab);
  resting list[WB_BOOK_CAPACITY_MAX];
  int64_t count = sorted_side(&v, side, list);
  for (int64_t i = 0; i < count && i < most; i++) {
    int32_t slot = list[i].slot;
    orders[i] = (wb_order){.ref = v.ref[slot],
                           .price = slab_price(side, v.rank[slot]),
                           .qty = v.qty[slot],
                           .arrival = slab_arrival(v.rank[slot]),
                           .owner = v.owner[slot],
                           .side = (uint8_t)side};
  }
  return count;
}

int32_t wb_slab_levels(const wb_book_layout *layout, const void *slab, wb_side side,
                       wb_level *levels, int32_t most) {
  slab_view v = wb_slab_view(layout, slab);
  resting list[WB_BOOK_CAPACITY_MAX];
  int64_t count = sorted_side(&v, side, list);
  int32_t written = 0;
  for (int64_t i = 0; i < count; i++) {
    int32_t price = slab_price(side, list[i].rank);
    if (written == 0 || levels[written - 1].price != price) {
      if (written == most) break;
      levels[written++] = (wb_level){.price = price};
    }
    levels[written - 1].qty += v.qty[list[i].slot];
    levels[written - 1].orders++;
  }
  return written;
}

/* ---- loading ---- */

static wb_status check_order(const slab_view *v, const wb_order *o, int64_t index,
                             wb_error *error) {
  int32_t tick = v->state[WB_CELL_TICK];
  if (o->side > WB_SIDE_ASK) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book orders: order %lld: side: expected 0 or 1, got %d", (long long)index,
                   o->side);
  }
  if (o->qty < 1) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book orders: order %lld: qty: expected at least 1 share, got %d",
                   (long long)index, o->qty);
  }
  if (o->price < -WB_PRICE_LIMIT || o->price > WB_PRICE_LIMIT || o->price % tick != 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book orders: order %lld: price: expected a multiple of %d up to +-2^30, got %d",
                   (long long)index, tick, o->price);
  }
  if (o->owner < 0 || o->ref < 0 || (o->owner == 0) != (o->ref < WB_REF_AGENT_FIRST)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book orders: order %lld: expected a reference below 2^30 for owner 0 and from "
                   "2^30 for others, got reference %d of owner %d",
                   (long long)index, o->ref, o->owner);
  }
  if (o->arrival < 1 || o->arrival >= WB_ARRIVAL_RENUMBER) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book orders: order %lld: arrival: expected 1 to 2147483646, got %d",
                   (long long)index, o->arrival);
  }
  return WB_OK;
}

static bool is_taken(const slab_view *v, const wb_order *o) {
  for (int32_t row = 0; row < 2 * v->rows; row++) {
    if (v->used[row] == 0) continue;
    for (int32_t slot = row * WB_WIDTH; slot < (row + 1) * WB_WIDTH; slot++) {
      if (v->rank[slot] == WB_RANK_NONE) continue;
      if (v->ref[slot] == o->ref || slab_arrival(v->rank[slot]) == o->arrival) return true;
    }
  }
  return false;
}

/* The first free slot from the home row on, or -1. */
static int32_t free_slot(const slab_view *v, int32_t side, int32_t ref) {
  int32_t home = ref & (v->rows - 1);
  for (int32_t i = 0; i < v->rows; i++) {
    int32_t row = side * v->rows + ((home + i) & (v->rows - 1));
    uint32_t free = ~(uint32_t)v->used[row];
    if (free != 0) return row * WB_WIDTH + __builtin_ctz(free);
  }
  return -1;
}

static void put(const slab_view *v, const wb_order *o, int32_t slot) {
  int32_t side = o->side;
  int32_t row = slot / WB_WIDTH;
  int32_t home = side * v->rows + (o->ref & (v->rows - 1));
  int32_t summary = side * v->summary_rows + (row - side * v->rows);
  int64_t rank = slab_rank((wb_side)side, o->price, o->arrival);
  v->rank[slot] = rank;
  v->ref[slot] = o->ref;
  v->qty[slot] = o->qty;
  v->owner[slot] = o->owner;
  v->used[row] = (int32_t)((uint32_t)v->used[row] | 1u << (slot % WB_WIDTH));
  if (row != home) {
    v->spill[home]++;
    v->state[WB_CELL_SPILLED]++;
  }
  if (o->owner != 0) v->agents[side]++;
  if (rank < v->row_rank[summary]) {
    v->row_rank[summary] = rank;
    v->row_slot[summary] = slot;
  }
  if (rank < v->best_rank[side]) {
    v->best_rank[side] = rank;
    v->best_slot[side] = slot;
  }
  int32_t *next = &v->state[WB_CELL_NEXT_ARRIVAL];
  if (o->arrival >= *next) *next = o->arrival + 1;
}

wb_status wb_slab_load(const wb_book_layout *layout, void *slab, const wb_order *orders,
                       int64_t count, wb_error *error) {
  slab_view v = wb_slab_view(layout, slab);
  for (int64_t i = 0; i < count; i++) {
    WB_TRY(check_order(&v, &orders[i], i, error));
    if (is_taken(&v, &orders[i])) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT,
                     "book orders: order %lld: expected a reference and an arrival that no other "
                     "order has, got reference %d, arrival %d",
                     (long long)i, orders[i].ref, orders[i].arrival);
    }
    int32_t slot = free_slot(&v, orders[i].side, orders[i].ref);
    if (slot < 0) {
      return WB_FAIL(error, WB_ERROR_LIMIT,
                     "book orders: order %lld: expected at most %d orders a side (the capacity), "
                     "got more %ss",
                     (long long)i, v.slots, orders[i].side == WB_SIDE_ASK ? "ask" : "bid");
    }
    put(&v, &orders[i], slot);
  }
  return WB_OK;
}

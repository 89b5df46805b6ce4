/* The resting orders of the reference book: where they stand, not what happens to them.
 *
 * Each side is an array of price levels sorted from the worst to the best: what happens near the
 * best price moves little memory. A level is a list of its orders, oldest first. Orders live in
 * one pool and are named by their index in it; a hash map leads from a reference to that index.
 *
 * Keep: a level has at least one order, and its sums are those of its orders; an index is valid
 * until its order leaves; nothing but reserve allocates, so that an operation on a book that has
 * reserved room for one more order cannot fail half way. Private to sim. */
#ifndef WB_SIM_REFERENCE_BOOK_H
#define WB_SIM_REFERENCE_BOOK_H

#include "base/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WB_NO_ORDER = -1 };

typedef struct wb_queued {
  int32_t ref, price, qty, arrival;
  int32_t older, newer; /* neighbours at the same price, or WB_NO_ORDER; newer links free places */
  int16_t owner;
  uint8_t side;
} wb_queued;

typedef struct wb_queue {
  int64_t qty;
  int32_t price, orders;
  int32_t oldest, newest;
} wb_queue;

typedef struct wb_queue_side {
  wb_queue *levels; /* worst price first */
  size_t count, room;
  int32_t orders;
  int32_t agent_orders; /* of these, not history's */
} wb_queue_side;

typedef struct wb_ref_place {
  int32_t ref;   /* -1: free */
  int32_t order; /* index in the pool */
} wb_ref_place;

typedef struct wb_resting {
  wb_queue_side sides[2]; /* by wb_side */
  wb_queued *orders;
  int32_t order_room;
  int32_t free; /* first free place of the pool, or WB_NO_ORDER */
  wb_ref_place *places;
  size_t place_mask; /* places - 1, a power of two less one */
} wb_resting;

/* An order at `price` on `side` meets one of the other side at `other`: it locks or crosses it. */
static inline bool wb_crosses(wb_side side, int32_t price, int32_t other) {
  return side == WB_SIDE_BID ? price >= other : price <= other;
}

/* `price` has priority over `other` on `side`. */
static inline bool wb_better(wb_side side, int32_t price, int32_t other) {
  return side == WB_SIDE_BID ? price > other : price < other;
}

static inline wb_side wb_opposite(wb_side side) {
  return side == WB_SIDE_BID ? WB_SIDE_ASK : WB_SIDE_BID;
}

void wb_resting_start(wb_resting *resting); /* empty, without memory */

/* Room for `more` further orders; false if memory cannot be had, and then nothing has changed. */
bool wb_resting_reserve(wb_resting *resting, int32_t more);
void wb_resting_clear(wb_resting *resting); /* every order leaves */
void wb_resting_free(wb_resting *resting);

/* Index of the order with that reference, on whichever side, or WB_NO_ORDER. */
int32_t wb_resting_find(const wb_resting *resting, int32_t ref);

/* Order of best priority on a side, the next one on its side, the worst; or WB_NO_ORDER. */
int32_t wb_resting_best(const wb_resting *resting, wb_side side);
int32_t wb_resting_next(const wb_resting *resting, int32_t order);
int32_t wb_resting_worst(const wb_resting *resting, wb_side side);

/* The level at `price`, or NULL. */
const wb_queue *wb_resting_level(const wb_resting *resting, wb_side side, int32_t price);

/* Puts an order behind the others at its price. Its reference must be free and room reserved. */
void wb_resting_add(wb_resting *resting, const wb_order *order);

/* Takes `qty` shares off an order, at most all; at 0 it leaves. */
void wb_resting_take(wb_resting *resting, int32_t order, int32_t qty);
void wb_resting_remove(wb_resting *resting, int32_t order);

#endif

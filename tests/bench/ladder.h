/* A dense price ladder: the fastest book for one core that we know, as a yardstick.
 *
 * One FIFO list per price, orders found by their number, two words of bitmap away from the next best
 * price. Prices 0..65535, all memory had before. It does only what it must: no order is validated or
 * counted here. The file that includes it says what a trade does:
 *
 *   #define LADDER_TRADE(ladder, maker, taker, maker_side, price, qty) ...
 *
 * Orders are numbered from 1; 0 ends a list. */
#ifndef WB_TESTS_BENCH_LADDER_H
#define WB_TESTS_BENCH_LADDER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LADDER_PRICES = 1 << 16 };

typedef struct ladder_order {
  uint32_t newer, older; /* at the same price */
  int32_t qty;           /* 0: does not rest */
  int32_t price;
} ladder_order;

typedef struct ladder_queue {
  uint32_t oldest, newest;
} ladder_queue;

typedef struct ladder {
  ladder_order *orders;
  int32_t best[2];                         /* bid: -1 if there is none, ask: LADDER_PRICES */
  uint64_t levels[2][LADDER_PRICES / 64];  /* prices that have orders */
  uint64_t words[2][LADDER_PRICES / 4096]; /* words of `levels` that are not 0 */
  ladder_queue queues[2][LADDER_PRICES];
} ladder;

static ladder *ladder_new(int64_t orders) {
  ladder *l = aligned_alloc(64, (sizeof *l + 63) / 64 * 64);
  size_t bytes = ((size_t)orders * sizeof *l->orders + 63) / 64 * 64;
  if (l != NULL) l->orders = aligned_alloc(64, bytes);
  if (l == NULL || l->orders == NULL) abort();
  memset(l->orders, 0, bytes);
  return l;
}

static void ladder_clear(ladder *l, int64_t orders) {
  memset(l->orders, 0, (size_t)orders * sizeof *l->orders);
  memset(l->levels, 0, sizeof l->levels);
  memset(l->words, 0, sizeof l->words);
  memset(l->queues, 0, sizeof l->queues);
  l->best[0] = -1;
  l->best[1] = LADDER_PRICES;
}

static void ladder_free(ladder *l) {
  free(l->orders);
  free(l);
}

/* The highest price below `price` that has bids. */
static inline int32_t ladder_next_bid(const ladder *l, int32_t price) {
  int32_t word = price >> 6;
  uint64_t bits = l->levels[0][word] & ((UINT64_C(1) << (price & 63)) - 1);
  if (bits == 0) {
    int32_t top = word >> 6;
    uint64_t words = l->words[0][top] & ((UINT64_C(1) << (word & 63)) - 1);
    while (words == 0) {
      if (--top < 0) return -1;
      words = l->words[0][top];
    }
    word = top * 64 + 63 - __builtin_clzll(words);
    bits = l->levels[0][word];
  }
  return word * 64 + 63 - __builtin_clzll(bits);
}

/* The lowest price above `price` that has asks. */
static inline int32_t ladder_next_ask(const ladder *l, int32_t price) {
  int32_t word = price >> 6;
  uint64_t bits = l->levels[1][word] & (~UINT64_C(1) << (price & 63));
  if (bits == 0) {
    int32_t top = word >> 6;
    uint64_t words = l->words[1][top] & (~UINT64_C(1) << (word & 63));
    while (words == 0) {
      if (++top == LADDER_PRICES / 4096) return LADDER_PRICES;
      words = l->words[1][top];
    }
    word = top * 64 + __builtin_ctzll(words);
    bits = l->levels[1][word];
  }
  return word * 64 + __builtin_ctzll(bits);
}

/* The last order of a price has left. */
static inline void ladder_close_level(ladder *l, int side, int32_t price) {
  int32_t word = price >> 6;
  l->levels[side][word] ^= UINT64_C(1) << (price & 63);
  if (l->levels[side][word] == 0) l->words[side][word >> 6] ^= UINT64_C(1) << (word & 63);
  if (price == l->best[side]) {
    l->best[side] = side != 0 ? ladder_next_ask(l, price) : ladder_next_bid(l, price);
  }
}

static inline void ladder_open_level(ladder *l, int side, int32_t price) {
  l->levels[side][price >> 6] |= UINT64_C(1) << (price & 63);
  l->words[side][price >> 12] |= UINT64_C(1) << (price >> 6 & 63);
  if (side != 0 ? price < l->best[1] : price > l->best[0]) l->best[side] = price;
}

static inline bool ladder_rests(const ladder *l, uint32_t order) {
  return l->orders[order].qty != 0;
}

static inline void ladder_leave(ladder *l, int side, uint32_t order) {
  ladder_order *o = &l->orders[order];
  ladder_queue *queue = &l->queues[side][o->price];
  o->qty = 0;
  if (o->older != 0) {
    l->orders[o->older].newer = o->newer;
  } else {
    queue->oldest = o->newer;
  }
  if (o->newer != 0) {
    l->orders[o->newer].older = o->older;
  } else {
    queue->newest = o->older;
  }
  if (queue->oldest == 0) ladder_close_level(l, side, o->price);
}

static inline void ladder_rest(ladder *l, int side, uint32_t order, int32_t price, int32_t qty) {
  ladder_queue *queue = &l->queues[side][price];
  uint32_t last = queue->newest;
  l->orders[order] = (ladder_order){.older = last, .qty = qty, .price = price};
  queue->newest = order;
  if (last != 0) {
    l->orders[last].newer = order;
  } else {
    queue->oldest = order;
    ladder_open_level(l, side, price);
  }
}

static inline bool ladder_crosses(const ladder *l, int side, int32_t price) {
  return side != 0 ? l->best[0] >= price : l->best[1] <= price;
}

/* Fills orders of the best price of `side`, oldest first; returns what is left of `qty`. */
static inline int32_t ladder_take_level(ladder *l, int side, uint32_t taker, int32_t qty) {
  int32_t price = l->best[side];
  ladder_queue *queue = &l->queues[side][price];
  uint32_t order = queue->oldest;
  do {
    ladder_order *o = &l->orders[order];
    int32_t filled = o->qty < qty ? o->qty : qty;
    LADDER_TRADE(l, order, taker, side, price, filled);
    qty -= filled;
    o->qty -= filled;
    if (o->qty != 0) break;
    order = o->newer;
  } while (qty != 0 && order != 0);
  queue->oldest = order;
  if (order != 0) {
    l->orders[order].older = 0;
  } else {
    queue->newest = 0;
    ladder_close_level(l, side, price);
  }
  return qty;
}

static inline void ladder_add(ladder *l, int side, uint32_t order, int32_t price, int32_t qty) {
  while (ladder_crosses(l, side, price)) {
    qty = ladder_take_level(l, !side, order, qty);
    if (qty == 0) return;
  }
  ladder_rest(l, side, order, price, qty);
}

static inline void ladder_reduce(ladder *l, int side, uint32_t order, int32_t qty) {
  ladder_order *o = &l->orders[order];
  if (o->qty > qty) {
    o->qty -= qty;
  } else {
    ladder_leave(l, side, order);
  }
}

#endif

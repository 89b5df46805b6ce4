/* The LOBSTER reader's own order-level book: who rests where, named or not. Private to data/.
 *
 * A side is an array of occupied levels with the best at its end, so that changes near the touch move
 * little memory. Each level has two queues by arrival, of named and of anonymous orders. Prices are
 * keys: larger is better on both sides. Keep: references grow with arrival, so that the newer of two
 * orders is the one with the larger reference; no level is empty. */
#ifndef WB_DATA_LOBSTER_BOOK_H
#define WB_DATA_LOBSTER_BOOK_H

#include "../base/record.h"
#include "../base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WB_QUEUE_NONE = -1 };

typedef struct wb_queue_order {
  int64_t id; /* 0: anonymous */
  int32_t key, qty, ref;
  int32_t older, newer; /* in its level's queue; `newer` links the free ones */
  uint8_t side;
} wb_queue_order;

typedef struct wb_queue {
  int32_t oldest, newest;
} wb_queue;

typedef struct wb_queue_level {
  int64_t qty;
  int32_t key;
  wb_queue named, anonymous;
} wb_queue_level;

typedef struct wb_queue_side {
  wb_queue_level *levels; /* [count], the worst first */
  int32_t count, room;
  int64_t orders;
} wb_queue_side;

/* Every id that was ever named, and the order that has it now, or WB_QUEUE_NONE. */
typedef struct wb_queue_id {
  int64_t id; /* 0: free place */
  int32_t order;
} wb_queue_id;

typedef struct wb_queue_book {
  wb_queue_side side[2];
  wb_queue_order *orders;
  int32_t order_count, order_room, free_order;
  wb_queue_id *ids; /* open addressing; a power of two, at most half full */
  int32_t id_count, id_bits;
} wb_queue_book;

static inline int32_t wb_queue_key(wb_side side, int32_t price) {
  return side == WB_SIDE_ASK ? -price : price;
}

/* Room for about so many ids at first. WB_ERROR_MEMORY; wb_queue_book_free is due either way. */
wb_status wb_queue_book_start(wb_queue_book *book, int64_t ids, wb_error *error);
void wb_queue_book_free(wb_queue_book *book);

/* Index in levels of the first level at or better than `key`; count if there is none. */
int32_t wb_queue_find(const wb_queue_side *side, int32_t key);

/* The level at `key`, or NULL. */
static inline wb_queue_level *wb_queue_level_at(const wb_queue_side *side, int32_t key) {
  int32_t at = wb_queue_find(side, key);
  return at < side->count && side->levels[at].key == key ? &side->levels[at] : NULL;
}

/* Puts an order behind all others at its price; id 0 for an anonymous one. A name that another
 * resting order has passes to the new one. WB_ERROR_MEMORY. */
wb_status wb_queue_add(wb_queue_book *book, wb_side side, int32_t key, int32_t qty, int64_t id,
                       int32_t ref, wb_error *error);

/* Takes `qty` shares off the order `at`, at most all it has; at none left it is gone, and its level
 * if it was the last there. */
void wb_queue_take(wb_queue_book *book, int32_t at, int32_t qty);

/* The order that has the id, WB_QUEUE_NONE if none has it; *known tells whether one ever had. */
int32_t wb_queue_named(const wb_queue_book *book, int64_t id, bool *known);

#endif

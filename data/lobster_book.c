/* The LOBSTER reader's own order-level book.
 *
 * Few orders rest at once, but every id that was ever submitted stays in the table, so that a row that
 * names an old one can be told from a row that names an unknown one. Keep: an entry is never taken out;
 * links are indices, since the array of orders may move when it grows. */
#include "data/lobster_book.h"

#include "base/hash.h"
#include "data/large.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
  FIRST_ROOM = 64,
  LEAST_ID_BITS = 12, /* of the table at first */
  FIRST_ID_BITS = 22, /* the most at first, however many ids were announced */
  MOST_ID_BITS = 30,
  NEAR_LEVELS = 12 /* looked at one by one from the best, before the rest is halved */
};

void wb_queue_book_free(wb_queue_book *book) {
  free(book->side[WB_SIDE_BID].levels);
  free(book->side[WB_SIDE_ASK].levels);
  free(book->orders);
  free(book->ids);
  memset(book, 0, sizeof *book);
}

/* Doubles an array; `room` becomes the new number of elements. */
static wb_status grow(void **array, int32_t *room, size_t size, wb_error *error) {
  int64_t wanted = *room > 0 ? (int64_t)*room * 2 : FIRST_ROOM;
  void *larger = wanted <= INT32_MAX ? realloc(*array, (size_t)wanted * size) : NULL;
  if (larger == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for %" PRId64 " elements of a book", wanted);
  }
  *array = larger;
  *room = (int32_t)wanted;
  return WB_OK;
}

static wb_status grow_levels(wb_queue_side *side, wb_error *error) {
  void *levels = side->levels;
  WB_TRY(grow(&levels, &side->room, sizeof *side->levels, error));
  side->levels = levels;
  return WB_OK;
}

/* An empty table of 2^bits places; NULL if memory cannot be had. */
static wb_queue_id *new_ids(int32_t bits) {
  size_t bytes = ((size_t)1 << bits) * sizeof(wb_queue_id);
  wb_queue_id *ids = bits <= MOST_ID_BITS ? wb_large_alloc(bytes) : NULL;
  if (ids != NULL) {
    memset(ids, 0, bytes);
  }
  return ids;
}

wb_status wb_queue_book_start(wb_queue_book *book, int64_t ids, wb_error *error) {
  memset(book, 0, sizeof *book);
  book->free_order = WB_QUEUE_NONE;
  book->id_bits = LEAST_ID_BITS;
  while (book->id_bits < FIRST_ID_BITS && (INT64_C(1) << book->id_bits) < 2 * ids) {
    book->id_bits++;
  }
  book->ids = new_ids(book->id_bits);
  if (book->ids == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the ids of a book");
  }
  WB_TRY(grow_levels(&book->side[WB_SIDE_BID], error));
  return grow_levels(&book->side[WB_SIDE_ASK], error);
}

/* ---- ids ---- */

static size_t id_place(const wb_queue_book *book, int64_t id) {
  size_t mask = ((size_t)1 << book->id_bits) - 1;
  size_t place = (size_t)(((uint64_t)id * WB_HASH_GOLDEN) >> (64 - book->id_bits));
  while (book->ids[place].id != 0 && book->ids[place].id != id) {
    place = (place + 1) & mask;
  }
  return place;
}

static wb_status grow_ids(wb_queue_book *book, wb_error *error) {
  wb_queue_id *old = book->ids;
  size_t old_room = (size_t)1 << book->id_bits;
  wb_queue_id *larger = new_ids(book->id_bits + 1);
  if (larger == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for more than %d ids", book->id_count);
  }
  book->ids = larger;
  book->id_bits++;
  for (size_t i = 0; i < old_room; i++) {
    if (old[i].id != 0) {
      larger[id_place(book, old[i].id)] = old[i];
    }
  }
  free(old);
  return WB_OK;
}

static wb_status name_order(wb_queue_book *book, int64_t id, int32_t order, wb_error *error) {
  size_t place = id_place(book, id);
  if (book->ids[place].id == 0) {
    if (book->id_count >= (1 << book->id_bits) / 2) {
      WB_TRY(grow_ids(book, error));
      place = id_place(book, id);
    }
    book->id_count++;
  }
  book->ids[place] = (wb_queue_id){id, order};
  return WB_OK;
}

int32_t wb_queue_named(const wb_queue_book *book, int64_t id, bool *known) {
  const wb_queue_id *entry = &book->ids[id_place(book, id)];
  *known = entry->id != 0;
  return *known ? entry->order : WB_QUEUE_NONE;
}

/* ---- levels ---- */

int32_t wb_queue_find(const wb_queue_side *side, int32_t key) {
  const wb_queue_level *levels = side->levels;
  int32_t high = side->count, near = high > NEAR_LEVELS ? high - NEAR_LEVELS : 0;
  for (; high > near; high--) {
    if (levels[high - 1].key < key) {
      return high;
    }
  }
  /* all of [high, count) is at or better than the key: halve the rest */
  int32_t low = 0;
  while (low < high) {
    int32_t middle = low + (high - low) / 2;
    if (levels[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/* The level at `key`, made if missing; NULL if memory cannot be had. */
static wb_queue_level *level_for(wb_queue_side *side, int32_t key, wb_error *error) {
  int32_t at = wb_queue_find(side, key);
  if (at < side->count && side->levels[at].key == key) {
    return &side->levels[at];
  }
  if (side->count == side->room && grow_levels(side, error) != WB_OK) {
    return NULL;
  }
  wb_queue_level *level = &side->levels[at];
  memmove(level + 1, level, (size_t)(side->count - at) * sizeof *level);
  side->count++;
  *level = (wb_queue_level){0, key, {WB_QUEUE_NONE, WB_QUEUE_NONE}, {WB_QUEUE_NONE, WB_QUEUE_NONE}};
  return level;
}

static void drop_level(wb_queue_side *side, wb_queue_level *level) {
  wb_queue_level *end = side->levels + side->count;
  memmove(level, level + 1, (size_t)(end - level - 1) * sizeof *level);
  side->count--;
}

/* ---- orders ---- */

static wb_status new_order(wb_queue_book *book, int32_t *order, wb_error *error) {
  if (book->free_order != WB_QUEUE_NONE) {
    *order = book->free_order;
    book->free_order = book->orders[*order].newer;
    return WB_OK;
  }
  if (book->order_count == book->order_room) {
    void *orders = book->orders;
    WB_TRY(grow(&orders, &book->order_room, sizeof *book->orders, error));
    book->orders = orders;
  }
  *order = book->order_count++;
  return WB_OK;
}

wb_status wb_queue_add(wb_queue_book *book, wb_side side, int32_t key, int32_t qty, int64_t id,
                       int32_t ref, wb_error *error) {
  int32_t at;
  WB_TRY(new_order(book, &at, error));
  wb_queue_level *level = level_for(&book->side[side], key, error);
  if (level == NULL) {
    return WB_ERROR_MEMORY;
  }
  wb_queue *queue = id != 0 ? &level->named : &level->anonymous;
  book->orders[at] =
      (wb_queue_order){id, key, qty, ref, queue->newest, WB_QUEUE_NONE, (uint8_t)side};
  if (queue->newest != WB_QUEUE_NONE) {
    book->orders[queue->newest].newer = at;
  } else {
    queue->oldest = at;
  }
  queue->newest = at;
  level->qty += qty;
  book->side[side].orders++;
  return id != 0 ? name_order(book, id, at, error) : WB_OK;
}

static void unlink_order(wb_queue_book *book, wb_queue *queue, const wb_queue_order *order) {
  if (order->older != WB_QUEUE_NONE) {
    book->orders[order->older].newer = order->newer;
  } else {
    queue->oldest = order->newer;
  }
  if (order->newer != WB_QUEUE_NONE) {
    book->orders[order->newer].older = order->older;
  } else {
    queue->newest = order->older;
  }
}

void wb_queue_take(wb_queue_book *book, int32_t at, int32_t qty) {
  wb_queue_order *order = &book->orders[at];
  wb_queue_side *side = &book->side[order->side];
  wb_queue_level *level = &side->levels[wb_queue_find(side, order->key)];
  level->qty -= qty;
  order->qty -= qty;
  if (order->qty > 0) {
    return;
  }
  unlink_order(book, order->id != 0 ? &level->named : &level->anonymous, order);
  if (order->id != 0) {
    wb_queue_id *entry = &book->ids[id_place(book, order->id)];
    if (entry->order == at) { /* else the name passed to a later order */
      entry->order = WB_QUEUE_NONE;
    }
  }
  order->newer = book->free_order;
  book->free_order = at;
  side->orders--;
  if (level->qty == 0) {
    drop_level(side, level);
  }
}

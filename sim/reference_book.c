/* Levels, queues, pool and map of the reference book; the header tells how they hang together. */
#include "sim/reference_book.h"

#include "base/check.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ORDERS = 64, FIRST_LEVELS = 32, ORDERS_MOST = 1 << 30 };

/* -------------------------------------------------------------------------------------------------
 * the map: open addressing, linear probing, no tombstones */

static size_t home(const wb_resting *resting, int32_t ref) {
  return (size_t)((uint32_t)ref * UINT32_C(0x9e3779b1)) & resting->place_mask;
}

/* the place of `ref`, or the free one where it would go */
static size_t place_of(const wb_resting *resting, int32_t ref) {
  size_t at = home(resting, ref);
  while (resting->places[at].ref >= 0 && resting->places[at].ref != ref) {
    at = (at + 1) & resting->place_mask;
  }
  return at;
}

static void map_remove(wb_resting *resting, int32_t ref) {
  size_t hole = place_of(resting, ref);
  size_t mask = resting->place_mask;
  /* move back what was pushed past the hole, so that a search may stop at the first free place */
  for (size_t at = (hole + 1) & mask; resting->places[at].ref >= 0; at = (at + 1) & mask) {
    size_t wanted = home(resting, resting->places[at].ref);
    if (((at - wanted) & mask) >= ((at - hole) & mask)) {
      resting->places[hole] = resting->places[at];
      hole = at;
    }
  }
  resting->places[hole].ref = -1;
}

static void map_clear(wb_resting *resting) {
  if (resting->places != NULL) {
    for (size_t i = 0; i <= resting->place_mask; ++i) {
      resting->places[i].ref = -1;
    }
  }
}

/* twice as many places as the pool has orders, so that searches stay short */
static bool map_reserve(wb_resting *resting, int32_t orders) {
  size_t want = 2 * (size_t)orders;
  if (resting->places != NULL && resting->place_mask + 1 >= want) {
    return true;
  }
  wb_resting bigger = *resting;
  size_t count = 2 * FIRST_ORDERS;
  while (count < want) {
    count *= 2;
  }
  bigger.places = malloc(count * sizeof *bigger.places);
  if (bigger.places == NULL) {
    return false;
  }
  bigger.place_mask = count - 1;
  map_clear(&bigger);
  for (size_t i = 0; resting->places != NULL && i <= resting->place_mask; ++i) {
    if (resting->places[i].ref >= 0) {
      bigger.places[place_of(&bigger, resting->places[i].ref)] = resting->places[i];
    }
  }
  free(resting->places);
  *resting = bigger;
  return true;
}

/* -------------------------------------------------------------------------------------------------
 * room */

/* puts the places from `first` up to the end of the pool on the list of free ones, lowest first */
static void free_places(wb_resting *resting, int32_t first) {
  for (int32_t i = resting->order_room - 1; i >= first; --i) {
    resting->orders[i].newer = resting->free;
    resting->free = i;
  }
}

static bool order_reserve(wb_resting *resting, int32_t orders) {
  if (orders <= resting->order_room) {
    return true;
  }
  int32_t room = resting->order_room == 0 ? FIRST_ORDERS : resting->order_room;
  while (room < orders) {
    room *= 2;
  }
  size_t bytes;
  if (!wb_mul_size((size_t)room, sizeof *resting->orders, &bytes)) {
    return false;
  }
  wb_queued *moved = realloc(resting->orders, bytes);
  if (moved == NULL) {
    return false;
  }
  int32_t first = resting->order_room;
  resting->orders = moved;
  resting->order_room = room;
  free_places(resting, first);
  return true;
}

static bool level_reserve(wb_queue_side *side, size_t more) {
  if (side->room - side->count >= more) {
    return true;
  }
  size_t room = side->room == 0 ? FIRST_LEVELS : side->room;
  while (room - side->count < more) {
    room *= 2;
  }
  size_t bytes;
  if (!wb_mul_size(room, sizeof *side->levels, &bytes)) {
    return false;
  }
  wb_queue *moved = realloc(side->levels, bytes);
  if (moved == NULL) {
    return false;
  }
  side->levels = moved;
  side->room = room;
  return true;
}

void wb_resting_start(wb_resting *resting) { *resting = (wb_resting){.free = WB_NO_ORDER}; }

bool wb_resting_reserve(wb_resting *resting, int32_t more) {
  int64_t orders =
      (int64_t)resting->sides[0].orders + (int64_t)resting->sides[1].orders + (int64_t)more;
  return orders <= ORDERS_MOST && map_reserve(resting, (int32_t)orders) &&
         order_reserve(resting, (int32_t)orders) &&
         level_reserve(&resting->sides[0], (size_t)more) &&
         level_reserve(&resting->sides[1], (size_t)more);
}

void wb_resting_clear(wb_resting *resting) {
  map_clear(resting);
  resting->free = WB_NO_ORDER;
  free_places(resting, 0);
  for (int s = 0; s < 2; ++s) {
    resting->sides[s].count = 0;
    resting->sides[s].orders = 0;
    resting->sides[s].agent_orders = 0;
  }
}

void wb_resting_free(wb_resting *resting) {
  free(resting->sides[0].levels);
  free(resting->sides[1].levels);
  free(resting->orders);
  free(resting->places);
}

/* -------------------------------------------------------------------------------------------------
 * looking */

int32_t wb_resting_find(const wb_resting *resting, int32_t ref) {
  if (resting->places == NULL) {
    return WB_NO_ORDER;
  }
  const wb_ref_place *place = &resting->places[place_of(resting, ref)];
  return place->ref == ref ? place->order : WB_NO_ORDER;
}

/* how many levels of a side are worse than `price`: where it stands, or would */
static size_t level_index(const wb_queue_side *side, wb_side which, int32_t price) {
  size_t low = 0;
  size_t high = side->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (wb_better(which, price, side->levels[middle].price)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

const wb_queue *wb_resting_level(const wb_resting *resting, wb_side side, int32_t price) {
  const wb_queue_side *levels = &resting->sides[side];
  size_t at = level_index(levels, side, price);
  bool found = at < levels->count && levels->levels[at].price == price;
  return found ? &levels->levels[at] : NULL;
}

int32_t wb_resting_best(const wb_resting *resting, wb_side side) {
  const wb_queue_side *levels = &resting->sides[side];
  return levels->count == 0 ? WB_NO_ORDER : levels->levels[levels->count - 1].oldest;
}

int32_t wb_resting_worst(const wb_resting *resting, wb_side side) {
  const wb_queue_side *levels = &resting->sides[side];
  return levels->count == 0 ? WB_NO_ORDER : levels->levels[0].newest;
}

int32_t wb_resting_next(const wb_resting *resting, int32_t order) {
  const wb_queued *o = &resting->orders[order];
  if (o->newer != WB_NO_ORDER) {
    return o->newer;
  }
  const wb_queue_side *side = &resting->sides[o->side];
  size_t at = level_index(side, (wb_side)o->side, o->price);
  return at == 0 ? WB_NO_ORDER : side->levels[at - 1].oldest;
}

/* -------------------------------------------------------------------------------------------------
 * changing */

/* the level at `price`, made if it is not there */
static wb_queue *level_at(wb_queue_side *side, wb_side which, int32_t price) {
  size_t at = level_index(side, which, price);
  wb_queue *level = &side->levels[at];
  if (at == side->count || level->price != price) {
    memmove(level + 1, level, (side->count - at) * sizeof *level);
    *level = (wb_queue){.price = price, .oldest = WB_NO_ORDER, .newest = WB_NO_ORDER};
    side->count += 1;
  }
  return level;
}

void wb_resting_add(wb_resting *resting, const wb_order *order) {
  int32_t at = resting->free;
  wb_queued *o = &resting->orders[at];
  wb_queue_side *side = &resting->sides[order->side];
  wb_queue *level = level_at(side, (wb_side)order->side, order->price);
  resting->free = o->newer;
  *o = (wb_queued){.ref = order->ref,
                   .price = order->price,
                   .qty = order->qty,
                   .arrival = order->arrival,
                   .older = level->newest,
                   .newer = WB_NO_ORDER,
                   .owner = order->owner,
                   .side = order->side};
  if (level->newest == WB_NO_ORDER) {
    level->oldest = at;
  } else {
    resting->orders[level->newest].newer = at;
  }
  level->newest = at;
  level->qty += order->qty;
  level->orders += 1;
  side->orders += 1;
  side->agent_orders += order->owner != 0;
  resting->places[place_of(resting, order->ref)] = (wb_ref_place){order->ref, at};
}

static void unlink_order(wb_resting *resting, wb_queue *level, const wb_queued *o) {
  if (o->older == WB_NO_ORDER) {
    level->oldest = o->newer;
  } else {
    resting->orders[o->older].newer = o->newer;
  }
  if (o->newer == WB_NO_ORDER) {
    level->newest = o->older;
  } else {
    resting->orders[o->newer].older = o->older;
  }
}

void wb_resting_take(wb_resting *resting, int32_t order, int32_t qty) {
  wb_queued *o = &resting->orders[order];
  wb_queue_side *side = &resting->sides[o->side];
  size_t at = level_index(side, (wb_side)o->side, o->price);
  wb_queue *level = &side->levels[at];
  level->qty -= qty;
  o->qty -= qty;
  if (o->qty > 0) {
    return;
  }
  unlink_order(resting, level, o);
  level->orders -= 1;
  side->orders -= 1;
  side->agent_orders -= o->owner != 0;
  map_remove(resting, o->ref);
  o->newer = resting->free;
  resting->free = order;
  /* an empty level goes at once: there is never one to step over */
  if (level->orders == 0) {
    memmove(level, level + 1, (side->count - at - 1) * sizeof *level);
    side->count -= 1;
  }
}

void wb_resting_remove(wb_resting *resting, int32_t order) {
  wb_resting_take(resting, order, resting->orders[order].qty);
}

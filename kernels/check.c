/* The invariants of a slab, each as a function that names what it finds broken. */
#include "kernels/slab.h"

#include <stdlib.h>

static const char *side_name(int32_t side) { return side == WB_SIDE_ASK ? "ask" : "bid"; }

static bool is_used(const slab_view *v, int32_t slot) { return v->rank[slot] != WB_RANK_NONE; }

/* One order or empty slot by itself. */
static wb_status check_slot(const slab_view *v, int32_t side, int32_t slot, wb_error *error) {
  bool bit = ((uint32_t)v->used[slot / WB_WIDTH] >> (slot % WB_WIDTH) & 1) != 0;
  if (bit != is_used(v, slot)) {
    return WB_FAIL(error, WB_ERROR_INTERNAL, "slab: %s slot %d: used says %d, its rank says %d",
                   side_name(side), slot, bit, is_used(v, slot));
  }
  if (!bit) {
    if (v->ref[slot] != -1 || v->owner[slot] != 0) {
      return WB_FAIL(error, WB_ERROR_INTERNAL,
                     "slab: %s slot %d: expected reference -1 and owner 0 in an empty slot, got "
                     "%d and %d",
                     side_name(side), slot, v->ref[slot], v->owner[slot]);
    }
    return WB_OK;
  }
  int64_t key = slab_key(v->rank[slot]);
  int32_t arrival = slab_arrival(v->rank[slot]);
  if (key < -WB_PRICE_LIMIT || key > WB_PRICE_LIMIT || key % v->state[WB_CELL_TICK] != 0) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "slab: %s slot %d: key: expected a multiple of %d up to +-2^30, got %lld",
                   side_name(side), slot, v->state[WB_CELL_TICK], (long long)key);
  }
  if (arrival < 1 || arrival >= v->state[WB_CELL_NEXT_ARRIVAL]) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "slab: %s slot %d: arrival: expected 1 to %d, the next one less 1, got %d",
                   side_name(side), slot, v->state[WB_CELL_NEXT_ARRIVAL] - 1, arrival);
  }
  if (v->qty[slot] < 1) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "slab: %s slot %d: qty: expected at least 1 share, got %d", side_name(side),
                   slot, v->qty[slot]);
  }
  if (v->ref[slot] < 0 || v->owner[slot] < 0 ||
      (v->owner[slot] == 0) != (v->ref[slot] < WB_REF_AGENT_FIRST)) {
    return WB_FAIL(error, WB_ERROR_INTERNAL, "slab: %s slot %d: reference %d of owner %d",
                   side_name(side), slot, v->ref[slot], v->owner[slot]);
  }
  return WB_OK;
}

/* A row's best, and the rows between an order's home and where it rests: all were full then, and
 * must still be passed by a lookup, so the home's spill count must know. */
static wb_status check_row(const slab_view *v, int32_t side, int32_t row, wb_error *error) {
  int32_t first = (side * v->rows + row) * WB_WIDTH;
  int32_t summary = side * v->summary_rows + row;
  int64_t best = WB_RANK_NONE;
  int32_t best_slot = first;
  for (int32_t slot = first; slot < first + WB_WIDTH; slot++) {
    if (v->rank[slot] < best) {
      best = v->rank[slot];
      best_slot = slot;
    }
  }
  if (v->row_rank[summary] != best || (best != WB_RANK_NONE && v->row_slot[summary] != best_slot)) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "slab: %s row %d: its best is rank %llx in slot %d, the summary has %llx, %d",
                   side_name(side), row, (unsigned long long)best, best_slot,
                   (unsigned long long)v->row_rank[summary], v->row_slot[summary]);
  }
  int32_t spilled = 0;
  for (int32_t slot = side * v->slots; slot < (side + 1) * v->slots; slot++) {
    if (!is_used(v, slot) || (v->ref[slot] & (v->rows - 1)) != row) continue;
    spilled += slot / WB_WIDTH != side * v->rows + row;
  }
  if (v->spill[side * v->rows + row] != spilled) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "slab: %s row %d: %d orders rest in other rows, spill says %d", side_name(side),
                   row, spilled, v->spill[side * v->rows + row]);
  }
  return WB_OK;
}

static wb_status check_side(const slab_view *v, int32_t side, wb_error *error) {
  int64_t best = WB_RANK_NONE;
  int32_t best_slot = 0, agents = 0;
  for (int32_t slot = side * v->slots; slot < (side + 1) * v->slots; slot++) {
    WB_TRY(check_slot(v, side, slot, error));
    if (v->rank[slot] < best) {
      best = v->rank[slot];
      best_slot = slot;
    }
    agents += v->owner[slot] != 0;
  }
  for (int32_t row = 0; row < v->rows; row++) WB_TRY(check_row(v, side, row, error));
  for (int32_t row = v->rows; row < v->summary_rows; row++) {
    if (v->row_rank[side * v->summary_rows + row] != WB_RANK_NONE) {
      return WB_FAIL(error, WB_ERROR_INTERNAL, "slab: %s summary row %d: expected padding",
                     side_name(side), row);
    }
  }
  if (v->best_rank[side] != best || (best != WB_RANK_NONE && v->best_slot[side] != best_slot)) {
    return WB_FAIL(error, WB_ERROR_INTERNAL,
                   "slab: %s side: its best is rank %llx in slot %d, the summary has %llx, %d",
                   side_name(side), (unsigned long long)best, best_slot,
                   (unsigned long long)v->best_rank[side], v->best_slot[side]);
  }
  if (v->agents[side] != agents) {
    return WB_FAIL(error, WB_ERROR_INTERNAL, "slab: %s side: %d agents' orders, the count says %d",
                   side_name(side), agents, v->agents[side]);
  }
  return WB_OK;
}

static int by_value(const void *a, const void *b) {
  int32_t x = *(const int32_t *)a;
  int32_t y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* No value twice among the used slots of both sides. */
static wb_status check_unique(const slab_view *v, bool arrivals, wb_error *error) {
  int32_t list[2 * WB_BOOK_CAPACITY_MAX];
  size_t count = 0;
  for (int32_t slot = 0; slot < 2 * v->slots; slot++) {
    if (!is_used(v, slot)) continue;
    list[count++] = arrivals ? slab_arrival(v->rank[slot]) : v->ref[slot];
  }
  qsort(list, count, sizeof list[0], by_value);
  for (size_t i = 1; i < count; i++) {
    if (list[i] == list[i - 1]) {
      return WB_FAIL(error, WB_ERROR_INTERNAL, "slab: %s %d: two orders have it",
                     arrivals ? "arrival" : "reference", list[i]);
    }
  }
  return WB_OK;
}

wb_status wb_slab_check(const wb_book_layout *layout, const void *slab, wb_error *error) {
  slab_view v = wb_slab_view(layout, slab);
  for (int32_t side = 0; side < 2; side++) WB_TRY(check_side(&v, side, error));
  int32_t spilled = 0;
  for (int32_t row = 0; row < 2 * v.rows; row++) spilled += v.spill[row];
  if (v.state[WB_CELL_SPILLED] != spilled) {
    return WB_FAIL(error, WB_ERROR_INTERNAL, "slab: %d orders rest elsewhere, their count says %d",
                   spilled, v.state[WB_CELL_SPILLED]);
  }
  WB_TRY(check_unique(&v, false, error));
  return check_unique(&v, true, error);
}

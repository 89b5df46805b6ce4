/* The slab's layout, its empty state and its small arrays. */
#include "kernels/layout.h"

#include "kernels/slab.h"

#include <stdlib.h>
#include <string.h>

/* ---- layout ---- */

static wb_status add_arrays(wb_book_layout *l, wb_error *error) {
  int64_t slots = 2 * (int64_t)l->capacity;
  int64_t rows = 2 * (int64_t)l->rows;
  int64_t summaries = 2 * (int64_t)l->summary_rows;
  const struct {
    const char *name;
    wb_element element;
    int64_t length, fill;
    wb_array *array;
  } list[] = {
      {"rank", WB_ELEMENT_I64, slots, WB_RANK_NONE, &l->rank},
      {"ref", WB_ELEMENT_I32, slots, -1, &l->ref},
      {"qty", WB_ELEMENT_I32, slots, 0, &l->qty},
      {"owner", WB_ELEMENT_I16, slots, 0, &l->owner},
      {"row_rank", WB_ELEMENT_I64, summaries, WB_RANK_NONE, &l->row_rank},
      {"row_slot", WB_ELEMENT_I32, summaries, 0, &l->row_slot},
      {"used", WB_ELEMENT_I32, rows, -1, &l->used},
      {"spill", WB_ELEMENT_I32, rows, 0, &l->spill},
      {"best_rank", WB_ELEMENT_I64, 2, WB_RANK_NONE, &l->best_rank},
      {"best_slot", WB_ELEMENT_I32, 2, 0, &l->best_slot},
      {"agents", WB_ELEMENT_I32, 2, 0, &l->agents},
      {"head", WB_ELEMENT_I64, WB_HEAD_COUNT, 0, &l->head},
      {"state", WB_ELEMENT_I32, WB_CELL_COUNT, 0, &l->state},
      {"counters", WB_ELEMENT_I64, WB_COUNTER_CELLS, 0, &l->counters},
  };
  for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
    WB_TRY(wb_layout_add(l->layout, list[i].name, list[i].element, list[i].length, list[i].fill,
                         list[i].array, error));
  }
  return WB_OK;
}

/* A few row summaries are searched one by one, more of them as rows of lanes. */
static int32_t summary_rows_of(int32_t rows) {
  if (rows <= WB_SUMMARY_ONE_BY_ONE) return rows;
  return rows < WB_WIDTH ? WB_WIDTH : rows;
}

static bool capacity_has_the_form(int32_t capacity) {
  return capacity >= WB_BOOK_CAPACITY_MIN && capacity <= WB_BOOK_CAPACITY_MAX &&
         (capacity & (capacity - 1)) == 0;
}

wb_status wb_book_layout_new(int32_t capacity, wb_book_layout **out, wb_error *error) {
  *out = NULL;
  if (!capacity_has_the_form(capacity)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book layout: capacity: expected 32, 64, 128, ... or 8192 orders a side, got %d",
                   capacity);
  }
  wb_book_layout *l = calloc(1, sizeof *l);
  if (l == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "book layout: no memory for %zu bytes", sizeof *l);
  }
  l->capacity = capacity;
  l->rows = capacity / WB_WIDTH;
  l->summary_rows = summary_rows_of(l->rows);
  wb_status status = wb_layout_new(&l->layout, error);
  if (status == WB_OK) status = add_arrays(l, error);
  if (status != WB_OK) {
    wb_book_layout_free(l);
    return status;
  }
  *out = l;
  return WB_OK;
}

void wb_book_layout_free(wb_book_layout *layout) {
  if (layout == NULL) return;
  wb_layout_free(layout->layout);
  free(layout);
}

int64_t wb_book_layout_bytes(const wb_book_layout *layout) {
  return wb_layout_bytes(layout->layout);
}

int32_t wb_book_capacity_for(int64_t orders) {
  int32_t capacity = WB_BOOK_CAPACITY_MIN;
  while (capacity < WB_BOOK_CAPACITY_MAX && capacity < orders) capacity *= 2;
  return capacity < orders ? 0 : capacity;
}

/* ---- bytes ---- */

void *wb_slab_at(const wb_book_layout *layout, const void *slab, wb_array array) {
  /* the caller's const is about the call, not about the memory */
  return (char *)(uintptr_t)slab + wb_layout_object(layout->layout, array)->offset;
}

slab_view wb_slab_view(const wb_book_layout *layout, const void *slab) {
  slab_view v = {
      .rows = layout->rows,
      .slots = layout->capacity,
      .summary_rows = layout->summary_rows,
      .rank = wb_slab_at(layout, slab, layout->rank),
      .ref = wb_slab_at(layout, slab, layout->ref),
      .qty = wb_slab_at(layout, slab, layout->qty),
      .owner = wb_slab_at(layout, slab, layout->owner),
      .used = wb_slab_at(layout, slab, layout->used),
      .spill = wb_slab_at(layout, slab, layout->spill),
      .row_rank = wb_slab_at(layout, slab, layout->row_rank),
      .row_slot = wb_slab_at(layout, slab, layout->row_slot),
      .best_rank = wb_slab_at(layout, slab, layout->best_rank),
      .best_slot = wb_slab_at(layout, slab, layout->best_slot),
      .agents = wb_slab_at(layout, slab, layout->agents),
      .head = wb_slab_at(layout, slab, layout->head),
      .state = wb_slab_at(layout, slab, layout->state),
      .counters = wb_slab_at(layout, slab, layout->counters),
  };
  return v;
}

int64_t *wb_slab_head_of(const wb_book_layout *layout, void *slab) {
  return wb_slab_at(layout, slab, layout->head);
}

int32_t *wb_slab_state_of(const wb_book_layout *layout, void *slab) {
  return wb_slab_at(layout, slab, layout->state);
}

int64_t *wb_slab_counters_of(const wb_book_layout *layout, void *slab) {
  return wb_slab_at(layout, slab, layout->counters);
}

/* Whether a number below 2^32 is a multiple of d = odd * 2^zeros: times the inverse of the odd part and
 * turned right by the zeros it is the quotient if so, and more than any quotient if not (Granlund and
 * Montgomery 1994, section 9). With q the largest price in ticks, price + q * d is at most 2 * q * d for
 * prices in range, so that one comparison with 2 * q tells both. */
void wb_slab_set_tick(const wb_book_layout *layout, void *slab, int32_t tick_size) {
  int32_t *state = wb_slab_state_of(layout, slab);
  uint32_t zeros = (uint32_t)__builtin_ctz((uint32_t)tick_size);
  uint32_t odd = (uint32_t)tick_size >> zeros;
  uint32_t most = (uint32_t)WB_PRICE_LIMIT / (uint32_t)tick_size;
  /* Newton: each round doubles the number of right low bits, from 3 */
  uint32_t inverse = odd;
  for (int i = 0; i < 4; i++) inverse *= 2 - odd * inverse;
  state[WB_CELL_TICK] = tick_size;
  state[WB_CELL_TICK_INVERSE] = (int32_t)inverse;
  state[WB_CELL_TICK_SKIP] = (int32_t)(most * (uint32_t)tick_size * inverse);
  state[WB_CELL_TICK_ZEROS] = (int32_t)zeros;
  state[WB_CELL_TICK_LIMIT] = (int32_t)(2 * most);
}

void wb_slab_init(const wb_book_layout *layout, void *slab, const wb_book_rules *rules) {
  memset(slab, 0, (size_t)wb_book_layout_bytes(layout));
  slab_view v = wb_slab_view(layout, slab);
  for (int64_t i = 0; i < 2 * (int64_t)v.slots; i++) {
    v.rank[i] = WB_RANK_NONE;
    v.ref[i] = -1;
  }
  for (int32_t side = 0; side < 2; side++) {
    for (int32_t row = 0; row < v.summary_rows; row++) {
      v.row_rank[side * v.summary_rows + row] = WB_RANK_NONE;
      /* an empty row's best slot is its first; rows that only pad have none */
      v.row_slot[side * v.summary_rows + row] =
          row < v.rows ? (side * v.rows + row) * WB_WIDTH : side * v.slots;
    }
    v.best_rank[side] = WB_RANK_NONE;
    v.best_slot[side] = side * v.slots;
  }
  v.head[WB_HEAD_BASE] = rules->base;
  v.state[WB_CELL_NEXT_ARRIVAL] = 1;
  wb_slab_set_tick(layout, slab, rules->tick_size);
}

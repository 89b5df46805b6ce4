/* A slab as plain C arrays, for the host code of this room. */
#ifndef WB_KERNELS_SLAB_H
#define WB_KERNELS_SLAB_H

#include "kernels/layout.h"

enum {
  WB_COUNTER_CELLS = 32,     /* counters[] padded to one row */
  WB_SUMMARY_ONE_BY_ONE = 8, /* up to so many row summaries are searched one by one */
};

typedef struct slab_view {
  int32_t rows, slots, summary_rows; /* of one side */
  int64_t *rank, *row_rank, *best_rank, *head, *counters;
  int32_t *ref, *qty, *used, *spill, *row_slot, *best_slot, *agents, *state;
  int16_t *owner;
} slab_view;

void *wb_slab_at(const wb_book_layout *layout, const void *slab, wb_array array);
slab_view wb_slab_view(const wb_book_layout *layout, const void *slab);

/* The rank of an order; see layout.h. */
static inline int64_t slab_rank(wb_side side, int32_t price, int32_t arrival) {
  int64_t key = side == WB_SIDE_ASK ? price : -(int64_t)price;
  return key * (INT64_C(1) << 32) + arrival;
}

static inline int32_t slab_key(int64_t rank) { return (int32_t)(rank >> 32); }
static inline int32_t slab_arrival(int64_t rank) { return (int32_t)(rank & 0xffffffff); }
static inline int32_t slab_price(wb_side side, int64_t rank) {
  return side == WB_SIDE_ASK ? slab_key(rank) : -slab_key(rank);
}

#endif

/* The slab: the bytes of one book as the kernels keep it, and the same bytes seen from a host.
 *
 * A book is one block whose layout depends on its capacity alone. A copy, a clone, a snapshot or a
 * restore of a book is a copy of wb_book_layout_bytes bytes; nothing in a slab points anywhere.
 *
 * Each side has `rows` rows of 32 slots, capacity = 32 * rows. Arrays hold the bid side's rows first,
 * then the ask side's, so that one piece of code serves both: slot = (side * rows + row) * 32 + lane.
 *
 *   rank[2N]      i64  priority as one number, smaller is better: the high half is the *key*, the
 *                      price of an ask or minus the price of a bid, the low half the arrival
 *                      number. An empty slot has WB_RANK_NONE, which is worse than any order
 *   ref[2N]       i32  reference, empty -1
 *   qty[2N]       i32  shares that rest; undefined where empty
 *   owner[2N]     i16  0 history or empty, else the agent
 *   used[2R]      i32  bit l: lane l of the row holds an order
 *   spill[2R]     i32  orders whose home is this row but which rest in another one
 *   row_rank[2S]  i64  the best rank of each row (S: rows, rounded up to what is searched at once)
 *   row_slot[2S]  i32  the slot that has it
 *   best_rank[2]  i64  the best rank of each side, WB_RANK_NONE if it is empty
 *   best_slot[2]  i32  the slot that has it
 *   agents[2]     i32  orders of owners other than 0
 *   head[8]       i64  the launch's place in its tape and the like, wb_slab_head
 *   state[16]     i32  next arrival, trading state and the like, wb_slab_cell
 *   counters[32]  i64  by wb_counter
 *
 * The home row of an order is its reference modulo the number of rows; a full row passes it on to
 * the next. Refilled slots keep no trace of who was there.
 *
 * Everything here works on host memory and knows no device; one thread at a time per slab. */
#ifndef WB_KERNELS_LAYOUT_H
#define WB_KERNELS_LAYOUT_H

#include "../base/record.h"
#include "../base/rules.h"
#include "../base/status.h"
#include "../compiler/program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  WB_BOOK_CAPACITY_MIN = 32,
  WB_BOOK_CAPACITY_MAX = 8192 /* 32 * 2^k up to here */
};

#define WB_RANK_NONE INT64_MAX

/* Elements of head[]. */
typedef enum wb_slab_head {
  WB_HEAD_CURSOR, /* index, in its tape, of the record that comes next */
  WB_HEAD_END,    /* the index at which the book stands still */
  WB_HEAD_TAPE,   /* where the tape's record 0 lies among the records of all tapes */
  WB_HEAD_BASE,   /* price units */
  WB_HEAD_TRADES, /* trades in the ring; a host that has drained it sets 0 */
  WB_HEAD_ROWS,   /* book rows written; a host that has drained them sets 0 */
  WB_HEAD_FAULT,  /* not 0: 1 + index of a record that the kernel was not made for; book stopped */
  WB_HEAD_COUNT = 8
} wb_slab_head;

/* Elements of state[]. Four are made from the tick, see wb_slab_set_tick, and lie in 16 bytes. */
typedef enum wb_slab_cell {
  WB_CELL_NEXT_ARRIVAL,
  WB_CELL_TRADING_STATE, /* wb_trading_state */
  WB_CELL_STATUS,        /* WB_STATUS_BIT bits, brought up to date at the end of a launch */
  WB_CELL_TICK,          /* price units */
  WB_CELL_TICK_INVERSE,  /* of the tick's odd part, modulo 2^32 */
  WB_CELL_TICK_SKIP,     /* the inverse times the largest price */
  WB_CELL_TICK_ZEROS,    /* low zero bits of the tick */
  WB_CELL_TICK_LIMIT,    /* prices that are multiples of the tick, less 1 */
  WB_CELL_SPILLED,       /* orders of both sides that rest elsewhere than in their home row */
  WB_CELL_COUNT = 16
} wb_slab_cell;

typedef struct wb_book_layout {
  int32_t capacity;     /* orders a side */
  int32_t rows;         /* a side */
  int32_t summary_rows; /* elements of row_rank and row_slot a side, at least `rows` */
  wb_layout *layout;    /* for programs that work on the slab */
  wb_array rank, ref, qty, owner, used, spill, row_rank, row_slot;
  wb_array best_rank, best_slot, agents, head, state, counters;
} wb_book_layout;

/* WB_ERROR_ARGUMENT for a capacity that is not 32 * 2^k from 32 to 8192. */
WB_API wb_status wb_book_layout_new(int32_t capacity, wb_book_layout **out, wb_error *error);
WB_API void wb_book_layout_free(wb_book_layout *layout); /* NULL is fine */

/* Size of a slab, a multiple of 64. Slabs are aligned to WB_SLAB_ALIGNMENT. */
WB_API int64_t wb_book_layout_bytes(const wb_book_layout *layout);

/* The smallest capacity of the form that holds `orders`, or 0 if none does. */
WB_API int32_t wb_book_capacity_for(int64_t orders);

/* An empty book: trading, counters 0, next arrival 1, no tape. `rules` give base and tick. */
WB_API void wb_slab_init(const wb_book_layout *layout, void *slab, const wb_book_rules *rules);

/* Puts resting orders, with the arrivals they carry, into the slab of an empty book; the next
 * arrival is the largest + 1. Counts nothing. WB_ERROR_ARGUMENT names the order that cannot rest,
 * WB_ERROR_LIMIT a side that has more than the capacity; the slab is then undefined. */
WB_API wb_status wb_slab_load(const wb_book_layout *layout, void *slab, const wb_order *orders,
                              int64_t count, wb_error *error);

/* Any element of the small arrays. */
WB_API int64_t *wb_slab_head_of(const wb_book_layout *layout, void *slab);     /* [8] */
WB_API int32_t *wb_slab_state_of(const wb_book_layout *layout, void *slab);    /* [16] */
WB_API int64_t *wb_slab_counters_of(const wb_book_layout *layout, void *slab); /* [WB_COUNTERS] */

/* Sets tick_size and what the kernels need to divide by it. */
WB_API void wb_slab_set_tick(const wb_book_layout *layout, void *slab, int32_t tick_size);

/* Resting orders of one side, best priority first; writes at most `most` of them, returns how many
 * rest. `orders` may be NULL if `most` is 0. */
WB_API int64_t wb_slab_orders(const wb_book_layout *layout, const void *slab, wb_side side,
                              wb_order *orders, int64_t most);

/* Levels of one side, best first; writes at most `most`, returns how many it wrote. */
WB_API int32_t wb_slab_levels(const wb_book_layout *layout, const void *slab, wb_side side,
                              wb_level *levels, int32_t most);

/* Whether the slab is one that kernels can have made: summaries agree with their rows, `used` and
 * `spill` with where orders are, references and arrivals are unique, quantities positive, owners and
 * references agree, agents counted right, every order reachable from its home row. WB_ERROR_INTERNAL
 * says what is wrong and where. */
WB_API wb_status wb_slab_check(const wb_book_layout *layout, const void *slab, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

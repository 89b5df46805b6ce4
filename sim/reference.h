/* The CPU reference book: the rules of docs/semantics.md in the plainest C, one book at a time.
 *
 * Sorted price levels, each a FIFO list of orders, and a hash map from references. It is the oracle
 * that every compiled kernel is compared with, so it is written for reading, apart from them. Depth
 * is unlimited unless the rules give a capacity. One thread at a time per book; several books are
 * independent.
 *
 *   wb_book_rules rules = wb_book_rules_default();
 *   wb_reference *book;
 *   WB_TRY(wb_reference_create(&rules, &book, error));
 *   for (int32_t i = 0; i < count; ++i) {
 *     WB_TRY(wb_reference_apply(book, &records[i], i, error));
 *   }
 *   wb_level best;
 *   if (wb_reference_levels(book, WB_SIDE_BID, &best, 1) == 1) ...
 *   wb_reference_free(book);
 */
#ifndef WB_SIM_REFERENCE_H
#define WB_SIM_REFERENCE_H

#include "../base/record.h"
#include "../base/rules.h"
#include "../base/status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_reference wb_reference;

/* Called for each trade while a record is applied, after its fill. `trade` lasts for the call,
 * which must not touch the book. */
typedef void wb_trade_function(void *context, const wb_trade *trade);

/* An empty book in trading state. WB_ERROR_ARGUMENT for bad rules, WB_ERROR_MEMORY. */
WB_API wb_status wb_reference_create(const wb_book_rules *rules, wb_reference **book,
                                     wb_error *error);
WB_API void wb_reference_free(wb_reference *book); /* NULL is allowed */

/* Puts the book into the state before any record: counters 0, trading, then the given orders with
 * the arrivals that they carry (all different, at least 1); the next arrival is the largest + 1.
 * Moves no counter and calls no function. WB_ERROR_ARGUMENT names the order that cannot rest;
 * WB_ERROR_MEMORY; after either the book is empty and usable. `orders` is only read. */
WB_API wb_status wb_reference_load(wb_reference *book, const wb_order *orders, int64_t count,
                                   wb_error *error);

/* Sets what is called for trades; NULL for nothing. */
WB_API void wb_reference_on_trade(wb_reference *book, wb_trade_function *function, void *context);

/* Applies one record; `index` goes into its trades. Nothing in a record is an error: what it breaks
 * is counted. WB_ERROR_MEMORY leaves the book as it was before the record. */
WB_API wb_status wb_reference_apply(wb_reference *book, const wb_record *record, int32_t index,
                                    wb_error *error);

/* Levels of one side, best first; writes at most `most`, returns how many it wrote. */
WB_API int32_t wb_reference_levels(const wb_reference *book, wb_side side, wb_level *levels,
                                   int32_t most);

/* Resting orders of one side, best priority first; writes at most `most`, returns how many rest.
 * `orders` may be NULL if `most` is 0. */
WB_API int64_t wb_reference_orders(const wb_reference *book, wb_side side, wb_order *orders,
                                   int64_t most);

/* Shares at a price; 0 if none. */
WB_API int64_t wb_reference_volume_at(const wb_reference *book, wb_side side, int32_t price);

/* Shares with priority over order `ref` at its own price; -1 if it does not rest on that side. */
WB_API int64_t wb_reference_queue_ahead(const wb_reference *book, wb_side side, int32_t ref);

WB_API const int64_t *wb_reference_counters(const wb_reference *book); /* [WB_COUNTERS] */
WB_API uint32_t wb_reference_status(const wb_reference *book);         /* WB_STATUS_BIT bits */
WB_API wb_trading_state wb_reference_state(const wb_reference *book);
WB_API int32_t wb_reference_next_arrival(const wb_reference *book);
WB_API uint64_t wb_reference_book_hash(const wb_reference *book);
WB_API uint64_t wb_reference_state_hash(const wb_reference *book);

/* For tests of renumbering: the next arrival number, which must be above every resting one
 * (WB_ERROR_ARGUMENT otherwise). */
WB_API wb_status wb_reference_set_next_arrival(wb_reference *book, int32_t next, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

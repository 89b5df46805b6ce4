/* The order book as array programs: the kernels that run messages through books, and those that ask
 * a book something.
 *
 * A program is made for one capacity and for a set of *features*: what its messages may ask of it.
 * A replay of history without agents thus does not pay for self-trade prevention or FOK. Features
 * come from the rules of the books and from a look at every record that will be run
 * (wb_features_scan); wb_features_all makes the kernel that can do everything. Whatever its features,
 * a program gives the results of docs/semantics.md for the messages it was made for; one that it was
 * not made for stops the book with WB_HEAD_FAULT set.
 *
 * Programs run on any device (compiler/device.h), compiled by wb_device_compile, whose cache knows
 * equal programs. Building is thread safe: nothing is shared between calls. */
#ifndef WB_KERNELS_BOOK_H
#define WB_KERNELS_BOOK_H

#include "../base/record.h"
#include "../base/rules.h"
#include "../base/status.h"
#include "../compiler/program.h"
#include "layout.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Which trades go into a book's ring. */
typedef enum wb_trade_choice {
  WB_TRADES_NONE = 0,
  WB_TRADES_OWNERS = 1, /* maker or taker has an owner other than 0 */
  WB_TRADES_ALL = 2
} wb_trade_choice;

typedef struct wb_book_features {
  uint32_t types;   /* bit t: records of type t may come */
  uint32_t flags;   /* WB_FLAG_ bits that may be set, of any type */
  bool agents;      /* owners other than 0 may rest or send records */
  bool states;      /* the trading state may be other than trading */
  bool bad_records; /* records have not been checked: each is, by the rules of valid records */
  bool unique_refs; /* ADDs of owner 0 never name a resting order: they are not checked */
  bool rows;        /* levels are written after every record with ROW_END */
  wb_trade_choice trades;
  wb_execute_policy execute_policy;
  wb_displaced displaced;
  wb_capacity_rule capacity_rule;
  wb_self_trade self_trade;
} wb_book_features;

/* Everything may come; the choices are those of the rules. */
WB_API wb_book_features wb_features_all(const wb_book_rules *rules);

/* Nothing comes, to be widened by scans; the choices are those of the rules. */
WB_API wb_book_features wb_features_none(const wb_book_rules *rules);

/* Widens features by what these records ask for. Books that start with agents' orders or outside
 * trading need `agents` or `states` set by the caller. */
WB_API void wb_features_scan(wb_book_features *features, const wb_book_rules *rules,
                             const wb_record *records, int64_t count);

/* Whether a record is valid by docs/semantics.md; only tick_size of the rules matters. */
WB_API bool wb_record_is_valid(const wb_record *record, const wb_book_rules *rules);

/* ---- the message loop ---- */

/* Buffers of a message program, in the order of a launch's list. */
enum {
  WB_RUN_RECORDS, /* i64, shared: the records of all tapes, 4 elements each */
  WB_RUN_TRADES,  /* i64, per book: the trade ring, 4 elements (a wb_trade) each */
  WB_RUN_ROWS,    /* i64, per book: book rows of 2 * depth levels, 2 elements (a wb_level) each:
                     ask 1, bid 1, ask 2, ...; rows that do not fit are not written */
  WB_RUN_BUFFERS
};

/* Its run-time scalars. */
enum {
  WB_RUN_LIMIT,      /* i64: at most so many records of each book's tape in this launch */
  WB_RUN_TRADE_ROOM, /* i64: trades that a ring holds */
  WB_RUN_DEPTH,      /* i32: levels a side of a book row */
  WB_RUN_SCALARS
};

/* The program that takes each book from its cursor up to WB_RUN_LIMIT records further, never past
 * its end. A buffer that the features do not use may have length 0 and no memory. */
WB_API wb_status wb_run_program_build(const wb_book_layout *layout,
                                      const wb_book_features *features, wb_program **out,
                                      wb_error *error);

/* ---- questions ---- */

typedef enum wb_query {
  WB_QUERY_LEVELS,      /* out: [2][depth] wb_level, bids first, best first, absent ones all 0 */
  WB_QUERY_VOLUME_AT,   /* out: shares at `price` on `side` */
  WB_QUERY_QUEUE_AHEAD, /* out: shares with priority over order `ref` at its price; -1: not there */
  WB_QUERY_HASHES,      /* out: book_hash, state_hash */
  WB_QUERY_COUNT
} wb_query;

/* Scalars of a query program, each i32; a query ignores those it does not need. */
enum {
  WB_QUERY_DEPTH, /* levels a side */
  WB_QUERY_SIDE,
  WB_QUERY_PRICE,
  WB_QUERY_REF,
  WB_QUERY_SCALARS
};

/* The program of a query: reads the slabs, writes its only buffer (i64, per book): the answer. */
WB_API wb_status wb_query_program_build(const wb_book_layout *layout, wb_query query,
                                        wb_program **out, wb_error *error);

/* i64 elements of a book's answer. */
WB_API int64_t wb_query_answer_length(wb_query query, int32_t depth);

#ifdef __cplusplus
}
#endif
#endif

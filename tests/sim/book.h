/* Words for tests of a book that read like the rules.
 *
 * References below 2^30 are history's; own(a, k) is agent a's k-th. The owner of a record follows
 * from its reference. Every record is followed by a check of all invariants; what it traded is
 * kept until the next. Prices are at(10): any unit will do, tests use ticks of 1 unless they say so. */
#ifndef WB_TESTS_SIM_BOOK_H
#define WB_TESTS_SIM_BOOK_H

#include "base/record.h"
#include "base/rules.h"
#include "sim/reference.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BID WB_SIDE_BID
#define ASK WB_SIDE_ASK
enum { SLOTS = 64, TRADES_KEPT = 4096 };

typedef struct book {
  wb_reference *engine;
  int32_t index; /* of the next record */
  int32_t trade_count;
  wb_trade trades[TRADES_KEPT]; /* of the last record */
} book;

typedef struct fill {
  int32_t maker, qty;
  int32_t price; /* 0: any */
} fill;

typedef struct place {
  int32_t ref, qty;
} place;

typedef struct counted {
  wb_counter counter;
  int64_t amount;
} counted;

static inline int32_t at(int32_t price) { return price; }
static inline int32_t own(int32_t owner, int32_t slot) {
  return WB_REF_AGENT_FIRST + owner * SLOTS + slot;
}

book empty_book(void); /* default rules */
book book_with(wb_book_rules rules);
void done(book *b);

/* each returns its book, so that it can stand in expect_trades */
book *send(book *b, wb_record record);
book *add(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price, int flags);
book *bid(book *b, int32_t ref, int32_t qty, int32_t price);
book *ask(book *b, int32_t ref, int32_t qty, int32_t price);
book *buy(book *b, int32_t ref, int32_t qty, int32_t price);  /* a bid that means to take */
book *sell(book *b, int32_t ref, int32_t qty, int32_t price); /* an ask that means to take */
book *market(book *b, wb_side side, int32_t ref, int32_t qty);
book *reduce(book *b, wb_side side, int32_t ref, int32_t qty);
book *cancel(book *b, wb_side side, int32_t ref);
book *amend(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price);
book *amend_post_only(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price);
book *execute(book *b, wb_side side, int32_t ref, int32_t qty, int32_t price);
book *note(book *b, wb_note kind, int32_t qty);
book *state(book *b, wb_trading_state state);

/* the record's trades: maker, quantity, and the price if it is not 0 */
void check_trades(const book *b, const fill *want, int32_t count, int line);
/* the orders of one side in priority order: reference, quantity */
void check_queue(const book *b, wb_side side, const place *want, int32_t count, int line);
/* the counters of events and of shares (not types, trades, volume, notional): 0 unless listed */
void check_counts(const book *b, const counted *want, size_t count, int line);
void check_best(const book *b, wb_side side, int32_t price, int64_t qty, int line);
/* everything that must hold between records, whatever they were */
void check_invariants(const wb_reference *engine);

#define COUNT_OF(array) (sizeof(array) / sizeof(array)[0])

#define expect_trades(call, ...)                                   \
  do {                                                             \
    const book *traded = (call);                                   \
    const fill want[] = {__VA_ARGS__};                             \
    check_trades(traded, want, (int32_t)COUNT_OF(want), __LINE__); \
  } while (0)
#define expect_no_trades(call) check_trades((call), NULL, 0, __LINE__)

#define expect_queue(b, side, ...)                                     \
  do {                                                                 \
    const place want[] = {__VA_ARGS__};                                \
    check_queue((b), (side), want, (int32_t)COUNT_OF(want), __LINE__); \
  } while (0)
#define expect_empty(b, side) check_queue((b), (side), NULL, 0, __LINE__)

#define expect_counts(b, ...)                          \
  do {                                                 \
    const counted want[] = {__VA_ARGS__};              \
    check_counts((b), want, COUNT_OF(want), __LINE__); \
  } while (0)
#define expect_nothing_counted(b) check_counts((b), NULL, 0, __LINE__)

#define expect_best(b, side, price, qty) check_best((b), (side), (price), (qty), __LINE__)

static inline int64_t counter(const book *b, wb_counter which) {
  return wb_reference_counters(b->engine)[which];
}

#endif

/* The rules of one book that a user may choose: the same struct configures the CPU reference, the
 * kernels and the environment. docs/semantics.md tells what each choice does. */
#ifndef WB_BASE_RULES_H
#define WB_BASE_RULES_H

#include "status.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum wb_execute_policy { /* whom a historical execution meets */
                                 WB_EXECUTE_AGENTS_FIRST =
                                     0, /* agents with priority first, then the named order */
                                 WB_EXECUTE_NAMED =
                                     1, /* the named order, then others at its price or better */
                                 WB_EXECUTE_AGGRESSIVE = 2 /* an opposite IOC order at its price */
} wb_execute_policy;

typedef enum wb_displaced { /* shares that agents took from a historical execution */
                            WB_DISPLACED_WITHDRAW = 0, /* leave the book without a trade */
                            WB_DISPLACED_KEEP = 1      /* stay */
} wb_displaced;

typedef enum wb_capacity_rule {
  WB_CAPACITY_EVICT = 0, /* the side's worst order leaves if the incoming one is better */
  WB_CAPACITY_REJECT = 1 /* the incoming rest is refused */
} wb_capacity_rule;

typedef enum wb_self_trade {
  WB_SELF_TRADE_OFF = 0,
  WB_SELF_TRADE_CANCEL_INCOMING = 1,
  WB_SELF_TRADE_CANCEL_RESTING = 2,
  WB_SELF_TRADE_CANCEL_BOTH = 3,
  WB_SELF_TRADE_DECREMENT_BOTH = 4
} wb_self_trade;

typedef struct wb_book_rules {
  int64_t base;      /* price units: a record's price 0 */
  int32_t tick_size; /* price units, at least 1: resting prices are multiples of it */
  int32_t capacity;  /* orders per side; 0: unlimited (the CPU reference only) */
  wb_capacity_rule capacity_rule;
  wb_execute_policy execute_policy;
  wb_displaced displaced;
  wb_self_trade self_trade;
  int32_t unique_refs; /* not 0: each ADD of owner 0 has a new reference, so it may go unchecked */
} wb_book_rules;

/* Base 0, tick 1, unlimited, and the first choice of every list; references checked. */
WB_API wb_book_rules wb_book_rules_default(void);

/* WB_ERROR_ARGUMENT, naming the field, if one is out of its range. */
WB_API wb_status wb_book_rules_check(const wb_book_rules *rules, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

/* Records and trades, and the numbers that every engine counts: the vocabulary of the project.
 *
 * A record is one message to one book; a trade is one fill of one resting order. Both are 32 bytes
 * and are stored, copied to devices and hashed as they stand here (little endian). What each type,
 * flag, state and counter means is told in docs/semantics.md; these lists are the only ones. */
#ifndef WB_BASE_RECORD_H
#define WB_BASE_RECORD_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_record {
  int64_t time_ns; /* nanoseconds after midnight of the tape's day */
  int32_t ref;     /* the order named; see WB_REF_AGENT_FIRST */
  int32_t price;   /* price units above the tape's base */
  int32_t qty;     /* shares */
  int32_t arg;     /* NOTE: a wb_note; STATE: a wb_trading_state */
  int32_t row;     /* source row, from 0; -1 if there is none */
  int16_t owner;   /* 0 history, 1..32767 an agent */
  uint8_t type;    /* a wb_record_type */
  uint8_t flags;   /* WB_FLAG_ bits */
} wb_record;

typedef struct wb_trade {
  int64_t time_ns;      /* of the record that caused it */
  int32_t record;       /* index of that record in its tape */
  int32_t maker;        /* reference of the resting order */
  int32_t taker;        /* reference of the incoming order; -1 for an EXECUTE */
  int32_t price;        /* price units above base; always the maker's price */
  int32_t qty;          /* shares */
  uint16_t maker_owner; /* WB_TRADE_MAKER_ASK | owner */
  uint16_t taker_owner; /* WB_TRADE_EDGE | owner; owner 0 for an EXECUTE */
} wb_trade;

enum {
  WB_TRADE_MAKER_ASK = 0x8000, /* in maker_owner: the maker is an ask */
  WB_TRADE_EDGE = 0x8000,      /* in taker_owner: caused by a record with WB_FLAG_EDGE */
  WB_TRADE_OWNER_MASK = 0x7fff
};

/*  name     code */
#define WB_RECORD_TYPES(X) \
  X(ADD, 1)                \
  X(MARKET, 2)             \
  X(REDUCE, 3)             \
  X(DELETE, 4)             \
  X(AMEND, 5)              \
  X(EXECUTE, 6)            \
  X(NOTE, 7)               \
  X(STATE, 8)

typedef enum wb_record_type {
#define X(name, code) WB_RECORD_##name = (code),
  WB_RECORD_TYPES(X)
#undef X
      WB_RECORD_TYPE_COUNT = 8 /* types are 1..8 */
} wb_record_type;

/*  name       bit */
#define WB_FLAGS(X) \
  X(SIDE, 1)        \
  X(EDGE, 2)        \
  X(ROW_END, 4)     \
  X(NO_MATCH, 8)    \
  X(IOC, 16)        \
  X(FOK, 32)        \
  X(POST_ONLY, 64)  \
  X(SLIDE, 128)

typedef enum wb_flag {
#define X(name, bit) WB_FLAG_##name = (bit),
  WB_FLAGS(X)
#undef X
} wb_flag;

typedef enum wb_side { WB_SIDE_BID = 0, WB_SIDE_ASK = 1 } wb_side;

typedef enum wb_note {
  WB_NOTE_HIDDEN = 0,    /* hidden execution */
  WB_NOTE_AUCTION = 1,   /* auction print */
  WB_NOTE_UNRESOLVED = 2 /* names an order that a file without its book does not tell of */
} wb_note;

typedef enum wb_trading_state {
  WB_STATE_TRADING = 0,
  WB_STATE_QUOTING = 1,
  WB_STATE_HALTED = 2
} wb_trading_state;

enum {
  WB_PRICE_LIMIT = 1 << 30,     /* |price| of a record never exceeds this */
  WB_REF_AGENT_FIRST = 1 << 30, /* history names 0..2^30-1, agents 2^30 and up */
  WB_OWNER_LAST = 32767,
  WB_ARRIVAL_RENUMBER = INT32_MAX /* a next arrival number of 2^31-1 renumbers the book first */
};

/* Status bits: each has a counter of the same index. */
#define WB_STATUS_BITS(X) \
  X(BAD_RECORD)           \
  X(ORPHAN)               \
  X(UNKNOWN_REF)          \
  X(DUPLICATE_REF)        \
  X(REJECTED)             \
  X(BOOK_FULL)            \
  X(EVICTED)              \
  X(CROSSED)              \
  X(SELF_TRADE)           \
  X(SATURATED)            \
  X(TRADES_LOST)

/* Counters without a status bit, after the types' own. */
#define WB_SUM_COUNTERS(X) \
  X(EDGE_RECORDS)          \
  X(TRADES)                \
  X(VOLUME)                \
  X(NOTIONAL)              \
  X(HIDDEN_VOLUME)         \
  X(AUCTION_VOLUME)        \
  X(UNRESOLVED_VOLUME)     \
  X(NOT_AT_HEAD)           \
  X(ORPHANED_SHARES)       \
  X(WITHDRAWN_SHARES)      \
  X(STRANDED_SHARES)

/* One index for all i64 counters of a book, in the order in which state_hash takes them. */
typedef enum wb_counter {
#define X(name) WB_COUNT_##name,
  WB_STATUS_BITS(X)
#undef X
#define X(name, code) WB_COUNT_TYPE_##name,
      WB_RECORD_TYPES(X)
#undef X
#define X(name) WB_COUNT_##name,
          WB_SUM_COUNTERS(X)
#undef X
              WB_COUNTERS
} wb_counter;

enum { WB_STATUS_BIT_COUNT = WB_COUNT_TYPE_ADD };

/* Number of bit `counter` in a book's status word; only for the first WB_STATUS_BIT_COUNT. */
#define WB_STATUS_BIT(counter) (1u << (counter))

/* One price level of a book. An absent level has orders 0, qty 0 and price 0. */
typedef struct wb_level {
  int64_t qty;    /* shares over all its orders */
  int32_t price;  /* price units above base */
  int32_t orders; /* resting orders */
} wb_level;

/* One resting order, as read back from an engine or loaded as a seed. */
typedef struct wb_order {
  int32_t ref;
  int32_t price;   /* price units above base */
  int32_t qty;     /* shares that rest */
  int32_t arrival; /* position in the book's one order of arrival, from 1 */
  int16_t owner;
  uint8_t side; /* a wb_side */
  uint8_t reserved;
} wb_order;

#ifdef __cplusplus
}
#endif
#endif

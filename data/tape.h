/* The tape: one day of one instrument as records, with what is needed to prove a replay of it.
 *
 * A tape holds the records that drive a book, the book they start from, and, where its source had
 * them, the source's own rows: every message as it stood in the file and the book after it. The
 * records alone drive a book; the source's book rows are only ever compared with, or exported.
 *
 * A tape is made by a reader (input.h) or by hand: wb_tape_new, fill the arrays from its arena,
 * wb_tape_check. It is constant once made and may be read by any number of threads. */
#ifndef WB_DATA_TAPE_H
#define WB_DATA_TAPE_H

#include "../base/arena.h"
#include "../base/hash.h"
#include "../base/record.h"
#include "../base/status.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WB_INSTRUMENT_BYTES = 32, WB_DAY_BYTES = 16 };

/* A level of a source's book row that is not there has this price and quantity 0. */
#define WB_NO_PRICE INT32_MIN

/* The largest base, either way. */
#define WB_TAPE_BASE_LAST (INT64_C(1) << 62)

/* A source's book rows are at most this deep. */
enum { WB_TAPE_LEVELS_LAST = 1000 };

/* One line of a LOBSTER message file, exact. */
typedef struct wb_source_row {
  int64_t time_ns;      /* cut to whole nanoseconds */
  int64_t id;           /* the exchange's order id */
  int64_t price;        /* price units as in the file: no base taken off */
  int32_t size;         /* shares */
  uint8_t type;         /* 1..7 */
  int8_t direction;     /* 1 buy, -1 sell: of the resting order */
  uint16_t participant; /* index + 1 into participants; 0: the file has no seventh column */
} wb_source_row;

/* A time whose text is not the shortest that gives its nanoseconds. */
typedef struct wb_odd_time {
  int64_t row;
  const char *text;
} wb_odd_time;

typedef struct wb_source {
  const char *name; /* as given, with the member's name for one in an archive: "a.zip:b.csv" */
  int64_t bytes;    /* of text, decompressed */
  wb_hash128 hash;  /* of that text */
} wb_source;

/* What a reader met, as counts. Rows are the source's, records the tape's. */
#define WB_READER_COUNTS(X)                                                             \
  X(rows_submission, "rows of type 1 (submission)")                                     \
  X(rows_partial_cancel, "rows of type 2 (partial cancellation)")                       \
  X(rows_deletion, "rows of type 3 (deletion)")                                         \
  X(rows_execution, "rows of type 4 (execution)")                                       \
  X(rows_hidden_execution, "rows of type 5 (hidden execution)")                         \
  X(rows_auction, "rows of type 6 (auction)")                                           \
  X(rows_halt, "rows of type 7 (trading state)")                                        \
  X(unknown_ids, "rows of type 2, 3, 4 that name an order never submitted in the file") \
  X(unknown_partial_cancels, "of these, type 2")                                        \
  X(unknown_deletions, "of these, type 3")                                              \
  X(unknown_executions, "of these, type 4")                                             \
  X(unknown_shares, "shares of these rows")                                             \
  X(edge_records, "records made up because the window moved")                           \
  X(edge_adds, "of these, orders that slid in")                                         \
  X(edge_reduces, "of these, reductions")                                               \
  X(edge_deletes, "of these, deletions; drops of far levels not among them")            \
  X(edge_corrections, "levels (row, side, level) that were corrected")                  \
  X(edge_dropped, "levels dropped far outside the window")                              \
  X(late_adds, "submissions with an id smaller than the newest resting at their price") \
  X(crossed_rows, "submissions that lock or cross while trading")                       \
  X(contradictions, "rows that the book file contradicts")                              \
  X(hidden_volume, "shares of type 5")                                                  \
  X(auction_volume, "shares of type 6")                                                 \
  X(visible_volume, "shares of type 4")                                                 \
  X(repeated_times, "rows with the time stamp of the row before")                       \
  X(bad_lines, "lines left out because they were damaged (skip_bad)")                   \
  X(truncated_rows, "rows left out because the other file is shorter (truncate)")       \
  X(largest_side, "most orders that rested on one side at once")

typedef struct wb_reader_counts {
#define X(name, meaning) int64_t name;
  WB_READER_COUNTS(X)
#undef X
} wb_reader_counts;

typedef enum wb_finding_kind {
  WB_FINDING_CONTRADICTION, /* a message and the book file disagree */
  WB_FINDING_CROSSED,       /* a submission that locks or crosses while trading */
  WB_FINDING_BAD_LINE       /* a damaged line that was left out */
} wb_finding_kind;

/* One thing a user should look at. The first WB_FINDINGS_KEPT of each kind are kept. */
typedef struct wb_finding {
  wb_finding_kind kind;
  int64_t row;      /* source row; for a bad line the line number in its file, from 1 */
  const char *text; /* one line that names file, line, field */
} wb_finding;

enum { WB_FINDINGS_KEPT = 1000 };

typedef struct wb_tape {
  /* header */
  char instrument[WB_INSTRUMENT_BYTES]; /* "" if unknown */
  char day[WB_DAY_BYTES];               /* YYYY-MM-DD, "" if unknown */
  double price_unit;                    /* what one unit is worth, in the currency: 1e-4 */
  int64_t base;                         /* price units: a record's price 0 */
  int32_t tick_size;                    /* price units */
  int32_t levels;                       /* depth of the source's book rows; 0: there are none */
  int64_t start_ns, end_ns;             /* the window in the source's name; 0, 0 if unknown */
  bool unique_refs;   /* promise: an ADD never names a resting order, so it need not be checked */
  bool depth_unknown; /* read without a book file: levels may be missing, never proven */

  /* records */
  int64_t record_count;
  wb_record *records;

  /* external ids: ids[ref] for history's references 0..ref_count-1; 0 for anonymous orders */
  int32_t ref_count;
  int64_t *ids;

  /* the book before the first record: asks then bids, best first; arrivals from 1 */
  int32_t seed_count;
  wb_order *seed;

  /* the source's rows; row_count 0 if the tape has none */
  int64_t row_count;
  wb_source_row *rows;
  int32_t *book_price; /* [row_count][2 * levels]: ask 1, bid 1, ask 2, bid 2, ..; above base */
  int64_t *book_qty;   /* the same shape; 0 where book_price is WB_NO_PRICE */
  int32_t participant_count;
  const char **participants;
  int64_t odd_time_count;
  wb_odd_time *odd_times; /* by row, ascending */

  /* provenance */
  int32_t source_count;
  wb_source *sources;
  wb_reader_counts counts;
  int64_t finding_count;
  wb_finding *findings; /* in file order */

  wb_arena arena;  /* owns small things: names, texts, lists */
  void *blocks[8]; /* owns the big arrays: each from malloc, or NULL */
} wb_tape;

/* An empty tape with tick 1 and price unit 1e-4; NULL if memory cannot be had. */
WB_API wb_tape *wb_tape_new(void);
WB_API void wb_tape_free(wb_tape *tape); /* NULL is allowed */

/* Whether everything that an engine, a comparison or an export relies on holds:
 * - header: names that can be part of a file's name, positive unit and tick, |base| <= 2^62;
 * - seed: asks, then bids, best price first, then by arrival; arrivals 1..seed_count and references,
 *   each once; prices that can rest;
 * - records: times never go back; row is -1 or a source row; source rows have their records in one
 *   run each, in order, with ROW_END on the last (row 0, the seed, may have none);
 *   a reference of history's is below ref_count;
 * - rows, book, participants, odd times, findings: in the ranges told above, within their arrays.
 * Records that an engine would count as BAD_RECORD are allowed unless unique_refs is set. That
 * promise is proven by first use: all owners are history, and each ADD has a reference that no seed
 * order and no earlier ADD has, even after that order's end.
 * WB_ERROR_FORMAT names the array, the index, what was expected and what is there;
 * WB_ERROR_MEMORY if there is none for a bit per reference. */
WB_API wb_status wb_tape_check(const wb_tape *tape, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

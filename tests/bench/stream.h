/* Synthetic order flow for benchmarks and tests: adds, cancels and marketable orders around a mid
 * that wanders, from a seed.
 *
 * Half of the records are passive adds near the mid (geometric distances, at most `width` ticks),
 * 40 % cancel a random resting order, 10 % are marketable limit orders. Each side is steered to two
 * thirds up to four thirds of `depth` orders. All are history's (owner 0), tick 1, base 0, with
 * fresh references from 0. Two last records sweep both sides: the trades tell all.
 *
 * The generator keeps a dense price ladder of its own to know what rests and trades: what it saw is
 * in the stream, for engines to be checked with. */
#ifndef WB_TESTS_BENCH_STREAM_H
#define WB_TESTS_BENCH_STREAM_H

#include "base/record.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct stream_options {
  uint64_t seed;
  int64_t records;         /* before the two that sweep */
  int32_t depth;           /* 75: about 77 orders a side; 530 with width 40 */
  int32_t width;           /* ticks */
  int32_t partial_percent; /* of the cancels, those that leave a part */
} stream_options;

typedef struct stream {
  wb_record *records;
  int64_t count;         /* with the sweeps */
  int64_t timed;         /* without them */
  int32_t refs;          /* references are below this */
  int32_t largest_side;  /* most orders on one side at once */
  double mean_orders[2]; /* per side, over all timed records */
  int64_t trades, volume;
  uint64_t trade_hash; /* stream_trade over all trades, from 0 */
  uint64_t best_hash;  /* stream_best after each timed record, from 0 */
} stream;

stream_options stream_options_default(void); /* seed 1, 2,000,000 records, 75, 10, 0 */

/* false if memory cannot be had */
bool stream_make(const stream_options *options, stream *made);
void stream_free(stream *made);

/* Ordered hash of trades: maker, taker, the maker's price, quantity. */
static inline uint64_t stream_trade(uint64_t hash, int32_t maker, int32_t taker, int32_t price,
                                    int32_t qty) {
  uint64_t who = (uint64_t)(uint32_t)maker << 32 | (uint32_t)taker;
  uint64_t what = (uint64_t)(uint32_t)price << 32 | (uint32_t)qty;
  return (hash ^ who) * UINT64_C(0x9e3779b97f4a7c15) + what;
}

/* Hash of best bid and ask after a record; an empty side's price is 0. */
static inline uint64_t stream_best(uint64_t hash, int32_t bid, int32_t ask) {
  return hash + (uint64_t)(uint32_t)bid * 3 + (uint64_t)(uint32_t)ask * 7;
}

#endif

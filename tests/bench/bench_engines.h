/* What the yardstick benchmark times: each engine takes a whole stream and hashes its trades. */
#ifndef WB_TESTS_BENCH_ENGINES_H
#define WB_TESTS_BENCH_ENGINES_H

#include "stream.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_seen {
  uint64_t hash; /* stream_trade over all trades */
  int64_t trades;
} bench_seen;

typedef struct bench_engine bench_engine;
struct bench_engine {
  const char *name;
  const stream *flow;
  int32_t capacity;
  void *state;
  bench_seen seen;
  void (*start)(bench_engine *engine);        /* an empty book */
  int64_t (*run)(bench_engine *engine);       /* the timed records; returns how many it took */
  bench_seen (*finish)(bench_engine *engine); /* the sweeps, and all trades seen */
  void (*release)(bench_engine *engine);
};

int bench_engine_count(void); /* number 0 is the bare ladder */
const char *bench_engine_name(int number);
/* Prints what went wrong and returns false if the engine cannot be had. */
bool bench_engine_make(int number, const stream *flow, int32_t capacity, bench_engine *engine);

/* The makers of the table's files. */
bool ladder_bare_make(bench_engine *engine);
bool ladder_full_make(bench_engine *engine);
bool reference_make(bench_engine *engine);
bool kernel_trusted_make(bench_engine *engine); /* a replay's: nothing is checked again */
bool kernel_checked_make(bench_engine *engine); /* records and references are checked */
bool kernel_full_make(bench_engine *engine);    /* made for everything that can come */

/* Books that take `share` of the stream's records each, `turn` at a time, one after another; prints
 * ns per record for one book and for all of them, round by round interleaved. False if any book's
 * trades differ from those of the one book. */
bool bench_turns(const stream *flow, int32_t capacity, int32_t books, int32_t turn, int64_t share,
                 int rounds);

#endif

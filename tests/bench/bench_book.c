/* The yardstick: nanoseconds per record of the kernels on one core, beside a dense price ladder that
 * does only what it must, the same ladder with all our duties, and the CPU reference.
 *
 *   bench_book [--rounds N] [--records N] [--only NAME] [--stream shallow|deep]
 *
 * All engines take turns, round by round; the table has the median of each and the median of its
 * ratio to the bare ladder in the same round, from processor time. Every engine's trades are hashed
 * while it is timed and must be the stream's. Exit status 1 if any differs. */
#define _POSIX_C_SOURCE 200809L
#include "base/hash.h"
#include "base/record.h"
#include "bench_engines.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS_MOST = 99, ENGINES_MOST = 16 };

typedef struct entry {
  bench_engine engine;
  double ns[ROUNDS_MOST];
  double ratio[ROUNDS_MOST];
} entry;

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(const double *values, int count) {
  double sorted[ROUNDS_MOST];
  memcpy(sorted, values, sizeof *values * (size_t)count);
  qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
  return sorted[count / 2];
}

static double smallest(const double *values, int count) {
  double least = values[0];
  for (int i = 1; i < count; i++) least = values[i] < least ? values[i] : least;
  return least;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* One timed pass; false if the trades are wrong. */
static bool time_once(entry *e, const stream *flow, int round) {
  bench_engine *engine = &e->engine;
  engine->start(engine);
  double begin = now();
  int64_t taken = engine->run(engine);
  e->ns[round] = 1e9 * (now() - begin) / (double)taken;
  bench_seen seen = engine->finish(engine);
  if (seen.trades == flow->trades && seen.hash == flow->trade_hash) return true;
  fprintf(stderr,
          "bench_book: %s: %" PRId64 " trades (hash %016" PRIx64 "), expected %" PRId64
          " (%016" PRIx64 ")\n",
          engine->name, seen.trades, seen.hash, flow->trades, flow->trade_hash);
  return false;
}

static bool measure(const char *title, const stream_options *options, int32_t capacity, int rounds,
                    const char *only) {
  stream flow;
  if (!stream_make(options, &flow)) return false;
  static entry list[ENGINES_MOST];
  memset(list, 0, sizeof list);
  int count = 0;
  bool right = true;
  for (int i = 0; i < bench_engine_count(); i++) {
    if (only != NULL && i > 0 && strstr(bench_engine_name(i), only) == NULL) continue;
    if (!bench_engine_make(i, &flow, capacity, &list[count].engine)) return false;
    count++;
  }
  for (int r = 0; r < rounds; r++) {
    for (int i = 0; i < count; i++) {
      right &= time_once(&list[i], &flow, r);
      list[i].ratio[r] = list[i].ns[r] / list[0].ns[r];
    }
  }
  printf("%s: %.0f and %.0f orders a side, %" PRId64 " records, %" PRId64 " trades, capacity %d\n",
         title, flow.mean_orders[0], flow.mean_orders[1], flow.timed, flow.trades, capacity);
  printf("  %-44s %8s %8s %8s %12s\n", "", "median", "least", "ratio", "M records/s");
  for (int i = 0; i < count; i++) {
    double ns = median(list[i].ns, rounds);
    printf("  %-44s %8.2f %8.2f %8.2f %12.1f\n", list[i].engine.name, ns,
           smallest(list[i].ns, rounds), median(list[i].ratio, rounds), 1e3 / ns);
    list[i].engine.release(&list[i].engine);
  }
  if (only == NULL) right &= bench_turns(&flow, capacity, 1024, 100, 10000, rounds);
  stream_free(&flow);
  return right;
}

int main(int argc, char **argv) {
  int rounds = 9;
  int64_t records = 1000000;
  const char *only = NULL, *which = "";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--records") == 0) records = strtoll(argv[i + 1], NULL, 10);
    if (strcmp(argv[i], "--only") == 0) only = argv[i + 1];
    if (strcmp(argv[i], "--stream") == 0) which = argv[i + 1];
  }
  if (rounds < 1 || rounds > ROUNDS_MOST || records < 1 || argc % 2 == 0) {
    fprintf(stderr,
            "usage: bench_book [--rounds 1..%d] [--records N] [--only NAME] "
            "[--stream shallow|deep]\n",
            ROUNDS_MOST);
    return 2;
  }
  stream_options shallow = stream_options_default();
  shallow.records = records;
  stream_options deep = shallow;
  deep.depth = 530;
  deep.width = 40;
  bool right = true;
  if (strcmp(which, "deep") != 0) right &= measure("shallow", &shallow, 128, rounds, only);
  if (strcmp(which, "shallow") != 0) right &= measure("deep", &deep, 1024, rounds, only);
  return right ? 0 : 1;
}

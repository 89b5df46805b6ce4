/* How many records per second the CPU reference takes, on the synthetic streams and with the trades
 * and best prices checked. Not a test: prints a table, exit status 1 if anything was unequal.
 *
 *   bench_reference [rounds] */
#define _POSIX_C_SOURCE 200809L
#include "base/record.h"
#include "sim/reference.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct seen {
  uint64_t trade_hash;
  int64_t trades;
} seen;

static void see(void *context, const wb_trade *trade) {
  seen *s = context;
  s->trades += 1;
  s->trade_hash = stream_trade(s->trade_hash, trade->maker, trade->taker, trade->price, trade->qty);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

/* seconds for the timed part; -1 if the trades are not those of the stream */
static double run(const stream *flow) {
  wb_book_rules rules = wb_book_rules_default();
  wb_reference *book;
  seen s = {0};
  if (wb_reference_create(&rules, &book, NULL) != WB_OK) {
    return -1;
  }
  wb_reference_on_trade(book, see, &s);
  double start = now();
  for (int64_t i = 0; i < flow->timed; ++i) {
    wb_reference_apply(book, &flow->records[i], (int32_t)i, NULL);
  }
  double seconds = now() - start;
  for (int64_t i = flow->timed; i < flow->count; ++i) {
    wb_reference_apply(book, &flow->records[i], (int32_t)i, NULL);
  }
  bool equal = s.trade_hash == flow->trade_hash && s.trades == flow->trades &&
               wb_reference_status(book) == 0;
  wb_reference_free(book);
  return equal ? seconds : -1;
}

static int measure(const char *name, const stream_options *options, int rounds) {
  stream flow;
  double seconds[101];
  if (!stream_make(options, &flow)) {
    fprintf(stderr, "bench_reference: no memory for the stream\n");
    return 1;
  }
  for (int i = 0; i < rounds; ++i) {
    seconds[i] = run(&flow);
    if (seconds[i] < 0) {
      fprintf(stderr, "bench_reference: %s: trades differ from the stream's\n", name);
      stream_free(&flow);
      return 1;
    }
  }
  qsort(seconds, (size_t)rounds, sizeof *seconds, compare_doubles);
  double median = seconds[rounds / 2];
  printf("%-8s %6.1f %6.1f %9" PRId64 " %8" PRId64 " %8.1f %8.2f\n", name, flow.mean_orders[0],
         flow.mean_orders[1], flow.timed, flow.trades, 1e9 * median / (double)flow.timed,
         1e-6 * (double)flow.timed / median);
  stream_free(&flow);
  return 0;
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 5;
  rounds = rounds < 1 ? 1 : rounds > 101 ? 101 : rounds;
  stream_options shallow = stream_options_default();
  stream_options partial = shallow;
  partial.partial_percent = 25;
  stream_options deep = shallow;
  deep.depth = 530;
  deep.width = 40;
  printf("%-8s %6s %6s %9s %8s %8s %8s\n", "stream", "bids", "asks", "records", "trades", "ns each",
         "M/s");
  return measure("shallow", &shallow, rounds) | measure("partial", &partial, rounds) |
         measure("deep", &deep, rounds);
}

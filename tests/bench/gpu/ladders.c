/* The dense ladder on all cores: what the same machine does without us, one book to a thread. */
#include "gpu.h"

#include "compiler/elf_load.h"

typedef struct seen {
  uint64_t hash;
  int64_t trades;
} seen;

/* what a trade costs a ladder: it is hashed */
#define LADDER_TRADE(l, maker, taker, side, price, filled) \
  (watch.trades++,                                         \
   watch.hash = stream_trade(watch.hash, (int32_t)(maker)-1, (int32_t)(taker)-1, price, filled))
static _Thread_local seen watch;

#include "tests/bench/ladder.h"

#ifdef _OPENMP
#include <omp.h>
#endif

static void apply(ladder *l, const wb_record *records, int64_t count) {
  for (const wb_record *r = records, *end = records + count; r < end; r++) {
    uint32_t order = (uint32_t)r->ref + 1;
    int side = r->flags & WB_FLAG_SIDE;
    if (r->type == WB_RECORD_ADD) {
      ladder_add(l, side, order, r->price, r->qty);
    } else if (ladder_rests(l, order)) {
      ladder_leave(l, side, order);
    }
  }
}

/* Goes through a stream; its time is added, its trades are checked with the sweeps at its end. */
static bool one_stream(ladder *l, const stream *s, double *seconds) {
  watch = (seen){0, 0};
  ladder_clear(l, s->refs + 1);
  double start = gpu_now();
  apply(l, s->records, s->timed);
  *seconds += gpu_now() - start;
  apply(l, s->records + s->timed, s->count - s->timed);
  return watch.hash == s->trade_hash && watch.trades == s->trades;
}

static int64_t most_refs(const gpu_flow *f) {
  int64_t most = 0;
  for (int32_t i = 0; i < f->streams; i++) most = f->made[i].refs > most ? f->made[i].refs : most;
  return most + 1;
}

double gpu_ladder_rate(const gpu_flow *f, int32_t threads, double seconds) {
  double rate = 0;
  bool right = true;
  (void)threads;
#if defined(__AVX2__)
  if (wb_cpu_level() < 3) return 0; /* this file is compiled for that level */
#endif
#ifdef _OPENMP
  if (threads == 0) threads = omp_get_max_threads();
#pragma omp parallel num_threads(threads) reduction(+ : rate) reduction(&& : right)
#endif
  {
    ladder *l = ladder_new(most_refs(f));
    int64_t records = 0;
    double own = 0, start = gpu_now();
    int32_t next = 0;
#ifdef _OPENMP
    next = omp_get_thread_num();
#endif
    do {
      const stream *s = &f->made[next++ % f->streams];
      right = one_stream(l, s, &own) && right;
      records += s->timed;
    } while (gpu_now() - start < seconds);
    rate += (double)records / own;
    ladder_free(l);
  }
  return right ? rate : -1;
}

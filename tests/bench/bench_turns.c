/* Many books in turn: does it cost when a book's slab is never in the nearest cache? */
#define _POSIX_C_SOURCE 200809L
#include "bench_engines.h"

#include "compiler/device.h"
#include "kernels/book.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROOM = 1024, ROUNDS_MOST = 99 };

typedef struct turns {
  const stream *flow;
  wb_book_layout *layout;
  wb_kernel *kernel;
  wb_device *device; /* has the memory */
  int64_t slab_bytes;
  int32_t books;
  char *slabs;
  wb_trade *rings;
  bench_seen *seen; /* of each book */
} turns;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int64_t *head_of(turns *t, int32_t book) {
  return wb_slab_head_of(t->layout, t->slabs + t->slab_bytes * book);
}

static void launch(turns *t, int32_t books, int64_t limit) {
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {t->flow->records, 4 * t->flow->count, 0},
      [WB_RUN_TRADES] = {t->rings, 4 * ROOM, 4 * ROOM},
      [WB_RUN_ROWS] = {t->rings, 0, 0},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {limit, ROOM, 0};
  const wb_kernel_arguments arguments = {t->slabs, t->slab_bytes, buffers, scalars, NULL};
  if (wb_kernel_run(t->kernel, &arguments, 0, books, NULL) != WB_OK) abort();
}

static void drain(turns *t, int32_t book) {
  int64_t *head = head_of(t, book);
  bench_seen *seen = &t->seen[book];
  const wb_trade *trade = t->rings + (int64_t)ROOM * book;
  for (const wb_trade *end = trade + head[WB_HEAD_TRADES]; trade < end; trade++) {
    seen->hash = stream_trade(seen->hash, trade->maker, trade->taker, trade->price, trade->qty);
  }
  seen->trades += head[WB_HEAD_TRADES];
  head[WB_HEAD_TRADES] = 0;
}

static double run(turns *t, int32_t books, int64_t turn, int64_t share) {
  wb_book_rules rules = wb_book_rules_default();
  for (int32_t b = 0; b < books; b++) {
    wb_slab_init(t->layout, t->slabs + t->slab_bytes * b, &rules);
    head_of(t, b)[WB_HEAD_END] = share;
    t->seen[b] = (bench_seen){0};
  }
  double start = now();
  for (int64_t done = 0; done < share; done += turn) {
    launch(t, books, turn);
    for (int32_t b = 0; b < books; b++) drain(t, b);
  }
  return 1e9 * (now() - start) / (double)(share * books);
}

static void *allocate(turns *t, size_t bytes) {
  void *memory = NULL;
  return wb_device_allocate(t->device, bytes, &memory, NULL) == WB_OK ? memory : NULL;
}

static bool open_turns(turns *t, const stream *flow, int32_t capacity, int32_t books) {
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features = wb_features_all(&rules);
  wb_error error = {0};
  wb_program *program = NULL;
  t->flow = flow;
  t->books = books;
  if (wb_book_layout_new(capacity, &t->layout, &error) != WB_OK ||
      wb_run_program_build(t->layout, &features, &program, &error) != WB_OK ||
      wb_kernel_compile(NULL, program, NULL, &t->kernel, NULL, &error) != WB_OK ||
      wb_device_open("cpu", &t->device, &error) != WB_OK) {
    fprintf(stderr, "bench: books in turn: %s\n", error.text);
    return false;
  }
  wb_program_free(program);
  t->slab_bytes = wb_book_layout_bytes(t->layout);
  t->seen = calloc((size_t)books, sizeof *t->seen);
  t->slabs = allocate(t, (size_t)(t->slab_bytes * books));
  t->rings = allocate(t, sizeof(wb_trade) * ROOM * (size_t)books);
  if (t->slabs != NULL && t->rings != NULL && t->seen != NULL) return true;
  fprintf(stderr, "bench: books in turn: no memory\n");
  return false;
}

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a;
  double y = *(const double *)b;
  return (x > y) - (x < y);
}

bool bench_turns(const stream *flow, int32_t capacity, int32_t books, int32_t turn, int64_t share,
                 int rounds) {
  turns t = {0};
  double one[ROUNDS_MOST], all[ROUNDS_MOST], ratio[ROUNDS_MOST];
  if (share > flow->timed) share = flow->timed / turn * turn;
  bool right = open_turns(&t, flow, capacity, books);
  for (int r = 0; right && r < rounds; r++) {
    one[r] = 0;
    /* as many records as all books together would be too long a round: a twentieth */
    for (int32_t i = 0; i < books / 20; i++) one[r] += run(&t, 1, turn, share) / (books / 20);
    bench_seen alone = t.seen[0];
    all[r] = run(&t, books, turn, share);
    ratio[r] = all[r] / one[r];
    for (int32_t b = 0; b < books; b++) {
      right &= t.seen[b].trades == alone.trades && t.seen[b].hash == alone.hash;
    }
  }
  if (right) {
    qsort(one, (size_t)rounds, sizeof *one, compare_doubles);
    qsort(all, (size_t)rounds, sizeof *all, compare_doubles);
    qsort(ratio, (size_t)rounds, sizeof *ratio, compare_doubles);
    printf("  launches of %d records, kernel for everything: one book %.2f ns, %d books in turn "
           "%.2f ns, ratio %.2f (slabs %.1f MB)\n",
           turn, one[rounds / 2], books, all[rounds / 2], ratio[rounds / 2],
           1e-6 * (double)(t.slab_bytes * books));
  } else {
    fprintf(stderr, "bench: books in turn: trades differ\n");
  }
  wb_kernel_release(t.kernel);
  wb_book_layout_free(t.layout);
  wb_device_free(t.device, t.slabs);
  wb_device_free(t.device, t.rings);
  wb_device_close(t.device);
  free(t.seen);
  return right;
}

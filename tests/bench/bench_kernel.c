/* The kernels as engines: one book, launches of 4,096 records, the ring drained after each. */
#include "bench_engines.h"

#include "compiler/kernel.h"
#include "kernels/book.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCH = 4096, ROOM = 1 << 16 };

typedef struct kernel_state {
  wb_book_rules rules;
  wb_book_layout *layout;
  wb_kernel *kernel;
  void *slab;
  wb_trade *ring;
} kernel_state;

static void launch(bench_engine *engine) {
  kernel_state *s = engine->state;
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {engine->flow->records, 4 * engine->flow->count, 0},
      [WB_RUN_TRADES] = {s->ring, 4 * ROOM, 4 * ROOM},
      [WB_RUN_ROWS] = {s->ring, 0, 0},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {LAUNCH, ROOM, 0};
  const wb_kernel_arguments arguments = {s->slab, wb_book_layout_bytes(s->layout), buffers, scalars,
                                         NULL};
  if (wb_kernel_run(s->kernel, &arguments, 0, 1, NULL) != WB_OK) abort();
}

static void start(bench_engine *engine) {
  kernel_state *s = engine->state;
  wb_slab_init(s->layout, s->slab, &s->rules);
  engine->seen = (bench_seen){0};
}

static void drain(bench_engine *engine, int64_t *head) {
  const wb_trade *t = ((kernel_state *)engine->state)->ring;
  for (const wb_trade *end = t + head[WB_HEAD_TRADES]; t < end; t++) {
    engine->seen.hash = stream_trade(engine->seen.hash, t->maker, t->taker, t->price, t->qty);
  }
  engine->seen.trades += head[WB_HEAD_TRADES];
  head[WB_HEAD_TRADES] = 0;
}

static void apply(bench_engine *engine, int64_t end) {
  kernel_state *s = engine->state;
  int64_t *head = wb_slab_head_of(s->layout, s->slab);
  head[WB_HEAD_END] = end;
  while (head[WB_HEAD_CURSOR] < end && head[WB_HEAD_FAULT] == 0) {
    launch(engine);
    drain(engine, head);
  }
}

static int64_t run(bench_engine *engine) {
  apply(engine, engine->flow->timed);
  return engine->flow->timed;
}

static bench_seen finish(bench_engine *engine) {
  kernel_state *s = engine->state;
  apply(engine, engine->flow->count);
  if (wb_slab_check(s->layout, s->slab, NULL) != WB_OK) engine->seen.trades = -1;
  return engine->seen;
}

static void release(bench_engine *engine) {
  kernel_state *s = engine->state;
  wb_kernel_release(s->kernel);
  wb_book_layout_free(s->layout);
  free(s->slab);
  free(s->ring);
  free(s);
}

static bool make(bench_engine *engine, const wb_book_rules *rules,
                 const wb_book_features *features) {
  kernel_state *s = calloc(1, sizeof *s);
  if (s == NULL) return false;
  wb_error error = {0};
  wb_program *program = NULL;
  s->rules = *rules;
  s->rules.capacity = engine->capacity;
  if (wb_book_layout_new(engine->capacity, &s->layout, &error) != WB_OK ||
      wb_run_program_build(s->layout, features, &program, &error) != WB_OK ||
      wb_kernel_compile(NULL, program, NULL, &s->kernel, NULL, &error) != WB_OK) {
    fprintf(stderr, "bench: %s: %s\n", engine->name, error.text);
    return false;
  }
  wb_program_free(program);
  size_t bytes = (size_t)wb_book_layout_bytes(s->layout);
  s->slab = aligned_alloc(64, bytes);
  s->ring = aligned_alloc(64, sizeof(wb_trade) * ROOM);
  engine->state = s;
  engine->start = start;
  engine->run = run;
  engine->finish = finish;
  engine->release = release;
  return s->slab != NULL && s->ring != NULL;
}

bool kernel_trusted_make(bench_engine *engine) {
  wb_book_rules rules = wb_book_rules_default();
  rules.unique_refs = 1;
  wb_book_features features = wb_features_none(&rules);
  wb_features_scan(&features, &rules, engine->flow->records, engine->flow->count);
  features.trades = WB_TRADES_ALL;
  return make(engine, &rules, &features);
}

bool kernel_checked_make(bench_engine *engine) {
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features = wb_features_none(&rules);
  wb_features_scan(&features, &rules, engine->flow->records, engine->flow->count);
  features.types |= 1u << WB_RECORD_REDUCE;
  features.flags |= WB_FLAG_EDGE;
  features.bad_records = true;
  features.trades = WB_TRADES_ALL;
  return make(engine, &rules, &features);
}

bool kernel_full_make(bench_engine *engine) {
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features = wb_features_all(&rules);
  return make(engine, &rules, &features);
}

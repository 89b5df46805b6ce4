/* The list of engines, and the reference book as one of them. */
#include "bench_engines.h"

#include "sim/reference.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
  const char *name;
  bool (*make)(bench_engine *engine);
} engines[] = {
    {"ladder, bare", ladder_bare_make},
    {"ladder with all duties", ladder_full_make},
    {"kernel of a checked tape", kernel_trusted_make},
    {"kernel, records and references checked", kernel_checked_make},
    {"kernel for everything", kernel_full_make},
    {"reference", reference_make},
};

int bench_engine_count(void) { return (int)(sizeof engines / sizeof engines[0]); }

const char *bench_engine_name(int number) { return engines[number].name; }

bool bench_engine_make(int number, const stream *flow, int32_t capacity, bench_engine *engine) {
  *engine = (bench_engine){.name = engines[number].name, .flow = flow, .capacity = capacity};
  return engines[number].make(engine);
}

/* ---- the reference ---- */

static void see(void *context, const wb_trade *t) {
  bench_seen *seen = context;
  seen->trades++;
  seen->hash = stream_trade(seen->hash, t->maker, t->taker, t->price, t->qty);
}

static void reference_release(bench_engine *engine) { wb_reference_free(engine->state); }

static void reference_start(bench_engine *engine) {
  wb_book_rules rules = wb_book_rules_default();
  wb_reference *book = NULL;
  wb_reference_free(engine->state);
  if (wb_reference_create(&rules, &book, NULL) != WB_OK) abort();
  engine->state = book;
  engine->seen = (bench_seen){0};
  wb_reference_on_trade(book, see, &engine->seen);
}

static void reference_apply(bench_engine *engine, int64_t first, int64_t end) {
  for (int64_t i = first; i < end; i++) {
    (void)wb_reference_apply(engine->state, &engine->flow->records[i], (int32_t)i, NULL);
  }
}

static int64_t reference_run(bench_engine *engine) {
  reference_apply(engine, 0, engine->flow->timed);
  return engine->flow->timed;
}

static bench_seen reference_finish(bench_engine *engine) {
  reference_apply(engine, engine->flow->timed, engine->flow->count);
  return engine->seen;
}

bool reference_make(bench_engine *engine) {
  engine->start = reference_start;
  engine->run = reference_run;
  engine->finish = reference_finish;
  engine->release = reference_release;
  return true;
}

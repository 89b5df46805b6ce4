/* A long day: many records through one book at a steady occupancy, each with a fresh reference. Does
 * the book get slower, or stop being equal to the reference?
 *
 *   bench_steady [LAPS]        1,000,000 records a lap; default 50
 *
 * A lap is the synthetic stream, which ends with two sweeps; the next one has the references behind
 * its. Prints ns per record lap by lap, last tenth against first; exit status 1 if the hashes differ
 * from the reference's, the status is not clean, or the last tenth is more than 1.1 times slower. */
#define _POSIX_C_SOURCE 200809L
#include "compiler/kernel.h"
#include "kernels/book.h"
#include "sim/reference.h"
#include "stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { LAPS_MOST = 1000, CAPACITY = 128 };

typedef struct steady {
  stream flow;
  wb_book_layout *layout;
  wb_kernel *run, *hashes;
  void *slab;
  wb_reference *reference;
} steady;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool complain(const wb_error *error) {
  fprintf(stderr, "bench_steady: %s\n", error->text);
  return false;
}

static bool compile(const wb_program *program, wb_kernel **kernel, wb_error *error) {
  return wb_kernel_compile(NULL, program, NULL, kernel, NULL, error) == WB_OK || complain(error);
}

static bool open_steady(steady *s) {
  stream_options options = stream_options_default();
  options.records = 1000000 - 2;
  wb_book_rules rules = wb_book_rules_default();
  wb_error error = {0};
  wb_program *program = NULL;
  wb_program *hashes = NULL;
  rules.capacity = CAPACITY;
  wb_book_features features = wb_features_all(&rules);
  features.trades = WB_TRADES_NONE;
  if (!stream_make(&options, &s->flow)) return false;
  if (wb_book_layout_new(CAPACITY, &s->layout, &error) != WB_OK ||
      wb_run_program_build(s->layout, &features, &program, &error) != WB_OK ||
      wb_query_program_build(s->layout, WB_QUERY_HASHES, &hashes, &error) != WB_OK ||
      wb_reference_create(&rules, &s->reference, &error) != WB_OK) {
    return complain(&error);
  }
  bool right = compile(program, &s->run, &error) && compile(hashes, &s->hashes, &error);
  wb_program_free(program);
  wb_program_free(hashes);
  s->slab = aligned_alloc(64, (size_t)wb_book_layout_bytes(s->layout));
  if (!right || s->slab == NULL) return false;
  wb_slab_init(s->layout, s->slab, &rules);
  return true;
}

static void run(steady *s, const wb_kernel *kernel, const wb_buffer_argument *buffers,
                const int64_t *scalars) {
  const wb_kernel_arguments arguments = {s->slab, wb_book_layout_bytes(s->layout), buffers, scalars,
                                         NULL};
  if (wb_kernel_run(kernel, &arguments, 0, 1, NULL) != WB_OK) abort();
}

/* ns per record of one lap of the kernel; the reference takes it untimed. */
static double lap(steady *s, int32_t number) {
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      {s->flow.records, 4 * s->flow.count, 0}, {s->slab, 0, 0}, {s->slab, 0, 0}};
  const int64_t scalars[WB_RUN_SCALARS] = {INT64_MAX, 0, 0};
  int64_t *head = wb_slab_head_of(s->layout, s->slab);
  head[WB_HEAD_CURSOR] = 0;
  head[WB_HEAD_END] = s->flow.count;
  double start = now();
  run(s, s->run, buffers, scalars);
  double ns = 1e9 * (now() - start) / (double)s->flow.count;
  for (int64_t i = 0; i < s->flow.count; i++) {
    (void)wb_reference_apply(s->reference, &s->flow.records[i], (int32_t)i, NULL);
    s->flow.records[i].ref += s->flow.refs;
  }
  printf("lap %4d %8.2f ns\n", number, ns);
  return ns;
}

static bool is_equal(steady *s) {
  int64_t answer[2];
  const wb_buffer_argument buffer = {answer, 2, 0};
  const int64_t scalars[WB_QUERY_SCALARS] = {0};
  run(s, s->hashes, &buffer, scalars);
  printf("book_hash %016" PRIx64 ", state_hash %016" PRIx64 ", status %x\n", (uint64_t)answer[0],
         (uint64_t)answer[1], (unsigned)wb_slab_state_of(s->layout, s->slab)[WB_CELL_STATUS]);
  return (uint64_t)answer[0] == wb_reference_book_hash(s->reference) &&
         (uint64_t)answer[1] == wb_reference_state_hash(s->reference) &&
         wb_slab_state_of(s->layout, s->slab)[WB_CELL_STATUS] == 0 &&
         wb_slab_check(s->layout, s->slab, NULL) == WB_OK;
}

int main(int argc, char **argv) {
  int laps = argc > 1 ? atoi(argv[1]) : 50;
  if (laps < 1 || laps > LAPS_MOST || argc > 2) {
    fprintf(stderr, "usage: bench_steady [LAPS]\n");
    return 2;
  }
  steady s = {0};
  if (!open_steady(&s)) return 1;
  int tenth = laps < 10 ? 1 : laps / 10;
  double first = 0;
  double last = 0;
  for (int i = 0; i < laps; i++) {
    double ns = lap(&s, i + 1);
    if (i < tenth) first += ns / tenth;
    if (i >= laps - tenth) last += ns / tenth;
  }
  bool equal = is_equal(&s);
  printf("first tenth %.2f ns, last tenth %.2f ns, ratio %.3f, %s the reference\n", first, last,
         last / first, equal ? "equal to" : "DIFFERS from");
  stream_free(&s.flow);
  wb_reference_free(s.reference);
  wb_kernel_release(s.run);
  wb_kernel_release(s.hashes);
  wb_book_layout_free(s.layout);
  free(s.slab);
  return equal && last <= 1.1 * first ? 0 : 1;
}

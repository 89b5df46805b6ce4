/* Random records of every type, flag, owner, state and policy on the device, against the reference:
 * the configurations of the differential test (tests/kernels), each with several books. */
#include "gpu.h"

#include "sim/reference.h"
#include "tests/kernels/diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { BOOKS = 32, LAUNCHES = 8, ROOM_MOST = 1 << 16, ROOM_LEAST = 1 << 10 };

typedef struct trial {
  diff_config config;
  gpu_kernels kernels;
  diff_episode episodes[BOOKS];
  gpu_result expected[BOOKS], got[BOOKS];
  wb_record *records; /* of all episodes */
  int64_t each;
  unsigned char *slabs;
} trial;

static void add_trade(void *context, const wb_trade *trade) {
  gpu_result *r = context;
  r->trade_sum += gpu_trade_term(r->trades, trade);
  r->trades++;
}

static gpu_result run_reference(const diff_episode *e) {
  wb_reference *reference;
  gpu_result r = {0};
  GPU_MUST("reference", wb_reference_create(&e->rules, &reference, &gpu_error));
  GPU_MUST("reference", wb_reference_load(reference, e->seeds, e->seed_count, &gpu_error));
  wb_reference_on_trade(reference, add_trade, &r);
  if (e->next_arrival != 0) {
    GPU_MUST("reference", wb_reference_set_next_arrival(reference, e->next_arrival, &gpu_error));
  }
  for (int64_t i = 0; i < e->count; i++) {
    GPU_MUST("reference", wb_reference_apply(reference, &e->records[i], (int32_t)i, &gpu_error));
  }
  r.book_hash = wb_reference_book_hash(reference);
  r.state_hash = wb_reference_state_hash(reference);
  wb_reference_free(reference);
  return r;
}

/* Books, records and what must come out. */
static void make_book(trial *t, int32_t number, int32_t book) {
  diff_episode *e = &t->episodes[book];
  const size_t bytes = (size_t)wb_book_layout_bytes(t->kernels.layout);
  unsigned char *slab = t->slabs + (size_t)book * bytes;
  diff_generate(&t->config, (uint64_t)(number * 1000 + book + 1), t->each, e);
  memcpy(t->records + book * t->each, e->records, (size_t)e->count * sizeof(wb_record));
  wb_slab_init(t->kernels.layout, slab, &e->rules);
  GPU_MUST("seed", wb_slab_load(t->kernels.layout, slab, e->seeds, e->seed_count, &gpu_error));
  if (e->next_arrival != 0) {
    wb_slab_state_of(t->kernels.layout, slab)[WB_CELL_NEXT_ARRIVAL] = e->next_arrival;
  }
  int64_t *head = wb_slab_head_of(t->kernels.layout, slab);
  head[WB_HEAD_END] = e->count;
  head[WB_HEAD_TAPE] = book * t->each;
  t->expected[book] = run_reference(e);
}

static void run_books(trial *t, wb_device *device) {
  gpu_books books;
  wb_error error;
  /* a record trades at most with all orders of a side */
  int64_t limit = (t->each + LAUNCHES - 1) / LAUNCHES;
  int64_t room = limit * t->config.rules.capacity;
  room = room > ROOM_MOST ? ROOM_MOST : room < ROOM_LEAST ? ROOM_LEAST : room;
  void *records = gpu_records_open(device, t->records, t->each * BOOKS);
  if (!gpu_books_open(&books, device, &t->kernels, BOOKS, records, t->each * BOOKS, room, &error)) {
    gpu_die("random books", &error);
  }
  gpu_books_load(&books, t->slabs);
  for (int launch = 0; launch < LAUNCHES; launch++) gpu_books_run(&books, limit, NULL, NULL);
  gpu_books_results(&books, t->got);
  gpu_books_close(&books);
  wb_device_free(device, records);
}

static int64_t compare(const trial *t, int32_t number) {
  int64_t differences = 0;
  for (int32_t book = 0; book < BOOKS; book++) {
    const gpu_result *want = &t->expected[book], *got = &t->got[book];
    if (gpu_same(want, got)) continue;
    differences++;
    printf("random configuration %d (%s), seed %d: %" PRId64 " trades, state %016" PRIx64
           "; the reference: %" PRId64 ", %016" PRIx64 "\n",
           number, t->config.name, number * 1000 + book + 1, got->trades, got->state_hash,
           want->trades, want->state_hash);
  }
  return differences;
}

static int64_t try_config(const gpu_plan *plan, wb_device *device, int32_t number) {
  trial *t = gpu_memory(sizeof *t);
  t->config = diff_config_make(number);
  t->config.features.trades = WB_TRADES_ALL;
  t->config.features.rows = false;
  t->each = plan->random_records;
  gpu_kernels_open(&t->kernels, device, t->config.rules.capacity, &t->config.features);
  t->slabs = gpu_memory(BOOKS * (size_t)wb_book_layout_bytes(t->kernels.layout));
  t->records = gpu_memory(BOOKS * (size_t)t->each * sizeof(wb_record));
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
  for (int32_t book = 0; book < BOOKS; book++) make_book(t, number, book);
  run_books(t, device);
  int64_t differences = compare(t, number);
  for (int32_t book = 0; book < BOOKS; book++) diff_episode_free(&t->episodes[book]);
  gpu_kernels_close(&t->kernels);
  free(t->slabs);
  free(t->records);
  free(t);
  return differences;
}

int64_t gpu_check_random(const gpu_plan *plan, wb_device *device) {
  const int32_t all = diff_config_count();
  const int32_t some = plan->random_configs < all ? plan->random_configs : all;
  int64_t differences = 0;
  double start = gpu_now();
  for (int32_t i = 0; i < some; i++) {
    differences += try_config(plan, device, gpu_random_number(i, some));
  }
  printf("random records: %d configurations, %" PRId64 " records: %" PRId64
         " books differ from the reference, %.1f seconds\n",
         some, (int64_t)some * BOOKS * plan->random_records, differences, gpu_now() - start);
  fflush(stdout);
  return differences;
}

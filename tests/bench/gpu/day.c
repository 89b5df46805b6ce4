/* A recorded day on the device: one book whose every row and trade is the reference's, and many more
 * that run it unwatched and must come to the same end. */
#include "gpu.h"

#include "day_file.h"
#include "sim/reference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WATCHED = 2048, UNWATCHED = 10000, ROOM = 1 << 16 };

struct gpu_day {
  day_head head;
  wb_record *records;
  wb_order *seed;
};

/* ---- the file ---- */

static void bad_file(const char *path) {
  fprintf(stderr, "bench_gpu: %s: not a day's file, or damaged\n", path);
  exit(2);
}

static void read_content(gpu_day *day, FILE *file, const char *path) {
  const day_head *h = &day->head;
  if (fread(&day->head, sizeof day->head, 1, file) != 1 ||
      memcmp(h->magic, DAY_MAGIC, sizeof h->magic) != 0 || h->record_count < 0 ||
      h->seed_count < 0 || h->record_count > INT32_MAX || h->seed_count > INT32_MAX) {
    bad_file(path);
  }
  size_t records = (size_t)h->record_count * sizeof(wb_record);
  size_t seed = (size_t)h->seed_count * sizeof(wb_order);
  unsigned char *content = gpu_memory(records + seed);
  wb_hash128 sum = {0, 0};
  if (fread(content, 1, records + seed, file) == records + seed) {
    sum = wb_hash_bytes(content, records + seed);
  }
  if (sum.low != h->sum.low || sum.high != h->sum.high) bad_file(path);
  day->records = (wb_record *)(void *)content;
  day->seed = (wb_order *)(void *)(content + records);
}

gpu_day *gpu_day_read(const char *path) {
  FILE *file = path != NULL ? fopen(path, "rb") : NULL;
  if (file == NULL) return NULL;
  gpu_day *day = gpu_memory(sizeof *day);
  read_content(day, file, path);
  fclose(file);
  return day;
}

void gpu_day_free(gpu_day *day) {
  if (day == NULL) return;
  free(day->records);
  free(day);
}

const char *gpu_day_name(const gpu_day *day) { return day->head.name; }

static wb_book_rules rules_of(const gpu_day *day) {
  wb_book_rules rules = wb_book_rules_default();
  rules.base = day->head.base;
  rules.tick_size = day->head.tick_size;
  rules.unique_refs = day->head.unique_refs;
  rules.capacity = day->head.capacity;
  return rules;
}

wb_book_features gpu_day_features(const gpu_day *day, int32_t *capacity) {
  wb_book_rules rules = rules_of(day);
  wb_book_features f = wb_features_none(&rules);
  wb_features_scan(&f, &rules, day->records, day->head.record_count);
  f.trades = WB_TRADES_ALL;
  f.rows = true;
  *capacity = rules.capacity;
  return f;
}

/* ---- the watched book ---- */

typedef struct watch {
  const gpu_day *day;
  wb_device *device;
  gpu_kernels kernels;
  wb_book_rules rules;
  int64_t records; /* of the day that are run */
  void *slab, *tape, *ring, *rows;
  unsigned char *image;
  wb_level *levels;
  wb_trade *trades;
  wb_reference *reference;
  gpu_result expected;
  int64_t next_row, row_differences, rows_seen;
} watch;

static void add_trade(void *context, const wb_trade *trade) {
  gpu_result *r = context;
  r->trade_sum += gpu_trade_term(r->trades, trade);
  r->trades++;
}

static size_t row_levels(const watch *w) { return 2 * (size_t)w->day->head.levels; }

static void make_image(const watch *w, unsigned char *image) {
  const wb_book_layout *layout = w->kernels.layout;
  wb_slab_init(layout, image, &w->rules);
  GPU_MUST("seed", wb_slab_load(layout, image, w->day->seed, w->day->head.seed_count, &gpu_error));
  wb_slab_head_of(layout, image)[WB_HEAD_END] = w->records;
}

static void *device_memory(wb_device *device, size_t bytes) {
  void *memory;
  GPU_MUST("memory", wb_device_allocate(device, bytes, &memory, &gpu_error));
  return memory;
}

static void open_watch(watch *w, wb_device *device, const gpu_day *day, int64_t records) {
  int32_t capacity;
  *w = (watch){.day = day, .device = device, .rules = rules_of(day), .records = records};
  wb_book_features features = gpu_day_features(day, &capacity);
  gpu_kernels_open(&w->kernels, device, capacity, &features);
  const size_t slab = (size_t)wb_book_layout_bytes(w->kernels.layout);
  const size_t rows = WATCHED * row_levels(w) * sizeof(wb_level);
  w->tape = gpu_records_open(device, day->records, day->head.record_count);
  w->slab = device_memory(device, slab);
  w->ring = device_memory(device, ROOM * sizeof(wb_trade));
  w->rows = device_memory(device, rows);
  w->image = gpu_memory(slab);
  w->levels = gpu_memory(rows);
  w->trades = gpu_memory(ROOM * sizeof(wb_trade));
  make_image(w, w->image);
  GPU_MUST("reference", wb_reference_create(&w->rules, &w->reference, &gpu_error));
  GPU_MUST("reference",
           wb_reference_load(w->reference, day->seed, day->head.seed_count, &gpu_error));
  wb_reference_on_trade(w->reference, add_trade, &w->expected);
}

static void close_watch(watch *w) {
  wb_device_free(w->device, w->tape);
  wb_device_free(w->device, w->slab);
  wb_device_free(w->device, w->ring);
  wb_device_free(w->device, w->rows);
  gpu_kernels_close(&w->kernels);
  wb_reference_free(w->reference);
  free(w->image);
  free(w->levels);
  free(w->trades);
}

static void launch_watched(watch *w) {
  const int64_t row_words = (int64_t)(WATCHED * row_levels(w) * sizeof(wb_level) / 8);
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {w->tape, 4 * w->day->head.record_count, 0},
      [WB_RUN_TRADES] = {w->ring, 4 * ROOM, 4 * ROOM},
      [WB_RUN_ROWS] = {w->rows, row_words, row_words},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {
      [WB_RUN_LIMIT] = WATCHED, [WB_RUN_TRADE_ROOM] = ROOM, [WB_RUN_DEPTH] = w->day->head.levels};
  const size_t slab = (size_t)wb_book_layout_bytes(w->kernels.layout);
  const wb_launch launch = {.slabs = w->slab,
                            .slab_stride = (int64_t)slab,
                            .books = 1,
                            .buffers = buffers,
                            .buffer_count = WB_RUN_BUFFERS,
                            .scalars = scalars,
                            .scalar_count = WB_RUN_SCALARS};
  GPU_MUST("day", wb_device_write(w->device, w->slab, w->image, slab, &gpu_error));
  GPU_MUST("day", wb_device_launch(w->device, w->kernels.run, &launch, &gpu_error));
  GPU_MUST("day", wb_device_read(w->device, w->image, w->slab, slab, &gpu_error));
  GPU_MUST("day", wb_device_read(w->device, w->levels, w->rows, (size_t)row_words * 8, &gpu_error));
  GPU_MUST("day",
           wb_device_read(w->device, w->trades, w->ring, ROOM * sizeof(wb_trade), &gpu_error));
}

/* The reference's row after a record against the next one that the kernel has written. */
static void check_row(watch *w) {
  const wb_level *row = w->levels + (size_t)w->next_row++ * row_levels(w);
  wb_level want[64];
  for (int side = 0; side < 2; side++) {
    memset(want, 0, sizeof want);
    (void)wb_reference_levels(w->reference, (wb_side)side, want, w->day->head.levels);
    for (int32_t l = 0; l < w->day->head.levels; l++) {
      if (memcmp(&row[2 * l + (side == WB_SIDE_BID)], &want[l], sizeof want[l]) != 0) {
        w->row_differences++;
        return;
      }
    }
  }
}

static void follow(watch *w, int64_t first, int64_t end) {
  w->next_row = 0;
  for (int64_t i = first; i < end; i++) {
    const wb_record *r = &w->day->records[i];
    GPU_MUST("reference", wb_reference_apply(w->reference, r, (int32_t)i, &gpu_error));
    if ((r->flags & WB_FLAG_ROW_END) != 0) check_row(w);
  }
  w->rows_seen += w->next_row;
}

static int64_t run_watched(watch *w) {
  gpu_result got = {0};
  int64_t *head = wb_slab_head_of(w->kernels.layout, w->image), differences = 0;
  while (head[WB_HEAD_CURSOR] < w->records) {
    int64_t first = head[WB_HEAD_CURSOR];
    head[WB_HEAD_TRADES] = 0;
    head[WB_HEAD_ROWS] = 0;
    launch_watched(w);
    if (head[WB_HEAD_FAULT] != 0 || head[WB_HEAD_CURSOR] == first) {
      printf("day: the kernel stopped at record %" PRId64 "\n", first);
      return 1;
    }
    for (int64_t i = 0; i < head[WB_HEAD_TRADES]; i++) add_trade(&got, &w->trades[i]);
    int64_t rows = head[WB_HEAD_ROWS];
    follow(w, first, head[WB_HEAD_CURSOR]);
    differences += rows != w->next_row;
  }
  if (got.trades != w->expected.trades || got.trade_sum != w->expected.trade_sum) {
    printf("day: %" PRId64 " trades, expected %" PRId64 "; or they differ\n", got.trades,
           w->expected.trades);
    differences++;
  }
  return differences + w->row_differences;
}

/* ---- the others ---- */

static int64_t run_unwatched(watch *w, int32_t count) {
  gpu_books books;
  gpu_kernels kernels;
  wb_error error;
  int32_t capacity;
  wb_book_features features = gpu_day_features(w->day, &capacity);
  features.rows = false;
  gpu_kernels_open(&kernels, w->device, capacity, &features);
  if (!gpu_books_open(&books, w->device, &kernels, count, w->tape, w->day->head.record_count,
                      UNWATCHED, &error)) {
    gpu_die("day", &error);
  }
  unsigned char *slabs = gpu_memory((size_t)(count * books.slab_bytes));
  for (int32_t i = 0; i < count; i++) make_image(w, slabs + i * books.slab_bytes);
  gpu_books_load(&books, slabs);
  for (int64_t done = 0; done < w->records; done += UNWATCHED) {
    gpu_books_run(&books, UNWATCHED, NULL, NULL);
  }
  gpu_result *results = gpu_memory((size_t)count * sizeof *results);
  gpu_books_results(&books, results);
  int64_t differences = 0;
  for (int32_t i = 0; i < count; i++) differences += !gpu_same(&results[i], &w->expected);
  free(results);
  free(slabs);
  gpu_books_close(&books);
  gpu_kernels_close(&kernels);
  return differences;
}

int64_t gpu_check_day(const gpu_plan *plan, wb_device *device, const gpu_day *day) {
  watch w;
  double start = gpu_now();
  int64_t records = day->head.record_count;
  if (plan->day_records >= 0 && plan->day_records < records) records = plan->day_records;
  open_watch(&w, device, day, records);
  int64_t watched = run_watched(&w);
  w.expected.book_hash = wb_reference_book_hash(w.reference);
  w.expected.state_hash = wb_reference_state_hash(w.reference);
  int64_t others = run_unwatched(&w, plan->day_books);
  printf("day %s: %" PRId64 " of %" PRId64 " records, %" PRId64 " rows at %d levels, %" PRId64
         " trades: %" PRId64 " differences in rows and trades; %" PRId64
         " of %d more books end differently; state hash %016" PRIx64 ", %.1f seconds\n",
         day->head.name, records, day->head.record_count, w.rows_seen, day->head.levels,
         w.expected.trades, watched, others, plan->day_books, w.expected.state_hash,
         gpu_now() - start);
  fflush(stdout);
  close_watch(&w);
  return watched + others;
}

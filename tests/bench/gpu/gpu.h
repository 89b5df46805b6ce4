/* What the parts of bench_gpu share: a batch of books on one device, and what each part shows.
 *
 * bench_gpu measures and checks the kernels on a GPU. It is made to run on a machine that has nothing
 * of ours but one folder (scripts/gpu_check): it links with neither HDF5 nor libarchive, and takes its
 * kernels from a bundle. */
#ifndef WB_TESTS_BENCH_GPU_H
#define WB_TESTS_BENCH_GPU_H

#include "base/status.h"
#include "compiler/device.h"
#include "kernels/book.h"
#include "tests/bench/stream.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Prints "bench_gpu: ..." and ends the program with status 2: for what is no finding, as short memory
 * or a driver that fails. */
void gpu_die(const char *what, const wb_error *error) __attribute__((noreturn));
void *gpu_memory(size_t bytes); /* zeroed and aligned to 64, or the end */
double gpu_now(void);           /* seconds */

#define GPU_MUST(what, call)                          \
  do {                                                \
    wb_error gpu_error = {.status = WB_OK};           \
    if ((call) != WB_OK) gpu_die((what), &gpu_error); \
  } while (0)

/* ---- what a book has come to ---- */

typedef struct gpu_result {
  uint64_t book_hash, state_hash;
  uint64_t trade_sum; /* over all trades, see gpu_trade_term */
  int64_t trades;
} gpu_result;

bool gpu_same(const gpu_result *a, const gpu_result *b);

/* What trade number n of a book adds to its sum: all bytes of it and its place. */
uint64_t gpu_trade_term(int64_t n, const wb_trade *trade);

/* ---- kernels: kernels.c ---- */

typedef struct gpu_kernels {
  wb_book_layout *layout;
  wb_kernel *run, *drain, *hashes;
  double seconds; /* spent on compiling, or on finding them in a bundle */
} gpu_kernels;

/* Takes the trades of each book's ring: adds them to its sum and empties the ring. */
wb_status gpu_drain_build(const wb_book_layout *layout, wb_program **out, wb_error *error);

void gpu_kernels_open(gpu_kernels *k, wb_device *device, int32_t capacity,
                      const wb_book_features *features);
void gpu_kernels_close(gpu_kernels *k);

/* Every set of kernels that a whole run needs, one after another. `day` may be NULL. */
typedef struct gpu_day gpu_day;
typedef void gpu_set(void *context, const char *label, int32_t capacity,
                     const wb_book_features *features);
void gpu_each_set(const gpu_day *day, int32_t random_configs, gpu_set *set, void *context);

/* The configuration number (tests/kernels) of random trial i of so many. */
int32_t gpu_random_number(int32_t i, int32_t random_configs);

/* Builds all of them into a bundle for the targets ("sm_90", "x86-64-v3"), with commas between;
 * `ptxas`: its path, or NULL. */
void gpu_bundle(const char *folder, const char *targets, const char *ptxas, const gpu_day *day,
                int32_t random_configs);

/* ---- a batch: books.c ---- */

typedef struct gpu_books {
  wb_device *device;
  const gpu_kernels *kernels;
  int64_t count;
  int64_t slab_bytes;
  int64_t record_count, ring_room;
  void *slabs, *records, *ring, *sums, *answers; /* device memory; records: not its own */
  wb_event *events[3];
} gpu_books;

/* The record array of a device, for any number of batches. */
void *gpu_records_open(wb_device *device, const wb_record *records, int64_t count);

/* False, with what was missing in `error`, if the device lacks memory; anything else ends. */
bool gpu_books_open(gpu_books *b, wb_device *device, const gpu_kernels *kernels, int64_t count,
                    void *records, int64_t record_count, int64_t ring_room, wb_error *error);
void gpu_books_close(gpu_books *b);

void gpu_books_load(gpu_books *b, const void *slabs); /* from host memory; sums start at 0 */
/* Keeps the device busy for a moment with what changes nothing, so that its clocks are up. */
void gpu_books_wake(gpu_books *b);
/* One launch of at most `limit` records a book, then its trades are taken. Seconds of each, from
 * events; either may be NULL. */
void gpu_books_run(gpu_books *b, int64_t limit, double *run_seconds, double *drain_seconds);
void gpu_books_results(gpu_books *b, gpu_result *results);

/* ---- streams: streams.c ---- */

enum { GPU_STREAMS = 64 };

/* The streams of a capacity, and a book's state at each starting point. */
typedef struct gpu_flow {
  int32_t capacity, depth, width;
  int64_t warm, step; /* book b starts at record warm + b / streams * step */
  int32_t streams;    /* of book b: b % streams */
  stream made[GPU_STREAMS];
  int64_t offsets[GPU_STREAMS]; /* among all records */
  wb_record *records;           /* of all streams */
  int64_t record_count;
  wb_book_rules rules;
  wb_book_features features;
} gpu_flow;

/* Depth and width that go with a capacity; what the kernels for it may expect. */
void gpu_flow_describe(gpu_flow *f, int32_t capacity);
/* Streams that are long enough for `books` books that take `messages` records each. */
void gpu_flow_open(gpu_flow *f, int32_t capacity, int32_t streams, int64_t books, int64_t messages);
void gpu_flow_close(gpu_flow *f);
/* The slabs of books 0..books-1 at their starting points, made by a CPU's kernels; for free(). */
unsigned char *gpu_flow_slabs(const gpu_flow *f, const gpu_kernels *cpu_kernels, int64_t books);
/* Orders a side that rest in books 0..books-1, on average. */
double gpu_flow_orders(const gpu_kernels *kernels, const unsigned char *slabs, int64_t books);
/* What the reference makes of a book: `messages` records from its starting point on. */
gpu_result gpu_flow_reference(const gpu_flow *f, int64_t book, int64_t messages);

/* ---- the emulator's view: predict.c ---- */

/* What one record costs, as the emulator counts; all 0: not known. */
typedef struct gpu_cost {
  double cycles, instructions, sectors;
} gpu_cost;

/* Forgets what the emulator has counted; false if there is no emulator behind $WB_CUDART. */
bool gpu_cost_start(void);
/* What the message kernel has cost since, for each of `records`. */
gpu_cost gpu_cost_read(int64_t records);
void gpu_cost_write(FILE *out, int32_t capacity, int64_t messages, const gpu_cost *cost);
/* From a file written so: that of the capacity with the nearest number of messages. */
gpu_cost gpu_cost_find(const char *path, int32_t capacity, int64_t messages);

/* ---- the parts of a run; each prints, and returns the number of differences ---- */

typedef struct gpu_plan {
  const char *device;
  int32_t threads; /* of the CPU device; 0: all */
  int64_t books[16], messages[16];
  int32_t capacities[16];
  int32_t book_counts, message_counts, capacity_counts;
  int32_t streams, launches;
  int32_t random_configs; /* how many of the random configurations */
  int64_t random_records; /* of each random book */
  int64_t day_records;    /* at most, of the day; -1: all */
  int32_t day_books;
  double start,
      seconds; /* of the whole run; cells of the table that do not fit are left out, and said */
  const char *predict_from, *predict_to;
  const char *json;
} gpu_plan;

gpu_day *gpu_day_read(const char *path); /* NULL if there is no such file */
void gpu_day_free(gpu_day *day);
const char *gpu_day_name(const gpu_day *day);
wb_book_features gpu_day_features(const gpu_day *day, int32_t *capacity);

int64_t gpu_check_day(const gpu_plan *plan, wb_device *device, const gpu_day *day);
int64_t gpu_check_bits(wb_device *device);
int64_t gpu_check_random(const gpu_plan *plan, wb_device *device);
int64_t gpu_table(const gpu_plan *plan, wb_device *device);

/* Messages a second of dense ladders on all threads, each on streams of its own; < 0: wrong trades. */
double gpu_ladder_rate(const gpu_flow *f, int32_t threads, double seconds);

#endif

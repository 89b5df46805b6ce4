/* A batch of books on a device: memory, launches, results. */
#include "gpu.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define WAKE_SECONDS 0.03

void gpu_die(const char *what, const wb_error *error) {
  fflush(stdout);
  fprintf(stderr, "bench_gpu: %s: %s\n", what, error->text);
  exit(2);
}

void *gpu_memory(size_t bytes) {
  size_t rounded = (bytes + 64) / 64 * 64;
  void *memory = aligned_alloc(64, rounded);
  if (memory == NULL) {
    fprintf(stderr, "bench_gpu: no memory for %zu bytes\n", bytes);
    exit(2);
  }
  memset(memory, 0, rounded);
  return memory;
}

double gpu_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

bool gpu_same(const gpu_result *a, const gpu_result *b) {
  return a->book_hash == b->book_hash && a->state_hash == b->state_hash &&
         a->trade_sum == b->trade_sum && a->trades == b->trades;
}

void *gpu_records_open(wb_device *device, const wb_record *records, int64_t count) {
  void *memory;
  size_t bytes = (size_t)count * sizeof *records;
  GPU_MUST("records", wb_device_allocate(device, bytes, &memory, &gpu_error));
  GPU_MUST("records", wb_device_write(device, memory, records, bytes, &gpu_error));
  return memory;
}

static bool allocate(gpu_books *b, size_t bytes, void **memory, wb_error *error) {
  wb_status status = wb_device_allocate(b->device, bytes, memory, error);
  if (status != WB_OK && status != WB_ERROR_MEMORY) gpu_die("memory", error);
  return status == WB_OK;
}

bool gpu_books_open(gpu_books *b, wb_device *device, const gpu_kernels *kernels, int64_t count,
                    void *records, int64_t record_count, int64_t ring_room, wb_error *error) {
  *b = (gpu_books){.device = device,
                   .kernels = kernels,
                   .count = count,
                   .slab_bytes = wb_book_layout_bytes(kernels->layout),
                   .records = records,
                   .record_count = record_count,
                   .ring_room = ring_room};
  size_t books = (size_t)count;
  if (!allocate(b, books * (size_t)b->slab_bytes, &b->slabs, error) ||
      !allocate(b, books * (size_t)ring_room * sizeof(wb_trade), &b->ring, error) ||
      !allocate(b, books * 2 * sizeof(int64_t), &b->sums, error) ||
      !allocate(b, books * 2 * sizeof(int64_t), &b->answers, error)) {
    gpu_books_close(b);
    return false;
  }
  for (int i = 0; i < 3; i++) GPU_MUST("event", wb_event_new(device, &b->events[i], &gpu_error));
  return true;
}

void gpu_books_close(gpu_books *b) {
  for (int i = 0; i < 3; i++) wb_event_free(b->events[i]);
  wb_device_free(b->device, b->slabs);
  wb_device_free(b->device, b->ring);
  wb_device_free(b->device, b->sums);
  wb_device_free(b->device, b->answers);
  memset(b, 0, sizeof *b);
}

void gpu_books_load(gpu_books *b, const void *slabs) {
  GPU_MUST("load", wb_device_write(b->device, b->slabs, slabs, (size_t)(b->count * b->slab_bytes),
                                   &gpu_error));
  GPU_MUST("load", wb_device_fill(b->device, b->sums, 0, (size_t)b->count * 2 * sizeof(int64_t),
                                  &gpu_error));
}

/* A launch over all books with these buffers and scalars. */
static void launch(gpu_books *b, const wb_kernel *kernel, const wb_buffer_argument *buffers,
                   int32_t buffer_count, const int64_t *scalars, int32_t scalar_count) {
  const wb_launch what = {.slabs = b->slabs,
                          .slab_stride = b->slab_bytes,
                          .books = b->count,
                          .buffers = buffers,
                          .buffer_count = buffer_count,
                          .scalars = scalars,
                          .scalar_count = scalar_count};
  GPU_MUST("launch", wb_device_launch(b->device, kernel, &what, &gpu_error));
}

static void launch_run(gpu_books *b, int64_t limit) {
  const int64_t room = 4 * b->ring_room;
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {b->records, 4 * b->record_count, 0},
      [WB_RUN_TRADES] = {b->ring, room, room},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {
      [WB_RUN_LIMIT] = limit, [WB_RUN_TRADE_ROOM] = b->ring_room};
  launch(b, b->kernels->run, buffers, WB_RUN_BUFFERS, scalars, WB_RUN_SCALARS);
}

static void launch_drain(gpu_books *b) {
  const int64_t room = 4 * b->ring_room;
  const wb_buffer_argument buffers[] = {{b->ring, room, room}, {b->sums, 2, 2}};
  launch(b, b->kernels->drain, buffers, 2, NULL, 0);
}

static double seconds_between(wb_event *start, wb_event *end) {
  double seconds = 0;
  GPU_MUST("event", wb_event_seconds(start, end, &seconds, &gpu_error));
  return seconds;
}

void gpu_books_run(gpu_books *b, int64_t limit, double *run_seconds, double *drain_seconds) {
  GPU_MUST("event", wb_event_record(b->events[0], &gpu_error));
  launch_run(b, limit);
  GPU_MUST("event", wb_event_record(b->events[1], &gpu_error));
  launch_drain(b);
  GPU_MUST("event", wb_event_record(b->events[2], &gpu_error));
  GPU_MUST("run", wb_device_wait(b->device, &gpu_error));
  if (run_seconds != NULL) *run_seconds = seconds_between(b->events[0], b->events[1]);
  if (drain_seconds != NULL) *drain_seconds = seconds_between(b->events[1], b->events[2]);
}

static void launch_hashes(gpu_books *b) {
  static const int64_t none[WB_QUERY_SCALARS] = {0};
  const wb_buffer_argument answer = {b->answers, 2, 2};
  launch(b, b->kernels->hashes, &answer, 1, none, WB_QUERY_SCALARS);
}

void gpu_books_wake(gpu_books *b) {
  const double start = gpu_now();
  do {
    launch_hashes(b);
    GPU_MUST("wake", wb_device_wait(b->device, &gpu_error));
  } while (gpu_now() - start < WAKE_SECONDS);
}

void gpu_books_results(gpu_books *b, gpu_result *results) {
  const size_t bytes = (size_t)b->count * 2 * sizeof(uint64_t);
  uint64_t *hashes = gpu_memory(bytes), *sums = gpu_memory(bytes);
  launch_hashes(b);
  GPU_MUST("read", wb_device_read(b->device, hashes, b->answers, bytes, &gpu_error));
  GPU_MUST("read", wb_device_read(b->device, sums, b->sums, bytes, &gpu_error));
  for (int64_t i = 0; i < b->count; i++) {
    results[i] =
        (gpu_result){hashes[2 * i], hashes[2 * i + 1], sums[2 * i], (int64_t)sums[2 * i + 1]};
  }
  free(hashes);
  free(sums);
}

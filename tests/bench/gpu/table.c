/* The table: messages a second by capacity, books and messages of a launch, each cell checked.
 *
 * A cell is one warm-up launch and a few timed ones, after each of which the trades are taken from the
 * rings and hashed. Then every book's hashes and trades must be those of the CPU device, and those of
 * 64 books the reference's. */
#include "gpu.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LEAST_HOST_BYTES (INT64_C(4) << 30)

enum { CHUNK = 2048, REFERENCED = 64, LAUNCHES_MOST = 64 };

/* What one capacity needs. */
typedef struct bench {
  const gpu_plan *plan;
  wb_device *gpu, *cpu;
  wb_device_info info;
  gpu_flow flow;
  gpu_kernels on_gpu, on_cpu;
  unsigned char *slabs; /* all starting points */
  int64_t books;        /* as many as they are */
  void *gpu_records, *cpu_records;
  double ladder;
  FILE *json, *predictions;
  int64_t cells, differences;
  double book_pace, message_pace; /* seconds that the slowest cells so far took for each */
} bench;

typedef struct cell {
  int64_t books, messages, room;
  double gpu_seconds, drain_seconds, cpu_seconds; /* of a launch */
  int64_t differences;
  gpu_cost cost;
} cell;

static int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int32_t count) {
  qsort(values, (size_t)count, sizeof *values, compare_doubles);
  return values[count / 2];
}

/* ---- running ---- */

/* The warm-up and the timed launches; seconds of a launch and of taking its trades. */
static void run_launches(const bench *b, gpu_books *books, int64_t messages, double *run,
                         double *drain) {
  double runs[LAUNCHES_MOST], drains[LAUNCHES_MOST];
  gpu_books_run(books, messages, NULL, NULL);
  for (int32_t i = 0; i < b->plan->launches; i++) {
    gpu_books_run(books, messages, &runs[i], &drains[i]);
  }
  *run = median(runs, b->plan->launches);
  *drain = median(drains, b->plan->launches);
}

static bool run_on_gpu(bench *b, cell *c, gpu_result *results) {
  gpu_books books;
  wb_error error;
  if (!gpu_books_open(&books, b->gpu, &b->on_gpu, c->books, b->gpu_records, b->flow.record_count,
                      c->room, &error)) {
    printf("%8d %7" PRId64 " %8" PRId64 "  left out: %s\n", b->flow.capacity, c->books, c->messages,
           error.text);
    return false;
  }
  gpu_books_load(&books, b->slabs);
  gpu_books_wake(&books);
  bool counted = gpu_cost_start();
  run_launches(b, &books, c->messages, &c->gpu_seconds, &c->drain_seconds);
  if (counted) c->cost = gpu_cost_read(c->books * c->messages * (b->plan->launches + 1));
  gpu_books_results(&books, results);
  gpu_books_close(&books);
  return true;
}

/* In chunks, so that their rings need not all be there at once. */
static void run_on_cpu(bench *b, cell *c, gpu_result *results) {
  const int64_t most = c->books < CHUNK ? c->books : CHUNK;
  gpu_books books;
  wb_error error;
  if (!gpu_books_open(&books, b->cpu, &b->on_cpu, most, b->cpu_records, b->flow.record_count,
                      c->room, &error)) {
    gpu_die("cpu", &error);
  }
  for (int64_t done = 0; done < c->books; done += most) {
    double run, drain;
    books.count = c->books - done < most ? c->books - done : most;
    gpu_books_load(&books, b->slabs + done * books.slab_bytes);
    run_launches(b, &books, c->messages, &run, &drain);
    c->cpu_seconds += run;
    gpu_books_results(&books, results + done);
  }
  gpu_books_close(&books);
}

static void say_difference(const cell *c, int64_t book, const char *whose, const gpu_result *want,
                           const gpu_result *got) {
  if (c->differences > 3) return;
  printf("  book %" PRId64 " differs from the %s: hashes %016" PRIx64 " %016" PRIx64 ", %" PRId64
         " trades; expected %016" PRIx64 " %016" PRIx64 ", %" PRId64 "\n",
         book, whose, got->book_hash, got->state_hash, got->trades, want->book_hash,
         want->state_hash, want->trades);
}

static void check_results(bench *b, cell *c, const gpu_result *gpu, const gpu_result *cpu) {
  const int64_t messages = c->messages * (b->plan->launches + 1);
  const int64_t referenced = c->books < REFERENCED ? c->books : REFERENCED;
  for (int64_t i = 0; i < c->books; i++) {
    if (gpu_same(&gpu[i], &cpu[i])) continue;
    c->differences++;
    say_difference(c, i, "CPU device", &cpu[i], &gpu[i]);
  }
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
  for (int64_t i = 0; i < referenced; i++) {
    int64_t book = i * c->books / referenced;
    gpu_result want = gpu_flow_reference(&b->flow, book, messages);
    if (gpu_same(&gpu[book], &want)) continue;
#ifdef _OPENMP
#pragma omp critical(differs_from_reference)
#endif
    {
      c->differences++;
      say_difference(c, book, "reference", &want, &gpu[book]);
    }
  }
}

/* ---- printing ---- */

static void print_head(const bench *b) {
  printf("\ncapacity %d: %.0f orders a side at the start, %d streams, slab %" PRId64 " bytes; %s\n",
         b->flow.capacity, gpu_flow_orders(&b->on_cpu, b->slabs, b->books < 256 ? b->books : 256),
         b->flow.streams, (int64_t)wb_book_layout_bytes(b->on_gpu.layout),
         wb_kernel_gpu(b->on_gpu.run)->report);
  printf("dense ladder, %s: %.1f M messages/s\n", "a book a thread, all threads", 1e-6 * b->ladder);
  printf("%8s %7s %8s %12s %12s %10s %12s %9s %9s %11s %9s  %s\n", "capacity", "books", "messages",
         "M msg/s", "with taking", "ns/msg", "SM cycles", "emulated", "ratio", "CPU M msg/s",
         "GPU/CPU", "bound by");
}

/* What stands against more, as far as the numbers tell. */
static const char *bound(const bench *b, const cell *c, double cycles, double predicted, char *text,
                         size_t bytes) {
  const double warps = (double)c->books / (double)(b->info.multiprocessors);
  const double rate = (double)(c->books * c->messages) / c->gpu_seconds;
  if (predicted <= 0) return "";
  if (cycles < 1.5 * predicted) {
    snprintf(text, bytes, "instructions");
  } else if (warps < 16) {
    snprintf(text, bytes, "few books: %.1f warps a multiprocessor", warps);
  } else {
    snprintf(text, bytes, "latency or memory: %.0f GB/s of sectors",
             1e-9 * rate * 32 * c->cost.sectors);
  }
  return text;
}

static void print_cell(bench *b, const cell *c) {
  const double messages = (double)(c->books * c->messages);
  const double clock = 1e3 * b->info.clock_khz;
  const double cycles = c->gpu_seconds * clock * b->info.multiprocessors / messages;
  const double rate = messages / c->gpu_seconds;
  const double all = messages / (c->gpu_seconds + c->drain_seconds);
  const double cpu = messages / c->cpu_seconds;
  char text[96] = "";
  printf("%8d %7" PRId64 " %8" PRId64 " %12.1f %12.1f %10.2f %12.1f %9.1f %9.2f %11.1f %9.1f  "
         "%s%s\n",
         b->flow.capacity, c->books, c->messages, 1e-6 * rate, 1e-6 * all,
         1e9 * c->gpu_seconds / (double)c->messages, cycles, c->cost.cycles,
         c->cost.cycles > 0 ? cycles / c->cost.cycles : 0, 1e-6 * cpu, rate / cpu,
         c->differences > 0 ? "DIFFERENT " : "",
         bound(b, c, cycles, c->cost.cycles, text, sizeof text));
  fflush(stdout);
  if (b->json == NULL) return;
  fprintf(b->json,
          "%s\n  {\"capacity\": %d, \"books\": %" PRId64 ", \"messages\": %" PRId64
          ", \"messages_per_second\": %.6g, \"with_taking\": %.6g, \"ns_per_message_per_book\": "
          "%.6g, \"sm_cycles_per_message\": %.6g, \"emulated_sm_cycles\": %.6g, "
          "\"cpu_messages_per_second\": %.6g, \"ladder_messages_per_second\": %.6g, "
          "\"differences\": %" PRId64 "}",
          b->cells > 0 ? "," : "", b->flow.capacity, c->books, c->messages, rate, all,
          1e9 * c->gpu_seconds / (double)c->messages, cycles, c->cost.cycles, cpu, b->ladder,
          c->differences);
}

/* ---- cells ---- */

static double trades_per_message(const gpu_flow *f) {
  double trades = 0, messages = 0;
  for (int32_t i = 0; i < f->streams; i++) {
    trades += (double)f->made[i].trades;
    messages += (double)f->made[i].timed;
  }
  return trades / messages;
}

/* Whether a cell would end in time if it went at the slowest paces so far. */
static bool has_time(const bench *b, const cell *c) {
  const double books = (double)c->books;
  const double needed = books * (b->book_pace + b->message_pace * (double)c->messages);
  return gpu_now() - b->plan->start + needed <= b->plan->seconds;
}

/* Small cells say little of either pace. */
static void note_pace(bench *b, const cell *c, double seconds) {
  const double books = (double)c->books, messages = books * (double)c->messages;
  const double launches = b->plan->launches + 1;
  const double running = launches * (c->gpu_seconds + c->drain_seconds + c->cpu_seconds);
  const double book = (seconds - running) / books, message = running / messages;
  if (books >= 1000 && book > b->book_pace) b->book_pace = book;
  if (messages >= 1e6 && message > b->message_pace) b->message_pace = message;
}

static void run_cell(bench *b, int64_t books, int64_t messages) {
  cell c = {.books = books, .messages = messages};
  const double start = gpu_now();
  if (!has_time(b, &c)) {
    printf("%8d %7" PRId64 " %8" PRId64 "  left out: it would end after %.0f seconds\n",
           b->flow.capacity, books, messages, b->plan->seconds);
    return;
  }
  c.room = 512 + (int64_t)(2 * trades_per_message(&b->flow) * (double)messages);
  gpu_result *gpu = gpu_memory((size_t)books * sizeof *gpu);
  gpu_result *cpu = gpu_memory((size_t)books * sizeof *cpu);
  if (run_on_gpu(b, &c, gpu)) {
    run_on_cpu(b, &c, cpu);
    check_results(b, &c, gpu, cpu);
    if (b->predictions != NULL && c.cost.cycles > 0) {
      gpu_cost_write(b->predictions, b->flow.capacity, messages, &c.cost);
    }
    if (c.cost.cycles <= 0) {
      c.cost = gpu_cost_find(b->plan->predict_from, b->flow.capacity, messages);
    }
    print_cell(b, &c);
    b->cells++;
    b->differences += c.differences;
    note_pace(b, &c, gpu_now() - start);
  }
  free(gpu);
  free(cpu);
}

/* ---- capacities ---- */

static int64_t most(const int64_t *values, int32_t count) {
  int64_t largest = 0;
  for (int32_t i = 0; i < count; i++) largest = values[i] > largest ? values[i] : largest;
  return largest;
}

/* As many books as half of this machine's memory holds starting points of; small virtual machines that
 * grow as they are used say too little of it. */
static int64_t books_that_fit(int64_t books, int64_t slab_bytes) {
  int64_t bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / 2;
  if (bytes < LEAST_HOST_BYTES) bytes = LEAST_HOST_BYTES;
  return books * slab_bytes <= bytes ? books : bytes / slab_bytes;
}

static void open_capacity(bench *b, int32_t capacity) {
  const gpu_plan *plan = b->plan;
  gpu_flow described;
  gpu_flow_describe(&described, capacity);
  gpu_kernels_open(&b->on_gpu, b->gpu, capacity, &described.features);
  gpu_kernels_open(&b->on_cpu, b->cpu, capacity, &described.features);
  b->books =
      books_that_fit(most(plan->books, plan->book_counts), wb_book_layout_bytes(b->on_cpu.layout));
  gpu_flow_open(&b->flow, capacity, plan->streams, b->books,
                most(plan->messages, plan->message_counts) * (plan->launches + 1));
  b->slabs = gpu_flow_slabs(&b->flow, &b->on_cpu, b->books);
  b->gpu_records = gpu_records_open(b->gpu, b->flow.records, b->flow.record_count);
  b->cpu_records = gpu_records_open(b->cpu, b->flow.records, b->flow.record_count);
  b->ladder = gpu_ladder_rate(&b->flow, plan->threads, plan->seconds > 60 ? 1.5 : 0.1);
  if (b->ladder < 0) {
    printf("dense ladder: its trades are wrong\n");
    b->differences++;
  }
}

static void close_capacity(bench *b) {
  wb_device_free(b->gpu, b->gpu_records);
  wb_device_free(b->cpu, b->cpu_records);
  free(b->slabs);
  gpu_flow_close(&b->flow);
  gpu_kernels_close(&b->on_gpu);
  gpu_kernels_close(&b->on_cpu);
}

static void run_capacity(bench *b, int32_t capacity) {
  const gpu_plan *plan = b->plan;
  open_capacity(b, capacity);
  print_head(b);
  for (int32_t m = 0; m < plan->message_counts; m++) {
    for (int32_t i = 0; i < plan->book_counts; i++) {
      if (plan->books[i] <= b->books) {
        run_cell(b, plan->books[i], plan->messages[m]);
      } else {
        printf("%8d %7" PRId64 " %8" PRId64 "  left out: this host's memory is too small\n",
               capacity, plan->books[i], plan->messages[m]);
      }
    }
  }
  close_capacity(b);
}

static FILE *open_file(const char *path) {
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  if (path != NULL && file == NULL) {
    fprintf(stderr, "bench_gpu: %s cannot be written\n", path);
    exit(2);
  }
  return file;
}

int64_t gpu_table(const gpu_plan *plan, wb_device *device) {
  const double start = gpu_now();
  bench b = {.plan = plan, .gpu = device};
  wb_device_describe(device, &b.info);
  GPU_MUST("cpu", wb_device_open("cpu", &b.cpu, &gpu_error));
  GPU_MUST("cpu", wb_device_set_threads(b.cpu, plan->threads, &gpu_error));
  b.json = open_file(plan->json);
  b.predictions = open_file(plan->predict_to);
  if (b.json != NULL) fputs("[", b.json);
  for (int32_t i = 0; i < plan->capacity_counts; i++) run_capacity(&b, plan->capacities[i]);
  if (b.json != NULL) {
    fputs("\n]\n", b.json);
    fclose(b.json);
  }
  if (b.predictions != NULL) fclose(b.predictions);
  wb_device_close(b.cpu);
  printf("\n%" PRId64 " cells, %" PRId64 " differences, %.0f seconds\n", b.cells, b.differences,
         gpu_now() - start);
  return b.differences;
}

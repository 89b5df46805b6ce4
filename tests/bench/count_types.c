/* Takes records of one kind at a time through a kernel, for count_types.sh to count instructions:
 * launches of kind number N happen inside the function counted_N.
 *
 *   count_types everything|checked      prints for each kind: number, records, launches, name
 *   count_types everything|checked gpu  on the emulated GPU that WB_CUDART names; prints for each kind
 *                                       warp instructions and SM cycles a record, without the launch's
 *
 * Each round puts the book into the same state, then takes a launch of the kind. */
#include "compiler/device.h"
#include "kernels/book.h"
#include "tests/emulator/emulator.h"

#include <dlfcn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ORDERS = 64, ROUNDS = 20, ROOM = 4096, CAPACITY = 128, MOST = 4 * ORDERS };

typedef struct counter {
  wb_book_layout *layout;
  wb_kernel *kernel;
  void *slab;
  wb_trade ring[ROOM];
  wb_record records[MOST];
  int32_t count;
  int32_t next_ref;
  /* on a GPU */
  wb_device *device;
  void *slab_there, *ring_there, *records_there;
  bool (*read_counts)(const char *kernel, wb_emulator_counts *counts);
} counter;

/* ---- launches ---- */

static void must(wb_status status, const wb_error *error) {
  if (status == WB_OK) return;
  fprintf(stderr, "count_types: %s\n", error->text);
  exit(1);
}

static void launch_on_gpu(counter *c) {
  wb_error e = {0};
  size_t slab = (size_t)wb_book_layout_bytes(c->layout);
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {c->records_there, 4 * MOST, 0},
      [WB_RUN_TRADES] = {c->ring_there, 4 * ROOM, 4 * ROOM},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {MOST, ROOM, 0};
  const wb_launch l = {.slabs = c->slab_there,
                       .slab_stride = (int64_t)slab,
                       .books = 1,
                       .buffers = buffers,
                       .buffer_count = WB_RUN_BUFFERS,
                       .scalars = scalars,
                       .scalar_count = WB_RUN_SCALARS};
  must(wb_device_write(c->device, c->slab_there, c->slab, slab, &e), &e);
  must(wb_device_write(c->device, c->records_there, c->records, sizeof c->records, &e), &e);
  must(wb_device_launch(c->device, c->kernel, &l, &e), &e);
  must(wb_device_read(c->device, c->slab, c->slab_there, slab, &e), &e);
}

static void launch(counter *c) {
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {c->records, 4 * MOST, 0},
      [WB_RUN_TRADES] = {c->ring, 4 * ROOM, 0},
      [WB_RUN_ROWS] = {c->ring, 0, 0},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {MOST, ROOM, 0};
  const wb_kernel_arguments arguments = {c->slab, wb_book_layout_bytes(c->layout), buffers, scalars,
                                         NULL};
  int64_t *head = wb_slab_head_of(c->layout, c->slab);
  head[WB_HEAD_CURSOR] = 0;
  head[WB_HEAD_END] = c->count;
  head[WB_HEAD_TRADES] = 0;
  if (c->device != NULL) {
    launch_on_gpu(c);
  } else if (wb_kernel_run(c->kernel, &arguments, 0, 1, NULL) != WB_OK) {
    abort();
  }
}

/* one function for each kind, which a profiler can tell from the others */
#define KIND_NUMBERS(X) \
  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) X(16)
#define X(n)                                              \
  __attribute__((noinline)) void counted_##n(counter *c); \
  void counted_##n(counter *c) { launch(c); }
KIND_NUMBERS(X)
#undef X

static void put(counter *c, wb_record_type type, int side, int32_t ref, int32_t price, int32_t qty,
                int flags) {
  c->records[c->count++] = (wb_record){.ref = ref,
                                       .price = price,
                                       .qty = qty,
                                       .type = (uint8_t)type,
                                       .flags = (uint8_t)(side | flags)};
}

/* ---- kinds ---- */

static int32_t scattered(int32_t i) { return i * 37 % ORDERS; }

/* References that fill all rows of both sides evenly: old orders rest, new ones do not. */
static int32_t old_ref(int32_t i) { return i / 2 + (i & 1) * ORDERS; }
static int32_t new_ref(int32_t i) { return 1024 + old_ref(i); }
static int32_t price_of(int32_t i, int32_t more) {
  int32_t away = scattered(i / 2) / 6 + more;
  return (i & 1) != 0 ? 100 + away : 99 - away;
}

/* ORDERS bids below 100, ORDERS asks from 100 on, of 10 shares; even i are bids. */
static void fill_book(counter *c) {
  wb_book_rules rules = wb_book_rules_default();
  wb_slab_init(c->layout, c->slab, &rules);
  c->count = 0;
  for (int32_t i = 0; i < 2 * ORDERS; i++) {
    put(c, WB_RECORD_ADD, i & 1, old_ref(i), price_of(i, 0), 10, 0);
  }
  launch(c);
  c->count = 0;
}

/* One round of records that name the old orders, in a scattered order. */
static void named(counter *c, wb_record_type type, int32_t qty, int32_t more) {
  for (int32_t n = 0; n < 2 * ORDERS; n++) {
    int32_t i = (n * 23 + 5) % (2 * ORDERS);
    put(c, type, i & 1, old_ref(i), price_of(i, more), qty, 0);
  }
}

/* New orders at prices `more` ticks behind the touch, or far across it. */
static void adds(counter *c, int32_t qty, int flags) {
  for (int32_t i = 0; i < ORDERS; i++) {
    put(c, WB_RECORD_ADD, i & 1, new_ref(i), price_of(i, 1), qty, flags);
  }
}
static void takers(counter *c, wb_record_type type, int32_t qty, int flags) {
  for (int32_t i = 0; i < ORDERS; i++) {
    put(c, type, i & 1, new_ref(i), (i & 1) != 0 ? 0 : 200, qty, flags);
  }
}

static void make_add(counter *c) { adds(c, 10, 0); }
static void make_post_only(counter *c) { adds(c, 10, WB_FLAG_POST_ONLY); }
static void make_ioc_misses(counter *c) { adds(c, 10, WB_FLAG_IOC); }
static void make_takes_part(counter *c) { takers(c, WB_RECORD_ADD, 1, 0); }
static void make_takes_one(counter *c) { takers(c, WB_RECORD_ADD, 10, 0); }
static void make_fok(counter *c) { takers(c, WB_RECORD_ADD, 10, WB_FLAG_FOK); }
static void make_market(counter *c) { takers(c, WB_RECORD_MARKET, 10, 0); }
static void make_reduce(counter *c) { named(c, WB_RECORD_REDUCE, 3, 0); }
static void make_delete(counter *c) { named(c, WB_RECORD_DELETE, 0, 0); }
static void make_amend_keeps(counter *c) { named(c, WB_RECORD_AMEND, 5, 0); }
static void make_amend_moves(counter *c) { named(c, WB_RECORD_AMEND, 5, 9); }
static void make_execute(counter *c) { named(c, WB_RECORD_EXECUTE, 10, 0); }
static void make_execute_part(counter *c) { named(c, WB_RECORD_EXECUTE, 4, 0); }
static void make_note(counter *c) {
  for (int32_t i = 0; i < ORDERS; i++) put(c, WB_RECORD_NOTE, 0, 0, 0, 10, 0);
}
static void make_state(counter *c) {
  for (int32_t i = 0; i < ORDERS; i++) put(c, WB_RECORD_STATE, 0, 0, 0, 0, 0);
}
static void make_absent(counter *c) {
  for (int32_t i = 0; i < ORDERS; i++) put(c, WB_RECORD_DELETE, i & 1, new_ref(i), 0, 0, 0);
}
static void make_nothing(counter *c) { c->count = 0; }

static const struct {
  const char *name;
  void (*make)(counter *c);
  void (*counted)(counter *c);
} kinds[] = {
    {"nothing (a launch)", make_nothing, counted_0},
    {"ADD, rests", make_add, counted_1},
    {"ADD, takes part of an order", make_takes_part, counted_2},
    {"ADD, takes one order", make_takes_one, counted_3},
    {"ADD IOC, takes nothing", make_ioc_misses, counted_4},
    {"ADD FOK, takes one order", make_fok, counted_5},
    {"ADD POST_ONLY, rests", make_post_only, counted_6},
    {"MARKET, takes one order", make_market, counted_7},
    {"REDUCE", make_reduce, counted_8},
    {"DELETE", make_delete, counted_9},
    {"DELETE of no order", make_absent, counted_10},
    {"AMEND, keeps its place", make_amend_keeps, counted_11},
    {"AMEND, moves", make_amend_moves, counted_12},
    {"EXECUTE, whole", make_execute, counted_13},
    {"EXECUTE, part", make_execute_part, counted_14},
    {"NOTE", make_note, counted_15},
    {"STATE", make_state, counted_16},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* ---- the program ---- */

static bool open_counter(counter *c, bool trusted) {
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features = wb_features_all(&rules);
  features.rows = false;
  if (trusted) {
    features.bad_records = false;
    features.unique_refs = true;
    features.agents = false;
  }
  wb_error error = {0};
  wb_program *program = NULL;
  if (wb_book_layout_new(CAPACITY, &c->layout, &error) != WB_OK ||
      wb_run_program_build(c->layout, &features, &program, &error) != WB_OK ||
      (c->device != NULL
           ? wb_device_compile(c->device, program, NULL, &c->kernel, NULL, &error)
           : wb_kernel_compile(NULL, program, NULL, &c->kernel, NULL, &error)) != WB_OK) {
    fprintf(stderr, "count_types: %s\n", error.text);
    return false;
  }
  wb_program_free(program);
  c->slab = aligned_alloc(64, (size_t)wb_book_layout_bytes(c->layout));
  return c->slab != NULL;
}

/* ---- on a GPU ---- */

static void open_gpu(counter *c) {
  wb_error e = {0};
  const char *path = getenv("WB_CUDART");
  void *library = path != NULL ? dlopen(path, RTLD_NOW) : NULL;
  void *found = library != NULL ? dlsym(library, "wb_emulator_read_counts") : NULL;
  if (found == NULL) {
    fprintf(stderr, "count_types: WB_CUDART must name the emulator's library\n");
    exit(2);
  }
  memcpy(&c->read_counts, &found, sizeof found);
  must(wb_device_open("cuda", &c->device, &e), &e);
}

static void open_memory(counter *c) {
  wb_error e = {0};
  size_t slab = (size_t)wb_book_layout_bytes(c->layout);
  must(wb_device_allocate(c->device, slab, &c->slab_there, &e), &e);
  must(wb_device_allocate(c->device, sizeof c->ring, &c->ring_there, &e), &e);
  must(wb_device_allocate(c->device, sizeof c->records, &c->records_there, &e), &e);
}

static wb_emulator_counts counts_now(const counter *c) {
  wb_emulator_counts counts = {0};
  (void)c->read_counts("wb_run", &counts);
  return counts;
}

static void close_gpu(counter *c) {
  wb_device_free(c->device, c->slab_there);
  wb_device_free(c->device, c->ring_there);
  wb_device_free(c->device, c->records_there);
  wb_kernel_release(c->kernel);
  wb_device_close(c->device);
}

static void count_on_gpu(counter *c) {
  double empty_instructions = 0, empty_cycles = 0;
  for (int i = 0; i < KINDS; i++) {
    fill_book(c);
    kinds[i].make(c);
    wb_emulator_counts before = counts_now(c);
    kinds[i].counted(c);
    wb_emulator_counts after = counts_now(c);
    double instructions = (double)(after.instructions - before.instructions);
    double cycles = after.sm_cycles - before.sm_cycles;
    if (i == 0) {
      empty_instructions = instructions;
      empty_cycles = cycles;
      printf("%-28s %8.1f warp instructions %8.1f SM cycles\n", kinds[i].name, instructions,
             cycles);
      continue;
    }
    printf("%-28s %8.1f %26.1f\n", kinds[i].name, (instructions - empty_instructions) / c->count,
           (cycles - empty_cycles) / c->count);
  }
}

/* ---- all of it ---- */

static void count_on_host(counter *c) {
  for (int i = 0; i < KINDS; i++) {
    int64_t records = 0;
    for (int r = 0; r < ROUNDS; r++) {
      fill_book(c);
      kinds[i].make(c);
      kinds[i].counted(c);
      records += c->count;
    }
    printf("%d %lld %d %s\n", i, (long long)records, ROUNDS, kinds[i].name);
  }
}

int main(int argc, char **argv) {
  static counter c;
  bool gpu = argc == 3 && strcmp(argv[2], "gpu") == 0;
  bool checked = argc >= 2 && strcmp(argv[1], "checked") == 0;
  bool everything = argc >= 2 && strcmp(argv[1], "everything") == 0;
  if ((argc != 2 && !gpu) || (!checked && !everything)) {
    fprintf(stderr, "usage: count_types everything|checked [gpu]\n");
    return 2;
  }
  if (gpu) open_gpu(&c);
  if (!open_counter(&c, checked)) return 1;
  if (gpu) {
    open_memory(&c);
    count_on_gpu(&c);
    close_gpu(&c);
  } else {
    count_on_host(&c);
    wb_kernel_release(c.kernel);
  }
  wb_book_layout_free(c.layout);
  free(c.slab);
  return 0;
}

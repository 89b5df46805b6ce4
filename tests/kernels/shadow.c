/* A kernel behind every reference book of a test: the tests that state the rules one by one state them
 * for the kernels too.
 *
 * Linked with --wrap for the calls below, it gives each reference book whose capacity a slab can have
 * (or that has none) a kernel's book of the same rules, made for everything: interpreted, or on the
 * device that WB_TEST_DEVICE names. Each record goes to both; after it trades, orders, counters and the
 * slab's invariants must agree, now and then hashes. */
#include "compiler/interp.h"
#include "kernels/book.h"
#include "on_device.h"
#include "sim/reference.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { UNLIMITED = 2048, ROOM = 4096, HASH_EVERY = 61 };

typedef struct shadow shadow;
struct shadow {
  const wb_reference *reference;
  wb_trade_function *on_trade; /* the test's own */
  void *context;
  wb_book_rules rules;
  wb_book_layout *layout;
  wb_program *run, *hashes;
  wb_device *device; /* NULL: interpreted */
  wb_kernel *run_kernel, *hashes_kernel;
  void *slab;
  wb_trade *ring;
  wb_trade *expected; /* of the record being applied */
  int64_t expected_count, records;
  shadow *next;
};

static shadow *all; /* a test program has one thread */

/* One device for all books of a test: its cache knows the kernels of the books before. */
static wb_device *shared_device;

static void open_device(shadow *s) {
  const char *name = getenv("WB_TEST_DEVICE");
  wb_error error = {0};
  if (name == NULL || name[0] == '\0') return;
  if (shared_device == NULL) {
    cr_assert_eq(wb_device_open(name, &shared_device, &error), WB_OK, "%s", error.text);
  }
  s->device = shared_device;
  cr_assert_eq(wb_device_compile(s->device, s->run, NULL, &s->run_kernel, NULL, &error), WB_OK,
               "%s", error.text);
  cr_assert_eq(wb_device_compile(s->device, s->hashes, NULL, &s->hashes_kernel, NULL, &error),
               WB_OK, "%s", error.text);
}

wb_status __real_wb_reference_create(const wb_book_rules *, wb_reference **, wb_error *);
void __real_wb_reference_free(wb_reference *);
wb_status __real_wb_reference_load(wb_reference *, const wb_order *, int64_t, wb_error *);
void __real_wb_reference_on_trade(wb_reference *, wb_trade_function *, void *);
wb_status __real_wb_reference_apply(wb_reference *, const wb_record *, int32_t, wb_error *);
wb_status __real_wb_reference_set_next_arrival(wb_reference *, int32_t, wb_error *);

wb_status __wrap_wb_reference_create(const wb_book_rules *, wb_reference **, wb_error *);
void __wrap_wb_reference_free(wb_reference *);
wb_status __wrap_wb_reference_load(wb_reference *, const wb_order *, int64_t, wb_error *);
void __wrap_wb_reference_on_trade(wb_reference *, wb_trade_function *, void *);
wb_status __wrap_wb_reference_apply(wb_reference *, const wb_record *, int32_t, wb_error *);
wb_status __wrap_wb_reference_set_next_arrival(wb_reference *, int32_t, wb_error *);

static shadow *shadow_of(const wb_reference *reference) {
  shadow *s = all;
  while (s != NULL && s->reference != reference) s = s->next;
  return s;
}

/* ---- the kernel's book ---- */

static void *memory(size_t bytes) {
  void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
  cr_assert_not_null(block);
  return block;
}

static void see_trade(void *context, const wb_trade *trade) {
  shadow *s = context;
  if (s->expected_count < ROOM) s->expected[s->expected_count] = *trade;
  s->expected_count++;
  if (s->on_trade != NULL) s->on_trade(s->context, trade);
}

static void run_on_device(const wb_kernel *kernel, shadow *s, const wb_buffer_argument *buffers,
                          const int64_t *scalars) {
  bool asks = kernel == s->hashes_kernel;
  const on_device_launch launch = {.slab = s->slab,
                                   .slab_bytes = (size_t)wb_book_layout_bytes(s->layout),
                                   .buffers = buffers,
                                   .buffer_count = asks ? 1 : WB_RUN_BUFFERS,
                                   .element_bytes = sizeof(int64_t),
                                   .written = asks ? 1 : 1u << WB_RUN_TRADES,
                                   .scalars = scalars,
                                   .scalar_count = asks ? WB_QUERY_SCALARS : WB_RUN_SCALARS};
  wb_error error = {0};
  cr_assert_eq(on_device_run(s->device, kernel, &launch, &error), WB_OK, "%s", error.text);
}

static void run_kernel(const wb_program *program, shadow *s, const wb_buffer_argument *buffers,
                       const int64_t *scalars) {
  wb_kernel_arguments arguments = {s->slab, wb_book_layout_bytes(s->layout), buffers, scalars,
                                   NULL};
  wb_error error = {0};
  if (s->device != NULL) {
    run_on_device(program == s->run ? s->run_kernel : s->hashes_kernel, s, buffers, scalars);
    return;
  }
  cr_assert_eq(wb_interpret(program, &arguments, 0, 1, 0, &error), WB_OK, "%s", error.text);
}

static void apply(shadow *s, const wb_record *record, int32_t index) {
  int64_t *head = wb_slab_head_of(s->layout, s->slab);
  wb_record copy = *record;
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {&copy, 4, 0},
      [WB_RUN_TRADES] = {s->ring, 4 * ROOM, 4 * ROOM},
      [WB_RUN_ROWS] = {NULL, 0, 0}};
  const int64_t scalars[WB_RUN_SCALARS] = {1, ROOM, 0};
  /* the one record is the tape's record `index` */
  head[WB_HEAD_CURSOR] = index;
  head[WB_HEAD_TAPE] = -(int64_t)index;
  head[WB_HEAD_END] = (int64_t)index + 1;
  head[WB_HEAD_TRADES] = 0;
  run_kernel(s->run, s, buffers, scalars);
  cr_assert_eq(head[WB_HEAD_FAULT], 0);
}

/* ---- comparing ---- */

static void compare_orders(shadow *s, wb_side side) {
  static wb_order want[UNLIMITED], got[UNLIMITED];
  int64_t count = wb_reference_orders(s->reference, side, want, UNLIMITED);
  cr_assert_eq(wb_slab_orders(s->layout, s->slab, side, got, UNLIMITED), count);
  for (int64_t i = 0; i < count; i++) {
    cr_assert(want[i].ref == got[i].ref && want[i].price == got[i].price &&
                  want[i].qty == got[i].qty && want[i].arrival == got[i].arrival &&
                  want[i].owner == got[i].owner,
              "kernel: side %d order %lld: ref %d, expected %d", side, (long long)i, got[i].ref,
              want[i].ref);
  }
}

static void compare_hashes(shadow *s) {
  int64_t answer[2];
  const wb_buffer_argument buffer = {answer, 2, 2};
  const int64_t scalars[WB_QUERY_SCALARS] = {0};
  run_kernel(s->hashes, s, &buffer, scalars);
  cr_assert_eq((uint64_t)answer[0], wb_reference_book_hash(s->reference));
  cr_assert_eq((uint64_t)answer[1], wb_reference_state_hash(s->reference));
}

static void compare(shadow *s) {
  wb_error error = {0};
  const int64_t *want = wb_reference_counters(s->reference);
  const int64_t *got = wb_slab_counters_of(s->layout, s->slab);
  const int64_t *head = wb_slab_head_of(s->layout, s->slab);
  const int32_t *state = wb_slab_state_of(s->layout, s->slab);
  cr_assert_eq(wb_slab_check(s->layout, s->slab, &error), WB_OK, "%s", error.text);
  cr_assert_eq(head[WB_HEAD_TRADES], s->expected_count, "kernel: trades");
  for (int64_t i = 0; i < s->expected_count; i++) {
    cr_assert_eq(memcmp(&s->ring[i], &s->expected[i], sizeof(wb_trade)), 0, "kernel: trade %lld",
                 (long long)i);
  }
  for (int i = 0; i < WB_COUNTERS; i++) {
    cr_assert_eq(got[i], want[i], "kernel: counter %d: expected %lld, got %lld", i,
                 (long long)want[i], (long long)got[i]);
  }
  cr_assert_eq((uint32_t)state[WB_CELL_STATUS], wb_reference_status(s->reference));
  cr_assert_eq(state[WB_CELL_NEXT_ARRIVAL], wb_reference_next_arrival(s->reference));
  compare_orders(s, WB_SIDE_BID);
  compare_orders(s, WB_SIDE_ASK);
  if (s->records % HASH_EVERY == 0) compare_hashes(s);
}

/* ---- the calls ---- */

wb_status __wrap_wb_reference_create(const wb_book_rules *rules, wb_reference **book,
                                     wb_error *error) {
  WB_TRY(__real_wb_reference_create(rules, book, error));
  wb_book_layout *layout;
  int32_t capacity = rules->capacity == 0 ? UNLIMITED : rules->capacity;
  if (wb_book_layout_new(capacity, &layout, NULL) != WB_OK) return WB_OK;
  shadow *s = calloc(1, sizeof *s);
  cr_assert_not_null(s);
  s->reference = *book;
  s->layout = layout;
  s->rules = *rules;
  wb_book_features features = wb_features_all(rules);
  cr_assert_eq(wb_run_program_build(layout, &features, &s->run, NULL), WB_OK);
  cr_assert_eq(wb_query_program_build(layout, WB_QUERY_HASHES, &s->hashes, NULL), WB_OK);
  s->slab = memory((size_t)wb_book_layout_bytes(layout));
  s->ring = memory(sizeof(wb_trade) * ROOM);
  s->expected = memory(sizeof(wb_trade) * ROOM);
  wb_slab_init(layout, s->slab, rules);
  open_device(s);
  s->next = all;
  all = s;
  __real_wb_reference_on_trade(*book, see_trade, s);
  return WB_OK;
}

void __wrap_wb_reference_free(wb_reference *book) {
  shadow **link = &all;
  while (*link != NULL && (*link)->reference != book) link = &(*link)->next;
  shadow *s = *link;
  if (s != NULL) {
    *link = s->next;
    wb_kernel_release(s->run_kernel);
    wb_kernel_release(s->hashes_kernel);
    wb_program_free(s->run);
    wb_program_free(s->hashes);
    wb_book_layout_free(s->layout);
    free(s->slab);
    free(s->ring);
    free(s->expected);
    free(s);
  }
  __real_wb_reference_free(book);
}

wb_status __wrap_wb_reference_load(wb_reference *book, const wb_order *orders, int64_t count,
                                   wb_error *error) {
  shadow *s = shadow_of(book);
  wb_status status = __real_wb_reference_load(book, orders, count, error);
  if (s == NULL) return status;
  wb_slab_init(s->layout, s->slab, &s->rules);
  wb_status own = wb_slab_load(s->layout, s->slab, orders, count, NULL);
  cr_assert_eq(own == WB_OK, status == WB_OK);
  return status;
}

void __wrap_wb_reference_on_trade(wb_reference *book, wb_trade_function *function, void *context) {
  shadow *s = shadow_of(book);
  if (s == NULL) {
    __real_wb_reference_on_trade(book, function, context);
    return;
  }
  s->on_trade = function;
  s->context = context;
}

wb_status __wrap_wb_reference_apply(wb_reference *book, const wb_record *record, int32_t index,
                                    wb_error *error) {
  shadow *s = shadow_of(book);
  if (s != NULL) s->expected_count = 0;
  wb_status status = __real_wb_reference_apply(book, record, index, error);
  if (s == NULL || status != WB_OK) return status;
  apply(s, record, index);
  compare(s);
  s->records++;
  return status;
}

wb_status __wrap_wb_reference_set_next_arrival(wb_reference *book, int32_t next, wb_error *error) {
  shadow *s = shadow_of(book);
  wb_status status = __real_wb_reference_set_next_arrival(book, next, error);
  if (s != NULL && status == WB_OK) {
    wb_slab_state_of(s->layout, s->slab)[WB_CELL_NEXT_ARRIVAL] = next;
  }
  return status;
}

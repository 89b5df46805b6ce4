/* Records made of any bytes, through an interpreted kernel and the reference: the same trades, orders
 * and counters, sound slabs, no endless loop, every promise kept, nothing touched outside.
 *
 * Input: 8 bytes that choose rules, capacity, tick, ring room and the next arrival, then records of 32
 * bytes. Byte 7 decides whether they are taken as they are or brought into ranges where more happens:
 * few references, prices and owners. The slab and the ring are blocks of their own, so that a sanitizer
 * sees what leaves them. */
#include "base/record.h"
#include "compiler/interp.h"
#include "kernels/book.h"
#include "sim/reference.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TRADES_MOST = 8192, RECORDS_MOST = 2000, STEPS_MOST = 3000000 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int holds) {
  if (!holds) abort();
}

/* ---- the kernels, each built once ---- */

typedef struct made {
  wb_book_layout *layout;
  wb_program *program;
} made;

static made *kernel_for(const wb_book_rules *rules, int capacity_number) {
  static made kernels[3][3][2][2][5];
  made *k = &kernels[capacity_number][rules->execute_policy][rules->displaced][rules->capacity_rule]
                    [rules->self_trade];
  if (k->program != NULL) return k;
  wb_book_features features = wb_features_all(rules);
  require(wb_book_layout_new(rules->capacity, &k->layout, NULL) == WB_OK);
  require(wb_run_program_build(k->layout, &features, &k->program, NULL) == WB_OK);
  return k;
}

/* ---- what the input says ---- */

static wb_book_rules rules_of(const uint8_t *head) {
  static const int32_t ticks[] = {1, 3, 100, 1 << 30};
  static const int64_t bases[] = {0, INT64_MAX - 5, INT64_MIN + 5, INT64_C(1) << 33};
  wb_book_rules rules = wb_book_rules_default();
  rules.capacity = 32 << head[0] % 3;
  rules.execute_policy = (wb_execute_policy)(head[1] % 3);
  rules.displaced = (wb_displaced)(head[1] / 3 % 2);
  rules.capacity_rule = (wb_capacity_rule)(head[1] / 6 % 2);
  rules.self_trade = (wb_self_trade)(head[2] % 5);
  rules.tick_size = ticks[head[3] % 4];
  rules.base = bases[head[3] / 4 % 4];
  return rules;
}

static void bring_into_range(wb_record *r, int32_t tick) {
  r->type = (uint8_t)(r->type % 9);
  r->owner = (int16_t)(r->owner % 4);
  r->ref = (r->ref & 63) + (r->owner > 0 ? WB_REF_AGENT_FIRST : 0);
  r->price = tick > 1 << 20 ? r->price % 2 * tick : r->price % 8 * tick;
  r->qty = r->qty % 16 + 4;
  r->arg = r->arg & 3;
  if (r->type != WB_RECORD_ADD) r->flags &= (uint8_t)(WB_FLAG_SIDE | WB_FLAG_POST_ONLY);
}

/* ---- one run ---- */

typedef struct run {
  wb_reference *reference;
  made *kernel;
  void *slab;
  wb_trade *ring;
  int64_t room;
  int64_t traded, lost; /* of the record; of all records */
  wb_trade trades[TRADES_MOST];
} run;

static void see_trade(void *context, const wb_trade *trade) {
  run *r = context;
  require(r->traded < TRADES_MOST);
  r->trades[r->traded++] = *trade;
}

static void apply(run *r, wb_record *record, int32_t index) {
  int64_t *head = wb_slab_head_of(r->kernel->layout, r->slab);
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      {record, 4, 0}, {r->ring, 4 * r->room, 0}, {NULL, 0, 0}};
  const int64_t scalars[WB_RUN_SCALARS] = {1, r->room, 0};
  wb_kernel_arguments arguments = {r->slab, wb_book_layout_bytes(r->kernel->layout), buffers,
                                   scalars, NULL};
  head[WB_HEAD_CURSOR] = index;
  head[WB_HEAD_TAPE] = -(int64_t)index;
  head[WB_HEAD_END] = (int64_t)index + 1;
  head[WB_HEAD_TRADES] = 0;
  r->traded = 0;
  require(wb_reference_apply(r->reference, record, index, NULL) == WB_OK);
  require(wb_interpret(r->kernel->program, &arguments, 0, 1, STEPS_MOST, NULL) == WB_OK);
  int64_t held = r->traded < r->room ? r->traded : r->room;
  r->lost += r->traded - held;
  require(head[WB_HEAD_TRADES] == held && head[WB_HEAD_FAULT] == 0);
  require(memcmp(r->ring, r->trades, sizeof(wb_trade) * (size_t)held) == 0);
}

static void compare(run *r) {
  static wb_order want[128], got[128];
  const int64_t *counters = wb_slab_counters_of(r->kernel->layout, r->slab);
  const int64_t *expected = wb_reference_counters(r->reference);
  require(wb_slab_check(r->kernel->layout, r->slab, NULL) == WB_OK);
  for (int i = 0; i < WB_COUNTERS; i++) {
    require(counters[i] == (i == WB_COUNT_TRADES_LOST ? r->lost : expected[i]));
  }
  for (int side = 0; side < 2; side++) {
    int64_t count = wb_reference_orders(r->reference, (wb_side)side, want, 128);
    require(wb_slab_orders(r->kernel->layout, r->slab, (wb_side)side, got, 128) == count);
    for (int64_t i = 0; i < count; i++) {
      require(want[i].ref == got[i].ref && want[i].price == got[i].price &&
              want[i].qty == got[i].qty && want[i].arrival == got[i].arrival &&
              want[i].owner == got[i].owner);
    }
  }
}

static void take(run *r, const uint8_t *head, const uint8_t *data, size_t records, int32_t tick) {
  for (size_t i = 0; i < records && i < RECORDS_MOST; i++) {
    wb_record record;
    memcpy(&record, data + i * sizeof record, sizeof record);
    if (head[7] % 4 != 0) bring_into_range(&record, tick);
    apply(r, &record, (int32_t)i);
    if (i % 16 == 0 || i + 1 == records) compare(r);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  enum { HEAD = 8 };
  if (size < HEAD + sizeof(wb_record)) return 0;
  wb_book_rules rules = rules_of(data);
  run *r = calloc(1, sizeof *r);
  require(r != NULL);
  r->kernel = kernel_for(&rules, data[0] % 3);
  r->room = data[4] % 9;
  r->slab = aligned_alloc(64, (size_t)wb_book_layout_bytes(r->kernel->layout));
  r->ring = calloc((size_t)r->room + 1, sizeof *r->ring);
  require(r->slab != NULL && r->ring != NULL);
  wb_slab_init(r->kernel->layout, r->slab, &rules);
  require(wb_reference_create(&rules, &r->reference, NULL) == WB_OK);
  wb_reference_on_trade(r->reference, see_trade, r);
  if (data[5] % 2 != 0) { /* soon there is no number left */
    int32_t next = INT32_MAX - data[6];
    require(wb_reference_set_next_arrival(r->reference, next, NULL) == WB_OK);
    wb_slab_state_of(r->kernel->layout, r->slab)[WB_CELL_NEXT_ARRIVAL] = next;
  }
  take(r, data, data + HEAD, (size - HEAD) / sizeof(wb_record), rules.tick_size);
  wb_reference_free(r->reference);
  free(r->slab);
  free(r->ring);
  free(r);
  return 0;
}

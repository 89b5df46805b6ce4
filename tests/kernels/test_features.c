/* What records ask of a kernel, and that a kernel stops before one that it was not made for. */
#include "compiler/interp.h"
#include "diff.h"
#include "kernels/book.h"
#include "sim/reference.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static wb_book_features scanned(const wb_record *records, int64_t count) {
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features = wb_features_none(&rules);
  wb_features_scan(&features, &rules, records, count);
  return features;
}

Test(features, are_what_the_records_ask_for) {
  wb_record r = {.ref = 1, .price = 10, .qty = 5, .type = WB_RECORD_ADD};
  wb_book_features f = scanned(&r, 1);
  cr_assert(f.types == 1u << WB_RECORD_ADD && f.flags == 0 && !f.agents && !f.states);
  cr_assert(!f.bad_records);
  r.flags = WB_FLAG_IOC | WB_FLAG_EDGE | WB_FLAG_SIDE;
  cr_assert_eq(scanned(&r, 1).flags, (uint32_t)r.flags);
  r = (wb_record){.ref = 1 << 30, .qty = 5, .owner = 7, .type = WB_RECORD_MARKET};
  cr_assert(scanned(&r, 1).agents);
  r = (wb_record){.arg = WB_STATE_TRADING, .type = WB_RECORD_STATE};
  cr_assert_not(scanned(&r, 1).states);
  r.arg = WB_STATE_HALTED;
  cr_assert(scanned(&r, 1).states);
  r.arg = 3;
  f = scanned(&r, 1);
  cr_assert(f.bad_records && !f.states && f.types == 0);
}

Test(features, a_record_is_valid_exactly_if_the_reference_takes_it) {
  wb_book_rules rules = wb_book_rules_default();
  rules.tick_size = 3;
  wb_reference *book;
  cr_assert_eq(wb_reference_create(&rules, &book, NULL), WB_OK);
  rng random = {5};
  int64_t valid = 0, before = 0;
  for (int32_t i = 0; i < 2000000; i++) {
    uint64_t words[4];
    for (int w = 0; w < 4; w++) words[w] = rng_next(&random);
    wb_record r;
    memcpy(&r, words, sizeof r);
    /* most random bytes are bad in several ways: help them */
    if (rng_percent(&random, 70)) r.type = (uint8_t)rng_between(&random, 1, 8);
    if (rng_percent(&random, 70)) r.owner = (int16_t)rng_below(&random, 2);
    if (rng_percent(&random, 70)) r.flags &= WB_FLAG_SIDE | WB_FLAG_POST_ONLY;
    if (rng_percent(&random, 70)) r.price = 3 * rng_below(&random, 1000);
    if (rng_percent(&random, 50))
      r.ref = (r.owner != 0 ? WB_REF_AGENT_FIRST : 0) + rng_below(&random, 1000);
    if (rng_percent(&random, 50)) r.arg = rng_below(&random, 4);
    cr_assert_eq(wb_reference_apply(book, &r, i, NULL), WB_OK);
    int64_t bad = wb_reference_counters(book)[WB_COUNT_BAD_RECORD];
    cr_assert_eq(wb_record_is_valid(&r, &rules), bad == before, "record %d", i);
    valid += bad == before;
    before = bad;
  }
  cr_assert_gt(valid, 100000);
  wb_reference_free(book);
}

/* ---- stopping ---- */

typedef struct runner {
  wb_book_layout *layout;
  wb_program *program;
  void *slab;
} runner;

static void run(const runner *k, wb_record *records, int64_t count) {
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {[WB_RUN_RECORDS] = {records, 4 * count, 0},
                                                      [WB_RUN_TRADES] = {NULL, 0, 0},
                                                      [WB_RUN_ROWS] = {NULL, 0, 0}};
  const int64_t scalars[WB_RUN_SCALARS] = {100, 0, 0};
  wb_kernel_arguments arguments = {k->slab, wb_book_layout_bytes(k->layout), buffers, scalars,
                                   NULL};
  wb_error error = {0};
  cr_assert_eq(wb_interpret(k->program, &arguments, 0, 1, 0, &error), WB_OK, "%s", error.text);
}

Test(features, a_kernel_stops_before_a_record_it_was_not_made_for) {
  wb_record records[] = {{.ref = 1, .price = 10, .qty = 5, .type = WB_RECORD_ADD},
                         {.ref = 2, .price = 10, .qty = 5, .type = WB_RECORD_ADD},
                         {.ref = 3, .qty = 5, .type = WB_RECORD_MARKET},
                         {.ref = 4, .price = 10, .qty = 5, .type = WB_RECORD_ADD}};
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features = scanned(records, 2);
  runner k = {0};
  cr_assert_eq(wb_book_layout_new(32, &k.layout, NULL), WB_OK);
  cr_assert_eq(wb_run_program_build(k.layout, &features, &k.program, NULL), WB_OK);
  k.slab = aligned_alloc(64, (size_t)wb_book_layout_bytes(k.layout));
  wb_slab_init(k.layout, k.slab, &rules);
  int64_t *head = wb_slab_head_of(k.layout, k.slab);
  head[WB_HEAD_END] = 4;
  run(&k, records, 4);
  cr_assert_eq(head[WB_HEAD_CURSOR], 2);
  cr_assert_eq(head[WB_HEAD_FAULT], 3);
  run(&k, records, 4); /* and stands still */
  cr_assert_eq(head[WB_HEAD_CURSOR], 2);
  cr_assert_eq(wb_slab_orders(k.layout, k.slab, WB_SIDE_BID, NULL, 0), 2);
  cr_assert_eq(wb_slab_check(k.layout, k.slab, NULL), WB_OK);
  wb_program_free(k.program);
  wb_book_layout_free(k.layout);
  free(k.slab);
}

Test(features, a_query_has_the_length_of_its_answer) {
  cr_assert_eq(wb_query_answer_length(WB_QUERY_LEVELS, 5), 20);
  cr_assert_eq(wb_query_answer_length(WB_QUERY_HASHES, 5), 2);
  cr_assert_eq(wb_query_answer_length(WB_QUERY_VOLUME_AT, 5), 1);
  wb_book_layout *layout;
  wb_program *program;
  wb_error error = {0};
  cr_assert_eq(wb_book_layout_new(32, &layout, NULL), WB_OK);
  cr_assert_eq(wb_query_program_build(layout, WB_QUERY_COUNT, &program, &error), WB_ERROR_ARGUMENT);
  cr_assert_null(program);
  wb_book_layout_free(layout);
}

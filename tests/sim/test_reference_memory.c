/* Every allocation of the reference book fails once: an error, and a book as it was before. Linked
 * with the allocation functions wrapped. */
#include "book.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static int64_t allocations_left = INT64_MAX; /* the one after these fails */

static bool refuse(void) { return allocations_left-- <= 0; }

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);

void *__wrap_malloc(size_t bytes) { return refuse() ? NULL : __real_malloc(bytes); }

void *__wrap_calloc(size_t count, size_t bytes) {
  return refuse() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes) {
  return refuse() ? NULL : __real_realloc(old, bytes);
}

static wb_record order(int32_t i) {
  return (wb_record){.ref = i,
                     .price = i % 2 == 0 ? -i : i,
                     .qty = 5,
                     .type = WB_RECORD_ADD,
                     .flags = i % 2 == 0 ? 0 : WB_FLAG_SIDE};
}

static int failures;

/* applies a record, with each of its allocations failing once, until it succeeds */
static void apply_through_failures(wb_reference *engine, const wb_record *record, int32_t index) {
  wb_status status = WB_ERROR_MEMORY;
  for (int64_t allowed = 0; status != WB_OK; ++allowed) {
    uint64_t before = wb_reference_state_hash(engine);
    wb_error error;
    allocations_left = allowed;
    status = wb_reference_apply(engine, record, index, &error);
    allocations_left = INT64_MAX;
    if (status != WB_OK) {
      cr_assert_eq(status, WB_ERROR_MEMORY);
      cr_assert_not_null(strstr(error.text, "reference book"));
      cr_assert_eq(wb_reference_state_hash(engine), before);
      failures += 1;
    }
  }
}

Test(memory, a_book_is_made_or_not) {
  wb_book_rules rules = wb_book_rules_default();
  wb_reference *engine = NULL;
  wb_status status = WB_ERROR_MEMORY;
  int64_t allowed = 0;
  for (; status != WB_OK; ++allowed) {
    allocations_left = allowed;
    status = wb_reference_create(&rules, &engine, NULL);
    allocations_left = INT64_MAX;
    cr_assert(status == WB_OK || (status == WB_ERROR_MEMORY && engine == NULL));
  }
  cr_assert_gt(allowed, 3);
  wb_reference_free(engine);
}

Test(memory, a_record_acts_whole_or_not_at_all) {
  book b = empty_book();
  for (int32_t i = 0; i < 5000; ++i) {
    wb_record r = order(i);
    apply_through_failures(b.engine, &r, i);
  }
  check_invariants(b.engine);
  cr_assert_eq(wb_reference_orders(b.engine, BID, NULL, 0), 2500);
  cr_assert_gt(failures, 20); /* pool, map and levels each grew several times */
  int before = failures;
  cr_assert_eq(wb_reference_set_next_arrival(b.engine, INT32_MAX, NULL), WB_OK);
  wb_record r = order(5000);
  apply_through_failures(b.engine, &r, 5000);
  cr_assert_gt(failures, before); /* renumbering */
  cr_assert_eq(wb_reference_next_arrival(b.engine), 5002);
  check_invariants(b.engine);
  done(&b);
}

Test(memory, a_failed_load_leaves_an_empty_book) {
  enum { COUNT = 1000 };
  static wb_order orders[COUNT];
  for (int32_t i = 0; i < COUNT; ++i) {
    orders[i] = (wb_order){.ref = i, .price = -i, .qty = 1, .arrival = COUNT - i};
  }
  book b = empty_book();
  bid(&b, 5, 1, at(1));
  wb_status status = WB_ERROR_MEMORY;
  int64_t allowed = 0;
  for (; status != WB_OK; ++allowed) {
    allocations_left = allowed;
    status = wb_reference_load(b.engine, orders, COUNT, NULL);
    allocations_left = INT64_MAX;
    check_invariants(b.engine);
    if (status != WB_OK) {
      expect_empty(&b, BID);
    }
  }
  cr_assert_gt(allowed, 3);
  cr_assert_eq(wb_reference_orders(b.engine, BID, NULL, 0), COUNT);
  done(&b);
}

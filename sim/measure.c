/* The largest side of a tape: the reader's count, or a run of the reference. */
#include "sim/measure.h"

#include "sim/reference.h"

#include <stdbool.h>

static bool has_agents(const wb_tape *tape) {
  for (int64_t i = 0; i < tape->record_count; i++) {
    if (tape->records[i].owner != 0) {
      return true;
    }
  }
  return false;
}

static int64_t larger_side(const wb_reference *book) {
  int64_t bids = wb_reference_orders(book, WB_SIDE_BID, NULL, 0);
  int64_t asks = wb_reference_orders(book, WB_SIDE_ASK, NULL, 0);
  return bids > asks ? bids : asks;
}

static wb_status run_reference(const wb_tape *tape, const wb_book_rules *rules, int64_t *orders,
                               wb_error *error) {
  wb_reference *book = NULL;
  wb_book_rules unlimited = *rules;
  unlimited.capacity = 0;
  unlimited.base = tape->base;
  unlimited.tick_size = tape->tick_size;
  WB_TRY(wb_reference_create(&unlimited, &book, error));
  wb_status status = wb_reference_load(book, tape->seed, tape->seed_count, error);
  *orders = larger_side(book);
  for (int64_t i = 0; status == WB_OK && i < tape->record_count; i++) {
    status = wb_reference_apply(book, &tape->records[i], (int32_t)i, error);
    int64_t now = larger_side(book);
    *orders = now > *orders ? now : *orders;
  }
  wb_reference_free(book);
  return status;
}

wb_status wb_tape_measure_side(const wb_tape *tape, const wb_book_rules *rules, int64_t *orders,
                               wb_error *error) {
  *orders = tape->counts.largest_side;
  if (*orders > 0 && rules->execute_policy != WB_EXECUTE_AGGRESSIVE && !has_agents(tape)) {
    return WB_OK;
  }
  return run_reference(tape, rules, orders, error);
}

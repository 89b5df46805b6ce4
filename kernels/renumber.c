/* Renumbering: when the arrival numbers run out, the orders of both sides together get 1..n in the
 * order of their arrivals.
 *
 * Rare, so nothing is kept for it: the orders are taken in ascending order of their old numbers, each
 * found by a pass over all rows. The k-th smallest is at least k, so the numbers already given never
 * get in the way of the ones still to be found. */
#include "kernels/internal.h"

static val arrivals_of(book *k, val ranks) {
  return choose(eq(ranks, i64(WB_RANK_NONE)), INT32_MAX, i32(ranks));
}

/* The smallest arrival above `last`, or INT32_MAX. */
static val next_after(book *k, val last) {
  return rows_min(r, 2 * k->rows, i32(INT32_MAX), ({
                    val arrivals = arrivals_of(k, load_row_in(k->rank, r));
                    choose(gt(arrivals, last), arrivals, INT32_MAX);
                  }));
}

/* Gives the order of arrival `old` the number `new_number`. */
static void give_number(book *k, val old, val new_number) {
  FOR (row, 0, 2 * k->rows) {
    val ranks = load_row_in(k->rank, row);
    val its = eq(arrivals_of(k, ranks), old);
    IF (any(its)) {
      val high = bit_and(ranks, i64(~INT64_C(0xffffffff)));
      store_row_if_in(k->rank, row, bit_or(high, u64(new_number)), its);
    }
  }
}

void renumber(book *k) {
  var last = variable(0);
  var given = variable(0);
  LOOP(orders) {
    val arrival = next_after(k, value(last));
    IF (eq(arrival, INT32_MAX)) {
      LEAVE(orders);
    }
    assign(given, add(given, 1));
    give_number(k, arrival, value(given));
    assign(last, arrival);
  }
  assign(k->next_arrival, add(given, 1));
  repair_all(k);
}

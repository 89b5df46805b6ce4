/* Aggregates of a side: nothing is kept for them, they are passes over its rows when asked for. */
#include "kernels/internal.h"

static val keys_of_row(book *k, val row) { return i32(sar(load_row_in(k->rank, row), 32)); }

static void store_level(book *k, array out, val at, val qty, val price, val orders) {
  store(out, at, qty);
  store(out, add(at, 1), bit_or(u64(price), shl(u64(orders), 32)));
}

/* Writes the level of key `key`, which there is, and makes `key` the next worse one of the side, or
 * INT32_MAX after the last: one pass. */
static void write_level(book *k, val side, array out, val at, var key) {
  val first = row_of_side(k, side, i32(0));
  val wanted = value(key);
  var qty = variable(splat(i64(0)));
  var orders = variable(0);
  var next = variable(splat(i32(INT32_MAX)));
  FOR (i, 0, k->rows) {
    val row = add(first, i);
    val keys = keys_of_row(k, row);
    val here = eq(keys, wanted);
    assign(qty, add(qty, choose(here, i64(load_row_in(k->qty, row)), i64(0))));
    assign(orders, add(orders, popcnt(ballot(here))));
    assign(next, min(next, choose(gt(keys, wanted), keys, INT32_MAX)));
  }
  store_level(k, out, at, reduce_add(qty), price_at(k, side, wanted), value(orders));
  assign(key, reduce_min(next));
}

void write_levels(book *k, array out, val first, val depth, val stride, const val offset[2]) {
  FOR (side, 0, 2) {
    val start = add(first, choose(eq(side, 0), offset[0], offset[1]));
    var key = variable(key_of(k, load_in(k->best_rank, side)));
    FOR (l, 0, depth) {
      val at = add(start, mul(i64(l), stride));
      IF (ne(key, INT32_MAX)) {
        write_level(k, side, out, at, key);
      }
      ELSE { store_level(k, out, at, i64(0), i32(0), i32(0)); }
    }
  }
}

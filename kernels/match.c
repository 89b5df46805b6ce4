/* Trades, matching and self-trade prevention.
 *
 * Keep: a trade is counted whether or not a ring takes it, and it never moves the order itself: that
 * is fill's. Matching ends only where docs/semantics.md lets it end: the taker used up or cancelled
 * (both leave the record), or nothing left that crosses. */
#include "kernels/internal.h"

/* ---- counters ---- */

static bool is_tallied(const book *k, wb_counter counter) { return k->tallied >> counter & 1; }
static bool is_held(const book *k, wb_counter counter) { return k->held >> counter & 1; }

void count_many(book *k, wb_counter counter, val amount) {
  if (is_held(k, counter)) {
    assign(k->counter[counter], add(k->counter[counter], i64(amount)));
  } else {
    add_to_in(k->counters, (int)counter, i64(amount));
  }
}

void count(book *k, wb_counter counter) {
  if (is_tallied(k, counter)) {
    assign(k->counter[counter], add(k->counter[counter], 1));
  } else {
    count_many(k, counter, i64(1));
  }
}

val counter_value(book *k, wb_counter counter) {
  return is_held(k, counter) ? value(k->counter[counter]) : load_in(k->counters, (int)counter);
}

void set_counter(book *k, wb_counter counter, val amount) {
  if (is_held(k, counter)) {
    assign(k->counter[counter], amount);
  } else {
    store_in(k->counters, (int)counter, amount);
  }
}

void open_counters(book *k, uint32_t tallied, uint32_t held) {
  k->tallied = tallied;
  k->held = held;
  for (int c = 0; c < WB_COUNTER_CELLS; c++) {
    if (tallied >> c & 1) k->counter[c] = variable(0);
    if (held >> c & 1) k->counter[c] = variable(load_in(k->counters, c));
  }
}

void close_counters(book *k) {
  for (int c = 0; c < WB_COUNTER_CELLS; c++) {
    if (k->tallied >> c & 1) add_to_in(k->counters, c, u64(k->counter[c]));
    if (k->held >> c & 1) store_in(k->counters, c, k->counter[c]);
  }
  k->tallied = k->held = 0;
}

/* ---- the notional of a trade ---- */

/* Sum and product that stay at the nearer end of i64; `left_range` becomes true if they had to. */
static val add_saturating(book *k, val x, val y, var left_range) {
  val sum = add(x, y);
  val over = lt(bit_and(bit_xor(sum, x), bit_xor(sum, y)), 0);
  assign(left_range, either(left_range, over));
  return choose(over, choose(lt(x, 0), i64(INT64_MIN), i64(INT64_MAX)), sum);
}

/* The product of the halves of x shows in its upper word whether all of it fits. */
static val multiply_saturating(book *k, val x, val positive, var left_range) {
  val low = mul(u64(i32(x)), positive);
  val high = add(mul(sar(x, 32), positive), shr(low, 32));
  val above = gt(high, i64(INT32_MAX));
  val below = lt(high, i64(INT32_MIN));
  assign(left_range, either(left_range, either(above, below)));
  val product = mul(x, positive);
  return choose(above, i64(INT64_MAX), choose(below, i64(INT64_MIN), product));
}

static void count_notional(book *k, val price, val shares) {
  val base = load_in(k->head, WB_HEAD_BASE);
  val sum = counter_value(k, WB_COUNT_NOTIONAL);
  val worth = add(base, i64(price));
  val value_of_trade = mul(worth, i64(shares));
  val total = add(sum, value_of_trade);
  /* a 33-bit price times 31 bits of shares is an i64; anything wider, or a sum that turned its
   * sign, goes the long way */
  val small = ult(add(worth, INT64_C(1) << 32), INT64_C(1) << 33);
  val turned = lt(bit_and(bit_xor(total, sum), bit_xor(total, value_of_trade)), 0);
  IF_LIKELY(both(small, not_(turned))) { set_counter(k, WB_COUNT_NOTIONAL, total); }
  ELSE {
    var left_range = variable(ne(i32(0), 0));
    val exact = add_saturating(k, base, i64(price), left_range);
    val product = multiply_saturating(k, exact, i64(shares), left_range);
    set_counter(k, WB_COUNT_NOTIONAL, add_saturating(k, sum, product, left_range));
    IF (left_range) {
      count(k, WB_COUNT_SATURATED);
    }
  }
}

/* ---- trades ---- */

/* The last word of a trade: shares, then both owners with their bits. */
static val shares_and_owners(book *k, const message *m, val side, val maker_owner, val shares) {
  val maker = bit_or(maker_owner, shl(side, 15));
  val taker = i32(0);
  if (may_have(k, WB_FLAG_EDGE)) taker = bit_and(shr(m->kind, 10), 1 << 15); /* its bit 25 */
  if (may_be_of_agent(k)) taker = bit_or(taker, m->owner);
  return bit_or(u64(shares), shl(u64(bit_or(maker, shl(taker, 16))), 32));
}

static void write_trade(book *k, const message *m, val side, val maker_owner, val maker, val taker,
                        val price, val shares) {
  IF_LIKELY(lt(k->trades_held, k->trade_room)) {
    val at = mul(i64(k->trades_held), 4);
    store_in(k->trades, at, record_time(k, m));
    store_in(k->trades, add(at, 1), bit_or(u64(i32(record_index(k, m))), shl(u64(maker), 32)));
    store_in(k->trades, add(at, 2), bit_or(u64(taker), shl(u64(price), 32)));
    store_in(k->trades, add(at, 3), shares_and_owners(k, m, side, maker_owner, shares));
    assign(k->trades_held, add(k->trades_held, 1));
  }
  ELSE { count(k, WB_COUNT_TRADES_LOST); }
}

void trade(book *k, const message *m, val side, val slot, val maker, val maker_owner, val taker,
           val shares) {
  val price = price_at(k, side, key_of(k, load_in(k->rank, slot)));
  count(k, WB_COUNT_TRADES);
  count_many(k, WB_COUNT_VOLUME, shares);
  count_notional(k, price, shares);
  if (k->on_trade != NULL) k->on_trade(k, m, side, slot, maker, price, shares);
  if (k->can.trades == WB_TRADES_NONE) return;
  if (k->can.trades == WB_TRADES_ALL) {
    write_trade(k, m, side, maker_owner, maker, taker, price, shares);
  } else if (k->can.agents) {
    val owners = may_be_of_agent(k) ? bit_or(maker_owner, m->owner) : maker_owner;
    IF_RARE(ne(owners, 0)) { write_trade(k, m, side, maker_owner, maker, taker, price, shares); }
  }
}

void fill(book *k, const message *m, val side, val slot, val taker, var left, bool is_best) {
  val rests = load_in(k->qty, slot);
  val maker = load_in(k->ref, slot);
  val owner = owner_at(k, slot);
  val shares = min(rests, left);
  trade(k, m, side, slot, maker, owner, taker, shares);
  assign(left, sub(left, shares));
  IF (eq(shares, rests)) {
    if (is_best) {
      take_out_best(k, side, slot, maker, owner);
    } else {
      take_out(k, side, slot, maker, owner);
    }
  }
  ELSE { store_in(k->qty, slot, sub(rests, shares)); }
}

/* ---- self-trade prevention ---- */

/* The taker met an order of its own owner: the rule instead of a trade. */
static void prevent_self_trade(book *k, const message *m, val slot) {
  count(k, WB_COUNT_SELF_TRADE);
  wb_self_trade mode = k->can.self_trade;
  if (mode == WB_SELF_TRADE_CANCEL_INCOMING) {
    LEAVE(m->over);
  } else if (mode == WB_SELF_TRADE_DECREMENT_BOTH) {
    val rests = load_in(k->qty, slot);
    val less = min(rests, m->left);
    assign(m->left, sub(m->left, less));
    IF (eq(less, rests)) {
      take_out_best(k, m->other, slot, load_in(k->ref, slot), m->owner);
    }
    ELSE { store_in(k->qty, slot, sub(rests, less)); }
  } else {
    take_out_best(k, m->other, slot, load_in(k->ref, slot), m->owner);
    if (mode == WB_SELF_TRADE_CANCEL_BOTH) LEAVE(m->over);
  }
}

static bool prevents_self_trades(const book *k) {
  return may_be_of_agent(k) && k->can.self_trade != WB_SELF_TRADE_OFF;
}

static val is_own(book *k, const message *m, val owner) {
  return both(ne(m->owner, 0), eq(owner, m->owner));
}

/* ---- matching ---- */

static void match_best(book *k, const message *m) {
  val slot = load_in(k->best_slot, m->other);
  if (prevents_self_trades(k)) {
    IF_RARE(is_own(k, m, load_in(k->owner, slot))) { prevent_self_trade(k, m, slot); }
    ELSE { fill(k, m, m->other, slot, m->ref, m->left, true); }
  } else {
    fill(k, m, m->other, slot, m->ref, m->left, true);
  }
}

void match(book *k, const message *m) {
  IF (le(best_key(k, m->other), m->limit)) {
    LOOP(crossing) {
      match_best(k, m);
      IF_LIKELY(eq(m->left, 0)) { LEAVE(m->over); }
      IF_LIKELY(gt(best_key(k, m->other), m->limit)) { LEAVE(crossing); }
    }
  }
}

/* ---- fill or kill ---- */

typedef struct own_orders {
  const message *m;
} own_orders;

static val own_below_limit(book *k, val row, val ranks, const void *context) {
  const own_orders *own = context;
  (void)ranks;
  return eq(load_row_in(k->owner, row), own->m->owner);
}

void check_fill_or_kill(book *k, const message *m, val limit) {
  wb_self_trade mode = k->can.self_trade;
  bool skips = prevents_self_trades(k) && mode == WB_SELF_TRADE_CANCEL_RESTING;
  var bound = variable(limit);
  if (prevents_self_trades(k) && !skips) {
    /* the walk ends at the first own order */
    IF (ne(m->owner, 0)) {
      pick own = best_of(k, m->other, own_below_limit, &(own_orders){m});
      assign(bound, min(bound, own.rank));
    }
  }
  var got = variable(splat(i64(0)));
  val first = row_of_side(k, m->other, i32(0));
  FOR (i, 0, k->rows) {
    val row = add(first, i);
    val counts = lt(load_row_in(k->rank, row), bound);
    if (skips) {
      val owners = load_row_in(k->owner, row);
      counts = both(counts, either(eq(owners, 0), ne(owners, m->owner)));
    }
    assign(got, add(got, choose(counts, i64(load_row_in(k->qty, row)), i64(0))));
  }
  IF (lt(reduce_add(got), i64(m->qty))) {
    refuse(k, m, WB_COUNT_REJECTED);
  }
}

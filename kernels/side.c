/* One side of a book: rows of 32 slots, an order's home row chosen by its reference.
 *
 * A message touches its home row and the summaries, never the whole side. Keep: a row's summary is
 * the best rank of its slots; a side's is the best of its rows; `used` has a bit for each slot with
 * an order, `ref` is -1 and `owner` 0 in the others; spill[r] counts the orders whose home is r and
 * which rest elsewhere; a lookup may stop at the home row only if spill is 0. */
#include "kernels/internal.h"

/* ---- ranks ---- */

val key_at(book *k, val side, val price) { return choose(ne(side, 0), price, neg(price)); }

val price_at(book *k, val side, val key) { return choose(ne(side, 0), key, neg(key)); }

val key_of(book *k, val rank) { return i32(sar(rank, 32)); }

val rank_of(book *k, val key, val arrival) { return bit_or(shl(i64(key), 32), u64(arrival)); }

val rank_behind(book *k, val key) { return shl(i64(add(key, 1)), 32); }

val limit_against(book *k, val key) { return neg(key); }

/* ---- rows ---- */

val row_of_side(book *k, val side, val row) { return add(mul(side, k->rows), row); }

/* the upper word of the side's best rank, alone */
val best_key(book *k, val side) { return load_in(k->best_words, add(mul(side, 2), 1)); }

static val home_row(book *k, val side, val ref) {
  return row_of_side(k, side, bit_and(ref, k->rows - 1));
}

/* The row `steps` behind one of the same side, round the end. */
static val row_behind(book *k, val side, val row, val steps) {
  return row_of_side(k, side, bit_and(add(row, steps), k->rows - 1));
}

static val slot_at(book *k, val row, val lane) { return add(mul(row, WB_WIDTH), lane); }

static val summary_of(book *k, val side, val row) {
  if (k->summary_rows == k->rows) return value(row);
  return add(row, mul(side, k->summary_rows - k->rows));
}

/* The lowest of some lanes, of which there is at least one. */
static val lowest(book *k, val lanes) { return known(ctz(lanes), 0, WB_WIDTH - 1); }

/* ---- finding ---- */

static val has_spilled(book *k) {
  return gt(k->has_copies ? value(k->spilled) : load_in(k->state, WB_CELL_SPILLED), 0);
}

static val lanes_with_ref(book *k, val row, val ref) {
  return ballot(eq(load_row_in(k->ref, row), ref));
}

/* Looks for `ref` in the rows behind its home, if the home row has spilled any order. */
static void look_behind(book *k, val side, val home, val ref, var lanes, var row) {
  if (k->rows == 1) return;
  IF (gt(load_in(k->spill, home), 0)) {
    FOR_AS(found, i, 1, k->rows) {
      val at = row_behind(k, side, home, i);
      val hit = lanes_with_ref(k, at, ref);
      IF (ne(hit, 0)) {
        assign(lanes, hit);
        assign(row, at);
        LEAVE(found);
      }
    }
  }
}

void look_up(book *k, val side, val ref, var lanes, var row) {
  val home = home_row(k, side, ref);
  assign(row, home);
  assign(lanes, lanes_with_ref(k, home, ref));
  IF_RARE(eq(lanes, 0)) { look_behind(k, side, home, ref, lanes, row); }
}

val rests_somewhere(book *k, val ref) {
  val bids = home_row(k, i32(0), ref);
  val asks = add(bids, k->rows);
  val at_home = either(eq(load_row_in(k->ref, bids), ref), eq(load_row_in(k->ref, asks), ref));
  var found = variable(any(at_home));
  if (k->rows > 1) {
    IF_RARE(has_spilled(k)) {
      IF (gt(add(load_in(k->spill, bids), load_in(k->spill, asks)), 0)) {
        FOR (row, 0, 2 * k->rows) {
          assign(found, either(found, any(eq(load_row_in(k->ref, row), ref))));
        }
      }
    }
  }
  return value(found);
}

static val find_at_home(book *k, const message *m) {
  val home = home_row(k, m->side, m->ref);
  val lanes = lanes_with_ref(k, home, m->ref);
  IF_RARE(eq(lanes, 0)) { not_plain_after_all(k, m); }
  return slot_at(k, home, lowest(k, lanes));
}

val find(book *k, const message *m, absent_function *absent) {
  if (k->plain) return find_at_home(k, m);
  val home = home_row(k, m->side, m->ref);
  val here = lanes_with_ref(k, home, m->ref);
  var lanes = variable(here);
  var row = variable(home);
  IF_RARE(eq(here, 0)) {
    assign(lanes, 0); /* as it is: `here` ends where it is not 0 */
    look_behind(k, m->side, home, m->ref, lanes, row);
    IF (eq(lanes, 0)) {
      absent(k, m);
    }
  }
  val slot = slot_at(k, value(row), lowest(k, value(lanes)));
  /* history's references are its own, an agent may name another's */
  if (may_be_of_agent(k)) {
    IF_RARE(ne(m->owner, 0)) {
      IF (ne(load_in(k->owner, slot), m->owner)) {
        absent(k, m);
      }
    }
  }
  return slot;
}

/* ---- picking by rank ---- */

typedef struct best_lanes {
  var ranks, rows; /* of each lane: its best rank, and the row that has it */
} best_lanes;

static pick best_lane(book *k, best_lanes best) {
  val rank = reduce_min(best.ranks);
  val lane = lowest(k, ballot(eq(best.ranks, rank)));
  return (pick){rank, slot_at(k, extract(best.rows, lane), lane)};
}

static void keep_better(book *k, best_lanes best, val ranks, val row) {
  val better = lt(ranks, best.ranks);
  assign(best.ranks, choose(better, ranks, best.ranks));
  assign(best.rows, choose(better, row, best.rows));
}

pick best_of(book *k, val side, chosen_function *chosen, const void *context) {
  val first = row_of_side(k, side, i32(0));
  best_lanes best = {variable(splat(i64(WB_RANK_NONE))), variable(splat(first))};
  FOR (i, 0, k->rows) {
    val row = add(first, i);
    val ranks = load_row_in(k->rank, row);
    keep_better(k, best, choose(chosen(k, row, ranks, context), ranks, i64(WB_RANK_NONE)), row);
  }
  return best_lane(k, best);
}

/* The order of worst priority of a side that is full. */
static pick worst_of_full(book *k, val side) {
  val first = row_of_side(k, side, i32(0));
  best_lanes best = {variable(splat(i64(INT64_MAX - 1))), variable(splat(first))};
  FOR (i, 0, k->rows) {
    val row = add(first, i);
    keep_better(k, best, bit_not(load_row_in(k->rank, row)), row);
  }
  pick worst = best_lane(k, best);
  worst.rank = bit_not(worst.rank);
  return worst;
}

/* ---- summaries ---- */

/* The best of a few rows, as a knock-out of pairs. */
static pick best_row_by_pairs(book *k, val side) {
  pick list[WB_SUMMARY_ONE_BY_ONE];
  for (int i = 0; i < k->rows; i++) {
    val at = row_of_side(k, side, i32(i));
    list[i] = (pick){load_in(k->row_rank, at), load_in(k->row_slot, at)};
  }
  for (int n = k->rows; n > 1; n /= 2) {
    for (int i = 0; i < n / 2; i++) {
      val second = lt(list[i + n / 2].rank, list[i].rank);
      list[i].rank = choose(second, list[i + n / 2].rank, list[i].rank);
      list[i].slot = choose(second, list[i + n / 2].slot, list[i].slot);
    }
  }
  return list[0];
}

static pick best_row_by_lanes(book *k, val side) {
  int32_t rows_of_lanes = k->summary_rows / WB_WIDTH;
  val first = mul(side, rows_of_lanes);
  val ranks = load_row_in(k->row_rank, first);
  val rows = splat(first);
  for (int32_t i = 1; i < rows_of_lanes; i++) {
    val row = add(first, i);
    val more = load_row_in(k->row_rank, row);
    val better = lt(more, ranks);
    ranks = choose(better, more, ranks);
    rows = choose(better, row, rows);
  }
  val rank = reduce_min(ranks);
  val lane = lowest(k, ballot(eq(ranks, rank)));
  val summary = slot_at(k, rows_of_lanes == 1 ? first : extract(rows, lane), lane);
  return (pick){rank, load_in(k->row_slot, summary)};
}

static void repair_side(book *k, val side) {
  pick best =
      k->rows <= WB_SUMMARY_ONE_BY_ONE ? best_row_by_pairs(k, side) : best_row_by_lanes(k, side);
  store_in(k->best_rank, side, best.rank);
  store_in(k->best_slot, side, best.slot);
}

static void repair_row(book *k, val side, val row) {
  val ranks = load_row_in(k->rank, row);
  val best = reduce_min(ranks);
  val summary = summary_of(k, side, row);
  store_in(k->row_rank, summary, best);
  store_in(k->row_slot, summary, slot_at(k, row, lowest(k, ballot(eq(ranks, best)))));
}

void repair_all(book *k) {
  FOR (side, 0, 2) {
    FOR (i, 0, k->rows) {
      repair_row(k, side, row_of_side(k, side, i));
    }
    repair_side(k, side);
  }
}

/* ---- taking out ---- */

val owner_at(book *k, val slot) { return k->can.agents ? load_in(k->owner, slot) : i32(0); }

static void add_spilled(book *k, val home, int32_t change) {
  add_to_in(k->spill, home, change);
  add_to_in(k->state, WB_CELL_SPILLED, change);
  if (k->has_copies) assign(k->spilled, add(k->spilled, change));
}

static void leave_home(book *k, val side, val row, val ref) {
  val home = home_row(k, side, ref);
  IF_RARE(ne(home, row)) { add_spilled(k, home, -1); }
}

static void empty_slot(book *k, val side, val slot, val row, val owner) {
  store_in(k->rank, slot, WB_RANK_NONE);
  store_in(k->ref, slot, -1);
  val bit = shl(1, bit_and(slot, WB_WIDTH - 1));
  store_in(k->used, row, bit_and(load_in(k->used, row), bit_not(bit)));
  if (k->can.agents) {
    IF_RARE(ne(owner, 0)) {
      store_in(k->owner, slot, 0);
      add_to_in(k->agents, side, -1);
    }
  }
}

static void take_from_row(book *k, val side, val slot, val row, val owner) {
  empty_slot(k, side, slot, row, owner);
  IF_RARE(eq(slot, load_in(k->row_slot, summary_of(k, side, row)))) {
    val was_best = eq(slot, load_in(k->best_slot, side));
    repair_row(k, side, row);
    IF (was_best) {
      repair_side(k, side);
    }
  }
}

void take_out(book *k, val side, val slot, val ref, val owner) {
  val row = shr(slot, 5);
  if (k->rows > 1) leave_home(k, side, row, ref);
  take_from_row(k, side, slot, row, owner);
}

void take_out_named(book *k, const message *m, val slot) {
  if (k->plain) {
    take_from_row(k, m->side, slot, shr(slot, 5), i32(0));
  } else {
    take_out(k, m->side, slot, m->ref, record_owner(k, m));
  }
}

void take_out_best(book *k, val side, val slot, val ref, val owner) {
  val row = shr(slot, 5);
  if (k->rows > 1) {
    if (k->has_copies) {
      IF_RARE(has_spilled(k)) { leave_home(k, side, row, ref); }
    } else {
      leave_home(k, side, row, ref);
    }
  }
  empty_slot(k, side, slot, row, owner);
  repair_row(k, side, row);
  repair_side(k, side);
}

/* ---- coming to rest ---- */

/* The side is full: refuses the order, or evicts the worst one for it. */
static void make_room(book *k, const message *m, val key, var row, var used) {
  if (k->can.capacity_rule == WB_CAPACITY_REJECT) {
    refuse(k, m, WB_COUNT_BOOK_FULL);
    return;
  }
  pick worst = worst_of_full(k, m->side);
  IF (ge(key, key_of(k, worst.rank))) {
    refuse(k, m, WB_COUNT_BOOK_FULL);
  }
  take_out(k, m->side, worst.slot, load_in(k->ref, worst.slot), owner_at(k, worst.slot));
  count(k, WB_COUNT_EVICTED);
  assign(row, shr(worst.slot, 5));
  assign(used, bit_not(shl(1, bit_and(worst.slot, WB_WIDTH - 1))));
}

/* The home row is full: the next row that is not, or the capacity rule. */
static void find_room(book *k, const message *m, val home, val key, var row, var used) {
  if (k->rows > 1) {
    FOR_AS(found, i, 1, k->rows) {
      val at = row_behind(k, m->side, home, i);
      val lanes = load_in(k->used, at);
      IF (ne(lanes, -1)) {
        assign(row, at);
        assign(used, lanes);
        LEAVE(found);
      }
    }
  }
  IF (eq(used, -1)) {
    make_room(k, m, key, row, used);
  }
  if (k->rows > 1) {
    IF (ne(row, home)) {
      add_spilled(k, home, 1);
    }
  }
}

/* No order has a later arrival, so the key tells whether the new one is better. */
static void enter_summaries(book *k, val side, val row, val slot, val key, val rank) {
  val summary = summary_of(k, side, row);
  IF_RARE(lt(key, load_in(k->row_words, add(mul(summary, 2), 1)))) {
    store_in(k->row_rank, summary, rank);
    store_in(k->row_slot, summary, slot);
    IF (lt(key, best_key(k, side))) {
      store_in(k->best_rank, side, rank);
      store_in(k->best_slot, side, slot);
    }
  }
}

/* Puts the order into the lowest free slot of a row; `lanes`: the used ones. */
static void enter(book *k, const message *m, val key, val qty, val at, val lanes) {
  val slot = slot_at(k, at, lowest(k, bit_not(lanes)));
  val arrival = value(k->next_arrival);
  val rank = rank_of(k, key, arrival);
  store_in(k->rank, slot, rank);
  store_in(k->ref, slot, m->ref);
  store_in(k->qty, slot, qty);
  store_in(k->used, at, bit_or(lanes, add(lanes, 1))); /* the lowest 0 becomes 1 */
  if (may_be_of_agent(k)) {
    IF_RARE(ne(m->owner, 0)) {
      store_in(k->owner, slot, m->owner);
      add_to_in(k->agents, m->side, 1);
    }
  }
  enter_summaries(k, m->side, at, slot, key, rank);
  assign(k->next_arrival, add(arrival, 1));
}

void rest(book *k, const message *m, val key, val qty) {
  val home = home_row(k, m->side, m->ref);
  val lanes = load_in(k->used, home);
  var row = variable(home);
  var used = variable(lanes);
  if (k->plain) {
    /* apart, so that of the usual way it is known where it goes */
    IF_RARE(eq(lanes, -1)) {
      find_room(k, m, home, key, row, used);
      enter(k, m, key, qty, value(row), value(used));
    }
    ELSE { enter(k, m, key, qty, home, lanes); }
  } else {
    IF_RARE(eq(lanes, -1)) { find_room(k, m, home, key, row, used); }
    enter(k, m, key, qty, value(row), value(used));
  }
}

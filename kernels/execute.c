/* EXECUTE: a historical execution of a resting order, with agents in the way.
 *
 * Steps and names are those of docs/semantics.md. Where no agent can be, what is left of it is: find
 * the order, trade with it, and only if it was too small or gone look for others. */
#include "kernels/internal.h"

typedef struct named_order {
  var there; /* bool */
  var slot;  /* where it rests, if it is there */
  var bound; /* ranks below it are at P or better; for agents: before X if it is there */
} named_order;

static named_order find_named(book *k, const message *m) {
  val home_lanes = i32(0);
  var lanes = variable(home_lanes);
  var row = variable(home_lanes);
  look_up(k, m->side, m->ref, lanes, row);
  named_order x = {variable(ne(lanes, 0)),
                   variable(add(mul(row, WB_WIDTH), bit_and(ctz(lanes), WB_WIDTH - 1))),
                   variable(rank_behind(k, key_at(k, m->side, m->price)))};
  return x;
}

static void count_unless_best(book *k, const message *m, val rank) {
  IF_RARE(ne(rank, load_in(k->best_rank, m->side))) { count(k, WB_COUNT_NOT_AT_HEAD); }
}

/* ---- step 2 ---- */

static val agent_before(book *k, val row, val ranks, const void *context) {
  const val *bound = context;
  return both(ne(load_row_in(k->owner, row), 0), lt(ranks, *bound));
}

/* Fills the agents' orders with ranks below `bound`, best first. */
static void fill_agents(book *k, const message *m, val bound, var left) {
  LOOP(agents) {
    pick best = best_of(k, m->side, agent_before, &bound);
    IF (eq(best.rank, WB_RANK_NONE)) {
      LEAVE(agents);
    }
    fill(k, m, m->side, best.slot, i32(-1), left, false);
    IF (eq(left, 0)) {
      LEAVE(agents);
    }
  }
}

/* ---- step 3 ---- */

/* Shares of X that agents displaced leave without a trade, or are counted as stranded. */
static val displace(book *k, val displaced, val rests) {
  val shares = min(displaced, rests);
  if (k->can.displaced == WB_DISPLACED_KEEP) {
    count_many(k, WB_COUNT_STRANDED_SHARES, shares);
    return rests;
  }
  count_many(k, WB_COUNT_WITHDRAWN_SHARES, shares);
  return sub(rests, shares);
}

static void fill_named(book *k, const message *m, val slot, val displaced, var left) {
  var rests = variable(load_in(k->qty, slot));
  val shares = min(rests, left);
  if (k->can.agents) {
    IF_LIKELY(gt(shares, 0)) { trade(k, m, m->side, slot, m->ref, i32(0), i32(-1), shares); }
  } else {
    trade(k, m, m->side, slot, m->ref, i32(0), i32(-1), shares);
  }
  assign(left, sub(left, shares));
  assign(rests, sub(rests, shares));
  if (k->can.agents) {
    IF_RARE(gt(displaced, 0)) { assign(rests, displace(k, displaced, value(rests))); }
  }
  IF (eq(rests, 0)) {
    take_out_named(k, m, slot);
  }
  ELSE { store_in(k->qty, slot, rests); }
}

/* ---- steps 4 to 6 ---- */

static void fill_others(book *k, const message *m, val bound, var left) {
  LOOP(others) {
    IF (ge(load_in(k->best_rank, m->side), bound)) {
      LEAVE(others);
    }
    fill(k, m, m->side, load_in(k->best_slot, m->side), i32(-1), left, true);
    IF (eq(left, 0)) {
      LEAVE(others);
    }
  }
}

/* P and the ranks at P or better are X's if it is there. */
static void look_at_named(book *k, const message *m, named_order x, var agents_bound) {
  val rank = load_in(k->rank, x.slot);
  assign(x.bound, rank_behind(k, key_of(k, rank)));
  assign(agents_bound, rank);
  count_unless_best(k, m, rank);
}

/* It rests at home, is large enough, and no agent is in the way. */
static void execute_plain(book *k, message *m) {
  val slot = find(k, m, not_plain_after_all);
  val rests = load_in(k->qty, slot);
  val left = sub(rests, m->qty);
  IF_RARE(lt(left, 0)) { not_plain_after_all(k, m); }
  if (k->can.agents) {
    IF_RARE(gt(load_in(k->agents, m->side), 0)) { not_plain_after_all(k, m); }
  }
  count_if_plain(k, WB_RECORD_EXECUTE);
  count_unless_best(k, m, load_in(k->rank, slot));
  trade(k, m, m->side, slot, m->ref, i32(0), i32(-1), m->qty);
  IF (eq(left, 0)) {
    take_out_named(k, m, slot);
  }
  ELSE { store_in(k->qty, slot, left); }
  LEAVE(m->over);
}

void execute_order(book *k, message *m) {
  if (k->plain) {
    execute_plain(k, m);
    return;
  }
  named_order x = find_named(k, m);
  var agents_bound = variable(x.bound);
  var displaced = variable(0);
  var left = variable(m->qty);
  IF_LIKELY(x.there) { look_at_named(k, m, x, agents_bound); }
  if (k->can.agents && k->can.execute_policy == WB_EXECUTE_AGENTS_FIRST) {
    IF_RARE(gt(load_in(k->agents, m->side), 0)) {
      fill_agents(k, m, value(agents_bound), left);
      assign(displaced, sub(m->qty, left));
    }
  }
  if (k->can.execute_policy != WB_EXECUTE_AGGRESSIVE) {
    IF_LIKELY(x.there) { fill_named(k, m, value(x.slot), value(displaced), left); }
  }
  IF_RARE(gt(left, 0)) { fill_others(k, m, value(x.bound), left); }
  IF_RARE(gt(left, 0)) { count_many(k, WB_COUNT_ORPHANED_SHARES, value(left)); }
  IF_RARE(either(not_(x.there), gt(left, 0))) { count(k, WB_COUNT_ORPHAN); }
  LEAVE(m->over);
}

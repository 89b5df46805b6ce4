/* Money: what trades do to agents' accounts, what a step was worth, and what an episode is counted as.
 *
 * Cash, inventory and fees change here and nowhere else, once per party of a trade, at the trade's
 * own price. Keep everything in integers until a reward leaves: price units x shares, half units
 * where the mid is in it (twice the mid is whole), millionths of a unit for fees. */
#include "env/world.h"

/* ---- trades ---- */

typedef struct party {
  val owner; /* i32, not 0 */
  val sells; /* bool */
  bool takes;
} party;

static void settle(book *k, const party *p, val worth, val shares) {
  world *w = k->context;
  val base = mul(sub(p->owner, 1), AGENT_CELLS);
  val notional = mul(worth, shares);
  const struct {
    agent_cell cell;
    val amount;
  } moves[] = {
      {AGENT_CASH, choose(p->sells, notional, neg(notional))},
      {AGENT_INVENTORY, choose(p->sells, neg(shares), shares)},
      {AGENT_VOLUME, shares},
      {AGENT_NOTIONAL, notional},
      {AGENT_FILLS, i64(1)},
  };
  for (size_t i = 0; i < sizeof moves / sizeof moves[0]; i++) {
    add_to_in(w->agent_cells, add(base, (int)moves[i].cell), moves[i].amount);
  }
  val fee = common_i32(w, p->takes ? COMMON_TAKER_FEE : COMMON_MAKER_FEE);
  val rate = common_i32(w, p->takes ? COMMON_TAKER_RATE : COMMON_MAKER_RATE);
  add_to_in(w->agent_cells, add(base, AGENT_FEES),
            add(mul(i64(fee), shares), mul(i64(rate), notional)));
  if (p->takes) {
    add_to_in(w->agent_cells, add(base, AGENT_TAKEN_VOLUME), shares);
    add_to_in(w->agent_cells, add(base, AGENT_TAKEN_NOTIONAL), notional);
  }
  env_add(w, ENV_FILLS, i64(1));
}

/* An agent's resting order was filled: its slot holds less. */
static void settle_maker(book *k, val owner, val side, val maker, val worth, val shares) {
  world *w = k->context;
  settle(k, &(party){owner, ne(side, 0), false}, worth, i64(shares));
  add_to(w->slot_qty, sub(maker, WB_REF_AGENT_FIRST), neg(shares));
}

static void count_edge(book *k, val worth, val shares) {
  world *w = k->context;
  env_add(w, ENV_EDGE_VOLUME, i64(shares));
  env_add(w, ENV_EDGE_NOTIONAL, mul(worth, i64(shares)));
}

void on_trade(book *k, const message *m, val side, val slot, val maker, val price, val shares) {
  world *w = k->context;
  env_set(w, ENV_LAST_PRICE, price);
  env_set(w, ENV_LAST_SHARES, shares);
  env_set(w, ENV_LAST_SIDE, side);
  val owner = load_in(k->owner, slot);
  bool is_agents = k == &w->orders;
  bool edges = !is_agents && may_have(k, WB_FLAG_EDGE);
  val special = edges ? bit_or(owner, bit_and(m->flags, WB_FLAG_EDGE)) : owner;
  val worth = add(load_in(k->head, WB_HEAD_BASE), i64(price));
  IF_RARE(ne(special, 0)) {
    IF (ne(owner, 0)) {
      settle_maker(k, owner, side, maker, worth, shares);
    }
    if (edges) {
      IF (has_flag(k, m, WB_FLAG_EDGE)) {
        count_edge(k, worth, shares);
      }
    }
  }
  if (is_agents) settle(k, &(party){m->owner, eq(side, 0), true}, worth, i64(shares));
}

/* ---- the market's side of a step ---- */

/* Volume and notional of all trades but EDGE ones, cumulative. */
void account_market(world *k) {
  book *b = &k->history;
  val volume = sub(load_in(b->counters, WB_COUNT_VOLUME), env_get(k, ENV_EDGE_VOLUME));
  val notional = sub(load_in(b->counters, WB_COUNT_NOTIONAL), env_get(k, ENV_EDGE_NOTIONAL));
  env_set(k, ENV_STEP_VOLUME, sub(volume, env_get(k, ENV_VOLUME)));
  env_set(k, ENV_STEP_NOTIONAL, sub(notional, env_get(k, ENV_NOTIONAL)));
  env_set(k, ENV_VOLUME, volume);
  env_set(k, ENV_NOTIONAL, notional);
  /* the mid of the decision stood until now */
  val us = divide(env_get(k, ENV_STEP_NS), 1000);
  val above = sub(env_get(k, ENV_PAST_MID2), env_get(k, ENV_START_MID2));
  env_add(k, ENV_TWAP_SUM, mul(above, us));
  env_add(k, ENV_TWAP_US, us);
}

/* ---- the agents' side ---- */

val value2_of(world *k, const agent *a) {
  return add(mul(agent_get(k, a, AGENT_CASH), 2),
             mul(agent_get(k, a, AGENT_INVENTORY), env_get(k, ENV_MID2)));
}

static val step_of(world *k, const agent *a, agent_cell now, agent_cell past) {
  return sub(agent_get(k, a, now), agent_get(k, a, past));
}

/* What a step's fills cost against arrival, in parts that sum to it: the mid had moved by the decision
 * (delay); takers pay the touch, makers their own price, against the mid (spread); takers walk beyond
 * the touch (impact). Of an agent that trades in one direction: `buys` is 1 or -1. */
static void account_shortfall(world *k, const agent *a, val buys, val bid, val ask) {
  val shares = step_of(k, a, AGENT_VOLUME, AGENT_PAST_VOLUME);
  val notional = step_of(k, a, AGENT_NOTIONAL, AGENT_PAST_NOTIONAL);
  val taken = step_of(k, a, AGENT_TAKEN_VOLUME, AGENT_PAST_TAKEN_VOLUME);
  val taken_notional = step_of(k, a, AGENT_TAKEN_NOTIONAL, AGENT_PAST_TAKEN_NOTIONAL);
  val past = env_get(k, ENV_PAST_MID2);
  val touch = add(load_in(k->history.head, WB_HEAD_BASE), choose(gt(buys, 0), ask, bid));
  val made = sub(shares, taken);
  val made_notional = sub(notional, taken_notional);
  val delay = mul(shares, sub(past, env_get(k, ENV_START_MID2)));
  val spread =
      add(mul(taken, sub(mul(touch, 2), past)), sub(mul(made_notional, 2), mul(made, past)));
  val impact = mul(sub(taken_notional, mul(taken, touch)), 2);
  agent_add(k, a, AGENT_DELAY2, mul(delay, buys));
  agent_add(k, a, AGENT_SPREAD2, mul(spread, buys));
  agent_add(k, a, AGENT_IMPACT2, mul(impact, buys));
}

static void keep_past(world *k, const agent *a, val value2) {
  agent_set(k, a, AGENT_PAST_VALUE2, value2);
  agent_set(k, a, AGENT_PAST_INVENTORY, agent_get(k, a, AGENT_INVENTORY));
  agent_set(k, a, AGENT_PAST_FEES, agent_get(k, a, AGENT_FEES));
  agent_set(k, a, AGENT_PAST_VOLUME, agent_get(k, a, AGENT_VOLUME));
  agent_set(k, a, AGENT_PAST_NOTIONAL, agent_get(k, a, AGENT_NOTIONAL));
  agent_set(k, a, AGENT_PAST_TAKEN_VOLUME, agent_get(k, a, AGENT_TAKEN_VOLUME));
  agent_set(k, a, AGENT_PAST_TAKEN_NOTIONAL, agent_get(k, a, AGENT_TAKEN_NOTIONAL));
}

static void account_agent(world *k, const agent *a, val bid, val ask) {
  val value2 = value2_of(k, a);
  val target = agent_get(k, a, AGENT_TARGET);
  IF (ne(target, 0)) {
    account_shortfall(k, a, choose(gt(target, 0), i64(1), i64(-1)), bid, ask);
  }
  val reward = a->group->task->reward(k, a);
  store(k->buffers[BUFFER_REWARD], a->index, reward);
  store(k->buffers[BUFFER_PROFIT], a->index, sub(value2, agent_get(k, a, AGENT_PAST_VALUE2)));
  store(k->buffers[BUFFER_FEES], a->index, step_of(k, a, AGENT_FEES, AGENT_PAST_FEES));
  store(k->buffers[BUFFER_TERMINATED], a->index, i32(agent_get(k, a, AGENT_DONE)));
  /* an agent whose task is done is not cut short by the end of the others' episode */
  val cut = both(ne(k->reason, WB_ENV_END_NONE), eq(agent_get(k, a, AGENT_DONE), 0));
  store(k->buffers[BUFFER_TRUNCATED], a->index, i32(cut));
  val sum = add(from_bits(i32(agent_get(k, a, AGENT_RETURN))), reward);
  agent_set(k, a, AGENT_RETURN, u64(to_bits(sum)));
  keep_past(k, a, value2);
}

void account_agents(world *k, val bid, val ask) {
  FOR_AGENTS(a) { account_agent(k, &a, bid, ask); }
}

/* ---- an episode's end ---- */

/* f32 as i64 multiples of 2^-16, rounded towards zero, saturating far out. */
static val fixed(world *k, val x) {
  val high = i32(mul(x, 0x1p-8f));
  val low = i32(mul(sub(x, mul(f32(high), 0x1p8f)), 0x1p16f));
  return add(mul(i64(high), INT64_C(1) << 24), i64(low));
}

static void count_for(world *k, const agent *a, env_statistic which, val amount) {
  val at = add(mul(a->index, STAT_COUNT), (int)which);
  add_to(k->buffers[BUFFER_STATISTICS], at, i64(amount));
}

/* x times volume over whole, rounded down once. The product alone may not fit: a day in microseconds
 * times a price's way times a million shares does not. */
static val part_of(world *k, val x, val volume, val whole) {
  val each = divide(x, whole);
  val rest = sub(x, mul(each, whole));
  return add(mul(each, volume), divide(mul(rest, volume), whole));
}

static void count_execution(world *k, const agent *a, val target) {
  val buys = choose(gt(target, 0), i64(1), i64(-1));
  val volume = agent_get(k, a, AGENT_VOLUME);
  val notional = agent_get(k, a, AGENT_NOTIONAL);
  val start = env_get(k, ENV_START_MID2);
  val shortfall = mul(buys, sub(mul(notional, 2), mul(volume, start)));
  count_for(k, a, STAT_LEFT, absolute(sub(target, agent_get(k, a, AGENT_INVENTORY))));
  count_for(k, a, STAT_SHORTFALL, shortfall);
  count_for(k, a, STAT_DELAY, agent_get(k, a, AGENT_DELAY2));
  count_for(k, a, STAT_SPREAD, agent_get(k, a, AGENT_SPREAD2));
  count_for(k, a, STAT_IMPACT, agent_get(k, a, AGENT_IMPACT2));
  /* volume x average, rounded down once: an average alone would lose its fraction */
  val twap = part_of(k, env_get(k, ENV_TWAP_SUM), volume, max(env_get(k, ENV_TWAP_US), i64(1)));
  count_for(k, a, STAT_AGAINST_TWAP, sub(shortfall, mul(buys, twap)));
  val others = sub(sub(env_get(k, ENV_VOLUME), env_get(k, ENV_START_VOLUME)), volume);
  val others_notional =
      sub(sub(env_get(k, ENV_NOTIONAL), env_get(k, ENV_START_NOTIONAL)), notional);
  val above = sub(mul(others_notional, 2), mul(others, start));
  val vwap = part_of(k, above, volume, max(others, i64(1)));
  count_for(k, a, STAT_AGAINST_VWAP, sub(shortfall, mul(buys, vwap)));
}

static void count_agent(world *k, const agent *a) {
  val total = from_bits(i32(agent_get(k, a, AGENT_RETURN)));
  count_for(k, a, STAT_EPISODES, i64(1));
  count_for(k, a, STAT_RETURN, fixed(k, total));
  count_for(k, a, STAT_RETURN_SQUARE, fixed(k, mul(total, total)));
  count_for(k, a, STAT_STEPS, env_get(k, ENV_STEP));
  count_for(k, a, STAT_MESSAGES, env_get(k, ENV_MESSAGES));
  count_for(k, a, STAT_PROFIT, agent_get(k, a, AGENT_PAST_VALUE2));
  count_for(k, a, STAT_FEES, agent_get(k, a, AGENT_FEES));
  count_for(k, a, STAT_FILLS, agent_get(k, a, AGENT_FILLS));
  count_for(k, a, STAT_VOLUME, agent_get(k, a, AGENT_VOLUME));
  count_for(k, a, STAT_TAKEN, agent_get(k, a, AGENT_TAKEN_VOLUME));
  count_for(k, a, STAT_LIQUIDATED, agent_get(k, a, AGENT_LIQUIDATED));
  count_for(k, a, STAT_INVENTORY, absolute(agent_get(k, a, AGENT_INVENTORY)));
  val target = agent_get(k, a, AGENT_TARGET);
  IF (ne(target, 0)) {
    count_execution(k, a, target);
  }
  /* the counts of reasons stand in the order of the reasons */
  val counter = add(mul(a->index, STAT_COUNT), add(k->reason, STAT_END_TASK - WB_ENV_END_TASK));
  add_to(k->buffers[BUFFER_STATISTICS], counter, i64(1));
}

void count_episode(world *k) {
  FOR_AGENTS(a) { count_agent(k, &a); }
}

/* What agents see: levels and market first, the same for all, then each agent's own part.
 *
 * Prices are relative to the mid in ticks and sizes in multiples of a scale, each computed in integers
 * and rounded once to f32. The order of features here is the order of their names in names.c. */
#include "env/world.h"

#include "env/features.h"

typedef struct scene {
  val origin;    /* i64: element of the first agent's first feature */
  val per_tick2; /* f32: from half price units to observed ticks */
  val per_share; /* f32: from shares to observed sizes */
} scene;

static val place_of(world *k, const scene *s, val index) {
  return add(s->origin, i64(mul(index, k->env->features)));
}

static void put(world *k, val at, val v) { store_in(k->buffers[BUFFER_OBSERVATION], at, v); }

/* Price units above base, as ticks from the mid. */
static val ticks_from_mid(world *k, const scene *s, val price) {
  val base2 = mul(load_in(k->history.head, WB_HEAD_BASE), 2);
  val above2 = sub(add(mul(i64(price), 2), base2), env_get(k, ENV_MID2));
  return mul(f32(above2), s->per_tick2);
}

static val sizes(world *k, const scene *s, val shares) { return mul(f32(shares), s->per_share); }

/* ---- levels ---- */

enum { ROWS_IN_REGISTERS = 4 };

static val keys_of(world *k, val row) { return i32(sar(load_row_in(k->history.rank, row), 32)); }

/* Shares of a level are summed in i32: no order counts for more than its part of that range. */
static val shares_of_row(world *k, val row) {
  return min(load_row_in(k->history.qty, row), (1 << 30) / k->layout->book->capacity);
}

static void put_level(world *k, const scene *s, val at, val key, int side, val shares) {
  val there = ne(key, INT32_MAX);
  val price = side == 0 ? neg(key) : key;
  put(k, at, choose(there, ticks_from_mid(k, s, price), 0.0f));
  put(k, add(at, 1), choose(there, sizes(k, s, shares), 0.0f));
}

static val level_place(const scene *s, world *k, int side, val level) {
  return add(s->origin, i64(add(mul(level, FEATURES_OF_LEVEL), side * 2)));
}

/* Each level takes its orders out of the keys that are left. */
static void observe_few_rows(world *k, const scene *s, int side) {
  var keys[ROWS_IN_REGISTERS] = {{0}};
  val shares[ROWS_IN_REGISTERS] = {{0}};
  int32_t rows = k->history.rows;
  for (int32_t r = 0; r < rows; r++) {
    keys[r] = variable(keys_of(k, i32(side * rows + r)));
    shares[r] = shares_of_row(k, i32(side * rows + r));
  }
  FOR (level, 0, k->env->levels) {
    val best = value(keys[0]);
    for (int32_t r = 1; r < rows; r++) best = min(best, keys[r]);
    val key = reduce_min(best);
    val sum = splat(i32(0));
    for (int32_t r = 0; r < rows; r++) {
      val here = eq(keys[r], key);
      sum = add(sum, choose(here, shares[r], 0));
      assign(keys[r], choose(here, INT32_MAX, keys[r]));
    }
    put_level(k, s, level_place(s, k, side, level), key, side, reduce_add(sum));
  }
}

/* Each level is a pass over the side for its shares and the next key. */
static void observe_many_rows(world *k, const scene *s, int side) {
  int32_t rows = k->history.rows;
  var key = variable(key_of(&k->history, load_in(k->history.best_rank, side)));
  FOR (level, 0, k->env->levels) {
    var sum = variable(splat(i32(0)));
    var next = variable(splat(i32(INT32_MAX)));
    FOR (r, side * rows, (side + 1) * rows) {
      val keys = keys_of(k, r);
      assign(sum, add(sum, choose(eq(keys, key), shares_of_row(k, r), 0)));
      assign(next, min(next, choose(gt(keys, key), keys, INT32_MAX)));
    }
    put_level(k, s, level_place(s, k, side, level), value(key), side, reduce_add(sum));
    assign(key, reduce_min(next));
  }
}

static void observe_levels(world *k, const scene *s) {
  for (int side = 0; side < 2; side++) {
    if (k->history.rows <= ROWS_IN_REGISTERS) {
      observe_few_rows(k, s, side);
    } else {
      observe_many_rows(k, s, side);
    }
  }
}

/* ---- market ---- */

static val imbalance(world *k, const scene *s) {
  if (k->env->levels == 0) return f32(0.0f);
  array seen = k->buffers[BUFFER_OBSERVATION];
  val bid = load_in(seen, add(s->origin, 1)), ask = load_in(seen, add(s->origin, 3));
  val sum = add(bid, ask);
  return choose(gt(sum, 0.0f), divide(sub(bid, ask), sum), 0.0f);
}

/* Others' and agents' average price of the last step, from the mid. */
static val vwap_from_mid(world *k, const scene *s) {
  val volume = env_get(k, ENV_STEP_VOLUME);
  val above2 = sub(mul(env_get(k, ENV_STEP_NOTIONAL), 2), mul(volume, env_get(k, ENV_MID2)));
  val per_share = divide(f32(above2), f32(max(volume, i64(1))));
  return choose(gt(volume, 0), mul(per_share, s->per_tick2), 0.0f);
}

static val part_of_episode(world *k) {
  val rows = common_i32(k, COMMON_EPISODE_MESSAGES);
  val seconds = common_i32(k, COMMON_EPISODE_SECONDS);
  val by_rows = divide(f32(env_get(k, ENV_MESSAGES)), f32(max(rows, 1)));
  val us = divide(sub(env_get(k, ENV_NOW_NS), env_get(k, ENV_START_NS)), 1000);
  val by_time = divide(mul(f32(us), 1e-6f), f32(max(seconds, 1)));
  return max(choose(gt(rows, 0), by_rows, 0.0f), choose(gt(seconds, 0), by_time, 0.0f));
}

static void observe_market(world *k, const scene *s) {
  val last = gt(env_get(k, ENV_LAST_SHARES), 0);
  val spread2 = mul(sub(env_get(k, ENV_ASK), env_get(k, ENV_BID)), 2);
  val mid2 = env_get(k, ENV_MID2);
  val trading = eq(load_in(k->history.state, WB_CELL_TRADING_STATE), WB_STATE_TRADING);
  const val features[MARKET_FEATURES] = {
      mul(f32(spread2), s->per_tick2),
      imbalance(k, s),
      mul(f32(sub(mid2, env_get(k, ENV_PAST_MID2))), s->per_tick2),
      mul(f32(sub(mid2, env_get(k, ENV_START_MID2))), s->per_tick2),
      sizes(k, s, env_get(k, ENV_STEP_VOLUME)),
      vwap_from_mid(k, s),
      choose(last, ticks_from_mid(k, s, env_get(k, ENV_LAST_PRICE)), 0.0f),
      sizes(k, s, env_get(k, ENV_LAST_SHARES)),
      choose(last, choose(ne(env_get(k, ENV_LAST_SIDE), 0), 1.0f, -1.0f), 0.0f),
      choose(trading, 1.0f, 0.0f),
      part_of_episode(k),
      mul(f32(divide(env_get(k, ENV_STEP_NS), 1000)), 1e-6f),
  };
  for (int i = 0; i < MARKET_FEATURES; i++) {
    put(k, add(s->origin, k->env->levels * FEATURES_OF_LEVEL + i), features[i]);
  }
}

/* ---- own ---- */

static void observe_slot(world *k, const scene *s, val at, val i) {
  val qty = load_in(k->slot_qty, i);
  val side = choose(ne(load_in(k->slot_side, i), 0), -1.0f, 1.0f);
  IF (gt(qty, 0)) {
    put(k, at, side);
    put(k, add(at, 1), ticks_from_mid(k, s, load_in(k->slot_price, i)));
    put(k, add(at, 2), sizes(k, s, qty));
    put(k, add(at, 3), sizes(k, s, load_in(k->slot_ahead, i)));
  }
  ELSE {
    for (int f = 0; f < FEATURES_OF_SLOT; f++) put(k, add(at, f), f32(0.0f));
  }
}

static void observe_agent(world *k, const scene *s, const agent *a) {
  val at =
      add(place_of(k, s, a->index), (int64_t)k->env->levels * FEATURES_OF_LEVEL + MARKET_FEATURES);
  val target = agent_get(k, a, AGENT_TARGET);
  val inventory = agent_get(k, a, AGENT_INVENTORY);
  val remaining = choose(ne(target, 0), absolute(sub(target, inventory)), i64(0));
  val direction = choose(gt(target, 0), 1.0f, choose(lt(target, 0), -1.0f, 0.0f));
  const val features[OWN_FEATURES] = {
      sizes(k, s, inventory),
      sizes(k, s, remaining),
      direction,
      choose(eq(agent_get(k, a, AGENT_DONE), 0), 1.0f, 0.0f),
      mul(mul(f32(value2_of(k, a)), s->per_tick2), s->per_share),
  };
  for (int i = 0; i < OWN_FEATURES; i++) put(k, add(at, i), features[i]);
  FOR (j, 0, k->layout->slots) {
    observe_slot(k, s, add(at, i64(add(mul(j, FEATURES_OF_SLOT), OWN_FEATURES))), add(a->first, j));
  }
}

/* The part that all agents share, once more. Lanes past its end copy its last feature again. */
static void copy_shared(world *k, const scene *s) {
  if (k->layout->agents < 2) return;
  array seen = k->buffers[BUFFER_OBSERVATION];
  int32_t count = k->env->levels * FEATURES_OF_LEVEL + MARKET_FEATURES;
  for (int32_t first = 0; first < count; first += WB_WIDTH) {
    val feature = i64(min(add(lane_id(), first), count - 1));
    val features = gather_in(seen, add(feature, s->origin));
    FOR (index, 1, k->layout->agents) {
      scatter_in(seen, add(feature, place_of(k, s, index)), features);
    }
  }
}

static void write_masks(world *k) {
  array mask = k->buffers[BUFFER_MASK];
  int32_t choices = k->env->choices;
  FOR_AGENTS(a) {
    val at = mul(a.index, choices);
    FOR (c, 0, choices) {
      store(mask, add(at, c), 1);
    }
    if (a.group->task->mask != NULL) a.group->task->mask(k, &a, at);
  }
}

static val origin_of(world *k, val slot) {
  return add(mul(slot, k->scalars[SCALAR_SLOT_STRIDE]),
             mul(i64(book_index()), k->scalars[SCALAR_ENV_STRIDE]));
}

void observe(world *k) {
  val slot = i64(load(k->buffers[BUFFER_SLOT], 0));
  IF_LIKELY(ult(slot, k->scalars[SCALAR_SLOTS])) {
    val tick = f32(mul(tick_of(k), 2));
    scene s = {.origin = origin_of(k, slot)};
    s.per_tick2 = divide(1.0f, mul(tick, common_f32(k, COMMON_PRICE_SCALE)));
    s.per_share = divide(1.0f, common_f32(k, COMMON_SIZE_SCALE));
    observe_levels(k, &s);
    observe_market(k, &s);
    copy_shared(k, &s);
    FOR_AGENTS(a) { observe_agent(k, &s, &a); }
  }
  ELSE { env_error_bit(k, WB_ENV_ERROR_SLOT); }
  write_masks(k);
}

void copy_final(world *k) {
  val slot = i64(load(k->buffers[BUFFER_SLOT], 0));
  IF (ult(slot, k->scalars[SCALAR_SLOTS])) {
    val origin = origin_of(k, slot);
    FOR (i, 0, k->layout->agents * k->env->features) {
      store(k->buffers[BUFFER_FINAL], i,
            load_in(k->buffers[BUFFER_OBSERVATION], add(origin, i64(i))));
    }
  }
}

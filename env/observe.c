/* What agents see: levels and market first, the same for all, then each agent's own part.
 *
 * Prices are relative to the mid in ticks and sizes in multiples of a scale, each computed in integers
 * and rounded once to f32. The order of features here is the order of their names in names.c.
 *
 * Features are gathered in lanes, a lane a feature, converted there together and stored as neighbours,
 * up to a gang's width of them at a time: observations are most of what an environment writes. */
#include "env/world.h"

#include "env/features.h"

typedef struct scene {
  val origin;    /* i64: element of the first agent's first feature */
  val per_tick2; /* f32: from half price units to observed ticks */
  val per_share; /* f32: from shares to observed sizes */
  val base2;     /* i64: from the mid to the prices' base, half units */
} scene;

static val place_of(world *k, const scene *s, val index) {
  return add(s->origin, i64(mul(index, k->env->features)));
}

/* The first `count` lanes as features from element `at` on. */
static void put(world *k, val at, val features, int32_t count) {
  array seen = k->buffers[BUFFER_OBSERVATION];
  store_lanes_if_in(seen, at, features, lt(lane_id(), count));
}

/* The same for every agent, from feature `first` on. */
static void put_shared(world *k, const scene *s, int32_t first, val features, int32_t count) {
  if (k->layout->agents == 1) {
    put(k, add(s->origin, first), features, count);
    return;
  }
  FOR (index, 0, k->layout->agents) {
    put(k, add(place_of(k, s, index), first), features, count);
  }
}

static val lanes_of(world *k, const val *list, int32_t count) {
  val lanes = splat(f32(0.0f));
  for (int32_t i = 0; i < count; i++) lanes = insert(lanes, i, list[i]);
  return lanes;
}

/* A price in units above base, i64, as half units from the mid. */
static val above_mid2(world *k, const scene *s, val price) { return add(mul(price, 2), s->base2); }

static val ticks_from_mid(world *k, const scene *s, val price) {
  return mul(f32(above_mid2(k, s, i64(price))), s->per_tick2);
}

static val sizes(world *k, const scene *s, val shares) { return mul(f32(shares), s->per_share); }

/* ---- levels ---- */

enum {
  ROWS_IN_REGISTERS = 4,
  LEVELS_TOGETHER = WB_WIDTH / FEATURES_OF_LEVEL, /* that share the lanes of a value */
  PARTS_MAX = (WB_ENV_LEVELS_MAX + LEVELS_TOGETHER - 1) / LEVELS_TOGETHER
};

static val keys_of(world *k, val row) { return i32(sar(load_row_in(k->history.rank, row), 32)); }

/* Shares of a level are summed in i32: no order counts for more than its part of that range. */
static val shares_of_row(world *k, val row) {
  return min(load_row_in(k->history.qty, row), (1 << 30) / k->layout->book->capacity);
}

/* Keys and shares of LEVELS_TOGETHER levels, in the lanes of their features; INT32_MAX: no level. */
static val no_levels(world *k) { return splat(i32(INT32_MAX)); }

/* Adds a level by its place among those in the same lanes. */
static void note_level(world *k, var levels, val place, int side, val key, val shares) {
  val here = eq(shr(lane_id(), 1), add(mul(place, 2), side));
  val is_size = ne(bit_and(lane_id(), 1), 0);
  shares = choose(ne(key, INT32_MAX), shares, INT32_MAX);
  assign(levels, choose(here, choose(is_size, shares, key), levels));
}

static val features_of_levels(world *k, const scene *s, val levels) {
  val part = bit_and(lane_id(), FEATURES_OF_LEVEL - 1);
  val is_price = eq(bit_and(part, 1), 0);
  /* keys of bids are their prices' negatives */
  val number = i64(choose(eq(part, 0), neg(levels), levels));
  number = choose(is_price, above_mid2(k, s, number), number);
  val seen = mul(f32(number), choose(is_price, s->per_tick2, s->per_share));
  return choose(ne(levels, INT32_MAX), seen, 0.0f);
}

static int32_t end_of_part(const world *k, int32_t first) {
  int32_t end = first + LEVELS_TOGETHER;
  return end < k->env->levels ? end : k->env->levels;
}

/* Orders of a side that no level has taken yet. */
typedef struct side_left {
  var keys[ROWS_IN_REGISTERS];
  val shares[ROWS_IN_REGISTERS];
} side_left;

static side_left all_of_side(world *k, int side) {
  side_left left = {.keys = {{0}}};
  int32_t rows = k->history.rows;
  for (int32_t r = 0; r < rows; r++) {
    left.keys[r] = variable(keys_of(k, i32(side * rows + r)));
    left.shares[r] = shares_of_row(k, i32(side * rows + r));
  }
  return left;
}

/* The next level takes its orders out of the keys that are left. */
static void take_level(world *k, side_left *left, var levels, val place, int side) {
  int32_t rows = k->history.rows;
  val best = value(left->keys[0]), sum = splat(i32(0));
  for (int32_t r = 1; r < rows; r++) best = min(best, left->keys[r]);
  val key = reduce_min(best);
  for (int32_t r = 0; r < rows; r++) {
    val here = eq(left->keys[r], key);
    sum = add(sum, choose(here, left->shares[r], 0));
    assign(left->keys[r], choose(here, INT32_MAX, left->keys[r]));
  }
  note_level(k, levels, place, side, key, reduce_add(sum));
}

/* Sides from `side` up to `end`, level by level: what one waits for, the other has time to do. */
static void look_at_few_rows(world *k, var *parts, int side, int end) {
  side_left left[2];
  for (int i = side; i < end; i++) left[i] = all_of_side(k, i);
  for (int32_t first = 0; first < k->env->levels; first += LEVELS_TOGETHER) {
    FOR (place, 0, end_of_part(k, first) - first) {
      for (int i = side; i < end; i++) {
        take_level(k, &left[i], parts[first / LEVELS_TOGETHER], place, i);
      }
    }
  }
}

/* Each level is a pass over the side for its shares and the next key. */
static void look_at_many_rows(world *k, var *parts, int side) {
  int32_t rows = k->history.rows;
  var key = variable(key_of(&k->history, load_in(k->history.best_rank, side)));
  for (int32_t first = 0; first < k->env->levels; first += LEVELS_TOGETHER) {
    FOR (place, 0, end_of_part(k, first) - first) {
      var sum = variable(splat(i32(0)));
      var next = variable(splat(i32(INT32_MAX)));
      FOR (r, side * rows, (side + 1) * rows) {
        val keys = keys_of(k, r);
        assign(sum, add(sum, choose(eq(keys, key), shares_of_row(k, r), 0)));
        assign(next, min(next, choose(gt(keys, key), keys, INT32_MAX)));
      }
      note_level(k, parts[first / LEVELS_TOGETHER], place, side, value(key), reduce_add(sum));
      assign(key, reduce_min(next));
    }
  }
}

/* Gives the best level's features, or zeros. */
static val observe_levels(world *k, const scene *s) {
  var parts[PARTS_MAX] = {{0}};
  val best = splat(f32(0.0f));
  int32_t count = (k->env->levels + LEVELS_TOGETHER - 1) / LEVELS_TOGETHER;
  for (int32_t i = 0; i < count; i++) parts[i] = variable(no_levels(k));
  if (k->history.rows <= ROWS_IN_REGISTERS / 2) {
    look_at_few_rows(k, parts, 0, 2);
  } else {
    for (int side = 0; side < 2; side++) {
      if (k->history.rows <= ROWS_IN_REGISTERS) {
        look_at_few_rows(k, parts, side, side + 1);
      } else {
        look_at_many_rows(k, parts, side);
      }
    }
  }
  for (int32_t i = 0; i < count; i++) {
    int32_t first = i * LEVELS_TOGETHER;
    val features = features_of_levels(k, s, value(parts[i]));
    put_shared(k, s, first * FEATURES_OF_LEVEL, features,
               (end_of_part(k, first) - first) * FEATURES_OF_LEVEL);
    if (i == 0) best = features;
  }
  return best;
}

/* ---- market ---- */

/* Of the sizes at the touch. */
static val imbalance(world *k, val best_level) {
  val bid = extract(best_level, 1), ask = extract(best_level, 3);
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

static void observe_market(world *k, const scene *s, val best_level) {
  val last = gt(env_get(k, ENV_LAST_SHARES), 0);
  val spread2 = mul(sub(env_get(k, ENV_ASK), env_get(k, ENV_BID)), 2);
  val mid2 = env_get(k, ENV_MID2);
  val trading = eq(load_in(k->history.state, WB_CELL_TRADING_STATE), WB_STATE_TRADING);
  const val features[MARKET_FEATURES] = {
      mul(f32(spread2), s->per_tick2),
      imbalance(k, best_level),
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
  put_shared(k, s, k->env->levels * FEATURES_OF_LEVEL, lanes_of(k, features, MARKET_FEATURES),
             MARKET_FEATURES);
}

/* ---- own ---- */

/* In each lane the element of the slot that it belongs to. */
static val of_slots(world *k, array slots, const agent *a, val slot) {
  val lanes = splat(load_in(slots, a->first));
  for (int32_t j = 1; j < k->layout->slots; j++) {
    lanes = choose(eq(slot, j), load_in(slots, add(a->first, j)), lanes);
  }
  return lanes;
}

/* Features of an agent's slots, lane l the one of number first + l among the agent's own. */
static val features_of_slots(world *k, const scene *s, const agent *a, int32_t first) {
  val feature = sub(add(lane_id(), first), OWN_FEATURES);
  val slot = sar(feature, 2), part = bit_and(feature, 3);
  val qty = of_slots(k, k->slot_qty, a, slot);
  var features = variable(splat(f32(0.0f)));
  IF (any(gt(qty, 0))) {
    val ahead = of_slots(k, k->slot_ahead, a, slot);
    val price = i64(of_slots(k, k->slot_price, a, slot));
    val side = choose(ne(of_slots(k, k->slot_side, a, slot), 0), -1.0f, 1.0f);
    val is_price = eq(part, 1);
    val number = choose(is_price, above_mid2(k, s, price), i64(choose(eq(part, 2), qty, ahead)));
    val seen = mul(f32(number), choose(is_price, s->per_tick2, s->per_share));
    assign(features, choose(gt(qty, 0), choose(eq(part, 0), side, seen), 0.0f));
  }
  return value(features);
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
  int32_t count = OWN_FEATURES + k->layout->slots * FEATURES_OF_SLOT;
  for (int32_t first = 0; first < count; first += WB_WIDTH) {
    val lanes = features_of_slots(k, s, a, first);
    for (int32_t i = 0; first == 0 && i < OWN_FEATURES; i++) lanes = insert(lanes, i, features[i]);
    put(k, add(at, first), lanes, count - first < WB_WIDTH ? count - first : WB_WIDTH);
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
    s.base2 = sub(mul(load_in(k->history.head, WB_HEAD_BASE), 2), env_get(k, ENV_MID2));
    observe_market(k, &s, observe_levels(k, &s));
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

/* The execution task: buy or sell a quantity within the episode.
 *
 * Actions and reward are those of the published environments this task is compared with: four prices
 * (far touch, mid, near touch, passive) and, discrete, nothing or 1, 2 or 5 units at one of them
 * (JaxMARL-HFT, Mohl et al. 2025); reward = advantage + lambda x drift (JAX-LOB, Frey et al. 2023),
 * where advantage is what own fills gained against the average price of others' trades of the step,
 * and drift what that average gained against arrival, both the right way round for buys and sells.
 * docs/environment.md gives the formulas. */
#include "env/world.h"

enum { SLOT_FAR, SLOT_MID, SLOT_NEAR, SLOT_PASSIVE, SLOTS };
enum { SIZES = 3, CHOICES = 1 + SLOTS * SIZES };
static const int32_t units[SIZES] = {1, 2, 5};

typedef enum parameter {
  QUANTITY,
  SIDE,
  UNIT,
  PASSIVE_TICKS,
  LAMBDA,
  REWARD_SCALE,
  LIQUIDATE,
  PARAMETERS
} parameter;

static const wb_env_parameter parameters[PARAMETERS] = {
    [QUANTITY] = {"quantity", "shares", "to buy or sell in an episode; from the next reset on",
                  WB_ENV_I32, 500, 1, WB_ENV_SIZE_MAX},
    [SIDE] = {"side", "0 buy, 1 sell, 2 random",
              "drawn anew for each episode if random; from the "
              "next reset on",
              WB_ENV_I32, 1, 0, 2},
    [UNIT] = {"unit", "shares", "discrete actions trade 1, 2 or 5 of them", WB_ENV_I32, 10, 1,
              200000},
    [PASSIVE_TICKS] = {"passive_ticks", "ticks",
                       "the passive price is so far behind the near touch", WB_ENV_I32, 1, 0,
                       100000},
    [LAMBDA] = {"lambda", "", "weight of the drift in the reward", WB_ENV_F32, 1, 0, 1000},
    [REWARD_SCALE] = {"reward_scale", "price units x shares", "the reward is divided by it",
                      WB_ENV_F32, 10000, 1e-6, 1e12},
    [LIQUIDATE] = {"liquidate", "0 or 1", "trade what remains at the end through the book",
                   WB_ENV_I32, 1, 0, 1},
};

/* ---- action spaces ---- */

static const char *const choice_name[] = {"choice"};
static const double choice_least[] = {0}, choice_most[] = {CHOICES - 1};
static const char *const price_names[] = {"far_touch", "mid", "near_touch", "passive"};
static const double quantity_least[SLOTS] = {0};
static const double quantity_most[SLOTS] = {WB_ENV_SIZE_MAX, WB_ENV_SIZE_MAX, WB_ENV_SIZE_MAX,
                                            WB_ENV_SIZE_MAX};

static const wb_env_action_space spaces[] = {
    {"discrete",
     "0: leave all orders as they are; 1 + 3 p + s: 1, 2 or 5 units (s) at price p (far touch, mid, "
     "near touch, passive), and no other order",
     WB_ENV_I32, 1, CHOICES, choice_name, choice_least, choice_most},
    {"quantities", "shares that shall rest at or take each of the four prices; rounded", WB_ENV_F32,
     SLOTS, 0, price_names, quantity_least, quantity_most},
    SLOTS_SPACE(SLOTS),
};

/* ---- an episode ---- */

static void reset(world *k, const agent *a) {
  val chosen = task_i32(k, a, SIDE);
  wb_random random = draw(k, STREAM_TASK, a->index);
  val sells = choose(eq(chosen, 2), bit_and(random.word[0], 1), chosen);
  val quantity = i64(task_i32(k, a, QUANTITY));
  val target = choose(ne(sells, 0), neg(quantity), quantity);
  agent_set(k, a, AGENT_TARGET, target);
  agent_set(k, a, AGENT_LOW, min(target, i64(0)));
  agent_set(k, a, AGENT_HIGH, max(target, i64(0)));
}

static val sells_of(world *k, const agent *a) { return i32(lt(agent_get(k, a, AGENT_TARGET), 0)); }

static val remaining(world *k, const agent *a) {
  return i32(absolute(sub(agent_get(k, a, AGENT_TARGET), agent_get(k, a, AGENT_INVENTORY))));
}

static val price_of_slot(world *k, const agent *a, int slot, val sells) {
  switch (slot) {
  case SLOT_FAR: return far_touch(k, sells);
  case SLOT_MID: return passive_mid(k, sells);
  case SLOT_NEAR: return near_touch(k, sells);
  default: return away(k, sells, near_touch(k, sells), task_i32(k, a, PASSIVE_TICKS));
  }
}

/* Discrete: the chosen slot gets the order, the others none; choice 0 leaves all alone. */
static void act_discrete(world *k, const agent *a) {
  var good = variable(eq(i32(0), 0));
  val choice = whole_action(k, a, 0, good);
  IF (both(good, gt(choice, 0))) {
    val sells = sells_of(k, a);
    val at = sub(choice, 1);
    val slot = divide(at, SIZES), size = remainder_of(at, SIZES);
    val factor = choose(eq(size, 0), units[0], choose(eq(size, 1), units[1], units[2]));
    val qty = min(mul(factor, task_i32(k, a, UNIT)), remaining(k, a));
    for (int s = 0; s < SLOTS; s++) {
      val kind = choose(eq(slot, s), (int)WISH_LIMIT, (int)WISH_CANCEL);
      wish_for(k, add(a->first, s), kind, sells, price_of_slot(k, a, s, sells), qty);
    }
  }
}

/* Quantities: the most aggressive first gets of what remains. */
static void act_quantities(world *k, const agent *a) {
  var good = variable(eq(i32(0), 0));
  val asked[SLOTS];
  for (int s = 0; s < SLOTS; s++) asked[s] = whole_action(k, a, s, good);
  IF (good) {
    val sells = sells_of(k, a);
    val left = remaining(k, a);
    for (int s = 0; s < SLOTS; s++) {
      val qty = min(asked[s], left);
      left = sub(left, qty);
      wish_for(k, add(a->first, s), i32(WISH_LIMIT), sells, price_of_slot(k, a, s, sells), qty);
    }
  }
}

static void act(world *k, const agent *a) {
  if (acts_by_slots(a)) {
    act_by_slots(k, a);
  } else if (a->group->space == &spaces[0]) {
    act_discrete(k, a);
  } else {
    act_quantities(k, a);
  }
}

/* An agent that is done may only choose to do nothing. */
static void mask(world *k, const agent *a, val at) {
  if (a->group->space != &spaces[0]) return;
  val active = i32(eq(agent_get(k, a, AGENT_DONE), 0));
  FOR (c, 1, CHOICES) {
    store(k->buffers[BUFFER_MASK], add(at, c), active);
  }
}

/* ---- reward ---- */

/* In half price units above arrival: own fills and others' trades of this step. */
static val reward(world *k, const agent *a) {
  val start = env_get(k, ENV_START_MID2);
  val shares = sub(agent_get(k, a, AGENT_VOLUME), agent_get(k, a, AGENT_PAST_VOLUME));
  val notional = sub(agent_get(k, a, AGENT_NOTIONAL), agent_get(k, a, AGENT_PAST_NOTIONAL));
  val own2 = sub(mul(notional, 2), mul(shares, start));
  val others = sub(env_get(k, ENV_STEP_VOLUME), shares);
  val others_notional = sub(env_get(k, ENV_STEP_NOTIONAL), notional);
  val others2 = sub(mul(others_notional, 2), mul(others, start));
  /* where nobody else traded, the mid of the decision stands for their average */
  val mid_above = f32(sub(env_get(k, ENV_PAST_MID2), start));
  val average = choose(gt(others, 0), divide(f32(others2), f32(max(others, i64(1)))), mid_above);
  val drift = mul(f32(shares), average);
  val advantage = sub(f32(own2), drift);
  val gain2 = add(advantage, mul(task_f32(k, a, LAMBDA), drift));
  val sign = choose(lt(agent_get(k, a, AGENT_TARGET), 0), 0.5f, -0.5f);
  val fees = sub(agent_get(k, a, AGENT_FEES), agent_get(k, a, AGENT_PAST_FEES));
  val gain = sub(mul(gain2, sign), mul(f32(fees), 1e-6f));
  return divide(gain, task_f32(k, a, REWARD_SCALE));
}

static val liquidate(world *k, const agent *a) {
  val left = sub(agent_get(k, a, AGENT_TARGET), agent_get(k, a, AGENT_INVENTORY));
  return choose(ne(task_i32(k, a, LIQUIDATE), 0), left, i64(0));
}

const env_task wb_task_execution = {
    .public = {.name = "execution",
               .meaning = "buy or sell a quantity within the episode",
               .slots = SLOTS,
               .action_space_count = sizeof spaces / sizeof spaces[0],
               .action_spaces = spaces,
               .parameter_count = PARAMETERS,
               .parameters = parameters},
    .reset = reset,
    .act = act,
    .mask = mask,
    .reward = reward,
    .liquidate = liquidate,
};

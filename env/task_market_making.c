/* The market-making task: quote both sides, earn the spread, mind the inventory.
 *
 * The discrete actions are the pairs of offsets of Spooner, Fearnley, Savani and Koukorinis (2018,
 * "Market Making via Reinforcement Learning", table 1) with their market order that clears the
 * inventory, and one more that leaves the quotes alone. Rewards, as there: the change of value (profit),
 * damped by what the inventory gained (asymmetric) or gained and lost (symmetric), and beside them
 * penalties on the inventory, linear and quadratic. docs/environment.md gives the formulas. */
#include "env/world.h"

enum { SLOT_BID, SLOT_ASK, SLOTS };
enum { PAIRS = 9, CHOICE_CLEAR = PAIRS + 1, CHOICES };
/* offsets of bid and ask */
static const int32_t pairs[PAIRS][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5},
                                        {3, 1}, {1, 3}, {5, 2}, {2, 5}};

typedef enum parameter {
  SIZE,
  OFFSET_UNIT,
  MAX_INVENTORY,
  DAMPING,
  SYMMETRIC,
  INVENTORY_LINEAR,
  INVENTORY_QUADRATIC,
  REWARD_SCALE,
  LIQUIDATE,
  RISK_AVERSION,
  VOLATILITY,
  FILL_DECAY,
  PARAMETERS
} parameter;

static const wb_env_parameter parameters[PARAMETERS] = {
    [SIZE] = {"size", "shares", "of each quote (discrete actions, Avellaneda-Stoikov)", WB_ENV_I32,
              100, 1, WB_ENV_SIZE_MAX},
    [OFFSET_UNIT] = {"offset_unit", "ticks", "discrete offsets are multiples of it", WB_ENV_I32, 5,
                     1, 1000},
    [MAX_INVENTORY] = {"max_inventory", "shares", "on either side of zero; from the next reset on",
                       WB_ENV_I32, 1000, 1, WB_ENV_SIZE_MAX},
    [DAMPING] = {"damping", "", "eta: part of the inventory's gain that is not rewarded",
                 WB_ENV_F32, 0, 0, 10},
    [SYMMETRIC] = {"symmetric", "0 or 1", "damp the inventory's losses too", WB_ENV_I32, 0, 0, 1},
    [INVENTORY_LINEAR] = {"inventory_linear", "price units a share and step",
                          "penalty on the inventory without sign", WB_ENV_F32, 0, 0, 1e6},
    [INVENTORY_QUADRATIC] = {"inventory_quadratic", "price units a share^2 and step",
                             "penalty on the inventory's square", WB_ENV_F32, 0, 0, 1e6},
    [REWARD_SCALE] = {"reward_scale", "price units x shares", "the reward is divided by it",
                      WB_ENV_F32, 10000, 1e-6, 1e12},
    [LIQUIDATE] = {"liquidate", "0 or 1", "trade the inventory away at the end through the book",
                   WB_ENV_I32, 1, 0, 1},
    [RISK_AVERSION] = {"risk_aversion", "per tick and quote", "gamma of Avellaneda-Stoikov",
                       WB_ENV_F32, 0.001, 1e-9, 100},
    [VOLATILITY] = {"volatility", "ticks per square root of an episode",
                    "sigma of Avellaneda-Stoikov", WB_ENV_F32, 50, 0, 1e6},
    [FILL_DECAY] = {"fill_decay", "per tick", "kappa of Avellaneda-Stoikov", WB_ENV_F32, 0.1, 1e-6,
                    1000},
};

static const char *const choice_name[] = {"choice"};
static const double choice_least[] = {0}, choice_most[] = {CHOICES - 1};
static const char *const quote_names[] = {"offset", "skew", "size"};
static const double quote_least[] = {0, -10000, 0}, quote_most[] = {10000, 10000, WB_ENV_SIZE_MAX};

static const wb_env_action_space spaces[] = {
    {"discrete",
     "0: leave the quotes alone; 1..9: offsets (1,1) (2,2) (3,3) (4,4) (5,5) (3,1) (1,3) (5,2) (2,5) "
     "of bid and ask from the mid, in offset units; 10: trade the inventory away at the market",
     WB_ENV_I32, 1, CHOICES, choice_name, choice_least, choice_most},
    {"quotes",
     "half the distance of the quotes and the shift of both, in ticks from the mid, and the shares of "
     "each; rounded; size 0 cancels",
     WB_ENV_F32, 3, 0, quote_names, quote_least, quote_most},
    SLOTS_SPACE(SLOTS),
};

static void reset(world *k, const agent *a) {
  val most = i64(task_i32(k, a, MAX_INVENTORY));
  agent_set(k, a, AGENT_LOW, neg(most));
  agent_set(k, a, AGENT_HIGH, most);
}

/* ---- quotes ---- */

/* Ticks from the mid on both sides, and the shares of each. */
static void quote(world *k, const agent *a, val bid_ticks, val ask_ticks, val qty) {
  val buy = i32(0), sell = i32(1);
  wish_for(k, add(a->first, SLOT_BID), i32(WISH_LIMIT), buy,
           away(k, buy, passive_mid(k, buy), bid_ticks), qty);
  wish_for(k, add(a->first, SLOT_ASK), i32(WISH_LIMIT), sell,
           away(k, sell, passive_mid(k, sell), ask_ticks), qty);
}

/* Both quotes go, and a market order for the inventory comes in the first slot. */
static void clear_inventory(world *k, const agent *a) {
  val inventory = agent_get(k, a, AGENT_INVENTORY);
  val qty = i32(min(absolute(inventory), i64(WB_ENV_SIZE_MAX)));
  wish_for(k, add(a->first, SLOT_BID), i32(WISH_MARKET), i32(gt(inventory, 0)), i64(0), qty);
  wish_for(k, add(a->first, SLOT_ASK), i32(WISH_CANCEL), i32(0), i64(0), i32(0));
}

static void act_discrete(world *k, const agent *a) {
  var good = variable(eq(i32(0), 0));
  val choice = whole_action(k, a, 0, good);
  IF (both(good, gt(choice, 0))) {
    IF (eq(choice, CHOICE_CLEAR)) {
      clear_inventory(k, a);
    }
    ELSE {
      val bid = i32(pairs[0][0]), ask = i32(pairs[0][1]);
      for (int p = 1; p < PAIRS; p++) {
        bid = choose(eq(choice, p + 1), pairs[p][0], bid);
        ask = choose(eq(choice, p + 1), pairs[p][1], ask);
      }
      val unit = task_i32(k, a, OFFSET_UNIT);
      quote(k, a, mul(bid, unit), mul(ask, unit), task_i32(k, a, SIZE));
    }
  }
}

static void act_quotes(world *k, const agent *a) {
  var good = variable(eq(i32(0), 0));
  val offset = whole_action(k, a, 0, good);
  val skew = whole_action(k, a, 1, good);
  val qty = whole_action(k, a, 2, good);
  IF (good) {
    quote(k, a, sub(offset, skew), add(offset, skew), qty);
  }
}

static void act(world *k, const agent *a) {
  if (acts_by_slots(a)) {
    act_by_slots(k, a);
  } else if (a->group->space == &spaces[0]) {
    act_discrete(k, a);
  } else {
    act_quotes(k, a);
  }
}

/* ---- reward ---- */

static val reward(world *k, const agent *a) {
  val value2 = sub(value2_of(k, a), agent_get(k, a, AGENT_PAST_VALUE2));
  val fees = sub(agent_get(k, a, AGENT_FEES), agent_get(k, a, AGENT_PAST_FEES));
  val held = agent_get(k, a, AGENT_PAST_INVENTORY);
  val moved2 = mul(held, sub(env_get(k, ENV_MID2), env_get(k, ENV_PAST_MID2)));
  val inventory_gain = mul(f32(moved2), 0.5f);
  val damped = choose(ne(task_i32(k, a, SYMMETRIC), 0), inventory_gain, max(inventory_gain, 0.0f));
  val inventory = f32(absolute(agent_get(k, a, AGENT_INVENTORY)));
  val profit = sub(mul(f32(value2), 0.5f), mul(f32(fees), 1e-6f));
  val gain = sub(profit, mul(task_f32(k, a, DAMPING), damped));
  gain = sub(gain, mul(task_f32(k, a, INVENTORY_LINEAR), inventory));
  gain = sub(gain, mul(task_f32(k, a, INVENTORY_QUADRATIC), mul(inventory, inventory)));
  return divide(gain, task_f32(k, a, REWARD_SCALE));
}

static val liquidate(world *k, const agent *a) {
  val inventory = agent_get(k, a, AGENT_INVENTORY);
  return choose(ne(task_i32(k, a, LIQUIDATE), 0), neg(inventory), i64(0));
}

const env_task wb_task_market_making = {
    .public = {.name = "market_making",
               .meaning = "quote both sides of the book",
               .slots = SLOTS,
               .action_space_count = sizeof spaces / sizeof spaces[0],
               .action_spaces = spaces,
               .parameter_count = PARAMETERS,
               .parameters = parameters},
    .reset = reset,
    .act = act,
    .reward = reward,
    .liquidate = liquidate,
};

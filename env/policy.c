/* Built-in policies: programs that write the action buffer from what the agents could know. */
#include "env/world.h"

#include <string.h>

static void put_i32(world *k, const agent *a, int32_t c, val v) {
  store(k->buffers[BUFFER_ACTION], add(mul(a->index, k->env->components), c), v);
}

static void put_f32(world *k, const agent *a, int32_t c, val v) {
  store(k->action_f32, add(mul(a->index, k->env->components), c), v);
}

static bool is_space(const agent *a, const char *name) {
  return strcmp(a->group->space->name, name) == 0;
}

/* ---- nothing ---- */

static void act_none(world *k, const agent *a) {
  for (int32_t c = 0; c < k->env->components; c++) put_i32(k, a, c, i32(0));
}

/* ---- random ---- */

/* Uniform over the space; sizes and distances, whose ranges are wide, stay where books are. */
enum { RANDOM_SHARES = 200, RANDOM_TICKS = 20 };

static double narrowed(double bound) {
  if (bound > RANDOM_SHARES) return bound >= WB_ENV_SIZE_MAX ? RANDOM_SHARES : RANDOM_TICKS;
  return bound < -RANDOM_TICKS ? -RANDOM_TICKS : bound;
}

static void act_random(world *k, const agent *a) {
  const wb_env_action_space *space = a->group->space;
  int32_t blocks = (space->components + 3) / 4;
  val first = mul(i32(env_get(k, ENV_STEP)), blocks);
  for (int32_t block = 0; block < blocks; block++) {
    wb_random random = draw_stream(k, add(a->index, (int)STREAM_POLICY), add(first, block));
    for (int32_t c = 4 * block; c < 4 * block + 4 && c < space->components; c++) {
      double least = narrowed(space->least[c]), most = narrowed(space->most[c]);
      val word = random.word[c % 4];
      if (space->type == WB_ENV_I32) {
        put_i32(k, a, c,
                add(draw_below(k, word, i32((int32_t)(most - least) + 1)), (int32_t)least));
      } else {
        put_f32(k, a, c, add(mul(draw_unit(k, word), (float)(most - least)), (float)least));
      }
    }
  }
}

/* ---- TWAP ---- */

/* Shares that an even schedule would have traded by the next decision and the agent has not. */
static val behind_schedule(world *k, const agent *a) {
  val quantity = absolute(agent_get(k, a, AGENT_TARGET));
  val traded = absolute(agent_get(k, a, AGENT_INVENTORY));
  val rows = i64(common_i32(k, COMMON_EPISODE_MESSAGES));
  val by_rows = gt(rows, 0);
  val step_ms = i64(common_i32(k, COMMON_STEP_MS));
  val ms = divide(sub(env_get(k, ENV_NOW_NS), env_get(k, ENV_START_NS)), 1000000);
  val all_ms = mul(i64(common_i32(k, COMMON_EPISODE_SECONDS)), 1000);
  val step_rows = i64(common_i32(k, COMMON_MESSAGES_PER_STEP));
  if (k->env->clock == WB_ENV_CLOCK_TIME) {
    step_rows = env_get(k, ENV_STEP_MESSAGES);
  } else {
    step_ms = divide(env_get(k, ENV_STEP_NS), 1000000);
  }
  val past = choose(by_rows, add(env_get(k, ENV_MESSAGES), step_rows), add(ms, step_ms));
  val whole = max(choose(by_rows, rows, all_ms), i64(1));
  val due = divide(mul(quantity, min(past, whole)), whole);
  return i32(max(sub(due, traded), i64(0)));
}

/* At the far touch, so that it trades now. */
static void act_twap(world *k, const agent *a) {
  act_none(k, a);
  val qty = behind_schedule(k, a);
  if (is_space(a, "quantities")) {
    put_f32(k, a, 0, f32(qty));
  } else if (is_space(a, "discrete")) {
    /* the third parameter of the task is the unit */
    val unit = task_i32(k, a, 2);
    val size = choose(ge(qty, mul(unit, 5)), 3, choose(ge(qty, mul(unit, 2)), 2, 1));
    put_i32(k, a, 0, choose(ge(qty, unit), size, 0));
  } else {
    val spread = divide(sub(env_get(k, ENV_ASK), env_get(k, ENV_BID)), tick_of(k));
    put_i32(k, a, 0, choose(gt(qty, 0), (int)WISH_LIMIT, (int)WISH_CANCEL));
    put_i32(k, a, 1, i32(lt(agent_get(k, a, AGENT_TARGET), 0)));
    put_i32(k, a, 2, neg(i32(spread)));
    put_i32(k, a, 3, qty);
  }
}

/* ---- Avellaneda and Stoikov ---- */

/* Natural logarithm of a positive normal number: exponent and mantissa, then the series of
 * 2 artanh((m - 1) / (m + 1)) with m in [0.7, 1.4]. */
static val logarithm(world *k, val x) {
  val bits = to_bits(x);
  val exponent = sub(bit_and(shr(bits, 23), 0xff), 127);
  val mantissa = from_bits(bit_or(bit_and(bits, 0x7fffff), 0x3f800000));
  val large = gt(mantissa, 1.41421356f);
  val m = choose(large, mul(mantissa, 0.5f), mantissa);
  val e = f32(add(exponent, i32(large)));
  val t = divide(sub(m, 1.0f), add(m, 1.0f));
  val t2 = mul(t, t);
  val series = add(mul(t2, 0.11111111f), 0.14285714f);
  series = add(mul(t2, series), 0.2f);
  series = add(mul(t2, series), 0.33333333f);
  series = add(mul(t2, series), 1.0f);
  return add(mul(mul(t, 2.0f), series), mul(e, 0.69314718f));
}

/* ln(1 + x), also where 1 + x would lose x. */
static val logarithm_above_one(world *k, val x) {
  val small = mul(x, sub(1.0f, mul(x, sub(0.5f, mul(x, 0.33333333f)))));
  return choose(lt(x, 0.001f), small, logarithm(k, add(x, 1.0f)));
}

static val clamp(world *k, val x, double least, double most) {
  return min(max(x, (float)least), (float)most);
}

/* Reservation price and spread of Avellaneda and Stoikov 2008 (equations 29 and 30), in ticks, with
 * the inventory in quotes and time as the part of the episode that is left. */
static void act_avellaneda_stoikov(world *k, const agent *a) {
  enum { SIZE = 0, RISK_AVERSION = 9, VOLATILITY = 10, FILL_DECAY = 11 };
  const wb_env_action_space *space = a->group->space;
  val gamma = task_f32(k, a, RISK_AVERSION), sigma = task_f32(k, a, VOLATILITY);
  val rows = common_i32(k, COMMON_EPISODE_MESSAGES);
  val done = divide(f32(env_get(k, ENV_MESSAGES)), f32(max(rows, 1)));
  val left = max(sub(1.0f, choose(gt(rows, 0), done, 0.0f)), 0.0f);
  val risk = mul(mul(gamma, mul(sigma, sigma)), left);
  val quotes = divide(f32(agent_get(k, a, AGENT_INVENTORY)), f32(task_i32(k, a, SIZE)));
  val skew = neg(mul(quotes, risk));
  val decay = logarithm_above_one(k, divide(gamma, task_f32(k, a, FILL_DECAY)));
  val half = add(mul(risk, 0.5f), divide(decay, gamma));
  put_f32(k, a, 0, clamp(k, half, space->least[0], space->most[0]));
  put_f32(k, a, 1, clamp(k, skew, space->least[1], space->most[1]));
  put_f32(k, a, 2, f32(task_i32(k, a, SIZE)));
}

/* ---- programs ---- */

typedef void act_function(world *k, const agent *a);

static const struct {
  const char *name;
  act_function *act;
  const char *task, *space; /* NULL: any */
} policies[POLICIES] = {
    {"wb_env_none", act_none, NULL, NULL},
    {"wb_env_random", act_random, NULL, NULL},
    {"wb_env_twap", act_twap, "execution", NULL},
    {"wb_env_avellaneda_stoikov", act_avellaneda_stoikov, "market_making", "quotes"},
};

bool policy_plays(env_kernel which, const env_group *group) {
  const char *task = policies[which - POLICY_FIRST].task;
  const char *space = policies[which - POLICY_FIRST].space;
  return (task == NULL || strcmp(task, group->task->public.name) == 0) &&
         (space == NULL || strcmp(space, group->space->name) == 0);
}

wb_status policy_program(const wb_env *env, env_kernel which, wb_program **out, wb_error *error) {
  world own, *k = &own;
  WB_TRY(open_world(k, env, policies[which - POLICY_FIRST].name, error));
  val group = k->scalars[SCALAR_GROUP];
  for (int32_t g = 0; g < env->group_count; g++) {
    const env_group *members = &env->groups[g];
    if (!policy_plays(which, members)) continue;
    IF (either(lt(group, 0), eq(group, g))) {
      FOR (i, members->first, members->first + members->count) {
        agent a = agent_at(k, members, i);
        policies[which - POLICY_FIRST].act(k, &a);
      }
    }
  }
  return wb_builder_finish(k->builder, out, error);
}

/* The environment against the CPU reference: every record that acted, agents' and history's merged, is
 * fed to the reference book; hashes, accounts, rewards and benchmarks must come out equal. */
#include "market.h"

#include <math.h>

enum { ENVS = 6, RECORDS = 1 << 14 };

typedef struct run {
  wb_tape *tape;
  wb_env *env;
  witness w[ENVS];
  wb_book_rules rules;
} run;

static run start(const wb_env_agents *agents, int32_t groups, wb_env_clock clock, uint64_t seed) {
  run r = {.tape = make_market(seed, 3000)};
  const wb_tape *tape = r.tape;
  wb_env_config c = config_on(&tape, agents, groups);
  c.envs = ENVS;
  c.clock = clock;
  c.record_room = RECORDS;
  c.seed = seed;
  c.step_ms = 200;
  r.rules = c.rules;
  MUST(wb_env_create(&c, &r.env, error));
  const double fees[][1] = {{-2000000}, {3000000}, {-20}, {30}};
  MUST(wb_env_set_parameter(r.env, "maker_fee", fees[0], 1, error));
  MUST(wb_env_set_parameter(r.env, "taker_fee", fees[1], 1, error));
  MUST(wb_env_set_parameter(r.env, "maker_rate", fees[2], 1, error));
  MUST(wb_env_set_parameter(r.env, "taker_rate", fees[3], 1, error));
  return r;
}

static void begin(run *r) {
  MUST(wb_env_reset(r->env, NULL, NULL, error));
  for (int32_t e = 0; e < ENVS; e++) {
    witness_start(&r->w[e], r->env, r->tape, e, &r->rules);
    r->w[e].maker_fee = -2000000;
    r->w[e].taker_fee = 3000000;
    r->w[e].maker_rate = -20;
    r->w[e].taker_rate = 30;
  }
}

static void finish(run *r) {
  int32_t errors[ENVS];
  MUST(wb_env_read(r->env, "errors", errors, sizeof errors, error));
  for (int32_t e = 0; e < ENVS; e++) cr_assert_eq(errors[e], 0, "environment %d: %x", e, errors[e]);
  wb_env_destroy(r->env);
  wb_tape_free(r->tape);
}

/* ---- books and accounts ---- */

static void follow_random(const wb_env_agents *agents, int32_t groups, wb_env_clock clock,
                          uint64_t seed) {
  run r = start(agents, groups, clock, seed);
  for (int episode = 0; episode < 2; episode++) {
    begin(&r);
    uint8_t done[ENVS] = {0};
    int64_t trades = 0;
    for (int step = 0; step < 100; step++) {
      MUST(wb_env_act(r.env, "random", -1, error));
      MUST(wb_env_step(r.env, error));
      for (int32_t e = 0; e < ENVS; e++) {
        witness_follow(&r.w[e], r.env, e);
        witness_agrees(&r.w[e], r.env, e);
      }
      MUST(wb_env_read(r.env, "done", done, sizeof done, error));
      int ended = 0;
      for (int32_t e = 0; e < ENVS; e++) ended += done[e];
      if (ended > 0) break;
    }
    for (int32_t e = 0; e < ENVS; e++) {
      for (int a = 0; a < wb_env_agent_count(r.env); a++) trades += r.w[e].agents[a].volume;
      witness_end(&r.w[e]);
    }
    cr_assert_gt(trades, 0, "no agent traded: nothing was tested");
  }
  finish(&r);
}

static const wb_env_agents both[] = {{"market_making", NULL, 1}, {"execution", NULL, 1}};

Test(exact, discrete_actions_of_both_tasks_match_as_the_reference_says) {
  follow_random(both, 2, WB_ENV_CLOCK_MESSAGES, 1);
}

Test(exact, continuous_actions_match_as_the_reference_says) {
  const wb_env_agents agents[] = {{"execution", "quantities", 2}, {"market_making", "quotes", 2}};
  follow_random(agents, 2, WB_ENV_CLOCK_MESSAGES, 2);
}

Test(exact, orders_by_hand_match_as_the_reference_says) {
  const wb_env_agents agents[] = {{"execution", "slots", 2}, {"market_making", "slots", 3}};
  /* random sides are wrong for an agent with a target: those errors are expected */
  run r = start(agents, 2, WB_ENV_CLOCK_MESSAGES, 3);
  begin(&r);
  for (int step = 0; step < 15; step++) {
    MUST(wb_env_act(r.env, "random", -1, error));
    MUST(wb_env_step(r.env, error));
    for (int32_t e = 0; e < ENVS; e++) {
      witness_follow(&r.w[e], r.env, e);
      witness_agrees(&r.w[e], r.env, e);
    }
  }
  for (int32_t e = 0; e < ENVS; e++) witness_end(&r.w[e]);
  MUST(wb_env_clear_errors(r.env, error));
  finish(&r);
}

Test(exact, the_clock_of_time_stops_where_it_should) {
  follow_random(both, 2, WB_ENV_CLOCK_TIME, 4);
}

Test(exact, the_clock_of_fills_stops_where_it_should) {
  follow_random(both, 2, WB_ENV_CLOCK_FILL, 5);
}

Test(exact, many_agents_in_one_book) {
  const wb_env_agents agents[] = {{"market_making", NULL, 5}, {"execution", NULL, 4}};
  follow_random(agents, 2, WB_ENV_CLOCK_MESSAGES, 6);
}

Test(exact, a_real_day_with_agents_in_the_way) {
  wb_tape *tape = real_day("GOOG_L10_first5000/GOOG_2012-06-21_34200000_57600000_message_10.csv");
  if (tape == NULL) cr_skip("no real data");
  const wb_tape *one = tape;
  wb_env_config c = config_on(&one, both, 2);
  c.record_room = RECORDS;
  c.envs = 2;
  c.episode_messages = 2000;
  c.messages_per_step = 50;
  c.snapshot_messages = 1000;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  witness w[2];
  for (int32_t e = 0; e < 2; e++) witness_start(&w[e], env, tape, e, &c.rules);
  for (int step = 0; step < 40; step++) {
    MUST(wb_env_act(env, "random", -1, error));
    MUST(wb_env_step(env, error));
    for (int32_t e = 0; e < 2; e++) {
      witness_follow(&w[e], env, e);
      witness_agrees(&w[e], env, e);
    }
  }
  for (int32_t e = 0; e < 2; e++) witness_end(&w[e]);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* ---- rewards and benchmarks ---- */

typedef struct marks {
  party past[WB_ENV_AGENTS_MAX];
  int64_t mid2, start_mid2, bid, ask, market_volume, market_notional;
  double twap_sum, twap_us, rewards[WB_ENV_AGENTS_MAX];
  int64_t delay2, spread2, impact2;
} marks;

static void mark(marks *m, const witness *w) {
  memcpy(m->past, w->agents, sizeof m->past);
  m->mid2 = witness_mid2(w);
  m->bid = witness_touch(w, WB_SIDE_BID);
  m->ask = witness_touch(w, WB_SIDE_ASK);
  m->market_volume = w->market_volume;
  m->market_notional = w->market_notional;
}

/* The formula of docs/environment.md in doubles. */
static double execution_reward(const marks *m, const witness *w, int a, int sign, double lambda) {
  const party *now = &w->agents[a], *past = &m->past[a];
  double q = (double)(now->volume - past->volume);
  double paid = (double)(now->notional - past->notional);
  double others = (double)(w->market_volume - m->market_volume) - q;
  double others_paid = (double)(w->market_notional - m->market_notional) - paid;
  double average = others > 0 ? others_paid / others : 0.5 * (double)m->mid2;
  double arrival = 0.5 * (double)m->start_mid2;
  double advantage = sign * (paid - q * average);
  double drift = sign * q * (average - arrival);
  return (advantage + lambda * drift - 1e-6 * (double)(now->fees - past->fees)) / 10000;
}

static double making_reward(const marks *m, const witness *w, int a, int64_t mid2, double eta,
                            double linear, double quadratic) {
  const party *now = &w->agents[a], *past = &m->past[a];
  double value = (double)now->cash + 0.5 * (double)now->inventory * (double)mid2;
  double before = (double)past->cash + 0.5 * (double)past->inventory * (double)m->mid2;
  double gain = 0.5 * (double)past->inventory * (double)(mid2 - m->mid2);
  double held = fabs((double)now->inventory);
  double damped = eta * fmax(0, gain);
  double fees = 1e-6 * (double)(now->fees - past->fees);
  return (value - before - fees - damped - linear * held - quadratic * held * held) / 10000;
}

static void add_shortfall(marks *m, const witness *w, int a, int buys) {
  const party *now = &w->agents[a], *past = &m->past[a];
  int64_t touch = buys > 0 ? m->ask : m->bid;
  int64_t taken = now->taken_volume - past->taken_volume;
  int64_t taken_paid = now->taken_notional - past->taken_notional;
  int64_t made = now->volume - past->volume - taken;
  int64_t made_paid = now->notional - past->notional - taken_paid;
  m->delay2 += buys * (taken + made) * (m->mid2 - m->start_mid2);
  m->spread2 += buys * (taken * (2 * touch - m->mid2) + 2 * made_paid - made * m->mid2);
  m->impact2 += buys * 2 * (taken_paid - taken * touch);
}

static void check_rewards(double side) {
  run r = start(both, 2, WB_ENV_CLOCK_MESSAGES, 11 + (uint64_t)side);
  const double eta = 0.6, linear = 0.25, quadratic = 0.001, lambda = 0.3, quantity = 400;
  MUST(wb_env_set_parameter(r.env, "damping", &eta, 1, error));
  MUST(wb_env_set_parameter(r.env, "inventory_linear", &linear, 1, error));
  MUST(wb_env_set_parameter(r.env, "inventory_quadratic", &quadratic, 1, error));
  MUST(wb_env_set_parameter(r.env, "lambda", &lambda, 1, error));
  MUST(wb_env_set_parameter(r.env, "1.side", &side, 1, error));
  MUST(wb_env_set_parameter(r.env, "1.quantity", &quantity, 1, error));
  const double close_by = 1;
  MUST(wb_env_set_parameter(r.env, "offset_unit", &close_by, 1, error));
  begin(&r);
  int gains = 0, losses = 0; /* of inventories */
  marks m[ENVS] = {0};
  for (int32_t e = 0; e < ENVS; e++) {
    mark(&m[e], &r.w[e]);
    m[e].start_mid2 = m[e].mid2;
  }
  int buys = side == 0 ? 1 : -1;
  double against_vwap = 0, against_twap = 0, delay = 0, spread = 0, impact = 0, shortfall = 0;
  double returns[2] = {0, 0};
  for (int step = 0; step < 20; step++) {
    float rewards[ENVS][2];
    int64_t profit[ENVS][2], fees[ENVS][2], elapsed[ENVS];
    uint8_t done[ENVS];
    MUST(wb_env_act(r.env, "random", -1, error));
    MUST(wb_env_step(r.env, error));
    MUST(wb_env_read(r.env, "reward", rewards, sizeof rewards, error));
    MUST(wb_env_read(r.env, "profit", profit, sizeof profit, error));
    MUST(wb_env_read(r.env, "fees", fees, sizeof fees, error));
    MUST(wb_env_read(r.env, "elapsed", elapsed, sizeof elapsed, error));
    MUST(wb_env_read(r.env, "done", done, sizeof done, error));
    for (int32_t e = 0; e < ENVS; e++) {
      witness *w = &r.w[e];
      witness_follow(w, r.env, e);
      witness_agrees(w, r.env, e);
      int64_t mid2 = witness_mid2(w);
      double making = making_reward(&m[e], w, 0, mid2, eta, linear, quadratic);
      gains += m[e].past[0].inventory * (mid2 - m[e].mid2) > 0;
      losses += m[e].past[0].inventory * (mid2 - m[e].mid2) < 0;
      double execution = execution_reward(&m[e], w, 1, -buys, lambda);
      cr_assert_float_eq(rewards[e][0], making, 1e-5 * (1 + fabs(making)));
      cr_assert_float_eq(rewards[e][1], execution, 1e-5 * (1 + fabs(execution)));
      for (int a = 0; a < 2; a++) {
        const party *now = &w->agents[a], *past = &m[e].past[a];
        cr_assert_eq(profit[e][a], 2 * (now->cash - past->cash) + now->inventory * mid2 -
                                       past->inventory * m[e].mid2);
        cr_assert_eq(fees[e][a], now->fees - past->fees);
        returns[a] += rewards[e][a];
      }
      m[e].twap_sum += (double)(m[e].mid2 - m[e].start_mid2) * (double)(elapsed[e] / 1000);
      m[e].twap_us += (double)(elapsed[e] / 1000);
      add_shortfall(&m[e], w, 1, buys);
      mark(&m[e], w);
      cr_assert_eq(done[e], step == 19, "step %d", step);
    }
  }
  cr_assert(gains > 2 && losses > 2, "%d gains, %d losses: the damping was not tested", gains,
            losses);
  for (int32_t e = 0; e < ENVS; e++) {
    const party *p = &r.w[e].agents[1];
    double q = (double)p->volume, arrival = 0.5 * (double)m[e].start_mid2;
    double cost = buys * ((double)p->notional - q * arrival);
    double others = (double)(r.w[e].market_volume) - q;
    double others_paid = (double)(r.w[e].market_notional - p->notional);
    shortfall += cost;
    delay += 0.5 * (double)m[e].delay2;
    spread += 0.5 * (double)m[e].spread2;
    impact += 0.5 * (double)m[e].impact2;
    against_twap += cost - buys * q * 0.5 * m[e].twap_sum / m[e].twap_us;
    against_vwap += cost - buys * q * (others_paid / others - arrival);
    witness_end(&r.w[e]);
  }
  wb_env_statistic list[WB_ENV_STATISTICS_MAX];
  int32_t n;
  MUST(wb_env_take_statistics(r.env, 1, list, &n, error));
  cr_assert_eq(statistic(list, n, "episodes"), ENVS);
  cr_assert_eq(statistic(list, n, "shortfall"), shortfall);
  cr_assert_eq(statistic(list, n, "delay"), delay);
  cr_assert_eq(statistic(list, n, "spread"), spread);
  cr_assert_eq(statistic(list, n, "impact"), impact);
  cr_assert_eq(delay + spread + impact, shortfall, "the parts are the whole");
  cr_assert_float_eq(statistic(list, n, "against_twap"), against_twap, ENVS);
  cr_assert_float_eq(statistic(list, n, "against_vwap"), against_vwap, ENVS);
  cr_assert_float_eq(statistic(list, n, "return"), returns[1], 1e-3);
  cr_assert_eq(statistic(list, n, "left"), 0);
  MUST(wb_env_take_statistics(r.env, 0, list, &n, error));
  cr_assert_float_eq(statistic(list, n, "return"), returns[0], 1e-3);
  MUST(wb_env_take_statistics(r.env, 0, list, &n, error));
  cr_assert_eq(statistic(list, n, "episodes"), 0, "reading clears");
  finish(&r);
}

Test(exact, rewards_and_benchmarks_of_a_buyer) { check_rewards(0); }
Test(exact, rewards_and_benchmarks_of_a_seller) { check_rewards(1); }

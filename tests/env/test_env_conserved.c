/* Cash and shares are conserved to the last unit: 10,000 random episodes of each task, every trade of
 * which is counted again from the records that acted. */
#include "market.h"

enum { ENVS = 500, EPISODES = 10000, ROWS = 60 };

/* A reference book that starts with the orders of environment `e`, without replaying the tape. */
static void start_from_orders(witness *w, wb_env *env, const wb_tape *tape, int32_t e) {
  static wb_order orders[2][512];
  int64_t count[2];
  memset(w, 0, sizeof *w);
  w->tape = tape;
  wb_book_rules rules = wb_book_rules_default();
  rules.tick_size = tape->tick_size;
  rules.capacity = wb_env_capacity(env);
  for (int side = 0; side < 2; side++) {
    MUST(wb_env_book_orders(env, e, (wb_side)side, orders[side], 512, &count[side], error));
  }
  wb_order *all = malloc((size_t)(count[0] + count[1]) * sizeof *all);
  memcpy(all, orders[0], (size_t)count[0] * sizeof *all);
  memcpy(all + count[0], orders[1], (size_t)count[1] * sizeof *all);
  MUST(wb_reference_create(&rules, &w->book, error));
  MUST(wb_reference_load(w->book, all, count[0] + count[1], error));
  free(all);
}

static void count_trade(void *context, const wb_trade *t) {
  witness *w = context;
  int64_t notional = (int64_t)t->price * t->qty;
  bool maker_sells = (t->maker_owner & WB_TRADE_MAKER_ASK) != 0;
  const int32_t owners[2] = {t->maker_owner & WB_TRADE_OWNER_MASK,
                             t->taker_owner & WB_TRADE_OWNER_MASK};
  for (int p = 0; p < 2; p++) {
    /* history is party 0 */
    party *one = &w->agents[owners[p]];
    bool sells = p == 0 ? maker_sells : !maker_sells;
    one->cash += sells ? notional : -notional;
    one->inventory += sells ? -t->qty : t->qty;
  }
}

/* The reference has given its own arrival numbers; the order of priority must be the same. */
static void same_orders(witness *w, wb_env *env, int32_t e) {
  static wb_order got[512], expected[512];
  for (int side = 0; side < 2; side++) {
    int64_t count = 0;
    MUST(wb_env_book_orders(env, e, (wb_side)side, got, 512, &count, error));
    cr_assert_eq(wb_reference_orders(w->book, (wb_side)side, expected, 512), count);
    for (int64_t i = 0; i < count; i++) {
      cr_assert_eq(got[i].ref, expected[i].ref);
      cr_assert_eq(got[i].price, expected[i].price);
      cr_assert_eq(got[i].qty, expected[i].qty);
      cr_assert_eq(got[i].owner, expected[i].owner);
    }
  }
}

static void check_episode(witness *w, wb_env *env, int32_t e) {
  int64_t cash = w->agents[0].cash, shares = w->agents[0].inventory;
  witness_follow(w, env, e);
  cash = w->agents[0].cash;
  shares = w->agents[0].inventory;
  for (int32_t a = 0; a < wb_env_agent_count(env); a++) {
    wb_env_account account;
    MUST(wb_env_read_account(env, e, a, &account, error));
    cr_assert_eq(account.cash, w->agents[1 + a].cash);
    cr_assert_eq(account.inventory, w->agents[1 + a].inventory);
    cash += account.cash;
    shares += account.inventory;
  }
  cr_assert_eq(cash, 0, "what agents have, history has not");
  cr_assert_eq(shares, 0);
  if (e % 50 == 0) same_orders(w, env, e);
  witness_end(w);
}

static void conserve(const char *task, const char *actions) {
  wb_tape *tape = make_market(41, 4000);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{task, actions, 2}};
  wb_env_config c = config_on(&list, agents, 1);
  c.envs = ENVS;
  c.record_room = 1024;
  c.episode_messages = ROWS;
  c.messages_per_step = 10;
  c.snapshot_messages = 50;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  if (strcmp(task, "market_making") == 0) {
    const double close = 1;
    MUST(wb_env_set_parameter(env, "offset_unit", &close, 1, error));
  }
  static witness w[ENVS];
  double volume = 0, liquidated = 0;
  for (int episodes = 0; episodes < EPISODES; episodes += ENVS) {
    uint8_t done[ENVS];
    MUST(wb_env_reset(env, NULL, NULL, error));
    for (int32_t e = 0; e < ENVS; e++) {
      start_from_orders(&w[e], env, tape, e);
      wb_reference_on_trade(w[e].book, count_trade, &w[e]);
    }
    for (int step = 0; step < ROWS / 10; step++) {
      MUST(wb_env_act(env, "random", -1, error));
      MUST(wb_env_step(env, error));
      if (step < ROWS / 10 - 1) continue;
      MUST(wb_env_read(env, "done", done, sizeof done, error));
    }
    for (int32_t e = 0; e < ENVS; e++) {
      cr_assert_eq(done[e], 1);
      check_episode(&w[e], env, e);
    }
  }
  wb_env_statistic s[WB_ENV_STATISTICS_MAX];
  int32_t n;
  for (int a = 0; a < 2; a++) {
    MUST(wb_env_take_statistics(env, a, s, &n, error));
    volume += statistic(s, n, "volume");
    liquidated += statistic(s, n, "liquidated");
    cr_assert_eq(statistic(s, n, "episodes"), EPISODES);
    cr_assert_eq(statistic(s, n, "ended_window"), EPISODES);
  }
  cr_assert_gt(volume, 20.0 * EPISODES, "%g shares", volume);
  cr_assert_gt(liquidated, 0);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

Test(conserved, ten_thousand_episodes_of_execution) { conserve("execution", NULL); }
Test(conserved, ten_thousand_episodes_of_market_making) { conserve("market_making", NULL); }

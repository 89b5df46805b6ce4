/* Scenes by hand: orders at their place in the queue, and the faults of published environments, each of
 * which this one must not have. Every scene is played for buyers and for sellers. */
#include "market.h"

enum { KEEP, CANCEL, LIMIT, POST_ONLY, IOC, MARKET };

typedef struct order_wish {
  int32_t verb, side, offset, shares;
} order_wish;

typedef struct scene {
  wb_tape *tape;
  wb_env *env;
  bool mirrored; /* bids for asks */
} scene;

/* Prices and sides as if mirrored at MID. */
static wb_side side_in(const scene *s, wb_side side) {
  return s->mirrored ? (side == WB_SIDE_ASK ? WB_SIDE_BID : WB_SIDE_ASK) : side;
}
static int32_t price_in(const scene *s, int32_t ticks) {
  return MID + (s->mirrored ? -ticks : ticks) * TICK;
}

/* 100 shares at 2, 3 and 4 ticks on either side of MID: references 0.. of asks, 10.. of bids. */
static scene open_with(const wb_record *records, int64_t count, const wb_env_agents *agents,
                       bool mirrored, wb_env_clock clock, int32_t rows_a_step) {
  scene s = {.mirrored = mirrored};
  wb_order orders[6];
  wb_record moved[64];
  for (int level = 0; level < 3; level++) {
    wb_side ask = mirrored ? WB_SIDE_BID : WB_SIDE_ASK, bid = mirrored ? WB_SIDE_ASK : WB_SIDE_BID;
    orders[mirrored ? 3 + level : level] = resting(level, ask, price_in(&s, 2 + level), 100);
    orders[mirrored ? level : 3 + level] = resting(10 + level, bid, price_in(&s, -2 - level), 100);
  }
  for (int64_t i = 0; i < count; i++) {
    moved[i] = records[i];
    if (!mirrored) continue;
    moved[i].price = 2 * MID - records[i].price;
    moved[i].flags ^= WB_FLAG_SIDE;
  }
  s.tape = make_scene(orders, 6, moved, count);
  const wb_tape *tape = s.tape;
  wb_env_config c = config_on(&tape, agents, 1);
  c.clock = clock;
  c.messages_per_step = rows_a_step;
  c.episode_messages = (int32_t)count;
  c.record_room = 256;
  MUST(wb_env_create(&c, &s.env, error));
  const double quantity = 15, side = mirrored ? 0 : 1;
  if (strcmp(agents->task, "execution") == 0) {
    MUST(wb_env_set_parameter(s.env, "quantity", &quantity, 1, error));
    MUST(wb_env_set_parameter(s.env, "side", &side, 1, error));
  }
  MUST(wb_env_reset(s.env, NULL, NULL, error));
  return s;
}

static scene open_scene(const wb_record *records, int64_t count, const wb_env_agents *agents,
                        bool mirrored) {
  return open_with(records, count, agents, mirrored, WB_ENV_CLOCK_MESSAGES, 1);
}

static void close_scene(scene *s) {
  int32_t errors;
  MUST(wb_env_read(s->env, "errors", &errors, sizeof errors, error));
  cr_assert_eq(errors, 0);
  wb_env_destroy(s->env);
  wb_tape_free(s->tape);
}

/* One step with these wishes for slots 0 and 1. */
static void step(scene *s, order_wish first, order_wish second) {
  order_wish wishes[2] = {first, second};
  for (int i = 0; i < 2; i++) {
    if (s->mirrored) wishes[i].side ^= 1;
  }
  MUST(wb_env_write(s->env, "action", wishes, sizeof wishes, error));
  MUST(wb_env_step(s->env, error));
}

static const order_wish keep = {KEEP, 0, 0, 0};
static const wb_env_agents by_hand[] = {{"market_making", "slots", 1}};

static wb_env_account account_of(scene *s) {
  wb_env_account account;
  MUST(wb_env_read_account(s->env, 0, 0, &account, error));
  return account;
}

/* The agent's resting order on a side, seen unmirrored; shares 0: none. */
static wb_order own_order(scene *s, wb_side side) {
  wb_order orders[64];
  int64_t count;
  MUST(wb_env_book_orders(s->env, 0, side_in(s, side), orders, 64, &count, error));
  for (int64_t i = 0; i < count; i++) {
    if (orders[i].owner != 0) return orders[i];
  }
  return (wb_order){0};
}

static wb_record idle(void) {
  return (wb_record){.type = WB_RECORD_NOTE, .qty = 1, .arg = WB_NOTE_HIDDEN};
}

static wb_record executed(int32_t ref, int32_t ticks, int32_t qty) {
  return (wb_record){.ref = ref,
                     .price = MID + ticks * TICK,
                     .qty = qty,
                     .type = WB_RECORD_EXECUTE,
                     .flags = ticks > 0 ? WB_FLAG_SIDE : 0};
}

static wb_record added(int32_t ref, int32_t ticks, int32_t qty) {
  return (wb_record){.ref = ref,
                     .price = MID + ticks * TICK,
                     .qty = qty,
                     .type = WB_RECORD_ADD,
                     .flags = ticks > 0 ? WB_FLAG_SIDE : 0};
}

static wb_record deleted(int32_t ref, bool ask) {
  return (wb_record){.ref = ref, .type = WB_RECORD_DELETE, .flags = ask ? WB_FLAG_SIDE : 0};
}

/* ---- the queue ---- */

/* slots mode: offset 0 is the own touch, 2 ticks from MID */
static void back_of_the_queue(bool mirrored) {
  const wb_record records[] = {
      idle(),              /* the agent joins behind order 0 */
      added(20, 2, 50),    /* history joins behind the agent */
      executed(0, 2, 60),  /* of the order in front: not the agent's turn */
      executed(0, 2, 40),  /* that order is used up */
      executed(20, 2, 10), /* the agent is before order 20, which loses 10 as history says */
      executed(20, 2, 30), /* the agent's last 20, then 10 of order 20's */
      idle(),
  };
  scene s = open_scene(records, 7, by_hand, mirrored);
  const int64_t left[] = {30, 30, 30, 30, 20, 0};
  step(&s, (order_wish){LIMIT, 1, 0, 30}, keep);
  for (int i = 1; i < 6; i++) {
    step(&s, keep, keep);
    cr_assert_eq(own_order(&s, WB_SIDE_ASK).qty, left[i], "after record %d", i);
    cr_assert_eq(account_of(&s).inventory, (mirrored ? 1 : -1) * (30 - left[i]));
  }
  cr_assert_eq(account_of(&s).volume, 30);
  cr_assert_eq(account_of(&s).taken_volume, 0);
  close_scene(&s);
}

Test(queue, an_order_at_the_back_fills_when_its_turn_comes) {
  back_of_the_queue(false);
  back_of_the_queue(true);
}

static void place_is_kept(bool mirrored) {
  wb_record records[8];
  for (int i = 0; i < 8; i++) records[i] = idle();
  scene s = open_scene(records, 8, by_hand, mirrored);
  step(&s, (order_wish){LIMIT, 1, 1, 30}, keep);
  int32_t arrival = own_order(&s, WB_SIDE_ASK).arrival;
  cr_assert_gt(arrival, 0);
  step(&s, keep, keep);
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).arrival, arrival, "left alone");
  step(&s, (order_wish){LIMIT, 1, 1, 30}, keep);
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).arrival, arrival, "asked for as it is");
  step(&s, (order_wish){LIMIT, 1, 1, 20}, keep);
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).arrival, arrival, "reduced");
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).qty, 20);
  step(&s, (order_wish){LIMIT, 1, 1, 40}, keep);
  cr_assert_gt(own_order(&s, WB_SIDE_ASK).arrival, arrival, "enlarged: a new place");
  arrival = own_order(&s, WB_SIDE_ASK).arrival;
  step(&s, (order_wish){LIMIT, 1, 2, 40}, keep);
  cr_assert_gt(own_order(&s, WB_SIDE_ASK).arrival, arrival, "another price: a new place");
  step(&s, (order_wish){CANCEL, 0, 0, 0}, keep);
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).qty, 0);
  close_scene(&s);
}

Test(queue, a_slot_left_alone_keeps_its_place) {
  place_is_kept(false);
  place_is_kept(true);
}

Test(queue, shares_ahead_are_observed) {
  const wb_record records[] = {idle(), executed(0, 2, 60), idle()};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(records, 3, by_hand, mirrored == 1);
    wb_env_buffer b;
    MUST(wb_env_buffer_find(s.env, "observation", &b, error));
    const float *seen = b.data;
    int64_t at = 0;
    while (strcmp(b.features[at], "slot_0_side") != 0) at++;
    step(&s, (order_wish){LIMIT, 1, 0, 30}, keep);
    cr_assert_eq(seen[at], mirrored == 1 ? 1.0f : -1.0f);
    cr_assert_eq(seen[at + 1], mirrored == 1 ? -2.0f : 2.0f);
    cr_assert_float_eq(seen[at + 2], 0.3f, 1e-6);
    cr_assert_float_eq(seen[at + 3], 1.0f, 1e-6);
    step(&s, keep, keep);
    cr_assert_float_eq(seen[at + 3], 0.4f, 1e-6);
    close_scene(&s);
  }
}

/* ---- actions become the orders that they name ---- */

/* The agent's only order on a side has this price, in ticks from MID, and these shares. */
static void expect_order(scene *s, wb_side side, int32_t ticks, int32_t shares) {
  wb_order order = own_order(s, side);
  cr_assert_eq(order.qty, shares, "%d shares instead of %d", order.qty, shares);
  if (shares > 0) cr_assert_eq(order.price, price_in(s, ticks), "%d", (order.price - MID) / TICK);
}

static void choose_action(scene *s, int32_t choice) {
  MUST(wb_env_write(s->env, "action", &choice, sizeof choice, error));
  MUST(wb_env_step(s->env, error));
}

/* With the ask at 2 ticks gone the touch is -2 and 3: the mid lies between two ticks. */
static const wb_record narrow[] = {{.type = WB_RECORD_NOTE, .qty = 1},
                                   {.type = WB_RECORD_NOTE, .qty = 1}};
static const wb_record wide[] = {{.ref = 0, .type = WB_RECORD_DELETE, .flags = WB_FLAG_SIDE},
                                 {.type = WB_RECORD_NOTE, .qty = 1},
                                 {.type = WB_RECORD_NOTE, .qty = 1}};

Test(actions, discrete_execution_places_at_the_four_prices) {
  const wb_env_agents seller[] = {{"execution", "discrete", 1}};
  const int32_t prices[2][4] = {{-2, 0, 2, 3}, {-2, 1, 3, 4}};
  const int32_t shares[3] = {10, 15, 15};
  for (int odd = 0; odd < 2; odd++) {
    for (int mirrored = 0; mirrored < 2; mirrored++) {
      for (int32_t choice = 1; choice <= 12; choice++) {
        scene s = open_scene(odd == 1 ? wide : narrow, odd == 1 ? 3 : 2, seller, mirrored == 1);
        if (odd == 1) choose_action(&s, 0);
        choose_action(&s, choice);
        int price = (choice - 1) / 3, qty = shares[(choice - 1) % 3];
        if (price == 0) {
          cr_assert_eq(account_of(&s).taken_volume, qty, "the far touch trades at once");
          cr_assert_eq(llabs(account_of(&s).cash), qty * (int64_t)price_in(&s, -2));
        } else {
          expect_order(&s, WB_SIDE_ASK, prices[odd][price], qty);
        }
        close_scene(&s);
      }
    }
  }
}

Test(actions, quantities_are_cut_from_the_passive_end) {
  const wb_env_agents seller[] = {{"execution", "quantities", 1}};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(narrow, 2, seller, mirrored == 1);
    const float asked[4] = {0, 6, 6, 6};
    MUST(wb_env_write(s.env, "action", asked, sizeof asked, error));
    MUST(wb_env_step(s.env, error));
    wb_order orders[64];
    int64_t count;
    int32_t found[5] = {0};
    MUST(wb_env_book_orders(s.env, 0, side_in(&s, WB_SIDE_ASK), orders, 64, &count, error));
    for (int64_t i = 0; i < count; i++) {
      for (int32_t ticks = 0; ticks < 5; ticks++) {
        if (orders[i].owner != 0 && orders[i].price == price_in(&s, ticks)) {
          found[ticks] += orders[i].qty;
        }
      }
    }
    const int32_t expected[5] = {6, 0, 6, 3, 0};
    cr_assert_arr_eq(found, expected, sizeof found);
    close_scene(&s);
  }
}

Test(actions, discrete_quotes_have_their_offsets) {
  const wb_env_agents maker[] = {{"market_making", "discrete", 1}};
  const int32_t offsets[9][2] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5},
                                 {3, 1}, {1, 3}, {5, 2}, {2, 5}};
  for (int odd = 0; odd < 2; odd++) {
    for (int32_t choice = 1; choice <= 9; choice++) {
      scene s = open_scene(odd == 1 ? wide : narrow, odd == 1 ? 3 : 2, maker, false);
      const double unit = 1, size = 30;
      MUST(wb_env_set_parameter(s.env, "offset_unit", &unit, 1, error));
      MUST(wb_env_set_parameter(s.env, "size", &size, 1, error));
      if (odd == 1) choose_action(&s, 0);
      choose_action(&s, choice);
      /* the mid is 0, or 0.5, which a bid rounds down and an ask up */
      expect_order(&s, WB_SIDE_BID, -offsets[choice - 1][0], 30);
      expect_order(&s, WB_SIDE_ASK, offsets[choice - 1][1] + odd, 30);
      close_scene(&s);
    }
  }
}

Test(actions, quotes_have_offset_skew_and_size) {
  const wb_env_agents maker[] = {{"market_making", "quotes", 1}};
  scene s = open_scene(wide, 3, maker, false);
  const float actions[3][3] = {{3, 1, 20}, {3.4f, -1.6f, 10}, {1, 0, 0}};
  MUST(wb_env_write(s.env, "action", actions[0], sizeof actions[0], error));
  MUST(wb_env_step(s.env, error));
  expect_order(&s, WB_SIDE_BID, -2, 20);
  expect_order(&s, WB_SIDE_ASK, 4, 20);
  /* history has widened the touch; numbers are rounded: 3 and -2 */
  MUST(wb_env_write(s.env, "action", actions[1], sizeof actions[1], error));
  MUST(wb_env_step(s.env, error));
  expect_order(&s, WB_SIDE_BID, -5, 10);
  expect_order(&s, WB_SIDE_ASK, 2, 10);
  close_scene(&s);
}

Test(actions, clearing_trades_the_inventory_away) {
  const wb_record records[] = {executed(0, 2, 40), idle(), idle()};
  const wb_env_agents maker[] = {{"market_making", "discrete", 1}};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(records, 3, maker, mirrored == 1);
    const double unit = 1;
    MUST(wb_env_set_parameter(s.env, "offset_unit", &unit, 1, error));
    choose_action(&s, 1);
    cr_assert_eq(account_of(&s).inventory, mirrored == 1 ? 40 : -40);
    choose_action(&s, 10);
    cr_assert_eq(account_of(&s).inventory, 0);
    expect_order(&s, WB_SIDE_BID, 0, 0);
    expect_order(&s, WB_SIDE_ASK, 0, 0);
    close_scene(&s);
  }
}

Test(actions, by_hand_there_are_all_kinds_of_orders) {
  wb_record records[8];
  for (int i = 0; i < 8; i++) records[i] = idle();
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(records, 8, by_hand, mirrored == 1);
    step(&s, (order_wish){POST_ONLY, 1, -4, 10}, keep); /* at the bid: it would take */
    expect_order(&s, WB_SIDE_ASK, 0, 0);
    step(&s, (order_wish){POST_ONLY, 1, -3, 10}, keep);
    expect_order(&s, WB_SIDE_ASK, -1, 10);
    step(&s, (order_wish){CANCEL, 0, 0, 0}, (order_wish){IOC, 0, -4, 130});
    expect_order(&s, WB_SIDE_BID, 0, 0);
    cr_assert_eq(account_of(&s).volume, 100, "the level of 100, and no rest");
    step(&s, keep, (order_wish){MARKET, 1, 0, 100});
    cr_assert_eq(account_of(&s).inventory, 0);
    step(&s, keep, (order_wish){LIMIT, 0, -2, 7}); /* offsets count from the touch as it is now */
    cr_assert_eq(own_order(&s, WB_SIDE_BID).qty, 7);
    close_scene(&s);
  }
}

/* Who comes first is drawn anew for each step of each environment. */
Test(actions, order_of_arrival_is_shuffled) {
  enum { ENVS = 64, AGENTS = 3 };
  wb_tape *tape = make_market(53, 1000);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{"market_making", "quotes", AGENTS}};
  wb_env_config c = config_on(&list, agents, 1);
  c.envs = ENVS;
  c.record_room = 64;
  c.messages_per_step = 5;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  float quotes[ENVS][AGENTS][3];
  for (int e = 0; e < ENVS; e++) {
    for (int a = 0; a < AGENTS; a++) memcpy(quotes[e][a], (const float[]){8, 0, 10}, 12);
  }
  MUST(wb_env_write(env, "action", quotes, sizeof quotes, error));
  MUST(wb_env_step(env, error));
  int orders[6] = {0};
  for (int e = 0; e < ENVS; e++) {
    wb_record records[64];
    int64_t count;
    MUST(wb_env_read_records(env, e, records, 64, &count, error));
    /* two quotes of each: bid, then ask */
    for (int i = 0; i < 2 * AGENTS; i++) cr_assert_eq(records[i].owner, records[i ^ 1].owner);
    int first = records[0].owner - 1, second = records[2].owner - 1;
    orders[2 * first + (second > first ? second - 1 : second)]++;
  }
  for (int i = 0; i < 6; i++) cr_assert_gt(orders[i], 2, "order %d: %d times of 64", i, orders[i]);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* ---- the clock of fills ---- */

static int32_t rows_of(scene *s) {
  int32_t rows;
  MUST(wb_env_read(s->env, "messages", &rows, sizeof rows, error));
  return rows;
}

Test(clock, a_step_ends_with_the_row_that_fills_an_order) {
  const wb_record records[] = {idle(), idle(), executed(0, 2, 10), idle(), idle(), idle(), idle(),
                               idle(), idle()};
  scene s = open_with(records, 9, by_hand, false, WB_ENV_CLOCK_FILL, 5);
  /* own taking is no such fill: the step goes on to the row that meets the resting order */
  step(&s, (order_wish){LIMIT, 1, -1, 20}, (order_wish){MARKET, 1, 0, 5});
  cr_assert_eq(rows_of(&s), 3);
  cr_assert_eq(account_of(&s).sold, 5 + 10);
  step(&s, keep, keep);
  cr_assert_eq(rows_of(&s), 5, "no fill: the most rows of a step");
  close_scene(&s);
}

/* ---- faults ---- */

/* A new bid at the old ask's price must rest, and the old ask go. */
static void replaced_across(bool mirrored) {
  const wb_record records[] = {idle(), idle(), idle(), idle()};
  scene s = open_scene(records, 4, by_hand, mirrored);
  step(&s, (order_wish){LIMIT, 1, -2, 10}, keep); /* an ask at MID */
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).price, MID);
  /* the other slot, with the first one cancelled */
  step(&s, (order_wish){CANCEL, 0, 0, 0}, (order_wish){LIMIT, 0, -2, 10});
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).qty, 0, "the ask stayed");
  cr_assert_eq(own_order(&s, WB_SIDE_BID).qty, 10, "the bid vanished");
  cr_assert_eq(own_order(&s, WB_SIDE_BID).price, MID);
  /* the same slot: the touch is the agent's own bid at MID now */
  step(&s, keep, (order_wish){LIMIT, 1, -2, 10});
  cr_assert_eq(own_order(&s, WB_SIDE_ASK).price, MID);
  cr_assert_eq(own_order(&s, WB_SIDE_BID).qty, 0);
  cr_assert_eq(account_of(&s).volume, 0, "nobody traded");
  close_scene(&s);
}

Test(faults, cancel_and_replace_know_their_side) {
  replaced_across(false);
  replaced_across(true);
}

/* 50 shares at the passive price with 15 to go: 15 rest there, and nothing is taken. */
Test(faults, more_than_remains_is_cut_where_it_was_meant) {
  const wb_record records[] = {idle(), idle(), idle()};
  const wb_env_agents seller[] = {{"execution", "discrete", 1}};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(records, 3, seller, mirrored == 1);
    const int32_t passive_50 = 1 + 3 * 3 + 2;
    MUST(wb_env_write(s.env, "action", &passive_50, 4, error));
    MUST(wb_env_step(s.env, error));
    wb_order order = own_order(&s, WB_SIDE_ASK);
    cr_assert_eq(order.qty, 15);
    cr_assert_eq(order.price, price_in(&s, 3));
    cr_assert_eq(account_of(&s).volume, 0);
    close_scene(&s);
  }
}

/* In one step the agent's ask is filled and its own order takes an ask: sold and bought, not netted. */
Test(faults, passive_and_aggressive_fills_are_not_netted) {
  const wb_record records[] = {idle(), executed(0, 2, 10), idle()};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(records, 3, by_hand, mirrored == 1);
    step(&s, (order_wish){LIMIT, 1, -1, 10}, keep); /* an ask at 1 tick, before all */
    step(&s, keep, (order_wish){IOC, 0, -5, 0});    /* no shares: nothing */
    wb_env_account a = account_of(&s);
    cr_assert_eq(mirrored == 1 ? a.bought : a.sold, 10);
    int64_t first = mirrored == 1 ? -10 * (int64_t)price_in(&s, 1) : 10 * (int64_t)price_in(&s, 1);
    cr_assert_eq(a.cash, first);
    step(&s, keep, (order_wish){MARKET, 0, 0, 7});
    a = account_of(&s);
    cr_assert_eq(a.taken_volume, 7 + 3, "7 were taken, then the inventory of 3 was liquidated");
    cr_assert_eq(a.bought + a.sold, 20);
    cr_assert_eq(a.inventory, 0);
    close_scene(&s);
  }
}

/* What liquidates at the end carries the market's time, and durations don't know it. */
Test(faults, a_forced_trade_has_a_time_and_durations_are_exact) {
  wb_record records[] = {idle(), idle(), idle()};
  records[0].time_ns = INT64_C(50400000000000); /* 14:00 */
  records[1].time_ns = INT64_C(50400004000000); /* 4 ms later */
  records[2].time_ns = INT64_C(50400004000001);
  const wb_env_agents seller[] = {{"execution", "discrete", 1}};
  scene s = open_scene(records, 3, seller, false);
  const int32_t nothing = 0;
  const int64_t expected[] = {0, 4000000, 1};
  MUST(wb_env_write(s.env, "action", &nothing, 4, error));
  for (int i = 0; i < 3; i++) {
    int64_t elapsed;
    MUST(wb_env_step(s.env, error));
    MUST(wb_env_read(s.env, "elapsed", &elapsed, 8, error));
    cr_assert_eq(elapsed, expected[i]);
  }
  wb_record acted[16];
  int64_t count;
  MUST(wb_env_read_records(s.env, 0, acted, 16, &count, error));
  cr_assert_eq(count, 4);
  cr_assert_eq(acted[3].type, WB_RECORD_MARKET);
  cr_assert_eq(acted[3].owner, 1);
  cr_assert_eq(acted[3].qty, 15);
  cr_assert_eq(acted[3].time_ns, INT64_C(50400004000001));
  wb_env_account a = account_of(&s);
  cr_assert_eq(a.cash, 15 * (int64_t)(MID - 2 * TICK));
  cr_assert_eq(a.inventory, -15);
  close_scene(&s);
}

/* Beyond 2^24 every unit still counts. */
Test(faults, cash_is_exact) {
  const wb_record records[] = {executed(0, 2, 1), executed(0, 2, 98), executed(0, 2, 1), idle()};
  scene s = open_scene(records, 4, by_hand, false);
  step(&s, (order_wish){LIMIT, 1, -1, 100}, keep);
  cr_assert_eq(account_of(&s).cash, MID + TICK);
  step(&s, keep, keep);
  step(&s, keep, keep);
  cr_assert_eq(account_of(&s).cash, 100 * (int64_t)(MID + TICK));
  cr_assert_gt(account_of(&s).cash, 1 << 24);
  close_scene(&s);
}

/* Two executions at one instant are two fills. */
Test(faults, equal_time_stamps_are_not_one_execution) {
  wb_record records[] = {executed(0, 2, 10), executed(0, 2, 10), executed(0, 2, 10), idle()};
  for (int i = 0; i < 3; i++) records[i].time_ns = INT64_C(36000000000000);
  scene s = open_scene(records, 4, by_hand, false);
  step(&s, (order_wish){LIMIT, 1, -1, 100}, keep);
  for (int i = 0; i < 3; i++) step(&s, keep, keep);
  wb_env_statistic list[WB_ENV_STATISTICS_MAX];
  int32_t n;
  MUST(wb_env_take_statistics(s.env, 0, list, &n, error));
  cr_assert_eq(statistic(list, n, "fills"), 3 + 1, "three sales, and one that liquidates");
  close_scene(&s);
}

/* Start states belong to what made them: nothing of another configuration is ever taken. */
Test(faults, start_states_know_their_parameters) {
  wb_tape *tape = make_market(51, 1000);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{"execution", NULL, 1}};
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t every = 50; every <= 100; every += 50) {
      wb_env_config c = config_on(&list, agents, 1);
      c.snapshot_messages = every;
      c.episode_messages = 50;
      c.rules.capacity = every == 50 ? 64 : 128;
      wb_env *env;
      MUST(wb_env_create(&c, &env, error));
      cr_assert_eq(wb_env_window_count(env), 1000 / every);
      for (int32_t n = 0; n < 1000 / every; n++) {
        wb_env_window window;
        uint64_t book_hash, state_hash;
        witness w;
        MUST(wb_env_window_at(env, n, &window, error));
        cr_assert_eq(window.row, n * every);
        MUST(wb_env_reset(env, NULL, &n, error));
        witness_start(&w, env, tape, 0, &c.rules);
        MUST(wb_env_book_hashes(env, 0, &book_hash, &state_hash, error));
        cr_assert_eq(state_hash, wb_reference_state_hash(w.book));
        witness_end(&w);
      }
      wb_env_destroy(env);
    }
  }
  wb_tape_free(tape);
}

/* No price is invented for an empty side: the episode is cut short, and says why. */
Test(faults, an_emptied_book_is_truncation_with_a_reason) {
  const wb_record records[] = {deleted(0, true), deleted(1, true), deleted(2, true), idle(),
                               idle()};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(records, 5, by_hand, mirrored == 1);
    int32_t reason;
    uint8_t truncated, terminated;
    step(&s, keep, keep);
    step(&s, keep, keep);
    MUST(wb_env_read(s.env, "reason", &reason, 4, error));
    cr_assert_eq(reason, WB_ENV_END_NONE);
    step(&s, keep, keep);
    MUST(wb_env_read(s.env, "reason", &reason, 4, error));
    MUST(wb_env_read(s.env, "truncated", &truncated, 1, error));
    MUST(wb_env_read(s.env, "terminated", &terminated, 1, error));
    cr_assert_eq(reason, WB_ENV_END_EMPTY);
    cr_assert_eq(truncated, 1);
    cr_assert_eq(terminated, 0);
    close_scene(&s);
  }
}

/* What remains at the end goes through the book, at the book's prices, as far as it reaches. */
Test(faults, liquidation_pays_the_book_s_prices) {
  const wb_record records[] = {idle()};
  const wb_env_agents seller[] = {{"execution", "discrete", 1}};
  for (int mirrored = 0; mirrored < 2; mirrored++) {
    scene s = open_scene(records, 1, seller, mirrored == 1);
    const double quantity = 250;
    const int32_t nothing = 0;
    MUST(wb_env_set_parameter(s.env, "quantity", &quantity, 1, error));
    MUST(wb_env_reset(s.env, NULL, NULL, error));
    MUST(wb_env_write(s.env, "action", &nothing, 4, error));
    MUST(wb_env_step(s.env, error));
    int64_t expected = 100 * (int64_t)price_in(&s, -2) + 100 * (int64_t)price_in(&s, -3) +
                       50 * (int64_t)price_in(&s, -4);
    cr_assert_eq(account_of(&s).cash, mirrored == 1 ? -expected : expected);
    wb_env_statistic list[WB_ENV_STATISTICS_MAX];
    int32_t n;
    MUST(wb_env_take_statistics(s.env, 0, list, &n, error));
    cr_assert_eq(statistic(list, n, "liquidated"), 250);
    cr_assert_eq(statistic(list, n, "left"), 0);
    /* a bid of 2 ticks below the mid costs 2 ticks a share, the walk 100 and 2 x 50 more */
    cr_assert_eq(statistic(list, n, "spread"), 250 * 2 * TICK);
    cr_assert_eq(statistic(list, n, "impact"), (100 + 2 * 50) * TICK);
    cr_assert_eq(statistic(list, n, "shortfall"), (250 * 2 + 100 + 2 * 50) * TICK);
    close_scene(&s);
  }
}

/* ---- sums that are large, and prices below zero ---- */

/* Asks of 2 at MID and bids of 2 below it, deep; nothing happens `rows` times. */
static wb_env *open_deep(wb_tape **tape, int64_t base, int32_t rows, int64_t gap_ns,
                         const wb_env_agents *agents) {
  const wb_order orders[] = {resting(0, WB_SIDE_ASK, MID + TICK, 2000000000),
                             resting(1, WB_SIDE_ASK, MID + TICK, 2000000000),
                             resting(2, WB_SIDE_BID, MID - TICK, 2000000000),
                             resting(3, WB_SIDE_BID, MID - TICK, 2000000000)};
  wb_record *records = calloc((size_t)rows, sizeof *records);
  for (int32_t i = 0; i < rows; i++) {
    records[i] = idle();
    records[i].price = MID;
    records[i].time_ns = INT64_C(34200000000000) + i * gap_ns;
  }
  *tape = make_scene(orders, 4, records, rows);
  (*tape)->base = base;
  free(records);
  const wb_tape *list = *tape;
  wb_env_config c = config_on(&list, agents, 1);
  c.messages_per_step = 1;
  c.episode_messages = 0;
  c.snapshot_messages = rows;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  return env;
}

static void deep_step(wb_env *env, const int32_t *action, size_t components) {
  MUST(wb_env_write(env, "action", action, components * sizeof *action, error));
  MUST(wb_env_step(env, error));
}

static int32_t reason_of(wb_env *env) {
  int32_t reason;
  MUST(wb_env_read(env, "reason", &reason, sizeof reason, error));
  return reason;
}

/* 32-bit shares have their end too: an agent that turns a million over and over. */
Test(faults, more_shares_than_fees_can_count_end_the_episode) {
  wb_tape *tape;
  wb_env *env = open_deep(&tape, -MID, 5000, 1000000, by_hand);
  const double most = 1000000;
  MUST(wb_env_set_parameter(env, "max_inventory", &most, 1, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  int steps = 0;
  while (reason_of(env) == WB_ENV_END_NONE && steps < 4990) {
    const int32_t action[8] = {MARKET, steps % 2, 0, 1000000};
    deep_step(env, action, 8);
    steps++;
  }
  cr_assert_eq(reason_of(env), WB_ENV_END_LIMIT);
  cr_assert_eq(steps, 4295, "2^32 shares are behind after so many millions");
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* What is sold below zero costs; it is no reason to end. */
Test(faults, prices_below_zero_are_prices) {
  wb_tape *tape;
  wb_env *env = open_deep(&tape, -2 * MID, 10, 1000000, by_hand);
  wb_env_account account;
  MUST(wb_env_reset(env, NULL, NULL, error));
  const int32_t sell[8] = {MARKET, 1, 0, 100};
  deep_step(env, sell, 8);
  cr_assert_eq(reason_of(env), WB_ENV_END_NONE);
  MUST(wb_env_read_account(env, 0, 0, &account, error));
  cr_assert_eq(account.cash, 100 * (INT64_C(-1) * MID - TICK));
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* A day, a price that doubles and a million shares: the product of the three needs more than 64 bits. */
Test(faults, benchmarks_hold_where_their_products_do_not_fit) {
  const wb_order orders[] = {resting(0, WB_SIDE_ASK, MID + TICK, 100),
                             resting(1, WB_SIDE_ASK, 3 * MID + TICK, 100),
                             resting(2, WB_SIDE_BID, MID - TICK, 2000000)};
  const int64_t start = INT64_C(34200000000000), second = 1000000000;
  const wb_record records[] = {
      {.time_ns = start, .type = WB_RECORD_NOTE, .qty = 1, .arg = WB_NOTE_HIDDEN, .price = MID},
      /* the others' trades are at MID + TICK; then the mid is 2 MID */
      {.time_ns = start + second,
       .ref = 0,
       .price = MID + TICK,
       .qty = 100,
       .type = WB_RECORD_EXECUTE,
       .flags = WB_FLAG_SIDE},
      {.time_ns = start + 20001 * second,
       .type = WB_RECORD_NOTE,
       .qty = 1,
       .arg = WB_NOTE_HIDDEN,
       .price = MID},
  };
  const wb_env_agents sellers[] = {{"execution", NULL, 1}};
  wb_tape *tape = make_scene(orders, 3, records, 3);
  const wb_tape *list = tape;
  wb_env_config c = config_on(&list, sellers, 1);
  c.messages_per_step = 1;
  c.episode_messages = 3;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  const double quantity = 1000000, side = 1;
  MUST(wb_env_set_parameter(env, "quantity", &quantity, 1, error));
  MUST(wb_env_set_parameter(env, "side", &side, 1, error));
  MUST(wb_env_reset(env, NULL, NULL, error));
  const int32_t nothing = 0;
  for (int i = 0; i < 3; i++) deep_step(env, &nothing, 1);
  cr_assert_eq(reason_of(env), WB_ENV_END_WINDOW);
  wb_env_statistic statistics[WB_ENV_STATISTICS_MAX];
  int32_t count;
  MUST(wb_env_take_statistics(env, 0, statistics, &count, error));
  cr_assert_eq(statistic(statistics, count, "volume"), 1e6);
  /* sold at MID - TICK; the mid was MID for a second and 2 MID, with its ticks, for 20,000 */
  double average = (MID * 1.0 + (2.0 * MID) * 20000) / 20001;
  double twap = 1e6 * (average - (MID - TICK)), vwap = 1e6 * 2 * TICK;
  cr_assert_float_eq(statistic(statistics, count, "against_twap"), twap, 1e6);
  cr_assert_float_eq(statistic(statistics, count, "against_vwap"), vwap, 1);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* An agent whose order was filled by another's message of the same step does not send what it no longer
 * has to trade. */
Test(faults, a_replaced_order_filled_in_between_is_not_sent_again) {
  wb_tape *tape = make_market(52, 3000);
  const wb_tape *list = tape;
  const wb_env_agents agents[] = {{"execution", "slots", 2}, {"market_making", "slots", 2}};
  wb_env_config c = config_on(&list, agents, 2);
  c.envs = 64;
  c.messages_per_step = 2;
  c.episode_messages = 200;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  const double quantity = 30, two_sides = 2, inventory = 40;
  MUST(wb_env_set_parameter(env, "quantity", &quantity, 1, error));
  MUST(wb_env_set_parameter(env, "side", &two_sides, 1, error));
  MUST(wb_env_set_parameter(env, "max_inventory", &inventory, 1, error));
  for (int episode = 0; episode < 10; episode++) {
    MUST(wb_env_reset(env, NULL, NULL, error));
    for (int i = 0; i < 50; i++) {
      MUST(wb_env_act(env, "random", -1, error));
      MUST(wb_env_step(env, error));
      for (int32_t e = 0; e < 64; e++) {
        for (int a = 0; a < 4; a++) {
          wb_env_account account;
          MUST(wb_env_read_account(env, e, a, &account, error));
          int64_t low = a < 2 ? (account.target < 0 ? account.target : 0) : -40;
          int64_t high = a < 2 ? (account.target > 0 ? account.target : 0) : 40;
          cr_assert_geq(account.inventory, low);
          cr_assert_leq(account.inventory, high);
        }
      }
    }
  }
  wb_env_destroy(env);
  wb_tape_free(tape);
}

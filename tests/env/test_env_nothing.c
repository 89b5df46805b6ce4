/* Agents that do nothing leave the market as it was: the book after every step is the one that a
 * replay of the tape alone has, and on real data the vendor's. */
#include "market.h"

static const wb_env_agents idle[] = {{"market_making", NULL, 1}, {"execution", NULL, 2}};

static wb_env *open(const wb_tape *tape, int32_t rows_a_step, int32_t rows, int32_t envs) {
  wb_env_config c = config_on(&tape, idle, 2);
  c.messages_per_step = rows_a_step;
  c.episode_messages = rows;
  c.envs = envs;
  c.windows = WB_ENV_WINDOWS_SEQUENTIAL;
  c.snapshot_messages = 500;
  wb_env *env;
  MUST(wb_env_create(&c, &env, error));
  const double no = 0;
  /* what they have not done they shall not be made to do at the end */
  MUST(wb_env_set_parameter(env, "liquidate", &no, 1, error));
  return env;
}

Test(nothing, the_book_is_the_replay_s_and_nothing_is_owed) {
  wb_tape *tape = make_market(31, 2500);
  wb_env *env = open(tape, 25, 500, 4);
  MUST(wb_env_reset(env, NULL, NULL, error));
  for (int step = 0; step < 20; step++) {
    MUST(wb_env_act(env, "none", -1, error));
    MUST(wb_env_step(env, error));
  }
  for (int32_t e = 0; e < 4; e++) {
    wb_reference *book;
    wb_book_rules rules = wb_book_rules_default();
    rules.tick_size = tape->tick_size;
    wb_env_window window;
    uint64_t book_hash, state_hash;
    MUST(wb_env_window_at(env, e, &window, error));
    MUST(wb_reference_create(&rules, &book, error));
    MUST(wb_reference_load(book, tape->seed, tape->seed_count, error));
    for (int64_t i = 0; i < window.record + 500; i++) {
      MUST(wb_reference_apply(book, &tape->records[i], (int32_t)i, error));
    }
    MUST(wb_env_book_hashes(env, e, &book_hash, &state_hash, error));
    cr_assert_eq(book_hash, wb_reference_book_hash(book));
    cr_assert_eq(state_hash, wb_reference_state_hash(book));
    wb_reference_free(book);
    for (int a = 0; a < 3; a++) {
      wb_env_account account;
      MUST(wb_env_read_account(env, e, a, &account, error));
      cr_assert_eq(account.cash, 0);
      cr_assert_eq(account.inventory, 0);
      cr_assert_eq(account.fees, 0);
      cr_assert_eq(account.volume, 0);
    }
  }
  wb_env_destroy(env);
  wb_tape_free(tape);
}

/* The source row that the tape's `rows`-th row end closes: row 0 is the seed and may have no record. */
static int64_t *source_rows(const wb_tape *tape) {
  int64_t *list = calloc((size_t)tape->record_count + 1, sizeof *list);
  int64_t count = 0;
  for (int64_t i = 0; i < tape->record_count; i++) {
    if ((tape->records[i].flags & WB_FLAG_ROW_END) != 0) list[++count] = tape->records[i].row;
  }
  return list;
}

/* Every row of the day at which a step ends. */
static void compare_rows(const char *name, int32_t rows_a_step, int32_t rows) {
  wb_tape *tape = real_day(name);
  if (tape == NULL) cr_skip("no real data");
  wb_env *env = open(tape, rows_a_step, rows, 1);
  int32_t windows = wb_env_window_count(env), checked = 0;
  int64_t *source = source_rows(tape);
  cr_assert_gt(windows, 0);
  for (int32_t n = 0; n < windows; n++) {
    wb_env_window window;
    MUST(wb_env_window_at(env, n, &window, error));
    if (window.messages < rows) continue;
    MUST(wb_env_reset(env, NULL, &n, error));
    for (int64_t row = window.row + rows_a_step; row <= window.row + rows; row += rows_a_step) {
      MUST(wb_env_act(env, "none", -1, error));
      MUST(wb_env_step(env, error));
      for (int side = 0; side < 2; side++) {
        wb_level levels[50];
        int32_t count = 0;
        MUST(wb_env_book_levels(env, 0, (wb_side)side, levels, tape->levels, &count, error));
        for (int32_t level = 0; level < tape->levels; level++) {
          int64_t at = source[row] * 2 * tape->levels + 2 * level + (side == WB_SIDE_ASK ? 0 : 1);
          bool there = tape->book_price[at] != WB_NO_PRICE;
          cr_assert_eq(level < count, there, "row %" PRId64, row);
          if (!there) break;
          cr_assert_eq(levels[level].price, tape->book_price[at], "row %" PRId64, row);
          cr_assert_eq(levels[level].qty, tape->book_qty[at], "row %" PRId64, row);
        }
      }
      checked++;
    }
  }
  cr_assert_gt(checked, 100);
  free(source);
  wb_env_destroy(env);
  wb_tape_free(tape);
}

Test(nothing, every_row_of_a_real_day_is_the_vendor_s) {
  compare_rows("GOOG_L10_first5000/GOOG_2012-06-21_34200000_57600000_message_10.csv", 1, 450);
}

Test(nothing, so_it_is_at_steps_of_many_rows) {
  compare_rows("GOOG_L10_first5000/GOOG_2012-06-21_34200000_57600000_message_10.csv", 7, 448);
}

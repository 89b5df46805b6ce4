/* EXECUTE: history's executions with agents in the way, under each policy. */
#include "book.h"

#include <criterion/criterion.h>

enum { X = 7 };

static book with_policy(wb_execute_policy policy, wb_displaced displaced) {
  wb_book_rules rules = wb_book_rules_default();
  rules.execute_policy = policy;
  rules.displaced = displaced;
  return book_with(rules);
}

/* -------------------------------------------------------------------------------------------------
 * without agents */

Test(execute_plain, takes_the_named_order_part_and_whole) {
  for (int policy = WB_EXECUTE_AGENTS_FIRST; policy <= WB_EXECUTE_AGGRESSIVE; ++policy) {
    book b = with_policy((wb_execute_policy)policy, WB_DISPLACED_WITHDRAW);
    bid(&b, X, 100, at(10)), bid(&b, 8, 50, at(9));
    expect_trades(execute(&b, BID, X, 40, at(10)), {X, 40, 10});
    expect_trades(execute(&b, BID, X, 60, at(10)), {X, 60, 10});
    expect_queue(&b, BID, {8, 50});
    expect_nothing_counted(&b);
    cr_assert_eq(counter(&b, WB_COUNT_VOLUME), 100);
    cr_assert_eq(counter(&b, WB_COUNT_NOTIONAL), 1000);
    done(&b);
  }
}

Test(execute_plain, trades_have_no_taker) {
  for (int policy = WB_EXECUTE_AGENTS_FIRST; policy <= WB_EXECUTE_AGGRESSIVE; ++policy) {
    book b = with_policy((wb_execute_policy)policy, WB_DISPLACED_WITHDRAW);
    ask(&b, X, 100, at(10));
    wb_record r = {.time_ns = 5,
                   .ref = X,
                   .price = 10,
                   .qty = 30,
                   .type = WB_RECORD_EXECUTE,
                   .flags = WB_FLAG_SIDE};
    send(&b, r);
    cr_assert(b.trades[0].taker == -1 && b.trades[0].taker_owner == 0);
    cr_assert_eq(b.trades[0].maker_owner, WB_TRADE_MAKER_ASK);
    r.flags |= WB_FLAG_EDGE;
    send(&b, r);
    cr_assert(b.trades[0].taker == -1 && b.trades[0].taker_owner == WB_TRADE_EDGE);
    done(&b);
  }
}

Test(execute_plain, follows_the_named_order_wherever_it_stands) {
  for (int policy = WB_EXECUTE_AGENTS_FIRST; policy <= WB_EXECUTE_NAMED; ++policy) {
    book b = with_policy((wb_execute_policy)policy, WB_DISPLACED_WITHDRAW);
    ask(&b, 1, 10, at(9)), ask(&b, 2, 10, at(10)), ask(&b, X, 10, at(10)), ask(&b, 3, 9, at(10));
    expect_trades(execute(&b, ASK, X, 4, at(10)), {X, 4, 10});
    expect_trades(execute(&b, ASK, 1, 4, at(9)), {1, 4, 9}); /* this one is at the head */
    expect_counts(&b, {WB_COUNT_NOT_AT_HEAD, 1});
    expect_trades(execute(&b, ASK, 2, 10, at(10)), {2, 10, 10});
    expect_counts(&b, {WB_COUNT_NOT_AT_HEAD, 2});
    expect_queue(&b, ASK, {1, 6}, {X, 6}, {3, 9});
    done(&b);
  }
}

Test(execute_plain, the_named_orders_price_beats_the_records) {
  book b = empty_book();
  bid(&b, X, 10, at(10)), bid(&b, 8, 10, at(10)), bid(&b, 9, 10, at(9));
  /* a price through the book does not reach further than X's own */
  expect_trades(execute(&b, BID, X, 25, at(1)), {X, 10, 10}, {8, 10, 10});
  expect_counts(&b, {WB_COUNT_ORPHAN, 1}, {WB_COUNT_ORPHANED_SHARES, 5});
  /* nor does a price away from it stop it */
  expect_trades(execute(&b, BID, 9, 5, at(900)), {9, 5, 9});
  done(&b);
}

Test(execute_plain, more_than_the_level_goes_to_others_then_is_orphaned) {
  for (int policy = WB_EXECUTE_AGENTS_FIRST; policy <= WB_EXECUTE_NAMED; ++policy) {
    book b = with_policy((wb_execute_policy)policy, WB_DISPLACED_WITHDRAW);
    ask(&b, 1, 10, at(9)), ask(&b, 2, 10, at(10)), ask(&b, X, 10, at(10)), ask(&b, 4, 10, at(11));
    expect_trades(execute(&b, ASK, X, 35, at(10)), {X, 10, 10}, {1, 10, 9}, {2, 10, 10});
    expect_queue(&b, ASK, {4, 10});
    expect_counts(&b, {WB_COUNT_ORPHAN, 1}, {WB_COUNT_ORPHANED_SHARES, 5},
                  {WB_COUNT_NOT_AT_HEAD, 1});
    done(&b);
  }
}

Test(execute_plain, an_absent_order_is_an_orphan_and_others_serve) {
  for (int policy = WB_EXECUTE_AGENTS_FIRST; policy <= WB_EXECUTE_AGGRESSIVE; ++policy) {
    book b = with_policy((wb_execute_policy)policy, WB_DISPLACED_WITHDRAW);
    ask(&b, 1, 10, at(10)), ask(&b, 2, 10, at(11));
    expect_trades(execute(&b, ASK, X, 5, at(10)), {1, 5, 10});
    expect_counts(&b, {WB_COUNT_ORPHAN, 1});
    expect_trades(execute(&b, ASK, X, 9, at(10)), {1, 5, 10}); /* both reasons, one count */
    expect_counts(&b, {WB_COUNT_ORPHAN, 2}, {WB_COUNT_ORPHANED_SHARES, 4});
    expect_no_trades(execute(&b, BID, 2, 3, at(11))); /* on the other side */
    expect_counts(&b, {WB_COUNT_ORPHAN, 3}, {WB_COUNT_ORPHANED_SHARES, 7});
    expect_queue(&b, ASK, {2, 10});
    done(&b);
  }
}

/* -------------------------------------------------------------------------------------------------
 * agents first */

Test(agents_first, an_agent_with_a_better_price_is_filled_and_x_withdraws) {
  book b = empty_book();
  ask(&b, X, 70, at(10000));
  ask(&b, own(1, 8), 10, at(9999));
  expect_trades(execute(&b, ASK, X, 40, at(10000)), {own(1, 8), 10, 9999}, {X, 30, 10000});
  expect_queue(&b, ASK, {X, 30}); /* 10 went without a trade: history has 30 left */
  expect_counts(&b, {WB_COUNT_WITHDRAWN_SHARES, 10}, {WB_COUNT_NOT_AT_HEAD, 1});
  cr_assert_eq(counter(&b, WB_COUNT_VOLUME), 40);
  done(&b);
}

Test(agents_first, displaced_shares_may_stay) {
  book b = with_policy(WB_EXECUTE_AGENTS_FIRST, WB_DISPLACED_KEEP);
  ask(&b, X, 70, at(10000));
  ask(&b, own(1, 8), 10, at(9999));
  expect_trades(execute(&b, ASK, X, 40, at(10000)), {own(1, 8), 10, 9999}, {X, 30, 10000});
  expect_queue(&b, ASK, {X, 40});
  expect_counts(&b, {WB_COUNT_STRANDED_SHARES, 10}, {WB_COUNT_NOT_AT_HEAD, 1});
  done(&b);
}

Test(agents_first, at_xs_price_only_older_agents_go_before_it) {
  book b = empty_book();
  bid(&b, own(1, 0), 10, at(10)), bid(&b, 1, 10, at(10)), bid(&b, X, 50, at(10));
  bid(&b, own(2, 0), 10, at(10)), bid(&b, own(3, 0), 10, at(9));
  expect_trades(execute(&b, BID, X, 30, at(10)), {own(1, 0), 10, 10}, {X, 20, 10});
  expect_queue(&b, BID, {1, 10}, {X, 20}, {own(2, 0), 10}, {own(3, 0), 10});
  expect_counts(&b, {WB_COUNT_WITHDRAWN_SHARES, 10}, {WB_COUNT_NOT_AT_HEAD, 1});
  done(&b);
}

Test(agents_first, three_agents_best_first_each_at_its_own_price) {
  book b = empty_book();
  ask(&b, own(1, 0), 5, at(10)), ask(&b, 1, 7, at(9)), ask(&b, X, 50, at(10));
  ask(&b, own(2, 0), 6, at(8)), ask(&b, own(3, 0), 4, at(9));
  expect_trades(execute(&b, ASK, X, 30, at(10)), {own(2, 0), 6, 8}, {own(3, 0), 4, 9},
                {own(1, 0), 5, 10}, {X, 15, 10});
  expect_queue(&b, ASK, {1, 7}, {X, 20}); /* 50 - 15 - 15 withdrawn */
  expect_counts(&b, {WB_COUNT_WITHDRAWN_SHARES, 15}, {WB_COUNT_NOT_AT_HEAD, 1});
  done(&b);
}

Test(agents_first, agents_may_take_all_of_it) {
  book b = empty_book();
  ask(&b, X, 50, at(10)), ask(&b, own(1, 0), 100, at(9));
  expect_trades(execute(&b, ASK, X, 40, at(10)), {own(1, 0), 40, 9});
  expect_queue(&b, ASK, {own(1, 0), 60}, {X, 10}); /* X trades nothing and loses 40 */
  expect_counts(&b, {WB_COUNT_WITHDRAWN_SHARES, 40}, {WB_COUNT_NOT_AT_HEAD, 1});
  /* the rest of X, all displaced: it leaves without a trade */
  expect_trades(execute(&b, ASK, X, 10, at(10)), {own(1, 0), 10, 9});
  expect_queue(&b, ASK, {own(1, 0), 50});
  expect_counts(&b, {WB_COUNT_WITHDRAWN_SHARES, 50}, {WB_COUNT_NOT_AT_HEAD, 2});
  done(&b);
}

Test(agents_first, x_loses_no_more_than_it_has) {
  book b = empty_book();
  ask(&b, X, 35, at(10)), ask(&b, own(1, 0), 10, at(9));
  expect_trades(execute(&b, ASK, X, 40, at(10)), {own(1, 0), 10, 9}, {X, 30, 10});
  expect_empty(&b, ASK);
  expect_counts(&b, {WB_COUNT_WITHDRAWN_SHARES, 5}, {WB_COUNT_NOT_AT_HEAD, 1});
  done(&b);
}

Test(agents_first, what_is_left_after_x_goes_to_others_at_its_price_or_better) {
  book b = empty_book();
  ask(&b, 1, 10, at(9)), ask(&b, X, 10, at(10)), ask(&b, own(2, 0), 10, at(10));
  ask(&b, own(1, 0), 5, at(8)), ask(&b, 3, 10, at(11));
  expect_trades(execute(&b, ASK, X, 40, at(10)), {own(1, 0), 5, 8}, {X, 10, 10}, {1, 10, 9},
                {own(2, 0), 10, 10});
  expect_queue(&b, ASK, {3, 10});
  expect_counts(&b, {WB_COUNT_ORPHAN, 1}, {WB_COUNT_ORPHANED_SHARES, 5}, {WB_COUNT_NOT_AT_HEAD, 1});
  done(&b);
}

Test(agents_first, with_x_gone_agents_at_its_price_or_better_go_first) {
  book b = empty_book();
  bid(&b, 1, 10, at(11)), bid(&b, 2, 10, at(10)), bid(&b, own(1, 0), 10, at(10));
  bid(&b, own(2, 0), 10, at(9));
  expect_trades(execute(&b, BID, X, 25, at(10)), {own(1, 0), 10, 10}, {1, 10, 11}, {2, 5, 10});
  expect_queue(&b, BID, {2, 5}, {own(2, 0), 10});
  expect_counts(&b, {WB_COUNT_ORPHAN, 1}); /* nobody withdrew */
  done(&b);
}

/* an agent took the order, then history executes and deletes it */
Test(agents_first, nothing_is_filled_twice_after_an_agent_took_the_order) {
  book b = empty_book();
  ask(&b, X, 100, at(700)), ask(&b, 8, 500, at(701));
  expect_trades(market(&b, BID, own(1, 0), 80), {X, 80, 700});
  expect_trades(execute(&b, ASK, X, 60, at(700)), {X, 20, 700}); /* never walks to 701 */
  expect_counts(&b, {WB_COUNT_ORPHAN, 1}, {WB_COUNT_ORPHANED_SHARES, 40});
  cancel(&b, ASK, X);
  expect_queue(&b, ASK, {8, 500});
  expect_counts(&b, {WB_COUNT_ORPHAN, 2}, {WB_COUNT_ORPHANED_SHARES, 40});
  done(&b);
}

Test(agents_first, agents_on_the_other_side_do_not_matter) {
  book b = empty_book();
  ask(&b, X, 10, at(10)), bid(&b, own(1, 0), 10, at(9));
  expect_trades(execute(&b, ASK, X, 4, at(10)), {X, 4, 10});
  expect_nothing_counted(&b);
  done(&b);
}

/* -------------------------------------------------------------------------------------------------
 * the other policies */

Test(named, agents_are_passed_over) {
  book b = with_policy(WB_EXECUTE_NAMED, WB_DISPLACED_WITHDRAW);
  ask(&b, X, 50, at(10)), ask(&b, own(1, 0), 10, at(9));
  expect_trades(execute(&b, ASK, X, 40, at(10)), {X, 40, 10});
  expect_queue(&b, ASK, {own(1, 0), 10}, {X, 10});
  expect_counts(&b, {WB_COUNT_NOT_AT_HEAD, 1});
  /* unless X is too small */
  expect_trades(execute(&b, ASK, X, 12, at(10)), {X, 10, 10}, {own(1, 0), 2, 9});
  expect_counts(&b, {WB_COUNT_NOT_AT_HEAD, 2});
  done(&b);
}

Test(aggressive, takes_from_the_best_of_that_side_up_to_xs_price) {
  book b = with_policy(WB_EXECUTE_AGGRESSIVE, WB_DISPLACED_WITHDRAW);
  ask(&b, 1, 10, at(9)), ask(&b, X, 50, at(10)), ask(&b, own(1, 0), 10, at(9));
  expect_trades(execute(&b, ASK, X, 25, at(99)), {1, 10, 9}, {own(1, 0), 10, 9}, {X, 5, 10});
  expect_queue(&b, ASK, {X, 45}); /* nobody withdraws */
  expect_counts(&b, {WB_COUNT_NOT_AT_HEAD, 1});
  ask(&b, 5, 10, at(11));
  expect_trades(execute(&b, ASK, X, 50, at(10)), {X, 45, 10});
  expect_counts(&b, {WB_COUNT_NOT_AT_HEAD, 1}, {WB_COUNT_ORPHAN, 1}, {WB_COUNT_ORPHANED_SHARES, 5});
  expect_queue(&b, ASK, {5, 10});
  done(&b);
}

Test(policies, all_act_while_halted) {
  for (int policy = WB_EXECUTE_AGENTS_FIRST; policy <= WB_EXECUTE_AGGRESSIVE; ++policy) {
    book b = with_policy((wb_execute_policy)policy, WB_DISPLACED_WITHDRAW);
    state(&b, WB_STATE_HALTED);
    bid(&b, X, 10, at(10)), bid(&b, 8, 10, at(10));
    expect_trades(execute(&b, BID, X, 15, at(10)), {X, 10, 10}, {8, 5, 10});
    expect_nothing_counted(&b);
    done(&b);
  }
}

Test(policies, without_agents_the_first_two_are_the_same) {
  for (int q = 1; q < 45; ++q) {
    uint64_t hashes[2];
    for (int policy = WB_EXECUTE_AGENTS_FIRST; policy <= WB_EXECUTE_NAMED; ++policy) {
      book b = with_policy((wb_execute_policy)policy, WB_DISPLACED_KEEP);
      ask(&b, 1, 10, at(9)), ask(&b, 2, 10, at(10)), ask(&b, X, 10, at(10)), ask(&b, 3, 10, at(10));
      execute(&b, ASK, X, q, at(10));
      hashes[policy] = wb_reference_state_hash(b.engine);
      done(&b);
    }
    cr_assert_eq(hashes[0], hashes[1]);
  }
}

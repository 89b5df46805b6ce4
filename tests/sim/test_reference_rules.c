/* Valid records, self-trade prevention, capacity, renumbering, seeds, counters and hashes. */
#include "book.h"

#include <criterion/criterion.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------
 * valid records */

static wb_record good(wb_record_type type) {
  return (wb_record){.ref = 1, .price = 10, .qty = 5, .arg = 1, .row = -1, .type = (uint8_t)type};
}

static bool is_bad(wb_record record) {
  book b = empty_book();
  bid(&b, 1, 10, at(10));
  uint64_t orders = wb_reference_book_hash(b.engine);
  int64_t of_type = record.type >= 1 && record.type <= 8
                        ? counter(&b, (wb_counter)(WB_COUNT_TYPE_ADD + record.type - 1))
                        : 0;
  send(&b, record);
  bool bad = counter(&b, WB_COUNT_BAD_RECORD) == 1;
  if (bad) {
    /* counted as that and as nothing else */
    expect_counts(&b, {WB_COUNT_BAD_RECORD, 1});
    cr_assert_eq(wb_reference_status(b.engine), WB_STATUS_BIT(WB_COUNT_BAD_RECORD));
    cr_assert_eq(wb_reference_book_hash(b.engine), orders);
    int64_t types = 0;
    for (int type = 0; type < WB_RECORD_TYPE_COUNT; ++type) {
      types += counter(&b, (wb_counter)(WB_COUNT_TYPE_ADD + type));
    }
    cr_assert_eq(types, 1);
    cr_assert_eq(wb_reference_state(b.engine), WB_STATE_TRADING);
  } else {
    cr_assert_eq(counter(&b, (wb_counter)(WB_COUNT_TYPE_ADD + record.type - 1)), of_type + 1);
  }
  done(&b);
  return bad;
}

/* fault seen elsewhere: unknown types become orders */
Test(valid, types_are_1_to_8) {
  for (int type = 0; type < 256; ++type) {
    wb_record r = good(WB_RECORD_ADD);
    r.type = (uint8_t)type;
    cr_assert_eq(is_bad(r), type < 1 || type > 8, "type %d", type);
  }
}

static bool flags_allowed(int type, int flags, int owner) {
  if (owner != 0 && (flags & (WB_FLAG_EDGE | WB_FLAG_ROW_END)) != 0) {
    return false;
  }
  int rest = flags & ~(WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END);
  bool both = type == WB_RECORD_ADD || type == WB_RECORD_AMEND;
  return rest == 0 || (both && rest == WB_FLAG_POST_ONLY) ||
         (type == WB_RECORD_ADD && (rest == WB_FLAG_IOC || rest == WB_FLAG_FOK ||
                                    rest == (WB_FLAG_POST_ONLY | WB_FLAG_SLIDE) ||
                                    (rest == WB_FLAG_NO_MATCH && owner == 0)));
}

Test(valid, each_type_has_its_flags_and_owners) {
  for (int type = 1; type <= WB_RECORD_TYPE_COUNT; ++type) {
    for (int flags = 0; flags < 256; ++flags) {
      for (int owner = 0; owner < 2; ++owner) {
        wb_record r = good((wb_record_type)type);
        r.flags = (uint8_t)flags;
        r.owner = (int16_t)owner;
        r.ref = owner == 0 ? 1 : own(1, 0);
        bool allowed = flags_allowed(type, flags, owner) && (owner == 0 || type <= WB_RECORD_AMEND);
        cr_assert_eq(is_bad(r), !allowed, "type %d flags %d owner %d", type, flags, owner);
      }
    }
  }
}

Test(valid, owners_and_references_go_together) {
  const int32_t refs[] = {INT32_MIN, -1, 0, WB_REF_AGENT_FIRST - 1, WB_REF_AGENT_FIRST, INT32_MAX};
  const int16_t owners[] = {INT16_MIN, -1, 0, 1, WB_OWNER_LAST};
  for (int type = 1; type <= WB_RECORD_EXECUTE; ++type) {
    for (size_t i = 0; i < COUNT_OF(refs); ++i) {
      for (size_t k = 0; k < COUNT_OF(owners); ++k) {
        wb_record r = good((wb_record_type)type);
        r.ref = refs[i];
        r.owner = owners[k];
        bool history = r.owner == 0 && r.ref >= 0 && r.ref < WB_REF_AGENT_FIRST;
        bool agent = r.owner > 0 && r.ref >= WB_REF_AGENT_FIRST && type != WB_RECORD_EXECUTE;
        cr_assert_eq(is_bad(r), !(history || agent), "type %d ref %d owner %d", type, r.ref,
                     r.owner);
      }
    }
  }
}

Test(valid, prices_are_in_range_where_they_are_looked_at) {
  const int32_t prices[] = {INT32_MIN,      -WB_PRICE_LIMIT - 1, -WB_PRICE_LIMIT,
                            WB_PRICE_LIMIT, WB_PRICE_LIMIT + 1,  INT32_MAX};
  for (int type = 1; type <= WB_RECORD_TYPE_COUNT; ++type) {
    bool looks = type == WB_RECORD_ADD || type == WB_RECORD_AMEND || type == WB_RECORD_EXECUTE;
    for (size_t i = 0; i < COUNT_OF(prices); ++i) {
      wb_record r = good((wb_record_type)type);
      r.price = prices[i];
      bool in_range = r.price >= -WB_PRICE_LIMIT && r.price <= WB_PRICE_LIMIT;
      cr_assert_eq(is_bad(r), looks && !in_range, "type %d price %d", type, r.price);
    }
  }
}

Test(valid, quantities_are_positive_where_they_are_looked_at) {
  const int32_t quantities[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
  for (int type = 1; type <= WB_RECORD_TYPE_COUNT; ++type) {
    bool looks = type != WB_RECORD_DELETE && type != WB_RECORD_STATE;
    for (size_t i = 0; i < COUNT_OF(quantities); ++i) {
      wb_record r = good((wb_record_type)type);
      r.qty = quantities[i];
      cr_assert_eq(is_bad(r), looks && r.qty <= 0, "type %d qty %d", type, r.qty);
    }
  }
}

Test(valid, arguments_are_in_range_where_they_are_looked_at) {
  const int32_t arguments[] = {INT32_MIN, -1, 0, 1, 2, 3, INT32_MAX};
  for (int type = 1; type <= WB_RECORD_TYPE_COUNT; ++type) {
    bool looks = type == WB_RECORD_NOTE || type == WB_RECORD_STATE;
    for (size_t i = 0; i < COUNT_OF(arguments); ++i) {
      wb_record r = good((wb_record_type)type);
      r.arg = arguments[i];
      bool in_range = r.arg >= 0 && r.arg <= 2;
      cr_assert_eq(is_bad(r), looks && !in_range, "type %d arg %d", type, r.arg);
    }
  }
}

Test(valid, prices_are_multiples_of_the_tick) {
  wb_book_rules rules = wb_book_rules_default();
  rules.tick_size = 100;
  rules.base = 12345; /* no part of it */
  book b = book_with(rules);
  bid(&b, 1, 5, 1000), bid(&b, 2, 5, -1000), bid(&b, 3, 5, 0);
  bid(&b, 4, 5, 1001), bid(&b, 4, 5, -1050), add(&b, BID, 4, 5, 999, WB_FLAG_IOC);
  amend(&b, BID, 1, 3, 1050);
  execute(&b, BID, 1, 3, 1050);
  expect_counts(&b, {WB_COUNT_BAD_RECORD, 5});
  wb_record sub_cent = {.price = 499950 + 1, .qty = 5, .type = WB_RECORD_NOTE};
  send(&b, sub_cent);
  expect_counts(&b, {WB_COUNT_BAD_RECORD, 5}, {WB_COUNT_HIDDEN_VOLUME, 5});
  expect_queue(&b, BID, {1, 5}, {3, 5}, {2, 5});
  done(&b);
}

/* fault seen elsewhere: an incoming order of no quantity throws another out of a full book */
Test(valid, a_bad_order_does_nothing_to_a_full_book) {
  wb_book_rules rules = wb_book_rules_default();
  rules.capacity = 2;
  book b = book_with(rules);
  bid(&b, 1, 5, at(9)), bid(&b, 2, 5, at(8));
  bid(&b, 3, 0, at(10));
  expect_queue(&b, BID, {1, 5}, {2, 5});
  expect_counts(&b, {WB_COUNT_BAD_RECORD, 1});
  done(&b);
}

/* -------------------------------------------------------------------------------------------------
 * self-trade prevention: history's 1 (10), agent 1's (20), history's 2 (30), all at 10 */

static book own_order_between(wb_self_trade mode) {
  wb_book_rules rules = wb_book_rules_default();
  rules.self_trade = mode;
  book b = book_with(rules);
  ask(&b, 1, 10, at(10)), ask(&b, own(1, 0), 20, at(10)), ask(&b, 2, 30, at(10));
  return b;
}

Test(self_trade, off_trades_with_oneself) {
  book b = own_order_between(WB_SELF_TRADE_OFF);
  expect_trades(buy(&b, own(1, 1), 35, at(10)), {1, 10}, {own(1, 0), 20}, {2, 5});
  expect_nothing_counted(&b);
  done(&b);
}

Test(self_trade, cancel_incoming) {
  book b = own_order_between(WB_SELF_TRADE_CANCEL_INCOMING);
  expect_trades(buy(&b, own(1, 1), 35, at(10)), {1, 10});
  expect_queue(&b, ASK, {own(1, 0), 20}, {2, 30});
  expect_empty(&b, BID); /* what was cancelled never rests */
  expect_counts(&b, {WB_COUNT_SELF_TRADE, 1});
  done(&b);
}

Test(self_trade, cancel_resting) {
  book b = own_order_between(WB_SELF_TRADE_CANCEL_RESTING);
  expect_trades(buy(&b, own(1, 1), 45, at(10)), {1, 10}, {2, 30});
  expect_empty(&b, ASK);
  expect_queue(&b, BID, {own(1, 1), 5});
  expect_counts(&b, {WB_COUNT_SELF_TRADE, 1});
  done(&b);
}

Test(self_trade, cancel_both) {
  book b = own_order_between(WB_SELF_TRADE_CANCEL_BOTH);
  expect_trades(buy(&b, own(1, 1), 35, at(10)), {1, 10});
  expect_queue(&b, ASK, {2, 30});
  expect_empty(&b, BID);
  expect_counts(&b, {WB_COUNT_SELF_TRADE, 1});
  done(&b);
}

Test(self_trade, decrement_both_when_the_incoming_is_larger) {
  book b = own_order_between(WB_SELF_TRADE_DECREMENT_BOTH);
  expect_trades(buy(&b, own(1, 1), 65, at(10)), {1, 10}, {2, 30});
  expect_empty(&b, ASK);
  expect_queue(&b, BID, {own(1, 1), 5}); /* it was not cancelled: 65 - 10 - 20 - 30 */
  cr_assert_eq(counter(&b, WB_COUNT_VOLUME), 40);
  expect_counts(&b, {WB_COUNT_SELF_TRADE, 1});
  done(&b);
}

Test(self_trade, decrement_both_when_the_resting_is_larger_or_equal) {
  book b = own_order_between(WB_SELF_TRADE_DECREMENT_BOTH);
  expect_trades(buy(&b, own(1, 1), 15, at(10)), {1, 10});
  expect_queue(&b, ASK, {own(1, 0), 15}, {2, 30});
  expect_empty(&b, BID);
  expect_no_trades(buy(&b, own(1, 1), 15, at(10)));
  expect_queue(&b, ASK, {2, 30});
  expect_counts(&b, {WB_COUNT_SELF_TRADE, 2});
  done(&b);
}

Test(self_trade, is_between_orders_of_one_agent_only) {
  for (int mode = WB_SELF_TRADE_OFF; mode <= WB_SELF_TRADE_DECREMENT_BOTH; ++mode) {
    book b = own_order_between((wb_self_trade)mode);
    expect_trades(buy(&b, 9, 15, at(10)), {1, 10}, {own(1, 0), 5});         /* history, history */
    expect_trades(buy(&b, own(2, 0), 20, at(10)), {own(1, 0), 15}, {2, 5}); /* another agent */
    expect_nothing_counted(&b);
    done(&b);
  }
}

Test(self_trade, market_ioc_and_amend_are_prevented_too) {
  book b = own_order_between(WB_SELF_TRADE_CANCEL_INCOMING);
  bid(&b, own(1, 1), 50, at(9));
  expect_trades(market(&b, BID, own(1, 2), 15), {1, 10});
  expect_no_trades(add(&b, BID, own(1, 2), 15, at(10), WB_FLAG_IOC));
  /* the amended order is the incoming one: what was cancelled of it is gone */
  expect_no_trades(amend(&b, BID, own(1, 1), 50, at(10)));
  expect_empty(&b, BID);
  expect_queue(&b, ASK, {own(1, 0), 20}, {2, 30});
  expect_counts(&b, {WB_COUNT_SELF_TRADE, 3});
  cancel(&b, BID, own(1, 1));
  expect_counts(&b, {WB_COUNT_SELF_TRADE, 3}, {WB_COUNT_UNKNOWN_REF, 1});
  done(&b);
}

Test(self_trade, does_not_concern_executions) {
  book b = own_order_between(WB_SELF_TRADE_CANCEL_BOTH);
  expect_trades(execute(&b, ASK, 2, 40, at(10)), {own(1, 0), 20}, {2, 20});
  expect_counts(&b, {WB_COUNT_NOT_AT_HEAD, 1}, {WB_COUNT_WITHDRAWN_SHARES, 10});
  done(&b);
}

Test(self_trade, fok_counts_up_to_the_first_own_order) {
  for (int mode = WB_SELF_TRADE_CANCEL_INCOMING; mode <= WB_SELF_TRADE_DECREMENT_BOTH; ++mode) {
    bool skips = mode == WB_SELF_TRADE_CANCEL_RESTING;
    book b = own_order_between((wb_self_trade)mode);
    add(&b, BID, own(1, 1), 11, at(10), WB_FLAG_FOK);
    if (skips) {
      check_trades(&b, (const fill[]){{1, 10}, {2, 1}}, 2, __LINE__);
      expect_counts(&b, {WB_COUNT_SELF_TRADE, 1});
    } else {
      check_trades(&b, NULL, 0, __LINE__);
      expect_counts(&b, {WB_COUNT_REJECTED, 1});
      /* exactly what stands before it is enough */
      expect_trades(add(&b, BID, own(1, 1), 10, at(10), WB_FLAG_FOK), {1, 10});
      expect_counts(&b, {WB_COUNT_REJECTED, 1});
    }
    done(&b);
  }
}

Test(self_trade, fok_with_cancel_resting_skips_own_orders_and_may_still_fail) {
  book b = own_order_between(WB_SELF_TRADE_CANCEL_RESTING);
  add(&b, BID, own(1, 1), 41, at(10), WB_FLAG_FOK); /* 60 rest, 40 of others */
  expect_counts(&b, {WB_COUNT_REJECTED, 1});
  expect_queue(&b, ASK, {1, 10}, {own(1, 0), 20}, {2, 30});
  expect_trades(add(&b, BID, own(1, 1), 40, at(10), WB_FLAG_FOK), {1, 10}, {2, 30});
  expect_counts(&b, {WB_COUNT_REJECTED, 1}, {WB_COUNT_SELF_TRADE, 1});
  done(&b);
}

/* -------------------------------------------------------------------------------------------------
 * capacity */

static book small_book(int32_t capacity, wb_capacity_rule rule) {
  wb_book_rules rules = wb_book_rules_default();
  rules.capacity = capacity;
  rules.capacity_rule = rule;
  return book_with(rules);
}

/* fault seen elsewhere: a full book overwrites its last slot or loses a whole level */
Test(capacity, evict_lets_the_worst_order_go_for_a_better_one) {
  book b = small_book(3, WB_CAPACITY_EVICT);
  bid(&b, 1, 5, at(9)), bid(&b, 2, 5, at(8)), bid(&b, own(1, 0), 5, at(8));
  bid(&b, 4, 5, at(10));
  expect_queue(&b, BID, {4, 5}, {1, 5}, {2, 5}); /* the newer of the two at 8 went */
  expect_counts(&b, {WB_COUNT_EVICTED, 1});
  cancel(&b, BID, own(1, 0)); /* and is not found */
  expect_counts(&b, {WB_COUNT_EVICTED, 1}, {WB_COUNT_UNKNOWN_REF, 1});
  ask(&b, 5, 5, at(20)); /* the other side has its own capacity */
  expect_counts(&b, {WB_COUNT_EVICTED, 1}, {WB_COUNT_UNKNOWN_REF, 1});
  done(&b);
}

Test(capacity, evict_refuses_what_is_not_better_than_the_worst) {
  book b = small_book(2, WB_CAPACITY_EVICT);
  ask(&b, 1, 5, at(9)), ask(&b, 2, 5, at(10));
  int32_t next = wb_reference_next_arrival(b.engine);
  ask(&b, 3, 5, at(10)); /* equal price, newer */
  ask(&b, 3, 5, at(11));
  expect_counts(&b, {WB_COUNT_BOOK_FULL, 2});
  expect_queue(&b, ASK, {1, 5}, {2, 5});
  cr_assert_eq(wb_reference_next_arrival(b.engine), next); /* no number was used */
  cancel(&b, ASK, 3);
  expect_counts(&b, {WB_COUNT_BOOK_FULL, 2}, {WB_COUNT_ORPHAN, 1});
  done(&b);
}

Test(capacity, reject_refuses_whatever_the_price) {
  book b = small_book(2, WB_CAPACITY_REJECT);
  bid(&b, 1, 5, at(9)), bid(&b, 2, 5, at(8)), bid(&b, 3, 5, at(10));
  expect_counts(&b, {WB_COUNT_BOOK_FULL, 1});
  expect_queue(&b, BID, {1, 5}, {2, 5});
  cr_assert_eq(wb_reference_next_arrival(b.engine), 3);
  done(&b);
}

Test(capacity, only_the_rest_of_a_taker_is_refused) {
  for (int rule = WB_CAPACITY_EVICT; rule <= WB_CAPACITY_REJECT; ++rule) {
    book b = small_book(1, (wb_capacity_rule)rule);
    bid(&b, 1, 5, at(8)), ask(&b, 2, 5, at(10));
    expect_trades(buy(&b, 3, 5, at(10)), {2, 5}); /* nothing to rest */
    expect_nothing_counted(&b);
    ask(&b, 4, 5, at(8 + 1));
    expect_trades(buy(&b, 5, 7, at(9)), {4, 5});
    if (rule == WB_CAPACITY_EVICT) {
      expect_queue(&b, BID, {5, 2});
      expect_counts(&b, {WB_COUNT_EVICTED, 1});
    } else {
      expect_queue(&b, BID, {1, 5});
      expect_counts(&b, {WB_COUNT_BOOK_FULL, 1});
    }
    done(&b);
  }
}

Test(capacity, an_amend_finds_its_own_place_free) {
  for (int rule = WB_CAPACITY_EVICT; rule <= WB_CAPACITY_REJECT; ++rule) {
    book b = small_book(2, (wb_capacity_rule)rule);
    bid(&b, 1, 5, at(9)), bid(&b, 2, 5, at(8));
    amend(&b, BID, 1, 6, at(7));
    expect_queue(&b, BID, {2, 5}, {1, 6});
    state(&b, WB_STATE_HALTED);
    amend(&b, BID, 2, 6, at(6));
    expect_queue(&b, BID, {1, 6}, {2, 6});
    expect_nothing_counted(&b);
    done(&b);
  }
}

Test(capacity, a_refused_order_does_not_count_as_crossed) {
  book b = small_book(1, WB_CAPACITY_REJECT);
  bid(&b, 1, 5, at(9)), ask(&b, 2, 5, at(10));
  add(&b, BID, 3, 5, at(10), WB_FLAG_NO_MATCH);
  expect_counts(&b, {WB_COUNT_BOOK_FULL, 1});
  done(&b);
}

Test(capacity, post_only_is_judged_before_the_capacity_and_slides_before_it) {
  book b = small_book(1, WB_CAPACITY_EVICT);
  bid(&b, 1, 5, at(8)), ask(&b, 2, 5, at(9));
  add(&b, BID, 3, 5, at(9), WB_FLAG_POST_ONLY);
  expect_counts(&b, {WB_COUNT_REJECTED, 1});
  /* slid to 8, which is not better than what rests */
  add(&b, BID, 3, 5, at(9), WB_FLAG_POST_ONLY | WB_FLAG_SLIDE);
  expect_counts(&b, {WB_COUNT_REJECTED, 1}, {WB_COUNT_BOOK_FULL, 1});
  expect_queue(&b, BID, {1, 5});
  done(&b);
}

/* -------------------------------------------------------------------------------------------------
 * renumbering */

static book before_renumbering(int32_t next) {
  book b = empty_book();
  bid(&b, 1, 5, at(9)), ask(&b, 2, 5, at(11)), bid(&b, 3, 5, at(9)), bid(&b, 4, 5, at(8));
  cancel(&b, BID, 1);
  wb_error error;
  cr_assert_eq(wb_reference_set_next_arrival(b.engine, next, &error), WB_OK, "%s", error.text);
  return b;
}

static int32_t arrival_of(const book *b, wb_side side, int32_t ref) {
  wb_order orders[16];
  int64_t n = wb_reference_orders(b->engine, side, orders, 16);
  for (int64_t i = 0; i < n; ++i) {
    if (orders[i].ref == ref) {
      return orders[i].arrival;
    }
  }
  return 0;
}

Test(renumbering, not_before_its_point) {
  book b = before_renumbering(INT32_MAX - 1);
  bid(&b, 5, 5, at(9));
  cr_assert_eq(arrival_of(&b, BID, 5), INT32_MAX - 1);
  cr_assert_eq(arrival_of(&b, ASK, 2), 2);
  cr_assert_eq(wb_reference_next_arrival(b.engine), INT32_MAX); /* due at the next record */
  expect_no_trades(note(&b, WB_NOTE_HIDDEN, 1));
  cr_assert_eq(wb_reference_next_arrival(b.engine), 5);
  cr_assert_eq(arrival_of(&b, ASK, 2), 1);
  cr_assert_eq(arrival_of(&b, BID, 3), 2);
  cr_assert_eq(arrival_of(&b, BID, 4), 3);
  cr_assert_eq(arrival_of(&b, BID, 5), 4);
  done(&b);
}

Test(renumbering, at_its_point_before_the_record_acts) {
  book b = before_renumbering(INT32_MAX);
  bid(&b, 5, 5, at(9));
  cr_assert_eq(arrival_of(&b, BID, 5), 4);
  cr_assert_eq(wb_reference_next_arrival(b.engine), 5);
  expect_queue(&b, BID, {3, 5}, {5, 5}, {4, 5});
  bid(&b, 6, 5, at(9)); /* and goes on after it */
  cr_assert_eq(arrival_of(&b, BID, 6), 5);
  expect_trades(market(&b, ASK, 7, 15), {3, 5}, {5, 5}, {6, 5});
  done(&b);
}

Test(renumbering, even_for_a_bad_record) {
  book b = before_renumbering(INT32_MAX);
  bid(&b, 5, 0, at(9));
  expect_counts(&b, {WB_COUNT_BAD_RECORD, 1});
  cr_assert_eq(wb_reference_next_arrival(b.engine), 4);
  cr_assert_eq(arrival_of(&b, ASK, 2), 1);
  done(&b);
}

Test(renumbering, of_an_empty_book_starts_again_at_1) {
  book b = empty_book();
  cr_assert_eq(wb_reference_set_next_arrival(b.engine, INT32_MAX, NULL), WB_OK);
  cancel(&b, BID, 1);
  cr_assert_eq(wb_reference_next_arrival(b.engine), 1);
  done(&b);
}

Test(renumbering, the_next_number_is_above_those_that_rest) {
  book b = before_renumbering(100);
  wb_error error;
  cr_assert_eq(wb_reference_set_next_arrival(b.engine, 4, &error), WB_ERROR_ARGUMENT);
  cr_assert_not_null(strstr(error.text, "expected more than 4"));
  cr_assert_eq(wb_reference_set_next_arrival(b.engine, 5, &error), WB_OK);
  done(&b);
  b = empty_book();
  cr_assert_eq(wb_reference_set_next_arrival(b.engine, 0, NULL), WB_ERROR_ARGUMENT);
  done(&b);
}

/* -------------------------------------------------------------------------------------------------
 * seeds */

Test(seeds, rest_with_the_arrivals_they_carry_and_move_no_counter) {
  book b = empty_book();
  const wb_order orders[] = {{.ref = 4, .price = 11, .qty = 9, .arrival = 3, .side = ASK},
                             {.ref = 5, .price = 9, .qty = 8, .arrival = 7, .side = BID},
                             {.ref = own(1, 0), .price = 9, .qty = 6, .arrival = 2, .owner = 1},
                             {.ref = 0, .price = 9, .qty = 7, .arrival = 5, .side = BID}};
  bid(&b, 77, 5, at(9)), cancel(&b, BID, 78), state(&b, WB_STATE_HALTED); /* all forgotten */
  cr_assert_eq(wb_reference_load(b.engine, orders, 4, NULL), WB_OK);
  check_invariants(b.engine);
  expect_queue(&b, BID, {own(1, 0), 6}, {0, 7}, {5, 8});
  expect_queue(&b, ASK, {4, 9});
  cr_assert_eq(wb_reference_next_arrival(b.engine), 8);
  cr_assert_eq(wb_reference_state(b.engine), WB_STATE_TRADING);
  cr_assert_eq(wb_reference_status(b.engine), 0);
  for (int i = 0; i < WB_COUNTERS; ++i) {
    cr_assert_eq(wb_reference_counters(b.engine)[i], 0);
  }
  cr_assert_eq(wb_reference_load(b.engine, NULL, 0, NULL), WB_OK);
  expect_empty(&b, BID);
  cr_assert_eq(wb_reference_next_arrival(b.engine), 1);
  done(&b);
}

Test(seeds, that_cannot_rest_are_named) {
  const wb_order first = {.ref = 1, .price = 10, .qty = 5, .arrival = 1};
  wb_order wrong[] = {{.ref = 1, .price = 10, .qty = 5, .arrival = 2},
                      {.ref = 2, .price = 10, .qty = 5, .arrival = 1},
                      {.ref = 2, .price = 10, .qty = 5, .arrival = 0},
                      {.ref = 2, .price = 10, .qty = 5, .arrival = INT32_MAX},
                      {.ref = 2, .price = 10, .qty = 0, .arrival = 2},
                      {.ref = 2, .price = 15, .qty = 5, .arrival = 2},
                      {.ref = 2, .price = INT32_MIN, .qty = 5, .arrival = 2},
                      {.ref = -2, .price = 10, .qty = 5, .arrival = 2},
                      {.ref = 2, .price = 10, .qty = 5, .arrival = 2, .owner = 1},
                      {.ref = 2, .price = 10, .qty = 5, .arrival = 2, .owner = -1},
                      {.ref = 2, .price = 10, .qty = 5, .arrival = 2, .side = 2},
                      {.ref = 2, .price = 20, .qty = 5, .arrival = 2}}; /* one too many */
  const char *text[] = {"reference is given twice",
                        "arrival 1 is given twice",
                        "arrival",
                        "arrival",
                        "positive quantity",
                        "multiple of 10",
                        "price",
                        "ref",
                        "ref",
                        "owner",
                        "side",
                        "at most 1 orders"};
  wb_book_rules rules = wb_book_rules_default();
  rules.tick_size = 10;
  rules.capacity = 1;
  for (size_t i = 0; i < COUNT_OF(wrong); ++i) {
    book b = book_with(rules);
    wb_order orders[2] = {first, wrong[i]};
    wb_error error;
    cr_assert_eq(wb_reference_load(b.engine, orders, 2, &error), WB_ERROR_ARGUMENT, "case %zu", i);
    cr_assert_not_null(strstr(error.text, text[i]), "case %zu: %s", i, error.text);
    check_invariants(b.engine);
    expect_empty(&b, BID); /* and the book can go on */
    bid(&b, 1, 5, at(10));
    expect_queue(&b, BID, {1, 5});
    done(&b);
  }
}

Test(seeds, rules_are_checked_when_a_book_is_made) {
  wb_book_rules rules = wb_book_rules_default();
  rules.tick_size = 0;
  wb_reference *engine = NULL;
  wb_error error;
  cr_assert_eq(wb_reference_create(&rules, &engine, &error), WB_ERROR_ARGUMENT);
  cr_assert_not_null(strstr(error.text, "tick_size"));
  cr_assert_null(engine);
  wb_reference_free(NULL);
}

/* -------------------------------------------------------------------------------------------------
 * counters and hashes */

Test(counters, records_are_counted_by_type_even_if_refused) {
  book b = empty_book();
  state(&b, WB_STATE_HALTED);
  add(&b, BID, 1, 5, at(9), WB_FLAG_IOC), market(&b, BID, 1, 5), cancel(&b, BID, 9);
  reduce(&b, BID, 9, 1), amend(&b, BID, 9, 1, at(9)), execute(&b, BID, 9, 1, at(9));
  note(&b, WB_NOTE_HIDDEN, 1);
  for (int type = 0; type < WB_RECORD_TYPE_COUNT; ++type) {
    cr_assert_eq(counter(&b, (wb_counter)(WB_COUNT_TYPE_ADD + type)), 1);
  }
  expect_counts(&b, {WB_COUNT_REJECTED, 2}, {WB_COUNT_ORPHAN, 4}, {WB_COUNT_ORPHANED_SHARES, 1},
                {WB_COUNT_HIDDEN_VOLUME, 1});
  cr_assert_eq(wb_reference_status(b.engine),
               WB_STATUS_BIT(WB_COUNT_REJECTED) | WB_STATUS_BIT(WB_COUNT_ORPHAN));
  done(&b);
}

Test(counters, edge_records_are_counted_unless_bad) {
  book b = empty_book();
  add(&b, ASK, 1, 5, at(9), WB_FLAG_EDGE);
  add(&b, ASK, 1, 5, at(9), WB_FLAG_EDGE);
  add(&b, ASK, 2, 0, at(9), WB_FLAG_EDGE);
  expect_counts(&b, {WB_COUNT_EDGE_RECORDS, 2}, {WB_COUNT_DUPLICATE_REF, 1},
                {WB_COUNT_BAD_RECORD, 1});
  done(&b);
}

Test(counters, notional_is_taken_above_the_base) {
  wb_book_rules rules = wb_book_rules_default();
  rules.base = 6000000000;
  book b = book_with(rules);
  ask(&b, 1, 1000, at(123)), bid(&b, 2, 400, at(200));
  cr_assert_eq(counter(&b, WB_COUNT_NOTIONAL), 400 * 6000000123);
  expect_nothing_counted(&b);
  done(&b);
}

Test(counters, notional_saturates_at_both_ends_once_per_trade) {
  wb_book_rules rules = wb_book_rules_default();
  rules.base = 6123456700;
  book b = book_with(rules);
  ask(&b, 1, 1000000000, at(0)), bid(&b, 2, 1000000000, at(0));
  cr_assert_eq(counter(&b, WB_COUNT_NOTIONAL), 6123456700 * 1000000000);
  expect_nothing_counted(&b);
  ask(&b, 1, 1000000000, at(0)), bid(&b, 2, 1000000000, at(0)); /* the sum */
  cr_assert_eq(counter(&b, WB_COUNT_NOTIONAL), INT64_MAX);
  expect_counts(&b, {WB_COUNT_SATURATED, 1});
  ask(&b, 1, 1, at(-WB_PRICE_LIMIT)), bid(&b, 2, 1, at(0));
  expect_counts(&b, {WB_COUNT_SATURATED, 2}); /* still positive */
  done(&b);

  rules.base = INT64_MIN; /* base + price, the product and the sum at once */
  b = book_with(rules);
  ask(&b, 1, 10, at(-1)), bid(&b, 2, 10, at(0));
  cr_assert_eq(counter(&b, WB_COUNT_NOTIONAL), INT64_MIN);
  expect_counts(&b, {WB_COUNT_SATURATED, 1});
  done(&b);
}

Test(hashes, the_chain_of_examples) {
  book b = empty_book();
  const struct {
    uint64_t orders, state;
  } chain[] = {{0x0000000000000000, 0x4df790e74546a11d}, {0xe1f521a9b379c44d, 0x8e3a1c3d047ec067},
               {0x0347faf91227b44f, 0xd02ec26cb31dfaed}, {0x2fa7440fe11fd7cc, 0xfb6397b78ef67178},
               {0x2fcf6b6486282ac9, 0x059072c5003c3232}, {0x2fcf6b6486282ac9, 0x4eda15f81f941246},
               {0x2fcf6b6486282ac9, 0x31e1185effe91447}};
  wb_record agents = {.ref = WB_REF_AGENT_FIRST + 8,
                      .price = 9999,
                      .qty = 10,
                      .owner = 1,
                      .type = WB_RECORD_ADD,
                      .flags = WB_FLAG_SIDE};
  for (size_t i = 0; i < COUNT_OF(chain); ++i) {
    switch (i) {
    case 0: break;
    case 1: ask(&b, 7, 100, at(10000)); break;
    case 2: expect_trades(buy(&b, 8, 30, at(10001)), {7, 30, 10000}); break;
    case 3: send(&b, agents); break;
    case 4: execute(&b, ASK, 7, 40, at(10000)); break;
    case 5: bid(&b, 9, 0, at(-5)); break;
    default: cancel(&b, BID, 99); break;
    }
    cr_assert_eq(wb_reference_book_hash(b.engine), chain[i].orders, "after %zu", i);
    cr_assert_eq(wb_reference_state_hash(b.engine), chain[i].state, "after %zu", i);
  }
  done(&b);
}

Test(hashes, tell_priority_apart_but_not_the_way_there) {
  book a = empty_book();
  book b = empty_book();
  bid(&a, 1, 5, at(9)), bid(&a, 2, 5, at(9));
  bid(&b, 2, 5, at(9)), bid(&b, 1, 5, at(9));
  cr_assert_neq(wb_reference_book_hash(a.engine), wb_reference_book_hash(b.engine));
  bid(&a, 3, 5, at(9)), cancel(&a, BID, 3);
  done(&b);
  b = empty_book();
  bid(&b, 1, 7, at(9)), bid(&b, 2, 5, at(9)), reduce(&b, BID, 1, 2);
  cr_assert_eq(wb_reference_book_hash(a.engine), wb_reference_book_hash(b.engine));
  cr_assert_neq(wb_reference_state_hash(a.engine), wb_reference_state_hash(b.engine));
  done(&a);
  done(&b);
}

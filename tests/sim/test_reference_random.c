/* The reference book under streams that nobody wrote: against the ladder of the stream generator,
 * under records of random bytes, and under random mixes of all that is legal and nearly legal.
 *
 * Seeds are fixed and named in every message. WB_TEST_RECORDS, if set, multiplies the work. */
#include "base/hash.h"
#include "book.h"
#include "sim/reference_state.h"
#include "stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static int64_t more(int64_t records) {
  const char *factor = getenv("WB_TEST_RECORDS");
  int64_t times = factor != NULL ? atoll(factor) : 1;
  return records * (times > 0 ? times : 1);
}

static uint64_t draw(uint64_t *random) { return wb_mix64(*random += WB_HASH_GOLDEN); }

static int32_t below(uint64_t *random, int32_t n) {
  return (int32_t)((draw(random) >> 32) * (uint64_t)n >> 32);
}

/* -------------------------------------------------------------------------------------------------
 * against the generator's ladder */

static int32_t best_of(const wb_reference *engine, wb_side side) {
  wb_level level = {0};
  wb_reference_levels(engine, side, &level, 1);
  return level.price;
}

static void see(void *context, const wb_trade *trade) {
  uint64_t *hash = context;
  *hash = stream_trade(*hash, trade->maker, trade->taker, trade->price, trade->qty);
}

/* every trade, the best prices after every record, and two sweeps that tell the whole book */
static void check_stream(stream_options options) {
  stream flow;
  cr_assert(stream_make(&options, &flow));
  wb_book_rules rules = wb_book_rules_default();
  wb_reference *engine;
  cr_assert_eq(wb_reference_create(&rules, &engine, NULL), WB_OK);
  uint64_t trades = 0;
  uint64_t best = 0;
  wb_reference_on_trade(engine, see, &trades);
  for (int64_t i = 0; i < flow.count; ++i) {
    cr_assert_eq(wb_reference_apply(engine, &flow.records[i], (int32_t)i, NULL), WB_OK);
    if (i < flow.timed) {
      best = stream_best(best, best_of(engine, BID), best_of(engine, ASK));
    }
    if (i % 5000 == 0) {
      check_invariants(engine);
    }
  }
  const int64_t *counters = wb_reference_counters(engine);
  cr_assert_eq(trades, flow.trade_hash, "seed %d", (int)options.seed);
  cr_assert_eq(best, flow.best_hash, "seed %d", (int)options.seed);
  cr_assert_eq(counters[WB_COUNT_TRADES], flow.trades);
  cr_assert_eq(counters[WB_COUNT_VOLUME], flow.volume);
  cr_assert_eq(wb_reference_status(engine), 0);
  cr_assert_eq(wb_reference_orders(engine, BID, NULL, 0), 0);
  cr_assert_eq(wb_reference_orders(engine, ASK, NULL, 0), 0);
  wb_reference_free(engine);
  stream_free(&flow);
}

Test(stream, trades_and_best_prices_are_the_ladders) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    stream_options options = stream_options_default();
    options.seed = seed;
    options.records = more(50000);
    options.depth = seed % 4 == 3 ? 530 : seed % 4 == 2 ? 6 : 75;
    options.width = seed % 4 == 3 ? 40 : 10;
    options.partial_percent = seed % 2 == 0 ? 25 : 0;
    check_stream(options);
  }
}

/* -------------------------------------------------------------------------------------------------
 * records of random bytes */

static void check_trade(void *context, const wb_trade *trade) {
  const wb_reference *engine = context;
  cr_assert_gt(trade->qty, 0);
  int maker = trade->maker_owner & WB_TRADE_OWNER_MASK;
  int taker = trade->taker_owner & WB_TRADE_OWNER_MASK;
  cr_assert(maker == 0 || maker != taker || engine->rules.self_trade == WB_SELF_TRADE_OFF);
}

static wb_book_rules random_rules(uint64_t *random) {
  static const int32_t capacities[] = {0, 0, 1, 2, 7, 32, 100};
  static const int64_t bases[] = {0, 0, 1000000, INT64_MAX, INT64_MIN, -7};
  wb_book_rules rules = wb_book_rules_default();
  rules.base = bases[below(random, (int32_t)COUNT_OF(bases))];
  rules.tick_size = below(random, 3) == 0 ? 1 + below(random, 3) : 1;
  rules.capacity = capacities[below(random, (int32_t)COUNT_OF(capacities))];
  rules.capacity_rule = (wb_capacity_rule)below(random, 2);
  rules.execute_policy = (wb_execute_policy)below(random, 3);
  rules.displaced = (wb_displaced)below(random, 2);
  rules.self_trade = (wb_self_trade)below(random, 5);
  return rules;
}

Test(bytes, any_record_leaves_a_whole_book) {
  uint64_t random = 20;
  for (int round = 0; round < 20; ++round) {
    wb_book_rules rules = random_rules(&random);
    wb_reference *engine;
    cr_assert_eq(wb_reference_create(&rules, &engine, NULL), WB_OK);
    wb_reference_on_trade(engine, check_trade, engine);
    int64_t records = more(100000);
    for (int64_t i = 0; i < records; ++i) {
      wb_record r;
      uint64_t words[4] = {draw(&random), draw(&random), draw(&random), draw(&random)};
      memcpy(&r, words, sizeof r);
      if (i % 2 == 0) {
        /* half of them nearly right, so that some get past the checks */
        r.type = (uint8_t)(r.type % 10);
        r.owner = (int16_t)(r.owner & 1);
        r.ref = (r.ref & 0x3f) | (r.owner != 0 ? WB_REF_AGENT_FIRST : 0);
        r.flags &= (uint8_t)draw(&random) & (uint8_t)draw(&random);
        r.arg &= 3;
      }
      cr_assert_eq(wb_reference_apply(engine, &r, (int32_t)i, NULL), WB_OK);
      if (i % 499 == 0) {
        check_invariants(engine);
      }
    }
    const int64_t *counters = wb_reference_counters(engine);
    cr_assert_gt(counters[WB_COUNT_BAD_RECORD], records / 2);
    cr_assert_gt(counters[WB_COUNT_TYPE_ADD], records / 1000);
    wb_reference_free(engine);
  }
}

/* -------------------------------------------------------------------------------------------------
 * a crowded book of all types, flags, owners and states */

static uint8_t random_flags(uint64_t *random, int type, int owner) {
  static const uint8_t of_add[] = {0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   0,
                                   WB_FLAG_IOC,
                                   WB_FLAG_FOK,
                                   WB_FLAG_POST_ONLY,
                                   WB_FLAG_POST_ONLY | WB_FLAG_SLIDE,
                                   WB_FLAG_NO_MATCH};
  int flags = below(random, 2) == 0 ? WB_FLAG_SIDE : 0;
  if (type == WB_RECORD_ADD) {
    flags |= of_add[below(random, (int32_t)COUNT_OF(of_add) - (owner != 0))];
  } else if (type == WB_RECORD_AMEND && below(random, 3) == 0) {
    flags |= WB_FLAG_POST_ONLY;
  }
  if (owner == 0 && below(random, 20) == 0) {
    flags |= WB_FLAG_EDGE;
  }
  return (uint8_t)flags;
}

static wb_record random_record(uint64_t *random, const wb_book_rules *rules) {
  static const uint8_t types[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3, 3, 4, 5, 5, 5, 6, 6, 7, 8};
  int type = types[below(random, (int32_t)COUNT_OF(types))];
  int owner = below(random, 3);
  owner = type >= WB_RECORD_EXECUTE ? 0 : owner;
  int state = below(random, 8);
  return (wb_record){.time_ns = (int64_t)draw(random),
                     .ref = owner == 0 ? below(random, 60) : own(owner, below(random, 30)),
                     .price = (below(random, 21) - 10) * rules->tick_size,
                     .qty = 1 + below(random, below(random, 50) == 0 ? 2000000000 : 40),
                     .arg = type == WB_RECORD_STATE ? (state > 2 ? 0 : state) : below(random, 3),
                     .row = -1,
                     .owner = (int16_t)owner,
                     .type = (uint8_t)type,
                     .flags = random_flags(random, type, owner)};
}

static int64_t resting_shares(const wb_reference *engine) {
  int64_t sum = 0;
  for (int s = 0; s < 2; ++s) {
    for (size_t i = 0; i < engine->resting.sides[s].count; ++i) {
      sum += engine->resting.sides[s].levels[i].qty;
    }
  }
  return sum;
}

/* shares neither appear nor vanish: what rests afterwards is what rested, less what traded or
 * withdrew, and for an order that takes all of its rest or none of it */
static void check_shares(const wb_reference *engine, const wb_record *r, const int64_t *before,
                         int64_t rested) {
  const int64_t *after = engine->counters;
  int64_t traded = after[WB_COUNT_VOLUME] - before[WB_COUNT_VOLUME];
  int64_t withdrawn = after[WB_COUNT_WITHDRAWN_SHARES] - before[WB_COUNT_WITHDRAWN_SHARES];
  int64_t now = resting_shares(engine);
  bool quiet = after[WB_COUNT_EVICTED] == before[WB_COUNT_EVICTED] &&
               after[WB_COUNT_SELF_TRADE] == before[WB_COUNT_SELF_TRADE];
  if (r->type == WB_RECORD_EXECUTE) {
    int64_t orphaned = after[WB_COUNT_ORPHANED_SHARES] - before[WB_COUNT_ORPHANED_SHARES];
    cr_assert_eq(now, rested - traded - withdrawn);
    cr_assert_eq(traded + orphaned, r->qty);
  } else if (r->type == WB_RECORD_ADD && quiet) {
    cr_assert(now == rested - traded || now == rested - traded + (r->qty - traded));
  } else if (r->type == WB_RECORD_MARKET && quiet) {
    cr_assert_eq(now, rested - traded);
  } else if (r->type == WB_RECORD_NOTE || r->type == WB_RECORD_STATE) {
    cr_assert_eq(now, rested);
  }
  cr_assert(traded <= r->qty);
  cr_assert(traded == 0 || engine->state == WB_STATE_TRADING || r->type == WB_RECORD_EXECUTE);
}

/* an order may only rest locked or crossed if that was counted */
static void check_spread(const wb_reference *engine) {
  wb_level bid;
  wb_level ask;
  bool both = wb_reference_levels(engine, BID, &bid, 1) == 1 &&
              wb_reference_levels(engine, ASK, &ask, 1) == 1;
  cr_assert(!both || bid.price < ask.price || engine->counters[WB_COUNT_CROSSED] > 0);
}

static void add_counters(int64_t *sum, const int64_t *counters) {
  for (int i = 0; i < WB_COUNTERS; ++i) {
    sum[i] += counters[i] > 0;
  }
}

Test(crowd, shares_are_conserved_and_everything_happens) {
  uint64_t random = 30;
  int64_t met[WB_COUNTERS] = {0};
  for (int round = 0; round < 200; ++round) {
    wb_book_rules rules = random_rules(&random);
    wb_reference *engine;
    cr_assert_eq(wb_reference_create(&rules, &engine, NULL), WB_OK);
    wb_reference_on_trade(engine, check_trade, engine);
    for (int64_t i = 0; i < more(2500); ++i) {
      wb_record r = random_record(&random, &rules);
      int64_t before[WB_COUNTERS];
      memcpy(before, engine->counters, sizeof before);
      int64_t rested = resting_shares(engine);
      cr_assert_eq(wb_reference_apply(engine, &r, (int32_t)i, NULL), WB_OK);
      check_shares(engine, &r, before, rested);
      check_spread(engine);
      if (i % 7 == 0) {
        check_invariants(engine);
      }
    }
    cr_assert_eq(engine->counters[WB_COUNT_BAD_RECORD], 0);
    add_counters(met, engine->counters);
    wb_reference_free(engine);
  }
  for (int i = 0; i < WB_COUNTERS; ++i) {
    bool never = i == WB_COUNT_BAD_RECORD || i == WB_COUNT_TRADES_LOST;
    cr_assert(never || met[i] > 0, "counter %d was never met", i);
  }
}

/* -------------------------------------------------------------------------------------------------
 * properties of pairs of books */

typedef struct pair {
  wb_reference *books[2];
  uint64_t trades[2];
} pair;

static void start_pair(pair *p, const wb_book_rules *first, const wb_book_rules *second) {
  *p = (pair){0};
  cr_assert_eq(wb_reference_create(first, &p->books[0], NULL), WB_OK);
  cr_assert_eq(wb_reference_create(second, &p->books[1], NULL), WB_OK);
  for (int i = 0; i < 2; ++i) {
    wb_reference_on_trade(p->books[i], see, &p->trades[i]);
  }
}

static void apply_pair(pair *p, const wb_record *r, int32_t index) {
  cr_assert_eq(wb_reference_apply(p->books[0], r, index, NULL), WB_OK);
  cr_assert_eq(wb_reference_apply(p->books[1], r, index, NULL), WB_OK);
  cr_assert_eq(p->trades[0], p->trades[1], "record %d", index);
}

static void end_pair(pair *p) {
  wb_reference_free(p->books[0]);
  wb_reference_free(p->books[1]);
}

static void check_same_queues(const pair *p, wb_side side) {
  wb_order orders[2][256];
  int64_t n = wb_reference_orders(p->books[0], side, orders[0], 256);
  cr_assert_leq(n, 256);
  cr_assert_eq(wb_reference_orders(p->books[1], side, orders[1], 256), n);
  for (int64_t i = 0; i < n; ++i) {
    cr_assert(orders[0][i].ref == orders[1][i].ref && orders[0][i].qty == orders[1][i].qty &&
              orders[0][i].price == orders[1][i].price);
  }
}

Test(pairs, renumbering_at_any_moment_changes_no_trade) {
  uint64_t random = 40;
  for (int round = 0; round < 40; ++round) {
    wb_book_rules rules = random_rules(&random);
    pair p;
    start_pair(&p, &rules, &rules);
    for (int32_t i = 0; i < 2000; ++i) {
      wb_record r = random_record(&random, &rules);
      if (below(&random, 10) == 0 && wb_reference_next_arrival(p.books[1]) < INT32_MAX / 2) {
        int32_t early = below(&random, 3);
        cr_assert_eq(wb_reference_set_next_arrival(p.books[1], INT32_MAX - early, NULL), WB_OK);
      }
      apply_pair(&p, &r, i);
      check_same_queues(&p, BID);
      check_same_queues(&p, ASK);
    }
    for (int i = 0; i < WB_COUNTERS; ++i) {
      cr_assert_eq(p.books[0]->counters[i], p.books[1]->counters[i]);
    }
    end_pair(&p);
  }
}

Test(pairs, a_capacity_that_never_fills_changes_nothing) {
  uint64_t random = 50;
  for (int round = 0; round < 40; ++round) {
    wb_book_rules rules = random_rules(&random);
    rules.capacity = 0;
    wb_book_rules large = rules;
    large.capacity = 150; /* more references than there are */
    pair p;
    start_pair(&p, &rules, &large);
    for (int32_t i = 0; i < 2000; ++i) {
      wb_record r = random_record(&random, &rules);
      apply_pair(&p, &r, i);
      cr_assert_eq(wb_reference_state_hash(p.books[0]), wb_reference_state_hash(p.books[1]));
    }
    end_pair(&p);
  }
}

/* what a book says of itself is what a sweep of it takes */
Test(pairs, two_sweeps_take_the_orders_in_the_order_told) {
  uint64_t random = 60;
  for (int round = 0; round < 60; ++round) {
    wb_book_rules rules = random_rules(&random);
    book b = book_with(rules);
    for (int32_t i = 0; i < 500; ++i) {
      send(&b, random_record(&random, &rules));
    }
    state(&b, WB_STATE_TRADING);
    for (int s = 0; s < 2; ++s) {
      wb_side side = (wb_side)s;
      wb_order orders[256];
      int64_t n = wb_reference_orders(b.engine, side, orders, 256);
      fill want[256];
      int64_t total = 0;
      for (int64_t i = 0; i < n; ++i) {
        want[i] = (fill){orders[i].ref, orders[i].qty, orders[i].price};
        total += orders[i].qty;
      }
      /* in pieces that a record can hold; an order cut by them is told in two trades */
      int32_t told = 0;
      for (; total > 0; total -= INT32_MAX) {
        market(&b, side == BID ? ASK : BID, 99999, total > INT32_MAX ? INT32_MAX : (int32_t)total);
        for (int32_t i = 0; i < b.trade_count; ++i) {
          cr_assert_eq(b.trades[i].maker, want[told].maker);
          want[told].qty -= b.trades[i].qty;
          told += want[told].qty == 0;
        }
      }
      cr_assert_eq(told, n);
      expect_empty(&b, side);
    }
    done(&b);
  }
}

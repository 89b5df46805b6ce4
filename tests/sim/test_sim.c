/* A batch of books: every result equals the reference's, whatever the number of books or threads,
 * wherever runs are cut, and after copies. */
#include "bench/stream.h"
#include "sim/reference.h"
#include "sim/sim.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 6000, TAPES = 3, LEVELS = 10 };

/* An emulated GPU is slow: it gets a tenth of the records. */
static int64_t part(int64_t records);

typedef struct market {
  stream flow[TAPES];
  wb_tape *tapes[TAPES];
} market;

/* Tapes of different lengths over the same flow, the last one with a seed and a tick of 2. */
static market open_market(void) {
  market m;
  for (int i = 0; i < TAPES; i++) {
    stream_options options = stream_options_default();
    options.seed = 40 + (uint64_t)i;
    options.records = part(RECORDS) + 100 * i;
    options.partial_percent = 30;
    cr_assert(stream_make(&options, &m.flow[i]));
    m.tapes[i] = wb_tape_new();
    cr_assert_not_null(m.tapes[i]);
    m.tapes[i]->records = m.flow[i].records;
    m.tapes[i]->record_count = m.flow[i].count;
    m.tapes[i]->ref_count = m.flow[i].refs;
    m.tapes[i]->tick_size = 1;
    m.tapes[i]->unique_refs = true;
  }
  static wb_order seed[2] = {
      {.ref = 0, .price = 900000, .qty = 7, .arrival = 1, .side = WB_SIDE_ASK},
      {.ref = 1, .price = -900000, .qty = 9, .arrival = 2, .side = WB_SIDE_BID}};
  wb_tape *last = m.tapes[TAPES - 1];
  seed[0].ref = last->ref_count;
  seed[1].ref = last->ref_count + 1;
  last->seed = seed;
  last->seed_count = 2;
  last->ref_count += 2;
  last->tick_size = 2;
  for (int64_t i = 0; i < last->record_count; i++) {
    last->records[i].price *= 2;
  }
  return m;
}

static void close_market(market *m) {
  for (int i = 0; i < TAPES; i++) {
    wb_tape_free(m->tapes[i]);
    stream_free(&m->flow[i]);
  }
}

/* A market that is closed where its block ends. */
#define MARKET(name) market name __attribute__((cleanup(close_market))) = open_market()

/* The same tests run on every device: $WB_TEST_DEVICE, else the CPU. */
static const char *test_device(void) {
  const char *name = getenv("WB_TEST_DEVICE");
  return name != NULL && name[0] != '\0' ? name : "cpu";
}

static int64_t part(int64_t records) {
  return strcmp(test_device(), "cpu") == 0 ? records : records / 10;
}

static wb_sim_config config_for(const market *m, int32_t books) {
  wb_sim_config config = wb_sim_config_default();
  config.books = books;
  config.device = test_device();
  config.rules.capacity = 256;
  config.tapes = (const wb_tape *const *)m->tapes;
  config.tape_count = TAPES;
  return config;
}

static wb_sim *make(const wb_sim_config *config) {
  wb_error error;
  wb_sim *sim = NULL;
  cr_assert_eq(wb_sim_create(config, &sim, &error), WB_OK, "%s", error.text);
  return sim;
}

static void run(wb_sim *sim, int64_t records) {
  wb_error error;
  cr_assert_eq(wb_sim_run(sim, records, &error), WB_OK, "%s", error.text);
}

static void hashes(wb_sim *sim, int32_t books, uint64_t *book, uint64_t *state) {
  wb_error error;
  cr_assert_eq(wb_sim_hashes(sim, 0, books, book, state, &error), WB_OK, "%s", error.text);
}

static void load(wb_sim *sim, int32_t book, int32_t tape, int64_t first, int64_t end,
                 const wb_order *orders, int64_t count) {
  wb_error error;
  cr_assert_eq(wb_sim_load(sim, book, tape, first, end, orders, count, &error), WB_OK, "%s",
               error.text);
}

static wb_reference *reference_at(const wb_tape *tape, int64_t end) {
  wb_error error;
  wb_book_rules rules = wb_book_rules_default();
  rules.base = tape->base;
  rules.tick_size = tape->tick_size;
  rules.capacity = 256;
  wb_reference *book = NULL;
  cr_assert_eq(wb_reference_create(&rules, &book, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_reference_load(book, tape->seed, tape->seed_count, &error), WB_OK);
  for (int64_t i = 0; i < end; i++) {
    cr_assert_eq(wb_reference_apply(book, &tape->records[i], (int32_t)i, &error), WB_OK);
  }
  return book;
}

static void expect_equal(wb_sim *sim, int32_t number, const wb_reference *book) {
  wb_error error;
  uint64_t book_hash, state_hash;
  cr_assert_eq(wb_sim_hashes(sim, number, 1, &book_hash, &state_hash, &error), WB_OK);
  cr_assert_eq(book_hash, wb_reference_book_hash(book), "book %d", number);
  cr_assert_eq(state_hash, wb_reference_state_hash(book), "book %d", number);
  wb_sim_book view;
  cr_assert_eq(wb_sim_read_book(sim, number, &view, &error), WB_OK);
  cr_assert_arr_eq(view.counters, wb_reference_counters(book), sizeof view.counters);
  cr_assert_eq(view.status, wb_reference_status(book));
  cr_assert_eq(view.next_arrival, wb_reference_next_arrival(book));
  for (int side = 0; side < 2; side++) {
    wb_level got[LEVELS], expected[LEVELS];
    int32_t count;
    cr_assert_eq(wb_sim_levels(sim, number, (wb_side)side, got, LEVELS, &count, &error), WB_OK);
    cr_assert_eq(count, wb_reference_levels(book, (wb_side)side, expected, LEVELS));
    cr_assert_arr_eq(got, expected, (size_t)count * sizeof *got);
    wb_order orders[256], expected_orders[256];
    int64_t resting;
    cr_assert_eq(wb_sim_orders(sim, number, (wb_side)side, orders, 256, &resting, &error), WB_OK);
    cr_assert_eq(resting, wb_reference_orders(book, (wb_side)side, expected_orders, 256));
    cr_assert_arr_eq(orders, expected_orders, (size_t)resting * sizeof *orders);
  }
}

Test(sim, books_on_their_own_tapes_equal_the_reference) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 7);
  wb_sim *sim = make(&config);
  for (int32_t book = 0; book < 7; book++) {
    load(sim, book, book % TAPES, 0, book == 6 ? part(1234) : -1, NULL, 0);
  }
  run(sim, 1000000);
  for (int32_t book = 0; book < 7; book++) {
    const wb_tape *tape = m.tapes[book % TAPES];
    wb_reference *expected = reference_at(tape, book == 6 ? part(1234) : tape->record_count);
    expect_equal(sim, book, expected);
    wb_sim_book view;
    cr_assert_eq(wb_sim_read_book(sim, book, &view, NULL), WB_OK);
    cr_assert_eq(view.tape, book % TAPES);
    cr_assert_eq(view.cursor, view.end);
    wb_reference_free(expected);
  }
  wb_sim_free(sim);
}

Test(sim, threads_books_and_cuts_change_nothing) {
  MARKET(m);
  uint64_t book[33], state[33], expected_book, expected_state;
  wb_sim_config config = config_for(&m, 1);
  config.threads = 1;
  wb_sim *whole = make(&config);
  run(whole, part(4321));
  hashes(whole, 1, &expected_book, &expected_state);
  static const int64_t steps[] = {1, 7, 32, 1000, 4321};
  for (int32_t threads = 1; threads <= 5; threads += 2) {
    for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
      config = config_for(&m, 33);
      config.threads = threads;
      wb_sim *sim = make(&config);
      for (int64_t done = 0, all = part(4321); done < all; done += steps[s]) {
        run(sim, steps[s] < all - done ? steps[s] : all - done);
      }
      hashes(sim, 33, book, state);
      for (int i = 0; i < 33; i++) {
        cr_assert_eq(book[i], expected_book, "threads %d, step %zu, book %d", threads, s, i);
        cr_assert_eq(state[i], expected_state, "threads %d, step %zu, book %d", threads, s, i);
      }
      wb_sim_free(sim);
    }
  }
  wb_sim_free(whole);
}

Test(sim, the_kernel_for_everything_gives_what_the_special_one_gives) {
  MARKET(m);
  uint64_t book[2], state[2];
  for (int all = 0; all < 2; all++) {
    wb_sim_config config = config_for(&m, 1);
    config.all_features = all == 1;
    wb_sim *sim = make(&config);
    run(sim, 1000000);
    hashes(sim, 1, &book[all], &state[all]);
    wb_sim_free(sim);
  }
  cr_assert_eq(book[0], book[1]);
  cr_assert_eq(state[0], state[1]);
}

/* A book in the middle of its tape, as the orders that rest there. */
static int64_t orders_at(const wb_tape *tape, int64_t at, wb_order *orders, int64_t most) {
  wb_reference *book = reference_at(tape, at);
  int64_t asks = wb_reference_orders(book, WB_SIDE_ASK, orders, most);
  int64_t bids = wb_reference_orders(book, WB_SIDE_BID, orders + asks, most - asks);
  wb_reference_free(book);
  return asks + bids;
}

Test(sim, a_book_can_start_inside_its_tape) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 2);
  wb_sim *sim = make(&config);
  wb_order orders[512];
  int64_t count = orders_at(m.tapes[1], part(3000), orders, 512);
  load(sim, 1, 1, part(3000), part(5000), orders, count);
  run(sim, 1000000);
  uint64_t book_hash;
  cr_assert_eq(wb_sim_hashes(sim, 1, 1, &book_hash, NULL, NULL), WB_OK);
  /* arrivals go on from the largest that rests, so only what rests can be compared */
  wb_order got[512], expected[512];
  wb_reference *end = reference_at(m.tapes[1], part(5000));
  for (int side = 0; side < 2; side++) {
    int64_t resting;
    cr_assert_eq(wb_sim_orders(sim, 1, (wb_side)side, got, 512, &resting, NULL), WB_OK);
    cr_assert_eq(resting, wb_reference_orders(end, (wb_side)side, expected, 512));
    for (int64_t i = 0; i < resting; i++) {
      cr_assert_eq(got[i].ref, expected[i].ref);
      cr_assert_eq(got[i].qty, expected[i].qty);
      cr_assert_eq(got[i].price, expected[i].price);
    }
  }
  wb_reference_free(end);
  wb_sim_free(sim);
}

Test(sim, agents_orders_may_be_loaded_and_are_met) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 2);
  wb_sim *sim = make(&config);
  wb_order orders[513];
  int64_t count = orders_at(m.tapes[0], part(2000), orders, 512);
  orders[count] = (wb_order){.ref = WB_REF_AGENT_FIRST + 5,
                             .price = orders[0].price, /* the best ask */
                             .qty = 40,
                             .arrival = 1 << 20,
                             .owner = 3,
                             .side = WB_SIDE_ASK};
  load(sim, 0, 0, part(2000), -1, orders, count + 1);
  wb_error error;
  cr_assert_eq(wb_sim_record(sim, WB_TRADES_OWNERS, 64, 0, 0, &error), WB_OK, "%s", error.text);
  run(sim, 1000000);
  wb_trade trades[64];
  int64_t taken;
  cr_assert_eq(wb_sim_take_trades(sim, 0, trades, 64, &taken, NULL), WB_OK);
  cr_assert_gt(taken, 0);
  int64_t filled = 0;
  for (int64_t i = 0; i < taken; i++) {
    cr_assert_eq(trades[i].maker, WB_REF_AGENT_FIRST + 5);
    cr_assert_eq(trades[i].maker_owner, WB_TRADE_MAKER_ASK | 3);
    filled += trades[i].qty;
  }
  cr_assert_eq(filled, 40);
  wb_sim_free(sim);
}

static int64_t total_trades;

static void count_trade(void *context, const wb_trade *trade) {
  wb_trade *all = context;
  all[total_trades++] = *trade;
}

Test(sim, rings_hold_the_trades_and_count_what_they_lose) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 2);
  config.trades = WB_TRADES_ALL;
  config.trade_room = 50000;
  wb_sim *sim = make(&config);
  run(sim, 1000000);
  wb_trade *expected = malloc(50000 * sizeof *expected), *got = malloc(50000 * sizeof *got);
  wb_book_rules rules = wb_book_rules_default();
  wb_reference *book = NULL;
  cr_assert_eq(wb_reference_create(&rules, &book, NULL), WB_OK);
  wb_reference_on_trade(book, count_trade, expected);
  for (int64_t i = 0; i < m.tapes[0]->record_count; i++) {
    cr_assert_eq(wb_reference_apply(book, &m.tapes[0]->records[i], (int32_t)i, NULL), WB_OK);
  }
  int64_t count;
  cr_assert_eq(wb_sim_take_trades(sim, 1, got, 50000, &count, NULL), WB_OK);
  cr_assert_eq(count, total_trades);
  cr_assert_arr_eq(got, expected, (size_t)count * sizeof *got);
  cr_assert_eq(wb_sim_take_trades(sim, 1, got, 50000, &count, NULL), WB_OK);
  cr_assert_eq(count, 0, "taking empties the ring");
  wb_sim_free(sim);

  config.trade_room = 10;
  sim = make(&config);
  run(sim, 1000000);
  wb_sim_book view;
  cr_assert_eq(wb_sim_read_book(sim, 0, &view, NULL), WB_OK);
  cr_assert_eq(view.trades_kept, 10);
  cr_assert_eq(view.counters[WB_COUNT_TRADES], total_trades);
  cr_assert_eq(view.counters[WB_COUNT_TRADES_LOST], total_trades - 10);
  cr_assert(view.status & WB_STATUS_BIT(WB_COUNT_TRADES_LOST));
  cr_assert_eq(wb_sim_take_trades(sim, 0, got, 50000, &count, NULL), WB_OK);
  cr_assert_eq(count, 10);
  cr_assert_arr_eq(got, expected, 10 * sizeof *got, "the first ones stay");
  uint64_t state_hash;
  cr_assert_eq(wb_sim_hashes(sim, 0, 1, NULL, &state_hash, NULL), WB_OK);
  cr_assert_eq(state_hash, wb_reference_state_hash(book), "rings are not in the hash");
  wb_reference_free(book);
  wb_sim_free(sim);
  free(expected);
  free(got);
}

Test(sim, questions_to_all_books_have_the_references_answers) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 3);
  wb_sim *sim = make(&config);
  for (int32_t book = 0; book < 3; book++) {
    load(sim, book, book, 0, part(2500) + 100 * book, NULL, 0);
  }
  run(sim, 1000000);
  wb_level levels[3][2][LEVELS];
  wb_error error;
  cr_assert_eq(wb_sim_all_levels(sim, LEVELS, &levels[0][0][0], &error), WB_OK, "%s", error.text);
  for (int32_t book = 0; book < 3; book++) {
    wb_reference *expected = reference_at(m.tapes[book], part(2500) + 100 * book);
    for (int side = 0; side < 2; side++) {
      wb_level level[LEVELS] = {0};
      (void)wb_reference_levels(expected, (wb_side)side, level, LEVELS);
      cr_assert_arr_eq(levels[book][side], level, sizeof level);
      int64_t shares[3];
      cr_assert_eq(wb_sim_volume_at(sim, (wb_side)side, level[2].price, shares, NULL), WB_OK);
      cr_assert_eq(shares[book], level[2].qty);
      wb_order orders[256];
      int64_t resting = wb_reference_orders(expected, (wb_side)side, orders, 256);
      for (int64_t i = 0; i < resting; i += 5) {
        cr_assert_eq(wb_sim_queue_ahead(sim, (wb_side)side, orders[i].ref, shares, NULL), WB_OK);
        cr_assert_eq(shares[book],
                     wb_reference_queue_ahead(expected, (wb_side)side, orders[i].ref));
      }
    }
    wb_reference_free(expected);
  }
  wb_sim_free(sim);
}

Test(sim, a_clone_a_copy_and_a_restored_book_go_on_alike) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 4);
  wb_sim *sim = make(&config), *other = make(&config);
  run(sim, part(1500));
  uint8_t odd[4] = {0, 1, 0, 1}, first[4] = {1, 0, 0, 0};
  size_t bytes = wb_sim_state_bytes(sim, 2);
  unsigned char *saved = malloc(bytes);
  wb_error error;
  cr_assert_eq(wb_sim_save(sim, odd, saved, bytes, &error), WB_OK, "%s", error.text);
  run(sim, 1000000);
  uint64_t book[4], state[4], again_book[4], again_state[4];
  hashes(sim, 4, book, state);

  cr_assert_eq(wb_sim_restore(other, odd, saved, bytes, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_sim_restore(sim, odd, saved, bytes, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_sim_clone(sim, 3, first, &error), WB_OK, "%s", error.text);
  run(other, 1000000);
  hashes(other, 4, again_book, again_state);
  cr_assert_eq(again_state[1], state[1]);
  cr_assert_eq(again_state[0], state[0]);
  hashes(sim, 4, again_book, again_state);
  cr_assert_neq(again_book[1], book[1], "restored to the middle");
  cr_assert_eq(again_book[0], again_book[3], "cloned");
  cr_assert_eq(again_book[2], book[2], "not masked: untouched");
  run(sim, 1000000);
  hashes(sim, 4, again_book, again_state);
  cr_assert_arr_eq(again_state, state, sizeof state);

  cr_assert_eq(wb_sim_load(other, 2, 1, 0, -1, NULL, 0, &error), WB_OK);
  cr_assert_eq(wb_sim_copy(other, sim, NULL, &error), WB_OK, "%s", error.text);
  hashes(other, 4, again_book, again_state);
  cr_assert_arr_eq(again_state, state, sizeof state);
  free(saved);
  wb_sim_free(sim);
  wb_sim_free(other);
}

Test(sim, a_damaged_state_is_refused_and_changes_nothing) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 1);
  wb_sim *sim = make(&config);
  run(sim, part(1500));
  size_t bytes = wb_sim_state_bytes(sim, 1);
  unsigned char *saved = malloc(bytes);
  wb_error error;
  cr_assert_eq(wb_sim_save(sim, NULL, saved, bytes, &error), WB_OK);
  uint64_t before, after;
  hashes(sim, 1, &before, NULL);
  cr_assert_eq(wb_sim_restore(sim, NULL, saved, bytes - 64, &error), WB_ERROR_ARGUMENT);
  unsigned seed = 12345, refused = 0;
  for (int i = 0; i < part(3000); i++) {
    seed = seed * 1103515245u + 12345u;
    size_t bit = seed % (8 * bytes);
    saved[bit / 8] ^= (unsigned char)(1u << bit % 8);
    if (wb_sim_restore(sim, NULL, saved, bytes, &error) != WB_OK) {
      refused++;
      cr_assert_eq(error.status, WB_ERROR_FORMAT, "%s", error.text);
      hashes(sim, 1, &after, NULL);
      cr_assert_eq(after, before, "%s", error.text);
    } else {
      /* what is accepted must be safe to run; a flipped quantity is another valid book */
      run(sim, 1000000);
      cr_assert_eq(wb_sim_wait(sim, &error), WB_OK, "%s", error.text);
      saved[bit / 8] ^= (unsigned char)(1u << bit % 8);
      cr_assert_eq(wb_sim_restore(sim, NULL, saved, bytes, &error), WB_OK);
      continue;
    }
    saved[bit / 8] ^= (unsigned char)(1u << bit % 8);
  }
  cr_assert_gt(refused, part(1000));
  free(saved);
  wb_sim_free(sim);
}

Test(sim, arrivals_are_renumbered_where_the_reference_does) {
  MARKET(m);
  wb_sim_config config = config_for(&m, 2);
  wb_sim *sim = make(&config);
  run(sim, part(1000));
  wb_error error;
  cr_assert_eq(wb_sim_set_next_arrival(sim, 1, INT32_MAX - 20, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_sim_set_next_arrival(sim, 0, 1, &error), WB_ERROR_ARGUMENT);
  wb_reference *book = reference_at(m.tapes[0], part(1000));
  cr_assert_eq(wb_reference_set_next_arrival(book, INT32_MAX - 20, &error), WB_OK);
  run(sim, part(1000));
  for (int32_t i = (int32_t)part(1000); i < 2 * part(1000); i++) {
    cr_assert_eq(wb_reference_apply(book, &m.tapes[0]->records[i], i, &error), WB_OK);
  }
  expect_equal(sim, 1, book);
  wb_reference_free(book);
  wb_sim_free(sim);
}

static void *run_one(void *context) {
  const market *m = context;
  wb_sim_config config = config_for(m, 5);
  config.threads = 2;
  wb_sim *sim = make(&config);
  run(sim, 1000000);
  uint64_t state[5];
  hashes(sim, 5, state, state);
  wb_sim_free(sim);
  return (void *)(uintptr_t)state[0];
}

Test(sim, several_in_one_process_do_not_disturb_each_other) {
  MARKET(m);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    cr_assert_eq(pthread_create(&threads[i], NULL, run_one, &m), 0);
  }
  void *first = run_one(&m);
  for (int i = 0; i < 4; i++) {
    void *state;
    cr_assert_eq(pthread_join(threads[i], &state), 0);
    cr_assert_eq(state, first);
  }
}

Test(sim, bad_arguments_are_named) {
  MARKET(m);
  wb_error error;
  wb_sim *sim = NULL;
  wb_sim_config config = config_for(&m, 0);
  cr_assert_eq(wb_sim_create(&config, &sim, &error), WB_ERROR_ARGUMENT);
  cr_assert_str_eq(error.text, "sim: books: expected 1 to 4194304, got 0");
  config = config_for(&m, 1);
  config.rules.capacity = 100;
  cr_assert_eq(wb_sim_create(&config, &sim, &error), WB_ERROR_ARGUMENT);
  cr_assert_not_null(strstr(error.text, "100"), "%s", error.text);
  config = config_for(&m, 1);
  config.device = "abacus";
  cr_assert_eq(wb_sim_create(&config, &sim, &error), WB_ERROR_ARGUMENT);
  cr_assert_not_null(strstr(error.text, "abacus"), "%s", error.text);
  config = config_for(&m, 1);
  config.threads = -3;
  cr_assert_eq(wb_sim_create(&config, &sim, &error), WB_ERROR_ARGUMENT);
  config = config_for(&m, 1);
  config.tape_count = 0;
  cr_assert_eq(wb_sim_create(&config, &sim, &error), WB_ERROR_ARGUMENT);
  const wb_tape *holed[] = {config.tapes[0], NULL};
  config.tapes = holed;
  config.tape_count = 2;
  cr_assert_eq(wb_sim_create(&config, &sim, &error), WB_ERROR_ARGUMENT);
  cr_assert_str_eq(error.text, "sim: tapes[1]: expected a tape, got NULL");
  config = config_for(&m, WB_SIM_BOOKS_MAX);
  config.rules.capacity = 8192;
  cr_assert_eq(wb_sim_create(&config, &sim, &error), WB_ERROR_MEMORY);
  cr_assert_not_null(strstr(error.text, "4194304 books"), "%s", error.text);
  config = config_for(&m, 2);
  sim = make(&config);
  cr_assert_eq(wb_sim_load(sim, 2, 0, 0, -1, NULL, 0, &error), WB_ERROR_ARGUMENT);
  cr_assert_str_eq(error.text, "sim: book: expected 0 to 1, got 2");
  cr_assert_eq(wb_sim_load(sim, 0, TAPES, 0, -1, NULL, 0, &error), WB_ERROR_ARGUMENT);
  cr_assert_eq(wb_sim_load(sim, 0, 0, 5, 4, NULL, 0, &error), WB_ERROR_ARGUMENT);
  cr_assert_eq(wb_sim_load(sim, 0, 0, 0, 1 << 30, NULL, 0, &error), WB_ERROR_ARGUMENT);
  cr_assert_eq(wb_sim_run(sim, -1, &error), WB_ERROR_ARGUMENT);
  cr_assert_eq(wb_sim_hashes(sim, 1, 2, NULL, NULL, &error), WB_ERROR_ARGUMENT);
  cr_assert_eq(wb_sim_all_levels(sim, 0, NULL, &error), WB_ERROR_ARGUMENT);
  cr_assert_eq(wb_sim_record(sim, WB_TRADES_ALL, -1, 0, 0, &error), WB_ERROR_ARGUMENT);
  wb_sim_free(sim);
  wb_sim_free(NULL);
}

/* The threads of a CPU device: every piece is done once, by the end of the call, whoever sleeps. */
#include "compiler/pool.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECES_MAX = 500 };

typedef struct tally {
  int32_t done[PIECES_MAX]; /* not atomic: a piece that two threads do, or none, shows */
  _Atomic int32_t now, most;
} tally;

static wb_pool *pool_of(int32_t threads) {
  wb_error error = {0};
  wb_pool *pool;
  cr_assert_eq(wb_pool_new(threads, &pool, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_pool_threads(pool), threads);
  return pool;
}

static void count_piece(void *context, int32_t piece) {
  tally *t = context;
  t->done[piece]++;
}

static void expect_counts(const tally *t, int32_t pieces, int32_t each) {
  for (int32_t i = 0; i < PIECES_MAX; i++) {
    cr_assert_eq(t->done[i], i < pieces ? each : 0, "piece %d", i);
  }
}

Test(pool, each_piece_is_done_once_by_the_end_of_the_call) {
  for (int32_t threads = 1; threads <= 9; threads += 2) {
    wb_pool *pool = pool_of(threads);
    for (int32_t round = 0; round < 3000; round++) {
      tally t = {.most = 0};
      int32_t pieces = round % 40;
      wb_pool_run(pool, count_piece, &t, pieces);
      expect_counts(&t, pieces, 1);
    }
    tally t = {.most = 0};
    for (int32_t round = 0; round < 200; round++) wb_pool_run(pool, count_piece, &t, PIECES_MAX);
    expect_counts(&t, PIECES_MAX, 200);
    wb_pool_free(pool);
  }
}

static void hold_piece(void *context, int32_t piece) {
  tally *t = context;
  t->done[piece]++;
  int32_t now = atomic_fetch_add(&t->now, 1) + 1, most = atomic_load(&t->most);
  while (now > most && !atomic_compare_exchange_weak(&t->most, &most, now)) {}
  usleep(2000);
  atomic_fetch_sub(&t->now, 1);
}

Test(pool, threads_work_at_the_same_time) {
  wb_pool *pool = pool_of(4);
  tally t = {.most = 0};
  wb_pool_run(pool, hold_piece, &t, 40);
  expect_counts(&t, 40, 1);
  cr_expect_geq(t.most, 2);
  cr_expect_leq(t.most, 4);
  wb_pool_free(pool);
}

/* Long enough between calls for all to be asleep, and pieces long enough for the caller to be. */
Test(pool, sleepers_are_woken) {
  wb_pool *pool = pool_of(3);
  int32_t shared = 0;
  for (int32_t round = 0; round < 20; round++) {
    tally t = {.most = 0};
    usleep(5000);
    wb_pool_run(pool, hold_piece, &t, 3);
    expect_counts(&t, 3, 1);
    shared += t.most > 1;
  }
  cr_expect_geq(shared, 1, "nobody came to help");
  usleep(5000);
  wb_pool_free(pool);
}

Test(pool, ends_asleep_awake_or_never_used) {
  for (int32_t round = 0; round < 300; round++) {
    wb_pool *pool = pool_of(1 + round % 5);
    tally t = {.most = 0};
    if (round % 3 != 0) wb_pool_run(pool, count_piece, &t, 7);
    if (round % 50 == 0) usleep(3000);
    wb_pool_free(pool);
  }
  wb_pool_free(NULL);
}

Test(pool, a_call_without_pieces_is_none) {
  wb_pool *pool = pool_of(2);
  wb_pool_run(pool, count_piece, NULL, 0);
  wb_pool_run(pool, count_piece, NULL, -1);
  wb_pool_free(pool);
}

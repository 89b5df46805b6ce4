/* The pool: one atomic word says which call it is and how many of its pieces are left to take.
 *
 *   ticket = number of the call << 32 | pieces left
 *
 * Who lowers it by one owns that piece, and until the piece is done the call is not over, so what belongs to
 * the call (work, context, pieces) may be read after taking a piece and never before. Keep to that order.
 *
 * Sleepers are never missed: a thread that goes to sleep says so and then looks once more, one that has
 * news publishes it and then looks for sleepers, and both orders are sequentially consistent. */
#include "compiler/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = 1500 /* each with a pause: some tens of microseconds */ };

struct wb_pool {
  _Atomic uint64_t ticket;
  _Atomic int32_t done;       /* pieces of this call */
  _Atomic int32_t asleep;     /* threads that sleep until there is a call */
  _Atomic bool caller_sleeps; /* until the last piece is done */
  _Atomic bool ends;
  wb_pool_work *work;
  void *context;
  int32_t pieces;
  pthread_mutex_t lock; /* of both conditions */
  pthread_cond_t called, finished;
  int32_t threads, started; /* the caller counted in; those that run beside it */
  pthread_t list[];
};

static uint64_t pieces_left(uint64_t ticket) { return ticket & UINT32_MAX; }

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/* ---- work ---- */

static void finish_piece(wb_pool *pool, int32_t pieces) {
  if (atomic_fetch_add(&pool->done, 1) + 1 < pieces) return;
  if (!atomic_load(&pool->caller_sleeps)) return;
  pthread_mutex_lock(&pool->lock);
  pthread_cond_signal(&pool->finished);
  pthread_mutex_unlock(&pool->lock);
}

/* Takes and does pieces until none is left to take. */
static void take_pieces(wb_pool *pool) {
  uint64_t ticket = atomic_load(&pool->ticket);
  while (pieces_left(ticket) > 0) {
    if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket - 1)) continue;
    const int32_t pieces = pool->pieces;
    pool->work(pool->context, (int32_t)(pieces_left(ticket) - 1));
    finish_piece(pool, pieces);
    ticket = atomic_load(&pool->ticket);
  }
}

/* Waits until there may be pieces to take; false if the pool ends. */
static bool await_call(wb_pool *pool) {
  for (int look = 0; look < LOOKS; look++) {
    if (atomic_load(&pool->ends)) return false;
    if (pieces_left(atomic_load(&pool->ticket)) > 0) return true;
    pause_briefly();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_fetch_add(&pool->asleep, 1);
  while (pieces_left(atomic_load(&pool->ticket)) == 0 && !atomic_load(&pool->ends)) {
    pthread_cond_wait(&pool->called, &pool->lock);
  }
  atomic_fetch_sub(&pool->asleep, 1);
  pthread_mutex_unlock(&pool->lock);
  return !atomic_load(&pool->ends);
}

static void *run_thread(void *argument) {
  wb_pool *pool = argument;
  while (await_call(pool)) take_pieces(pool);
  return NULL;
}

static void wake(wb_pool *pool) {
  if (atomic_load(&pool->asleep) == 0) return;
  pthread_mutex_lock(&pool->lock);
  pthread_cond_broadcast(&pool->called);
  pthread_mutex_unlock(&pool->lock);
}

static void await_pieces(wb_pool *pool) {
  for (int look = 0; look < LOOKS; look++) {
    if (atomic_load(&pool->done) == pool->pieces) return;
    pause_briefly();
  }
  pthread_mutex_lock(&pool->lock);
  atomic_store(&pool->caller_sleeps, true);
  while (atomic_load(&pool->done) < pool->pieces) {
    pthread_cond_wait(&pool->finished, &pool->lock);
  }
  atomic_store(&pool->caller_sleeps, false);
  pthread_mutex_unlock(&pool->lock);
}

void wb_pool_run(wb_pool *pool, wb_pool_work *work, void *context, int32_t pieces) {
  if (pieces <= 0) return;
  pool->work = work;
  pool->context = context;
  pool->pieces = pieces;
  atomic_store(&pool->done, 0);
  const uint64_t call = (atomic_load(&pool->ticket) >> 32) + 1;
  atomic_store(&pool->ticket, call << 32 | (uint32_t)pieces);
  wake(pool);
  take_pieces(pool);
  await_pieces(pool);
}

/* ---- the pool ---- */

int32_t wb_pool_threads(const wb_pool *pool) { return pool->threads; }

wb_status wb_pool_new(int32_t threads, wb_pool **out, wb_error *error) {
  *out = NULL;
  wb_pool *pool = calloc(1, sizeof *pool + (size_t)threads * sizeof pool->list[0]);
  if (pool == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "threads: no memory for %d", threads);
  pool->threads = threads;
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->called, NULL);
  pthread_cond_init(&pool->finished, NULL);
  while (pool->started < threads - 1) {
    int failed = pthread_create(&pool->list[pool->started], NULL, run_thread, pool);
    if (failed != 0) {
      wb_status status =
          WB_FAIL(error, WB_ERROR_MEMORY, "threads: number %d of %d could not be started: %s",
                  (int)pool->started + 2, (int)threads, strerror(failed));
      wb_pool_free(pool);
      return status;
    }
    pool->started++;
  }
  *out = pool;
  return WB_OK;
}

void wb_pool_free(wb_pool *pool) {
  if (pool == NULL) return;
  atomic_store(&pool->ends, true);
  pthread_mutex_lock(&pool->lock);
  pthread_cond_broadcast(&pool->called);
  pthread_mutex_unlock(&pool->lock);
  for (int32_t i = 0; i < pool->started; i++) pthread_join(pool->list[i], NULL);
  pthread_cond_destroy(&pool->finished);
  pthread_cond_destroy(&pool->called);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

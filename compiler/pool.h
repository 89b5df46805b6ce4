/* Threads that share the pieces of one piece of work after another: what a CPU device launches with.
 *
 * A call ends when every piece that was taken is done, not when every thread has come: on a machine that
 * others use too, a thread that is not scheduled holds nobody up. Threads wait actively for some tens of
 * microseconds, since the next launch mostly follows at once, and then sleep. */
#ifndef WB_COMPILER_POOL_H
#define WB_COMPILER_POOL_H

#include "base/status.h"

#include <stdint.h>

typedef struct wb_pool wb_pool;

/* Does piece number `piece`, from 0 up; called by several threads at once, each piece once. */
typedef void wb_pool_work(void *context, int32_t piece);

/* A pool of `threads`, of which the caller of wb_pool_run is one. WB_ERROR_MEMORY if one cannot be
 * started. A pool belongs to one thread at a time. */
wb_status wb_pool_new(int32_t threads, wb_pool **out, wb_error *error);
void wb_pool_free(wb_pool *pool); /* NULL is fine */

int32_t wb_pool_threads(const wb_pool *pool);

/* Returns when all pieces are done; what they wrote is seen by the caller. */
void wb_pool_run(wb_pool *pool, wb_pool_work *work, void *context, int32_t pieces);

#endif

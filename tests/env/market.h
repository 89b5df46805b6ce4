/* What the tests of the environment share: a made-up market, environments on it, and an independent
 * account of what happened in one, from the records that acted and the CPU reference book. */
#ifndef WB_TESTS_ENV_MARKET_H
#define WB_TESTS_ENV_MARKET_H

#include "env/env.h"

#include "data/input.h"
#include "sim/reference.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MUST(call)                                                 \
  do {                                                             \
    wb_error must_error = {0};                                     \
    wb_error *error = &must_error;                                 \
    cr_assert_eq((call), WB_OK, "%s: %s", #call, must_error.text); \
  } while (0)

/* The call fails with `expected`, and its text contains `part`. */
#define REFUSED(call, expected, part)                                               \
  do {                                                                              \
    wb_error refused_error = {0};                                                   \
    wb_error *error = &refused_error;                                               \
    wb_status refused_status = (call);                                              \
    cr_assert_eq(refused_status, expected, "%s: %d %s", #call, (int)refused_status, \
                 refused_error.text);                                               \
    cr_assert(strstr(refused_error.text, part) != NULL, "%s", refused_error.text);  \
  } while (0)

enum { TICK = 100, MID = 1000000 };

/* A tape of `rows` source rows, one record each, 10 ms apart on average: orders come and go around a
 * wandering price, history executes the best. `seed` makes it another one. */
wb_tape *make_market(uint64_t seed, int64_t rows);

/* An empty tape with this seed book (asks then bids) and these records, for scenes by hand; a record
 * with time 0 comes a second after the one before. */
wb_tape *make_scene(const wb_order *orders, int32_t order_count, const wb_record *records,
                    int64_t record_count);
wb_order resting(int32_t ref, wb_side side, int32_t price, int32_t qty);

/* The day of real data, or NULL if it is not there. */
wb_tape *real_day(const char *name);

/* A configuration on one tape: disabled autoreset, one execution agent, snapshots every 100 rows. */
wb_env_config config_on(const wb_tape *const *tape, const wb_env_agents *agents, int32_t groups);

double statistic(const wb_env_statistic *list, int32_t count, const char *name);

/* ---- an independent account ---- */

typedef struct party {
  int64_t cash, inventory, fees, volume, notional, taken_volume, taken_notional;
} party;

typedef struct witness {
  const wb_tape *tape;
  wb_reference *book;
  int64_t seen;  /* records of the episode that it has taken */
  int64_t index; /* of the next record */
  int64_t maker_fee, taker_fee, maker_rate, taker_rate;
  party agents[WB_ENV_AGENTS_MAX];
  int64_t market_volume, market_notional; /* of all trades but those of EDGE records */
  int64_t trades;
} witness;

/* Stands at the start of the episode that environment `e` has just begun. */
void witness_start(witness *w, wb_env *env, const wb_tape *tape, int32_t e,
                   const wb_book_rules *rules);
/* Takes the records that have acted since. */
void witness_follow(witness *w, wb_env *env, int32_t e);
void witness_end(witness *w);
/* The environment's book and accounts are the witness's. */
void witness_agrees(witness *w, wb_env *env, int32_t e);

/* bid + ask of the witness's book. */
int64_t witness_mid2(const witness *w);
int64_t witness_touch(const witness *w, wb_side side);

#endif

/* The book's kernels against the CPU reference on random streams, every record compared.
 *
 * A *configuration* fixes what a kernel is compiled for: capacity, rules, features. An *episode* is a
 * list of random records for it, made from a seed without looking at any book, so that it can be made
 * again, cut short and shrunk. Two books of the kernel run each episode: one takes a record per
 * launch and is compared with the reference after each - best quotes and trades; now and then levels,
 * orders, counters, hashes and the slab's invariants - and one takes launches of random lengths and
 * must end with the same bytes.
 *
 * Everything a run met is counted in a coverage; cells that stay 0 are errors of the test itself. */
#ifndef WB_TESTS_KERNELS_DIFF_H
#define WB_TESTS_KERNELS_DIFF_H

#include "base/record.h"
#include "base/rules.h"
#include "base/status.h"
#include "kernels/book.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- random numbers: splitmix64 ---- */

typedef struct rng {
  uint64_t state;
} rng;

uint64_t rng_next(rng *r);
int32_t rng_below(rng *r, int32_t n);                /* 0 <= x < n */
int32_t rng_between(rng *r, int32_t lo, int32_t hi); /* lo <= x <= hi */
bool rng_percent(rng *r, int32_t percent);

/* ---- configurations and episodes ---- */

typedef struct diff_config {
  const char *name;
  int32_t number;      /* diff_config_make(number) makes it again */
  wb_book_rules rules; /* with capacity */
  wb_book_features features;
  int32_t agents; /* owners 1..agents send records; 0: none do */
  bool any_bytes; /* records of random bytes may come */
} diff_config;

/* Number `i` of the configurations that a whole run goes through, 0..diff_config_count()-1. */
int32_t diff_config_count(void);
diff_config diff_config_make(int32_t i);

enum { DIFF_SEEDS_MOST = 64, DIFF_ROOM_MOST = 8 };

typedef struct diff_episode {
  wb_book_rules rules;  /* of the configuration, with base and tick of this episode */
  int32_t trade_room;   /* of the ring of the book that takes one record a launch */
  int32_t next_arrival; /* before the first record; 0: as the seed orders leave it */
  int32_t seed_count;
  wb_order seeds[DIFF_SEEDS_MOST];
  int64_t count;
  wb_record *records; /* of malloc */
} diff_episode;

/* Memory failure ends the program: this is a test. */
void diff_generate(const diff_config *config, uint64_t seed, int64_t records, diff_episode *made);
void diff_episode_free(diff_episode *episode);

/* ---- coverage ---- */

typedef struct diff_coverage diff_coverage;

diff_coverage *diff_coverage_new(void);
void diff_coverage_free(diff_coverage *coverage);
/* A record that both engines have taken: what it was, and how the counters moved. */
void diff_cover(diff_coverage *coverage, const wb_book_rules *rules, const wb_record *record,
                wb_trading_state state, const int64_t *before, const int64_t *after);
void diff_cover_spills(diff_coverage *coverage, bool add_spilled, bool lookup_spilled,
                       bool lookup_missed, bool renumbered);
void diff_coverage_join(diff_coverage *all, const diff_coverage *part);
/* Prints the table; returns how many cells are 0. */
int32_t diff_coverage_print(const diff_coverage *coverage, FILE *out);

/* ---- running ---- */

/* DIFF_GPU: device "cuda", as a rule the emulated one. */
typedef enum diff_target { DIFF_INTERPRETER, DIFF_COMPILED, DIFF_GPU } diff_target;

typedef struct diff_engine diff_engine; /* a configuration with its kernels */

/* Changes a program before it is used, to plant a fault. */
typedef wb_status diff_mutation(void *context, wb_program *program, wb_error *error);

/* NULL with `error` filled in if the kernels cannot be had. `mutate` may be NULL. */
diff_engine *diff_engine_new(const diff_config *config, diff_target target, diff_mutation *mutate,
                             void *context, wb_error *error);
void diff_engine_free(diff_engine *engine);

typedef struct diff_failure {
  int64_t record; /* the first after which something differed, -1: none */
  char text[512];
} diff_failure;

/* Runs an episode; `coverage` may be NULL. True if nothing differed. */
bool diff_run(diff_engine *engine, const diff_episode *episode, uint64_t seed,
              diff_coverage *coverage, diff_failure *failure);

/* Cuts an episode that differs to a short one that still does. */
void diff_shrink(diff_engine *engine, diff_episode *episode, uint64_t seed);

/* Prints an episode in the form of a test of test_found.c. */
void diff_print_test(const diff_config *config, const diff_episode *episode,
                     const diff_failure *failure, FILE *out);

/* All configurations, about `records` records in all, on as many threads as OpenMP gives. Prints the
 * first failure of each as a test, then the table if `table`. Returns the number of failures plus
 * that of empty cells (these only if `table`). */
int32_t diff_all(diff_target target, uint64_t seed, int64_t records, bool table, FILE *out);

#endif

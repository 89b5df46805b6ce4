/* A sim's own struct, shared by the files sim*.c. Not public. */
#ifndef WB_SIM_SIM_PRIVATE_H
#define WB_SIM_SIM_PRIVATE_H

#include "sim/sim.h"

#include "base/arena.h"
#include "base/hash.h"
#include "compiler/device.h"
#include "kernels/catalogue.h"

typedef struct sim_tape {
  int64_t offset, count; /* its records among those of all tapes */
  int64_t base;
  int32_t tick_size;
  int32_t seed_count;
  const wb_order *seed; /* in the sim's arena */
} sim_tape;

struct wb_sim {
  wb_device *device;
  wb_book_layout *layout;
  wb_book_rules rules;
  int32_t books;
  size_t slab_bytes;

  int32_t tape_count;
  sim_tape *tapes;
  wb_hash128 tapes_hash; /* of all records, bases and ticks */

  /* device memory */
  unsigned char *slabs;
  unsigned char *records;
  unsigned char *trades; /* [books][trade_room] wb_trade */
  unsigned char *rows;   /* [books][row_room][2 * row_levels] wb_level */
  unsigned char *answer; /* of the last query */
  size_t answer_bytes;
  int64_t record_count;
  int64_t trade_room, row_room;
  int32_t row_levels;

  /* kernels; run is NULL when the features have changed since it was compiled */
  wb_book_features features;
  wb_kernel_options kernel_options;
  wb_kernel *run;
  wb_kernel *queries[WB_QUERY_COUNT];
  double compile_seconds;

  unsigned char *image; /* one slab in host memory */
  wb_arena arena;
};

static inline unsigned char *sim_slab(const wb_sim *sim, int32_t book) {
  return sim->slabs + (size_t)book * sim->slab_bytes;
}

/* Bytes from the start of a slab to where its head is, so that a host can set cells of it. */
size_t sim_head_offset(const wb_sim *sim);

wb_status sim_check_book(const wb_sim *sim, int32_t book, wb_error *error);

/* Reads a book's slab to sim->image. WB_ERROR_INTERNAL if its kernel met what it was not made for. */
wb_status sim_read_slab(wb_sim *sim, int32_t book, wb_error *error);

/* Lets the message kernel expect what the slab image holds: agents' orders, a trading state. */
void sim_widen_features(wb_sim *sim, const void *image);

wb_status sim_compile_run(wb_sim *sim, wb_error *error);

/* Seconds that a compile took in all; 0 where the kernel came from the cache. */
static inline double sim_compile_time(const wb_kernel_report *report) {
  const wb_kernel_times *times = &report->times;
  return times->passes + times->open + times->translate + times->optimise + times->generate +
         times->load;
}

#endif

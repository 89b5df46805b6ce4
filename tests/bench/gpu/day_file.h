/* A recorded day as bench_gpu takes it along: what the book needs of a tape, in this machine's own
 * layout, with a checksum. Written by gpu_pack_day. */
#ifndef WB_TESTS_BENCH_DAY_FILE_H
#define WB_TESTS_BENCH_DAY_FILE_H

#include "base/hash.h"
#include "base/record.h"

#include <stdint.h>

#define DAY_MAGIC "warpday1"

typedef struct day_head {
  char magic[8];
  char name[40]; /* instrument and day */
  int64_t base, record_count, seed_count;
  int32_t tick_size, levels, unique_refs, capacity; /* the smallest capacity that never fills */
  wb_hash128 sum;                                   /* of records and seed orders, as they follow */
} day_head;

#endif

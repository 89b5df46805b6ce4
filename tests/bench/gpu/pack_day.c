/* gpu_pack_day INPUT FILE: reads a day in any form that warpbook reads and writes what bench_gpu takes
 * along (day_file.h). */
#include "day_file.h"

#include "data/input.h"
#include "kernels/layout.h"

#include <stdio.h>
#include <string.h>

static wb_hash128 sum_of(const wb_tape *tape) {
  wb_hasher hasher;
  wb_hasher_start(&hasher);
  wb_hasher_add(&hasher, tape->records, (size_t)tape->record_count * sizeof *tape->records);
  if (tape->seed_count > 0) {
    wb_hasher_add(&hasher, tape->seed, (size_t)tape->seed_count * sizeof *tape->seed);
  }
  return wb_hasher_end(&hasher);
}

static bool write_day(const wb_tape *tape, const char *path) {
  day_head head = {.magic = {0},
                   .base = tape->base,
                   .record_count = tape->record_count,
                   .seed_count = tape->seed_count,
                   .tick_size = tape->tick_size,
                   .levels = tape->levels < 32 ? tape->levels : 32,
                   .unique_refs = tape->unique_refs,
                   .capacity = wb_book_capacity_for(tape->counts.largest_side),
                   .sum = sum_of(tape)};
  memcpy(head.magic, DAY_MAGIC, sizeof head.magic);
  snprintf(head.name, sizeof head.name, "%.16s %.12s", tape->instrument, tape->day);
  FILE *file = fopen(path, "wb");
  if (file == NULL) return false;
  size_t records = (size_t)tape->record_count, seed = (size_t)tape->seed_count;
  bool good = fwrite(&head, sizeof head, 1, file) == 1 &&
              fwrite(tape->records, sizeof *tape->records, records, file) == records &&
              fwrite(tape->seed, sizeof *tape->seed, seed, file) == seed;
  return fclose(file) == 0 && good && head.capacity > 0;
}

int main(int argc, char **argv) {
  wb_error error;
  wb_tape *tape = NULL;
  if (argc != 3) {
    fprintf(stderr, "usage: gpu_pack_day INPUT FILE\n");
    return 2;
  }
  if (wb_tape_read(argv[1], NULL, &tape, &error) != WB_OK) {
    fprintf(stderr, "gpu_pack_day: %s\n", error.text);
    return 2;
  }
  bool good = write_day(tape, argv[2]);
  if (!good) fprintf(stderr, "gpu_pack_day: %s cannot be written\n", argv[2]);
  wb_tape_free(tape);
  return good ? 0 : 2;
}

/* Bulk random numbers of cuRAND on the device, against our own code: one sequence, whatever the lengths
 * of the fills, the offsets and the places in memory. */
#include "gpu.h"

#include "compiler/random.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 4 * 65536 * 2 + 1234 }; /* past changes of the counter's first word */

static const uint64_t seed = UINT64_C(0xdeadbeefcafebabe);

/* Fills one behind the other from a place in the sequence on, to an odd place in memory. */
typedef struct passage {
  uint64_t position;
  size_t place, lengths[8];
} passage;

static const passage passages[] = {{0, 0, {ROOM}},
                                   {0, 1, {10, 12, 1, 3, 63, 64, 65, 300001}},
                                   {5, 3, {70001, 1, 2}},
                                   {262143, 2, {2, 4095, 4096}},
                                   {(UINT64_C(1) << 34) + 2, 0, {100000, 7}}};

static wb_status fill(wb_bits *bits, const passage *p, uint32_t *memory, size_t *count,
                      wb_error *error) {
  *count = 0;
  WB_TRY(wb_bits_seek(bits, p->position, error));
  for (size_t i = 0; i < sizeof p->lengths / sizeof p->lengths[0]; i++) {
    WB_TRY(wb_bits_fill(bits, memory + p->place + *count, p->lengths[i], error));
    *count += p->lengths[i];
  }
  return WB_OK;
}

static int64_t count_different(const passage *p, const uint32_t *numbers, size_t count) {
  int64_t differences = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t block[4];
    const uint64_t at = p->position + i;
    wb_bits_block(seed, at / 4, block);
    differences += numbers[p->place + i] != block[at % 4];
  }
  return differences;
}

static wb_status compare(wb_device *device, wb_bits *bits, uint32_t *memory, int64_t *all,
                         int64_t *differences, wb_error *error) {
  uint32_t *numbers = gpu_memory((ROOM + 4) * sizeof *numbers);
  wb_status status = WB_OK;
  for (size_t i = 0; status == WB_OK && i < sizeof passages / sizeof passages[0]; i++) {
    size_t count = 0;
    status = fill(bits, &passages[i], memory, &count, error);
    if (status == WB_OK) {
      status = wb_device_read(device, numbers, memory, (ROOM + 4) * sizeof *numbers, error);
    }
    if (status != WB_OK) break;
    *all += (int64_t)count;
    *differences += count_different(&passages[i], numbers, count);
  }
  free(numbers);
  return status;
}

int64_t gpu_check_bits(wb_device *device) {
  wb_bits *bits;
  wb_error error;
  void *memory;
  int64_t all = 0, differences = 0;
  if (wb_bits_new(device, seed, WB_BITS_CURAND, &bits, &error) != WB_OK) {
    printf("random bits: nothing to compare with: %s\n", error.text);
    return 0;
  }
  GPU_MUST("bits", wb_device_allocate(device, (ROOM + 4) * sizeof(uint32_t), &memory, &gpu_error));
  if (compare(device, bits, memory, &all, &differences, &error) == WB_OK) {
    printf("random bits: %s: %" PRId64 " of %" PRId64 " numbers differ from our own\n",
           wb_bits_describe(bits), differences, all);
  } else {
    printf("random bits: %s does not work here: %s\n", wb_bits_describe(bits), error.text);
  }
  fflush(stdout);
  wb_bits_free(bits);
  wb_device_free(device, memory);
  return differences;
}

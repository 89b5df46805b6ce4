/* Philox4x32-10 and cuRAND's order of it, written as the definitions read: for tests. */
#ifndef WB_TESTS_COMPILER_PHILOX_H
#define WB_TESTS_COMPILER_PHILOX_H

#include <stdint.h>
#include <string.h>

/* One block, written as the definition reads. */
static inline void philox_block(uint64_t key, const uint32_t counter[4], uint32_t out[4]) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
  for (int round = 0; round < 10; round++) {
    uint64_t p = UINT64_C(0xd2511f53) * c0, q = UINT64_C(0xcd9e8d57) * c2;
    c0 = (uint32_t)(q >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)q;
    c2 = (uint32_t)(p >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p;
    k0 += 0x9e3779b9;
    k1 += 0xbb67ae85;
  }
  memcpy(out, (const uint32_t[4]){c0, c1, c2, c3}, 4 * sizeof *out);
}

/* Number `position` of a seed's sequence. */
static inline uint32_t philox_number(uint64_t seed, uint64_t position) {
  uint64_t block = position / 4;
  uint64_t run = block / 65536;
  const uint32_t counter[4] = {(uint32_t)run, (uint32_t)(run >> 32), (uint32_t)(block % 65536), 0};
  uint32_t words[4];
  philox_block(seed, counter, words);
  return words[position % 4];
}

#endif

/* A 128-bit hash of bytes: blocks of 16 bytes go into two lanes of multiply and mix, which exchange
 * after every block; the length goes in last. */
#include "base/hash.h"

#include <stdio.h>
#include <string.h>

static uint64_t rotate(uint64_t x, int by) { return (x << by) | (x >> (64 - by)); }

static uint64_t word_at(const unsigned char *bytes) {
  uint64_t word;
  memcpy(&word, bytes, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

static void take_block(wb_hasher *hasher, const unsigned char *block) {
  uint64_t low = (hasher->low ^ word_at(block)) * UINT64_C(0x9fb21c651e98df25);
  uint64_t high = (hasher->high ^ word_at(block + 8)) * UINT64_C(0xd6e8feb86659fd93);
  low ^= low >> 32;
  high ^= high >> 29;
  hasher->low = rotate(low, 27) + high;
  hasher->high = rotate(high, 31) ^ low;
}

void wb_hasher_start(wb_hasher *hasher) {
  memset(hasher, 0, sizeof *hasher);
  hasher->low = UINT64_C(0x243f6a8885a308d3);  /* digits of pi */
  hasher->high = UINT64_C(0x13198a2e03707344); /* its next ones */
}

void wb_hasher_add(wb_hasher *hasher, const void *data, size_t count) {
  const unsigned char *bytes = data;
  size_t held = (size_t)(hasher->length & 15);
  hasher->length += count;
  if (held > 0) {
    size_t take = 16 - held < count ? 16 - held : count;
    memcpy(hasher->pending + held, bytes, take);
    if (held + take < 16) {
      return;
    }
    take_block(hasher, hasher->pending);
    bytes += take;
    count -= take;
  }
  for (; count >= 16; bytes += 16, count -= 16) {
    take_block(hasher, bytes);
  }
  if (count > 0) {
    memcpy(hasher->pending, bytes, count);
  }
}

wb_hash128 wb_hasher_end(const wb_hasher *hasher) {
  wb_hasher last = *hasher;
  size_t held = (size_t)(last.length & 15);
  if (held > 0) {
    memset(last.pending + held, 0, 16 - held);
    take_block(&last, last.pending);
  }
  uint64_t low = wb_mix64(last.low + last.length * WB_HASH_GOLDEN);
  uint64_t high = wb_mix64(last.high + low);
  return (wb_hash128){wb_mix64(low + high), high};
}

wb_hash128 wb_hash_bytes(const void *bytes, size_t count) {
  wb_hasher hasher;
  wb_hasher_start(&hasher);
  wb_hasher_add(&hasher, bytes, count);
  return wb_hasher_end(&hasher);
}

void wb_hash128_text(wb_hash128 hash, char text[33]) {
  (void)snprintf(text, 33, "%016llx%016llx", (unsigned long long)hash.high,
                 (unsigned long long)hash.low);
}

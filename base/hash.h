/* Hashing: the 64-bit mixer that book hashes are made of, and a 128-bit hash of bytes that names
 * source files and compiled kernels. Neither is for secrets. */
#ifndef WB_BASE_HASH_H
#define WB_BASE_HASH_H

#include "status.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WB_HASH_GOLDEN UINT64_C(0x9e3779b97f4a7c15)

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t wb_mix64(uint64_t x) {
  x ^= x >> 30;
  x *= UINT64_C(0xbf58476d1ce4e5b9);
  x ^= x >> 27;
  x *= UINT64_C(0x94d049bb133111eb);
  x ^= x >> 31;
  return x;
}

typedef struct wb_hash128 {
  uint64_t low, high;
} wb_hash128;

/* A running 128-bit hash; start with wb_hasher_start. Chunk borders do not change the result. */
typedef struct wb_hasher {
  uint64_t low, high;
  uint64_t length;
  unsigned char pending[16]; /* bytes of an unfinished block */
} wb_hasher;

WB_API void wb_hasher_start(wb_hasher *hasher);
WB_API void wb_hasher_add(wb_hasher *hasher, const void *bytes, size_t count);
WB_API wb_hash128 wb_hasher_end(const wb_hasher *hasher);

/* The three calls in one. */
WB_API wb_hash128 wb_hash_bytes(const void *bytes, size_t count);

/* 32 lower-case hexadecimal digits, high word first, and the final 0. */
WB_API void wb_hash128_text(wb_hash128 hash, char text[33]);

#ifdef __cplusplus
}
#endif
#endif

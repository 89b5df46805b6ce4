/* Checked and saturating integer arithmetic. Each function returns true if the exact result fits. */
#ifndef WB_BASE_CHECK_H
#define WB_BASE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

static inline bool wb_add_i64(int64_t a, int64_t b, int64_t *sum) {
  return !__builtin_add_overflow(a, b, sum);
}

static inline bool wb_sub_i64(int64_t a, int64_t b, int64_t *difference) {
  return !__builtin_sub_overflow(a, b, difference);
}

static inline bool wb_mul_i64(int64_t a, int64_t b, int64_t *product) {
  return !__builtin_mul_overflow(a, b, product);
}

static inline bool wb_mul_size(size_t a, size_t b, size_t *product) {
  return !__builtin_mul_overflow(a, b, product);
}

/* Sums and products that stay at the nearest end of the range; *saturated is set, never cleared. */
static inline int64_t wb_add_sat_i64(int64_t a, int64_t b, bool *saturated) {
  int64_t sum;
  if (wb_add_i64(a, b, &sum)) {
    return sum;
  }
  *saturated = true;
  return a < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t wb_mul_sat_i64(int64_t a, int64_t b, bool *saturated) {
  int64_t product;
  if (wb_mul_i64(a, b, &product)) {
    return product;
  }
  *saturated = true;
  return (a < 0) != (b < 0) ? INT64_MIN : INT64_MAX;
}

#ifdef __cplusplus
}
#endif
#endif

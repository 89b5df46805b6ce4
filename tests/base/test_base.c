/* base: error texts, arena, hashing, checked arithmetic, progress bar. */
#define _GNU_SOURCE
#include "base/arena.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/progress.h"
#include "base/record.h"
#include "base/rules.h"
#include "base/status.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Test(status, a_text_is_kept_cut_and_prefixed) {
  wb_error error;
  cr_assert_eq(WB_FAIL(&error, WB_ERROR_IO, "%s: no such file", "a.csv"), WB_ERROR_IO);
  cr_assert_str_eq(error.text, "a.csv: no such file");
  cr_assert_eq(wb_error_prefix(&error, "line %d", 7), WB_ERROR_IO);
  cr_assert_str_eq(error.text, "line 7: a.csv: no such file");
  char text[3000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  wb_error_set(&error, WB_ERROR_IO, "%s", text);
  cr_assert_eq(strlen(error.text), WB_ERROR_TEXT_BYTES - 1);
  wb_error_prefix(&error, "%s", text);
  cr_assert_eq(strlen(error.text), WB_ERROR_TEXT_BYTES - 1);
  cr_assert_eq(wb_error_set(NULL, WB_ERROR_LIMIT, "nobody reads"), WB_ERROR_LIMIT);
}

Test(status, names) {
  cr_assert_str_eq(wb_status_name(WB_OK), "OK");
  cr_assert_str_eq(wb_status_name(WB_ERROR_FORMAT), "ERROR_FORMAT");
  cr_assert_str_eq(wb_status_name((wb_status)999), "UNKNOWN");
}

Test(record, both_are_32_bytes) {
  cr_assert_eq(sizeof(wb_record), 32);
  cr_assert_eq(sizeof(wb_trade), 32);
  cr_assert_eq(WB_STATUS_BIT_COUNT, 11);
  cr_assert_eq(WB_COUNTERS, 11 + 8 + 11);
}

Test(arena, gives_zeroed_aligned_memory_that_does_not_overlap) {
  wb_arena arena = {0};
  unsigned char *last = NULL;
  for (size_t i = 1; i < 3000; i += 7) {
    unsigned char *at = wb_arena_alloc(&arena, i);
    cr_assert_not_null(at);
    cr_assert_eq((uintptr_t)at % 16, 0);
    for (size_t k = 0; k < i; ++k) {
      cr_assert_eq(at[k], 0);
    }
    memset(at, 0xff, i);
    cr_assert(last == NULL || *last == 0xff);
    last = at;
  }
  cr_assert_null(wb_arena_alloc(&arena, 0));
  cr_assert_null(wb_arena_alloc(&arena, SIZE_MAX - 3));
  cr_assert_null(wb_arena_array(&arena, SIZE_MAX / 4, 8));
  cr_assert_str_eq(wb_arena_text(&arena, "tape"), "tape");
  wb_arena_free(&arena);
  cr_assert_null(arena.newest);
}

Test(hash, chunks_do_not_change_it_and_every_bit_does) {
  unsigned char bytes[100];
  for (size_t i = 0; i < sizeof bytes; ++i) {
    bytes[i] = (unsigned char)(i * 37);
  }
  wb_hash128 whole = wb_hash_bytes(bytes, sizeof bytes);
  for (size_t cut = 0; cut <= sizeof bytes; ++cut) {
    wb_hasher hasher;
    wb_hasher_start(&hasher);
    wb_hasher_add(&hasher, bytes, cut);
    wb_hasher_add(&hasher, bytes + cut, sizeof bytes - cut);
    wb_hash128 parts = wb_hasher_end(&hasher);
    cr_assert(parts.low == whole.low && parts.high == whole.high);
  }
  for (size_t bit = 0; bit < 8 * sizeof bytes; ++bit) {
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    wb_hash128 other = wb_hash_bytes(bytes, sizeof bytes);
    cr_assert(other.low != whole.low && other.high != whole.high);
    bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
  }
  /* trailing zeros count */
  unsigned char zeros[2] = {0, 0};
  cr_assert_neq(wb_hash_bytes(zeros, 1).low, wb_hash_bytes(zeros, 2).low);
}

Test(hash, text_has_32_digits) {
  char text[33];
  wb_hash128_text((wb_hash128){1, 2}, text);
  cr_assert_str_eq(text, "00000000000000020000000000000001");
}

Test(check, saturates_at_the_nearest_end) {
  bool saturated = false;
  cr_assert_eq(wb_add_sat_i64(INT64_MAX - 1, 1, &saturated), INT64_MAX);
  cr_assert_not(saturated);
  cr_assert_eq(wb_add_sat_i64(INT64_MAX, 1, &saturated), INT64_MAX);
  cr_assert(saturated);
  cr_assert_eq(wb_add_sat_i64(INT64_MIN, -1, &saturated), INT64_MIN);
  saturated = false;
  cr_assert_eq(wb_mul_sat_i64(INT64_C(1) << 40, -(INT64_C(1) << 40), &saturated), INT64_MIN);
  cr_assert(saturated);
}

Test(rules, each_field_is_checked_by_name) {
  wb_error error;
  wb_book_rules rules = wb_book_rules_default();
  cr_assert_eq(wb_book_rules_check(&rules, &error), WB_OK);
  rules.tick_size = 0;
  cr_assert_eq(wb_book_rules_check(&rules, &error), WB_ERROR_ARGUMENT);
  cr_assert_str_eq(error.text, "book rules: tick_size: expected at least 1 price unit, got 0");
  rules = wb_book_rules_default();
  rules.self_trade = (wb_self_trade)9;
  cr_assert_eq(wb_book_rules_check(&rules, &error), WB_ERROR_ARGUMENT);
  cr_assert_str_eq(error.text, "book rules: self_trade: expected 0 to 4, got 9");
}

Test(progress, draws_only_when_asked_or_on_a_terminal) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  wb_progress bar;
  wb_progress_start(&bar, stream, "replay", "records", 200, 0);
  wb_progress_update(&bar, 100);
  wb_progress_end(&bar);
  fflush(stream);
  cr_assert_eq(size, 0);
  wb_progress_start(&bar, stream, "replay", "records", 200, 1);
  wb_progress_update(&bar, 100);
  wb_progress_end(&bar);
  fclose(stream);
  cr_assert_not_null(strstr(text, "replay [##############..............]  50% of 200 records"));
  free(text);
}

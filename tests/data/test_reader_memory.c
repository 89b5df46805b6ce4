/* Memory that cannot be had: each allocation of a reading fails in turn, and each time the reader says so
 * and gives back all it had.
 *
 * Linked with --wrap, so that the library's own calls come by here. */
#define _GNU_SOURCE
#include "data/lobster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
char *__real_strdup(const char *text);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);

static long until_failure = -1; /* allocations that still succeed; -1: all */
static long live;               /* blocks not given back */

static int fails(void) {
  if (until_failure < 0) {
    return 0;
  }
  return until_failure-- == 0;
}

static void *counted(void *memory) {
  live += memory != NULL;
  return memory;
}

void *__wrap_malloc(size_t size) { return fails() ? NULL : counted(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) {
  return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return fails() ? NULL : counted(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text) { return fails() ? NULL : counted(__real_strdup(text)); }

void *__wrap_realloc(void *memory, size_t size) {
  if (fails()) {
    return NULL;
  }
  void *larger = __real_realloc(memory, size);
  live += memory == NULL && larger != NULL;
  return larger;
}

void __wrap_free(void *memory) {
  live -= memory != NULL;
  __real_free(memory);
}

/* ---- what is read ---- */

typedef wb_status reading(wb_tape **tape, wb_error *error);

static char messages[1 << 16], book[1 << 16];

/* Participants, odd times, findings of each kind, prices above a base, many orders on many levels. */
static void make_texts(void) {
  size_t m = 0, b = 0;
  for (int i = 0; i < 600; i++) {
    long price = 6123456700L + 100L * (i % 100);
    m += (size_t)sprintf(messages + m, "3420%d.50,1,%d,%d,%ld,-1,P%d\n", i / 100, i + 1, 1 + i % 9,
                         price, i % 70);
    b +=
        (size_t)sprintf(book + b, "6123456700,%d,%ld,5\n", 7 + i, 6123450000L + 10000L * (i > 300));
    if (i % 50 == 7) {
      m += (size_t)sprintf(messages + m, "damaged\n");
      b += (size_t)sprintf(book + b, "6123456700,7,6123450000,5\n");
    }
  }
}

static wb_status read_texts(wb_tape **tape, wb_error *error) {
  wb_lobster_text m = {"m.csv", messages, strlen(messages)}, b = {"b.csv", book, strlen(book)};
  return wb_lobster_read(&m, &b, &(wb_read_options){.skip_bad = true}, tape, error);
}

static wb_status read_sample(wb_tape **tape, wb_error *error) {
  return wb_tape_read(WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv",
                      NULL, tape, error);
}

/* Lets allocation 0, 1, 2, .. fail until the reading succeeds; returns how many failed, -1 if a failure
 * was not reported as one or left something behind. */
static long fail_each(const char *name, reading *read) {
  for (long n = 0;; n++) {
    wb_tape *tape = NULL;
    wb_error error = {.status = WB_OK, .text = ""};
    long before = live;
    until_failure = n;
    wb_status status = read(&tape, &error);
    int met = until_failure < 0;
    until_failure = -1;
    int good = met ? status == WB_ERROR_MEMORY && tape == NULL && error.text[0] != 0
                   : status == WB_OK && tape != NULL;
    wb_tape_free(tape);
    if (!good || live != before) {
      (void)fprintf(stderr, "%s, allocation %ld: %s \"%s\", %ld blocks left\n", name, n,
                    wb_status_name(status), error.text, live - before);
      return -1;
    }
    if (!met) {
      return n;
    }
  }
}

int main(void) {
  make_texts();
  long texts = fail_each("texts", read_texts), sample = fail_each("sample", read_sample);
  printf("%ld and %ld allocations failed in turn\n", texts, sample);
  return texts > 20 && sample > 10 ? 0 : 1;
}

/* Times the LOBSTER reader over texts in memory: MB of both texts a second on one core, ns per row. The
 * time is the processor's, since others may use the machine too.
 *
 * usage: bench_reader MESSAGES [ORDERBOOK] [REPEATS]   (without ORDERBOOK: messages only) */
#define _POSIX_C_SOURCE 200809L
#include "data/lobster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 15 };

static double now(void) {
  struct timespec t;
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static wb_lobster_text load(const char *path) {
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    exit(2);
  }
  size_t size = (size_t)ftell(file);
  char *bytes = malloc(size + 1);
  rewind(file);
  if (bytes == NULL || fread(bytes, 1, size, file) != size) {
    perror(path);
    exit(2);
  }
  (void)fclose(file);
  return (wb_lobster_text){path, bytes, size};
}

int main(int argc, char **argv) {
  if (argc < 2) {
    (void)fprintf(stderr, "usage: bench_reader MESSAGES [ORDERBOOK] [REPEATS]\n");
    return 2;
  }
  int repeats = argc > 3 ? atoi(argv[3]) : REPEATS;
  wb_lobster_text messages = load(argv[1]), book = {NULL, NULL, 0};
  if (argc > 2) {
    book = load(argv[2]);
  }
  wb_read_options options = {.messages_only = argc < 3};
  double best = 1e9;
  int64_t rows = 0, records = 0;
  for (int i = 0; i < repeats; i++) {
    wb_tape *tape;
    wb_error error;
    double start = now();
    if (wb_lobster_read(&messages, argc > 2 ? &book : NULL, &options, &tape, &error) != WB_OK) {
      (void)fprintf(stderr, "%s\n", error.text);
      return 2;
    }
    double seconds = now() - start;
    best = seconds < best ? seconds : best;
    rows = tape->row_count;
    records = tape->record_count;
    wb_tape_free(tape);
  }
  double bytes = (double)(messages.size + book.size);
  printf("%lld rows, %lld records: best of %d %.1f ms, %.0f MB/s, %.0f ns per row\n",
         (long long)rows, (long long)records, repeats, best * 1e3, bytes / best / 1e6,
         best * 1e9 / (double)rows);
  return 0;
}

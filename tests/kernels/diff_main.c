/* The differential test at any length: diff_books [--records N] [--seed S] [--interpreter | --gpu]. */
#include "diff.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv) {
  int64_t records = 20000000;
  uint64_t seed = 1;
  diff_target target = DIFF_COMPILED;
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--records") == 0 && i + 1 < argc) {
      records = strtoll(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seed = strtoull(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--interpreter") == 0) {
      target = DIFF_INTERPRETER;
    } else if (strcmp(argv[i], "--gpu") == 0) {
      target = DIFF_GPU;
    } else {
      fprintf(stderr, "usage: diff_books [--records N] [--seed S] [--interpreter | --gpu]\n");
      return 2;
    }
  }
  printf("%lld records, seed %llu, %s\n", (long long)records, (unsigned long long)seed,
         target == DIFF_COMPILED ? "compiled"
         : target == DIFF_GPU    ? "GPU"
                                 : "interpreter");
  time_t start = time(NULL);
  int32_t wrong = diff_all(target, seed, records, true, stdout);
  printf("%s in %lld s\n", wrong == 0 ? "no difference, every cell met" : "FAILED",
         (long long)(time(NULL) - start));
  return wrong != 0;
}

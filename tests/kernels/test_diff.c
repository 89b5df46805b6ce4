/* The kernels against the reference on random streams; see diff.h. With 20 million records every cell
 * of the coverage table must be met; diff_books runs any number of them by hand. */
#include "diff.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COMPILED_RECORDS = 1000000, INTERPRETED_RECORDS = 50000, TABLE = 0 };
#else
enum { COMPILED_RECORDS = 20000000, INTERPRETED_RECORDS = 300000, TABLE = 1 };
#endif

enum { GPU_RECORDS = 20000 };

/* With WB_TEST_DEVICE=cuda only the GPU's part is run, else only that of the host. */
static bool is_for_gpu(void) {
  const char *device = getenv("WB_TEST_DEVICE");
  return device != NULL && strcmp(device, "cuda") == 0;
}

/* WB_DIFF_SEED gives other streams. */
static uint64_t seed(void) {
  const char *text = getenv("WB_DIFF_SEED");
  return text != NULL ? strtoull(text, NULL, 10) : 20240102;
}

Test(diff, compiled_kernels_equal_the_reference_after_every_record) {
  if (is_for_gpu()) return;
  printf("seed %llu\n", (unsigned long long)seed());
  cr_assert_eq(diff_all(DIFF_COMPILED, seed(), COMPILED_RECORDS, TABLE, stdout), 0);
}

Test(diff, interpreted_kernels_equal_the_reference_and_keep_every_promise) {
  if (is_for_gpu()) return;
  cr_assert_eq(diff_all(DIFF_INTERPRETER, seed() + 1, INTERPRETED_RECORDS, false, stdout), 0);
}

Test(diff, kernels_on_a_gpu_equal_the_reference_after_every_record) {
  if (!is_for_gpu()) return;
  cr_assert_eq(diff_all(DIFF_GPU, seed() + 2, GPU_RECORDS, false, stdout), 0);
}

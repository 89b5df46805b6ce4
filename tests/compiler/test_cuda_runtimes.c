/* Which CUDA runtime is taken where there are several, none that fits, or one that is too old. The folders
 * in which the system's loader finds them are made by the build: see CMakeLists.txt beside this. */
#include "compiler/cuda_api.h"
#include "compiler/device.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* what the folder of this run of the program is for; the others' tests are skipped */
static void only_in(const char *folder) {
  const char *here = getenv("WB_TEST_RUNTIMES");
  if (here == NULL || strcmp(here, folder) != 0) cr_skip_test("for the folder %s", folder);
  unsetenv("WB_CUDART");
}

static void expect_version(int expected) {
  wb_cuda_api api;
  wb_error error;
  int version = 0;
  cr_assert_eq(wb_cuda_api_open(&api, &error), WB_OK, "%s", error.text);
  cr_assert_eq(api.RuntimeGetVersion(&version), CUDA_SUCCESS);
  cr_expect_eq(version, expected, "%d", version);
}

static void expect_refused(const char *text) {
  wb_device *device;
  wb_error error = {0};
  cr_assert_eq(wb_device_open("cuda", &device, &error), WB_ERROR_UNAVAILABLE, "%s", error.text);
  cr_expect_str_eq(error.text, text);
  cr_assert_eq(wb_device_open("auto", &device, NULL), WB_OK, "the CPU is always there");
  wb_device_close(device);
}

/* 13.0, and 12.8 on a driver for 12.8 */
Test(runtimes, the_one_that_the_driver_serves_is_taken) {
  only_in("driver_for_12");
  expect_version(12080);
  wb_device *device;
  wb_error error;
  cr_assert_eq(wb_device_open("cuda", &device, &error), WB_OK, "%s", error.text);
  wb_device_close(device);
}

/* 12.6 under the newer name, 12.8 under the older */
Test(runtimes, one_that_lacks_functions_is_passed_over) {
  only_in("lacking");
  expect_version(12080);
}

/* 13.0 and 12.6 on a driver for 12.6 */
Test(runtimes, a_driver_too_old_for_all_of_them_is_told) {
  only_in("too_old");
  expect_version(13000);
  expect_refused("device cuda: the driver is too old: it serves CUDA 12.6, the runtime found is "
                 "13.0: install a newer driver, or a runtime that the driver serves");
}

/* 12.6 alone */
Test(runtimes, one_before_12_8_has_a_message_of_its_own) {
  only_in("only_12_6");
  expect_refused("CUDA: the runtime found is 12.6, which has no cudaLibraryLoadData: expected CUDA "
                 "12.8 or newer");
}

Test(runtimes, no_runtime_at_all) {
  only_in("none");
  expect_refused(
      "CUDA: no runtime found: expected libcudart.so.13 or libcudart.so.12 (12.8 or newer) "
      "where the system's loader looks, or its path in WB_CUDART");
}

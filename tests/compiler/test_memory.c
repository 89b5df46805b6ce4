/* Every allocation of a build, a compile and a launch fails once: an error, nothing leaked, and the
 * same calls succeed afterwards. Linked with the allocation functions wrapped. */
#include "compiler/device.h"
#include "compiler/passes.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

static int64_t allocations_left = INT64_MAX; /* the one after these fails */

static bool refuse(void) { return allocations_left-- <= 0; }

/* names that the linker and the sanitizer make: NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *old, size_t bytes);
void *__real_aligned_alloc(size_t alignment, size_t bytes);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *old, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t bytes) { return refuse() ? NULL : __real_malloc(bytes); }

void *__wrap_calloc(size_t count, size_t bytes) {
  return refuse() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *old, size_t bytes) {
  return refuse() ? NULL : __real_realloc(old, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes) {
  return refuse() ? NULL : __real_aligned_alloc(alignment, bytes);
}

char *__wrap_strdup(const char *text) { return refuse() ? NULL : __real_strdup(text); }

/* of the leak sanitizer, in builds that have it */
int __lsan_do_recoverable_leak_check(void) __attribute__((weak));
/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- one whole life, from a layout to a launch; each step gives up at the first error ---- */

static wb_status record(const wb_layout *layout, array words, wb_program **out, wb_error *error) {
  wb_builder *b;
  WB_TRY(wb_builder_new("kernel", 32, layout, &b, error));
  array out_buffer = buffer_per_book_out("out", I32);
  val n = param_i32("n");
  var sum = variable(0);
  /* enough ops and regions for every list to grow more than once */
  for (int k = 0; k < 30; k++) {
    FOR (i, 0, n) {
      IF (gt(i, k)) {
        assign(sum, add(sum, load(words, i)));
      }
      ELSE { store(words, i, k); }
    }
  }
  store(out_buffer, 0, sum);
  return wb_builder_finish(b, out, error);
}

static wb_status launch(wb_device *device, const wb_program *program, wb_kernel *kernel,
                        wb_error *error) {
  void *slabs, *out;
  WB_TRY(wb_device_allocate(device, (size_t)program->slab_bytes, &slabs, error));
  wb_status status = wb_device_allocate(device, 64, &out, error);
  if (status == WB_OK) {
    const wb_buffer_argument buffer = {out, 1, 1};
    const int64_t scalar = 3;
    const wb_launch it = {.slabs = slabs,
                          .slab_stride = program->slab_bytes,
                          .books = 1,
                          .buffers = &buffer,
                          .buffer_count = 1,
                          .scalars = &scalar,
                          .scalar_count = 1};
    status = wb_device_launch(device, kernel, &it, error);
    wb_device_free(device, out);
  }
  wb_device_free(device, slabs);
  return status;
}

static wb_status compile_and_launch(const wb_program *program, wb_error *error) {
  wb_device *device;
  wb_kernel *kernel;
  const wb_kernel_options options = {.interpret = true};
  WB_TRY(wb_device_open("cpu", &device, error));
  wb_status status = wb_device_compile(device, program, &options, &kernel, NULL, error);
  if (status == WB_OK) {
    status = launch(device, program, kernel, error);
    wb_kernel_release(kernel);
  }
  wb_device_close(device);
  return status;
}

static wb_status whole_life(wb_error *error) {
  wb_layout *layout;
  wb_program *program;
  array words;
  WB_TRY(wb_layout_new(&layout, error));
  wb_status status = wb_layout_add(layout, "words", WB_ELEMENT_I32, 64, 0, &words, error);
  if (status == WB_OK) status = record(layout, words, &program, error);
  if (status == WB_OK) {
    status = compile_and_launch(program, error);
    wb_program_free(program);
  }
  wb_layout_free(layout);
  return status;
}

Test(memory, every_allocation_fails_once) {
  int64_t failures = 0;
  wb_status status = WB_ERROR_MEMORY;
  for (int64_t allowed = 0; status != WB_OK; allowed++) {
    wb_error error = {0};
    allocations_left = allowed;
    status = whole_life(&error);
    allocations_left = INT64_MAX;
    if (status == WB_OK) break;
    failures++;
    cr_assert_eq(status, WB_ERROR_MEMORY, "after %d allocations: %s", (int)allowed, error.text);
    cr_assert_neq(error.text[0], '\0');
    cr_assert_lt(allowed, 10000);
  }
  cr_expect_gt(failures, 40);
  if (__lsan_do_recoverable_leak_check != NULL) {
    cr_expect_eq(__lsan_do_recoverable_leak_check(), 0, "a failed step leaks");
  }
}

/* The CPU as a device: memory, launches that do not depend on threads, and what a launch refuses.
 *
 * Kernels run in the interpreter, so that this test needs no LLVM; the last one compiles if it can. */
#include "compiler/device.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

enum { BOOKS = 37 };

static wb_builder *b;
static wb_device *device;
static wb_program *program;

/* each book adds the tape's numbers below its limit, keeps the sum, and writes it to its output */
static void build(void) {
  wb_error error = {0};
  wb_layout *layout;
  array sum;
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "sum", WB_ELEMENT_I64, 1, 0, &sum, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("sums", 32, layout, &b, NULL), WB_OK);
  array tape = buffer_shared("tape", I32), out = buffer_per_book_out("out", I64);
  val limit = add(param_i32("limit"), book_index());
  FOR (i, 0, 10) {
    val x = load(tape, i);
    IF (lt(x, limit)) {
      add_to(sum, 0, i64(x));
    }
  }
  store(out, 0, cell(sum));
  store(out, 1, i64(book_index()));
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  wb_layout_free(layout);
}

static void start(void) {
  cr_assert_eq(wb_device_open("cpu", &device, NULL), WB_OK);
  build();
}

static void stop(void) {
  wb_program_free(program);
  wb_device_close(device);
}

TestSuite(device, .init = start, .fini = stop);

typedef struct setup {
  void *slabs, *tape, *out;
  wb_buffer_argument buffers[2];
  int64_t scalars[1];
  wb_launch launch;
} setup;

static void prepare(setup *s) {
  int32_t tape[10];
  for (int i = 0; i < 10; i++) tape[i] = 5 * i;
  cr_assert_eq(wb_device_allocate(device, BOOKS * 64, &s->slabs, NULL), WB_OK);
  cr_assert_eq(wb_device_allocate(device, sizeof tape, &s->tape, NULL), WB_OK);
  cr_assert_eq(wb_device_allocate(device, BOOKS * 3 * 8, &s->out, NULL), WB_OK);
  cr_assert_eq(wb_device_write(device, s->tape, tape, sizeof tape, NULL), WB_OK);
  s->buffers[0] = (wb_buffer_argument){s->tape, 10, 0};
  s->buffers[1] = (wb_buffer_argument){s->out, 2, 3};
  s->scalars[0] = 7;
  s->launch = (wb_launch){.slabs = s->slabs,
                          .slab_stride = 64,
                          .books = BOOKS,
                          .buffers = s->buffers,
                          .buffer_count = 2,
                          .scalars = s->scalars,
                          .scalar_count = 1};
}

static void release(setup *s) {
  wb_device_free(device, s->slabs);
  wb_device_free(device, s->tape);
  wb_device_free(device, s->out);
}

static int64_t expected_sum(int64_t limit) {
  int64_t sum = 0;
  for (int i = 0; i < 10; i++) sum += 5 * i < limit ? 5 * i : 0;
  return sum;
}

static wb_kernel *interpreted(void) {
  wb_error error = {0};
  wb_kernel *kernel;
  wb_kernel_options options = {.interpret = true};
  wb_status status = wb_device_compile(device, program, &options, &kernel, NULL, &error);
  cr_assert_eq(status, WB_OK, "%s", error.text);
  return kernel;
}

static void launch_and_check(const wb_kernel *kernel) {
  setup s;
  int64_t out[BOOKS * 3];
  wb_error error = {0};
  prepare(&s);
  cr_assert_eq(wb_device_launch(device, kernel, &s.launch, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_wait(device, NULL), WB_OK);
  cr_assert_eq(wb_device_read(device, out, s.out, sizeof out, NULL), WB_OK);
  for (int64_t book = 0; book < BOOKS; book++) {
    cr_expect_eq(out[3 * book], expected_sum(7 + book));
    cr_expect_eq(out[3 * book + 1], book);
    cr_expect_eq(out[3 * book + 2], 0);
  }
  release(&s);
}

Test(device, every_number_of_threads_gives_the_same) {
  wb_kernel *kernel = interpreted();
  const int32_t threads[] = {0, 1, 2, 3, 64};
  for (int i = 0; i < 5; i++) {
    cr_assert_eq(wb_device_set_threads(device, threads[i], NULL), WB_OK);
    launch_and_check(kernel);
  }
  wb_kernel_release(kernel);
}

Test(device, some_books_of_a_batch) {
  setup s;
  int64_t out[BOOKS * 3];
  wb_kernel *kernel = interpreted();
  prepare(&s);
  s.launch.first_book = 5;
  s.launch.books = 2;
  cr_assert_eq(wb_device_launch(device, kernel, &s.launch, NULL), WB_OK);
  cr_assert_eq(wb_device_read(device, out, s.out, sizeof out, NULL), WB_OK);
  for (int64_t book = 0; book < BOOKS; book++) {
    bool ran = book == 5 || book == 6;
    cr_expect_eq(out[3 * book], ran ? expected_sum(7 + book) : 0);
  }
  release(&s);
  wb_kernel_release(kernel);
}

Test(device, memory_is_zeroed_aligned_and_copied) {
  unsigned char *first, *second, host[100];
  cr_assert_eq(wb_device_allocate(device, 100, (void **)&first, NULL), WB_OK);
  cr_assert_eq(wb_device_allocate(device, 0, (void **)&second, NULL), WB_OK);
  cr_expect_eq((uintptr_t)first % 256, 0);
  cr_expect_not_null(second);
  wb_device_free(device, second);
  cr_assert_eq(wb_device_allocate(device, 100, (void **)&second, NULL), WB_OK);
  cr_assert_eq(wb_device_read(device, host, first, 100, NULL), WB_OK);
  for (int i = 0; i < 100; i++) cr_expect_eq(host[i], 0);
  cr_assert_eq(wb_device_fill(device, first, 0xab, 50, NULL), WB_OK);
  cr_assert_eq(wb_device_copy(device, second + 10, first, 60, NULL), WB_OK);
  cr_assert_eq(wb_device_read(device, host, second, 100, NULL), WB_OK);
  for (int i = 0; i < 100; i++) cr_expect_eq(host[i], i >= 10 && i < 60 ? 0xab : 0);
  wb_device_free(device, first);
  wb_device_free(device, second);
}

Test(device, memory_that_cannot_be_had) {
  wb_error error = {0};
  void *memory;
  cr_expect_eq(wb_device_allocate(device, SIZE_MAX - 7, &memory, &error), WB_ERROR_MEMORY);
  cr_expect_null(memory);
  cr_expect_str_eq(error.text, "device cpu: 18446744073709551608 bytes could not be had");
}

Test(device, unknown_devices_and_thread_counts) {
  wb_error error = {0};
  wb_device *other;
  cr_expect_eq(wb_device_open("gpu9", &other, &error), WB_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(error.text, "got \"gpu9\""));
  cr_expect_null(other);
  cr_expect_eq(wb_device_set_threads(device, -1, &error), WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text, "device cpu: threads: expected 0 to 1024, got -1");
  cr_expect_eq(wb_device_set_threads(device, 2000, &error), WB_ERROR_ARGUMENT);
}

/* one field of a launch is made wrong; the message names it */
static void expect_refused(const wb_kernel *kernel, const setup *s, const char *part) {
  wb_error error = {0};
  cr_expect_eq(wb_device_launch(device, kernel, &s->launch, &error), WB_ERROR_ARGUMENT);
  cr_expect_not_null(strstr(error.text, part), "\"%s\" lacks \"%s\"", error.text, part);
}

Test(device, launches_that_do_not_fit_the_program) {
  setup s;
  wb_kernel *kernel = interpreted();
  prepare(&s);
  const setup sound = s;
#define WRONG(change, part)           \
  do {                                \
    s = sound;                        \
    s.launch.buffers = s.buffers;     \
    change;                           \
    expect_refused(kernel, &s, part); \
  } while (0)
  WRONG(s.launch.books = -1, "launch of sums: books: expected");
  WRONG(s.launch.first_book = INT32_MAX, "launch of sums: books: expected");
  WRONG(s.launch.slabs = NULL, "launch of sums: slabs: expected device memory");
  WRONG(s.launch.slabs = (char *)s.slabs + 8, "aligned to 64 bytes");
  WRONG(s.launch.slab_stride = 32, "slab_stride: expected a multiple of 64, at least 64, got 32");
  WRONG(s.launch.buffer_count = 1, "buffers: expected 2, got 1");
  WRONG(s.launch.scalar_count = 0, "scalars: expected 1, got 0");
  WRONG(s.buffers[0].stride = 1, "buffer tape: expected stride 0 for a shared buffer, got 1");
  WRONG(s.buffers[0].data = NULL, "buffer tape: expected device memory");
  WRONG(s.buffers[1].stride = 1, "buffer out: stride: expected at least its length 2");
  WRONG(s.buffers[1].data = (char *)s.out + 4, "buffer out: expected device memory aligned to 8");
  WRONG(s.buffers[1].length = -1, "buffer out: expected device memory");
#undef WRONG
  release(&s);
  wb_kernel_release(kernel);
}

Test(device, a_kernel_is_compiled_once) {
  int64_t kernels, hits, misses;
  wb_kernel_report report;
  wb_kernel_options options = {.interpret = true};
  wb_kernel *first = interpreted(), *second;
  cr_assert_eq(wb_device_compile(device, program, &options, &second, &report, NULL), WB_OK);
  cr_expect_eq(first, second);
  cr_expect(report.cached);
  cr_expect_eq(report.ops_built, program->op_count);
  cr_expect_str_eq(report.target, "interpreter");
  wb_kernel_cache_count(wb_device_cache(device), &kernels, &hits, &misses);
  cr_expect_eq(kernels, 1);
  cr_expect_eq(hits, 1);
  cr_expect_eq(misses, 1);
  /* an option that changes code is another kernel */
  options.check = true;
  wb_kernel *checked;
  cr_assert_eq(wb_device_compile(device, program, &options, &checked, &report, NULL), WB_OK);
  cr_expect_neq(first, checked);
  cr_expect_not(report.cached);
  cr_expect_gt(report.accesses, report.accesses_proven);
  wb_kernel_release(first);
  wb_kernel_release(second);
  wb_kernel_release(checked);
}

Test(device, kernels_outlive_their_cache) {
  wb_device *other;
  wb_kernel_options options = {.interpret = true};
  wb_kernel *kernel;
  cr_assert_eq(wb_device_open("cpu", &other, NULL), WB_OK);
  cr_assert_eq(wb_device_compile(other, program, &options, &kernel, NULL, NULL), WB_OK);
  wb_device_close(other);
  launch_and_check(kernel);
  cr_expect_not_null(strstr(wb_kernel_text(kernel, WB_KERNEL_TEXT_PROGRAM), "program sums"));
  wb_kernel_release(kernel);
}

Test(device, a_missing_module_says_what_to_install) {
  wb_error error = {0};
  wb_kernel *kernel;
  setenv("WB_LLVM_MODULE", "/nowhere/libwarpbook-llvm.so", 1);
  cr_assert_eq(wb_device_compile(device, program, NULL, &kernel, NULL, &error),
               WB_ERROR_UNAVAILABLE);
  cr_expect_not_null(strstr(error.text, "/nowhere/libwarpbook-llvm.so could not be loaded"));
  cr_expect_not_null(strstr(error.text, "install"));
  cr_expect_null(kernel);
}

Test(device, none_is_no_module) {
  wb_error error = {0};
  wb_kernel *kernel;
  setenv("WB_LLVM_MODULE", "none", 1);
  cr_assert_eq(wb_device_compile(device, program, NULL, &kernel, NULL, &error),
               WB_ERROR_UNAVAILABLE);
  cr_expect_not_null(strstr(error.text, "LLVM is not to be used"));
}

Test(device, compiled_code_and_its_dump) {
  wb_error error = {0};
  wb_kernel *kernel;
  wb_kernel_report report;
  char folder[] = "/tmp/wb-dump-XXXXXX", path[200], key[33];
  cr_assert_not_null(mkdtemp(folder));
  setenv("WB_DUMP", folder, 1);
  wb_status status = wb_device_compile(device, program, NULL, &kernel, &report, &error);
  if (status == WB_ERROR_UNAVAILABLE) cr_skip("%s", error.text);
  cr_assert_eq(status, WB_OK, "%s", error.text);
  launch_and_check(kernel);
  cr_expect_gt(report.code_bytes, 0);
  wb_hash128_text(report.key, key);
  const char *endings[] = {"wb", "ll", "s"};
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s/sums-%.16s.%s", folder, key, endings[i]);
    cr_expect_eq(remove(path), 0, "%s was not written", path);
  }
  cr_expect_eq(remove(folder), 0);
  wb_kernel_release(kernel);
}

Test(device, a_broken_promise_in_compiled_code_is_reported_with_checks) {
  wb_error error = {0};
  wb_kernel *kernel;
  wb_program *promising;
  setup s;
  prepare(&s);
  cr_assert_eq(wb_builder_new("promising", 32, NULL, &b, NULL), WB_OK);
  array tape = buffer_shared("tape", I32), out = buffer_per_book_out("out", I64);
  const int line = __LINE__ + 1;
  store(out, 0, i64(load_in(tape, add(param_i32("limit"), book_index()))));
  cr_assert_eq(wb_builder_finish(b, &promising, NULL), WB_OK);
  wb_kernel_options options = {.check = true};
  wb_status status = wb_device_compile(device, promising, &options, &kernel, NULL, &error);
  if (status == WB_ERROR_UNAVAILABLE) cr_skip("%s", error.text);
  cr_assert_eq(status, WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_set_threads(device, 2, NULL), WB_OK);
  cr_assert_eq(wb_device_launch(device, kernel, &s.launch, &error), WB_ERROR_INTERNAL);
  char at[64];
  snprintf(at, sizeof at, "load at test_device.c:%d ", line);
  cr_expect_not_null(strstr(error.text, at), "%s", error.text);
  cr_expect_not_null(strstr(error.text, "book 3: tape: a promise is broken by 10"), "%s",
                     error.text);
  wb_kernel_release(kernel);
  wb_program_free(promising);
  release(&s);
}

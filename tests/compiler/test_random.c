/* Bulk random numbers: one sequence from cuRAND and from our own code; and the in-kernel generator,
 * which follows the counters of docs/semantics.md. Tests with cuRAND skip, saying so, where there is
 * none. */
#include "base/hash.h"
#include "compiler/interp.h"
#include "compiler/kernel.h"
#include "compiler/random.h"

#include "compiler/dsl.h"
#include "tests/compiler/philox.h"

#include <criterion/criterion.h>
#undef skip /* a name that Criterion takes */

enum { LONG = 4 * 65536 * 3 + 1234 }; /* past two changes of the counter's first word */

static wb_device *cpu(void) {
  wb_device *device;
  wb_error error;
  cr_assert_eq(wb_device_open("cpu", &device, &error), WB_OK, "%s", error.text);
  return device;
}

static void expect_numbers(const uint32_t *got, uint64_t seed, uint64_t position, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (got[i] != philox_number(seed, position + i)) {
      cr_assert_fail("seed %llx, number %llu: %08x instead of %08x", (unsigned long long)seed,
                     (unsigned long long)(position + i), got[i], philox_number(seed, position + i));
    }
  }
}

/* Fills of odd lengths, one behind the other, and after seeks; a guard behind each. */
static void check_source(wb_bits_source source) {
  static const uint64_t seeds[] = {0, 1, UINT64_C(0xdeadbeefcafebabe), UINT64_MAX};
  static const uint64_t places[] = {
      0, 1, 5, 262143, 262150, UINT64_C(1) << 34, (UINT64_C(1) << 50) - 2, (UINT64_C(1) << 62) + 1};
  static const size_t lengths[] = {10, 12, 0, 1, 3, 63, 64, 65, 70001};
  uint32_t *memory = malloc((LONG + 1) * sizeof *memory);
  wb_device *device = cpu();
  wb_error error;
  for (size_t s = 0; s < sizeof seeds / sizeof seeds[0]; s++) {
    wb_bits *bits;
    cr_assert_eq(wb_bits_new(device, seeds[s], source, &bits, &error), WB_OK, "%s", error.text);
    cr_assert_eq(wb_bits_fill(bits, memory, LONG, &error), WB_OK, "%s", error.text);
    expect_numbers(memory, seeds[s], 0, LONG);
    for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
      uint64_t at = places[p];
      cr_assert_eq(wb_bits_seek(bits, at, &error), WB_OK, "%s", error.text);
      for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
        memory[lengths[l]] = 0x600d600d;
        cr_assert_eq(wb_bits_fill(bits, memory, lengths[l], &error), WB_OK, "%s", error.text);
        expect_numbers(memory, seeds[s], at, lengths[l]);
        cr_assert_eq(memory[lengths[l]], 0x600d600d, "written past the end");
        at += lengths[l];
      }
    }
    wb_bits_free(bits);
  }
  wb_device_close(device);
  free(memory);
}

Test(random, our_own_numbers) { check_source(WB_BITS_OWN); }

Test(random, curand_gives_the_same_numbers) {
  wb_device *device = cpu();
  wb_bits *bits;
  wb_error error;
  if (wb_bits_new(device, 1, WB_BITS_CURAND, &bits, &error) == WB_ERROR_UNAVAILABLE) {
    wb_device_close(device);
    cr_skip_test("%s", error.text);
  }
  cr_expect_not_null(strstr(wb_bits_describe(bits), "cuRAND"));
  cr_expect_not_null(strstr(wb_bits_describe(bits), "host"));
  wb_bits_free(bits);
  wb_device_close(device);
  check_source(WB_BITS_CURAND);
}

/* Bits of seed 99 on the emulated GPU, memory there and here for `count` numbers. */
typedef struct on_gpu {
  wb_device *device;
  wb_bits *bits;
  uint32_t *memory, *numbers;
} on_gpu;

static on_gpu open_on_gpu(size_t count) {
  on_gpu g = {.numbers = malloc(count * sizeof *g.numbers)};
  wb_error error;
  void *memory;
  cr_assert_eq(wb_device_open("cuda", &g.device, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_allocate(g.device, count * sizeof *g.numbers, &memory, &error), WB_OK);
  cr_assert_eq(wb_bits_new(g.device, 99, WB_BITS_AUTO, &g.bits, &error), WB_OK, "%s", error.text);
  g.memory = memory;
  return g;
}

static void close_on_gpu(on_gpu *g) {
  wb_bits_free(g->bits);
  wb_device_free(g->device, g->memory);
  wb_device_close(g->device);
  free(g->numbers);
}

/* Memory that is not the host's: on the emulated GPU, where cuRAND finds no driver. */
Test(random, a_device_with_memory_of_its_own) {
  const char *emulator = getenv("WB_EMULATOR");
  if (emulator == NULL) cr_skip_test("there is no emulator: run this through ctest");
  setenv("WB_CUDART", emulator, 1);
  enum { COUNT = (1 << 20) + 77 }; /* more than goes there at a time */
  on_gpu g = open_on_gpu(COUNT);
  wb_error error;
  cr_assert_eq(wb_bits_seek(g.bits, 3, &error), WB_OK);
  cr_assert_eq(wb_bits_fill(g.bits, g.memory, COUNT, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_read(g.device, g.numbers, g.memory, COUNT * sizeof *g.numbers, &error),
               WB_OK);
  expect_numbers(g.numbers, 99, 3, COUNT);
  close_on_gpu(&g);
}

/* cuRAND on a GPU is asked in the right order, in the device's stream, and seen where it fails. */
Test(random, curand_on_a_device) {
  const char *emulator = getenv("WB_EMULATOR"), *stub = getenv("WB_CURAND_STUB");
  if (emulator == NULL || stub == NULL)
    cr_skip_test("there is no emulator: run this through ctest");
  setenv("WB_CUDART", emulator, 1);
  setenv("WB_CURAND", stub, 1);
  enum { COUNT = 4 * 65536 + 300 };
  static const size_t lengths[] = {10, 12, 1, 3, COUNT - 26};
  on_gpu g = open_on_gpu(COUNT);
  wb_error error;
  cr_expect_str_eq(wb_bits_describe(g.bits), "cuRAND 10.3.5 on cuda:0");
  for (uint64_t start = 0; start < 8; start += 5) {
    size_t at = 0;
    cr_assert_eq(wb_bits_seek(g.bits, start, &error), WB_OK, "%s", error.text);
    for (size_t l = 0; l < sizeof lengths / sizeof lengths[0]; l++) {
      uint32_t *place = g.memory + at;
      cr_assert_eq(wb_bits_fill(g.bits, place, lengths[l], &error), WB_OK, "%s", error.text);
      at += lengths[l];
    }
    cr_assert_eq(at, COUNT);
    cr_assert_eq(wb_device_read(g.device, g.numbers, g.memory, COUNT * sizeof *g.numbers, &error),
                 WB_OK);
    expect_numbers(g.numbers, 99, start, COUNT);
  }
  uint32_t *past = g.memory + COUNT; /* the end */
  cr_expect_eq(wb_bits_fill(g.bits, past, 4, &error), WB_ERROR_DEVICE);
  cr_expect_str_eq(error.text, "device cuda:0: curandGenerate: a launch failed (201)");
  close_on_gpu(&g);
}

Test(random, threads_do_not_show) {
  uint32_t *one = malloc(LONG * sizeof *one), *many = malloc(LONG * sizeof *many);
  wb_device *device = cpu();
  for (int threads = 1; threads <= 7; threads += 3) {
    wb_bits *bits;
    cr_assert_eq(wb_device_set_threads(device, threads, NULL), WB_OK);
    cr_assert_eq(wb_bits_new(device, 77, WB_BITS_OWN, &bits, NULL), WB_OK);
    cr_assert_eq(wb_bits_seek(bits, 7, NULL), WB_OK);
    cr_assert_eq(wb_bits_fill(bits, threads == 1 ? one : many, LONG, NULL), WB_OK);
    wb_bits_free(bits);
    cr_expect(threads == 1 || memcmp(one, many, LONG * sizeof *one) == 0, "%d threads", threads);
  }
  wb_device_close(device);
  free(one);
  free(many);
}

Test(random, blocks_one_by_one) {
  for (uint64_t block = 65530; block < 65540; block++) {
    uint32_t words[4];
    wb_bits_block(UINT64_C(0x123456789abcdef), block, words);
    expect_numbers(words, UINT64_C(0x123456789abcdef), 4 * block, 4);
  }
}

/* ---- where cuRAND is not ---- */

Test(random, without_curand_our_own_is_taken) {
  setenv("WB_CURAND", "/nonexistent/libcurand.so", 1);
  wb_device *device = cpu();
  wb_bits *bits;
  wb_error error;
  cr_assert_eq(wb_bits_new(device, 3, WB_BITS_CURAND, &bits, &error), WB_ERROR_UNAVAILABLE);
  cr_expect_not_null(strstr(error.text, "/nonexistent/libcurand.so"));
  cr_expect_null(bits);
  cr_assert_eq(wb_bits_new(device, 3, WB_BITS_AUTO, &bits, &error), WB_OK, "%s", error.text);
  cr_expect_str_eq(wb_bits_describe(bits), "own code");
  uint32_t numbers[8];
  cr_assert_eq(wb_bits_fill(bits, numbers, 8, &error), WB_OK);
  expect_numbers(numbers, 3, 0, 8);
  wb_bits_free(bits);

  /* a library that is another one */
  setenv("WB_CURAND", "libm.so.6", 1);
  cr_assert_eq(wb_bits_new(device, 3, WB_BITS_CURAND, &bits, &error), WB_ERROR_UNAVAILABLE);
  cr_expect_str_eq(error.text, "cuRAND: the library found has no curandGetVersion");
  wb_device_close(device);
}

Test(random, arguments) {
  wb_device *device = cpu();
  wb_bits *bits;
  wb_error error;
  uint32_t memory[4] = {1, 2, 3, 4};
  cr_expect_eq(wb_bits_new(device, 1, (wb_bits_source)7, &bits, &error), WB_ERROR_ARGUMENT);
  cr_assert_eq(wb_bits_new(device, 1, WB_BITS_OWN, &bits, &error), WB_OK);
  cr_expect_eq(wb_bits_seek(bits, UINT64_C(1) << 63, &error), WB_ERROR_ARGUMENT);
  uint32_t *crooked = (uint32_t *)((uintptr_t)memory + 1);
  cr_expect_eq(wb_bits_fill(bits, crooked, 1, &error), WB_ERROR_ARGUMENT);
  cr_expect_eq(wb_bits_fill(bits, NULL, 1, &error), WB_ERROR_ARGUMENT);
  cr_expect_eq(wb_bits_fill(bits, NULL, 0, &error), WB_OK);
  cr_expect_eq(wb_bits_seek(bits, INT64_MAX - 2, &error), WB_OK);
  cr_expect_eq(wb_bits_fill(bits, memory, 4, &error), WB_ERROR_LIMIT);
  cr_expect_eq(wb_bits_fill(bits, memory, 2, &error), WB_OK);
  expect_numbers(memory, 1, INT64_MAX - 2, 2);
  cr_expect_eq(memory[2], 3);
  wb_device_capture_begin(device, NULL);
  cr_expect_eq(wb_bits_fill(bits, memory, 1, &error), WB_ERROR_STATE);
  wb_graph *graph;
  cr_expect_eq(wb_device_capture_end(device, &graph, NULL), WB_OK);
  wb_graph_free(graph);
  wb_bits_free(bits);
  wb_bits_free(NULL);
  wb_device_close(device);
}

/* ---- in kernels ---- */

/* For each book: blocks n = 0, 1, 2 of a stream, addressed as docs/semantics.md says. */
static wb_program *stream_program(void) {
  wb_builder *b;
  wb_program *program;
  wb_error error;
  cr_assert_eq(wb_builder_new("stream", 32, NULL, &b, &error), WB_OK);
  array out = buffer_per_book_out("out", I32);
  array keys = buffer_per_book("keys", I64);
  val stream = param_i32("stream");
  val episode = param_i32("episode");
  val key = load(keys, 0);
  FOR (n, 0, 3) {
    const wb_operand counter[4] = {WB_OPERAND(n), WB_OPERAND(stream), WB_OPERAND(episode),
                                   WB_OPERAND(0)};
    wb_random random = wb_build_philox(b, WB_HERE, WB_OPERAND(key), counter);
    for (int w = 0; w < 4; w++) store(out, add(mul(n, 4), w), random.word[w]);
  }
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  return program;
}

enum { BOOKS = 5 };

static void run_stream(const wb_kernel_options *options, const int64_t keys[BOOKS], int32_t stream,
                       int32_t episode, int32_t out[BOOKS][12]) {
  wb_program *program = stream_program();
  wb_kernel *kernel;
  wb_error error;
  cr_assert_eq(wb_kernel_compile(NULL, program, options, &kernel, NULL, &error), WB_OK, "%s",
               error.text);
  const wb_buffer_argument buffers[] = {{out, 12, 12}, {(void *)keys, 1, 1}};
  const int64_t scalars[] = {stream, episode};
  const wb_kernel_arguments arguments = {.buffers = buffers, .scalars = scalars};
  cr_assert_eq(wb_kernel_run(kernel, &arguments, 0, BOOKS, &error), WB_OK, "%s", error.text);
  wb_kernel_release(kernel);
  wb_program_free(program);
}

static void check_streams(const wb_kernel_options *options) {
  /* the page's own: run seed 1, own seed 2, and that of its first line */
  const int64_t keys[BOOKS] = {0, (int64_t)wb_mix64(1 + wb_mix64(2)), -1,
                               (int64_t)wb_mix64(9 + wb_mix64(0)), INT64_MIN};
  cr_expect_eq((uint64_t)keys[1], UINT64_C(0x3ec2d42f3a45cc6e));
  static const int32_t places[][2] = {{0, 0}, {4, 5}, {-1, 7}};
  for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
    int32_t out[BOOKS][12];
    run_stream(options, keys, places[p][0], places[p][1], out);
    for (int book = 0; book < BOOKS; book++) {
      for (uint32_t n = 0; n < 3; n++) {
        const uint32_t counter[4] = {n, (uint32_t)places[p][0], (uint32_t)places[p][1], 0};
        uint32_t words[4];
        philox_block((uint64_t)keys[book], counter, words);
        cr_expect(memcmp(words, &out[book][4 * n], sizeof words) == 0, "book %d, block %u", book,
                  n);
      }
    }
  }
}

Test(random, the_page_s_blocks) {
  /* the two lines of the table in docs/semantics.md */
  static const uint32_t zero[4] = {0, 0, 0, 0}, other[4] = {3, 4, 5, 0};
  static const uint32_t expected[2][4] = {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
                                          {0xb2adb799, 0xfc746c43, 0xca6d3d16, 0x65300765}};
  uint32_t words[4];
  philox_block(0, zero, words);
  cr_expect(memcmp(words, expected[0], sizeof words) == 0);
  philox_block(UINT64_C(0x3ec2d42f3a45cc6e), other, words);
  cr_expect(memcmp(words, expected[1], sizeof words) == 0);
}

Test(random, kernels_follow_the_page_interpreted) {
  const wb_kernel_options options = {.interpret = true};
  check_streams(&options);
}

Test(random, kernels_follow_the_page_compiled) {
  wb_program *program = stream_program();
  wb_kernel *kernel;
  wb_error error;
  wb_status status = wb_kernel_compile(NULL, program, NULL, &kernel, NULL, &error);
  wb_program_free(program);
  if (status == WB_ERROR_UNAVAILABLE) cr_skip_test("%s", error.text);
  cr_assert_eq(status, WB_OK, "%s", error.text);
  wb_kernel_release(kernel);
  check_streams(NULL);
}

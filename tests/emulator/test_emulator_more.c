/* More kernels that nvcc compiled (ptx/kernels.cu): running sums, a machine of many branches, vectors,
 * prefetches; against the same computed on the host, in lock step and lane by lane. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <string.h>

static const char *const modes[] = {"warp", "lanes:1", "lanes:77"};
enum { MODES = sizeof modes / sizeof *modes };

static cudaKernel_t open_kernel(const char *name, int mode, const char *divergence) {
  harness_start();
  cr_assert(wb_emulator_set("DIVERGENCE", divergence));
  cr_assert(wb_emulator_set("MODE", modes[mode]));
  return harness_kernel(harness_load("kernels.ptx"), name);
}

static uint64_t state = 7;
static uint32_t random_u32(void) {
  state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(state >> 32);
}
static uint64_t random_u64(void) { return (uint64_t)random_u32() << 32 | random_u32(); }

Test(more, running_sums) {
  enum { BLOCKS = 3, SIZE = 224, N = BLOCKS * SIZE };
  int in[N], out[N];
  for (int k = 0; k < N; k++) in[k] = (int)(random_u32() % 20001) - 10000;
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("scan", mode, "allow");
    void *from = harness_put(in, sizeof in), *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&from, &to};
    harness_launch(kernel, (dim3){BLOCKS, 1, 1}, (dim3){SIZE, 1, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    for (int b = 0, sum = 0; b < BLOCKS; b++, sum = 0) {
      for (int k = b * SIZE; k < (b + 1) * SIZE; k++) {
        sum += in[k];
        cr_assert_eq(out[k], sum, "%s, %d: %d, not %d", modes[mode], k, out[k], sum);
      }
    }
  }
  harness_end();
}

static int64_t run_machine(const uint8_t *code, int length, int64_t a) {
  uint64_t x = (uint64_t)a, y = 1, kept;
  for (int k = 0; k < length; k++) {
    switch (code[k]) {
    case 0: x += y; break;
    case 1: x -= y; break;
    case 2: y = x * 3 + (uint64_t)k; break;
    case 3: x ^= y << 7; break;
    case 4: y = (uint64_t)((int64_t)x >> 5); break;
    case 5: x *= y; break;
    case 6: kept = x, x = y, y = kept; break;
    case 7: x = ~x; break;
    case 8: y += 1000003; break;
    case 9: x = (int64_t)x < (int64_t)y ? x : y; break;
    case 10: y = x & 1 ? 0 - y : y; break;
    default: k++; break;
    }
  }
  return (int64_t)(x ^ y);
}

Test(more, a_machine_whose_lanes_go_separate_ways) {
  enum { N = 128, LENGTH = 40 };
  static uint8_t code[N * LENGTH];
  int64_t out[N];
  for (int k = 0; k < N * LENGTH; k++) code[k] = (uint8_t)(random_u32() % 13);
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("machine", mode, "allow");
    int length = LENGTH;
    void *from = harness_put(code, sizeof code), *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&from, &length, &to};
    harness_launch(kernel, (dim3){2, 1, 1}, (dim3){N / 2, 1, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    for (int k = 0; k < N; k++) {
      const int64_t expected = run_machine(code + k * LENGTH, LENGTH, k);
      cr_assert_eq(out[k], expected, "%s, %d", modes[mode], k);
    }
  }
  harness_end();
  /* and it is refused where lanes may not part */
  cudaKernel_t kernel = open_kernel("machine", 0, "refuse");
  int length = LENGTH;
  void *from = harness_put(code, sizeof code), *to = harness_put(NULL, sizeof out);
  void *arguments[] = {&from, &length, &to};
  MUST(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL));
  cr_assert_eq(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  cr_assert(strstr(wb_emulator_message(), "divergence"), "%s", wb_emulator_message());
  harness_end();
}

typedef struct vectors {
  uint32_t words[64][4], pairs[64][2];
  uint64_t wide[64][2];
  double reals[64][2];
  uint16_t halves[64][4];
  uint8_t bytes[64][4];
} vectors;

static void fill_vectors(vectors *v) {
  for (int t = 0; t < 64; t++) {
    for (int k = 0; k < 4; k++) {
      v->words[t][k] = random_u32();
      v->halves[t][k] = (uint16_t)random_u32();
      v->bytes[t][k] = (uint8_t)random_u32();
      v->pairs[t][k & 1] = random_u32();
      v->wide[t][k & 1] = random_u64();
      v->reals[t][k & 1] = (double)(int32_t)random_u32() * 1000.0;
    }
  }
}

Test(more, vectors_of_every_width) {
  static vectors v;
  static uint32_t words[64][4];
  static uint64_t wide[64][2];
  static uint16_t halves[64][4];
  static uint8_t bytes[64][4];
  fill_vectors(&v);
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("vectors", mode, "refuse");
    void *in[] = {harness_put(v.words, sizeof v.words),   harness_put(v.pairs, sizeof v.pairs),
                  harness_put(v.wide, sizeof v.wide),     harness_put(v.reals, sizeof v.reals),
                  harness_put(v.halves, sizeof v.halves), harness_put(v.bytes, sizeof v.bytes)};
    void *out[] = {harness_put(NULL, sizeof words), harness_put(NULL, sizeof wide),
                   harness_put(NULL, sizeof halves), harness_put(NULL, sizeof bytes)};
    void *arguments[] = {&in[0], &in[1],  &in[2],  &in[3],  &in[4],
                         &in[5], &out[0], &out[1], &out[2], &out[3]};
    harness_launch(kernel, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, arguments);
    harness_get(words, out[0], sizeof words);
    harness_get(wide, out[1], sizeof wide);
    harness_get(halves, out[2], sizeof halves);
    harness_get(bytes, out[3], sizeof bytes);
    for (int t = 0; t < 64; t++) {
      const uint32_t *w = v.words[63 - t], *p = v.pairs[63 - t];
      const uint64_t *l = v.wide[63 - t];
      const uint16_t *h = v.halves[t];
      const uint8_t *b = v.bytes[t];
      const uint32_t expected[4] = {w[2] + p[1], w[3] ^ p[0], w[0] ^ p[1], w[1] - p[0]};
      cr_assert_arr_eq(words[t], expected, sizeof expected, "%s, %d", modes[mode], t);
      cr_assert_eq(wide[t][0], l[1] + (uint64_t)(int64_t)v.reals[t][0]);
      cr_assert_eq(wide[t][1], l[0] ^ (uint64_t)(int64_t)v.reals[t][1]);
      const uint16_t half[4] = {h[3], h[2], (uint16_t)(h[1] + h[0]), h[0]};
      cr_assert_arr_eq(halves[t], half, sizeof half, "%s, %d", modes[mode], t);
      const uint8_t byte[4] = {b[3], (uint8_t)(b[2] + 1), b[1], b[0] ^ b[3]};
      cr_assert_arr_eq(bytes[t], byte, sizeof byte, "%s, %d", modes[mode], t);
    }
  }
  harness_end();
}

Test(more, rows_that_are_brought_near) {
  enum { ROWS = 9 };
  int rows[ROWS * 32];
  int64_t out[32];
  for (int k = 0; k < ROWS * 32; k++) rows[k] = (int)random_u32();
  for (int mode = 0; mode < MODES; mode++) {
    for (int count = 1; count <= ROWS; count += 4) {
      cudaKernel_t kernel = open_kernel("fetched", mode, "refuse");
      void *from = harness_put(rows, (size_t)count * 128), *to = harness_put(NULL, sizeof out);
      void *arguments[] = {&from, &count, &to};
      harness_launch(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, arguments);
      harness_get(out, to, sizeof out);
      for (int lane = 0; lane < 32; lane++) {
        int64_t sum = 0;
        for (int k = 0; k < count; k++) sum += (int64_t)rows[k * 32 + lane] * (k + 1);
        cr_assert_eq(out[lane], sum, "%s, %d", modes[mode], lane);
      }
      if (mode > 0) continue;
      wb_emulator_counts counts;
      cr_assert(wb_emulator_read_counts("fetched", &counts));
      /* a load and a prefetch of each row, and the sums */
      cr_expect_eq(counts.global_sectors, count * 4 * 2 + 8, "%lld sectors of %d rows",
                   (long long)counts.global_sectors, count);
    }
  }
  harness_end();
}

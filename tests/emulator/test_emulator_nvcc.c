/* Kernels that nvcc compiled (ptx/kernels.cu), against the same computed on the host, in lock step and
 * lane by lane. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {"warp", "lanes:1", "lanes:77"};
enum { MODES = sizeof modes / sizeof *modes };

/* the kernels of CUDA C may diverge */
static cudaKernel_t open_kernel(const char *name, int mode) {
  harness_start();
  cr_assert(wb_emulator_set("DIVERGENCE", "allow"));
  cr_assert(wb_emulator_set("MODE", modes[mode]));
  return harness_kernel(harness_load("kernels.ptx"), name);
}

static uint32_t state = 1;
static uint32_t random_u32(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}
static uint64_t random_u64(void) { return (uint64_t)random_u32() << 32 | random_u32(); }

static uint32_t bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return x != x ? 0x7fffffff : bits;
}
static uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, 8);
  return x != x ? 1 : bits;
}

Test(nvcc, sum_by_shuffles_and_shared_memory) {
  enum { N = 5000 };
  static int values[N];
  int expected = 0;
  for (int k = 0; k < N; k++) expected += values[k] = (int)(random_u32() % 2001) - 1000;
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("sum", mode);
    int n = N, result = 0;
    void *in = harness_put(values, sizeof values), *out = harness_put(NULL, 4);
    void *arguments[] = {&in, &n, &out};
    harness_launch(kernel, (dim3){3, 1, 1}, (dim3){256, 1, 1}, 0, arguments);
    harness_get(&result, out, 4);
    cr_assert_eq(result, expected, "%s: %d, %d", modes[mode], result, expected);
  }
  harness_end();
}

Test(nvcc, histogram_in_dynamic_shared_memory) {
  enum { N = 3001 };
  static uint8_t bytes[N];
  unsigned expected[256] = {0}, counts[256];
  for (int k = 0; k < N; k++) expected[bytes[k] = (uint8_t)(random_u32() % 100)]++;
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("histogram", mode);
    int n = N;
    void *in = harness_put(bytes, N), *out = harness_put(NULL, sizeof counts);
    void *arguments[] = {&in, &n, &out};
    harness_launch(kernel, (dim3){2, 1, 1}, (dim3){96, 1, 1}, 1024, arguments);
    harness_get(counts, out, sizeof counts);
    cr_assert_arr_eq(counts, expected, sizeof counts, "%s", modes[mode]);
  }
  harness_end();
}

/* the host's arithmetic in a rounding mode */
static volatile float fa, fb, fc, fr;
#define ROUNDED(mode, expression) \
  (fesetround(mode), fr = (expression), fesetround(FE_TONEAREST), fr)

static void expect_floats(float x, float y, float z, float *o) {
  fa = x, fb = y, fc = z;
  const int rounds[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  for (int k = 0; k < 4; k++) {
    o[k] = ROUNDED(rounds[k], fa + fb);
    o[4 + k] = ROUNDED(rounds[k], fa * fb);
    o[8 + k] = ROUNDED(rounds[k], fa / fb);
  }
  o[12] = ROUNDED(FE_TONEAREST, sqrtf(fa)), o[13] = ROUNDED(FE_DOWNWARD, sqrtf(fa));
  o[14] = ROUNDED(FE_TONEAREST, fmaf(fa, fb, fc)), o[15] = ROUNDED(FE_UPWARD, fmaf(fa, fb, fc));
  /* -0 is less than 0; a NaN, also a signalling one, gives way to a number */
  const bool x_least = x != x ? false : y != y ? true : x < y || (x == y && signbit(x));
  const bool x_most = x != x ? false : y != y ? true : x > y || (x == y && !signbit(x));
  o[16] = x_least ? x : y;
  o[17] = x_most ? x : y;
  o[18] = ROUNDED(FE_TONEAREST, 1 / fa), o[19] = truncf(x), o[20] = rintf(x), o[21] = floorf(x);
  o[22] = ceilf(x), o[23] = fabsf(x);
}

static float awkward_float(int k) {
  static const float known[] = {
      0.0f,    -0.0f,           1.0f,          -1.0f,  INFINITY, -INFINITY,   NAN,   1e-45f,
      -1e-45f, 1.17549435e-38f, 3.4028235e38f, 1e-40f, 0.1f,     16777217.0f, -0.5f, 2.5f};
  if (k < 16) return known[k];
  const uint32_t bits = random_u32();
  float x;
  memcpy(&x, &bits, 4);
  return x;
}

Test(nvcc, floats_in_every_rounding_with_denormals) {
  enum { N = 700 };
  static float a[N], b[N], c[N], out[24 * N];
  for (int k = 0; k < N; k++) {
    a[k] = awkward_float(k < 256 ? k % 16 : 16), b[k] = awkward_float(k < 256 ? k / 16 : 16);
    c[k] = awkward_float((int)(random_u32() % 40));
  }
  for (int mode = 0; mode < 2; mode++) {
    cudaKernel_t kernel = open_kernel("floats", mode);
    int n = N;
    void *da = harness_put(a, sizeof a), *db = harness_put(b, sizeof b),
         *dc = harness_put(c, sizeof c);
    void *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&da, &db, &dc, &to, &n};
    harness_launch(kernel, (dim3){(N + 63) / 64, 1, 1}, (dim3){64, 1, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    for (int k = 0; k < N; k++) {
      float expected[24];
      expect_floats(a[k], b[k], c[k], expected);
      for (int j = 0; j < 24; j++) {
        cr_assert_eq(bits_of(out[24 * k + j]), bits_of(expected[j]),
                     "%a %a %a, result %d: %a, not %a", (double)a[k], (double)b[k], (double)c[k], j,
                     (double)out[24 * k + j], (double)expected[j]);
      }
    }
  }
  harness_end();
}

Test(nvcc, doubles) {
  enum { N = 300 };
  static double a[N], b[N], out[8 * N];
  static float narrow[3 * N];
  for (int k = 0; k < N; k++) {
    const uint64_t x = random_u64(), y = random_u64();
    memcpy(&a[k], &x, 8);
    memcpy(&b[k], &y, 8);
    if (k & 1) a[k] = (double)awkward_float(k % 40), b[k] = 1.0 / (k + 1);
  }
  cudaKernel_t kernel = open_kernel("doubles", 0);
  int n = N;
  void *da = harness_put(a, sizeof a), *db = harness_put(b, sizeof b);
  void *to = harness_put(NULL, sizeof out), *small = harness_put(NULL, sizeof narrow);
  void *arguments[] = {&da, &db, &to, &small, &n};
  harness_launch(kernel, (dim3){5, 1, 1}, (dim3){64, 1, 1}, 0, arguments);
  harness_get(out, to, sizeof out);
  harness_get(narrow, small, sizeof narrow);
  for (int k = 0; k < N; k++) {
    volatile double x = a[k], y = b[k], zero;
    fesetround(FE_TOWARDZERO);
    zero = x + y;
    volatile float cut = (float)x;
    fesetround(FE_UPWARD);
    volatile float up = (float)x;
    fesetround(FE_TONEAREST);
    const double expected[8] = {x + y,        x * y, x / y,      sqrt(x),
                                fma(x, y, x), zero,  fmin(x, y), fmax(x, y)};
    for (int j = 0; j < 8; j++) {
      cr_assert_eq(bits_of_double(out[8 * k + j]), bits_of_double(expected[j]),
                   "%a %a, result %d: %a, not %a", x, y, j, out[8 * k + j], expected[j]);
    }
    const float f[3] = {(float)x, cut, up};
    for (int j = 0; j < 3; j++)
      cr_assert_eq(bits_of(narrow[3 * k + j]), bits_of(f[j]), "%a to float, %d", x, j);
  }
  harness_end();
}

static int64_t clamped(double x, double least, double most) {
  return x != x ? 0 : x <= least ? (int64_t)least : x >= most ? (int64_t)most : (int64_t)x;
}

Test(nvcc, conversions_saturate) {
  enum { N = 400 };
  static float a[N], back[5 * N];
  static int i32[4 * N];
  static unsigned u32[N];
  static long long i64[N];
  for (int k = 0; k < N; k++) {
    a[k] = k < 16 ? awkward_float(k)
                  : ((float)random_u32() / 65536 - 32768) * (float)pow(10, k % 12 - 4);
  }
  a[16] = 2147483648.0f, a[17] = -2147483904.0f, a[18] = 4294967296.0f, a[19] = 9.3e18f,
  a[20] = -9.3e18f;
  cudaKernel_t kernel = open_kernel("convert", 0);
  int n = N;
  void *da = harness_put(a, sizeof a), *d1 = harness_put(NULL, sizeof i32);
  void *d2 = harness_put(NULL, sizeof u32), *d3 = harness_put(NULL, sizeof i64);
  void *d4 = harness_put(NULL, sizeof back);
  void *arguments[] = {&da, &d1, &d2, &d3, &d4, &n};
  harness_launch(kernel, (dim3){7, 1, 1}, (dim3){64, 1, 1}, 0, arguments);
  harness_get(i32, d1, sizeof i32);
  harness_get(u32, d2, sizeof u32);
  harness_get(i64, d3, sizeof i64);
  harness_get(back, d4, sizeof back);
  for (int k = 0; k < N; k++) {
    const double x = (double)a[k];
    const double whole[4] = {trunc(x), nearbyint(x), ceil(x), floor(x)};
    for (int j = 0; j < 4; j++) {
      cr_assert_eq(i32[4 * k + j], clamped(whole[j], INT32_MIN, INT32_MAX), "%a to int, %d: %d", x,
                   j, i32[4 * k + j]);
    }
    cr_assert_eq(u32[k], (unsigned)clamped(trunc(x), 0, UINT32_MAX), "%a to unsigned: %u", x,
                 u32[k]);
    const int64_t wide = x >= 0x1p63 ? INT64_MAX : clamped(trunc(x), -0x1p63, 0x1p63);
    cr_assert_eq(i64[k], wide, "%a to 64 bits: %lld", x, i64[k]);
    const float expected[5] = {(float)i32[4 * k], (float)u32[k], (float)i64[k],
                               (float)(int8_t)i32[4 * k], (float)(uint16_t)u32[k]};
    for (int j = 0; j < 5; j++) cr_assert_eq(back[5 * k + j], expected[j], "%a back, %d", x, j);
  }
  harness_end();
}

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;

static uint64_t reversed(uint64_t x) {
  uint64_t r = 0;
  for (int k = 0; k < 64; k++) r |= (x >> k & 1) << (63 - k);
  return r;
}

static void expect_wide(uint64_t x, uint64_t y, uint64_t *o) {
  const int64_t sx = (int64_t)x, sy = (int64_t)y;
  const uint32_t lo = (uint32_t)x, hi = (uint32_t)(x >> 32), s = (uint32_t)y & 31;
  const int64_t odd = sy | 1;
  o[0] = x + y, o[1] = x - y, o[2] = x * y, o[3] = (uint64_t)((u128)x * y >> 64);
  o[4] = (uint64_t)((s128)sx * sy >> 64), o[5] = y ? x / y : 0, o[6] = y ? x % y : 0;
  o[7] = sy ? (odd == -1 ? 0 - x : (uint64_t)(sx / odd)) : 0;
  o[8] = odd == -1 ? 0 : (uint64_t)(sx % odd), o[9] = x << (y & 63), o[10] = x >> (y & 63);
  o[11] = (uint64_t)(sx >> (y & 63)), o[12] = (uint64_t)__builtin_popcountll(x);
  o[13] = x ? (uint64_t)__builtin_clzll(x) : 64, o[14] = x ? (uint64_t)__builtin_ctzll(x) + 1 : 0;
  o[15] = reversed(x), o[16] = s ? (hi << s | lo >> (32 - s)) : hi,
  o[17] = s ? (lo >> s | hi << (32 - s)) : lo;
  o[18] = 0;
  for (int k = 0; k < 4; k++) o[18] |= (x >> 8 * (y >> 4 * k & 7) & 255) << 8 * k;
  const u128 p = (u128)x * y + x, q = ((u128)x << 64 | y) - ((u128)y << 64 | x);
  o[19] = (uint64_t)p, o[20] = (uint64_t)(p >> 64), o[21] = (uint64_t)q,
  o[22] = (uint64_t)(q >> 64);
  o[23] = (uint64_t)(sx < sy ? sx : sy), o[24] = x > y ? x : y;
  o[25] = (uint32_t)((int64_t)(int32_t)lo * (int32_t)hi >> 32);
}

Test(nvcc, wide_integers) {
  enum { N = 300 };
  static uint64_t a[N], b[N], out[26 * N];
  static const uint64_t known[] = {
      0, 1, UINT64_MAX, UINT64_C(1) << 63, (UINT64_C(1) << 63) - 1, 0xffffffff, 7};
  for (int k = 0; k < N; k++) {
    a[k] = k < 49 ? known[k % 7] : random_u64() >> (random_u32() & 63);
    b[k] = k < 49 ? known[k / 7] : random_u64() >> (random_u32() & 63);
  }
  for (int mode = 0; mode < 2; mode++) {
    cudaKernel_t kernel = open_kernel("wide", mode);
    int n = N;
    void *da = harness_put(a, sizeof a), *db = harness_put(b, sizeof b),
         *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&da, &db, &to, &n};
    harness_launch(kernel, (dim3){5, 1, 1}, (dim3){64, 1, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    for (int k = 0; k < N; k++) {
      uint64_t expected[26];
      expect_wide(a[k], b[k], expected);
      for (int j = 0; j < 26; j++) {
        cr_assert_eq(out[26 * k + j], expected[j], "%llx %llx, result %d: %llx, not %llx",
                     (unsigned long long)a[k], (unsigned long long)b[k], j,
                     (unsigned long long)out[26 * k + j], (unsigned long long)expected[j]);
      }
    }
  }
  harness_end();
}

static void expect_path(int i, unsigned x, int *steps, int *kind) {
  int count = 0;
  while (x != 1) {
    if (x & 1) {
      x = 3 * x + 1;
      if (x > 100000) break;
    } else {
      x >>= 1;
    }
    count++;
  }
  *steps = count;
  switch (i % 7) {
  case 0: *kind = count * 2; break;
  case 1: *kind = count + 100; break;
  case 2: *kind = -count; return;
  case 3:
    for (int k = 0; k < i % 5; k++) count ^= k * 77;
    *kind = count;
    break;
  case 4: *kind = i; break;
  default: *kind = 7; break;
  }
  *kind += 1000;
}

Test(nvcc, lanes_go_separate_ways) {
  enum { N = 300 };
  static unsigned start[N];
  static int steps[N], kind[N];
  for (int k = 0; k < N; k++) start[k] = 1 + random_u32() % 5000;
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("paths", mode);
    int n = N;
    void *in = harness_put(start, sizeof start), *d1 = harness_put(NULL, sizeof steps);
    void *d2 = harness_put(NULL, sizeof kind);
    void *arguments[] = {&in, &d1, &d2, &n};
    harness_launch(kernel, (dim3){4, 1, 1}, (dim3){96, 1, 1}, 0, arguments);
    harness_get(steps, d1, sizeof steps);
    harness_get(kind, d2, sizeof kind);
    for (int k = 0; k < N; k++) {
      int expected_steps, expected_kind;
      expect_path(k, start[k], &expected_steps, &expected_kind);
      cr_assert_eq(steps[k], expected_steps, "%s, %d", modes[mode], k);
      cr_assert_eq(kind[k], expected_kind, "%s, %d: %d, not %d", modes[mode], k, kind[k],
                   expected_kind);
    }
  }
  harness_end();
}

Test(nvcc, divergent_branches_are_refused_unless_allowed) {
  harness_start();
  unsigned start[32];
  for (unsigned k = 0; k < 32; k++) start[k] = 1 + k;
  int n = 32;
  cudaKernel_t kernel = harness_kernel(harness_load("kernels.ptx"), "paths");
  void *in = harness_put(start, sizeof start), *a = harness_put(NULL, 128),
       *b = harness_put(NULL, 128);
  void *arguments[] = {&in, &a, &b, &n};
  MUST(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL));
  cr_assert_eq(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  cr_assert(strstr(wb_emulator_message(), "divergence"), "%s", wb_emulator_message());
  harness_end();
}

Test(nvcc, lanes_tell_each_other) {
  int v[32];
  for (int k = 0; k < 32; k++) v[k] = (int)(random_u32() % 101);
  v[5] = 7;
  static unsigned out[18 * 32];
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("gangs", mode);
    void *in = harness_put(v, sizeof v), *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&in, &to};
    harness_launch(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    unsigned above = 0, odd = 0, sum = 0, least = INT32_MAX, most = 0, mixed = 0, half[2] = {0};
    for (unsigned k = 0; k < 32; k++) {
      above |= (unsigned)(v[k] > 50) << k, odd |= (unsigned)(v[k] & 1) << k;
      sum += (unsigned)v[k], half[k / 16] += (unsigned)v[k], mixed ^= (unsigned)v[k];
      least = (unsigned)((int)least < v[k] - 50 ? (int)least : v[k] - 50);
      most = most > (unsigned)v[k] ? most : (unsigned)v[k];
    }
    for (int l = 0; l < 32; l++) {
      unsigned mod5 = 0, same = 0;
      for (int k = 0; k < 32; k++) {
        mod5 |= (unsigned)(v[k] % 5 == v[l] % 5) << k, same |= (unsigned)(v[k] == v[l]) << k;
      }
      const unsigned expected[18] = {above,
                                     1,
                                     1,
                                     (unsigned)v[l * 7 & 31],
                                     (unsigned)v[l < 3 ? l : l - 3],
                                     (unsigned)v[(l & 7) + 5 < 8 ? l + 5 : l],
                                     (unsigned)v[l ^ 9],
                                     (unsigned)v[(l & 16) + 2],
                                     mod5,
                                     ~0u,
                                     1,
                                     sum,
                                     least,
                                     most,
                                     mixed,
                                     half[l / 16],
                                     odd & (l < 16 ? 0xffffu : 0xffff0000u),
                                     same};
      for (int j = 0; j < 18; j++) {
        cr_assert_eq(out[18 * l + j], expected[j], "%s, lane %d, result %d: %x, not %x",
                     modes[mode], l, j, out[18 * l + j], expected[j]);
      }
    }
  }
  harness_end();
}

Test(nvcc, atomics_of_every_kind) {
  enum { N = 200 };
  int values[N], i32[9];
  for (int k = 0; k < N; k++) values[k] = (int)(random_u32() % 5000) - 1000;
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("atomics", mode);
    const int first[9] = {100, 100, 0, -1, 0, 0, 0, 0, 0};
    unsigned long long u64[2];
    float f32;
    int n = N;
    void *in = harness_put(values, sizeof values), *d1 = harness_put(first, sizeof first);
    void *d2 = harness_put(NULL, sizeof u64), *d3 = harness_put(NULL, 4);
    void *arguments[] = {&in, &n, &d1, &d2, &d3};
    harness_launch(kernel, (dim3){2, 1, 1}, (dim3){128, 1, 1}, 0, arguments);
    harness_get(i32, d1, sizeof i32);
    harness_get(u64, d2, sizeof u64);
    harness_get(&f32, d3, 4);
    int e[9];
    memcpy(e, first, sizeof e);
    unsigned long long add = 0, most = 0;
    for (int k = 0; k < N; k++) {
      const int v = values[k];
      e[0] = v < e[0] ? v : e[0], e[1] = v > e[1] ? v : e[1], e[2] += v, e[3] &= v | 1, e[4] |= v,
      e[5] ^= v;
      e[6] = (unsigned)e[6] >= 16 ? 0 : e[6] + 1,
      e[7] = e[7] == 0 || (unsigned)e[7] > 9 ? 9 : e[7] - 1;
      e[8] += v;
      add += (unsigned long long)v << 20;
      const unsigned long long square = (unsigned long long)v * (unsigned long long)v;
      most = most > square ? most : square;
    }
    cr_assert_arr_eq(i32, e, sizeof e, "%s", modes[mode]);
    cr_assert_eq(u64[0], add);
    cr_assert_eq(u64[1], most);
    cr_assert_eq(f32, 100.0f);
  }
  harness_end();
}

Test(nvcc, asynchronous_copies) {
  int in[512], out[512];
  for (int k = 0; k < 512; k++) in[k] = (int)random_u32();
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("reverse", mode);
    void *from = harness_put(in, sizeof in), *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&from, &to};
    harness_launch(kernel, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    for (int k = 0; k < 512; k++) {
      const int row = k / 256, at = k % 256 / 4;
      cr_assert_eq(out[k], in[row * 256 + (63 - at) * 4 + k % 4], "%s, %d", modes[mode], k);
    }
  }
  harness_end();
}

static int mix(int a, int b) { return (int)((unsigned)a * 31u + (unsigned)(b ^ a >> 3)); }

Test(nvcc, variables_calls_and_stacks) {
  static const int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
  static const long long scale[3] = {1000000000000ll, -5, 0};
  static const unsigned short narrow[4] = {1, 2, 65535, 0};
  int in[64];
  long long out[64];
  for (int k = 0; k < 64; k++) in[k] = (int)(random_u32() % 1000);
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("variables", mode);
    int n = 9;
    void *from = harness_put(in, sizeof in), *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&from, &to, &n};
    harness_launch(kernel, (dim3){1, 1, 1}, (dim3){64, 1, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    for (int i = 0; i < 64; i++) {
      int stack[16];
      for (int k = 0; k < 16; k++) stack[k] = mix(in[i] + k, k);
      int x = stack[in[i] & 15];
      stack[(in[i] + 3) & 15] = 5;
      for (int k = 0; k < n; k++) x = mix(x, stack[(x + k) & 15]);
      const long long expected =
          x + primes[i & 7] * scale[i & 1] + scale[1] + narrow[i & 3] + (int8_t)x;
      cr_assert_eq(out[i], expected, "%s, %d: %lld, not %lld", modes[mode], i, out[i], expected);
    }
  }
  harness_end();
}

Test(nvcc, a_struct_as_parameter) {
  struct options {
    int8_t kind;
    double weight;
    short table[5];
  } o = {-3, 2.5, {1, -2, 300, 4, -500}};
  double out[32];
  cudaKernel_t kernel = open_kernel("parameters", 0);
  void *to = harness_put(NULL, sizeof out);
  void *arguments[] = {&o, &to};
  harness_launch(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, arguments);
  harness_get(out, to, sizeof out);
  for (int k = 0; k < 32; k++) cr_assert_eq(out[k], o.weight * o.kind + o.table[k % 5]);
  harness_end();
}

Test(nvcc, block_votes_in_two_dimensions) {
  enum { BLOCKS = 6, SIZE = 96 };
  static int in[BLOCKS * SIZE], out[BLOCKS * SIZE];
  for (int k = 0; k < BLOCKS * SIZE; k++) in[k] = (int)(random_u32() % 150) - 101 + k / SIZE;
  for (int mode = 0; mode < MODES; mode++) {
    cudaKernel_t kernel = open_kernel("votes", mode);
    void *from = harness_put(in, sizeof in), *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&from, &to};
    harness_launch(kernel, (dim3){3, 2, 1}, (dim3){24, 4, 1}, 0, arguments);
    harness_get(out, to, sizeof out);
    for (int b = 0; b < BLOCKS; b++) {
      int count = 0, all = 1, any = 0;
      for (int k = 0; k < SIZE; k++) {
        const int v = in[b * SIZE + k];
        count += v > 0, all &= v > -100, any |= v == 42;
      }
      for (int k = 0; k < SIZE; k++) cr_assert_eq(out[b * SIZE + k], count * 4 + all * 2 + any);
    }
  }
  harness_end();
}

Test(nvcc, bank_conflicts_and_sectors_are_counted) {
  int in[1024], out[1024];
  for (int k = 0; k < 1024; k++) in[k] = k;
  wb_emulator_counts counts[2];
  for (int pad = 0; pad < 2; pad++) {
    cudaKernel_t kernel = open_kernel("transpose", 0);
    void *from = harness_put(in, sizeof in), *to = harness_put(NULL, sizeof out);
    void *arguments[] = {&from, &to, &pad};
    harness_launch(kernel, (dim3){1, 1, 1}, (dim3){32, 32, 1}, 33 * 32 * 4, arguments);
    harness_get(out, to, sizeof out);
    for (int k = 0; k < 1024; k++) cr_assert_eq(out[k], k % 32 * 32 + k / 32);
    cr_assert(wb_emulator_read_counts("transpose", &counts[pad]));
  }
  /* 32 warps store a row and load a column: 32 words in one bank without padding */
  cr_assert_eq(counts[0].shared_requests, 64);
  cr_assert_eq(counts[0].shared_passes, 32 + 32 * 32);
  cr_assert_eq(counts[0].shared_conflicts, 32 * 31);
  cr_assert_eq(counts[1].shared_passes, 64);
  cr_assert_eq(counts[1].shared_conflicts, 0);
  cr_assert_eq(counts[0].global_requests, 64);
  cr_assert_eq(counts[0].global_sectors, 64 * 4);
  cr_assert_eq(counts[0].classes[WB_EMULATOR_BARRIER], 32);
  cr_assert_float_eq(counts[0].sm_cycles - counts[1].sm_cycles, 32 * 31, 1e-6);
  harness_end();
}

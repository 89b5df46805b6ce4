// Small kernels with known results, compiled by nvcc; test_emulator_nvcc.c computes the same on the
// host. ptx/generate makes kernels.ptx of this file.
#include <cuda_pipeline.h>
#include <stdint.h>

// sum of n values: per thread, warp (shuffles), block (shared memory), grid (atomic)
extern "C" __global__ void sum(const int *values, int n, int *out) {
  __shared__ int part[32];
  int total = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    total += values[i];
  }
  for (int d = 16; d > 0; d >>= 1) total += __shfl_down_sync(~0u, total, d);
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (lane == 0) part[warp] = total;
  __syncthreads();
  if (warp == 0) {
    total = lane < (blockDim.x >> 5) ? part[lane] : 0;
    for (int d = 16; d > 0; d >>= 1) total += __shfl_xor_sync(~0u, total, d);
    if (lane == 0) atomicAdd(out, total);
  }
}

// counts of bytes, in dynamic shared memory first
extern "C" __global__ void histogram(const uint8_t *bytes, int n, unsigned *counts) {
  extern __shared__ unsigned local[];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) local[k] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&local[bytes[i]], 1);
  }
  __syncthreads();
  for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(&counts[k], local[k]);
}

// 24 results for each pair of floats
extern "C" __global__ void floats(const float *a, const float *b, const float *c, float *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i], y = b[i], z = c[i];
  float *o = out + 24 * i;
  o[0] = __fadd_rn(x, y), o[1] = __fadd_rz(x, y), o[2] = __fadd_ru(x, y), o[3] = __fadd_rd(x, y);
  o[4] = __fmul_rn(x, y), o[5] = __fmul_rz(x, y), o[6] = __fmul_ru(x, y), o[7] = __fmul_rd(x, y);
  o[8] = __fdiv_rn(x, y), o[9] = __fdiv_rz(x, y), o[10] = __fdiv_ru(x, y), o[11] = __fdiv_rd(x, y);
  o[12] = __fsqrt_rn(x), o[13] = __fsqrt_rd(x), o[14] = __fmaf_rn(x, y, z);
  o[15] = __fmaf_ru(x, y, z), o[16] = fminf(x, y), o[17] = fmaxf(x, y), o[18] = __frcp_rn(x);
  o[19] = truncf(x), o[20] = rintf(x), o[21] = floorf(x), o[22] = ceilf(x), o[23] = fabsf(x);
}

extern "C" __global__ void doubles(const double *a, const double *b, double *out, float *narrow,
                                   int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double x = a[i], y = b[i];
  double *o = out + 8 * i;
  o[0] = __dadd_rn(x, y), o[1] = __dmul_rn(x, y), o[2] = __ddiv_rn(x, y), o[3] = __dsqrt_rn(x);
  o[4] = __fma_rn(x, y, x), o[5] = __dadd_rz(x, y), o[6] = fmin(x, y), o[7] = fmax(x, y);
  narrow[3 * i] = __double2float_rn(x);
  narrow[3 * i + 1] = __double2float_rz(x);
  narrow[3 * i + 2] = __double2float_ru(x);
}

extern "C" __global__ void convert(const float *a, int *i32, unsigned *u32, long long *i64,
                                   float *back, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  i32[4 * i] = __float2int_rz(a[i]), i32[4 * i + 1] = __float2int_rn(a[i]);
  i32[4 * i + 2] = __float2int_ru(a[i]), i32[4 * i + 3] = __float2int_rd(a[i]);
  u32[i] = __float2uint_rz(a[i]);
  i64[i] = __float2ll_rz(a[i]);
  back[5 * i] = (float)i32[4 * i], back[5 * i + 1] = (float)u32[i], back[5 * i + 2] = (float)i64[i];
  back[5 * i + 3] = (float)(signed char)(i32[4 * i]), back[5 * i + 4] = (float)(unsigned short)(u32[i]);
}

// 26 results for each pair of 64-bit integers
extern "C" __global__ void wide(const uint64_t *a, const uint64_t *b, uint64_t *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const uint64_t x = a[i], y = b[i];
  const int64_t sx = (int64_t)x, sy = (int64_t)y;
  const uint32_t lo = (uint32_t)x, hi = (uint32_t)(x >> 32);
  uint64_t *o = out + 26 * i;
  o[0] = x + y, o[1] = x - y, o[2] = x * y, o[3] = __umul64hi(x, y), o[4] = (uint64_t)__mul64hi(sx, sy);
  o[5] = y ? x / y : 0, o[6] = y ? x % y : 0, o[7] = (uint64_t)(sy ? sx / (sy | 1) : 0);
  o[8] = (uint64_t)(sx % (sy | 1)), o[9] = x << (y & 63), o[10] = x >> (y & 63);
  o[11] = (uint64_t)(sx >> (y & 63)), o[12] = __popcll(x), o[13] = __clzll(x), o[14] = __ffsll(x);
  o[15] = __brevll(x), o[16] = __funnelshift_l(lo, hi, (uint32_t)y);
  o[17] = __funnelshift_r(lo, hi, (uint32_t)y), o[18] = __byte_perm(lo, hi, (uint32_t)y & 0x7777);
  const unsigned __int128 p = (unsigned __int128)x * y + x;
  o[19] = (uint64_t)p, o[20] = (uint64_t)(p >> 64);
  const unsigned __int128 q = ((unsigned __int128)x << 64 | y) - ((unsigned __int128)y << 64 | x);
  o[21] = (uint64_t)q, o[22] = (uint64_t)(q >> 64);
  o[23] = (uint64_t)min(sx, sy), o[24] = max(x, y), o[25] = (uint64_t)(uint32_t)__mulhi((int)lo, (int)hi);
}

// lanes of a warp go separate ways, for different times, and leave early
extern "C" __global__ void paths(const unsigned *start, int *steps, int *kind, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned x = start[i];
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
  steps[i] = count;
  switch (i % 7) {
  case 0: kind[i] = count * 2; break;
  case 1: kind[i] = count + 100; break;
  case 2: kind[i] = -count; return;
  case 3:
    for (int k = 0; k < i % 5; k++) count ^= k * 77;
    kind[i] = count;
    break;
  case 4: kind[i] = i; break;
  default: kind[i] = 7; break;
  }
  kind[i] += 1000;
}

// everything that lanes tell each other
extern "C" __global__ void gangs(const int *values, unsigned *out) {
  const int lane = threadIdx.x;
  const int v = values[lane];
  unsigned *o = out + 18 * lane;
  int pred;
  o[0] = __ballot_sync(~0u, v > 50);
  o[1] = __any_sync(~0u, v == 7), o[2] = __all_sync(~0u, v < 1000);
  o[3] = __shfl_sync(~0u, v, lane * 7), o[4] = __shfl_up_sync(~0u, v, 3);
  o[5] = __shfl_down_sync(~0u, v, 5, 8), o[6] = __shfl_xor_sync(~0u, v, 9);
  o[7] = __shfl_sync(~0u, v, 2, 16), o[8] = __match_any_sync(~0u, v % 5);
  o[9] = __match_all_sync(~0u, 3, &pred), o[10] = pred;
  o[11] = __reduce_add_sync(~0u, v), o[12] = __reduce_min_sync(~0u, v - 50);
  o[13] = __reduce_max_sync(~0u, (unsigned)v), o[14] = __reduce_xor_sync(~0u, (unsigned)v);
  const unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
  o[15] = __reduce_add_sync(half, v), o[16] = __ballot_sync(half, v & 1);
  o[17] = __match_any_sync(~0u, (long long)v << 33);
}

// atomics of every kind on few places
extern "C" __global__ void atomics(const int *values, int n, int *i32, unsigned long long *u64,
                                   float *f32) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int v = values[i];
  atomicMin(&i32[0], v), atomicMax(&i32[1], v), atomicAdd(&i32[2], v), atomicAnd(&i32[3], v | 1);
  atomicOr(&i32[4], v), atomicXor(&i32[5], v), atomicInc((unsigned *)&i32[6], 16);
  atomicDec((unsigned *)&i32[7], 9);
  atomicAdd(u64, (unsigned long long)v << 20), atomicMax(u64 + 1, (unsigned long long)v * v);
  atomicAdd(f32, 0.5f);
  int old = 0, seen; // adds through compare and swap
  do {
    seen = old;
    old = atomicCAS(&i32[8], seen, seen + v);
  } while (old != seen);
}

// rows brought to shared memory by asynchronous copies, and reversed
extern "C" __global__ void reverse(const int4 *in, int4 *out) {
  __shared__ int4 rows[2][64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&rows[0][t], &in[t], 16);
  __pipeline_commit();
  __pipeline_memcpy_async(&rows[1][t], &in[64 + t], 16);
  __pipeline_commit();
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = rows[0][63 - t];
  __pipeline_wait_prior(0);
  __syncthreads();
  out[64 + t] = rows[1][63 - t];
}

__device__ __noinline__ int mix(int a, int b) { return a * 31 + (b ^ a >> 3); }
__constant__ int primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};
__device__ long long scale[3] = {1000000000000ll, -5};
__device__ long long *scale_at = scale + 1;
__device__ unsigned short narrow[4] = {1, 2, 65535};

// calls, constants, variables, an array on the stack, narrow types
extern "C" __global__ void variables(const int *in, long long *out, int n) {
  const int i = threadIdx.x;
  int stack[16];
  for (int k = 0; k < 16; k++) stack[k] = mix(in[i] + k, k);
  int x = stack[in[i] & 15];
  stack[(in[i] + 3) & 15] = 5;
  for (int k = 0; k < n; k++) x = mix(x, stack[(x + k) & 15]);
  const int8_t small = (int8_t)x;
  out[i] = x + primes[i & 7] * scale[i & 1] + *scale_at + narrow[i & 3] + small;
}

// a struct as parameter, with a hole
struct options {
  int8_t kind;
  double weight;
  short table[5];
};
extern "C" __global__ void parameters(options o, double *out) {
  out[threadIdx.x] = o.weight * o.kind + o.table[threadIdx.x % 5];
}

// a transposed tile: columns of shared memory, without and with bank conflicts
extern "C" __global__ void transpose(const int *in, int *out, int pad) {
  extern __shared__ int tile[];
  const int x = threadIdx.x, y = threadIdx.y, pitch = 32 + pad;
  tile[y * pitch + x] = in[y * 32 + x];
  __syncthreads();
  out[y * 32 + x] = tile[x * pitch + y];
}

// block-wide votes and a two-dimensional grid
extern "C" __global__ void votes(const int *in, int *out) {
  const int t = threadIdx.y * blockDim.x + threadIdx.x;
  const int block = blockIdx.y * gridDim.x + blockIdx.x, size = blockDim.x * blockDim.y;
  const int v = in[block * size + t];
  const int count = __syncthreads_count(v > 0), all = __syncthreads_and(v > -100);
  const int any = __syncthreads_or(v == 42);
  out[block * size + t] = count * 4 + all * 2 + any;
}

// running sums of a block's values: in warps by shuffles, over warps through shared memory
extern "C" __global__ void scan(const int *in, int *out) {
  __shared__ int totals[32];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5, at = blockIdx.x * blockDim.x + t;
  int sum = in[at];
  for (int d = 1; d < 32; d <<= 1) {
    const int below = __shfl_up_sync(~0u, sum, d);
    if (lane >= d) sum += below;
  }
  if (lane == 31) totals[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    int total = lane < (int)(blockDim.x >> 5) ? totals[lane] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      const int below = __shfl_up_sync(~0u, total, d);
      if (lane >= d) total += below;
    }
    totals[lane] = total;
  }
  __syncthreads();
  out[at] = sum + (warp > 0 ? totals[warp - 1] : 0);
}

// a small machine: every thread goes through a program of its own, by a tree of branches
extern "C" __global__ void machine(const unsigned char *code, int length, long long *out) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  long long a = t, b = 1;
  for (int k = 0; k < length; k++) {
    switch (code[t * length + k]) {
    case 0: a += b; break;
    case 1: a -= b; break;
    case 2: b = a * 3 + k; break;
    case 3: a ^= b << 7; break;
    case 4: b = a >> 5; break;
    case 5: a = a * b; break;
    case 6: { const long long c = a; a = b; b = c; break; }
    case 7: a = ~a; break;
    case 8: b += 1000003; break;
    case 9: a = a < b ? a : b; break;
    case 10: if (a & 1) b = -b; break;
    default: k++; break;
    }
  }
  out[t] = a ^ b;
}

// vectors of every width: plain, by the read-only path, through shared memory
extern "C" __global__ void vectors(const uint4 *__restrict__ words, const uint2 *pairs,
                                   const ulonglong2 *__restrict__ wide, const double2 *reals,
                                   const ushort4 *halves, const uchar4 *bytes, uint4 *out,
                                   ulonglong2 *out_wide, ushort4 *out_halves, uchar4 *out_bytes) {
  __shared__ uint4 turned[64];
  __shared__ ulonglong2 turned_wide[64];
  const int t = threadIdx.x, last = 63 - t;
  const uint4 w = __ldg(&words[t]);
  const uint2 p = pairs[t];
  turned[t] = make_uint4(w.w ^ p.x, w.z + p.y, w.y - p.x, w.x ^ p.y);
  turned_wide[t] = __ldg(&wide[t]);
  __syncthreads();
  const uint4 v = turned[last];
  const ulonglong2 l = turned_wide[last];
  const double2 r = reals[t];
  out[t] = make_uint4(v.y, v.x, v.w, v.z);
  out_wide[t] = make_ulonglong2(l.y + (unsigned long long)(long long)r.x,
                                l.x ^ (unsigned long long)(long long)r.y);
  const ushort4 h = halves[t];
  out_halves[t] = make_ushort4(h.w, h.z, (unsigned short)(h.y + h.x), h.x);
  const uchar4 b = bytes[t];
  out_bytes[t] = make_uchar4(b.w, (unsigned char)(b.z + 1), b.y, (unsigned char)(b.x ^ b.w));
}

// rows brought near before they are summed
extern "C" __global__ void fetched(const int *rows, int count, long long *out) {
  const int lane = threadIdx.x;
  asm volatile("prefetch.global.L2 [%0];" ::"l"(rows + lane));
  long long sum = 0;
  for (int k = 0; k < count; k++) {
    if (k + 1 < count) asm volatile("prefetch.global.L1 [%0];" ::"l"(rows + (k + 1) * 32 + lane));
    sum += (long long)rows[k * 32 + lane] * (k + 1);
  }
  out[lane] = sum;
}

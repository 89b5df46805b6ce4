/* Which of the x86-64 levels (the psABI's, v1 to v4) this machine has. */
#include "compiler/elf_load.h"

#include <stddef.h>

static const char *const names[WB_CPU_LEVELS] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};

const char *wb_cpu_level_text(int32_t level) {
  return level >= 1 && level <= WB_CPU_LEVELS ? names[level - 1] : NULL;
}

#if defined(__x86_64__)

#include <cpuid.h>

enum {
  /* leaf 1, ecx */
  V2_ECX =
      1 << 0 | 1 << 9 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 23, /* sse3 ssse3 cx16 sse4 popcnt */
  V3_ECX = 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29,    /* fma movbe osxsave avx f16c */
  /* leaf 7, ebx */
  V3_EBX = 1 << 3 | 1 << 5 | 1 << 8,                                 /* bmi avx2 bmi2 */
  V4_EBX = 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | (int)(1u << 31u), /* avx512 f dq cd bw vl */
  /* leaf 0x80000001, ecx */
  V2_EXTENDED = 1 << 0, /* lahf */
  V3_EXTENDED = 1 << 5, /* lzcnt */
  /* state that the system saves */
  STATE_AVX = 0x6,
  STATE_AVX512 = 0xe6
};

static unsigned saved_state(void) {
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

static int has(unsigned word, int bits) { return (word & (unsigned)bits) == (unsigned)bits; }

int32_t wb_cpu_level(void) {
  unsigned a, b, c, d, ebx7 = 0, extended = 0;
  unsigned ecx1 = __get_cpuid(1, &a, &b, &c, &d) != 0 ? c : 0;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) ebx7 = b;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d) != 0) extended = c;
  if (!has(ecx1, V2_ECX) || !has(extended, V2_EXTENDED)) return 1;
  if (!has(ecx1, V3_ECX) || !has(ebx7, V3_EBX) || !has(extended, V3_EXTENDED)) return 2;
  unsigned state = saved_state();
  if (!has(state, STATE_AVX)) return 2;
  return has(ebx7, V4_EBX) && has(state, STATE_AVX512) ? 4 : 3;
}

#else

int32_t wb_cpu_level(void) { return 0; }

#endif

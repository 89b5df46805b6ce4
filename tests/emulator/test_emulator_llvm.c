/* A kernel that LLVM compiled (ptx/sample.ll), of the kind that the compiler writes: one warp for one
 * block, uniform branches, lanes that meet. In strict mode, against the same computed on the host; and
 * with each of its barriers taken out, which must be noticed. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 5, COUNT = 400 };
static int32_t commands[BLOCKS * COUNT][2];

static void make_commands(void) {
  uint32_t state = 12345;
  for (int k = 0; k < BLOCKS * COUNT; k++) {
    state = state * 1664525u + 1013904223u;
    commands[k][0] = (int32_t)(state >> 24) % 7;
    commands[k][1] = (int32_t)(state >> 8 & 0xffff) - 3000;
    if (k % COUNT == COUNT - 1) commands[k][0] = 1; /* the last one changes all slots */
  }
}

static int64_t one_command(uint32_t *slots, int32_t kind, int32_t value, int64_t sum) {
  uint32_t before[32], total = 0, least = UINT32_MAX, mask = 0;
  memcpy(before, slots, sizeof before);
  switch (kind) {
  case 1:
    for (int l = 0; l < 32; l++) total += slots[l] += (uint32_t)value;
    return (int32_t)total;
  case 2:
    for (int l = 0; l < 32; l++) mask |= (uint32_t)(slots[l] > (uint32_t)value) << l;
    return (uint32_t)(slots[(mask ? __builtin_ctz(mask) : 32) & 31] *
                      (uint32_t)__builtin_popcount(mask));
  case 3:
    for (int l = 0; l < 32; l++) {
      const uint32_t by = (uint32_t)value & 31, other = before[l ^ 5];
      slots[l] = by ? before[l] << by | other >> (32 - by) : before[l];
      least = slots[l] < least ? slots[l] : least;
    }
    return (int64_t)((uint64_t)least << 17);
  case 4: {
    const float part = fmaf(sqrtf((float)(uint32_t)value), 3.0f, 0.125f) / 7.0f;
    int32_t bits;
    memcpy(&bits, &part, 4);
    return bits ^ (part >= 2147483648.0f ? INT32_MAX : (int32_t)part);
  }
  case 5:
    slots[value & 31] = (uint32_t)value;
    return (int32_t)((uint32_t)(value / 7) - (uint32_t)value % 11u);
  default: return (int64_t)((uint64_t)value < (uint64_t)sum ? (uint64_t)value : (uint64_t)sum);
  }
}

static void expect(uint32_t *slots, int64_t *log) {
  for (int b = 0; b < BLOCKS; b++) {
    uint64_t sum = 0;
    for (uint32_t l = 0; l < 32; l++) slots[32 * b + (int)l] = l;
    for (int k = b * COUNT; k < (b + 1) * COUNT; k++) {
      sum = sum * 31 +
            (uint64_t)one_command(slots + 32 * b, commands[k][0], commands[k][1], (int64_t)sum);
      log[k] = (int64_t)sum;
    }
    /* neighbours change places at the end */
    for (int l = 32 * b; l < 32 * (b + 1); l += 2) {
      const uint32_t kept = slots[l];
      slots[l] = slots[l + 1];
      slots[l + 1] = kept;
    }
  }
}

static cudaError_t run(const char *text, uint32_t *slots, int64_t *log) {
  cudaLibrary_t library;
  int count = COUNT;
  MUST(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  cudaKernel_t kernel = harness_kernel(library, "machine");
  void *in = harness_put(commands, sizeof commands), *rows = NULL, *to = NULL;
  MUST(cudaMalloc(&rows, 128 * BLOCKS));
  MUST(cudaMalloc(&to, sizeof(int64_t) * BLOCKS * COUNT));
  void *arguments[] = {&in, &rows, &to, &count};
  MUST(cudaLaunchKernel(kernel, (dim3){BLOCKS, 1, 1}, (dim3){32, 1, 1}, arguments, 128, NULL));
  const cudaError_t error = cudaDeviceSynchronize();
  if (error == cudaSuccess) {
    harness_get(slots, rows, 128 * BLOCKS);
    harness_get(log, to, sizeof(int64_t) * BLOCKS * COUNT);
  }
  return error;
}

Test(llvm, a_machine_of_uniform_branches) {
  static uint32_t expected_slots[32 * BLOCKS], slots[32 * BLOCKS];
  static int64_t expected_log[BLOCKS * COUNT], log[BLOCKS * COUNT];
  make_commands();
  expect(expected_slots, expected_log);
  char *text = harness_text("sample.ptx");
  static const char *const modes[] = {"warp", "lanes:3", "lanes:4"};
  for (int mode = 0; mode < 3; mode++) {
    harness_start();
    cr_assert(wb_emulator_set("MODE", modes[mode]));
    MUST(run(text, slots, log));
    for (int k = 0; k < BLOCKS * COUNT; k++) {
      cr_assert_eq(log[k], expected_log[k], "%s, command %d of kind %d: %lld, not %lld",
                   modes[mode], k, commands[k][0], (long long)log[k], (long long)expected_log[k]);
    }
    cr_assert_arr_eq(slots, expected_slots, sizeof slots, "%s", modes[mode]);
  }
  harness_end();
  free(text);
}

/* overwrites the n-th line with a word by blanks */
static bool blank_line(char *text, const char *word, int n) {
  char *at = text;
  for (int k = 0; (at = strstr(at, word)) != NULL; at++, k++) {
    if (k != n) continue;
    while (*at != '\n') *at++ = ' ';
    return true;
  }
  return false;
}

Test(llvm, every_missing_barrier_is_noticed) {
  static uint32_t slots[32 * BLOCKS];
  static int64_t log[BLOCKS * COUNT];
  make_commands();
  int found = 0;
  for (;; found++) {
    char *text = harness_text("sample.ptx");
    const bool there = blank_line(text, "bar.warp.sync", found);
    if (there) {
      static const char *const modes[] = {"warp", "lanes:9"};
      for (int mode = 0; mode < 2; mode++) {
        harness_start();
        cr_assert(wb_emulator_set("MODE", modes[mode]));
        cr_assert_eq(run(text, slots, log), cudaErrorLaunchFailure, "barrier %d, %s", found,
                     modes[mode]);
        cr_assert(strstr(wb_emulator_message(), "hazard"), "%s", wb_emulator_message());
        cr_assert(strstr(wb_emulator_message(), "shared"), "%s", wb_emulator_message());
      }
    }
    free(text);
    if (!there) break;
  }
  cr_assert_eq(found, 3);
  harness_end();
}

Test(llvm, what_it_cost_is_told_by_class_and_label) {
  static uint32_t slots[32 * BLOCKS];
  static int64_t log[BLOCKS * COUNT];
  make_commands();
  harness_start();
  char *text = harness_text("sample.ptx");
  MUST(run(text, slots, log));
  free(text);
  int64_t kinds[7] = {0}, sum = 0, entered = 0;
  for (int k = 0; k < BLOCKS * COUNT; k++) kinds[commands[k][0]]++;
  wb_emulator_counts counts;
  cr_assert(wb_emulator_read_counts("machine", &counts));
  cr_assert_eq(counts.launches, 1);
  cr_assert_eq(counts.blocks, BLOCKS);
  cr_assert_eq(counts.warps, BLOCKS);
  cr_assert_eq(counts.classes[WB_EMULATOR_REDUCE], kinds[1] + kinds[3]);
  cr_assert_eq(counts.classes[WB_EMULATOR_SHUFFLE], kinds[2] + kinds[3]);
  cr_assert_eq(counts.classes[WB_EMULATOR_VOTE], kinds[2]);
  cr_assert_eq(counts.classes[WB_EMULATOR_BARRIER], BLOCKS * COUNT + kinds[5] + BLOCKS);
  for (int k = 0; k < WB_EMULATOR_CLASS_COUNT; k++) {
    sum += counts.classes[k];
    cr_assert_neq(*wb_emulator_class_text((wb_emulator_class)k), 0);
  }
  cr_assert_eq(sum, counts.instructions);
  /* a row is 4 sectors; a command (both halves in one load) and a log entry are one for all lanes */
  cr_assert_eq(counts.global_requests, 2 * BLOCKS * COUNT + BLOCKS);
  cr_assert_eq(counts.global_sectors, 2 * BLOCKS * COUNT + 4 * BLOCKS);
  cr_assert_eq(counts.shared_conflicts, 0);
  wb_emulator_region region;
  double cycles = 0;
  sum = 0;
  for (int32_t k = 0; wb_emulator_read_region("machine", k, &region); k++) {
    sum += region.instructions;
    cycles += region.sm_cycles;
    if (region.entries == kinds[4]) entered++;
  }
  cr_assert_eq(sum, counts.instructions);
  cr_assert_float_eq(cycles, counts.sm_cycles, 1e-6 * cycles);
  cr_assert_geq(entered, 1, "no stretch was entered as often as roots were asked for");
  cr_assert_not(wb_emulator_read_region("nothing", 0, &region));
  wb_emulator_reset_counts();
  cr_assert_not(wb_emulator_read_counts("machine", &counts));
  harness_end();
}

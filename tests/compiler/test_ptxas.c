/* ptxas takes every kernel of the book for sm_80 and sm_90; a table of what each needs is printed and
 * bounded, and its machine code has nothing in it for threads of a warp that go different ways. Skipped,
 * with a message, where there is no ptxas ($WB_PTXAS, the path, /usr/local/cuda). */
#include "cli/ptxas.h"
#include "compiler/kernel.h"
#include "kernels/book.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- machine code ---- */

/* Instructions are 16 bytes, the operation in the lowest 12 bits: as nvdisasm 13.0 prints those of sm_80
 * and sm_90. */
enum { INSTRUCTION = 16, OPERATION = 0xfff };
static const unsigned gathering[] = {0x945 /* BSSY */, 0x941 /* BSYNC */, 0x942 /* BREAK */,
                                     0x948 /* WARPSYNC */, 0x348 /* WARPSYNC of a register */};

static int gatherings_in(const unsigned char *code, size_t bytes) {
  int count = 0;
  for (size_t at = 0; at + INSTRUCTION <= bytes; at += INSTRUCTION) {
    unsigned operation = (code[at] | (unsigned)code[at + 1] << 8) & OPERATION;
    for (size_t i = 0; i < sizeof gathering / sizeof gathering[0]; i++) {
      count += operation == gathering[i];
    }
  }
  return count;
}

/* Instructions that bring diverged threads together, of all functions of a cubin, which is an ELF file. */
static int count_gatherings(const uint8_t *cubin, size_t bytes) {
  Elf64_Ehdr head;
  cr_assert_gt(bytes, sizeof head);
  memcpy(&head, cubin, sizeof head);
  int count = 0, functions = 0;
  for (int i = 0; i < head.e_shnum; i++) {
    Elf64_Shdr section;
    memcpy(&section, cubin + head.e_shoff + (size_t)i * sizeof section, sizeof section);
    if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0) continue;
    cr_assert_leq(section.sh_offset + section.sh_size, bytes);
    count += gatherings_in(cubin + section.sh_offset, section.sh_size);
    functions++;
  }
  cr_assert_eq(functions, 1);
  return count;
}

/* ---- the kernels ---- */

typedef enum features_kind { TRUSTED, CHECKED, FULL, FEATURES } features_kind;
static const char *const feature_names[] = {"trusted", "checked", "everything"};

static wb_book_features features_of(features_kind kind, const wb_book_rules *rules) {
  wb_book_features f = wb_features_none(rules);
  if (kind == FULL) return wb_features_all(rules);
  f.types = 1u << WB_RECORD_ADD | 1u << WB_RECORD_DELETE | 1u << WB_RECORD_REDUCE |
            1u << WB_RECORD_EXECUTE;
  f.trades = WB_TRADES_ALL;
  f.bad_records = kind == CHECKED;
  f.unique_refs = kind == TRUSTED;
  return f;
}

static void check(const char *program, const wb_program *p, int capacity, const char *name, int sm,
                  int most_registers) {
  wb_error error = {0};
  wb_kernel *kernel = NULL;
  wb_kernel_options options = {.sm = sm};
  ptxas_result n = {.cubin = NULL};
  cr_assert_eq(wb_kernel_compile(NULL, p, &options, &kernel, NULL, &error), WB_OK, "%s",
               error.text);
  const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
  cr_assert_eq(ptxas_assemble(program, gpu->ptx, sm, &n, &error), WB_OK, "%s at %d for sm_%d: %s",
               name, capacity, sm, error.text);
  int gatherings = count_gatherings(n.cubin, n.bytes);
  printf("%-16s %5d  sm_%d  %4d %6d %7d  %7d %6d\n", name, capacity, sm, (int)n.registers,
         (int)n.stack_bytes, (int)n.spill_bytes, (int)gpu->shared_bytes, (int)gpu->warps);
  cr_expect_eq(n.stack_bytes, 0, "%s at %d for sm_%d: %d bytes of stack", name, capacity, sm,
               (int)n.stack_bytes);
  cr_expect_eq(n.spill_bytes, 0, "%s at %d for sm_%d: %d bytes spilled", name, capacity, sm,
               (int)n.spill_bytes);
  cr_expect_leq(n.registers, most_registers, "%s at %d for sm_%d: %d registers", name, capacity, sm,
                (int)n.registers);
  cr_expect_eq(gatherings, 0, "%s at %d for sm_%d: %d instructions for diverged threads", name,
               capacity, sm, gatherings);
  free(n.cubin);
  wb_kernel_release(kernel);
}

/* The message loop: 64 registers at most up to capacity 128, so that 32 warps fit a multiprocessor. */
static void check_capacity(const char *program, int capacity) {
  wb_book_rules rules = wb_book_rules_default();
  wb_book_layout *layout;
  cr_assert_eq(wb_book_layout_new(capacity, &layout, NULL), WB_OK);
  for (int kind = 0; kind < FEATURES; kind++) {
    wb_book_features f = features_of((features_kind)kind, &rules);
    wb_program *p;
    cr_assert_eq(wb_run_program_build(layout, &f, &p, NULL), WB_OK);
    for (int sm = 80; sm <= 90; sm += 10) {
      check(program, p, capacity, feature_names[kind], sm, capacity <= 128 ? 64 : 128);
    }
    wb_program_free(p);
  }
  wb_book_layout_free(layout);
}

Test(ptxas, takes_every_kernel_and_spills_nothing, .timeout = 300) {
  static const int capacities[] = {32, 64, 128, 256, 512, 1024, 4096, 8192};
  char program[PTXAS_PATH_BYTES];
  if (!ptxas_find("WB_PTXAS", "ptxas", program)) {
    cr_skip_test("there is no ptxas here: kernels are not assembled\n");
    return;
  }
  printf("kernel        capacity         registers stack spills  shared/warp warps/block\n");
  for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
    check_capacity(program, capacities[i]);
  }
}

Test(ptxas, takes_every_question, .timeout = 120) {
  static const char *const names[] = {"levels", "volume at", "queue ahead", "hashes"};
  char program[PTXAS_PATH_BYTES];
  if (!ptxas_find("WB_PTXAS", "ptxas", program)) {
    cr_skip_test("there is no ptxas here: kernels are not assembled\n");
    return;
  }
  wb_book_layout *layout;
  cr_assert_eq(wb_book_layout_new(128, &layout, NULL), WB_OK);
  for (int q = 0; q < WB_QUERY_COUNT; q++) {
    wb_program *p;
    cr_assert_eq(wb_query_program_build(layout, (wb_query)q, &p, NULL), WB_OK);
    for (int sm = 80; sm <= 90; sm += 10) check(program, p, 128, names[q], sm, 64);
    wb_program_free(p);
  }
  wb_book_layout_free(layout);
}

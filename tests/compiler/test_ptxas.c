/* ptxas takes every kernel of the book for sm_80 and sm_90; a table of what each needs is printed and
 * bounded, and its machine code has nothing in it for threads of a warp that go different ways. Skipped, with a message, where there is no ptxas ($WB_PTXAS, the path, /usr/local/cuda). */
#define _DEFAULT_SOURCE
#include "compiler/kernel.h"
#include "kernels/book.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 512 };

typedef struct needs {
  int registers, stack, spills;
  int gatherings; /* instructions that bring diverged threads together */
} needs;

static bool runs(const char *program) {
  char command[LINE + 32];
  snprintf(command, sizeof command, "\"%s\" --version >/dev/null 2>&1", program);
  return system(command) == 0;
}

static const char *ptxas(void) {
  const char *named = getenv("WB_PTXAS");
  if (named != NULL) return named;
  static const char *const places[] = {"ptxas", "/usr/local/cuda/bin/ptxas"};
  for (size_t i = 0; i < 2; i++) {
    if (runs(places[i])) return places[i];
  }
  return NULL;
}

static int number_before(const char *text, const char *words) {
  const char *at = strstr(text, words);
  if (at == NULL) return -1;
  while (at > text && at[-1] == ' ') at--;
  while (at > text && at[-1] >= '0' && at[-1] <= '9') at--;
  return (int)strtol(at, NULL, 10);
}

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

/* Of all functions of a cubin, an ELF file. */
static int count_gatherings(const char *path) {
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file);
  static unsigned char bytes[1 << 20];
  size_t size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  Elf64_Ehdr head;
  cr_assert(size > sizeof head && size < sizeof bytes);
  memcpy(&head, bytes, sizeof head);
  int count = 0, functions = 0;
  for (int i = 0; i < head.e_shnum; i++) {
    Elf64_Shdr section;
    memcpy(&section, bytes + head.e_shoff + (size_t)i * sizeof section, sizeof section);
    if (section.sh_type != SHT_PROGBITS || (section.sh_flags & SHF_EXECINSTR) == 0) continue;
    cr_assert_leq(section.sh_offset + section.sh_size, size);
    count += gatherings_in(bytes + section.sh_offset, section.sh_size);
    functions++;
  }
  cr_assert_eq(functions, 1);
  return count;
}

/* Assembles a text; false, with what ptxas said in `said`, if it is refused. */
static bool assemble(const char *program, const char *ptx, int sm, needs *n, char *said,
                     size_t said_bytes) {
  char path[] = "/tmp/warpbook-ptx-XXXXXX", cubin[] = "/tmp/warpbook-cubin-XXXXXX";
  char command[2 * LINE];
  int file = mkstemp(path);
  cr_assert_geq(file, 0);
  size_t bytes = strlen(ptx);
  cr_assert_eq(write(file, ptx, bytes), (ssize_t)bytes);
  close(file);
  close(mkstemp(cubin));
  snprintf(command, sizeof command, "\"%s\" -v -arch=sm_%d -o %s %s 2>&1", program, sm, cubin,
           path);
  FILE *out = popen(command, "r");
  cr_assert_not_null(out);
  size_t got = fread(said, 1, said_bytes - 1, out);
  said[got] = 0;
  bool fine = pclose(out) == 0;
  unlink(path);
  if (fine) n->gatherings = count_gatherings(cubin);
  unlink(cubin);
  n->registers = number_before(said, " registers");
  n->stack = number_before(said, " bytes stack frame");
  n->spills = number_before(said, " bytes spill stores");
  const char *used = strstr(said, "Used ");
  if (used != NULL) n->registers = (int)strtol(used + 5, NULL, 10);
  return fine;
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
  needs n = {-1, -1, -1, -1};
  char said[4096];
  cr_assert_eq(wb_kernel_compile(NULL, p, &options, &kernel, NULL, &error), WB_OK, "%s",
               error.text);
  const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
  bool fine = assemble(program, gpu->ptx, sm, &n, said, sizeof said);
  cr_expect(fine, "%s at %d for sm_%d: %s", name, capacity, sm, said);
  printf("%-16s %5d  sm_%d  %4d %6d %7d  %7d %6d\n", name, capacity, sm, n.registers, n.stack,
         n.spills, (int)gpu->shared_bytes, (int)gpu->warps);
  cr_expect_eq(n.stack, 0, "%s at %d for sm_%d: %d bytes of stack", name, capacity, sm, n.stack);
  cr_expect_eq(n.spills, 0, "%s at %d for sm_%d: %d bytes spilled", name, capacity, sm, n.spills);
  cr_expect_leq(n.registers, most_registers, "%s at %d for sm_%d: %d registers", name, capacity, sm,
                n.registers);
  cr_expect_eq(n.gatherings, 0, "%s at %d for sm_%d: %d instructions for diverged threads", name,
               capacity, sm, n.gatherings);
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
  const char *program = ptxas();
  if (program == NULL) {
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
  const char *program = ptxas();
  if (program == NULL) {
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

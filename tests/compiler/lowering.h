/* What the tests of the lowering share: memory for a launch with watched margins, and running one
 * program in the interpreter and as machine code to compare every byte. */
#ifndef WB_TESTS_COMPILER_LOWERING_H
#define WB_TESTS_COMPILER_LOWERING_H

#include "compiler/interp.h"
#include "compiler/lower.h"
#include "compiler/program.h"

enum { TEST_BUFFERS_MAX = 16 };

/* The module's functions; NULL, with the reason on stderr, if it cannot be loaded. */
const wb_lowering *test_lowering(void);

/* Memory of one launch. Every block has margins that nobody may touch. */
typedef struct test_memory {
  const wb_program *program;
  int64_t books;
  uint8_t *blocks[1 + TEST_BUFFERS_MAX]; /* slabs, then buffers, margins included */
  size_t bytes[1 + TEST_BUFFERS_MAX];    /* without margins */
  wb_buffer_argument buffers[TEST_BUFFERS_MAX];
  int64_t scalars[WB_PARAMETERS_MAX];
  wb_fault fault;
  wb_kernel_arguments arguments;
} test_memory;

/* Memory for `books` books; lengths[i] is that of buffer i in its own elements. All bytes are 0. */
void test_memory_new(test_memory *m, const wb_program *program, int64_t books,
                     const int64_t *lengths);
/* The bytes of buffer i. */
void *test_buffer(const test_memory *m, int32_t i);
void test_memory_copy(test_memory *m, const test_memory *from);
void test_memory_free(test_memory *m);

/* splitmix64 */
uint64_t test_random(uint64_t *state);
/* Fills slabs, buffers and scalars with a mix of small, extreme and random elements. */
void test_memory_fill(test_memory *m, uint64_t seed);

/* Compares all bytes and margins. False: `text` says where they differ first. */
bool test_memory_equal(const test_memory *expected, const test_memory *got, char *text,
                       size_t text_bytes);

typedef struct test_target {
  const char *cpu;
  bool check, unoptimised;
  wb_placement placement; /* on a GPU */
  const char *mode;       /* of the emulator; NULL: not on a GPU */
} test_target;
/* Each level of x86-64 that this machine has, and the machine itself; NULL cpu ends the list. Built
 * with WB_TEST_GPU the emulated GPU instead, with slabs in each memory, lanes in step or apart. */
extern const test_target test_targets[];

/* Runs the program over a copy of `start` both ways and compares. False with a text that tells what
 * differed or failed. A program that runs past `step_limit` steps in the interpreter counts as equal. */
bool test_same(const wb_program *program, const test_target *target, const test_memory *start,
               int64_t step_limit, char *text, size_t text_bytes);
/* Expects that of every target. */
void test_expect_same(const wb_program *program, const test_memory *start, int64_t step_limit);

#endif

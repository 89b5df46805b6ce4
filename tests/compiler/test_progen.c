/* Random programs: passes change nothing, ranges hold, books do not touch one another, and every op was there.
 *
 * PROGEN_SEED and PROGEN_COUNT choose other programs; a failure prints its seed and a small case. */
#include "compiler/interp.h"
#include "compiler/passes.h"
#include "compiler/range.h"
#include "compiler/rewrite.h"
#include "tests/compiler/progen.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SIZE = 40 };

static int64_t setting(const char *name, int64_t otherwise) {
  const char *value = getenv(name);
  return value != NULL ? strtoll(value, NULL, 10) : otherwise;
}

/* runs a program over a fresh copy of the case's memory */
static unsigned char *outcome(const progen_case *c, const wb_program *program) {
  wb_error error = {0};
  unsigned char *memory = progen_memory(c);
  cr_assert_not_null(memory);
  wb_status status = progen_interpret(c, program, memory, &error);
  cr_assert_eq(status, WB_OK, "seed %" PRIu64 ": %s", c->seed, error.text);
  return memory;
}

static void check_passes(const progen_case *c) {
  wb_error error = {0};
  char text[256];
  int32_t count;
  const wb_pass *passes = wb_passes(&count);
  wb_program *program;
  unsigned char *expected = outcome(c, NULL);
  cr_assert_eq(wb_program_clone(c->program, &program, &error), WB_OK);
  for (int32_t i = 0; i < count; i++) {
    cr_assert_eq(passes[i].run(program, &error), WB_OK, "%s", error.text);
    cr_assert_eq(wb_program_verify(program, &error), WB_OK, "seed %" PRIu64 ", after %s: %s",
                 c->seed, passes[i].name, error.text);
    unsigned char *given = outcome(c, program);
    cr_assert(progen_equal(c, expected, given, text, sizeof text), "seed %" PRIu64 ", pass %s: %s",
              c->seed, passes[i].name, text);
    free(given);
  }
  wb_program_free(program);
  free(expected);
}

static int32_t constant(wb_rewrite *rewrite, const wb_op *like, int64_t value) {
  const wb_op op = {
      .code = WB_OP_CONST, .type = like->type, .operands = {-1, -1, -1}, .file = -1, .imm = value};
  return wb_rewrite_emit_new(rewrite, &op, -1);
}

/* puts a promise behind every integer that analysis has bounded, for the interpreter to check */
static void promise_ranges(wb_program *program, const wb_interval *ranges) {
  wb_rewrite rewrite;
  cr_assert_eq(wb_rewrite_start(&rewrite, program, NULL), WB_OK);
  for (int32_t id = 0; id < program->op_count; id++) {
    const wb_op *op = &program->ops[id];
    int32_t made = wb_rewrite_emit(&rewrite, op, id);
    bool integer = op->type == WB_TYPE_I32 || op->type == WB_TYPE_I64;
    if (!integer || op->code == WB_OP_VAR || ranges[id].lo > ranges[id].hi) continue;
    wb_op known = {.code = WB_OP_KNOWN, .type = op->type, .shape = op->shape, .file = -1};
    known.operands[0] = made;
    known.operands[1] = constant(&rewrite, op, ranges[id].lo);
    known.operands[2] = constant(&rewrite, op, ranges[id].hi);
    wb_rewrite_emit_new(&rewrite, &known, -1);
  }
  wb_rewrite_finish(&rewrite);
}

static void check_ranges(const progen_case *c) {
  wb_error error = {0};
  char text[256];
  wb_program *program;
  wb_interval *ranges = calloc((size_t)c->program->op_count, sizeof *ranges);
  cr_assert_eq(wb_program_clone(c->program, &program, &error), WB_OK);
  wb_range_find(program, ranges);
  promise_ranges(program, ranges);
  cr_assert_eq(wb_program_verify(program, &error), WB_OK, "%s", error.text);
  unsigned char *expected = outcome(c, NULL), *given = outcome(c, program);
  cr_assert(progen_equal(c, expected, given, text, sizeof text), "%s", text);
  free(expected);
  free(given);
  free(ranges);
  wb_program_free(program);
}

/* each book alone, last one first, does what it does among others */
static void check_alone(const progen_case *c) {
  char text[256];
  unsigned char *expected = outcome(c, NULL);
  unsigned char *given = progen_memory(c);
  for (int64_t book = c->books - 1; book >= 0; book--) {
    wb_buffer_argument buffers[16];
    wb_kernel_arguments arguments;
    wb_error error = {0};
    progen_arguments(c, given, buffers, &arguments);
    cr_assert_eq(wb_interpret(c->program, &arguments, book, book + 1, 0, &error), WB_OK);
  }
  cr_assert(progen_equal(c, expected, given, text, sizeof text), "seed %" PRIu64 ": %s", c->seed,
            text);
  free(expected);
  free(given);
}

Test(progen, passes_change_no_result_and_every_op_is_there) {
  int64_t seed = setting("PROGEN_SEED", 1), count = setting("PROGEN_COUNT", 1500);
  int64_t seen[WB_OP_COUNT] = {0}, ops = 0;
  for (int64_t i = 0; i < count; i++) {
    wb_error error = {0};
    progen_case *c = progen_new((uint64_t)(seed + i), SIZE, &error);
    cr_assert_not_null(c, "seed %" PRId64 ": %s", seed + i, error.text);
    for (int32_t k = 0; k < c->program->op_count; k++) seen[c->program->ops[k].code]++;
    ops += c->program->op_count;
    check_passes(c);
    check_ranges(c);
    if (i % 8 == 0) check_alone(c);
    progen_free(c);
  }
  for (int32_t code = 0; code < WB_OP_COUNT; code++) {
    cr_expect(seen[code] > 0, "no program had %s", wb_op_describe((wb_opcode)code)->text);
  }
  fprintf(stderr, "progen: %" PRId64 " programs from seed %" PRId64 ", %" PRId64 " ops\n", count,
          seed, ops);
}

Test(progen, a_seed_gives_the_same_program_again) {
  char *text[2];
  for (int i = 0; i < 2; i++) {
    progen_case *c = progen_new(77, SIZE, NULL);
    cr_assert_eq(wb_program_text(c->program, false, &text[i], NULL), WB_OK);
    progen_free(c);
  }
  cr_assert_str_eq(text[0], text[1]);
  free(text[0]);
  free(text[1]);
}

static bool has_scatter(const progen_case *c, void *context) {
  (void)context;
  for (int32_t i = 0; i < c->program->op_count; i++) {
    if (c->program->ops[i].code == WB_OP_SCATTER) return true;
  }
  return false;
}

Test(progen, a_failing_case_becomes_small) {
  progen_case *c = NULL;
  for (uint64_t seed = 1; c == NULL || !has_scatter(c, NULL); seed++) {
    progen_free(c);
    c = progen_new(seed, SIZE, NULL);
  }
  progen_case *small = progen_shrink(c, SIZE, has_scatter, NULL);
  cr_assert_not_null(small);
  cr_assert(has_scatter(small, NULL));
  cr_expect_lt(small->choice_count, 40);
  cr_expect_leq(small->choice_count, c->choice_count);
  progen_free(small);
  progen_free(c);
}

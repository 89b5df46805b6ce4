/* What the lowering to PTX makes one instruction of many: neighbouring accesses, addresses, logic,
 * comparisons. Each program is run on the emulated GPU against the interpreter, and its text is looked at
 * for what must and what must not have become one. */
#include "lowering.h"

#include "compiler/kernel.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

/* What a test records: 64 cells of i32 and 32 of i64 in the slab, two buffers. */
typedef struct parts {
  wb_builder *b;
  array cells, wide, in, words, out; /* words: of in */
} parts;

typedef void record_function(parts *p);

static wb_program *record(record_function *what) {
  wb_layout *layout;
  parts p;
  wb_error error = {0};
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "cells", WB_ELEMENT_I32, 64, 0, &p.cells, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "wide", WB_ELEMENT_I64, 32, 0, &p.wide, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("shape", 32, layout, &p.b, NULL), WB_OK);
  wb_builder *b = p.b;
  p.in = buffer_shared("in", I64);
  p.words = view(p.in, I32);
  p.out = buffer_per_book_out("out", I64);
  what(&p);
  wb_program *program;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  wb_layout_free(layout);
  return program;
}

static int32_t occurrences(const char *text, const char *of) {
  int32_t count = 0;
  for (const char *at = strstr(text, of); at != NULL; at = strstr(at + 1, of)) count++;
  return count;
}

/* In the PTX with the slab in global memory, so that no copies of it are in the way. */
static int32_t count_in_ptx(const wb_program *program, const char *of) {
  wb_error error = {0};
  wb_kernel *kernel;
  wb_kernel_options options = {.sm = 90, .placement = WB_PLACEMENT_GLOBAL};
  cr_assert_eq(wb_kernel_compile(NULL, program, &options, &kernel, NULL, &error), WB_OK, "%s",
               error.text);
  int32_t count = occurrences(wb_kernel_gpu(kernel)->ptx, of);
  wb_kernel_release(kernel);
  return count;
}

static void expect_same(const wb_program *program) {
  const int64_t lengths[] = {64, 64, 64}; /* in, out, and a ring where there is one */
  char text[512];
  test_memory m;
  test_memory_new(&m, program, 3, lengths);
  for (uint64_t seed = 1; seed <= 20; seed++) {
    test_memory_fill(&m, seed);
    for (const test_target *t = test_targets; t->cpu != NULL; t++) {
      cr_assert(test_same(program, t, &m, 0, text, sizeof text), "%s", text);
    }
  }
  test_memory_free(&m);
}

static void check(record_function *what, const char *text, int32_t least, int32_t most) {
  wb_program *program = record(what);
  int32_t count = count_in_ptx(program, text);
  expect_same(program);
  cr_expect(count >= least && count <= most, "%s: expected %d to %d, got %d", text, least, most,
            count);
  wb_program_free(program);
}

/* A scalar that nobody knows before the run. */
static val unknown(parts *p, int32_t bound) {
  wb_builder *b = p->b;
  return bit_and(load_in(p->words, 0), bound - 1);
}

static void give(parts *p, int32_t at, val x) {
  wb_builder *b = p->b;
  store_in(p->out, at, i64(x));
}

/* ---- loads ---- */

static void four_cells(parts *p) {
  wb_builder *b = p->b;
  val first = mul(unknown(p, 16), 4);
  for (int i = 3; i >= 0; i--) give(p, i, load_in(p->cells, add(first, i)));
}

static void four_cells_one_of_them_written(parts *p) {
  wb_builder *b = p->b;
  val first = mul(unknown(p, 16), 4);
  val x = load_in(p->cells, first), y = load_in(p->cells, add(first, 1));
  store_in(p->cells, add(first, 3), add(x, y));
  give(p, 0, x);
  give(p, 1, y);
  give(p, 2, load_in(p->cells, add(first, 2)));
  give(p, 3, load_in(p->cells, add(first, 3)));
}

static void a_cell_that_another_name_writes(parts *p) {
  wb_builder *b = p->b;
  val first = mul(unknown(p, 16), 4), somewhere = bit_and(load_in(p->words, 1), 63);
  give(p, 0, load_in(p->cells, first));
  give(p, 1, load_in(p->cells, add(first, 1)));
  store_in(p->cells, somewhere, 77);
  give(p, 2, load_in(p->cells, add(first, 2)));
  give(p, 3, load_in(p->cells, add(first, 3)));
}

static void four_cells_from_anywhere(parts *p) {
  wb_builder *b = p->b;
  val first = min(unknown(p, 64), 60);
  for (int i = 0; i < 4; i++) give(p, i, load_in(p->cells, add(first, i)));
}

static void three_cells(parts *p) {
  wb_builder *b = p->b;
  val first = mul(unknown(p, 16), 4);
  for (int i = 1; i < 4; i++) give(p, i, load_in(p->cells, add(first, i)));
}

static void two_wide_cells(parts *p) {
  wb_builder *b = p->b;
  val first = mul(unknown(p, 16), 2);
  for (int i = 0; i < 2; i++) store_in(p->out, i, load_in(p->wide, add(first, i)));
}

Test(ptx_shape, neighbouring_loads_become_one) {
  check(four_cells, "ld.global.v4", 1, 1);
  check(two_wide_cells, "ld.global.v2", 1, 1);
  check(three_cells, "ld.global.v4", 0, 0);
  check(three_cells, "ld.global.v2", 1, 1);
}

Test(ptx_shape, a_load_does_not_pass_a_store_that_may_meet_it) {
  check(four_cells_one_of_them_written, "ld.global.v4", 0, 0);
  check(a_cell_that_another_name_writes, "ld.global.v4", 0, 0);
}

Test(ptx_shape, what_may_lie_across_a_boundary_stays_apart) {
  check(four_cells_from_anywhere, "ld.global.v4", 0, 0);
}

/* ---- stores ---- */

static void write_four(parts *p, int32_t group) {
  wb_builder *b = p->b;
  array ring = buffer_per_book_out("ring", I64);
  if (group > 1) grouped(ring, group);
  val at = mul(i64(unknown(p, 16)), 4);
  for (int i = 0; i < 4; i++) store_in(ring, add(at, i), add(load_in(p->in, i), i));
}

static void write_a_group(parts *p) { write_four(p, 4); }
static void write_no_group(parts *p) { write_four(p, 1); }

static void write_four_cells_read_one(parts *p) {
  wb_builder *b = p->b;
  val first = mul(unknown(p, 16), 4);
  store_in(p->cells, first, 5);
  store_in(p->cells, add(first, 1), 6);
  give(p, 0, load_in(p->cells, first));
  store_in(p->cells, first, 8);
  store_in(p->cells, add(first, 2), 9);
  give(p, 1, load_in(p->cells, bit_and(load_in(p->words, 1), 63)));
  store_in(p->cells, add(first, 3), 7);
}

Test(ptx_shape, a_group_is_written_at_once) {
  check(write_a_group, "st.global.v4", 2, 2);
  check(write_no_group, "st.global.v4", 0, 0);
}

Test(ptx_shape, a_store_does_not_pass_what_may_read_it) {
  check(write_four_cells_read_one, "st.global.v4", 0, 0);
}

Test(ptx_shape, a_group_must_be_sound) {
  wb_layout *layout;
  wb_builder *b;
  wb_program *program;
  wb_error error = {0};
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("group", 32, layout, &b, NULL), WB_OK);
  grouped(buffer_per_book_out("ring", I64), 3);
  cr_expect_eq(wb_builder_finish(b, &program, &error), WB_ERROR_ARGUMENT);
  cr_expect(strstr(error.text, "group: ring: expected a per-book buffer and a power of two up to "
                               "64, given 3") != NULL,
            "%s", error.text);
  cr_assert_eq(wb_builder_new("group", 32, layout, &b, NULL), WB_OK);
  grouped(buffer_shared_out("all", I64), 4);
  cr_expect_eq(wb_builder_finish(b, &program, &error), WB_ERROR_ARGUMENT);
  wb_layout_free(layout);
}

/* ---- arithmetic ---- */

static void logic_of_three(parts *p) {
  wb_builder *b = p->b;
  val x = load_in(p->words, 0), y = load_in(p->words, 1), z = load_in(p->words, 2);
  give(p, 0, bit_or(bit_and(x, y), z));
  give(p, 1, bit_and(bit_or(x, y), z));
  give(p, 2, bit_xor(bit_and(x, 0x12345678), z));
  give(p, 3, bit_and(bit_xor(x, z), y));
  give(p, 4, bit_or(bit_xor(y, -77), bit_and(x, z)));
  give(p, 5, bit_and(x, bit_not(shl(1, bit_and(y, 31)))));
  give(p, 6, bit_xor(bit_or(x, y), bit_or(y, z)));
}

static void conditions_of_three(parts *p) {
  wb_builder *b = p->b;
  val x = load_in(p->words, 0), y = load_in(p->words, 1), z = load_in(p->in, 2);
  val u = load_in(p->in, 3);
  give(p, 0, i32(both(lt(x, y), either(ult(y, 1000), le(z, u)))));
  give(p, 1, i32(either(ugt(x, y), both(eq(x, -5), ne(y, 7)))));
  give(p, 2, i32(bit_xor(ge(x, y), gt(z, u))));
  give(p, 3, i32(either(ule(x, y), both(ult(z, u), lt(y, 0)))));
  give(p, 4, i32(both(not_(le(x, 0)), either(uge(u, z), eq(z, i64(9))))));
}

static void addresses_of_many_sizes(parts *p) {
  wb_builder *b = p->b;
  array bytes = view(p->cells, I8), halves = view(p->cells, U16), pairs = view(p->wide, I32);
  val i = unknown(p, 64), far = bit_and(i64(load_in(p->in, 1)), 63);
  give(p, 0, load(bytes, mul(i, 3)));
  give(p, 1, load(halves, add(i, 5)));
  give(p, 2, load(pairs, shl(bit_and(i, 7), 3)));
  give(p, 3, load(pairs, sub(0, i)));
  store(p->out, 4, load(p->in, add(far, i64(i))));
  store(p->out, 5, load(p->in, sub(far, i64(i))));
}

Test(ptx_shape, logic_comparisons_and_addresses_become_one) {
  check(logic_of_three, "lop3.b32", 5, 7);
  check(conditions_of_three, "setp.", 1, 100);
  check(addresses_of_many_sizes, "mad.", 2, 100);
  wb_program *program = record(conditions_of_three);
  int32_t joined = count_in_ptx(program, ".and.") + count_in_ptx(program, ".or.") +
                   count_in_ptx(program, ".xor.");
  cr_expect_geq(joined, 4);
  wb_program_free(program);
}

/* ---- loops ---- */

/* The inner loop's end leads back to the head of one of two loops. */
static void loop_in_a_loop(parts *p) {
  wb_builder *b = p->b;
  var at = variable(0);
  WHILE (lt(at, 200)) {
    LOOP(round) {
      give(p, 0, add(at, load_in(p->words, bit_and(at, 31))));
      assign(at, add(at, 3));
      IF (eq(bit_and(at, 7), 0)) {
        LEAVE(round);
      }
    }
  }
}

static const char *last_before(const char *text, const char *end, const char *name) {
  const char *last = NULL;
  for (const char *at = text; (at = strstr(at, name)) != NULL && at < end; at++) last = at;
  return last;
}

/* "@%p1 bra.uni $L1;" and "bra.uni $L2;" behind it; how many of them go to the nearer of two heads
 * second. */
static int32_t slow_rounds(const char *ptx) {
  int32_t slow = 0;
  for (const char *at = ptx; (at = strstr(at, "bra.uni \t")) != NULL; at++) {
    char first[32], second[32];
    if (sscanf(at, "bra.uni \t%31[^;];\n\tbra.uni \t%31[^;];", first, second) != 2) continue;
    strcat(first, ":");
    strcat(second, ":");
    const char *one = last_before(ptx, at, first), *other = last_before(ptx, at, second);
    slow += other != NULL && (one == NULL || other > one);
  }
  return slow;
}

Test(ptx_shape, a_round_of_an_inner_loop_ends_with_one_branch) {
  wb_program *program = record(loop_in_a_loop);
  wb_error error = {0};
  wb_kernel *kernel;
  wb_kernel_options options = {.sm = 90, .placement = WB_PLACEMENT_GLOBAL};
  cr_assert_eq(wb_kernel_compile(NULL, program, &options, &kernel, NULL, &error), WB_OK, "%s",
               error.text);
  cr_expect_eq(slow_rounds(wb_kernel_gpu(kernel)->ptx), 0);
  expect_same(program);
  wb_kernel_release(kernel);
  wb_program_free(program);
}

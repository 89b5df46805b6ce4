/* Loads, stores, rows, neighbours, gathers and scatters as machine code against the interpreter: every element
 * type, arrays, buffers and views, indices at and beyond the edges, several books, promises. */
#include "lowering.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

static const int64_t indices[] = {0,
                                  1,
                                  31,
                                  32,
                                  33,
                                  39,
                                  40,
                                  63,
                                  64,
                                  95,
                                  96,
                                  99,
                                  100,
                                  101,
                                  127,
                                  128,
                                  -1,
                                  -32,
                                  -33,
                                  3,
                                  2,
                                  4,
                                  5,
                                  INT32_MAX,
                                  INT32_MIN,
                                  INT64_MAX,
                                  INT64_MIN,
                                  INT64_C(0x100000000),
                                  INT64_C(0x80000000),
                                  INT64_C(0x400000000),
                                  INT64_C(0x7fffffe0),
                                  -4};
enum { INDICES = sizeof indices / sizeof *indices };

/* Values of an element's type from lanes or scalars of i32. */
static val as_element(wb_builder *b, wb_element element, val x) {
  if (wb_element_type(element) == WB_TYPE_I64) return mul(i64(x), INT64_C(0x123456789));
  return wb_element_type(element) == WB_TYPE_F32 ? from_bits(x) : x;
}

/* The element that holds what a load gives. */
static wb_element as_loaded(wb_element element) {
  wb_type type = wb_element_type(element);
  return type == WB_TYPE_I64   ? WB_ELEMENT_I64
         : type == WB_TYPE_F32 ? WB_ELEMENT_F32
                               : WB_ELEMENT_I32;
}

/* Reads and writes one object at each index: elements, rows, masked rows, gathers, scatters,
 * neighbours. What is read is written to `out`, each access to a place of its own. */
static void access_all(wb_builder *b, array object, array out, wb_element element, array list,
                       bool wide) {
  FOR (n, 0, INDICES) {
    val index = load_in(list, n);
    if (!wide) index = i32(index);
    store(out, mul(n, 4), load(object, index));
    store(object, index, as_element(b, element, mul(n, 0x01010101)));
    val spread = wide ? add(index, mul(i64(lane_id()), 3)) : add(index, mul(lane_id(), 3));
    val row = add(n, 8);
    store_row(out, row, load_row(object, index));
    store_row(out, add(row, INDICES), gather(object, spread));
    store_row(object, index, as_element(b, element, add(mul(lane_id(), 77), n)));
    store_row_if(object, index, as_element(b, element, sub(n, lane_id())),
                 eq(bit_and(lane_id(), 3), 1));
    /* lanes 0 and 16 name one element, lanes 1 and 17 the next */
    val folded = bit_and(spread, 15);
    scatter(object, add(folded, index), as_element(b, element, mul(lane_id(), 0x00ff00ff)));
    store_lanes_if(object, index, as_element(b, element, add(mul(n, 0x00010203), lane_id())),
                   ne(urem(add(lane_id(), n), 5), 2));
  }
}

typedef enum where { IN_ARRAY, IN_SHARED_BUFFER, IN_OWN_BUFFER, WHERES } where;

static wb_program *build(wb_element element, where at, bool wide, int64_t length, int64_t fill,
                         bool through_view) {
  wb_error error = {0};
  wb_layout *layout;
  wb_builder *b;
  array target, before, after;
  cr_assert_eq(wb_layout_new(&layout, &error), WB_OK);
  wb_layout_add(layout, "before", WB_ELEMENT_I32, 7, 0, &before, &error);
  wb_layout_add(layout, "target", element, length, fill, &target, &error);
  wb_layout_add(layout, "after", WB_ELEMENT_I32, 7, 0, &after, &error);
  cr_assert_eq(wb_builder_new("memory", 32, layout, &b, &error), WB_OK, "%s", error.text);
  array list = buffer_shared("list", I64);
  wb_element other = element == WB_ELEMENT_I64 ? WB_ELEMENT_U8 : WB_ELEMENT_I64;
  wb_element seen = through_view ? other : element;
  array out = wb_build_buffer(b, WB_HERE, "out", as_loaded(seen), false, true, 0);
  array buffer = wb_build_buffer(b, WB_HERE, "buffer", element, at == IN_SHARED_BUFFER, true, fill);
  if (at != IN_ARRAY) target = buffer;
  if (through_view) target = wb_build_view(b, WB_HERE, target, other);
  access_all(b, target, out, seen, list, wide);
  wb_layout_free(layout);
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  return program;
}

static void check(wb_element element, where at, bool wide, int64_t length, int64_t fill,
                  bool through_view) {
  wb_program *program = build(element, at, wide, length, fill, through_view);
  int64_t lengths[] = {INDICES, 32 * (8 + 2 * INDICES) * 8, at == IN_ARRAY ? 1 : length};
  test_memory m;
  /* on a GPU books run in no order, so they may not meet in one that is written */
  bool meet = at == IN_SHARED_BUFFER && test_targets[0].mode != NULL;
  test_memory_new(&m, program, meet ? 1 : 3, lengths);
  test_memory_fill(&m, (uint64_t)length);
  memcpy(test_buffer(&m, 0), indices, sizeof indices);
  char text[512];
  for (const test_target *t = test_targets; t->cpu != NULL; t++) {
    cr_expect(test_same(program, t, &m, 0, text, sizeof text),
              "%s, place %d, %s index, length %d%s, %s: %s", wb_element_text(element), (int)at,
              wide ? "i64" : "i32", (int)length, through_view ? ", view" : "", t->cpu, text);
  }
  test_memory_free(&m);
  wb_program_free(program);
}

static void check_places(wb_element element) {
  for (int at = 0; at < WHERES; at++) {
    int64_t fill = element == WB_ELEMENT_F32 ? 0x7fc00000 : -1;
    check(element, (where)at, false, 100, fill, false);
    check(element, (where)at, true, 128, fill, at == IN_OWN_BUFFER);
    check(element, (where)at, true, 31, 77, at != IN_OWN_BUFFER);
  }
}

Test(lower_memory, i8_elements_at_every_edge) { check_places(WB_ELEMENT_I8); }
Test(lower_memory, u8_elements_at_every_edge) { check_places(WB_ELEMENT_U8); }
Test(lower_memory, i16_elements_at_every_edge) { check_places(WB_ELEMENT_I16); }
Test(lower_memory, u16_elements_at_every_edge) { check_places(WB_ELEMENT_U16); }
Test(lower_memory, i32_elements_at_every_edge) { check_places(WB_ELEMENT_I32); }
Test(lower_memory, i64_elements_at_every_edge) { check_places(WB_ELEMENT_I64); }
Test(lower_memory, f32_elements_at_every_edge) { check_places(WB_ELEMENT_F32); }

Test(lower_memory, a_buffer_of_no_elements_is_never_touched) {
  wb_program *program = build(WB_ELEMENT_I32, IN_OWN_BUFFER, false, 1, 5, false);
  int64_t lengths[] = {INDICES, 32 * (8 + 2 * INDICES), 0};
  test_memory m;
  test_memory_new(&m, program, 2, lengths);
  memcpy(test_buffer(&m, 0), indices, sizeof indices);
  test_expect_same(program, &m, 0);
  /* without memory at all */
  wb_error error = {0};
  wb_lower_request request = {.program = program};
  wb_lower_result result;
  cr_assert_eq(test_lowering()->compile(&request, &result, &error), WB_OK, "%s", error.text);
  m.buffers[2].data = NULL;
  result.entry(&m.arguments, 0, 2);
  cr_expect_eq(((int32_t *)test_buffer(&m, 1))[0], 5, "a load out of range gives the fill value");
  test_lowering()->release(&result);
  test_memory_free(&m);
  wb_program_free(program);
}

/* ---- aliasing: a load must see every store to the same memory, whichever name it went through ---- */

static void aliases(wb_builder *b, array whole, array out, val n) {
  array bytes = view(whole, U8), words = view(whole, I64), floats = view(whole, F32);
  val i = bit_and(n, 7);
  for (int round = 0; round < 3; round++) {
    val before = load(whole, i);
    store(bytes, mul(i, 4), add(before, 1 + round));
    val between = load(whole, i);
    store(words, shr(i, 1), i64(mul(between, 7)));
    store(floats, bit_xor(i, 1), f32(before));
    val row = load_row(whole, 0);
    store(whole, add(i, 16), sub(load(whole, i), between));
    store(out, 2 * round, add(before, between));
    store(out, 2 * round + 1, add(reduce_add(load_row(whole, 0)), reduce_add(row)));
  }
}

static void check_aliases(bool buffer) {
  wb_error error = {0};
  wb_layout *layout;
  wb_builder *b;
  array whole;
  wb_layout_new(&layout, &error);
  wb_layout_add(layout, "whole", WB_ELEMENT_I32, 32, 0, &whole, &error);
  wb_builder_new("aliases", 32, layout, &b, &error);
  array other = buffer_per_book_out("buffer", I32);
  array out = buffer_per_book_out("out", I32);
  aliases(b, buffer ? other : whole, out, book_index());
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  test_memory m;
  test_memory_new(&m, program, 8, (int64_t[]){32, 8});
  test_memory_fill(&m, 11);
  test_expect_same(program, &m, 0);
  test_memory_free(&m);
  wb_program_free(program);
  wb_layout_free(layout);
}

Test(lower_memory, views_share_the_memory_of_an_array) { check_aliases(false); }
Test(lower_memory, views_share_the_memory_of_a_buffer) { check_aliases(true); }

/* ---- books ---- */

Test(lower_memory, only_the_asked_for_books_are_run) {
  wb_error error = {0};
  wb_layout *layout;
  wb_builder *b;
  array cell_of;
  wb_layout_new(&layout, &error);
  wb_layout_add(layout, "cell", WB_ELEMENT_I32, 1, 0, &cell_of, &error);
  wb_builder_new("books", 32, layout, &b, &error);
  array out = buffer_per_book_out("out", I32);
  add_to(cell_of, 0, add(book_index(), 100));
  store(out, 1, mul(book_index(), 3));
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  wb_lower_request request = {.program = program};
  wb_lower_result result;
  cr_assert_eq(test_lowering()->compile(&request, &result, &error), WB_OK, "%s", error.text);
  test_memory m;
  test_memory_new(&m, program, 8, (int64_t[]){2});
  result.entry(&m.arguments, 3, 6);
  result.entry(&m.arguments, 6, 6);
  result.entry(&m.arguments, 7, 2);
  for (int32_t book = 0; book < 8; book++) {
    bool ran = book >= 3 && book < 6;
    int32_t cell_value;
    memcpy(&cell_value, (char *)m.arguments.slabs + book * program->slab_bytes, sizeof cell_value);
    cr_expect_eq(cell_value, ran ? 100 + book : 0);
    cr_expect_eq(((int32_t *)test_buffer(&m, 0))[2 * book + 1], ran ? 3 * book : 0);
  }
  test_memory_free(&m);
  test_lowering()->release(&result);
  wb_program_free(program);
  wb_layout_free(layout);
}

/* ---- promises ---- */

typedef void (*promise)(wb_builder *b, array a, val at);

static void promise_load(wb_builder *b, array a, val at) { store(a, 0, load_in(a, at)); }
static void promise_store(wb_builder *b, array a, val at) { store_in(a, at, 1); }
static void promise_row(wb_builder *b, array a, val at) { store_row_in(a, at, lane_id()); }
static void promise_gather(wb_builder *b, array a, val at) {
  store_row(a, 0, gather_in(a, choose(lt(lane_id(), 9), lane_id(), at)));
}
static void promise_scatter(wb_builder *b, array a, val at) {
  scatter_in(a, choose(eq(lane_id(), 31), at, lane_id()), 1);
}
static void promise_lane(wb_builder *b, array a, val at) {
  store_lanes_if_in(a, at, lane_id(), eq(lane_id(), 0));
}
/* the first four lanes may lie before the array, the last ones behind it */
static void promise_lanes(wb_builder *b, array a, val at) {
  store_lanes_if_in(a, sub(i64(at), 4), 1, eq(sar(lane_id(), 2), 1));
}
static void promise_value(wb_builder *b, array a, val at) { store(a, 0, known(at, 0, 63)); }
static void promise_values(wb_builder *b, array a, val at) {
  store_row(a, 0, known(choose(eq(lane_id(), 5), at, 1), 0, 63));
}

/* Runs book 0 with a kept promise and book 1 with a broken one; gives what was reported. */
static wb_fault run_promise(promise body, int32_t broken, int32_t *op) {
  wb_error error = {0};
  wb_layout *layout;
  wb_builder *b;
  array a;
  wb_layout_new(&layout, &error);
  wb_layout_add(layout, "a", WB_ELEMENT_I32, 64, 0, &a, &error);
  wb_builder_new("promise", 32, layout, &b, &error);
  array at = buffer_per_book("at", I32);
  body(b, a, load(at, 0));
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  test_memory m;
  test_memory_new(&m, program, 2, (int64_t[]){1});
  ((int32_t *)test_buffer(&m, 0))[1] = broken;
  wb_lower_request request = {.program = program, .check = true};
  wb_lower_result result;
  cr_assert_eq(test_lowering()->compile(&request, &result, &error), WB_OK, "%s", error.text);
  result.entry(&m.arguments, 0, 2);
  for (*op = 0; *op < program->op_count; ++*op) {
    if (program->ops[*op].flags & WB_FLAG_IN || program->ops[*op].code == WB_OP_KNOWN) break;
  }
  wb_fault fault = m.fault;
  test_lowering()->release(&result);
  test_memory_free(&m);
  wb_program_free(program);
  wb_layout_free(layout);
  return fault;
}

Test(lower_memory, a_broken_promise_is_reported_with_op_book_and_index) {
  static const promise all[] = {promise_load,   promise_store,   promise_row,
                                promise_gather, promise_scatter, promise_lane,
                                promise_lanes,  promise_value,   promise_values};
  static const int32_t broken[] = {64, -1, INT32_MIN, INT32_MAX};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    for (size_t k = 0; k < sizeof broken / sizeof *broken; k++) {
      int32_t op;
      wb_fault fault = run_promise(all[i], broken[k], &op);
      cr_expect_eq(fault.op, op, "promise %zu: op %d, expected %d", i, fault.op, op);
      cr_expect_eq(fault.book, 1);
      cr_expect_eq(fault.index, broken[k], "promise %zu: index %lld", i, (long long)fault.index);
    }
    int32_t op;
    cr_expect_eq(run_promise(all[i], 1, &op).op, -1, "promise %zu holds", i);
  }
}

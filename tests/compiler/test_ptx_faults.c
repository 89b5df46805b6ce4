/* Faults planted into PTX of ours, each of which the emulator must refuse or show as a wrong result:
 * every barrier taken out in turn, a store behind a branch of its own, a wrong lane of a shuffle, a mask
 * of too few lanes, shared memory a byte short, a warp that does not end, a reduction the wrong way. */
#include "compiler/kernel.h"
#include "tests/emulator/cuda_abi.h"
#include "tests/emulator/emulator.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

enum { BOOKS = 3, RING = 64, TEXT_MAX = 1 << 16 };

/* ---- a program with each kind of hazard ---- */

typedef struct memory {
  array rows, row, cells, ring; /* of i32: 64, 32, 8 and 64 elements */
} memory;

static void rows_and_cells(wb_builder *b, memory m) {
  val at = load_in(m.cells, 0); /* 5 */
  store_row_in(m.rows, 0, add(mul(lane_id(), 3), book_index()));
  val x = load_in(m.rows, at);                       /* written by lanes, read by all */
  store_in(m.cells, 1, add(load_in(m.cells, 1), x)); /* read by all, written by all */
  store_row_in(m.rows, 0, add(lane_id(), x));        /* read by all, written by lanes, ... */
  store_in(m.rows, at, mul(x, 7));                   /* ... and then by all */
  store_in(m.cells, 2, reduce_add(load_row_in(m.rows, 0)));
}

static void rounds(wb_builder *b, memory m) {
  FOR (i, 0, 3) {
    val most = reduce_max(load_row_in(m.row, 0)); /* written by all in the round before */
    store_in(m.row, i, add(most, 1));
  }
  val last = load_in(m.row, 2);
  IF (gt(load_in(m.cells, 0), 4)) {
    store_row_in(m.row, 0, add(load_row_in(m.row, 0), lane_id()));
  }
  store_in(m.cells, 3, add(last, load_in(m.row, load_in(m.cells, 0))));
}

static void lanes_apart(wb_builder *b, memory m) {
  val turned = sub(31, lane_id());
  scatter_in(m.rows, turned, mul(lane_id(), 5));
  store_row_in(m.row, 0, load_row_in(m.rows, 0));
  val back = gather_in(m.row, turned);
  scatter_in(m.rows, bit_and(lane_id(), 7), add(back, lane_id())); /* the highest lane's stays */
  store_row_if_in(m.row, 0, mul(back, 3), lt(lane_id(), 9));
  store_in(m.cells, 4, load_in(m.row, load_in(m.cells, 0)));
  store_in(m.cells, 5, reduce_min(shuffle(load_row_in(m.rows, 0), add(lane_id(), 1))));
  store_in(m.cells, 6, ballot(gt(load_row_in(m.rows, 0), 40)));
  store_in(m.cells, 7, extract(load_row_in(m.rows, 0), 17));
}

static void ring_of(wb_builder *b, memory m) {
  val at = load_in(m.cells, 0);
  store_row_in(m.ring, 0, load_row_in(m.rows, 0));
  val x = load_in(m.ring, at);
  store_in(m.ring, at, add(x, 1));
  store_row_if_in(m.ring, 0, add(lane_id(), x), eq(bit_and(lane_id(), 1), 1));
  store_row_in(m.row, 0, load_row_in(m.ring, 0)); /* copied out by other lanes */
}

static wb_program *make_program(void) {
  wb_error error = {0};
  wb_layout *layout;
  wb_builder *b;
  wb_program *program;
  memory m;
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  wb_layout_add(layout, "rows", WB_ELEMENT_I32, 64, 0, &m.rows, NULL);
  wb_layout_add(layout, "row", WB_ELEMENT_I32, 32, 0, &m.row, NULL);
  wb_layout_add(layout, "cells", WB_ELEMENT_I32, 8, 0, &m.cells, NULL);
  cr_assert_eq(wb_builder_new("hazards", 32, layout, &b, NULL), WB_OK);
  m.ring = buffer_per_book_out("ring", I32);
  rows_and_cells(b, m);
  rounds(b, m);
  lanes_apart(b, m);
  ring_of(b, m);
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  wb_layout_free(layout);
  return program;
}

/* ---- running a text ---- */

typedef struct world {
  wb_program *program;
  wb_kernel *kernel;
  const wb_gpu_code *gpu;
  size_t slabs_bytes, ring_bytes;
  unsigned char *expected; /* slabs, then rings, after a right run */
} world;

static void fill(int32_t *slabs, size_t stride) {
  for (int book = 0; book < BOOKS; book++) {
    int32_t *slab = slabs + stride / 4 * (size_t)book;
    memset(slab, 0, stride);
    slab[96] = 5; /* cells[0] */
    for (int k = 0; k < 32; k++) slab[64 + k] = 100 - 3 * k;
  }
}

/* Runs a text in a fresh runtime; false if it was refused. `short_by` bytes of shared memory are held
 * back. */
static bool run(const world *w, const char *ptx, unsigned short_by, unsigned char *result) {
  wb_emulator_reset();
  cudaLibrary_t library = NULL;
  cudaKernel_t kernel = NULL;
  void *slabs = NULL, *rings = NULL;
  if (cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0) != cudaSuccess) return false;
  cr_assert_eq(cudaLibraryGetKernel(&kernel, library, "hazards"), cudaSuccess);
  cr_assert_eq(cudaMalloc(&slabs, w->slabs_bytes), cudaSuccess);
  cr_assert_eq(cudaMalloc(&rings, w->ring_bytes), cudaSuccess);
  fill((int32_t *)(void *)result, (size_t)w->program->slab_bytes);
  memset(result + w->slabs_bytes, 0, w->ring_bytes);
  cr_assert_eq(cudaMemcpy(slabs, result, w->slabs_bytes, cudaMemcpyHostToDevice), cudaSuccess);
  cr_assert_eq(cudaMemcpy(rings, result + w->slabs_bytes, w->ring_bytes, cudaMemcpyHostToDevice),
               cudaSuccess);
  int64_t stride = w->program->slab_bytes, first = 0, end = BOOKS, length = RING;
  void *none = NULL;
  void *parameters[] = {&slabs, &stride, &first, &end, &none, &rings, &length, &length};
  unsigned warps = (unsigned)w->gpu->warps;
  dim3 grid = {(BOOKS + warps - 1) / warps, 1, 1}, block = {32 * warps, 1, 1};
  size_t shared = (size_t)w->gpu->shared_bytes * warps;
  if (shared > 0) shared -= short_by;
  if (cudaLaunchKernel(kernel, grid, block, parameters, shared, NULL) != cudaSuccess) return false;
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  (void)cudaMemcpy(result, slabs, w->slabs_bytes, cudaMemcpyDeviceToHost);
  (void)cudaMemcpy(result + w->slabs_bytes, rings, w->ring_bytes, cudaMemcpyDeviceToHost);
  return true;
}

static world open_world(wb_placement placement, int32_t warps) {
  wb_error error = {0};
  world w = {.program = make_program()};
  wb_kernel_options options = {.sm = 90, .placement = placement, .warps = warps};
  wb_status status = wb_kernel_compile(NULL, w.program, &options, &w.kernel, NULL, &error);
  cr_assert_eq(status, WB_OK, "%s", error.text);
  w.gpu = wb_kernel_gpu(w.kernel);
  w.slabs_bytes = (size_t)w.program->slab_bytes * BOOKS;
  w.ring_bytes = sizeof(int32_t) * RING * BOOKS;
  w.expected = calloc(1, w.slabs_bytes + w.ring_bytes);
  cr_assert(run(&w, w.gpu->ptx, 0, w.expected), "the text as it is: %s", wb_emulator_message());
  return w;
}

static void close_world(world *w) {
  wb_emulator_reset();
  free(w->expected);
  wb_kernel_release(w->kernel);
  wb_program_free(w->program);
}

/* Whether a text is refused or gives another result than the right one. */
static bool is_found(const world *w, const char *ptx, unsigned short_by) {
  size_t bytes = w->slabs_bytes + w->ring_bytes;
  unsigned char *result = malloc(bytes);
  bool found = !run(w, ptx, short_by, result) || memcmp(result, w->expected, bytes) != 0;
  free(result);
  return found;
}

/* A copy of the text with the occurrence `number` of `from` as `to`; NULL if there is none. */
static char *replaced(const char *text, const char *from, const char *to, int number) {
  const char *at = strstr(text, from);
  while (at != NULL && number-- > 0) at = strstr(at + 1, from);
  if (at == NULL) return NULL;
  char *copy = malloc(strlen(text) + strlen(to) + 1);
  size_t before = (size_t)(at - text);
  memcpy(copy, text, before);
  strcpy(copy + before, to);
  strcat(copy, at + strlen(from));
  return copy;
}

/* Each occurrence in a text is replaced in turn and must be found; at least `least` of them. */
static void plant_in(const world *w, const char *ptx, const char *from, const char *to, int least) {
  int number = 0;
  for (;; number++) {
    char *text = replaced(ptx, from, to, number);
    if (text == NULL) break;
    cr_expect(is_found(w, text, 0), "\"%s\" as \"%s\", occurrence %d", from, to, number);
    free(text);
  }
  cr_expect_geq(number, least, "\"%s\" occurs %d times", from, number);
}

static void plant_all(const world *w, const char *from, const char *to, int least) {
  plant_in(w, w->gpu->ptx, from, to, least);
}

/* The text without the shuffles by which a warp learns its number from its first lane: all lanes have the
 * same, so whom they take it from makes no difference. */
static char *without_seats(const char *ptx) {
  char *text = strdup(ptx), *next;
  while ((next = replaced(text, ", 0, 31, -1;", ", 0, 0x1f, -1;", 0)) != NULL) {
    free(text);
    text = next;
  }
  return text;
}

/* ---- the faults ---- */

Test(ptx_faults, each_missing_barrier_of_shared_memory) {
  world w = open_world(WB_PLACEMENT_SHARED, 2);
  plant_all(&w, "bar.warp.sync", "// bar.warp.sync", 12);
  close_world(&w);
}

Test(ptx_faults, each_missing_barrier_of_global_memory) {
  world w = open_world(WB_PLACEMENT_GLOBAL, 2);
  plant_all(&w, "bar.warp.sync", "// bar.warp.sync", 10);
  close_world(&w);
}

Test(ptx_faults, lanes_that_part_at_a_store) {
  world w = open_world(WB_PLACEMENT_SHARED, 1);
  const char *text = w.gpu->ptx;
  int planted = 0, found = 0;
  for (const char *at = strstr(text, "@%p"); at != NULL; at = strstr(at + 1, "@%p")) {
    const char *store = strchr(at, ' ');
    const char *end = strchr(at, '\n');
    if (store == NULL || strncmp(store, " st.", 4) != 0) continue;
    char *changed = malloc(strlen(text) + 64);
    sprintf(changed, "%.*s@!%.*s bra $over%d;%.*s\n$over%d:%s", (int)(at - text), text,
            (int)(store - at - 1), at + 1, planted, (int)(end - store), store, planted, end);
    /* one of them is made by all lanes */
    found += is_found(&w, changed, 0) && strstr(wb_emulator_message(), "divergence") != NULL;
    free(changed);
    planted++;
  }
  cr_expect_eq(planted, 4);
  cr_expect_eq(found, 3);
  close_world(&w);
}

Test(ptx_faults, shuffles_votes_and_reductions) {
  world w = open_world(WB_PLACEMENT_SHARED, 2);
  char *ptx = without_seats(w.gpu->ptx);
  cr_assert(!is_found(&w, ptx, 0), "what is spared is no fault: %s", wb_emulator_message());
  plant_in(&w, ptx, ", 31, -1;", ", 15, -1;", 2); /* a segment of 16 lanes */
  free(ptx);
  plant_all(&w, ", 17, 31, -1;", ", 16, 31, -1;", 1);
  plant_all(&w, "redux.sync.max.s32", "redux.sync.min.s32", 1);
  plant_all(&w, "redux.sync.add.s32", "redux.sync.xor.b32", 1);
  close_world(&w);
}

Test(ptx_faults, shared_memory_a_byte_short) {
  world w = open_world(WB_PLACEMENT_SHARED, 3);
  cr_expect(is_found(&w, w.gpu->ptx, 1), "one byte");
  cr_expect(is_found(&w, w.gpu->ptx, 64), "64 bytes");
  close_world(&w);
}

/* A warp without a book that goes on writes where no book is. */
Test(ptx_faults, a_warp_without_a_book) {
  world w = open_world(WB_PLACEMENT_SHARED, 2);
  plant_all(&w, "setp.lt.s64 \t%p1,", "setp.le.s64 \t%p1,", 1);
  close_world(&w);
}

/* Of lanes that scatter to one place, one must be chosen. */
Test(ptx_faults, lanes_that_store_to_one_place) {
  world w = open_world(WB_PLACEMENT_SHARED, 1);
  const char *at = strstr(w.gpu->ptx, "match.any.sync");
  cr_assert_not_null(at);
  int planted = 0;
  for (at = strstr(at, "@%p"); at != NULL; at = strstr(at + 1, "@%p")) {
    const char *store = strchr(at, ' ');
    if (strncmp(store, " st.shared", 10) != 0) continue;
    size_t before = (size_t)(at - w.gpu->ptx);
    char *changed = strdup(w.gpu->ptx);
    memset(changed + before, ' ', (size_t)(store - at));
    planted += is_found(&w, changed, 0);
    free(changed);
  }
  cr_expect_geq(planted, 1, "%d stores without their choice of lanes were found", planted);
  close_world(&w);
}

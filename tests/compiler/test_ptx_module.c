/* What comes out of the lowering to PTX besides results: limits told before a driver would, branches
 * marked, barriers explained, placement by occupancy and by request. */
#include "compiler/kernel.h"
#include "kernels/book.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

/* A program over one array of `length` i32, which it reads and, if told so, writes. */
static wb_program *make_program(int64_t length, bool writes) {
  wb_layout *layout;
  wb_builder *b;
  wb_program *program;
  array cells;
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "cells", WB_ELEMENT_I32, length, 0, &cells, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("small", 32, layout, &b, NULL), WB_OK);
  array out = buffer_per_book_out("out", I32);
  var sum = variable(splat(i32(0)));
  FOR (r, 0, (int)(length / 32)) {
    assign(sum, add(sum, load_row(cells, r)));
  }
  store(out, 0, reduce_add(sum));
  if (writes) store(cells, 0, 1);
  cr_assert_eq(wb_builder_finish(b, &program, NULL), WB_OK);
  wb_layout_free(layout);
  return program;
}

static wb_status compile(const wb_program *program, wb_kernel_options options, wb_kernel **kernel,
                         wb_error *error) {
  *error = (wb_error){0};
  return wb_kernel_compile(NULL, program, &options, kernel, NULL, error);
}

static wb_gpu_code compiled(const wb_program *program, wb_kernel_options options,
                            wb_kernel **kernel) {
  wb_error error;
  cr_assert_eq(compile(program, options, kernel, &error), WB_OK, "%s", error.text);
  return *wb_kernel_gpu(*kernel);
}

Test(ptx_module, an_unknown_capability_is_refused) {
  wb_program *program = make_program(32, true);
  wb_kernel *kernel;
  wb_error error;
  cr_expect_eq(compile(program, (wb_kernel_options){.sm = 75}, &kernel, &error), WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text, "GPU capability: expected 80 or 90, got 75");
  wb_program_free(program);
}

Test(ptx_module, shared_memory_that_no_block_has_is_refused) {
  wb_program *program = make_program(65536, true);
  wb_kernel *kernel;
  wb_error error;
  wb_kernel_options options = {.sm = 90, .placement = WB_PLACEMENT_SHARED};
  cr_expect_eq(compile(program, options, &kernel, &error), WB_ERROR_LIMIT);
  cr_expect(strstr(error.text, "expected at most 232448 bytes a block on sm_90, got 1048576") !=
                NULL,
            "%s", error.text);
  wb_program_free(program);
}

Test(ptx_module, a_block_of_too_many_warps_is_refused) {
  wb_program *program = make_program(32, true);
  wb_kernel *kernel;
  wb_error error;
  cr_expect_eq(compile(program, (wb_kernel_options){.sm = 80, .warps = 33}, &kernel, &error),
               WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text, "lowering small: warps of a block: expected 1 to 32, got 33");
  wb_program_free(program);
}

static wb_placement placed(int64_t length, bool writes, wb_placement asked, int32_t sm) {
  wb_kernel *kernel;
  wb_program *program = make_program(length, writes);
  wb_gpu_code gpu = compiled(program, (wb_kernel_options){.sm = sm, .placement = asked}, &kernel);
  cr_expect(strstr(gpu.ptx, gpu.report) != NULL, "the text tells where the slab is");
  cr_expect_geq(gpu.warps, 2);
  wb_placement where = gpu.placement;
  wb_kernel_release(kernel);
  wb_program_free(program);
  return where;
}

Test(ptx_module, a_slab_is_placed_by_how_many_warps_fit) {
  /* 14 KB: 16 warps on sm_90, fewer on sm_80 */
  cr_expect_eq(placed(1024, true, WB_PLACEMENT_AUTO, 90), WB_PLACEMENT_SHARED);
  cr_expect_eq(placed(3456, true, WB_PLACEMENT_AUTO, 90), WB_PLACEMENT_SHARED);
  cr_expect_eq(placed(3456, true, WB_PLACEMENT_AUTO, 80), WB_PLACEMENT_SPLIT);
  cr_expect_eq(placed(65536, true, WB_PLACEMENT_AUTO, 90), WB_PLACEMENT_SPLIT);
  cr_expect_eq(placed(1024, false, WB_PLACEMENT_AUTO, 90), WB_PLACEMENT_GLOBAL, "only read");
  cr_expect_eq(placed(1024, true, WB_PLACEMENT_GLOBAL, 90), WB_PLACEMENT_GLOBAL, "as asked for");
  cr_expect_eq(placed(1024, false, WB_PLACEMENT_SHARED, 80), WB_PLACEMENT_SHARED, "as asked for");
}

static int occurrences(const char *text, const char *of) {
  int count = 0;
  for (const char *at = strstr(text, of); at != NULL; at = strstr(at + 1, of)) count++;
  return count;
}

Test(ptx_module, branches_are_uniform_and_barriers_explained) {
  wb_book_rules rules = wb_book_rules_default();
  wb_book_features features = wb_features_all(&rules);
  wb_book_layout *layout;
  wb_program *program;
  wb_kernel *kernel;
  cr_assert_eq(wb_book_layout_new(128, &layout, NULL), WB_OK);
  cr_assert_eq(wb_run_program_build(layout, &features, &program, NULL), WB_OK);
  wb_gpu_code gpu = compiled(program, (wb_kernel_options){.sm = 90}, &kernel);
  cr_expect_eq(occurrences(gpu.ptx, "bra"), occurrences(gpu.ptx, "bra.uni"));
  cr_expect_gt(occurrences(gpu.ptx, "bra.uni"), 100);
  cr_expect_eq(occurrences(gpu.ptx, "bar.warp.sync"), occurrences(gpu.ptx, "// barrier for ") + 2,
               "two are for the copies");
  cr_expect(strstr(gpu.ptx, ".extern .shared") != NULL);
  cr_expect(strstr(gpu.ptx, ".local") == NULL, "nothing lies in local memory");
  cr_expect_eq(gpu.placement, WB_PLACEMENT_SHARED);
  wb_kernel_release(kernel);
  wb_program_free(program);
  wb_book_layout_free(layout);
}

/* The same program gives the same text, whatever was compiled in between. */
Test(ptx_module, text_is_reproducible) {
  wb_program *program = make_program(64, true), *other = make_program(96, false);
  wb_kernel *first, *between, *second;
  wb_gpu_code a = compiled(program, (wb_kernel_options){.sm = 90}, &first);
  (void)compiled(other, (wb_kernel_options){.sm = 80}, &between);
  wb_gpu_code c = compiled(program, (wb_kernel_options){.sm = 90}, &second);
  cr_expect_str_eq(a.ptx, c.ptx);
  wb_kernel_release(first);
  wb_kernel_release(between);
  wb_kernel_release(second);
  wb_program_free(program);
  wb_program_free(other);
}

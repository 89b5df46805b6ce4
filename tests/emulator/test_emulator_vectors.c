/* Loads and stores of several elements a lane, and prefetches: what they move, what they are counted as,
 * and that every byte of them is checked. Each runs in lock step and lane by lane. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const modes[] = {"warp", "lanes:3"};

static const struct {
  const char *type, *registers;
  unsigned bytes;
} elements[] = {{"b8", "rs", 1},  {"u8", "rs", 1},  {"b16", "rs", 2}, {"u16", "rs", 2},
                {"b32", "r", 4},  {"u32", "r", 4},  {"s32", "r", 4},  {"f32", "f", 4},
                {"b64", "rd", 8}, {"u64", "rd", 8}, {"s64", "rd", 8}, {"f64", "fd", 8}};
enum { ELEMENTS = sizeof elements / sizeof *elements };

/* "{%r8, %r9}", or back to front */
static const char *vector(const char *registers, int count, bool reversed, char *text) {
  size_t at = 0;
  for (int k = 0; k < count; k++) {
    const int number = 8 + (reversed ? count - 1 - k : k);
    at += (size_t)sprintf(text + at, "%s%%%s%d", k ? ", " : "{", registers, number);
  }
  strcpy(text + at, "}");
  return text;
}

/* each lane takes its vector of `in` and puts it reversed into `out`; with a way through shared memory
 * it is the one of the lane beside it */
static void write_program(int e, int count, const char *load, bool shared, char *text,
                          size_t bytes) {
  char there[64], back[64], way[512] = "";
  vector(elements[e].registers, count, false, there);
  vector(elements[e].registers, count, true, back);
  const char *type = elements[e].type;
  const unsigned stride = elements[e].bytes * (unsigned)count;
  if (shared) {
    snprintf(way, sizeof way,
             "st.shared.v%d.%s [%%r4], %s;\nbar.warp.sync -1;\nld.shared.v%d.%s %s, [%%r5];\n",
             count, type, there, count, type, there);
  }
  snprintf(
      text, bytes,
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
      ".reg .b16 %%rs<12>;\n.reg .b32 %%r<12>;\n.reg .f32 %%f<12>;\n.reg .b64 %%rd<12>;\n"
      ".reg .f64 %%fd<12>;\n.shared .align 16 .b8 rows[512];\n"
      "ld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\nmov.u32 %%r1, %%tid.x;\n"
      "mul.wide.u32 %%rd3, %%r1, %u;\nadd.s64 %%rd1, %%rd1, %%rd3;\nadd.s64 %%rd2, %%rd2, %%rd3;\n"
      "mov.u32 %%r2, rows;\nxor.b32 %%r3, %%r1, 1;\nmad.lo.u32 %%r4, %%r1, %u, %%r2;\n"
      "mad.lo.u32 %%r5, %%r3, %u, %%r2;\n"
      "%s.v%d.%s %s, [%%rd1];\n%sst.global.v%d.%s [%%rd2], %s;\nret;\n}\n",
      stride, stride, stride, load, count, type, there, way, count, type, back);
}

static void expect(const uint8_t *in, unsigned bytes, unsigned count, bool shared, uint8_t *out) {
  const unsigned stride = bytes * count;
  for (unsigned lane = 0; lane < 32; lane++) {
    const uint8_t *from = in + (shared ? lane ^ 1 : lane) * stride;
    for (unsigned k = 0; k < count; k++) {
      memcpy(out + lane * stride + k * bytes, from + (count - 1 - k) * bytes, bytes);
    }
  }
}

static void run_one(int e, int count, const char *load, bool shared, int mode) {
  char text[2048], what[64];
  uint8_t in[512], out[512], expected[512];
  const unsigned bytes = 32 * elements[e].bytes * (unsigned)count;
  snprintf(what, sizeof what, "%s.v%d.%s, %s", load, count, elements[e].type, modes[mode]);
  for (unsigned k = 0; k < bytes; k++) in[k] = (uint8_t)(k * 7 + k / 251 + 1);
  harness_start();
  cr_assert(wb_emulator_set("MODE", modes[mode]));
  write_program(e, count, load, shared, text, sizeof text);
  cudaLibrary_t library;
  MUST(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  void *from = harness_put(in, bytes), *to = harness_put(NULL, bytes), *arguments[] = {&from, &to};
  harness_launch(harness_kernel(library, "k"), (dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, arguments);
  harness_get(out, to, bytes);
  expect(in, elements[e].bytes, (unsigned)count, shared, expected);
  cr_assert_arr_eq(out, expected, bytes, "%s", what);
  if (mode) return;
  /* one instruction; as many sectors and lines as the bytes fill; a pass for each 128 bytes */
  wb_emulator_counts counts;
  const int64_t lines = bytes > 128 ? bytes / 128 : 1;
  cr_assert(wb_emulator_read_counts("k", &counts));
  cr_assert_eq(counts.classes[WB_EMULATOR_GLOBAL], 2, "%s", what);
  cr_assert_eq(counts.global_requests, 2, "%s", what);
  cr_assert_eq(counts.global_sectors, bytes / 32 * 2, "%s: %lld", what,
               (long long)counts.global_sectors);
  cr_assert_float_eq(counts.class_cycles[WB_EMULATOR_GLOBAL], (double)(2 * lines), 1e-9, "%s",
                     what);
  cr_assert_eq(counts.shared_requests, shared ? 2 : 0, "%s", what);
  cr_assert_eq(counts.shared_passes, shared ? 2 * lines : 0, "%s: %lld", what,
               (long long)counts.shared_passes);
  cr_assert_eq(counts.shared_conflicts, 0, "%s", what);
}

Test(vectors, every_width_moves_and_counts) {
  static const char *const loads[] = {
      "ld.global",          "ld.global.nc",       "ld.global.nc.L1::no_allocate",
      "ld.volatile.global", "ld.global.L2::128B", "ld"};
  for (int e = 0; e < ELEMENTS; e++) {
    for (int count = 2; count <= 4; count += 2) {
      if (elements[e].bytes * (unsigned)count > 16) continue;
      for (size_t l = 0; l < sizeof loads / sizeof *loads; l++) {
        for (int mode = 0; mode < 2; mode++) run_one(e, count, loads[l], l % 2 == 0, mode);
      }
    }
  }
  harness_end();
}

/* a kernel "k" of a pointer to `bytes` bytes, the first `written` of which hold something: %rd1 it, %rd2
 * the lane's 16 bytes of it, %r4 the same of shared memory */
static bool run_body(const char *body, size_t bytes, size_t written, const char *mode) {
  char text[4096];
  snprintf(text, sizeof text,
           ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n"
           ".reg .pred %%p<4>;\n.reg .b32 %%r<20>;\n.reg .b64 %%rd<12>;\n"
           ".shared .align 16 .b8 rows[512];\n.local .align 16 .b8 stack[32];\n"
           "ld.param.u64 %%rd1, [at];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%rd3, %%r1, 16;\n"
           "add.s64 %%rd2, %%rd1, %%rd3;\nmov.u32 %%r2, rows;\nmad.lo.u32 %%r4, %%r1, 16, %%r2;\n"
           "setp.eq.s32 %%p1, %%r1, 0;\nmov.u32 %%r8, 1;\nmov.u32 %%r9, 2;\nmov.u32 %%r10, 3;\n"
           "mov.u32 %%r11, 4;\n%s\nret;\n}\n",
           body);
  harness_start();
  cr_assert(wb_emulator_set("MODE", mode));
  cudaLibrary_t library;
  MUST(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
  void *memory = NULL;
  MUST(cudaMalloc(&memory, bytes));
  if (written) MUST(cudaMemset(memory, 0, written));
  void *arguments[] = {&memory};
  const cudaKernel_t kernel = harness_kernel(library, "k");
  return cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL) ==
             cudaSuccess &&
         cudaDeviceSynchronize() == cudaSuccess;
}

#define FOUR "{%r12, %r13, %r14, %r15}"
#define PUT4 "{%r8, %r9, %r10, %r11}"

static const struct {
  const char *what, *body;
  size_t bytes, written;
  const char *message; /* NULL: fine */
} cases[] = {
    /* the whole vector must be aligned, not only its elements */
    {"4 words, by 8", "ld.global.v4.u32 " FOUR ", [%rd1+8];", 512, 512, "no multiple of 16"},
    {"4 words, by 4, read-only path", "ld.global.nc.v4.b32 " FOUR ", [%rd1+4];", 512, 512,
     "no multiple of 16"},
    {"2 words, by 4", "ld.global.v2.b32 {%r12, %r13}, [%rd1+4];", 512, 512, "no multiple of 8"},
    {"2 words, by 8", "ld.global.v2.b32 {%r12, %r13}, [%rd1+8];", 512, 512, NULL},
    {"2 doubles, by 8", "st.global.v2.b64 [%rd1+8], {%rd1, %rd1};", 512, 512, "no multiple of 16"},
    {"4 words in shared memory, by 8", "st.shared.v4.u32 [rows+8], " PUT4 ";", 512, 512,
     "no multiple of 16"},
    {"2 words in shared memory, by 4", "st.shared.v2.u32 [rows+4], {%r8, %r9};", 512, 512,
     "no multiple of 8"},
    /* its last byte must be there */
    {"to the last byte", "ld.global.v4.u32 " FOUR ", [%rd1+496];", 512, 512, NULL},
    {"one word past the end", "ld.global.v4.u32 " FOUR ", [%rd1+496];", 508, 508,
     "16 bytes at address"},
    {"one byte past the end", "st.global.v4.u32 [%rd1+496], " PUT4 ";", 511, 511,
     "outside every allocation; the one before starts at"},
    {"past a shared array", "st.shared.v4.u32 [rows+512], " PUT4 ";", 512, 512,
     "outside the block's shared arrays"},
    {"past the stack", "st.local.v4.u32 [stack+32], " PUT4 ";", 512, 512,
     "outside the 32 bytes of a lane"},
    /* and have been written */
    {"the last word was never written", "ld.global.v4.u32 " FOUR ", [%rd1];", 512, 12,
     "16 bytes at global address"},
    {"the last byte was never written", "ld.global.nc.v2.u64 {%rd4, %rd5}, [%rd1];", 512, 15,
     "are read and were never written"},
    {"all were written", "ld.global.v4.u32 " FOUR ", [%rd1];", 512, 16, NULL},
    {"the last word of shared memory was never written",
     "st.shared.v2.u32 [rows], {%r8, %r8};\nst.shared.u32 [rows+8], 1;\n"
     "ld.shared.v4.u32 " FOUR ", [rows];",
     512, 512, "16 bytes at shared address 0x0 are read and were never written"},
    {"a stack written by pieces",
     "st.local.v2.u32 [stack], {%r8, %r9};\n"
     "ld.local.v4.u32 " FOUR ", [stack];",
     512, 512, "were never written"},
    /* hazards at one of its bytes */
    {"the last word is another lane's",
     "@%p1 st.global.u32 [%rd1+28], 9;\nld.global.v4.u32 " FOUR ", [%rd2];", 512, 512,
     "hazard, read after write without a barrier at global address"},
    {"the last byte is another lane's",
     "@%p1 st.global.u8 [%rd1+31], 9;\nld.global.v4.u32 " FOUR ", [%rd2];", 512, 512,
     "hazard, read after write without a barrier at global address"},
    {"the same behind a barrier",
     "@%p1 st.global.u8 [%rd1+31], 9;\nbar.warp.sync -1;\nld.global.v4.u32 " FOUR ", [%rd2];", 512,
     512, NULL},
    {"a vector over a word that was read",
     "@%p1 ld.global.u32 %r12, [%rd1+28];\nst.global.v4.u32 [%rd2], " PUT4 ";", 512, 512,
     "hazard, write after read without a barrier at global address"},
    {"a word under a vector that was read",
     "ld.global.v4.u32 " FOUR ", [%rd2];\n@%p1 st.global.u32 [%rd1+508], 3;", 512, 512,
     "hazard, write after read without a barrier at global address"},
    {"unequal in the last word", "mov.u32 %r11, %r1;\nst.global.v4.u32 [%rd1], " PUT4 ";", 512, 512,
     "hazard, unequal write after write without a barrier at global address"},
    {"equal in all words", "st.global.v4.u32 [%rd1], " PUT4 ";", 512, 512, NULL},
    {"shared: the last word is another lane's",
     "@%p1 st.shared.u32 [rows+28], 9;\nbar.warp.sync -1;\nst.shared.v4.u32 [%r4], " PUT4 ";\n"
     "@%p1 ld.shared.v4.u32 " FOUR ", [rows+16];",
     512, 512, "hazard, read after write without a barrier at shared address"},
    {"shared: rows of their own",
     "st.shared.v4.u32 [%r4], " PUT4 ";\nld.shared.v4.u32 " FOUR ", [%r4];\n"
     "st.shared.v2.u32 [%r4], {%r13, %r12};",
     512, 512, NULL},
    {"read by the read-only path and written",
     "ld.global.nc.v4.u32 " FOUR ", [%rd2];\nbar.warp.sync -1;\n@%p1 st.global.u32 [%rd1+508], 1;",
     512, 512, "is read by ld.global.nc and written in one launch"},
    {"written and read by the read-only path",
     "@%p1 st.global.u32 [%rd1+508], 1;\nbar.warp.sync -1;\nld.global.nc.v4.u32 " FOUR ", [%rd2];",
     512, 512, "is read by ld.global.nc and written in one launch"},

    /* a prefetch needs a place that is there, nothing else */
    {"a prefetch of what was never written", "prefetch.global.L1 [%rd2];", 512, 0, NULL},
    {"to the second-level cache, at an odd address", "prefetch.global.L2 [%rd2+3];", 512, 0, NULL},
    {"of the last byte", "prefetch.global.L2 [%rd1+511];", 512, 512, NULL},
    {"past the end", "prefetch.global.L2 [%rd1+512];", 512, 512, "1 bytes at address 0x"},
    {"before the start", "prefetch.global.L1 [%rd1+-1];", 512, 512, "outside every allocation"},
    {"of nothing", "prefetch.global.L1 [0];", 512, 512, "at address 0x0: outside every allocation"},
    {"generic, past the end", "prefetch.L1 [%rd1+512];", 512, 512, "outside every allocation"},
    {"uniform, generic", "prefetchu.L1 [%rd1];", 512, 512, NULL},
    {"with a priority", "prefetch.global.L2::evict_last [%rd1];", 512, 512, NULL},
    {"of a stack", "prefetch.local.L1 [stack];", 512, 512, NULL},
    {"of shared memory by its generic address",
     "cvt.u64.u32 %rd4, %r4;\ncvta.shared.u64 %rd5, %rd4;\nprefetch.L1 [%rd5];", 512, 512, NULL},
    {"guarded off past the end", "setp.lt.s32 %p2, %r1, 0;\n@%p2 prefetch.global.L1 [%rd1+512];",
     512, 512, NULL},
    {"some lanes past the end", "prefetch.global.L2 [%rd2+16];", 512, 512,
     "lanes 0x80000000: 1 bytes at address"},
    {"beside writes of other lanes",
     "@%p1 st.global.u32 [%rd1+64], 1;\nprefetch.global.L1 [%rd2];\n@%p1 st.global.u32 [%rd1+64], 2;",
     512, 512, NULL}};

Test(vectors, every_byte_is_checked) {
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    for (int mode = 0; mode < 2; mode++) {
      const bool fine = run_body(cases[k].body, cases[k].bytes, cases[k].written, modes[mode]);
      const char *message = wb_emulator_message();
      if (!cases[k].message) {
        cr_assert(fine, "%s (%s): %s", cases[k].what, modes[mode], message);
        continue;
      }
      cr_assert_not(fine, "%s (%s): was not refused", cases[k].what, modes[mode]);
      /* lanes that run alone meet a hazard from its other side */
      const bool other_side =
          mode && strstr(message, "hazard") && strstr(cases[k].message, "hazard");
      const char *sought =
          mode && strstr(cases[k].message, "lanes 0x") ? "1 bytes" : cases[k].message;
      cr_assert(other_side || strstr(message, sought), "%s (%s): %s", cases[k].what, modes[mode],
                message);
    }
  }
  harness_end();
}

Test(vectors, prefetches_cost_the_lines_they_name) {
  static const struct {
    const char *body;
    int64_t sectors;
    double cycles;
  } costs[] = {{"prefetch.global.L1 [%rd1];", 1, 1},
               {"prefetch.global.L2 [%rd2];", 16, 4}, /* 512 bytes */
               {"prefetch.global.L2 [%rd2];\nprefetch.global.L2 [%rd1+128];", 17, 5},
               {"@%p1 prefetch.global.L1 [%rd2];", 1, 1},
               {"prefetch.local.L1 [stack];", 0, 0}};
  for (size_t k = 0; k < sizeof costs / sizeof *costs; k++) {
    wb_emulator_counts counts;
    cr_assert(run_body(costs[k].body, 512, 0, "warp"), "%s", wb_emulator_message());
    cr_assert(wb_emulator_read_counts("k", &counts));
    cr_assert_eq(counts.global_sectors, costs[k].sectors, "%s: %lld", costs[k].body,
                 (long long)counts.global_sectors);
    cr_assert_float_eq(counts.class_cycles[WB_EMULATOR_GLOBAL], costs[k].cycles, 1e-9, "%s: %g",
                       costs[k].body, counts.class_cycles[WB_EMULATOR_GLOBAL]);
  }
  harness_end();
}

/* what is no instruction of PTX, or mixes what one vector may not */
Test(vectors, other_forms_are_refused_when_loaded) {
  static const struct {
    const char *insn, *message;
  } others[] = {
      {"ld.global.v4.u64 {%rd4, %rd5, %rd6, %rd7}, [%rd1];",
       "unknown instruction ld.global.v4.u64"},
      {"ld.global.v3.u32 {%r12, %r13, %r14}, [%rd1];", "unknown instruction ld.global.v3.u32"},
      {"ld.global.v2.u32 {%r12, %r13, %r14}, [%rd1];", "a vector of 3 registers instead of 2"},
      {"ld.global.v2.u32 {%r12, %rd4}, [%rd1];", "a vector of registers of different widths"},
      {"st.global.v2.u32 [%rd1], {%rd4, %r12};", "a vector of registers of different widths"},
      {"ld.global.v2.u64 {%rd4, %r12}, [%rd1];", "a load of 8 bytes into a smaller register"},
      {"prefetch.shared.L1 [%rd1];", "unknown instruction prefetch.shared.L1"},
      {"prefetch.global.L3 [%rd1];", "unknown instruction prefetch.global.L3"},
      {"prefetch.local.L2::evict_last [stack];",
       "unknown instruction prefetch.local.L2::evict_last"},
      {"prefetch.global.L2 [%rd1], 4;", "prefetch.global.L2 with 2 operands"}};
  for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
    char text[1024];
    cudaError_t error;
    snprintf(text, sizeof text,
             ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n"
             ".reg .b32 %%r<20>;\n.reg .b64 %%rd<12>;\n.local .align 16 .b8 stack[32];\n"
             "ld.param.u64 %%rd1, [at];\n%s\nret;\n}\n",
             others[k].insn);
    harness_start();
    cr_assert_not(harness_run_text(text, 32, &error), "%s", others[k].insn);
    cr_assert_eq(error, cudaErrorInvalidPtx, "%s", others[k].insn);
    cr_assert(strstr(wb_emulator_message(), others[k].message), "%s: %s", others[k].insn,
              wb_emulator_message());
  }
  harness_end();
}

/* parts of a vector that nobody wants leave the others as they are */
Test(vectors, a_part_may_be_dropped) {
  for (int mode = 0; mode < 2; mode++) {
    cr_assert(
        run_body("st.global.v4.u32 [%rd2], " PUT4 ";\n"
                 "ld.global.v4.u32 {_, %r13, _, %r15}, [%rd2];\n"
                 "ld.global.v2.u32 {%rd4, _}, [%rd2];\ncvt.u32.u64 %r12, %rd4;\n"
                 "setp.ne.s32 %p2, %r13, 2;\n@%p2 trap;\nsetp.ne.s32 %p2, %r15, 4;\n@%p2 trap;\n"
                 "setp.ne.s64 %p2, %rd4, 1;\n@%p2 trap;",
                 512, 512, modes[mode]),
        "%s", wb_emulator_message());
  }
  harness_end();
}

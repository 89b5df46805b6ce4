/* What instructions are counted as: each alone, against the throughput that the CUDA programming guide
 * gives for compute capability 9.0 (32 lanes divided by its results a clock), times the machine
 * instructions that one of PTX becomes. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const struct row {
  const char *insn;
  wb_emulator_class what;
  double cycles; /* of all that it adds */
} rows[] = {
    /* 64 results a clock */
    {"add.s32 %r8, %r1, %r2;", WB_EMULATOR_INTEGER, 0.5},
    {"sub.s32 %r8, %r1, %r2;", WB_EMULATOR_INTEGER, 0.5},
    {"and.b32 %r8, %r1, %r2;", WB_EMULATOR_INTEGER, 0.5},
    {"lop3.b32 %r8, %r1, %r2, %r3, 0xe8;", WB_EMULATOR_INTEGER, 0.5},
    {"shl.b32 %r8, %r1, 3;", WB_EMULATOR_INTEGER, 0.5},
    {"shf.l.wrap.b32 %r8, %r1, %r2, %r3;", WB_EMULATOR_INTEGER, 0.5},
    {"min.s32 %r8, %r1, %r2;", WB_EMULATOR_INTEGER, 0.5},
    {"max.u32 %r8, %r1, %r2;", WB_EMULATOR_INTEGER, 0.5},
    {"mul.lo.s32 %r8, %r1, %r2;", WB_EMULATOR_MULTIPLY, 0.5},
    {"mad.lo.s32 %r8, %r1, %r2, %r3;", WB_EMULATOR_MULTIPLY, 0.5},
    {"mul.wide.s32 %rd8, %r1, %r2;", WB_EMULATOR_MULTIPLY, 0.5},
    {"mad.wide.u32 %rd8, %r1, %r2, %rd2;", WB_EMULATOR_MULTIPLY, 0.5},
    {"setp.lt.s32 %p2, %r1, %r2;", WB_EMULATOR_PREDICATE, 0.5},
    {"setp.lt.and.s32 %p2, %r1, %r2, %p1;", WB_EMULATOR_PREDICATE, 0.5},
    {"setp.lt.f32 %p2, %f1, %f2;", WB_EMULATOR_PREDICATE, 0.5},
    {"and.pred %p2, %p1, %p3;", WB_EMULATOR_PREDICATE, 0.5},
    {"not.pred %p2, %p1;", WB_EMULATOR_PREDICATE, 0.5},
    {"selp.b32 %r8, %r1, %r2, %p1;", WB_EMULATOR_MOVE, 0.5},
    {"mov.u32 %r8, %r1;", WB_EMULATOR_MOVE, 0.5},
    {"cvt.rn.f32.s32 %f8, %r1;", WB_EMULATOR_CONVERT, 0.5},
    {"cvt.rzi.s32.f32 %r8, %f1;", WB_EMULATOR_CONVERT, 0.5},
    {"cvt.s32.s8 %r8, %r1;", WB_EMULATOR_CONVERT, 0.5},
    /* the halves of wide integers are moved, not converted */
    {"cvt.u64.u32 %rd8, %r1;", WB_EMULATOR_CONVERT, 0.5},
    {"cvt.s64.s32 %rd8, %r1;", WB_EMULATOR_CONVERT, 0.5},
    {"cvt.u32.u64 %r8, %rd2;", WB_EMULATOR_CONVERT, 0.5},
    /* 64-bit integers: two of 32 bits, more where halves must be brought together */
    {"add.s64 %rd8, %rd2, %rd3;", WB_EMULATOR_INTEGER, 1},
    {"xor.b64 %rd8, %rd2, %rd3;", WB_EMULATOR_INTEGER, 1},
    {"shr.u64 %rd8, %rd2, 7;", WB_EMULATOR_INTEGER, 1},
    {"setp.lt.s64 %p2, %rd2, %rd3;", WB_EMULATOR_PREDICATE, 1},
    {"selp.b64 %rd8, %rd2, %rd3, %p1;", WB_EMULATOR_MOVE, 1},
    {"min.s64 %rd8, %rd2, %rd3;", WB_EMULATOR_INTEGER, 2},     /* compare and select */
    {"mul.lo.s64 %rd8, %rd2, %rd3;", WB_EMULATOR_MULTIPLY, 2}, /* four partial products */
    {"mad.lo.s64 %rd8, %rd2, %rd3, %rd4;", WB_EMULATOR_MULTIPLY, 2},
    /* 16 a clock; of 64 bits twice, and put together */
    {"popc.b32 %r8, %r1;", WB_EMULATOR_BITS, 2},
    {"clz.b32 %r8, %r1;", WB_EMULATOR_BITS, 2},
    {"brev.b32 %r8, %r1;", WB_EMULATOR_BITS, 2},
    {"bfind.u32 %r8, %r1;", WB_EMULATOR_BITS, 2},
    {"popc.b64 %r8, %rd2;", WB_EMULATOR_BITS, 4.5},
    {"clz.b64 %r8, %rd2;", WB_EMULATOR_BITS, 5},
    {"brev.b64 %rd8, %rd2;", WB_EMULATOR_BITS, 4},
    {"cvt.rn.f32.s64 %f8, %rd2;", WB_EMULATOR_CONVERT, 2},
    {"cvt.rn.f64.s32 %fd8, %r1;", WB_EMULATOR_CONVERT, 2},
    {"redux.sync.min.u32 %r8, %r1, -1;", WB_EMULATOR_REDUCE, 2},
    /* 128, and 64 of doubles */
    {"add.rn.f32 %f8, %f1, %f2;", WB_EMULATOR_FLOAT, 0.25},
    {"fma.rn.f32 %f8, %f1, %f2, %f3;", WB_EMULATOR_FLOAT, 0.25},
    {"mul.rn.f64 %fd8, %fd1, %fd2;", WB_EMULATOR_FLOAT, 0.5},
    {"min.f32 %f8, %f1, %f2;", WB_EMULATOR_FLOAT, 0.5}, /* a compare */
    /* lanes that meet */
    {"shfl.sync.idx.b32 %r8, %r1, 3, 31, -1;", WB_EMULATOR_SHUFFLE, 1},
    {"vote.sync.ballot.b32 %r8, %p1, -1;", WB_EMULATOR_VOTE, 0.5},
    {"vote.sync.any.pred %p2, %p1, -1;", WB_EMULATOR_VOTE, 0.5},
    {"bar.warp.sync -1;", WB_EMULATOR_BARRIER, 0.5},
    {"bra.uni L;\nL:", WB_EMULATOR_BRANCH, 0.5},
    /* shared memory: passes over the banks */
    {"st.shared.u32 [%r4], %r1;", WB_EMULATOR_SHARED, 1},
    {"st.shared.u32 [rows], 1;", WB_EMULATOR_SHARED, 1},
    {"st.shared.v4.u32 [%r5], {%r1, %r1, %r1, %r1};", WB_EMULATOR_SHARED, 4},
    {"st.shared.u32 [%r5], %r1;", WB_EMULATOR_SHARED, 4}, /* a stride of 16 bytes: 4 to a bank */
    {"@%p1 st.shared.u32 [%r5], %r1;", WB_EMULATOR_SHARED, 1},
    {"@%p4 st.shared.u32 [%r5], %r1;", WB_EMULATOR_SHARED, 0.5}, /* nobody, but it was issued */
    /* global memory: lines of 128 bytes */
    {"ld.global.u32 %r8, [%rd1];", WB_EMULATOR_GLOBAL, 1},
    {"ld.global.u32 %r8, [%rd5];", WB_EMULATOR_GLOBAL, 1},
    {"ld.global.u32 %r8, [%rd6];", WB_EMULATOR_GLOBAL, 4}, /* a stride of 16 bytes */
    {"ld.global.nc.v4.u32 {%r8, %r9, %r10, %r11}, [%rd6];", WB_EMULATOR_GLOBAL, 4},
    {"@%p4 st.global.u32 [%rd5], %r1;", WB_EMULATOR_GLOBAL, 0.5},
    {"ld.param.u32 %r8, [at];", WB_EMULATOR_CONSTANT, 0.5}};

static wb_emulator_counts count(const char *insn) {
  static const char head[] =
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at)\n{\n"
      ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<16>;\n.reg .f32 %f<12>;\n"
      ".reg .b64 %rd<16>;\n.reg .f64 %fd<12>;\n.shared .align 16 .b8 rows[512];\n"
      "ld.param.u64 %rd1, [at];\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\n"
      "add.s64 %rd5, %rd1, %rd2;\nmul.wide.u32 %rd3, %r1, 16;\nadd.s64 %rd6, %rd1, %rd3;\n"
      "mov.u32 %r2, rows;\nmad.lo.s32 %r4, %r1, 4, %r2;\nmad.lo.s32 %r5, %r1, 16, %r2;\n"
      "setp.eq.s32 %p1, %r1, 0;\nsetp.lt.s32 %p4, %r1, 0;\n";
  char text[2048];
  cudaError_t error;
  wb_emulator_counts counts;
  snprintf(text, sizeof text, "%s%s\nret;\n}\n", head, insn);
  harness_start();
  cr_assert(harness_run_text(text, 32, &error), "%s: %s", insn, wb_emulator_message());
  cr_assert(wb_emulator_read_counts("k", &counts));
  return counts;
}

Test(costs, each_instruction_has_its_class_and_cycles) {
  const wb_emulator_counts none = count("");
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    const struct row *r = &rows[k];
    const wb_emulator_counts with = count(r->insn);
    cr_expect_eq(with.instructions - none.instructions, 1, "%s", r->insn);
    for (int what = 0; what < WB_EMULATOR_CLASS_COUNT; what++) {
      const double cycles = with.class_cycles[what] - none.class_cycles[what];
      const bool own = what == (int)r->what;
      cr_expect_eq(with.classes[what] - none.classes[what], own, "%s: %s", r->insn,
                   wb_emulator_class_text((wb_emulator_class)what));
      cr_expect_float_eq(cycles, own ? r->cycles : 0, 1e-9, "%s: %g cycles as %s", r->insn, cycles,
                         wb_emulator_class_text((wb_emulator_class)what));
    }
    cr_expect_float_eq(with.sm_cycles - none.sm_cycles, r->cycles, 1e-9, "%s", r->insn);
  }
  harness_end();
}

/* One instruction at a time, at the edges that compiled kernels seldom reach: operands and the result that
 * the PTX manual gives. Each runs in lock step and lane by lane. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

/* a: %r1 %rd1 %f1, b: %r2 .., c: %r3 ..; the result goes to %r0, %rd0, %f0 or %p0 */
typedef struct row {
  const char *insn;
  uint64_t a, b, c, expected;
} row;

static const row rows[] = {
    /* shifts past the width */
    {"shl.b32 %r0, %r1, %r2", 1, 31, 0, 0x80000000},
    {"shl.b32 %r0, %r1, %r2", 1, 32, 0, 0},
    {"shl.b32 %r0, %r1, %r2", 5, 0xffffffff, 0, 0},
    {"shr.u32 %r0, %r1, %r2", 0x80000000, 33, 0, 0},
    {"shr.s32 %r0, %r1, %r2", 0xfffffff8, 1, 0, 0xfffffffc},
    {"shr.s32 %r0, %r1, %r2", 0xfffffff8, 40, 0, 0xffffffff},
    {"shr.s32 %r0, %r1, %r2", 0x80000000, 33, 0, 0xffffffff},
    {"shl.b64 %rd0, %rd1, %r2", 3, 64, 0, 0},
    {"shr.s64 %rd0, %rd1, %r2", UINT64_C(1) << 63, 200, 0, UINT64_MAX},
    {"shf.l.wrap.b32 %r0, %r1, %r2, %r3", 0xf0000000, 1, 36, 0x1f},
    {"shf.l.clamp.b32 %r0, %r1, %r2, %r3", 0xf0000000, 1, 36, 0xf0000000},
    {"shf.r.wrap.b32 %r0, %r1, %r2, %r3", 0x10, 0xa, 4, 0xa0000001},
    {"shf.r.clamp.b32 %r0, %r1, %r2, %r3", 0x10, 0xa, 99, 0xa},
    /* bit fields: the sign is the field's top bit, or the value's beyond it */
    {"bfe.u32 %r0, %r1, %r2, %r3", 0xabcd1234, 8, 12, 0xd12},
    {"bfe.s32 %r0, %r1, %r2, %r3", 0xabcd1234, 8, 12, 0xfffffd12},
    {"bfe.s32 %r0, %r1, %r2, %r3", 0x00000750, 4, 6, 0xfffffff5},
    {"bfe.s32 %r0, %r1, %r2, %r3", 0xabcd1234, 24, 20, 0xffffffab},
    {"bfe.s32 %r0, %r1, %r2, %r3", 0x80000000, 40, 4, 0xffffffff},
    {"bfe.u32 %r0, %r1, %r2, %r3", 0x80000000, 40, 4, 0},
    {"bfe.s32 %r0, %r1, %r2, %r3", 0xffffffff, 3, 0, 0},
    {"bfi.b32 %r0, %r1, %r2, 8, 12", 0xfff00abc, 0x11111111, 0, 0x111abc11},
    {"bfi.b32 %r0, %r1, %r2, 32, 4", 7, 0x11111111, 0, 0x11111111},
    /* bytes */
    {"prmt.b32 %r0, %r1, %r2, 0x7531", 0x33221100, 0x77665544, 0, 0x77553311},
    {"prmt.b32 %r0, %r1, %r2, 0x8b2c", 0x83221180, 0x77665544, 0, 0xffff2200},
    {"prmt.b32.f4e %r0, %r1, %r2, %r3", 0x33221100, 0x77665544, 1, 0x44332211},
    {"prmt.b32.b4e %r0, %r1, %r2, %r3", 0x33221100, 0x77665544, 1, 0x66770011},
    {"prmt.b32.rc8 %r0, %r1, %r2, %r3", 0x33221100, 0, 2, 0x22222222},
    {"prmt.b32.rc16 %r0, %r1, %r2, %r3", 0x33221100, 0, 1, 0x33223322},
    {"lop3.b32 %r0, %r1, %r2, %r3, 0xe8", 0x0f, 0x33, 0x55, 0x17}, /* majority */
    {"lop3.b32 %r0, %r1, %r2, %r3, 0x96", 0x0f, 0x33, 0x55, 0x69}, /* odd parity */
    {"brev.b32 %r0, %r1", 0x1, 0, 0, 0x80000000},
    {"popc.b32 %r0, %r1", 0xffffffff, 0, 0, 32},
    {"popc.b64 %r0, %rd1", UINT64_MAX, 0, 0, 64},
    {"clz.b32 %r0, %r1", 0, 0, 0, 32},
    {"bfind.u32 %r0, %r1", 0, 0, 0, 0xffffffff},
    {"bfind.s32 %r0, %r1", 0xffffff00, 0, 0, 7},
    {"bfind.shiftamt.u32 %r0, %r1", 0x100, 0, 0, 23},
    {"cnot.b32 %r0, %r1", 0, 0, 0, 1},
    /* arithmetic */
    {"mul24.lo.s32 %r0, %r1, %r2", 0x01ffffff, 3, 0, 0xfffffffd},
    {"mul24.lo.u32 %r0, %r1, %r2", 0xff000002, 3, 0, 6},
    {"mad.hi.s32 %r0, %r1, %r2, %r3", 0x80000000, 4, 10, 8},
    {"mad.hi.u32 %r0, %r1, %r2, %r3", 0x80000000, 4, 10, 12},
    {"mad.wide.s32 %rd0, %r1, %r2, %rd3", 0xffffffff, 5, 100, 95},
    {"mul.wide.u32 %rd0, %r1, %r2", 0xffffffff, 0xffffffff, 0, UINT64_C(0xfffffffe00000001)},
    {"sad.s32 %r0, %r1, %r2, %r3", 0xfffffffe, 5, 100, 107},
    {"add.sat.s32 %r0, %r1, %r2", 0x7fffffff, 1, 0, 0x7fffffff},
    {"sub.sat.s32 %r0, %r1, %r2", 0x80000000, 1, 0, 0x80000000},
    {"div.s32 %r0, %r1, %r2", 0x80000000, 0xffffffff, 0, 0x80000000},
    {"rem.s32 %r0, %r1, %r2", 0x80000000, 0xffffffff, 0, 0},
    {"div.u32 %r0, %r1, %r2", 7, 0, 0, 0xffffffff},
    {"rem.s64 %rd0, %rd1, %rd2", (uint64_t)-7, 4, 0, (uint64_t)-3},
    {"abs.s32 %r0, %r1", 0x80000000, 0, 0, 0x80000000},
    {"dp4a.s32.u32 %r0, %r1, %r2, %r3", 0xff01ff01, 0xff01ff01, 100, 0xfffffe68},
    {"slct.b32.s32 %r0, %r1, %r2, %r3", 1, 2, 0xffffffff, 2},
    {"slct.u64.s32 %rd0, %rd1, %rd2, %r3", 1, 2, 0, 1},
    {"add.cc.u32 %r9, %r1, %r2;\naddc.u32 %r0, %r3, 0", 0xffffffff, 1, 5, 6},
    {"sub.cc.u32 %r9, %r1, %r2;\nsubc.u32 %r0, %r3, 0", 0, 1, 5, 4},
    {"mad.lo.cc.u32 %r9, %r1, %r2, %r3;\nmadc.hi.u32 %r0, %r1, %r2, 7", 0xffffffff, 0xffffffff,
     0xffffffff, 0xfffffffeu + 7 + 1},
    /* registers wider than a result or a source */
    {"cvt.s32.s64 %rd0, %rd1", 0x80000000, 0, 0, UINT64_C(0xffffffff80000000)},
    {"cvt.u32.u64 %rd0, %rd1", UINT64_C(0x180000000), 0, 0, 0x80000000},
    {"cvt.s64.s8 %rd0, %rd1", 0x1ff, 0, 0, UINT64_MAX},
    {"cvt.s32.s8 %r0, %r1", 0x180, 0, 0, 0xffffff80},
    {"cvt.u32.u8 %r0, %r1", 0x180, 0, 0, 0x80},
    {"cvt.sat.s8.s32 %r0, %r1", 200, 0, 0, 127},
    {"cvt.sat.u8.s32 %r0, %r1", (uint32_t)-5, 0, 0, 0},
    {"cvt.sat.u32.s64 %r0, %rd1", UINT64_C(1) << 40, 0, 0, 0xffffffff},
    {"mov.b64 %rd0, {%r1, %r2}", 1, 2, 0, UINT64_C(0x200000001)},
    {"mov.b64 {_, %r0}, %rd1", UINT64_C(0x500000009), 0, 0, 5},
    {"mov.b32 {%rs1, %rs2}, %r1;\nmov.b32 %r0, {%rs2, %rs1}", 0x12345678, 0, 0, 0x56781234},
    /* floats: NaN, signed zeros, denormals */
    {"setp.lt.f32 %p0, %f1, %f2", 0x7fc00000, 0, 0, 0},
    {"setp.ltu.f32 %p0, %f1, %f2", 0x7fc00000, 0, 0, 1},
    {"setp.ltu.f32 %p0, %f1, %f2", 0x3f800000, 0, 0, 0},
    {"setp.ne.f32 %p0, %f1, %f2", 0x7fc00000, 0, 0, 0},
    {"setp.neu.f32 %p0, %f1, %f2", 0x7fc00000, 0, 0, 1},
    {"setp.equ.f32 %p0, %f1, %f2", 0, 0x80000000, 0, 1},
    {"setp.num.f32 %p0, %f1, %f2", 0, 0x7fc00000, 0, 0},
    {"setp.nan.f32 %p0, %f1, %f2", 0, 0x7fc00000, 0, 1},
    {"setp.gt.ftz.f32 %p0, %f1, %f2", 1, 0, 0, 0},
    {"setp.gt.f32 %p0, %f1, %f2", 1, 0, 0, 1},
    {"setp.lo.u32 %p0, %r1, %r2", 1, 0xffffffff, 0, 1},
    {"min.f32 %f0, %f1, %f2", 0x7fc00000, 0x3f800000, 0, 0x3f800000},
    {"min.NaN.f32 %f0, %f1, %f2", 0x7fc00000, 0x3f800000, 0, 0x7fffffff},
    {"min.f32 %f0, %f1, %f2", 0, 0x80000000, 0, 0x80000000},
    {"max.f32 %f0, %f1, %f2", 0x80000000, 0, 0, 0},
    {"add.f32 %f0, %f1, %f2", 0x7f800000, 0xff800000, 0, 0x7fffffff},
    {"mul.rn.f32 %f0, %f1, %f2", 0x00800000, 0x3f000000, 0, 0x00400000},
    {"mul.rn.ftz.f32 %f0, %f1, %f2", 0x00800000, 0x3f000000, 0, 0},
    {"add.sat.f32 %f0, %f1, %f2", 0x3f800000, 0x3f800000, 0, 0x3f800000},
    {"fma.rz.f32 %f0, %f1, %f2, %f3", 0x3f800001, 0x3f800001, 0x33000000, 0x3f800002},
    {"fma.rp.f32 %f0, %f1, %f2, %f3", 0x3f800001, 0x3f800001, 0x33000000, 0x3f800003},
    {"copysign.f32 %f0, %f1, %f2", 0x80000000, 0x7fc01234, 0, 0xffc01234},
    {"testp.subnormal.f32 %p0, %f1", 1, 0, 0, 1},
    {"cvt.rzi.s32.f32 %r0, %f1", 0x7fc00000, 0, 0, 0},
    {"cvt.rzi.u32.f32 %r0, %f1", 0xbf800000, 0, 0, 0},
    {"cvt.rn.f32.u64 %f0, %rd1", UINT64_MAX, 0, 0, 0x5f800000},
    {"cvt.rz.f32.u64 %f0, %rd1", UINT64_MAX, 0, 0, 0x5f7fffff},
    {"cvt.rni.ftz.f32.f32 %f0, %f1", 1, 0, 0, 0},
    {"cvt.sat.f32.f32 %f0, %f1", 0x40000000, 0, 0, 0x3f800000},
    /* predicates */
    {"setp.eq.s32 %p1, %r1, 1;\nsetp.eq.and.s32 %p0|%p2, %r2, 2, !%p1", 1, 2, 0, 0},
    {"setp.eq.s32 %p1, %r1, 1;\nsetp.eq.xor.s32 %p2|%p0, %r2, 2, %p1", 1, 2, 0, 1},
    {"setp.eq.s32 %p1, %r1, 1;\nnot.pred %p2, %p1;\nor.pred %p0, %p2, !%p1", 0, 0, 0, 1},
    {"mov.pred %p0, -1", 0, 0, 0, 1}};

static const char *program(const row *r, char *text, size_t bytes) {
  const char *at = strstr(r->insn, "%rd0"), *word = strstr(r->insn, "%r0"),
             *real = strstr(r->insn, "%f0");
  const char *give = at     ? "st.global.u64 [%rd9], %rd0;"
                     : word ? "st.global.u32 [%rd9], %r0;"
                     : real ? "st.global.f32 [%rd9], %f0;"
                            : "selp.u32 %r0, 1, 0, %p0;\nst.global.u32 [%rd9], %r0;";
  snprintf(
      text, bytes,
      ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 at, .param .u64 a, "
      ".param .u64 b, .param .u64 c)\n{\n.reg .pred %%p<4>;\n.reg .b16 %%rs<4>;\n.reg .b32 %%r<12>;\n"
      ".reg .f32 %%f<4>;\n.reg .b64 %%rd<12>;\nld.param.u64 %%rd9, [at];\nld.param.u64 %%rd1, [a];\n"
      "ld.param.u64 %%rd2, [b];\nld.param.u64 %%rd3, [c];\nld.param.u32 %%r1, [a];\n"
      "ld.param.u32 %%r2, [b];\nld.param.u32 %%r3, [c];\nld.param.f32 %%f1, [a];\n"
      "ld.param.f32 %%f2, [b];\nld.param.f32 %%f3, [c];\n%s;\n%s\nret;\n}\n",
      r->insn, give);
  return text;
}

Test(arithmetic, edges_are_as_the_manual_says) {
  char text[2048];
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
    for (int mode = 0; mode < 2; mode++) {
      row r = rows[k];
      harness_start();
      cr_assert(wb_emulator_set("MODE", mode ? "lanes:2" : "warp"));
      cudaLibrary_t library;
      MUST(cudaLibraryLoadData(&library, program(&r, text, sizeof text), NULL, NULL, 0, NULL, NULL,
                               0));
      void *memory = harness_put(NULL, 8);
      void *arguments[] = {&memory, &r.a, &r.b, &r.c};
      harness_launch(harness_kernel(library, "k"), (dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, arguments);
      uint64_t result = 0;
      harness_get(&result, memory, 8);
      cr_assert_eq(result, r.expected, "%s of %llx %llx %llx: %llx, not %llx", r.insn,
                   (unsigned long long)r.a, (unsigned long long)r.b, (unsigned long long)r.c,
                   (unsigned long long)result, (unsigned long long)r.expected);
    }
  }
  harness_end();
}

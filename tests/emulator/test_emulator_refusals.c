/* One faulty kernel for each refusal: it must be refused, with the right error, words and lanes, in lock
 * step and, where that makes sense, lane by lane; and beside it what is nearly the same and allowed. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* a kernel "k" of one pointer, %rd1: its body may use what is declared here */
static const char head[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".const .align 4 .b8 fixed[8] = {1, 0, 0, 0, 2, 0, 0, 0};\n"
    ".visible .entry k(.param .u64 k_param_0)\n{\n"
    ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .b32 %r<16>;\n.reg .b64 %rd<16>;\n"
    ".shared .align 16 .b8 first[256];\n.shared .align 16 .b8 second[256];\n"
    ".local .align 8 .b8 stack[16];\n"
    "ld.param.u64 %rd1, [k_param_0];\n"
    "mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd2, %r1, 4;\n"
    "add.s64 %rd3, %rd1, %rd2;\n" /* the lane's word in global memory */
    "cvt.u32.u64 %r2, %rd2;\n"
    "mov.u32 %r3, first;\nadd.s32 %r4, %r3, %r2;\n" /* the lane's word in shared memory */
    "and.b32 %r5, %r1, 31;\n"
    "setp.eq.s32 %p1, %r5, 0;\n"; /* lane 0 */

static char text[8192];
static const char *with_body(const char *body) {
  snprintf(text, sizeof text, "%s%s\nret;\n}\n", head, body);
  return text;
}

enum { ONE_WARP = 32, TWO_WARPS = 64 };

typedef struct refusal {
  const char *what, *body;
  unsigned threads;
  cudaError_t error;
  const char *message; /* a part of it */
  bool in_step_only;
} refusal;

static const refusal refusals[] = {
    {"a divergent branch", "@%p1 bra DONE;\nst.global.u32 [%rd1], 7;\nDONE:", ONE_WARP,
     cudaErrorLaunchFailure,
     "lanes 0x00000001: divergence: lanes 0x00000001 branch and lanes 0xfffffffe do not", true},
    {"a divergent end", "@!%p1 ret;\nbar.warp.sync -1;", ONE_WARP, cudaErrorLaunchFailure,
     "divergence: lanes 0xfffffffe end and lanes 0x00000001 do not", true},
    {"a collective that not all reach", "@%p1 bra DONE;\nbar.warp.sync -1;\nDONE:", ONE_WARP,
     cudaErrorLaunchFailure, "divergence", false},
    {"a guarded collective", "@%p1 vote.sync.ballot.b32 %r6, %p1, -1;", ONE_WARP,
     cudaErrorLaunchFailure, "divergence: lane 0 waits for lanes 0xfffffffe, which are elsewhere",
     true},
    {"different indices of a table",
     "L: .branchtargets A, B;\nand.b32 %r6, %r1, 1;\nbrx.idx %r6, L;\nA:\nmov.u32 %r7, 1;\nB:",
     ONE_WARP, cudaErrorLaunchFailure, "divergence: lanes 0x55555555 branch", true},
    {"an index past a table",
     "L: .branchtargets A, B;\nmov.u32 %r6, 2;\nbrx.idx.uni %r6, L;\nA:\nB:", ONE_WARP,
     cudaErrorLaunchFailure, "index 2 of 2 targets", false},

    {"a load outside an allocation", "ld.global.u32 %r6, [%rd1+4096];", ONE_WARP,
     cudaErrorIllegalAddress, "outside every allocation; the one before starts at 0x", false},
    {"a store before an allocation", "st.global.u8 [%rd1+-1], 0;", ONE_WARP,
     cudaErrorIllegalAddress, "outside every allocation", false},
    {"a wide store over the end", "st.global.v2.u64 [%rd1+4096], {%rd1, %rd1};", ONE_WARP,
     cudaErrorIllegalAddress, "16 bytes", false},
    {"a null pointer", "ld.global.u32 %r6, [0];", ONE_WARP, cudaErrorIllegalAddress,
     "4 bytes at address 0x0: outside every allocation", false},
    {"past a shared array into its neighbour", "st.shared.u32 [first+256], 0;", ONE_WARP,
     cudaErrorIllegalAddress, "outside the block's shared arrays (512 bytes static, 0 dynamic)",
     false},
    {"past the last shared array", "st.shared.u32 [second+256], 0;", ONE_WARP,
     cudaErrorIllegalAddress, "outside the block's shared arrays", false},
    {"dynamic shared memory that is not there", "st.shared.u32 [dynamic], 0;", ONE_WARP,
     cudaErrorIllegalAddress, "outside the block's shared arrays", false},
    {"past the stack", "ld.local.u32 %r6, [stack+16];", ONE_WARP, cudaErrorIllegalAddress,
     "outside the 16 bytes of a lane", false},
    {"a write to constant memory", "mov.u64 %rd4, fixed;\nst.global.u32 [%rd4], 1;", ONE_WARP,
     cudaErrorIllegalAddress, "a write to constant memory", false},
    {"past a constant array", "ld.const.u32 %r6, [fixed+8];", ONE_WARP, cudaErrorIllegalAddress,
     "this is at byte 8 of it", false},

    {"a misaligned load", "ld.global.u32 %r6, [%rd1+2];", ONE_WARP, cudaErrorMisalignedAddress,
     "which is no multiple of 4", false},
    {"a misaligned vector", "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd1+8];", ONE_WARP,
     cudaErrorMisalignedAddress, "16 bytes at address", false},
    {"a misaligned shared store", "st.shared.u16 [first+1], 0;", ONE_WARP,
     cudaErrorMisalignedAddress, "which is no multiple of 2", false},

    {"read after write, shared",
     "st.shared.u32 [%r4], %r1;\nxor.b32 %r6, %r4, 4;\nld.shared.u32 %r7, [%r6];", ONE_WARP,
     cudaErrorLaunchFailure, "hazard, read after write without a barrier at shared address", false},
    {"read after write, global",
     "st.global.u32 [%rd3], %r1;\nxor.b64 %rd4, %rd3, 4;\nld.global.u32 %r7, [%rd4];", ONE_WARP,
     cudaErrorLaunchFailure, "hazard, read after write without a barrier at global address", false},
    {"write after read: a counter",
     "ld.global.u32 %r6, [%rd1];\nadd.s32 %r6, %r6, 1;\nst.global.u32 [%rd1], %r6;", ONE_WARP,
     cudaErrorLaunchFailure, "hazard, write after read", false},
    {"write after read, shared",
     "st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nxor.b32 %r6, %r4, 4;\nld.shared.u32 %r7, [%r6];\n"
     "st.shared.u32 [%r4], %r7;",
     ONE_WARP, cudaErrorLaunchFailure, "hazard, write after read", false},
    {"unequal writes of one store", "st.global.u32 [%rd1], %r1;", ONE_WARP, cudaErrorLaunchFailure,
     "hazard, unequal write after write", false},
    {"unequal writes of two stores", "st.shared.u32 [first], 1;\nst.shared.u32 [first], 2;",
     ONE_WARP, cudaErrorLaunchFailure,
     "hazard, unequal write after write without a barrier at shared address 0x0", false},
    {"a hazard of one byte inside a word",
     "cvt.u16.u32 %rs1, %r1;\ncvt.u64.u32 %rd4, %r1;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.u8 [%rd5], %rs1;\n"
     "@%p1 ld.global.u8 %rs2, [%rd1+3];",
     ONE_WARP, cudaErrorLaunchFailure, "lanes 0x00000008 of the warp", false},
    {"a word over bytes of others",
     "cvt.u16.u32 %rs1, %r1;\ncvt.u64.u32 %rd4, %r1;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.u8 [%rd5], %rs1;\n"
     "@%p1 ld.global.u32 %r6, [%rd1];",
     ONE_WARP, cudaErrorLaunchFailure, "hazard, read after write", false},
    {"a shuffle is no barrier",
     "st.shared.u32 [%r4], %r1;\nshfl.sync.idx.b32 %r6, %r1, 0, 31, -1;\nxor.b32 %r6, %r4, 4;\n"
     "ld.shared.u32 %r7, [%r6];",
     ONE_WARP, cudaErrorLaunchFailure, "hazard, read after write", false},
    {"an atomic read plainly", "red.global.add.u32 [%rd1], 1;\nld.global.u32 %r6, [%rd1];",
     ONE_WARP, cudaErrorLaunchFailure, "hazard, read after write", false},
    {"a byte of another lane's word",
     "st.global.u32 [%rd3], %r1;\n@%p1 ld.global.u8 %rs1, [%rd1+5];", ONE_WARP,
     cudaErrorLaunchFailure, "lanes 0x00000002 of the warp", false},
    {"the second of two copies, of which one was waited for",
     "cp.async.ca.shared.global [%r4], [%rd3], 4;\ncp.async.commit_group;\nadd.s32 %r6, %r4, 128;\n"
     "cp.async.ca.shared.global [%r6], [%rd3], 4;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
     "ld.shared.u32 %r7, [%r4];\nld.shared.u32 %r8, [%r6];",
     ONE_WARP, cudaErrorLaunchFailure, "never written", false},
    {"a shuffle from a lane of another group",
     "setp.lt.s32 %p2, %r1, 16;\nselp.b32 %r6, 0xffff, 0xffff0000, %p2;\nshfl.sync.idx.b32 %r7, %r1, 20, 31, %r6;",
     ONE_WARP, cudaErrorLaunchFailure, "lane 0 reads lane 20, which does not take part", false},
    {"between warps, shared",
     "st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nxor.b32 %r6, %r4, 128;\nadd.s32 %r7, %r1, 0;\n"
     "setp.ge.s32 %p2, %r1, 32;\n@%p2 ld.shared.u32 %r8, [%r6];",
     TWO_WARPS, cudaErrorLaunchFailure, "another warp of the block", false},
    {"between warps, global",
     "ld.global.u32 %r6, [%rd1];\nbar.warp.sync -1;\nsetp.ge.s32 %p2, %r1, 63;\n@%p2 st.global.u32 [%rd1], 5;",
     TWO_WARPS, cudaErrorLaunchFailure,
     "hazard, write after read without a barrier at global address", false},
    {"between warps, behind an equal write of one's own",
     "setp.ge.s32 %p2, %r1, 32;\nst.global.u32 [%rd1], 5;\nbar.warp.sync -1;\n"
     "@%p2 st.global.u32 [%rd1], 7;",
     TWO_WARPS, cudaErrorLaunchFailure,
     "hazard, unequal write after write without a barrier at global address", false},
    {"between warps, read behind an equal write of one's own",
     "setp.ge.s32 %p2, %r1, 32;\nst.shared.u32 [first], 5;\nbar.warp.sync -1;\n"
     "@%p2 ld.shared.u32 %r6, [first];",
     TWO_WARPS, cudaErrorLaunchFailure,
     "hazard, read after write without a barrier at shared address", false},
    {"an atomic behind a plain read among volatile ones",
     "ld.volatile.global.u32 %r6, [%rd1];\nld.global.u32 %r7, [%rd1];\n"
     "red.global.add.u32 [%rd1], 1;",
     ONE_WARP, cudaErrorLaunchFailure, "hazard, write after read", false},
    {"an atomic behind a plain write among atomic ones",
     "red.global.or.b32 [%rd1], 0;\n@%p1 st.global.u32 [%rd1], 0;\n"
     "red.global.add.u32 [%rd1], 1;",
     ONE_WARP, cudaErrorLaunchFailure, "hazard, unequal write after write", false},
    {"read by the read-only path and written",
     "ld.global.nc.u32 %r6, [%rd3];\nbar.warp.sync -1;\nst.global.u32 [%rd3], 5;", ONE_WARP,
     cudaErrorLaunchFailure, "is read by ld.global.nc and written in one launch", false},

    {"shared memory that was never written", "ld.shared.u32 %r6, [%r4];", ONE_WARP,
     cudaErrorLaunchFailure, "are read and were never written", false},
    {"a word of which one byte was never written",
     "st.shared.u16 [first], 1;\nst.shared.u8 [first+2], 1;\nld.shared.u32 %r6, [first];", ONE_WARP,
     cudaErrorLaunchFailure, "4 bytes at shared address 0x0 are read and were never written",
     false},
    {"a stack that was never written", "ld.local.u32 %r6, [stack+4];", ONE_WARP,
     cudaErrorLaunchFailure, "were never written", false},
    {"a copy that nobody waited for",
     "cp.async.ca.shared.global [%r4], [%rd3], 4;\ncp.async.commit_group;\nld.shared.u32 %r6, [%r4];",
     ONE_WARP, cudaErrorLaunchFailure, "never written", false},

    {"a lane outside its own mask", "shfl.sync.idx.b32 %r6, %r1, 0, 31, 0xfffffffe;", ONE_WARP,
     cudaErrorLaunchFailure, "lane 0 is not in its own member mask", false},
    {"different masks", "selp.b32 %r6, 0x7fffffff, -1, %p1;\nvote.sync.any.pred %p2, %p1, %r6;",
     ONE_WARP, cudaErrorLaunchFailure, "name different member masks", false},
    {"a barrier of each half of a warp",
     "setp.lt.s32 %p2, %r1, 16;\nselp.b32 %r6, 0xffff, 0xffff0000, %p2;\nst.shared.u32 [%r4], %r1;\n"
     "bar.warp.sync %r6;\nxor.b32 %r7, %r4, 64;\nld.shared.u32 %r8, [%r7];",
     ONE_WARP, cudaErrorLaunchFailure,
     "divergence: a barrier that lanes 0x0000ffff pass without lanes 0xffff0000", false},
    {"a barrier that other warps never reach",
     "setp.lt.s32 %p2, %r1, 32;\n@%p2 bar.sync 1;\n@!%p2 bar.sync 2;", TWO_WARPS,
     cudaErrorLaunchTimeout, "deadlock: warps wait at different barriers", false},
    {"a trap", "trap;", ONE_WARP, cudaErrorLaunchFailure, "lanes 0xffffffff: trap", true}};

Test(refusals, each_fault_is_named) {
  for (size_t k = 0; k < sizeof refusals / sizeof *refusals; k++) {
    const refusal *r = &refusals[k];
    for (int mode = 0; mode < (r->in_step_only ? 1 : 2); mode++) {
      cudaError_t error;
      harness_start();
      cr_assert(wb_emulator_set("MODE", mode ? "lanes:5" : "warp"));
      const bool ran = harness_run_text(with_body(r->body), r->threads, &error);
      cr_assert_not(ran, "%s: was not refused (%s)", r->what, mode ? "lanes" : "warp");
      cr_assert_eq(error, r->error, "%s: %s: %s", r->what, cudaGetErrorName(error),
                   wb_emulator_message());
      /* lanes that run alone meet the same fault from another side */
      const char *message = wb_emulator_message();
      const bool from_elsewhere =
          mode && (strstr(message, "hazard") || strstr(message, "never written"));
      cr_assert(from_elsewhere || strstr(message, r->message), "%s: %s", r->what, message);
      cr_assert(strstr(wb_emulator_message(), "kernel k, PTX line "), "%s", wb_emulator_message());
      cr_assert(strstr(wb_emulator_message(), "block (0,0,0), warp "), "%s", wb_emulator_message());
    }
  }
  harness_end();
}

static const struct {
  const char *what, *body;
  unsigned threads;
} allowed[] = {
    {"uniform branches", "setp.ge.s32 %p2, %r1, 0;\n@%p2 bra.uni DONE;\ntrap;\nDONE:", ONE_WARP},
    {"a guarded store", "@%p1 st.global.u32 [%rd1], 7;", ONE_WARP},
    {"the last bytes", "st.global.u64 [%rd1+4088], %rd1;\nst.shared.u32 [second+252], 0;",
     ONE_WARP},
    {"a lane reads what it wrote",
     "st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [%r4];\n"
     "add.s32 %r6, %r6, 1;\nst.shared.u32 [%r4], %r6;",
     ONE_WARP},
    {"equal writes, and reading them",
     "st.shared.u32 [first], 5;\nld.shared.u32 %r6, [first];\n"
     "st.shared.u32 [second], 5;\nst.shared.u32 [second], 5;",
     ONE_WARP},
    {"a barrier between",
     "st.shared.u32 [%r4], %r1;\nbar.warp.sync -1;\nxor.b32 %r6, %r4, 4;\n"
     "ld.shared.u32 %r7, [%r6];\nbar.warp.sync -1;\nst.shared.u32 [%r4], %r7;",
     ONE_WARP},
    {"a counter with a barrier",
     "ld.global.u32 %r6, [%rd1];\nadd.s32 %r6, %r6, 1;\nbar.warp.sync -1;\n"
     "st.global.u32 [%rd1], %r6;\nbar.warp.sync -1;\nld.global.u32 %r6, [%rd1];",
     ONE_WARP},
    {"bytes of one word by several lanes",
     "cvt.u16.u32 %rs1, %r1;\ncvt.u64.u32 %rd4, %r1;\nadd.s64 %rd5, %rd1, %rd4;\nst.global.u8 [%rd5], %rs1;\n"
     "ld.global.u8 %rs2, [%rd5];\nbar.warp.sync -1;\nld.global.u32 %r6, [%rd1+4];\nbar.warp.sync -1;\n"
     "st.global.u32 [%rd1+4], 3;",
     ONE_WARP},
    {"atomics beside atomics",
     "red.global.add.u32 [%rd1], 1;\natom.global.max.u32 %r6, [%rd1], %r1;", TWO_WARPS},
    {"an atomic after a barrier",
     "red.global.add.u32 [%rd1], 1;\nbar.sync 0;\nld.global.u32 %r6, [%rd1];", TWO_WARPS},
    {"between warps with a barrier",
     "st.shared.u32 [%r4], %r1;\nbar.sync 0;\nxor.b32 %r6, %r4, 128;\n"
     "ld.shared.u32 %r7, [%r6];\nbar.sync 0;\nst.shared.u32 [%r6], 1;",
     TWO_WARPS},
    {"a copy that was waited for",
     "cp.async.ca.shared.global [%r4], [%rd3], 4;\ncp.async.wait_all;\n"
     "ld.shared.u32 %r6, [%r4];",
     ONE_WARP},
    {"a table",
     "L: .branchtargets A, B;\nmov.u32 %r6, 1;\nbrx.idx.uni %r6, L;\nA:\ntrap;\nB:", ONE_WARP},
    {"generic addresses",
     "cvt.u64.u32 %rd4, %r4;\ncvta.shared.u64 %rd5, %rd4;\nst.u32 [%rd5], %r1;\n"
     "ld.u32 %r6, [%rd5];\nst.u32 [%rd3], %r6;\nmov.u64 %rd6, stack;\n"
     "cvta.local.u64 %rd7, %rd6;\nst.u32 [%rd7], %r1;\nld.local.u32 %r7, [stack];\n"
     "setp.ne.s32 %p2, %r7, %r1;\n@%p2 trap;\nisspacep.shared %p3, %rd5;\n@!%p3 trap;\n"
     "isspacep.global %p4, %rd3;\n@!%p4 trap;",
     ONE_WARP}};

Test(refusals, what_is_allowed_stays_so) {
  for (size_t k = 0; k < sizeof allowed / sizeof *allowed; k++) {
    for (int mode = 0; mode < 3; mode++) {
      cudaError_t error;
      harness_start();
      cr_assert(wb_emulator_set("MODE", mode == 0 ? "warp" : mode == 1 ? "lanes:5" : "lanes:6"));
      cr_assert(harness_run_text(with_body(allowed[k].body), allowed[k].threads, &error), "%s: %s",
                allowed[k].what, wb_emulator_message());
    }
  }
  harness_end();
}

Test(refusals, the_whole_message) {
  cudaError_t error;
  harness_start();
  const char *body = "st.shared.u32 [%r4], %r1;\nld.shared.u32 %r6, [first+12];";
  cr_assert_not(harness_run_text(with_body(body), ONE_WARP, &error));
  cr_assert_str_eq(
      wb_emulator_message(),
      "kernel k, PTX line 25 \"ld.shared.u32 %r6, [first+12];\", block (0,0,0), warp 0, lanes "
      "0xffffffff: hazard, read after write without a barrier at shared address 0xc: lanes "
      "0x00000008 of the warp, line 24 \"st.shared.u32 [%r4], %r1;\"");
  harness_end();
}

/* what cannot be read at all is refused when it is loaded */
static const struct {
  const char *what, *body, *message;
} unreadable[] = {
    {"an unknown instruction", "sin.approx.f32 %r6, %r7;",
     "kernel k, PTX line 24: unknown instruction sin.approx.f32"},
    {"an unknown form", "ld.global.frobnicate.u32 %r6, [%rd1];",
     "unknown instruction ld.global.frobnicate.u32"},
    {"an unknown vote", "vote.sync.most.pred %p2, %p1, -1;",
     "unknown instruction vote.sync.most.pred"},
    {"an unknown directive", ".frob 7;", "unknown directive \".frob\""},
    {"an unknown register", "mov.u32 %r6, %clock;", "unknown name %clock"},
    {"a label that is nowhere", "bra NOWHERE;", "the label NOWHERE is nowhere"},
    {"a label that is there twice", "A:\nA:", "the label A is there twice"},
    {"too few operands", "add.s32 %r6, %r7;", "add.s32 with 2 operands instead of 3"},
    {"a register of another size", "add.s32 %r6, %rd1, 1;",
     "%rd1 where a value of 4 bytes is expected"},
    {"a load into a smaller register", "ld.global.u64 %r6, [%rd1];",
     "a load of 8 bytes into a smaller register"},
    {"a function of nowhere", "call foo;", "a call of foo, which is no function of this module"},
    {"a float where none may be", "add.f32 %r6, %r7, 1;", "an integer where a float is expected"},
    {"a memory of another kind", "ld.global.u32 %r6, [first];", "first lies in another memory"},
    {"a guard that is no predicate", "@%r1 mov.u32 %r6, 1;", "the guard %r1 is no predicate"},
    {"no end", "{", "the text ends inside"}};

Test(refusals, what_cannot_be_read_is_named_when_loaded) {
  for (size_t k = 0; k < sizeof unreadable / sizeof *unreadable; k++) {
    cudaError_t error;
    harness_start();
    cr_assert_not(harness_run_text(with_body(unreadable[k].body), 32, &error));
    cr_assert_eq(error, cudaErrorInvalidPtx, "%s: %s", unreadable[k].what, cudaGetErrorName(error));
    cr_assert(strstr(wb_emulator_message(), unreadable[k].message), "%s: %s", unreadable[k].what,
              wb_emulator_message());
    wb_emulator_live live;
    wb_emulator_count_live(&live);
    cr_assert_eq(live.libraries, 0);
    cr_assert_eq(live.memory, 0, "variables of a module that was refused are freed");
  }
  harness_end();
}

Test(refusals, every_cut_of_a_text_is_refused_or_read) {
  harness_start();
  char *whole = harness_text("sample.ptx");
  const size_t length = strlen(whole);
  for (size_t k = 0; k < length; k += 7) {
    char *cut = harness_text("sample.ptx");
    cut[k] = 0;
    cudaLibrary_t library;
    const cudaError_t error = cudaLibraryLoadData(&library, cut, NULL, NULL, 0, NULL, NULL, 0);
    if (error == cudaSuccess)
      MUST(cudaLibraryUnload(library));
    else
      cr_assert_eq(error, cudaErrorInvalidPtx);
    free(cut);
  }
  free(whole);
  harness_end();
}

Test(refusals, a_launch_that_does_not_end) {
  cudaError_t error;
  harness_start();
  cr_assert(wb_emulator_set("INSTRUCTIONS", "10000"));
  cr_assert_not(harness_run_text(with_body("A:\nadd.s32 %r6, %r6, 1;\nbra.uni A;"), 32, &error));
  cr_assert_eq(error, cudaErrorLaunchTimeout);
  cr_assert(strstr(wb_emulator_message(), "more than 10000 warp instructions"), "%s",
            wb_emulator_message());
  harness_end();
}

Test(refusals, between_blocks_of_one_launch) {
  static const struct {
    unsigned blocks;
    const char *body, *message, *other;
  } cases[] = {
      {2, "st.global.u32 [%rd1], %r6;", "unequal write after write", "another block"},
      {4, "@%p2 st.global.u32 [%rd1], 5;\n@!%p2 ld.global.u32 %r7, [%rd1];", "read after write",
       "another block"},
      {4,
       "setp.eq.s32 %p2, %r6, 3;\n@!%p2 ld.global.u32 %r7, [%rd1];\n@%p2 st.global.u32 [%rd1], 5;",
       "write after read", "another block"},
      /* its own read does not hide the other block's */
      {2,
       "@%p1 ld.global.u32 %r7, [%rd1];\nand.pred %p3, %p1, !%p2;\n@%p3 st.global.u32 [%rd1], 5;",
       "write after read", "another block"},
      /* shared memory and stacks are fresh in each block */
      {2, "@%p2 st.shared.u32 [%r4], 5;\n@!%p2 ld.shared.u32 %r7, [%r4];", "never written",
       "block (1,0,0)"},
      {2, "@%p2 st.local.u32 [stack], 5;\n@!%p2 ld.local.u32 %r7, [stack];", "never written",
       "block (1,0,0)"}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    char body[512];
    snprintf(body, sizeof body, "mov.u32 %%r6, %%ctaid.x;\nsetp.eq.s32 %%p2, %%r6, 0;\n%s",
             cases[k].body);
    harness_start();
    cudaLibrary_t library;
    MUST(cudaLibraryLoadData(&library, with_body(body), NULL, NULL, 0, NULL, NULL, 0));
    cudaKernel_t kernel = harness_kernel(library, "k");
    void *memory = harness_put(NULL, 4096);
    void *arguments[] = {&memory};
    MUST(cudaLaunchKernel(kernel, (dim3){cases[k].blocks, 1, 1}, (dim3){32, 1, 1}, arguments, 0,
                          NULL));
    cr_assert_eq(cudaDeviceSynchronize(), cudaErrorLaunchFailure, "case %zu", k);
    cr_assert(strstr(wb_emulator_message(), cases[k].message), "%s", wb_emulator_message());
    cr_assert(strstr(wb_emulator_message(), cases[k].other), "%s", wb_emulator_message());
  }
  /* one launch after another is ordered */
  harness_start();
  cudaLibrary_t library;
  MUST(cudaLibraryLoadData(&library,
                           with_body("ld.global.u32 %r7, [%rd3];\nst.global.u32 [%rd3], 5;"), NULL,
                           NULL, 0, NULL, NULL, 0));
  cudaKernel_t kernel = harness_kernel(library, "k");
  void *memory = harness_put(NULL, 4096);
  void *arguments[] = {&memory};
  for (int k = 0; k < 3; k++)
    harness_launch(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, arguments);
  harness_end();
}

Test(refusals, settings_can_look_away) {
  cudaError_t error;
  harness_start();
  cr_assert(wb_emulator_set("HAZARDS", "ignore"));
  cr_assert(harness_run_text(with_body("st.global.u32 [%rd1], %r1;"), 32, &error), "%s",
            wb_emulator_message());
  harness_start();
  cr_assert(wb_emulator_set("UNWRITTEN", "ignore"));
  cr_assert(harness_run_text(with_body("ld.shared.u32 %r6, [%r4];"), 32, &error), "%s",
            wb_emulator_message());
  harness_start();
  cr_assert_not(wb_emulator_set("HAZARDS", "perhaps"));
  cr_assert_not(wb_emulator_set("HAZARD", "ignore"));
  cr_assert_not(wb_emulator_set("MODE", "lanes"));
  harness_end();
}

/* with hazards unseen, a missing barrier changes what lanes that run alone compute */
Test(refusals, order_of_lanes_shows_in_the_result) {
  static const char load[] = "ld.global.u32 %r6, [%rd1];\nadd.s32 %r6, %r6, 1;\n";
  static const char store[] = "st.global.u32 [%rd1], %r6;";
  for (int with = 0; with < 2; with++) {
    uint32_t result[2];
    for (int mode = 0; mode < 2; mode++) {
      char body[256];
      snprintf(body, sizeof body, "%s%s%s", load, with ? "bar.warp.sync -1;\n" : "", store);
      harness_start();
      cr_assert(wb_emulator_set("HAZARDS", "ignore"));
      cr_assert(wb_emulator_set("MODE", mode ? "lanes:8" : "warp"));
      cudaLibrary_t library;
      MUST(cudaLibraryLoadData(&library, with_body(body), NULL, NULL, 0, NULL, NULL, 0));
      void *memory = harness_put(NULL, 4096), *arguments[] = {&memory};
      harness_launch(harness_kernel(library, "k"), (dim3){1, 1, 1}, (dim3){32, 1, 1}, 0, arguments);
      harness_get(&result[mode], memory, 4);
    }
    cr_assert_eq(result[0], 1);
    cr_assert_eq(result[1], with ? 1 : 32);
  }
  harness_end();
}

static uint32_t random_state = 99;
static uint32_t random_u32(void) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 17;
  random_state ^= random_state << 5;
  return random_state;
}

/* a text with a few characters, digits or lines changed */
static void damage(char *at, size_t length) {
  const size_t place = random_u32() % length, other = random_u32() % length;
  switch (random_u32() % 4) {
  case 0: at[place] = (char)(1 + random_u32() % 127); break;
  case 1: at[place] = '\0'; break;
  case 2:
    for (size_t k = place; k < length; k++) {
      if (at[k] < '0' || at[k] > '9') continue;
      at[k] = (char)('0' + random_u32() % 10);
      break;
    }
    break;
  default:
    for (size_t k = 0; k < 40 && place + k < length && other + k < length; k++)
      at[place + k] = at[other + k];
    break;
  }
}

/* what it computes does not matter; it must end, with a refusal or without */
static void run_damaged(cudaLibrary_t library) {
  cudaKernel_t kernel;
  int32_t count = 20;
  if (cudaLibraryGetKernel(&kernel, library, "machine") != cudaSuccess) return;
  void *a = harness_put(NULL, 4096), *b = harness_put(NULL, 4096), *c = harness_put(NULL, 4096);
  void *arguments[16] = {&a, &b, &c, &count, &a, &b, &c, &count,
                         &a, &b, &c, &count, &a, &b, &c, &count};
  if (cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 128, NULL) ==
      cudaSuccess) {
    cudaDeviceSynchronize();
  }
}

Test(refusals, damaged_texts_are_refused_or_run) {
  cr_assert(wb_emulator_set("INSTRUCTIONS", NULL));
  char *whole = harness_text("sample.ptx");
  const size_t length = strlen(whole);
  char *changed = malloc(length + 1);
  cr_assert(changed);
  int ran = 0;
  for (int k = 0; k < 400; k++) {
    memcpy(changed, whole, length + 1);
    for (uint32_t n = 1 + random_u32() % 3; n > 0; n--) damage(changed, length);
    harness_start();
    cr_assert(wb_emulator_set("INSTRUCTIONS", "20000"));
    cr_assert(wb_emulator_set("MODE", k & 1 ? "lanes:2" : "warp"));
    cudaLibrary_t library;
    if (cudaLibraryLoadData(&library, changed, NULL, NULL, 0, NULL, NULL, 0) != cudaSuccess)
      continue;
    run_damaged(library);
    ran++;
  }
  cr_assert_gt(ran, 20);
  free(changed);
  free(whole);
  harness_end();
}

/* what an earlier kernel had in shared memory is no later kernel's */
Test(refusals, shared_memory_of_an_earlier_kernel) {
  static const char large[] =
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".visible .entry k(.param .u64 at)\n{\n.shared .align 4 .b8 all[1024];\n"
      "st.shared.u32 [all+256], 1;\nret;\n}\n";
  cudaError_t error;
  harness_start();
  cr_assert(harness_run_text(large, ONE_WARP, &error), "%s", wb_emulator_message());
  cr_assert_not(harness_run_text(with_body("st.shared.u32 [first+256], 0;"), ONE_WARP, &error));
  cr_assert_eq(error, cudaErrorIllegalAddress);
  harness_end();
}

Test(refusals, wide_accesses_to_shared_memory_take_several_passes) {
  static const struct {
    const char *body;
    int64_t passes, conflicts;
  } cases[] = {
      {"st.shared.u32 [%r4], 1;", 1, 0},
      {"st.shared.u32 [first], 1;", 1, 0},
      {"cvt.u16.u32 %rs1, %r1;\nadd.s32 %r6, %r3, %r1;\nst.shared.u8 [%r6], %rs1;", 1, 0},
      {"shl.b32 %r6, %r1, 3;\nadd.s32 %r6, %r6, %r3;\nst.shared.u64 [%r6], %rd1;", 2, 0},
      /* lanes 0..7 and 16..23 over 256 bytes each, the others beside them in the same banks */
      {"and.b32 %r6, %r1, 7;\nshl.b32 %r6, %r6, 5;\nadd.s32 %r6, %r6, %r3;\n"
       "st.shared.u64 [%r6], 7;",
       4, 2}};
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    cudaError_t error;
    wb_emulator_counts counts;
    harness_start();
    cr_assert(harness_run_text(with_body(cases[k].body), 32, &error), "%s", wb_emulator_message());
    cr_assert(wb_emulator_read_counts("k", &counts));
    cr_assert_eq(counts.shared_passes, cases[k].passes, "case %zu: %lld", k,
                 (long long)counts.shared_passes);
    cr_assert_eq(counts.shared_conflicts, cases[k].conflicts, "case %zu: %lld", k,
                 (long long)counts.shared_conflicts);
  }
  harness_end();
}

Test(refusals, uninitialised_device_memory) {
  harness_start();
  cudaLibrary_t library;
  MUST(cudaLibraryLoadData(&library, with_body("ld.global.u32 %r7, [%rd3];"), NULL, NULL, 0, NULL,
                           NULL, 0));
  cudaKernel_t kernel = harness_kernel(library, "k");
  void *memory;
  MUST(cudaMalloc(&memory, 128));
  MUST(cudaMemset(memory, 0, 124));
  void *arguments[] = {&memory};
  MUST(cudaLaunchKernel(kernel, (dim3){1, 1, 1}, (dim3){32, 1, 1}, arguments, 0, NULL));
  cr_assert_eq(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  cr_assert(strstr(wb_emulator_message(), "lanes 0x80000000: 4 bytes at global address"), "%s",
            wb_emulator_message());
  harness_end();
}

/* The runtime's functions around kernels: devices, memory, streams, events, graphs, and the failures that
 * can be asked for. */
#include "tests/emulator/harness.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* a kernel that adds a number to each of 32 words, and one that asks for shared memory */
static const char source[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".global .align 4 .u32 counter = 5;\n"
    ".visible .entry add(.param .u64 at, .param .u32 by)\n.maxntid 64, 1, 1\n{\n"
    ".reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [at];\nld.param.u32 %r1, [by];\nmov.u32 %r2, %tid.x;\n"
    "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r3, [%rd1];\nadd.s32 %r3, %r3, %r1;\nst.global.u32 [%rd1], %r3;\n"
    "ret;\n}\n"
    ".visible .entry fill(.param .u64 at)\n{\n.shared .align 4 .b8 fixed[1024];\n"
    ".reg .b32 %r<4>;\nmov.u32 %r1, %tid.x;\nshl.b32 %r1, %r1, 2;\n"
    "mov.u32 %r2, dynamic;\nadd.s32 %r2, %r2, %r1;\nst.shared.u32 [%r2], %r1;\nret;\n}\n";

enum { WORDS = 32, BYTES = 4 * WORDS };
static const dim3 one = {1, 1, 1}, warp = {32, 1, 1};

static cudaLibrary_t load(void) {
  cudaLibrary_t library = NULL;
  MUST(cudaLibraryLoadData(&library, source, NULL, NULL, 0, NULL, NULL, 0));
  return library;
}

static void launch_add(cudaKernel_t kernel, void *at, uint32_t by, cudaStream_t stream) {
  void *arguments[] = {&at, &by};
  MUST(cudaLaunchKernel(kernel, one, warp, arguments, 0, stream));
}

static uint32_t first_word(const void *memory) {
  uint32_t words[WORDS];
  harness_get(words, memory, BYTES);
  for (int k = 1; k < WORDS; k++) cr_assert_eq(words[k], words[0]);
  return words[0];
}

static void expect_nothing_left(void) {
  wb_emulator_live live;
  wb_emulator_count_live(&live);
  cr_assert(live.memory == 0 && live.pinned == 0 && live.streams == 0 && live.events == 0 &&
            live.libraries == 0 && live.graphs == 0 && live.graph_execs == 0 &&
            live.memory_bytes == 0);
}

#define EXPECT(error, call)                                                                   \
  do {                                                                                        \
    const cudaError_t got = (call);                                                           \
    cr_assert_eq(got, error, #call ": %s: %s", cudaGetErrorName(got), wb_emulator_message()); \
  } while (0)

/* ---- devices ---- */

Test(devices, are_as_set, .init = harness_start, .fini = harness_end) {
  cr_assert(wb_emulator_set("DEVICES", "3") && wb_emulator_set("SM", "86") &&
            wb_emulator_set("SMS", "7"));
  int value = 0;
  char bus[16], other[16];
  MUST(cudaGetDeviceCount(&value));
  cr_assert_eq(value, 3);
  MUST(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 2));
  cr_assert_eq(value, 8);
  MUST(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMinor, 2));
  cr_assert_eq(value, 6);
  MUST(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0));
  cr_assert_eq(value, 7);
  EXPECT(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 3));
  EXPECT(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)23, 0));
  EXPECT(cudaErrorInvalidDevice, cudaSetDevice(3));
  EXPECT(cudaErrorInvalidDevice, cudaSetDevice(-1));
  MUST(cudaSetDevice(2));
  MUST(cudaGetDevice(&value));
  cr_assert_eq(value, 2);
  MUST(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
  MUST(cudaDeviceGetPCIBusId(other, sizeof other, 1));
  cr_assert_str_neq(bus, other);
  EXPECT(cudaErrorInvalidValue, cudaDeviceGetPCIBusId(bus, 5, 0));
}

Test(devices, a_driver_may_be_missing_or_old, .init = harness_start, .fini = harness_end) {
  int value = 7;
  void *memory;
  cr_assert(wb_emulator_set("DRIVER", "12080"));
  EXPECT(cudaErrorInsufficientDriver, cudaGetDeviceCount(&value));
  cr_assert_eq(value, 0);
  EXPECT(cudaErrorInsufficientDriver, cudaMalloc(&memory, 4));
  MUST(cudaDriverGetVersion(&value));
  cr_assert_eq(value, 12080);
  cr_assert(wb_emulator_set("RUNTIME", "12080")); /* a runtime of the same major version is fine */
  MUST(cudaGetDeviceCount(&value));
  cr_assert(wb_emulator_set("DRIVER", "0"));
  EXPECT(cudaErrorInsufficientDriver, cudaGetDeviceCount(&value));
  MUST(cudaDriverGetVersion(&value));
  cr_assert_eq(value, 0);
  cr_assert(wb_emulator_set("DRIVER", NULL) && wb_emulator_set("DEVICES", "0"));
  EXPECT(cudaErrorNoDevice, cudaGetDeviceCount(&value));
  EXPECT(cudaErrorNoDevice, cudaSetDevice(0));
}

Test(devices, hold_their_own_memory_and_modules, .init = harness_start, .fini = harness_end) {
  cr_assert(wb_emulator_set("DEVICES", "2"));
  cudaLibrary_t library = load();
  cudaKernel_t add = harness_kernel(library, "add");
  void *memory[2], *counter[2];
  size_t bytes;
  for (int d = 0; d < 2; d++) {
    MUST(cudaSetDevice(d));
    memory[d] = harness_put(NULL, BYTES);
    MUST(cudaLibraryGetGlobal(&counter[d], &bytes, library, "counter"));
    cr_assert_eq(bytes, 4);
    launch_add(add, memory[d], 10 + (uint32_t)d, NULL);
    MUST(cudaDeviceSynchronize());
  }
  cr_assert_neq(counter[0], counter[1]);
  for (int d = 0; d < 2; d++) cr_assert_eq(first_word(memory[d]), 10 + (uint32_t)d);
  MUST(cudaMemcpy(memory[0], memory[1], BYTES, cudaMemcpyDeviceToDevice));
  cr_assert_eq(first_word(memory[0]), 11);
  /* a stream belongs to the device it was made on */
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, 0));
  MUST(cudaSetDevice(0));
  void *arguments[] = {&memory[0], &bytes};
  EXPECT(cudaErrorInvalidResourceHandle, cudaLaunchKernel(add, one, warp, arguments, 0, stream));
  /* memory of the other device is out of reach */
  launch_add(add, memory[1], 1, NULL);
  EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

/* ---- memory ---- */

Test(memory, runs_out_and_says_so, .init = harness_start, .fini = harness_end) {
  cr_assert(wb_emulator_set("MEMORY", "1048576"));
  wb_emulator_reset();
  size_t available, total;
  void *a, *b, *c;
  MUST(cudaMemGetInfo(&available, &total));
  cr_assert_eq(total, 1048576);
  cr_assert_eq(available, total);
  MUST(cudaMalloc(&a, 700000));
  EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&b, 400000));
  cr_assert(strstr(wb_emulator_message(), "400000 bytes asked for"), "%s", wb_emulator_message());
  cr_assert_eq(cudaGetLastError(), cudaErrorMemoryAllocation);
  cr_assert_eq(cudaGetLastError(), cudaSuccess, "the error is forgotten once it was asked for");
  MUST(cudaMalloc(&c, 300000));
  MUST(cudaMemGetInfo(&available, &total));
  cr_assert_lt(available, 48577);
  MUST(cudaFree(a));
  MUST(cudaMalloc(&b, 600000));
  MUST(cudaFree(b));
  MUST(cudaFree(c));
  MUST(cudaMalloc(&a, 1000));
  MUST(cudaFree(a));
  MUST(cudaMalloc(&b, 1000));
  cr_assert_neq(a, b, "an address that was freed comes back late");
  MUST(cudaFree(b));
  MUST(cudaFree(NULL));
  EXPECT(cudaErrorInvalidValue, cudaFree(c));
  EXPECT(cudaErrorInvalidValue, cudaFree(&c));
  expect_nothing_left();
}

Test(memory, many_pieces_keep_their_contents, .init = harness_start, .fini = harness_end) {
  enum { PIECES = 200 };
  uint8_t *pieces[PIECES] = {0};
  uint8_t host[700], back[700];
  for (int round = 0; round < 5; round++) {
    for (int k = 0; k < PIECES; k++) {
      if (pieces[k] && (k * 7 + round) % 3 == 0) {
        MUST(cudaFree(pieces[k]));
        pieces[k] = NULL;
      }
      if (pieces[k]) continue;
      MUST(cudaMalloc((void **)&pieces[k], (size_t)(1 + k * 3)));
      cr_assert_eq((uintptr_t)pieces[k] % 256, 0);
      memset(host, k, sizeof host);
      MUST(cudaMemcpy(pieces[k], host, (size_t)(1 + k * 3), cudaMemcpyHostToDevice));
    }
  }
  for (int k = 0; k < PIECES; k++) {
    memset(host, k, sizeof host);
    harness_get(back, pieces[k], (size_t)(1 + k * 3));
    cr_assert_arr_eq(back, host, (size_t)(1 + k * 3));
    MUST(cudaFree(pieces[k]));
  }
  expect_nothing_left();
}

/* asked of the operating system, which looks without dying */
Test(memory, of_a_device_is_out_of_the_hosts_reach, .init = harness_start, .fini = harness_end) {
  const char *memory = harness_put(NULL, 64);
  int ends[2];
  cr_assert_eq(pipe(ends), 0);
  cr_assert_eq(write(ends[1], memory, 1), -1);
  cr_assert_eq(errno, EFAULT);
  close(ends[0]);
  close(ends[1]);
}

Test(memory, copies_are_checked, .init = harness_start, .fini = harness_end) {
  char host[64] = {0};
  void *a = harness_put(NULL, 64), *b = harness_put(NULL, 64);
  EXPECT(cudaErrorInvalidValue, cudaMemcpy(a, host, 64, cudaMemcpyDeviceToHost));
  EXPECT(cudaErrorInvalidValue, cudaMemcpy(a, b, 64, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidValue, cudaMemcpy(a, host, 65, cudaMemcpyHostToDevice));
  EXPECT(cudaErrorInvalidValue, cudaMemcpy((char *)a + 60, b, 8, cudaMemcpyDeviceToDevice));
  EXPECT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(a, b, 8, (enum cudaMemcpyKind)9));
  EXPECT(cudaErrorInvalidValue, cudaMemset(a, 0, 65));
  EXPECT(cudaErrorInvalidValue, cudaMemset(host, 0, 64));
  memset(host, 3, sizeof host);
  MUST(cudaMemcpy((char *)a + 32, host, 32, cudaMemcpyDefault));
  MUST(cudaMemcpy(b, a, 64, cudaMemcpyDefault));
  memset(host, 9, sizeof host);
  MUST(cudaMemcpy(host, b, 64, cudaMemcpyDefault));
  for (int k = 0; k < 64; k++) cr_assert_eq(host[k], k < 32 ? 0 : 3);
}

/* ---- streams: nothing has happened before something waits ---- */

Test(streams, a_forgotten_wait_shows, .init = harness_start, .fini = harness_end) {
  cudaStream_t stream;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  uint32_t *pinned, pageable[WORDS];
  MUST(cudaHostAlloc((void **)&pinned, BYTES, 0));
  void *memory = harness_put(NULL, BYTES);
  for (int k = 0; k < WORDS; k++) pageable[k] = 1, pinned[k] = 99;
  /* pageable memory may be reused at once; pinned memory is read and written when it is done */
  MUST(cudaMemcpyAsync(memory, pageable, BYTES, cudaMemcpyHostToDevice, stream));
  memset(pageable, 0xff, sizeof pageable);
  MUST(cudaMemcpyAsync(pinned, memory, BYTES, cudaMemcpyDeviceToHost, stream));
  cr_assert_eq(pinned[0], 99);
  MUST(cudaStreamSynchronize(stream));
  cr_assert_eq(pinned[0], 1);
  MUST(cudaMemcpyAsync(memory, pinned, BYTES, cudaMemcpyHostToDevice, stream));
  for (int k = 0; k < WORDS; k++) pinned[k] = 5;
  MUST(cudaStreamSynchronize(stream));
  cr_assert_eq(first_word(memory), 5, "a source that is overwritten too soon must be seen to be");
  MUST(cudaMemsetAsync(memory, 0, BYTES, stream));
  MUST(cudaMemcpyAsync(pageable, memory, BYTES, cudaMemcpyDeviceToHost, stream));
  cr_assert_eq(pageable[0], 0, "a copy to pageable memory is done when the call returns");
  /* polling ends */
  cudaKernel_t add = harness_kernel(load(), "add");
  for (int k = 0; k < 3; k++) launch_add(add, memory, 1, stream);
  int polls = 0;
  while (cudaStreamQuery(stream) == cudaErrorNotReady) polls++;
  cr_assert_eq(polls, 3);
  cr_assert_eq(cudaGetLastError(), cudaSuccess, "not ready is no error");
  cr_assert_eq(first_word(memory), 3);
  MUST(cudaStreamDestroy(stream));
  MUST(cudaFreeHost(pinned));
  EXPECT(cudaErrorInvalidValue, cudaFreeHost(pinned));
}

Test(streams, events_order_them, .init = harness_start, .fini = harness_end) {
  for (int lazy = 0; lazy < 2; lazy++) {
    cr_assert(wb_emulator_set("STREAMS", lazy ? "lazy" : "eager"));
    cudaStream_t a, b;
    cudaEvent_t event, later, untimed;
    MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&event, 0));
    MUST(cudaEventCreateWithFlags(&later, 0));
    MUST(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    cudaKernel_t add = harness_kernel(load(), "add");
    void *memory = harness_put(NULL, BYTES), *copy = harness_put(NULL, BYTES);
    MUST(cudaDeviceSynchronize());
    launch_add(add, memory, 7, a);
    MUST(cudaEventRecord(event, a));
    launch_add(add, memory, 100, a); /* not waited for */
    MUST(cudaStreamWaitEvent(b, event, 0));
    MUST(cudaMemcpyAsync(copy, memory, BYTES, cudaMemcpyDeviceToDevice, b));
    MUST(cudaEventRecord(later, b));
    MUST(cudaEventSynchronize(later));
    cr_assert_eq(first_word(copy), lazy ? 7 : 107);
    float milliseconds = -1;
    MUST(cudaEventElapsedTime(&milliseconds, event, later));
    cr_assert_geq(milliseconds, 0);
    MUST(cudaEventRecord(untimed, a));
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&milliseconds, untimed, later));
    cudaError_t ready;
    while ((ready = cudaEventQuery(untimed)) == cudaErrorNotReady) {}
    cr_assert_eq(ready, cudaSuccess);
    cr_assert_eq(first_word(memory), 107);
    MUST(cudaStreamDestroy(a));
    MUST(cudaStreamDestroy(b));
    EXPECT(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(a));
    EXPECT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(b));
    MUST(cudaEventDestroy(event));
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventDestroy(event));
  }
}

Test(streams, the_default_one_waits_for_those_that_block, .init = harness_start,
     .fini = harness_end) {
  cudaStream_t blocking, free_one;
  MUST(cudaStreamCreate(&blocking));
  MUST(cudaStreamCreateWithFlags(&free_one, cudaStreamNonBlocking));
  cudaKernel_t add = harness_kernel(load(), "add");
  void *x = harness_put(NULL, BYTES), *y = harness_put(NULL, BYTES);
  MUST(cudaDeviceSynchronize());
  launch_add(add, x, 1, blocking);
  launch_add(add, y, 1, free_one);
  cr_assert_eq(first_word(x), 1);
  cr_assert_eq(first_word(y), 0);
  MUST(cudaDeviceSynchronize());
  cr_assert_eq(first_word(y), 1);
}

/* ---- graphs ---- */

Test(graphs, repeat_what_was_captured, .init = harness_start, .fini = harness_end) {
  cudaStream_t stream, side;
  cudaEvent_t forked, joined;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  MUST(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
  MUST(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
  cudaLibrary_t library = load();
  cudaKernel_t add = harness_kernel(library, "add");
  struct cudaFuncAttributes attributes;
  MUST(cudaFuncGetAttributes(&attributes, add));
  void *x = harness_put(NULL, BYTES), *y = harness_put(NULL, BYTES);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  enum cudaStreamCaptureStatus status;
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaStreamIsCapturing(stream, &status));
  cr_assert_eq(status, cudaStreamCaptureStatusActive);
  launch_add(add, x, 2, stream);
  MUST(cudaEventRecord(forked, stream));
  MUST(cudaStreamWaitEvent(side, forked, 0));
  MUST(cudaMemcpyAsync(y, x, BYTES, cudaMemcpyDeviceToDevice, side));
  MUST(cudaEventRecord(joined, side));
  MUST(cudaStreamWaitEvent(stream, joined, 0));
  launch_add(add, y, 100, stream);
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphInstantiate(&exec, graph, 0));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaStreamSynchronize(stream));
  cr_assert_eq(first_word(x), 0, "what is captured is not done");
  for (int k = 0; k < 3; k++) MUST(cudaGraphLaunch(exec, stream));
  MUST(cudaStreamSynchronize(stream));
  cr_assert_eq(first_word(x), 6);
  cr_assert_eq(first_word(y), 106);
  MUST(cudaGraphExecDestroy(exec));
  EXPECT(cudaErrorInvalidResourceHandle, cudaGraphLaunch(exec, stream));
  MUST(cudaFree(x));
  MUST(cudaFree(y));
  MUST(cudaEventDestroy(forked));
  MUST(cudaEventDestroy(joined));
  MUST(cudaStreamDestroy(stream));
  MUST(cudaStreamDestroy(side));
  MUST(cudaLibraryUnload(library));
  expect_nothing_left();
}

Test(graphs, what_breaks_a_capture, .init = harness_start, .fini = harness_end) {
  cudaStream_t stream, side;
  cudaEvent_t event;
  cudaGraph_t graph;
  void *memory = harness_put(NULL, BYTES), *more;
  cudaLibrary_t library = load();
  cudaKernel_t add = harness_kernel(library, "add");
  uint32_t by = 1;
  void *arguments[] = {&memory, &by};
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
  MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT(cudaErrorStreamCaptureUnmatched, cudaStreamEndCapture(stream, &graph));
  EXPECT(cudaErrorStreamCaptureUnsupported,
         cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
  /* a kernel that the launch would load */
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cudaErrorStreamCaptureUnsupported, cudaLaunchKernel(add, one, warp, arguments, 0, stream));
  cr_assert(strstr(wb_emulator_message(), "loaded by this launch"), "%s", wb_emulator_message());
  EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  cr_assert_null(graph);
  /* giving it an attribute does not load it */
  MUST(cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cudaErrorStreamCaptureUnsupported, cudaLaunchKernel(add, one, warp, arguments, 0, stream));
  EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  /* waiting, allocating, loading */
  char *text = harness_text("sample.ptx");
  cudaLibrary_t other;
  int blocks;
  for (int k = 0; k < 7; k++) {
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorStreamCaptureUnsupported,
           k == 0   ? cudaStreamSynchronize(stream)
           : k == 1 ? cudaDeviceSynchronize()
           : k == 2 ? cudaMalloc(&more, 4)
           : k == 3 ? cudaMemset(memory, 0, 4)
           : k == 4 ? cudaLibraryLoadData(&other, text, NULL, NULL, 0, NULL, NULL, 0)
           : k == 5 ? cudaLibraryUnload(library)
                    : cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 0));
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  }
  free(text);
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 32, 0));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaLaunchKernel(add, one, warp, arguments, 0, stream));
  MUST(cudaStreamEndCapture(stream, &graph));
  MUST(cudaGraphDestroy(graph));
  /* a stream that is not joined back */
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  MUST(cudaEventRecord(event, stream));
  MUST(cudaStreamWaitEvent(side, event, 0));
  MUST(cudaMemsetAsync(memory, 1, BYTES, side));
  EXPECT(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(stream, &graph));
  /* an event from outside */
  MUST(cudaEventRecord(event, side));
  MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  EXPECT(cudaErrorStreamCaptureIsolation, cudaStreamWaitEvent(stream, event, 0));
  EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  MUST(cudaDeviceSynchronize());
  launch_add(add, memory, 1, stream);
  MUST(cudaDeviceSynchronize());
  cr_assert_eq(first_word(memory), 1);
}

/* ---- libraries and launches ---- */

Test(libraries, what_cannot_be_loaded, .init = harness_start, .fini = harness_end) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  char log[256] = "";
  enum cudaJitOption options[] = {cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  void *values[] = {log, (void *)(uintptr_t)sizeof log};
  EXPECT(cudaErrorInvalidPtx,
         cudaLibraryLoadData(&library, "no PTX", options, values, 2, NULL, NULL, 0));
  cr_assert(strstr(log, "unknown directive \"no\""), "%s", log);
  EXPECT(cudaErrorInvalidKernelImage,
         cudaLibraryLoadData(&library, "\177ELF\2\1\1", NULL, NULL, 0, NULL, NULL, 0));
  EXPECT(cudaErrorInvalidPtx, cudaLibraryLoadData(&library, "", NULL, NULL, 0, NULL, NULL, 0));
  cr_assert(wb_emulator_set("SM", "75"));
  EXPECT(cudaErrorInvalidPtx, cudaLibraryLoadData(&library, source, NULL, NULL, 0, NULL, NULL, 0));
  cr_assert(strstr(wb_emulator_message(), "PTX for sm_80 on a device of sm_75"), "%s",
            wb_emulator_message());
  cr_assert(wb_emulator_set("SM", NULL) && wb_emulator_set("DRIVER", "11070") &&
            wb_emulator_set("RUNTIME", "11070"));
  EXPECT(cudaErrorUnsupportedPtxVersion,
         cudaLibraryLoadData(&library, source, NULL, NULL, 0, NULL, NULL, 0));
  cr_assert(wb_emulator_set("DRIVER", "11080"));
  MUST(cudaLibraryLoadData(&library, source, NULL, NULL, 0, NULL, NULL, 0));
  EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "sub"));
  EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetGlobal(NULL, NULL, library, "dynamic"));
  unsigned count;
  MUST(cudaLibraryGetKernelCount(&count, library));
  cr_assert_eq(count, 2);
  MUST(cudaLibraryUnload(library));
  EXPECT(cudaErrorInvalidResourceHandle, cudaLibraryUnload(library));
}

Test(libraries, shared_memory_and_occupancy, .init = harness_start, .fini = harness_end) {
  cudaLibrary_t library = load();
  cudaKernel_t fill = harness_kernel(library, "fill"), add = harness_kernel(library, "add");
  struct cudaFuncAttributes attributes;
  MUST(cudaFuncGetAttributes(&attributes, fill));
  cr_assert_eq(attributes.sharedSizeBytes, 1024);
  cr_assert_eq(attributes.maxDynamicSharedSizeBytes, 48 * 1024 - 1024);
  cr_assert_eq(attributes.maxThreadsPerBlock, 1024);
  MUST(cudaFuncGetAttributes(&attributes, add));
  cr_assert_eq(attributes.maxThreadsPerBlock, 64);
  void *memory = harness_put(NULL, BYTES), *arguments[] = {&memory};
  EXPECT(cudaErrorInvalidValue, cudaLaunchKernel(fill, one, warp, arguments, 48 * 1024, NULL));
  EXPECT(cudaErrorInvalidValue,
         cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
  MUST(cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 1024));
  harness_launch(fill, one, warp, 232448 - 1024, arguments);
  /* the last word is there, and nothing behind it */
  cudaLaunchConfig_t config = {.gridDim = one, .blockDim = warp, .dynamicSmemBytes = BYTES};
  MUST(cudaLaunchKernelExC(&config, fill, arguments));
  MUST(cudaDeviceSynchronize());
  int blocks;
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 0));
  cr_assert_eq(blocks, 32);
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 128, 0));
  cr_assert_eq(blocks, 16);
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 50000));
  cr_assert_eq(blocks, 4);
  cr_assert(wb_emulator_set("REGISTERS", "255"));
  MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 64, 0));
  cr_assert_eq(blocks, 4);
  config.dynamicSmemBytes = BYTES - 4;
  MUST(cudaLaunchKernelExC(&config, fill, arguments));
  EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  cr_assert(strstr(wb_emulator_message(), "lanes 0x80000000"), "%s", wb_emulator_message());
}

Test(libraries, launches_that_do_not_fit, .init = harness_start, .fini = harness_end) {
  cudaKernel_t add = harness_kernel(load(), "add");
  void *memory = harness_put(NULL, BYTES);
  uint32_t by = 1;
  void *arguments[] = {&memory, &by};
  EXPECT(cudaErrorInvalidConfiguration,
         cudaLaunchKernel(add, (dim3){0, 1, 1}, warp, arguments, 0, NULL));
  EXPECT(cudaErrorInvalidConfiguration,
         cudaLaunchKernel(add, one, (dim3){2048, 1, 1}, arguments, 0, NULL));
  EXPECT(cudaErrorInvalidConfiguration,
         cudaLaunchKernel(add, (dim3){1, 65536, 1}, warp, arguments, 0, NULL));
  EXPECT(cudaErrorInvalidValue, cudaLaunchKernel(add, one, (dim3){128, 1, 1}, arguments, 0, NULL));
  EXPECT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(&by, one, warp, arguments, 0, NULL));
  cudaKernel_t fill = harness_kernel(load(), "fill");
  cr_assert(wb_emulator_set("REGISTERS", "128"));
  EXPECT(cudaErrorLaunchOutOfResources,
         cudaLaunchKernel(fill, one, (dim3){1024, 1, 1}, arguments, 0, NULL));
  cr_assert_eq(first_word(memory), 0);
}

/* ---- failures by request ---- */

Test(failures, of_the_nth_call, .init = harness_start, .fini = harness_end) {
  void *memory;
  cudaStream_t stream;
  cr_assert(wb_emulator_set("FAIL", "cudaMalloc:2=2,cudaStreamCreateWithFlags:1=999"));
  MUST(cudaMalloc(&memory, 4));
  EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&memory, 4));
  MUST(cudaMalloc(&memory, 4));
  EXPECT(cudaErrorUnknown, cudaStreamCreateWithFlags(&stream, 0));
  MUST(cudaStreamCreateWithFlags(&stream, 0));
  cr_assert_not(wb_emulator_set("FAIL", "cudaMalloc=2"));
  cr_assert_not(wb_emulator_set("FAIL", "cudaMalloc:1=2;"));
}

Test(failures, of_a_launch_end_everything, .init = harness_start, .fini = harness_end) {
  cudaStream_t stream;
  cudaEvent_t event;
  MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  MUST(cudaEventCreateWithFlags(&event, 0));
  cudaLibrary_t library = load();
  cudaKernel_t add = harness_kernel(library, "add");
  void *memory = harness_put(NULL, BYTES), *pinned, *more;
  MUST(cudaMallocHost(&pinned, BYTES));
  memset(pinned, 77, BYTES);
  cr_assert(wb_emulator_set("FAULT_LAUNCH", "2=719"));
  launch_add(add, memory, 1, stream);
  launch_add(add, memory, 1, stream);
  launch_add(add, memory, 1, stream);
  MUST(cudaMemcpyAsync(pinned, memory, BYTES, cudaMemcpyDeviceToHost, stream));
  EXPECT(cudaErrorLaunchFailure, cudaStreamSynchronize(stream));
  cr_assert(strstr(wb_emulator_message(), "launch 2"), "%s", wb_emulator_message());
  cr_assert_eq(*(char *)pinned, 77, "what was queued behind it is not done any more");
  EXPECT(cudaErrorLaunchFailure, cudaMalloc(&more, 4));
  cr_assert_eq(cudaGetLastError(), cudaErrorLaunchFailure);
  cr_assert_eq(cudaPeekAtLastError(), cudaErrorLaunchFailure, "it stays");
  /* each of these tells of the error, and yet nothing is left */
  EXPECT(cudaErrorLaunchFailure, cudaFree(memory));
  EXPECT(cudaErrorLaunchFailure, cudaFreeHost(pinned));
  EXPECT(cudaErrorLaunchFailure, cudaEventDestroy(event));
  EXPECT(cudaErrorLaunchFailure, cudaStreamDestroy(stream));
  EXPECT(cudaErrorLaunchFailure, cudaLibraryUnload(library));
  expect_nothing_left();
  MUST(cudaDeviceReset());
  MUST(cudaMalloc(&more, 4));
}

Test(failures, have_names_and_texts) {
  cr_assert_str_eq(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  cr_assert_str_eq(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  cr_assert_str_eq(cudaGetErrorString(cudaSuccess), "no error");
  cr_assert_str_eq(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
}

/* settings of the environment count from the first call; each test is a process of its own */
Test(failures, settings_of_the_environment) {
  int count;
  setenv("WB_EMULATOR_DEVICES", "5", 1);
  MUST(cudaGetDeviceCount(&count));
  cr_assert_eq(count, 5);
  setenv("WB_EMULATOR_MODE", "backwards", 1);
  cr_assert_not(wb_emulator_set("MODE", NULL));
}

Test(failures, a_setting_that_makes_no_sense_is_no_device) {
  int count = 3;
  setenv("WB_EMULATOR_MODE", "backwards", 1);
  EXPECT(cudaErrorInitializationError, cudaGetDeviceCount(&count));
  cr_assert_eq(count, 0);
  cr_assert_str_eq(wb_emulator_message(), "WB_EMULATOR_MODE=backwards is not understood");
}

static void *other_thread(void *device_count) {
  int device;
  MUST(cudaGetDevice(&device));
  *(int *)device_count = device;
  return cudaPeekAtLastError() == cudaSuccess ? device_count : NULL;
}

Test(devices, each_thread_has_its_own, .init = harness_start, .fini = harness_end) {
  cr_assert(wb_emulator_set("DEVICES", "2"));
  int seen = 9;
  void *result = NULL;
  pthread_t thread;
  MUST(cudaSetDevice(1));
  EXPECT(cudaErrorInvalidDevice, cudaSetDevice(7));
  cr_assert_eq(pthread_create(&thread, NULL, other_thread, &seen), 0);
  cr_assert_eq(pthread_join(thread, &result), 0);
  cr_assert_eq(seen, 0);
  cr_assert_eq(result, &seen, "the last error is that of the other thread");
  MUST(cudaGetDevice(&seen));
  cr_assert_eq(seen, 1);
  cr_assert_eq(cudaGetLastError(), cudaErrorInvalidDevice);
}

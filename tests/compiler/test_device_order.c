/* The order of a GPU's work: streams of callers, memory of the host that changes right behind a call, and
 * several GPUs in one process. The emulator does work when something waits for it, so a wait that is
 * missing shows. */
#include "compiler/device.h"
#include "emulator/cuda_abi.h"
#include "emulator/emulator.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

enum { BOOKS = 5, WORDS = 32, BYTES = BOOKS * WORDS * 4 };

/* each number times 3, and a scalar: the order of two launches shows */
static wb_program *make_program(void) {
  wb_error error = {0};
  wb_builder *b;
  wb_program *program;
  cr_assert_eq(wb_builder_new("thrice", 32, NULL, &b, NULL), WB_OK);
  array rows = buffer_per_book_out("rows", I32);
  val more = param_i32("more");
  store_row(rows, 0, add(mul(load_row(rows, 0), 3), more));
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  return program;
}

typedef struct world {
  wb_device *device;
  wb_kernel *kernel;
  void *rows;
} world;

#define MUST_BE_FINE(call)                                                               \
  do {                                                                                   \
    wb_error error = {0};                                                                \
    const wb_status status = (call);                                                     \
    cr_assert_eq(status, WB_OK, "%s: %s: %s", #call, error.text, wb_emulator_message()); \
  } while (0)

static world open_world(const char *name) {
  world w;
  wb_program *program = make_program();
  MUST_BE_FINE(wb_device_open(name, &w.device, &error));
  MUST_BE_FINE(wb_device_compile(w.device, program, NULL, &w.kernel, NULL, &error));
  MUST_BE_FINE(wb_device_allocate(w.device, BYTES, &w.rows, &error));
  wb_program_free(program);
  return w;
}

static void close_world(world *w) {
  wb_emulator_live live;
  wb_kernel_release(w->kernel);
  wb_device_free(w->device, w->rows);
  wb_device_close(w->device);
  wb_emulator_count_live(&live);
  cr_expect_eq(live.libraries, live.streams, "a library and a stream for each device still open");
}

static void launch(const world *w, int64_t more) {
  const wb_buffer_argument buffer = {w->rows, WORDS, WORDS};
  const wb_launch l = {
      .books = BOOKS, .buffers = &buffer, .buffer_count = 1, .scalars = &more, .scalar_count = 1};
  MUST_BE_FINE(wb_device_launch(w->device, w->kernel, &l, &error));
}

static int32_t first_number(const world *w) {
  int32_t rows[BOOKS * WORDS];
  MUST_BE_FINE(wb_device_read(w->device, rows, w->rows, BYTES, &error));
  for (int i = 1; i < BOOKS * WORDS; i++) cr_assert_eq(rows[i], rows[0]);
  return rows[0];
}

static void start(void) {
  cr_assert_eq(setenv("WB_CUDART", WB_EMULATOR_FILE, 1), 0);
  cr_assert(wb_emulator_set("DEVICES", "2"));
  wb_emulator_reset();
}

TestSuite(order, .init = start);

Test(order, a_callers_stream_goes_on_where_the_own_one_was) {
  world w = open_world("cuda");
  cudaStream_t stream;
  void *own = wb_device_stream(w.device);
  cr_assert_eq(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  launch(&w, 1); /* 1 */
  MUST_BE_FINE(wb_device_use_stream(w.device, stream, &error));
  cr_expect_eq(wb_device_stream(w.device), stream);
  launch(&w, 2); /* 5 */
  MUST_BE_FINE(wb_device_use_stream(w.device, NULL, &error));
  cr_expect_eq(wb_device_stream(w.device), own);
  launch(&w, 4); /* 19 */
  cr_expect_eq(first_number(&w), 19);
  /* what is queued waits in the caller's stream, and is captured from there */
  wb_graph *graph;
  MUST_BE_FINE(wb_device_use_stream(w.device, stream, &error));
  MUST_BE_FINE(wb_device_capture_begin(w.device, &error));
  launch(&w, 5);
  cr_expect_eq(wb_device_use_stream(w.device, NULL, NULL), WB_ERROR_STATE);
  MUST_BE_FINE(wb_device_capture_end(w.device, &graph, &error));
  MUST_BE_FINE(wb_graph_launch(graph, &error));
  cr_expect_eq(cudaStreamQuery(stream), cudaErrorNotReady);
  cr_expect_eq(first_number(&w), 19 * 3 + 5);
  wb_graph_free(graph);
  MUST_BE_FINE(wb_device_use_stream(w.device, NULL, &error));
  cr_assert_eq(cudaStreamDestroy(stream), cudaSuccess);
  close_world(&w);
}

Test(order, host_memory_may_change_right_after_a_write_and_is_there_after_a_read) {
  world w = open_world("cuda");
  void *pinned;
  MUST_BE_FINE(wb_device_allocate_host(w.device, BYTES, &pinned, &error));
  int32_t *numbers = pinned;
  for (int i = 0; i < BOOKS * WORDS; i++) numbers[i] = 7;
  MUST_BE_FINE(wb_device_write(w.device, w.rows, pinned, BYTES, &error));
  memset(pinned, 0, BYTES);
  launch(&w, 1);
  MUST_BE_FINE(wb_device_read(w.device, pinned, w.rows, BYTES, &error));
  for (int i = 0; i < BOOKS * WORDS; i++) cr_assert_eq(numbers[i], 22, "%d", numbers[i]);
  wb_device_free_host(w.device, pinned);
  close_world(&w);
}

Test(order, seconds_wait_for_what_they_measure) {
  world w = open_world("cuda");
  wb_event *events[2];
  double seconds = -1;
  for (int i = 0; i < 2; i++) MUST_BE_FINE(wb_event_new(w.device, &events[i], &error));
  MUST_BE_FINE(wb_event_record(events[0], &error));
  launch(&w, 1);
  MUST_BE_FINE(wb_event_record(events[1], &error));
  MUST_BE_FINE(wb_event_seconds(events[0], events[1], &seconds, &error));
  cr_expect_gt(seconds, 0);
  for (int i = 0; i < 2; i++) wb_event_free(events[i]);
  close_world(&w);
}

static size_t free_on(int device) {
  size_t left = 0, total;
  cr_assert_eq(cudaSetDevice(device), cudaSuccess);
  cr_assert_eq(cudaMemGetInfo(&left, &total), cudaSuccess);
  return left;
}

Test(order, memory_is_of_the_device_that_was_named) {
  enum { LARGE = 1 << 20 };
  world w = open_world("cuda:1");
  const size_t before[] = {free_on(0), free_on(1)};
  void *memory;
  cr_assert_eq(cudaSetDevice(0), cudaSuccess);
  MUST_BE_FINE(wb_device_allocate(w.device, LARGE, &memory, &error));
  cr_expect_eq(free_on(0), before[0]);
  cr_expect_eq(free_on(1), before[1] - LARGE);
  wb_device_free(w.device, memory);
  cr_expect_eq(free_on(1), before[1]);
  close_world(&w);
}

/* whatever device was used last, also by others in this thread */
Test(order, devices_of_one_process_do_not_mix) {
  world a = open_world("cuda:1"), b = open_world("cuda:0");
  wb_event *events[2];
  wb_graph *graph;
  double seconds;
  MUST_BE_FINE(wb_event_new(a.device, &events[0], &error));
  MUST_BE_FINE(wb_event_new(a.device, &events[1], &error));
  for (int i = 0; i < 3; i++) {
    launch(&a, 1);
    launch(&b, 2);
  }
  MUST_BE_FINE(wb_device_capture_begin(a.device, &error));
  launch(&b, 3);
  launch(&a, 5);
  MUST_BE_FINE(wb_device_fill(b.device, (char *)b.rows + BYTES, 0, 0, &error));
  MUST_BE_FINE(wb_device_capture_end(a.device, &graph, &error));
  cr_assert_eq(cudaSetDevice(0), cudaSuccess);
  MUST_BE_FINE(wb_event_record(events[0], &error));
  MUST_BE_FINE(wb_graph_launch(graph, &error));
  MUST_BE_FINE(wb_event_record(events[1], &error));
  cr_expect_eq(first_number(&b), (((2 * 3 + 2) * 3) + 2) * 3 + 3);
  cr_assert_eq(cudaSetDevice(0), cudaSuccess);
  cr_expect_eq(first_number(&a), ((3 + 1) * 3 + 1) * 3 + 5);
  MUST_BE_FINE(wb_event_seconds(events[0], events[1], &seconds, &error));
  cr_expect_geq(seconds, 0);
  wb_event_free(events[0]);
  wb_event_free(events[1]);
  wb_graph_free(graph);
  close_world(&a);
  launch(&b, 1);
  cr_expect_eq(first_number(&b), ((((2 * 3 + 2) * 3) + 2) * 3 + 3) * 3 + 1);
  close_world(&b);
}

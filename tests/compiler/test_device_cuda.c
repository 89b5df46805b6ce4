/* A GPU as a device, on the emulator: results, streams, graphs, events, and every way to fail.
 *
 * The emulator stands behind the runtime's calls, so what is tested is the device's own use of them:
 * nothing may be left allocated, and each error names the call, the device and the reason. */
#include "compiler/device.h"
#include "emulator/emulator.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/cuda_api.h"
#include "compiler/dsl.h"

enum { BOOKS = 37, WORDS = 32 };

static wb_builder *b;

/* Each book turns its row of numbers round and adds its own and a scalar; element 0 of its slab counts
 * how often that was done. `far` promises an index that does not exist. */
static wb_program *make_program(bool far) {
  wb_error error = {0};
  wb_layout *layout;
  wb_program *program;
  array times;
  cr_assert_eq(wb_layout_new(&layout, NULL), WB_OK);
  cr_assert_eq(wb_layout_add(layout, "times", WB_ELEMENT_I32, 1, 0, &times, NULL), WB_OK);
  cr_assert_eq(wb_builder_new("turn", 32, layout, &b, NULL), WB_OK);
  array rows = buffer_per_book_out("rows", I32);
  val more = param_i32("more");
  val turned = shuffle(load_row(rows, 0), sub(31, lane_id()));
  store_row(rows, 0, add(turned, add(more, book_index())));
  add_to(times, 0, 1);
  if (far) store_in(rows, add(book_index(), 1000), more);
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  wb_layout_free(layout);
  return program;
}

typedef struct world {
  wb_device *device;
  wb_program *program;
  wb_kernel *kernel;
  void *slabs, *rows;
  wb_graph *graph;
  wb_event *start, *end;
  void *pinned;
} world;

static wb_status launch(world *w, int64_t more, wb_error *error) {
  wb_buffer_argument buffer = {w->rows, WORDS, WORDS};
  wb_launch l = {.slabs = w->slabs,
                 .slab_stride = 64,
                 .books = BOOKS,
                 .buffers = &buffer,
                 .buffer_count = 1,
                 .scalars = &more,
                 .scalar_count = 1};
  return wb_device_launch(w->device, w->kernel, &l, error);
}

static wb_status open_world_with(world *w, bool far, const wb_kernel_options *options,
                                 wb_error *error) {
  memset(w, 0, sizeof *w);
  w->program = make_program(far);
  WB_TRY(wb_device_open("cuda", &w->device, error));
  WB_TRY(wb_device_allocate(w->device, (size_t)BOOKS * 64, &w->slabs, error));
  WB_TRY(wb_device_allocate(w->device, (size_t)BOOKS * WORDS * 4, &w->rows, error));
  return wb_device_compile(w->device, w->program, options, &w->kernel, NULL, error);
}

static wb_status open_world(world *w, bool far, bool check, wb_error *error) {
  const wb_kernel_options options = {.check = check};
  return open_world_with(w, far, &options, error);
}

static void close_world(world *w) {
  wb_event_free(w->start);
  wb_event_free(w->end);
  wb_graph_free(w->graph);
  wb_kernel_release(w->kernel);
  if (w->device != NULL) {
    wb_device_free_host(w->device, w->pinned);
    wb_device_free(w->device, w->slabs);
    wb_device_free(w->device, w->rows);
  }
  wb_device_close(w->device);
  wb_program_free(w->program);
}

/* Everything a device can do, once: the first launch is a captured one. */
static wb_status use_all(world *w, wb_error *error) {
  int32_t rows[BOOKS * WORDS];
  WB_TRY(open_world(w, false, false, error));
  for (int i = 0; i < BOOKS * WORDS; i++) rows[i] = i;
  WB_TRY(wb_device_write(w->device, w->rows, rows, sizeof rows, error));
  WB_TRY(wb_event_new(w->device, &w->start, error));
  WB_TRY(wb_event_new(w->device, &w->end, error));
  WB_TRY(wb_device_capture_begin(w->device, error));
  WB_TRY(launch(w, 5, error));
  WB_TRY(wb_device_capture_end(w->device, &w->graph, error));
  WB_TRY(wb_event_record(w->start, error));
  for (int i = 0; i < 3; i++) WB_TRY(wb_graph_launch(w->graph, error));
  WB_TRY(wb_event_record(w->end, error));
  WB_TRY(launch(w, 7, error));
  WB_TRY(wb_device_allocate_host(w->device, sizeof rows, &w->pinned, error));
  WB_TRY(wb_device_read(w->device, w->pinned, w->rows, sizeof rows, error));
  double seconds = -1;
  WB_TRY(wb_event_seconds(w->start, w->end, &seconds, error));
  cr_assert_geq(seconds, 0);
  return wb_device_wait(w->device, error);
}

static void expect_nothing_left(const char *what) {
  wb_emulator_live live;
  wb_emulator_count_live(&live);
  cr_expect(live.memory == 0 && live.pinned == 0 && live.streams == 0 && live.events == 0 &&
                live.libraries == 0 && live.graphs == 0 && live.graph_execs == 0,
            "%s: left: %d memory, %d pinned, %d streams, %d events, %d libraries, %d graphs, %d "
            "executables",
            what, (int)live.memory, (int)live.pinned, (int)live.streams, (int)live.events,
            (int)live.libraries, (int)live.graphs, (int)live.graph_execs);
}

static void start(void) { cr_assert_eq(setenv("WB_CUDART", WB_EMULATOR_FILE, 1), 0); }

static void set(const char *name, const char *value) {
  cr_assert(wb_emulator_set(name, value), "%s=%s", name, value);
  wb_emulator_reset();
}

TestSuite(cuda, .init = start);

Test(cuda, captured_and_plain_launches_give_what_the_program_says) {
  world w;
  wb_error error = {0};
  cr_assert_eq(use_all(&w, &error), WB_OK, "%s: %s", error.text, wb_emulator_message());
  /* four turns: in place again, each having added its scalar and the book's number */
  const int32_t *rows = w.pinned;
  for (int book = 0; book < BOOKS; book++) {
    for (int lane = 0; lane < WORDS; lane++) {
      cr_assert_eq(rows[book * WORDS + lane], book * WORDS + lane + 3 * 5 + 7 + 4 * book);
    }
  }
  int32_t times[BOOKS * 16];
  cr_assert_eq(wb_device_read(w.device, times, w.slabs, sizeof times, NULL), WB_OK);
  for (int book = 0; book < BOOKS; book++) cr_assert_eq(times[16 * book], 4);
  close_world(&w);
  expect_nothing_left("all");
}

/* Wherever the slabs are placed, also where no shared memory needs to be set, a kernel's first launch may
 * be a captured one; and the graph keeps the kernel. */
Test(cuda, a_first_launch_can_be_captured_in_every_placement) {
  for (int placement = WB_PLACEMENT_AUTO; placement <= WB_PLACEMENT_GLOBAL; placement++) {
    const wb_kernel_options options = {.placement = (wb_placement)placement};
    world w;
    wb_error error = {0};
    int32_t times;
    cr_assert_eq(open_world_with(&w, false, &options, &error), WB_OK, "%s", error.text);
    cr_expect_eq(wb_kernel_gpu(w.kernel)->shared_bytes == 0, placement == WB_PLACEMENT_GLOBAL);
    cr_assert_eq(wb_device_capture_begin(w.device, &error), WB_OK, "%s", error.text);
    cr_assert_eq(launch(&w, 5, &error), WB_OK, "placement %d: %s: %s", placement, error.text,
                 wb_emulator_message());
    cr_assert_eq(wb_device_capture_end(w.device, &w.graph, &error), WB_OK, "%s", error.text);
    wb_kernel_release(w.kernel);
    w.kernel = NULL;
    cr_assert_eq(wb_graph_launch(w.graph, &error), WB_OK, "%s", error.text);
    cr_assert_eq(wb_device_read(w.device, &times, w.slabs, 4, &error), WB_OK, "placement %d: %s",
                 placement, error.text);
    cr_expect_eq(times, 1);
    close_world(&w);
    expect_nothing_left("captured");
  }
}

Test(cuda, a_block_that_does_not_fit_is_told_when_it_is_compiled) {
  const wb_kernel_options options = {.warps = 16};
  world w;
  wb_error error = {0};
  set("REGISTERS", "255");
  cr_assert_eq(open_world_with(&w, false, &options, &error), WB_ERROR_LIMIT, "%s", error.text);
  cr_expect_not_null(strstr(error.text, "kernel turn: a block of 16 warps with"), "%s", error.text);
  cr_expect_not_null(strstr(error.text, "does not fit on device cuda:0"), "%s", error.text);
  close_world(&w);
  expect_nothing_left("block");
}

Test(cuda, it_says_what_it_is) {
  wb_device *device;
  wb_device_info info;
  wb_error error;
  set("DEVICES", "2");
  cr_assert_eq(wb_device_open("cuda:1", &device, &error), WB_OK, "%s", error.text);
  wb_device_describe(device, &info);
  cr_expect_str_eq(info.name, "cuda:1");
  cr_expect_eq(info.sm, 90);
  cr_expect_eq(info.multiprocessors, 132);
  cr_expect_not(info.host_memory);
  wb_device_close(device);
  cr_assert_eq(wb_device_open("auto", &device, &error), WB_OK, "%s", error.text);
  wb_device_describe(device, &info);
  cr_expect_str_eq(info.name, "cuda:0");
  wb_device_close(device);
  expect_nothing_left("two devices");
}

static void expect_refused(const char *name, wb_status status, const char *first,
                           const char *second) {
  wb_device *device;
  wb_error error = {0};
  cr_expect_eq(wb_device_open(name, &device, &error), status, "%s", error.text);
  cr_expect_not_null(strstr(error.text, first), "expected \"%s\" in \"%s\"", first, error.text);
  cr_expect_not_null(strstr(error.text, second), "expected \"%s\" in \"%s\"", second, error.text);
  cr_expect_null(device);
  expect_nothing_left(first);
}

Test(cuda, a_machine_that_lacks_something_is_told_what) {
  expect_refused("cuda:x", WB_ERROR_ARGUMENT, "cuda:INDEX", "cuda:x");
  expect_refused("cuda:", WB_ERROR_ARGUMENT, "cuda:INDEX", "cuda:");
  expect_refused("cudax", WB_ERROR_ARGUMENT, "cuda:INDEX", "cudax");
  expect_refused("cuda:1", WB_ERROR_UNAVAILABLE, "cuda:1", "below 1");
  set("DEVICES", "0");
  expect_refused("cuda", WB_ERROR_UNAVAILABLE, "device cuda", "no CUDA");
  set("DEVICES", NULL);
  set("DRIVER", "0");
  expect_refused("cuda", WB_ERROR_UNAVAILABLE, "driver", "missing");
  set("DRIVER", "12040");
  expect_refused("cuda", WB_ERROR_UNAVAILABLE, "driver", "12.4");
  set("DRIVER", NULL);
  set("SM", "75");
  expect_refused("cuda", WB_ERROR_UNAVAILABLE, "8.0", "7.5");
  set("SM", NULL);
  cr_assert_eq(setenv("WB_CUDART", "/nowhere/libcudart.so", 1), 0);
  expect_refused("cuda", WB_ERROR_UNAVAILABLE, "WB_CUDART", "/nowhere/libcudart.so");
  cr_assert_eq(setenv("WB_CUDART", "libm.so.6", 1), 0);
  expect_refused("cuda", WB_ERROR_UNAVAILABLE, "cudaGetDeviceCount", "12.8");
  wb_device *device;
  wb_device_info info;
  cr_assert_eq(wb_device_open("auto", &device, NULL), WB_OK, "the CPU is always there");
  wb_device_describe(device, &info);
  cr_expect_str_eq(info.name, "cpu");
  wb_device_close(device);
}

Test(cuda, an_older_gpu_gets_code_of_its_own) {
  world w;
  wb_error error = {0};
  set("SM", "86");
  cr_assert_eq(use_all(&w, &error), WB_OK, "%s", error.text);
  cr_expect_eq(wb_kernel_gpu(w.kernel)->sm, 80);
  cr_expect_not_null(strstr(wb_kernel_gpu(w.kernel)->ptx, ".target sm_80"));
  close_world(&w);
  expect_nothing_left("sm_86");
}

Test(cuda, too_little_memory_says_what_was_asked_and_what_is_free) {
  wb_device *device;
  void *memory;
  wb_error error = {0};
  set("MEMORY", "1048576");
  cr_assert_eq(wb_device_open("cuda", &device, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_allocate(device, 4000000, &memory, &error), WB_ERROR_MEMORY);
  cr_expect_not_null(strstr(error.text, "4000000 bytes"), "%s", error.text);
  cr_expect_not_null(strstr(error.text, "of 1048576 are free"), "%s", error.text);
  cr_assert_eq(wb_device_allocate(device, 4000, &memory, &error), WB_OK, "it goes on");
  wb_device_free(device, memory);
  wb_device_close(device);
  expect_nothing_left("memory");
}

Test(cuda, a_failed_launch_names_the_call_and_the_device) {
  world w;
  wb_error error = {0};
  set("FAULT_LAUNCH", "1=700");
  cr_assert_eq(use_all(&w, &error), WB_ERROR_DEVICE);
  cr_expect_not_null(strstr(error.text, "device cuda:0: cuda"), "%s", error.text);
  cr_expect_not_null(strstr(error.text, "cudaErrorIllegalAddress"), "%s", error.text);
  close_world(&w);
}

/* Each call of the runtime fails once, the first, second and third time it is made. */
Test(cuda, every_call_that_fails_is_an_error_and_leaves_nothing) {
  static const char *const calls[] = {
#define X(name, parameters) "cuda" #name,
      WB_CUDA_FUNCTIONS(X)
#undef X
  };
  static const char *const harmless[] = {
      "cudaFree",          "cudaFreeHost",         "cudaStreamDestroy", "cudaEventDestroy",
      "cudaLibraryUnload", "cudaGraphExecDestroy", "cudaGraphDestroy",  "cudaGetLastError",
  };
  int errors = 0;
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    bool frees = false;
    for (size_t k = 0; k < sizeof harmless / sizeof harmless[0]; k++) {
      frees = frees || strcmp(calls[i], harmless[k]) == 0;
    }
    if (frees) continue; /* the emulator keeps what it says it could not free */
    for (int time = 1; time <= 3; time++) {
      char setting[128];
      world w;
      wb_error error = {0};
      snprintf(setting, sizeof setting, "%s:%d=999", calls[i], time);
      set("FAIL", setting);
      if (use_all(&w, &error) != WB_OK) {
        errors++;
        cr_expect_not_null(strstr(error.text, calls[i]), "%s: \"%s\"", setting, error.text);
        cr_expect_not_null(strstr(error.text, "cudaErrorUnknown"), "%s: \"%s\"", setting,
                           error.text);
      }
      close_world(&w);
      expect_nothing_left(setting);
    }
  }
  cr_expect_geq(errors, 30);
}

Test(cuda, a_broken_promise_is_reported_with_its_place) {
  world w;
  wb_error error = {0};
  cr_assert_eq(open_world(&w, true, true, &error), WB_OK, "%s", error.text);
  cr_assert_eq(launch(&w, 1, &error), WB_ERROR_INTERNAL);
  cr_expect_not_null(strstr(error.text, "test_device_cuda.c:"), "%s", error.text);
  cr_expect_not_null(strstr(error.text, "rows"), "%s", error.text);
  close_world(&w);
  expect_nothing_left("promise");
}

Test(cuda, an_access_outside_of_memory_is_the_devices_error) {
  world w;
  wb_error error = {0};
  cr_assert_eq(open_world(&w, true, false, &error), WB_OK, "%s", error.text);
  wb_status status = launch(&w, 1, &error);
  if (status == WB_OK) status = wb_device_wait(w.device, &error);
  cr_assert_eq(status, WB_ERROR_DEVICE, "%s", error.text);
  cr_expect_neq(strlen(wb_emulator_message()), 0);
  close_world(&w);
}

Test(cuda, a_capture_takes_only_what_a_graph_can_hold) {
  world w;
  wb_error error = {0};
  int32_t word = 0;
  void *memory;
  cr_assert_eq(open_world(&w, false, false, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_capture_end(w.device, &w.graph, &error), WB_ERROR_STATE);
  cr_assert_eq(wb_device_capture_begin(w.device, &error), WB_OK, "%s", error.text);
  cr_expect_eq(wb_device_capture_begin(w.device, &error), WB_ERROR_STATE);
  cr_expect_eq(wb_device_read(w.device, &word, w.rows, 4, &error), WB_ERROR_STATE);
  cr_expect_eq(wb_device_write(w.device, w.rows, &word, 4, &error), WB_ERROR_STATE);
  cr_expect_eq(wb_device_wait(w.device, &error), WB_ERROR_STATE);
  cr_expect_eq(wb_device_allocate(w.device, 4, &memory, &error), WB_ERROR_STATE);
  cr_expect_not_null(strstr(error.text, "captured"), "%s", error.text);
  cr_assert_eq(wb_device_fill(w.device, w.rows, 1, BOOKS * WORDS * 4, &error), WB_OK);
  cr_assert_eq(wb_device_capture_end(w.device, &w.graph, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_read(w.device, &word, w.rows, 4, &error), WB_OK);
  cr_expect_eq(word, 0, "nothing was done yet");
  cr_assert_eq(wb_graph_launch(w.graph, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_device_read(w.device, &word, w.rows, 4, &error), WB_OK);
  cr_expect_eq(word, 0x01010101);
  close_world(&w);
  expect_nothing_left("capture");
}

Test(cuda, a_device_may_close_in_the_middle_of_a_capture) {
  world w;
  wb_error error = {0};
  cr_assert_eq(open_world(&w, false, false, &error), WB_OK, "%s", error.text);
  wb_device_free(w.device, w.rows);
  wb_device_free(w.device, w.slabs);
  cr_assert_eq(wb_device_capture_begin(w.device, &error), WB_OK, "%s", error.text);
  cr_assert_eq(launch(&w, 1, &error), WB_OK, "%s", error.text);
  w.rows = w.slabs = NULL;
  close_world(&w);
  expect_nothing_left("unfinished");
}

/* The CPU keeps the same promises with a list of its own. */
Test(cuda, the_cpu_keeps_graphs_and_events_alike) {
  wb_device *device;
  wb_graph *graph;
  wb_event *first, *second;
  wb_error error = {0};
  void *memory, *copy;
  double seconds = -1;
  int32_t word = 3;
  cr_assert_eq(wb_device_open("cpu", &device, &error), WB_OK);
  cr_assert_eq(wb_device_allocate(device, 8, &memory, &error), WB_OK);
  cr_assert_eq(wb_device_allocate(device, 8, &copy, &error), WB_OK);
  cr_assert_eq(wb_device_capture_begin(device, &error), WB_OK);
  cr_assert_eq(wb_device_fill(device, memory, 2, 8, &error), WB_OK);
  cr_assert_eq(wb_device_copy(device, copy, memory, 8, &error), WB_OK);
  cr_expect_eq(wb_device_read(device, &word, copy, 4, &error), WB_ERROR_STATE);
  cr_assert_eq(wb_device_capture_end(device, &graph, &error), WB_OK);
  cr_assert_eq(wb_device_read(device, &word, copy, 4, &error), WB_OK);
  cr_expect_eq(word, 0);
  cr_assert_eq(wb_event_new(device, &first, &error), WB_OK);
  cr_assert_eq(wb_event_new(device, &second, &error), WB_OK);
  cr_expect_eq(wb_event_seconds(first, second, &seconds, &error), WB_ERROR_STATE);
  cr_assert_eq(wb_event_record(first, &error), WB_OK);
  cr_assert_eq(wb_graph_launch(graph, &error), WB_OK);
  cr_assert_eq(wb_event_record(second, &error), WB_OK);
  cr_assert_eq(wb_event_seconds(first, second, &seconds, &error), WB_OK);
  cr_expect_geq(seconds, 0);
  cr_assert_eq(wb_device_read(device, &word, copy, 4, &error), WB_OK);
  cr_expect_eq(word, 0x02020202);
  cr_expect_eq(wb_device_use_stream(device, &word, &error), WB_ERROR_STATE);
  wb_event_free(first);
  wb_event_free(second);
  wb_graph_free(graph);
  wb_device_free(device, memory);
  wb_device_free(device, copy);
  wb_device_close(device);
}

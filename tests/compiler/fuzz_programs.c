/* fuzz_programs --programs N --seed S [--cpu NAME] [--seconds T] [--size K] [--ptx 1]
 *
 * Random programs in the interpreter and as machine code, every byte of memory compared. Each program
 * runs as this machine's best code; every eighth also for the other CPU levels, with checks, and
 * without passes (--cpu names one CPU for all instead). With --ptx 1 each also runs as PTX on the
 * emulator that WB_CUDART names, its slab in global, in shared or in both memories, optimised or not,
 * with checks or without, lanes in step or one at a time. Prints its seed; stops at the first
 * difference, shrinks the program and prints it. Exit status 0: no difference, 1: one was found, 2:
 * wrong use. */
#include "compiler/kernel.h"
#include "tests/compiler/gpu.h"
#include "tests/compiler/progen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BUFFERS_MAX = 64 };

typedef struct settings {
  int64_t programs, seed, seconds, size, ptx;
  const char *cpu;
} settings;

typedef struct way {
  const char *name;
  wb_kernel_options options;
  const char *mode; /* of the emulator; NULL: not on a GPU */
} way;

static const way ways[] = {
    {"native", {.cpu = "native"}, NULL},
    {"native with checks", {.cpu = "native", .check = true}, NULL},
    {"native without passes", {.cpu = "native", .no_passes = true}, NULL},
    {"native without fma", {.cpu = "native", .features = "-fma"}, NULL},
    {"x86-64-v3", {.cpu = "x86-64-v3"}, NULL},
    {"x86-64-v2", {.cpu = "x86-64-v2"}, NULL},
    {"x86-64", {.cpu = "x86-64"}, NULL},
    {"x86-64 without passes, with checks",
     {.cpu = "x86-64", .no_passes = true, .check = true},
     NULL},
};
enum { WAYS = sizeof ways / sizeof *ways };

/* taken in turn */
static const way gpu_ways[] = {
    {"PTX", {0}, "warp"},
    {"PTX, shared", {.placement = WB_PLACEMENT_SHARED}, "warp"},
    {"PTX, lanes", {.placement = WB_PLACEMENT_SHARED}, "lanes:1"},
    {"PTX, global, lanes", {.placement = WB_PLACEMENT_GLOBAL}, "lanes:2"},
    {"PTX, split", {.placement = WB_PLACEMENT_SPLIT, .warps = 1}, "warp"},
    {"PTX, global with checks", {.placement = WB_PLACEMENT_GLOBAL, .check = true}, "warp"},
    {"PTX, shared without passes, with checks",
     {.placement = WB_PLACEMENT_SHARED, .no_passes = true, .check = true},
     "warp"},
    {"PTX without passes, lanes", {.no_passes = true, .warps = 3}, "lanes:3"},
};
enum { GPU_WAYS = sizeof gpu_ways / sizeof *gpu_ways };

typedef struct verdict {
  way how;
  bool skipped; /* this machine cannot run the code */
  char text[WB_ERROR_TEXT_BYTES];
} verdict;

/* Memory after the compiled program; NULL with a text if it cannot be run. A machine without the
 * level's instructions has nothing to compare: the kernel says it is unavailable. */
static unsigned char *run_compiled(const progen_case *c, verdict *v) {
  wb_error error = {0};
  wb_kernel *kernel = NULL;
  wb_buffer_argument buffers[BUFFERS_MAX];
  wb_kernel_arguments arguments;
  unsigned char *memory = progen_memory(c);
  wb_status status = wb_kernel_compile(NULL, c->program, &v->how.options, &kernel, NULL, &error);
  if (status == WB_OK && memory != NULL) {
    progen_arguments(c, memory, buffers, &arguments);
    status = wb_kernel_run(kernel, &arguments, 0, c->books, &error);
  }
  wb_kernel_release(kernel);
  if (status == WB_OK) return memory;
  v->skipped = status == WB_ERROR_UNAVAILABLE;
  snprintf(v->text, sizeof v->text, "%s", error.text);
  free(memory);
  return NULL;
}

/* The same on the emulated GPU. Each program gets a device of its own, so that kernels do not pile up. */
static unsigned char *run_on_gpu(const progen_case *c, verdict *v) {
  wb_error error = {0};
  wb_kernel *kernel = NULL;
  wb_buffer_argument buffers[BUFFERS_MAX];
  wb_kernel_arguments arguments;
  unsigned char *memory = progen_memory(c);
  (void)gpu_set("MODE", v->how.mode);
  wb_device *device = gpu_open();
  wb_status status = device != NULL ? WB_OK : WB_ERROR_DEVICE;
  if (status == WB_OK) {
    status = wb_device_compile(device, c->program, &v->how.options, &kernel, NULL, &error);
  }
  if (status == WB_OK && memory != NULL) {
    progen_arguments(c, memory, buffers, &arguments);
    status = gpu_run(device, kernel, &arguments, c->books, &error);
  }
  wb_kernel_release(kernel);
  wb_device_close(device);
  if (status == WB_OK) return memory;
  snprintf(v->text, sizeof v->text, "%.400s (%.500s)", error.text, gpu_message());
  gpu_reset();
  free(memory);
  return NULL;
}

static bool differs(const progen_case *c, void *context) {
  verdict *v = context;
  wb_error error = {0};
  unsigned char *expected = progen_memory(c);
  if (expected == NULL || progen_interpret(c, NULL, expected, &error) != WB_OK) {
    snprintf(v->text, sizeof v->text, "interpreter: %.400s", error.text);
    free(expected);
    return true;
  }
  unsigned char *given = v->how.mode != NULL ? run_on_gpu(c, v) : run_compiled(c, v);
  bool equal = given != NULL && progen_equal(c, expected, given, v->text, sizeof v->text);
  free(expected);
  free(given);
  return !equal && !v->skipped;
}

static void report(const progen_case *c, const settings *s, verdict *v) {
  fprintf(stderr, "seed %" PRIu64 ", %s: %s\nshrinking ...\n", c->seed, v->how.name, v->text);
  progen_case *small = progen_shrink(c, (int32_t)s->size, differs, v);
  char *text = NULL;
  if (small != NULL && differs(small, v) &&
      wb_program_text(small->program, false, &text, NULL) == WB_OK) {
    fprintf(stderr, "%s\n%s\nchoices:\n", v->text, text);
    progen_print_choices(small, stderr);
  }
  free(text);
  progen_free(small);
}

/* Compares one program in every way that its number asks for. */
static bool check(const progen_case *c, const settings *s, int64_t number,
                  int64_t runs[WAYS + GPU_WAYS]) {
  int64_t end = number % 8 == 0 ? WAYS : 1;
  for (int64_t w = 0; w < end; w++) {
    verdict v = {.how = ways[w]};
    if (s->cpu != NULL) v.how = (way){s->cpu, {.cpu = s->cpu}, NULL};
    if (differs(c, &v)) {
      report(c, s, &v);
      return false;
    }
    runs[w] += !v.skipped;
    if (s->cpu != NULL) break;
  }
  if (s->ptx == 0) return true;
  uint64_t turn = c->seed % GPU_WAYS;
  verdict v = {.how = gpu_ways[turn]};
  if (differs(c, &v)) {
    report(c, s, &v);
    return false;
  }
  runs[WAYS + turn]++;
  return true;
}

static int fuzz(const settings *s) {
  int64_t runs[WAYS + GPU_WAYS] = {0}, done = 0;
  const time_t start = time(NULL);
  printf("fuzz_programs --programs %" PRId64 " --seed %" PRId64 " --size %" PRId64 "\n",
         s->programs, s->seed, s->size);
  fflush(stdout);
  for (; done < s->programs; done++) {
    if (s->seconds > 0 && time(NULL) - start >= s->seconds) break;
    wb_error error = {0};
    progen_case *c = progen_new((uint64_t)(s->seed + done), (int32_t)s->size, &error);
    if (c == NULL) {
      fprintf(stderr, "seed %" PRId64 ": no program: %s\n", s->seed + done, error.text);
      return 1;
    }
    bool same = check(c, s, done, runs);
    progen_free(c);
    if (!same) return 1;
  }
  printf("%" PRId64 " programs, 0 differences; runs:", done);
  for (int w = 0; w < WAYS; w++) {
    if (runs[w] > 0) printf(" %s %" PRId64 ";", s->cpu ? s->cpu : ways[w].name, runs[w]);
  }
  for (int w = 0; w < GPU_WAYS; w++) {
    if (runs[WAYS + w] > 0) printf(" %s %" PRId64 ";", gpu_ways[w].name, runs[WAYS + w]);
  }
  printf("\n");
  if (runs[0] == done && done > 0) return 0;
  fprintf(stderr, "%" PRId64 " of %" PRId64 " programs could be run\n", runs[0], done);
  return 1;
}

/* A whole number, -1 for anything else. */
static int64_t number_of(const char *text) {
  char *end = NULL;
  long long value = strtoll(text, &end, 10);
  return end != text && *end == 0 ? value : -1;
}

static bool parse(int argc, char **argv, settings *s) {
  struct {
    const char *name;
    int64_t *value;
  } numbers[] = {{"--programs", &s->programs},
                 {"--seed", &s->seed},
                 {"--seconds", &s->seconds},
                 {"--size", &s->size},
                 {"--ptx", &s->ptx}};
  for (int i = 1; i + 1 < argc; i += 2) {
    bool known = strcmp(argv[i], "--cpu") == 0;
    if (known) s->cpu = argv[i + 1];
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
      if (strcmp(argv[i], numbers[k].name) != 0) continue;
      *numbers[k].value = number_of(argv[i + 1]);
      known = true;
    }
    if (!known) return false;
  }
  return argc % 2 == 1 && s->programs > 0 && s->seed >= 0 && s->seconds >= 0 && s->size > 0 &&
         s->size <= 10000;
}

int main(int argc, char **argv) {
  settings s = {.programs = 1000, .seed = 1, .size = 40};
  if (!parse(argc, argv, &s)) {
    fprintf(stderr, "usage: fuzz_programs [--programs N] [--seed S] [--cpu NAME] [--seconds T] "
                    "[--size K] [--ptx 1]\n");
    return 2;
  }
  return fuzz(&s);
}

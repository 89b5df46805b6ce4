/* bench_gpu: correctness and throughput of the kernels on a GPU. See --help. */
#include "gpu.h"

#include "cli/ptxas.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_DIFFERENT = 1, EXIT_ERROR = 2, EXIT_NO_GPU = 3, LIST_MOST = 16 };

enum {
  KEY_DEVICE = 0x100,
  KEY_BOOKS,
  KEY_CAPACITIES,
  KEY_MESSAGES,
  KEY_STREAMS,
  KEY_LAUNCHES,
  KEY_SECONDS,
  KEY_THREADS,
  KEY_RANDOM,
  KEY_RANDOM_RECORDS,
  KEY_DAY,
  KEY_DAY_RECORDS,
  KEY_DAY_BOOKS,
  KEY_PREDICTION,
  KEY_PREDICT,
  KEY_JSON,
  KEY_BUILD,
  KEY_ARCH,
  KEY_NO_TABLE,
  KEY_PROBE
};

typedef struct arguments {
  gpu_plan plan;
  const char *day, *build, *arch;
  bool no_table, probe;
} arguments;

static const struct argp_option options[] = {
    {"device", KEY_DEVICE, "NAME", 0, "default cuda", 1},
    {"threads", KEY_THREADS, "T", 0, "of the CPU device and the ladder; default all", 1},
    {"capacities", KEY_CAPACITIES, "N,..", 0, "default 128,64,256,1024", 1},
    {"books", KEY_BOOKS, "B,..", 0, "default 1,256,1024,4096,16384,65536", 1},
    {"messages", KEY_MESSAGES, "M,..", 0, "of a launch, per book; default 100,1000,10000", 1},
    {"streams", KEY_STREAMS, "S", 0, "shared by all books; default and most 64", 1},
    {"launches", KEY_LAUNCHES, "L", 0, "timed, after one that is not; default 3", 1},
    {"seconds", KEY_SECONDS, "T", 0,
     "cells of the table that would end later are left out; default 300", 1},
    {"no-table", KEY_NO_TABLE, NULL, 0, "correctness only", 1},
    {"probe", KEY_PROBE, NULL, 0, "only say what GPU is here", 1},
    {"json", KEY_JSON, "FILE", 0, "write the table as JSON too", 1},
    {"random", KEY_RANDOM, "N", 0, "configurations of random records; default 24", 2},
    {"random-records", KEY_RANDOM_RECORDS, "N", 0, "of each of 32 books; default 4000", 2},
    {"day", KEY_DAY, "FILE", 0, "a day packed by gpu_pack_day", 2},
    {"day-records", KEY_DAY_RECORDS, "N", 0, "at most; default all", 2},
    {"day-books", KEY_DAY_BOOKS, "N", 0, "that run it unwatched; default 256", 2},
    {"prediction", KEY_PREDICTION, "FILE", 0, "the emulator's costs, to be shown beside", 3},
    {"predict", KEY_PREDICT, "FILE", 0, "write them, with the emulator behind $WB_CUDART", 3},
    {"build", KEY_BUILD, "FOLDER", 0, "only build a bundle of all kernels that a run needs", 4},
    {"arch", KEY_ARCH, "ARCH,..", 0, "of --build; default sm_90,sm_80,x86-64-v3,x86-64-v4", 4},
    {0},
};

static int64_t number(const struct argp_state *state, const char *text, int64_t least,
                      int64_t most) {
  char *end;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || errno != 0 || value < least || value > most) {
    argp_error(state, "expected a number from %" PRId64 " to %" PRId64 ", got \"%s\"", least, most,
               text);
  }
  return value;
}

static int32_t list(const struct argp_state *state, const char *text, int64_t most,
                    int64_t values[LIST_MOST]) {
  int32_t count = 0;
  while (*text != '\0') {
    char word[24];
    size_t length = strcspn(text, ",");
    if (count == LIST_MOST || length >= sizeof word) argp_error(state, "a list is too long");
    snprintf(word, sizeof word, "%.*s", (int)length, text);
    values[count++] = number(state, word, 1, most);
    text += length + (text[length] == ',');
  }
  if (count == 0) argp_error(state, "a list is empty");
  return count;
}

static void set_capacities(const struct argp_state *state, gpu_plan *plan, const char *text) {
  int64_t values[LIST_MOST];
  plan->capacity_counts = list(state, text, WB_BOOK_CAPACITY_MAX, values);
  for (int32_t i = 0; i < plan->capacity_counts; i++) plan->capacities[i] = (int32_t)values[i];
}

static error_t parse_plan(int key, char *text, struct argp_state *state, gpu_plan *p) {
  switch (key) {
  case KEY_DEVICE: p->device = text; return 0;
  case KEY_THREADS: p->threads = (int32_t)number(state, text, 1, 1024); return 0;
  case KEY_CAPACITIES: set_capacities(state, p, text); return 0;
  case KEY_BOOKS: p->book_counts = list(state, text, 1 << 22, p->books); return 0;
  case KEY_MESSAGES: p->message_counts = list(state, text, 1000000, p->messages); return 0;
  case KEY_STREAMS: p->streams = (int32_t)number(state, text, 1, GPU_STREAMS); return 0;
  case KEY_LAUNCHES: p->launches = (int32_t)number(state, text, 1, 64); return 0;
  case KEY_SECONDS: p->seconds = (double)number(state, text, 1, 1000000); return 0;
  case KEY_JSON: p->json = text; return 0;
  case KEY_RANDOM: p->random_configs = (int32_t)number(state, text, 0, 1000); return 0;
  case KEY_RANDOM_RECORDS: p->random_records = number(state, text, 8, 1000000); return 0;
  case KEY_DAY_RECORDS: p->day_records = number(state, text, 1, INT32_MAX); return 0;
  case KEY_DAY_BOOKS: p->day_books = (int32_t)number(state, text, 1, 1 << 20); return 0;
  case KEY_PREDICTION: p->predict_from = text; return 0;
  case KEY_PREDICT: p->predict_to = text; return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static error_t parse_option(int key, char *text, struct argp_state *state) {
  arguments *line = state->input;
  switch (key) {
  case KEY_DAY: line->day = text; return 0;
  case KEY_BUILD: line->build = text; return 0;
  case KEY_ARCH: line->arch = text; return 0;
  case KEY_NO_TABLE: line->no_table = true; return 0;
  case KEY_PROBE: line->probe = true; return 0;
  default: return parse_plan(key, text, state, &line->plan);
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .doc = "Checks the kernels on a GPU against the CPU reference and measures them.\v"
           "Exit status: 0 if all is equal, 1 if anything differs, 2 if something could not be "
           "done, 3 if there is no GPU.",
};

static void build(const arguments *line, const gpu_day *day) {
  char path[PTXAS_PATH_BYTES];
  bool found = ptxas_find("WB_PTXAS", "ptxas", path);
  gpu_bundle(line->build, line->arch, found ? path : NULL, day, line->plan.random_configs);
}

static int run(const arguments *line, const gpu_day *day) {
  wb_device *device;
  wb_device_info info;
  wb_error error;
  if (wb_device_open(line->plan.device, &device, &error) != WB_OK) {
    fprintf(stderr, "bench_gpu: no GPU here to measure: %s\n", error.text);
    return EXIT_NO_GPU;
  }
  wb_device_describe(device, &info);
  printf("%s: %s, %.2f GHz\n", info.name, info.description, 1e-6 * info.clock_khz);
  if (line->probe) {
    wb_device_close(device);
    return 0;
  }
  int64_t differences = 0;
  if (day != NULL) differences += gpu_check_day(&line->plan, device, day);
  if (line->plan.random_configs > 0) differences += gpu_check_random(&line->plan, device);
  if (!line->no_table) differences += gpu_table(&line->plan, device);
  /* last: should another's library break the device, all else has been said */
  differences += gpu_check_bits(device);
  wb_device_close(device);
  printf("%s\n", differences == 0 ? "all equal" : "DIFFERENT");
  return differences == 0 ? 0 : EXIT_DIFFERENT;
}

int main(int argc, char **argv) {
  argp_err_exit_status = EXIT_ERROR;
  arguments line = {.plan = {.device = "cuda",
                             .books = {1, 256, 1024, 4096, 16384, 65536},
                             .book_counts = 6,
                             .messages = {100, 1000, 10000},
                             .message_counts = 3,
                             .capacities = {128, 64, 256, 1024},
                             .capacity_counts = 4,
                             .streams = GPU_STREAMS,
                             .launches = 3,
                             .start = gpu_now(),
                             .seconds = 300,
                             .random_configs = 24,
                             .random_records = 4000,
                             .day_records = -1,
                             .day_books = 256},
                    .arch = "sm_90,sm_80,x86-64-v3,x86-64-v4"};
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  gpu_day *day = gpu_day_read(line.day);
  if (line.day != NULL && day == NULL) {
    fprintf(stderr, "bench_gpu: %s: cannot be read\n", line.day);
    return EXIT_ERROR;
  }
  int status = 0;
  if (line.build != NULL) {
    build(&line, day);
  } else {
    status = run(&line, day);
  }
  gpu_day_free(day);
  return status;
}

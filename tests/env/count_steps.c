/* count_steps [--day FILE] [--levels L] [--regions N] [--most-instructions I] [--most-cycles C]
 *
 * What a step of an environment costs on an emulated GPU: warp instructions and SM cycles for one
 * environment, by task, with a random policy. Two runs over the same windows, of 100 messages a step and
 * of 1, tell what a message costs and what the rest of a step does. Every run ends with the CPU device's
 * hashes. Exit status 0: they are equal, and a step of 100 messages takes at most --most-instructions and
 * --most-cycles a message where those are given.
 *
 * The emulator stands behind $WB_CUDART, and is asked for its counters by name. */
#include "data/input.h"
#include "env/env.h"
#include "tests/emulator/emulator.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  ENVS = 16,
  FEW = 1,
  MANY = 100,
  STEPS_OF_FEW = 100,
  STEPS_OF_MANY = 20,
  RECORDS = 12000,
  REGIONS_MAX = 4000
};

static const char kernel_name[] = "wb_env_step";

typedef struct emulator {
  bool (*read_counts)(const char *kernel, wb_emulator_counts *counts);
  void (*reset_counts)(void);
  bool (*read_region)(const char *kernel, int32_t index, wb_emulator_region *region);
  const char *(*message)(void);
} emulator;

typedef struct settings {
  const char *day;
  int32_t levels, regions;
  double most_instructions, most_cycles; /* 0: any */
} settings;

typedef struct cost {
  double instructions, cycles, sectors; /* of a step */
  int32_t capacity;
} cost;

static emulator gpu;

static void die(const char *what, const wb_error *error) {
  fprintf(stderr, "count_steps: %s: %s %s\n", what, error->text, gpu.message());
  exit(1);
}

#define MUST(what, call)                     \
  do {                                       \
    wb_error own = {.text = ""};             \
    wb_error *error = &own;                  \
    if ((call) != WB_OK) die((what), error); \
  } while (0)

static void open_emulator(void) {
  const char *name = getenv("WB_CUDART");
  void *library = name != NULL ? dlopen(name, RTLD_NOW) : NULL;
  const char *names[] = {"wb_emulator_read_counts", "wb_emulator_reset_counts",
                         "wb_emulator_read_region", "wb_emulator_message"};
  void **slots[] = {(void **)&gpu.read_counts, (void **)&gpu.reset_counts,
                    (void **)&gpu.read_region, (void **)&gpu.message};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    *slots[i] = library != NULL ? dlsym(library, names[i]) : NULL;
    if (*slots[i] == NULL) {
      fprintf(stderr, "count_steps: WB_CUDART must name the emulator's library\n");
      exit(2);
    }
  }
}

/* ---- a run ---- */

static wb_env *open(const settings *s, const wb_tape *tape, const wb_env_agents *agents,
                    int32_t groups, const char *device, int32_t messages) {
  wb_env_config c = wb_env_config_default();
  c.device = device;
  c.envs = ENVS;
  c.tapes = &tape;
  c.tape_count = 1;
  c.agents = agents;
  c.agent_groups = groups;
  c.levels = s->levels;
  c.messages_per_step = messages;
  c.episode_messages = 1000;
  c.snapshot_messages = 500;
  /* no more of the day than that: the emulated GPU replays it for the snapshots */
  int64_t last = tape->record_count < RECORDS ? tape->record_count : RECORDS;
  c.to_ns = tape->records[last - 1].time_ns + 1;
  wb_env *env;
  MUST("create", wb_env_create(&c, &env, error));
  return env;
}

static void play(wb_env *env, int32_t steps, uint64_t hashes[ENVS]) {
  MUST("reset", wb_env_reset(env, NULL, NULL, error));
  for (int32_t i = 0; i < steps; i++) {
    MUST("act", wb_env_act(env, "random", -1, error));
    MUST("step", wb_env_step(env, error));
  }
  MUST("hashes", wb_env_hashes(env, hashes, error));
}

static int compare_regions(const void *left, const void *right) {
  double a = ((const wb_emulator_region *)left)->sm_cycles;
  double b = ((const wb_emulator_region *)right)->sm_cycles;
  return (a < b) - (a > b);
}

static void print_regions(int32_t most, double steps) {
  static wb_emulator_region list[REGIONS_MAX];
  int32_t count = 0;
  while (count < REGIONS_MAX && gpu.read_region(kernel_name, count, &list[count])) count++;
  qsort(list, (size_t)count, sizeof list[0], compare_regions);
  for (int32_t i = 0; i < most && i < count; i++) {
    printf("    line %6d %-14s %9.2f entries %9.2f instructions %9.2f cycles a step\n",
           list[i].line, list[i].label, (double)list[i].entries / steps,
           (double)list[i].instructions / steps, list[i].sm_cycles / steps);
  }
}

static cost run(const settings *s, const wb_tape *tape, const wb_env_agents *agents, int32_t groups,
                int32_t messages, int32_t steps) {
  uint64_t hashes[2][ENVS];
  wb_env *cpu = open(s, tape, agents, groups, "cpu", messages);
  play(cpu, steps, hashes[0]);
  wb_env_destroy(cpu);
  wb_env *env = open(s, tape, agents, groups, "cuda", messages);
  gpu.reset_counts();
  play(env, steps, hashes[1]);
  wb_emulator_counts counts;
  if (!gpu.read_counts(kernel_name, &counts)) {
    fprintf(stderr, "count_steps: the emulator has not run %s\n", kernel_name);
    exit(1);
  }
  int32_t capacity = wb_env_capacity(env);
  if (s->regions > 0) print_regions(s->regions, (double)steps * ENVS);
  wb_env_destroy(env);
  if (memcmp(hashes[0], hashes[1], sizeof hashes[0]) != 0) {
    fprintf(stderr, "count_steps: the GPU's environments are not the CPU's\n");
    exit(1);
  }
  double all = (double)steps * ENVS;
  return (cost){(double)counts.instructions / all, counts.sm_cycles / all,
                (double)counts.global_sectors / all, capacity};
}

/* ---- tasks ---- */

/* A row of the table; whether it is within the bounds. */
static bool count_task(const settings *s, const wb_tape *tape, const wb_env_agents *agents,
                       int32_t groups, const char *name) {
  cost many = run(s, tape, agents, groups, MANY, STEPS_OF_MANY);
  cost few = run(s, tape, agents, groups, FEW, STEPS_OF_FEW);
  double instructions = (many.instructions - few.instructions) / (MANY - FEW);
  double cycles = (many.cycles - few.cycles) / (MANY - FEW);
  printf("%-26s %5d %9.0f %9.0f %8.0f %9.0f %9.0f %12.1f %9.1f\n", name, many.capacity,
         many.instructions, many.cycles, many.sectors, few.instructions, few.cycles, instructions,
         cycles);
  fflush(stdout);
  bool fine = (s->most_instructions <= 0 || many.instructions <= MANY * s->most_instructions) &&
              (s->most_cycles <= 0 || many.cycles <= MANY * s->most_cycles);
  if (!fine) {
    fprintf(
        stderr,
        "count_steps: %s: expected at most %g instructions and %g cycles a message of a step of "
        "%d, got %g and %g\n",
        name, s->most_instructions, s->most_cycles, MANY, many.instructions / MANY,
        many.cycles / MANY);
  }
  return fine;
}

static bool read_number(const char *text, double *number) {
  char *end = NULL;
  *number = text != NULL ? strtod(text, &end) : -1;
  return text != NULL && end != text && *end == '\0' && *number >= 0 && *number <= 1e6;
}

static settings parse(int argc, char **argv) {
  settings s = {.day = WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv",
                .levels = 10};
  for (int i = 1; i < argc; i += 2) {
    double number = 0;
    bool is_day = strcmp(argv[i], "--day") == 0;
    if (i + 1 == argc || (!is_day && !read_number(argv[i + 1], &number))) {
      fprintf(stderr, "count_steps: %s: expected a value of 0 or more\n", argv[i]);
      exit(2);
    }
    if (is_day) {
      s.day = argv[i + 1];
    } else if (strcmp(argv[i], "--levels") == 0) {
      s.levels = (int32_t)number;
    } else if (strcmp(argv[i], "--regions") == 0) {
      s.regions = (int32_t)number;
    } else if (strcmp(argv[i], "--most-instructions") == 0) {
      s.most_instructions = number;
    } else if (strcmp(argv[i], "--most-cycles") == 0) {
      s.most_cycles = number;
    } else {
      fprintf(stderr,
              "count_steps: expected --day, --levels, --regions, --most-instructions or "
              "--most-cycles, got %s\n",
              argv[i]);
      exit(2);
    }
  }
  return s;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    wb_env_agents agents[2];
    int32_t groups;
  } tasks[] = {
      {"market_making", {{"market_making", NULL, 1}}, 1},
      {"execution", {{"execution", NULL, 1}}, 1},
      {"market_making+execution", {{"market_making", NULL, 1}, {"execution", NULL, 1}}, 2},
  };
  settings s = parse(argc, argv);
  wb_tape *tape = NULL;
  bool fine = true;
  open_emulator();
  MUST(s.day, wb_tape_read(s.day, NULL, &tape, error));
  printf("%-26s %5s %9s %9s %8s %9s %9s %12s %9s\n", "agents", "size", "step(100)", "cycles",
         "sectors", "step(1)", "cycles", "per message", "cycles");
  for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
    fine &= count_task(&s, tape, tasks[i].agents, tasks[i].groups, tasks[i].name);
  }
  wb_tape_free(tape);
  return fine ? 0 : 1;
}

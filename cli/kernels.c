/* warpbook kernels: what the program compiles, and what becomes of it. This file reads the arguments;
 * kernels_each.c finds kernels by name, and each action has a file of its own. */
#include "kernels.h"

#include "kernels/book.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
  KEY_CAPACITY = 0x900,
  KEY_FEATURES,
  KEY_ARCH,
  KEY_IR,
  KEY_LLVM,
  KEY_ASM,
  KEY_PTX,
  KEY_PASS,
  KEY_REPEATS,
  KEY_JSON,
  KEY_ENV,
  KEY_LEVELS,
  KEY_CLOCK,
  KEY_AUTORESET,
  KEY_WINDOWS,
  KEY_OUTPUT = 'o'
};

static const struct {
  const char *name;
  kernels_action *run;
} actions[] = {{"list", kernels_list},
               {"show", kernels_show},
               {"time", kernels_time},
               {"build", kernels_build},
               {"explain", kernels_explain}};

enum { ACTIONS = sizeof actions / sizeof actions[0] };

const char *const kernels_stage_names[KERNELS_STAGES] = {"passes", "translate", "optimise",
                                                         "generate", "load"};

static const struct argp_option options[] = {
    {"capacity", KEY_CAPACITY, "N[,N...]", 0,
     "orders a side: 32, 64, 128, .. up to 8192; default 1024, of build 64,128,1024, of which one "
     "fits most days",
     1},
    {"features", KEY_FEATURES, "WORD[,WORD...]", 0,
     "only variants with these words: replay, flow, checked or all; no-trades, owner-trades or "
     "all-trades; rows; of environments the agents, as execution:discrete",
     1},
    {"arch", KEY_ARCH, "ARCH[,ARCH...]", 0,
     "what to compile for: host (default), host:CPU (as host:x86-64-v3), sm_80 or sm_90", 1},
    {"json", KEY_JSON, NULL, 0, "print JSON", 1},
    {NULL, 0, NULL, 0, "Environments beside the usual ones:", 2},
    {"env", KEY_ENV, "TASKS", 0,
     "kernels of an environment with these agents too, as `warpbook env run' takes them: "
     "TASK[:ACTIONS][*COUNT][+TASK...]; may be given again",
     2},
    {"levels", KEY_LEVELS, "L", 0, "of --env: price levels observed on each side; default 10", 2},
    {"clock", KEY_CLOCK, "CLOCK", 0,
     "of --env: agents decide after so many messages (default), by market time, or after a fill: "
     "messages, time or fill",
     2},
    {"autoreset", KEY_AUTORESET, "MODE", 0, "of --env: same-step (default), next-step or disabled",
     2},
    {"windows", KEY_WINDOWS, "ORDER", 0, "of --env: random (default) or sequential", 2},
    {NULL, 0, NULL, 0, "Texts of show, instead of the summary:", 3},
    {"ir", KEY_IR, NULL, 0, "the program, after passes", 3},
    {"pass", KEY_PASS, "NAME", 0, "with --ir: after this pass; none: as it was built", 3},
    {"llvm", KEY_LLVM, NULL, 0, "LLVM's IR", 3},
    {"asm", KEY_ASM, NULL, 0, "assembly", 3},
    {"ptx", KEY_PTX, NULL, 0, "PTX (--arch sm_90 unless given)", 3},
    {NULL, 0, NULL, 0, "Of time:", 4},
    {"repeats", KEY_REPEATS, "N", 0, "compile each kernel so often; default 5", 4},
    {NULL, 0, NULL, 0, "Of build:", 5},
    {"output", KEY_OUTPUT, "FOLDER", 0, "where the bundle goes", 5},
    {0},
};

/* ---- arguments ---- */

bool kernels_next_word(const char **list, const char *separators, char word[KERNELS_WORD_BYTES]) {
  *list += strspn(*list, separators);
  size_t length = strcspn(*list, separators);
  size_t kept = length < KERNELS_WORD_BYTES ? length : KERNELS_WORD_BYTES - 1;
  memcpy(word, *list, kept);
  word[kept] = '\0';
  *list += length;
  return length > 0;
}

static void parse_capacities(const struct argp_state *state, kernels_arguments *line,
                             const char *list) {
  char word[KERNELS_WORD_BYTES];
  line->capacity_count = 0;
  while (kernels_next_word(&list, ",", word)) {
    int32_t capacity = (int32_t)cli_integer(state, "capacity", word, 1, INT32_MAX);
    if (wb_book_capacity_for(capacity) != capacity) {
      argp_error(state, "--capacity: expected 32, 64, 128, .. up to 8192, got \"%s\"", word);
    }
    if (line->capacity_count == KERNELS_MOST) {
      argp_error(state, "--capacity: expected at most %d of them", KERNELS_MOST);
    }
    line->capacities[line->capacity_count++] = capacity;
  }
  if (line->capacity_count == 0) {
    argp_error(state, "--capacity: expected a number, got \"\"");
  }
}

static void parse_target(const struct argp_state *state, kernels_target *target) {
  const char *name = target->name;
  if (strncmp(name, "host:", 5) == 0 && name[5] != '\0') {
    target->cpu = name + 5;
  } else if (strcmp(name, "sm_80") == 0 || strcmp(name, "sm_90") == 0) {
    target->sm = strcmp(name, "sm_90") == 0 ? 90 : 80;
  } else if (strcmp(name, "host") != 0) {
    argp_error(state, "--arch: expected host, host:CPU, sm_80 or sm_90, got \"%s\"", name);
  }
}

static void parse_targets(const struct argp_state *state, kernels_arguments *line,
                          const char *list) {
  char word[KERNELS_WORD_BYTES];
  line->target_count = 0;
  while (kernels_next_word(&list, ",", word)) {
    if (line->target_count == KERNELS_MOST) {
      argp_error(state, "--arch: expected at most %d of them", KERNELS_MOST);
    }
    kernels_target *target = &line->targets[line->target_count++];
    *target = (kernels_target){0};
    memcpy(target->name, word, sizeof word);
    parse_target(state, target);
  }
  if (line->target_count == 0) {
    argp_error(state, "--arch: expected host, host:CPU, sm_80 or sm_90, got \"\"");
  }
}

static void add_env(const struct argp_state *state, kernels_arguments *line, const char *text) {
  wb_error error;
  if (line->env_count == KERNELS_ENVS_MOST) {
    argp_error(state, "--env: expected at most %d of them", KERNELS_ENVS_MOST);
    return;
  }
  if (cli_agents_parse(&line->envs[line->env_count++], text, &error) != WB_OK) {
    argp_error(state, "--env: %s", error.text);
  }
}

static void parse_of_env(const struct argp_state *state, kernels_arguments *line, int key,
                         const char *text) {
  static const char *const clocks[] = {"messages", "time", "fill", NULL};
  static const char *const modes[] = {"same-step", "next-step", "disabled", NULL};
  static const char *const orders[] = {"random", "sequential", NULL};
  wb_env_config *c = &line->env_config;
  line->of_env = true;
  switch (key) {
  case KEY_LEVELS:
    c->levels = (int32_t)cli_integer(state, "levels", text, 0, WB_ENV_LEVELS_MAX);
    break;
  case KEY_CLOCK: c->clock = (wb_env_clock)cli_choice(state, "clock", text, clocks); break;
  case KEY_AUTORESET:
    c->autoreset = (wb_env_autoreset)cli_choice(state, "autoreset", text, modes);
    break;
  default: c->windows = (wb_env_windows)cli_choice(state, "windows", text, orders);
  }
}

static void parse_text(const struct argp_state *state, kernels_arguments *line, int key) {
  if (line->text != KERNELS_SUMMARY) {
    argp_error(state, "only one of --ir, --llvm, --asm and --ptx can be shown");
  }
  line->text = key == KEY_IR     ? KERNELS_IR
               : key == KEY_LLVM ? KERNELS_LLVM
               : key == KEY_ASM  ? KERNELS_ASSEMBLY
                                 : KERNELS_PTX;
}

static void parse_word(const struct argp_state *state, kernels_arguments *line, char *word) {
  if (line->action == NULL) {
    line->action = word;
  } else if (line->kernel == NULL) {
    line->kernel = strncmp(word, "wb_", 3) == 0 ? word + 3 : word;
  } else {
    argp_error(state, "expected one KERNEL, got \"%s\" too", word);
  }
}

/* What belongs together is looked at when everything is known. */
static void check_line(const struct argp_state *state, kernels_arguments *line) {
  if (line->action == NULL) {
    argp_error(state, "ACTION is missing: expected list, show, time, build or explain");
  }
  bool builds = line->action != NULL && strcmp(line->action, "build") == 0;
  if (line->capacity_count == 0) {
    parse_capacities(state, line, builds ? "64,128,1024" : "1024");
  }
  if (builds && line->output == NULL) {
    argp_error(state, "build: --output is missing");
  }
  if (!builds && line->output != NULL) {
    argp_error(state, "--output belongs to build");
  }
  bool shows = line->action != NULL && strcmp(line->action, "show") == 0;
  if (shows && line->kernel == NULL) {
    argp_error(state, "show: KERNEL is missing");
  }
  if (!shows && (line->text != KERNELS_SUMMARY || line->pass != NULL)) {
    argp_error(state, "--ir, --pass, --llvm, --asm and --ptx belong to show");
  }
  if (line->pass != NULL && line->text != KERNELS_IR) {
    argp_error(state, "--pass goes with --ir");
  }
  if (line->of_env && line->env_count == 0) {
    argp_error(state, "--levels, --clock, --autoreset and --windows go with --env");
  }
  if (line->text == KERNELS_PTX && line->target_count == 0) {
    parse_targets(state, line, "sm_90");
  }
  if (line->target_count == 0) {
    parse_targets(state, line, "host");
  }
  if (line->text == KERNELS_PTX && line->targets[0].sm == 0) {
    argp_error(state, "--ptx: expected --arch sm_80 or sm_90, got \"%s\"", line->targets[0].name);
  }
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  kernels_arguments *line = state->input;
  switch (key) {
  case KEY_CAPACITY: parse_capacities(state, line, argument); return 0;
  case KEY_FEATURES: line->words = argument; return 0;
  case KEY_ARCH: parse_targets(state, line, argument); return 0;
  case KEY_IR:
  case KEY_LLVM:
  case KEY_ASM:
  case KEY_PTX: parse_text(state, line, key); return 0;
  case KEY_PASS: line->pass = argument; return 0;
  case KEY_REPEATS:
    line->repeats = (int32_t)cli_integer(state, "repeats", argument, 1, 1000);
    return 0;
  case KEY_JSON: line->json = true; return 0;
  case KEY_OUTPUT: line->output = argument; return 0;
  case KEY_ENV: add_env(state, line, argument); return 0;
  case KEY_LEVELS:
  case KEY_CLOCK:
  case KEY_AUTORESET:
  case KEY_WINDOWS: parse_of_env(state, line, key, argument); return 0;
  case ARGP_KEY_ARG: parse_word(state, line, argument); return 0;
  case ARGP_KEY_END: check_line(state, line); return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc =
        "list [KERNEL]\nshow KERNEL\ntime [KERNEL]\nbuild [KERNEL] -o FOLDER\nexplain [KERNEL]",
    .doc =
        "Shows what the program compiles.\v"
        "list: the kernels it can ask for (size: orders a side), their operations as built and after "
        "passes, and their memory accesses: those of books, and those of environments with one agent "
        "of each task and action form; --env adds others. show: one of them, by its name in the list (the first "
        "that fits): a summary, or one of its texts. time: how long each stage "
        "of compiling takes. build: compiles all of them into a folder, from which a machine "
        "without LLVM runs when WB_KERNELS names it; with ptxas at hand ($WB_PTXAS, PATH, "
        "/usr/local/cuda/bin) a GPU's machine code too. explain: where the code of each would "
        "come from, and why not from a bundle.\n\n"
        "Where LLVM can be loaded, a run compiles exactly what its day needs, and a bundle gives it a "
        "kernel only if that is the same. Without LLVM, or with WB_LLVM_MODULE=none, a kernel of the "
        "bundle that does more than is needed will do.\n\n"
        "Exit status: 0, or 2 if something could not be done.",
};

int cli_kernels(int argc, char **argv) {
  static kernels_arguments line; /* large */
  line = (kernels_arguments){.repeats = 5, .env_config = wb_env_config_default()};
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  for (int i = 0; i < ACTIONS; i++) {
    if (line.action != NULL && strcmp(actions[i].name, line.action) == 0) {
      return actions[i].run(&line);
    }
  }
  wb_error error;
  (void)WB_FAIL(&error, WB_ERROR_ARGUMENT,
                "kernels: expected list, show, time, build or explain, got \"%.80s\"", line.action);
  return cli_fail(&error);
}

/* ---- targets and stages ---- */

wb_kernel_options kernels_options(const kernels_target *target) {
  return (wb_kernel_options){.cpu = target->cpu, .sm = target->sm};
}

void kernels_stage_times(const wb_kernel_times *times, double seconds[KERNELS_STAGES]) {
  const double all[KERNELS_STAGES] = {times->passes, times->translate, times->optimise,
                                      times->generate, times->load};
  memcpy(seconds, all, sizeof all);
}

/* What the actions of `warpbook kernels` share: their arguments, kernels by name, targets. */
#ifndef WB_CLI_KERNELS_H
#define WB_CLI_KERNELS_H

#include "agents.h"
#include "common.h"

#include "compiler/catalogue.h"
#include "compiler/kernel.h"

enum { KERNELS_MOST = 16, KERNELS_ENVS_MOST = 8, KERNELS_WORD_BYTES = 64 };

/* What code is made for. */
typedef struct kernels_target {
  char name[KERNELS_WORD_BYTES]; /* as given: "host", "host:x86-64-v3", "sm_90" */
  const char *cpu;               /* of a host; NULL: this one. Points into name */
  int32_t sm;                    /* 0: a host */
} kernels_target;

typedef enum kernels_text {
  KERNELS_SUMMARY,
  KERNELS_IR,
  KERNELS_LLVM,
  KERNELS_ASSEMBLY,
  KERNELS_PTX
} kernels_text;

typedef struct kernels_arguments {
  const char *action;
  const char *kernel; /* NULL: all */
  const char *words;  /* that the variant must have, separated by commas or blanks; NULL: none */
  int32_t capacities[KERNELS_MOST];
  int32_t capacity_count;
  kernels_target targets[KERNELS_MOST];
  int32_t target_count; /* at least 1 */
  kernels_text text;
  const char *pass;   /* NULL: the last one */
  const char *output; /* of build: a folder */
  int32_t repeats;
  bool json;
  cli_agents envs[KERNELS_ENVS_MOST]; /* environments beside the usual ones */
  int32_t env_count;
  wb_env_config env_config; /* of these, but for the agents */
  bool of_env;              /* some of it was given */
} kernels_arguments;

/* An action: prints, and returns an exit status. */
typedef int kernels_action(const kernels_arguments *line);
kernels_action kernels_list, kernels_show, kernels_time, kernels_build, kernels_explain;

/* Cuts the next word of a list off, into `word`. */
bool kernels_next_word(const char **list, const char *separators, char word[KERNELS_WORD_BYTES]);

/* Visits what every room can ask for at each capacity, as far as kernel and words pick it, each program
 * once. WB_ERROR_ARGUMENT if that is nothing. */
wb_status kernels_each(const kernels_arguments *line, wb_catalogue_visit *visit, void *context,
                       wb_error *error);

/* How a target's code is asked for. */
wb_kernel_options kernels_options(const kernels_target *target);

/* The stages of a compile, in their order. */
enum { KERNELS_STAGES = 5 };
extern const char *const kernels_stage_names[KERNELS_STAGES];
void kernels_stage_times(const wb_kernel_times *times, double seconds[KERNELS_STAGES]);

#endif

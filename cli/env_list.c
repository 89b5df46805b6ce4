/* warpbook env list, env describe: what environments there are. */
#include "agents.h"
#include "common.h"
#include "env.h"

#include <stdlib.h>
#include <string.h>

/* The agents that a built-in policy plays for. */
static const char *plays(const char *policy) {
  static const char *const some[][2] = {{"twap", "execution"},
                                        {"avellaneda_stoikov", "market_making:quotes"}};
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
    if (strcmp(some[i][0], policy) == 0) return some[i][1];
  }
  return "any task";
}

int env_list(void) {
  for (int32_t i = 0; i < wb_env_task_count(); i++) {
    const wb_env_task *task = wb_env_task_at(i);
    printf("%-15s %s; actions:", task->name, task->meaning);
    for (int32_t s = 0; s < task->action_space_count; s++) {
      printf("%s %s", s == 0 ? "" : ",", task->action_spaces[s].name);
    }
    printf("\n");
  }
  printf("policies:       ");
  for (int32_t i = 0; i < wb_env_policy_count(); i++) {
    printf("%s%s (%s)", i == 0 ? "" : ", ", wb_env_policy_at(i), plays(wb_env_policy_at(i)));
  }
  printf("\n");
  return CLI_OK;
}

static void describe_parameters(const wb_env_parameter *list, int32_t count) {
  for (int32_t i = 0; i < count; i++) {
    const wb_env_parameter *p = &list[i];
    printf("  %-20s %-10g %s%s[%g .. %g]%s\n", p->name, p->value, p->unit,
           p->unit[0] == '\0' ? "" : " ", p->least, p->most,
           p->type == WB_ENV_I32 ? ", whole" : "");
    printf("  %-20s   %s\n", "", p->meaning);
  }
}

static void describe_spaces(const wb_env_task *task) {
  for (int32_t i = 0; i < task->action_space_count; i++) {
    const wb_env_action_space *space = &task->action_spaces[i];
    if (space->choices > 0) {
      printf("  %s: one of 0 .. %d (i32)\n", space->name, space->choices - 1);
    } else {
      printf("  %s: %d numbers (%s)\n", space->name, space->components,
             space->type == WB_ENV_I32 ? "i32" : "f32");
    }
    printf("    %s\n", space->meaning);
    for (int32_t c = 0; space->choices == 0 && c < space->components; c++) {
      printf("    %-12s %g .. %g\n", space->component_names[c], space->least[c], space->most[c]);
    }
  }
}

int env_describe(const char *name, int32_t levels) {
  const wb_env_task *task = wb_env_task_find(name);
  wb_error error;
  if (task == NULL) {
    (void)WB_FAIL(&error, WB_ERROR_ARGUMENT,
                  "env: task: there is none named \"%.60s\": `warpbook env list' names them", name);
    return cli_fail(&error);
  }
  int32_t features, common;
  char **names = wb_env_feature_names(levels, task->slots, &features);
  if (names == NULL) {
    (void)WB_FAIL(&error, WB_ERROR_MEMORY, "env: no memory");
    return cli_fail(&error);
  }
  printf("%s: %s\n\nactions\n", task->name, task->meaning);
  describe_spaces(task);
  printf("\nobservation: %d features (f32) with %d levels\n ", features, levels);
  for (int32_t i = 0, column = 1; i < features; i++) {
    int width = printf(" %s", names[i]);
    column += width;
    if (column > 84 && i + 1 < features) {
      printf("\n ");
      column = 1;
    }
  }
  free(names);
  printf("\n\nparameters of the task (name, default, unit, range)\n");
  describe_parameters(task->parameters, task->parameter_count);
  printf("\nparameters of the environment\n");
  const wb_env_parameter *list = wb_env_common_parameters(&common);
  describe_parameters(list, common);
  printf("\nslots: %d orders of an agent at a time\n", task->slots);
  return CLI_OK;
}

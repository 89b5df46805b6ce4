/* Agents as a user writes them: TASK[:ACTIONS][*COUNT][+TASK...]. */
#ifndef WB_CLI_AGENTS_H
#define WB_CLI_AGENTS_H

#include "common.h"

#include "env/env.h"

enum { AGENTS_TEXT_BYTES = 64 };

typedef struct agents_texts {
  char task[AGENTS_TEXT_BYTES], actions[AGENTS_TEXT_BYTES];
} agents_texts;

typedef struct cli_agents {
  wb_env_agents groups[WB_ENV_GROUPS_MAX]; /* texts point into `texts`: not to be copied */
  agents_texts texts[WB_ENV_GROUPS_MAX];
  int32_t group_count;
} cli_agents;

/* Reads the words into `agents`; whether there are such tasks is for the environment to say. */
wb_status cli_agents_parse(cli_agents *agents, const char *text, wb_error *error);

#endif

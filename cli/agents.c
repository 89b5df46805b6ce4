/* See agents.h. */
#include "agents.h"

#include <stdlib.h>
#include <string.h>

static wb_status parse_count(char *text, wb_env_agents *group, wb_error *error) {
  char *end = NULL;
  long count = strtol(text, &end, 10);
  if (end == text || *end != '\0' || count < 1 || count > WB_ENV_AGENTS_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "env: tasks: expected 1 to %d agents, got \"%s\"",
                   WB_ENV_AGENTS_MAX, text);
  }
  group->count = (int32_t)count;
  return WB_OK;
}

/* "task:actions*count" */
static wb_status parse_group(cli_agents *a, const char *text, size_t length, wb_error *error) {
  char copy[AGENTS_TEXT_BYTES];
  if (a->group_count == WB_ENV_GROUPS_MAX || length == 0 || length >= sizeof copy) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "env: tasks: expected up to %d as TASK[:ACTIONS][*COUNT], got \"%.60s\"",
                   WB_ENV_GROUPS_MAX, text);
  }
  memcpy(copy, text, length);
  copy[length] = '\0';
  agents_texts *texts = &a->texts[a->group_count];
  wb_env_agents *group = &a->groups[a->group_count];
  *group = (wb_env_agents){.task = texts->task, .count = 1};
  char *times = strchr(copy, '*');
  if (times != NULL) {
    WB_TRY(parse_count(times + 1, group, error));
    *times = '\0';
  }
  char *colon = strchr(copy, ':');
  if (colon != NULL) {
    *colon = '\0';
    memcpy(texts->actions, colon + 1, strlen(colon + 1) + 1);
    group->actions = texts->actions;
  }
  memcpy(texts->task, copy, strlen(copy) + 1);
  a->group_count++;
  return WB_OK;
}

wb_status cli_agents_parse(cli_agents *agents, const char *text, wb_error *error) {
  agents->group_count = 0;
  for (const char *at = text;; at++) {
    size_t length = strcspn(at, "+");
    WB_TRY(parse_group(agents, at, length, error));
    at += length;
    if (*at == '\0') return WB_OK;
  }
}

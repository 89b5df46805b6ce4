/* What the actions of `warpbook env` share: the line as it was read. */
#ifndef WB_CLI_ENV_H
#define WB_CLI_ENV_H

#include "env/env.h"

enum { ENV_FILES_MOST = 64, ENV_SETTINGS_MOST = 64, ENV_WORD_BYTES = 64 };

typedef struct env_setting {
  char name[ENV_WORD_BYTES];
  double value;
} env_setting;

typedef struct env_arguments {
  const char *verb, *task; /* task NULL: none given */
  const char *files[ENV_FILES_MOST];
  int32_t file_count;
  env_setting settings[ENV_SETTINGS_MOST];
  int32_t setting_count;
  const char *policies;
  wb_env_config config;
  int64_t steps;
  bool json;
} env_arguments;

/* Each returns the exit status. */
int env_list(void);
int env_describe(const char *name, int32_t levels);
int env_run(env_arguments *line);

#endif

/* The smallest program with an environment: a market maker and a seller in each of 256 markets, acting
 * at random. Copy it, put your policy where the random one is.
 *
 *   cc random_policy.c $(pkg-config --cflags --libs warpbook) -o random_policy
 *   ./random_policy GOOG_2012-06-21_34200000_57600000_message_10.csv */
#include <stdio.h>
#include <warpbook/data/input.h>
#include <warpbook/env/env.h>

static wb_status play(const wb_tape *const *tape, wb_error *error) {
  wb_env_agents agents[] = {{.task = "market_making", .count = 1},
                            {.task = "execution", .count = 1}};
  wb_env_config config = wb_env_config_default();
  config.tapes = tape, config.tape_count = 1;
  config.agents = agents, config.agent_groups = 2;
  config.envs = 256, config.messages_per_step = 20, config.episode_messages = 1000;
  wb_env *env;
  WB_TRY(wb_env_create(&config, &env, error));
  wb_status status = wb_env_reset(env, NULL, NULL, error);
  for (int step = 0; step < 200 && status == WB_OK; step++) {
    status = wb_env_act(env, "random", -1, error); /* or write the buffer "action" yourself */
    if (status == WB_OK) status = wb_env_step(env, error);
  }
  for (int agent = 0; agent < 2 && status == WB_OK; agent++) {
    wb_env_statistic sums[WB_ENV_STATISTICS_MAX];
    int count;
    status = wb_env_take_statistics(env, agent, sums, &count, error);
    printf("agent %d: %.0f episodes, mean return %.3f\n", agent, sums[0].sum,
           sums[1].sum / sums[0].sum);
  }
  wb_env_destroy(env);
  return status;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s INPUT\n", argv[0]);
    return 2;
  }
  wb_error error = {0};
  wb_tape *tape = NULL;
  wb_status status = wb_tape_read(argv[1], NULL, &tape, &error);
  if (status == WB_OK) status = play((const wb_tape *const *)&tape, &error);
  if (status != WB_OK) fprintf(stderr, "%s\n", error.text);
  wb_tape_free(tape);
  return status == WB_OK ? 0 : 1;
}

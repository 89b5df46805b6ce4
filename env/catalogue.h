/* The kernels of environments, for tools and for bundles that are built ahead of time. */
#ifndef WB_ENV_CATALOGUE_H
#define WB_ENV_CATALOGUE_H

#include "../compiler/catalogue.h"
#include "env.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every program that an environment of this configuration asks for on a tape as the reader makes it,
 * with books of these rules and their capacity: for snapshots, resets, steps, states, hashes and the
 * policies that its agents know. Of `config` the agents, levels, clock, autoreset, windows and
 * record_room are looked at; data, device and numbers of messages do not change programs. The step
 * comes first. The words of a variant: the agents as TASK:ACTIONS[*COUNT][+..], levels-N, and what is
 * not the default: clock-time or clock-fill, next-step or no-autoreset, sequential, records. */
WB_API wb_status wb_env_catalogue_of(const wb_env_config *config, const wb_book_rules *rules,
                                     wb_catalogue_visit *visit, void *context, wb_error *error);

/* The usual environments: each task with each of its action spaces, one agent, the default
 * configuration. */
WB_API wb_catalogue wb_env_catalogue;

#ifdef __cplusplus
}
#endif
#endif

/* The batched environment: N markets on a device, each with its agents, its window of history and
 * its random streams. One call steps all of them; nothing goes through the host.
 *
 *   wb_env_config config = wb_env_config_default();
 *   wb_env_agents agents[] = {{.task = "market_making", .count = 1},
 *                             {.task = "execution", .count = 1}};
 *   config.envs = 1024;
 *   config.tapes = &tape, config.tape_count = 1;           // data/input.h reads one
 *   config.agents = agents, config.agent_groups = 2;
 *   config.messages_per_step = 100, config.episode_messages = 5000;
 *   wb_env *env;
 *   WB_TRY(wb_env_create(&config, &env, error));
 *
 *   wb_env_buffer action, observation, reward;
 *   WB_TRY(wb_env_buffer_find(env, "action", &action, error));           // [env][agent][component]
 *   WB_TRY(wb_env_buffer_find(env, "observation", &observation, error)); // [env][agent][feature]
 *   WB_TRY(wb_env_buffer_find(env, "reward", &reward, error));           // [env][agent]
 *
 *   WB_TRY(wb_env_reset(env, NULL, NULL, error));          // all, on windows drawn at random
 *   for (int i = 0; i < 1000; i++) {
 *     act(observation.data, action.data);                  // yours: on the device, like the data
 *     WB_TRY(wb_env_step(env, error));                     // queued; episodes restart by themselves
 *     learn(observation.data, reward.data);
 *   }
 *   wb_env_statistic statistics[WB_ENV_STATISTICS_MAX];
 *   int32_t count;
 *   WB_TRY(wb_env_take_statistics(env, 0, statistics, &count, error));  // agent 0's sums
 *   wb_env_destroy(env);
 *
 * A step is: every agent decides on the book as it stands; the agents' messages arrive, agent by
 * agent in an order that the environment's random stream shuffles; history goes on to the next
 * decision; fills, rewards, ends and observations follow. Agents' orders meet history by the rules of
 * docs/semantics.md. docs/environment.md tells tasks, actions, rewards and every feature.
 *
 * **Same seeds, same bits.** What an environment does is a function of its data, configuration,
 * parameters, actions, of the run's seed, its own seed and the number of its episode: not of the
 * batch's size, its place in it, threads, device, or where runs are cut.
 *
 * **Memory.** Buffers belong to the environment, never move, and live until wb_env_destroy. Pointers
 * called *device* here are memory of the environment's device: on "cpu" that is host memory. A mask
 * is a device array of one byte per environment, not 0 where the call applies; NULL: all.
 *
 * **Threads.** One thread at a time per environment; several environments of one process, on any
 * devices, are independent, and may share the constant part (config.share).
 *
 * Calls that queue work return when it is queued; wb_env_wait waits. Steps and resets allocate
 * nothing and never wait. */
#ifndef WB_ENV_ENV_H
#define WB_ENV_ENV_H

#include "../base/record.h"
#include "../base/rules.h"
#include "../base/status.h"
#include "../compiler/device.h"
#include "../data/tape.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_env wb_env;

enum {
  WB_ENV_ENVS_MAX = 1 << 22,
  WB_ENV_AGENTS_MAX = 32, /* of one book */
  WB_ENV_GROUPS_MAX = 8,
  WB_ENV_LEVELS_MAX = 50,    /* observed, a side */
  WB_ENV_SIZE_MAX = 1000000, /* shares of one order of an agent */
  WB_ENV_STATISTICS_MAX = 40,
  WB_ENV_NAME_BYTES = 48
};

/* ---- configuration ---- */

/* When the agents decide again. */
typedef enum wb_env_clock {
  WB_ENV_CLOCK_MESSAGES = 0, /* after so many source rows */
  WB_ENV_CLOCK_TIME = 1,     /* after so many milliseconds of market time */
  WB_ENV_CLOCK_FILL = 2      /* after a row that filled an agent's order, or so many rows */
} wb_env_clock;

typedef enum wb_env_autoreset {
  WB_ENV_AUTORESET_SAME_STEP =
      0, /* observation is the new episode's, final_obs the old one's end */
  WB_ENV_AUTORESET_NEXT_STEP = 1, /* the step after the end resets, ignoring its action */
  WB_ENV_AUTORESET_DISABLED = 2   /* only wb_env_reset does; a step past the end is an error bit */
} wb_env_autoreset;

/* Which window an episode starts in, where a reset does not name it. */
typedef enum wb_env_windows {
  WB_ENV_WINDOWS_RANDOM = 0,    /* uniform, from the environment's stream */
  WB_ENV_WINDOWS_SEQUENTIAL = 1 /* number (own seed + episode) modulo their count */
} wb_env_windows;

/* A group of agents with the same task. Agents are numbered through all groups in their order. */
typedef struct wb_env_agents {
  const char *task;    /* "execution" or "market_making": see wb_env_task_describe */
  const char *actions; /* how actions are written, a name of the task's; NULL: its first */
  int32_t count;       /* at least 1 */
} wb_env_agents;

typedef struct wb_env_config {
  size_t size;        /* of this struct: set by wb_env_config_default */
  const char *device; /* as wb_device_open: "cpu" */
  int32_t threads;    /* of a device that has them; 0: all */
  int32_t envs;       /* N, 1..WB_ENV_ENVS_MAX */

  /* the constant part. `share`: take it from another environment of the same device, which may be
   * destroyed before this one; the fields from here to `to_ns`, and `splits`, are then ignored. Its
   * capacity was chosen for its own agents: where this one has more, books may be full. */
  const wb_env *share;
  const wb_tape *const *tapes; /* copied to the device: need not outlive the call */
  int32_t tape_count;
  wb_book_rules rules; /* base, tick and promise come from each tape; capacity 0: the smallest that
                          holds every tape's largest side and the agents' orders */
  int32_t snapshot_messages; /* an episode can start at every so many source rows of a tape .. */
  int32_t snapshot_seconds;  /* .. or, if not 0, at every so many seconds */
  int64_t from_ns, to_ns;    /* windows start and end inside; to 0: the day's end */
  bool short_windows;        /* also those that a tape ends before the episode can */
  const uint8_t *splits;     /* of each tape: a number that tells its split; NULL: all 0 */
  int32_t split;             /* windows are drawn from tapes of this split; -1: from all */

  /* agents and their clock */
  const wb_env_agents *agents;
  int32_t agent_groups;
  wb_env_clock clock;
  int32_t messages_per_step; /* defaults of the parameters of the same names */
  int32_t step_ms;
  int32_t episode_messages; /* source rows of an episode; 0: no such end */
  int32_t episode_seconds;  /* market time of an episode; 0: no such end */
  wb_env_autoreset autoreset;
  wb_env_windows windows;
  int32_t levels; /* observed, a side: 0..WB_ENV_LEVELS_MAX */
  uint64_t seed;  /* of the run */

  /* for tests and debugging: keep the last episode's records, in the order in which they acted */
  int32_t record_room; /* records kept per environment; 0: none */
  wb_kernel_options kernel;
} wb_env_config;

/* One environment on the CPU, 100 messages a step, 5,000 an episode, snapshots every 1,000 messages,
 * same-step autoreset, random windows, 10 levels, seed 0; no tapes and no agents. */
WB_API wb_env_config wb_env_config_default(void);

/* ---- life ---- */

/* Opens the device, replays the tapes there once for the snapshots, compiles the kernels. No
 * environment has been reset yet. WB_ERROR_ARGUMENT names the field, WB_ERROR_MEMORY what was asked
 * for, WB_ERROR_LIMIT a tape or a batch that is too large, WB_ERROR_UNAVAILABLE if nothing here can
 * compile. */
WB_API wb_status wb_env_create(const wb_env_config *config, wb_env **env, wb_error *error);
WB_API void wb_env_destroy(wb_env *env); /* NULL is allowed */

/* The text of the last call of this environment that failed; "" if none has. Lives until the next
 * call. */
WB_API const char *wb_env_error(const wb_env *env);

/* Starts new episodes in the masked environments. `mask` and `windows` are device arrays [N] or
 * NULL; windows[e] >= 0 names the window, below 0 lets it be drawn. A window that does not exist sets
 * WB_ENV_ERROR_WINDOW, and that environment stays as it was. */
WB_API wb_status wb_env_reset(wb_env *env, const uint8_t *mask, const int32_t *windows,
                              wb_error *error);

/* One step of every environment, with the actions in "action". WB_ERROR_STATE if nothing has ever
 * been reset; an environment that has not is left alone and gets WB_ENV_ERROR_NOT_RESET. */
WB_API wb_status wb_env_step(wb_env *env, wb_error *error);

/* Queues resets, steps, policies and copies on a caller's stream from now on (a cudaStream_t); NULL: on
 * the device's own again. A step, a policy and a reset can be captured into a CUDA graph, on such a
 * stream or by wb_device_capture_begin; do each once before, so that it is compiled. WB_ERROR_STATE on
 * a device without streams. */
WB_API wb_status wb_env_use_stream(wb_env *env, void *stream, wb_error *error);

/* Waits for everything queued. */
WB_API wb_status wb_env_wait(wb_env *env, wb_error *error);

/* Ends the masked environments' episodes at their next step, with reason WB_ENV_END_USER. */
WB_API wb_status wb_env_truncate(wb_env *env, const uint8_t *mask, wb_error *error);

/* Puts a built-in policy's actions into "action": "none", "random", "twap" or "avellaneda_stoikov".
 * It acts for the agents of one group, or of all that it knows how to play for if `group` is -1;
 * others' actions are left as they are. Queued like a step. The first use compiles it. */
WB_API wb_status wb_env_act(wb_env *env, const char *policy, int32_t group, wb_error *error);

/* ---- buffers ---- */

typedef enum wb_env_role {
  WB_ENV_ROLE_ACTION,      /* yours to write before a step */
  WB_ENV_ROLE_OBSERVATION, /* written by steps and resets */
  WB_ENV_ROLE_OUTCOME,     /* rewards, ends and what belongs to them; written by steps */
  WB_ENV_ROLE_PARAMETER,   /* yours to write at any time */
  WB_ENV_ROLE_STATE        /* seeds and errors; see their calls */
} wb_env_role;

typedef enum wb_env_type { WB_ENV_U8, WB_ENV_I32, WB_ENV_I64, WB_ENV_F32 } wb_env_type;

/* Buffers and their types; N environments, A agents, shapes in C order:
 *
 *   action        i32 or f32 [N][A][C]  both types if groups differ: bits of the group's own type
 *   mask          u8  [N]        } room for the masks and windows that calls take: pass its pointer,
 *   starts        i32 [N]        } or one of your own
 *   observation   f32 [N][A][F]
 *   final_obs     f32 [N][A][F]  of the episode that ended last (same-step autoreset only)
 *   action_mask   u8  [N][A][M]  1: the discrete action may be chosen; all 1 for other actions
 *   reward        f32 [N][A]     scaled as the task says
 *   profit        i64 [N][A]     change of cash + inventory at mid in this step, half price units
 *   fees          i64 [N][A]     paid in this step, millionths of a price unit
 *   terminated    u8  [N][A]     the task is done; stays until the next episode
 *   truncated     u8  [N][A]     the episode ended otherwise
 *   done          u8  [N]        the episode ended in this step
 *   reason        i32 [N]        a wb_env_end
 *   elapsed       i64 [N]        nanoseconds of market time that the step took
 *   messages      i32 [N]        source rows that the step took
 *   window        i32 [N]        of the episode that is going on
 *   episode       i32 [N]        its number, from 0
 *   errors        i32 [N]        WB_ENV_ERROR bits, kept until wb_env_clear_errors
 *   seeds         i64 [N]        own seeds; read by resets
 *   next_episode  i32 [N]        number that the next reset gives its episode; -1: one more
 *   and one f32 or i32 [N] per parameter, named GROUP.NAME, strided. */
typedef struct wb_env_buffer {
  const char *name;
  void *data; /* device */
  wb_env_type type;
  wb_env_role role;
  int32_t dimensions;
  int64_t shape[3];
  int64_t strides[3];          /* elements */
  const char *const *features; /* names of the last dimension's entries, or NULL */
} wb_env_buffer;

WB_API int32_t wb_env_buffer_count(const wb_env *env);
/* Buffer `index` from 0 in the order above; WB_ERROR_ARGUMENT out of range. */
WB_API wb_status wb_env_buffer_at(wb_env *env, int32_t index, wb_env_buffer *buffer,
                                  wb_error *error);
WB_API wb_status wb_env_buffer_find(wb_env *env, const char *name, wb_env_buffer *buffer,
                                    wb_error *error);

/* Copies between a buffer and dense host memory of exactly `bytes` bytes; waits. A convenience for
 * programs that are not on the device; buffers of any role can be read, outcomes not written. */
WB_API wb_status wb_env_read(wb_env *env, const char *name, void *to, size_t bytes,
                             wb_error *error);
WB_API wb_status wb_env_write(wb_env *env, const char *name, const void *from, size_t bytes,
                              wb_error *error);

/* Lets observations go to the caller's memory instead: environment e's go to
 * data + *slot * slot_stride + e * env_stride, in elements, [A][F] dense. `slot`, a device i32 below
 * `slots`, is read by each step, so that a captured graph can fill a rollout; NULL stands for 0. A
 * slot out of range sets WB_ENV_ERROR_SLOT and nothing is written. `data` NULL: back to the buffer
 * "observation". */
WB_API wb_status wb_env_observe_into(wb_env *env, float *data, int64_t env_stride,
                                     int64_t slot_stride, const int32_t *slot, int32_t slots,
                                     wb_error *error);

/* ---- ends and errors ---- */

/*  name       why an episode ended */
#define WB_ENV_ENDS(X)                                                 \
  X(NONE, "it goes on")                                                \
  X(TASK, "every agent's task is done")                                \
  X(WINDOW, "the window of messages or time is over")                  \
  X(DATA, "the tape ended first")                                      \
  X(EMPTY, "a side of the book is empty: there is no price")           \
  X(CAPACITY, "the book was full and an order was refused or evicted") \
  X(LIMIT, "an agent traded more than the sums hold exactly")          \
  X(USER, "wb_env_truncate")

typedef enum wb_env_end {
#define X(name, meaning) WB_ENV_END_##name,
  WB_ENV_ENDS(X)
#undef X
      WB_ENV_END_COUNT
} wb_env_end;

/*  name         what happened in that environment; the others go on */
#define WB_ENV_ERRORS(X)                                                                     \
  X(NOT_RESET, "stepped before its first reset: left alone")                                 \
  X(PAST_END, "stepped past its end with autoreset disabled: left alone")                    \
  X(WINDOW, "reset to a window that does not exist: left alone")                             \
  X(ACTION, "an action out of its range: the agent keeps its orders")                        \
  X(NAN, "an action that is not a number: the agent keeps its orders")                       \
  X(PARAMETER, "a parameter out of its range: its default is used")                          \
  X(STATE, "a state of another version or configuration, or damaged: left alone")            \
  X(SOURCE,                                                                                  \
    "cloned from an environment that does not exist, was never reset or is itself a target") \
  X(SLOT, "a rollout slot out of range: the observation is lost")                            \
  X(RECORDS, "the ring of records is full: the list is cut")                                 \
  X(KERNEL, "a record that the kernel was not made for: a fault of this library")

typedef enum wb_env_error_bit {
#define X(name, meaning) WB_ENV_ERROR_INDEX_##name,
  WB_ENV_ERRORS(X)
#undef X
      WB_ENV_ERROR_COUNT,
#define X(name, meaning) WB_ENV_ERROR_##name = 1 << WB_ENV_ERROR_INDEX_##name,
  WB_ENV_ERRORS(X)
#undef X
} wb_env_error_bit;

WB_API const char *wb_env_end_name(wb_env_end end);  /* "window", or "unknown" */
WB_API const char *wb_env_error_name(int32_t index); /* of bit 1 << index: "not_reset" */
WB_API wb_status wb_env_clear_errors(wb_env *env, wb_error *error);

/* ---- parameters and seeds ---- */

typedef struct wb_env_parameter {
  const char *name, *unit, *meaning;
  wb_env_type type;          /* WB_ENV_I32 or WB_ENV_F32 */
  double value, least, most; /* the default and the range */
} wb_env_parameter;

/* Sets a parameter, "name" or "GROUP.name" with the number of a group (without one: of every group
 * that has it, or of the environment): one value for all environments (count 1) or one each
 * (count N). WB_ERROR_ARGUMENT for an unknown name, a count, a value out of range. Those marked in
 * the manual act from the next reset on, the others from the next step on. */
WB_API wb_status wb_env_set_parameter(wb_env *env, const char *name, const double *values,
                                      int32_t count, wb_error *error);

/* Own seeds [N] for resets to come; the default is 0, 1, .., N - 1. */
WB_API wb_status wb_env_set_seeds(wb_env *env, const int64_t *seeds, wb_error *error);

/* ---- windows ---- */

typedef struct wb_env_window {
  int32_t tape;
  int64_t row;      /* source rows before it */
  int64_t record;   /* records before it */
  int64_t time_ns;  /* of the last record before it, or of the tape's first */
  int64_t messages; /* source rows that follow on the tape */
} wb_env_window;

WB_API int32_t wb_env_window_count(const wb_env *env);
WB_API wb_status wb_env_window_at(const wb_env *env, int32_t index, wb_env_window *window,
                                  wb_error *error);
/* Draws from these windows only, from the next reset on; NULL: all of the split again. Waits. */
WB_API wb_status wb_env_choose_windows(wb_env *env, const int32_t *windows, int32_t count,
                                       wb_error *error);

/* ---- state ---- */

/* Bytes of one environment's state: opaque, with a version and a checksum, a multiple of 64. */
WB_API int64_t wb_env_state_bytes(const wb_env *env);

/* Device to device: writes environment e's state to states + e * wb_env_state_bytes, or takes it from
 * there, for the masked ones. Queued. The same state fits any environment of any batch with the same
 * constant part, agents, clock and levels. One that does not fit sets WB_ENV_ERROR_STATE. Setting
 * also writes the observation. */
WB_API wb_status wb_env_state_get(wb_env *env, const uint8_t *mask, void *states, wb_error *error);
WB_API wb_status wb_env_state_set(wb_env *env, const uint8_t *mask, const void *states,
                                  wb_error *error);

/* Makes the masked environments equal to environment from[e] (a device array [N]) of the same batch,
 * random streams included; own seeds move with them. Queued; also writes the observation. */
WB_API wb_status wb_env_clone(wb_env *env, const uint8_t *mask, const int32_t *from,
                              wb_error *error);

/* hashes[N] in host memory: of everything that decides how an environment goes on. Waits. */
WB_API wb_status wb_env_hashes(wb_env *env, uint64_t *hashes, wb_error *error);

/* ---- statistics ---- */

typedef struct wb_env_statistic {
  const char *name, *unit;
  double sum;    /* over the episodes that ended since they were last taken; divide by "episodes" */
  int64_t exact; /* the integer that `sum` was made from */
} wb_env_statistic;

/* Sums over all environments for one agent, integers added in any order; cleared by reading. Writes
 * at most WB_ENV_STATISTICS_MAX. Waits. */
WB_API wb_status wb_env_take_statistics(wb_env *env, int32_t agent, wb_env_statistic *statistics,
                                        int32_t *count, wb_error *error);

/* ---- accounts, for reading back ---- */

typedef struct wb_env_account {
  int64_t cash;                         /* price units x shares */
  int64_t inventory;                    /* shares */
  int64_t fees;                         /* paid so far, millionths of a price unit */
  int64_t bought, sold;                 /* shares of this episode */
  int64_t volume, notional;             /* of own fills */
  int64_t taken_volume, taken_notional; /* of these, as taker */
  int64_t target;                       /* shares to buy (> 0) or sell (< 0); 0: none */
} wb_env_account;

WB_API wb_status wb_env_read_account(wb_env *env, int32_t env_index, int32_t agent,
                                     wb_env_account *account, wb_error *error);

/* The records that acted in the episode going on (config.record_room), agents' and history's merged:
 * at most `most` are copied, *count says how many there are. The window's own start is the tape's
 * records before wb_env_window.record. Waits. */
WB_API wb_status wb_env_read_records(wb_env *env, int32_t env_index, wb_record *records,
                                     int64_t most, int64_t *count, wb_error *error);

/* Both hashes of the book of docs/semantics.md, and its resting orders; host memory. Waits. */
WB_API wb_status wb_env_book_hashes(wb_env *env, int32_t env_index, uint64_t *book_hash,
                                    uint64_t *state_hash, wb_error *error);
WB_API wb_status wb_env_book_levels(wb_env *env, int32_t env_index, wb_side side, wb_level *levels,
                                    int32_t most, int32_t *count, wb_error *error);
WB_API wb_status wb_env_book_orders(wb_env *env, int32_t env_index, wb_side side, wb_order *orders,
                                    int64_t most, int64_t *count, wb_error *error);

/* ---- what there is ---- */

typedef struct wb_env_action_space {
  const char *name, *meaning;
  wb_env_type type;   /* WB_ENV_I32 or WB_ENV_F32 */
  int32_t components; /* entries of "action" that it uses */
  int32_t choices;    /* discrete: so many, from 0, in component 0; 0: not discrete */
  const char *const *component_names; /* [components] */
  const double *least, *most;         /* [components] */
} wb_env_action_space;

typedef struct wb_env_task {
  const char *name, *meaning;
  int32_t slots; /* orders that an agent may have at a time */
  int32_t action_space_count;
  const wb_env_action_space *action_spaces; /* the first is the default */
  int32_t parameter_count;
  const wb_env_parameter *parameters;
} wb_env_task;

WB_API int32_t wb_env_task_count(void);
WB_API const wb_env_task *wb_env_task_at(int32_t index);      /* NULL out of range */
WB_API const wb_env_task *wb_env_task_find(const char *name); /* NULL: there is none */
/* The environment's own parameters, which no task owns. */
WB_API const wb_env_parameter *wb_env_common_parameters(int32_t *count);
WB_API int32_t wb_env_policy_count(void);
WB_API const char *wb_env_policy_at(int32_t index);

/* Names of the features of one agent's observation with so many levels and slots: [*count]; the array
 * and its texts are freed by one call of free. NULL if memory cannot be had. */
WB_API char **wb_env_feature_names(int32_t levels, int32_t slots, int32_t *count);

/* The message loop and everything around it, compiled; lives as long as the environment. */
WB_API const wb_kernel *wb_env_step_kernel(const wb_env *env);
WB_API double wb_env_compile_seconds(const wb_env *env);
WB_API int64_t wb_env_env_bytes(const wb_env *env); /* device memory of one environment's state */
WB_API int32_t wb_env_agent_count(const wb_env *env);
WB_API int32_t wb_env_capacity(const wb_env *env); /* orders a side */
/* The device that it runs on: what is allocated, copied and launched there keeps its place in the
 * order of steps and resets, without waiting. Belongs to the environment. */
WB_API wb_device *wb_env_device(wb_env *env);
WB_API const char *wb_env_device_name(const wb_env *env);
WB_API int32_t wb_env_threads(const wb_env *env);

#ifdef __cplusplus
}
#endif
#endif

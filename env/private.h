/* What the files of the environment share on the host's side: its struct, the slab's extra arrays, the
 * list of buffers. Not public.
 *
 * One slab per environment: the book's arrays first, the environment's behind them, so that a copy of
 * a slab is a copy of everything that decides how the environment goes on. What users read and write
 * lies outside of slabs, in buffers that never move. */
#ifndef WB_ENV_PRIVATE_H
#define WB_ENV_PRIVATE_H

#include "env/env.h"

#include "base/arena.h"
#include "base/hash.h"
#include "compiler/device.h"
#include "kernels/book.h"

/* ---- the slab's cells ---- */

/* Elements of env[], i64. */
typedef enum env_cell {
  ENV_STATUS,  /* env_status */
  ENV_KEY,     /* of the random streams, of this run and seed */
  ENV_SEED,    /* own seed */
  ENV_EPISODE, /* -1 before the first */
  ENV_STEP,    /* steps of this episode */
  ENV_WINDOW,
  ENV_MESSAGES, /* source rows of this episode */
  ENV_ROW_FLAG, /* a record with these flags ends a source row; 0: every record does */
  ENV_START_NS,
  ENV_NOW_NS,         /* of the last record */
  ENV_STEP_NS,        /* of the last step */
  ENV_STEP_MESSAGES,  /* of the last step */
  ENV_BID,            /* the touch at the last decision, price units above base; the last known */
  ENV_ASK,            /*   where a side is empty */
  ENV_MID2,           /* twice the mid, absolute price units */
  ENV_PAST_MID2,      /* at the decision before */
  ENV_START_MID2,     /* at the episode's start: arrival */
  ENV_VOLUME,         /* of all trades but those of EDGE records, up to the last decision */
  ENV_NOTIONAL,       /*   cumulative with the book's counters */
  ENV_START_VOLUME,   /* the same at the episode's start */
  ENV_START_NOTIONAL, /* */
  ENV_STEP_VOLUME,    /* of the last step alone */
  ENV_STEP_NOTIONAL,  /* */
  ENV_EDGE_VOLUME,    /* of trades that EDGE records caused in this episode */
  ENV_EDGE_NOTIONAL,  /* */
  ENV_TWAP_SUM,       /* sum of (twice the mid - arrival's) x microseconds */
  ENV_TWAP_US,        /* microseconds of it */
  ENV_LAST_PRICE,     /* of the last trade, price units above base; 0 shares: none yet */
  ENV_LAST_SHARES,    /* */
  ENV_LAST_SIDE,      /* 1: the maker was an ask, so a buyer took */
  ENV_REASON,         /* wb_env_end of the episode that has ended */
  ENV_USER_END,       /* wb_env_truncate was called */
  ENV_FULL,           /* BOOK_FULL + EVICTED at the episode's start */
  ENV_FILLS,          /* of agents, in this step */
  ENV_CELLS = 64      /* two rows */
} env_cell;

typedef enum env_status { STATUS_NEW, STATUS_RUNNING, STATUS_ENDED } env_status;

/* Elements of agent[], i64, so many for each agent. */
typedef enum agent_cell {
  AGENT_CASH, /* price units x shares */
  AGENT_INVENTORY,
  AGENT_FEES,   /* millionths of a price unit */
  AGENT_VOLUME, /* of own fills in this episode, both directions */
  AGENT_NOTIONAL,
  AGENT_TAKEN_VOLUME, /* of these, as taker */
  AGENT_TAKEN_NOTIONAL,
  AGENT_FILLS,
  AGENT_LOW, /* the inventory must stay within LOW..HIGH */
  AGENT_HIGH,
  AGENT_TARGET, /* inventory that the task asks for */
  AGENT_DONE,
  AGENT_RETURN,     /* f32 bits: rewards of this episode, summed */
  AGENT_LIQUIDATED, /* shares */
  AGENT_DELAY2,     /* parts of the shortfall, half price units */
  AGENT_SPREAD2,
  AGENT_IMPACT2,
  /* the same sums at the last decision */
  AGENT_PAST_VALUE2, /* 2 x cash + inventory x twice the mid */
  AGENT_PAST_INVENTORY,
  AGENT_PAST_FEES,
  AGENT_PAST_VOLUME,
  AGENT_PAST_NOTIONAL,
  AGENT_PAST_TAKEN_VOLUME,
  AGENT_PAST_TAKEN_NOTIONAL,
  AGENT_CELLS = 32 /* one row */
} agent_cell;

/* Statistics of one agent, i64, in the order in which they are read. name, unit, scale */
#define ENV_STATISTICS(X)                                                                   \
  X(EPISODES, "episodes", "episodes", 1.0)                                                  \
  X(RETURN, "return", "reward", 1.0 / 65536)                                                \
  X(RETURN_SQUARE, "return_square", "reward^2", 1.0 / 65536)                                \
  X(STEPS, "steps", "steps", 1.0)                                                           \
  X(MESSAGES, "messages", "source rows", 1.0)                                               \
  X(PROFIT, "profit", "price units x shares, before fees", 0.5)                             \
  X(FEES, "fees", "price units x shares", 1e-6)                                             \
  X(FILLS, "fills", "fills", 1.0)                                                           \
  X(VOLUME, "volume", "shares", 1.0)                                                        \
  X(TAKEN, "taken_volume", "shares", 1.0)                                                   \
  X(LIQUIDATED, "liquidated", "shares", 1.0)                                                \
  X(LEFT, "left", "shares of the target not reached", 1.0)                                  \
  X(INVENTORY, "final_inventory", "shares, without sign", 1.0)                              \
  X(SHORTFALL, "shortfall", "price units x shares worse than arrival", 0.5)                 \
  X(DELAY, "delay", "of the shortfall: mid at the decision against arrival", 0.5)           \
  X(SPREAD, "spread", "of the shortfall: touch or own quote against mid", 0.5)              \
  X(IMPACT, "impact", "of the shortfall: fills against the touch", 0.5)                     \
  X(AGAINST_TWAP, "against_twap", "price units x shares worse than the mid over time", 0.5) \
  X(AGAINST_VWAP, "against_vwap", "price units x shares worse than others' average", 0.5)   \
  X(END_TASK, "ended_task", "episodes", 1.0)                                                \
  X(END_WINDOW, "ended_window", "episodes", 1.0)                                            \
  X(END_DATA, "ended_data", "episodes", 1.0)                                                \
  X(END_EMPTY, "ended_empty", "episodes", 1.0)                                              \
  X(END_CAPACITY, "ended_capacity", "episodes", 1.0)                                        \
  X(END_LIMIT, "ended_limit", "episodes", 1.0)                                              \
  X(END_USER, "ended_user", "episodes", 1.0)

typedef enum env_statistic {
#define X(name, text, unit, scale) STAT_##name,
  ENV_STATISTICS(X)
#undef X
      STAT_COUNT
} env_statistic;

/* What a slab has behind the book's arrays. A agents of K slots. */
typedef struct env_layout {
  wb_book_layout *book;
  int32_t agents, slots;
  wb_array env;                                         /* [ENV_CELLS] i64 */
  wb_array agent;                                       /* [A][AGENT_CELLS] i64 */
  wb_array slot_side, slot_price, slot_qty, slot_ahead; /* [A][K] i32; qty 0: nothing rests */
  wb_array wish_kind, wish_side, wish_price, wish_qty;  /* [A][K] i32: see wish_kind */
  wb_array outbox;                                      /* [A][2 K] records as 4 i64 */
  wb_array arrival;                                     /* [A] i32: agents in order of arrival */
  int64_t stride;                                       /* bytes from slab to slab */
} env_layout;

wb_status env_layout_make(env_layout *layout, int32_t capacity, int32_t agents, int32_t slots,
                          wb_error *error);
void env_layout_free(env_layout *layout);

/* ---- parameters ---- */

#define ENV_COMMON_PARAMETERS(X)                                                     \
  X(MESSAGES_PER_STEP, "messages_per_step", "source rows", I32, 100, 1, 1e9,         \
    "rows from one decision to the next (clocks messages and fill)")                 \
  X(STEP_MS, "step_ms", "milliseconds", I32, 1000, 1, 86400000,                      \
    "market time from one decision to the next (clock time)")                        \
  X(EPISODE_MESSAGES, "episode_messages", "source rows", I32, 5000, 0, 2e9,          \
    "rows after which an episode ends; 0: no such end")                              \
  X(EPISODE_SECONDS, "episode_seconds", "seconds", I32, 0, 0, 86400,                 \
    "market time after which an episode ends; 0: no such end")                       \
  X(MAKER_FEE, "maker_fee", "millionths of a price unit a share", I32, 0, -1e9, 1e9, \
    "paid for each share filled while resting; negative: a rebate")                  \
  X(TAKER_FEE, "taker_fee", "millionths of a price unit a share", I32, 0, -1e9, 1e9, \
    "paid for each share taken")                                                     \
  X(MAKER_RATE, "maker_rate", "millionths of the notional", I32, 0, -2000, 2000,     \
    "paid on what is filled while resting, on top of the fee a share")               \
  X(TAKER_RATE, "taker_rate", "millionths of the notional", I32, 0, -2000, 2000,     \
    "paid on what is taken, on top of the fee a share")                              \
  X(SIZE_SCALE, "size_scale", "shares", F32, 100, 1e-3, 1e9,                         \
    "sizes are observed as multiples of it")                                         \
  X(PRICE_SCALE, "price_scale", "ticks", F32, 1, 1e-3, 1e9,                          \
    "price differences are observed as multiples of it")

typedef enum env_common_parameter {
#define X(id, name, unit, type, value, least, most, meaning) COMMON_##id,
  ENV_COMMON_PARAMETERS(X)
#undef X
      COMMON_PARAMETERS
} env_common_parameter;

/* ---- tasks ---- */

typedef struct env_task env_task; /* world.h: what a task records */

typedef struct env_group {
  const env_task *task;
  const wb_env_action_space *space;
  int32_t first, count; /* agents */
  int32_t parameters;   /* index of its first parameter */
} env_group;

/* ---- the constant part ---- */

/* Elements of a window's row on the device, i64. */
enum {
  WINDOW_SNAPSHOT,
  WINDOW_TIME,     /* of the last record before it */
  WINDOW_ROW_FLAG, /* see ENV_ROW_FLAG */
  WINDOW_END,      /* record at which an episode must end */
  WINDOW_CELLS
};

typedef struct env_data {
  int32_t references; /* atomic */
  wb_device *device;  /* that the memory came from */
  env_layout layout;  /* of a slab without agents: a book's own, what snapshots are made with */
  wb_book_rules rules;
  wb_book_features features; /* of the tapes */
  int32_t capacity;
  int32_t tape_count;
  wb_hash128 hash; /* of tapes, rules and windows */
  int64_t record_count;
  unsigned char *records; /* device */
  int64_t snapshot_words; /* i64 of one snapshot */
  int32_t window_count;
  wb_env_window *windows;     /* host */
  uint8_t *window_splits;     /* host */
  int64_t *window_ends;       /* host: time at which the data end */
  unsigned char *pool;        /* device: [window_count][snapshot_words] i64 */
  unsigned char *window_rows; /* device: [window_count][WINDOW_CELLS] i64 */
} env_data;

/* `more_orders`: of agents, on one side, where the capacity is chosen here. */
wb_status env_data_make(const wb_env_config *config, int32_t more_orders, env_data **data_out,
                        wb_error *error);
env_data *env_data_retain(env_data *data);
void env_data_release(env_data *data);

/* ---- programs and what they are given ---- */

/* All programs of an environment take the same list of buffers: name, element, kind (SHARED,
 * SHARED_OUT, OWN, OWN_OUT), what a load out of range yields. */
#define ENV_BUFFERS(X)                              \
  X(RECORDS, "records", I64, SHARED, 0)             \
  X(POOL, "pool", I64, SHARED, 0)                   \
  X(WINDOWS, "windows", I64, SHARED, 0)             \
  X(CHOICES, "choices", I32, SHARED, -1)            \
  X(PARAMETERS, "parameters", I32, OWN, 0)          \
  X(SEEDS, "seeds", I64, OWN, 0)                    \
  X(NEXT, "next_episode", I32, OWN_OUT, -1)         \
  X(ACTION, "action", I32, OWN_OUT, 0)              \
  X(OBSERVATION, "observation", F32, SHARED_OUT, 0) \
  X(FINAL, "final_obs", F32, OWN_OUT, 0)            \
  X(MASK, "action_mask", U8, OWN_OUT, 0)            \
  X(REWARD, "reward", F32, OWN_OUT, 0)              \
  X(PROFIT, "profit", I64, OWN_OUT, 0)              \
  X(FEES, "fees", I64, OWN_OUT, 0)                  \
  X(TERMINATED, "terminated", U8, OWN_OUT, 0)       \
  X(TRUNCATED, "truncated", U8, OWN_OUT, 0)         \
  X(DONE, "done", U8, OWN_OUT, 0)                   \
  X(REASON, "reason", I32, OWN_OUT, 0)              \
  X(ELAPSED, "elapsed", I64, OWN_OUT, 0)            \
  X(MESSAGES, "messages", I32, OWN_OUT, 0)          \
  X(WINDOW, "window", I32, OWN_OUT, 0)              \
  X(EPISODE, "episode", I32, OWN_OUT, 0)            \
  X(ERRORS, "errors", I32, OWN_OUT, 0)              \
  X(STATISTICS, "statistics", I64, OWN_OUT, 0)      \
  X(RING, "ring", I64, OWN_OUT, 0)                  \
  X(RING_COUNT, "ring_count", I64, OWN_OUT, 0)      \
  X(CHOSEN, "chosen", U8, OWN, 1)                   \
  X(STARTS, "starts", I32, OWN, -1)                 \
  X(SLOT, "slot", I32, SHARED, 0)

typedef enum env_buffer {
#define X(id, name, element, kind, fill) BUFFER_##id,
  ENV_BUFFERS(X)
#undef X
      BUFFER_COUNT
} env_buffer;

/* And the same run-time scalars, i64 each. */
#define ENV_SCALARS(X)                \
  X(RUN_SEED, "run_seed")             \
  X(CHOICE_COUNT, "choice_count")     \
  X(WINDOW_COUNT, "window_count")     \
  X(ENV_STRIDE, "observation_stride") \
  X(SLOT_STRIDE, "slot_stride")       \
  X(SLOTS, "slots")                   \
  X(RING_ROOM, "ring_room")           \
  X(GROUP, "group")

typedef enum env_scalar {
#define X(id, name) SCALAR_##id,
  ENV_SCALARS(X)
#undef X
      SCALAR_COUNT
} env_scalar;

typedef enum env_kernel {
  KERNEL_STEP,
  KERNEL_RESET,
  KERNEL_OBSERVE,
  KERNEL_TRUNCATE,
  KERNEL_HASH, /* after the book's own hashes, which it finds in "ring" */
  KERNEL_NONE, /* policies, in their public order */
  KERNEL_RANDOM,
  KERNEL_TWAP,
  KERNEL_AVELLANEDA_STOIKOV,
  KERNEL_COUNT
} env_kernel;
enum { POLICY_FIRST = KERNEL_NONE, POLICIES = KERNEL_COUNT - KERNEL_NONE };

/* Copies of slabs: programs of their own, without a slab. */
typedef enum env_copy { COPY_GET, COPY_SET, COPY_CLONE, COPY_COUNT } env_copy;

struct wb_env {
  wb_device *device;
  env_data *data;
  env_layout layout;
  int32_t envs, agents, slots, group_count;
  env_group groups[WB_ENV_GROUPS_MAX];
  int32_t components; /* C */
  int32_t choices;    /* M */
  int32_t features;   /* F */
  int32_t levels;
  int32_t parameters; /* of one environment */
  wb_env_clock clock;
  wb_env_autoreset autoreset;
  wb_env_windows windows;
  wb_book_rules rules;
  wb_book_features history, orders; /* what tapes' and agents' messages may be */
  wb_kernel_options options;
  uint64_t seed;
  int32_t record_room;
  bool was_reset;

  unsigned char *slabs;
  unsigned char *memory[BUFFER_COUNT]; /* device; NULL where the constant part or nobody owns it */
  int64_t lengths[BUFFER_COUNT];       /* elements of one environment, or of all if shared */
  int32_t choice_count;                /* windows that are drawn from */
  int32_t *all_windows;                /* host: those of the split that an episode fits into */
  int32_t all_window_count;
  float *observation; /* where it goes: the own buffer or the caller's */
  int64_t env_stride, slot_stride;
  const int32_t *slot;
  int32_t slot_count;

  wb_kernel *kernels[KERNEL_COUNT];
  wb_kernel *copies[COPY_COUNT];
  wb_kernel *book_hashes;
  double compile_seconds;
  wb_hash128 hash; /* of everything that a state must agree on */

  const wb_env_parameter **descriptions; /* [parameters] */
  char **feature_names;
  char (*names)[WB_ENV_NAME_BYTES]; /* of parameter buffers */
  unsigned char *image;             /* one slab in host memory */
  wb_error last;
};

/* Keeps the error for wb_env_error and gives it to the caller. */
wb_status env_report(wb_env *env, wb_status status, const wb_error *own, wb_error *error);

wb_status env_compile(wb_env *env, env_kernel which, wb_error *error);
wb_status env_launch(wb_env *env, env_kernel which, const uint8_t *mask, const int32_t *starts,
                     wb_error *error);
void env_fill_buffers(const wb_env *env, wb_buffer_argument buffers[BUFFER_COUNT]);
wb_status env_read_slab(wb_env *env, int32_t index, wb_error *error);

/* WB_ERROR_MEMORY, about `field`, if the machine cannot hold so many things of so many bytes. */
wb_status env_check_memory(const wb_device *device, const char *field, int32_t count, int64_t each,
                           wb_error *error);

/* bytes of an element of a buffer */
int64_t env_element_bytes(env_buffer which);

/* ---- the shape: shape.c ---- */

wb_status env_check_range(const char *field, int64_t given, int64_t least, int64_t most,
                          wb_error *error);
/* Whether a configuration can be: all but its data, and these. */
wb_status env_check_agents(const wb_env_config *config, wb_error *error);
wb_status env_check_data(const wb_env_config *config, wb_error *error);

/* What programs are recorded from, in an `env` of zeros: the agents first; then, when rules with a
 * capacity and what the tapes' records may be are known, everything of the books. */
wb_status env_shape_agents(wb_env *env, const wb_env_config *config, wb_error *error);
wb_status env_shape_books(wb_env *env, const wb_book_rules *rules, const wb_book_features *history,
                          wb_error *error);
void env_shape_history(wb_env *env, const wb_book_features *history);
void env_shape_free(wb_env *env);
wb_status env_parameters_list(wb_env *env, wb_error *error);

/* The program of a kernel, as the shape asks for it. */
wb_status env_program(const wb_env *env, env_kernel which, wb_program **out, wb_error *error);

wb_status env_parameters_make(wb_env *env, const wb_env_config *config, wb_error *error);
/* Draws from every window of the split (-1: all) that an episode fits into. */
wb_status env_choose_all_windows(wb_env *env, const wb_env_config *config, wb_error *error);

#endif

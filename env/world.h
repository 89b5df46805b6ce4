/* What the environment's programs are recorded with: the world of one environment, seen from inside.
 * Included last, since it brings in the short names of the kernel language.
 *
 * Every function here records: what it says happens when the kernel runs, for one environment. All
 * sums of money and shares are integers; floats appear only in what leaves for the agents. */
#ifndef WB_ENV_WORLD_H
#define WB_ENV_WORLD_H

#include "env/private.h"

#include "kernels/parts.h"

typedef struct world {
  wb_builder *builder;
  const wb_env *env;
  const env_layout *layout;
  book history, orders; /* one book, seen by history's messages and by the agents' */
  array env_cells, agent_cells, slot_side, slot_price, slot_qty, slot_ahead;
  array wish_kind, wish_side, wish_price, wish_qty, outbox, outbox_words, arrival;
  array buffers[BUFFER_COUNT];
  array action_f32, parameters_f32;
  val scalars[SCALAR_COUNT];
  var reason; /* i32, in a step: why the episode ends */
} world;

/* One agent while it is being recorded for. */
typedef struct agent {
  const env_group *group;
  val index; /* i32 */
  val base;  /* i32: of its cells */
  val first; /* i32: number of its first slot */
} agent;

/* What an agent wants of a slot at a decision. */
typedef enum wish {
  WISH_KEEP,
  WISH_CANCEL,
  WISH_LIMIT,
  WISH_POST_ONLY,
  WISH_IOC,
  WISH_MARKET,
  WISH_KINDS
} wish;

/* A task: what its agents do between a book and a reward. Each function records for one agent. */
struct env_task {
  wb_env_task public;
  /* target, limits of the inventory, own cells: at the start of an episode */
  void (*reset)(world *k, const agent *a);
  /* turns the agent's action into wishes for its slots (all are KEEP before) */
  void (*act)(world *k, const agent *a);
  /* whether the discrete actions may be chosen: writes action_mask from element `at` on; NULL: all */
  void (*mask)(world *k, const agent *a, val at);
  /* f32: of the step that has just been accounted */
  val (*reward)(world *k, const agent *a);
  /* shares to trade at the end of an episode, > 0 to buy */
  val (*liquidate)(world *k, const agent *a);
};

extern const env_task wb_task_execution, wb_task_market_making;
const env_task *env_task_find(const char *name);

/* ---- cells ---- */

val env_get(world *k, env_cell cell); /* i64 */
void env_set(world *k, env_cell cell, val v);
void env_add(world *k, env_cell cell, val v);
agent agent_at(world *k, const env_group *group, val index);
val agent_get(world *k, const agent *a, agent_cell cell); /* i64 */
void agent_set(world *k, const agent *a, agent_cell cell, val v);
void agent_add(world *k, const agent *a, agent_cell cell, val v);
void env_error_bit(world *k, wb_env_error_bit bit);

/* A parameter of the environment, or of an agent's group; out of its range it is its default. */
val common_i32(world *k, env_common_parameter which);
val common_f32(world *k, env_common_parameter which);
val task_i32(world *k, const agent *a, int32_t which);
val task_f32(world *k, const agent *a, int32_t which);

/* Block `n` of one of the episode's random streams. */
enum { STREAM_WINDOW, STREAM_ARRIVAL, STREAM_TASK, STREAM_POLICY = 64 };
wb_random draw(world *k, int32_t stream, val n);
wb_random draw_stream(world *k, val stream, val n);
/* i32 in 0..count-1 from a random word. */
val draw_below(world *k, val word, val count);
/* f32 in [0, 1), of 24 bits. */
val draw_unit(world *k, val word);
val mix64(world *k, val x);

/* ---- opening ---- */

/* Starts a program with slab, buffers and scalars. The caller finishes it. */
wb_status open_world(world *k, const wb_env *env, const char *name, wb_error *error);
/* The variables of the message loop, from the slab and back. */
void open_messages(world *k);
void close_messages(world *k);

/* ---- a step's parts ---- */

/* bool: both sides of the book have a price; then touch and mid are brought up to date. */
val look_at_touch(world *k);
/* Wishes of all agents into the outbox; then the outbox into the book, agent by agent. */
void decide(world *k);
void plan_messages(world *k);
/* `round` of the end: cancels, then orders. */
enum { LIQUIDATION_CANCELS = 1, LIQUIDATION_ORDERS = 2 };
void plan_liquidation(world *k, val round);
void deliver(world *k);
void shuffle_arrival(world *k);
void run_history(world *k);
/* The step's reason to end, in k->reason; agents that have reached their target are done. */
void judge(world *k);
/* Quantities and places of the agents' orders, from the book. */
void look_at_orders(world *k);
/* A wish for slot `i` (index among all slots); price in i64 units above base. */
void wish_for(world *k, val i, val kind, val side, val price, val qty);
/* Prices of an own side: i64 units above base; `sell` i32. */
val near_touch(world *k, val sell);
val far_touch(world *k, val sell);
val passive_mid(world *k, val sell);
val tick_of(world *k); /* i64 */
/* `steps` ticks to the passive side of a price */
val away(world *k, val sell, val price, val steps);
/* The generic action space "slots". */
#define SLOTS_SPACE(slots)                                                                  \
  {                                                                                         \
    "slots", env_slots_meaning, WB_ENV_I32, (slots)*4, 0, env_slots_names, env_slots_least, \
        env_slots_most                                                                      \
  }
extern const char env_slots_meaning[];
extern const char *const env_slots_names[16];
extern const double env_slots_least[16], env_slots_most[16];
void act_by_slots(world *k, const agent *a);
bool acts_by_slots(const agent *a);
/* component `c` of the agent's action */
val action_i32(world *k, const agent *a, int32_t c);
val action_f32(world *k, const agent *a, int32_t c);
/* The component within its range, rounded to the nearest whole number; `good` becomes false if it is
 * out of range or no number, with the error bit set. */
val whole_action(world *k, const agent *a, int32_t c, var good);

/* Money. */
void on_trade(book *k, const message *m, val side, val slot, val maker, val price, val shares);
void account_market(world *k);
/* `bid` and `ask`: the touch that they decided on, i64. */
void account_agents(world *k, val bid, val ask);
void count_episode(world *k);
val value2_of(world *k, const agent *a); /* i64: cash and inventory at mid, half units */

/* Starts an episode in the window that `start` names, or in a drawn one; `started` tells. */
void start_episode(world *k, val start, bool explicit_start, var started);
void copy_book(world *k, val snapshot, bool save);
int64_t snapshot_words(const wb_book_layout *layout);

void observe(world *k);
void copy_final(world *k);
void keep_record(world *k, const val words[4]);

wb_status step_program(const wb_env *env, wb_program **out, wb_error *error);
wb_status reset_program(const wb_env *env, wb_program **out, wb_error *error);
wb_status observe_program(const wb_env *env, wb_program **out, wb_error *error);
wb_status truncate_program(const wb_env *env, wb_program **out, wb_error *error);
wb_status hash_program(const wb_env *env, wb_program **out, wb_error *error);
wb_status policy_program(const wb_env *env, env_kernel which, wb_program **out, wb_error *error);
/* Whether a policy knows how to play for a group. */
bool policy_plays(env_kernel which, const env_group *group);
wb_status save_program(const wb_book_layout *layout, wb_program **out, wb_error *error);
wb_status copy_program(const wb_env *env, env_copy which, wb_program **out, wb_error *error);

/* All agents of the batch, group by group, `body` with `agent a` in scope. */
#define FOR_AGENTS(a)                                                                              \
  for (int32_t env_g = 0; env_g < k->env->group_count; env_g++)                                    \
    FOR (env_i, k->env->groups[env_g].first,                                                       \
         k->env->groups[env_g].first + k->env->groups[env_g].count)                                \
      for (agent a = agent_at(k, &k->env->groups[env_g], env_i), *env_once = &a; env_once != NULL; \
           env_once = NULL)

#endif

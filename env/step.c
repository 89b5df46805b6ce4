/* One step of one environment, and the programs that are made of a step's parts.
 *
 * The messages of agents go through one piece of code twice: first what they decided, then, if the
 * episode ends, the orders that liquidate them. An observation likewise: at the end of an episode it
 * is written, kept as the final one, and written again for the next. So each big part stands in the
 * program once. */
#include "env/world.h"

/* ---- decisions ---- */

static void decide_for(world *k, const agent *a) {
  FOR (j, 0, k->layout->slots) {
    store_in(k->wish_kind, add(a->first, j), (int)WISH_KEEP);
  }
  IF (eq(agent_get(k, a, AGENT_DONE), 0)) {
    a->group->task->act(k, a);
  }
}

void decide(world *k) {
  FOR_AGENTS(a) { decide_for(k, &a); }
}

val action_i32(world *k, const agent *a, int32_t c) {
  return load(k->buffers[BUFFER_ACTION], add(mul(a->index, k->env->components), c));
}

val action_f32(world *k, const agent *a, int32_t c) {
  return load(k->action_f32, add(mul(a->index, k->env->components), c));
}

val whole_action(world *k, const agent *a, int32_t c, var good) {
  const wb_env_action_space *space = a->group->space;
  if (space->type == WB_ENV_I32) {
    val v = action_i32(k, a, c);
    val inside = both(le((int32_t)space->least[c], v), le(v, (int32_t)space->most[c]));
    IF_RARE(not_(inside)) { env_error_bit(k, WB_ENV_ERROR_ACTION); }
    assign(good, both(good, inside));
    return v;
  }
  val v = action_f32(k, a, c);
  val is_number = eq(v, v);
  val inside = both(le((float)space->least[c], v), le(v, (float)space->most[c]));
  IF_RARE(not_(is_number)) { env_error_bit(k, WB_ENV_ERROR_NAN); }
  IF_RARE(both(is_number, not_(inside))) { env_error_bit(k, WB_ENV_ERROR_ACTION); }
  assign(good, both(good, inside));
  /* halves go away from zero */
  return i32(add(v, choose(lt(v, 0.0f), -0.5f, 0.5f)));
}

/* ---- the step ---- */

/* Shares taken so far, kept with a minus sign until the liquidation has taken more. */
static void note_taken(world *k, bool before) {
  FOR_AGENTS(a) {
    val taken = agent_get(k, &a, AGENT_TAKEN_VOLUME);
    agent_add(k, &a, AGENT_LIQUIDATED, before ? neg(taken) : taken);
  }
}

/* Messages go into the book in up to three rounds: what was decided, then history; if the episode ends,
 * cancels, then the orders that liquidate. */
static void play(world *k) {
  var round = variable(0);
  LOOP(rounds) {
    deliver(k);
    IF (eq(round, 0)) {
      run_history(k);
      judge(k);
      IF (eq(k->reason, WB_ENV_END_NONE)) {
        LEAVE(rounds);
      }
      note_taken(k, true);
    }
    IF (eq(round, LIQUIDATION_ORDERS)) {
      note_taken(k, false);
      LEAVE(rounds);
    }
    assign(round, add(round, 1));
    plan_liquidation(k, value(round));
  }
}

static void write_outcome(world *k) {
  store(k->buffers[BUFFER_DONE], 0, i32(ne(k->reason, WB_ENV_END_NONE)));
  store(k->buffers[BUFFER_REASON], 0, k->reason);
  store(k->buffers[BUFFER_ELAPSED], 0, env_get(k, ENV_STEP_NS));
  store(k->buffers[BUFFER_MESSAGES], 0, i32(env_get(k, ENV_STEP_MESSAGES)));
}

static void run_step(world *k) {
  open_messages(k);
  assign(k->reason, WB_ENV_END_NONE);
  decide(k);
  plan_messages(k);
  shuffle_arrival(k);
  play(k);
  close_messages(k);
  env_add(k, ENV_STEP, i64(1));
  env_set(k, ENV_PAST_MID2, env_get(k, ENV_MID2));
  val bid = env_get(k, ENV_BID), ask = env_get(k, ENV_ASK);
  look_at_touch(k);
  account_market(k);
  account_agents(k, bid, ask);
  look_at_orders(k);
  write_outcome(k);
  IF_RARE(ne(k->reason, WB_ENV_END_NONE)) {
    env_set(k, ENV_REASON, i64(k->reason));
    env_set(k, ENV_STATUS, i64(STATUS_ENDED));
    count_episode(k);
  }
}

/* ---- outcomes of a step that did not happen ---- */

static void write_nothing(world *k, bool keep_ends) {
  FOR (a, 0, k->layout->agents) {
    store(k->buffers[BUFFER_REWARD], a, 0.0f);
    store(k->buffers[BUFFER_PROFIT], a, i64(0));
    store(k->buffers[BUFFER_FEES], a, i64(0));
    if (!keep_ends) {
      store(k->buffers[BUFFER_TERMINATED], a, 0);
      store(k->buffers[BUFFER_TRUNCATED], a, 0);
    }
  }
  if (!keep_ends) {
    store(k->buffers[BUFFER_DONE], 0, 0);
    store(k->buffers[BUFFER_REASON], 0, 0);
  }
  store(k->buffers[BUFFER_ELAPSED], 0, i64(0));
  store(k->buffers[BUFFER_MESSAGES], 0, 0);
}

/* ---- programs ---- */

/* Observes; if an episode has just ended, keeps that as the final observation, starts the next one and
 * observes again. */
static void observe_and_restart(world *k) {
  var restarts = variable(eq(env_get(k, ENV_STATUS), (int)STATUS_ENDED));
  LOOP(views) {
    observe(k);
    IF_LIKELY(not_(restarts)) { LEAVE(views); }
    copy_final(k);
    var started = variable(ne(i32(0), 0));
    start_episode(k, i32(-1), false, started);
    assign(restarts, ne(i32(0), 0));
  }
}

/* An environment that ended before this step. */
static void meet_ended(world *k) {
  if (k->env->autoreset == WB_ENV_AUTORESET_NEXT_STEP) {
    var started = variable(ne(i32(0), 0));
    start_episode(k, i32(-1), false, started);
    write_nothing(k, false);
    observe(k);
  } else {
    env_error_bit(k, WB_ENV_ERROR_PAST_END);
    write_nothing(k, true);
  }
}

/* No environment stays ended, but a state may be one that another batch saved at its end. */
static void step_and_restart(world *k, val status) {
  IF_LIKELY(ne(status, (int)STATUS_NEW)) {
    IF_LIKELY(eq(status, (int)STATUS_RUNNING)) { run_step(k); }
    ELSE { write_nothing(k, false); }
    observe_and_restart(k);
  }
  ELSE {
    env_error_bit(k, WB_ENV_ERROR_NOT_RESET);
    write_nothing(k, false);
  }
}

static void step(world *k) {
  k->reason = variable(0);
  val status = env_get(k, ENV_STATUS);
  if (k->env->autoreset == WB_ENV_AUTORESET_SAME_STEP) {
    step_and_restart(k, status);
    return;
  }
  IF_LIKELY(eq(status, (int)STATUS_RUNNING)) {
    run_step(k);
    observe(k);
  }
  ELSE_IF(eq(status, (int)STATUS_ENDED)) { meet_ended(k); }
  ELSE {
    env_error_bit(k, WB_ENV_ERROR_NOT_RESET);
    write_nothing(k, false);
  }
}

wb_status step_program(const wb_env *env, wb_program **out, wb_error *error) {
  world own, *k = &own;
  WB_TRY(open_world(k, env, "wb_env_step", error));
  step(k);
  return wb_builder_finish(k->builder, out, error);
}

wb_status reset_program(const wb_env *env, wb_program **out, wb_error *error) {
  world own, *k = &own;
  WB_TRY(open_world(k, env, "wb_env_reset", error));
  IF (ne(load(k->buffers[BUFFER_CHOSEN], 0), 0)) {
    var started = variable(ne(i32(0), 0));
    start_episode(k, load(k->buffers[BUFFER_STARTS], 0), true, started);
    IF (started) {
      write_nothing(k, false);
      observe(k);
    }
  }
  return wb_builder_finish(k->builder, out, error);
}

wb_status observe_program(const wb_env *env, wb_program **out, wb_error *error) {
  world own, *k = &own;
  WB_TRY(open_world(k, env, "wb_env_observe", error));
  val chosen = ne(load(k->buffers[BUFFER_CHOSEN], 0), 0);
  IF (both(chosen, ne(env_get(k, ENV_STATUS), (int)STATUS_NEW))) {
    observe(k);
  }
  return wb_builder_finish(k->builder, out, error);
}

wb_status truncate_program(const wb_env *env, wb_program **out, wb_error *error) {
  world own, *k = &own;
  WB_TRY(open_world(k, env, "wb_env_truncate", error));
  IF (ne(load(k->buffers[BUFFER_CHOSEN], 0), 0)) {
    env_set(k, ENV_USER_END, i64(1));
  }
  return wb_builder_finish(k->builder, out, error);
}

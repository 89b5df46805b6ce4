/* History between two decisions, and whether the episode ends with it. */
#include "env/world.h"

/* ---- records of the episode, for debugging ---- */

void keep_record(world *k, const val words[4]) {
  array ring = k->buffers[BUFFER_RING], counts = k->buffers[BUFFER_RING_COUNT];
  val count = load(counts, 0);
  IF (lt(count, k->scalars[SCALAR_RING_ROOM])) {
    for (int w = 0; w < 4; w++) store(ring, add(mul(count, 4), w), words[w]);
  }
  ELSE { env_error_bit(k, WB_ENV_ERROR_RECORDS); }
  store(counts, 0, add(count, 1));
}

static void keep_history(world *k, const message *m) {
  if (k->env->record_room == 0) return;
  array records = k->buffers[BUFFER_RECORDS];
  val words[4];
  val first = shr(add(m->first_word, m->words), 1);
  for (int w = 0; w < 4; w++) words[w] = load_in(records, add(first, w));
  keep_record(k, words);
}

/* ---- running ---- */

/* Records are counted from the one at the cursor. */
typedef struct bounds {
  val records; /* i32: up to where the episode's data end */
  val until;   /* ns: later records wait, where the clock is time */
  val flag;    /* i32: in the kind of a record that ends a source row */
  var left;    /* i32: source rows that may still come */
} bounds;

/* Where the record at the cursor lies among those of all tapes. */
static val first_record(world *k) {
  const book *b = &k->history;
  return add(load_in(b->head, WB_HEAD_TAPE), load_in(b->head, WB_HEAD_CURSOR));
}

static val time_at(world *k, val count) {
  return load(k->buffers[BUFFER_RECORDS], mul(add(first_record(k), i64(count)), 4));
}

/* Where an end by rows or time is not set, one that is never reached. */
static val rows_left(world *k) {
  val most = i64(common_i32(k, COMMON_EPISODE_MESSAGES));
  val left = sub(most, env_get(k, ENV_MESSAGES));
  return choose(gt(most, 0), left, i64(INT64_MAX));
}

static val end_of_time(world *k) {
  val seconds = i64(common_i32(k, COMMON_EPISODE_SECONDS));
  val end = add(env_get(k, ENV_START_NS), mul(seconds, INT64_C(1000000000)));
  return choose(gt(seconds, 0), end, i64(INT64_MAX));
}

static bounds bounds_of(world *k) {
  const book *b = &k->history;
  val records = sub(load_in(b->head, WB_HEAD_END), load_in(b->head, WB_HEAD_CURSOR));
  bounds to = {.records = i32(min(records, i64(INT32_MAX)))};
  to.flag = shl(i32(env_get(k, ENV_ROW_FLAG)), 24);
  val rows = rows_left(k);
  if (k->env->clock == WB_ENV_CLOCK_TIME) {
    val step = mul(i64(common_i32(k, COMMON_STEP_MS)), 1000000);
    to.until = min(add(env_get(k, ENV_NOW_NS), step), end_of_time(k));
  } else {
    rows = min(rows, i64(common_i32(k, COMMON_MESSAGES_PER_STEP)));
  }
  /* no tape has more */
  to.left = variable(i32(min(rows, i64(INT32_MAX))));
  return to;
}

static val goes_on(world *k, const bounds *to) {
  val more = both(lt(k->history.taken, to->records), gt(to->left, 0));
  if (k->env->clock != WB_ENV_CLOCK_TIME) return more;
  return both(more, le(time_at(k, value(k->history.taken)), to->until));
}

/* Whether a row ended with this record. */
static void count_row(world *k, const message *m, const bounds *to, label run) {
  val row_ends = eq(bit_and(m->kind, to->flag), to->flag);
  assign(to->left, sub(to->left, i32(row_ends)));
  if (k->env->clock == WB_ENV_CLOCK_FILL) {
    IF (both(row_ends, gt(env_get(k, ENV_FILLS), 0))) {
      LEAVE(run);
    }
  }
}

/* What nearly every record moves stays in variables while they run. */
static void open_hot_counters(world *k) {
  book *b = &k->history;
  uint32_t tallied = 1u << WB_COUNT_TRADES;
  for (int type = WB_RECORD_ADD; type <= WB_RECORD_TYPE_COUNT; type++) {
    if ((b->can.types >> type & 1) != 0) tallied |= 1u << counter_of_type((wb_record_type)type);
  }
  open_counters(b, tallied, 1u << WB_COUNT_VOLUME | 1u << WB_COUNT_NOTIONAL);
}

/* There is at least one. */
static void run_records(world *k, const bounds *to) {
  book *b = &k->history;
  tape_reader s = open_tape(b, first_record(k), to->records);
  WHILE_AS(run, goes_on(k, to)) {
    message m = read_message(b, &s, value(b->taken));
    m.run = run;
    keep_history(k, &m);
    apply_message(b, &m);
    assign(b->taken, add(b->taken, 1));
    count_row(k, &m, to, run);
  }
}

void run_history(world *k) {
  book *b = &k->history;
  bounds to = bounds_of(k);
  val rows = value(to.left);
  val now = env_get(k, ENV_NOW_NS);
  env_set(k, ENV_FILLS, i64(0));
  open_hot_counters(k);
  b->taken = variable(0);
  IF (gt(to.records, 0)) {
    run_records(k, &to);
  }
  close_counters(b);
  val ended = i64(sub(rows, to.left));
  env_set(k, ENV_STEP_MESSAGES, ended);
  env_add(k, ENV_MESSAGES, ended);
  if (k->env->clock == WB_ENV_CLOCK_TIME) {
    env_set(k, ENV_NOW_NS, to.until);
  } else {
    IF (gt(b->taken, 0)) {
      env_set(k, ENV_NOW_NS, time_at(k, sub(b->taken, 1)));
    }
  }
  add_to_in(b->head, WB_HEAD_CURSOR, i64(b->taken));
  env_set(k, ENV_STEP_NS, sub(env_get(k, ENV_NOW_NS), now));
  IF_RARE(ne(load_in(b->head, WB_HEAD_FAULT), 0)) { env_error_bit(k, WB_ENV_ERROR_KERNEL); }
}

/* ---- the end ---- */

static val is_empty_side(world *k, int side) {
  return eq(load_in(k->history.best_rank, side), i64(WB_RANK_NONE));
}

static val times_full(world *k) {
  array counters = k->history.counters;
  return add(load_in(counters, WB_COUNT_BOOK_FULL), load_in(counters, WB_COUNT_EVICTED));
}

typedef struct verdict {
  var done;   /* bool: every agent is */
  var beyond; /* bool: an agent's sums are about to leave what they hold exactly */
} verdict;

static void judge_agent(world *k, const agent *a, verdict v) {
  val target = agent_get(k, a, AGENT_TARGET);
  val reached = both(ne(target, 0), eq(agent_get(k, a, AGENT_INVENTORY), target));
  agent_set(k, a, AGENT_DONE, i64(reached));
  assign(v.done, both(v.done, reached));
  val notional = absolute(agent_get(k, a, AGENT_NOTIONAL)), volume = agent_get(k, a, AGENT_VOLUME);
  val beyond = either(ugt(notional, INT64_C(1) << 50), gt(volume, INT64_C(1) << 32));
  assign(v.beyond, either(v.beyond, beyond));
}

void judge(world *k) {
  val yes = eq(i32(0), 0), no = ne(i32(0), 0);
  verdict v = {variable(yes), variable(no)};
  FOR_AGENTS(a) { judge_agent(k, &a, v); }
  val over = either(le(rows_left(k), 0), le(end_of_time(k), env_get(k, ENV_NOW_NS)));
  const struct {
    wb_env_end why;
    val holds;
  } reasons[] = {
      /* the first that holds is the one; the last of this list is looked at first */
      {WB_ENV_END_USER, ne(env_get(k, ENV_USER_END), 0)},
      {WB_ENV_END_DATA,
       ge(load_in(k->history.head, WB_HEAD_CURSOR), load_in(k->history.head, WB_HEAD_END))},
      {WB_ENV_END_WINDOW, over},
      {WB_ENV_END_CAPACITY, ne(times_full(k), env_get(k, ENV_FULL))},
      {WB_ENV_END_EMPTY, either(is_empty_side(k, 0), is_empty_side(k, 1))},
      {WB_ENV_END_LIMIT, value(v.beyond)},
      {WB_ENV_END_TASK, value(v.done)},
  };
  val reason = i32(WB_ENV_END_NONE);
  for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++) {
    reason = choose(reasons[i].holds, (int)reasons[i].why, reason);
  }
  assign(k->reason, reason);
}

/* ---- the touch ---- */

val look_at_touch(world *k) {
  book *b = &k->history;
  val there = not_(either(is_empty_side(k, 0), is_empty_side(k, 1)));
  IF (there) {
    val bid = i64(neg(key_of(b, load_in(b->best_rank, 0))));
    val ask = i64(key_of(b, load_in(b->best_rank, 1)));
    env_set(k, ENV_BID, bid);
    env_set(k, ENV_ASK, ask);
    env_set(k, ENV_MID2, add(add(bid, ask), mul(load_in(b->head, WB_HEAD_BASE), 2)));
  }
  return there;
}

#include "market.h"

#include <sys/stat.h>

/* ---- random numbers: splitmix64 ---- */

typedef struct flow {
  uint64_t state;
  wb_reference *book;
  wb_record *records;
  int64_t count;
  int64_t time_ns;
  int32_t next_ref;
} flow;

static uint64_t next_random(flow *f) {
  uint64_t z = (f->state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static int32_t below(flow *f, int32_t count) { return (int32_t)(next_random(f) % (uint64_t)count); }

/* ---- a made-up market ---- */

static void emit(flow *f, wb_record r) {
  f->time_ns += 1 + below(f, 20000000);
  r.time_ns = f->time_ns;
  r.row = (int32_t)f->count;
  r.flags = (uint8_t)(r.flags | WB_FLAG_ROW_END);
  cr_assert_eq(wb_reference_apply(f->book, &r, (int32_t)f->count, NULL), WB_OK);
  f->records[f->count++] = r;
}

static int32_t touch_of(const flow *f, wb_side side) {
  wb_level level;
  return wb_reference_levels(f->book, side, &level, 1) == 1 ? level.price : MID;
}

/* Behind, at or inside the touch, never through the other side. */
static void add(flow *f, wb_side side) {
  int32_t sign = side == WB_SIDE_ASK ? 1 : -1;
  int32_t other = touch_of(f, side == WB_SIDE_ASK ? WB_SIDE_BID : WB_SIDE_ASK);
  int32_t price = touch_of(f, side) + sign * TICK * (below(f, 8) - 1);
  if (sign * (price - other) <= 0) price = other + sign * TICK;
  emit(f, (wb_record){.ref = f->next_ref++,
                      .price = price,
                      .qty = 10 * (1 + below(f, 30)),
                      .type = WB_RECORD_ADD,
                      .flags = side == WB_SIDE_ASK ? WB_FLAG_SIDE : 0});
}

static void change(flow *f, wb_side side, int kind) {
  wb_order orders[64];
  int64_t count = wb_reference_orders(f->book, side, orders, 64);
  count = count < 64 ? count : 64;
  if (count < 8) {
    add(f, side);
    return;
  }
  const wb_order *o = &orders[kind == 0 ? 0 : below(f, (int32_t)count)];
  uint8_t flags = side == WB_SIDE_ASK ? WB_FLAG_SIDE : 0;
  int32_t part = o->qty > 1 ? 1 + below(f, o->qty) : 1;
  wb_record r = {.ref = o->ref, .price = o->price, .qty = part, .flags = flags};
  r.type = kind == 0 ? WB_RECORD_EXECUTE : kind == 1 ? WB_RECORD_DELETE : WB_RECORD_REDUCE;
  emit(f, r);
}

static void one_row(flow *f) {
  wb_side side = below(f, 2) == 0 ? WB_SIDE_BID : WB_SIDE_ASK;
  int64_t held = wb_reference_orders(f->book, side, NULL, 0);
  int what = below(f, 100);
  if (what == 99) {
    emit(f, (wb_record){.price = touch_of(f, side) + 50,
                        .qty = 1 + below(f, 100),
                        .type = WB_RECORD_NOTE,
                        .arg = WB_NOTE_HIDDEN});
  } else if (what < 50 && held < 50) {
    add(f, side);
  } else if (what < 70) {
    change(f, side, 0);
  } else {
    change(f, side, what < 90 ? 1 : 2);
  }
}

static void make_seed(wb_tape *tape, int32_t levels) {
  tape->seed_count = 2 * levels;
  tape->seed = wb_arena_array(&tape->arena, (size_t)tape->seed_count, sizeof *tape->seed);
  for (int32_t i = 0; i < tape->seed_count; i++) {
    bool ask = i < levels;
    int32_t level = ask ? i : i - levels;
    tape->seed[i] =
        resting(i, ask ? WB_SIDE_ASK : WB_SIDE_BID, MID + (ask ? 1 : -1) * TICK * (2 + level), 100);
    tape->seed[i].arrival = i + 1;
  }
}

wb_tape *make_market(uint64_t seed, int64_t rows) {
  wb_tape *tape = wb_tape_new();
  flow f = {.state = seed, .time_ns = INT64_C(34200000000000)};
  tape->tick_size = TICK;
  tape->unique_refs = true;
  make_seed(tape, 10);
  f.next_ref = tape->seed_count;
  f.records = tape->blocks[0] = calloc((size_t)rows, sizeof(wb_record));
  wb_book_rules rules = wb_book_rules_default();
  rules.tick_size = TICK;
  MUST(wb_reference_create(&rules, &f.book, error));
  MUST(wb_reference_load(f.book, tape->seed, tape->seed_count, error));
  while (f.count < rows) one_row(&f);
  wb_reference_free(f.book);
  tape->records = f.records;
  tape->record_count = f.count;
  tape->ref_count = f.next_ref;
  return tape;
}

/* ---- scenes ---- */

wb_order resting(int32_t ref, wb_side side, int32_t price, int32_t qty) {
  return (wb_order){.ref = ref, .price = price, .qty = qty, .side = (uint8_t)side};
}

wb_tape *make_scene(const wb_order *orders, int32_t order_count, const wb_record *records,
                    int64_t record_count) {
  wb_tape *tape = wb_tape_new();
  tape->tick_size = TICK;
  tape->ref_count = 1000;
  tape->seed_count = order_count;
  tape->seed = wb_arena_array(&tape->arena, (size_t)order_count + 1, sizeof *tape->seed);
  for (int32_t i = 0; i < order_count; i++) {
    tape->seed[i] = orders[i];
    tape->seed[i].arrival = i + 1;
  }
  tape->records = tape->blocks[0] = calloc((size_t)record_count + 1, sizeof(wb_record));
  tape->record_count = record_count;
  int64_t time = INT64_C(34200000000000);
  for (int64_t i = 0; i < record_count; i++) {
    wb_record *r = &tape->records[i];
    *r = records[i];
    time = r->time_ns != 0 ? r->time_ns : time + 1000000000;
    r->time_ns = time;
    r->row = (int32_t)i;
    r->flags = (uint8_t)(r->flags | WB_FLAG_ROW_END);
  }
  return tape;
}

wb_tape *real_day(const char *name) {
  char path[1024];
  struct stat there;
  const char *folder = getenv("WB_TEST_DATA");
  (void)snprintf(path, sizeof path, "%s/data/lobster/%s", folder == NULL ? "" : folder, name);
  if (folder == NULL || stat(path, &there) != 0) return NULL;
  wb_tape *tape = NULL;
  MUST(wb_tape_read(path, NULL, &tape, error));
  return tape;
}

wb_env_config config_on(const wb_tape *const *tape, const wb_env_agents *agents, int32_t groups) {
  wb_env_config c = wb_env_config_default();
  c.tapes = tape;
  c.tape_count = 1;
  c.agents = agents;
  c.agent_groups = groups;
  c.autoreset = WB_ENV_AUTORESET_DISABLED;
  c.snapshot_messages = 100;
  c.messages_per_step = 20;
  c.episode_messages = 400;
  c.levels = 5;
  c.threads = 1;
  return c;
}

double statistic(const wb_env_statistic *list, int32_t count, const char *name) {
  for (int32_t i = 0; i < count; i++) {
    if (strcmp(list[i].name, name) == 0) return list[i].sum;
  }
  cr_assert_fail("no statistic %s", name);
  return 0;
}

/* ---- the witness ---- */

static void settle(witness *w, int32_t owner, bool sells, bool takes, const wb_trade *t) {
  if (owner == 0) return;
  party *p = &w->agents[owner - 1];
  int64_t notional = (w->tape->base + t->price) * t->qty;
  p->cash += sells ? notional : -notional;
  p->inventory += sells ? -t->qty : t->qty;
  p->fees += (takes ? w->taker_fee : w->maker_fee) * t->qty +
             (takes ? w->taker_rate : w->maker_rate) * notional;
  p->volume += t->qty;
  p->notional += notional;
  if (takes) {
    p->taken_volume += t->qty;
    p->taken_notional += notional;
  }
}

static void on_trade(void *context, const wb_trade *t) {
  witness *w = context;
  bool maker_sells = (t->maker_owner & WB_TRADE_MAKER_ASK) != 0;
  settle(w, t->maker_owner & WB_TRADE_OWNER_MASK, maker_sells, false, t);
  settle(w, t->taker_owner & WB_TRADE_OWNER_MASK, !maker_sells, true, t);
  w->trades++;
  if ((t->taker_owner & WB_TRADE_EDGE) == 0) {
    w->market_volume += t->qty;
    w->market_notional += (w->tape->base + t->price) * t->qty;
  }
}

void witness_start(witness *w, wb_env *env, const wb_tape *tape, int32_t e,
                   const wb_book_rules *rules) {
  memset(w, 0, sizeof *w);
  w->tape = tape;
  wb_book_rules own = *rules;
  own.base = tape->base;
  own.tick_size = tape->tick_size;
  own.capacity = wb_env_capacity(env);
  int32_t *windows = malloc(sizeof(int32_t) * 4096);
  wb_env_buffer b;
  MUST(wb_env_buffer_find(env, "window", &b, error));
  MUST(wb_env_read(env, "window", windows, (size_t)b.shape[0] * 4, error));
  wb_env_window window;
  MUST(wb_env_window_at(env, windows[e], &window, error));
  free(windows);
  MUST(wb_reference_create(&own, &w->book, error));
  MUST(wb_reference_load(w->book, tape->seed, tape->seed_count, error));
  for (int64_t i = 0; i < window.record; i++) {
    MUST(wb_reference_apply(w->book, &tape->records[i], (int32_t)i, error));
  }
  wb_reference_on_trade(w->book, on_trade, w);
}

void witness_follow(witness *w, wb_env *env, int32_t e) {
  static wb_record records[1 << 16];
  int64_t count = 0;
  MUST(wb_env_read_records(env, e, records, 1 << 16, &count, error));
  cr_assert_leq(count, 1 << 16);
  for (; w->seen < count; w->seen++) {
    MUST(wb_reference_apply(w->book, &records[w->seen], (int32_t)w->seen, error));
  }
}

void witness_end(witness *w) {
  wb_reference_free(w->book);
  w->book = NULL;
}

void witness_agrees(witness *w, wb_env *env, int32_t e) {
  uint64_t book_hash = 0, state_hash = 0;
  MUST(wb_env_book_hashes(env, e, &book_hash, &state_hash, error));
  cr_assert_eq(book_hash, wb_reference_book_hash(w->book), "environment %d: the book differs", e);
  cr_assert_eq(state_hash, wb_reference_state_hash(w->book), "environment %d: counters differ", e);
  for (int32_t a = 0; a < wb_env_agent_count(env); a++) {
    const party *p = &w->agents[a];
    wb_env_account account;
    MUST(wb_env_read_account(env, e, a, &account, error));
    cr_assert_eq(account.cash, p->cash, "agent %d: cash %" PRId64 ", by its trades %" PRId64, a,
                 account.cash, p->cash);
    cr_assert_eq(account.inventory, p->inventory);
    cr_assert_eq(account.fees, p->fees);
    cr_assert_eq(account.volume, p->volume);
    cr_assert_eq(account.notional, p->notional);
    cr_assert_eq(account.taken_volume, p->taken_volume);
    cr_assert_eq(account.taken_notional, p->taken_notional);
    cr_assert_eq(account.bought - account.sold, p->inventory);
    cr_assert_eq(account.bought + account.sold, p->volume);
  }
}

int64_t witness_touch(const witness *w, wb_side side) {
  wb_level level = {0};
  cr_assert_eq(wb_reference_levels(w->book, side, &level, 1), 1);
  return w->tape->base + level.price;
}

int64_t witness_mid2(const witness *w) {
  return witness_touch(w, WB_SIDE_BID) + witness_touch(w, WB_SIDE_ASK);
}

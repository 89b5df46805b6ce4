/* Random configurations and episodes. */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---- */

uint64_t rng_next(rng *r) {
  r->state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t x = r->state;
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

int32_t rng_below(rng *r, int32_t n) { return (int32_t)((rng_next(r) >> 32) * (uint64_t)n >> 32); }

int32_t rng_between(rng *r, int32_t lo, int32_t hi) {
  return (int32_t)(lo + (int64_t)(rng_next(r) % ((uint64_t)((int64_t)hi - lo) + 1)));
}

bool rng_percent(rng *r, int32_t percent) { return rng_below(r, 100) < percent; }

/* ---- configurations ---- */

enum {
  POLICIES = 3 * 2 * 2 * 5, /* execute policy, displaced, capacity rule, self-trade */
  SPECIAL = 12
};

static const int32_t capacities[] = {32, 64, 128, 256, 512, 1024};
enum { CAPACITIES = sizeof capacities / sizeof capacities[0] };

int32_t diff_config_count(void) { return POLICIES + SPECIAL; }

/* Every choice of the rules, with everything allowed. */
static diff_config full_config(int32_t i) {
  diff_config c = {
      .name = "full", .rules = wb_book_rules_default(), .agents = 3, .any_bytes = true};
  /* small books are the ones that fill, spill and evict */
  c.rules.capacity = capacities[i % 7 % CAPACITIES];
  /* more rows than one row of summaries holds */
  if (i % 20 == 13) c.rules.capacity = 2048;
  if (i % 60 == 31) c.rules.capacity = 8192;
  c.rules.execute_policy = (wb_execute_policy)(i % 3);
  c.rules.displaced = (wb_displaced)(i / 3 % 2);
  c.rules.capacity_rule = (wb_capacity_rule)(i / 6 % 2);
  c.rules.self_trade = (wb_self_trade)(i / 12 % 5);
  c.features = wb_features_all(&c.rules);
  c.features.rows = false;
  if (i % 4 == 3) c.features.trades = WB_TRADES_OWNERS;
  return c;
}

static uint32_t types_of(const int *list, int count) {
  uint32_t bits = 0;
  for (int i = 0; i < count; i++) bits |= 1u << list[i];
  return bits;
}

/* Kernels for a part of everything, as simulations ask for them. */
static diff_config special_config(int32_t i) {
  diff_config c = {.name = "special", .rules = wb_book_rules_default()};
  c.rules.capacity = capacities[i % CAPACITIES];
  c.rules.capacity_rule = i % 2 == 0 ? WB_CAPACITY_EVICT : WB_CAPACITY_REJECT;
  c.rules.self_trade = (wb_self_trade)(i % 5);
  c.features = wb_features_none(&c.rules);
  wb_book_features *f = &c.features;
  const int simple[] = {WB_RECORD_ADD, WB_RECORD_DELETE, WB_RECORD_REDUCE};
  const int history[] = {WB_RECORD_ADD,     WB_RECORD_DELETE, WB_RECORD_REDUCE,
                         WB_RECORD_EXECUTE, WB_RECORD_NOTE,   WB_RECORD_STATE};
  f->trades = WB_TRADES_ALL;
  f->types = types_of(simple, 3);
  switch (i % 6) {
  case 0: c.name = "flow"; break;
  case 1:
    c.name = "replay";
    f->types = types_of(history, 6);
    f->flags = WB_FLAG_EDGE | WB_FLAG_ROW_END | WB_FLAG_NO_MATCH;
    f->states = true;
    f->rows = true;
    c.rules.unique_refs = 1;
    f->unique_refs = true;
    break;
  case 2:
    c.name = "replay with agents";
    f->types = types_of(history, 6) | 1u << WB_RECORD_MARKET;
    f->flags = WB_FLAG_EDGE | WB_FLAG_ROW_END | WB_FLAG_IOC;
    f->agents = true;
    f->states = true;
    f->trades = WB_TRADES_OWNERS;
    c.agents = 2;
    c.rules.unique_refs = 1;
    f->unique_refs = true;
    break;
  case 3:
    c.name = "unchecked flow";
    f->bad_records = true;
    f->trades = WB_TRADES_NONE;
    c.any_bytes = true;
    break;
  case 4:
    c.name = "post only";
    f->types |= 1u << WB_RECORD_AMEND;
    f->flags = WB_FLAG_POST_ONLY | WB_FLAG_SLIDE;
    break;
  default:
    c.name = "agents alone";
    f->types = 0x1fe;
    f->flags = 0xff;
    f->agents = true;
    c.agents = 5;
    break;
  }
  return c;
}

diff_config diff_config_make(int32_t i) {
  diff_config c = i < POLICIES ? full_config(i) : special_config(i - POLICIES);
  c.number = i;
  return c;
}

/* ---- what an episode is like ---- */

typedef struct manner {
  const diff_config *config;
  rng random;
  int32_t tick;
  int32_t first_tick, ticks; /* prices are first_tick .. first_tick + ticks - 1 ticks */
  int32_t qty_most;
  int32_t add_percent;    /* the more, the fuller the book */
  int32_t state_permille; /* records that change the trading state */
  int32_t bytes_percent;  /* records of random bytes */
  int32_t bad_percent;    /* records with one field spoiled */
  int32_t ref_step;       /* of new references: a multiple of the rows forces one home row */
  int32_t ref_span;       /* references come round after so many */
  int32_t next_ref, next_own;
  int32_t known;       /* orders of the list below */
  wb_record made[256]; /* ADDs: most of them rest somewhere, or did */
} manner;

static bool has_type(const manner *w, int type) {
  return (w->config->features.types >> type & 1) != 0;
}

static int32_t pick_of(rng *r, const int32_t *list, int32_t count) {
  return list[rng_below(r, count)];
}

static void set_prices(manner *w) {
  static const int32_t ticks[] = {1, 1, 1, 1, 100, 7, 96, 1 << 20, 1 << 30, INT32_MAX};
  static const int32_t widths[] = {1, 3, 12, 12, 60, 400};
  w->tick = pick_of(&w->random, ticks, 10);
  w->ticks = pick_of(&w->random, widths, 6);
  int32_t last = WB_PRICE_LIMIT / w->tick;
  if (w->ticks / 2 > last) w->ticks = 2 * last + 1;
  switch (rng_below(&w->random, 4)) {
  case 0: w->first_tick = -last; break;               /* the lowest prices there are */
  case 1: w->first_tick = last - w->ticks + 1; break; /* the highest */
  case 2: w->first_tick = -(w->ticks / 2); break;     /* around 0 */
  default: w->first_tick = last / 3; break;
  }
  if (w->first_tick + w->ticks - 1 > last) w->first_tick = last - w->ticks + 1;
}

static void set_refs(manner *w) {
  int32_t capacity = w->config->rules.capacity;
  static const int32_t spans[] = {1 << 29, 1 << 29, 40, 300};
  w->ref_step = rng_percent(&w->random, 40) ? capacity / 32 : 1;
  if (rng_percent(&w->random, 10)) w->ref_step = rng_between(&w->random, 1, 1 << 20);
  w->ref_span = pick_of(&w->random, spans, 4);
  if (w->config->rules.unique_refs) {
    w->ref_span = 1 << 29;
    w->ref_step = w->ref_step < 1024 ? w->ref_step : 1;
  }
  w->next_ref = rng_percent(&w->random, 30) ? rng_below(&w->random, 1 << 28) : 0;
}

static void set_manner(manner *w, const diff_config *config, uint64_t seed) {
  static const int32_t qty[] = {3, 20, 100, 1000, INT32_MAX};
  static const int32_t adds[] = {20, 35, 45, 55, 75, 95};
  memset(w, 0, sizeof *w);
  w->config = config;
  w->random.state = seed;
  set_prices(w);
  set_refs(w);
  w->qty_most = pick_of(&w->random, qty, 5);
  w->add_percent = pick_of(&w->random, adds, 6);
  w->state_permille = rng_percent(&w->random, 50) ? rng_below(&w->random, 30) : 2;
  if (config->any_bytes) {
    w->bad_percent = rng_below(&w->random, 12);
    w->bytes_percent = rng_percent(&w->random, 5) ? 100 : rng_below(&w->random, 4);
  }
}

/* ---- records ---- */

static int32_t random_price(manner *w) {
  return (w->first_tick + rng_below(&w->random, w->ticks)) * w->tick;
}

/* Bids mostly low, asks mostly high, so that books are not always crossed. */
static int32_t passive_price(manner *w, int side) {
  int32_t x = rng_below(&w->random, w->ticks), y = rng_below(&w->random, w->ticks);
  bool low = (side == WB_SIDE_BID) != rng_percent(&w->random, 15);
  return (w->first_tick + (low ? (x < y ? x : y) : (x < y ? y : x))) * w->tick;
}

static int32_t random_qty(manner *w) {
  if (rng_percent(&w->random, 2)) return INT32_MAX - rng_below(&w->random, 3);
  return rng_between(&w->random, 1, w->qty_most);
}

static int16_t random_owner(manner *w) {
  if (w->config->agents == 0 || rng_percent(&w->random, 55)) return 0;
  if (rng_percent(&w->random, 1)) return WB_OWNER_LAST;
  return (int16_t)rng_between(&w->random, 1, w->config->agents);
}

static int32_t new_ref(manner *w, int owner) {
  int32_t *next = owner == 0 ? &w->next_ref : &w->next_own;
  *next = (int32_t)(((int64_t)*next + w->ref_step) % w->ref_span);
  return owner == 0 ? *next : WB_REF_AGENT_FIRST + *next;
}

static uint8_t add_flags(manner *w, int owner) {
  static const uint8_t choices[] = {
      0,           WB_FLAG_NO_MATCH,  WB_FLAG_IOC,
      WB_FLAG_FOK, WB_FLAG_POST_ONLY, WB_FLAG_POST_ONLY | WB_FLAG_SLIDE};
  uint8_t flags = rng_percent(&w->random, 45) ? 0 : choices[rng_below(&w->random, 6)];
  if ((flags & ~w->config->features.flags) != 0) return 0;
  return flags == WB_FLAG_NO_MATCH && owner != 0 ? 0 : flags;
}

static wb_record random_add(manner *w) {
  wb_record r = {.type = WB_RECORD_ADD, .owner = random_owner(w)};
  int side = rng_below(&w->random, 2);
  r.flags = (uint8_t)(side | add_flags(w, r.owner));
  r.price = rng_percent(&w->random, 80) ? passive_price(w, side) : random_price(w);
  r.qty = random_qty(w);
  r.ref = new_ref(w, r.owner);
  if (!w->config->rules.unique_refs && w->known > 0 && rng_percent(&w->random, 3)) {
    /* a reference that may rest already */
    wb_record old = w->made[rng_below(&w->random, w->known)];
    r.ref = old.ref;
    r.owner = old.owner;
    if (r.owner != 0) r.flags &= (uint8_t)~WB_FLAG_NO_MATCH;
  }
  int32_t at = w->known < 256 ? w->known++ : rng_below(&w->random, 256);
  w->made[at] = r;
  return r;
}

/* REDUCE, DELETE, AMEND, EXECUTE: of an order that was made some time, or of none. */
static wb_record random_named(manner *w, wb_record_type type) {
  wb_record r = {.type = (uint8_t)type, .flags = (uint8_t)rng_below(&w->random, 2)};
  if (w->known > 0 && rng_percent(&w->random, 97)) {
    int32_t at = rng_below(&w->random, w->known);
    r.ref = w->made[at].ref;
    r.owner = w->made[at].owner;
    r.price = w->made[at].price;
    r.flags = w->made[at].flags & WB_FLAG_SIDE;
    if (type == WB_RECORD_DELETE) w->made[at] = w->made[--w->known];
  } else {
    r.owner = random_owner(w);
    r.ref = (r.owner == 0 ? 0 : WB_REF_AGENT_FIRST) + rng_below(&w->random, 1 << 10);
    r.price = random_price(w);
  }
  if (rng_percent(&w->random, 3)) r.flags ^= WB_FLAG_SIDE;
  if (r.owner != 0 && rng_percent(&w->random, 5)) r.owner = (int16_t)(1 + r.owner % 4);
  if (rng_percent(&w->random, 40)) r.price = random_price(w);
  r.qty = random_qty(w);
  if (type == WB_RECORD_AMEND && (w->config->features.flags & WB_FLAG_POST_ONLY) != 0 &&
      rng_percent(&w->random, 40)) {
    r.flags |= WB_FLAG_POST_ONLY;
  }
  if (type == WB_RECORD_EXECUTE && r.owner != 0) {
    r.owner = 0;
    r.ref -= WB_REF_AGENT_FIRST;
  }
  return r;
}

static wb_record random_other(manner *w, wb_record_type type) {
  wb_record r = {.type = (uint8_t)type, .flags = (uint8_t)rng_below(&w->random, 2)};
  r.qty = random_qty(w);
  r.price = rng_between(&w->random, INT32_MIN, INT32_MAX);
  r.arg = rng_below(&w->random, 3);
  r.ref = rng_between(&w->random, INT32_MIN, INT32_MAX);
  if (type == WB_RECORD_MARKET) {
    r.owner = random_owner(w);
    r.ref = new_ref(w, r.owner);
  }
  if (type == WB_RECORD_STATE && !w->config->features.states) r.arg = WB_STATE_TRADING;
  return r;
}

static wb_record_type random_type(manner *w) {
  static const uint8_t others[] = {
      WB_RECORD_DELETE, WB_RECORD_DELETE,  WB_RECORD_DELETE,  WB_RECORD_REDUCE, WB_RECORD_AMEND,
      WB_RECORD_AMEND,  WB_RECORD_EXECUTE, WB_RECORD_EXECUTE, WB_RECORD_MARKET, WB_RECORD_NOTE};
  if (rng_below(&w->random, 1000) < w->state_permille && has_type(w, WB_RECORD_STATE)) {
    return WB_RECORD_STATE;
  }
  if (rng_percent(&w->random, w->add_percent)) return WB_RECORD_ADD;
  int type = others[rng_below(&w->random, (int32_t)sizeof others)];
  return has_type(w, type) ? (wb_record_type)type : WB_RECORD_DELETE;
}

static void spoil(manner *w, wb_record *r) {
  switch (rng_below(&w->random, 9)) {
  case 0: r->qty = -rng_below(&w->random, 2) * r->qty; break;
  case 1: r->price = rng_between(&w->random, INT32_MIN, INT32_MAX); break;
  case 2: r->ref = rng_between(&w->random, INT32_MIN, INT32_MAX); break;
  case 3: r->owner = (int16_t)rng_between(&w->random, -3, w->config->agents); break;
  case 4: r->flags ^= (uint8_t)(1 << rng_between(&w->random, 1, 7)); break;
  case 5: r->flags = (uint8_t)rng_next(&w->random); break;
  case 6: r->arg = rng_between(&w->random, -1, 3); break;
  case 7: r->price = rng_percent(&w->random, 50) ? WB_PRICE_LIMIT + 1 : -WB_PRICE_LIMIT - 1; break;
  default: r->type = (uint8_t)rng_below(&w->random, 11); break;
  }
}

/* A spoiled record may turn out to be one that the kernel was not compiled for. */
static bool is_foreseen(const manner *w, const wb_record *r, const wb_book_rules *rules) {
  const wb_book_features *can = &w->config->features;
  wb_book_features asks = wb_features_none(rules);
  wb_features_scan(&asks, rules, r, 1);
  return (asks.types & ~can->types) == 0 && (asks.flags & ~(can->flags | WB_FLAG_SIDE)) == 0 &&
         asks.agents <= can->agents && asks.states <= can->states &&
         asks.bad_records <= can->bad_records;
}

static wb_record random_record(manner *w, const wb_book_rules *rules) {
  wb_record r;
  if (rng_percent(&w->random, w->bytes_percent)) {
    uint64_t words[4];
    for (int i = 0; i < 4; i++) words[i] = rng_next(&w->random);
    memcpy(&r, words, sizeof r);
    return is_foreseen(w, &r, rules) ? r : random_add(w);
  }
  wb_record_type type = random_type(w);
  if (type == WB_RECORD_ADD) {
    r = random_add(w);
  } else if (type <= WB_RECORD_EXECUTE && type != WB_RECORD_MARKET) {
    r = random_named(w, type);
  } else {
    r = random_other(w, type);
  }
  if (r.owner == 0 && rng_percent(&w->random, 10)) {
    r.flags |= (uint8_t)(rng_between(&w->random, 1, 3) << 1 & (int)w->config->features.flags);
  }
  if (rng_percent(&w->random, w->bad_percent)) {
    wb_record spoiled = r;
    spoil(w, &spoiled);
    if (is_foreseen(w, &spoiled, rules)) r = spoiled;
  }
  return r;
}

/* ---- episodes ---- */

static int64_t random_base(rng *r) {
  switch (rng_below(r, 6)) {
  case 0: return INT64_MAX - rng_below(r, 1000);
  case 1: return INT64_MIN + rng_below(r, 1000);
  case 2: return (int64_t)(rng_next(r) >> 24) - (INT64_C(1) << 39);
  case 3: return (int64_t)1 << 32;
  default: return 0;
  }
}

static void make_seeds(manner *w, diff_episode *e) {
  bool agents = w->config->features.agents;
  e->seed_count = rng_below(&w->random, DIFF_SEEDS_MOST);
  if (e->seed_count > w->config->rules.capacity) e->seed_count = w->config->rules.capacity;
  for (int32_t i = 0; i < e->seed_count; i++) {
    int16_t owner = agents ? random_owner(w) : 0;
    int side = rng_below(&w->random, 2);
    e->seeds[i] = (wb_order){.ref = (owner == 0 ? 0 : WB_REF_AGENT_FIRST) + (1 << 29) + i,
                             .price = passive_price(w, side),
                             .qty = random_qty(w),
                             .arrival = i + 1,
                             .owner = owner,
                             .side = (uint8_t)side};
    if (w->known < 256) {
      w->made[w->known++] = (wb_record){.ref = e->seeds[i].ref,
                                        .price = e->seeds[i].price,
                                        .qty = e->seeds[i].qty,
                                        .owner = owner,
                                        .type = WB_RECORD_ADD,
                                        .flags = (uint8_t)side};
    }
  }
}

void diff_generate(const diff_config *config, uint64_t seed, int64_t records, diff_episode *made) {
  manner w;
  set_manner(&w, config, seed);
  memset(made, 0, sizeof *made);
  made->rules = config->rules;
  made->rules.tick_size = w.tick;
  made->rules.base = random_base(&w.random);
  made->trade_room = rng_percent(&w.random, 70) ? DIFF_ROOM_MOST : rng_below(&w.random, 3);
  if (rng_percent(&w.random, 30)) make_seeds(&w, made);
  if (rng_percent(&w.random, 15)) {
    made->next_arrival = INT32_MAX - rng_below(&w.random, 400);
  }
  made->count = records;
  made->records = calloc((size_t)records + 1, sizeof *made->records);
  if (made->records == NULL) abort();
  int64_t time = rng_below(&w.random, 1000);
  for (int64_t i = 0; i < records; i++) {
    wb_record *r = &made->records[i];
    *r = random_record(&w, &made->rules);
    if (rng_percent(&w.random, 50)) time += rng_below(&w.random, 1000);
    r->time_ns = time;
    r->row = (int32_t)i;
  }
}

void diff_episode_free(diff_episode *episode) {
  free(episode->records);
  episode->records = NULL;
}

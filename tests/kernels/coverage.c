/* What a run met. The cells are those that docs/semantics.md makes possible; a cell of 0 means that
 * the streams never went there. */
#include "diff.h"

#include <stdlib.h>
#include <string.h>

/* ---- legal records: type × flags × owner ---- */

enum { NOTE_KIND = 22, STATE_KIND = 25, KINDS = 28 };

static const struct {
  uint8_t type, flags;
  bool agent;
} kinds[NOTE_KIND] = {
    {WB_RECORD_ADD, 0, false},
    {WB_RECORD_ADD, 0, true},
    {WB_RECORD_ADD, WB_FLAG_NO_MATCH, false},
    {WB_RECORD_ADD, WB_FLAG_IOC, false},
    {WB_RECORD_ADD, WB_FLAG_IOC, true},
    {WB_RECORD_ADD, WB_FLAG_FOK, false},
    {WB_RECORD_ADD, WB_FLAG_FOK, true},
    {WB_RECORD_ADD, WB_FLAG_POST_ONLY, false},
    {WB_RECORD_ADD, WB_FLAG_POST_ONLY, true},
    {WB_RECORD_ADD, WB_FLAG_POST_ONLY | WB_FLAG_SLIDE, false},
    {WB_RECORD_ADD, WB_FLAG_POST_ONLY | WB_FLAG_SLIDE, true},
    {WB_RECORD_MARKET, 0, false},
    {WB_RECORD_MARKET, 0, true},
    {WB_RECORD_REDUCE, 0, false},
    {WB_RECORD_REDUCE, 0, true},
    {WB_RECORD_DELETE, 0, false},
    {WB_RECORD_DELETE, 0, true},
    {WB_RECORD_AMEND, 0, false},
    {WB_RECORD_AMEND, 0, true},
    {WB_RECORD_AMEND, WB_FLAG_POST_ONLY, false},
    {WB_RECORD_AMEND, WB_FLAG_POST_ONLY, true},
    {WB_RECORD_EXECUTE, 0, false},
};

static const char *const type_names[] = {"other",
#define X(name, code) #name,
                                         WB_RECORD_TYPES(X)
#undef X
};

static int32_t kind_of(const wb_record *r) {
  if (r->type == WB_RECORD_NOTE) return NOTE_KIND + r->arg;
  if (r->type == WB_RECORD_STATE) return STATE_KIND + r->arg;
  uint8_t flags = (uint8_t)(r->flags & ~(WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END));
  for (int32_t i = 0; i < NOTE_KIND; i++) {
    if (kinds[i].type == r->type && kinds[i].flags == flags && kinds[i].agent == (r->owner != 0)) {
      return i;
    }
  }
  return -1;
}

static void print_kind(int32_t kind, FILE *out) {
  char text[64];
  if (kind >= STATE_KIND) {
    snprintf(text, sizeof text, "STATE %d", kind - STATE_KIND);
  } else if (kind >= NOTE_KIND) {
    snprintf(text, sizeof text, "NOTE %d", kind - NOTE_KIND);
  } else {
    uint8_t f = kinds[kind].flags;
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", type_names[kinds[kind].type],
             f & WB_FLAG_NO_MATCH ? " NO_MATCH" : "", f & WB_FLAG_IOC ? " IOC" : "",
             f & WB_FLAG_FOK ? " FOK" : "", f & WB_FLAG_POST_ONLY ? " POST_ONLY" : "",
             f & WB_FLAG_SLIDE ? "+SLIDE" : "", kinds[kind].agent ? ", agent" : "");
  }
  fprintf(out, "  %-28s", text);
}

/* ---- bad records: type × the only reason ---- */

#define REASONS(X)                             \
  X(OWNER, "owner negative, or not history's") \
  X(FLAGS, "flags of no listed combination")   \
  X(EDGE, "EDGE or ROW_END of an agent")       \
  X(REF, "reference of another owner's kind")  \
  X(PRICE, "price out of range")               \
  X(TICK, "price off the tick")                \
  X(QTY, "quantity not positive")              \
  X(ARG, "argument out of range")

enum {
#define X(name, text) REASON_##name,
  REASONS(X)
#undef X
      REASON_COUNT
};

static const char *const reason_texts[] = {
#define X(name, text) text,
    REASONS(X)
#undef X
};

static bool looks_at_ref(int t) { return t >= WB_RECORD_ADD && t <= WB_RECORD_EXECUTE; }
static bool looks_at_price(int t) {
  return t == WB_RECORD_ADD || t == WB_RECORD_AMEND || t == WB_RECORD_EXECUTE;
}
static bool looks_at_qty(int t) { return t != WB_RECORD_DELETE && t != WB_RECORD_STATE; }
static bool looks_at_arg(int t) { return t == WB_RECORD_NOTE || t == WB_RECORD_STATE; }
static bool is_historys(int t) { return t >= WB_RECORD_EXECUTE; }

static bool flags_are_listed(const wb_record *r) {
  int f = r->flags & ~(WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END);
  if (f == 0) return true;
  for (int32_t i = 0; i < NOTE_KIND; i++) {
    if (kinds[i].type == r->type && kinds[i].flags == f && (!kinds[i].agent) == (r->owner == 0)) {
      return true;
    }
  }
  return false;
}

/* The reasons for which a record of a known type is bad, as bits. */
static uint32_t reasons_of(const wb_record *r, int32_t tick) {
  uint32_t bits = 0;
  int t = r->type;
  int64_t price = r->price;
  bool in_range = price >= -WB_PRICE_LIMIT && price <= WB_PRICE_LIMIT;
  if (r->owner < 0 || (is_historys(t) && r->owner != 0)) bits |= 1u << REASON_OWNER;
  if (!flags_are_listed(r)) bits |= 1u << REASON_FLAGS;
  if (r->owner != 0 && (r->flags & (WB_FLAG_EDGE | WB_FLAG_ROW_END))) bits |= 1u << REASON_EDGE;
  if (looks_at_ref(t) && (r->ref < 0 || (r->ref >= WB_REF_AGENT_FIRST) != (r->owner != 0))) {
    bits |= 1u << REASON_REF;
  }
  if (looks_at_price(t) && !in_range) bits |= 1u << REASON_PRICE;
  if (looks_at_price(t) && in_range && price % tick != 0) bits |= 1u << REASON_TICK;
  if (looks_at_qty(t) && r->qty <= 0) bits |= 1u << REASON_QTY;
  if (looks_at_arg(t) && (r->arg < 0 || r->arg > 2)) bits |= 1u << REASON_ARG;
  return bits;
}

static bool reason_is_possible(int type, int reason) {
  switch (reason) {
  case REASON_REF: return looks_at_ref(type);
  case REASON_PRICE:
  case REASON_TICK: return looks_at_price(type);
  case REASON_QTY: return looks_at_qty(type);
  case REASON_ARG: return looks_at_arg(type);
  case REASON_EDGE: return !is_historys(type); /* else the owner is a reason too */
  default: return true;
  }
}

/* ---- everything else that can happen ---- */

#define EVENTS(X)                                                       \
  X(UNKNOWN_TYPE, "bad: unknown type")                                  \
  X(ORPHAN_REDUCE, "REDUCE of no order")                                \
  X(ORPHAN_DELETE, "DELETE of no order")                                \
  X(ORPHAN_AMEND, "AMEND of no order")                                  \
  X(UNKNOWN_REDUCE, "an agent's REDUCE of no order")                    \
  X(UNKNOWN_DELETE, "an agent's DELETE of no order")                    \
  X(UNKNOWN_AMEND, "an agent's AMEND of no order")                      \
  X(EXECUTE_GONE, "EXECUTE: order not there, others filled")            \
  X(EXECUTE_GONE_ORPHANED, "EXECUTE: order not there, shares orphaned") \
  X(EXECUTE_ORPHANED, "EXECUTE: order there, shares orphaned")          \
  X(NOT_AT_HEAD, "EXECUTE: not at the head")                            \
  X(WITHDRAWN, "EXECUTE: displaced shares withdrawn")                   \
  X(STRANDED, "EXECUTE: displaced shares stranded")                     \
  X(DUPLICATE, "ADD: duplicate reference")                              \
  X(DUPLICATE_IOC, "ADD IOC or FOK: duplicate reference")               \
  X(DUPLICATE_AGENT, "an agent's ADD: duplicate reference")             \
  X(REJECTED_STATE_MARKET, "MARKET while not trading")                  \
  X(REJECTED_STATE_IOC, "IOC while not trading")                        \
  X(REJECTED_STATE_FOK, "FOK while not trading")                        \
  X(REJECTED_POST_ONLY, "POST_ONLY that would take")                    \
  X(REJECTED_SLIDE, "SLIDE out of range")                               \
  X(REJECTED_AMEND, "AMEND POST_ONLY that would take")                  \
  X(REJECTED_FOK, "FOK that cannot be filled")                          \
  X(FOK_MEETS_NOBODY, "FOK that meets nobody")                          \
  X(FULL_REJECT, "full, rule reject")                                   \
  X(FULL_EVICT, "full, rule evict, not better")                         \
  X(EVICTED, "full, rule evict, better: evicted")                       \
  X(CROSSED_NO_MATCH, "NO_MATCH that crosses")                          \
  X(CROSSED_STATE, "ADD that crosses while not trading")                \
  X(CROSSED_AMEND, "AMEND that crosses while not trading")              \
  X(SELF_CANCEL_INCOMING, "self-trade: cancel incoming")                \
  X(SELF_CANCEL_RESTING, "self-trade: cancel resting")                  \
  X(SELF_CANCEL_BOTH, "self-trade: cancel both")                        \
  X(SELF_DECREMENT, "self-trade: decrement both")                       \
  X(SATURATED, "notional saturated")                                    \
  X(EDGE_TRADE, "trade of an EDGE record")                              \
  X(SWEEP, "five trades or more of one record")                         \
  X(SPILLED_ADD, "order spilled to another row")                        \
  X(SPILLED_LOOKUP, "order found in another row than its home")         \
  X(SPILLED_MISS, "absent order looked for in other rows too")          \
  X(RENUMBERED, "arrivals renumbered")                                  \
  X(TRADES_LOST, "trade that the ring did not take")

enum {
#define X(name, text) EVENT_##name,
  EVENTS(X)
#undef X
      EVENT_COUNT
};

static const char *const event_texts[] = {
#define X(name, text) text,
    EVENTS(X)
#undef X
};

enum { SIDES = 2, STATES = 3, CHOICES = 3 * 2 * 2 * 5 };

struct diff_coverage {
  int64_t legal[KINDS][SIDES][STATES][CHOICES];
  int64_t bad[WB_RECORD_TYPE_COUNT + 1][REASON_COUNT];
  int64_t events[EVENT_COUNT];
};

diff_coverage *diff_coverage_new(void) {
  diff_coverage *c = calloc(1, sizeof *c);
  if (c == NULL) abort();
  return c;
}

void diff_coverage_free(diff_coverage *coverage) { free(coverage); }

/* ---- counting ---- */

static void cover_bad(diff_coverage *c, const wb_record *r, int32_t tick) {
  if (r->type < WB_RECORD_ADD || r->type > WB_RECORD_TYPE_COUNT) {
    c->events[EVENT_UNKNOWN_TYPE]++;
    return;
  }
  uint32_t bits = reasons_of(r, tick);
  if (bits != 0 && (bits & (bits - 1)) == 0) c->bad[r->type][__builtin_ctz(bits)]++;
}

static void cover_absent(diff_coverage *c, const wb_record *r, bool agent) {
  static const int event[WB_RECORD_TYPE_COUNT + 1][2] = {
      [WB_RECORD_REDUCE] = {EVENT_ORPHAN_REDUCE, EVENT_UNKNOWN_REDUCE},
      [WB_RECORD_DELETE] = {EVENT_ORPHAN_DELETE, EVENT_UNKNOWN_DELETE},
      [WB_RECORD_AMEND] = {EVENT_ORPHAN_AMEND, EVENT_UNKNOWN_AMEND},
  };
  if (event[r->type][agent] != 0) c->events[event[r->type][agent]]++;
}

static int rejection_of(const wb_record *r, wb_trading_state state) {
  bool trading = state == WB_STATE_TRADING;
  if (r->type == WB_RECORD_MARKET) return EVENT_REJECTED_STATE_MARKET;
  if (r->type == WB_RECORD_AMEND) return EVENT_REJECTED_AMEND;
  if (r->flags & WB_FLAG_IOC) return EVENT_REJECTED_STATE_IOC;
  if (r->flags & WB_FLAG_FOK) return trading ? EVENT_REJECTED_FOK : EVENT_REJECTED_STATE_FOK;
  return r->flags & WB_FLAG_SLIDE ? EVENT_REJECTED_SLIDE : EVENT_REJECTED_POST_ONLY;
}

static void cover_execute(diff_coverage *c, const int64_t *moved) {
  bool orphaned = moved[WB_COUNT_ORPHANED_SHARES] != 0;
  bool orphan = moved[WB_COUNT_ORPHAN] != 0;
  bool traded = moved[WB_COUNT_TRADES] != 0;
  /* an orphan without orphaned shares was not there, and others were filled in its place */
  if (orphan && !orphaned) c->events[EVENT_EXECUTE_GONE]++;
  if (orphaned && !traded) c->events[EVENT_EXECUTE_GONE_ORPHANED]++;
  if (orphaned && traded) c->events[EVENT_EXECUTE_ORPHANED]++;
  if (moved[WB_COUNT_NOT_AT_HEAD] != 0) c->events[EVENT_NOT_AT_HEAD]++;
  if (moved[WB_COUNT_WITHDRAWN_SHARES] != 0) c->events[EVENT_WITHDRAWN]++;
  if (moved[WB_COUNT_STRANDED_SHARES] != 0) c->events[EVENT_STRANDED]++;
}

static bool is_idle_fok(const wb_record *r, wb_trading_state state, const int64_t *moved) {
  return r->type == WB_RECORD_ADD && (r->flags & WB_FLAG_FOK) != 0 && state == WB_STATE_TRADING &&
         moved[WB_COUNT_REJECTED] == 0 && moved[WB_COUNT_DUPLICATE_REF] == 0 &&
         moved[WB_COUNT_TRADES] == 0;
}

static void cover_events(diff_coverage *c, const wb_book_rules *rules, const wb_record *r,
                         wb_trading_state state, const int64_t *moved) {
  if (r->type == WB_RECORD_EXECUTE) {
    cover_execute(c, moved);
  } else {
    if (moved[WB_COUNT_ORPHAN] != 0) cover_absent(c, r, false);
    if (moved[WB_COUNT_UNKNOWN_REF] != 0) cover_absent(c, r, true);
  }
  if (moved[WB_COUNT_DUPLICATE_REF] != 0) {
    bool at_once = (r->flags & (WB_FLAG_IOC | WB_FLAG_FOK)) != 0;
    c->events[at_once ? EVENT_DUPLICATE_IOC : EVENT_DUPLICATE]++;
    if (r->owner != 0) c->events[EVENT_DUPLICATE_AGENT]++;
  }
  if (moved[WB_COUNT_REJECTED] != 0) c->events[rejection_of(r, state)]++;
  if (moved[WB_COUNT_BOOK_FULL] != 0) {
    bool evicts = rules->capacity_rule == WB_CAPACITY_EVICT;
    c->events[evicts ? EVENT_FULL_EVICT : EVENT_FULL_REJECT]++;
  }
  if (moved[WB_COUNT_EVICTED] != 0) c->events[EVENT_EVICTED]++;
  if (moved[WB_COUNT_CROSSED] != 0) {
    int event = state == WB_STATE_TRADING    ? EVENT_CROSSED_NO_MATCH
                : r->type == WB_RECORD_AMEND ? EVENT_CROSSED_AMEND
                                             : EVENT_CROSSED_STATE;
    c->events[event]++;
  }
  if (moved[WB_COUNT_SELF_TRADE] != 0) {
    c->events[EVENT_SELF_CANCEL_INCOMING + (int)rules->self_trade - 1]++;
  }
  if (is_idle_fok(r, state, moved)) c->events[EVENT_FOK_MEETS_NOBODY]++;
  if (moved[WB_COUNT_SATURATED] != 0) c->events[EVENT_SATURATED]++;
  if (moved[WB_COUNT_TRADES] != 0 && (r->flags & WB_FLAG_EDGE)) c->events[EVENT_EDGE_TRADE]++;
  if (moved[WB_COUNT_TRADES] >= 5) c->events[EVENT_SWEEP]++;
  if (moved[WB_COUNT_TRADES_LOST] != 0) c->events[EVENT_TRADES_LOST]++;
}

static int32_t choice_of(const wb_book_rules *rules) {
  return (((int32_t)rules->execute_policy * 2 + (int32_t)rules->displaced) * 2 +
          (int32_t)rules->capacity_rule) *
             5 +
         (int32_t)rules->self_trade;
}

void diff_cover(diff_coverage *c, const wb_book_rules *rules, const wb_record *r,
                wb_trading_state state, const int64_t *before, const int64_t *after) {
  int64_t moved[WB_COUNTERS];
  for (int i = 0; i < WB_COUNTERS; i++) {
    moved[i] = (int64_t)((uint64_t)after[i] - (uint64_t)before[i]);
  }
  if (moved[WB_COUNT_BAD_RECORD] != 0) {
    cover_bad(c, r, rules->tick_size);
    return;
  }
  int32_t kind = kind_of(r);
  if (kind >= 0) c->legal[kind][r->flags & WB_FLAG_SIDE][state][choice_of(rules)]++;
  cover_events(c, rules, r, state, moved);
}

void diff_cover_spills(diff_coverage *c, bool add_spilled, bool lookup_spilled, bool lookup_missed,
                       bool renumbered) {
  c->events[EVENT_SPILLED_ADD] += add_spilled;
  c->events[EVENT_SPILLED_LOOKUP] += lookup_spilled;
  c->events[EVENT_SPILLED_MISS] += lookup_missed;
  c->events[EVENT_RENUMBERED] += renumbered;
}

void diff_coverage_join(diff_coverage *all, const diff_coverage *part) {
  int64_t *to = (int64_t *)all;
  const int64_t *from = (const int64_t *)part;
  for (size_t i = 0; i < sizeof *all / sizeof *to; i++) to[i] += from[i];
}

/* ---- the table ---- */

static int32_t print_legal(const diff_coverage *c, FILE *out) {
  static const char *const states[] = {"trading", "quoting", "halted"};
  int32_t empty = 0;
  fprintf(out, "legal records: the rarest of both sides and all %d policies, and the sum\n",
          CHOICES);
  fprintf(out, "  %-28s %27s %27s %27s\n", "", states[0], states[1], states[2]);
  for (int32_t k = 0; k < KINDS; k++) {
    print_kind(k, out);
    for (int s = 0; s < STATES; s++) {
      int64_t least = INT64_MAX, sum = 0;
      for (int side = 0; side < SIDES; side++) {
        for (int i = 0; i < CHOICES; i++) {
          int64_t n = c->legal[k][side][s][i];
          least = n < least ? n : least;
          sum += n;
          empty += n == 0;
        }
      }
      fprintf(out, " %12lld of %11lld", (long long)least, (long long)sum);
    }
    fprintf(out, "\n");
  }
  return empty;
}

static int32_t print_bad(const diff_coverage *c, FILE *out) {
  int32_t empty = 0;
  fprintf(out, "bad records with one reason only\n  %-34s", "");
  for (int t = 1; t <= WB_RECORD_TYPE_COUNT; t++) fprintf(out, " %9s", type_names[t]);
  fprintf(out, "\n");
  for (int reason = 0; reason < REASON_COUNT; reason++) {
    fprintf(out, "  %-34s", reason_texts[reason]);
    for (int t = 1; t <= WB_RECORD_TYPE_COUNT; t++) {
      if (reason_is_possible(t, reason)) {
        fprintf(out, " %9lld", (long long)c->bad[t][reason]);
        empty += c->bad[t][reason] == 0;
      } else {
        fprintf(out, " %9s", "-");
      }
    }
    fprintf(out, "\n");
  }
  return empty;
}

int32_t diff_coverage_print(const diff_coverage *c, FILE *out) {
  int32_t empty = print_legal(c, out) + print_bad(c, out);
  fprintf(out, "what happened\n");
  for (int e = 0; e < EVENT_COUNT; e++) {
    fprintf(out, "  %-48s %12lld\n", event_texts[e], (long long)c->events[e]);
    empty += c->events[e] == 0;
  }
  fprintf(out, "cells that are 0: %d\n", empty);
  return empty;
}

/* What each message does, but EXECUTE: docs/semantics.md line by line, in its order.
 *
 * Each function starts with a message that is known to have the function's type. A check that fails
 * counts and leaves the record (refuse); what comes after it in the function then never runs. */
#include "kernels/internal.h"

void refuse(book *k, const message *m, wb_counter counter) {
  count(k, counter);
  LEAVE(m->over);
}

void not_plain_after_all(book *k, const message *m) {
  (void)k;
  LEAVE(m->not_plain);
}

void count_if_plain(book *k, wb_record_type type) {
  if (k->plain) count(k, counter_of_type(type));
}

bool may_come(const book *k, wb_record_type type) { return (k->can.types >> type & 1) != 0; }

bool may_rest_crossed(const book *k) { return may_halt(k) || may_have(k, WB_FLAG_NO_MATCH); }

bool may_be_of_agent(const book *k) { return k->can.agents && !k->plain; }

bool may_halt(const book *k) { return k->can.states && !k->plain; }

static uint32_t flags_that_may_come(const book *k) {
  return k->plain ? k->can.flags & (WB_FLAG_SIDE | WB_FLAG_ROW_END) : k->can.flags;
}

bool may_have(const book *k, wb_flag flag) { return (flags_that_may_come(k) & flag) != 0; }

val has_flag(book *k, const message *m, wb_flag flag) {
  return ne(bit_and(m->flags, (int)flag), 0);
}

val is_trading(book *k) { return eq(load_in(k->state, WB_CELL_TRADING_STATE), WB_STATE_TRADING); }

/* ---- valid records ---- */

/* The flags besides SIDE, EDGE and ROW_END, as one of 32 numbers: a bit for each that a type may
 * have. */
enum {
  NONE_OF_THEM = 1u << 0,
  ADD_FLAGS = 1u << (WB_FLAG_IOC >> 3) | 1u << (WB_FLAG_FOK >> 3) | 1u << (WB_FLAG_POST_ONLY >> 3) |
              1u << ((WB_FLAG_POST_ONLY | WB_FLAG_SLIDE) >> 3),
  HISTORY_ADD_FLAGS = 1u << (WB_FLAG_NO_MATCH >> 3),
  AMEND_FLAGS = 1u << (WB_FLAG_POST_ONLY >> 3),
  SPECIAL_FLAGS = WB_FLAG_NO_MATCH | WB_FLAG_IOC | WB_FLAG_FOK | WB_FLAG_POST_ONLY | WB_FLAG_SLIDE
};

static val has_bad_flags(book *k, const message *m, wb_record_type type) {
  uint32_t allowed = NONE_OF_THEM;
  if (type == WB_RECORD_ADD) allowed |= ADD_FLAGS;
  if (type == WB_RECORD_AMEND) allowed |= AMEND_FLAGS;
  val table = i32((int32_t)allowed);
  if (type == WB_RECORD_ADD) {
    table = choose(eq(m->owner, 0), (int32_t)(allowed | HISTORY_ADD_FLAGS), (int32_t)allowed);
  }
  val not_allowed = eq(bit_and(shr(table, shr(m->flags, 3)), 1), 0);
  val history_only = ne(bit_and(m->flags, WB_FLAG_EDGE | WB_FLAG_ROW_END), 0);
  return either(not_allowed, both(history_only, ne(m->owner, 0)));
}

/* History's references have the top two bits 00, the agents' 01. */
static val has_bad_ref(book *k, const message *m) {
  return ne(shr(m->ref, 30), choose(eq(m->owner, 0), 0, 1));
}

/* Out of range or no multiple of the tick: see wb_slab_set_tick. */
static val has_bad_price(book *k, const message *m) {
  val product = mul(m->price, load_in(k->state, WB_CELL_TICK_INVERSE));
  val skipped = add(product, load_in(k->state, WB_CELL_TICK_SKIP));
  val zeros = load_in(k->state, WB_CELL_TICK_ZEROS);
  val turned = bit_or(shr(skipped, bit_and(zeros, 31)), shl(skipped, bit_and(neg(zeros), 31)));
  return ugt(turned, load_in(k->state, WB_CELL_TICK_LIMIT));
}

/* Everything that can be wrong with a record of this type. */
static val has_fault(book *k, const message *m, wb_record_type type) {
  bool history_only = type >= WB_RECORD_EXECUTE;
  val bad = history_only ? ne(m->owner, 0) : lt(m->owner, 0);
  bad = either(bad, has_bad_flags(k, m, type));
  if (type <= WB_RECORD_EXECUTE) bad = either(bad, has_bad_ref(k, m));
  return bad;
}

/* History's records without any special flag, by far the most, need fewer looks. */
static val has_fault_or_is_plain(book *k, const message *m, wb_record_type type) {
  val special = bit_and(m->kind, (int32_t)(0xffffu | (uint32_t)SPECIAL_FLAGS << 24));
  var bad = variable(ne(i32(0), 0));
  if (type <= WB_RECORD_EXECUTE) assign(bad, ne(shr(m->ref, 30), 0));
  if (!k->plain) {
    IF_RARE(ne(special, 0)) { assign(bad, has_fault(k, m, type)); }
  }
  return value(bad);
}

val is_bad_record(book *k, const message *m, wb_record_type type) {
  bool looks_at_price =
      type == WB_RECORD_ADD || type == WB_RECORD_AMEND || type == WB_RECORD_EXECUTE;
  bool looks_at_qty = type != WB_RECORD_DELETE && type != WB_RECORD_STATE;
  bool looks_at_arg = type == WB_RECORD_NOTE || type == WB_RECORD_STATE;
  val bad = has_fault_or_is_plain(k, m, type);
  if (looks_at_price) bad = either(bad, has_bad_price(k, m));
  if (looks_at_qty) bad = either(bad, le(m->qty, 0));
  if (looks_at_arg) bad = either(bad, ugt(record_arg(k, m), 2));
  return bad;
}

/* ---- named orders ---- */

val record_owner(book *k, const message *m) { return may_be_of_agent(k) ? m->owner : i32(0); }

static void count_absent(book *k, const message *m) {
  if (may_be_of_agent(k)) {
    IF (eq(m->owner, 0)) {
      count(k, WB_COUNT_ORPHAN);
    }
    ELSE { count(k, WB_COUNT_UNKNOWN_REF); }
  } else {
    count(k, WB_COUNT_ORPHAN);
  }
  LEAVE(m->over);
}

/* An ADD must not bear the reference of an order that rests, on either side. */
static void refuse_duplicate(book *k, const message *m) {
  IF_RARE(rests_somewhere(k, m->ref)) {
    if (k->plain) {
      not_plain_after_all(k, m);
    } else {
      refuse(k, m, WB_COUNT_DUPLICATE_REF);
    }
  }
}

static void check_duplicate(book *k, const message *m) {
  if (!k->can.unique_refs) {
    refuse_duplicate(k, m);
  } else if (may_be_of_agent(k)) {
    IF_RARE(ne(m->owner, 0)) { refuse_duplicate(k, m); }
  }
}

val crosses(book *k, const message *m, val key) {
  return le(best_key(k, m->other), limit_against(k, key));
}

/* ---- ADD ---- */

static void bring(book *k, const message *m, val key, val limit) {
  assign(m->key, key);
  assign(m->limit, limit);
  assign(m->left, m->qty);
}

/* It rests at its own price, crossed or not. */
static void rest_as_it_is(book *k, const message *m) {
  assign(m->may_cross, eq(i32(0), 0));
  LEAVE(m->resting);
}

static val takes_or_drops(book *k, const message *m) {
  return ne(bit_and(m->flags, WB_FLAG_IOC | WB_FLAG_FOK), 0);
}

static bool some_drop(const book *k) {
  return may_have(k, WB_FLAG_IOC) || may_have(k, WB_FLAG_FOK);
}

/* POST_ONLY that would take: refused, or with SLIDE moved to one tick from the other side's best. */
static void post_only(book *k, const message *m, val key) {
  IF (crosses(k, m, key)) {
    if (may_have(k, WB_FLAG_SLIDE)) {
      IF (not_(has_flag(k, m, WB_FLAG_SLIDE))) {
        refuse(k, m, WB_COUNT_REJECTED);
      }
      /* seen from this side the other's best has minus its key; one tick further is worse */
      val touch = neg(key_of(k, load_in(k->best_rank, m->other)));
      val slid = add(touch, load_in(k->state, WB_CELL_TICK));
      /* a tick may be so large that the sum wraps */
      IF (either(gt(slid, WB_PRICE_LIMIT), lt(slid, touch))) {
        refuse(k, m, WB_COUNT_REJECTED);
      }
      assign(m->key, slid);
    } else {
      refuse(k, m, WB_COUNT_REJECTED);
    }
  }
  LEAVE(m->resting);
}

/* An ADD with one of the flags that most have not. */
static void add_special(book *k, message *m, val key, val limit) {
  if (may_have(k, WB_FLAG_NO_MATCH)) {
    IF (has_flag(k, m, WB_FLAG_NO_MATCH)) {
      rest_as_it_is(k, m);
    }
  }
  if (may_have(k, WB_FLAG_POST_ONLY)) {
    IF (has_flag(k, m, WB_FLAG_POST_ONLY)) {
      post_only(k, m, key);
    }
  }
  if (may_have(k, WB_FLAG_FOK)) {
    /* one that meets nobody is like an IOC: it has nothing to take */
    IF (both(has_flag(k, m, WB_FLAG_FOK), crosses(k, m, key))) {
      check_fill_or_kill(k, m, rank_behind(k, limit));
    }
  }
  if (some_drop(k)) assign(m->drops, takes_or_drops(k, m));
}

void add_order(book *k, message *m) {
  check_duplicate(k, m);
  count_if_plain(k, WB_RECORD_ADD);
  val key = key_at(k, m->side, m->price);
  val limit = limit_against(k, key);
  bring(k, m, key, limit);
  if (may_halt(k)) {
    IF_RARE(not_(is_trading(k))) {
      if (some_drop(k)) {
        IF (takes_or_drops(k, m)) {
          refuse(k, m, WB_COUNT_REJECTED);
        }
      }
      rest_as_it_is(k, m);
    }
  }
  if ((flags_that_may_come(k) & SPECIAL_FLAGS) != 0) {
    IF_RARE(ne(bit_and(m->flags, SPECIAL_FLAGS), 0)) { add_special(k, m, key, limit); }
  }
}

/* ---- MARKET, REDUCE, DELETE ---- */

void market_order(book *k, message *m) {
  if (k->can.states) {
    IF_RARE(not_(is_trading(k))) { refuse(k, m, WB_COUNT_REJECTED); }
  }
  bring(k, m, i32(0), i32(INT32_MAX - 1)); /* every order's key, and no empty side's */
  assign(m->drops, eq(i32(0), 0));
}

void reduce_order(book *k, message *m) {
  val slot = find(k, m, count_absent);
  count_if_plain(k, WB_RECORD_REDUCE);
  val left = sub(load_in(k->qty, slot), m->qty);
  IF (gt(left, 0)) {
    store_in(k->qty, slot, left);
  }
  ELSE { take_out_named(k, m, slot); }
  LEAVE(m->over);
}

void delete_order(book *k, message *m) {
  val slot = find(k, m, count_absent);
  count_if_plain(k, WB_RECORD_DELETE);
  take_out_named(k, m, slot);
  LEAVE(m->over);
}

/* ---- AMEND ---- */

void amend_order(book *k, message *m) {
  val slot = find(k, m, count_absent);
  val key = key_at(k, m->side, m->price);
  val same_price = eq(key, key_of(k, load_in(k->rank, slot)));
  IF (both(same_price, le(m->qty, load_in(k->qty, slot)))) {
    store_in(k->qty, slot, m->qty);
    LEAVE(m->over);
  }
  if (may_have(k, WB_FLAG_POST_ONLY)) {
    val refused = both(has_flag(k, m, WB_FLAG_POST_ONLY), crosses(k, m, key));
    if (k->can.states) refused = both(refused, is_trading(k));
    IF_RARE(refused) { refuse(k, m, WB_COUNT_REJECTED); }
  }
  take_out_named(k, m, slot);
  bring(k, m, key, limit_against(k, key));
  if (k->can.states) {
    IF_RARE(not_(is_trading(k))) { rest_as_it_is(k, m); }
  }
}

/* ---- NOTE, STATE ---- */

void count_note(book *k, message *m) {
  /* the three sums stand in the order of the notes */
  val counter = known(add(record_arg(k, m), WB_COUNT_HIDDEN_VOLUME), WB_COUNT_HIDDEN_VOLUME,
                      WB_COUNT_UNRESOLVED_VOLUME);
  add_to_in(k->counters, counter, i64(m->qty));
  LEAVE(m->over);
}

void set_state(book *k, message *m) {
  val state = record_arg(k, m);
  store_in(k->state, WB_CELL_TRADING_STATE, state);
  if (k->has_copies) assign(k->trading_state, state);
  LEAVE(m->over);
}

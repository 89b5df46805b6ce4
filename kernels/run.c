/* The message loop: one dispatch, each message type its own function.
 *
 * Nearly all records are *plain*: history's, of a common type, without a special flag, while the exchange
 * trades. The common types are recorded twice: one test at the start of a record does for all that a plain
 * one need not be asked, and what turns out to be unusual - a bad field, an order that is not in its home
 * row - before anything was done goes the way of all others.
 *
 * What every message needs - the cursor, the next arrival, the number of trades held - stays in
 * variables for a launch and is written back at its end, so where launches are cut shows nowhere. */
#include "kernels/internal.h"

typedef void handler_function(book *k, message *m);

static const struct {
  wb_record_type type;
  handler_function *handle;
} handlers[] = {
    {WB_RECORD_ADD, add_order},         {WB_RECORD_DELETE, delete_order},
    {WB_RECORD_EXECUTE, execute_order}, {WB_RECORD_REDUCE, reduce_order},
    {WB_RECORD_MARKET, market_order},   {WB_RECORD_AMEND, amend_order},
    {WB_RECORD_NOTE, count_note},       {WB_RECORD_STATE, set_state},
};

enum {
  HANDLERS = sizeof handlers / sizeof handlers[0],
  HOT_HANDLERS = 4,
  LIKELY_HANDLERS = 2, /* the first ones */
  LARGE_ROWS = 16      /* a side: a slab that does not stay in the nearest cache */
};

void open_slab(book *k, wb_builder *builder, const wb_book_layout *layout) {
  k->builder = builder;
  k->rows = layout->rows;
  k->summary_rows = layout->summary_rows;
  k->capacity = layout->capacity;
  k->rank = layout->rank;
  k->ref = layout->ref;
  k->qty = layout->qty;
  k->owner = layout->owner;
  k->used = layout->used;
  k->spill = layout->spill;
  k->row_rank = layout->row_rank;
  k->row_slot = layout->row_slot;
  k->best_rank = layout->best_rank;
  k->best_slot = layout->best_slot;
  k->agents = layout->agents;
  k->head = layout->head;
  k->state = layout->state;
  k->counters = layout->counters;
  k->row_words = view(k->row_rank, I32);
  k->best_words = view(k->best_rank, I32);
}

/* ---- reading a record: eight words of 32 bits, see wb_record ---- */

enum { WORD_REF = 2, WORD_PRICE = 3, WORD_QTY = 4, WORD_ARG = 5, WORD_KIND = 7, RECORD_WORDS };
/* the type in that last word, and what a plain record has none of: an owner, flags but two */
enum { TRADE_WORDS = 4 }; /* of 64 bits */
enum { TYPE_ONE = 1 << 16, TYPE_MASK = 0xff * TYPE_ONE };
static const uint32_t not_plain = 0xffffu | (0xffu & ~(uint32_t)(WB_FLAG_SIDE | WB_FLAG_ROW_END))
                                                << 24;

static val word_of(book *k, const message *m, int word) {
  return load_in(k->words, add(m->first_word, add(m->words, word)));
}

val record_index(book *k, const message *m) {
  if (!m->in_parts) return m->record;
  return add(load_in(k->head, WB_HEAD_CURSOR), i64(m->count)); /* written back at the end */
}

val record_arg(book *k, const message *m) { return word_of(k, m, WORD_ARG); }

val record_time(book *k, const message *m) {
  return bit_or(u64(word_of(k, m, 0)), shl(u64(word_of(k, m, 1)), 32));
}

void split_kind(book *k, message *m) {
  m->owner = sar(shl(m->kind, 16), 16);
  m->type = bit_and(shr(m->kind, 16), 0xff);
  m->flags = shr(m->kind, 24);
  m->side = bit_and(m->flags, WB_FLAG_SIDE);
  m->other = bit_xor(m->side, 1);
}

/* ---- reading a tape ---- */

static message record_of(book *k, const tape_reader *s, val count) {
  message m = {.in_parts = true, .first_word = s->first_word, .count = count};
  m.words = mul(i64(count), RECORD_WORDS);
  return m;
}

/* The record behind number `count`. */
static void read_ahead(book *k, const tape_reader *s, val count) {
  message before = record_of(k, s, count);
  assign(s->kind, word_of(k, &before, RECORD_WORDS + WORD_KIND));
  assign(s->qty, word_of(k, &before, RECORD_WORDS + WORD_QTY));
}

tape_reader open_tape(book *k, val first, val records) {
  tape_reader s = {.first_word = mul(first, RECORD_WORDS), .last_but_one = sub(records, 2)};
  s.kind = variable(0);
  s.qty = variable(0);
  read_ahead(k, &s, sub(k->taken, 1));
  return s;
}

message read_message(book *k, const tape_reader *s, val count) {
  message m = record_of(k, s, count);
  m.kind = value(s->kind);
  m.qty = value(s->qty);
  read_ahead(k, s, min(count, s->last_but_one));
  m.ref = word_of(k, &m, WORD_REF);
  m.price = word_of(k, &m, WORD_PRICE);
  return m;
}

/* ---- one record ---- */

/* A record that the features left out: the book stops before it. */
static void stop(book *k, const message *m) {
  val record = record_index(k, m);
  store_in(k->head, WB_HEAD_FAULT, add(record, 1));
  LEAVE(m->run);
}

static void refuse_bad(book *k, const message *m, wb_record_type type) {
  IF_RARE(is_bad_record(k, m, type)) {
    if (k->plain) {
      LEAVE(m->not_plain);
    } else {
      refuse(k, m, WB_COUNT_BAD_RECORD);
    }
  }
}

static void take_record(book *k, message *m, int handler) {
  wb_record_type type = handlers[handler].type;
  if (k->can.bad_records) refuse_bad(k, m, type);
  if (!may_come(k, type)) {
    stop(k, m);
    return;
  }
  if (!k->plain) count(k, counter_of_type(type));
  if (may_have(k, WB_FLAG_EDGE)) {
    IF_RARE(has_flag(k, m, WB_FLAG_EDGE)) { count(k, WB_COUNT_EDGE_RECORDS); }
  }
  handlers[handler].handle(k, m);
}

/* An EXECUTE of the aggressive policy matches like an order. */
static bool may_be_plain(const book *k, wb_record_type type) {
  if (!may_come(k, type)) return false;
  return type != WB_RECORD_EXECUTE || k->can.execute_policy != WB_EXECUTE_AGGRESSIVE;
}

static void no_type(book *k, const message *m) {
  if (k->can.bad_records) {
    refuse(k, m, WB_COUNT_BAD_RECORD);
  } else {
    stop(k, m);
  }
}

static void add_case(book *k, message *m, int handler, int32_t of_type) {
  wb_record_type type = handlers[handler].type;
  if (k->plain && !may_be_plain(k, type)) return;
  if (!k->can.bad_records && !may_come(k, type)) return;
  wb_hint hint = handler < LIKELY_HANDLERS ? WB_HINT_LIKELY : WB_HINT_NONE;
  WB_CASE((int32_t)type * of_type, hint) { take_record(k, m, handler); }
}

static void dispatch(book *k, message *m) {
  SWITCH (bit_and(m->kind, TYPE_MASK)) {
    for (int h = 0; h < HANDLERS; h++) add_case(k, m, h, TYPE_ONE);
    DEFAULT { no_type(k, m); }
  }
}

/* The likely types first, by one comparison each: of more cases LLVM would make a tree. For that the
 * second switch is on another value. */
static void dispatch_plain(book *k, message *m) {
  SWITCH (bit_and(m->kind, TYPE_MASK)) {
    for (int h = 0; h < LIKELY_HANDLERS; h++) add_case(k, m, h, TYPE_ONE);
    DEFAULT {
      SWITCH (m->type) {
        for (int h = LIKELY_HANDLERS; h < HOT_HANDLERS; h++) add_case(k, m, h, 1);
        DEFAULT { LEAVE(m->not_plain); }
      }
    }
  }
}

static void write_row(book *k) {
  val rows = load_in(k->head, WB_HEAD_ROWS);
  val first = mul(rows, mul(i64(k->depth), 4));
  const val offset[2] = {i64(2), i64(0)}; /* the ask first */
  write_levels(k, k->row_book, first, k->depth, i64(4), offset);
  store_in(k->head, WB_HEAD_ROWS, add(rows, 1));
}

/* What ADD, MARKET and AMEND have in common: take, then rest. */
static void take_and_rest(book *k, message *m) {
  BLOCK(resting) {
    m->resting = resting;
    if (k->plain) {
      dispatch_plain(k, m);
    } else {
      dispatch(k, m);
    }
    match(k, m);
    IF_RARE(m->drops) { LEAVE(m->over); }
  }
  rest(k, m, value(m->key), value(m->left));
  if (may_rest_crossed(k)) {
    IF_RARE(m->may_cross) {
      IF (crosses(k, m, value(m->key))) {
        count(k, WB_COUNT_CROSSED);
      }
    }
  }
}

void apply_message(book *k, const message *m) {
  IF_RARE(eq(k->next_arrival, WB_ARRIVAL_RENUMBER)) { renumber(k); }
  apply_numbered(k, m);
}

/* Whether flags, owners or the trading state may make a record special. */
static bool may_be_special(const book *k) {
  return k->can.bad_records || k->can.agents || k->can.states ||
         (k->can.flags & ~(uint32_t)(WB_FLAG_SIDE | WB_FLAG_ROW_END)) != 0;
}

static void take_if_plain(book *k, message *m) {
  k->plain = true;
  split_kind(k, m);
  take_and_rest(k, m);
  k->plain = false;
  LEAVE(m->over);
}

/* Takes the record and leaves it if it is plain. */
static void try_plain(book *k, message *m) {
  BLOCK(not_plain_one) {
    m->not_plain = not_plain_one;
    if (may_be_special(k)) {
      val special = bit_and(m->kind, (int32_t)not_plain);
      IF_LIKELY(eq(bit_or(special, k->trading_state), 0)) { take_if_plain(k, m); }
    } else {
      take_if_plain(k, m);
    }
  }
  split_kind(k, m);
}

void apply_numbered(book *k, const message *m) {
  message one = *m; /* what is found out about it is known inside its block only */
  one.key = variable(0);
  one.left = variable(0);
  one.limit = variable(0);
  one.drops = variable(ne(i32(0), 0));
  one.may_cross = variable(ne(i32(0), 0));
  BLOCK(over) {
    one.over = over;
    if (k->splits) try_plain(k, &one);
    take_and_rest(k, &one);
  }
}

static void one_record(book *k, label run, const tape_reader *s, val count) {
  message m = read_message(k, s, count);
  m.run = run;
  apply_numbered(k, &m);
  if (k->can.rows && may_have(k, WB_FLAG_ROW_END)) {
    IF (ne(bit_and(m.kind, WB_FLAG_ROW_END << 24), 0)) {
      write_row(k);
    }
  }
}

/* ---- the program ---- */

static void open_launch(book *k) {
  k->records = buffer_shared("records", I64);
  k->trades = buffer_per_book_out("trades", I64);
  grouped(k->trades, TRADE_WORDS);
  k->row_book = buffer_per_book_out("rows", I64);
  k->words = view(k->records, I32);
  k->limit = param_i64("limit");
  k->trade_room = i32(min(param_i64("trade_room"), i64(INT32_MAX)));
  k->depth = param_i32("depth");
}

/* The status word has a bit for each of its counters that has moved. */
void write_status(book *k) {
  val moved = ballot(gt(load_row_in(k->counters, 0), i64(0)));
  store_in(k->state, WB_CELL_STATUS, bit_and(moved, (1 << WB_STATUS_BIT_COUNT) - 1));
}

/* Looks at every row and finds nothing wrong with a slab that kernels made. What for: the rows of a
 * large book that has been away come near all at once, not one miss after another, which makes books
 * in turn twice as fast. */
static val is_sound(book *k) {
  var signs = variable(splat(i32(0)));
  var least_ref = variable(splat(i32(0)));
  var least_rank = variable(splat(i64(0)));
  FOR (row, 0, 2 * k->rows) {
    assign(signs, bit_or(signs, bit_or(load_row_in(k->qty, row), load_row_in(k->owner, row))));
    assign(least_ref, min(least_ref, load_row_in(k->ref, row)));
    assign(least_rank, min(least_rank, load_row_in(k->rank, row)));
  }
  val references = all(both(ge(signs, 0), ge(least_ref, -1)));
  return both(references, all(gt(least_rank, i64(INT64_MIN))));
}

/* The rows of a large book, worth it where most of them will be needed. */
static void look_at_rows(book *k, val records, label over) {
  if (k->rows < LARGE_ROWS) return;
  IF (ge(records, 2 * k->rows)) {
    IF_RARE(not_(is_sound(k))) { LEAVE(over); }
  }
}

/* Records that this launch still takes (i32); none if the book has stopped. */
static val records_left(book *k) {
  val there = sub(load_in(k->head, WB_HEAD_END), load_in(k->head, WB_HEAD_CURSOR));
  val records = i32(min(min(there, k->limit), i64(INT32_MAX)));
  return choose(eq(load_in(k->head, WB_HEAD_FAULT), 0), sub(records, k->taken), i32(0));
}

/* What trades and the types that come most often count. */
static void open_hot_counters(book *k) {
  uint32_t tallied = 1u << WB_COUNT_TRADES;
  for (int h = 0; h < LIKELY_HANDLERS; h++) {
    if (may_come(k, handlers[h].type)) {
      tallied |= 1u << counter_of_type(handlers[h].type);
    }
  }
  open_counters(k, tallied, 0);
}

/* One record after another. Each uses up at most one arrival number, so as many as there are numbers left
 * need not look at them. What is needed once for all of these is read again each time: variables are for
 * what a record needs. */
static void take_records(book *k) {
  WHILE_AS(run, gt(records_left(k), 0)) {
    IF_RARE(eq(k->next_arrival, WB_ARRIVAL_RENUMBER)) { renumber(k); }
    val numbers = max(sub(WB_ARRIVAL_RENUMBER, k->next_arrival), 1);
    val stop_at = add(k->taken, min(records_left(k), numbers));
    val first = add(load_in(k->head, WB_HEAD_TAPE), load_in(k->head, WB_HEAD_CURSOR));
    tape_reader s = open_tape(k, first, stop_at);
    LOOP(numbered) {
      val i = value(k->taken);
      one_record(k, run, &s, i);
      assign(k->taken, add(i, 1));
      IF (gt(i, s.last_but_one)) {
        LEAVE(numbered);
      }
    }
  }
}

void open_copies(book *k) {
  k->has_copies = true;
  k->trading_state = variable(load_in(k->state, WB_CELL_TRADING_STATE));
  k->spilled = variable(load_in(k->state, WB_CELL_SPILLED));
}

static void run_book(book *k) {
  k->taken = variable(0);
  k->next_arrival = variable(load_in(k->state, WB_CELL_NEXT_ARRIVAL));
  k->trades_held = variable(i32(load_in(k->head, WB_HEAD_TRADES)));
  open_copies(k);
  k->splits = true;
  open_hot_counters(k);
  BLOCK(over) {
    look_at_rows(k, records_left(k), over);
    take_records(k);
  }
  close_counters(k);
  add_to_in(k->head, WB_HEAD_CURSOR, i64(k->taken));
  store_in(k->state, WB_CELL_NEXT_ARRIVAL, k->next_arrival);
  store_in(k->head, WB_HEAD_TRADES, i64(k->trades_held));
  write_status(k);
}

wb_status wb_run_program_build(const wb_book_layout *layout, const wb_book_features *features,
                               wb_program **out, wb_error *error) {
  wb_builder *builder = NULL;
  WB_TRY(wb_builder_new("wb_run", WB_WIDTH, layout->layout, &builder, error));
  book k = {.can = *features};
  open_slab(&k, builder, layout);
  open_launch(&k);
  run_book(&k);
  return wb_builder_finish(builder, out, error);
}

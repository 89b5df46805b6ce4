/* What the files of the kernels share: the book being recorded, one message of it, and the parts that
 * messages are made of. Included last, since it brings in the short names of the kernel language.
 *
 * Every function here records: what it says happens when the kernel runs. Keep to the invariants of
 * layout.h between messages; inside one, each function says what it leaves behind. */
#ifndef WB_KERNELS_INTERNAL_H
#define WB_KERNELS_INTERNAL_H

#include "kernels/book.h"
#include "kernels/slab.h"

#define WB_BUILDER k->builder
#include "compiler/dsl.h"

typedef struct book book;
typedef struct message message;

/* Recorded at each trade, after it was counted and before the resting order in `slot` changes. */
typedef void trade_function(book *k, const message *m, val side, val slot, val maker, val price,
                            val shares);

struct book {
  wb_builder *builder;
  wb_book_features can;

  bool plain; /* what is being recorded happens only to plain records: see run.c */

  int32_t rows;         /* of a side */
  int32_t summary_rows; /* of a side */
  int32_t capacity;     /* of a side */

  /* the slab, as layout.h tells */
  array rank, ref, qty, owner, used, spill, row_rank, row_slot;
  array best_rank, best_slot, agents, head, state, counters;
  array row_words, best_words; /* row_rank and best_rank as i32 */

  /* a launch */
  array records;  /* i64, 4 a record */
  array words;    /* the same as i32, 8 a record */
  array trades;   /* i64, 4 a trade */
  array row_book; /* i64, 2 a level */
  val limit, trade_room, depth;

  /* what changes with every message stays out of memory until the end of a launch */
  var taken;        /* i32: records that the launch's loop has taken */
  var next_arrival; /* i32 */
  var trades_held;  /* i32 */
  /* if has_copies: i32, what the slab has too */
  bool has_copies;
  var trading_state, spilled;
  bool splits; /* plain records are recorded apart, which asks for the copies */

  /* counters that a launch moves often: how far since its start (i32), or all of it (i64) */
  uint32_t tallied, held; /* bit c: counter c */
  var counter[WB_COUNTER_CELLS];

  trade_function *on_trade; /* NULL: nobody asks */
  void *context;            /* of whoever records more than messages */
};

/* A record, as far as it has been read. */
struct message {
  /* its index in its tape (i64), or, if `in_parts`, how many records it comes behind the cursor in
   * memory (`count`): the sum is for those who need it */
  bool in_parts;
  val record;
  val count, first_word, words; /* it lies `words` words of 32 bits behind word `first_word` */
  val side;                     /* i32: 0 bid, 1 ask; of the order that it makes or names */
  val other;                    /* i32: the opposite side */
  val kind;                     /* i32: owner, type and flags as they stand in it */
  val type, flags, owner, ref;
  val price, qty;  /* of those types that look at them */
  label over;      /* LEAVE(m->over): done with this record */
  label run;       /* LEAVE(m->run): done with this launch */
  label not_plain; /* LEAVE(m->not_plain): it must be asked for everything */

  /* The order that an ADD, MARKET or AMEND brings. Their functions set it and end, or leave by
   * `over` or `resting`; all others leave by `over`. One piece of code behind the dispatch then lets
   * it take, and what is left of it rest. */
  label resting; /* LEAVE(m->resting): it takes nothing */
  var key;       /* i32: of the price at which it rests */
  var limit;     /* i32: it takes orders with keys up to this */
  var left;      /* i32: shares */
  var drops;     /* bool: what it does not take never rests */
  var may_cross; /* bool: it may rest although it crosses */
};

/* ---- ranks ---- */

val key_at(book *k, val side, val price);   /* i32: smaller is better */
val price_at(book *k, val side, val key);   /* the way back */
val key_of(book *k, val rank);              /* i32: the high half; also of lanes */
val rank_of(book *k, val key, val arrival); /* i64 */
val rank_behind(book *k, val key);          /* above every rank with this key or a better one */
val limit_against(book *k, val key);        /* keys up to it cross an order of this key */

/* ---- one side: side.c ---- */

/* An order picked from a side by rank; rank is WB_RANK_NONE if there is none. */
typedef struct pick {
  val rank, slot;
} pick;

val row_of_side(book *k, val side, val row);
val best_key(book *k, val side); /* INT32_MAX if it is empty */

/* The slot of the order that the record names, found by its home row and, if that has spilled orders,
 * in the rows behind it; of a plain record by its home row alone. Where there is none, `absent` is
 * recorded, which must leave. */
typedef void absent_function(book *k, const message *m);
val find(book *k, const message *m, absent_function *absent);

/* The same as a question: 1 << lane in `*lanes` (0: none), in row `*row`. */
void look_up(book *k, val side, val ref, var lanes, var row);
/* bool: an order of either side has this reference. */
val rests_somewhere(book *k, val ref);

val owner_at(book *k, val slot); /* i32 */

/* Takes an order out of the book and repairs the summaries. */
void take_out(book *k, val side, val slot, val ref, val owner);
/* The same for the order that the record names, which was found in `slot`. */
void take_out_named(book *k, const message *m, val slot);
/* The same for the side's best order. */
void take_out_best(book *k, val side, val slot, val ref, val owner);

/* Puts the incoming order to rest behind all others of its price; the capacity rule may refuse it,
 * which leaves m->over. */
void rest(book *k, const message *m, val key, val qty);

/* The best order of a side among those that `chosen` (lanes of bool for a row) picks. */
typedef val chosen_function(book *k, val row, val ranks, const void *context);
pick best_of(book *k, val side, chosen_function *chosen, const void *context);

/* Makes all summaries anew from the rows. */
void repair_all(book *k);

/* ---- trades and matching: match.c ---- */

/* The counter of the records of a type. */
static inline wb_counter counter_of_type(wb_record_type type) {
  return (wb_counter)(WB_COUNT_TYPE_ADD + type - WB_RECORD_ADD);
}

void count(book *k, wb_counter counter);
void count_many(book *k, wb_counter counter, val amount); /* i32 or i64 */
val counter_value(book *k, wb_counter counter);           /* i64 */
void set_counter(book *k, wb_counter counter, val amount);
/* Keeps these counters (bit c: counter c) in variables until close_counters: `tallied` ones, which are
 * only counted up, and `held` ones. */
void open_counters(book *k, uint32_t tallied, uint32_t held);
void close_counters(book *k);

/* Trades with the order in `slot`, which leaves if used up, for at most `left` shares, which fall.
 * `is_best`: the order is known to be the best of its side. */
void fill(book *k, const message *m, val side, val slot, val taker, var left, bool is_best);
/* The trade alone: counted and handed out. */
void trade(book *k, const message *m, val side, val slot, val maker, val maker_owner, val taker,
           val shares);

/* Matches the incoming order against the other side, best first. Leaves m->over if nothing is left or
 * self-trade prevention cancels the order; goes on with shares left otherwise. */
void match(book *k, const message *m);

/* Refuses a FOK that would not be filled. */
void check_fill_or_kill(book *k, const message *m, val limit); /* a rank */

/* ---- messages: messages.c, execute.c ---- */

val is_bad_record(book *k, const message *m, wb_record_type type);
void refuse(book *k, const message *m, wb_counter counter); /* counts and leaves */
/* Leaves what is recorded for plain records: nothing has been done for this one yet. */
void not_plain_after_all(book *k, const message *m);
/* Behind the last place where it might leave: counts it by its type. */
void count_if_plain(book *k, wb_record_type type);
/* Who sent the record, and so who owns the order that it names. */
val record_owner(book *k, const message *m);
val is_trading(book *k);
val has_flag(book *k, const message *m, wb_flag flag);
bool may_have(const book *k, wb_flag flag);
bool may_come(const book *k, wb_record_type type);
bool may_rest_crossed(const book *k); /* some order may rest although it crosses */
bool may_be_of_agent(const book *k);  /* some record may be an agent's */
bool may_halt(const book *k);         /* some record may come while the exchange does not trade */
val crosses(book *k, const message *m, val key);

void add_order(book *k, message *m);
void market_order(book *k, message *m);
void reduce_order(book *k, message *m);
void delete_order(book *k, message *m);
void amend_order(book *k, message *m);
void execute_order(book *k, message *m);
void count_note(book *k, message *m);
void set_state(book *k, message *m);

/* One after another, each order gets the smallest number that is free: renumber.c */
void renumber(book *k);

/* Levels of both sides, best first, into `out` from element `first` on: level l of a side begins at
 * element first + l * stride + offset[side]; levels.c */
void write_levels(book *k, array out, val first, val depth, val stride, const val offset[2]);

/* Makes the slab's arrays known to the book of a new program. */
void open_slab(book *k, wb_builder *builder, const wb_book_layout *layout);

/* ---- the message loop: run.c ---- */

/* Copies what tells whether a record is plain into variables. */
void open_copies(book *k);
/* The records of a launch, counted from the one at the cursor: where they lie, and of the next one what
 * its dispatch waits for. That is read one record ahead, and with it the whole of it comes near: 32 bytes
 * are what a GPU moves at a time. */
typedef struct tape_reader {
  val first_word;   /* i64, of the first record */
  val last_but_one; /* i32: the record before the last */
  var kind, qty;    /* i32, of the next record */
} tape_reader;

/* `first` (i64): where the record at the cursor lies among those of all tapes; `records` (i32): how many
 * there are from there on, more than have been taken. */
tape_reader open_tape(book *k, val first, val records);
/* Each in its turn: the one `count` (i32) behind the cursor. Its kind is not split yet. */
message read_message(book *k, const tape_reader *s, val count);
val record_index(book *k, const message *m); /* in its tape */
val record_time(book *k, const message *m);  /* i64 */
val record_arg(book *k, const message *m);   /* read by the few types that look at it */
/* Fields of a record that has been read in part: owner, type, flags and sides from its kind. */
void split_kind(book *k, message *m);
/* Everything that a record does to the book; m->run is where a record goes that was not expected. */
void apply_message(book *k, const message *m);
/* The same where it is known that an arrival number is left. */
void apply_numbered(book *k, const message *m);
/* Brings the status word up to date. */
void write_status(book *k);

#endif

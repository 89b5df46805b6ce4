/* Questions to a book: each a program of its own that writes one answer per book. */
#include "kernels/internal.h"

#include "base/hash.h"

typedef struct question {
  array answer;
  val depth, side, price, ref;
} question;

/* ---- levels, volume, queue ---- */

static void answer_levels(book *k, const question *q) {
  const val offset[2] = {i64(0), mul(i64(q->depth), 2)};
  write_levels(k, q->answer, i64(0), q->depth, i64(2), offset);
}

typedef val shares_function(book *k, val ranks, const void *context);

/* Shares of those orders of a side that `counts` (lanes of bool for a row's ranks) picks. */
static val shares_of(book *k, val side, shares_function *counts, const void *context) {
  val first = row_of_side(k, side, i32(0));
  return rows_add(i, k->rows, i64(0), ({
                    val row = add(first, i);
                    val ranks = load_row_in(k->rank, row);
                    val taken = both(ne(ranks, i64(WB_RANK_NONE)), counts(k, ranks, context));
                    choose(taken, i64(load_row_in(k->qty, row)), i64(0));
                  }));
}

static val has_key(book *k, val ranks, const void *context) {
  const val *key = context;
  return eq(i32(sar(ranks, 32)), *key);
}

static void answer_volume(book *k, const question *q) {
  val key = key_at(k, q->side, q->price);
  store(q->answer, 0, shares_of(k, q->side, has_key, &key));
}

static val is_ahead(book *k, val ranks, const void *context) {
  const val *rank = context;
  return both(lt(ranks, *rank), eq(i32(sar(ranks, 32)), key_of(k, *rank)));
}

static void answer_queue(book *k, const question *q) {
  var lanes = variable(0);
  var row = variable(0);
  IF (ge(q->ref, 0)) {
    look_up(k, q->side, q->ref, lanes, row);
  }
  IF (ne(lanes, 0)) {
    val slot = add(mul(row, WB_WIDTH), bit_and(ctz(lanes), WB_WIDTH - 1));
    val rank = load_in(k->rank, slot);
    store(q->answer, 0, shares_of(k, q->side, is_ahead, &rank));
  }
  ELSE { store(q->answer, 0, i64(-1)); }
}

/* ---- hashes; see docs/semantics.md ---- */

static val shift_xor(book *k, val x, int by) { return bit_xor(x, shr(x, by)); }

static val mix(book *k, val x) {
  x = mul(shift_xor(k, x, 30), (int64_t)UINT64_C(0xbf58476d1ce4e5b9));
  x = mul(shift_xor(k, x, 27), (int64_t)UINT64_C(0x94d049bb133111eb));
  return shift_xor(k, x, 31);
}

static val two_words(book *k, val high, val low) { return bit_or(shl(u64(high), 32), u64(low)); }

static val hash_of_row(book *k, val side, val row) {
  val ranks = load_row_in(k->rank, row);
  val price = choose(splat(ne(side, 0)), i32(sar(ranks, 32)), neg(i32(sar(ranks, 32))));
  val a = two_words(k, splat(side), price);
  val b = two_words(k, load_row_in(k->qty, row), load_row_in(k->ref, row));
  val c = two_words(k, load_row_in(k->owner, row), i32(ranks));
  val h = mix(k, add(mix(k, add(mix(k, add(a, (int64_t)WB_HASH_GOLDEN)), b)), c));
  return choose(eq(ranks, i64(WB_RANK_NONE)), i64(0), h);
}

static val book_hash(book *k) {
  var sum = variable(splat(i64(0)));
  FOR (side, 0, 2) {
    FOR (i, 0, k->rows) {
      assign(sum, add(sum, hash_of_row(k, side, row_of_side(k, side, i))));
    }
  }
  return reduce_add(sum);
}

static val chain(book *k, val hash, val word) {
  return mix(k, add(add(hash, (int64_t)WB_HASH_GOLDEN), word));
}

static void answer_hashes(book *k, const question *q) {
  val orders = book_hash(k);
  var hash = variable(orders);
  assign(hash, chain(k, value(hash), i64(load_in(k->state, WB_CELL_NEXT_ARRIVAL))));
  assign(hash, chain(k, value(hash), i64(load_in(k->state, WB_CELL_TRADING_STATE))));
  FOR (c, 0, WB_COUNTERS) {
    IF (ne(c, WB_COUNT_TRADES_LOST)) {
      assign(hash, chain(k, value(hash), load_in(k->counters, c)));
    }
  }
  store(q->answer, 0, orders);
  store(q->answer, 1, hash);
}

/* ---- the programs ---- */

typedef void answer_function(book *k, const question *q);

static const struct {
  const char *name;
  answer_function *answer;
} queries[WB_QUERY_COUNT] = {
    [WB_QUERY_LEVELS] = {"wb_levels", answer_levels},
    [WB_QUERY_VOLUME_AT] = {"wb_volume_at", answer_volume},
    [WB_QUERY_QUEUE_AHEAD] = {"wb_queue_ahead", answer_queue},
    [WB_QUERY_HASHES] = {"wb_hashes", answer_hashes},
};

wb_status wb_query_program_build(const wb_book_layout *layout, wb_query query, wb_program **out,
                                 wb_error *error) {
  *out = NULL;
  if ((int)query < 0 || query >= WB_QUERY_COUNT) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "book query: expected 0 to %d, got %d",
                   WB_QUERY_COUNT - 1, (int)query);
  }
  wb_builder *builder = NULL;
  WB_TRY(wb_builder_new(queries[query].name, WB_WIDTH, layout->layout, &builder, error));
  book kernel = {0};
  book *k = &kernel;
  open_slab(k, builder, layout);
  question q = {.answer = buffer_per_book_out("answer", I64)};
  q.depth = param_i32("asked_depth");
  q.side = bit_and(param_i32("asked_side"), 1);
  q.price = param_i32("asked_price");
  q.ref = param_i32("asked_ref");
  queries[query].answer(k, &q);
  return wb_builder_finish(builder, out, error);
}

int64_t wb_query_answer_length(wb_query query, int32_t depth) {
  switch (query) {
  case WB_QUERY_LEVELS: return 4 * (int64_t)depth;
  case WB_QUERY_HASHES: return 2;
  default: return 1;
  }
}

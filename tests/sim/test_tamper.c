/* A proof that cannot fail proves nothing: tapes of which one record was dropped or changed.
 *
 * Each of 1,000 runs tampers with one record inside the source's window, and the replay must say so
 * at the very row. Where it must show is worked out by a second, naive book in this file (one array
 * of orders, searched from end to end), not by the engine under test.
 *
 * Dropped or changed means the side, price, quantity or type of a record that acts at a price inside
 * the window. What cannot be seen in a book file even in principle is not tried: the order of a
 * queue, another order of the same level, more shares than a last order has, and a type that does
 * the same (an EXECUTE of an order that is there and a REDUCE of it leave one book). */
#include "data/input.h"
#include "sim/replay.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RUNS = 1000, MOST_ORDERS = 4096 };

/* ---- the naive book ---- */

typedef struct naive_order {
  int32_t ref, price, qty, arrival;
  int side;
} naive_order;

typedef struct naive {
  naive_order orders[MOST_ORDERS];
  int count;
  int32_t arrival;
  bool trading;
} naive;

static bool is_better(int side, int32_t price, int32_t other) {
  return side == WB_SIDE_ASK ? price < other : price > other;
}

static int find_ref(const naive *book, int32_t ref) {
  for (int i = 0; i < book->count; i++) {
    if (book->orders[i].ref == ref) {
      return i;
    }
  }
  return -1;
}

static int find_best(const naive *book, int side) {
  int best = -1;
  for (int i = 0; i < book->count; i++) {
    const naive_order *order = &book->orders[i];
    const naive_order *old = best < 0 ? NULL : &book->orders[best];
    if (order->side == side && (old == NULL || is_better(side, order->price, old->price) ||
                                (order->price == old->price && order->arrival < old->arrival))) {
      best = i;
    }
  }
  return best;
}

static void take(naive *book, int at, int32_t qty) {
  book->orders[at].qty -= qty;
  if (book->orders[at].qty <= 0) {
    book->orders[at] = book->orders[--book->count];
  }
}

static void rest(naive *book, int32_t ref, int side, int32_t price, int32_t qty) {
  cr_assert(book->count < MOST_ORDERS);
  book->orders[book->count++] = (naive_order){ref, price, qty, book->arrival++, side};
}

/* Takes from `side` at `price` or better; returns what is left. */
static int32_t match(naive *book, int side, int32_t price, bool any_price, int32_t qty) {
  while (qty > 0) {
    int best = find_best(book, side);
    if (best < 0 || (!any_price && is_better(side, price, book->orders[best].price))) {
      break;
    }
    int32_t fill = book->orders[best].qty < qty ? book->orders[best].qty : qty;
    qty -= fill;
    take(book, best, fill);
  }
  return qty;
}

static void execute(naive *book, const wb_record *record, int side, int at) {
  int32_t left = record->qty;
  int32_t price = record->price;
  if (at >= 0) {
    price = book->orders[at].price;
    int32_t fill = book->orders[at].qty < left ? book->orders[at].qty : left;
    left -= fill;
    take(book, at, fill);
  }
  (void)match(book, side, price, false, left);
}

static void apply(naive *book, const wb_record *record) {
  int side = (record->flags & WB_FLAG_SIDE) != 0 ? WB_SIDE_ASK : WB_SIDE_BID;
  int at = find_ref(book, record->ref);
  int named = at >= 0 && book->orders[at].side == side ? at : -1;
  int32_t left = record->qty;
  switch (record->type) {
  case WB_RECORD_ADD:
    if (at >= 0) {
      return;
    }
    if (book->trading && (record->flags & WB_FLAG_NO_MATCH) == 0) {
      left = match(book, 1 - side, record->price, false, left);
    }
    if (left > 0) {
      rest(book, record->ref, side, record->price, left);
    }
    return;
  case WB_RECORD_MARKET:
    if (book->trading) {
      (void)match(book, 1 - side, 0, true, left);
    }
    return;
  case WB_RECORD_REDUCE:
    if (named >= 0) {
      take(book, named, left);
    }
    return;
  case WB_RECORD_DELETE:
    if (named >= 0) {
      take(book, named, book->orders[named].qty);
    }
    return;
  case WB_RECORD_EXECUTE: execute(book, record, side, named); return;
  case WB_RECORD_STATE: book->trading = record->arg == WB_STATE_TRADING; return;
  default: return;
  }
}

/* Whether the book's levels are those of a source row. */
static bool equals_row(const naive *book, const wb_tape *tape, int64_t row) {
  const int32_t *price = &tape->book_price[row * 2 * tape->levels];
  const int64_t *qty = &tape->book_qty[row * 2 * tape->levels];
  for (int side = 0; side < 2; side++) {
    bool first = true;
    int32_t last = 0;
    for (int32_t level = 0; level < tape->levels; level++) {
      int32_t found = WB_NO_PRICE;
      int64_t sum = 0;
      for (int i = 0; i < book->count; i++) {
        const naive_order *order = &book->orders[i];
        if (order->side != side || (!first && !is_better(side, last, order->price))) {
          continue;
        }
        if (found == WB_NO_PRICE || is_better(side, order->price, found)) {
          found = order->price;
          sum = 0;
        }
        sum += order->price == found ? order->qty : 0;
      }
      int at = 2 * level + (side == WB_SIDE_ASK ? 0 : 1);
      if (price[at] != found || qty[at] != sum) {
        return false;
      }
      if (found == WB_NO_PRICE) {
        break;
      }
      first = false;
      last = found;
    }
  }
  return true;
}

/* The first row from `row` on that is not the source's, when the records from `record` on follow; -1
 * if there is none. A row without records stands where the row before stood. */
static int64_t first_wrong_row(naive *book, const wb_tape *tape, int64_t record, int64_t row) {
  for (; record < tape->record_count; record++) {
    const wb_record *next = &tape->records[record];
    for (; row < next->row; row++) {
      if (!equals_row(book, tape, row)) {
        return row;
      }
    }
    apply(book, next);
    if ((next->flags & WB_FLAG_ROW_END) != 0 && !equals_row(book, tape, row++)) {
      return row - 1;
    }
  }
  for (; row < tape->row_count; row++) {
    if (!equals_row(book, tape, row)) {
      return row;
    }
  }
  return -1;
}

static void seed_naive(naive *book, const wb_tape *tape) {
  book->count = 0;
  book->arrival = 1;
  book->trading = true;
  for (int32_t i = 0; i < tape->seed_count; i++) {
    rest(book, tape->seed[i].ref, tape->seed[i].side, tape->seed[i].price, tape->seed[i].qty);
  }
}

/* ---- tampering ---- */

static uint64_t next_random(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  return wb_mix64(*state);
}

/* The price at which a record acts; false if it acts on no order that is there. */
static bool acting_price(const naive *book, const wb_record *record, int32_t *price,
                         int32_t *resting) {
  int at = find_ref(book, record->ref);
  *resting = at >= 0 ? book->orders[at].qty : 0;
  if (record->type == WB_RECORD_ADD) {
    *price = record->price;
    return true;
  }
  *price = at >= 0 ? book->orders[at].price : 0;
  return at >= 0 && record->type != WB_RECORD_NOTE && record->type != WB_RECORD_STATE;
}

/* Inside: no worse than the last level that the source shows of that side after the row (before it,
 * for what takes away). A side that is not full shows every price. */
static bool is_inside(const wb_tape *tape, const wb_record *record, int32_t price) {
  int side = (record->flags & WB_FLAG_SIDE) != 0 ? WB_SIDE_ASK : WB_SIDE_BID;
  int64_t row = record->type == WB_RECORD_ADD ? record->row : record->row - 1;
  int64_t last_level = (row + 1) * 2 * tape->levels - 2;
  int32_t last = tape->book_price[last_level + (side == WB_SIDE_ASK ? 0 : 1)];
  return last == WB_NO_PRICE || !is_better(side, last, price);
}

typedef enum tampering { DROPPED, QTY, PRICE, SIDE, TYPE, TAMPERINGS } tampering;

static const char *const tampering_names[] = {"dropped", "quantity", "price", "side", "type"};

static void drop(wb_tape *tape, int64_t index) {
  wb_record *record = &tape->records[index];
  if (index > 0 && (record->flags & WB_FLAG_ROW_END) != 0 && record[-1].row == record->row) {
    record[-1].flags |= WB_FLAG_ROW_END;
  }
  memmove(record, record + 1, (size_t)(--tape->record_count - index) * sizeof *record);
}

static bool change_qty(wb_record *record, int32_t resting, bool up) {
  bool adds = record->type == WB_RECORD_ADD;
  if (record->type == WB_RECORD_DELETE || (!adds && up && record->qty >= resting) ||
      (!up && record->qty == 1)) {
    return false;
  }
  record->qty += up ? 1 : -1;
  return true;
}

static bool change_type(wb_record *record, int32_t resting, bool up) {
  record->flags &= WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END;
  if (record->type == WB_RECORD_ADD) {
    record->type = up ? WB_RECORD_MARKET : WB_RECORD_DELETE;
  } else if (up || record->type == WB_RECORD_DELETE || record->qty >= resting) {
    record->type = WB_RECORD_ADD;
  } else {
    record->type = WB_RECORD_DELETE;
  }
  return true;
}

/* Tampers with a record; false where this way of doing it could not be seen. */
static bool tamper(wb_tape *tape, int64_t index, tampering how, int32_t resting, bool up) {
  wb_record *record = &tape->records[index];
  switch (how) {
  case DROPPED: drop(tape, index); return true;
  case QTY: return change_qty(record, resting, up);
  case PRICE:
    /* only what comes to rest needs its price: another record finds its order by reference */
    record->price += up ? tape->tick_size : -tape->tick_size;
    return record->type == WB_RECORD_ADD;
  case SIDE: record->flags ^= WB_FLAG_SIDE; return true;
  case TYPE: return change_type(record, resting, up);
  default: return false;
  }
}

static void expect_shown(const wb_tape *tape, int64_t index, tampering how, int64_t expected) {
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result;
  wb_error error = {0};
  options.stop_at_difference = true;
  cr_assert_eq(wb_replay(tape, &options, &result, &error), WB_OK, "%s", error.text);
  cr_assert(result.different, "record %lld (%s): no difference was reported", (long long)index,
            tampering_names[how]);
  cr_assert_eq(result.first_difference.row, expected,
               "record %lld (%s): expected row %lld, reported row %lld", (long long)index,
               tampering_names[how], (long long)expected, (long long)result.first_difference.row);
}

/* One run: tampers with a record before which the naive book stands. False if it was not done. */
static bool tamper_once(wb_tape *tape, const naive *before, int64_t index, tampering how, bool up) {
  static naive book;
  const wb_record *record = &tape->records[index];
  int64_t row = record->row;
  int32_t price, resting;
  if (row <= 0 || !acting_price(before, record, &price, &resting) ||
      !is_inside(tape, record, price) || !tamper(tape, index, how, resting, up)) {
    return false;
  }
  book = *before;
  int64_t expected = first_wrong_row(&book, tape, index, row);
  cr_assert_eq(expected, row, "record %lld (%s) of row %lld shows at row %lld", (long long)index,
               tampering_names[how], (long long)row, (long long)expected);
  expect_shown(tape, index, how, expected);
  return true;
}

/* Goes through the tape with the naive book at its heels; tampers where chance says so. */
static void tamper_everywhere(wb_tape *tape, uint64_t seed) {
  static naive book;
  const int64_t count = tape->record_count;
  const size_t bytes = (size_t)count * sizeof(wb_record);
  wb_record *clean = malloc(bytes);
  int runs = 0, counts[TAMPERINGS] = {0};
  uint64_t state = seed;
  cr_assert_not_null(clean);
  memcpy(clean, tape->records, bytes);
  tape->unique_refs = false; /* a changed tape promises nothing */
  for (int64_t i = 0; runs < RUNS; i = (i + 1) % count) {
    if (i == 0) {
      seed_naive(&book, tape);
    }
    uint64_t random = next_random(&state);
    if ((random >> 32) % (uint64_t)count < RUNS) {
      tampering how = (tampering)((random >> 8) % TAMPERINGS);
      bool ran = tamper_once(tape, &book, i, how, (random & 1) != 0);
      runs += ran;
      counts[how] += ran;
      tape->record_count = count;
      memcpy(tape->records, clean, bytes);
    }
    apply(&book, &clean[i]);
  }
  for (int how = 0; how < TAMPERINGS; how++) {
    fprintf(stderr, "%s %d, ", tampering_names[how], counts[how]);
    cr_expect_gt(counts[how], 50);
  }
  fprintf(stderr, "%d runs, seed %llu\n", runs, (unsigned long long)seed);
  free(clean);
}

static void check_day(const char *path) {
  wb_tape *tape = NULL;
  wb_error error = {0};
  static naive book;
  cr_assert_eq(wb_tape_read(path, NULL, &tape, &error), WB_OK, "%s", error.text);
  /* untouched, both books agree with every row */
  wb_replay_options options = wb_replay_options_default();
  wb_replay_result result;
  cr_assert_eq(wb_replay(tape, &options, &result, &error), WB_OK, "%s", error.text);
  cr_assert_eq(result.rows_equal, tape->row_count);
  seed_naive(&book, tape);
  cr_assert_eq(first_wrong_row(&book, tape, 0, 0), -1);
  tamper_everywhere(tape, 20120621);
  wb_tape_free(tape);
}

Test(tamper, the_bundled_sample, .timeout = 300) {
  check_day(WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv");
}

Test(tamper, five_thousand_rows_of_a_real_day, .timeout = 300) {
  const char *data = getenv("WB_TEST_DATA");
  char path[4096];
  snprintf(path, sizeof path,
           "%s/data/lobster/GOOG_L10_first5000/GOOG_2012-06-21_34200000_57600000_message_10.csv",
           data != NULL ? data : "");
  if (access(path, R_OK) != 0) {
    cr_skip_test("no recorded day at %s (WB_TEST_DATA)", path);
  }
  check_day(path);
}

/* From source rows to records.
 *
 * The files show L levels a side of a book that goes on below them. This reader keeps every order it
 * has heard of, also below the window, and after each message compares the top of its book with the
 * vendor's row. What differs can only be what the window hid: a level that slid in, one that left and
 * comes back changed, a ghost that was emptied out of sight. Edge records mend these, at the end of
 * the queue, so that orders that were seen before keep their places.
 *
 * Keep: an edge record touches only prices strictly worse than level L of the row before, on its side
 * (a side that showed fewer than L levels hid nothing); any other difference is a contradiction
 * between the two files, counted and mended by nothing. Every row but row 0 makes a record. */
#include "data/lobster_window.h"

#include "data/large.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEPT_LEVELS = 3 /* times the window's depth; levels beyond are dropped */ };

#define FIRST_RECORD_ROOM 1024

/* slots of wb_tape's blocks */
enum { BLOCK_RECORDS = 0, BLOCK_IDS = 1 };

wb_status wb_lobster_window_start(wb_lobster_window *window, wb_tape *tape, bool strict,
                                  int64_t rows, wb_error *error) {
  memset(window, 0, sizeof *window);
  window->tape = tape;
  window->strict = strict;
  window->record_room = rows + rows / 2 + FIRST_RECORD_ROOM;
  window->ref_room = FIRST_RECORD_ROOM;
  window->bound[0] = window->bound[1] = INT64_MIN;
  tape->records = wb_large_alloc((size_t)window->record_room * sizeof *tape->records);
  tape->ids = malloc((size_t)window->ref_room * sizeof *tape->ids);
  tape->blocks[BLOCK_RECORDS] = tape->records;
  tape->blocks[BLOCK_IDS] = tape->ids;
  if (tape->records == NULL || tape->ids == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for %" PRId64 " records",
                   window->record_room);
  }
  return wb_queue_book_start(&window->book, rows / 2, error);
}

void wb_lobster_window_end(wb_lobster_window *window) { wb_queue_book_free(&window->book); }

/* ---- findings ---- */

wb_status wb_lobster_window_finding(wb_lobster_window *window, wb_finding_kind kind, int64_t row,
                                    wb_error *error, const char *format, ...) {
  wb_tape *tape = window->tape;
  if (window->findings[kind] == WB_FINDINGS_KEPT) {
    return WB_OK;
  }
  char text[WB_ERROR_TEXT_BYTES];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (tape->finding_count == window->finding_room) {
    int64_t room = window->finding_room > 0 ? window->finding_room * 2 : 16;
    wb_finding *larger = wb_arena_array(&tape->arena, (size_t)room, sizeof *larger);
    if (larger == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for findings");
    }
    if (tape->finding_count > 0) {
      memcpy(larger, tape->findings, (size_t)tape->finding_count * sizeof *larger);
    }
    tape->findings = larger;
    window->finding_room = room;
  }
  char *kept = wb_arena_text(&tape->arena, text);
  if (kept == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for findings");
  }
  tape->findings[tape->finding_count++] = (wb_finding){kind, row, kept};
  window->findings[kind]++;
  return WB_OK;
}

/* Counts the row at hand as contradicted, once; the first reason is kept. */
static wb_status contradict(wb_lobster_window *window, wb_error *error, const char *name,
                            int64_t line, const char *what) {
  if (window->contradicted) {
    return WB_OK;
  }
  window->contradicted = true;
  window->tape->counts.contradictions++;
  if (window->strict) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s line %" PRId64 ": %s", name, line, what);
  }
  return wb_lobster_window_finding(window, WB_FINDING_CONTRADICTION, window->place.row, error,
                                   "%s line %" PRId64 ": %s", name, line, what);
}

/* ---- records ---- */

static wb_status grow_records(wb_lobster_window *window, wb_error *error) {
  wb_tape *tape = window->tape;
  int64_t room = window->record_room + window->record_room / 2 + 1;
  wb_record *larger =
      room <= INT32_MAX ? realloc(tape->records, (size_t)room * sizeof *larger) : NULL;
  if (larger == NULL) {
    return room > INT32_MAX
               ? WB_FAIL(error, WB_ERROR_LIMIT,
                         "%s line %" PRId64 ": a tape holds up to 2^31 records",
                         window->place.message_name, window->place.message_line)
               : WB_FAIL(error, WB_ERROR_MEMORY, "no memory for %" PRId64 " records", room);
  }
  tape->records = larger;
  tape->blocks[BLOCK_RECORDS] = larger;
  window->record_room = room;
  return WB_OK;
}

/* The next reference, and the external id it stands for. */
static wb_status new_ref(wb_lobster_window *window, int64_t id, int32_t *ref, wb_error *error) {
  wb_tape *tape = window->tape;
  if (tape->ref_count == window->ref_room) {
    int64_t room = (int64_t)window->ref_room * 2;
    if (tape->ref_count == WB_REF_AGENT_FIRST) {
      return WB_FAIL(error, WB_ERROR_LIMIT, "%s line %" PRId64 ": a tape names up to 2^30 orders",
                     window->place.message_name, window->place.message_line);
    }
    int64_t *larger = realloc(tape->ids, (size_t)room * sizeof *larger);
    if (larger == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for %" PRId64 " references", room);
    }
    tape->ids = larger;
    tape->blocks[BLOCK_IDS] = larger;
    window->ref_room = room < WB_REF_AGENT_FIRST ? (int32_t)room : WB_REF_AGENT_FIRST;
  }
  *ref = tape->ref_count++;
  tape->ids[*ref] = id;
  return WB_OK;
}

static wb_status put(wb_lobster_window *window, wb_record record, wb_error *error) {
  wb_tape *tape = window->tape;
  if (tape->record_count == window->record_room) {
    WB_TRY(grow_records(window, error));
  }
  record.row = (int32_t)window->place.row;
  tape->records[tape->record_count++] = record;
  tape->counts.edge_records += (record.flags & WB_FLAG_EDGE) != 0;
  return WB_OK;
}

static inline uint8_t side_flag(wb_side side) { return side == WB_SIDE_ASK ? WB_FLAG_SIDE : 0; }

static inline int32_t key_price(wb_side side, int32_t key) {
  return side == WB_SIDE_ASK ? -key : key;
}

static void track_largest(wb_lobster_window *window, wb_side side) {
  wb_reader_counts *counts = &window->tape->counts;
  int64_t orders = window->book.side[side].orders;
  counts->largest_side = orders > counts->largest_side ? orders : counts->largest_side;
}

/* Whether an order at `key` would lock or cross the other side. */
static bool crosses(const wb_lobster_window *window, wb_side side, int32_t key) {
  const wb_queue_side *other = &window->book.side[1 - side];
  return other->count > 0 && key >= -other->levels[other->count - 1].key;
}

/* ---- messages ---- */

/* An order that the message submits comes to rest. */
static wb_status submit(wb_lobster_window *window, const wb_source_row *message, int32_t price,
                        wb_error *error) {
  wb_reader_counts *counts = &window->tape->counts;
  wb_side side = message->direction > 0 ? WB_SIDE_BID : WB_SIDE_ASK;
  int32_t key = wb_queue_key(side, price), ref = 0;
  uint8_t flags = side_flag(side);
  if (window->state == WB_STATE_TRADING && crosses(window, side, key)) {
    flags |= WB_FLAG_NO_MATCH;
    counts->crossed_rows++;
    const wb_lobster_place *at = &window->place;
    if (window->strict) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "%s line %" PRId64 ": price: expected a submission that rests, got %" PRId64
                     ", which locks or crosses the book while trading",
                     at->message_name, at->message_line, message->price);
    }
    WB_TRY(wb_lobster_window_finding(window, WB_FINDING_CROSSED, at->row, error,
                                     "%s line %" PRId64 ": the submission at %" PRId64
                                     " locks or crosses the book while trading",
                                     at->message_name, at->message_line, message->price));
  }
  const wb_queue_level *level = wb_queue_level_at(&window->book.side[side], key);
  if (level != NULL && level->named.newest != WB_QUEUE_NONE) {
    counts->late_adds += message->id < window->book.orders[level->named.newest].id;
  }
  WB_TRY(new_ref(window, message->id, &ref, error));
  WB_TRY(put(window,
             (wb_record){.time_ns = message->time_ns,
                         .ref = ref,
                         .price = price,
                         .qty = message->size,
                         .type = WB_RECORD_ADD,
                         .flags = flags},
             error));
  return wb_queue_add(&window->book, side, key, message->size, message->id, ref, error);
}

/* Takes up to *left shares off one order, by a record of the message's kind. */
static wb_status take(wb_lobster_window *window, const wb_source_row *message, int32_t order,
                      int32_t *left, wb_error *error) {
  const wb_queue_order *resting = &window->book.orders[order];
  int32_t qty = resting->qty < *left ? resting->qty : *left;
  uint8_t type = message->type == 4 ? WB_RECORD_EXECUTE
                                    : (qty == resting->qty ? WB_RECORD_DELETE : WB_RECORD_REDUCE);
  wb_side side = (wb_side)resting->side;
  WB_TRY(put(window,
             (wb_record){.time_ns = message->time_ns,
                         .ref = resting->ref,
                         .price = key_price(side, resting->key),
                         .qty = qty,
                         .type = type,
                         .flags = side_flag(side)},
             error));
  wb_queue_take(&window->book, order, qty);
  *left -= qty;
  return WB_OK;
}

/* A message that could not be resolved still has a record. */
static wb_status put_note(wb_lobster_window *window, const wb_source_row *message, int32_t price,
                          wb_note note, wb_error *error) {
  return put(window,
             (wb_record){.time_ns = message->time_ns,
                         .price = price,
                         .qty = message->size,
                         .arg = (int32_t)note,
                         .type = WB_RECORD_NOTE,
                         .flags = side_flag(message->direction > 0 ? WB_SIDE_BID : WB_SIDE_ASK)},
             error);
}

static void count_unknown(wb_reader_counts *counts, const wb_source_row *message) {
  counts->unknown_ids++;
  counts->unknown_partial_cancels += message->type == 2;
  counts->unknown_deletions += message->type == 3;
  counts->unknown_executions += message->type == 4;
  counts->unknown_shares += message->size;
}

/* Types 2, 3 and 4 with the book file at hand: the named order as far as it holds, then anonymous
 * ones at that side and price, oldest first, then named ones, newest first. */
static wb_status resolve(wb_lobster_window *window, const wb_source_row *message, int32_t price,
                         int32_t named, wb_error *error) {
  wb_side side = message->direction > 0 ? WB_SIDE_BID : WB_SIDE_ASK;
  int32_t key = wb_queue_key(side, price), left = message->size;
  const wb_queue_side *resting = &window->book.side[side];
  if (named != WB_QUEUE_NONE) {
    WB_TRY(take(window, message, named, &left, error));
  }
  while (left > 0) {
    const wb_queue_level *level = wb_queue_level_at(resting, key);
    if (level == NULL) {
      break;
    }
    int32_t next = level->anonymous.oldest;
    WB_TRY(take(window, message, next != WB_QUEUE_NONE ? next : level->named.newest, &left, error));
  }
  if (left == 0) {
    return WB_OK;
  }
  if (left == message->size) {
    WB_TRY(put_note(window, message, price, WB_NOTE_UNRESOLVED, error));
  }
  char what[160];
  (void)snprintf(what, sizeof what,
                 "size: takes %" PRId32 " shares at %" PRId64 ", where %" PRId32 " rest",
                 message->size, message->price, message->size - left);
  return contradict(window, error, window->place.message_name, window->place.message_line, what);
}

/* The same without a book file: only orders that the file submitted are known. */
static wb_status resolve_alone(wb_lobster_window *window, const wb_source_row *message,
                               int32_t price, int32_t named, wb_error *error) {
  if (named == WB_QUEUE_NONE) {
    return put_note(window, message, price, WB_NOTE_UNRESOLVED, error);
  }
  int32_t holds = window->book.orders[named].qty;
  /* a deletion takes all there is: part of it may have gone out of sight */
  int32_t left = message->type == 3 ? holds : message->size;
  WB_TRY(take(window, message, named, &left, error));
  if (message->size <= holds) {
    return WB_OK;
  }
  char what[160];
  (void)snprintf(what, sizeof what,
                 "size: takes %" PRId32 " shares off order %" PRId64 ", which holds %" PRId32,
                 message->size, message->id, holds);
  return contradict(window, error, window->place.message_name, window->place.message_line, what);
}

static wb_status take_off(wb_lobster_window *window, const wb_source_row *message, int32_t price,
                          wb_error *error) {
  bool known;
  int32_t named = wb_queue_named(&window->book, message->id, &known);
  if (!known) {
    count_unknown(&window->tape->counts, message);
  }
  if (named != WB_QUEUE_NONE) {
    /* an order that rests elsewhere is not the one the message means */
    const wb_queue_order *order = &window->book.orders[named];
    wb_side side = message->direction > 0 ? WB_SIDE_BID : WB_SIDE_ASK;
    if (order->side != side || order->key != wb_queue_key(side, price)) {
      named = WB_QUEUE_NONE;
    }
  }
  return window->place.book_name != NULL ? resolve(window, message, price, named, error)
                                         : resolve_alone(window, message, price, named, error);
}

static wb_status set_state(wb_lobster_window *window, const wb_source_row *message,
                           wb_error *error) {
  window->state = message->price < 0    ? WB_STATE_HALTED
                  : message->price == 0 ? WB_STATE_QUOTING
                                        : WB_STATE_TRADING;
  return put(window,
             (wb_record){.time_ns = message->time_ns,
                         .arg = (int32_t)window->state,
                         .type = WB_RECORD_STATE},
             error);
}

static wb_status apply(wb_lobster_window *window, const wb_source_row *message, int32_t price,
                       wb_error *error) {
  switch (message->type) {
  case 1: return submit(window, message, price, error);
  case 5: return put_note(window, message, price, WB_NOTE_HIDDEN, error);
  case 6: return put_note(window, message, price, WB_NOTE_AUCTION, error);
  case 7: return set_state(window, message, error);
  default: return take_off(window, message, price, error);
  }
}

/* ---- the window's edge ---- */

/* One side of the row at hand, for the functions below. */
typedef struct edge {
  wb_lobster_window *window;
  int64_t time_ns;
  wb_side side;
  int32_t levels;
  const int32_t *price; /* [2 * levels], this side's at 2 * i */
  const int64_t *qty;
} edge;

static inline edge edge_of(wb_lobster_window *window, int64_t time_ns, wb_side side,
                           const int32_t *price, const int64_t *qty) {
  int32_t first = side == WB_SIDE_ASK ? 0 : 1;
  return (edge){window, time_ns, side, window->tape->levels, price + first, qty + first};
}

/* An order slides in; it waits behind all others at its price. */
static wb_status edge_add(const edge *e, int32_t key, int64_t qty, wb_error *error) {
  wb_lobster_window *window = e->window;
  bool locks = window->state == WB_STATE_TRADING && crosses(window, e->side, key);
  while (qty > 0) {
    int32_t ref = 0, part = qty < INT32_MAX ? (int32_t)qty : INT32_MAX;
    WB_TRY(new_ref(window, 0, &ref, error));
    WB_TRY(put(window,
               (wb_record){.time_ns = e->time_ns,
                           .ref = ref,
                           .price = key_price(e->side, key),
                           .qty = part,
                           .type = WB_RECORD_ADD,
                           .flags = (uint8_t)(side_flag(e->side) | WB_FLAG_EDGE |
                                              (locks ? WB_FLAG_NO_MATCH : 0))},
               error));
    WB_TRY(wb_queue_add(&window->book, e->side, key, part, 0, ref, error));
    window->tape->counts.edge_adds++;
    qty -= part;
  }
  return WB_OK;
}

/* The newer of a level's newest named and anonymous orders. */
static int32_t newest_of(const wb_queue_book *book, const wb_queue_level *level) {
  int32_t a = level->named.newest, b = level->anonymous.newest;
  if (a == WB_QUEUE_NONE || b == WB_QUEUE_NONE) {
    return a != WB_QUEUE_NONE ? a : b;
  }
  return book->orders[a].ref > book->orders[b].ref ? a : b;
}

/* Shares leave a level, newest first. `reduces` and `deletes` count, NULL for drops. */
static wb_status edge_take(const edge *e, int32_t key, int64_t qty, bool drop, wb_error *error) {
  wb_lobster_window *window = e->window;
  wb_queue_side *side = &window->book.side[e->side];
  while (qty > 0) {
    const wb_queue_level *level = wb_queue_level_at(side, key);
    int32_t at = newest_of(&window->book, level);
    const wb_queue_order *order = &window->book.orders[at];
    bool whole = order->qty <= qty;
    int32_t part = whole ? order->qty : (int32_t)qty;
    WB_TRY(put(window,
               (wb_record){.time_ns = e->time_ns,
                           .ref = order->ref,
                           .price = key_price(e->side, key),
                           .qty = part,
                           .type = whole ? WB_RECORD_DELETE : WB_RECORD_REDUCE,
                           .flags = (uint8_t)(side_flag(e->side) | WB_FLAG_EDGE)},
               error));
    window->tape->counts.edge_deletes += whole && !drop;
    window->tape->counts.edge_reduces += !whole;
    wb_queue_take(&window->book, at, part);
    qty -= part;
  }
  return WB_OK;
}

/* A level where book and row differ is one of the two files' mistakes if the row before showed it. */
static wb_status disagree(const edge *e, int32_t level, int32_t key, int64_t got, int64_t expected,
                          wb_error *error) {
  if (e->window->contradicted) {
    return WB_OK;
  }
  char what[192];
  (void)snprintf(what, sizeof what,
                 "%s level %" PRId32 ": expected %" PRId64 " shares at %" PRId64
                 " after the messages so far, got %" PRId64,
                 e->side == WB_SIDE_ASK ? "ask" : "bid", level + 1, expected,
                 e->window->tape->base + key_price(e->side, key), got);
  return contradict(e->window, error, e->window->place.book_name, e->window->place.book_line, what);
}

/* Brings one level from `have` shares to `want`. */
static wb_status mend(const edge *e, int32_t level, int32_t key, int64_t have, int64_t want,
                      wb_error *error) {
  if (key >= e->window->bound[e->side]) {
    return disagree(e, level, key, want, have, error);
  }
  e->window->tape->counts.edge_corrections++;
  return want > have ? edge_add(e, key, want - have, error)
                     : edge_take(e, key, have - want, false, error);
}

/* Walks the row's levels and the book's together, best first, and mends where they differ. */
static wb_status mend_side(const edge *e, wb_error *error) {
  wb_queue_side *side = &e->window->book.side[e->side];
  int32_t below = side->count; /* levels [0, below) of the book are still to be seen */
  int32_t i = 0;
  for (; i < e->levels && e->price[2 * i] != WB_NO_PRICE; i++) {
    int32_t key = wb_queue_key(e->side, e->price[2 * i]);
    /* better levels that the row does not show */
    while (below > 0 && side->levels[below - 1].key > key) {
      const wb_queue_level *ghost = &side->levels[below - 1];
      WB_TRY(mend(e, i, ghost->key, ghost->qty, 0, error));
      below--;
    }
    bool there = below > 0 && side->levels[below - 1].key == key;
    int64_t have = there ? side->levels[below - 1].qty : 0;
    if (have != e->qty[2 * i]) {
      WB_TRY(mend(e, i, key, have, e->qty[2 * i], error));
    }
    below -= there; /* a new level is put just above those still to be seen */
  }
  while (i < e->levels && below > 0) {
    const wb_queue_level *ghost = &side->levels[below - 1];
    WB_TRY(mend(e, i, ghost->key, ghost->qty, 0, error));
    below--;
  }
  return WB_OK;
}

/* Forgets levels far below the window. */
static wb_status drop_far(const edge *e, wb_error *error) {
  wb_lobster_window *window = e->window;
  wb_queue_side *side = &window->book.side[e->side];
  while (side->count > KEPT_LEVELS * e->levels && side->levels[0].key < window->bound[e->side]) {
    window->tape->counts.edge_dropped++;
    WB_TRY(edge_take(e, side->levels[0].key, side->levels[0].qty, true, error));
  }
  return WB_OK;
}

/* Whether the top of the book is what the row shows. */
static inline bool side_equals(const edge *e) {
  const wb_queue_side *side = &e->window->book.side[e->side];
  const wb_queue_level *level = side->levels + side->count;
  int32_t shown = side->count < e->levels ? side->count : e->levels;
  for (int32_t i = 0; i < shown; i++) {
    level--;
    if (e->price[2 * i] != key_price(e->side, level->key) || e->qty[2 * i] != level->qty) {
      return false;
    }
  }
  return shown == e->levels || e->price[2 * shown] == WB_NO_PRICE;
}

static wb_status follow_side(wb_lobster_window *window, int64_t time_ns, wb_side side,
                             const int32_t *price, const int64_t *qty, wb_error *error) {
  edge e = edge_of(window, time_ns, side, price, qty);
  if (!side_equals(&e)) {
    WB_TRY(mend_side(&e, error));
  }
  WB_TRY(drop_far(&e, error));
  int32_t last = e.price[2 * (e.levels - 1)];
  window->bound[side] = last == WB_NO_PRICE ? INT64_MIN : wb_queue_key(side, last);
  track_largest(window, side);
  return WB_OK;
}

static void end_row(wb_lobster_window *window, int64_t first_record) {
  wb_tape *tape = window->tape;
  if (tape->record_count > first_record) {
    tape->records[tape->record_count - 1].flags |= WB_FLAG_ROW_END;
  }
}

wb_status wb_lobster_window_row(wb_lobster_window *window, const wb_source_row *message,
                                int32_t price, const int32_t *book_price, const int64_t *book_qty,
                                wb_error *error) {
  int64_t first_record = window->tape->record_count;
  window->contradicted = false;
  WB_TRY(apply(window, message, price, error));
  if (book_price != NULL) {
    WB_TRY(follow_side(window, message->time_ns, WB_SIDE_ASK, book_price, book_qty, error));
    WB_TRY(follow_side(window, message->time_ns, WB_SIDE_BID, book_price, book_qty, error));
  } else {
    track_largest(window, WB_SIDE_ASK);
    track_largest(window, WB_SIDE_BID);
  }
  end_row(window, first_record);
  return WB_OK;
}

/* ---- row 0 ---- */

/* Levels above 2^31 - 1 shares are seeded as several orders, so the array may have to grow. */
typedef struct seeding {
  wb_order *orders;
  int32_t count, room;
} seeding;

static wb_status seed_order(wb_lobster_window *window, seeding *seed, wb_side side, int32_t price,
                            int32_t qty, int64_t id, wb_error *error) {
  if (seed->count == seed->room) {
    int32_t room = seed->room > 0 ? seed->room * 2 : 32;
    wb_order *larger = wb_arena_array(&window->tape->arena, (size_t)room, sizeof *larger);
    if (larger == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the seed book");
    }
    if (seed->count > 0) {
      memcpy(larger, seed->orders, (size_t)seed->count * sizeof *larger);
    }
    seed->orders = larger;
    seed->room = room;
  }
  wb_order *order = &seed->orders[seed->count];
  *order = (wb_order){.price = price, .qty = qty, .side = (uint8_t)side};
  WB_TRY(new_ref(window, id, &order->ref, error));
  order->arrival = order->ref + 1;
  seed->count++;
  return wb_queue_add(&window->book, side, wb_queue_key(side, price), qty, id, order->ref, error);
}

/* One side, one anonymous order per level; the message's order is left out of its level. */
static wb_status seed_side(const edge *e, seeding *seed, int32_t split_price, int32_t split_qty,
                           int32_t *split_at, wb_error *error) {
  for (int32_t i = 0; i < e->levels && e->price[2 * i] != WB_NO_PRICE; i++) {
    int64_t qty = e->qty[2 * i];
    bool splits = split_qty > 0 && e->price[2 * i] == split_price && qty >= split_qty;
    for (qty -= splits ? split_qty : 0; qty > 0;) {
      int32_t part = qty < INT32_MAX ? (int32_t)qty : INT32_MAX;
      WB_TRY(seed_order(e->window, seed, e->side, e->price[2 * i], part, 0, error));
      qty -= part;
    }
    if (splits) {
      *split_at = seed->count;
    }
  }
  int32_t last = e->price[2 * (e->levels - 1)];
  e->window->bound[e->side] = last == WB_NO_PRICE ? INT64_MIN : wb_queue_key(e->side, last);
  return WB_OK;
}

wb_status wb_lobster_window_seed(wb_lobster_window *window, const wb_source_row *message,
                                 int32_t price, const int32_t *book_price, const int64_t *book_qty,
                                 wb_error *error) {
  wb_tape *tape = window->tape;
  seeding seed = {0};
  wb_side own = message->direction > 0 ? WB_SIDE_BID : WB_SIDE_ASK;
  int32_t split_at = -1;
  for (int s = WB_SIDE_ASK; s >= WB_SIDE_BID; s--) {
    edge e = edge_of(window, message->time_ns, (wb_side)s, book_price, book_qty);
    int32_t split_qty = message->type == 1 && own == (wb_side)s ? message->size : 0;
    WB_TRY(seed_side(&e, &seed, price, split_qty, &split_at, error));
  }
  if (split_at >= 0) {
    /* the newest order of all, but in the list it stands where its priority is */
    WB_TRY(seed_order(window, &seed, own, price, message->size, message->id, error));
    wb_order named = seed.orders[seed.count - 1];
    memmove(seed.orders + split_at + 1, seed.orders + split_at,
            (size_t)(seed.count - 1 - split_at) * sizeof named);
    seed.orders[split_at] = named;
  } else if (message->type == 1) {
    WB_TRY(contradict(window, error, window->place.message_name, window->place.message_line,
                      "size: the first book row does not hold the order that was submitted"));
  }
  tape->seed = seed.orders;
  tape->seed_count = seed.count;
  track_largest(window, WB_SIDE_ASK);
  track_largest(window, WB_SIDE_BID);
  if (message->type >= 5) {
    WB_TRY(apply(window, message, price, error));
  } else if (message->type > 1) {
    count_unknown(&tape->counts, message);
  }
  end_row(window, 0);
  return WB_OK;
}

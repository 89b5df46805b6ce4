/* A tape's memory, and the check of everything that an engine takes for granted about it.
 *
 * The check is what stands between a file that any program may have written and engines that index
 * arrays by its numbers. It is one pass over each array. Keep: whatever an engine, the export or the
 * command line uses as an index, a shift, a length or a part of a file name is bounded here; what
 * engines count for themselves (bad records, orphans) is not refused here. */
#include "data/tape.h"

#include "data/tape_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS = sizeof((wb_tape){0}.blocks) / sizeof(void *) };

/* Times stay so far from the ends of an i64 that sums and differences cannot overflow. */
#define FAR_AWAY (INT64_C(1) << 62)

wb_tape *wb_tape_new(void) {
  wb_tape *tape = calloc(1, sizeof *tape);
  if (tape != NULL) {
    tape->price_unit = 1e-4;
    tape->tick_size = 1;
  }
  return tape;
}

void wb_tape_free(wb_tape *tape) {
  if (tape == NULL) {
    return;
  }
  wb_arena_free(&tape->arena);
  for (int k = 0; k < BLOCKS; k++) {
    free(tape->blocks[k]);
  }
  free(tape);
}

/* ---- header ---- */

/* Names end in 0 and can be part of a file's name. */
static bool is_name(const char *text, size_t room) {
  const char *end = memchr(text, 0, room);
  if (end == NULL) {
    return false;
  }
  for (const char *at = text; at < end; at++) {
    const unsigned char byte = (unsigned char)*at;
    if (byte < 0x20 || byte == 0x7f || byte == '/') {
      return false;
    }
  }
  return true;
}

static bool is_day(const char *day) {
  for (int k = 0; k < 10; k++) {
    const bool dash = k == 4 || k == 7;
    if (dash ? day[k] != '-' : day[k] < '0' || day[k] > '9') {
      return false;
    }
  }
  return day[10] == 0;
}

static wb_status check_header(const wb_tape *tape, wb_error *error) {
  if (!is_name(tape->instrument, sizeof tape->instrument)) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "instrument: expected up to %d bytes without control characters and '/'",
                   WB_INSTRUMENT_BYTES - 1);
  }
  if (tape->day[0] != 0 && !is_day(tape->day)) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "day: expected YYYY-MM-DD or nothing, got \"%.*s\"",
                   WB_DAY_BYTES, tape->day);
  }
  if (!isfinite(tape->price_unit) || tape->price_unit <= 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "price_unit: expected a positive number, got %g",
                   tape->price_unit);
  }
  if (tape->base < -WB_TAPE_BASE_LAST || tape->base > WB_TAPE_BASE_LAST) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "base: expected -2^62 to 2^62, got %" PRId64,
                   tape->base);
  }
  if (tape->tick_size < 1 || tape->tick_size > WB_PRICE_LIMIT) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "tick_size: expected 1 to 2^30, got %d",
                   tape->tick_size);
  }
  if (tape->levels < 0 || tape->levels > WB_TAPE_LEVELS_LAST) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "levels: expected 0 to %d, got %d", WB_TAPE_LEVELS_LAST,
                   tape->levels);
  }
  if (tape->start_ns < 0 || tape->end_ns < tape->start_ns || tape->end_ns > FAR_AWAY) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "start_ns, end_ns: expected 0 <= start <= end, got %" PRId64 ", %" PRId64,
                   tape->start_ns, tape->end_ns);
  }
  return WB_OK;
}

/* An array is there if it has elements, and their number is within `last`. */
static wb_status check_array(const char *name, int64_t count, int64_t last, const void *array,
                             wb_error *error) {
  if (count < 0 || count > last) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected 0 to %" PRId64 " of them, got %" PRId64,
                   name, last, count);
  }
  if (count > 0 && array == NULL) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected %" PRId64 " of them, got no array", name,
                   count);
  }
  return WB_OK;
}

static wb_status check_arrays(const wb_tape *tape, wb_error *error) {
  const int64_t with_book = tape->levels > 0 ? tape->row_count : 0;
  WB_TRY(check_array("records", tape->record_count, INT32_MAX, tape->records, error));
  WB_TRY(check_array("ids", tape->ref_count, WB_REF_AGENT_FIRST, tape->ids, error));
  WB_TRY(check_array("seed", tape->seed_count, INT32_MAX - 1, tape->seed, error));
  WB_TRY(check_array("rows", tape->row_count, INT32_MAX, tape->rows, error));
  WB_TRY(check_array("book_price", with_book, INT32_MAX, tape->book_price, error));
  WB_TRY(check_array("book_qty", with_book, INT32_MAX, tape->book_qty, error));
  WB_TRY(
      check_array("participants", tape->participant_count, UINT16_MAX, tape->participants, error));
  WB_TRY(check_array("odd_times", tape->odd_time_count, tape->row_count, tape->odd_times, error));
  WB_TRY(check_array("sources", tape->source_count, INT32_MAX, tape->sources, error));
  return check_array("findings", tape->finding_count, INT32_MAX, tape->findings, error);
}

/* ---- seed ---- */

/* Whether `ref` names an order of `owner`: history's are below ref_count. */
static bool ref_fits(const wb_tape *tape, int32_t ref, int16_t owner) {
  return owner == 0 ? ref >= 0 && ref < tape->ref_count : owner > 0 && ref >= WB_REF_AGENT_FIRST;
}

static bool price_rests(const wb_tape *tape, int32_t price) {
  return price >= -WB_PRICE_LIMIT && price <= WB_PRICE_LIMIT && price % tape->tick_size == 0;
}

/* Whether `b` may follow `a`: asks before bids, then the better price, then the earlier arrival. */
static bool seed_ascends(const wb_order *a, const wb_order *b) {
  if (a->side != b->side) {
    return a->side == WB_SIDE_ASK;
  }
  if (a->price != b->price) {
    return (a->price < b->price) == (a->side == WB_SIDE_ASK);
  }
  return a->arrival < b->arrival;
}

static int compare_i32(const void *a, const void *b) {
  const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
  return (x > y) - (x < y);
}

/* Sorts `values`; false if two are equal, with *twice one of them. */
static bool all_differ(int32_t *values, int32_t count, int32_t *twice) {
  qsort(values, (size_t)count, sizeof *values, compare_i32);
  for (int32_t k = 1; k < count; k++) {
    if (values[k] == values[k - 1]) {
      *twice = values[k];
      return false;
    }
  }
  return true;
}

static wb_status check_seed_names(const wb_tape *tape, wb_error *error) {
  int32_t *values = malloc((size_t)tape->seed_count * sizeof *values), twice = 0;
  if (values == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "seed: no memory to check %d orders", tape->seed_count);
  }
  wb_status status = WB_OK;
  for (int32_t k = 0; k < tape->seed_count; k++) {
    values[k] = tape->seed[k].ref;
  }
  if (!all_differ(values, tape->seed_count, &twice)) {
    status = WB_FAIL(error, WB_ERROR_FORMAT,
                     "seed: ref: expected a different one for each order, got %d twice", twice);
  }
  for (int32_t k = 0; k < tape->seed_count; k++) {
    values[k] = tape->seed[k].arrival;
  }
  if (status == WB_OK && !all_differ(values, tape->seed_count, &twice)) {
    status = WB_FAIL(error, WB_ERROR_FORMAT,
                     "seed: arrival: expected a different one for each order, got %d twice", twice);
  }
  free(values);
  return status;
}

static wb_status check_seed(const wb_tape *tape, wb_error *error) {
  for (int32_t k = 0; k < tape->seed_count; k++) {
    const wb_order *order = &tape->seed[k];
    const char *field = NULL;
    int32_t got = 0;
    if (order->side > 1) {
      field = "side: expected 0 (bid) or 1 (ask)", got = order->side;
    } else if (order->qty < 1) {
      field = "qty: expected at least 1 share", got = order->qty;
    } else if (!price_rests(tape, order->price)) {
      field = "price: expected a multiple of tick_size within 2^30", got = order->price;
    } else if (!ref_fits(tape, order->ref, order->owner)) {
      field = "ref: expected below the number of ids (owner 0) or 2^30 and up (owner 1 to 32767)";
      got = order->ref;
    } else if (order->arrival < 1 || order->arrival > tape->seed_count) {
      field = "arrival: expected 1 to the number of seed orders", got = order->arrival;
    } else if (k > 0 && !seed_ascends(order - 1, order)) {
      field = "expected asks, then bids, best price first, then by arrival; got price";
      got = order->price;
    }
    if (field != NULL) {
      return WB_FAIL(error, WB_ERROR_FORMAT, "seed[%d]: %s, got %d", k, field, got);
    }
  }
  return tape->seed_count > 0 ? check_seed_names(tape, error) : WB_OK;
}

/* ---- records ---- */

static bool names_an_order(uint8_t type) {
  return type >= WB_RECORD_ADD && type <= WB_RECORD_EXECUTE;
}

/* Sets of flags are small: a type allows these besides SIDE, EDGE and ROW_END. */
static bool flags_fit(const wb_record *record) {
  const int made = WB_FLAG_EDGE | WB_FLAG_ROW_END;
  const int rest = record->flags & ~(WB_FLAG_SIDE | made);
  if (record->owner != 0 && (record->flags & made) != 0) {
    return false;
  }
  if (record->type == WB_RECORD_ADD) {
    return rest == 0 || (rest == WB_FLAG_NO_MATCH && record->owner == 0) || rest == WB_FLAG_IOC ||
           rest == WB_FLAG_FOK || rest == WB_FLAG_POST_ONLY ||
           rest == (WB_FLAG_POST_ONLY | WB_FLAG_SLIDE);
  }
  return rest == 0 || (record->type == WB_RECORD_AMEND && rest == WB_FLAG_POST_ONLY);
}

/* Whether no engine would count the record as BAD_RECORD. */
static bool is_good(const wb_tape *tape, const wb_record *record) {
  const uint8_t type = record->type;
  if (type < WB_RECORD_ADD || type > WB_RECORD_TYPE_COUNT || !flags_fit(record)) {
    return false;
  }
  if (record->owner < 0 || (record->owner > 0 && type >= WB_RECORD_EXECUTE)) {
    return false;
  }
  if (names_an_order(type) && !ref_fits(tape, record->ref, record->owner)) {
    return false;
  }
  if ((type == WB_RECORD_ADD || type == WB_RECORD_AMEND || type == WB_RECORD_EXECUTE) &&
      !price_rests(tape, record->price)) {
    return false;
  }
  if (type != WB_RECORD_DELETE && type != WB_RECORD_STATE && record->qty < 1) {
    return false;
  }
  if (type == WB_RECORD_NOTE || type == WB_RECORD_STATE) {
    return record->arg >= 0 && record->arg <= 2;
  }
  return true;
}

/* How far the records have come through the source's rows. */
typedef struct row_course {
  int64_t due; /* the first row that has not ended */
  bool begun;  /* a record of it was seen */
} row_course;

/* Each row has records, one run of them, the last one with ROW_END; rows come in their order. Row 0
 * is the seed book where there is a book file, so it alone may go without a record. */
static wb_status follow_rows(const wb_tape *tape, int64_t index, row_course *course,
                             wb_error *error) {
  const wb_record *record = &tape->records[index];
  const bool ends = (record->flags & WB_FLAG_ROW_END) != 0;
  if (record->row == -1 && !ends) {
    return WB_OK;
  }
  if (course->due == 0 && !course->begun && record->row > 0) {
    course->due = 1;
  }
  if (record->row != course->due || record->row >= tape->row_count) {
    return WB_FAIL(
        error, WB_ERROR_FORMAT,
        "records[%" PRId64 "]: row: expected %" PRId64 "%s of %" PRId64 " source rows, got %d%s",
        index, course->due, course->begun ? " (begun, without ROW_END so far)" : " (the next)",
        tape->row_count, record->row, ends ? " with ROW_END" : "");
  }
  course->due += ends;
  course->begun = !ends;
  return WB_OK;
}

static wb_status check_record(const wb_tape *tape, int64_t index, wb_error *error) {
  const wb_record *record = &tape->records[index];
  const int64_t before_ns = index > 0 ? record[-1].time_ns : -FAR_AWAY;
  if (record->time_ns < before_ns || record->time_ns > FAR_AWAY) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "records[%" PRId64 "]: time_ns: expected %" PRId64 " to 2^62, got %" PRId64,
                   index, before_ns, record->time_ns);
  }
  if (record->owner == 0 && names_an_order(record->type) && record->ref >= tape->ref_count &&
      record->ref < WB_REF_AGENT_FIRST) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "records[%" PRId64 "]: ref: expected below the %d ids, got %d", index,
                   tape->ref_count, record->ref);
  }
  return WB_OK;
}

static wb_status check_records(const wb_tape *tape, wb_error *error) {
  row_course course = {.due = 0, .begun = false};
  for (int64_t k = 0; k < tape->record_count; k++) {
    WB_TRY(check_record(tape, k, error));
    WB_TRY(follow_rows(tape, k, &course, error));
  }
  const bool only_seed = tape->row_count == 1 && !course.begun;
  if (course.due < tape->row_count && !only_seed) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "records: row: expected a record with ROW_END for each of %" PRId64
                   " source rows, got none for row %" PRId64,
                   tape->row_count, course.due == 0 ? 1 : course.due);
  }
  return WB_OK;
}

/* ---- the source's rows ---- */

static wb_status check_rows(const wb_tape *tape, wb_error *error) {
  int64_t before_ns = 0;
  for (int64_t k = 0; k < tape->row_count; k++) {
    const wb_source_row *row = &tape->rows[k];
    const char *field = NULL;
    int64_t got = 0;
    if (row->time_ns < before_ns || row->time_ns > FAR_AWAY) {
      field = "time_ns: expected that of the row before or later", got = row->time_ns;
    } else if (row->type < 1 || row->type > 7) {
      field = "type: expected 1 to 7", got = row->type;
    } else if (row->size < 0) {
      field = "size: expected 0 or more", got = row->size;
    } else if (row->direction < -1 || row->direction > 1) {
      field = "direction: expected -1, 0 or 1", got = row->direction;
    } else if (row->participant > tape->participant_count) {
      field = "participant: expected 0 (none) to the number of participants";
      got = row->participant;
    }
    if (field != NULL) {
      return WB_FAIL(error, WB_ERROR_FORMAT, "rows[%" PRId64 "]: %s, got %" PRId64, k, field, got);
    }
    before_ns = row->time_ns;
  }
  return WB_OK;
}

/* No level: no price and no shares; a level: a price that a record could have and some shares. */
static bool cell_fits(int32_t price, int64_t qty) {
  if (price == WB_NO_PRICE) {
    return qty == 0;
  }
  return price >= -WB_PRICE_LIMIT && price <= WB_PRICE_LIMIT && qty > 0;
}

static wb_status check_books(const wb_tape *tape, wb_error *error) {
  const int64_t width = 2 * (int64_t)tape->levels;
  const int64_t cells = tape->row_count * width;
  for (int64_t k = 0; k < cells; k++) {
    if (!cell_fits(tape->book_price[k], tape->book_qty[k])) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "book[%" PRId64 "][%" PRId64 "]: expected a price within 2^30 and 1 share or "
                     "more, or -2^31 and 0, got %d and %" PRId64,
                     k / width, k % width, tape->book_price[k], tape->book_qty[k]);
    }
  }
  return WB_OK;
}

static wb_status check_participants(const wb_tape *tape, wb_error *error) {
  for (int32_t k = 0; k < tape->participant_count; k++) {
    const char *text = tape->participants[k];
    if (text == NULL || text[strcspn(text, ",\r\n")] != 0) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "participants[%d]: expected one field of a line, got %s", k,
                     text == NULL ? "nothing" : "a comma or an end of line");
    }
  }
  return WB_OK;
}

/* Nanoseconds of a time's text: digits, perhaps a point and more digits, of which nine count. */
static bool parse_time(const char *text, int64_t *time_ns) {
  const char *at = text;
  int64_t seconds = 0, fraction = 0;
  for (; *at >= '0' && *at <= '9'; at++) {
    seconds = seconds * 10 + (*at - '0');
    if (seconds > FAR_AWAY / 1000000000) {
      return false;
    }
  }
  const bool whole = at > text;
  int places = 0;
  if (*at == '.') {
    for (at++; *at >= '0' && *at <= '9'; at++, places++) {
      fraction = places < 9 ? fraction * 10 + (*at - '0') : fraction;
    }
  }
  for (int k = places; k < 9; k++) {
    fraction *= 10;
  }
  *time_ns = seconds * 1000000000 + fraction;
  return *at == 0 && (whole || places > 0);
}

static wb_status check_odd_times(const wb_tape *tape, wb_error *error) {
  int64_t before = -1;
  for (int64_t k = 0; k < tape->odd_time_count; k++) {
    const wb_odd_time *odd = &tape->odd_times[k];
    int64_t time_ns = 0;
    if (odd->row <= before || odd->row >= tape->row_count) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "odd_times[%" PRId64 "]: row: expected %" PRId64 " to %" PRId64
                     ", got %" PRId64,
                     k, before + 1, tape->row_count - 1, odd->row);
    }
    if (odd->text == NULL || !parse_time(odd->text, &time_ns) ||
        time_ns != tape->rows[odd->row].time_ns) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "odd_times[%" PRId64 "]: text: expected one of %" PRId64
                     " ns, the time of row %" PRId64 ", got \"%.60s\"",
                     k, tape->rows[odd->row].time_ns, odd->row, odd->text == NULL ? "" : odd->text);
    }
    before = odd->row;
  }
  return WB_OK;
}

/* ---- provenance ---- */

static wb_status check_provenance(const wb_tape *tape, wb_error *error) {
  for (int32_t k = 0; k < tape->source_count; k++) {
    if (tape->sources[k].name == NULL || tape->sources[k].bytes < 0) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "sources[%d]: expected a name and a size, got %s and %" PRId64 " bytes", k,
                     tape->sources[k].name == NULL ? "no name" : "a name", tape->sources[k].bytes);
    }
  }
#define X(field, meaning)                                                                          \
  if (tape->counts.field < 0) {                                                                    \
    return WB_FAIL(error, WB_ERROR_FORMAT, "counts: " #field ": expected 0 or more, got %" PRId64, \
                   tape->counts.field);                                                            \
  }
  WB_READER_COUNTS(X)
#undef X
  for (int64_t k = 0; k < tape->finding_count; k++) {
    const wb_finding *finding = &tape->findings[k];
    if (finding->kind > WB_FINDING_BAD_LINE || finding->row < 0 || finding->text == NULL) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "findings[%" PRId64 "]: expected kind 0 to %d, a row and a text, got kind %d, "
                     "row %" PRId64 "%s",
                     k, WB_FINDING_BAD_LINE, (int)finding->kind, finding->row,
                     finding->text == NULL ? ", no text" : "");
    }
  }
  return WB_OK;
}

/* ---- the promise of unique_refs ---- */

typedef struct ref_set {
  uint64_t *words; /* a bit per reference below ref_count */
} ref_set;

/* Puts `ref` into the set; false if it was there. */
static bool put_ref(ref_set *set, int32_t ref) {
  const uint64_t bit = UINT64_C(1) << (ref & 63);
  uint64_t *word = &set->words[ref >> 6];
  const bool fresh = (*word & bit) == 0;
  *word |= bit;
  return fresh;
}

wb_status wb_tape_check_promise(const wb_tape *tape, bool *holds, wb_error *error) {
  *holds = false;
  ref_set seen = {calloc((size_t)tape->ref_count / 64 + 1, sizeof *seen.words)};
  if (seen.words == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "unique_refs: no memory to check %d references",
                   tape->ref_count);
  }
  wb_status status = WB_OK;
  for (int32_t k = 0; k < tape->seed_count && status == WB_OK; k++) {
    if (tape->seed[k].owner != 0 || !put_ref(&seen, tape->seed[k].ref)) {
      status =
          WB_FAIL(error, WB_ERROR_FORMAT,
                  "seed[%d]: unique_refs promises history's orders only, each reference once", k);
    }
  }
  for (int64_t k = 0; k < tape->record_count && status == WB_OK; k++) {
    const wb_record *record = &tape->records[k];
    if (record->owner != 0 || !is_good(tape, record)) {
      status = WB_FAIL(error, WB_ERROR_FORMAT,
                       "records[%" PRId64 "]: unique_refs promises good records of history only, "
                       "got type %d, flags %d, owner %d, ref %d, price %d, qty %d, arg %d",
                       k, record->type, record->flags, record->owner, record->ref, record->price,
                       record->qty, record->arg);
    } else if (record->type == WB_RECORD_ADD && !put_ref(&seen, record->ref)) {
      status = WB_FAIL(error, WB_ERROR_FORMAT,
                       "records[%" PRId64 "]: ref: unique_refs promises a new one for each ADD, "
                       "got %d again",
                       k, record->ref);
    }
  }
  free(seen.words);
  *holds = status == WB_OK;
  return status;
}

/* ---- all of it ---- */

wb_status wb_tape_check_parts(const wb_tape *tape, wb_error *error) {
  WB_TRY(check_header(tape, error));
  WB_TRY(check_arrays(tape, error));
  WB_TRY(check_seed(tape, error));
  WB_TRY(check_rows(tape, error));
  WB_TRY(check_records(tape, error));
  WB_TRY(check_books(tape, error));
  WB_TRY(check_participants(tape, error));
  WB_TRY(check_odd_times(tape, error));
  return check_provenance(tape, error);
}

wb_status wb_tape_check(const wb_tape *tape, wb_error *error) {
  WB_TRY(wb_tape_check_parts(tape, error));
  bool holds = false;
  return tape->unique_refs ? wb_tape_check_promise(tape, &holds, error) : WB_OK;
}

/* LOBSTER's two files, from text to a tape.
 *
 * One pass over both texts, line by line: parse a message and its book row, keep both as they stand,
 * hand them to the window tracker, which makes the records. Prices are kept above a base that is 0
 * unless a price does not fit; then a first pass finds the range, and the real one starts over.
 * Keep: both texts move together, a line that is left out takes its partner along. */
#include "data/lobster.h"

#include "data/large.h"
#include "data/lobster_parse.h"
#include "data/lobster_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  BLOCK_ROWS = 2, /* slots of wb_tape's blocks; 0 and 1 are the window's */
  BLOCK_BOOK_PRICE = 3,
  BLOCK_BOOK_QTY = 4,
  CENT = 100,             /* price units */
  ROUNDED_ROWS = 100,     /* so many times must agree before they are called rounded */
  PROGRESS_ROWS = 1 << 13 /* rows between calls of the progress function */
};

/* One text, line by line. */
typedef struct lines {
  const char *name;
  const char *first; /* of the data: mark and header are behind */
  const char *at, *end;
  int64_t first_line, line; /* of `first` and of the line before `at`, from 1 */
  int64_t rows;             /* data lines in all */
} lines;

/* A dictionary of the seventh column. */
typedef struct participants {
  const char **texts;
  int32_t *places; /* open addressing: index + 1, 0 free */
  int32_t count, room, place_count;
  int32_t last; /* the one of the row before */
} participants;

typedef struct reader {
  const wb_read_options *options;
  wb_tape *tape;
  wb_lobster_window window;
  lines messages, book;
  int32_t columns; /* of the message file */
  int64_t rows;    /* to read */
  wb_lobster_cells cells;
  wb_lobster_extra extra;
  int64_t *row_price, *row_qty; /* one book row, exact: what the careful parser gives */
  participants participants;
  int64_t odd_room;
  int32_t decimals;         /* longest fraction of a time so far */
  int64_t lowest, highest;  /* prices, when the range is looked for */
  const char *highest_name; /* where the highest stands */
  int64_t highest_line;
  bool not_in_cents, scanning; /* scanning: only the range is looked for */
  bool misfit;                 /* a price does not fit the base */
  bool exact_row;              /* the book row at hand is in row_price and row_qty */
} reader;

static const wb_read_options no_options;

/* ---- texts ---- */

static bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

/* End of the line that starts at `at`, its newline not included. */
static const char *line_end(const char *at, const char *end) {
  const char *newline = at < end ? memchr(at, '\n', (size_t)(end - at)) : NULL;
  return newline != NULL ? newline : end;
}

/* The same without a carriage return. */
static const char *text_end(const char *at, const char *end) {
  const char *last = line_end(at, end);
  return last > at && last[-1] == '\r' ? last - 1 : last;
}

static int64_t count_newlines(const char *at, const char *end) {
  int64_t count = 0;
  /* sixteen byte-wide sums at a time, emptied before they overflow */
  while (end - at >= 16 * 255) {
    uint8_t sums[16] = {0};
    for (int block = 0; block < 255; block++, at += 16) {
      for (int i = 0; i < 16; i++) {
        sums[i] = (uint8_t)(sums[i] + (at[i] == '\n'));
      }
    }
    for (int i = 0; i < 16; i++) {
      count += sums[i];
    }
  }
  for (; at < end; at++) {
    count += *at == '\n';
  }
  return count;
}

/* Steps over a byte order mark and a header, cuts blank lines off the end, counts the rest. */
static lines open_lines(const wb_lobster_text *text) {
  lines l = {.name = text->name, .first = text->bytes, .end = text->bytes + text->size, .line = 0};
  if (text->size >= 3 && memcmp(l.first, "\xef\xbb\xbf", 3) == 0) {
    l.first += 3;
  }
  const char *at = l.first;
  if (at < l.end && (is_letter(*at) || ((*at == '"' || *at == '#') && at + 1 < l.end &&
                                        (is_letter(at[1]) || at[1] == ' ')))) {
    l.first = line_end(l.first, l.end);
    l.first += l.first < l.end;
    l.line = 1;
  }
  /* "a line, a newline, nothing" and "a line" have one line; blank ones after it are cut */
  while (l.end > l.first && l.end[-1] == '\n') {
    const char *before = l.end - 1;
    before -= before > l.first && before[-1] == '\r';
    if (before > l.first && before[-1] != '\n') {
      break;
    }
    l.end = before;
  }
  if (l.end - l.first == 1 && *l.first == '\r') {
    l.end = l.first;
  }
  l.at = l.first;
  l.first_line = l.line;
  l.rows = l.first < l.end ? count_newlines(l.first, l.end) + (l.end[-1] != '\n') : 0;
  return l;
}

/* Columns of the file: of its first line, or, of a damaged file, what two of the first three have. */
static int64_t typical_columns(const lines *l, bool damaged) {
  int64_t columns[3] = {0, 0, 0};
  const char *at = l->first;
  for (int i = 0; i < 3 && at < l->end; i++) {
    columns[i] = wb_lobster_columns(at, text_end(at, l->end));
    at = line_end(at, l->end);
    at += at < l->end;
  }
  return damaged && columns[1] == columns[2] && columns[1] != 0 ? columns[1] : columns[0];
}

/* ---- names ---- */

/* Digits of `text` up to `stop`, as milliseconds after midnight; -1 if it is anything else. */
static int64_t window_ns(const char *text, const char *stop) {
  int64_t ms = 0;
  if (text == stop || stop - text > 9) {
    return -1;
  }
  for (; text < stop; text++) {
    if (*text < '0' || *text > '9') {
      return -1;
    }
    ms = ms * 10 + (*text - '0');
  }
  return ms * 1000000;
}

static bool is_day(const char *text) {
  static const char form[] = "dddd-dd-dd";
  for (int i = 0; i < 10; i++) {
    bool digit = text[i] >= '0' && text[i] <= '9';
    if (form[i] == 'd' ? !digit : text[i] != '-') {
      return false;
    }
  }
  return true;
}

/* TICKER_DAY_START_END_message_LEVEL.csv: takes what of it the name has. */
static void read_name(wb_tape *tape, const char *name) {
  const char *base = name;
  for (const char *p = name; *p != 0; p++) {
    base = *p == '/' || *p == ':' ? p + 1 : base;
  }
  const char *ticker_end = strchr(base, '_');
  for (const char *p = base; ticker_end != NULL && p < ticker_end; p++) {
    ticker_end = *p < ' ' || *p == 127 ? NULL : ticker_end;
  }
  if (ticker_end == NULL || ticker_end == base || ticker_end - base >= WB_INSTRUMENT_BYTES ||
      strlen(ticker_end + 1) < 11 || !is_day(ticker_end + 1) || ticker_end[11] != '_') {
    return;
  }
  memcpy(tape->instrument, base, (size_t)(ticker_end - base));
  memcpy(tape->day, ticker_end + 1, 10);
  const char *start = ticker_end + 12, *start_end = strchr(start, '_');
  const char *stop_end = start_end != NULL ? strchr(start_end + 1, '_') : NULL;
  if (stop_end == NULL) {
    return;
  }
  int64_t start_ns = window_ns(start, start_end), stop_ns = window_ns(start_end + 1, stop_end);
  if (start_ns >= 0 && stop_ns >= start_ns) {
    tape->start_ns = start_ns;
    tape->end_ns = stop_ns;
  }
}

static wb_status add_source(wb_tape *tape, const wb_lobster_text *text, wb_error *error) {
  wb_source *source = &tape->sources[tape->source_count];
  source->name = wb_arena_text(&tape->arena, text->name);
  source->bytes = (int64_t)text->size;
  source->hash = wb_hash_bytes(text->bytes, text->size);
  tape->source_count++;
  return source->name != NULL ? WB_OK : WB_FAIL(error, WB_ERROR_MEMORY, "no memory for a name");
}

/* ---- small lists of the tape ---- */

static wb_status no_memory(wb_error *error, const char *what) {
  return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for %s", what);
}

static wb_status keep_odd_time(reader *r, wb_error *error) {
  wb_tape *tape = r->tape;
  if (tape->odd_time_count == r->odd_room) {
    int64_t room = r->odd_room > 0 ? r->odd_room * 2 : 16;
    wb_odd_time *larger = wb_arena_array(&tape->arena, (size_t)room, sizeof *larger);
    if (larger == NULL) {
      return no_memory(error, "times");
    }
    if (r->odd_room > 0) {
      memcpy(larger, tape->odd_times, (size_t)r->odd_room * sizeof *larger);
    }
    tape->odd_times = larger;
    r->odd_room = room;
  }
  char *text = wb_arena_alloc(&tape->arena, r->extra.time_length + 1);
  if (text == NULL) {
    return no_memory(error, "times");
  }
  memcpy(text, r->extra.time, r->extra.time_length);
  tape->odd_times[tape->odd_time_count++] = (wb_odd_time){tape->row_count, text};
  return WB_OK;
}

static bool is_text(const char *text, const char *bytes, size_t length) {
  return strncmp(text, bytes, length) == 0 && text[length] == 0;
}

/* Where the text is or would be in the open addressing. */
static int32_t participant_place(const participants *p, const char *bytes, size_t length) {
  uint32_t hash = (uint32_t)wb_hash_bytes(bytes, length).low;
  int32_t mask = p->place_count - 1, place = (int32_t)(hash & (uint32_t)mask);
  while (p->places[place] != 0 && !is_text(p->texts[p->places[place] - 1], bytes, length)) {
    place = (place + 1) & mask;
  }
  return place;
}

static wb_status grow_participants(reader *r, wb_error *error) {
  participants *p = &r->participants;
  int32_t room = p->room > 0 ? p->room * 2 : 32;
  const char **texts = wb_arena_array(&r->tape->arena, (size_t)room, sizeof *texts);
  int32_t *places = wb_arena_array(&r->tape->arena, (size_t)room * 2, sizeof *places);
  if (texts == NULL || places == NULL) {
    return no_memory(error, "participants");
  }
  if (p->count > 0) {
    memcpy(texts, p->texts, (size_t)p->count * sizeof *texts);
  }
  *p = (participants){texts, places, p->count, room, room * 2, p->last};
  for (int32_t i = 0; i < p->count; i++) {
    p->places[participant_place(p, texts[i], strlen(texts[i]))] = i + 1;
  }
  return WB_OK;
}

/* The row's index + 1 in the dictionary. */
static wb_status keep_participant(reader *r, wb_source_row *row, wb_error *error) {
  participants *p = &r->participants;
  const char *bytes = r->extra.participant;
  size_t length = r->extra.participant_length;
  if (p->count > 0 && is_text(p->texts[p->last], bytes, length)) {
    row->participant = (uint16_t)(p->last + 1);
    return WB_OK;
  }
  if (p->count == p->room) {
    WB_TRY(grow_participants(r, error));
  }
  int32_t place = participant_place(p, bytes, length);
  if (p->places[place] == 0) {
    if (p->count == UINT16_MAX) {
      return WB_FAIL(error, WB_ERROR_LIMIT,
                     "%s line %" PRId64 ": participant: expected at most 65535 different ones",
                     r->messages.name, r->messages.line);
    }
    char *text = wb_arena_alloc(&r->tape->arena, length + 1);
    if (text == NULL) {
      return no_memory(error, "participants");
    }
    memcpy(text, bytes, length);
    p->texts[p->count] = text;
    p->places[place] = ++p->count;
  }
  p->last = p->places[place] - 1;
  row->participant = (uint16_t)(p->last + 1);
  return WB_OK;
}

/* ---- lines ---- */

/* Refuses a damaged line, or counts and lists it; *bad then tells to leave the row out. */
static wb_status damaged(reader *r, const lines *l, const char *problem, bool *bad,
                         wb_error *error) {
  bool cut = l->at == l->end && l->end[-1] != '\n';
  const char *note = cut ? " (the last line, without a newline: the file may be cut)" : "";
  *bad = true;
  if (!r->options->skip_bad) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s line %" PRId64 ": %s%s", l->name, l->line, problem,
                   note);
  }
  if (r->scanning) {
    return WB_OK;
  }
  r->tape->counts.bad_lines++;
  return wb_lobster_window_finding(&r->window, WB_FINDING_BAD_LINE, l->line, error,
                                   "%s line %" PRId64 ": %s%s", l->name, l->line, problem, note);
}

/* Times must not go back. */
static wb_status check_order(reader *r, const char *line, const wb_source_row *row,
                             int64_t before_ns, bool *bad, wb_error *error) {
  if (row->time_ns >= before_ns) {
    return WB_OK;
  }
  char problem[WB_LOBSTER_PROBLEM_BYTES];
  const char *comma = memchr(line, ',', (size_t)(r->messages.at - line));
  int length = comma != NULL && comma - line < 40 ? (int)(comma - line) : 40;
  (void)snprintf(problem, sizeof problem,
                 "time: expected no time before that of the line above, %" PRId64 ".%09" PRId64
                 ", got \"%.*s\"",
                 before_ns / 1000000000, before_ns % 1000000000, length, line);
  return damaged(r, &r->messages, problem, bad, error);
}

/* Reads the next message into *row. */
static wb_status read_message(reader *r, wb_source_row *row, int64_t before_ns, bool *bad,
                              wb_error *error) {
  lines *l = &r->messages;
  const char *line = l->at, *next = NULL;
  l->line++;
  if (l->end - line >= WB_LOBSTER_MESSAGE_BYTES) {
    next = wb_lobster_message_fast(line, r->columns, row, &r->extra);
  }
  if (next != NULL) {
    l->at = next;
  } else {
    char problem[WB_LOBSTER_PROBLEM_BYTES];
    const char *end = line_end(line, l->end);
    l->at = end < l->end ? end + 1 : end;
    if (!wb_lobster_message_careful(line, text_end(line, l->end), r->columns, row, &r->extra,
                                    problem)) {
      return damaged(r, l, problem, bad, error);
    }
  }
  return check_order(r, line, row, before_ns, bad, error);
}

/* A price below or above what the base allows. */
static bool fits(int64_t price, int64_t base) {
  return price - base >= -WB_PRICE_LIMIT && price - base <= WB_PRICE_LIMIT;
}

/* Widens the range; a price outside of what the base allows is a misfit. */
static void note_price(reader *r, const lines *l, int64_t price) {
  r->lowest = price < r->lowest ? price : r->lowest;
  if (price > r->highest) {
    r->highest = price;
    r->highest_name = l->name;
    r->highest_line = l->line;
  }
  r->misfit |= !fits(price, r->cells.base);
}

/* Takes an exact book row over: range and cents are tracked, prices put above the base. */
static void take_row(reader *r) {
  for (int32_t i = 0; i < 2 * r->cells.levels; i++) {
    int64_t price = r->row_price[i];
    if (price == INT64_MIN) {
      r->cells.price[i] = WB_NO_PRICE;
      r->cells.qty[i] = 0;
      continue;
    }
    note_price(r, &r->book, price);
    r->cells.not_in_cents |= price % CENT != 0;
    r->cells.price[i] = fits(price, r->cells.base) ? (int32_t)(price - r->cells.base) : 0;
    r->cells.qty[i] = r->row_qty[i];
  }
}

/* Reads the next book row into where r->cells points, or, exact, into row_price and row_qty. */
static wb_status read_book(reader *r, bool *bad, wb_error *error) {
  lines *l = &r->book;
  const char *line = l->at, *next = NULL;
  l->line++;
  if (!r->scanning && l->end - line >= 4 * (int64_t)r->cells.levels * WB_LOBSTER_CELL_BYTES + 16) {
    next = wb_lobster_book_fast(line, &r->cells);
  }
  r->exact_row = false;
  if (next != NULL) {
    l->at = next;
    return WB_OK;
  }
  char problem[WB_LOBSTER_PROBLEM_BYTES];
  const char *end = line_end(line, l->end);
  l->at = end < l->end ? end + 1 : end;
  r->exact_row = true;
  return wb_lobster_book_careful(line, text_end(line, l->end), r->cells.levels, r->row_price,
                                 r->row_qty, problem)
             ? WB_OK
             : damaged(r, l, problem, bad, error);
}

/* Notes what a message tells about range, cents and time; its price above the base. */
static int32_t take_message(reader *r, const wb_source_row *row) {
  r->decimals = r->extra.decimals > r->decimals ? r->extra.decimals : r->decimals;
  if (row->type == 7) {
    return 0;
  }
  if (row->type <= 4) {
    r->cells.not_in_cents |= (uint64_t)row->price % CENT != 0;
  }
  note_price(r, &r->messages, row->price);
  return fits(row->price, r->cells.base) ? (int32_t)(row->price - r->cells.base) : 0;
}

/* With a tick size given, resting prices must be multiples of it. */
static wb_status check_tick(const reader *r, const wb_source_row *row, int32_t price,
                            wb_error *error) {
  int32_t tick = r->options->tick_size;
  if (row->type <= 4 && price % tick != 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "%s line %" PRId64 ": price: expected a multiple of the tick size %" PRId32
                   ", got \"%" PRId64 "\"",
                   r->messages.name, r->messages.line, tick, row->price);
  }
  for (int32_t i = 0; i < 2 * r->cells.levels; i++) {
    if (r->cells.price[i] != WB_NO_PRICE && r->cells.price[i] % tick != 0) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "%s line %" PRId64 ": %s price %" PRId32
                     ": expected a multiple of the tick size %" PRId32 ", got \"%" PRId64 "\"",
                     r->book.name, r->book.line, i % 2 == 0 ? "ask" : "bid", i / 2 + 1, tick,
                     r->cells.base + r->cells.price[i]);
    }
  }
  return WB_OK;
}

/* ---- rows ---- */

static void count_row(wb_reader_counts *counts, const wb_source_row *row, int64_t before_ns) {
  counts->repeated_times += row->time_ns == before_ns;
  switch (row->type) {
  case 1: counts->rows_submission++; break;
  case 2: counts->rows_partial_cancel++; break;
  case 3: counts->rows_deletion++; break;
  case 4:
    counts->rows_execution++;
    counts->visible_volume += row->size;
    break;
  case 5:
    counts->rows_hidden_execution++;
    counts->hidden_volume += row->size;
    break;
  case 6:
    counts->rows_auction++;
    counts->auction_volume += row->size;
    break;
  default: counts->rows_halt++;
  }
}

/* Hands a good row to the window. */
static wb_status track_row(reader *r, const wb_source_row *row, int32_t price, wb_error *error) {
  wb_lobster_window *window = &r->window;
  bool alone = r->cells.levels == 0;
  const int32_t *book_price = alone ? NULL : r->cells.price;
  const int64_t *book_qty = alone ? NULL : r->cells.qty;
  window->place.row = r->tape->row_count;
  window->place.message_line = r->messages.line;
  window->place.book_line = r->book.line;
  return r->tape->row_count == 0 && !alone
             ? wb_lobster_window_seed(window, row, price, book_price, book_qty, error)
             : wb_lobster_window_row(window, row, price, book_price, book_qty, error);
}

static wb_status read_row(reader *r, int64_t *before_ns, wb_error *error) {
  wb_tape *tape = r->tape;
  wb_source_row *row = &tape->rows[r->scanning ? 0 : tape->row_count];
  bool bad = false, bad_book = false, not_in_cents = r->cells.not_in_cents;
  WB_TRY(read_message(r, row, *before_ns, &bad, error));
  if (r->cells.levels > 0) {
    int64_t at = r->scanning ? 0 : tape->row_count * 2 * r->cells.levels;
    r->cells.price = tape->book_price + at;
    r->cells.qty = tape->book_qty + at;
    WB_TRY(read_book(r, &bad_book, error));
  }
  if (bad || bad_book) {
    r->cells.not_in_cents = not_in_cents; /* what is left out tells nothing */
    return WB_OK;
  }
  if (r->exact_row) {
    r->cells.not_in_cents = not_in_cents;
    take_row(r);
  }
  int32_t price = take_message(r, row);
  if (r->scanning || r->misfit) {
    *before_ns = row->time_ns;
    tape->row_count++;
    return WB_OK;
  }
  if (r->options->tick_size > 0) {
    WB_TRY(check_tick(r, row, price, error));
  }
  if (r->extra.odd_time) {
    WB_TRY(keep_odd_time(r, error));
  }
  if (r->columns == 7) {
    WB_TRY(keep_participant(r, row, error));
  }
  count_row(&tape->counts, row, *before_ns);
  *before_ns = row->time_ns;
  WB_TRY(track_row(r, row, price, error));
  tape->row_count++;
  return WB_OK;
}

static void show_progress(const reader *r) {
  if (r->options->progress != NULL) {
    const lines *m = &r->messages, *b = &r->book;
    r->options->progress(r->options->progress_context, (m->at - m->first) + (b->at - b->first),
                         (m->end - m->first) + (b->end - b->first));
  }
}

/* All rows, or up to the first price that does not fit. */
static wb_status read_rows(reader *r, wb_error *error) {
  int64_t before_ns = -1;
  for (int64_t i = 0; i < r->rows && !(r->misfit && !r->scanning); i++) {
    if (i % PROGRESS_ROWS == 0) {
      show_progress(r);
    }
    WB_TRY(read_row(r, &before_ns, error));
  }
  show_progress(r);
  return WB_OK;
}

/* ---- one pass ---- */

static wb_status allocate_rows(reader *r, wb_error *error) {
  wb_tape *tape = r->tape;
  size_t levels = (size_t)r->cells.levels;
  /* a row is at least so long: a wrong number of columns cannot ask for much more than was given */
  int64_t most = (r->messages.end - r->messages.first) / 12 + 1;
  if (levels > 0) {
    int64_t most_book = (r->book.end - r->book.first) / (8 * r->cells.levels) + 1;
    most = most_book < most ? most_book : most;
  }
  size_t rows = r->scanning ? 1 : (size_t)(r->rows < most ? r->rows : most);
  size_t cells = rows * 2 * levels;
  tape->rows = tape->blocks[BLOCK_ROWS] = wb_large_alloc(rows * sizeof *tape->rows);
  tape->book_price = tape->blocks[BLOCK_BOOK_PRICE] =
      wb_large_alloc(cells * sizeof *tape->book_price + 1);
  tape->book_qty = tape->blocks[BLOCK_BOOK_QTY] =
      wb_large_alloc(cells * sizeof *tape->book_qty + 1);
  if (tape->rows == NULL || tape->book_price == NULL || tape->book_qty == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for %zu rows of %zu levels", rows, levels);
  }
  return WB_OK;
}

static wb_status start_pass(reader *r, int64_t base, bool scanning, wb_error *error) {
  r->messages.at = r->messages.first;
  r->messages.line = r->messages.first_line;
  r->book.at = r->book.first;
  r->book.line = r->book.first_line;
  r->scanning = scanning;
  r->misfit = false;
  r->lowest = INT64_MAX;
  r->highest = INT64_MIN;
  r->odd_room = 0;
  r->decimals = 0;
  r->cells.base = base;
  r->cells.not_in_cents = false;
  r->participants = (participants){0};
  wb_tape_free(r->tape);
  r->tape = wb_tape_new();
  if (r->tape == NULL) {
    return no_memory(error, "a tape");
  }
  r->tape->base = base;
  r->tape->levels = r->cells.levels;
  wb_lobster_window_end(&r->window);
  WB_TRY(wb_lobster_window_start(&r->window, r->tape, r->options->strict, scanning ? 0 : r->rows,
                                 error));
  r->window.place.message_name = r->messages.name;
  r->window.place.book_name = r->cells.levels > 0 ? r->book.name : NULL;
  return allocate_rows(r, error);
}

/* Prices that do not fit base 0: looks for the range and reads again above a base. */
static wb_status read_above_base(reader *r, wb_error *error) {
  WB_TRY(start_pass(r, 0, true, error));
  WB_TRY(read_rows(r, error));
  int32_t tick =
      r->options->tick_size > 0 ? r->options->tick_size : (r->cells.not_in_cents ? 1 : CENT);
  int64_t base = r->lowest - r->lowest % tick;
  if (base > WB_TAPE_BASE_LAST) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "%s line %" PRId64 ": price: expected at most about 2^62 units, got \"%" PRId64
                   "\"",
                   r->highest_name, r->highest_line, r->highest);
  }
  if (r->highest - base > WB_PRICE_LIMIT) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "%s line %" PRId64
                   ": price: expected at most 2^30 units above the lowest, %" PRId64
                   ", got \"%" PRId64 "\"",
                   r->highest_name, r->highest_line, r->lowest, r->highest);
  }
  WB_TRY(start_pass(r, base, false, error));
  return read_rows(r, error);
}

/* A spreadsheet shows eleven characters of a number: five decimals of a time of five digits. */
static wb_status check_rounding(reader *r, wb_error *error) {
  if (r->tape->row_count < ROUNDED_ROWS || (r->decimals != 4 && r->decimals != 5)) {
    return WB_OK;
  }
  static const char problem[] = "time: expected decimals to the nanosecond, got at most %d in the "
                                "whole file: a spreadsheet has rounded them";
  char text[WB_LOBSTER_PROBLEM_BYTES];
  (void)snprintf(text, sizeof text, problem, (int)r->decimals);
  int64_t line = r->messages.first_line + 1;
  if (!r->options->skip_bad) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s line %" PRId64 ": %s", r->messages.name, line, text);
  }
  return wb_lobster_window_finding(&r->window, WB_FINDING_BAD_LINE, line, error,
                                   "%s line %" PRId64 ": %s", r->messages.name, line, text);
}

/* ---- the pair ---- */

static wb_status check_columns(reader *r, wb_error *error) {
  int64_t columns = typical_columns(&r->messages, r->options->skip_bad);
  if (columns != 6 && columns != 7) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "%s line %" PRId64 ": columns: expected 6 or 7, got %" PRId64, r->messages.name,
                   r->messages.first_line + 1, columns);
  }
  r->columns = (int32_t)columns;
  if (r->book.name == NULL) {
    return WB_OK;
  }
  columns = typical_columns(&r->book, r->options->skip_bad);
  if (columns / 4 > WB_TAPE_LEVELS_LAST) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "%s line %" PRId64 ": columns: expected up to %d, 4 a level, got %" PRId64,
                   r->book.name, r->book.first_line + 1, 4 * WB_TAPE_LEVELS_LAST, columns);
  }
  if (columns % 4 != 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "%s line %" PRId64 ": columns: expected a multiple of 4, got %" PRId64,
                   r->book.name, r->book.first_line + 1, columns);
  }
  r->cells.levels = (int32_t)(columns / 4);
  r->row_price = malloc((size_t)columns * sizeof *r->row_price);
  r->row_qty = r->row_price != NULL ? r->row_price + columns / 2 : NULL;
  return r->row_price != NULL ? WB_OK : no_memory(error, "a book row");
}

static wb_status check_rows(reader *r, wb_error *error) {
  const lines *m = &r->messages, *b = &r->book;
  if (m->rows == 0 || (b->name != NULL && b->rows == 0)) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected at least one row, got none",
                   m->rows == 0 ? m->name : b->name);
  }
  if (b->name != NULL && m->rows != b->rows && !r->options->truncate) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "rows: expected as many in both files, got %" PRId64 " in %s and %" PRId64
                   " in %s",
                   m->rows, m->name, b->rows, b->name);
  }
  r->rows = b->name != NULL && b->rows < m->rows ? b->rows : m->rows;
  if (r->rows > INT32_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT, "%s: expected at most 2^31-1 rows, got %" PRId64, m->name,
                   r->rows);
  }
  return WB_OK;
}

static wb_status finish(reader *r, const wb_lobster_text *messages,
                        const wb_lobster_text *orderbook, wb_error *error) {
  wb_tape *tape = r->tape;
  if (tape->row_count == 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected at least one good row, got none",
                   r->messages.name);
  }
  WB_TRY(check_rounding(r, error));
  tape->tick_size =
      r->options->tick_size > 0 ? r->options->tick_size : (r->cells.not_in_cents ? 1 : CENT);
  tape->unique_refs = true;
  tape->depth_unknown = orderbook == NULL;
  tape->participant_count = r->participants.count;
  tape->participants = r->participants.texts;
  if (orderbook != NULL) {
    tape->counts.truncated_rows = r->messages.rows > r->book.rows ? r->messages.rows - r->book.rows
                                                                  : r->book.rows - r->messages.rows;
  }
  tape->sources = wb_arena_array(&tape->arena, 2, sizeof *tape->sources);
  if (tape->sources == NULL) {
    return no_memory(error, "names");
  }
  WB_TRY(add_source(tape, messages, error));
  read_name(tape, messages->name);
  return orderbook != NULL ? add_source(tape, orderbook, error) : WB_OK;
}

static wb_status read_pair(reader *r, const wb_lobster_text *messages,
                           const wb_lobster_text *orderbook, wb_error *error) {
  WB_TRY(check_rows(r, error));
  WB_TRY(check_columns(r, error));
  WB_TRY(start_pass(r, 0, false, error));
  WB_TRY(read_rows(r, error));
  if (r->misfit) {
    WB_TRY(read_above_base(r, error));
  }
  return finish(r, messages, orderbook, error);
}

wb_status wb_lobster_read(const wb_lobster_text *messages, const wb_lobster_text *orderbook,
                          const wb_read_options *options, wb_tape **tape, wb_error *error) {
  *tape = NULL;
  options = options != NULL ? options : &no_options;
  if (orderbook == NULL && !options->messages_only) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: expected an orderbook text too, or messages_only to be set",
                   messages->name);
  }
  if (options->tick_size < 0 || options->tick_size > WB_PRICE_LIMIT) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "tick_size: expected 0 to 2^30, got %" PRId32,
                   options->tick_size);
  }
  reader r = {.options = options, .messages = open_lines(messages)};
  if (orderbook != NULL) {
    r.book = open_lines(orderbook);
  }
  wb_status status = read_pair(&r, messages, orderbook, error);
  wb_lobster_window_end(&r.window);
  free(r.row_price);
  if (status != WB_OK) {
    wb_tape_free(r.tape);
    return status;
  }
  *tape = r.tape;
  return WB_OK;
}

/* Lines of LOBSTER files: the fast and the careful parsers.
 *
 * The fast parsers take eight bytes at a time: the first byte that is no digit is found by carries,
 * the digits before it are moved to the top of the word and summed by three multiplications.
 * Keep: integers only, nothing here goes through a float; an integer has one text (no plus sign, no
 * leading zero, no "-0"), or an export would not give back the bytes that were read. */
#include "data/lobster_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_SECOND INT64_C(1000000000)
#define DAY_NS        (INT64_C(86400) * NS_PER_SECOND)

static const int64_t power_of_ten[10] = {1,      10,      100,      1000,      10000,
                                         100000, 1000000, 10000000, 100000000, 1000000000};

/* ---- eight bytes at a time ---- */

static inline uint64_t eight_bytes(const char *at) {
  uint64_t word;
  memcpy(&word, at, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

/* Digits that `at` starts with, at most eight, and their value. */
static inline int leading_digits(const char *at, uint64_t *value) {
  uint64_t word = eight_bytes(at) ^ UINT64_C(0x3030303030303030);
  /* a byte above 9 gets its top bit set here; a carry can only touch bytes after such a one */
  uint64_t other = ((word + UINT64_C(0x7676767676767676)) | word) & UINT64_C(0x8080808080808080);
  int count = 8;
  if (other != 0) {
    count = __builtin_ctzll(other) >> 3;
    if (count == 0) {
      *value = 0;
      return 0;
    }
    word <<= 64 - 8 * count;
  }
  word = word * 10 + (word >> 8);
  *value = (((word & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x000f424000000064)) +
            (((word >> 16) & UINT64_C(0x000000ff000000ff)) * UINT64_C(0x0000271000000001))) >>
           32;
  *value &= UINT64_C(0xffffffff);
  return count;
}

/* A canonical integer of at most fifteen digits; false for anything else. */
static inline bool fast_integer(const char **at, int64_t *value) {
  const char *p = *at;
  bool negative = *p == '-';
  p += negative;
  uint64_t sum;
  int count = leading_digits(p, &sum);
  if (count == 0 || (*p == '0' && (count > 1 || negative))) {
    return false;
  }
  p += count;
  if (count == 8) {
    uint64_t rest;
    int more = leading_digits(p, &rest);
    if (more == 8) {
      return false;
    }
    sum = sum * (uint64_t)power_of_ten[more] + rest;
    p += more;
  }
  *at = p;
  *value = negative ? -(int64_t)sum : (int64_t)sum;
  return true;
}

/* The same, and the comma after it. */
static inline bool fast_cell(const char **at, int64_t *value) {
  return fast_integer(at, value) && *(*at)++ == ',';
}

/* Past a newline, with or without a carriage return; NULL if there is none. */
static inline const char *fast_newline(const char *at) {
  at += *at == '\r';
  return *at == '\n' ? at + 1 : NULL;
}

/* A time in its shortest form, and the comma after it. */
static inline bool fast_time(const char **at, int64_t *time_ns, int32_t *decimals) {
  const char *p = *at;
  uint64_t seconds, fraction = 0;
  int count = leading_digits(p, &seconds);
  if (count == 0 || count == 8 || (*p == '0' && count > 1)) {
    return false;
  }
  p += count;
  int digits = 0;
  if (*p == '.') {
    p++;
    digits = leading_digits(p, &fraction);
    p += digits;
    if (digits == 8 && *p >= '0' && *p <= '9') {
      fraction = fraction * 10 + (uint64_t)(*p - '0');
      digits = 9;
      p++;
    }
    if (digits == 0 || p[-1] == '0') {
      return false;
    }
  }
  *time_ns = (int64_t)seconds * NS_PER_SECOND + (int64_t)fraction * power_of_ten[9 - digits];
  *decimals = digits;
  *at = p + 1;
  return *p == ',' && *time_ns <= DAY_NS;
}

/* Whether the numbers of a message go together; the careful parser says what is wrong. */
static inline bool message_holds(uint8_t type, int64_t id, int64_t size, int64_t price) {
  if (size < 0 || size > INT32_MAX) {
    return false;
  }
  if (type == 7) {
    return price >= -1 && price <= 1;
  }
  return size > 0 && price > 0 && (type > 4 || id > 0);
}

static inline const char *fast_participant(const char *at, wb_lobster_extra *extra) {
  if (*at != ',') {
    return NULL;
  }
  at++;
  size_t length = 0;
  while (length < 16 && at[length] > ' ' && at[length] < 127 && at[length] != ',') {
    length++;
  }
  if (length == 0) {
    return NULL;
  }
  extra->participant = at;
  extra->participant_length = length;
  return at + length;
}

const char *wb_lobster_message_fast(const char *at, int32_t columns, wb_source_row *row,
                                    wb_lobster_extra *extra) {
  int64_t time_ns, id, size, price;
  if (!fast_time(&at, &time_ns, &extra->decimals)) {
    return NULL;
  }
  unsigned type = (unsigned)(unsigned char)at[0] - '0';
  if (type < 1 || type > 7 || at[1] != ',') {
    return NULL;
  }
  at += 2;
  if (!fast_cell(&at, &id) || !fast_cell(&at, &size) || !fast_cell(&at, &price)) {
    return NULL;
  }
  int negative = *at == '-';
  at += negative;
  if (*at++ != '1' || !message_holds((uint8_t)type, id, size, price)) {
    return NULL;
  }
  if (columns == 7) {
    at = fast_participant(at, extra);
    if (at == NULL) {
      return NULL;
    }
  }
  extra->odd_time = false;
  row->time_ns = time_ns;
  row->id = id;
  row->price = price;
  row->size = (int32_t)size;
  row->type = (uint8_t)type;
  row->direction = (int8_t)(1 - 2 * negative);
  row->participant = 0;
  return fast_newline(at);
}

/* One level of one side: a dummy, or a price that fits, worse than the one before it. `worst` is
 * that one's key (larger is worse), INT64_MAX after a dummy. */
static inline bool fast_level(wb_lobster_cells *cells, int32_t at, int64_t sign, int64_t price,
                              int64_t qty, int64_t *worst) {
  if (price == sign * WB_LOBSTER_DUMMY) {
    cells->price[at] = WB_NO_PRICE;
    cells->qty[at] = 0;
    *worst = INT64_MAX;
    return qty == 0;
  }
  int64_t above = price - cells->base, key = sign * price;
  if (above < -WB_PRICE_LIMIT || above > WB_PRICE_LIMIT || price <= 0 || key <= *worst ||
      qty <= 0 || qty > WB_LOBSTER_LEVEL_SHARES) {
    return false;
  }
  cells->not_in_cents |= (uint64_t)price % 100 != 0;
  cells->price[at] = (int32_t)above;
  cells->qty[at] = qty;
  *worst = key;
  return true;
}

const char *wb_lobster_book_fast(const char *at, wb_lobster_cells *cells) {
  int64_t worst_ask = INT64_MIN, worst_bid = INT64_MIN;
  int32_t last = cells->levels - 1;
  for (int32_t i = 0;; i++) {
    int64_t ask, ask_qty, bid, bid_qty;
    if (!fast_cell(&at, &ask) || !fast_cell(&at, &ask_qty) || !fast_cell(&at, &bid) ||
        !fast_integer(&at, &bid_qty) || !fast_level(cells, 2 * i, 1, ask, ask_qty, &worst_ask) ||
        !fast_level(cells, 2 * i + 1, -1, bid, bid_qty, &worst_bid)) {
      return NULL;
    }
    if (i == last) {
      return fast_newline(at);
    }
    if (*at++ != ',') {
      return NULL;
    }
  }
}

/* ---- any line, with a reason where it is refused ---- */

typedef struct cell {
  const char *at;
  size_t length;
} cell;

/* The text of a cell as it may stand in a message: short and printable. */
static const char *shown(cell c, char text[48]) {
  size_t length = c.length < 40 ? c.length : 40;
  for (size_t i = 0; i < length; i++) {
    text[i] = c.at[i] >= ' ' && c.at[i] < 127 ? c.at[i] : '?';
  }
  (void)snprintf(text + length, 48 - length, "%s", length < c.length ? ".." : "");
  return text;
}

static bool refuse(char *problem, const char *field, const char *expected, cell got) {
  char text[48];
  (void)snprintf(problem, WB_LOBSTER_PROBLEM_BYTES, "%s: expected %s, got \"%s\"", field, expected,
                 shown(got, text));
  return false;
}

/* The cell that starts at *at; moves *at past the comma after it. */
static cell next_cell(const char **at, const char *end) {
  const char *comma = *at < end ? memchr(*at, ',', (size_t)(end - *at)) : NULL;
  cell c = {*at, (size_t)((comma != NULL ? comma : end) - *at)};
  *at = comma != NULL ? comma + 1 : end;
  return c;
}

int64_t wb_lobster_columns(const char *line, const char *end) {
  int64_t columns = 1;
  for (; line < end; line++) {
    columns += *line == ',';
  }
  return columns;
}

/* A canonical 64-bit integer. */
static bool integer(cell c, int64_t *value) {
  bool negative = c.length > 0 && c.at[0] == '-';
  size_t i = negative;
  if (i == c.length || (c.at[i] == '0' && c.length > 1)) {
    return false;
  }
  int64_t sum = 0; /* negative, since that end of the range is one longer */
  for (; i < c.length; i++) {
    if (c.at[i] < '0' || c.at[i] > '9' || __builtin_mul_overflow(sum, 10, &sum) ||
        __builtin_sub_overflow(sum, c.at[i] - '0', &sum)) {
      return false;
    }
  }
  if (!negative && sum == INT64_MIN) {
    return false;
  }
  *value = negative ? sum : -sum;
  return true;
}

static bool integer_within(cell c, int64_t least, int64_t most, int64_t *value) {
  return integer(c, value) && *value >= least && *value <= most;
}

/* Seconds with any number of decimals; nine count. */
static bool careful_time(cell c, int64_t *time_ns, wb_lobster_extra *extra) {
  size_t i = 0;
  int64_t seconds = 0, fraction = 0;
  for (; i < c.length && c.at[i] >= '0' && c.at[i] <= '9'; i++) {
    seconds = seconds * 10 + (c.at[i] - '0');
    if (seconds > DAY_NS / NS_PER_SECOND) {
      return false;
    }
  }
  if (i == 0) {
    return false;
  }
  extra->odd_time = c.at[0] == '0' && i > 1;
  extra->decimals = 0;
  if (i < c.length) {
    if (c.at[i] != '.' || i + 1 == c.length) {
      return false;
    }
    size_t first = i + 1;
    for (i = first; i < c.length; i++) {
      if (c.at[i] < '0' || c.at[i] > '9') {
        return false;
      }
      if (i - first < 9) {
        fraction += (c.at[i] - '0') * power_of_ten[8 - (i - first)];
      }
    }
    size_t decimals = c.length - first;
    extra->decimals = decimals < 100 ? (int32_t)decimals : 100;
    extra->odd_time |= decimals > 9 || c.at[c.length - 1] == '0';
  }
  *time_ns = seconds * NS_PER_SECOND + fraction;
  return *time_ns <= DAY_NS;
}

static bool careful_participant(cell c, wb_lobster_extra *extra, char *problem) {
  bool good = c.length > 0 && c.length <= WB_LOBSTER_PARTICIPANT_BYTES;
  for (size_t i = 0; good && i < c.length; i++) {
    good = c.at[i] > ' ' && c.at[i] < 127;
  }
  if (!good) {
    return refuse(problem, "participant", "a market participant's id or null", c);
  }
  extra->participant = c.at;
  extra->participant_length = c.length;
  return true;
}

static bool right_columns(const char *line, const char *end, int64_t expected, char *problem) {
  int64_t columns = wb_lobster_columns(line, end);
  if (line == end) {
    (void)snprintf(problem, WB_LOBSTER_PROBLEM_BYTES,
                   "columns: expected %" PRId64 ", got an empty line", expected);
    return false;
  }
  if (columns != expected) {
    (void)snprintf(problem, WB_LOBSTER_PROBLEM_BYTES, "columns: expected %" PRId64 ", got %" PRId64,
                   expected, columns);
    return false;
  }
  return true;
}

/* Fields 2 to 5, whose ranges depend on the type. */
static bool careful_numbers(const cell *cells, wb_source_row *row, char *problem) {
  int64_t type, size;
  if (!integer_within(cells[1], 1, 7, &type)) {
    return refuse(problem, "type", "an integer from 1 to 7", cells[1]);
  }
  if (!integer_within(cells[2], type <= 4 ? 1 : INT64_MIN, INT64_MAX, &row->id)) {
    return refuse(problem, "id", type <= 4 ? "a positive 64-bit integer" : "a 64-bit integer",
                  cells[2]);
  }
  if (!integer_within(cells[3], type != 7, INT32_MAX, &size)) {
    return refuse(problem, "size",
                  type != 7 ? "a positive integer up to 2147483647"
                            : "an integer from 0 to 2147483647",
                  cells[3]);
  }
  bool halt = type == 7;
  if (!integer_within(cells[4], halt ? -1 : 1, halt ? 1 : INT64_MAX, &row->price)) {
    return refuse(problem, "price",
                  halt ? "-1 (halt), 0 (quoting) or 1 (trading)" : "a positive 64-bit integer",
                  cells[4]);
  }
  row->type = (uint8_t)type;
  row->size = (int32_t)size;
  return true;
}

bool wb_lobster_message_careful(const char *line, const char *end, int32_t columns,
                                wb_source_row *row, wb_lobster_extra *extra,
                                char problem[WB_LOBSTER_PROBLEM_BYTES]) {
  if (!right_columns(line, end, columns, problem)) {
    return false;
  }
  cell cells[7] = {{0}};
  for (int32_t i = 0; i < columns; i++) {
    cells[i] = next_cell(&line, end);
  }
  if (!careful_time(cells[0], &row->time_ns, extra)) {
    return refuse(problem, "time", "seconds after midnight, from 0 to 86400, as digits", cells[0]);
  }
  extra->time = cells[0].at;
  extra->time_length = cells[0].length;
  int64_t direction;
  if (!careful_numbers(cells, row, problem)) {
    return false;
  }
  if (!integer(cells[5], &direction) || (direction != 1 && direction != -1)) {
    return refuse(problem, "direction", "1 or -1", cells[5]);
  }
  row->direction = (int8_t)direction;
  row->participant = 0;
  return columns == 6 || careful_participant(cells[6], extra, problem);
}

/* One level of one side. `worst` is the price before it, multiplied by sign: INT64_MIN before the
 * first, INT64_MAX after a dummy. */
static bool careful_level(cell price, cell qty, int32_t level, int64_t sign, int64_t *worst,
                          int64_t *price_out, int64_t *qty_out, char *problem) {
  char field[32], expected[96];
  const char *side = sign > 0 ? "ask" : "bid";
  (void)snprintf(field, sizeof field, "%s price %" PRId32, side, level + 1);
  if (!integer(price, price_out)) {
    return refuse(problem, field, "a 64-bit integer", price);
  }
  if (*price_out == sign * WB_LOBSTER_DUMMY) {
    *price_out = INT64_MIN;
    *qty_out = 0;
    *worst = INT64_MAX;
    (void)snprintf(field, sizeof field, "%s size %" PRId32, side, level + 1);
    return (qty.length == 1 && qty.at[0] == '0') ||
           refuse(problem, field, "0, since the price marks a missing level", qty);
  }
  if (*price_out <= 0) {
    return refuse(problem, field, "a positive integer or the mark of a missing level", price);
  }
  if (*worst == INT64_MAX) {
    return refuse(problem, field, "no level after a missing one", price);
  }
  if (sign * *price_out <= *worst) {
    (void)snprintf(expected, sizeof expected, "a price %s %" PRId64 ", the level before",
                   sign > 0 ? "above" : "below", sign * *worst);
    return refuse(problem, field, expected, price);
  }
  if (!integer_within(qty, 1, WB_LOBSTER_LEVEL_SHARES, qty_out)) {
    (void)snprintf(field, sizeof field, "%s size %" PRId32, side, level + 1);
    (void)snprintf(expected, sizeof expected, "a positive integer up to %" PRId64,
                   WB_LOBSTER_LEVEL_SHARES);
    return refuse(problem, field, expected, qty);
  }
  *worst = sign * *price_out;
  return true;
}

bool wb_lobster_book_careful(const char *line, const char *end, int32_t levels, int64_t *price,
                             int64_t *qty, char problem[WB_LOBSTER_PROBLEM_BYTES]) {
  if (!right_columns(line, end, 4 * (int64_t)levels, problem)) {
    return false;
  }
  int64_t worst[2] = {INT64_MIN, INT64_MIN};
  for (int32_t i = 0; i < 2 * levels; i++) {
    cell price_cell = next_cell(&line, end), qty_cell = next_cell(&line, end);
    if (!careful_level(price_cell, qty_cell, i / 2, i % 2 == 0 ? 1 : -1, &worst[i % 2], &price[i],
                       &qty[i], problem)) {
      return false;
    }
  }
  return true;
}

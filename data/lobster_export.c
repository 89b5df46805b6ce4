/* From a tape's source rows back to LOBSTER's two CSV files, byte for byte.
 *
 * A line is put together in the output's buffer by the digit writers below: no printf, no copy.
 * Keep: every writer's bound is in LINE_BYTES or WB_LOBSTER_LEVEL_BYTES; a time is written as the
 * shortest text of its nanoseconds unless the tape remembers another text for it. */
#define _GNU_SOURCE
#include "data/lobster.h"

#include "data/output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Of a message line without an odd time's text and a participant: six numbers of up to 20
 * characters, as many commas, a point, nine decimals, the newline. */
enum { LINE_BYTES = 160 };

/* What the format writes where there is no level. */
static const char NO_ASK[] = "9999999999,0", NO_BID[] = "-9999999999,0";

static const char PAIRS[] = "00010203040506070809101112131415161718192021222324252627282930313233"
                            "34353637383940414243444546474849505152535455565758596061626364656667"
                            "6869707172737475767778798081828384858687888990919293949596979899";

static int digits_of(uint64_t value) {
  int digits = 1;
  for (; value >= 10000; value /= 10000) {
    digits += 4;
  }
  return digits + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes a number from its last pair of digits to its first; returns the end. */
static char *put_unsigned(char *text, uint64_t value) {
  char *end = text + digits_of(value), *at = end;
  while (value >= 100) {
    at -= 2;
    memcpy(at, PAIRS + 2 * (value % 100), 2);
    value /= 100;
  }
  if (value >= 10) {
    memcpy(text, PAIRS + 2 * value, 2);
  } else {
    *text = (char)('0' + value);
  }
  return end;
}

static char *put_signed(char *text, int64_t value) {
  if (value < 0) {
    *text++ = '-';
    return put_unsigned(text, 0 - (uint64_t)value);
  }
  return put_unsigned(text, (uint64_t)value);
}

/* Seconds, and as many decimals as are needed for the nanoseconds. */
static char *put_time(char *text, int64_t time_ns) {
  uint64_t rest = (uint64_t)time_ns;
  text = put_unsigned(text, rest / 1000000000);
  uint32_t fraction = (uint32_t)(rest % 1000000000);
  if (fraction == 0) {
    return text;
  }
  *text = '.';
  for (int k = 9; k > 0; k--) {
    text[k] = (char)('0' + fraction % 10);
    fraction /= 10;
  }
  text += 9;
  while (*text == '0') {
    text--;
  }
  return text + 1;
}

size_t wb_lobster_book_row(int64_t base, int32_t levels, const int32_t *price, const int64_t *qty,
                           char *text) {
  char *at = text;
  for (int32_t k = 0; k < 2 * levels; k++) {
    if (price[k] == WB_NO_PRICE) {
      const char *none = k % 2 == 0 ? NO_ASK : NO_BID;
      const size_t length = k % 2 == 0 ? sizeof NO_ASK - 1 : sizeof NO_BID - 1;
      memcpy(at, none, length);
      at += length;
    } else {
      at = put_signed(at, base + price[k]);
      *at++ = ',';
      at = put_signed(at, qty[k]);
    }
    *at++ = ',';
  }
  /* the last comma becomes the end of the line */
  at -= at > text;
  *at++ = '\n';
  return (size_t)(at - text);
}

static char *put_text(char *at, const char *text) {
  const size_t length = strlen(text);
  memcpy(at, text, length);
  return at + length;
}

/* One message line; `odd_time` NULL for the usual text. */
static wb_status put_message(const wb_tape *tape, int64_t index, const char *odd_time,
                             wb_output *output, wb_error *error) {
  const wb_source_row *row = &tape->rows[index];
  const char *participant = row->participant == 0 ? NULL : tape->participants[row->participant - 1];
  const size_t longest = LINE_BYTES + (odd_time == NULL ? 0 : strlen(odd_time)) +
                         (participant == NULL ? 0 : strlen(participant));
  char *line = NULL;
  WB_TRY(wb_output_room(output, longest, &line, error));
  char *at = odd_time == NULL ? put_time(line, row->time_ns) : put_text(line, odd_time);
  *at++ = ',';
  *at++ = (char)('0' + row->type);
  *at++ = ',';
  at = put_signed(at, row->id);
  *at++ = ',';
  at = put_signed(at, row->size);
  *at++ = ',';
  at = put_signed(at, row->price);
  *at++ = ',';
  at = put_signed(at, row->direction);
  if (participant != NULL) {
    *at++ = ',';
    at = put_text(at, participant);
  }
  *at++ = '\n';
  wb_output_advance(output, (size_t)(at - line));
  return WB_OK;
}

static wb_status write_messages(const wb_tape *tape, wb_output *output, wb_error *error) {
  int64_t odd = 0;
  for (int64_t k = 0; k < tape->row_count; k++) {
    const char *odd_time = NULL;
    if (odd < tape->odd_time_count && tape->odd_times[odd].row == k) {
      odd_time = tape->odd_times[odd++].text;
    }
    WB_TRY(put_message(tape, k, odd_time, output, error));
  }
  return WB_OK;
}

static wb_status write_books(const wb_tape *tape, wb_output *output, wb_error *error) {
  const size_t longest = (size_t)tape->levels * WB_LOBSTER_LEVEL_BYTES + 1;
  const int64_t width = 2 * (int64_t)tape->levels;
  for (int64_t k = 0; k < tape->row_count; k++) {
    char *line = NULL;
    WB_TRY(wb_output_room(output, longest, &line, error));
    wb_output_advance(output,
                      wb_lobster_book_row(tape->base, tape->levels, tape->book_price + k * width,
                                          tape->book_qty + k * width, line));
  }
  return WB_OK;
}

/* A tape may lack lines of its source (skip_bad, truncate), so its files never take the source's place. */
static bool is_source(const wb_tape *tape, const char *path) {
  struct stat target, source;
  if (stat(path, &target) != 0) {
    return false;
  }
  for (int32_t i = 0; i < tape->source_count; i++) {
    if (stat(tape->sources[i].name, &source) == 0 && source.st_dev == target.st_dev &&
        source.st_ino == target.st_ino) {
      return true;
    }
  }
  return false;
}

/* Opens the file that holds `part` ("message", "orderbook"), under LOBSTER's name for it. */
static wb_status open_part(const wb_tape *tape, const char *folder, const char *part,
                           wb_output **output, wb_error *error) {
  const char *instrument = tape->instrument[0] != 0 ? tape->instrument : "UNKNOWN";
  const char *day = tape->day[0] != 0 ? tape->day : "0000-00-00";
  char *path = NULL;
  if (asprintf(&path, "%s/%s_%s_%" PRId64 "_%" PRId64 "_%s_%d.csv", folder, instrument, day,
               tape->start_ns / 1000000, tape->end_ns / 1000000, part, tape->levels) < 0) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for a file name", folder);
  }
  const wb_status status = is_source(tape, path) ? WB_FAIL(error, WB_ERROR_ARGUMENT,
                                                           "%s is what the day was read from", path)
                                                 : wb_output_open(path, output, error);
  free(path);
  return status;
}

wb_status wb_lobster_export_open(const wb_tape *tape, const char *folder, wb_lobster_files *files,
                                 wb_error *error) {
  *files = (wb_lobster_files){NULL, NULL};
  if (tape->row_count == 0) {
    return WB_FAIL(error, WB_ERROR_STATE,
                   "export: expected a tape with the rows of a LOBSTER file, got one without");
  }
  if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
    return WB_FAIL(error, WB_ERROR_IO, "%s: cannot make the folder: %s", folder, strerror(errno));
  }
  wb_status status = open_part(tape, folder, "message", &files->messages, error);
  if (status == WB_OK && tape->levels > 0) {
    status = open_part(tape, folder, "orderbook", &files->orderbook, error);
  }
  if (status != WB_OK) {
    (void)wb_lobster_export_close(files, false, NULL);
  }
  return status;
}

/* Both files are whole on the disk before either gets its name. */
wb_status wb_lobster_export_write(const wb_tape *tape, const wb_lobster_files *files,
                                  wb_error *error) {
  WB_TRY(write_messages(tape, files->messages, error));
  WB_TRY(wb_output_sync(files->messages, error));
  if (files->orderbook != NULL) {
    WB_TRY(write_books(tape, files->orderbook, error));
    WB_TRY(wb_output_sync(files->orderbook, error));
  }
  return WB_OK;
}

wb_status wb_lobster_export_close(wb_lobster_files *files, bool keep, wb_error *error) {
  wb_output *messages = files->messages, *orderbook = files->orderbook;
  *files = (wb_lobster_files){NULL, NULL};
  wb_status status = WB_OK;
  if (keep) {
    status = wb_output_close(messages, error);
  } else {
    wb_output_discard(messages);
  }
  if (keep && status == WB_OK && orderbook != NULL) {
    return wb_output_close(orderbook, error);
  }
  wb_output_discard(orderbook);
  return status;
}

wb_status wb_lobster_export(const wb_tape *tape, const char *folder, wb_error *error) {
  wb_lobster_files files;
  WB_TRY(wb_lobster_export_open(tape, folder, &files, error));
  const wb_status status = wb_lobster_export_write(tape, &files, error);
  const wb_status closed =
      wb_lobster_export_close(&files, status == WB_OK, status == WB_OK ? error : NULL);
  return status == WB_OK ? closed : status;
}

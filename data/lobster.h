/* LOBSTER's two CSV files: from text to a tape, and back. What is true of the format, and how a
 * replay is exact although the file shows only a window of the book, is told in docs/lobster.md. */
#ifndef WB_DATA_LOBSTER_H
#define WB_DATA_LOBSTER_H

#include "input.h"
#include "output.h"

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_lobster_text {
  const char *name;  /* for messages and provenance */
  const char *bytes; /* the whole decompressed file; need not end in 0 */
  size_t size;
} wb_lobster_text;

/* Reads a pair of texts (`orderbook` NULL only with options->messages_only, else WB_ERROR_ARGUMENT).
 * Instrument, day and window come from the message file's name where it has LOBSTER's form. Errors as
 * wb_tape_read.
 *
 * Accepted: a byte order mark, a header line (it starts with a letter), CRLF, no newline or blank lines at
 * the end, any number of decimals of a time (nine count; a text that is not the shortest is kept in
 * odd_times). An integer has one text: no plus sign, no leading zero. A level of a book row may hold up to
 * 2^36 - 1 shares; it is kept as orders of at most 2^31 - 1. Times of 100 rows or more of which the longest
 * fraction has four or five decimals were rounded by a spreadsheet: refused, or, with skip_bad, listed. */
WB_API wb_status wb_lobster_read(const wb_lobster_text *messages, const wb_lobster_text *orderbook,
                                 const wb_read_options *options, wb_tape **tape, wb_error *error);

/* Writes one book row in the orderbook file's format, dummies and newline included, to `text`, which
 * has room for WB_LOBSTER_LEVEL_BYTES per level and 1 more; returns its length. Arrays as a row of
 * wb_tape's book_price and book_qty. */
enum { WB_LOBSTER_LEVEL_BYTES = 88 };
WB_API size_t wb_lobster_book_row(int64_t base, int32_t levels, const int32_t *price,
                                  const int64_t *qty, char *text);

/* Writes the tape's source rows as <stem>_message_<L>.csv and <stem>_orderbook_<L>.csv into the
 * folder (made if missing), each under a temporary name, flushed, renamed. The stem is LOBSTER's:
 * TICKER_DAY_START_END. WB_ERROR_STATE if the tape has no source rows; WB_ERROR_ARGUMENT if a file to be
 * written is one that the tape was read from; WB_ERROR_IO. */
WB_API wb_status wb_lobster_export(const wb_tape *tape, const char *folder, wb_error *error);

/* The same in steps, for a program that has to know of the files before they are whole: open, write,
 * close. Open leaves nothing open if it fails; after write has failed, close with `keep` false. */
typedef struct wb_lobster_files {
  wb_output *messages;
  wb_output *orderbook; /* NULL: the tape has no book rows */
} wb_lobster_files;

WB_API wb_status wb_lobster_export_open(const wb_tape *tape, const char *folder,
                                        wb_lobster_files *files, wb_error *error);
WB_API wb_status wb_lobster_export_write(const wb_tape *tape, const wb_lobster_files *files,
                                         wb_error *error);
WB_API wb_status wb_lobster_export_close(wb_lobster_files *files, bool keep, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

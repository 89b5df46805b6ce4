/* Small LOBSTER texts and the shared real ones, for the tests of the reader. */
#ifndef WB_TESTS_LOBSTER_TEXTS_H
#define WB_TESTS_LOBSTER_TEXTS_H

#include "data/lobster.h"

/* Reads the texts under the names m.csv and b.csv; `book` NULL: messages only. The test fails unless
 * they are accepted, pass wb_tape_check and keep the promises of plain_book.h. The caller frees. */
wb_tape *accepted(const char *messages, const char *book);
wb_tape *accepted_with(const char *messages, const char *book, const wb_read_options *options);

/* The test fails unless the texts are refused with this status and exactly this text. */
void refused(const char *messages, const char *book, wb_status status, const char *text);
void refused_with(const char *messages, const char *book, const wb_read_options *options,
                  wb_status status, const char *text);

/* The tape's record as "ADD ask ref 3 100 x 5 NO_MATCH EDGE row 2 end": fields that its type looks at.
 * The text lives until the next call but seven. */
const char *record_text(const wb_tape *tape, int64_t index);

/* The test fails unless the tape's records are these texts, in order; the list ends with NULL. */
void expect_records(const wb_tape *tape, const char *const *texts);

/* A path below the folder of shared data; the test is skipped if that folder is missing. */
const char *shared_path(const char *relative);

/* A whole file, from malloc. The test fails if it cannot be read. */
char *file_bytes(const char *path, size_t *size);
void write_file(const char *path, const void *bytes, size_t size);

#endif

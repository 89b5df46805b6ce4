/* Small LOBSTER texts and the shared real ones, for the tests of the reader. */
#include "lobster_texts.h"

#include "plain_book.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

static const wb_read_options plain;

static wb_lobster_text text_of(const char *name, const char *bytes) {
  return (wb_lobster_text){name, bytes, strlen(bytes)};
}

static wb_status read_texts(const char *messages, const char *book, const wb_read_options *options,
                            wb_tape **tape, wb_error *error) {
  wb_read_options chosen = *options;
  chosen.messages_only = book == NULL;
  wb_lobster_text m = text_of("m.csv", messages), b = text_of("b.csv", book ? book : "");
  return wb_lobster_read(&m, book != NULL ? &b : NULL, &chosen, tape, error);
}

wb_tape *accepted_with(const char *messages, const char *book, const wb_read_options *options) {
  wb_tape *tape = NULL;
  wb_error error = {0};
  wb_status status = read_texts(messages, book, options, &tape, &error);
  cr_assert_eq(status, WB_OK, "%s", error.text);
  cr_assert_eq(wb_tape_check(tape, &error), WB_OK, "%s", error.text);
  plain_result result = plain_replay(tape);
  cr_assert_str_eq(result.broken, "");
  cr_assert_eq(result.edge_records, tape->counts.edge_records);
  cr_assert_leq(result.rows_checked - result.rows_equal, tape->counts.contradictions);
  return tape;
}

wb_tape *accepted(const char *messages, const char *book) {
  return accepted_with(messages, book, &plain);
}

void refused_with(const char *messages, const char *book, const wb_read_options *options,
                  wb_status status, const char *text) {
  wb_tape *tape = NULL;
  wb_error error = {0};
  wb_status got = read_texts(messages, book, options, &tape, &error);
  cr_expect_str_eq(error.text, text);
  cr_expect_eq(got, status, "%s instead of %s", wb_status_name(got), wb_status_name(status));
  cr_expect_null(tape);
  wb_tape_free(tape);
}

void refused(const char *messages, const char *book, wb_status status, const char *text) {
  refused_with(messages, book, &plain, status, text);
}

const char *record_text(const wb_tape *tape, int64_t index) {
  static char texts[8][128];
  static const char *const types[] = {
#define X(name, code) [code] = #name,
      WB_RECORD_TYPES(X)
#undef X
  };
  static int turn;
  const wb_record *r = &tape->records[index];
  turn = (turn + 1) % 8;
  char *text = texts[turn], what[80];
  const char *side = r->flags & WB_FLAG_SIDE ? "ask" : "bid";
  if (r->type == WB_RECORD_STATE) {
    snprintf(what, sizeof what, "STATE %d", r->arg);
  } else if (r->type == WB_RECORD_NOTE) {
    snprintf(what, sizeof what, "NOTE %d x %d", r->arg, r->qty);
  } else if (r->type == WB_RECORD_DELETE) {
    snprintf(what, sizeof what, "DELETE %s ref %d", side, r->ref);
  } else if (r->type == WB_RECORD_REDUCE) {
    snprintf(what, sizeof what, "REDUCE %s ref %d x %d", side, r->ref, r->qty);
  } else {
    snprintf(what, sizeof what, "%s %s ref %d %d x %d", types[r->type], side, r->ref, r->price,
             r->qty);
  }
  snprintf(text, sizeof texts[0], "%s%s%s row %d%s", what,
           r->flags & WB_FLAG_NO_MATCH ? " NO_MATCH" : "", r->flags & WB_FLAG_EDGE ? " EDGE" : "",
           r->row, r->flags & WB_FLAG_ROW_END ? " end" : "");
  return text;
}

void expect_records(const wb_tape *tape, const char *const *texts) {
  int64_t count = 0;
  for (; texts[count] != NULL; count++) {
    if (count < tape->record_count) {
      cr_expect_str_eq(record_text(tape, count), texts[count]);
    }
  }
  cr_expect_eq(tape->record_count, count, "%lld records instead of %lld",
               (long long)tape->record_count, (long long)count);
}

const char *shared_path(const char *relative) {
  static char path[1024];
  const char *folder = getenv("WB_TEST_DATA");
  struct stat status;
  if (folder == NULL) {
    folder = WB_SOURCE_DIR "/../shared";
  }
  if (stat(folder, &status) != 0) {
    cr_skip_test("no shared data at %s (WB_TEST_DATA)", folder);
  }
  snprintf(path, sizeof path, "%s/%s", folder, relative);
  return path;
}

char *file_bytes(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  cr_assert_not_null(file, "%s", path);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  char *bytes = malloc(*size + 1);
  cr_assert_eq(fread(bytes, 1, *size, file), *size, "%s", path);
  bytes[*size] = 0;
  fclose(file);
  return bytes;
}

void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file, "%s", path);
  cr_assert_eq(fwrite(bytes, 1, size, file), size, "%s", path);
  cr_assert_eq(fclose(file), 0, "%s", path);
}

/* Reads a tape's HDF5 file, ours or another program's, and trusts nothing in it: the parts come
 * through store_access.h, which checks and converts, and the tape that they make is checked like any
 * other before a caller sees it. Parts that a foreign file lacks are empty. */
#define _GNU_SOURCE
#include "data/store_access.h"
#include "data/tape_private.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_RECORDS, BLOCK_IDS, BLOCK_SEED, BLOCK_ROWS, BLOCK_PRICE, BLOCK_QTY };

/* ---- the parts of a tape ---- */

static wb_status read_version(wb_store_reader *r) {
  char format[64];
  bool there;
  int64_t version = 0;
  WB_TRY(wb_store_read_text(r, "format", format, sizeof format, &there));
  if (strcmp(format, WB_STORE_FORMAT) != 0) {
    return WB_FAIL(r->error, WB_ERROR_FORMAT, "attribute format: expected \"%s\", got %s%s%s",
                   WB_STORE_FORMAT, there ? "\"" : "no such attribute", format, there ? "\"" : "");
  }
  WB_TRY(wb_store_read_number(r->file, "version", INT64_MIN, INT64_MAX, &version, r->error));
  if (version < 1 || version > WB_STORE_VERSION) {
    return WB_FAIL(r->error, WB_ERROR_FORMAT,
                   "attribute version: expected 1 to %d, got %" PRId64 "%s", WB_STORE_VERSION,
                   version, version > WB_STORE_VERSION ? " (written by a newer warpbook)" : "");
  }
  return WB_OK;
}

static wb_status read_header(wb_store_reader *r) {
  wb_tape *tape = r->tape;
  wb_error *error = r->error;
  bool there;
  int64_t tick = 0, levels = 0, unique = 0, unknown = 0;
  WB_TRY(read_version(r));
  WB_TRY(wb_store_read_text(r, "instrument", tape->instrument, sizeof tape->instrument, &there));
  WB_TRY(wb_store_read_text(r, "day", tape->day, sizeof tape->day, &there));
  WB_TRY(wb_store_read_real(r->file, "price_unit", &tape->price_unit, error));
  WB_TRY(wb_store_read_number(r->file, "tick_size", 1, WB_PRICE_LIMIT, &tick, error));
  if (tick == 0) {
    return wb_store_missing_attribute("tick_size", error);
  }
  WB_TRY(wb_store_read_number(r->file, "base", INT64_MIN, INT64_MAX, &tape->base, error));
  WB_TRY(wb_store_read_number(r->file, "levels", 0, WB_TAPE_LEVELS_LAST, &levels, error));
  WB_TRY(wb_store_read_number(r->file, "start_ns", 0, INT64_MAX, &tape->start_ns, error));
  WB_TRY(wb_store_read_number(r->file, "end_ns", 0, INT64_MAX, &tape->end_ns, error));
  WB_TRY(wb_store_read_number(r->file, "unique_refs", 0, 1, &unique, error));
  WB_TRY(wb_store_read_number(r->file, "depth_unknown", 0, 1, &unknown, error));
  tape->tick_size = (int32_t)tick;
  tape->levels = (int32_t)levels;
  tape->unique_refs = unique != 0;
  tape->depth_unknown = unknown != 0;
  return WB_OK;
}

/* Without a list of ids, history's references are what the records and the seed use, and all of
 * them anonymous. They are meant to be dense: the list of zeros must stay in proportion. */
static wb_status make_ids(wb_store_reader *r) {
  wb_tape *tape = r->tape;
  int32_t last = -1;
  for (int64_t k = 0; k < tape->record_count; k++) {
    const wb_record *record = &tape->records[k];
    const bool names = record->type >= WB_RECORD_ADD && record->type <= WB_RECORD_EXECUTE;
    if (names && record->ref < WB_REF_AGENT_FIRST && record->ref > last) {
      last = record->ref;
    }
  }
  for (int32_t k = 0; k < tape->seed_count; k++) {
    const int32_t ref = tape->seed[k].ref;
    last = ref < WB_REF_AGENT_FIRST && ref > last ? ref : last;
  }
  const int64_t most = 16 * (tape->record_count + tape->seed_count) + (1 << 20);
  if (last >= most) {
    return WB_FAIL(r->error, WB_ERROR_FORMAT,
                   "dataset ids: expected one, or dense references (here: below %" PRId64
                   "), got no ids and reference %d",
                   most, last);
  }
  tape->ref_count = last + 1;
  WB_TRY(wb_store_make_block(tape, BLOCK_IDS, (uint64_t)tape->ref_count, sizeof *tape->ids,
                             "dataset ids", r->error));
  tape->ids = tape->blocks[BLOCK_IDS];
  return WB_OK;
}

static wb_status read_ids(wb_store_reader *r) {
  wb_store_dataset set;
  bool there;
  WB_TRY(wb_store_open_dataset(r->file, "", "ids", 1, &set, &there, r->error));
  if (!there) {
    return make_ids(r);
  }
  wb_status status = wb_store_check_integer(set.where, "", set.type, r->error);
  if (status == WB_OK) {
    status = wb_store_check_count(&set, WB_REF_AGENT_FIRST, r->error);
  }
  if (status == WB_OK) {
    status = wb_store_load_block(r, &set, BLOCK_IDS, H5T_NATIVE_INT64, sizeof(int64_t));
  }
  r->tape->ids = r->tape->blocks[BLOCK_IDS];
  r->tape->ref_count = status == WB_OK ? (int32_t)set.dims[0] : 0;
  wb_store_close_dataset(&set);
  return status;
}

static wb_status load_book(wb_store_reader *r, const wb_store_dataset *set, int block,
                           size_t size) {
  const wb_tape *tape = r->tape;
  if (set->dims[0] != (uint64_t)tape->row_count || set->dims[1] != 2 * (uint64_t)tape->levels) {
    return WB_FAIL(r->error, WB_ERROR_FORMAT,
                   "%s: expected %" PRId64 " x %d elements (rows x 2 levels), got %llu x %llu",
                   set->where, tape->row_count, 2 * tape->levels, (unsigned long long)set->dims[0],
                   (unsigned long long)set->dims[1]);
  }
  WB_TRY(wb_store_check_integer(set->where, "", set->type, r->error));
  return wb_store_load_block(r, set, block, wb_store_integer(size, true, false), size);
}

static wb_status read_book(wb_store_reader *r, const char *name, int block, size_t size) {
  wb_store_dataset set;
  bool there;
  WB_TRY(wb_store_open_dataset(r->file, "", name, 2, &set, &there, r->error));
  if (!there) {
    return wb_store_missing_dataset(&set, r->error);
  }
  const wb_status status = load_book(r, &set, block, size);
  wb_store_close_dataset(&set);
  return status;
}

static wb_status expect_no_quantities(wb_store_reader *r) {
  bool there;
  WB_TRY(wb_store_is_there(r->file, "book_qty", "dataset book_qty", &there, r->error));
  return there ? WB_FAIL(r->error, WB_ERROR_FORMAT,
                         "dataset book_price: expected one beside book_qty, got none")
               : WB_OK;
}

/* The depth, if no attribute tells it, is that of the book. */
static wb_status read_books(wb_store_reader *r) {
  wb_tape *tape = r->tape;
  bool there;
  if (tape->levels == 0) {
    wb_store_dataset set;
    WB_TRY(wb_store_open_dataset(r->file, "", "book_price", 2, &set, &there, r->error));
    if (!there) {
      return expect_no_quantities(r);
    }
    const hsize_t width = set.dims[1];
    wb_store_close_dataset(&set);
    if (width < 2 || width % 2 != 0 || width > 2 * WB_TAPE_LEVELS_LAST) {
      return WB_FAIL(r->error, WB_ERROR_FORMAT,
                     "%s: expected 2 to %d columns, an even number, got %llu", set.where,
                     2 * WB_TAPE_LEVELS_LAST, (unsigned long long)width);
    }
    tape->levels = (int32_t)(width / 2);
  }
  WB_TRY(read_book(r, "book_price", BLOCK_PRICE, sizeof(int32_t)));
  tape->book_price = tape->blocks[BLOCK_PRICE];
  WB_TRY(read_book(r, "book_qty", BLOCK_QTY, sizeof(int64_t)));
  tape->book_qty = tape->blocks[BLOCK_QTY];
  return WB_OK;
}

/* A book without the rows that it belongs to would be left unread, and nothing compared with it. */
static wb_status refuse_lone_books(wb_store_reader *r) {
  static const char *const names[] = {"book_price", "book_qty"};
  for (int k = 0; k < 2; k++) {
    wb_store_dataset set;
    bool there;
    WB_TRY(wb_store_open_dataset(r->file, "", names[k], 2, &set, &there, r->error));
    if (!there) {
      continue;
    }
    const uint64_t rows = set.dims[0];
    wb_store_close_dataset(&set);
    if (rows != 0) {
      return WB_FAIL(r->error, WB_ERROR_FORMAT,
                     "%s: expected as many rows as dataset rows has, 0, got %llu", set.where,
                     (unsigned long long)rows);
    }
  }
  return WB_OK;
}

static wb_status read_rows(wb_store_reader *r) {
  wb_tape *tape = r->tape;
  bool there;
  WB_TRY(wb_store_read_table(r, &wb_store_rows, BLOCK_ROWS, INT32_MAX, false, &tape->row_count));
  tape->rows = tape->blocks[BLOCK_ROWS];
  if (tape->row_count == 0) {
    return refuse_lone_books(r);
  }
  WB_TRY(wb_store_is_there(r->file, "participants", "dataset participants", &there, r->error));
  if (there) {
    int64_t count = 0;
    WB_TRY(wb_store_read_texts(r, r->file, "", "participants", -1, UINT16_MAX, &count,
                               &tape->participants));
    tape->participant_count = (int32_t)count;
  }
  return read_books(r);
}

static wb_status load_odd_times(wb_store_reader *r, hid_t group) {
  wb_tape *tape = r->tape;
  int64_t count = 0, *rows = NULL;
  const char **texts = NULL;
  WB_TRY(wb_store_read_numbers(r, group, "odd_times", "row", -1, tape->row_count, &count, &rows));
  WB_TRY(
      wb_store_read_texts(r, group, "odd_times", "text", count, tape->row_count, &count, &texts));
  tape->odd_times = wb_arena_array(&tape->arena, (size_t)count + 1, sizeof *tape->odd_times);
  if (tape->odd_times == NULL) {
    return WB_FAIL(r->error, WB_ERROR_MEMORY, "group odd_times: no memory");
  }
  for (int64_t k = 0; k < count; k++) {
    tape->odd_times[k] = (wb_odd_time){.row = rows[k], .text = texts[k]};
  }
  tape->odd_time_count = count;
  return WB_OK;
}

/* 32 hexadecimal digits, high word first. */
static bool parse_hash(const char *text, wb_hash128 *hash) {
  uint64_t words[2] = {0, 0};
  for (int k = 0; k < 32; k++) {
    const char c = text[k];
    const bool digit = c >= '0' && c <= '9', letter = c >= 'a' && c <= 'f';
    if (!digit && !letter) {
      return false;
    }
    words[k / 16] = words[k / 16] << 4 | (uint64_t)(digit ? c - '0' : c - 'a' + 10);
  }
  *hash = (wb_hash128){.low = words[1], .high = words[0]};
  return text[32] == 0;
}

static wb_status load_sources(wb_store_reader *r, hid_t group) {
  enum { MOST = 1 << 20 };
  wb_tape *tape = r->tape;
  int64_t count = 0, *bytes = NULL;
  const char **names = NULL, **hashes = NULL;
  WB_TRY(wb_store_read_texts(r, group, "sources", "name", -1, MOST, &count, &names));
  WB_TRY(wb_store_read_numbers(r, group, "sources", "bytes", count, MOST, &count, &bytes));
  WB_TRY(wb_store_read_texts(r, group, "sources", "hash", count, MOST, &count, &hashes));
  tape->sources = wb_arena_array(&tape->arena, (size_t)count + 1, sizeof *tape->sources);
  if (tape->sources == NULL) {
    return WB_FAIL(r->error, WB_ERROR_MEMORY, "group sources: no memory");
  }
  for (int64_t k = 0; k < count; k++) {
    tape->sources[k] = (wb_source){.name = names[k], .bytes = bytes[k]};
    if (!parse_hash(hashes[k], &tape->sources[k].hash)) {
      return WB_FAIL(r->error, WB_ERROR_FORMAT,
                     "dataset sources/hash: element %" PRId64
                     ": expected 32 hexadecimal digits in lower case, got \"%.40s\"",
                     k, hashes[k]);
    }
  }
  tape->source_count = (int32_t)count;
  return WB_OK;
}

static wb_status load_findings(wb_store_reader *r, hid_t group) {
  wb_tape *tape = r->tape;
  int64_t count = 0, *kinds = NULL, *rows = NULL;
  const char **texts = NULL;
  WB_TRY(wb_store_read_numbers(r, group, "findings", "kind", -1, INT32_MAX, &count, &kinds));
  WB_TRY(wb_store_read_numbers(r, group, "findings", "row", count, INT32_MAX, &count, &rows));
  WB_TRY(wb_store_read_texts(r, group, "findings", "text", count, INT32_MAX, &count, &texts));
  tape->findings = wb_arena_array(&tape->arena, (size_t)count + 1, sizeof *tape->findings);
  if (tape->findings == NULL) {
    return WB_FAIL(r->error, WB_ERROR_MEMORY, "group findings: no memory");
  }
  for (int64_t k = 0; k < count; k++) {
    if (kinds[k] < 0 || kinds[k] > WB_FINDING_BAD_LINE) {
      return WB_FAIL(r->error, WB_ERROR_FORMAT,
                     "dataset findings/kind: element %" PRId64 ": expected 0 to %d, got %" PRId64,
                     k, WB_FINDING_BAD_LINE, kinds[k]);
    }
    tape->findings[k] =
        (wb_finding){.kind = (wb_finding_kind)kinds[k], .row = rows[k], .text = texts[k]};
  }
  tape->finding_count = count;
  return WB_OK;
}

static wb_status load_counts(wb_store_reader *r, hid_t group) {
#define X(name, meaning) \
  WB_TRY(wb_store_read_number(group, #name, 0, INT64_MAX, &r->tape->counts.name, r->error));
  WB_READER_COUNTS(X)
#undef X
  return WB_OK;
}

static wb_status read_parts(wb_store_reader *r) {
  wb_tape *tape = r->tape;
  int64_t seed_count = 0;
  WB_TRY(read_header(r));
  WB_TRY(wb_store_read_table(r, &wb_store_records, BLOCK_RECORDS, INT32_MAX, true,
                             &tape->record_count));
  tape->records = tape->blocks[BLOCK_RECORDS];
  WB_TRY(wb_store_read_table(r, &wb_store_seed, BLOCK_SEED, INT32_MAX - 1, false, &seed_count));
  tape->seed = tape->blocks[BLOCK_SEED];
  tape->seed_count = (int32_t)seed_count;
  WB_TRY(read_ids(r));
  WB_TRY(read_rows(r));
  WB_TRY(wb_store_read_group(r, "odd_times", load_odd_times));
  WB_TRY(wb_store_read_group(r, "sources", load_sources));
  WB_TRY(wb_store_read_group(r, "findings", load_findings));
  return wb_store_read_group(r, "counts", load_counts);
}

/* A promise that cannot be proven is not taken over: engines then check each record instead. */
static wb_status check_tape(wb_tape *tape, wb_error *error) {
  WB_TRY(wb_tape_check_parts(tape, error));
  if (tape->unique_refs) {
    bool holds = false;
    if (wb_tape_check_promise(tape, &holds, error) == WB_ERROR_MEMORY) {
      return WB_ERROR_MEMORY;
    }
    tape->unique_refs = holds;
  }
  return WB_OK;
}

/* ---- the file ---- */

/* Where the file's superblock is: at its start or, behind a user block, at 512, 1024, 2048, ..
 * Returns `size` if there is none. */
static size_t find_superblock(const unsigned char *bytes, size_t size) {
  static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  for (size_t at = 0; at + 16 <= size; at = at == 0 ? 512 : 2 * at) {
    if (memcmp(bytes + at, signature, 8) == 0) {
      return at;
    }
  }
  return size;
}

/* Whether it is a file of HDF5 with addresses and lengths of 8 bytes, as all but odd ones are. */
static wb_status check_superblock(const unsigned char *bytes, size_t size, wb_error *error) {
  const size_t at = find_superblock(bytes, size);
  if (at == size) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "expected an HDF5 file, got something else");
  }
  const size_t widths = bytes[at + 8] < 2 ? 13 : 9;
  if (bytes[at + widths] != 8 || bytes[at + widths + 1] != 8) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "superblock: expected addresses and lengths of 8 bytes, got %d and %d",
                   bytes[at + widths], bytes[at + widths + 1]);
  }
  return WB_OK;
}

static wb_status open_image(const void *bytes, size_t size, hid_t *file, wb_error *error) {
  char name[64];
  snprintf(name, sizeof name, "warpbook-image-%p", (const void *)file);
  *file = -1;
  WB_TRY(check_superblock(bytes, size, error));
  const hid_t access = wb_store_in_memory(4096);
  if (access >= 0 && H5Pset_file_image(access, (void *)(uintptr_t)bytes, size) >= 0) {
    *file = H5Fopen(name, H5F_ACC_RDONLY, access);
  }
  const wb_status status =
      *file < 0 ? wb_store_fail("the file (cut short or damaged?)", "open it", error) : WB_OK;
  if (access >= 0) {
    H5Pclose(access);
  }
  return status;
}

/* Texts of a file that are quoted in a message must not steer a terminal. */
static void make_printable(wb_error *error) {
  for (char *at = error == NULL ? NULL : error->text; at != NULL && *at != 0; at++) {
    if ((unsigned char)*at < 0x20 || (unsigned char)*at >= 0x7f) {
      *at = '?';
    }
  }
}

wb_status wb_store_read_image(const void *bytes, size_t size, wb_tape **result, wb_error *error) {
  wb_store_reader r = {
      .file = -1, .bytes = bytes, .size = size, .tape = wb_tape_new(), .error = error};
  *result = NULL;
  if (r.tape == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for a tape");
  }
  wb_store_quiet quiet;
  wb_store_quiet_begin(&quiet);
  wb_status status = open_image(bytes, size, &r.file, error);
  if (status == WB_OK) {
    status = read_parts(&r);
    H5Fclose(r.file);
  }
  wb_store_quiet_end(&quiet);
  if (status == WB_OK) {
    status = check_tape(r.tape, error);
  }
  if (status != WB_OK) {
    wb_store_quiet_at_exit();
    make_printable(error);
    wb_tape_free(r.tape);
    return status;
  }
  *result = r.tape;
  return WB_OK;
}

/* The bytes of a regular file, the caller's to free. */
static wb_status read_file(const char *path, void **bytes, size_t *size, wb_error *error) {
  struct stat about;
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &about) != 0) {
    const wb_status status =
        WB_FAIL(error, WB_ERROR_IO, "cannot open it for reading: %s", strerror(errno));
    if (fd >= 0) {
      close(fd);
    }
    return status;
  }
  wb_status status = WB_OK;
  size_t done = 0;
  *size = S_ISREG(about.st_mode) ? (size_t)about.st_size : 0;
  *bytes = malloc(*size + 1);
  if (!S_ISREG(about.st_mode)) {
    status = WB_FAIL(error, WB_ERROR_IO, "expected a regular file");
  } else if (*bytes == NULL) {
    status = WB_FAIL(error, WB_ERROR_MEMORY, "no memory for its %zu bytes", *size);
  }
  while (status == WB_OK && done < *size) {
    const ssize_t got = read(fd, (char *)*bytes + done, *size - done);
    if (got < 0 && errno != EINTR) {
      status = WB_FAIL(error, WB_ERROR_IO, "cannot read it: %s", strerror(errno));
    } else if (got == 0) {
      *size = done;
    }
    done += got > 0 ? (size_t)got : 0;
  }
  close(fd);
  return status;
}

wb_status wb_store_read(const char *path, wb_tape **tape, wb_error *error) {
  void *bytes = NULL;
  size_t size = 0;
  *tape = NULL;
  wb_status status = read_file(path, &bytes, &size, error);
  if (status == WB_OK) {
    status = wb_store_read_image(bytes, size, tape, error);
  }
  free(bytes);
  if (status != WB_OK) {
    wb_error_prefix(error, "%s", path);
  }
  return status;
}

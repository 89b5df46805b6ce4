/* Hand-made tapes and small helpers around files. */
#define _GNU_SOURCE
#include "tapes.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* An array of the tape's with a copy of `from`, or zeros if that is NULL. */
static void *block(wb_tape *tape, int index, size_t count, size_t size, const void *from) {
  tape->blocks[index] = calloc(count, size);
  if (tape->blocks[index] == NULL) abort();
  if (from != NULL) memcpy(tape->blocks[index], from, count * size);
  return tape->blocks[index];
}

static const wb_record history[] = {
    {34200000000001, 2, 100, 50, 0, 1, 0, WB_RECORD_ADD, WB_FLAG_SIDE},
    {34200000000001, 0, 0, 5, 0, 1, 0, WB_RECORD_REDUCE,
     WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END},
    {34200000000007, 2, 100, 20, 0, 2, 0, WB_RECORD_EXECUTE, WB_FLAG_SIDE | WB_FLAG_ROW_END},
};

wb_tape *full_tape(void) {
  wb_tape *tape = wb_tape_new();
  if (tape == NULL) abort();
  strcpy(tape->instrument, "BRK.A");
  strcpy(tape->day, "2024-02-29");
  tape->base = 5000000000;
  tape->tick_size = 100;
  tape->levels = 2;
  tape->start_ns = 34200000000000;
  tape->end_ns = 57600000000000;
  tape->record_count = 3;
  tape->records = block(tape, 0, 3, sizeof *tape->records, history);
  const int64_t ids[] = {0, 0, INT64_MAX};
  tape->ref_count = 3;
  tape->ids = block(tape, 1, 3, sizeof *tape->ids, ids);
  const wb_order seed[] = {{0, 100, 25, 1, 0, WB_SIDE_ASK, 0}, {1, -100, 75, 2, 0, WB_SIDE_BID, 0}};
  tape->seed_count = 2;
  tape->seed = block(tape, 2, 2, sizeof *tape->seed, seed);
  const wb_source_row rows[] = {{34200000000000, 7, 5000000100, 25, 1, -1, 1},
                                {34200000000001, INT64_MAX, 5000000100, 50, 1, -1, 2},
                                {34200000000007, INT64_MAX, 5000000100, 20, 4, -1, 1}};
  tape->row_count = 3;
  tape->rows = block(tape, 3, 3, sizeof *tape->rows, rows);
  const int32_t price[] = {100, -100, WB_NO_PRICE, WB_NO_PRICE, 100, -100, WB_NO_PRICE, WB_NO_PRICE,
                           100, -100, WB_NO_PRICE, WB_NO_PRICE};
  const int64_t qty[] = {25, 75, 0, 0, 70, 75, 0, 0, 50, 3000000000, 0, 0};
  tape->book_price = block(tape, 4, 12, sizeof *tape->book_price, price);
  tape->book_qty = block(tape, 5, 12, sizeof *tape->book_qty, qty);
  static const char *names[] = {"null", "NITE"};
  tape->participant_count = 2;
  tape->participants = names;
  static wb_odd_time odd[] = {{1, "34200.000000001000"}};
  tape->odd_time_count = 1;
  tape->odd_times = odd;
  static wb_source sources[] = {{"day.zip:BRK.A_message.csv", 123, {1, 0xfedcba9876543210}},
                                {"\xc3\xa9.csv", 0, {UINT64_MAX, 0}}};
  tape->source_count = 2;
  tape->sources = sources;
  tape->counts.rows_submission = 2;
  tape->counts.largest_side = INT64_MAX;
  static wb_finding findings[] = {{WB_FINDING_CROSSED, 2, "row 2: locks"},
                                  {WB_FINDING_BAD_LINE, 9, ""}};
  tape->finding_count = 2;
  tape->findings = findings;
  return tape;
}

wb_tape *bare_tape(bool agents) {
  const wb_record records[] = {
      {5, 0, 10000, 100, 0, -1, 0, WB_RECORD_ADD, WB_FLAG_SIDE},
      {6, 1, 9900, 30, 0, -1, 0, WB_RECORD_ADD, 0},
      {7, 0, 0, 10, 0, -1, 0, WB_RECORD_REDUCE, WB_FLAG_SIDE},
      {9, WB_REF_AGENT_FIRST + 8, 9900, 10, 0, -1, 3, WB_RECORD_ADD, WB_FLAG_POST_ONLY},
  };
  wb_tape *tape = wb_tape_new();
  if (tape == NULL) abort();
  tape->tick_size = 100;
  tape->record_count = agents ? 4 : 3;
  tape->records = block(tape, 0, 4, sizeof *tape->records, records);
  tape->ref_count = 2;
  tape->ids = block(tape, 1, 2, sizeof *tape->ids, NULL);
  return tape;
}

wb_tape *long_tape(int64_t rows, int32_t levels) {
  wb_tape *tape = wb_tape_new();
  if (tape == NULL) abort();
  strcpy(tape->instrument, "LONG");
  strcpy(tape->day, "2024-01-02");
  tape->levels = levels;
  tape->row_count = tape->record_count = rows;
  tape->ref_count = (int32_t)rows;
  wb_record *records = tape->records = block(tape, 0, (size_t)rows, sizeof *records, NULL);
  int64_t *ids = tape->ids = block(tape, 1, (size_t)rows, sizeof *ids, NULL);
  wb_source_row *source = tape->rows = block(tape, 3, (size_t)rows, sizeof *source, NULL);
  const size_t cells = (size_t)rows * 2 * (size_t)levels;
  int32_t *price = tape->book_price = block(tape, 4, cells, sizeof *price, NULL);
  int64_t *qty = tape->book_qty = block(tape, 5, cells, sizeof *qty, NULL);
  int64_t time_ns = 34200000000000;
  for (int64_t k = 0; k < rows; k++) {
    const uint64_t dice = wb_mix64((uint64_t)k + 1);
    time_ns += (int64_t)(dice % 300000000);
    ids[k] = 16000000 + 37 * k;
    const int32_t middle = 5800000 + 100 * (int32_t)((k / 50) % 97);
    records[k] = (wb_record){
        time_ns, (int32_t)k,    middle,         1 + (int32_t)(dice >> 57), 0, (int32_t)k,
        0,       WB_RECORD_ADD, WB_FLAG_ROW_END};
    source[k] = (wb_source_row){time_ns, ids[k], middle, records[k].qty, 1, 1, 0};
    for (int32_t level = 0; level < levels; level++) {
      int32_t *at = price + (k * levels + level) * 2;
      int64_t *shares = qty + (k * levels + level) * 2;
      at[0] = middle + 100 * (level + 1), at[1] = middle - 100 * level;
      shares[0] = 100 + (int64_t)((k / 7 + level) % 13) * 10, shares[1] = 1 + k / 11 % 900;
    }
  }
  return tape;
}

#define DIFFERS(what) return (what)
#define SAME_FIELD(field) \
  if (a->field != b->field) DIFFERS(#field)
#define SAME_ARRAY(field, count)                                                          \
  if ((count) > 0 && memcmp(a->field, b->field, (size_t)(count) * sizeof *a->field) != 0) \
  DIFFERS(#field)

static const char *provenance_difference(const wb_tape *a, const wb_tape *b) {
  SAME_FIELD(source_count);
  for (int32_t k = 0; k < a->source_count; k++) {
    const wb_source *x = &a->sources[k], *y = &b->sources[k];
    if (strcmp(x->name, y->name) != 0 || x->bytes != y->bytes || x->hash.low != y->hash.low ||
        x->hash.high != y->hash.high)
      DIFFERS("sources");
  }
  if (memcmp(&a->counts, &b->counts, sizeof a->counts) != 0) DIFFERS("counts");
  SAME_FIELD(finding_count);
  for (int64_t k = 0; k < a->finding_count; k++) {
    const wb_finding *x = &a->findings[k], *y = &b->findings[k];
    if (x->kind != y->kind || x->row != y->row || strcmp(x->text, y->text) != 0)
      DIFFERS("findings");
  }
  return "";
}

/* Field by field: the structs have padding, which no file keeps. */
static const char *rows_difference(const wb_tape *a, const wb_tape *b) {
  SAME_FIELD(row_count);
  for (int64_t k = 0; k < a->row_count; k++) {
    const wb_source_row *x = &a->rows[k], *y = &b->rows[k];
    if (x->time_ns != y->time_ns || x->id != y->id || x->price != y->price || x->size != y->size ||
        x->type != y->type || x->direction != y->direction || x->participant != y->participant)
      DIFFERS("rows");
  }
  const int64_t cells = a->row_count * 2 * a->levels;
  SAME_ARRAY(book_price, cells);
  SAME_ARRAY(book_qty, cells);
  SAME_FIELD(participant_count);
  for (int32_t k = 0; k < a->participant_count; k++) {
    if (strcmp(a->participants[k], b->participants[k]) != 0) DIFFERS("participants");
  }
  SAME_FIELD(odd_time_count);
  for (int64_t k = 0; k < a->odd_time_count; k++) {
    if (a->odd_times[k].row != b->odd_times[k].row ||
        strcmp(a->odd_times[k].text, b->odd_times[k].text) != 0)
      DIFFERS("odd_times");
  }
  return provenance_difference(a, b);
}

const char *difference(const wb_tape *a, const wb_tape *b) {
  if (strcmp(a->instrument, b->instrument) != 0) DIFFERS("instrument");
  if (strcmp(a->day, b->day) != 0) DIFFERS("day");
  SAME_FIELD(price_unit);
  SAME_FIELD(base);
  SAME_FIELD(tick_size);
  SAME_FIELD(levels);
  SAME_FIELD(start_ns);
  SAME_FIELD(end_ns);
  SAME_FIELD(unique_refs);
  SAME_FIELD(depth_unknown);
  SAME_FIELD(record_count);
  SAME_ARRAY(records, a->record_count);
  SAME_FIELD(ref_count);
  SAME_ARRAY(ids, a->ref_count);
  SAME_FIELD(seed_count);
  for (int32_t k = 0; k < a->seed_count; k++) {
    const wb_order *x = &a->seed[k], *y = &b->seed[k];
    if (x->ref != y->ref || x->price != y->price || x->qty != y->qty || x->arrival != y->arrival ||
        x->owner != y->owner || x->side != y->side)
      DIFFERS("seed");
  }
  return rows_difference(a, b);
}

void make_folder(char path[64]) {
  const char *base = getenv("TMPDIR");
  snprintf(path, 64, "%s/warpbook-test-XXXXXX", base != NULL && strlen(base) < 40 ? base : "/tmp");
  if (mkdtemp(path) == NULL) abort();
}

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *place) {
  (void)about, (void)kind, (void)place;
  return remove(path);
}

void remove_folder(const char *path) { nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

int entries_of(const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL) return -1;
  int count = 0;
  for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  }
  closedir(folder);
  return count;
}

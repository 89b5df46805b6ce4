/* What the Python checks of the store call: the library's own reader and writer.
 *
 * usage: store_tool convert MESSAGES ORDERBOOK OUT.h5   (ORDERBOOK "-": messages only)
 *        store_tool full OUT.h5                         a hand-made tape with something in every part
 *        store_tool show FILE..                         one line each: what was read, or the error
 * exit status 0; 2 if a file was refused */
#define _GNU_SOURCE
#include "data/lobster.h"
#include "data/store.h"
#include "tapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A sum over every field of every record, so that another program can check what was read. */
static uint64_t sum_of(const wb_tape *tape) {
  uint64_t sum = 0;
  for (int64_t k = 0; k < tape->record_count; k++) {
    const wb_record *r = &tape->records[k];
    const int64_t fields[] = {r->time_ns, r->ref,   r->price, r->qty,  r->arg,
                              r->row,     r->owner, r->type,  r->flags};
    for (int f = 0; f < 9; f++) {
      sum = sum * UINT64_C(1000003) + (uint64_t)fields[f];
    }
  }
  return sum;
}

static int show(const char *path) {
  wb_tape *tape = NULL;
  wb_error error = {0};
  if (wb_store_read(path, &tape, &error) != WB_OK) {
    printf("%s %s\n", wb_status_name(error.status), error.text);
    return 2;
  }
  printf("OK records=%" PRId64 " sum=%016" PRIx64 " refs=%d seed=%d rows=%" PRId64
         " levels=%d unique=%d unknown=%d unit=%g base=%" PRId64
         " tick=%d instrument=%s day=%s participants=%d odd=%" PRId64
         " sources=%d findings=%" PRId64 "\n",
         tape->record_count, sum_of(tape), tape->ref_count, tape->seed_count, tape->row_count,
         tape->levels, tape->unique_refs, tape->depth_unknown, tape->price_unit, tape->base,
         tape->tick_size, tape->instrument, tape->day, tape->participant_count,
         tape->odd_time_count, tape->source_count, tape->finding_count);
  wb_tape_free(tape);
  return 0;
}

static int write_tape(wb_tape *tape, const char *path) {
  wb_error error = {0};
  const wb_status status = wb_store_write(tape, path, &error);
  if (status != WB_OK) printf("%s %s\n", wb_status_name(status), error.text);
  wb_tape_free(tape);
  return status == WB_OK ? 0 : 2;
}

static int convert(const char *messages, const char *orderbook, const char *path) {
  wb_read_options options = {0};
  wb_tape *tape = NULL;
  wb_error error = {0};
  options.messages_only = strcmp(orderbook, "-") == 0;
  options.orderbook_path = options.messages_only ? NULL : orderbook;
  if (wb_tape_read(messages, &options, &tape, &error) != WB_OK) {
    printf("%s %s\n", wb_status_name(error.status), error.text);
    return 2;
  }
  return write_tape(tape, path);
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "convert") == 0) return convert(argv[2], argv[3], argv[4]);
  if (argc == 3 && strcmp(argv[1], "full") == 0) return write_tape(full_tape(), argv[2]);
  if (argc < 3 || strcmp(argv[1], "show") != 0) {
    fprintf(stderr,
            "usage: store_tool convert MESSAGES ORDERBOOK OUT.h5 | full OUT.h5 | show FILE..\n");
    return 2;
  }
  int result = 0;
  for (int k = 2; k < argc; k++) {
    const int one = show(argv[k]);
    result = one > result ? one : result;
  }
  return result;
}

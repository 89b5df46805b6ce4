/* One call that reads a tape from whatever a user has: a LOBSTER message file (its orderbook file is
 * found by name), an archive of such pairs (.zip, .7z, or a bare .gz), or a tape store (.h5). */
#ifndef WB_DATA_INPUT_H
#define WB_DATA_INPUT_H

#include "tape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_read_options {
  const char *orderbook_path; /* NULL: the partner is found by name */
  const char *member; /* which day of an archive: its message file's name, folders of the archive
                         included, or a part of it that no other day's name has; NULL: the only one */
  int32_t tick_size;  /* price units; 0: 100 if every resting price divides by it, else 1 */
  bool messages_only; /* there is no orderbook file: depth is unknown */
  bool truncate;      /* unequal row counts: the common part */
  bool skip_bad;      /* leave damaged lines out, each with its partner in the other file; counted
                         and listed */
  bool strict;        /* a crossed or contradicted row is an error */
  /* Called now and then with bytes done and in all (0: unknown); NULL: never. */
  void (*progress)(void *context, int64_t done, int64_t total);
  void *progress_context;
} wb_read_options;

/* Reads `path`; *tape is the caller's to free. WB_ERROR_IO: cannot be read or no partner file;
 * WB_ERROR_FORMAT: file, line and field are named; WB_ERROR_LIMIT: something does not fit a tape;
 * WB_ERROR_ARGUMENT: the options do not fit the input, or do not choose one of its days. `options` may
 * be NULL. The kind of a file is told by its first bytes. Plain files are mapped: they must not be cut
 * while they are read. */
WB_API wb_status wb_tape_read(const char *path, const wb_read_options *options, wb_tape **tape,
                              wb_error *error);

/* A day that `path` offers: one for a CSV pair or a store, any number for an archive. */
typedef struct wb_input_entry {
  char *message_name;                     /* file or member name */
  char *orderbook_name;                   /* NULL if there is none */
  int64_t message_bytes, orderbook_bytes; /* as text; -1 where the archive does not tell */
} wb_input_entry;

typedef struct wb_input_list {
  int32_t count;
  wb_input_entry *entries;
  int32_t
      other_count; /* of an archive: members behind the days in `entries`, which have "message" in
                          their names but not LOBSTER's form; options->member can choose them */
  wb_arena arena;
} wb_input_list;

/* In an archive a day is a message file as LOBSTER names it, .._message_N.csv; if there is none, the
 * only member with "message" in its name. WB_ERROR_FORMAT if there is no day. */
WB_API wb_status wb_input_list_read(const char *path, wb_input_list *list, wb_error *error);
WB_API void wb_input_list_free(wb_input_list *list);

#ifdef __cplusplus
}
#endif
#endif

/* Checked access to the attributes and datasets of an HDF5 file. Not installed.
 *
 * `where` and names are for messages. Every function returns WB_ERROR_FORMAT with the object's name,
 * what was expected and what is there, or WB_ERROR_MEMORY. */
#ifndef WB_DATA_STORE_ACCESS_H
#define WB_DATA_STORE_ACCESS_H

#include "data/store_schema.h"

/* A file and the tape that is being made of it. */
typedef struct wb_store_reader {
  hid_t file;
  const unsigned char *bytes; /* all of the file's */
  size_t size;
  bool heaps_fit; /* the file's heaps of texts were found sound */
  wb_tape *tape;
  wb_error *error;
} wb_store_reader;

typedef struct wb_store_dataset {
  char where[80]; /* "dataset sources/name" */
  hid_t id, type;
  hsize_t dims[2]; /* dims[1] is 1 where the rank is 1 */
} wb_store_dataset;

/* "WHERE: HDF5 cannot WHAT: REASON": right after the call that failed. */
wb_status wb_store_fail(const char *where, const char *what, wb_error *error);

/* Attributes: one value each. If there is none, *value is left alone (a text is "" and *there false). */
wb_status wb_store_read_number(hid_t owner, const char *name, int64_t low, int64_t high,
                               int64_t *value, wb_error *error);
wb_status wb_store_read_text(wb_store_reader *r, const char *name, char *text, size_t room,
                             bool *there);
wb_status wb_store_read_real(hid_t owner, const char *name, double *value, wb_error *error);
wb_status wb_store_missing_attribute(const char *name, wb_error *error);

/* Whether `owner` has something of that name; a link that leads elsewhere is an error. */
wb_status wb_store_is_there(hid_t owner, const char *name, const char *where, bool *there,
                            wb_error *error);

/* Opens a dataset of that rank; *there false and nothing to close if there is none. `group` is ""
 * for those of the root. */
wb_status wb_store_open_dataset(hid_t owner, const char *group, const char *name, int rank,
                                wb_store_dataset *set, bool *there, wb_error *error);
void wb_store_close_dataset(wb_store_dataset *set);
wb_status wb_store_missing_dataset(const wb_store_dataset *set, wb_error *error);

/* Whether `type` is an integer that fits 8 bytes; `member` is "" for a whole dataset. */
wb_status wb_store_check_integer(const char *where, const char *member, hid_t type,
                                 wb_error *error);
wb_status wb_store_check_count(const wb_store_dataset *set, int64_t last, wb_error *error);

/* tape->blocks[block] becomes `count` zeroed elements, at least one. */
wb_status wb_store_make_block(wb_tape *tape, int block, uint64_t count, size_t size,
                              const char *where, wb_error *error);

/* The same, filled from the dataset. */
wb_status wb_store_load_block(wb_store_reader *r, const wb_store_dataset *set, int block,
                              hid_t memory_type, size_t size);

/* Reads a compound dataset of up to `last` elements into a block; *count is 0 if there is none. */
wb_status wb_store_read_table(wb_store_reader *r, const wb_store_table *table, int block,
                              int64_t last, bool required, int64_t *count);

/* Columns in the tape's arena, with `expected` elements, or as many as they have, up to `last`, if
 * that is -1. They must be there. */
wb_status wb_store_read_texts(wb_store_reader *r, hid_t owner, const char *group, const char *name,
                              int64_t expected, int64_t last, int64_t *count, const char ***texts);
wb_status wb_store_read_numbers(wb_store_reader *r, hid_t owner, const char *group,
                                const char *name, int64_t expected, int64_t last, int64_t *count,
                                int64_t **numbers);

/* Opens a group and lets `load` read what is in it; nothing happens if there is none. */
wb_status wb_store_read_group(wb_store_reader *r, const char *name,
                              wb_status (*load)(wb_store_reader *r, hid_t group));

#endif

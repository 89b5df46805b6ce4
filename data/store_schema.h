/* The shape of a tape's HDF5 file, as both its writer and its reader see it. Not installed;
 * docs/tape.md tells the same to other programs. */
#ifndef WB_DATA_STORE_SCHEMA_H
#define WB_DATA_STORE_SCHEMA_H

#include "data/store.h"
#include "data/store_image.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stddef.h>

#define WB_STORE_FORMAT "warpbook tape"

/* One integer member of a compound dataset and of the struct that it becomes. */
typedef struct wb_store_member {
  const char *name;
  size_t offset, size; /* in the struct; in the file members are packed in their order here */
  bool is_signed;
} wb_store_member;

/* One compound dataset: an array of structs. */
typedef struct wb_store_table {
  const char *name;
  size_t size; /* of the struct */
  int member_count;
  wb_store_member members[9];
} wb_store_table;

extern const wb_store_table wb_store_records, wb_store_seed, wb_store_rows;

/* An HDF5 integer type of `size` bytes: little endian in a file, the machine's own in memory. */
hid_t wb_store_integer(size_t size, bool is_signed, bool in_file);

/* The table's compound type, which the caller closes; negative on failure. */
hid_t wb_store_compound(const wb_store_table *table, bool in_file);

/* HDF5 prints its errors unless told not to: between these two calls it does not. */
typedef struct wb_store_quiet {
  H5E_auto2_t function;
  void *data;
} wb_store_quiet;

void wb_store_quiet_begin(wb_store_quiet *quiet);
void wb_store_quiet_end(const wb_store_quiet *quiet);

/* To be called when a file could not be read: HDF5 1.10 then often keeps parts of it, cannot let go
 * of them when the process ends, and would say so on standard error. */
void wb_store_quiet_at_exit(void);

enum { WB_STORE_REASON_BYTES = 200 };

/* HDF5's innermost reason for the call that has just failed, "unknown reason" if it has none. */
const char *wb_store_reason(char text[WB_STORE_REASON_BYTES]);

/* A property list for a file that lives in memory only and grows by `step` bytes; the caller closes
 * it. */
hid_t wb_store_in_memory(size_t step);

#endif

/* The tape's file: HDF5, schema in docs/tape.md. One thread at a time over the whole process, since
 * the HDF5 library is not built for more on every system. */
#ifndef WB_DATA_STORE_H
#define WB_DATA_STORE_H

#include "output.h"
#include "tape.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WB_STORE_VERSION = 1 };

/* Writes `tape` under a temporary name beside `path`, flushes it to the disk and renames it: `path`
 * is the whole tape or untouched. WB_ERROR_FORMAT for a tape that wb_tape_check refuses, WB_ERROR_IO
 * with the system's reason, WB_ERROR_MEMORY: the file (a tenth of the tape) is put together there. */
WB_API wb_status wb_store_write(const wb_tape *tape, const char *path, wb_error *error);

/* The same, into an output that stays the caller's to close or to discard. */
WB_API wb_status wb_store_write_output(const wb_tape *tape, wb_output *output, wb_error *error);

/* Reads and checks a store, ours or another program's; *tape is the caller's to free.
 * WB_ERROR_FORMAT names the dataset or attribute, what was expected and what is there. The promise
 * of unique_refs is taken over only if it is proven (wb_tape_check). */
WB_API wb_status wb_store_read(const char *path, wb_tape **tape, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

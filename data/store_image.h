/* The tape's file as bytes in memory, for the store's own files, their tests and their fuzzer. Not
 * installed. Errors as in store.h, without a path. */
#ifndef WB_DATA_STORE_IMAGE_H
#define WB_DATA_STORE_IMAGE_H

#include "data/tape.h"

#include <stddef.h>

/* HDF5 works on a copy of the bytes. */
wb_status wb_store_read_image(const void *bytes, size_t size, wb_tape **result, wb_error *error);

/* *bytes is the caller's to free. */
wb_status wb_store_write_image(const wb_tape *tape, void **bytes, size_t *size, wb_error *error);

#endif

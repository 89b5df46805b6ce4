/* A file that is written whole or not at all.
 *
 * The bytes go to a temporary name beside the final one; closing flushes them to the disk, renames
 * the file and flushes the folder. Until then the final name is untouched: a full disk, a refused
 * write or a killed process leaves at most the temporary file, named ".NAME.tmp-PID-N". Signals are
 * the program's: wb_output_temporary tells a handler of its own what to remove. A final name that is a
 * device or a pipe is written to directly. One thread at a time per output. */
#ifndef WB_DATA_OUTPUT_H
#define WB_DATA_OUTPUT_H

#include "../base/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_output wb_output;

/* Starts `path`; its folder must exist. WB_ERROR_IO with the system's reason. */
WB_API wb_status wb_output_open(const char *path, wb_output **output, wb_error *error);

WB_API const char *wb_output_path(const wb_output *output); /* as it was given */

/* The temporary file, whose name lives as long as the output; NULL if `output` is NULL or writes to its
 * final name directly. */
WB_API const char *wb_output_temporary(const wb_output *output);

/* Appends bytes; buffered. After a failure only wb_output_discard makes sense. */
WB_API wb_status wb_output_write(wb_output *output, const void *bytes, size_t count,
                                 wb_error *error);

enum { WB_OUTPUT_ROOM_BYTES = 1 << 20 };

/* Room for `bytes` (at most WB_OUTPUT_ROOM_BYTES) in the buffer, valid until the next call: the
 * caller writes there and tells by wb_output_advance how much of it. Saves a copy of short lines. */
WB_API wb_status wb_output_room(wb_output *output, size_t bytes, char **room, wb_error *error);
WB_API void wb_output_advance(wb_output *output, size_t used);

/* Everything is on the disk, still under the temporary name. Optional: for several files that should
 * appear together, sync all, then close all. */
WB_API wb_status wb_output_sync(wb_output *output, wb_error *error);

/* Syncs, renames, frees. On failure the temporary file is removed; `output` is gone either way. */
WB_API wb_status wb_output_close(wb_output *output, wb_error *error);

/* Removes the temporary file and frees; NULL is allowed. */
WB_API void wb_output_discard(wb_output *output);

#ifdef __cplusplus
}
#endif
#endif

/* What the data room's own files share about tapes. Not installed. */
#ifndef WB_DATA_TAPE_PRIVATE_H
#define WB_DATA_TAPE_PRIVATE_H

#include "data/tape.h"

/* Whether no record can be counted as BAD_RECORD and no ADD can name a resting order: what
 * unique_refs promises. The proof is by first use: a reference that an ADD names is in the seed or
 * in an earlier ADD never, even if that order is long gone; and every owner is history. A tape may
 * keep the promise in ways that this does not see: then *holds is false all the same.
 * The rest of the tape must have passed. The error tells the first record that breaks it.
 * WB_ERROR_MEMORY if there is none for one bit per reference. */
wb_status wb_tape_check_promise(const wb_tape *tape, bool *holds, wb_error *error);

/* wb_tape_check without the promise. */
wb_status wb_tape_check_parts(const wb_tape *tape, wb_error *error);

#endif

/* Where a program's slab lies on a GPU, and how many warps share a block.
 *
 * Shared memory is near, but what one book takes of it decides how many warps a multiprocessor can
 * hold, and with too few of them it waits. So: all arrays in shared memory if at least 16 warps then
 * fit; else the small ones, as long as 32 fit, and the others in global memory, behind its cache; all
 * in global memory if the program only reads, for then a copy gains nothing. A caller may choose
 * otherwise. */
#ifndef WB_COMPILER_LLVM_PLACEMENT_H
#define WB_COMPILER_LLVM_PLACEMENT_H

#include "compiler/lower.h"

/* Bytes that are copied between a slab and shared memory, multiples of 16. */
typedef struct placement_run {
  int64_t slab, shared; /* offsets */
  int64_t bytes;
} placement_run;

typedef struct placement {
  wb_placement kind;
  int32_t warps;        /* of a block */
  int32_t shared_bytes; /* of a warp */
  int32_t blocks;       /* of a multiprocessor, which registers are to be left for */
  int64_t *shared_at;   /* by object: where its array lies in shared memory, or -1 */
  placement_run *in, *out;
  int32_t in_count, out_count;
  char report[256];
} placement;

/* WB_ERROR_LIMIT if the request asks for more shared memory than a block can have. */
wb_status placement_choose(const wb_lower_request *request, placement *p, wb_error *error);
void placement_free(placement *p);

#endif

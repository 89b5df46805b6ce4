/* Static counts by type of record: of instructions, and of the program's operations after passes.
 *
 * Operations tell what the type is; instructions what came of it. The code generator places registers
 * anew in each kernel, and what it moves between them and the stack can weigh more than a type: the
 * kernel with a type less may well be the longer one. */
#ifndef WB_CLI_KERNELS_TYPES_H
#define WB_CLI_KERNELS_TYPES_H

#include "kernels.h"

enum { KERNELS_TYPES_MOST = 16 };

typedef struct kernels_type {
  const char *name;
  int64_t alone; /* a kernel for this type only, less one for no type */
  int64_t more;  /* the kernel, less the same one without this type; may be below 0 */
  int64_t ops;   /* the same difference in operations */
} kernels_type;

typedef struct kernels_types {
  kernels_type list[KERNELS_TYPES_MOST];
  int count;    /* 0: the kernel does not take records */
  int64_t none; /* instructions of the kernel for no type: launch, loop, reading, dispatch */
} kernels_types;

/* Counts for the message kernel `item`, of which `all` tells what it is on the target. */
wb_status kernels_types_count(const wb_catalogue_item *item, const kernels_target *target,
                              const wb_kernel_report *all, kernels_types *types, wb_error *error);

#endif

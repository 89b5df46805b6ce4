/* Static instruction counts by type of record. */
#ifndef WB_CLI_KERNELS_TYPES_H
#define WB_CLI_KERNELS_TYPES_H

#include "kernels.h"

enum { KERNELS_TYPES_MOST = 16 };

typedef struct kernels_type {
  const char *name;
  int64_t alone; /* a kernel for this type only, less one for no type */
  int64_t more;  /* the kernel, less the same one without this type */
} kernels_type;

typedef struct kernels_types {
  kernels_type list[KERNELS_TYPES_MOST];
  int count;    /* 0: the kernel does not take records */
  int64_t none; /* instructions of the kernel for no type: launch, loop, reading, dispatch */
} kernels_types;

/* Counts for the message kernel `item`, which has `all` instructions on the target. */
wb_status kernels_types_count(const wb_catalogue_item *item, const kernels_target *target,
                              int64_t all, kernels_types *types, wb_error *error);

#endif

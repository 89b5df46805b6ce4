/* The in-memory cache of kernels, by 128-bit key. */
#ifndef WB_COMPILER_KERNEL_CACHE_H
#define WB_COMPILER_KERNEL_CACHE_H

#include "compiler/kernel.h"

/* A new reference to the kernel of that key, or NULL; counted as hit or miss. */
wb_kernel *wb_kernel_cache_get(wb_kernel_cache *cache, wb_hash128 key);

/* Keeps a reference to *kernel. If another thread was faster, *kernel is released and becomes a
 * reference to the other's. */
wb_status wb_kernel_cache_put(wb_kernel_cache *cache, wb_hash128 key, wb_kernel **kernel,
                              wb_error *error);

#endif

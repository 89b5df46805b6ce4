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

/* What a device made of the kernel, once; detached when the kernel goes. A kernel of one device's
 * cache belongs to that device's thread. */
void *wb_kernel_attached(const wb_kernel *kernel);
void wb_kernel_attach(wb_kernel *kernel, void *attached, void (*detach)(void *attached));

/* The options it was compiled with, with what the environment said. */
const wb_kernel_options *wb_kernel_settled(const wb_kernel *kernel);

/* Whether it was compiled to verify promises. */
bool wb_kernel_checks(const wb_kernel *kernel);

/* The error of a broken promise; WB_OK if there is none (op -1). */
wb_status wb_kernel_report_fault(const wb_kernel *kernel, const wb_fault *fault, wb_error *error);

#endif

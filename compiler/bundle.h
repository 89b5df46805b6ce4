/* Bundles: kernels compiled ahead of time, kept in a folder, so that a machine without LLVM runs them.
 *
 * A bundle is made by `warpbook kernels build` with the functions below, or by any program that runs
 * with $WB_KEEP_KERNELS set (kernel_keep.c). It is looked for whenever a
 * kernel must be compiled, before LLVM is loaded: in the folders that $WB_KERNELS names (with colons
 * between), then in warpbook-kernels beside libwarpbook.so. A kernel is taken only if everything that
 * can change its code is the same: the program, the target, the options, the interfaces of this build.
 * A missing or damaged file is a miss that says why (wb_kernel_explain); then LLVM compiles, if it is
 * there, else the error has the reason.
 *
 *   FOLDER/manifest.txt   one line per kernel, see bundle_manifest.c; ends in a checksum of itself
 *   FOLDER/NAME-KEY.o     an x86-64 object of one of the levels x86-64 .. x86-64-v4
 *   FOLDER/NAME-KEY.ptx   PTX for sm_80 or sm_90, and NAME-KEY.cubin, what ptxas makes of it
 *
 * Anything in a bundle runs with the rights of the process: name only folders you trust. */
#ifndef WB_COMPILER_BUNDLE_H
#define WB_COMPILER_BUNDLE_H

#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_bundle_writer wb_bundle_writer;

/* Starts a bundle; the folder is made if it is not there. What it held is replaced when the bundle is
 * finished. */
WB_API wb_status wb_bundle_create(const char *folder, wb_bundle_writer **out, wb_error *error);

/* The same, but what the folder's bundle holds stays, if it is whole. */
WB_API wb_status wb_bundle_extend(const char *folder, wb_bundle_writer **out, wb_error *error);

/* Adds a compiled kernel under `label`, words that say what it is ("run 128 replay"). Host kernels must
 * have been compiled for a level (options.cpu "x86-64" .. "x86-64-v4"), without options.features.
 * `cubin` may be NULL. One that is there already is left alone: *added says so (NULL is fine). */
WB_API wb_status wb_bundle_add(wb_bundle_writer *writer, const wb_kernel *kernel, const char *label,
                               const void *cubin, size_t cubin_bytes, bool *added, wb_error *error);

/* Writes the manifest; the bundle is there from this moment on. Frees the writer in any case. */
WB_API wb_status wb_bundle_finish(wb_bundle_writer *writer, wb_error *error);
WB_API void wb_bundle_abandon(wb_bundle_writer *writer); /* instead; NULL is fine */

/* The highest x86-64 level of this machine, as options.cpu takes it; NULL on other machines. */
WB_API const char *wb_bundle_host_level(void);

#ifdef __cplusplus
}
#endif
#endif

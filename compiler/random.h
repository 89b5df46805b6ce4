/* Random bits in bulk: long arrays of 32-bit numbers in a device's memory.
 *
 * The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011) in cuRAND's default ordering, so
 * that the numbers are the same from cuRAND on a GPU, from cuRAND's host generator and from the code
 * here, whatever the device. Block i of the sequence, four numbers, is Philox with
 *
 *   key = (seed low, seed high)      counter = (i / 65536 low, i / 65536 high, i mod 65536, 0)
 *
 * This is one sequence per seed, for filling arrays. Kernels that need a number for a certain book and
 * step use wb_build_philox with the counters of docs/semantics.md, which is addressed, not filled.
 *
 * Only the 32-bit numbers are defined: floats made by cuRAND differ between its host and its GPU code,
 * so make them from the bits. */
#ifndef WB_COMPILER_RANDOM_H
#define WB_COMPILER_RANDOM_H

#include "device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_bits wb_bits;

typedef enum wb_bits_source {
  WB_BITS_AUTO,   /* cuRAND if it is here and works, else our own */
  WB_BITS_CURAND, /* cuRAND, on a GPU or by its host generator, or an error */
  WB_BITS_OWN     /* made by the host's threads, then copied to where they belong */
} wb_bits_source;

/* Starts the sequence of a seed at its beginning. The device must outlive the generator and belongs to
 * the same thread. cuRAND is loaded now: $WB_CURAND, else where the system's loader looks.
 * WB_ERROR_UNAVAILABLE if it was asked for and cannot be had. */
WB_API wb_status wb_bits_new(wb_device *device, uint64_t seed, wb_bits_source source, wb_bits **out,
                             wb_error *error);
WB_API void wb_bits_free(wb_bits *bits); /* NULL is fine */

/* Writes the next `count` numbers to device memory, aligned to 4 bytes. Fills follow each other in the
 * sequence whatever their lengths. On a GPU it is queued like a launch; WB_ERROR_STATE while a graph is
 * captured. */
WB_API wb_status wb_bits_fill(wb_bits *bits, uint32_t *memory, size_t count, wb_error *error);

/* Goes to number `position` of the sequence, counted from 0; below 2^63. */
WB_API wb_status wb_bits_seek(wb_bits *bits, uint64_t position, wb_error *error);

/* Where the numbers come from: "cuRAND 10.4.0 on the host", "own code". */
WB_API const char *wb_bits_describe(const wb_bits *bits);

/* Block `block` of a seed's sequence, on the host. */
WB_API void wb_bits_block(uint64_t seed, uint64_t block, uint32_t out[4]);

#ifdef __cplusplus
}
#endif
#endif

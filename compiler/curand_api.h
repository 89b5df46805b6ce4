/* The part of cuRAND that random.c uses, loaded at run time like the CUDA runtime (cuda_api.h).
 * Declared here from curand.h of the toolkit, whose ABI has been the same since CUDA 10; enums as int,
 * handles as pointers. Private. */
#ifndef WB_COMPILER_CURAND_API_H
#define WB_COMPILER_CURAND_API_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { CURAND_SUCCESS = 0, CURAND_PHILOX4_32_10 = 161 };

/*  name without "curand", parameters. All return cuRAND's status number. */
#define WB_CURAND_FUNCTIONS(X)                                                \
  X(GetVersion, (int *version))                                               \
  X(CreateGenerator, (void **generator, int type))                            \
  X(CreateGeneratorHost, (void **generator, int type))                        \
  X(DestroyGenerator, (void *generator))                                      \
  X(SetStream, (void *generator, void *stream))                               \
  X(SetPseudoRandomGeneratorSeed, (void *generator, unsigned long long seed)) \
  X(SetGeneratorOffset, (void *generator, unsigned long long offset))         \
  X(Generate, (void *generator, uint32_t *memory, size_t count))

typedef struct wb_curand_api {
#define X(name, parameters) int(*name) parameters;
  WB_CURAND_FUNCTIONS(X)
#undef X
} wb_curand_api;

/* WB_ERROR_UNAVAILABLE says what was looked for. */
wb_status wb_curand_api_open(wb_curand_api *api, wb_error *error);

#endif

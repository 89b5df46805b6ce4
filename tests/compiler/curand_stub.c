/* What stands for cuRAND on a GPU: its calls, with their numbers made on the host and copied to the emulated
 * device in the stream that was set. As with the real one, a stream must be set to be used, an offset
 * counts numbers from the start, and one Generate goes on behind the last. */
#include "compiler/curand_api.h"
#include "tests/compiler/philox.h"
#include "tests/emulator/cuda_abi.h"

#include <stdlib.h>

enum { NO_MEMORY = 102, OTHER_TYPE = 103, LAUNCH_FAILED = 201, NO_DEVICE = 203 };

typedef struct stub_generator {
  unsigned long long seed, position;
  cudaStream_t stream;
} stub_generator;

/* the functions that are here are those that are asked for */
#define X(name, parameters) WB_API int curand##name parameters;
WB_CURAND_FUNCTIONS(X)
#undef X

int curandGetVersion(int *version) {
  *version = 10305;
  return CURAND_SUCCESS;
}

int curandCreateGenerator(void **out, int type) {
  if (type != CURAND_PHILOX4_32_10) return OTHER_TYPE;
  *out = calloc(1, sizeof(stub_generator));
  return *out != NULL ? CURAND_SUCCESS : NO_MEMORY;
}

int curandCreateGeneratorHost(void **out, int type) {
  (void)type;
  *out = NULL;
  return NO_DEVICE; /* nobody should ask for it on a GPU */
}

int curandDestroyGenerator(void *generator) {
  free(generator);
  return CURAND_SUCCESS;
}

int curandSetStream(void *generator, void *stream) {
  ((stub_generator *)generator)->stream = stream;
  return CURAND_SUCCESS;
}

int curandSetPseudoRandomGeneratorSeed(void *generator, unsigned long long seed) {
  ((stub_generator *)generator)->seed = seed;
  return CURAND_SUCCESS;
}

int curandSetGeneratorOffset(void *generator, unsigned long long offset) {
  ((stub_generator *)generator)->position = offset;
  return CURAND_SUCCESS;
}

int curandGenerate(void *generator, uint32_t *memory, size_t count) {
  stub_generator *g = generator;
  uint32_t *numbers = malloc(count * sizeof *numbers);
  if (numbers == NULL) return NO_MEMORY;
  for (size_t i = 0; i < count; i++) numbers[i] = philox_number(g->seed, g->position++);
  const cudaError_t error =
      cudaMemcpyAsync(memory, numbers, count * sizeof *numbers, cudaMemcpyHostToDevice, g->stream);
  free(numbers); /* pageable memory has been taken */
  return error == cudaSuccess ? CURAND_SUCCESS : LAUNCH_FAILED;
}

/* Compiled where the CUDA toolkit's headers are: the tables of cuda_tables.h against the originals. A
 * difference is an error of the compiler. */
#include <cuda_runtime_api.h>

#include "tests/emulator/cuda_tables.h"

#include <stddef.h>

#define X(name, number, text) _Static_assert((int)name == (number), #name);
CUDA_ERRORS(X)
#undef X
#define X(name, number) _Static_assert((int)name == (number), #name);
CUDA_DEVICE_ATTRIBUTES(X)
CUDA_NUMBERS(X)
#undef X
#define X(type, bytes, field, offset)             \
  _Static_assert(sizeof(type) == (bytes), #type); \
  _Static_assert(offsetof(type, field) == (offset), #type "." #field);
CUDA_LAYOUTS(X)
#undef X

/* a pointer to each function, of the type that the emulator gives it */
#define X(name, arguments) extern cudaError_t(*const check_##name) arguments;
CUDA_FUNCTIONS(X)
#undef X
#define X(name, arguments) cudaError_t(*const check_##name) arguments = name;
CUDA_FUNCTIONS(X)
#undef X

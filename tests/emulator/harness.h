/* What the emulator's tests share: loading PTX, memory with contents, launches that must succeed or be
 * refused with a certain message. Every test starts with a fresh runtime. */
#ifndef WB_TESTS_EMULATOR_HARNESS_H
#define WB_TESTS_EMULATOR_HARNESS_H

#include "tests/emulator/cuda_abi.h"
#include "tests/emulator/emulator.h"

#include <stdint.h>

/* Fresh runtime with standard settings; Criterion's .init. */
void harness_start(void);
/* Nothing may be left; Criterion's .fini. */
void harness_end(void);

/* Fails the test with the emulator's message unless the call succeeded. */
void must(cudaError_t error, const char *call);
#define MUST(call) must((call), #call)

/* The text of a file in tests/emulator/ptx; malloc. */
char *harness_text(const char *file);
/* A library of such a file. */
cudaLibrary_t harness_load(const char *file);
cudaKernel_t harness_kernel(cudaLibrary_t library, const char *name);

/* Device memory with a copy of host bytes; NULL: filled with zero bytes. */
void *harness_put(const void *host, size_t bytes);
void harness_get(void *host, const void *device, size_t bytes);

/* Launches and waits. Arguments are pointers to the parameters, as cudaLaunchKernel takes them. */
void harness_launch(cudaKernel_t kernel, dim3 grid, dim3 block, size_t shared, void **arguments);

/* Runs the kernel "k" of a text with one parameter, a pointer to 4096 zeroed bytes; false if it was
 * refused, which the message then tells. */
bool harness_run_text(const char *text, unsigned threads, cudaError_t *error);

#endif

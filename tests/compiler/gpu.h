/* Programs on an emulated GPU, for tests that have their memory on the host: copied there, launched,
 * copied back. The emulator is the library that WB_CUDART names. */
#ifndef WB_TESTS_COMPILER_GPU_H
#define WB_TESTS_COMPILER_GPU_H

#include "compiler/device.h"

/* Opens "cuda"; NULL, with the reason on stderr, if that cannot be. */
wb_device *gpu_open(void);

/* Runs books 0..books-1 of a kernel of this device over host memory that fits its program. Device
 * memory has exactly the bytes that the arguments tell of, so that the emulator sees what is outside. */
wb_status gpu_run(wb_device *device, const wb_kernel *kernel, const wb_kernel_arguments *arguments,
                  int64_t books, wb_error *error);

/* Sets one of the emulator's settings (emulator.h); false if there is no emulator or no such thing. */
bool gpu_set(const char *name, const char *value);

/* Makes the emulator as new: after a fault, as a new process would. No device may be open. */
void gpu_reset(void);

/* What the emulator said at its last refusal. */
const char *gpu_message(void);

#endif

/* ptxas and nvdisasm of a CUDA toolkit, where they are: machine code of PTX, and what it uses. */
#ifndef WB_CLI_PTXAS_H
#define WB_CLI_PTXAS_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PTXAS_PATH_BYTES = 4096 };

typedef struct ptxas_result {
  uint8_t *cubin; /* of malloc */
  size_t bytes;
  int32_t registers, stack_bytes, spill_bytes; /* of a thread; -1: ptxas did not say */
  int64_t instructions;                        /* of machine code; -1: nvdisasm is not here */
} ptxas_result;

/* Looks for a tool: $variable, on PATH, in /usr/local/cuda/bin. */
bool ptxas_find(const char *variable, const char *tool, char path[PTXAS_PATH_BYTES]);

/* Assembles PTX for a capability (80, 90) with the ptxas at `path`. WB_ERROR_FORMAT with its words. */
wb_status ptxas_assemble(const char *path, const char *ptx, int32_t sm, ptxas_result *result,
                         wb_error *error);

#endif

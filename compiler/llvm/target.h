/* Targets: which machine code is made for, and the LLVM objects that make it.
 *
 * Names come from users, and LLVM aborts or prints on names it does not know, so they are checked
 * against tables here before LLVM sees them. */
#ifndef WB_COMPILER_LLVM_TARGET_H
#define WB_COMPILER_LLVM_TARGET_H

#include "base/status.h"

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the lowering asks about. */
enum { TARGET_FMA = 1, TARGET_AVX2 = 2, TARGET_AVX512 = 4 };

typedef struct target {
  char *triple, *cpu, *features; /* of malloc */
  LLVMTargetMachineRef machine;
  bool x86;
  bool runs_here;    /* this machine has every instruction that the code may use */
  uint8_t has;       /* of the TARGET_ bits; AVX2 and AVX512 only on x86 */
  bool short_shared; /* a GPU's addresses of shared memory have 32 bits */
} target;

/* Opens the host target for a CPU name (NULL or "native": this machine's) and a feature list (NULL or
 * "": the CPU's own). WB_ERROR_ARGUMENT names an unknown one and says which are known. */
wb_status target_open(target *t, const char *cpu, const char *features, wb_error *error);
/* Opens an NVIDIA GPU of capability sm / 10. WB_ERROR_ARGUMENT for one that is not 80 or 90,
 * WB_ERROR_UNAVAILABLE if this build of LLVM makes no code for them. */
wb_status target_open_gpu(target *t, int32_t sm, wb_error *error);
void target_close(target *t);

/* This machine's CPU and features, as LLVM names them; both of malloc. */
wb_status target_host(char **cpu, char **features, wb_error *error);

/* Readies LLVM for this process, once. */
wb_status target_initialise(wb_error *error);

#endif

/* A kernel's own struct, shared by kernel.c and kernel_bundle.c. */
#ifndef WB_COMPILER_KERNEL_PRIVATE_H
#define WB_COMPILER_KERNEL_PRIVATE_H

#include "compiler/elf_load.h"
#include "compiler/kernel.h"
#include "compiler/lower.h"

#include <stdatomic.h>

struct wb_kernel {
  atomic_int references;
  wb_program *program;       /* after passes */
  char *text;                /* of that program */
  wb_kernel_options options; /* settled: with what the environment says */
  char cpu[64];              /* where options.cpu points */
  wb_lower_result code;      /* empty if interpreted */
  void (*release)(wb_lower_result *code);
  wb_elf_code elf; /* host code from a bundle */
  uint8_t *cubin;  /* GPU code from a bundle, beside its PTX */
  size_t cubin_bytes;
  char origin[256]; /* of the report */
  char llvm[24];    /* the version's text, where it is not the module's */
  wb_kernel_report report;
  void *attached; /* a device's own: the loaded kernel */
  void (*detach)(void *attached);
};

/* kernel.c: makes the kernel of a program that has gone through the passes, and takes the program. */
wb_status wb_kernel_make(wb_program *program, const wb_kernel_options *options, wb_hash128 key,
                         wb_kernel **out, wb_error *error);

/* kernel_keep.c: puts a program that was compiled into the bundle that $WB_KEEP_KERNELS names. */
wb_status wb_kernel_keep(const wb_program *program, const wb_kernel_options *options,
                         wb_error *error);

/* kernel_bundle.c: whether these options can be served from bundles at all; and takes the code of a
 * new kernel from one. WB_ERROR_UNAVAILABLE: none has it, `error` says why. */
bool wb_kernel_may_come_from_bundle(const wb_kernel_options *options);
wb_status wb_kernel_take_from_bundle(wb_kernel *kernel, wb_error *error);

/* For wb_kernel_explain: of a program after passes and settled options. */
wb_status wb_kernel_bundle_explain(const wb_program *program, const wb_kernel_options *options,
                                   bool *hit, char *text, size_t bytes, wb_error *error);

#endif

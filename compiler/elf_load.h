/* Loads a relocatable object that a kernel was compiled to, without LLVM. Private. */
#ifndef WB_COMPILER_ELF_LOAD_H
#define WB_COMPILER_ELF_LOAD_H

#include "compiler/program.h"

typedef struct wb_elf_code {
  void *memory; /* mapped */
  size_t bytes;
  wb_kernel_entry entry;
} wb_elf_code;

/* Maps an x86-64 object and finds the function `symbol` in it. WB_ERROR_FORMAT says what is damaged or
 * cannot be loaded: an undefined symbol, data that is written, an unknown kind of relocation.
 * WB_ERROR_UNAVAILABLE on another machine or if memory may not be made executable here. */
wb_status wb_elf_load(const void *object, size_t bytes, const char *symbol, wb_elf_code *out,
                      wb_error *error);
void wb_elf_unload(wb_elf_code *code);

/* The x86-64 levels, as LLVM and gcc name them: what bundles are made for. */
enum { WB_CPU_LEVELS = 4 };
const char *wb_cpu_level_text(int32_t level); /* 1: "x86-64", 2: "x86-64-v2"; NULL elsewhere */
int32_t wb_cpu_level(void);                   /* the highest that this machine has; 0: none */

#endif

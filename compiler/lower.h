/* The door between libwarpbook and libwarpbook-llvm, the only shared object that knows LLVM.
 *
 * The module exports one function, wb_lowering_get, found with dlopen and dlsym when a program must be
 * compiled and not before (loader.c). It gets the version its caller was built with and gives a struct of
 * functions, or NULL if it was built for another version.
 * Change WB_LOWERING_VERSION with this file, with program.h's structs or with ops.h. */
#ifndef WB_COMPILER_LOWER_H
#define WB_COMPILER_LOWER_H

#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WB_LOWERING_VERSION = 2 };

typedef struct wb_lower_request {
  const wb_program *program; /* verified; its name is the entry's symbol */
  const char *cpu;           /* LLVM's name, as "x86-64-v3"; NULL or "native": this machine's */
  const char *features;      /* LLVM's list, "+avx2,-fma"; NULL: those of the CPU */
  bool check;                /* verify promises, report into wb_kernel_arguments.fault */
  bool want_ir, want_assembly;
  bool unoptimised; /* skip LLVM's optional passes (compile time, debugging) */
  /* for a GPU: `cpu` and `features` are not looked at, nothing is loaded */
  int32_t sm;             /* 0: a host; 80 or 90: an NVIDIA GPU of at least that capability */
  wb_placement placement; /* of slabs */
  int32_t warps;          /* of a block; 0: chosen */
} wb_lower_request;

/* Everything but `code` is malloc'ed by the module and freed by its release function. */
typedef struct wb_lower_result {
  wb_kernel_entry entry; /* in memory, until release; NULL where the target is not this machine's */
  void *code;            /* the module's own handle on the loaded code */
  uint8_t *object;       /* relocatable object file without undefined symbols */
  size_t object_bytes;
  char *ir;             /* LLVM IR after optimisation, or NULL */
  char *assembly;       /* or NULL */
  char *target;         /* "x86_64-pc-linux-gnu znver3 +avx2,..." : what it was compiled for */
  wb_gpu_code gpu;      /* instead of entry, code and object */
  int64_t instructions; /* static count of machine instructions; -1 unknown */
  double seconds_translate, seconds_optimise, seconds_generate, seconds_load;
} wb_lower_result;

typedef struct wb_lowering {
  uint32_t version;         /* WB_LOWERING_VERSION of the module's build */
  uint32_t op_count;        /* its WB_OP_COUNT */
  uint32_t ops_version;     /* its WB_OPS_VERSION */
  const char *llvm_version; /* "19.1.7" */

  /* Compiles. Thread safe. Unknown CPU or feature names, or ones this build of LLVM cannot
   * generate for, are WB_ERROR_ARGUMENT, found before LLVM could abort the process. */
  wb_status (*compile)(const wb_lower_request *request, wb_lower_result *result, wb_error *error);

  /* Loads an object that compile made earlier, perhaps in another process: fills entry and code. */
  wb_status (*load)(const void *object, size_t object_bytes, const char *symbol,
                    wb_lower_result *result, wb_error *error);

  /* Unloads the code and frees what the result holds; the struct is zeroed. */
  void (*release)(wb_lower_result *result);

  /* Names this machine's CPU and features, as they go into cache keys. Both malloc'ed. */
  wb_status (*host)(char **cpu, char **features, wb_error *error);
} wb_lowering;

#define WB_LOWERING_SYMBOL "wb_lowering_get"
typedef const wb_lowering *(*wb_lowering_get_function)(uint32_t version);

#ifdef __cplusplus
}
#endif
#endif

/* Kernels: compiled programs, and the in-memory cache they come from.
 *
 *   program (builder.h) → wb_kernel_compile: copy, passes, hash, cache → LLVM module → wb_kernel
 *
 * A cache belongs to a device (device.h) and is emptied with it; kernels are counted references and
 * may outlive it. Cache calls are thread safe. */
#ifndef WB_COMPILER_KERNEL_H
#define WB_COMPILER_KERNEL_H

#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_kernel wb_kernel;
typedef struct wb_kernel_cache wb_kernel_cache;

/* All zero is the default. */
typedef struct wb_kernel_options {
  const char *cpu;      /* LLVM's CPU name; NULL: $WB_CPU, else this machine's */
  const char *features; /* LLVM's feature list; NULL: those of the CPU */
  bool check;           /* verify promises while running; also if $WB_CHECK is 1 */
  bool keep_text;       /* keep LLVM IR and assembly for wb_kernel_text; also if $WB_DUMP is set */
  bool no_passes;       /* compile the program as it is, LLVM unoptimised too (debugging) */
  bool interpret;       /* do not compile: launches run in the interpreter */
  int32_t sm;           /* compile for an NVIDIA GPU: 80 or 90; 0: for this host. Devices set it */
  wb_placement placement; /* on a GPU: where slabs are; also from $WB_PLACEMENT: auto, shared,
                             split or global */
  int32_t warps;          /* on a GPU: warps of a block, 1..32; 0: chosen */
  bool no_bundles;        /* do not look into bundles */
} wb_kernel_options;

/* How long each stage took, in seconds; 0 where the kernel came from the cache. */
typedef struct wb_kernel_times {
  double passes;    /* our own passes and the hash */
  double open;      /* loading the LLVM module, the first time in a process */
  double translate; /* program to LLVM IR */
  double optimise;  /* LLVM passes */
  double generate;  /* machine code */
  double load;      /* linking in memory; finding it in a bundle */
} wb_kernel_times;

typedef struct wb_kernel_report {
  const char *name;
  const char *target; /* triple, CPU, features; "interpreter" */
  const char *llvm_version;
  int32_t ops_built, ops_compiled; /* before and after passes */
  int32_t accesses, accesses_proven, accesses_promised, accesses_checked;
  int64_t code_bytes;   /* of the object file, or of the PTX */
  int64_t instructions; /* static; only with keep_text or for a GPU, else -1 */
  const char *origin;   /* "compiled", "interpreter", "bundle PATH" (bundle.h) */
  bool cached;          /* this call found it in the cache */
  wb_hash128 key;
  wb_kernel_times times;
} wb_kernel_report;

typedef enum wb_kernel_text_kind {
  WB_KERNEL_TEXT_PROGRAM,  /* the program after passes; always there */
  WB_KERNEL_TEXT_LLVM_IR,  /* only with keep_text */
  WB_KERNEL_TEXT_ASSEMBLY, /* only with keep_text; for a GPU always there: PTX */
} wb_kernel_text_kind;

WB_API wb_status wb_kernel_cache_new(wb_kernel_cache **out, wb_error *error);
WB_API void wb_kernel_cache_free(wb_kernel_cache *cache);
/* Kernels held, and how often a compile found its kernel or not. */
WB_API void wb_kernel_cache_count(wb_kernel_cache *cache, int64_t *kernels, int64_t *hits,
                                  int64_t *misses);

/* Compiles a program, or finds it in `cache` (may be NULL), or in a bundle (bundle.h). The program is
 * read, not kept. `report` may be NULL. If $WB_DUMP names a directory, program, LLVM IR and assembly are written there as
 * NAME-KEY.wb, .ll and .s. WB_ERROR_UNAVAILABLE if the LLVM module is missing: the text says what to
 * install. */
WB_API wb_status wb_kernel_compile(wb_kernel_cache *cache, const wb_program *program,
                                   const wb_kernel_options *options, wb_kernel **out,
                                   wb_kernel_report *report, wb_error *error);

/* What can be told of a compile without code: ops, accesses, key, the time of the passes. Needs no
 * LLVM. `report->name` is the program's own. */
WB_API wb_status wb_kernel_survey(const wb_program *program, const wb_kernel_options *options,
                                  wb_kernel_report *report, wb_error *error);

/* Says where a compile would take the kernel's code from: *hit and the path in a bundle, or the reason
 * why no bundle has it. Nothing is compiled. */
WB_API wb_status wb_kernel_explain(const wb_program *program, const wb_kernel_options *options,
                                   bool *hit, char *text, size_t text_bytes, wb_error *error);

WB_API wb_kernel *wb_kernel_retain(wb_kernel *kernel);
WB_API void wb_kernel_release(wb_kernel *kernel); /* NULL is fine */

/* What was learned when it was compiled; texts live as long as the kernel. */
WB_API void wb_kernel_describe(const wb_kernel *kernel, wb_kernel_report *report);
WB_API const char *wb_kernel_text(const wb_kernel *kernel, wb_kernel_text_kind kind); /* or NULL */
WB_API const void *wb_kernel_object(const wb_kernel *kernel, size_t *bytes);
WB_API const wb_gpu_code *wb_kernel_gpu(const wb_kernel *kernel); /* its ptx is NULL on a host */
/* GPU code that came from a bundle with machine code for exactly wb_gpu_code.sm; or NULL. */
WB_API const void *wb_kernel_cubin(const wb_kernel *kernel, size_t *bytes);
WB_API const wb_program *wb_kernel_program(const wb_kernel *kernel); /* after passes */

/* Runs books [first_book, end_book) on the calling thread, in host memory. The arguments must fit the
 * program (wb_device_launch checks them). With checks, a broken promise is WB_ERROR_INTERNAL with the
 * access's call site. Different threads may run different books of one kernel at a time. */
WB_API wb_status wb_kernel_run(const wb_kernel *kernel, const wb_kernel_arguments *arguments,
                               int64_t first_book, int64_t end_book, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

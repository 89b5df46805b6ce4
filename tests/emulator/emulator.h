/* What the emulator adds to the CUDA runtime's functions: settings, messages and counters.
 *
 * libwb-emulator.so stands where libcudart.so would (WB_CUDART=path of it) and executes PTX text on
 * the CPU. A program under test needs nothing from here; its tests do, and reach these functions by
 * linking with the library or by dlsym.
 *
 * Settings come from the environment, WB_EMULATOR_<NAME>, read when the first function is called, or
 * from wb_emulator_set. They are (default):
 *
 *   MODE             "warp": the lanes of a warp in lock step; "lanes:SEED": one lane at a time, in
 *                    seeded random order, from one warp-synchronous instruction to the next (warp)
 *   DIVERGENCE       "refuse": lanes that disagree at a branch are a fault; "allow": they are run
 *                    apart and joined again. A module with the comment "emulator: divergence
 *                    allowed" allows it for itself (refuse)
 *   HAZARDS          "refuse" or "ignore" unordered accesses of different lanes (refuse)
 *   UNWRITTEN        "refuse" or "ignore" reads of never-written memory by kernels (refuse)
 *   STREAMS          "eager": work is done when it is queued; "lazy": when something waits for it,
 *                    so that a missing wait shows (lazy)
 *   DEVICES          number of devices, 0..8 (1)
 *   MEMORY           bytes of each device (8589934592)
 *   SM               compute capability times ten (90)
 *   SMS              multiprocessors of each device (132)
 *   DRIVER, RUNTIME  versions as CUDA counts them (13000, 13000); DRIVER 0: no driver
 *   SHARED           bytes of shared memory a block may opt in to (232448)
 *   SHARED_SM        bytes of shared memory of a multiprocessor (233472)
 *   REGISTERS        what cudaFuncGetAttributes says of a kernel (32)
 *   FAIL             "CALL:N=CODE": the N-th call (from 1) of that runtime function gives the error
 *                    CODE, once; several with commas between
 *   FAULT_LAUNCH     "N=CODE": the N-th kernel that is run ends with the sticky error CODE
 *   INSTRUCTIONS     warp instructions a launch may take before it counts as hung (1e12)
 *
 * Every function may be called from any thread; they take turns. As with the real runtime, the current
 * device and the last error are each thread's own. */
#ifndef WB_TESTS_EMULATOR_H
#define WB_TESTS_EMULATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WB_EMULATOR_API __attribute__((visibility("default")))

/* Sets one of the settings above, by its name in capitals; NULL puts back the default. False for a
 * name or a value it does not know. Those of devices count from the next wb_emulator_reset. */
WB_EMULATOR_API bool wb_emulator_set(const char *name, const char *value);

/* Forgets everything - memory, libraries, streams, errors, counters - as a new process would. Settings
 * made by wb_emulator_set stay. Handles given out before must not be used again. */
WB_EMULATOR_API void wb_emulator_reset(void);

/* What was wrong at the last refusal of any kind, "" if there was none; valid until the next call. */
WB_EMULATOR_API const char *wb_emulator_message(void);

/* Everything that is allocated and not yet freed: to be all zero at the end of a test. */
typedef struct wb_emulator_live {
  int64_t memory, pinned, streams, events, libraries, graphs, graph_execs; /* how many */
  int64_t memory_bytes;
} wb_emulator_live;
WB_EMULATOR_API void wb_emulator_count_live(wb_emulator_live *live);

/* What warp instructions are counted as. */
#define WB_EMULATOR_CLASSES(X)            \
  X(INTEGER, "integer and logic")         \
  X(MULTIPLY, "integer multiply")         \
  X(DIVIDE, "integer divide")             \
  X(BITS, "bit counts")                   \
  X(FLOAT, "float")                       \
  X(CONVERT, "conversions")               \
  X(MOVE, "moves and selects")            \
  X(PREDICATE, "predicates")              \
  X(BRANCH, "branches")                   \
  X(SHARED, "shared memory")              \
  X(GLOBAL, "global memory")              \
  X(LOCAL, "local memory")                \
  X(CONSTANT, "parameters and constants") \
  X(ATOMIC, "atomics")                    \
  X(SHUFFLE, "shuffles")                  \
  X(VOTE, "votes and matches")            \
  X(REDUCE, "redux")                      \
  X(BARRIER, "barriers and fences")       \
  X(OTHER, "other")

#define X(name, text) WB_EMULATOR_##name,
typedef enum wb_emulator_class { WB_EMULATOR_CLASSES(X) WB_EMULATOR_CLASS_COUNT } wb_emulator_class;
#undef X

/* Counted in mode "warp" only. SM cycles: see cost.c for the weights and where they come from. */
typedef struct wb_emulator_counts {
  int64_t launches, blocks, warps;
  int64_t instructions;                     /* warp instructions, guarded-off ones too */
  int64_t classes[WB_EMULATOR_CLASS_COUNT]; /* the same by class */
  double sm_cycles;
  int64_t global_requests, global_sectors; /* accesses of a warp; 32-byte sectors they touched */
  int64_t shared_requests, shared_passes;  /* passes: as many as the busiest bank needs */
  int64_t shared_conflicts;                /* passes beyond those the width of the access needs */
  double class_cycles[WB_EMULATOR_CLASS_COUNT]; /* sm_cycles by class */
} wb_emulator_counts;

/* Counters since the last reset of counters, of one kernel name or (NULL) of all. False: no such. */
WB_EMULATOR_API bool wb_emulator_read_counts(const char *kernel, wb_emulator_counts *counts);
WB_EMULATOR_API void wb_emulator_reset_counts(void);

/* The text of a class, as in the table above. */
WB_EMULATOR_API const char *wb_emulator_class_text(wb_emulator_class what);

/* Counters of one stretch of a kernel: the instructions from a label to the next label (the first
 * stretch, before any label, has the name ""). False when `index` is past the last. Names live until
 * the library is unloaded. */
typedef struct wb_emulator_region {
  const char *label;
  int32_t line; /* of the PTX */
  int64_t entries, instructions;
  double sm_cycles;
} wb_emulator_region;
WB_EMULATOR_API bool wb_emulator_read_region(const char *kernel, int32_t index,
                                             wb_emulator_region *region);

#endif

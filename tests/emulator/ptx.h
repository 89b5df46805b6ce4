/* PTX text in memory: a module, its kernels and their decoded instructions.
 *
 * A kernel's code is an array of instructions whose operands are byte offsets into the register file
 * of a warp. There every operand is an array with one element per lane: virtual registers, but also
 * immediates and special registers, which have slots of their own that are filled before a warp
 * starts; so an instruction never asks what kind of operand it has. A slot has 32 elements of 4 bytes
 * (8, 16 and 32-bit types, zero-extended) or of 8; a predicate is one 32-bit mask.
 *
 * Calls of functions are expanded where they stand, so that a kernel is one flat piece of code.
 *
 * Keep: whatever is not understood is refused by name with its line; nothing is skipped that could
 * change a result. */
#ifndef WB_TESTS_EMULATOR_PTX_H
#define WB_TESTS_EMULATOR_PTX_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
  PTX_LANES = 32,
  PTX_CARRY = 0, /* offset of the carry mask in the register file */
  PTX_SINK = 64, /* offset of a slot that is written and never read */
  PTX_FIRST_SLOT = 64 + 256,
  PTX_VECTOR = 4,
  PTX_TARGETS = 4096,   /* of one brx.idx, and other limits that only keep integers sane */
  PTX_GUARD_BYTES = 128 /* between shared arrays, so that one cannot run into the next */
};

/* SM cycles of an instruction that only takes its place in the warp's order: see cost.c */
#define PTX_ISSUE_CYCLES 0.5

/* where shared, local and parameter memory lie among generic addresses: no host address is there */
#define PTX_SHARED_WINDOW (UINT64_C(1) << 62)
#define PTX_LOCAL_WINDOW  (UINT64_C(1) << 62 | UINT64_C(1) << 40)
#define PTX_PARAM_WINDOW  (UINT64_C(1) << 62 | UINT64_C(1) << 41)
#define PTX_WINDOW_BYTES  (UINT64_C(1) << 40)

typedef enum ptx_space {
  PTX_GENERIC,
  PTX_GLOBAL,
  PTX_SHARED,
  PTX_LOCAL,
  PTX_CONST,
  PTX_PARAM
} ptx_space;

/* What the executor does with an instruction. */
typedef enum ptx_kind {
  PTX_DO_ALU,  /* run_warp or run_lane computes to[0] from from[] */
  PTX_DO_BITS, /* run_bits gives a mask for the predicates to[0] and, negated, to[1] */
  PTX_DO_NOTHING,
  PTX_DO_BRANCH,
  PTX_DO_BRANCH_INDEX,
  PTX_DO_EXIT,
  PTX_DO_LOAD,
  PTX_DO_STORE,
  PTX_DO_ATOMIC,
  PTX_DO_PREFETCH,
  PTX_DO_COPY, /* cp.async and its commits and waits */
  PTX_DO_COPY_COMMIT,
  PTX_DO_COPY_WAIT,
  PTX_DO_TRAP,
  /* from here on the lanes of a warp meet */
  PTX_DO_SHUFFLE,
  PTX_DO_VOTE,
  PTX_DO_MATCH,
  PTX_DO_REDUCE,
  PTX_DO_ELECT,
  PTX_DO_ACTIVE,
  PTX_DO_WARP_BARRIER,
  PTX_DO_BARRIER
} ptx_kind;

/* How a predicate result is combined with a third operand. */
typedef enum ptx_join { PTX_JOIN_NONE, PTX_JOIN_AND, PTX_JOIN_OR, PTX_JOIN_XOR } ptx_join;

enum {
  PTX_FLAG_UNIFORM = 1,      /* a branch marked .uni */
  PTX_FLAG_SIGNED = 2,       /* a load extends the sign */
  PTX_FLAG_STRONG = 4,       /* volatile, relaxed, acquire, release, atomics */
  PTX_FLAG_NONCOHERENT = 8,  /* ld.global.nc */
  PTX_FLAG_FLUSH = 16,       /* .ftz */
  PTX_FLAG_SATURATE = 32,    /* .sat */
  PTX_FLAG_NAN = 64,         /* min.NaN, max.NaN */
  PTX_FLAG_DYNAMIC = 128,    /* the offset is relative to dynamic shared memory */
  PTX_FLAG_NO_RESULT = 256,  /* red */
  PTX_FLAG_ADDRESS64 = 512,  /* the address register has 64 bits */
  PTX_FLAG_GUARD_NOT = 1024, /* @!p */
  PTX_FLAG_WAIT_ALL = 2048
};

/* Operations that share a kind. */
typedef enum ptx_mode {
  PTX_ADD,
  PTX_MIN,
  PTX_MAX,
  PTX_AND,
  PTX_OR,
  PTX_XOR,
  PTX_INC,
  PTX_DEC,
  PTX_EXCHANGE,
  PTX_SWAP_IF, /* atom.cas */
  PTX_UP,
  PTX_DOWN,
  PTX_BUTTERFLY,
  PTX_INDEX,
  PTX_ALL,
  PTX_ANY,
  PTX_UNI,
  PTX_BALLOT,
  PTX_POPC, /* bar.red.popc */
  PTX_WAIT  /* a plain barrier */
} ptx_mode;

typedef enum ptx_type {
  PTX_NONE,
  PTX_PRED,
  PTX_B8,
  PTX_U8,
  PTX_S8,
  PTX_B16,
  PTX_U16,
  PTX_S16,
  PTX_B32,
  PTX_U32,
  PTX_S32,
  PTX_F32,
  PTX_B64,
  PTX_U64,
  PTX_S64,
  PTX_F64
} ptx_type;

typedef enum ptx_round {
  PTX_ROUND_NEAREST,
  PTX_ROUND_ZERO,
  PTX_ROUND_DOWN,
  PTX_ROUND_UP
} ptx_round;

typedef struct ptx_insn ptx_insn;
typedef void ptx_run_warp(const ptx_insn *insn, uint8_t *registers);
typedef void ptx_run_lane(const ptx_insn *insn, uint8_t *registers, unsigned lane);
/* bits of the lanes lo..hi-1 at their places; others are ignored */
typedef uint32_t ptx_run_bits(const ptx_insn *insn, const uint8_t *registers, unsigned lo,
                              unsigned hi);

struct ptx_insn {
  ptx_run_warp *run_warp;
  ptx_run_lane *run_lane;
  ptx_run_bits *run_bits;
  uint32_t to[PTX_VECTOR];
  uint32_t from[PTX_VECTOR + 1];
  uint32_t guard; /* 0: none */
  uint16_t flags; /* PTX_FLAG_ */
  uint8_t kind;
  uint8_t nots;         /* bit k: source k is a predicate to be negated */
  uint8_t result_bytes; /* of a lane's element in to[]: 4 or 8; 0 for a predicate */
  uint8_t space;
  uint8_t vector; /* elements of a load or store */
  uint8_t bytes;  /* of one such element in memory */
  uint8_t mode;   /* ptx_mode, ptx_join */
  uint8_t type, source_type;
  uint8_t round;
  uint8_t cost_class; /* wb_emulator_class */
  float weight;       /* SM cycles, without what depends on addresses */
  int64_t offset;     /* of an address; a lane mask or count where immediate */
  int32_t target;     /* of a branch; brx.idx: first entry in targets */
  int32_t targets;    /* of brx.idx: how many */
  int32_t join;       /* where lanes that part here meet again; -1: at their end */
  int32_t line;
};

typedef struct ptx_constant {
  uint32_t slot;
  uint8_t bytes; /* 0 (predicate), 4 or 8 */
  bool dynamic;  /* an address in dynamic shared memory: its start is added */
  uint64_t bits;
} ptx_constant;

typedef enum ptx_special {
  PTX_TID_X,
  PTX_TID_Y,
  PTX_TID_Z,
  PTX_NTID_X,
  PTX_NTID_Y,
  PTX_NTID_Z,
  PTX_CTAID_X,
  PTX_CTAID_Y,
  PTX_CTAID_Z,
  PTX_NCTAID_X,
  PTX_NCTAID_Y,
  PTX_NCTAID_Z,
  PTX_LANEID,
  PTX_WARPID,
  PTX_NWARPID,
  PTX_SMID,
  PTX_NSMID,
  PTX_LANEMASK_EQ,
  PTX_LANEMASK_LE,
  PTX_LANEMASK_LT,
  PTX_LANEMASK_GE,
  PTX_LANEMASK_GT,
  PTX_DYNAMIC_SMEM,
  PTX_TOTAL_SMEM,
  PTX_SPECIAL_COUNT
} ptx_special;

typedef struct ptx_param {
  char *name;
  uint32_t offset, bytes, align;
} ptx_param;

typedef struct ptx_label {
  char *name;
  int32_t at; /* instruction */
  int32_t line;
} ptx_label;

/* A shared array of static size: what lies between two of them belongs to nobody. */
typedef struct ptx_array {
  uint32_t offset, bytes;
} ptx_array;

typedef struct ptx_kernel {
  char *name;
  ptx_insn *code;
  int32_t count, capacity;
  int32_t *targets; /* of all brx.idx */
  int32_t target_count, target_capacity;
  ptx_constant *constants;
  int32_t constant_count, constant_capacity;
  uint32_t specials[PTX_SPECIAL_COUNT]; /* slots; 0: unused */
  uint32_t register_bytes;
  ptx_param *params;
  int32_t param_count;
  uint32_t param_bytes;
  ptx_label *labels; /* in the order of the code */
  int32_t label_count, label_capacity;
  ptx_array *arrays;
  int32_t array_count, array_capacity;
  uint32_t shared_bytes;  /* static, as CUDA counts them */
  uint32_t shared_extent; /* static, with guards: where dynamic shared memory starts */
  uint32_t dynamic_align;
  uint32_t local_bytes; /* of a lane */
  int32_t max_threads;  /* of .maxntid or .reqntid; 0: none */
  int32_t required[3];  /* .reqntid; 0: none */
  const char *body;     /* while reading: where its text stands */
  int32_t body_line;
} ptx_kernel;

/* A variable of the module. Initial values are bytes; those that hold an address are patched when it
 * is known. */
typedef struct ptx_patch {
  uint64_t at;    /* offset in the variable */
  int32_t of;     /* variable */
  int64_t offset; /* added to its address */
} ptx_patch;

typedef struct ptx_variable {
  char *name;
  ptx_space space; /* global or const; shared ones are with their kernel, or extern */
  uint64_t bytes;  /* 0: extern shared */
  uint32_t align;
  uint8_t *initial; /* NULL: zeros */
  ptx_patch *patches;
  int32_t patch_count;
  uint64_t address;
} ptx_variable;

typedef struct ptx_module {
  char *text;
  int32_t version; /* 78 for 7.8 */
  int32_t target;  /* 90 for sm_90 */
  bool divergence; /* allowed by a comment in the text */
  ptx_variable *variables;
  int32_t variable_count, variable_capacity;
  ptx_kernel *kernels;
  int32_t kernel_count, kernel_capacity;
  struct ptx_function *functions; /* while reading: where each .func stands */
  int32_t function_count, function_capacity;
} ptx_module;

/* Gives each variable of a module a place in device memory. */
typedef struct ptx_placer {
  wb_status (*place)(void *context, ptx_variable *variable, wb_error *error);
  void *context;
} ptx_placer;

/* Reads a module. `out` is released by ptx_module_free, also after an error. */
wb_status ptx_module_read(const char *text, const ptx_placer *placer, ptx_module *out,
                          wb_error *error);
void ptx_module_free(ptx_module *module);
const ptx_kernel *ptx_module_kernel(const ptx_module *module, const char *name);

/* The text of one line (from 1), without blanks at its ends; not terminated. */
const char *ptx_module_line(const ptx_module *module, int32_t line, int *length);

/* Fills in `join` of every branch (flow.c). */
wb_status ptx_kernel_joins(ptx_kernel *kernel, wb_error *error);

/* Fills in class and weight of an instruction (cost.c). */
void ptx_cost(ptx_insn *insn, const char *mnemonic);

/* ---- instructions that compute, one row for each spelling (alu_*.c) ---- */

typedef struct ptx_alu {
  const char *names; /* mnemonics with a blank between */
  uint8_t arity;
  uint8_t result_bytes; /* 0: predicate */
  uint8_t type;         /* ptx_type of the result */
  uint8_t source_types[4];
  ptx_run_warp *warp;
  ptx_run_lane *lane;
  ptx_run_bits *bits; /* instead of the two above */
} ptx_alu;

extern const ptx_alu ptx_alu_integer[], ptx_alu_float[], ptx_alu_compare[], ptx_alu_logic[];
extern const int ptx_alu_integer_count, ptx_alu_float_count, ptx_alu_compare_count,
    ptx_alu_logic_count;

/* The row of a mnemonic; NULL if there is none. Comparisons are named by operator and type alone. */
const ptx_alu *ptx_alu_find(const char *mnemonic, size_t length);

/* Rounded, flushed and saturated forms, and conversions: what they are is in the instruction. False:
 * not one of these. */
bool ptx_alu_rounded(ptx_insn *insn, const char *mnemonic, ptx_alu *row);
bool ptx_alu_convert(ptx_insn *insn, const char *mnemonic, ptx_alu *row);

unsigned ptx_type_bytes(ptx_type type);
ptx_type ptx_type_of(const char *text, size_t length); /* "u32"; PTX_NONE if unknown */

#endif

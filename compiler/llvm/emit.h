/* From a program to LLVM IR: what the files of this folder share.
 *
 * The walk (emit.c) goes once over the program's ops; a value of the program becomes one LLVM value,
 * structured control becomes basic blocks, a variable an alloca that LLVM's sroa turns into registers.
 * What a *gang* is belongs to the target and is reached through a table of functions: on a host the
 * lanes of a value are one LLVM vector, on a GPU each thread would hold one lane in a plain value.
 * Elementwise ops, control and addresses do not know which of the two they work on.
 *
 * Keep: the program was verified, so lowering an op cannot fail, except that this build of LLVM may
 * lack something; that is noted with emit_fail and reported at the end. Every value that LLVM calls
 * poison is kept away from results by a select or a branch: ops.h defines all cases. */
#ifndef WB_COMPILER_LLVM_EMIT_H
#define WB_COMPILER_LLVM_EMIT_H

#include "compiler/program.h"

#include <llvm-c/Core.h>

typedef struct emit emit;

/* Which lanes of a gang touch what: one element by all, anything, or element l of a row by lane l,
 * with one pattern for each size of elements: 1, 2, 4, 8 bytes. */
typedef enum emit_pattern {
  EMIT_UNIFORM,
  EMIT_LANES,
  EMIT_ROW,
  EMIT_PATTERNS = EMIT_ROW + 4
} emit_pattern;

/* Where a memory op goes: the element's or row's address, and whether the index is in range (NULL:
 * always). */
typedef struct emit_place {
  LLVMValueRef pointer;
  LLVMValueRef in_range;
  const wb_object *object;
  uint32_t alignment; /* bytes */
  emit_pattern pattern;
} emit_place;

/* What a gang is on a target. `place` of a row names its first element, or the lane's own one where
 * objects have a row_base. */
typedef struct emit_gang {
  bool threads; /* each lane is a thread: nothing may be branched on but scalars, and patterns of
                   access are noted for what must come between them */
  LLVMTypeRef (*type)(emit *e, LLVMTypeRef scalar); /* of lanes of `scalar` */
  LLVMValueRef (*lane_id)(emit *e);
  LLVMValueRef (*splat)(emit *e, LLVMValueRef scalar);
  LLVMValueRef (*ballot)(emit *e, LLVMValueRef lanes);
  LLVMValueRef (*any)(emit *e, LLVMValueRef lanes);
  LLVMValueRef (*all)(emit *e, LLVMValueRef lanes);
  LLVMValueRef (*reduce)(emit *e, wb_opcode code, LLVMValueRef lanes);
  LLVMValueRef (*scan_add)(emit *e, LLVMValueRef lanes);
  LLVMValueRef (*extract)(emit *e, LLVMValueRef lanes, LLVMValueRef lane);
  LLVMValueRef (*insert)(emit *e, LLVMValueRef lanes, LLVMValueRef lane, LLVMValueRef value);
  LLVMValueRef (*shuffle)(emit *e, LLVMValueRef lanes, LLVMValueRef from);
  /* memory: elements as they lie there; `mask` may be NULL; in_range has been dealt with */
  LLVMValueRef (*load_row)(emit *e, const emit_place *place, LLVMTypeRef element);
  void (*store_row)(emit *e, const emit_place *place, LLVMValueRef value, LLVMValueRef mask);
  /* lane l behind lane 0, whose address `place` has; `mask` tells which lanes store */
  void (*store_lanes)(emit *e, const emit_place *place, LLVMValueRef value, LLVMValueRef mask);
  /* `pointers` are lanes of addresses; where `mask` is false nothing is touched and `fill` given */
  LLVMValueRef (*gather)(emit *e, const emit_place *place, LLVMValueRef pointers, LLVMValueRef mask,
                         LLVMValueRef fill);
  void (*scatter)(emit *e, const emit_place *place, LLVMValueRef pointers, LLVMValueRef mask,
                  LLVMValueRef value);
  void (*note_fault)(emit *e, LLVMValueRef index); /* i64; in fault, unless one is there */
} emit_gang;

/* An open region. */
typedef struct emit_region {
  int32_t opener;
  LLVMBasicBlockRef exit;  /* behind its end */
  LLVMBasicBlockRef other; /* else branch, default case or loop header, until it is placed */
  LLVMValueRef switched;   /* the switch, or a for loop's count */
} emit_region;

/* What is known of an object of the program in the function being made. */
typedef struct emit_object {
  bool used;
  LLVMValueRef data;           /* buffers: pointer argument */
  LLVMValueRef stride;         /* buffers: bytes between books; NULL if shared */
  LLVMValueRef base;           /* address of the book's first element, without `later` */
  LLVMValueRef row_base;       /* the same of a row for this lane; NULL: the row's first element */
  int64_t later;               /* constant bytes to add to any address made from them */
  LLVMValueRef length;         /* elements, i64; of arrays a constant */
  LLVMValueRef rows;           /* whole rows, i64 */
  LLVMValueRef fill, fill_row; /* constants in memory that hold fill values; NULL: not needed yet */
  LLVMValueRef scope[EMIT_PATTERNS], apart; /* alias metadata of the class; at its first member */
} emit_object;

struct emit {
  const wb_program *program;
  const emit_gang *gang;
  bool check;        /* report broken promises */
  bool fma;          /* the target has fused multiply-add */
  bool avx2, avx512; /* an x86 that has them */

  LLVMContextRef context;
  LLVMModuleRef module;
  LLVMBuilderRef builder;
  LLVMBuilderRef locals; /* at the end of the function's entry block, for allocas */
  LLVMValueRef function;

  LLVMTypeRef types[WB_TYPE_COUNT];
  LLVMTypeRef i8, i16, pointer;
  LLVMValueRef book; /* i64 */
  LLVMValueRef slab;
  LLVMValueRef fault;
  LLVMValueRef lane; /* i32: this thread's, where lanes are threads */
  bool short_shared; /* addresses of shared memory have 32 bits */
  int32_t current;   /* the op being lowered */

  LLVMValueRef *values;    /* by op */
  LLVMValueRef *variables; /* by op: the alloca of a var */
  LLVMValueRef *parameters;
  emit_object *objects;
  emit_region *regions;
  int32_t depth;

  unsigned scope_kind, apart_kind, weights_kind, invariant_kind; /* metadata kinds */
  wb_status status;                                              /* WB_OK until something failed */
  wb_error error;
};

/* emit.c */
wb_status emit_open(emit *e, const wb_program *program, LLVMContextRef context,
                    LLVMModuleRef module, wb_error *error);
void emit_close(emit *e);
void emit_fail(emit *e, const char *what);
wb_op_kind emit_kind(const wb_op *op);
void emit_ops(emit *e); /* the whole program at the builder's position */
static inline LLVMValueRef emit_operand(emit *e, const wb_op *op, int k) {
  return e->values[op->operands[k]];
}

/* emit_base.c: types, constants, calls of intrinsics, small steps */
LLVMTypeRef emit_type(emit *e, wb_type type, wb_shape shape);
LLVMTypeRef emit_scalar_type(LLVMTypeRef type);                       /* an element's */
LLVMTypeRef emit_like(emit *e, LLVMTypeRef like, LLVMTypeRef scalar); /* in the shape of `like` */
bool emit_is_float(LLVMValueRef value);
uint32_t emit_bits(LLVMTypeRef integer); /* of an element */
LLVMValueRef emit_constant(LLVMTypeRef type, uint64_t bits);
LLVMValueRef emit_number(LLVMValueRef like, uint64_t bits); /* in the type of `like` */
LLVMValueRef emit_i32(emit *e, uint32_t value);
LLVMValueRef emit_i64(emit *e, uint64_t value);
LLVMValueRef emit_call(emit *e, const char *intrinsic, LLVMTypeRef *overloads, size_t count,
                       LLVMValueRef *arguments, uint32_t argument_count);
LLVMValueRef emit_call1(emit *e, const char *intrinsic,
                        LLVMValueRef a); /* overloaded on a's type */
LLVMValueRef emit_call2(emit *e, const char *intrinsic, LLVMValueRef a, LLVMValueRef b);
LLVMBasicBlockRef emit_block(emit *e, const char *name); /* appended to the function */
void emit_weights(emit *e, LLVMValueRef branch, const uint32_t *weights, uint32_t count);
/* Runs what is emitted until emit_end_guard only where `condition` holds. */
LLVMBasicBlockRef emit_guard(emit *e, LLVMValueRef condition, bool likely);
void emit_end_guard(emit *e, LLVMBasicBlockRef after);
LLVMValueRef emit_local(emit *e, LLVMTypeRef type, uint32_t alignment);

/* emit_arith.c: elementwise */
LLVMValueRef emit_divide(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emit_umulhi(emit *e, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emit_shift(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef count);
LLVMValueRef emit_extremum(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emit_count_bits(emit *e, wb_opcode code, LLVMValueRef a);
LLVMValueRef emit_fma(emit *e, LLVMValueRef a, LLVMValueRef b, LLVMValueRef c);
LLVMValueRef emit_compare(emit *e, wb_opcode code, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef emit_convert(emit *e, wb_opcode code, LLVMValueRef a);
LLVMValueRef emit_visible_bits(emit *e, LLVMValueRef f32); /* NaN made canonical */

/* emit_control.c */
void emit_var(emit *e, const wb_op *op);
LLVMValueRef emit_get(emit *e, const wb_op *op);
void emit_set(emit *e, const wb_op *op);
void emit_structure(emit *e, const wb_op *op);

/* emit_memory.c */
void emit_alias_classes(emit *e);
void emit_note_used(emit *e);
int64_t emit_element_bytes(const wb_object *object);
LLVMTypeRef emit_element_type(emit *e, const wb_object *object);
/* A view's length in its own elements, from that of the buffer it shows. */
LLVMValueRef emit_own_length(emit *e, const wb_object *object, LLVMValueRef length);
LLVMValueRef emit_step(emit *e, LLVMValueRef pointer, LLVMValueRef bytes);
void emit_bases(emit *e); /* addresses of the book's arrays and buffers; at the start of a book */
LLVMValueRef emit_known(emit *e, const wb_op *op);
LLVMValueRef emit_load(emit *e, const wb_op *op);
LLVMValueRef emit_load_row(emit *e, const wb_op *op);
LLVMValueRef emit_gather(emit *e, const wb_op *op);
void emit_store(emit *e, const wb_op *op);
void emit_store_row(emit *e, const wb_op *op);
void emit_store_lanes(emit *e, const wb_op *op);
void emit_scatter(emit *e, const wb_op *op);
/* Marks a memory access as one of the object's alias class; `alignment` 0 leaves it alone. */
void emit_mark(emit *e, LLVMValueRef access, const emit_place *place, uint32_t alignment);

/* host_gang.c, nvptx_gang.c */
extern const emit_gang emit_host_gang, emit_nvptx_gang;

#endif

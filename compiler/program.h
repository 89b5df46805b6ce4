/* A program: what one book does, as a list of operations, and the memory it works on.
 *
 * The list is linear. An op's index is the id of the value it makes; operands are ids of earlier ops.
 * Markers give it structure and nest properly:
 *
 *   if c … [else …] end            while … test c … end        for lo hi … end    (the op is the count)
 *   switch v [case k …]* [default …] end                       block … end
 *   leave, which goes on behind the end of the block or loop whose id it names
 *
 * A value is visible from its op to the end of the innermost region around it (what stands between
 * while and test belongs to the loop's region). What must survive a region, or change from one round
 * of a loop to the next, is a *variable* - var, get, set - rather than an argument of a block: a
 * kernel reads like the C it stands for, every pass walks one flat list, and a lowering that has
 * registers turns variables into them (LLVM: alloca and mem2reg) at no cost.
 *
 * Ops after a leave and before the end of its region never run; they are legal.
 *
 * Memory is named by objects. *Arrays* lie at constant offsets in the book's slab, *buffers* are
 * arguments of a launch, *views* show an array or buffer as another element type. Different arrays,
 * and different buffers, never share memory; a view shares all of it with what it shows.
 *
 * Plain data, no pointers between ops: copying, hashing and walking are loops. Nothing here is
 * specific to a host or a GPU. Not thread safe while it is being changed. */
#ifndef WB_COMPILER_PROGRAM_H
#define WB_COMPILER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../base/hash.h"
#include "../base/status.h"
#include "ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Limits, all checked with an error that names them. */
enum {
  WB_WIDTH = 32,      /* lanes of a gang */
  WB_WIDTH_MAX = 32,  /* of any program */
  WB_NAME_BYTES = 48, /* of a program, object or parameter, with its NUL */
  WB_PROGRAM_OPS_MAX = 1 << 20,
  WB_DEPTH_MAX = 256,     /* nested regions */
  WB_GROUP_MAX = 64,      /* elements */
  WB_SLAB_ALIGNMENT = 64, /* bytes, of slabs and of every array in one */
  WB_OBJECTS_MAX = 1024,
  WB_PARAMETERS_MAX = 256,
};

/* Flags of an op that accesses memory. */
enum {
  WB_FLAG_IN = 1,     /* the kernel promises that the index is in range */
  WB_FLAG_PROVEN = 2, /* range analysis has proved it: no check is ever needed */
};

/* The aux of IF (is its condition likely?), CASE and DEFAULT: a guess for the code's placement. */
typedef enum wb_hint { WB_HINT_NONE, WB_HINT_LIKELY, WB_HINT_RARE } wb_hint;

/* Fields that an op does not use are 0, unused operands -1. */
typedef struct wb_op {
  uint8_t code;  /* wb_opcode */
  uint8_t type;  /* of the result, wb_type; NONE if it has none */
  uint8_t shape; /* of the result, wb_shape */
  uint8_t flags;
  int32_t operands[WB_OPERANDS_MAX];
  int32_t aux;  /* PARAM: parameter number; memory: object; LEAVE, END: id of the region's opener;
                  * IF, CASE, DEFAULT: wb_hint */
  int32_t file; /* call site: index into the program's files, -1 unknown */
  int64_t imm; /* CONST: value (bool 0 or 1, i32 sign-extended, f32: its 32 bits); CASE: selector */
  int32_t line;
  int32_t spare; /* 0 */
} wb_op;

typedef enum wb_object_kind { WB_OBJECT_ARRAY, WB_OBJECT_BUFFER } wb_object_kind;

typedef struct wb_object {
  char name[WB_NAME_BYTES];
  uint8_t kind;    /* wb_object_kind; a view has the kind of what it shows */
  uint8_t element; /* wb_element */
  uint8_t shared;  /* buffers: 1 = one for all books, 0 = one part per book */
  uint8_t writable;
  int32_t base;   /* own number, or the number of what this view shows: the alias class */
  int32_t buffer; /* buffers: number in a launch's list of buffers; arrays -1 */
  int32_t group;  /* buffers: on a GPU every book's part starts at a multiple of so many elements, a
                     power of two; 1 if nothing is said */
  int32_t spare;  /* 0 */
  int64_t length; /* arrays: elements (a multiple of the width if `rows`); buffers: -1, at launch */
  int64_t offset; /* arrays: bytes from the slab's start */
  int64_t fill;   /* what a load out of range yields, in the form of wb_op.imm */
} wb_object;

typedef struct wb_parameter {
  char name[WB_NAME_BYTES];
  uint8_t type; /* I32, I64 or F32 */
} wb_parameter;

typedef struct wb_program {
  char name[WB_NAME_BYTES]; /* a C identifier: the symbol of compiled code */
  int32_t width;            /* lanes, a power of two up to WB_WIDTH_MAX */
  int32_t op_count, op_capacity;
  int32_t object_count, object_capacity;
  int32_t parameter_count, parameter_capacity;
  int32_t file_count, file_capacity;
  int32_t buffer_count; /* length of a launch's list of buffers */
  int64_t slab_bytes;   /* multiple of WB_SLAB_ALIGNMENT */
  wb_op *ops;
  wb_object *objects; /* the layout's arrays first, in its order, then buffers and views */
  wb_parameter *parameters;
  char **files;
} wb_program;

/* The table's row of an opcode; texts of the small enumerations. Never NULL. */
WB_API const wb_op_info *wb_op_describe(wb_opcode code);
WB_API const char *wb_type_text(wb_type type);
WB_API const char *wb_element_text(wb_element element);
WB_API int32_t wb_element_bytes(wb_element element);
WB_API wb_type wb_element_type(wb_element element); /* the type of a loaded element */

WB_API wb_status wb_program_new(const char *name, int32_t width, wb_program **out, wb_error *error);
WB_API wb_status wb_program_clone(const wb_program *program, wb_program **out, wb_error *error);
WB_API void wb_program_free(wb_program *program); /* NULL is fine */

/* Appends; the new op's or file's number comes back through `id`. For the builder and passes. */
WB_API wb_status wb_program_append(wb_program *program, const wb_op *op, int32_t *id,
                                   wb_error *error);
WB_API wb_status wb_program_add_object(wb_program *program, const wb_object *object, int32_t *id,
                                       wb_error *error);
WB_API wb_status wb_program_add_parameter(wb_program *program, const wb_parameter *parameter,
                                          int32_t *id, wb_error *error);
WB_API wb_status wb_program_add_file(wb_program *program, const char *file, int32_t *id,
                                     wb_error *error);

/* Does the op read or write an object? Its aux is the object, its first operand the index or row. */
WB_API bool wb_op_accesses(const wb_op *op);

/* Whether a compiled op must check its index: not proven, and not promised or promises are checked. */
static inline bool wb_op_needs_check(const wb_op *op, bool check_promises) {
  if (op->flags & WB_FLAG_PROVEN) return false;
  return !(op->flags & WB_FLAG_IN) || check_promises;
}

/* "file.c:12" of an op's call site, or "?" (for messages; the directory is left out). */
WB_API void wb_program_site(const wb_program *program, int32_t op, char *text, size_t text_bytes);

/* Checks everything that lowerings and the interpreter rely on: op table rules, nesting, visibility,
 * objects inside the slab, limits. WB_ERROR_INTERNAL with op, types, given, expected, call site. */
WB_API wb_status wb_program_verify(const wb_program *program, wb_error *error);

/* Checks one op's operand types and gives its result type; the rule both builder and verifier apply.
 * `what`, if not NULL, names the complaint's origin in front of the text. */
WB_API wb_status wb_op_infer(const wb_program *program, const wb_op *op, wb_type *type,
                             wb_shape *shape, wb_error *error);

/* Prints a program as text, one op a line, stable: equal programs print equally, and everything but
 * call sites is in the text. With `sites` each op is followed by its call site as a comment. */
WB_API wb_status wb_program_print(const wb_program *program, bool sites, FILE *out,
                                  wb_error *error);
/* The same as a string of malloc. */
WB_API wb_status wb_program_text(const wb_program *program, bool sites, char **out,
                                 wb_error *error);

/* The 128-bit hash of everything that can change compiled code: ops, objects, types, layout, width,
 * WB_OPS_VERSION; not names, files or lines. */
WB_API wb_hash128 wb_program_hash(const wb_program *program);

/* ---- layouts: the slab of one book, shared by all programs that work on it ---- */

typedef struct wb_layout wb_layout;

/* Names an array of a layout, a buffer or a view in a program; -1 after an error. */
typedef struct wb_array {
  int32_t object;
} wb_array;

WB_API wb_status wb_layout_new(wb_layout **out, wb_error *error);
WB_API void wb_layout_free(wb_layout *layout);

/* Adds an array of `length` elements. `fill` is what a load out of range yields, in the form of
 * wb_op.imm. Errors: a name that is taken, too long or no identifier, a length below 1. */
WB_API wb_status wb_layout_add(wb_layout *layout, const char *name, wb_element element,
                               int64_t length, int64_t fill, wb_array *out, wb_error *error);

WB_API int64_t wb_layout_bytes(const wb_layout *layout); /* of one slab; a multiple of 64 */
WB_API int32_t wb_layout_count(const wb_layout *layout);
WB_API const wb_object *wb_layout_object(const wb_layout *layout, wb_array array);
/* The array of that name; object -1 if there is none. */
WB_API wb_array wb_layout_find(const wb_layout *layout, const char *name);

/* ---- what a launch gives to a program, the same for interpreter, host and GPU ---- */

/* Memory of one buffer. A shared one has stride 0 and `length` elements in all; a per-book one has
 * `length` elements for each book and starts `stride` elements after that of the book before. */
typedef struct wb_buffer_argument {
  void *data;     /* aligned to its largest element, of views too; rows ask for no more; on a GPU to
                     16 bytes if it is shared, and data and stride to a group (wb_object) if it is not */
  int64_t length; /* elements of the buffer's own type */
  int64_t stride; /* elements; 0 if shared */
} wb_buffer_argument;

/* The first broken promise of a launch (with checks on); op is -1 while there is none. */
typedef struct wb_fault {
  int32_t op;
  int32_t book;
  int64_t index; /* the index, row or value that broke it */
} wb_fault;

/* The struct a kernel compiled for a host is called with; its layout is part of the kernel ABI. */
typedef struct wb_kernel_arguments {
  void *slabs;         /* aligned to WB_SLAB_ALIGNMENT; the slab of book b is at b * slab_stride */
  int64_t slab_stride; /* bytes, a multiple of WB_SLAB_ALIGNMENT */
  const wb_buffer_argument *buffers;
  const int64_t
      *scalars;    /* by parameter number, in the form of wb_op.imm (i32, f32: low 32 bits) */
  wb_fault *fault; /* NULL unless checks are compiled in */
} wb_kernel_arguments;

/* Runs the books first_book <= b < end_book, one after another. */
typedef void (*wb_kernel_entry)(const wb_kernel_arguments *arguments, int64_t first_book,
                                int64_t end_book);

/* ---- kernels for a GPU ----
 *
 * A kernel is a PTX entry with the program's name. One warp runs one book; a block has `warps` of
 * them: book = first_book + ctaid.x * warps + warp of the block; a warp whose book is not below
 * end_book ends at once. Blocks never wait for each other, warps neither. Its parameters are 8 bytes
 * each: slabs, slab_stride, first_book, end_book, fault; then data, length, stride of each buffer of a
 * launch; then the scalars. Pointers are global addresses; those of shared buffers are multiples of
 * 16. */
enum { WB_GPU_FIXED_PARAMETERS = 5, WB_GPU_BUFFER_PARAMETERS = 3, WB_GPU_SHARED_ALIGNMENT = 16 };

/* Where a slab is while its book runs. */
typedef enum wb_placement {
  WB_PLACEMENT_AUTO,   /* by how many warps a multiprocessor then holds */
  WB_PLACEMENT_SHARED, /* all of it in shared memory, copied in and out */
  WB_PLACEMENT_SPLIT,  /* small arrays in shared memory, the rest in global memory */
  WB_PLACEMENT_GLOBAL
} wb_placement;

typedef struct wb_gpu_code {
  char *ptx;            /* text, ends in NUL; NULL: not for a GPU */
  int32_t sm;           /* 80, 90: the lowest capability it runs on */
  int32_t warps;        /* of a block */
  int32_t shared_bytes; /* dynamic, per warp */
  wb_placement placement;
  char report[256]; /* why it was placed so, one line */
} wb_gpu_code;

#ifdef __cplusplus
}
#endif
#endif

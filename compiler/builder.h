/* The builder: C calls that record a program.
 *
 * This is the plain interface, one call per op, each with its call site; kernels are written with
 * the short names of dsl.h, which expand to these calls. Recording never fails half-way: the first
 * mistake is kept, with op, operand types, what was given, what was expected and the call site;
 * later calls do nothing, and wb_builder_finish returns the error.
 *
 * Operands may be values, variables (read at that point) or C numbers. A number takes the type and
 * shape of the operand it stands beside (of the object, the variable it goes to); two numbers
 * together are i32, or i64 if they do not fit. A scalar beside lanes is spread over the lanes. Nothing
 * else is converted.
 *
 * A builder belongs to one thread at a time. */
#ifndef WB_COMPILER_BUILDER_H
#define WB_COMPILER_BUILDER_H

#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_builder wb_builder;

/* A value and a variable of the program being built; id -1 after an error. */
typedef struct wb_val {
  int32_t id;
} wb_val;
typedef struct wb_var {
  int32_t id;
} wb_var;
/* A block or loop that can be left. */
typedef struct wb_label {
  int32_t id;
} wb_label;

/* Where a call stands in a kernel's source. `file` must live until the builder is finished. */
typedef struct wb_site {
  const char *file;
  int32_t line;
} wb_site;
#define WB_HERE ((wb_site){__FILE__, __LINE__})

/* ---- operands ---- */

typedef enum wb_operand_kind {
  WB_OPERAND_NONE,
  WB_OPERAND_VALUE,
  WB_OPERAND_VARIABLE,
  WB_OPERAND_SIGNED,
  WB_OPERAND_UNSIGNED,
  WB_OPERAND_REAL
} wb_operand_kind;

typedef struct wb_operand {
  wb_operand_kind kind;
  int32_t id;     /* of a value or variable */
  int64_t number; /* UNSIGNED: the bits */
  double real;
} wb_operand;

static inline wb_operand wb_operand_none(void) { return (wb_operand){WB_OPERAND_NONE, -1, 0, 0}; }
static inline wb_operand wb_operand_value(wb_val v) {
  return (wb_operand){WB_OPERAND_VALUE, v.id, 0, 0};
}
static inline wb_operand wb_operand_variable(wb_var v) {
  return (wb_operand){WB_OPERAND_VARIABLE, v.id, 0, 0};
}
static inline wb_operand wb_operand_signed(long long n) {
  return (wb_operand){WB_OPERAND_SIGNED, -1, (int64_t)n, 0};
}
static inline wb_operand wb_operand_unsigned(unsigned long long n) {
  return (wb_operand){WB_OPERAND_UNSIGNED, -1, (int64_t)n, 0};
}
static inline wb_operand wb_operand_real(double x) {
  return (wb_operand){WB_OPERAND_REAL, -1, 0, x};
}
static inline wb_operand wb_operand_itself(wb_operand o) { return o; }

/* Turns any of these C expressions into an operand; x is evaluated once. */
#define WB_OPERAND(x) WB_OPERAND_OF(x, WB_JOIN(wb_operand_, __COUNTER__))
#define WB_OPERAND_OF(x, t)                            \
  __extension__({                                      \
    __auto_type t = (x);                               \
    _Generic(t, wb_operand                             \
             : wb_operand_itself, wb_val               \
             : wb_operand_value, wb_var                \
             : wb_operand_variable, _Bool              \
             : wb_operand_unsigned, char               \
             : wb_operand_signed, signed char          \
             : wb_operand_signed, short                \
             : wb_operand_signed, int                  \
             : wb_operand_signed, long                 \
             : wb_operand_signed, long long            \
             : wb_operand_signed, unsigned char        \
             : wb_operand_unsigned, unsigned short     \
             : wb_operand_unsigned, unsigned           \
             : wb_operand_unsigned, unsigned long      \
             : wb_operand_unsigned, unsigned long long \
             : wb_operand_unsigned, float              \
             : wb_operand_real, double                 \
             : wb_operand_real)(t);                    \
  })
#define WB_JOIN_(a, b) a##b
#define WB_JOIN(a, b)  WB_JOIN_(a, b)

/* ---- life ---- */

/* Starts a program. `name` is a C identifier. `layout` (NULL: no slab) is read now; its arrays keep
 * their numbers. */
WB_API wb_status wb_builder_new(const char *name, int32_t width, const wb_layout *layout,
                                wb_builder **out, wb_error *error);

/* Ends recording, verifies, and hands the program to the caller (wb_program_free). The builder is
 * freed, whatever comes back. WB_ERROR_ARGUMENT with the first mistake's text. */
WB_API wb_status wb_builder_finish(wb_builder *builder, wb_program **out, wb_error *error);

/* Throws a builder away. NULL is fine. */
WB_API void wb_builder_free(wb_builder *builder);

/* Records a mistake of the kernel's author's own finding, unless there is one already. */
WB_API void wb_build_fail(wb_builder *b, wb_site site, const char *format, ...) WB_PRINTF(3, 4);

/* False once a mistake has been made. */
WB_API bool wb_builder_ok(const wb_builder *b);

/* ---- what a launch gives ---- */

/* A buffer; the order of these calls is the order of a launch's list of buffers. `shared`: one for
 * all books, else one part per book. `fill` is what a load out of range yields. */
WB_API wb_array wb_build_buffer(wb_builder *b, wb_site site, const char *name, wb_element element,
                                bool shared, bool writable, int64_t fill);

/* Says of a per-book buffer that on a GPU each book's part starts at a multiple of `elements`, a power of
 * two up to 64, so that what is written in groups of so many can be written at once. A launch that does
 * not keep to it is refused. */
WB_API void wb_build_group(wb_builder *b, wb_site site, wb_array buffer, int32_t elements);

/* Shows a buffer or array as another element type (indices count that type; memory is little
 * endian). The length is rounded down. Fill is 0. */
WB_API wb_array wb_build_view(wb_builder *b, wb_site site, wb_array of, wb_element element);

/* A run-time scalar of type I32, I64 or F32; the order of these calls is the order at launch. */
WB_API wb_val wb_build_param(wb_builder *b, wb_site site, const char *name, wb_type type);

/* ---- values ---- */

/* Any op that makes a value from values, with operands spread and numbers typed as said above.
 * Memory, variables and structure have their own calls. */
WB_API wb_val wb_build_op(wb_builder *b, wb_site site, wb_opcode code, wb_operand x, wb_operand y,
                          wb_operand z);
WB_API wb_val wb_build_const(wb_builder *b, wb_site site, wb_type type, int64_t bits);
WB_API wb_val wb_build_const_f32(wb_builder *b, wb_site site, float value);

/* Conversions to a type from whatever x is (numbers become constants of that type):
 * i32 from bool, i64 (low bits), f32 (saturating); i64 from i32 (signed or not) or bool; f32 from
 * i32, i64. A value that has the type already is given back. */
WB_API wb_val wb_build_i32(wb_builder *b, wb_site site, wb_operand x);
WB_API wb_val wb_build_i64(wb_builder *b, wb_site site, wb_operand x);
WB_API wb_val wb_build_u64(wb_builder *b, wb_site site, wb_operand x);
WB_API wb_val wb_build_f32(wb_builder *b, wb_site site, wb_operand x);
WB_API wb_val wb_build_bool(wb_builder *b, wb_site site, wb_operand x); /* x != 0 */

/* A plain value from an operand: numbers become i32 or i64, variables are read. */
WB_API wb_val wb_build_value(wb_builder *b, wb_site site, wb_operand x);

WB_API wb_val wb_build_neg(wb_builder *b, wb_site site, wb_operand x);
WB_API wb_val wb_build_abs(wb_builder *b, wb_site site, wb_operand x); /* MIN stays MIN */

/* The number of the lane with the least (greatest) element, the lowest such lane; 32 if x is of
 * f32 and has a NaN. */
WB_API wb_val wb_build_lane_of_min(wb_builder *b, wb_site site, wb_operand x);
WB_API wb_val wb_build_lane_of_max(wb_builder *b, wb_site site, wb_operand x);

/* Promises lo <= x <= hi (in every lane); gives x. */
WB_API wb_val wb_build_known(wb_builder *b, wb_site site, wb_operand x, int64_t lo, int64_t hi);

/* What is known about a value while building, for helpers that adapt to it. */
WB_API wb_type wb_build_type(wb_builder *b, wb_val v);
WB_API wb_shape wb_build_shape(wb_builder *b, wb_val v);

/* Philox4x32-10 (Salmon et al. 2011): four random i32 scalars from an i64 key and a counter of four
 * i32. */
typedef struct wb_random {
  wb_val word[4];
} wb_random;
WB_API wb_random wb_build_philox(wb_builder *b, wb_site site, wb_operand key,
                                 const wb_operand counter[4]);

/* ---- memory ---- */

/* `in` promises that the index (every lane's, the whole row) is in range. */
WB_API wb_val wb_build_load(wb_builder *b, wb_site site, wb_array a, wb_operand index, bool in);
WB_API void wb_build_store(wb_builder *b, wb_site site, wb_array a, wb_operand index,
                           wb_operand value, bool in);
WB_API wb_val wb_build_load_row(wb_builder *b, wb_site site, wb_array a, wb_operand row, bool in);
/* mask: lanes of bool, or wb_operand_none() for all lanes. */
WB_API void wb_build_store_row(wb_builder *b, wb_site site, wb_array a, wb_operand row,
                               wb_operand value, wb_operand mask, bool in);
/* Lane l to element index + l, where the mask holds; only those elements are promised. */
WB_API void wb_build_store_lanes(wb_builder *b, wb_site site, wb_array a, wb_operand index,
                                 wb_operand value, wb_operand mask, bool in);
WB_API wb_val wb_build_gather(wb_builder *b, wb_site site, wb_array a, wb_operand index, bool in);
WB_API void wb_build_scatter(wb_builder *b, wb_site site, wb_array a, wb_operand index,
                             wb_operand value, bool in);

/* ---- variables ---- */

/* Visible to the end of the region it is made in; type and shape are those of the first value. */
WB_API wb_var wb_build_var(wb_builder *b, wb_site site, wb_operand first);
WB_API wb_val wb_build_get(wb_builder *b, wb_site site, wb_var v);
WB_API void wb_build_set(wb_builder *b, wb_site site, wb_var v, wb_operand value);

/* ---- structure: each opener needs its wb_build_end (else_if shares that of its if) ---- */

WB_API void wb_build_if(wb_builder *b, wb_site site, wb_operand condition, wb_hint hint);
/* Directly after the end of an if: reopens it with its other branch. */
WB_API void wb_build_else(wb_builder *b, wb_site site);
/* Inside an else, after its condition has been recorded: an if that ends together with the one around
 * it, so that an else may follow that belongs to it. */
WB_API void wb_build_else_if(wb_builder *b, wb_site site, wb_operand condition, wb_hint hint);
WB_API void wb_build_switch(wb_builder *b, wb_site site, wb_operand selector);
WB_API void wb_build_case(wb_builder *b, wb_site site, int64_t selector, wb_hint hint);
WB_API void wb_build_default(wb_builder *b, wb_site site, wb_hint hint);
WB_API wb_label wb_build_while(wb_builder *b, wb_site site); /* then the condition, then test */
WB_API void wb_build_test(wb_builder *b, wb_site site, wb_operand condition);
WB_API wb_val wb_build_for(wb_builder *b, wb_site site, wb_operand lo, wb_operand hi);
WB_API wb_label wb_build_block(wb_builder *b, wb_site site);
WB_API void wb_build_leave(wb_builder *b, wb_site site, wb_label label);
WB_API void wb_build_end(wb_builder *b, wb_site site);
/* The label of the loop just opened by wb_build_for, whose value this is. */
static inline wb_label wb_label_of(wb_val count) { return (wb_label){count.id}; }

#ifdef __cplusplus
}
#endif
#endif

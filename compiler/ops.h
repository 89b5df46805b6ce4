/* The table of operations: the only list of them, and the definition of what each one means.
 *
 * From WB_OPS come the enumeration, the names in printed programs, the operand and result rules that
 * the builder and the verifier apply, the interpreter's dispatch and the check that a lowering has a
 * case for every op. A row is
 *
 *   X(NAME, "text", operands, operand rule, result rule, kind)
 *
 * Editors: an op that is added or whose meaning changes bumps WB_OPS_VERSION, which is part of every
 * cache key. Each op must give the same bits on every device, for all operands, as written here:
 *
 *  integers    two's complement; add, sub, mul wrap. i32 and i64 only.
 *  div, rem    signed, towards zero; x / 0 = 0 and x % 0 = x; MIN / -1 = MIN and MIN % -1 = 0, so
 *              that x = (x / y) * y + x % y always. udiv, urem likewise: x / 0 = 0, x % 0 = x.
 *              f32 div is IEEE.
 *  shifts      the count is read as unsigned; a count of the type's width or more gives 0, for sar
 *              the sign in every bit.
 *  ctz, clz    of 0: the type's width. popcnt counts ones. All keep the operand's type.
 *  f32         IEEE single precision, to nearest even, denormals kept, never contracted (fma is its
 *              own op, with one rounding). A NaN that becomes visible - bits, a store to memory - is
 *              the canonical one, 0x7fc00000, whatever went in.
 *  min, max    f32: NaN if either operand is NaN; -0 is less than +0.
 *  compares    f32: eq, lt, le are false with a NaN, ne is true.
 *  to_i32      f32 to i32 towards zero, saturating; NaN gives 0. to_f32 rounds to nearest even.
 *  lanes       elementwise ops work lane by lane. Lane numbers of extract and shuffle are taken modulo
 *              the width; insert with a lane number outside 0..width-1 changes nothing.
 *  reductions  integer ones wrap and have no order that could show. f32 add is a butterfly: for
 *              distance d = width/2, ..., 2, 1 every lane l becomes x[l] + x[l ^ d]; lane 0 is the
 *              result. scan_add is inclusive.
 *  memory      an index outside 0..length-1 makes a load yield the object's fill value and a store do
 *              nothing. Rows are all or nothing: row r is in range if 0 <= r and the whole row lies
 *              inside the object. gather and scatter check lane by lane; where lanes of one scatter
 *              name the same element, the highest lane's value stays. store_lanes puts lane l to
 *              element index + l, a sum that does not wrap, and checks lane by lane; a lane whose mask
 *              is false has no element. u8 and u16 load zero-extended, i8 and i16 sign-extended, all
 *              as i32; a store keeps the low bits.
 *  promises    an access marked "in" is promised to be in range and `known` is promised to hold. The
 *              interpreter stops at one that is broken. Compiled code with checks on records the first
 *              one and goes on as if it had not been promised (the access is out of range, `known`
 *              gives its lower bound); without checks it may do anything.
 *  control     a switch without a matching case takes the default, or nothing. for counts lo, lo+1,
 *              ..., hi-1, with lo and hi read once. leave goes on behind the end of the enclosing
 *              block or loop it names. */
#ifndef WB_COMPILER_OPS_H
#define WB_COMPILER_OPS_H

#include <stdint.h>

enum { WB_OPS_VERSION = 2 };

/* What a value is made of. Booleans are 0 or 1. */
#define WB_TYPES(X) \
  X(NONE, "none")   \
  X(BOOL, "bool")   \
  X(I32, "i32")     \
  X(I64, "i64")     \
  X(F32, "f32")

/* A scalar is one value for the whole gang and may be branched on; lanes have one element per lane. */
#define WB_SHAPES(X) \
  X(SCALAR, "")      \
  X(LANES, "lanes of")

/* What memory holds: name, text, bytes, type when loaded. */
#define WB_ELEMENTS(X)  \
  X(I8, "i8", 1, I32)   \
  X(U8, "u8", 1, I32)   \
  X(I16, "i16", 2, I32) \
  X(U16, "u16", 2, I32) \
  X(I32, "i32", 4, I32) \
  X(I64, "i64", 8, I64) \
  X(F32, "f32", 4, F32)

/* Operand rules. "same": all operands have one type and one shape. */
#define WB_OPERAND_RULES(X)                                                               \
  X(NONE, "no operands")                                                                  \
  X(INT, "i32 or i64, all the same")                                                      \
  X(BITS, "bool, i32 or i64, all the same")                                               \
  X(NUMERIC, "i32, i64 or f32, all the same")                                             \
  X(ANY, "one type and shape")                                                            \
  X(ALL_BOOL, "bool")                                                                     \
  X(ALL_I32, "i32")                                                                       \
  X(ALL_I64, "i64")                                                                       \
  X(ALL_F32, "f32")                                                                       \
  X(SELECT, "bool, then two of one type, all of one shape")                               \
  X(SCALAR, "a scalar")                                                                   \
  X(LANES_BOOL, "lanes of bool")                                                          \
  X(LANES_INT, "lanes of i32 or i64")                                                     \
  X(LANES_NUMERIC, "lanes of i32, i64 or f32")                                            \
  X(EXTRACT, "lanes, then a scalar i32 lane number")                                      \
  X(INSERT, "lanes, a scalar i32 lane number, a scalar of the lanes' type")               \
  X(SHUFFLE, "lanes, then lanes of i32 lane numbers")                                     \
  X(KNOWN, "i32 or i64, then two scalar constants of its type")                           \
  X(INDEX, "a scalar i32 or i64 index")                                                   \
  X(INDEX_VALUE, "a scalar i32 or i64 index, then a scalar of the object's type")         \
  X(ROW_VALUE, "a scalar i32 or i64 row, then lanes of the object's type")                \
  X(ROW_VALUE_MASK, "a scalar i32 or i64 row, lanes of the object's type, lanes of bool") \
  X(LANES_MASK, "a scalar i32 or i64 index, lanes of the object's type, lanes of bool")   \
  X(LANE_INDEX, "lanes of i32 or i64 indices")                                            \
  X(LANE_INDEX_VALUE, "lanes of i32 or i64 indices, then lanes of the object's type")     \
  X(GET, "a variable")                                                                    \
  X(SET, "a variable, then a value of its type and shape")                                \
  X(CONDITION, "a scalar bool")                                                           \
  X(SELECTOR, "a scalar i32")                                                             \
  X(RANGE, "two scalars, both i32 or both i64")

/* Result rules: what an op gives, from its operands (or, DECLARED, as recorded in the op). */
#define WB_RESULT_RULES(X)                           \
  X(NONE, "nothing")                                 \
  X(DECLARED, "a scalar of the recorded type")       \
  X(SAME, "as the first operand")                    \
  X(SECOND, "as the second operand")                 \
  X(BOOL, "bool in the first operand's shape")       \
  X(I32, "i32 in the first operand's shape")         \
  X(I64, "i64 in the first operand's shape")         \
  X(F32, "f32 in the first operand's shape")         \
  X(SCALAR_BOOL, "a scalar bool")                    \
  X(SCALAR_I32, "a scalar i32")                      \
  X(LANES_I32, "lanes of i32")                       \
  X(ELEMENT, "a scalar of the first operand's type") \
  X(SPLAT, "lanes of the first operand's type")      \
  X(OBJECT, "a scalar of the object's type")         \
  X(OBJECT_LANES, "lanes of the object's type")

/* Kinds: PURE has no effect and reads no memory, so it may be folded, merged and dropped; READ and
 * GET depend on memory or a variable but may be dropped; EFFECT stays; OPEN, MIDDLE and CLOSE are
 * the markers that give a program its structure. */
#define WB_OP_KINDS(X) X(PURE) X(READ) X(GET) X(EFFECT) X(OPEN) X(MIDDLE) X(CLOSE)

#define WB_OPS(X)                                                    \
  /* sources: const has its value in imm, param its number in aux */ \
  X(CONST, "const", 0, NONE, DECLARED, PURE)                         \
  X(PARAM, "param", 0, NONE, DECLARED, PURE)                         \
  X(BOOK, "book", 0, NONE, SCALAR_I32, PURE)                         \
  X(LANE_ID, "lane_id", 0, NONE, LANES_I32, PURE)                    \
  /* arithmetic */                                                   \
  X(ADD, "add", 2, NUMERIC, SAME, PURE)                              \
  X(SUB, "sub", 2, NUMERIC, SAME, PURE)                              \
  X(MUL, "mul", 2, NUMERIC, SAME, PURE)                              \
  X(DIV, "div", 2, NUMERIC, SAME, PURE)                              \
  X(REM, "rem", 2, INT, SAME, PURE)                                  \
  X(UDIV, "udiv", 2, INT, SAME, PURE)                                \
  X(UREM, "urem", 2, INT, SAME, PURE)                                \
  X(UMULHI, "umulhi", 2, ALL_I32, SAME, PURE)                        \
  X(AND, "and", 2, BITS, SAME, PURE)                                 \
  X(OR, "or", 2, BITS, SAME, PURE)                                   \
  X(XOR, "xor", 2, BITS, SAME, PURE)                                 \
  X(NOT, "not", 1, BITS, SAME, PURE)                                 \
  X(SHL, "shl", 2, INT, SAME, PURE)                                  \
  X(SHR, "shr", 2, INT, SAME, PURE)                                  \
  X(SAR, "sar", 2, INT, SAME, PURE)                                  \
  X(MIN, "min", 2, NUMERIC, SAME, PURE)                              \
  X(MAX, "max", 2, NUMERIC, SAME, PURE)                              \
  X(UMIN, "umin", 2, INT, SAME, PURE)                                \
  X(UMAX, "umax", 2, INT, SAME, PURE)                                \
  X(CTZ, "ctz", 1, INT, SAME, PURE)                                  \
  X(CLZ, "clz", 1, INT, SAME, PURE)                                  \
  X(POPCNT, "popcnt", 1, INT, SAME, PURE)                            \
  X(SQRT, "sqrt", 1, ALL_F32, SAME, PURE)                            \
  X(FMA, "fma", 3, ALL_F32, SAME, PURE)                              \
  /* compare and select */                                           \
  X(EQ, "eq", 2, ANY, BOOL, PURE)                                    \
  X(NE, "ne", 2, ANY, BOOL, PURE)                                    \
  X(LT, "lt", 2, NUMERIC, BOOL, PURE)                                \
  X(LE, "le", 2, NUMERIC, BOOL, PURE)                                \
  X(ULT, "ult", 2, INT, BOOL, PURE)                                  \
  X(ULE, "ule", 2, INT, BOOL, PURE)                                  \
  X(SELECT, "select", 3, SELECT, SECOND, PURE)                       \
  /* conversions; bits and from_bits keep the 32 bits */             \
  X(SEXT, "sext", 1, ALL_I32, I64, PURE)                             \
  X(ZEXT, "zext", 1, ALL_I32, I64, PURE)                             \
  X(TRUNC, "trunc", 1, ALL_I64, I32, PURE)                           \
  X(FROM_BOOL, "from_bool", 1, ALL_BOOL, I32, PURE)                  \
  X(TO_F32, "to_f32", 1, INT, F32, PURE)                             \
  X(TO_I32, "to_i32", 1, ALL_F32, I32, PURE)                         \
  X(TO_BITS, "to_bits", 1, ALL_F32, I32, PURE)                       \
  X(FROM_BITS, "from_bits", 1, ALL_I32, F32, PURE)                   \
  /* lanes */                                                        \
  X(SPLAT, "splat", 1, SCALAR, SPLAT, PURE)                          \
  X(BALLOT, "ballot", 1, LANES_BOOL, SCALAR_I32, PURE)               \
  X(ANY, "any", 1, LANES_BOOL, SCALAR_BOOL, PURE)                    \
  X(ALL, "all", 1, LANES_BOOL, SCALAR_BOOL, PURE)                    \
  X(REDUCE_ADD, "reduce_add", 1, LANES_NUMERIC, ELEMENT, PURE)       \
  X(REDUCE_MIN, "reduce_min", 1, LANES_NUMERIC, ELEMENT, PURE)       \
  X(REDUCE_MAX, "reduce_max", 1, LANES_NUMERIC, ELEMENT, PURE)       \
  X(REDUCE_UMIN, "reduce_umin", 1, LANES_INT, ELEMENT, PURE)         \
  X(REDUCE_UMAX, "reduce_umax", 1, LANES_INT, ELEMENT, PURE)         \
  X(REDUCE_AND, "reduce_and", 1, LANES_INT, ELEMENT, PURE)           \
  X(REDUCE_OR, "reduce_or", 1, LANES_INT, ELEMENT, PURE)             \
  X(REDUCE_XOR, "reduce_xor", 1, LANES_INT, ELEMENT, PURE)           \
  X(SCAN_ADD, "scan_add", 1, LANES_INT, SAME, PURE)                  \
  X(EXTRACT, "extract", 2, EXTRACT, ELEMENT, PURE)                   \
  X(INSERT, "insert", 3, INSERT, SAME, PURE)                         \
  X(SHUFFLE, "shuffle", 2, SHUFFLE, SAME, PURE)                      \
  /* a promise: lo <= value <= hi, in every lane; gives the value */ \
  X(KNOWN, "known", 3, KNOWN, SAME, PURE)                            \
  /* memory; the object's number is in aux */                        \
  X(LOAD, "load", 1, INDEX, OBJECT, READ)                            \
  X(LOAD_ROW, "load_row", 1, INDEX, OBJECT_LANES, READ)              \
  X(GATHER, "gather", 1, LANE_INDEX, OBJECT_LANES, READ)             \
  X(STORE, "store", 2, INDEX_VALUE, NONE, EFFECT)                    \
  X(STORE_ROW, "store_row", 2, ROW_VALUE, NONE, EFFECT)              \
  X(STORE_ROW_IF, "store_row_if", 3, ROW_VALUE_MASK, NONE, EFFECT)   \
  X(STORE_LANES, "store_lanes", 3, LANES_MASK, NONE, EFFECT)         \
  X(SCATTER, "scatter", 2, LANE_INDEX_VALUE, NONE, EFFECT)           \
  /* variables: var's value is its first one and its id names it */  \
  X(VAR, "var", 1, ANY, SAME, EFFECT)                                \
  X(GET, "get", 1, GET, SAME, GET)                                   \
  X(SET, "set", 2, SET, NONE, EFFECT)                                \
  /* structure; see program.h */                                     \
  X(IF, "if", 1, CONDITION, NONE, OPEN)                              \
  X(ELSE, "else", 0, NONE, NONE, MIDDLE)                             \
  X(SWITCH, "switch", 1, SELECTOR, NONE, OPEN)                       \
  X(CASE, "case", 0, NONE, NONE, MIDDLE)                             \
  X(DEFAULT, "default", 0, NONE, NONE, MIDDLE)                       \
  X(WHILE, "while", 0, NONE, NONE, OPEN)                             \
  X(TEST, "test", 1, CONDITION, NONE, MIDDLE)                        \
  X(FOR, "for", 2, RANGE, SAME, OPEN)                                \
  X(BLOCK, "block", 0, NONE, NONE, OPEN)                             \
  X(LEAVE, "leave", 0, NONE, NONE, EFFECT)                           \
  X(END, "end", 0, NONE, NONE, CLOSE)

#define X(name, ...) WB_OP_##name,
typedef enum wb_opcode { WB_OPS(X) WB_OP_COUNT } wb_opcode;
#undef X
#define X(name, ...) WB_TYPE_##name,
typedef enum wb_type { WB_TYPES(X) WB_TYPE_COUNT } wb_type;
#undef X
#define X(name, ...) WB_SHAPE_##name,
typedef enum wb_shape { WB_SHAPES(X) WB_SHAPE_COUNT } wb_shape;
#undef X
#define X(name, ...) WB_ELEMENT_##name,
typedef enum wb_element { WB_ELEMENTS(X) WB_ELEMENT_COUNT } wb_element;
#undef X
#define X(name, ...) WB_OPERANDS_##name,
typedef enum wb_operand_rule { WB_OPERAND_RULES(X) WB_OPERANDS_COUNT } wb_operand_rule;
#undef X
#define X(name, ...) WB_RESULT_##name,
typedef enum wb_result_rule { WB_RESULT_RULES(X) WB_RESULT_COUNT } wb_result_rule;
#undef X
#define X(name) WB_KIND_##name,
typedef enum wb_op_kind { WB_OP_KINDS(X) WB_KIND_COUNT } wb_op_kind;
#undef X

enum { WB_OPERANDS_MAX = 3 };

/* One row of the table. */
typedef struct wb_op_info {
  const char *text;
  uint8_t operands; /* how many */
  uint8_t operand_rule;
  uint8_t result_rule;
  uint8_t kind;
} wb_op_info;

#endif

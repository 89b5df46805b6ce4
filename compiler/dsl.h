/* Short names for writing kernels: the builder's calls as a small language inside C.
 *
 *   #define WB_BUILDER k->builder           // how to reach the builder in scope; default: b
 *   #include "compiler/dsl.h"               // last, it defines short macros
 *
 *   static void reduce(book *k, record m) {
 *     slot s = find(k, m.side, m.ref);
 *     IF (s.found) {
 *       val left = sub(load_in(k->qty, s.index), m.qty);
 *       IF (gt(left, 0)) { store_in(k->qty, s.index, left); }
 *       ELSE             { take_out(k, s); }
 *     }
 *     ELSE { add_to(k->orphans, 0, 1); }
 *   }
 *
 * Every C function that records is inlined where it is called; C's own if, for and while run while
 * recording (specialisation, unrolling). The words in capitals are recorded:
 *
 *   IF (c) {...} ELSE_IF (d) {...} ELSE {...}        IF_LIKELY, IF_RARE guess where it goes
 *   SWITCH (v) { CASE (1) {...} CASE (2) {...} DEFAULT {...} }        no fall-through; CASE_RARE
 *   WHILE (c) {...}      c is recorded inside the loop: calls in it run again each round
 *   FOR (i, lo, hi) {...}                   i is a new value: lo, lo+1, ..., hi-1
 *   LOOP (l) {... LEAVE (l); ...}           for ever, until left
 *   BLOCK (l) {... LEAVE (l); ...}          LEAVE goes on behind the block
 *   WHILE_AS (l, c), FOR_AS (l, i, lo, hi)  loops that can be left
 *
 * Never jump out of such a block with C's return, break or goto: the builder would not see its end
 * (and says so). ELSE belongs to the IF that ended last before it: put braces around a nested IF, and chain
 * with ELSE_IF, not ELSE IF.
 *
 * Operands: values, variables (read where they stand), C numbers. `var x = variable(0)` makes a
 * variable, `assign(x, v)` sets it. See builder.h for how numbers are typed and scalars spread, and
 * ops.h for the meaning of each op. */
#ifndef WB_COMPILER_DSL_H
#define WB_COMPILER_DSL_H

#include "builder.h"

#ifndef WB_BUILDER
#define WB_BUILDER b
#endif

typedef wb_val val;
typedef wb_var var;
typedef wb_array array;
typedef wb_label label;

/* ---- values ---- */

#define WB_OP1(code, x)                                                            \
  wb_build_op(WB_BUILDER, WB_HERE, WB_OP_##code, WB_OPERAND(x), wb_operand_none(), \
              wb_operand_none())
#define WB_OP2(code, x, y) \
  wb_build_op(WB_BUILDER, WB_HERE, WB_OP_##code, WB_OPERAND(x), WB_OPERAND(y), wb_operand_none())
#define WB_OP3(code, x, y, z) \
  wb_build_op(WB_BUILDER, WB_HERE, WB_OP_##code, WB_OPERAND(x), WB_OPERAND(y), WB_OPERAND(z))

#define add(x, y)          WB_OP2(ADD, x, y)
#define sub(x, y)          WB_OP2(SUB, x, y)
#define mul(x, y)          WB_OP2(MUL, x, y)
#define divide(x, y)       WB_OP2(DIV, x, y)
#define remainder_of(x, y) WB_OP2(REM, x, y)
#define udiv(x, y)         WB_OP2(UDIV, x, y)
#define urem(x, y)         WB_OP2(UREM, x, y)
#define umulhi(x, y)       WB_OP2(UMULHI, x, y)
#define bit_and(x, y)      WB_OP2(AND, x, y)
#define bit_or(x, y)       WB_OP2(OR, x, y)
#define bit_xor(x, y)      WB_OP2(XOR, x, y)
#define bit_not(x)         WB_OP1(NOT, x)
/* on bool: both sides are evaluated, there is no short cut */
#define both(x, y)     WB_OP2(AND, x, y)
#define either(x, y)   WB_OP2(OR, x, y)
#define not_(x)        WB_OP1(NOT, x)
#define shl(x, y)      WB_OP2(SHL, x, y)
#define shr(x, y)      WB_OP2(SHR, x, y)
#define sar(x, y)      WB_OP2(SAR, x, y)
#define min(x, y)      WB_OP2(MIN, x, y)
#define max(x, y)      WB_OP2(MAX, x, y)
#define umin(x, y)     WB_OP2(UMIN, x, y)
#define umax(x, y)     WB_OP2(UMAX, x, y)
#define neg(x)         wb_build_neg(WB_BUILDER, WB_HERE, WB_OPERAND(x))
#define absolute(x)    wb_build_abs(WB_BUILDER, WB_HERE, WB_OPERAND(x))
#define ctz(x)         WB_OP1(CTZ, x)
#define clz(x)         WB_OP1(CLZ, x)
#define popcnt(x)      WB_OP1(POPCNT, x)
#define square_root(x) WB_OP1(SQRT, x)
#define fused(x, y, z) WB_OP3(FMA, x, y, z)

#define eq(x, y)        WB_OP2(EQ, x, y)
#define ne(x, y)        WB_OP2(NE, x, y)
#define lt(x, y)        WB_OP2(LT, x, y)
#define le(x, y)        WB_OP2(LE, x, y)
#define gt(x, y)        WB_OP2(LT, y, x)
#define ge(x, y)        WB_OP2(LE, y, x)
#define ult(x, y)       WB_OP2(ULT, x, y)
#define ule(x, y)       WB_OP2(ULE, x, y)
#define ugt(x, y)       WB_OP2(ULT, y, x)
#define uge(x, y)       WB_OP2(ULE, y, x)
#define choose(c, x, y) WB_OP3(SELECT, c, x, y) /* x where c, else y; both are evaluated */

/* conversions, from whatever x is; constants of a type: i64(0) */
#define i32(x)           wb_build_i32(WB_BUILDER, WB_HERE, WB_OPERAND(x))
#define i64(x)           wb_build_i64(WB_BUILDER, WB_HERE, WB_OPERAND(x)) /* signed */
#define u64(x)           wb_build_u64(WB_BUILDER, WB_HERE, WB_OPERAND(x)) /* i64, upper half 0 */
#define f32(x)           wb_build_f32(WB_BUILDER, WB_HERE, WB_OPERAND(x))
#define truth(x)         wb_build_bool(WB_BUILDER, WB_HERE, WB_OPERAND(x))
#define to_bits(x)       WB_OP1(TO_BITS, x)
#define from_bits(x)     WB_OP1(FROM_BITS, x)
#define value(x)         wb_build_value(WB_BUILDER, WB_HERE, WB_OPERAND(x))
#define known(x, lo, hi) wb_build_known(WB_BUILDER, WB_HERE, WB_OPERAND(x), (lo), (hi))

/* lanes */
#define splat(x) WB_OP1(SPLAT, x)
#define lane_id()                                                                       \
  wb_build_op(WB_BUILDER, WB_HERE, WB_OP_LANE_ID, wb_operand_none(), wb_operand_none(), \
              wb_operand_none())
#define book_index()                                                                 \
  wb_build_op(WB_BUILDER, WB_HERE, WB_OP_BOOK, wb_operand_none(), wb_operand_none(), \
              wb_operand_none())
#define ballot(x)          WB_OP1(BALLOT, x)
#define any(x)             WB_OP1(ANY, x)
#define all(x)             WB_OP1(ALL, x)
#define reduce_add(x)      WB_OP1(REDUCE_ADD, x)
#define reduce_min(x)      WB_OP1(REDUCE_MIN, x)
#define reduce_max(x)      WB_OP1(REDUCE_MAX, x)
#define reduce_umin(x)     WB_OP1(REDUCE_UMIN, x)
#define reduce_umax(x)     WB_OP1(REDUCE_UMAX, x)
#define reduce_and(x)      WB_OP1(REDUCE_AND, x)
#define reduce_or(x)       WB_OP1(REDUCE_OR, x)
#define reduce_xor(x)      WB_OP1(REDUCE_XOR, x)
#define scan_add(x)        WB_OP1(SCAN_ADD, x)
#define extract(x, lane)   WB_OP2(EXTRACT, x, lane)
#define insert(x, lane, v) WB_OP3(INSERT, x, lane, v)
#define shuffle(x, from)   WB_OP2(SHUFFLE, x, from)
/* number of the first lane where m holds, 32 if there is none */
#define first_lane(m) ctz(ballot(m))
/* number of the lane with the least or greatest element; the lowest of several */
#define lane_of_min(x) wb_build_lane_of_min(WB_BUILDER, WB_HERE, WB_OPERAND(x))
#define lane_of_max(x) wb_build_lane_of_max(WB_BUILDER, WB_HERE, WB_OPERAND(x))

/* ---- what a launch gives ---- */
#define WB_BUFFER(name, element, shared, writable) \
  wb_build_buffer(WB_BUILDER, WB_HERE, name, WB_ELEMENT_##element, shared, writable, 0)
#define buffer_shared(name, element)       WB_BUFFER(name, element, true, false)
#define buffer_shared_out(name, element)   WB_BUFFER(name, element, true, true)
#define buffer_per_book(name, element)     WB_BUFFER(name, element, false, false)
#define buffer_per_book_out(name, element) WB_BUFFER(name, element, false, true)
#define view(a, element)                   wb_build_view(WB_BUILDER, WB_HERE, a, WB_ELEMENT_##element)
/* of a per-book buffer: parts start at multiples of n elements */
#define grouped(a, n)   wb_build_group(WB_BUILDER, WB_HERE, a, n)
#define param_i32(name) wb_build_param(WB_BUILDER, WB_HERE, name, WB_TYPE_I32)
#define param_i64(name) wb_build_param(WB_BUILDER, WB_HERE, name, WB_TYPE_I64)
#define param_f32(name) wb_build_param(WB_BUILDER, WB_HERE, name, WB_TYPE_F32)

/* ---- memory; the forms with _in promise that the index is in range ---- */
#define load(a, i)        wb_build_load(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), false)
#define load_in(a, i)     wb_build_load(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), true)
#define store(a, i, v)    wb_build_store(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), WB_OPERAND(v), false)
#define store_in(a, i, v) wb_build_store(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), WB_OPERAND(v), true)
#define load_row(a, r)    wb_build_load_row(WB_BUILDER, WB_HERE, a, WB_OPERAND(r), false)
#define load_row_in(a, r) wb_build_load_row(WB_BUILDER, WB_HERE, a, WB_OPERAND(r), true)
#define store_row(a, r, v) \
  wb_build_store_row(WB_BUILDER, WB_HERE, a, WB_OPERAND(r), WB_OPERAND(v), wb_operand_none(), false)
#define store_row_in(a, r, v) \
  wb_build_store_row(WB_BUILDER, WB_HERE, a, WB_OPERAND(r), WB_OPERAND(v), wb_operand_none(), true)
/* only the lanes where m holds */
#define store_row_if(a, r, v, m) \
  wb_build_store_row(WB_BUILDER, WB_HERE, a, WB_OPERAND(r), WB_OPERAND(v), WB_OPERAND(m), false)
#define store_row_if_in(a, r, v, m) \
  wb_build_store_row(WB_BUILDER, WB_HERE, a, WB_OPERAND(r), WB_OPERAND(v), WB_OPERAND(m), true)
/* neighbours: lane l to element i + l, only the lanes where m holds */
#define store_lanes_if(a, i, v, m) \
  wb_build_store_lanes(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), WB_OPERAND(v), WB_OPERAND(m), false)
#define store_lanes_if_in(a, i, v, m) \
  wb_build_store_lanes(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), WB_OPERAND(v), WB_OPERAND(m), true)
#define gather(a, i)    wb_build_gather(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), false)
#define gather_in(a, i) wb_build_gather(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), true)
#define scatter(a, i, v) \
  wb_build_scatter(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), WB_OPERAND(v), false)
#define scatter_in(a, i, v) \
  wb_build_scatter(WB_BUILDER, WB_HERE, a, WB_OPERAND(i), WB_OPERAND(v), true)
/* the cell of an array of length 1 */
#define cell(a)        load(a, 0)
#define set_cell(a, v) store(a, 0, v)
/* memory += v */
#define add_to(a, i, v)    store(a, i, add(load(a, i), v))
#define add_to_in(a, i, v) store_in(a, i, add(load_in(a, i), v))

/* ---- variables ---- */
#define variable(first) wb_build_var(WB_BUILDER, WB_HERE, WB_OPERAND(first))
#define assign(x, v)    wb_build_set(WB_BUILDER, WB_HERE, x, WB_OPERAND(v))

/* ---- structure ---- */
/* runs the statement behind it once, between two recorded markers */
#define WB_ONCE(open, close)     WB_ONCE_(open, close, WB_JOIN(wb_once_, __COUNTER__))
#define WB_ONCE_(open, close, t) for (int t = ((void)(open), 1); t != 0; t = ((void)(close), 0))
#define WB_CLOSE                 wb_build_end(WB_BUILDER, WB_HERE)

#define WB_IF(c, hint) WB_ONCE(wb_build_if(WB_BUILDER, WB_HERE, WB_OPERAND(c), hint), WB_CLOSE)
#define IF(c)          WB_IF(c, WB_HINT_NONE)
#define IF_LIKELY(c)   WB_IF(c, WB_HINT_LIKELY)
#define IF_RARE(c)     WB_IF(c, WB_HINT_RARE)
#define ELSE           WB_ONCE(wb_build_else(WB_BUILDER, WB_HERE), WB_CLOSE)
/* the condition is recorded in the else branch: its work is not done where an earlier one held */
#define ELSE_IF(c)                                                              \
  WB_ONCE((wb_build_else(WB_BUILDER, WB_HERE),                                  \
           wb_build_else_if(WB_BUILDER, WB_HERE, WB_OPERAND(c), WB_HINT_NONE)), \
          WB_CLOSE)

#define SWITCH(v)        WB_ONCE(wb_build_switch(WB_BUILDER, WB_HERE, WB_OPERAND(v)), WB_CLOSE)
#define WB_CASE(k, hint) WB_ONCE(wb_build_case(WB_BUILDER, WB_HERE, (k), hint), 0)
#define CASE(k)          WB_CASE(k, WB_HINT_NONE)
#define CASE_LIKELY(k)   WB_CASE(k, WB_HINT_LIKELY)
#define CASE_RARE(k)     WB_CASE(k, WB_HINT_RARE)
#define DEFAULT          WB_ONCE(wb_build_default(WB_BUILDER, WB_HERE, WB_HINT_NONE), 0)

#define WB_LABELLED(l, open, first) WB_LABELLED_(l, open, first, WB_JOIN(wb_once_, __COUNTER__))
#define WB_LABELLED_(l, open, first, t) \
  for (wb_label l = (open), t = {((void)(first), 1)}; (void)l, t.id != 0; WB_CLOSE, t.id = 0)
#define WB_COUNTED(i, open, t) \
  for (wb_val i = (open), t = {1}; (void)i, t.id != 0; WB_CLOSE, t.id = 0)

#define WHILE(c)                                                                                \
  WB_ONCE(                                                                                      \
      (wb_build_while(WB_BUILDER, WB_HERE), wb_build_test(WB_BUILDER, WB_HERE, WB_OPERAND(c))), \
      WB_CLOSE)
#define WHILE_AS(l, c)                                \
  WB_LABELLED(l, wb_build_while(WB_BUILDER, WB_HERE), \
              wb_build_test(WB_BUILDER, WB_HERE, WB_OPERAND(c)))
#define LOOP(l)                                       \
  WB_LABELLED(l, wb_build_while(WB_BUILDER, WB_HERE), \
              wb_build_test(WB_BUILDER, WB_HERE, wb_operand_signed(1)))
#define BLOCK(l) WB_LABELLED(l, wb_build_block(WB_BUILDER, WB_HERE), 0)
#define FOR(i, lo, hi)                                                             \
  WB_COUNTED(i, wb_build_for(WB_BUILDER, WB_HERE, WB_OPERAND(lo), WB_OPERAND(hi)), \
             WB_JOIN(wb_once_, __COUNTER__))
/* the count of a loop is also its label */
#define FOR_AS(l, i, lo, hi)                                                   \
  FOR (i, lo, hi)                                                              \
    for (wb_label l = wb_label_of(i), WB_JOIN(wb_label_once_, __LINE__) = {1}; \
         (void)l, WB_JOIN(wb_label_once_, __LINE__).id != 0;                   \
         WB_JOIN(wb_label_once_, __LINE__).id = 0)
#define LEAVE(l) wb_build_leave(WB_BUILDER, WB_HERE, (l))

/* ---- array reductions: one pass over `rows` rows ----
 * rows_add(r, rows, i64(0), choose(eq(load_row(price, r), p), i64(load_row(qty, r)), 0)) sums the
 * quantity at price p. r is the row in `lanes`, an expression of lanes; `first` is the scalar that
 * every lane starts with: for rows_add count it once per lane (0, as a rule). */
#define WB_ROWS(combine, reduce, r, rows, first, lanes)                   \
  __extension__({                                                         \
    wb_var WB_JOIN(wb_rows_, r) = variable(splat(first));                 \
    FOR (r, 0, rows) {                                                    \
      assign(WB_JOIN(wb_rows_, r), combine(WB_JOIN(wb_rows_, r), lanes)); \
    }                                                                     \
    reduce(WB_JOIN(wb_rows_, r));                                         \
  })
#define rows_add(r, rows, first, lanes) WB_ROWS(add, reduce_add, r, rows, first, lanes)
#define rows_min(r, rows, first, lanes) WB_ROWS(min, reduce_min, r, rows, first, lanes)
#define rows_max(r, rows, first, lanes) WB_ROWS(max, reduce_max, r, rows, first, lanes)
#define rows_any(r, rows, lanes) \
  WB_ROWS(either, any, r, rows, wb_build_const(WB_BUILDER, WB_HERE, WB_TYPE_BOOL, 0), lanes)

#endif

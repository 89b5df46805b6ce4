/* What the builder's files share. */
#ifndef WB_COMPILER_BUILD_H
#define WB_COMPILER_BUILD_H

#include "compiler/builder.h"
#include "compiler/internal.h"

struct wb_builder {
  wb_program *program;
  wb_scope scope;
  wb_error error; /* the first mistake */
  /* the frames that ended last and together, outermost first: an else reopens them */
  wb_frame ended[WB_DEPTH_MAX];
  int32_t ended_count, ended_at; /* valid while ended_at is the number of ops */
};

/* An op with nothing filled in. */
wb_op wb_op_blank(wb_opcode code);
/* Checks an op, gives it its result type and call site, records it. */
wb_val wb_emit(wb_builder *b, wb_site site, wb_op op);
/* Puts the call site in front of the first mistake's text. */
void wb_locate(wb_builder *b, wb_site site);

bool wb_is_number(wb_operand x);
/* The type a number has when nothing says otherwise. */
wb_type wb_number_type(wb_operand x);
/* A constant of that type from a number; `op` is for the message. */
wb_val wb_number(wb_builder *b, wb_site site, wb_operand x, wb_type type, const char *op);
/* A value from any operand: numbers get `type`, scalars are spread if `shape` is lanes. */
wb_val wb_typed(wb_builder *b, wb_site site, wb_operand x, wb_type type, wb_shape shape,
                const char *op);
wb_val wb_spread(wb_builder *b, wb_site site, wb_val v, wb_shape shape);

wb_val wb_op1(wb_builder *b, wb_site site, wb_opcode code, wb_val x);
wb_val wb_op2(wb_builder *b, wb_site site, wb_opcode code, wb_val x, wb_val y);

#endif

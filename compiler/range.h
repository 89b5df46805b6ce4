/* What range analysis finds out, for the pass that uses it and the test that checks it. */
#ifndef WB_COMPILER_RANGE_H
#define WB_COMPILER_RANGE_H

#include "compiler/program.h"

/* The integer values an op can make, in any lane; lo > hi: none. */
typedef struct wb_interval {
  int64_t lo, hi;
} wb_interval;

/* Fills ranges[0 .. op_count-1]; those of variables cover all that is ever put into them. */
void wb_range_find(const wb_program *program, wb_interval *ranges);

#endif

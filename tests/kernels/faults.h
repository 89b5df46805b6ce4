/* Faults planted in the message program, to test the tests.
 *
 * A fault is a small change of the recorded program at one place of the kernels' source: an op is
 * dropped, or its opcode, its operands or its result changed. The place is named by file and text, so
 * that the kernels carry nothing of it; a text that is no longer there is an error. */
#ifndef WB_TESTS_KERNELS_FAULTS_H
#define WB_TESTS_KERNELS_FAULTS_H

#include "base/status.h"
#include "compiler/program.h"

#include <stdint.h>

int32_t fault_count(void);
const char *fault_name(int32_t number); /* what was forgotten or done wrong */

/* A diff_mutation; `context` is an int32_t *, the fault's number. */
wb_status fault_plant(void *context, wb_program *program, wb_error *error);

#endif

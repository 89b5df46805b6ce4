/* How large a book a tape needs. */
#ifndef WB_SIM_MEASURE_H
#define WB_SIM_MEASURE_H

#include "../base/rules.h"
#include "../base/status.h"
#include "../data/tape.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The most orders that one side ever holds when the tape runs by these rules without a capacity (base
 * and tick are the tape's). A reader's own count is taken where it holds: for history alone, under
 * the policies that do everything to the named order. Else the CPU reference runs the tape once. Safe
 * from several threads. WB_ERROR_ARGUMENT for bad rules or a seed that cannot rest; WB_ERROR_MEMORY. */
WB_API wb_status wb_tape_measure_side(const wb_tape *tape, const wb_book_rules *rules,
                                      int64_t *orders, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

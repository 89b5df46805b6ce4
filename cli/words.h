/* Records, prices and book rows in words. */
#ifndef WB_CLI_WORDS_H
#define WB_CLI_WORDS_H

#include "common.h"
#include "data/tape.h"
#include "sim/replay.h"

/* A price as the source writes it, in units; "none" for WB_NO_PRICE. */
const char *cli_price_text(const wb_tape *tape, int32_t price, char text[CLI_TEXT_BYTES]);

/* "100 at 5852200", "nothing". */
const char *cli_cell_text(const wb_tape *tape, int32_t price, int64_t qty,
                          char text[CLI_TEXT_BYTES]);

/* One line: index, type, side, order, what it asks for, flags. */
void cli_print_record(FILE *stream, const wb_tape *tape, int64_t index);

/* One line: the source's message, as its file has it and in words. */
void cli_print_message(FILE *stream, const wb_tape *tape, int64_t row);

/* The exchange's id of an order; 0 if it has none. */
int64_t cli_order_id(const wb_tape *tape, int32_t ref);

const char *cli_side_name(wb_side side);

#endif

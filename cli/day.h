/* A day and the book that it runs through: what replay and compare share. */
#ifndef WB_CLI_DAY_H
#define WB_CLI_DAY_H

#include "input.h"
#include "rules.h"

typedef struct cli_day {
  cli_input input;
  cli_run book;
} cli_day;

/* A child parser whose input is a cli_day, its book filled with defaults by the caller: INPUT, ORDERBOOK,
 * and the options of reading and of the book. */
extern const struct argp cli_day_argp;

/* Reads the tape and prints what is wrong, as cli_input_read; a --to before which there is nothing is. */
int cli_day_read(cli_day *day, wb_tape **tape);

#endif

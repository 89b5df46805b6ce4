/* warpbook export: a day back as LOBSTER's two CSV files. */
#include "common.h"
#include "input.h"
#include "interrupt.h"
#include "summary.h"

#include "data/lobster.h"

#include <inttypes.h>

typedef struct arguments {
  cli_input input;
  const char *folder;
} arguments;

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  arguments *line = state->input;
  if (key == ARGP_KEY_INIT) {
    state->child_inputs[0] = &line->input;
    return 0;
  }
  return cli_input_and_output(key, argument, state, &line->input, &line->folder, "FOLDER");
}

static const struct argp_child children[] = {{&cli_input_argp, 0, NULL, 1}, {0}};

static const struct argp parser = {
    .parser = parse_option,
    .args_doc = "INPUT [ORDERBOOK] FOLDER",
    .doc =
        "Writes a day as LOBSTER's message file and orderbook file into a folder, which is made "
        "if it is missing. The files are those that the day was read from, byte for byte, but "
        "for what a reader forgives: byte order mark, header, line ends, a missing last newline.\v"
        "Exit status: 0, or 2 if something could not be done.",
    .children = children,
};

static wb_status write_files(const wb_tape *tape, const char *folder, wb_error *error) {
  wb_lobster_files files;
  interrupt_hold();
  wb_status status = wb_lobster_export_open(tape, folder, &files, error);
  interrupt_add(wb_output_temporary(files.messages));
  interrupt_add(wb_output_temporary(files.orderbook));
  interrupt_release();
  if (status != WB_OK) {
    return status;
  }
  status = wb_lobster_export_write(tape, &files, error);
  interrupt_hold();
  interrupt_take_out(wb_output_temporary(files.messages));
  interrupt_take_out(wb_output_temporary(files.orderbook));
  bool keep = status == WB_OK;
  wb_status closed = wb_lobster_export_close(&files, keep, keep ? error : NULL);
  interrupt_release();
  return keep ? closed : status;
}

int cli_export(int argc, char **argv) {
  arguments line = {0};
  wb_tape *tape = NULL;
  wb_error error;
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  int status = cli_input_read(&line.input, &tape);
  if (status != CLI_OK) {
    return status;
  }
  if (write_files(tape, line.folder, &error) != WB_OK) {
    status = cli_fail(&error);
  } else {
    cli_print_tape_head(stdout, tape);
    cli_line(stdout, "written", "%" PRId64 " rows, %d levels, into %s", tape->row_count,
             tape->levels, line.folder);
  }
  wb_tape_free(tape);
  return status;
}

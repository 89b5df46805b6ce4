/* An output file of a command, or standard output where the user says so. */
#ifndef WB_CLI_OUTPUT_H
#define WB_CLI_OUTPUT_H

#include "common.h"
#include "data/output.h"

typedef struct cli_output {
  bool wanted, standard; /* standard: goes to stdout as it comes */
  wb_output *file;
  char *scratch; /* of a line on its way to stdout */
  size_t scratch_bytes;
} cli_output;

/* Whether the name stands for standard output: "-" and what the system calls it. */
bool cli_output_is_standard(const char *path);

/* Whether two outputs would get the same name, however it is written. */
bool cli_output_is_same(const char *left, const char *right);

/* `path` NULL: nothing is wanted. An output of zero bytes ({0}) is not wanted either. */
wb_status cli_output_open(cli_output *output, const char *path, wb_error *error);

/* Room for `bytes` of text, then how many of them are text. */
wb_status cli_output_room(cli_output *output, size_t bytes, char **room, wb_error *error);
wb_status cli_output_advance(cli_output *output, size_t used, wb_error *error);

/* Brings the content to the disk; then gives it its name. Close discards where `keep` is false. An
 * interrupt before that removes what there is. */
wb_status cli_output_sync(cli_output *output, wb_error *error);
wb_status cli_output_close(cli_output *output, bool keep, wb_error *error);

/* Syncs and closes what was written with `status`, and discards it unless that is WB_OK; the first
 * failure. */
wb_status cli_output_end(cli_output *output, wb_status status, wb_error *error);

#endif

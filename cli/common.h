/* What all commands share: exit statuses, error lines, numbers and times as a user writes them.
 *
 * An exit status of 1 says that data differ; whatever cannot be done is 2 with one line on stderr
 * that begins with "warpbook: ". */
#ifndef WB_CLI_COMMON_H
#define WB_CLI_COMMON_H

#include "base/status.h"

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { CLI_OK = 0, CLI_DIFFERENT = 1, CLI_ERROR = 2 };

typedef int cli_command(int argc, char **argv);
cli_command cli_replay, cli_compare, cli_convert, cli_export, cli_info, cli_devices, cli_kernels,
    cli_env;

/* Prints the line and returns CLI_ERROR. */
int cli_fail(const wb_error *error);

/* Parses a whole argument; says what was expected through argp_error (which exits with 2). */
int64_t cli_integer(const struct argp_state *state, const char *option, const char *text,
                    int64_t least, int64_t most);
int64_t cli_time(const struct argp_state *state, const char *option, const char *text);

/* The index of `text` in a list that ends in NULL. */
int cli_choice(const struct argp_state *state, const char *option, const char *text,
               const char *const *names);

/* 10:15, 10:15:30.5 or seconds after midnight, up to 24:00, at most nine decimals. */
bool cli_time_parse(const char *text, int64_t *time_ns);

enum { CLI_TEXT_BYTES = 64 };

/* HH:MM:SS with the decimals that there are; and LOBSTER's seconds after midnight. */
const char *cli_clock_text(int64_t time_ns, char text[CLI_TEXT_BYTES]);
const char *cli_seconds_text(int64_t time_ns, char text[CLI_TEXT_BYTES]);

/* An enumerator's name in lower case. */
const char *cli_lower(const char *name, char text[CLI_TEXT_BYTES]);

double cli_now(void); /* seconds, from any start */

/* A name or a text of a user's as JSON, null for NULL. File names may be any bytes and JSON is UTF-8:
 * where it is not that, each byte beyond ASCII is shown as '?'. */
json_t *cli_json_text(const char *text);

/* Writes `object` (whose reference is taken; NULL: memory ran out) to stdout. */
int cli_print_json(json_t *object);

#endif

/* Texts that came from a file, on their way to a terminal. */
#ifndef WB_CLI_TEXT_H
#define WB_CLI_TEXT_H

#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

/* Prints a text so that no terminal takes a part of it for a command: control characters and bytes
 * that are no UTF-8 as \n, \t, \r or \xNN. */
void cli_print_text(FILE *stream, const char *text);

/* The same for a text made like by printf. */
void cli_print_format(FILE *stream, const char *format, ...) WB_PRINTF(2, 3);
void cli_print_arguments(FILE *stream, const char *format, va_list arguments);

#endif

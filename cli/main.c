/* The program warpbook: finds the command and hands the rest of the line to it. */
#define _GNU_SOURCE
#include "common.h"
#include "interrupt.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct command {
  const char *name;
  cli_command *run;
  const char *summary;
} command;

static const command commands[] = {
    {"replay", cli_replay, "replay a day and prove that every row equals the book file"},
    {"compare", cli_compare, "show the first row where the replay and the book file differ"},
    {"convert", cli_convert, "store a day, or all days of an archive, as .h5"},
    {"export", cli_export, "write a day back as LOBSTER's two CSV files"},
    {"devices", cli_devices, "list the devices that books can run on"},
    {"kernels", cli_kernels, "show what is compiled, and what becomes of it"},
    {"env", cli_env, "list, describe and run batches of trading environments"},
    {"info", cli_info, "tell what is in a file, an archive or a store"},
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static const command *find_command(const char *name) {
  for (int i = 0; i < COMMAND_COUNT; i++) {
    if (strcmp(commands[i].name, name) == 0) {
      return &commands[i];
    }
  }
  return NULL;
}

/* The list of commands goes between the options and the rest of the help. */
static char *filter_help(int key, const char *text, void *input) {
  (void)input;
  if (key != ARGP_KEY_HELP_POST_DOC) {
    return (char *)text;
  }
  char *list = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&list, &size);
  if (stream == NULL) {
    return (char *)text;
  }
  (void)fputs("Commands:\n", stream);
  for (int i = 0; i < COMMAND_COUNT; i++) {
    (void)fprintf(stream, "  %-8s %s\n", commands[i].name, commands[i].summary);
  }
  (void)fprintf(stream, "\n%s", text);
  return fclose(stream) == 0 ? list : (char *)text;
}

typedef struct arguments {
  char *command; /* NULL: none */
  int at;        /* its index in argv */
} arguments;

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  arguments *line = state->input;
  if (key == ARGP_KEY_ARG) {
    /* the rest is the command's */
    line->command = argument;
    line->at = state->next - 1;
    state->next = state->argc;
    return 0;
  }
  if (key == ARGP_KEY_NO_ARGS) {
    argp_error(state, "a command is missing");
  }
  return ARGP_ERR_UNKNOWN;
}

static const struct argp parser = {
    .parser = parse_option,
    .args_doc = "COMMAND [ARGUMENT...]",
    .doc =
        "Replays recorded days of a limit order book, exactly.\v"
        "`warpbook COMMAND --help' tells the options of a command. Every command that reads takes "
        "a LOBSTER message file (its orderbook file is found by name), an archive of such files "
        "(.zip, .7z, .gz) or a store (.h5); - is standard input, for text and .gz.\n\n"
        "Exit status: 0 if all is well, 1 if a row differs or is contradicted, 2 if something "
        "could not be done.",
    .help_filter = filter_help,
};

static int fail_unknown(const char *name) {
  cli_print_format(stderr, "warpbook: unknown command \"%s\"; expected", name);
  for (int i = 0; i < COMMAND_COUNT; i++) {
    (void)fprintf(stderr, "%s %s",
                  i == 0                  ? ""
                  : i + 1 < COMMAND_COUNT ? ","
                                          : " or",
                  commands[i].name);
  }
  (void)fputs("\nTry `warpbook --help' for more information.\n", stderr);
  return CLI_ERROR;
}

static int run_command(const command *found, int argc, char **argv) {
  /* argp names the program by this in its messages */
  char name[64];
  (void)snprintf(name, sizeof name, "warpbook %s", found->name);
  argv[0] = name;
  return found->run(argc, argv);
}

/* A file that is opened where one of the standard ones is missing would take its number, and what is
 * printed there would land in it. So something stands in, from which printing fails as it should. */
static void open_missing(void) {
  for (int file = 0; file <= 2; file++) {
    if (fcntl(file, F_GETFD) < 0 && errno == EBADF) {
      (void)open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}

static int exit_status; /* CLI_ERROR: something was said already */

/* What was printed must have reached its file: a full disk is not silence. Also where argp ends the
 * program after a help text. */
static void close_output(void) {
  bool failed = ferror(stdout) != 0;
  if (fclose(stdout) != 0 || failed) {
    if (exit_status != CLI_ERROR) {
      (void)fprintf(stderr, "warpbook: standard output: cannot write it: %s\n", strerror(errno));
    }
    _exit(CLI_ERROR);
  }
}

int main(int argc, char **argv) {
  /* a write past a file size limit is an error to report, not a reason to die half way */
  (void)signal(SIGXFSZ, SIG_IGN);
  open_missing();
  interrupt_catch();
  (void)atexit(close_output);
  argp_err_exit_status = CLI_ERROR;
  argp_program_version = "warpbook " WB_VERSION;
  arguments line = {0};
  char name[] = "warpbook";
  if (argc > 0) {
    argv[0] = name;
  }
  argp_parse(&parser, argc, argv, ARGP_IN_ORDER, NULL, &line);
  if (line.command == NULL) {
    return CLI_ERROR;
  }
  const command *found = find_command(line.command);
  if (found == NULL) {
    return fail_unknown(line.command);
  }
  exit_status = run_command(found, argc - line.at, argv + line.at);
  return exit_status;
}

/* warpbook convert: a day, or every day of an archive, as a store. */
#include "common.h"
#include "input.h"
#include "output.h"
#include "summary.h"

#include "data/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY_ALL = 0x500 };

typedef struct arguments {
  cli_input input;
  const char *output;
  bool all;
} arguments;

static const struct argp_option options[] = {
    {"all", KEY_ALL, NULL, 0, "every day of an archive; OUTPUT is a folder", 0},
    {0},
};

static bool is_store_name(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot != NULL && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

static void check_arguments(const arguments *line, const struct argp_state *state) {
  if (!line->all && !is_store_name(line->output)) {
    argp_error(state, "OUTPUT: expected a name that ends in .h5, got \"%s\"", line->output);
  }
  if (line->all &&
      (line->input.options.orderbook_path != NULL || line->input.options.member != NULL)) {
    argp_error(state, "--all: expected no ORDERBOOK and no --member");
  }
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  arguments *line = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &line->input; return 0;
  case KEY_ALL: line->all = true; return 0;
  case ARGP_KEY_SUCCESS: check_arguments(line, state); return 0;
  default: return cli_input_and_output(key, argument, state, &line->input, &line->output, "OUTPUT");
  }
}

static const struct argp_child children[] = {{&cli_input_argp, 0, NULL, 1}, {0}};

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "INPUT [ORDERBOOK] OUT.h5\n--all INPUT FOLDER",
    .doc = "Reads a day and stores it as .h5: the records, the book that they start from, the "
           "source's own rows and the order ids.\v"
           "The store is written under a temporary name and renamed when it is whole. With --all "
           "each store has its message file's name without _message, and ends in .h5.\n\n"
           "Exit status: 0, or 2 if something could not be done.",
    .children = children,
};

static wb_status write_store(const wb_tape *tape, const char *path, wb_error *error) {
  cli_output output;
  wb_status status = cli_output_open(&output, path, error);
  if (status == WB_OK) {
    status = wb_store_write_output(tape, output.file, error);
  }
  return cli_output_end(&output, status, error);
}

static int convert_day(cli_input *input, const char *path) {
  wb_error error;
  wb_tape *tape = NULL;
  int status = cli_input_read(input, &tape);
  if (status != CLI_OK) {
    return status;
  }
  if (cli_input_is_source(input, tape, path)) {
    (void)WB_FAIL(&error, WB_ERROR_ARGUMENT, "%s is what the day was read from", path);
    status = cli_fail(&error);
  } else if (write_store(tape, path, &error) != WB_OK) {
    status = cli_fail(&error);
  } else {
    cli_print_tape_head(stdout, tape);
    cli_line(stdout, "written", "%" PRId64 " records, %" PRId64 " rows, into %s",
             tape->record_count, tape->row_count, path);
    cli_print_findings(stdout, tape, 5);
  }
  wb_tape_free(tape);
  return status;
}

/* Behind which the rest of a message file's name begins; the last one, as for its partner's name. */
static const char *find_mark(const char *name, const char *mark) {
  const char *found = NULL;
  for (const char *at = name; (at = strstr(at, mark)) != NULL; at++) {
    found = at;
  }
  return found;
}

/* FOLDER/AAPL_2012-06-21_34200000_57600000_1.h5 from what the archive calls the message file. */
static char *store_name(const char *folder, const char *member) {
  static const char mark[] = "_message";
  const char *slash = strrchr(member, '/');
  const char *name = slash != NULL ? slash + 1 : member;
  const char *cut = find_mark(name, mark);
  size_t bytes = strlen(folder) + strlen(name) + 8;
  char *path = malloc(bytes);
  if (path == NULL) {
    return NULL;
  }
  int stem = cut != NULL ? (int)(cut - name) : (int)strlen(name);
  const char *rest = cut != NULL ? cut + sizeof mark - 1 : "";
  const char *dot = strrchr(rest, '.');
  int tail = dot != NULL ? (int)(dot - rest) : (int)strlen(rest);
  (void)snprintf(path, bytes, "%s/%.*s%.*s.h5", folder, stem, name, tail, rest);
  return path;
}

static void free_names(char **names, int32_t count) {
  for (int32_t i = 0; names != NULL && i < count; i++) {
    free(names[i]);
  }
  free(names);
}

/* One store's path for each day. Days in different folders of an archive may share a name: then the
 * later store would replace the earlier one. */
static wb_status store_names(const arguments *line, const wb_input_list *list, char ***names,
                             wb_error *error) {
  char **made = calloc((size_t)list->count + 1, sizeof *made);
  wb_status status = WB_OK;
  *names = made;
  for (int32_t i = 0; i < list->count && status == WB_OK; i++) {
    if (made != NULL) {
      made[i] = store_name(line->output, list->entries[i].message_name);
    }
    if (made == NULL || made[i] == NULL) {
      status = WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the names of the stores");
    }
    for (int32_t j = 0; j < i && status == WB_OK; j++) {
      if (strcmp(made[j], made[i]) == 0) {
        status = WB_FAIL(error, WB_ERROR_ARGUMENT,
                         "%s: --all: expected a name of its own for each store, got %s for %s and "
                         "%s: convert them one by one with --member",
                         line->input.path, made[i], list->entries[j].message_name,
                         list->entries[i].message_name);
      }
    }
  }
  return status;
}

static int make_folder(const char *path) {
  wb_error error;
  if (mkdir(path, 0777) != 0 && errno != EEXIST) {
    (void)WB_FAIL(&error, WB_ERROR_IO, "%s: cannot make the folder: %s", path, strerror(errno));
    return cli_fail(&error);
  }
  return CLI_OK;
}

static int convert_all(const arguments *line) {
  wb_error error;
  wb_input_list list;
  if (wb_input_list_read(line->input.path, &list, &error) != WB_OK) {
    return cli_fail(&error);
  }
  char **names = NULL;
  int status = store_names(line, &list, &names, &error) == WB_OK ? make_folder(line->output)
                                                                 : cli_fail(&error);
  for (int32_t i = 0; i < list.count && status == CLI_OK; i++) {
    cli_input day = line->input;
    if (list.count > 1) {
      day.options.member = list.entries[i].message_name;
    }
    status = convert_day(&day, names[i]);
  }
  free_names(names, list.count);
  wb_input_list_free(&list);
  return status;
}

int cli_convert(int argc, char **argv) {
  arguments line = {0};
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  return line.all ? convert_all(&line) : convert_day(&line.input, line.output);
}

/* Reading a day from whatever the user has. */
#include "input.h"

#include "base/progress.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY_TICK = 0x100, KEY_MEMBER, KEY_MESSAGES_ONLY, KEY_TRUNCATE, KEY_SKIP_BAD, KEY_STRICT };

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Reading:", 1},
    {"member", KEY_MEMBER, "NAME", 0,
     "the day to take of an archive that has several: a part of its message file's name, or of the "
     "folders before it",
     1},
    {"tick", KEY_TICK, "T", 0,
     "tick size in price units; default: 100 if every resting price divides by it, else 1", 1},
    {"messages-only", KEY_MESSAGES_ONLY, NULL, 0,
     "there is no orderbook file: depth is unknown and nothing is verified", 1},
    {"truncate", KEY_TRUNCATE, NULL, 0,
     "of files with unequal row counts take the rows that both have", 1},
    {"skip-bad", KEY_SKIP_BAD, NULL, 0, "leave damaged lines out, counted and listed", 1},
    {"strict", KEY_STRICT, NULL, 0,
     "a row that crosses, or that the book file contradicts, is an error", 1},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  cli_input *input = state->input;
  wb_read_options *read = &input->options;
  switch (key) {
  case KEY_MEMBER: read->member = argument; return 0;
  case KEY_TICK:
    read->tick_size = (int32_t)cli_integer(state, "tick", argument, 1, 1 << 30);
    return 0;
  case KEY_MESSAGES_ONLY: read->messages_only = true; return 0;
  case KEY_TRUNCATE: read->truncate = true; return 0;
  case KEY_SKIP_BAD: read->skip_bad = true; return 0;
  case KEY_STRICT: read->strict = true; return 0;
  case ARGP_KEY_SUCCESS:
    if (read->messages_only && read->orderbook_path != NULL) {
      argp_error(state, "--messages-only: expected no ORDERBOOK, got \"%s\"", read->orderbook_path);
    }
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

const struct argp cli_input_argp = {.options = options, .parser = parse_option};

/* A name to read; what outputs call "-" too. */
static const char *check_path(const struct argp_state *state, const char *what, const char *path) {
  if (path[0] == '\0') {
    argp_error(state, "%s: expected the name of a file, got \"\"", what);
  }
  return strcmp(path, "-") == 0 ? "/dev/stdin" : path;
}

error_t cli_input_argument(int key, char *argument, struct argp_state *state, cli_input *input) {
  if (key == ARGP_KEY_NO_ARGS) {
    argp_error(state, "INPUT is missing");
  }
  if (key != ARGP_KEY_ARG) {
    return ARGP_ERR_UNKNOWN;
  }
  if (state->arg_num == 0) {
    input->path = check_path(state, "INPUT", argument);
  } else if (state->arg_num == 1) {
    input->options.orderbook_path = check_path(state, "ORDERBOOK", argument);
  } else {
    argp_error(state, "expected INPUT and ORDERBOOK at most, got \"%s\" too", argument);
  }
  return 0;
}

error_t cli_input_and_output(int key, char *argument, struct argp_state *state, cli_input *input,
                             const char **output, const char *what) {
  if (key == ARGP_KEY_END && *output == NULL) {
    argp_error(state, "expected INPUT and %s", what);
  }
  if (key != ARGP_KEY_ARG) {
    return ARGP_ERR_UNKNOWN;
  }
  if (state->arg_num >= 3) {
    argp_error(state, "expected INPUT, ORDERBOOK and %s at most, got \"%s\" too", what, argument);
  }
  if (state->arg_num == 0) {
    input->path = check_path(state, "INPUT", argument);
    return 0;
  }
  /* what was taken for the output was an orderbook file before it */
  if (*output != NULL) {
    input->options.orderbook_path = check_path(state, "ORDERBOOK", *output);
  }
  if (argument[0] == '\0') {
    argp_error(state, "%s: expected a name, got \"\"", what);
  }
  *output = argument;
  return 0;
}

typedef struct reading {
  wb_progress bar;
  bool started;
} reading;

static void show_progress(void *context, int64_t done, int64_t total) {
  reading *now = context;
  if (!now->started) {
    wb_progress_start(&now->bar, stderr, "reading", "bytes", total, 0);
    now->started = true;
  }
  wb_progress_update(&now->bar, done);
}

/* A store was read by someone before: what this user asks of a reader is asked of what it noted. */
static wb_status check_read(const cli_input *input, const wb_tape *tape, wb_error *error) {
  const wb_read_options *read = &input->options;
  if (read->tick_size != 0 && tape->tick_size != read->tick_size) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: --tick: the store has tick %d, got %d",
                   input->path, tape->tick_size, read->tick_size);
  }
  if (read->strict && (tape->counts.contradictions > 0 || tape->counts.crossed_rows > 0)) {
    const char *first = "";
    for (int64_t i = 0; i < tape->finding_count && first[0] == '\0'; i++) {
      first = tape->findings[i].kind == WB_FINDING_BAD_LINE ? "" : tape->findings[i].text;
    }
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "%s: %" PRId64 " rows contradicted and %" PRId64 " crossed; --strict allows "
                   "none; the first: %s",
                   input->path, tape->counts.contradictions, tape->counts.crossed_rows, first);
  }
  return WB_OK;
}

const char *cli_input_hint(const wb_read_options *read, const wb_error *error) {
  static const struct {
    const char *words, *hint;
  } hints[] = {
      {"expected as many in both files", "--truncate takes the rows that both have"},
      {"ask for messages only", "--messages-only replays without an orderbook file"},
      {"chooses one of its", "--member=NAME chooses a day"},
      {"columns: expected 6 or 7", NULL}, /* another kind of file */
  };
  for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
    if (strstr(error->text, hints[i].words) != NULL) {
      return hints[i].hint;
    }
  }
  bool damaged = error->status == WB_ERROR_FORMAT && strstr(error->text, " line ") != NULL;
  return damaged && !read->strict && !read->skip_bad
             ? "--skip-bad leaves damaged lines out and lists them"
             : NULL;
}

static int fail_read(const wb_read_options *read, const wb_error *error) {
  const char *hint = cli_input_hint(read, error);
  int status = cli_fail(error);
  if (hint != NULL) {
    (void)fprintf(stderr, "warpbook: %s\n", hint);
  }
  return status;
}

int cli_input_read(cli_input *input, wb_tape **tape) {
  reading now = {0};
  wb_error error;
  wb_read_options read = input->options;
  read.progress = show_progress;
  read.progress_context = &now;
  double start = cli_now();
  wb_status status = wb_tape_read(input->path, &read, tape, &error);
  if (now.started) {
    wb_progress_end(&now.bar);
  }
  input->seconds = cli_now() - start;
  if (status != WB_OK) {
    return fail_read(&input->options, &error);
  }
  if (check_read(input, *tape, &error) != WB_OK) {
    wb_tape_free(*tape);
    *tape = NULL;
    return cli_fail(&error);
  }
  return CLI_OK;
}

static bool same_file(const struct stat *left, const char *path) {
  struct stat right;
  return path != NULL && stat(path, &right) == 0 && left->st_dev == right.st_dev &&
         left->st_ino == right.st_ino;
}

bool cli_input_is_source(const cli_input *input, const wb_tape *tape, const char *path) {
  struct stat file;
  if (stat(path, &file) != 0 || !S_ISREG(file.st_mode)) {
    return false;
  }
  bool same = same_file(&file, input->path) || same_file(&file, input->options.orderbook_path);
  for (int32_t i = 0; i < tape->source_count; i++) {
    same = same || same_file(&file, tape->sources[i].name);
  }
  return same;
}

/* warpbook replay: runs a day through an engine and says what was proven. */
#include "common.h"
#include "day.h"
#include "interrupt.h"
#include "output.h"
#include "summary.h"
#include "words.h"

#include "base/progress.h"
#include "data/lobster.h"
#include "sim/replay.h"
#include "sim/sim.h"

#include <inttypes.h>
#include <string.h>

enum { KEY_TRADES = 0x300, KEY_BOOK, KEY_BOOKS, KEY_FROM, KEY_JSON };

typedef struct arguments {
  cli_day day;
  const char *trades_path, *book_path;
  bool json;
} arguments;

/* Where rows, trades and progress go while the replay runs. */
typedef struct writer {
  const wb_tape *tape;
  cli_output trades, book;
  wb_progress bar;
} writer;

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Copies:", 4},
    {"books", KEY_BOOKS, "B", 0,
     "run so many equal copies of the book, which must end equal; several need --engine kernel", 4},
    {NULL, 0, NULL, 0, "Output:", 5},
    {"trades", KEY_TRADES, "FILE", 0, "write every trade as CSV with a header (- is stdout)", 5},
    {"book", KEY_BOOK, "FILE", 0,
     "write the book after every row in the format of LOBSTER's orderbook file (- is stdout)", 5},
    {"from", KEY_FROM, "TIME", 0, "write rows and trades from this time on, given like --to", 5},
    {"json", KEY_JSON, NULL, 0, "print the summary as JSON", 5},
    {0},
};

static void check_outputs(const arguments *line, const struct argp_state *state) {
  int standard = (int)cli_output_is_standard(line->trades_path) +
                 (int)cli_output_is_standard(line->book_path) + (int)line->json;
  if (standard > 1) {
    argp_error(state, "only one of --trades, --book and --json can go to standard output");
  }
  if (line->trades_path != NULL && line->book_path != NULL &&
      !cli_output_is_standard(line->trades_path) &&
      cli_output_is_same(line->trades_path, line->book_path)) {
    argp_error(state, "--trades and --book: expected two files, got \"%s\" and \"%s\"",
               line->trades_path, line->book_path);
  }
}

static void check_run(const wb_replay_options *run, const struct argp_state *state) {
  if (run->books > 1 && run->engine == WB_ENGINE_REFERENCE) {
    argp_error(state, "--books: the reference runs 1 book, got %d: use --engine kernel",
               run->books);
  }
  if (run->to_ns != 0 && run->to_ns <= run->from_ns) {
    argp_error(state, "--to: expected a time after --from");
  }
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  arguments *line = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &line->day; return 0;
  case KEY_TRADES: line->trades_path = argument; return 0;
  case KEY_BOOK: line->book_path = argument; return 0;
  case KEY_BOOKS:
    line->day.book.run.books = (int32_t)cli_integer(state, "books", argument, 1, WB_SIM_BOOKS_MAX);
    return 0;
  case KEY_FROM: line->day.book.run.from_ns = cli_time(state, "from", argument); return 0;
  case KEY_JSON: line->json = true; return 0;
  case ARGP_KEY_SUCCESS:
    check_run(&line->day.book.run, state);
    check_outputs(line, state);
    return 0;
  default: return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp_child children[] = {{&cli_day_argp, 0, NULL, 1}, {0}};

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "INPUT [ORDERBOOK]",
    .doc =
        "Replays a day through an order book and compares the book after every message with the "
        "day's orderbook file.\v"
        "Columns of the trades: time (seconds after midnight), record (index on the tape), row "
        "(source row), maker_side, maker and taker (references; a taker of -1 is a historical "
        "execution), maker_id and taker_id (the exchange's, 0 if there is none), maker_owner and "
        "taker_owner (0 is history), price (units of the source), qty (shares), edge (1 if the "
        "reader made up the record that caused it).\n\n"
        "With --to, counts are of the rows before it, but for those of the reader, which say \"whole "
        "file\". In JSON these are edge_records, edge_corrections, edge_dropped, unknown_ids, "
        "late_adds, contradictions, crossed_rows, bad_lines, truncated_rows, findings and the two "
        "that end in _in_file.\n\n"
        "Exit status: 0 if every row is equal, 1 if one differs or the files contradict each "
        "other, 2 if something could not be done.",
    .children = children,
};

/* ---- what is written while the replay runs ---- */

/* Without a book file a missing level is not known to be empty: its cells stay blank. */
static size_t write_unknown(const wb_tape *tape, const wb_row_view *view, char *text) {
  char *end = text;
  for (int32_t i = 0; i < 2 * view->levels; i++) {
    if (i > 0) {
      *end++ = ',';
    }
    if (view->price[i] == WB_NO_PRICE) {
      *end++ = ',';
    } else {
      end += snprintf(end, WB_LOBSTER_LEVEL_BYTES, "%" PRId64 ",%" PRId64,
                      tape->base + view->price[i], view->qty[i]);
    }
  }
  *end++ = '\n';
  return (size_t)(end - text);
}

static wb_status write_row(void *context, const wb_row_view *view, wb_error *error) {
  writer *out = context;
  char *text;
  size_t room = (size_t)view->levels * WB_LOBSTER_LEVEL_BYTES + WB_LOBSTER_LEVEL_BYTES;
  WB_TRY(cli_output_room(&out->book, room, &text, error));
  size_t used = out->tape->depth_unknown ? write_unknown(out->tape, view, text)
                                         : wb_lobster_book_row(out->tape->base, view->levels,
                                                               view->price, view->qty, text);
  return cli_output_advance(&out->book, used, error);
}

static wb_status write_header(writer *out, wb_error *error) {
  static const char header[] = "time,record,row,maker_side,maker,maker_id,maker_owner,taker,"
                               "taker_id,taker_owner,price,qty,edge\n";
  char *text;
  WB_TRY(cli_output_room(&out->trades, sizeof header, &text, error));
  memcpy(text, header, sizeof header - 1);
  return cli_output_advance(&out->trades, sizeof header - 1, error);
}

static wb_status write_trade(void *context, const wb_trade *trade, wb_error *error) {
  writer *out = context;
  const wb_tape *tape = out->tape;
  enum { LINE_BYTES = 512 };
  char time[CLI_TEXT_BYTES];
  char *text;
  wb_side side = (trade->maker_owner & WB_TRADE_MAKER_ASK) != 0 ? WB_SIDE_ASK : WB_SIDE_BID;
  WB_TRY(cli_output_room(&out->trades, LINE_BYTES, &text, error));
  int used = snprintf(
      text, LINE_BYTES, "%s,%d,%d,%s,%d,%" PRId64 ",%d,%d,%" PRId64 ",%d,%" PRId64 ",%d,%d\n",
      cli_seconds_text(trade->time_ns, time), trade->record, tape->records[trade->record].row,
      cli_side_name(side), trade->maker, cli_order_id(tape, trade->maker),
      trade->maker_owner & WB_TRADE_OWNER_MASK, trade->taker, cli_order_id(tape, trade->taker),
      trade->taker_owner & WB_TRADE_OWNER_MASK, tape->base + trade->price, trade->qty,
      (trade->taker_owner & WB_TRADE_EDGE) != 0);
  return cli_output_advance(&out->trades, (size_t)used, error);
}

static void show_progress(void *context, int64_t done, int64_t total) {
  (void)total;
  wb_progress_update(&((writer *)context)->bar, done);
}

/* ---- the run ---- */

static wb_status check_output(const arguments *line, const wb_tape *tape, const char *option,
                              const char *path, wb_error *error) {
  if (path != NULL && !cli_output_is_standard(path) &&
      cli_input_is_source(&line->day.input, tape, path)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "--%s: %s is what the day was read from", option,
                   path);
  }
  return WB_OK;
}

static wb_status open_outputs(const arguments *line, writer *out, wb_error *error) {
  const wb_tape *tape = out->tape;
  if (line->book_path != NULL && line->day.book.run.levels == 0 && tape->levels == 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "--book: the input has no book rows that tell the depth: give --levels");
  }
  WB_TRY(check_output(line, tape, "trades", line->trades_path, error));
  WB_TRY(check_output(line, tape, "book", line->book_path, error));
  WB_TRY(cli_output_open(&out->trades, line->trades_path, error));
  WB_TRY(cli_output_open(&out->book, line->book_path, error));
  return out->trades.wanted ? write_header(out, error) : WB_OK;
}

/* Both files are on the disk before either gets its name, and no interrupt comes between the two. */
static wb_status close_outputs(writer *out, wb_status status, wb_error *error) {
  if (status == WB_OK) {
    status = cli_output_sync(&out->trades, error);
  }
  if (status == WB_OK) {
    status = cli_output_sync(&out->book, error);
  }
  interrupt_hold();
  wb_status closed = cli_output_close(&out->trades, status == WB_OK, error);
  status = status == WB_OK ? closed : status;
  closed = cli_output_close(&out->book, status == WB_OK, error);
  interrupt_release();
  return status == WB_OK ? closed : status;
}

static wb_status run_replay(arguments *line, const wb_tape *tape, wb_replay_result *result,
                            wb_error *error) {
  writer out = {.tape = tape};
  wb_replay_options *run = &line->day.book.run;
  wb_status status = open_outputs(line, &out, error);
  if (status == WB_OK) {
    run->context = &out;
    run->on_row = out.book.wanted ? write_row : NULL;
    run->on_trade = out.trades.wanted ? write_trade : NULL;
    run->on_progress = show_progress;
    wb_progress_start(&out.bar, stderr, "replaying", "records", tape->record_count, 0);
    status = wb_replay(tape, run, result, error);
    wb_progress_end(&out.bar);
  }
  return close_outputs(&out, status, error);
}

static int print_result(const arguments *line, const wb_tape *tape,
                        const wb_replay_result *result) {
  cli_replay_summary summary = {tape, &line->day.book.run, result, line->day.input.seconds};
  if (line->json) {
    int status = cli_print_json(cli_replay_json(&summary));
    if (status != CLI_OK) {
      return status;
    }
  } else {
    bool taken =
        cli_output_is_standard(line->trades_path) || cli_output_is_standard(line->book_path);
    cli_print_replay(taken ? stderr : stdout, &summary);
  }
  bool equal = !result->different && result->books_equal == result->books;
  return equal && tape->counts.contradictions == 0 ? CLI_OK : CLI_DIFFERENT;
}

int cli_replay(int argc, char **argv) {
  arguments line = {.day.book = cli_run_default()};
  wb_replay_result result;
  wb_tape *tape = NULL;
  wb_error error;
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  int status = cli_day_read(&line.day, &tape);
  if (status != CLI_OK) {
    return status;
  }
  status = run_replay(&line, tape, &result, &error) == WB_OK ? print_result(&line, tape, &result)
                                                             : cli_fail_engine(&error);
  wb_tape_free(tape);
  return status;
}

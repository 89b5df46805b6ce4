/* warpbook info: what is in a CSV pair, an archive or a store. */
#include "common.h"
#include "input.h"
#include "summary.h"
#include "text.h"
#include "words.h"

#include <inttypes.h>
#include <string.h>

enum { KEY_JSON = 0x600, KEY_LIST, FINDINGS_SHOWN = 20 };

typedef struct arguments {
  cli_input input;
  bool json, list;
} arguments;

static const struct argp_option options[] = {
    {NULL, 0, NULL, 0, "Output:", 4},
    {"list", KEY_LIST, NULL, 0, "only list the days that there are", 4},
    {"json", KEY_JSON, NULL, 0, "print it as JSON", 4},
    {0},
};

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  arguments *line = state->input;
  switch (key) {
  case ARGP_KEY_INIT: state->child_inputs[0] = &line->input; return 0;
  case KEY_JSON: line->json = true; return 0;
  case KEY_LIST: line->list = true; return 0;
  case ARGP_KEY_SUCCESS:
    if (line->list &&
        (line->input.options.member != NULL || line->input.options.orderbook_path != NULL)) {
      argp_error(state, "--list: expected no ORDERBOOK and no --member");
    }
    return 0;
  default: return cli_input_argument(key, argument, state, &line->input);
  }
}

static const struct argp_child children[] = {{&cli_input_argp, 0, NULL, 1}, {0}};

static const struct argp parser = {
    .options = options,
    .parser = parse_option,
    .args_doc = "INPUT [ORDERBOOK]",
    .doc =
        "Tells what is in a LOBSTER file pair, an archive or a store: rows and records by type, "
        "time span, prices, and where something is inconsistent. Of an archive with several days "
        "it lists the days; --member shows one.\v"
        "Exit status: 0, or 2 if something could not be done.",
    .children = children,
};

/* ---- days ---- */

static void print_file(int64_t bytes, const char *name) {
  if (bytes < 0) { /* not told */
    (void)printf("%12s  ", "");
  } else {
    (void)printf("%12" PRId64 "  ", bytes);
  }
  cli_print_text(stdout, name);
  (void)putchar('\n');
}

static bool is_store(const char *name) {
  size_t length = strlen(name);
  return length >= 3 && strcmp(name + length - 3, ".h5") == 0;
}

static void print_days(const wb_input_list *list) {
  for (int32_t i = 0; i < list->count; i++) {
    const wb_input_entry *entry = &list->entries[i];
    print_file(entry->message_bytes, entry->message_name);
    if (entry->orderbook_name != NULL) {
      print_file(entry->orderbook_bytes, entry->orderbook_name);
    } else if (!is_store(entry->message_name)) { /* which holds both in one file */
      (void)printf("%12s  (no orderbook file)\n", "");
    }
  }
}

static json_t *days_json(const wb_input_list *list) {
  json_t *days = json_array();
  for (int32_t i = 0; days != NULL && i < list->count; i++) {
    const wb_input_entry *entry = &list->entries[i];
    json_t *day = json_pack("{s:o,s:o,s:I,s:I}", "message", cli_json_text(entry->message_name),
                            "orderbook", cli_json_text(entry->orderbook_name), "message_bytes",
                            (json_int_t)entry->message_bytes, "orderbook_bytes",
                            (json_int_t)entry->orderbook_bytes);
    if (json_array_append_new(days, day) != 0) {
      json_decref(days);
      days = NULL;
    }
  }
  return json_pack("{s:o}", "days", days);
}

/* ---- one tape ---- */

typedef struct price_range {
  bool known;
  int64_t lowest, highest; /* of what rests, in the source's units */
} price_range;

static void widen(price_range *range, int64_t price) {
  if (!range->known || price < range->lowest) {
    range->lowest = price;
  }
  if (!range->known || price > range->highest) {
    range->highest = price;
  }
  range->known = true;
}

static price_range find_prices(const wb_tape *tape) {
  price_range range = {0};
  for (int32_t i = 0; i < tape->seed_count; i++) {
    widen(&range, tape->base + tape->seed[i].price);
  }
  for (int64_t i = 0; i < tape->record_count; i++) {
    if (tape->records[i].type == WB_RECORD_ADD || tape->records[i].type == WB_RECORD_AMEND) {
      widen(&range, tape->base + tape->records[i].price);
    }
  }
  return range;
}

static void print_tape(const wb_tape *tape) {
  price_range range = find_prices(tape);
  cli_print_tape_head(stdout, tape);
  cli_line(stdout, "rows", "%" PRId64, tape->row_count);
  if (tape->levels > 0) {
    cli_line(stdout, "levels", "%d", tape->levels);
  } else {
    cli_line(stdout, "levels", "%s", tape->depth_unknown ? "depth is unknown" : "no book rows");
  }
  cli_line(stdout, "records", "%" PRId64 " after a book of %d orders", tape->record_count,
           tape->seed_count);
  cli_line(stdout, "references", "%d", tape->ref_count);
  cli_line(stdout, "price unit", "%g", tape->price_unit);
  if (range.known) {
    cli_line(stdout, "prices", "%" PRId64 " to %" PRId64 " units", range.lowest, range.highest);
  }
  cli_line(stdout, "tick", "%d units", tape->tick_size);
  cli_line(stdout, "base", "%" PRId64 " units", tape->base);
  if (tape->odd_time_count > 0) {
    cli_line(stdout, "odd times", "%" PRId64 ", kept as text", tape->odd_time_count);
  }
  if (tape->row_count > 0) {
    cli_print_counts(stdout, tape, false);
  }
  cli_print_findings(stdout, tape, FINDINGS_SHOWN);
}

static json_t *sources_json(const wb_tape *tape) {
  json_t *sources = json_array();
  for (int32_t i = 0; sources != NULL && i < tape->source_count; i++) {
    char hash[33];
    wb_hash128_text(tape->sources[i].hash, hash);
    json_t *source = json_pack("{s:o,s:I,s:s}", "name", cli_json_text(tape->sources[i].name),
                               "bytes", (json_int_t)tape->sources[i].bytes, "hash", hash);
    if (json_array_append_new(sources, source) != 0) {
      json_decref(sources);
      sources = NULL;
    }
  }
  return sources;
}

static json_t *optional_json(bool known, int64_t value) {
  return known ? json_integer(value) : json_null();
}

static json_t *tape_json(const wb_tape *tape) {
  price_range range = find_prices(tape);
  int64_t first = 0, last = 0;
  bool timed = cli_time_span(tape, &first, &last);
  return json_pack(
      "{s:o,s:s,s:o,s:I,s:I,s:i,s:i,s:i,s:b,s:o,s:o,s:o,s:o,s:f,s:I,s:i,s:o,s:o,s:o}", "instrument",
      cli_json_text(tape->instrument), "day", tape->day, "sources", sources_json(tape), "rows",
      (json_int_t)tape->row_count, "records", (json_int_t)tape->record_count, "seed_orders",
      (int)tape->seed_count, "references", (int)tape->ref_count, "levels", (int)tape->levels,
      "depth_unknown", (int)tape->depth_unknown, "first_ns", optional_json(timed, first), "last_ns",
      optional_json(timed, last), "lowest_price", optional_json(range.known, range.lowest),
      "highest_price", optional_json(range.known, range.highest), "price_unit", tape->price_unit,
      "base", (json_int_t)tape->base, "tick_size", (int)tape->tick_size, "messages_by_type",
      cli_messages_json(tape, tape->row_count), "counts", cli_counts_json(tape), "findings",
      cli_findings_json(tape, tape->finding_count));
}

static int show_tape(arguments *line) {
  wb_tape *tape = NULL;
  int status = cli_input_read(&line->input, &tape);
  if (status != CLI_OK) {
    return status;
  }
  if (line->json) {
    status = cli_print_json(tape_json(tape));
  } else {
    print_tape(tape);
  }
  wb_tape_free(tape);
  return status;
}

int cli_info(int argc, char **argv) {
  arguments line = {0};
  wb_error error;
  wb_input_list list;
  argp_parse(&parser, argc, argv, 0, NULL, &line);
  if (!line.list && (line.input.options.member != NULL || line.input.options.messages_only ||
                     line.input.options.orderbook_path != NULL)) {
    return show_tape(&line);
  }
  if (wb_input_list_read(line.input.path, &list, &error) != WB_OK) {
    return cli_fail(&error);
  }
  int status = CLI_OK;
  if (list.count == 1 && !line.list) {
    status = show_tape(&line);
  } else if (line.json) {
    status = cli_print_json(days_json(&list));
  } else {
    print_days(&list);
  }
  wb_input_list_free(&list);
  return status;
}

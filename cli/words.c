/* Records, prices and book rows in words. */
#include "words.h"

#include <inttypes.h>

const char *cli_side_name(wb_side side) { return side == WB_SIDE_ASK ? "ask" : "bid"; }

int64_t cli_order_id(const wb_tape *tape, int32_t ref) {
  return ref >= 0 && ref < tape->ref_count ? tape->ids[ref] : 0;
}

const char *cli_price_text(const wb_tape *tape, int32_t price, char text[CLI_TEXT_BYTES]) {
  if (price == WB_NO_PRICE) {
    (void)snprintf(text, CLI_TEXT_BYTES, "none");
  } else {
    (void)snprintf(text, CLI_TEXT_BYTES, "%" PRId64, tape->base + price);
  }
  return text;
}

const char *cli_cell_text(const wb_tape *tape, int32_t price, int64_t qty,
                          char text[CLI_TEXT_BYTES]) {
  if (price == WB_NO_PRICE) {
    (void)snprintf(text, CLI_TEXT_BYTES, "nothing");
  } else {
    (void)snprintf(text, CLI_TEXT_BYTES, "%" PRId64 " at %" PRId64, qty, tape->base + price);
  }
  return text;
}

static const char *type_name(uint8_t type) {
  switch (type) {
#define X(name, code) \
  case code: return #name;
    WB_RECORD_TYPES(X)
#undef X
  default: return "type unknown";
  }
}

static void print_order(FILE *stream, const wb_tape *tape, const wb_record *record) {
  int64_t id = cli_order_id(tape, record->ref);
  (void)fprintf(stream, " order %d", record->ref);
  if (record->owner != 0) {
    (void)fprintf(stream, " of agent %d", record->owner);
  } else if (id != 0) {
    (void)fprintf(stream, " (id %" PRId64 ")", id);
  } else {
    (void)fputs(" (no id)", stream);
  }
}

static void print_flags(FILE *stream, uint8_t flags) {
  static const struct {
    uint8_t bit;
    const char *word;
  } words[] = {{WB_FLAG_NO_MATCH, "rests as it is"},
               {WB_FLAG_IOC, "IOC"},
               {WB_FLAG_FOK, "FOK"},
               {WB_FLAG_POST_ONLY, "post only"},
               {WB_FLAG_SLIDE, "slide"},
               {WB_FLAG_EDGE, "made up by the reader: the window moved"},
               {WB_FLAG_ROW_END, "end of row"}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if ((flags & words[i].bit) != 0) {
      (void)fprintf(stream, ", %s", words[i].word);
    }
  }
}

static void print_note(FILE *stream, const wb_record *record) {
  static const char *const notes[] = {"hidden execution", "auction print",
                                      "names an unknown order"};
  static const char *const states[] = {"trading", "quoting", "halted"};
  const char *const *words = record->type == WB_RECORD_NOTE ? notes : states;
  (void)fprintf(stream, " %s", record->arg >= 0 && record->arg < 3 ? words[record->arg] : "?");
  if (record->type == WB_RECORD_NOTE) {
    (void)fprintf(stream, " of %d share%s", record->qty, record->qty == 1 ? "" : "s");
  }
}

void cli_print_record(FILE *stream, const wb_tape *tape, int64_t index) {
  const wb_record *record = &tape->records[index];
  (void)fprintf(stream, "  #%-8" PRId64 " %-8s", index, type_name(record->type));
  if (record->type == WB_RECORD_NOTE || record->type == WB_RECORD_STATE) {
    print_note(stream, record);
  } else {
    wb_side side = (record->flags & WB_FLAG_SIDE) != 0 ? WB_SIDE_ASK : WB_SIDE_BID;
    (void)fprintf(stream, " %s", cli_side_name(side));
    print_order(stream, tape, record);
    if (record->type != WB_RECORD_DELETE) {
      (void)fprintf(stream, ": %d share%s", record->qty, record->qty == 1 ? "" : "s");
    }
    if (record->type == WB_RECORD_ADD || record->type == WB_RECORD_AMEND ||
        record->type == WB_RECORD_EXECUTE) {
      (void)fprintf(stream, " at %" PRId64, tape->base + record->price);
    }
  }
  print_flags(stream, record->flags);
  (void)fputc('\n', stream);
}

void cli_print_message(FILE *stream, const wb_tape *tape, int64_t row) {
  static const char *const types[] = {"unknown",       "submission",        "partial cancellation",
                                      "deletion",      "execution",         "hidden execution",
                                      "auction trade", "halt or resumption"};
  const wb_source_row *message = &tape->rows[row];
  char time[CLI_TEXT_BYTES];
  /* only these tell a side that means something */
  const char *order = message->type > 4        ? ""
                      : message->direction > 0 ? " of a buy order"
                                               : " of a sell order";
  (void)fprintf(stream, "message %" PRId64 ": %s,%d,%" PRId64 ",%d,%" PRId64 ",%d  (%s%s)\n", row,
                cli_seconds_text(message->time_ns, time), message->type, message->id, message->size,
                message->price, message->direction, types[message->type < 8 ? message->type : 0],
                order);
}

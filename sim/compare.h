/* Engines against the source and against each other, message by message, up to the first row where
 * two of them part.
 *
 * Where replay counts, compare explains: it keeps the books before and after the row and the records
 * that led from one to the other. One thread at a time per call. */
#ifndef WB_SIM_COMPARE_H
#define WB_SIM_COMPARE_H

#include "replay.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { WB_COMPARE_ENGINES = 2, WB_COMPARE_BOOKS = 1 + WB_COMPARE_ENGINES };

/* A book before and after a row: [2 * levels] each, as in wb_tape; absent levels are WB_NO_PRICE. */
typedef struct wb_compare_book {
  const char *name; /* "source", or the engine's; static */
  int32_t *before_price, *after_price;
  int64_t *before_qty, *after_qty;
} wb_compare_book;

typedef struct wb_compare_report {
  int64_t rows, records; /* gone through: at a difference up to and with its row */
  bool against_source;   /* whether the tape has rows to compare with */
  int32_t levels;        /* compared, and kept of each book */
  int32_t book_count;
  wb_compare_book books[WB_COMPARE_BOOKS]; /* the source first if there is one, then the engines */

  bool different;
  wb_difference difference;           /* level -1: all levels agree, but the hashes do not */
  int32_t expected_book, got_book;    /* indices into books */
  int64_t first_record, record_count; /* of the row that differs; count 0: it has none */
  wb_arena arena;                     /* owns the books' rows */
} wb_compare_report;

/* Runs the engines row by row to options->to_ns. Each is compared with the source at the tape's
 * levels (or options->levels of them), and with the first engine by levels and by both hashes.
 * options->engine, from_ns, stop_at_difference and the functions but on_progress are not looked at.
 * The report is the caller's, WB_OK or not: wb_compare_report_free. WB_ERROR_STATE if there is one
 * engine and the tape has no book rows: nothing to compare with; else errors as wb_replay. */
WB_API wb_status wb_compare(const wb_tape *tape, const wb_replay_options *options,
                            const wb_engine *engines, int32_t engine_count,
                            wb_compare_report *report, wb_error *error);
WB_API void wb_compare_report_free(wb_compare_report *report);

#ifdef __cplusplus
}
#endif
#endif

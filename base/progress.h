/* A progress bar on a terminal: what is done, the rate, the time left. Silent where the stream is
 * no terminal, so that logs and pipes stay clean. One thread at a time per bar. */
#ifndef WB_BASE_PROGRESS_H
#define WB_BASE_PROGRESS_H

#include "status.h"

#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_progress {
  FILE *stream;
  const char *label; /* the caller's; must outlive the bar */
  const char *unit;  /* as "rows" */
  int64_t total;     /* 0: unknown, no bar and no time left */
  int64_t start_ns, drawn_ns;
  int shown; /* whether the stream is a terminal */
} wb_progress;

/* Starts a bar on `stream` (usually stderr). `forced` draws even where it is no terminal: tests. */
WB_API void wb_progress_start(wb_progress *bar, FILE *stream, const char *label, const char *unit,
                              int64_t total, int forced);

/* Redraws at most ten times a second: cheap enough to call often. */
WB_API void wb_progress_update(wb_progress *bar, int64_t done);

/* Wipes the bar's line. */
WB_API void wb_progress_end(wb_progress *bar);

#ifdef __cplusplus
}
#endif
#endif

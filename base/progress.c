/* The bar is one line, redrawn in place by a carriage return. */
#define _POSIX_C_SOURCE 200809L
#include "base/progress.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { BAR_CELLS = 28, REDRAW_NS = 100000000 };

static int64_t now_ns(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
    return 0;
  }
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void wb_progress_start(wb_progress *bar, FILE *stream, const char *label, const char *unit,
                       int64_t total, int forced) {
  memset(bar, 0, sizeof *bar);
  bar->stream = stream;
  bar->label = label;
  bar->unit = unit;
  bar->total = total;
  bar->start_ns = now_ns();
  bar->shown = forced || (stream != NULL && isatty(fileno(stream)) == 1);
}

void wb_progress_update(wb_progress *bar, int64_t done) {
  if (!bar->shown) {
    return;
  }
  int64_t now = now_ns();
  if (bar->drawn_ns != 0 && now - bar->drawn_ns < REDRAW_NS) {
    return;
  }
  bar->drawn_ns = now;
  double seconds = (double)(now - bar->start_ns) * 1e-9;
  double rate = seconds > 0 ? (double)done / seconds : 0;
  if (bar->total <= 0) {
    (void)fprintf(bar->stream, "\r%s %" PRId64 " %s, %.3g/s ", bar->label, done, bar->unit, rate);
  } else {
    char cells[BAR_CELLS + 1];
    int full = (int)((double)done / (double)bar->total * BAR_CELLS);
    full = full < 0 ? 0 : full > BAR_CELLS ? BAR_CELLS : full;
    memset(cells, '.', BAR_CELLS);
    memset(cells, '#', (size_t)full);
    cells[BAR_CELLS] = '\0';
    double left = rate > 0 ? (double)(bar->total - done) / rate : 0;
    (void)fprintf(bar->stream, "\r%s [%s] %3.0f%% of %" PRId64 " %s, %.3g/s, %.0f s left ",
                  bar->label, cells, 100.0 * (double)done / (double)bar->total, bar->total,
                  bar->unit, rate, left);
  }
  (void)fflush(bar->stream);
}

void wb_progress_end(wb_progress *bar) {
  if (bar->shown && bar->drawn_ns != 0) {
    (void)fprintf(bar->stream, "\r\033[K");
    (void)fflush(bar->stream);
  }
}

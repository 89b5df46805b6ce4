/* Signals that end the program, and the names of its unfinished files.
 *
 * The handler may run on any thread, at any place: it reads the table by atomic flags and calls what
 * POSIX allows there. Keep: an entry's text is whole before its flag is set, and not touched before
 * the flag is taken back. */
#define _GNU_SOURCE
#include "interrupt.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

enum { ENTRIES = 8 };

static struct {
  atomic_bool used;
  char path[PATH_MAX];
} entries[ENTRIES];

static atomic_int holds, waiting; /* waiting: the signal that came while held, or 0 */

/* a pipe that nobody reads any more ends the program like the others */
static const int signals[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGXCPU};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

/* Files were added before the folder that they are in. */
static void end_by(int number) {
  for (int i = 0; i < ENTRIES; i++) {
    if (atomic_load(&entries[i].used) && unlink(entries[i].path) != 0) {
      (void)rmdir(entries[i].path);
    }
  }
  (void)raise(number); /* whose handler is the system's again */
}

/* Of a handler and a release at one time, one finds the signal and no hold. */
static void end_if_waiting(void) {
  if (atomic_load(&holds) == 0) {
    int number = atomic_exchange(&waiting, 0);
    if (number != 0) {
      end_by(number);
    }
  }
}

static void on_signal(int number) {
  atomic_store(&waiting, number);
  end_if_waiting();
}

void interrupt_catch(void) {
  for (int i = 0; i < SIGNALS; i++) {
    struct sigaction before, action = {.sa_handler = on_signal};
    /* what is under way while held goes on to its end */
    action.sa_flags = (int)SA_RESETHAND | SA_NODEFER | SA_RESTART;
    if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL) {
      (void)sigaction(signals[i], &action, NULL);
    }
  }
}

void interrupt_hold(void) { atomic_fetch_add(&holds, 1); }

void interrupt_release(void) {
  atomic_fetch_sub(&holds, 1);
  end_if_waiting();
}

void interrupt_add(const char *path) {
  size_t bytes = path != NULL ? strlen(path) + 1 : 0;
  for (int i = 0; bytes > 0 && bytes <= PATH_MAX && i < ENTRIES; i++) {
    if (!atomic_load(&entries[i].used)) {
      memcpy(entries[i].path, path, bytes);
      atomic_store(&entries[i].used, true);
      return;
    }
  }
}

void interrupt_take_out(const char *path) {
  for (int i = 0; path != NULL && i < ENTRIES; i++) {
    if (atomic_load(&entries[i].used) && strcmp(entries[i].path, path) == 0) {
      atomic_store(&entries[i].used, false);
      return;
    }
  }
}

/* Ctrl-C and its like: the program ends by the signal, and what was not whole is gone. */
#include "run.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char sample[] =
    WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv";
static const char sample_book[] =
    WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_orderbook_5.csv";

/* A folder with a pipe: a replay whose book goes there stands still, its trades half written. */
typedef struct stuck {
  char *folder, *pipe, *trades;
  int reader; /* -1: nobody opened the pipe, so the program waits for that */
} stuck;

static stuck make_stuck(bool read) {
  stuck s = {.folder = scratch_make(), .reader = -1};
  s.pipe = format("%s/pipe", s.folder);
  s.trades = format("%s/trades.csv", s.folder);
  cr_assert_eq(mkfifo(s.pipe, 0600), 0);
  if (read) {
    s.reader = open(s.pipe, O_RDONLY | O_NONBLOCK);
    cr_assert_geq(s.reader, 0);
  }
  return s;
}

static int interrupt(const stuck *s, int number) {
  return run_interrupted(
      (const char *const[]){"replay", sample, "--trades", s->trades, "--book", s->pipe, NULL},
      s->folder, 2, number);
}

static void end_stuck(stuck *s) {
  cr_expect_eq(count_entries(s->folder), 1, "only the pipe is left");
  if (s->reader >= 0) {
    close(s->reader);
  }
  free(s->pipe);
  free(s->trades);
  scratch_free(s->folder);
}

static const int signals[] = {SIGHUP, SIGINT, SIGTERM};
enum { SIGNALS = sizeof signals / sizeof signals[0] };

Test(interrupted, unfinished_files_go, .timeout = 120) {
  for (int i = 0; i < SIGNALS; i++) {
    stuck s = make_stuck(true);
    cr_expect_eq(interrupt(&s, signals[i]), signals[i]);
    end_stuck(&s);
  }
}

/* While the second file is being opened, the first one is there already. The signal comes before or
 * while the program waits for a reader. */
Test(interrupted, also_between_two_files, .timeout = 120) {
  for (int i = 0; i < SIGNALS * 10; i++) {
    stuck s = make_stuck(false);
    int number = signals[i % SIGNALS];
    cr_expect_eq(interrupt(&s, number), number);
    end_stuck(&s);
  }
}

/* A background job of a shell is told to ignore SIGINT, one under nohup SIGHUP. */
Test(interrupted, what_was_ignored_stays_ignored) {
  char *scratch = scratch_make(), *book = format("%s/book.csv", scratch);
  signal(SIGHUP, SIG_IGN);
  cr_expect_eq(run_interrupted((const char *const[]){"replay", sample, "--book", book, NULL},
                               scratch, 1, SIGHUP),
               0);
  cr_expect(same_files(book, sample_book));
  free(book);
  scratch_free(scratch);
}

/* Nobody reads the pipe any more. */
Test(interrupted, a_broken_pipe_is_no_different, .timeout = 60) {
  stuck s = make_stuck(true);
  char byte;
  pid_t child = fork();
  if (child == 0) {
    /* takes some of the book and leaves */
    while (read(s.reader, &byte, 1) != 1) {
      usleep(1000);
    }
    _exit(0);
  }
  close(s.reader);
  s.reader = -1;
  run_result result = RUN("replay", sample, "--trades", s.trades, "--book", s.pipe);
  cr_expect_eq(result.status, -1, "ended by a signal");
  run_free(&result);
  end_stuck(&s);
}

/* Whenever it comes. */
Test(interrupted, stores_and_exports_are_whole_or_not_there, .timeout = 120) {
  char *scratch = scratch_make();
  char *stores = format("%s/stores", scratch), *store = format("%s/day.h5", stores);
  char *folder = format("%s/folder", scratch);
  int interrupted = 0;
  mkdir(stores, 0700);
  for (int i = 0; i < 40; i++) {
    unlink(store);
    int end = run_interrupted((const char *const[]){"convert", sample, store, NULL}, stores, i % 2,
                              SIGINT);
    cr_expect(end == 0 || end == SIGINT, "got %d", end);
    interrupted += end == SIGINT;
    cr_expect_eq(count_entries(stores), (int)exists(store));
    if (exists(store)) {
      json_t *replay = expect_json(RUN("replay", store, "--json"), 0);
      json_decref(replay);
    }
    mkdir(folder, 0700);
    end = run_interrupted((const char *const[]){"export", sample, folder, NULL}, folder, i % 3,
                          SIGTERM);
    cr_expect(end == 0 || end == SIGTERM, "got %d", end);
    interrupted += end == SIGTERM;
    cr_expect(count_entries(folder) == 0 || count_entries(folder) == 2);
    scratch_free(folder);
    folder = format("%s/folder", scratch);
  }
  cr_expect_gt(interrupted, 10, "only %d processes were interrupted in time", interrupted);
  free(store);
  free(stores);
  free(folder);
  scratch_free(scratch);
}

/* ptxas works on files of its own. */
Test(interrupted, the_files_of_an_assembler_go_too, .timeout = 60) {
  char *scratch = scratch_make();
  char *temporary = format("%s/temporary", scratch), *tool = format("%s/ptxas", scratch);
  char *bundle = format("%s/bundle", scratch);
  mkdir(temporary, 0700);
  write_file(tool, "#!/bin/sh\nexec sleep 2\n");
  chmod(tool, 0700);
  setenv("WB_PTXAS", tool, 1);
  setenv("TMPDIR", temporary, 1);
  int end = run_interrupted((const char *const[]){"kernels", "build", "levels", "--arch", "sm_90",
                                                  "--capacity", "64", "-o", bundle, NULL},
                            temporary, 1, SIGTERM);
  cr_expect_eq(end, SIGTERM);
  cr_expect_eq(count_entries(temporary), 0);
  free(temporary);
  free(tool);
  free(bundle);
  scratch_free(scratch);
}

/* The tape's HDF5 file: what is written comes back, damage is named, nothing half is left behind. */
#define _GNU_SOURCE
#include "data/store.h"
#include "data/store_image.h"
#include "tapes.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- there and back ---- */

/* Through memory; the caller frees the result. */
static wb_tape *there_and_back(const wb_tape *tape) {
  wb_error error = {0};
  void *bytes = NULL;
  size_t size = 0;
  wb_tape *again = NULL;
  cr_assert_eq(wb_store_write_image(tape, &bytes, &size, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_store_read_image(bytes, size, &again, &error), WB_OK, "%s", error.text);
  free(bytes);
  return again;
}

static void expect_same_after(wb_tape *tape) {
  wb_tape *again = there_and_back(tape);
  cr_expect_str_eq(difference(tape, again), "");
  wb_tape_free(again);
  wb_tape_free(tape);
}

Test(store, a_tape_with_everything_comes_back_equal) {
  expect_same_after(full_tape());
  expect_same_after(long_tape(70000, 3));
}

Test(store, parts_that_are_not_there_stay_away) {
  expect_same_after(bare_tape(false));
  expect_same_after(bare_tape(true));
  expect_same_after(wb_tape_new());
}

Test(store, the_flags_of_the_header_come_back) {
  wb_tape *tape = bare_tape(false);
  tape->unique_refs = tape->depth_unknown = true;
  expect_same_after(tape);
}

Test(store, a_file_on_the_disk_is_the_same_as_one_in_memory) {
  char folder[64], path[128];
  make_folder(folder);
  snprintf(path, sizeof path, "%s/day.h5", folder);
  wb_tape *tape = full_tape(), *again = NULL;
  wb_error error = {0};
  cr_assert_eq(wb_store_write(tape, path, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_store_read(path, &again, &error), WB_OK, "%s", error.text);
  cr_expect_str_eq(difference(tape, again), "");
  cr_expect_eq(entries_of(folder), 1, "a temporary file was left behind");
  wb_tape_free(again);
  wb_tape_free(tape);
  remove_folder(folder);
}

Test(store, equal_tapes_make_equal_bytes) {
  void *bytes[2];
  size_t size[2];
  for (int k = 0; k < 2; k++) {
    wb_tape *tape = full_tape();
    cr_assert_eq(wb_store_write_image(tape, &bytes[k], &size[k], NULL), WB_OK);
    wb_tape_free(tape);
    usleep(k == 0 ? 1100000 : 0); /* HDF5 keeps times in whole seconds */
  }
  cr_assert_eq(size[0], size[1]);
  cr_expect_arr_eq(bytes[0], bytes[1], size[0]);
  free(bytes[0]);
  free(bytes[1]);
}

Test(store, a_tape_that_breaks_the_rules_is_not_written) {
  char folder[64], path[128];
  make_folder(folder);
  snprintf(path, sizeof path, "%s/day.h5", folder);
  wb_tape *tape = full_tape();
  wb_error error = {0};
  tape->seed[1].qty = 0;
  cr_expect_eq(wb_store_write(tape, path, &error), WB_ERROR_FORMAT);
  cr_expect(strstr(error.text, "seed[1]: qty") != NULL, "%s", error.text);
  cr_expect_eq(entries_of(folder), 0);
  wb_tape_free(tape);
  remove_folder(folder);
}

/* ---- a disk that refuses ---- */

/* Runs `body` in a child whose files may grow to `limit` bytes; its exit code. */
static int with_small_disk(rlim_t limit, int (*body)(const char *path), const char *path) {
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit small = {limit, limit};
    setrlimit(RLIMIT_FSIZE, &small);
    _exit(body(path));
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static int write_expecting_an_error(const char *path) {
  wb_tape *tape = long_tape(20000, 5);
  wb_error error = {0};
  const wb_status status = wb_store_write(tape, path, &error);
  wb_tape_free(tape);
  return status == WB_ERROR_IO && strstr(error.text, strerror(EFBIG)) != NULL &&
                 strstr(error.text, path) != NULL
             ? 0
             : 1;
}

static void put_text(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  cr_assert_not_null(file);
  fputs(text, file);
  fclose(file);
}

static void expect_text(const char *path, const char *text) {
  char got[64] = {0};
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file);
  got[fread(got, 1, sizeof got - 1, file)] = 0;
  fclose(file);
  cr_expect_str_eq(got, text);
}

Test(store, a_full_disk_leaves_the_old_file_and_nothing_else) {
  char folder[64], path[128];
  make_folder(folder);
  snprintf(path, sizeof path, "%s/day.h5", folder);
  put_text(path, "old");
  cr_expect_eq(with_small_disk(4096, write_expecting_an_error, path), 0);
  cr_expect_eq(with_small_disk(0, write_expecting_an_error, path), 0);
  expect_text(path, "old");
  cr_expect_eq(entries_of(folder), 1);
  remove_folder(folder);
}

Test(store, a_device_that_is_full_is_an_error) {
  wb_tape *tape = bare_tape(false);
  wb_error error = {0};
  cr_expect_eq(wb_store_write(tape, "/dev/full", &error), WB_ERROR_IO);
  cr_expect(strstr(error.text, strerror(ENOSPC)) != NULL, "%s", error.text);
  wb_tape_free(tape);
}

Test(store, a_folder_that_is_not_there_is_an_error) {
  wb_tape *tape = bare_tape(false);
  wb_error error = {0};
  cr_expect_eq(wb_store_write(tape, "/nowhere/at/all.h5", &error), WB_ERROR_IO);
  cr_expect(strstr(error.text, strerror(ENOENT)) != NULL, "%s", error.text);
  wb_tape_free(tape);
  cr_expect_eq(wb_store_read("/nowhere/at/all.h5", &tape, &error), WB_ERROR_IO);
  cr_expect_null(tape);
}

/* A process that writes one file over and over is killed at some moment, many times: under the
 * final name there is always a whole tape. */
Test(store, a_killed_process_leaves_a_whole_file, .timeout = 120) {
  char folder[64], path[128];
  make_folder(folder);
  snprintf(path, sizeof path, "%s/day.h5", folder);
  wb_tape *tape = long_tape(3000, 5);
  cr_assert_eq(wb_store_write(tape, path, NULL), WB_OK);
  for (int round = 0; round < 30; round++) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) wb_store_write(tape, path, NULL);
    }
    usleep((useconds_t)(500 + wb_mix64((uint64_t)round + 1) % 20000));
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    wb_tape *again = NULL;
    wb_error error = {0};
    cr_assert_eq(wb_store_read(path, &again, &error), WB_OK, "%s", error.text);
    cr_expect_str_eq(difference(tape, again), "");
    wb_tape_free(again);
  }
  wb_tape_free(tape);
  remove_folder(folder);
}

/* ---- damage ---- */

/* A valid file's bytes. */
static unsigned char *image_of(wb_tape *tape, size_t *size) {
  void *bytes = NULL;
  cr_assert_eq(wb_store_write_image(tape, &bytes, size, NULL), WB_OK);
  wb_tape_free(tape);
  return bytes;
}

static wb_status read_status(const void *bytes, size_t size, wb_error *error) {
  wb_tape *tape = NULL;
  const wb_status status = wb_store_read_image(bytes, size, &tape, error);
  wb_tape_free(tape);
  return status;
}

Test(store, any_part_of_a_file_is_an_error, .timeout = 120) {
  size_t size = 0;
  unsigned char *bytes = image_of(full_tape(), &size);
  cr_assert_eq(read_status(bytes, size, NULL), WB_OK);
  for (size_t cut = 0; cut < size; cut += cut < 600 ? 1 : 1 + size / 200) {
    wb_error error = {0};
    cr_expect_eq(read_status(bytes, cut, &error), WB_ERROR_FORMAT, "cut at %zu", cut);
    cr_expect(error.text[0] != 0);
  }
  free(bytes);
}

/* Everything in our own files has a checksum, so a flipped bit is found or has changed nothing (in
 * bytes that no one reads). In a child, so that a crash is a failure of this test only. */
static int flip_bits(uint64_t seed, int rounds) {
  size_t size = 0;
  wb_tape *tape = full_tape();
  void *image = NULL;
  if (wb_store_write_image(tape, &image, &size, NULL) != WB_OK) return 2;
  unsigned char *bytes = image;
  int unseen = 0;
  for (int k = 0; k < rounds; k++) {
    const uint64_t dice = wb_mix64(seed + (uint64_t)k);
    const size_t at = (size_t)(dice >> 8) % size;
    const unsigned char flip = (unsigned char)(1u << (dice & 7));
    bytes[at] ^= flip;
    wb_tape *again = NULL;
    if (wb_store_read_image(bytes, size, &again, NULL) == WB_OK) {
      unseen += difference(tape, again)[0] != 0;
    }
    wb_tape_free(again);
    bytes[at] ^= flip;
  }
  free(bytes);
  wb_tape_free(tape);
  return unseen == 0 ? 0 : 1;
}

Test(store, a_flipped_bit_never_changes_a_tape, .timeout = 240) {
  for (uint64_t round = 0; round < 8; round++) {
    const pid_t child = fork();
    if (child == 0) _exit(flip_bits(1 + round * 1000, 500));
    int status = 0;
    waitpid(child, &status, 0);
    cr_expect(WIFEXITED(status), "round %d: signal %d", (int)round, WTERMSIG(status));
    cr_expect_eq(WEXITSTATUS(status), 0, "round %d: a tape changed unseen", (int)round);
  }
}

Test(store, something_else_is_no_tape) {
  wb_error error = {0};
  const char text[] = "34200.004241176,1,16113575,18,5853300,1\n";
  cr_expect_eq(read_status(text, sizeof text - 1, &error), WB_ERROR_FORMAT);
  cr_expect(strstr(error.text, "expected an HDF5 file") != NULL, "%s", error.text);
}

/* Running the program from tests, and the files around it. */
#define _GNU_SOURCE
#include "run.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *program(void) {
  const char *path = getenv("WB_PROGRAM");
  cr_assert_not_null(path, "WB_PROGRAM names no program: run this through ctest");
  return path;
}

/* Becomes the program, with two files as what it prints to. */
static void become(const char *const *arguments, int out, int err, long file_bytes) {
  enum { MOST = 32 };
  char *line[MOST] = {(char *)program()};
  int count = 1;
  for (; arguments[count - 1] != NULL && count + 1 < MOST; count++) {
    line[count] = (char *)arguments[count - 1];
  }
  if (file_bytes > 0) {
    struct rlimit limit = {(rlim_t)file_bytes, (rlim_t)file_bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  int nothing = open("/dev/null", O_RDONLY);
  if (dup2(nothing, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) {
    _exit(126);
  }
  execv(line[0], line);
  _exit(127);
}

static char *content_of(FILE *file, size_t *bytes) {
  cr_assert_eq(fseek(file, 0, SEEK_END), 0);
  *bytes = (size_t)ftell(file);
  rewind(file);
  char *content = malloc(*bytes + 1);
  cr_assert_not_null(content);
  cr_assert_eq(fread(content, 1, *bytes, file), *bytes);
  content[*bytes] = '\0';
  return content;
}

run_result run_program(const char *const *arguments, long file_bytes) {
  run_result result = {.status = -1};
  FILE *out = tmpfile(), *err = tmpfile();
  cr_assert(out != NULL && err != NULL);
  int state;
  pid_t child = fork();
  if (child == 0) {
    become(arguments, fileno(out), fileno(err), file_bytes);
  }
  cr_assert_gt(child, 0);
  cr_assert_eq(waitpid(child, &state, 0), child);
  if (WIFEXITED(state)) {
    result.status = WEXITSTATUS(state);
  }
  size_t err_bytes;
  result.out = content_of(out, &result.out_bytes);
  result.err = content_of(err, &err_bytes);
  fclose(out);
  fclose(err);
  return result;
}

void run_free(run_result *result) {
  free(result->out);
  free(result->err);
  memset(result, 0, sizeof *result);
}

bool run_killed(const char *const *arguments, long after_us) {
  int nothing = open("/dev/null", O_WRONLY);
  int state;
  pid_t child = fork();
  if (child == 0) {
    become(arguments, nothing, nothing, 0);
  }
  cr_assert_gt(child, 0);
  usleep((useconds_t)after_us);
  kill(child, SIGKILL);
  cr_assert_eq(waitpid(child, &state, 0), child);
  close(nothing);
  return WIFSIGNALED(state);
}

int run_interrupted(const char *const *arguments, const char *folder, int entries, int number) {
  int nothing = open("/dev/null", O_WRONLY);
  int state;
  pid_t child = fork();
  if (child == 0) {
    become(arguments, nothing, nothing, 0);
  }
  cr_assert_gt(child, 0);
  for (int i = 0; i < 20000 && count_entries(folder) < entries; i++) {
    usleep(1000);
  }
  kill(child, number);
  pid_t ended = 0;
  for (int i = 0; i < 20000 && (ended = waitpid(child, &state, WNOHANG)) == 0; i++) {
    usleep(1000);
  }
  if (ended == 0) { /* it did not hear */
    kill(child, SIGKILL);
    ended = waitpid(child, &state, 0);
  }
  cr_assert_eq(ended, child);
  close(nothing);
  return WIFSIGNALED(state) ? WTERMSIG(state) : -WEXITSTATUS(state);
}

void expect_refused(run_result result, const char *const *words) {
  cr_expect_eq(result.status, 2, "expected status 2, got %d: %s%s", result.status, result.err,
               result.out);
  cr_expect(strncmp(result.err, "warpbook", 8) == 0, "got \"%s\"", result.err);
  for (int i = 0; words[i] != NULL; i++) {
    cr_expect(strstr(result.err, words[i]) != NULL, "expected \"%s\" in \"%s\"", words[i],
              result.err);
  }
  run_free(&result);
}

json_t *expect_json(run_result result, int status) {
  json_error_t error;
  cr_assert_eq(result.status, status, "expected status %d, got %d: %s", status, result.status,
               result.err);
  json_t *json = json_loads(result.out, 0, &error);
  cr_assert_not_null(json, "no JSON: %s in \"%s\"", error.text, result.out);
  run_free(&result);
  return json;
}

int64_t number(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  cr_assert(json_is_integer(value), "no number \"%s\"", name);
  return json_integer_value(value);
}

const char *text(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  cr_assert(json_is_string(value), "no text \"%s\"", name);
  return json_string_value(value);
}

char *format(const char *pattern, ...) {
  char *made = NULL;
  va_list arguments;
  va_start(arguments, pattern);
  cr_assert_geq(vasprintf(&made, pattern, arguments), 0);
  va_end(arguments);
  return made;
}

bool exists(const char *path) { return access(path, F_OK) == 0; }

char *data_folder(const char *name) {
  const char *data = getenv("WB_TEST_DATA");
  char *path = format("%s/%s", data != NULL ? data : "", name);
  if (!exists(path)) {
    fprintf(stderr, "skipped: no recorded data at %s (WB_TEST_DATA)\n", path);
    free(path);
    return NULL;
  }
  return path;
}

char *find_in(const char *folder, const char *part) {
  DIR *directory = opendir(folder);
  cr_assert_not_null(directory, "no folder %s", folder);
  char *found = NULL;
  for (const struct dirent *entry; found == NULL && (entry = readdir(directory)) != NULL;) {
    if (strstr(entry->d_name, part) != NULL) {
      found = format("%s/%s", folder, entry->d_name);
    }
  }
  closedir(directory);
  cr_assert_not_null(found, "no %s in %s", part, folder);
  return found;
}

int count_entries(const char *folder) {
  DIR *directory = opendir(folder);
  cr_assert_not_null(directory, "no folder %s", folder);
  int count = -2;
  while (readdir(directory) != NULL) {
    count++;
  }
  closedir(directory);
  return count;
}

char *read_file(const char *path, size_t *bytes) {
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    return NULL;
  }
  char *content = content_of(file, bytes);
  fclose(file);
  return content;
}

void write_file(const char *path, const char *content) {
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file, "cannot write %s", path);
  cr_assert_geq(fputs(content, file), 0);
  cr_assert_eq(fclose(file), 0);
}

bool same_files(const char *left, const char *right) {
  size_t left_bytes = 0, right_bytes = 0;
  char *a = read_file(left, &left_bytes), *b = read_file(right, &right_bytes);
  bool same = a != NULL && b != NULL && left_bytes == right_bytes && memcmp(a, b, left_bytes) == 0;
  free(a);
  free(b);
  return same;
}

char *read_member(const char *archive, const char *part, size_t *bytes) {
  struct archive *reader = archive_read_new();
  struct archive_entry *entry;
  char *content = NULL;
  archive_read_support_filter_all(reader);
  archive_read_support_format_all(reader);
  cr_assert_eq(archive_read_open_filename(reader, archive, 1 << 16), ARCHIVE_OK);
  while (content == NULL && archive_read_next_header(reader, &entry) == ARCHIVE_OK) {
    if (strstr(archive_entry_pathname(entry), part) != NULL) {
      *bytes = (size_t)archive_entry_size(entry);
      content = malloc(*bytes + 1);
      cr_assert_not_null(content);
      cr_assert_eq(archive_read_data(reader, content, *bytes), (la_ssize_t)*bytes);
    }
  }
  archive_read_free(reader);
  cr_assert_not_null(content, "no %s in %s", part, archive);
  return content;
}

char *scratch_make(void) {
  const char *base = getenv("TMPDIR");
  char *folder = format("%s/warpbook-test-XXXXXX", base != NULL ? base : "/tmp");
  cr_assert_not_null(mkdtemp(folder));
  return folder;
}

static int remove_one(const char *path, const struct stat *state, int type, struct FTW *walk) {
  (void)state;
  (void)type;
  (void)walk;
  return remove(path);
}

void scratch_free(char *folder) {
  cr_expect_eq(nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
  free(folder);
}

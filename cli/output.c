/* Outputs: files that appear whole, or standard output. */
#include "output.h"

#include "interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool cli_output_is_standard(const char *path) {
  static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
  for (size_t i = 0; path != NULL && i < sizeof names / sizeof names[0]; i++) {
    if (strcmp(path, names[i]) == 0) {
      return true;
    }
  }
  return false;
}

/* The folder that `path` is in; false if there is none. */
static bool find_folder(const char *path, struct stat *folder) {
  const char *slash = strrchr(path, '/');
  char *name = slash == NULL   ? strdup(".")
               : slash == path ? strdup("/")
                               : strndup(path, (size_t)(slash - path));
  bool found = name != NULL && stat(name, folder) == 0;
  free(name);
  return found;
}

bool cli_output_is_same(const char *left, const char *right) {
  const char *left_slash = strrchr(left, '/'), *right_slash = strrchr(right, '/');
  struct stat a, b;
  return strcmp(left_slash != NULL ? left_slash + 1 : left,
                right_slash != NULL ? right_slash + 1 : right) == 0 &&
         find_folder(left, &a) && find_folder(right, &b) && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

/* A pipe or a device: it is written to directly, and opening it may wait for a reader. */
static bool is_special(const char *path) {
  struct stat now;
  return stat(path, &now) == 0 && !S_ISREG(now.st_mode);
}

wb_status cli_output_open(cli_output *output, const char *path, wb_error *error) {
  memset(output, 0, sizeof *output);
  output->wanted = path != NULL;
  output->standard = cli_output_is_standard(path);
  if (!output->wanted || output->standard) {
    return WB_OK;
  }
  if (is_special(path)) {
    return wb_output_open(path, &output->file, error);
  }
  interrupt_hold();
  wb_status status = wb_output_open(path, &output->file, error);
  interrupt_add(wb_output_temporary(output->file));
  interrupt_release();
  return status;
}

wb_status cli_output_room(cli_output *output, size_t bytes, char **room, wb_error *error) {
  if (!output->standard) {
    return wb_output_room(output->file, bytes, room, error);
  }
  if (bytes > output->scratch_bytes) {
    char *grown = realloc(output->scratch, bytes);
    if (grown == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "standard output: no memory for a line of %zu bytes",
                     bytes);
    }
    output->scratch = grown;
    output->scratch_bytes = bytes;
  }
  *room = output->scratch;
  return WB_OK;
}

static wb_status fail_standard(wb_error *error) {
  return WB_FAIL(error, WB_ERROR_IO, "standard output: cannot write it: %s", strerror(errno));
}

wb_status cli_output_advance(cli_output *output, size_t used, wb_error *error) {
  if (!output->standard) {
    wb_output_advance(output->file, used);
    return WB_OK;
  }
  return fwrite(output->scratch, 1, used, stdout) == used ? WB_OK : fail_standard(error);
}

wb_status cli_output_sync(cli_output *output, wb_error *error) {
  if (output->standard) {
    return fflush(stdout) == 0 ? WB_OK : fail_standard(error);
  }
  return output->file != NULL ? wb_output_sync(output->file, error) : WB_OK;
}

wb_status cli_output_close(cli_output *output, bool keep, wb_error *error) {
  wb_status status = WB_OK;
  interrupt_hold();
  interrupt_take_out(wb_output_temporary(output->file));
  if (output->file != NULL && keep) {
    status = wb_output_close(output->file, error);
  } else {
    wb_output_discard(output->file);
  }
  interrupt_release();
  free(output->scratch);
  memset(output, 0, sizeof *output);
  return status;
}

wb_status cli_output_end(cli_output *output, wb_status status, wb_error *error) {
  if (status == WB_OK) {
    status = cli_output_sync(output, error);
  }
  wb_status closed = cli_output_close(output, status == WB_OK, error);
  return status == WB_OK ? closed : status;
}

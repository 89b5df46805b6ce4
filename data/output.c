/* Whole-or-nothing files: a buffer, a temporary name, one rename at the end.
 *
 * Keep: nothing is ever written under the final name but by rename, unless that name is no regular
 * file; every path out of here either renames or unlinks the temporary file. */
#define _GNU_SOURCE
#include "data/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct wb_output {
  int fd;
  bool direct, synced; /* direct: the final name is a device or a pipe */
  size_t used;         /* of the buffer */
  char *path, *folder, *temporary;
  char buffer[WB_OUTPUT_ROOM_BYTES];
};

static wb_status fail_io(const wb_output *output, const char *what, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_IO, "%s: cannot %s: %s", output->path, what, strerror(errno));
}

static void release(wb_output *output) {
  if (output->fd >= 0) {
    close(output->fd);
  }
  free(output->path);
  free(output->folder);
  free(output->temporary);
  free(output);
}

/* Fills in path, folder and room for the temporary name. */
static bool set_names(wb_output *output, const char *path) {
  const char *slash = strrchr(path, '/');
  output->path = strdup(path);
  if (slash == NULL) {
    output->folder = strdup(".");
  } else {
    output->folder = strndup(path, slash == path ? 1 : (size_t)(slash - path));
  }
  return output->path != NULL && output->folder != NULL;
}

/* A new file beside the final one. Numbers are tried until a name is free, so that files of killed
 * processes and of other threads are never touched. */
static wb_status open_temporary(wb_output *output, wb_error *error) {
  const char *slash = strrchr(output->path, '/');
  const char *name = slash == NULL ? output->path : slash + 1;
  const size_t room = strlen(output->folder) + strlen(name) + 64;
  output->temporary = malloc(room);
  if (output->temporary == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its temporary name", output->path);
  }
  for (int n = 0;; n++) {
    snprintf(output->temporary, room, "%s/.%.200s.tmp-%ld-%d", output->folder, name, (long)getpid(),
             n);
    output->fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (output->fd >= 0 || errno != EEXIST || n == 10000) {
      break;
    }
  }
  if (output->fd < 0) {
    const wb_status status = fail_io(output, "create a temporary file beside it", error);
    free(output->temporary);
    output->temporary = NULL;
    return status;
  }
  return WB_OK;
}

wb_status wb_output_open(const char *path, wb_output **result, wb_error *error) {
  *result = NULL;
  if (path[0] == 0 || path[strlen(path) - 1] == '/') {
    return WB_FAIL(error, WB_ERROR_IO, "\"%s\": expected the name of a file", path);
  }
  wb_output *output = malloc(sizeof *output);
  if (output == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its buffer", path);
  }
  output->fd = -1;
  output->direct = output->synced = false;
  output->used = 0;
  output->path = output->folder = output->temporary = NULL;
  if (!set_names(output, path)) {
    release(output);
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its name", path);
  }
  struct stat now;
  wb_status status = WB_OK;
  if (stat(path, &now) == 0 && !S_ISREG(now.st_mode)) {
    output->direct = true;
    output->fd = open(path, O_WRONLY | O_CLOEXEC);
    if (output->fd < 0) {
      status = fail_io(output, "open it for writing", error);
    }
  } else {
    status = open_temporary(output, error);
  }
  if (status != WB_OK) {
    release(output);
    return status;
  }
  *result = output;
  return WB_OK;
}

const char *wb_output_path(const wb_output *output) { return output->path; }

const char *wb_output_temporary(const wb_output *output) {
  return output != NULL ? output->temporary : NULL;
}

static wb_status write_all(wb_output *output, const char *bytes, size_t count, wb_error *error) {
  while (count > 0) {
    const ssize_t done = write(output->fd, bytes, count < (1u << 30) ? count : (1u << 30));
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      errno = done == 0 ? ENOSPC : errno;
      return fail_io(output, "write it", error);
    }
    bytes += done;
    count -= (size_t)done;
  }
  return WB_OK;
}

static wb_status flush(wb_output *output, wb_error *error) {
  const size_t used = output->used;
  output->used = 0;
  return write_all(output, output->buffer, used, error);
}

wb_status wb_output_write(wb_output *output, const void *bytes, size_t count, wb_error *error) {
  if (count > sizeof output->buffer - output->used) {
    WB_TRY(flush(output, error));
    if (count > sizeof output->buffer) {
      return write_all(output, bytes, count, error);
    }
  }
  memcpy(output->buffer + output->used, bytes, count);
  output->used += count;
  return WB_OK;
}

wb_status wb_output_room(wb_output *output, size_t bytes, char **room, wb_error *error) {
  if (bytes > sizeof output->buffer) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: room: expected at most %zu bytes, got %zu",
                   output->path, sizeof output->buffer, bytes);
  }
  if (bytes > sizeof output->buffer - output->used) {
    WB_TRY(flush(output, error));
  }
  *room = output->buffer + output->used;
  return WB_OK;
}

void wb_output_advance(wb_output *output, size_t used) { output->used += used; }

wb_status wb_output_sync(wb_output *output, wb_error *error) {
  WB_TRY(flush(output, error));
  /* devices and pipes have no disk behind them */
  if (!output->direct && fsync(output->fd) != 0) {
    return fail_io(output, "flush it to the disk", error);
  }
  output->synced = true;
  return WB_OK;
}

/* Makes the rename itself survive a power cut. Some file systems cannot flush a folder: the file
 * is whole under its final name then too, so that is no failure. */
static void sync_folder(const wb_output *output) {
  const int fd = open(output->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    (void)fsync(fd);
    close(fd);
  }
}

wb_status wb_output_close(wb_output *output, wb_error *error) {
  wb_status status = WB_OK;
  if (!output->synced || output->used > 0) {
    status = wb_output_sync(output, error);
  }
  if (status == WB_OK) {
    const int fd = output->fd;
    output->fd = -1;
    if (close(fd) != 0) {
      status = fail_io(output, "close it", error);
    }
  }
  if (status == WB_OK && !output->direct) {
    if (rename(output->temporary, output->path) != 0) {
      status = fail_io(output, "rename its temporary file to it", error);
    } else {
      sync_folder(output);
    }
  }
  if (status != WB_OK) {
    wb_output_discard(output);
    return status;
  }
  release(output);
  return WB_OK;
}

void wb_output_discard(wb_output *output) {
  if (output == NULL) {
    return;
  }
  if (output->temporary != NULL) {
    unlink(output->temporary);
  }
  release(output);
}

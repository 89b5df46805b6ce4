/* Status names and error texts. */
#define _POSIX_C_SOURCE 200809L
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *wb_status_name(wb_status status) {
  static const char *const names[] = {
#define X(name, meaning) #name,
      WB_STATUSES(X)
#undef X
  };
  size_t count = sizeof names / sizeof names[0];
  return (size_t)status < count ? names[status] : "UNKNOWN";
}

wb_status wb_error_set(wb_error *error, wb_status status, const char *format, ...) {
  if (error != NULL) {
    va_list arguments;
    va_start(arguments, format);
    error->status = status;
    (void)vsnprintf(error->text, sizeof error->text, format, arguments);
    va_end(arguments);
  }
  return status;
}

wb_status wb_error_prefix(wb_error *error, const char *format, ...) {
  if (error == NULL) {
    return WB_ERROR_INTERNAL;
  }
  char prefix[WB_ERROR_TEXT_BYTES];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(prefix, sizeof prefix - 2, format, arguments);
  va_end(arguments);
  size_t before = strlen(prefix);
  memcpy(prefix + before, ": ", 2);
  before += 2;
  /* the old text moves back and loses what no longer fits */
  size_t room = sizeof error->text - before;
  size_t kept = strnlen(error->text, sizeof error->text - 1);
  kept = kept < room ? kept : room - (room > 0);
  memmove(error->text + before, error->text, kept);
  memcpy(error->text, prefix, before);
  error->text[before + kept] = '\0';
  return error->status;
}

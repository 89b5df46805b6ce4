/* Status names and error texts. */
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
  char old[WB_ERROR_TEXT_BYTES];
  memcpy(old, error->text, sizeof old);
  va_list arguments;
  va_start(arguments, format);
  int used = vsnprintf(error->text, sizeof error->text, format, arguments);
  va_end(arguments);
  size_t at = used < 0 ? 0 : (size_t)used;
  if (at < sizeof error->text - 1) {
    (void)snprintf(error->text + at, sizeof error->text - at, ": %s", old);
  }
  return error->status;
}

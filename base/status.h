/* Status codes and error texts, shared by every room.
 *
 * A function that can fail returns a wb_status and takes a `wb_error *` as its last argument. The
 * caller owns that struct (the stack will do) and may pass NULL; it is written only on failure and
 * holds one line that names what failed, where, what was given and what was expected. The library
 * never prints, exits or aborts. */
#ifndef WB_BASE_STATUS_H
#define WB_BASE_STATUS_H

#if defined(__GNUC__)
#define WB_API                         __attribute__((visibility("default")))
#define WB_PRINTF(format_at, first_at) __attribute__((format(printf, format_at, first_at)))
#else
#define WB_API
#define WB_PRINTF(format_at, first_at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/*  name         what it means to a caller */
#define WB_STATUSES(X)                                                \
  X(OK, "success")                                                    \
  X(ERROR_ARGUMENT, "an argument is out of its documented range")     \
  X(ERROR_MEMORY, "memory could not be had")                          \
  X(ERROR_IO, "the operating system refused a file operation")        \
  X(ERROR_FORMAT, "a file's content is not what its format asks for") \
  X(ERROR_STATE, "the call is not allowed now")                       \
  X(ERROR_UNAVAILABLE, "an optional part is not on this machine")     \
  X(ERROR_DEVICE, "a device or its driver failed")                    \
  X(ERROR_LIMIT, "a documented limit was passed")                     \
  X(ERROR_INTERNAL, "a mistake of this library's own")

typedef enum wb_status {
#define X(name, meaning) WB_##name,
  WB_STATUSES(X)
#undef X
} wb_status;

enum { WB_ERROR_TEXT_BYTES = 1024 };

typedef struct wb_error {
  wb_status status;
  char text[WB_ERROR_TEXT_BYTES]; /* one line without a newline, cut at the end if too long */
} wb_error;

/* The enumerator's name without its prefix, as "ERROR_FORMAT"; "UNKNOWN" for any other number. */
WB_API const char *wb_status_name(wb_status status);

/* Writes `status` and the formatted text to `error` (which may be NULL); returns `status`. */
WB_API wb_status wb_error_set(wb_error *error, wb_status status, const char *format, ...)
    WB_PRINTF(3, 4);

/* Puts "<formatted text>: " before the text that `error` holds: a caller adds where it was. */
WB_API wb_status wb_error_prefix(wb_error *error, const char *format, ...) WB_PRINTF(2, 3);

#if defined(__clang_analyzer__) /* which must see that a failure is never WB_OK */
#define WB_FAIL(error, status, ...) (wb_error_set((error), (status), __VA_ARGS__), (status))
#else
#define WB_FAIL(error, status, ...) wb_error_set((error), (status), __VA_ARGS__)
#endif

/* Returns from the calling function with the status of `call` unless it is WB_OK. */
#define WB_TRY(call)                  \
  do {                                \
    wb_status wb_try_status = (call); \
    if (wb_try_status != WB_OK) {     \
      return wb_try_status;           \
    }                                 \
  } while (0)

#ifdef __cplusplus
}
#endif
#endif

/* Where bytes come from: plain files, gzip files, members of archives. Private to data/. */
#ifndef WB_DATA_SOURCE_H
#define WB_DATA_SOURCE_H

#include "../base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum wb_source_kind {
  WB_SOURCE_PLAIN,
  WB_SOURCE_GZIP,    /* one compressed file */
  WB_SOURCE_ARCHIVE, /* .zip or .7z */
  WB_SOURCE_HDF5,
  WB_SOURCE_OTHER /* compressed in a way that is not read here; a kind that is never told */
} wb_source_kind;

/* A whole text. Start from {0}; wb_source_text_free gives back what it owns, also after an error. */
typedef struct wb_source_text {
  char *name; /* path, or "path:member" */
  const char *bytes;
  size_t size;
  void *owned;  /* from malloc, or NULL */
  void *mapped; /* from mmap, or NULL: the file must not shrink while it is read */
} wb_source_text;

/* Looks at the first bytes, never at the name, but for one thing: a name that promises an archive of
 * other bytes is WB_ERROR_FORMAT, as are bytes of a kind that is not read. WB_ERROR_IO if the file cannot
 * be read. Pipes and devices, which cannot be looked at twice, are not opened and pass for plain. */
wb_status wb_source_kind_of(const char *path, wb_source_kind *kind, wb_error *error);

/* Reads a plain or a gzip file, or a pipe that either comes through. */
wb_status wb_source_read(const char *path, wb_source_text *text, wb_error *error);
void wb_source_text_free(wb_source_text *text);

/* Size of a plain file in bytes, -1 if that cannot be told. */
int64_t wb_source_size(const char *path);

/* Called for each file in an archive; `bytes` is -1 where the archive does not tell. The name lives
 * until the function returns. A status other than WB_OK ends the listing. */
typedef wb_status wb_source_member(void *context, const char *name, int64_t bytes, wb_error *error);
wb_status wb_source_list(const char *path, wb_source_member *function, void *context,
                         wb_error *error);

/* Reads `count` members, names[i] into texts[i], in one pass. WB_ERROR_FORMAT if one is not there. */
wb_status wb_source_read_members(const char *path, int count, const char *const *names,
                                 wb_source_text *texts, wb_error *error);

#endif

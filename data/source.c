/* Bytes of plain files by mmap, of .gz files through zlib (libarchive does not look at their checksums),
 * of archives through libarchive. */
#define _GNU_SOURCE
#include "data/source.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum {
  BLOCK_BYTES = 1 << 20,   /* what libarchive and pipes are read by */
  TRUSTED_BYTES = 1 << 30, /* a larger size is not believed before the bytes have come */
  FIRST_ROOM_BYTES = 1 << 16
};

static wb_status system_failure(const char *path, const char *what, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_IO, "%s: %s: %s", path, what, strerror(errno));
}

static wb_status no_memory(const char *path, size_t bytes, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for %zu bytes", path, bytes);
}

/* ---- kinds ---- */

typedef struct signature {
  const char *bytes;
  size_t length;
  wb_source_kind kind;
  const char *ending; /* of names that promise it; NULL: it is not read, so a name may say so */
  const char *what;
} signature;

static const signature signatures[] = {
    {"\x89HDF\r\n\x1a\n", 8, WB_SOURCE_HDF5, ".h5", "an HDF5 file"},
    {"PK\x03\x04", 4, WB_SOURCE_ARCHIVE, ".zip", "a .zip archive"},
    {"PK\x05\x06", 4, WB_SOURCE_ARCHIVE, ".zip", "a .zip archive"}, /* an empty one */
    {"7z\xbc\xaf\x27\x1c", 6, WB_SOURCE_ARCHIVE, ".7z", "a .7z archive"},
    {"\x1f\x8b", 2, WB_SOURCE_GZIP, ".gz", "a .gz file"},
    {"\xfd"
     "7zXZ",
     6, WB_SOURCE_OTHER, NULL, "an .xz file"},
    {"BZh", 3, WB_SOURCE_OTHER, NULL, "a .bz2 file"},
    {"\x28\xb5\x2f\xfd", 4, WB_SOURCE_OTHER, NULL, "a .zst file"},
    {"Rar!\x1a\x07", 6, WB_SOURCE_OTHER, NULL, "a .rar archive"},
};
enum { SIGNATURES = sizeof signatures / sizeof *signatures, SIGNATURE_BYTES = 8 };

/* NULL for what is text as far as its first bytes tell. */
static const signature *signature_of(const char *bytes, size_t count) {
  for (int i = 0; i < SIGNATURES; i++) {
    const signature *s = &signatures[i];
    if (count >= s->length && memcmp(bytes, s->bytes, s->length) == 0) {
      return s;
    }
  }
  return NULL;
}

static bool ends_with(const char *text, const char *ending) {
  size_t length = strlen(text), tail = strlen(ending);
  return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static wb_status not_read(const char *path, const signature *s, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected a text, .gz, .zip, .7z or .h5, got %s", path,
                 s->what);
}

static wb_status first_bytes(const char *path, char first[SIGNATURE_BYTES], size_t *count,
                             wb_error *error) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return system_failure(path, "cannot be opened", error);
  }
  ssize_t got = pread(file, first, SIGNATURE_BYTES, 0);
  wb_status status = got < 0 ? system_failure(path, "cannot be read", error) : WB_OK;
  *count = got < 0 ? 0 : (size_t)got;
  (void)close(file);
  return status;
}

wb_status wb_source_kind_of(const char *path, wb_source_kind *kind, wb_error *error) {
  struct stat status;
  *kind = WB_SOURCE_PLAIN;
  if (stat(path, &status) != 0) {
    return system_failure(path, "cannot be opened", error);
  }
  if (S_ISDIR(status.st_mode)) {
    return WB_FAIL(error, WB_ERROR_IO, "%s: expected a file, got a folder", path);
  }
  if (!S_ISREG(status.st_mode)) {
    return WB_OK;
  }
  char first[SIGNATURE_BYTES] = {0};
  size_t count = 0;
  WB_TRY(first_bytes(path, first, &count, error));
  const signature *found = signature_of(first, count);
  if (found != NULL) {
    *kind = found->kind;
    return *kind == WB_SOURCE_OTHER ? not_read(path, found, error) : WB_OK;
  }
  for (int i = 0; i < SIGNATURES; i++) {
    const char *ending = signatures[i].ending;
    if (ending != NULL && ends_with(path, ending)) {
      return WB_FAIL(error, WB_ERROR_FORMAT,
                     "%s: expected a %s file as its name says, got other first bytes", path,
                     ending);
    }
  }
  return WB_OK;
}

int64_t wb_source_size(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && S_ISREG(status.st_mode) ? (int64_t)status.st_size : -1;
}

/* ---- growing buffers ---- */

typedef struct buffer {
  char *bytes;
  size_t size, room;
} buffer;

/* Makes room for at least one more byte. */
static bool widen(buffer *b) {
  if (b->size < b->room) {
    return true;
  }
  size_t room = b->room > 0 ? b->room * 2 : FIRST_ROOM_BYTES;
  char *larger = room > b->room ? realloc(b->bytes, room) : NULL;
  if (larger == NULL) {
    return false;
  }
  b->bytes = larger;
  b->room = room;
  return true;
}

static void give(buffer *b, wb_source_text *text) {
  text->owned = b->bytes;
  text->bytes = b->bytes != NULL ? b->bytes : "";
  text->size = b->size;
}

/* ---- plain files ---- */

static wb_status read_stream(const char *path, int file, wb_source_text *text, wb_error *error) {
  buffer b = {0};
  for (;;) {
    if (!widen(&b)) {
      free(b.bytes);
      return no_memory(path, b.room, error);
    }
    ssize_t got = read(file, b.bytes + b.size, b.room - b.size);
    if (got == 0) {
      give(&b, text);
      return WB_OK;
    }
    if (got < 0 && errno != EINTR) {
      free(b.bytes);
      return system_failure(path, "cannot be read", error);
    }
    b.size += got > 0 ? (size_t)got : 0;
  }
}

static wb_status read_plain(const char *path, wb_source_text *text, wb_error *error) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat status;
  if (file < 0) {
    return system_failure(path, "cannot be opened", error);
  }
  wb_status result = WB_OK;
  bool whole = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  void *mapped =
      whole ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0)
            : MAP_FAILED;
  if (mapped != MAP_FAILED) {
    text->mapped = mapped;
    text->bytes = mapped;
    text->size = (size_t)status.st_size;
  } else {
    result = read_stream(path, file, text, error);
  }
  (void)close(file);
  return result;
}

/* ---- libarchive ---- */

static wb_status archive_failure(const char *path, const char *member, struct archive *archive,
                                 wb_error *error) {
  const char *reason = archive_error_string(archive);
  return WB_FAIL(error, archive_errno(archive) == ENOMEM ? WB_ERROR_MEMORY : WB_ERROR_FORMAT,
                 "%s%s%s: %s", path, member != NULL ? ":" : "", member != NULL ? member : "",
                 reason != NULL ? reason : "the archive is damaged");
}

static wb_status open_archive(const char *path, struct archive **archive, wb_error *error) {
  struct archive *a = archive_read_new();
  *archive = a;
  if (a == NULL) {
    return no_memory(path, 0, error);
  }
  int failed = archive_read_support_format_zip(a) | archive_read_support_format_7zip(a);
  if (failed != ARCHIVE_OK || archive_read_open_filename(a, path, BLOCK_BYTES) != ARCHIVE_OK) {
    return archive_failure(path, NULL, a, error);
  }
  return WB_OK;
}

/* The next regular file; *name NULL at the end. */
static wb_status next_member(const char *path, struct archive *archive, const char **name,
                             int64_t *bytes, wb_error *error) {
  struct archive_entry *entry;
  for (;;) {
    int result = archive_read_next_header(archive, &entry);
    if (result == ARCHIVE_EOF) {
      *name = NULL;
      return WB_OK;
    }
    if (result < ARCHIVE_WARN) {
      return archive_failure(path, NULL, archive, error);
    }
    *name = archive_entry_pathname(entry);
    if (*name == NULL) {
      *name = archive_entry_pathname_utf8(entry);
    }
    *bytes = archive_entry_size_is_set(entry) ? archive_entry_size(entry) : -1;
    if (*name != NULL && archive_entry_filetype(entry) == AE_IFREG) {
      return WB_OK;
    }
  }
}

static wb_status read_member(const char *path, const char *member, struct archive *archive,
                             int64_t bytes, wb_source_text *text, wb_error *error) {
  buffer b = {0};
  if (bytes > 0 && bytes <= TRUSTED_BYTES) {
    b.room = (size_t)bytes + 1; /* the end is met without growing */
    b.bytes = malloc(b.room);
    b.room = b.bytes != NULL ? b.room : 0;
  }
  for (;;) {
    if (!widen(&b)) {
      free(b.bytes);
      return no_memory(path, b.room, error);
    }
    la_ssize_t got = archive_read_data(archive, b.bytes + b.size, b.room - b.size);
    if (got == 0) {
      give(&b, text);
      return WB_OK;
    }
    if (got < 0 && got != ARCHIVE_RETRY) {
      free(b.bytes);
      return archive_failure(path, member, archive, error);
    }
    b.size += got > 0 ? (size_t)got : 0;
  }
}

/* ---- gzip ---- */

static wb_status gzip_failure(const char *path, const char *what, wb_error *error) {
  return WB_FAIL(error, WB_ERROR_FORMAT, "%s: %s", path, what);
}

/* One gzip member of `from`, whose checksum and length are checked; *used tells its bytes. */
static wb_status inflate_member(const char *path, const wb_source_text *from, size_t at,
                                size_t *used, buffer *b, wb_error *error) {
  enum { GZIP_WINDOW = 15 + 16 };
  z_stream stream = {0};
  if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
    return no_memory(path, 0, error);
  }
  size_t taken = 0;
  int result = Z_OK;
  wb_status status = WB_OK;
  /* zlib counts in 32 bits: large files are handed over in pieces */
  while (status == WB_OK && result == Z_OK) {
    size_t left = from->size - at - taken;
    if (!widen(b)) {
      status = no_memory(path, b->room, error);
      break;
    }
    size_t room = b->room - b->size;
    uInt given = left < UINT_MAX ? (uInt)left : UINT_MAX;
    uInt offered = room < UINT_MAX ? (uInt)room : UINT_MAX;
    stream.next_in = (z_const Bytef *)(uintptr_t)(from->bytes + at + taken);
    stream.avail_in = given;
    stream.next_out = (Bytef *)b->bytes + b->size;
    stream.avail_out = offered;
    result = inflate(&stream, Z_NO_FLUSH);
    taken += given - stream.avail_in;
    b->size += offered - stream.avail_out;
  }
  if (status == WB_OK && result == Z_MEM_ERROR) {
    status = no_memory(path, 0, error);
  } else if (status == WB_OK && result == Z_BUF_ERROR) {
    status = gzip_failure(path, "truncated gzip input", error);
  } else if (status == WB_OK && result != Z_STREAM_END) {
    status = gzip_failure(path, stream.msg != NULL ? stream.msg : "damaged gzip input", error);
  }
  (void)inflateEnd(&stream);
  *used = taken;
  return status;
}

/* What a .gz file holds: its members one after the other; zeros may follow them, as padding. */
static wb_status inflate_all(const char *path, const wb_source_text *from, buffer *b,
                             wb_error *error) {
  size_t at = 0, used = 0;
  while (at < from->size) {
    if (at > 0 && from->bytes[at] == 0) {
      at++;
      continue;
    }
    if (at > 0 && from->bytes[at] != '\x1f') {
      return gzip_failure(path, "expected the end after the gzip data, got more bytes", error);
    }
    WB_TRY(inflate_member(path, from, at, &used, b, error));
    at += used;
  }
  return WB_OK;
}

static wb_status read_gzip(const char *path, wb_source_text *text, wb_error *error) {
  wb_source_text packed = {0};
  buffer b = {0};
  wb_status status = read_plain(path, &packed, error);
  if (status == WB_OK) {
    status = inflate_all(path, &packed, &b, error);
  }
  wb_source_text_free(&packed);
  if (status != WB_OK) {
    free(b.bytes);
    return status;
  }
  give(&b, text);
  return WB_OK;
}

/* A stream's first bytes are seen only once it is read. */
static wb_status read_any(const char *path, wb_source_text *text, wb_error *error) {
  WB_TRY(read_plain(path, text, error));
  const signature *found = signature_of(text->bytes, text->size);
  if (found == NULL) {
    return WB_OK;
  }
  if (found->kind == WB_SOURCE_OTHER) {
    return not_read(path, found, error);
  }
  if (found->kind != WB_SOURCE_GZIP) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected a file, got %s through a pipe", path,
                   found->what);
  }
  buffer b = {0};
  const wb_status status = inflate_all(path, text, &b, error);
  if (status != WB_OK) {
    free(b.bytes);
    return status;
  }
  free(text->owned);
  give(&b, text);
  return WB_OK;
}

wb_status wb_source_read(const char *path, wb_source_text *text, wb_error *error) {
  wb_source_kind kind;
  WB_TRY(wb_source_kind_of(path, &kind, error));
  text->name = strdup(path);
  if (text->name == NULL) {
    return no_memory(path, strlen(path), error);
  }
  switch (kind) {
  case WB_SOURCE_PLAIN: return read_any(path, text, error);
  case WB_SOURCE_GZIP: return read_gzip(path, text, error);
  default:
    return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected a text or a .gz of one, got %s", path,
                   kind == WB_SOURCE_HDF5 ? "an HDF5 file" : "an archive");
  }
}

void wb_source_text_free(wb_source_text *text) {
  if (text->mapped != NULL) {
    (void)munmap(text->mapped, text->size);
  }
  free(text->owned);
  free(text->name);
  memset(text, 0, sizeof *text);
}

/* libarchive turns names into the thread's character set, and drops what that cannot write. A program
 * that never calls setlocale has ASCII there, so names are asked for in UTF-8, whatever was set. */
typedef struct name_locale {
  locale_t utf8, before;
} name_locale;

static name_locale use_utf8_names(void) {
  name_locale names = {newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), (locale_t)0};
  if (names.utf8 != (locale_t)0) {
    names.before = uselocale(names.utf8);
  }
  return names;
}

static void restore_locale(name_locale *names) {
  if (names->utf8 != (locale_t)0) {
    (void)uselocale(names->before);
    freelocale(names->utf8);
  }
}

wb_status wb_source_list(const char *path, wb_source_member *function, void *context,
                         wb_error *error) {
  struct archive *archive;
  name_locale names = use_utf8_names();
  wb_status status = open_archive(path, &archive, error);
  while (status == WB_OK) {
    const char *name;
    int64_t bytes;
    status = next_member(path, archive, &name, &bytes, error);
    if (status != WB_OK || name == NULL) {
      break;
    }
    status = function(context, name, bytes, error);
  }
  (void)archive_read_free(archive);
  restore_locale(&names);
  return status;
}

/* "path:member" */
static char *member_name(const char *path, const char *member) {
  size_t length = strlen(path) + strlen(member) + 2;
  char *name = malloc(length);
  if (name != NULL) {
    (void)snprintf(name, length, "%s:%s", path, member);
  }
  return name;
}

/* The first of the names that has no text yet and is `name` (NULL: any); -1 if there is none. */
static int wanted_index(const char *name, int count, const char *const *names,
                        const wb_source_text *texts) {
  for (int i = 0; i < count; i++) {
    if (texts[i].name == NULL && (name == NULL || strcmp(name, names[i]) == 0)) {
      return i;
    }
  }
  return -1;
}

static wb_status read_wanted(const char *path, struct archive *archive, int count,
                             const char *const *names, wb_source_text *texts, wb_error *error) {
  int missing;
  while ((missing = wanted_index(NULL, count, names, texts)) >= 0) {
    const char *name = NULL;
    int64_t bytes = 0;
    WB_TRY(next_member(path, archive, &name, &bytes, error));
    if (name == NULL) {
      return WB_FAIL(error, WB_ERROR_FORMAT, "%s: expected a member %s, got none", path,
                     names[missing]);
    }
    int index = wanted_index(name, count, names, texts);
    if (index < 0) {
      continue;
    }
    texts[index].name = member_name(path, name);
    if (texts[index].name == NULL) {
      return no_memory(path, strlen(name), error);
    }
    WB_TRY(read_member(path, names[index], archive, bytes, &texts[index], error));
  }
  return WB_OK;
}

wb_status wb_source_read_members(const char *path, int count, const char *const *names,
                                 wb_source_text *texts, wb_error *error) {
  struct archive *archive;
  name_locale locale = use_utf8_names();
  wb_status status = open_archive(path, &archive, error);
  if (status == WB_OK) {
    status = read_wanted(path, archive, count, names, texts, error);
  }
  (void)archive_read_free(archive);
  restore_locale(&locale);
  return status;
}

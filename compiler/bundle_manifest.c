/* The manifest of a bundle as text:
 *
 *   warpbook kernels 1
 *   kernel program=HASH symbol=NAME target=sm_90 lowering=2 ops=1 check=0 placement=0 warps=0
 *     instructions=900 block=4 shared=5120 placed=1 llvm=19.1.7 code=FILE,BYTES,SUM cubin=FILE,BYTES,SUM
 *     label="run 128 replay" report="why it was placed so"          (each kernel on one line)
 *   end COUNT SUM
 *
 * SUM is the checksum of everything before its line, so a cut or edited manifest is noticed. Reading
 * believes nothing: a line that is not of this form is an error that names it. */
#include "compiler/bundle_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINE "warpbook kernels 1\n"

/* ---- lists ---- */

wb_status wb_bundle_append(wb_bundle_list *list, const wb_bundle_entry *entry, wb_error *error) {
  if (list->count == list->capacity) {
    int32_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    wb_bundle_entry *grown = realloc(list->entries, (size_t)capacity * sizeof *grown);
    if (grown == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "bundle: no memory");
    list->entries = grown;
    list->capacity = capacity;
  }
  list->entries[list->count++] = *entry;
  return WB_OK;
}

void wb_bundle_list_free(wb_bundle_list *list) {
  free(list->entries);
  *list = (wb_bundle_list){0};
}

/* ---- writing ---- */

static void write_file(FILE *out, const char *key, const wb_bundle_file *file) {
  char sum[33];
  if (file->name[0] == '\0') return;
  wb_hash128_text(file->sum, sum);
  (void)fprintf(out, " %s=%s,%" PRId64 ",%s", key, file->name, file->bytes, sum);
}

static void write_entry(FILE *out, const wb_bundle_entry *e) {
  char program[33];
  wb_hash128_text(e->program, program);
  (void)fprintf(out,
                "kernel program=%s symbol=%s target=%s lowering=%d ops=%d check=%d placement=%d "
                "warps=%d instructions=%" PRId64 " block=%d shared=%d placed=%d llvm=%s",
                program, e->symbol, e->target, e->lowering, e->ops, e->check, e->placement,
                e->warps, e->instructions, e->block_warps, e->shared_bytes, e->placed,
                e->llvm[0] != '\0' ? e->llvm : "?");
  write_file(out, "code", &e->code);
  write_file(out, "cubin", &e->cubin);
  (void)fprintf(out, " label=\"%s\" report=\"%s\"\n", e->label, e->report);
}

wb_status wb_bundle_write_text(const wb_bundle_list *list, char **text, wb_error *error) {
  size_t size = 0;
  char sum[33];
  *text = NULL;
  FILE *out = open_memstream(text, &size);
  if (out == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "bundle: no memory");
  (void)fputs(FIRST_LINE, out);
  for (int32_t i = 0; i < list->count; i++) write_entry(out, &list->entries[i]);
  bool good = fflush(out) == 0;
  if (good) {
    wb_hash128_text(wb_hash_bytes(*text, size), sum);
    (void)fprintf(out, "end %d %s\n", list->count, sum);
  }
  good = !ferror(out) && good;
  if (fclose(out) == 0 && good) return WB_OK;
  free(*text);
  *text = NULL;
  return WB_FAIL(error, WB_ERROR_MEMORY, "bundle: no memory");
}

/* ---- reading ---- */

/* Copies the value of ` key=` on the line, without quotes; false if it is not there or too long. */
static bool field(const char *line, const char *key, char *value, size_t bytes) {
  char pattern[32];
  (void)snprintf(pattern, sizeof pattern, " %s=", key);
  const char *at = strstr(line, pattern);
  value[0] = '\0';
  if (at == NULL) return false;
  at += strlen(pattern);
  bool quoted = *at == '"';
  at += quoted;
  size_t length = strcspn(at, quoted ? "\"\n" : " \n");
  if (length >= bytes || (quoted && at[length] != '"')) return false;
  memcpy(value, at, length);
  value[length] = '\0';
  return true;
}

static bool number(const char *line, const char *key, int64_t most, int64_t *value) {
  char text[32], *end;
  if (!field(line, key, text, sizeof text) || text[0] == '\0') return false;
  *value = strtoll(text, &end, 10);
  return *end == '\0' && *value >= -1 && *value <= most;
}

static bool small(const char *line, const char *key, int32_t *value) {
  int64_t wide;
  bool good = number(line, key, INT32_MAX, &wide);
  *value = good ? (int32_t)wide : 0;
  return good;
}

static bool parse_hash(const char *text, wb_hash128 *hash) {
  uint64_t words[2] = {0, 0};
  if (strlen(text) != 32) return false;
  for (int i = 0; i < 32; i++) {
    const char *digits = "0123456789abcdef", *digit = strchr(digits, text[i]);
    if (digit == NULL || *digit == '\0') return false;
    words[i / 16] = words[i / 16] << 4 | (uint64_t)(digit - digits);
  }
  *hash = (wb_hash128){.low = words[1], .high = words[0]};
  return true;
}

/* NAME,BYTES,SUM; the name must stay in the folder. */
static bool file_of(const char *line, const char *key, wb_bundle_file *file) {
  char text[WB_BUNDLE_FILE_BYTES + 64], *end;
  if (!field(line, key, text, sizeof text)) return false;
  char *bytes = strchr(text, ','), *sum = bytes != NULL ? strchr(bytes + 1, ',') : NULL;
  if (sum == NULL) return false;
  *bytes++ = '\0';
  *sum++ = '\0';
  file->bytes = strtoll(bytes, &end, 10);
  bool good = *end == '\0' && file->bytes > 0 && parse_hash(sum, &file->sum) && text[0] != '\0' &&
              text[0] != '.' && strchr(text, '/') == NULL && strlen(text) < sizeof file->name;
  if (good) memcpy(file->name, text, strlen(text) + 1);
  return good;
}

static bool read_entry(const char *line, wb_bundle_entry *e) {
  char program[40];
  memset(e, 0, sizeof *e);
  bool good = field(line, "program", program, sizeof program) && parse_hash(program, &e->program) &&
              field(line, "symbol", e->symbol, sizeof e->symbol) &&
              field(line, "target", e->target, sizeof e->target) &&
              small(line, "lowering", &e->lowering) && small(line, "ops", &e->ops) &&
              small(line, "check", &e->check) && small(line, "placement", &e->placement) &&
              small(line, "warps", &e->warps) &&
              number(line, "instructions", INT64_MAX, &e->instructions) &&
              small(line, "block", &e->block_warps) && small(line, "shared", &e->shared_bytes) &&
              small(line, "placed", &e->placed) && field(line, "llvm", e->llvm, sizeof e->llvm) &&
              file_of(line, "code", &e->code) && field(line, "label", e->label, sizeof e->label) &&
              field(line, "report", e->report, sizeof e->report);
  return good && (strstr(line, " cubin=") == NULL || file_of(line, "cubin", &e->cubin));
}

/* The last line, which starts at `line`: is the rest of the text what was written? */
static wb_status check_end(const char *text, const char *line, int32_t count, wb_error *error) {
  char expected[64], sum[33];
  wb_hash128_text(wb_hash_bytes(text, (size_t)(line - text)), sum);
  (void)snprintf(expected, sizeof expected, "end %d %s\n", count, sum);
  if (strcmp(line, expected) == 0) return WB_OK;
  return WB_FAIL(error, WB_ERROR_FORMAT,
                 "its checksum is not that of its lines: edited or damaged");
}

static wb_status read_lines(const char *text, wb_bundle_list *list, wb_error *error) {
  const char *line = text + strlen(FIRST_LINE);
  char copy[2048];
  for (int number_of_line = 2;; number_of_line++) {
    const char *end = strchr(line, '\n');
    if (end == NULL) return WB_FAIL(error, WB_ERROR_FORMAT, "it is cut off");
    if (strncmp(line, "end ", 4) == 0) return check_end(text, line, list->count, error);
    size_t length = (size_t)(end - line);
    wb_bundle_entry entry;
    bool fits = length < sizeof copy && strncmp(line, "kernel ", 7) == 0;
    if (fits) {
      memcpy(copy, line, length);
      copy[length] = '\0';
    }
    if (!fits || !read_entry(copy, &entry)) {
      return WB_FAIL(error, WB_ERROR_FORMAT, "line %d: not a kernel", number_of_line);
    }
    WB_TRY(wb_bundle_append(list, &entry, error));
    line = end + 1;
  }
}

wb_status wb_bundle_read_text(const char *text, wb_bundle_list *list, wb_error *error) {
  *list = (wb_bundle_list){0};
  if (strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "its first line is not \"%.*s\"",
                   (int)strlen(FIRST_LINE) - 1, FIRST_LINE);
  }
  wb_status status = read_lines(text, list, error);
  if (status != WB_OK) wb_bundle_list_free(list);
  return status;
}

wb_status wb_bundle_read_file(const char *folder, const char *name, uint8_t **bytes, size_t *size,
                              wb_error *error) {
  char path[4096];
  int length = snprintf(path, sizeof path, "%s/%s", folder, name);
  *bytes = NULL;
  *size = 0;
  FILE *file = length > 0 && (size_t)length < sizeof path ? fopen(path, "rb") : NULL;
  if (file == NULL) return WB_FAIL(error, WB_ERROR_IO, "%s: cannot be read", name);
  long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
  if (end >= 0 && fseek(file, 0, SEEK_SET) == 0) *bytes = malloc((size_t)end + 1);
  bool good = *bytes != NULL && fread(*bytes, 1, (size_t)end, file) == (size_t)end;
  (void)fclose(file);
  if (good) {
    (*bytes)[end] = 0;
    *size = (size_t)end;
    return WB_OK;
  }
  free(*bytes);
  *bytes = NULL;
  return WB_FAIL(error, WB_ERROR_IO, "%s: cannot be read", name);
}

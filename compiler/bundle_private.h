/* What the files of bundles share. */
#ifndef WB_COMPILER_BUNDLE_PRIVATE_H
#define WB_COMPILER_BUNDLE_PRIVATE_H

#include "compiler/bundle.h"

enum { WB_BUNDLE_LABEL_BYTES = 96, WB_BUNDLE_TARGET_BYTES = 16, WB_BUNDLE_FILE_BYTES = 128 };

#define WB_BUNDLE_MANIFEST "manifest.txt"

/* A file of a bundle. */
typedef struct wb_bundle_file {
  char name[WB_BUNDLE_FILE_BYTES]; /* without folder; empty: there is none */
  int64_t bytes;
  wb_hash128 sum;
} wb_bundle_file;

/* A line of the manifest. */
typedef struct wb_bundle_entry {
  wb_hash128 program;                  /* wb_program_hash after passes */
  char symbol[WB_NAME_BYTES];          /* the program's name */
  char target[WB_BUNDLE_TARGET_BYTES]; /* "sm_90", "x86-64-v3" */
  int32_t lowering, ops;               /* interfaces of the build that made it */
  int32_t check, placement, warps;     /* as asked for */
  int64_t instructions;
  int32_t block_warps, shared_bytes, placed; /* of GPU code: as chosen */
  char llvm[24];
  char label[WB_BUNDLE_LABEL_BYTES];
  char report[256]; /* of GPU code */
  wb_bundle_file code, cubin;
} wb_bundle_entry;

typedef struct wb_bundle_list {
  wb_bundle_entry *entries;
  int32_t count, capacity;
} wb_bundle_list;

/* The manifest as text, of malloc; and back. WB_ERROR_FORMAT names the line. */
wb_status wb_bundle_write_text(const wb_bundle_list *list, char **text, wb_error *error);
wb_status wb_bundle_read_text(const char *text, wb_bundle_list *list, wb_error *error);
wb_status wb_bundle_append(wb_bundle_list *list, const wb_bundle_entry *entry, wb_error *error);
void wb_bundle_list_free(wb_bundle_list *list);

/* A whole file, of malloc, with a 0 behind it. */
wb_status wb_bundle_read_file(const char *folder, const char *name, uint8_t **bytes, size_t *size,
                              wb_error *error);

/* ---- looking for a kernel: bundle_find.c ---- */

typedef struct wb_bundle_wanted {
  wb_hash128 program;
  const char *symbol;
  const char *cpu; /* "native" or a level; not looked at if sm is not 0 */
  int32_t sm, check, placement, warps;
} wb_bundle_wanted;

/* What was found; texts and bytes are of malloc. */
typedef struct wb_bundle_found {
  wb_bundle_entry entry;
  char path[4096]; /* of the code */
  uint8_t *code, *cubin;
  size_t code_bytes, cubin_bytes;
} wb_bundle_found;

/* Looks through all bundles. WB_ERROR_UNAVAILABLE if none has it: `error` says why for each. */
wb_status wb_bundle_find(const wb_bundle_wanted *wanted, wb_bundle_found *found, wb_error *error);

#endif

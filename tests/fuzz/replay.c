/* Runs a fuzz target once over every file of a folder: how the corpus is tested where there is no
 * libFuzzer. An empty input and a missing folder are fine; what breaks the target ends the program.
 *
 * usage: fuzz_NAME [DIR] */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of a regular file; NULL if it cannot be read. The caller frees them. */
static uint8_t *content_of(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) return NULL;
  uint8_t *bytes = NULL;
  long length = -1;
  if (fseek(file, 0, SEEK_END) == 0) length = ftell(file);
  if (length >= 0 && fseek(file, 0, SEEK_SET) == 0) bytes = malloc((size_t)length + 1);
  if (bytes && fread(bytes, 1, (size_t)length, file) != (size_t)length) {
    free(bytes);
    bytes = NULL;
  }
  fclose(file);
  if (bytes) *size = (size_t)length;
  return bytes;
}

int main(int argc, char **argv) {
  const uint8_t nothing = 0;
  LLVMFuzzerTestOneInput(&nothing, 0);
  int count = 1;
  DIR *folder = argc > 1 ? opendir(argv[1]) : NULL;
  const struct dirent *entry;
  while (folder && (entry = readdir(folder)) != NULL) {
    if (entry->d_name[0] == '.') continue;
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", argv[1], entry->d_name);
    size_t size = 0;
    uint8_t *bytes = length > 0 && (size_t)length < sizeof path ? content_of(path, &size) : NULL;
    if (!bytes) {
      fprintf(stderr, "cannot read %s/%s\n", argv[1], entry->d_name);
      closedir(folder);
      return 1;
    }
    printf("%s, %zu bytes\n", entry->d_name, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    count++;
  }
  if (folder) closedir(folder);
  printf("%d inputs\n", count);
  return 0;
}

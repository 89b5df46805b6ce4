/* Memory for large arrays. */
#define _GNU_SOURCE
#include "data/large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define PAGE_BYTES ((size_t)2 << 20)

void *wb_large_alloc(size_t bytes) {
  if (bytes < PAGE_BYTES / 2 || bytes > SIZE_MAX - PAGE_BYTES) {
    return malloc(bytes);
  }
  size_t whole = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
  void *memory = aligned_alloc(PAGE_BYTES, whole);
#ifdef MADV_HUGEPAGE
  if (memory != NULL) {
    (void)madvise(memory, whole, MADV_HUGEPAGE); /* a wish: any answer will do */
  }
#endif
  return memory;
}

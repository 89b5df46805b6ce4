/* A list of blocks; a request that does not fit the newest one starts another, twice as large. */
#include "base/arena.h"

#include "base/check.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_BYTES = 4096, LARGEST_STEP_BYTES = 1 << 22 };

struct wb_arena_block {
  struct wb_arena_block *older;
  size_t used, size;
  alignas(max_align_t) unsigned char bytes[];
};

static struct wb_arena_block *add_block(wb_arena *arena, size_t at_least) {
  size_t size = arena->newest == NULL ? FIRST_BLOCK_BYTES : arena->newest->size;
  if (arena->newest != NULL && size < LARGEST_STEP_BYTES) {
    size *= 2;
  }
  if (size < at_least) {
    size = at_least;
  }
  if (size > SIZE_MAX - sizeof(struct wb_arena_block)) {
    return NULL;
  }
  struct wb_arena_block *block = calloc(1, sizeof *block + size);
  if (block != NULL) {
    block->size = size;
    block->older = arena->newest;
    arena->newest = block;
  }
  return block;
}

void *wb_arena_alloc(wb_arena *arena, size_t bytes) {
  const size_t align = alignof(max_align_t);
  if (bytes == 0 || bytes > SIZE_MAX - align) {
    return NULL;
  }
  bytes = (bytes + align - 1) / align * align;
  struct wb_arena_block *block = arena->newest;
  if (block == NULL || block->size - block->used < bytes) {
    block = add_block(arena, bytes);
    if (block == NULL) {
      return NULL;
    }
  }
  void *at = block->bytes + block->used;
  block->used += bytes;
  return at;
}

void *wb_arena_array(wb_arena *arena, size_t count, size_t size) {
  size_t bytes;
  return wb_mul_size(count, size, &bytes) ? wb_arena_alloc(arena, bytes) : NULL;
}

char *wb_arena_text(wb_arena *arena, const char *text) {
  size_t bytes = strlen(text) + 1;
  char *copy = wb_arena_alloc(arena, bytes);
  if (copy != NULL) {
    memcpy(copy, text, bytes);
  }
  return copy;
}

void wb_arena_free(wb_arena *arena) {
  while (arena->newest != NULL) {
    struct wb_arena_block *older = arena->newest->older;
    free(arena->newest);
    arena->newest = older;
  }
}

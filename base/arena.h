/* An arena: allocations that live and die together. Not safe for several threads at once. */
#ifndef WB_BASE_ARENA_H
#define WB_BASE_ARENA_H

#include "status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_arena {
  struct wb_arena_block *newest;
} wb_arena;

/* Zeroed bytes, aligned for any type; NULL if memory cannot be had or `bytes` is 0.
 * An arena of zero bytes ({0}) is empty and ready. */
WB_API void *wb_arena_alloc(wb_arena *arena, size_t bytes);

/* `count` elements of `size` bytes each; NULL also if the product overflows. */
WB_API void *wb_arena_array(wb_arena *arena, size_t count, size_t size);

/* A copy of `text`, NULL if memory cannot be had. */
WB_API char *wb_arena_text(wb_arena *arena, const char *text);

/* Gives everything back; the arena is empty and ready again. */
WB_API void wb_arena_free(wb_arena *arena);

#ifdef __cplusplus
}
#endif
#endif

/* Memory for large arrays: on large pages where the system has them, since a reader touches each page
 * once and the page faults would cost it a fifth of its time. Private to data/. */
#ifndef WB_DATA_LARGE_H
#define WB_DATA_LARGE_H

#include <stddef.h>

/* At least `bytes` from the heap, not cleared; NULL if memory cannot be had. free and realloc take it. */
void *wb_large_alloc(size_t bytes);

#endif

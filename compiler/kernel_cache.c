/* See kernel_cache.h. A handful of kernels per process: a list under a lock is enough. */
#include "compiler/kernel_cache.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct entry {
  struct entry *next;
  wb_hash128 key;
  wb_kernel *kernel;
} entry;

struct wb_kernel_cache {
  pthread_mutex_t lock;
  entry *first;
  int64_t kernels, hits, misses;
};

wb_status wb_kernel_cache_new(wb_kernel_cache **out, wb_error *error) {
  *out = calloc(1, sizeof **out);
  if (*out == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "kernel cache: out of memory");
  pthread_mutex_init(&(*out)->lock, NULL);
  return WB_OK;
}

void wb_kernel_cache_free(wb_kernel_cache *cache) {
  if (cache == NULL) return;
  for (entry *e = cache->first; e != NULL;) {
    entry *next = e->next;
    wb_kernel_release(e->kernel);
    free(e);
    e = next;
  }
  pthread_mutex_destroy(&cache->lock);
  free(cache);
}

void wb_kernel_cache_count(wb_kernel_cache *cache, int64_t *kernels, int64_t *hits,
                           int64_t *misses) {
  pthread_mutex_lock(&cache->lock);
  *kernels = cache->kernels;
  *hits = cache->hits;
  *misses = cache->misses;
  pthread_mutex_unlock(&cache->lock);
}

static wb_kernel *find(wb_kernel_cache *cache, wb_hash128 key) {
  for (entry *e = cache->first; e != NULL; e = e->next) {
    if (e->key.low == key.low && e->key.high == key.high) return wb_kernel_retain(e->kernel);
  }
  return NULL;
}

wb_kernel *wb_kernel_cache_get(wb_kernel_cache *cache, wb_hash128 key) {
  pthread_mutex_lock(&cache->lock);
  wb_kernel *kernel = find(cache, key);
  if (kernel != NULL) {
    cache->hits++;
  } else {
    cache->misses++;
  }
  pthread_mutex_unlock(&cache->lock);
  return kernel;
}

wb_status wb_kernel_cache_put(wb_kernel_cache *cache, wb_hash128 key, wb_kernel **kernel,
                              wb_error *error) {
  entry *made = malloc(sizeof *made);
  if (made == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "kernel cache: out of memory");
  pthread_mutex_lock(&cache->lock);
  wb_kernel *other = find(cache, key);
  if (other == NULL) {
    *made = (entry){cache->first, key, wb_kernel_retain(*kernel)};
    cache->first = made;
    cache->kernels++;
    made = NULL;
  }
  pthread_mutex_unlock(&cache->lock);
  if (other != NULL) {
    wb_kernel_release(*kernel);
    *kernel = other;
  }
  free(made);
  return WB_OK;
}

/* The CPU as a device: device memory is host memory, copies are done when they return, a launch
 * shares its books among the threads of a pool.
 *
 * Books are independent, so neither the number of threads nor the pieces can change a result; where
 * several pieces fail, the error of the lowest book is the one reported. */
#include "compiler/device_backend.h"
#include "compiler/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum { ALIGNMENT = 256, LARGE_PAGE = 2 << 20, PIECES_PER_THREAD = 8 };

int32_t wb_device_cpu_threads(const wb_device *device) {
  if (device->threads > 0) return device->threads;
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

/* the model's name, as the kernel of the operating system gives it */
static void describe(char *text, size_t text_bytes) {
  char line[512];
  snprintf(text, text_bytes, "CPU");
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    char *colon = strchr(line, ':');
    if (strncmp(line, "model name", 10) != 0 || colon == NULL) continue;
    colon[strcspn(colon, "\n")] = '\0';
    snprintf(text, text_bytes, "%.100s", colon[1] == ' ' ? colon + 2 : colon + 1);
    break;
  }
  if (file != NULL) fclose(file);
}

static wb_status cpu_open(wb_device *device, const char *name, wb_error *error) {
  (void)name;
  (void)error;
  describe(device->description, sizeof device->description);
  return WB_OK;
}

static void cpu_close(wb_device *device) { wb_pool_free(device->state); }

/* Slabs by the thousand are walked through in turn: on pages of 4 KiB most of the time would go into
 * finding the pages, so large blocks ask for large ones. */
static wb_status cpu_allocate(wb_device *device, size_t bytes, void **out, wb_error *error) {
  (void)device;
  const size_t unit = bytes >= 2 * LARGE_PAGE ? LARGE_PAGE : ALIGNMENT;
  size_t rounded = bytes == 0 ? unit : (bytes + unit - 1) / unit * unit;
  void *memory = rounded >= bytes ? aligned_alloc(unit, rounded) : NULL;
  if (memory == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "device cpu: %zu bytes could not be had", bytes);
  }
#ifdef MADV_HUGEPAGE
  /* it may be refused, which changes nothing but time */
  if (unit == LARGE_PAGE) (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
  memset(memory, 0, rounded);
  *out = memory;
  return WB_OK;
}

static void cpu_release(wb_device *device, void *memory) {
  (void)device;
  free(memory);
}

static wb_status cpu_copy(wb_device *device, void *to, const void *from, size_t bytes,
                          wb_error *error) {
  (void)device;
  (void)error;
  memcpy(to, from, bytes);
  return WB_OK;
}

static wb_status cpu_fill(wb_device *device, void *to, uint8_t byte, size_t bytes,
                          wb_error *error) {
  (void)device;
  (void)error;
  memset(to, byte, bytes);
  return WB_OK;
}

/* the books of one piece; pieces differ by at most one book */
static int64_t piece_start(const wb_launch *launch, int64_t piece, int64_t pieces) {
  int64_t each = launch->books / pieces, more = launch->books % pieces;
  return launch->first_book + piece * each + (piece < more ? piece : more);
}

/* A launch under way. */
typedef struct run {
  const wb_kernel *kernel;
  const wb_launch *launch;
  wb_kernel_arguments arguments;
  int32_t pieces;
  pthread_mutex_t lock; /* of what follows */
  int32_t failed;       /* the lowest piece that failed; `pieces`: none did */
  wb_error first;
} run;

static void run_piece(void *context, int32_t piece) {
  run *r = context;
  wb_error own = {.status = WB_OK};
  wb_status status =
      wb_kernel_run(r->kernel, &r->arguments, piece_start(r->launch, piece, r->pieces),
                    piece_start(r->launch, piece + 1, r->pieces), &own);
  if (status == WB_OK) return;
  pthread_mutex_lock(&r->lock);
  if (piece < r->failed) {
    r->failed = piece;
    r->first = own;
  }
  pthread_mutex_unlock(&r->lock);
}

/* The device's threads, started when they are first needed. */
static wb_status need_pool(wb_device *device, int32_t threads, wb_error *error) {
  wb_pool *pool = device->state;
  if (pool != NULL && wb_pool_threads(pool) == threads) return WB_OK;
  wb_pool_free(pool);
  device->state = NULL;
  WB_TRY(wb_pool_new(threads, &pool, error));
  device->state = pool;
  return WB_OK;
}

static wb_status cpu_launch(wb_device *device, const wb_kernel *kernel, const wb_launch *launch,
                            wb_error *error) {
  run r = {.kernel = kernel, .launch = launch};
  r.arguments = (wb_kernel_arguments){.slabs = launch->slabs,
                                      .slab_stride = launch->slab_stride,
                                      .buffers = launch->buffers,
                                      .scalars = launch->scalars};
  const int32_t threads = wb_device_cpu_threads(device);
  const int64_t pieces = threads == 1 ? 1 : (int64_t)threads * PIECES_PER_THREAD;
  r.pieces = (int32_t)(pieces < launch->books ? pieces : launch->books);
  if (r.pieces == 1) {
    return wb_kernel_run(kernel, &r.arguments, launch->first_book,
                         launch->first_book + launch->books, error);
  }
  WB_TRY(need_pool(device, threads, error));
  r.failed = r.pieces;
  pthread_mutex_init(&r.lock, NULL);
  wb_pool_run(device->state, run_piece, &r, r.pieces);
  pthread_mutex_destroy(&r.lock);
  if (r.failed == r.pieces) return WB_OK;
  return WB_FAIL(error, r.first.status, "%s", r.first.text);
}

static wb_status cpu_wait(wb_device *device, wb_error *error) {
  (void)device;
  (void)error;
  return WB_OK;
}

const wb_device_backend wb_device_cpu = {.name = "cpu",
                                         .host_memory = true,
                                         .open = cpu_open,
                                         .close = cpu_close,
                                         .allocate = cpu_allocate,
                                         .release = cpu_release,
                                         .write = cpu_copy,
                                         .read = cpu_copy,
                                         .copy = cpu_copy,
                                         .fill = cpu_fill,
                                         .launch = cpu_launch,
                                         .wait = cpu_wait};

/* Bulk random numbers: cuRAND's generators, and the same sequence made here.
 *
 * Our own code computes blocks in groups, word by word, so that a compiler turns the rounds into
 * vector instructions; threads share a fill by groups of blocks. Every block follows from its index
 * alone, so neither threads nor the cuts between fills can show.
 *
 * Keep: `position` is the number that comes next; cuRAND keeps its own and is told of it only by a
 * seek. */
#include "compiler/random.h"

#include "compiler/curand_api.h"
#include "compiler/device_backend.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

enum {
  WORDS = 4,          /* of a block */
  GROUP = 16,         /* blocks made together */
  RUN = 65536,        /* blocks that share the counter's first words */
  CHUNK = 1 << 20,    /* numbers that go to a device at a time */
  PARALLEL = 1 << 16, /* numbers that are worth threads */
  PIECE = GROUP * WORDS
};

struct wb_bits {
  wb_device *device;
  uint64_t seed, position;
  wb_curand_api curand;
  void *generator;  /* cuRAND's; NULL: our own code */
  uint32_t *staged; /* CHUNK numbers on their way to a device whose memory is not the host's */
  char description[64];
};

/* ---- our own ---- */

/* One group of blocks as four arrays of words. */
typedef struct group {
  uint32_t word[WORDS][GROUP];
} group;

static inline void start_group(group *g, uint64_t first) {
  for (uint32_t b = 0; b < GROUP; b++) {
    uint64_t run = (first + b) / RUN;
    g->word[0][b] = (uint32_t)run;
    g->word[1][b] = (uint32_t)(run >> 32);
    g->word[2][b] = (uint32_t)((first + b) % RUN);
    g->word[3][b] = 0;
  }
}

static inline void one_round(group *g, uint32_t key0, uint32_t key1) {
  for (int b = 0; b < GROUP; b++) {
    uint64_t p = UINT64_C(0xd2511f53) * g->word[0][b];
    uint64_t q = UINT64_C(0xcd9e8d57) * g->word[2][b];
    g->word[0][b] = (uint32_t)(q >> 32) ^ g->word[1][b] ^ key0;
    g->word[1][b] = (uint32_t)q;
    g->word[2][b] = (uint32_t)(p >> 32) ^ g->word[3][b] ^ key1;
    g->word[3][b] = (uint32_t)p;
  }
}

static void make_group(uint64_t seed, uint64_t first, uint32_t out[PIECE]) {
  group g;
  uint32_t key0 = (uint32_t)seed, key1 = (uint32_t)(seed >> 32);
  start_group(&g, first);
  for (int round = 0; round < 10; round++) {
    one_round(&g, key0, key1);
    key0 += UINT32_C(0x9e3779b9);
    key1 += UINT32_C(0xbb67ae85);
  }
  for (int b = 0; b < GROUP; b++) {
    for (int w = 0; w < WORDS; w++) out[b * WORDS + w] = g.word[w][b];
  }
}

void wb_bits_block(uint64_t seed, uint64_t block, uint32_t out[4]) {
  uint32_t piece[PIECE];
  make_group(seed, block, piece);
  memcpy(out, piece, WORDS * sizeof *out);
}

/* Numbers position .. position + count - 1 to host memory. */
static void make_numbers(uint64_t seed, uint64_t position, uint32_t *out, size_t count,
                         int threads) {
  const uint64_t first_block = position / WORDS;
  const size_t skip = (size_t)(position % WORDS);
  const int64_t pieces = (int64_t)((skip + count + PIECE - 1) / PIECE);
  (void)threads;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(threads) if (count >= PARALLEL)
#endif
  for (int64_t i = 0; i < pieces; i++) {
    uint32_t piece[PIECE];
    make_group(seed, first_block + (uint64_t)i * GROUP, piece);
    /* the part of it that was asked for */
    size_t from = i == 0 ? skip : 0;
    size_t at = (size_t)i * PIECE + from - skip;
    size_t most = PIECE - from;
    memcpy(out + at, piece + from, (count - at < most ? count - at : most) * sizeof *out);
  }
}

static int threads_of(const wb_bits *bits) {
  if (bits->device->backend == &wb_device_cpu) return wb_device_cpu_threads(bits->device);
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

static wb_status fill_own(wb_bits *bits, uint32_t *memory, size_t count, wb_error *error) {
  if (bits->device->backend->host_memory) {
    make_numbers(bits->seed, bits->position, memory, count, threads_of(bits));
    bits->position += count;
    return WB_OK;
  }
  for (size_t done = 0; done < count;) {
    size_t part = count - done < CHUNK ? count - done : CHUNK;
    make_numbers(bits->seed, bits->position, bits->staged, part, threads_of(bits));
    WB_TRY(
        wb_device_write(bits->device, memory + done, bits->staged, part * sizeof *memory, error));
    bits->position += part;
    done += part;
  }
  return WB_OK;
}

/* ---- cuRAND ---- */

static const char *curand_words(int code) {
  switch (code) {
  case 100: return "library and header do not match";
  case 101: return "not initialised";
  case 102: return "no memory";
  case 104: return "out of range";
  case 201: return "a launch failed";
  case 202: return "an earlier failure";
  case 203: return "CUDA could not be initialised";
  case 204: return "not for this GPU";
  default: return "error";
  }
}

static wb_status curand_failed(const wb_bits *bits, const char *call, int code, wb_error *error) {
  wb_status status = code == 102   ? WB_ERROR_MEMORY
                     : code == 203 ? WB_ERROR_UNAVAILABLE
                                   : WB_ERROR_DEVICE;
  return WB_FAIL(error, status, "device %s: curand%s: %s (%d)", bits->device->name, call,
                 curand_words(code), code);
}

#define CURAND_TRY(bits, name, ...)                            \
  do {                                                         \
    int curand_code = (bits)->curand.name(__VA_ARGS__);        \
    if (curand_code != CURAND_SUCCESS) {                       \
      return curand_failed((bits), #name, curand_code, error); \
    }                                                          \
  } while (0)

static wb_status open_curand(wb_bits *bits, wb_error *error) {
  int version = 0;
  bool on_host = bits->device->backend->host_memory;
  WB_TRY(wb_curand_api_open(&bits->curand, error));
  CURAND_TRY(bits, GetVersion, &version);
  if (on_host) {
    CURAND_TRY(bits, CreateGeneratorHost, &bits->generator, CURAND_PHILOX4_32_10);
  } else {
    CURAND_TRY(bits, CreateGenerator, &bits->generator, CURAND_PHILOX4_32_10);
  }
  CURAND_TRY(bits, SetPseudoRandomGeneratorSeed, bits->generator, bits->seed);
  CURAND_TRY(bits, SetGeneratorOffset, bits->generator, 0);
  (void)snprintf(bits->description, sizeof bits->description, "cuRAND %d.%d.%d on %s",
                 version / 1000, version % 1000 / 100, version % 100,
                 on_host ? "the host" : bits->device->name);
  return WB_OK;
}

static void close_curand(wb_bits *bits) {
  if (bits->generator != NULL) (void)bits->curand.DestroyGenerator(bits->generator);
  bits->generator = NULL;
}

static wb_status fill_curand(wb_bits *bits, uint32_t *memory, size_t count, wb_error *error) {
  if (!bits->device->backend->host_memory) {
    CURAND_TRY(bits, SetStream, bits->generator, wb_device_stream(bits->device));
  }
  CURAND_TRY(bits, Generate, bits->generator, memory, count);
  bits->position += count;
  return WB_OK;
}

/* ---- life ---- */

static wb_status open_source(wb_bits *bits, wb_bits_source source, wb_error *error) {
  if (source != WB_BITS_OWN) {
    wb_status status = open_curand(bits, error);
    if (status == WB_OK || source == WB_BITS_CURAND) return status;
    close_curand(bits);
  }
  (void)snprintf(bits->description, sizeof bits->description, "own code");
  if (bits->device->backend->host_memory) return WB_OK;
  bits->staged = malloc(CHUNK * sizeof *bits->staged);
  if (bits->staged != NULL) return WB_OK;
  return WB_FAIL(error, WB_ERROR_MEMORY, "random bits: no memory");
}

wb_status wb_bits_new(wb_device *device, uint64_t seed, wb_bits_source source, wb_bits **out,
                      wb_error *error) {
  *out = NULL;
  if ((int)source < 0 || source > WB_BITS_OWN) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "random bits: source: expected 0 to %d, got %d",
                   WB_BITS_OWN, (int)source);
  }
  wb_bits *bits = calloc(1, sizeof *bits);
  if (bits == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "random bits: no memory");
  bits->device = device;
  bits->seed = seed;
  wb_status status = open_source(bits, source, error);
  if (status != WB_OK) {
    wb_bits_free(bits);
    return status;
  }
  *out = bits;
  return WB_OK;
}

void wb_bits_free(wb_bits *bits) {
  if (bits == NULL) return;
  close_curand(bits);
  free(bits->staged);
  free(bits);
}

const char *wb_bits_describe(const wb_bits *bits) { return bits->description; }

/* ---- filling ---- */

wb_status wb_bits_fill(wb_bits *bits, uint32_t *memory, size_t count, wb_error *error) {
  if (bits->device->capturing) {
    return WB_FAIL(error, WB_ERROR_STATE, "random bits: device %s: not while a graph is captured",
                   bits->device->name);
  }
  if ((uintptr_t)memory % sizeof *memory != 0 || (memory == NULL && count > 0)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "random bits: expected device memory aligned to 4 bytes, got %p",
                   (void *)memory);
  }
  if (count > INT64_MAX / sizeof *memory || bits->position + count > (uint64_t)INT64_MAX) {
    return WB_FAIL(error, WB_ERROR_LIMIT,
                   "random bits: %zu numbers from number %" PRIu64 " on: the sequence ends at 2^63",
                   count, bits->position);
  }
  if (count == 0) return WB_OK;
  return bits->generator != NULL ? fill_curand(bits, memory, count, error)
                                 : fill_own(bits, memory, count, error);
}

wb_status wb_bits_seek(wb_bits *bits, uint64_t position, wb_error *error) {
  if (position > (uint64_t)INT64_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "random bits: position: expected less than 2^63, got %" PRIu64, position);
  }
  if (bits->generator != NULL) {
    CURAND_TRY(bits, SetGeneratorOffset, bits->generator, position);
  }
  bits->position = position;
  return WB_OK;
}

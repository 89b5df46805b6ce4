/* Copying books: clone, copy, save, restore.
 *
 * A book's state is its slab; what its rings hold is not part of it, so every copy starts with empty
 * rings. A saved state is a header and the slabs of the masked books, each as on the device. */
#include "sim/sim_private.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { STATE_VERSION = 2 };

static const char state_magic[8] = {'W', 'B', 'S', 'T', 'A', 'T', 'E', '\0'};

typedef struct state_header {
  char magic[8];
  int32_t version;
  int32_t capacity;
  int64_t slab_bytes;
  int64_t books;
  wb_hash128 tapes;
  int64_t reserved[2];
} state_header;

_Static_assert(sizeof(state_header) == WB_SLAB_ALIGNMENT, "slabs in a state stay aligned");

static bool masked(const uint8_t *mask, int32_t book) { return mask == NULL || mask[book] != 0; }

static int32_t count_masked(const wb_sim *sim, const uint8_t *mask) {
  int32_t count = 0;
  for (int32_t book = 0; book < sim->books; book++) {
    count += masked(mask, book);
  }
  return count;
}

/* Writes a slab image to a book, with empty rings. */
static wb_status put(wb_sim *sim, int32_t book, unsigned char *image, wb_error *error) {
  int64_t *head = wb_slab_head_of(sim->layout, image);
  head[WB_HEAD_TRADES] = 0;
  head[WB_HEAD_ROWS] = 0;
  return wb_device_write(sim->device, sim_slab(sim, book), image, sim->slab_bytes, error);
}

wb_status wb_sim_clone(wb_sim *sim, int32_t from, const uint8_t *mask, wb_error *error) {
  WB_TRY(sim_read_slab(sim, from, error));
  for (int32_t book = 0; book < sim->books; book++) {
    if (masked(mask, book)) {
      WB_TRY(put(sim, book, sim->image, error));
    }
  }
  return WB_OK;
}

static bool same_tapes(wb_hash128 a, wb_hash128 b) { return a.low == b.low && a.high == b.high; }

wb_status wb_sim_copy(wb_sim *sim, wb_sim *from, const uint8_t *mask, wb_error *error) {
  if (sim->rules.capacity != from->rules.capacity || sim->books != from->books) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "sim: copy: expected a sim of %d books at capacity %d, got %d at %d", sim->books,
                   sim->rules.capacity, from->books, from->rules.capacity);
  }
  if (!same_tapes(sim->tapes_hash, from->tapes_hash)) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: copy: expected a sim with the same tapes");
  }
  for (int32_t book = 0; book < sim->books; book++) {
    if (masked(mask, book)) {
      WB_TRY(sim_read_slab(from, book, error));
      sim_widen_features(sim, from->image);
      WB_TRY(put(sim, book, from->image, error));
    }
  }
  return WB_OK;
}

size_t wb_sim_state_bytes(const wb_sim *sim, int32_t books) {
  return sizeof(state_header) + (size_t)(books > 0 ? books : 0) * sim->slab_bytes;
}

static wb_status check_size(const wb_sim *sim, int32_t books, size_t bytes, wb_error *error) {
  size_t expected = wb_sim_state_bytes(sim, books);
  if (bytes != expected) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "sim: state: expected %zu bytes for %d books, got %zu",
                   expected, books, bytes);
  }
  return WB_OK;
}

wb_status wb_sim_save(wb_sim *sim, const uint8_t *mask, void *state, size_t bytes,
                      wb_error *error) {
  int32_t books = count_masked(sim, mask);
  WB_TRY(check_size(sim, books, bytes, error));
  state_header header = {
      .version = STATE_VERSION,
      .capacity = sim->rules.capacity,
      .slab_bytes = (int64_t)sim->slab_bytes,
      .books = books,
      .tapes = sim->tapes_hash,
  };
  memcpy(header.magic, state_magic, sizeof header.magic);
  memcpy(state, &header, sizeof header);
  unsigned char *at = (unsigned char *)state + sizeof header;
  for (int32_t book = 0; book < sim->books; book++) {
    if (masked(mask, book)) {
      WB_TRY(sim_read_slab(sim, book, error));
      memcpy(at, sim->image, sim->slab_bytes);
      at += sim->slab_bytes;
    }
  }
  return WB_OK;
}

static wb_status check_header(const wb_sim *sim, const state_header *header, int32_t books,
                              wb_error *error) {
  if (memcmp(header->magic, state_magic, sizeof header->magic) != 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "sim: state: not a saved state of books");
  }
  if (header->version != STATE_VERSION) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "sim: state: version: expected %d, got %d",
                   STATE_VERSION, header->version);
  }
  if (header->capacity != sim->rules.capacity || header->slab_bytes != (int64_t)sim->slab_bytes) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "sim: state: expected capacity %d in slabs of %zu bytes, got %d in %" PRId64,
                   sim->rules.capacity, sim->slab_bytes, header->capacity, header->slab_bytes);
  }
  if (header->books != books) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "sim: state: books: expected %d (as many as masked), got %" PRId64, books,
                   header->books);
  }
  if (!same_tapes(header->tapes, sim->tapes_hash)) {
    return WB_FAIL(error, WB_ERROR_FORMAT, "sim: state: saved with other tapes");
  }
  return WB_OK;
}

/* Whether a book's head fits one of the tapes. The slab's own invariants are the kernels' to tell. */
static wb_status check_head(const wb_sim *sim, wb_error *error) {
  const int64_t *head = wb_slab_head_of(sim->layout, sim->image);
  const int32_t *state = wb_slab_state_of(sim->layout, sim->image);
  for (int32_t i = 0; i < sim->tape_count; i++) {
    const sim_tape *tape = &sim->tapes[i];
    if (head[WB_HEAD_TAPE] == tape->offset && head[WB_HEAD_BASE] == tape->base &&
        state[WB_CELL_TICK] == tape->tick_size && head[WB_HEAD_END] <= tape->count &&
        head[WB_HEAD_CURSOR] >= 0 && head[WB_HEAD_CURSOR] <= head[WB_HEAD_END]) {
      /* the tick's helpers are made anew rather than believed */
      wb_slab_set_tick(sim->layout, sim->image, tape->tick_size);
      return WB_OK;
    }
  }
  return WB_FAIL(error, WB_ERROR_FORMAT,
                 "records %" PRId64 " to %" PRId64 " of no tape (base %" PRId64 ", tick %d)",
                 head[WB_HEAD_CURSOR], head[WB_HEAD_END], head[WB_HEAD_BASE], state[WB_CELL_TICK]);
}

static wb_status check_saved(wb_sim *sim, const unsigned char *slab, int32_t index,
                             wb_error *error) {
  memcpy(sim->image, slab, sim->slab_bytes);
  wb_status status = wb_slab_check(sim->layout, sim->image, error);
  status = status == WB_OK ? check_head(sim, error) : status;
  if (status != WB_OK) {
    (void)wb_error_prefix(error, "sim: state: saved book %d", index);
    if (error != NULL) {
      error->status = WB_ERROR_FORMAT;
    }
    return WB_ERROR_FORMAT;
  }
  return WB_OK;
}

wb_status wb_sim_restore(wb_sim *sim, const uint8_t *mask, const void *state, size_t bytes,
                         wb_error *error) {
  int32_t books = count_masked(sim, mask);
  WB_TRY(check_size(sim, books, bytes, error));
  state_header header;
  memcpy(&header, state, sizeof header);
  WB_TRY(check_header(sim, &header, books, error));
  const unsigned char *slabs = (const unsigned char *)state + sizeof header;
  for (int32_t i = 0; i < books; i++) {
    WB_TRY(check_saved(sim, slabs + (size_t)i * sim->slab_bytes, i, error));
  }
  for (int32_t book = 0; book < sim->books; book++) {
    if (masked(mask, book)) {
      WB_TRY(check_saved(sim, slabs, book, error));
      sim_widen_features(sim, sim->image);
      WB_TRY(put(sim, book, sim->image, error));
      slabs += sim->slab_bytes;
    }
  }
  return WB_OK;
}

/* The largest arrival number of the orders in sim->image; 0 if none rests. */
static wb_status largest_arrival(const wb_sim *sim, int32_t *largest, wb_error *error) {
  int64_t most = 2 * (int64_t)sim->rules.capacity;
  wb_order *orders = malloc((size_t)most * sizeof *orders);
  if (orders == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "sim: no memory for %" PRId64 " orders", most);
  }
  int64_t bids = wb_slab_orders(sim->layout, sim->image, WB_SIDE_BID, orders, most);
  int64_t count =
      bids + wb_slab_orders(sim->layout, sim->image, WB_SIDE_ASK, orders + bids, most - bids);
  *largest = 0;
  for (int64_t i = 0; i < count; i++) {
    *largest = orders[i].arrival > *largest ? orders[i].arrival : *largest;
  }
  free(orders);
  return WB_OK;
}

wb_status wb_sim_set_next_arrival(wb_sim *sim, int32_t book, int32_t next, wb_error *error) {
  WB_TRY(sim_read_slab(sim, book, error));
  int32_t largest = 0;
  WB_TRY(largest_arrival(sim, &largest, error));
  if (next <= largest) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "sim: next arrival: expected more than %d, the largest that rests, got %d",
                   largest, next);
  }
  wb_slab_state_of(sim->layout, sim->image)[WB_CELL_NEXT_ARRIVAL] = next;
  return wb_device_write(sim->device, sim_slab(sim, book), sim->image, sim->slab_bytes, error);
}

/* A batch of books on a device: thousands of them, each on a tape of its own.
 *
 *   wb_sim_config config = wb_sim_config_default();
 *   config.books = 1024;
 *   config.rules.capacity = 128;
 *   config.tapes = tapes, config.tape_count = 2;
 *   wb_sim *sim;
 *   WB_TRY(wb_sim_create(&config, &sim, error));          // every book: tape 0, its seed, all of it
 *   WB_TRY(wb_sim_load(sim, 7, 1, 0, -1, NULL, 0, error)); // book 7 goes to tape 1
 *   WB_TRY(wb_sim_run(sim, 1000, error));                  // each book: at most 1,000 records
 *   WB_TRY(wb_sim_hashes(sim, 0, 1024, book_hash, state_hash, error));
 *   wb_sim_free(sim);
 *
 * Results depend neither on the number of threads or books nor on where runs are cut: a book's state
 * is a function of its own orders and records alone. Books are numbered from 0. A *mask* is one byte
 * per book, not 0 where the call applies; NULL stands for all books.
 *
 * One thread at a time per sim; several sims of one process, on the same or other devices, are
 * independent. */
#ifndef WB_SIM_SIM_H
#define WB_SIM_SIM_H

#include "../base/record.h"
#include "../base/rules.h"
#include "../base/status.h"
#include "../compiler/kernel.h"
#include "../data/tape.h"
#include "../kernels/book.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct wb_sim wb_sim;

enum { WB_SIM_BOOKS_MAX = 1 << 22 };

typedef struct wb_sim_config {
  size_t size;         /* of this struct: set by wb_sim_config_default */
  const char *device;  /* as wb_device_open: "cpu" */
  int32_t threads;     /* of a device that has them; 0: all */
  int32_t books;       /* 1..WB_SIM_BOOKS_MAX */
  wb_book_rules rules; /* capacity is 32 * 2^k; base, tick and promise come from each book's tape */
  wb_trade_choice trades; /* what goes into each book's ring of trades */
  int64_t trade_room; /* trades that a ring holds; those that find it full are counted as lost */
  int32_t row_levels; /* levels recorded after each source row; 0: none are */
  int64_t row_room;   /* rows that are kept per book until they are taken */
  const wb_tape *const *tapes; /* copied to the device: need not outlive the call */
  int32_t tape_count;          /* at least 1 */
  bool all_features;           /* kernels that can do everything, not only what the tapes ask for */
  wb_kernel_options kernel;
} wb_sim_config;

/* One book on the CPU, capacity 1,024, no rings, no tapes. */
WB_API wb_sim_config wb_sim_config_default(void);

/* Opens the device, puts the tapes on it and compiles the message kernel; every book is loaded with
 * the seed of tape 0 and stands before its first record. WB_ERROR_ARGUMENT names the field,
 * WB_ERROR_MEMORY what was asked for, WB_ERROR_LIMIT a seed that is larger than the capacity,
 * WB_ERROR_UNAVAILABLE if nothing here can compile. */
WB_API wb_status wb_sim_create(const wb_sim_config *config, wb_sim **sim, wb_error *error);
WB_API void wb_sim_free(wb_sim *sim); /* NULL is allowed */

/* Starts a book anew on a tape: counters 0, trading, `orders` resting (NULL: the tape's seed), the
 * cursor at record `first`, which is where those orders must belong; it will stop at `end` (-1: the
 * tape's end). Orders of agents are allowed. Empties the book's rings. */
WB_API wb_status wb_sim_load(wb_sim *sim, int32_t book, int32_t tape, int64_t first, int64_t end,
                             const wb_order *orders, int64_t order_count, wb_error *error);

/* Changes what is recorded from now on; empties all rings. As the fields of the same names. */
WB_API wb_status wb_sim_record(wb_sim *sim, wb_trade_choice trades, int64_t trade_room,
                               int32_t row_levels, int64_t row_room, wb_error *error);

/* Runs every book for at most `records` records of its tape; books at their end stand still. Returns
 * when the launch is queued: wb_sim_wait or a read-back waits for it. */
WB_API wb_status wb_sim_run(wb_sim *sim, int64_t records, wb_error *error);
WB_API wb_status wb_sim_wait(wb_sim *sim, wb_error *error);

/* ---- reading back ---- */

typedef struct wb_sim_book {
  int32_t tape;
  int64_t cursor, end; /* the next record's index, and where the book stops */
  wb_trading_state state;
  int32_t next_arrival;
  uint32_t status; /* WB_STATUS_BIT bits */
  int64_t counters[WB_COUNTERS];
  int64_t trades_kept, rows_kept; /* in the rings, not yet taken */
} wb_sim_book;

WB_API wb_status wb_sim_read_book(wb_sim *sim, int32_t book, wb_sim_book *out, wb_error *error);

/* Both hashes of books first .. first + count - 1; either array may be NULL. */
WB_API wb_status wb_sim_hashes(wb_sim *sim, int32_t first, int32_t count, uint64_t *book_hash,
                               uint64_t *state_hash, wb_error *error);

/* Levels of one side, best first: at most `most`, *count says how many. */
WB_API wb_status wb_sim_levels(wb_sim *sim, int32_t book, wb_side side, wb_level *levels,
                               int32_t most, int32_t *count, wb_error *error);

/* The first `depth` levels of all books at once: levels[book][side][depth], absent ones all 0. */
WB_API wb_status wb_sim_all_levels(wb_sim *sim, int32_t depth, wb_level *levels, wb_error *error);

/* Resting orders of one side, best priority first: at most `most`, *count says how many rest. */
WB_API wb_status wb_sim_orders(wb_sim *sim, int32_t book, wb_side side, wb_order *orders,
                               int64_t most, int64_t *count, wb_error *error);

/* Shares at a price of every book, or with priority over an order at its price (-1 where it does not
 * rest on that side): shares[book]. */
WB_API wb_status wb_sim_volume_at(wb_sim *sim, wb_side side, int32_t price, int64_t *shares,
                                  wb_error *error);
WB_API wb_status wb_sim_queue_ahead(wb_sim *sim, wb_side side, int32_t ref, int64_t *shares,
                                    wb_error *error);

/* Takes a book's kept trades, oldest first: at most `most` are copied, *count says how many were
 * kept, and the ring is empty afterwards. So ask for as many as trade_room. */
WB_API wb_status wb_sim_take_trades(wb_sim *sim, int32_t book, wb_trade *trades, int64_t most,
                                    int64_t *count, wb_error *error);

/* The same for book rows: [row][2 * row_levels] levels, ask 1, bid 1, ask 2, ..; absent ones 0. */
WB_API wb_status wb_sim_take_rows(wb_sim *sim, int32_t book, wb_level *rows, int64_t most,
                                  int64_t *count, wb_error *error);

/* ---- copying books ---- */

/* Makes the masked books equal to book `from`, cursor included; their rings are emptied. */
WB_API wb_status wb_sim_clone(wb_sim *sim, int32_t from, const uint8_t *mask, wb_error *error);

/* Copies the masked books of `from` over those of the same numbers in `sim`. Both must have the same
 * capacity, number of books and tapes (by content), and devices that are of one kind. */
WB_API wb_status wb_sim_copy(wb_sim *sim, wb_sim *from, const uint8_t *mask, wb_error *error);

/* Bytes that wb_sim_save writes for so many books. */
WB_API size_t wb_sim_state_bytes(const wb_sim *sim, int32_t books);

/* Writes the state of the masked books, in their order, without rings. `bytes` must be exactly what
 * wb_sim_state_bytes says for the number of masked books. */
WB_API wb_status wb_sim_save(wb_sim *sim, const uint8_t *mask, void *state, size_t bytes,
                             wb_error *error);

/* Puts saved books into the masked ones, in order; their rings are emptied. The state may come from
 * another sim of the same capacity and tapes, on any device. It is checked first, book by book:
 * WB_ERROR_FORMAT says what does not fit, and nothing is changed. */
WB_API wb_status wb_sim_restore(wb_sim *sim, const uint8_t *mask, const void *state, size_t bytes,
                                wb_error *error);

/* ---- seeing inside ---- */

/* The message kernel in use; lives until the next load, record or free. */
WB_API const wb_kernel *wb_sim_kernel(const wb_sim *sim);
WB_API double wb_sim_compile_seconds(const wb_sim *sim); /* spent on compiling so far */
WB_API int64_t wb_sim_book_bytes(const wb_sim *sim);     /* of device memory, without rings */
WB_API void wb_sim_describe_device(const wb_sim *sim, char *name, size_t name_bytes,
                                   int32_t *threads);

/* For tests of renumbering: a book's next arrival number, above every resting one. */
WB_API wb_status wb_sim_set_next_arrival(wb_sim *sim, int32_t book, int32_t next, wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

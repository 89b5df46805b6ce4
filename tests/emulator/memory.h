/* Memory of an emulated device, with a shadow that knows of every byte whether it may be touched, was
 * ever written, and by whom it was touched last.
 *
 * Device addresses lie in a range of the host's address space that nobody may touch: a host program
 * that follows one dies there. The bytes are elsewhere, at the same offset.
 *
 * Who touched a location is told by numbers that grow: every stretch of a warp's run between two
 * barriers has one of its own, and blocks, and the warps of a block between two block barriers, run
 * one after another. So an earlier access's number tells, compared with where the current launch,
 * block, block interval and warp began, how it relates to the current one (see `emu_now`). One record
 * keeps the last stretch that wrote a word and the last that read it, with their lanes. Accesses
 * narrower than a word split its record into four.
 *
 * Keep: numbers never come back while records with them are alive. */
#ifndef WB_TESTS_EMULATOR_MEMORY_H
#define WB_TESTS_EMULATOR_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EMU_ALLOCATED = 1, EMU_WRITTEN = 2, EMU_READ_ONLY = 4 };

typedef struct emu_record {
  uint32_t write_id, write_lanes;
  uint32_t write_other; /* an earlier writer of the same value that still counts */
  uint32_t write_line;  /* of the PTX */
  uint32_t read_id, read_lanes;
  uint32_t read_other;
  uint32_t read_line; /* and flags in its upper bits */
} emu_record;

enum {
  EMU_LINE = 0xffffff,
  EMU_SPLIT = 1 << 24,        /* look at the bytes' records */
  EMU_STRONG_WRITE = 1 << 25, /* all writes so far in this stretch were atomic or volatile */
  EMU_STRONG_READ = 1 << 26,
  EMU_READ_BLOCKS = 1 << 27, /* read by an earlier block of this launch */
  EMU_READ_CACHED = 1 << 28  /* read by ld.global.nc in this launch */
};

/* Memory with its shadow: a device's, or a block's shared memory. */
typedef struct emu_space {
  uint64_t base; /* the first address */
  uint64_t size; /* bytes */
  uint8_t *data, *state;
  emu_record *words, *bytes;
} emu_space;

/* Which stretches are which: a record's number n is of
 *   n < launch         an earlier launch: it says nothing
 *   n < block          another block of this launch
 *   n < interval       this block, before its last barrier: ordered
 *   n < warp           another warp of this block, since that barrier
 *   n < stretch        this warp, before its last warp barrier: ordered
 *   n == stretch       this warp, now */
typedef struct emu_now {
  uint32_t launch, block, interval, warp, stretch;
} emu_now;

/* One access by lanes that all touch the same place. */
typedef struct emu_access {
  uint32_t lanes;
  uint32_t line;
  bool strong, cached;
  const uint8_t *value; /* of a write */
} emu_access;

typedef enum emu_problem {
  EMU_FINE,
  EMU_READ_AFTER_WRITE,
  EMU_WRITE_AFTER_READ,
  EMU_WRITE_AFTER_WRITE,
  EMU_CACHED_WRITTEN
} emu_problem;

/* Who the other one was. */
typedef struct emu_other {
  uint32_t id, lanes, line;
  uint64_t offset; /* the byte or word in the space */
} emu_other;

/* Checks an access for hazards and notes it. `same_block` says that the space is one block's own. */
emu_problem emu_note_read(emu_space *space, const emu_now *now, uint64_t offset, unsigned bytes,
                          const emu_access *access, emu_other *other);
emu_problem emu_note_write(emu_space *space, const emu_now *now, uint64_t offset, unsigned bytes,
                           const emu_access *access, emu_other *other);

/* ---- the memory of a device ---- */

typedef struct emu_block {
  uint64_t offset, bytes, reserved; /* reserved: with what rounding and guards take */
} emu_block;

typedef struct emu_memory {
  emu_space space;
  uint64_t total, used;
  emu_block *blocks; /* by offset */
  int64_t block_count, block_capacity;
  uint64_t cursor;  /* where the next one is looked for: freed addresses come back late */
  emu_space shared; /* of the block that runs */
  uint32_t next_id;
} emu_memory;

bool emu_memory_open(emu_memory *memory, uint64_t bytes, uint64_t shared_bytes);
void emu_memory_close(emu_memory *memory);

/* Starts the numbers of stretches again and clears all records. Between launches only. */
void emu_memory_forget(emu_memory *memory);

typedef enum emu_grant { EMU_GRANTED, EMU_FULL, EMU_NO_HOST_MEMORY } emu_grant;
emu_grant emu_allocate(emu_memory *memory, uint64_t bytes, uint64_t *address);
bool emu_release(emu_memory *memory, uint64_t address);

/* The block that holds an address or ends last before it; NULL if there is none. */
const emu_block *emu_block_near(const emu_memory *memory, uint64_t address);

/* Whether the bytes lie in one allocation. */
bool emu_holds(const emu_memory *memory, uint64_t address, uint64_t bytes);

/* The host's view of bytes that lie in one allocation. */
static inline uint8_t *emu_data_at(const emu_memory *memory, uint64_t address) {
  return memory->space.data + (address - memory->space.base);
}
static inline uint8_t *emu_marks_at(const emu_memory *memory, uint64_t address) {
  return memory->space.state + (address - memory->space.base);
}

#endif

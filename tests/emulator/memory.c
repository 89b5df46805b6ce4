/* Device memory and its shadow. See memory.h. */
#include "tests/emulator/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 512, GUARD = 512 };

/* ---- hazards ---- */

typedef struct checker {
  const emu_now *now;
  const emu_access *access;
  emu_other *other;
  uint32_t fresh; /* numbers below say nothing */
  const uint8_t *old_value, *new_value;
  unsigned bytes;
} checker;

/* an access of another warp or block that nothing orders before the current one */
static inline bool foreign(const checker *c, uint32_t id) {
  const emu_now *now = c->now;
  return id >= c->fresh && (id < now->block || (id >= now->interval && id < now->warp));
}

static emu_problem blame(const checker *c, emu_problem problem, uint32_t id, uint32_t lanes,
                         uint32_t line) {
  c->other->id = id;
  c->other->lanes = lanes;
  c->other->line = line & EMU_LINE;
  return problem;
}

static emu_problem note_read(const checker *c, emu_record *r) {
  const emu_now *now = c->now;
  const emu_access *a = c->access;
  const uint32_t flags = r->read_line;
  if (r->write_id >= c->fresh) {
    const bool both_strong = a->strong && flags & EMU_STRONG_WRITE;
    const bool here = r->write_id == now->stretch;
    /* a lane that wrote the value itself sees it whatever the others do, unless it was an atomic */
    const uint32_t others = flags & EMU_STRONG_WRITE
                                ? (r->write_lanes & (r->write_lanes - 1) ? ~0u : ~r->write_lanes)
                                : ~r->write_lanes;
    if (!both_strong && ((here && (a->lanes & others)) || foreign(c, r->write_id))) {
      return blame(c, EMU_READ_AFTER_WRITE, r->write_id, r->write_lanes, r->write_line);
    }
    if (!both_strong && foreign(c, r->write_other)) {
      return blame(c, EMU_READ_AFTER_WRITE, r->write_other, 0, r->write_line);
    }
    if (a->cached) return blame(c, EMU_CACHED_WRITTEN, r->write_id, r->write_lanes, r->write_line);
  }
  uint32_t kept = flags & (EMU_SPLIT | EMU_STRONG_WRITE);
  if (r->read_id == now->stretch) {
    r->read_lanes |= a->lanes;
    kept |= flags & (EMU_READ_BLOCKS | EMU_READ_CACHED);
    if (a->strong) kept |= flags & EMU_STRONG_READ;
  } else {
    if (r->read_id >= c->fresh) {
      kept |= flags & (EMU_READ_BLOCKS | EMU_READ_CACHED);
      if (r->read_id < now->block) {
        kept |= EMU_READ_BLOCKS;
        r->read_other = 0;
      } else if (foreign(c, r->read_id)) {
        r->read_other = r->read_id;
      }
    } else {
      r->read_other = 0;
    }
    r->read_id = now->stretch;
    r->read_lanes = a->lanes;
    if (a->strong) kept |= EMU_STRONG_READ;
  }
  if (a->cached) kept |= EMU_READ_CACHED;
  r->read_line = kept | a->line;
  return EMU_FINE;
}

static inline bool several(uint32_t lanes) { return (lanes & (lanes - 1)) != 0; }

static emu_problem note_write(const checker *c, emu_record *r) {
  const emu_now *now = c->now;
  const emu_access *a = c->access;
  const uint32_t flags = r->read_line;
  const bool equal_matters = r->write_id >= c->fresh;
  const bool equal = equal_matters && memcmp(c->old_value, c->new_value, c->bytes) == 0;
  const bool here = r->write_id == now->stretch;
  if (equal_matters && !equal && !(a->strong && flags & EMU_STRONG_WRITE)) {
    if ((here && several(r->write_lanes | a->lanes)) || foreign(c, r->write_id)) {
      return blame(c, EMU_WRITE_AFTER_WRITE, r->write_id, r->write_lanes, r->write_line);
    }
    if (foreign(c, r->write_other)) {
      return blame(c, EMU_WRITE_AFTER_WRITE, r->write_other, 0, r->write_line);
    }
  }
  if (r->read_id >= c->fresh) {
    const bool both_strong = a->strong && flags & EMU_STRONG_READ;
    if (flags & EMU_READ_CACHED) {
      return blame(c, EMU_CACHED_WRITTEN, r->read_id, r->read_lanes, flags);
    }
    /* readers that wrote the same value themselves saw it, whoever else writes it again */
    const uint32_t readers = r->read_lanes & ~(here && equal ? r->write_lanes : 0);
    const bool read_here = r->read_id == now->stretch && readers && several(readers | a->lanes);
    if (!both_strong && (read_here || foreign(c, r->read_id))) {
      return blame(c, EMU_WRITE_AFTER_READ, r->read_id, r->read_lanes, flags);
    }
    if (!both_strong && (foreign(c, r->read_other) || flags & EMU_READ_BLOCKS)) {
      return blame(c, EMU_WRITE_AFTER_READ, r->read_other, 0, flags);
    }
  }
  if (here) {
    r->write_lanes = equal || a->strong ? r->write_lanes | a->lanes : a->lanes;
    if (!a->strong) r->read_line &= ~(uint32_t)EMU_STRONG_WRITE;
  } else {
    r->write_other = foreign(c, r->write_id) ? r->write_id : 0;
    r->write_lanes = a->lanes;
    r->read_line =
        a->strong ? r->read_line | EMU_STRONG_WRITE : r->read_line & ~(uint32_t)EMU_STRONG_WRITE;
  }
  r->write_id = now->stretch;
  r->write_line = a->line;
  return EMU_FINE;
}

/* the bytes' own records, filled from the word's when it is split */
static emu_record *split(emu_space *space, const checker *c, uint64_t offset) {
  emu_record *word = &space->words[offset / 4], *bytes = &space->bytes[offset & ~UINT64_C(3)];
  /* a split from long ago has nothing to say any more */
  const bool stale = word->read_id < c->fresh && word->write_id < c->fresh;
  if (stale) word->read_line &= ~(uint32_t)EMU_SPLIT;
  if (!(word->read_line & EMU_SPLIT)) {
    for (int k = 0; k < 4; k++) bytes[k] = *word;
    word->read_line |= EMU_SPLIT;
  }
  word->read_id = c->now->stretch;
  return bytes;
}

static emu_problem note(emu_space *space, const emu_now *now, uint64_t offset, unsigned bytes,
                        const emu_access *access, emu_other *other, bool write) {
  checker c = {.now = now,
               .access = access,
               .other = other,
               .fresh = space->base == 0 ? now->block : now->launch};
  for (unsigned at = 0; at < bytes;) {
    const uint64_t here = offset + at;
    emu_record *word = &space->words[here / 4];
    const bool whole = bytes - at >= 4 && (here & 3) == 0;
    const bool is_split =
        word->read_line & EMU_SPLIT && (word->read_id >= c.fresh || word->write_id >= c.fresh);
    if (whole && !is_split) {
      word->read_line &= ~(uint32_t)EMU_SPLIT;
      c.bytes = 4;
      c.old_value = space->data + here;
      if (write) c.new_value = access->value + at;
      other->offset = here;
      const emu_problem problem = write ? note_write(&c, word) : note_read(&c, word);
      if (problem != EMU_FINE) return problem;
      at += 4;
      continue;
    }
    emu_record *records = split(space, &c, here);
    for (; at < bytes && (offset + at) / 4 == here / 4; at++) {
      c.bytes = 1;
      c.old_value = space->data + offset + at;
      if (write) c.new_value = access->value + at;
      other->offset = offset + at;
      emu_record *record = &records[(offset + at) & 3];
      const emu_problem problem = write ? note_write(&c, record) : note_read(&c, record);
      if (problem != EMU_FINE) return problem;
    }
  }
  return EMU_FINE;
}

emu_problem emu_note_read(emu_space *space, const emu_now *now, uint64_t offset, unsigned bytes,
                          const emu_access *access, emu_other *other) {
  return note(space, now, offset, bytes, access, other, false);
}

emu_problem emu_note_write(emu_space *space, const emu_now *now, uint64_t offset, unsigned bytes,
                           const emu_access *access, emu_other *other) {
  return note(space, now, offset, bytes, access, other, true);
}

/* ---- mappings ---- */

static void *map(size_t bytes, int protection) {
  void *memory = mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

static void unmap(void *memory, size_t bytes) {
  if (memory) munmap(memory, bytes);
}

static void close_space(emu_space *s) {
  unmap(s->data, s->size);
  unmap(s->state, s->size);
  unmap(s->words, s->size / 4 * sizeof *s->words);
  unmap(s->bytes, s->size * sizeof *s->bytes);
  if (s->base) unmap((void *)(uintptr_t)s->base, s->size);
  memset(s, 0, sizeof *s);
}

static bool open_space(emu_space *s, uint64_t bytes, bool reserve) {
  *s = (emu_space){.size = bytes};
  if (reserve) s->base = (uint64_t)(uintptr_t)map(bytes, PROT_NONE);
  s->data = map(bytes, PROT_READ | PROT_WRITE);
  s->state = map(bytes, PROT_READ | PROT_WRITE);
  s->words = map(bytes / 4 * sizeof *s->words, PROT_READ | PROT_WRITE);
  s->bytes = map(bytes * sizeof *s->bytes, PROT_READ | PROT_WRITE);
  if ((!reserve || s->base) && s->data && s->state && s->words && s->bytes) return true;
  close_space(s);
  return false;
}

bool emu_memory_open(emu_memory *memory, uint64_t bytes, uint64_t shared_bytes) {
  *memory = (emu_memory){.total = bytes, .next_id = 1};
  /* room for guards between allocations, and for not using addresses again too soon */
  const uint64_t room = (bytes + bytes / 2 + (UINT64_C(1) << 26)) & ~UINT64_C(4095);
  const uint64_t shared = (shared_bytes + 4095) & ~UINT64_C(4095);
  if (!open_space(&memory->space, room, true)) return false;
  if (open_space(&memory->shared, shared, false)) return true;
  close_space(&memory->space);
  return false;
}

void emu_memory_close(emu_memory *memory) {
  close_space(&memory->space);
  close_space(&memory->shared);
  free(memory->blocks);
  memset(memory, 0, sizeof *memory);
}

/* ---- allocations ---- */

/* the first place from `from` on that has room; where in the list it goes to `*index` */
static bool find_place(const emu_memory *m, uint64_t from, uint64_t need, uint64_t *offset,
                       int64_t *index) {
  uint64_t at = from;
  for (int64_t k = 0; k <= m->block_count; k++) {
    const uint64_t end = k < m->block_count ? m->blocks[k].offset : m->space.size;
    if (end >= at && end - at >= need) {
      *offset = at;
      *index = k;
      return true;
    }
    if (k == m->block_count) break;
    const uint64_t next = m->blocks[k].offset + m->blocks[k].reserved;
    if (next > at) at = next;
  }
  return false;
}

emu_grant emu_allocate(emu_memory *m, uint64_t bytes, uint64_t *address) {
  if (bytes > m->total) return EMU_FULL;
  const uint64_t rounded = (bytes + ALIGNMENT - 1) & ~(uint64_t)(ALIGNMENT - 1);
  if (m->used + rounded > m->total) return EMU_FULL;
  if (m->block_count == m->block_capacity) {
    const int64_t capacity = m->block_capacity ? 2 * m->block_capacity : 64;
    emu_block *larger = realloc(m->blocks, (size_t)capacity * sizeof *larger);
    if (!larger) return EMU_NO_HOST_MEMORY;
    m->blocks = larger;
    m->block_capacity = capacity;
  }
  uint64_t offset = 0;
  int64_t index = 0;
  if (!find_place(m, m->cursor, rounded + GUARD, &offset, &index) &&
      !find_place(m, 0, rounded + GUARD, &offset, &index)) {
    return EMU_FULL;
  }
  memmove(&m->blocks[index + 1], &m->blocks[index],
          (size_t)(m->block_count - index) * sizeof *m->blocks);
  m->blocks[index] = (emu_block){offset, bytes, rounded + GUARD};
  m->block_count++;
  m->used += rounded;
  m->cursor = offset + rounded + GUARD;
  memset(m->space.state + offset, EMU_ALLOCATED, bytes);
  *address = m->space.base + offset;
  return EMU_GRANTED;
}

/* the last block that starts at or before an offset; -1: none */
static int64_t find_block(const emu_memory *m, uint64_t offset) {
  int64_t low = 0, high = m->block_count;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (m->blocks[middle].offset <= offset) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}

const emu_block *emu_block_near(const emu_memory *m, uint64_t address) {
  const int64_t k = address < m->space.base ? -1 : find_block(m, address - m->space.base);
  return k < 0 ? NULL : &m->blocks[k];
}

bool emu_holds(const emu_memory *m, uint64_t address, uint64_t bytes) {
  const emu_block *block = emu_block_near(m, address);
  if (!block) return false;
  const uint64_t inside = address - m->space.base - block->offset;
  return inside <= block->bytes && bytes <= block->bytes - inside;
}

/* gives whole pages back and clears the rest: fresh memory has no past */
static void forget(void *memory, uint64_t from, uint64_t bytes) {
  const uint64_t start = (from + 4095) & ~UINT64_C(4095), end = (from + bytes) & ~UINT64_C(4095);
  uint8_t *at = memory;
  if (end <= start) {
    memset(at + from, 0, bytes);
    return;
  }
  memset(at + from, 0, start - from);
  memset(at + end, 0, from + bytes - end);
  madvise(at + start, end - start, MADV_DONTNEED);
}

bool emu_release(emu_memory *m, uint64_t address) {
  const uint64_t offset = address - m->space.base;
  const int64_t k = address < m->space.base ? -1 : find_block(m, offset);
  if (k < 0 || m->blocks[k].offset != offset) return false;
  const emu_block block = m->blocks[k];
  const uint64_t bytes = block.reserved - GUARD;
  forget(m->space.data, offset, bytes);
  forget(m->space.state, offset, bytes);
  forget(m->space.words, offset / 4 * sizeof *m->space.words, bytes / 4 * sizeof *m->space.words);
  forget(m->space.bytes, offset * sizeof *m->space.bytes, bytes * sizeof *m->space.bytes);
  m->used -= bytes;
  m->block_count--;
  memmove(&m->blocks[k], &m->blocks[k + 1], (size_t)(m->block_count - k) * sizeof *m->blocks);
  return true;
}

void emu_memory_forget(emu_memory *m) {
  forget(m->space.words, 0, m->space.size / 4 * sizeof *m->space.words);
  forget(m->space.bytes, 0, m->space.size * sizeof *m->space.bytes);
  forget(m->shared.words, 0, m->shared.size / 4 * sizeof *m->shared.words);
  forget(m->shared.bytes, 0, m->shared.size * sizeof *m->shared.bytes);
  m->next_id = 1;
}

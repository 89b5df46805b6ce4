/* One place in memory, used by some lanes: is it there, aligned, written, and free of hazards? And what
 * an access of a warp costs. See exec.h. */
#include "tests/emulator/exec.h"

#include <stdio.h>
#include <string.h>

/* ---- addresses ---- */

bool emu_addresses(const emu_warp *w, uint32_t slot, int64_t offset, bool wide, uint32_t lanes,
                   uint64_t *addresses) {
  if (!slot) {
    for (int lane = 0; lane < PTX_LANES; lane++) addresses[lane] = (uint64_t)offset;
    return true;
  }
  if (wide) {
    const uint64_t *base = emu_doubles(w, slot);
    for (int lane = 0; lane < PTX_LANES; lane++) addresses[lane] = base[lane] + (uint64_t)offset;
  } else {
    const uint32_t *base = emu_words(w, slot);
    for (int lane = 0; lane < PTX_LANES; lane++) addresses[lane] = base[lane] + (uint32_t)offset;
    for (int lane = 0; lane < PTX_LANES; lane++) addresses[lane] &= UINT32_MAX;
  }
  const uint64_t first = addresses[emu_first_lane(lanes)];
  uint64_t different = 0;
  if (lanes == UINT32_MAX) {
    for (int lane = 0; lane < PTX_LANES; lane++) different |= addresses[lane] ^ first;
  } else {
    for (uint32_t left = lanes; left; left &= left - 1) {
      different |= addresses[emu_first_lane(left)] ^ first;
    }
  }
  return different == 0;
}

/* ---- refusals ---- */

static bool fault_outside(emu_machine *m, const emu_warp *w, const ptx_insn *insn, uint32_t lanes,
                          ptx_space space, uint64_t address, unsigned bytes) {
  if (space == PTX_SHARED) {
    return emu_fault(m, w, insn, lanes, cudaErrorIllegalAddress,
                     "%u bytes at shared address %llu: outside the block's shared arrays (%u bytes "
                     "static, %u dynamic)",
                     bytes, (unsigned long long)address, m->kernel->shared_bytes, m->dynamic_bytes);
  }
  const emu_block *near = emu_block_near(m->memory, address);
  if (!near) {
    return emu_fault(m, w, insn, lanes, cudaErrorIllegalAddress,
                     "%u bytes at address 0x%llx: outside every allocation", bytes,
                     (unsigned long long)address);
  }
  const uint64_t start = m->memory->space.base + near->offset;
  return emu_fault(m, w, insn, lanes, cudaErrorIllegalAddress,
                   "%u bytes at address 0x%llx: outside every allocation; the one before starts at "
                   "0x%llx and has %llu bytes, this is at byte %llu of it",
                   bytes, (unsigned long long)address, (unsigned long long)start,
                   (unsigned long long)near->bytes, (unsigned long long)(address - start));
}

static const char *owner_text(const emu_machine *m, const emu_other *other, char *text,
                              size_t bytes) {
  if (other->id < m->now.block) {
    snprintf(text, bytes, "another block");
  } else if (other->id < m->now.warp) {
    snprintf(text, bytes, "another warp of the block");
  } else {
    snprintf(text, bytes, "lanes 0x%08x of the warp", other->lanes);
  }
  return text;
}

static bool fault_hazard(emu_machine *m, const emu_warp *w, const ptx_insn *insn, uint32_t lanes,
                         emu_problem problem, const emu_other *other, uint64_t base) {
  static const char *const names[] = {[EMU_READ_AFTER_WRITE] = "read after write",
                                      [EMU_WRITE_AFTER_READ] = "write after read",
                                      [EMU_WRITE_AFTER_WRITE] = "unequal write after write"};
  char owner[64], text[256];
  int length;
  const char *source = ptx_module_line(m->module, (int32_t)other->line, &length);
  snprintf(text, sizeof text, "%s, line %u \"%.*s\"", owner_text(m, other, owner, sizeof owner),
           other->line, length > 120 ? 120 : length, source);
  if (problem == EMU_CACHED_WRITTEN) {
    return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                     "address 0x%llx is read by ld.global.nc and written in one launch: %s",
                     (unsigned long long)(base + other->offset), text);
  }
  return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                   "hazard, %s without a barrier at %s address 0x%llx: %s", names[problem],
                   base ? "global" : "shared", (unsigned long long)(base + other->offset), text);
}

/* ---- one place ---- */

/* The marks of an access are read and written by words of its own size, which is several times faster
 * than byte by byte. */
static inline uint64_t marks_at(const uint8_t *state, unsigned bytes, bool all) {
  uint32_t four;
  uint64_t eight;
  switch (bytes) {
  case 4: memcpy(&four, state, 4); return four;
  case 8: memcpy(&eight, state, 8); return eight;
  default: break;
  }
  uint8_t have = 0xff, any = 0;
  for (unsigned k = 0; k < bytes; k++) have &= state[k], any |= state[k];
  return all ? have : any;
}

static inline uint64_t spread_mark(unsigned bytes, uint8_t mark) {
  return mark * (bytes == 4   ? UINT64_C(0x01010101)
                 : bytes == 8 ? UINT64_C(0x0101010101010101)
                              : UINT64_C(1));
}

static inline bool all_have(const uint8_t *state, unsigned bytes, uint8_t mark) {
  const uint64_t wanted = spread_mark(bytes, mark);
  return (marks_at(state, bytes, true) & wanted) == wanted;
}

static inline bool none_has(const uint8_t *state, unsigned bytes, uint8_t mark) {
  return !(marks_at(state, bytes, false) & spread_mark(bytes, mark));
}

static inline void add_mark(uint8_t *state, unsigned bytes, uint8_t mark) {
  const uint64_t marks = marks_at(state, bytes, false) | spread_mark(bytes, mark);
  switch (bytes) {
  case 4: memcpy(state, &marks, 4); return;
  case 8: memcpy(state, &marks, 8); return;
  default: break;
  }
  for (unsigned k = 0; k < bytes; k++) state[k] |= mark;
}

static uint8_t *reach_shadowed(emu_machine *m, emu_warp *w, const ptx_insn *insn, emu_space *space,
                               uint64_t offset, unsigned bytes, uint32_t lanes, emu_use use,
                               const uint8_t *value) {
  const ptx_space kind = space->base ? PTX_GLOBAL : PTX_SHARED;
  const uint64_t size = space->base ? space->size : m->shared_bytes;
  const bool inside = offset < size && bytes <= size - offset;
  if (!inside || !all_have(space->state + offset, bytes, EMU_ALLOCATED)) {
    fault_outside(m, w, insn, lanes, kind, space->base + offset, bytes);
    return NULL;
  }
  uint8_t *state = space->state + offset;
  if (use != EMU_WRITE && m->rules.unwritten && !all_have(state, bytes, EMU_WRITTEN)) {
    emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
              "%u bytes at %s address 0x%llx are read and were never written", bytes,
              space->base ? "global" : "shared", (unsigned long long)(space->base + offset));
    return NULL;
  }
  if (use != EMU_READ) {
    if (!none_has(state, bytes, EMU_READ_ONLY)) {
      emu_fault(m, w, insn, lanes, cudaErrorIllegalAddress, "a write to constant memory, 0x%llx",
                (unsigned long long)(space->base + offset));
      return NULL;
    }
    add_mark(state, bytes, EMU_WRITTEN);
  }
  if (m->rules.hazards) {
    const emu_access access = {.lanes = lanes,
                               .line = (uint32_t)insn->line & EMU_LINE,
                               .strong = (insn->flags & PTX_FLAG_STRONG) != 0,
                               .cached = (insn->flags & PTX_FLAG_NONCOHERENT) != 0,
                               .value = value};
    emu_other other = {0};
    emu_problem problem = EMU_FINE;
    if (use != EMU_WRITE) problem = emu_note_read(space, &m->now, offset, bytes, &access, &other);
    if (use != EMU_READ && problem == EMU_FINE) {
      problem = emu_note_write(space, &m->now, offset, bytes, &access, &other);
    }
    if (problem != EMU_FINE) {
      fault_hazard(m, w, insn, lanes, problem, &other, space->base);
      return NULL;
    }
  }
  return space->data + offset;
}

static uint8_t *reach_local(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint64_t offset,
                            unsigned bytes, uint32_t lanes, emu_use use) {
  const uint32_t size = m->kernel->local_bytes;
  if (offset >= size || bytes > size - offset) {
    emu_fault(m, w, insn, lanes, cudaErrorIllegalAddress,
              "%u bytes at local address %llu: outside the %u bytes of a lane", bytes,
              (unsigned long long)offset, size);
    return NULL;
  }
  const uint64_t at = (uint64_t)emu_first_lane(lanes) * size + offset;
  if (use != EMU_WRITE && m->rules.unwritten &&
      !all_have(w->local_state + at, bytes, EMU_WRITTEN)) {
    emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
              "%u bytes at local address %llu are read and were never written", bytes,
              (unsigned long long)offset);
    return NULL;
  }
  if (use != EMU_READ) memset(w->local_state + at, EMU_WRITTEN, bytes);
  return w->local + at;
}

/* parameters are only read, so the cast away from const is never written through */
static uint8_t *reach_param(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint64_t offset,
                            unsigned bytes, uint32_t lanes, emu_use use) {
  const uint32_t size = m->kernel->param_bytes;
  if (use != EMU_READ || offset >= size || bytes > size - offset) {
    emu_fault(m, w, insn, lanes, cudaErrorIllegalAddress,
              "%u bytes at parameter address %llu: there are %u bytes, and none may be written",
              bytes, (unsigned long long)offset, size);
    return NULL;
  }
  return (uint8_t *)(uintptr_t)(m->params + offset);
}

/* the memory that an address is of; a generic one becomes an address in it */
static ptx_space resolve(ptx_space space, uint64_t *address) {
  static const struct {
    uint64_t window;
    ptx_space space;
  } windows[] = {{PTX_SHARED_WINDOW, PTX_SHARED},
                 {PTX_LOCAL_WINDOW, PTX_LOCAL},
                 {PTX_PARAM_WINDOW, PTX_PARAM}};
  if (space != PTX_GENERIC) return space;
  for (size_t k = 0; k < sizeof windows / sizeof *windows; k++) {
    if (*address - windows[k].window >= PTX_WINDOW_BYTES) continue;
    *address -= windows[k].window;
    return windows[k].space;
  }
  return PTX_GLOBAL;
}

uint8_t *emu_reach(emu_machine *m, emu_warp *w, const ptx_insn *insn, ptx_space space,
                   uint64_t address, unsigned bytes, uint32_t lanes, emu_use use,
                   const uint8_t *value) {
  if (address & (bytes - 1)) {
    emu_fault(m, w, insn, lanes, cudaErrorMisalignedAddress,
              "%u bytes at address 0x%llx, which is no multiple of %u", bytes,
              (unsigned long long)address, bytes);
    return NULL;
  }
  switch (resolve(space, &address)) {
  case PTX_SHARED:
    return reach_shadowed(m, w, insn, &m->memory->shared, address, bytes, lanes, use, value);
  case PTX_LOCAL: return reach_local(m, w, insn, address, bytes, lanes, use);
  case PTX_PARAM: return reach_param(m, w, insn, address, bytes, lanes, use);
  default: break;
  }
  emu_space *global = &m->memory->space;
  return reach_shadowed(m, w, insn, global, address - global->base, bytes, lanes, use, value);
}

bool emu_may_fetch(emu_machine *m, const emu_warp *w, const ptx_insn *insn, ptx_space space,
                   uint64_t address, uint32_t lanes) {
  /* from shared memory a prefetch takes nothing, and local memory is always there */
  if (resolve(space, &address) != PTX_GLOBAL) return true;
  const emu_space *global = &m->memory->space;
  const uint64_t offset = address - global->base;
  if (offset < global->size && global->state[offset] & EMU_ALLOCATED) return true;
  return fault_outside(m, w, insn, lanes, PTX_GLOBAL, address, 1);
}

/* ---- traffic ---- */

/* how many different values of address / size the lanes have; those that follow each other are found
 * at the end of the list */
static int count_distinct(const uint64_t *addresses, uint32_t lanes, unsigned shift,
                          unsigned bytes) {
  uint64_t seen[2 * PTX_LANES];
  int count = 0;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const uint64_t address = addresses[emu_first_lane(left)];
    const uint64_t last = (address + bytes - 1) >> shift;
    for (uint64_t piece = address >> shift; piece <= last && count < 2 * PTX_LANES; piece++) {
      int k = count - 1;
      while (k >= 0 && seen[k] != piece) k--;
      if (k < 0) seen[count++] = piece;
    }
  }
  return count;
}

/* passes over the 32 banks of 4 bytes for some lanes: as many as different words meet in one bank */
static int bank_passes(const uint64_t *addresses, uint32_t lanes, unsigned bytes) {
  uint64_t words[PTX_LANES * 4];
  uint8_t next[PTX_LANES * 4], head[PTX_LANES], in_bank[PTX_LANES] = {0};
  int count = 0, most = 0;
  memset(head, 0xff, sizeof head);
  for (uint32_t left = lanes; left; left &= left - 1) {
    const uint64_t address = addresses[emu_first_lane(left)];
    for (uint64_t word = address / 4; word <= (address + bytes - 1) / 4; word++) {
      const unsigned bank = (unsigned)(word % 32);
      uint8_t k = head[bank];
      while (k != 0xff && words[k] != word) k = next[k];
      if (k != 0xff) continue;
      words[count] = word;
      next[count] = head[bank];
      head[bank] = (uint8_t)count++;
      if (++in_bank[bank] > most) most = in_bank[bank];
    }
  }
  return most;
}

/* a row: each lane of a full warp has the bytes behind those of the one before */
static bool is_row(const uint64_t *addresses, uint32_t lanes, unsigned bytes) {
  uint64_t different = 0;
  if (lanes != UINT32_MAX) return false;
  for (unsigned lane = 0; lane < PTX_LANES; lane++) {
    different |= addresses[lane] ^ (addresses[0] + (uint64_t)bytes * lane);
  }
  return different == 0;
}

/* how many pieces of 1 << shift bytes all lanes together touch */
static int count_pieces(const uint64_t *addresses, uint32_t lanes, unsigned shift, unsigned bytes) {
  if (!is_row(addresses, lanes, bytes)) return count_distinct(addresses, lanes, shift, bytes);
  const uint64_t last = addresses[0] + (uint64_t)bytes * PTX_LANES - 1;
  return (int)((last >> shift) - (addresses[0] >> shift)) + 1;
}

static void count_shared(emu_machine *m, const ptx_insn *insn, unsigned bytes,
                         const uint64_t *addresses, uint32_t lanes, bool equal) {
  /* 8 and 16 bytes a lane are served for half and quarter warps */
  const int parts = equal || bytes <= 4 ? 1 : (int)(bytes / 4);
  const int width = PTX_LANES / parts;
  const bool row = bytes >= 4 && is_row(addresses, lanes, bytes);
  int passes = 0, least = 0;
  for (int k = 0; k < parts; k++) {
    const uint32_t some = parts == 1 ? lanes : lanes & (((1u << width) - 1) << k * width);
    if (!some) continue;
    passes += equal || row ? 1 : bank_passes(addresses, some, bytes);
    least++;
  }
  m->counts.shared_requests++;
  m->counts.shared_passes += passes;
  m->counts.shared_conflicts += passes - least;
  m->extra[insn - m->kernel->code] += passes;
}

void emu_count_traffic(emu_machine *m, const ptx_insn *insn, ptx_space space, unsigned bytes,
                       const uint64_t *addresses, uint32_t lanes, bool equal) {
  if (m->rules.by_lanes) return;
  if (space == PTX_GENERIC) {
    const uint64_t first = addresses[emu_first_lane(lanes)];
    if (first - PTX_SHARED_WINDOW < PTX_WINDOW_BYTES)
      space = PTX_SHARED;
    else if (first < PTX_SHARED_WINDOW)
      space = PTX_GLOBAL;
  }
  if (space == PTX_SHARED) {
    count_shared(m, insn, bytes, addresses, lanes, equal);
  } else if (space == PTX_GLOBAL) {
    m->counts.global_requests++;
    m->counts.global_sectors += equal ? 1 : count_pieces(addresses, lanes, 5, bytes);
    m->extra[insn - m->kernel->code] += equal ? 1 : count_pieces(addresses, lanes, 7, bytes);
  }
}

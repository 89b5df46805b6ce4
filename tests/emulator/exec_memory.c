/* Loads, stores, prefetches, atomics and asynchronous copies of a warp's lanes. See exec.h.
 *
 * Lanes that all name one address are checked together; others one by one, in the order of their
 * numbers, as a store of several lanes to one place would be a hazard if its values differed. */
#include "tests/emulator/exec.h"

#include <string.h>

/* ---- values between memory and registers ---- */

static inline uint64_t read_bits(const uint8_t *data, unsigned bytes) {
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (bytes) {
  case 1: return *data;
  case 2: memcpy(&two, data, 2); return two;
  case 4: memcpy(&four, data, 4); return four;
  default: memcpy(&eight, data, 8); return eight;
  }
}

/* widened to the register as the type says; registers of 16 bits keep zeros above */
static inline uint64_t widen(const ptx_insn *insn, uint64_t bits) {
  const unsigned width = 8u * insn->bytes;
  if (insn->flags & PTX_FLAG_SIGNED && width < 64 && bits >> (width - 1) & 1) {
    bits |= ~UINT64_C(0) << width;
  }
  const ptx_type held = (ptx_type)insn->source_type;
  return held == PTX_B16 || held == PTX_U16 || held == PTX_S16 ? bits & 0xffff : bits;
}

static inline void put_lane(const emu_warp *w, const ptx_insn *insn, uint32_t slot, int lane,
                            uint64_t bits) {
  if (insn->result_bytes == 8) {
    emu_doubles(w, slot)[lane] = bits;
  } else {
    emu_words(w, slot)[lane] = (uint32_t)bits;
  }
}

static inline uint64_t source_bits(const emu_warp *w, uint32_t slot, unsigned element, int lane) {
  return element == 8 ? emu_doubles(w, slot)[lane] : emu_words(w, slot)[lane];
}

static inline void put_lanes(const emu_warp *w, const ptx_insn *insn, uint32_t slot, uint32_t lanes,
                             uint64_t bits) {
  if (lanes == UINT32_MAX && insn->result_bytes == 4) {
    uint32_t *to = emu_words(w, slot);
    for (int lane = 0; lane < PTX_LANES; lane++) to[lane] = (uint32_t)bits;
    return;
  }
  for (uint32_t left = lanes; left; left &= left - 1) {
    put_lane(w, insn, slot, emu_first_lane(left), bits);
  }
}

/* local memory is each lane's own, whatever the address */
static bool is_private(ptx_space space, const uint64_t *addresses, uint32_t lanes) {
  if (space == PTX_LOCAL) return true;
  return space == PTX_GENERIC &&
         addresses[emu_first_lane(lanes)] - PTX_LOCAL_WINDOW < PTX_WINDOW_BYTES;
}

bool emu_load(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  uint64_t addresses[PTX_LANES];
  const ptx_space space = (ptx_space)insn->space;
  const unsigned bytes = (unsigned)insn->bytes * insn->vector;
  const bool equal = emu_addresses(w, insn->from[0], insn->offset,
                                   (insn->flags & PTX_FLAG_ADDRESS64) != 0, lanes, addresses) &&
                     !is_private(space, addresses, lanes);
  emu_count_traffic(m, insn, space, bytes, addresses, lanes, equal);
  for (uint32_t left = lanes; left;) {
    const int lane = emu_first_lane(left);
    const uint32_t some = equal ? left : 1u << lane;
    const uint8_t *data =
        emu_reach(m, w, insn, space, addresses[lane], bytes, some, EMU_READ, NULL);
    if (!data) return false;
    for (int k = 0; k < insn->vector; k++) {
      const uint64_t bits = widen(insn, read_bits(data + k * insn->bytes, insn->bytes));
      put_lanes(w, insn, insn->to[k], some, bits);
    }
    left &= ~some;
  }
  return true;
}

static void gather_value(const emu_warp *w, const ptx_insn *insn, int lane, uint8_t *value) {
  for (int k = 0; k < insn->vector; k++) {
    const uint64_t bits = source_bits(w, insn->from[k + 1], insn->result_bytes, lane);
    memcpy(value + k * insn->bytes, &bits, insn->bytes);
  }
}

/* whether all lanes store the same; then they are one access */
static bool equal_values(const emu_warp *w, const ptx_insn *insn, uint32_t lanes, uint8_t *value) {
  const int first = emu_first_lane(lanes);
  const uint64_t matter = insn->bytes == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * insn->bytes) - 1;
  gather_value(w, insn, first, value);
  uint64_t different = 0;
  for (int k = 0; k < insn->vector; k++) {
    const uint32_t slot = insn->from[k + 1];
    if (insn->result_bytes == 4 && lanes == UINT32_MAX) {
      const uint32_t *words = emu_words(w, slot);
      uint32_t some = 0;
      for (int lane = 0; lane < PTX_LANES; lane++) some |= words[lane] ^ words[first];
      different |= some & matter;
      continue;
    }
    const uint64_t one = source_bits(w, slot, insn->result_bytes, first);
    for (uint32_t left = lanes; left; left &= left - 1) {
      different |= (source_bits(w, slot, insn->result_bytes, emu_first_lane(left)) ^ one) & matter;
    }
  }
  return different == 0;
}

bool emu_store(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  uint64_t addresses[PTX_LANES];
  uint8_t value[16];
  const ptx_space space = (ptx_space)insn->space;
  const unsigned bytes = (unsigned)insn->bytes * insn->vector;
  const bool equal = emu_addresses(w, insn->from[0], insn->offset,
                                   (insn->flags & PTX_FLAG_ADDRESS64) != 0, lanes, addresses) &&
                     !is_private(space, addresses, lanes);
  emu_count_traffic(m, insn, space, bytes, addresses, lanes, equal);
  const bool together = equal && equal_values(w, insn, lanes, value);
  for (uint32_t left = lanes; left;) {
    const int lane = emu_first_lane(left);
    const uint32_t some = together ? left : 1u << lane;
    if (!together) gather_value(w, insn, lane, value);
    uint8_t *data = emu_reach(m, w, insn, space, addresses[lane], bytes, some, EMU_WRITE, value);
    if (!data) return false;
    memcpy(data, value, bytes);
    left &= ~some;
  }
  return true;
}

bool emu_prefetch(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  uint64_t addresses[PTX_LANES];
  const ptx_space space = (ptx_space)insn->space;
  const bool equal = emu_addresses(w, insn->from[0], insn->offset,
                                   (insn->flags & PTX_FLAG_ADDRESS64) != 0, lanes, addresses);
  emu_count_traffic(m, insn, space, 1, addresses, lanes, equal);
  for (uint32_t left = lanes; left;) {
    const int lane = emu_first_lane(left);
    const uint32_t some = equal ? left : 1u << lane;
    if (!emu_may_fetch(m, w, insn, space, addresses[lane], some)) return false;
    left &= ~some;
  }
  return true;
}

/* ---- atomics ---- */

static float float_sum(uint32_t a, uint32_t b, uint32_t *bits) {
  float x, y;
  memcpy(&x, &a, 4);
  memcpy(&y, &b, 4);
  const float sum = x + y;
  memcpy(bits, &sum, 4);
  return sum;
}

static uint64_t add_values(ptx_type type, uint64_t a, uint64_t b) {
  if (type == PTX_F32) {
    uint32_t bits;
    const float sum = float_sum((uint32_t)a, (uint32_t)b, &bits);
    return sum != sum ? 0x7fffffff : bits;
  }
  if (type == PTX_F64) {
    double x, y;
    memcpy(&x, &a, 8);
    memcpy(&y, &b, 8);
    x += y;
    memcpy(&a, &x, 8);
    return a;
  }
  return a + b;
}

static bool is_less(ptx_type type, uint64_t a, uint64_t b) {
  switch (type) {
  case PTX_S32: return (int32_t)a < (int32_t)b;
  case PTX_S64: return (int64_t)a < (int64_t)b;
  default: return a < b;
  }
}

static uint64_t combine(const ptx_insn *insn, uint64_t old, uint64_t b, uint64_t c) {
  const ptx_type type = (ptx_type)insn->type;
  switch ((ptx_mode)insn->mode) {
  case PTX_ADD: return add_values(type, old, b);
  case PTX_MIN: return is_less(type, b, old) ? b : old;
  case PTX_MAX: return is_less(type, old, b) ? b : old;
  case PTX_AND: return old & b;
  case PTX_OR: return old | b;
  case PTX_XOR: return old ^ b;
  case PTX_INC: return old >= b ? 0 : old + 1;
  case PTX_DEC: return old == 0 || old > b ? b : old - 1;
  case PTX_EXCHANGE: return b;
  default: return old == b ? c : old;
  }
}

bool emu_atomic(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  uint64_t addresses[PTX_LANES];
  const ptx_space space = (ptx_space)insn->space;
  const unsigned bytes = insn->bytes;
  const bool equal = emu_addresses(w, insn->from[0], insn->offset,
                                   (insn->flags & PTX_FLAG_ADDRESS64) != 0, lanes, addresses);
  emu_count_traffic(m, insn, space, bytes, addresses, lanes, equal);
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    const uint64_t b = source_bits(w, insn->from[1], bytes, lane);
    const uint64_t c = insn->mode == PTX_SWAP_IF ? source_bits(w, insn->from[2], bytes, lane) : 0;
    static const uint8_t any[16];
    uint8_t *data = emu_reach(m, w, insn, space, addresses[lane], bytes, 1u << lane, EMU_BOTH, any);
    if (!data) return false;
    const uint64_t old = read_bits(data, bytes), result = combine(insn, old, b, c);
    memcpy(data, &result, bytes);
    if (!(insn->flags & PTX_FLAG_NO_RESULT)) put_lane(w, insn, insn->to[0], lane, old);
  }
  return true;
}

/* ---- asynchronous copies: the bytes are taken at once and land at the wait ---- */

static bool start_copy(emu_machine *m, emu_warp *w, const ptx_insn *insn, int lane, uint64_t to,
                       uint64_t from) {
  const uint32_t only = 1u << lane;
  if (w->copy_count == EMU_COPIES_MAX) {
    return emu_fault(m, w, insn, only, cudaErrorLaunchFailure, "more than %d copies on their way",
                     EMU_COPIES_MAX);
  }
  emu_copy *copy = &w->copies[w->copy_count];
  memset(copy, 0, sizeof *copy);
  const uint32_t wanted = insn->from[2] ? emu_words(w, insn->from[2])[lane] : insn->bytes;
  if (wanted) {
    const uint8_t *source =
        emu_reach(m, w, insn, PTX_GLOBAL, from, insn->bytes, only, EMU_READ, NULL);
    if (!source) return false;
    memcpy(copy->data, source, wanted < insn->bytes ? wanted : insn->bytes);
  }
  if (!emu_reach(m, w, insn, PTX_SHARED, to, insn->bytes, only, EMU_WRITE, copy->data))
    return false;
  /* until it has landed nobody may read there */
  for (unsigned k = 0; k < insn->bytes; k++)
    m->memory->shared.state[to + k] &= (uint8_t)~EMU_WRITTEN;
  copy->lane = (uint32_t)lane;
  copy->group = w->lane_group[lane];
  copy->to = to;
  copy->bytes = insn->bytes;
  w->copy_count++;
  return true;
}

bool emu_copy_start(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  uint64_t to[PTX_LANES], from[PTX_LANES];
  const bool wide = (insn->flags & PTX_FLAG_ADDRESS64) != 0;
  bool equal = emu_addresses(w, insn->from[0], insn->offset, wide, lanes, to);
  emu_count_traffic(m, insn, PTX_SHARED, insn->bytes, to, lanes, equal);
  equal = emu_addresses(w, insn->from[1], insn->target, true, lanes, from);
  emu_count_traffic(m, insn, PTX_GLOBAL, insn->bytes, from, lanes, equal);
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    if (!start_copy(m, w, insn, lane, to[lane], from[lane])) return false;
  }
  return true;
}

bool emu_copy_wait(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  int32_t kept = 0;
  for (int32_t k = 0; k < w->copy_count; k++) {
    const emu_copy *copy = &w->copies[k];
    const int64_t newest = (int64_t)w->lane_group[copy->lane] - insn->offset;
    const bool done = insn->flags & PTX_FLAG_WAIT_ALL || copy->group < newest;
    if (!(lanes >> copy->lane & 1) || !done) {
      w->copies[kept++] = *copy;
      continue;
    }
    uint8_t *data = emu_reach(m, w, insn, PTX_SHARED, copy->to, copy->bytes, 1u << copy->lane,
                              EMU_WRITE, copy->data);
    if (!data) return false;
    memcpy(data, copy->data, copy->bytes);
  }
  w->copy_count = kept;
  return true;
}

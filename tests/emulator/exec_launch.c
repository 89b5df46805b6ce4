/* Blocks one after another, their warps from barrier to barrier. See exec.h. */
#include "tests/emulator/exec.h"

#include <fenv.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool emu_fault(emu_machine *m, const emu_warp *w, const ptx_insn *insn, uint32_t lanes,
               cudaError_t error, const char *format, ...) {
  if (m->error) return false;
  m->error = error;
  char what[512];
  va_list list;
  va_start(list, format);
  vsnprintf(what, sizeof what, format, list);
  va_end(list);
  int length;
  const char *source = ptx_module_line(m->module, insn->line, &length);
  snprintf(m->message, sizeof m->message,
           "kernel %s, PTX line %d \"%.*s\", block (%u,%u,%u), warp %d, lanes 0x%08x: %s",
           m->kernel->name, insn->line, length > 160 ? 160 : length, source, m->block_at.x,
           m->block_at.y, m->block_at.z, w->number, lanes, what);
  return false;
}

uint32_t emu_next_stretch(emu_machine *m) { return m->memory->next_id++; }

/* splitmix64 */
uint64_t emu_random(emu_machine *m) {
  uint64_t z = m->random += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* ---- the memory of warps ---- */

static void free_warps(emu_machine *m) {
  for (int32_t k = 0; m->warps && k < m->warp_count; k++) {
    free(m->warps[k].registers);
    free(m->warps[k].local);
    free(m->warps[k].parted);
    free(m->warps[k].copies);
  }
  free(m->warps);
  m->warps = NULL;
}

static bool uses_copies(const ptx_kernel *kernel) {
  for (int32_t k = 0; k < kernel->count; k++) {
    if (kernel->code[k].kind == PTX_DO_COPY) return true;
  }
  return false;
}

/* immediates are the same for all blocks */
static void fill_constants(const ptx_kernel *kernel, const emu_warp *w) {
  for (int32_t k = 0; k < kernel->constant_count; k++) {
    const ptx_constant *c = &kernel->constants[k];
    if (c->bytes == 0) {
      *emu_words(w, c->slot) = (uint32_t)c->bits;
      continue;
    }
    for (int lane = 0; lane < PTX_LANES; lane++) {
      if (c->bytes == 8) {
        emu_doubles(w, c->slot)[lane] = c->bits;
      } else {
        emu_words(w, c->slot)[lane] = (uint32_t)c->bits;
      }
    }
  }
}

static bool make_warps(emu_machine *m) {
  const ptx_kernel *kernel = m->kernel;
  const size_t registers = (kernel->register_bytes + (size_t)63) & ~(size_t)63;
  const size_t local = (size_t)kernel->local_bytes * PTX_LANES;
  const bool copies = uses_copies(kernel);
  m->warps = calloc((size_t)m->warp_count, sizeof *m->warps);
  if (!m->warps) return false;
  for (int32_t k = 0; k < m->warp_count; k++) {
    emu_warp *w = &m->warps[k];
    w->number = k;
    w->registers = aligned_alloc(64, registers);
    w->local = malloc(2 * local + 1);
    w->parted = malloc(EMU_PARTED_MAX * sizeof *w->parted);
    w->copies = copies ? malloc(EMU_COPIES_MAX * sizeof *w->copies) : NULL;
    if (!w->registers || !w->local || !w->parted || (copies && !w->copies)) return false;
    w->local_state = w->local + local;
    /* what was never set is neither zero nor the same in all lanes */
    for (size_t j = 0; j < registers / 4; j++) {
      emu_words(w, 0)[j] = UINT32_C(0xbad00000) + (uint32_t)(j * 40503u & 0xfffff);
    }
    fill_constants(kernel, w);
  }
  return true;
}

/* ---- the start of a block ---- */

static void fill_special(const emu_warp *w, uint32_t slot, const uint32_t *values) {
  if (slot) memcpy(emu_words(w, slot), values, PTX_LANES * sizeof *values);
}

static uint32_t uniform_special(const emu_machine *m, const emu_warp *w, ptx_special which) {
  switch (which) {
  case PTX_NTID_X: return m->block.x;
  case PTX_NTID_Y: return m->block.y;
  case PTX_NTID_Z: return m->block.z;
  case PTX_CTAID_X: return m->block_at.x;
  case PTX_CTAID_Y: return m->block_at.y;
  case PTX_CTAID_Z: return m->block_at.z;
  case PTX_NCTAID_X: return m->grid.x;
  case PTX_NCTAID_Y: return m->grid.y;
  case PTX_NCTAID_Z: return m->grid.z;
  case PTX_WARPID: return (uint32_t)w->number;
  case PTX_NWARPID: return (uint32_t)m->warp_count;
  case PTX_NSMID: return 1;
  case PTX_DYNAMIC_SMEM: return m->dynamic_bytes;
  case PTX_TOTAL_SMEM: return m->kernel->shared_bytes + m->dynamic_bytes;
  default: return 0;
  }
}

static uint32_t lane_special(const emu_machine *m, const emu_warp *w, ptx_special which,
                             uint32_t lane) {
  const uint32_t thread = (uint32_t)w->number * PTX_LANES + lane;
  switch (which) {
  case PTX_TID_X: return thread % m->block.x;
  case PTX_TID_Y: return thread / m->block.x % m->block.y;
  case PTX_TID_Z: return thread / m->block.x / m->block.y;
  case PTX_LANEID: return lane;
  case PTX_LANEMASK_EQ: return 1u << lane;
  case PTX_LANEMASK_LT: return (1u << lane) - 1;
  case PTX_LANEMASK_LE: return (2u << lane) - 1;
  case PTX_LANEMASK_GE: return ~((1u << lane) - 1);
  case PTX_LANEMASK_GT: return ~((2u << lane) - 1);
  default: return uniform_special(m, w, which);
  }
}

static void start_warp(emu_machine *m, emu_warp *w) {
  const uint32_t threads = m->block.x * m->block.y * m->block.z;
  const uint32_t first = (uint32_t)w->number * PTX_LANES;
  const uint32_t lanes = threads - first < PTX_LANES ? threads - first : PTX_LANES;
  w->live = lanes == PTX_LANES ? UINT32_MAX : (1u << lanes) - 1;
  w->active = w->live;
  w->pc = 0;
  w->join = -1;
  w->parted_count = w->copy_count = 0;
  w->waits = false;
  memset(w->lane_pc, 0, sizeof w->lane_pc);
  memset(w->lane_group, 0, sizeof w->lane_group);
  memset(w->local_state, 0, (size_t)m->kernel->local_bytes * PTX_LANES);
  for (int k = 0; k < PTX_SPECIAL_COUNT; k++) {
    uint32_t values[PTX_LANES];
    if (!m->kernel->specials[k]) continue;
    for (uint32_t lane = 0; lane < PTX_LANES; lane++) {
      values[lane] = lane_special(m, w, (ptx_special)k, lane);
    }
    fill_special(w, m->kernel->specials[k], values);
  }
}

/* what lies between static arrays belongs to nobody */
static void start_shared(emu_machine *m) {
  uint8_t *state = m->memory->shared.state;
  memset(state, 0, m->shared_bytes);
  for (int32_t k = 0; k < m->kernel->array_count; k++) {
    memset(state + m->kernel->arrays[k].offset, EMU_ALLOCATED, m->kernel->arrays[k].bytes);
  }
  memset(state + m->kernel->shared_extent, EMU_ALLOCATED, m->dynamic_bytes);
}

/* ---- barriers ---- */

static bool barrier_fault(emu_machine *m, const char *what) {
  for (int32_t k = 0; k < m->warp_count; k++) {
    const emu_warp *w = &m->warps[k];
    if (!w->waits) continue;
    return emu_fault(m, w, &m->kernel->code[w->pc], w->active, cudaErrorLaunchTimeout, "%s", what);
  }
  return false;
}

/* the number of the barrier and of its threads are the same for all lanes and warps */
static bool check_barrier(emu_machine *m, const emu_warp *w, const ptx_insn *insn,
                          uint32_t number) {
  const uint32_t threads = m->block.x * m->block.y * m->block.z;
  for (uint32_t left = w->active; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    if (emu_words(w, insn->from[0])[lane] != number) {
      return barrier_fault(m, "deadlock: warps wait at different barriers");
    }
    if (insn->from[1] && emu_words(w, insn->from[1])[lane] != threads) {
      return barrier_fault(m, "a barrier of a part of the block is not known");
    }
  }
  return true;
}

static void give_votes(emu_machine *m, uint32_t count, uint32_t threads) {
  for (int32_t k = 0; k < m->warp_count; k++) {
    const emu_warp *w = &m->warps[k];
    if (!w->waits) continue;
    const ptx_insn *insn = &m->kernel->code[w->pc];
    if (insn->mode == PTX_POPC) {
      for (uint32_t left = w->active; left; left &= left - 1) {
        emu_words(w, insn->to[0])[emu_first_lane(left)] = count;
      }
    } else if (insn->mode != PTX_WAIT) {
      const bool holds = insn->mode == PTX_AND ? count == threads : count > 0;
      emu_put_mask(w, insn->to[0], w->active, holds ? ~0u : 0);
    }
  }
}

/* all warps that have not ended wait: lets them go on */
static bool release_barrier(emu_machine *m) {
  uint32_t number = 0, count = 0, threads = 0;
  bool first = true;
  for (int32_t k = 0; k < m->warp_count; k++) {
    const emu_warp *w = &m->warps[k];
    if (!w->waits) continue;
    const ptx_insn *insn = &m->kernel->code[w->pc];
    if (first) number = emu_words(w, insn->from[0])[emu_first_lane(w->active)];
    first = false;
    if (!check_barrier(m, w, insn, number)) return false;
    threads += (uint32_t)__builtin_popcount(w->active);
    if (insn->mode != PTX_WAIT) {
      uint32_t mask = emu_mask(w, insn->from[2]);
      if (insn->nots & 4) mask = ~mask;
      count += (uint32_t)__builtin_popcount(mask & w->active);
    }
  }
  give_votes(m, count, threads);
  for (int32_t k = 0; k < m->warp_count; k++) {
    if (m->warps[k].waits) emu_pass_barrier(m, &m->warps[k]);
  }
  m->now.interval = emu_next_stretch(m);
  return true;
}

/* ---- blocks ---- */

/* every warp from here to its next barrier or end; in random order where lanes run alone */
static bool run_interval(emu_machine *m, bool *waiting) {
  *waiting = false;
  const uint32_t offset =
      m->rules.by_lanes ? (uint32_t)(emu_random(m) % (uint64_t)m->warp_count) : 0;
  for (int32_t k = 0; k < m->warp_count; k++) {
    emu_warp *w = &m->warps[((uint32_t)k + offset) % (uint32_t)m->warp_count];
    if (!w->live) continue;
    m->now.warp = m->now.stretch = emu_next_stretch(m);
    const emu_stop stop = emu_run_warp(m, w);
    if (stop == EMU_FAULTED) return false;
    if (stop == EMU_ENDED) w->live = 0;
    w->waits = stop == EMU_AT_BARRIER;
    *waiting = *waiting || w->waits;
  }
  return true;
}

static bool run_block(emu_machine *m) {
  start_shared(m);
  m->now.block = m->now.interval = emu_next_stretch(m);
  for (int32_t k = 0; k < m->warp_count; k++) start_warp(m, &m->warps[k]);
  for (bool waiting = true; waiting;) {
    if (!run_interval(m, &waiting)) return false;
    if (waiting && !release_barrier(m)) return false;
  }
  return true;
}

static void sum_counts(emu_machine *m) {
  wb_emulator_counts *counts = &m->counts;
  const int64_t blocks = (int64_t)m->grid.x * m->grid.y * m->grid.z;
  counts->launches = 1;
  counts->blocks = blocks;
  counts->warps = blocks * m->warp_count;
  for (int32_t k = 0; k < m->kernel->count; k++) {
    const ptx_insn *insn = &m->kernel->code[k];
    counts->instructions += m->issued[k];
    counts->classes[insn->cost_class] += m->issued[k];
    const double cycles = (double)m->issued[k] * (double)insn->weight + m->extra[k];
    counts->class_cycles[insn->cost_class] += cycles;
    counts->sm_cycles += cycles;
  }
}

bool emu_run(emu_machine *m) {
  const uint32_t threads = m->block.x * m->block.y * m->block.z;
  m->warp_count = (int32_t)((threads + PTX_LANES - 1) / PTX_LANES);
  m->left = m->rules.instructions;
  m->random = m->rules.seed;
  m->now.launch = emu_next_stretch(m);
  fenv_t environment;
  feholdexcept(&environment);
  fesetenv(FE_DFL_ENV);
  bool fine = make_warps(m);
  if (!fine) {
    m->error = cudaErrorMemoryAllocation;
    snprintf(m->message, sizeof m->message, "no host memory for %d warps", m->warp_count);
  }
  for (uint32_t z = 0; fine && z < m->grid.z; z++) {
    for (uint32_t y = 0; fine && y < m->grid.y; y++) {
      for (uint32_t x = 0; fine && x < m->grid.x; x++) {
        m->block_at = (dim3){x, y, z};
        fine = run_block(m);
      }
    }
  }
  free_warps(m);
  fesetenv(&environment);
  if (!m->rules.by_lanes) sum_counts(m);
  return fine;
}

/* The two ways to run a warp. See exec.h.
 *
 * In lock step: all lanes execute one instruction after another. Where they part at a branch (and that is
 * allowed) one side runs first, to the place where both meet again (flow.c), while the other waits on a
 * stack.
 *
 * Lane by lane: every lane runs by itself to the next instruction at which lanes meet, in random order;
 * what a kernel computes must not depend on it. */
#include "tests/emulator/exec.h"

/* ---- what both ways share ---- */

static bool run_alu(emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (lanes == UINT32_MAX) {
    insn->run_warp(insn, w->registers);
  } else {
    for (uint32_t left = lanes; left; left &= left - 1) {
      insn->run_lane(insn, w->registers, (unsigned)emu_first_lane(left));
    }
  }
  return true;
}

static bool run_bits(emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  unsigned low = 0, high = PTX_LANES;
  if (lanes && !(lanes & (lanes - 1))) low = (unsigned)emu_first_lane(lanes), high = low + 1;
  uint32_t bits = insn->run_bits(insn, w->registers, low, high), second = ~bits;
  if (insn->mode != PTX_JOIN_NONE) {
    uint32_t with = emu_mask(w, insn->from[2]);
    if (insn->nots & 4) with = ~with;
    switch ((ptx_join)insn->mode) {
    case PTX_JOIN_AND: bits &= with, second &= with; break;
    case PTX_JOIN_OR: bits |= with, second |= with; break;
    default: bits ^= with, second ^= with; break;
    }
  }
  emu_put_mask(w, insn->to[0], lanes, bits);
  emu_put_mask(w, insn->to[1], lanes, second);
  return true;
}

/* an instruction that leaves the flow alone and at which lanes do not meet */
static bool run_plain(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  switch ((ptx_kind)insn->kind) {
  case PTX_DO_ALU: return run_alu(w, insn, lanes);
  case PTX_DO_BITS: return run_bits(w, insn, lanes);
  case PTX_DO_LOAD: return emu_load(m, w, insn, lanes);
  case PTX_DO_STORE: return emu_store(m, w, insn, lanes);
  case PTX_DO_ATOMIC: return emu_atomic(m, w, insn, lanes);
  case PTX_DO_PREFETCH: return emu_prefetch(m, w, insn, lanes);
  case PTX_DO_COPY: return emu_copy_start(m, w, insn, lanes);
  case PTX_DO_COPY_COMMIT:
    for (uint32_t left = lanes; left; left &= left - 1) w->lane_group[emu_first_lane(left)]++;
    return true;
  case PTX_DO_COPY_WAIT: return emu_copy_wait(m, w, insn, lanes);
  case PTX_DO_TRAP: return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure, "trap");
  default: return true;
  }
}

static bool hung(emu_machine *m, const emu_warp *w, const ptx_insn *insn) {
  emu_fault(m, w, insn, w->live, cudaErrorLaunchTimeout,
            "the launch took more than %lld warp instructions", (long long)m->rules.instructions);
  return true;
}

static bool fault_index(emu_machine *m, const emu_warp *w, const ptx_insn *insn, int lane) {
  return emu_fault(m, w, insn, 1u << lane, cudaErrorLaunchFailure, "index %u of %d targets",
                   emu_words(w, insn->from[0])[lane], insn->targets);
}

/* ---- in lock step ---- */

static bool fault_parted(emu_machine *m, const emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                   "divergence: lanes 0x%08x branch and lanes 0x%08x do not", lanes,
                   w->active & ~lanes);
}

static bool may_part(const emu_machine *m, const ptx_insn *insn) {
  return m->rules.divergence && !(insn->flags & PTX_FLAG_UNIFORM);
}

static bool push(emu_machine *m, emu_warp *w, const ptx_insn *insn, int32_t pc, int32_t join,
                 uint32_t lanes) {
  if (w->parted_count == EMU_PARTED_MAX) {
    return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure, "lanes parted more than %d times",
                     EMU_PARTED_MAX);
  }
  w->parted[w->parted_count++] = (emu_parted){pc, join, lanes};
  return true;
}

/* Lets `lanes` go on at `pc` and makes the others of the active ones, which are at w->pc, wait. Those
 * that are where all meet again just wait there. */
static bool part(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes, int32_t pc) {
  const uint32_t rest = w->active & ~lanes;
  const int32_t rest_pc = w->pc;
  if (insn->join != w->join) {
    if (!push(m, w, insn, insn->join, w->join, w->active)) return false;
    w->join = insn->join;
  }
  if (rest_pc != w->join && !push(m, w, insn, rest_pc, w->join, rest)) return false;
  w->active = lanes;
  w->pc = pc;
  return true;
}

/* goes on with lanes that wait */
static bool resume(emu_warp *w) {
  while (w->parted_count > 0) {
    const emu_parted *next = &w->parted[--w->parted_count];
    w->active = next->lanes & w->live;
    w->pc = next->pc;
    w->join = next->join;
    if (w->active && w->pc >= 0) return true;
  }
  return false;
}

static bool ends_at_once(const emu_machine *m, int32_t pc) {
  const ptx_insn *insn = &m->kernel->code[pc];
  return insn->kind == PTX_DO_EXIT && !insn->guard;
}

static bool branch(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  w->pc++;
  if (lanes == 0) return true;
  if (lanes == w->active) {
    w->pc = insn->target;
    return true;
  }
  if (!may_part(m, insn)) return fault_parted(m, w, insn, lanes);
  /* lanes that only end go first: nobody needs to wait for them */
  if (ends_at_once(m, w->pc)) {
    const uint32_t rest = w->active & ~lanes;
    const int32_t rest_pc = w->pc;
    w->pc = insn->target;
    return part(m, w, insn, rest, rest_pc);
  }
  return part(m, w, insn, lanes, insn->target);
}

static bool branch_index(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  w->pc++;
  const uint32_t *index = emu_words(w, insn->from[0]);
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    if (index[lane] >= (uint32_t)insn->targets) return fault_index(m, w, insn, lane);
  }
  while (lanes) {
    const uint32_t first = index[emu_first_lane(lanes)];
    uint32_t same = 0;
    for (uint32_t left = lanes; left; left &= left - 1) {
      if (index[emu_first_lane(left)] == first) same |= left & (0 - left);
    }
    const int32_t target = m->kernel->targets[insn->target + (int32_t)first];
    if (same == w->active) {
      w->pc = target;
      return true;
    }
    if (!may_part(m, insn)) return fault_parted(m, w, insn, same);
    /* this group waits at its target, the rest goes on here */
    const uint32_t rest = w->active & ~same;
    const int32_t here = w->pc;
    w->pc = target;
    if (!part(m, w, insn, rest, here)) return false;
    lanes &= ~same;
  }
  return true;
}

/* false: no lane is left, or a refusal */
static bool end_lanes(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (lanes && lanes != w->live && !m->rules.divergence) {
    return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                     "divergence: lanes 0x%08x end and lanes 0x%08x do not", lanes,
                     w->live & ~lanes);
  }
  w->live &= ~lanes;
  w->active &= ~lanes;
  w->pc++;
  return w->active || resume(w);
}

static emu_stop run_in_step(emu_machine *m, emu_warp *w) {
  const ptx_insn *code = m->kernel->code;
  for (;;) {
    while (w->pc == w->join) {
      if (!resume(w)) return EMU_ENDED;
    }
    const ptx_insn *insn = &code[w->pc];
    const uint32_t lanes = emu_guarded(w, insn, w->active);
    m->issued[w->pc]++;
    if (--m->left < 0 && hung(m, w, insn)) return EMU_FAULTED;
    if (insn->kind >= PTX_DO_SHUFFLE) {
      if (lanes && !emu_meet(m, w, insn, lanes)) return EMU_FAULTED;
      if (insn->kind == PTX_DO_BARRIER && lanes) return EMU_AT_BARRIER;
      w->pc++;
      continue;
    }
    bool fine = true;
    switch ((ptx_kind)insn->kind) {
    case PTX_DO_BRANCH: fine = branch(m, w, insn, lanes); break;
    case PTX_DO_BRANCH_INDEX: fine = branch_index(m, w, insn, lanes); break;
    case PTX_DO_EXIT:
      if (!end_lanes(m, w, insn, lanes)) return m->error ? EMU_FAULTED : EMU_ENDED;
      break;
    default:
      if (lanes) {
        fine = run_plain(m, w, insn, lanes);
      } else if (insn->weight == 0) {
        m->extra[w->pc] += PTX_ISSUE_CYCLES;
      }
      w->pc++;
      break;
    }
    if (!fine) return EMU_FAULTED;
  }
}

/* ---- lane by lane ---- */

/* to the next meeting or the end; false after a refusal */
static bool run_lane(emu_machine *m, emu_warp *w, int lane) {
  const uint32_t only = 1u << lane;
  int32_t *pc = &w->lane_pc[lane];
  for (;;) {
    const ptx_insn *insn = &m->kernel->code[*pc];
    const bool taken = emu_guarded(w, insn, only) != 0;
    if (--m->left < 0 && hung(m, w, insn)) return false;
    if (taken && insn->kind >= PTX_DO_SHUFFLE) return true;
    const int32_t next = *pc + 1;
    if (taken && insn->kind == PTX_DO_EXIT) {
      w->live &= ~only;
      return true;
    }
    if (taken && insn->kind == PTX_DO_BRANCH) {
      *pc = insn->target;
    } else if (taken && insn->kind == PTX_DO_BRANCH_INDEX) {
      const uint32_t index = emu_words(w, insn->from[0])[lane];
      if (index >= (uint32_t)insn->targets) return fault_index(m, w, insn, lane);
      *pc = m->kernel->targets[insn->target + (int32_t)index];
    } else {
      if (taken && !run_plain(m, w, insn, only)) return false;
      *pc = next;
    }
  }
}

static bool run_all_lanes(emu_machine *m, emu_warp *w, uint32_t lanes) {
  int order[PTX_LANES], count = 0;
  for (uint32_t left = lanes; left; left &= left - 1) order[count++] = emu_first_lane(left);
  for (int k = count - 1; k > 0; k--) {
    const int other = (int)(emu_random(m) % (uint64_t)(k + 1)), kept = order[k];
    order[k] = order[other];
    order[other] = kept;
  }
  for (int k = 0; k < count; k++) {
    if (!run_lane(m, w, order[k])) return false;
  }
  return true;
}

static uint32_t lanes_at(const emu_warp *w, int32_t pc) {
  uint32_t lanes = 0;
  for (uint32_t left = w->live; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    if (w->lane_pc[lane] == pc) lanes |= 1u << lane;
  }
  return lanes;
}

/* the lanes of one place that can go on; 0 after a refusal */
static uint32_t choose_meeting(emu_machine *m, const emu_warp *w) {
  for (uint32_t left = w->live; left;) {
    const int lane = emu_first_lane(left);
    const ptx_insn *insn = &m->kernel->code[w->lane_pc[lane]];
    const uint32_t here = lanes_at(w, w->lane_pc[lane]);
    if (here != w->live && !m->rules.divergence) {
      emu_fault(m, w, insn, here, cudaErrorLaunchFailure,
                "divergence: lanes 0x%08x wait here and lanes 0x%08x elsewhere", here,
                w->live & ~here);
      return 0;
    }
    if (emu_all_here(w, insn, here)) return here;
    left &= ~here;
  }
  const int lane = emu_first_lane(w->live);
  emu_fault(m, w, &m->kernel->code[w->lane_pc[lane]], w->live, cudaErrorLaunchTimeout,
            "deadlock: lanes wait for each other at different instructions");
  return 0;
}

static emu_stop run_by_lanes(emu_machine *m, emu_warp *w) {
  uint32_t ready = w->live;
  for (;;) {
    if (!run_all_lanes(m, w, ready)) return EMU_FAULTED;
    if (!w->live) return EMU_ENDED;
    if (ready & ~w->live && !m->rules.divergence) {
      const ptx_insn *insn = &m->kernel->code[w->lane_pc[emu_first_lane(w->live)]];
      emu_fault(m, w, insn, w->live, cudaErrorLaunchFailure,
                "divergence: lanes 0x%08x ended and lanes 0x%08x wait here", ready & ~w->live,
                w->live);
      return EMU_FAULTED;
    }
    const uint32_t lanes = choose_meeting(m, w);
    if (!lanes) return EMU_FAULTED;
    w->pc = w->lane_pc[emu_first_lane(lanes)];
    w->active = lanes;
    const ptx_insn *insn = &m->kernel->code[w->pc];
    if (!emu_meet(m, w, insn, lanes)) return EMU_FAULTED;
    if (insn->kind == PTX_DO_BARRIER) return EMU_AT_BARRIER;
    for (uint32_t left = lanes; left; left &= left - 1) w->lane_pc[emu_first_lane(left)]++;
    ready = lanes;
  }
}

void emu_pass_barrier(emu_machine *m, emu_warp *w) {
  w->waits = false;
  if (m->rules.by_lanes) {
    for (int lane = 0; lane < PTX_LANES; lane++) w->lane_pc[lane] = w->pc + 1;
  } else {
    w->pc++;
  }
}

emu_stop emu_run_warp(emu_machine *m, emu_warp *w) {
  return m->rules.by_lanes ? run_by_lanes(m, w) : run_in_step(m, w);
}

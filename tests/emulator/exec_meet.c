/* Instructions at which the lanes of a warp meet. See exec.h.
 *
 * Each lane names in a mask those it meets. The lanes of one mask must all be there and name the same
 * mask; a warp may hold several such groups. Lanes that have ended are not waited for. */
#include "tests/emulator/exec.h"

#include <string.h>

/* the masks of the lanes; those of a barrier of the whole block are the live lanes */
static uint32_t named(const emu_warp *w, const ptx_insn *insn, int lane) {
  if (insn->kind == PTX_DO_BARRIER || insn->kind == PTX_DO_ACTIVE) return w->live;
  return emu_words(w, insn->from[3])[lane] & w->live;
}

bool emu_all_here(const emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (insn->kind == PTX_DO_ACTIVE) return true;
  for (uint32_t left = lanes; left; left &= left - 1) {
    if (named(w, insn, emu_first_lane(left)) & ~lanes) return false;
  }
  return true;
}

/* the usual case: all lanes that live are here, and each names them all */
static bool all_name_all(const emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (lanes != w->live) return false;
  if (insn->kind == PTX_DO_BARRIER) return true;
  if (lanes != UINT32_MAX) return false;
  const uint32_t *masks = emu_words(w, insn->from[3]);
  uint32_t common = UINT32_MAX;
  for (int lane = 0; lane < PTX_LANES; lane++) common &= masks[lane];
  return common == UINT32_MAX;
}

static bool check_masks(emu_machine *m, const emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (all_name_all(w, insn, lanes)) return true;
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    const uint32_t mask = named(w, insn, lane);
    if (!(mask >> lane & 1)) {
      return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                       "lane %d is not in its own member mask 0x%08x", lane, mask);
    }
    if (mask & ~lanes) {
      return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                       "divergence: lane %d waits for lanes 0x%08x, which are elsewhere", lane,
                       mask & ~lanes);
    }
    for (uint32_t others = mask; others; others &= others - 1) {
      if (named(w, insn, emu_first_lane(others)) != mask) {
        return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                         "lanes %d and %d name different member masks", lane,
                         emu_first_lane(others));
      }
    }
  }
  return true;
}

/* ---- shuffles ---- */

/* the lane that `lane` reads and whether it lies in range, by the definition in the PTX manual */
static int shuffle_source(ptx_mode mode, int lane, uint32_t b, uint32_t c, bool *in_range) {
  const int by = (int)(b & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
  const int most = (lane & segment) | (clamp & ~segment & 31), least = lane & segment;
  int from;
  switch (mode) {
  case PTX_UP:
    from = lane - by;
    *in_range = from >= most;
    break;
  case PTX_DOWN:
    from = lane + by;
    *in_range = from <= most;
    break;
  case PTX_BUTTERFLY:
    from = lane ^ by;
    *in_range = from <= most;
    break;
  default:
    from = least | (by & ~segment & 31);
    *in_range = from <= most;
    break;
  }
  return *in_range ? from : lane;
}

static bool shuffle(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  uint32_t values[PTX_LANES], in_range = 0;
  memcpy(values, emu_words(w, insn->from[0]), sizeof values);
  uint32_t result[PTX_LANES] = {0};
  for (uint32_t left = lanes; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    bool inside;
    const int from = shuffle_source((ptx_mode)insn->mode, lane, emu_words(w, insn->from[1])[lane],
                                    emu_words(w, insn->from[2])[lane], &inside);
    if (!(named(w, insn, lane) >> from & 1)) {
      return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                       "lane %d reads lane %d, which does not take part", lane, from);
    }
    result[lane] = values[from];
    in_range |= (uint32_t)inside << lane;
  }
  uint32_t *to = emu_words(w, insn->to[0]);
  for (uint32_t left = lanes; left; left &= left - 1) {
    to[emu_first_lane(left)] = result[emu_first_lane(left)];
  }
  emu_put_mask(w, insn->to[1], lanes, in_range);
  return true;
}

/* ---- votes, matches, reductions ---- */

/* runs `group` once for each group of lanes that named each other */
typedef void group_function(emu_warp *w, const ptx_insn *insn, uint32_t group);

static void each_group(emu_warp *w, const ptx_insn *insn, uint32_t lanes, group_function *run) {
  for (uint32_t left = lanes; left;) {
    const uint32_t group = named(w, insn, emu_first_lane(left));
    run(w, insn, group);
    left &= ~group;
  }
}

static void put_words(emu_warp *w, uint32_t slot, uint32_t lanes, uint32_t value) {
  uint32_t *to = emu_words(w, slot);
  for (uint32_t left = lanes; left; left &= left - 1) to[emu_first_lane(left)] = value;
}

static void vote(emu_warp *w, const ptx_insn *insn, uint32_t group) {
  uint32_t mask = emu_mask(w, insn->from[0]);
  if (insn->nots & 1) mask = ~mask;
  mask &= group;
  switch ((ptx_mode)insn->mode) {
  case PTX_BALLOT: put_words(w, insn->to[0], group, mask); return;
  case PTX_ALL: emu_put_mask(w, insn->to[0], group, mask == group ? ~0u : 0); return;
  case PTX_ANY: emu_put_mask(w, insn->to[0], group, mask ? ~0u : 0); return;
  default: emu_put_mask(w, insn->to[0], group, mask == 0 || mask == group ? ~0u : 0); return;
  }
}

static uint64_t match_value(const emu_warp *w, const ptx_insn *insn, int lane) {
  return insn->bytes == 8 ? emu_doubles(w, insn->from[0])[lane] : emu_words(w, insn->from[0])[lane];
}

static void match(emu_warp *w, const ptx_insn *insn, uint32_t group) {
  uint32_t equal[PTX_LANES] = {0};
  bool all = true;
  for (uint32_t left = group; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    for (uint32_t others = group; others; others &= others - 1) {
      const int other = emu_first_lane(others);
      const bool same = match_value(w, insn, lane) == match_value(w, insn, other);
      equal[lane] |= (uint32_t)same << other;
    }
    all = all && equal[lane] == group;
  }
  for (uint32_t left = group; left; left &= left - 1) {
    const int lane = emu_first_lane(left);
    emu_words(w, insn->to[0])[lane] = insn->mode == PTX_ANY ? equal[lane] : all ? group : 0;
  }
  if (insn->mode == PTX_ALL) emu_put_mask(w, insn->to[1], group, all ? ~0u : 0);
}

static uint32_t reduce_two(const ptx_insn *insn, uint32_t a, uint32_t b) {
  const bool less = insn->type == PTX_S32 ? (int32_t)a < (int32_t)b : a < b;
  switch ((ptx_mode)insn->mode) {
  case PTX_ADD: return a + b;
  case PTX_MIN: return less ? a : b;
  case PTX_MAX: return less ? b : a;
  case PTX_AND: return a & b;
  case PTX_OR: return a | b;
  default: return a ^ b;
  }
}

static void reduce(emu_warp *w, const ptx_insn *insn, uint32_t group) {
  const uint32_t *from = emu_words(w, insn->from[0]);
  uint32_t result = from[emu_first_lane(group)];
  for (uint32_t left = group & (group - 1); left; left &= left - 1) {
    result = reduce_two(insn, result, from[emu_first_lane(left)]);
  }
  put_words(w, insn->to[0], group, result);
}

/* any lane may be elected: here the first */
static void elect(emu_warp *w, const ptx_insn *insn, uint32_t group) {
  put_words(w, insn->to[0], group, (uint32_t)emu_first_lane(group));
  emu_put_mask(w, insn->to[1], group, group & (0 - group));
}

/* ---- barriers ---- */

/* a barrier of a part of the lanes orders, in this account, all of them: where lanes may part, hazards
 * across it go unseen; elsewhere it is refused */
static bool warp_barrier(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (lanes != w->live && !m->rules.divergence) {
    return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                     "divergence: a barrier of lanes 0x%08x while lanes 0x%08x are elsewhere",
                     lanes, w->live & ~lanes);
  }
  const uint32_t group = named(w, insn, emu_first_lane(lanes));
  if (group != w->live && !m->rules.divergence) {
    return emu_fault(m, w, insn, lanes, cudaErrorLaunchFailure,
                     "divergence: a barrier that lanes 0x%08x pass without lanes 0x%08x", group,
                     w->live & ~group);
  }
  m->now.stretch = emu_next_stretch(m);
  return true;
}

bool emu_meet(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (insn->kind != PTX_DO_ACTIVE && !check_masks(m, w, insn, lanes)) return false;
  switch ((ptx_kind)insn->kind) {
  case PTX_DO_SHUFFLE: return shuffle(m, w, insn, lanes);
  case PTX_DO_VOTE: each_group(w, insn, lanes, vote); return true;
  case PTX_DO_MATCH: each_group(w, insn, lanes, match); return true;
  case PTX_DO_REDUCE: each_group(w, insn, lanes, reduce); return true;
  case PTX_DO_ELECT: each_group(w, insn, lanes, elect); return true;
  case PTX_DO_ACTIVE: put_words(w, insn->to[0], lanes, lanes); return true;
  case PTX_DO_WARP_BARRIER: return warp_barrier(m, w, insn, lanes);
  default: return true;
  }
}

/* Running one kernel: what the files exec_*.c share.
 *
 *   exec_launch.c   blocks and their warps, barriers, counters
 *   exec_warp.c     the two ways to run a warp: in lock step, or lane by lane
 *   exec_memory.c   loads, stores, atomics, asynchronous copies
 *   exec_meet.c     instructions at which lanes meet: shuffles, votes, barriers of a warp
 *
 * A refusal is noted once, in the machine, by emu_fault; everything that can run into one returns
 * false after it. */
#ifndef WB_TESTS_EMULATOR_EXEC_H
#define WB_TESTS_EMULATOR_EXEC_H

#include "tests/emulator/cuda_abi.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/memory.h"
#include "tests/emulator/ptx.h"

/* How kernels are run; see the settings in emulator.h. */
typedef struct emu_rules {
  bool by_lanes;
  uint64_t seed;
  bool divergence;         /* allowed */
  bool hazards, unwritten; /* refused */
  int64_t instructions;
} emu_rules;

/* Lanes that wait for others at the place where all meet again. */
typedef struct emu_parted {
  int32_t pc, join;
  uint32_t lanes;
} emu_parted;

enum { EMU_PARTED_MAX = 256, EMU_COPIES_MAX = 4096 };

/* An asynchronous copy on its way. */
typedef struct emu_copy {
  uint32_t lane, group;
  uint64_t to; /* offset in shared memory */
  uint8_t bytes;
  uint8_t data[16];
} emu_copy;

typedef struct emu_warp {
  int32_t number; /* in its block */
  uint8_t *registers;
  uint8_t *local, *local_state; /* of lane 0; the next lane's follow */
  uint32_t live;                /* lanes that have not ended */
  bool waits;                   /* at a block barrier */
  /* in lock step */
  uint32_t active;
  int32_t pc, join;
  emu_parted *parted;
  int32_t parted_count;
  /* lane by lane */
  int32_t lane_pc[PTX_LANES];
  /* copies */
  emu_copy *copies;
  int32_t copy_count;
  uint32_t lane_group[PTX_LANES];
} emu_warp;

typedef struct emu_machine {
  const ptx_module *module;
  const ptx_kernel *kernel;
  emu_memory *memory;
  emu_rules rules;
  const uint8_t *params;
  dim3 grid, block;
  uint32_t dynamic_bytes;
  uint32_t shared_bytes; /* static, guards and dynamic */
  /* the block that runs */
  dim3 block_at;
  emu_warp *warps;
  int32_t warp_count;
  emu_now now;
  uint64_t random;
  /* counters, by instruction */
  int64_t *issued;
  double *extra; /* SM cycles that depend on addresses */
  wb_emulator_counts counts;
  int64_t left; /* instructions until the launch counts as hung */
  /* the refusal */
  cudaError_t error;
  char message[1024];
} emu_machine;

typedef enum emu_stop { EMU_AT_BARRIER, EMU_ENDED, EMU_FAULTED } emu_stop;

/* Notes a refusal, with kernel, PTX line, block, warp and lanes; gives false. */
bool emu_fault(emu_machine *m, const emu_warp *w, const ptx_insn *insn, uint32_t lanes,
               cudaError_t error, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* exec_launch.c: runs all blocks; false after a refusal. */
bool emu_run(emu_machine *m);
uint32_t emu_next_stretch(emu_machine *m);
uint64_t emu_random(emu_machine *m);

/* exec_warp.c */
emu_stop emu_run_warp(emu_machine *m, emu_warp *w);
void emu_pass_barrier(emu_machine *m, emu_warp *w); /* goes on behind it */

/* exec_memory.c: `lanes` are those that take part */
bool emu_load(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes);
bool emu_store(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes);
bool emu_atomic(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes);
bool emu_prefetch(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes);
bool emu_copy_start(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes);
bool emu_copy_wait(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes);

/* exec_access.c: addresses of lanes, checks of one place, counters of traffic */
typedef enum emu_use { EMU_READ, EMU_WRITE, EMU_BOTH } emu_use;

/* Fills in the lanes' addresses (each shifted by the instruction's offset); true if all are equal. */
bool emu_addresses(const emu_warp *w, uint32_t slot, int64_t offset, bool wide, uint32_t lanes,
                   uint64_t *addresses);
/* Checks `bytes` at an address for lanes that all use it; gives where the bytes are, NULL after a
 * refusal. `lane` is one of them, for local memory. */
uint8_t *emu_reach(emu_machine *m, emu_warp *w, const ptx_insn *insn, ptx_space space,
                   uint64_t address, unsigned bytes, uint32_t lanes, emu_use use,
                   const uint8_t *value);
/* Checks that an address may be fetched for lanes that all name it: it lies in an allocation. That is
 * no use of what is there: it need not have been written and meets no other access. */
bool emu_may_fetch(emu_machine *m, const emu_warp *w, const ptx_insn *insn, ptx_space space,
                   uint64_t address, uint32_t lanes);
/* Counts what an access of a warp costs. */
void emu_count_traffic(emu_machine *m, const ptx_insn *insn, ptx_space space, unsigned bytes,
                       const uint64_t *addresses, uint32_t lanes, bool equal);

/* exec_meet.c */
/* whether all lanes that the taking-part lanes name in their masks take part */
bool emu_all_here(const emu_warp *w, const ptx_insn *insn, uint32_t lanes);
bool emu_meet(emu_machine *m, emu_warp *w, const ptx_insn *insn, uint32_t lanes);

/* ---- registers ---- */

static inline uint32_t *emu_words(const emu_warp *w, uint32_t slot) {
  return (uint32_t *)(void *)(w->registers + slot);
}
static inline uint64_t *emu_doubles(const emu_warp *w, uint32_t slot) {
  return (uint64_t *)(void *)(w->registers + slot);
}
static inline uint32_t emu_mask(const emu_warp *w, uint32_t slot) { return *emu_words(w, slot); }
/* the lanes among `lanes` for which the guard holds */
static inline uint32_t emu_guarded(const emu_warp *w, const ptx_insn *insn, uint32_t lanes) {
  if (!insn->guard) return lanes;
  const uint32_t mask = emu_mask(w, insn->guard);
  return lanes & (insn->flags & PTX_FLAG_GUARD_NOT ? ~mask : mask);
}
static inline void emu_put_mask(const emu_warp *w, uint32_t slot, uint32_t lanes, uint32_t bits) {
  uint32_t *mask = emu_words(w, slot);
  *mask = (*mask & ~lanes) | (bits & lanes);
}
static inline int emu_first_lane(uint32_t lanes) { return __builtin_ctz(lanes); }

#endif

/* Where lanes that part at a branch meet again: the branch's immediate post-dominator.
 *
 * Blocks are found from branch targets; post-dominators by walking the reversed graph in the order of
 * a depth-first search from the exits until nothing changes (Cooper, Harvey and Kennedy). A block from
 * which no exit can be reached gets none, and lanes that part there stay apart. */
#include "tests/emulator/ptx.h"

#include <stdlib.h>
#include <string.h>

typedef struct graph {
  const ptx_kernel *kernel;
  int32_t blocks; /* the last number, `blocks`, is the virtual exit */
  int32_t *start; /* of each block, and the end of the code */
  int32_t *block_of;
  int32_t *order; /* position in the depth-first numbering from the exit; -1: not reached */
  int32_t *by_order;
  int32_t *meets;               /* immediate post-dominator */
  int32_t *edges_start, *edges; /* predecessors of the reversed graph's walk: who branches here */
} graph;

static bool ends_block(const ptx_insn *insn) {
  return insn->kind == PTX_DO_BRANCH || insn->kind == PTX_DO_BRANCH_INDEX ||
         insn->kind == PTX_DO_EXIT || insn->kind == PTX_DO_TRAP;
}

/* the k-th successor of a block, -1 past the last */
static int32_t successor(const graph *g, int32_t block, int32_t k) {
  const ptx_insn *last = &g->kernel->code[g->start[block + 1] - 1];
  const int32_t next = g->start[block + 1];
  const int32_t fall = next < g->kernel->count ? g->block_of[next] : g->blocks;
  switch (last->kind) {
  case PTX_DO_BRANCH:
    if (k == 0) return g->block_of[last->target];
    return k == 1 && last->guard ? fall : -1;
  case PTX_DO_BRANCH_INDEX:
    if (k < last->targets) return g->block_of[g->kernel->targets[last->target + k]];
    return k == last->targets && last->guard ? fall : -1;
  case PTX_DO_TRAP:
  case PTX_DO_EXIT:
    if (k == 0) return g->blocks;
    return k == 1 && last->guard ? fall : -1;
  default: return k == 0 ? fall : -1;
  }
}

static void find_blocks(graph *g) {
  const ptx_kernel *k = g->kernel;
  uint8_t *leader = (uint8_t *)g->edges; /* borrowed: it is as long as the code and not used yet */
  memset(leader, 0, (size_t)k->count);
  leader[0] = 1;
  for (int32_t i = 0; i < k->count; i++) {
    if (k->code[i].kind == PTX_DO_BRANCH) leader[k->code[i].target] = 1;
    if (ends_block(&k->code[i]) && i + 1 < k->count) leader[i + 1] = 1;
  }
  for (int32_t i = 0; i < k->target_count; i++) leader[k->targets[i]] = 1;
  g->blocks = 0;
  for (int32_t i = 0; i < k->count; i++) {
    if (leader[i]) g->start[g->blocks++] = i;
    g->block_of[i] = g->blocks - 1;
  }
  g->start[g->blocks] = k->count;
}

static void find_edges(graph *g) {
  memset(g->edges_start, 0, sizeof(int32_t) * ((size_t)g->blocks + 2));
  for (int32_t b = 0; b < g->blocks; b++) {
    for (int32_t k = 0, s; (s = successor(g, b, k)) >= 0; k++) g->edges_start[s + 1]++;
  }
  for (int32_t b = 0; b <= g->blocks; b++) g->edges_start[b + 1] += g->edges_start[b];
  for (int32_t b = g->blocks - 1; b >= 0; b--) {
    for (int32_t k = 0, s; (s = successor(g, b, k)) >= 0; k++) {
      g->edges[--g->edges_start[s + 1]] = b;
    }
  }
  /* each count moved down to its block's start: shift back */
  for (int32_t b = 0; b < g->blocks + 1; b++) g->edges_start[b] = g->edges_start[b + 1];
}

/* postorder of the reversed graph, without recursion */
static void number_blocks(graph *g, int32_t *stack, int32_t *position, int32_t edge_count) {
  int32_t depth = 0, number = 0;
  for (int32_t b = 0; b <= g->blocks; b++) g->order[b] = -1, position[b] = -1;
  stack[depth++] = g->blocks;
  position[g->blocks] = g->edges_start[g->blocks];
  while (depth > 0) {
    const int32_t block = stack[depth - 1];
    const int32_t end = block < g->blocks ? g->edges_start[block + 1] : edge_count;
    if (position[block] < end) {
      const int32_t next = g->edges[position[block]++];
      if (position[next] < 0) {
        position[next] = g->edges_start[next];
        stack[depth++] = next;
      }
    } else {
      g->by_order[number] = block;
      g->order[block] = number++;
      depth--;
    }
  }
  g->by_order[number] = -1;
}

static int32_t common(const graph *g, int32_t a, int32_t b) {
  while (a != b) {
    while (g->order[a] < g->order[b]) a = g->meets[a];
    while (g->order[b] < g->order[a]) b = g->meets[b];
  }
  return a;
}

static void find_meets(graph *g) {
  for (int32_t b = 0; b <= g->blocks; b++) g->meets[b] = -1;
  g->meets[g->blocks] = g->blocks;
  for (bool changed = true; changed;) {
    changed = false;
    for (int32_t n = g->order[g->blocks] - 1; n >= 0; n--) {
      const int32_t block = g->by_order[n];
      int32_t meet = -1;
      for (int32_t k = 0, s; (s = successor(g, block, k)) >= 0; k++) {
        if (g->order[s] < 0 || g->meets[s] < 0) continue;
        meet = meet < 0 ? s : common(g, meet, s);
      }
      if (meet != g->meets[block]) {
        g->meets[block] = meet;
        changed = true;
      }
    }
  }
}

wb_status ptx_kernel_joins(ptx_kernel *kernel, wb_error *error) {
  const size_t count = (size_t)kernel->count;
  size_t edges = 2 * count + 2;
  for (int32_t i = 0; i < kernel->count; i++) {
    if (kernel->code[i].kind == PTX_DO_BRANCH_INDEX) edges += (size_t)kernel->code[i].targets;
  }
  /* start, block_of, order, by_order, meets, edges_start, stack, position: one block each */
  const size_t each = count + 4;
  int32_t *memory = malloc((8 * each + edges) * sizeof *memory);
  if (!memory) return WB_FAIL(error, WB_ERROR_MEMORY, "out of memory");
  graph g = {.kernel = kernel,
             .start = memory,
             .block_of = memory + each,
             .order = memory + 2 * each,
             .by_order = memory + 3 * each,
             .meets = memory + 4 * each,
             .edges_start = memory + 5 * each,
             .edges = memory + 8 * each};
  find_blocks(&g);
  find_edges(&g);
  int32_t edge_count = 0;
  for (int32_t b = 0; b < g.blocks; b++) {
    for (int32_t k = 0; successor(&g, b, k) >= 0; k++) edge_count++;
  }
  number_blocks(&g, memory + 6 * each, memory + 7 * each, edge_count);
  find_meets(&g);
  for (int32_t i = 0; i < kernel->count; i++) {
    ptx_insn *insn = &kernel->code[i];
    if (insn->kind != PTX_DO_BRANCH && insn->kind != PTX_DO_BRANCH_INDEX) continue;
    const int32_t block = g.block_of[i];
    const int32_t meet = g.order[block] < 0 ? -1 : g.meets[block];
    insn->join = meet < 0 || meet == g.blocks ? -1 : g.start[meet];
  }
  free(memory);
  return WB_OK;
}

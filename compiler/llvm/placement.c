/* The occupancy rule; see placement.h. Limits are those of the CUDA programming guide's table of
 * technical specifications. */
#include "placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  WARPS_WANTED = 16,
  WARPS_WANTED_SPLIT = 32,
  WARPS_USUAL = 4,
  WARPS_OF_64_REGISTERS = 32,
  WARPS_NEARLY = 20,
  WARPS_OF_BLOCK_MAX = 32,
  BLOCK_RESERVE = 1024 /* bytes that each block takes for the system */
};

/* How many warps' worth of registers a program of so many ops can do with: found by trial with the programs
 * of books and environments. None of them then spills, takes more than a few percent of instructions more, or
 * asks for its thread's number again with every record; often it takes so few that more warps fit. Addresses
 * in two memories take more registers. */
typedef struct demand {
  int32_t ops, warps, warps_split;
} demand;
static const demand demands_80[] = {
    {2100, 36, 36}, {3100, 32, 32}, {4500, 32, 28}, {INT32_MAX, 28, 20}};
static const demand demands_90[] = {
    {3100, 36, 36}, {3900, 32, 32}, {4500, 32, 28}, {INT32_MAX, 28, 20}};

typedef struct machine {
  int32_t sm;
  int32_t shared, shared_of_block; /* bytes */
  int32_t blocks, warps;           /* of a multiprocessor */
  const demand *demands;
} machine;

static const machine machines[] = {{80, 164 * 1024, 163 * 1024, 32, 64, demands_80},
                                   {90, 228 * 1024, 227 * 1024, 32, 64, demands_90}};

static const machine *machine_of(int32_t sm) { return &machines[sm >= 90]; }

/* Warps that a multiprocessor holds at a time, as far as shared memory decides. */
static int32_t warps_held(const machine *m, int64_t bytes, int32_t warps_of_block) {
  int64_t blocks = m->shared / (bytes * warps_of_block + BLOCK_RESERVE);
  if (bytes * warps_of_block > m->shared_of_block) return 0;
  if (blocks > m->blocks) blocks = m->blocks;
  if (blocks > m->warps / warps_of_block) blocks = m->warps / warps_of_block;
  return (int32_t)blocks * warps_of_block;
}

/* The size of block that holds most warps; the usual one where several do. */
static int32_t block_for(const machine *m, int64_t bytes, const wb_lower_request *request) {
  static const int32_t sizes[] = {WARPS_USUAL, 2, 8, 1};
  if (request->warps != 0) return request->warps;
  int32_t best = sizes[0];
  for (size_t i = 1; i < sizeof sizes / sizeof sizes[0]; i++) {
    if (warps_held(m, bytes, sizes[i]) > warps_held(m, bytes, best)) best = sizes[i];
  }
  return best;
}

/* ---- the arrays of a program ---- */

static int64_t bytes_of(const wb_object *array) {
  static const int64_t element[] = {
#define X(name, text, bytes, type) bytes,
      WB_ELEMENTS(X)
#undef X
  };
  int64_t bytes = array->length * element[array->element];
  return (bytes + WB_SLAB_ALIGNMENT - 1) / WB_SLAB_ALIGNMENT * WB_SLAB_ALIGNMENT;
}

typedef struct usage {
  bool read, written;
} usage;

/* What the program does to each array, views included, at the array's own number. */
static usage *usage_of(const wb_program *program) {
  usage *list = calloc((size_t)program->object_count + 1, sizeof *list);
  for (int32_t id = 0; list != NULL && id < program->op_count; id++) {
    const wb_op *op = &program->ops[id];
    switch ((wb_opcode)op->code) {
    case WB_OP_LOAD:
    case WB_OP_LOAD_ROW:
    case WB_OP_GATHER: list[program->objects[op->aux].base].read = true; break;
    case WB_OP_STORE:
    case WB_OP_STORE_ROW:
    case WB_OP_STORE_ROW_IF:
    case WB_OP_STORE_LANES:
    case WB_OP_SCATTER: list[program->objects[op->aux].base].written = true; break;
    default: break;
    }
  }
  return list;
}

static bool is_used_array(const wb_program *program, const usage *use, int32_t i) {
  return program->objects[i].kind == WB_OBJECT_ARRAY && program->objects[i].base == i &&
         (use[i].read || use[i].written);
}

static int64_t bytes_used(const wb_program *program, const usage *use) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < program->object_count; i++) {
    if (is_used_array(program, use, i)) bytes += bytes_of(&program->objects[i]);
  }
  return bytes;
}

static bool writes_arrays(const wb_program *program, const usage *use) {
  bool writes = false;
  for (int32_t i = 0; i < program->object_count; i++) {
    writes |= is_used_array(program, use, i) && use[i].written;
  }
  return writes;
}

/* ---- what goes where ---- */

/* The smallest array that is not in shared memory yet; -1: none. */
static int32_t next_smallest(const wb_program *program, const usage *use, const placement *p) {
  int32_t least = -1;
  for (int32_t i = 0; i < program->object_count; i++) {
    if (!is_used_array(program, use, i) || p->shared_at[i] >= 0) continue;
    if (least < 0 || bytes_of(&program->objects[i]) < bytes_of(&program->objects[least])) least = i;
  }
  return least;
}

/* Marks the arrays that go to shared memory: all, or small ones while enough warps fit. */
static int64_t mark_shared(const wb_program *program, const usage *use, const machine *m,
                           placement *p) {
  int64_t bytes = 0;
  while (p->kind == WB_PLACEMENT_SHARED || p->kind == WB_PLACEMENT_SPLIT) {
    int32_t i = next_smallest(program, use, p);
    if (i < 0) break;
    int64_t more = bytes + bytes_of(&program->objects[i]);
    bool fits = warps_held(m, more, WARPS_USUAL) >= WARPS_WANTED_SPLIT;
    if (p->kind == WB_PLACEMENT_SPLIT && !fits) break;
    p->shared_at[i] = 0;
    bytes = more;
  }
  return bytes;
}

static void add_run(placement_run *runs, int32_t *count, const wb_object *array, int64_t shared) {
  int64_t bytes = bytes_of(array);
  placement_run *last = *count > 0 ? &runs[*count - 1] : NULL;
  if (last != NULL && last->slab + last->bytes == array->offset &&
      last->shared + last->bytes == shared) {
    last->bytes += bytes;
  } else {
    runs[(*count)++] = (placement_run){array->offset, shared, bytes};
  }
}

/* Packs the marked arrays in the order of the slab and notes what is copied; views go with theirs. */
static void lay_out(const wb_program *program, const usage *use, placement *p) {
  int64_t at = 0;
  for (int32_t i = 0; i < program->object_count; i++) {
    const wb_object *object = &program->objects[i];
    if (object->kind != WB_OBJECT_ARRAY) continue;
    if (object->base != i) {
      p->shared_at[i] = p->shared_at[object->base];
    } else if (p->shared_at[i] >= 0) {
      p->shared_at[i] = at;
      add_run(p->in, &p->in_count, object, at);
      if (use[i].written) add_run(p->out, &p->out_count, object, at);
      at += bytes_of(object);
    }
  }
  p->shared_bytes = at < INT32_MAX ? (int32_t)at : INT32_MAX; /* more than any block has */
}

/* Blocks that registers are to be left for: as many as fit, up to what should cost no spills. Where nearly as
 * many fit as 64 registers leave room for, it is these: more of them bring next to nothing. */
static int32_t blocks_for(const wb_program *program, const machine *m, const placement *p) {
  int32_t warps = warps_held(m, p->shared_bytes, p->warps);
  const demand *row = m->demands;
  while (program->op_count > row->ops) row++;
  int32_t most = p->kind == WB_PLACEMENT_SPLIT ? row->warps_split : row->warps;
  if (warps >= WARPS_NEARLY && warps < WARPS_OF_64_REGISTERS) warps = WARPS_OF_64_REGISTERS;
  if (warps > most) warps = most;
  return warps / p->warps > 1 ? warps / p->warps : 1;
}

static const char *name_of(wb_placement kind) {
  return kind == WB_PLACEMENT_SHARED  ? "shared memory"
         : kind == WB_PLACEMENT_SPLIT ? "small arrays in shared memory, the others in global memory"
                                      : "global memory";
}

static void write_report(const wb_lower_request *request, const machine *m, int64_t whole,
                         const char *why, placement *p) {
  snprintf(p->report, sizeof p->report,
           "slab in %s, %s: %lld bytes of arrays, %d of them shared, %d warps a block, %d warps a "
           "multiprocessor of sm_%d",
           name_of(p->kind), why, (long long)whole, (int)p->shared_bytes, (int)p->warps,
           (int)warps_held(m, p->shared_bytes, p->warps), (int)request->sm);
}

static const char *choose_kind(const wb_lower_request *request, const machine *m, int64_t whole,
                               bool writes, placement *p) {
  p->kind = request->placement;
  if (p->kind != WB_PLACEMENT_AUTO) return "as asked for";
  if (!writes) {
    p->kind = WB_PLACEMENT_GLOBAL;
    return "which is only read";
  }
  if (warps_held(m, whole, block_for(m, whole, request)) >= WARPS_WANTED) {
    p->kind = WB_PLACEMENT_SHARED;
    return "where 16 warps or more fit";
  }
  p->kind = WB_PLACEMENT_SPLIT;
  return "since fewer than 16 warps would fit";
}

static wb_status check(const wb_lower_request *request, const machine *m, const placement *p,
                       wb_error *error) {
  const char *name = request->program->name;
  int64_t block = (int64_t)p->shared_bytes * p->warps;
  if (p->warps < 1 || p->warps > WARPS_OF_BLOCK_MAX) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "lowering %s: warps of a block: expected 1 to %d, got %d", name,
                   WARPS_OF_BLOCK_MAX, (int)p->warps);
  }
  if (block <= m->shared_of_block) return WB_OK;
  return WB_FAIL(
      error, WB_ERROR_LIMIT,
      "lowering %s: slab in shared memory: expected at most %d bytes a block on sm_%d, got "
      "%lld (%d warps of %d bytes): place it split or global",
      name, (int)m->shared_of_block, (int)request->sm, (long long)block, (int)p->warps,
      (int)p->shared_bytes);
}

wb_status placement_choose(const wb_lower_request *request, placement *p, wb_error *error) {
  const wb_program *program = request->program;
  const machine *m = machine_of(request->sm);
  size_t count = (size_t)program->object_count + 1;
  *p = (placement){.shared_at = malloc(count * sizeof *p->shared_at),
                   .in = calloc(count, sizeof *p->in),
                   .out = calloc(count, sizeof *p->out)};
  usage *use = usage_of(program);
  if (p->shared_at == NULL || p->in == NULL || p->out == NULL || use == NULL) {
    free(use);
    placement_free(p);
    return WB_FAIL(error, WB_ERROR_MEMORY, "lowering %s: no memory", program->name);
  }
  for (size_t i = 0; i < count; i++) p->shared_at[i] = -1;
  int64_t whole = bytes_used(program, use);
  const char *why = choose_kind(request, m, whole, writes_arrays(program, use), p);
  int64_t bytes = mark_shared(program, use, m, p);
  p->warps = block_for(m, bytes, request);
  lay_out(program, use, p);
  p->blocks = blocks_for(program, m, p);
  free(use);
  write_report(request, m, whole, why, p);
  wb_status status = check(request, m, p, error);
  if (status != WB_OK) placement_free(p);
  return status;
}

void placement_free(placement *p) {
  free(p->shared_at);
  free(p->in);
  free(p->out);
  *p = (placement){0};
}

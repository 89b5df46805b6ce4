/* The interpreter. A run has one slot per value (one int64_t for scalars, `width` for lanes), a table of
 * jumps made once per call, and walks the list of ops for each book.
 *
 * Memory goes through read_element and write_element alone, which see only indices that were checked. */
#include "compiler/interp.h"
#include "compiler/internal.h"

#include <fenv.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* where an object's elements are for the current book */
typedef struct place {
  unsigned char *data;
  int64_t length;
  uint8_t element;
} place;

typedef struct run {
  const wb_program *program;
  const wb_kernel_arguments *arguments;
  int64_t *cells;  /* values of all ops */
  int64_t *slot;   /* by op: where its value starts in cells */
  int32_t *jump;   /* by marker op: the marker it may jump to, see link_ops */
  int64_t *end_of; /* by for op: the bound read at entry */
  place *places;   /* by object */
  int64_t book;
} run;

/* ---- jumps: opener and middle markers to the next marker of their region; end to its opener ---- */

static void link_ops(run *r) {
  const wb_program *p = r->program;
  int32_t last[WB_DEPTH_MAX]; /* the last marker of each open region */
  int32_t depth = 0;
  for (int32_t id = 0; id < p->op_count; id++) {
    uint8_t kind = wb_op_describe((wb_opcode)p->ops[id].code)->kind;
    if (kind == WB_KIND_OPEN) {
      last[depth++] = id;
    } else if (kind == WB_KIND_MIDDLE) {
      r->jump[last[depth - 1]] = id;
      last[depth - 1] = id;
    } else if (kind == WB_KIND_CLOSE) {
      r->jump[last[--depth]] = id;
      r->jump[id] = p->ops[id].aux;
    }
  }
}

/* the END of the region that `marker` belongs to */
static int32_t end_from(const run *r, int32_t marker) {
  while (r->program->ops[marker].code != WB_OP_END) marker = r->jump[marker];
  return marker;
}

/* ---- memory ---- */

static int64_t read_element(const place *at, int64_t index) {
  const unsigned char *from = at->data + index * wb_element_bytes((wb_element)at->element);
  switch ((wb_element)at->element) {
#define READ(type, as)          \
  {                             \
    type x;                     \
    memcpy(&x, from, sizeof x); \
    return (int64_t)(as)x;      \
  }
  case WB_ELEMENT_I8: READ(int8_t, int64_t)
  case WB_ELEMENT_U8: READ(uint8_t, int64_t)
  case WB_ELEMENT_I16: READ(int16_t, int64_t)
  case WB_ELEMENT_U16: READ(uint16_t, int64_t)
  case WB_ELEMENT_I32: READ(int32_t, int64_t)
  case WB_ELEMENT_I64: READ(int64_t, int64_t)
  case WB_ELEMENT_F32: READ(uint32_t, int64_t)
#undef READ
  case WB_ELEMENT_COUNT: break;
  }
  return 0;
}

static int64_t canonical(int64_t bits) {
  bool nan = (bits & 0x7f800000) == 0x7f800000 && (bits & 0x007fffff) != 0;
  return nan ? INT64_C(0x7fc00000) : bits;
}

static void write_element(const place *at, int64_t index, int64_t value) {
  if (at->element == WB_ELEMENT_F32) value = canonical(value);
  size_t size = (size_t)wb_element_bytes((wb_element)at->element);
  uint64_t bits = (uint64_t)value;
  unsigned char bytes[8];
  for (size_t i = 0; i < size; i++) bytes[i] = (unsigned char)(bits >> (8 * i));
  memcpy(at->data + index * (int64_t)size, bytes, size);
}

static void find_places(run *r) {
  const wb_program *p = r->program;
  for (int32_t i = 0; i < p->object_count; i++) {
    const wb_object *o = &p->objects[i];
    const wb_object *base = &p->objects[o->base];
    place *at = &r->places[i];
    at->element = o->element;
    if (o->kind == WB_OBJECT_ARRAY) {
      at->data =
          (unsigned char *)r->arguments->slabs + r->book * r->arguments->slab_stride + o->offset;
      at->length = o->length;
    } else {
      const wb_buffer_argument *buffer = &r->arguments->buffers[o->buffer];
      int64_t base_bytes = wb_element_bytes((wb_element)base->element);
      int64_t offset = o->shared ? 0 : r->book * buffer->stride * base_bytes;
      /* one of no elements may have no memory */
      at->data = buffer->data == NULL ? NULL : (unsigned char *)buffer->data + offset;
      at->length = buffer->length * base_bytes / wb_element_bytes((wb_element)o->element);
    }
  }
}

static wb_status broken(const run *r, int32_t id, const char *name, int64_t index, int64_t lo,
                        int64_t hi, wb_error *error) {
  char site[128];
  wb_program_site(r->program, id, site, sizeof site);
  return WB_FAIL(error, WB_ERROR_INTERNAL,
                 "program %s: %s at %s (op %d), book %" PRId64 ": %s: promised %" PRId64
                 "..%" PRId64 ", got %" PRId64,
                 r->program->name, wb_op_describe((wb_opcode)r->program->ops[id].code)->text, site,
                 id, r->book, name, lo, hi, index);
}

/* lane l to element index + l; an index from which no lane gets into the object is not added to */
static wb_status store_lanes(run *r, int32_t id, const int64_t *const x[WB_OPERANDS_MAX],
                             wb_error *error) {
  const wb_op *op = &r->program->ops[id];
  const wb_object *object = &r->program->objects[op->aux];
  const place *at = &r->places[op->aux];
  const int64_t index = x[0][0], width = r->program->width;
  for (int64_t l = 0; l < width; l++) {
    if (!x[2][l]) continue;
    bool in = index > -width && index < at->length && index + l >= 0 && index + l < at->length;
    if (in) {
      write_element(at, index + l, x[1][l]);
    } else if ((op->flags & (WB_FLAG_IN | WB_FLAG_PROVEN)) != 0) {
      int64_t element = (int64_t)((uint64_t)index + (uint64_t)l);
      return broken(r, id, object->name, element, 0, at->length - 1, error);
    }
  }
  return WB_OK;
}

/* loads and stores; a row counts as one index into length / width rows */
static wb_status access_memory(run *r, int32_t id, const int64_t *const x[WB_OPERANDS_MAX],
                               int64_t *result, wb_error *error) {
  const wb_op *op = &r->program->ops[id];
  const wb_object *object = &r->program->objects[op->aux];
  const place *at = &r->places[op->aux];
  const bool by_lane = op->code == WB_OP_GATHER || op->code == WB_OP_SCATTER;
  const bool one = op->code == WB_OP_LOAD || op->code == WB_OP_STORE;
  const bool loads = wb_op_describe((wb_opcode)op->code)->kind == WB_KIND_READ;
  const int64_t width = r->program->width;
  const int64_t count = one || by_lane ? at->length : at->length / width;
  for (int64_t l = 0; l < (one ? 1 : width); l++) {
    int64_t index = x[0][by_lane ? l : 0];
    bool in = index >= 0 && index < count;
    if (!in && (op->flags & (WB_FLAG_IN | WB_FLAG_PROVEN)) != 0) {
      return broken(r, id, object->name, index, 0, count - 1, error);
    }
    int64_t element = one || by_lane ? index : in ? index * width + l : 0;
    bool masked = op->code == WB_OP_STORE_ROW_IF && !x[2][l];
    if (loads) {
      result[l] = in ? read_element(at, element) : object->fill;
    } else if (in && !masked) {
      write_element(at, element, x[1][l]);
    }
  }
  return WB_OK;
}

static wb_status check_known(const run *r, int32_t id, const int64_t *const x[WB_OPERANDS_MAX],
                             wb_error *error) {
  bool lanes = r->program->ops[id].shape == WB_SHAPE_LANES;
  for (int32_t l = 0; l < (lanes ? r->program->width : 1); l++) {
    if (x[0][l] < x[1][0] || x[0][l] > x[2][0]) {
      return broken(r, id, "value", x[0][l], x[1][0], x[2][0], error);
    }
  }
  return WB_OK;
}

/* ---- control: each returns the op to go on with ---- */

/* the arm of a switch that `selector` takes */
static int32_t find_case(const run *r, int32_t id, int64_t selector) {
  int32_t marker = r->jump[id];
  for (;; marker = r->jump[marker]) {
    const wb_op *op = &r->program->ops[marker];
    bool taken = op->code == WB_OP_DEFAULT || op->code == WB_OP_END ||
                 (op->code == WB_OP_CASE && op->imm == selector);
    if (taken) return marker + 1;
  }
}

static int32_t step_control(run *r, int32_t id, const int64_t *const x[WB_OPERANDS_MAX],
                            int64_t *value) {
  const wb_op *op = &r->program->ops[id];
  switch ((wb_opcode)op->code) {
  case WB_OP_IF: return x[0][0] ? id + 1 : r->jump[id] + 1;
  case WB_OP_SWITCH: return find_case(r, id, x[0][0]);
  /* reached from the arm above: it is over */
  case WB_OP_ELSE:
  case WB_OP_CASE:
  case WB_OP_DEFAULT: return end_from(r, id) + 1;
  case WB_OP_TEST: return x[0][0] ? id + 1 : r->jump[id] + 1;
  case WB_OP_FOR:
    value[0] = x[0][0];
    r->end_of[id] = x[1][0];
    return value[0] < r->end_of[id] ? id + 1 : r->jump[id] + 1;
  case WB_OP_LEAVE: return end_from(r, op->aux) + 1;
  case WB_OP_END: {
    const int32_t opener = op->aux;
    if (r->program->ops[opener].code == WB_OP_WHILE) return opener + 1;
    if (r->program->ops[opener].code != WB_OP_FOR) return id + 1;
    int64_t *counter = &r->cells[r->slot[opener]];
    if (*counter + 1 >= r->end_of[opener]) return id + 1;
    ++*counter;
    return opener + 1;
  }
  default: return id + 1; /* WHILE, BLOCK */
  }
}

static int64_t parameter(const run *r, const wb_op *op) {
  int64_t given = r->arguments->scalars[op->aux];
  if (op->type == WB_TYPE_I32) return (int32_t)(uint32_t)(uint64_t)given;
  return op->type == WB_TYPE_F32 ? canonical((int64_t)(uint32_t)(uint64_t)given) : given;
}

static wb_status step(run *r, int32_t *next, wb_error *error) {
  const int32_t id = *next;
  const wb_op *op = &r->program->ops[id];
  const wb_op_info *info = wb_op_describe((wb_opcode)op->code);
  const int64_t *x[WB_OPERANDS_MAX] = {NULL, NULL, NULL};
  int64_t *value = &r->cells[r->slot[id]];
  const size_t lanes = op->shape == WB_SHAPE_LANES ? (size_t)r->program->width : 1;
  for (int32_t i = 0; i < info->operands; i++) x[i] = &r->cells[r->slot[op->operands[i]]];
  *next = id + 1;
  switch (info->kind) {
  case WB_KIND_OPEN:
  case WB_KIND_MIDDLE:
  case WB_KIND_CLOSE: *next = step_control(r, id, x, value); return WB_OK;
  default: break;
  }
  switch ((wb_opcode)op->code) {
  case WB_OP_LEAVE: *next = step_control(r, id, x, value); return WB_OK;
  case WB_OP_PARAM: value[0] = parameter(r, op); return WB_OK;
  case WB_OP_BOOK: value[0] = (int32_t)r->book; return WB_OK;
  case WB_OP_VAR:
  case WB_OP_GET: memcpy(value, x[0], lanes * sizeof *value); return WB_OK;
  case WB_OP_SET: {
    const wb_op *variable = &r->program->ops[op->operands[0]];
    size_t count = variable->shape == WB_SHAPE_LANES ? (size_t)r->program->width : 1;
    memcpy(&r->cells[r->slot[op->operands[0]]], x[1], count * sizeof *value);
    return WB_OK;
  }
  case WB_OP_KNOWN: WB_TRY(check_known(r, id, x, error)); break;
  default: break;
  }
  if (op->code == WB_OP_STORE_LANES) return store_lanes(r, id, x, error);
  if (wb_op_accesses(op)) return access_memory(r, id, x, value, error);
  const wb_op *first = info->operands > 0 ? &r->program->ops[op->operands[0]] : op;
  wb_op_evaluate(op, (wb_type)first->type, (wb_shape)first->shape, r->program->width, x, value);
  return WB_OK;
}

static wb_status run_book(run *r, int64_t step_limit, wb_error *error) {
  int32_t next = 0;
  int64_t steps = 0;
  find_places(r);
  while (next < r->program->op_count) {
    if (step_limit > 0 && steps++ == step_limit) {
      return WB_FAIL(error, WB_ERROR_LIMIT,
                     "program %s: book %" PRId64 ": more than %" PRId64 " ops", r->program->name,
                     r->book, step_limit);
    }
    WB_TRY(step(r, &next, error));
  }
  return WB_OK;
}

/* ---- one call ---- */

static bool allocate(run *r) {
  const wb_program *p = r->program;
  size_t ops = (size_t)p->op_count + 1, cells = 0;
  r->slot = malloc(ops * sizeof *r->slot);
  r->jump = calloc(ops, sizeof *r->jump);
  r->end_of = calloc(ops, sizeof *r->end_of);
  r->places = calloc((size_t)p->object_count + 1, sizeof *r->places);
  if (r->slot == NULL || r->jump == NULL || r->end_of == NULL || r->places == NULL) return false;
  for (int32_t i = 0; i < p->op_count; i++) {
    r->slot[i] = (int64_t)cells;
    cells += p->ops[i].shape == WB_SHAPE_LANES ? (size_t)p->width : 1;
  }
  r->cells = calloc(cells + 1, sizeof *r->cells);
  return r->cells != NULL;
}

static void release(run *r) {
  free(r->cells);
  free(r->slot);
  free(r->jump);
  free(r->end_of);
  free(r->places);
}

wb_status wb_interpret(const wb_program *program, const wb_kernel_arguments *arguments,
                       int64_t first_book, int64_t end_book, int64_t step_limit, wb_error *error) {
  run r = {.program = program, .arguments = arguments};
  wb_status status = WB_OK;
  fenv_t environment;
  fegetenv(&environment);
  fesetenv(FE_DFL_ENV);
  if (!allocate(&r)) {
    status =
        WB_FAIL(error, WB_ERROR_MEMORY, "program %s: out of memory to interpret it", program->name);
  } else {
    link_ops(&r);
  }
  for (int64_t book = first_book; book < end_book && status == WB_OK; book++) {
    r.book = book;
    status = run_book(&r, step_limit, error);
  }
  release(&r);
  fesetenv(&environment);
  return status;
}

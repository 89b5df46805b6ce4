/* The generator's statements, and cases with their memory. See progen.h. */
#include "compiler/interp.h"
#include "tests/compiler/progen_internal.h"

#include <stdlib.h>
#include <string.h>

static const wb_operand none = {WB_OPERAND_NONE, -1, 0, 0};

static wb_operand of(wb_val v) { return wb_operand_value(v); }

uint32_t progen_draw(gen *g, uint32_t bound) {
  if (g->next_choice == g->choice_count && g->random != 0) {
    if (g->choice_count == g->choice_capacity) {
      int32_t larger = g->choice_capacity * 2;
      uint32_t *moved = realloc(g->choices, (size_t)larger * sizeof *moved);
      if (moved == NULL) {
        g->out_of_memory = true;
        return 0;
      }
      g->choices = moved;
      g->choice_capacity = larger;
    }
    g->random += WB_HASH_GOLDEN;
    g->choices[g->choice_count++] = (uint32_t)(wb_mix64(g->random) >> 32);
  }
  if (g->next_choice == g->choice_count || bound == 0) return 0;
  return g->choices[g->next_choice++] % bound;
}

/* ---- regions ---- */

typedef struct mark {
  int32_t pool, vars, labels;
} mark;

static mark enter(gen *g) {
  g->depth++;
  return (mark){g->pool_count, g->var_count, g->label_count};
}

static void leave(gen *g, mark m) {
  g->depth--;
  g->pool_count = m.pool;
  g->var_count = m.vars;
  g->label_count = m.labels;
}

static void region(gen *g) {
  mark m = enter(g);
  progen_statements(g, 1 + (int32_t)progen_draw(g, 8));
  leave(g, m);
}

static void make_if(gen *g) {
  wb_hint hint = (wb_hint)progen_draw(g, 3);
  wb_build_if(g->b, AT, of(progen_pick(g, WB_TYPE_BOOL, WB_SHAPE_SCALAR)), hint);
  region(g);
  wb_build_end(g->b, AT);
  if (progen_draw(g, 2) == 0) return;
  wb_build_else(g->b, AT);
  region(g);
  wb_build_end(g->b, AT);
}

static void make_switch(gen *g) {
  wb_val selector = progen_pick(g, WB_TYPE_I32, WB_SHAPE_SCALAR);
  if (progen_draw(g, 3) > 0) {
    selector = wb_build_op(g->b, AT, WB_OP_AND, of(selector), wb_operand_signed(7), none);
  }
  int32_t cases = (int32_t)progen_draw(g, 6);
  int64_t first = (int64_t)progen_draw(g, 3) - 1;
  wb_build_switch(g->b, AT, of(selector));
  for (int32_t i = 0; i < cases; i++) {
    wb_build_case(g->b, AT, i == 4 ? INT32_MIN : first + i, (wb_hint)progen_draw(g, 3));
    region(g);
  }
  if (progen_draw(g, 2) == 1) {
    wb_build_default(g->b, AT, WB_HINT_NONE);
    region(g);
  }
  wb_build_end(g->b, AT);
}

static void loop_body(gen *g, wb_label label, wb_val count) {
  mark m = enter(g);
  if (g->label_count < LABELS_MAX) g->labels[g->label_count++] = label;
  progen_add(g, count);
  progen_statements(g, 1 + (int32_t)progen_draw(g, 8));
  leave(g, m);
}

static void make_for(gen *g) {
  wb_type type = progen_draw(g, 3) == 2 ? WB_TYPE_I64 : WB_TYPE_I32;
  wb_operand lo = of(wb_build_const(g->b, AT, type, (int64_t)progen_draw(g, 4) - 1));
  wb_operand hi = of(wb_build_const(g->b, AT, type, progen_draw(g, 5)));
  uint32_t how = progen_draw(g, 4);
  if (how == 1) {
    /* a bound from data */
    wb_val x = progen_pick(g, type, WB_SHAPE_SCALAR);
    hi = of(wb_build_op(g->b, AT, WB_OP_AND, of(x), wb_operand_signed(3), none));
  } else if (how == 2) {
    /* the last numbers there are */
    int64_t last = type == WB_TYPE_I32 ? INT32_MAX : INT64_MAX;
    lo = of(wb_build_const(g->b, AT, type, last - 3));
    hi = of(wb_build_const(g->b, AT, type, last));
  }
  wb_val count = wb_build_for(g->b, AT, lo, hi);
  loop_body(g, wb_label_of(count), count);
  wb_build_end(g->b, AT);
}

static void make_while(gen *g) {
  wb_var rounds = wb_build_var(g->b, AT, wb_operand_signed(0));
  int64_t most = 1 + progen_draw(g, 4);
  mark m = enter(g);
  wb_label label = wb_build_while(g->b, AT);
  wb_val done = wb_build_get(g->b, AT, rounds);
  wb_val more = wb_build_op(g->b, AT, WB_OP_LT, of(done), wb_operand_signed(most), none);
  wb_build_set(g->b, AT, rounds,
               of(wb_build_op(g->b, AT, WB_OP_ADD, of(done), wb_operand_signed(1), none)));
  progen_add(g, done);
  if (progen_draw(g, 2) == 1) progen_op(g);
  if (progen_draw(g, 2) == 1) {
    wb_val also = progen_pick(g, WB_TYPE_BOOL, WB_SHAPE_SCALAR);
    more = wb_build_op(g->b, AT, WB_OP_AND, of(more), of(also), none);
  }
  wb_build_test(g->b, AT, of(more));
  loop_body(g, label, done);
  wb_build_end(g->b, AT);
  leave(g, m);
}

static void make_block(gen *g) {
  wb_label label = wb_build_block(g->b, AT);
  mark m = enter(g);
  if (g->label_count < LABELS_MAX) g->labels[g->label_count++] = label;
  progen_statements(g, 1 + (int32_t)progen_draw(g, 8));
  leave(g, m);
  wb_build_end(g->b, AT);
}

static void make_leave(gen *g) {
  if (g->label_count == 0) return;
  wb_label label = g->labels[progen_draw(g, (uint32_t)g->label_count)];
  if (progen_draw(g, 4) == 3) {
    wb_build_leave(g->b, AT, label); /* what follows is dead */
    return;
  }
  wb_build_if(g->b, AT, of(progen_pick(g, WB_TYPE_BOOL, WB_SHAPE_SCALAR)), WB_HINT_NONE);
  wb_build_leave(g->b, AT, label);
  wb_build_end(g->b, AT);
}

static void make_variable(gen *g) {
  static const wb_type types[] = {WB_TYPE_I32, WB_TYPE_I64, WB_TYPE_F32, WB_TYPE_BOOL};
  wb_shape shape = progen_draw(g, 2) == 0 ? WB_SHAPE_SCALAR : WB_SHAPE_LANES;
  wb_val first = progen_pick(g, types[progen_draw(g, 4)], shape);
  wb_var v = wb_build_var(g->b, AT, of(first));
  if (v.id >= 0 && g->var_count < POOL_MAX) g->vars[g->var_count++] = v;
}

static void set_variable(gen *g) {
  wb_var v = g->vars[progen_draw(g, (uint32_t)g->var_count)];
  wb_val as_value = {v.id};
  wb_type type = wb_build_type(g->b, as_value);
  wb_shape shape = wb_build_shape(g->b, as_value);
  wb_build_set(g->b, AT, v, of(progen_pick(g, type, shape)));
}

static void statement(gen *g) {
  uint32_t kind = progen_draw(g, g->depth < 4 ? 64 : 52);
  if (kind < 26) {
    progen_op(g);
  } else if (kind < 34) {
    progen_load(g);
  } else if (kind < 41) {
    progen_store(g);
  } else if (kind < 43) {
    progen_known(g);
  } else if (kind < 45) {
    make_variable(g);
  } else if (kind < 49) {
    set_variable(g);
  } else if (kind < 52) {
    make_leave(g);
  } else if (kind < 55) {
    make_if(g);
  } else if (kind < 57) {
    make_switch(g);
  } else if (kind < 59) {
    make_for(g);
  } else if (kind < 61) {
    make_while(g);
  } else {
    make_block(g);
  }
}

void progen_statements(gen *g, int32_t count) {
  for (int32_t i = 0; i < count && g->budget > 0; i++) {
    if (progen_draw(g, 256) == 0) return; /* so that no choices means no statements */
    g->budget--;
    statement(g);
  }
}

/* ---- a program's memory ---- */

static wb_status declare(gen *g, wb_error *error) {
  static const struct {
    const char *name;
    wb_element element;
    int64_t length;
  } arrays[ARRAYS] = {{"words", WB_ELEMENT_I32, 128}, {"longs", WB_ELEMENT_I64, 64},
                      {"reals", WB_ELEMENT_F32, 96},  {"bytes", WB_ELEMENT_U8, 33},
                      {"small", WB_ELEMENT_I8, 64},   {"halves", WB_ELEMENT_I16, 31},
                      {"owners", WB_ELEMENT_U16, 32}, {"odd", WB_ELEMENT_I32, 9}};
  for (int32_t i = 0; i < ARRAYS; i++) {
    int64_t fill = progen_extreme(g, wb_element_type(arrays[i].element));
    WB_TRY(wb_layout_add(g->layout, arrays[i].name, arrays[i].element, arrays[i].length, fill,
                         &g->objects[i], error));
    g->elements[i] = arrays[i].element;
    g->writable[i] = true;
  }
  return wb_layout_add(g->layout, "index", WB_ELEMENT_I32, 8, 0, &g->index_array, error);
}

static void declare_arguments(gen *g) {
  static const struct {
    const char *name;
    wb_element element;
    bool shared, writable;
  } buffers[BUFFERS] = {{"tape", WB_ELEMENT_I32, true, false},
                        {"prices", WB_ELEMENT_F32, true, false},
                        {"ring", WB_ELEMENT_I32, false, true},
                        {"sums", WB_ELEMENT_I64, false, true},
                        {"inputs", WB_ELEMENT_U8, false, false}};
  static const wb_element seen_as[VIEWS] = {WB_ELEMENT_I64, WB_ELEMENT_U8, WB_ELEMENT_F32,
                                            WB_ELEMENT_I16};
  static const int32_t viewed[VIEWS] = {0, 2, ARRAYS + 2, ARRAYS + 0};
  for (int32_t i = 0; i < BUFFERS; i++) {
    int32_t at = ARRAYS + i;
    g->objects[at] = wb_build_buffer(g->b, AT, buffers[i].name, buffers[i].element,
                                     buffers[i].shared, buffers[i].writable, 0);
    g->elements[at] = buffers[i].element;
    g->writable[at] = buffers[i].writable;
  }
  for (int32_t i = 0; i < VIEWS; i++) {
    int32_t at = ARRAYS + BUFFERS + i;
    g->objects[at] = wb_build_view(g->b, AT, g->objects[viewed[i]], seen_as[i]);
    g->elements[at] = seen_as[i];
    g->writable[at] = g->writable[viewed[i]];
  }
  progen_add(g, wb_build_param(g->b, AT, "limit", WB_TYPE_I32));
  progen_add(g, wb_build_param(g->b, AT, "seed", WB_TYPE_I64));
  progen_add(g, wb_build_param(g->b, AT, "rate", WB_TYPE_F32));
}

/* what is still visible at the end shows in memory, as a rule */
static void sink_all(gen *g) {
  if (progen_draw(g, 16) == 0) return;
  int32_t first = g->pool_count > 24 ? g->pool_count - 24 : 0;
  for (int32_t i = first; i < g->pool_count; i++) progen_sink(g, g->pool[i]);
  for (int32_t i = 0; i < g->var_count && i < 16; i++) {
    progen_sink(g, wb_build_get(g->b, AT, g->vars[i]));
  }
}

static wb_status build(gen *g, int32_t size, wb_program **out, wb_error *error) {
  static const int32_t widths[] = {WB_WIDTH, WB_WIDTH, WB_WIDTH, WB_WIDTH, 16, 8, 4, 2};
  WB_TRY(declare(g, error));
  const int32_t width = widths[progen_draw(g, sizeof widths / sizeof widths[0])];
  WB_TRY(wb_builder_new("random_program", width, g->layout, &g->b, error));
  g->budget = size;
  declare_arguments(g);
  make_variable(g);
  progen_statements(g, size);
  sink_all(g);
  return wb_builder_finish(g->b, out, error);
}

/* bytes of all kinds: noise, small numbers that collide, extremes */
static void fill_memory(gen *g, unsigned char *memory, size_t bytes) {
  uint64_t state = ((uint64_t)progen_draw(g, UINT32_MAX) << 8) + 1;
  for (size_t i = 0; i + 8 <= bytes; i += 8) {
    state += WB_HASH_GOLDEN;
    uint64_t x = wb_mix64(state);
    uint32_t kind = (uint32_t)(x >> 60);
    if (kind < 4) x = x & UINT64_C(0x0000000700000007);
    if (kind == 4) x = UINT64_C(0xffffffffffffffff);
    if (kind == 5) x = UINT64_C(0x8000000080000000);
    if (kind == 6) x = UINT64_C(0x3f8000007fc00001); /* one, and a NaN with a payload */
    if (kind == 7) x = 0;
    memcpy(memory + i, &x, 8);
  }
}

static void place_buffers(progen_case *c) {
  const int64_t lengths[BUFFERS] = {100, 64, 70, 40, 77};
  size_t offset = c->slabs_bytes;
  for (int32_t i = 0; i < c->program->object_count; i++) {
    const wb_object *o = &c->program->objects[i];
    if (o->kind != WB_OBJECT_BUFFER || o->base != i) continue;
    wb_buffer_argument *buffer = &c->buffers[o->buffer];
    int64_t parts = o->shared ? 1 : c->books;
    buffer->length = lengths[o->buffer];
    buffer->stride = o->shared ? 0 : (buffer->length + 15) / 8 * 8;
    buffer->data = (void *)offset;
    int64_t each = o->shared ? buffer->length : buffer->stride;
    size_t bytes = (size_t)(parts * each * wb_element_bytes((wb_element)o->element));
    offset += (bytes + 63) / 64 * 64;
  }
  c->memory_bytes = offset;
}

static wb_status give_memory(gen *g, progen_case *c, wb_error *error) {
  c->books = 1 + progen_draw(g, 3);
  c->slab_stride = c->program->slab_bytes + 64;
  c->slabs_bytes = (size_t)(c->slab_stride * c->books);
  c->buffers = calloc(BUFFERS, sizeof *c->buffers);
  c->scalars = calloc(PARAMS, sizeof *c->scalars);
  if (c->buffers == NULL || c->scalars == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "progen");
  place_buffers(c);
  c->memory = aligned_alloc(64, c->memory_bytes);
  if (c->memory == NULL) return WB_FAIL(error, WB_ERROR_MEMORY, "progen");
  fill_memory(g, c->memory, c->memory_bytes);
  /* indices that accesses promise to be in range */
  int64_t offset = c->program->objects[g->index_array.object].offset;
  for (int64_t book = 0; book < c->books; book++) {
    for (int32_t i = 0; i < 8; i++) {
      int32_t index = (int32_t)progen_draw(g, 8);
      memcpy(c->memory + book * c->slab_stride + offset + 4 * i, &index, 4);
    }
  }
  for (int32_t i = 0; i < PARAMS; i++) {
    c->scalars[i] = progen_extreme(g, (wb_type)c->program->parameters[i].type);
  }
  return WB_OK;
}

static wb_status generate_into(gen *g, progen_case *c, int32_t size, wb_error *error) {
  WB_TRY(wb_layout_new(&g->layout, error));
  wb_status status = build(g, size, &c->program, error);
  if (status == WB_OK) status = give_memory(g, c, error);
  if (status == WB_OK && g->out_of_memory) status = WB_FAIL(error, WB_ERROR_MEMORY, "progen");
  wb_layout_free(g->layout);
  return status;
}

/* takes g's choices */
static progen_case *generate(gen *g, int32_t size, wb_error *error) {
  progen_case *c = calloc(1, sizeof *c);
  if (c == NULL || g->choices == NULL) {
    free(c);
    free(g->choices);
    return NULL;
  }
  wb_status status = generate_into(g, c, size, error);
  c->choices = g->choices;
  c->choice_count = g->next_choice;
  c->step_limit = 20 * 1000 * 1000;
  if (status == WB_OK) return c;
  progen_free(c);
  return NULL;
}

progen_case *progen_new(uint64_t seed, int32_t size, wb_error *error) {
  gen *g = calloc(1, sizeof *g);
  if (g == NULL) return NULL;
  g->choice_capacity = 256;
  g->choices = malloc((size_t)g->choice_capacity * sizeof *g->choices);
  g->random = wb_mix64(seed + WB_HASH_GOLDEN) | 1;
  progen_case *c = generate(g, size, error);
  if (c != NULL) c->seed = seed;
  free(g);
  return c;
}

progen_case *progen_from_choices(const uint32_t *choices, int32_t count, int32_t size,
                                 wb_error *error) {
  gen *g = calloc(1, sizeof *g);
  if (g == NULL) return NULL;
  g->choice_capacity = g->choice_count = count;
  g->choices = malloc(((size_t)count + 1) * sizeof *g->choices);
  if (g->choices != NULL) memcpy(g->choices, choices, (size_t)count * sizeof *choices);
  progen_case *c = generate(g, size, error);
  free(g);
  return c;
}

void progen_free(progen_case *c) {
  if (c == NULL) return;
  wb_program_free(c->program);
  free(c->choices);
  free(c->memory);
  free(c->buffers);
  free(c->scalars);
  free(c);
}

/* ---- runs ---- */

unsigned char *progen_memory(const progen_case *c) {
  unsigned char *memory = aligned_alloc(64, c->memory_bytes);
  if (memory != NULL) memcpy(memory, c->memory, c->memory_bytes);
  return memory;
}

void progen_arguments(const progen_case *c, unsigned char *memory, wb_buffer_argument *buffers,
                      wb_kernel_arguments *arguments) {
  for (int32_t i = 0; i < BUFFERS; i++) {
    buffers[i] = c->buffers[i];
    buffers[i].data = memory + (uintptr_t)c->buffers[i].data;
  }
  *arguments = (wb_kernel_arguments){
      .slabs = memory, .slab_stride = c->slab_stride, .buffers = buffers, .scalars = c->scalars};
}

wb_status progen_interpret(const progen_case *c, const wb_program *program, unsigned char *memory,
                           wb_error *error) {
  wb_buffer_argument buffers[BUFFERS];
  wb_kernel_arguments arguments;
  progen_arguments(c, memory, buffers, &arguments);
  return wb_interpret(program != NULL ? program : c->program, &arguments, 0, c->books,
                      c->step_limit, error);
}

/* names the place of a byte: array and element, or buffer */
static void describe(const progen_case *c, size_t at, char *text, size_t text_bytes) {
  if (at < c->slabs_bytes) {
    int64_t book = (int64_t)at / c->slab_stride, inside = (int64_t)at % c->slab_stride;
    for (int32_t i = 0; i < c->program->object_count; i++) {
      const wb_object *o = &c->program->objects[i];
      int64_t bytes = o->length * wb_element_bytes((wb_element)o->element);
      if (o->kind != WB_OBJECT_ARRAY || inside < o->offset || inside >= o->offset + bytes) continue;
      snprintf(text, text_bytes, "book %d: %s[%d]", (int)book, o->name,
               (int)((inside - o->offset) / wb_element_bytes((wb_element)o->element)));
      return;
    }
    snprintf(text, text_bytes, "book %d: byte %d, outside every array", (int)book, (int)inside);
    return;
  }
  int32_t buffer = 0;
  for (int32_t i = 1; i < BUFFERS; i++) {
    if ((uintptr_t)c->buffers[i].data <= at) buffer = i;
  }
  snprintf(text, text_bytes, "buffer %d: byte %d", buffer,
           (int)(at - (uintptr_t)c->buffers[buffer].data));
}

bool progen_equal(const progen_case *c, const unsigned char *expected, const unsigned char *given,
                  char *text, size_t text_bytes) {
  for (size_t i = 0; i < c->memory_bytes; i++) {
    if (expected[i] == given[i]) continue;
    char place[128];
    describe(c, i, place, sizeof place);
    snprintf(text, text_bytes, "%s: expected byte %02x, given %02x", place, expected[i], given[i]);
    return false;
  }
  return true;
}

/* ---- shrinking: fewer choices first, then smaller ones ---- */

typedef struct shrink {
  progen_case *best;
  int32_t size;
  bool (*fails)(const progen_case *c, void *context);
  void *context;
} shrink;

static bool try_choices(shrink *s, const uint32_t *choices, int32_t count) {
  progen_case *c = progen_from_choices(choices, count, s->size, NULL);
  bool better = c != NULL && s->fails(c, s->context);
  if (better) {
    progen_free(s->best);
    s->best = c;
  } else {
    progen_free(c);
  }
  return better;
}

/* one sweep that cuts out runs of `length` choices, or sets them to 0 */
static bool sweep(shrink *s, int32_t length, bool cut) {
  bool any = false;
  for (int32_t at = 0; at + length <= s->best->choice_count;) {
    int32_t count = s->best->choice_count;
    uint32_t *trial = malloc(((size_t)count + 1) * sizeof *trial);
    if (trial == NULL) return false;
    memcpy(trial, s->best->choices, (size_t)count * sizeof *trial);
    bool zero = true;
    for (int32_t i = at; i < at + length; i++) zero = zero && trial[i] == 0;
    if (cut) {
      memmove(trial + at, trial + at + length, (size_t)(count - at - length) * sizeof *trial);
    } else {
      memset(trial + at, 0, (size_t)length * sizeof *trial);
    }
    bool done = (cut || !zero) && try_choices(s, trial, cut ? count - length : count);
    free(trial);
    any = any || done;
    if (!done || !cut) at += length;
  }
  return any;
}

progen_case *progen_shrink(const progen_case *c, int32_t size,
                           bool (*fails)(const progen_case *c, void *context), void *context) {
  shrink s = {progen_from_choices(c->choices, c->choice_count, size, NULL), size, fails, context};
  if (s.best == NULL) return NULL;
  bool again = true;
  while (again) {
    again = false;
    for (int32_t length = s.best->choice_count / 2; length > 0; length /= 2) {
      again = sweep(&s, length, true) || again;
      again = sweep(&s, length, false) || again;
    }
  }
  return s.best;
}

void progen_print_choices(const progen_case *c, FILE *out) {
  for (int32_t i = 0; i < c->choice_count; i++) {
    fprintf(out, "%u%s", c->choices[i], (i + 1) % 16 == 0 ? ",\n" : ", ");
  }
  fprintf(out, "\n");
}

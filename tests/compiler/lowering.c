/* Memory and comparison for the tests of the lowering. */
#include "lowering.h"

#include "compiler/loader.h"
#include "tests/compiler/gpu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 256, MARGIN_BYTE = 0xa5 };

#ifdef WB_TEST_GPU
const test_target test_targets[] = {
    {.cpu = "PTX", .placement = WB_PLACEMENT_SHARED, .mode = "warp"},
    {.cpu = "PTX, global, lanes", .placement = WB_PLACEMENT_GLOBAL, .mode = "lanes:5"},
    {.cpu = "PTX, checked", .check = true, .unoptimised = true, .mode = "warp"},
    {.cpu = NULL},
};
#else
const test_target test_targets[] = {
    {.cpu = "x86-64"}, {.cpu = "x86-64-v3"},
    {.cpu = "native"}, {.cpu = "native", .check = true, .unoptimised = true},
    {.cpu = NULL},
};
#endif

const wb_lowering *test_lowering(void) {
  const wb_lowering *lowering = NULL;
  wb_error error = {0};
  if (wb_lowering_open(&lowering, &error) != WB_OK) fprintf(stderr, "%s\n", error.text);
  return lowering;
}

uint64_t test_random(uint64_t *state) {
  uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* ---- memory ---- */

static void *add_block(test_memory *m, int32_t index, size_t bytes) {
  size_t whole = (bytes + 2 * MARGIN + 255) / 256 * 256;
  m->blocks[index] = aligned_alloc(256, whole);
  if (m->blocks[index] == NULL) abort();
  m->bytes[index] = bytes;
  memset(m->blocks[index], MARGIN_BYTE, whole);
  memset(m->blocks[index] + MARGIN, 0, bytes);
  return m->blocks[index] + MARGIN;
}

static void point(test_memory *m) {
  m->arguments = (wb_kernel_arguments){.slabs = m->blocks[0] + MARGIN,
                                       .slab_stride = m->program->slab_bytes,
                                       .buffers = m->buffers,
                                       .scalars = m->scalars,
                                       .fault = &m->fault};
  for (int32_t i = 0; i < m->program->buffer_count; i++) {
    m->buffers[i].data = m->blocks[1 + i] + MARGIN;
  }
}

/* The buffer itself, not a view of it. */
static const wb_object *buffer_object(const wb_program *program, int32_t buffer) {
  for (int32_t i = 0; i < program->object_count; i++) {
    const wb_object *object = &program->objects[i];
    if (object->kind == WB_OBJECT_BUFFER && object->buffer == buffer && object->base == i) {
      return object;
    }
  }
  abort();
}

void test_memory_new(test_memory *m, const wb_program *program, int64_t books,
                     const int64_t *lengths) {
  *m = (test_memory){.program = program, .books = books, .fault = {.op = -1}};
  add_block(m, 0, (size_t)(program->slab_bytes * books));
  for (int32_t i = 0; i < program->buffer_count; i++) {
    const wb_object *object = buffer_object(program, i);
    size_t element = (size_t)wb_element_bytes((wb_element)object->element);
    size_t parts = object->shared ? 1 : (size_t)books;
    m->buffers[i].length = lengths[i];
    m->buffers[i].stride = object->shared ? 0 : lengths[i];
    add_block(m, 1 + i, (size_t)lengths[i] * parts * element);
  }
  point(m);
}

void *test_buffer(const test_memory *m, int32_t i) { return m->blocks[1 + i] + MARGIN; }

void test_memory_copy(test_memory *m, const test_memory *from) {
  *m = *from;
  for (int32_t i = 0; i <= TEST_BUFFERS_MAX; i++) m->blocks[i] = NULL;
  for (int32_t i = 0; i <= from->program->buffer_count; i++) {
    add_block(m, i, from->bytes[i]);
    memcpy(m->blocks[i] + MARGIN, from->blocks[i] + MARGIN, from->bytes[i]);
  }
  point(m);
}

void test_memory_free(test_memory *m) {
  for (int32_t i = 0; i <= m->program->buffer_count; i++) free(m->blocks[i]);
}

static uint64_t random_element(uint64_t *state, uint8_t element) {
  static const uint64_t extremes[] = {
      0,
      1,
      2,
      31,
      32,
      33,
      63,
      64,
      UINT64_MAX,
      0x7fffffff,
      0x80000000,
      0x80000001,
      0x7fffffffffffffff,
      0x8000000000000000,
      0xfffffffe,
      0x7fc00000,
      0xffc00000,
      0x7f800000,
      0xff800000,
      0x7f800001,
      0x3f800000,
      0xbf800000,
      0x00000001,
      0x4f000000,
      0xcf000000,
      0x7f7fffff,
      0x00800000,
  };
  uint64_t kind = test_random(state) % 8, value = test_random(state);
  if (kind < 2) return extremes[value % (sizeof extremes / sizeof *extremes)];
  if (element == WB_ELEMENT_F32 && kind < 6) {
    float x = (float)((int64_t)(value % 4096) - 2048) / 16.0F;
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
  }
  return kind < 5 ? value % 100 : kind < 7 ? (uint64_t) - (int64_t)(value % 40) : value;
}

static void fill_block(uint8_t *bytes, size_t count, uint8_t element, uint64_t *state) {
  size_t size = (size_t)wb_element_bytes((wb_element)element);
  for (size_t i = 0; i + size <= count; i += size) {
    uint64_t value = random_element(state, element);
    memcpy(bytes + i, &value, size);
  }
}

void test_memory_fill(test_memory *m, uint64_t seed) {
  const wb_program *program = m->program;
  for (int32_t i = 0; i < program->object_count; i++) {
    const wb_object *object = &program->objects[i];
    if (object->kind != WB_OBJECT_ARRAY || object->base != i) continue;
    size_t bytes = (size_t)object->length * (size_t)wb_element_bytes((wb_element)object->element);
    for (int64_t book = 0; book < m->books; book++) {
      uint8_t *slab = m->blocks[0] + MARGIN + book * program->slab_bytes;
      fill_block(slab + object->offset, bytes, object->element, &seed);
    }
  }
  for (int32_t i = 0; i < program->buffer_count; i++) {
    fill_block(test_buffer(m, i), m->bytes[1 + i], buffer_object(program, i)->element, &seed);
  }
  for (int32_t i = 0; i < program->parameter_count; i++) {
    m->scalars[i] = (int64_t)random_element(&seed, WB_ELEMENT_I64);
  }
}

bool test_memory_equal(const test_memory *expected, const test_memory *got, char *text,
                       size_t text_bytes) {
  for (int32_t i = 0; i <= expected->program->buffer_count; i++) {
    size_t whole = expected->bytes[i] + 2 * MARGIN;
    for (size_t at = 0; at < whole; at++) {
      if (expected->blocks[i][at] == got->blocks[i][at]) continue;
      snprintf(text, text_bytes, "%s %d, byte %lld of %zu: expected 0x%02x, got 0x%02x",
               i == 0 ? "slabs" : "buffer", i - 1, (long long)at - MARGIN, expected->bytes[i],
               expected->blocks[i][at], got->blocks[i][at]);
      return false;
    }
  }
  return true;
}

/* ---- both ways ---- */

/* Runs a copy of `start` on the emulated GPU. A fault ends what the process can do there. */
static bool run_on_gpu(const wb_program *program, const test_target *target,
                       const test_memory *start, test_memory *end, wb_error *error) {
  static wb_device *device;
  wb_kernel *kernel = NULL;
  test_memory_copy(end, start);
  (void)gpu_set("MODE", target->mode);
  if (device == NULL) device = gpu_open();
  if (device == NULL) return false;
  wb_kernel_options options = {
      .check = target->check, .no_passes = target->unoptimised, .placement = target->placement};
  wb_status status = wb_device_compile(device, program, &options, &kernel, NULL, error);
  if (status == WB_OK) status = gpu_run(device, kernel, &end->arguments, end->books, error);
  wb_kernel_release(kernel);
  return status == WB_OK;
}

static bool same_on_gpu(const wb_program *program, const test_target *target,
                        const test_memory *start, const test_memory *expected, char *text,
                        size_t text_bytes) {
  test_memory got;
  wb_error error = {0};
  bool same = run_on_gpu(program, target, start, &got, &error);
  if (same) {
    same = test_memory_equal(expected, &got, text, text_bytes);
  } else {
    snprintf(text, text_bytes, "%.500s (%.500s)", error.text, gpu_message());
  }
  test_memory_free(&got);
  return same;
}

bool test_same(const wb_program *program, const test_target *target, const test_memory *start,
               int64_t step_limit, char *text, size_t text_bytes) {
  wb_error error = {0};
  test_memory by_interpreter, by_code;
  test_memory_copy(&by_interpreter, start);
  wb_status status =
      wb_interpret(program, &by_interpreter.arguments, 0, start->books, step_limit, &error);
  if (status != WB_OK) {
    test_memory_free(&by_interpreter);
    snprintf(text, text_bytes, "interpreter: %s", error.text);
    return status == WB_ERROR_LIMIT;
  }
  if (target->mode != NULL) {
    bool same_there = same_on_gpu(program, target, start, &by_interpreter, text, text_bytes);
    test_memory_free(&by_interpreter);
    return same_there;
  }
  wb_lower_request request = {.program = program,
                              .cpu = target->cpu,
                              .check = target->check,
                              .unoptimised = target->unoptimised};
  wb_lower_result result;
  const wb_lowering *lowering = test_lowering();
  if (lowering == NULL) abort();
  if (lowering->compile(&request, &result, &error) != WB_OK) {
    test_memory_free(&by_interpreter);
    snprintf(text, text_bytes, "compile for %s: %s", target->cpu, error.text);
    return false;
  }
  bool same = true;
  if (result.entry != NULL) { /* else the machine lacks this level */
    test_memory_copy(&by_code, start);
    result.entry(&by_code.arguments, 0, start->books);
    same = test_memory_equal(&by_interpreter, &by_code, text, text_bytes);
    if (same && by_code.fault.op >= 0) {
      snprintf(text, text_bytes, "op %d reports a broken promise", (int)by_code.fault.op);
      same = false;
    }
    test_memory_free(&by_code);
  }
  test_memory_free(&by_interpreter);
  lowering->release(&result);
  return same;
}

void test_expect_same(const wb_program *program, const test_memory *start, int64_t step_limit) {
  char text[512];
  for (const test_target *t = test_targets; t->cpu != NULL; t++) {
    cr_expect(test_same(program, t, start, step_limit, text, sizeof text), "%s: %s", t->cpu, text);
  }
}

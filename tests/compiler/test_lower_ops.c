/* Every pure op, for every type and shape it takes, as machine code against the interpreter: over all
 * pairs (for fma triples) of extreme values, over random values, and with constant operands, which
 * LLVM folds by itself. Which types an op takes is asked of the builder, so that an op added to the
 * table is tested without a line here. */
#include "compiler/builder.h"
#include "lowering.h"

#include <criterion/criterion.h>

#include <stdlib.h>
#include <string.h>

#define HERE WB_HERE

static const int64_t ints[] = {
    0,
    1,
    -1,
    INT32_MIN,
    INT64_MIN,
    31,
    32,
    64,
    7,
    -2,
    2,
    3,
    33,
    63,
    65,
    -31,
    -32,
    -64,
    1000003,
    INT32_MAX,
    INT64_MAX,
    INT32_MAX - 1,
    INT32_MIN + 1,
    INT64_MIN + 1,
    0x55555555,
    INT64_C(0x100000000),
    INT64_C(0x5555555555555555),
    INT64_C(0xffffffff),
};
static const uint32_t floats[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x80000001, 0x007fffff, 0x00800000,
    0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001,
    0xffffffff, 0x3f000000, 0x3fc00000, 0x40200000, 0xc0200000, 0x4f000000, 0x4effffff, 0xcf000000,
    0xcf000001, 0x4b800001, 0x3eaaaaab, 0x3f7fffff, 0x33800000, 0x1a000000, 0x5f000000,
};
enum { INTS = sizeof ints / sizeof *ints, FLOATS = sizeof floats / sizeof *floats };

static int64_t count_values(wb_type type) {
  return type == WB_TYPE_BOOL ? 2 : type == WB_TYPE_F32 ? FLOATS : INTS;
}

static int64_t value_of(wb_type type, int64_t k) {
  if (type == WB_TYPE_BOOL) return k;
  if (type == WB_TYPE_F32) return floats[k];
  return type == WB_TYPE_I32 ? (int32_t)ints[k] : ints[k];
}

static int64_t random_value(wb_type type, uint64_t *state) {
  uint64_t bits = test_random(state);
  if (bits % 3 != 0) return value_of(type, (int64_t)(bits / 3 % (uint64_t)count_values(type)));
  bits = test_random(state);
  return type == WB_TYPE_BOOL ? (int64_t)(bits & 1) : (int64_t)bits;
}

/* ---- which forms there are ---- */

typedef struct form {
  wb_opcode code;
  int32_t operands;
  wb_type types[WB_OPERANDS_MAX];
  wb_shape shapes[WB_OPERANDS_MAX];
} form;

static const char *form_text(const form *f, char text[96]) {
  int used = snprintf(text, 96, "%s", wb_op_describe(f->code)->text);
  for (int32_t k = 0; k < f->operands; k++) {
    used += snprintf(text + used, 96 - (size_t)used, " %s%s",
                     f->shapes[k] == WB_SHAPE_LANES ? "lanes of " : "", wb_type_text(f->types[k]));
  }
  return text;
}

/* Tells what the forms of an op have in common: which operands are lanes. False: no such pattern. */
static bool shape_pattern(wb_opcode code, int pattern, wb_shape shapes[WB_OPERANDS_MAX]) {
  static const wb_shape s = WB_SHAPE_SCALAR, l = WB_SHAPE_LANES;
  const wb_shape all[] = {pattern == 0 ? s : l, pattern == 0 ? s : l, pattern == 0 ? s : l};
  const wb_shape picked[] = {l, s, s};
  switch (wb_op_describe(code)->operand_rule) {
  case WB_OPERANDS_EXTRACT:
  case WB_OPERANDS_INSERT: memcpy(shapes, picked, sizeof picked); return pattern == 1;
  case WB_OPERANDS_SCALAR: memcpy(shapes, all, sizeof all); return pattern == 0;
  case WB_OPERANDS_LANES_BOOL:
  case WB_OPERANDS_LANES_INT:
  case WB_OPERANDS_LANES_NUMERIC:
  case WB_OPERANDS_SHUFFLE: memcpy(shapes, all, sizeof all); return pattern == 1;
  default: memcpy(shapes, all, sizeof all); return true;
  }
}

/* ---- programs ---- */

static wb_element element_of(wb_type type) {
  return type == WB_TYPE_I64   ? WB_ELEMENT_I64
         : type == WB_TYPE_F32 ? WB_ELEMENT_F32
                               : WB_ELEMENT_I32;
}

/* A value read from memory; bools lie there as i32. */
static wb_val read_operand(wb_builder *b, wb_array from, wb_val i, wb_type type, wb_shape shape) {
  wb_val x = shape == WB_SHAPE_LANES ? wb_build_load_row(b, HERE, from, wb_operand_value(i), true)
                                     : wb_build_load(b, HERE, from, wb_operand_value(i), true);
  return type == WB_TYPE_BOOL ? wb_build_bool(b, HERE, wb_operand_value(x)) : x;
}

static void write_result(wb_builder *b, wb_array to, wb_val i, wb_val x) {
  if (wb_build_type(b, x) == WB_TYPE_BOOL) x = wb_build_i32(b, HERE, wb_operand_value(x));
  if (wb_build_shape(b, x) == WB_SHAPE_LANES) {
    wb_build_store_row(b, HERE, to, wb_operand_value(i), wb_operand_value(x), wb_operand_none(),
                       true);
  } else {
    wb_build_store(b, HERE, to, wb_operand_value(i), wb_operand_value(x), true);
  }
}

/* out[i] = op(x0[i], x1[i], ...), i counting elements or rows; NULL if the op takes no such operands.
 * The output has the type that the op's result rule says, which a first, thrown away build tells. */
static wb_program *build(const form *f, int32_t width, wb_type out_type, wb_type *result) {
  wb_error error;
  wb_builder *b;
  cr_assert_eq(wb_builder_new("ops", width, NULL, &b, &error), WB_OK);
  wb_array inputs[WB_OPERANDS_MAX];
  wb_operand operands[WB_OPERANDS_MAX] = {wb_operand_none(), wb_operand_none(), wb_operand_none()};
  wb_array out = wb_build_buffer(b, HERE, "out", element_of(out_type), true, true, 0);
  for (int32_t k = 0; k < f->operands; k++) {
    char name[8] = {'x', (char)('0' + k), 0};
    inputs[k] = wb_build_buffer(b, HERE, name, element_of(f->types[k]), true, false, 0);
  }
  wb_val count = wb_build_param(b, HERE, "count", WB_TYPE_I32);
  wb_val i = wb_build_for(b, HERE, wb_operand_signed(0), wb_operand_value(count));
  for (int32_t k = 0; k < f->operands; k++) {
    operands[k] = wb_operand_value(read_operand(b, inputs[k], i, f->types[k], f->shapes[k]));
  }
  wb_val x = wb_build_op(b, HERE, f->code, operands[0], operands[1], operands[2]);
  if (!wb_builder_ok(b)) {
    wb_builder_free(b);
    return NULL;
  }
  *result = wb_build_type(b, x);
  write_result(b, out, i, x);
  wb_build_end(b, HERE);
  wb_program *program = NULL;
  return wb_builder_finish(b, &program, &error) == WB_OK ? program : NULL;
}

/* The form's program, its output typed as the result. */
static wb_program *program_of(const form *f, int32_t width) {
  wb_type result = WB_TYPE_NONE;
  wb_program *program = build(f, width, WB_TYPE_I32, &result);
  if (program == NULL && result != WB_TYPE_NONE) program = build(f, width, result, &result);
  return program;
}

/* ---- inputs ---- */

static void put(void *buffer, wb_type type, int64_t at, int64_t value) {
  size_t bytes = type == WB_TYPE_I64 ? 8 : 4;
  memcpy((char *)buffer + (size_t)at * bytes, &value, bytes);
}

/* Every tuple of extreme values once, digit k of the running number for operand k, then random ones. */
static void fill(const form *f, const test_memory *m, int64_t elements) {
  uint64_t state = 7 + (uint64_t)f->code;
  int64_t tuples = 1, stride = 1;
  for (int32_t k = 0; k < f->operands; k++) tuples *= count_values(f->types[k]);
  for (int32_t k = 0; k < f->operands; k++) {
    int64_t values = count_values(f->types[k]);
    for (int64_t at = 0; at < elements; at++) {
      int64_t value = at < tuples ? value_of(f->types[k], at / stride % values)
                                  : random_value(f->types[k], &state);
      put(test_buffer(m, 1 + k), f->types[k], at, value);
    }
    stride *= values;
  }
}

static void check_form(const form *f, int32_t width, const wb_program *program) {
  int64_t elements = 32, lengths[1 + WB_OPERANDS_MAX];
  bool lanes = f->shapes[0] == WB_SHAPE_LANES;
  for (int32_t k = 0; k < f->operands; k++) elements *= count_values(f->types[k]);
  if (f->operands == 3) elements /= 32;
  elements = (elements + 2048 + width - 1) / width * width;
  for (int32_t k = 0; k <= f->operands; k++) lengths[k] = elements;
  if (wb_op_describe(f->code)->result_rule == WB_RESULT_SPLAT) lengths[0] *= width;
  test_memory m;
  test_memory_new(&m, program, 1, lengths);
  fill(f, &m, elements);
  m.scalars[0] = lanes ? elements / width : elements;
  char text[512], name[96];
  for (const test_target *t = test_targets; t->cpu != NULL; t++) {
    cr_expect(test_same(program, t, &m, 0, text, sizeof text), "%s, width %d, %s%s: %s",
              form_text(f, name), (int)width, t->cpu, t->unoptimised ? " unoptimised" : "", text);
  }
  test_memory_free(&m);
}

/* Checks the op with all operand types it takes in this shape; gives how many there were. */
static int32_t check_types(wb_opcode code, int pattern, int32_t width) {
  int32_t found = 0;
  form f = {.code = code, .operands = wb_op_describe(code)->operands};
  if (!shape_pattern(code, pattern, f.shapes)) return 0;
  int32_t combinations = 1;
  for (int32_t k = 0; k < f.operands; k++) combinations *= WB_TYPE_COUNT - WB_TYPE_BOOL;
  for (int32_t c = 0; c < combinations; c++) {
    int32_t rest = c;
    for (int32_t k = 0; k < f.operands; k++) {
      f.types[k] = (wb_type)(WB_TYPE_BOOL + rest % (WB_TYPE_COUNT - WB_TYPE_BOOL));
      rest /= WB_TYPE_COUNT - WB_TYPE_BOOL;
    }
    wb_program *program = program_of(&f, width);
    if (program == NULL) continue;
    check_form(&f, width, program);
    wb_program_free(program);
    found++;
  }
  return found;
}

static bool takes_values(wb_opcode code) {
  const wb_op_info *info = wb_op_describe(code);
  return info->kind == WB_KIND_PURE && info->operands > 0 && code != WB_OP_KNOWN;
}

static void check_ops(int32_t width, wb_opcode from, wb_opcode to) {
  cr_assert(test_lowering() != NULL);
  for (int code = (int)from; code < (int)to; code++) {
    if (!takes_values((wb_opcode)code)) continue;
    int32_t forms = check_types((wb_opcode)code, 0, width) + check_types((wb_opcode)code, 1, width);
    cr_expect(forms > 0, "%s: no form was found", wb_op_describe((wb_opcode)code)->text);
  }
}

Test(lower_ops, arithmetic_equals_the_interpreter) { check_ops(32, 0, WB_OP_EQ); }
Test(lower_ops, compare_and_convert_equal_the_interpreter) { check_ops(32, WB_OP_EQ, WB_OP_SPLAT); }
Test(lower_ops, lane_ops_equal_the_interpreter) { check_ops(32, WB_OP_SPLAT, WB_OP_COUNT); }
Test(lower_ops, lane_ops_of_8_and_2_equal_the_interpreter) {
  check_ops(8, WB_OP_SPLAT, WB_OP_COUNT);
  check_ops(2, WB_OP_SPLAT, WB_OP_COUNT);
}

/* ---- constants ---- */

/* Lanes take long to compile: the first few values, which are the most extreme, must do there. */
static int32_t count_constants(wb_type type, bool lanes) {
  int32_t values = (int32_t)count_values(type);
  return lanes && values > 9 ? 9 : values;
}

/* out[i * n + c] = op(x[i], constant c) and op(constant c, x[i]), scalar or for all lanes. */
static wb_program *build_constants(wb_opcode code, wb_type type, bool lanes, wb_type out_type,
                                   wb_type *result) {
  wb_error error;
  wb_builder *b;
  cr_assert_eq(wb_builder_new("constants", 32, NULL, &b, &error), WB_OK);
  wb_array out = wb_build_buffer(b, HERE, "out", element_of(out_type), true, true, 0);
  wb_array in = wb_build_buffer(b, HERE, "in", element_of(type), true, false, 0);
  wb_val count = wb_build_param(b, HERE, "count", WB_TYPE_I32);
  int32_t values = count_constants(type, lanes);
  wb_val i = wb_build_for(b, HERE, wb_operand_signed(0), wb_operand_value(count));
  wb_val x = read_operand(b, in, i, type, lanes ? WB_SHAPE_LANES : WB_SHAPE_SCALAR);
  wb_val at = wb_build_op(b, HERE, WB_OP_MUL, wb_operand_value(i), wb_operand_signed(3 * values),
                          wb_operand_none());
  for (int32_t c = 0; c < 3 * values && wb_builder_ok(b); c++) {
    wb_operand k = wb_operand_value(wb_build_const(b, HERE, type, value_of(type, c % values)));
    wb_operand other = wb_operand_value(
        c < 2 * values ? x : wb_build_const(b, HERE, type, value_of(type, c * 7 % values)));
    bool swap = c >= values;
    wb_val y = wb_build_op(b, HERE, code, swap ? k : other, swap ? other : k, wb_operand_none());
    if (lanes && wb_build_shape(b, y) == WB_SHAPE_SCALAR) {
      y = wb_build_op(b, HERE, WB_OP_SPLAT, wb_operand_value(y), wb_operand_none(),
                      wb_operand_none());
    }
    wb_val place = wb_build_op(b, HERE, WB_OP_ADD, wb_operand_value(at), wb_operand_signed(c),
                               wb_operand_none());
    *result = wb_builder_ok(b) ? wb_build_type(b, y) : WB_TYPE_NONE;
    write_result(b, out, place, y);
  }
  wb_build_end(b, HERE);
  wb_program *program = NULL;
  return wb_builder_finish(b, &program, &error) == WB_OK ? program : NULL;
}

static void check_constants(wb_opcode code, wb_type type, bool lanes) {
  wb_type result = WB_TYPE_NONE;
  wb_program *program = build_constants(code, type, lanes, WB_TYPE_I32, &result);
  if (program == NULL && result != WB_TYPE_NONE) {
    program = build_constants(code, type, lanes, result, &result);
  }
  if (program == NULL) return;
  int64_t rows = (count_values(type) + 31) / 32 + 1, count = lanes ? rows : rows * 32;
  int64_t lengths[] = {count * 3 * count_constants(type, lanes) * (lanes ? 32 : 1), rows * 32};
  test_memory m;
  test_memory_new(&m, program, 1, lengths);
  form f = {.code = code, .operands = 1, .types = {type}};
  fill(&f, &m, lengths[1]);
  m.scalars[0] = count;
  char text[512];
  for (const test_target *t = test_targets; t->cpu != NULL; t++) {
    cr_expect(test_same(program, t, &m, 0, text, sizeof text), "%s with constants of %s, %s: %s",
              wb_op_describe(code)->text, wb_type_text(type), t->cpu, text);
  }
  test_memory_free(&m);
  wb_program_free(program);
}

Test(lower_ops, constant_operands_change_nothing) {
  for (int code = 0; code < WB_OP_COUNT; code++) {
    if (!takes_values((wb_opcode)code) || wb_op_describe((wb_opcode)code)->operands != 2) continue;
    for (int type = WB_TYPE_BOOL; type < WB_TYPE_COUNT; type++) {
      check_constants((wb_opcode)code, (wb_type)type, false);
      check_constants((wb_opcode)code, (wb_type)type, true);
    }
  }
}

/* A divisor that is 0 in one lane and is looked at elsewhere too: LLVM 19 once took the whole remainder
 * for undefined. */
Test(lower_ops, a_zero_in_one_lane_of_a_divisor) {
  wb_error error = {0};
  wb_builder *b;
  wb_program *program = NULL;
  static const wb_opcode codes[] = {WB_OP_UREM, WB_OP_REM, WB_OP_UDIV, WB_OP_DIV};
  cr_assert_eq(wb_builder_new("lanes", 32, NULL, &b, &error), WB_OK);
  wb_array out = wb_build_buffer(b, WB_HERE, "out", WB_ELEMENT_I32, false, true, 0);
  wb_val limit = wb_build_param(b, WB_HERE, "limit", WB_TYPE_I32);
  wb_operand none = wb_operand_none();
  wb_val lane = wb_build_op(b, WB_HERE, WB_OP_LANE_ID, none, none, none);
  wb_val by = wb_build_op(b, WB_HERE, WB_OP_INSERT, wb_operand_value(lane), wb_operand_value(limit),
                          wb_operand_signed(INT32_MIN));
  wb_build_store_row(b, WB_HERE, out, wb_operand_signed(0), wb_operand_value(by), none, false);
  for (int k = 0; k < 4; k++) {
    wb_val x =
        wb_build_op(b, WB_HERE, codes[k], wb_operand_value(lane), wb_operand_value(by), none);
    wb_build_store_row(b, WB_HERE, out, wb_operand_signed(k + 1), wb_operand_value(x), none, false);
  }
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  test_memory m;
  test_memory_new(&m, program, 1, (int64_t[]){5 * 32});
  for (int64_t at = 0; at < 3; at++) {
    m.scalars[0] = at;
    test_expect_same(program, &m, 0);
  }
  test_memory_free(&m);
  wb_program_free(program);
}

/* The lanes' numbers are constants: of a big number by 0 LLVM 19 once made 1 << 31. */
static void divide_by_each_lane_number(wb_opcode code) {
  wb_error error = {0};
  wb_builder *b;
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_new("numbers", 32, NULL, &b, &error), WB_OK);
  wb_array out = wb_build_buffer(b, WB_HERE, "out", WB_ELEMENT_I32, false, true, 0);
  wb_operand none = wb_operand_none(), row = wb_operand_signed(0);
  wb_val lane = wb_build_op(b, WB_HERE, WB_OP_LANE_ID, none, none, none);
  wb_val x = wb_build_load_row(b, WB_HERE, out, row, false);
  x = wb_build_op(b, WB_HERE, code, wb_operand_value(x), wb_operand_value(lane), none);
  wb_build_store_row(b, WB_HERE, out, row, wb_operand_value(x), none, false);
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  test_memory m;
  test_memory_new(&m, program, 8, (int64_t[]){32});
  for (int32_t i = 0; i < 8 * 32; i++) ((int32_t *)test_buffer(&m, 0))[i] = -1 - 12345 * i;
  test_expect_same(program, &m, 0);
  test_memory_free(&m);
  wb_program_free(program);
}

Test(lower_ops, division_by_each_lane_number) {
  divide_by_each_lane_number(WB_OP_UDIV);
  divide_by_each_lane_number(WB_OP_DIV);
  divide_by_each_lane_number(WB_OP_UREM);
  divide_by_each_lane_number(WB_OP_REM);
}

/* Instructions on predicates, address windows, and the search among all rows.
 *
 * A predicate is a mask of lanes, so logic on predicates is logic on 32-bit integers. */
#include "tests/emulator/alu.h"

#include <pthread.h>
#include <stdlib.h>

static inline uint32_t source_mask(const ptx_insn *insn, const uint8_t *registers, int k) {
  uint32_t mask;
  memcpy(&mask, registers + insn->from[k], sizeof mask);
  return insn->nots >> k & 1 ? ~mask : mask;
}

#define MASK_FUNCTION(id, names, arity, expression)                                      \
  static uint32_t id##_bits(const ptx_insn *insn, const uint8_t *registers, unsigned lo, \
                            unsigned hi) {                                               \
    (void)lo, (void)hi;                                                                  \
    const uint32_t a = source_mask(insn, registers, 0);                                  \
    const uint32_t b = (arity) > 1 ? source_mask(insn, registers, 1) : 0;                \
    (void)b;                                                                             \
    return expression;                                                                   \
  }
#define MASK_ROW(id, names, arity, expression) \
  {names, arity, 0, PTX_PRED, {PTX_PRED, (arity) > 1 ? PTX_PRED : 0}, NULL, NULL, id##_bits},
#define MASKS(X)                    \
  X(and_pred, "and.pred", 2, a &b)  \
  X(or_pred, "or.pred", 2, a | b)   \
  X(xor_pred, "xor.pred", 2, a ^ b) \
  X(not_pred, "not.pred", 1, ~a)    \
  X(mov_pred, "mov.pred", 1, a)

MASKS(MASK_FUNCTION)

static inline bool inside(uint64_t address, uint64_t window) {
  return address - window < PTX_WINDOW_BYTES;
}

#define SPACE_FUNCTION(id, names, expression)                                            \
  static uint32_t id##_bits(const ptx_insn *insn, const uint8_t *registers, unsigned lo, \
                            unsigned hi) {                                               \
    uint32_t mask = 0;                                                                   \
    for (unsigned lane = lo; lane < hi; lane++) {                                        \
      const uint64_t a = GET_u64(registers + insn->from[0], lane);                       \
      mask |= (uint32_t)(expression) << lane;                                            \
    }                                                                                    \
    return mask;                                                                         \
  }
#define SPACE_ROW(id, names, expression) {names, 1, 0, PTX_PRED, {PTX_U64}, NULL, NULL, id##_bits},
#define SPACES(X)                                                                    \
  X(in_shared, "isspacep.shared isspacep.shared::cta", inside(a, PTX_SHARED_WINDOW)) \
  X(in_local, "isspacep.local", inside(a, PTX_LOCAL_WINDOW))                         \
  X(in_param, "isspacep.param", inside(a, PTX_PARAM_WINDOW))                         \
  X(in_global, "isspacep.global", a < PTX_SHARED_WINDOW)

SPACES(SPACE_FUNCTION)

#define WINDOWS(X)                                                             \
  ROW1(X, to_shared_64, "cvta.to.shared.u64", u64, u64, a - PTX_SHARED_WINDOW) \
  ROW1(X, of_shared_64, "cvta.shared.u64", u64, u64, a + PTX_SHARED_WINDOW)    \
  ROW1(X, to_local_64, "cvta.to.local.u64", u64, u64, a - PTX_LOCAL_WINDOW)    \
  ROW1(X, of_local_64, "cvta.local.u64", u64, u64, a + PTX_LOCAL_WINDOW)       \
  ROW1(X, to_param_64, "cvta.to.param.u64", u64, u64, a - PTX_PARAM_WINDOW)    \
  ROW1(X, of_param_64, "cvta.param.u64", u64, u64, a + PTX_PARAM_WINDOW)

WINDOWS(ALU_FUNCTIONS)

const ptx_alu ptx_alu_logic[] = {MASKS(MASK_ROW) SPACES(SPACE_ROW) WINDOWS(ALU_ROW)};
const int ptx_alu_logic_count = sizeof ptx_alu_logic / sizeof *ptx_alu_logic;

/* ---- the index over all tables, made once ---- */

typedef struct spelling {
  const char *name;
  size_t length;
  const ptx_alu *row;
} spelling;

enum { SPELLINGS = 1024 };
static spelling spellings[SPELLINGS];
static size_t spelling_count;
static pthread_once_t indexed = PTHREAD_ONCE_INIT;

static int compare_names(const char *a, size_t a_length, const char *b, size_t b_length) {
  const int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
  return order ? order : a_length < b_length ? -1 : a_length > b_length;
}

static int compare_spellings(const void *a, const void *b) {
  const spelling *x = a, *y = b;
  return compare_names(x->name, x->length, y->name, y->length);
}

static void index_table(const ptx_alu *table, int count) {
  for (int k = 0; k < count; k++) {
    for (const char *at = table[k].names; *at && spelling_count < SPELLINGS;) {
      const size_t length = strcspn(at, " ");
      spellings[spelling_count++] = (spelling){at, length, &table[k]};
      at += length + (at[length] == ' ');
    }
  }
}

static void index_all(void) {
  index_table(ptx_alu_integer, ptx_alu_integer_count);
  index_table(ptx_alu_float, ptx_alu_float_count);
  index_table(ptx_alu_compare, ptx_alu_compare_count);
  index_table(ptx_alu_logic, ptx_alu_logic_count);
  qsort(spellings, spelling_count, sizeof *spellings, compare_spellings);
}

const ptx_alu *ptx_alu_find(const char *mnemonic, size_t length) {
  pthread_once(&indexed, index_all);
  const spelling key = {mnemonic, length, NULL};
  const spelling *found =
      bsearch(&key, spellings, spelling_count, sizeof *spellings, compare_spellings);
  return found ? found->row : NULL;
}

/* ---- types ---- */

static const struct {
  const char *name;
  uint8_t bytes;
} types[] = {[PTX_NONE] = {"", 0},   [PTX_PRED] = {"pred", 0}, [PTX_B8] = {"b8", 1},
             [PTX_U8] = {"u8", 1},   [PTX_S8] = {"s8", 1},     [PTX_B16] = {"b16", 2},
             [PTX_U16] = {"u16", 2}, [PTX_S16] = {"s16", 2},   [PTX_B32] = {"b32", 4},
             [PTX_U32] = {"u32", 4}, [PTX_S32] = {"s32", 4},   [PTX_F32] = {"f32", 4},
             [PTX_B64] = {"b64", 8}, [PTX_U64] = {"u64", 8},   [PTX_S64] = {"s64", 8},
             [PTX_F64] = {"f64", 8}};

unsigned ptx_type_bytes(ptx_type type) { return types[type].bytes; }

ptx_type ptx_type_of(const char *text, size_t length) {
  for (size_t k = 1; k < sizeof types / sizeof *types; k++) {
    if (strlen(types[k].name) == length && memcmp(types[k].name, text, length) == 0) {
      return (ptx_type)k;
    }
  }
  return PTX_NONE;
}

/* What a warp instruction is counted as, and the SM cycles it takes.
 *
 * Weights are 32 / (results per clock and SM) for compute capability 9.0, from the table "Throughput of
 * Native Arithmetic Instructions" of the CUDA C++ programming guide:
 *
 *   64  integer add, subtract, multiply, multiply-add, shift, compare, minimum, maximum, logic,
 *       conversions of 8 to 32 bits, votes                                                  1/2
 *   128 f32 add, multiply, multiply-add                                                     1/4
 *   64  f64 add, multiply, multiply-add                                                     1/2
 *   32  shuffles                                                                            1
 *   16  reductions of a warp, bit counts, bit reverse, conversions from and to 64-bit types,
 *       reciprocals and roots (as parts of longer sequences)                                2
 *
 * A shared load or store takes 1 for each pass over the banks, a global one 1 for each 128-byte line
 * (the width of the first-level cache), a prefetch like a load; they depend on addresses and are added
 * when they run. One that no lane takes part in is issued all the same, for 1/2. 64-bit integer
 * arithmetic and logic is two 32-bit instructions. Branches, moves and predicates count as integer
 * instructions, since they take the same issue slots; many moves of PTX vanish in machine code, so the
 * sum is rather too high than too low. Divisions and roots are expanded by ptxas: their weights are
 * counts of the machine instructions that it writes, times 1/2. */
#include "tests/emulator/emulator.h"
#include "tests/emulator/ptx.h"

#include <string.h>

typedef struct price {
  const char *prefix; /* of the mnemonic; the first that fits */
  uint8_t what;
  float weight;      /* with 32-bit types or narrower */
  float weight_wide; /* with 64-bit types */
} price;

static const price prices[] = {{"ld.param", WB_EMULATOR_CONSTANT, 0.5f, 0.5f},
                               {"ld.const", WB_EMULATOR_CONSTANT, 0.5f, 0.5f},
                               {"ld.shared", WB_EMULATOR_SHARED, 0, 0},
                               {"st.shared", WB_EMULATOR_SHARED, 0, 0},
                               {"ld.local", WB_EMULATOR_LOCAL, 1, 1},
                               {"st.local", WB_EMULATOR_LOCAL, 1, 1},
                               {"st.param", WB_EMULATOR_LOCAL, 0.5f, 0.5f},
                               {"ld", WB_EMULATOR_GLOBAL, 0, 0},
                               {"st.", WB_EMULATOR_GLOBAL, 0, 0},
                               {"cp.async.", WB_EMULATOR_GLOBAL, 0.5f, 0.5f},
                               {"prefetch", WB_EMULATOR_GLOBAL, 0, 0},
                               {"atom.", WB_EMULATOR_ATOMIC, 2, 2},
                               {"red.", WB_EMULATOR_ATOMIC, 2, 2},
                               {"shfl.", WB_EMULATOR_SHUFFLE, 1, 1},
                               {"vote.", WB_EMULATOR_VOTE, 0.5f, 0.5f},
                               {"activemask", WB_EMULATOR_VOTE, 0.5f, 0.5f},
                               {"elect.", WB_EMULATOR_VOTE, 0.5f, 0.5f},
                               {"match.", WB_EMULATOR_VOTE, 2, 4},
                               {"redux.", WB_EMULATOR_REDUCE, 2, 2},
                               {"bar", WB_EMULATOR_BARRIER, 0.5f, 0.5f},
                               {"membar.", WB_EMULATOR_BARRIER, 0.5f, 0.5f},
                               {"fence.", WB_EMULATOR_BARRIER, 0.5f, 0.5f},
                               {"bra", WB_EMULATOR_BRANCH, 0.5f, 0.5f},
                               {"brx", WB_EMULATOR_BRANCH, 1, 1},
                               {"ret", WB_EMULATOR_BRANCH, 0.5f, 0.5f},
                               {"exit", WB_EMULATOR_BRANCH, 0.5f, 0.5f},
                               {"mov.pred", WB_EMULATOR_PREDICATE, 0.5f, 0.5f},
                               {"mov.", WB_EMULATOR_MOVE, 0.5f, 1},
                               {"selp.", WB_EMULATOR_MOVE, 0.5f, 1},
                               {"slct.", WB_EMULATOR_MOVE, 1, 1.5f},
                               {"cvta.", WB_EMULATOR_MOVE, 0.5f, 1},
                               {"setp.", WB_EMULATOR_PREDICATE, 0.5f, 1},
                               {"set.", WB_EMULATOR_PREDICATE, 1, 1.5f},
                               {"and.pred", WB_EMULATOR_PREDICATE, 0.5f, 0.5f},
                               {"or.pred", WB_EMULATOR_PREDICATE, 0.5f, 0.5f},
                               {"xor.pred", WB_EMULATOR_PREDICATE, 0.5f, 0.5f},
                               {"not.pred", WB_EMULATOR_PREDICATE, 0.5f, 0.5f},
                               {"isspacep.", WB_EMULATOR_PREDICATE, 1, 1},
                               {"testp.", WB_EMULATOR_PREDICATE, 0.5f, 1},
                               {"popc.", WB_EMULATOR_BITS, 2, 4.5f},
                               {"clz.", WB_EMULATOR_BITS, 2, 5},
                               {"bfind.", WB_EMULATOR_BITS, 2, 5},
                               {"brev.", WB_EMULATOR_BITS, 2, 4},
                               {"bfe.", WB_EMULATOR_INTEGER, 1, 4},
                               {"bfi.", WB_EMULATOR_INTEGER, 1.5f, 4},
                               {"min.", WB_EMULATOR_INTEGER, 0.5f, 2},
                               {"max.", WB_EMULATOR_INTEGER, 0.5f, 2},
                               {"mul.wide", WB_EMULATOR_MULTIPLY, 0.5f, 0.5f},
                               {"mad.wide", WB_EMULATOR_MULTIPLY, 0.5f, 0.5f},
                               {"mul24.", WB_EMULATOR_MULTIPLY, 1.5f, 1.5f},
                               {"mad24.", WB_EMULATOR_MULTIPLY, 1.5f, 1.5f},
                               {"mul.", WB_EMULATOR_MULTIPLY, 0.5f, 2},
                               {"mad", WB_EMULATOR_MULTIPLY, 0.5f, 2},
                               {"dp4a.", WB_EMULATOR_MULTIPLY, 0.5f, 0.5f},
                               {"div.", WB_EMULATOR_DIVIDE, 10, 35},
                               {"rem.", WB_EMULATOR_DIVIDE, 10, 35},
                               {"cvt.", WB_EMULATOR_CONVERT, 0.5f, 2}};

/* the arithmetic of floats, by what comes before the type */
static const price float_prices[] = {
    {"div.", WB_EMULATOR_FLOAT, 5, 12},       {"sqrt.", WB_EMULATOR_FLOAT, 5, 12},
    {"rcp.", WB_EMULATOR_FLOAT, 4, 8},        {"add.", WB_EMULATOR_FLOAT, 0.25f, 0.5f},
    {"sub.", WB_EMULATOR_FLOAT, 0.25f, 0.5f}, {"mul.", WB_EMULATOR_FLOAT, 0.25f, 0.5f},
    {"fma.", WB_EMULATOR_FLOAT, 0.25f, 0.5f}, {"mad.", WB_EMULATOR_FLOAT, 0.25f, 0.5f},
    {"min.", WB_EMULATOR_FLOAT, 0.5f, 1},     {"max.", WB_EMULATOR_FLOAT, 0.5f, 1},
    {"neg.", WB_EMULATOR_FLOAT, 0.25f, 0.5f}, {"abs.", WB_EMULATOR_FLOAT, 0.25f, 0.5f}};

static bool starts(const char *text, const char *prefix) {
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* cvt between integers of 64 bits and fewer moves registers; with floats it is a slow one */
static float convert_weight(const char *mnemonic, bool wide) {
  if (!wide) return 0.5f;
  return strstr(mnemonic, ".f32") || strstr(mnemonic, ".f64") ? 2 : 0.5f;
}

void ptx_cost(ptx_insn *insn, const char *mnemonic) {
  const char *type = strrchr(mnemonic, '.');
  const bool wide = strstr(mnemonic, "64") != NULL;
  const bool is_float = type && type[1] == 'f';
  insn->cost_class = WB_EMULATOR_OTHER;
  insn->weight = 0.5f;
  if (insn->kind == PTX_DO_ALU && is_float) {
    for (size_t k = 0; k < sizeof float_prices / sizeof *float_prices; k++) {
      if (!starts(mnemonic, float_prices[k].prefix)) continue;
      insn->cost_class = float_prices[k].what;
      insn->weight = wide ? float_prices[k].weight_wide : float_prices[k].weight;
      return;
    }
  }
  for (size_t k = 0; k < sizeof prices / sizeof *prices; k++) {
    if (!starts(mnemonic, prices[k].prefix)) continue;
    insn->cost_class = prices[k].what;
    insn->weight = wide ? prices[k].weight_wide : prices[k].weight;
    if (prices[k].what == WB_EMULATOR_CONVERT) insn->weight = convert_weight(mnemonic, wide);
    return;
  }
  /* add, sub, and, or, xor, not, shifts, lop3, prmt, abs, neg, sad, ... */
  if (insn->kind == PTX_DO_ALU) {
    insn->cost_class = WB_EMULATOR_INTEGER;
    insn->weight = wide ? 1 : 0.5f;
  }
}

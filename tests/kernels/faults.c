/* The list of faults, and how each is put into a program. */
#include "faults.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum change {
  DROP,          /* a store or set does not happen */
  BECOME,        /* another opcode */
  NEVER,         /* a condition is false */
  SWAP,          /* the last two operands change places */
  BYPASS,        /* the first operand instead of the result */
  KEY_FOR_LOW,   /* the operand of the sign extension beside it instead of its own */
  EXCHANGE_CASES /* DELETE's and REDUCE's */
} change;

#define OP(name) WB_OP_##name

static const struct {
  const char *name;
  const char *file, *text; /* the line of the kernels that recorded the op */
  wb_opcode code;
  change change;
  wb_opcode become;
} faults[] = {
    {"a spilled order is not counted by its row", "side.c", "add_to_in(k->spill, home, change);",
     OP(STORE), DROP, 0},
    {"a spilled order is not counted by its book", "side.c",
     "add_to_in(k->state, WB_CELL_SPILLED, change);", OP(STORE), DROP, 0},
    {"a spilled order is forgotten until the launch ends", "side.c",
     "assign(k->spilled, add(k->spilled, change));", OP(SET), DROP, 0},
    {"a lookup never goes past the home row", "side.c", "IF (gt(load_in(k->spill, home), 0)) {",
     OP(LT), NEVER, 0},
    {"a duplicate that spilled is not seen", "side.c",
     "gt(add(load_in(k->spill, bids), load_in(k->spill, asks)), 0)", OP(LT), NEVER, 0},
    {"equal prices are not told apart by arrival", "side.c",
     "return bit_or(shl(i64(key), 32), u64(arrival));", OP(ZEXT), KEY_FOR_LOW, 0},
    {"a row's best is not recomputed", "side.c", "store_in(k->row_rank, summary, best);", OP(STORE),
     DROP, 0},
    {"a row's best slot is not recomputed", "side.c", "store_in(k->row_slot, summary, slot_at(",
     OP(STORE), DROP, 0},
    {"a lane reduction the wrong way", "side.c", "val best = reduce_min(ranks);", OP(REDUCE_MIN),
     BECOME, OP(REDUCE_MAX)},
    {"a side's best is not repaired", "side.c", "store_in(k->best_rank, side, best.rank);",
     OP(STORE), DROP, 0},
    {"a side's best slot is not repaired", "side.c", "store_in(k->best_slot, side, best.slot);",
     OP(STORE), DROP, 0},
    {"a new order replaces its row's best, better or not", "side.c",
     "lt(key, load_in(k->row_words, add(mul(summary, 2), 1)))", OP(LT), BECOME, OP(NE)},
    {"a new best order is not the side's best", "side.c", "IF (lt(key, best_key(k, side))) {",
     OP(LT), NEVER, 0},
    {"a slot that was emptied stays used", "side.c", "store_in(k->used, row, bit_and(", OP(STORE),
     DROP, 0},
    {"a reference stays in an empty slot", "side.c", "store_in(k->ref, slot, -1);", OP(STORE), DROP,
     0},
    {"an owner stays in an empty slot", "side.c", "store_in(k->owner, slot, 0);", OP(STORE), DROP,
     0},
    {"an agent's order is not counted", "side.c", "add_to_in(k->agents, m->side, 1);", OP(STORE),
     DROP, 0},
    {"an agent's order that left is still counted", "side.c", "add_to_in(k->agents, side, -1);",
     OP(STORE), DROP, 0},
    {"the best order is evicted", "side.c", "bit_not(load_row_in(k->rank, row))", OP(NOT), BYPASS,
     0},
    {"an order at the worst price evicts", "side.c", "IF (ge(key, key_of(k, worst.rank))) {",
     OP(LE), BECOME, OP(LT)},
    {"an agent may name another's order", "side.c", "IF (ne(load_in(k->owner, slot), m->owner)) {",
     OP(NE), NEVER, 0},
    {"prices of the other side have the wrong sign", "side.c",
     "val limit_against(book *k, val key) { return neg(key); }", OP(SUB), BECOME, OP(ADD)},
    {"at P or better leaves P out", "side.c", "shl(i64(add(key, 1)), 32)", OP(ADD), BECOME,
     OP(SUB)},
    {"trades have minus the price", "side.c",
     "val price_at(book *k, val side, val key) { return choose(ne(side, 0), key, neg(key)); }",
     OP(SELECT), SWAP, 0},
    {"a partial fill leaves the maker whole", "match.c",
     "ELSE { store_in(k->qty, slot, sub(rests, shares)); }", OP(STORE), DROP, 0},
    {"a filled order stays", "match.c", "IF (eq(shares, rests)) {", OP(EQ), NEVER, 0},
    {"the notional falls with every trade", "match.c", "val total = add(sum, value_of_trade);",
     OP(ADD), BECOME, OP(SUB)},
    {"a notional that leaves i64 turns round", "match.c",
     "val turned = lt(bit_and(bit_xor(total, sum), bit_xor(total, value_of_trade)), 0);", OP(LT),
     NEVER, 0},
    {"a trade overwrites the one before it in the ring", "match.c",
     "assign(k->trades_held, add(k->trades_held, 1));", OP(SET), DROP, 0},
    {"self-trades between different owners", "match.c",
     "return both(ne(m->owner, 0), eq(owner, m->owner));", OP(EQ), BECOME, OP(NE)},
    {"a FOK that can just be filled is refused", "match.c",
     "IF (lt(reduce_add(got), i64(m->qty))) {", OP(LT), BECOME, OP(LE)},
    {"a price off the tick is taken", "messages.c",
     "return ugt(turned, load_in(k->state, WB_CELL_TICK_LIMIT));", OP(ULT), NEVER, 0},
    {"SLIDE moves into the other side", "messages.c",
     "val slid = add(touch, load_in(k->state, WB_CELL_TICK));", OP(ADD), BECOME, OP(SUB)},
    {"REDUCE leaves an order of nothing", "messages.c", "IF (gt(left, 0)) {", OP(LT), BECOME,
     OP(LE)},
    {"an AMEND to the same quantity loses its place", "messages.c",
     "IF (both(same_price, le(m->qty, load_in(k->qty, slot)))) {", OP(LE), BECOME, OP(LT)},
    {"the trading state never changes", "messages.c",
     "store_in(k->state, WB_CELL_TRADING_STATE, state);", OP(STORE), DROP, 0},
    {"a new trading state is forgotten until the launch ends", "messages.c",
     "assign(k->trading_state, state);", OP(SET), DROP, 0},
    {"records of a common type are not counted", "match.c",
     "assign(k->counter[counter], add(k->counter[counter], 1));", OP(SET), DROP, 0},
    {"flags and owners are overlooked", "run.c",
     "val special = bit_and(m->kind, (int32_t)not_plain);", OP(AND), DROP, 0},
    {"records are plain though the exchange does not trade", "run.c",
     "IF_LIKELY(eq(bit_or(special, k->trading_state), 0))", OP(OR), BYPASS, 0},
    {"more is executed than rests", "execute.c", "IF_RARE(lt(left, 0)) { not_plain", OP(LT), NEVER,
     0},
    {"an execution overlooks agents", "execute.c",
     "IF_RARE(gt(load_in(k->agents, m->side), 0)) { not_plain", OP(LT), NEVER, 0},
    {"agents behind the executed order are filled", "execute.c",
     "return both(ne(load_row_in(k->owner, row), 0), lt(ranks, *bound));", OP(LT), BECOME, OP(NE)},
    {"displaced shares stay, though counted as withdrawn", "execute.c",
     "return sub(rests, shares);", OP(SUB), BYPASS, 0},
    {"the next arrival is not renumbered", "renumber.c", "assign(k->next_arrival, add(given, 1));",
     OP(SET), DROP, 0},
    {"orders are not renumbered", "renumber.c", "store_row_if_in(k->rank, row,", OP(STORE_ROW_IF),
     DROP, 0},
    {"a wrong switch case", "run.c", "CASE", OP(CASE), EXCHANGE_CASES, 0},
    {"the next arrival is forgotten where launches are cut", "run.c",
     "store_in(k->state, WB_CELL_NEXT_ARRIVAL, k->next_arrival);", OP(STORE), DROP, 0},
};

int32_t fault_count(void) { return (int32_t)(sizeof faults / sizeof faults[0]); }

const char *fault_name(int32_t number) { return faults[number].name; }

/* ---- finding the place ---- */

/* Lines of a kernel's source that contain a text; returns how many were found. */
static int32_t lines_with(const char *file, const char *text, int32_t *lines, int32_t most) {
  char path[1024], line[1024];
  snprintf(path, sizeof path, "%s/kernels/%s", WB_SOURCE_DIR, file);
  FILE *in = fopen(path, "r");
  int32_t count = 0;
  if (in == NULL) return 0;
  for (int32_t number = 1; fgets(line, sizeof line, in) != NULL; number++) {
    if (strstr(line, text) != NULL && count < most) lines[count++] = number;
  }
  fclose(in);
  return count;
}

static bool is_from(const wb_program *program, const wb_op *op, const char *file, int32_t line) {
  if (op->line != line || op->file < 0) return false;
  const char *slash = strrchr(program->files[op->file], '/');
  return strcmp(slash != NULL ? slash + 1 : program->files[op->file], file) == 0;
}

/* ---- changing ---- */

/* An op that nobody reads becomes one that does nothing. */
static void drop(wb_op *op, wb_type type) {
  op->code = WB_OP_CONST;
  op->type = (uint8_t)type;
  op->shape = WB_SHAPE_SCALAR;
  op->flags = 0;
  op->aux = 0;
  op->imm = 0;
  for (int i = 0; i < WB_OPERANDS_MAX; i++) op->operands[i] = -1;
}

static void bypass(wb_program *program, int32_t id) {
  int32_t with = program->ops[id].operands[0];
  for (int32_t i = id + 1; i < program->op_count; i++) {
    for (int o = 0; o < WB_OPERANDS_MAX; o++) {
      if (program->ops[i].operands[o] == id) program->ops[i].operands[o] = with;
    }
  }
}

static void swap(int32_t *a, int32_t *b) {
  int32_t kept = *a;
  *a = *b;
  *b = kept;
}

/* The sign extension of the same line may stand on either side: C leaves the order open. */
static void take_key(wb_program *program, int32_t id) {
  for (int32_t i = id - 3; i <= id + 3; i++) {
    if (i < 0 || i >= program->op_count || program->ops[i].code != WB_OP_SEXT) continue;
    if (program->ops[i].line == program->ops[id].line) {
      program->ops[id].operands[0] = program->ops[i].operands[0];
    }
  }
}

static void change_op(wb_program *program, int32_t id, int32_t number) {
  wb_op *op = &program->ops[id];
  switch (faults[number].change) {
  case DROP: drop(op, WB_TYPE_I32); break;
  case NEVER: drop(op, WB_TYPE_BOOL); break;
  case BECOME: op->code = (uint8_t)faults[number].become; break;
  case SWAP: swap(&op->operands[1], &op->operands[2]); break;
  case BYPASS: bypass(program, id); break;
  case KEY_FOR_LOW: take_key(program, id); break;
  case EXCHANGE_CASES:
    /* the switch is on the record's word that has the type above its owner */
    if (op->imm >> 16 == 3 || op->imm >> 16 == 4) op->imm = (INT64_C(7) << 16) - op->imm;
    break;
  }
}

wb_status fault_plant(void *context, wb_program *program, wb_error *error) {
  enum { LINES = 8 };
  int32_t number = *(const int32_t *)context;
  int32_t lines[LINES], changed = 0;
  const char *file = faults[number].file;
  int32_t count = lines_with(file, faults[number].text, lines, LINES);
  int32_t ops = program->op_count;
  for (int32_t i = 0; i < ops; i++) {
    for (int32_t l = 0; l < count; l++) {
      if (program->ops[i].code != faults[number].code) continue;
      if (!is_from(program, &program->ops[i], file, lines[l])) continue;
      change_op(program, i, number);
      changed++;
    }
  }
  if (changed == 0) {
    return WB_FAIL(error, WB_ERROR_INTERNAL, "fault %d: no such op at \"%s\" of %s (%d lines)",
                   number, faults[number].text, file, count);
  }
  return wb_program_verify(program, error);
}

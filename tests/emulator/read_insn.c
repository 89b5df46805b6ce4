/* Instructions that compute, and operands. See read.h. */
#include "tests/emulator/alu.h"
#include "tests/emulator/read.h"

#include <stdio.h>
#include <string.h>

static wb_status no_memory(const reader *r) {
  return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
}

/* ---- operands ---- */

uint32_t add_constant(reader *r, uint64_t bits, unsigned bytes, bool dynamic) {
  ptx_kernel *k = r->kernel;
  for (int32_t j = 0; j < k->constant_count; j++) {
    const ptx_constant *c = &k->constants[j];
    if (c->bits == bits && c->bytes == bytes && c->dynamic == dynamic) return c->slot;
  }
  if (!grow((void **)&k->constants, k->constant_count, &k->constant_capacity,
            sizeof *k->constants)) {
    return 0;
  }
  const uint32_t slot = add_slot(r, bytes);
  k->constants[k->constant_count++] = (ptx_constant){slot, (uint8_t)bytes, dynamic, bits};
  return slot;
}

static wb_status special_slot(reader *r, text name, uint32_t *slot) {
  static const char *const names[] = {[PTX_TID_X] = "%tid.x",
                                      [PTX_TID_Y] = "%tid.y",
                                      [PTX_TID_Z] = "%tid.z",
                                      [PTX_NTID_X] = "%ntid.x",
                                      [PTX_NTID_Y] = "%ntid.y",
                                      [PTX_NTID_Z] = "%ntid.z",
                                      [PTX_CTAID_X] = "%ctaid.x",
                                      [PTX_CTAID_Y] = "%ctaid.y",
                                      [PTX_CTAID_Z] = "%ctaid.z",
                                      [PTX_NCTAID_X] = "%nctaid.x",
                                      [PTX_NCTAID_Y] = "%nctaid.y",
                                      [PTX_NCTAID_Z] = "%nctaid.z",
                                      [PTX_LANEID] = "%laneid",
                                      [PTX_WARPID] = "%warpid",
                                      [PTX_NWARPID] = "%nwarpid",
                                      [PTX_SMID] = "%smid",
                                      [PTX_NSMID] = "%nsmid",
                                      [PTX_LANEMASK_EQ] = "%lanemask_eq",
                                      [PTX_LANEMASK_LE] = "%lanemask_le",
                                      [PTX_LANEMASK_LT] = "%lanemask_lt",
                                      [PTX_LANEMASK_GE] = "%lanemask_ge",
                                      [PTX_LANEMASK_GT] = "%lanemask_gt",
                                      [PTX_DYNAMIC_SMEM] = "%dynamic_smem_size",
                                      [PTX_TOTAL_SMEM] = "%total_smem_size"};
  for (int k = 0; k < PTX_SPECIAL_COUNT; k++) {
    if (!text_is(name, names[k])) continue;
    uint32_t *known = &r->kernel->specials[k];
    if (!*known) *known = add_slot(r, 4);
    *slot = *known;
    return WB_OK;
  }
  return reader_fail(r, "unknown name %.*s", (int)name.length, name.at);
}

static bool type_is_float(ptx_type type) { return type == PTX_F32 || type == PTX_F64; }

/* a literal as bits of a type */
static wb_status literal_bits(const reader *r, const operand *o, ptx_type type, uint64_t *bits) {
  const unsigned bytes = ptx_type_bytes(type);
  *bits = (uint64_t)o->number;
  if (type == PTX_PRED) {
    *bits = o->number ? UINT32_MAX : 0;
  } else if (o->kind == OPERAND_DOUBLE && bytes == 4) {
    *bits = bits_of((float)double_of(*bits));
  } else if (o->kind == OPERAND_FLOAT && bytes == 8) {
    *bits = bits_of_double((double)float_of((uint32_t)*bits));
  } else if (o->kind == OPERAND_NUMBER && type_is_float(type)) {
    return reader_fail(r, "an integer where a float is expected");
  } else if (bytes < 8) {
    *bits &= (UINT64_C(1) << 8 * bytes) - 1;
  }
  return WB_OK;
}

/* a variable's address, as a value */
static wb_status address_slot(reader *r, const symbol *s, const operand *o, ptx_type type,
                              uint32_t *slot) {
  const unsigned bytes = ptx_type_bytes(type);
  if (bytes < 4) return reader_fail(r, "an address as a small integer");
  *slot = add_constant(r, (uint64_t)(s->address + o->number), bytes, s->dynamic);
  return *slot ? WB_OK : no_memory(r);
}

wb_status read_source(reader *r, const operand *o, ptx_type type, uint32_t *slot) {
  const unsigned bytes = ptx_type_bytes(type);
  if (o->kind == OPERAND_NUMBER || o->kind == OPERAND_FLOAT || o->kind == OPERAND_DOUBLE) {
    uint64_t bits;
    WB_TRY(literal_bits(r, o, type, &bits));
    *slot = add_constant(r, bits, bytes == 0 ? 0 : bytes == 8 ? 8 : 4, false);
    return *slot ? WB_OK : no_memory(r);
  }
  if (o->kind != OPERAND_WORD) return reader_fail(r, "an operand of a kind that has no value");
  const symbol *s = NULL;
  WB_TRY(find_symbol(r, o->word, &s, slot));
  if (!s) return special_slot(r, o->word, slot);
  if (s->kind == SYMBOL_MEMORY) return address_slot(r, s, o, type, slot);
  const unsigned held = ptx_type_bytes(s->type);
  if (s->kind != SYMBOL_REGISTER || o->number || (held == 8) != (bytes == 8) ||
      (held == 0) != (bytes == 0)) {
    return reader_fail(r, "%.*s where a value of %u bytes is expected", (int)o->word.length,
                       o->word.at, bytes);
  }
  return WB_OK;
}

wb_status read_target(reader *r, const operand *o, ptx_type type, uint32_t *slot,
                      ptx_type *actual) {
  *slot = PTX_SINK;
  if (actual) *actual = type;
  if (o->kind == OPERAND_SINK) return WB_OK;
  const symbol *s = NULL;
  if (o->kind == OPERAND_WORD) WB_TRY(find_symbol(r, o->word, &s, slot));
  if (!s || s->kind != SYMBOL_REGISTER || o->number) {
    return reader_fail(r, "%.*s is no register", (int)o->word.length, o->word.at);
  }
  if (actual) {
    *actual = s->type; /* the caller looks at it */
    return WB_OK;
  }
  const unsigned bytes = ptx_type_bytes(type), held = ptx_type_bytes(s->type);
  if ((held == 8) != (bytes == 8) || (held == 0) != (bytes == 0)) {
    return reader_fail(r, "%.*s where a register of %u bytes is expected", (int)o->word.length,
                       o->word.at, bytes);
  }
  return WB_OK;
}

/* ---- moves between a register and its parts ---- */

static void pack_lane(const ptx_insn *insn, uint8_t *registers, unsigned lane) {
  uint64_t value = 0;
  for (unsigned k = 0; k < insn->vector; k++) {
    value |= (uint64_t)GET_u32(registers + insn->from[k], lane) << 8 * insn->bytes * k;
  }
  if (insn->result_bytes == 8) {
    PUT_u64(registers + insn->to[0], lane, value);
  } else {
    PUT_u32(registers + insn->to[0], lane, value);
  }
}
static void pack_warp(const ptx_insn *insn, uint8_t *registers) {
  for (unsigned lane = 0; lane < PTX_LANES; lane++) pack_lane(insn, registers, lane);
}

static void unpack_lane(const ptx_insn *insn, uint8_t *registers, unsigned lane) {
  const uint8_t *from = registers + insn->from[0];
  const uint64_t value =
      insn->bytes * insn->vector == 8 ? GET_u64(from, lane) : GET_u32(from, lane);
  const uint64_t ones = (UINT64_C(1) << 8 * insn->bytes) - 1;
  for (unsigned k = 0; k < insn->vector; k++) {
    PUT_u32(registers + insn->to[k], lane, value >> 8 * insn->bytes * k & ones);
  }
}
static void unpack_warp(const ptx_insn *insn, uint8_t *registers) {
  for (unsigned lane = 0; lane < PTX_LANES; lane++) unpack_lane(insn, registers, lane);
}

static wb_status read_parts_move(reader *r, const statement *s, ptx_type type) {
  const bool packs = s->operands[1].kind == OPERAND_VECTOR;
  const operand *vector = &s->operands[packs ? 1 : 0], *whole = &s->operands[packs ? 0 : 1];
  const unsigned bytes = ptx_type_bytes(type);
  if ((vector->count != 2 && vector->count != 4) || bytes / (unsigned)vector->count < 1) {
    return reader_fail(r, "a move of %d parts", vector->count);
  }
  ptx_insn insn = {.kind = PTX_DO_ALU,
                   .vector = (uint8_t)vector->count,
                   .bytes = (uint8_t)(bytes / (unsigned)vector->count),
                   .result_bytes = packs && bytes == 8 ? 8 : 4,
                   .run_warp = packs ? pack_warp : unpack_warp,
                   .run_lane = packs ? pack_lane : unpack_lane};
  const ptx_type part = insn.bytes == 4 ? PTX_B32 : insn.bytes == 2 ? PTX_B16 : PTX_B8;
  for (int32_t k = 0; k < vector->count; k++) {
    const operand *o = &s->parts[vector->first + k];
    if (packs) {
      WB_TRY(read_source(r, o, part, &insn.from[k]));
    } else {
      WB_TRY(read_target(r, o, part, &insn.to[k], NULL));
    }
  }
  if (packs) {
    WB_TRY(read_target(r, whole, type, &insn.to[0], NULL));
  } else {
    WB_TRY(read_source(r, whole, type, &insn.from[0]));
  }
  ptx_cost(&insn, bytes == 8 ? "mov.b64" : "mov.b32");
  ptx_insn *added = add_insn(r, s);
  if (!added) return no_memory(r);
  insn.line = added->line, insn.join = insn.target = -1;
  *added = insn;
  return WB_OK;
}

/* ---- comparisons ---- */

static bool next_mark(const char **at, char *part, size_t bytes) {
  if (**at == 0) return false;
  const size_t length = strcspn(*at, ".");
  snprintf(part, bytes, "%.*s", (int)length, *at);
  *at += length + ((*at)[length] == '.');
  return true;
}

/* setp.CMP[.BOOL][.ftz].TYPE p[|q], a, b[, c] */
static wb_status read_compare(reader *r, const statement *s, const char *mnemonic) {
  char compare[16], part[16], key[40];
  const char *at = mnemonic + 5;
  ptx_insn insn = {.kind = PTX_DO_BITS};
  bool known = next_mark(&at, compare, sizeof compare);
  ptx_type type = PTX_NONE;
  while (known && next_mark(&at, part, sizeof part)) {
    if (strcmp(part, "and") == 0)
      insn.mode = PTX_JOIN_AND;
    else if (strcmp(part, "or") == 0)
      insn.mode = PTX_JOIN_OR;
    else if (strcmp(part, "xor") == 0)
      insn.mode = PTX_JOIN_XOR;
    else if (strcmp(part, "ftz") == 0)
      insn.flags |= PTX_FLAG_FLUSH;
    else
      type = ptx_type_of(part, strlen(part));
  }
  snprintf(key, sizeof key, "%s.%s", compare, part);
  const ptx_alu *row = type == PTX_NONE ? NULL : ptx_alu_find(key, strlen(key));
  if (!row) return reader_fail(r, "unknown instruction %s", mnemonic);
  const int second = s->count > 1 && s->operands[1].joined;
  const int expected = 3 + second + (insn.mode != PTX_JOIN_NONE);
  if (s->count != expected) return reader_fail(r, "%s with %d operands", mnemonic, s->count);
  const operand *o = s->operands;
  insn.to[1] = PTX_SINK;
  WB_TRY(read_target(r, o++, PTX_PRED, &insn.to[0], NULL));
  if (second) WB_TRY(read_target(r, o++, PTX_PRED, &insn.to[1], NULL));
  WB_TRY(read_source(r, o++, type, &insn.from[0]));
  WB_TRY(read_source(r, o++, type, &insn.from[1]));
  if (insn.mode != PTX_JOIN_NONE) {
    WB_TRY(read_source(r, o, PTX_PRED, &insn.from[2]));
    insn.nots = o->negated ? 4 : 0;
  }
  insn.run_bits = row->bits;
  ptx_cost(&insn, mnemonic);
  ptx_insn *added = add_insn(r, s);
  if (!added) return no_memory(r);
  insn.line = added->line, insn.join = insn.target = -1;
  *added = insn;
  return WB_OK;
}

/* set.CMP[.ftz].RESULT.TYPE d, a, b: all ones or zero, or 1.0 or 0 */
static void set_lane(const ptx_insn *insn, uint8_t *registers, unsigned lane) {
  const bool holds = insn->run_bits(insn, registers, lane, lane + 1) >> lane & 1;
  PUT_u32(registers + insn->to[0], lane, holds ? (insn->type == PTX_F32 ? 0x3f800000 : ~0u) : 0);
}
static void set_warp(const ptx_insn *insn, uint8_t *registers) {
  for (unsigned lane = 0; lane < PTX_LANES; lane++) set_lane(insn, registers, lane);
}

static wb_status read_set(reader *r, const statement *s, const char *mnemonic) {
  char compare[16] = "", result[16] = "", type[16] = "", key[40];
  const char *at = mnemonic + 4;
  ptx_insn insn = {
      .kind = PTX_DO_ALU, .result_bytes = 4, .run_warp = set_warp, .run_lane = set_lane};
  next_mark(&at, compare, sizeof compare);
  next_mark(&at, result, sizeof result);
  if (strcmp(result, "ftz") == 0) {
    insn.flags |= PTX_FLAG_FLUSH;
    next_mark(&at, result, sizeof result);
  }
  next_mark(&at, type, sizeof type);
  snprintf(key, sizeof key, "%s.%s", compare, type);
  const ptx_alu *row = ptx_alu_find(key, strlen(key));
  const ptx_type source = ptx_type_of(type, strlen(type));
  insn.type = (uint8_t)ptx_type_of(result, strlen(result));
  const bool known = insn.type == PTX_U32 || insn.type == PTX_S32 || insn.type == PTX_F32;
  if (!row || !row->bits || !known || *at)
    return reader_fail(r, "unknown instruction %s", mnemonic);
  if (s->count != 3) return reader_fail(r, "%s with %d operands", mnemonic, s->count);
  insn.run_bits = row->bits;
  WB_TRY(read_target(r, &s->operands[0], PTX_U32, &insn.to[0], NULL));
  WB_TRY(read_source(r, &s->operands[1], source, &insn.from[0]));
  WB_TRY(read_source(r, &s->operands[2], source, &insn.from[1]));
  ptx_cost(&insn, mnemonic);
  ptx_insn *added = add_insn(r, s);
  if (!added) return no_memory(r);
  insn.line = added->line, insn.join = insn.target = -1;
  *added = insn;
  return WB_OK;
}

/* ---- everything else that has a row ---- */

/* the row of a mnemonic, from the tables or made for it; the instruction holds what is special */
static bool find_row(ptx_insn *insn, const char *mnemonic, ptx_alu *row) {
  const ptx_alu *known = ptx_alu_find(mnemonic, strlen(mnemonic));
  if (known) {
    *row = *known;
    /* comparisons are rows too, but no instructions by themselves */
    return !(known >= ptx_alu_compare && known < ptx_alu_compare + ptx_alu_compare_count);
  }
  return ptx_alu_convert(insn, mnemonic, row) || ptx_alu_rounded(insn, mnemonic, row);
}

/* conversions look at the widths of both registers */
static wb_status convert_widths(reader *r, const statement *s, ptx_insn *insn, ptx_type *source) {
  ptx_type actual = PTX_B32;
  uint32_t slot;
  if (s->count != 2) return reader_fail(r, "a conversion with %d operands", s->count);
  WB_TRY(read_target(r, &s->operands[0], PTX_NONE, &slot, &actual));
  insn->bytes = (uint8_t)(ptx_type_bytes(actual) < 2 ? 2 : ptx_type_bytes(actual));
  const symbol *found = NULL;
  if (s->operands[1].kind == OPERAND_WORD) {
    WB_TRY(find_symbol(r, s->operands[1].word, &found, &slot));
  }
  *source = found && found->kind == SYMBOL_REGISTER ? found->type : PTX_NONE;
  if (*source != PTX_NONE) insn->vector = ptx_type_bytes(*source) == 8 ? 8 : 4;
  return WB_OK;
}

static wb_status read_row(reader *r, const statement *s, const char *mnemonic) {
  ptx_insn insn = {.kind = PTX_DO_ALU};
  ptx_alu row;
  ptx_type register_type = PTX_NONE;
  const bool converts = strncmp(mnemonic, "cvt.", 4) == 0;
  if (converts) WB_TRY(convert_widths(r, s, &insn, &register_type));
  if (!find_row(&insn, mnemonic, &row)) return reader_fail(r, "unknown instruction %s", mnemonic);
  if (s->count != row.arity + 1) {
    return reader_fail(r, "%s with %d operands instead of %d", mnemonic, s->count, row.arity + 1);
  }
  if (converts) {
    /* a value may come from a wider register and go to one */
    if (register_type != PTX_NONE) row.source_types[0] = (uint8_t)register_type;
    if (insn.bytes == 8) row.type = PTX_B64, row.result_bytes = 8;
  }
  insn.result_bytes = row.result_bytes;
  insn.run_warp = row.warp, insn.run_lane = row.lane, insn.run_bits = row.bits;
  if (row.bits) insn.kind = PTX_DO_BITS, insn.to[1] = PTX_SINK;
  WB_TRY(read_target(r, &s->operands[0], (ptx_type)row.type, &insn.to[0], NULL));
  for (int k = 0; k < row.arity; k++) {
    const operand *o = &s->operands[k + 1];
    if (o->negated) {
      if (row.source_types[k] != PTX_PRED || !row.bits) {
        return reader_fail(r, "a negated operand of %s", mnemonic);
      }
      insn.nots |= (uint8_t)(1 << k);
    }
    WB_TRY(read_source(r, o, (ptx_type)row.source_types[k], &insn.from[k]));
  }
  ptx_cost(&insn, mnemonic);
  ptx_insn *added = add_insn(r, s);
  if (!added) return no_memory(r);
  insn.line = added->line, insn.join = insn.target = -1;
  *added = insn;
  return WB_OK;
}

bool take_mark(char *mnemonic, const char *mark) {
  const size_t length = strlen(mark);
  for (char *at = strstr(mnemonic, mark); at; at = strstr(at + 1, mark)) {
    if (at[length] == 0 || at[length] == '.') {
      memmove(at, at + length, strlen(at + length) + 1);
      return true;
    }
  }
  return false;
}

wb_status read_insn(reader *r, statement *s) {
  char mnemonic[96];
  if (s->mnemonic.length >= sizeof mnemonic) return reader_fail(r, "an overlong instruction name");
  memcpy(mnemonic, s->mnemonic.at, s->mnemonic.length);
  mnemonic[s->mnemonic.length] = 0;
  bool known = false;
  WB_TRY(read_memory_insn(r, s, &known));
  if (known) return WB_OK;
  if (strncmp(mnemonic, "setp.", 5) == 0) return read_compare(r, s, mnemonic);
  if (strncmp(mnemonic, "set.", 4) == 0) return read_set(r, s, mnemonic);
  if (strncmp(mnemonic, "mov.", 4) == 0 && s->count == 2 &&
      (s->operands[0].kind == OPERAND_VECTOR || s->operands[1].kind == OPERAND_VECTOR)) {
    return read_parts_move(r, s, ptx_type_of(mnemonic + 4, strlen(mnemonic + 4)));
  }
  return read_row(r, s, mnemonic);
}

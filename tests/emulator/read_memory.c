/* Instructions that touch memory, meet other lanes or change the flow. See read.h.
 *
 * A mnemonic is taken apart: marks that are only hints (cache levels, scopes, prefetch sizes) are
 * dropped, marks with a meaning are noted, and what is left must be exactly one known form. */
#include "tests/emulator/read.h"

#include <stdio.h>
#include <string.h>

typedef struct form {
  char rest[96]; /* of the mnemonic, marks taken out */
  ptx_insn insn;
} form;

static wb_status no_memory(const reader *r) {
  return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
}

static wb_status unknown(const reader *r, const statement *s) {
  return reader_fail(r, "unknown instruction %.*s", (int)s->mnemonic.length, s->mnemonic.at);
}

static wb_status finish(reader *r, const statement *s, const ptx_insn *insn) {
  ptx_insn *added = add_insn(r, s);
  if (!added) return no_memory(r);
  const int32_t line = added->line;
  *added = *insn;
  added->line = line;
  added->join = -1;
  char name[96];
  snprintf(name, sizeof name, "%.*s", (int)s->mnemonic.length, s->mnemonic.at);
  ptx_cost(added, name);
  return WB_OK;
}

static wb_status expect_operands(const reader *r, const statement *s, int least, int most) {
  if (s->count >= least && s->count <= most) return WB_OK;
  return reader_fail(r, "%.*s with %d operands", (int)s->mnemonic.length, s->mnemonic.at, s->count);
}

/* ---- addresses ---- */

static const struct {
  const char *mark;
  ptx_space space;
} space_marks[] = {{".global", PTX_GLOBAL},      {".shared", PTX_SHARED},
                   {".shared::cta", PTX_SHARED}, {".local", PTX_LOCAL},
                   {".const", PTX_CONST},        {".param", PTX_PARAM},
                   {".param::entry", PTX_PARAM}, {".param::func", PTX_PARAM}};

static void take_space(form *f) {
  for (size_t k = 0; k < sizeof space_marks / sizeof *space_marks; k++) {
    if (take_mark(f->rest, space_marks[k].mark)) {
      f->insn.space = (uint8_t)space_marks[k].space;
      return;
    }
  }
}

/* base register to from[0] (0: none), the rest to offset */
static wb_status take_address(reader *r, const operand *o, ptx_insn *insn) {
  if (o->kind != OPERAND_ADDRESS) return reader_fail(r, "expected an address in brackets");
  insn->offset = o->number;
  if (!o->word.length) return WB_OK;
  const symbol *s = NULL;
  uint32_t slot = 0;
  WB_TRY(find_symbol(r, o->word, &s, &slot));
  if (!s) return reader_fail(r, "unknown name %.*s", (int)o->word.length, o->word.at);
  if (s->kind == SYMBOL_REGISTER) {
    const unsigned bytes = ptx_type_bytes(s->type);
    if (bytes < 4) return reader_fail(r, "an address in a register of %u bytes", bytes);
    insn->from[0] = slot;
    if (bytes == 8) insn->flags |= PTX_FLAG_ADDRESS64;
    return WB_OK;
  }
  /* parameters of calls are local variables here */
  if (insn->space == PTX_PARAM && s->space == PTX_LOCAL) insn->space = PTX_LOCAL;
  if (insn->space != s->space) {
    if (insn->space != PTX_GENERIC || (s->space != PTX_GLOBAL && s->space != PTX_CONST)) {
      return reader_fail(r, "%.*s lies in another memory", (int)o->word.length, o->word.at);
    }
  }
  insn->offset += s->address;
  if (s->dynamic) insn->flags |= PTX_FLAG_DYNAMIC;
  return WB_OK;
}

/* hints and scopes, which change no result here */
static void drop_hints(char *rest) {
  static const char *const hints[] = {".L1::evict_normal",
                                      ".L1::evict_unchanged",
                                      ".L1::evict_first",
                                      ".L1::evict_last",
                                      ".L1::no_allocate",
                                      ".L2::evict_normal",
                                      ".L2::evict_first",
                                      ".L2::evict_last",
                                      ".L2::cache_hint",
                                      ".L2::64B",
                                      ".L2::128B",
                                      ".L2::256B",
                                      ".ca",
                                      ".cg",
                                      ".cs",
                                      ".lu",
                                      ".cv",
                                      ".wb",
                                      ".wt",
                                      ".cta",
                                      ".cluster",
                                      ".gpu",
                                      ".sys",
                                      ".weak"};
  for (size_t k = 0; k < sizeof hints / sizeof *hints; k++) take_mark(rest, hints[k]);
}

static void take_strength(form *f) {
  static const char *const marks[] = {".volatile", ".relaxed", ".acquire",
                                      ".release",  ".acq_rel", ".mmio"};
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
    if (take_mark(f->rest, marks[k])) f->insn.flags |= PTX_FLAG_STRONG;
  }
}

/* ---- ld, st ---- */

static bool is_signed(ptx_type type) {
  return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

static wb_status take_element(reader *r, const statement *s, form *f) {
  f->insn.vector = 1;
  if (take_mark(f->rest, ".v2")) f->insn.vector = 2;
  if (take_mark(f->rest, ".v4")) f->insn.vector = 4;
  const char *dot = strchr(f->rest, '.');
  const ptx_type type = dot ? ptx_type_of(dot + 1, strlen(dot + 1)) : PTX_NONE;
  if (ptx_type_bytes(type) == 0) return unknown(r, s);
  f->insn.type = (uint8_t)type;
  f->insn.bytes = (uint8_t)ptx_type_bytes(type);
  if (f->insn.bytes * f->insn.vector > 16) return unknown(r, s);
  if (is_signed(type)) f->insn.flags |= PTX_FLAG_SIGNED;
  return WB_OK;
}

/* the registers of a load or store: one, or as many as the vector has */
static wb_status take_elements(reader *r, const statement *s, const operand *o, form *f,
                               bool load) {
  ptx_insn *insn = &f->insn;
  const operand *parts = o->kind == OPERAND_VECTOR ? &s->parts[o->first] : o;
  if ((o->kind == OPERAND_VECTOR ? o->count : 1) != insn->vector) {
    return reader_fail(r, "a vector of %d registers instead of %d", o->count, insn->vector);
  }
  unsigned widths = 0; /* one bit for each width of a lane's element in registers */
  for (int k = 0; k < insn->vector; k++) {
    if (!load) {
      /* what is stored may lie in a wider register */
      const symbol *found = NULL;
      uint32_t slot;
      ptx_type type = (ptx_type)insn->type;
      if (parts[k].kind == OPERAND_WORD) WB_TRY(find_symbol(r, parts[k].word, &found, &slot));
      if (found && found->kind == SYMBOL_REGISTER && ptx_type_bytes(found->type) > insn->bytes) {
        type = found->type;
      }
      WB_TRY(read_source(r, &parts[k], type, &insn->from[k + 1]));
      widths |= ptx_type_bytes(type) == 8 ? 8 : 4;
      continue;
    }
    ptx_type actual = PTX_NONE;
    WB_TRY(read_target(r, &parts[k], (ptx_type)insn->type, &insn->to[k], &actual));
    const unsigned held = ptx_type_bytes(actual);
    if (held < insn->bytes && !(held == 0 && actual != PTX_PRED)) {
      return reader_fail(r, "a load of %u bytes into a smaller register", insn->bytes);
    }
    if (parts[k].kind == OPERAND_SINK) continue;
    widths |= held == 8 ? 8 : 4;
    insn->source_type = (uint8_t)actual;
  }
  if (widths == (8 | 4)) return reader_fail(r, "a vector of registers of different widths");
  insn->result_bytes = widths == 8 ? 8 : 4;
  return WB_OK;
}

static wb_status read_load(reader *r, const statement *s, form *f) {
  if (take_mark(f->rest, ".nc")) f->insn.flags |= PTX_FLAG_NONCOHERENT;
  drop_hints(f->rest);
  take_strength(f);
  take_space(f);
  WB_TRY(take_element(r, s, f));
  f->insn.kind = PTX_DO_LOAD;
  WB_TRY(expect_operands(r, s, 2, 2));
  WB_TRY(take_elements(r, s, &s->operands[0], f, true));
  WB_TRY(take_address(r, &s->operands[1], &f->insn));
  return finish(r, s, &f->insn);
}

static wb_status read_store(reader *r, const statement *s, form *f) {
  drop_hints(f->rest);
  take_strength(f);
  take_space(f);
  WB_TRY(take_element(r, s, f));
  f->insn.kind = PTX_DO_STORE;
  WB_TRY(expect_operands(r, s, 2, 2));
  WB_TRY(take_address(r, &s->operands[0], &f->insn));
  WB_TRY(take_elements(r, s, &s->operands[1], f, false));
  return finish(r, s, &f->insn);
}

/* prefetch[.global|.local].L1|L2[::eviction priority] [a]; prefetchu.L1 [a] */
static wb_status read_prefetch(reader *r, const statement *s, form *f) {
  static const char *const forms[] = {"prefetch.global.L1",
                                      "prefetch.global.L2",
                                      "prefetch.global.L2::evict_last",
                                      "prefetch.global.L2::evict_normal",
                                      "prefetch.local.L1",
                                      "prefetch.local.L2",
                                      "prefetch.L1",
                                      "prefetch.L2",
                                      "prefetchu.L1"};
  size_t k = 0;
  while (k < sizeof forms / sizeof *forms && strcmp(f->rest, forms[k]) != 0) k++;
  if (k == sizeof forms / sizeof *forms) return unknown(r, s);
  take_space(f);
  f->insn.kind = PTX_DO_PREFETCH;
  WB_TRY(expect_operands(r, s, 1, 1));
  WB_TRY(take_address(r, &s->operands[0], &f->insn));
  return finish(r, s, &f->insn);
}

/* ---- atom, red ---- */

typedef struct named_mode {
  const char *mark;
  ptx_mode mode;
} named_mode;

static bool take_mode(form *f, const named_mode *modes, size_t count) {
  for (size_t k = 0; k < count; k++) {
    if (take_mark(f->rest, modes[k].mark)) {
      f->insn.mode = (uint8_t)modes[k].mode;
      return true;
    }
  }
  return false;
}
#define TAKE_MODE(f, modes) take_mode(f, modes, sizeof(modes) / sizeof *(modes))

static wb_status read_atomic(reader *r, const statement *s, form *f) {
  static const named_mode modes[] = {
      {".add", PTX_ADD},       {".min", PTX_MIN},    {".max", PTX_MAX}, {".and", PTX_AND},
      {".or", PTX_OR},         {".xor", PTX_XOR},    {".inc", PTX_INC}, {".dec", PTX_DEC},
      {".exch", PTX_EXCHANGE}, {".cas", PTX_SWAP_IF}};
  const bool gives = strncmp(f->rest, "atom", 4) == 0;
  drop_hints(f->rest);
  take_strength(f);
  take_space(f);
  if (!TAKE_MODE(f, modes)) return unknown(r, s);
  WB_TRY(take_element(r, s, f));
  ptx_insn *insn = &f->insn;
  const ptx_type type = (ptx_type)insn->type;
  const bool is_float = type == PTX_F32 || type == PTX_F64;
  const bool bits = type == PTX_B32 || type == PTX_B64;
  const bool fits = insn->mode == PTX_SWAP_IF || insn->mode == PTX_EXCHANGE ||
                            insn->mode == PTX_AND || insn->mode == PTX_OR || insn->mode == PTX_XOR
                        ? bits
                    : insn->mode == PTX_ADD ? !bits
                                            : !bits && !is_float;
  if (!fits || insn->vector != 1 || insn->bytes < 4) return unknown(r, s);
  insn->kind = PTX_DO_ATOMIC;
  insn->flags |= PTX_FLAG_STRONG;
  if (!gives) insn->flags |= PTX_FLAG_NO_RESULT;
  const int sources = insn->mode == PTX_SWAP_IF ? 2 : 1;
  WB_TRY(expect_operands(r, s, gives + 1 + sources, gives + 1 + sources));
  const operand *o = s->operands;
  insn->result_bytes = insn->bytes;
  insn->to[0] = PTX_SINK;
  if (gives) WB_TRY(read_target(r, o++, type, &insn->to[0], NULL));
  WB_TRY(take_address(r, o++, insn));
  for (int k = 0; k < sources; k++) WB_TRY(read_source(r, o++, type, &insn->from[k + 1]));
  return finish(r, s, insn);
}

/* ---- cp.async ---- */

static wb_status read_copy(reader *r, const statement *s, form *f) {
  ptx_insn *insn = &f->insn;
  if (strcmp(f->rest, "cp.async.commit_group") == 0) {
    insn->kind = PTX_DO_COPY_COMMIT;
    return finish(r, s, insn);
  }
  if (strcmp(f->rest, "cp.async.wait_all") == 0 || strcmp(f->rest, "cp.async.wait_group") == 0) {
    insn->kind = PTX_DO_COPY_WAIT;
    if (strcmp(f->rest, "cp.async.wait_all") == 0) {
      insn->flags |= PTX_FLAG_WAIT_ALL;
    } else {
      WB_TRY(expect_operands(r, s, 1, 1));
      insn->offset = s->operands[0].number;
    }
    return finish(r, s, insn);
  }
  drop_hints(f->rest);
  if (strcmp(f->rest, "cp.async.shared.global") != 0 &&
      strcmp(f->rest, "cp.async.shared::cta.global") != 0) {
    return unknown(r, s);
  }
  WB_TRY(expect_operands(r, s, 3, 4));
  insn->kind = PTX_DO_COPY;
  const int64_t bytes = s->operands[2].number;
  if (s->operands[2].kind != OPERAND_NUMBER || (bytes != 4 && bytes != 8 && bytes != 16)) {
    return reader_fail(r, "cp.async of %lld bytes", (long long)bytes);
  }
  ptx_insn source = {.space = PTX_GLOBAL};
  insn->space = PTX_SHARED;
  WB_TRY(take_address(r, &s->operands[0], insn));
  WB_TRY(take_address(r, &s->operands[1], &source));
  /* the source's base and offset go where stores have their values and branches their target */
  insn->bytes = (uint8_t)bytes;
  insn->from[1] = source.from[0];
  insn->target = (int32_t)source.offset;
  if (source.offset != insn->target || (source.from[0] && !(source.flags & PTX_FLAG_ADDRESS64))) {
    return reader_fail(r, "cp.async from an address that is not a 64-bit register");
  }
  if (s->count == 4) {
    WB_TRY(read_source(r, &s->operands[3], PTX_U32, &insn->from[2]));
  }
  return finish(r, s, insn);
}

/* ---- lanes that meet ---- */

/* results d[|p] to to[0], to[1]; gives how many operands they are */
static wb_status take_results(reader *r, const statement *s, ptx_type type, ptx_insn *insn,
                              int *taken) {
  insn->to[1] = PTX_SINK;
  WB_TRY(expect_operands(r, s, 2, OPERANDS));
  WB_TRY(read_target(r, &s->operands[0], type, &insn->to[0], NULL));
  *taken = 1;
  if (s->operands[1].joined) {
    WB_TRY(read_target(r, &s->operands[1], PTX_PRED, &insn->to[1], NULL));
    *taken = 2;
  }
  insn->result_bytes = type == PTX_PRED ? 0 : ptx_type_bytes(type) == 8 ? 8 : 4;
  return WB_OK;
}

static wb_status read_shuffle(reader *r, const statement *s, form *f) {
  static const named_mode modes[] = {
      {".up", PTX_UP}, {".down", PTX_DOWN}, {".bfly", PTX_BUTTERFLY}, {".idx", PTX_INDEX}};
  ptx_insn *insn = &f->insn;
  if (!TAKE_MODE(f, modes) || strcmp(f->rest, "shfl.sync.b32") != 0) return unknown(r, s);
  insn->kind = PTX_DO_SHUFFLE;
  int taken = 0;
  WB_TRY(take_results(r, s, PTX_B32, insn, &taken));
  WB_TRY(expect_operands(r, s, taken + 4, taken + 4));
  for (int k = 0; k < 4; k++) {
    WB_TRY(read_source(r, &s->operands[taken + k], PTX_B32, &insn->from[k]));
  }
  return finish(r, s, insn);
}

static wb_status read_vote(reader *r, const statement *s, form *f) {
  static const named_mode modes[] = {
      {".all", PTX_ALL}, {".any", PTX_ANY}, {".uni", PTX_UNI}, {".ballot", PTX_BALLOT}};
  ptx_insn *insn = &f->insn;
  if (!TAKE_MODE(f, modes)) return unknown(r, s);
  const bool ballot = insn->mode == PTX_BALLOT;
  if (strcmp(f->rest, ballot ? "vote.sync.b32" : "vote.sync.pred") != 0) return unknown(r, s);
  insn->kind = PTX_DO_VOTE;
  WB_TRY(expect_operands(r, s, 3, 3));
  insn->result_bytes = ballot ? 4 : 0;
  WB_TRY(read_target(r, &s->operands[0], ballot ? PTX_B32 : PTX_PRED, &insn->to[0], NULL));
  WB_TRY(read_source(r, &s->operands[1], PTX_PRED, &insn->from[0]));
  insn->nots = s->operands[1].negated;
  WB_TRY(read_source(r, &s->operands[2], PTX_B32, &insn->from[3]));
  return finish(r, s, insn);
}

static wb_status read_match(reader *r, const statement *s, form *f) {
  static const named_mode modes[] = {{".any", PTX_ANY}, {".all", PTX_ALL}};
  ptx_insn *insn = &f->insn;
  if (!TAKE_MODE(f, modes)) return unknown(r, s);
  const bool wide = strcmp(f->rest, "match.sync.b64") == 0;
  if (!wide && strcmp(f->rest, "match.sync.b32") != 0) return unknown(r, s);
  insn->kind = PTX_DO_MATCH;
  insn->bytes = wide ? 8 : 4;
  int taken = 0;
  WB_TRY(take_results(r, s, PTX_B32, insn, &taken));
  WB_TRY(expect_operands(r, s, taken + 2, taken + 2));
  WB_TRY(read_source(r, &s->operands[taken], wide ? PTX_B64 : PTX_B32, &insn->from[0]));
  WB_TRY(read_source(r, &s->operands[taken + 1], PTX_B32, &insn->from[3]));
  return finish(r, s, insn);
}

static wb_status read_reduce(reader *r, const statement *s, form *f) {
  static const named_mode modes[] = {{".add", PTX_ADD}, {".min", PTX_MIN}, {".max", PTX_MAX},
                                     {".and", PTX_AND}, {".or", PTX_OR},   {".xor", PTX_XOR}};
  ptx_insn *insn = &f->insn;
  if (!TAKE_MODE(f, modes)) return unknown(r, s);
  const bool logic = insn->mode == PTX_AND || insn->mode == PTX_OR || insn->mode == PTX_XOR;
  const bool is_signed_form = strcmp(f->rest, "redux.sync.s32") == 0;
  const bool fits = logic ? strcmp(f->rest, "redux.sync.b32") == 0
                          : is_signed_form || strcmp(f->rest, "redux.sync.u32") == 0;
  if (!fits) return unknown(r, s);
  insn->kind = PTX_DO_REDUCE;
  insn->type = is_signed_form ? PTX_S32 : PTX_U32;
  insn->result_bytes = 4;
  WB_TRY(expect_operands(r, s, 3, 3));
  WB_TRY(read_target(r, &s->operands[0], PTX_B32, &insn->to[0], NULL));
  WB_TRY(read_source(r, &s->operands[1], PTX_B32, &insn->from[0]));
  WB_TRY(read_source(r, &s->operands[2], PTX_B32, &insn->from[3]));
  return finish(r, s, insn);
}

static wb_status read_elect(reader *r, const statement *s, form *f) {
  f->insn.kind = PTX_DO_ELECT;
  int taken = 0;
  WB_TRY(take_results(r, s, PTX_B32, &f->insn, &taken));
  WB_TRY(expect_operands(r, s, taken + 1, taken + 1));
  WB_TRY(read_source(r, &s->operands[taken], PTX_B32, &f->insn.from[3]));
  return finish(r, s, &f->insn);
}

static wb_status read_active(reader *r, const statement *s, form *f) {
  f->insn.kind = PTX_DO_ACTIVE;
  f->insn.result_bytes = 4;
  WB_TRY(expect_operands(r, s, 1, 1));
  WB_TRY(read_target(r, &s->operands[0], PTX_B32, &f->insn.to[0], NULL));
  return finish(r, s, &f->insn);
}

static wb_status read_warp_barrier(reader *r, const statement *s, form *f) {
  f->insn.kind = PTX_DO_WARP_BARRIER;
  WB_TRY(expect_operands(r, s, 1, 1));
  WB_TRY(read_source(r, &s->operands[0], PTX_B32, &f->insn.from[3]));
  return finish(r, s, &f->insn);
}

/* bar.sync, barrier.sync, bar.red: number, [threads], and for .red a predicate */
static wb_status read_barrier(reader *r, const statement *s, form *f) {
  static const named_mode modes[] = {{".popc", PTX_POPC}, {".and", PTX_AND}, {".or", PTX_OR}};
  ptx_insn *insn = &f->insn;
  take_mark(f->rest, ".cta");
  take_mark(f->rest, ".aligned");
  insn->kind = PTX_DO_BARRIER;
  const operand *o = s->operands;
  int left = s->count;
  if (strcmp(f->rest, "bar.sync") == 0 || strcmp(f->rest, "barrier.sync") == 0) {
    insn->mode = PTX_WAIT;
    WB_TRY(expect_operands(r, s, 1, 2));
  } else {
    if (!TAKE_MODE(f, modes)) return unknown(r, s);
    const bool count = insn->mode == PTX_POPC;
    if (strcmp(f->rest, count ? "bar.red.u32" : "bar.red.pred") != 0 &&
        strcmp(f->rest, count ? "barrier.red.u32" : "barrier.red.pred") != 0) {
      return unknown(r, s);
    }
    insn->result_bytes = count ? 4 : 0;
    WB_TRY(expect_operands(r, s, 3, 4));
    WB_TRY(read_target(r, o++, count ? PTX_U32 : PTX_PRED, &insn->to[0], NULL));
    left--;
    WB_TRY(read_source(r, &s->operands[s->count - 1], PTX_PRED, &insn->from[2]));
    insn->nots = s->operands[s->count - 1].negated ? 4 : 0;
    left--;
  }
  WB_TRY(read_source(r, o, PTX_U32, &insn->from[0]));
  if (left > 1) WB_TRY(read_source(r, o + 1, PTX_U32, &insn->from[1]));
  return finish(r, s, insn);
}

/* ---- flow ---- */

static wb_status read_branch(reader *r, const statement *s, form *f) {
  f->insn.kind = PTX_DO_BRANCH;
  WB_TRY(expect_operands(r, s, 1, 1));
  if (s->operands[0].kind != OPERAND_WORD) return unknown(r, s);
  WB_TRY(finish(r, s, &f->insn));
  return use_label(r, s->operands[0].word, r->kernel->count - 1, -1);
}

static wb_status add_target(reader *r, text name) {
  ptx_kernel *k = r->kernel;
  if (!grow((void **)&k->targets, k->target_count, &k->target_capacity, sizeof *k->targets)) {
    return no_memory(r);
  }
  k->targets[k->target_count] = -1;
  return use_label(r, name, -1, k->target_count++);
}

static wb_status read_branch_index(reader *r, const statement *s, form *f) {
  WB_TRY(expect_operands(r, s, 2, 2));
  const symbol *found = NULL;
  WB_TRY(find_symbol(r, s->operands[1].word, &found, NULL));
  if (!found || found->kind != SYMBOL_TARGETS) {
    return reader_fail(r, "%.*s is no list of targets", (int)s->operands[1].word.length,
                       s->operands[1].word.at);
  }
  ptx_insn *insn = &f->insn;
  insn->kind = PTX_DO_BRANCH_INDEX;
  insn->target = r->kernel->target_count;
  WB_TRY(read_source(r, &s->operands[0], PTX_U32, &insn->from[0]));
  const text list = found->list;
  for (size_t at = 0; at < list.length;) {
    at += strspn(list.at + at, " \t\r\n,");
    const size_t length = at < list.length ? strcspn(list.at + at, " \t\r\n,;") : 0;
    if (length) WB_TRY(add_target(r, (text){list.at + at, length}));
    at += length;
    if (!length) break;
  }
  insn->targets = r->kernel->target_count - insn->target;
  if (insn->targets < 1 || insn->targets > PTX_TARGETS) {
    return reader_fail(r, "brx.idx with %d targets", insn->targets);
  }
  return finish(r, s, insn);
}

/* what changes no value here; fences do not order lanes that nothing else orders */
static wb_status read_nothing(reader *r, const statement *s, form *f) {
  f->insn.kind = PTX_DO_NOTHING;
  return finish(r, s, &f->insn);
}

static wb_status read_exit(reader *r, const statement *s, form *f) {
  f->insn.kind = PTX_DO_EXIT;
  return finish(r, s, &f->insn);
}

static wb_status read_trap(reader *r, const statement *s, form *f) {
  f->insn.kind = PTX_DO_TRAP;
  return finish(r, s, &f->insn);
}

wb_status read_memory_insn(reader *r, const statement *s, bool *known) {
  static const struct {
    const char *prefix;
    wb_status (*read)(reader *, const statement *, form *);
  } families[] = {{"ld.", read_load},
                  {"ldu.", read_load},
                  {"st.", read_store},
                  {"atom.", read_atomic},
                  {"red.", read_atomic},
                  {"cp.async.", read_copy},
                  {"shfl.", read_shuffle},
                  {"vote.", read_vote},
                  {"match.", read_match},
                  {"redux.", read_reduce},
                  {"elect.sync", read_elect},
                  {"activemask.b32", read_active},
                  {"bar.warp.sync", read_warp_barrier},
                  {"bar.", read_barrier},
                  {"barrier.", read_barrier},
                  {"bra", read_branch},
                  {"brx.idx", read_branch_index},
                  {"membar.", read_nothing},
                  {"fence.", read_nothing},
                  {"prefetch.", read_prefetch},
                  {"prefetchu.", read_prefetch},
                  {"nanosleep.", read_nothing},
                  {"exit", read_exit},
                  {"trap", read_trap},
                  {"brkpt", read_trap}};
  form f = {.insn = {.target = -1}};
  if (s->mnemonic.length >= sizeof f.rest) return WB_OK;
  memcpy(f.rest, s->mnemonic.at, s->mnemonic.length);
  if (strncmp(f.rest, "bra.uni", 8) == 0 || strncmp(f.rest, "brx.idx.uni", 12) == 0) {
    f.insn.flags |= PTX_FLAG_UNIFORM;
    take_mark(f.rest, ".uni");
  }
  for (size_t k = 0; k < sizeof families / sizeof *families; k++) {
    const size_t length = strlen(families[k].prefix);
    if (strncmp(f.rest, families[k].prefix, length) != 0) continue;
    const bool open = families[k].prefix[length - 1] == '.';
    if (!open && f.rest[length] != 0) continue;
    *known = true;
    return families[k].read(r, s, &f);
  }
  return WB_OK;
}

/* The body of a kernel: declarations, scopes, labels and calls. See read.h.
 *
 * A call is expanded: the function's text is read again in a scope of its own, where its parameters
 * stand for the caller's variables, and its returns branch behind it. Parameters that are passed lie in
 * local memory. */
#include "tests/emulator/read.h"

#include <stdlib.h>
#include <string.h>

enum { CALL_DEPTH = 16 };

static const char return_label[] = ".return";

static wb_status no_memory(const reader *r) {
  return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
}

/* ---- scopes and symbols ---- */

static bool scope_sees(const reader *r, int32_t from, int32_t scope) {
  for (; from >= 0; from = r->scopes[from]) {
    if (from == scope) return true;
  }
  return false;
}

static wb_status open_scope(reader *r, int32_t parent) {
  if (!grow((void **)&r->scopes, r->scope_count, &r->scope_capacity, sizeof *r->scopes)) {
    return no_memory(r);
  }
  r->scopes[r->scope_count] = parent;
  r->scope = r->scope_count++;
  return WB_OK;
}

static wb_status add_symbol(reader *r, symbol s) {
  if (!grow((void **)&r->symbols, r->symbol_count, &r->symbol_capacity, sizeof *r->symbols)) {
    return no_memory(r);
  }
  r->symbols[r->symbol_count++] = s;
  return WB_OK;
}

uint32_t add_slot(reader *r, unsigned element_bytes) {
  uint32_t *end = &r->kernel->register_bytes;
  if (element_bytes == 0) {
    *end += 4;
    return *end - 4;
  }
  *end = (uint32_t)aligned(*end, 64);
  *end += element_bytes * PTX_LANES;
  return *end - element_bytes * PTX_LANES;
}

/* the number behind a register's common name, -1 if it is none */
static int64_t register_number(text name, text prefix) {
  if (name.length <= prefix.length || memcmp(name.at, prefix.at, prefix.length) != 0) return -1;
  int64_t number = 0;
  for (size_t k = prefix.length; k < name.length; k++) {
    if (name.at[k] < '0' || name.at[k] > '9' || number > INT32_MAX) return -1;
    number = number * 10 + name.at[k] - '0';
  }
  return number;
}

static wb_status add_shared(reader *r, text name, uint64_t bytes, uint32_t align, int32_t scope) {
  ptx_kernel *k = r->kernel;
  if (bytes > UINT32_MAX / 4) return reader_fail(r, "a shared array of impossible size");
  const uint64_t at = aligned(k->shared_extent, align);
  if (!grow((void **)&k->arrays, k->array_count, &k->array_capacity, sizeof *k->arrays)) {
    return no_memory(r);
  }
  k->arrays[k->array_count++] = (ptx_array){(uint32_t)at, (uint32_t)bytes};
  k->shared_bytes = (uint32_t)(aligned(k->shared_bytes, align) + bytes);
  k->shared_extent = (uint32_t)(at + bytes + PTX_GUARD_BYTES);
  return add_symbol(r, (symbol){.name = name,
                                .kind = SYMBOL_MEMORY,
                                .scope = scope,
                                .space = PTX_SHARED,
                                .address = (int64_t)at});
}

/* a variable of the module becomes a symbol of the kernel when it is first used there */
static wb_status adopt_variable(reader *r, text name, bool *found) {
  const int32_t index = find_variable(r->module, name);
  *found = index >= 0;
  if (index < 0) return WB_OK;
  const ptx_variable *v = &r->module->variables[index];
  if (v->space != PTX_SHARED) {
    return add_symbol(r, (symbol){.name = name,
                                  .kind = SYMBOL_MEMORY,
                                  .scope = -1,
                                  .space = v->space,
                                  .address = (int64_t)v->address});
  }
  if (v->bytes) return add_shared(r, name, v->bytes, v->align, -1);
  if (r->kernel->dynamic_align < v->align) r->kernel->dynamic_align = v->align;
  return add_symbol(
      r,
      (symbol){
          .name = name, .kind = SYMBOL_MEMORY, .scope = -1, .space = PTX_SHARED, .dynamic = true});
}

wb_status find_symbol(reader *r, text name, const symbol **out, uint32_t *slot) {
  *out = NULL;
  for (int32_t k = r->symbol_count - 1; k >= 0; k--) {
    const symbol *s = &r->symbols[k];
    int64_t number = 0;
    if (s->kind == SYMBOL_REGISTER && s->count >= 0) {
      number = register_number(name, s->name);
      if (number < 0 || number >= s->count) continue;
    } else if (!text_equal(name, s->name)) {
      continue;
    }
    if (s->scope >= 0 && !scope_sees(r, r->scope, s->scope)) continue;
    *out = s;
    if (slot) *slot = s->slot + (uint32_t)number * s->stride;
    return WB_OK;
  }
  bool found = false;
  WB_TRY(adopt_variable(r, name, &found));
  if (found) *out = &r->symbols[r->symbol_count - 1];
  return WB_OK;
}

/* ---- declarations ---- */

static wb_status declare_registers(reader *r) {
  const text type_word = take_word(r);
  const ptx_type type =
      type_word.length ? ptx_type_of(type_word.at + 1, type_word.length - 1) : PTX_NONE;
  if (type == PTX_NONE) {
    return reader_fail(r, "registers of unknown type %.*s", (int)type_word.length, type_word.at);
  }
  do {
    const text name = take_word(r);
    int64_t count = -1;
    if (take_char(r, '<')) {
      operand number = {0};
      WB_TRY(take_number(r, &number));
      WB_TRY(expect_char(r, '>'));
      count = number.number;
      if (count < 0 || count > 1 << 20) return reader_fail(r, "an impossible number of registers");
    }
    const unsigned bytes = ptx_type_bytes(type);
    const unsigned element = bytes == 0 ? 0 : bytes == 8 ? 8 : 4;
    symbol s = {.name = name,
                .kind = SYMBOL_REGISTER,
                .scope = r->scope,
                .count = (int32_t)count,
                .type = type,
                .stride = element ? element * PTX_LANES : 4};
    for (int64_t k = 0; k < (count < 0 ? 1 : count); k++) {
      const uint32_t slot = add_slot(r, element);
      if (k == 0) s.slot = slot;
    }
    WB_TRY(add_symbol(r, s));
  } while (take_char(r, ','));
  return expect_char(r, ';');
}

static wb_status declare_memory(reader *r, ptx_space space) {
  declaration d;
  WB_TRY(take_declaration(r, &d));
  WB_TRY(expect_char(r, ';'));
  const uint64_t bytes = declared_bytes(&d);
  if (space == PTX_SHARED) {
    /* the shared variable of a function that is expanded twice is one */
    for (int32_t k = 0; k < r->symbol_count; k++) {
      if (r->symbols[k].name.at == d.name.at && r->symbols[k].space == PTX_SHARED) {
        symbol again = r->symbols[k];
        again.scope = r->scope;
        return add_symbol(r, again);
      }
    }
    return add_shared(r, d.name, bytes, d.align, r->scope);
  }
  if (bytes == 0 || bytes > 1 << 20)
    return reader_fail(r, "a local variable of %llu bytes", (unsigned long long)bytes);
  const uint64_t at = aligned(r->kernel->local_bytes, d.align);
  r->kernel->local_bytes = (uint32_t)(at + bytes);
  return add_symbol(r, (symbol){.name = d.name,
                                .kind = SYMBOL_MEMORY,
                                .scope = r->scope,
                                .space = PTX_LOCAL,
                                .address = (int64_t)at});
}

/* ---- labels ---- */

static wb_status add_label(reader *r, text name) {
  for (int32_t k = 0; k < r->label_count; k++) {
    if (r->labels[k].scope == r->scope && text_equal(r->labels[k].name, name)) {
      return reader_fail(r, "the label %.*s is there twice", (int)name.length, name.at);
    }
  }
  if (!grow((void **)&r->labels, r->label_count, &r->label_capacity, sizeof *r->labels)) {
    return no_memory(r);
  }
  r->labels[r->label_count++] = (label){name, r->scope, r->kernel->count, r->line};
  return WB_OK;
}

wb_status use_label(reader *r, text name, int32_t insn, int32_t target) {
  if (!grow((void **)&r->uses, r->use_count, &r->use_capacity, sizeof *r->uses))
    return no_memory(r);
  r->uses[r->use_count++] = (label_use){name, r->scope, insn, target, r->line};
  return WB_OK;
}

static wb_status resolve_label(reader *r, const label_use *use) {
  for (int32_t scope = use->scope; scope >= 0; scope = r->scopes[scope]) {
    for (int32_t k = 0; k < r->label_count; k++) {
      const label *l = &r->labels[k];
      if (l->scope != scope || !text_equal(l->name, use->name)) continue;
      if (use->insn >= 0) {
        r->kernel->code[use->insn].target = l->at;
      } else {
        r->kernel->targets[use->target] = l->at;
      }
      return WB_OK;
    }
  }
  r->line = use->line;
  return reader_fail(r, "the label %.*s is nowhere", (int)use->name.length, use->name.at);
}

/* the labels by which a kernel's stretches are named in counts */
static wb_status keep_labels(reader *r) {
  ptx_kernel *k = r->kernel;
  for (int32_t j = 0; j < r->label_count; j++) {
    if (text_is(r->labels[j].name, return_label)) continue;
    if (!grow((void **)&k->labels, k->label_count, &k->label_capacity, sizeof *k->labels)) {
      return no_memory(r);
    }
    ptx_label *l = &k->labels[k->label_count];
    *l = (ptx_label){text_copy(r->labels[j].name), r->labels[j].at, r->labels[j].line};
    if (!l->name) return no_memory(r);
    k->label_count++;
  }
  return WB_OK;
}

/* ---- instructions ---- */

ptx_insn *add_insn(reader *r, const statement *s) {
  ptx_kernel *k = r->kernel;
  if (!grow((void **)&k->code, k->count, &k->capacity, sizeof *k->code)) return NULL;
  ptx_insn *insn = &k->code[k->count++];
  memset(insn, 0, sizeof *insn);
  insn->line = s ? s->line : r->line;
  insn->join = -1;
  insn->target = -1;
  return insn;
}

static wb_status set_guard(reader *r, const statement *s, int32_t first) {
  if (!s->guard.length) return WB_OK;
  const symbol *found = NULL;
  uint32_t slot = 0;
  WB_TRY(find_symbol(r, s->guard, &found, &slot));
  if (!found || found->kind != SYMBOL_REGISTER || found->type != PTX_PRED) {
    return reader_fail(r, "the guard %.*s is no predicate", (int)s->guard.length, s->guard.at);
  }
  for (int32_t k = first; k < r->kernel->count; k++) {
    r->kernel->code[k].guard = slot;
    if (s->guard_negated) r->kernel->code[k].flags |= PTX_FLAG_GUARD_NOT;
  }
  return WB_OK;
}

/* ---- calls ---- */

/* binds the names in a function's parentheses to what the caller passes */
static wb_status bind_params(reader *r, text group, const statement *s, const operand *list,
                             int32_t caller_scope) {
  const char *after = r->at;
  const int32_t line = r->line, scope = r->scope;
  r->at = group.at;
  for (int32_t k = 0; k < (list ? list->count : 0); k++) {
    const text space = take_word(r);
    declaration d;
    WB_TRY(take_declaration(r, &d));
    const operand *passed = &s->parts[list->first + k];
    const symbol *found = NULL;
    uint32_t slot = 0;
    r->scope = caller_scope;
    WB_TRY(find_symbol(r, passed->word, &found, &slot));
    r->scope = scope;
    const bool in_memory = text_is(space, ".param");
    if (!found || (found->kind == SYMBOL_MEMORY) != in_memory) {
      return reader_fail(r, "argument %d of the call is no %.*s variable", k + 1, (int)space.length,
                         space.at);
    }
    symbol bound = *found;
    bound.name = d.name;
    bound.scope = scope;
    if (!in_memory) bound.slot = slot, bound.count = -1;
    WB_TRY(add_symbol(r, bound));
    take_char(r, ',');
  }
  r->at = after;
  r->line = line;
  return WB_OK;
}

static wb_status read_block(reader *r);

static wb_status read_call(reader *r, const statement *s) {
  const operand *result = NULL, *arguments = NULL, *name = NULL;
  for (int32_t k = 0; k < s->count; k++) {
    const operand *o = &s->operands[k];
    if (o->kind == OPERAND_WORD && !name)
      name = o;
    else if (o->kind == OPERAND_LIST && !name)
      result = o;
    else if (o->kind == OPERAND_LIST)
      arguments = o;
    else
      return reader_fail(r, "a call through a register");
  }
  const ptx_function *f = NULL;
  for (int32_t k = 0; name && k < r->module->function_count; k++) {
    if (text_equal(r->module->functions[k].name, name->word)) f = &r->module->functions[k];
  }
  if (!f) {
    return reader_fail(r, "a call of %.*s, which is no function of this module",
                       name ? (int)name->word.length : 0, name ? name->word.at : "");
  }
  if (s->guard.length) return reader_fail(r, "a guarded call");
  if (r->depth == CALL_DEPTH) return reader_fail(r, "calls nested deeper than %d", CALL_DEPTH);
  const char *after = r->at;
  const int32_t line = r->line, scope = r->scope;
  WB_TRY(open_scope(r, -1));
  const int32_t inner = r->scope;
  WB_TRY(bind_params(r, f->result, s, result, scope));
  WB_TRY(bind_params(r, f->params, s, arguments, scope));
  r->depth++;
  r->at = f->body;
  r->line = f->line;
  WB_TRY(read_block(r));
  r->depth--;
  r->scope = inner;
  WB_TRY(add_label(r, (text){return_label, sizeof return_label - 1}));
  r->scope = scope;
  r->at = after;
  r->line = line;
  return WB_OK;
}

static wb_status read_return(reader *r, const statement *s) {
  ptx_insn *insn = add_insn(r, s);
  if (!insn) return no_memory(r);
  insn->kind = r->depth ? PTX_DO_BRANCH : PTX_DO_EXIT;
  if (text_is(s->mnemonic, "ret.uni")) insn->flags |= PTX_FLAG_UNIFORM;
  ptx_cost(insn, "ret");
  if (!r->depth) return WB_OK;
  return use_label(r, (text){return_label, sizeof return_label - 1}, r->kernel->count - 1, -1);
}

/* ---- statements ---- */

static wb_status read_target_list(reader *r, text name) {
  const text word = take_word(r);
  const char *start = r->at;
  while (*r->at && *r->at != ';') {
    if (*r->at == '\n') r->line++;
    r->at++;
  }
  const text list = {start, (size_t)(r->at - start)};
  WB_TRY(expect_char(r, ';'));
  if (!text_is(word, ".branchtargets"))
    return WB_OK; /* prototypes of calls that are refused anyway */
  return add_symbol(
      r, (symbol){.name = name, .kind = SYMBOL_TARGETS, .scope = r->scope, .list = list});
}

static wb_status read_instruction(reader *r, text first) {
  statement s = {0};
  WB_TRY(take_statement(r, first, &s));
  const int32_t before = r->kernel->count;
  if (text_is(s.mnemonic, "call") || text_is(s.mnemonic, "call.uni")) return read_call(r, &s);
  if (text_is(s.mnemonic, "ret") || text_is(s.mnemonic, "ret.uni")) {
    WB_TRY(read_return(r, &s));
  } else {
    WB_TRY(read_insn(r, &s));
  }
  return set_guard(r, &s, before);
}

static wb_status read_statement(reader *r) {
  if (*r->at == '@') {
    return read_instruction(r, (text){r->at, 1});
  }
  const text word = take_word(r);
  if (!word.length) return reader_fail(r, "expected an instruction, got \"%.20s\"", r->at);
  if (take_char(r, ':')) {
    skip_blank(r);
    const bool list = strncmp(r->at, ".branchtargets", 14) == 0 || strncmp(r->at, ".call", 5) == 0;
    return list ? read_target_list(r, word) : add_label(r, word);
  }
  if (text_is(word, ".reg")) return declare_registers(r);
  if (text_is(word, ".shared")) return declare_memory(r, PTX_SHARED);
  if (text_is(word, ".local") || text_is(word, ".param")) return declare_memory(r, PTX_LOCAL);
  if (text_is(word, ".loc") || text_is(word, ".file") || text_is(word, ".pragma")) {
    skip_line(r);
    return WB_OK;
  }
  if (*word.at == '.')
    return reader_fail(r, "unknown directive \"%.*s\"", (int)word.length, word.at);
  return read_instruction(r, word);
}

/* to the closing brace of where it stands */
static wb_status read_block(reader *r) {
  const int32_t outer = r->scope;
  while (!at_char(r, '}')) {
    if (*r->at == 0) return reader_fail(r, "the text ends inside a body");
    if (take_char(r, '{')) {
      const int32_t scope = r->scope;
      WB_TRY(open_scope(r, scope));
      WB_TRY(read_block(r));
      r->scope = scope;
    } else {
      WB_TRY(read_statement(r));
    }
  }
  r->scope = outer;
  return expect_char(r, '}');
}

/* addresses in dynamic shared memory are known when all static ones are */
static void place_dynamic(ptx_kernel *k) {
  if (k->dynamic_align < 16) k->dynamic_align = 16;
  k->shared_extent = (uint32_t)aligned(k->shared_extent, k->dynamic_align);
  for (int32_t j = 0; j < k->constant_count; j++) {
    if (k->constants[j].dynamic) k->constants[j].bits += k->shared_extent;
  }
  for (int32_t j = 0; j < k->count; j++) {
    if (k->code[j].flags & PTX_FLAG_DYNAMIC) k->code[j].offset += k->shared_extent;
  }
}

wb_status read_body(reader *r) {
  ptx_kernel *k = r->kernel;
  r->symbol_count = r->label_count = r->use_count = r->scope_count = 0;
  r->depth = 0;
  k->register_bytes = PTX_FIRST_SLOT;
  WB_TRY(open_scope(r, -1));
  for (int32_t j = 0; j < k->param_count; j++) {
    const text name = {k->params[j].name, strlen(k->params[j].name)};
    WB_TRY(add_symbol(r, (symbol){.name = name,
                                  .kind = SYMBOL_MEMORY,
                                  .space = PTX_PARAM,
                                  .address = k->params[j].offset}));
  }
  WB_TRY(read_block(r));
  /* running past the last instruction ends a kernel too */
  ptx_insn *last = add_insn(r, NULL);
  if (!last) return no_memory(r);
  last->kind = PTX_DO_EXIT;
  ptx_cost(last, "exit");
  for (int32_t j = 0; j < r->use_count; j++) WB_TRY(resolve_label(r, &r->uses[j]));
  WB_TRY(keep_labels(r));
  place_dynamic(k);
  return ptx_kernel_joins(k, r->error);
}

/* A module: directives outside functions, variables and where functions stand. See read.h. */
#include "tests/emulator/read.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN_MAX = 1 << 20 };

const char *ptx_module_line(const ptx_module *module, int32_t line, int *length) {
  const char *at = module->text ? module->text : "";
  for (int32_t k = 1; k < line && *at; at++) k += *at == '\n';
  at += strspn(at, " \t");
  *length = (int)strcspn(at, "\r\n");
  while (*length > 0 && (at[*length - 1] == ' ' || at[*length - 1] == '\t')) --*length;
  return at;
}

const ptx_kernel *ptx_module_kernel(const ptx_module *module, const char *name) {
  for (int32_t k = 0; k < module->kernel_count; k++) {
    if (strcmp(module->kernels[k].name, name) == 0) return &module->kernels[k];
  }
  return NULL;
}

static void free_kernel(ptx_kernel *kernel) {
  for (int32_t k = 0; k < kernel->param_count; k++) free(kernel->params[k].name);
  for (int32_t k = 0; k < kernel->label_count; k++) free(kernel->labels[k].name);
  free(kernel->name);
  free(kernel->code);
  free(kernel->targets);
  free(kernel->constants);
  free(kernel->params);
  free(kernel->arrays);
  free(kernel->labels);
}

void ptx_module_free(ptx_module *module) {
  for (int32_t k = 0; k < module->kernel_count; k++) free_kernel(&module->kernels[k]);
  for (int32_t k = 0; k < module->variable_count; k++) {
    free(module->variables[k].name);
    free(module->variables[k].initial);
    free(module->variables[k].patches);
  }
  free(module->kernels);
  free(module->variables);
  free(module->functions);
  free(module->text);
  memset(module, 0, sizeof *module);
}

/* ---- declarations, which modules and bodies share ---- */

static wb_status take_dimensions(reader *r, declaration *d) {
  d->elements = 1;
  while (take_char(r, '[')) {
    operand size = {0};
    if (at_char(r, ']')) {
      d->elements = 0;
    } else {
      WB_TRY(take_number(r, &size));
      if (size.kind != OPERAND_NUMBER || size.number < 0 || size.number > INT64_C(1) << 40) {
        return reader_fail(r, "an array of impossible size");
      }
      d->elements *= (uint64_t)size.number;
    }
    WB_TRY(expect_char(r, ']'));
  }
  return WB_OK;
}

wb_status take_declaration(reader *r, declaration *d) {
  *d = (declaration){.vector = 1};
  for (;;) {
    const text word = take_word(r);
    if (!word.length) return reader_fail(r, "expected a declaration, got \"%.20s\"", r->at);
    if (text_is(word, ".align")) {
      operand number = {0};
      WB_TRY(take_number(r, &number));
      if (number.number < 1 || number.number > ALIGN_MAX || (number.number & (number.number - 1))) {
        return reader_fail(r, "an alignment of %lld", (long long)number.number);
      }
      /* of a .ptr it is what the pointer promises, not the parameter's own */
      if (d->align != UINT32_MAX) d->align = (uint32_t)number.number;
    } else if (text_is(word, ".ptr")) {
      d->align = UINT32_MAX;
    } else if (text_is(word, ".v2") || text_is(word, ".v4")) {
      d->vector = (uint32_t)(word.at[2] - '0');
    } else if (*word.at == '.') {
      const ptx_type type = ptx_type_of(word.at + 1, word.length - 1);
      if (type != PTX_NONE) d->type = type;
      const bool known = type != PTX_NONE || text_is(word, ".global") || text_is(word, ".const") ||
                         text_is(word, ".shared") || text_is(word, ".local");
      if (!known) return reader_fail(r, "unknown type %.*s", (int)word.length, word.at);
    } else {
      d->name = word;
      break;
    }
  }
  if (d->type == PTX_NONE) return reader_fail(r, "a variable without a type");
  const uint32_t natural = ptx_type_bytes(d->type) * d->vector;
  if (d->align == 0 || d->align == UINT32_MAX) d->align = natural ? natural : 1;
  return take_dimensions(r, d);
}

uint64_t declared_bytes(const declaration *d) {
  return (uint64_t)ptx_type_bytes(d->type) * d->vector * d->elements;
}

/* ---- variables ---- */

int32_t find_variable(const ptx_module *module, text name) {
  for (int32_t k = 0; k < module->variable_count; k++) {
    if (text_is(name, module->variables[k].name)) return k;
  }
  return -1;
}

static wb_status put_initial(reader *r, ptx_variable *v, uint64_t at, unsigned bytes,
                             uint64_t bits) {
  if (at + bytes > v->bytes) return reader_fail(r, "more initial values than %s holds", v->name);
  memcpy(v->initial + at, &bits, bytes);
  return WB_OK;
}

static wb_status put_address(reader *r, ptx_variable *v, uint64_t at, unsigned bytes, text name,
                             int64_t offset) {
  const int32_t of = find_variable(r->module, name);
  if (of < 0 || bytes != 8) {
    return reader_fail(r, "initial value %.*s: only 64-bit addresses of variables above are known",
                       (int)name.length, name.at);
  }
  ptx_patch *larger = realloc(v->patches, ((size_t)v->patch_count + 1) * sizeof *larger);
  if (!larger) return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  v->patches = larger;
  larger[v->patch_count++] = (ptx_patch){at, of, offset};
  return put_initial(r, v, at, bytes, 0);
}

static wb_status take_initial_word(reader *r, ptx_variable *v, uint64_t at, unsigned bytes) {
  text name = take_word(r);
  const bool generic = text_is(name, "generic");
  if (generic) {
    WB_TRY(expect_char(r, '('));
    name = take_word(r);
    WB_TRY(expect_char(r, ')'));
  }
  operand offset = {0};
  if (at_char(r, '+') || at_char(r, '-')) WB_TRY(take_number(r, &offset));
  return put_address(r, v, at, bytes, name, offset.number);
}

static wb_status take_initial(reader *r, ptx_variable *v, ptx_type type, uint64_t *at) {
  const unsigned bytes = ptx_type_bytes(type);
  if (take_char(r, '{')) {
    while (!at_char(r, '}')) {
      WB_TRY(take_initial(r, v, type, at));
      if (!take_char(r, ',')) break;
    }
    return expect_char(r, '}');
  }
  skip_blank(r);
  const bool number = *r->at == '-' || *r->at == '+' || (*r->at >= '0' && *r->at <= '9');
  if (!number) {
    WB_TRY(take_initial_word(r, v, *at, bytes));
  } else {
    operand value = {0};
    WB_TRY(take_number(r, &value));
    uint64_t bits = (uint64_t)value.number;
    if (value.kind == OPERAND_DOUBLE && type == PTX_F32) {
      double wide;
      memcpy(&wide, &bits, sizeof wide);
      const float narrow = (float)wide;
      uint32_t half;
      memcpy(&half, &narrow, sizeof half);
      bits = half;
    }
    WB_TRY(put_initial(r, v, *at, bytes, bits));
  }
  *at += bytes;
  return WB_OK;
}

static wb_status read_variable(reader *r, ptx_space space, bool is_extern) {
  declaration d;
  WB_TRY(take_declaration(r, &d));
  ptx_module *m = r->module;
  if (!grow((void **)&m->variables, m->variable_count, &m->variable_capacity,
            sizeof *m->variables)) {
    return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  }
  ptx_variable *v = &m->variables[m->variable_count];
  *v = (ptx_variable){
      .name = text_copy(d.name), .space = space, .bytes = declared_bytes(&d), .align = d.align};
  if (!v->name) return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  m->variable_count++;
  if (is_extern && space != PTX_SHARED) {
    return reader_fail(r, "%s is defined in another module", v->name);
  }
  if (take_char(r, '=')) {
    v->initial = calloc(1, v->bytes ? v->bytes : 1);
    if (!v->initial) return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
    uint64_t at = 0;
    WB_TRY(take_initial(r, v, d.type, &at));
  }
  WB_TRY(expect_char(r, ';'));
  return space == PTX_SHARED ? WB_OK : r->placer->place(r->placer->context, v, r->error);
}

/* ---- functions ---- */

static wb_status take_group(reader *r, char open, char close, text *out) {
  WB_TRY(expect_char(r, open));
  const char *start = r->at;
  while (*r->at && *r->at != close) {
    if (*r->at == '\n') r->line++;
    r->at++;
  }
  *out = (text){start, (size_t)(r->at - start)};
  return expect_char(r, close);
}

static wb_status add_param(reader *r, const declaration *d) {
  ptx_kernel *k = r->kernel;
  ptx_param *larger = realloc(k->params, ((size_t)k->param_count + 1) * sizeof *larger);
  if (!larger) return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  k->params = larger;
  const uint64_t at = aligned(k->param_bytes, d->align), bytes = declared_bytes(d);
  if (at + bytes > 4096) return reader_fail(r, "more than 4096 bytes of parameters");
  larger[k->param_count] = (ptx_param){text_copy(d->name), (uint32_t)at, (uint32_t)bytes, d->align};
  if (!larger[k->param_count].name) return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  k->param_count++;
  k->param_bytes = (uint32_t)(at + bytes);
  return WB_OK;
}

static wb_status take_params(reader *r) {
  if (!take_char(r, '(')) return WB_OK;
  while (!at_char(r, ')')) {
    const text word = take_word(r);
    if (!text_is(word, ".param")) {
      return reader_fail(r, "expected .param, got \"%.*s\"", (int)word.length, word.at);
    }
    declaration d;
    WB_TRY(take_declaration(r, &d));
    WB_TRY(add_param(r, &d));
    if (!take_char(r, ',')) break;
  }
  return expect_char(r, ')');
}

static wb_status take_numbers(reader *r, int32_t *numbers, int count) {
  for (int k = 0; k < count; k++) {
    operand number = {0};
    WB_TRY(take_number(r, &number));
    if (number.number < 1 || number.number > 1024)
      return reader_fail(r, "an impossible block size");
    numbers[k] = (int32_t)number.number;
    if (!take_char(r, ',')) break;
  }
  return WB_OK;
}

/* what may stand between a kernel's parameters and its body */
static wb_status take_kernel_directives(reader *r) {
  while (!at_char(r, '{')) {
    const text word = take_word(r);
    int32_t numbers[3] = {1, 1, 1};
    if (text_is(word, ".maxntid") || text_is(word, ".reqntid")) {
      WB_TRY(take_numbers(r, numbers, 3));
      r->kernel->max_threads = numbers[0] * numbers[1] * numbers[2];
      if (text_is(word, ".reqntid")) memcpy(r->kernel->required, numbers, sizeof numbers);
    } else if (text_is(word, ".minnctapersm") || text_is(word, ".maxnreg")) {
      WB_TRY(take_numbers(r, numbers, 1));
    } else if (text_is(word, ".pragma")) {
      skip_line(r);
    } else {
      return reader_fail(r, "unknown directive \"%.*s\" of a kernel", (int)word.length, word.at);
    }
  }
  return WB_OK;
}

/* bodies are read when all functions that they may call are known */
static wb_status read_kernel(reader *r) {
  ptx_module *m = r->module;
  if (!grow((void **)&m->kernels, m->kernel_count, &m->kernel_capacity, sizeof *m->kernels)) {
    return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  }
  r->kernel = &m->kernels[m->kernel_count];
  memset(r->kernel, 0, sizeof *r->kernel);
  m->kernel_count++;
  r->kernel->name = text_copy(take_word(r));
  if (!r->kernel->name) return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  WB_TRY(take_params(r));
  if (take_char(r, ';')) {
    return reader_fail(r, "a kernel without a body");
  }
  WB_TRY(take_kernel_directives(r));
  WB_TRY(expect_char(r, '{'));
  r->kernel->body = r->at;
  r->kernel->body_line = r->line;
  r->kernel = NULL;
  return skip_braces(r);
}

/* a function is only noted; it is read where it is called */
static wb_status read_function(reader *r) {
  ptx_module *m = r->module;
  if (!grow((void **)&m->functions, m->function_count, &m->function_capacity,
            sizeof *m->functions)) {
    return WB_FAIL(r->error, WB_ERROR_MEMORY, "out of memory");
  }
  ptx_function *f = &m->functions[m->function_count];
  *f = (ptx_function){0};
  if (at_char(r, '(')) WB_TRY(take_group(r, '(', ')', &f->result));
  f->name = take_word(r);
  if (at_char(r, '(')) WB_TRY(take_group(r, '(', ')', &f->params));
  while (!at_char(r, '{') && !at_char(r, ';')) {
    const text word = take_word(r);
    if (!text_is(word, ".noreturn")) {
      return reader_fail(r, "unknown directive \"%.*s\" of a function", (int)word.length, word.at);
    }
  }
  if (take_char(r, ';')) return WB_OK; /* a declaration: the definition is further on */
  WB_TRY(expect_char(r, '{'));
  f->body = r->at;
  f->line = r->line;
  m->function_count++;
  return skip_braces(r);
}

static wb_status read_target_line(reader *r) {
  const text name = take_word(r);
  if (!text_starts(name, "sm_"))
    return reader_fail(r, "unknown target \"%.*s\"", (int)name.length, name.at);
  r->module->target = (int32_t)strtol(name.at + 3, NULL, 10);
  while (take_char(r, ',')) take_word(r);
  return WB_OK;
}

static wb_status read_version(reader *r) {
  const text word = take_word(r);
  char *end;
  const long major = strtol(word.at, &end, 10);
  const long minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
  r->module->version = (int32_t)(major * 10 + minor);
  return WB_OK;
}

static wb_status read_directive(reader *r, text word, bool *is_extern) {
  operand number = {0};
  if (text_is(word, ".version")) return read_version(r);
  if (text_is(word, ".target")) return read_target_line(r);
  if (text_is(word, ".address_size")) {
    WB_TRY(take_number(r, &number));
    return number.number == 64 ? WB_OK : reader_fail(r, "only 64-bit addresses are known");
  }
  if (text_is(word, ".file") || text_is(word, ".loc") || text_is(word, ".pragma")) {
    skip_line(r);
    return WB_OK;
  }
  if (text_is(word, ".section")) {
    take_word(r);
    WB_TRY(expect_char(r, '{'));
    return skip_braces(r);
  }
  if (text_is(word, ".visible") || text_is(word, ".weak") || text_is(word, ".common")) return WB_OK;
  if (text_is(word, ".extern")) {
    *is_extern = true;
    return WB_OK;
  }
  const bool external = *is_extern;
  *is_extern = false;
  if (text_is(word, ".entry")) return read_kernel(r);
  if (text_is(word, ".func")) return read_function(r);
  if (text_is(word, ".global")) return read_variable(r, PTX_GLOBAL, external);
  if (text_is(word, ".const")) return read_variable(r, PTX_CONST, external);
  if (text_is(word, ".shared")) return read_variable(r, PTX_SHARED, external);
  return reader_fail(r, "unknown directive \"%.*s\"", (int)word.length, word.at);
}

wb_status ptx_module_read(const char *source, const ptx_placer *placer, ptx_module *out,
                          wb_error *error) {
  memset(out, 0, sizeof *out);
  out->text = text_copy((text){source, strlen(source)});
  if (!out->text) return WB_FAIL(error, WB_ERROR_MEMORY, "out of memory");
  out->divergence = strstr(source, "emulator: divergence allowed") != NULL;
  reader r = {.at = out->text, .line = 1, .module = out, .placer = placer, .error = error};
  wb_status status = WB_OK;
  bool is_extern = false;
  while (status == WB_OK && !at_char(&r, 0)) {
    const text word = take_word(&r);
    status = word.length ? read_directive(&r, word, &is_extern)
                         : reader_fail(&r, "expected a directive, got \"%.20s\"", r.at);
  }
  if (status == WB_OK && (!out->version || !out->target)) {
    status = reader_fail(&r, "no PTX: .version and .target are missing");
  }
  for (int32_t k = 0; status == WB_OK && k < out->kernel_count; k++) {
    r.kernel = &out->kernels[k];
    r.at = r.kernel->body;
    r.line = r.kernel->body_line;
    status = read_body(&r);
  }
  free(r.symbols);
  free(r.labels);
  free(r.uses);
  free(r.scopes);
  return status;
}

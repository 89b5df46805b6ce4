/* PTX text to words, numbers and operands. See read.h. */
#include "tests/emulator/read.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

wb_status reader_fail(const reader *r, const char *format, ...) {
  char message[512];
  va_list list;
  va_start(list, format);
  vsnprintf(message, sizeof message, format, list);
  va_end(list);
  if (r->kernel && r->kernel->name) {
    return WB_FAIL(r->error, WB_ERROR_FORMAT, "kernel %s, PTX line %d: %s", r->kernel->name,
                   r->line, message);
  }
  return WB_FAIL(r->error, WB_ERROR_FORMAT, "PTX line %d: %s", r->line, message);
}

bool text_is(text a, const char *b) {
  return strlen(b) == a.length && memcmp(a.at, b, a.length) == 0;
}
bool text_equal(text a, text b) {
  return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}
bool text_starts(text a, const char *prefix) {
  const size_t length = strlen(prefix);
  return a.length >= length && memcmp(a.at, prefix, length) == 0;
}

char *text_copy(text a) {
  char *copy = malloc(a.length + 1);
  if (copy) {
    memcpy(copy, a.at, a.length);
    copy[a.length] = 0;
  }
  return copy;
}

bool grow(void **array, int32_t count, int32_t *capacity, size_t element) {
  if (count < *capacity) return true;
  const int32_t wanted = *capacity ? *capacity * 2 : 16;
  void *larger = realloc(*array, (size_t)wanted * element);
  if (!larger) return false;
  *array = larger;
  *capacity = wanted;
  return true;
}

void skip_line(reader *r) {
  while (*r->at && *r->at != '\n') r->at++;
}

void skip_blank(reader *r) {
  for (;;) {
    if (*r->at == '\n') {
      r->line++;
      r->at++;
    } else if (isspace((unsigned char)*r->at)) {
      r->at++;
    } else if (r->at[0] == '/' && r->at[1] == '/') {
      skip_line(r);
    } else if (r->at[0] == '/' && r->at[1] == '*') {
      while (*r->at && !(r->at[0] == '*' && r->at[1] == '/')) {
        if (*r->at++ == '\n') r->line++;
      }
      if (*r->at) r->at += 2;
    } else {
      return;
    }
  }
}

bool at_char(reader *r, char c) {
  skip_blank(r);
  return *r->at == c;
}

bool take_char(reader *r, char c) {
  if (!at_char(r, c)) return false;
  r->at++;
  return true;
}

wb_status expect_char(reader *r, char c) {
  if (take_char(r, c)) return WB_OK;
  return reader_fail(r, "expected '%c', got \"%.20s\"", c, r->at);
}

static bool in_word(char c) { return isalnum((unsigned char)c) || (c && strchr("_$%.", c)); }

/* "::" inside a word belongs to it (ld.global.L1::no_allocate); a single colon ends a label */
text take_word(reader *r) {
  skip_blank(r);
  const char *start = r->at;
  if (!in_word(*r->at)) return (text){start, 0};
  while (in_word(*r->at) || (r->at[0] == ':' && r->at[1] == ':' && in_word(r->at[2]))) {
    r->at += *r->at == ':' ? 2 : 1;
  }
  return (text){start, (size_t)(r->at - start)};
}

wb_status skip_braces(reader *r) {
  for (int depth = 1; depth > 0;) {
    skip_blank(r);
    if (*r->at == '"') {
      for (r->at++; *r->at && *r->at != '"'; r->at++) {}
    }
    if (*r->at == 0) return reader_fail(r, "the text ends inside braces");
    depth += (*r->at == '{') - (*r->at == '}');
    r->at++;
  }
  return WB_OK;
}

wb_status take_number(reader *r, operand *out) {
  skip_blank(r);
  const bool negative = take_char(r, '-');
  if (!negative) take_char(r, '+');
  skip_blank(r);
  const char *start = r->at;
  char *end;
  if (start[0] == '0' && start[1] && strchr("fFdD", start[1])) {
    const bool is_double = start[1] == 'd' || start[1] == 'D';
    const uint64_t bits = strtoull(start + 2, &end, 16);
    if (end - start != (is_double ? 18 : 10))
      return reader_fail(r, "a float literal of wrong length");
    out->kind = is_double ? OPERAND_DOUBLE : OPERAND_FLOAT;
    out->number = (int64_t)(negative ? bits ^ UINT64_C(1) << (is_double ? 63 : 31) : bits);
    r->at = end;
    return WB_OK;
  }
  if (!isdigit((unsigned char)*start))
    return reader_fail(r, "expected a number, got \"%.20s\"", start);
  uint64_t value = start[0] == '0' && (start[1] == 'b' || start[1] == 'B')
                       ? strtoull(start + 2, &end, 2)
                       : strtoull(start, &end, 0);
  if (*end == '.' || *end == 'e' || *end == 'E') {
    const double decimal = strtod(start, &end);
    memcpy(&value, &decimal, sizeof value);
    out->kind = OPERAND_DOUBLE;
    out->number = (int64_t)(negative ? value ^ UINT64_C(1) << 63 : value);
  } else {
    if (*end == 'U') end++;
    out->kind = OPERAND_NUMBER;
    out->number = (int64_t)(negative ? 0 - value : value);
  }
  if (in_word(*end)) return reader_fail(r, "expected a number, got \"%.20s\"", start);
  r->at = end;
  return WB_OK;
}

/* an offset behind a word: "+4", "+-4" or "-4" */
static wb_status take_offset(reader *r, int64_t *offset) {
  *offset = 0;
  skip_blank(r);
  if (*r->at != '+' && *r->at != '-') return WB_OK;
  if (*r->at == '+') r->at++;
  operand number = {0};
  WB_TRY(take_number(r, &number));
  if (number.kind != OPERAND_NUMBER) return reader_fail(r, "an offset that is no integer");
  *offset = number.number;
  return WB_OK;
}

static bool at_number(reader *r) {
  skip_blank(r);
  return isdigit((unsigned char)*r->at) || *r->at == '-' || *r->at == '+';
}

static wb_status take_parts(reader *r, statement *s, operand *out, char close) {
  out->first = s->part_count;
  while (!at_char(r, close)) {
    if (s->part_count == PARTS) return reader_fail(r, "more than %d operands in a group", PARTS);
    operand *part = &s->parts[s->part_count++];
    WB_TRY(take_operand(r, s, part, true));
    if (!take_char(r, ',')) break;
  }
  out->count = s->part_count - out->first;
  return expect_char(r, close);
}

wb_status take_operand(reader *r, statement *s, operand *out, bool nested) {
  *out = (operand){.negated = take_char(r, '!')};
  if (take_char(r, '[')) {
    if (at_number(r)) {
      WB_TRY(take_number(r, out));
    } else {
      out->word = take_word(r);
      if (!out->word.length) return reader_fail(r, "expected an address, got \"%.20s\"", r->at);
      WB_TRY(take_offset(r, &out->number));
    }
    out->kind = OPERAND_ADDRESS;
    return expect_char(r, ']');
  }
  if (!nested && take_char(r, '{')) {
    out->kind = OPERAND_VECTOR;
    return take_parts(r, s, out, '}');
  }
  if (!nested && take_char(r, '(')) {
    out->kind = OPERAND_LIST;
    return take_parts(r, s, out, ')');
  }
  if (at_number(r)) return take_number(r, out);
  out->word = take_word(r);
  if (!out->word.length) return reader_fail(r, "expected an operand, got \"%.20s\"", r->at);
  if (text_is(out->word, "_")) {
    out->kind = OPERAND_SINK;
    return WB_OK;
  }
  out->kind = OPERAND_WORD;
  return take_offset(r, &out->number);
}

wb_status take_statement(reader *r, text first, statement *s) {
  s->line = r->line;
  if (first.length && *first.at == '@') {
    r->at = first.at + 1;
    s->guard_negated = take_char(r, '!');
    s->guard = take_word(r);
    if (!s->guard.length) return reader_fail(r, "expected a predicate after '@'");
    first = take_word(r);
    s->line = r->line;
  }
  if (!first.length) return reader_fail(r, "expected an instruction, got \"%.20s\"", r->at);
  s->mnemonic = first;
  bool joined = false;
  while (!at_char(r, ';')) {
    if (s->count == OPERANDS) return reader_fail(r, "more than %d operands", OPERANDS);
    operand *o = &s->operands[s->count++];
    WB_TRY(take_operand(r, s, o, false));
    o->joined = joined;
    joined = take_char(r, '|');
    if (!joined && !take_char(r, ',')) break;
  }
  return expect_char(r, ';');
}

/* The last steps on PTX, on its text: LLVM has no way to say them.
 *
 * Every branch of a program is on a scalar, which all lanes of a warp have alike, but LLVM prints plain
 * branches; told that they are uniform ptxas leaves out what brings diverged lanes together again. And
 * LLVM cannot turn a condition round for this target: where it branches to what follows and else jumps
 * away, one branch on the opposite does. */
#include "nvptx.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A line without its end. */
typedef struct line {
  const char *text;
  size_t bytes;
} line;

typedef struct output {
  char *start, *end;
} output;

static void add(output *out, const char *bytes, size_t count) {
  memcpy(out->end, bytes, count);
  out->end += count;
}

static void add_text(output *out, const char *text) { add(out, text, strlen(text)); }

static bool starts_with(line l, const char *text) {
  size_t bytes = strlen(text);
  return l.bytes >= bytes && memcmp(l.text, text, bytes) == 0;
}

/* ---- branches ---- */

/* "@%p1 bra $L2;", "bra.uni $L2;", "brx.idx %r3, $L4;" */
typedef struct branch {
  line guard; /* "%p1", empty if there is none */
  bool negated;
  bool indexed;
  line target; /* "$L2", or all operands of brx */
} branch;

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return at;
}

static const char *skip_word(const char *at, const char *end) {
  while (at < end && *at != ' ' && *at != '\t') at++;
  return at;
}

static line between(const char *from, const char *to) { return (line){from, (size_t)(to - from)}; }

static bool parse_branch(line l, branch *b) {
  static const char *const words[] = {"bra", "bra.uni", "brx.idx", "brx.idx.uni"};
  const char *end = l.text + l.bytes, *at = skip_blanks(l.text, end);
  *b = (branch){0};
  if (at < end && *at == '@') {
    const char *word = ++at;
    at = skip_word(at, end);
    b->negated = *word == '!';
    b->guard = between(word + b->negated, at);
    at = skip_blanks(at, end);
  }
  const char *word = at;
  at = skip_word(at, end);
  line name = between(word, at);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strlen(words[i]) != name.bytes || !starts_with(name, words[i])) continue;
    at = skip_blanks(at, end);
    if (at >= end || end[-1] != ';') return false;
    b->indexed = i >= 2;
    b->target = between(at, end - 1);
    return true;
  }
  return false;
}

static void add_branch(output *out, const branch *b) {
  add_text(out, "\t");
  if (b->guard.bytes > 0) {
    add_text(out, b->negated ? "@!" : "@");
    add(out, b->guard.text, b->guard.bytes);
    add_text(out, " ");
  }
  add_text(out, b->indexed ? "brx.idx.uni \t" : "bra.uni \t");
  add(out, b->target.text, b->target.bytes);
  add_text(out, ";\n");
}

/* ---- lines ---- */

static bool is_noise(line l) {
  return starts_with(l, "\t// begin inline asm") || starts_with(l, "\t// end inline asm");
}

static bool is_label(line l) {
  return l.bytes > 1 && l.text[0] == '$' && l.text[l.bytes - 1] == ':';
}

/* Whether the label `label` stands in line i or in other labels right behind. */
static bool follows(const line *lines, size_t count, size_t i, line label) {
  for (; i < count; i++) {
    if (is_noise(lines[i]) || lines[i].bytes == 0) continue;
    if (!is_label(lines[i])) return false;
    if (lines[i].bytes == label.bytes + 1 && memcmp(lines[i].text, label.text, label.bytes) == 0) {
      return true;
    }
  }
  return false;
}

/* Writes the branch of line i and the one behind it, if they are one; returns the next line. */
static size_t add_branches(output *out, const line *lines, size_t count, size_t i) {
  branch first, second;
  (void)parse_branch(lines[i], &first);
  bool plain = first.guard.bytes == 0 && !first.indexed;
  if (plain && follows(lines, count, i + 1, first.target)) return i + 1;
  bool pair = first.guard.bytes > 0 && i + 1 < count && parse_branch(lines[i + 1], &second) &&
              second.guard.bytes == 0 && !second.indexed;
  if (pair && follows(lines, count, i + 2, first.target)) {
    first.negated = !first.negated;
    first.target = second.target;
    i++;
  }
  add_branch(out, &first);
  return i + 1;
}

static size_t split(const char *text, line *lines) {
  size_t count = 0;
  while (*text != 0) {
    const char *end = strchr(text, '\n');
    if (end == NULL) end = text + strlen(text);
    lines[count++] = between(text, end);
    text = *end != 0 ? end + 1 : end;
  }
  return count;
}

char *nvptx_finish(const char *ptx, const char *note) {
  size_t most = 1, bytes = strlen(ptx);
  for (const char *at = ptx; *at != 0; at++) most += *at == '\n';
  line *lines = malloc(most * sizeof *lines);
  output out;
  /* a branch grows by ".uni" and a "!" */
  out.start = out.end = malloc(bytes + strlen(note) + 8 * most + 8);
  if (lines == NULL || out.start == NULL) {
    free(lines);
    free(out.start);
    return NULL;
  }
  size_t count = split(ptx, lines);
  add_text(&out, note);
  for (size_t i = 0; i < count;) {
    branch b;
    if (parse_branch(lines[i], &b)) {
      i = add_branches(&out, lines, count, i);
      continue;
    }
    if (!is_noise(lines[i])) {
      add(&out, lines[i].text, lines[i].bytes);
      add_text(&out, "\n");
    }
    i++;
  }
  *out.end = 0;
  free(lines);
  return out.start;
}

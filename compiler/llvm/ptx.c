/* The last steps on PTX, on its text: LLVM has no way to say them.
 *
 * Every branch of a program is on a scalar, which all lanes of a warp have alike, but LLVM prints plain
 * branches; told that they are uniform ptxas leaves out what brings diverged lanes together again. And
 * LLVM cannot turn a condition round for this target: where it branches to what follows and else jumps
 * away, one branch on the opposite does; where it leaves a loop and else jumps back, so that a round takes
 * two branches, the opposite takes one. Constants that it puts into registers again and again are
 * put there once, at the start; ptxas makes immediate operands of them either way. */
#include "nvptx.h"

#include <stdbool.h>
#include <stdint.h>
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

static bool is_label_of(line l, line label) {
  return is_label(l) && l.bytes == label.bytes + 1 && memcmp(l.text, label.text, label.bytes) == 0;
}

/* Whether the label `label` stands in line i or in other labels right behind. */
static bool follows(const line *lines, size_t count, size_t i, line label) {
  for (; i < count; i++) {
    if (is_noise(lines[i]) || lines[i].bytes == 0) continue;
    if (!is_label(lines[i])) return false;
    if (is_label_of(lines[i], label)) return true;
  }
  return false;
}

/* Whether of two labels `label` is the first one met on the way back from line i. */
static bool is_nearer_above(const line *lines, size_t i, line label, line other) {
  while (i-- > 0) {
    if (is_label_of(lines[i], label)) return true;
    if (is_label_of(lines[i], other)) return false;
  }
  return false;
}

/* Writes the branch of line i and the one behind it, if they are one; returns the next line. Of two that
 * jump away the first is the one that ends a round of the inner loop. */
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
  } else if (pair && is_nearer_above(lines, i, second.target, first.target)) {
    line away = first.target;
    first.negated = !first.negated;
    first.target = second.target;
    second.target = away;
    add_branch(out, &first);
    add_branch(out, &second);
    return i + 2;
  }
  add_branch(out, &first);
  return i + 1;
}

/* ---- constants ---- */

/* How often each register is written: of 32 bits by number, then of 64 bits. */
typedef struct writes {
  uint8_t *narrow, *wide; /* 0, 1, 2: more */
  size_t count;           /* of each */
} writes;

/* The counter of the register that a text starts with; NULL if that is none of the two kinds. */
static uint8_t *counter_of(const writes *w, const char *at, const char *end) {
  if (end - at < 3 || at[0] != '%' || at[1] != 'r') return NULL;
  bool wide = at[2] == 'd';
  size_t number = 0;
  const char *digit = at + 2 + wide;
  if (digit >= end || *digit < '0' || *digit > '9') return NULL;
  for (; digit < end && *digit >= '0' && *digit <= '9'; digit++) {
    number = 10 * number + (size_t)(*digit - '0');
  }
  if (number >= w->count) return NULL;
  return wide ? &w->wide[number] : &w->narrow[number];
}

/* Counts the registers that a statement may write: those before its first comma, or inside the first
 * braces. Too many is safe. */
static void count_writes(writes *w, const char *at, const char *end) {
  bool braces = memchr(at, '{', (size_t)(end - at)) != NULL;
  for (; at < end; at++) {
    if (*at == '}' || (*at == ',' && !braces)) return;
    uint8_t *counter = counter_of(w, at, end);
    if (counter != NULL && *counter < 2) ++*counter;
  }
}

static void count_line(writes *w, line l) {
  const char *at = l.text, *end = l.text + l.bytes;
  while (at < end) {
    const char *stop = memchr(at, ';', (size_t)(end - at));
    if (stop == NULL) stop = end;
    count_writes(w, at, stop);
    at = stop + 1;
  }
}

/* "mov.b32 %r1, -5;" of a register that is written nowhere else. */
static bool sets_constant(const writes *w, line l) {
  const char *end = l.text + l.bytes, *at = skip_blanks(l.text, end);
  if (!starts_with(between(at, end), "mov.")) return false;
  at = skip_blanks(skip_word(at, end), end);
  const uint8_t *counter = counter_of(w, at, end);
  const char *comma = memchr(at, ',', (size_t)(end - at));
  if (counter == NULL || *counter != 1 || comma == NULL) return false;
  const char *value = skip_blanks(comma + 1, end);
  return value < end && (*value == '-' || (*value >= '0' && *value <= '9')) &&
         memchr(value, ';', (size_t)(end - value)) == end - 1;
}

static bool is_declaration(line l) { return starts_with(l, "\t.reg "); }

static bool count_all(writes *w, const line *lines, size_t count, size_t bytes) {
  w->count = bytes / 4; /* more than there can be registers */
  w->narrow = calloc(2 * w->count + 1, 1);
  if (w->narrow == NULL) return false;
  w->wide = w->narrow + w->count;
  for (size_t i = 0; i < count; i++) {
    if (!is_declaration(lines[i])) count_line(w, lines[i]);
  }
  return true;
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

static void add_line(output *out, line l) {
  add(out, l.text, l.bytes);
  add_text(out, "\n");
}

static void add_lines(output *out, const line *lines, size_t count, const writes *w) {
  bool declared = false;
  for (size_t i = 0; i < count;) {
    branch b;
    if (parse_branch(lines[i], &b)) {
      i = add_branches(out, lines, count, i);
      continue;
    }
    bool skips = is_noise(lines[i]) || (declared && sets_constant(w, lines[i]));
    if (!skips) add_line(out, lines[i]);
    i++;
    if (declared || !is_declaration(lines[i - 1]) || is_declaration(lines[i])) continue;
    /* behind the last declaration */
    declared = true;
    for (size_t k = i; k < count; k++) {
      if (sets_constant(w, lines[k])) add_line(out, lines[k]);
    }
  }
}

char *nvptx_finish(const char *ptx, const char *note) {
  size_t most = 1, bytes = strlen(ptx);
  for (const char *at = ptx; *at != 0; at++) most += *at == '\n';
  line *lines = calloc(most + 1, sizeof *lines);
  output out;
  /* a branch grows by ".uni" and a "!" */
  out.start = out.end = malloc(bytes + strlen(note) + 8 * most + 8);
  writes w = {0};
  size_t count = lines != NULL ? split(ptx, lines) : 0;
  bool fine = lines != NULL && out.start != NULL && count_all(&w, lines, count, bytes);
  if (fine) {
    add_text(&out, note);
    add_lines(&out, lines, count, &w);
    *out.end = 0;
  } else {
    free(out.start);
  }
  free(w.narrow);
  free(lines);
  return fine ? out.start : NULL;
}

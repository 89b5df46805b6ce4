/* The last steps on PTX, on its text: LLVM has no way to say them.
 *
 * Every branch of a program is on a scalar, which all lanes of a warp have alike, but LLVM prints plain
 * branches; told that they are uniform ptxas leaves out what brings diverged lanes together again. */
#include "nvptx.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
  char *start, *end;
} text;

static void add(text *t, const char *bytes, size_t count) {
  memcpy(t->end, bytes, count);
  t->end += count;
}

/* Where `word` stands in a line, at a word's start and followed by a blank; NULL if it does not. */
static const char *find_word(const char *line, const char *end, const char *word) {
  size_t length = strlen(word);
  for (const char *at = line; at + length < end; at++) {
    bool starts = at == line || at[-1] == ' ' || at[-1] == '\t';
    bool ends = at[length] == ' ' || at[length] == '\t';
    if (starts && ends && memcmp(at, word, length) == 0) return at;
  }
  return NULL;
}

/* Copies a line with ".uni" behind its branch. */
static void add_line(text *t, const char *line, const char *end) {
  static const char *const branches[] = {"bra", "brx.idx"};
  for (size_t i = 0; i < sizeof branches / sizeof branches[0]; i++) {
    const char *at = find_word(line, end, branches[i]);
    if (at == NULL) continue;
    const char *behind = at + strlen(branches[i]);
    add(t, line, (size_t)(behind - line));
    add(t, ".uni", 4);
    add(t, behind, (size_t)(end - behind));
    return;
  }
  add(t, line, (size_t)(end - line));
}

static bool is_noise(const char *line, const char *end) {
  static const char *const marks[] = {"\t// begin inline asm\n", "\t// end inline asm\n"};
  size_t length = (size_t)(end - line);
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    if (length == strlen(marks[i]) && memcmp(line, marks[i], length) == 0) return true;
  }
  return false;
}

char *nvptx_finish(const char *ptx, const char *note) {
  size_t lines = 1, bytes = strlen(ptx);
  for (const char *at = ptx; *at != 0; at++) lines += *at == '\n';
  text t;
  t.start = t.end = malloc(bytes + strlen(note) + 4 * lines + 8);
  if (t.start == NULL) return NULL;
  add(&t, note, strlen(note));
  for (const char *line = ptx; *line != 0;) {
    const char *end = strchr(line, '\n');
    end = end != NULL ? end + 1 : line + strlen(line);
    if (!is_noise(line, end)) add_line(&t, line, end);
    line = end;
  }
  *t.end = 0;
  return t.start;
}

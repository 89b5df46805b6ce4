/* Counts the instructions of a kernel's assembly: lines that are neither label, directive nor comment
 * on a host, statements of a body in PTX. */
#include "compiler/internal.h"

#include <ctype.h>
#include <string.h>

static const char *skip_blanks(const char *at, const char *end) {
  while (at < end && (*at == ' ' || *at == '\t')) at++;
  return at;
}

/* LLVM begins instructions with a tab and labels at the line's start. */
static bool is_host_instruction(const char *line, const char *end) {
  if (line == end || *line != '\t') return false;
  const char *word = skip_blanks(line, end);
  return word < end && *word != '.' && *word != '#' && *word != '/';
}

/* PTX ends statements with a semicolon; declarations begin with a point, predicates with @. */
static bool is_ptx_instruction(const char *line, const char *end) {
  const char *word = skip_blanks(line, end);
  while (word < end && (*word == '{' || *word == '}')) word = skip_blanks(word + 1, end);
  if (word == end || !(islower((unsigned char)*word) || *word == '@')) return false;
  return memchr(word, ';', (size_t)(end - word)) != NULL;
}

int64_t wb_count_instructions(const char *assembly, bool ptx) {
  int64_t count = 0;
  for (const char *line = assembly; line != NULL && *line != '\0';) {
    const char *newline = strchr(line, '\n');
    const char *end = newline != NULL ? newline : line + strlen(line);
    count += ptx ? is_ptx_instruction(line, end) : is_host_instruction(line, end);
    line = newline != NULL ? newline + 1 : NULL;
  }
  return count;
}

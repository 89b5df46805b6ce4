/* Escapes. Names of archive members, fields of damaged lines and the like may be any bytes. */
#define _GNU_SOURCE
#include "text.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Bytes of the character that begins at `text`, 0 if it is no UTF-8. */
static int character_bytes(const unsigned char *text) {
  static const struct {
    unsigned char mask, lead;
    uint32_t least; /* a smaller number has a shorter form */
  } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
  for (int more = 0; more < 4; more++) {
    if ((text[0] & forms[more].mask) != forms[more].lead) {
      continue;
    }
    uint32_t number = text[0] & (unsigned char)~forms[more].mask;
    for (int i = 1; i <= more; i++) {
      if ((text[i] & 0xc0) != 0x80) { /* at the end too */
        return 0;
      }
      number = number << 6 | (text[i] & 0x3fu);
    }
    bool surrogate = number >= 0xd800 && number < 0xe000;
    return number >= forms[more].least && number < 0x110000 && !surrogate ? more + 1 : 0;
  }
  return 0;
}

/* C0, DEL, C1, and what turns the direction of writing (U+202A to U+202E, U+2066 to U+2069). */
static bool is_control(const unsigned char *text, int bytes) {
  if (bytes == 1) {
    return text[0] < 0x20 || text[0] == 0x7f;
  }
  bool turns = bytes == 3 && text[0] == 0xe2 &&
               ((text[1] == 0x80 && text[2] >= 0xaa && text[2] <= 0xae) ||
                (text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9));
  return turns || (bytes == 2 && text[0] == 0xc2 && text[1] < 0xa0);
}

static void print_escape(FILE *stream, unsigned char byte) {
  switch (byte) {
  case '\n': (void)fputs("\\n", stream); break;
  case '\r': (void)fputs("\\r", stream); break;
  case '\t': (void)fputs("\\t", stream); break;
  default: (void)fprintf(stream, "\\x%02x", byte); break;
  }
}

void cli_print_text(FILE *stream, const char *text) {
  for (const unsigned char *at = (const unsigned char *)text; *at != '\0';) {
    int bytes = character_bytes(at);
    bool shown = bytes > 0 && !is_control(at, bytes);
    for (const unsigned char *end = at + (bytes > 0 ? bytes : 1); at < end; at++) {
      if (shown) {
        (void)fputc(*at, stream);
      } else {
        print_escape(stream, *at);
      }
    }
  }
}

void cli_print_arguments(FILE *stream, const char *format, va_list arguments) {
  char *text = NULL;
  if (vasprintf(&text, format, arguments) >= 0) {
    cli_print_text(stream, text);
    free(text);
  } else {
    (void)fputs("(no memory for this text)", stream);
  }
}

void cli_print_format(FILE *stream, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  cli_print_arguments(stream, format, arguments);
  va_end(arguments);
}

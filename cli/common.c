/* Numbers, times and texts of the command line. */
#define _POSIX_C_SOURCE 200809L
#include "common.h"

#include "text.h"

#include "base/check.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const int64_t second_ns = 1000000000;
static const int64_t day_ns = 86400 * INT64_C(1000000000);

int cli_fail(const wb_error *error) {
  (void)fputs("warpbook: ", stderr);
  cli_print_text(stderr, error->text);
  (void)fputc('\n', stderr);
  return CLI_ERROR;
}

int64_t cli_integer(const struct argp_state *state, const char *option, const char *text,
                    int64_t least, int64_t most) {
  char *end = NULL;
  errno = 0;
  long long value = strtoll(text, &end, 10);
  if (end == text || *end != '\0' || isspace((unsigned char)text[0]) || errno != 0 ||
      value < least || value > most) {
    argp_error(state, "--%s: expected a whole number from %" PRId64 " to %" PRId64 ", got \"%s\"",
               option, least, most, text);
  }
  return value;
}

int cli_choice(const struct argp_state *state, const char *option, const char *text,
               const char *const *names) {
  char list[256] = "";
  for (int i = 0; names[i] != NULL; i++) {
    if (strcmp(text, names[i]) == 0) {
      return i;
    }
    size_t used = strlen(list);
    (void)snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", names[i]);
  }
  argp_error(state, "--%s: expected one of %s, got \"%s\"", option, list, text);
  return 0;
}

/* Digits into a number below `limit`; moves *text behind them. */
static bool parse_digits(const char **text, int64_t limit, int64_t *value) {
  const char *at = *text;
  int64_t sum = 0;
  for (; isdigit((unsigned char)*at) && sum < limit; at++) {
    sum = sum * 10 + (*at - '0');
  }
  bool good = at != *text && sum < limit && !isdigit((unsigned char)*at);
  *text = at;
  *value = sum;
  return good;
}

/* ".5" as nanoseconds; no text at all is 0. */
static bool parse_fraction(const char *text, int64_t *ns) {
  *ns = 0;
  if (*text == '\0') {
    return true;
  }
  if (*text++ != '.' || *text == '\0') {
    return false;
  }
  for (int64_t unit = second_ns / 10; *text != '\0'; text++, unit /= 10) {
    if (!isdigit((unsigned char)*text) || unit == 0) {
      return false;
    }
    *ns += (*text - '0') * unit;
  }
  return true;
}

bool cli_time_parse(const char *text, int64_t *time_ns) {
  int64_t part[3] = {0, 0, 0};
  int64_t fraction = 0;
  int parts = 0;
  bool clock = strchr(text, ':') != NULL;
  do {
    text += parts > 0 ? 1 : 0;
    if (!parse_digits(&text, !clock ? 86401 : parts == 0 ? 25 : 60, &part[parts])) {
      return false;
    }
    parts++;
  } while (*text == ':' && parts < 3);
  /* 10:15 has no seconds that could have decimals */
  if ((clock && parts < 3 && *text != '\0') || !parse_fraction(text, &fraction)) {
    return false;
  }
  int64_t seconds = clock ? part[0] * 3600 + part[1] * 60 + part[2] : part[0];
  *time_ns = seconds * second_ns + fraction;
  return *time_ns <= day_ns;
}

int64_t cli_time(const struct argp_state *state, const char *option, const char *text) {
  int64_t time_ns = 0;
  if (!cli_time_parse(text, &time_ns)) {
    argp_error(
        state,
        "--%s: expected a time as 10:15, 10:15:30.5 or in seconds after midnight, got \"%s\"",
        option, text);
  }
  return time_ns;
}

/* Appends the decimals of a second, without trailing zeros. */
static void append_fraction(int64_t time_ns, char text[CLI_TEXT_BYTES]) {
  int64_t fraction = time_ns % second_ns;
  if (fraction == 0) {
    return;
  }
  size_t used = strlen(text);
  (void)snprintf(text + used, CLI_TEXT_BYTES - used, ".%09" PRId64, fraction);
  for (char *end = text + strlen(text) - 1; *end == '0'; end--) {
    *end = '\0';
  }
}

const char *cli_clock_text(int64_t time_ns, char text[CLI_TEXT_BYTES]) {
  if (time_ns < 0) {
    return cli_seconds_text(time_ns, text);
  }
  int64_t seconds = time_ns / second_ns;
  (void)snprintf(text, CLI_TEXT_BYTES, "%02" PRId64 ":%02" PRId64 ":%02" PRId64, seconds / 3600,
                 seconds / 60 % 60, seconds % 60);
  append_fraction(time_ns, text);
  return text;
}

const char *cli_seconds_text(int64_t time_ns, char text[CLI_TEXT_BYTES]) {
  if (time_ns < 0) {
    /* no file has such times, but another program's tape may */
    (void)snprintf(text, CLI_TEXT_BYTES, "%" PRId64 "ns", time_ns);
    return text;
  }
  (void)snprintf(text, CLI_TEXT_BYTES, "%" PRId64, time_ns / second_ns);
  append_fraction(time_ns, text);
  return text;
}

const char *cli_lower(const char *name, char text[CLI_TEXT_BYTES]) {
  size_t i = 0;
  for (; name[i] != '\0' && i + 1 < CLI_TEXT_BYTES; i++) {
    text[i] = (char)tolower((unsigned char)name[i]);
  }
  text[i] = '\0';
  return text;
}

double cli_now(void) {
  struct timespec now;
  return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec
                                                   : 0;
}

json_t *cli_json_text(const char *text) {
  if (text == NULL) {
    return json_null();
  }
  json_t *json = json_string(text);
  char *shown = json == NULL ? strdup(text) : NULL;
  if (shown == NULL) {
    return json;
  }
  for (char *at = shown; *at != '\0'; at++) {
    *at = (unsigned char)*at < 0x80 ? *at : '?';
  }
  json = json_string(shown);
  free(shown);
  return json;
}

int cli_print_json(json_t *object) {
  wb_error error;
  if (object == NULL) {
    (void)WB_FAIL(&error, WB_ERROR_MEMORY, "no memory for the JSON output");
    return cli_fail(&error);
  }
  int failed =
      json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9) | JSON_ENSURE_ASCII);
  json_decref(object);
  if (failed != 0 || putchar('\n') == EOF) {
    (void)WB_FAIL(&error, WB_ERROR_IO, "standard output: cannot write it: %s", strerror(errno));
    return cli_fail(&error);
  }
  return CLI_OK;
}

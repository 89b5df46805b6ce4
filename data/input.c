/* From a path to a tape: what kind of input it is, which files or members make the pair.
 *
 * A pair is found by name: the message file's name with its last "message" replaced by "orderbook".
 * A file and its partner may each be compressed or not. */
#define _GNU_SOURCE
#include "data/input.h"

#include "data/lobster.h"
#include "data/source.h"
#include "data/store.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const wb_read_options no_options;

static const char MESSAGE[] = "message", ORDERBOOK[] = "orderbook";

/* ---- names ---- */

static const char *base_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* The last occurrence of `word` in the last part of `path`, NULL if there is none. */
static const char *last_word(const char *path, const char *word) {
  const char *found = NULL;
  for (const char *at = base_name(path); (at = strstr(at, word)) != NULL; at++) {
    found = at;
  }
  return found;
}

/* A message file's name; not one of the hidden files that some systems put beside each file. */
static bool is_message_name(const char *path) {
  return last_word(path, MESSAGE) != NULL && strncmp(base_name(path), "._", 2) != 0;
}

/* The partner's name, from malloc. `*text` is NULL if memory cannot be had or, then without an
 * error, if the name has no "message" in it. */
static wb_status partner_name(const char *path, char **partner, wb_error *error) {
  const char *word = last_word(path, MESSAGE);
  *partner = NULL;
  if (word == NULL) {
    return WB_OK;
  }
  size_t room = strlen(path) + sizeof ORDERBOOK + sizeof ".gz";
  *partner = malloc(room);
  if (*partner == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for a name", path);
  }
  (void)snprintf(*partner, room, "%.*s%s%s", (int)(word - path), path, ORDERBOOK,
                 word + strlen(MESSAGE));
  return WB_OK;
}

/* The partner's path: the name itself, or with ".gz" put on or taken off. NULL if none is there. */
static wb_status partner_path(const char *path, char **partner, wb_error *error) {
  WB_TRY(partner_name(path, partner, error));
  if (*partner == NULL || access(*partner, F_OK) == 0) {
    return WB_OK;
  }
  size_t length = strlen(*partner);
  if (length > 3 && strcmp(*partner + length - 3, ".gz") == 0) {
    (*partner)[length - 3] = 0;
  } else {
    memcpy(*partner + length, ".gz", sizeof ".gz");
  }
  if (access(*partner, F_OK) != 0) {
    free(*partner);
    *partner = NULL;
  }
  return WB_OK;
}

static wb_status no_partner(const char *message, wb_error *error) {
  char *wanted = NULL;
  WB_TRY(partner_name(message, &wanted, error));
  wb_status status =
      wanted != NULL
          ? WB_FAIL(error, WB_ERROR_IO,
                    "%s: expected its orderbook file %s beside it, got none: name the file, or ask "
                    "for messages only",
                    message, base_name(wanted))
          : WB_FAIL(
                error, WB_ERROR_IO,
                "%s: expected an orderbook file; a name without \"message\" tells of none: name "
                "the file, or ask for messages only",
                message);
  free(wanted);
  return status;
}

/* ---- archives ---- */

/* Members of an archive, by name. */
typedef struct member_list {
  wb_arena *arena;
  const char **names;
  int64_t *bytes;
  int32_t count, room;
} member_list;

static wb_status keep_member(void *context, const char *name, int64_t bytes, wb_error *error) {
  member_list *list = context;
  if (list->count == list->room) {
    int32_t room = list->room > 0 ? list->room * 2 : 16;
    const char **names = wb_arena_array(list->arena, (size_t)room, sizeof *names);
    int64_t *sizes = wb_arena_array(list->arena, (size_t)room, sizeof *sizes);
    if (names == NULL || sizes == NULL) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the names in an archive");
    }
    if (list->count > 0) {
      memcpy(names, list->names, (size_t)list->count * sizeof *names);
      memcpy(sizes, list->bytes, (size_t)list->count * sizeof *sizes);
    }
    list->names = names;
    list->bytes = sizes;
    list->room = room;
  }
  list->names[list->count] = wb_arena_text(list->arena, name);
  if (list->names[list->count] == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the names in an archive");
  }
  list->bytes[list->count++] = bytes;
  return WB_OK;
}

/* Index of the member of that name, -1 if there is none. */
static int32_t find_member(const member_list *members, const char *name) {
  for (int32_t i = 0; name != NULL && i < members->count; i++) {
    if (strcmp(members->names[i], name) == 0) {
      return i;
    }
  }
  return -1;
}

/* One entry per message file of the archive. */
static wb_status list_archive(const char *path, wb_input_list *list, wb_error *error) {
  member_list members = {.arena = &list->arena};
  WB_TRY(wb_source_list(path, keep_member, &members, error));
  list->entries = wb_arena_array(&list->arena, (size_t)members.count + 1, sizeof *list->entries);
  if (list->entries == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its list", path);
  }
  for (int32_t i = 0; i < members.count; i++) {
    if (!is_message_name(members.names[i])) {
      continue;
    }
    char *partner;
    WB_TRY(partner_name(members.names[i], &partner, error));
    int32_t found = find_member(&members, partner);
    free(partner);
    wb_input_entry *entry = &list->entries[list->count++];
    entry->message_name = wb_arena_text(&list->arena, members.names[i]);
    entry->orderbook_name = found >= 0 ? wb_arena_text(&list->arena, members.names[found]) : NULL;
    entry->message_bytes = members.bytes[i];
    entry->orderbook_bytes = found >= 0 ? members.bytes[found] : -1;
    if (entry->message_name == NULL || (found >= 0 && entry->orderbook_name == NULL)) {
      return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its list", path);
    }
  }
  return WB_OK;
}

/* The names of a list's days, as far as they fit a message. */
static void join_names(const wb_input_list *list, char *text, size_t room) {
  size_t at = 0;
  text[0] = 0;
  for (int32_t i = 0; i < list->count && at < room; i++) {
    int wrote = snprintf(text + at, room - at, "%s%s", i > 0 ? ", " : "",
                         base_name(list->entries[i].message_name));
    at += wrote > 0 ? (size_t)wrote : 0;
  }
}

/* The day whose name `member` is, not only a part: that of A is a part of AA's. NULL if none is. */
static const wb_input_entry *named_day(const wb_input_list *list, const char *member) {
  const wb_input_entry *found = NULL;
  for (int32_t i = list->count - 1; member != NULL && i >= 0; i--) {
    if (strcmp(list->entries[i].message_name, member) == 0) {
      found = &list->entries[i];
    }
  }
  return found;
}

/* The one day that `member` names, or the only one. */
static wb_status choose_day(const char *path, const wb_input_list *list, const char *member,
                            const wb_input_entry **chosen, wb_error *error) {
  char names[WB_ERROR_TEXT_BYTES / 2];
  join_names(list, names, sizeof names);
  if (list->count == 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "%s: expected a member with \"message\" in its name, got none", path);
  }
  *chosen = named_day(list, member);
  if (*chosen != NULL) {
    return WB_OK;
  }
  for (int32_t i = 0; i < list->count; i++) {
    if (member == NULL || strstr(list->entries[i].message_name, member) != NULL) {
      if (*chosen != NULL) {
        return WB_FAIL(error, WB_ERROR_ARGUMENT,
                       "%s: expected a part of a name that chooses one of its %" PRId32
                       " days, got %s%s%s: %s",
                       path, list->count, member != NULL ? "\"" : "",
                       member != NULL ? member : "none", member != NULL ? "\"" : "", names);
      }
      *chosen = &list->entries[i];
    }
  }
  return *chosen != NULL ? WB_OK
                         : WB_FAIL(error, WB_ERROR_ARGUMENT,
                                   "%s: expected a part of a message file's name, got \"%s\": %s",
                                   path, member, names);
}

/* ---- texts ---- */

/* The orderbook text from a path of its own: a file, or the one that fits in an archive. */
static wb_status read_orderbook(const char *path, const char *message_name, wb_source_text *text,
                                wb_error *error) {
  wb_source_kind kind;
  WB_TRY(wb_source_kind_of(path, &kind, error));
  if (kind != WB_SOURCE_ARCHIVE) {
    return wb_source_read(path, text, error);
  }
  char *partner;
  WB_TRY(partner_name(message_name, &partner, error));
  if (partner == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: expected a file: which member belongs to %s cannot be told", path,
                   message_name);
  }
  wb_arena arena = {0};
  member_list members = {.arena = &arena};
  wb_status status = wb_source_list(path, keep_member, &members, error);
  const char *wanted = base_name(partner);
  for (int32_t i = 0; status == WB_OK && i < members.count; i++) {
    if (strcmp(base_name(members.names[i]), base_name(partner)) == 0) {
      wanted = members.names[i];
    }
  }
  if (status == WB_OK) {
    status = wb_source_read_members(path, 1, &wanted, text, error);
  }
  wb_arena_free(&arena);
  free(partner);
  return status;
}

static wb_status read_archive(const char *path, const wb_read_options *options,
                              wb_source_text texts[2], wb_error *error) {
  wb_input_list list;
  WB_TRY(wb_input_list_read(path, &list, error));
  const wb_input_entry *day = NULL;
  wb_status status = choose_day(path, &list, options->member, &day, error);
  bool inside = !options->messages_only && options->orderbook_path == NULL;
  if (status == WB_OK && inside && day->orderbook_name == NULL) {
    status = no_partner(day->message_name, error);
    (void)wb_error_prefix(error, "%s", path);
  }
  if (status == WB_OK) {
    const char *const names[2] = {day->message_name, day->orderbook_name};
    status = wb_source_read_members(path, inside ? 2 : 1, names, texts, error);
  }
  wb_input_list_free(&list);
  return status;
}

static wb_status read_file(const char *path, const wb_read_options *options,
                           wb_source_text texts[2], wb_error *error) {
  if (last_word(path, MESSAGE) == NULL && last_word(path, ORDERBOOK) != NULL &&
      options->orderbook_path == NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "%s: expected a message file, got an orderbook file",
                   path);
  }
  char *partner = NULL;
  if (!options->messages_only && options->orderbook_path == NULL) {
    WB_TRY(partner_path(path, &partner, error));
    if (partner == NULL) {
      return no_partner(path, error);
    }
  }
  wb_status status = wb_source_read(path, &texts[0], error);
  if (status == WB_OK && partner != NULL) {
    status = wb_source_read(partner, &texts[1], error);
  }
  free(partner);
  return status;
}

/* Message and orderbook text; the latter's name stays NULL if there is none. */
static wb_status read_texts(const char *path, wb_source_kind kind, const wb_read_options *options,
                            wb_source_text texts[2], wb_error *error) {
  WB_TRY(kind == WB_SOURCE_ARCHIVE ? read_archive(path, options, texts, error)
                                   : read_file(path, options, texts, error));
  const char *message_name = texts[0].name + (kind == WB_SOURCE_ARCHIVE ? strlen(path) + 1 : 0);
  return options->orderbook_path != NULL
             ? read_orderbook(options->orderbook_path, message_name, &texts[1], error)
             : WB_OK;
}

/* ---- tapes ---- */

/* What a store was made with is in it: an option that would have to change that is no option. */
static wb_status check_store_options(const char *path, const wb_read_options *options,
                                     wb_error *error) {
  const char *given = options->messages_only ? "messages only"
                      : options->truncate    ? "truncate"
                      : options->skip_bad    ? "skip bad lines"
                                             : NULL;
  if (given != NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: a tape store is read as it is: expected no such option, got: %s", path,
                   given);
  }
  return WB_OK;
}

static wb_status read_store(const char *path, const wb_read_options *options, wb_tape **tape,
                            wb_error *error) {
  WB_TRY(check_store_options(path, options, error));
  if (options->orderbook_path != NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: a tape store holds its book rows: expected no orderbook file, got %s", path,
                   options->orderbook_path);
  }
  WB_TRY(wb_store_read(path, tape, error));
  if (options->tick_size != 0 && options->tick_size != (*tape)->tick_size) {
    int32_t stored = (*tape)->tick_size;
    wb_tape_free(*tape);
    *tape = NULL;
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: a tape store has its tick size: expected %" PRId32 ", got %" PRId32, path,
                   stored, options->tick_size);
  }
  return WB_OK;
}

wb_status wb_tape_read(const char *path, const wb_read_options *options, wb_tape **tape,
                       wb_error *error) {
  *tape = NULL;
  options = options != NULL ? options : &no_options;
  if (options->messages_only && options->orderbook_path != NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "messages only: expected no orderbook file, got %s",
                   options->orderbook_path);
  }
  wb_source_kind kind;
  WB_TRY(wb_source_kind_of(path, &kind, error));
  if (kind != WB_SOURCE_ARCHIVE && options->member != NULL) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: only archives have members: expected none, got \"%s\"", path,
                   options->member);
  }
  if (kind == WB_SOURCE_HDF5) {
    return read_store(path, options, tape, error);
  }
  wb_source_text texts[2] = {{0}, {0}};
  wb_status status = read_texts(path, kind, options, texts, error);
  if (status == WB_OK) {
    wb_lobster_text messages = {texts[0].name, texts[0].bytes, texts[0].size};
    wb_lobster_text orderbook = {texts[1].name, texts[1].bytes, texts[1].size};
    status = wb_lobster_read(&messages, orderbook.name != NULL ? &orderbook : NULL, options, tape,
                             error);
  }
  wb_source_text_free(&texts[0]);
  wb_source_text_free(&texts[1]);
  return status;
}

/* ---- lists ---- */

/* A single day: a store, a text and its partner. */
static wb_status list_file(const char *path, wb_source_kind kind, wb_input_list *list,
                           wb_error *error) {
  wb_input_entry *entry = wb_arena_alloc(&list->arena, sizeof *entry);
  if (entry == NULL || (entry->message_name = wb_arena_text(&list->arena, path)) == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its list", path);
  }
  entry->message_bytes = kind == WB_SOURCE_PLAIN ? wb_source_size(path) : -1;
  entry->orderbook_bytes = -1;
  list->entries = entry;
  list->count = 1;
  if (kind == WB_SOURCE_HDF5) {
    return WB_OK;
  }
  char *partner;
  WB_TRY(partner_path(path, &partner, error));
  if (partner == NULL) {
    return WB_OK;
  }
  wb_source_kind partner_kind = WB_SOURCE_PLAIN;
  wb_status status = wb_source_kind_of(partner, &partner_kind, error);
  entry->orderbook_name = wb_arena_text(&list->arena, partner);
  entry->orderbook_bytes = partner_kind == WB_SOURCE_PLAIN ? wb_source_size(partner) : -1;
  free(partner);
  if (status == WB_OK && entry->orderbook_name == NULL) {
    status = WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its list", path);
  }
  return status;
}

wb_status wb_input_list_read(const char *path, wb_input_list *list, wb_error *error) {
  memset(list, 0, sizeof *list);
  wb_source_kind kind;
  WB_TRY(wb_source_kind_of(path, &kind, error));
  wb_status status = kind == WB_SOURCE_ARCHIVE ? list_archive(path, list, error)
                                               : list_file(path, kind, list, error);
  if (status != WB_OK) {
    wb_input_list_free(list);
  }
  return status;
}

void wb_input_list_free(wb_input_list *list) {
  wb_arena_free(&list->arena);
  memset(list, 0, sizeof *list);
}

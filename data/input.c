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

/* Not one of the hidden files that some systems put beside each file. */
static bool has_message(const char *path) {
  return last_word(path, MESSAGE) != NULL && strncmp(base_name(path), "._", 2) != 0;
}

/* LOBSTER's name for a message file: ..._message_10.csv. */
static bool is_day_name(const char *path) {
  static const char mark[] = "_message_";
  const char *word = last_word(path, mark);
  const char *depth = word != NULL ? word + strlen(mark) : "";
  size_t digits = strspn(depth, "0123456789");
  return has_message(path) && digits > 0 && strcmp(depth + digits, ".csv") == 0;
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

static wb_status add_entry(wb_input_list *list, const member_list *members, int32_t index,
                           wb_error *error) {
  char *partner;
  WB_TRY(partner_name(members->names[index], &partner, error));
  int32_t found = find_member(members, partner);
  free(partner);
  wb_input_entry *entry = &list->entries[list->count + list->other_count];
  entry->message_name = wb_arena_text(&list->arena, members->names[index]);
  entry->orderbook_name = found >= 0 ? wb_arena_text(&list->arena, members->names[found]) : NULL;
  entry->message_bytes = members->bytes[index];
  entry->orderbook_bytes = found >= 0 ? members->bytes[found] : -1;
  if (entry->message_name == NULL || (found >= 0 && entry->orderbook_name == NULL)) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "no memory for the names in an archive");
  }
  return WB_OK;
}

/* One entry per message file of the archive, then those that only have the word in their names. */
static wb_status list_members(const char *path, wb_input_list *list, wb_error *error) {
  member_list members = {.arena = &list->arena};
  WB_TRY(wb_source_list(path, keep_member, &members, error));
  list->entries = wb_arena_array(&list->arena, (size_t)members.count + 1, sizeof *list->entries);
  if (list->entries == NULL) {
    return WB_FAIL(error, WB_ERROR_MEMORY, "%s: no memory for its list", path);
  }
  for (int32_t i = 0; i < members.count; i++) {
    if (is_day_name(members.names[i])) {
      WB_TRY(add_entry(list, &members, i, error));
      list->count++;
    }
  }
  for (int32_t i = 0; i < members.count; i++) {
    if (has_message(members.names[i]) && !is_day_name(members.names[i])) {
      WB_TRY(add_entry(list, &members, i, error));
      list->other_count++;
    }
  }
  /* the only one that can be meant */
  if (list->count == 0 && list->other_count == 1) {
    list->count = 1;
    list->other_count = 0;
  }
  return WB_OK;
}

/* Whether `member` (NULL: any) is a part of the entry's name. */
static bool names_entry(const wb_input_entry *entry, const char *member) {
  return member == NULL || strstr(entry->message_name, member) != NULL;
}

/* Whole names, since days in different folders may share the last part, as far as they fit a message. */
static void join_names(const wb_input_entry *entries, int32_t count, const char *member, char *text,
                       size_t room) {
  enum { MORE_BYTES = 24 };
  size_t at = 0;
  int32_t left = 0;
  text[0] = 0;
  for (int32_t i = 0; i < count; i++) {
    const char *name = entries[i].message_name;
    if (!names_entry(&entries[i], member)) {
      continue;
    }
    if (left > 0 || at + strlen(name) + MORE_BYTES > room) {
      left++;
    } else {
      at += (size_t)snprintf(text + at, room - at, "%s%s", at > 0 ? ", " : "", name);
    }
  }
  if (left > 0) {
    (void)snprintf(text + at, room - at, "%s%" PRId32 " more", at > 0 ? " and " : "", left);
  }
}

/* The entry whose name `member` is, not only a part: that of A is a part of AA's; else the one that has
 * it as a part. *found tells how many those are. */
static const wb_input_entry *find_entry(const wb_input_entry *entries, int32_t count,
                                        const char *member, int32_t *found) {
  const wb_input_entry *last = NULL;
  *found = 0;
  for (int32_t i = 0; i < count; i++) {
    if (member != NULL && strcmp(entries[i].message_name, member) == 0) {
      *found = 1;
      return &entries[i];
    }
    if (names_entry(&entries[i], member)) {
      last = &entries[i];
      ++*found;
    }
  }
  return last;
}

static wb_status fail_no_day(const char *path, const wb_input_list *list, wb_error *error) {
  char names[WB_ERROR_TEXT_BYTES / 2];
  if (list->other_count == 0) {
    return WB_FAIL(error, WB_ERROR_FORMAT,
                   "%s: expected a member named like a LOBSTER message file, .._message_N.csv, got "
                   "none",
                   path);
  }
  join_names(list->entries, list->other_count, NULL, names, sizeof names);
  return WB_FAIL(error, WB_ERROR_FORMAT,
                 "%s: expected a member named like a LOBSTER message file, .._message_N.csv, got "
                 "none; choose one of these by its name: %s",
                 path, names);
}

/* The one day that `member` names, or the only one. What is not named like a day has to be named. */
static wb_status choose_day(const char *path, const wb_input_list *list, const char *member,
                            const wb_input_entry **chosen, wb_error *error) {
  char names[WB_ERROR_TEXT_BYTES / 2];
  const wb_input_entry *entries = list->entries;
  int32_t count = list->count, found;
  *chosen = find_entry(entries, count, member, &found);
  if (found == 0 && member != NULL && list->other_count > 0) {
    entries += count;
    count = list->other_count;
    *chosen = find_entry(entries, count, member, &found);
  }
  if (found == 1) {
    return WB_OK;
  }
  if (found == 0 && list->count == 0) {
    return fail_no_day(path, list, error);
  }
  if (found == 0) {
    join_names(list->entries, list->count, NULL, names, sizeof names);
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "%s: expected a part of a message file's name, got \"%.200s\": %s", path, member,
                   names);
  }
  join_names(entries, count, member, names, sizeof names);
  return WB_FAIL(error, WB_ERROR_ARGUMENT,
                 "%s: expected a part of a name that chooses one of its %" PRId32
                 " days, got %s%.200s%s: %s",
                 path, count, member != NULL ? "\"" : "", member != NULL ? member : "none",
                 member != NULL ? "\"" : "", names);
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
  wb_input_list list = {0};
  const wb_input_entry *day = NULL;
  wb_status status = list_members(path, &list, error);
  if (status == WB_OK) {
    status = choose_day(path, &list, options->member, &day, error);
  }
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
  WB_TRY(wb_source_read(path, &texts[0], error));
  if (options->messages_only || options->orderbook_path != NULL) {
    return WB_OK;
  }
  char *partner = NULL;
  WB_TRY(partner_path(path, &partner, error));
  const wb_status status =
      partner != NULL ? wb_source_read(partner, &texts[1], error) : no_partner(path, error);
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
  wb_status status = kind == WB_SOURCE_ARCHIVE ? list_members(path, list, error)
                                               : list_file(path, kind, list, error);
  if (status == WB_OK && list->count == 0) {
    status = fail_no_day(path, list, error);
  }
  if (status != WB_OK) {
    wb_input_list_free(list);
  }
  return status;
}

void wb_input_list_free(wb_input_list *list) {
  wb_arena_free(&list->arena);
  memset(list, 0, sizeof *list);
}

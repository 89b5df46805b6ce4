/* Files, archives and partners: what wb_tape_read and wb_input_list_read make of a path. */
#define _GNU_SOURCE
#include "lobster_texts.h"
#include "tapes.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <locale.h>
#include <sys/stat.h>
#include <unistd.h>

#define DAY_1 "XYZ_2020-01-02_34200000_57600000_"
#define DAY_2 "XYZ_2020-01-03_34200000_57600000_"

static const char messages_1[] = "34200,5,0,1,10050,1\n",
                  messages_2[] = "34200,5,0,1,10050,1\n34201,5,0,1,10050,1\n",
                  book_1[] = "10100,7,10000,10\n",
                  book_2[] = "10100,7,10000,10\n10100,7,10000,10\n";

typedef struct member {
  const char *name, *text;
} member;

static const member two_days[] = {
    {"ReadMe.txt", "hello\n"},
    {"days/" DAY_1 "orderbook_1.csv", book_1},
    {"days/" DAY_1 "message_1.csv", messages_1},
    {"days/._" DAY_1 "message_1.csv", "resource fork"},
    {"days/" DAY_2 "message_1.csv", messages_2},
    {"days/" DAY_2 "orderbook_1.csv", book_2},
};
enum { TWO_DAYS = sizeof two_days / sizeof *two_days };

static char folder[64], path[256];

static void set_up(void) { make_folder(folder); }
static void tear_down(void) { remove_folder(folder); }

TestSuite(input, .init = set_up, .fini = tear_down);

static const char *in_folder(const char *name) {
  snprintf(path, sizeof path, "%s/%s", folder, name);
  return path;
}

static void put(const char *name, const char *text) {
  write_file(in_folder(name), text, strlen(text));
}

static void put_archive(const char *name, int (*format)(struct archive *), const member *members,
                        int count) {
  struct archive *a = archive_write_new();
  cr_assert_eq(format(a), ARCHIVE_OK);
  cr_assert_eq(archive_write_open_filename(a, in_folder(name)), ARCHIVE_OK);
  for (int i = 0; i < count; i++) {
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, members[i].name);
    archive_entry_set_size(entry, (la_int64_t)strlen(members[i].text));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
    archive_write_data(a, members[i].text, strlen(members[i].text));
    archive_entry_free(entry);
  }
  cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
  archive_write_free(a);
}

static void put_gzip(const char *name, const char *text) {
  struct archive *a = archive_write_new();
  archive_write_add_filter_gzip(a);
  archive_write_set_format_raw(a);
  cr_assert_eq(archive_write_open_filename(a, in_folder(name)), ARCHIVE_OK);
  struct archive_entry *entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
  archive_write_data(a, text, strlen(text));
  archive_entry_free(entry);
  archive_write_free(a);
}

static void expect_rows(const char *name, const wb_read_options *options, int64_t rows) {
  wb_tape *tape = NULL;
  wb_error error = {0};
  cr_expect_eq(wb_tape_read(in_folder(name), options, &tape, &error), WB_OK, "%s", error.text);
  if (tape != NULL) {
    cr_expect_eq(tape->row_count, rows);
  }
  wb_tape_free(tape);
}

/* `text` without the folder's path, which is put before it. */
static void expect_error(const char *name, const wb_read_options *options, wb_status status,
                         const char *text) {
  wb_tape *tape = NULL;
  wb_error error = {0};
  char expected[1024];
  snprintf(expected, sizeof expected, "%s/%s", folder, text);
  cr_expect_eq(wb_tape_read(in_folder(name), options, &tape, &error), status);
  cr_expect_str_eq(error.text, expected);
  cr_expect_null(tape);
}

/* ---- plain files ---- */

Test(input, the_partner_is_found_by_name) {
  put(DAY_1 "message_1.csv", messages_1);
  put(DAY_1 "orderbook_1.csv", book_1);
  expect_rows(DAY_1 "message_1.csv", NULL, 1);
}

Test(input, only_the_last_message_of_the_name_is_replaced) {
  put("message_of_" DAY_1 "message_1.csv", messages_1);
  put("message_of_" DAY_1 "orderbook_1.csv", book_1);
  expect_rows("message_of_" DAY_1 "message_1.csv", NULL, 1);
}

Test(input, a_missing_partner_is_an_error_that_says_so) {
  put(DAY_1 "message_1.csv", messages_1);
  expect_error(DAY_1 "message_1.csv", NULL, WB_ERROR_IO,
               DAY_1
               "message_1.csv: expected its orderbook file " DAY_1
               "orderbook_1.csv beside it, got none: name the file, or ask for messages only");
  put("day.csv", messages_1);
  expect_error(
      "day.csv", NULL, WB_ERROR_IO,
      "day.csv: expected an orderbook file; a name without \"message\" tells of none: name "
      "the file, or ask for messages only");
  expect_rows("day.csv", &(wb_read_options){.messages_only = true}, 1);
}

Test(input, the_orderbook_may_be_named) {
  put("day.csv", messages_1);
  put("book.csv", book_1);
  char book_path[256];
  snprintf(book_path, sizeof book_path, "%s/book.csv", folder);
  expect_rows("day.csv", &(wb_read_options){.orderbook_path = book_path}, 1);
}

Test(input, an_orderbook_file_is_no_message_file) {
  put(DAY_1 "orderbook_1.csv", book_1);
  expect_error(DAY_1 "orderbook_1.csv", NULL, WB_ERROR_ARGUMENT,
               DAY_1 "orderbook_1.csv: expected a message file, got an orderbook file");
}

Test(input, what_cannot_be_read) {
  expect_error("none_message.csv", NULL, WB_ERROR_IO,
               "none_message.csv: cannot be opened: No such file or directory");
  mkdir(in_folder("dir"), 0700);
  expect_error("dir", NULL, WB_ERROR_IO, "dir: expected a file, got a folder");
  put("a_message_1.csv", "");
  put("a_orderbook_1.csv", book_1);
  expect_error("a_message_1.csv", NULL, WB_ERROR_FORMAT,
               "a_message_1.csv: expected at least one row, got none");
}

Test(input, errors_name_the_path_as_it_was_given) {
  put("a_message_1.csv", "34200,5,0,1,10050,3\n");
  put("a_orderbook_1.csv", book_1);
  expect_error("a_message_1.csv", NULL, WB_ERROR_FORMAT,
               "a_message_1.csv line 1: direction: expected 1 or -1, got \"3\"");
}

/* ---- gzip ---- */

Test(input, gzip_files_and_their_partners) {
  put_gzip(DAY_1 "message_1.csv.gz", messages_1);
  put_gzip(DAY_1 "orderbook_1.csv.gz", book_1);
  expect_rows(DAY_1 "message_1.csv.gz", NULL, 1);
  put(DAY_2 "message_1.csv", messages_2);
  put_gzip(DAY_2 "orderbook_1.csv.gz", book_2);
  expect_rows(DAY_2 "message_1.csv", NULL, 2);
  put_gzip("b_message_1.csv.gz", messages_2);
  put("b_orderbook_1.csv", book_2);
  expect_rows("b_message_1.csv.gz", NULL, 2);
}

Test(input, a_truncated_gzip_file) {
  char text[4096] = "";
  for (int i = 0; i < 100; i++) {
    sprintf(text + strlen(text), "34200.%d,5,0,%d,10050,1\n", 100 + i, i + 1);
  }
  put_gzip("c_message_1.csv.gz", text);
  size_t size;
  char *bytes = file_bytes(in_folder("c_message_1.csv.gz"), &size);
  write_file(path, bytes, size - 30);
  free(bytes);
  expect_error("c_message_1.csv.gz", &(wb_read_options){.messages_only = true}, WB_ERROR_FORMAT,
               "c_message_1.csv.gz: truncated gzip input");
}

/* Each bit of what follows the compressed text is checked: its checksum and its length. */
Test(input, a_gzip_file_whose_checksum_does_not_fit) {
  put_gzip("c_message_1.csv.gz", messages_2);
  size_t size;
  char *bytes = file_bytes(in_folder("c_message_1.csv.gz"), &size);
  for (size_t at = size - 8; at < size; at++) {
    bytes[at] ^= 0x10;
    write_file(path, bytes, size);
    bytes[at] ^= 0x10;
    expect_error("c_message_1.csv.gz", &(wb_read_options){.messages_only = true}, WB_ERROR_FORMAT,
                 at < size - 4 ? "c_message_1.csv.gz: incorrect data check"
                               : "c_message_1.csv.gz: incorrect length check");
  }
  free(bytes);
}

Test(input, gzip_files_of_several_members_and_with_more_behind_them) {
  const wb_read_options alone = {.messages_only = true};
  put_gzip("c_message_1.csv.gz", messages_1);
  size_t size;
  char *bytes = file_bytes(in_folder("c_message_1.csv.gz"), &size), twice[1024] = {0};
  cr_assert_lt(2 * size + 3, sizeof twice);
  memcpy(twice, bytes, size);
  memcpy(twice + size, bytes, size);
  free(bytes);
  write_file(path, twice, 2 * size);
  expect_rows("c_message_1.csv.gz", &alone, 2);
  write_file(path, twice, 2 * size + 3);
  expect_rows("c_message_1.csv.gz", &alone, 2);
  twice[2 * size] = 'x';
  write_file(path, twice, 2 * size + 3);
  expect_error("c_message_1.csv.gz", &alone, WB_ERROR_FORMAT,
               "c_message_1.csv.gz: expected the end after the gzip data, got more bytes");
}

/* ---- kinds that are not read ---- */

Test(input, other_compressed_files_are_not_taken_for_text) {
  static const struct {
    const char *bytes, *what;
  } kinds[] = {{"\xfd"
                "7zXZ\0\0\4\xe6",
                "an .xz file"},
               {"BZh91AY&SY", "a .bz2 file"},
               {"\x28\xb5\x2f\xfd\x24\x10\x1\x2", "a .zst file"},
               {"Rar!\x1a\x07\x01\0", "a .rar archive"}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
    char text[128];
    write_file(in_folder("a_message_1.csv"), kinds[i].bytes, 8);
    snprintf(text, sizeof text, "a_message_1.csv: expected a text, .gz, .zip, .7z or .h5, got %s",
             kinds[i].what);
    expect_error("a_message_1.csv", NULL, WB_ERROR_FORMAT, text);
  }
}

/* ---- pipes ---- */

/* A process that writes a file's content into a pipe of that name, once. */
static void feed(const char *name, const char *from) {
  size_t size;
  char *bytes = file_bytes(in_folder(from), &size);
  cr_assert_eq(mkfifo(in_folder(name), 0600), 0);
  if (fork() == 0) {
    FILE *pipe = fopen(path, "wb");
    bool good = pipe != NULL && fwrite(bytes, 1, size, pipe) == size && fclose(pipe) == 0;
    _exit(good ? 0 : 1);
  }
  free(bytes);
}

/* Each is opened once: a second time there would be nobody to write. */
Test(input, texts_come_through_pipes_packed_or_not, .timeout = 20) {
  static const char *const kinds[] = {"plain", "packed"};
  put("plain", messages_2);
  put_gzip("packed", messages_2);
  put("book", book_2);
  put_gzip("packed_book", book_2);
  for (int i = 0; i < 2; i++) {
    char orderbook[256];
    feed("pipe", kinds[i]);
    expect_rows("pipe", &(wb_read_options){.messages_only = true}, 2);
    unlink(in_folder("pipe"));
    feed("pipe", kinds[i]);
    feed("pipe_book", i == 0 ? "book" : "packed_book");
    snprintf(orderbook, sizeof orderbook, "%s/pipe_book", folder);
    expect_rows("pipe", &(wb_read_options){.orderbook_path = orderbook}, 2);
    unlink(orderbook);
    unlink(in_folder("pipe"));
  }
}

/* These are not read from their beginning to their end. */
Test(input, archives_and_stores_do_not_come_through_pipes, .timeout = 20) {
  static const char *const names[] = {"a.zip", "a.7z", "a.h5", "a.xz"};
  static const char *const what[] = {
      "a file, got a .zip archive through a pipe", "a file, got a .7z archive through a pipe",
      "a file, got an HDF5 file through a pipe", "a text, .gz, .zip, .7z or .h5, got an .xz file"};
  put_archive(names[0], archive_write_set_format_zip, two_days, TWO_DAYS);
  put_archive(names[1], archive_write_set_format_7zip, two_days, TWO_DAYS);
  write_file(in_folder(names[2]), "\x89HDF\r\n\x1a\n", 8);
  write_file(in_folder(names[3]),
             "\xfd"
             "7zXZ\0\0\4\xe6",
             8);
  for (int i = 0; i < 4; i++) {
    char text[128];
    snprintf(text, sizeof text, "pipe: expected %s", what[i]);
    feed("pipe", names[i]);
    expect_error("pipe", NULL, WB_ERROR_FORMAT, text);
    unlink(in_folder("pipe"));
  }
}

Test(input, a_damaged_gzip_stream_is_an_error, .timeout = 20) {
  put_gzip("packed", messages_2);
  size_t size;
  char *bytes = file_bytes(in_folder("packed"), &size);
  write_file(path, bytes, size - 6);
  free(bytes);
  feed("pipe", "packed");
  expect_error("pipe", NULL, WB_ERROR_FORMAT, "pipe: truncated gzip input");
}

/* ---- archives ---- */

static void expect_two_days(const char *name) {
  wb_input_list list;
  wb_error error = {0};
  cr_assert_eq(wb_input_list_read(in_folder(name), &list, &error), WB_OK, "%s", error.text);
  cr_assert_eq(list.count, 2);
  cr_expect_str_eq(list.entries[0].message_name, "days/" DAY_1 "message_1.csv");
  cr_expect_str_eq(list.entries[0].orderbook_name, "days/" DAY_1 "orderbook_1.csv");
  cr_expect_str_eq(list.entries[1].message_name, "days/" DAY_2 "message_1.csv");
  cr_expect_eq(list.entries[1].message_bytes, (int64_t)strlen(messages_2));
  cr_expect_eq(list.entries[1].orderbook_bytes, (int64_t)strlen(book_2));
  wb_input_list_free(&list);

  expect_rows(name, &(wb_read_options){.member = "2020-01-02"}, 1);
  expect_rows(name, &(wb_read_options){.member = "2020-01-03"}, 2);
  char text[512];
  snprintf(text, sizeof text,
           "%s: expected a part of a name that chooses one of its 2 days, got none: days/" DAY_1
           "message_1.csv, days/" DAY_2 "message_1.csv",
           name);
  expect_error(name, NULL, WB_ERROR_ARGUMENT, text);
  snprintf(text, sizeof text,
           "%s: expected a part of a message file's name, got \"2021\": days/" DAY_1
           "message_1.csv, days/" DAY_2 "message_1.csv",
           name);
  expect_error(name, &(wb_read_options){.member = "2021"}, WB_ERROR_ARGUMENT, text);
}

Test(input, the_days_of_a_zip_are_listed_and_selectable) {
  put_archive("two.zip", archive_write_set_format_zip, two_days, TWO_DAYS);
  expect_two_days("two.zip");
}

Test(input, the_days_of_a_7z_are_listed_and_selectable) {
  put_archive("two.7z", archive_write_set_format_7zip, two_days, TWO_DAYS);
  expect_two_days("two.7z");
}

/* Whatever the locale, and this program has set none. */
Test(input, names_of_an_archive_may_be_of_any_alphabet) {
  static const member members[] = {
      {"d\xc3\xa9j\xc3\xa0 \xe6\x97\xa5/" DAY_1 "message_1.csv", messages_1},
      {"d\xc3\xa9j\xc3\xa0 \xe6\x97\xa5/" DAY_1 "orderbook_1.csv", book_1}};
  locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  if (utf8 == (locale_t)0) {
    cr_skip_test("this system has no locale C.UTF-8");
  }
  uselocale(utf8);
  put_archive("names.zip", archive_write_set_format_zip, members, 2);
  put_archive("names.7z", archive_write_set_format_7zip, members, 2);
  uselocale(LC_GLOBAL_LOCALE);
  freelocale(utf8);
  static const char *const archives[] = {"names.zip", "names.7z"};
  for (int i = 0; i < 2; i++) {
    wb_input_list list;
    wb_error error = {0};
    cr_assert_eq(wb_input_list_read(in_folder(archives[i]), &list, &error), WB_OK, "%s",
                 error.text);
    cr_assert_eq(list.count, 1, "%s", archives[i]);
    cr_expect_str_eq(list.entries[0].message_name, members[0].name);
    wb_input_list_free(&list);
    expect_rows(archives[i], NULL, 1);
    cr_expect_eq(uselocale((locale_t)0), LC_GLOBAL_LOCALE);
  }
}

Test(input, the_kind_is_told_by_the_first_bytes_not_by_the_name) {
  put_archive("two.data", archive_write_set_format_7zip, two_days, TWO_DAYS);
  expect_two_days("two.data");
}

Test(input, a_name_that_promises_an_archive_must_keep_it) {
  put("a.zip", messages_1);
  expect_error("a.zip", NULL, WB_ERROR_FORMAT,
               "a.zip: expected a .zip file as its name says, got other first bytes");
  put("a.h5", messages_1);
  expect_error("a.h5", NULL, WB_ERROR_FORMAT,
               "a.h5: expected a .h5 file as its name says, got other first bytes");
}

Test(input, the_sources_of_an_archive_are_named_with_their_members) {
  put_archive("one.zip", archive_write_set_format_zip, two_days, 3);
  wb_tape *tape;
  cr_assert_eq(wb_tape_read(in_folder("one.zip"), NULL, &tape, NULL), WB_OK);
  char expected[256];
  snprintf(expected, sizeof expected, "%s/one.zip:days/" DAY_1 "message_1.csv", folder);
  cr_assert_eq(tape->source_count, 2);
  cr_expect_str_eq(tape->sources[0].name, expected);
  cr_expect_eq(tape->sources[1].bytes, (int64_t)strlen(book_1));
  wb_hash128 hash = wb_hash_bytes(book_1, strlen(book_1));
  cr_expect_eq(tape->sources[1].hash.low, hash.low);
  cr_expect_str_eq(tape->day, "2020-01-02");
  wb_tape_free(tape);
}

Test(input, an_archive_without_a_partner_or_without_messages) {
  put_archive("lone.zip", archive_write_set_format_zip, two_days + 2, 1);
  expect_error("lone.zip", NULL, WB_ERROR_IO,
               "lone.zip: days/" DAY_1 "message_1.csv: expected its orderbook file " DAY_1
               "orderbook_1.csv beside it, got none: name the file, or ask for messages only");
  expect_rows("lone.zip", &(wb_read_options){.messages_only = true}, 1);
  put_archive("none.zip", archive_write_set_format_zip, two_days, 1);
  expect_error(
      "none.zip", NULL, WB_ERROR_FORMAT,
      "none.zip: expected a member named like a LOBSTER message file, .._message_N.csv, got "
      "none");
}

Test(input, the_orderbook_of_an_archive_may_lie_elsewhere) {
  put_archive("lone.zip", archive_write_set_format_zip, two_days + 2, 1);
  put_archive("books.7z", archive_write_set_format_7zip, two_days, 2);
  put("book.csv", book_1);
  char book_path[256];
  snprintf(book_path, sizeof book_path, "%s/book.csv", folder);
  expect_rows("lone.zip", &(wb_read_options){.orderbook_path = book_path}, 1);
  snprintf(book_path, sizeof book_path, "%s/books.7z", folder);
  expect_rows("lone.zip", &(wb_read_options){.orderbook_path = book_path}, 1);
}

/* What else has the word in its name is no day. */
Test(input, only_names_of_lobsters_form_are_days) {
  static const member members[] = {{"messages.txt", "hello\n"},
                                   {DAY_1 "message_1.csv.md5", "0123"},
                                   {DAY_1 "message_1.csv", messages_1},
                                   {DAY_1 "orderbook_1.csv", book_1},
                                   {"message_format.csv", "type,meaning\n"},
                                   {DAY_1 "message_.csv", "no depth"}};
  put_archive("a.zip", archive_write_set_format_zip, members, 6);
  wb_input_list list;
  cr_assert_eq(wb_input_list_read(in_folder("a.zip"), &list, NULL), WB_OK);
  cr_expect_eq(list.count, 1);
  cr_expect_eq(list.other_count, 4);
  cr_expect_str_eq(list.entries[0].message_name, members[2].name);
  cr_expect_str_eq(list.entries[1].message_name, members[0].name);
  wb_input_list_free(&list);
  expect_rows("a.zip", NULL, 1);
  /* a part of a day's name before the whole name of what is none */
  expect_rows("a.zip", &(wb_read_options){.member = "message_"}, 1);
}

Test(input, what_is_named_otherwise_is_a_day_if_it_is_alone_or_chosen) {
  static const member members[] = {{"AMessage.csv", "case matters\n"},
                                   {"a/message.csv", messages_1},
                                   {"a/orderbook.csv", book_1},
                                   {"b/message.csv", messages_2},
                                   {"b/orderbook.csv", book_2}};
  put_archive("one.zip", archive_write_set_format_zip, members, 3);
  expect_rows("one.zip", NULL, 1);
  wb_input_list list;
  cr_assert_eq(wb_input_list_read(in_folder("one.zip"), &list, NULL), WB_OK);
  cr_expect_eq(list.count, 1);
  cr_expect_eq(list.other_count, 0);
  cr_expect_str_eq(list.entries[0].orderbook_name, "a/orderbook.csv");
  wb_input_list_free(&list);
  put_archive("two.zip", archive_write_set_format_zip, members, 5);
  expect_error(
      "two.zip", NULL, WB_ERROR_FORMAT,
      "two.zip: expected a member named like a LOBSTER message file, .._message_N.csv, got "
      "none; choose one of these by its name: a/message.csv, b/message.csv");
  cr_expect_eq(wb_input_list_read(in_folder("two.zip"), &list, NULL), WB_ERROR_FORMAT);
  expect_rows("two.zip", &(wb_read_options){.member = "b/"}, 2);
  expect_rows("two.zip", &(wb_read_options){.member = "a/message.csv"}, 1);
}

Test(input, days_that_differ_in_their_folder_are_told_apart) {
  static const member members[] = {{"a/" DAY_1 "message_1.csv", messages_1},
                                   {"a/" DAY_1 "orderbook_1.csv", book_1},
                                   {"b/" DAY_1 "message_1.csv", messages_2},
                                   {"b/" DAY_1 "orderbook_1.csv", book_2},
                                   {"b/" DAY_2 "message_1.csv", messages_2}};
  put_archive("a.zip", archive_write_set_format_zip, members, 5);
  expect_error(
      "a.zip", &(wb_read_options){.member = "01-02"}, WB_ERROR_ARGUMENT,
      "a.zip: expected a part of a name that chooses one of its 3 days, got \"01-02\": a/" DAY_1
      "message_1.csv, b/" DAY_1 "message_1.csv");
  expect_rows("a.zip", &(wb_read_options){.member = "a/"}, 1);
  expect_rows("a.zip", &(wb_read_options){.member = "b/" DAY_1}, 2);
}

/* A message has an end; what does not fit is counted. */
Test(input, many_days_are_named_as_far_as_they_fit) {
  enum { DAYS = 40 };
  char names[DAYS][64];
  member members[DAYS];
  for (int i = 0; i < DAYS; i++) {
    snprintf(names[i], sizeof names[i], "XYZ_2020-01-%02d_34200000_57600000_message_1.csv", i);
    members[i] = (member){names[i], messages_1};
  }
  put_archive("a.zip", archive_write_set_format_zip, members, DAYS);
  wb_tape *tape;
  wb_error error;
  cr_expect_eq(wb_tape_read(in_folder("a.zip"), NULL, &tape, &error), WB_ERROR_ARGUMENT);
  int named = 0;
  for (const char *at = error.text; (at = strstr(at, "_message_1.csv")) != NULL; at++) {
    named++;
  }
  char end[64];
  snprintf(end, sizeof end, "_message_1.csv and %d more", DAYS - named);
  cr_expect(strlen(error.text) > strlen(end) &&
                strcmp(error.text + strlen(error.text) - strlen(end), end) == 0,
            "%s", error.text);
}

Test(input, a_damaged_archive_is_an_error) {
  put_archive("two.7z", archive_write_set_format_7zip, two_days, TWO_DAYS);
  size_t size;
  char *bytes = file_bytes(in_folder("two.7z"), &size);
  wb_tape *tape;
  wb_error error;
  for (size_t left = 8; left < size; left += 16) {
    write_file(path, bytes, left);
    cr_expect_neq(wb_tape_read(path, &(wb_read_options){.member = "01-03"}, &tape, &error), WB_OK);
    cr_expect_eq(strncmp(error.text, path, strlen(path)), 0, "%s", error.text);
  }
  free(bytes);
}

/* ---- lists of single files ---- */

Test(input, a_pair_is_a_list_of_one) {
  put(DAY_1 "message_1.csv", messages_1);
  put(DAY_1 "orderbook_1.csv", book_1);
  wb_input_list list;
  cr_assert_eq(wb_input_list_read(in_folder(DAY_1 "message_1.csv"), &list, NULL), WB_OK);
  cr_assert_eq(list.count, 1);
  cr_expect_str_eq(list.entries[0].message_name, path);
  cr_expect_eq(list.entries[0].message_bytes, (int64_t)strlen(messages_1));
  cr_expect_eq(list.entries[0].orderbook_bytes, (int64_t)strlen(book_1));
  wb_input_list_free(&list);
  unlink(in_folder(DAY_1 "orderbook_1.csv"));
  cr_assert_eq(wb_input_list_read(in_folder(DAY_1 "message_1.csv"), &list, NULL), WB_OK);
  cr_expect_null(list.entries[0].orderbook_name);
  wb_input_list_free(&list);
}

/* ---- progress ---- */

typedef struct progress_log {
  int calls;
  int64_t done, total;
} progress_log;

static void log_progress(void *context, int64_t done, int64_t total) {
  progress_log *log = context;
  cr_expect_geq(done, log->done);
  *log = (progress_log){log->calls + 1, done, total};
}

Test(input, progress_ends_at_the_whole) {
  put(DAY_2 "message_1.csv", messages_2);
  put(DAY_2 "orderbook_1.csv", book_2);
  progress_log log = {0};
  expect_rows(DAY_2 "message_1.csv",
              &(wb_read_options){.progress = log_progress, .progress_context = &log}, 2);
  cr_expect_geq(log.calls, 2);
  cr_expect_eq(log.done, log.total);
  cr_expect_eq(log.total, (int64_t)(strlen(messages_2) + strlen(book_2)));
}

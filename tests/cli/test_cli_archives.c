/* Archives as a vendor delivers them: one day or several, picked by name, converted together. */
#include "run.h"

#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char sample[] = WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000";
static const char hours[] = "34200000_57600000";

/* Packs the sample under these stems, as "out/WARP_2024-01-02" (NULL at the end), with a file that is no
 * data. */
static void pack(const char *path, int format_code, const char *const *stems) {
  struct archive *writer = archive_write_new();
  struct archive_entry *entry = archive_entry_new();
  cr_assert_eq(archive_write_set_format(writer, format_code), ARCHIVE_OK);
  cr_assert_eq(archive_write_open_filename(writer, path), ARCHIVE_OK);
  for (int i = 0; stems[i] != NULL; i++) {
    static const char *const kinds[] = {"message", "orderbook", "readme"};
    for (int kind = 0; kind < 3; kind++) {
      size_t bytes = 5;
      char *source = format("%s_%s_5.csv", sample, kinds[kind]);
      char *name = kind == 2 ? format("readme_%d.txt", i)
                             : format("%s_%s_%s_5.csv", stems[i], hours, kinds[kind]);
      char *content = kind == 2 ? format("hello") : read_file(source, &bytes);
      archive_entry_clear(entry);
      archive_entry_set_pathname(entry, name);
      archive_entry_set_size(entry, (la_int64_t)bytes);
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_perm(entry, 0644);
      cr_assert_eq(archive_write_header(writer, entry), ARCHIVE_OK);
      cr_assert_eq(archive_write_data(writer, content, bytes), (la_ssize_t)bytes);
      free(source);
      free(name);
      free(content);
    }
  }
  archive_entry_free(entry);
  cr_assert_eq(archive_write_close(writer), ARCHIVE_OK);
  archive_write_free(writer);
}

static const char *const one_day[] = {"out/WARP_2024-01-02", NULL};
static const char *const two_days[] = {"out/WARP_2024-01-02", "out/WARP_2024-01-03", NULL};

static const struct {
  const char *name;
  int code;
} kinds[] = {{"days.zip", ARCHIVE_FORMAT_ZIP}, {"days.7z", ARCHIVE_FORMAT_7ZIP}};

enum { KINDS = 2 };

static char *hash_of(run_result result) {
  json_t *replay = expect_json(result, 0);
  cr_expect_eq(number(replay, "rows_equal"), 4000);
  char *hash = format("%s", text(replay, "state_hash"));
  json_decref(replay);
  return hash;
}

static char *sample_hash(void) {
  char *messages = format("%s_message_5.csv", sample);
  char *hash = hash_of(RUN("replay", messages, "--json"));
  free(messages);
  return hash;
}

Test(archives, one_day_needs_no_name) {
  char *scratch = scratch_make(), *expected = sample_hash();
  for (int i = 0; i < KINDS; i++) {
    char *path = format("%s/%s", scratch, kinds[i].name);
    pack(path, kinds[i].code, one_day);
    char *hash = hash_of(RUN("replay", path, "--json"));
    cr_expect_str_eq(hash, expected);
    free(hash);
    free(path);
  }
  free(expected);
  scratch_free(scratch);
}

Test(archives, several_days_are_listed_and_picked) {
  char *scratch = scratch_make(), *expected = sample_hash();
  for (int i = 0; i < KINDS; i++) {
    char *path = format("%s/%s", scratch, kinds[i].name);
    pack(path, kinds[i].code, two_days);
    json_t *list = expect_json(RUN("info", path, "--json"), 0);
    const json_t *days = json_object_get(list, "days");
    cr_assert_eq(json_array_size(days), 2);
    for (size_t day = 0; day < 2; day++) {
      const json_t *entry = json_array_get(days, day);
      cr_expect(strstr(text(entry, "message"), two_days[day]) != NULL);
      cr_expect(strstr(text(entry, "orderbook"), two_days[day]) != NULL);
    }
    json_decref(list);
    run_result said = RUN("info", path);
    cr_expect_eq(said.status, 0);
    cr_expect(strstr(said.out, "WARP_2024-01-03_34200000_57600000_message_5.csv") != NULL);
    run_free(&said);
    EXPECT_REFUSED(RUN("replay", path), kinds[i].name, "2024-01-02", "2024-01-03",
                   "\nwarpbook: --member=NAME chooses");
    EXPECT_REFUSED(RUN("replay", path, "--member", "2024-01-04"), "2024-01-04");
    char *hash = hash_of(RUN("replay", path, "--member", "2024-01-03", "--json"));
    cr_expect_str_eq(hash, expected);
    free(hash);
    json_t *info = expect_json(RUN("info", path, "--member", "2024-01-03", "--json"), 0);
    cr_expect_str_eq(text(info, "day"), "2024-01-03");
    json_decref(info);
    free(path);
  }
  free(expected);
  scratch_free(scratch);
}

/* The head of a summary has the path and the member; what comes behind names the member. */
Test(archives, findings_name_the_member_alone) {
  char *scratch = scratch_make();
  char *path = format("%s/%s", scratch, kinds[0].name);
  pack(path, kinds[0].code, one_day);
  run_result said = RUN("replay", path, "--messages-only");
  cr_expect(strstr(said.out, "\ncrossed          WARP_") != NULL, "%s", said.out);
  cr_expect(strstr(said.out, path) != NULL, "%s", said.out);
  run_free(&said);
  free(path);
  scratch_free(scratch);
}

/* A name may be any bytes, and a terminal obeys some of them. */
Test(archives, names_do_nothing_to_a_terminal) {
  static const char *const stems[] = {"a\x1b[31mred", "b\nnew\xff",
                                      "c\x7f\xc2\x9b\xc3\xa9\xe2\x80\xae", NULL};
  static const char *const shown[] = {"a\\x1b[31mred_3", "b\\nnew\\x",
                                      "c\\x7f\\xc2\\x9b\xc3\xa9\\xe2\\x80\\xae_3"};
  char *scratch = scratch_make(), *path = format("%s/days.zip", scratch);
  pack(path, ARCHIVE_FORMAT_ZIP, stems);
  run_result said[] = {RUN("info", path), RUN("info", "--json", path), RUN("replay", path),
                       RUN("replay", path, "--member", "red"),
                       RUN("info", path, "--member", "none\x1b[0m")};
  for (int run = 0; run < 5; run++) {
    for (int text = 0; text < 2; text++) {
      for (const char *at = text == 0 ? said[run].out : said[run].err; *at != '\0'; at++) {
        cr_expect((unsigned char)*at >= ' ' || *at == '\n', "run %d: %s", run, said[run].err);
      }
    }
  }
  for (int day = 0; day < 3; day++) {
    cr_expect(strstr(said[0].out, shown[day]) != NULL, "%s", said[0].out);
    cr_expect(strstr(said[2].err, shown[day]) != NULL, "%s", said[2].err);
  }
  cr_expect(strstr(said[3].out, shown[0]) != NULL, "%s", said[3].out);
  cr_expect(strstr(said[1].out, "a\\u001B[31mred") != NULL, "%s", said[1].out);
  for (int run = 0; run < 5; run++) {
    run_free(&said[run]);
  }
  free(path);
  scratch_free(scratch);
}

Test(archives, all_days_become_stores) {
  char *scratch = scratch_make(), *expected = sample_hash();
  char *path = format("%s/days.zip", scratch), *folder = format("%s/stores", scratch);
  pack(path, ARCHIVE_FORMAT_ZIP, two_days);
  run_result converted = RUN("convert", "--all", path, folder);
  cr_expect_eq(converted.status, 0, "%s", converted.err);
  run_free(&converted);
  cr_expect_eq(count_entries(folder), 2);
  for (int i = 0; two_days[i] != NULL; i++) {
    const char *day = two_days[i] + strlen("out/WARP_");
    char *store = format("%s/WARP_%s_%s_5.h5", folder, day, hours);
    char *hash = hash_of(RUN("replay", store, "--json"));
    cr_expect_str_eq(hash, expected);
    json_t *info = expect_json(RUN("info", store, "--json"), 0);
    cr_expect_str_eq(text(info, "day"), day);
    json_decref(info);
    free(hash);
    free(store);
  }
  free(expected);
  free(path);
  free(folder);
  scratch_free(scratch);
}

/* One store would replace the other. */
Test(archives, days_of_one_name_are_not_written_over_each_other) {
  static const char *const stems[] = {"a/WARP_2024-01-02", "b/WARP_2024-01-02", NULL};
  char *scratch = scratch_make();
  char *path = format("%s/days.zip", scratch), *folder = format("%s/stores", scratch);
  pack(path, ARCHIVE_FORMAT_ZIP, stems);
  EXPECT_REFUSED(RUN("convert", "--all", path, folder), "--all", "a/WARP", "b/WARP");
  cr_expect(!exists(folder));
  char *hash = hash_of(RUN("replay", path, "--member", "b/", "--json"));
  free(hash);
  free(path);
  free(folder);
  scratch_free(scratch);
}

Test(archives, an_archive_without_days_is_refused) {
  static const char *const stems[] = {"a_message_b", "c_message_d", NULL};
  char *scratch = scratch_make(), *path = format("%s/days.zip", scratch);
  char *folder = format("%s/stores", scratch);
  /* the end record alone */
  FILE *file = fopen(path, "wb");
  cr_assert_not_null(file);
  cr_assert_eq(fwrite("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 1, 22, file), 22);
  fclose(file);
  EXPECT_REFUSED(RUN("info", path), "days.zip", "_message_N.csv");
  EXPECT_REFUSED(RUN("info", "--list", path), "days.zip", "_message_N.csv");
  EXPECT_REFUSED(RUN("replay", path), "days.zip", "_message_N.csv");
  EXPECT_REFUSED(RUN("convert", "--all", path, folder), "days.zip", "_message_N.csv");
  cr_expect(!exists(folder));
  /* a store is named after the last mark of a name */
  pack(path, ARCHIVE_FORMAT_ZIP, stems);
  run_result converted = RUN("convert", "--all", path, folder);
  cr_expect_eq(converted.status, 0, "%s", converted.err);
  run_free(&converted);
  char *store = format("%s/a_message_b_%s_5.h5", folder, hours);
  cr_expect(exists(store));
  free(store);
  free(path);
  free(folder);
  scratch_free(scratch);
}

Test(archives, a_name_that_is_a_part_of_another_still_names_its_day) {
  static const char *const stems[] = {"WARP_2024-01-02", "XWARP_2024-01-02", NULL};
  char *scratch = scratch_make();
  char *path = format("%s/days.7z", scratch), *folder = format("%s/stores", scratch);
  char *whole = format("%s_%s_message_5.csv", stems[0], hours);
  pack(path, ARCHIVE_FORMAT_7ZIP, stems);
  json_t *info = expect_json(RUN("info", path, "--member", whole, "--json"), 0);
  cr_expect_str_eq(text(info, "instrument"), "WARP");
  json_decref(info);
  run_result converted = RUN("convert", "--all", path, folder);
  cr_expect_eq(converted.status, 0, "%s", converted.err);
  run_free(&converted);
  cr_expect_eq(count_entries(folder), 2);
  free(whole);
  free(path);
  free(folder);
  scratch_free(scratch);
}

Test(archives, a_cut_archive_is_refused) {
  char *scratch = scratch_make();
  for (int i = 0; i < KINDS; i++) {
    char *path = format("%s/%s", scratch, kinds[i].name);
    pack(path, kinds[i].code, one_day);
    size_t bytes;
    char *content = read_file(path, &bytes);
    FILE *file = fopen(path, "wb");
    cr_assert_not_null(file);
    cr_assert_eq(fwrite(content, 1, bytes / 2, file), bytes / 2);
    fclose(file);
    EXPECT_REFUSED(RUN("replay", path), kinds[i].name);
    free(content);
    free(path);
  }
  scratch_free(scratch);
}

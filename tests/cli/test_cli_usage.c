/* The command line itself: help, versions, what it says to arguments that make no sense. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char sample[] =
    WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv";

static const char *const commands[] = {"replay", "compare", "convert", "export", "info"};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

Test(usage, help_and_version_are_everywhere) {
  run_result help = RUN("--help");
  cr_expect_eq(help.status, 0);
  for (int i = 0; i < COMMANDS; i++) {
    cr_expect(strstr(help.out, commands[i]) != NULL);
    run_result own = RUN(commands[i], "--help");
    cr_expect_eq(own.status, 0);
    cr_expect(strstr(own.out, "INPUT") != NULL);
    cr_expect(strstr(own.out, "--strict") != NULL);
    cr_expect_str_eq(own.err, "");
    run_free(&own);
    run_result version = RUN(commands[i], "--version");
    cr_expect_eq(version.status, 0);
    cr_expect_eq(strncmp(version.out, "warpbook ", 9), 0);
    run_free(&version);
  }
  run_free(&help);
}

Test(usage, a_command_must_be_one) {
  EXPECT_REFUSED(RUN("--json"), "unrecognized option");
  EXPECT_REFUSED(RUN("reply", sample), "unknown command", "\"reply\"", "replay", "info");
  run_result result = run_program((const char *const[]){NULL}, 0);
  EXPECT_REFUSED(result, "command is missing", "--help");
}

Test(usage, arguments_of_commands) {
  EXPECT_REFUSED(RUN("replay"), "INPUT is missing", "replay --help");
  EXPECT_REFUSED(RUN("replay", "a", "b", "c"), "\"c\"");
  EXPECT_REFUSED(RUN("replay", sample, "--colour"), "unrecognized option", "--colour");
  EXPECT_REFUSED(RUN("replay", sample, "--levels"), "--levels", "requires an argument");
  EXPECT_REFUSED(RUN("replay", sample, "--levels", "0"), "--levels", "1 to", "\"0\"");
  EXPECT_REFUSED(RUN("replay", sample, "--levels", "2x"), "--levels", "\"2x\"");
  EXPECT_REFUSED(RUN("replay", sample, "--levels", "8193"), "--levels", "1 to 8192");
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "-1"), "--capacity", "\"-1\"");
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "99999999999"), "--capacity");
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "0"), "--capacity", "\"0\"");
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "100"), "capacity", "32, 64, 128", "100");
  EXPECT_REFUSED(RUN("replay", sample, "--books", "0"), "--books", "\"0\"");
  EXPECT_REFUSED(RUN("replay", sample, "--books", "2147483647"), "--books", "4194304",
                 "2147483647");
  EXPECT_REFUSED(RUN("replay", sample, "--threads", "0"), "--threads", "\"0\"");
  EXPECT_REFUSED(RUN("replay", sample, "--device", "abacus"), "abacus", "cpu");
  EXPECT_REFUSED(RUN("replay", sample, "--engine", "reference", "--books", "2"), "reference", "2",
                 "--engine kernel");
  EXPECT_REFUSED(RUN("compare", sample, "--books", "2"), "--books", "warpbook replay --books");
  EXPECT_REFUSED(RUN("replay", sample, "--tick", "0"), "--tick");
  EXPECT_REFUSED(RUN("replay", sample, "--tick", "1073741825"), "--tick", "1073741824");
  EXPECT_REFUSED(RUN("replay", ""), "INPUT", "\"\"");
  EXPECT_REFUSED(RUN("replay", sample, ""), "ORDERBOOK", "\"\"");
  EXPECT_REFUSED(RUN("convert", sample, "", "a.h5"), "expected a name", "\"\"");
  EXPECT_REFUSED(RUN("export", sample, ""), "FOLDER", "\"\"");
  EXPECT_REFUSED(RUN("replay", sample, "--book", ""), "\"\"", "name of a file");
  EXPECT_REFUSED(RUN("replay", sample, "--book", "nowhere/"), "\"nowhere/\"", "name of a file");
  EXPECT_REFUSED(RUN("info", sample, "--list", "--member", "x"), "--list", "--member");
  EXPECT_REFUSED(RUN("info", sample, sample, "--list"), "--list", "ORDERBOOK");
  EXPECT_REFUSED(RUN("replay", sample, "--policy", "nice"), "--policy", "agents-first", "named",
                 "aggressive", "\"nice\"");
  EXPECT_REFUSED(RUN("replay", sample, "--displaced", "x"), "--displaced", "withdraw", "keep");
  EXPECT_REFUSED(RUN("replay", sample, "--capacity-rule", "x"), "evict", "reject");
  EXPECT_REFUSED(RUN("replay", sample, "--engine", "x"), "reference", "kernel");
  EXPECT_REFUSED(RUN("replay", sample, "--messages-only", "b.csv"), "ORDERBOOK", "b.csv");
  EXPECT_REFUSED(RUN("convert", sample), "INPUT and OUTPUT");
  EXPECT_REFUSED(RUN("convert", sample, "out.csv"), ".h5", "\"out.csv\"");
  EXPECT_REFUSED(RUN("convert", "--all", "a", "b", "c"), "--all");
  EXPECT_REFUSED(RUN("export", sample), "INPUT and FOLDER");
  EXPECT_REFUSED(RUN("info"), "INPUT is missing");
  EXPECT_REFUSED(RUN("compare", sample, "--from", "10:00"), "--from");
  EXPECT_REFUSED(RUN("replay", sample, "--json", "--book", "-"), "standard output");
  EXPECT_REFUSED(RUN("replay", sample, "--book", "x", "--trades", "x"), "two files");
  EXPECT_REFUSED(RUN("replay", sample, "--book", "x", "--trades", "./x"), "two files", "./x");
}

/* What a shell says of the program in a line, as "$p replay $day >/dev/full". */
static int shell(const char *line) {
  char *whole = format("p=$WB_PROGRAM; day='%s'; %s", sample, line);
  int status = system(whole);
  free(whole);
  return WEXITSTATUS(status);
}

/* 2 where what it prints gets lost, also of what argp prints. */
Test(usage, a_full_or_closed_output_is_an_error) {
  static const char *const lines[] = {"--help",
                                      "--version",
                                      "replay --help",
                                      "info --usage",
                                      "replay $day",
                                      "replay --json $day",
                                      "info $day",
                                      "info --list $day",
                                      "devices",
                                      "kernels list",
                                      "env list",
                                      "env describe execution",
                                      "replay --trades - $day"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    char *full = format("$p %s 2>/dev/null >/dev/full", lines[i]);
    char *closed = format("$p %s 2>/dev/null >&-", lines[i]);
    cr_expect_eq(shell(full), 2, "%s", full);
    cr_expect_eq(shell(closed), 2, "%s", closed);
    free(full);
    free(closed);
  }
  cr_expect_eq(shell("test `$p replay --json $day 2>&1 >/dev/full | wc -l` = 1"), 0, "said once");
}

/* A file that is opened must not get the number of a standard one. */
Test(usage, what_is_printed_never_lands_in_a_file) {
  char *scratch = scratch_make(), *book = format("%s/book.csv", scratch);
  char *line = format("$p replay $day --trades - --book %s >&- 2>/dev/null", book);
  cr_expect_eq(shell(line), 2);
  cr_expect_eq(count_entries(scratch), 0);
  free(line);
  line = format("$p replay $day --book %s 2>&- <&- >/dev/null", book);
  cr_expect_eq(shell(line), 0);
  free(line);
  line = format("cmp -s %s \"${day%%message_5.csv}orderbook_5.csv\"", book);
  cr_expect_eq(shell(line), 0);
  free(line);
  free(book);
  scratch_free(scratch);
}

/* As for outputs. */
Test(usage, a_dash_is_standard_input) {
  cr_expect_eq(shell("$p replay - \"${day%message_5.csv}orderbook_5.csv\" <$day | "
                     "grep -q '4000 of 4000 rows'"),
               0);
  cr_expect_eq(shell("cat \"${day%message_5.csv}orderbook_5.csv\" | gzip | $p replay $day - | "
                     "grep -q '4000 of 4000 rows'"),
               0);
}

/* The number of rows that a window shows. */
static long shown(const char *from, const char *to) {
  run_result result = RUN("replay", sample, "--book", "-", "--from", from, "--to", to);
  cr_expect_eq(result.status, 0, "%s", result.err);
  long lines = 0;
  for (const char *at = result.out; (at = strchr(at, '\n')) != NULL; at++) {
    lines++;
  }
  run_free(&result);
  return lines;
}

Test(usage, times_are_clock_times_or_seconds) {
  long rows = shown("10:15", "11:00");
  cr_expect_gt(rows, 0);
  cr_expect_eq(shown("10:15:00", "11:00:00.000000000"), rows);
  cr_expect_eq(shown("36900", "39600.0"), rows);
  cr_expect_eq(shown("0", "24:00"), 4000);
  cr_expect_eq(shown("0", "10:15") + rows + shown("11:00", "86400"), 4000);
  static const char *const bad[] = {"25:00",        "10:60", "10:15:60",  "10:15:", "10:15.5",
                                    "10:15:30.",    "1e5",   "-1",        " 10:15", "10:15:3x",
                                    "0.0000000001", "86401", "10:15:30:1"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    char *option = format("--from=%s", bad[i]);
    EXPECT_REFUSED(RUN("replay", sample, option), "--from", "expected a time", bad[i]);
    free(option);
  }
  EXPECT_REFUSED(RUN("replay", sample, "--from", ""), "--from", "\"\"");
  EXPECT_REFUSED(RUN("replay", sample, "--to", "0"), "--to");
  EXPECT_REFUSED(RUN("replay", sample, "--to", "09:30"), "--to", "first row", "09:30:00.004241176");
  EXPECT_REFUSED(RUN("compare", sample, "--to", "1:00"), "--to", "first row", "01:00:00");
  EXPECT_REFUSED(RUN("replay", sample, "--from", "11:00", "--to", "10:15"), "--to", "after --from");
}

Test(usage, what_the_summary_says) {
  run_result result = RUN("replay", sample);
  cr_expect_eq(result.status, 0);
  cr_expect_str_eq(result.err, "");
  static const char *const words[] = {
      "WARP 2024-01-02", "4000 of 4000 rows equal to the book file at 5 levels",
      "contradictions   0", "engine           kernel on cpu, 1 book", "state hash"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    cr_expect(strstr(result.out, words[i]) != NULL, "expected \"%s\" in \"%s\"", words[i],
              result.out);
  }
  run_free(&result);
}

/* With --to, a number is of the part, or says that it is not. */
Test(usage, counts_of_a_part_and_of_the_whole_file) {
  run_result result = RUN("replay", sample, "--to", "13:00", "--from", "12:00");
  static const char *const labels[] = {"edge records", "unknown ids", "late adds",
                                       "contradictions"};
  cr_expect_eq(result.status, 0);
  cr_expect(strstr(result.out, "\nrows             2546 of 4000\n") != NULL, "%s", result.out);
  cr_expect(strstr(result.out, "\nrecords          2951 of 4") != NULL, "%s", result.out);
  cr_expect(strstr(result.out, " (from the first row on)\n") != NULL, "%s", result.out);
  for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
    const char *line = strstr(result.out, labels[i]);
    cr_assert_not_null(line);
    cr_expect(strncmp(strchr(line, '\n') - 13, " (whole file)", 13) == 0, "%s", line);
  }
  run_free(&result);
  result = RUN("replay", sample);
  cr_expect(strstr(result.out, "whole file") == NULL, "%s", result.out);
  cr_expect(strstr(result.out, "from the first") == NULL, "%s", result.out);
  cr_expect(strstr(result.out, "\nrows             4000\n") != NULL, "%s", result.out);
  run_free(&result);
  result = RUN("compare", sample, "--to", "13:00");
  cr_expect(strstr(result.out, "all 2546 rows (of 4000) equal") != NULL, "%s", result.out);
  run_free(&result);
  json_t *json = expect_json(RUN("replay", sample, "--to", "13:00", "--json"), 0);
  cr_expect_eq(number(json, "rows"), 2546);
  cr_expect_eq(number(json, "rows_in_file"), 4000);
  cr_expect_gt(number(json, "records_in_file"), number(json, "records"));
  int64_t messages = 0;
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(json, "messages_by_type"), name, value) {
    messages += json_integer_value(value);
  }
  cr_expect_eq(messages, 2546);
  json_decref(json);
}

Test(usage, the_json_has_every_name) {
  static const char *const names[] = {"rows",
                                      "records",
                                      "rows_in_file",
                                      "records_in_file",
                                      "edge_records",
                                      "edge_corrections",
                                      "edge_dropped",
                                      "unknown_ids",
                                      "late_adds",
                                      "contradictions",
                                      "messages_by_type",
                                      "trades",
                                      "volume",
                                      "hidden_volume",
                                      "books",
                                      "capacity",
                                      "engine",
                                      "device",
                                      "threads",
                                      "seconds_read",
                                      "seconds_compile",
                                      "seconds_run",
                                      "records_per_second",
                                      "rows_checked",
                                      "rows_equal",
                                      "first_difference",
                                      "status",
                                      "counters",
                                      "book_hash",
                                      "state_hash"};
  json_t *json = expect_json(RUN("replay", sample, "--json"), 0);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    cr_expect_not_null(json_object_get(json, names[i]), "no \"%s\"", names[i]);
  }
  cr_expect_eq(strlen(text(json, "book_hash")), 16);
  cr_expect_eq(strlen(text(json, "state_hash")), 16);
  cr_expect(json_is_null(json_object_get(json, "first_difference")));
  int64_t messages = 0;
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(json, "messages_by_type"), name, value) {
    messages += json_integer_value(value);
  }
  cr_expect_eq(messages, 4000);
  json_decref(json);
}

Test(usage, a_limit_of_the_book_is_counted_and_said) {
  json_t *json =
      expect_json(RUN("replay", sample, "--engine", "reference", "--capacity", "6", "--json"), 1);
  cr_expect_eq(number(json, "capacity"), 6);
  cr_expect_gt(number(json_object_get(json, "counters"), "evicted"), 0);
  cr_expect(json_is_object(json_object_get(json, "first_difference")));
  json_decref(json);
  run_result result = RUN("replay", sample, "--engine", "reference", "--capacity", "6",
                          "--capacity-rule", "reject");
  cr_expect_eq(result.status, 1);
  cr_expect(strstr(result.out, "book_full: ") != NULL);
  cr_expect(strstr(result.out, "first difference") != NULL);
  run_free(&result);
}

Test(usage, every_book_of_many_is_checked_by_its_hashes) {
  json_t *one = expect_json(RUN("replay", sample, "--engine", "reference", "--json"), 0);
  json_t *many = expect_json(RUN("replay", sample, "--books", "70", "--threads", "3", "--json"), 0);
  cr_expect_eq(number(many, "books"), 70);
  cr_expect_eq(number(many, "threads"), 3);
  cr_expect_eq(number(many, "books_equal"), 70);
  run_result said = RUN("replay", sample, "--books", "7");
  cr_expect(strstr(said.out, "7 of 7 books end equal") != NULL, "%s", said.out);
  run_free(&said);
  cr_expect_eq(number(many, "rows_equal"), 4000);
  cr_expect_str_eq(text(many, "state_hash"), text(one, "state_hash"));
  cr_expect_str_eq(text(many, "book_hash"), text(one, "book_hash"));
  json_decref(one);
  json_decref(many);
}

Test(usage, options_that_an_input_cannot_follow_are_refused) {
  char *scratch = scratch_make();
  char *store = format("%s/day.h5", scratch);
  run_result result = RUN("convert", sample, store);
  cr_assert_eq(result.status, 0, "%s", result.err);
  run_free(&result);
  EXPECT_REFUSED(RUN("replay", store, "--messages-only"), "day.h5", "messages only");
  EXPECT_REFUSED(RUN("replay", store, "--truncate"), "day.h5", "truncate");
  EXPECT_REFUSED(RUN("replay", store, "--skip-bad"), "day.h5", "skip bad");
  EXPECT_REFUSED(RUN("replay", store, "--member", "x"), "day.h5", "archives", "\"x\"");
  EXPECT_REFUSED(RUN("replay", sample, "--member", "x"), "archives", "\"x\"");
  free(store);
  scratch_free(scratch);
}

Test(usage, devices_are_listed) {
  run_result result = RUN("devices");
  cr_expect_eq(result.status, 0);
  cr_expect_eq(strncmp(result.out, "cpu ", 4), 0);
  run_free(&result);
}

Test(usage, without_a_compiler_the_engine_that_needs_none_is_named) {
  cr_assert_eq(setenv("WB_LLVM_MODULE", "/nowhere/at-all.so", 1), 0);
  EXPECT_REFUSED(RUN("replay", sample), "/nowhere/at-all.so", "--engine reference",
                 "books of 64 orders a side", "warpbook kernels build --capacity");
  EXPECT_REFUSED(RUN("compare", sample), "books of 64 orders a side");
  run_result result = RUN("replay", sample, "--engine", "reference");
  cr_expect_eq(result.status, 0);
  run_free(&result);
}

Test(usage, rows_deeper_than_the_input_are_not_called_proven) {
  run_result result = RUN("replay", sample, "--levels", "9", "--book", "/dev/null");
  cr_expect_eq(result.status, 0);
  cr_expect(strstr(result.out, "rows equal to the book file at 5 levels") != NULL);
  cr_expect(strstr(result.out, "levels 6 to 9 lie outside") != NULL);
  run_free(&result);
}

Test(usage, standard_output_takes_the_data_and_the_summary_moves) {
  run_result result = RUN("replay", sample, "--trades", "/dev/stdout");
  cr_expect_eq(result.status, 0);
  cr_expect_eq(strncmp(result.out, "time,record,row,", 16), 0);
  cr_expect(strstr(result.err, "4000 of 4000 rows") != NULL);
  run_free(&result);
}

Test(usage, a_full_device_is_an_error) {
  EXPECT_REFUSED(RUN("replay", sample, "--book", "/dev/full"), "/dev/full", "No space left");
  EXPECT_REFUSED(RUN("replay", sample, "--trades", "/dev/full"), "/dev/full", "No space left");
}

Test(usage, compare_says_what_was_equal) {
  run_result result = RUN("compare", sample);
  cr_expect_eq(result.status, 0);
  cr_expect(strstr(result.out, "all 4000 rows equal at 5 levels: source = kernel = reference") !=
            NULL);
  run_free(&result);
  result = RUN("compare", "--help");
  cr_expect(strstr(result.out, "--from") == NULL && strstr(result.out, "--books") == NULL);
  cr_expect(strstr(result.out, "--to") != NULL);
  run_free(&result);
  json_t *json = expect_json(RUN("compare", sample, "--json", "--levels", "2"), 0);
  json_t *books = json_pack("[s,s,s]", "source", "kernel", "reference");
  cr_expect(json_equal(json_object_get(json, "books"), books));
  json_decref(books);
  cr_expect(json_is_true(json_object_get(json, "equal")));
  cr_expect_eq(number(json, "levels"), 2);
  json_decref(json);
  result = RUN("compare", sample, "--engine", "reference", "--capacity", "6");
  cr_expect_eq(result.status, 1);
  static const char *const words[] = {"first difference at row ",
                                      "message ",
                                      "records:",
                                      "book before",
                                      "book after",
                                      "source",
                                      "reference",
                                      "  <\n"};
  cr_expect(strstr(result.out, " \n") == NULL, "no line ends in blanks: %s", result.out);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    cr_expect(strstr(result.out, words[i]) != NULL, "expected \"%s\" in \"%s\"", words[i],
              result.out);
  }
  run_free(&result);
}

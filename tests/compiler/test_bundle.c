/* Bundles: what was compiled ahead of time runs where there is no LLVM, and gives what the interpreter
 * gives; what is stale, damaged or for another machine is a miss that says why. */
#define _GNU_SOURCE
#include "compiler/bundle_private.h"
#include "compiler/elf_load.h"
#include "compiler/lower.h"
#include "tests/compiler/progen.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PROGRAMS = 40, SIZE = 40, BUFFERS_MOST = 64, FIRST_SEED = 9000 };

static char folder[96];

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *at) {
  (void)s;
  (void)type;
  (void)at;
  return remove(path);
}

static void make_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/wb_bundle_XXXXXX");
  cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void without_llvm(void) {
  setenv("WB_LLVM_MODULE", "/nonexistent", 1);
  setenv("WB_KERNELS", folder, 1);
}

static void add_program(wb_bundle_writer *writer, const wb_program *program, const char *cpu,
                        bool check, const char *label) {
  const wb_kernel_options options = {.cpu = cpu, .check = check, .no_bundles = true};
  wb_kernel *kernel;
  wb_error error;
  cr_assert_eq(wb_kernel_compile(NULL, program, &options, &kernel, NULL, &error), WB_OK, "%s",
               error.text);
  cr_assert_eq(wb_bundle_add(writer, kernel, label, NULL, 0, NULL, &error), WB_OK, "%s",
               error.text);
  wb_kernel_release(kernel);
}

static wb_bundle_writer *new_writer(void) {
  wb_bundle_writer *writer;
  wb_error error;
  cr_assert_eq(wb_bundle_create(folder, &writer, &error), WB_OK, "%s", error.text);
  return writer;
}

static void finish(wb_bundle_writer *writer) {
  wb_error error;
  cr_assert_eq(wb_bundle_finish(writer, &error), WB_OK, "%s", error.text);
}

static progen_case *make_case(int number) {
  wb_error error;
  progen_case *c = progen_new((uint64_t)(FIRST_SEED + number), SIZE, &error);
  cr_assert_not_null(c, "%s", error.text);
  return c;
}

/* ---- running without LLVM ---- */

static void expect_same_result(const progen_case *c, const wb_kernel *kernel) {
  wb_buffer_argument buffers[BUFFERS_MOST];
  wb_kernel_arguments arguments;
  char text[WB_ERROR_TEXT_BYTES];
  wb_error error;
  unsigned char *expected = progen_memory(c), *given = progen_memory(c);
  cr_assert_eq(progen_interpret(c, NULL, expected, &error), WB_OK, "%s", error.text);
  progen_arguments(c, given, buffers, &arguments);
  cr_assert_eq(wb_kernel_run(kernel, &arguments, 0, c->books, &error), WB_OK, "%s", error.text);
  cr_expect(progen_equal(c, expected, given, text, sizeof text), "seed %llu: %s",
            (unsigned long long)c->seed, text);
  free(expected);
  free(given);
}

static void run_level(const char *cpu) {
  progen_case *cases[PROGRAMS];
  make_folder();
  wb_bundle_writer *writer = new_writer();
  for (int i = 0; i < PROGRAMS; i++) {
    cases[i] = make_case(i);
    add_program(writer, cases[i]->program, cpu, i % 4 == 3, "random");
  }
  finish(writer);
  without_llvm();
  for (int i = 0; i < PROGRAMS; i++) {
    /* what is asked for need not name the level */
    const wb_kernel_options options = {.cpu = i % 2 == 0 ? NULL : cpu, .check = i % 4 == 3};
    wb_kernel *kernel;
    wb_kernel_report report;
    wb_error error;
    cr_assert_eq(wb_kernel_compile(NULL, cases[i]->program, &options, &kernel, &report, &error),
                 WB_OK, "%s", error.text);
    cr_expect_eq(strncmp(report.origin, "bundle /tmp/wb_bundle_", 22), 0, "%s", report.origin);
    cr_expect_str_eq(report.target, cpu);
    cr_expect_gt(report.code_bytes, 0);
    expect_same_result(cases[i], kernel);
    wb_kernel_release(kernel);
    progen_free(cases[i]);
  }
  remove_folder();
}

static bool has_level(int32_t level) {
  if (wb_cpu_level() >= level) return true;
  cr_skip_test("this machine's level is %d", wb_cpu_level());
  return false;
}

Test(bundle, runs_at_the_first_level) {
  if (has_level(1)) run_level("x86-64");
}
Test(bundle, runs_at_the_second_level) {
  if (has_level(2)) run_level("x86-64-v2");
}
Test(bundle, runs_at_the_third_level) {
  if (has_level(3)) run_level("x86-64-v3");
}
Test(bundle, runs_at_the_fourth_level) {
  if (has_level(4)) run_level("x86-64-v4");
}

/* ---- misses ---- */

/* Compiles without LLVM and expects a miss whose text has all the words. */
static void expect_miss(const wb_program *program, const wb_kernel_options *options,
                        const char *const *words) {
  wb_kernel *kernel;
  wb_error error = {.text = ""};
  cr_expect_eq(wb_kernel_compile(NULL, program, options, &kernel, NULL, &error),
               WB_ERROR_UNAVAILABLE, "%s", error.text);
  cr_expect_null(kernel);
  for (int i = 0; words[i] != NULL; i++) {
    cr_expect_not_null(strstr(error.text, words[i]), "expected \"%s\" in \"%s\"", words[i],
                       error.text);
  }
}
#define EXPECT_MISS(program, options, ...) \
  expect_miss(program, options, (const char *const[]){__VA_ARGS__, NULL})

/* A bundle with one program for the third level. */
static progen_case *one_program(void) {
  if (!has_level(3)) return NULL;
  make_folder();
  progen_case *c = make_case(0);
  wb_bundle_writer *writer = new_writer();
  add_program(writer, c->program, "x86-64-v3", false, "the \"one\" = first");
  finish(writer);
  without_llvm();
  return c;
}

Test(bundle, says_why_it_has_nothing) {
  progen_case *c = one_program(), *other = make_case(1);
  const wb_kernel_options check = {.check = true}, features = {.features = "-fma"};
  const wb_kernel_options second = {.cpu = "x86-64-v2"}, known = {.cpu = "znver3"};
  const wb_kernel_options away = {.no_bundles = true};
  EXPECT_MISS(other->program, NULL, "/nonexistent", folder, "of this program",
              "other capacities or features");
  EXPECT_MISS(c->program, &check, "the 'one' ' first", "other options", "check 0");
  EXPECT_MISS(c->program, &features, "/nonexistent");
  EXPECT_MISS(c->program, &second, "is for x86-64-v3, expected x86-64-v2");
  EXPECT_MISS(c->program, &known, "no bundle is for CPU znver3");
  EXPECT_MISS(c->program, &away, "/nonexistent");
  setenv("WB_KERNELS", "/nowhere:", 1);
  EXPECT_MISS(c->program, NULL, "/nowhere", "manifest.txt: cannot be read");
  unsetenv("WB_KERNELS");
  EXPECT_MISS(c->program, NULL, "WB_KERNELS names none");
  /* the second of two folders has it */
  char both[160];
  snprintf(both, sizeof both, "/nowhere:%s", folder);
  setenv("WB_KERNELS", both, 1);
  wb_kernel *kernel;
  cr_expect_eq(wb_kernel_compile(NULL, c->program, NULL, &kernel, NULL, NULL), WB_OK);
  wb_kernel_release(kernel);
  progen_free(c);
  progen_free(other);
  remove_folder();
}

Test(bundle, explains_without_compiling) {
  progen_case *c = one_program(), *other = make_case(1);
  char text[1024];
  bool hit;
  cr_expect_eq(wb_kernel_explain(c->program, NULL, &hit, text, sizeof text, NULL), WB_OK);
  cr_expect(hit);
  cr_expect_eq(strncmp(text, folder, strlen(folder)), 0);
  cr_expect_eq(wb_kernel_explain(other->program, NULL, &hit, text, sizeof text, NULL), WB_OK);
  cr_expect(!hit);
  cr_expect_not_null(strstr(text, "of this program"));
  const wb_kernel_options texts = {.keep_text = true};
  cr_expect_eq(wb_kernel_explain(c->program, &texts, &hit, text, sizeof text, NULL), WB_OK);
  cr_expect(!hit);
  cr_expect_not_null(strstr(text, "not looked for"));
  progen_free(c);
  progen_free(other);
  remove_folder();
}

/* ---- manifests ---- */

static void write_bytes(const char *name, const void *bytes, size_t size) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  cr_assert(file != NULL && fwrite(bytes, 1, size, file) == size);
  fclose(file);
}

static uint8_t *read_bytes(const char *name, size_t *size) {
  uint8_t *bytes;
  wb_error error;
  cr_assert_eq(wb_bundle_read_file(folder, name, &bytes, size, &error), WB_OK, "%s", error.text);
  return bytes;
}

/* The entry of a bundle of one, to be changed and written back. */
static void change_entry(void (*change)(wb_bundle_entry *e)) {
  size_t size;
  uint8_t *text = read_bytes(WB_BUNDLE_MANIFEST, &size);
  wb_bundle_list list;
  wb_error error;
  char *changed;
  cr_assert_eq(wb_bundle_read_text((char *)text, &list, &error), WB_OK, "%s", error.text);
  cr_assert_eq(list.count, 1);
  change(&list.entries[0]);
  cr_assert_eq(wb_bundle_write_text(&list, &changed, &error), WB_OK);
  write_bytes(WB_BUNDLE_MANIFEST, changed, strlen(changed));
  wb_bundle_list_free(&list);
  free(changed);
  free(text);
}

static void make_stale(wb_bundle_entry *e) { e->ops += 7; }
static void leave_the_folder(wb_bundle_entry *e) { strcpy(e->code.name, "../x.o"); }
static void lose_the_file(wb_bundle_entry *e) { strcpy(e->code.name, "gone.o"); }
static void change_the_sum(wb_bundle_entry *e) { e->code.sum.low ^= 1; }
static void change_the_size(wb_bundle_entry *e) { e->code.bytes += 1; }

static void expect_changed(void (*change)(wb_bundle_entry *e), const char *words) {
  progen_case *c = one_program();
  change_entry(change);
  EXPECT_MISS(c->program, NULL, words);
  progen_free(c);
  remove_folder();
}

Test(bundle, stale_ones_are_told) { expect_changed(make_stale, "stale: made by a build"); }
Test(bundle, files_stay_in_the_folder) { expect_changed(leave_the_folder, "line 2: not a kernel"); }
Test(bundle, a_lost_file) { expect_changed(lose_the_file, "gone.o: cannot be read"); }
Test(bundle, another_sum) { expect_changed(change_the_sum, "is damaged"); }
Test(bundle, another_size) { expect_changed(change_the_size, "is damaged"); }

Test(bundle, a_manifest_is_whole_or_nothing) {
  progen_case *c = one_program();
  size_t size;
  uint8_t *text = read_bytes(WB_BUNDLE_MANIFEST, &size);
  wb_bundle_list list;
  wb_error error;
  for (size_t length = 0; length < size; length++) {
    char *cut = strndup((char *)text, length);
    cr_expect_eq(wb_bundle_read_text(cut, &list, &error), WB_ERROR_FORMAT, "cut at %zu", length);
    free(cut);
  }
  for (size_t at = 0; at < size; at++) {
    for (int bit = 0; bit < 8; bit++) {
      char *changed = strndup((char *)text, size);
      changed[at] = (char)(changed[at] ^ 1 << bit);
      cr_expect_eq(wb_bundle_read_text(changed, &list, &error), WB_ERROR_FORMAT, "byte %zu", at);
      free(changed);
    }
  }
  write_bytes(WB_BUNDLE_MANIFEST, text, size - 9);
  EXPECT_MISS(c->program, NULL, "manifest.txt: it is cut off");
  write_bytes(WB_BUNDLE_MANIFEST, "something else", 14);
  EXPECT_MISS(c->program, NULL, "its first line is not \"warpbook kernels 1\"");
  free(text);
  progen_free(c);
  remove_folder();
}

/* ---- code files ---- */

static void code_name(char name[WB_BUNDLE_FILE_BYTES]) {
  size_t size;
  uint8_t *text = read_bytes(WB_BUNDLE_MANIFEST, &size);
  wb_bundle_list list;
  cr_assert_eq(wb_bundle_read_text((char *)text, &list, NULL), WB_OK);
  strcpy(name, list.entries[0].code.name);
  wb_bundle_list_free(&list);
  free(text);
}

Test(bundle, damaged_code_is_never_loaded) {
  progen_case *c = one_program();
  char name[WB_BUNDLE_FILE_BYTES];
  size_t size;
  code_name(name);
  uint8_t *object = read_bytes(name, &size);
  for (size_t at = 0; at < size; at += 1 + size / 50) {
    object[at] ^= 0x10;
    write_bytes(name, object, size);
    EXPECT_MISS(c->program, NULL, "is damaged");
    object[at] ^= 0x10;
  }
  write_bytes(name, object, size - 1);
  EXPECT_MISS(c->program, NULL, "is damaged");
  free(object);
  progen_free(c);
  remove_folder();
}

/* Flips bits of an object and cuts it: the loader refuses or loads, and touches nothing else. What it
 * loads is not run. */
Test(bundle, the_loader_believes_nothing) {
  progen_case *c = one_program();
  char name[WB_BUNDLE_FILE_BYTES];
  size_t size;
  code_name(name);
  uint8_t *object = read_bytes(name, &size);
  wb_elf_code code;
  wb_error error;
  cr_assert_eq(wb_elf_load(object, size, c->program->name, &code, &error), WB_OK, "%s", error.text);
  wb_elf_unload(&code);
  cr_expect_eq(wb_elf_load(object, size, "another", &code, &error), WB_ERROR_FORMAT);
  cr_expect_str_eq(error.text, "object: expected a function another, found none");
  int64_t refused = 0, loaded = 0;
  for (size_t at = 0; at < size; at++) {
    for (int bit = 0; bit < 8; bit++) {
      /* an exact copy, so that a sanitizer sees a step beyond its end */
      uint8_t *changed = malloc(size);
      memcpy(changed, object, size);
      changed[at] = (uint8_t)(changed[at] ^ 1 << bit);
      wb_status status = wb_elf_load(changed, size, c->program->name, &code, &error);
      refused += status != WB_OK;
      loaded += status == WB_OK;
      wb_elf_unload(&code);
      free(changed);
    }
  }
  cr_expect_gt(refused, 500);
  cr_expect_gt(loaded, 500);
  for (size_t length = 0; length < size; length++) {
    uint8_t *cut = malloc(length + 1);
    memcpy(cut, object, length);
    cr_expect_neq(wb_elf_load(cut, length, c->program->name, &code, &error), WB_OK, "cut at %zu",
                  length);
    free(cut);
  }
  free(object);
  progen_free(c);
  remove_folder();
}

/* ---- keeping what is compiled ---- */

static void set_keep(const char *targets) {
  char setting[160];
  snprintf(setting, sizeof setting, "%s/kept%s", folder, targets);
  setenv("WB_KEEP_KERNELS", setting, 1);
}

Test(bundle, keeps_what_a_run_compiles) {
  if (!has_level(3)) return;
  make_folder();
  progen_case *first = make_case(0), *second = make_case(1);
  const progen_case *cases[] = {first, second, first};
  set_keep(",x86-64-v2,x86-64-v3");
  for (int i = 0; i < 3; i++) {
    /* even what is interpreted: the bundle is for another machine */
    const wb_kernel_options options = {.interpret = i == 1};
    wb_kernel *kernel;
    wb_error error;
    cr_assert_eq(wb_kernel_compile(NULL, cases[i]->program, &options, &kernel, NULL, &error), WB_OK,
                 "%s", error.text);
    wb_kernel_release(kernel);
  }
  unsetenv("WB_KEEP_KERNELS");
  strcat(folder, "/kept");
  without_llvm();
  for (int i = 0; i < 2; i++) {
    for (int level = 2; level <= 3; level++) {
      const wb_kernel_options options = {.cpu = wb_cpu_level_text(level)};
      wb_kernel *kernel;
      wb_error error;
      cr_assert_eq(wb_kernel_compile(NULL, cases[i]->program, &options, &kernel, NULL, &error),
                   WB_OK, "%s", error.text);
      expect_same_result(cases[i], kernel);
      wb_kernel_release(kernel);
    }
  }
  size_t size;
  uint8_t *text = read_bytes(WB_BUNDLE_MANIFEST, &size);
  wb_bundle_list list;
  cr_assert_eq(wb_bundle_read_text((char *)text, &list, NULL), WB_OK);
  cr_expect_eq(list.count, 4, "two programs at two levels, each once");
  wb_bundle_list_free(&list);
  free(text);
  progen_free(first);
  progen_free(second);
  *strrchr(folder, '/') = '\0';
  remove_folder();
}

Test(bundle, keeping_says_what_it_needs) {
  make_folder();
  progen_case *c = make_case(0);
  static const char *const settings[] = {"", ",z80", ",x86-64-v2,z80"};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    wb_kernel *kernel;
    wb_error error = {.text = ""};
    set_keep(settings[i]);
    cr_expect_eq(wb_kernel_compile(NULL, c->program, NULL, &kernel, NULL, &error),
                 WB_ERROR_ARGUMENT);
    cr_expect_null(kernel);
    cr_expect_not_null(strstr(error.text, i == 0 ? "FOLDER,TARGET" : "z80"), "%s", error.text);
  }
  wb_kernel *kernel;
  wb_error error;
  setenv("WB_KEEP_KERNELS", "/nonexistent/deeper,host", 1);
  cr_expect_eq(wb_kernel_compile(NULL, c->program, NULL, &kernel, NULL, &error), WB_ERROR_IO);
  progen_free(c);
  remove_folder();
}

/* ---- writing ---- */

Test(bundle, what_cannot_be_kept) {
  progen_case *c = make_case(0);
  make_folder();
  wb_bundle_writer *writer = new_writer();
  static const wb_kernel_options wrong[] = {{.interpret = true},
                                            {.cpu = "native"},
                                            {.cpu = "x86-64-v3", .features = "-fma"},
                                            {.cpu = "x86-64-v3", .no_passes = true}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    wb_kernel *kernel;
    wb_error error = {.text = ""};
    bool added = true;
    cr_assert_eq(wb_kernel_compile(NULL, c->program, &wrong[i], &kernel, NULL, &error), WB_OK, "%s",
                 error.text);
    cr_expect_eq(wb_bundle_add(writer, kernel, "", NULL, 0, &added, &error), WB_ERROR_ARGUMENT);
    cr_expect(!added);
    cr_expect_not_null(strstr(error.text, i == 0 || i == 3 ? "all passes" : "x86-64-v2"), "%s",
                       error.text);
    wb_kernel_release(kernel);
  }
  wb_bundle_abandon(writer);
  wb_error error;
  cr_expect_eq(wb_bundle_create("/nonexistent/deeper", &writer, &error), WB_ERROR_IO);
  wb_bundle_abandon(NULL);
  progen_free(c);
  remove_folder();
}

Test(bundle, a_kernel_is_kept_once) {
  progen_case *c = make_case(0);
  make_folder();
  wb_bundle_writer *writer = new_writer();
  const wb_kernel_options options = {.cpu = "x86-64-v2", .no_bundles = true};
  wb_kernel *kernel;
  cr_assert_eq(wb_kernel_compile(NULL, c->program, &options, &kernel, NULL, NULL), WB_OK);
  for (int i = 0; i < 3; i++) {
    bool added;
    cr_expect_eq(wb_bundle_add(writer, kernel, "again", NULL, 0, &added, NULL), WB_OK);
    cr_expect_eq(added, i == 0);
  }
  finish(writer);
  wb_kernel_release(kernel);
  progen_free(c);
  remove_folder();
}

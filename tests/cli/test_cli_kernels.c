/* warpbook kernels: what it lists, shows and times, and what it says where it cannot. */
#include "run.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char nowhere[] = "/nonexistent/module.so";

/* ---- list ---- */

static const json_t *row_of(const json_t *list, const char *name, const char *variant) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *row = json_array_get(list, i);
    if (strcmp(text(row, "name"), name) == 0 && strcmp(text(row, "variant"), variant) == 0) {
      return row;
    }
  }
  cr_assert_fail("no kernel %s %s", name, variant);
  return NULL;
}

Test(kernels, list_needs_no_code_generator) {
  setenv("WB_LLVM_MODULE", nowhere, 1);
  json_t *list = expect_json(RUN("kernels", "list", "--capacity", "64,128", "--json"), 0);
  const json_t *replay = row_of(list, "run", "replay all-trades");
  const json_t *all = row_of(list, "run", "all all-trades rows");
  cr_expect_eq(number(replay, "capacity"), 64, "the first capacity comes first");
  cr_expect_lt(number(replay, "ops_compiled"), number(all, "ops_compiled"));
  cr_expect_lt(number(all, "ops_compiled"), number(all, "ops_built"));
  const json_t *accesses = json_object_get(all, "accesses");
  cr_expect_eq(number(accesses, "all"), number(accesses, "proven") + number(accesses, "promised") +
                                            number(accesses, "checked"));
  (void)row_of(list, "levels", "");
  (void)row_of(list, "hashes", "");
  /* no two kernels have one key, and each is there for both capacities */
  size_t rows = json_array_size(list);
  cr_expect_eq(rows % 2, 0);
  for (size_t i = 0; i < rows; i++) {
    for (size_t j = 0; j < i; j++) {
      cr_expect_str_neq(text(json_array_get(list, i), "key"), text(json_array_get(list, j), "key"));
    }
  }
  json_decref(list);
}

Test(kernels, list_picks_by_words) {
  json_t *list = expect_json(
      RUN("kernels", "list", "run", "--features", "checked,rows,no-trades", "--json"), 0);
  cr_assert_eq(json_array_size(list), 1);
  cr_expect_str_eq(text(json_array_get(list, 0), "variant"), "checked no-trades rows");
  cr_expect_eq(number(json_array_get(list, 0), "capacity"), 1024);
  json_decref(list);
  run_result table = RUN("kernels", "list", "wb_levels");
  cr_expect_eq(table.status, 0);
  cr_expect_not_null(strstr(table.out, "levels"));
  cr_expect_null(strstr(table.out, "hashes"));
  run_free(&table);
}

Test(kernels, environments_are_listed) {
  static const char *const usual[] = {"execution:discrete",   "execution:quantities",
                                      "execution:slots",      "market_making:discrete",
                                      "market_making:quotes", "market_making:slots"};
  json_t *list = expect_json(RUN("kernels", "list", "--capacity", "64", "--json"), 0);
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
    char *variant = format("%s levels-10", usual[i]);
    (void)row_of(list, "env_step", variant);
    free(variant);
  }
  (void)row_of(list, "env_twap", "execution:discrete levels-10");
  (void)row_of(list, "env_avellaneda_stoikov", "market_making:quotes levels-10");
  json_decref(list);

  /* another one stands before the usual ones, and only it has its words */
  const char *agents = "market_making:quotes*2+execution:slots";
  list = expect_json(RUN("kernels", "list", "env_step", "--capacity", "64", "--env", agents,
                         "--levels", "3", "--clock", "time", "--autoreset", "next-step",
                         "--windows", "sequential", "--json"),
                     0);
  cr_expect_eq(json_array_size(list), 7);
  cr_expect_str_eq(text(json_array_get(list, 0), "variant"),
                   "market_making:quotes*2+execution:slots levels-3 clock-time next-step "
                   "sequential");
  json_decref(list);
  list = expect_json(RUN("kernels", "list", "--features", agents, "--env", agents, "--json"), 0);
  (void)row_of(list, "env_reset", "market_making:quotes*2+execution:slots levels-10");
  (void)row_of(list, "env_save", "market_making:quotes*2+execution:slots levels-10");
  (void)row_of(list, "run", "market_making:quotes*2+execution:slots levels-10");
  json_decref(list);
  /* one of the usual ones changes nothing */
  list = expect_json(RUN("kernels", "list", "env_step", "--env", "execution", "--json"), 0);
  cr_expect_eq(json_array_size(list), 6);
  json_decref(list);
}

/* ---- show ---- */

/* Lines of assembly that are instructions, by a rule of its own: all but labels and directives. */
static int64_t instruction_lines(const char *assembly) {
  int64_t count = 0;
  char *copy = strdup(assembly);
  for (char *line = strtok(copy, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    line[strcspn(line, "#")] = '\0';
    char *word = line + strspn(line, " \t");
    size_t length = strcspn(word, " \t");
    count += length > 0 && word[0] != '.' && strchr(word, ':') == NULL;
  }
  free(copy);
  return count;
}

Test(kernels, show_counts_instructions) {
  json_t *summary = expect_json(
      RUN("kernels", "show", "run", "--capacity", "64", "--features", "flow", "--json"), 0);
  run_result assembly =
      RUN("kernels", "show", "run", "--capacity", "64", "--features", "flow", "--asm");
  cr_assert_eq(assembly.status, 0, "%s", assembly.err);
  int64_t all = number(summary, "instructions");
  cr_expect_eq(all, instruction_lines(assembly.out));
  cr_expect_gt(number(summary, "code_bytes"), all);
  run_free(&assembly);

  /* a flow has three types; each is part of the whole, and none stands for nothing */
  const json_t *types = json_object_get(summary, "types");
  const char *const names[] = {"ADD", "REDUCE", "DELETE"};
  cr_expect_eq(json_object_size(types), 4);
  int64_t none = number(types, "none");
  cr_expect_gt(none, 0);
  for (int i = 0; i < 3; i++) {
    const json_t *type = json_object_get(types, names[i]);
    cr_expect(number(type, "alone") > 0 && number(type, "alone") < all - none + 50);
    cr_expect(number(type, "more") < all - none + 50);
    cr_expect(number(type, "ops") > 0 && number(type, "ops") < number(summary, "ops_compiled"));
  }
  cr_expect_gt(number(json_object_get(types, "ADD"), "alone"),
               number(json_object_get(types, "DELETE"), "alone"), "an add also trades");
  json_decref(summary);

  run_result table =
      RUN("kernels", "show", "run", "--capacity", "64", "--features", "flow", "--arch", "host");
  cr_expect_eq(table.status, 0);
  cr_expect_not_null(strstr(table.out, "DELETE"));
  cr_expect_not_null(strstr(table.out, "generate"));
  run_free(&table);
}

Test(kernels, show_prints_the_program_after_any_pass) {
  run_result built = RUN("kernels", "show", "hashes", "--ir", "--pass", "none");
  run_result folded = RUN("kernels", "show", "hashes", "--ir", "--pass", "fold");
  run_result last = RUN("kernels", "show", "hashes", "--ir");
  cr_assert(built.status == 0 && folded.status == 0 && last.status == 0);
  cr_expect_eq(strncmp(built.out, "program wb_hashes", 17), 0);
  cr_expect_str_neq(built.out, folded.out);
  cr_expect_str_neq(folded.out, last.out);
  run_free(&built);
  run_free(&folded);
  run_free(&last);
  run_result llvm = RUN("kernels", "show", "hashes", "--llvm");
  cr_expect_eq(llvm.status, 0);
  cr_expect_not_null(strstr(llvm.out, "define void @wb_hashes"));
  run_free(&llvm);
}

/* ---- time ---- */

Test(kernels, time_tells_every_stage) {
  json_t *list = expect_json(
      RUN("kernels", "time", "volume_at", "--capacity", "32", "--repeats", "3", "--json"), 0);
  cr_assert_eq(json_array_size(list), 1);
  const json_t *row = json_array_get(list, 0);
  double sum = 0;
  const char *name;
  json_t *value;
  json_object_foreach(json_object_get(row, "seconds"), name, value) {
    cr_expect_geq(json_real_value(value), 0);
    sum += json_real_value(value);
  }
  cr_expect_gt(json_real_value(json_object_get(row, "seconds_all")), 0);
  cr_expect_gt(sum, 0);
  json_decref(list);
}

/* ---- build, explain ---- */

static const char sample[] =
    WB_SOURCE_DIR "/data/sample/WARP_2024-01-02_34200000_57600000_message_5.csv";

/* The file that the first kernel of this name comes from, one byte changed. */
static void damage(const char *kernel) {
  json_t *list = expect_json(RUN("kernels", "explain", kernel, "--capacity", "64", "--json"), 0);
  const char *path = text(json_array_get(list, 0), "text");
  size_t bytes;
  char *content = read_file(path, &bytes);
  content[bytes / 2] ^= 1;
  FILE *file = fopen(path, "wb");
  cr_assert(file != NULL && fwrite(content, 1, bytes, file) == bytes);
  fclose(file);
  free(content);
  json_decref(list);
}

Test(kernels, a_bundle_replaces_the_code_generator) {
  char *folder = scratch_make();
  char *bundle = format("%s/kernels", folder);
  json_t *built =
      expect_json(RUN("kernels", "build", "--capacity", "64", "-o", bundle, "--json"), 0);
  cr_expect_gt(number(built, "kernels"), 10);
  cr_expect_eq(number(built, "cubins"), 0);
  json_decref(built);

  setenv("WB_LLVM_MODULE", nowhere, 1);
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "64"), "WB_KERNELS names none");
  setenv("WB_KERNELS", bundle, 1);
  json_t *all = expect_json(RUN("kernels", "explain", "--capacity", "64", "--json"), 0);
  for (size_t i = 0; i < json_array_size(all); i++) {
    cr_expect(json_is_true(json_object_get(json_array_get(all, i), "hit")));
  }
  json_decref(all);
  /* the day asks for less than any kernel there was made for */
  json_t *replay = expect_json(RUN("replay", sample, "--capacity", "64", "--json"), 0);
  json_t *reference =
      expect_json(RUN("replay", sample, "--capacity", "64", "--engine", "reference", "--json"), 0);
  cr_expect_str_eq(text(replay, "state_hash"), text(reference, "state_hash"));

  /* the same where LLVM is but is not to be used */
  setenv("WB_LLVM_MODULE", "none", 1);
  json_t *by_choice = expect_json(RUN("replay", sample, "--capacity", "64", "--json"), 0);
  cr_expect_str_eq(text(by_choice, "state_hash"), text(replay, "state_hash"));
  json_decref(by_choice);
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "32"), "LLVM is not to be used");
  json_decref(replay);
  json_decref(reference);
  setenv("WB_LLVM_MODULE", nowhere, 1);

  /* another capacity; a damaged bundle */
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "128"), "of this program", "nonexistent");
  run_result explained = RUN("kernels", "explain", "hashes", "--capacity", "64,128");
  cr_expect_eq(explained.status, 0);
  cr_expect_not_null(strstr(explained.out, "hashes 64 for host: from bundle"));
  cr_expect_not_null(strstr(explained.out, "hashes 128 for host: to be compiled"));
  cr_expect_not_null(strstr(explained.out, "compiles exactly what its day needs"));
  run_free(&explained);
  damage("hashes");
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "64"), "wb_hashes", "is damaged");
  free(bundle);
  scratch_free(folder);
}

/* On the emulated GPU, which takes PTX only: machine code that does not load is no obstacle. */
Test(kernels, a_bundle_for_a_gpu) {
  const char *emulator = getenv("WB_EMULATOR");
  if (emulator == NULL) {
    cr_skip_test("there is no emulator: run this through ctest");
  }
  char *folder = scratch_make();
  char *bundle = format("%s/kernels", folder);
  json_t *built = expect_json(
      RUN("kernels", "build", "--capacity", "64", "--arch", "sm_90", "-o", bundle, "--json"), 0);
  cr_expect_gt(number(built, "kernels"), 10);
  json_decref(built);
  setenv("WB_LLVM_MODULE", nowhere, 1);
  setenv("WB_CUDART", emulator, 1);
  setenv("WB_KERNELS", bundle, 1);
  json_t *replay = expect_json(
      RUN("replay", sample, "--capacity", "64", "--device", "cuda", "--to", "9:40", "--json"), 0);
  unsetenv("WB_KERNELS");
  json_t *reference = expect_json(
      RUN("replay", sample, "--capacity", "64", "--engine", "reference", "--to", "9:40", "--json"),
      0);
  cr_expect_str_eq(text(replay, "state_hash"), text(reference, "state_hash"));
  json_decref(replay);
  json_decref(reference);
  EXPECT_REFUSED(RUN("replay", sample, "--capacity", "64", "--device", "cuda"), "nonexistent",
                 "WB_KERNELS names none");
  free(bundle);
  scratch_free(folder);
}

Test(kernels, machine_code_where_ptxas_is) {
  char *folder = scratch_make();
  setenv("WB_PTXAS", "/nonexistent/ptxas", 1);
  json_t *built = expect_json(RUN("kernels", "build", "volume_at", "--capacity", "32", "--arch",
                                  "sm_80,sm_90", "-o", folder, "--json"),
                              0);
  cr_expect_eq(number(built, "kernels"), 2);
  cr_expect_eq(number(built, "cubins"), 0);
  json_decref(built);
  json_t *shown = expect_json(
      RUN("kernels", "show", "volume_at", "--capacity", "32", "--arch", "sm_80", "--json"), 0);
  const json_t *gpu = json_object_get(shown, "gpu");
  cr_expect_eq(number(gpu, "sm"), 80);
  cr_expect_gt(number(gpu, "warps"), 0);
  cr_expect(json_is_null(json_object_get(gpu, "machine")));
  json_decref(shown);
  /* one that fails */
  setenv("WB_PTXAS", "/bin/false", 1);
  EXPECT_REFUSED(
      RUN("kernels", "build", "volume_at", "--capacity", "32", "--arch", "sm_80", "-o", folder),
      "/bin/false", "exit status 1", "volume_at 32");
  scratch_free(folder);
}

/* ---- environments ---- */

#define PLAY(...)                                                                          \
  RUN("env", "run", "market_making:quotes*2+execution", "--data", sample, "--levels", "5", \
      "--envs", "2", "--messages-per-step", "10", "--episode-messages", "50",              \
      "--snapshot-messages", "1000", "--steps", "8", "--policy", "random+twap", "--json",  \
      __VA_ARGS__)

static void expect_same_state(run_result left, run_result right) {
  json_t *one = expect_json(left, 0), *other = expect_json(right, 0);
  cr_expect_str_eq(text(one, "state_hash"), text(other, "state_hash"));
  cr_expect_gt(number(one, "episodes"), 0, "episodes end and begin again");
  json_decref(one);
  json_decref(other);
}

static void build_env(const char *bundle, const char *arch) {
  json_t *built =
      expect_json(RUN("kernels", "build", "--capacity", "64", "--arch", arch, "--env",
                      "market_making:quotes*2+execution", "--levels", "5", "--features",
                      "market_making:quotes*2+execution:discrete", "-o", bundle, "--json"),
                  0);
  cr_expect_gt(number(built, "kernels"), 12);
  json_decref(built);
}

/* Nothing compiles here, on either device: all that a run asks for is in the bundle. */
Test(kernels, an_environment_runs_from_a_bundle) {
  char *folder = scratch_make();
  char *bundle = format("%s/kernels", folder);
  run_result compiled = PLAY("--device", "cpu");
  build_env(bundle, "host");
  setenv("WB_LLVM_MODULE", nowhere, 1);
  EXPECT_REFUSED(PLAY("--device", "cpu"), "orders a side", "WB_KERNELS names none",
                 "kernels build --capacity N --env 'market_making:quotes*2+execution' --levels 5");
  setenv("WB_KERNELS", bundle, 1);
  expect_same_state(compiled, PLAY("--device", "cpu"));
  /* no other one does */
  EXPECT_REFUSED(RUN("env", "run", "execution", "--data", sample, "--episode-messages", "50"),
                 "wb_env_reset", "of this program");
  unsetenv("WB_LLVM_MODULE");
  setenv("WB_KERNELS", bundle, 1);
  json_t *explained =
      expect_json(RUN("kernels", "explain", "env_step", "--capacity", "64", "--env",
                      "market_making:quotes*2+execution", "--levels", "5", "--json"),
                  0);
  for (size_t i = 0; i < json_array_size(explained); i++) {
    cr_expect_eq(json_is_true(json_object_get(json_array_get(explained, i), "hit")), i == 0);
  }
  json_decref(explained);
  free(bundle);
  scratch_free(folder);
}

Test(kernels, an_environment_runs_from_a_bundle_on_a_gpu) {
  const char *emulator = getenv("WB_EMULATOR");
  if (emulator == NULL) {
    cr_skip_test("there is no emulator: run this through ctest");
  }
  char *folder = scratch_make();
  char *bundle = format("%s/kernels", folder);
  run_result on_cpu = PLAY("--device", "cpu");
  build_env(bundle, "sm_90");
  setenv("WB_LLVM_MODULE", nowhere, 1);
  setenv("WB_CUDART", emulator, 1);
  setenv("WB_KERNELS", bundle, 1);
  expect_same_state(on_cpu, PLAY("--device", "cuda"));
  free(bundle);
  scratch_free(folder);
}

/* What every bundle has without being asked. */
Test(kernels, the_usual_environments_are_in_every_bundle) {
  char *folder = scratch_make();
  json_t *built = expect_json(RUN("kernels", "build", "--capacity", "64", "--features", "levels-10",
                                  "-o", folder, "--json"),
                              0);
  cr_expect_gt(number(built, "kernels"), 30);
  json_decref(built);
  static const char *const tasks[] = {
      "execution",     "execution:quantities", "execution:slots",
      "market_making", "market_making:quotes", "market_making:slots"};
  setenv("WB_LLVM_MODULE", nowhere, 1);
  setenv("WB_KERNELS", folder, 1);
  for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
    json_t *o = expect_json(RUN("env", "run", tasks[i], "--data", sample, "--envs", "2", "--steps",
                                "3", "--episode-messages", "200", "--json"),
                            0);
    cr_expect_gt(number(o, "messages"), 0);
    json_decref(o);
  }
  scratch_free(folder);
}

Test(kernels, show_and_time_know_environments) {
  json_t *shown = expect_json(
      RUN("kernels", "show", "env_truncate", "--capacity", "32", "--env", "execution*3", "--json"),
      0);
  cr_expect_str_eq(text(shown, "variant"), "execution:discrete*3 levels-10");
  cr_expect_gt(number(shown, "instructions"), 5);
  json_decref(shown);
  run_result ptx = RUN("kernels", "show", "wb_env_none", "--ptx", "--features", "levels-10");
  cr_expect_eq(ptx.status, 0);
  cr_expect_not_null(strstr(ptx.out, ".visible .entry wb_env_none"));
  run_free(&ptx);
  json_t *timed = expect_json(
      RUN("kernels", "time", "env_truncate", "--capacity", "32", "--repeats", "1", "--json"), 0);
  cr_expect_eq(json_array_size(timed), 2, "one for each number of slots");
  json_decref(timed);
}

Test(kernels, environments_refused) {
  EXPECT_REFUSED(RUN("kernels", "list", "--env", "mining"), "mining", "execution");
  EXPECT_REFUSED(RUN("kernels", "list", "--env", "execution:magic"), "magic", "quantities");
  EXPECT_REFUSED(RUN("kernels", "list", "--env", "execution*33"), "--env", "1 to 32", "33");
  EXPECT_REFUSED(RUN("kernels", "list", "--env", ""), "--env", "TASK");
  EXPECT_REFUSED(RUN("kernels", "list", "--env", "execution*20+execution*20"), "agents", "40");
  EXPECT_REFUSED(RUN("kernels", "list", "--levels", "5"), "--levels", "go with --env");
  EXPECT_REFUSED(RUN("kernels", "list", "--env", "execution", "--clock", "sun"), "clock", "sun");
}

/* Most days fit one of these. */
Test(kernels, a_bundle_has_the_usual_capacities) {
  char *folder = scratch_make();
  json_t *built = expect_json(RUN("kernels", "build", "volume_at", "-o", folder, "--json"), 0);
  cr_expect_eq(number(built, "kernels"), 3);
  json_decref(built);
  setenv("WB_KERNELS", folder, 1);
  json_t *all =
      expect_json(RUN("kernels", "explain", "volume_at", "--capacity", "64,128,1024", "--json"), 0);
  cr_expect_eq(json_array_size(all), 3);
  for (size_t i = 0; i < json_array_size(all); i++) {
    cr_expect(json_is_true(json_object_get(json_array_get(all, i), "hit")));
  }
  json_decref(all);
  scratch_free(folder);
}

Test(kernels, build_refuses) {
  EXPECT_REFUSED(RUN("kernels", "build"), "--output is missing");
  EXPECT_REFUSED(RUN("kernels", "list", "-o", "x"), "belongs to build");
  EXPECT_REFUSED(RUN("kernels", "build", "-o", "/nonexistent/deeper"), "/nonexistent/deeper");
  char *folder = scratch_make();
  EXPECT_REFUSED(RUN("kernels", "build", "hashes", "-o", folder, "--arch", "host:znver3"),
                 "x86-64-v3", "znver3");
  cr_expect_eq(count_entries(folder), 0);
  scratch_free(folder);
}

/* Of a kernel in which moves between registers and the stack can outweigh a type. */
Test(kernels, each_type_is_operations_whatever_becomes_of_them, .timeout = 120) {
  json_t *summary = expect_json(RUN("kernels", "show", "run", "--capacity", "128", "--features",
                                    "all,owner-trades", "--json"),
                                0);
  const char *name;
  json_t *type;
  int64_t ops = 0;
  json_object_foreach(json_object_get(summary, "types"), name, type) {
    if (strcmp(name, "none") != 0) {
      cr_expect_gt(number(type, "ops"), 0, "%s", name);
      ops += number(type, "ops");
    }
  }
  cr_expect_lt(ops, number(summary, "ops_compiled"));
  cr_expect_eq(json_object_size(json_object_get(summary, "types")), 9);
  json_decref(summary);
}

/* ---- the environment ---- */

Test(kernels, where_slabs_are_is_a_word_that_is_known) {
  static const char *const words[] = {"", "auto", "shared", "split", "global"};
  static const char *const reports[] = {
      "global memory, which is only read", "global memory, which is only read",
      "slab in shared memory, as asked for", "small arrays in shared memory", "as asked for"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    setenv("WB_PLACEMENT", words[i], 1);
    json_t *shown = expect_json(
        RUN("kernels", "show", "levels", "--capacity", "64", "--arch", "sm_90", "--json"), 0);
    const char *report = text(json_object_get(shown, "gpu"), "placement");
    cr_expect(strstr(report, reports[i]) != NULL, "\"%s\": %s", words[i], report);
    json_decref(shown);
  }
  setenv("WB_PLACEMENT", "Shared", 1);
  EXPECT_REFUSED(RUN("kernels", "show", "hashes", "--arch", "sm_90"), "WB_PLACEMENT",
                 "auto, shared, split or global", "\"Shared\"");
  EXPECT_REFUSED(RUN("kernels", "list"), "WB_PLACEMENT", "\"Shared\"");
}

/* ---- what cannot be ---- */

Test(kernels, refused) {
  EXPECT_REFUSED(RUN("kernels"), "ACTION is missing");
  EXPECT_REFUSED(RUN("kernels", "hide"), "list, show", "\"hide\"");
  EXPECT_REFUSED(RUN("kernels", "show"), "KERNEL is missing");
  EXPECT_REFUSED(RUN("kernels", "show", "walk"), "\"walk\"", "kernels list");
  EXPECT_REFUSED(RUN("kernels", "show", "run", "--features", "magic"), "\"magic\"");
  EXPECT_REFUSED(RUN("kernels", "list", "--capacity", "100"), "--capacity", "\"100\"");
  EXPECT_REFUSED(RUN("kernels", "list", "--capacity", ""), "--capacity");
  EXPECT_REFUSED(RUN("kernels", "list", "--arch", "sm_12"), "sm_90", "\"sm_12\"");
  EXPECT_REFUSED(RUN("kernels", "list", "--ir"), "belong to show");
  EXPECT_REFUSED(RUN("kernels", "show", "run", "--ir", "--asm"), "only one");
  EXPECT_REFUSED(RUN("kernels", "show", "run", "--pass", "fold"), "--pass", "--ir");
  EXPECT_REFUSED(RUN("kernels", "show", "run", "--ir", "--pass", "magic"), "fold", "\"magic\"");
  EXPECT_REFUSED(RUN("kernels", "show", "run", "--arch", "host:z80", "--asm"), "z80");
  EXPECT_REFUSED(RUN("kernels", "show", "run", "--ptx", "--arch", "host"), "--ptx", "sm_80");
  EXPECT_REFUSED(RUN("kernels", "time", "--repeats", "0"), "--repeats");
  setenv("WB_LLVM_MODULE", nowhere, 1);
  EXPECT_REFUSED(RUN("kernels", "show", "run", "--asm"), "could not be loaded", "WB_LLVM_MODULE");
}

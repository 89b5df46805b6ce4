/* The module as a whole: what its functions promise in lower.h - names that are refused, objects that
 * can be loaded again or not, texts, threads - and what the machine code may not contain. */
#include "compiler/kernel.h"
#include "lowering.h"

#include <criterion/criterion.h>

#include <elf.h>
#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/dsl.h"

/* A program with everything that LLVM likes to call a library for: fma, square roots, divisions,
 * conversions, rows that are copied and cleared, shuffles, scatters. */
static wb_program *library_bait(const char *name) {
  wb_error error = {0};
  wb_layout *layout;
  wb_builder *b;
  array floats, ints, wides, bytes;
  wb_layout_new(&layout, &error);
  wb_layout_add(layout, "floats", WB_ELEMENT_F32, 256, 0, &floats, &error);
  wb_layout_add(layout, "ints", WB_ELEMENT_I32, 256, 0, &ints, &error);
  wb_layout_add(layout, "wides", WB_ELEMENT_I64, 256, 0, &wides, &error);
  wb_layout_add(layout, "bytes", WB_ELEMENT_U8, 256, 0, &bytes, &error);
  cr_assert_eq(wb_builder_new(name, 32, layout, &b, &error), WB_OK, "%s", error.text);
  FOR (r, 0, 4) {
    val x = load_row(floats, r), n = load_row(ints, r), w = load_row(wides, r);
    store_row(floats, add(r, 4), fused(x, square_root(x), divide(x, f32(n))));
    store_row(floats, r, min(f32(w), max(x, f32(w))));
    store_row(ints, add(r, 4), divide(n, shuffle(n, i32(w))));
    store_row(wides, add(r, 4), remainder_of(w, udiv(w, i64(n))));
    store_row(ints, r, add(i32(x), clz(n)));
    store_row(bytes, r, load_row(bytes, 7));
    store_row(bytes, 6, 0);
    scatter(wides, n, scan_add(w));
    val s = load(floats, r), k = load(ints, r), v = load(wides, r);
    store(floats, add(r, 9), fused(s, s, f32(v)));
    store(ints, add(r, 9), add(divide(k, i32(s)), popcnt(ctz(k))));
    store(wides, add(r, 9), urem(v, mul(v, i64(k))));
  }
  FOR (i, 0, 256) {
    store(bytes, i, 0);
  }
  FOR (i, 0, 128) {
    store(wides, i, load(wides, add(i, 128)));
  }
  wb_layout_free(layout);
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  return program;
}

static wb_lower_result compile(wb_lower_request request) {
  wb_lower_result result;
  wb_error error = {0};
  cr_assert_eq(test_lowering()->compile(&request, &result, &error), WB_OK, "%s", error.text);
  return result;
}

/* Parentheses keep the word from being the one of dsl.h. */
static wb_status load_object(const void *object, size_t bytes, const char *symbol,
                             wb_lower_result *result, wb_error *error) {
  return (test_lowering()->load)(object, bytes, symbol, result, error);
}

/* ---- the object ---- */

/* Counts the undefined symbols of an ELF object. Reads it apart from the module's own check. */
static int count_undefined(const uint8_t *object) {
  const Elf64_Ehdr *head = (const Elf64_Ehdr *)(const void *)object;
  const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(object + head->e_shoff);
  int undefined = 0, symbols = 0;
  for (int i = 0; i < head->e_shnum; i++) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const Elf64_Sym *table = (const Elf64_Sym *)(const void *)(object + sections[i].sh_offset);
    for (size_t k = 1; k < sections[i].sh_size / sizeof *table; k++, symbols++) {
      undefined += table[k].st_shndx == SHN_UNDEF;
    }
  }
  cr_expect_gt(symbols, 0);
  return undefined;
}

Test(lower_module, objects_have_no_undefined_symbol) {
  static const char *const cpus[] = {"x86-64", "x86-64-v2", "x86-64-v3",     "x86-64-v4",
                                     "native", "znver2",    "skylake-avx512"};
  wb_program *program = library_bait("bait");
  for (size_t i = 0; i < sizeof cpus / sizeof *cpus; i++) {
    for (int unoptimised = 0; unoptimised < 2; unoptimised++) {
      wb_lower_result result = compile((wb_lower_request){
          .program = program, .cpu = cpus[i], .unoptimised = unoptimised, .check = unoptimised});
      cr_expect_eq(count_undefined(result.object), 0, "%s", cpus[i]);
      test_lowering()->release(&result);
    }
  }
  wb_program_free(program);
}

Test(lower_module, bait_gives_the_same_everywhere) {
  wb_program *program = library_bait("bait");
  test_memory m;
  test_memory_new(&m, program, 4, NULL);
  test_memory_fill(&m, 99);
  test_expect_same(program, &m, 0);
  test_memory_free(&m);
  wb_program_free(program);
}

Test(lower_module, an_object_can_be_loaded_again) {
  wb_program *program = library_bait("again");
  wb_lower_result first = compile((wb_lower_request){.program = program}), second = {0};
  wb_error error = {0};
  cr_assert_eq(load_object(first.object, first.object_bytes, "again", &second, &error), WB_OK, "%s",
               error.text);
  test_memory a, b;
  test_memory_new(&a, program, 2, NULL);
  test_memory_fill(&a, 5);
  test_memory_copy(&b, &a);
  first.entry(&a.arguments, 0, 2);
  test_lowering()->release(&first);
  second.entry(&b.arguments, 0, 2);
  char text[256];
  cr_expect(test_memory_equal(&a, &b, text, sizeof text), "%s", text);
  test_lowering()->release(&second);
  cr_expect(second.entry == NULL && second.object == NULL, "release leaves nothing behind");
  test_memory_free(&a);
  test_memory_free(&b);
  wb_program_free(program);
}

Test(lower_module, a_damaged_object_is_refused) {
  wb_program *program = library_bait("damaged");
  wb_lower_result good = compile((wb_lower_request){.program = program}), result = {0};
  wb_error error = {0};
  for (size_t bytes = 0; bytes < good.object_bytes; bytes += 1 + bytes / 16) {
    cr_expect_eq(load_object(good.object, bytes, "damaged", &result, &error), WB_ERROR_FORMAT,
                 "%zu bytes", bytes);
  }
  cr_expect_eq(load_object(good.object, good.object_bytes, "other", &result, &error),
               WB_ERROR_FORMAT);
  cr_expect_str_eq(error.text, "object file: expected function other, found none");
  /* every bit of the header and of the section headers' first fields */
  Elf64_Ehdr head;
  memcpy(&head, good.object, sizeof head);
  uint8_t *bytes = calloc(1, good.object_bytes + 1);
  cr_assert_not_null(bytes);
  for (size_t bit = 0; bit < 8 * sizeof head; bit++) {
    memcpy(bytes, good.object, good.object_bytes);
    bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    wb_status status = load_object(bytes, good.object_bytes, "damaged", &result, &error);
    if (status == WB_OK) test_lowering()->release(&result);
  }
  free(bytes);
  test_lowering()->release(&good);
  wb_program_free(program);
}

/* ---- names ---- */

static wb_status try_names(const char *cpu, const char *features, wb_error *error) {
  wb_program *program = library_bait("names");
  wb_lower_request request = {.program = program, .cpu = cpu, .features = features};
  wb_lower_result result;
  wb_status status = test_lowering()->compile(&request, &result, error);
  if (status == WB_OK) test_lowering()->release(&result);
  wb_program_free(program);
  return status;
}

Test(lower_module, unknown_names_are_errors_that_help) {
  wb_error error = {0};
  cr_expect_eq(try_names("pentium-pro-max", NULL, &error), WB_ERROR_ARGUMENT);
  cr_expect(strstr(error.text, "expected native, x86-64, x86-64-v2") != NULL, "%s", error.text);
  cr_expect(strstr(error.text, "got \"pentium-pro-max\"") != NULL, "%s", error.text);
  /* LLVM knows this one and would abort: it has no 64-bit mode */
  cr_expect_eq(try_names("i686", NULL, &error), WB_ERROR_ARGUMENT);
  cr_expect_eq(try_names(NULL, "+warp-drive", &error), WB_ERROR_ARGUMENT);
  cr_expect_str_eq(error.text,
                   "CPU features \"+warp-drive\": expected names like +avx2 or -fma with "
                   "commas between them, got \"+warp-drive\"");
  cr_expect_eq(try_names("x86-64-v3", "-fma,avx2", &error), WB_ERROR_ARGUMENT);
  cr_expect_eq(try_names(NULL, "+avx2,", &error), WB_OK);
  cr_expect_eq(try_names(NULL, ",", &error), WB_ERROR_ARGUMENT);
  /* 64-bit code cannot do without */
  cr_expect_eq(try_names(NULL, "-sse2", &error), WB_ERROR_ARGUMENT);
  cr_expect_eq(try_names("native", "-fma", &error), WB_OK);
}

Test(lower_module, features_can_be_switched_off_and_on) {
  static const char *const lists[] = {"-fma",    "-avx2",        "-avx",      "-avx512f",
                                      "-sse4.1", "-bmi2,-lzcnt", "-avx512vl", "-avx512bw",
                                      "-sse3",   "-fma,+fma",    "-avx,+fma"};
  wb_program *program = library_bait("features");
  test_memory start;
  test_memory_new(&start, program, 2, NULL);
  test_memory_fill(&start, 3);
  test_memory expected;
  test_memory_copy(&expected, &start);
  wb_error error = {0};
  cr_assert_eq(wb_interpret(program, &expected.arguments, 0, 2, 0, &error), WB_OK);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    wb_lower_result result = compile((wb_lower_request){.program = program, .features = lists[i]});
    cr_expect_eq(count_undefined(result.object), 0, "%s", lists[i]);
    test_memory m;
    test_memory_copy(&m, &start);
    char text[256];
    if (result.entry != NULL) {
      result.entry(&m.arguments, 0, 2);
      cr_expect(test_memory_equal(&expected, &m, text, sizeof text), "%s: %s", lists[i], text);
    }
    test_memory_free(&m);
    test_lowering()->release(&result);
  }
  test_memory_free(&start);
  test_memory_free(&expected);
  wb_program_free(program);
}

Test(lower_module, code_for_a_model_that_is_not_here_is_not_loaded) {
  wb_program *program = library_bait("elsewhere");
  char *cpu = NULL, *features = NULL;
  wb_error error = {0};
  cr_assert_eq(test_lowering()->host(&cpu, &features, &error), WB_OK);
  const char *other = strcmp(cpu, "haswell") != 0 ? "haswell" : "znver1";
  wb_lower_result result = compile((wb_lower_request){.program = program, .cpu = other});
  cr_expect(result.entry == NULL);
  cr_expect_gt(result.object_bytes, 0);
  cr_expect(strstr(result.target, other) != NULL, "%s", result.target);
  test_lowering()->release(&result);
  wb_kernel *kernel = NULL;
  wb_kernel_options options = {.cpu = other};
  cr_assert_eq(wb_kernel_compile(NULL, program, &options, &kernel, NULL, &error), WB_OK);
  wb_kernel_arguments arguments = {0};
  cr_expect_eq(wb_kernel_run(kernel, &arguments, 0, 0, &error), WB_ERROR_UNAVAILABLE);
  wb_kernel_release(kernel);
  free(cpu);
  free(features);
  wb_program_free(program);
}

Test(lower_module, another_version_of_the_library_gets_nothing) {
  cr_expect_eq(test_lowering()->version, WB_LOWERING_VERSION);
  cr_expect_eq(test_lowering()->op_count, WB_OP_COUNT);
  cr_expect_eq(test_lowering()->ops_version, WB_OPS_VERSION);
  cr_expect_geq(strtol(test_lowering()->llvm_version, NULL, 10), 16);
}

/* ---- texts and times ---- */

Test(lower_module, texts_counts_and_times_are_there_when_asked_for) {
  wb_program *program = library_bait("texts");
  wb_lower_result plain = compile((wb_lower_request){.program = program});
  cr_expect(plain.ir == NULL && plain.assembly == NULL);
  cr_expect_eq(plain.instructions, -1);
  cr_expect(plain.seconds_translate > 0 && plain.seconds_optimise > 0);
  cr_expect(plain.seconds_generate > 0 && plain.seconds_load > 0);
  wb_lower_result full =
      compile((wb_lower_request){.program = program, .want_ir = true, .want_assembly = true});
  cr_expect(strstr(full.ir, "define void @texts(ptr") != NULL);
  cr_expect(strstr(full.assembly, "texts:") != NULL);
  cr_expect_gt(full.instructions, 100);
  cr_expect(full.object_bytes == plain.object_bytes &&
                memcmp(full.object, plain.object, plain.object_bytes) == 0,
            "asking for texts changes no code");
  test_lowering()->release(&plain);
  test_lowering()->release(&full);
  wb_program_free(program);
}

/* ---- floats ---- */

Test(lower_module, denormals_survive_a_caller_that_flushes_them) {
  wb_error error = {0};
  wb_builder *b;
  wb_builder_new("denormals", 32, NULL, &b, &error);
  array data = buffer_shared_out("data", F32);
  store(data, 1, mul(load(data, 0), 0.5F));
  wb_program *program = NULL;
  cr_assert_eq(wb_builder_finish(b, &program, &error), WB_OK, "%s", error.text);
  wb_kernel *kernel;
  cr_assert_eq(wb_kernel_compile(NULL, program, NULL, &kernel, NULL, &error), WB_OK, "%s",
               error.text);
  test_memory m;
  test_memory_new(&m, program, 1, (int64_t[]){2});
  uint32_t *bits = test_buffer(&m, 0);
  bits[0] = 0x00400000; /* a denormal */
#if defined(__x86_64__)
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before | 0x8040); /* flush to zero, denormals are zero */
#endif
  fesetround(FE_UPWARD);
  cr_expect_eq(wb_kernel_run(kernel, &m.arguments, 0, 1, &error), WB_OK, "%s", error.text);
  cr_expect_eq(fegetround(), FE_UPWARD, "the caller's setting is back");
  fesetround(FE_TONEAREST);
#if defined(__x86_64__)
  cr_expect_eq(__builtin_ia32_stmxcsr() & 0x8040, 0x8040);
  __builtin_ia32_ldmxcsr(before);
#endif
  cr_expect_eq(bits[1], 0x00200000);
  test_memory_free(&m);
  wb_kernel_release(kernel);
  wb_program_free(program);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 6 };

static void *compile_in_thread(void *argument) {
  int *failures = argument;
  wb_program *program = library_bait("threads");
  test_memory m;
  test_memory_new(&m, program, 2, NULL);
  test_memory_fill(&m, 31);
  for (int round = 0; round < ROUNDS; round++) {
    char text[512];
    *failures += !test_same(program, &test_targets[round % 3], &m, 0, text, sizeof text);
  }
  test_memory_free(&m);
  wb_program_free(program);
  return NULL;
}

Test(lower_module, threads_compile_and_run_side_by_side) {
  pthread_t threads[THREADS];
  int failures[THREADS] = {0};
  for (int i = 0; i < THREADS; i++) {
    cr_assert_eq(pthread_create(&threads[i], NULL, compile_in_thread, &failures[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    cr_expect_eq(failures[i], 0, "thread %d", i);
  }
}

/* CPU names, feature lists and target machines.
 *
 * A generic level (x86-64 to x86-64-v4) runs on every machine that has the level's features. Code for
 * one CPU model runs only where LLVM names the host so: models of one level still differ. */
#include "target.h"

#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm/Config/llvm-config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cpu_row {
  const char *name;
  int level; /* of x86-64 that the model includes */
} cpu_row;

/* Models that every supported release of LLVM knows. */
static const cpu_row cpus[] = {
    {"x86-64", 1},      {"x86-64-v2", 2},  {"x86-64-v3", 3},      {"x86-64-v4", 4},
    {"nehalem", 2},     {"westmere", 2},   {"sandybridge", 2},    {"ivybridge", 2},
    {"haswell", 3},     {"broadwell", 3},  {"skylake", 3},        {"skylake-avx512", 4},
    {"cascadelake", 4}, {"cooperlake", 4}, {"icelake-client", 4}, {"icelake-server", 4},
    {"tigerlake", 4},   {"rocketlake", 4}, {"alderlake", 3},      {"sapphirerapids", 4},
    {"znver1", 3},      {"znver2", 3},     {"znver3", 3},         {"znver4", 4},
};
enum { GENERIC_LEVELS = 4 };

/* What each level adds, for the question whether a machine has it. */
static const char *const level_features[GENERIC_LEVELS + 1] = {
    [1] = "sse2",
    [2] = "sse3,ssse3,sse4.1,sse4.2,popcnt,cx16",
    [3] = "avx,avx2,bmi,bmi2,f16c,fma,lzcnt,movbe",
    [4] = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl",
};

/* Features that may be switched, and what of the lowering's knowledge (FMA, AVX2, AVX512) comes and
 * goes with them: LLVM switches on what a feature needs and off what needs it. The others are either
 * needed by every 64-bit program or nothing that a kernel's code could use. */
enum { FMA = TARGET_FMA, AVX2 = TARGET_AVX2, AVX512 = TARGET_AVX512, ALL = FMA | AVX2 | AVX512 };
typedef struct feature_row {
  const char *name;
  uint8_t brings, takes;
} feature_row;

static const feature_row switchable[] = {
    {"sse3", 0, ALL},
    {"ssse3", 0, ALL},
    {"sse4.1", 0, ALL},
    {"sse4.2", 0, ALL},
    {"popcnt", 0, 0},
    {"avx", 0, ALL},
    {"avx2", AVX2, AVX2 | AVX512},
    {"bmi", 0, 0},
    {"bmi2", 0, 0},
    {"f16c", 0, AVX512},
    {"fma", FMA, FMA | AVX512},
    {"lzcnt", 0, 0},
    {"movbe", 0, 0},
    {"adx", 0, 0},
    {"gfni", 0, 0},
    {"avx512f", ALL, AVX512},
    {"avx512bw", ALL, 0},
    {"avx512cd", ALL, 0},
    {"avx512dq", ALL, 0},
    {"avx512vl", ALL, 0},
    {"avx512ifma", ALL, 0},
    {"avx512vbmi", ALL, 0},
    {"avx512vbmi2", ALL, 0},
    {"avx512vnni", ALL, 0},
    {"avx512bitalg", ALL, 0},
    {"avx512vpopcntdq", ALL, 0},
};

/* Whether `list` ("+sse2,-avx,...") says that a feature of `length` bytes is there. */
static bool listed(const char *list, const char *name, size_t length) {
  for (const char *at = list; at != NULL && *at != 0;) {
    const char *end = strchr(at, ',');
    size_t bytes = end != NULL ? (size_t)(end - at) : strlen(at);
    if (*at == '+' && bytes == length + 1 && memcmp(at + 1, name, length) == 0) return true;
    at = end != NULL ? end + 1 : NULL;
  }
  return false;
}

static bool host_has_level(const char *host_features, int level) {
  for (int k = 1; k <= level; k++) {
    for (const char *at = level_features[k]; at != NULL;) {
      const char *end = strchr(at, ',');
      size_t bytes = end != NULL ? (size_t)(end - at) : strlen(at);
      if (!listed(host_features, at, bytes)) return false;
      at = end != NULL ? end + 1 : NULL;
    }
  }
  return true;
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialise_failed;

static void initialise(void) {
  initialise_failed = LLVMInitializeNativeTarget() || LLVMInitializeNativeAsmPrinter() ||
                      LLVMInitializeNativeAsmParser();
}

wb_status target_initialise(wb_error *error) {
  pthread_once(&once, initialise);
  if (initialise_failed) {
    return WB_FAIL(error, WB_ERROR_UNAVAILABLE,
                   "LLVM %s: cannot generate code for this machine's processor",
                   LLVM_VERSION_STRING);
  }
  return WB_OK;
}

static wb_status no_memory(wb_error *error) {
  return WB_FAIL(error, WB_ERROR_MEMORY, "target: no memory");
}

wb_status target_host(char **cpu, char **features, wb_error *error) {
  char *llvm_cpu = LLVMGetHostCPUName(), *llvm_features = LLVMGetHostCPUFeatures();
  *cpu = strdup(llvm_cpu);
  *features = strdup(llvm_features);
  LLVMDisposeMessage(llvm_cpu);
  LLVMDisposeMessage(llvm_features);
  if (*cpu != NULL && *features != NULL) return WB_OK;
  free(*cpu);
  free(*features);
  *cpu = *features = NULL;
  return no_memory(error);
}

static const feature_row *find_feature(const char *name, size_t length) {
  for (size_t i = 0; i < sizeof switchable / sizeof *switchable; i++) {
    const feature_row *row = &switchable[i];
    if (strlen(row->name) == length && memcmp(row->name, name, length) == 0) return row;
  }
  return NULL;
}

/* Checks a user's feature list and notes what it changes. */
static wb_status apply_features(target *t, const char *list, const char *host_features,
                                wb_error *error) {
  for (const char *at = list; *at != 0;) {
    const char *end = strchr(at, ',');
    size_t bytes = end != NULL ? (size_t)(end - at) : strlen(at);
    bool on = *at == '+';
    const feature_row *row = bytes > 1 ? find_feature(at + 1, bytes - 1) : NULL;
    if (row == NULL || (*at != '+' && *at != '-')) {
      return WB_FAIL(error, WB_ERROR_ARGUMENT,
                     "CPU features \"%s\": expected names like +avx2 or -fma with commas between "
                     "them, got \"%.*s\"",
                     list, (int)bytes, at);
    }
    t->has = (uint8_t)(on ? t->has | row->brings : t->has & ~row->takes);
    if (on && !listed(host_features, at + 1, bytes - 1)) t->runs_here = false;
    at += bytes + (end != NULL);
  }
  return WB_OK;
}

static wb_status unknown_cpu(const char *cpu, const char *host_cpu, wb_error *error) {
  char names[WB_ERROR_TEXT_BYTES];
  int used = 0;
  for (size_t i = 0; i < sizeof cpus / sizeof *cpus && used < (int)sizeof names; i++) {
    used += snprintf(names + used, sizeof names - (size_t)used, "%s, ", cpus[i].name);
  }
  return WB_FAIL(error, WB_ERROR_ARGUMENT,
                 "CPU: expected native, %.*sor this machine's %s, got \"%.100s\"",
                 WB_ERROR_TEXT_BYTES - 200, names, host_cpu, cpu);
}

/* Fills cpu, features and what is known of them. */
static wb_status choose(target *t, const char *cpu, const char *features, const char *host_cpu,
                        const char *host_features, wb_error *error) {
  bool native = cpu == NULL || cpu[0] == 0 || strcmp(cpu, "native") == 0;
  const char *own = features != NULL ? features : "";
  char *joined = NULL;
  if (native || strcmp(cpu, host_cpu) == 0) {
    t->cpu = strdup(host_cpu);
    t->runs_here = true;
    if (listed(host_features, "fma", 3) || !t->x86) t->has |= FMA;
    if (listed(host_features, "avx2", 4)) t->has |= AVX2;
    if (listed(host_features, "avx512f", 7)) t->has |= AVX512;
    size_t bytes = strlen(host_features) + strlen(own) + 2;
    joined = malloc(bytes);
    if (joined != NULL) {
      snprintf(joined, bytes, "%s%s%s", host_features, *own != 0 ? "," : "", own);
    }
  } else {
    size_t row = 0, count = t->x86 ? sizeof cpus / sizeof *cpus : 0;
    while (row < count && strcmp(cpus[row].name, cpu) != 0) row++;
    if (row == count) return unknown_cpu(cpu, host_cpu, error);
    t->cpu = strdup(cpu);
    if (cpus[row].level >= 3) t->has |= FMA | AVX2;
    if (cpus[row].level >= 4) t->has |= AVX512;
    t->runs_here = row < GENERIC_LEVELS && host_has_level(host_features, cpus[row].level);
    joined = strdup(own);
  }
  t->features = joined;
  if (t->cpu == NULL || t->features == NULL) return no_memory(error);
  return apply_features(t, own, host_features, error);
}

static wb_status make_machine(target *t, wb_error *error) {
  LLVMTargetRef llvm_target = NULL;
  char *message = NULL;
  if (LLVMGetTargetFromTriple(t->triple, &llvm_target, &message)) {
    wb_status status = WB_FAIL(error, WB_ERROR_UNAVAILABLE, "LLVM %s: no target %s: %s",
                               LLVM_VERSION_STRING, t->triple, message);
    LLVMDisposeMessage(message);
    return status;
  }
  t->machine = LLVMCreateTargetMachine(llvm_target, t->triple, t->cpu, t->features,
                                       LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall);
  if (t->machine != NULL) return WB_OK;
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "LLVM %s: cannot generate code for %s, CPU %s",
                 LLVM_VERSION_STRING, t->triple, t->cpu);
}

wb_status target_open(target *t, const char *cpu, const char *features, wb_error *error) {
  *t = (target){0};
  WB_TRY(target_initialise(error));
  char *host_cpu = NULL, *host_features = NULL;
  WB_TRY(target_host(&host_cpu, &host_features, error));
  char *triple = LLVMGetDefaultTargetTriple();
  t->triple = strdup(triple);
  LLVMDisposeMessage(triple);
  wb_status status = t->triple != NULL ? WB_OK : no_memory(error);
  if (status == WB_OK) {
    t->x86 = strncmp(t->triple, "x86_64", 6) == 0;
    status = choose(t, cpu, features, host_cpu, host_features, error);
  }
  if (status == WB_OK) status = make_machine(t, error);
  free(host_cpu);
  free(host_features);
  if (status != WB_OK) target_close(t);
  return status;
}

/* ---- GPUs ---- */

/* The capabilities that code is made for, each with the first version of PTX that knows it and all the
 * instructions that are used: a driver must know the version too. */
static const struct {
  int32_t sm;
  const char *cpu, *features;
} gpus[] = {{80, "sm_80", "+ptx70"}, {90, "sm_90", "+ptx78"}};

#if WB_HAVE_NVPTX
static pthread_once_t gpu_once = PTHREAD_ONCE_INIT;

static void initialise_gpu(void) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  /* what LLVM does not know is ignored, and the layout tells whether it was heard */
  static const char *const words[] = {"warpbook", "-nvptx-short-ptr"};
  LLVMParseCommandLineOptions(2, words, "");
}

static wb_status ready_gpu(wb_error *error) {
  (void)error;
  pthread_once(&gpu_once, initialise_gpu);
  return WB_OK;
}
#else
static wb_status ready_gpu(wb_error *error) {
  return WB_FAIL(error, WB_ERROR_UNAVAILABLE, "LLVM %s: built without code for NVIDIA GPUs",
                 LLVM_VERSION_STRING);
}
#endif

static bool has_short_shared(LLVMTargetMachineRef machine) {
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  char *text = LLVMCopyStringRepOfTargetData(layout);
  bool found = strstr(text, "p3:32:32") != NULL;
  LLVMDisposeMessage(text);
  LLVMDisposeTargetData(layout);
  return found;
}

wb_status target_open_gpu(target *t, int32_t sm, wb_error *error) {
  *t = (target){0};
  size_t row = 0, rows = sizeof gpus / sizeof gpus[0];
  while (row < rows && gpus[row].sm != sm) row++;
  if (row == rows) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "GPU capability: expected 80 or 90, got %d", (int)sm);
  }
  WB_TRY(ready_gpu(error));
  t->triple = strdup("nvptx64-nvidia-cuda");
  t->cpu = strdup(gpus[row].cpu);
  t->features = strdup(gpus[row].features);
  wb_status status = WB_OK;
  if (t->triple == NULL || t->cpu == NULL || t->features == NULL) status = no_memory(error);
  if (status == WB_OK) status = make_machine(t, error);
  if (status == WB_OK) t->short_shared = has_short_shared(t->machine);
  if (status != WB_OK) target_close(t);
  return status;
}

void target_close(target *t) {
  if (t->machine != NULL) LLVMDisposeTargetMachine(t->machine);
  free(t->triple);
  free(t->cpu);
  free(t->features);
  *t = (target){0};
}

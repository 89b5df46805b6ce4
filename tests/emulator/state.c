/* Settings, errors and the start and end of each call. See state.h. */
#include "tests/emulator/state.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

emu_state emu;
_Thread_local emu_thread emu_mine;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- settings ---- */

static bool parse_number(const char *text, int64_t least, int64_t most, int64_t *out) {
  char *end;
  const double wide = strtod(text, &end); /* 1e12 is a number too */
  if (end == text || *end || !(wide >= (double)least && wide <= (double)most)) return false;
  *out = strpbrk(text, ".eE") ? (int64_t)wide : strtoll(text, &end, 0);
  return true;
}

static bool parse_choice(const char *text, const char *yes, const char *no, bool *out) {
  *out = strcmp(text, yes) == 0;
  return *out || strcmp(text, no) == 0;
}

static bool parse_mode(const char *text, emu_rules *rules) {
  int64_t seed = 0;
  rules->by_lanes = strncmp(text, "lanes:", 6) == 0;
  if (!rules->by_lanes) return strcmp(text, "warp") == 0;
  if (!parse_number(text + 6, 0, INT64_MAX / 2, &seed)) return false;
  rules->seed = (uint64_t)seed;
  return true;
}

/* "cudaMalloc:2=2,cudaFree:1=999" */
static bool parse_injections(const char *text, emu_settings *settings) {
  settings->injection_count = 0;
  while (*text) {
    if (settings->injection_count == EMU_INJECTIONS) return false;
    emu_injection *injection = &settings->injections[settings->injection_count];
    long long at;
    int error, length = 0;
    *injection = (emu_injection){.at = 0};
    if (sscanf(text, "%47[A-Za-z]:%lld=%d%n", injection->function, &at, &error, &length) != 3) {
      return false;
    }
    injection->at = at;
    injection->error = (cudaError_t)error;
    settings->injection_count++;
    text += length;
    if (*text == ',')
      text++;
    else if (*text)
      return false;
  }
  return true;
}

static bool parse_fault_launch(const char *text, emu_settings *settings) {
  long long at = 0;
  int error = 0;
  settings->fault_launch = (emu_injection){.at = 0};
  if (*text == 0) return true;
  if (sscanf(text, "%lld=%d", &at, &error) != 2) return false;
  settings->fault_launch.at = at;
  settings->fault_launch.error = (cudaError_t)error;
  return true;
}

typedef enum setting {
  MODE,
  DIVERGENCE,
  HAZARDS,
  UNWRITTEN,
  STREAMS,
  DEVICES,
  MEMORY,
  SM,
  SMS,
  DRIVER,
  RUNTIME,
  SHARED,
  SHARED_SM,
  REGISTERS,
  FAIL,
  FAULT_LAUNCH,
  INSTRUCTIONS,
  SETTINGS
} setting;

static const struct {
  const char *name, *standard;
} settings_table[SETTINGS] = {[MODE] = {"MODE", "warp"},
                              [DIVERGENCE] = {"DIVERGENCE", "refuse"},
                              [HAZARDS] = {"HAZARDS", "refuse"},
                              [UNWRITTEN] = {"UNWRITTEN", "refuse"},
                              [STREAMS] = {"STREAMS", "lazy"},
                              [DEVICES] = {"DEVICES", "1"},
                              [MEMORY] = {"MEMORY", "8589934592"},
                              [SM] = {"SM", "90"},
                              [SMS] = {"SMS", "132"},
                              [DRIVER] = {"DRIVER", "13000"},
                              [RUNTIME] = {"RUNTIME", "13000"},
                              [SHARED] = {"SHARED", "232448"},
                              [SHARED_SM] = {"SHARED_SM", "233472"},
                              [REGISTERS] = {"REGISTERS", "32"},
                              [FAIL] = {"FAIL", ""},
                              [FAULT_LAUNCH] = {"FAULT_LAUNCH", ""},
                              [INSTRUCTIONS] = {"INSTRUCTIONS", "1e12"}};

static bool apply_number(setting which, const char *value, emu_settings *s) {
  int64_t number;
  switch (which) {
#define SET(name, field, type, least, most)                       \
  case name:                                                      \
    if (!parse_number(value, least, most, &number)) return false; \
    s->field = (type)number;                                      \
    return true
    SET(DEVICES, devices, int, 0, EMU_DEVICES);
    SET(MEMORY, memory, uint64_t, 0, INT64_C(1) << 42);
    SET(SM, sm, int, 10, 999);
    SET(SMS, sms, int, 1, 1024);
    SET(DRIVER, driver, int, 0, 99999);
    SET(RUNTIME, runtime, int, 0, 99999);
    SET(SHARED, shared, uint64_t, 49152, 1 << 20);
    SET(SHARED_SM, shared_sm, uint64_t, 49152, 1 << 20);
    SET(REGISTERS, registers, int, 1, 255);
    SET(INSTRUCTIONS, rules.instructions, int64_t, 1, INT64_C(1) << 60);
#undef SET
  default: return false;
  }
}

static bool apply(setting which, const char *value, emu_settings *s) {
  switch (which) {
  case MODE: return parse_mode(value, &s->rules);
  case DIVERGENCE: return parse_choice(value, "allow", "refuse", &s->rules.divergence);
  case HAZARDS: return parse_choice(value, "refuse", "ignore", &s->rules.hazards);
  case UNWRITTEN: return parse_choice(value, "refuse", "ignore", &s->rules.unwritten);
  case STREAMS: return parse_choice(value, "lazy", "eager", &s->lazy);
  case FAIL: return parse_injections(value, s);
  case FAULT_LAUNCH: return parse_fault_launch(value, s);
  default: return apply_number(which, value, s);
  }
}

static const char *from_environment(setting which) {
  char name[64];
  snprintf(name, sizeof name, "WB_EMULATOR_%s", settings_table[which].name);
  return getenv(name);
}

/* a value that makes no sense must not pass unseen: then there is no device */
static void read_settings(void) {
  for (int k = 0; k < SETTINGS; k++) {
    apply((setting)k, settings_table[k].standard, &emu.settings);
    const char *value = from_environment((setting)k);
    if (value && !apply((setting)k, value, &emu.settings)) {
      emu.sticky = emu_refuse(cudaErrorInitializationError, "WB_EMULATOR_%s=%s is not understood",
                              settings_table[k].name, value);
    }
  }
}

static void make_ready(void) {
  if (emu.ready) return;
  emu.ready = true;
  emu.next_stream_id = 1;
  read_settings();
}

bool wb_emulator_set(const char *name, const char *value) {
  pthread_mutex_lock(&lock);
  make_ready();
  bool known = false;
  for (int k = 0; k < SETTINGS; k++) {
    if (strcmp(settings_table[k].name, name) != 0) continue;
    emu_settings changed = emu.settings;
    const char *environment = from_environment((setting)k);
    if (!value) value = environment ? environment : settings_table[k].standard;
    known = apply((setting)k, value, &changed);
    if (known) emu.settings = changed;
  }
  pthread_mutex_unlock(&lock);
  return known;
}

const char *wb_emulator_message(void) { return emu.message; }

/* ---- errors ---- */

cudaError_t emu_refuse(cudaError_t error, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(emu.message, sizeof emu.message, format, list);
  va_end(list);
  return error;
}

static cudaError_t injected(const char *function) {
  for (int k = 0; k < emu.settings.injection_count; k++) {
    emu_injection *injection = &emu.settings.injections[k];
    if (strcmp(injection->function, function) == 0 && ++injection->seen == injection->at) {
      return emu_refuse(injection->error, "%s: failure number %d by request", function,
                        (int)injection->error);
    }
  }
  return cudaSuccess;
}

cudaError_t emu_enter_plain(const char *function) {
  pthread_mutex_lock(&lock);
  make_ready();
  return injected(function);
}

cudaError_t emu_enter(const char *function) {
  const cudaError_t error = emu_enter_plain(function);
  if (error != cudaSuccess) return error;
  const emu_settings *s = &emu.settings;
  if (emu.sticky != cudaSuccess) return emu.sticky;
  if (s->driver / 1000 < s->runtime / 1000) {
    return emu_refuse(cudaErrorInsufficientDriver, "%s: driver %d is too old for runtime %d",
                      function, s->driver, s->runtime);
  }
  if (s->devices == 0) return emu_refuse(cudaErrorNoDevice, "%s: there is no device", function);
  if (emu_mine.device >= s->devices) emu_mine.device = 0; /* the settings have changed */
  return cudaSuccess;
}

cudaError_t emu_leave(cudaError_t error) {
  /* that work is not done yet is an answer, no error */
  if (error != cudaSuccess && error != cudaErrorNotReady) emu_mine.last = error;
  pthread_mutex_unlock(&lock);
  return error;
}

cudaError_t cudaGetLastError(void) {
  pthread_mutex_lock(&lock);
  make_ready();
  const cudaError_t error = emu.sticky != cudaSuccess ? emu.sticky : emu_mine.last;
  emu_mine.last = cudaSuccess;
  pthread_mutex_unlock(&lock);
  return error;
}

cudaError_t cudaPeekAtLastError(void) {
  pthread_mutex_lock(&lock);
  make_ready();
  const cudaError_t error = emu.sticky != cudaSuccess ? emu.sticky : emu_mine.last;
  pthread_mutex_unlock(&lock);
  return error;
}

const char *cudaGetErrorName(cudaError_t error) {
  switch (error) {
#define X(name, number, text) \
  case name: return #name;
    CUDA_ERRORS(X)
#undef X
  }
  return "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t error) {
  switch (error) {
#define X(name, number, text) \
  case name: return text;
    CUDA_ERRORS(X)
#undef X
  }
  return "unrecognized error code";
}

/* ---- devices ---- */

emu_memory *emu_device_memory(int device) {
  emu_device *d = &emu.devices[device];
  if (!d->open) {
    /* shared arrays lie apart in it, so it takes more than a block may have */
    if (!emu_memory_open(&d->memory, emu.settings.memory, 4 * emu.settings.shared + 65536)) {
      emu_refuse(cudaErrorMemoryAllocation, "device %d: no host addresses for its memory", device);
      return NULL;
    }
    d->open = true;
  }
  return &d->memory;
}

int emu_device_of(const void *pointer) {
  const uint64_t address = (uint64_t)(uintptr_t)pointer;
  for (int k = 0; k < EMU_DEVICES; k++) {
    const emu_space *space = &emu.devices[k].memory.space;
    if (emu.devices[k].open && address - space->base < space->size) return k;
  }
  return -1;
}

/* ---- all at once ---- */

static void free_streams(void) {
  for (cudaStream_t s = emu.streams; s; s = s->next) emu_drop_capture(s);
  for (cudaStream_t s = emu.streams, next; s; s = next) {
    next = s->next;
    emu_free_works(s->first);
    free(s);
  }
}

static void free_graphs(void) {
  for (cudaGraph_t g = emu.graphs, next; g; g = next) {
    next = g->next;
    emu_free_works(g->first);
    free(g);
  }
  for (cudaGraphExec_t g = emu.execs, next; g; g = next) {
    next = g->next;
    emu_free_works(g->first);
    free(g);
  }
}

static void free_tallies(void) {
  for (emu_tally *t = emu.tallies, *next; t; t = next) {
    next = t->next;
    free(t->name);
    free(t);
  }
  emu.tallies = NULL;
}

static void free_everything(void) {
  free_streams();
  free_graphs();
  free_tallies();
  for (cudaEvent_t e = emu.events, next; e; e = next) {
    next = e->next;
    free(e);
  }
  for (emu_pinned *p = emu.pinned, *next; p; p = next) {
    next = p->next;
    free(p->memory);
    free(p);
  }
  for (cudaLibrary_t l = emu.libraries, next; l; l = next) {
    next = l->next;
    emu_free_library(l);
  }
  for (int k = 0; k < EMU_DEVICES; k++) {
    emu_free_works(emu.devices[k].stream.first);
    if (emu.devices[k].open) emu_memory_close(&emu.devices[k].memory);
  }
}

static void start_again(void) {
  emu_settings settings = emu.settings;
  free_everything();
  memset(&emu, 0, sizeof emu);
  emu_mine = (emu_thread){0, cudaSuccess};
  for (int k = 0; k < settings.injection_count; k++) settings.injections[k].seen = 0;
  settings.fault_launch.seen = 0;
  emu.settings = settings;
  emu.ready = true;
  emu.next_stream_id = 1;
}

void wb_emulator_reset(void) {
  pthread_mutex_lock(&lock);
  make_ready();
  start_again();
  pthread_mutex_unlock(&lock);
}

cudaError_t cudaDeviceReset(void) {
  const cudaError_t error = emu_enter_plain(__func__);
  if (error == cudaSuccess) start_again();
  return emu_leave(error);
}

/* what a program left behind is not the emulator's leak */
__attribute__((destructor)) static void at_exit(void) { free_everything(); }

/* ---- counts ---- */

void wb_emulator_count_live(wb_emulator_live *live) {
  pthread_mutex_lock(&lock);
  *live = (wb_emulator_live){0};
  for (int k = 0; k < EMU_DEVICES; k++) {
    live->memory += emu.devices[k].memory.block_count;
    live->memory_bytes += (int64_t)emu.devices[k].memory.used;
  }
  for (cudaStream_t s = emu.streams; s; s = s->next) live->streams++;
  for (cudaEvent_t e = emu.events; e; e = e->next) live->events++;
  for (cudaLibrary_t l = emu.libraries; l; l = l->next) live->libraries++;
  for (cudaGraph_t g = emu.graphs; g; g = g->next) live->graphs++;
  for (cudaGraphExec_t g = emu.execs; g; g = g->next) live->graph_execs++;
  for (const emu_pinned *p = emu.pinned; p; p = p->next) live->pinned++;
  pthread_mutex_unlock(&lock);
}

static void add_counts(wb_emulator_counts *to, const wb_emulator_counts *from) {
  to->launches += from->launches;
  to->blocks += from->blocks;
  to->warps += from->warps;
  to->instructions += from->instructions;
  for (int k = 0; k < WB_EMULATOR_CLASS_COUNT; k++) to->classes[k] += from->classes[k];
  to->sm_cycles += from->sm_cycles;
  to->global_requests += from->global_requests;
  to->global_sectors += from->global_sectors;
  to->shared_requests += from->shared_requests;
  to->shared_passes += from->shared_passes;
  to->shared_conflicts += from->shared_conflicts;
  for (int k = 0; k < WB_EMULATOR_CLASS_COUNT; k++) to->class_cycles[k] += from->class_cycles[k];
}

bool emu_tally_add(const char *kernel, const wb_emulator_counts *counts) {
  emu_tally *t = emu.tallies;
  while (t && strcmp(t->name, kernel) != 0) t = t->next;
  if (!t) {
    t = calloc(1, sizeof *t);
    char *name = strdup(kernel);
    if (!t || !name) {
      free(t);
      free(name);
      return false;
    }
    t->name = name;
    t->next = emu.tallies;
    emu.tallies = t;
  }
  add_counts(&t->counts, counts);
  return true;
}

bool wb_emulator_read_counts(const char *kernel, wb_emulator_counts *counts) {
  bool found = kernel == NULL;
  *counts = (wb_emulator_counts){0};
  pthread_mutex_lock(&lock);
  for (const emu_tally *t = emu.tallies; t; t = t->next) {
    if (kernel && strcmp(t->name, kernel) != 0) continue;
    found = true;
    add_counts(counts, &t->counts);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

static void clear_instance(emu_instance *on) {
  for (int32_t k = 0; on->loaded && k < on->module.kernel_count; k++) {
    const size_t count = (size_t)on->module.kernels[k].count;
    memset(on->issued[k], 0, count * sizeof **on->issued);
    memset(on->extra[k], 0, count * sizeof **on->extra);
  }
}

void wb_emulator_reset_counts(void) {
  pthread_mutex_lock(&lock);
  free_tallies();
  for (cudaLibrary_t l = emu.libraries; l; l = l->next) {
    for (int k = 0; k < EMU_DEVICES; k++) clear_instance(&l->on[k]);
  }
  pthread_mutex_unlock(&lock);
}

const char *wb_emulator_class_text(wb_emulator_class what) {
  static const char *const texts[] = {
#define X(name, text) text,
      WB_EMULATOR_CLASSES(X)
#undef X
  };
  return (unsigned)what < WB_EMULATOR_CLASS_COUNT ? texts[what] : "";
}

static bool read_region(const emu_instance *on, int32_t k, int32_t index,
                        wb_emulator_region *region) {
  const ptx_kernel *kernel = &on->module.kernels[k];
  if (index < 0 || index > kernel->label_count) return false;
  const ptx_label *label = index ? &kernel->labels[index - 1] : NULL;
  const int32_t first = label ? label->at : 0;
  const int32_t end = index < kernel->label_count ? kernel->labels[index].at : kernel->count;
  *region = (wb_emulator_region){.label = label ? label->name : "",
                                 .line = label ? label->line : kernel->code[0].line};
  if (first < end) region->entries = on->issued[k][first];
  for (int32_t j = first; j < end; j++) {
    region->instructions += on->issued[k][j];
    region->sm_cycles +=
        (double)on->issued[k][j] * (double)kernel->code[j].weight + on->extra[k][j];
  }
  return true;
}

bool wb_emulator_read_region(const char *name, int32_t index, wb_emulator_region *region) {
  pthread_mutex_lock(&lock);
  bool found = false;
  for (cudaLibrary_t l = emu.libraries; l && !found; l = l->next) {
    for (int d = 0; d < EMU_DEVICES && !found; d++) {
      const emu_instance *on = &l->on[d];
      for (int32_t k = 0; on->loaded && k < on->module.kernel_count; k++) {
        if (strcmp(on->module.kernels[k].name, name) != 0) continue;
        found = read_region(on, k, index, region);
        break;
      }
    }
  }
  pthread_mutex_unlock(&lock);
  return found;
}

/* bench_ptx [--depth D] [--width W] [--capacity N] [--records R] [--launch L] [--features F]
 *
 * The benchmark's stream on an emulated GPU: one book, launches of L records with copies in and out of
 * shared memory counted in, every launch's slab and trades compared with the CPU device's. Prints warp
 * instructions and SM cycles a record, by class, and with --regions the kernel's costliest stretches.
 *
 * The emulator stands behind $WB_CUDART, and is asked for its counters by name. Exit status 0: equal, and
 * at most --most-instructions and --most-cycles a record where those are given. */
#include "stream.h"

#include "compiler/device.h"
#include "kernels/book.h"
#include "tests/emulator/emulator.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REGIONS_MAX = 1000 };

typedef struct settings {
  int32_t depth, width, capacity, launch, regions, warps, partial;
  int32_t most_instructions, most_cycles; /* 0: any */
  int64_t records;
  const char *features;
} settings;

typedef struct emulator {
  bool (*read_counts)(const char *kernel, wb_emulator_counts *counts);
  const char *(*class_text)(wb_emulator_class what);
  bool (*read_region)(const char *kernel, int32_t index, wb_emulator_region *region);
  const char *(*message)(void);
} emulator;

/* One device's copy of everything. */
typedef struct side {
  wb_device *device;
  wb_kernel *kernel;
  void *slab, *records, *ring;
  unsigned char *slab_bytes;
  wb_trade *trades;
} side;

typedef struct bench {
  settings s;
  stream flow;
  wb_book_layout *layout;
  side sides[2];
} bench;

static void die(const char *what, const wb_error *error) {
  fprintf(stderr, "bench_ptx: %s: %s\n", what, error->text);
  exit(1);
}

#define MUST(what, call)                     \
  do {                                       \
    if ((call) != WB_OK) die((what), &mine); \
  } while (0)

static void open_emulator(emulator *e) {
  void *library = dlopen(getenv("WB_CUDART"), RTLD_NOW);
  const char *names[] = {"wb_emulator_read_counts", "wb_emulator_class_text",
                         "wb_emulator_read_region", "wb_emulator_message"};
  void **slots[] = {(void **)&e->read_counts, (void **)&e->class_text, (void **)&e->read_region,
                    (void **)&e->message};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    *slots[i] = library != NULL ? dlsym(library, names[i]) : NULL;
    if (*slots[i] == NULL) {
      fprintf(stderr, "bench_ptx: WB_CUDART must name the emulator's library\n");
      exit(2);
    }
  }
}

static wb_book_features features_of(const settings *s, const wb_book_rules *rules,
                                    const stream *flow) {
  wb_book_features f = wb_features_none(rules);
  if (strcmp(s->features, "full") == 0) return wb_features_all(rules);
  wb_features_scan(&f, rules, flow->records, flow->count);
  f.trades = WB_TRADES_ALL;
  if (strcmp(s->features, "checked") == 0) {
    f.types |= 1u << WB_RECORD_REDUCE;
    f.flags |= WB_FLAG_EDGE;
    f.bad_records = true;
  } else {
    f.unique_refs = true;
  }
  return f;
}

static void open_side(bench *b, side *d, const char *name, const wb_program *program,
                      const wb_book_rules *rules) {
  wb_error mine = {0};
  wb_kernel_report report;
  wb_kernel_options options = {.warps = b->s.warps};
  size_t slab = (size_t)wb_book_layout_bytes(b->layout);
  size_t ring = sizeof(wb_trade) * 64 * (size_t)b->s.launch;
  size_t records = sizeof(wb_record) * (size_t)b->flow.count;
  MUST(name, wb_device_open(name, &d->device, &mine));
  MUST(name, wb_device_compile(d->device, program, &options, &d->kernel, &report, &mine));
  MUST(name, wb_device_allocate(d->device, slab, &d->slab, &mine));
  MUST(name, wb_device_allocate(d->device, ring, &d->ring, &mine));
  MUST(name, wb_device_allocate(d->device, records, &d->records, &mine));
  MUST(name, wb_device_write(d->device, d->records, b->flow.records, records, &mine));
  d->slab_bytes = aligned_alloc(64, slab);
  d->trades = malloc(ring);
  if (d->slab_bytes == NULL || d->trades == NULL) abort();
  wb_slab_init(b->layout, d->slab_bytes, rules);
  wb_slab_head_of(b->layout, d->slab_bytes)[WB_HEAD_END] = b->flow.count;
  MUST(name, wb_device_write(d->device, d->slab, d->slab_bytes, slab, &mine));
  const wb_gpu_code *gpu = wb_kernel_gpu(d->kernel);
  if (gpu->ptx != NULL) printf("%s\n", gpu->report);
}

static void run_side(bench *b, side *d) {
  wb_error mine = {0};
  size_t slab = (size_t)wb_book_layout_bytes(b->layout);
  int64_t room = 64 * (int64_t)b->s.launch;
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {d->records, 4 * b->flow.count, 0},
      [WB_RUN_TRADES] = {d->ring, 4 * room, 4 * room},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {b->s.launch, room, 0};
  const wb_launch launch = {.slabs = d->slab,
                            .slab_stride = (int64_t)slab,
                            .books = 1,
                            .buffers = buffers,
                            .buffer_count = WB_RUN_BUFFERS,
                            .scalars = scalars,
                            .scalar_count = WB_RUN_SCALARS};
  MUST("launch", wb_device_launch(d->device, d->kernel, &launch, &mine));
  MUST("read", wb_device_read(d->device, d->slab_bytes, d->slab, slab, &mine));
  int64_t *head = wb_slab_head_of(b->layout, d->slab_bytes);
  size_t trades = sizeof(wb_trade) * (size_t)head[WB_HEAD_TRADES];
  MUST("read", wb_device_read(d->device, d->trades, d->ring, trades, &mine));
}

/* The ring is taken as drained on both. */
static void drain(bench *b, side *d) {
  wb_error mine = {0};
  int64_t *head = wb_slab_head_of(b->layout, d->slab_bytes);
  head[WB_HEAD_TRADES] = 0;
  size_t at = (size_t)((unsigned char *)head - d->slab_bytes);
  MUST("write", wb_device_write(d->device, (char *)d->slab + at, head,
                                sizeof(int64_t) * WB_HEAD_COUNT, &mine));
}

static bool same_sides(bench *b) {
  side *a = &b->sides[0], *c = &b->sides[1];
  const int64_t *head = wb_slab_head_of(b->layout, a->slab_bytes);
  size_t trades = sizeof(wb_trade) * (size_t)head[WB_HEAD_TRADES];
  return memcmp(a->slab_bytes, c->slab_bytes, (size_t)wb_book_layout_bytes(b->layout)) == 0 &&
         memcmp(a->trades, c->trades, trades) == 0;
}

static int by_cycles(const void *a, const void *b) {
  double x = ((const wb_emulator_region *)a)->sm_cycles;
  double y = ((const wb_emulator_region *)b)->sm_cycles;
  return (x < y) - (x > y);
}

static void print_regions(const emulator *e, int32_t most, double records) {
  static wb_emulator_region list[REGIONS_MAX];
  int32_t count = 0;
  while (count < REGIONS_MAX && e->read_region("wb_run", count, &list[count])) count++;
  qsort(list, (size_t)count, sizeof list[0], by_cycles);
  for (int32_t i = 0; i < count && i < most; i++) {
    printf("  %-14s line %5d  %7.3f entries  %7.2f instructions  %7.2f cycles\n", list[i].label,
           (int)list[i].line, (double)list[i].entries / records,
           (double)list[i].instructions / records, list[i].sm_cycles / records);
  }
}

/* Whether a count is within its bound, if it has one. */
static bool within(const char *what, double count, int32_t most) {
  if (most == 0 || count <= most) return true;
  printf("%s a record: expected at most %d, got %.1f\n", what, (int)most, count);
  return false;
}

static bool print_counts(const emulator *e, const bench *b) {
  wb_emulator_counts c;
  double records = (double)b->flow.timed;
  if (!e->read_counts("wb_run", &c)) return false;
  printf(
      "%.1f warp instructions, %.1f SM cycles a record; global sectors %.2f, shared passes %.2f, "
      "conflicts %.2f\n",
      (double)c.instructions / records, c.sm_cycles / records, (double)c.global_sectors / records,
      (double)c.shared_passes / records, (double)c.shared_conflicts / records);
  for (int i = 0; i < WB_EMULATOR_CLASS_COUNT; i++) {
    if (c.classes[i] == 0) continue;
    printf("  %-26s %7.2f\n", e->class_text((wb_emulator_class)i), (double)c.classes[i] / records);
  }
  print_regions(e, b->s.regions, records);
  bool few = within("warp instructions", (double)c.instructions / records, b->s.most_instructions);
  return within("SM cycles", c.sm_cycles / records, b->s.most_cycles) && few;
}

static bool parse(int argc, char **argv, settings *s) {
  const struct {
    const char *name;
    int32_t *value;
  } numbers[] = {{"--depth", &s->depth},
                 {"--width", &s->width},
                 {"--capacity", &s->capacity},
                 {"--launch", &s->launch},
                 {"--regions", &s->regions},
                 {"--warps", &s->warps},
                 {"--partial", &s->partial},
                 {"--most-instructions", &s->most_instructions},
                 {"--most-cycles", &s->most_cycles}};
  for (int i = 1; i + 1 < argc; i += 2) {
    bool known = false;
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
      if (strcmp(argv[i], numbers[k].name) != 0) continue;
      *numbers[k].value = (int32_t)strtol(argv[i + 1], NULL, 10);
      known = true;
    }
    if (strcmp(argv[i], "--records") == 0) {
      s->records = strtoll(argv[i + 1], NULL, 10);
    } else if (strcmp(argv[i], "--features") == 0) {
      s->features = argv[i + 1];
    } else if (!known) {
      return false;
    }
  }
  return argc % 2 == 1;
}

int main(int argc, char **argv) {
  static bench b;
  emulator e;
  wb_error mine = {0};
  b.s = (settings){.depth = 75,
                   .width = 10,
                   .capacity = 128,
                   .launch = 100,
                   .records = 20000,
                   .features = "trusted"};
  if (!parse(argc, argv, &b.s)) {
    fprintf(stderr, "usage: bench_ptx [--depth D] [--width W] [--capacity N] [--records R] "
                    "[--launch L] [--features trusted|checked|full] [--regions K] [--warps W] "
                    "[--partial P] [--most-instructions N] [--most-cycles N]\n");
    return 2;
  }
  open_emulator(&e);
  stream_options options = stream_options_default();
  options.depth = b.s.depth;
  options.width = b.s.width;
  options.records = b.s.records;
  options.partial_percent = b.s.partial;
  if (!stream_make(&options, &b.flow)) abort();
  wb_book_rules rules = wb_book_rules_default();
  rules.capacity = b.s.capacity;
  rules.unique_refs = strcmp(b.s.features, "trusted") == 0;
  wb_book_features features = features_of(&b.s, &rules, &b.flow);
  wb_program *program;
  MUST("layout", wb_book_layout_new(b.s.capacity, &b.layout, &mine));
  MUST("program", wb_run_program_build(b.layout, &features, &program, &mine));
  open_side(&b, &b.sides[0], "cpu", program, &rules);
  open_side(&b, &b.sides[1], "cuda", program, &rules);
  wb_program_free(program);
  printf("%s, capacity %d, %.0f orders a side, launches of %d\n", b.s.features, b.s.capacity,
         b.flow.mean_orders[0], b.s.launch);
  bool same = true;
  int64_t *head = wb_slab_head_of(b.layout, b.sides[0].slab_bytes);
  while (same && head[WB_HEAD_CURSOR] < b.flow.timed) {
    for (int k = 0; k < 2; k++) run_side(&b, &b.sides[k]);
    same = same_sides(&b);
    for (int k = 0; k < 2; k++) drain(&b, &b.sides[k]);
  }
  if (!same) {
    printf("differs before record %lld\n", (long long)head[WB_HEAD_CURSOR]);
    return 1;
  }
  return print_counts(&e, &b) ? 0 : 1;
}

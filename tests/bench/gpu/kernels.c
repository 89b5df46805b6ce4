/* The kernels of bench_gpu, and the bundle that holds them all. */
#include "gpu.h"

#include "base/hash.h"
#include "cli/ptxas.h"
#include "compiler/bundle.h"
#include "compiler/dsl.h"
#include "tests/kernels/diff.h"

#include <stdlib.h>
#include <string.h>

/* ---- taking trades ---- */

static val shift_xor(wb_builder *b, val x, int by) { return bit_xor(x, shr(x, by)); }

/* wb_mix64 */
static val mix(wb_builder *b, val x) {
  x = mul(shift_xor(b, x, 30), (int64_t)UINT64_C(0xbf58476d1ce4e5b9));
  x = mul(shift_xor(b, x, 27), (int64_t)UINT64_C(0x94d049bb133111eb));
  return shift_xor(b, x, 31);
}

enum { TRADE_WORDS = sizeof(wb_trade) / 8 };

uint64_t gpu_trade_term(int64_t n, const wb_trade *trade) {
  uint64_t words[TRADE_WORDS], h = (uint64_t)n;
  memcpy(words, trade, sizeof words);
  for (int w = 0; w < TRADE_WORDS; w++) h = wb_mix64(h + WB_HASH_GOLDEN + words[w]);
  return h;
}

wb_status gpu_drain_build(const wb_book_layout *layout, wb_program **out, wb_error *error) {
  wb_builder *b;
  WB_TRY(wb_builder_new("bench_drain", WB_WIDTH, layout->layout, &b, error));
  array ring = buffer_per_book("ring", I64);
  array sums = buffer_per_book_out("sums", I64);
  val held = load_in(layout->head, WB_HEAD_TRADES);
  val before = load(sums, 1);
  var sum = variable(splat(i64(0)));
  /* a trade per lane */
  FOR (row, i64(0), sar(add(held, WB_WIDTH - 1), 5)) {
    val index = add(splat(mul(row, WB_WIDTH)), i64(lane_id()));
    val h = add(index, before);
    for (int w = 0; w < TRADE_WORDS; w++) {
      val word = gather(ring, add(mul(index, TRADE_WORDS), w));
      h = mix(b, add(add(h, (int64_t)WB_HASH_GOLDEN), word));
    }
    assign(sum, add(sum, choose(lt(index, held), h, i64(0))));
  }
  store(sums, 0, add(load(sums, 0), reduce_add(sum)));
  store(sums, 1, add(before, held));
  store_in(layout->head, WB_HEAD_TRADES, i64(0));
  return wb_builder_finish(b, out, error);
}

/* ---- sets ---- */

typedef struct gpu_programs {
  wb_book_layout *layout;
  wb_program *list[3]; /* run, drain, hashes */
} gpu_programs;

static void programs_open(gpu_programs *p, int32_t capacity, const wb_book_features *features) {
  GPU_MUST("layout", wb_book_layout_new(capacity, &p->layout, &gpu_error));
  GPU_MUST("run", wb_run_program_build(p->layout, features, &p->list[0], &gpu_error));
  GPU_MUST("drain", gpu_drain_build(p->layout, &p->list[1], &gpu_error));
  GPU_MUST("hashes", wb_query_program_build(p->layout, WB_QUERY_HASHES, &p->list[2], &gpu_error));
}

static void programs_close(gpu_programs *p) {
  for (int i = 0; i < 3; i++) wb_program_free(p->list[i]);
  wb_book_layout_free(p->layout);
}

void gpu_kernels_open(gpu_kernels *k, wb_device *device, int32_t capacity,
                      const wb_book_features *features) {
  gpu_programs p;
  double start = gpu_now();
  programs_open(&p, capacity, features);
  wb_kernel **const kernels[] = {&k->run, &k->drain, &k->hashes};
  for (int i = 0; i < 3; i++) {
    GPU_MUST("kernel", wb_device_compile(device, p.list[i], NULL, kernels[i], NULL, &gpu_error));
  }
  k->layout = p.layout;
  p.layout = NULL;
  programs_close(&p);
  k->seconds = gpu_now() - start;
}

void gpu_kernels_close(gpu_kernels *k) {
  wb_kernel_release(k->run);
  wb_kernel_release(k->drain);
  wb_kernel_release(k->hashes);
  wb_book_layout_free(k->layout);
  memset(k, 0, sizeof *k);
}

int32_t gpu_random_number(int32_t i, int32_t random_configs) {
  return (int32_t)((int64_t)i * diff_config_count() / random_configs);
}

void gpu_each_set(const gpu_day *day, int32_t random_configs, gpu_set *set, void *context) {
  static const int32_t capacities[] = {64, 128, 256, 1024};
  char title[64];
  for (size_t i = 0; i < sizeof capacities / sizeof capacities[0]; i++) {
    gpu_flow flow;
    gpu_flow_describe(&flow, capacities[i]);
    snprintf(title, sizeof title, "stream %d", flow.capacity);
    set(context, title, flow.capacity, &flow.features);
  }
  for (int32_t i = 0; i < random_configs && i < diff_config_count(); i++) {
    diff_config config = diff_config_make(gpu_random_number(i, random_configs));
    config.features.trades = WB_TRADES_ALL;
    config.features.rows = false;
    snprintf(title, sizeof title, "random %d", i);
    set(context, title, config.rules.capacity, &config.features);
  }
  if (day != NULL) {
    int32_t capacity;
    wb_book_features features = gpu_day_features(day, &capacity);
    set(context, "day with rows", capacity, &features);
    features.rows = false;
    set(context, "day", capacity, &features);
  }
}

/* ---- the bundle ---- */

typedef struct building {
  wb_bundle_writer *writer;
  const char *targets, *ptxas;
  int64_t kernels;
} building;

static void add_program(building *b, const wb_program *program, const char *title,
                        const char *target) {
  wb_kernel_options options = {.no_bundles = true};
  wb_kernel *kernel;
  ptxas_result machine = {.cubin = NULL};
  bool added;
  if (strncmp(target, "sm_", 3) == 0) {
    options.sm = atoi(target + 3);
  } else {
    options.cpu = target;
  }
  GPU_MUST(title, wb_kernel_compile(NULL, program, &options, &kernel, NULL, &gpu_error));
  if (options.sm != 0 && b->ptxas != NULL) {
    const wb_gpu_code *gpu = wb_kernel_gpu(kernel);
    GPU_MUST(title, ptxas_assemble(b->ptxas, gpu->ptx, gpu->sm, &machine, &gpu_error));
  }
  GPU_MUST(title, wb_bundle_add(b->writer, kernel, title, machine.cubin, machine.bytes, &added,
                                &gpu_error));
  b->kernels += added;
  free(machine.cubin);
  wb_kernel_release(kernel);
}

static void add_set(void *context, const char *title, int32_t capacity,
                    const wb_book_features *features) {
  building *b = context;
  gpu_programs p;
  programs_open(&p, capacity, features);
  for (const char *at = b->targets; *at != '\0';) {
    char target[32];
    size_t length = strcspn(at, ",");
    snprintf(target, sizeof target, "%.*s", (int)length, at);
    for (int i = 0; i < 3; i++) add_program(b, p.list[i], title, target);
    at += length + (at[length] == ',');
  }
  programs_close(&p);
}

void gpu_bundle(const char *folder, const char *targets, const char *ptxas, const gpu_day *day,
                int32_t random_configs) {
  building b = {.targets = targets, .ptxas = ptxas};
  GPU_MUST("bundle", wb_bundle_create(folder, &b.writer, &gpu_error));
  gpu_each_set(day, random_configs, add_set, &b);
  GPU_MUST("bundle", wb_bundle_finish(b.writer, &gpu_error));
  printf("%s: %lld kernels\n", folder, (long long)b.kernels);
}

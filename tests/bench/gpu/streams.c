/* The streams of the table: for each capacity 64 of them, shared by all books, every book starting at
 * a place of its own with the orders that rest there. */
#include "gpu.h"

#include "sim/reference.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 16, PIECE = 256, PIECE_ROOM = 1 << 15 };

/* orders a side that leave room for the side's own ups: a third more come at times */
static const struct {
  int32_t capacity, depth, width;
} shapes[] = {{64, 37, 6}, {128, 75, 10}, {256, 150, 15}, {1024, 530, 40}};

void gpu_flow_describe(gpu_flow *f, int32_t capacity) {
  memset(f, 0, sizeof *f);
  f->capacity = capacity;
  f->depth = capacity / 2;
  f->width = 10;
  for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
    if (shapes[i].capacity == capacity) {
      f->depth = shapes[i].depth;
      f->width = shapes[i].width;
    }
  }
  f->rules = wb_book_rules_default();
  f->rules.capacity = capacity;
  f->rules.unique_refs = 1;
  f->features = wb_features_none(&f->rules);
  f->features.types = 1 << WB_RECORD_ADD | 1 << WB_RECORD_DELETE;
  f->features.flags = WB_FLAG_SIDE;
  f->features.trades = WB_TRADES_ALL;
}

static void make_streams(gpu_flow *f, int64_t records) {
  bool made = true;
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
  for (int32_t i = 0; i < f->streams; i++) {
    stream_options options = stream_options_default();
    options.seed = 1000 + (uint64_t)i;
    options.records = records;
    options.depth = f->depth;
    options.width = f->width;
    if (!stream_make(&options, &f->made[i])) made = false;
  }
  if (!made) {
    fprintf(stderr, "bench_gpu: no memory for the streams\n");
    exit(2);
  }
}

void gpu_flow_open(gpu_flow *f, int32_t capacity, int32_t streams, int64_t books,
                   int64_t messages) {
  gpu_flow_describe(f, capacity);
  f->streams = streams;
  f->step = STEP;
  f->warm = 100 * f->depth; /* until about as many rest as ever will */
  const int64_t each = f->warm + (books + streams - 1) / streams * f->step + messages;
  make_streams(f, each);
  f->record_count = each * streams;
  f->records = gpu_memory((size_t)f->record_count * sizeof(wb_record));
  for (int32_t i = 0; i < streams; i++) {
    const stream *s = &f->made[i];
    f->offsets[i] = i * each;
    memcpy(f->records + f->offsets[i], s->records, (size_t)each * sizeof(wb_record));
    /* a full side would evict, and the generator's own book does not */
    if (s->largest_side > capacity) {
      fprintf(stderr, "bench_gpu: stream %d has %d orders on one side, capacity %d\n", i,
              s->largest_side, capacity);
      exit(2);
    }
  }
}

void gpu_flow_close(gpu_flow *f) {
  for (int32_t i = 0; i < f->streams; i++) stream_free(&f->made[i]);
  free(f->records);
  f->records = NULL;
}

/* ---- starting points ---- */

/* Runs one book on the calling thread up to a record, its trades thrown away. */
static void run_to(const gpu_flow *f, const gpu_kernels *k, void *slab, void *ring, int64_t end) {
  const wb_buffer_argument buffers[WB_RUN_BUFFERS] = {
      [WB_RUN_RECORDS] = {f->records, 4 * f->record_count, 0},
      [WB_RUN_TRADES] = {ring, 4 * PIECE_ROOM, 4 * PIECE_ROOM},
  };
  const int64_t scalars[WB_RUN_SCALARS] = {
      [WB_RUN_LIMIT] = PIECE, [WB_RUN_TRADE_ROOM] = PIECE_ROOM};
  const wb_kernel_arguments arguments = {.slabs = slab,
                                         .slab_stride = wb_book_layout_bytes(k->layout),
                                         .buffers = buffers,
                                         .scalars = scalars};
  int64_t *head = wb_slab_head_of(k->layout, slab);
  head[WB_HEAD_END] = end;
  while (head[WB_HEAD_CURSOR] < end) {
    GPU_MUST("starting point", wb_kernel_run(k->run, &arguments, 0, 1, &gpu_error));
    head[WB_HEAD_TRADES] = 0;
  }
}

static void make_slabs_of(const gpu_flow *f, const gpu_kernels *k, int32_t number, int64_t books,
                          unsigned char *slabs) {
  const size_t bytes = (size_t)wb_book_layout_bytes(k->layout);
  unsigned char *slab = gpu_memory(bytes);
  void *ring = gpu_memory(PIECE_ROOM * sizeof(wb_trade));
  wb_slab_init(k->layout, slab, &f->rules);
  int64_t *head = wb_slab_head_of(k->layout, slab);
  head[WB_HEAD_TAPE] = f->offsets[number];
  for (int64_t book = number; book < books; book += f->streams) {
    run_to(f, k, slab, ring, f->warm + book / f->streams * f->step);
    head[WB_HEAD_END] = f->made[number].timed;
    memcpy(slabs + (size_t)book * bytes, slab, bytes);
  }
  free(slab);
  free(ring);
}

unsigned char *gpu_flow_slabs(const gpu_flow *f, const gpu_kernels *kernels, int64_t books) {
  unsigned char *slabs = gpu_memory((size_t)books * (size_t)wb_book_layout_bytes(kernels->layout));
#ifdef _OPENMP
#pragma omp parallel for schedule(dynamic)
#endif
  for (int32_t i = 0; i < f->streams; i++) make_slabs_of(f, kernels, i, books, slabs);
  return slabs;
}

double gpu_flow_orders(const gpu_kernels *k, const unsigned char *slabs, int64_t books) {
  double orders = 0;
  for (int64_t i = 0; i < books; i++) {
    const unsigned char *slab = slabs + i * wb_book_layout_bytes(k->layout);
    for (int side = 0; side < 2; side++) {
      orders += (double)wb_slab_orders(k->layout, slab, (wb_side)side, NULL, 0);
    }
  }
  return orders / (2.0 * (double)books);
}

/* ---- the reference ---- */

static void add_trade(void *context, const wb_trade *trade) {
  gpu_result *r = context;
  r->trade_sum += gpu_trade_term(r->trades, trade);
  r->trades++;
}

gpu_result gpu_flow_reference(const gpu_flow *f, int64_t book, int64_t messages) {
  const wb_record *records = f->made[book % f->streams].records;
  const int64_t start = f->warm + book / f->streams * f->step;
  wb_reference *reference;
  gpu_result r = {0};
  GPU_MUST("reference", wb_reference_create(&f->rules, &reference, &gpu_error));
  for (int64_t i = 0; i < start + messages; i++) {
    if (i == start) wb_reference_on_trade(reference, add_trade, &r);
    GPU_MUST("reference", wb_reference_apply(reference, &records[i], (int32_t)i, &gpu_error));
  }
  r.book_hash = wb_reference_book_hash(reference);
  r.state_hash = wb_reference_state_hash(reference);
  wb_reference_free(reference);
  return r;
}

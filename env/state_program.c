/* Programs that copy and hash environments.
 *
 * A state is a header of one row of 32 i64 and the rows of a slab. Copies work on slabs as plain rows,
 * so they are programs without a slab of their own. */
#include "env/world.h"

#include "env/state.h"

/* ---- copies ---- */

typedef struct copying {
  wb_builder *builder;
  int32_t rows; /* of a slab */
  array chosen, errors;
  val magic, config[2];
} copying;

/* A sum of all words that depends on their places: damage shows, forgery is not its business. */
static val checksum(copying *k, array from, int32_t first) {
  var sum = variable(splat(i64(0)));
  FOR (r, 0, k->rows) {
    val words = load_row_in(from, add(r, first));
    val mixed = mul(bit_xor(sum, words), (int64_t)UINT64_C(0x9e3779b97f4a7c15));
    assign(sum, bit_xor(mixed, shr(mixed, 29)));
  }
  val lanes = mul(sum, add(mul(i64(lane_id()), 2), i64(1)));
  return reduce_add(lanes);
}

static void copy_rows(copying *k, array from, val from_first, array to, val to_first) {
  FOR (r, 0, k->rows) {
    store_row_in(to, add(to_first, i64(r)), load_row_in(from, add(from_first, i64(r))));
  }
}

static void fail(copying *k, wb_env_error_bit bit) {
  store(k->errors, 0, bit_or(load(k->errors, 0), (int)bit));
}

static void record_get(copying *k) {
  array slab = buffer_per_book("slab", I64);
  array state = buffer_per_book_out("state", I64);
  IF (ne(load(k->chosen, 0), 0)) {
    store_row_in(state, 0, splat(i64(0)));
    store_in(state, STATE_MAGIC, k->magic);
    store_in(state, STATE_CONFIG, k->config[0]);
    store_in(state, STATE_CONFIG + 1, k->config[1]);
    store_in(state, STATE_CHECKSUM, checksum(k, slab, 0));
    copy_rows(k, slab, i64(0), state, i64(1));
  }
}

static void record_set(copying *k) {
  array slab = buffer_per_book_out("slab", I64);
  array state = buffer_per_book("state", I64);
  IF (ne(load(k->chosen, 0), 0)) {
    val same = both(eq(load_in(state, STATE_CONFIG), k->config[0]),
                    eq(load_in(state, STATE_CONFIG + 1), k->config[1]));
    val sound = eq(load_in(state, STATE_CHECKSUM), checksum(k, state, 1));
    IF (both(both(eq(load_in(state, STATE_MAGIC), k->magic), same), sound)) {
      copy_rows(k, state, i64(1), slab, i64(0));
    }
    ELSE { fail(k, WB_ENV_ERROR_STATE); }
  }
}

/* A target that is also somebody's source would make the result depend on who is first. */
static void record_clone(copying *k, const wb_env *env) {
  array slabs = buffer_shared_out("slabs", I64);
  array mask = wb_build_buffer(k->builder, WB_HERE, "mask", WB_ELEMENT_U8, true, false, 1);
  array from = buffer_per_book("from", I32);
  val envs = param_i64("envs");
  int64_t status = (wb_layout_object(env->layout.book->layout, env->layout.env)->offset) / 8;
  IF (ne(load(k->chosen, 0), 0)) {
    val source = i64(load(from, 0));
    val own = i64(book_index());
    IF (ne(source, own)) {
      val there = ult(source, envs);
      val row = mul(source, k->rows);
      val alive = ne(load(slabs, add(mul(row, WB_WIDTH), status + ENV_STATUS)), (int)STATUS_NEW);
      val target = ne(load(mask, source), 0);
      IF (both(both(there, alive), not_(target))) {
        copy_rows(k, slabs, row, slabs, mul(own, k->rows));
      }
      ELSE { fail(k, WB_ENV_ERROR_SOURCE); }
    }
  }
}

wb_status copy_program(const wb_env *env, env_copy which, wb_program **out, wb_error *error) {
  static const char *const names[COPY_COUNT] = {"wb_env_get", "wb_env_set", "wb_env_clone"};
  copying own = {.rows = (int32_t)(env->layout.stride / 256)}, *k = &own;
  WB_TRY(wb_builder_new(names[which], WB_WIDTH, NULL, &k->builder, error));
  k->chosen = wb_build_buffer(k->builder, WB_HERE, "chosen", WB_ELEMENT_U8, false, false, 1);
  k->errors = buffer_per_book_out("errors", I32);
  k->magic = param_i64("magic");
  k->config[0] = param_i64("config_low");
  k->config[1] = param_i64("config_high");
  switch (which) {
  case COPY_GET: record_get(k); break;
  case COPY_SET: record_set(k); break;
  default: record_clone(k, env); break;
  }
  return wb_builder_finish(k->builder, out, error);
}

/* ---- the hash ---- */

static void chain(world *k, var hash, val word) {
  assign(hash, mix64(k, add(add(hash, (int64_t)WB_HASH_GOLDEN), word)));
}

static void chain_cells(world *k, var hash, array cells, int32_t count) {
  FOR (i, 0, count) {
    chain(k, hash, i64(load_in(cells, i)));
  }
}

/* The book's own hash, which lies in the ring buffer's place, then every cell that is not scratch. */
wb_status hash_program(const wb_env *env, wb_program **out, wb_error *error) {
  world own, *k = &own;
  WB_TRY(open_world(k, env, "wb_env_hash", error));
  array answer = k->buffers[BUFFER_RING];
  int32_t slots = env->agents * env->slots;
  var hash = variable(load(answer, 1));
  chain(k, hash, load_in(k->history.head, WB_HEAD_CURSOR));
  chain(k, hash, load_in(k->history.head, WB_HEAD_TAPE));
  chain_cells(k, hash, k->env_cells, ENV_CELLS);
  chain_cells(k, hash, k->agent_cells, env->agents * AGENT_CELLS);
  const array list[] = {k->slot_side, k->slot_price, k->slot_qty, k->slot_ahead};
  for (size_t n = 0; n < sizeof list / sizeof list[0]; n++) chain_cells(k, hash, list[n], slots);
  store(answer, 0, hash);
  return wb_builder_finish(k->builder, out, error);
}

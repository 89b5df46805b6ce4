/* The world's small change: cells, parameters, random streams, and the opening of a program. */
#include "env/world.h"

/* ---- cells ---- */

val env_get(world *k, env_cell cell) { return load_in(k->env_cells, (int)cell); }
void env_set(world *k, env_cell cell, val v) { store_in(k->env_cells, (int)cell, i64(v)); }
void env_add(world *k, env_cell cell, val v) { add_to_in(k->env_cells, (int)cell, i64(v)); }

agent agent_at(world *k, const env_group *group, val index) {
  agent a = {.group = group, .index = index};
  a.base = mul(index, AGENT_CELLS);
  a.first = mul(index, k->layout->slots);
  return a;
}

val agent_get(world *k, const agent *a, agent_cell cell) {
  return load_in(k->agent_cells, add(a->base, (int)cell));
}

void agent_set(world *k, const agent *a, agent_cell cell, val v) {
  store_in(k->agent_cells, add(a->base, (int)cell), i64(v));
}

void agent_add(world *k, const agent *a, agent_cell cell, val v) {
  val at = add(a->base, (int)cell);
  add_to_in(k->agent_cells, at, i64(v));
}

void env_error_bit(world *k, wb_env_error_bit bit) {
  array errors = k->buffers[BUFFER_ERRORS];
  store(errors, 0, bit_or(load(errors, 0), (int)bit));
}

/* ---- parameters ---- */

static val parameter(world *k, int32_t index) {
  const wb_env_parameter *p = k->env->descriptions[index];
  if (p->type == WB_ENV_I32) {
    val v = load(k->buffers[BUFFER_PARAMETERS], index);
    val good = both(le((int32_t)p->least, v), le(v, (int32_t)p->most));
    return choose(good, v, (int32_t)p->value);
  }
  val v = load(k->parameters_f32, index);
  val good = both(le((float)p->least, v), le(v, (float)p->most));
  return choose(good, v, (float)p->value);
}

val common_i32(world *k, env_common_parameter which) { return parameter(k, (int32_t)which); }
val common_f32(world *k, env_common_parameter which) { return parameter(k, (int32_t)which); }
val task_i32(world *k, const agent *a, int32_t which) {
  return parameter(k, a->group->parameters + which);
}
val task_f32(world *k, const agent *a, int32_t which) {
  return parameter(k, a->group->parameters + which);
}

/* ---- random numbers ---- */

val mix64(world *k, val x) {
  x = mul(bit_xor(x, shr(x, 30)), (int64_t)UINT64_C(0xbf58476d1ce4e5b9));
  x = mul(bit_xor(x, shr(x, 27)), (int64_t)UINT64_C(0x94d049bb133111eb));
  return bit_xor(x, shr(x, 31));
}

wb_random draw_stream(world *k, val stream, val n) {
  const wb_operand counter[4] = {wb_operand_value(n), wb_operand_value(stream),
                                 wb_operand_value(i32(env_get(k, ENV_EPISODE))),
                                 wb_operand_signed(0)};
  return wb_build_philox(k->builder, WB_HERE, wb_operand_value(env_get(k, ENV_KEY)), counter);
}

wb_random draw(world *k, int32_t stream, val n) { return draw_stream(k, i32(stream), n); }

val draw_below(world *k, val word, val count) { return umulhi(word, count); }

val draw_unit(world *k, val word) { return mul(f32(shr(word, 8)), 0x1p-24f); }

/* ---- opening ---- */

enum { SHARED = 1, OWN = 0, SHARED_OUT = 3, OWN_OUT = 2 };

static void open_arrays(world *k) {
  const env_layout *l = k->layout;
  k->env_cells = l->env;
  k->agent_cells = l->agent;
  k->slot_side = l->slot_side;
  k->slot_price = l->slot_price;
  k->slot_qty = l->slot_qty;
  k->slot_ahead = l->slot_ahead;
  k->wish_kind = l->wish_kind;
  k->wish_side = l->wish_side;
  k->wish_price = l->wish_price;
  k->wish_qty = l->wish_qty;
  k->outbox = l->outbox;
  k->outbox_words = view(l->outbox, I32);
  k->arrival = l->arrival;
}

static void open_book(world *k, book *side, const wb_book_features *features) {
  side->can = *features;
  open_slab(side, k->builder, k->layout->book);
  side->on_trade = on_trade;
  side->context = k;
  side->records = k->buffers[BUFFER_RECORDS];
}

wb_status open_world(world *k, const wb_env *env, const char *name, wb_error *error) {
  *k = (world){.env = env, .layout = &env->layout};
  WB_TRY(wb_builder_new(name, WB_WIDTH, env->layout.book->layout, &k->builder, error));
#define X(id, text, element, kind, fill)                                                     \
  k->buffers[BUFFER_##id] = wb_build_buffer(k->builder, WB_HERE, text, WB_ELEMENT_##element, \
                                            ((kind)&1) != 0, ((kind)&2) != 0, (fill));
  ENV_BUFFERS(X)
#undef X
#define X(id, text) k->scalars[SCALAR_##id] = param_i64(text);
  ENV_SCALARS(X)
#undef X
  open_arrays(k);
  k->action_f32 = view(k->buffers[BUFFER_ACTION], F32);
  k->parameters_f32 = view(k->buffers[BUFFER_PARAMETERS], F32);
  open_book(k, &k->history, &env->history);
  open_book(k, &k->orders, &env->orders);
  k->history.words = view(k->buffers[BUFFER_RECORDS], I32);
  k->orders.words = k->outbox_words;
  return WB_OK;
}

void open_messages(world *k) {
  const book *b = &k->history;
  k->history.next_arrival = variable(load_in(b->state, WB_CELL_NEXT_ARRIVAL));
  k->history.trades_held = variable(0);
  open_copies(&k->history);
  k->history.splits = true;
  k->orders.next_arrival = k->history.next_arrival;
  k->orders.trades_held = k->history.trades_held;
  k->orders.has_copies = true;
  k->orders.trading_state = k->history.trading_state;
  k->orders.spilled = k->history.spilled;
}

void close_messages(world *k) {
  const book *b = &k->history;
  store_in(b->state, WB_CELL_NEXT_ARRIVAL, k->history.next_arrival);
  write_status(&k->history);
}

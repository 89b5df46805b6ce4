/* Agents' orders: from wishes for slots to messages, into the book, and back from it.
 *
 * An agent has K slots, each with at most one resting order of its own reference. A wish that the
 * resting order already meets sends nothing, so the order keeps its place in its queue; one for less
 * at the same price reduces it; any other deletes and adds. Keep: what an agent may still trade is
 * checked when its message arrives, not when it decides, since others' messages may have filled it in
 * between: an order is cut to what the inventory's limits leave beside the agent's resting orders. */
#include "env/world.h"

enum { WORD_REF = 2, WORD_PRICE, WORD_QTY, WORD_KIND = 7, RECORD_WORDS = 8, RECORD_LONGS = 4 };

static int32_t places(const world *k) { return 2 * k->layout->slots; } /* of an agent's outbox */

/* ---- wishes ---- */

void wish_for(world *k, val i, val kind, val side, val price, val qty) {
  val good = both(le(i64(-WB_PRICE_LIMIT), price), le(price, i64(WB_PRICE_LIMIT)));
  store_in(k->wish_kind, i, choose(good, kind, (int)WISH_CANCEL));
  store_in(k->wish_side, i, side);
  store_in(k->wish_price, i, i32(price));
  store_in(k->wish_qty, i, qty);
}

/* ---- prices of an own side ---- */

val tick_of(world *k) { return i64(load_in(k->history.state, WB_CELL_TICK)); }

val near_touch(world *k, val sell) {
  return choose(ne(sell, 0), env_get(k, ENV_ASK), env_get(k, ENV_BID));
}

val far_touch(world *k, val sell) {
  return choose(ne(sell, 0), env_get(k, ENV_BID), env_get(k, ENV_ASK));
}

val away(world *k, val sell, val price, val steps) {
  val by = mul(tick_of(k), i64(steps));
  return add(price, choose(ne(sell, 0), by, neg(by)));
}

/* The mid, rounded to the own side's whole tick. */
val passive_mid(world *k, val sell) {
  val bid = env_get(k, ENV_BID), spread = sub(env_get(k, ENV_ASK), bid), tick = tick_of(k);
  val ticks = divide(spread, tick);
  val half = divide(add(ticks, choose(ne(sell, 0), i64(1), i64(0))), 2);
  return add(bid, mul(half, tick));
}

/* ---- from wishes to messages ---- */

static val reference(world *k, val i) { return add(i, WB_REF_AGENT_FIRST); }

static void write_message(world *k, val place, val kind, val ref, val price, val qty) {
  val at = mul(place, RECORD_LONGS);
  store_in(k->outbox, at, env_get(k, ENV_NOW_NS));
  store_in(k->outbox, add(at, 1), bit_or(u64(ref), shl(u64(price), 32)));
  store_in(k->outbox, add(at, 2), u64(qty));
  store_in(k->outbox, add(at, 3), bit_or(i64(INT64_C(0xffffffff)), shl(u64(kind), 32)));
}

static void write_nothing(world *k, val place) {
  store_in(k->outbox, add(mul(place, RECORD_LONGS), 3), i64(0));
}

static val kind_word(world *k, val owner, val type, val flags) {
  return bit_or(owner, bit_or(shl(type, 16), shl(flags, 24)));
}

static val is_wish(world *k, val kind, wish which) { return eq(kind, (int)which); }

static void place_order(world *k, val place, val owner, val i, val kind) {
  val side = load_in(k->wish_side, i);
  val extra = choose(is_wish(k, kind, WISH_IOC), (int)WB_FLAG_IOC,
                     choose(is_wish(k, kind, WISH_POST_ONLY), (int)WB_FLAG_POST_ONLY, 0));
  val type = choose(is_wish(k, kind, WISH_MARKET), (int)WB_RECORD_MARKET, (int)WB_RECORD_ADD);
  write_message(k, place, kind_word(k, owner, type, bit_or(side, extra)), reference(k, i),
                load_in(k->wish_price, i), load_in(k->wish_qty, i));
}

static void plan_slot(world *k, val owner, val i, val removal, val placement, val kind) {
  val rests = load_in(k->slot_qty, i);
  val side = load_in(k->slot_side, i);
  val wanted = load_in(k->wish_qty, i);
  val limit = either(is_wish(k, kind, WISH_LIMIT), is_wish(k, kind, WISH_POST_ONLY));
  val same = both(eq(side, load_in(k->wish_side, i)),
                  eq(load_in(k->slot_price, i), load_in(k->wish_price, i)));
  val stays = both(both(limit, same), both(gt(wanted, 0), le(wanted, rests)));
  IF (stays) {
    IF (lt(wanted, rests)) {
      write_message(k, removal, kind_word(k, owner, i32(WB_RECORD_REDUCE), side), reference(k, i),
                    load_in(k->slot_price, i), sub(rests, wanted));
    }
  }
  ELSE {
    IF (gt(rests, 0)) {
      write_message(k, removal, kind_word(k, owner, i32(WB_RECORD_DELETE), side), reference(k, i),
                    load_in(k->slot_price, i), rests);
    }
    IF (both(gt(kind, (int)WISH_CANCEL), gt(wanted, 0))) {
      place_order(k, placement, owner, i, kind);
    }
  }
}

void plan_messages(world *k) {
  int32_t slots = k->layout->slots;
  FOR (index, 0, k->layout->agents) {
    FOR (j, 0, slots) {
      val i = add(mul(index, slots), j);
      val removal = add(mul(index, 2 * slots), j);
      val placement = add(removal, slots);
      write_nothing(k, removal);
      write_nothing(k, placement);
      val kind = load_in(k->wish_kind, i);
      IF (ne(kind, (int)WISH_KEEP)) {
        plan_slot(k, add(index, 1), i, removal, placement, kind);
      }
    }
  }
}

/* At the end all agents' orders are cancelled first, so that none meets another's; then each agent
 * trades what its task asks for at the market, at the book's own prices. */
static void cancel_orders(world *k, const agent *a) {
  FOR (j, 0, k->layout->slots) {
    store_in(k->wish_kind, add(a->first, j), (int)WISH_CANCEL);
  }
}

static void liquidate_agent(world *k, const agent *a) {
  val shares = a->group->task->liquidate(k, a);
  IF (ne(shares, 0)) {
    val most = min(absolute(shares), i64(WB_ENV_SIZE_MAX));
    wish_for(k, a->first, i32(WISH_MARKET), choose(gt(shares, 0), 0, 1), i64(0), i32(most));
  }
}

void plan_liquidation(world *k, val round) {
  FOR_AGENTS(a) {
    cancel_orders(k, &a);
    IF (eq(round, LIQUIDATION_ORDERS)) {
      liquidate_agent(k, &a);
    }
  }
  plan_messages(k);
}

/* ---- arrival ---- */

/* A fresh permutation of the agents for each step: Fisher and Yates, a random word for each swap. */
void shuffle_arrival(world *k) {
  int32_t agents = k->layout->agents;
  FOR (i, 0, agents) {
    store_in(k->arrival, i, i);
  }
  if (agents < 2) return;
  val blocks = i32((agents + 2) / 4);
  val first = mul(i32(env_get(k, ENV_STEP)), blocks);
  for (int32_t block = 0; block < (agents + 2) / 4; block++) {
    wb_random random = draw(k, STREAM_ARRIVAL, add(first, block));
    for (int32_t w = 0; w < 4 && 4 * block + w < agents - 1; w++) {
      int32_t last = agents - 1 - (4 * block + w);
      val other = draw_below(k, random.word[w], i32(last + 1));
      val here = load_in(k->arrival, last);
      val there = load_in(k->arrival, other);
      store_in(k->arrival, other, here);
      store_in(k->arrival, last, there);
    }
  }
}

/* ---- into the book ---- */

/* Shares that the agent's orders on a side hold, and those that it may still trade there. */
static val resting_on(world *k, val index, val side) {
  val first = mul(index, k->layout->slots);
  val sum = i32(0);
  for (int32_t j = 0; j < k->layout->slots; j++) {
    val i = add(first, j);
    sum = add(sum, choose(eq(load_in(k->slot_side, i), side), load_in(k->slot_qty, i), 0));
  }
  return sum;
}

static val room_on(world *k, val index, val side) {
  val base = mul(index, AGENT_CELLS);
  val inventory = load_in(k->agent_cells, add(base, AGENT_INVENTORY));
  val buy = sub(load_in(k->agent_cells, add(base, AGENT_HIGH)), inventory);
  val sell = sub(inventory, load_in(k->agent_cells, add(base, AGENT_LOW)));
  return sub(choose(eq(side, 0), buy, sell), i64(resting_on(k, index, side)));
}

/* The slot as its order rests now. */
static void look_at_slot(world *k, val i, val side) {
  book *b = &k->orders;
  var lanes = variable(0);
  var row = variable(0);
  look_up(b, side, reference(k, i), lanes, row);
  store_in(k->slot_side, i, side);
  IF (ne(lanes, 0)) {
    val slot = add(mul(row, WB_WIDTH), bit_and(ctz(lanes), WB_WIDTH - 1));
    store_in(k->slot_qty, i, load_in(b->qty, slot));
    store_in(k->slot_price, i, price_at(b, side, key_of(b, load_in(b->rank, slot))));
  }
  ELSE {
    store_in(k->slot_qty, i, 0);
    store_in(k->slot_price, i, 0);
    store_in(k->slot_ahead, i, 0);
  }
}

static void keep_message(world *k, val place, val qty) {
  if (k->env->record_room == 0) return;
  val at = mul(place, RECORD_LONGS);
  const val words[4] = {env_get(k, ENV_NOW_NS), load_in(k->outbox, add(at, 1)), u64(qty),
                        load_in(k->outbox, add(at, 3))};
  keep_record(k, words);
}

static void deliver_message(world *k, val index, val place, val kind) {
  val at = mul(place, RECORD_WORDS);
  message m = {.record = i64(-1), .kind = kind};
  split_kind(&k->orders, &m);
  m.ref = load_in(k->outbox_words, add(at, WORD_REF));
  m.price = load_in(k->outbox_words, add(at, WORD_PRICE));
  val asked = load_in(k->outbox_words, add(at, WORD_QTY));
  var qty = variable(asked);
  IF (le(m.type, WB_RECORD_MARKET)) {
    val room = max(room_on(k, index, m.side), i64(0));
    assign(qty, i32(min(i64(asked), room)));
  }
  m.qty = value(qty);
  BLOCK(unexpected) {
    m.run = unexpected;
    IF (gt(qty, 0)) {
      keep_message(k, place, m.qty);
      apply_message(&k->orders, &m);
      IF (ne(m.type, WB_RECORD_MARKET)) {
        look_at_slot(k, sub(m.ref, WB_REF_AGENT_FIRST), m.side);
      }
    }
  }
}

void deliver(world *k) {
  FOR (n, 0, k->layout->agents) {
    val index = load_in(k->arrival, n);
    FOR (p, 0, places(k)) {
      val place = add(mul(index, places(k)), p);
      val kind = load_in(k->outbox_words, add(mul(place, RECORD_WORDS), WORD_KIND));
      IF (ne(kind, 0)) {
        deliver_message(k, index, place, kind);
      }
    }
  }
}

/* ---- back from the book ---- */

/* Shares with priority over an order at its price. */
static val shares_ahead(world *k, val side, val rank) {
  book *b = &k->orders;
  val first = row_of_side(b, side, i32(0));
  val key = key_of(b, rank);
  return rows_add(i, b->rows, i64(0), ({
                    val row = add(first, i);
                    val ranks = load_row_in(b->rank, row);
                    val ahead = both(lt(ranks, rank), eq(i32(sar(ranks, 32)), key));
                    choose(ahead, i64(load_row_in(b->qty, row)), i64(0));
                  }));
}

static void look_at_place(world *k, val i) {
  book *b = &k->orders;
  val side = load_in(k->slot_side, i);
  var lanes = variable(0);
  var row = variable(0);
  look_up(b, side, reference(k, i), lanes, row);
  IF (ne(lanes, 0)) {
    val slot = add(mul(row, WB_WIDTH), bit_and(ctz(lanes), WB_WIDTH - 1));
    store_in(k->slot_qty, i, load_in(b->qty, slot));
    val ahead = shares_ahead(k, side, load_in(b->rank, slot));
    store_in(k->slot_ahead, i, i32(min(ahead, i64(INT32_MAX))));
  }
  ELSE {
    store_in(k->slot_qty, i, 0);
    store_in(k->slot_price, i, 0);
    store_in(k->slot_ahead, i, 0);
  }
}

void look_at_orders(world *k) {
  FOR (i, 0, k->layout->agents * k->layout->slots) {
    IF (gt(load_in(k->slot_qty, i), 0)) {
      look_at_place(k, i);
    }
    ELSE {
      store_in(k->slot_price, i, 0);
      store_in(k->slot_ahead, i, 0);
    }
  }
}

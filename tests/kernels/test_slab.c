/* The slab: its layout, what goes in and comes out, and that its check finds what is broken. */
#include "kernels/layout.h"
#include "kernels/slab.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

typedef struct holder {
  wb_book_layout *layout;
  void *slab;
  slab_view v;
} holder;

static holder empty(int32_t capacity) {
  holder h = {0};
  wb_error error = {0};
  wb_book_rules rules = wb_book_rules_default();
  cr_assert_eq(wb_book_layout_new(capacity, &h.layout, &error), WB_OK, "%s", error.text);
  h.slab = aligned_alloc(64, (size_t)wb_book_layout_bytes(h.layout));
  cr_assert_not_null(h.slab);
  wb_slab_init(h.layout, h.slab, &rules);
  h.v = wb_slab_view(h.layout, h.slab);
  return h;
}

static void drop(holder *h) {
  free(h->slab);
  wb_book_layout_free(h->layout);
}

static wb_order order(wb_side side, int32_t ref, int32_t qty, int32_t price, int32_t arrival) {
  return (wb_order){.ref = ref,
                    .price = price,
                    .qty = qty,
                    .arrival = arrival,
                    .owner = ref >= WB_REF_AGENT_FIRST ? 1 : 0,
                    .side = (uint8_t)side};
}

/* ---- layout ---- */

Test(layout, every_capacity_of_the_form_and_no_other) {
  wb_error error = {0};
  wb_book_layout *layout;
  for (int32_t capacity = 32; capacity <= 8192; capacity *= 2) {
    cr_assert_eq(wb_book_layout_new(capacity, &layout, &error), WB_OK);
    cr_assert_eq(wb_book_layout_bytes(layout) % 64, 0);
    cr_assert_geq(wb_book_layout_bytes(layout), 2 * 18 * capacity);
    wb_book_layout_free(layout);
  }
  const int32_t wrong[] = {0, -32, 1, 16, 33, 96, 1000, 16384, INT32_MIN};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    cr_assert_eq(wb_book_layout_new(wrong[i], &layout, &error), WB_ERROR_ARGUMENT);
    cr_assert_null(layout);
  }
  cr_assert_not_null(strstr(error.text, "got -2147483648"), "%s", error.text);
}

Test(layout, a_book_of_capacity_128_is_small) {
  holder h = empty(128);
  cr_assert_leq(wb_book_layout_bytes(h.layout), 6144);
  drop(&h);
}

Test(layout, the_smallest_capacity_that_holds_a_number_of_orders) {
  cr_assert_eq(wb_book_capacity_for(0), 32);
  cr_assert_eq(wb_book_capacity_for(32), 32);
  cr_assert_eq(wb_book_capacity_for(33), 64);
  cr_assert_eq(wb_book_capacity_for(8192), 8192);
  cr_assert_eq(wb_book_capacity_for(8193), 0);
}

/* ---- in and out ---- */

Test(orders, come_back_best_first_with_their_arrivals) {
  holder h = empty(64);
  const wb_order in[] = {order(WB_SIDE_ASK, 1, 10, 12, 1), order(WB_SIDE_ASK, 2, 20, 11, 5),
                         order(WB_SIDE_ASK, 3, 30, 11, 2), order(WB_SIDE_BID, 4, 40, 9, 3),
                         order(WB_SIDE_BID, 1 << 30, 50, 10, 4)};
  cr_assert_eq(wb_slab_load(h.layout, h.slab, in, 5, NULL), WB_OK);
  cr_assert_eq(wb_slab_check(h.layout, h.slab, NULL), WB_OK);
  wb_order out[4];
  cr_assert_eq(wb_slab_orders(h.layout, h.slab, WB_SIDE_ASK, out, 2), 3);
  cr_assert(out[0].ref == 3 && out[0].arrival == 2 && out[1].ref == 2 && out[1].price == 11);
  cr_assert_eq(wb_slab_orders(h.layout, h.slab, WB_SIDE_BID, out, 4), 2);
  cr_assert(out[0].ref == 1 << 30 && out[0].owner == 1 && out[0].price == 10 && out[1].qty == 40);
  wb_level levels[2];
  cr_assert_eq(wb_slab_levels(h.layout, h.slab, WB_SIDE_ASK, levels, 2), 2);
  cr_assert(levels[0].price == 11 && levels[0].qty == 50 && levels[0].orders == 2);
  cr_assert_eq(wb_slab_state_of(h.layout, h.slab)[WB_CELL_NEXT_ARRIVAL], 6);
  drop(&h);
}

Test(orders, a_full_side_loads_and_one_more_does_not) {
  holder h = empty(32);
  wb_error error = {0};
  wb_order in[33];
  for (int32_t i = 0; i < 33; i++) in[i] = order(WB_SIDE_BID, 7 * i, 1, -i, i + 1);
  cr_assert_eq(wb_slab_load(h.layout, h.slab, in, 32, &error), WB_OK);
  cr_assert_eq(wb_slab_check(h.layout, h.slab, &error), WB_OK, "%s", error.text);
  drop(&h);
  h = empty(32);
  cr_assert_eq(wb_slab_load(h.layout, h.slab, in, 33, &error), WB_ERROR_LIMIT);
  cr_assert_not_null(strstr(error.text, "order 32"), "%s", error.text);
  drop(&h);
}

Test(orders, that_cannot_rest_are_named) {
  wb_order in[6];
  for (int i = 0; i < 6; i++) in[i] = order(WB_SIDE_BID, 1, 1, 1, 1);
  in[0].qty = 0;
  in[1].price = (1 << 30) + 1;
  in[2].ref = 1 << 30;
  in[2].owner = 0;
  in[3].arrival = INT32_MAX;
  in[4].side = 2;
  in[5].ref = -1;
  for (int i = 0; i < 6; i++) {
    holder h = empty(32);
    cr_assert_eq(wb_slab_load(h.layout, h.slab, &in[i], 1, NULL), WB_ERROR_ARGUMENT, "case %d", i);
    drop(&h);
  }
  holder h = empty(32);
  const wb_order twice[] = {order(WB_SIDE_BID, 1, 1, 1, 1), order(WB_SIDE_ASK, 1, 1, 2, 2)};
  cr_assert_eq(wb_slab_load(h.layout, h.slab, twice, 2, NULL), WB_ERROR_ARGUMENT);
  drop(&h);
}

/* ---- ticks: what the kernels divide by must be right for any ---- */

static bool is_price(const int32_t *state, int32_t price) {
  uint32_t x = (uint32_t)price * (uint32_t)state[WB_CELL_TICK_INVERSE];
  x += (uint32_t)state[WB_CELL_TICK_SKIP];
  int32_t zeros = state[WB_CELL_TICK_ZEROS];
  x = x >> zeros | x << (-zeros & 31);
  return x <= (uint32_t)state[WB_CELL_TICK_LIMIT];
}

static bool is_multiple_in_range(int32_t price, int32_t tick) {
  return price >= -WB_PRICE_LIMIT && price <= WB_PRICE_LIMIT && price % tick == 0;
}

Test(tick, multiples_are_told_from_others) {
  holder h = empty(32);
  const int32_t ticks[] = {1, 2, 3, 5, 7, 96, 100, 1 << 20, 3 << 28, 1 << 30, INT32_MAX};
  const int32_t prices[] = {0,           1,
                            2,           3,
                            95,          96,
                            97,          100,
                            300,         -300,
                            1 << 20,     1 << 30,
                            -(1 << 30),  (1 << 30) - 1,
                            1073741800,  -1073741825 + 1,
                            -1073741825, (1 << 30) + 1,
                            INT32_MAX,   INT32_MIN};
  for (size_t t = 0; t < sizeof ticks / sizeof ticks[0]; t++) {
    wb_slab_set_tick(h.layout, h.slab, ticks[t]);
    const int32_t *state = wb_slab_state_of(h.layout, h.slab);
    for (size_t p = 0; p < sizeof prices / sizeof prices[0]; p++) {
      cr_assert_eq(is_price(state, prices[p]), is_multiple_in_range(prices[p], ticks[t]), "%d / %d",
                   prices[p], ticks[t]);
    }
    for (uint32_t x = 1; x < 4290000000u; x += 7919 * 131) {
      int32_t price = (int32_t)(x - (1u << 31));
      cr_assert_eq(is_price(state, price), is_multiple_in_range(price, ticks[t]), "%d / %d", price,
                   ticks[t]);
    }
  }
  drop(&h);
}

/* ---- the check ---- */

/* Two rows a side, one row full and spilled, an agent's order. */
static holder filled(void) {
  holder h = empty(64);
  wb_order in[40];
  for (int32_t i = 0; i < 35; i++) in[i] = order(WB_SIDE_ASK, 2 * i, 10 + i, 100 + i % 5, i + 1);
  for (int32_t i = 35; i < 39; i++) in[i] = order(WB_SIDE_BID, 2 * i + 1, 5, 90 + i % 2, i + 1);
  in[39] = order(WB_SIDE_BID, (1 << 30) + 3, 5, 95, 40);
  wb_error error = {0};
  cr_assert_eq(wb_slab_load(h.layout, h.slab, in, 40, &error), WB_OK, "%s", error.text);
  cr_assert_eq(wb_slab_check(h.layout, h.slab, &error), WB_OK, "%s", error.text);
  return h;
}

#define finds(change, words)                                                  \
  do {                                                                        \
    holder h = filled();                                                      \
    wb_error error = {0};                                                     \
    change;                                                                   \
    cr_assert_eq(wb_slab_check(h.layout, h.slab, &error), WB_ERROR_INTERNAL); \
    cr_assert_not_null(strstr(error.text, words), "%s", error.text);          \
    drop(&h);                                                                 \
  } while (0)

Test(check, finds_whatever_is_broken) {
  /* the asks' first row is slots 64..95, full; three spilled to 96..98 */
  finds(h.v.used[2] ^= 1, "ask slot 64: used says 0");
  finds(h.v.used[0] ^= INT32_MIN, "bid slot 31: used says 1");
  finds(h.v.qty[70] = 0, "ask slot 70: qty");
  finds(h.v.ref[70] = 1 << 30, "ask slot 70: reference");
  finds(h.v.owner[70] = 1, "ask slot 70: reference");
  finds(h.v.ref[0] = 5, "bid slot 0: expected reference -1");
  finds(h.v.owner[0] = 5, "bid slot 0: expected reference -1");
  finds(h.v.ref[70] = h.v.ref[74], "reference");
  finds(h.v.rank[70] = slab_rank(WB_SIDE_ASK, 200, 41), "ask slot 70: arrival");
  finds(h.v.rank[70] = slab_rank(WB_SIDE_ASK, (1 << 30) + 1, 7), "ask slot 70: key");
  finds(h.v.rank[70] = slab_rank(WB_SIDE_ASK, 104, 9), "arrival 9: two orders");
  finds(h.v.row_rank[2] += 1, "ask row 0: its best");
  finds(h.v.row_slot[2] += 1, "ask row 0: its best");
  finds(h.v.best_rank[1] += 1, "ask side: its best");
  finds(h.v.best_slot[0] += 1, "bid side: its best");
  finds(h.v.spill[2] = 2, "ask row 0: 3 orders rest in other rows, spill says 2");
  finds(h.v.spill[3] = 1, "ask row 1: 0 orders rest in other rows, spill says 1");
  finds(h.v.agents[0] = 0, "bid side: 1 agents' orders");
  finds(h.v.state[WB_CELL_NEXT_ARRIVAL] = 40, "arrival: expected 1 to 39");
}

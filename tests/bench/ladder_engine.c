/* Our ladder as an engine of the yardstick harness that lies beside the test data: is it as fast as
 * the ladder there, on that harness's own records? Built only where the harness is. */
#include WB_YARDSTICK_PRE

static const char *ENG_NAME = "ladder";
enum { ENG_CAPS = CAP_BBO | CAP_L2 };

#define LADDER_TRADE(l, maker, taker, side, price, qty) \
  on_trade((maker), (taker), (price), (uint32_t)(qty))
#include "ladder.h"

static ladder *book;

static void eng_init(const hdr_t *h) {
  if (book == NULL) book = ladder_new((int64_t)h->n_ids);
  ladder_clear(book, (int64_t)h->n_ids);
}

static inline void eng_rec(const msg_t *m) {
  if (m->type == M_ADD) {
    ladder_add(book, m->side, m->id, m->price, (int32_t)m->qty);
  } else if (ladder_rests(book, m->id)) {
    if (m->type == M_REDUCE) {
      ladder_reduce(book, m->side, m->id, (int32_t)m->qty);
    } else {
      ladder_leave(book, m->side, m->id);
    }
  }
}

static int eng_bbo(int32_t *bid, int32_t *ask) {
  *bid = book->best[0] < 0 ? 0 : book->best[0];
  *ask = book->best[1] == LADDER_PRICES ? 0 : book->best[1];
  return 0;
}

static uint64_t eng_l2hash(void) {
  uint64_t sum = 0;
  for (int side = 0; side < 2; side++) {
    for (int32_t price = 0; price < LADDER_PRICES; price++) {
      uint64_t qty = 0;
      for (uint32_t o = book->queues[side][price].oldest; o != 0; o = book->orders[o].newer) {
        qty += (uint64_t)book->orders[o].qty;
      }
      if (qty != 0) sum += l2mix(side, price, qty);
    }
  }
  return sum;
}

#include WB_YARDSTICK_HARNESS

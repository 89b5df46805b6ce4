/* Short record lists that once told a wrong kernel from a right one, found and shrunk by diff_books:
 * each runs through the reference and a kernel of the configuration it was found with. */
#include "diff.h"

#include <criterion/criterion.h>

static void expect_equal(int32_t number, diff_episode episode) {
  diff_config config = diff_config_make(number);
  wb_book_rules rules = config.rules;
  rules.base = episode.rules.base;
  rules.tick_size = episode.rules.tick_size;
  episode.rules = rules;
  wb_error error = {0};
  diff_engine *engine = diff_engine_new(&config, DIFF_INTERPRETER, NULL, NULL, &error);
  cr_assert_not_null(engine, "%s", error.text);
  diff_failure failure;
  bool same = diff_run(engine, &episode, 1, NULL, &failure);
  diff_engine_free(engine);
  cr_assert(same, "record %lld: %s", (long long)failure.record, failure.text);
}

/* Two rows of a side, the home row full: the order that spilled is found again, and its home forgets
 * it when it leaves. */
Test(found, a_spilled_order_comes_and_goes) {
  enum { ORDERS = 34 };
  wb_record records[ORDERS + 4];
  for (int i = 0; i < ORDERS; i++) {
    records[i] = (wb_record){
        .ref = 2 * i, .price = 10 + i % 3, .qty = 5, .row = i, .type = 1, .flags = WB_FLAG_SIDE};
  }
  records[ORDERS] = (wb_record){.ref = 66, .type = WB_RECORD_DELETE, .flags = WB_FLAG_SIDE};
  records[ORDERS + 1] = (wb_record){.ref = 66, .type = WB_RECORD_DELETE, .flags = WB_FLAG_SIDE};
  records[ORDERS + 2] = (wb_record){.ref = 64, .type = WB_RECORD_DELETE, .flags = WB_FLAG_SIDE};
  records[ORDERS + 3] = (wb_record){.ref = 68, .price = 30, .qty = 500, .type = 1};
  /* configuration 1 has capacity 64 */
  cr_assert_eq(diff_config_make(1).rules.capacity, 64);
  expect_equal(1, (diff_episode){.rules.tick_size = 1,
                                 .trade_room = DIFF_ROOM_MOST,
                                 .count = ORDERS + 4,
                                 .records = records});
}

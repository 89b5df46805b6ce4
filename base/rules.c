/* Defaults and validation of a book's rules. */
#include "base/rules.h"

wb_book_rules wb_book_rules_default(void) {
  wb_book_rules rules = {0};
  rules.tick_size = 1;
  return rules;
}

static wb_status check_choice(const char *name, int given, int last, wb_error *error) {
  if (given < 0 || given > last) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT, "book rules: %s: expected 0 to %d, got %d", name, last,
                   given);
  }
  return WB_OK;
}

wb_status wb_book_rules_check(const wb_book_rules *rules, wb_error *error) {
  if (rules->tick_size < 1) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book rules: tick_size: expected at least 1 price unit, got %d",
                   rules->tick_size);
  }
  if (rules->capacity < 0) {
    return WB_FAIL(error, WB_ERROR_ARGUMENT,
                   "book rules: capacity: expected 0 (unlimited) or more orders a side, got %d",
                   rules->capacity);
  }
  WB_TRY(check_choice("capacity_rule", (int)rules->capacity_rule, WB_CAPACITY_REJECT, error));
  WB_TRY(check_choice("execute_policy", (int)rules->execute_policy, WB_EXECUTE_AGGRESSIVE, error));
  WB_TRY(check_choice("displaced", (int)rules->displaced, WB_DISPLACED_KEEP, error));
  return check_choice("self_trade", (int)rules->self_trade, WB_SELF_TRADE_DECREMENT_BOTH, error);
}

/* What a reference book is made of: reference.c changes it, reference_view.c reads it. Private. */
#ifndef WB_SIM_REFERENCE_STATE_H
#define WB_SIM_REFERENCE_STATE_H

#include "sim/reference.h"
#include "sim/reference_book.h"

struct wb_reference {
  wb_book_rules rules;
  wb_resting resting;
  int32_t next_arrival;
  wb_trading_state state;
  uint32_t status;
  int64_t counters[WB_COUNTERS];
  /* who hears of trades, and the record that is being applied */
  wb_trade_function *on_trade;
  void *context;
  const wb_record *record;
  int32_t index;
};

#endif

/* What a set of records asks of a kernel. */
#include "kernels/book.h"

static const uint32_t all_types = 0x1fe; /* bits 1..8 */

static wb_book_features from_rules(const wb_book_rules *rules) {
  wb_book_features f = {0};
  f.unique_refs = rules->unique_refs != 0;
  f.execute_policy = rules->execute_policy;
  f.displaced = rules->displaced;
  f.capacity_rule = rules->capacity_rule;
  f.self_trade = rules->self_trade;
  return f;
}

wb_book_features wb_features_none(const wb_book_rules *rules) { return from_rules(rules); }

wb_book_features wb_features_all(const wb_book_rules *rules) {
  wb_book_features f = from_rules(rules);
  f.types = all_types;
  f.flags = 0xff;
  f.agents = true;
  f.states = true;
  f.bad_records = true;
  f.rows = true;
  f.trades = WB_TRADES_ALL;
  return f;
}

/* ---- valid records ---- */

static bool flags_are_valid(const wb_record *r) {
  int extra = r->flags & ~(WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END);
  if (r->owner != 0 && (r->flags & (WB_FLAG_EDGE | WB_FLAG_ROW_END)) != 0) return false;
  if (extra == 0) return true;
  if (r->type == WB_RECORD_AMEND) return extra == WB_FLAG_POST_ONLY;
  if (r->type != WB_RECORD_ADD) return false;
  return (extra == WB_FLAG_NO_MATCH && r->owner == 0) || extra == WB_FLAG_IOC ||
         extra == WB_FLAG_FOK || extra == WB_FLAG_POST_ONLY ||
         extra == (WB_FLAG_POST_ONLY | WB_FLAG_SLIDE);
}

static bool ref_is_valid(const wb_record *r) {
  return r->ref >= 0 && (r->ref >= WB_REF_AGENT_FIRST) == (r->owner != 0);
}

static bool price_is_valid(const wb_record *r, int32_t tick_size) {
  return r->price >= -WB_PRICE_LIMIT && r->price <= WB_PRICE_LIMIT && r->price % tick_size == 0;
}

bool wb_record_is_valid(const wb_record *r, const wb_book_rules *rules) {
  if (r->owner < 0 || !flags_are_valid(r)) return false;
  switch (r->type) {
  case WB_RECORD_ADD:
  case WB_RECORD_AMEND: return ref_is_valid(r) && price_is_valid(r, rules->tick_size) && r->qty > 0;
  case WB_RECORD_MARKET:
  case WB_RECORD_REDUCE: return ref_is_valid(r) && r->qty > 0;
  case WB_RECORD_DELETE: return ref_is_valid(r);
  case WB_RECORD_EXECUTE:
    return r->owner == 0 && ref_is_valid(r) && price_is_valid(r, rules->tick_size) && r->qty > 0;
  case WB_RECORD_NOTE: return r->owner == 0 && r->qty > 0 && r->arg >= 0 && r->arg <= 2;
  case WB_RECORD_STATE: return r->owner == 0 && r->arg >= 0 && r->arg <= 2;
  default: return false;
  }
}

void wb_features_scan(wb_book_features *features, const wb_book_rules *rules,
                      const wb_record *records, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    const wb_record *r = &records[i];
    features->flags |= r->flags & WB_FLAG_ROW_END;
    if (!wb_record_is_valid(r, rules)) {
      features->bad_records = true;
      continue;
    }
    features->types |= 1u << r->type;
    features->flags |= r->flags;
    if (r->owner != 0) features->agents = true;
    if (r->type == WB_RECORD_STATE && r->arg != WB_STATE_TRADING) features->states = true;
  }
}

/* See catalogue.h. */
#include "kernels/catalogue.h"

#include <stdio.h>
#include <string.h>

static const char *const set_texts[] = {
#define X(name, text) [WB_FEATURES_##name] = (text),
    WB_FEATURE_SETS(X)
#undef X
};

static const char *const trade_texts[] = {
    [WB_TRADES_NONE] = "no-trades",
    [WB_TRADES_OWNERS] = "owner-trades",
    [WB_TRADES_ALL] = "all-trades",
};

const char *wb_feature_set_text(wb_feature_set set) {
  return (int)set >= 0 && set < WB_FEATURE_SET_COUNT ? set_texts[set] : NULL;
}

/* ---- sets ---- */

enum { FLOW_TYPES = 1 << WB_RECORD_ADD | 1 << WB_RECORD_REDUCE | 1 << WB_RECORD_DELETE };

static wb_book_features replay(const wb_book_rules *rules) {
  wb_book_features f = wb_features_none(rules);
  f.types = FLOW_TYPES | 1 << WB_RECORD_EXECUTE | 1 << WB_RECORD_NOTE | 1 << WB_RECORD_STATE;
  f.flags = WB_FLAG_SIDE | WB_FLAG_EDGE | WB_FLAG_ROW_END | WB_FLAG_NO_MATCH;
  f.states = true;
  f.unique_refs = true;
  return f;
}

wb_book_features wb_features_usual(wb_feature_set set, const wb_book_rules *rules) {
  wb_book_features f = replay(rules);
  switch (set) {
  case WB_FEATURES_FLOW:
    f.types = FLOW_TYPES;
    f.flags = WB_FLAG_SIDE;
    f.states = false;
    break;
  case WB_FEATURES_CHECKED:
    f.bad_records = true;
    f.unique_refs = false;
    break;
  case WB_FEATURES_ALL:
    f = wb_features_all(rules);
    f.unique_refs = false;
    f.rows = false;
    f.trades = WB_TRADES_NONE;
    break;
  default: break;
  }
  return f;
}

bool wb_features_cover(const wb_book_features *wide, const wb_book_features *narrow) {
  bool same =
      wide->rows == narrow->rows && wide->trades == narrow->trades &&
      wide->execute_policy == narrow->execute_policy && wide->displaced == narrow->displaced &&
      wide->capacity_rule == narrow->capacity_rule && wide->self_trade == narrow->self_trade;
  return same && (narrow->types & ~wide->types) == 0 && (narrow->flags & ~wide->flags) == 0 &&
         wide->agents >= narrow->agents && wide->states >= narrow->states &&
         wide->bad_records >= narrow->bad_records && wide->unique_refs <= narrow->unique_refs;
}

/* ---- the list ---- */

typedef struct tour {
  const wb_book_rules *rules;
  wb_book_layout *layout;
  wb_catalogue_visit *visit;
  void *context;
} tour;

static wb_status show(const tour *t, wb_program *program, const char *variant, wb_error *error) {
  const wb_catalogue_item item = {.name = program->name + strlen("wb_"),
                                  .variant = variant,
                                  .capacity = t->rules->capacity,
                                  .program = program};
  wb_status status = t->visit(t->context, &item, error);
  wb_program_free(program);
  return status;
}

static wb_status show_run(const tour *t, wb_feature_set set, wb_trade_choice trades, bool rows,
                          wb_error *error) {
  wb_book_features features = wb_features_usual(set, t->rules);
  features.trades = trades;
  features.rows = rows;
  char variant[64];
  (void)snprintf(variant, sizeof variant, "%s %s%s", set_texts[set], trade_texts[trades],
                 rows ? " rows" : "");
  wb_program *program = NULL;
  WB_TRY(wb_run_program_build(t->layout, &features, &program, error));
  return show(t, program, variant, error);
}

static wb_status show_set(const tour *t, wb_feature_set set, wb_error *error) {
  static const wb_trade_choice choices[] = {WB_TRADES_ALL, WB_TRADES_NONE, WB_TRADES_OWNERS};
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
    /* history has no owners */
    if (choices[i] == WB_TRADES_OWNERS && set != WB_FEATURES_ALL) continue;
    WB_TRY(show_run(t, set, choices[i], false, error));
    /* and a flow no rows */
    if (set != WB_FEATURES_FLOW) WB_TRY(show_run(t, set, choices[i], true, error));
  }
  return WB_OK;
}

static wb_status show_all(const tour *t, wb_error *error) {
  for (int set = 0; set < WB_FEATURE_SET_COUNT; set++) {
    WB_TRY(show_set(t, (wb_feature_set)set, error));
  }
  for (int query = 0; query < WB_QUERY_COUNT; query++) {
    wb_program *program = NULL;
    WB_TRY(wb_query_program_build(t->layout, (wb_query)query, &program, error));
    WB_TRY(show(t, program, "", error));
  }
  return WB_OK;
}

wb_status wb_book_catalogue(const wb_book_rules *rules, wb_catalogue_visit *visit, void *context,
                            wb_error *error) {
  tour t = {.rules = rules, .visit = visit, .context = context};
  WB_TRY(wb_book_rules_check(rules, error));
  WB_TRY(wb_book_layout_new(rules->capacity, &t.layout, error));
  wb_status status = show_all(&t, error);
  wb_book_layout_free(t.layout);
  return status;
}

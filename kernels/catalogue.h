/* The usual kernels of a book: sets of features that fit most uses, and the list of programs made
 * with them, for tools and for bundles that are built ahead of time. */
#ifndef WB_KERNELS_CATALOGUE_H
#define WB_KERNELS_CATALOGUE_H

#include "../compiler/catalogue.h"
#include "book.h"

#ifdef __cplusplus
extern "C" {
#endif

/*  name     text        made for */
#define WB_FEATURE_SETS(X)                                                                     \
  X(REPLAY, "replay")   /* a tape as the reader makes it: history, checked when it was read */ \
  X(FLOW, "flow")       /* adds, reduces and deletes of history, without any other flag */     \
  X(CHECKED, "checked") /* what a replay may hold, but each record and reference is checked */ \
  X(ALL, "all")         /* everything */

typedef enum wb_feature_set {
#define X(name, text) WB_FEATURES_##name,
  WB_FEATURE_SETS(X)
#undef X
      WB_FEATURE_SET_COUNT
} wb_feature_set;

WB_API const char *wb_feature_set_text(wb_feature_set set); /* NULL if there is no such set */

/* The features of a set, with the choices of the rules; no rows, no trades. */
WB_API wb_book_features wb_features_usual(wb_feature_set set, const wb_book_rules *rules);

/* Whether a kernel made for `wide` gives `narrow` all it asks for: what is chosen (rows, trades,
 * policies) must be equal, what may come must be included. */
WB_API bool wb_features_cover(const wb_book_features *wide, const wb_book_features *narrow);

/* The message programs of all sets with each usual choice of rows and trades, and the queries. The
 * words of a message program's variant: the set, then no-trades, owner-trades or all-trades, then
 * rows if rows are recorded. */
WB_API wb_catalogue wb_book_catalogue;

#ifdef __cplusplus
}
#endif
#endif

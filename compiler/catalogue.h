/* Catalogues: what kernels a room's code can ask for, so that they can be listed, timed and built
 * ahead of time. A room with kernels has one function of type wb_catalogue; whoever wants them all
 * calls one after another. */
#ifndef WB_COMPILER_CATALOGUE_H
#define WB_COMPILER_CATALOGUE_H

#include "../base/rules.h"
#include "program.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kernel. All texts and the program belong to the catalogue, until the visit returns. */
typedef struct wb_catalogue_item {
  const char *name;    /* of the program, without the prefix wb_: "run" */
  const char *variant; /* what it was made for, words with a blank between: "replay all-trades";
                          empty where there is one kernel of that name */
  int32_t capacity;    /* orders a side */
  const wb_program *program;
} wb_catalogue_item;

/* A status other than WB_OK ends the round with it. */
typedef wb_status wb_catalogue_visit(void *context, const wb_catalogue_item *item, wb_error *error);

/* Builds and shows every kernel that the room's code asks for with books of these rules and their
 * capacity; the most usual variant of a kernel comes first. */
typedef wb_status wb_catalogue(const wb_book_rules *rules, wb_catalogue_visit *visit, void *context,
                               wb_error *error);

#ifdef __cplusplus
}
#endif
#endif

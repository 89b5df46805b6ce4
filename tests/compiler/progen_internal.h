/* What the parts of the generator share. */
#ifndef WB_TESTS_PROGEN_INTERNAL_H
#define WB_TESTS_PROGEN_INTERNAL_H

#include "compiler/builder.h"
#include "tests/compiler/progen.h"

enum { POOL_MAX = 4096, LABELS_MAX = 64, ARRAYS = 8, BUFFERS = 5, VIEWS = 4, PARAMS = 3 };

typedef struct gen {
  /* choices */
  uint32_t *choices;
  int32_t choice_count, choice_capacity, next_choice;
  uint64_t random; /* makes further choices; 0: there are none */
  bool out_of_memory;
  /* the program under way */
  wb_builder *b;
  wb_layout *layout;
  wb_array objects[ARRAYS + BUFFERS + VIEWS];
  wb_element elements[ARRAYS + BUFFERS + VIEWS];
  bool writable[ARRAYS + BUFFERS + VIEWS];
  wb_array index_array; /* holds indices below 8 only */
  /* what is visible: values and variables, cut back when a region ends */
  wb_val pool[POOL_MAX];
  int32_t pool_count;
  wb_var vars[POOL_MAX];
  int32_t var_count;
  wb_label labels[LABELS_MAX];
  int32_t label_count;
  int32_t depth, budget;
} gen;

/* A number below `bound`, 0 once the choices have run out. */
uint32_t progen_draw(gen *g, uint32_t bound);
int64_t progen_extreme(gen *g, wb_type type);
/* A visible value of that type and shape, or a new one. */
wb_val progen_pick(gen *g, wb_type type, wb_shape shape);
void progen_add(gen *g, wb_val v);
/* One random op of the table on visible values. */
void progen_op(gen *g);
void progen_known(gen *g);
void progen_load(gen *g);
void progen_store(gen *g);
/* Mixes a value into memory, so that it shows. */
void progen_sink(gen *g, wb_val v);
/* Statements until the budget of this region is used up. */
void progen_statements(gen *g, int32_t count);

#define AT WB_HERE

#endif

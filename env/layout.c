/* The slab of an environment: the book's arrays, then, if there are agents, the environment's. */
#include "env/private.h"

#include <string.h>

wb_status env_layout_make(env_layout *l, int32_t capacity, int32_t agents, int32_t slots,
                          wb_error *error) {
  memset(l, 0, sizeof *l);
  l->agents = agents;
  l->slots = slots;
  WB_TRY(wb_book_layout_new(capacity, &l->book, error));
  int64_t a = agents, n = (int64_t)agents * slots;
  const struct {
    const char *name;
    wb_element element;
    int64_t length;
    wb_array *array;
  } list[] = {
      {"env", WB_ELEMENT_I64, ENV_CELLS, &l->env},
      {"agent", WB_ELEMENT_I64, a * AGENT_CELLS, &l->agent},
      {"slot_side", WB_ELEMENT_I32, n, &l->slot_side},
      {"slot_price", WB_ELEMENT_I32, n, &l->slot_price},
      {"slot_qty", WB_ELEMENT_I32, n, &l->slot_qty},
      {"slot_ahead", WB_ELEMENT_I32, n, &l->slot_ahead},
      {"wish_kind", WB_ELEMENT_I32, n, &l->wish_kind},
      {"wish_side", WB_ELEMENT_I32, n, &l->wish_side},
      {"wish_price", WB_ELEMENT_I32, n, &l->wish_price},
      {"wish_qty", WB_ELEMENT_I32, n, &l->wish_qty},
      {"outbox", WB_ELEMENT_I64, 2 * n * 4, &l->outbox},
      {"arrival", WB_ELEMENT_I32, a, &l->arrival},
  };
  for (size_t i = 0; agents > 0 && i < sizeof list / sizeof list[0]; i++) {
    wb_status status = wb_layout_add(l->book->layout, list[i].name, list[i].element, list[i].length,
                                     0, list[i].array, error);
    if (status != WB_OK) {
      env_layout_free(l);
      return status;
    }
  }
  /* copies of slabs go by rows of 32 i64 */
  l->stride = (wb_book_layout_bytes(l->book) + 255) / 256 * 256;
  return WB_OK;
}

void env_layout_free(env_layout *layout) {
  wb_book_layout_free(layout->book);
  layout->book = NULL;
}

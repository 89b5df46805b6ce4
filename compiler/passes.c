/* The list of passes and their order. */
#include "compiler/passes.h"

static const wb_pass passes[] = {
    {"fold", wb_pass_fold},
    {"drop", wb_pass_drop},
    {"range", wb_pass_range},
};

const wb_pass *wb_passes(int32_t *count) {
  *count = (int32_t)(sizeof passes / sizeof passes[0]);
  return passes;
}

wb_status wb_passes_run(wb_program *program, wb_error *error) {
  for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
    WB_TRY(passes[i].run(program, error));
#ifndef NDEBUG
    wb_status status = wb_program_verify(program, error);
    if (status != WB_OK) {
      wb_error_prefix(error, "after pass %s", passes[i].name);
      return status;
    }
#endif
  }
  return WB_OK;
}

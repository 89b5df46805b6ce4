/* See loader.c. */
#ifndef WB_COMPILER_LOADER_H
#define WB_COMPILER_LOADER_H

#include "compiler/lower.h"

/* Thread safe. WB_ERROR_UNAVAILABLE with what to install. */
wb_status wb_lowering_open(const wb_lowering **out, wb_error *error);

#endif

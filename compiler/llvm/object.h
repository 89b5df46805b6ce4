/* Relocatable objects: what must hold before one is handed to LLVM's linker. */
#ifndef WB_COMPILER_LLVM_OBJECT_H
#define WB_COMPILER_LLVM_OBJECT_H

#include "base/status.h"

#include <stddef.h>

/* Checks that the bytes are a 64-bit ELF object of this machine whose tables lie inside it, that it
 * defines `symbol` as a function and that nothing in it is undefined. WB_ERROR_FORMAT says what is
 * wrong, with the name of an undefined symbol. Objects of other systems are passed through. */
wb_status object_check(const void *object, size_t bytes, const char *symbol, wb_error *error);

#endif

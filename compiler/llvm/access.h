/* What an instruction of a kernel does to memory, as far as it can be told: who orders accesses or
 * moves them asks here. */
#ifndef WB_COMPILER_LLVM_ACCESS_H
#define WB_COMPILER_LLVM_ACCESS_H

#include "emit.h"

#include <llvm-c/Target.h>

enum { ACCESS_ANY_OBJECT = -1 };

/* Where and how. Two places with the same base and index differ by their offsets alone, as long as
 * both values are of one round of a loop. */
typedef struct access {
  int32_t object;  /* its number in the program, or any */
  uint8_t pattern; /* emit_pattern */
  bool write;
  LLVMValueRef base; /* NULL: anywhere in the object */
  LLVMValueRef
      index; /* added to it in units of `scale` bytes, zero-extended if it is short; NULL: none */
  int64_t scale, offset;
  int64_t bytes;
} access;

typedef enum access_kind {
  ACCESS_NONE,    /* nothing that matters: no memory, or memory that nobody writes */
  ACCESS_TRACKED, /* described by an access */
  ACCESS_BARRIER, /* a warp barrier */
  ACCESS_OPAQUE   /* something that is none of the program's accesses: nothing moves across it */
} access_kind;

typedef struct access_reader {
  LLVMTargetDataRef layout;
  unsigned scope_kind, apart_kind, invariant_kind;
} access_reader;

access_reader access_reader_of(LLVMModuleRef module);
access_kind access_read(const access_reader *r, LLVMValueRef instruction, access *a);

/* x of an index x + constant into memory behind `pointer`, if its bits are at least as many as an address
 * has, so that it cannot matter where the sum wraps; else the index itself, and 0. */
LLVMValueRef access_split_index(const access_reader *r, LLVMValueRef pointer, LLVMValueRef index,
                                int64_t *constant);
/* Base, index, scale and offset of an address. */
void access_split(const access_reader *r, LLVMValueRef pointer, access *a);

/* Whether what the access's offset counts from is surely a multiple of `bytes`, at most
 * WB_GPU_SHARED_ALIGNMENT, as far as the rules of a launch and the constants on the way tell. */
bool access_is_aligned(const access_reader *r, const access *a, unsigned bytes);

/* Gives up knowing the place inside the object. */
void access_forget_place(access *a);

/* Whether both may touch one byte. */
bool access_may_meet(const access *a, const access *b);

#endif

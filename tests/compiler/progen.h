/* Random well-typed programs, with the memory to run them on.
 *
 * A program grows from a list of choices: each decision of the generator takes the next number, 0
 * once they run out, and 0 always is the simplest way to go on. Any list gives a valid program that
 * ends, so a failing one is made small by making its list of choices small - no knowledge of programs
 * is needed for that. A seed is turned into a list of choices first.
 *
 * Programs have branches, switches, nested bounded loops, blocks left early, dead code, variables of
 * every type and shape, all ops, colliding and out-of-range indices, promised accesses whose promise
 * holds, views, buffers, extreme numbers, and gangs of every width. Every value has a good chance to end
 * in memory. */
#ifndef WB_TESTS_PROGEN_H
#define WB_TESTS_PROGEN_H

#include "compiler/program.h"

typedef struct progen_case {
  uint64_t seed;        /* 0: from a list of choices */
  uint32_t *choices;    /* the list the program was made from */
  int32_t choice_count; /* as many as were taken */
  wb_program *program;
  int64_t books, slab_stride;
  unsigned char *memory; /* slabs, then buffers: the state before a run */
  size_t memory_bytes, slabs_bytes;
  wb_buffer_argument *buffers; /* .data is an offset into memory, see progen_arguments */
  int64_t *scalars;
  int64_t step_limit; /* no run takes more ops for a book */
} progen_case;

/* Makes the program of a seed; `size` is about the number of statements (40 is a good one). NULL where
 * memory is short or the generator itself is wrong, with the reason. */
progen_case *progen_new(uint64_t seed, int32_t size, wb_error *error);
/* Makes the program of a list of choices, which is copied. */
progen_case *progen_from_choices(const uint32_t *choices, int32_t count, int32_t size,
                                 wb_error *error);
void progen_free(progen_case *c);

/* A copy of the case's memory, 64-byte aligned, for free(); NULL if there is none to be had. */
unsigned char *progen_memory(const progen_case *c);

/* Fills the arguments of a run over `memory`; `buffers` has room for the program's. */
void progen_arguments(const progen_case *c, unsigned char *memory, wb_buffer_argument *buffers,
                      wb_kernel_arguments *arguments);

/* Runs the case's program, or another one that should do the same (`program` may be NULL), in the
 * interpreter over `memory`. */
wb_status progen_interpret(const progen_case *c, const wb_program *program, unsigned char *memory,
                           wb_error *error);

/* Compares memory after two runs. True if equal; else `text` says where they differ first. */
bool progen_equal(const progen_case *c, const unsigned char *expected, const unsigned char *given,
                  char *text, size_t text_bytes);

/* Makes a failing case small: `fails` says whether a case still shows the failure. Gives the smallest
 * found (perhaps a copy of `c`), NULL if memory is short. */
progen_case *progen_shrink(const progen_case *c, int32_t size,
                           bool (*fails)(const progen_case *c, void *context), void *context);

/* The choices as text that progen_from_choices can be fed with again, for a regression test. */
void progen_print_choices(const progen_case *c, FILE *out);

#endif

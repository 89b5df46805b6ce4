/* Tapes made by hand for the tests of this folder, and their comparison field by field. */
#ifndef WB_TESTS_TAPES_H
#define WB_TESTS_TAPES_H

#include "data/tape.h"

/* A small tape with something in every part: a seed, agents, rows with participants, an odd time, a
 * source, counts, findings. It passes wb_tape_check. NULL without memory. */
wb_tape *full_tape(void);

/* Records alone: three of history's and, if `agents`, one agent's. */
wb_tape *bare_tape(bool agents);

/* A tape of `rows` source rows at `levels` levels with numbers that look like a day's. */
wb_tape *long_tape(int64_t rows, int32_t levels);

/* "" if the tapes are equal in every field, else what differs. The text is the callee's. */
const char *difference(const wb_tape *a, const wb_tape *b);

/* A new empty folder for a test's files, below the system's temporary one; and its removal. */
void make_folder(char path[64]);
void remove_folder(const char *path);

/* How many entries a folder has, hidden ones too; -1 if it cannot be read. */
int entries_of(const char *path);

#endif

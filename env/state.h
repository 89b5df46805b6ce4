/* The header of one environment's state, in i64 words. Not public. */
#ifndef WB_ENV_STATE_H
#define WB_ENV_STATE_H

#include <stdint.h>

enum {
  STATE_MAGIC,  /* and version */
  STATE_CONFIG, /* two words: the hash of everything that a state must agree on */
  STATE_CHECKSUM = STATE_CONFIG + 2,
  STATE_HEADER_BYTES = 256
};

/* "WBENV" and the version of what a slab holds: bumped when a cell changes its meaning */
#define STATE_MAGIC_VALUE INT64_C(0x57424e5600000002)

#endif

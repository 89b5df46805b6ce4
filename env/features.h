/* How many features an observation has, by part. Names and meanings are in names.c, in this order. */
#ifndef WB_ENV_FEATURES_H
#define WB_ENV_FEATURES_H

enum {
  FEATURES_OF_LEVEL = 4, /* bid price, bid size, ask price, ask size */
  MARKET_FEATURES = 12,
  OWN_FEATURES = 5,
  FEATURES_OF_SLOT = 4
};

#endif

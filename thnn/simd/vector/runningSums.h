/* Sums in a fixed order: element i goes to running sum i % LANES, and in the end the upper half of
 * the running sums joins the lower one until one is left. The same order at every level, so levels
 * differ only by fused additions. */
#ifndef THNN_SIMD_LANES_H
#define THNN_SIMD_LANES_H

#include "simd/vector/halves.h"

/* Enough independent sums to hide the latency of an addition in 512-bit vectors. */
enum { LANES = 32 };

/* An initializer of zeros may become a repeated store, which takes longer than a short row. */
static inline void clearLanes(double *lane)
{
#pragma GCC unroll 32
  for (int l = 0; l < LANES; l++)
    lane[l] = 0;
}

static inline double addLanes(double *lane)
{
  return THNN_addHalves(LANES, lane);
}

#endif

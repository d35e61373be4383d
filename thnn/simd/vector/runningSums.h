/* Sums in a fixed order: element i goes to running sum i % LANES, and in the end the upper half of
 * the running sums joins the lower one until one is left. The order is the same at every level, so
 * that levels differ only by fused multiply-add. */
#ifndef THNN_SIMD_LANES_H
#define THNN_SIMD_LANES_H

#include "simd/vector/halves.h"

/* Enough independent sums to hide the latency of an addition in 512-bit vectors. */
enum { LANES = 32 };

/* Compilers may turn an initializer of zeros into a repeated-store instruction, which takes longer
 * than summing a short row. */
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

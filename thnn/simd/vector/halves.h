/* Adds up running sums in an order that is the same at every level. */
#ifndef THNN_SIMD_HALVES_H
#define THNN_SIMD_HALVES_H

/* Adds the upper half of n sums to the lower one until one is left; n is a power of two, and a
 * constant where this is called. */
static inline double THNN_addHalves(const int n, double *sum)
{
#pragma GCC unroll 5
  for (int half = n / 2; half > 0; half /= 2)
#pragma omp simd
    for (int i = 0; i < half; i++)
      sum[i] += sum[i + half];
  return sum[0];
}

#endif

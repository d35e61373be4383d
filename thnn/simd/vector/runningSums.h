/* Sums in a fixed order: element i goes to running sum i % RUNNING_SUMS, and in the end the upper
 * half of the running sums joins the lower one until one is left. The order is the same at every
 * level, so that the results of two levels differ only where one of them fuses multiplication and
 * addition. */
#ifndef THNN_SIMD_RUNNING_SUMS_H
#define THNN_SIMD_RUNNING_SUMS_H

/* Enough independent sums to hide the latency of an addition in 512-bit vectors. */
enum { RUNNING_SUMS = 32 };

/* Clears the sums one by one: compilers may turn an initializer of zeros into a repeated-store
 * instruction, which takes longer than summing a short row. */
static inline void clearSums(double *sum)
{
#pragma GCC unroll 32
  for (int s = 0; s < RUNNING_SUMS; s++)
    sum[s] = 0;
}

/* Adds the upper half of n sums to the lower one until one is left; n is a power of two, and a
 * constant where this is called. */
static inline double addHalves(const int n, double *sum)
{
#pragma GCC unroll 5
  for (int half = n / 2; half > 0; half /= 2)
#pragma omp simd
    for (int i = 0; i < half; i++)
      sum[i] += sum[i + half];
  return sum[0];
}

#endif

/* Sums and dot products of rows. */
#ifndef THNN_SIMD_REDUCE_H
#define THNN_SIMD_REDUCE_H

#include <stdint.h>

/* Sums: the order of the additions depends on n alone, and the running sums are double. */
typedef struct SimdReduce {
  /* sum of x */
  double (*sum)(int64_t n, const real *x);
  /* sum of x * y */
  double (*dot)(int64_t n, const real *x, const real *y);
} SimdReduce;

#endif

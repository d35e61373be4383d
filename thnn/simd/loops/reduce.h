/* Sums, dot products and extremes of rows; sums and extremes of columns. */
#ifndef THNN_SIMD_REDUCE_H
#define THNN_SIMD_REDUCE_H

#include <stdint.h>

typedef int64_t (*Extreme)(int64_t n, const real *x);
typedef void (*ExtremeOfColumns)(int64_t n, int64_t count, int64_t apart, const real *x, real *best,
                                 int64_t *place);

/* Sums: the order of the additions depends on n alone, and the running sums are double. */
typedef struct SimdReduce {
  /* sum of x */
  double (*sum)(int64_t n, const real *x);
  /* The sum of each row of n elements over `divisor`; rows are one after the other */
  void (*sumOfRows)(int64_t rows, int64_t n, const real *x, double divisor, real *sums);
  /* sum of x * y */
  double (*dot)(int64_t n, const real *x, const real *y);
  /* The sum of each of n columns over `divisor`. Columns have `count` elements, `apart` from each
   * other, which are added up in order. */
  void (*sumOfColumns)(int64_t n, int64_t count, int64_t apart, const real *x, double divisor,
                       real *sum);
  /* The index of the greatest or the least element of a row, which has at least one: the first
   * among equals, or the first NaN if there is one */
  Extreme greatest, least;
  /* The greatest or the least element of each of n columns, and its index, chosen likewise; place
   * may be NULL */
  ExtremeOfColumns greatestOfColumns, leastOfColumns;
} SimdReduce;

#endif

/* Few rows times a matrix that is neither transposed nor packed. */
#ifndef THNN_SIMD_DOTS_H
#define THNN_SIMD_DOTS_H

#include <stdint.h>

/* y[i][j] = start[j] + the sum over the terms of x[i][t] * w[j][t]; without `start`, y is added to.
 * Strides are from one row of a matrix to the next. */
typedef struct Dots {
  int64_t rows, columns, terms;
  const real *x;
  int64_t xStride;
  const real *w;
  int64_t wStride;
  const real *start; /* or NULL */
  real *y;
  int64_t yStride;
} Dots;

/* Up to this many rows, dots were measured to be faster than panels. */
enum { THNN_FEW_ROWS = 20 };

/* Sizes for which dots were measured to be faster than gemm; leastProducts bounds rows * columns *
 * terms. */
typedef struct THNNDotsRange {
  int64_t leastRows, mostRows, leastTerms, leastProducts;
} THNNDotsRange;

typedef struct SimdDots {
  THNNDotsRange ranges[2]; /* dots take the sizes of either */
  void (*dots)(const Dots *of);
  /* y[i][j] += the sum over the terms of x[i][t] * w[t][j]; `start` is not used */
  void (*spread)(const Dots *of);
} SimdDots;

#endif

/* Sums that small kernels spread from planes with stride 2, with a lane for each of neighbouring elements. */
#ifndef THNN_SIMD_SPREAD_SUMS_H
#define THNN_SIMD_SPREAD_SUMS_H

#include <stdbool.h>

/* A plane, and a kernel of side x side taps, 3x3 or 5x5. Tap t of element i adds to number 2i + t of a row,
 * and lines do so to rows; results are `columns` of these numbers from `left` on, and `rows` from `above` on,
 * which can be less than 0. Around the source there are zeros. */
typedef struct SpreadSums {
  int64_t side;
  const real *factors;   /* the kernel, row by row, from its last tap to its first */
  real start;            /* what sums start from */
  int64_t height, width; /* of the source */
  int64_t rows, columns; /* of the results */
  int64_t above, left;
  const real *x; /* the source */
  real *y;       /* the results */
} SpreadSums;

typedef struct SimdSpreading {
  bool applies;  /* whether ends of lines are loaded by masks; otherwise there is nothing else */
  int64_t lanes; /* elements of a vector, which spread to twice as many results */

  /* y = start + the products that meet, in the order of the lines and of their elements. */
  void (*sum)(const SpreadSums *of);
} SimdSpreading;

#endif

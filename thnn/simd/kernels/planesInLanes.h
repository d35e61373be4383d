/* Sums and maxima over rows of narrow planes, with a plane in each lane. */
#ifndef THNN_SIMD_PLANES_IN_LANES_H
#define THNN_SIMD_PLANES_IN_LANES_H

#include "simd/loops/indexWindows.h"
#include "simd/place.h"

/* Up to a vector's worth of planes. In memory each plane is rows * n contiguous elements. In
 * scratch each plane has a lane: a vector holds one element of every plane, and rows begin `pitch`
 * reals apart. */
typedef struct PlaneRows {
  int64_t planes, stride; /* the number of planes; from one to the next in memory */
  int64_t rows, n, pitch;
} PlaneRows;

/* Rows of n positions, each a vector, of x and y: rows are xRow and yRow apart, positions xStep and
 * yStep. Tap t of a position is at offsets[t] from it, and its factors, a vector, are at
 * factorAt[t]. All of these are counted in reals. */
typedef struct PlaneSums {
  int64_t rows, n, taps;
  const int64_t *offsets, *factorAt;
  const real *factors;
  const real *start; /* a vector that sums start from, or NULL: y itself */
  const real *x;
  int64_t xRow, xStep;
  real *y;
  int64_t yRow, yStep;
} PlaneSums;

/* A row of windows over the same input rows, with taps that are `dilation` reals apart. Tap t of a
 * window has the place rowPlace[row] + window.number * numberPlace + t * tapPlace. */
typedef struct PlaneWindows {
  int64_t rows, columns; /* rows under each window; number of windows */
  const real *const *row;
  const Place *rowPlace;
  const THNNTapSpan *window;
  int64_t dilation;
  Place numberPlace, tapPlace, none; /* `none` is the place where nothing is found */
  real start;                        /* what a value must exceed */
} PlaneWindows;

typedef struct SimdPlanes {
  /* y = the planes, one in each lane; lanes without a plane are 0 */
  void (*load)(const PlaneRows *rows, const real *x, real *y);
  /* the reverse, for rows without gaps: the pitch is not used */
  void (*store)(const PlaneRows *rows, const real *x, real *y);
  /* y = start + the sums over the taps of x * factor */
  void (*sum)(const PlaneSums *sums);
  /* sums[t] += the sum over all positions of y * tap t of x, a vector for each tap */
  void (*dot)(const PlaneSums *of, real *sums);
  /* best = the greatest value of each window, the first among equals, and place = where it is: a
   * vector for each window. NaN is never chosen. */
  void (*max)(const PlaneWindows *of, real *best, Place *place);
  /* sums += part; part = 0 */
  void (*settle)(int64_t n, real *part, double *sums);
  /* vector i of y = the sum, in order, of the vectors of x in its span */
  void (*sumSpans)(int64_t n, const THNNRange *spans, const real *x, real *y);
  /* vector i of y = vector i of x / (factor * divisors[i]) */
  void (*divide)(int64_t n, real factor, const real *divisors, const real *x, real *y);
} SimdPlanes;

#endif

/* Maxima and sums over windows, spans and bags; interpolation and repetition of rows. */
#ifndef THNN_SIMD_POOLING_H
#define THNN_SIMD_POOLING_H

#include <stdint.h>

#include "simd/loops/indexWindows.h"
#include "simd/place.h"

/* Windows over the columns that maxOfRows leaves: window i has `kernel` columns, `dilation` apart,
 * of which the first is i*step. The place of its tap t is the one that maxOfRows found in the
 * column + firstPlace + i*windowPlace + t*tapPlace. */
typedef struct ColumnWindows {
  int64_t step, dilation, kernel;
  Place firstPlace, windowPlace, tapPlace;
  real start;
} ColumnWindows;

/* Windows of `kernel` rows and columns, 2 or 3, that begin at every second row and column: `rows`
 * rows of `count`, at least fewestAlternate of them. Input rows are `rowStep` elements apart, rows of
 * results `columns`. */
typedef struct AlternateWindows {
  int64_t kernel, rows, count, rowStep, columns;
  real start;
} AlternateWindows;

/* Spans of a row, in groups of one per lane. For spans that are near each other, `index` is where
 * each begins, counted from the first of its group, and `count` its length; empty spans complete
 * the last group. */
typedef struct Spans {
  const THNNRange *spans;
  const THNNSpanVector *vectors;
  const Place *index, *count;
} Spans;

typedef struct SimdPooling {
  /* In each column, best = the greatest of the rows' values above `start`, the first among equals,
   * and place = its row's place; `start` and -1 where there is none. NaN is never chosen. */
  void (*maxOfRows)(int64_t n, int64_t count, const real *const *rows, const Place *places,
                    real start, real *best, Place *place);
  /* maxOfRows over the columns of each window; among equals, the smallest place wins. */
  void (*maxOfColumns)(int64_t n, const ColumnWindows *columns, const real *best,
                       const Place *place, real *chosen, Place *chosenPlace);
  /* maxOfRows and maxOfColumns without the places */
  void (*greatestOfRows)(int64_t n, int64_t count, const real *const *rows, real start, real *best);
  void (*greatestOfColumns)(int64_t n, const ColumnWindows *columns, const real *best,
                            real *chosen);
  /* y = the greatest element of each window above `start`; the first window begins at x */
  void (*greatestOfAlternate)(const AlternateWindows *windows, const real *x, real *y);
  int64_t fewestAlternate;
  /* best = the greatest of x[at[i] + offsets[t]] above `start` over the taps, of which there is at
   * least one, the first among equals, and place = at[i] + its offset; `start` and -1 where there
   * is none. NaN is never chosen. */
  void (*maxAround)(int64_t n, const Place *at, int64_t taps, const Place *offsets, const real *x,
                    real start, real *best, Place *place);
  /* sum = the sum of the rows, added up in order */
  void (*sumOfRows)(int64_t n, int64_t count, const real *const *rows, real *sum);
  /* sum[i] = x[i*step] + … + x[i*step + kernel - 1] */
  void (*sumOfColumns)(int64_t n, int64_t step, int64_t kernel, const real *x, real *sum);
  /* y[i] = the sum of the elements of span i, in order. Up to a vector's worth of elements is read
   * past the last span. */
  void (*sumOfSpans)(int64_t n, const Spans *spans, const real *x, real *y);
  /* y = factor * x */
  void (*scale)(int64_t n, real factor, const real *x, real *y);
  /* sum = x * y + z */
  void (*multiplyAdd)(int64_t n, const real *x, const real *y, const real *z, real *sum);
  /* y = x / (factor * divisors) */
  void (*divide)(int64_t n, real factor, const real *divisors, const real *x, real *y);
  /* y[i] = (1 - share[i]) * x[before[i]] + share[i] * x[after[i]] */
  void (*interpolate)(int64_t n, const Place *before, const Place *after, const real *share,
                      const real *x, real *y);
  /* y = x with each element `times` times */
  void (*repeat)(int64_t n, const real *x, int64_t times, real *y);
  /* y = `times` rows that are x */
  void (*repeatRow)(int64_t n, const real *x, int64_t times, real *y);
} SimdPooling;

#endif

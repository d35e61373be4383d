/* Sums of rows that are shifted against each other; padded copies of rows. */
#ifndef THNN_SIMD_SHIFTED_ROWS_H
#define THNN_SIMD_SHIFTED_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* A position in each of two arrays. */
typedef struct THNNPosition {
  int64_t x, y;
} THNNPosition;

/* Rows of x, which are read at offsets, and the rows of y that they are multiplied by. Up to a
 * vector's worth of elements is read past the end of each row of y; they must be 0. */
typedef struct Shifted {
  int64_t rows, n;
  const real *x, *y;
  int64_t xStride, yStride; /* from one row to the next */
} Shifted;

/* A list of vectors of neighbouring positions in two arrays: first `whole` full vectors, then
 * `parts` partial ones, of `lanes` lanes each. */
typedef struct Vectors {
  const THNNPosition *at;
  int64_t whole, parts, lanes;
} Vectors;

/* sums[plane][tap][lane] += the sum over the vectors of x[offsets[tap]] * y[plane * yPlane]; the
 * caller adds up the lanes. Nothing is read past a partial vector. */
typedef struct LineDots {
  Vectors vectors;
  int64_t taps;
  const int64_t *offsets;
  int64_t planes, yPlane;
  const real *x, *y;
  real *sums;
  real *totals; /* [plane][lane] += the sums of y, or NULL */
} LineDots;

/* The vectors of y[plane * yPlane]: start[plane] + the sum over the taps of x[offsets[tap]] *
 * factors[group][tap][plane of group], where a group is tilePlanes planes. Without `start`, y is
 * added to. Past a partial vector, up to a vector's worth of x is read, but nothing is written. */
typedef struct LineSums {
  Vectors vectors;
  int64_t taps;
  const int64_t *offsets;
  int64_t planes, yPlane;
  const real *factors;
  const real *start; /* or NULL */
  const real *x;
  bool streams; /* x comes from memory rather than from a cache, one stream for each tap */
  real *y;
} LineSums;

/* Each row of y becomes `before` zeros, `count` elements of x that are `step` apart, and `after`
 * zeros. Rows are written in order, zeros in whole vectors: less than a vector past a row's end. */
typedef struct PaddedRows {
  int64_t rows, before, count, after;
  const real *x;
  int64_t xStride, step;
  real *y;
  int64_t yStride;
} PaddedRows;

/* Cuts `n` neighbouring positions of some planes into chunks of `length`: element i of a plane of
 * x, at position p = first + i, becomes element p % length of its plane's piece of chunk p /
 * length. The pieces of a chunk follow each other, plane by plane. */
typedef struct Chunks {
  int64_t planes, n, first;
  const real *x;
  int64_t xStride; /* from one plane to the next */
  int64_t length;
  real *y;
  int64_t yStride; /* from one chunk to the next */
} Chunks;

/* For each row: y[i] = start + the sum over the taps of factors[t] * x[offsets[t] + i]. Up to a
 * vector's worth of elements is read past each row of x. */
typedef struct ShiftedSums {
  int64_t rows, n, taps;
  const int64_t *offsets;
  const real *factors;
  real start;
  const real *x;
  int64_t xStride;
  real *y;
  int64_t yStride;
} ShiftedSums;

typedef struct SimdShifts {
  int64_t tilePlanes,
      tileTaps; /* planes and taps of a tile of dotLines; sumLines has the same planes */
  void (*pad)(const PaddedRows *rows);
  void (*cut)(const Chunks *chunks);
  void (*sumRows)(const ShiftedSums *sums);
  /* y = a[0], b[0], a[1], b[1], …, n in all */
  void (*interleave)(int64_t n, const real *a, const real *b, real *y);
  /* y[i] += the sum over the taps of factors[t] * x[offsets[t] + i]; works on whole vectors: up to
   * a vector of elements past n must be readable and writable, and is undefined afterwards */
  void (*add)(int64_t n, int64_t taps, const int64_t *offsets, const real *factors, const real *x,
              real *y);
  /* sums[t] += the sum over all rows of x[offsets[t] + i] * y[i] */
  void (*dot)(const Shifted *of, int64_t taps, const int64_t *offsets, double *sums);
  void (*dotLines)(const LineDots *of);
  void (*sumLines)(const LineSums *of);
  /* sums[i] = the sum of the lanes of vector i */
  void (*addLanes)(int64_t n, const real *vectors, real *sums);
} SimdShifts;

#endif

/* Discrete Fourier transforms of tiles of 16x16 elements, and of lines of 16, and back, with a lane
 * for each plane; and those of 16 frames, with a lane for each of their reals. */
#ifndef THNN_SIMD_FOURIER_H
#define THNN_SIMD_FOURIER_H

#include <stdbool.h>
#include <stdint.h>

enum {
  THNN_FOURIER_SIDE = 16, /* elements of a line, and rows and columns of a tile */
  /* Products of reals that two lines take: one for each coefficient that is real, three for each of
   * the others, of which half are the conjugates of the rest. */
  THNN_FOURIER_LINE_COEFFICIENTS = 2 + 3 * (THNN_FOURIER_SIDE - 2) / 2
};

/* The place of a tile, or of a line as a tile with one row, in a vector of planes. */
typedef struct FourierTile {
  int64_t row, column;   /* its first element, which can be outside of the plane */
  int64_t height, width; /* size of a plane */
  int64_t rows, columns; /* of the tile: elements beyond count as 0, results beyond are dropped */
  int64_t step;          /* reals from one plane to the next */
  int64_t planes;        /* from 1 to a vector's lanes */
} FourierTile;

/* Every nth row and column of a plane, where n is a step, as a tile of as many. */
typedef struct FourierSlice {
  int64_t row, column;         /* the first element in the plane; it can be outside */
  int64_t rowStep, columnStep; /* from one element to the next */
  int64_t height, width;       /* size of the plane */
  int64_t rows, columns;       /* of the tile */
} FourierSlice;

typedef struct SimdTransforms {
  int coefficients; /* products of reals that two tiles take */
  int64_t lines;    /* reals of `lines` below, which is scratch */
  /* The factors of these products from a tile's elements, which are 0 outside of the plane, or from
   * its taps: of plane c, number k goes to y[k * apart + c]. Whole vectors are written. Sums of
   * products are those of results of the correlation with the taps or, with `flipped`, with the
   * flipped taps. */
  void (*elements)(const FourierTile *of, const real *planes, real *lines, int64_t apart, real *y);
  void (*taps)(const FourierTile *of, bool flipped, const real *planes, real *lines, int64_t apart,
               real *y);
  /* The results of a tile inside the plane: bias[c] + the transform back of x[k * apart + c], from
   * row `firstRow` and column `firstColumn` of it on. Returns whether all of them are finite. */
  bool (*results)(const FourierTile *of, int64_t firstRow, int64_t firstColumn, const real *x,
                  int64_t apart, const real *bias, real *lines, real *planes);
} SimdTransforms;

typedef struct SimdFourier {
  SimdTransforms tile, line;
  /* Copies a slice to a tile, with 0 for what is outside of the plane; and to the plane, without what
   * is outside, `count` slices of which each begins a column after the one before, from tiles of
   * THNN_FOURIER_SIDE rows each. Rows of a tile have THNN_FOURIER_SIDE reals, and all of them are
   * written. */
  void (*collect)(const FourierSlice *of, const real *plane, real *tile);
  void (*spread)(const FourierSlice *of, int count, const real *tiles, real *plane);
  /* Along frames of n reals, with number k of the coefficients at y[k * step], in whole vectors: the
   * transforms of 16 frames, and of up to 16 taps of n reals each. */
  void (*frames)(int64_t n, const real *const *x, int64_t step, real *y);
  void (*frameTaps)(int64_t n, int count, const real *const *x, int64_t step, real *y);
  /* n reals of the first `results` result frames of the correlation with the taps, which are yStep
   * apart: start + the transform back of sums of products; start may be NULL. Returns whether all
   * of them are finite. */
  bool (*frameResults)(int64_t n, const real *x, int64_t step, const real *start, int results,
                       int64_t yStep, real *y);
} SimdFourier;

#endif

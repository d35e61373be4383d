/* Transforms of tiles to Winograd's coefficients and back. */
#ifndef THNN_SIMD_WINOGRAD_H
#define THNN_SIMD_WINOGRAD_H

#include <stdbool.h>
#include <stdint.h>

/* A row of tiles for Winograd's algorithms. A tile is side x side results of a correlation with
 * taps x taps and sees (side + taps - 1)^2 elements, which overlap its neighbours' by taps - 1.
 * With dilation, the elements and results of a tile are a step apart: columnStep tiles, a group,
 * begin in neighbouring columns, and the next group begins `side` steps after this one. With
 * `alternate`, only the first tile of each group of a dilation by 2 exists: tiles are side by side
 * in every second row and column. rowStep is 2 then, and columnStep 1. */
typedef struct TileRow {
  int64_t tiles;               /* up to THNN_MOST_TILES */
  int64_t height, width;       /* size of the plane that is read or written */
  int64_t row, column;         /* place of the first tile's first element in the plane; can be
                                * outside */
  int64_t rowStep, columnStep; /* the dilation; columnStep is up to THNN_MOST_TILES */
  int64_t place;               /* number of the first tile in its group, from 0 */
  int64_t ahead;               /* prefetch distance in elements */
  bool alternate;
} TileRow;

enum { THNN_MOST_TILES = 64 /* most tiles of a row that are transformed at a time */ };

/* Coefficient k of tile or filter i of a transform is at [k * step + i]. Whole vectors are written:
 * up to a vector of elements past the last tile is overwritten. */
typedef struct SimdTiles {
  int side, taps;
  int coefficients; /* coefficients of a tile, and of taps x taps weights */
  /* The transform of the elements that the tiles see, which are 0 outside of the plane. `lines`
   * keeps what the tiles below share with them; the rest of it is scratch. `below` says that the
   * previous call was for the row of tiles above and had at least as many tiles. */
  void (*source)(const TileRow *of, const real *plane, bool below, real *lines, int64_t step,
                 real *y);
  int64_t lines; /* reals in `lines` */
  /* The transforms of `times` vectors of filters, [time][lane], from x[time][tap][lane]; `flipped`
   * reverses the taps. */
  void (*weights)(int64_t times, bool flipped, const real *x, int64_t step, real *y);
  /* The results of the tiles inside the plane: bias + the transform of sums of products. `lines`
   * is scratch. Returns whether all of them are finite. */
  bool (*result)(const TileRow *of, const real *x, int64_t step, real bias, real *lines,
                 real *plane);
  /* The transforms of the gradients of the tiles' results, for a vector of planes, from the columns
   * that the tiles cover: x[row of the tiles][column][lane]. Coefficient k of a tile goes to
   * y[k * step + tile * tileStep]. Adds the gradients to `sums`. */
  void (*gradients)(const TileRow *of, int64_t columns, const real *x, int64_t step,
                    int64_t tileStep, real *y, real *sums);
  /* y[filter][tap][lane], the gradients of taps x taps weights, from sums of products of those
   * coefficients and the elements', x[coefficient * step + filter * lanes + lane]. Returns whether
   * all are finite. */
  bool (*toTaps)(int64_t filters, int64_t lanes, const real *x, int64_t step, real *y);
} SimdTiles;

typedef struct SimdWinograd {
  SimdTiles two, four;           /* tiles of 2x2 and of 4x4 results of 3x3 taps */
  SimdTiles twoOfFive;           /* tiles of 2x2 results of 5x5 taps */
  SimdTiles twoOfTwo, fourOfTwo; /* tiles of 2x2 and of 4x4 results of 2x2 taps */
  /* F(2, 3) along frames of n reals, with coefficient k at y[k * step]: the transforms of the four
   * frames that two results see, and of three weights of n reals each. */
  void (*frames)(int64_t n, const real *const *x, int64_t step, real *y);
  void (*frameWeights)(int64_t n, const real *const *x, int64_t step, real *y);
  /* n reals of one or two consecutive result frames, which are yStep apart: start + the transform
   * of sums of products; start may be NULL. Returns whether all of them are finite. */
  bool (*frameResults)(int64_t n, const real *x, int64_t step, const real *start, int results,
                       int64_t yStep, real *y);
} SimdWinograd;

#endif

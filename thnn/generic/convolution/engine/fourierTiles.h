/* Tiles of 16x16 elements for the algorithms that multiply Fourier transforms: a tile sees as many
 * results as are whole correlations of its elements with the taps, and overlaps its neighbours by
 * the others. Where the taps of a slice, which without strides is a plane, are in a row, the tiles are
 * lines of 16 elements.
 *
 * With strides, positions see slices of each image plane. Element m of slice r is in row, or column,
 * stride * m + r - pad, and meets every stride-th tap from number r on. Transposed, the map has such
 * slices: result n of slice r, the sum over its taps of element n - tap, is in row, or column,
 * stride * n + r - pad, where pad is that of the convolution of which this is the transposed one. */
#ifndef THNN_CONVOLUTION_FOURIER_TILES_H
#define THNN_CONVOLUTION_FOURIER_TILES_H

#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/panels.h"
#include "generic/convolution/engine/winogradTiles.h"

/* The tiles that cover the results. Arrays have a number for rows and one for columns. */
typedef struct FourierGrid {
  THNNConvolution g;
  const SimdTransforms *transforms;
  int64_t slices;   /* of each plane of the image or, transposed, of the map; without strides 1 */
  int64_t taps[2];  /* of a slice */
  int64_t pad[2];   /* of the planes that have slices */
  int64_t side[2];  /* results of a tile */
  int64_t first[2]; /* number of the first tile's first result */
  int64_t tiles[2];
} FourierGrid;

/* Scratch of the transforms. */
typedef struct FourierRoom {
  real *lines;
  real *tiles; /* of a vector of slices */
} FourierRoom;

FourierGrid THNN_(fourierTiles_grid)(const THNNConvolution *g);
FourierRoom THNN_(fourierTiles_takeRoom)(const FourierGrid *grid, Scratch *scratch);

/* Whether the algorithms apply. */
bool THNN_(fourierTiles_apply)(const AlgorithmPlan *plan);

/* These transform a vector of planes, or of slices where the planes have slices, from number `slice`
 * on; their coefficients are `apart` from each other. A tile has its number among those of all
 * samples. */

/* What a tile sees of the image. */
void THNN_(fourierTiles_elements)(const FourierGrid *grid, int64_t tile, int64_t slice,
                                  const real *image, FourierRoom room, int64_t apart, real *y);

/* The taps that a slice of the image has in slices of the map. */
void THNN_(fourierTiles_taps)(const FourierGrid *grid, int64_t imageSlice, int64_t slice,
                              const real *weight, FourierRoom room, int64_t apart, real *y);

/* The transform back of a tile of the map, to which a bias is added for each lane. Returns whether
 * all results are finite. */
bool THNN_(fourierTiles_results)(const FourierGrid *grid, int64_t tile, int64_t slice,
                                 const real *x, int64_t apart, const real *bias, FourierRoom room,
                                 real *map);

/* A tile of the map's gradient, in the place of the taps. */
void THNN_(fourierTiles_gradients)(const FourierGrid *grid, int64_t tile, int64_t slice,
                                   const real *gradMap, FourierRoom room, int64_t apart, real *y);

/* Adds the transform back of the gradients of the taps that a slice of the image has in planes of the
 * map, times `scale`, to those of the weight. `zeros` is a vector of them. */
void THNN_(fourierTiles_addTaps)(const FourierGrid *grid, int64_t imageSlice, int64_t slice,
                                 const real *x, int64_t apart, const real *zeros, real scale,
                                 FourierRoom room, real *gradWeight);

/* Tiles of all samples. */
static inline int64_t fourierTiles(const FourierGrid *grid)
{
  return grid->g.batch * grid->tiles[0] * grid->tiles[1];
}

/* Whether tiles are lines. */
static inline bool hasLines(const FourierGrid *grid)
{
  return grid->transforms == &THNN_(simd).fourier.line;
}

/* What an operand counts for that has slices, or has none: copying them takes about as long as
 * transforming them. */
static inline double timesOfSlices(const FourierGrid *grid, bool has)
{
  return grid->slices > 1 && has ? 2 : 1;
}

/* The slices of all planes, of which a plane's follow each other; without slices, the planes. */
static inline int64_t imageSlices(const FourierGrid *grid)
{
  return grid->g.inputPlanes * (grid->g.transposed ? 1 : grid->slices);
}

static inline int64_t mapSlices(const FourierGrid *grid)
{
  return grid->g.outputPlanes * (grid->g.transposed ? grid->slices : 1);
}

#endif

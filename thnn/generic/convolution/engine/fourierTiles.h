/* Tiles of 16x16 elements for the algorithms that multiply Fourier transforms: a tile sees as many
 * results as are whole correlations of its elements with the taps, and overlaps its neighbours by
 * the others. Where the taps are in a row, the tiles are lines of 16 elements. */
#ifndef THNN_CONVOLUTION_FOURIER_TILES_H
#define THNN_CONVOLUTION_FOURIER_TILES_H

#include "generic/convolution/engine/offsets.h"
#include "generic/convolution/engine/panels.h"
#include "generic/convolution/engine/winogradTiles.h"

/* The tiles that cover the positions of a map. */
typedef struct FourierGrid {
  const SimdTransforms *transforms;
  int64_t side[2];       /* results of a tile along rows and columns */
  int64_t rows, columns; /* of tiles */
} FourierGrid;

static inline FourierGrid fourierGrid(const THNNConvolution *g)
{
  const bool lines = g->kernel[1] == 1;
  FourierGrid grid = {.transforms = lines ? &THNN_(simd).fourier.line : &THNN_(simd).fourier.tile};
  grid.side[0] = lines ? 1 : THNN_FOURIER_SIDE + 1 - g->kernel[1];
  grid.side[1] = THNN_FOURIER_SIDE + 1 - g->kernel[2];
  grid.rows = divideUp(g->output[1], grid.side[0]);
  grid.columns = divideUp(g->output[2], grid.side[1]);
  return grid;
}

static inline int64_t fourierTiles(const THNNConvolution *g, const FourierGrid *grid)
{
  return g->batch * grid->rows * grid->columns;
}

/* Whether tiles are lines. */
static inline bool hasLines(const FourierGrid *grid)
{
  return grid->transforms == &THNN_(simd).fourier.line;
}

/* Whether there may be so few products for each result as to be worth the transforms. With up to 3x3
 * taps, Winograd's tiles of 4x4 need about as few, with a tenth of the numbers for each filter. Lines
 * need 23 for 15 results of two taps, which is hardly less than the definition's 30. */
static inline bool mayGain(const AlgorithmPlan *plan)
{
  enum { FEWEST_PLANES = 3, FEW_TAPS = 3 };
  const THNNConvolution *g = &plan->geometry;
  if (minimum(g->inputPlanes, g->outputPlanes) < FEWEST_PLANES)
    return false;
  if (g->kernel[1] == 1)
    return g->kernel[2] >= FEW_TAPS;
  return maximum(g->kernel[1], g->kernel[2]) > FEW_TAPS ||
         THNN_State_accuracy(plan->state) == THNN_ACCURACY_HIGH;
}

/* Whether the algorithm applies: to planes without a depth, with stride 1, whose taps leave a tile
 * results. */
static inline bool fourierApplies(const AlgorithmPlan *plan)
{
  enum { MOST_TAPS = THNN_FOURIER_SIDE - 2 };
  const THNNConvolution *g = &plan->geometry;
  bool applies = g->kernel[0] == 1 && g->input[0] == 1 && g->output[0] == 1 && g->pad[0] == 0;
  for (int i = 1; i < 3; i++)
    applies = applies && g->stride[i] == 1 && g->dilation[i] == 1 && g->kernel[i] <= MOST_TAPS;
  return applies && g->stride[0] == 1 && (plan->asked || mayGain(plan));
}

/* The tile number `index` among those of all samples, for planes from number `plane` on: where its
 * elements are in the image, and where its results are in the map. */
static inline FourierTile elementsTile(const THNNConvolution *g, const FourierGrid *grid,
                                       int64_t index, int64_t plane)
{
  const int64_t column = index % grid->columns, row = index / grid->columns % grid->rows;
  return (FourierTile){.row = row * grid->side[0] - g->pad[1],
                       .column = column * grid->side[1] - g->pad[2],
                       .height = g->input[1],
                       .width = g->input[2],
                       .rows = THNN_FOURIER_SIDE,
                       .columns = THNN_FOURIER_SIDE,
                       .step = THNN_convolutionImagePositions(g),
                       .planes = minimum(g->inputPlanes - plane, vectorLanes())};
}

static inline FourierTile resultsTile(const THNNConvolution *g, const FourierGrid *grid,
                                      int64_t index, int64_t plane)
{
  const int64_t column = index % grid->columns, row = index / grid->columns % grid->rows;
  return (FourierTile){.row = row * grid->side[0],
                       .column = column * grid->side[1],
                       .height = g->output[1],
                       .width = g->output[2],
                       .rows = grid->side[0],
                       .columns = grid->side[1],
                       .step = THNN_convolutionMapPositions(g),
                       .planes = minimum(g->outputPlanes - plane, vectorLanes())};
}

/* A filter's taps, as a tile: those of a vector of `planes` filters, which are `step` apart. */
static inline FourierTile filterTile(const THNNConvolution *g, int64_t step, int64_t planes)
{
  return (FourierTile){.height = g->kernel[1],
                       .width = g->kernel[2],
                       .rows = g->kernel[1],
                       .columns = g->kernel[2],
                       .step = step,
                       .planes = planes};
}

static inline int64_t sampleOfTile(const FourierGrid *grid, int64_t index)
{
  return index / (grid->rows * grid->columns);
}

#endif

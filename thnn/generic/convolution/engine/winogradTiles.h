/* Tiles of 2x2 or 4x4 positions for Winograd's algorithms, and the coefficients that the elements
 * they see are transformed to. If there are taps in depth, a position sees a slice of each image
 * plane through each of them.
 *
 * With a stride of 2 and 2k x 2k taps, positions see four slices of each image plane through k x k
 * taps each: the elements in every second row and column, beginning with the first or the second
 * one. Transposed, the map has such slices, the phases, and each of them is a map of stride 1 with
 * k x k of the taps. Where 2k - 1 taps are in a row or column, one more is 0: past the last one, or
 * before the first. */
#ifndef THNN_CONVOLUTION_WINOGRAD_TILES_H
#define THNN_CONVOLUTION_WINOGRAD_TILES_H

#include "generic/convolution/coefficients.h"
#include "generic/convolution/engine/algorithm.h"

/* Most terms of a sum over planes or slices: errors of tiles of 4x4 results, which grow with them, are
 * nearly half of those with 256. */
enum { MOST_TERMS = 96 };

/* The tiles that cover the positions of a slice. Dilated taps see one residue class of its rows and
 * columns. The rows of each class have tiles of their own, which are side by side as TileRow
 * says. */
typedef struct TileGrid {
  const SimdTiles *tiles; /* their size and transforms */
  int64_t residues;
  int64_t rows, columns; /* rows and columns of tiles in a residue class of rows */
} TileGrid;

/* Tiles side by side in one residue class of the rows of a slice. */
typedef struct Segment {
  int64_t sample, depth;
  int64_t row, column; /* the first tile's first position in the slice */
  int64_t place;       /* the first tile's place, as in TileRow */
  int64_t tiles;
  bool below; /* the previous segment is directly above this one */
} Segment;

/* Plan a row of the table of algorithms, for its tiles and with its costs. */
bool THNN_(winograd_planTiles)(AlgorithmPlan *plan, const SimdTiles *tiles, const double *costs);
bool THNN_(winogradWeight_planTiles)(AlgorithmPlan *plan, const SimdTiles *tiles,
                                     const double *costs);

/* Whether all sums of products of transforms will certainly be finite, for a weight gradient. */
bool THNN_(winogradWeight_staysFinite)(const THNNConvolution *g, const real *image, const real *map,
                                       int threads);

/* These compute with tiles of any kind. */
AlgorithmRunner THNN_(winograd_runConvolution);
AlgorithmKeeper THNN_(winograd_keepWeights);
AlgorithmRunner THNN_(winogradWeight_runConvolution);

/* Number of taps of a filter. */
static inline int64_t filterOf(const SimdTiles *tiles)
{
  return (int64_t)tiles->taps * tiles->taps;
}

/* Whether the stride is 2, with taps for four slices or phases. */
static inline bool hasPhases(const THNNConvolution *geometry, int taps)
{
  bool all = geometry->kernel[0] == 1;
  for (int i = 1; i < 3; i++)
    all = all && geometry->stride[i] == 2 && geometry->kernel[i] > 2 &&
          divideUp(geometry->kernel[i], 2) == taps && geometry->dilation[i] == 1;
  return all;
}

/* Whether the taps are those of the tiles, with stride 1. */
static inline bool hasTaps(const THNNConvolution *geometry, int taps)
{
  bool all = true;
  for (int i = 1; i < 3; i++)
    all = all && geometry->stride[i] == 1 && geometry->kernel[i] == taps &&
          geometry->dilation[i] <= THNN_MOST_TILES;
  return all;
}

/* Whether either is so. */
static inline bool takesTaps(const THNNConvolution *geometry, int taps)
{
  return hasTaps(geometry, taps) || hasPhases(geometry, taps);
}

/* Whether the algorithm applies to a geometry whose taps it can compute with. With few planes the
 * transforms take more time than the products save. With more than four points along a line, errors
 * are several times those of the other algorithms. */
static inline bool winogradApplies(const AlgorithmPlan *plan, const SimdTiles *tiles)
{
  enum { FEWEST_PLANES = 16, MOST_EXACT = 16 };
  const THNNConvolution *geometry = &plan->geometry;
  return geometry->stride[0] == 1 &&
         (tiles->coefficients <= MOST_EXACT ||
          THNN_State_accuracy(plan->state) == THNN_ACCURACY_STANDARD) &&
         (plan->asked || minimum(geometry->inputPlanes, geometry->outputPlanes) >= FEWEST_PLANES);
}

static inline TileGrid tileGrid(const THNNConvolution *geometry, const SimdTiles *tiles)
{
  const int64_t *dilation = geometry->dilation, *size = geometry->output;
  const int64_t side = tiles->side;
  return (TileGrid){.tiles = tiles,
                    .residues = minimum(dilation[1], size[1]),
                    .rows = divideUp(size[1], side * dilation[1]),
                    .columns = dilation[2] * divideUp(size[2], side * dilation[2])};
}

/* The number of pieces in which the elements or results of a row of tiles are moved to where they
 * are computed, for one plane. Dilation by 2 costs nothing for tiles of 2x2, since a vector's lanes
 * are in pairs. */
static inline double movedRows(const TileGrid *grid, int64_t dilation)
{
  const int64_t free = grid->tiles->side == 2 ? 2 : 1;
  return dilation > free ? (double)divideUp(grid->columns, dilation) : 0;
}

/* The segment that begins with tile number `column` of row `row` of a residue class, without its
 * length, which the caller sets. `slice` is the number of the slice in the batch. */
static inline Segment segmentAt(const THNNConvolution *g, const TileGrid *grid, int64_t slice,
                                int64_t residue, int64_t row, int64_t column)
{
  const int64_t side = grid->tiles->side;
  const int64_t *dilation = g->dilation;
  return (Segment){.sample = slice / g->output[0],
                   .depth = slice % g->output[0],
                   .row = residue + row * side * dilation[1],
                   .column = column + column / dilation[2] * dilation[2] * (side - 1),
                   .place = column % dilation[2]};
}

enum { PHASES = 4 };

/* Whether the tap that is 0 in dimension i is the one before the first, not the one past the last:
 * in transposed layers where all phases see the same elements then, and only then. */
static inline bool beginsWithZero(const THNNConvolution *g, int i)
{
  return g->transposed && g->kernel[i] % 2 != 0 && g->pad[i] % 2 != 0;
}

/* At a coefficient that is the tap at one end alone, the weights of slices or phases whose tap there
 * is 0 are 0: in every second row of them, or column. This says which need no products. */
typedef enum LeftOut { NONE, COLUMNS, ROWS, ROWS_AND_COLUMNS, LEFT_OUT_SETS } LeftOut;

/* Whether a row or column of coefficients, of `seen`, is the tap alone that is 0 in dimension i.
 * Transposed, the taps are met in the reverse order. */
static inline bool isZeroAlone(const THNNConvolution *g, int i, int64_t seen, int64_t place)
{
  const bool atBegin = g->transposed && !beginsWithZero(g, i);
  return g->kernel[i] % 2 != 0 && place == (atBegin ? 0 : seen - 1);
}

static inline LeftOut leftOutAt(const THNNConvolution *g, const SimdTiles *tiles,
                                int64_t coefficient)
{
  const int64_t seen = tiles->side + tiles->taps - 1;
  const bool rows = isZeroAlone(g, 1, seen, coefficient / seen);
  const bool columns = isZeroAlone(g, 2, seen, coefficient % seen);
  return g->stride[1] == 2 ? (LeftOut)(rows * ROWS + columns * COLUMNS) : NONE;
}

/* Whether a set has slice or phase number `number` of a plane. */
static inline bool leavesOut(const THNNConvolution *g, LeftOut set, int64_t number)
{
  return (set & ROWS && number / 2 != beginsWithZero(g, 1)) ||
         (set & COLUMNS && number % 2 != beginsWithZero(g, 2));
}

/* How many products remain of those with all coefficients. */
static inline double shareOfProducts(const THNNConvolution *g, const SimdTiles *tiles)
{
  int64_t remaining = 0;
  for (int64_t i = 0; i < tiles->coefficients; i++)
    for (int64_t number = 0; number < PHASES; number++)
      remaining += !leavesOut(g, leftOutAt(g, tiles, i), number);
  return (double)remaining / (double)(PHASES * tiles->coefficients);
}

/* The slices that a position sees of an image plane. */
static inline int64_t slicesOf(const THNNConvolution *g)
{
  return g->stride[1] == 2 ? PHASES : g->kernel[0];
}

/* The place of a tap of slice or phase number `number` among those of a filter with `taps` x `taps`
 * of them in each; -1 for a tap that is 0. */
static inline int64_t placeOfTap(const THNNConvolution *g, int64_t number, int64_t taps,
                                 int64_t tap)
{
  const int64_t row = 2 * (tap / taps) + number / 2 - beginsWithZero(g, 1);
  const int64_t column = 2 * (tap % taps) + number % 2 - beginsWithZero(g, 2);
  const bool inside = row >= 0 && row < g->kernel[1] && column >= 0 && column < g->kernel[2];
  return inside ? row * g->kernel[2] + column : -1;
}

/* Transforms slice number `slice` of the image slices that the tiles of a segment see. The slices
 * of a plane are in the order of the weight's taps in depth, or of their first elements. */
static inline void transformSlice(const THNNConvolution *g, const SimdTiles *tiles,
                                  const Segment *segment, int64_t slice, const real *image,
                                  real *lines, int64_t step, real *y)
{
  /* Prefetch distance, in slices; the lines of a plane are too short for the processor to prefetch
   * them by itself. */
  enum { AHEAD = 2 };
  const int64_t stride = g->stride[1];
  const int64_t slices = slicesOf(g), number = slice % slices;
  const int64_t positions = THNN_convolutionImagePositions(g);
  const int64_t plane = slice / slices;
  const int64_t tap = stride == 2 ? 0 : g->transposed ? slices - 1 - number : number;
  const int64_t phase = stride == 2 ? number : 0;
  const int64_t depth = segment->depth + tap * g->dilation[0] - g->pad[0];
  if (depth < 0 || depth >= g->input[0]) {
    for (int64_t coefficient = 0; coefficient < tiles->coefficients; coefficient++)
      THNN_(simd).pointwise.fill(segment->tiles, 0, y + coefficient * step);
    return;
  }
  const TileRow row = {.tiles = segment->tiles,
                       .height = g->input[1],
                       .width = g->input[2],
                       .row = segment->row * stride + phase / 2 - g->pad[1],
                       .column = segment->column * stride + phase % 2 - g->pad[2],
                       .rowStep = g->dilation[1] * stride,
                       .columnStep = g->dilation[2],
                       .place = segment->place,
                       .ahead = divideUp(AHEAD, slices) * positions,
                       .alternate = stride == 2};
  const real *sample = image + segment->sample * THNN_convolutionImageSample(g);
  tiles->source(&row, sample + plane * positions + depth * g->input[1] * g->input[2],
                segment->below, lines, step, y);
}

#endif

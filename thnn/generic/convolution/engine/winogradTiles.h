/* Tiles of 2x2 positions for Winograd's algorithms with 3x3 taps and stride 1, and the coefficients
 * that the elements they see are transformed to. If there are taps in depth, a position sees a
 * slice of each source plane through each of them. */
#ifndef THNN_GENERIC_WINOGRAD_TILES_H
#define THNN_GENERIC_WINOGRAD_TILES_H

#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"

enum {
  SIDE = 2, /* positions of a tile along and across */
  TAPS = 3,
  FILTER = TAPS * TAPS,
  NUMBERS = THNN_TILE_NUMBERS
};

/* The tiles that cover the positions of a slice. Dilated taps see one residue class of its rows and
 * columns: the rows of one class make a phase, whose tiles are side by side as THNNFloatTileRow
 * says. */
typedef struct TileGrid {
  int64_t phases;
  int64_t rows, columns; /* rows and columns of tiles in a phase */
} TileGrid;

/* Tiles side by side in a phase of one slice. */
typedef struct Segment {
  int64_t sample, depth;
  int64_t row, column; /* the first tile's first position in the slice */
  int64_t place;       /* the first tile's place, as in THNNFloatTileRow */
  int64_t tiles;
  bool below; /* the previous segment is directly above this one */
} Segment;

static inline int64_t lanes(void)
{
  return THNN_(simd).products.lanes;
}

/* The distance from one coefficient to the next, of areas of `elements` elements: a cache line
 * more, since multiples of large powers of two would map to the same cache sets. */
static inline int64_t numberStep(int64_t elements)
{
  return elements + 64 / (int64_t)sizeof(real);
}

static inline bool winogradApplies(const THNNConvolution *geometry)
{
  bool applies = geometry->stride[0] == 1;
  for (int i = 1; i < 3; i++)
    applies = applies && geometry->kernel[i] == TAPS && geometry->stride[i] == 1 &&
              geometry->dilation[i] <= THNN_MOST_TILES;
  return applies;
}

static inline TileGrid tileGrid(const THNNConvolution *geometry, const Sides *sides)
{
  const int64_t *dilation = geometry->dilation, *size = sides->result;
  return (TileGrid){.phases = minimum(dilation[1], size[1]),
                    .rows = divideUp(size[1], SIDE * dilation[1]),
                    .columns = dilation[2] * divideUp(size[2], SIDE * dilation[2])};
}

/* The cost of moving the elements or results of a row of tiles to where they are computed, for one
 * plane. Dilation by 2 costs nothing, since a vector's lanes are in pairs. */
static inline double movingCost(const TileGrid *grid, int64_t dilation)
{
  return dilation > 2 ? 25 * (double)divideUp(grid->columns, dilation) : 0;
}

/* The segment that begins with tile number `column` of row `row` of a phase, without its length,
 * which the caller sets. `slice` is the number of the slice in the batch. */
static inline Segment segmentAt(const THNNConvolutionPlan *plan, const Sides *sides, int64_t slice,
                                int64_t phase, int64_t row, int64_t column)
{
  const int64_t *dilation = plan->geometry.dilation;
  return (Segment){.sample = slice / sides->result[0],
                   .depth = slice % sides->result[0],
                   .row = phase + row * SIDE * dilation[1],
                   .column = column + column / dilation[2] * dilation[2],
                   .place = column % dilation[2]};
}

/* Transforms slice number `slice` of those that the tiles of a segment see in `source`. */
static inline void transformSlice(const THNNConvolutionPlan *plan, const Sides *sides,
                                  const Segment *segment, int64_t slice, const real *source,
                                  real *lines, int64_t step, real *to)
{
  /* Prefetch distance, in slices; the lines of a plane are too short for the processor to prefetch
   * them by itself. */
  enum { AHEAD = 2 };
  const THNNConvolution *geometry = &plan->geometry;
  const bool image = plan->part != THNN_CONVOLUTION_BACKWARD_DATA;
  int64_t pad[3];
  for (int i = 1; i < 3; i++)
    pad[i] = image ? geometry->pad[i] : geometry->dilation[i] * (TAPS - 1) - geometry->pad[i];
  const int64_t taps = geometry->kernel[0];
  const int64_t plane = segment->sample * sides->sourcePlanes + slice / taps;
  const int64_t start = slice % taps * geometry->dilation[0] - geometry->pad[0];
  const int64_t depth = image ? segment->depth + start : segment->depth - start;
  if (depth < 0 || depth >= sides->source[0]) {
    for (int64_t number = 0; number < NUMBERS; number++)
      THNN_(simd).pointwise.fill(segment->tiles, 0, to + number * step);
    return;
  }
  const THNN_(TileRow) row = {.tiles = segment->tiles,
                              .height = sides->source[1],
                              .width = sides->source[2],
                              .row = segment->row - pad[1],
                              .column = segment->column - pad[2],
                              .rowStep = geometry->dilation[1],
                              .columnStep = geometry->dilation[2],
                              .place = segment->place,
                              .ahead = divideUp(AHEAD, taps) * sides->sourcePositions};
  THNN_(simd).winograd.source(
      &row, source + plane * sides->sourcePositions + depth * sides->source[1] * sides->source[2],
      segment->below, lines, step, to);
}

#endif

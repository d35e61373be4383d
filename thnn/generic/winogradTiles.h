/* Tiles of 2x2 positions, as Winograd's algorithms for 3x3 taps and stride 1 take them, and the numbers that
 * the elements they see are transformed to. Where there are taps in depth, a position sees a slice of each
 * source plane through each of them. */
#ifndef THNN_GENERIC_WINOGRAD_TILES_H
#define THNN_GENERIC_WINOGRAD_TILES_H

#include "template.h"

#include "ConvolutionParts.h"

enum {
  SIDE = 2, /* positions of a tile along and across */
  TAPS = 3,
  FILTER = TAPS * TAPS,
  NUMBERS = THNN_TILE_NUMBERS
};

/* Tiles side by side in a slice of one sample. */
typedef struct Segment {
  int64_t sample, depth;
  int64_t row, column, tiles; /* counted in tiles */
  bool below;                 /* the segment before lies above this one */
} Segment;

static inline int64_t lanes(void)
{
  return THNN_(simd).products.lanes;
}

/* Numbers lie a cache line more than a whole area apart: multiples of large powers of two would meet
 * in the same places of a cache. */
static inline int64_t numberStep(int64_t elements)
{
  return elements + 64 / (int64_t)sizeof(real);
}

static inline bool winogradApplies(const THNNConvolution *geometry)
{
  bool applies = geometry->stride[0] == 1;
  for (int i = 1; i < 3; i++)
    applies = applies && geometry->kernel[i] == TAPS && geometry->stride[i] == 1 &&
              geometry->dilation[i] == 1;
  return applies;
}

/* Slice `slice` of those that the tiles of a segment see, in `source`. */
static inline void transformSlice(const THNNConvolutionPlan *plan, const Sides *sides,
                                  const Segment *segment, int64_t slice, const real *source,
                                  real *lines, int64_t step, real *to)
{
  /* From a slice that is transformed to the one that is fetched: lines of a plane are too short for the
   * processor to see where they lead. */
  enum { AHEAD = 2 };
  const THNNConvolution *geometry = &plan->geometry;
  const bool image = plan->part != THNN_CONVOLUTION_BACKWARD_DATA;
  const int64_t padRows = image ? geometry->pad[1] : TAPS - 1 - geometry->pad[1];
  const int64_t padColumns = image ? geometry->pad[2] : TAPS - 1 - geometry->pad[2];
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
                              .row = segment->row * SIDE - padRows,
                              .column = segment->column * SIDE - padColumns,
                              .ahead = divideUp(AHEAD, taps) * sides->sourcePositions};
  THNN_(simd).winograd.source(
      &row, source + plane * sides->sourcePositions + depth * sides->source[1] * sides->source[2],
      segment->below, lines, step, to);
}

#endif

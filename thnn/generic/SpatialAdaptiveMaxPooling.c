/* 2-D max pooling to a given output size, whatever the size of the input.
 *   input    [batch x] planes x height x width
 *   output   [batch x] planes x oheight x owidth
 *   indices  2 x [batch x] planes x oheight x owidth: row and column of the greatest element
 * Output row y is taken over the input rows from y*height/oheight, rounded down, up to
 * (y + 1)*height/oheight, rounded up; columns likewise. Row and column count from 1 where the region
 * begins; both are 0 where no element exceeds the lowest finite float. */
#include "regionMax.h"
#include "pooledIndices.h"

#include <string.h>

#ifdef THNN_ONCE
THNNAdaptivePooling THNN_SpatialAdaptiveMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                              THNNShape gradOutput,
                                                              THNNShape indices, int owidthPosition,
                                                              int owidth, int oheight)
{
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveAveragePooling_shapeCheck(
      function, input, gradOutput, owidthPosition, owidth, oheight);
  THNN_checkPlaces(function, input, 2);
  if (indices.nDimension != THNN_NOT_PRESENT)
    THNN_checkElements(function, indices, 2 * THNN_adaptiveElements(&pooling),
                       "a row and a column for each element of gradOutput");
  return pooling;
}
#endif

/* How many rows or columns the regions along a dimension have; bounds of that where there are very many
 * regions. Looking at each of 2^31 takes seconds, and mostly there is no memory for such an output. */
typedef struct Lengths {
  int64_t least, most;
} Lengths;

static Lengths regionLengths(int64_t input, int64_t output)
{
  enum { LOOKED_AT = 1 << 20 };
  if (output > LOOKED_AT)
    return (Lengths){0, THNN_mostAdaptiveMaxLength(input, output)};
  Lengths lengths = {input, 1};
  for (int64_t i = 0; i < output; i++) {
    const THNNRegion region = THNN_adaptiveMaxRegion(input, output, i);
    const int64_t length = region.end - region.begin;
    lengths.least = length < lengths.least ? length : lengths.least;
    lengths.most = length > lengths.most ? length : lengths.most;
  }
  return lengths;
}

void THNN_(SpatialAdaptiveMaxPooling_updateOutput)(THNNState *state, THTensor *input,
                                                   THTensor *output, THIndexTensor *indices,
                                                   int owidth, int oheight)
{
  const char *function = "SpatialAdaptiveMaxPooling_updateOutput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveMaxPooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, 5, owidth, oheight);
  int64_t size[5] = {2};
  const int nDimension = THNN_adaptiveOutputSize(&pooling, THNN_SHAPE(input, 2), size + 1);
  const int64_t outputElements = THNN_adaptiveElements(&pooling);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const Lengths columns = regionLengths(pooling.inputWidth, pooling.outputWidth);
  THNN_(RegionMax)
  work = {.planes = pooling.planes,
          .input = {1, pooling.inputHeight, pooling.inputWidth},
          .output = {1, pooling.outputHeight, pooling.outputWidth},
          .columns = columns.least == columns.most ? columns.most : 0,
          .start = -FLT_MAX};
  THNN_(prepareRegionMax)(&work, state,
                          regionLengths(pooling.inputHeight, pooling.outputHeight).most);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size + 1);
  const THNNBuffer *numbers = THNN_planOut(&plan, indices, 4, nDimension + 1, size);
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)work.threads * work.threadBytes);
  THNN_planAcquire(&plan);

  const int64_t height = pooling.outputHeight, width = pooling.outputWidth;
  const int64_t elements = pooling.inputHeight * pooling.inputWidth;
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t block = 0; block < work.blocks.count; block++) {
    char *mine = (char *)scratch->data + (size_t)THNN_threadIndex() * work.threadBytes;
    THNNRegion *regions = THNN_(rowRegions)(&work, mine);
    for (int64_t x = 0; x < width; x++)
      regions[x] = THNN_adaptiveMaxRegion(pooling.inputWidth, width, x);
    const int64_t first = block * work.blocks.length;
    THNNRow row = THNN_rowAt(first, 1, height);
    for (int64_t i = 0; i < THNN_blockLength(&work.blocks, block); i++, THNN_nextRow(&row)) {
      const THNNRegion y = THNN_adaptiveMaxRegion(pooling.inputHeight, height, row.y);
      const THNN_(Place) *place =
          THNN_(maxOfRegions)(&work, (const real *)in->data + row.plane * elements,
                              (THNNRegion){0, 1}, y, mine, (real *)out->data + (first + i) * width);
      int64_t *rowNumber = (int64_t *)numbers->data + (first + i) * width;
      THNN_(simd).pooling.numbersOfPlace(width, place, pooling.inputWidth, &regions->begin,
                                         rowNumber, rowNumber + outputElements);
    }
  }
  THNN_planRelease(&plan);
}

/* Where the regions of a run begin, and what lies below and to the right of that in the plane; of as
 * many planes as a run may have. */
static void keepCorners(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                        THNNIndexRoom *room)
{
  const THNNAdaptivePooling *pooling = pooled->context;
  const int64_t height = pooling->inputHeight, width = pooling->inputWidth;
  const int64_t count = run->rows * run->columns, all = count * THNN_mostAlikePlanes(pooled);
  int32_t *corner = room->kept[0], *down = room->kept[1], *right = room->kept[2];
  for (int64_t x = 0; x < run->columns; x++)
    right[x] =
        (int32_t)(width - THNN_adaptiveMaxBegin(width, pooling->outputWidth, run->first + x));
  for (int64_t y = 0, at = 0; y < run->rows; y++) {
    const int64_t top = THNN_adaptiveMaxBegin(height, pooling->outputHeight, run->row.y + y);
    for (int64_t x = 0; x < run->columns; x++, at++) {
      right[at] = right[x];
      down[at] = (int32_t)(height - top);
      corner[at] = (int32_t)(top * width + width - right[x]);
    }
  }
  for (int64_t at = count; at < all; at += count) {
    const int32_t before = (int32_t)(at / count * pooled->elements);
    memcpy(right + at, right, (size_t)count * sizeof *right);
    memcpy(down + at, down, (size_t)count * sizeof *down);
#pragma omp simd
    for (int64_t i = 0; i < count; i++)
      corner[at + i] = corner[i] + before;
  }
  room->keptRow = run->row.y;
  room->keptFirst = run->first;
}

static THNNCorners cornersOf(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                             THNNIndexRoom *room)
{
  if (room->keptRow != run->row.y || room->keptFirst != run->first)
    keepCorners(pooled, run, room);
  const THNNAdaptivePooling *pooling = pooled->context;
  return (THNNCorners){.n = THNN_indexCount(run),
                       .width = pooling->inputWidth,
                       .corner = room->kept[0],
                       .down = room->kept[1],
                       .right = room->kept[2]};
}

static int64_t checkNumbers(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                            THNNIndexRoom *room)
{
  const THNNCorners corners = cornersOf(pooled, run, room);
  const int64_t *row = run->index[0], *column = run->index[1];
  if (THNN_(simd).pooling.areInRegions(&corners, row, column))
    return corners.n;
  int64_t i = 0;
  while (row[i] >= TH_INDEX_BASE && row[i] - TH_INDEX_BASE < corners.down[i] &&
         column[i] >= TH_INDEX_BASE && column[i] - TH_INDEX_BASE < corners.right[i])
    i++;
  return i;
}

static void elementsOfNumbers(const THNNPooledIndices *pooled, const THNNIndexRun *run,
                              THNNIndexRoom *room)
{
  const THNNCorners corners = cornersOf(pooled, run, room);
  THNN_(simd).pooling.elementsOfRegions(&corners, run->index[0], run->index[1], room->nearElement);
}

void THNN_(SpatialAdaptiveMaxPooling_updateGradInput)(THNNState *state, THTensor *input,
                                                      THTensor *gradOutput, THTensor *gradInput,
                                                      THIndexTensor *indices)
{
  const char *function = "SpatialAdaptiveMaxPooling_updateGradInput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveMaxPooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 0, 0, 0);
  const THNNPooledIndices pooled = {.function = function,
                                    .state = state,
                                    .planes = pooling.planes,
                                    .slices = 1,
                                    .rows = pooling.outputHeight,
                                    .length = pooling.outputWidth,
                                    .elements = pooling.inputHeight * pooling.inputWidth,
                                    .near = true,
                                    .halves = true,
                                    .alike = true,
                                    .check = checkNumbers,
                                    .decode = elementsOfNumbers,
                                    .expected = "rows and columns, from 1, inside the input plane",
                                    .context = &pooling};

  THNN_(pooledUpdateGradInput)(&pooled, input, gradOutput, gradInput, indices, 5);
}

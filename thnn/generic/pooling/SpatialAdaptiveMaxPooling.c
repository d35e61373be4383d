/* 2-D max pooling to a given output size, whatever the size of the input.
 *   input    [batch x] planes x height x width
 *   output   [batch x] planes x oheight x owidth
 *   indices  2 x [batch x] planes x oheight x owidth: row and column of the greatest element
 * Output row y is taken over the input rows from y*height/oheight, rounded down, up to
 * (y + 1)*height/oheight, rounded up; columns likewise. Row and column count from 1 where the
 * region begins; both are 0 where no element exceeds the lowest finite float. */
#include "generic/pooling/checks.h"
#include "generic/pooling/indices.h"
#include "generic/pooling/maxOfRegions.h"
#include "generic/pooling/maxOfSmallPlanes.h"

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

/* The least and greatest length of the regions along a dimension, or bounds of these where there
 * are very many regions: visiting each of 2^31 takes seconds, and there is rarely memory for such
 * an output. */
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
    const THNNRange region = THNN_adaptiveMaxRegion(input, output, i);
    const int64_t length = region.end - region.begin;
    lengths.least = length < lengths.least ? length : lengths.least;
    lengths.most = length > lengths.most ? length : lengths.most;
  }
  return lengths;
}

/* Prepares pooling row by row. */
static void prepareRows(const THNNAdaptivePooling *pooling, const THNNState *state, Lengths rows,
                        Lengths columns, MaxOfRegions *work)
{
  *work = (MaxOfRegions){.planes = pooling->planes,
                         .inputWidth = pooling->inputWidth,
                         .outputHeight = pooling->outputHeight,
                         .outputWidth = pooling->outputWidth,
                         .regionRows = rows.most,
                         .columns = columns.least == columns.most ? columns.most : 0,
                         .start = -FLT_MAX};
  THNN_(maxOfRegions_plan)(work, state);
}

static void poolRows(const THNNAdaptivePooling *pooling, const MaxOfRegions *work,
                     const real *input, real *output, int64_t *numbers, char *scratch)
{
  const int64_t height = pooling->outputHeight, width = pooling->outputWidth;
  const int64_t elements = pooling->inputHeight * pooling->inputWidth;
  const int64_t outputElements = THNN_adaptiveElements(pooling);
#pragma omp parallel for num_threads(work->threads) schedule(static)
  for (int64_t block = 0; block < work->blocks.count; block++) {
    char *mine = scratch + (size_t)THNN_threadIndex() * work->threadBytes;
    THNNRange *regions = THNN_(maxOfRegions_listRow)(work, mine);
    for (int64_t x = 0; x < width; x++)
      regions[x] = THNN_adaptiveMaxRegion(pooling->inputWidth, width, x);
    const int64_t first = block * work->blocks.length;
    THNNRow row = THNN_rowAt(first, 1, height);
    for (int64_t i = 0; i < THNN_blockLength(&work->blocks, block); i++, THNN_nextRow(&row)) {
      const THNNRange y = THNN_adaptiveMaxRegion(pooling->inputHeight, height, row.y);
      const Place *place = THNN_(maxOfRegions_run)(work, input + row.plane * elements, y, mine,
                                                   output + (first + i) * width);
      int64_t *rowNumber = numbers + (first + i) * width;
      THNN_(simd).indices.numbersOfPlace(width, place, pooling->inputWidth, &regions->begin,
                                         rowNumber, rowNumber + outputElements);
    }
  }
}

/* For small planes, the place of an element holds its row in the upper bits and its column in the
 * lower ones. */
enum { COLUMN_BITS = 16 };

static bool preparePlanes(const THNNAdaptivePooling *pooling, const THNNState *state, Lengths rows,
                          Lengths columns, MaxOfSmallPlanes *work)
{
  *work = (MaxOfSmallPlanes){.planes = pooling->planes,
                             .input = {1, pooling->inputHeight, pooling->inputWidth},
                             .output = {1, pooling->outputHeight, pooling->outputWidth},
                             .dilation = {1, 1, 1},
                             .numberStep = {1, 1, 1},
                             .placeStep = {0, 1 << COLUMN_BITS, 1},
                             .windowRows = rows.most,
                             .start = -FLT_MAX};
  return THNN_(maxOfSmallPlanes_plan)(work, state, rows.most * columns.most);
}

static void setWindows(const MaxOfSmallPlanes *work, char *scratch)
{
  for (int d = 0; d < 3; d++) {
    THNNTapSpan *windows = THNN_(maxOfSmallPlanes_list)(work, d, scratch);
    for (int64_t i = 0; i < work->output[d]; i++) {
      const THNNRange region = THNN_adaptiveMaxRegion(work->input[d], work->output[d], i);
      windows[i] =
          (THNNTapSpan){(int32_t)region.begin, (int32_t)(region.end - region.begin), TH_INDEX_BASE};
    }
  }
}

static void poolPlanes(const THNNAdaptivePooling *pooling, const MaxOfSmallPlanes *work,
                       const real *input, real *output, int64_t *numbers, char *scratch)
{
  const int64_t elements = pooling->inputHeight * pooling->inputWidth;
  const int64_t outputs = pooling->outputHeight * pooling->outputWidth;
  const int64_t outputElements = THNN_adaptiveElements(pooling);
#pragma omp parallel num_threads(work->threads)
  {
    char *mine = scratch + (size_t)THNN_threadIndex() * work->threadBytes;
    setWindows(work, mine);
#pragma omp for schedule(static)
    for (int64_t group = 0; group < work->groups.count; group++) {
      const int64_t first = group * work->groups.length;
      const int64_t planes = THNN_blockLength(&work->groups, group);
      const Place *places = THNN_(maxOfSmallPlanes_run)(work, planes, input + first * elements,
                                                        mine, output + first * outputs);
      int64_t *row = numbers + first * outputs, *column = row + outputElements;
      for (int64_t i = 0; i < planes * outputs; i++) {
        row[i] = places[i] >> COLUMN_BITS;
        column[i] = places[i] & ((1 << COLUMN_BITS) - 1);
      }
    }
  }
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

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const Lengths rows = regionLengths(pooling.inputHeight, pooling.outputHeight);
  const Lengths columns = regionLengths(pooling.inputWidth, pooling.outputWidth);
  MaxOfSmallPlanes planes;
  MaxOfRegions regions;
  const bool small = preparePlanes(&pooling, state, rows, columns, &planes);
  prepareRows(&pooling, state, rows, columns, &regions);
  const size_t bytes = small ? (size_t)planes.threads * planes.threadBytes
                             : (size_t)regions.threads * regions.threadBytes;
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size + 1);
  const THNNBuffer *numbers = THNN_planOut(&plan, indices, 4, nDimension + 1, size);
  const THNNBuffer *scratch = THNN_planScratch(&plan, bytes);
  THNN_planAcquire(&plan);
  if (small)
    poolPlanes(&pooling, &planes, in->data, out->data, numbers->data, scratch->data);
  else
    poolRows(&pooling, &regions, in->data, out->data, numbers->data, scratch->data);
  THNN_planRelease(&plan);
}

static int64_t elementOfNumbers(const THNNPooledIndices *pooled, const int64_t *position,
                                int64_t row, int64_t column)
{
  const THNNAdaptivePooling *pooling = pooled->context;
  const int64_t height = pooling->inputHeight, width = pooling->inputWidth;
  const int64_t top = THNN_adaptiveMaxBegin(height, pooling->outputHeight, position[1]);
  const int64_t left = THNN_adaptiveMaxBegin(width, pooling->outputWidth, position[2]);
  if (row < TH_INDEX_BASE || row - TH_INDEX_BASE >= height - top || column < TH_INDEX_BASE ||
      column - TH_INDEX_BASE >= width - left)
    return THNN_BAD_INDEX;
  return (top + row - TH_INDEX_BASE) * width + left + column - TH_INDEX_BASE;
}

/* Where regions begin, and how many rows below and columns to the right the plane has from
 * there. */
static THNNIndexWindow windowAt(const THNNPooledIndices *pooled, int dimension, int64_t position)
{
  const THNNAdaptivePooling *pooling = pooled->context;
  const int64_t height = pooling->inputHeight, width = pooling->inputWidth;
  if (dimension == 0)
    return (THNNIndexWindow){0};
  if (dimension == 1) {
    const int64_t top = THNN_adaptiveMaxBegin(height, pooling->outputHeight, position);
    return (THNNIndexWindow){top * width, {(uint32_t)(height - top), 0}};
  }
  const int64_t left = THNN_adaptiveMaxBegin(width, pooling->outputWidth, position);
  return (THNNIndexWindow){left, {0, (uint32_t)(width - left)}};
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
                                    .element = elementOfNumbers,
                                    .window = windowAt,
                                    .decode = THNN_(simd).indices.decodePlaces,
                                    .step = {0, pooling.inputWidth, 1},
                                    .near = true,
                                    .halves = true,
                                    .expected = "rows and columns, from 1, inside the input plane",
                                    .context = &pooling};

  THNN_(indices_updateGradInput)(&pooled, input, gradOutput, gradInput, indices, 5);
}

/* 2-D average pooling to a given output size, whatever the size of the input.
 *   input   [batch x] planes x height x width
 *   output  [batch x] planes x oheight x owidth
 * Output row y is taken over the input rows from y*height/oheight, rounded down, up to
 * (y + 1)*height/oheight, rounded up; columns likewise. */
#include "template.h"
#include "../THNNRegions.h"

#ifdef THNN_ONCE
THNNAdaptivePooling THNN_SpatialAdaptiveAveragePooling_shapeCheck(const char *function,
                                                                  THNNShape input,
                                                                  THNNShape gradOutput,
                                                                  int owidthPosition, int owidth,
                                                                  int oheight)
{
  THNN_checkDimensions(function, input, 3, 4, "[batch x] planes x height x width");
  THNN_elements(function, input);
  const int last = input.nDimension - 1;
  THNNAdaptivePooling pooling = {.planes = THNN_product(last - 1, input.size),
                                 .inputHeight = input.size[last - 1],
                                 .inputWidth = input.size[last],
                                 .outputHeight = oheight,
                                 .outputWidth = owidth};
  if (gradOutput.nDimension == THNN_NOT_PRESENT) {
    THNN_checkPositive(function, THNN_SCALAR(owidth, owidthPosition));
    THNN_checkPositive(function, THNN_SCALAR(oheight, owidthPosition + 1));
  } else {
    /* The output's sizes are gradOutput's; planes beyond the input's are left aside. */
    if (gradOutput.nDimension < input.nDimension)
      THNN_rejectShape(function, gradOutput, "a %dD tensor ([batch x] planes x oheight x owidth)",
                       input.nDimension);
    pooling.outputHeight = gradOutput.size[last - 1];
    pooling.outputWidth = gradOutput.size[last];
  }
  const int64_t size[] = {pooling.planes, pooling.outputHeight, pooling.outputWidth};
  const int64_t elements = THNN_elements(function, THNN_makeShape("output", 3, 3, size));
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkElements(function, gradOutput, elements, "planes of the input x oheight x owidth");
  return pooling;
}
#endif

/* Per thread: the rows of a region and their sum. */
typedef struct Work {
  THNNBlocks blocks;
  int threads;
  size_t sum, threadBytes;
} Work;

static Work workFor(const THNNState *state, int64_t rows, int64_t width, int64_t terms)
{
  Work work = {.threadBytes = 0};
  const int64_t cost = (terms + 4) * width;
  work.blocks = THNN_rowBlocks(rows, cost);
  work.threads = THNN_threads(state, work.blocks.count, (double)rows * (double)cost);
  THNN_reserve(&work.threadBytes, (size_t)terms * sizeof(real *));
  work.sum = THNN_reserve(&work.threadBytes, (size_t)width * sizeof(real));
  return work;
}

/* The regions of the columns, computed once. */
static void setRegions(const THNNAdaptivePooling *pooling, THNNRegion *columns)
{
  for (int64_t x = 0; x < pooling->outputWidth; x++)
    columns[x] = THNN_adaptiveRegion(pooling->inputWidth, pooling->outputWidth, x);
}

static void poolRow(const THNNAdaptivePooling *pooling, const Work *work, const THNNRegion *columns,
                    const real *plane, int64_t outputY, char *scratch, real *output)
{
  const real **rows = (const real **)scratch;
  real *sum = (real *)(scratch + work->sum);
  const THNNRegion y = THNN_adaptiveRegion(pooling->inputHeight, pooling->outputHeight, outputY);
  for (int64_t i = y.begin; i < y.end; i++)
    rows[i - y.begin] = plane + i * pooling->inputWidth;
  THNN_(simd).pooling.sumOfRows(pooling->inputWidth, y.end - y.begin, rows, sum);
  for (int64_t i = 0; i < pooling->outputWidth; i++) {
    const THNNRegion x = columns[i];
    real total;
    THNN_(simd).pooling.sumOfColumns(1, 1, x.end - x.begin, sum + x.begin, &total);
    output[i] = total / (real)((y.end - y.begin) * (x.end - x.begin));
  }
}

void THNN_(SpatialAdaptiveAveragePooling_updateOutput)(THNNState *state, THTensor *input,
                                                       THTensor *output, int owidth, int oheight)
{
  const char *function = "SpatialAdaptiveAveragePooling_updateOutput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveAveragePooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, owidth, oheight);
  int64_t size[4];
  const int nDimension = THNN_adaptiveOutputSize(&pooling, THNN_SHAPE(input, 2), size);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const Work work = workFor(state, pooling.planes * pooling.outputHeight, pooling.inputWidth,
                            pooling.inputHeight / pooling.outputHeight + 2);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *regions =
      THNN_planScratch(&plan, (size_t)pooling.outputWidth * sizeof(THNNRegion));
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)work.threads * work.threadBytes);
  THNN_planAcquire(&plan);

  setRegions(&pooling, regions->data);
  const int64_t elements = pooling.inputHeight * pooling.inputWidth;
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t block = 0; block < work.blocks.count; block++) {
    char *mine = (char *)scratch->data + (size_t)THNN_threadIndex() * work.threadBytes;
    const int64_t first = block * work.blocks.length;
    THNNRow row = THNN_rowAt(first, 1, pooling.outputHeight);
    for (int64_t i = 0; i < THNN_blockLength(&work.blocks, block); i++, THNN_nextRow(&row))
      poolRow(&pooling, &work, regions->data, (const real *)in->data + row.plane * elements, row.y,
              mine, (real *)out->data + (first + i) * pooling.outputWidth);
  }
  THNN_planRelease(&plan);
}

/* One row of gradInput: what the regions over it pass on, divided by their heights, and then each
 * column's share of that. */
static void spreadRow(const THNNAdaptivePooling *pooling, const Work *work,
                      const THNNRegion *columns, const real *outputPlane, int64_t inputY,
                      char *scratch, real *row)
{
  const int64_t width = pooling->outputWidth;
  real *sum = (real *)(scratch + work->sum);
  const THNNRegion over =
      THNN_adaptiveRegionsOver(pooling->inputHeight, pooling->outputHeight, inputY);
  THNN_(simd).pointwise.fill(width, 0, sum);
  for (int64_t i = over.begin; i < over.end; i++) {
    const THNNRegion y = THNN_adaptiveRegion(pooling->inputHeight, pooling->outputHeight, i);
    const real *from = outputPlane + i * width;
    for (int64_t x = 0; x < width; x++)
      sum[x] += from[x] / (real)(y.end - y.begin);
  }
  THNN_(simd).pointwise.fill(pooling->inputWidth, 0, row);
  for (int64_t i = 0; i < width; i++) {
    const THNNRegion x = columns[i];
    const real share = sum[i] / (real)(x.end - x.begin);
    for (int64_t at = x.begin; at < x.end; at++)
      row[at] += share;
  }
}

/* Whether an input row lies under the same regions as the row before it, which then is its like. */
static bool repeatsRow(const THNNAdaptivePooling *pooling, int64_t inputY)
{
  if (inputY == 0)
    return false;
  const int64_t input = pooling->inputHeight, output = pooling->outputHeight;
  const THNNRegion over = THNN_adaptiveRegionsOver(input, output, inputY);
  const THNNRegion before = THNN_adaptiveRegionsOver(input, output, inputY - 1);
  return over.begin == before.begin && over.end == before.end;
}

/* One region for the whole plane: all of gradInput is the same. */
static void spreadPlanes(const THNNAdaptivePooling *pooling, const THNNState *state,
                         const real *gradOutput, real *gradInput)
{
  const int64_t height = pooling->inputHeight, width = pooling->inputWidth;
  const THNNBlocks blocks = THNN_rowBlocks(pooling->planes, height * width);
  const double cost = (double)pooling->planes * (double)(height * width);
#pragma omp parallel for num_threads(THNN_threads(state, blocks.count, cost)) schedule(static)
  for (int64_t block = 0; block < blocks.count; block++)
    for (int64_t i = 0; i < THNN_blockLength(&blocks, block); i++) {
      const int64_t plane = block * blocks.length + i;
      const real share = gradOutput[plane] / (real)height / (real)width;
      THNN_(simd).pointwise.fill(height * width, share, gradInput + plane * height * width);
    }
}

void THNN_(SpatialAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input,
                                                          THTensor *gradOutput, THTensor *gradInput)
{
  const char *function = "SpatialAdaptiveAveragePooling_updateGradInput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveAveragePooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), 0, 0, 0);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const Work work = workFor(state, pooling.planes * pooling.inputHeight, pooling.outputWidth, 1);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *regions =
      THNN_planScratch(&plan, (size_t)pooling.outputWidth * sizeof(THNNRegion));
  const THNNBuffer *scratch = THNN_planScratch(&plan, (size_t)work.threads * work.threadBytes);
  THNN_planAcquire(&plan);

  if (pooling.outputHeight == 1 && pooling.outputWidth == 1) {
    spreadPlanes(&pooling, state, from->data, to->data);
    THNN_planRelease(&plan);
    return;
  }

  setRegions(&pooling, regions->data);
  const int64_t elements = pooling.outputHeight * pooling.outputWidth;
#pragma omp parallel for num_threads(work.threads) schedule(static)
  for (int64_t block = 0; block < work.blocks.count; block++) {
    char *mine = (char *)scratch->data + (size_t)THNN_threadIndex() * work.threadBytes;
    const int64_t first = block * work.blocks.length;
    THNNRow row = THNN_rowAt(first, 1, pooling.inputHeight);
    for (int64_t i = 0; i < THNN_blockLength(&work.blocks, block); i++, THNN_nextRow(&row)) {
      real *gradient = (real *)to->data + (first + i) * pooling.inputWidth;
      if (i > 0 && repeatsRow(&pooling, row.y))
        THNN_(simd).pointwise.copy(pooling.inputWidth, gradient - pooling.inputWidth, gradient);
      else
        spreadRow(&pooling, &work, regions->data, (const real *)from->data + row.plane * elements,
                  row.y, mine, gradient);
    }
  }
  THNN_planRelease(&plan);
}

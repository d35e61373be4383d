/* 2-D average pooling to a given output size, whatever the size of the input.
 *   input   [batch x] planes x height x width
 *   output  [batch x] planes x oheight x owidth
 * Output row y is taken over the input rows from y*height/oheight, rounded down, up to
 * (y + 1)*height/oheight, rounded up; columns likewise. */
#include "generic/pooling/checks.h"
#include "generic/pooling/windowSums.h"

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
    /* The output's sizes are gradOutput's; planes beyond the input's are ignored. */
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

static WindowSums sumsOf(const THNNState *state, const THNNAdaptivePooling *pooling, bool backward)
{
  const THNNRegionSums of = THNN_adaptiveRegionSums(pooling, backward);
  return THNN_(windowSums_plan)(state, &of);
}

static void pool(const WindowSums *sums, void *memory, const real *source, real *result)
{
  const THNNRegionSums *of = &sums->of;
  for (int d = 0; d < 3; d++) {
    const int64_t input = of->backward ? of->result[d] : of->source[d];
    const int64_t output = of->backward ? of->source[d] : of->result[d];
    THNNRange *spans = THNN_(windowSums_listSpans)(sums, memory, d);
    for (int64_t i = 0; i < of->result[d]; i++)
      spans[i] = of->backward ? THNN_adaptiveRegionsOver(input, output, i)
                              : THNN_adaptiveRegion(input, output, i);
    real *divisors = THNN_(windowSums_listDivisors)(sums, memory, d);
    for (int64_t i = 0; i < output; i++) {
      const THNNRange region = THNN_adaptiveRegion(input, output, i);
      divisors[i] = (real)(region.end - region.begin);
    }
  }
  THNN_(windowSums_run)(sums, memory, source, result);
}

/* A plane with a single region: all elements of its gradInput are equal. */
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
  const WindowSums sums = sumsOf(state, &pooling, false);
  const THNNBuffer *in = THNN_planIn(&plan, input, 2);
  const THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  const THNNBuffer *scratch = THNN_planScratch(&plan, sums.bytes);
  THNN_planAcquire(&plan);

  pool(&sums, scratch->data, in->data, out->data);
  THNN_planRelease(&plan);
}

void THNN_(SpatialAdaptiveAveragePooling_updateGradInput)(THNNState *state, THTensor *input,
                                                          THTensor *gradOutput, THTensor *gradInput)
{
  const char *function = "SpatialAdaptiveAveragePooling_updateGradInput";
  const THNNAdaptivePooling pooling = THNN_SpatialAdaptiveAveragePooling_shapeCheck(
      function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), 0, 0, 0);

  THNNPlan plan;
  THNN_planStart(&plan, function, state);
  const WindowSums sums = sumsOf(state, &pooling, true);
  const THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  const THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  const THNNBuffer *scratch = THNN_planScratch(&plan, sums.bytes);
  THNN_planAcquire(&plan);

  if (pooling.outputHeight == 1 && pooling.outputWidth == 1)
    spreadPlanes(&pooling, state, from->data, to->data);
  else
    pool(&sums, scratch->data, from->data, to->data);
  THNN_planRelease(&plan);
}

/* The gemm algorithm where the map is one position that sees the whole image, as in the last layers
 * of many networks: with n samples, m map planes and k image elements
 *   forward         map (n x m)        = image (n x k) * weight^T (k x m)
 *   backwardData    image (n x k)      = map (n x m) * weight (m x k)
 *   backwardWeight  weight (m x k)    += map^T (m x n) * image (n x k)
 * Threads share out m or k. One sample is left to gemv: gemm would copy the weight first. */
#include "template.h"

#include "ConvolutionParts.h"
#include "matrix.h"

/* Rows or columns of the weight in a block: whole vectors, and enough to be worth a call. */
static const int64_t WORTHWHILE_BLOCK = 64;

/* What the blocks share out. */
static int64_t sharedSize(const THNNConvolutionPlan *plan)
{
  return plan->part == THNN_CONVOLUTION_FORWARD ? plan->geometry.outputPlanes : plan->tiles.rows;
}

void THNN_(ConvolutionLinear_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  plan->tiles = (THNNConvolutionTiles){
      .linear = true,
      .rows = geometry->inputPlanes * THNN_convolutionTaps(geometry),
      .positions = 1,
  };
  const int64_t size = sharedSize(plan);
  const int64_t block = maximum(divideUp(size, ENOUGH_BLOCKS), WORTHWHILE_BLOCK);
  plan->tiles.blockRows = evenBlock(size, block, THNN_(simd).products.lanes);
  plan->threads = THNN_blasThreads(state, divideUp(size, plan->tiles.blockRows),
                                   convolutionOperations(geometry));
}

/* Map planes [first, first + planes). */
static void forwardBlock(const THNNConvolutionPlan *plan, const real *image, const real *weight,
                         const real *bias, int64_t first, int64_t planes, real *map)
{
  const int64_t batch = plan->geometry.batch, rows = plan->tiles.rows;
  const int64_t outputPlanes = plan->geometry.outputPlanes;
  for (int64_t sample = 0; sample < batch; sample++) {
    real *start = map + sample * outputPlanes + first;
    if (bias)
      THNN_(simd).pointwise.copy(planes, bias + first, start);
    else
      THNN_(simd).pointwise.fill(planes, 0, start);
  }
  real *block = (real *)weight + first * rows;
  if (THNN_(prefersDots)(batch, outputPlanes, rows)) {
    const THNN_(Dots) dots = {.rows = batch,
                              .columns = planes,
                              .terms = rows,
                              .x = image,
                              .xStride = rows,
                              .w = block,
                              .wStride = rows,
                              .y = map + first,
                              .yStride = outputPlanes};
    THNN_(simd).dots.dots(&dots);
    return;
  }
  if (batch == 1)
    THBlas_(gemv)('t', rows, planes, 1, block, rows, (real *)image, 1, 1, map + first, 1);
  else
    THBlas_(gemm)('t', 'n', planes, batch, rows, 1, block, rows, (real *)image, rows, 1,
                  map + first, outputPlanes);
}

/* Image elements [first, first + count). */
static void backwardDataBlock(const THNNConvolutionPlan *plan, const real *map, const real *weight,
                              const real *bias, int64_t first, int64_t count, real *image)
{
  const int64_t batch = plan->geometry.batch, rows = plan->tiles.rows;
  const int64_t outputPlanes = plan->geometry.outputPlanes;
  const int64_t taps = THNN_convolutionTaps(&plan->geometry);
  for (int64_t sample = 0; sample < batch; sample++)
    for (int64_t i = first; i < first + count; i++)
      image[sample * rows + i] = bias ? bias[i / taps] : 0;
  if (batch == 1)
    THBlas_(gemv)('n', count, outputPlanes, 1, (real *)weight + first, rows, (real *)map, 1, 1,
                  image + first, 1);
  else
    THBlas_(gemm)('n', 'n', count, batch, outputPlanes, 1, (real *)weight + first, rows,
                  (real *)map, outputPlanes, 1, image + first, rows);
}

/* Weights of image elements [first, first + count), for all map planes. */
static void backwardWeightBlock(const THNNConvolutionPlan *plan, const real *image, const real *map,
                                real scale, int64_t first, int64_t count, real *gradWeight)
{
  const int64_t batch = plan->geometry.batch, rows = plan->tiles.rows;
  const int64_t outputPlanes = plan->geometry.outputPlanes;
  if (batch == 1)
    for (int64_t plane = 0; plane < outputPlanes; plane++)
      THNN_(simd).pointwise.axpy(count, scale * map[plane], image + first,
                                 gradWeight + plane * rows + first);
  else
    THBlas_(gemm)('n', 't', count, outputPlanes, batch, scale, (real *)image + first, rows,
                  (real *)map, outputPlanes, 1, gradWeight + first, rows);
}

void THNN_(ConvolutionLinear_forward)(const THNNConvolutionPlan *plan, const real *input,
                                      const real *weight, const real *bias, real *output)
{
  const int64_t size = sharedSize(plan), block = plan->tiles.blockRows;
  const int threads = plan->threads;
  THNN_blasBegin();
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t first = 0; first < size; first += block)
    forwardBlock(plan, input, weight, bias, first, minimum(block, size - first), output);
  THNN_blasEnd();
}

void THNN_(ConvolutionLinear_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                           const real *weight, const real *bias, real *gradInput)
{
  const int64_t size = sharedSize(plan), block = plan->tiles.blockRows;
  const int threads = plan->threads;
  THNN_blasBegin();
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t first = 0; first < size; first += block)
    backwardDataBlock(plan, gradOutput, weight, bias, first, minimum(block, size - first),
                      gradInput);
  THNN_blasEnd();
}

void THNN_(ConvolutionLinear_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                             const real *gradOutput, accreal scale,
                                             real *gradWeight)
{
  const int64_t size = sharedSize(plan), block = plan->tiles.blockRows;
  const int threads = plan->threads;
  THNN_blasBegin();
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t first = 0; first < size; first += block)
    backwardWeightBlock(plan, input, gradOutput, (real)scale, first, minimum(block, size - first),
                        gradWeight);
  THNN_blasEnd();
}

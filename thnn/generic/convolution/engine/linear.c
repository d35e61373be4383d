/* The gemm algorithm where the map is one position that sees the whole image, as in the last layers
 * of many networks: a linear layer. With n samples, m map planes and k image elements
 *   forward         map (n x m)        = bias + image (n x k) * weight^T (k x m)
 *   backwardData    image (n x k)      = bias + map (n x m) * weight (m x k)
 *   backwardWeight  weight (m x k)    += scale * map^T (m x n) * image (n x k)
 * The products choose their blocks and threads themselves. */
#include "generic/template.h"

#include "generic/convolution/engine/algorithm.h"
#include "generic/shared/matrix.h"

void THNN_(ConvolutionLinear_prepare)(THNNConvolutionPlan *plan, const THNNState *state)
{
  const THNNConvolution *geometry = &plan->geometry;
  plan->tiles = (THNNConvolutionTiles){
      .linear = true,
      .rows = geometry->inputPlanes * THNN_convolutionTaps(geometry),
      .positions = 1,
  };
  const int64_t batch = geometry->batch, planes = geometry->outputPlanes, rows = plan->tiles.rows;
  const THNNRoom room = plan->part == THNN_CONVOLUTION_FORWARD
                            ? THNN_(multiplyRoom)(state, planes, batch, rows, true, false)
                        : plan->part == THNN_CONVOLUTION_BACKWARD_DATA
                            ? THNN_(multiplyRoom)(state, rows, batch, planes, false, false)
                            : THNN_(multiplyRoom)(state, rows, planes, batch, false, true);
  plan->state = state;
  plan->threads = room.threads;
  plan->threadBytes = room.bytes;
  plan->scratchBytes = THNN_roomBytes(room);
}

static THNNRoom roomOf(const THNNConvolutionPlan *plan, void *scratch)
{
  return (THNNRoom){.threads = plan->threads, .bytes = plan->threadBytes, .data = scratch};
}

void THNN_(ConvolutionLinear_forward)(const THNNConvolutionPlan *plan, const real *input,
                                      const real *weight, const real *bias, real *output,
                                      void *scratch)
{
  const int64_t batch = plan->geometry.batch, planes = plan->geometry.outputPlanes;
  const int64_t rows = plan->tiles.rows;
  THNN_(affine)(plan->state, batch, planes, rows, input, rows, weight, bias, output, planes,
                roomOf(plan, scratch));
}

void THNN_(ConvolutionLinear_backwardData)(const THNNConvolutionPlan *plan, const real *gradOutput,
                                           const real *weight, const real *bias, real *gradInput,
                                           void *scratch)
{
  const int64_t batch = plan->geometry.batch, planes = plan->geometry.outputPlanes;
  const int64_t rows = plan->tiles.rows, taps = THNN_convolutionTaps(&plan->geometry);
  if (bias)
    for (int64_t i = 0; i < batch * plan->geometry.inputPlanes; i++)
      THNN_(simd).pointwise.fill(taps, bias[i % plan->geometry.inputPlanes], gradInput + i * taps);
  const THNN_(Matrix) w = {weight, rows, false}, g = {gradOutput, planes, false};
  THNN_(multiply)(plan->state, rows, batch, planes, 1, w, g, bias ? 1 : 0, gradInput,
                  roomOf(plan, scratch));
}

void THNN_(ConvolutionLinear_backwardWeight)(const THNNConvolutionPlan *plan, const real *input,
                                             const real *gradOutput, accreal scale,
                                             real *gradWeight, void *scratch)
{
  const int64_t batch = plan->geometry.batch, planes = plan->geometry.outputPlanes;
  const int64_t rows = plan->tiles.rows;
  const THNN_(Matrix) x = {input, rows, false}, g = {gradOutput, planes, true};
  THNN_(multiply)(plan->state, rows, planes, batch, (real)scale, x, g, 1, gradWeight,
                  roomOf(plan, scratch));
}

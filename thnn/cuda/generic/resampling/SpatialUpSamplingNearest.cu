/* 2-D nearest-neighbour upsampling by a whole factor.
 *   input   [batch x] planes x height x width
 *   output  [batch x] planes x (height * scale_factor) x (width * scale_factor) */
#include "cuda/generic/resampling/nearest.cuh"

void THCUNN_(SpatialUpSamplingNearest_updateOutput)(THCState *state, THCTensor *input,
                                                    THCTensor *output, int scale_factor)
{
  const THCNearestCall call = {"SpatialUpSamplingNearest_updateOutput", state, 2, scale_factor};
  THCUNN_(nearest_updateOutput)(&call, input, output);
}

void THCUNN_(SpatialUpSamplingNearest_updateGradInput)(THCState *state, THCTensor *input,
                                                       THCTensor *gradOutput, THCTensor *gradInput,
                                                       int scale_factor)
{
  const THCNearestCall call = {"SpatialUpSamplingNearest_updateGradInput", state, 2, scale_factor};
  THCUNN_(nearest_updateGradInput)(&call, input, gradOutput, gradInput);
}

/* The twin of generic/resampling/SpatialUpSamplingNearest.c. */
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

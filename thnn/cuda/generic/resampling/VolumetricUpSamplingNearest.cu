/* The twin of generic/resampling/VolumetricUpSamplingNearest.c. */
#include "cuda/generic/resampling/nearest.cuh"

void THCUNN_(VolumetricUpSamplingNearest_updateOutput)(THCState *state, THCTensor *input,
                                                       THCTensor *output, int scale_factor)
{
  const THCNearestCall call = {"VolumetricUpSamplingNearest_updateOutput", state, 3, scale_factor};
  THCUNN_(nearest_updateOutput)(&call, input, output);
}

void THCUNN_(VolumetricUpSamplingNearest_updateGradInput)(THCState *state, THCTensor *input,
                                                          THCTensor *gradOutput,
                                                          THCTensor *gradInput, int scale_factor)
{
  const THCNearestCall call = {"VolumetricUpSamplingNearest_updateGradInput", state, 3,
                               scale_factor};
  THCUNN_(nearest_updateGradInput)(&call, input, gradOutput, gradInput);
}

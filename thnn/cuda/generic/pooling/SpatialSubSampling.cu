/* The twin of generic/pooling/SpatialSubSampling.c. */
#include "cuda/generic/pooling/subSampling.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(SpatialSubSampling_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                              THCTensor *weight, THCTensor *bias, int kW, int kH,
                                              int dW, int dH)
{
  THCSubSamplingCall call = {"SpatialSubSampling_updateOutput", state, false, {}};
  call.geometry = THNN_SpatialSubSampling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                     THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
                                                     THNN_SHAPE(bias, 5), 6, kW, kH, dW, dH);
  THCUNN_(subSampling_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(SpatialSubSampling_updateGradInput)(THCState *state, THCTensor *input,
                                                 THCTensor *gradOutput, THCTensor *gradInput,
                                                 THCTensor *weight, int kW, int kH, int dW, int dH)
{
  THCSubSamplingCall call = {"SpatialSubSampling_updateGradInput", state, false, {}};
  call.geometry = THNN_SpatialSubSampling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 6, kW, kH, dW, dH);
  THCUNN_(subSampling_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(SpatialSubSampling_accGradParameters)(THCState *state, THCTensor *input,
                                                   THCTensor *gradOutput, THCTensor *gradWeight,
                                                   THCTensor *gradBias, int kW, int kH, int dW,
                                                   int dH, accreal scale)
{
  THCSubSamplingCall call = {"SpatialSubSampling_accGradParameters", state, false, {}};
  call.geometry = THNN_SpatialSubSampling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 6, kW, kH, dW, dH);
  THCUNN_(subSampling_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

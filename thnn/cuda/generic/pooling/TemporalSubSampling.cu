/* The twin of generic/pooling/TemporalSubSampling.c. */
#include "cuda/generic/pooling/subSampling.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(TemporalSubSampling_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                               THCTensor *weight, THCTensor *bias, int kW, int dW,
                                               int inputFrameSize)
{
  THCSubSamplingCall call = {"TemporalSubSampling_updateOutput", state, true, {}};
  call.geometry =
      THNN_TemporalSubSampling_shapeCheck(call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                          THNN_SHAPE(weight, 4), THNN_SHAPE(bias, 5), 6, kW, dW);
  THNN_checkSize(call.function, THNN_SHAPE(input, 2), 1, inputFrameSize, "inputFrameSize");
  THCUNN_(subSampling_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(TemporalSubSampling_updateGradInput)(THCState *state, THCTensor *input,
                                                  THCTensor *gradOutput, THCTensor *gradInput,
                                                  THCTensor *weight, int kW, int dW)
{
  THCSubSamplingCall call = {"TemporalSubSampling_updateGradInput", state, true, {}};
  call.geometry = THNN_TemporalSubSampling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 6, kW, dW);
  THCUNN_(subSampling_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(TemporalSubSampling_accGradParameters)(THCState *state, THCTensor *input,
                                                    THCTensor *gradOutput, THCTensor *gradWeight,
                                                    THCTensor *gradBias, int kW, int dW,
                                                    accreal scale)
{
  THCSubSamplingCall call = {"TemporalSubSampling_accGradParameters", state, true, {}};
  call.geometry = THNN_TemporalSubSampling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 6, kW, dW);
  THCUNN_(subSampling_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

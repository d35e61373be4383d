/* The twin of generic/resampling/SpatialUpSamplingBilinear.c. */
#include "cuda/generic/resampling/linear.cuh"
#include "generic/resampling/checks.h"

void THCUNN_(SpatialUpSamplingBilinear_updateOutput)(THCState *state, THCTensor *input,
                                                     THCTensor *output, int outputHeight,
                                                     int outputWidth)
{
  THCResamplingCall call = {"SpatialUpSamplingBilinear_updateOutput", state, 2, {}};
  call.resampling = THNN_SpatialUpSamplingBilinear_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, 0, 0, 0, 0, outputHeight, outputWidth);
  THCUNN_(linear_updateOutput)(&call, input, output);
}

void THCUNN_(SpatialUpSamplingBilinear_updateGradInput)(THCState *state, THCTensor *gradOutput,
                                                        THCTensor *gradInput, int nbatch,
                                                        int nchannels, int inputHeight,
                                                        int inputWidth, int outputHeight,
                                                        int outputWidth)
{
  THCResamplingCall call = {"SpatialUpSamplingBilinear_updateGradInput", state, 2, {}};
  call.resampling = THNN_SpatialUpSamplingBilinear_shapeCheck(
      call.function, THNN_NO_SHAPE, THNN_SHAPE(gradOutput, 2), 4, nbatch, nchannels, inputHeight,
      inputWidth, outputHeight, outputWidth);
  THCUNN_(linear_updateGradInput)(&call, gradOutput, gradInput);
}

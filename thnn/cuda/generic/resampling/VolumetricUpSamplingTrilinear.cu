/* The twin of generic/resampling/VolumetricUpSamplingTrilinear.c. */
#include "cuda/generic/resampling/linear.cuh"
#include "generic/resampling/checks.h"

void THCUNN_(VolumetricUpSamplingTrilinear_updateOutput)(THCState *state, THCTensor *input,
                                                         THCTensor *output, int outputDepth,
                                                         int outputHeight, int outputWidth)
{
  THCResamplingCall call = {"VolumetricUpSamplingTrilinear_updateOutput", state, 3, {}};
  call.resampling = THNN_VolumetricUpSamplingTrilinear_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, 0, 0, 0, 0, 0, outputDepth,
      outputHeight, outputWidth);
  THCUNN_(linear_updateOutput)(&call, input, output);
}

void THCUNN_(VolumetricUpSamplingTrilinear_updateGradInput)(THCState *state, THCTensor *gradOutput,
                                                            THCTensor *gradInput, int nbatch,
                                                            int nchannels, int inputDepth,
                                                            int inputHeight, int inputWidth,
                                                            int outputDepth, int outputHeight,
                                                            int outputWidth)
{
  THCResamplingCall call = {"VolumetricUpSamplingTrilinear_updateGradInput", state, 3, {}};
  call.resampling = THNN_VolumetricUpSamplingTrilinear_shapeCheck(
      call.function, THNN_NO_SHAPE, THNN_SHAPE(gradOutput, 2), 4, nbatch, nchannels, inputDepth,
      inputHeight, inputWidth, outputDepth, outputHeight, outputWidth);
  THCUNN_(linear_updateGradInput)(&call, gradOutput, gradInput);
}

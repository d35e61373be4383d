/* The twin of generic/pooling/VolumetricMaxUnpooling.c. */
#include "cuda/generic/pooling/maxUnpooling.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(VolumetricMaxUnpooling_updateOutput)(THCState *state, THCTensor *input,
                                                  THCTensor *output, THCIndexTensor *indices,
                                                  int outputTime, int outputWidth, int outputHeight,
                                                  int dT, int dW, int dH, int padT, int padW,
                                                  int padH)
{
  THCMaxPoolingCall call = {"VolumetricMaxUnpooling_updateOutput", state, THC_NAMED_BY_TAPS, 4, {}};
  call.geometry = THNN_VolumetricMaxUnpooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(indices, 4), 5, outputTime,
      outputWidth, outputHeight, dT, dW, dH, padT, padW, padH);
  THCUNN_(maxUnpooling_updateOutput)(&call, input, output, indices);
}

void THCUNN_(VolumetricMaxUnpooling_updateGradInput)(THCState *state, THCTensor *input,
                                                     THCTensor *gradOutput, THCTensor *gradInput,
                                                     THCIndexTensor *indices, int outputTime,
                                                     int outputWidth, int outputHeight, int dT,
                                                     int dW, int dH, int padT, int padW, int padH)
{
  THCMaxPoolingCall call = {
      "VolumetricMaxUnpooling_updateGradInput", state, THC_NAMED_BY_TAPS, 4, {}};
  call.geometry = THNN_VolumetricMaxUnpooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6,
      outputTime, outputWidth, outputHeight, dT, dW, dH, padT, padW, padH);
  THCUNN_(maxUnpooling_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

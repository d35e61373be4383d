/* The twin of generic/pooling/VolumetricAveragePooling.c. */
#include "cuda/generic/pooling/average.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(VolumetricAveragePooling_updateOutput)(THCState *state, THCTensor *input,
                                                    THCTensor *output, int kT, int kW, int kH,
                                                    int dT, int dW, int dH, int padT, int padW,
                                                    int padH, bool ceil_mode,
                                                    bool count_include_pad)
{
  THCAveragePoolingCall call = {
      "VolumetricAveragePooling_updateOutput", state, 3, count_include_pad, {}};
  call.geometry = THNN_VolumetricAveragePooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                           THNN_NO_SHAPE, 4, kT, kW, kH, dT, dW, dH,
                                                           padT, padW, padH, ceil_mode);
  THCUNN_(average_updateOutput)(&call, input, output);
}

void THCUNN_(VolumetricAveragePooling_updateGradInput)(THCState *state, THCTensor *input,
                                                       THCTensor *gradOutput, THCTensor *gradInput,
                                                       int kT, int kW, int kH, int dT, int dW,
                                                       int dH, int padT, int padW, int padH,
                                                       bool ceil_mode, bool count_include_pad)
{
  THCAveragePoolingCall call = {
      "VolumetricAveragePooling_updateGradInput", state, 3, count_include_pad, {}};
  call.geometry = THNN_VolumetricAveragePooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                           THNN_SHAPE(gradOutput, 3), 5, kT, kW, kH,
                                                           dT, dW, dH, padT, padW, padH, ceil_mode);
  THCUNN_(average_updateGradInput)(&call, input, gradOutput, gradInput);
}

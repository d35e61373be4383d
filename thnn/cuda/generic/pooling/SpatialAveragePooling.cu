/* The twin of generic/pooling/SpatialAveragePooling.c. */
#include "cuda/generic/pooling/average.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(SpatialAveragePooling_updateOutput)(THCState *state, THCTensor *input,
                                                 THCTensor *output, int kW, int kH, int dW, int dH,
                                                 int padW, int padH, bool ceil_mode,
                                                 bool count_include_pad)
{
  THCAveragePoolingCall call = {
      "SpatialAveragePooling_updateOutput", state, 2, count_include_pad, {}};
  call.geometry = THNN_SpatialAveragePooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, kW, kH, dW, dH, padW, padH, ceil_mode);
  THCUNN_(average_updateOutput)(&call, input, output);
}

void THCUNN_(SpatialAveragePooling_updateGradInput)(THCState *state, THCTensor *input,
                                                    THCTensor *gradOutput, THCTensor *gradInput,
                                                    int kW, int kH, int dW, int dH, int padW,
                                                    int padH, bool ceil_mode,
                                                    bool count_include_pad)
{
  THCAveragePoolingCall call = {
      "SpatialAveragePooling_updateGradInput", state, 2, count_include_pad, {}};
  call.geometry = THNN_SpatialAveragePooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                        THNN_SHAPE(gradOutput, 3), 5, kW, kH, dW,
                                                        dH, padW, padH, ceil_mode);
  THCUNN_(average_updateGradInput)(&call, input, gradOutput, gradInput);
}

/* The twin of generic/pooling/SpatialMaxPooling.c. */
#include "cuda/generic/pooling/max.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(SpatialMaxPooling_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                             THCIndexTensor *indices, int kW, int kH, int dW,
                                             int dH, int padW, int padH, bool ceil_mode)
{
  THCMaxPoolingCall call = {"SpatialMaxPooling_updateOutput", state, THC_NAMED_BY_NUMBER, 3, {}};
  call.geometry =
      THNN_SpatialMaxPooling_shapeCheck(call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                        THNN_NO_SHAPE, 5, kW, kH, dW, dH, padW, padH, ceil_mode);
  THCUNN_(max_updateOutput)(&call, input, output, indices);
}

void THCUNN_(SpatialMaxPooling_updateGradInput)(THCState *state, THCTensor *input,
                                                THCTensor *gradOutput, THCTensor *gradInput,
                                                THCIndexTensor *indices, int kW, int kH, int dW,
                                                int dH, int padW, int padH, bool ceil_mode)
{
  THCMaxPoolingCall call = {"SpatialMaxPooling_updateGradInput", state, THC_NAMED_BY_NUMBER, 3, {}};
  call.geometry = THNN_SpatialMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kW,
      kH, dW, dH, padW, padH, ceil_mode);
  THCUNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

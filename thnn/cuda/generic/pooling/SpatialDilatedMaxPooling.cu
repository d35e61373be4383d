/* 2-D max pooling over windows with gaps.
 *   input            [batch x] planes x height x width
 *   output, indices  [batch x] planes x outputHeight x outputWidth
 * Window (y, x) has the elements (y*dH - padH + i*dilationH, x*dW - padW + j*dilationW), i < kH and
 * j < kW, as far as they are inside the input. An index is the number of the greatest element, the
 * first of equals, in its plane, from 1; 0 if no element exceeds the lowest finite number. */
#include "cuda/generic/pooling/max.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(SpatialDilatedMaxPooling_updateOutput)(THCState *state, THCTensor *input,
                                                    THCTensor *output, THCIndexTensor *indices,
                                                    int kW, int kH, int dW, int dH, int padW,
                                                    int padH, int dilationW, int dilationH,
                                                    bool ceil_mode)
{
  THCMaxPoolingCall call = {
      "SpatialDilatedMaxPooling_updateOutput", state, THC_NAMED_BY_NUMBER, 3, {}};
  call.geometry = THNN_SpatialDilatedMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, 5, kW, kH, dW, dH, padW,
      padH, dilationW, dilationH, ceil_mode);
  THCUNN_(max_updateOutput)(&call, input, output, indices);
}

void THCUNN_(SpatialDilatedMaxPooling_updateGradInput)(THCState *state, THCTensor *input,
                                                       THCTensor *gradOutput, THCTensor *gradInput,
                                                       THCIndexTensor *indices, int kW, int kH,
                                                       int dW, int dH, int padW, int padH,
                                                       int dilationW, int dilationH, bool ceil_mode)
{
  THCMaxPoolingCall call = {
      "SpatialDilatedMaxPooling_updateGradInput", state, THC_NAMED_BY_NUMBER, 3, {}};
  call.geometry = THNN_SpatialDilatedMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kW,
      kH, dW, dH, padW, padH, dilationW, dilationH, ceil_mode);
  THCUNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

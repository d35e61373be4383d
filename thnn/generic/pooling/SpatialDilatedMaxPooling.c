/* 2-D max pooling over windows with gaps.
 *   input            [batch x] planes x height x width
 *   output, indices  [batch x] planes x outputHeight x outputWidth
 * Window (y, x) has the elements (y*dH - padH + i*dilationH, x*dW - padW + j*dilationW), i < kH and
 * j < kW, except those outside. indices names the greatest, the first of equals, by its number
 * in the plane; 0 stands where no element exceeds the lowest finite number. */
#include "generic/pooling/checks.h"
#include "generic/pooling/max.h"

#ifdef THNN_ONCE
THNNConvolution THNN_SpatialDilatedMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape gradOutput, THNNShape indices,
                                                         int firstPosition, int kW, int kH, int dW,
                                                         int dH, int padW, int padH, int dilationW,
                                                         int dilationH, bool ceil_mode)
{
  const int at = firstPosition;
  const THNNPoolingArguments arguments = {
      .function = function,
      .nDimension = 2,
      .ceilMode = ceil_mode,
      .input = input,
      .gradOutput = gradOutput,
      .indices = indices,
      .kernel = {THNN_SCALAR(kH, at + 1), THNN_SCALAR(kW, at)},
      .stride = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)},
      .pad = {THNN_SCALAR(padH, at + 5), THNN_SCALAR(padW, at + 4)},
      .dilation = {THNN_SCALAR(dilationH, at + 7), THNN_SCALAR(dilationW, at + 6)}};
  const THNNConvolution geometry = THNN_poolingCheck(&arguments);
  THNN_checkPlaces(function, input, 2);
  return geometry;
}
#endif

void THNN_(SpatialDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input,
                                                  THTensor *output, THIndexTensor *indices, int kW,
                                                  int kH, int dW, int dH, int padW, int padH,
                                                  int dilationW, int dilationH, bool ceil_mode)
{
  THNNMaxPoolingCall call = {"SpatialDilatedMaxPooling_updateOutput", state, .nDimension = 2};
  call.geometry = THNN_SpatialDilatedMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, 5, kW, kH, dW, dH, padW,
      padH, dilationW, dilationH, ceil_mode);
  THNN_(max_updateOutput)(&call, input, output, indices);
}

void THNN_(SpatialDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input,
                                                     THTensor *gradOutput, THTensor *gradInput,
                                                     THIndexTensor *indices, int kW, int kH, int dW,
                                                     int dH, int padW, int padH, int dilationW,
                                                     int dilationH, bool ceil_mode)
{
  THNNMaxPoolingCall call = {"SpatialDilatedMaxPooling_updateGradInput", state, .nDimension = 2};
  call.geometry = THNN_SpatialDilatedMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kW,
      kH, dW, dH, padW, padH, dilationW, dilationH, ceil_mode);
  THNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

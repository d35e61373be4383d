/* 2-D max pooling.
 *   input            [batch x] planes x height x width
 *   output, indices  [batch x] planes x outputHeight x outputWidth
 * Window (y, x) is kH x kW elements from (y*dH - padH, x*dW - padW), except those outside.
 * indices names the greatest, the first of equals, by its number in the plane; 0 stands where no
 * element exceeds the lowest finite number. */
#include "generic/pooling/checks.h"
#include "generic/pooling/max.h"

#ifdef THNN_ONCE
THNNConvolution THNN_SpatialMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                  THNNShape gradOutput, THNNShape indices,
                                                  int firstPosition, int kW, int kH, int dW, int dH,
                                                  int padW, int padH, bool ceil_mode)
{
  return THNN_SpatialDilatedMaxPooling_shapeCheck(function, input, gradOutput, indices,
                                                  firstPosition, kW, kH, dW, dH, padW, padH, 1, 1,
                                                  ceil_mode);
}
#endif

void THNN_(SpatialMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                           THIndexTensor *indices, int kW, int kH, int dW, int dH,
                                           int padW, int padH, bool ceil_mode)
{
  THNNMaxPoolingCall call = {"SpatialMaxPooling_updateOutput", state, .nDimension = 2};
  call.geometry =
      THNN_SpatialMaxPooling_shapeCheck(call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE,
                                        THNN_NO_SHAPE, 5, kW, kH, dW, dH, padW, padH, ceil_mode);
  THNN_(max_updateOutput)(&call, input, output, indices);
}

void THNN_(SpatialMaxPooling_updateGradInput)(THNNState *state, THTensor *input,
                                              THTensor *gradOutput, THTensor *gradInput,
                                              THIndexTensor *indices, int kW, int kH, int dW,
                                              int dH, int padW, int padH, bool ceil_mode)
{
  THNNMaxPoolingCall call = {"SpatialMaxPooling_updateGradInput", state, .nDimension = 2};
  call.geometry = THNN_SpatialMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kW,
      kH, dW, dH, padW, padH, ceil_mode);
  THNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

/* 2-D average pooling.
 *   input   [batch x] planes x height x width
 *   output  [batch x] planes x outputHeight x outputWidth
 * Window (y, x) is kH x kW elements that begin at (y*dH - padH, x*dW - padW). Its sum is divided by
 * the number of its elements inside the input, or with count_include_pad inside input and
 * padding. */
#include "generic/pooling/average.h"
#include "generic/pooling/checks.h"

#ifdef THNN_ONCE
THNNConvolution THNN_SpatialAveragePooling_shapeCheck(const char *function, THNNShape input,
                                                      THNNShape gradOutput, int firstPosition,
                                                      int kW, int kH, int dW, int dH, int padW,
                                                      int padH, bool ceil_mode)
{
  const int at = firstPosition;
  const THNNPoolingArguments arguments = {
      .function = function,
      .nDimension = 2,
      .ceilMode = ceil_mode,
      .input = input,
      .gradOutput = gradOutput,
      .indices = THNN_NO_SHAPE,
      .kernel = {THNN_SCALAR(kH, at + 1), THNN_SCALAR(kW, at)},
      .stride = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)},
      .pad = {THNN_SCALAR(padH, at + 5), THNN_SCALAR(padW, at + 4)}};
  return THNN_poolingCheck(&arguments);
}
#endif

void THNN_(SpatialAveragePooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                               int kW, int kH, int dW, int dH, int padW, int padH,
                                               bool ceil_mode, bool count_include_pad)
{
  THNNAveragePoolingCall call = {"SpatialAveragePooling_updateOutput", state, .nDimension = 2,
                                 .countPadding = count_include_pad};
  call.geometry = THNN_SpatialAveragePooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, kW, kH, dW, dH, padW, padH, ceil_mode);
  THNN_(average_updateOutput)(&call, input, output);
}

void THNN_(SpatialAveragePooling_updateGradInput)(THNNState *state, THTensor *input,
                                                  THTensor *gradOutput, THTensor *gradInput, int kW,
                                                  int kH, int dW, int dH, int padW, int padH,
                                                  bool ceil_mode, bool count_include_pad)
{
  THNNAveragePoolingCall call = {"SpatialAveragePooling_updateGradInput", state, .nDimension = 2,
                                 .countPadding = count_include_pad};
  call.geometry = THNN_SpatialAveragePooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                        THNN_SHAPE(gradOutput, 3), 5, kW, kH, dW,
                                                        dH, padW, padH, ceil_mode);
  THNN_(average_updateGradInput)(&call, input, gradOutput, gradInput);
}

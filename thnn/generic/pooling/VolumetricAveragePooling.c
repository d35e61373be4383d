/* 3-D average pooling.
 *   input   [batch x] planes x depth x height x width
 *   output  [batch x] planes x outputDepth x outputHeight x outputWidth
 * Window (z, y, x) is kT x kH x kW elements from (z*dT - padT, y*dH - padH, x*dW - padW). Its sum
 * is divided by the number of its elements inside the input, or with count_include_pad inside input
 * and padding. */
#include "generic/pooling/average.h"
#include "generic/pooling/checks.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricAveragePooling_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape gradOutput, int firstPosition,
                                                         int kT, int kW, int kH, int dT, int dW,
                                                         int dH, int padT, int padW, int padH,
                                                         bool ceil_mode)
{
  const int at = firstPosition;
  const THNNPoolingArguments arguments = {
      .function = function,
      .nDimension = 3,
      .ceilMode = ceil_mode,
      .input = input,
      .gradOutput = gradOutput,
      .indices = THNN_NO_SHAPE,
      .kernel = {THNN_SCALAR(kT, at), THNN_SCALAR(kH, at + 2), THNN_SCALAR(kW, at + 1)},
      .stride = {THNN_SCALAR(dT, at + 3), THNN_SCALAR(dH, at + 5), THNN_SCALAR(dW, at + 4)},
      .pad = {THNN_SCALAR(padT, at + 6), THNN_SCALAR(padH, at + 8), THNN_SCALAR(padW, at + 7)}};
  return THNN_poolingCheck(&arguments);
}
#endif

void THNN_(VolumetricAveragePooling_updateOutput)(THNNState *state, THTensor *input,
                                                  THTensor *output, int kT, int kW, int kH, int dT,
                                                  int dW, int dH, int padT, int padW, int padH,
                                                  bool ceil_mode, bool count_include_pad)
{
  THNNAveragePoolingCall call = {"VolumetricAveragePooling_updateOutput", state, .nDimension = 3,
                                 .countPadding = count_include_pad};
  call.geometry = THNN_VolumetricAveragePooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                           THNN_NO_SHAPE, 4, kT, kW, kH, dT, dW, dH,
                                                           padT, padW, padH, ceil_mode);
  THNN_(average_updateOutput)(&call, input, output);
}

void THNN_(VolumetricAveragePooling_updateGradInput)(THNNState *state, THTensor *input,
                                                     THTensor *gradOutput, THTensor *gradInput,
                                                     int kT, int kW, int kH, int dT, int dW, int dH,
                                                     int padT, int padW, int padH, bool ceil_mode,
                                                     bool count_include_pad)
{
  THNNAveragePoolingCall call = {"VolumetricAveragePooling_updateGradInput", state, .nDimension = 3,
                                 .countPadding = count_include_pad};
  call.geometry = THNN_VolumetricAveragePooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                           THNN_SHAPE(gradOutput, 3), 5, kT, kW, kH,
                                                           dT, dW, dH, padT, padW, padH, ceil_mode);
  THNN_(average_updateGradInput)(&call, input, gradOutput, gradInput);
}

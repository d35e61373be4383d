/* 3-D max pooling over windows with gaps.
 *   input            [batch x] planes x depth x height x width
 *   output, indices  [batch x] planes x outputDepth x outputHeight x outputWidth
 * Window (z, y, x) has the elements (z*dT - pT + t*dilationT, y*dH - pH + h*dilationH,
 * x*dW - pW + w*dilationW), t < kT, h < kH and w < kW, except those outside. The greatest, the
 * first of equals, is named by its offsets in the window: bytes 0, 1 and 2 of the index are t, h
 * and w, the other bytes 0. */
#include "generic/pooling/checks.h"
#include "generic/pooling/max.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricDilatedMaxPooling_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape indices,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int pT, int pW, int pH,
    int dilationT, int dilationW, int dilationH, bool ceilMode)
{
  const int at = firstPosition;
  const THNNPoolingArguments arguments = {
      .function = function,
      .nDimension = 3,
      .ceilMode = ceilMode,
      .input = input,
      .gradOutput = gradOutput,
      .indices = indices,
      .kernel = {THNN_SCALAR(kT, at), THNN_SCALAR(kH, at + 2), THNN_SCALAR(kW, at + 1)},
      .stride = {THNN_SCALAR(dT, at + 3), THNN_SCALAR(dH, at + 5), THNN_SCALAR(dW, at + 4)},
      .pad = {THNN_SCALAR(pT, at + 6), THNN_SCALAR(pH, at + 8), THNN_SCALAR(pW, at + 7)},
      .dilation = {THNN_SCALAR(dilationT, at + 9), THNN_SCALAR(dilationH, at + 11),
                   THNN_SCALAR(dilationW, at + 10)}};
  /* An offset in a window takes one byte of an index. */
  for (int i = 0; i < 3; i++)
    THNN_checkAtMost(function, arguments.kernel[i], 256);
  return THNN_poolingCheck(&arguments);
}
#endif

void THNN_(VolumetricDilatedMaxPooling_updateOutput)(THNNState *state, THTensor *input,
                                                     THTensor *output, THIndexTensor *indices,
                                                     int kT, int kW, int kH, int dT, int dW, int dH,
                                                     int pT, int pW, int pH, int dilationT,
                                                     int dilationW, int dilationH, bool ceilMode)
{
  THNNMaxPoolingCall call = {"VolumetricDilatedMaxPooling_updateOutput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricDilatedMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, 5, kT, kW, kH, dT, dW, dH,
      pT, pW, pH, dilationT, dilationW, dilationH, ceilMode);
  THNN_(max_updateOutput)(&call, input, output, indices);
}

void THNN_(VolumetricDilatedMaxPooling_updateGradInput)(THNNState *state, THTensor *input,
                                                        THTensor *gradOutput, THTensor *gradInput,
                                                        THIndexTensor *indices, int kT, int kW,
                                                        int kH, int dT, int dW, int dH, int pT,
                                                        int pW, int pH, int dilationT,
                                                        int dilationW, int dilationH, bool ceilMode)
{
  THNNMaxPoolingCall call = {"VolumetricDilatedMaxPooling_updateGradInput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricDilatedMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kT,
      kW, kH, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, ceilMode);
  THNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

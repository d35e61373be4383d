/* 3-D max pooling.
 *   input            [batch x] planes x depth x height x width
 *   output, indices  [batch x] planes x outputDepth x outputHeight x outputWidth
 * Window (z, y, x) is kT x kH x kW elements from (z*dT - pT, y*dH - pH, x*dW - pW), except those
 * outside. The greatest, the first of equals, is named by its offsets in the window: bytes
 * 0, 1 and 2 of the index are those in depth, height and width, the other bytes 0. */
#include "generic/pooling/checks.h"
#include "generic/pooling/max.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricMaxPooling_shapeCheck(const char *function, THNNShape input,
                                                     THNNShape gradOutput, THNNShape indices,
                                                     int firstPosition, int kT, int kW, int kH,
                                                     int dT, int dW, int dH, int pT, int pW, int pH,
                                                     bool ceilMode)
{
  return THNN_VolumetricDilatedMaxPooling_shapeCheck(function, input, gradOutput, indices,
                                                     firstPosition, kT, kW, kH, dT, dW, dH, pT, pW,
                                                     pH, 1, 1, 1, ceilMode);
}
#endif

void THNN_(VolumetricMaxPooling_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                              THIndexTensor *indices, int kT, int kW, int kH,
                                              int dT, int dW, int dH, int pT, int pW, int pH,
                                              bool ceilMode)
{
  THNNMaxPoolingCall call = {"VolumetricMaxPooling_updateOutput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricMaxPooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                       THNN_NO_SHAPE, THNN_NO_SHAPE, 5, kT, kW, kH,
                                                       dT, dW, dH, pT, pW, pH, ceilMode);
  THNN_(max_updateOutput)(&call, input, output, indices);
}

void THNN_(VolumetricMaxPooling_updateGradInput)(THNNState *state, THTensor *input,
                                                 THTensor *gradOutput, THTensor *gradInput,
                                                 THIndexTensor *indices, int kT, int kW, int kH,
                                                 int dT, int dW, int dH, int pT, int pW, int pH,
                                                 bool ceilMode)
{
  THNNMaxPoolingCall call = {"VolumetricMaxPooling_updateGradInput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kT,
      kW, kH, dT, dW, dH, pT, pW, pH, ceilMode);
  THNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

/* 3-D max pooling.
 *   input            [batch x] planes x depth x height x width
 *   output, indices  [batch x] planes x outputDepth x outputHeight x outputWidth
 * Window (z, y, x) is kT x kH x kW elements from (z*dT - padT, y*dH - padH, x*dW - padW) on, as far
 * as they are inside the input. An index has the offsets of the greatest element, the first of
 * equals, in the window: bytes 0, 1 and 2 are those in depth, height, width, the others are 0. */
#include "cuda/generic/pooling/max.cuh"
#include "generic/pooling/checks.h"

void THCUNN_(VolumetricMaxPooling_updateOutput)(THCState *state, THCTensor *input,
                                                THCTensor *output, THCIndexTensor *indices, int kT,
                                                int kW, int kH, int dT, int dW, int dH, int padT,
                                                int padW, int padH, bool ceilMode)
{
  THCMaxPoolingCall call = {"VolumetricMaxPooling_updateOutput", state, THC_NAMED_BY_TAPS, 4, {}};
  call.geometry = THNN_VolumetricMaxPooling_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                       THNN_NO_SHAPE, THNN_NO_SHAPE, 5, kT, kW, kH,
                                                       dT, dW, dH, padT, padW, padH, ceilMode);
  THCUNN_(max_updateOutput)(&call, input, output, indices);
}

void THCUNN_(VolumetricMaxPooling_updateGradInput)(THCState *state, THCTensor *input,
                                                   THCTensor *gradOutput, THCTensor *gradInput,
                                                   THCIndexTensor *indices, int kT, int kW, int kH,
                                                   int dT, int dW, int dH, int padT, int padW,
                                                   int padH, bool ceilMode)
{
  THCMaxPoolingCall call = {
      "VolumetricMaxPooling_updateGradInput", state, THC_NAMED_BY_TAPS, 4, {}};
  call.geometry = THNN_VolumetricMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(indices, 5), 6, kT,
      kW, kH, dT, dW, dH, padT, padW, padH, ceilMode);
  THCUNN_(max_updateGradInput)(&call, input, gradOutput, gradInput, indices);
}

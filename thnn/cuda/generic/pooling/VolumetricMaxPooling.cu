/* The twin of generic/pooling/VolumetricMaxPooling.c. */
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

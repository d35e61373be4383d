/* 1-D convolution over frames, feature by feature: each feature has a kernel of its own.
 *   input    [batch x] nInputFrame x nFeature, or with the last two exchanged (featFirst)
 *   weight   nFeature x 1 x kW
 *   output   like input with nOutputFrame = (nInputFrame + 2 padW - kW) / dW + 1 frames
 * It is a depth-wise convolution of planes one row high. */
#include "cuda/generic/convolution/planewise/connected.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(TemporalRowConvolution_updateOutput)(THCState *state, THCTensor *input,
                                                  THCTensor *output, THCTensor *weight,
                                                  THCTensor *bias, THCTensor *finput,
                                                  THCTensor *fgradInput, int kW, int dW, int padW,
                                                  bool featFirst)
{
  (void)finput, (void)fgradInput;
  THCPlanesCall call = {"TemporalRowConvolution_updateOutput", state, !featFirst, {}};
  call.joins = THNN_TemporalRowConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, dW, padW, featFirst);
  THCUNN_(connected_updateOutput)(&call, input, output, weight, bias, nullptr);
}

void THCUNN_(TemporalRowConvolution_updateGradInput)(THCState *state, THCTensor *input,
                                                     THCTensor *gradOutput, THCTensor *gradInput,
                                                     THCTensor *weight, THCTensor *finput,
                                                     THCTensor *fgradInput, int kW, int dW,
                                                     int padW, bool featFirst)
{
  (void)finput, (void)fgradInput;
  THCPlanesCall call = {"TemporalRowConvolution_updateGradInput", state, !featFirst, {}};
  call.joins = THNN_TemporalRowConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kW, dW, padW, featFirst);
  THCUNN_(connected_updateGradInput)(&call, input, gradOutput, gradInput, weight, nullptr);
}

void THCUNN_(TemporalRowConvolution_accGradParameters)(THCState *state, THCTensor *input,
                                                       THCTensor *gradOutput, THCTensor *gradWeight,
                                                       THCTensor *gradBias, THCTensor *finput,
                                                       THCTensor *fgradInput, int kW, int dW,
                                                       int padW, bool featFirst, accreal scale)
{
  (void)finput, (void)fgradInput;
  THCPlanesCall call = {"TemporalRowConvolution_accGradParameters", state, !featFirst, {}};
  call.joins = THNN_TemporalRowConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, dW, padW, featFirst);
  THCUNN_(connected_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, nullptr,
                                       scale);
}

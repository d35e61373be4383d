/* The twin of generic/convolution/planewise/SpatialDepthWiseConvolution.c. */
#include "cuda/generic/convolution/planewise/connected.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(SpatialDepthWiseConvolution_updateOutput)(THCState *state, THCTensor *input,
                                                       THCTensor *output, THCTensor *weight,
                                                       THCTensor *bias, THCTensor *columns,
                                                       THCTensor *ones, int kW, int kH, int dW,
                                                       int dH, int padW, int padH)
{
  (void)columns, (void)ones;
  THCPlanesCall call = {"SpatialDepthWiseConvolution_updateOutput", state, false, {}};
  call.joins = THNN_SpatialDepthWiseConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, kH, dW, dH, padW, padH);
  THCUNN_(connected_updateOutput)(&call, input, output, weight, bias, nullptr);
}

void THCUNN_(SpatialDepthWiseConvolution_updateGradInput)(THCState *state, THCTensor *input,
                                                          THCTensor *gradOutput,
                                                          THCTensor *gradInput, THCTensor *weight,
                                                          THCTensor *gradColumns, THCTensor *ones,
                                                          int kW, int kH, int dW, int dH, int padW,
                                                          int padH)
{
  (void)gradColumns, (void)ones;
  THCPlanesCall call = {"SpatialDepthWiseConvolution_updateGradInput", state, false, {}};
  call.joins = THNN_SpatialDepthWiseConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kW, kH, dW, dH, padW, padH);
  THCUNN_(connected_updateGradInput)(&call, input, gradOutput, gradInput, weight, nullptr);
}

void THCUNN_(SpatialDepthWiseConvolution_accGradParameters)(
    THCState *state, THCTensor *input, THCTensor *gradOutput, THCTensor *gradWeight,
    THCTensor *gradBias, THCTensor *columns, THCTensor *ones, int kW, int kH, int dW, int dH,
    int padW, int padH, accreal scale)
{
  (void)columns, (void)ones;
  THCPlanesCall call = {"SpatialDepthWiseConvolution_accGradParameters", state, false, {}};
  call.joins = THNN_SpatialDepthWiseConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH);
  THCUNN_(connected_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, nullptr,
                                       scale);
}

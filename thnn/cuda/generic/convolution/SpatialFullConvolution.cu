/* The twin of generic/convolution/SpatialFullConvolution.c. */
#include "cuda/generic/convolution/module.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(SpatialFullConvolution_updateOutput)(THCState *state, THCTensor *input,
                                                  THCTensor *output, THCTensor *weight,
                                                  THCTensor *bias, THCTensor *columns,
                                                  THCTensor *ones, int kW, int kH, int dW, int dH,
                                                  int padW, int padH, int adjW, int adjH)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"SpatialFullConvolution_updateOutput", state, 2, true, {}};
  call.geometry = THNN_SpatialFullConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, kH, dW, dH, padW, padH, adjW, adjH);
  THCUNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(SpatialFullConvolution_updateGradInput)(THCState *state, THCTensor *input,
                                                     THCTensor *gradOutput, THCTensor *gradInput,
                                                     THCTensor *weight, THCTensor *gradColumns,
                                                     int kW, int kH, int dW, int dH, int padW,
                                                     int padH, int adjW, int adjH)
{
  (void)gradColumns;
  THCConvolutionCall call = {"SpatialFullConvolution_updateGradInput", state, 2, true, {}};
  call.geometry = THNN_SpatialFullConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, kW, kH, dW, dH, padW, padH, adjW, adjH);
  THCUNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(SpatialFullConvolution_accGradParameters)(THCState *state, THCTensor *input,
                                                       THCTensor *gradOutput, THCTensor *gradWeight,
                                                       THCTensor *gradBias, THCTensor *columns,
                                                       THCTensor *ones, int kW, int kH, int dW,
                                                       int dH, int padW, int padH, int adjW,
                                                       int adjH, accreal scale)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"SpatialFullConvolution_accGradParameters", state, 2, true, {}};
  call.geometry = THNN_SpatialFullConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH, adjW, adjH);
  THCUNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

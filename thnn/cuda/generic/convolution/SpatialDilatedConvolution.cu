/* The twin of generic/convolution/SpatialDilatedConvolution.c. */
#include "cuda/generic/convolution/module.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(SpatialDilatedConvolution_updateOutput)(THCState *state, THCTensor *input,
                                                     THCTensor *output, THCTensor *weight,
                                                     THCTensor *bias, THCTensor *columns,
                                                     THCTensor *ones, int kW, int kH, int dW,
                                                     int dH, int padW, int padH, int dilationW,
                                                     int dilationH)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"SpatialDilatedConvolution_updateOutput", state, 2, false, {}};
  call.geometry = THNN_SpatialDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THCUNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(SpatialDilatedConvolution_updateGradInput)(THCState *state, THCTensor *input,
                                                        THCTensor *gradOutput, THCTensor *gradInput,
                                                        THCTensor *weight, THCTensor *gradColumns,
                                                        int kW, int kH, int dW, int dH, int padW,
                                                        int padH, int dilationW, int dilationH)
{
  (void)gradColumns;
  THCConvolutionCall call = {"SpatialDilatedConvolution_updateGradInput", state, 2, false, {}};
  call.geometry = THNN_SpatialDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THCUNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(SpatialDilatedConvolution_accGradParameters)(
    THCState *state, THCTensor *input, THCTensor *gradOutput, THCTensor *gradWeight,
    THCTensor *gradBias, THCTensor *columns, THCTensor *ones, int kW, int kH, int dW, int dH,
    int padW, int padH, int dilationW, int dilationH, accreal scale)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"SpatialDilatedConvolution_accGradParameters", state, 2, false, {}};
  call.geometry = THNN_SpatialDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THCUNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

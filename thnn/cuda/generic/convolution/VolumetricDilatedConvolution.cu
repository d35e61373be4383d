/* The twin of generic/convolution/VolumetricDilatedConvolution.c. */
#include "cuda/generic/convolution/module.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(VolumetricDilatedConvolution_updateOutput)(
    THCState *state, THCTensor *input, THCTensor *output, THCTensor *weight, THCTensor *bias,
    THCTensor *columns, THCTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT,
    int padW, int padH, int dilationT, int dilationW, int dilationH)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"VolumetricDilatedConvolution_updateOutput", state, 3, false, {}};
  call.geometry = THNN_VolumetricDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW,
      dilationH);
  THCUNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(VolumetricDilatedConvolution_updateGradInput)(
    THCState *state, THCTensor *input, THCTensor *gradOutput, THCTensor *gradInput,
    THCTensor *weight, THCTensor *gradColumns, int kT, int kW, int kH, int dT, int dW, int dH,
    int padT, int padW, int padH, int dilationT, int dilationW, int dilationH)
{
  (void)gradColumns;
  THCConvolutionCall call = {"VolumetricDilatedConvolution_updateGradInput", state, 3, false, {}};
  call.geometry = THNN_VolumetricDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
  THCUNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(VolumetricDilatedConvolution_accGradParameters)(
    THCState *state, THCTensor *input, THCTensor *gradOutput, THCTensor *gradWeight,
    THCTensor *gradBias, THCTensor *columns, THCTensor *ones, int kT, int kW, int kH, int dT,
    int dW, int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH,
    accreal scale)
{
  (void)columns, (void)ones;
  THCConvolutionCall call = {"VolumetricDilatedConvolution_accGradParameters", state, 3, false, {}};
  call.geometry = THNN_VolumetricDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW,
      dilationH);
  THCUNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

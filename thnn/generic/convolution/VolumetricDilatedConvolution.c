/* 3-D convolution with a dilated kernel: its taps are dilationT, dilationH and dilationW apart.
 *   input    [batch x] nInputPlane x depth x height x width
 *   weight   nOutputPlane x nInputPlane x kT x kH x kW
 *   output   [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth
 * outputDepth is (depth + 2 padT - (dilationT (kT - 1) + 1)) / dT + 1, rounded down. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW, int padH,
    int dilationT, int dilationW, int dilationH)
{
  const int at = firstPosition;
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 3,
      .input = input,
      .gradOutput = gradOutput,
      .weight = weight,
      .bias = bias,
      .kernel = {THNN_SCALAR(kT, at), THNN_SCALAR(kH, at + 2), THNN_SCALAR(kW, at + 1)},
      .stride = {THNN_SCALAR(dT, at + 3), THNN_SCALAR(dH, at + 5), THNN_SCALAR(dW, at + 4)},
      .pad = {THNN_SCALAR(padT, at + 6), THNN_SCALAR(padH, at + 8), THNN_SCALAR(padW, at + 7)},
      .dilation = {THNN_SCALAR(dilationT, at + 9), THNN_SCALAR(dilationH, at + 11),
                   THNN_SCALAR(dilationW, at + 10)},
  };
  return THNN_convolutionCheck(&arguments);
}
#endif

void THNN_(VolumetricDilatedConvolution_updateOutput)(
    THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias,
    THTensor *columns, THTensor *ones, int kT, int kW, int kH, int dT, int dW, int dH, int padT,
    int padW, int padH, int dilationT, int dilationW, int dilationH)
{
  (void)columns, (void)ones;
  THNNConvolutionCall call = {"VolumetricDilatedConvolution_updateOutput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW,
      dilationH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THNN_(VolumetricDilatedConvolution_updateGradInput)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
    THTensor *gradColumns, int kT, int kW, int kH, int dT, int dW, int dH, int padT, int padW,
    int padH, int dilationT, int dilationW, int dilationH)
{
  (void)gradColumns;
  THNNConvolutionCall call = {"VolumetricDilatedConvolution_updateGradInput", state,
                              .nDimension = 3};
  call.geometry = THNN_VolumetricDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW, dilationH);
  THNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricDilatedConvolution_accGradParameters)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
    THTensor *gradBias, THTensor *columns, THTensor *ones, int kT, int kW, int kH, int dT, int dW,
    int dH, int padT, int padW, int padH, int dilationT, int dilationW, int dilationH,
    accreal scale)
{
  (void)columns, (void)ones;
  THNNConvolutionCall call = {"VolumetricDilatedConvolution_accGradParameters", state,
                              .nDimension = 3};
  call.geometry = THNN_VolumetricDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kT, kW, kH, dT, dW, dH, padT, padW, padH, dilationT, dilationW,
      dilationH);
  THNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

/* 2-D convolution.
 *   input    [batch x] nInputPlane x height x width
 *   weight   nOutputPlane x nInputPlane x kH x kW, or nOutputPlane x (nInputPlane * kH * kW)
 *   output   [batch x] nOutputPlane x ((height + 2 padH - kH) / dH + 1) x (…W) */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNConvolution THNN_SpatialConvolutionMM_shapeCheck(const char *function, THNNShape input,
                                                     THNNShape gradOutput, THNNShape weight,
                                                     THNNShape bias, int kWPosition, int kW, int kH,
                                                     int dW, int dH, int padW, int padH)
{
  const int at = kWPosition;
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 2,
      .flatWeight = true,
      .input = input,
      .gradOutput = gradOutput,
      .weight = weight,
      .bias = bias,
      .kernel = {THNN_SCALAR(kH, at + 1), THNN_SCALAR(kW, at)},
      .stride = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)},
      .pad = {THNN_SCALAR(padH, at + 5), THNN_SCALAR(padW, at + 4)},
  };
  return THNN_convolutionCheck(&arguments);
}
#endif

void THNN_(SpatialConvolutionMM_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                              THTensor *weight, THTensor *bias, THTensor *finput,
                                              THTensor *fgradInput, int kW, int kH, int dW, int dH,
                                              int padW, int padH)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"SpatialConvolutionMM_updateOutput", state, .nDimension = 2};
  call.geometry = THNN_SpatialConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, kH, dW, dH, padW, padH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THNN_(SpatialConvolutionMM_updateGradInput)(THNNState *state, THTensor *input,
                                                 THTensor *gradOutput, THTensor *gradInput,
                                                 THTensor *weight, THTensor *finput,
                                                 THTensor *fgradInput, int kW, int kH, int dW,
                                                 int dH, int padW, int padH)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"SpatialConvolutionMM_updateGradInput", state, .nDimension = 2};
  call.geometry = THNN_SpatialConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kW, kH, dW, dH, padW, padH);
  THNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialConvolutionMM_accGradParameters)(THNNState *state, THTensor *input,
                                                   THTensor *gradOutput, THTensor *gradWeight,
                                                   THTensor *gradBias, THTensor *finput,
                                                   THTensor *fgradInput, int kW, int kH, int dW,
                                                   int dH, int padW, int padH, accreal scale)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"SpatialConvolutionMM_accGradParameters", state, .nDimension = 2};
  call.geometry = THNN_SpatialConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH);
  THNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

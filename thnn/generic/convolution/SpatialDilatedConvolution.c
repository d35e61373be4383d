/* 2-D convolution with a dilated kernel: its taps are dilationH rows and dilationW columns apart.
 *   input    [batch x] nInputPlane x height x width
 *   weight   nOutputPlane x nInputPlane x kH x kW
 *   output   [batch x] nOutputPlane x outputHeight x outputWidth
 * outputHeight is (height + 2 padH - (dilationH (kH - 1) + 1)) / dH + 1, rounded down. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNConvolution THNN_SpatialDilatedConvolution_shapeCheck(const char *function, THNNShape input,
                                                          THNNShape gradOutput, THNNShape weight,
                                                          THNNShape bias, int firstPosition, int kW,
                                                          int kH, int dW, int dH, int padW,
                                                          int padH, int dilationW, int dilationH)
{
  const int at = firstPosition;
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 2,
      .input = input,
      .gradOutput = gradOutput,
      .weight = weight,
      .bias = bias,
      .kernel = {THNN_SCALAR(kH, at + 1), THNN_SCALAR(kW, at)},
      .stride = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)},
      .pad = {THNN_SCALAR(padH, at + 5), THNN_SCALAR(padW, at + 4)},
      .dilation = {THNN_SCALAR(dilationH, at + 7), THNN_SCALAR(dilationW, at + 6)},
  };
  return THNN_convolutionCheck(&arguments);
}
#endif

void THNN_(SpatialDilatedConvolution_updateOutput)(THNNState *state, THTensor *input,
                                                   THTensor *output, THTensor *weight,
                                                   THTensor *bias, THTensor *columns,
                                                   THTensor *ones, int kW, int kH, int dW, int dH,
                                                   int padW, int padH, int dilationW, int dilationH)
{
  (void)columns, (void)ones;
  THNNConvolutionCall call = {"SpatialDilatedConvolution_updateOutput", state, .nDimension = 2};
  call.geometry = THNN_SpatialDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THNN_(SpatialDilatedConvolution_updateGradInput)(THNNState *state, THTensor *input,
                                                      THTensor *gradOutput, THTensor *gradInput,
                                                      THTensor *weight, THTensor *gradColumns,
                                                      int kW, int kH, int dW, int dH, int padW,
                                                      int padH, int dilationW, int dilationH)
{
  (void)gradColumns;
  THNNConvolutionCall call = {"SpatialDilatedConvolution_updateGradInput", state, .nDimension = 2};
  call.geometry = THNN_SpatialDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialDilatedConvolution_accGradParameters)(THNNState *state, THTensor *input,
                                                        THTensor *gradOutput, THTensor *gradWeight,
                                                        THTensor *gradBias, THTensor *columns,
                                                        THTensor *ones, int kW, int kH, int dW,
                                                        int dH, int padW, int padH, int dilationW,
                                                        int dilationH, accreal scale)
{
  (void)columns, (void)ones;
  THNNConvolutionCall call = {"SpatialDilatedConvolution_accGradParameters", state,
                              .nDimension = 2};
  call.geometry = THNN_SpatialDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH, dilationW, dilationH);
  THNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

/* Full (transposed) 2-D convolution with a dilated kernel: each input pixel paints kH x kW pixels
 * that are dilationH rows and dilationW columns apart.
 *   input    [batch x] nInputPlane x height x width
 *   weight   nInputPlane x nOutputPlane x kH x kW
 *   output   [batch x] nOutputPlane x outputHeight x outputWidth
 * outputHeight is (height - 1) dH - 2 padH + dilationH (kH - 1) + 1 + adjH. It is the backward
 * pass of the ordinary convolution from its output to its input, whose geometry the shape check
 * returns. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNConvolution THNN_SpatialFullDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int kW, int kH, int dW, int dH, int padW, int padH, int dilationW,
    int dilationH, int adjW, int adjH)
{
  const int at = firstPosition;
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 2,
      .transposed = true,
      .input = input,
      .gradOutput = gradOutput,
      .weight = weight,
      .bias = bias,
      .kernel = {THNN_SCALAR(kH, at + 1), THNN_SCALAR(kW, at)},
      .stride = {THNN_SCALAR(dH, at + 3), THNN_SCALAR(dW, at + 2)},
      .pad = {THNN_SCALAR(padH, at + 5), THNN_SCALAR(padW, at + 4)},
      .dilation = {THNN_SCALAR(dilationH, at + 7), THNN_SCALAR(dilationW, at + 6)},
      .adjustment = {THNN_SCALAR(adjH, at + 9), THNN_SCALAR(adjW, at + 8)},
  };
  return THNN_convolutionCheck(&arguments);
}
#endif

void THNN_(SpatialFullDilatedConvolution_updateOutput)(THNNState *state, THTensor *input,
                                                       THTensor *output, THTensor *weight,
                                                       THTensor *bias, THTensor *columns,
                                                       THTensor *ones, int kW, int kH, int dW,
                                                       int dH, int padW, int padH, int dilationW,
                                                       int dilationH, int adjW, int adjH)
{
  (void)columns, (void)ones;
  THNNConvolutionCall call = {"SpatialFullDilatedConvolution_updateOutput", state, .nDimension = 2,
                              .transposed = true};
  call.geometry = THNN_SpatialFullDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THNN_(SpatialFullDilatedConvolution_updateGradInput)(THNNState *state, THTensor *input,
                                                          THTensor *gradOutput, THTensor *gradInput,
                                                          THTensor *weight, THTensor *gradColumns,
                                                          int kW, int kH, int dW, int dH, int padW,
                                                          int padH, int dilationW, int dilationH,
                                                          int adjW, int adjH)
{
  (void)gradColumns;
  THNNConvolutionCall call = {"SpatialFullDilatedConvolution_updateGradInput", state,
                              .nDimension = 2, .transposed = true};
  call.geometry = THNN_SpatialFullDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
  THNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THNN_(SpatialFullDilatedConvolution_accGradParameters)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
    THTensor *gradBias, THTensor *columns, THTensor *ones, int kW, int kH, int dW, int dH, int padW,
    int padH, int dilationW, int dilationH, int adjW, int adjH, accreal scale)
{
  (void)columns, (void)ones;
  THNNConvolutionCall call = {"SpatialFullDilatedConvolution_accGradParameters", state,
                              .nDimension = 2, .transposed = true};
  call.geometry = THNN_SpatialFullDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
  THNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

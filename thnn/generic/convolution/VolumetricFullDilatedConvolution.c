/* Full (transposed) 3-D convolution with a dilated kernel: each input voxel paints kT x kH x kW
 * voxels that are dilationT, dilationH and dilationW apart. The kernel has the weight's sizes.
 *   input    [batch x] nInputPlane x depth x height x width
 *   weight   nInputPlane x nOutputPlane x kT x kH x kW
 *   output   [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth
 * outputDepth is (depth - 1) dT - 2 pT + dilationT (kT - 1) + 1 + aT. It is the backward pass of
 * the ordinary convolution from its output to its input, whose geometry the shape check returns. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricFullDilatedConvolution_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, THNNShape weight, THNNShape bias,
    int firstPosition, int dT, int dW, int dH, int pT, int pW, int pH, int dilationT, int dilationW,
    int dilationH, int aT, int aW, int aH)
{
  const int at = firstPosition;
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 3,
      .transposed = true,
      .input = input,
      .gradOutput = gradOutput,
      .weight = weight,
      .bias = bias,
      .stride = {THNN_SCALAR(dT, at), THNN_SCALAR(dH, at + 2), THNN_SCALAR(dW, at + 1)},
      .pad = {THNN_SCALAR(pT, at + 3), THNN_SCALAR(pH, at + 5), THNN_SCALAR(pW, at + 4)},
      .dilation = {THNN_SCALAR(dilationT, at + 6), THNN_SCALAR(dilationH, at + 8),
                   THNN_SCALAR(dilationW, at + 7)},
      .adjustment = {THNN_SCALAR(aT, at + 9), THNN_SCALAR(aH, at + 11), THNN_SCALAR(aW, at + 10)},
  };
  return THNN_convolutionCheck(&arguments);
}
#endif

void THNN_(VolumetricFullDilatedConvolution_updateOutput)(
    THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias,
    THTensor *finput, THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH,
    int dilationT, int dilationW, int dilationH, int aT, int aW, int aH)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"VolumetricFullDilatedConvolution_updateOutput", state,
                              .nDimension = 3, .transposed = true};
  call.geometry = THNN_VolumetricFullDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THNN_(VolumetricFullDilatedConvolution_updateGradInput)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
    THTensor *finput, THTensor *fgradInput, int dT, int dW, int dH, int pT, int pW, int pH,
    int dilationT, int dilationW, int dilationH, int aT, int aW, int aH)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"VolumetricFullDilatedConvolution_updateGradInput", state,
                              .nDimension = 3, .transposed = true};
  call.geometry = THNN_VolumetricFullDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW, aH);
  THNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricFullDilatedConvolution_accGradParameters)(
    THNNState *state, THTensor *input, THTensor *gradOutput, THTensor *gradWeight,
    THTensor *gradBias, THTensor *finput, THTensor *fgradInput, int dT, int dW, int dH, int pT,
    int pW, int pH, int dilationT, int dilationW, int dilationH, int aT, int aW, int aH,
    accreal scale)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"VolumetricFullDilatedConvolution_accGradParameters", state,
                              .nDimension = 3, .transposed = true};
  call.geometry = THNN_VolumetricFullDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, dT, dW, dH, pT, pW, pH, dilationT, dilationW, dilationH, aT, aW,
      aH);
  THNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

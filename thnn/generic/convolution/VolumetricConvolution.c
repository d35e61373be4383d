/* 3-D convolution; the kernel's sizes are those of the weight.
 *   input    [batch x] nInputPlane x depth x height x width
 *   weight   nOutputPlane x nInputPlane x kT x kH x kW
 *   output   [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth
 * outputDepth is (depth + 2 pT - kT) / dT + 1, rounded down. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricConvolution_shapeCheck(const char *function, THNNShape input,
                                                      THNNShape gradOutput, THNNShape weight,
                                                      THNNShape bias, int firstPosition, int dT,
                                                      int dW, int dH, int pT, int pW, int pH)
{
  const int at = firstPosition;
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 3,
      .input = input,
      .gradOutput = gradOutput,
      .weight = weight,
      .bias = bias,
      .stride = {THNN_SCALAR(dT, at), THNN_SCALAR(dH, at + 2), THNN_SCALAR(dW, at + 1)},
      .pad = {THNN_SCALAR(pT, at + 3), THNN_SCALAR(pH, at + 5), THNN_SCALAR(pW, at + 4)},
  };
  return THNN_convolutionCheck(&arguments);
}
#endif

void THNN_(VolumetricConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                               THTensor *weight, THTensor *bias, THTensor *finput,
                                               THTensor *fgradInput, int dT, int dW, int dH, int pT,
                                               int pW, int pH)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"VolumetricConvolution_updateOutput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, dT, dW, dH, pT, pW, pH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THNN_(VolumetricConvolution_updateGradInput)(THNNState *state, THTensor *input,
                                                  THTensor *gradOutput, THTensor *gradInput,
                                                  THTensor *weight, THTensor *finput, int dT,
                                                  int dW, int dH, int pT, int pW, int pH)
{
  (void)finput;
  THNNConvolutionCall call = {"VolumetricConvolution_updateGradInput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, dT, dW, dH, pT, pW, pH);
  THNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricConvolution_accGradParameters)(THNNState *state, THTensor *input,
                                                    THTensor *gradOutput, THTensor *gradWeight,
                                                    THTensor *gradBias, THTensor *finput,
                                                    THTensor *fgradInput, int dT, int dW, int dH,
                                                    int pT, int pW, int pH, accreal scale)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"VolumetricConvolution_accGradParameters", state, .nDimension = 3};
  call.geometry = THNN_VolumetricConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, dT, dW, dH, pT, pW, pH);
  THNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

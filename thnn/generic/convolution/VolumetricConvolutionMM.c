/* 3-D convolution.
 *   input    [batch x] nInputPlane x depth x height x width
 *   weight   nOutputPlane x nInputPlane x kT x kH x kW, or
 *            nOutputPlane x (nInputPlane * kT * kH * kW)
 *   output   [batch x] nOutputPlane x outputDepth x outputHeight x outputWidth
 * outputDepth is (depth + 2 pT - kT) / dT + 1, rounded down. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

#ifdef THNN_ONCE
THNNConvolution THNN_VolumetricConvolutionMM_shapeCheck(const char *function, THNNShape input,
                                                        THNNShape gradOutput, THNNShape weight,
                                                        THNNShape bias, int firstPosition, int kT,
                                                        int kW, int kH, int dT, int dW, int dH,
                                                        int pT, int pW, int pH)
{
  const int at = firstPosition;
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 3,
      .flatWeight = true,
      .input = input,
      .gradOutput = gradOutput,
      .weight = weight,
      .bias = bias,
      .kernel = {THNN_SCALAR(kT, at), THNN_SCALAR(kH, at + 2), THNN_SCALAR(kW, at + 1)},
      .stride = {THNN_SCALAR(dT, at + 3), THNN_SCALAR(dH, at + 5), THNN_SCALAR(dW, at + 4)},
      .pad = {THNN_SCALAR(pT, at + 6), THNN_SCALAR(pH, at + 8), THNN_SCALAR(pW, at + 7)},
  };
  return THNN_convolutionCheck(&arguments);
}
#endif

void THNN_(VolumetricConvolutionMM_updateOutput)(THNNState *state, THTensor *input,
                                                 THTensor *output, THTensor *weight, THTensor *bias,
                                                 THTensor *finput, int kT, int kW, int kH, int dT,
                                                 int dW, int dH, int pT, int pW, int pH)
{
  (void)finput;
  THNNConvolutionCall call = {"VolumetricConvolutionMM_updateOutput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 7, kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THNN_(VolumetricConvolutionMM_updateGradInput)(THNNState *state, THTensor *input,
                                                    THTensor *gradOutput, THTensor *gradInput,
                                                    THTensor *weight, THTensor *finput,
                                                    THTensor *fgradInput, int kT, int kW, int kH,
                                                    int dT, int dW, int dH, int pT, int pW, int pH)
{
  (void)finput, (void)fgradInput;
  THNNConvolutionCall call = {"VolumetricConvolutionMM_updateGradInput", state, .nDimension = 3};
  call.geometry = THNN_VolumetricConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THNN_(VolumetricConvolutionMM_accGradParameters)(THNNState *state, THTensor *input,
                                                      THTensor *gradOutput, THTensor *gradWeight,
                                                      THTensor *gradBias, THTensor *finput, int kT,
                                                      int kW, int kH, int dT, int dW, int dH,
                                                      int pT, int pW, int pH, accreal scale)
{
  (void)finput;
  THNNConvolutionCall call = {"VolumetricConvolutionMM_accGradParameters", state, .nDimension = 3};
  call.geometry = THNN_VolumetricConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 7, kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

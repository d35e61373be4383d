/* The twin of generic/convolution/VolumetricConvolutionMM.c. */
#include "cuda/generic/convolution/module.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(VolumetricConvolutionMM_updateOutput)(THCState *state, THCTensor *input,
                                                   THCTensor *output, THCTensor *weight,
                                                   THCTensor *bias, THCTensor *finput, int kT,
                                                   int kW, int kH, int dT, int dW, int dH, int pT,
                                                   int pW, int pH)
{
  (void)finput;
  THCConvolutionCall call = {"VolumetricConvolutionMM_updateOutput", state, 3, false, {}};
  call.geometry = THNN_VolumetricConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 7, kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THCUNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(VolumetricConvolutionMM_updateGradInput)(THCState *state, THCTensor *input,
                                                      THCTensor *gradOutput, THCTensor *gradInput,
                                                      THCTensor *weight, THCTensor *finput,
                                                      THCTensor *fgradInput, int kT, int kW, int kH,
                                                      int dT, int dW, int dH, int pT, int pW,
                                                      int pH)
{
  (void)finput, (void)fgradInput;
  THCConvolutionCall call = {"VolumetricConvolutionMM_updateGradInput", state, 3, false, {}};
  call.geometry = THNN_VolumetricConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 8, kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THCUNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(VolumetricConvolutionMM_accGradParameters)(THCState *state, THCTensor *input,
                                                        THCTensor *gradOutput,
                                                        THCTensor *gradWeight, THCTensor *gradBias,
                                                        THCTensor *finput, int kT, int kW, int kH,
                                                        int dT, int dW, int dH, int pT, int pW,
                                                        int pH, accreal scale)
{
  (void)finput;
  THCConvolutionCall call = {"VolumetricConvolutionMM_accGradParameters", state, 3, false, {}};
  call.geometry = THNN_VolumetricConvolutionMM_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 7, kT, kW, kH, dT, dW, dH, pT, pW, pH);
  THCUNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

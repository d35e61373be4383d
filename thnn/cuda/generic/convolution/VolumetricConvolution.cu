/* The twin of generic/convolution/VolumetricConvolution.c. */
#include "cuda/generic/convolution/module.cuh"
#include "generic/convolution/checks.h"

void THCUNN_(VolumetricConvolution_updateOutput)(THCState *state, THCTensor *input,
                                                 THCTensor *output, THCTensor *weight,
                                                 THCTensor *bias, THCTensor *finput,
                                                 THCTensor *fgradInput, int dT, int dW, int dH,
                                                 int padT, int padW, int padH)
{
  (void)finput, (void)fgradInput;
  THCConvolutionCall call = {"VolumetricConvolution_updateOutput", state, 3, false, {}};
  call.geometry = THNN_VolumetricConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 8, dT, dW, dH, padT, padW, padH);
  THCUNN_(module_updateOutput)(&call, input, output, weight, bias);
}

void THCUNN_(VolumetricConvolution_updateGradInput)(THCState *state, THCTensor *input,
                                                    THCTensor *gradOutput, THCTensor *gradInput,
                                                    THCTensor *weight, THCTensor *finput, int dT,
                                                    int dW, int dH, int padT, int padW, int padH)
{
  (void)finput;
  THCConvolutionCall call = {"VolumetricConvolution_updateGradInput", state, 3, false, {}};
  call.geometry = THNN_VolumetricConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(weight, 5),
      THNN_NO_SHAPE, 7, dT, dW, dH, padT, padW, padH);
  THCUNN_(module_updateGradInput)(&call, input, gradOutput, gradInput, weight);
}

void THCUNN_(VolumetricConvolution_accGradParameters)(THCState *state, THCTensor *input,
                                                      THCTensor *gradOutput, THCTensor *gradWeight,
                                                      THCTensor *gradBias, THCTensor *finput,
                                                      THCTensor *fgradInput, int dT, int dW, int dH,
                                                      int padT, int padW, int padH, accreal scale)
{
  (void)finput, (void)fgradInput;
  THCConvolutionCall call = {"VolumetricConvolution_accGradParameters", state, 3, false, {}};
  call.geometry = THNN_VolumetricConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5), 8, dT, dW, dH, padT, padW, padH);
  THCUNN_(module_accGradParameters)(&call, input, gradOutput, gradWeight, gradBias, scale);
}

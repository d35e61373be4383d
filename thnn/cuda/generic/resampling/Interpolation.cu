/* The twin of generic/resampling/Interpolation.c. */
#include "cuda/generic/resampling/cubic.cuh"
#include "generic/resampling/checks.h"

void THCUNN_(Interpolation_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                         int outputDepth, int outputHeight, int outputWidth,
                                         double stepDepth, double stepHeight, double stepWidth,
                                         int mode)
{
  THCResamplingCall call = {"Interpolation_updateOutput", state, 3, {}};
  call.resampling = THNN_Interpolation_shapeCheck(
      call.function, THNN_SHAPE(input, 2), 4,
      THNNInterpolation{
          {outputDepth, outputHeight, outputWidth}, {stepDepth, stepHeight, stepWidth}, mode});
  if (call.resampling.steps.isCubic)
    THCUNN_(cubic_updateOutput)(&call, input, output);
  else
    THCUNN_(linear_updateOutput)(&call, input, output);
}

void THCUNN_(Interpolation_updateGradInput)(THCState *state, THCTensor *gradOutput,
                                            THCTensor *gradInput, int inputDepth, int inputHeight,
                                            int inputWidth, double stepDepth, double stepHeight,
                                            double stepWidth, int mode)
{
  THCResamplingCall call = {"Interpolation_updateGradInput", state, 3, {}};
  call.resampling = THNN_Interpolation_gradientCheck(
      call.function, THNN_SHAPE(gradOutput, 2), 4,
      THNNInterpolation{
          {inputDepth, inputHeight, inputWidth}, {stepDepth, stepHeight, stepWidth}, mode});
  if (call.resampling.steps.isCubic)
    THCUNN_(cubic_updateGradInput)(&call, gradOutput, gradInput);
  else
    THCUNN_(linear_updateGradInput)(&call, gradOutput, gradInput);
}

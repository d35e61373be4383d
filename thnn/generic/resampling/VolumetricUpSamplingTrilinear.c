/* Trilinear resampling of volumes; the corners of input and output coincide.
 *   input, gradInput     batch x planes x inputDepth x inputHeight x inputWidth
 *   output, gradOutput   batch x planes x outputDepth x outputHeight x outputWidth
 * Output slice z is at z * (inputDepth - 1) / (outputDepth - 1) of the input (at 0 when
 * outputDepth is 1) and is interpolated between the slices on either side; rows and columns
 * likewise. */
#include "generic/resampling/checks.h"
#include "generic/resampling/linear.h"

#ifdef THNN_ONCE
THNNResampling THNN_VolumetricUpSamplingTrilinear_shapeCheck(
    const char *function, THNNShape input, THNNShape gradOutput, int firstPosition, int nbatch,
    int nchannels, int inputDepth, int inputHeight, int inputWidth, int outputDepth,
    int outputHeight, int outputWidth)
{
  /* Forward, the output's sizes are the first scalars. */
  const bool forward = gradOutput.nDimension == THNN_NOT_PRESENT;
  const int at = firstPosition, outputAt = forward ? at : at + 5;
  const THNNResamplingArguments arguments = {
      .function = function,
      .nDimension = 3,
      .input = input,
      .gradOutput = gradOutput,
      .batch = THNN_SCALAR(nbatch, at),
      .planes = THNN_SCALAR(nchannels, at + 1),
      .inputSize = {THNN_SCALAR(inputDepth, at + 2), THNN_SCALAR(inputHeight, at + 3),
                    THNN_SCALAR(inputWidth, at + 4)},
      .outputSize = {THNN_SCALAR(outputDepth, outputAt), THNN_SCALAR(outputHeight, outputAt + 1),
                     THNN_SCALAR(outputWidth, outputAt + 2)}};
  return THNN_resamplingCheck(&arguments);
}
#endif

void THNN_(VolumetricUpSamplingTrilinear_updateOutput)(THNNState *state, THTensor *input,
                                                       THTensor *output, int outputDepth,
                                                       int outputHeight, int outputWidth)
{
  THNNResamplingCall call = {"VolumetricUpSamplingTrilinear_updateOutput", state, .nDimension = 3};
  call.resampling = THNN_VolumetricUpSamplingTrilinear_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, 0, 0, 0, 0, 0, outputDepth,
      outputHeight, outputWidth);
  THNN_(linear_updateOutput)(&call, input, output);
}

void THNN_(VolumetricUpSamplingTrilinear_updateGradInput)(THNNState *state, THTensor *gradOutput,
                                                          THTensor *gradInput, int nbatch,
                                                          int nchannels, int inputDepth,
                                                          int inputHeight, int inputWidth,
                                                          int outputDepth, int outputHeight,
                                                          int outputWidth)
{
  THNNResamplingCall call = {"VolumetricUpSamplingTrilinear_updateGradInput", state,
                             .nDimension = 3};
  call.resampling = THNN_VolumetricUpSamplingTrilinear_shapeCheck(
      call.function, THNN_NO_SHAPE, THNN_SHAPE(gradOutput, 2), 4, nbatch, nchannels, inputDepth,
      inputHeight, inputWidth, outputDepth, outputHeight, outputWidth);
  THNN_(linear_updateGradInput)(&call, gradOutput, gradInput);
}

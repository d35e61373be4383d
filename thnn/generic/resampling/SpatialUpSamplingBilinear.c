/* Bilinear resampling of planes; the corners of input and output coincide.
 *   input, gradInput     batch x planes x inputHeight x inputWidth
 *   output, gradOutput   batch x planes x outputHeight x outputWidth
 * Output row y is at y * (inputHeight - 1) / (outputHeight - 1) of the input (at 0 when
 * outputHeight is 1) and is interpolated between the rows above and below; columns likewise. */
#include "generic/resampling/checks.h"
#include "generic/resampling/linear.h"

#ifdef THNN_ONCE
THNNResampling THNN_SpatialUpSamplingBilinear_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape gradOutput, int firstPosition,
                                                         int nbatch, int nchannels, int inputHeight,
                                                         int inputWidth, int outputHeight,
                                                         int outputWidth)
{
  /* Forward, the output's sizes are the first scalars. */
  const bool forward = gradOutput.nDimension == THNN_NOT_PRESENT;
  const int at = firstPosition, outputAt = forward ? at : at + 4;
  const THNNResamplingArguments arguments = {
      .function = function,
      .nDimension = 2,
      .input = input,
      .gradOutput = gradOutput,
      .batch = THNN_SCALAR(nbatch, at),
      .planes = THNN_SCALAR(nchannels, at + 1),
      .inputSize = {THNN_SCALAR(inputHeight, at + 2), THNN_SCALAR(inputWidth, at + 3)},
      .outputSize = {THNN_SCALAR(outputHeight, outputAt), THNN_SCALAR(outputWidth, outputAt + 1)}};
  return THNN_resamplingCheck(&arguments);
}
#endif

void THNN_(SpatialUpSamplingBilinear_updateOutput)(THNNState *state, THTensor *input,
                                                   THTensor *output, int outputHeight,
                                                   int outputWidth)
{
  THNNResamplingCall call = {"SpatialUpSamplingBilinear_updateOutput", state, .nDimension = 2};
  call.resampling = THNN_SpatialUpSamplingBilinear_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, 0, 0, 0, 0, outputHeight, outputWidth);
  THNN_(linear_updateOutput)(&call, input, output);
}

void THNN_(SpatialUpSamplingBilinear_updateGradInput)(THNNState *state, THTensor *gradOutput,
                                                      THTensor *gradInput, int nbatch,
                                                      int nchannels, int inputHeight,
                                                      int inputWidth, int outputHeight,
                                                      int outputWidth)
{
  THNNResamplingCall call = {"SpatialUpSamplingBilinear_updateGradInput", state, .nDimension = 2};
  call.resampling = THNN_SpatialUpSamplingBilinear_shapeCheck(
      call.function, THNN_NO_SHAPE, THNN_SHAPE(gradOutput, 2), 4, nbatch, nchannels, inputHeight,
      inputWidth, outputHeight, outputWidth);
  THNN_(linear_updateGradInput)(&call, gradOutput, gradInput);
}

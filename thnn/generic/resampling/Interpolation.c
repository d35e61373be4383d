/* Linear resampling of volumes to any places, cubic convolution, or the elements at these.
 *   input, gradInput     batch x planes x inputDepth x inputHeight x inputWidth
 *   output, gradOutput   batch x planes x outputDepth x outputHeight x outputWidth
 * Along each dimension output index i is at i * step of the input's indices, in mode 0 at
 * (i + 1/2) * step - 1/2, or at the nearest index that the input has; in mode 2 at the index before
 * that. Modes 3 and 4 have the places of modes 0 and 1, also outside the input, whose nearest
 * elements count there. */
#include "generic/resampling/checks.h"
#include "generic/resampling/cubic.h"
#include "generic/resampling/linear.h"

#include <stdio.h>

#ifdef THNN_ONCE
/* Checks the steps and sets where output indices are. */
static void setSteps(const char *function, int at, const THNNInterpolation *to, THNNResampling *r)
{
  static const char *const names[] = {"stepDepth", "stepHeight", "stepWidth"};
  const int mode = to->mode;
  r->hasSteps = true;
  for (int d = 0; d < 3; d++) {
    const double step = to->step[d];
    if (!(step >= 0 && step <= INT32_MAX)) {
      char found[32];
      snprintf(found, sizeof found, "%g", step);
      THNN_reject(function, names[d], at + d, "a number from 0 to 2147483647", found);
    }
    r->steps.step[d] = step;
    const bool edges = mode == THNN_INTERPOLATION_EDGES || mode == THNN_INTERPOLATION_CUBIC;
    r->steps.start[d] = edges ? (step - 1) / 2 : 0;
  }
  THNN_checkAtLeast(function, THNN_SCALAR(mode, at + 3), THNN_INTERPOLATION_EDGES);
  THNN_checkAtMost(function, THNN_SCALAR(mode, at + 3), THNN_INTERPOLATION_CUBIC_CORNERS);
  r->steps.isWhole = mode == THNN_INTERPOLATION_NEAREST;
  r->steps.isCubic = mode >= THNN_INTERPOLATION_CUBIC;
}

THNNResampling THNN_Interpolation_shapeCheck(const char *function, THNNShape input, int at,
                                             THNNInterpolation to)
{
  const int outputDepth = to.size[0], outputHeight = to.size[1], outputWidth = to.size[2];
  const THNNResamplingArguments arguments = {.function = function,
                                             .nDimension = 3,
                                             .input = input,
                                             .gradOutput = THNN_NO_SHAPE,
                                             .outputSize = {THNN_SCALAR(outputDepth, at),
                                                            THNN_SCALAR(outputHeight, at + 1),
                                                            THNN_SCALAR(outputWidth, at + 2)}};
  THNNResampling r = THNN_resamplingCheck(&arguments);
  setSteps(function, at + 3, &to, &r);
  return r;
}

THNNResampling THNN_Interpolation_gradientCheck(const char *function, THNNShape gradOutput, int at,
                                                THNNInterpolation from)
{
  const int inputDepth = from.size[0], inputHeight = from.size[1], inputWidth = from.size[2];
  THNN_checkDimensions(function, gradOutput, 5, 5,
                       "batch x planes x outputDepth x outputHeight x outputWidth");
  const int64_t *size = gradOutput.size;
  const THNNResamplingArguments arguments = {
      .function = function,
      .nDimension = 3,
      .input = THNN_NO_SHAPE,
      .gradOutput = gradOutput,
      .batch = THNN_makeScalar("gradOutput", 2, size[0]),
      .planes = THNN_makeScalar("gradOutput", 2, size[1]),
      .inputSize = {THNN_SCALAR(inputDepth, at), THNN_SCALAR(inputHeight, at + 1),
                    THNN_SCALAR(inputWidth, at + 2)},
      .outputSize = {THNN_makeScalar("gradOutput", 2, size[2]),
                     THNN_makeScalar("gradOutput", 2, size[3]),
                     THNN_makeScalar("gradOutput", 2, size[4])}};
  THNNResampling r = THNN_resamplingCheck(&arguments);
  setSteps(function, at + 3, &from, &r);
  return r;
}
#endif

void THNN_(Interpolation_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                       int outputDepth, int outputHeight, int outputWidth,
                                       double stepDepth, double stepHeight, double stepWidth,
                                       int mode)
{
  THNNResamplingCall call = {"Interpolation_updateOutput", state, .nDimension = 3};
  call.resampling = THNN_Interpolation_shapeCheck(
      call.function, THNN_SHAPE(input, 2), 4,
      (THNNInterpolation){
          {outputDepth, outputHeight, outputWidth}, {stepDepth, stepHeight, stepWidth}, mode});
  if (call.resampling.steps.isCubic)
    THNN_(cubic_updateOutput)(&call, input, output);
  else
    THNN_(linear_updateOutput)(&call, input, output);
}

void THNN_(Interpolation_updateGradInput)(THNNState *state, THTensor *gradOutput,
                                          THTensor *gradInput, int inputDepth, int inputHeight,
                                          int inputWidth, double stepDepth, double stepHeight,
                                          double stepWidth, int mode)
{
  THNNResamplingCall call = {"Interpolation_updateGradInput", state, .nDimension = 3};
  call.resampling = THNN_Interpolation_gradientCheck(
      call.function, THNN_SHAPE(gradOutput, 2), 4,
      (THNNInterpolation){
          {inputDepth, inputHeight, inputWidth}, {stepDepth, stepHeight, stepWidth}, mode});
  if (call.resampling.steps.isCubic)
    THNN_(cubic_updateGradInput)(&call, gradOutput, gradInput);
  else
    THNN_(linear_updateGradInput)(&call, gradOutput, gradInput);
}

/* Convolution of groups of planes, in as many dimensions as the weight has.
 *   input    [batch x] nInputPlane x [[depth x] height x] width
 *   weight   nOutputPlane x (nInputPlane / groups) x [[kT x] kH x] kW
 *   output   [batch x] nOutputPlane x [[outputDepth x] outputHeight x] outputWidth
 * outputWidth is (width + padLeft + padRight - (dilationW (kW - 1) + 1)) / dW + 1, rounded down.
 * With `flip`, tap i of a kernel is its element kW - 1 - i, and likewise in the other
 * dimensions. */

#include "generic/convolution/grouped.h"

void THNN_(GroupedConvolution_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                            THTensor *weight, THTensor *bias, bool flip, int groups,
                                            int dT, int dH, int dW, int padFront, int padTop,
                                            int padLeft, int padBack, int padBottom, int padRight,
                                            int dilationT, int dilationH, int dilationW)
{
  const char *function = "GroupedConvolution_updateOutput";
  const THNNGroupedArguments arguments = {
      .function = function,
      .flip = flip,
      .image = THNN_SHAPE(input, 2),
      .map = THNN_NO_SHAPE,
      .weight = THNN_SHAPE(weight, 4),
      .bias = THNN_SHAPE(bias, 5),
      .target = THNN_NO_SHAPE,
      .settings = {THNN_GROUP_SETTINGS(7)},
  };
  const THNNGroups checked = THNN_groupedCheck(&arguments);
  THNN_(grouped_updateOutput)(function, state, &checked, input, output, weight, bias);
}

void THNN_(GroupedConvolution_updateGradInput)(
    THNNState *state, THTensor *gradOutput, THTensor *gradInput, THTensor *weight,
    int64_t inputDepth, int64_t inputHeight, int64_t inputWidth, bool add, bool flip, int groups,
    int dT, int dH, int dW, int padFront, int padTop, int padLeft, int padBack, int padBottom,
    int padRight, int dilationT, int dilationH, int dilationW)
{
  const char *function = "GroupedConvolution_updateGradInput";
  const THNNGroupedArguments arguments = {
      .function = function,
      .flip = flip,
      .image = THNN_NO_SHAPE,
      .map = THNN_SHAPE(gradOutput, 2),
      .weight = THNN_SHAPE(weight, 4),
      .bias = THNN_NO_SHAPE,
      .target = add ? THNN_SHAPE(gradInput, 3) : THNN_NO_SHAPE,
      .sizes = {THNN_SCALAR(inputDepth, 5), THNN_SCALAR(inputHeight, 6),
                THNN_SCALAR(inputWidth, 7)},
      .settings = {THNN_GROUP_SETTINGS(10)},
  };
  const THNNGroups checked = THNN_groupedCheck(&arguments);
  THNN_(grouped_updateGradInput)(function, state, &checked, gradOutput, gradInput, weight, add);
}

void THNN_(GroupedConvolution_accGradParameters)(THNNState *state, THTensor *input,
                                                 THTensor *gradOutput, THTensor *gradWeight,
                                                 THTensor *gradBias, int dimensions, bool flip,
                                                 int groups, int dT, int dH, int dW, int padFront,
                                                 int padTop, int padLeft, int padBack,
                                                 int padBottom, int padRight, int dilationT,
                                                 int dilationH, int dilationW, accreal scale)
{
  const char *function = "GroupedConvolution_accGradParameters";
  THNN_checkAtLeast(function, THNN_SCALAR(dimensions, 6), 1);
  THNN_checkAtMost(function, THNN_SCALAR(dimensions, 6), 3);
  if (!gradWeight) {
    if (gradBias)
      THNN_(grouped_accGradBias)(function, state, dimensions, gradOutput, gradBias, scale);
    return;
  }
  const THNNGroupedArguments arguments = {
      .function = function,
      .flip = flip,
      .nDimension = dimensions,
      .image = THNN_SHAPE(input, 2),
      .map = THNN_SHAPE(gradOutput, 3),
      .weight = THNN_SHAPE(gradWeight, 4),
      .bias = THNN_SHAPE(gradBias, 5),
      .target = THNN_NO_SHAPE,
      .settings = {THNN_GROUP_SETTINGS(8)},
  };
  const THNNGroups checked = THNN_groupedCheck(&arguments);
  THNN_(grouped_accGradParameters)(function, state, &checked, input, gradOutput, gradWeight,
                                   gradBias, scale);
}

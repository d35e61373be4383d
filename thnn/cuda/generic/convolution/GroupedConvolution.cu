/* The twin of generic/convolution/GroupedConvolution.c. */
#include "cuda/generic/convolution/grouped.cuh"

void THCUNN_(GroupedConvolution_updateOutput)(THCState *state, THCTensor *input, THCTensor *output,
                                              THCTensor *weight, THCTensor *bias, bool flip,
                                              int groups, int dT, int dH, int dW, int padFront,
                                              int padTop, int padLeft, int padBack, int padBottom,
                                              int padRight, int dilationT, int dilationH,
                                              int dilationW)
{
  const char *function = "GroupedConvolution_updateOutput";
  const THNNGroupedArguments arguments = {
      function,
      false,
      flip,
      0,
      THNN_SHAPE(input, 2),
      THNN_NO_SHAPE,
      THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5),
      THNN_NO_SHAPE,
      {},
      {THNN_GROUP_SETTINGS(7)},
  };
  const THNNGroups checked = THNN_groupedCheck(&arguments);
  THCUNN_(grouped_updateOutput)(function, state, &checked, input, output, weight, bias);
}

void THCUNN_(GroupedConvolution_updateGradInput)(
    THCState *state, THCTensor *gradOutput, THCTensor *gradInput, THCTensor *weight,
    int64_t inputDepth, int64_t inputHeight, int64_t inputWidth, bool add, bool flip, int groups,
    int dT, int dH, int dW, int padFront, int padTop, int padLeft, int padBack, int padBottom,
    int padRight, int dilationT, int dilationH, int dilationW)
{
  const char *function = "GroupedConvolution_updateGradInput";
  const THNNGroupedArguments arguments = {
      function,
      false,
      flip,
      0,
      THNN_NO_SHAPE,
      THNN_SHAPE(gradOutput, 2),
      THNN_SHAPE(weight, 4),
      THNN_NO_SHAPE,
      add ? THNN_SHAPE(gradInput, 3) : THNN_NO_SHAPE,
      {THNN_SCALAR(inputDepth, 5), THNN_SCALAR(inputHeight, 6), THNN_SCALAR(inputWidth, 7)},
      {THNN_GROUP_SETTINGS(10)},
  };
  const THNNGroups checked = THNN_groupedCheck(&arguments);
  THCUNN_(grouped_updateGradInput)(function, state, &checked, gradOutput, gradInput, weight, add);
}

void THCUNN_(GroupedConvolution_accGradParameters)(THCState *state, THCTensor *input,
                                                   THCTensor *gradOutput, THCTensor *gradWeight,
                                                   THCTensor *gradBias, int dimensions, bool flip,
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
      THCUNN_(grouped_accGradBias)(function, state, dimensions, gradOutput, gradBias, scale);
    return;
  }
  const THNNGroupedArguments arguments = {
      function,
      false,
      flip,
      dimensions,
      THNN_SHAPE(input, 2),
      THNN_SHAPE(gradOutput, 3),
      THNN_SHAPE(gradWeight, 4),
      THNN_SHAPE(gradBias, 5),
      THNN_NO_SHAPE,
      {},
      {THNN_GROUP_SETTINGS(8)},
  };
  const THNNGroups checked = THNN_groupedCheck(&arguments);
  THCUNN_(grouped_accGradParameters)(function, state, &checked, input, gradOutput, gradWeight,
                                     gradBias, scale);
}

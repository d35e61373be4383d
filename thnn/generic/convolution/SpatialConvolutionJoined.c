/* 2-D convolution with what follows it in a network: a sum with a tensor, as of a residual block,
 * and ReLU. The results are those of SpatialDilatedConvolution, THTensor_cadd and Threshold, one
 * after the other. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

void THNN_(SpatialConvolutionJoined_updateOutput)(THNNState *state, THTensor *input,
                                                  THTensor *output, THTensor *weight,
                                                  THTensor *bias, THTensor *addend, bool rectify,
                                                  int kW, int kH, int dW, int dH, int padW,
                                                  int padH, int dilationW, int dilationH)
{
  const char *function = "SpatialConvolutionJoined_updateOutput";
  const THNNConvolutionArguments arguments = {
      .function = function,
      .nDimension = 2,
      .flatWeight = true,
      .input = THNN_SHAPE(input, 2),
      .gradOutput = THNN_NO_SHAPE,
      .weight = THNN_SHAPE(weight, 4),
      .bias = THNN_SHAPE(bias, 5),
      .kernel = {THNN_SCALAR(kH, 9), THNN_SCALAR(kW, 8)},
      .stride = {THNN_SCALAR(dH, 11), THNN_SCALAR(dW, 10)},
      .pad = {THNN_SCALAR(padH, 13), THNN_SCALAR(padW, 12)},
      .dilation = {THNN_SCALAR(dilationH, 15), THNN_SCALAR(dilationW, 14)},
  };
  const THNNConvolutionCall call = {.function = function,
                                    .state = state,
                                    .geometry = THNN_convolutionCheck(&arguments),
                                    .nDimension = 2,
                                    .addend = addend,
                                    .rectifies = rectify};
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

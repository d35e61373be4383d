/* 2-D convolution with what follows it in a network: a sum with a tensor, as of a residual block,
 * and an activation. The results are those of SpatialDilatedConvolution, THTensor_cadd and the
 * activation's module, one after the other. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

void THNN_(SpatialConvolutionJoined_updateOutput)(THNNState *state, THTensor *input,
                                                  THTensor *output, THTensor *weight,
                                                  THTensor *bias, THTensor *addend, int activation,
                                                  accreal first, accreal second, int kW, int kH,
                                                  int dW, int dH, int padW, int padH, int dilationW,
                                                  int dilationH)
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
      .kernel = {THNN_SCALAR(kH, 11), THNN_SCALAR(kW, 10)},
      .stride = {THNN_SCALAR(dH, 13), THNN_SCALAR(dW, 12)},
      .pad = {THNN_SCALAR(padH, 15), THNN_SCALAR(padW, 14)},
      .dilation = {THNN_SCALAR(dilationH, 17), THNN_SCALAR(dilationW, 16)},
  };
  const THNNConvolutionCall call = {.function = function,
                                    .state = state,
                                    .geometry = THNN_convolutionCheck(&arguments),
                                    .nDimension = 2,
                                    .addend = addend,
                                    .activation = activation,
                                    .parameters = {first, second}};
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

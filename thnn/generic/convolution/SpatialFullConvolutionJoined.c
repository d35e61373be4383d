/* Full (transposed) 2-D convolution with what follows it in a network: a sum with a tensor and an
 * activation. The results are those of SpatialFullDilatedConvolution, THTensor_cadd and the
 * activation's module, one after the other. */
#include "generic/convolution/checks.h"
#include "generic/convolution/module.h"
#include "geometry/convolutionCheck.h"

void THNN_(SpatialFullConvolutionJoined_updateOutput)(
    THNNState *state, THTensor *input, THTensor *output, THTensor *weight, THTensor *bias,
    THTensor *addend, int activation, accreal first, accreal second, int kW, int kH, int dW, int dH,
    int padW, int padH, int dilationW, int dilationH, int adjW, int adjH)
{
  THNNConvolutionCall call = {.function = "SpatialFullConvolutionJoined_updateOutput",
                              .state = state,
                              .nDimension = 2,
                              .transposed = true,
                              .addend = addend,
                              .activation = activation,
                              .parameters = {first, second}};
  call.geometry = THNN_SpatialFullDilatedConvolution_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_SHAPE(weight, 4),
      THNN_SHAPE(bias, 5), 10, kW, kH, dW, dH, padW, padH, dilationW, dilationH, adjW, adjH);
  THNN_(module_updateOutput)(&call, input, output, weight, bias);
}

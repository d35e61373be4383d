/* 2-D max pooling of which only the values are wanted: SpatialDilatedMaxPooling without indices. */
#include "generic/pooling/checks.h"
#include "generic/pooling/max.h"

void THNN_(SpatialGreatest_updateOutput)(THNNState *state, THTensor *input, THTensor *output,
                                         int kW, int kH, int dW, int dH, int padW, int padH,
                                         int dilationW, int dilationH, bool ceil_mode)
{
  THNNMaxPoolingCall call = {"SpatialGreatest_updateOutput", state, .nDimension = 2};
  call.geometry = THNN_SpatialDilatedMaxPooling_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, THNN_NO_SHAPE, 4, kW, kH, dW, dH, padW,
      padH, dilationW, dilationH, ceil_mode);
  THNN_(max_updateOutput)(&call, input, output, NULL);
}

/* 2-D nearest-neighbour upsampling by a whole factor.
 *   input   [batch x] planes x height x width
 *   output  [batch x] planes x the same, each times scale_factor */
#include "generic/resampling/nearest.h"

void THNN_(SpatialUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input,
                                                  THTensor *output, int scale_factor)
{
  const THNNNearestCall call = {"SpatialUpSamplingNearest_updateOutput", state, 2, scale_factor};
  THNN_(nearest_updateOutput)(&call, input, output);
}

void THNN_(SpatialUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input,
                                                     THTensor *gradOutput, THTensor *gradInput,
                                                     int scale_factor)
{
  const THNNNearestCall call = {"SpatialUpSamplingNearest_updateGradInput", state, 2, scale_factor};
  THNN_(nearest_updateGradInput)(&call, input, gradOutput, gradInput);
}

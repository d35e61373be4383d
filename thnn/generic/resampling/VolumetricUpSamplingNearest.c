/* 3-D nearest-neighbour upsampling by a whole factor.
 *   input   [batch x] planes x depth x height x width
 *   output  [batch x] planes x the same, each times scale_factor */
#include "generic/resampling/nearest.h"

void THNN_(VolumetricUpSamplingNearest_updateOutput)(THNNState *state, THTensor *input,
                                                     THTensor *output, int scale_factor)
{
  const THNNNearestCall call = {"VolumetricUpSamplingNearest_updateOutput", state, 3, scale_factor};
  THNN_(nearest_updateOutput)(&call, input, output);
}

void THNN_(VolumetricUpSamplingNearest_updateGradInput)(THNNState *state, THTensor *input,
                                                        THTensor *gradOutput, THTensor *gradInput,
                                                        int scale_factor)
{
  const THNNNearestCall call = {"VolumetricUpSamplingNearest_updateGradInput", state, 3,
                                scale_factor};
  THNN_(nearest_updateGradInput)(&call, input, gradOutput, gradInput);
}

/* The twin of generic/padding/SpatialReplicationPadding.c. */
#include "cuda/generic/padding/padding.cuh"
#include "generic/padding/checks.h"

void THCUNN_(SpatialReplicationPadding_updateOutput)(THCState *state, THCTensor *input,
                                                     THCTensor *output, int padL, int padR,
                                                     int padT, int padB)
{
  THCPaddingCall call = {"SpatialReplicationPadding_updateOutput", state, 2, {}, 0};
  call.padding = THNN_SpatialReplicationPadding_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, padL, padR, padT, padB);
  THCUNN_(padding_updateOutput)(&call, input, output);
}

void THCUNN_(SpatialReplicationPadding_updateGradInput)(THCState *state, THCTensor *input,
                                                        THCTensor *gradOutput, THCTensor *gradInput,
                                                        int padL, int padR, int padT, int padB)
{
  THCPaddingCall call = {"SpatialReplicationPadding_updateGradInput", state, 2, {}, 0};
  call.padding = THNN_SpatialReplicationPadding_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_SHAPE(gradOutput, 3), 5, padL, padR, padT, padB);
  THCUNN_(padding_updateGradInput)(&call, THNN_SHAPE(input, 2), gradOutput, 3, gradInput);
}

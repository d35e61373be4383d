/* The twin of generic/padding/VolumetricReplicationPadding.c. */
#include "cuda/generic/padding/padding.cuh"
#include "generic/padding/checks.h"

void THCUNN_(VolumetricReplicationPadding_updateOutput)(THCState *state, THCTensor *input,
                                                        THCTensor *output, int pleft, int pright,
                                                        int ptop, int pbottom, int pfront,
                                                        int pback)
{
  THCPaddingCall call = {"VolumetricReplicationPadding_updateOutput", state, 3, {}, 0};
  call.padding = THNN_VolumetricReplicationPadding_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                              THNN_NO_SHAPE, 4, pleft, pright, ptop,
                                                              pbottom, pfront, pback);
  THCUNN_(padding_updateOutput)(&call, input, output);
}

void THCUNN_(VolumetricReplicationPadding_updateGradInput)(THCState *state, THCTensor *input,
                                                           THCTensor *gradOutput,
                                                           THCTensor *gradInput, int pleft,
                                                           int pright, int ptop, int pbottom,
                                                           int pfront, int pback)
{
  THCPaddingCall call = {"VolumetricReplicationPadding_updateGradInput", state, 3, {}, 0};
  call.padding = THNN_VolumetricReplicationPadding_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                              THNN_SHAPE(gradOutput, 3), 5, pleft,
                                                              pright, ptop, pbottom, pfront, pback);
  THCUNN_(padding_updateGradInput)(&call, THNN_SHAPE(input, 2), gradOutput, 3, gradInput);
}

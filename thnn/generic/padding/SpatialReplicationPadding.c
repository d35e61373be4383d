/* 2-D padding by replication: the first and the last row and column are repeated.
 *   input   [batch x] planes x height x width
 *   output  [batch x] planes x (pad_t + height + pad_b) x (pad_l + width + pad_r)
 * A negative padding crops rows or columns. */
#include "generic/padding/checks.h"
#include "generic/padding/padding.h"

#ifdef THNN_ONCE
THNNPadding THNN_SpatialReplicationPadding_shapeCheck(const char *function, THNNShape input,
                                                      THNNShape gradOutput, int firstPosition,
                                                      int pad_l, int pad_r, int pad_t, int pad_b)
{
  return THNN_spatialPaddingCheck(function, THNN_PADDING_REPLICATION, input, gradOutput,
                                  firstPosition, pad_l, pad_r, pad_t, pad_b);
}
#endif

void THNN_(SpatialReplicationPadding_updateOutput)(THNNState *state, THTensor *input,
                                                   THTensor *output, int pad_l, int pad_r,
                                                   int pad_t, int pad_b)
{
  THNNPaddingCall call = {"SpatialReplicationPadding_updateOutput", state, .nDimension = 2};
  call.padding = THNN_SpatialReplicationPadding_shapeCheck(
      call.function, THNN_SHAPE(input, 2), THNN_NO_SHAPE, 4, pad_l, pad_r, pad_t, pad_b);
  THNN_(padding_updateOutput)(&call, input, output);
}

void THNN_(SpatialReplicationPadding_updateGradInput)(THNNState *state, THTensor *input,
                                                      THTensor *gradOutput, THTensor *gradInput,
                                                      int pad_l, int pad_r, int pad_t, int pad_b)
{
  THNNPaddingCall call = {"SpatialReplicationPadding_updateGradInput", state, .nDimension = 2};
  call.padding = THNN_SpatialReplicationPadding_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                           THNN_SHAPE(gradOutput, 3), 5, pad_l,
                                                           pad_r, pad_t, pad_b);
  THNN_(padding_updateGradInput)(&call, THNN_SHAPE(input, 2), gradOutput, 3, gradInput);
}

/* 3-D padding by replication: the first and the last slice, row and column are repeated.
 *   input   [batch x] planes x depth x height x width
 *   output  [batch x] planes x (pfront + depth + pback) x (ptop + height + pbottom)
 *           x (pleft + width + pright)
 * A negative padding crops slices, rows or columns. */
#include "generic/padding/checks.h"
#include "generic/padding/padding.h"

#ifdef THNN_ONCE
THNNPadding THNN_VolumetricReplicationPadding_shapeCheck(const char *function, THNNShape input,
                                                         THNNShape gradOutput, int firstPosition,
                                                         int pleft, int pright, int ptop,
                                                         int pbottom, int pfront, int pback)
{
  const int at = firstPosition;
  const THNNPaddingArguments arguments = {
      .function = function,
      .nDimension = 3,
      .mode = THNN_PADDING_REPLICATION,
      .input = input,
      .gradOutput = THNN_NO_SHAPE,
      .before = {THNN_SCALAR(pfront, at + 4), THNN_SCALAR(ptop, at + 2), THNN_SCALAR(pleft, at)},
      .after = {THNN_SCALAR(pback, at + 5), THNN_SCALAR(pbottom, at + 3),
                THNN_SCALAR(pright, at + 1)}};
  const THNNPadding padding = THNN_paddingCheck(&arguments);
  const int64_t *size = padding.output;
  if (gradOutput.nDimension != THNN_NOT_PRESENT)
    THNN_checkElements(function, gradOutput, padding.planes * size[0] * size[1] * size[2],
                       "the forward call's output");
  return padding;
}
#endif

void THNN_(VolumetricReplicationPadding_updateOutput)(THNNState *state, THTensor *input,
                                                      THTensor *output, int pleft, int pright,
                                                      int ptop, int pbottom, int pfront, int pback)
{
  THNNPaddingCall call = {"VolumetricReplicationPadding_updateOutput", state, .nDimension = 3};
  call.padding = THNN_VolumetricReplicationPadding_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                              THNN_NO_SHAPE, 4, pleft, pright, ptop,
                                                              pbottom, pfront, pback);
  THNN_(padding_updateOutput)(&call, input, output);
}

void THNN_(VolumetricReplicationPadding_updateGradInput)(THNNState *state, THTensor *input,
                                                         THTensor *gradOutput, THTensor *gradInput,
                                                         int pleft, int pright, int ptop,
                                                         int pbottom, int pfront, int pback)
{
  THNNPaddingCall call = {"VolumetricReplicationPadding_updateGradInput", state, .nDimension = 3};
  call.padding = THNN_VolumetricReplicationPadding_shapeCheck(call.function, THNN_SHAPE(input, 2),
                                                              THNN_SHAPE(gradOutput, 3), 5, pleft,
                                                              pright, ptop, pbottom, pfront, pback);
  THNN_(padding_updateGradInput)(&call, THNN_SHAPE(input, 2), gradOutput, 3, gradInput);
}

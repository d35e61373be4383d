/* 3-D padding of any mode: by a value, by reflection, by replication, or by the other end.
 *   input   planes x depth x height x width
 *   output  planes x (pfront + depth + pback) x (ptop + height + pbottom)
 *           x (pleft + width + pright)
 * A negative padding crops slices, rows or columns; the other end is that of what remains. */
#include "generic/padding/checks.h"
#include "generic/padding/padding.h"

#ifdef THNN_ONCE
/* The arguments except for the shapes. */
static THNNPaddingArguments argumentsOf(const char *function, int firstPosition,
                                        const THNNSides *sides)
{
  const int at = firstPosition, pleft = sides->pleft, pright = sides->pright, ptop = sides->ptop;
  const int pbottom = sides->pbottom, pfront = sides->pfront, pback = sides->pback;
  const int mode = sides->mode;
  THNN_checkAtLeast(function, THNN_SCALAR(mode, at + 6), THNN_PADDING_CONSTANT);
  THNN_checkAtMost(function, THNN_SCALAR(mode, at + 6), THNN_PADDING_CIRCULAR);
  return (THNNPaddingArguments){
      .function = function,
      .nDimension = 3,
      .mode = (THNNPaddingMode)mode,
      .gradOutput = THNN_NO_SHAPE,
      .before = {THNN_SCALAR(pfront, at + 4), THNN_SCALAR(ptop, at + 2), THNN_SCALAR(pleft, at)},
      .after = {THNN_SCALAR(pback, at + 5), THNN_SCALAR(pbottom, at + 3),
                THNN_SCALAR(pright, at + 1)}};
}

static const char layout[] = "planes x depth x height x width";

THNNPadding THNN_Padding_shapeCheck(const char *function, THNNShape input, int firstPosition,
                                    THNNSides sides)
{
  THNN_checkDimensions(function, input, 4, 4, layout);
  THNNPaddingArguments arguments = argumentsOf(function, firstPosition, &sides);
  arguments.input = input;
  return THNN_paddingCheck(&arguments);
}

THNNPadding THNN_Padding_gradientCheck(const char *function, THNNShape gradOutput,
                                       int firstPosition, THNNSides sides, int64_t size[4])
{
  THNN_checkDimensions(function, gradOutput, 4, 4, layout);
  THNNPaddingArguments arguments = argumentsOf(function, firstPosition, &sides);
  size[0] = gradOutput.size[0];
  for (int d = 0; d < 3; d++)
    size[d + 1] = gradOutput.size[d + 1] - arguments.before[d].value - arguments.after[d].value;
  arguments.input = THNN_makeShape("gradInput", gradOutput.position + 1, 4, size);
  const THNNText text = THNN_shapeText(arguments.input);
  for (int d = 1; d < 4; d++)
    if (size[d] < 1)
      THNN_rejectShape(function, gradOutput, "more than the padding (gradInput would be %s)",
                       text.characters);
  return THNN_paddingCheck(&arguments);
}
#endif

void THNN_(Padding_updateOutput)(THNNState *state, THTensor *input, THTensor *output, int pleft,
                                 int pright, int ptop, int pbottom, int pfront, int pback, int mode,
                                 accreal value)
{
  THNNPaddingCall call = {"Padding_updateOutput", state, .nDimension = 3, .value = (real)value};
  call.padding =
      THNN_Padding_shapeCheck(call.function, THNN_SHAPE(input, 2), 4,
                              (THNNSides){pleft, pright, ptop, pbottom, pfront, pback, mode});
  THNN_(padding_updateOutput)(&call, input, output);
}

void THNN_(Padding_updateGradInput)(THNNState *state, THTensor *gradOutput, THTensor *gradInput,
                                    int pleft, int pright, int ptop, int pbottom, int pfront,
                                    int pback, int mode)
{
  THNNPaddingCall call = {"Padding_updateGradInput", state, .nDimension = 3};
  int64_t size[4];
  call.padding = THNN_Padding_gradientCheck(
      call.function, THNN_SHAPE(gradOutput, 2), 4,
      (THNNSides){pleft, pright, ptop, pbottom, pfront, pback, mode}, size);
  THNN_(padding_updateGradInput)(&call, THNN_makeShape("gradInput", 3, 4, size), gradOutput, 2,
                                 gradInput);
}

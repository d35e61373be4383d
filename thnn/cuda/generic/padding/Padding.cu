/* The twin of generic/padding/Padding.c. */
#include "cuda/generic/padding/padding.cuh"
#include "generic/padding/checks.h"

void THCUNN_(Padding_updateOutput)(THCState *state, THCTensor *input, THCTensor *output, int pleft,
                                   int pright, int ptop, int pbottom, int pfront, int pback,
                                   int mode, accreal value)
{
  THCPaddingCall call = {"Padding_updateOutput", state, 3, {}, (real)value};
  call.padding =
      THNN_Padding_shapeCheck(call.function, THNN_SHAPE(input, 2), 4,
                              THNNSides{pleft, pright, ptop, pbottom, pfront, pback, mode});
  THCUNN_(padding_updateOutput)(&call, input, output);
}

void THCUNN_(Padding_updateGradInput)(THCState *state, THCTensor *gradOutput, THCTensor *gradInput,
                                      int pleft, int pright, int ptop, int pbottom, int pfront,
                                      int pback, int mode)
{
  THCPaddingCall call = {"Padding_updateGradInput", state, 3, {}, 0};
  int64_t size[4];
  call.padding = THNN_Padding_gradientCheck(
      call.function, THNN_SHAPE(gradOutput, 2), 4,
      THNNSides{pleft, pright, ptop, pbottom, pfront, pback, mode}, size);
  THCUNN_(padding_updateGradInput)(&call, THNN_makeShape("gradInput", 3, 4, size), gradOutput, 2,
                                   gradInput);
}

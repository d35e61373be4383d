/* Padding of any mode, forward and backward. */
#ifndef THCUNN_PADDING_CUH
#define THCUNN_PADDING_CUH

#include "cuda/generic/template.h"
#include "geometry/padding.h"

/* A call whose arguments have been checked. */
struct THCPaddingCall {
  const char *function;
  THCState *state;
  int nDimension;
  THNNPadding padding;
  real value; /* what the mode of a constant pads with */
};

/* The tensors are arguments 2 and 3. */
void THCUNN_(padding_updateOutput)(const THCPaddingCall *call, THCTensor *input, THCTensor *output);
/* gradInput, which gets the shape of the input, is the argument after gradOutput. */
void THCUNN_(padding_updateGradInput)(const THCPaddingCall *call, THNNShape input,
                                      THCTensor *gradOutput, int position, THCTensor *gradInput);

#endif

/* Padding of any mode, forward and backward. */
#ifndef THNN_GENERIC_PADDING_H
#define THNN_GENERIC_PADDING_H

#include "generic/template.h"
#include "geometry/padding.h"

/* One call: what the module knows, except its tensors. */
typedef struct THNNPaddingCall {
  const char *function;
  const THNNState *state;
  THNNPadding padding;
  int nDimension;
  real value; /* what the mode of a constant pads with */
} THNNPaddingCall;

/* The tensors are arguments 2 and 3. */
void THNN_(padding_updateOutput)(const THNNPaddingCall *call, THTensor *input, THTensor *output);
/* gradInput, which gets the shape of the input, is the argument after gradOutput. */
void THNN_(padding_updateGradInput)(const THNNPaddingCall *call, THNNShape input,
                                    THTensor *gradOutput, int position, THTensor *gradInput);

#endif

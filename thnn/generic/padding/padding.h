/* Padding by reflection or replication, forward and backward. */
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
} THNNPaddingCall;

/* The tensors are arguments 2 and 3, and 2 to 4. */
void THNN_(padding_updateOutput)(const THNNPaddingCall *call, THTensor *input, THTensor *output);
void THNN_(padding_updateGradInput)(const THNNPaddingCall *call, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput);

#endif

/* Average pooling with regular windows in two or three dimensions, forward and backward. */
#ifndef THNN_GENERIC_AVERAGE_POOLING_H
#define THNN_GENERIC_AVERAGE_POOLING_H

#include "generic/template.h"
#include "geometry/pooling.h"

/* One call: the module's arguments except its tensors. */
typedef struct THNNAveragePoolingCall {
  const char *function;
  const THNNState *state;
  THNNConvolution geometry;
  int nDimension;
  bool countPadding; /* a window's elements in the padding count as zeros */
} THNNAveragePoolingCall;

/* The tensors are arguments 2 and 3, and 2 to 4. */
void THNN_(average_updateOutput)(const THNNAveragePoolingCall *call, THTensor *input,
                                 THTensor *output);
void THNN_(average_updateGradInput)(const THNNAveragePoolingCall *call, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput);

#endif

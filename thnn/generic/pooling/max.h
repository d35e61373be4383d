/* Max pooling with regular windows in two or three dimensions, forward and backward. */
#ifndef THNN_GENERIC_MAX_POOLING_H
#define THNN_GENERIC_MAX_POOLING_H

#include "generic/template.h"
#include "geometry/pooling.h"

/* One call: the module's arguments except its tensors. */
typedef struct THNNMaxPoolingCall {
  const char *function;
  const THNNState *state;
  THNNConvolution geometry;
  int nDimension;
} THNNMaxPoolingCall;

/* In two dimensions an index is the number of an element of the input plane, from 1, or 0 where a
 * window has no value; in three its bytes 0, 1 and 2 are the taps t, h, w of the window. The
 * tensors are arguments 2 to 4, and 2 to 5. Without `indices` only the values are found. */
void THNN_(max_updateOutput)(const THNNMaxPoolingCall *call, THTensor *input, THTensor *output,
                             THIndexTensor *indices);
void THNN_(max_updateGradInput)(const THNNMaxPoolingCall *call, THTensor *input,
                                THTensor *gradOutput, THTensor *gradInput, THIndexTensor *indices);

#endif

/* Nearest-neighbour upsampling by a whole factor in two or three dimensions, forward and backward:
 * each element becomes a square or cube of itself. */
#ifndef THNN_GENERIC_NEAREST_SAMPLING_H
#define THNN_GENERIC_NEAREST_SAMPLING_H

#include "generic/template.h"

/* One call: the module's arguments except its tensors. */
typedef struct THNNNearestCall {
  const char *function;
  const THNNState *state;
  int nDimension; /* 2 or 3 */
  int64_t factor;
} THNNNearestCall;

/* The tensors are arguments 2 and 3, and 2 to 4. */
void THNN_(nearest_updateOutput)(const THNNNearestCall *call, THTensor *input, THTensor *output);
void THNN_(nearest_updateGradInput)(const THNNNearestCall *call, THTensor *input,
                                    THTensor *gradOutput, THTensor *gradInput);

#endif

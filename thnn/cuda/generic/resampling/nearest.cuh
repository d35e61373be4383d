/* Nearest-neighbour upsampling by a whole factor in two or three dimensions, forward and backward:
 * each element becomes a square or cube of itself. */
#ifndef THCUNN_NEAREST_SAMPLING_CUH
#define THCUNN_NEAREST_SAMPLING_CUH

#include "cuda/generic/template.h"

/* One call: the module's arguments beside its tensors. */
struct THCNearestCall {
  const char *function;
  THCState *state;
  int nDimension; /* 2 or 3 */
  int64_t factor;
};

/* Arguments 2 and 3, and 2 to 4. */
void THCUNN_(nearestUpdateOutput)(const THCNearestCall *call, THCTensor *input, THCTensor *output);
void THCUNN_(nearestUpdateGradInput)(const THCNearestCall *call, THCTensor *input,
                                     THCTensor *gradOutput, THCTensor *gradInput);

#endif

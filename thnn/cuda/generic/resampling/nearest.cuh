/* Nearest-neighbour upsampling by a whole factor in two or three dimensions, forward and backward:
 * each element becomes a square or cube of copies. */
#ifndef THCUNN_NEAREST_SAMPLING_CUH
#define THCUNN_NEAREST_SAMPLING_CUH

#include "cuda/generic/template.h"

/* A call: the module's arguments except its tensors. */
struct THCNearestCall {
  const char *function;
  THCState *state;
  int nDimension; /* 2 or 3 */
  int64_t factor;
};

/* The tensors are arguments 2 and 3 of updateOutput, 2 to 4 of updateGradInput. */
void THCUNN_(nearest_updateOutput)(const THCNearestCall *call, THCTensor *input, THCTensor *output);
void THCUNN_(nearest_updateGradInput)(const THCNearestCall *call, THCTensor *input,
                                      THCTensor *gradOutput, THCTensor *gradInput);

#endif

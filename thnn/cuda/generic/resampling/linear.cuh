/* Linear resampling in two or three dimensions, forward and backward. Output index i is at
 * i * (input - 1) / (output - 1) along a dimension (at 0 when output is 1), or where the call's
 * steps say, between two input indices. */
#ifndef THCUNN_LINEAR_SAMPLING_CUH
#define THCUNN_LINEAR_SAMPLING_CUH

#include "cuda/generic/template.h"
#include "geometry/resampling.h"

/* A call whose arguments have been checked. */
struct THCResamplingCall {
  const char *function;
  THCState *state;
  int nDimension;
  THNNResampling resampling;
};

/* The tensors are arguments 2 and 3 of both functions. */
void THCUNN_(linear_updateOutput)(const THCResamplingCall *call, THCTensor *input,
                                  THCTensor *output);
void THCUNN_(linear_updateGradInput)(const THCResamplingCall *call, THCTensor *gradOutput,
                                     THCTensor *gradInput);

#endif

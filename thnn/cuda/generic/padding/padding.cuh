/* Padding by reflection or replication, forward and backward. */
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
};

/* The tensors are arguments 2 and 3 of updateOutput, 2 to 4 of updateGradInput. */
void THCUNN_(padding_updateOutput)(const THCPaddingCall *call, THCTensor *input, THCTensor *output);
void THCUNN_(padding_updateGradInput)(const THCPaddingCall *call, THCTensor *input,
                                      THCTensor *gradOutput, THCTensor *gradInput);

#endif

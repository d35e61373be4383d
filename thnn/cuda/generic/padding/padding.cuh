/* Padding by reflection or replication, forward and backward. */
#ifndef THCUNN_PADDING_CUH
#define THCUNN_PADDING_CUH

#include "cuda/generic/template.h"
#include "geometry/padding.h"

/* One checked call. */
struct THCPaddingCall {
  const char *function;
  THCState *state;
  int nDimension;
  THNNPadding padding;
};

/* Arguments 2 and 3, and 2 to 4. */
void THCUNN_(padUpdateOutput)(const THCPaddingCall *call, THCTensor *input, THCTensor *output);
void THCUNN_(padUpdateGradInput)(const THCPaddingCall *call, THCTensor *input,
                                 THCTensor *gradOutput, THCTensor *gradInput);

#endif

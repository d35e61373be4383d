/* Average pooling with regular windows in two or three dimensions, forward and backward. */
#ifndef THCUNN_AVERAGE_POOLING_CUH
#define THCUNN_AVERAGE_POOLING_CUH

#include "cuda/generic/template.h"
#include "geometry/convolution.h"

/* A call whose arguments have been checked. */
struct THCAveragePoolingCall {
  const char *function;
  THCState *state;
  int nDimension;    /* spatial dimensions */
  bool countPadding; /* a window's elements in the padding count as zeros */
  THNNConvolution geometry;
};

/* The tensors are arguments 2 and 3 of updateOutput, 2 to 4 of updateGradInput. */
void THCUNN_(average_updateOutput)(const THCAveragePoolingCall *call, THCTensor *input,
                                   THCTensor *output);
void THCUNN_(average_updateGradInput)(const THCAveragePoolingCall *call, THCTensor *input,
                                      THCTensor *gradOutput, THCTensor *gradInput);

#endif

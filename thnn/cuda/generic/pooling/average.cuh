/* Average pooling with regular windows in two or three dimensions, forward and backward. */
#ifndef THCUNN_AVERAGE_POOLING_CUH
#define THCUNN_AVERAGE_POOLING_CUH

#include "cuda/generic/template.h"
#include "geometry/convolution.h"

/* One checked call. */
struct THCAveragePoolingCall {
  const char *function;
  THCState *state;
  int nDimension;    /* spatial dimensions */
  bool countPadding; /* a window's elements in the padding count as zeros */
  THNNConvolution geometry;
};

/* Arguments 2 and 3, and 2 to 4. */
void THCUNN_(averagePoolingUpdateOutput)(const THCAveragePoolingCall *call, THCTensor *input,
                                         THCTensor *output);
void THCUNN_(averagePoolingUpdateGradInput)(const THCAveragePoolingCall *call, THCTensor *input,
                                            THCTensor *gradOutput, THCTensor *gradInput);

#endif

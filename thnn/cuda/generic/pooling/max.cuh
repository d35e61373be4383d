/* Max pooling with regular windows in one to three dimensions, forward and backward. */
#ifndef THCUNN_MAX_POOLING_CUH
#define THCUNN_MAX_POOLING_CUH

#include "cuda/generic/template.h"
#include "geometry/convolution.h"

/* What an index says of a window's greatest element. */
enum THCNaming {
  THC_NAMED_BY_NUMBER, /* its number in the plane, from 1; 0 for none */
  THC_NAMED_BY_TAPS,   /* the taps t, h, w in the bytes 0, 1 and 2 */
  THC_NAMED_BY_FRAME   /* the tap along the height, from 0; -1 for none */
};

/* One checked call. */
struct THCMaxPoolingCall {
  const char *function;
  THCState *state;
  THCNaming naming;
  int nDimension; /* of input and output, without the batch */
  THNNConvolution geometry;
};

/* Arguments 2 to 4, and 2 to 5. */
void THCUNN_(maxPoolingUpdateOutput)(const THCMaxPoolingCall *call, THCTensor *input,
                                     THCTensor *output, THCIndexTensor *indices);
void THCUNN_(maxPoolingUpdateGradInput)(const THCMaxPoolingCall *call, THCTensor *input,
                                        THCTensor *gradOutput, THCTensor *gradInput,
                                        THCIndexTensor *indices);

#endif

/* Max pooling with regular windows in one to three dimensions, forward and backward. */
#ifndef THCUNN_MAX_POOLING_CUH
#define THCUNN_MAX_POOLING_CUH

#include "cuda/generic/template.h"
#include "geometry/convolution.h"

/* How an index names a window's greatest element. */
enum THCNaming {
  THC_NAMED_BY_NUMBER, /* its number in the plane, from 1; 0 for none */
  THC_NAMED_BY_TAPS,   /* the taps t, h, w in the bytes 0, 1 and 2 */
  THC_NAMED_BY_FRAME   /* the tap along the height, from 0; -1 for none */
};

/* A call whose arguments have been checked. */
struct THCMaxPoolingCall {
  const char *function;
  THCState *state;
  THCNaming naming;
  int nDimension; /* dimensions of input and output, without the batch */
  THNNConvolution geometry;
};

/* The tensors are arguments 2 to 4 of updateOutput, 2 to 5 of updateGradInput. */
void THCUNN_(max_updateOutput)(const THCMaxPoolingCall *call, THCTensor *input, THCTensor *output,
                               THCIndexTensor *indices);
void THCUNN_(max_updateGradInput)(const THCMaxPoolingCall *call, THCTensor *input,
                                  THCTensor *gradOutput, THCTensor *gradInput,
                                  THCIndexTensor *indices);

#endif

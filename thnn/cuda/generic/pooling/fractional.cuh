/* Fractional max pooling in two or three dimensions, forward and backward. */
#ifndef THCUNN_FRACTIONAL_POOLING_CUH
#define THCUNN_FRACTIONAL_POOLING_CUH

#include "cuda/generic/template.h"
#include "geometry/fractional.h"

/* One checked call. */
struct THCFractionalCall {
  const char *function;
  THCState *state;
  int indicesPosition; /* of indices among the arguments; randomSamples is the next */
  THNNFractional pooling;
};

/* Arguments 2 and 3, and 2 to 4. */
void THCUNN_(fractionalUpdateOutput)(const THCFractionalCall *call, THCTensor *input,
                                     THCTensor *output, THCIndexTensor *indices,
                                     THCTensor *randomSamples);
void THCUNN_(fractionalUpdateGradInput)(const THCFractionalCall *call, THCTensor *input,
                                        THCTensor *gradOutput, THCTensor *gradInput,
                                        THCIndexTensor *indices);

#endif

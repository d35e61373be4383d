/* Fractional max pooling in two or three dimensions, forward and backward. */
#ifndef THCUNN_FRACTIONAL_POOLING_CUH
#define THCUNN_FRACTIONAL_POOLING_CUH

#include "cuda/generic/template.h"
#include "geometry/fractional.h"

/* A call whose arguments have been checked. */
struct THCFractionalCall {
  const char *function;
  THCState *state;
  int indicesPosition; /* position of indices among the arguments; randomSamples follows */
  THNNFractional pooling;
};

/* The tensors are arguments 2 and 3 of updateOutput, 2 to 4 of updateGradInput, then indices and
 * randomSamples. */
void THCUNN_(fractional_updateOutput)(const THCFractionalCall *call, THCTensor *input,
                                      THCTensor *output, THCIndexTensor *indices,
                                      THCTensor *randomSamples);
void THCUNN_(fractional_updateGradInput)(const THCFractionalCall *call, THCTensor *input,
                                         THCTensor *gradOutput, THCTensor *gradInput,
                                         THCIndexTensor *indices);

#endif

/* Fractional max pooling in two or three dimensions, forward and backward. */
#ifndef THNN_GENERIC_FRACTIONAL_POOLING_H
#define THNN_GENERIC_FRACTIONAL_POOLING_H

#include "generic/template.h"
#include "geometry/fractional.h"

/* One call: what the module knows, except its tensors. */
typedef struct THNNFractionalCall {
  const char *function;
  const THNNState *state;
  THNNFractional pooling;
  int indicesPosition; /* the position of argument indices; forward, randomSamples follows */
} THNNFractionalCall;

void THNN_(fractional_updateOutput)(const THNNFractionalCall *call, THTensor *input,
                                    THTensor *output, THIndexTensor *indices,
                                    THTensor *randomSamples);
void THNN_(fractional_updateGradInput)(const THNNFractionalCall *call, THTensor *input,
                                       THTensor *gradOutput, THTensor *gradInput,
                                       THIndexTensor *indices);

#endif

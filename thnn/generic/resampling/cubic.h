/* Cubic convolution of volumes at places that the call's steps say, forward and backward. */
#ifndef THNN_GENERIC_CUBIC_CONVOLUTION_H
#define THNN_GENERIC_CUBIC_CONVOLUTION_H

#include "generic/resampling/rows.h"

/* In both functions the tensors are arguments 2 and 3. */
void THNN_(cubic_updateOutput)(const THNNResamplingCall *call, THTensor *input, THTensor *output);
void THNN_(cubic_updateGradInput)(const THNNResamplingCall *call, THTensor *gradOutput,
                                  THTensor *gradInput);

#endif

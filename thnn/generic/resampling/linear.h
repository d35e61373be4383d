/* Linear resampling in two or three dimensions, forward and backward. Output index i lies at
 * i * (input - 1) / (output - 1) along a dimension (at 0 when output is 1), or where the call's
 * steps say, between two input indices. */
#ifndef THNN_GENERIC_LINEAR_SAMPLING_H
#define THNN_GENERIC_LINEAR_SAMPLING_H

#include "generic/resampling/rows.h"

/* In both functions the tensors are arguments 2 and 3. */
void THNN_(linear_updateOutput)(const THNNResamplingCall *call, THTensor *input, THTensor *output);
void THNN_(linear_updateGradInput)(const THNNResamplingCall *call, THTensor *gradOutput,
                                   THTensor *gradInput);

#endif

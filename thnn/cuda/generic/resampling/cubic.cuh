/* Cubic convolution of volumes at places that the call's steps say, forward and backward. */
#ifndef THCUNN_CUBIC_CONVOLUTION_CUH
#define THCUNN_CUBIC_CONVOLUTION_CUH

#include "cuda/generic/resampling/linear.cuh"

/* The tensors are arguments 2 and 3 of both functions. */
void THCUNN_(cubic_updateOutput)(const THCResamplingCall *call, THCTensor *input,
                                 THCTensor *output);
void THCUNN_(cubic_updateGradInput)(const THCResamplingCall *call, THCTensor *gradOutput,
                                    THCTensor *gradInput);

#endif

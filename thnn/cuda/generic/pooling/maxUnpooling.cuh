/* Max unpooling: each value goes to the element of the output plane that its index names. */
#ifndef THCUNN_MAX_UNPOOLING_CUH
#define THCUNN_MAX_UNPOOLING_CUH

#include "cuda/generic/pooling/max.cuh"

/* The tensors are arguments 2 to 4 of updateOutput, 2 to 5 of updateGradInput. The geometry's image
 * is the output, its map the input; indices name elements by number or by taps. */
void THCUNN_(maxUnpooling_updateOutput)(const THCMaxPoolingCall *call, THCTensor *input,
                                        THCTensor *output, THCIndexTensor *indices);
void THCUNN_(maxUnpooling_updateGradInput)(const THCMaxPoolingCall *call, THCTensor *input,
                                           THCTensor *gradOutput, THCTensor *gradInput,
                                           THCIndexTensor *indices);

#endif

/* Subsampling: sums over windows, each with a weight and a bias of its plane or column. */
#ifndef THCUNN_SUB_SAMPLING_CUH
#define THCUNN_SUB_SAMPLING_CUH

#include "cuda/generic/template.h"
#include "geometry/convolution.h"

/* A call whose arguments have been checked. */
struct THCSubSamplingCall {
  const char *function;
  THCState *state;
  bool byColumn; /* weights belong to columns of a single plane, otherwise to planes */
  THNNConvolution geometry;
};

/* The tensors are arguments 2 to 5 of all three functions. */
void THCUNN_(subSampling_updateOutput)(const THCSubSamplingCall *call, THCTensor *input,
                                       THCTensor *output, THCTensor *weight, THCTensor *bias);
void THCUNN_(subSampling_updateGradInput)(const THCSubSamplingCall *call, THCTensor *input,
                                          THCTensor *gradOutput, THCTensor *gradInput,
                                          THCTensor *weight);
void THCUNN_(subSampling_accGradParameters)(const THCSubSamplingCall *call, THCTensor *input,
                                            THCTensor *gradOutput, THCTensor *gradWeight,
                                            THCTensor *gradBias, accreal scale);

#endif

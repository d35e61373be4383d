/* The three functions of a convolution module with shared weights, on the engine: a module checks
 * its arguments and calls these. The argument positions are those of every convolution module. */
#ifndef THCUNN_CONVOLUTION_MODULE_CUH
#define THCUNN_CONVOLUTION_MODULE_CUH

#include "cuda/generic/template.h"
#include "geometry/convolution.h"

/* A call whose arguments have been checked. For a transposed convolution the geometry is that of
 * the ordinary convolution from its output to its input. */
struct THCConvolutionCall {
  const char *function;
  THCState *state;
  int nDimension; /* spatial dimensions */
  bool transposed;
  THNNConvolution geometry;
};

/* The arguments: input #2, output #3, weight #4, bias #5 (may be NULL). */
void THCUNN_(module_updateOutput)(const THCConvolutionCall *call, THCTensor *input,
                                  THCTensor *output, THCTensor *weight, THCTensor *bias);

/* The arguments: input #2, gradOutput #3, gradInput #4, weight #5. */
void THCUNN_(module_updateGradInput)(const THCConvolutionCall *call, THCTensor *input,
                                     THCTensor *gradOutput, THCTensor *gradInput,
                                     THCTensor *weight);

/* The arguments: input #2, gradOutput #3, gradWeight #4, gradBias #5 (may be NULL). */
void THCUNN_(module_accGradParameters)(const THCConvolutionCall *call, THCTensor *input,
                                       THCTensor *gradOutput, THCTensor *gradWeight,
                                       THCTensor *gradBias, accreal scale);

#endif

/* The three functions of a convolution module with shared weights, on top of the engine: a
 * module checks its arguments and calls these. Arguments have the same positions in all modules. */
#ifndef THNN_CONVOLUTION_MODULE_H
#define THNN_CONVOLUTION_MODULE_H

#include "generic/template.h"
#include "generic/convolution/engine/engine.h"

/* A checked call: the geometry is that of the ordinary convolution, which for a transposed one goes
 * from its output to its input. */
typedef struct THNNConvolutionCall {
  const char *function;
  THNNState *state;
  THNNConvolution geometry;
  int nDimension; /* spatial dimensions */
  bool transposed;
  /* forward only: how the output is finished (generic/shared/finish.h) */
  THTensor *addend; /* argument #6, or NULL */
  int activation;   /* argument #7, a THNNActivation, and its parameters */
  accreal parameters[2];
} THNNConvolutionCall;

/* input #2, output #3, weight #4, bias #5 (may be NULL) */
void THNN_(module_updateOutput)(const THNNConvolutionCall *call, THTensor *input, THTensor *output,
                                THTensor *weight, THTensor *bias);

/* input #2, gradOutput #3, gradInput #4, weight #5 */
void THNN_(module_updateGradInput)(const THNNConvolutionCall *call, THTensor *input,
                                   THTensor *gradOutput, THTensor *gradInput, THTensor *weight);

/* input #2, gradOutput #3, gradWeight #4, gradBias #5 (may be NULL) */
void THNN_(module_accGradParameters)(const THNNConvolutionCall *call, THTensor *input,
                                     THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                     accreal scale);

#endif

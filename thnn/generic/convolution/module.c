#include "generic/convolution/module.h"

#include "call/state.h"
#include "geometry/convolutionCheck.h"

void THNN_(module_updateOutput)(const THNNConvolutionCall *call, THTensor *input, THTensor *output,
                                THTensor *weight, THTensor *bias)
{
  const THNNConvolution *geometry = &call->geometry;
  const bool batched = input->nDimension == call->nDimension + 2;
  int64_t size[5];
  const int nDimension =
      THNN_convolutionSizes(geometry, call->nDimension, call->transposed, batched, size);
  const THNNState state = THNN_stateFor(call->state, THNN_OUTPUT);
  THNNConvolutionPlan convolution;
  THNN_(Convolution_prepare)(&convolution, &state, geometry,
                             call->transposed ? THNN_CONVOLUTION_BACKWARD_DATA
                                              : THNN_CONVOLUTION_FORWARD);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *out = THNN_planOut(&plan, output, 3, nDimension, size);
  THNNBuffer *kernel = THNN_planIn(&plan, weight, 4);
  THNNBuffer *start = bias ? THNN_planIn(&plan, bias, 5) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, convolution.scratchBytes);
  THNN_planAcquire(&plan);

  const real *initial = start ? start->data : NULL;
  if (call->transposed)
    THNN_(Convolution_backwardData)(&convolution, in->data, kernel->data, initial, out->data,
                                    scratch->data);
  else
    THNN_(Convolution_forward)(&convolution, in->data, kernel->data, initial, out->data,
                               scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(module_updateGradInput)(const THNNConvolutionCall *call, THTensor *input,
                                   THTensor *gradOutput, THTensor *gradInput, THTensor *weight)
{
  const THNNState state = THNN_stateFor(call->state, THNN_GRAD_INPUT);
  THNNConvolutionPlan convolution;
  THNN_(Convolution_prepare)(&convolution, &state, &call->geometry,
                             call->transposed ? THNN_CONVOLUTION_FORWARD
                                              : THNN_CONVOLUTION_BACKWARD_DATA);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *to = THNN_planOutLike(&plan, gradInput, 4, input);
  THNNBuffer *kernel = THNN_planIn(&plan, weight, 5);
  THNNBuffer *scratch = THNN_planScratch(&plan, convolution.scratchBytes);
  THNN_planAcquire(&plan);

  if (call->transposed)
    THNN_(Convolution_forward)(&convolution, from->data, kernel->data, NULL, to->data,
                               scratch->data);
  else
    THNN_(Convolution_backwardData)(&convolution, from->data, kernel->data, NULL, to->data,
                                    scratch->data);
  THNN_planRelease(&plan);
}

void THNN_(module_accGradParameters)(const THNNConvolutionCall *call, THTensor *input,
                                     THTensor *gradOutput, THTensor *gradWeight, THTensor *gradBias,
                                     accreal scale)
{
  const THNNState state = THNN_stateFor(call->state, THNN_GRAD_WEIGHT);
  THNNConvolutionPlan convolution;
  THNN_(Convolution_prepare)(&convolution, &state, &call->geometry,
                             THNN_CONVOLUTION_BACKWARD_WEIGHT);

  THNNPlan plan;
  THNN_planStart(&plan, call->function, call->state);
  THNNBuffer *in = THNN_planIn(&plan, input, 2);
  THNNBuffer *from = THNN_planIn(&plan, gradOutput, 3);
  THNNBuffer *kernel = THNN_planInOut(&plan, gradWeight, 4);
  THNNBuffer *start = gradBias ? THNN_planInOut(&plan, gradBias, 5) : NULL;
  THNNBuffer *scratch = THNN_planScratch(&plan, convolution.scratchBytes);
  THNN_planAcquire(&plan);

  const real *image = call->transposed ? from->data : in->data;
  const real *map = call->transposed ? in->data : from->data;
  real *bias = start ? start->data : NULL;
  THNN_(Convolution_backwardWeight)(&convolution, image, map, scale, kernel->data,
                                    call->transposed ? NULL : bias, scratch->data);
  if (bias && call->transposed)
    THNN_(Convolution_backwardTransposedBias)(&convolution, from->data, scale, bias);
  THNN_planRelease(&plan);
}
